/*
 * Whole runs on a GPU, from a graph to sinks: the same bytes as on the CPU for whole numbers,
 * within the bound of docs/methods.md for floats, whatever part of the result is asked for; the
 * same bits from one GPU and from several; and when a call to the device fails, at whichever, a
 * sentence that names the device, no output, no memory kept. The same for one GPU that is named
 * twice, and for one that may hold so little that the matrix is streamed through it.
 *
 * Failures are pretended (twi_gpu_fail_at): the call is made, and its success reported as an error.
 * Only the last one is real, a kernel that is given a bad address: no call to the device succeeds
 * after it. Without a GPU this program is skipped with the reason.
 */
#include "apsp/gpu/gpu.h"
#include "base/context.h"
#include "base/random.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tw_context *ctx;
static int passed;
static int failed;

static void must(tw_status status, const char *what)
{
    if (status != TW_OK) {
        printf("FAILED %s: %s\n", what, tw_last_error(ctx));
        exit(1);
    }
}

static void expect(bool right, const char *what, const char *detail)
{
    passed += right;
    failed += !right;
    if (!right) {
        printf("FAILED %s: %s\n", what, detail);
    }
}

/* Random arcs; forward ones only where weights may be negative, so that there is no cycle. */
typedef struct run_case {
    const char *name;
    int64_t n;
    int64_t arcs;
    double low, high;
    tw_type weights;
    bool forward;
    bool undirected;
    tw_type type; /* of the result */
} run_case;

static tw_graph *make_graph(const run_case *c)
{
    size_t size = tw_type_size(c->weights);
    int32_t *source = malloc((size_t)(c->arcs + 1) * sizeof *source);
    int32_t *target = malloc((size_t)(c->arcs + 1) * sizeof *target);
    char *weight = malloc((size_t)(c->arcs + 1) * size);
    tw_graph *graph = NULL;
    if (source == NULL || target == NULL || weight == NULL) {
        exit(1);
    }
    for (int64_t i = 0; i < c->arcs; i++) {
        uint64_t at = (uint64_t)i * 3;
        int32_t a = (int32_t)twi_random_below(twi_random_at(7, at), (uint64_t)c->n);
        int32_t b = (int32_t)twi_random_below(twi_random_at(7, at + 1), (uint64_t)c->n);
        double w = c->low + (c->high - c->low) * twi_random_unit(twi_random_at(7, at + 2));
        source[i] = c->forward && a > b ? b : a;
        target[i] = c->forward && a > b ? a : b;
        if (c->forward && a == b) {
            w = 0;
        }
        if (c->weights == TW_I32) {
            ((int32_t *)weight)[i] = (int32_t)floor(w);
        } else if (c->weights == TW_F32) {
            ((float *)weight)[i] = (float)w;
        } else {
            ((double *)weight)[i] = w;
        }
    }
    tw_edges edges = {sizeof edges, c->arcs, source, target, weight, c->weights, TW_I32};
    must(tw_graph_from_edges(ctx, &graph, c->n, &edges, c->undirected ? TW_GRAPH_UNDIRECTED : 0),
         c->name);
    free(weight);
    free(target);
    free(source);
    return graph;
}

static void *solve(const run_case *c, const tw_graph *graph, const tw_apsp_options *opts,
                   const char *device, tw_apsp_report *report)
{
    int64_t rows = opts->sources != NULL ? opts->source_count : c->n;
    int64_t cols = opts->targets != NULL ? opts->target_count : c->n;
    size_t bytes = (size_t)(rows * cols) * tw_type_size(c->type);
    tw_matrix out = {malloc(bytes + 1), rows, cols, cols, c->type};
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    if (out.data == NULL) {
        exit(1);
    }
    memset(out.data, 0xA5, bytes);
    must(tw_set_device(ctx, device), c->name);
    must(tw_sink_to_matrix(ctx, &sink, &out), c->name);
    must(tw_apsp_plan_create(ctx, &plan, graph, opts), c->name);
    must(tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, report), c->name);
    expect(strcmp(report->device, device) == 0, c->name, report->device);
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
    return out.data;
}

static double element(const void *data, tw_type type, size_t i)
{
    return type == TW_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Both lie within (1 +- e)^(n-1) of the true distance; with negative weights within
 * n 2^-52 (max |h| + max |d|), where no potential is larger than the largest distance. */
static bool floats_agree(const run_case *c, const void *a, const void *b, size_t count)
{
    double e = c->type == TW_F32 ? 0x1p-24 : 0x1p-53;
    double magnitude = 0;
    for (size_t i = 0; i < count; i++) {
        double x = fabs(element(b, c->type, i));
        magnitude = !isinf(x) && x > magnitude ? x : magnitude;
    }
    for (size_t i = 0; i < count; i++) {
        double x = element(a, c->type, i);
        double y = element(b, c->type, i);
        double scale = c->low < 0 ? 4 * magnitude : fabs(x) + fabs(y);
        if (isinf(x) != isinf(y) || (!isinf(x) && fabs(x - y) > 1.01 * (double)c->n * e * scale)) {
            return false;
        }
    }
    return true;
}

static bool agree(const run_case *c, const void *there, const void *here, size_t count)
{
    bool whole = c->type != TW_F32 && c->type != TW_F64;
    return whole ? memcmp(there, here, count * tw_type_size(c->type)) == 0
                 : floats_agree(c, there, here, count);
}

/* The matrix in host memory: dealt out to two and to three devices, with the bits of one device
 * that holds it, and streamed through one. */
static void compare_other_ways(const run_case *c, const tw_graph *graph,
                               const tw_apsp_options *opts, const void *here, const void *one)
{
    static const tw_type types[] = {TW_I32, TW_F32, TW_F64};
    static const char *const lists[] = {TWI_GPU_PREFIX ":0,0", TWI_GPU_PREFIX ":0,0,0"};
    size_t count = (size_t)(c->n * c->n);
    uint64_t room = 0;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    void *there = NULL;
    for (int i = 0; i < 2; i++) {
        there = solve(c, graph, opts, lists[i], &report);
        expect(agree(c, there, here, count), c->name, "the results of several devices differ");
        expect(memcmp(there, one, count * tw_type_size(c->type)) == 0, c->name,
               "several devices have other bits than one");
        free(there);
    }
    for (int i = 0; i < 3; i++) { /* for whichever type the run comes to */
        uint64_t least = 0;
        (void)twi_gpu_stream_fits(types[i], c->n, types[i] == TW_I32, 0, &least);
        room = least > room ? least : room;
    }
    must(tw_set_device_memory(ctx, room), c->name);
    there = solve(c, graph, opts, TWI_GPU_PREFIX, &report);
    must(tw_set_device_memory(ctx, 0), c->name);
    expect(agree(c, there, here, count), c->name, "the streamed results differ");
    free(there);
}

static void compare(const run_case *c, tw_apsp_options opts, const char *part)
{
    char name[128];
    tw_apsp_report gpu = TW_APSP_REPORT_INIT;
    tw_apsp_report cpu = TW_APSP_REPORT_INIT;
    tw_graph *graph = make_graph(c);
    opts.type = c->type;
    opts.method = TW_APSP_METHOD_CLOSURE;
    snprintf(name, sizeof name, "%s, %s", c->name, part);
    void *there = solve(c, graph, &opts, TWI_GPU_PREFIX, &gpu);
    void *here = solve(c, graph, &opts, "cpu", &cpu);
    size_t rows = (size_t)(opts.sources != NULL ? opts.source_count : c->n);
    size_t cols = (size_t)(opts.targets != NULL ? opts.target_count : c->n);
    expect(agree(c, there, here, rows * cols), name, "the results differ");
    expect(gpu.seconds_device > 0 && gpu.seconds_startup > 0, name,
           "the report does not speak of a GPU");
    expect(cpu.seconds_device <= 0 && cpu.seconds_startup <= 0, name,
           "the report does not speak of the CPU");
    if (opts.sources == NULL) {
        compare_other_ways(c, graph, &opts, here, there);
    }
    free(here);
    free(there);
    tw_graph_destroy(graph);
}

static const run_case cases[] = {
    {"a few vertices", 5, 9, 0, 9, TW_I32, false, false, TW_I32},
    {"one tile", 128, 900, 0, 99, TW_I32, false, false, TW_I32},
    {"parallel arcs", 130, 90000, 0, 9999, TW_I32, false, false, TW_I32},
    {"a graph that falls apart", 400, 350, 1, 50, TW_I32, false, false, TW_I32},
    {"16 bits are enough", 3100, 40000, 0, 1000, TW_I32, false, false, TW_I32},
    {"16 bits, falling apart", 3100, 3000, 1, 100, TW_I32, false, false, TW_I32},
    {"16 bits are not enough", 3100, 12000, 1, 20000, TW_I32, false, false, TW_I32},
    {"i32 is not enough", 300, 600, 1e6, 2e9, TW_I32, false, false, TW_F64},
    {"undirected", 3100, 20000, 1, 500, TW_I32, false, true, TW_I32},
    {"negative", 700, 9000, -40, 90, TW_I32, true, false, TW_I32},
    {"into u16", 600, 9000, 0, 900, TW_I32, false, false, TW_U16},
    {"into u8", 300, 60000, 0, 90, TW_I32, false, false, TW_U8},
    {"into f32", 600, 9000, 0, 900, TW_I32, false, false, TW_F32},
    {"f32", 900, 9000, 0, 1, TW_F32, false, false, TW_F32},
    {"f32, one tile and a vertex", 129, 5000, 0, 1, TW_F32, false, false, TW_F32},
    {"f32, many arcs", 700, 200000, 0, 1, TW_F32, false, false, TW_F32},
    {"f32, undirected", 1300, 9000, 0, 1, TW_F32, false, true, TW_F32},
    {"f32, large tiles", 3100, 40000, 0, 1, TW_F32, false, false, TW_F32},
    {"f64", 900, 9000, 0, 1, TW_F64, false, false, TW_F64},
    {"f64, undirected", 900, 9000, 0, 1, TW_F64, false, true, TW_F64},
    {"f64, negative", 500, 5000, -1, 3, TW_F64, true, false, TW_F64},
};

static void every_case_and_part(void)
{
    static const int32_t rows[] = {4, 0, 3, 3, 1};
    static const int32_t cols[] = {2, 4, 4, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        compare(&cases[i], opts, "all");
        opts.sources = rows;
        opts.source_count = 5;
        compare(&cases[i], opts, "some rows");
        opts.targets = cols;
        opts.target_count = 4;
        opts.cutoff = (cases[i].low + cases[i].high) / 2;
        compare(&cases[i], opts, "some rows and columns, with a cutoff");
    }
}

/* ------------------------------------------------------------------------------------- sweeps */

/* A sweep on one GPU, and on one that is named several times, against the closure of the CPU. */
static void compare_sweep(const run_case *c, const tw_graph *graph, tw_apsp_options opts,
                          const char *part)
{
    static const char *const lists[] = {TWI_GPU_PREFIX, TWI_GPU_PREFIX ":0,0",
                                        TWI_GPU_PREFIX ":0,0,0"};
    char name[128];
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    void *one = NULL;
    size_t rows = (size_t)(opts.sources != NULL ? opts.source_count : c->n);
    size_t cols = (size_t)(opts.targets != NULL ? opts.target_count : c->n);
    opts.type = c->type;
    opts.method = TW_APSP_METHOD_CLOSURE;
    snprintf(name, sizeof name, "sweep: %s, %s", c->name, part);
    void *here = solve(c, graph, &opts, "cpu", &report);
    opts.method = TW_APSP_METHOD_SWEEP;
    for (int i = 0; i < 3; i++) {
        void *there = solve(c, graph, &opts, lists[i], &report);
        expect(agree(c, there, here, rows * cols), name, "the results differ");
        expect(report.method == TW_APSP_METHOD_SWEEP && report.seconds_device > 0, name,
               "the report does not speak of a sweep on a GPU");
        expect(one == NULL || memcmp(there, one, rows * cols * tw_type_size(c->type)) == 0, name,
               "several devices have other bits than one");
        if (one == NULL) {
            one = there;
        } else {
            free(there);
        }
    }
    free(one);
    free(here);
}

static tw_apsp_summary *summarise(const tw_graph *graph, tw_apsp_method method, const char *device)
{
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_apsp_summary *summary = NULL;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    opts.method = method;
    must(tw_set_device(ctx, device), "a summary");
    must(tw_apsp_plan_create(ctx, &plan, graph, &opts), "a summary");
    must(tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL), "a summary");
    must(tw_apsp_summary_sink(summary, &sink), "a summary");
    must(tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL), "a summary");
    tw_sink_destroy(&sink);
    tw_apsp_plan_destroy(plan);
    return summary;
}

/* Folded on the device, against the rows of searches. */
static void compare_summaries(const run_case *c, const tw_graph *graph)
{
    tw_apsp_summary_info x = TW_APSP_SUMMARY_INFO_INIT;
    tw_apsp_summary_info y = TW_APSP_SUMMARY_INFO_INIT;
    tw_apsp_summary *a = summarise(graph, TW_APSP_METHOD_SWEEP, TWI_GPU_PREFIX);
    tw_apsp_summary *b = summarise(graph, TW_APSP_METHOD_DIJKSTRA, "cpu");
    size_t bytes = (size_t)c->n * sizeof(double);
    must(tw_apsp_summary_describe(a, &x), c->name);
    must(tw_apsp_summary_describe(b, &y), c->name);
    expect(memcmp(&x, &y, sizeof x) == 0, c->name, "the summaries differ");
    expect(memcmp(tw_apsp_summary_eccentricity(a), tw_apsp_summary_eccentricity(b), bytes) == 0 &&
               memcmp(tw_apsp_summary_closeness(a), tw_apsp_summary_closeness(b), bytes) == 0,
           c->name, "the rows of the summaries differ");
    tw_apsp_summary_destroy(b);
    tw_apsp_summary_destroy(a);
}

static void sweeps_of_every_case(void)
{
    static const int32_t rows[] = {4, 0, 3, 3, 1};
    static const int32_t cols[] = {2, 4, 4, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const run_case *c = &cases[i];
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        tw_graph *graph = make_graph(c);
        compare_sweep(c, graph, opts, "all");
        opts.sources = rows;
        opts.source_count = 5;
        opts.targets = cols;
        opts.target_count = 4;
        opts.cutoff = (c->low + c->high) / 2;
        compare_sweep(c, graph, opts, "some rows and columns, with a cutoff");
        if (c->weights == TW_I32 && c->low >= 0 && c->high < 1e6) {
            compare_summaries(c, graph);
        }
        tw_graph_destroy(graph);
    }
}

/* Where blocks, tiles of columns and levels are many; whole and worn, in 16 bits and beyond. */
static void sweeps_of_grids(void)
{
    static const struct {
        int64_t rows, cols;
        double density, heaviest;
    } grids[] = {{2, 3, 1, 9},     {7, 19, 1, 100},   {1, 300, 1, 50},  {33, 31, 1, 100},
                 {50, 61, 1, 900}, {64, 64, 0.7, 90}, {41, 99, 0.5, 9}, {64, 80, 1, 20000}};
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        tw_graph_generate_options make = TW_GRAPH_GENERATE_OPTIONS_INIT;
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        tw_graph *graph = NULL;
        make.kind = "grid";
        make.rows = grids[i].rows;
        make.cols = grids[i].cols;
        make.density = grids[i].density;
        make.max_weight = grids[i].heaviest;
        make.directed = i % 2 == 0 ? TW_GRAPH_DIRECTED_AS_FILE : 1;
        must(tw_graph_generate(ctx, &graph, &make), "a grid");
        run_case c = {"a grid", grids[i].rows * grids[i].cols, 0, 0, 0, TW_I32, false, false,
                      TW_I32};
        compare_sweep(&c, graph, opts, "all");
        compare_summaries(&c, graph);
        tw_graph_destroy(graph);
    }
}

/* A distance that the result's type cannot hold: the same sentence as from the CPU. */
static void a_value_that_does_not_fit_is_named(void)
{
    run_case c = {"too large for u8", 200, 900, 100, 200, TW_I32, false, false, TW_U8};
    tw_graph *graph = make_graph(&c);
    char sentences[2][256];
    for (int on_cpu = 0; on_cpu < 2; on_cpu++) {
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        tw_matrix out = {malloc(200 * 200), 200, 200, 200, TW_U8};
        opts.method = TW_APSP_METHOD_CLOSURE;
        must(tw_set_device(ctx, on_cpu ? "cpu" : TWI_GPU_PREFIX), c.name);
        tw_status status = tw_apsp(ctx, &out, graph, &opts);
        expect(status == TW_ERR_RANGE, c.name, tw_status_name(status));
        snprintf(sentences[on_cpu], sizeof sentences[on_cpu], "%.255s", tw_last_error(ctx));
        free(out.data);
    }
    expect(strcmp(sentences[0], sentences[1]) == 0, c.name, sentences[0]);
    tw_graph_destroy(graph);
}

/* The k-th call fails, for every k there is. */
static void failures_leave_nothing_behind(const char *path, tw_apsp_method method)
{
    run_case c = {"a failing device", 300, 3000, 0, 100, TW_I32, false, false, TW_I32};
    tw_graph *graph = make_graph(&c);
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_status status = TW_ERR_DEVICE;
    size_t before = 0;
    size_t total = 0;
    opts.method = method;
    must(tw_set_device(ctx, TWI_GPU_PREFIX), c.name);
    for (int32_t k = 0; status != TW_OK && k < 500; k++) {
        tw_apsp_plan *plan = NULL;
        tw_sink sink = TW_SINK_INIT;
        size_t after = 0;
        must(tw_sink_to_file(ctx, &sink, path, "raw"), c.name);
        twi_gpu_fail_at(k);
        status = tw_apsp_plan_create(ctx, &plan, graph, &opts);
        if (status == TW_OK) {
            status = tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL);
        }
        twi_gpu_fail_at(0);
        tw_apsp_plan_destroy(plan);
        tw_sink_destroy(&sink);
        expect(cudaMemGetInfo(&after, &total) == cudaSuccess, c.name, "asking for memory");
        if (k == 0) { /* none fails: what the runtime keeps for itself is there now */
            expect(status == TW_OK && access(path, F_OK) == 0, c.name, tw_last_error(ctx));
            before = after;
            unlink(path);
            status = TW_ERR_DEVICE;
            continue;
        }
        expect(after == before, c.name, "device memory was kept");
        expect(status == TW_OK || (status == TW_ERR_DEVICE &&
                                   strstr(tw_last_error(ctx), TWI_GPU_PREFIX ":0") != NULL),
               c.name, tw_last_error(ctx));
        expect((access(path, F_OK) == 0) == (status == TW_OK), c.name, "a file was left");
        unlink(path);
    }
    expect(status == TW_OK, c.name, "it never succeeded");
    tw_graph_destroy(graph);
}

static void note_fallback(void *noted, const char *line)
{
    *(bool *)noted |= strstr(line, "on the CPU instead") != NULL;
}

/* Nobody named the device: the CPU computes what the GPU could not, and the log says so. */
static void auto_falls_back_to_the_cpu(void)
{
    run_case c = {"falling back", 6000, 600000, 0, 900, TW_I32, false, false, TW_I32};
    tw_graph *graph = make_graph(&c);
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_apsp_plan_info planned = TW_APSP_PLAN_INFO_INIT;
    tw_apsp_plan *plan = NULL;
    bool noted = false;
    void *here = solve(&c, graph, &opts, "cpu", &report);
    tw_matrix out = {malloc((size_t)(c.n * c.n) * 4), c.n, c.n, c.n, TW_I32};
    tw_sink sink = TW_SINK_INIT;
    tw_set_log(ctx, note_fallback, &noted);
    must(tw_set_device(ctx, "auto"), c.name);
    must(tw_sink_to_matrix(ctx, &sink, &out), c.name);
    must(tw_apsp_plan_create(ctx, &plan, graph, &opts), c.name);
    must(tw_apsp_plan_describe(plan, &planned), c.name);
    if (strcmp(planned.device, "cpu") == 0) {
        printf("not tested: falling back, since the CPU of this machine is estimated faster\n");
    } else {
        twi_gpu_fail_at(60); /* in the midst of the closure */
        must(tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report), c.name);
        twi_gpu_fail_at(0);
        expect(noted, c.name, "the log does not say so");
        expect(strcmp(report.device, "cpu") == 0, c.name, report.device);
        expect(strstr(report.fallback, TWI_GPU_PREFIX ":0") != NULL, c.name, report.fallback);
        expect(memcmp(out.data, here, (size_t)(c.n * c.n) * 4) == 0, c.name, "the results differ");
    }
    tw_set_log(ctx, NULL, NULL);
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
    free(out.data);
    free(here);
    tw_graph_destroy(graph);
}

/* A kernel goes wrong, whoever started it. */
static void a_fault_is_told_and_leaves_no_file(const char *path)
{
    run_case c = {"a fault", 300, 3000, 0, 100, TW_I32, false, false, TW_I32};
    tw_graph *graph = make_graph(&c);
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    twi_gpu_round bad = {.c = (void *)256, .ld = 64, .n = 64, .tiles = 1, .one = 1, .next = -1};
    must(tw_set_device(ctx, TWI_GPU_PREFIX), c.name);
    must(tw_sink_to_file(ctx, &sink, path, "raw"), c.name);
    must(tw_apsp_plan_create(ctx, &plan, graph, NULL), c.name);
    (void)twi_gpu_kernel_choose(TW_I32, 64)->alone(&bad, NULL);
    tw_status status = tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL);
    expect(status == TW_ERR_DEVICE, c.name, tw_status_name(status));
    expect(strstr(tw_last_error(ctx), TWI_GPU_PREFIX ":0: ") != NULL, c.name, tw_last_error(ctx));
    printf("a fault reads: %s\n", tw_last_error(ctx));
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
    expect(access(path, F_OK) != 0, c.name, "a file was left");
    tw_graph_destroy(graph);
}

/* A device that was lost before anybody asked for it: what names it fails, "auto" does not. */
static void a_lost_device_is_told(void)
{
    run_case c = {"a lost device", 6000, 600000, 0, 900, TW_I32, false, false, TW_I32};
    tw_graph *graph = make_graph(&c);
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_matrix out = {malloc((size_t)(c.n * c.n) * 4), c.n, c.n, c.n, TW_I32};
    must(tw_set_device(ctx, TWI_GPU_PREFIX), c.name);
    tw_status status = tw_apsp(ctx, &out, graph, &opts);
    expect(status == TW_ERR_DEVICE, c.name, tw_status_name(status));
    printf("a lost device reads: %s\n", tw_last_error(ctx));
    must(tw_set_device(ctx, "auto"), c.name);
    must(tw_apsp(ctx, &out, graph, &opts), "a lost device under auto");
    free(out.data);
    tw_graph_destroy(graph);
}

static void a_device_that_is_not_there_is_named(void)
{
    twi_gpu_list list;
    const char *what = "a device that is not there";
    must(tw_set_device(ctx, TWI_GPU_PREFIX ":0,999"), what);
    expect(twi_gpu_select(ctx, &list) == TW_ERR_DEVICE, what, "it was found");
    expect(strstr(tw_last_error(ctx), TWI_GPU_PREFIX ":999 does not exist; this machine has ") !=
               NULL,
           what, tw_last_error(ctx));
}

int main(void)
{
    char path[] = "/tmp/tilewright-runs-XXXXXX";
    twi_gpu_list list;
    int fd = mkstemp(path);
    if (fd < 0 || tw_context_create(&ctx) != TW_OK) {
        return 2;
    }
    close(fd);
    unlink(path);
    if (tw_set_device(ctx, TWI_GPU_PREFIX) != TW_OK || twi_gpu_select(ctx, &list) != TW_OK) {
        printf("skipped: %s\n0 passed, 0 failed, 1 skipped\n", tw_last_error(ctx));
        tw_context_destroy(ctx);
        return 77;
    }
    tw_device_start(ctx);
    every_case_and_part();
    sweeps_of_every_case();
    sweeps_of_grids();
    a_value_that_does_not_fit_is_named();
    failures_leave_nothing_behind(path, TW_APSP_METHOD_CLOSURE);
    failures_leave_nothing_behind(path, TW_APSP_METHOD_SWEEP);
    auto_falls_back_to_the_cpu();
    a_device_that_is_not_there_is_named();
    a_fault_is_told_and_leaves_no_file(path);
    a_lost_device_is_told();
    tw_device_release(ctx);
    uint64_t kept = tw_memory_used(ctx);
    expect(kept == 0, "at the end", "host memory was kept");
    tw_context_destroy(ctx);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
