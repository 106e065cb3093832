/*
 * Plans of local entropy: made once for a shape, run over many arrays. Every run is compared with
 * the definition (entropy/reference.h), which knows nothing of plans.
 */
#include "harness.h"

#include "base/context.h"
#include "base/random.h"
#include "entropy/cpu/permute.h"
#include "entropy/plan/prepare.h"
#include "entropy/reference.h"

#include <math.h>
#include <string.h>

#define ROWS 37
#define COLS 41
#define ELEMENTS (ROWS * COLS)
#define POISON 0xA5

static void fill(uint8_t *data, int32_t levels, uint64_t seed)
{
    for (int64_t i = 0; i < ELEMENTS; i++) {
        data[i] = (uint8_t)twi_random_below(twi_random_at(seed, (uint64_t)i), (uint64_t)levels);
    }
}

/* The entropies of `in` by the definition. */
static void define(tw_context *ctx, const tw_matrix *in, const tw_entropy_options *opts, void *out)
{
    static double real[ELEMENTS];
    twi_entropy_setup setup;
    assert_ok(ctx, twi_entropy_prepare(ctx, &setup, in, opts, TWI_ENTROPY_AUTO));
    assert_ok(ctx, twi_reference_entropy(ctx, &setup, real, out));
    twi_entropy_clear(&setup);
}

/* NaN and numbers, by their bits. */
static void assert_same(const void *got, const void *want, size_t count, tw_type type)
{
    for (size_t i = 0; i < count; i++) {
        const double a = twi_element(got, type, (int64_t)i);
        const double b = twi_element(want, type, (int64_t)i);
        if (!(a == b || (isnan(a) && isnan(b)))) {
            fail_msg("element %zu is %.17g, the definition gives %.17g", i, a, b);
        }
    }
}

typedef struct giver {
    const tw_matrix *matrix;
} giver;

static tw_status give_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                           int64_t stride)
{
    const tw_matrix *m = ((giver *)self)->matrix;
    (void)ctx;
    for (int64_t i = 0; i < count; i++) {
        memcpy((uint8_t *)data + i * stride, twi_matrix_row(m, first + i), (size_t)m->cols);
    }
    return TW_OK;
}

/* The three ways of running a plan over one array. */
static void run_all_ways(tw_context *ctx, tw_entropy_plan *plan, const tw_matrix *in,
                         const tw_entropy_options *opts)
{
    static double want[ELEMENTS], got[ELEMENTS];
    tw_entropy_plan_info info = TW_ENTROPY_PLAN_INFO_INIT;
    tw_entropy_report report = TW_ENTROPY_REPORT_INIT;
    tw_sink sink = TW_SINK_INIT;
    giver from = {in};
    const tw_source source = {sizeof source, &from, {in->rows, in->cols, in->type}, 0,
                              give_rows,     NULL};
    define(ctx, in, opts, want);
    assert_ok(ctx, tw_entropy_plan_describe(plan, &info));
    const size_t count = (size_t)(info.shape.rows * info.shape.cols);
    tw_matrix out = {got, info.shape.rows, info.shape.cols, info.shape.cols, info.shape.type};
    memset(got, POISON, sizeof got);
    assert_ok(ctx, tw_entropy_plan_apply(ctx, plan, &out, in, &report));
    assert_same(got, want, count, info.shape.type);
    assert_true(report.rows == info.shape.rows && report.block == info.shape.rows);
    assert_string_equal(report.method, info.method);
    for (int way = 0; way < 2; way++) {
        memset(got, POISON, sizeof got);
        assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &out));
        assert_ok(ctx, way == 0 ? tw_entropy_plan_run(ctx, plan, in, &sink, 1, NULL)
                                : tw_entropy_plan_stream(ctx, plan, &source, &sink, 1, NULL));
        tw_sink_destroy(&sink);
        assert_same(got, want, count, info.shape.type);
    }
}

static void a_plan_runs_over_one_array_after_the_other(void **state)
{
    static uint8_t data[ELEMENTS];
    static const int32_t sides[] = {1, 3, 5, 9, 38};
    static const int32_t levels[] = {2, 16, 256};
    tw_context *ctx = open_context();
    (void)state;
    for (int s = 0; s < 5; s++) {
        for (tw_entropy_border border = 0; border <= TW_ENTROPY_BORDER_VALID; border++) {
            if (emulated_sizes_only() && (s + border) % 3 != 0) {
                continue;
            }
            tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
            const tw_shape shape = {ROWS, COLS, TW_U8};
            const tw_matrix in = {data, ROWS, COLS, COLS, TW_U8};
            tw_entropy_plan *plan = NULL;
            opts.window_rows = opts.window_cols = sides[s];
            opts.levels = levels[(2 * s + border) % 3];
            opts.border = border;
            opts.type = (s + border) % 2 == 0 ? TW_F32 : TW_F64;
            assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, &opts));
            for (uint64_t run = 0; run < 3; run++) {
                fill(data, opts.levels, 10 * run + (uint64_t)s);
                run_all_ways(ctx, plan, &in, &opts);
            }
            tw_entropy_plan_destroy(plan);
        }
    }
    close_context(ctx);
}

/* A view into a larger array is of the planned shape, too. */
static void any_stride_will_do(void **state)
{
    static uint8_t data[2 * ELEMENTS];
    tw_context *ctx = open_context();
    const tw_shape shape = {ROWS, COLS, TW_U8};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_plan *plan = NULL;
    (void)state;
    fill(data, 256, 1);
    fill(data + ELEMENTS, 256, 2);
    assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, NULL));
    for (int64_t stride = COLS; stride < COLS + 3; stride++) {
        const tw_matrix in = {data + stride, ROWS, COLS, stride, TW_U8};
        run_all_ways(ctx, plan, &in, &opts);
    }
    tw_entropy_plan_destroy(plan);
    close_context(ctx);
}

static void another_shape_or_type_is_refused(void **state)
{
    static double data[2 * ELEMENTS];
    static double got[2 * ELEMENTS];
    static const tw_shape others[] = {{ROWS - 1, COLS, TW_U8},
                                      {ROWS + 1, COLS, TW_U8},
                                      {ROWS, COLS - 1, TW_U8},
                                      {ROWS, COLS + 1, TW_U8},
                                      {COLS, ROWS, TW_U8},
                                      {ROWS, COLS, TW_U16},
                                      {0, 0, TW_U8}};
    tw_context *ctx = open_context();
    const tw_shape shape = {ROWS, COLS, TW_U8};
    const tw_matrix right = {data, ROWS, COLS, COLS, TW_U8};
    tw_entropy_plan *plan = NULL;
    (void)state;
    assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, NULL));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const tw_matrix in = {data, others[i].rows, others[i].cols, others[i].cols, others[i].type};
        tw_matrix out = {got, others[i].rows, others[i].cols, others[i].cols, TW_F32};
        giver from = {&in};
        const tw_source source = {sizeof source, &from, others[i], 0, give_rows, NULL};
        memset(got, POISON, sizeof got);
        assert_fails(ctx, TW_ERR_ARGUMENT, "created for 37 x 41 of type u8",
                     tw_entropy_plan_apply(ctx, plan, &out, &in, NULL));
        assert_fails(ctx, TW_ERR_ARGUMENT, "created for 37 x 41 of type u8",
                     tw_entropy_plan_run(ctx, plan, &in, NULL, 0, NULL));
        assert_fails(ctx, TW_ERR_ARGUMENT, "created for 37 x 41 of type u8",
                     tw_entropy_plan_stream(ctx, plan, &source, NULL, 0, NULL));
        if (others[i].type == TW_U8) {
            assert_fails(ctx, TW_ERR_ARGUMENT, "expected 37 x 41",
                         tw_entropy_plan_apply(ctx, plan, &out, &right, NULL));
        }
        assert_int_equal(*(uint8_t *)got, POISON);
    }
    tw_matrix wide = {got, ROWS, COLS, COLS, TW_F64};
    assert_fails(ctx, TW_ERR_ARGUMENT, "the result has type f64, but this plan was created for f32",
                 tw_entropy_plan_apply(ctx, plan, &wide, &right, NULL));
    assert_int_equal(*(uint8_t *)got, POISON);
    tw_entropy_plan_destroy(plan);
    close_context(ctx);
}

/* Its elements are read in each run: here it loses more of them each time. */
static void a_mask_may_change_between_runs(void **state)
{
    static uint8_t data[ELEMENTS], excluded[ELEMENTS];
    tw_context *ctx = open_context();
    const tw_shape shape = {ROWS, COLS, TW_U8};
    const tw_matrix in = {data, ROWS, COLS, COLS, TW_U8};
    tw_matrix mask = {excluded, ROWS, COLS, COLS, TW_U8};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_plan *plan = NULL;
    (void)state;
    opts.mask = &mask;
    opts.levels = 16;
    fill(data, 16, 5);
    memset(excluded, 1, sizeof excluded);
    assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, &opts));
    for (uint64_t share = 1; share <= 4; share++) {
        run_all_ways(ctx, plan, &in, &opts);
        for (int64_t i = 0; i < ELEMENTS; i++) {
            excluded[i] = twi_random_below(twi_random_at(7, (uint64_t)i), 4) >= share;
        }
    }
    run_all_ways(ctx, plan, &in, &opts); /* nothing counts: NaN everywhere */
    tw_entropy_plan_destroy(plan);
    close_context(ctx);
}

/* The caller's footprint, range, number and view of the mask may go once the plan is made. */
static void what_the_options_point_to_is_copied(void **state)
{
    static uint8_t data[ELEMENTS], counted[ELEMENTS];
    uint8_t cross[] = {0, 1, 0, 1, 1, 1, 0, 1, 0};
    uint8_t cross_too[sizeof cross];
    double range[2] = {0, 200}, range_too[2] = {0, 200};
    double no_data = 11, no_data_too = 11;
    tw_matrix footprint = {cross, 3, 3, 3, TW_U8}, footprint_too = {cross_too, 3, 3, 3, TW_U8};
    tw_matrix mask = {counted, ROWS, COLS, COLS, TW_U8}, mask_too = mask;
    tw_context *ctx = open_context();
    const tw_shape shape = {ROWS, COLS, TW_U8};
    const tw_matrix in = {data, ROWS, COLS, COLS, TW_U8};
    tw_entropy_plan *plan = NULL;
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    (void)state;
    memcpy(cross_too, cross, sizeof cross);
    memset(counted, 1, sizeof counted);
    counted[100] = counted[101] = 0;
    fill(data, 200, 3);
    opts.levels = 10;
    opts.footprint = &footprint;
    opts.range = range;
    opts.no_data = &no_data;
    opts.mask = &mask;
    assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, &opts));
    memset(cross, 0, sizeof cross);
    memset(&footprint, POISON, sizeof footprint);
    memset(range, POISON, sizeof range);
    memset(&no_data, POISON, sizeof no_data);
    memset(&mask, POISON, sizeof mask);
    opts.footprint = &footprint_too;
    opts.range = range_too;
    opts.no_data = &no_data_too;
    opts.mask = &mask_too;
    run_all_ways(ctx, plan, &in, &opts);
    double rate = 0;
    assert_ok(ctx, tw_entropy_plan_rate(ctx, plan, &rate));
    assert_true(rate > 0);
    run_all_ways(ctx, plan, &in, &opts); /* measuring leaves the plan as it was */
    tw_entropy_plan_destroy(plan);
    close_context(ctx);
}

/* A run that fails leaves the plan as good as it was. */
static void a_failed_run_spoils_nothing(void **state)
{
    static uint8_t data[ELEMENTS];
    static float got[ELEMENTS];
    tw_context *ctx = open_context();
    const tw_shape shape = {ROWS, COLS, TW_U8};
    const tw_matrix in = {data, ROWS, COLS, COLS, TW_U8};
    tw_matrix out = {got, ROWS, COLS, COLS, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_plan *plan = NULL;
    (void)state;
    opts.levels = 16;
    fill(data, 16, 9);
    assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, &opts));
    data[5 * COLS + 7] = 16;
    assert_fails(ctx, TW_ERR_RANGE, "row 5, column 7",
                 tw_entropy_plan_apply(ctx, plan, &out, &in, NULL));
    assert_fails(ctx, TW_ERR_RANGE, "row 5, column 7",
                 tw_entropy_plan_run(ctx, plan, &in, NULL, 0, NULL));
    data[5 * COLS + 7] = 15;
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "", tw_entropy_plan_apply(ctx, plan, &out, &in, NULL));
    tw_clear_cancel(ctx);
    const int64_t blocks = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    for (int64_t n = 1; status != TW_OK; n++) {
        twi_meter_fail_at(ctx->meter, n);
        status = tw_entropy_plan_apply(ctx, plan, &out, &in, NULL);
        twi_meter_fail_at(ctx->meter, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_int_equal(twi_meter_blocks(ctx->meter), blocks);
    }
    run_all_ways(ctx, plan, &in, &opts);
    tw_entropy_plan_destroy(plan);
    close_context(ctx);
}

/* The logarithms of a window of a thousand a side take a tenth of a second. */
static void a_cancelled_plan_is_not_made(void **state)
{
    tw_context *ctx = open_context();
    const tw_shape shape = {ROWS, COLS, TW_U8};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_plan *plan = NULL;
    (void)state;
    const int64_t blocks = twi_meter_blocks(ctx->meter);
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "stopped",
                 tw_entropy_plan_create(ctx, &plan, &shape, &opts));
    assert_null(plan);
    assert_int_equal(twi_meter_blocks(ctx->meter), blocks);
    tw_clear_cancel(ctx);
    assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, &opts));
    tw_entropy_plan_destroy(plan);
    close_context(ctx);
}

static tw_entropy_plan_info describe(tw_context *ctx, int64_t rows, int64_t cols,
                                     const tw_entropy_options *opts)
{
    const tw_shape shape = {rows, cols, TW_U8};
    tw_entropy_plan_info info = TW_ENTROPY_PLAN_INFO_INIT;
    tw_entropy_plan *plan = NULL;
    assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, opts));
    assert_ok(ctx, tw_entropy_plan_describe(plan, &info));
    tw_entropy_plan_destroy(plan);
    return info;
}

static void a_plan_knows_its_result(void **state)
{
    tw_context *ctx = open_context();
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    (void)state;
    tw_entropy_plan_info info = describe(ctx, 30, 40, NULL);
    assert_true(info.shape.rows == 30 && info.shape.cols == 40 && info.shape.type == TW_F32);
    assert_int_equal(info.window, 25);
    assert_true(info.largest == log(25));
    opts.border = TW_ENTROPY_BORDER_VALID;
    opts.window_rows = 4;
    opts.window_cols = 7;
    opts.levels = 4;
    opts.base = TW_ENTROPY_BASE_2;
    opts.type = TW_F64;
    info = describe(ctx, 30, 40, &opts);
    assert_true(info.shape.rows == 27 && info.shape.cols == 34 && info.shape.type == TW_F64);
    assert_true(fabs(info.largest - 2) < 1e-15);
    info = describe(ctx, 3, 40, &opts);
    assert_true(info.shape.rows == 0 && info.shape.cols == 0);
    opts.window_rows = opts.window_cols = 1;
    opts.base = TW_ENTROPY_BASE_10;
    info = describe(ctx, 0, 0, &opts);
    assert_true(info.largest == 0 && info.shape.rows == 0);
    close_context(ctx);
}

/* Which method an instruction set takes by itself for so high a window, as measured. */
static void the_method_that_pays_is_taken(void **state)
{
    static const struct {
        int32_t rows;
        const char *wide, *permuting; /* AVX-512, without byte permutes and with them */
    } cases[] = {{5, "lanes", "lanes"},    {17, "stacks", "stacks"}, {31, "stacks", "stacks"},
                 {39, "stacks", "stacks"}, {41, "stacks", "bins"},   {127, "stacks", "bins"}};
    tw_context *ctx = open_context();
    twi_isa isa;
    (void)state;
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        opts.window_rows = opts.window_cols = cases[i].rows;
        const char *expected = "lanes";
        if (isa == TWI_ISA_AVX512) {
            const bool permutes = twi_permutes(isa) != NULL;
            expected = permutes ? cases[i].permuting : cases[i].wide;
        }
        assert_string_equal(describe(ctx, 256, 300, &opts).method, expected);
    }
    close_context(ctx);
}

/* 65536 levels leave no mark for what lies outside; a sample of such a plan has none outside. */
static void the_rate_of_the_most_levels_is_measured(void **state)
{
    tw_context *ctx = open_context();
    const tw_shape shape = {100, 100, TW_U16};
    (void)state;
    for (tw_entropy_border border = 0; border <= TW_ENTROPY_BORDER_VALID; border++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        tw_entropy_plan *plan = NULL;
        double rate = 0;
        opts.levels = 65536;
        opts.border = border;
        assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, &opts));
        assert_ok(ctx, tw_entropy_plan_rate(ctx, plan, &rate));
        assert_true(rate > 0);
        tw_entropy_plan_destroy(plan);
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_runs_over_one_array_after_the_other),
        cmocka_unit_test(any_stride_will_do),
        cmocka_unit_test(another_shape_or_type_is_refused),
        cmocka_unit_test(a_mask_may_change_between_runs),
        cmocka_unit_test(what_the_options_point_to_is_copied),
        cmocka_unit_test(a_failed_run_spoils_nothing),
        cmocka_unit_test(a_cancelled_plan_is_not_made),
        cmocka_unit_test(a_plan_knows_its_result),
        cmocka_unit_test(the_method_that_pays_is_taken),
        cmocka_unit_test(the_rate_of_the_most_levels_is_measured),
    };
    return cmocka_run_group_tests_name("plans of entropy", tests, NULL, NULL);
}
