/* Functions as MPFR has them, with so many digits that the rest does not show. */
#ifndef TW_TESTS_MAP_TRUTH_H
#define TW_TESTS_MAP_TRUTH_H

#include "ulp.h"

#include <mpfr.h>

#define TRUTH_BITS 128

static inline void truth_apply(mpfr_t y, twi_op op, const mpfr_t a, const mpfr_t b)
{
    switch ((int)op) {
#define TRUTH_ONE(ID, name)           \
    case TWI_OP_##ID:                 \
        mpfr_##name(y, a, MPFR_RNDN); \
        break;
#define TRUTH_WHOLE(ID, name) \
    case TWI_OP_##ID:         \
        mpfr_##name(y, a);    \
        break;
#define TRUTH_TWO(ID, name)              \
    case TWI_OP_##ID:                    \
        mpfr_##name(y, a, b, MPFR_RNDN); \
        break;
        TRUTH_ONE(ABS, abs)
        TRUTH_ONE(SQRT, sqrt)
        TRUTH_ONE(CBRT, cbrt)
        TRUTH_ONE(EXP, exp)
        TRUTH_ONE(EXP2, exp2)
        TRUTH_ONE(EXPM1, expm1)
        TRUTH_ONE(LOG, log)
        TRUTH_ONE(LOG2, log2)
        TRUTH_ONE(LOG10, log10)
        TRUTH_ONE(LOG1P, log1p)
        TRUTH_ONE(SIN, sin)
        TRUTH_ONE(COS, cos)
        TRUTH_ONE(TAN, tan)
        TRUTH_ONE(ASIN, asin)
        TRUTH_ONE(ACOS, acos)
        TRUTH_ONE(ATAN, atan)
        TRUTH_ONE(SINH, sinh)
        TRUTH_ONE(COSH, cosh)
        TRUTH_ONE(TANH, tanh)
        TRUTH_ONE(ASINH, asinh)
        TRUTH_ONE(ACOSH, acosh)
        TRUTH_ONE(ATANH, atanh)
        TRUTH_WHOLE(FLOOR, floor)
        TRUTH_WHOLE(CEIL, ceil)
        TRUTH_WHOLE(ROUND, round)
        TRUTH_WHOLE(RINT, roundeven)
        TRUTH_WHOLE(TRUNC, trunc)
        TRUTH_TWO(MIN, min)
        TRUTH_TWO(MAX, max)
        TRUTH_TWO(MOD, fmod)
        TRUTH_TWO(POW, pow)
        TRUTH_TWO(ATAN2, atan2)
        TRUTH_TWO(HYPOT, hypot)
    case TWI_OP_CUBE:
        mpfr_pow_ui(y, a, 3, MPFR_RNDN);
        break;
    case TWI_OP_FOURTH:
        mpfr_pow_ui(y, a, 4, MPFR_RNDN);
        break;
    case TWI_OP_INVERSE_SQUARE:
        mpfr_pow_si(y, a, -2, MPFR_RNDN);
        break;
#undef TRUTH_ONE
#undef TRUTH_WHOLE
#undef TRUTH_TWO
    default:
        mpfr_set_nan(y);
    }
}

/* The number as a sum of two doubles, away from the ends of their range. Consumes y. */
static inline ulp_truth truth_parts(mpfr_t y)
{
    ulp_truth t = {0, 0, 0};
    if (mpfr_regular_p(y)) {
        t.scale = mpfr_get_exp(y) > 900 ? 300 : mpfr_get_exp(y) < -900 ? -300 : 0;
        mpfr_mul_2si(y, y, -t.scale, MPFR_RNDN);
    }
    t.hi = mpfr_get_d(y, MPFR_RNDN);
    if (isfinite(t.hi)) {
        mpfr_sub_d(y, y, t.hi, MPFR_RNDN);
        t.lo = mpfr_get_d(y, MPFR_RNDN);
    }
    return t;
}

/* The neighbour of a number of a type, by its place among the multiples of its unit. */
static inline double truth_neighbour(double a, double b, tw_type type)
{
    const int digits = type == TW_F32 ? 24 : 53;
    const int least = type == TW_F32 ? -149 : -1074;
    const double most = type == TW_F32 ? (double)FLT_MAX : DBL_MAX;
    if (isnan(a) || isnan(b) || a == b) {
        return isnan(a) ? a : b;
    }
    if (isinf(a)) {
        return copysign(most, a);
    }
    int exponent = 0;
    const double part = fabs(frexp(a, &exponent));
    const bool up = a < b;
    const bool shrinks = a != 0 && up != (a > 0);
    int unit = exponent - digits - (shrinks && part == 0.5 ? 1 : 0);
    unit = a == 0 || unit < least ? least : unit;
    if (fabs(a) == most && !shrinks) {
        return copysign((double)INFINITY, a);
    }
    const double result = a + (up ? 1 : -1) * ldexp(1, unit);
    return result == 0 ? copysign(0, a) : result;
}

/* A function of functions.def, of numbers of a type. */
static inline ulp_truth truth_of(twi_op op, double a, double b, tw_type type)
{
    if (op == TWI_OP_NEXTAFTER) {
        return (ulp_truth){truth_neighbour(a, b, type), 0, 0};
    }
    if (op == TWI_OP_COPYSIGN) { /* MPFR's NaN has no sign */
        return (ulp_truth){!signbit(a) == !signbit(b) ? a : -a, 0, 0};
    }
    mpfr_t x[2], y;
    mpfr_inits2(TRUTH_BITS, x[0], x[1], y, (mpfr_ptr)0);
    mpfr_set_d(x[0], a, MPFR_RNDN);
    mpfr_set_d(x[1], b, MPFR_RNDN);
    truth_apply(y, op, x[0], x[1]);
    ulp_truth t = truth_parts(y);
    mpfr_clears(x[0], x[1], y, (mpfr_ptr)0);
    return t;
}

#endif
