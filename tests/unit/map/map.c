/* Maps: what the calls compute, in every type, in place, repeated, by table, and what they refuse.
 */
#include "harness.h"

#include "map/map.h"

#include "base/matrix.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20261115

static tw_expr *read_expr(tw_context *ctx, const char *text, int32_t inputs)
{
    static const char *const names[] = {"x", "a", "b"};
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    tw_expr *expr = NULL;
    opts.inputs = names;
    opts.input_count = inputs;
    assert_ok(ctx, tw_expr_create(ctx, &expr, text, &opts));
    return expr;
}

static tw_matrix new_matrix(int64_t rows, int64_t cols, tw_type type)
{
    tw_matrix m = {NULL, rows, cols, cols + 3, type};
    m.data = malloc((size_t)(rows * m.stride + 1) * tw_type_size(type));
    assert_non_null(m.data);
    memset(m.data, 0xA5, (size_t)(rows * m.stride + 1) * tw_type_size(type));
    return m;
}

static void put(tw_matrix *m, int64_t r, int64_t c, double value)
{
    char *at = (char *)m->data + (size_t)(r * m->stride + c) * tw_type_size(m->type);
    switch (m->type) {
    case TW_U8:
        *(uint8_t *)at = (uint8_t)value;
        break;
    case TW_U16:
        *(uint16_t *)at = (uint16_t)value;
        break;
    case TW_I16:
        *(int16_t *)at = (int16_t)value;
        break;
    case TW_I32:
        *(int32_t *)at = (int32_t)value;
        break;
    case TW_F32:
        *(float *)at = (float)value;
        break;
    default:
        *(double *)at = value;
        break;
    }
}

static double get(const tw_matrix *m, int64_t r, int64_t c)
{
    return twi_element(twi_matrix_row(m, r), m->type, c);
}

/* Random values of a type: small and large ones, both signs, some special ones in floats. */
static tw_matrix random_matrix(int64_t rows, int64_t cols, tw_type type, uint64_t seed)
{
    static const double special[] = {
        0, -0.0, 1, -1, (double)INFINITY, -(double)INFINITY, (double)NAN, 1e-40, 3e38, 0.5};
    tw_matrix m = new_matrix(rows, cols, type);
    for (int64_t i = 0; i < rows * cols; i++) {
        uint64_t random = twi_random_at(seed, (uint64_t)i);
        double unit = twi_random_unit(random);
        double value = type == TW_U8    ? floor(unit * 256)
                       : type == TW_U16 ? floor(unit * 65536)
                       : type == TW_I16 ? floor(unit * 65536) - 32768
                       : type == TW_I32 ? floor((unit - 0.5) * 4294967296.0)
                                        : (unit - 0.3) * exp2((double)(random % 40) - 20);
        if ((type == TW_F32 || type == TW_F64) && random % 13 == 0) {
            value = special[random / 13 % 10];
        }
        put(&m, i / cols, i % cols, value);
    }
    return m;
}

/* The same bits everywhere; any NaN is NaN. */
static void assert_same(const tw_matrix *a, const tw_matrix *b, const char *what)
{
    for (int64_t r = 0; r < a->rows; r++) {
        for (int64_t c = 0; c < a->cols; c++) {
            double x = get(a, r, c), y = get(b, r, c);
            if (!((isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y)))) {
                fail_msg("%s: (%lld, %lld) is %.17g, not %.17g", what, (long long)r, (long long)c,
                         x, y);
            }
        }
    }
}

static tw_status map_by(tw_context *ctx, twi_map_method method, tw_matrix *out, const tw_expr *expr,
                        const tw_matrix *inputs, int32_t count, const tw_map_options *opts)
{
    tw_shape shapes[TWI_MAP_INPUTS];
    tw_map_plan *plan = NULL;
    for (int32_t i = 0; i < count; i++) {
        shapes[i] = (tw_shape){inputs[i].rows, inputs[i].cols, inputs[i].type};
    }
    tw_status status = twi_map_plan_make(ctx, &plan, expr, shapes, count, opts, method);
    if (status == TW_OK) {
        status = tw_map_plan_apply(ctx, plan, out, inputs, count, NULL);
    }
    tw_map_plan_destroy(plan);
    return status;
}

static tw_status check_by_intervals(tw_context *ctx, const tw_matrix *result, const tw_expr *expr,
                                    const tw_matrix *inputs, int32_t count,
                                    const tw_map_options *opts)
{
    tw_map_verifier *verifier = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_status status = tw_map_verifier_create(ctx, &verifier, expr, inputs, count, opts, 0, 1);
    if (status == TW_OK) {
        assert_int_equal(tw_map_verifier_sink(verifier, &sink), TW_OK);
        status = tw_feed(ctx, result, &sink, 1);
    }
    if (status == TW_OK) {
        int64_t checked = -1;
        status = tw_map_verifier_result(ctx, verifier, &checked);
        assert_true(status != TW_OK || checked == result->rows * result->cols);
    }
    tw_map_verifier_destroy(verifier);
    return status;
}

/* ------------------------------------------------------------------------------------ known values
 */

static void the_published_ten_values_come_out(void **state)
{
    (void)state;
    static const double in[] = {51, 45, 200, 142, 235, 118, 224, 184, 92, 154};
    static const double published[] = {53.4068, 67.3596, 204.203, 166.555, 235.619,
                                       142.202, 229.336, 209.047, 97.3885, 178.709};
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)", 1);
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    opts.repeat = 10;
    for (int32_t fast = 0; fast < 2; fast++) {
        tw_matrix m = new_matrix(3, 10, TW_F32);
        for (int64_t i = 0; i < 30; i++) {
            put(&m, i / 10, i % 10, in[i % 10]);
        }
        opts.fast = fast;
        assert_ok(ctx, tw_map(ctx, &m, expr, &m, 1, &opts)); /* in place */
        for (int64_t i = 0; i < 30; i++) { /* cos(x) + 1 near 0 magnifies what fast leaves */
            double error = fabs(get(&m, i / 10, i % 10) - published[i % 10]);
            assert_true(error <= (fast ? 2e-3 : 0) + 0.5e-3 * (published[i % 10] < 100 ? 0.1 : 1));
        }
        free(m.data);
    }
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void integers_are_rounded_to_even_and_clamped(void **state)
{
    (void)state;
    static const double in[] = {0.5, 1.5, 2.5, -0.5, -3, 254.5, 255.5, 1e9, (double)NAN, -1e9};
    static const struct {
        tw_type type;
        double out[10];
    } cases[] = {{TW_U8, {0, 2, 2, 0, 0, 254, 255, 255, 0, 0}},
                 {TW_U16, {0, 2, 2, 0, 0, 254, 256, 65535, 0, 0}},
                 {TW_I16, {0, 2, 2, 0, -3, 254, 256, 32767, 0, -32768}},
                 {TW_I32, {0, 2, 2, 0, -3, 254, 256, 1e9, 0, -1e9}}};
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x", 1);
    tw_matrix x = new_matrix(1, 10, TW_F32);
    for (int64_t c = 0; c < 10; c++) {
        put(&x, 0, c, in[c]);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        tw_matrix out = new_matrix(1, 10, cases[i].type);
        opts.type = cases[i].type;
        assert_ok(ctx, tw_map(ctx, &out, expr, &x, 1, &opts));
        for (int64_t c = 0; c < 10; c++) {
            assert_true(get(&out, 0, c) == cases[i].out[c]);
        }
        free(out.data);
    }
    free(x.data);
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void infinities_are_clamped_to_the_ends_of_i32(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x / 0", 1);
    static const tw_type computes[] = {TW_F32, TW_F64};
    for (int i = 0; i < 2; i++) {
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        tw_matrix x = new_matrix(1, 3, TW_F32), out = new_matrix(1, 3, TW_I32);
        opts.type = TW_I32;
        opts.compute = computes[i];
        opts.repeat = 2;
        for (int64_t c = 0; c < 3; c++) {
            put(&x, 0, c, (double)(c - 1));
        }
        assert_ok(ctx, tw_map(ctx, &out, expr, &x, 1, &opts));
        assert_true(get(&out, 0, 0) == INT32_MIN && get(&out, 0, 1) == 0 &&
                    get(&out, 0, 2) == INT32_MAX);
        free(x.data);
        free(out.data);
    }
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void the_compute_type_is_f64_beside_wide_types(void **state)
{
    (void)state;
    static const struct {
        tw_type in, asked, compute, type;
    } cases[] = {{TW_U8, TW_AUTO, TW_F32, TW_F32},  {TW_U16, TW_AUTO, TW_F32, TW_F32},
                 {TW_I16, TW_AUTO, TW_F32, TW_F32}, {TW_I32, TW_AUTO, TW_F64, TW_F64},
                 {TW_F32, TW_AUTO, TW_F32, TW_F32}, {TW_F64, TW_AUTO, TW_F64, TW_F64},
                 {TW_U8, TW_I32, TW_F64, TW_I32},   {TW_F64, TW_F32, TW_F64, TW_F32}};
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x * 2", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        tw_map_plan *plan = NULL;
        tw_map_plan_info info = TW_MAP_PLAN_INFO_INIT;
        tw_shape shape = {2, 2, cases[i].in};
        opts.type = cases[i].asked;
        assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, &shape, 1, &opts));
        assert_int_equal(tw_map_plan_describe(plan, &info), TW_OK);
        assert_int_equal(info.compute, cases[i].compute);
        assert_int_equal(info.shape.type, cases[i].type);
        assert_non_null(strstr(tw_map_plan_explain(plan), "expression  x * 2"));
        tw_map_plan_destroy(plan);
    }
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void no_data_stays_no_data(void **state)
{
    (void)state;
    static const struct {
        tw_type in, out;
        double mark;
        double x[4];
        double wanted[4]; /* of sqrt(x) + 1 */
    } cases[] = {
        {TW_F32, TW_F32, -9999, {4, -9999, 9, -1}, {3, -9999, 4, (double)NAN}},
        {TW_F32, TW_I16, -9999, {4, -9999, 9, -1}, {3, -9999, 4, -9999}}, /* NaN is no data */
        {TW_U8, TW_U8, 255, {4, 255, 9, 0}, {3, 255, 4, 1}},
        {TW_F64, TW_F64, (double)NAN, {4, (double)NAN, 9, 0}, {3, (double)NAN, 4, 1}},
        {TW_F32, TW_F32, 0.1, {4, 0.1, 9, 0}, {3, 0.1f, 4, 1}},
    };
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "sqrt(x) + 1", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        tw_matrix x = new_matrix(1, 4, cases[i].in), out = new_matrix(1, 4, cases[i].out);
        opts.type = cases[i].out;
        opts.no_data = &cases[i].mark;
        for (int64_t c = 0; c < 4; c++) {
            put(&x, 0, c, cases[i].x[c]);
        }
        assert_ok(ctx, tw_map(ctx, &out, expr, &x, 1, &opts));
        for (int64_t c = 0; c < 4; c++) {
            double got = get(&out, 0, c), wanted = cases[i].wanted[c];
            assert_true(got == wanted || (isnan(got) && isnan(wanted)));
        }
        assert_ok(ctx, check_by_intervals(ctx, &out, expr, &x, 1, &opts));
        free(x.data);
        free(out.data);
    }
    double mark = 300;
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    tw_matrix x = new_matrix(1, 1, TW_F32), out = new_matrix(1, 1, TW_U8);
    opts.type = TW_U8;
    opts.no_data = &mark;
    assert_fails(ctx, TW_ERR_RANGE, "does not fit the result type u8",
                 tw_map(ctx, &out, expr, &x, 1, &opts));
    mark = (double)NAN;
    assert_fails(ctx, TW_ERR_RANGE, "does not fit the result type",
                 tw_map(ctx, &out, expr, &x, 1, &opts));
    free(x.data);
    free(out.data);
    tw_expr_destroy(expr);
    close_context(ctx);
}

/* ----------------------------------------------------------------------- against the references */

static const char *const expressions[] = {
    "x + a * b",
    "a - b / x",
    "-x % (abs(a) + 1)",
    "x * 2 + 1",
    "255 - x",
    "x / 3",
    "x / 4",
    "x ^ 2 + a ^ 2",
    "x ^ -1 + a ^ 0 - b ^ 1",
    "(x < a) + (x <= a) * 2 + (x == a) * 4 + (x != a) * 8 + (x > a) * 16 + (x >= a) * 32",
    "x > 0 && a > 0 || !(b > 0)",
    "x > 100 ? a : b",
    "where(isnan(x), 0, x) + where(isinf(a), 1, a)",
    "min(x, a, b) + max(x, a)",
    "clamp(x, -1, 1) * sign(a)",
    "floor(x) + ceil(a) - trunc(b) + round(x) + rint(a)",
    "fmod(x, a)",
    "abs(x) + sqrt(abs(a))",
    "row * 1000 + col + x",
    "col % 2 ? x : -x",
    "(row + col) % 3 == 0 ? x : a",
    "row % 5 + col % 7 * 10",
    "row % 4 == 1 && col % 4 == 2 ? x * 2 : a",
    "rows * cols + pi - e",
    "7",
    "row",
    "col * 0.5",
    "x",
};
#define EXPRESSIONS (sizeof expressions / sizeof *expressions)

static const int64_t sizes[][2] = {{1, 1}, {1, 5}, {3, 4}, {7, 33}, {2, 257}, {5, 1030}};
#define SIZES (sizeof sizes / sizeof *sizes)

/* Exact operations have one right result: the bits of the reference, in every type. */
static void exact_expressions_have_the_bits_of_the_reference(void **state)
{
    (void)state;
    static const tw_type types[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
    tw_context *ctx = open_context();
    for (size_t e = 0; e < EXPRESSIONS; e++) {
        tw_expr *expr = read_expr(ctx, expressions[e], 3);
        for (size_t i = emulated_sizes_only() ? e % 2 : 0; i < 12;
             i += emulated_sizes_only() ? 2 : 1) {
            const int64_t *size = sizes[(e + i) % SIZES];
            tw_map_options opts = TW_MAP_OPTIONS_INIT;
            tw_matrix in[3], out, wanted;
            for (uint64_t k = 0; k < 3; k++) {
                in[k] = random_matrix(size[0], size[1], types[(i + k * (e % 3)) % 6], SEED + e + k);
            }
            opts.type = i < 6 ? types[i] : types[(i + e) % 6];
            opts.compute = i % 3 == 0 ? TW_AUTO : i % 3 == 1 ? TW_F32 : TW_F64;
            opts.repeat = 1 + (int64_t)(i % 4);
            out = new_matrix(size[0], size[1], opts.type);
            wanted = new_matrix(size[0], size[1], opts.type);
            assert_ok(ctx, map_by(ctx, TWI_MAP_DIRECT, &out, expr, in, 3, &opts));
            assert_ok(ctx, map_by(ctx, TWI_MAP_REFERENCE, &wanted, expr, in, 3, &opts));
            assert_same(&out, &wanted, expressions[e]);
            tw_status status =
                size[1] < 300 ? check_by_intervals(ctx, &wanted, expr, in, 3, &opts) : TW_OK;
            if (status != TW_OK) {
                fail_msg("%s, case %d: %s", expressions[e], (int)i, tw_last_error(ctx));
            }
            for (int k = 0; k < 3; k++) {
                free(in[k].data);
            }
            free(out.data);
            free(wanted.data);
        }
        tw_expr_destroy(expr);
    }
    close_context(ctx);
}

/* Whether root is the number nearest to the square root of x: x lies between the squares of the
 * midpoints to its neighbours. Only f32, whose midpoints have squares that are doubles. */
static bool is_nearest_root(float root, float x)
{
    double below = ((double)root + (double)nextafterf(root, 0)) / 2;
    double above = ((double)root + (double)nextafterf(root, (float)INFINITY)) / 2;
    return below * below <= (double)x && (double)x <= above * above;
}

/* A root that is computed with more digits and rounded again is another number for one argument in
 * thousands: 2435 is the first where it shows in f64 and 64 digits. */
static void roots_are_rounded_once(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "sqrt(x)", 1);
    for (int type_of = 0; type_of < FLOAT_TYPES; type_of++) {
        const tw_type type = float_types[type_of];
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        tw_matrix x = new_matrix(1, 20000, (tw_type)type);
        tw_matrix out = new_matrix(1, x.cols, x.type), wanted = new_matrix(1, x.cols, x.type);
        opts.type = x.type;
        for (int64_t c = 0; c < x.cols; c++) {
            put(&x, 0, c, c < 10000 ? (double)c : exp2((double)c / 100 - 150) * (double)c);
        }
        assert_ok(ctx, map_by(ctx, TWI_MAP_DIRECT, &out, expr, &x, 1, &opts));
        assert_ok(ctx, map_by(ctx, TWI_MAP_REFERENCE, &wanted, expr, &x, 1, &opts));
        assert_same(&out, &wanted, "sqrt(x)");
        assert_ok(ctx, check_by_intervals(ctx, &out, expr, &x, 1, &opts));
        for (int64_t c = 0; c < x.cols && type == TW_F32; c++) {
            assert_true(is_nearest_root((float)get(&wanted, 0, c), (float)get(&x, 0, c)));
        }
        free(x.data);
        free(out.data);
        free(wanted.data);
    }
    tw_expr_destroy(expr);
    close_context(ctx);
}

static const char *const functions[] = {
    "sqrt(x)",
    "cbrt(x)",
    "exp(x)",
    "exp2(x)",
    "expm1(x)",
    "log(x)",
    "log2(x)",
    "log10(x)",
    "log1p(x)",
    "sin(x)",
    "cos(x)",
    "tan(x)",
    "asin(x)",
    "acos(x)",
    "atan(x)",
    "sinh(x)",
    "cosh(x)",
    "tanh(x)",
    "asinh(x)",
    "acosh(x)",
    "atanh(x)",
    "atanh(x / 64)",
    "copysign(x, a)",
    "copysign(a - a, x)",
    "nextafter(x, a)",
    "nextafter(sin(x), exp(a))",
    "copysign(sin(x), exp(a) - 3)",
    "pow(x, a)",
    "atan2(x, a)",
    "hypot(x, a)",
    "x ^ 2 + x ^ 3 - x ^ 4",
    "x ^ -1 + x ^ -2",
    "x ^ 2.5",
    "x ^ -3",
    "exp(sin(x) * 3) / (1 + cos(x) ^ 2)",
    "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)",
    "where(x > a, log(abs(x)), exp(min(a, 80)))",
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

static void functions_lie_within_their_bounds(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (size_t f = 0; f < FUNCTIONS; f++) {
        tw_expr *expr = read_expr(ctx, functions[f], 2);
        for (int i = 0; i < 6; i++) {
            tw_map_options opts = TW_MAP_OPTIONS_INIT;
            const tw_type type = i % 2 == 0 ? TW_F32 : TW_F64;
            tw_matrix in[2] = {random_matrix(7, 60, type, SEED + f),
                               random_matrix(7, 60, type, SEED + 1000 + f)};
            tw_matrix out = new_matrix(7, 60, type);
            opts.fast = i / 2 % 2;
            opts.repeat = i < 4 ? 1 : 3;
            assert_ok(ctx, map_by(ctx, TWI_MAP_DIRECT, &out, expr, in, 2, &opts));
            tw_status status = check_by_intervals(ctx, &out, expr, in, 2, &opts);
            if (status != TW_OK) {
                fail_msg("%s in %s%s: %s", functions[f], tw_type_name(type),
                         opts.fast ? ", fast" : "", tw_last_error(ctx));
            }
            free(in[0].data);
            free(in[1].data);
            free(out.data);
        }
        tw_expr_destroy(expr);
    }
    close_context(ctx);
}

/* A random expression of the language, no deeper than `depth`, without division of rounding errors
 * by chance: what it is made of is all there is. */
static char *random_text(char *at, char *end, int depth, uint64_t *random)
{
    static const char *const leaves[] = {"x",   "a",  "b", "row",     "col",     "2",
                                         "0.5", "-3", "x", "col % 3", "row % 2", "(row + col) % 4",
                                         "1e3", "pi"};
    static const char *const binary[] = {
        "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "^"};
    static const char *const calls[] = {
        "abs",      "sqrt",  "cbrt", "exp",   "exp2",  "expm1", "log",  "log2",  "log10",
        "log1p",    "sin",   "cos",  "tan",   "asin",  "acos",  "atan", "sinh",  "cosh",
        "tanh",     "floor", "ceil", "round", "rint",  "trunc", "sign", "isnan", "isinf",
        "isfinite", "-",     "!",    "asinh", "acosh", "atanh"};
    static const char *const pairs[] = {"min",   "max",   "fmod",     "pow",
                                        "atan2", "hypot", "copysign", "nextafter"};
    *random = twi_random_at(*random, 1);
    const uint64_t r = *random >> 8;
    const int kind = depth == 0 ? 0 : (int)(*random % 8);
    if (kind <= 1) {
        return at + snprintf(at, (size_t)(end - at), "%s", leaves[r % 14]);
    }
    at += snprintf(at, (size_t)(end - at), "%s(",
                   kind <= 4   ? ""
                   : kind == 5 ? calls[r % (sizeof calls / sizeof *calls)]
                   : kind == 6 ? pairs[r % (sizeof pairs / sizeof *pairs)]
                               : "where");
    at = random_text(at, end, depth - 1, random);
    if (kind <= 4) {
        at += snprintf(at, (size_t)(end - at), ") %s (", binary[r % 14]);
        at = random_text(at, end, depth - 1, random);
    }
    for (int more = kind == 6 ? 1 : kind == 7 ? 2 : 0; more > 0; more--) {
        at += snprintf(at, (size_t)(end - at), ", ");
        at = random_text(at, end, depth - 1, random);
    }
    return at + snprintf(at, (size_t)(end - at), ")");
}

static void random_expressions_lie_within_their_bounds(void **state)
{
    (void)state;
    static const tw_type types[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
    tw_context *ctx = open_context();
    uint64_t random = SEED;
    for (int i = 0; i < (emulated_sizes_only() ? 150 : 400); i++) {
        char text[4096];
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        tw_matrix in[3];
        random_text(text, text + sizeof text, 1 + i % 4, &random);
        tw_expr *expr = read_expr(ctx, text, 3);
        for (int k = 0; k < 3; k++) {
            in[k] = random_matrix(k == 2 && i % 3 == 0 ? 1 : 4, k == 1 && i % 4 == 0 ? 1 : 37,
                                  types[(i + k * i) % 6], SEED + (uint64_t)(i * 3 + k));
        }
        opts.type = types[random % 6];
        opts.compute = i % 2 == 0 ? TW_F32 : TW_F64;
        opts.repeat = 1 + i % 3;
        opts.fast = i % 5 == 0;
        double mark = 2;
        opts.no_data = i % 7 == 0 ? &mark : NULL;
        tw_matrix out = new_matrix(4, 37, opts.type);
        assert_ok(ctx, map_by(ctx, TWI_MAP_DIRECT, &out, expr, in, 3, &opts));
        tw_status status = check_by_intervals(ctx, &out, expr, in, 3, &opts);
        if (status != TW_OK) {
            fail_msg("%d: %s, %lld times, in %s: %s", i, text, (long long)opts.repeat,
                     tw_type_name(opts.compute), tw_last_error(ctx));
        }
        for (int k = 0; k < 3; k++) {
            free(in[k].data);
        }
        free(out.data);
        tw_expr_destroy(expr);
    }
    close_context(ctx);
}

/* f(0.7) is f(x) where x is 0.7, to the bit: folding a constant changes nothing. */
static void a_constant_has_the_bits_of_an_element(void **state)
{
    (void)state;
    static const double values[] = {0.7, 0.37, 1.3352, 2.5, 11.1, 0.8765, 1e-3, 0.1, 3.3, 0.99};
    static const char *const forms[] = {
        "cbrt(%s)",       "exp(%s)",          "exp2(%s)",         "expm1(%s)", "log(%s)",
        "log2(%s)",       "log10(%s)",        "log1p(%s)",        "sin(%s)",   "cos(%s)",
        "tan(%s)",        "asin(%s)",         "acos(%s)",         "atan(%s)",  "sinh(%s)",
        "cosh(%s)",       "tanh(%s)",         "pow(%s, 0.31)",    "asinh(%s)", "acosh(%s + 1)",
        "atanh(%s / 16)", "copysign(%s, -2)", "nextafter(%s, 9)", "%s ^ 3",    "%s ^ 4",
        "%s ^ -2",        "hypot(%s, 1.9)",   "atan2(%s, 1.9)",   "sqrt(%s)"};
    tw_context *ctx = open_context();
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        for (size_t i = 0; i < 2 * sizeof values / sizeof *values; i++) {
            tw_map_options opts = TW_MAP_OPTIONS_INIT;
            const tw_type type = i % 2 == 0 ? TW_F32 : TW_F64;
            char number[40], texts[2][80];
            tw_matrix x = new_matrix(1, 1, type), out[2];
            opts.type = opts.compute = type;
            put(&x, 0, 0, values[i / 2]);
            snprintf(number, sizeof number, "%.17g", get(&x, 0, 0));
            snprintf(texts[0], sizeof texts[0], forms[f], number);
            snprintf(texts[1], sizeof texts[1], forms[f], "x");
            for (int k = 0; k < 2; k++) {
                tw_expr *expr = read_expr(ctx, texts[k], 1);
                out[k] = new_matrix(1, 1, type);
                assert_ok(ctx, map_by(ctx, TWI_MAP_DIRECT, &out[k], expr, &x, 1, &opts));
                tw_expr_destroy(expr);
            }
            assert_same(&out[0], &out[1], texts[0]);
            free(out[0].data);
            free(out[1].data);
            free(x.data);
        }
    }
    close_context(ctx);
}

static tw_status count_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)self, (void)ctx, (void)shape;
    return TW_OK;
}

static tw_status count_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                            const void *data, int64_t stride)
{
    (void)ctx, (void)first, (void)data, (void)stride;
    int64_t *seen = self;
    seen[0]++;
    seen[1] = count;
    return TW_OK;
}

static tw_status count_end(void *self, tw_context *ctx)
{
    (void)self, (void)ctx;
    return TW_OK;
}

static void count_abort(void *self, tw_context *ctx)
{
    (void)self, (void)ctx;
}

/* There is nothing to compute: not one block of nothing after the other. */
static void rows_without_columns_are_passed_on_at_once(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x + 1", 1);
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    float nothing = 0;
    tw_matrix x = {&nothing, INT64_MAX, 0, 0, TW_F32};
    const tw_shape shape = {x.rows, x.cols, x.type};
    int64_t seen[2] = {0, 0};
    tw_sink sink = {sizeof sink, seen, count_begin, count_rows, count_end, count_abort, NULL};
    tw_map_plan *plan = NULL;
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, &shape, 1, &opts));
    assert_ok(ctx, tw_map_plan_run(ctx, plan, &x, 1, &sink, 1, NULL));
    assert_true(seen[0] == 1 && seen[1] == INT64_MAX);
    assert_ok(ctx, tw_feed(ctx, &x, &sink, 1));
    assert_true(seen[0] == 2);
    tw_map_plan_destroy(plan);
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void a_wrong_element_is_found(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "log(abs(x) + 1) * 3", 1);
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    tw_matrix x = random_matrix(9, 9, TW_F32, SEED), out = new_matrix(9, 9, TW_F32);
    put(&x, 4, 7, 10);
    assert_ok(ctx, tw_map(ctx, &out, expr, &x, 1, &opts));
    assert_ok(ctx, check_by_intervals(ctx, &out, expr, &x, 1, &opts));
    float *at = (float *)twi_matrix_row(&out, 4) + 7;
    float right = *at;
    *at = right * (1 + 8 * 0x1p-23f);
    assert_fails(ctx, TW_ERR_VERIFY, "row 4, column 7",
                 check_by_intervals(ctx, &out, expr, &x, 1, &opts));
    *at = (float)NAN;
    assert_fails(ctx, TW_ERR_VERIFY, "row 4, column 7",
                 check_by_intervals(ctx, &out, expr, &x, 1, &opts));
    free(x.data);
    free(out.data);
    tw_expr_destroy(expr);
    close_context(ctx);
}

/* -------------------------------------------------------------------------------------- repetition
 */

static void repeating_has_the_bits_of_repeated_runs(void **state)
{
    (void)state;
    static const char *const texts[] = {"x + sqrt((col % 2 ? log(x) : cos(x)) + 1)",
                                        "x * 1.1 + a - col % 3", "(x + a) / 2 + row", "x * x / 3",
                                        "a"};
    static const tw_type types[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
    tw_context *ctx = open_context();
    for (size_t e = 0; e < sizeof texts / sizeof *texts; e++) {
        tw_expr *expr = read_expr(ctx, texts[e], 2);
        for (size_t t = 0; t < 12; t++) {
            for (int with_mark = 0; with_mark < 2; with_mark++) {
                const tw_type type = types[t % 6];
                tw_map_options opts = TW_MAP_OPTIONS_INIT;
                double mark = 7;
                tw_matrix in[2] = {random_matrix(5, 37, types[(t / 6 * 2 + t) % 6], SEED + t),
                                   random_matrix(5, 37, TW_U8, SEED + 50 + t)};
                tw_matrix whole = new_matrix(5, 37, type), steps = new_matrix(5, 37, type);
                opts.type = type;
                opts.compute = t % 2 == 0 ? TW_F32 : TW_F64;
                opts.no_data = with_mark ? &mark : NULL;
                opts.repeat = 7;
                assert_ok(ctx, tw_map(ctx, &whole, expr, in, 2, &opts));
                opts.repeat = 1;
                assert_ok(ctx, tw_map(ctx, &steps, expr, in, 2, &opts));
                for (int i = 1; i < 7; i++) {
                    tw_matrix again[2] = {steps, in[1]};
                    assert_ok(ctx, tw_map(ctx, &steps, expr, again, 2, &opts));
                }
                assert_same(&whole, &steps, texts[e]);
                free(in[0].data);
                free(in[1].data);
                free(whole.data);
                free(steps.data);
            }
        }
        tw_expr_destroy(expr);
    }
    close_context(ctx);
}

/* ------------------------------------------------------------------------------------------ tables
 */

static void tables_have_the_bits_of_the_direct_way(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)", "255 - x", "x * x / 200 + 3",
        "(row + col) % 3 == 0 ? exp(x / 50) : sin(x)", "row % 4 ? x : 128 - x / 2"};
    static const tw_type outs[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
    static const int64_t repeats[] = {1, 2, 5, 1000};
    tw_context *ctx = open_context();
    for (size_t e = 0; e < sizeof texts / sizeof *texts; e++) {
        tw_expr *expr = read_expr(ctx, texts[e], 1);
        for (size_t i = emulated_sizes_only() ? e % 3 : 0; i < 24;
             i += emulated_sizes_only() ? 3 : 1) {
            const bool small = i % 8 != 0;
            tw_map_options opts = TW_MAP_OPTIONS_INIT;
            opts.type = outs[i % 6];
            opts.repeat = repeats[small ? i / 6 : i / 12];
            opts.fast = i % 5 == 0;
            tw_matrix x = random_matrix(5, 83, small ? TW_U8 : TW_U16, SEED + i);
            tw_matrix table = new_matrix(5, 83, opts.type), direct = new_matrix(5, 83, opts.type);
            assert_ok(ctx, map_by(ctx, TWI_MAP_TABLE, &table, expr, &x, 1, &opts));
            assert_ok(ctx, map_by(ctx, TWI_MAP_DIRECT, &direct, expr, &x, 1, &opts));
            assert_same(&table, &direct, texts[e]);
            free(x.data);
            free(table.data);
            free(direct.data);
        }
        tw_expr_destroy(expr);
    }
    close_context(ctx);
}

static const char *method_of(tw_context *ctx, const char *text, int32_t inputs, tw_type type,
                             int64_t side, int64_t repeat)
{
    tw_expr *expr = read_expr(ctx, text, inputs);
    tw_shape shapes[3] = {{side, side, type}, {side, side, type}, {side, side, type}};
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    tw_map_plan *plan = NULL;
    tw_map_plan_info info = TW_MAP_PLAN_INFO_INIT;
    opts.repeat = repeat;
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, shapes, inputs, &opts));
    assert_int_equal(tw_map_plan_describe(plan, &info), TW_OK);
    tw_map_plan_destroy(plan);
    tw_expr_destroy(expr);
    return info.method;
}

static void tables_are_chosen_where_they_pay(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_string_equal(method_of(ctx, "sqrt(x)", 1, TW_U8, 1000, 1), "table");
    assert_string_equal(method_of(ctx, "col % 2 ? sqrt(x) : exp(x)", 1, TW_U8, 1000, 1), "table");
    assert_string_equal(method_of(ctx, "x + a", 2, TW_U8, 1000, 1), "direct");
    assert_string_equal(method_of(ctx, "x + col", 1, TW_U8, 1000, 1), "direct");
    assert_string_equal(method_of(ctx, "sqrt(x)", 1, TW_U8, 10, 1), "direct");
    assert_string_equal(method_of(ctx, "sqrt(x)", 1, TW_F32, 1000, 1), "direct");
    assert_string_equal(method_of(ctx, "x + 1", 1, TW_U16, 1000, 1), "direct");
    assert_string_equal(method_of(ctx, "x + 1", 1, TW_U16, 1000, 100), "table");
    assert_string_equal(method_of(ctx, "a", 2, TW_U8, 1000, 2), "direct");
    close_context(ctx);
}

/* ------------------------------------------------------------------------------ shapes and places
 */

static void one_row_and_one_column_are_repeated(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x * 100 + a * 10 + b", 3);
    for (int repeat = 1; repeat <= 3; repeat += 2) {
        tw_map_options opts = TW_MAP_OPTIONS_INIT;
        tw_matrix in[3] = {random_matrix(1, 70, TW_F32, 1), random_matrix(6, 1, TW_U8, 2),
                           random_matrix(1, 1, TW_I16, 3)};
        tw_matrix out = new_matrix(6, 70, TW_F32), wanted = new_matrix(6, 70, TW_F32);
        opts.repeat = repeat;
        assert_ok(ctx, map_by(ctx, TWI_MAP_DIRECT, &out, expr, in, 3, &opts));
        assert_ok(ctx, map_by(ctx, TWI_MAP_REFERENCE, &wanted, expr, in, 3, &opts));
        assert_same(&out, &wanted, "broadcast");
        assert_ok(ctx, check_by_intervals(ctx, &out, expr, in, 3, &opts));
        if (repeat == 1) {
            float by_hand = (float)get(&in[0], 0, 69) * 100 + (float)get(&in[1], 5, 0) * 10 +
                            (float)get(&in[2], 0, 0);
            assert_true((float)get(&out, 5, 69) == by_hand || isnan(by_hand));
        }
        for (int k = 0; k < 3; k++) {
            free(in[k].data);
        }
        free(out.data);
        free(wanted.data);
    }
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x + a", 2);
    tw_shape shapes[2] = {{3, 4, TW_F32}, {3, 5, TW_F32}};
    tw_map_plan *plan = NULL;
    assert_fails(ctx, TW_ERR_ARGUMENT, "input 1 has 4 columns, input 2 has 5",
                 tw_map_plan_create(ctx, &plan, expr, shapes, 2, NULL));
    shapes[1] = (tw_shape){2, 4, TW_F32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "input 1 has 3 rows, input 2 has 2",
                 tw_map_plan_create(ctx, &plan, expr, shapes, 2, NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "has 2 inputs; got 1",
                 tw_map_plan_create(ctx, &plan, expr, shapes, 1, NULL));
    shapes[1] = (tw_shape){3, 4, 99};
    assert_fails(ctx, TW_ERR_ARGUMENT, "input 2 is not an array",
                 tw_map_plan_create(ctx, &plan, expr, shapes, 2, NULL));
    shapes[1] = (tw_shape){3, -4, TW_U8};
    assert_fails(ctx, TW_ERR_ARGUMENT, "input 2 is not an array",
                 tw_map_plan_create(ctx, &plan, expr, shapes, 2, NULL));
    tw_matrix x = new_matrix(3, 4, TW_F32), a = new_matrix(1, 4, TW_F32), out = x;
    tw_matrix in[2] = {x, a};
    out.rows = 2;
    assert_fails(ctx, TW_ERR_ARGUMENT, "the result must be", tw_map(ctx, &out, expr, in, 2, NULL));
    out = x;
    out.type = TW_F64;
    assert_fails(ctx, TW_ERR_ARGUMENT, "the result must be", tw_map(ctx, &out, expr, in, 2, NULL));
    free(x.data);
    free(a.data);
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void options_out_of_range_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x", 1);
    tw_shape shape = {3, 4, TW_F32};
    tw_map_plan *plan = NULL;
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    opts.repeat = 0;
    assert_fails(ctx, TW_ERR_ARGUMENT, "repeat is 0",
                 tw_map_plan_create(ctx, &plan, expr, &shape, 1, &opts));
    opts.repeat = 1;
    opts.compute = TW_U8;
    assert_fails(ctx, TW_ERR_ARGUMENT, "cannot compute in u8",
                 tw_map_plan_create(ctx, &plan, expr, &shape, 1, &opts));
    opts.compute = TW_AUTO;
    opts.type = 77;
    assert_fails(ctx, TW_ERR_ARGUMENT, "result type",
                 tw_map_plan_create(ctx, &plan, expr, &shape, 1, &opts));
    opts.size = 0;
    assert_fails(ctx, TW_ERR_ARGUMENT, "TW_MAP_OPTIONS_INIT",
                 tw_map_plan_create(ctx, &plan, expr, &shape, 1, &opts));
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void a_map_in_place_is_the_same_map(void **state)
{
    (void)state;
    static const char *const texts[] = {"x * 2 + a", "col % 2 ? log(abs(x) + 1) : cos(x)",
                                        "col % 4 == 3 ? exp(-abs(x)) : sin(x)"};
    tw_context *ctx = open_context();
    for (size_t e = 0; e < 3; e++) {
        tw_expr *expr = read_expr(ctx, texts[e], 2);
        for (int type_of = 0; type_of < ELEMENT_TYPES; type_of++) {
            const tw_type type = element_types[type_of];
            tw_map_options opts = TW_MAP_OPTIONS_INIT;
            tw_matrix in[2] = {random_matrix(6, 1111, type, 5), random_matrix(1, 1111, TW_F32, 6)};
            tw_matrix apart = new_matrix(6, 1111, type);
            opts.type = type;
            assert_ok(ctx, tw_map(ctx, &apart, expr, in, 2, &opts));
            assert_ok(ctx, tw_map(ctx, &in[0], expr, in, 2, &opts));
            assert_same(&in[0], &apart, texts[e]);
            free(in[0].data);
            free(in[1].data);
            free(apart.data);
        }
        tw_expr_destroy(expr);
    }
    close_context(ctx);
}

static void other_overlaps_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x + a", 2);
    float data[64] = {0};
    tw_matrix in[2] = {{data, 4, 4, 4, TW_F32}, {data + 32, 1, 4, 4, TW_F32}};
    tw_matrix out = {data + 1, 4, 4, 4, TW_F32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "overlaps input 1", tw_map(ctx, &out, expr, in, 2, NULL));
    out = (tw_matrix){data + 24, 4, 4, 4, TW_F32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "overlaps input 2", tw_map(ctx, &out, expr, in, 2, NULL));
    out = (tw_matrix){data, 4, 4, 5, TW_F32};
    assert_fails(ctx, TW_ERR_ARGUMENT, "overlaps input 1", tw_map(ctx, &out, expr, in, 2, NULL));
    out = (tw_matrix){data + 16, 4, 4, 4, TW_F32};
    assert_ok(ctx, tw_map(ctx, &out, expr, in, 2, NULL));
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void an_empty_array_has_an_empty_map(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x + row", 1);
    static const int64_t empty[][2] = {{0, 0}, {0, 5}, {5, 0}};
    for (int i = 0; i < 3; i++) {
        tw_matrix x = {NULL, empty[i][0], empty[i][1], empty[i][1], TW_F32};
        assert_ok(ctx, tw_map(ctx, &x, expr, &x, 1, NULL));
    }
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void sinks_receive_what_a_matrix_receives(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "x * row - col", 1);
    tw_matrix x = random_matrix(40, 300000, TW_U8, 9); /* more than one block */
    tw_matrix out = new_matrix(40, 300000, TW_F32), pushed = new_matrix(40, 300000, TW_F32);
    tw_shape shape = {40, 300000, TW_U8};
    tw_map_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_map_report report = TW_MAP_REPORT_INIT;
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, &shape, 1, NULL));
    assert_ok(ctx, tw_map_plan_apply(ctx, plan, &out, &x, 1, NULL));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &pushed));
    assert_ok(ctx, tw_map_plan_run(ctx, plan, &x, 1, &sink, 1, &report));
    assert_string_equal(report.method, "direct");
    tw_sink_destroy(&sink);
    assert_same(&out, &pushed, "sinks");
    tw_map_plan_destroy(plan);
    free(x.data);
    free(out.data);
    free(pushed.data);
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "row % 3 ? exp(sin(x)) : log(abs(x) + col)", 1);
    tw_matrix x = random_matrix(61, 997, TW_F32, 4), one = new_matrix(61, 997, TW_F32);
    assert_ok(ctx, tw_set_threads(ctx, 1));
    assert_ok(ctx, tw_map(ctx, &one, expr, &x, 1, NULL));
    for (int32_t threads = 2; threads <= 5; threads++) {
        tw_matrix many = new_matrix(61, 997, TW_F32);
        assert_ok(ctx, tw_set_threads(ctx, threads));
        assert_ok(ctx, tw_map(ctx, &many, expr, &x, 1, NULL));
        assert_same(&many, &one, "threads");
        free(many.data);
    }
    free(x.data);
    free(one.data);
    tw_expr_destroy(expr);
    close_context(ctx);
}

/* So large that no cache holds it: in one step, in several, and by residues; at the beginning of a
 * line or not, apart or in place, as floats and as whole numbers. */
enum { LARGE_COLS = 4321, LARGE = 2000 * LARGE_COLS }; /* 34 MB of f32 */

static float large_operand(int64_t i)
{
    return (float)(i % 1021) - (float)(i % 7);
}

/* Whole numbers: nothing is rounded. */
static float large_value(int which, float a, float b, float c, int64_t i)
{
    return which == 0                ? a * b + c
           : which == 1              ? (a + b) * (b - c) + a
           : i % LARGE_COLS % 2 != 0 ? a * b + c
                                     : a + b + c;
}

static void check_large(tw_context *ctx, int which, float *memory, char *out, tw_type type, int at)
{
    static const char *const texts[] = {"a * b + c", "(a + b) * (b - c) + a",
                                        "(col % 2 ? a * b : a + b) + c"};
    static const char *const names[3] = {"a", "b", "c"};
    tw_expr *expr = NULL;
    tw_expr_options asked = TW_EXPR_OPTIONS_INIT;
    tw_map_options options = TW_MAP_OPTIONS_INIT;
    tw_matrix in[3];
    asked.inputs = names;
    asked.input_count = 3;
    options.compute = TW_F32;
    options.type = type;
    assert_ok(ctx, tw_expr_create(ctx, &expr, texts[which], &asked));
    for (int64_t k = 0; k < 3; k++) {
        in[k] = (tw_matrix){memory + k * LARGE, LARGE / LARGE_COLS, LARGE_COLS, LARGE_COLS, TW_F32};
    }
    for (int64_t i = 0; i < LARGE; i++) {
        memory[i] = large_operand(i);
    }
    char *to = at < 0 ? (char *)memory : out + at * (int64_t)sizeof(float); /* below 0: in place */
    tw_matrix result = {to, LARGE / LARGE_COLS, LARGE_COLS, LARGE_COLS, type};
    memset(out, 0x5a, (size_t)(LARGE + 64) * sizeof(float));
    assert_ok(ctx, tw_map(ctx, &result, expr, in, 3, &options));
    for (int64_t i = 0; i < LARGE; i++) {
        const float right =
            large_value(which, large_operand(i), memory[LARGE + i], memory[2 * LARGE + i], i);
        const float found = type == TW_F32 ? ((float *)to)[i] : (float)((int32_t *)to)[i];
        if (found != right) {
            fail_msg("%s: element %lld at %d", texts[which], (long long)i, at);
        }
    }
    for (int k = 0; k < 20 && at >= 0; k++) {
        assert_int_equal((to + LARGE * sizeof(float))[k], 0x5a);
    }
    tw_expr_destroy(expr);
}

static void a_large_result_is_that_of_a_plain_loop(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    float *memory = aligned_alloc(64, (size_t)(3 * (int64_t)LARGE + 16) * sizeof *memory);
    char *out = aligned_alloc(64, (size_t)(LARGE + 64) * sizeof(float));
    assert_non_null(memory);
    assert_non_null(out);
    for (int64_t i = 0; i < 3 * (int64_t)LARGE; i++) {
        memory[i] = large_operand(i);
    }
    for (int which = 0; which < 3; which++) {
        check_large(ctx, which, memory, out, TW_F32, 0);
        check_large(ctx, which, memory, out, TW_F32, 5);
        check_large(ctx, which, memory, out, TW_F32, -1);
    }
    check_large(ctx, 2, memory, out, TW_I32, 3);
    free(out);
    free(memory);
    close_context(ctx);
}

static void a_cancelled_map_stops(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "sqrt(x)", 1);
    tw_matrix x = random_matrix(300, 300, TW_U8, 4), out = new_matrix(300, 300, TW_F32);
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "", tw_map(ctx, &out, expr, &x, 1, NULL));
    tw_clear_cancel(ctx);
    tw_map_plan *plan = NULL;
    tw_shape shape = {300, 300, TW_U8};
    assert_ok(ctx, tw_map_plan_create(ctx, &plan, expr, &shape, 1, NULL));
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "", tw_map_plan_apply(ctx, plan, &out, &x, 1, NULL));
    tw_map_plan_destroy(plan);
    free(x.data);
    free(out.data);
    tw_expr_destroy(expr);
    close_context(ctx);
}

static void failed_allocations_leave_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_expr *expr = read_expr(ctx, "col % 2 ? sqrt(x) : log(x)", 1);
    tw_matrix x = random_matrix(60, 60, TW_U8, 4), out = new_matrix(60, 60, TW_F32);
    const int64_t before = twi_meter_blocks(ctx->meter);
    for (int64_t k = 1;; k++) {
        twi_meter_fail_at(ctx->meter, k);
        tw_status status = tw_map(ctx, &out, expr, &x, 1, NULL);
        if (status == TW_OK) {
            status = check_by_intervals(ctx, &out, expr, &x, 1, NULL);
        }
        twi_meter_fail_at(ctx->meter, 0);
        assert_int_equal(twi_meter_blocks(ctx->meter), before);
        if (status == TW_OK) {
            assert_true(k > 10);
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
    }
    free(x.data);
    free(out.data);
    tw_expr_destroy(expr);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_ten_values_come_out),
        cmocka_unit_test(integers_are_rounded_to_even_and_clamped),
        cmocka_unit_test(infinities_are_clamped_to_the_ends_of_i32),
        cmocka_unit_test(the_compute_type_is_f64_beside_wide_types),
        cmocka_unit_test(no_data_stays_no_data),
        cmocka_unit_test(exact_expressions_have_the_bits_of_the_reference),
        cmocka_unit_test(roots_are_rounded_once),
        cmocka_unit_test(a_constant_has_the_bits_of_an_element),
        cmocka_unit_test(rows_without_columns_are_passed_on_at_once),
        cmocka_unit_test(functions_lie_within_their_bounds),
        cmocka_unit_test(random_expressions_lie_within_their_bounds),
        cmocka_unit_test(a_wrong_element_is_found),
        cmocka_unit_test(repeating_has_the_bits_of_repeated_runs),
        cmocka_unit_test(tables_have_the_bits_of_the_direct_way),
        cmocka_unit_test(tables_are_chosen_where_they_pay),
        cmocka_unit_test(one_row_and_one_column_are_repeated),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(a_map_in_place_is_the_same_map),
        cmocka_unit_test(other_overlaps_are_refused),
        cmocka_unit_test(an_empty_array_has_an_empty_map),
        cmocka_unit_test(sinks_receive_what_a_matrix_receives),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_large_result_is_that_of_a_plain_loop),
        cmocka_unit_test(a_cancelled_map_stops),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
