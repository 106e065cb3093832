/* The evaluator on the CPU against the reference: shapes around blocks and vectors, types,
 * residues, broadcasts, repetition, threads. */
#include "harness.h"

#include "base/matrix.h"
#include "base/random.h"
#include "map/cpu/cpu.h"
#include "map/cpu/kernels.h"
#include "map/language/specialise.h"
#include "map/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, X, INPUTS };

/* What a case is. */
typedef struct sample {
    const char *text;
    int64_t rows, cols, stride;
    tw_type types[INPUTS];
    tw_type compute, type;
    int64_t repeat;
    int shape;  /* 0: all whole; 1: a is a row; 2: a is a column; 3: a is one element */
    double ulp; /* allowed of the result for each pass; 0: the same bits */
    const double *no_data;
} sample;

/* A case made ready: the job of the CPU, and what it owns. */
typedef struct fixture {
    tw_context *ctx;
    twi_variants variants;
    twi_map_job job;
    void *inputs[INPUTS];
    void *out;
    uint64_t out_bytes;
} fixture;

static void fill(void *data, tw_type type, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t random = twi_random_at(seed, (uint64_t)i);
        double unit = twi_random_unit(random) * 200 - 20;
        switch (type) {
        case TW_U8:
            ((uint8_t *)data)[i] = (uint8_t)random;
            break;
        case TW_U16:
            ((uint16_t *)data)[i] = (uint16_t)random;
            break;
        case TW_I16:
            ((int16_t *)data)[i] = (int16_t)random;
            break;
        case TW_I32:
            ((int32_t *)data)[i] = (int32_t)random;
            break;
        case TW_F32:
            ((float *)data)[i] = random % 97 == 0 ? NAN : (float)unit;
            break;
        default:
            ((double *)data)[i] = random % 97 == 0 ? NAN : unit;
        }
    }
}

static void open_case(fixture *f, const sample *s)
{
    static const char *const names[INPUTS] = {"a", "b", "x"};
    tw_expr_options options = TW_EXPR_OPTIONS_INIT;
    twi_map_setting setting = {.compute = s->compute,
                               .type = s->type,
                               .rows = s->rows,
                               .cols = s->cols,
                               .repeat = s->repeat,
                               .x_input = s->repeat > 1 ? X : -1};
    tw_expr *expr = NULL;
    memset(f, 0, sizeof *f);
    f->ctx = open_context();
    options.inputs = names;
    options.input_count = INPUTS;
    assert_ok(f->ctx, tw_expr_create(f->ctx, &expr, s->text, &options));
    if (s->no_data != NULL) {
        setting.has_no_data = true;
        setting.no_data = *s->no_data;
    }
    f->job = (twi_map_job){.variants = &f->variants,
                           .input_count = INPUTS,
                           .x_input = setting.x_input,
                           .repeat = s->repeat,
                           .row_count = s->rows,
                           .cols = s->cols,
                           .out_stride = s->stride};
    for (int k = 0; k < INPUTS; k++) {
        const int shape = k == A ? s->shape : 0;
        const int64_t rows = shape == 1 || shape == 3 ? 1 : s->rows;
        const int64_t stride = shape >= 2 ? 1 : s->stride;
        f->inputs[k] = calloc((size_t)(rows * stride + 1), tw_type_size(s->types[k]));
        assert_non_null(f->inputs[k]);
        fill(f->inputs[k], s->types[k], rows * stride, (uint64_t)k + 5);
        f->job.inputs[k] =
            (twi_map_input){f->inputs[k], s->types[k], rows > 1 ? stride : 0, shape >= 2 ? 0 : 1};
        setting.depends[k] = (uint8_t)((shape == 0 || shape == 2 ? TWI_ON_ROW : 0) |
                                       (shape == 0 || shape == 1 ? TWI_ON_COL : 0));
    }
    assert_ok(f->ctx, twi_variants_make(f->ctx, &f->variants, expr, &setting));
    tw_expr_destroy(expr);
    f->out_bytes = (uint64_t)(s->rows * s->stride) * tw_type_size(s->type);
    f->out = malloc(f->out_bytes + 1);
    assert_non_null(f->out);
    f->job.out = f->out;
}

static void close_case(fixture *f)
{
    for (int k = 0; k < INPUTS; k++) {
        free(f->inputs[k]);
    }
    free(f->out);
    twi_variants_clear(&f->variants);
    close_context(f->ctx);
}

/* Poisons the output, runs, and gives a copy of all of it, the gaps between rows included. */
static void *run(fixture *f, tw_status (*evaluator)(tw_context *, const twi_map_job *))
{
    void *copy = malloc(f->out_bytes + 1);
    assert_non_null(copy);
    memset(f->out, 0x5A, f->out_bytes);
    assert_ok(f->ctx, evaluator(f->ctx, &f->job));
    memcpy(copy, f->out, f->out_bytes);
    return copy;
}

static int near_enough(const sample *s, const void *got, const void *want, int64_t i)
{
    double a = twi_element(got, s->type, i);
    double b = twi_element(want, s->type, i);
    if (isnan(a) || isnan(b) || s->ulp == 0) {
        return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
    }
    double unit = s->type == TW_F32 ? 0x1p-23 : s->type == TW_F64 ? 0x1p-52 : 0;
    return a == b || fabs(a - b) <= s->ulp * unit * fmax(fabs(b), 0x1p-100);
}

static void matches_the_reference(const sample *s)
{
    fixture f;
    open_case(&f, s);
    assert_ok(f.ctx, tw_set_threads(f.ctx, 1));
    void *want = run(&f, twi_map_reference_run);
    void *got = run(&f, twi_map_cpu_run);
    const size_t size = tw_type_size(s->type);
    for (int64_t r = 0; r < s->rows; r++) {
        for (int64_t c = 0; c < s->stride; c++) {
            int64_t at = r * s->stride + c;
            int good = c < s->cols ? near_enough(s, got, want, at)
                                   : memcmp((char *)got + (size_t)at * size,
                                            (char *)want + (size_t)at * size, size) == 0;
            if (!good) {
                fail_msg("%s, %lld x %lld as %s: element (%lld, %lld) is %.17g, should be %.17g",
                         s->text, (long long)s->rows, (long long)s->cols, tw_type_name(s->type),
                         (long long)r, (long long)c, twi_element(got, s->type, at),
                         twi_element(want, s->type, at));
            }
        }
    }
    assert_ok(f.ctx, tw_set_threads(f.ctx, 3));
    void *again = run(&f, twi_map_cpu_run);
    assert_memory_equal(again, got, f.out_bytes);
    free(again);
    free(got);
    free(want);
    close_case(&f);
}

#define PLAIN {TW_F32, TW_F32, TW_F32}, TW_F32, TW_F32, 1, 0, 0, NULL

static void shapes_around_blocks_are_computed_whole(void **state)
{
    (void)state;
    static const int64_t widths[] = {1,  2,    3,    15,   16,   17,   31,   32,   33,   63,  64,
                                     65, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4096, 5000};
    static const char *const texts[] = {"a * b + x", "col % 2 ? a - b : x * 2",
                                        "(row % 2 ? a : b) + col % 3", "x + col * 0.5 - row"};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            matches_the_reference(
                &(sample){texts[t], 3, widths[w], widths[w] + (int64_t)t % 2 * 3, PLAIN});
        }
    }
    static const char *const streams[] = {"a * b + x", "x * 2 + 1", "3 - a", "x"};
    for (size_t t = 0; t < sizeof streams / sizeof *streams; t++) {
        matches_the_reference(&(sample){streams[t], 7, 10007, 10007, PLAIN});
        matches_the_reference(&(sample){streams[t], 2, 66563, 66570, PLAIN});
    }
    matches_the_reference(&(sample){"a * b + x", 700, 3, 3, PLAIN});
    matches_the_reference(&(sample){"a * b + x", 0, 3, 3, PLAIN});
    matches_the_reference(&(sample){"a * b + x", 3, 0, 0, PLAIN});
}

static void every_type_is_read_and_written(void **state)
{
    (void)state;
    static const tw_type types[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
    static const char *const texts[] = {"x * 1.5 - a", "col % 2 ? a : x", "x / b", "a * a * b"};
    for (int in = 0; in < 6; in++) {
        for (int out = 0; out < 6; out++) {
            for (int compute_of = 0; compute_of < FLOAT_TYPES; compute_of++) {
                const tw_type compute = float_types[compute_of];
                sample s = {texts[(in + out) % 4],
                            4,
                            77,
                            80,
                            {types[in], types[(in + 1) % 6], types[(in + out) % 6]},
                            compute,
                            types[out],
                            1,
                            0,
                            0,
                            NULL};
                matches_the_reference(&s);
            }
        }
    }
}

static void conditions_and_exact_functions_match(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a < b ? a : b",
        "(a < b && b <= x) || !(a == x)",
        "a != b ? floor(a) + ceil(b) : round(x) - rint(a) + trunc(b)",
        "min(a, b) + max(a, x)",
        "a % b",
        "abs(a) - sqrt(abs(b))",
        "-a / b",
        "where(x > 50, 1, 0) * (a >= b)",
        "isnan(a) ? 7 : a",
        "3",
        "row",
        "col",
        "x",
        "row * 1000 + col",
        "(row + col) % 5",
        "col % 7 == 3 ? a : row % 3 == 1 ? b : x",
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (int compute_of = 0; compute_of < FLOAT_TYPES; compute_of++) {
            const tw_type compute = float_types[compute_of];
            sample s = {texts[t], 5, 130, 131, {TW_F32, TW_F32, TW_I16}, compute, compute,
                        1,        0, 0,   NULL};
            matches_the_reference(&s);
        }
    }
}

/* Kernels of several operations round as the operations do. */
static void fused_operations_round_one_by_one(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a + b + x",     "a + b - x",         "x - (a + b)",
        "(a + b) * x",   "a - b + x",         "a - b - x",
        "x - (a - b)",   "(a - b) * x",       "a * b + x",
        "a * b - x",     "x - a * b",         "a * b * x",
        "sqrt(a + b)",   "sqrt(a) + b",       "x + sqrt(a + 1)",
        "a * b + a * x", "(a + b) * (a + b)", "sqrt(a + b) + sqrt(b + x)",
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (int compute_of = 0; compute_of < FLOAT_TYPES; compute_of++) {
            const tw_type compute = float_types[compute_of];
            matches_the_reference(&(sample){
                texts[t], 2, 300, 300, {TW_F32, TW_F32, TW_I16}, compute, compute, 1, 0, 0, NULL});
        }
    }
}

/* The root of a function's value, in one kernel or by way of an array. */
static void a_function_under_a_root_keeps_its_bits(void **state)
{
    (void)state;
    static const char *const names[] = {"exp(x / 100)", "exp2(x / 100)", "log(x)", "log2(x)",
                                        "log10(x)",     "sin(x)",        "cos(x)", "tan(x)"};
    for (size_t t = 0; t < sizeof names / sizeof *names; t++) {
        for (int fast = 0; fast <= 1; fast++) {
            char text[64];
            fixture whole, first, rest;
            snprintf(text, sizeof text, "b + sqrt(1 + %s)", names[t]);
            open_case(&whole, &(sample){text, 2, 700, 700, PLAIN});
            open_case(&first, &(sample){names[t], 2, 700, 700, PLAIN});
            open_case(&rest, &(sample){"b + sqrt(1 + x)", 2, 700, 700, PLAIN});
            whole.job.fast = first.job.fast = rest.job.fast = fast;
            void *got = run(&whole, twi_map_cpu_run);
            void *value = run(&first, twi_map_cpu_run);
            memcpy(rest.inputs[X], value, rest.out_bytes);
            void *want = run(&rest, twi_map_cpu_run);
            assert_memory_equal(got, want, rest.out_bytes);
            free(got);
            free(value);
            free(want);
            close_case(&whole);
            close_case(&first);
            close_case(&rest);
        }
    }
}

static void broadcast_inputs_are_repeated(void **state)
{
    (void)state;
    for (int shape = 1; shape <= 3; shape++) {
        for (int type_of = 0; type_of < ELEMENT_TYPES; type_of++) {
            const tw_type type = element_types[type_of];
            sample s = {"a * 2 + (col % 2 ? b : x - a)",
                        9,
                        1500,
                        1500,
                        {type, TW_F32, TW_U8},
                        TW_F64,
                        TW_F64,
                        1,
                        shape,
                        0,
                        NULL};
            matches_the_reference(&s);
        }
    }
}

static void functions_are_as_near_as_they_say(void **state)
{
    (void)state;
    static const char *const texts[] = {"log(abs(x) + 1) + exp(a / 100)", "sin(x) * cos(a)",
                                        "atan2(a, b)", "hypot(a, b) + pow(abs(x), 0.3)"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (int compute_of = 0; compute_of < FLOAT_TYPES; compute_of++) {
            const tw_type compute = float_types[compute_of];
            sample s = {texts[t], 3, 200, 200, {TW_F32, TW_F32, TW_F32}, compute, compute,
                        1,        0, 4,   NULL};
            matches_the_reference(&s);
        }
    }
}

static void no_data_passes_through(void **state)
{
    (void)state;
    const double marks[] = {7, NAN};
    for (int m = 0; m < 2; m++) {
        matches_the_reference(&(sample){
            "a + b * x", 6, 333, 333, {TW_U8, TW_U8, TW_F32}, TW_F32, TW_F32, 1, 0, 0, &marks[m]});
        matches_the_reference(&(sample){
            "a * 2 + x", 6, 333, 333, {TW_U8, TW_U8, TW_F32}, TW_F32, TW_I16, 1, 0, 0, &marks[0]});
    }
}

static void repetition_equals_that_many_runs(void **state)
{
    (void)state;
    static const char *const texts[] = {"x * 0.75 + a",
                                        "col % 2 ? x + 1 : sqrt(abs(x)) + b",
                                        "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)",
                                        "a",
                                        "x",
                                        "x / 3 + row - col"};
    static const tw_type types[] = {TW_F32, TW_I16, TW_F64};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (int k = 0; k < 3; k++) {
            for (int64_t repeat = 2; repeat <= 5; repeat += 3) {
                sample s = {texts[t],
                            4,
                            1111,
                            1111,
                            {TW_F32, TW_F32, types[k]},
                            types[k] == TW_F64 ? TW_F64 : TW_F32,
                            types[k],
                            repeat,
                            0,
                            0,
                            NULL};
                fixture all, one;
                open_case(&all, &s);
                void *got = run(&all, twi_map_cpu_run);
                s.repeat = 1;
                open_case(&one, &s);
                for (int64_t pass = 0; pass < repeat; pass++) {
                    void *step = run(&one, twi_map_cpu_run);
                    memcpy(one.inputs[X], step, one.out_bytes);
                    free(step);
                }
                assert_memory_equal(got, one.inputs[X], one.out_bytes);
                free(got);
                close_case(&one);
                close_case(&all);
            }
        }
    }
}

static void the_result_may_replace_an_input(void **state)
{
    (void)state;
    static const char *const texts[] = {"x + sqrt(x * x + a)", "col % 2 ? x - 1 : x * b", "x",
                                        "x * row + col"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (int64_t repeat = 1; repeat <= 3; repeat += 2) {
            sample s = {texts[t], 5, 2085, 2085, {TW_F32, TW_F32, TW_F32}, TW_F32, TW_F32,
                        repeat,   0, 0,    NULL};
            fixture f;
            open_case(&f, &s);
            void *want = run(&f, twi_map_cpu_run);
            f.job.out = f.inputs[X];
            assert_ok(f.ctx, twi_map_cpu_run(f.ctx, &f.job));
            assert_memory_equal(f.inputs[X], want, f.out_bytes);
            free(want);
            close_case(&f);
        }
    }
}

/* Rows of a band by themselves, as a caller with little memory asks for them. */
static void a_band_of_rows_is_that_part_of_the_whole(void **state)
{
    (void)state;
    static const char *const texts[] = {"row % 3 ? x + row : a", "a * b + x"};
    for (int t = 0; t < 2; t++) {
        sample s = {texts[t], 12, 300, 300, PLAIN};
        fixture f;
        open_case(&f, &s);
        char *whole = run(&f, twi_map_cpu_run);
        for (int64_t first = 0; first < 12; first += 5) {
            f.job.first_row = first;
            f.job.row_count = 12 - first < 5 ? 12 - first : 5;
            memset(f.out, 0x5A, f.out_bytes);
            assert_ok(f.ctx, twi_map_cpu_run(f.ctx, &f.job));
            assert_memory_equal(f.out, whole + first * 1200, (size_t)f.job.row_count * 1200);
        }
        free(whole);
        close_case(&f);
    }
}

static void instruction_sets_agree_on_whole_maps(void **state)
{
    (void)state;
    static const char *const texts[] = {"x + sqrt((col % 2 ? log(x) : cos(x)) + 1)",
                                        "pow(abs(a), b / 50) + tan(x)"};
    for (int t = 0; t < 2; t++) {
        for (int compute_of = 0; compute_of < FLOAT_TYPES; compute_of++) {
            const tw_type compute = float_types[compute_of];
            sample s = {texts[t], 3, 777, 777, {TW_U8, TW_I16, TW_U16}, compute, compute,
                        1,        0, 0,   NULL};
            fixture f;
            open_case(&f, &s);
            assert_ok(f.ctx, tw_set_isa(f.ctx, "scalar"));
            void *want = run(&f, twi_map_cpu_run);
            assert_ok(f.ctx, tw_set_isa(f.ctx, NULL));
            void *got = run(&f, twi_map_cpu_run);
            for (int64_t i = 0; i < s.rows * s.stride; i++) {
                assert_true(near_enough(&s, got, want, i));
            }
            free(got);
            free(want);
            close_case(&f);
        }
    }
}

static void failed_allocations_leave_nothing(void **state)
{
    (void)state;
    fixture f;
    open_case(&f, &(sample){"(col % 2 ? x : a) + row", 4, 100, 100, PLAIN});
    tw_status status = TW_ERR_MEMORY;
    int64_t blocks = twi_meter_blocks(f.ctx->meter);
    int64_t at = 0;
    while (status != TW_OK) {
        twi_meter_fail_at(f.ctx->meter, ++at);
        status = twi_map_cpu_run(f.ctx, &f.job);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_int_equal(twi_meter_blocks(f.ctx->meter), blocks);
    }
    twi_meter_fail_at(f.ctx->meter, 0);
    assert_true(at > 3);
    close_case(&f);
}

static void a_cancelled_map_stops(void **state)
{
    (void)state;
    fixture f;
    open_case(&f, &(sample){"x + a", 4, 100, 100, PLAIN});
    tw_cancel(f.ctx);
    assert_int_equal(twi_map_cpu_run(f.ctx, &f.job), TW_ERR_CANCELLED);
    tw_clear_cancel(f.ctx);
    close_case(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_around_blocks_are_computed_whole),
        cmocka_unit_test(every_type_is_read_and_written),
        cmocka_unit_test(conditions_and_exact_functions_match),
        cmocka_unit_test(fused_operations_round_one_by_one),
        cmocka_unit_test(a_function_under_a_root_keeps_its_bits),
        cmocka_unit_test(broadcast_inputs_are_repeated),
        cmocka_unit_test(functions_are_as_near_as_they_say),
        cmocka_unit_test(no_data_passes_through),
        cmocka_unit_test(repetition_equals_that_many_runs),
        cmocka_unit_test(the_result_may_replace_an_input),
        cmocka_unit_test(a_band_of_rows_is_that_part_of_the_whole),
        cmocka_unit_test(instruction_sets_agree_on_whole_maps),
        cmocka_unit_test(failed_allocations_leave_nothing),
        cmocka_unit_test(a_cancelled_map_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
