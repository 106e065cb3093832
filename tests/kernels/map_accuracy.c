/* How near to the truth, as MPFR has it, the vector functions are, the C library's that
 * verification leans on, and the intervals it makes of them. */
#include "harness.h"
#include "map/functions/reduce.h"
#include "map/interval.h"
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1024, EDGE_WAYS = 6 };

static const twi_map_kernel *best_kernel(void)
{
    tw_context *ctx = open_context();
    twi_isa isa;
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    close_context(ctx);
    return twi_map_kernel_find(isa);
}

/* ------------------------------------------------------------------------------- the arguments */

/* A block is always computed whole; compared with the truth, which takes a hundred times as long,
 * are every step-th of its first `count` elements. */
typedef struct arguments {
    double a[BLOCK], b[BLOCK];
    int count, step;
} arguments;

static void fill_samples(arguments *to, tw_type type, uint64_t seed)
{
    to->count = BLOCK;
    to->step = emulated_sizes_only() ? 3 : 1; /* odd: every lane has its turn */
    for (int i = 0; i < BLOCK; i++) {
        uint64_t r[4];
        for (int k = 0; k < 4; k++) {
            r[k] = twi_random_at(seed, (uint64_t)(4 * i + k));
        }
        bool f32 = type == TW_F32;
        to->a[i] = f32 ? (double)ulp_sample_f32(r[0]) : ulp_sample_f64(r[0], r[1]);
        to->b[i] = f32 ? (double)ulp_sample_f32(r[2]) : ulp_sample_f64(r[2], r[3]);
    }
}

/* Edge number i: one of ulp_edges, its negative, or a neighbour of either. */
static double edge(int64_t i, tw_type type)
{
    double x = ulp_edges[i / EDGE_WAYS];
    const int way = (int)(i % EDGE_WAYS);
    if (way & 1) {
        x = -x;
    }
    if (way < 2) {
        return twi_scalar_round(x, type);
    }
    double to = way < 4 ? (double)INFINITY : -(double)INFINITY;
    return type == TW_F32 ? (double)nextafterf((float)x, (float)to) : nextafter(x, to);
}

#define EDGES ((int64_t)ULP_EDGES * EDGE_WAYS)

/* Pairs of edges `from` and on, all `edges` of them in turn; the last block begins again, where
 * nothing new is left to compare. */
static void fill_edges(arguments *to, tw_type type, int64_t from, int64_t edges)
{
    to->count = (int)(edges - from < BLOCK ? edges - from : BLOCK);
    to->step = 1;
    for (int i = 0; i < BLOCK; i++) {
        int64_t at = (from + i) % (EDGES * EDGES);
        to->a[i] = edge(at % EDGES, type);
        to->b[i] = edge(at / EDGES, type);
    }
}

/* Calls `each` with the samples and the edges of a function's arguments. */
typedef void (*each_fn)(const ulp_function *f, tw_type type, const arguments *args);

static void check_kernels(const ulp_function *f, tw_type type, const arguments *args);

static void on_all_arguments(const ulp_function *f, tw_type type, int blocks, each_fn each)
{
    static arguments args;
    const int64_t edges = f->arguments == 1 ? EDGES : EDGES * EDGES;
    /* All pairs of edges take seconds: a share of them, in which each meets some of the others, is
     * enough for all but the functions themselves, and for those in every build but one. */
    const bool share = each != check_kernels || small_sizes_only();
    blocks = emulated_sizes_only() ? 1 : small_sizes_only() ? blocks / 6 : blocks;
    const int64_t steps = f->arguments == 1 || !share ? 1 : emulated_sizes_only() ? 127 : 31;
    const int64_t step = steps * BLOCK;
    for (int b = 0; b < blocks; b++) {
        fill_samples(&args, type, 1000 * (uint64_t)f->op + (uint64_t)b);
        each(f, type, &args);
    }
    for (int64_t from = 0; from < edges; from += step) {
        fill_edges(&args, type, from, edges);
        each(f, type, &args);
    }
}

static bool is_exact(const ulp_function *f)
{
    return twi_op_ulp(f->op, TW_F64, false) <= 0.5;
}

/* ------------------------------------------------------------------------- the vector functions */

static const twi_map_kernel *kernel;

static void run_block(double *out, twi_map_block_fn run, tw_type type, const arguments *args)
{
    static float in[2][BLOCK], single[BLOCK];
    const int64_t step[3] = {1, 1, 1};
    if (type == TW_F64) {
        run(out, (const void *const[3]){args->a, args->b, args->b}, step, BLOCK);
        return;
    }
    for (int i = 0; i < BLOCK; i++) {
        in[0][i] = (float)args->a[i];
        in[1][i] = (float)args->b[i];
    }
    run(single, (const void *const[3]){in[0], in[1], in[1]}, step, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        out[i] = (double)single[i];
    }
}

static void check_error(const char *name, tw_type type, double a, double b, double got,
                        ulp_truth truth, double bound)
{
    double error = ulp_error(got, truth, type);
    if (!(error <= bound)) {
        fail_msg("%s(%a, %a) = %a in %s is %g ulp off; the bound is %g", name, a, b, got,
                 tw_type_name(type), error, bound);
    }
}

/* Exact functions and correctly rounded ones are half a unit off at most. */
static double bound_of(twi_op op, tw_type type, bool fast)
{
    return fmax(0.5, twi_op_ulp(op, type, fast));
}

static void check_kernels(const ulp_function *f, tw_type type, const arguments *args)
{
    static double out[2][BLOCK];
    const twi_map_machine *machine = type == TW_F32 ? kernel->f32 : kernel->f64;
    memset(out, 0x55, sizeof out);
    run_block(out[0], machine->operation[f->op], type, args);
    run_block(out[1], machine->fast[f->op], type, args);
    for (int i = 0; i < args->count; i += args->step) {
        const double a = args->a[i], b = args->b[i];
        if ((f->op == TWI_OP_MIN || f->op == TWI_OP_MAX) && a == 0 && b == 0) {
            continue; /* which zero is not said */
        }
        ulp_truth truth = truth_of(f->op, a, b, type);
        check_error(f->name, type, a, b, out[0][i], truth, bound_of(f->op, type, false));
        check_error(f->name, type, a, b, out[1][i], truth, bound_of(f->op, type, true));
    }
}

static void functions_stay_within_their_bounds(void **state)
{
    (void)state;
    kernel = best_kernel();
    for (int i = 0; i < ULP_FUNCTIONS; i++) {
        on_all_arguments(&ulp_functions[i], TW_F32, 24, check_kernels);
        on_all_arguments(&ulp_functions[i], TW_F64, 24, check_kernels);
    }
}

/* What a user writes, whatever the compiler makes of it. */
static void powers_that_are_written_out_keep_the_bound_of_pow(void **state)
{
    (void)state;
    static const double exponents[] = {2, 3, 4, 5, -1, -2, -3, 0.5, 1.5};
    static const char *const names[] = {"x"};
    static double wide[2][BLOCK];
    static float narrow[2][BLOCK];
    tw_context *ctx = open_context();
    tw_expr_options options = TW_EXPR_OPTIONS_INIT;
    options.inputs = names;
    options.input_count = 1;
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        for (int type_of = 0; type_of < FLOAT_TYPES; type_of++) {
            const tw_type type = float_types[type_of];
            char text[40];
            tw_expr *expr = NULL;
            tw_map_options opts = TW_MAP_OPTIONS_INIT;
            bool f32 = type == TW_F32;
            tw_matrix in = {wide[0], 1, BLOCK, BLOCK, (tw_type)type};
            tw_matrix result = {wide[1], 1, BLOCK, BLOCK, (tw_type)type};
            in.data = f32 ? (void *)narrow[0] : in.data;
            result.data = f32 ? (void *)narrow[1] : result.data;
            opts.type = opts.compute = (tw_type)type;
            for (int i = 0; i < BLOCK; i++) {
                wide[0][i] = 0.5 + 2 * twi_random_unit(twi_random_at(e + 5, (uint64_t)i));
                narrow[0][i] = (float)wide[0][i];
            }
            snprintf(text, sizeof text, "x ^ %g", exponents[e]);
            assert_ok(ctx, tw_expr_create(ctx, &expr, text, &options));
            assert_ok(ctx, tw_map(ctx, &result, expr, &in, 1, &opts));
            for (int i = 0; i < BLOCK; i++) {
                double a = f32 ? (double)narrow[0][i] : wide[0][i];
                double got = f32 ? (double)narrow[1][i] : wide[1][i];
                check_error(text, (tw_type)type, a, exponents[e], got,
                            truth_of(TWI_OP_POW, a, exponents[e], type), 1);
            }
            tw_expr_destroy(expr);
        }
    }
    close_context(ctx);
}

/* x^3, x^4 and x^-2 where they leave the numbers at either end, and where they are subnormal. */
static void small_powers_stay_within_their_bound_at_the_ends(void **state)
{
    (void)state;
    static arguments args;
    static const struct {
        ulp_function f;
        int power;
    } powers[] = {{{TWI_OP_CUBE, "cube", 1}, 3},
                  {{TWI_OP_FOURTH, "fourth", 1}, 4},
                  {{TWI_OP_INVERSE_SQUARE, "inverse_square", 1}, -2}};
    kernel = best_kernel();
    args.count = BLOCK;
    args.step = 1;
    for (int k = 0; k < 3; k++) {
        for (int type_of = 0; type_of < FLOAT_TYPES; type_of++) {
            const tw_type type = float_types[type_of];
            const int ends[2] = {type == TW_F32 ? -138 : -1048, type == TW_F32 ? 128 : 1024};
            for (uint64_t block = 0; block < (emulated_sizes_only() ? 5 : 40); block++) {
                for (int i = 0; i < BLOCK; i++) {
                    uint64_t r = twi_random_at(77 + block, (uint64_t)i);
                    double spread = (double)((int)(r % 40) - 20) / (i % 2 == 0 ? 1 : 20);
                    double size = exp2((ends[r / 64 % 2] + spread) / powers[k].power) *
                                  (1 + twi_random_unit(r) * 0.01);
                    args.a[i] = args.b[i] =
                        twi_scalar_round(r / 128 % 2 == 0 ? size : -size, (tw_type)type);
                }
                check_kernels(&powers[k].f, (tw_type)type, &args);
            }
        }
    }
}

/* Multiples of pi/2 to within all digits: the nearest that doubles come to them, and far away. */
static void huge_angles_are_reduced_in_full(void **state)
{
    (void)state;
    static const double angles[] = {6381956970095103.0 * 0x1p797,
                                    0x1.6ac5b262ca1ffp849,
                                    1e22,
                                    0x1.fffffffffffffp1023,
                                    0x1p20,
                                    0x1p1000};
    mpfr_t rest, value, truth;
    mpfr_inits2(256, rest, value, truth, (mpfr_ptr)0);
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        double parts[2];
        int n = twi_map_reduce(angles[i], parts);
        mpfr_set_d(rest, parts[0], MPFR_RNDN);
        mpfr_add_d(rest, rest, parts[1], MPFR_RNDN);
        (n % 2 == 0 ? mpfr_sin : mpfr_cos)(value, rest, MPFR_RNDN);
        if (n >= 2) {
            mpfr_neg(value, value, MPFR_RNDN);
        }
        mpfr_set_d(truth, angles[i], MPFR_RNDN);
        mpfr_sin(truth, truth, MPFR_RNDN);
        mpfr_reldiff(value, truth, value, MPFR_RNDN);
        assert_true(fabs(mpfr_get_d(value, MPFR_RNDN)) <= 0x1p-60);
    }
    mpfr_clears(rest, value, truth, (mpfr_ptr)0);
}

/* ----------------------------------------------------------------- what verification is made of */

static void check_library(const ulp_function *f, tw_type type, const arguments *args)
{
    for (int i = 0; i < args->count && !is_exact(f); i += args->step) {
        const double a = args->a[i], b = args->b[i];
        const double value = twi_scalar_function(f->op, a, b);
        check_error(f->name, type, a, b, value, truth_of(f->op, a, b, type),
                    twi_scalar_function_error(f->op, a, value));
    }
}

static void the_c_library_has_the_errors_that_are_stated(void **state)
{
    (void)state;
    for (int i = 0; i < ULP_FUNCTIONS; i++) {
        on_all_arguments(&ulp_functions[i], TW_F64, 48, check_library);
    }
}

static twi_interval enclosure(const ulp_function *f, tw_type type, double a, double b)
{
    const twi_interval args[3] = {twi_interval_point(a), twi_interval_point(b)};
    return twi_interval_apply(f->op, type, twi_op_ulp(f->op, type, false), args);
}

/* The nearest number to the truth is inside, and what is farther than the bound and the library's
 * error allow is not. */
static void check_enclosure(const ulp_function *f, tw_type type, const arguments *args)
{
    const double bound = twi_op_ulp(f->op, type, false);
    for (int i = 0; i < args->count; i += args->step) {
        const double a = args->a[i], b = args->b[i];
        if (((f->op == TWI_OP_MIN || f->op == TWI_OP_MAX) && a == 0 && b == 0) ||
            (f->op == TWI_OP_COPYSIGN && isnan(b))) { /* either sign is right */
            continue;
        }
        const ulp_truth truth = truth_of(f->op, a, b, type);
        const twi_interval in = enclosure(f, type, a, b);
        const double nearest = twi_scalar_round(ldexp(truth.hi, truth.scale), type);
        bool held = isnan(nearest) ? in.nan : in.lo <= nearest && nearest <= in.hi;
        double out =
            isnan(nearest) ? 0 : fmax(ulp_error(in.lo, truth, type), ulp_error(in.hi, truth, type));
        double error = type == TW_F64 ? twi_scalar_function_error(f->op, a, nearest) : 0;
        /* Units are smaller below a power of two. */
        double most = bound <= 0.5 ? 0.5 : 2 * (bound * (1 + 0x1p-9) + error) + 0.5;
        /* Signs of zeros do not count here, nor the numbers before infinity. */
        bool end = nearest == 0 || fabs(nearest) >= (type == TW_F32 ? FLT_MAX : DBL_MAX);
        if (!held || (!end && !(out <= most))) {
            fail_msg("%s(%a, %a) in %s is %a, held by %a ... %a, %g ulp off", f->name, a, b,
                     tw_type_name(type), nearest, in.lo, in.hi, out);
        }
    }
}

static void enclosures_hold_the_truth_and_little_more(void **state)
{
    (void)state;
    for (int i = 0; i < ULP_FUNCTIONS; i++) {
        on_all_arguments(&ulp_functions[i], TW_F32, 12, check_enclosure);
        on_all_arguments(&ulp_functions[i], TW_F64, 12, check_enclosure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_stay_within_their_bounds),
        cmocka_unit_test(powers_that_are_written_out_keep_the_bound_of_pow),
        cmocka_unit_test(small_powers_stay_within_their_bound_at_the_ends),
        cmocka_unit_test(huge_angles_are_reduced_in_full),
        cmocka_unit_test(the_c_library_has_the_errors_that_are_stated),
        cmocka_unit_test(enclosures_hold_the_truth_and_little_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
