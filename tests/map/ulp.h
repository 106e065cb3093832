/*
 * How far the vector functions are from the truth. The truth of f32 is the C library's function in
 * double, that of f64 its function in long double (128 bits on aarch64, 80 on x86-64): both have so
 * many digits more that their own errors do not show.
 *
 * An error is counted in units in the last place of the true value: the distance of its neighbours
 * in the type, at least the smallest subnormal. A number where there is none, a missing or a wrong
 * infinity, a NaN too many and a zero of the wrong sign are errors without bound.
 */
#ifndef TW_TESTS_MAP_ULP_H
#define TW_TESTS_MAP_ULP_H

#include "base/random.h"
#include "map/kernels.h"

#include <math.h>
#include <string.h>

typedef struct ulp_function {
    twi_op op;
    const char *name;
    int arguments;
    double (*one)(double); /* the truth of f32 ... */
    double (*two)(double, double);
    long double (*one_long)(long double); /* ... and of f64 */
    long double (*two_long)(long double, long double);
} ulp_function;

#define ONE(ID, name)                                    \
    {                                                    \
        TWI_OP_##ID, #name, 1, name, NULL, name##l, NULL \
    }
#define TWO(ID, name)                                    \
    {                                                    \
        TWI_OP_##ID, #name, 2, NULL, name, NULL, name##l \
    }
static const ulp_function ulp_functions[] = {
    {TWI_OP_ABS, "abs", 1, fabs, NULL, fabsl, NULL},
    ONE(SQRT, sqrt),
    ONE(CBRT, cbrt),
    ONE(EXP, exp),
    ONE(EXP2, exp2),
    ONE(EXPM1, expm1),
    ONE(LOG, log),
    ONE(LOG2, log2),
    ONE(LOG10, log10),
    ONE(LOG1P, log1p),
    ONE(SIN, sin),
    ONE(COS, cos),
    ONE(TAN, tan),
    ONE(ASIN, asin),
    ONE(ACOS, acos),
    ONE(ATAN, atan),
    ONE(SINH, sinh),
    ONE(COSH, cosh),
    ONE(TANH, tanh),
    ONE(FLOOR, floor),
    ONE(CEIL, ceil),
    ONE(ROUND, round),
    ONE(RINT, rint),
    ONE(TRUNC, trunc),
    {TWI_OP_MIN, "min", 2, NULL, fmin, NULL, fminl},
    {TWI_OP_MAX, "max", 2, NULL, fmax, NULL, fmaxl},
    TWO(MOD, fmod),
    TWO(POW, pow),
    TWO(ATAN2, atan2),
    TWO(HYPOT, hypot),
};
#undef ONE
#undef TWO
#define ULP_FUNCTIONS (int)(sizeof ulp_functions / sizeof *ulp_functions)

/* The distance between neighbours at a finite x, for a type of `digits` bits and the exponent
 * `least` of its smallest subnormal. */
static inline long double ulp_unit(long double x, int digits, int least)
{
    int exponent;
    frexpl(x, &exponent);
    exponent = x == 0 || exponent - digits < least ? least : exponent - digits;
    return ldexpl(1, exponent);
}

/* `limit` is the largest number of the type and half a unit more: what is above rounds to inf. */
static inline double ulp_error(double got, long double truth, int digits, int least,
                               long double limit)
{
    if (isnan(truth) || isnan(got)) {
        return isnan(truth) && isnan(got) ? 0 : INFINITY;
    }
    if (isinf(truth)) {
        return (long double)got == truth ? 0 : INFINITY;
    }
    if (truth == 0 && got == 0) {
        return !signbit(truth) == !signbit(got) ? 0 : INFINITY;
    }
    if (fabsl(truth) >= limit && isinf(got)) {
        return !signbit(truth) == !signbit(got) ? 0 : INFINITY;
    }
    if (isinf(got)) { /* one unit beyond the largest number */
        got = copysign(ldexp(1, digits == 24 ? 127 : 1023), got);
        return (double)(fabsl(2 * (long double)got - truth) / ulp_unit(truth, digits, least));
    }
    return (double)(fabsl((long double)got - truth) / ulp_unit(truth, digits, least));
}

/* All in double, which holds the difference of f32 and a truth near to it: long double is slow. */
static inline double ulp_error_f32(float got, double truth)
{
    if (!isfinite(got) || !isfinite(truth) || truth == 0 || fabs(truth) > 0x1p126 ||
        fabs(truth) < 0x1p-120) {
        return ulp_error((double)got, truth, 24, -149, 0x1.ffffffp127L);
    }
    uint64_t unit;
    double size;
    memcpy(&unit, &truth, sizeof unit);
    unit = (unit & 0x7ff0000000000000) - ((uint64_t)23 << 52);
    memcpy(&size, &unit, sizeof size);
    return fabs((double)got - truth) / size;
}

static inline double ulp_error_f64(double got, long double truth)
{
    return ulp_error(got, truth, 53, -1074, 0x1.fffffffffffff8p1023L);
}

/* Values at which functions change their ways; each is used with both signs and its neighbours. */
static const double ulp_edges[] = {
    0,
    0x1p-149,
    0x1p-140,
    0x1p-127,
    0x1p-126,
    0x1p-1074,
    0x1p-1050,
    0x1p-1022,
    0x1p-1000,
    0x1p-512,
    1e-300,
    0x1p-80,
    0x1p-60,
    0x1p-54,
    0x1p-53,
    0x1p-30,
    0x1p-25,
    0x1p-24,
    1e-5,
    0.1,
    0.25,
    0.34657359027997264,
    0.35,
    0.4,
    0.41421356237309503,
    0.5,
    0.6666666666666666,
    0.7071067811865476,
    0.7853981633974483,
    0.75,
    0.9999,
    1,
    1.3333333333333333,
    1.4142135623730951,
    1.5,
    1.5707963267948966,
    2,
    2.414213562373095,
    2.5,
    2.718281828459045,
    3,
    3.141592653589793,
    4.71238898038469,
    6.283185307179586,
    8,
    9.010913,
    10,
    19.0615,
    22,
    27,
    37,
    54,
    64,
    87.33654,
    88.02969,
    88.72284,
    89.41599,
    100,
    103.27893,
    103.97208,
    105,
    128,
    149,
    150,
    151,
    355,
    708.3964185322641,
    709.782712893384,
    710.4758600739439,
    745.1332191019411,
    1000,
    1024,
    1075,
    32767.5,
    32768,
    103993,
    0x1p20,
    0x1p22,
    8388607.5,
    0x1p23,
    0x1p24,
    16367173,
    0x1p31,
    0x1p52,
    0x1p53,
    0x1p60,
    6381956970095103.0 * 0x1p797,
    0x1p62,
    0x1p64,
    1e22,
    0x1p100,
    0x1.fffffep127,
    0x1p128,
    0x1p512,
    0x1p1000,
    0x1.fffffffffffffp1023,
    INFINITY,
    NAN,
};
#define ULP_EDGES (int)(sizeof ulp_edges / sizeof *ulp_edges)

/* Sample number i of a function's argument: all bit patterns alike, or spread evenly over a range
 * where the function has its shape. */
static inline float ulp_sample_f32(uint64_t random)
{
    if (random >> 63) {
        uint32_t pattern = (uint32_t)random;
        float x;
        memcpy(&x, &pattern, sizeof x);
        return x;
    }
    static const float ranges[] = {1, 2, 8, 32, 110, 1000, 33000, 2e5F};
    float unit = (float)((random & 0xffffff) * 0x1p-23 - 1);
    return unit * ranges[random >> 32 & 7];
}

static inline double ulp_sample_f64(uint64_t random, uint64_t more)
{
    if (random >> 63) {
        double x;
        memcpy(&x, &more, sizeof x);
        return x;
    }
    static const double ranges[] = {1, 2, 8, 32, 110, 800, 33000, 2e6};
    double unit = (double)(more >> 10) * 0x1p-53 - 1;
    return unit * ranges[random & 7];
}

#endif
