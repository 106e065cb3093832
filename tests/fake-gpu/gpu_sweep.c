/*
 * Sweeps on a GPU, from a plan to sinks, on a runtime without a GPU that runs what is queued in any
 * order the events allow (runtime.c), with batches of a few columns: rows and summaries must be the
 * reference's for graphs of every shape, types and devices, and every call or allocation that fails
 * must give its sentence and leave nothing behind.
 *
 * With TEST_LABELS the same is asked of searches that correct labels, whose kernels run thread by
 * thread; of a list of devices they take the first.
 */
#include "runtime.h"

#include "apsp/gpu/gpu.h"
#include "apsp/gpu/kernels/labels.h"
#include "apsp/reference.h"
#include "apsp/search/potentials.h"
#include "apsp/sweep/known_order.h"
#include "apsp/sweep/sweep.h"
#include "base/meter.h"
#include "base/random.h"
#include "graph/graph.h"

#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TEST_LABELS
#define METHOD TW_APSP_METHOD_DIJKSTRA
#define bytes_on_device twi_gpu_labels_bytes
#define NEEDS "searching in u16 needs"
enum { LEAST_ALLOCATIONS = 9, LEAST_CALLS = 70, MANY = 80, FAILING = 81, SHAPE = 1 };
#else
#define METHOD TW_APSP_METHOD_SWEEP
#define bytes_on_device twi_gpu_sweep_bytes
#define NEEDS "sweeping in u16 needs"
enum { LEAST_ALLOCATIONS = 15, LEAST_CALLS = 100, MANY = 200, FAILING = 30, SHAPE = 3 };
#endif

enum { MOST = 90, ARCS = 6 * MOST * MOST };

/* ------------------------------------------------------------------------------------- graphs */

typedef struct edges {
    int64_t n, count;
    uint64_t seed, drawn;
    int32_t from[ARCS], to[ARCS];
    double weight[ARCS];
} edges;

static int64_t draw(edges *e, int64_t bound)
{
    return (int64_t)twi_random_below(twi_random_at(e->seed, e->drawn++), (uint64_t)bound);
}

static void add(edges *e, int64_t from, int64_t to)
{
    e->from[e->count] = (int32_t)from;
    e->to[e->count++] = (int32_t)to;
}

static void join(edges *e, int64_t a, int64_t b)
{
    add(e, a, b);
    add(e, b, a);
}

static void make_tree(edges *e)
{
    for (int64_t v = 1; v < e->n; v++) {
        join(e, draw(e, v), v);
    }
}

/* From its last vertex a search by passes over vertices in turn takes one for each arc. */
static void make_path(edges *e)
{
    for (int64_t v = 1; v < e->n; v++) {
        join(e, v - 1, v);
    }
}

static void make_star(edges *e)
{
    for (int64_t v = 1; v < e->n; v++) {
        join(e, 0, v);
    }
}

static void make_clique(edges *e)
{
    for (int64_t v = 0; v < e->n; v++) {
        for (int64_t w = 0; w < v; w++) {
            join(e, v, w);
        }
    }
}

static void make_grid(edges *e)
{
    int64_t side = 1 + e->n / 9;
    for (int64_t v = 0; v < e->n; v++) {
        if (v % side + 1 < side && v + 1 < e->n) {
            join(e, v, v + 1);
        }
        if (v + side < e->n) {
            join(e, v, v + side);
        }
    }
}

/* With holes, arcs in one direction only, loops, and every arc twice. */
static void make_worn_grid(edges *e)
{
    make_grid(e);
    int64_t count = e->count;
    for (int64_t i = 0; i < count; i++) {
        if (i % 3 == 1) {
            e->to[i] = e->from[i];
        }
        add(e, e->from[i], e->to[i]);
    }
}

static void make_components(edges *e)
{
    for (int64_t v = 1; v < e->n; v++) {
        if (v % 11 != 0) {
            join(e, v - 1, v);
        }
        if (v % 11 > 3) {
            add(e, v - 3, v);
        }
    }
}

static void make_random(edges *e)
{
    for (int64_t i = 0; i < 3 * e->n; i++) {
        add(e, draw(e, e->n), draw(e, e->n));
    }
}

static void make_nothing(edges *e)
{
    (void)e;
}

static void (*const shapes[])(edges *) = {make_tree,   make_star,      make_clique,
                                          make_grid,   make_worn_grid, make_components,
                                          make_random, make_nothing,   make_path};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static tw_graph *make_graph(tw_context *ctx, int shape, int64_t n, uint64_t seed, int64_t heaviest,
                            tw_type type)
{
    static edges e;
    static int32_t whole[ARCS];
    static float real[ARCS];
    tw_graph *graph = NULL;
    e.n = n;
    e.count = 0;
    e.drawn = 0;
    e.seed = seed;
    shapes[shape](&e);
    for (int64_t i = 0; i < e.count; i++) {
        e.weight[i] = (double)draw(&e, heaviest + 1) / (type == TW_I32 ? 1 : 8);
        whole[i] = (int32_t)e.weight[i];
        real[i] = (float)e.weight[i];
    }
    const void *weight = type == TW_I32   ? (const void *)whole
                         : type == TW_F32 ? (const void *)real
                                          : (const void *)e.weight;
    tw_edges given = {sizeof given, e.count, e.from, e.to, weight, type, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &given, 0));
    return graph;
}

/* --------------------------------------------------------------------------------------- runs */

/* What is asked for, and of which devices. */
typedef struct request {
    tw_apsp_options options;
    bool narrow;
    twi_gpu_list gpus;
    uint64_t allowed;
} request;

static request request_of(tw_type type)
{
    static const tw_apsp_options defaults = TW_APSP_OPTIONS_INIT;
    request r = {defaults, true, {.count = 1, .index = {1}}, UINT64_MAX};
    r.options.method = METHOD;
    r.options.type = type;
    return r;
}

/* A plan as plan.c would make it. */
static tw_apsp_plan *plan_of(tw_context *ctx, const tw_graph *graph, const request *r)
{
    tw_apsp_plan *plan = calloc(1, sizeof *plan);
    *plan = (tw_apsp_plan){
        .graph = graph,
        .options = r->options,
        .method = METHOD,
        .type = r->options.type,
        .isa = twi_isa_best(),
        .gpus = r->gpus,
        .gpu_allowed = r->allowed,
        .threads = 1,
    };
    if (graph->min_weight < 0) {
        plan->potential = malloc((size_t)graph->n * sizeof *plan->potential);
        assert_ok(ctx, twi_potentials(ctx, graph, plan->potential));
    }
    if (METHOD == TW_APSP_METHOD_SWEEP) {
        const twi_known_order none = {.origin = "computed"};
        assert_ok(ctx, twi_sweep_tree(ctx, plan, &none, NULL, (double)INFINITY, (double)INFINITY));
    }
    plan->work_type = !graph->integral                  ? graph->weight_type
                      : r->options.work_type != TW_AUTO ? r->options.work_type
                                                        : TW_I32;
    plan->gpu_narrow = graph->integral && r->narrow && r->options.work_type == TW_AUTO;
    return plan;
}

static void destroy_plan(tw_apsp_plan *plan)
{
    twi_tree_destroy(plan->tree);
    free(plan->potential);
    free(plan);
}

static tw_status run_engine(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                            twi_gpu_outcome *out)
{
#ifdef TEST_LABELS
    double arcs = -1;
    tw_status status = twi_gpu_labels_run(ctx, plan, delivery, out, &arcs);
    assert_true(arcs == (double)plan->graph->arcs * (double)twi_plan_rows(plan));
    return status;
#else
    return twi_gpu_sweep_run(ctx, plan, delivery, out);
#endif
}

static tw_status run(tw_context *ctx, const tw_apsp_plan *plan, tw_sink *sinks, int32_t count,
                     twi_gpu_outcome *out)
{
    twi_delivery *delivery = NULL;
    tw_status status = twi_delivery_begin(ctx, &delivery, plan, NULL, sinks, count, NULL);
    if (status == TW_OK) {
        status = run_engine(ctx, plan, delivery, out);
    }
    if (status == TW_OK) {
        status = twi_delivery_end(ctx, delivery);
    }
    twi_delivery_destroy(ctx, delivery);
    return status;
}

static tw_status run_to_matrix(tw_context *ctx, const tw_apsp_plan *plan, tw_matrix *out,
                               twi_gpu_outcome *outcome)
{
    tw_sink sink = TW_SINK_INIT;
    tw_status status = tw_sink_to_matrix(ctx, &sink, out);
    if (status == TW_OK) {
        status = run(ctx, plan, &sink, 1, outcome);
    }
    tw_sink_destroy(&sink);
    return status;
}

/* By the triple loop, and then as any engine delivers. */
static void reference(tw_context *ctx, const tw_apsp_plan *plan, tw_sink *sink)
{
    int64_t n = plan->graph->n;
    double *all = malloc((size_t)(n * n + 1) * sizeof *all);
    twi_delivery *delivery = NULL;
    assert_ok(ctx, twi_reference_apsp(ctx, plan->graph, all));
    assert_ok(ctx, twi_delivery_begin(ctx, &delivery, plan, NULL, sink, 1, NULL));
    for (int64_t i = 0; i < twi_plan_rows(plan); i++) {
        twi_rows rows = {i, 1, all + twi_plan_source(plan, i) * n, n, TW_F64, 1, false};
        assert_ok(ctx, twi_delivery_rows(ctx, delivery, &rows));
    }
    assert_ok(ctx, twi_delivery_end(ctx, delivery));
    twi_delivery_destroy(ctx, delivery);
    free(all);
}

static void reference_to_matrix(tw_context *ctx, const tw_apsp_plan *plan, tw_matrix *out)
{
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, out));
    reference(ctx, plan, &sink);
    tw_sink_destroy(&sink);
}

/* Every row and column of the request, against the reference. */
static twi_gpu_outcome check(tw_context *ctx, const tw_graph *graph, const request *r,
                             uint64_t seed)
{
    static char want[MOST * MOST * 8], got[MOST * MOST * 8];
    tw_apsp_plan *plan = plan_of(ctx, graph, r);
    int64_t rows = twi_plan_rows(plan);
    int64_t cols = twi_plan_cols(plan);
    size_t bytes = (size_t)(rows * cols) * tw_type_size(plan->type);
    tw_matrix expected = {want, rows, cols, cols, plan->type};
    tw_matrix out = {got, rows, cols, cols, plan->type};
    twi_gpu_outcome outcome;
    memset(got, 0xA5, sizeof got);
    reference_to_matrix(ctx, plan, &expected);
    fake_begin(seed, 0);
    assert_ok(ctx, run_to_matrix(ctx, plan, &out, &outcome));
    if (memcmp(got, want, bytes) != 0) {
        fail_msg("seed %llu, %lld vertices: other distances than the reference",
                 (unsigned long long)seed, (long long)graph->n);
    }
    assert_int_equal(fake_live_without(ctx), 0);
    if (graph->n > 0 && rows > 0) { /* what was planned is what it took */
        uint64_t planned = bytes_on_device(plan, outcome.used);
        uint64_t narrow = bytes_on_device(plan, TW_U16);
        for (int device = 0; device < FAKE_DEVICES - 1; device++) { /* the last is the host */
            int32_t times = 0;
            for (int32_t i = 0; i < r->gpus.count; i++) {
                times += r->gpus.index[i] == device;
            }
            assert_true(fake_peak(device) <=
                        (uint64_t)times * (planned > narrow ? planned : narrow));
        }
    }
    destroy_plan(plan);
    return outcome;
}

static void rows_are_the_reference_s_on_every_shape(void **state)
{
    static const int32_t some[] = {2, 0, 1, 1, 0};
    static const twi_gpu_list lists[] = {{.count = 1, .index = {1}},
                                         {.count = 2, .index = {0, 1}},
                                         {.count = 2, .index = {2, 2}},
                                         {.count = 3, .index = {0, 2, 0}}};
    tw_context *ctx = *state;
    for (uint64_t seed = 0; seed < (small_sizes_only() ? 40 : MANY); seed++) {
        int shape = (int)(seed % SHAPES);
        int64_t n = 3 + (int64_t)twi_random_below(twi_random_at(5, seed), MOST - 2);
        int64_t heaviest = seed % 5 == 0 ? 0 : seed % 5 < 3 ? 9 : 5000;
        tw_graph *graph = make_graph(ctx, shape, n, seed, heaviest, TW_I32);
        request r = request_of(TW_I32);
        r.narrow = seed % 7 != 0;
        r.gpus = lists[twi_random_below(twi_random_at(6, seed), 4)];
        if (seed % 3 == 1) {
            r.options.sources = some;
            r.options.source_count = 5;
        }
        if (seed % 4 == 1) {
            r.options.targets = some;
            r.options.target_count = 3;
        }
        r.options.cutoff = seed % 6 == 5 ? 20 : -1;
        (void)check(ctx, graph, &r, seed);
        tw_graph_destroy(graph);
    }
}

/* Weights are eighths: no sum of them is rounded, and the reference's bits can be asked for. */
static void floats_are_the_reference_s_too(void **state)
{
    tw_context *ctx = *state;
    for (uint64_t seed = 0; seed < (small_sizes_only() ? 16 : 64); seed++) {
        tw_type type = seed % 2 == 0 ? TW_F32 : TW_F64;
        tw_graph *graph =
            make_graph(ctx, (int)(seed / 2 % SHAPES), 20 + (int64_t)seed, seed, 77, type);
        request r = request_of(type);
        r.gpus = (twi_gpu_list){.count = 1 + (int32_t)(seed % 2), .index = {2, 2}};
        tw_type used = check(ctx, graph, &r, seed).used;
        assert_true(used == type || graph->arcs == 0);
        tw_graph_destroy(graph);
    }
}

static void negative_weights_go_through_potentials(void **state)
{
    tw_context *ctx = *state;
    enum { N = 60 };
    int32_t from[2 * N], to[2 * N], weight[2 * N];
    int64_t count = 0;
    for (int64_t v = 0; v + 1 < N; v++) { /* no cycle: all arcs lead on */
        from[count] = (int32_t)v;
        to[count] = (int32_t)(v + 1);
        weight[count++] = (int32_t)(v % 7) - 4;
        if (v + 5 < N) {
            from[count] = (int32_t)v;
            to[count] = (int32_t)(v + 5);
            weight[count++] = (int32_t)(v % 5) - 3;
        }
    }
    tw_graph *graph = NULL;
    tw_edges given = {sizeof given, count, from, to, weight, TW_I32, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &given, 0));
    request r = request_of(TW_I32);
    (void)check(ctx, graph, &r, 1);
    tw_graph_destroy(graph);
}

static void sixteen_bits_are_kept_where_they_are_exact(void **state)
{
    tw_context *ctx = *state;
    static const struct {
        int shape;
        int64_t heaviest;
        tw_type used;
    } cases[] = {{3, 9, TW_U16},    /* a grid whose distances are below the cap of 300, */
                 {5, 9, TW_U16},    /* components: no path is not far away, */
                 {3, 5000, TW_I32}, /* and a grid of long ones */
                 {0, 90, TW_I32}};
    for (int i = 0; i < 4; i++) {
        tw_graph *graph = make_graph(ctx, cases[i].shape, 80, 3, cases[i].heaviest, TW_I32);
        request r = request_of(TW_I32);
        twi_gpu_outcome outcome = check(ctx, graph, &r, 1);
        assert_int_equal(outcome.used, cases[i].used);
        assert_int_equal(outcome.attempts, cases[i].used == TW_U16 ? 1 : 2);
        tw_graph_destroy(graph);
    }
}

static void a_forced_type_that_is_too_narrow_is_refused(void **state)
{
    tw_context *ctx = *state;
    tw_graph *graph = make_graph(ctx, 3, 40, 3, 5000, TW_I32);
    request r = request_of(TW_I32);
    r.options.work_type = TW_U16;
    tw_apsp_plan *plan = plan_of(ctx, graph, &r);
    static int32_t got[MOST * MOST];
    tw_matrix out = {got, 40, 40, 40, TW_I32};
    twi_gpu_outcome outcome;
    fake_begin(1, 0);
    assert_fails(ctx, TW_ERR_RANGE, "working type u16", run_to_matrix(ctx, plan, &out, &outcome));
    assert_int_equal(fake_live_without(ctx), 0);
    destroy_plan(plan);
    tw_graph_destroy(graph);
}

static void what_does_not_fit_the_device_is_refused_and_less_of_it_is_enough(void **state)
{
    tw_context *ctx = *state;
    tw_graph *graph = make_graph(ctx, 3, 70, 3, 9, TW_I32);
    request r = request_of(TW_I32);
    r.allowed = 1;
    tw_apsp_plan *plan = plan_of(ctx, graph, &r);
    uint64_t least = bytes_on_device(plan, TW_U16);
    static int32_t got[MOST * MOST];
    tw_matrix out = {got, 70, 70, 70, TW_I32};
    twi_gpu_outcome outcome;
    fake_begin(1, 0);
    assert_fails(ctx, TW_ERR_MEMORY, NEEDS, run_to_matrix(ctx, plan, &out, &outcome));
    assert_int_equal(fake_live_without(ctx), 0);
    destroy_plan(plan);
    r.allowed = least;
    (void)check(ctx, graph, &r, 1);
    assert_true(fake_peak(1) <= least);
    tw_graph_destroy(graph);
}

static void the_first_distance_that_does_not_fit_is_named(void **state)
{
    tw_context *ctx = *state;
    tw_graph *graph = make_graph(ctx, 3, 60, 4, 90, TW_I32);
    request r = request_of(TW_I32);
    static int32_t want[MOST * MOST];
    tw_matrix expected = {want, 60, 60, 60, TW_I32};
    char sentence[128] = "";
    tw_apsp_plan *plan = plan_of(ctx, graph, &r);
    reference_to_matrix(ctx, plan, &expected);
    destroy_plan(plan);
    for (int64_t i = 0; i < 60 * 60 && sentence[0] == '\0'; i++) {
        if (want[i] >= TW_APSP_INF_U8 && want[i] < TW_APSP_INF_I32) {
            snprintf(sentence, sizeof sentence, "the distance %lld -> %lld is %d, which type u8",
                     (long long)(i / 60), (long long)(i % 60), want[i]);
        }
    }
    assert_true(sentence[0] != '\0');
    r = request_of(TW_U8);
    plan = plan_of(ctx, graph, &r);
    static uint8_t got[MOST * MOST];
    tw_matrix out = {got, 60, 60, 60, TW_U8};
    twi_gpu_outcome outcome;
    fake_begin(1, 0);
    assert_fails(ctx, TW_ERR_RANGE, sentence, run_to_matrix(ctx, plan, &out, &outcome));
    assert_int_equal(fake_live_without(ctx), 0);
    destroy_plan(plan);
    tw_graph_destroy(graph);
}

/* ---------------------------------------------------------------------------------- summaries */

static tw_apsp_summary *summarise(tw_context *ctx, const tw_graph *graph, const request *r,
                                  bool by_reference, twi_gpu_outcome *out)
{
    tw_apsp_summary *summary = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_apsp_plan *plan = plan_of(ctx, graph, r);
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 0, r->options.sources, NULL));
    assert_ok(ctx, tw_apsp_summary_sink(summary, &sink));
    if (by_reference) {
        reference(ctx, plan, &sink);
    } else {
        assert_ok(ctx, run(ctx, plan, &sink, 1, out));
        assert_int_equal(fake_live_without(ctx), 0);
    }
    destroy_plan(plan);
    tw_sink_destroy(&sink);
    return summary;
}

/* A summary from folds, against one of the reference's rows. */
static twi_gpu_outcome check_summary(tw_context *ctx, const tw_graph *graph, const request *r,
                                     uint64_t seed)
{
    tw_apsp_summary_info got = TW_APSP_SUMMARY_INFO_INIT;
    tw_apsp_summary_info want = TW_APSP_SUMMARY_INFO_INIT;
    twi_gpu_outcome outcome;
    fake_begin(seed, 0);
    tw_apsp_summary *a = summarise(ctx, graph, r, false, &outcome);
    tw_apsp_summary *b = summarise(ctx, graph, r, true, NULL);
    assert_int_equal(tw_apsp_summary_describe(a, &got), TW_OK);
    assert_int_equal(tw_apsp_summary_describe(b, &want), TW_OK);
    assert_memory_equal(&got, &want, sizeof got);
    size_t rows = (size_t)want.rows;
    assert_memory_equal(tw_apsp_summary_eccentricity(a), tw_apsp_summary_eccentricity(b),
                        rows * sizeof(double));
    assert_memory_equal(tw_apsp_summary_closeness(a), tw_apsp_summary_closeness(b),
                        rows * sizeof(double));
    tw_apsp_summary_destroy(b);
    tw_apsp_summary_destroy(a);
    return outcome;
}

static void summaries_are_the_reference_s(void **state)
{
    static const int32_t some[] = {2, 0, 1, 1, 0, 2, 2};
    tw_context *ctx = *state;
    for (uint64_t seed = 0; seed < (small_sizes_only() ? 32 : MANY); seed++) {
        int64_t n = 3 + (int64_t)twi_random_below(twi_random_at(8, seed), MOST - 2);
        tw_graph *graph =
            make_graph(ctx, (int)(seed % SHAPES), n, seed, seed % 3 == 0 ? 2000 : 11, TW_I32);
        request r = request_of(TW_I32);
        r.gpus = (twi_gpu_list){.count = 1 + (int32_t)(seed % 3), .index = {1, 2, 1}};
        if (seed % 5 == 1) {
            r.options.sources = some;
            r.options.source_count = 7;
        }
        (void)check_summary(ctx, graph, &r, seed);
        tw_graph_destroy(graph);
    }
}

/* A part of the rows was folded in 16 bits when one was too long; in f64 there are no folds. */
static void a_summary_goes_on_in_the_wider_type(void **state)
{
    tw_context *ctx = *state;
    enum { N = 50 };
    int32_t from[2 * N], to[2 * N], weight[2 * N];
    for (int64_t heavy = 1000; heavy <= 1000000000; heavy *= 1000000) {
        int64_t count = 0;
        for (int32_t v = 1; v < N; v++) { /* a path, its far end heavy; those at it reach nothing */
            from[count] = v - 1;
            to[count] = v;
            weight[count++] = v > N - 3 ? (int32_t)heavy : 1;
        }
        tw_graph *graph = NULL;
        tw_edges given = {sizeof given, count, from, to, weight, TW_I32, TW_I32};
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &given, 0));
        request r = request_of(TW_F64);
        int32_t sources[N];
        for (int32_t v = 0; v < N; v++) {
            sources[v] = N - 1 - v;
        }
        r.options.sources = sources;
        r.options.source_count = N;
        twi_gpu_outcome outcome = check_summary(ctx, graph, &r, 3);
        assert_int_equal(outcome.used, heavy > 1000 ? TW_F64 : TW_I32);
        assert_int_equal(outcome.attempts, heavy > 1000 ? 3 : 2);
        tw_graph_destroy(graph);
    }
}

/* The first batches are folded in 16 bits; a later one is too long for them. */
static void what_was_folded_before_is_kept(void **state)
{
    tw_context *ctx = *state;
    enum { LIGHT = 70 };
    int32_t from[2 * MOST], to[2 * MOST], weight[2 * MOST];
    int64_t count = 0;
    for (int32_t v = 1; v < MOST; v++) {
        if (v != LIGHT) {
            from[count] = v / 2 < LIGHT && v > LIGHT ? v - 1 : v / 2;
            to[count] = v;
            weight[count++] = v < LIGHT ? v : 200;
        }
    }
    tw_graph *graph = NULL;
    tw_edges given = {sizeof given, count, from, to, weight, TW_I32, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, MOST, &given, TW_GRAPH_UNDIRECTED));
    request r = request_of(TW_I32);
    twi_gpu_outcome outcome = check_summary(ctx, graph, &r, 3);
    assert_int_equal(outcome.used, TW_I32);
    assert_int_equal(outcome.attempts, 2);
    (void)check(ctx, graph, &r, 4);
    tw_graph_destroy(graph);
}

/* ----------------------------------------------------------------------------------- failures */

/* Of FAILING vertices, into sums or a matrix: however it ends, nothing is left. */
static tw_status run_failing(tw_context *ctx, const tw_apsp_plan *plan, int folded)
{
    static int32_t got[MOST * MOST];
    tw_matrix out = {got, FAILING, FAILING, FAILING, TW_I32};
    tw_apsp_summary *summary = NULL;
    tw_sink sink = TW_SINK_INIT;
    twi_gpu_outcome outcome;
    const int64_t before = twi_meter_blocks(ctx->meter);
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL));
    assert_ok(ctx,
              folded ? tw_apsp_summary_sink(summary, &sink) : tw_sink_to_matrix(ctx, &sink, &out));
    tw_status status = run(ctx, plan, &sink, 1, &outcome);
    tw_sink_destroy(&sink);
    tw_apsp_summary_destroy(summary);
    assert_int_equal(fake_live_without(ctx), 0);
    assert_int_equal(twi_meter_blocks(ctx->meter), before);
    return status;
}

static void failing_calls_are_told_and_leave_nothing(void **state)
{
    tw_context *ctx = *state;
    for (int folded = 0; folded < 2; folded++) {
        tw_graph *graph = make_graph(ctx, SHAPE, FAILING, 5, 500, TW_I32);
        request r = request_of(TW_I32);
        r.gpus = (twi_gpu_list){.count = 2, .index = {1, 1}};
        tw_apsp_plan *plan = plan_of(ctx, graph, &r);
        tw_status status = TW_ERR_DEVICE;
        for (int64_t call = 1; status != TW_OK; call++) {
            fake_begin(7, call);
            status = run_failing(ctx, plan, folded);
            if (status != TW_OK) {
                assert_true(status == TW_ERR_DEVICE || status == TW_ERR_MEMORY);
                assert_non_null(strstr(tw_last_error(ctx), "cuda:1: "));
                assert_non_null(strstr(tw_last_error(ctx), "as planned"));
            } else {
                assert_true(call > LEAST_CALLS); /* there were that many to fail */
            }
        }
        destroy_plan(plan);
        tw_graph_destroy(graph);
    }
}

static void without_memory_it_says_so_and_leaves_nothing(void **state)
{
    tw_context *ctx = *state;
    tw_graph *graph = make_graph(ctx, 3, 60, 5, 20, TW_I32);
    request r = request_of(TW_I32);
    tw_apsp_plan *plan = plan_of(ctx, graph, &r);
    int64_t before = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    int32_t failed = 0;
    for (int64_t allocation = 1; status != TW_OK; allocation++) {
        tw_apsp_summary *summary = NULL;
        tw_sink sink = TW_SINK_INIT;
        twi_gpu_outcome outcome;
        assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL));
        assert_ok(ctx, tw_apsp_summary_sink(summary, &sink));
        fake_begin(7, 0);
        twi_meter_fail_at(ctx->meter, allocation);
        status = run(ctx, plan, &sink, 1, &outcome);
        twi_meter_fail_at(ctx->meter, 0);
        failed += status == TW_ERR_MEMORY;
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        tw_sink_destroy(&sink);
        tw_apsp_summary_destroy(summary);
        assert_int_equal(fake_live_without(ctx), 0);
        assert_int_equal(twi_meter_blocks(ctx->meter), before);
    }
    assert_true(failed > LEAST_ALLOCATIONS);
    destroy_plan(plan);
    tw_graph_destroy(graph);
}

static void a_cancelled_run_ends_and_leaves_nothing(void **state)
{
    tw_context *ctx = *state;
    tw_graph *graph = make_graph(ctx, 3, 60, 5, 20, TW_I32);
    request r = request_of(TW_I32);
    tw_apsp_plan *plan = plan_of(ctx, graph, &r);
    static int32_t got[MOST * MOST];
    tw_matrix out = {got, 60, 60, 60, TW_I32};
    twi_gpu_outcome outcome;
    fake_begin(7, 0);
    tw_cancel(ctx);
    assert_int_equal(run_to_matrix(ctx, plan, &out, &outcome), TW_ERR_CANCELLED);
    tw_clear_cancel(ctx);
    assert_int_equal(fake_live_without(ctx), 0);
    destroy_plan(plan);
    tw_graph_destroy(graph);
}

static void a_run_cancelled_at_any_call_leaves_nothing_and_the_next_one_is_right(void **state)
{
    tw_context *ctx = *state;
    for (int folded = 0; folded < 2; folded++) {
        tw_graph *graph = make_graph(ctx, SHAPE, FAILING, 5, 500, TW_I32);
        request r = request_of(TW_I32);
        tw_apsp_plan *plan = plan_of(ctx, graph, &r);
        tw_status status = TW_ERR_CANCELLED;
        for (int64_t call = 1; status != TW_OK; call++) {
            fake_begin(7, 0);
            fake_cancel_at(ctx, call);
            status = run_failing(ctx, plan, folded);
            assert_true(status == TW_ERR_CANCELLED || call > LEAST_CALLS);
            tw_clear_cancel(ctx);
        }
        destroy_plan(plan);
        (void)check(ctx, graph, &r, 1);
        tw_graph_destroy(graph);
    }
}

#ifdef TEST_LABELS
/* Of a graph of one arc. */
static void passes_told_to_stop_do_nothing(void **state)
{
    (void)state;
    enum { COLUMNS = TWI_LABELS_LANES_LEAST * TWI_LABELS_PIECE_BYTES / 4 };
    static _Alignas(16) int32_t x[2 * COLUMNS];
    const twi_labels_item item = {1, 0, 1, -1};
    const int32_t origin = 0, weight = 5;
    int32_t stamp[2], changed, stop;
    const twi_labels labels = {.x = x,
                               .n = 2,
                               .ld = COLUMNS,
                               .chunks = 1,
                               .lanes = TWI_LABELS_LANES_LEAST,
                               .item_count = 1,
                               .items = &item,
                               .origin = &origin,
                               .weight = &weight,
                               .stamp = stamp,
                               .changed = &changed,
                               .stop = &stop};
    const twi_gpu_labels_kernel *kernel = twi_gpu_labels_kernel_find(TW_I32);
    for (stop = 0; stop < 2; stop++) {
        cudaStream_t stream = NULL;
        memset(x, 0x5a, sizeof x);
        stamp[0] = stamp[1] = -1;
        changed = 0;
        fake_begin(7, 0);
        assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        assert_int_equal(kernel->begin(&labels, NULL, 0, 1, stream), cudaSuccess);
        assert_int_equal(kernel->pass(&labels, 1, 2, stream), cudaSuccess);
        assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
        assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
        assert_int_equal(x[0], 0);
        assert_int_equal(x[COLUMNS], stop == 0 ? 5 : TW_APSP_INF_I32);
    }
}
#endif

static void a_run_without_vertices_rows_or_columns_touches_little(void **state)
{
    static const int32_t none[] = {0};
    tw_context *ctx = *state;
    for (int i = 0; i < 3; i++) {
        tw_graph *graph = make_graph(ctx, 7, i == 0 ? 0 : 9, 5, 20, TW_I32);
        request r = request_of(TW_I32);
        if (i == 1) {
            r.options.sources = none;
        } else if (i == 2) {
            r.options.targets = none;
        }
        (void)check(ctx, graph, &r, 1);
        tw_graph_destroy(graph);
    }
}

static int open_one(void **state)
{
    tw_context *ctx = open_context();
    *state = ctx;
    return tw_set_threads(ctx, 1);
}

static int close_one(void **state)
{
    close_context(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_reference_s_on_every_shape),
        cmocka_unit_test(floats_are_the_reference_s_too),
        cmocka_unit_test(negative_weights_go_through_potentials),
        cmocka_unit_test(sixteen_bits_are_kept_where_they_are_exact),
        cmocka_unit_test(a_forced_type_that_is_too_narrow_is_refused),
        cmocka_unit_test(what_does_not_fit_the_device_is_refused_and_less_of_it_is_enough),
        cmocka_unit_test(the_first_distance_that_does_not_fit_is_named),
        cmocka_unit_test(summaries_are_the_reference_s),
        cmocka_unit_test(a_summary_goes_on_in_the_wider_type),
        cmocka_unit_test(what_was_folded_before_is_kept),
        cmocka_unit_test(failing_calls_are_told_and_leave_nothing),
        cmocka_unit_test(without_memory_it_says_so_and_leaves_nothing),
        cmocka_unit_test(a_cancelled_run_ends_and_leaves_nothing),
        cmocka_unit_test(a_run_cancelled_at_any_call_leaves_nothing_and_the_next_one_is_right),
#ifdef TEST_LABELS
        cmocka_unit_test(passes_told_to_stop_do_nothing),
#endif
        cmocka_unit_test(a_run_without_vertices_rows_or_columns_touches_little),
    };
    return cmocka_run_group_tests(tests, open_one, close_one);
}
