/*
 * Sweeps of grids on the GPU: order and symbolic phase (the plan), then runs with that plan, factor
 * included, as a summary of all pairs and as rows that nobody keeps. Every answer is checked before
 * a time is printed: the summary, row by row, against the CPU's sweep, and the rows of some sources
 * against a plain search. Weights 1 ... 100, or as far as is said. One line of JSON per grid on
 * stdout. Built and run by bench/gpu_sweep.sh: gpu_sweep DEVICE SIDE[@HEAVIEST]...; a side of
 * 200:4096 sweeps that many sources only, once, and checks nothing (for a profile).
 */
#include "gpu_rows.h"

#include "apsp/gpu/slabs.h"
#include "base/clock.h"
#include "base/memory.h"

#include <string.h>

#define RUNS 7

static tw_graph *make_grid(int64_t side, double heaviest)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    opts.kind = "grid";
    opts.rows = side;
    opts.cols = side;
    opts.density = 1;
    opts.min_weight = 1;
    opts.max_weight = heaviest;
    must(tw_graph_generate(context, &graph, &opts));
    return graph;
}

static tw_apsp_plan *make_plan(const tw_graph *graph, const char *device,
                               const tw_apsp_options *opts)
{
    tw_apsp_plan *plan = NULL;
    must(tw_set_device(context, device));
    must(tw_apsp_plan_create(context, &plan, graph, opts));
    return plan;
}

/* One run into a summary. */
static tw_apsp_summary *summarise(tw_apsp_plan *plan, const tw_apsp_options *opts,
                                  tw_apsp_report *report, double *seconds)
{
    tw_apsp_summary *summary = NULL;
    tw_sink sink = TW_SINK_INIT;
    must(tw_apsp_summary_create(context, &summary, 0, opts->sources, NULL));
    must(tw_apsp_summary_sink(summary, &sink));
    double began = twi_seconds();
    must(tw_apsp_plan_run(context, plan, &sink, 1, NULL, report));
    *seconds = twi_seconds() - began;
    tw_sink_destroy(&sink);
    return summary;
}

static void compare(const tw_apsp_summary *a, const tw_apsp_summary *b)
{
    tw_apsp_summary_info x = TW_APSP_SUMMARY_INFO_INIT;
    tw_apsp_summary_info y = TW_APSP_SUMMARY_INFO_INIT;
    must(tw_apsp_summary_describe(a, &x));
    must(tw_apsp_summary_describe(b, &y));
    size_t bytes = (size_t)x.rows * sizeof(double);
    claim(memcmp(&x, &y, sizeof x) == 0, "the summaries differ");
    claim(memcmp(tw_apsp_summary_eccentricity(a), tw_apsp_summary_eccentricity(b), bytes) == 0,
          "the eccentricities differ");
    claim(memcmp(tw_apsp_summary_closeness(a), tw_apsp_summary_closeness(b), bytes) == 0,
          "the closeness differs");
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void profile(int64_t side, int64_t count, const char *device)
{
    tw_graph *graph = make_grid(side, 100);
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    double seconds;
    int32_t *sources = malloc((size_t)count * sizeof *sources);
    claim(sources != NULL, "no memory");
    for (int64_t i = 0; i < count; i++) {
        sources[i] = (int32_t)i;
    }
    opts.method = TW_APSP_METHOD_SWEEP;
    opts.sources = sources;
    opts.source_count = count;
    tw_apsp_plan *plan = make_plan(graph, device, &opts);
    tw_apsp_summary_destroy(summarise(plan, &opts, &report, &seconds));
    printf("{\"side\": %lld, \"sources\": %lld, \"seconds\": %.4f, \"sweep\": %.4f}\n",
           (long long)side, (long long)count, seconds, report.seconds_device);
    tw_apsp_plan_destroy(plan);
    free(sources);
    tw_graph_destroy(graph);
}

/* What the host does before the devices can begin: seconds of the shapes and of the factor. */
static void time_host(const tw_apsp_plan *plan, tw_type type, double *shapes, double *factor)
{
    *shapes = *factor = 1e9;
    for (int i = 0; i < RUNS; i++) {
        twi_slabs slabs;
        char *data = NULL;
        double began = twi_seconds();
        must(twi_slabs_create(context, &slabs, plan->tree));
        double made = twi_seconds();
        must(twi_alloc(context, &data, (uint64_t)slabs.elements, tw_type_size(type), "the factor"));
        twi_slabs_filler filler = {context, &slabs, type, data, plan->threads};
        twi_factor_keeper keeper = {twi_slabs_keep, &filler};
        must(twi_factor_keep(context, &keeper, plan, plan->tree,
                             twi_minplus_kernel_find(plan->isa, type), plan->threads));
        double ended = twi_seconds();
        *shapes = made - began < *shapes ? made - began : *shapes;
        *factor = ended - made < *factor ? ended - made : *factor;
        twi_free(data);
        twi_slabs_clear(&slabs);
    }
}

static void run(int64_t side, double heaviest, const char *device)
{
    tw_graph *graph = make_grid(side, heaviest);
    const int64_t n = side * side;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_apsp_report reports[RUNS];
    double seconds[RUNS];
    opts.method = TW_APSP_METHOD_SWEEP;

    must(tw_set_device(context, device));
    check_rows(graph, n, &opts);
    tw_apsp_report here = TW_APSP_REPORT_INIT;
    double cpu_seconds;
    tw_apsp_plan *plan = make_plan(graph, "cpu", &opts);
    tw_apsp_summary *expected = summarise(plan, &opts, &here, &cpu_seconds);
    tw_apsp_plan_destroy(plan);

    plan = make_plan(graph, device, &opts);
    tw_apsp_plan_info planned = TW_APSP_PLAN_INFO_INIT;
    must(tw_apsp_plan_describe(plan, &planned));
    int best = 0;
    for (int i = 0; i < RUNS; i++) {
        tw_apsp_report fresh = TW_APSP_REPORT_INIT;
        reports[i] = fresh;
        tw_apsp_summary *summary = summarise(plan, &opts, &reports[i], &seconds[i]);
        compare(summary, expected);
        tw_apsp_summary_destroy(summary);
        best = seconds[i] < seconds[best] ? i : best;
    }
    const tw_apsp_report *r = &reports[best];
    printf("{\"side\": %lld, \"n\": %lld, \"type\": \"%s\", \"attempts\": %d, \"plan\": %.4f, "
           "\"estimate\": %.4f, \"total\": %.5f, \"sweep\": %.5f, \"upload\": %.5f, "
           "\"factor_and_host\": %.5f, \"output\": %.5f, \"relaxations\": %.4g, "
           "\"device_bytes\": %llu, \"cpu_sweep\": %.4f, \"cpu_plan\": %.4f",
           (long long)side, (long long)n, tw_type_name(r->work_type), r->attempts, r->seconds_plan,
           planned.seconds, seconds[best], r->seconds_device, r->seconds_upload,
           r->seconds_compute - r->seconds_device, r->seconds_output, r->relaxations,
           (unsigned long long)planned.device_memory, cpu_seconds, here.seconds_plan);
    double shapes;
    double factor;
    time_host(plan, r->work_type, &shapes, &factor);
    printf(", \"shapes\": %.5f, \"factor\": %.5f", shapes, factor);
    qsort(seconds, RUNS, sizeof *seconds, by_size);
    printf(", \"median\": %.5f, \"first\": %.5f", seconds[RUNS / 2],
           reports[0].seconds_compute + reports[0].seconds_upload);
    if (n <= 50000) { /* rows to the host, and dropped there */
        int64_t dropped = 0;
        double rows = 0;
        for (int i = 0; i < 2; i++) {
            tw_sink sink = TW_SINK_INIT;
            sink.self = &dropped;
            sink.begin = begin;
            sink.rows = drop;
            sink.end = end;
            sink.abort = give_up;
            double began = twi_seconds();
            must(tw_apsp_plan_run(context, plan, &sink, 1, NULL, NULL));
            rows = twi_seconds() - began;
        }
        claim(dropped == 2 * n, "rows are missing");
        printf(", \"rows\": %.4f, \"rows_GB_per_s\": %.1f", rows, (double)(n * n) * 4e-9 / rows);
    }
    printf("}\n");
    fflush(stdout);
    tw_apsp_plan_destroy(plan);
    tw_apsp_summary_destroy(expected);
    tw_graph_destroy(graph);
}

int main(int argc, char **argv)
{
    if (argc < 3 || tw_context_create(&context) != TW_OK) {
        fprintf(stderr, "usage: gpu_sweep DEVICE SIDE[@HEAVIEST]...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        char *after;
        int64_t side = strtoll(argv[i], &after, 10);
        if (*after == ':') {
            profile(side, strtoll(after + 1, NULL, 10), argv[1]);
        } else {
            run(side, *after == '@' ? strtod(after + 1, NULL) : 100, argv[1]);
        }
    }
    tw_context_destroy(context);
    return 0;
}
