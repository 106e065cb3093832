/*
 * How far a computed number is from the truth, and what functions are tried on.
 *
 * An error is counted in units in the last place of the true value: the distance of its neighbours
 * in the type, at least the smallest subnormal. A number where there is none, a missing or a wrong
 * infinity, a NaN too many and a zero of the wrong sign are errors without bound.
 *
 * The truth is a sum of two doubles, scaled so that neither end of the range takes digits from it.
 * It comes from MPFR (truth.h); where that is not installed, from the C library's functions of
 * double, which are off by as much as scalar.c says.
 */
#ifndef TW_TESTS_MAP_ULP_H
#define TW_TESTS_MAP_ULP_H

#include "base/random.h"
#include "map/cpu/kernels.h"
#include "map/language/scalar.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct ulp_function {
    twi_op op;
    const char *name;
    int arguments;
} ulp_function;

static const ulp_function ulp_functions[] = {
#define TWI_FUNCTION(ID, name, arguments, f32, f64, fast) {TWI_OP_##ID, #name, arguments},
#include "map/functions/functions.def"
#undef TWI_FUNCTION
    {TWI_OP_CUBE, "cube", 1},
    {TWI_OP_FOURTH, "fourth", 1},
    {TWI_OP_INVERSE_SQUARE, "inverse_square", 1},
};
#define ULP_FUNCTIONS (int)(sizeof ulp_functions / sizeof *ulp_functions)

/* (hi + lo) 2^scale; hi is the sum rounded to double. */
typedef struct ulp_truth {
    double hi, lo;
    int scale;
} ulp_truth;

static inline ulp_truth ulp_library(twi_op op, double a, double b, tw_type type)
{
    const double value = op == TWI_OP_NEXTAFTER && type == TW_F32
                             ? (double)nextafterf((float)a, (float)b)
                             : twi_scalar_function(op, a, b);
    return (ulp_truth){value, 0, 0};
}

/* The exponent of the unit of a finite truth in f32 or f64, as if divided by 2^scale. */
static inline int ulp_unit_exponent(ulp_truth t, tw_type type)
{
    const int digits = type == TW_F32 ? 24 : 53;
    const int least = (type == TW_F32 ? -149 : -1074) - t.scale;
    const int most = (type == TW_F32 ? 128 : 1024) - digits - t.scale;
    int exponent;
    double size = fabs(frexp(t.hi, &exponent));
    if (size == 0.5 && t.lo != 0 && (t.lo < 0) != (t.hi < 0)) {
        exponent--; /* just below a power of two */
    }
    exponent -= digits;
    return t.hi == 0 || exponent < least ? least : exponent > most ? most : exponent;
}

static inline double ulp_error(double got, ulp_truth t, tw_type type)
{
    const int top = (type == TW_F32 ? 128 : 1024) - t.scale;
    /* The largest number and half a unit more: what is not below rounds to infinity. */
    const double limit = ldexp(1, top) - (type == TW_F32 ? ldexp(1, top - 25) : 0);
    if (isnan(t.hi) || isnan(got)) {
        return isnan(t.hi) && isnan(got) ? 0 : INFINITY;
    }
    if (isinf(t.hi) || (t.hi == 0 && got == 0) || (isinf(got) && fabs(t.hi) >= limit)) {
        bool same = isinf(got) || (got == 0 && t.hi == 0);
        return same && !signbit(got) == !signbit(t.hi) ? 0 : INFINITY;
    }
    if (isinf(got)) { /* one unit beyond the largest number */
        got = copysign(ldexp(1, top), got);
    } else {
        got = ldexp(got, -t.scale);
    }
    return ldexp(fabs((got - t.hi) - t.lo), -ulp_unit_exponent(t, type));
}

/* The same for f32 and a plain double that is near it, fast enough to try every argument. */
static inline double ulp_error_f32(float got, double truth)
{
    if (!isfinite(got) || !isfinite(truth) || truth == 0 || fabs(truth) > 0x1p126 ||
        fabs(truth) < 0x1p-120) {
        return ulp_error((double)got, (ulp_truth){truth, 0, 0}, TW_F32);
    }
    uint64_t unit;
    double size;
    memcpy(&unit, &truth, sizeof unit);
    unit = (unit & 0x7ff0000000000000) - ((uint64_t)23 << 52);
    memcpy(&size, &unit, sizeof size);
    return fabs((double)got - truth) / size;
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
    0x1p-16,
    0x1p-10,
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
    0x1p30,
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
