/*
 * The wing's part of tw_selftest: every method, working type and instruction set of this machine
 * against the oracle, on graphs whose sizes lie around the tile edges, into poisoned matrices. It
 * needs nothing but the library, so a user can check a new machine with it.
 *
 * A GPU closes matrices as small as these by kernels of their own, so it gets larger ones too. The
 * oracle would take minutes for them; what a GPU says of them is compared with what the CPU says.
 */
#include "apsp/selftest.h"

#include "apsp/closure/kernels.h"
#include "apsp/gpu/gpu.h"
#include "apsp/reference.h"
#include "apsp/shared/distance.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "gpu/device.h"
#include "graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POISON 0xA5

/* A graph with what the oracle says of it. */
typedef struct sample {
    tw_graph *graph;
    double *want;
    char name[64];
} sample;

/* One way to compute it. */
typedef struct variant {
    tw_apsp_method method;
    tw_type work_type;
    const char *isa; /* NULL: the best */
} variant;

/* Relative difference that n-1 roundings of the type may make; 0 where sums are exact. */
static double slack(const tw_graph *graph, tw_type work_type)
{
    if (graph->integral) {
        return 0;
    }
    return (double)graph->n * (work_type == TW_F32 ? 0x1p-23 : 0x1p-52);
}

static bool agrees(double got, double want, double bound)
{
    return got == want || (!isinf(got) && !isinf(want) && fabs(got - want) <= bound * want);
}

/* Tell whether the call went well and `out`, worked in `type`, is what the oracle says. */
static void judge(const twi_tester *t, const sample *s, const char *name, tw_status status,
                  const tw_matrix *out, tw_type type)
{
    char detail[1100] = "";
    int64_t n = s->graph->n;
    if (status != TW_OK) {
        snprintf(detail, sizeof detail, "%s: %s", tw_status_name(status), tw_last_error(t->ctx));
        twi_tell(t, name, 0, detail);
        return;
    }
    double bound = slack(s->graph, type);
    const double *got = out->data;
    for (int64_t i = 0; i < n * n; i++) {
        if (!agrees(got[i], s->want[i], bound)) {
            snprintf(detail, sizeof detail, "entry %lld,%lld is %.17g, the reference has %.17g",
                     (long long)(i / n), (long long)(i % n), got[i], s->want[i]);
            twi_tell(t, name, 0, detail);
            return;
        }
    }
    twi_tell(t, name, 1, detail);
}

static void run_variant(const twi_tester *t, const sample *s, const variant *v, tw_matrix *out)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    char name[224];
    int64_t n = s->graph->n;
    options.method = v->method;
    options.work_type = v->work_type;
    snprintf(name, sizeof name, "%s %s %s %s", tw_apsp_method_name(v->method),
             tw_type_name(v->work_type),
             v->isa != NULL                        ? v->isa
             : v->method == TW_APSP_METHOD_CLOSURE ? t->ctx->device
                                                   : "best",
             s->name);
    memset(out->data, POISON, (size_t)(n * n) * sizeof(double));
    tw_status status = tw_set_isa(t->ctx, v->isa);
    /* Only a result of f32 is worked in that. */
    tw_matrix result = *out;
    result.type = v->work_type == TW_F32 ? TW_F32 : TW_F64;
    if (status == TW_OK) {
        status = tw_apsp(t->ctx, &result, s->graph, &options);
    }
    for (int64_t i = n * n - 1; i >= 0 && result.type == TW_F32; i--) { /* from the end: in place */
        ((double *)out->data)[i] = twi_element(out->data, TW_F32, i);
    }
    judge(t, s, name, status, out, result.type);
}

/* ------------------------------------------------------------------------------------- on GPUs */

static void put(void *matrix, int64_t at, tw_type type, double value)
{
    if (type == TW_I32) {
        ((int32_t *)matrix)[at] = value < TW_APSP_INF_I32 ? (int32_t)value : TW_APSP_INF_I32;
    } else if (type == TW_F32) {
        ((float *)matrix)[at] = (float)value;
    } else {
        ((double *)matrix)[at] = value;
    }
}

static void fill_matrix(const tw_graph *graph, void *matrix, tw_type type)
{
    int64_t n = graph->n;
    for (int64_t i = 0; i < n * n; i++) {
        put(matrix, i, type, i % (n + 1) == 0 ? 0 : (double)INFINITY);
    }
    for (int64_t u = 0; u < n; u++) {
        for (int64_t arc = graph->offsets[u]; arc < graph->offsets[u + 1]; arc++) {
            int64_t at = u * n + graph->targets[arc];
            double weight = twi_graph_weight(graph, arc);
            if (weight < twi_element(matrix, type, at)) {
                put(matrix, at, type, weight);
            }
        }
    }
}

/* A matrix this small is never streamed by itself: here it is, with the minimum memory on the
 * device and with three times as much. */
static void run_streamed(const twi_tester *t, const sample *s, tw_type type, int32_t device,
                         tw_matrix *out)
{
    int64_t n = s->graph->n;
    void *matrix = NULL;
    for (uint64_t times = 1; times <= 3; times += 2) {
        for (int narrow = 0; narrow <= (type == TW_I32); narrow++) {
            char name[224];
            uint64_t bytes = 0;
            tw_type used;
            snprintf(name, sizeof name, "closure %s streamed, %llu times the minimum memory%s, %s",
                     tw_type_name(type), (unsigned long long)times, narrow ? ", 16 bits first" : "",
                     s->name);
            tw_status status =
                twi_alloc(t->ctx, &matrix, (uint64_t)(n * n), sizeof(double), "a matrix");
            if (status == TW_OK) {
                fill_matrix(s->graph, matrix, type);
                (void)twi_gpu_stream_fits(type, n, narrow, 0, &bytes);
                twi_gpu_host host = {.data = matrix,
                                     .n = n,
                                     .ld = n,
                                     .type = type,
                                     .symmetric = s->graph->undirected,
                                     .graph = s->graph};
                twi_gpu_list one = {1, {device}};
                status = twi_gpu_close(t->ctx, &one, TWI_GPU_STREAMED, bytes * times, &host, narrow,
                                       &used);
            }
            for (int64_t i = 0; i < n * n && status == TW_OK; i++) {
                ((double *)out->data)[i] = twi_distance(matrix, type, i);
            }
            judge(t, s, name, status, out, type);
            twi_free(matrix);
        }
    }
}

/* The context's GPU, named `times` times: several devices that share it. */
static void run_repeated(const twi_tester *t, const sample *s, tw_type type, int32_t device,
                         int times, tw_matrix *out)
{
    char before[sizeof t->ctx->device];
    char list[sizeof t->ctx->device];
    size_t length = (size_t)snprintf(list, sizeof list, "%s:%d", twi_gpu_prefix(), device);
    memcpy(before, t->ctx->device, sizeof before);
    for (int i = 1; i < times && length < sizeof list; i++) {
        length += (size_t)snprintf(list + length, sizeof list - length, ",%d", device);
    }
    memcpy(t->ctx->device, list, sizeof list);
    run_variant(t, s, &(variant){TW_APSP_METHOD_CLOSURE, type, NULL}, out);
    memcpy(t->ctx->device, before, sizeof before);
}

/* Every working type that fits the sample on the GPU, which does closures only: on the device as
 * it was named, on several, and out of core. */
static void run_on_gpu(const twi_tester *t, const sample *s, tw_matrix *out, const tw_type *types,
                       int count, int32_t device)
{
    for (int i = 0; i < count; i++) {
        if (types[i] != TW_U8) {
            run_variant(t, s, &(variant){TW_APSP_METHOD_CLOSURE, types[i], NULL}, out);
        }
        if (types[i] != TW_U8 && types[i] != TW_U16) { /* which are tried with i32 there */
            run_repeated(t, s, types[i], device, 2, out);
            run_repeated(t, s, types[i], device, 3, out);
            run_streamed(t, s, types[i], device, out);
        }
    }
    run_variant(t, s, &(variant){TW_APSP_METHOD_AUTO, TW_AUTO, NULL}, out);
}

/* tw_apsp_device, on a matrix whose rows are not aligned. */
static void run_entry(const twi_tester *t, const sample *s, tw_type type, int32_t device,
                      tw_matrix *out)
{
    int64_t n = s->graph->n;
    void *matrix = NULL;
    char name[224];
    snprintf(name, sizeof name, "device entry %s %s", tw_type_name(type), s->name);
    tw_status status =
        twi_alloc(t->ctx, &matrix, (uint64_t)(n * n), tw_type_size(type), "a matrix");
    if (status == TW_OK) {
        fill_matrix(s->graph, matrix, type);
        twi_gpu_host host = {
            .data = matrix, .n = n, .ld = n, .type = type, .symmetric = s->graph->undirected};
        status = twi_gpu_close_by_entry(t->ctx, device, &host);
    }
    for (int64_t i = 0; i < n * n && status == TW_OK; i++) {
        ((double *)out->data)[i] = twi_distance(matrix, type, i);
    }
    judge(t, s, name, status, out, type);
    twi_free(matrix);
}

/* What the CPU says, in f64 where sums are rounded. */
static tw_status ask_cpu(const twi_tester *t, const sample *s)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    int64_t n = s->graph->n;
    tw_matrix want = {s->want, n, n, n, TW_F64};
    char before[sizeof t->ctx->device];
    options.work_type = s->graph->integral ? TW_AUTO : TW_F64;
    memcpy(before, t->ctx->device, sizeof before);
    snprintf(t->ctx->device, sizeof t->ctx->device, "cpu");
    tw_status status = tw_apsp(t->ctx, &want, s->graph, &options);
    memcpy(t->ctx->device, before, sizeof before);
    return status;
}

/* A matrix of several tiles of each size that kernels have. */
static tw_status run_large_sample(const twi_tester *t, const sample *s, tw_matrix *out,
                                  int32_t device)
{
    tw_type type = s->graph->integral ? TW_I32 : s->graph->weight_type;
    tw_status status = ask_cpu(t, s);
    if (status != TW_OK) {
        return status;
    }
    run_variant(t, s, &(variant){TW_APSP_METHOD_CLOSURE, type, NULL}, out);
    if (type == TW_I32) { /* 16 bits first, where they may do */
        run_variant(t, s, &(variant){TW_APSP_METHOD_CLOSURE, TW_AUTO, NULL}, out);
    }
    run_entry(t, s, type, device, out);
    run_repeated(t, s, type, device, 2, out);
    run_streamed(t, s, type, device, out);
    return twi_check_cancel(t->ctx);
}

/* Every working type that fits the sample on every ISA, and every search; or on the GPU, if that is
 * the context's device. */
static tw_status run_sample(const twi_tester *t, const sample *s, tw_matrix *out)
{
    static const tw_type whole[] = {TW_U8, TW_U16, TW_I32, TW_F64};
    static const tw_type narrow[] = {TW_F32, TW_F64};
    const tw_graph *graph = s->graph;
    bool f32 = graph->weight_type == TW_F32 && !graph->integral;
    const tw_type *types = graph->integral ? whole : narrow + !f32;
    int count = graph->integral ? 4 : f32 ? 2 : 1;
    twi_gpu_list gpus;
    tw_status status = twi_gpu_select(t->ctx, &gpus);
    if (status != TW_OK) {
        return status;
    }
    if (gpus.count > 0) {
        run_on_gpu(t, s, out, types, count, gpus.index[0]);
        return twi_check_cancel(t->ctx);
    }
    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT; isa++) {
        for (int i = 0; i < count && twi_isa_usable(isa); i++) {
            variant v = {TW_APSP_METHOD_CLOSURE, types[i], twi_isa_name(isa)};
            run_variant(t, s, &v, out);
        }
        if (twi_isa_usable(isa)) {
            variant v = {TW_APSP_METHOD_DIJKSTRA, TW_AUTO, twi_isa_name(isa)};
            run_variant(t, s, &v, out);
            v.method = TW_APSP_METHOD_SWEEP;
            run_variant(t, s, &v, out);
        }
    }
    run_variant(t, s, &(variant){TW_APSP_METHOD_AUTO, TW_AUTO, NULL}, out);
    if (graph->equal) {
        run_variant(t, s, &(variant){TW_APSP_METHOD_BFS, TW_AUTO, NULL}, out);
    }
    return twi_check_cancel(t->ctx);
}

/* Kinds of graphs, each on every size. */
typedef struct graph_shape {
    const char *kind;
    int32_t directed;
    tw_type type;
    double low, high, density;
} graph_shape;

/* Weights stay small enough for u8 to end exact. */
static const graph_shape shapes[] = {
    {"dense", TW_GRAPH_DIRECTED_YES, TW_I32, 0, 9, 0.6},
    {"dense", TW_GRAPH_DIRECTED_NO, TW_I32, 1, 9, 0.6},
    {"dense", TW_GRAPH_DIRECTED_YES, TW_I32, 2, 2, 0.1},
    {"dense", TW_GRAPH_DIRECTED_YES, TW_F32, 0, 1, 0.5},
    {"dense", TW_GRAPH_DIRECTED_NO, TW_F64, 0, 1, 0.5},
    {"sparse", TW_GRAPH_DIRECTED_YES, TW_I32, 1, 4, 0},
};
#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

static const int64_t sizes[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 257};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))
#define LARGEST 257

/* For GPUs. The last one has distances that are too far for 16 bits, and pairs without a path. */
static const graph_shape large_shapes[] = {
    {"dense", TW_GRAPH_DIRECTED_YES, TW_I32, 0, 9, 0.1},
    {"dense", TW_GRAPH_DIRECTED_NO, TW_I32, 1, 9, 0.1},
    {"dense", TW_GRAPH_DIRECTED_YES, TW_F32, 0, 1, 0.1},
    {"dense", TW_GRAPH_DIRECTED_NO, TW_F32, 0, 1, 0.1},
    {"dense", TW_GRAPH_DIRECTED_YES, TW_F64, 0, 1, 0.1},
    {"sparse", TW_GRAPH_DIRECTED_YES, TW_I32, 1, 30000, 0},
};
#define LARGE_SHAPES ((int)(sizeof large_shapes / sizeof *large_shapes))

static const int64_t large_sizes[] = {1473, 3073}; /* 23 tiles of 64, 24 of 128, and a bit */
#define LARGE_SIZES ((int)(sizeof large_sizes / sizeof *large_sizes))
#define LARGEST_ON_GPU 3073

static tw_status make_sample(tw_context *ctx, sample *s, const graph_shape *shape, int64_t n,
                             uint64_t seed)
{
    tw_graph_generate_options options = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_edges none = {sizeof none, 0, NULL, NULL, NULL, TW_I32, TW_I32};
    options.kind = shape->kind;
    options.directed = shape->directed;
    options.vertices = n;
    options.weight_type = shape->type;
    options.min_weight = shape->low;
    options.max_weight = shape->high;
    options.density = shape->density;
    options.degree = 2;
    options.seed = seed;
    snprintf(s->name, sizeof s->name, "%s %s %s n=%lld seed=%llu",
             shape->directed == TW_GRAPH_DIRECTED_YES ? "directed" : "undirected", shape->kind,
             tw_type_name(shape->type), (long long)n, (unsigned long long)seed);
    return n > 1 ? tw_graph_generate(ctx, &s->graph, &options)
                 : tw_graph_from_edges(ctx, &s->graph, n, &none, 0);
}

static tw_status run_all(const twi_tester *t, double *want, double *got, uint64_t seed)
{
    tw_status status = TW_OK;
    for (int k = 0; k < SHAPES && status == TW_OK; k++) {
        for (int i = 0; i < SIZES && status == TW_OK; i++) {
            sample s = {NULL, want, ""};
            int64_t n = sizes[i];
            status = make_sample(t->ctx, &s, &shapes[k], n, seed + (uint64_t)(k * SIZES + i));
            if (status == TW_OK) {
                status = twi_reference_apsp(t->ctx, s.graph, want);
            }
            if (status == TW_OK) {
                tw_matrix out = {got, n, n, n, TW_F64};
                status = run_sample(t, &s, &out);
            }
            tw_graph_destroy(s.graph);
            twi_progress(t->ctx, "testing", k * SIZES + i + 1, SHAPES * SIZES, "graphs");
        }
    }
    return status;
}

static tw_status run_large(const twi_tester *t, double *want, double *got, uint64_t seed,
                           int32_t device)
{
    tw_status status = TW_OK;
    for (int k = 0; k < LARGE_SHAPES && status == TW_OK; k++) {
        for (int i = 0; i < LARGE_SIZES && status == TW_OK; i++) {
            sample s = {NULL, want, ""};
            int64_t n = large_sizes[i];
            status = make_sample(t->ctx, &s, &large_shapes[k], n, seed + (uint64_t)(k * 2 + i));
            if (status == TW_OK) {
                tw_matrix out = {got, n, n, n, TW_F64};
                status = run_large_sample(t, &s, &out, device);
            }
            tw_graph_destroy(s.graph);
            twi_progress(t->ctx, "testing", k * LARGE_SIZES + i + 1, LARGE_SHAPES * LARGE_SIZES,
                         "large graphs");
        }
    }
    return status;
}

tw_status twi_apsp_selftest(const twi_tester *t, uint64_t seed)
{
    double *want = NULL;
    double *got = NULL;
    twi_gpu_list gpus;
    tw_status status = twi_gpu_select(t->ctx, &gpus);
    if (status != TW_OK) {
        return status;
    }
    uint64_t largest = gpus.count > 0 ? LARGEST_ON_GPU : LARGEST;
    status = twi_alloc(t->ctx, &want, largest * largest, sizeof *want, "the references");
    if (status == TW_OK) {
        status = twi_alloc(t->ctx, &got, largest * largest, sizeof *got, "the results");
    }
    if (status == TW_OK) {
        status = run_all(t, want, got, seed);
    }
    if (status == TW_OK && gpus.count > 0) {
        status = run_large(t, want, got, seed, gpus.index[0]);
    }
    twi_free(got);
    twi_free(want);
    return status;
}
