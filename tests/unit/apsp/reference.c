/* The oracle, on graphs small enough to know the answer. */
#include "harness.h"

#include "apsp/reference.h"
#include "apsp/shared/textbook.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double none = (double)INFINITY;

static tw_graph *graph_of(tw_context *ctx, int64_t n, int64_t count, const int32_t (*arcs)[3],
                          uint32_t flags)
{
    int32_t source[32];
    int32_t target[32];
    int32_t weight[32];
    tw_graph *graph = NULL;
    for (int64_t i = 0; i < count; i++) {
        source[i] = arcs[i][0];
        target[i] = arcs[i][1];
        weight[i] = arcs[i][2];
    }
    tw_edges edges = {sizeof edges, count, source, target, weight, TW_I32, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, flags));
    return graph;
}

static void unreachable_pairs_stay_infinite_and_the_least_arc_counts(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t arcs[][3] = {{0, 1, 9}, {0, 1, 4}, {1, 2, 0}, {0, 2, 5}, {3, 3, 1}};
    const double expected[16] = {0,    4,    4, none, none, 0,    0,    none,
                                 none, none, 0, none, none, none, none, 0};
    double d[16] = {-1};
    tw_graph *graph = graph_of(ctx, 4, 5, arcs, 0);
    assert_ok(ctx, twi_reference_apsp(ctx, graph, d));
    assert_memory_equal(d, expected, sizeof d);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void nothing_and_one_vertex_work(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    double d = -1;
    for (int64_t n = 0; n <= 1; n++) {
        tw_graph *graph = graph_of(ctx, n, 0, NULL, 0);
        assert_ok(ctx, twi_reference_apsp(ctx, graph, &d));
        tw_graph_destroy(graph);
    }
    assert_true(d == 0);
    close_context(ctx);
}

static void negative_arcs_without_a_cycle_are_exact(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t arcs[][3] = {{0, 1, 5}, {1, 2, -7}, {0, 2, 1}, {2, 0, 2}};
    const double expected[9] = {0, 5, -2, -5, 0, -7, 2, 7, 0};
    double d[9] = {-1};
    tw_graph *graph = graph_of(ctx, 3, 4, arcs, 0);
    assert_ok(ctx, twi_reference_apsp(ctx, graph, d));
    assert_memory_equal(d, expected, sizeof d);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* The cycle the context shows must be one: arcs that exist, in order, with a negative sum. */
static void assert_cycle_is_real(tw_context *ctx, const tw_graph *graph)
{
    const int32_t *cycle = NULL;
    int64_t count = tw_apsp_negative_cycle(ctx, &cycle);
    double total = 0;
    assert_true(count >= 1);
    for (int64_t i = 0; i < count; i++) {
        int32_t u = cycle[i];
        int32_t v = cycle[(i + 1) % count];
        double least = none;
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            if (graph->targets[a] == v) {
                least = fmin(least, twi_graph_weight(graph, a));
            }
        }
        total += least;
    }
    assert_true(total < 0);
}

static void a_negative_cycle_is_shown_with_arcs_that_exist(void **state)
{
    (void)state;
    const int32_t plain[][3] = {{0, 1, 5}, {1, 2, -7}, {2, 3, 1}, {3, 1, 5}, {4, 0, -100}};
    const int32_t loop[][3] = {{0, 1, 5}, {1, 1, -1}};
    const int32_t edge[][3] = {{0, 1, 3}, {1, 2, -1}, {2, 1, -1}};
    tw_context *ctx = open_context();
    double d[25];
    tw_graph *graphs[3] = {graph_of(ctx, 5, 5, plain, 0), graph_of(ctx, 2, 2, loop, 0),
                           graph_of(ctx, 3, 3, edge, 0)};
    const char *const words[3] = {"weight -1", "1 -> 1", "weight -2"};
    for (int i = 0; i < 3; i++) {
        assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, words[i], twi_reference_apsp(ctx, graphs[i], d));
        assert_cycle_is_real(ctx, graphs[i]);
        tw_graph_destroy(graphs[i]);
    }
    close_context(ctx);
}

static void many_negative_cycles_do_not_blow_up(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    enum { N = 60 };
    int32_t source[N * N];
    int32_t target[N * N];
    int32_t weight[N * N];
    double d[N * N];
    for (int32_t i = 0; i < N * N; i++) {
        source[i] = i / N;
        target[i] = i % N;
        weight[i] = (int32_t)(twi_random_at(4, (uint64_t)i) % 200) - 100;
    }
    tw_edges edges = {sizeof edges, N * N, source, target, weight, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, 0));
    assert_int_equal(twi_reference_apsp(ctx, graph, d), TW_ERR_NEGATIVE_CYCLE);
    assert_cycle_is_real(ctx, graph);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_cycle_that_is_zero_but_for_rounding_is_none(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[3] = {0, 1, 2};
    const int32_t target[3] = {1, 2, 0};
    /* In doubles 0.3 - 0.2 - 0.1 is -2.8e-17. */
    const double weight[3] = {0.3, -0.2, -0.1};
    double d[9];
    tw_graph *graph = NULL;
    tw_edges edges = {sizeof edges, 3, source, target, weight, TW_F64, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 3, &edges, 0));
    assert_ok(ctx, twi_reference_apsp(ctx, graph, d));
    for (int i = 0; i < 3; i++) {
        assert_true(d[i * 3 + i] == 0);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_cancelled_reference_stops(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t arcs[][3] = {{0, 1, 5}};
    double d[4];
    tw_graph *graph = graph_of(ctx, 2, 1, arcs, 0);
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "stopped", twi_reference_apsp(ctx, graph, d));
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Both searches against the triple loop, row by row, and their trees add up. */
static void textbook_searches_agree_with_the_triple_loop(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (uint64_t seed = 1; seed <= 8; seed++) {
        tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
        opts.kind = seed % 2 == 0 ? "sparse" : "dense";
        opts.vertices = 40;
        opts.degree = 3;
        opts.density = 0.2;
        opts.seed = seed;
        opts.weight_type = seed % 4 < 2 ? TW_I32 : TW_F64;
        opts.min_weight = 0;
        tw_graph *graph = NULL;
        double *d = malloc(40 * 40 * sizeof *d);
        void *memory = NULL;
        twi_textbook search;
        assert_ok(ctx, tw_graph_generate(ctx, &graph, &opts));
        assert_ok(ctx, twi_reference_apsp(ctx, graph, d));
        assert_ok(ctx, twi_alloc(ctx, &memory, twi_textbook_bytes(graph), 1, "a search"));
        twi_textbook_place(&search, graph, memory, ctx);
        for (int32_t s = 0; s < 40; s++) {
            for (int method = 0; method < 2; method++) {
                if (method == 0) {
                    twi_textbook_dijkstra(graph, s, &search);
                } else {
                    assert_true(twi_textbook_bellman_ford(graph, s, &search));
                }
                for (int32_t v = 0; v < 40; v++) {
                    double expected = d[s * 40 + v];
                    double got = search.distance[v];
                    assert_true(isinf(expected) ? isinf(got)
                                                : fabs(got - expected) <= 1e-12 * expected);
                    int32_t before = search.previous[v];
                    assert_true(before == TW_APSP_NO_VERTEX ||
                                search.hops[v] == search.hops[before] + 1 || method == 1);
                }
            }
        }
        twi_free(memory);
        free(d);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* A chain: what a search reaches tells how far it went. */
static void cancelled_searches_stop_on_the_way(void **state)
{
    (void)state;
    enum { N = 30 };
    tw_context *ctx = open_context();
    int32_t arcs[N - 1][3];
    void *memory = NULL;
    twi_textbook search;
    tw_apsp_path *path = NULL;
    for (int32_t i = 0; i < N - 1; i++) {
        arcs[i][0] = i;
        arcs[i][1] = i + 1;
        arcs[i][2] = 3;
    }
    tw_graph *graph = graph_of(ctx, N, N - 1, arcs, 0);
    assert_ok(ctx, twi_alloc(ctx, &memory, twi_textbook_bytes(graph), 1, "a search"));
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        twi_textbook_place(&search, graph, memory, ctx);
        twi_textbook_dijkstra(graph, 0, &search);
        assert_int_equal(isinf(search.distance[N - 1]) != 0, cancelled);
        (void)twi_textbook_bellman_ford(graph, 0, &search);
        assert_int_equal(isinf(search.distance[N - 1]) != 0, cancelled);
        assert_int_equal(tw_apsp_path_create(ctx, &path, graph, NULL, 0, N - 1),
                         cancelled ? TW_ERR_CANCELLED : TW_OK);
        tw_apsp_path_destroy(path);
        tw_cancel(ctx);
    }
    tw_clear_cancel(ctx);
    twi_free(memory);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void no_memory_for_the_cycle_is_reported(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t loop[][3] = {{0, 1, 5}, {1, 1, -1}};
    double d[4];
    tw_graph *graph = graph_of(ctx, 2, 2, loop, 0);
    tw_status status = TW_ERR_MEMORY;
    for (int64_t k = 1; status == TW_ERR_MEMORY; k++) {
        twi_meter_fail_at(ctx->meter, k);
        status = twi_reference_apsp(ctx, graph, d);
    }
    twi_meter_fail_at(ctx->meter, 0);
    assert_int_equal(status, TW_ERR_NEGATIVE_CYCLE);
    tw_graph_destroy(graph);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreachable_pairs_stay_infinite_and_the_least_arc_counts),
        cmocka_unit_test(nothing_and_one_vertex_work),
        cmocka_unit_test(negative_arcs_without_a_cycle_are_exact),
        cmocka_unit_test(a_negative_cycle_is_shown_with_arcs_that_exist),
        cmocka_unit_test(many_negative_cycles_do_not_blow_up),
        cmocka_unit_test(a_cycle_that_is_zero_but_for_rounding_is_none),
        cmocka_unit_test(a_cancelled_reference_stops),
        cmocka_unit_test(cancelled_searches_stop_on_the_way),
        cmocka_unit_test(textbook_searches_agree_with_the_triple_loop),
        cmocka_unit_test(no_memory_for_the_cycle_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
