/* Statistics of a distance matrix, shown: see statistics.h. */
#include "cli/graph/statistics.h"

#include "cli/graph/names.h"
#include "frame/job.h"

#include <string.h>

#define BAR 40 /* columns of the longest bar of a histogram */
#define BIN_SHOWN (2 * CLI_SHOWN + 8)

static int64_t vertex_of(const int32_t *list, int64_t index)
{
    return list != NULL && index >= 0 ? list[index] : index;
}

/* Columns that are not the vertex of row `row` itself. */
static int64_t others_of(const tw_apsp_summary_info *info, const cli_naming *naming, int64_t row)
{
    const int64_t vertex = vertex_of(naming->sources, row);
    int64_t others = info->cols;
    if (naming->targets == NULL) {
        return others - (vertex < others ? 1 : 0);
    }
    for (int64_t j = 0; j < info->cols; j++) {
        others -= naming->targets[j] == vertex;
    }
    return others;
}

/* The distances of a bin: "3", "10 to 20". */
static const char *show_bin(char out[BIN_SHOWN], const double *edges, int32_t i, bool whole)
{
    char low[CLI_SHOWN], high[CLI_SHOWN];
    if (whole && edges[i + 1] - edges[i] == 1) {
        snprintf(out, BIN_SHOWN, "%s", cli_show_value(low, edges[i]));
    } else {
        snprintf(out, BIN_SHOWN, "%s to %s", cli_show_value(low, edges[i]),
                 cli_show_value(high, edges[i + 1]));
    }
    return out;
}

static void print_histogram(const tw_apsp_summary *summary, bool whole)
{
    const double *edges = NULL;
    const int64_t *counts = NULL;
    int32_t bins = tw_apsp_summary_histogram(summary, &edges, &counts);
    int64_t most = 1;
    char range[BIN_SHOWN];
    int first = 24, second = 12; /* columns, more for large numbers */
    for (int32_t i = 0; i < bins; i++) {
        const int wide = (int)strlen(show_bin(range, edges, i, whole));
        first = wide >= first ? wide + 1 : first;
        most = counts[i] > most ? counts[i] : most;
    }
    const int digits = snprintf(NULL, 0, "%lld", (long long)most);
    second = digits >= second ? digits + 1 : second;
    if (bins > 0) {
        cli_print("\n%-*s%*s\n", first, "distance", second, "pairs");
    }
    for (int32_t i = 0; i < bins; i++) {
        int width = (int)((double)counts[i] / (double)most * BAR + 0.5);
        cli_print("%-*s%*lld", first, show_bin(range, edges, i, whole), second,
                  (long long)counts[i]);
        if (width > 0) {
            cli_print("  ");
        }
        for (int j = 0; j < width; j++) {
            cli_print("#");
        }
        cli_print("\n");
    }
}

void cli_print_share(double part, double whole)
{
    char shown[32];
    snprintf(shown, sizeof shown, "%.4g", 100 * part / whole);
    const bool rounded = part < whole && strcmp(shown, "100") == 0;
    cli_print(" (%s %%)", rounded ? "over 99.99" : shown);
}

void cli_statistics_print(const tw_apsp_summary *summary, const tw_apsp_summary_info *info,
                          const cli_naming *naming)
{
    static const cli_naming numbers = {NULL, NULL, NULL};
    char value[CLI_SHOWN], from[CLI_SHOWN], to[CLI_SHOWN];
    naming = naming != NULL ? naming : &numbers;
    double pairs = (double)info->reachable + (double)info->unreachable;
    cli_print("distances    %lld x %lld, %s\n", (long long)info->rows, (long long)info->cols,
              tw_type_name(info->type));
    cli_print("reachable    %lld of %.0f pairs", (long long)info->reachable, pairs);
    if (pairs > 0) {
        cli_print_share((double)info->reachable, pairs);
    }
    cli_print("\n");
    if (info->diameter_from < 0) {
        return; /* no pair has a path: the rest would be zeros that mean nothing */
    }
    cli_print("diameter     %s, from %s to %s\n", cli_show_value(value, info->diameter),
              cli_show_vertex(from, naming->graph, vertex_of(naming->sources, info->diameter_from)),
              cli_show_vertex(to, naming->graph, vertex_of(naming->targets, info->diameter_to)));
    cli_print("radius       %s, centre %s", cli_show_value(value, info->radius),
              cli_show_vertex(from, naming->graph, vertex_of(naming->sources, info->center)));
    if (info->unreachable > 0) { /* the radius of what: a vertex may reach little, and near */
        const int64_t reached = tw_apsp_summary_reached(summary)[info->center];
        const int64_t others = others_of(info, naming, info->center);
        if (reached < others) {
            cli_print(", which reaches %lld of %lld vertices", (long long)reached,
                      (long long)others);
        } else {
            cli_print(", which reaches all vertices");
        }
    }
    cli_print("\n");
    cli_print("mean         %s\n", cli_show_value(value, info->mean));
    cli_print("minimum      %s\n", cli_show_value(value, info->minimum));
    print_histogram(summary, info->type != TW_F32 && info->type != TW_F64);
}

static void report_vertex(cli_report *report, const char *key, const cli_naming *naming,
                          const int32_t *list, int64_t index)
{
    if (index < 0) {
        cli_report_null(report, key);
    } else {
        cli_report_vertex(report, key, naming->graph, vertex_of(list, index));
    }
}

static void report_histogram(cli_report *report, const tw_apsp_summary *summary)
{
    const double *edges = NULL;
    const int64_t *counts = NULL;
    int32_t bins = tw_apsp_summary_histogram(summary, &edges, &counts);
    if (bins == 0) { /* none was requested, or there is no pair */
        cli_report_null(report, "histogram");
        return;
    }
    cli_report_object(report, "histogram");
    cli_report_array(report, "edges");
    for (int32_t i = 0; i <= bins; i++) {
        cli_report_number(report, NULL, edges[i]);
    }
    cli_report_end_array(report);
    cli_report_array(report, "counts");
    for (int32_t i = 0; i < bins; i++) {
        cli_report_integer(report, NULL, counts[i]);
    }
    cli_report_end_array(report);
    cli_report_end_object(report);
}

void cli_statistics_report(cli_report *report, const tw_apsp_summary *summary,
                           const tw_apsp_summary_info *info, const cli_naming *naming)
{
    static const cli_naming numbers = {NULL, NULL, NULL};
    naming = naming != NULL ? naming : &numbers;
    cli_report_object(report, "summary");
    cli_report_integer(report, "rows", info->rows);
    cli_report_integer(report, "cols", info->cols);
    cli_report_text(report, "type", tw_type_name(info->type));
    cli_report_integer(report, "reachable", info->reachable);
    cli_report_integer(report, "unreachable", info->unreachable);
    cli_report_number(report, "diameter", info->diameter);
    report_vertex(report, "diameter_from", naming, naming->sources, info->diameter_from);
    report_vertex(report, "diameter_to", naming, naming->targets, info->diameter_to);
    cli_report_number(report, "radius", info->radius);
    report_vertex(report, "center", naming, naming->sources, info->center);
    if (info->center >= 0) {
        cli_report_integer(report, "center_reaches",
                           tw_apsp_summary_reached(summary)[info->center]);
    } else {
        cli_report_null(report, "center_reaches");
    }
    cli_report_number(report, "mean", info->mean);
    cli_report_number(report, "minimum", info->minimum);
    report_histogram(report, summary);
    cli_report_end_object(report);
}
