/*
 * Work of a few elements wakes no team of threads: an array can have hundreds of thousands of
 * planes of one element, and on a busy machine a team takes longer to wake than all of them to
 * compute. Regions of more than one thread are counted as the runtime is asked for them; the names
 * are those that GCC calls. And a run of shortest paths asks for the threads that its plan states.
 */
#include "harness.h"

#include <dlfcn.h>
#include <stdio.h>

static int64_t teams;
static unsigned widest; /* the threads of the largest */

static void count_team(unsigned threads)
{
    teams += threads != 1;
    widest = threads > widest ? threads : widest;
}

typedef void (*region_fn)(void *data);

void GOMP_parallel(region_fn run, void *data, unsigned threads, unsigned flags);
void GOMP_parallel(region_fn run, void *data, unsigned threads, unsigned flags)
{
    void (*next)(region_fn, void *, unsigned, unsigned);
    *(void **)&next = dlsym(RTLD_NEXT, "GOMP_parallel");
    count_team(threads);
    next(run, data, threads, flags);
}

#define LOOP(name)                                                                          \
    void name(region_fn run, void *data, unsigned threads, long first, long end, long step, \
              long chunk, unsigned flags);                                                  \
    void name(region_fn run, void *data, unsigned threads, long first, long end, long step, \
              long chunk, unsigned flags)                                                   \
    {                                                                                       \
        void (*next)(region_fn, void *, unsigned, long, long, long, long, unsigned);        \
        *(void **)&next = dlsym(RTLD_NEXT, #name);                                          \
        count_team(threads);                                                                \
        next(run, data, threads, first, end, step, chunk, flags);                           \
    }
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)

#define THREADS 3
#define SIDE 600

static uint8_t levels[SIDE * SIDE];
static float results[SIDE * SIDE];

static void map_square(tw_context *ctx, const char *text, int64_t side, bool through_a_sink)
{
    tw_matrix in = {levels, side, side, side, TW_U8};
    tw_matrix out = {results, side, side, side, TW_F32};
    const tw_shape shape = {side, side, TW_U8};
    tw_expr *expr = NULL;
    tw_map_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_expr_create(ctx, &expr, text, NULL));
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, &shape, 1, NULL));
    if (through_a_sink) {
        assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &out));
        assert_ok(ctx, tw_map_plan_run(ctx, plan, &in, 1, &sink, 1, NULL));
        tw_sink_destroy(&sink);
    } else {
        assert_ok(ctx, tw_map_plan_apply(ctx, plan, &out, &in, 1, NULL));
    }
    tw_map_plan_destroy(plan);
    tw_expr_destroy(expr);
}

static void entropy_of(tw_context *ctx, int64_t rows, int64_t cols)
{
    const tw_matrix in = {levels, rows, cols, cols, TW_U8};
    tw_matrix out = {results, rows, cols, cols, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.levels = 16; /* fewer than a byte has: they are checked */
    assert_ok(ctx, tw_entropy(ctx, &out, &in, &opts));
}

static void product_of(tw_context *ctx, int64_t side)
{
    static float left[SIDE * SIDE], right[SIDE * SIDE];
    const tw_matrix a = {left, side, side, side, TW_F32};
    const tw_matrix b = {right, side, side, side, TW_F32};
    tw_matrix c = {results, side, side, side, TW_F32};
    assert_ok(ctx, tw_minplus(ctx, &c, &a, &b));
}

static tw_context *context_with_team(void)
{
    tw_context *ctx = NULL;
    assert_int_equal(tw_context_create(&ctx), TW_OK);
    assert_ok(ctx, tw_set_threads(ctx, THREADS));
    return ctx;
}

/* That they can be counted, and that large work has a team. */
static void large_work_wakes_a_team(void **state)
{
    (void)state;
    tw_context *ctx = context_with_team();
    const char *const work[] = {"a map", "a table", "entropy", "a product"};
    for (int i = 0; i < 4; i++) {
        teams = 0;
        switch (i) {
        case 0:
            map_square(ctx, "x + row * col", SIDE, false);
            break;
        case 1:
            map_square(ctx, "sqrt(x)", SIDE, false);
            break;
        case 2:
            entropy_of(ctx, SIDE, SIDE);
            break;
        default:
            product_of(ctx, SIDE);
        }
        if (teams == 0) {
            fail_msg("%s: no team", work[i]);
        }
    }
    close_context(ctx);
}

static void small_work_wakes_none(void **state)
{
    (void)state;
    tw_context *ctx = context_with_team();
    map_square(ctx, "x + row * col", SIDE, false); /* the first of all asks how many there can be */
    teams = 0;
    for (int64_t side = 1; side <= 16; side++) {
        map_square(ctx, "x + row * col", side, false);
        map_square(ctx, "x", side, true);
        map_square(ctx, "sqrt(x)", side, true);
        entropy_of(ctx, side, side);
        entropy_of(ctx, side * side, 1);
        product_of(ctx, side);
        if (teams != 0) {
            fail_msg("%lld teams for work of %lld x %lld", (long long)teams, (long long)side,
                     (long long)side);
        }
    }
    close_context(ctx);
}

static tw_graph *grid(tw_context *ctx, int64_t vertices)
{
    tw_graph_generate_options options = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    options.kind = "grid";
    options.vertices = vertices;
    options.min_weight = options.max_weight = 1;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &options));
    return graph;
}

/* Whether a plan for so many sources (0: all) states the threads, and its run asks for them. */
static void check_threads(tw_context *ctx, tw_apsp_method method, int64_t vertices, int64_t sources,
                          int32_t threads)
{
    static int32_t list[64];
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_graph *graph = grid(ctx, vertices);
    tw_apsp_plan *plan = NULL;
    for (int32_t i = 0; i < 64; i++) {
        list[i] = i;
    }
    options.method = method;
    options.sources = sources > 0 ? list : NULL;
    options.source_count = sources;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    const tw_apsp_plan_info info = describe_plan(plan);
    char said[64];
    snprintf(said, sizeof said, "; %d thread%s, ", threads, threads == 1 ? "" : "s");
    widest = 1;
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, NULL, 0, NULL, &report));
    if (info.threads != threads || report.threads != threads || widest != (unsigned)threads ||
        strstr(tw_apsp_plan_explain(plan), said) == NULL) {
        fail_msg("%s, %lld vertices, %lld sources: %d threads planned, %d reported, %u used; %d "
                 "expected: %s",
                 tw_apsp_method_name(method), (long long)vertices, (long long)sources, info.threads,
                 report.threads, widest, threads, tw_apsp_plan_explain(plan));
    }
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
}

static void shortest_paths_use_the_threads_of_their_plan(void **state)
{
    (void)state;
    tw_context *ctx = context_with_team();
    map_square(ctx, "x + row * col", SIDE, false); /* the first of all asks how many there can be */
    check_threads(ctx, TW_APSP_METHOD_DIJKSTRA, 900, 0, THREADS);
    check_threads(ctx, TW_APSP_METHOD_DIJKSTRA, 900, 1, 1);
    check_threads(ctx, TW_APSP_METHOD_DIJKSTRA, 900, 2, 2);
    check_threads(ctx, TW_APSP_METHOD_DIJKSTRA, 900, 4, 2); /* of two each */
    check_threads(ctx, TW_APSP_METHOD_BFS, 900, 1, 1);
    check_threads(ctx, TW_APSP_METHOD_BFS, 900, 0, THREADS);
    check_threads(ctx, TW_APSP_METHOD_CLOSURE, 900, 0, THREADS);
    check_threads(ctx, TW_APSP_METHOD_CLOSURE, 16, 0, 1);
    check_threads(ctx, TW_APSP_METHOD_SWEEP, 900, 0, THREADS);
    check_threads(ctx, TW_APSP_METHOD_SWEEP, 2, 1, 1);
    check_threads(ctx, TW_APSP_METHOD_REFERENCE, 100, 0, 1);
    check_threads(ctx, TW_APSP_METHOD_AUTO, 36, 0, 1);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_work_wakes_a_team),
        cmocka_unit_test(small_work_wakes_none),
        cmocka_unit_test(shortest_paths_use_the_threads_of_their_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
