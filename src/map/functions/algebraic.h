/*
 * Roots, rounding, remainders, extremes, signs and neighbours of one type (template:
 * functions/parts.h). All but cbrt and hypot are exact or correctly rounded.
 */

/* |x| = m 2^e with 1/2 <= m < 1, e = 3 q + rest: a first guess, Halley's step (the error is cubed),
 * and one of Newton's with the cube in full. */
INLINE vec F(cbrt_normal)(vec size)
{
    bits b = F(bits_of)(size);
    vec e = F(of_whole)(F(shift_right)(b, MANTISSA) - KB(BIAS - 1));
    vec m = F(of_bits)((b & KB(FRACTION)) | F(bits_of)(K(0.5)));
    vec shifted = F(fma)(e, C(third, 0), MAGIC);
    vec rest = F(fma)(K(-3), shifted - MAGIC, e);
    mask up = F(equal)(rest, K(1));
    mask down = F(equal)(rest, K(-1));
    vec a = m * F(select)(up, K(2), F(select)(down, K(0.5), K(1)));
    vec y =
        POLY(m, cbrt_poly) * F(select)(up, C(cbrt_2, 0), F(select)(down, C(cbrt_half, 0), K(1)));
    for (int i = 0; i < CBRT_STEPS; i++) {
        vec cube = y * y * y;
        y = F(fma)(y, (a - cube) / F(fma)(K(2), cube, a), y);
    }
    pair square = F(two_product)(y, y);
    pair cube = F(two_product)(square.hi, y);
    vec lost = (a - cube.hi) - F(fma)(square.lo, y, cube.lo);
    y = y + lost / (square.hi * K(3));
    return y * F(power_of_two)(F(bits_of)(shifted) - F(bits_of)(MAGIC));
}

INLINE vec F(cbrt)(vec x)
{
    vec size = F(abs)(x);
    mask small = F(less)(size, K(LEAST));
    mask sound = F(less)(K(0), size) & F(less)(size, K(INFINITE));
    vec root = F(cbrt_normal)(F(select)(small, size * K(CBRT_UP), size));
    root = F(with_sign)(root * F(select)(small, K(CBRT_DOWN), K(1)), F(sign_of)(x));
    return F(select)(sound, root, x);
}

INLINE vec F(hypot_near)(vec large, vec small)
{
    pair a = F(two_product)(large, large);
    pair b = F(two_product)(small, small);
    pair sum = F(fast_sum)(a.hi, b.hi);
    vec root = F(sqrt)(sum.hi);
    vec lost = F(fma)(-root, root, sum.hi) + (sum.lo + (a.lo + b.lo));
    return root + lost / (root + root);
}

/* Squares beyond the range, 0, inf and NaN. */
INLINE mask F(hypot_is_rare)(vec x, vec y)
{
    vec large = F(max)(F(abs)(x), F(abs)(y));
    return F(opposite)(F(at_most)(K(1 / HYPOT_FAR), large) & F(at_most)(large, K(HYPOT_FAR))) |
           F(is_nan)(x);
}

INLINE void F(sort)(vec x, vec y, vec *large, vec *small)
{
    mask swapped = F(less)(F(abs)(x), F(abs)(y));
    *large = F(abs)(F(select)(swapped, y, x));
    *small = F(abs)(F(select)(swapped, x, y));
}

INLINE vec F(hypot_usual)(vec x, vec y)
{
    vec large, small;
    F(sort)(x, y, &large, &small);
    return F(hypot_near)(large, small);
}

RARE vec F(hypot)(vec x, vec y)
{
    vec large, small;
    F(sort)(x, y, &large, &small);
    vec factor = F(select)(F(less)(K(1), large), K(1 / HYPOT_UP), K(HYPOT_UP));
    factor = F(select)(F(hypot_is_rare)(x, y), factor, K(1));
    vec value = F(hypot_near)(large * factor, small * factor) / factor;
    value = F(select)(F(equal)(large, K(0)), K(0), value);
    value = F(select)(F(is_nan)(x) | F(is_nan)(y), K(NAN_VALUE), value);
    return F(select)(F(equal)(large, K(INFINITE)) | F(equal)(small, K(INFINITE)), K(INFINITE),
                     value);
}

/* Halves away from zero. */
INLINE vec F(round)(vec x)
{
    vec size = F(abs)(x);
    vec whole = F(trunc)(size);
    whole = whole + F(select)(F(at_most)(K(0.5), size - whole), K(1), K(0));
    return F(with_sign)(whole, F(sign_of)(x));
}

/* The other one where one is NaN. */
INLINE vec F(lesser)(vec a, vec b)
{
    return F(select)(F(less)(a, b) | F(is_nan)(b), a, b);
}

INLINE vec F(greater)(vec a, vec b)
{
    return F(select)(F(less)(b, a) | F(is_nan)(b), a, b);
}

/* Quotients too large for a step, and those that are no number. */
INLINE mask F(mod_is_rare)(vec x, vec y)
{
    vec by = F(abs)(y);
    return F(opposite)(F(less)(F(abs)(x), by * K(MOD_LIMIT)) & F(less)(by, K(INFINITE)));
}

/* While the quotient has no more bits than a float, x - trunc(x / y) y is exact, or less than 0 by
 * one y, where the division was rounded up to a whole number. */
INLINE vec F(mod_usual)(vec x, vec y)
{
    vec size = F(abs)(x);
    vec by = F(abs)(y);
    vec rest = F(fma)(-F(trunc)(size / by), by, size);
    rest = rest + F(select)(F(less)(rest, K(0)), by, K(0));
    return F(with_sign)(rest, F(sign_of)(x));
}

/* The C library's is exact, too. */
RARE vec F(mod)(vec x, vec y)
{
    T x_lane[F(LANES)], y_lane[F(LANES)];
    F(store)(x_lane, x);
    F(store)(y_lane, y);
    for (int i = 0; i < F(LANES); i++) {
        x_lane[i] = FMOD(x_lane[i], y_lane[i]);
    }
    return F(load)(x_lane);
}

INLINE vec F(copysign)(vec x, vec y)
{
    return F(with_sign)(F(abs)(x), F(sign_of)(y));
}

/* The bits of a number are its size in steps, beside its sign. */
INLINE vec F(nextafter)(vec x, vec y)
{
    mask outwards = (F(less)(K(0), x) & F(less)(x, y)) | (F(less)(x, K(0)) & F(less)(y, x));
    bits out = F(bits_of)(x) + KB(1);
    bits in = F(bits_of)(x) - KB(1);
    vec value = F(select)(outwards, F(of_bits)(out), F(of_bits)(in));
    value = F(select)(F(equal)(x, K(0)), F(with_sign)(F(of_bits)(KB(1)), F(sign_of)(y)), value);
    value = F(select)(F(equal)(x, y), y, value);
    return F(select)(F(is_nan)(x) | F(is_nan)(y), x + y, value);
}
