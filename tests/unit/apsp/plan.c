/*
 * What a plan promises: the memory that the run then holds, counted byte by byte, for every method
 * and type, and a way out where the time is out of reach.
 */
#include "harness.h"

#include "apsp/plan/estimate.h"
#include "apsp/plan/screen.h"
#include "gpu/device.h"

#include <string.h>

static tw_graph *generate(tw_context *ctx, const char *kind, int64_t n, double low, double high,
                          tw_type type)
{
    tw_graph_generate_options options = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    options.kind = kind;
    options.vertices = n;
    options.min_weight = low;
    options.max_weight = high;
    options.weight_type = type;
    options.degree = 4;
    options.density = 0.2;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &options));
    return graph;
}

/* Never more than was planned, but for the headers of blocks; and not so much less that a run is
 * refused which would fit. A plan for levels of 16 bits may find that 8 do. */
static void check_memory(tw_context *ctx, const tw_graph *graph, tw_apsp_method method,
                         tw_type type, int32_t block)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_apsp_plan *plan = NULL;
    options.method = method;
    options.type = type;
    options.block = block;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, NULL, 0, NULL, &report));
    double planned = (double)describe_plan(plan).memory;
    double held = (double)report.memory_peak;
    double slack = 128 << 10;
    double most = describe_plan(plan).method == TW_APSP_METHOD_BFS ? 2.0 : 1.1;
    /* A wider type than the first is more than can be foreseen. */
    bool foreseen = report.attempts == 1 && report.work_type == describe_plan(plan).work_type;
    if (foreseen && (held > planned * 1.01 + slack || planned > most * held + slack)) {
        fail_msg("%s, %s, block %d, %d threads: %.0f bytes planned, %.0f held",
                 tw_apsp_method_name(method), tw_type_name(type), block, tw_threads(ctx), planned,
                 held);
    }
    tw_apsp_plan_destroy(plan);
}

/* With a file of text, whose lines are held besides. When they are, other memory may have gone. */
static void check_memory_with_csv(tw_context *ctx, const tw_graph *graph, int64_t n,
                                  tw_apsp_method method, tw_type type)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    options.method = method;
    options.type = type;
    assert_ok(ctx, tw_sink_to_file(ctx, &sink, "/dev/null", "csv"));
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
    const tw_apsp_plan_info info = describe_plan(plan);
    const tw_shape shape = {n, n, info.type};
    const uint64_t lines = tw_sink_memory(&sink, &shape);
    const double held = (double)report.memory_peak;
    const double planned = (double)(info.memory + lines);
    assert_true(lines >= (uint64_t)n);
    if (report.attempts == 1 && report.work_type == info.work_type &&
        held > planned * 1.01 + (128 << 10)) {
        fail_msg("%s, %s into csv, %d threads: %.0f bytes planned, %.0f held",
                 tw_apsp_method_name(method), tw_type_name(type), tw_threads(ctx), planned, held);
    }
    if (method == TW_APSP_METHOD_DIJKSTRA && planned > 1.1 * held + (128 << 10)) {
        fail_msg("%.0f bytes planned into csv, %.0f held", planned, held);
    }
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
}

/* Of every method, and of a graph that has not been read. */
static void what_sinks_take_besides_is_in_the_plan(void **state)
{
    (void)state;
    static const tw_apsp_method methods[] = {TW_APSP_METHOD_CLOSURE, TW_APSP_METHOD_DIJKSTRA,
                                             TW_APSP_METHOD_BFS, TW_APSP_METHOD_SWEEP,
                                             TW_APSP_METHOD_REFERENCE};
    const uint64_t beside = (uint64_t)3 << 20;
    tw_context *ctx = open_context();
    tw_graph *graph = generate(ctx, "grid", 100, 1, 1, TW_I32);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        uint64_t planned[2], least[2];
        options.method = methods[i];
        for (int with = 0; with < 2; with++) {
            tw_apsp_plan *plan = NULL;
            options.beside = with ? beside : 0;
            assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
            planned[with] = describe_plan(plan).memory;
            tw_apsp_plan_destroy(plan);
            assert_ok(ctx, tw_apsp_least_memory(ctx, &least[with], 100, 400, TW_I32, &options));
        }
        assert_int_equal(planned[1], planned[0] + beside);
        assert_int_equal(least[1], least[0] + beside);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* The matrix is the closure's and the reference's alone. */
static void only_methods_with_a_matrix_need_one_for_a_graph_that_was_not_read(void **state)
{
    (void)state;
    const int64_t n = 100000;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    for (tw_apsp_method method = 0; method <= TW_APSP_METHOD_SWEEP; method++) {
        const bool matrix = method == TW_APSP_METHOD_CLOSURE || method == TW_APSP_METHOD_REFERENCE;
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        uint64_t bytes = 0;
        options.method = method;
        assert_ok(ctx, tw_apsp_least_memory(ctx, &bytes, n, 4 * n, TW_I32, &options));
        assert_int_equal((double)bytes > (double)n * (double)n, matrix);
    }
    close_context(ctx);
}

static void a_run_holds_the_memory_that_was_planned(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        int64_t n;
        double low, high;
        tw_type weights, type;
    } cases[] = {
        {"sparse", 700, 1, 9, TW_I32, TW_I32},        {"sparse", 700, 1, 60000, TW_I32, TW_I32},
        {"sparse", 700, 1, 1, TW_I32, TW_U8},         {"grid", 900, 1, 1000, TW_I32, TW_I32},
        {"dense", 700, 1, 1000, TW_I32, TW_I32},      {"dense", 500, 0, 1, TW_F32, TW_F32},
        {"preferential", 700, 0, 1, TW_F64, TW_F64},  {"sparse", 3000, 1, 9, TW_I32, TW_F64},
        {"preferential", 3000, 1, 1, TW_I32, TW_I32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t most = emulated_sizes_only() ? 150 : small_sizes_only() ? 300 : INT64_MAX;
        const int64_t n = cases[i].n > most ? most : cases[i].n;
        for (int threads = 1; threads <= 3; threads += 2) {
            tw_context *ctx = open_context();
            assert_ok(ctx, tw_set_threads(ctx, threads));
            tw_graph *graph =
                generate(ctx, cases[i].kind, n, cases[i].low, cases[i].high, cases[i].weights);
            check_memory(ctx, graph, TW_APSP_METHOD_AUTO, cases[i].type, 0);
            check_memory(ctx, graph, TW_APSP_METHOD_DIJKSTRA, cases[i].type, 0);
            if (threads > 1 && cases[i].type != TW_U8) {
                check_memory_with_csv(ctx, graph, n, TW_APSP_METHOD_DIJKSTRA, cases[i].type);
            }
            if (threads > 1 && n < 1000) {
                check_memory_with_csv(ctx, graph, n, TW_APSP_METHOD_CLOSURE, cases[i].type);
            }
            check_memory(ctx, graph, TW_APSP_METHOD_SWEEP, cases[i].type, 0);
            if (n < 1000) { /* larger ones take too long for every build */
                check_memory(ctx, graph, TW_APSP_METHOD_CLOSURE, cases[i].type, 0);
                check_memory(ctx, graph, TW_APSP_METHOD_CLOSURE, cases[i].type, 512);
                check_memory(ctx, graph, TW_APSP_METHOD_REFERENCE, cases[i].type, 0);
            }
            if (cases[i].low == cases[i].high) {
                check_memory(ctx, graph, TW_APSP_METHOD_BFS, cases[i].type, 0);
            }
            tw_graph_destroy(graph);
            close_context(ctx);
        }
    }
}

/* The search that tells how far distances reach takes long where there are many arcs. */
/* Of four vertices every type has rows of one strip; into f32 only narrow types go unchecked. */
static void narrow_types_are_for_fewer_strips(void **state)
{
    static const struct {
        int64_t n;
        tw_type type, work;
    } cases[] = {
        {300, TW_I32, TW_U8}, {4, TW_I32, TW_I32}, {4, TW_F64, TW_I32}, {4, TW_F32, TW_U16}};
    (void)state;
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_graph *graph = generate(ctx, "complete", cases[i].n, 1, 2, TW_I32);
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        tw_apsp_plan *plan = NULL;
        options.method = cases[i].n > 4 ? TW_APSP_METHOD_CLOSURE : TW_APSP_METHOD_AUTO;
        options.type = cases[i].type;
        assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
        assert_int_equal(describe_plan(plan).method, TW_APSP_METHOD_CLOSURE);
        assert_int_equal(describe_plan(plan).work_type, cases[i].work);
        tw_apsp_plan_destroy(plan);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* A ring, but for the middle vertex, from which the plan's search gets nowhere: no type is planned
 * that the lightest arc would not fit into. */
static void a_vertex_that_reaches_nothing_does_not_tell_how_far_others_reach(void **state)
{
    (void)state;
    enum { N = 300 };
    tw_context *ctx = open_context();
    int32_t ends[2][N], weights[N], count = 0;
    for (int32_t v = 0; v < N; v++) {
        if (v != N / 2) {
            ends[0][count] = v;
            ends[1][count] = v == N / 2 - 1 ? v + 2 : (v + 1) % N;
            weights[count++] = 7;
        }
    }
    ends[0][count] = 3;
    ends[1][count] = N / 2;
    weights[count++] = 9;
    const tw_edges list = {sizeof list, count, ends[0], ends[1], weights, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &list, 0));
    for (int m = 0; m < 2; m++) {
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        tw_apsp_report report = TW_APSP_REPORT_INIT;
        tw_apsp_plan *plan = NULL;
        options.method = m == 0 ? TW_APSP_METHOD_CLOSURE : TW_APSP_METHOD_SWEEP;
        assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
        assert_int_equal(describe_plan(plan).work_type, TW_U16);
        assert_ok(ctx, tw_apsp_plan_run(ctx, plan, NULL, 0, NULL, &report));
        assert_int_equal(report.attempts, 1);
        tw_apsp_plan_destroy(plan);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_cancelled_plan_stops(void **state)
{
    tw_graph_generate_options o = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    tw_apsp_plan *plan = NULL;
    (void)state;
    o.kind = "complete";
    opts.method = TW_APSP_METHOD_CLOSURE;
    for (o.vertices = 4; o.vertices <= 200; o.vertices += 196) {
        assert_ok(ctx, tw_graph_generate(ctx, &graph, &o));
        tw_cancel(ctx);
        assert_int_equal(tw_apsp_plan_create(ctx, &plan, graph, &opts), TW_ERR_CANCELLED);
        assert_null(plan);
        tw_clear_cancel(ctx);
        assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &opts));
        tw_apsp_plan_destroy(plan);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void potentials_are_planned_for(void **state)
{
    (void)state;
    enum { N = 900 };
    tw_context *ctx = open_context();
    int32_t from[N];
    int32_t to[N];
    int32_t weight[N];
    for (int i = 0; i < N; i++) { /* forward: no cycle */
        from[i] = i * 7 % (N - 1);
        to[i] = from[i] + 1 + i % (N - 1 - from[i]);
        weight[i] = i % 5 - 2;
    }
    tw_edges edges = {sizeof edges, N, from, to, weight, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, 0));
    check_memory(ctx, graph, TW_APSP_METHOD_DIJKSTRA, TW_I32, 0);
    check_memory(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_I32, 0);
    check_memory(ctx, graph, TW_APSP_METHOD_SWEEP, TW_I32, 0);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_plan_of_hours_says_how_to_do_less(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    int32_t from = 0;
    int32_t to = 1;
    tw_edges edges = {sizeof edges, 1, &from, &to, NULL, TW_I32, TW_I32};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_graph *graph = NULL;
    tw_apsp_plan *plan = NULL;
    options.method = TW_APSP_METHOD_REFERENCE; /* n^3 on one thread, on every machine */
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 13000, &edges, 0));
    assert_ok(ctx, tw_set_memory(ctx, (uint64_t)8 << 30)); /* nothing is taken of it */
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_true(describe_plan(plan).seconds > 3600);
    assert_non_null(strstr(tw_apsp_plan_explain(plan), "more than an hour"));
    const bool has_gpu_code = twi_gpu_prefix()[0] != '\0';
    assert_true((strstr(tw_apsp_plan_explain(plan), "use a GPU") != NULL) == has_gpu_code);
    assert_non_null(strstr(tw_apsp_plan_explain(plan), "sources"));
    assert_non_null(strstr(tw_apsp_plan_explain(plan), "cutoff"));
    tw_apsp_plan_destroy(plan);
    options.method = TW_APSP_METHOD_AUTO; /* one arc: done at once */
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_null(strstr(tw_apsp_plan_explain(plan), "more than an hour"));
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Roads and meshes are long, networks wide; a star is all periphery, arcs that lead away from where
 * the search begins tell nothing. */
static void a_look_tells_roads_from_networks(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    enum { N = 400 };
    int32_t from[N], to[N];
    tw_edges edges = {sizeof edges, N - 1, from, to, NULL, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    twi_screen seen;
    for (int32_t i = 0; i < N - 1; i++) { /* all from the vertex where a search begins */
        from[i] = N / 2;
        to[i] = i < N / 2 ? i : i + 1;
    }
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, TW_GRAPH_UNDIRECTED));
    assert_ok(ctx, twi_screen_graph(ctx, graph, true, &seen));
    assert_true(seen.widest == (N - 1) / (double)N && seen.low == (N - 1) / (double)N);
    tw_graph_destroy(graph);
    edges.source = to; /* and all to it: nothing is reached, and its arcs count */
    edges.target = from;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, 0));
    assert_ok(ctx, twi_screen_graph(ctx, graph, false, &seen));
    assert_true(seen.widest == 0 && seen.low == (N - 1) / (double)N);
    tw_graph_destroy(graph);
    static const struct {
        const char *kind;
        double widest_least, widest_most, low_least, low_most;
    } kinds[] = {{"grid", 0, 0.08, 0.99, 1},
                 {"sparse", 0.15, 1, 0, 0.2},
                 {"preferential", 0.15, 1, 0, 0.6},
                 {"complete", 0.9, 1, 0, 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        graph = generate(ctx, kinds[i].kind, 3600, 1, 9, TW_I32);
        assert_ok(ctx, twi_screen_graph(ctx, graph, i != 1, &seen));
        if (seen.widest < kinds[i].widest_least || seen.widest > kinds[i].widest_most ||
            seen.low < kinds[i].low_least || seen.low > kinds[i].low_most) {
            fail_msg("%s: widest %.3f, low %.3f", kinds[i].kind, seen.widest, seen.low);
        }
        tw_graph_destroy(graph);
    }
    edges.count = 0;
    for (int64_t n = 0; n < 2; n++) {
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, 0));
        assert_ok(ctx, twi_screen_graph(ctx, graph, false, &seen));
        assert_true(seen.widest == (double)n && seen.low == (double)n);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static double rate_of(int threads)
{
    tw_context *ctx = open_context();
    twi_isa isa;
    double rate = 0;
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    assert_ok(ctx, twi_kernel_rate(ctx, twi_minplus_kernel_find(isa, TW_F64), threads, &rate));
    assert_true(rate > 0);
    close_context(ctx);
    return rate;
}

/* Of two measurements no two have the same bits, unless the second one is the first. On a machine
 * where seconds pass between two lines the first may have grown old. */
static void a_rate_is_measured_once_for_all_contexts(void **state)
{
    (void)state;
    bool once = false;
    for (int i = 0; i < 20 && !once; i++) {
        const double first = rate_of(1), of_two = rate_of(2);
        once = rate_of(1) == first && of_two != first;
    }
    assert_true(once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_sinks_take_besides_is_in_the_plan),
        cmocka_unit_test(only_methods_with_a_matrix_need_one_for_a_graph_that_was_not_read),
        cmocka_unit_test(a_run_holds_the_memory_that_was_planned),
        cmocka_unit_test(narrow_types_are_for_fewer_strips),
        cmocka_unit_test(a_vertex_that_reaches_nothing_does_not_tell_how_far_others_reach),
        cmocka_unit_test(a_cancelled_plan_stops),
        cmocka_unit_test(potentials_are_planned_for),
        cmocka_unit_test(a_plan_of_hours_says_how_to_do_less),
        cmocka_unit_test(a_look_tells_roads_from_networks),
        cmocka_unit_test(a_rate_is_measured_once_for_all_contexts),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
