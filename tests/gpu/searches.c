/*
 * Hop distances, searches that correct labels, and reachability on a GPU against the CPU: the same
 * bytes for graphs of every kind, sizes around those of batches and words, parts of the result,
 * folds, a matrix in device memory; and when a call to the device fails, at whichever, a sentence
 * and no memory kept. Without a GPU this program is skipped with the reason.
 */
#include "apsp/gpu/hops.h"
#include "base/context.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void expect(bool right, const char *what, int64_t n)
{
    passed += right;
    failed += !right;
    if (!right) {
        printf("FAILED %s, n=%lld: %s\n", what, (long long)n, tw_last_error(ctx));
    }
}

static tw_graph *make_graph(const char *kind, int64_t n, double degree)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    opts.kind = kind;
    opts.vertices = n;
    opts.degree = degree;
    opts.density = 0.9;
    opts.min_weight = opts.max_weight = 3;
    must(tw_graph_generate(ctx, &graph, &opts), "a graph");
    return graph;
}

static const int32_t sources[] = {7, 0, 7, 19, 3};

static tw_status distances(const char *device, const tw_graph *graph, bool part, tw_matrix *out)
{
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    opts.method = TW_APSP_METHOD_BFS;
    opts.sources = part ? sources : NULL;
    opts.source_count = part ? 5 : 0;
    opts.cutoff = part ? 12 : -1;
    must(tw_set_device(ctx, device), device);
    return tw_apsp(ctx, out, graph, &opts);
}

/* reachable, diameter, radius, mean and eccentricities, by rows that need not be there. */
static void summarise(const char *device, const tw_graph *graph, tw_apsp_summary_info *info,
                      double *eccentricity, int64_t n)
{
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    tw_apsp_summary *summary = NULL;
    tw_sink sink = TW_SINK_INIT;
    opts.method = TW_APSP_METHOD_BFS;
    must(tw_set_device(ctx, device), device);
    must(tw_apsp_plan_create(ctx, &plan, graph, &opts), "a plan");
    must(tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL), "a summary");
    must(tw_apsp_summary_sink(summary, &sink), "a summary");
    must(tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL), "a run");
    must(tw_apsp_summary_describe(summary, info), "a summary");
    memcpy(eccentricity, tw_apsp_summary_eccentricity(summary), (size_t)n * sizeof *eccentricity);
    tw_sink_destroy(&sink);
    tw_apsp_summary_destroy(summary);
    tw_apsp_plan_destroy(plan);
}

static void compare_distances(const char *kind, int64_t n, double degree)
{
    tw_graph *graph = make_graph(kind, n, degree);
    const size_t bytes = (size_t)(n * n) * sizeof(int32_t);
    int32_t *gpu = malloc(bytes), *cpu = malloc(bytes);
    double *far_gpu = malloc((size_t)n * sizeof(double)),
           *far_cpu = malloc((size_t)n * sizeof(double));
    tw_apsp_summary_info on_gpu = TW_APSP_SUMMARY_INFO_INIT, on_cpu = TW_APSP_SUMMARY_INFO_INIT;
    for (int part = 0; part < (n > 19 ? 2 : 1); part++) {
        tw_matrix out = {gpu, part ? 5 : n, n, n, TW_I32};
        memset(gpu, 0xa5, bytes);
        memset(cpu, 0x5a, bytes);
        expect(distances(TWI_GPU_PREFIX, graph, part, &out) == TW_OK, kind, n);
        out.data = cpu;
        must(distances("cpu", graph, part, &out), "the CPU");
        expect(memcmp(gpu, cpu, (size_t)(out.rows * n) * sizeof *gpu) == 0, kind, n);
    }
    summarise(TWI_GPU_PREFIX, graph, &on_gpu, far_gpu, n);
    summarise("cpu", graph, &on_cpu, far_cpu, n);
    expect(on_gpu.reachable == on_cpu.reachable && on_gpu.diameter == on_cpu.diameter &&
               on_gpu.radius == on_cpu.radius && on_gpu.mean == on_cpu.mean &&
               memcmp(far_gpu, far_cpu, (size_t)n * sizeof(double)) == 0,
           "a summary", n);
    free(far_cpu);
    free(far_gpu);
    free(cpu);
    free(gpu);
    tw_graph_destroy(graph);
}

/* Weighted, and so heavy that 16 bits are not enough, or light. Weights are whole. */
static void compare_labels(const char *kind, int64_t n, double degree, double heaviest,
                           tw_type type, bool directed)
{
    tw_graph_generate_options make = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_graph *graph = NULL;
    const int64_t all = n > 10000 ? 5 : n; /* rows */
    const size_t bytes = (size_t)(all * n) * tw_type_size(type);
    char *gpu = malloc(bytes), *cpu = malloc(bytes);
    make.kind = kind;
    make.vertices = n;
    make.degree = degree;
    make.density = 0.9;
    make.min_weight = 0;
    make.max_weight = heaviest;
    make.directed = directed ? TW_GRAPH_DIRECTED_YES : TW_GRAPH_DIRECTED_AS_FILE;
    must(tw_graph_generate(ctx, &graph, &make), "a graph");
    opts.type = type;
    for (int part = all < n; part < (n > 19 ? 2 : 1); part++) {
        tw_matrix out = {gpu, part ? 5 : n, n, n, type};
        opts.sources = part ? sources : NULL;
        opts.source_count = part ? 5 : 0;
        opts.cutoff = part ? heaviest * 2 : -1;
        opts.method = TW_APSP_METHOD_DIJKSTRA;
        memset(gpu, 0xa5, bytes);
        memset(cpu, 0x5a, bytes);
        must(tw_set_device(ctx, TWI_GPU_PREFIX), TWI_GPU_PREFIX);
        expect(tw_apsp(ctx, &out, graph, &opts) == TW_OK, kind, n);
        out.data = cpu;
        opts.method = TW_APSP_METHOD_AUTO;
        must(tw_set_device(ctx, "cpu"), "cpu");
        must(tw_apsp(ctx, &out, graph, &opts), "the CPU");
        expect(memcmp(gpu, cpu, (size_t)(out.rows * n) * tw_type_size(type)) == 0, kind, n);
    }
    free(cpu);
    free(gpu);
    tw_graph_destroy(graph);
}

/* Device memory, rows apart, an odd beginning. */
static void compare_matrix(int64_t n, int64_t stride, int64_t shift, tw_type type)
{
    tw_graph *graph = make_graph("sparse", n, 4);
    const size_t size = tw_type_size(type), bytes = (size_t)(n * stride + shift) * size;
    int32_t *want = malloc((size_t)(n * n) * sizeof *want);
    char *got = malloc(bytes), *data = NULL;
    double seconds = 0;
    bool same = cudaMalloc((void **)&data, bytes) == cudaSuccess &&
                cudaMemset(data, 0xa5, bytes) == cudaSuccess;
    tw_matrix out = {data + (size_t)shift * size, n, n, stride, type};
    same = same && twi_gpu_hops_matrix(ctx, 0, graph, &out, &seconds) == TW_OK &&
           cudaMemcpy(got, data, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    tw_matrix expected = {want, n, n, n, TW_I32};
    must(distances("cpu", graph, false, &expected), "the CPU");
    for (int64_t at = 0; at < n * stride && same; at++) {
        const char *element = got + (size_t)(at + shift) * size;
        const int32_t is = size == 1 ? *(uint8_t *)element : *(uint16_t *)element;
        int32_t should = size == 1 ? 0xa5 : 0xa5a5;
        if (at % stride < n) {
            const int32_t d = want[at / stride * n + at % stride];
            should = d == TW_APSP_INF_I32 ? (size == 1 ? TW_APSP_INF_U8 : TW_APSP_INF_U16) : d / 3;
        } else if (at >= (n - 1) * stride + n) {
            break;
        }
        same = is == should;
    }
    expect(same, "a matrix in device memory", n);
    (void)cudaFree(data);
    free(got);
    free(want);
    tw_graph_destroy(graph);
}

static tw_status reach(const char *device, const tw_graph *graph, int32_t layout, tw_matrix *out,
                       int64_t *counts)
{
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    tw_reach_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    opts.layout = layout;
    must(tw_set_device(ctx, device), device);
    tw_status status = tw_reach_plan_create(ctx, &plan, graph, &opts);
    if (status == TW_OK) {
        status = tw_sink_to_matrix(ctx, &sink, out);
    }
    if (status == TW_OK) {
        status = tw_reach_plan_run(ctx, plan, &sink, 1, NULL, NULL);
    }
    if (status == TW_OK) {
        status = tw_reach_plan_run(ctx, plan, NULL, 0, counts, NULL);
    }
    tw_sink_destroy(&sink);
    tw_reach_plan_destroy(plan);
    return status;
}

static void compare_reach(const char *kind, int64_t n, double degree)
{
    tw_graph *graph = make_graph(kind, n, degree);
    uint8_t *gpu = malloc((size_t)(n * n)), *cpu = malloc((size_t)(n * n));
    const size_t bytes = (size_t)n * sizeof(int64_t);
    int64_t *counts_gpu = malloc(bytes), *counts_cpu = malloc(bytes);
    for (int32_t layout = TW_REACH_BYTES; layout <= TW_REACH_BITS; layout++) {
        const int64_t cols = layout == TW_REACH_BITS ? (n + 7) / 8 : n;
        tw_matrix out = {gpu, n, cols, cols, TW_U8};
        memset(gpu, 0xa5, (size_t)(n * n));
        memset(cpu, 0x5a, (size_t)(n * n));
        expect(reach(TWI_GPU_PREFIX, graph, layout, &out, counts_gpu) == TW_OK, kind, n);
        out.data = cpu;
        must(reach("cpu", graph, layout, &out, counts_cpu), "the CPU");
        expect(memcmp(gpu, cpu, (size_t)(n * cols)) == 0, "reachability", n);
        expect(memcmp(counts_gpu, counts_cpu, bytes) == 0, "counts", n);
    }
    free(counts_cpu);
    free(counts_gpu);
    free(cpu);
    free(gpu);
    tw_graph_destroy(graph);
}

static tw_status correct_labels(const tw_graph *graph, tw_matrix *out)
{
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    opts.method = TW_APSP_METHOD_DIJKSTRA;
    must(tw_set_device(ctx, TWI_GPU_PREFIX), TWI_GPU_PREFIX);
    return tw_apsp(ctx, out, graph, &opts);
}

static void failures_leave_nothing_behind(void)
{
    tw_graph *graph = make_graph("sparse", 300, 2);
    int32_t *out = malloc(300 * 300 * sizeof *out);
    int64_t *counts = malloc(300 * sizeof *counts);
    uint8_t *bits = malloc(300 * 300);
    const uint64_t before = tw_memory_used(ctx);
    for (int which = 0; which < 3; which++) {
        tw_status status = TW_ERR_DEVICE;
        for (int32_t call = 1; status != TW_OK && call < 500; call++) {
            tw_matrix matrix = {out, 300, 300, 300, TW_I32}, bytes = {bits, 300, 300, 300, TW_U8};
            twi_gpu_fail_at(call);
            status = which == 0   ? distances(TWI_GPU_PREFIX, graph, false, &matrix)
                     : which == 1 ? reach(TWI_GPU_PREFIX, graph, TW_REACH_BYTES, &bytes, counts)
                                  : correct_labels(graph, &matrix);
            twi_gpu_fail_at(0);
            expect(status == TW_OK || status == TW_ERR_DEVICE || status == TW_ERR_MEMORY,
                   "a failing call", call);
            expect(tw_memory_used(ctx) == before, "memory after a failing call", call);
        }
        expect(status == TW_OK, "the calls end", which);
    }
    free(bits);
    free(counts);
    free(out);
    tw_graph_destroy(graph);
}

int main(void)
{
    twi_gpu_list list;
    if (tw_context_create(&ctx) != TW_OK) {
        return 2;
    }
    if (tw_set_device(ctx, TWI_GPU_PREFIX) != TW_OK || twi_gpu_select(ctx, &list) != TW_OK) {
        printf("skipped: %s\n0 passed, 0 failed, 1 skipped\n", tw_last_error(ctx));
        tw_context_destroy(ctx);
        return 77;
    }
    static const int64_t sizes[] = {1, 2, 33, 100, 1023, 1025, 2049, 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        compare_distances("sparse", sizes[i], sizes[i] > 2 ? 3 : 0.5);
        compare_distances("preferential", sizes[i], 2);
        compare_labels("sparse", sizes[i], sizes[i] > 2 ? 4 : 0.5, 100, TW_I32, i % 2 == 0);
        compare_labels("preferential", sizes[i], 2, 100000, TW_I32, false);
        compare_reach("sparse", sizes[i], sizes[i] > 2 ? 1.1 : 0.5);
        compare_reach("rmat", sizes[i], 2);
    }
    compare_distances("grid", 900, 4);
    compare_distances("dense", 1500, 4);
    compare_distances("preferential", 6000, 3);        /* hubs */
    compare_labels("rmat", 4096, 8, 50, TW_I32, true); /* hubs */
    compare_labels("grid", 900, 4, 100000, TW_I32, false);
    compare_labels("dense", 700, 4, 9, TW_F32, true);
    compare_labels("sparse", 3000, 1.2, 1000, TW_F64, true);
    compare_labels("sparse", 40000, 2, 300, TW_U16, false); /* rows of a chunk are short */
    compare_matrix(1000, 1000, 0, TW_U8);
    compare_matrix(777, 801, 3, TW_U8);
    compare_matrix(5000, 5008, 0, TW_U16);
    compare_matrix(300, 301, 1, TW_U16);
    failures_leave_nothing_behind();
    tw_context_destroy(ctx);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
