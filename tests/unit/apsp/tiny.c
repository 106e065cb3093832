/* Graphs so small that nothing is measured for them: the answers of the plain reference, on one
 * thread, by either way of the two that are weighed, in every type, with and without paths. */
#include "harness.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 4242 };

/* Every pair with a chance of `density`, weights from `low` to `low + spread`. */
static tw_graph *make_graph(tw_context *ctx, int32_t n, double density, int32_t low, int32_t spread)
{
    int32_t *from = malloc((size_t)n * (size_t)n * sizeof *from + 1);
    int32_t *to = malloc((size_t)n * (size_t)n * sizeof *to + 1);
    int32_t *weight = malloc((size_t)n * (size_t)n * sizeof *weight + 1);
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    for (int32_t u = 0; u < n; u++) {
        for (int32_t v = 0; v < n; v++) {
            uint64_t random = twi_random_at(SEED + (uint64_t)spread, (uint64_t)(u * n + v));
            if (u != v && twi_random_unit(random) < density) {
                from[edges.count] = u;
                to[edges.count] = v;
                weight[edges.count++] = low + (int32_t)(random % (uint64_t)(spread + 1));
            }
        }
    }
    edges.source = from;
    edges.target = to;
    edges.weight = weight;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, 0));
    free(from);
    free(to);
    free(weight);
    return graph;
}

static void solve(tw_context *ctx, const tw_graph *graph, tw_apsp_method method, tw_matrix *out)
{
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    opts.method = method;
    memset(out->data, 0x5a, (size_t)(out->rows * out->stride) * tw_type_size(out->type));
    assert_ok(ctx, tw_apsp(ctx, out, graph, &opts));
}

static void answers_are_those_of_the_reference(void **state)
{
    (void)state;
    static const int32_t sizes[] = {0, 1, 2, 3, 5, 16, 17, 33, 63, 64, 65};
    static const double densities[] = {0, 0.03, 0.1, 1}; /* rows pull, or tiles are closed */
    static const int32_t spreads[] = {0, 3, 900, 20000}; /* worked in u8, u16 and i32 */
    static const tw_type types[] = {TW_U16, TW_I32, TW_F32, TW_F64};
    print_message("seed %d\n", SEED);
    tw_context *ctx = open_context();
    for (int i = 0; i < 11 * 4 * 4; i++) {
        const int32_t n = sizes[i / 16];
        if (small_sizes_only() && (n == 16 || n == 63 || i / 4 % 4 == 2)) {
            continue;
        }
        tw_graph *graph =
            make_graph(ctx, n, densities[i / 4 % 4], i % 4 == 0 ? 1 : 0, spreads[i % 4]);
        for (int t = spreads[i % 4] > 900 ? 1 : 0; t < 4; t++) {
            const size_t bytes = (size_t)(n * (n + 2)) * 8 + 8;
            tw_matrix got = {malloc(bytes), n, n, n + 2, types[t]};
            tw_matrix want = {malloc(bytes), n, n, n + 2, types[t]};
            solve(ctx, graph, TW_APSP_METHOD_AUTO, &got);
            solve(ctx, graph, TW_APSP_METHOD_REFERENCE, &want);
            assert_memory_equal(got.data, want.data,
                                (size_t)(n * (n + 2)) * tw_type_size(types[t]));
            free(got.data);
            free(want.data);
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* The longest paths that there can be, through vertices in any order, open and closed: one more
 * pass for every turn of the numbers. */
static void chains_in_any_order_are_followed_to_their_end(void **state)
{
    (void)state;
    enum { N = 64 };
    tw_context *ctx = open_context();
    for (uint64_t seed = 1; seed <= 12; seed++) {
        int32_t order[N] = {0}, from[N], to[N], weight[N];
        int32_t got[N * N], want[N * N];
        tw_matrix out = {got, N, N, N, TW_I32}, right = {want, N, N, N, TW_I32};
        tw_edges edges = TW_EDGES_INIT;
        tw_graph *graph = NULL;
        for (int32_t i = 0; i < N; i++) {
            const int32_t j =
                (int32_t)twi_random_below(twi_random_at(seed, (uint64_t)i), (uint64_t)i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (int32_t i = 0; i < N; i++) {
            from[i] = order[i];
            to[i] = order[(i + 1) % N];
            weight[i] = 1 + (int32_t)(twi_random_at(seed, (uint64_t)(N + i)) % 2000);
        }
        edges.source = from;
        edges.target = to;
        edges.weight = weight;
        edges.count = seed % 2 == 0 ? N : N - 1;
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges,
                                           seed % 3 == 0 ? TW_GRAPH_UNDIRECTED : 0));
        solve(ctx, graph, TW_APSP_METHOD_AUTO, &out);
        solve(ctx, graph, TW_APSP_METHOD_REFERENCE, &right);
        assert_memory_equal(got, want, sizeof got);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void nothing_is_measured_and_one_thread_is_enough(void **state)
{
    (void)state;
    static const int32_t source = 5;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 3));
    for (int32_t n = 63; n <= 66; n++) {
        for (int dense = 0; dense < 2; dense++) {
            tw_graph *graph = make_graph(ctx, n, dense ? 1 : 0.02, 1, 9);
            tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
            opts.sources = dense ? NULL : &source;
            opts.source_count = dense ? 0 : 1;
            tw_apsp_plan *plan = NULL;
            tw_apsp_plan_info info = TW_APSP_PLAN_INFO_INIT;
            assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &opts));
            assert_ok(ctx, tw_apsp_plan_describe(plan, &info));
            const bool said = strstr(tw_apsp_plan_explain(plan), "not considered for") != NULL;
            assert_true(said == (n <= 64));
            if (n <= 64) {
                assert_int_equal(info.method,
                                 dense ? TW_APSP_METHOD_CLOSURE : TW_APSP_METHOD_DIJKSTRA);
            }
            tw_apsp_plan_destroy(plan);
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

/* Negative weights, a cutoff, selections: what the other ways have, these have. */
static void options_count_for_the_smallest_too(void **state)
{
    (void)state;
    static const int32_t sources[] = {3, 0, 3};
    static const int32_t targets[] = {1, 39, 2, 1};
    tw_context *ctx = open_context();
    for (int way = 0; way < 8; way++) {
        tw_graph *graph = make_graph(ctx, 40, way & 1 ? 1 : 0.1, 0, 50);
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        int32_t got[12], want[12];
        tw_matrix out = {got, 3, 4, 4, TW_I32}, right = {want, 3, 4, 4, TW_I32};
        opts.sources = sources;
        opts.source_count = 3;
        opts.targets = targets;
        opts.target_count = 4;
        opts.cutoff = way & 2 ? 20 : -1;
        opts.work_type = way & 4 ? TW_I32 : TW_AUTO;
        assert_ok(ctx, tw_apsp(ctx, &out, graph, &opts));
        opts.method = TW_APSP_METHOD_REFERENCE;
        opts.work_type = TW_AUTO;
        assert_ok(ctx, tw_apsp(ctx, &right, graph, &opts));
        assert_memory_equal(got, want, sizeof got);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_the_reference),
        cmocka_unit_test(chains_in_any_order_are_followed_to_their_end),
        cmocka_unit_test(nothing_is_measured_and_one_thread_is_enough),
        cmocka_unit_test(options_count_for_the_smallest_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
