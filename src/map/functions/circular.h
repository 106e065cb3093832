/*
 * sin, cos, tan, asin, acos, atan, atan2 of one type (template: functions/parts.h).
 *
 * Reduction: x = n pi/2 + r with |r| <= pi/4, r kept as a sum of two, with pi/2 in three parts up
 * to CIRCLE_LIMIT; beyond that lane by lane with all of pi's bits that count (reduce.c). Then a
 * polynomial of sin r or cos r, chosen by n; f32, which has room for the rounding of more than the
 * last sum, has a shorter one than f64.
 * Inverses: a quotient or root that brings the argument near 0, with its rounding error, and a
 * polynomial there.
 */

/* r and n for the lanes of x that are beyond the limit; the others stay. x >= 0. */
INLINE void F(reduce_large)(vec x, int start, pair *r, bits *n)
{
    T x_lane[F(LANES)], hi[F(LANES)], lo[F(LANES)], quarter[F(LANES)];
    F(store)(x_lane, x);
    F(store)(hi, r->hi);
    F(store)(lo, r->lo);
    F(store)(quarter, F(of_whole)(*n & KB(3)));
    for (int i = 0; i < F(LANES); i++) {
        if (!(x_lane[i] <= (T)CIRCLE_LIMIT)) {
            double rest[2];
            quarter[i] = (T)(twi_map_reduce((double)x_lane[i], rest) + start);
            hi[i] = (T)rest[0];
            lo[i] = (T)(rest[0] - (double)hi[i] + rest[1]);
        }
    }
    r->hi = F(load)(hi);
    r->lo = F(load)(lo);
    *n = F(bits_of)(F(load)(quarter) + MAGIC);
}

/* x - n pi/2 of 0 <= x <= CIRCLE_LIMIT; the low bits of *n are n + start.
 * `first` is exact: it is below 1 and a whole multiple of the unit in the last place there. So is
 * first - hi: if `first` is at least twice `next`, since hi is within a factor of two of it;
 * otherwise since it is a whole multiple of next's unit and not much larger than next. That needs
 * `next` as a rounded product: where n pi/2 comes near x, the difference from a fused one would
 * have too many digits.
 */
INLINE pair F(reduce)(vec x, int start, bits *n)
{
    vec magic = MAGIC + K(start);
    vec shifted = F(fma)(x, C(two_over_pi, 0), magic);
    vec minus = magic - shifted;
    vec first = F(fma)(minus, C(half_pi, 0), x);
    vec next = minus * C(half_pi, 1);
    vec hi = first + next;
    vec lo = F(fma)(minus, C(half_pi, 1), first - hi);
    *n = F(bits_of)(shifted);
    return (pair){hi, F(fma)(minus, C(half_pi, 2), lo)};
}

/* n as name_end takes it: bit 1 at the top, flipped by the sign of x, and bit 0 below it. */
INLINE vec F(turns)(bits n, vec x)
{
    return F(flip)(F(of_bits)(F(shift_left)(n, WIDTH - 2)), F(bits_of)(x));
}

INLINE mask F(is_even)(vec turns)
{
    return F(lacks_bits)(F(bits_of)(turns), KB((int64_t)1 << (WIDTH - 2)));
}

/* cos r or, in the lanes of `even`, sin r: in f32.h and f64.h. */
INLINE vec F(sin_or_cos)(pair r, mask even);

INLINE vec F(sin_end)(stage s)
{
    return F(flip)(F(sin_or_cos)((pair){s.a, s.b}, F(is_even)(s.c)), F(bits_of)(s.c));
}

INLINE vec F(cos_end)(stage s)
{
    return F(sin_end)(s);
}

/* tan r = r + r^3 P; in odd quarters -1 / tan r, with the error of the quotient put right. */
INLINE vec F(tan_end)(stage s)
{
    pair r = {s.a, s.b};
    vec z = r.hi * r.hi;
    vec poly = POLY(z, tan_poly);
    pair power = F(two_product)(r.hi, z);
    power.lo = F(fma)(r.hi, F(fma)(r.hi, r.hi, -z), power.lo);
    vec cube = F(fma)(power.hi, poly, F(fma)(power.lo, poly, r.lo));
    pair t = F(fast_sum)(r.hi, cube);
    t.lo = F(fma)(t.hi * t.hi, r.lo, t.lo);
    vec tangent = t.hi + t.lo;
    vec inverse = K(-1) / t.hi;
    vec lost = F(fma)(inverse, t.lo, F(fma)(inverse, t.hi, K(1)));
    vec cotangent = F(fma)(inverse, lost, inverse);
    mask even = F(is_even)(s.c);
    return F(flip)(F(select)(even, tangent, cotangent), F(bits_of)(s.c));
}

/* cos x is the sine one quarter on. */
#define SIN_TURNS(n, x) F(turns)(n, x)
#define COS_TURNS(n, x) F(of_bits)(F(shift_left)(n, WIDTH - 2))
#define TAN_TURNS(n, x) F(turns)(KB(1) & (n), x)
#define CIRCULAR(NAME, START, TURNS)                                \
    INLINE mask F(NAME##_is_rare)(vec x)                            \
    {                                                               \
        return F(opposite)(F(at_most)(F(abs)(x), K(CIRCLE_LIMIT))); \
    }                                                               \
    INLINE stage F(NAME##_begin)(vec x)                             \
    {                                                               \
        bits n;                                                     \
        pair r = F(reduce)(F(abs)(x), START, &n);                   \
        return (stage){r.hi, r.lo, TURNS(n, x)};                    \
    }                                                               \
    RARE vec F(NAME)(vec x)                                         \
    {                                                               \
        bits n;                                                     \
        pair r = F(reduce)(F(abs)(x), START, &n);                   \
        F(reduce_large)(F(abs)(x), START, &r, &n);                  \
        return F(NAME##_end)((stage){r.hi, r.lo, TURNS(n, x)});     \
    }

CIRCULAR(sin, 0, SIN_TURNS)
CIRCULAR(cos, 1, COS_TURNS)
CIRCULAR(tan, 0, TAN_TURNS)
#undef CIRCULAR
#undef SIN_TURNS
#undef COS_TURNS
#undef TAN_TURNS

/* asin s = s + rest for s = |x| up to 1/2, and for s = sqrt((1 - |x|) / 2) above (`large`). */
INLINE vec F(asin_parts)(vec x, vec *s, mask *large)
{
    vec size = F(abs)(x);
    *large = F(less)(K(0.5), size);
    vec z = F(select)(*large, F(fma)(K(-0.5), size, K(0.5)), size * size);
    vec root = F(sqrt)(z);
    vec lost = F(fma)(-root, root, z) / (root + root + K(LEAST));
    *s = F(select)(*large, root, size);
    return F(fma)(*s * z, POLY(z, asin_poly), F(select)(*large, lost, K(0)));
}

INLINE vec F(asin)(vec x)
{
    vec s;
    mask large;
    vec rest = F(asin_parts)(x, &s, &large);
    pair from = F(fast_sum)(C(half_pi, 0), s * K(-2));
    vec above = from.hi + (from.lo + F(fma)(K(-2), rest, C(half_pi, 1)));
    return F(with_sign)(F(select)(large, above, s + rest), F(sign_of)(x));
}

INLINE vec F(acos)(vec x)
{
    vec s;
    mask large;
    vec rest = F(asin_parts)(x, &s, &large);
    mask negative = F(less)(x, K(0));
    /* pi/2 -+ (s + rest), 2 (s + rest) or pi - 2 (s + rest) */
    vec twice = F(select)(large, K(2), K(1));
    vec factor = F(select)(negative, twice, -twice);
    factor = F(select)(large, -factor, factor);
    vec base = F(select)(large, F(select)(negative, K(2), K(0)), K(1));
    pair from = F(fast_sum)(base * C(half_pi, 0), factor * s);
    vec low = F(fma)(factor, rest, base * C(half_pi, 1));
    return from.hi + (from.lo + low);
}

/* The angle of the point (x, y), 0 ... pi/2, as a sum; x, y >= 0, not both 0. */
INLINE pair F(angle)(vec y, vec x)
{
    mask middle = F(less)(C(tan_eighth, 0) * x, y);
    mask steep = F(less)(C(tan_three_eighths, 0) * x, y);
    pair difference = F(two_sum)(y, -x);
    pair sum = F(two_sum)(y, x);
    vec above = F(select)(steep, -x, F(select)(middle, difference.hi, y));
    vec below = F(select)(steep, y, F(select)(middle, sum.hi, x));
    middle = middle & F(opposite)(steep);
    vec above_rest = F(select)(middle, difference.lo, K(0));
    vec below_rest = F(select)(middle, sum.lo, K(0));
    vec hi = above / below;
    vec lost = F(fma)(-hi, below, above) + F(fma)(-hi, below_rest, above_rest);
    vec lo = lost / below;
    vec z = hi * hi;
    vec rest = F(fma)(hi * z, POLY(z, atan_poly), F(fma)(-z, lo, lo));
    vec base = F(select)(steep, K(1), F(select)(middle, K(0.5), K(0)));
    pair from = F(fast_sum)(base * C(half_pi, 0), hi);
    return (pair){from.hi, from.lo + F(fma)(base, C(half_pi, 1), rest)};
}

INLINE vec F(atan)(vec x)
{
    pair angle = F(angle)(F(min)(K(ATAN_HIGH), F(abs)(x)), K(1));
    return F(with_sign)(angle.hi + angle.lo, F(sign_of)(x));
}

/* Points at infinity, at 0 or so near to either that a sum or a remainder would leave the range. */
INLINE void F(move_point)(vec *y, vec *x)
{
    vec far = F(max)(*x, *y);
    vec factor = F(select)(F(less)(far, K(1)), K(POINT_UP), K(1 / POINT_UP));
    mask infinite = F(equal)(far, K(INFINITE));
    mask origin = F(equal)(far, K(0));
    vec ones_y = F(select)(F(equal)(*y, K(INFINITE)), K(1), K(0));
    vec ones_x = F(select)(F(equal)(*x, K(INFINITE)) | origin, K(1), K(0));
    mask ones = infinite | origin;
    mask moved = F(opposite)(F(at_most)(K(NEAR_0), far) & F(at_most)(far, K(FAR_OFF)));
    *y = F(select)(ones, ones_y, F(select)(moved, *y * factor, *y));
    *x = F(select)(ones, ones_x, F(select)(moved, *x * factor, *x));
}

INLINE mask F(atan2_is_rare)(vec y, vec x)
{
    vec far = F(max)(F(abs)(x), F(abs)(y));
    return F(opposite)(F(at_most)(K(NEAR_0), far) & F(at_most)(far, K(FAR_OFF))) | F(is_nan)(x);
}

/* The angle of (x, y) by that of (from_x, from_y), which has no signs. */
INLINE vec F(atan2_from)(vec y, vec x, vec from_y, vec from_x)
{
    pair right = F(angle)(from_y, from_x);
    pair left = F(fast_sum)(K(2) * C(half_pi, 0), -right.hi);
    left.lo += F(fma)(K(2), C(half_pi, 1), -right.lo);
    mask is_left = F(is_negative)(x);
    vec value = F(select)(is_left, left.hi, right.hi) + F(select)(is_left, left.lo, right.lo);
    return F(with_sign)(value, F(sign_of)(y));
}

INLINE vec F(atan2_usual)(vec y, vec x)
{
    return F(atan2_from)(y, x, F(abs)(y), F(abs)(x));
}

RARE vec F(atan2)(vec y, vec x)
{
    vec from_y = F(abs)(y);
    vec from_x = F(abs)(x);
    F(move_point)(&from_y, &from_x);
    vec value = F(atan2_from)(y, x, from_y, from_x);
    return F(select)(F(is_nan)(x) | F(is_nan)(y), x + y, value);
}
