/*
 * One operation on single numbers. Arithmetic is done in the compute type itself, functions in long
 * double and rounded, which is the correctly rounded result but for very rare ties.
 */
#include "map/compile.h"

#include <math.h>

long double twi_scalar_function(int code, long double a, long double b)
{
    switch (code) {
    case TWI_OP_ABS:
        return fabsl(a);
    case TWI_OP_SQRT:
        return sqrtl(a);
    case TWI_OP_CBRT:
        return cbrtl(a);
    case TWI_OP_EXP:
        return expl(a);
    case TWI_OP_EXP2:
        return exp2l(a);
    case TWI_OP_EXPM1:
        return expm1l(a);
    case TWI_OP_LOG:
        return logl(a);
    case TWI_OP_LOG2:
        return log2l(a);
    case TWI_OP_LOG10:
        return log10l(a);
    case TWI_OP_LOG1P:
        return log1pl(a);
    case TWI_OP_SIN:
        return sinl(a);
    case TWI_OP_COS:
        return cosl(a);
    case TWI_OP_TAN:
        return tanl(a);
    case TWI_OP_ASIN:
        return asinl(a);
    case TWI_OP_ACOS:
        return acosl(a);
    case TWI_OP_ATAN:
        return atanl(a);
    case TWI_OP_SINH:
        return sinhl(a);
    case TWI_OP_COSH:
        return coshl(a);
    case TWI_OP_TANH:
        return tanhl(a);
    case TWI_OP_FLOOR:
        return floorl(a);
    case TWI_OP_CEIL:
        return ceill(a);
    case TWI_OP_ROUND:
        return roundl(a);
    case TWI_OP_RINT:
        return nearbyintl(a);
    case TWI_OP_TRUNC:
        return truncl(a);
    case TWI_OP_MIN:
        return fminl(a, b);
    case TWI_OP_MAX:
        return fmaxl(a, b);
    case TWI_OP_MOD:
        return fmodl(a, b);
    case TWI_OP_POW:
        return powl(a, b);
    case TWI_OP_ATAN2:
        return atan2l(a, b);
    default:
        return hypotl(a, b);
    }
}

double twi_scalar_stored(double value, tw_type type)
{
    static const double least[] = {0, 0, 0, INT16_MIN, INT32_MIN};
    static const double most[] = {0, UINT8_MAX, UINT16_MAX, INT16_MAX, INT32_MAX};
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
    default:
        return compute == TW_F32
                   ? (double)(float)twi_scalar_function(code, (long double)a, (long double)b)
                   : (double)twi_scalar_function(code, (long double)a, (long double)b);
    }
}
