/* tilewright path: one shortest path, hop by hop. */
#include "cli/graph/names.h"
#include "cli/graph/reading.h"
#include "cli/graph/tables.h"
#include "cli/graph/vertices.h"
#include "cli/shared/commands.h"
#include "cli/shared/files.h"
#include "frame/report.h"
#include "frame/utf8.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_WIDTH 12
#define SEARCH_BYTES 64 /* of a vertex, in a search for one path */
#define LONGEST_NAME 40 /* columns that a table gives a name */

typedef struct settings {
    cli_reading reading;
    tw_type type;
    const char *dist_format;
} settings;

static const settings defaults = {.reading = CLI_READING_INIT, .type = TW_AUTO};

static const cli_option own_options[] = {
    {"type", 0, CLI_TYPE, "TYPE", offsetof(settings, type), CLI_ELEMENT_TYPES,
     "The type of a DIST that does not store it. Raw: u8, u16, i16, i32 (the default), f32 or f64. "
     "CSV: "
     "f32 or f64; by default whichever agrees with the graph."},
    {"dist-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, dist_format), 0,
     "The format of DIST: raw, npy or csv; by default its extension decides."},
    {0}};

static const cli_group groups[] = {{"The graph", cli_reading_options},
                                   {"The distances", own_options},
                                   {"Resources", cli_host_options},
                                   {"Messages", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"GRAPH", "The graph file; '-' is standard input."},
    {"DIST", "All its distances, as 'tilewright apsp GRAPH DIST' wrote them; no search is then "
             "needed. If both have names (in a .csv, or beside it by 'apsp --labels'), vertices "
             "are matched by name. Without DIST the graph is searched."},
    {"FROM TO", "Two vertices: names, or numbers as in the file: from 1 in DIMACS, Matrix "
                "Market and METIS files, else from 0."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright path roads.gr 1 2000", "search the graph"},
    {"tilewright path roads.gr distances.npy 1 2000", "walk along the distances, much faster"},
    {"tilewright path trains.csv --ids Bern Basel", "vertices by name"},
    {NULL, NULL}};

/* The least weight of an arc u -> v of weights of `type`. */
static double hop_weight(const tw_graph *graph, tw_type type, int32_t u, int32_t v)
{
    const int64_t *offsets = NULL;
    const int32_t *targets = NULL;
    const void *weights = NULL;
    tw_graph_rows(graph, &offsets, &targets, &weights);
    double least = INFINITY;
    for (int64_t a = offsets[u]; a < offsets[u + 1]; a++) {
        double weight = type == TW_I32   ? ((const int32_t *)weights)[a]
                        : type == TW_F32 ? ((const float *)weights)[a]
                                         : ((const double *)weights)[a];
        if (targets[a] == v && weight < least) {
            least = weight;
        }
    }
    return least;
}

/* A name in a column of its own, `column` wide as a terminal shows it. */
static void print_name(const char *name, int column)
{
    const int width = cli_utf8_width(name);
    cli_print("%s%*s", name, width < column ? column - width + 1 : 1, "");
}

/* How wide a column of these vertices is; longer names than LONGEST_NAME push their line aside. */
static int column_of(const tw_graph *graph, const tw_apsp_path_info *path)
{
    char shown[CLI_SHOWN];
    int column = NAME_WIDTH;
    for (int64_t i = 0; i < path->count; i++) {
        const int width = cli_utf8_width(cli_show_vertex(shown, graph, path->vertices[i]));
        column = width > column && width <= LONGEST_NAME ? width : column;
    }
    return column;
}

static void print_text(const tw_graph *graph, tw_type type, const tw_apsp_path_info *path)
{
    char from[CLI_SHOWN], to[CLI_SHOWN], weight[CLI_SHOWN], sum[CLI_SHOWN];
    const int column = column_of(graph, path);
    double total = 0;
    cli_print("distance     %s\n", cli_show_value(sum, path->distance));
    cli_print("hops         %lld\n", (long long)path->count - 1);
    if (path->count > 1) {
        cli_print("\n");
        print_name("from", column);
        print_name("to", column);
        cli_print("%12s %12s\n", "weight", "total");
    }
    for (int64_t i = 0; i + 1 < path->count; i++) {
        double hop = hop_weight(graph, type, path->vertices[i], path->vertices[i + 1]);
        total += hop;
        print_name(cli_show_vertex(from, graph, path->vertices[i]), column);
        print_name(cli_show_vertex(to, graph, path->vertices[i + 1]), column);
        cli_print("%12s %12s\n", cli_show_value(weight, hop), cli_show_value(sum, total));
    }
}

static void print_json(const cli_job *job, const tw_graph *graph, tw_type type,
                       const tw_apsp_path_info *path, const int32_t ends[2])
{
    int64_t count = path->vertices != NULL ? path->count : 0;
    cli_report json;
    cli_report_begin(&json, stdout);
    cli_report_text(&json, "command", "path");
    cli_report_vertex(&json, "from", graph, ends[0]);
    cli_report_vertex(&json, "to", graph, ends[1]);
    cli_report_bool(&json, "reachable", path->vertices != NULL);
    cli_report_number(&json, "distance", path->distance);
    cli_report_array(&json, "vertices");
    for (int64_t i = 0; i < count; i++) {
        cli_report_vertex(&json, NULL, graph, path->vertices[i]);
    }
    cli_report_end_array(&json);
    cli_report_array(&json, "weights");
    for (int64_t i = 0; i + 1 < count; i++) {
        cli_report_number(&json, NULL,
                          hop_weight(graph, type, path->vertices[i], path->vertices[i + 1]));
    }
    cli_report_end_array(&json);
    cli_report_number(&json, "seconds", cli_seconds() - job->started);
    cli_report_end(&json);
}

/* Where a named DIST has the row of `from` and the columns of all vertices: *row, and *cols to be
 * freed, or NULL if it has no names or the graph has none. */
static tw_status match_names(cli_job *job, const settings *s, const tw_graph *graph,
                             const char *file, int32_t from, const tw_source *source, int64_t *row,
                             int32_t **cols)
{
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    cli_table_names names = {0};
    const char *missing = NULL;
    int32_t *rows = NULL;
    tw_status status = tw_graph_describe(graph, &about);
    if (status == TW_OK && about.labelled) {
        status = cli_table_names_find(job, file, s->dist_format, source, &names);
    }
    if (status == TW_OK && names.graph != NULL) {
        const char *twice = NULL;
        status = cli_table_names_twice(job->ctx, &names, &twice);
        if (status == TW_OK && twice != NULL) {
            status = tw_fail(job->ctx, TW_ERR_FORMAT, "%.300s has two rows or columns '%.100s'",
                             file, twice);
        }
    }
    if (status == TW_OK && names.graph != NULL) {
        status =
            cli_table_names_match(job->ctx, &names, &names.rows, graph, &from, 1, &rows, &missing);
        if (status == TW_OK && missing == NULL) {
            status = cli_table_names_match(job->ctx, &names, &names.cols, graph, NULL,
                                           about.vertices, cols, &missing);
        }
        if (status == TW_OK && missing != NULL) {
            status = tw_fail(job->ctx, TW_ERR_FORMAT, "%.300s has no %s for '%.100s'%s", file,
                             *cols == NULL ? "row" : "column", missing,
                             *cols == NULL ? "" : "; a path needs a column for every vertex");
        }
        *row = status == TW_OK ? rows[0] : 0;
    }
    free(rows);
    cli_table_names_clear(&names);
    return status;
}

/* The row by the graph's vertices, from one by the columns of its file. */
static tw_status reorder(tw_context *ctx, tw_matrix *row, int64_t count, const int32_t *cols)
{
    const size_t size = tw_type_size(row->type);
    char *sorted = calloc((size_t)count + 1, size);
    if (sorted == NULL) {
        return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for a row of %lld distances",
                       (long long)count);
    }
    for (int64_t v = 0; v < count; v++) {
        memcpy(sorted + (size_t)v * size, (const char *)row->data + (size_t)cols[v] * size, size);
    }
    free(row->data);
    *row = (tw_matrix){sorted, 1, count, count, row->type};
    return TW_OK;
}

/* The row of the matrix that the path needs, into *out, whose data the caller frees: by name, if
 * both the graph and the matrix have names, else by number. */
static tw_status read_row(cli_job *job, const settings *s, const tw_graph *graph, int64_t vertices,
                          const char *file, int32_t from, tw_matrix *out)
{
    tw_context *ctx = job->ctx;
    tw_source source = TW_SOURCE_INIT;
    const tw_shape *shape = &source.shape;
    int64_t row = from;
    int32_t *cols = NULL;
    tw_status status =
        tw_matrix_source(ctx, &source, file, s->dist_format, s->type != TW_AUTO ? s->type : TW_I32);
    status = cli_mention_edges(ctx, file, s->dist_format, status);
    if (status == TW_OK) {
        status = match_names(job, s, graph, file, from, &source, &row, &cols);
    }
    if (status == TW_OK && cols == NULL && (shape->rows != vertices || shape->cols != vertices)) {
        status = tw_fail(ctx, TW_ERR_VERIFY,
                         "the distance matrix is %lld x %lld but the graph has %lld %s",
                         (long long)shape->rows, (long long)shape->cols, (long long)vertices,
                         vertices == 1 ? "vertex" : "vertices");
    }
    if (status == TW_OK) {
        *out = (tw_matrix){NULL, 1, shape->cols, shape->cols, shape->type};
        out->data = calloc((size_t)shape->cols, tw_type_size(shape->type));
        status = out->data != NULL
                     ? source.rows(source.self, ctx, row, 1, out->data, shape->cols)
                     : tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for a row of %lld distances",
                               (long long)shape->cols);
    }
    if (status == TW_OK && cols != NULL) {
        status = reorder(ctx, out, vertices, cols);
    }
    free(cols);
    tw_source_destroy(&source);
    return status;
}

/* The row as the f32 numbers that its text may have been written from. */
static tw_status round_to_f32(tw_context *ctx, tw_matrix *row)
{
    float *rounded = calloc((size_t)row->cols + 1, sizeof *rounded);
    if (rounded == NULL) {
        return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for a row of %lld distances",
                       (long long)row->cols);
    }
    for (int64_t v = 0; v < row->cols; v++) {
        double value = row->type == TW_I32 ? (double)((const int32_t *)row->data)[v]
                                           : ((const double *)row->data)[v];
        bool beyond = value == tw_apsp_infinity(row->type) || fabs(value) > (double)FLT_MAX;
        rounded[v] = beyond ? INFINITY : (float)value;
    }
    free(row->data);
    row->data = rounded;
    row->type = TW_F32;
    return TW_OK;
}

/* Along the row, if there is one. Text does not say its type: where a CSV row of float distances
 * contradicts the graph, it may have been written from f32. */
static tw_status find_along(tw_context *ctx, tw_apsp_path **path, const settings *s,
                            const tw_graph *graph, bool integral, const char *file, tw_matrix *row,
                            const int32_t ends[2])
{
    char sentence[512], inner[CLI_EXTENSION];
    tw_status status =
        tw_apsp_path_create(ctx, path, graph, file != NULL ? row : NULL, ends[0], ends[1]);
    if (status != TW_ERR_VERIFY || file == NULL || s->type != TW_AUTO || integral ||
        strcasecmp(cli_format_word(inner, file, s->dist_format), "csv") != 0) {
        return status;
    }
    snprintf(sentence, sizeof sentence, "%s", tw_last_error(ctx));
    status = round_to_f32(ctx, row);
    if (status == TW_OK) {
        status = tw_apsp_path_create(ctx, path, graph, row, ends[0], ends[1]);
    }
    return status == TW_ERR_VERIFY ? tw_fail(ctx, status, "%s", sentence) : status;
}

static tw_status find(cli_job *job, const settings *s, const tw_graph *graph, const char *file,
                      char **ends)
{
    int32_t vertices[2] = {0, 0};
    tw_apsp_path *handle = NULL;
    tw_apsp_path_info path = TW_APSP_PATH_INFO_INIT;
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    tw_matrix row = {0};
    char shown[CLI_SHOWN], other[CLI_SHOWN];
    tw_status status = tw_graph_describe(graph, &info);
    if (status == TW_OK) {
        status = cli_vertex(job->ctx, &vertices[0], graph, "FROM", ends[0]);
    }
    if (status == TW_OK) {
        status = cli_vertex(job->ctx, &vertices[1], graph, "TO", ends[1]);
    }
    if (status == TW_OK && file != NULL) {
        status = read_row(job, s, graph, info.vertices, file, vertices[0], &row);
    }
    if (status == TW_OK) {
        status = find_along(job->ctx, &handle, s, graph, info.integral != 0, file, &row, vertices);
    }
    if (status == TW_OK) {
        status = tw_apsp_path_describe(handle, &path);
    }
    if (status == TW_OK) {
        job->answer_is_no = path.vertices == NULL;
        if (s->reading.common.json) {
            print_json(job, graph, info.weight_type, &path, vertices);
        } else if (path.vertices == NULL) {
            cli_print("there is no path from %s to %s\n",
                      cli_show_vertex(shown, graph, vertices[0]),
                      cli_show_vertex(other, graph, vertices[1]));
        } else {
            print_text(graph, info.weight_type, &path);
        }
    }
    tw_apsp_path_destroy(handle);
    free(row.data);
    return status;
}

/* What a search takes beside a graph that could not be read for want of memory. */
static uint64_t use_of_graph(void *user, int64_t vertices, int64_t arcs, tw_type weights)
{
    (void)user;
    (void)arcs;
    (void)weights;
    return (uint64_t)vertices * SEARCH_BYTES;
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    const cli_file dist = {"DIST", count == 4 ? words[1] : NULL};
    tw_graph *graph = NULL;
    tw_status status = cli_begin(job, &s->reading.common);
    if (status == TW_OK && dist.path != NULL) {
        status = cli_refuse_type(job, "type", s->type, &dist, s->dist_format);
    } else if (status == TW_OK) {
        status = cli_refuse(job, "type", "without DIST");
        status = status == TW_OK ? cli_refuse(job, "dist-format", "without DIST") : status;
    }
    if (status == TW_OK) {
        status = tw_set_graph_use(job->ctx, use_of_graph, NULL);
    }
    if (status == TW_OK) {
        status = cli_read_graph(job, &graph, words[0], &s->reading);
    }
    if (status == TW_OK) {
        status = find(job, s, graph, dist.path, words + count - 2);
    }
    tw_graph_destroy(graph);
    return status;
}

const cli_command cli_path = {
    .name = "path",
    .usage = "GRAPH [DIST] FROM TO",
    .summary = "show one shortest path, hop by hop",
    .text = "Prints the distance from one vertex to another and the hops of a shortest path, each "
            "with its weight and the sum so far. If there is no path it says so and exits with 1.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 3,
    .most = 4,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};
