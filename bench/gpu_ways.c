/*
 * Every way that a plan knows for a graph, forced one after the other: the methods of a GPU, and
 * searches on the CPU; then what the plan chooses by itself. Each is planned and run as a summary
 * of all pairs, and as rows that nobody keeps; the estimate stands beside the run. Every answer is
 * checked before a time is printed: the rows of some sources against a plain search, summaries of
 * whole weights against each other. One line of JSON per way on stdout. Built and run by
 * bench/gpu_ways.sh: gpu_ways DEVICE LIMIT KIND:N:DEGREE[:HEAVIEST[:TYPE]]..., where DEGREE is a
 * density for dense graphs, and N the side of a grid; ways that are estimated to take more than
 * LIMIT seconds are left out, and all but $WAY, if that is set.
 */
#include "gpu_rows.h"

#include "base/clock.h"

#include <stdbool.h>
#include <string.h>

#define RUNS 3

typedef struct way {
    const char *device;
    tw_apsp_method method;
    const char *name;
} way;

/* -------------------------------------------------------------------------------------- graphs */

typedef struct recipe {
    char kind[32];
    long long n;
    double degree;
    double heaviest;
    char type[8];
} recipe;

static tw_graph *make_graph(const recipe *r)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    opts.kind = r->kind;
    opts.vertices = r->n;
    opts.degree = r->degree;
    opts.density = strcmp(r->kind, "grid") == 0 ? 1 : r->degree;
    opts.min_weight = strcmp(r->type, "i32") == 0 ? 1 : 0;
    opts.max_weight = r->heaviest;
    must(tw_type_parse(&opts.weight_type, r->type));
    if (strcmp(r->kind, "grid") == 0) {
        opts.rows = opts.cols = (int64_t)r->n;
    }
    must(tw_graph_generate(context, &graph, &opts));
    return graph;
}

/* ----------------------------------------------------------------------------------------- runs */

/* What summaries of the same graph have in common; 0 while there is none. */
static double seen_mean, seen_diameter;

static void compare(const tw_apsp_summary *summary)
{
    tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
    must(tw_apsp_summary_describe(summary, &info));
    claim(seen_mean == 0 || (info.mean == seen_mean && info.diameter == seen_diameter),
          "the summaries differ");
    seen_mean = info.mean;
    seen_diameter = info.diameter;
}

/* The best of some runs: a summary, or rows that are dropped. */
static double time_runs(tw_apsp_plan *plan, int runs, bool rows, bool whole, int64_t n,
                        tw_apsp_report *best)
{
    double least = 1e9;
    for (int i = 0; i < runs; i++) {
        tw_apsp_report report = TW_APSP_REPORT_INIT;
        tw_apsp_summary *summary = NULL;
        tw_sink sink = TW_SINK_INIT;
        int64_t dropped = 0;
        if (rows) {
            sink.self = &dropped;
            sink.begin = begin;
            sink.rows = drop;
            sink.end = end;
            sink.abort = give_up;
        } else {
            must(tw_apsp_summary_create(context, &summary, 0, NULL, NULL));
            must(tw_apsp_summary_sink(summary, &sink));
        }
        const double began = twi_seconds();
        must(tw_apsp_plan_run(context, plan, &sink, 1, NULL, &report));
        const double took = twi_seconds() - began;
        claim(!rows || dropped == n, "rows are missing");
        if (!rows && whole) {
            compare(summary);
        }
        if (!rows) {
            tw_sink_destroy(&sink);
            tw_apsp_summary_destroy(summary);
        }
        if (took < least) {
            least = took;
            *best = report;
        }
    }
    return least;
}

static void run(const recipe *r, const tw_graph *graph, const way *w, double limit)
{
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    must(tw_graph_describe(graph, &info));
    const int64_t n = info.vertices;
    const bool whole = strcmp(r->type, "i32") == 0;
    bool checked = false;
    must(tw_set_device(context, w->device));
    for (int rows = 0; rows < 2; rows++) {
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        tw_apsp_plan *plan = NULL;
        tw_apsp_plan_info planned = TW_APSP_PLAN_INFO_INIT;
        tw_apsp_report report = TW_APSP_REPORT_INIT;
        opts.method = w->method;
        opts.summary_only = !rows;
        const double began = twi_seconds();
        if (tw_apsp_plan_create(context, &plan, graph, &opts) != TW_OK) {
            return; /* not for this graph */
        }
        const double planning = twi_seconds() - began;
        must(tw_apsp_plan_describe(plan, &planned));
        if (planned.seconds <= limit) {
            if (!checked) {
                check_rows(graph, n, &opts);
                checked = true;
            }
            const double took =
                time_runs(plan, planned.seconds > 1 ? 1 : RUNS, rows, whole, n, &report);
            printf("{\"graph\": \"%s\", \"n\": %lld, \"arcs\": %lld, \"heaviest\": %g, "
                   "\"weights\": \"%s\", \"way\": \"%s\", \"method\": \"%s\", \"device\": \"%s\", "
                   "\"output\": \"%s\", \"type\": \"%s\", \"attempts\": %d, \"plan\": %.4f, "
                   "\"estimate\": %.5f, \"seconds\": %.5f, \"ratio\": %.2f, \"on_device\": %.5f, "
                   "\"upload\": %.5f, \"download\": %.5f, \"output_seconds\": %.5f}\n",
                   r->kind, (long long)n, (long long)info.arcs, r->heaviest, r->type, w->name,
                   tw_apsp_method_name(report.method), report.device, rows ? "rows" : "summary",
                   tw_type_name(report.work_type), report.attempts, planning, planned.seconds, took,
                   planned.seconds / took, report.seconds_device, report.seconds_upload,
                   report.seconds_download, report.seconds_output);
            fflush(stdout);
        }
        tw_apsp_plan_destroy(plan);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4 || tw_context_create(&context) != TW_OK) {
        fprintf(stderr, "usage: gpu_ways DEVICE LIMIT KIND:N:DEGREE[:HEAVIEST[:TYPE]]...\n");
        return 2;
    }
    const way ways[] = {
        {argv[1], TW_APSP_METHOD_CLOSURE, "gpu closure"},
        {argv[1], TW_APSP_METHOD_DIJKSTRA, "gpu labels"},
        {argv[1], TW_APSP_METHOD_BFS, "gpu bfs"},
        {argv[1], TW_APSP_METHOD_SWEEP, "gpu sweep"},
        {"cpu", TW_APSP_METHOD_DIJKSTRA, "cpu dijkstra"},
        {"cpu", TW_APSP_METHOD_AUTO, "cpu auto"},
        {argv[1], TW_APSP_METHOD_AUTO, "gpu auto"},
        {"auto", TW_APSP_METHOD_AUTO, "auto"},
    };
    const char *only = getenv("WAY");
    for (int i = 3; i < argc; i++) {
        recipe r = {.heaviest = 100, .type = "i32"};
        claim(sscanf(argv[i], "%31[^:]:%lld:%lf:%lf:%7s", r.kind, &r.n, &r.degree, &r.heaviest,
                     r.type) >= 3,
              argv[i]);
        tw_graph *graph = make_graph(&r);
        seen_mean = seen_diameter = 0;
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            if (only == NULL || strcmp(only, ways[k].name) == 0) {
                run(&r, graph, &ways[k], atof(argv[2]));
            }
        }
        tw_graph_destroy(graph);
    }
    tw_context_destroy(context);
    return 0;
}
