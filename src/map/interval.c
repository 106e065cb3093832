/*
 * Operations on intervals. An end of a result is the function at an end of its argument: in the
 * compute type itself where that is rounded correctly, else the C library's in double, moved
 * outwards by the error of that library (scalar.c) and by the bound of the operation. Where a
 * function is not monotone, or an argument leaves its domain, the interval is enlarged, at worst to
 * everything; that is safe, and happens only where the result is ill-conditioned.
 */
#include "map/interval.h"

#include "map/language/scalar.h"

#include <float.h>
#include <math.h>

#define PI 3.14159265358979323846
#define PI_ERROR 1          /* in units of double: of PI, and of other constants that are ends */
#define SLACK (1 + 0x1p-10) /* of a bound in f32, for the error of functions of double */

typedef struct precision {
    tw_type compute;
    double ulp; /* the bound of the operation */
} precision;

static const twi_interval everything = {-(double)INFINITY, (double)INFINITY, true};
static const twi_interval nothing = {(double)INFINITY, -(double)INFINITY, false};

static bool is_empty(twi_interval a)
{
    return !(a.lo <= a.hi);
}

static bool is_point(twi_interval a)
{
    return a.lo == a.hi && signbit(a.lo) == signbit(a.hi) && !a.nan;
}

static bool contains(twi_interval a, double value)
{
    return a.lo <= value && value <= a.hi;
}

static bool is_unbounded(twi_interval a)
{
    return isinf(a.lo) || isinf(a.hi);
}

/* -0 lies before 0: what is divided by them differs. */
static bool is_before(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

twi_interval twi_interval_join(twi_interval a, twi_interval b)
{
    return (twi_interval){is_empty(a) || is_before(b.lo, a.lo) ? b.lo : a.lo,
                          is_empty(a) || is_before(a.hi, b.hi) ? b.hi : a.hi, a.nan || b.nan};
}

/* ---------------------------------------------------------------------------------- rounding */

/* The distance of neighbours at a finite value. */
static double unit_at(double value, tw_type compute)
{
    const int least = compute == TW_F32 ? -126 : -1022;
    const int digits = compute == TW_F32 ? 23 : 52;
    int exponent = value == 0 ? least : ilogb(value);
    return ldexp(1, (exponent < least ? least : exponent) - digits);
}

/* A limit as a number of f32, within it: rounded, and a step back if that went beyond. */
static double inside_f32(double limit, int direction)
{
    float rounded = (float)limit;
    if (direction * (double)rounded > direction * limit && !isinf(rounded)) {
        rounded = nextafterf(rounded, direction < 0 ? (float)INFINITY : -(float)INFINITY);
    }
    return (double)rounded;
}

/* The smallest (direction -1) or the largest number within the bound of a true value, which lies
 * within `error` units of double of `value`. An infinite one with an error has overflowed. */
static double widen(double value, double error, int direction, precision p)
{
    double limit = value;
    if (isinf(value)) {
        bool inwards = direction < 0 ? value > 0 : value < 0;
        limit = inwards && error > 0 && p.compute == TW_F64
                    ? copysign(DBL_MAX - (p.ulp + error) * unit_at(DBL_MAX, TW_F64), value)
                    : value;
    } else if (p.compute == TW_F32) {
        limit = inside_f32(value + direction * (p.ulp * SLACK) * unit_at(value, TW_F32), direction);
    } else {
        limit = value + direction * (p.ulp + error) * unit_at(value, TW_F64);
    }
    return !signbit(limit) == !signbit(value) ? limit : copysign(0, value);
}

static twi_interval widened(double lo, double hi, precision p)
{
    return (twi_interval){widen(lo, PI_ERROR, -1, p), widen(hi, PI_ERROR, 1, p), false};
}

/* Whether an infinite value of finite arguments stands for one that is too large; else it is a
 * pole, and exact. */
static bool can_overflow(int code, double a, double b)
{
    switch (code) {
    case TWI_OP_EXP:
    case TWI_OP_EXP2:
    case TWI_OP_EXPM1:
    case TWI_OP_SINH:
    case TWI_OP_COSH:
        return isfinite(a);
    case TWI_OP_POW:
        return isfinite(a) && isfinite(b) && a != 0;
    case TWI_OP_HYPOT:
        return isfinite(a) && isfinite(b);
    default:
        return false;
    }
}

/* What an evaluator may compute of two numbers, or of one. */
static twi_interval value_at(int code, double a, double b, precision p)
{
    if (p.ulp <= 0.5) {
        return twi_interval_point(twi_scalar(code, 0, p.compute, (const double[3]){a, b, 0}));
    }
    const double value = twi_scalar_function(code, a, b);
    const double error =
        isinf(value) && !can_overflow(code, a, b) ? 0 : twi_scalar_function_error(code, a, value);
    return isnan(value)
               ? twi_interval_point(value)
               : (twi_interval){widen(value, error, -1, p), widen(value, error, 1, p), false};
}

/* ---------------------------------------------------------------------------- one argument */

/* The part of the argument where the function is defined; *left: some of it is not. */
static twi_interval domain_of(int code, twi_interval a, bool *left)
{
    double least = -(double)INFINITY, most = (double)INFINITY;
    switch (code) {
    case TWI_OP_SQRT:
    case TWI_OP_LOG:
    case TWI_OP_LOG2:
    case TWI_OP_LOG10:
        least = 0;
        break;
    case TWI_OP_LOG1P:
        least = -1;
        break;
    case TWI_OP_ACOSH:
        least = 1;
        break;
    case TWI_OP_ASIN:
    case TWI_OP_ACOS:
    case TWI_OP_ATANH:
        least = -1;
        most = 1;
        break;
    case TWI_OP_SIN:
    case TWI_OP_COS:
    case TWI_OP_TAN:
        least = -DBL_MAX;
        most = DBL_MAX;
        break;
    default:
        break;
    }
    *left = a.lo < least || a.hi > most;
    a.lo = a.lo < least ? least : a.lo;
    a.hi = a.hi > most ? most : a.hi;
    return a;
}

static twi_interval ends_of(int code, twi_interval a, precision p)
{
    return twi_interval_join(value_at(code, a.lo, 0, p), value_at(code, a.hi, 0, p));
}

/* Two turning points of sin and cos, or two poles of tan, are pi apart: there is at most one in
 * less than that. */
static bool spans_half_turn(twi_interval a)
{
    return !(a.hi - a.lo < 3);
}

/* sin and cos over [lo, hi]: the ends, and 1 or -1 if a crest or a trough lies between, as the
 * slope at the ends tells. */
static twi_interval wave(int code, twi_interval a, precision p)
{
    if (spans_half_turn(a)) {
        return widened(-1, 1, p);
    }
    const double first = code == TWI_OP_SIN ? cos(a.lo) : -sin(a.lo);
    const double second = code == TWI_OP_SIN ? cos(a.hi) : -sin(a.hi);
    twi_interval result = ends_of(code, a, p);
    if (a.lo == a.hi) {
        return result;
    }
    if (first >= 0 && second <= 0) {
        result = twi_interval_join(result, widened(1, 1, p));
    }
    if (first <= 0 && second >= 0) {
        result = twi_interval_join(result, widened(-1, -1, p));
    }
    return result;
}

/* Functions that fall and then rise again, with their minimum at 0. */
static twi_interval valley(int code, twi_interval a, precision p)
{
    twi_interval result = ends_of(code, a, p);
    return contains(a, 0) ? twi_interval_join(result, value_at(code, 0, 0, p)) : result;
}

static twi_interval unary(int code, twi_interval a, precision p)
{
    bool left = false;
    bool nan = a.nan;
    twi_interval result;
    if (is_empty(a)) {
        return twi_interval_point((double)NAN);
    }
    a = domain_of(code, a, &left);
    if (is_empty(a)) {
        return twi_interval_point((double)NAN);
    }
    switch (code) {
    case TWI_OP_NEG:
        result = (twi_interval){-a.hi, -a.lo, false};
        break;
    case TWI_OP_ABS:
    case TWI_OP_COSH:
        result = valley(code, a, p);
        break;
    case TWI_OP_SIN:
    case TWI_OP_COS:
        result = wave(code, a, p);
        break;
    case TWI_OP_TAN: /* a pole lies where the cosine changes its sign */
        result = spans_half_turn(a) || (cos(a.lo) < 0) != (cos(a.hi) < 0) ? everything
                                                                          : ends_of(code, a, p);
        break;
    default: /* rising, or acos, which falls */
        result = ends_of(code, a, p);
        break;
    }
    result.nan = result.nan || nan || left;
    return result;
}

/* --------------------------------------------------------------------------- two arguments */

/* The hull of an operation at the four pairs of ends. NaN there spoils everything, but for two
 * points, where it is the result. */
static twi_interval corners(int code, twi_interval a, twi_interval b, precision p)
{
    twi_interval result = nothing;
    for (int i = 0; i < 4; i++) {
        twi_interval value = value_at(code, i & 1 ? a.hi : a.lo, i & 2 ? b.hi : b.lo, p);
        if (value.nan) {
            return a.lo == a.hi && b.lo == b.hi ? value : everything;
        }
        result = twi_interval_join(result, value);
    }
    return result;
}

/* fmin and fmax: a NaN gives way to the other. */
static twi_interval lesser(int code, twi_interval a, twi_interval b)
{
    bool least = code == TWI_OP_MIN;
    twi_interval result = nothing;
    if (!is_empty(a) && !is_empty(b)) {
        result.lo = least ? fmin(a.lo, b.lo) : fmax(a.lo, b.lo);
        result.hi = least ? fmin(a.hi, b.hi) : fmax(a.hi, b.hi);
        if (contains(a, 0) && contains(b, 0)) { /* either zero may come out */
            result.lo = result.lo == 0 ? -0.0 : result.lo;
            result.hi = result.hi == 0 ? 0.0 : result.hi;
        }
    }
    if (a.nan && !is_empty(b)) {
        result = twi_interval_join(result, (twi_interval){b.lo, b.hi, false});
    }
    if (b.nan && !is_empty(a)) {
        result = twi_interval_join(result, (twi_interval){a.lo, a.hi, false});
    }
    result.nan = a.nan && b.nan;
    return result;
}

static twi_interval remainder_of(twi_interval a, twi_interval b, precision p)
{
    if (a.lo == a.hi && b.lo == b.hi) {
        return corners(TWI_OP_MOD, a, b, p);
    }
    double most = fmin(fmax(fabs(b.lo), fabs(b.hi)), fmax(fabs(a.lo), fabs(a.hi)));
    return (twi_interval){a.lo >= 0 ? 0 : -most, a.hi <= 0 ? 0 : most,
                          contains(b, 0) || isinf(a.lo) || isinf(a.hi)};
}

static twi_interval power(twi_interval a, twi_interval b, precision p)
{
    const double n = b.lo;
    const bool point = b.lo == b.hi;
    if (a.lo == a.hi && point) {
        return corners(TWI_OP_POW, a, b, p);
    }
    if (a.lo < 0 && !(point && n == floor(n))) {
        return everything;
    }
    twi_interval result = corners(TWI_OP_POW, a, b, p);
    if (contains(a, 0)) {
        result = n >= 0 ? twi_interval_join(result, twi_interval_point(0)) : everything;
    }
    return result;
}

static twi_interval angle(twi_interval y, twi_interval x, precision p)
{
    bool smooth = x.lo > 0 || y.lo > 0 || y.hi < 0;
    bool points = is_point(x) && is_point(y);
    return smooth || points ? corners(TWI_OP_ATAN2, y, x, p) : widened(-PI, PI, p);
}

/* The size of one with the sign of the other, either sign where that is NaN or may be either. */
static twi_interval with_sign(twi_interval a, twi_interval b)
{
    const precision exact = {TW_F64, 0};
    const bool either = is_empty(b) || b.nan || (contains(b, 0) && !is_point(b));
    twi_interval result = nothing;
    if (!is_empty(a)) {
        const twi_interval size = valley(TWI_OP_ABS, a, exact);
        const twi_interval opposite = {-size.hi, -size.lo, false};
        result = either ? twi_interval_join(size, opposite) : signbit(b.lo) != 0 ? opposite : size;
    }
    result.nan = a.nan;
    return result;
}

/* One step from anywhere in `a`. */
static twi_interval neighbour(twi_interval a, twi_interval b, precision p)
{
    if (is_point(a) && is_point(b)) {
        return corners(TWI_OP_NEXTAFTER, a, b, p);
    }
    return (twi_interval){value_at(TWI_OP_NEXTAFTER, a.lo, -(double)INFINITY, p).lo,
                          value_at(TWI_OP_NEXTAFTER, a.hi, (double)INFINITY, p).hi, false};
}

static twi_interval binary(int code, twi_interval a, twi_interval b, precision p)
{
    twi_interval result;
    if (code == TWI_OP_MIN || code == TWI_OP_MAX) {
        return lesser(code, a, b);
    }
    if (code == TWI_OP_COPYSIGN) {
        return with_sign(a, b);
    }
    if (code == TWI_OP_POW && (a.nan || b.nan)) { /* pow(NaN, 0) and pow(1, NaN) are 1 */
        bool one = contains(b, 0) || contains(a, 1);
        result = is_empty(a) || is_empty(b) ? nothing : power(a, b, p);
        result = one ? twi_interval_join(result, twi_interval_point(1)) : result;
        result.nan = true;
        return result;
    }
    if (code == TWI_OP_HYPOT && (is_empty(a) || is_empty(b))) { /* hypot(inf, NaN) is inf */
        twi_interval rest = is_empty(a) ? b : a;
        bool infinite = contains(rest, (double)INFINITY) || contains(rest, -(double)INFINITY);
        result = infinite ? twi_interval_point((double)INFINITY) : nothing;
        result.nan = true;
        return result;
    }
    if (is_empty(a) || is_empty(b)) {
        return twi_interval_point((double)NAN);
    }
    switch (code) {
    case TWI_OP_DIV:
        result =
            contains(b, 0) && !(is_point(a) && is_point(b)) ? everything : corners(code, a, b, p);
        break;
    case TWI_OP_MUL: /* zero times infinity, anywhere inside */
        result = !(is_point(a) && is_point(b)) && ((contains(a, 0) && is_unbounded(b)) ||
                                                   (contains(b, 0) && is_unbounded(a)))
                     ? everything
                     : corners(code, a, b, p);
        break;
    case TWI_OP_MOD:
        result = remainder_of(a, b, p);
        break;
    case TWI_OP_POW:
        result = power(a, b, p);
        break;
    case TWI_OP_ATAN2:
        result = angle(a, b, p);
        break;
    case TWI_OP_NEXTAFTER:
        result = neighbour(a, b, p);
        break;
    case TWI_OP_HYPOT: {
        const precision exact = {p.compute, 0};
        result = corners(code, valley(TWI_OP_ABS, a, exact), valley(TWI_OP_ABS, b, exact), p);
        break;
    }
    default:
        result = corners(code, a, b, p);
        break;
    }
    result.nan = result.nan || a.nan || b.nan;
    return result;
}

/* -------------------------------------------------------------------------------- truth values */

static twi_interval truth(bool may_be_false, bool may_be_true)
{
    return (twi_interval){may_be_false ? 0 : 1, may_be_true ? 1 : 0, false};
}

static twi_interval compare(int code, twi_interval a, twi_interval b)
{
    bool numbers = !is_empty(a) && !is_empty(b);
    bool nan = a.nan || b.nan;
    bool both = a.lo == a.hi && b.lo == b.hi;
    switch (code) {
    case TWI_OP_LT:
        return truth(nan || (numbers && !(a.hi < b.lo)), numbers && a.lo < b.hi);
    case TWI_OP_LE:
        return truth(nan || (numbers && !(a.hi <= b.lo)), numbers && a.lo <= b.hi);
    case TWI_OP_EQ:
        return truth(nan || (numbers && !(both && a.lo == b.lo)),
                     numbers && a.lo <= b.hi && b.lo <= a.hi);
    default:
        return truth(numbers && a.lo <= b.hi && b.lo <= a.hi,
                     nan || (numbers && !(both && a.lo == b.lo)));
    }
}

twi_interval twi_interval_apply(int code, tw_type compute, double ulp, const twi_interval args[3])
{
    const precision p = {compute, ulp};
    const twi_interval a = args[0], b = args[1];
    switch (code) {
    case TWI_OP_LT:
    case TWI_OP_LE:
    case TWI_OP_EQ:
    case TWI_OP_NE:
        return compare(code, a, b);
    case TWI_OP_AND:
        return (twi_interval){fmin(a.lo, b.lo), fmin(a.hi, b.hi), false};
    case TWI_OP_OR:
        return (twi_interval){fmax(a.lo, b.lo), fmax(a.hi, b.hi), false};
    case TWI_OP_NOT:
        return (twi_interval){1 - a.hi, 1 - a.lo, false};
    case TWI_OP_NUMBER:
        return a;
    case TWI_OP_SELECT:
        return a.lo == 1 ? b : a.hi == 0 ? args[2] : twi_interval_join(b, args[2]);
    default:
        return twi_op_arity((twi_op)code) == 1 ? unary(code, a, p) : binary(code, a, b, p);
    }
}
