/*
 * One operation on single numbers: what the reference computes and what constants are folded by.
 * Arithmetic, sqrt and all that is exact are done in the compute type itself, and so have one right
 * result. The other functions are the C library's of double, rounded to the compute type: their
 * error is the library's, whose bound is stated here and tested (tests/kernels/map_accuracy.c).
 */
#include "map/language/scalar.h"

#include <math.h>

double twi_scalar_function(int code, double a, double b)
{
    a = isnan(a) ? (double)NAN : a; /* the library takes a signalling NaN for another thing */
    b = isnan(b) ? copysign((double)NAN, b) : b;
    switch (code) {
    case TWI_OP_ABS:
        return fabs(a);
    case TWI_OP_SQRT:
        return sqrt(a);
    case TWI_OP_CBRT:
        return cbrt(a);
    case TWI_OP_EXP:
        return exp(a);
    case TWI_OP_EXP2:
        return exp2(a);
    case TWI_OP_EXPM1:
        return expm1(a);
    case TWI_OP_LOG:
        return log(a);
    case TWI_OP_LOG2:
        return log2(a);
    case TWI_OP_LOG10:
        return log10(a);
    case TWI_OP_LOG1P:
        return log1p(a);
    case TWI_OP_SIN:
        return sin(a);
    case TWI_OP_COS:
        return cos(a);
    case TWI_OP_TAN:
        return tan(a);
    case TWI_OP_ASIN:
        return asin(a);
    case TWI_OP_ACOS:
        return acos(a);
    case TWI_OP_ATAN:
        return atan(a);
    case TWI_OP_SINH:
        return sinh(a);
    case TWI_OP_COSH:
        return cosh(a);
    case TWI_OP_TANH:
        return tanh(a);
    case TWI_OP_ASINH:
        return asinh(a);
    case TWI_OP_ACOSH:
        return acosh(a);
    case TWI_OP_ATANH:
        return atanh(a);
    case TWI_OP_FLOOR:
        return floor(a);
    case TWI_OP_CEIL:
        return ceil(a);
    case TWI_OP_ROUND:
        return round(a);
    case TWI_OP_RINT:
        return nearbyint(a);
    case TWI_OP_TRUNC:
        return trunc(a);
    case TWI_OP_MIN:
        return fmin(a, b);
    case TWI_OP_MAX:
        return fmax(a, b);
    case TWI_OP_MOD:
        return fmod(a, b);
    case TWI_OP_COPYSIGN:
        return copysign(a, b);
    case TWI_OP_NEXTAFTER: /* in f64 */
        return nextafter(a, b);
    case TWI_OP_POW:
        return pow(a, b);
    case TWI_OP_ATAN2:
        return atan2(a, b);
    case TWI_OP_CUBE:
        return pow(a, 3);
    case TWI_OP_FOURTH:
        return pow(a, 4);
    case TWI_OP_INVERSE_SQUARE:
        return pow(a, -2);
    default:
        return hypot(a, b);
    }
}

/* The bounds are those of glibc, rounded up: it is off by 3.7 units at most in cbrt, 2.2 in the
 * hyperbolic functions and less than 3 in their inverses, 1.7 in log10 and less than 1 in the rest,
 * but for large angles: they are reduced with an error of 2^-111, which shows where they are so
 * near to a multiple of pi/2 that the value nearly vanishes. */
double twi_scalar_function_error(int code, double a, double value)
{
    const double size = fabs(value);
    switch (code) {
    case TWI_OP_CBRT:
        return 4;
    case TWI_OP_SINH:
    case TWI_OP_COSH:
    case TWI_OP_TANH:
    case TWI_OP_ASINH:
    case TWI_OP_ACOSH:
    case TWI_OP_ATANH:
        return 3;
    case TWI_OP_SIN:
    case TWI_OP_COS:
        return 2 + (fabs(a) > 0x1p20 && size > 0 ? 0x1p-56 / size : 0);
    case TWI_OP_TAN:
        return 2 + (fabs(a) > 0x1p20 && size > 0 ? 0x1p-56 * fmax(size, 1 / size) : 0);
    default:
        return 2;
    }
}

double twi_scalar_stored(double value, tw_type type)
{
    static const double least[] = {[TW_I16] = INT16_MIN, [TW_I32] = INT32_MIN};
    static const double most[] = {
        [TW_U8] = UINT8_MAX, [TW_U16] = UINT16_MAX, [TW_I16] = INT16_MAX, [TW_I32] = INT32_MAX};
    if (type == TW_F64) {
        return value;
    }
    if (type == TW_F32) {
        return (double)(float)value;
    }
    if (isnan(value)) {
        return 0;
    }
    double whole = nearbyint(value) + 0.0; /* integers have no -0 */
    return whole < least[type] ? least[type] : whole > most[type] ? most[type] : whole;
}

static double arithmetic(int code, tw_type compute, double a, double b)
{
    const float x = (float)a, y = (float)b;
    bool single = compute == TW_F32;
    switch (code) {
    case TWI_OP_ADD:
        return single ? (double)(x + y) : a + b;
    case TWI_OP_SUB:
        return single ? (double)(x - y) : a - b;
    case TWI_OP_MUL:
        return single ? (double)(x * y) : a * b;
    default:
        return single ? (double)(x / y) : a / b;
    }
}

double twi_scalar(int code, tw_type type, tw_type compute, const double args[3])
{
    const double a = args[0], b = args[1];
    switch (code) {
    case TWI_OP_NEG:
        return -a;
    case TWI_OP_ADD:
    case TWI_OP_SUB:
    case TWI_OP_MUL:
    case TWI_OP_DIV:
        return arithmetic(code, compute, a, b);
    case TWI_OP_LT:
        return a < b;
    case TWI_OP_LE:
        return a <= b;
    case TWI_OP_EQ:
        return a == b;
    case TWI_OP_NE:
        return a != b;
    case TWI_OP_AND:
        return a != 0 && b != 0;
    case TWI_OP_OR:
        return a != 0 || b != 0;
    case TWI_OP_NOT:
        return a == 0;
    case TWI_OP_NUMBER:
        return a;
    case TWI_OP_SELECT:
        return a != 0 ? b : args[2];
    case TWI_OP_STORED:
        /* A float cannot hold the largest i32: the store clamps, the load rounds up again. */
        return twi_scalar_round(twi_scalar_stored(a, type), compute);
    case TWI_OP_SQRT:
        return compute == TW_F32 ? (double)sqrtf((float)a) : sqrt(a);
    case TWI_OP_NEXTAFTER:
        return compute == TW_F32 ? (double)nextafterf((float)a, (float)b) : nextafter(a, b);
    default:
        return twi_scalar_round(twi_scalar_function(code, a, b), compute);
    }
}
