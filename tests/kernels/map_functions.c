/* The vector functions: near the C library's, the same bits on every instruction set, and in every
 * lane. How near they are to the truth is what map_accuracy.c asks. */
#include "harness.h"
#include "ulp.h"

enum { BLOCK = 4096, BLOCKS = 12 };

static const twi_map_kernel *kernel_of(twi_isa isa)
{
    return twi_isa_usable(isa) ? twi_map_kernel_find(isa) : NULL;
}

static const twi_map_kernel *best_kernel(void)
{
    tw_context *ctx = open_context();
    twi_isa isa;
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    close_context(ctx);
    return twi_map_kernel_find(isa);
}

static void fill_f32(float *x, uint64_t seed)
{
    for (int i = 0; i < BLOCK; i++) {
        x[i] = ulp_sample_f32(twi_random_at(seed, (uint64_t)i));
    }
}

static void fill_f64(double *x, uint64_t seed)
{
    for (int i = 0; i < BLOCK; i++) {
        x[i] = ulp_sample_f64(twi_random_at(seed, (uint64_t)(2 * i)),
                              twi_random_at(seed, (uint64_t)(2 * i + 1)));
    }
}

/* Edge e, its negative, or a neighbour. */
static double edge(int e, int which, int f64)
{
    double x = ulp_edges[e];
    if (which & 1) {
        x = -x;
    }
    if (which >= 2) {
        double to = which & 2 ? INFINITY : -INFINITY;
        x = f64 ? nextafter(x, to) : (double)nextafterf((float)x, (float)to);
    }
    return x;
}

enum { EDGE_WAYS = 6 };

static void check_f32(const ulp_function *f, twi_map_block_fn run, double bound, const float *x,
                      const float *y)
{
    static float out[BLOCK];
    memset(out, 0x55, sizeof out);
    run(out, (const void *const[3]){x, y, y}, (const int64_t[3]){1, 1, 1}, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        double truth = ulp_library(f->op, (double)x[i], (double)y[i], TW_F32).hi;
        double error = ulp_error_f32(out[i], truth);
        if (!(error <= bound + 0x1p-26)) { /* the library's error, in units of f32 */
            fail_msg("%s(%a, %a) = %a is %g ulp off %a in f32", f->name, (double)x[i], (double)y[i],
                     (double)out[i], error, truth);
        }
    }
}

static void check_f64(const ulp_function *f, twi_map_block_fn run, double bound, const double *x,
                      const double *y)
{
    static double out[BLOCK];
    memset(out, 0x55, sizeof out);
    run(out, (const void *const[3]){x, y, y}, (const int64_t[3]){1, 1, 1}, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        ulp_truth truth = ulp_library(f->op, x[i], y[i], TW_F64);
        double error = ulp_error(out[i], truth, TW_F64);
        double allowed =
            bound > 0.5 ? bound + twi_scalar_function_error(f->op, x[i], truth.hi) : bound;
        bool edge = (isinf(truth.hi) && fabs(out[i]) == DBL_MAX) || /* a unit apart */
                    (isinf(out[i]) && fabs(truth.hi) == DBL_MAX);
        if (!(error <= allowed) && !edge) {
            fail_msg("%s(%a, %a) = %a is %g ulp off %a in f64", f->name, x[i], y[i], out[i], error,
                     truth.hi);
        }
    }
}

/* Correctly rounded functions are half a unit off the true value. */
static double bound_of(const ulp_function *f, tw_type type, bool fast)
{
    double bound = twi_op_ulp(f->op, type, fast);
    return bound < 0.5 ? 0.5 : bound;
}

static void functions_agree_with_the_c_library(void **state)
{
    (void)state;
    static float x[BLOCK], y[BLOCK];
    static double xx[BLOCK], yy[BLOCK];
    const twi_map_kernel *kernel = best_kernel();
    for (int i = 0; i < ULP_FUNCTIONS; i++) {
        const ulp_function *f = &ulp_functions[i];
        for (uint64_t b = 0; b < BLOCKS; b++) {
            fill_f32(x, 100 + b);
            fill_f32(y, 200 + b);
            fill_f64(xx, 300 + b);
            fill_f64(yy, 400 + b);
            check_f32(f, kernel->f32->operation[f->op], bound_of(f, TW_F32, false), x, y);
            check_f32(f, kernel->f32->fast[f->op], bound_of(f, TW_F32, true), x, y);
            check_f64(f, kernel->f64->operation[f->op], bound_of(f, TW_F64, false), xx, yy);
        }
    }
}

static void functions_agree_with_the_c_library_at_the_edges(void **state)
{
    (void)state;
    static float x[BLOCK], y[BLOCK];
    static double xx[BLOCK], yy[BLOCK];
    const twi_map_kernel *kernel = best_kernel();
    const int64_t ones = (int64_t)ULP_EDGES * EDGE_WAYS;
    for (int i = 0; i < ULP_FUNCTIONS; i++) {
        const ulp_function *f = &ulp_functions[i];
        const int64_t cases = f->arguments == 1 ? ones : ones * ones;
        for (int64_t from = 0; from < cases; from += BLOCK) {
            for (int64_t k = 0; k < BLOCK; k++) {
                int64_t at = (from + k) % cases;
                int64_t a = at % ones;
                int64_t b = at / ones;
                x[k] = (float)edge((int)(a / EDGE_WAYS), (int)(a % EDGE_WAYS), 0);
                y[k] = (float)edge((int)(b / EDGE_WAYS), (int)(b % EDGE_WAYS), 0);
                xx[k] = edge((int)(a / EDGE_WAYS), (int)(a % EDGE_WAYS), 1);
                yy[k] = edge((int)(b / EDGE_WAYS), (int)(b % EDGE_WAYS), 1);
            }
            if (f->op == TWI_OP_MIN || f->op == TWI_OP_MAX) { /* which zero is not said */
                for (int k = 0; k < BLOCK; k++) {
                    x[k] = x[k] == 0 ? 0 : x[k];
                    y[k] = y[k] == 0 ? 0 : y[k];
                    xx[k] = xx[k] == 0 ? 0 : xx[k];
                    yy[k] = yy[k] == 0 ? 0 : yy[k];
                }
            }
            check_f32(f, kernel->f32->operation[f->op], bound_of(f, TW_F32, false), x, y);
            check_f32(f, kernel->f32->fast[f->op], bound_of(f, TW_F32, true), x, y);
            check_f64(f, kernel->f64->operation[f->op], bound_of(f, TW_F64, false), xx, yy);
        }
    }
}

/* The same number, or NaN both. */
static int same(const void *a, const void *b, int f64)
{
    if (f64) {
        double x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return memcmp(a, b, sizeof x) == 0 || (isnan(x) && isnan(y));
    }
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return memcmp(a, b, sizeof x) == 0 || (isnan(x) && isnan(y));
}

static void compare(const ulp_function *f, twi_map_block_fn one, twi_map_block_fn two,
                    const void *x, const void *y, int f64)
{
    static double out[2][BLOCK];
    const void *const args[3] = {x, y, y};
    const int64_t step[3] = {1, 1, 1};
    one(out[0], args, step, BLOCK);
    two(out[1], args, step, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        size_t at = (size_t)i * (f64 ? sizeof(double) : sizeof(float));
        if (!same((char *)out[0] + at, (char *)out[1] + at, f64)) {
            fail_msg("%s of element %d differs between instruction sets in %s", f->name, i,
                     f64 ? "f64" : "f32");
        }
    }
}

static void every_instruction_set_gives_the_same_bits(void **state)
{
    (void)state;
    static float x[BLOCK], y[BLOCK];
    static double xx[BLOCK], yy[BLOCK];
    const twi_map_kernel *scalar = kernel_of(TWI_ISA_SCALAR);
    fill_f32(x, 1);
    fill_f32(y, 2);
    fill_f64(xx, 3);
    fill_f64(yy, 4);
    for (twi_isa isa = TWI_ISA_NEON; isa < TWI_ISA_COUNT; isa++) {
        const twi_map_kernel *kernel = kernel_of(isa);
        for (int i = 0; kernel != NULL && i < ULP_FUNCTIONS; i++) {
            const ulp_function *f = &ulp_functions[i];
            compare(f, scalar->f32->operation[f->op], kernel->f32->operation[f->op], x, y, 0);
            compare(f, scalar->f32->fast[f->op], kernel->f32->fast[f->op], x, y, 0);
            compare(f, scalar->f64->operation[f->op], kernel->f64->operation[f->op], xx, yy, 1);
        }
    }
}

/* A block of one number, and that number between rare ones: neighbours must not matter. */
static void a_lane_does_not_see_its_neighbours(void **state)
{
    (void)state;
    const twi_map_kernel *kernel = best_kernel();
    static const float rare[] = {INFINITY, NAN, 0, -1, 0x1p-140F, 1e30F, 0x1p-126F};
    enum { RARE = sizeof rare / sizeof *rare };
    for (int i = 0; i < ULP_FUNCTIONS; i++) {
        const ulp_function *f = &ulp_functions[i];
        for (int fast = 0; fast <= 1; fast++) {
            twi_map_block_fn run = fast ? kernel->f32->fast[f->op] : kernel->f32->operation[f->op];
            for (uint64_t k = 0; k < 300; k++) {
                float alone[TWI_MAP_GRAIN], among[TWI_MAP_GRAIN], y[TWI_MAP_GRAIN];
                float out[2][TWI_MAP_GRAIN];
                float x = ulp_sample_f32(twi_random_at(7, k));
                for (int j = 0; j < TWI_MAP_GRAIN; j++) {
                    alone[j] = x;
                    among[j] = j % 3 == 0 ? x : rare[(uint64_t)(j + (int)k) % RARE];
                    y[j] = 1.5F;
                }
                const int64_t step[3] = {1, 1, 1};
                run(out[0], (const void *const[3]){alone, y, y}, step, TWI_MAP_GRAIN);
                run(out[1], (const void *const[3]){among, y, y}, step, TWI_MAP_GRAIN);
                for (int j = 0; j < TWI_MAP_GRAIN; j += 3) {
                    assert_true(same(&out[0][j], &out[1][j], 0));
                    assert_true(same(&out[0][j], &out[0][0], 0));
                }
            }
        }
    }
}

static void operands_may_be_one_vector_or_written_over(void **state)
{
    (void)state;
    const twi_map_kernel *kernel = best_kernel();
    static float x[BLOCK], y[TWI_MAP_GRAIN], out[BLOCK];
    fill_f32(x, 9);
    for (int i = 0; i < TWI_MAP_GRAIN; i++) {
        y[i] = 2.75F;
    }
    kernel->f32->operation[TWI_OP_MUL](out, (const void *const[3]){x, y, y},
                                       (const int64_t[3]){1, 0, 0}, BLOCK);
    kernel->f32->operation[TWI_OP_MUL](x, (const void *const[3]){x, y, y},
                                       (const int64_t[3]){1, 0, 0}, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        assert_true(same(&x[i], &out[i], 0));
    }
    kernel->f32->operation[TWI_OP_POW](out, (const void *const[3]){x, y, y},
                                       (const int64_t[3]){1, 0, 0}, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        assert_true(ulp_error_f32(out[i], pow((double)x[i], 2.75)) <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_agree_with_the_c_library),
        cmocka_unit_test(functions_agree_with_the_c_library_at_the_edges),
        cmocka_unit_test(every_instruction_set_gives_the_same_bits),
        cmocka_unit_test(a_lane_does_not_see_its_neighbours),
        cmocka_unit_test(operands_may_be_one_vector_or_written_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
