/*
 * Whole weights that take more than 32 bits. f64 holds every whole number below 2^53, so a distance
 * below that comes out to its last digit, and one that is not below it is refused: by every method,
 * and by routes and checks, too. The oracle is a triple loop over 64-bit integers.
 */
#include "harness.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

#define LIMIT ((int64_t)1 << 53)
#define NONE INT64_MAX
#define MOST 24

static const tw_apsp_method methods[] = {TW_APSP_METHOD_AUTO, TW_APSP_METHOD_CLOSURE,
                                         TW_APSP_METHOD_DIJKSTRA, TW_APSP_METHOD_SWEEP,
                                         TW_APSP_METHOD_REFERENCE};
#define METHODS (sizeof methods / sizeof *methods)

/* A graph as arcs, and its distances. */
typedef struct sample {
    int64_t n;
    int64_t arcs;
    int32_t source[MOST * MOST];
    int32_t target[MOST * MOST];
    int64_t weight[MOST * MOST];
    int64_t distance[MOST * MOST];
    int64_t largest; /* size of a distance */
} sample;

static uint64_t rounds(uint64_t all)
{
    return small_sizes_only() ? all / 4 : all;
}

static tw_graph *graph_of(tw_context *ctx, const sample *s)
{
    tw_graph *graph = NULL;
    tw_edges edges = TW_EDGES_INIT;
    edges.count = s->arcs;
    edges.source = s->source;
    edges.target = s->target;
    edges.weight = s->weight;
    edges.weight_type = TW_I64;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, s->n, &edges, 0));
    return graph;
}

/* Sums of up to MOST weights of 2^53 fit 64 bits by far. */
static void close_sample(sample *s)
{
    int64_t *d = s->distance;
    for (int64_t i = 0; i < s->n * s->n; i++) {
        d[i] = i / s->n == i % s->n ? 0 : NONE;
    }
    for (int64_t a = 0; a < s->arcs; a++) {
        int64_t *entry = &d[s->source[a] * s->n + s->target[a]];
        *entry = s->weight[a] < *entry ? s->weight[a] : *entry;
    }
    for (int64_t k = 0; k < s->n; k++) {
        for (int64_t i = 0; i < s->n; i++) {
            for (int64_t j = 0; j < s->n; j++) {
                const int64_t a = d[i * s->n + k], b = d[k * s->n + j];
                if (a != NONE && b != NONE && a + b < d[i * s->n + j]) {
                    d[i * s->n + j] = a + b;
                }
            }
        }
    }
    s->largest = 0;
    for (int64_t i = 0; i < s->n * s->n; i++) {
        const int64_t size = d[i] == NONE ? 0 : d[i] < 0 ? -d[i] : d[i];
        s->largest = size > s->largest ? size : s->largest;
    }
}

/* Arcs of about 2^bits; with `depth`, shifted by potentials of that size, so that some are negative
 * and no cycle is. */
static void draw(sample *s, uint64_t seed, int64_t n, int bits, int64_t depth)
{
    uint64_t at = 0;
    int64_t h[MOST];
    s->n = n;
    s->arcs = 0;
    for (int64_t v = 0; v < n; v++) {
        h[v] =
            depth > 0 ? (int64_t)twi_random_below(twi_random_at(seed, at++), (uint64_t)depth) : 0;
    }
    for (int32_t u = 0; u < n; u++) {
        for (int32_t v = 0; v < n; v++) {
            if (u != v && twi_random_below(twi_random_at(seed, at++), 3) == 0) {
                s->source[s->arcs] = u;
                s->target[s->arcs] = v;
                s->weight[s->arcs++] =
                    (int64_t)(twi_random_at(seed, at++) >> (64 - bits)) + h[u] - h[v];
            }
        }
    }
    close_sample(s);
}

static void assert_exact(const sample *s, const double *got, const int32_t *columns, int64_t cols)
{
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t j = 0; j < cols; j++) {
            const int64_t right = s->distance[i * s->n + (columns != NULL ? columns[j] : j)];
            const double value = got[i * cols + j];
            if (right == NONE ? value != (double)INFINITY : (int64_t)value != right) {
                fail_msg("%lld -> column %lld: %.17g, not %lld", (long long)i, (long long)j, value,
                         (long long)right);
            }
        }
    }
}

static void poison(double *out)
{
    for (int64_t i = 0; i < MOST * MOST; i++) {
        out[i] = -7;
    }
}

/* All pairs by every method: to the last digit, or refused where a sum is too large. */
static void check_methods(tw_context *ctx, const sample *s, const tw_graph *graph)
{
    double got[MOST * MOST];
    tw_matrix out = {got, s->n, s->n, s->n, TW_F64};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    for (size_t m = 0; m < METHODS; m++) {
        options.method = methods[m];
        poison(got);
        if (s->largest < LIMIT) {
            assert_ok(ctx, tw_apsp(ctx, &out, graph, &options));
            assert_exact(s, got, NULL, s->n);
        } else {
            assert_fails(ctx, TW_ERR_RANGE, "2^53 or more", tw_apsp(ctx, &out, graph, &options));
        }
    }
}

static void distances_are_exact_or_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int refused = 0;
    int kept = 0;
    for (uint64_t seed = 1; seed <= rounds(40); seed++) {
        sample s;
        draw(&s, seed, 2 + (int64_t)(seed % (MOST - 1)), 46 + (int)(seed % 8), 0);
        tw_graph *graph = graph_of(ctx, &s);
        check_methods(ctx, &s, graph);
        *(s.largest < LIMIT ? &kept : &refused) += 1;
        tw_graph_destroy(graph);
    }
    assert_true(refused >= 2 && kept >= 2); /* of both there are enough */
    close_context(ctx);
}

/* Through a few columns and a cutoff sums that are not delivered can spoil those that are. */
static void a_part_of_the_result_is_exact_or_refused_too(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int kept = 0;
    for (uint64_t seed = 1; seed <= rounds(60); seed++) {
        sample s;
        double got[MOST * MOST];
        const int bits = 40 + (int)(seed % 12);
        draw(&s, seed, 5 + (int64_t)(seed % 15), bits, (int64_t)1 << (40 + seed % 13));
        const int32_t columns[] = {(int32_t)(seed % 3), 3};
        tw_graph *graph = graph_of(ctx, &s);
        for (size_t m = 0; m < METHODS; m++) {
            tw_apsp_options options = TW_APSP_OPTIONS_INIT;
            options.method = methods[m];
            options.targets = columns;
            options.target_count = 2;
            tw_matrix out = {got, s.n, 2, 2, TW_F64};
            poison(got);
            const tw_status status = tw_apsp(ctx, &out, graph, &options);
            if (status == TW_OK) {
                assert_exact(&s, got, columns, 2);
                kept++;
            } else {
                assert_int_equal(status, TW_ERR_RANGE);
            }
        }
        tw_graph_destroy(graph);
    }
    assert_true(kept > 20);
    close_context(ctx);
}

static void the_edge_of_what_is_exact(void **state)
{
    (void)state;
    static const struct {
        int64_t first, second;
        bool fits;
    } cases[] = {{LIMIT - 2, 1, true},
                 {LIMIT - 1, 1, false},
                 {LIMIT, 1, false},
                 {(LIMIT >> 1) + 1, (LIMIT >> 1) + 2, false},
                 {(LIMIT >> 1) + 1, (LIMIT >> 1) - 2, true}};
    tw_context *ctx = open_context();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sample s = {.n = 3, .arcs = 2, .source = {0, 1}, .target = {1, 2}};
        s.weight[0] = cases[c].first;
        s.weight[1] = cases[c].second;
        close_sample(&s);
        assert_int_equal(s.largest < LIMIT, cases[c].fits);
        tw_graph *graph = graph_of(ctx, &s);
        check_methods(ctx, &s, graph);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* Levels times a weight of 52 bits. */
static void equal_weights_are_exact_or_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int64_t n = 2; n <= 4; n++) {
        double got[MOST * MOST];
        sample s = {.n = n, .arcs = n - 1};
        for (int32_t v = 0; v + 1 < n; v++) {
            s.source[v] = v;
            s.target[v] = v + 1;
            s.weight[v] = LIMIT / 3 + 1;
        }
        close_sample(&s);
        tw_graph *graph = graph_of(ctx, &s);
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.method = TW_APSP_METHOD_BFS;
        tw_matrix out = {got, n, n, n, TW_F64};
        poison(got);
        if (n < 4) {
            assert_ok(ctx, tw_apsp(ctx, &out, graph, &options));
            assert_exact(&s, got, NULL, n);
        } else {
            assert_fails(ctx, TW_ERR_RANGE, "the distance 0 -> 3",
                         tw_apsp(ctx, &out, graph, &options));
        }
        check_methods(ctx, &s, graph);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* A cutoff does not decide about a sum that was rounded: it may lie on either side. */
static void a_cutoff_cuts_what_is_certain(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    double got[9];
    tw_matrix out = {got, 3, 3, 3, TW_F64};
    sample s = {.n = 3, .arcs = 2, .source = {0, 1}, .target = {1, 2}};
    s.weight[0] = LIMIT - 1;
    s.weight[1] = 4;
    tw_graph *graph = graph_of(ctx, &s);
    for (size_t m = 0; m < METHODS; m++) {
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.method = methods[m];
        options.cutoff = (double)(LIMIT - 1);
        assert_ok(ctx, tw_apsp(ctx, &out, graph, &options));
        assert_true(got[1] == (double)(LIMIT - 1) && got[2] == (double)INFINITY && got[5] == 4);
        options.cutoff = (double)(LIMIT + 2);
        assert_fails(ctx, TW_ERR_RANGE, "0 -> 2", tw_apsp(ctx, &out, graph, &options));
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* The sum of the weights on the chain of predecessors is the distance. */
static void check_predecessors(tw_context *ctx, const sample *s, const tw_graph *graph)
{
    double got[MOST * MOST];
    int32_t before[MOST * MOST];
    int64_t direct[MOST * MOST];
    tw_matrix distances = {got, s->n, s->n, s->n, TW_F64};
    tw_matrix previous = {before, s->n, s->n, s->n, TW_I32};
    tw_sink sink = TW_SINK_INIT;
    tw_sink tree = TW_SINK_INIT;
    tw_apsp_plan *plan = NULL;
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &distances));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &tree, &previous));
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.type = TW_F64; /* a graph without arcs is of i32 */
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, &tree, NULL));
    for (int64_t i = 0; i < s->n * s->n; i++) {
        direct[i] = NONE;
    }
    for (int64_t a = 0; a < s->arcs; a++) {
        direct[s->source[a] * s->n + s->target[a]] = s->weight[a];
    }
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t j = 0; j < s->n; j++) {
            int64_t sum = 0;
            if (s->distance[i * s->n + j] == NONE) {
                assert_int_equal(before[i * s->n + j], TW_APSP_NO_VERTEX);
                continue;
            }
            for (int64_t v = j; v != i; v = before[i * s->n + v]) {
                sum += direct[before[i * s->n + v] * s->n + v];
            }
            assert_int_equal(sum, s->distance[i * s->n + j]);
        }
    }
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&tree);
    tw_sink_destroy(&sink);
}

/* One path, by the graph alone and by the matrix. */
static void check_paths(tw_context *ctx, const sample *s, const tw_graph *graph)
{
    double all[MOST * MOST];
    const tw_matrix matrix = {all, s->n, s->n, s->n, TW_F64};
    for (int64_t i = 0; i < s->n * s->n; i++) {
        all[i] = s->distance[i] == NONE ? (double)INFINITY : (double)s->distance[i];
    }
    for (int64_t i = 0; i < s->n * s->n; i++) {
        const bool fits = s->distance[i] == NONE || s->distance[i] < LIMIT;
        for (int with = 0; with < 2; with++) {
            tw_apsp_path *path = NULL;
            tw_apsp_path_info info = TW_APSP_PATH_INFO_INIT;
            const tw_status status = tw_apsp_path_create(ctx, &path, graph, with ? &matrix : NULL,
                                                         (int32_t)(i / s->n), (int32_t)(i % s->n));
            if (!fits) {
                assert_int_equal(status, TW_ERR_RANGE);
            } else if (s->largest < LIMIT || !with) {
                assert_ok(ctx, status);
                assert_int_equal(tw_apsp_path_describe(path, &info), TW_OK);
                assert_true(info.distance == all[i]);
            }
            tw_apsp_path_destroy(path);
        }
    }
}

static tw_status verify(tw_context *ctx, const tw_graph *graph, tw_matrix *matrix)
{
    tw_apsp_verifier *verifier = NULL;
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_apsp_verifier_create(ctx, &verifier, graph, NULL, 0, 1));
    assert_ok(ctx, tw_apsp_verifier_sink(verifier, &sink));
    assert_ok(ctx, tw_feed(ctx, matrix, &sink, 1));
    const tw_status status = tw_apsp_verifier_result(ctx, verifier, NULL);
    tw_sink_destroy(&sink);
    tw_apsp_verifier_destroy(verifier);
    return status;
}

/* The matrix of the oracle passes, and no longer after a step of one up or down anywhere. */
static void check_verifier(tw_context *ctx, const sample *s, const tw_graph *graph)
{
    double all[MOST * MOST];
    tw_matrix matrix = {all, s->n, s->n, s->n, TW_F64};
    for (int64_t i = 0; i < s->n * s->n; i++) {
        all[i] = s->distance[i] == NONE ? (double)INFINITY : (double)s->distance[i];
    }
    if (s->largest >= LIMIT) {
        assert_fails(ctx, TW_ERR_VERIFY, "reaches 2^53", verify(ctx, graph, &matrix));
        return;
    }
    assert_ok(ctx, verify(ctx, graph, &matrix));
    for (int64_t i = 0; i < s->n * s->n; i += 5) {
        for (int step = -1; step <= 1 && !isinf(all[i]); step += 2) {
            all[i] += step;
            assert_int_equal(verify(ctx, graph, &matrix), TW_ERR_VERIFY);
            all[i] -= step;
        }
    }
}

static void routes_and_checks_count_each_digit(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (uint64_t seed = 1; seed <= rounds(24); seed++) {
        sample s;
        draw(&s, seed, 2 + (int64_t)(seed % 14), 42 + (int)(seed % 11), 0);
        tw_graph *graph = graph_of(ctx, &s);
        check_paths(ctx, &s, graph);
        check_verifier(ctx, &s, graph);
        if (s.largest < LIMIT) {
            check_predecessors(ctx, &s, graph);
        }
        tw_graph_destroy(graph);
        /* Some of them negative, and all sums far below the limit. */
        draw(&s, seed, 2 + (int64_t)(seed % 14), 45, (int64_t)1 << 47);
        graph = graph_of(ctx, &s);
        check_methods(ctx, &s, graph);
        check_paths(ctx, &s, graph);
        check_verifier(ctx, &s, graph);
        check_predecessors(ctx, &s, graph);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* 3 from 0 to 3 by three arcs, on which f64 has 4; and 4 by one arc. */
static void a_sum_that_was_rounded_on_the_way_does_not_choose_the_path(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    sample s = {.n = 4, .arcs = 4, .source = {0, 1, 2, 0}, .target = {1, 2, 3, 3}};
    s.weight[0] = LIMIT - 1;
    s.weight[1] = 4;
    s.weight[2] = -LIMIT + 2;
    s.weight[3] = 6;
    close_sample(&s);
    assert_int_equal(s.distance[3], 5);
    tw_graph *graph = graph_of(ctx, &s);
    const int32_t zero = 0, three = 3;
    for (size_t m = 0; m < METHODS; m++) {
        double got = -7;
        tw_matrix out = {&got, 1, 1, 1, TW_F64};
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.method = methods[m];
        options.sources = &zero;
        options.targets = &three;
        options.source_count = options.target_count = 1;
        assert_int_equal(tw_apsp(ctx, &out, graph, &options), TW_ERR_RANGE);
    }
    tw_apsp_path *path = NULL;
    assert_fails(ctx, TW_ERR_RANGE, "2^53 or more",
                 tw_apsp_path_create(ctx, &path, graph, NULL, 0, 3));
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_cycle_of_large_weights_has_its_own_sign(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int64_t total = -1; total <= 1; total++) {
        sample s = {.n = 3, .arcs = 3, .source = {0, 1, 2}, .target = {1, 2, 0}};
        s.weight[0] = LIMIT - 3;
        s.weight[1] = -(LIMIT >> 1);
        s.weight[2] = -(LIMIT >> 1) + 3 + total;
        tw_graph *graph = graph_of(ctx, &s);
        for (size_t m = 0; m < METHODS; m++) {
            double got[9];
            tw_matrix out = {got, 3, 3, 3, TW_F64};
            tw_apsp_options options = TW_APSP_OPTIONS_INIT;
            options.method = methods[m];
            const tw_status status = tw_apsp(ctx, &out, graph, &options);
            if (total < 0) {
                assert_int_equal(status, TW_ERR_NEGATIVE_CYCLE);
            } else {
                assert_ok(ctx, status);
                close_sample(&s);
                assert_exact(&s, got, NULL, 3);
            }
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_exact_or_refused),
        cmocka_unit_test(a_part_of_the_result_is_exact_or_refused_too),
        cmocka_unit_test(the_edge_of_what_is_exact),
        cmocka_unit_test(equal_weights_are_exact_or_refused),
        cmocka_unit_test(a_cutoff_cuts_what_is_certain),
        cmocka_unit_test(routes_and_checks_count_each_digit),
        cmocka_unit_test(a_sum_that_was_rounded_on_the_way_does_not_choose_the_path),
        cmocka_unit_test(a_cycle_of_large_weights_has_its_own_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
