/*
 * Work of a few elements wakes no team of threads: an array can have hundreds of thousands of
 * planes of one element, and on a busy machine a team takes longer to wake than all of them to
 * compute. Regions of more than one thread are counted as the runtime is asked for them; the names
 * are those that GCC calls.
 */
#include "harness.h"

#include <dlfcn.h>

static int64_t teams;

typedef void (*region_fn)(void *data);

void GOMP_parallel(region_fn run, void *data, unsigned threads, unsigned flags);
void GOMP_parallel(region_fn run, void *data, unsigned threads, unsigned flags)
{
    void (*next)(region_fn, void *, unsigned, unsigned);
    *(void **)&next = dlsym(RTLD_NEXT, "GOMP_parallel");
    teams += threads != 1;
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
        teams += threads != 1;                                                              \
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_work_wakes_a_team),
        cmocka_unit_test(small_work_wakes_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
