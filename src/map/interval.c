/*
 * Operations on intervals. An end of a result is the function at an end of its argument, in long
 * double, moved outwards by the bound and back inwards to the next number of the compute type.
 * Where a function is not monotone, or an argument leaves its domain, the interval is enlarged, at
 * worst to everything; that is safe, and happens only where the result is ill-conditioned.
 */
#include "map/interval.h"

#include "map/compile.h"

#include <float.h>
#include <math.h>

#define PI 3.14159265358979323846264338327950288L
#define SLACK (1 + 0x1p-10) /* of a bound, for the error of the long double functions */

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

static double to_compute(long double value, tw_type compute)
{
    return compute == TW_F32 ? (double)(float)value : (double)value;
}

static double next(double value, double towards, tw_type compute)
{
    return compute == TW_F32 ? (double)nextafterf((float)value, (float)towards)
                             : nextafter(value, towards);
}

/* The least (direction -1) or the largest number that is within the bound of the exact value. */
static double widen(long double exact, int direction, precision p)
{
    if (isinf(exact) || p.ulp <= 0.5) {
        return to_compute(exact, p.compute);
    }
    const int least = p.compute == TW_F32 ? -126 : -1022;
    const int digits = p.compute == TW_F32 ? 23 : 52;
    int exponent = exact == 0 ? least : ilogbl(exact);
    exponent = exponent < least ? least : exponent;
    long double limit =
        exact + direction * (long double)(p.ulp * SLACK) * ldexpl(1, exponent - digits);
    double rounded = to_compute(limit, p.compute);
    if (direction < 0 && (long double)rounded < limit && !isinf(rounded)) {
        rounded = next(rounded, (double)INFINITY, p.compute);
    } else if (direction > 0 && (long double)rounded > limit && !isinf(rounded)) {
        rounded = next(rounded, -(double)INFINITY, p.compute);
    }
    return rounded;
}

static twi_interval widened(long double lo, long double hi, bool nan, precision p)
{
    return (twi_interval){widen(lo, -1, p), widen(hi, 1, p), nan};
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
    case TWI_OP_ASIN:
    case TWI_OP_ACOS:
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

/* sin and cos over [lo, hi]: the ends, and 1 or -1 if a crest or a trough lies between. Crests of
 * sin are at pi/2 + 2 k pi, those of cos at 2 k pi. */
static twi_interval wave(int code, twi_interval a, precision p)
{
    const long double shift = code == TWI_OP_SIN ? PI / 2 : 0;
    const long double lo = a.lo, hi = a.hi;
    if (!(hi - lo < 2 * PI)) {
        return widened(-1, 1, false, p);
    }
    long double first = twi_scalar_function(code, lo, 0);
    long double second = twi_scalar_function(code, hi, 0);
    bool crest = floorl((hi - shift) / (2 * PI)) != floorl((lo - shift) / (2 * PI));
    bool trough = floorl((hi - shift - PI) / (2 * PI)) != floorl((lo - shift - PI) / (2 * PI));
    long double least = trough ? -1 : fminl(first, second);
    long double most = crest ? 1 : fmaxl(first, second);
    return widened(least, most, false, p);
}

/* Functions that fall and then rise again, with their least value at 0. */
static twi_interval valley(int code, twi_interval a, precision p)
{
    long double first = twi_scalar_function(code, (long double)a.lo, 0);
    long double second = twi_scalar_function(code, (long double)a.hi, 0);
    long double least = contains(a, 0) ? twi_scalar_function(code, 0, 0) : fminl(first, second);
    return widened(least, fmaxl(first, second), false, p);
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
    case TWI_OP_TAN:
        result = floorl((long double)a.hi / PI - 0.5L) != floorl((long double)a.lo / PI - 0.5L)
                     ? everything
                     : widened(tanl((long double)a.lo), tanl((long double)a.hi), false, p);
        break;
    case TWI_OP_ACOS:
        result = widened(acosl((long double)a.hi), acosl((long double)a.lo), false, p);
        break;
    default: /* rising */
        result = widened(twi_scalar_function(code, (long double)a.lo, 0),
                         twi_scalar_function(code, (long double)a.hi, 0), false, p);
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
        double args[3] = {i & 1 ? a.hi : a.lo, i & 2 ? b.hi : b.lo, 0};
        bool arithmetic = code >= TWI_OP_ADD && code <= TWI_OP_DIV;
        long double exact =
            arithmetic ? (long double)twi_scalar(code, 0, p.compute, args)
                       : twi_scalar_function(code, (long double)args[0], (long double)args[1]);
        if (isnan(exact)) {
            return a.lo == a.hi && b.lo == b.hi ? twi_interval_point((double)NAN) : everything;
        }
        result = twi_interval_join(result, widened(exact, exact, false, p));
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

/* Small whole powers are products where the exponent is a constant, with the bounds of the header.
 */
static twi_interval power(twi_interval a, twi_interval b, precision p)
{
    const double n = b.lo;
    const bool point = b.lo == b.hi;
    if (point && (n == 3 || n == 4 || n == -2)) {
        p.ulp = fmax(3, p.ulp);
    }
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
    return smooth || points ? corners(TWI_OP_ATAN2, y, x, p) : widened(-PI, PI, false, p);
}

static twi_interval binary(int code, twi_interval a, twi_interval b, precision p)
{
    twi_interval result;
    if (code == TWI_OP_MIN || code == TWI_OP_MAX) {
        return lesser(code, a, b);
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
