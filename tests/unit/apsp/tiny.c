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

/* Arcs of a graph without a negative cycle, from potentials: weights in quarters for floats, whose
 * sums are exact so. A third of all cycles have the weight 0 where `spread` is 0. */
static tw_graph *make_signed(tw_context *ctx, int32_t n, double density, int32_t spread,
                             tw_type type, double unit)
{
    const size_t room = (size_t)n * (size_t)n + 1;
    int32_t *from = malloc(room * sizeof *from), *to = malloc(room * sizeof *to);
    void *weight = malloc(room * sizeof(double));
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    for (int32_t u = 0; u < n; u++) {
        for (int32_t v = 0; v < n; v++) {
            const uint64_t random = twi_random_at(SEED + 7, (uint64_t)(u * n + v));
            if (u == v || twi_random_unit(random) >= density) {
                continue;
            }
            const double deep = (double)(twi_random_at(SEED, (uint64_t)u) % 101) -
                                (double)(twi_random_at(SEED, (uint64_t)v) % 101);
            const double w = (deep + (double)(random % (uint64_t)(spread + 1))) * unit;
            from[edges.count] = u;
            to[edges.count] = v;
            if (type == TW_I32) {
                ((int32_t *)weight)[edges.count++] = (int32_t)w;
            } else if (type == TW_F32) {
                ((float *)weight)[edges.count++] = (float)w;
            } else {
                ((double *)weight)[edges.count++] = w;
            }
        }
    }
    edges.source = from;
    edges.target = to;
    edges.weight = weight;
    edges.weight_type = type;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, 0));
    free(from);
    free(to);
    free(weight);
    return graph;
}

static void negative_weights_have_the_answers_of_the_reference(void **state)
{
    (void)state;
    static const int32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 17, 31, 33, 48, 63, 64, 65};
    static const double densities[] = {0.05, 0.3, 1};
    static const struct {
        tw_type weight, result;
        double unit;
    } kinds[] = {
        {TW_I32, TW_I32, 1},        {TW_I32, TW_I32, 10000},   {TW_I32, TW_I32, 1000000},
        {TW_I32, TW_F64, 1},        {TW_I32, TW_F32, 1},       {TW_F32, TW_F32, 0.25},
        {TW_F32, TW_F64, 0.25},     {TW_F64, TW_F64, 0.25},    {TW_F64, TW_F64, 1},
        {TW_F64, TW_F64, 0x1p1000}, {TW_F32, TW_F32, 0x1p-30}, {TW_F64, TW_F64, 0x1p40},
    };
    tw_context *ctx = open_context();
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
        const int32_t n = sizes[size];
        if (small_sizes_only() && size % 4 != 1) {
            continue;
        }
        for (size_t i = 0; i < 3 * sizeof kinds / sizeof *kinds; i++) {
            const size_t k = i / 3;
            tw_graph *graph = make_signed(ctx, n, densities[i % 3], n % 3 == 0 ? 0 : 50,
                                          kinds[k].weight, kinds[k].unit);
            const size_t bytes = (size_t)(n * (n + 2)) * 8;
            tw_matrix got = {malloc(bytes), n, n, n + 2, kinds[k].result};
            tw_matrix want = {malloc(bytes), n, n, n + 2, kinds[k].result};
            solve(ctx, graph, TW_APSP_METHOD_AUTO, &got);
            solve(ctx, graph, TW_APSP_METHOD_REFERENCE, &want);
            assert_memory_equal(got.data, want.data,
                                (size_t)(n * (n + 2)) * tw_type_size(kinds[k].result));
            free(got.data);
            free(want.data);
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

/* Found by a call or by a plan, it is shown in the same words. The diagonals of many cycles wrap in
 * i32 and leave f64. */
static void a_negative_cycle_is_told_as_a_plan_tells_it(void **state)
{
    (void)state;
    static const tw_type types[] = {TW_I32, TW_F32, TW_F64};
    tw_context *ctx = open_context();
    for (int way = 0; way < 24; way++) {
        const tw_type type = types[way % 3];
        const int32_t n = 3 + way * 2;
        tw_graph *graph = NULL;
        tw_apsp_plan *plan = NULL;
        tw_edges edges = TW_EDGES_INIT;
        int32_t *from = malloc(sizeof *from * 4096), *to = malloc(sizeof *to * 4096);
        double *weight = malloc(sizeof *weight * 4096);
        for (int32_t u = 0; u < n; u++) {
            for (int32_t v = way % 2 ? 0 : u + 1; v < (way % 2 ? n : u + 2); v++) {
                const int32_t at = (int32_t)edges.count++;
                const double w = way % 2 ? -100000.0 - u - v : u == n / 2 ? -4.0 * n : 3;
                from[at] = u;
                to[at] = v % n;
                if (type == TW_I32) {
                    ((int32_t *)weight)[at] = (int32_t)w;
                } else if (type == TW_F32) {
                    ((float *)weight)[at] = (float)(w + 0.5);
                } else {
                    weight[at] = w + 0.3;
                }
            }
        }
        edges.source = from;
        edges.target = to;
        edges.weight = weight;
        edges.weight_type = type;
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, 0));
        char *told = NULL;
        assert_int_equal(tw_apsp_plan_create(ctx, &plan, graph, NULL), TW_ERR_NEGATIVE_CYCLE);
        told = strdup(tw_last_error(ctx));
        void *data = malloc((size_t)(n * n) * 8);
        memset(data, 0x5a, (size_t)(n * n) * 8);
        tw_matrix out = {data, n, n, n, type};
        assert_int_equal(tw_apsp(ctx, &out, graph, NULL), TW_ERR_NEGATIVE_CYCLE);
        assert_string_equal(tw_last_error(ctx), told);
        assert_int_equal(((const unsigned char *)data)[0], 0x5a); /* left as it was */
        free(told);
        free(data);
        free(from);
        free(to);
        free(weight);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void a_cycle_of_zero_that_rounding_makes_negative_is_none(void **state)
{
    (void)state;
    static const int32_t from[] = {0, 1, 2, 3, 3}, to[] = {1, 2, 0, 0, 3};
    static const double weight[] = {0.1, 0.2, -0.30000000000000004, -7, -0.0};
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    double got[16];
    tw_matrix out = {got, 4, 4, 4, TW_F64};
    tw_context *ctx = open_context();
    for (int turn = 0; turn < 2; turn++) { /* 0.3 is less than what 0.1 + 0.2 rounds to */
        double w[5];
        memcpy(w, weight, sizeof w);
        w[2] = turn == 0 ? -0.3 : weight[2];
        edges.count = 5;
        edges.source = from;
        edges.target = to;
        edges.weight = w;
        edges.weight_type = TW_F64;
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 4, &edges, 0));
        solve(ctx, graph, TW_APSP_METHOD_AUTO, &out);
        for (int i = 0; i < 4; i++) {
            assert_true(fabs(got[5 * i]) < 1e-15);
            assert_true(i == 3 || got[4 * i + 3] == (double)INFINITY);
        }
        assert_true(fabs(got[1 * 4 + 0] + 0.1) < 1e-15 && fabs(got[3 * 4 + 2] + 6.7) < 1e-14);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* Floats of few arcs: pulled, or half of the tile closed. Within the bound of the reference; where
 * edges have no direction, the closure's bits, the same there and back. */
static void floats_of_few_arcs_are_those_of_the_reference(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int32_t n = 31; n <= 66; n += small_sizes_only() ? 33 : 3) {
        for (int way = 0; way < 8; way++) {
            enum { MOST = 66 * 66 };
            const tw_type type = way & 1 ? TW_F32 : TW_F64;
            const bool undirected = (way & 2) != 0;
            const double density = way & 4 ? 0.4 : 3.0 / n;
            int32_t *from = malloc(MOST * sizeof *from), *to = malloc(MOST * sizeof *to);
            double *weight = malloc(MOST * sizeof *weight);
            tw_edges edges = TW_EDGES_INIT;
            tw_graph *graph = NULL;
            for (int32_t i = 0; i < n * n; i++) {
                const uint64_t random = twi_random_at(SEED, (uint64_t)(way * MOST + i));
                const int32_t at = (int32_t)edges.count;
                if (twi_random_unit(random) >= density || (undirected && i / n >= i % n)) {
                    continue;
                }
                from[at] = i / n;
                to[at] = i % n;
                if (type == TW_F32) {
                    ((float *)weight)[at] = (float)(random % 1000) / 7;
                } else {
                    weight[at] = (double)(random % 1000) / 7;
                }
                edges.count++;
            }
            edges.source = from;
            edges.target = to;
            edges.weight = weight;
            edges.weight_type = type;
            assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges,
                                               undirected ? TW_GRAPH_UNDIRECTED : 0));
            const size_t bytes = (size_t)(n * n) * tw_type_size(type);
            tw_matrix got = {malloc(bytes), n, n, n, type};
            tw_matrix want = {malloc(bytes), n, n, n, type};
            solve(ctx, graph, TW_APSP_METHOD_AUTO, &got);
            solve(ctx, graph, TW_APSP_METHOD_REFERENCE, &want);
            const double bound = n * (type == TW_F32 ? 0x1p-22 : 0x1p-51);
            for (int32_t i = 0; i < n * n; i++) {
                const double x = type == TW_F32 ? ((float *)got.data)[i] : ((double *)got.data)[i];
                const double y =
                    type == TW_F32 ? ((float *)want.data)[i] : ((double *)want.data)[i];
                assert_true(isinf(x) == isinf(y) && (isinf(x) || fabs(x - y) <= bound * y));
            }
            solve(ctx, graph, TW_APSP_METHOD_CLOSURE, &want);
            for (int32_t i = 0; i < n * n && undirected && n <= 64; i++) {
                const size_t size = tw_type_size(type), back = (size_t)(i % n * n + i / n);
                assert_memory_equal((char *)got.data + (size_t)i * size,
                                    (char *)want.data + (size_t)i * size, size);
                assert_memory_equal((char *)got.data + (size_t)i * size,
                                    (char *)got.data + back * size, size);
            }
            free(got.data);
            free(want.data);
            free(from);
            free(to);
            free(weight);
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

/* Arcs that rise, fall and have parallels, loops among them. */
static void rows_of_arcs_in_any_order_are_laid_out_alike(void **state)
{
    (void)state;
    enum { N = 40 };
    static const tw_type types[] = {TW_I32, TW_F32, TW_F64};
    tw_context *ctx = open_context();
    for (int way = 0; way < 27; way++) {
        int32_t from[4 * N * N], to[4 * N * N], whole[4 * N * N];
        float f32[4 * N * N];
        double f64[4 * N * N];
        double got[N * N], want[N * N];
        const tw_type type = types[way % 3];
        tw_matrix out = {got, N, N, N, type}, right = {want, N, N, N, type};
        tw_edges edges = TW_EDGES_INIT;
        tw_graph *graph = NULL;
        for (int32_t i = 0; i < N * N * (way / 9 + 1); i++) {
            const int32_t place = i % (N * N), u = place / N, last = N - 1;
            const int32_t v = way / 3 % 3 == 1 && u % 2 ? last - place % N : place % N;
            const uint64_t random = twi_random_at(SEED + (uint64_t)way, (uint64_t)i);
            if (u == v && way / 3 % 3 != 2) {
                continue;
            }
            const int64_t at = edges.count++;
            from[at] = u;
            to[at] = v;
            whole[at] = (int32_t)(random % 90);
            f32[at] = (float)whole[at] + 0.5f;
            f64[at] = whole[at] + (way % 2 ? 0.25 : 0);
        }
        edges.source = from;
        edges.target = to;
        edges.weight = type == TW_I32 ? (void *)whole : type == TW_F32 ? (void *)f32 : (void *)f64;
        edges.weight_type = type;
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, 0));
        solve(ctx, graph, TW_APSP_METHOD_CLOSURE, &out);
        solve(ctx, graph, TW_APSP_METHOD_REFERENCE, &right);
        assert_memory_equal(got, want, (size_t)(N * N) * tw_type_size(type));
        tw_graph_destroy(graph);
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
        cmocka_unit_test(negative_weights_have_the_answers_of_the_reference),
        cmocka_unit_test(a_negative_cycle_is_told_as_a_plan_tells_it),
        cmocka_unit_test(a_cycle_of_zero_that_rounding_makes_negative_is_none),
        cmocka_unit_test(floats_of_few_arcs_are_those_of_the_reference),
        cmocka_unit_test(rows_of_arcs_in_any_order_are_laid_out_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
