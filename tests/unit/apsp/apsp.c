/*
 * Whole runs: every method and working type against the reference, on graphs of every generator,
 * through delivery and sinks; what is refused, and how.
 */
#include "harness.h"

#include "apsp/closure/scatter.h"
#include "apsp/reference.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 7u

static tw_graph *generate(tw_context *ctx, const char *kind, int64_t n, double low, double high,
                          tw_type type, int32_t directed)
{
    tw_graph_generate_options options = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    options.kind = kind;
    options.vertices = n;
    options.seed = SEED;
    options.min_weight = low;
    options.max_weight = high;
    options.weight_type = type;
    options.directed = directed;
    options.degree = 3;
    options.density = 0.7;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &options));
    return graph;
}

static double entry(const tw_matrix *m, int64_t i, int64_t j)
{
    const void *row = (const char *)m->data + (size_t)(i * m->stride) * tw_type_size(m->type);
    double value;
    switch (m->type) {
    case TW_U8:
        value = ((const uint8_t *)row)[j];
        break;
    case TW_U16:
        value = ((const uint16_t *)row)[j];
        break;
    case TW_I32:
        value = ((const int32_t *)row)[j];
        break;
    case TW_F32:
        value = ((const float *)row)[j];
        break;
    default:
        value = ((const double *)row)[j];
        break;
    }
    return value == tw_apsp_infinity(m->type) ? INFINITY : value;
}

static tw_matrix poisoned(int64_t rows, int64_t cols, tw_type type)
{
    size_t bytes = (size_t)(rows * cols) * tw_type_size(type);
    tw_matrix m = {malloc(bytes + 1), rows, cols, cols, type};
    assert_non_null(m.data);
    memset(m.data, 0xA5, bytes + 1);
    return m;
}

/* Equal entries, infinite ones included; floats within `slack` of relative difference. */
static void assert_distances(const tw_matrix *got, const double *want, double slack)
{
    for (int64_t i = 0; i < got->rows; i++) {
        for (int64_t j = 0; j < got->cols; j++) {
            double a = entry(got, i, j);
            double b = want[i * got->cols + j];
            bool same = a == b || (!isinf(a) && !isinf(b) && fabs(a - b) <= slack * fabs(b));
            if (!same) {
                fail_msg("entry %lld,%lld is %.17g, not %.17g (seed %u)", (long long)i,
                         (long long)j, a, b, SEED);
            }
        }
    }
}

static void check_against_reference(tw_context *ctx, const tw_graph *graph, tw_apsp_method method,
                                    tw_type work, tw_type type, double slack)
{
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    assert_int_equal(tw_graph_describe(graph, &info), TW_OK);
    int64_t n = info.vertices;
    double *want = malloc((size_t)(n * n + 1) * sizeof *want);
    tw_matrix got = poisoned(n, n, type);
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = method;
    options.work_type = work;
    assert_ok(ctx, twi_reference_apsp(ctx, graph, want));
    assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
    assert_distances(&got, want, slack);
    free(got.data);
    free(want);
}

static const char *const kinds[] = {"complete", "dense", "sparse", "grid", "preferential", "rmat"};
static const tw_apsp_method methods[] = {TW_APSP_METHOD_AUTO, TW_APSP_METHOD_CLOSURE,
                                         TW_APSP_METHOD_DIJKSTRA, TW_APSP_METHOD_REFERENCE};

static void every_method_gives_the_reference_on_every_generator(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t sizes[] = {1, 2, 63, 64, 65, 130};
    for (size_t k = 0; k < 6; k++) {
        for (size_t s = 0; s < 6; s++) {
            if (emulated_sizes_only() && s != k && s != 5 - k) {
                continue;
            }
            tw_graph *graph =
                generate(ctx, kinds[k], sizes[s], 0, 1000, TW_I32, TW_GRAPH_DIRECTED_AS_FILE);
            for (size_t m = 0; m < 4; m++) {
                check_against_reference(ctx, graph, methods[m], TW_AUTO, TW_I32, 0);
            }
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

static void floats_stay_within_their_bound(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (size_t k = 0; k < 6; k++) {
        tw_graph *narrow = generate(ctx, kinds[k], 97, 0, 1, TW_F32, TW_GRAPH_DIRECTED_AS_FILE);
        tw_graph *wide = generate(ctx, kinds[k], 97, 0, 1, TW_F64, TW_GRAPH_DIRECTED_AS_FILE);
        for (size_t m = 0; m < 4; m++) {
            check_against_reference(ctx, narrow, methods[m], TW_AUTO, TW_F32, 97 * 6e-8);
            check_against_reference(ctx, wide, methods[m], TW_AUTO, TW_F64, 97 * 1.2e-16);
        }
        tw_graph_destroy(narrow);
        tw_graph_destroy(wide);
    }
    close_context(ctx);
}

static void equal_weights_agree_with_breadth_first_search(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (size_t k = 0; k < 6; k++) {
        tw_graph *graph = generate(ctx, kinds[k], 150, 7, 7, TW_I32, TW_GRAPH_DIRECTED_AS_FILE);
        check_against_reference(ctx, graph, TW_APSP_METHOD_BFS, TW_AUTO, TW_I32, 0);
        check_against_reference(ctx, graph, TW_APSP_METHOD_AUTO, TW_AUTO, TW_F64, 0);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* A directed cycle: distance i -> j is the weight times the steps from i to j. */
static tw_graph *ring(tw_context *ctx, int32_t n, int32_t weight)
{
    int32_t *from = malloc((size_t)n * sizeof *from);
    int32_t *to = malloc((size_t)n * sizeof *to);
    int32_t *weights = malloc((size_t)n * sizeof *weights);
    for (int32_t i = 0; i < n; i++) {
        from[i] = i;
        to[i] = (i + 1) % n;
        weights[i] = weight;
    }
    tw_edges edges = {sizeof edges, n, from, to, weights, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, 0));
    free(from);
    free(to);
    free(weights);
    return graph;
}

/* The report of a closure whose first working type was forced or chosen. */
static tw_apsp_report close_ring(tw_context *ctx, int32_t n, int32_t weight, tw_type type)
{
    tw_graph *graph = ring(ctx, n, weight);
    tw_matrix got = poisoned(n, n, type);
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    options.method = TW_APSP_METHOD_CLOSURE;
    options.type = type;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &got));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            assert_true(entry(&got, i, j) == (double)((j - i + n) % n) * weight);
        }
    }
    tw_sink_destroy(&sink);
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    free(got.data);
    return report;
}

static void the_working_type_is_the_narrowest_that_ends_exact(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    /* 130 vertices, so the farthest distance is 129 weights; rows differ in length by type. */
    assert_int_equal(close_ring(ctx, 130, 1, TW_I32).work_type, TW_U8);
    assert_int_equal(close_ring(ctx, 208, 1, TW_I32).work_type, TW_U16); /* 207: too close to 255 */
    assert_int_equal(close_ring(ctx, 130, 2, TW_I32).work_type, TW_U16);
    assert_int_equal(close_ring(ctx, 130, 250, TW_I32).work_type, TW_U16);
    assert_int_equal(close_ring(ctx, 130, 500, TW_I32).work_type, TW_I32);
    assert_int_equal(close_ring(ctx, 130, 100000000, TW_F64).work_type, TW_F64);
    close_context(ctx);
}

static bool begins_with_7_bits(tw_context *ctx)
{
    twi_isa isa;
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    assert_int_equal(twi_may_be_plain(isa, TW_U8), isa == TWI_ISA_AVX2 || isa == TWI_ISA_AVX512);
    return twi_may_be_plain(isa, TW_U8);
}

/* Two rings that a sample of sources in one of them cannot tell apart from a narrow graph. */
static void a_refuted_type_is_followed_by_the_next_wider(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    enum { N = 3000, TAIL = 40 };
    static int32_t from[N];
    static int32_t to[N];
    static int32_t weights[N];
    for (int32_t i = 0; i < N; i++) {
        from[i] = i;
        to[i] = i % 3 == 2 ? i - 2 : i + 1; /* triangles ... */
        weights[i] = 1;
    }
    for (int32_t i = N - TAIL; i + 1 < N; i++) {
        to[i] = i + 1; /* ... and one path of weight 9 per step at the end: 351 in all */
        weights[i] = 9;
    }
    to[N - 1] = N - 2;
    tw_edges edges = {sizeof edges, N, from, to, weights, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    tw_apsp_plan *plan = NULL;
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_matrix got = poisoned(N, N, TW_I32);
    tw_sink sink = TW_SINK_INIT;
    options.method = TW_APSP_METHOD_CLOSURE;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, 0));
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_int_equal(describe_plan(plan).work_type, TW_U8);
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &got));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
    assert_int_equal(report.attempts, 2 + (begins_with_7_bits(ctx) ? 1 : 0));
    assert_int_equal(report.work_type, TW_U16);
    assert_true(entry(&got, N - TAIL, N - 1) == 9 * (TAIL - 1));
    assert_true(isinf(entry(&got, 0, N - 1)));
    tw_apsp_plan_destroy(plan);
    plan = NULL;
    tw_sink_destroy(&sink);
    options.work_type = TW_U8;
    assert_fails(ctx, TW_ERR_RANGE, "exceeds the working type u8",
                 tw_apsp(ctx, &got, graph, &options));
    tw_graph_destroy(graph);
    free(got.data);
    close_context(ctx);
}

/* Pairs of arcs there and back, all as long as a guess from one of them says, and at the end two
 * that are `farthest` apart. */
static tw_graph *pairs_and_one(tw_context *ctx, int32_t n, int32_t usual, int32_t farthest,
                               int32_t flags)
{
    int32_t *from = malloc((size_t)n * 3 * sizeof *from);
    int32_t *to = from + n, *weights = to + n;
    for (int32_t i = 0; i < n; i++) {
        from[i] = i;
        to[i] = i ^ 1;
        weights[i] = usual;
    }
    to[1] = 1;
    to[2] = 2;
    from[3] = 1; /* 0 -> 1 -> 3 */
    to[3] = 3;
    weights[0] = farthest / 2;
    weights[3] = farthest - farthest / 2;
    tw_edges edges = {sizeof edges, n, from, to, weights, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, flags));
    free(from);
    return graph;
}

/* 15 bits first, then 16, then 32; what has no path has none in any of them, and whoever asks for
 * 16 bits gets all of them. */
static void fifteen_bits_are_followed_by_sixteen(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    enum { N = 130 };
    static const int32_t farthest[] = {600, 32766, 32767, 32768, 65534, 65535, 70000};
    for (size_t i = 0; i < sizeof farthest / sizeof *farthest; i++) {
        tw_graph *graph = pairs_and_one(ctx, N, 300, farthest[i], 0);
        const int32_t attempts = 1 + (farthest[i] >= 32767) + (farthest[i] >= 65535);
        const bool fits = farthest[i] < 65535;
        const int32_t sources[] = {0, 7, 1};
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.method = TW_APSP_METHOD_CLOSURE;
        for (int some = 0; some < 2; some++) {
            options.sources = some ? sources : NULL;
            options.source_count = some ? 3 : 0;
            options.type = fits ? TW_U16 : TW_I32;
            tw_apsp_report report = TW_APSP_REPORT_INIT;
            tw_apsp_plan *plan = NULL;
            tw_sink sink = TW_SINK_INIT;
            tw_matrix got = poisoned(some ? 3 : N, N, options.type);
            assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
            assert_int_equal(describe_plan(plan).work_type, TW_U16);
            assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &got));
            assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
            assert_int_equal(report.attempts, attempts);
            assert_int_equal(report.work_type, fits ? TW_U16 : TW_I32);
            assert_true(entry(&got, 0, 3) == farthest[i]);
            assert_true(isinf(entry(&got, 0, 8)) && isinf(entry(&got, 0, 2)));
            tw_sink_destroy(&sink);
            tw_apsp_plan_destroy(plan);
            free(got.data);
        }
        check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_AUTO, TW_I32, 0);
        check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_AUTO, TW_F64, 0);
        if (fits) {
            check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_U16, TW_U16, 0);
        } else {
            tw_matrix got = poisoned(N, N, TW_I32);
            options.sources = NULL;
            options.source_count = 0;
            options.work_type = TW_U16;
            options.type = TW_AUTO;
            assert_fails(ctx, TW_ERR_RANGE, "exceeds the working type u16",
                         tw_apsp(ctx, &got, graph, &options));
            free(got.data);
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* The sum of an arc that ends at v, of minimum weight, and the distance of its tail. */
static double through(const tw_graph *graph, const tw_matrix *d, int64_t s, int32_t u, int64_t v)
{
    double least = (double)INFINITY;
    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
        least = graph->targets[a] == v ? fmin(least, twi_graph_weight(graph, a)) : least;
    }
    return entry(d, s, u) + least;
}

/* One run, its attempts, distances and predecessors. */
static void runs_in_bytes(tw_context *ctx, const tw_graph *graph, int32_t farthest,
                          tw_apsp_method method, bool plain)
{
    const int64_t n = graph->n;
    const bool fits = farthest < 255;
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_apsp_plan *plan = NULL;
    tw_sink sinks[2] = {TW_SINK_INIT, TW_SINK_INIT};
    tw_matrix got = poisoned(n, n, fits ? TW_U8 : TW_U16), before = poisoned(n, n, TW_I32);
    double *want = malloc((size_t)(n * n) * sizeof *want);
    options.method = method;
    options.type = got.type;
    assert_ok(ctx, twi_reference_apsp(ctx, graph, want));
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_int_equal(describe_plan(plan).work_type, TW_U8);
    if (method == TW_APSP_METHOD_CLOSURE) {
        assert_true((strstr(tw_apsp_plan_explain(plan), "in 7 bits of u8") != NULL) == plain);
    }
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[0], &got));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[1], &before));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sinks[0], 1, &sinks[1], &report));
    assert_int_equal(report.attempts, 1 + (plain && farthest >= 127) + !fits);
    assert_int_equal(report.work_type, fits ? TW_U8 : TW_U16);
    assert_distances(&got, want, 0);
    assert_true(entry(&got, 0, 3) == farthest);
    assert_true(isinf(entry(&got, 0, 8)));
    for (int64_t i = 0; i < n * n; i++) {
        const int32_t u = ((const int32_t *)before.data)[i];
        const bool has_one = i / n != i % n && !isinf(want[i]);
        assert_int_equal(u != TW_APSP_NO_VERTEX, has_one);
        assert_true(!has_one || through(graph, &got, i / n, u, i % n) == want[i]);
    }
    tw_sink_destroy(&sinks[0]);
    tw_sink_destroy(&sinks[1]);
    tw_apsp_plan_destroy(plan);
    free(got.data);
    free(before.data);
    free(want);
}

/* Where plain sums of bytes are faster: 7 bits first, then 8, then 16. */
static void seven_bits_are_followed_by_eight(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static const int32_t farthest[] = {100, 126, 127, 128, 254, 255, 300};
    static const int32_t sizes[] = {130, 66, 256, 258, 514};
    const bool plain = begins_with_7_bits(ctx);
    for (size_t i = 0; i < sizeof farthest / sizeof *farthest; i++) {
        for (size_t k = 0; k < (emulated_sizes_only() ? 1 : 5); k++) {
            for (int32_t flags = 0; flags <= TW_GRAPH_UNDIRECTED; flags++) {
                tw_graph *graph = pairs_and_one(ctx, sizes[k], 50, farthest[i], flags);
                runs_in_bytes(ctx, graph, farthest[i], TW_APSP_METHOD_CLOSURE, plain);
                runs_in_bytes(ctx, graph, farthest[i], TW_APSP_METHOD_SWEEP, plain);
                if (farthest[i] < 255) {
                    check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_U8, TW_U8, 0);
                }
                check_against_reference(ctx, graph, TW_APSP_METHOD_AUTO, TW_AUTO, TW_F64, 0);
                tw_graph_destroy(graph);
            }
        }
    }
    close_context(ctx);
}

/* A failed attempt is half a run lost: 7 bits are tried where twice what one vertex sees fits. */
static void seven_bits_are_not_tried_without_room(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static const int32_t usual[] = {63, 64};
    for (int i = 0; i < 2; i++) {
        tw_graph *graph = pairs_and_one(ctx, 130, usual[i], 120, 0);
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        for (int asked = 0; asked < 2; asked++) {
            tw_apsp_plan *plan = NULL;
            options.method = TW_APSP_METHOD_CLOSURE;
            options.work_type = asked ? TW_U8 : TW_AUTO;
            assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
            assert_true((strstr(tw_apsp_plan_explain(plan), "7 bits of u8") != NULL) ==
                        (i == 0 && begins_with_7_bits(ctx)));
            tw_apsp_plan_destroy(plan);
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* Distances on both sides of every limit, at sizes around the edges of tiles. */
static void dense_graphs_near_the_limits_are_exact(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static const int64_t sizes[] = {65, 127, 128, 129, 200};
    static const double weights[][2] = {{1, 30000}, {16000, 16500}, {32600, 32800}, {9000, 65000}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
            tw_graph *graph = generate(ctx, "dense", sizes[s], weights[w][0], weights[w][1], TW_I32,
                                       w % 2 ? TW_GRAPH_DIRECTED_YES : TW_GRAPH_DIRECTED_NO);
            check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_AUTO, TW_I32, 0);
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

static void an_unreachable_part_keeps_a_narrow_type_exact(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    /* Sparse enough to fall apart: many pairs without a path. */
    tw_graph *graph = generate(ctx, "grid", 90, 1, 3, TW_I32, TW_GRAPH_DIRECTED_AS_FILE);
    check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_U8, TW_I32, 0);
    check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_U16, TW_U16, 0);
    check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_I32, TW_F32, 0);
    check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_F64, TW_U8, 0);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* i -> j for i < j with weight (j - i) * 10 - 25: negative arcs, no cycle. */
static tw_graph *downhill(tw_context *ctx, int32_t n, tw_type type)
{
    int64_t count = (int64_t)n * (n - 1) / 2;
    int32_t *from = malloc((size_t)count * sizeof *from);
    int32_t *to = malloc((size_t)count * sizeof *to);
    void *weights = malloc((size_t)count * 8);
    int64_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i + 1; j < n; j++, at++) {
            double weight =
                (j - i) * 10 - 25 + (int)twi_random_below(twi_random_at(SEED, (uint64_t)at), 7);
            from[at] = i;
            to[at] = j;
            if (type == TW_I32) {
                ((int32_t *)weights)[at] = (int32_t)weight;
            } else if (type == TW_F32) {
                ((float *)weights)[at] = (float)weight + 0.25f;
            } else {
                ((double *)weights)[at] = weight + 0.3;
            }
        }
    }
    tw_edges edges = {sizeof edges, count, from, to, weights, type, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, 0));
    free(from);
    free(to);
    free(weights);
    return graph;
}

static void negative_weights_work_in_every_method(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *whole = downhill(ctx, 80, TW_I32);
    tw_graph *narrow = downhill(ctx, 80, TW_F32);
    tw_graph *wide = downhill(ctx, 80, TW_F64);
    for (size_t m = 0; m < 4; m++) {
        check_against_reference(ctx, whole, methods[m], TW_AUTO, TW_I32, 0);
        check_against_reference(ctx, narrow, methods[m], TW_AUTO, TW_F32, 1e-6);
        check_against_reference(ctx, wide, methods[m], TW_AUTO, TW_F64, 1e-13);
    }
    tw_graph_destroy(whole);
    tw_graph_destroy(narrow);
    tw_graph_destroy(wide);
    close_context(ctx);
}

static void a_negative_cycle_is_reported_with_its_vertices(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t from[] = {0, 1, 2, 3, 4};
    const int32_t to[] = {1, 2, 3, 1, 0};
    const int32_t weights[] = {5, 2, -4, 1, 1};
    tw_edges edges = {sizeof edges, 5, from, to, weights, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    tw_apsp_plan *plan = NULL;
    const int32_t *cycle = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 5, &edges, 0));
    assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, "weight -1",
                 tw_apsp_plan_create(ctx, &plan, graph, NULL));
    assert_null(plan);
    assert_int_equal(tw_apsp_negative_cycle(ctx, &cycle), 3);
    for (int i = 0; i < 3; i++) {
        assert_true(cycle[i] >= 1 && cycle[i] <= 3);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void parts_are_rows_and_columns_of_the_whole(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    enum { N = 90 };
    const int32_t sources[] = {88, 0, 0, 17};
    const int32_t targets[] = {5, 89, 17};
    tw_graph *graph = generate(ctx, "sparse", N, 1, 50, TW_I32, TW_GRAPH_DIRECTED_YES);
    double want[N * N];
    assert_ok(ctx, twi_reference_apsp(ctx, graph, want));
    for (size_t m = 0; m < 4; m++) {
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.method = methods[m];
        options.sources = sources;
        options.source_count = 4;
        options.targets = targets;
        options.target_count = 3;
        options.cutoff = 60;
        tw_matrix got = poisoned(4, 3, TW_I32);
        assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 3; j++) {
                double true_distance = want[sources[i] * N + targets[j]];
                assert_true(entry(&got, i, j) == (true_distance > 60 ? INFINITY : true_distance));
            }
        }
        free(got.data);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_distance_the_type_cannot_hold_is_refused_with_its_pair(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = ring(ctx, 70, 5);
    tw_matrix got = poisoned(70, 70, TW_U8);
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    for (size_t m = 0; m < 4; m++) {
        options.method = methods[m];
        assert_fails(ctx, TW_ERR_RANGE, "the distance 0 -> 51 is 255, which type u8 cannot hold",
                     tw_apsp(ctx, &got, graph, &options));
    }
    tw_graph_destroy(graph);
    graph = generate(ctx, "dense", 20, 0, 1, TW_F64, TW_GRAPH_DIRECTED_AS_FILE);
    got.type = TW_I32;
    got.rows = got.cols = got.stride = 20 / 2;
    free(got.data);
    got = poisoned(20, 20, TW_I32);
    assert_fails(ctx, TW_ERR_RANGE, "not a whole number", tw_apsp(ctx, &got, graph, NULL));
    tw_graph_destroy(graph);
    free(got.data);
    close_context(ctx);
}

static void bad_options_are_refused_with_a_sentence(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = generate(ctx, "sparse", 10, 1, 5, TW_I32, TW_GRAPH_DIRECTED_AS_FILE);
    tw_apsp_plan *plan = NULL;
    const int32_t wrong[] = {3, 10};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.sources = wrong;
    options.source_count = 2;
    assert_fails(ctx, TW_ERR_ARGUMENT, "source 10 (entry 1 of the list) is not a vertex",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    options = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    options.summary_only = 2;
    assert_fails(ctx, TW_ERR_ARGUMENT, "summary_only is 2",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    tw_apsp_verifier *verifier = NULL;
    assert_fails(ctx, TW_ERR_ARGUMENT, "summary_only is 2",
                 tw_apsp_verifier_create(ctx, &verifier, graph, &options, 0, 1));
    options = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    options.type = TW_I64;
    assert_fails(ctx, TW_ERR_ARGUMENT, "distance type i64 is not supported",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_fails(ctx, TW_ERR_ARGUMENT, "distance type i64 is not supported",
                 tw_apsp_verifier_create(ctx, &verifier, graph, &options, 0, 1));
    options = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    options.method = TW_APSP_METHOD_BFS;
    assert_fails(ctx, TW_ERR_ARGUMENT, "the weights are not all equal",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    options = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    options.type = TW_I16;
    assert_fails(ctx, TW_ERR_ARGUMENT, "type i16 is not supported",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    options = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    options.work_type = TW_F32;
    assert_fails(ctx, TW_ERR_ARGUMENT, "working type f32 does not suit",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    options = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    options.size = 3;
    assert_fails(ctx, TW_ERR_ARGUMENT, "TW_APSP_OPTIONS_INIT",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    options = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    options.cutoff = NAN;
    assert_fails(ctx, TW_ERR_ARGUMENT, "not a number",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void what_cannot_fit_is_refused_with_numbers(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = generate(ctx, "sparse", 2000, 1, 5, TW_I32, TW_GRAPH_DIRECTED_AS_FILE);
    tw_apsp_plan *plan = NULL;
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = TW_APSP_METHOD_CLOSURE;
    assert_ok(ctx, tw_set_memory(ctx, 2000000));
    assert_fails(ctx, TW_ERR_MEMORY, "2000 vertices need",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_non_null(strstr(tw_last_error(ctx), "with closure"));
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_plan_explains_itself(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = generate(ctx, "sparse", 500, 1, 5, TW_I32, TW_GRAPH_DIRECTED_AS_FILE);
    tw_apsp_plan *plan = NULL;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, NULL));
    const char *text = tw_apsp_plan_explain(plan);
    assert_non_null(strstr(text, "500 vertices"));
    assert_non_null(strstr(text, "closure"));
    assert_non_null(strstr(text, "dijkstra"));
    assert_non_null(strstr(text, "choice: "));
    assert_true(describe_plan(plan).memory > 0 && describe_plan(plan).seconds > 0);
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_symmetric_directed_graph_needs_half_of_the_work(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = generate(ctx, "dense", 100, 1, 9, TW_I32, TW_GRAPH_DIRECTED_NO);
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_matrix got = poisoned(100, 100, TW_I32);
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    options.method = TW_APSP_METHOD_CLOSURE;
    graph->undirected = false; /* as a file of both directions would be read */
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &got));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
    assert_true(report.symmetric);
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
    check_against_reference(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_AUTO, TW_I32, 0);
    tw_graph_destroy(graph);
    free(got.data);
    close_context(ctx);
}

static void predecessors_make_a_tree_of_shortest_paths(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    enum { N = 70 };
    for (size_t m = 0; m < 4; m++) {
        tw_graph *graph = generate(ctx, "sparse", N, 0, 9, TW_I32, TW_GRAPH_DIRECTED_YES);
        tw_matrix got = poisoned(N, N, TW_I32);
        tw_matrix before = poisoned(N, N, TW_I32);
        tw_sink sinks[2] = {TW_SINK_INIT, TW_SINK_INIT};
        tw_apsp_plan *plan = NULL;
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.method = methods[m];
        assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
        assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[0], &got));
        assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[1], &before));
        assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sinks[0], 1, &sinks[1], NULL));
        for (int64_t s = 0; s < N; s++) {
            for (int64_t v = 0; v < N; v++) {
                int32_t u = ((const int32_t *)before.data)[s * N + v];
                bool has_one = s != v && !isinf(entry(&got, s, v));
                assert_int_equal(u != TW_APSP_NO_VERTEX, has_one);
                if (has_one) {
                    double step = entry(&got, s, v) - entry(&got, s, u);
                    bool tight = false;
                    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
                        tight =
                            tight || (graph->targets[a] == v && twi_graph_weight(graph, a) == step);
                    }
                    assert_true(tight);
                }
            }
        }
        tw_apsp_plan_destroy(plan);
        tw_sink_destroy(&sinks[0]);
        tw_sink_destroy(&sinks[1]);
        tw_graph_destroy(graph);
        free(got.data);
        free(before.data);
    }
    close_context(ctx);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = generate(ctx, "sparse", 70, 0, 9, TW_I32, TW_GRAPH_DIRECTED_YES);
    tw_graph *hills = downhill(ctx, 40, TW_I32);
    for (size_t m = 0; m < 4; m++) {
        const tw_graph *graphs[] = {graph, hills};
        const int64_t sizes[] = {70, 40};
        for (int g = 0; g < 2; g++) {
            tw_apsp_options options = TW_APSP_OPTIONS_INIT;
            options.method = methods[m];
            tw_matrix got = poisoned(sizes[g], sizes[g], TW_I32);
            int64_t blocks = twi_meter_blocks(ctx->meter);
            tw_status status = TW_ERR_MEMORY;
            for (int64_t k = 1; status != TW_OK; k++) {
                assert_true(k < 1000);
                twi_meter_fail_at(ctx->meter, k);
                status = tw_apsp(ctx, &got, graphs[g], &options);
                assert_true(status == TW_OK || status == TW_ERR_MEMORY);
                assert_int_equal(twi_meter_blocks(ctx->meter), blocks);
            }
            twi_meter_fail_at(ctx->meter, 0);
            free(got.data);
        }
    }
    tw_graph_destroy(graph);
    tw_graph_destroy(hills);
    close_context(ctx);
}

/* A sink that asks for the end as soon as the run begins, and counts what reaches it. */
static tw_status cancel_at_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)self;
    (void)shape;
    tw_cancel(ctx);
    return TW_OK;
}

static tw_status refuse_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                             const void *data, int64_t stride)
{
    (void)self;
    (void)first;
    (void)count;
    (void)data;
    (void)stride;
    return tw_fail(ctx, TW_ERR_INTERNAL, "rows after a cancel");
}

static tw_status refuse_end(void *self, tw_context *ctx)
{
    (void)self;
    return tw_fail(ctx, TW_ERR_INTERNAL, "an end after a cancel");
}

static void count_abort(void *self, tw_context *ctx)
{
    (void)ctx;
    ++*(int *)self;
}

static void a_cancelled_run_stops_and_aborts_its_sinks(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = generate(ctx, "dense", 300, 1, 9, TW_I32, TW_GRAPH_DIRECTED_AS_FILE);
    for (size_t m = 1; m < 4; m++) {
        int aborted = 0;
        tw_sink sink = {sizeof sink, &aborted, cancel_at_begin, refuse_rows, refuse_end,
                        count_abort, NULL};
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        tw_apsp_plan *plan = NULL;
        options.method = methods[m];
        tw_clear_cancel(ctx);
        assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
        assert_fails(ctx, TW_ERR_CANCELLED, "stopped on request",
                     tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL));
        assert_int_equal(aborted, 1);
        tw_apsp_plan_destroy(plan);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void no_vertices_and_one_vertex_work(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int64_t n = 0; n <= 1; n++) {
        tw_edges none = {sizeof none, 0, NULL, NULL, NULL, TW_I32, TW_I32};
        tw_graph *graph = NULL;
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &none, 0));
        for (size_t m = 0; m < 4; m++) {
            check_against_reference(ctx, graph, methods[m], TW_AUTO, TW_I32, 0);
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t n = emulated_sizes_only() ? 80 : small_sizes_only() ? 140 : 333;
    tw_graph *graph = generate(ctx, "dense", n, 0, 1, TW_F32, TW_GRAPH_DIRECTED_YES);
    tw_matrix first = poisoned(n, n, TW_F32);
    for (size_t m = 1; m < 3; m++) {
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.method = methods[m];
        assert_ok(ctx, tw_set_threads(ctx, 1));
        assert_ok(ctx, tw_apsp(ctx, &first, graph, &options));
        for (int threads = 2; threads <= 5; threads++) {
            tw_matrix other = poisoned(n, n, TW_F32);
            assert_ok(ctx, tw_set_threads(ctx, threads));
            assert_ok(ctx, tw_apsp(ctx, &other, graph, &options));
            assert_memory_equal(first.data, other.data, (size_t)(n * n) * sizeof(float));
            free(other.data);
        }
    }
    tw_graph_destroy(graph);
    free(first.data);
    close_context(ctx);
}

static void the_product_checks_its_operands(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int32_t a[6] = {1, 2, 3, 4, 5, TW_APSP_INF_I32};
    int32_t b[6] = {7, 0, 1, 1, 2, 9};
    int32_t c[4] = {100, 2, TW_APSP_INF_I32, TW_APSP_INF_I32};
    tw_matrix ma = {a, 2, 3, 3, TW_I32};
    tw_matrix mb = {b, 3, 2, 2, TW_I32};
    tw_matrix mc = {c, 2, 2, 2, TW_I32};
    assert_ok(ctx, tw_minplus(ctx, &mc, &ma, &mb));
    assert_int_equal(c[0], 3);
    assert_int_equal(c[1], 1);
    assert_int_equal(c[2], 6);
    assert_int_equal(c[3], 4);
    mb.rows = 2;
    assert_fails(ctx, TW_ERR_ARGUMENT, "their shapes do not match", tw_minplus(ctx, &mc, &ma, &mb));
    mb.rows = 3;
    a[4] = -1;
    assert_fails(ctx, TW_ERR_RANGE, "A[1][1] is -1", tw_minplus(ctx, &mc, &ma, &mb));
    ma.type = TW_F32;
    assert_fails(ctx, TW_ERR_ARGUMENT, "all must have the same type",
                 tw_minplus(ctx, &mc, &ma, &mb));
    close_context(ctx);
}

typedef struct listener {
    tw_context *ctx;
    int64_t lines;
    int64_t most; /* after which it cancels */
} listener;

static void count_line(void *user, const char *name, int32_t passed, const char *detail)
{
    listener *l = user;
    if (!passed) {
        print_message("selftest: %s: %s\n", name, detail);
    }
    l->lines++;
    if (l->lines == l->most) {
        tw_cancel(l->ctx);
    }
}

static void the_selftest_passes_and_counts_its_cases(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_selftest_counts counts = TW_SELFTEST_COUNTS_INIT;
    listener l = {ctx, 0, small_sizes_only() ? 100 : INT64_MAX};
    const tw_status status = tw_selftest(ctx, &counts, "apsp", 1, count_line, &l);
    assert_int_equal(status, small_sizes_only() ? TW_ERR_CANCELLED : TW_OK);
    assert_true(counts.passed > (small_sizes_only() ? 90 : 500));
    assert_int_equal(counts.failed, 0);
    assert_int_equal(counts.passed, l.lines);
    close_context(ctx);
}

static void cancel_at_once(void *user, const char *name, int32_t passed, const char *detail)
{
    (void)name, (void)passed, (void)detail;
    tw_cancel(user);
}

static void a_cancelled_selftest_calls_no_case_failed(void **state)
{
    (void)state;
    static const char *const problems[] = {"apsp", "entropy", "map", NULL};
    tw_context *ctx = open_context();
    for (int i = 0; i < 4; i++) {
        tw_selftest_counts counts = TW_SELFTEST_COUNTS_INIT;
        tw_clear_cancel(ctx);
        assert_int_equal(tw_selftest(ctx, &counts, problems[i], 1, cancel_at_once, ctx),
                         TW_ERR_CANCELLED);
        assert_true(counts.passed > 0);
        assert_int_equal(counts.failed, 0);
    }
    close_context(ctx);
}

static void the_ceiling_is_a_positive_rate(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    double rate = 0;
    assert_ok(ctx, tw_minplus_ceiling(ctx, &rate, TW_I32, 1));
    assert_true(rate > 1e6);
    assert_fails(ctx, TW_ERR_ARGUMENT, "no ceiling for type i16",
                 tw_minplus_ceiling(ctx, &rate, TW_I16, 1));
    tw_cancel(ctx);
    assert_int_equal(tw_minplus_ceiling(ctx, &rate, TW_I32, 1), TW_ERR_CANCELLED);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_gives_the_reference_on_every_generator),
        cmocka_unit_test(floats_stay_within_their_bound),
        cmocka_unit_test(equal_weights_agree_with_breadth_first_search),
        cmocka_unit_test(the_working_type_is_the_narrowest_that_ends_exact),
        cmocka_unit_test(a_refuted_type_is_followed_by_the_next_wider),
        cmocka_unit_test(fifteen_bits_are_followed_by_sixteen),
        cmocka_unit_test(seven_bits_are_followed_by_eight),
        cmocka_unit_test(seven_bits_are_not_tried_without_room),
        cmocka_unit_test(dense_graphs_near_the_limits_are_exact),
        cmocka_unit_test(an_unreachable_part_keeps_a_narrow_type_exact),
        cmocka_unit_test(negative_weights_work_in_every_method),
        cmocka_unit_test(a_negative_cycle_is_reported_with_its_vertices),
        cmocka_unit_test(parts_are_rows_and_columns_of_the_whole),
        cmocka_unit_test(a_distance_the_type_cannot_hold_is_refused_with_its_pair),
        cmocka_unit_test(bad_options_are_refused_with_a_sentence),
        cmocka_unit_test(what_cannot_fit_is_refused_with_numbers),
        cmocka_unit_test(a_plan_explains_itself),
        cmocka_unit_test(a_symmetric_directed_graph_needs_half_of_the_work),
        cmocka_unit_test(predecessors_make_a_tree_of_shortest_paths),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(a_cancelled_run_stops_and_aborts_its_sinks),
        cmocka_unit_test(no_vertices_and_one_vertex_work),
        cmocka_unit_test(the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(the_product_checks_its_operands),
        cmocka_unit_test(the_selftest_passes_and_counts_its_cases),
        cmocka_unit_test(a_cancelled_selftest_calls_no_case_failed),
        cmocka_unit_test(the_ceiling_is_a_positive_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
