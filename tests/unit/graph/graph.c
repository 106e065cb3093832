/* Graphs made from arrays and matrices. */
#include "harness.h"

#include "base/random.h"
#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tw_graph *make_i32(tw_context *ctx, int64_t n, int64_t count, const int32_t *source,
                          const int32_t *target, const int32_t *weight, uint32_t flags)
{
    tw_graph *graph = NULL;
    tw_edges edges = {sizeof edges, count, source, target, weight, TW_I32, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, flags));
    return graph;
}

static void the_empty_graph_and_the_single_vertex_exist(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int64_t n = 0; n < 2; n++) {
        tw_graph *graph = make_i32(ctx, n, 0, NULL, NULL, NULL, 0);
        tw_graph_info info = TW_GRAPH_INFO_INIT;
        assert_int_equal(tw_graph_describe(graph, &info), TW_OK);
        assert_int_equal(info.vertices, n);
        assert_int_equal(info.arcs, 0);
        assert_false(info.equal);
        assert_true(info.integral);
        assert_true(info.min_weight == 0 && info.max_weight == 0);
        tw_graph_destroy(graph);
    }
    tw_graph_destroy(NULL);
    close_context(ctx);
}

static void rows_keep_the_order_of_their_edges(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[] = {2, 0, 2, 1, 2};
    const int32_t target[] = {0, 1, 1, 2, 0};
    const int32_t weight[] = {5, 6, -7, 8, 9};
    tw_graph *graph = make_i32(ctx, 3, 5, source, target, weight, 0);
    const int64_t *offsets;
    const int32_t *targets;
    const void *weights;
    tw_graph_rows(graph, &offsets, &targets, &weights);
    assert_memory_equal(offsets, ((int64_t[]){0, 1, 2, 5}), 4 * sizeof *offsets);
    assert_memory_equal(targets, ((int32_t[]){1, 2, 0, 1, 0}), 5 * sizeof *targets);
    assert_memory_equal(weights, ((int32_t[]){6, 8, 5, -7, 9}), 5 * sizeof *targets);
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    assert_int_equal(tw_graph_describe(graph, &info), TW_OK);
    assert_true(info.min_weight == -7 && info.max_weight == 9);
    assert_int_equal(info.weight_type, TW_I32);
    assert_false(info.undirected);
    assert_false(info.labelled);
    assert_null(tw_graph_label(graph, 0));
    assert_int_equal(tw_graph_find(graph, "0"), -1);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void an_undirected_edge_is_two_arcs(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[] = {0, 2};
    const int32_t target[] = {1, 0};
    const int32_t weight[] = {4, 4};
    tw_graph *graph = make_i32(ctx, 3, 2, source, target, weight, TW_GRAPH_UNDIRECTED);
    assert_int_equal(graph->arcs, 4);
    assert_memory_equal(graph->targets, ((int32_t[]){1, 2, 0, 0}), 4 * sizeof(int32_t));
    assert_true(graph->undirected);
    assert_true(graph->equal);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void loops_go_unless_negative_and_infinite_edges_go(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[] = {0, 1, 0, 1, 1};
    const int32_t target[] = {0, 1, 1, 0, 1};
    const double weight[] = {0, -2.5, INFINITY, 1e300, 3};
    tw_graph *graph = NULL;
    tw_edges edges = {sizeof edges, 5, source, target, weight, TW_F64, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    assert_int_equal(graph->arcs, 2);
    assert_int_equal(graph->offsets[1], 0);
    assert_int_equal(graph->targets[0], 1);
    assert_true(graph->min_weight == -2.5 && graph->max_weight == 1e300);
    assert_false(graph->integral);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void whole_floats_are_integral_only_within_i32(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[] = {0};
    const int32_t target[] = {1};
    const struct {
        float weight;
        bool integral;
    } cases[] = {
        {3, true}, {-0.0F, true}, {2.5F, false}, {-2147483648.0F, true}, {2147483648.0F, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tw_graph *graph = NULL;
        tw_edges edges = {sizeof edges, 1, source, target, &cases[k].weight, TW_F32, TW_I32};
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
        assert_int_equal(graph->integral, cases[k].integral);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void wrong_edges_are_refused_with_their_place(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = (tw_graph *)&graph; /* poisoned: must become NULL */
    const int32_t good[] = {0, 1};
    const int32_t high[] = {1, 2};
    const int32_t low[] = {1, -1};
    const double nan_weight[] = {1, NAN};
    const double sunk[] = {-INFINITY, 1};
    tw_edges edges = {sizeof edges, 2, good, high, NULL, TW_I32, TW_I32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "edge 1: vertex 2 is outside 0 ... 1",
                 tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    assert_null(graph);
    edges.target = low;
    assert_fails(ctx, TW_ERR_ARGUMENT, "edge 1: vertex -1 is outside",
                 tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    edges = (tw_edges){sizeof(tw_edges), 2, good, good, nan_weight, TW_F64, TW_I32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "edge 1: the weight of 1 -> 1 is NaN",
                 tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    edges.weight = sunk;
    assert_fails(ctx, TW_ERR_ARGUMENT, "edge 0: the weight of 0 -> 0 is -inf",
                 tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    edges.weight_type = TW_U8;
    assert_fails(ctx, TW_ERR_ARGUMENT, "type u8", tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    edges = (tw_edges){sizeof(tw_edges), -1, good, good, NULL, TW_I32, TW_I32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "-1 edges", tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    edges = (tw_edges){sizeof(tw_edges), 1, NULL, good, NULL, TW_I32, TW_I32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "both sources and targets",
                 tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    edges = (tw_edges){sizeof(tw_edges), 0, NULL, NULL, NULL, TW_I32, TW_I32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "-5 vertices",
                 tw_graph_from_edges(ctx, &graph, -5, &edges, 0));
    assert_fails(ctx, TW_ERR_ARGUMENT, "2147483648 vertices",
                 tw_graph_from_edges(ctx, &graph, (int64_t)1 << 31, &edges, 0));
    assert_fails(ctx, TW_ERR_ARGUMENT, "flags 0x8", tw_graph_from_edges(ctx, &graph, 2, &edges, 8));
    close_context(ctx);
}

static void a_negative_undirected_edge_is_shown_as_a_cycle(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    const int32_t source[] = {0, 3};
    const int32_t target[] = {1, 2};
    const int32_t weight[] = {1, -4};
    tw_edges edges = {sizeof edges, 2, source, target, weight, TW_I32, TW_I32};
    tw_apsp_plan *plan = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 4, &edges, TW_GRAPH_UNDIRECTED));
    assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, "weight -8, so shortest paths do not exist",
                 tw_apsp_plan_create(ctx, &plan, graph, NULL));
    assert_non_null(strstr(tw_last_error(ctx), "an undirected edge of negative weight"));
    assert_null(plan);
    const int32_t *cycle = NULL;
    assert_int_equal(tw_apsp_negative_cycle(ctx, &cycle), 2);
    assert_int_equal(cycle[0] + cycle[1], 5);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void any_thread_count_builds_the_same_graph(void **state)
{
    (void)state;
    enum { N = 1000, M = 300000 };
    tw_context *ctx = open_context();
    int32_t *source = malloc(M * sizeof *source);
    int32_t *target = malloc(M * sizeof *target);
    int32_t *weight = malloc(M * sizeof *weight);
    for (uint64_t i = 0; i < M; i++) {
        source[i] = (int32_t)twi_random_below(twi_random_at(7, i), N);
        target[i] = (int32_t)twi_random_below(twi_random_at(8, i), N);
        weight[i] = (int32_t)i;
    }
    for (uint32_t flags = 0; flags < 2; flags++) {
        assert_ok(ctx, tw_set_threads(ctx, 1));
        tw_graph *one = make_i32(ctx, N, M, source, target, weight, flags);
        for (int threads = 2; threads <= 7; threads++) {
            assert_ok(ctx, tw_set_threads(ctx, threads));
            tw_graph *many = make_i32(ctx, N, M, source, target, weight, flags);
            assert_int_equal(many->arcs, one->arcs);
            assert_memory_equal(many->offsets, one->offsets, (N + 1) * sizeof(int64_t));
            assert_memory_equal(many->targets, one->targets, (size_t)one->arcs * 4);
            assert_memory_equal(many->weights, one->weights, (size_t)one->arcs * 4);
            assert_true(many->min_weight == one->min_weight);
            assert_true(many->max_weight == one->max_weight);
            tw_graph_destroy(many);
        }
        tw_graph_destroy(one);
    }
    /* The first of two wrong edges is the one named, whichever thread sees it. */
    source[200000] = N;
    source[290000] = -1;
    tw_graph *graph = NULL;
    tw_edges edges = {sizeof edges, M, source, target, weight, TW_I32, TW_I32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "edge 200000: vertex 1000",
                 tw_graph_from_edges(ctx, &graph, N, &edges, 0));
    free(weight);
    free(target);
    free(source);
    close_context(ctx);
}

/* Against one pass over the arcs: row v has the sources of the arcs into v, in their order. */
static void arcs_turned_round_are_the_same_for_any_thread_count(void **state)
{
    static const int64_t arcs_of[] = {0, 1, 7, 300000};
    (void)state;
    tw_context *ctx = open_context();
    for (int k = 0; k < 12; k++) {
        const int64_t n = 1000, arcs = arcs_of[k / 3];
        int32_t *source = malloc((size_t)(arcs + 1) * sizeof *source);
        int32_t *target = malloc((size_t)(arcs + 1) * sizeof *target);
        int64_t next[1000];
        tw_edges edges = TW_EDGES_INIT;
        tw_graph *graph = NULL, *reversed = NULL;
        for (int64_t i = 0; i < arcs; i++) {
            source[i] = (int32_t)(twi_random_at(5, (uint64_t)i) % (uint64_t)n);
            target[i] = (int32_t)(twi_random_at(6, (uint64_t)i) % (uint64_t)n);
        }
        edges.count = arcs;
        edges.source = source;
        edges.target = target;
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, 0));
        assert_ok(ctx, tw_set_threads(ctx, 5));
        assert_ok(ctx, twi_graph_reverse(ctx, &reversed, graph, 1 + k % 3 * 3));
        assert_int_equal(reversed->arcs, graph->arcs);
        assert_int_equal(reversed->offsets[0], 0);
        assert_int_equal(reversed->offsets[n], graph->arcs);
        memcpy(next, reversed->offsets, sizeof next);
        for (int64_t u = 0; u < n; u++) {
            for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
                const int32_t v = graph->targets[a];
                assert_true(next[v] < reversed->offsets[v + 1]);
                assert_int_equal(reversed->targets[next[v]++], u);
            }
        }
        tw_graph_destroy(reversed);
        tw_graph_destroy(graph);
        free(target);
        free(source);
    }
    tw_context_destroy(ctx);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t ends[] = {0, 1, 2};
    tw_edges edges = {sizeof edges, 3, ends, ends, NULL, TW_I32, TW_I32};
    for (int64_t k = 1;; k++) {
        tw_graph *graph = NULL;
        twi_meter_fail_at(ctx->meter, k);
        tw_status status = tw_graph_from_edges(ctx, &graph, 3, &edges, 0);
        twi_meter_fail_at(ctx->meter, 0);
        if (status == TW_OK) {
            assert_true(k > 4);
            tw_graph_destroy(graph);
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
        assert_null(graph);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    close_context(ctx);
}

static void what_cannot_fit_is_refused_before_it_is_taken(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    tw_edges edges = {sizeof edges, 0, NULL, NULL, NULL, TW_I32, TW_I32};
    assert_ok(ctx, tw_set_memory(ctx, 1000000));
    assert_fails(ctx, TW_ERR_MEMORY,
                 "0 edges between 1000000000 vertices need 16 GB of memory, but 1.0 MB may be used",
                 tw_graph_from_edges(ctx, &graph, 1000000000, &edges, 0));
    assert_true(tw_memory_peak(ctx) < 1000000);
    close_context(ctx);
}

static void a_cancelled_build_stops(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    const int32_t ends[] = {0};
    tw_edges edges = {sizeof edges, 1, ends, ends, NULL, TW_I32, TW_I32};
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "stopped", tw_graph_from_edges(ctx, &graph, 1, &edges, 0));
    assert_null(graph);
    close_context(ctx);
}

/* ------------------------------------------------------------------- from matrices */

static tw_matrix square(void *data, int64_t n, int64_t stride, tw_type type)
{
    return (tw_matrix){data, n, n, stride, type};
}

static void a_matrix_gives_an_edge_per_entry_below_infinity(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    /* Strided: the fourth column is not part of it. */
    int32_t entries[3][4] = {{0, 5, TW_APSP_INF_I32, 9}, {-2, 0, 7, 9}, {INT32_MAX, 0, -1, 9}};
    tw_matrix matrix = square(entries, 3, 4, TW_I32);
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 0));
    assert_int_equal(graph->arcs, 5);
    assert_memory_equal(graph->offsets, ((int64_t[]){0, 1, 3, 5}), 4 * sizeof(int64_t));
    assert_memory_equal(graph->targets, ((int32_t[]){1, 0, 2, 1, 2}), 5 * sizeof(int32_t));
    assert_memory_equal(graph->weights, ((int32_t[]){5, -2, 7, 0, -1}), 5 * sizeof(int32_t));
    tw_graph_destroy(graph);
    double mark = 0;
    assert_ok(ctx, tw_graph_from_matrix(ctx, &graph, &matrix, &mark, 0));
    assert_int_equal(graph->arcs, 4);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void narrow_matrices_become_i32_and_floats_stay(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    uint8_t bytes[4] = {0, 254, 255, 0};
    uint16_t words[4] = {0, 65534, 65535, 0};
    int16_t shorts[4] = {0, -3, 32767, 0};
    int64_t longs[4] = {0, INT32_MIN, INT64_MAX, 0};
    float floats[4] = {0, 2.5F, INFINITY, 0};
    double doubles[4] = {0, 1e-300, NAN, 0};
    const struct {
        void *data;
        tw_type type;
        tw_type expected;
        double weight;
    } cases[] = {{bytes, TW_U8, TW_I32, 254},   {words, TW_U16, TW_I32, 65534},
                 {shorts, TW_I16, TW_I32, -3},  {longs, TW_I64, TW_I32, INT32_MIN},
                 {floats, TW_F32, TW_F32, 2.5}, {doubles, TW_F64, TW_F64, 1e-300}};
    double mark = NAN; /* also a mark */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tw_graph *graph = NULL;
        tw_matrix matrix = square(cases[k].data, 2, 2, cases[k].type);
        assert_ok(ctx, tw_graph_from_matrix(ctx, &graph, &matrix, &mark, 0));
        assert_int_equal(graph->arcs, 1);
        assert_int_equal(graph->weight_type, cases[k].expected);
        assert_true(twi_graph_weight(graph, 0) == cases[k].weight);
        assert_true(graph->min_weight == cases[k].weight);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void an_undirected_matrix_takes_the_least_of_both_entries(void **state)
{
    (void)state;
    enum { N = 37 };
    tw_context *ctx = open_context();
    double entries[N][N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            uint64_t random = twi_random_at(5, (uint64_t)(i * N + j));
            entries[i][j] = random % 3 == 0 ? INFINITY : (double)(random % 1000) / 8;
        }
    }
    for (int threads = 1; threads <= 3; threads++) {
        assert_ok(ctx, tw_set_threads(ctx, threads));
        tw_graph *graph = NULL;
        tw_matrix matrix = square(entries, N, N, TW_F64);
        assert_ok(ctx, tw_graph_from_matrix(ctx, &graph, &matrix, NULL, TW_GRAPH_UNDIRECTED));
        int64_t a = 0;
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                double least = fmin(entries[i][j], entries[j][i]);
                if (i != j && least < INFINITY) {
                    assert_int_equal(graph->targets[a], j);
                    assert_true(twi_graph_weight(graph, a) == least);
                    a++;
                }
            }
            assert_int_equal(graph->offsets[i + 1], a);
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void wrong_matrices_are_refused_with_their_place(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    double entries[4] = {0, NAN, -1, 0};
    tw_matrix matrix = square(entries, 2, 2, TW_F64);
    assert_fails(ctx, TW_ERR_ARGUMENT, "row 0, column 1 is NaN",
                 tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 0));
    entries[1] = 3;
    assert_ok(ctx, tw_graph_from_matrix(ctx, &graph, &matrix, NULL, TW_GRAPH_UNDIRECTED));
    assert_true(graph->min_weight == -1 && graph->max_weight == -1);
    tw_graph_destroy(graph);
    entries[2] = -INFINITY;
    assert_fails(ctx, TW_ERR_ARGUMENT, "row 1, column 0 is -inf",
                 tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 0));
    assert_fails(ctx, TW_ERR_ARGUMENT, "row 0, column 1 is -inf",
                 tw_graph_from_matrix(ctx, &graph, &matrix, NULL, TW_GRAPH_UNDIRECTED));
    matrix.cols = 1;
    assert_fails(ctx, TW_ERR_ARGUMENT, "2 x 1",
                 tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 0));
    matrix = square(NULL, 2, 2, TW_F64);
    assert_fails(ctx, TW_ERR_ARGUMENT, "its data is NULL",
                 tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 0));
    matrix = square(entries, 2, 2, TW_AUTO);
    assert_fails(ctx, TW_ERR_ARGUMENT, "no element type",
                 tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 0));
    matrix = square(entries, 2, 2, TW_F64);
    assert_fails(ctx, TW_ERR_ARGUMENT, "flags",
                 tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 2));
    close_context(ctx);
}

/* i32 if all weights fit, else f64 up to 2^53; and nothing but the mark is no edge. */
static void a_matrix_of_64_bits_keeps_every_weight(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t most = (int64_t)1 << 53;
    const struct {
        int64_t weight;
        tw_type type;
    } cases[] = {{TW_APSP_INF_I32 - 1, TW_I32},
                 {TW_APSP_INF_I32 + 1, TW_I32},
                 {INT32_MAX, TW_I32},
                 {(int64_t)INT32_MAX + 1, TW_F64},
                 {INT32_MIN, TW_I32},
                 {(int64_t)INT32_MIN - 1, TW_F64},
                 {most, TW_F64},
                 {-most, TW_F64},
                 {TW_APSP_INF_I32, TW_I32}};
    const double mark = -1;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int marked = 0; marked < 2; marked++) {
            tw_graph *graph = NULL;
            int64_t entries[9] = {0, cases[k].weight, 4, 5, 0, 6, 7, 8, 0};
            tw_matrix matrix = square(entries, 3, 3, TW_I64);
            const bool kept = marked || cases[k].weight != TW_APSP_INF_I32;
            entries[2] = marked ? -1 : TW_APSP_INF_I32;
            entries[3] = marked ? -1 : INT64_MAX;
            assert_ok(ctx, tw_graph_from_matrix(ctx, &graph, &matrix, marked ? &mark : NULL, 0));
            assert_int_equal(graph->weight_type, kept ? cases[k].type : TW_I32);
            assert_int_equal(graph->arcs, kept ? 4 : 3);
            assert_true(!kept || twi_graph_weight(graph, 0) == (double)cases[k].weight);
            assert_true(twi_graph_weight(graph, graph->arcs - 1) == 8);
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

static void what_64_bits_hold_and_f64_does_not_is_refused_with_its_place(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const struct {
        int64_t entry;
        const char *words;
    } cases[] = {{((int64_t)1 << 53) + 1, "is 9007199254740993:"},
                 {-((int64_t)1 << 53) - 1, "is -9007199254740993:"},
                 {INT64_MAX - 1, "is 9223372036854775806:"},
                 {INT64_MIN, "is -9223372036854775808:"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tw_graph *graph = NULL;
        int64_t entries[4] = {0, 5, cases[k].entry, 0};
        tw_matrix matrix = square(entries, 2, 2, TW_I64);
        for (uint32_t flags = 0; flags <= TW_GRAPH_UNDIRECTED; flags++) {
            assert_fails(ctx, TW_ERR_RANGE, cases[k].words,
                         tw_graph_from_matrix(ctx, &graph, &matrix, NULL, flags));
            assert_non_null(strstr(tw_last_error(ctx), "row 1, column 0"));
        }
        const double mark = (double)INT64_MAX; /* the largest is meant, and nothing beside it */
        entries[2] = INT64_MAX;
        entries[1] = TW_APSP_INF_I32;
        assert_ok(ctx, tw_graph_from_matrix(ctx, &graph, &matrix, &mark, 0));
        assert_int_equal(graph->arcs, 1);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void the_empty_matrix_is_the_empty_graph(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    tw_matrix matrix = square(NULL, 0, 0, TW_I32);
    assert_ok(ctx, tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 0));
    assert_int_equal(graph->n, 0);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_matrix_without_memory_leaks_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    int32_t entries[4] = {0, 1, 2, 0};
    tw_matrix matrix = square(entries, 2, 2, TW_I32);
    for (int64_t k = 1;; k++) {
        tw_graph *graph = NULL;
        twi_meter_fail_at(ctx->meter, k);
        tw_status status = tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 0);
        twi_meter_fail_at(ctx->meter, 0);
        if (status == TW_OK) {
            tw_graph_destroy(graph);
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_empty_graph_and_the_single_vertex_exist),
        cmocka_unit_test(rows_keep_the_order_of_their_edges),
        cmocka_unit_test(an_undirected_edge_is_two_arcs),
        cmocka_unit_test(loops_go_unless_negative_and_infinite_edges_go),
        cmocka_unit_test(whole_floats_are_integral_only_within_i32),
        cmocka_unit_test(wrong_edges_are_refused_with_their_place),
        cmocka_unit_test(a_negative_undirected_edge_is_shown_as_a_cycle),
        cmocka_unit_test(any_thread_count_builds_the_same_graph),
        cmocka_unit_test(arcs_turned_round_are_the_same_for_any_thread_count),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
        cmocka_unit_test(what_cannot_fit_is_refused_before_it_is_taken),
        cmocka_unit_test(a_cancelled_build_stops),
        cmocka_unit_test(a_matrix_gives_an_edge_per_entry_below_infinity),
        cmocka_unit_test(narrow_matrices_become_i32_and_floats_stay),
        cmocka_unit_test(an_undirected_matrix_takes_the_least_of_both_entries),
        cmocka_unit_test(wrong_matrices_are_refused_with_their_place),
        cmocka_unit_test(a_matrix_of_64_bits_keeps_every_weight),
        cmocka_unit_test(what_64_bits_hold_and_f64_does_not_is_refused_with_its_place),
        cmocka_unit_test(the_empty_matrix_is_the_empty_graph),
        cmocka_unit_test(a_matrix_without_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
