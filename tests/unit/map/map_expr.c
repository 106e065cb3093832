/* Expressions: what the parser takes and refuses, and what programs are made of them. */
#include "harness.h"

#include "map/language/specialise.h"
#include "map/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tw_expr *read_expr(tw_context *ctx, const char *text)
{
    static const char *const names[] = {"x", "a", "b"};
    static const tw_constant constants[] = {{"k", 2.5}, {"two", 2}};
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    tw_expr *expr = NULL;
    opts.inputs = names;
    opts.input_count = 3;
    opts.constants = constants;
    opts.constant_count = 2;
    assert_ok(ctx, tw_expr_create(ctx, &expr, text, &opts));
    return expr;
}

static twi_map_setting setting_of(tw_type compute, tw_type type, int64_t rows, int64_t cols)
{
    twi_map_setting s = {
        .compute = compute, .type = type, .rows = rows, .cols = cols, .repeat = 1, .x_input = 0};
    memset(s.depends, TWI_ON_ROW | TWI_ON_COL, sizeof s.depends);
    return s;
}

/* The value at one element: x = 3, a = -0.5, b = 7 in row 5, column 9 of 20 x 30. */
static double value_of(const char *text)
{
    static const double inputs[] = {3, -0.5, 7};
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, text);
    twi_map_setting setting = setting_of(TW_F64, TW_F64, 20, 30);
    twi_variants variants;
    double row[10];
    assert_ok(ctx, twi_variants_make(ctx, &variants, expr, &setting));
    twi_map_job job = {.variants = &variants,
                       .input_count = 3,
                       .x_input = 0,
                       .repeat = 1,
                       .first_row = 5,
                       .row_count = 1,
                       .cols = 10,
                       .out = row,
                       .out_stride = 10};
    for (int i = 0; i < 3; i++) {
        job.inputs[i] = (twi_map_input){&inputs[i], TW_F64, 0, 0};
    }
    assert_ok(ctx, twi_map_reference_run(ctx, &job));
    twi_variants_clear(&variants);
    tw_expr_destroy(expr);
    close_context(ctx);
    return row[9];
}

#define assert_value(text, expected)                                         \
    do {                                                                     \
        double value_ = value_of(text), expected_ = (expected);              \
        if (!(value_ == expected_ || (isnan(value_) && isnan(expected_)))) { \
            fail_msg("%s is %.17g, not %.17g", (text), value_, expected_);   \
        }                                                                    \
    } while (0)

static void operators_have_the_precedence_of_c(void **state)
{
    (void)state;
    assert_value("1 + 2 * 3", 7);
    assert_value("(1 + 2) * 3", 9);
    assert_value("10 - 4 - 3", 3);
    assert_value("100 / 10 / 5", 2);
    assert_value("7 % 4 * 2", 6);
    assert_value("1 + 2 < 4", 1);
    assert_value("1 < 2 == 1", 1);
    assert_value("0 && 0 || 1", 1);
    assert_value("1 || 0 && 0", 1);
    assert_value("!0 + 1", 2);
    assert_value("1 ? 2 : 3", 2);
    assert_value("0 ? 1 : 0 ? 2 : 3", 3);
    assert_value("1 ? 0 ? 1 : 2 : 3", 2);
    assert_value("1 || 0 ? 5 : 6", 5);
    assert_value("(1 ? 2 : 3) + 1", 3);
    assert_value("- - 3", 3);
    assert_value("+3", 3);
    assert_value("!!7", 1);
}

static void powers_group_from_the_right_and_before_a_minus(void **state)
{
    (void)state;
    assert_value("2 ^ 3 ^ 2", 512);
    assert_value("2 ** 3 ** 2", 512);
    assert_value("-2 ^ 2", -4);
    assert_value("(-2) ^ 2", 4);
    assert_value("2 ^ -1", 0.5);
    assert_value("2 ^ -x ^ 2", 1.0 / 512);
    assert_value("2 * x ^ 2", 18);
    assert_value("x ^ 0", 1);
    assert_value("(0/0) ^ 0", 1);
    assert_value("x ^ 3 + x ^ 4", 27 + 81);
    assert_value("two ^ -2", 0.25);
    assert_value("x ^ 0.5", sqrt(3.0));
}

static void numbers_and_names_are_read(void **state)
{
    (void)state;
    assert_value("12", 12);
    assert_value(".25 + 1.", 1.25);
    assert_value("1e3 + 1.5E-1", 1000.15);
    assert_value("k * two", 5);
    assert_value("row * 100 + col", 509);
    assert_value("rows * 100 + cols", 2030);
    assert_value("pi", 3.14159265358979323846);
    assert_value("e", 2.71828182845904523536);
}

static void comparisons_give_one_or_zero(void **state)
{
    (void)state;
    assert_value("(x > 2) + (x >= 3) + (x < 4) + (x <= 3) + (x == 3) + (x != 3)", 5);
    assert_value("(0/0 < 1) + (0/0 == 0/0)", 0);
    assert_value("0/0 != 0/0", 1);
    assert_value("(x < 2) < 1", 1);
    assert_value("x && 0/0", 1);
    assert_value("where(x > 2 && a < 0, b, -b)", 7);
    assert_value("(a < 0 ? x : b) * 2", 6);
}

static void division_by_zero_is_infinite(void **state)
{
    (void)state;
    assert_value("1 / 0", INFINITY);
    assert_value("x / -0", -INFINITY);
    assert_value("0 / 0", NAN);
    assert_value("log(-1)", NAN);
    assert_value("log(0)", -INFINITY);
}

static void functions_are_those_of_c(void **state)
{
    (void)state;
    assert_value("abs(a)", 0.5);
    assert_value("min(x, a, b, 2)", -0.5);
    assert_value("max(x, a, b, 2)", 7);
    assert_value("clamp(b, 0, 5)", 5);
    assert_value("clamp(a, 0, 5)", 0);
    assert_value("sign(a) + sign(0) * 10 + sign(x) * 100", 99);
    assert_value("isnan(0/0) + isinf(1/0) * 10 + isfinite(x) * 100 + isnan(x) * 1000", 111);
    assert_value("isfinite(0/0) + isinf(0/0)", 0);
    assert_value("floor(a) + ceil(a) * 10 + trunc(a) * 100", -1);
    assert_value("round(2.5) * 10 + rint(2.5)", 32);
    assert_value("round(a)", -1);
    assert_value("fmod(b, x)", 1);
    assert_value("-b % x", -1);
    assert_value("pow(x, 2)", 9);
    assert_value("hypot(3, 4)", 5);
    assert_value("atan2(1, 1) * 4", 3.14159265358979323846);
    assert_value("cbrt(27) + sqrt(16) + exp(0) + log(1) + exp2(3) + log2(8) + log10(100)", 21);
    assert_value("sin(0) + cos(0) + tan(0) + asin(0) + acos(1) + atan(0) + sinh(0) + cosh(0) + "
                 "tanh(0) + log1p(0) + expm1(0)",
                 2);
}

/* ------------------------------------------------------------------------------------ complaints
 */

static void complains(const char *text, int64_t column, const char *words)
{
    static const char *const names[] = {"x", "height", "slope"};
    static const tw_constant constants[] = {{"gain", 2.5}};
    tw_context *ctx = open_context();
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    tw_expr *expr = (tw_expr *)ctx;
    int64_t at = -1;
    opts.inputs = names;
    opts.input_count = 3;
    opts.constants = constants;
    opts.constant_count = 1;
    opts.column = &at;
    assert_fails(ctx, TW_ERR_FORMAT, words, tw_expr_create(ctx, &expr, text, &opts));
    assert_null(expr);
    if (at != column) {
        fail_msg("%s: column %lld, not %lld: %s", text, (long long)at, (long long)column,
                 tw_last_error(ctx));
    }
    close_context(ctx);
}

static void errors_point_at_their_column(void **state)
{
    (void)state;
    complains("", 1, "empty");
    complains("   ", 4, "empty");
    complains("x +", 4, "expected a number, a name, a sign or '(', found the end");
    complains("x + * 2", 5, "found '*'");
    complains("(x + 2", 7, "expected ')' for the '(' in column 1");
    complains("2 * log(x", 10, "expected ')' for the 'log' in column 5");
    complains("x + 2)", 6, "closes nothing");
    complains("x 2", 3, "expected an operator");
    complains("2x", 2, "a product is written with *");
    complains("1.2.3", 4, "expected an operator");
    complains("x(2)", 1, "unknown function 'x'");
    complains("x ? 2", 6, "expected ':'");
    complains("(x ? 2)", 7, "expected ':'");
    complains("max(x ? 2, 3)", 10, "expected ':'");
    complains("x : 2", 3, "no '?'");
    complains("x, 2", 2, "between the arguments");
    complains("(x, 2)", 3, "between the arguments");
    complains("x = 2", 3, "write '=='");
    complains("x & 1", 3, "write '&&'");
    complains("x $ 1", 3, "'$' has no meaning");
    complains("\xc3\xa9 + x $", 1, "has no meaning");
    complains("x + \xc3\xa9", 5, "has no meaning");
    complains("1e999", 1, "too large");
    complains("1 < x < 2", 7, "write a < b && b < c");
    complains("\x01", 1, "control character");
}

static void unknown_names_suggest_the_nearest(void **state)
{
    (void)state;
    complains("heigth * 2", 1, "did you mean 'height'?");
    complains("x + slop", 5, "did you mean 'slope'?");
    complains("2 * gian", 5, "did you mean 'gain'?");
    complains("sqr(x)", 1, "did you mean 'sqrt'?");
    complains("x + colm", 5, "did you mean 'col'?");
    complains("x + zzzzzz", 5,
              "unknown name 'zzzzzz'; give it as an input, zzzzzz=FILE, or as a constant, --set "
              "zzzzzz=VALUE");
    complains("zzzzzz(x)", 1, "unknown function 'zzzzzz'");
    complains("sqrt x", 5, "expected '(' after the function 'sqrt'");
}

static void wrong_argument_counts_are_refused(void **state)
{
    (void)state;
    complains("sqrt()", 6, "'sqrt' needs an argument");
    complains("sqrt(x, 2)", 7, "'sqrt' takes 1 argument");
    complains("pow(x)", 1, "'pow' takes 2 arguments; got 1");
    complains("min(x)", 1, "'min' takes at least 2 arguments");
    complains("where(x, 1)", 1, "'where' takes 3 arguments; got 2");
    complains("clamp(x, 1, 2, 3)", 14, "'clamp' takes 3 arguments");
}

static char *repeated(const char *part, int64_t count, const char *end)
{
    size_t length = strlen(part);
    char *text = malloc((size_t)count * length + strlen(end) + 1);
    assert_non_null(text);
    for (int64_t i = 0; i < count; i++) {
        memcpy(text + (size_t)i * length, part, length);
    }
    strcpy(text + (size_t)count * length, end);
    return text;
}

static void a_million_levels_are_an_error_not_a_crash(void **state)
{
    (void)state;
    static const char *const parts[] = {"(", "-", "!", "sqrt(", "x^", "1?", "x?x:", "max(1,"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        tw_context *ctx = open_context();
        tw_expr *expr = NULL;
        char *text = repeated(parts[i], 1000000, "x");
        assert_fails(ctx, TW_ERR_FORMAT, "nested deeper than",
                     tw_expr_create(ctx, &expr, text, NULL));
        free(text);
        close_context(ctx);
    }
}

static void a_million_terms_are_an_error_not_a_crash(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = NULL;
    char *text = repeated("x+", 1000000, "x");
    assert_fails(ctx, TW_ERR_ARGUMENT, "more than 65536", tw_expr_create(ctx, &expr, text, NULL));
    free(text);
    text = repeated("1*", 1000000, "x"); /* equal nodes are one, constants fold later */
    assert_fails(ctx, TW_ERR_ARGUMENT, "more than 65536", tw_expr_create(ctx, &expr, text, NULL));
    free(text);
    close_context(ctx);
}

static void names_must_be_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "2x", "a b", "row", "pi", "sqrt", "a-b"};
    tw_context *ctx = open_context();
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    tw_expr *expr = NULL;
    opts.input_count = 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        opts.inputs = &bad[i];
        assert_fails(ctx, TW_ERR_ARGUMENT, "cannot name an input",
                     tw_expr_create(ctx, &expr, "1", &opts));
    }
    static const char *const twice[] = {"a", "a"};
    opts.inputs = twice;
    opts.input_count = 2;
    assert_fails(ctx, TW_ERR_ARGUMENT, "twice", tw_expr_create(ctx, &expr, "1", &opts));
    static const tw_constant x = {"x", 1};
    opts.inputs = twice;
    opts.input_count = 1;
    opts.constants = &x;
    opts.constant_count = 1;
    assert_fails(ctx, TW_ERR_ARGUMENT, "'x' is the input", tw_expr_create(ctx, &expr, "1", &opts));
    opts.size = 0;
    assert_fails(ctx, TW_ERR_ARGUMENT, "TW_EXPR_OPTIONS_INIT",
                 tw_expr_create(ctx, &expr, "1", &opts));
    close_context(ctx);
}

/* -------------------------------------------------------------------------------------- programs
 */

static twi_variants compile(tw_context *ctx, const char *text, const twi_map_setting *setting)
{
    tw_expr *expr = read_expr(ctx, text);
    twi_variants variants;
    assert_ok(ctx, twi_variants_make(ctx, &variants, expr, setting));
    tw_expr_destroy(expr);
    return variants;
}

static int32_t count_of(const twi_program *p, int code)
{
    int32_t count = 0;
    for (int32_t i = 0; i < p->count; i++) {
        count += p->ops[i].code == code;
    }
    return count;
}

static void equal_parts_are_computed_once(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_map_setting setting = setting_of(TW_F32, TW_F32, 10, 10);
    twi_variants v = compile(ctx, "sqrt(x + a) * sqrt(a + x) + sqrt(x + a)", &setting);
    assert_int_equal(count_of(&v.generic, TWI_OP_SQRT), 1);
    assert_int_equal(v.generic.count, 6); /* x a add sqrt mul add */
    twi_variants_clear(&v);
    v = compile(ctx, "x * (2 * 3 + sqrt(16)) + 0 * 1", &setting);
    assert_int_equal(count_of(&v.generic, TWI_OP_SQRT), 0);
    assert_int_equal(count_of(&v.generic, TWI_OP_CONST), 2); /* 10 and 0: x + 0 is not x for -0 */
    twi_variants_clear(&v);
    close_context(ctx);
}

/* The expression of a published exercise: a branch on the parity of the column. */
static void a_branch_on_the_parity_of_the_column_is_specialised(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_map_setting setting = setting_of(TW_F32, TW_F32, 10, 10);
    twi_variants v = compile(ctx, "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)", &setting);
    assert_int_equal(v.row_period, 1);
    assert_int_equal(v.col_period, 2);
    assert_int_equal(v.program_count, 2);
    const twi_program *even = &v.programs[v.index[0]], *odd = &v.programs[v.index[1]];
    assert_int_equal(count_of(even, TWI_OP_COS), 1);
    assert_int_equal(count_of(even, TWI_OP_LOG), 0);
    assert_int_equal(count_of(odd, TWI_OP_COS), 0);
    assert_int_equal(count_of(odd, TWI_OP_LOG), 1);
    assert_int_equal(count_of(odd, TWI_OP_SELECT), 0);
    assert_int_equal(count_of(&v.generic, TWI_OP_SELECT), 1);
    twi_variants_clear(&v);
    close_context(ctx);
}

static void remainders_share_a_common_period(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_map_setting setting = setting_of(TW_F32, TW_F32, 10, 10);
    twi_variants v = compile(ctx, "(row % 2 ? exp(x) : x) + (row % 3 == 1 ? log(x) : x)", &setting);
    assert_int_equal(v.row_period, 6);
    assert_int_equal(v.col_period, 1);
    assert_int_equal(v.program_count, 4);
    twi_variants_clear(&v);
    v = compile(ctx, "(row + col) % 2 ? exp(x) : log(x)", &setting);
    assert_int_equal(v.row_period, 2);
    assert_int_equal(v.col_period, 2);
    assert_int_equal(v.program_count, 2);
    assert_int_equal(v.index[0], v.index[3]);
    twi_variants_clear(&v);
    v = compile(ctx, "col % 4 < 2 ? exp(x) : exp(x)", &setting); /* no branch at all */
    assert_int_equal(v.col_period, 1);
    twi_variants_clear(&v);
    v = compile(ctx, "x + col % 2", &setting); /* not worth rearranging columns */
    assert_int_equal(v.col_period, 1);
    assert_int_equal(count_of(&v.programs[0], TWI_OP_COL_MOD), 1);
    twi_variants_clear(&v);
    v = compile(ctx, "col % 1000 ? exp(x) : log(x)", &setting); /* too long a period */
    assert_int_equal(v.col_period, 1);
    assert_int_equal(count_of(&v.programs[0], TWI_OP_COL_MOD), 1);
    twi_variants_clear(&v);
    close_context(ctx);
}

static void check_order(const twi_program *p)
{
    const int32_t ends[] = {p->uniform_end, p->row_end, p->col_end, p->still_end, p->count};
    static const uint8_t on[] = {0, TWI_ON_ROW, TWI_ON_COL, TWI_ON_ROW | TWI_ON_COL};
    int section = 0;
    for (int32_t i = 0; i < p->count; i++) {
        while (i >= ends[section]) {
            section++;
        }
        const twi_operation *op = &p->ops[i];
        assert_true(section == 4 ? (op->depends & TWI_ON_X) != 0 : op->depends == on[section]);
        assert_int_equal(op->place >= 0, section >= 3);
        assert_true(op->place < p->places);
        for (int a = 0; a < 3; a++) {
            assert_true(op->args[a] < i);
            assert_int_equal(op->args[a] >= 0, a < twi_op_arity((twi_op)op->code));
        }
    }
}

/* Run the places: a value must still be in its place whenever it is used. */
static void check_places(const twi_program *p, int passes)
{
    int32_t holder[256];
    memset(holder, -1, sizeof holder);
    assert_true(p->places <= 256);
    for (int pass = 0; pass < passes; pass++) {
        for (int32_t i = pass == 0 ? p->col_end : p->still_end; i < p->count; i++) {
            for (int a = 0; a < twi_op_arity((twi_op)p->ops[i].code); a++) {
                int32_t arg = p->ops[i].args[a];
                assert_true(arg < p->col_end || holder[p->ops[arg].place] == arg);
            }
            holder[p->ops[i].place] = i;
        }
        assert_true(p->ops[p->result].place < 0 || holder[p->ops[p->result].place] == p->result);
    }
}

static void operations_are_sorted_by_what_they_depend_on(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x",
        "3",
        "row",
        "col * 2",
        "row + col",
        "x * sqrt(row) + exp(col / cols) * a - b",
        "(x > a ? b * b : sqrt(b)) + log(a + b) * (row % 3) + (x - a) * (x + b) / (a - b)",
        "where(row < 10, x, a) * where(col % 7 == 0, b, x)",
        "min(x, a, b, row, col)"};
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int64_t repeat = 1; repeat <= 3; repeat += 2) {
            twi_map_setting setting = setting_of(TW_F32, TW_U8, 10, 10);
            setting.repeat = repeat;
            setting.depends[1] = TWI_ON_COL;
            setting.depends[2] = 0;
            twi_variants v = compile(ctx, texts[i], &setting);
            check_order(&v.generic);
            check_places(&v.generic, (int)repeat);
            for (int32_t k = 0; k < v.program_count; k++) {
                check_order(&v.programs[k]);
                check_places(&v.programs[k], (int)repeat);
            }
            twi_variants_clear(&v);
        }
    }
    close_context(ctx);
}

static void what_does_not_fit_a_program_is_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = NULL;
    twi_variants v;
    twi_map_setting setting = setting_of(TW_F32, TW_F32, 10, 10);
    char *text = repeated("x+", 6000, "x");
    assert_ok(ctx, tw_expr_create(ctx, &expr, text, NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "more than 4096",
                 twi_variants_make(ctx, &v, expr, &setting));
    tw_expr_destroy(expr);
    free(text);
    close_context(ctx);
}

static void failed_allocations_leave_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    twi_map_setting setting = setting_of(TW_F32, TW_U8, 10, 10);
    setting.has_no_data = true;
    for (int64_t k = 1;; k++) {
        tw_expr *expr = NULL;
        twi_variants v;
        twi_meter_fail_at(ctx->meter, k);
        tw_status status =
            tw_expr_create(ctx, &expr, "x + sqrt(((row + col) % 2 ? log(x) : cos(x)) + 1)", NULL);
        if (status == TW_OK) {
            status = twi_variants_make(ctx, &v, expr, &setting);
        }
        twi_meter_fail_at(ctx->meter, 0);
        if (status == TW_OK) {
            twi_variants_clear(&v);
            tw_expr_destroy(expr);
            assert_true(k > 10);
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
        tw_expr_destroy(expr);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
    }
    close_context(ctx);
}

static void an_expression_describes_itself(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x * row + b * row");
    tw_expr_info info = TW_EXPR_INFO_INIT;
    assert_int_equal(tw_expr_describe(expr, &info), TW_OK);
    assert_int_equal(info.inputs, 3);
    assert_int_equal(info.inputs_used, 5);
    assert_int_equal(info.operations, 3);
    assert_true(info.uses_row && !info.uses_col);
    tw_context_destroy(ctx); /* it may outlive its context */
    assert_int_equal(tw_expr_describe(expr, &info), TW_OK);
    tw_expr_destroy(expr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_the_precedence_of_c),
        cmocka_unit_test(powers_group_from_the_right_and_before_a_minus),
        cmocka_unit_test(numbers_and_names_are_read),
        cmocka_unit_test(comparisons_give_one_or_zero),
        cmocka_unit_test(division_by_zero_is_infinite),
        cmocka_unit_test(functions_are_those_of_c),
        cmocka_unit_test(errors_point_at_their_column),
        cmocka_unit_test(unknown_names_suggest_the_nearest),
        cmocka_unit_test(wrong_argument_counts_are_refused),
        cmocka_unit_test(a_million_levels_are_an_error_not_a_crash),
        cmocka_unit_test(a_million_terms_are_an_error_not_a_crash),
        cmocka_unit_test(names_must_be_names),
        cmocka_unit_test(equal_parts_are_computed_once),
        cmocka_unit_test(a_branch_on_the_parity_of_the_column_is_specialised),
        cmocka_unit_test(remainders_share_a_common_period),
        cmocka_unit_test(operations_are_sorted_by_what_they_depend_on),
        cmocka_unit_test(what_does_not_fit_a_program_is_refused),
        cmocka_unit_test(failed_allocations_leave_nothing),
        cmocka_unit_test(an_expression_describes_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
