/*
 * exp, exp2, expm1, sinh, cosh, tanh, log, log2, log10, log1p, asinh, acosh, atanh of one type
 * (template: functions/parts.h).
 *
 * Exponentials: x = k ln2 + r with |r| <= ln2 / 2, r kept as a sum of two; e^r = 1 + r + r^2 P(r),
 * its rounding errors kept, too; then times 2^k. So the only error of weight is that of the last
 * rounding.
 * Logarithms: x = 2^k m with 2/3 <= m < 4/3, f = m - 1 is exact; log m = f + w with
 * w = f^2 (f P(f) - 1/2), |w| < |f| / 5: its error counts a fifth.
 */

/* ---------------------------------------------------------------------------- exponentials */

/* e^r - 1 - r.hi, |r| <= ln2 / 2. */
INLINE vec F(exp_rest)(pair r)
{
    return F(fma)(r.hi * r.hi, F(fma)(r.hi, POLY(r.hi, exp_poly), K(0.5)), r.lo);
}

/* e^r, |r| <= ln2 / 2: lo is not small. */
INLINE pair F(exp_near_0)(pair r)
{
    pair one = F(fast_sum)(K(1), r.hi);
    return (pair){one.hi, one.lo + F(exp_rest)(r)};
}

/* x - k ln2 for the nearest k. */
INLINE pair F(exp_reduce)(vec x, bits *k)
{
    vec shifted = F(fma)(x, C(log2_e, 0), MAGIC);
    vec n = shifted - MAGIC;
    vec rough = F(fma)(-n, C(ln2, 0), x);
    vec hi = F(fma)(-n, C(ln2, 1), rough);
    *k = F(bits_of)(shifted) - F(bits_of)(MAGIC);
    return (pair){hi, F(fma)(-n, C(ln2, 1), rough - hi)};
}

/* Within these, e^x and 2^k are neither beyond the largest number nor all zeros; NaN stays. */
INLINE vec F(exp_clamp)(vec x, double low, double high)
{
    return F(max)(K(low), F(min)(K(high), x));
}

INLINE stage F(exp_begin)(vec x)
{
    bits k;
    pair r = F(exp_reduce)(F(exp_clamp)(x, EXP_LOW, EXP_HIGH), &k);
    return (stage){r.hi, r.lo, F(of_bits)(k)};
}

INLINE vec F(exp_end)(stage s)
{
    pair e = F(exp_near_0)((pair){s.a, s.b});
    return F(scale)(e.hi + e.lo, F(bits_of)(s.c));
}

INLINE stage F(exp2_begin)(vec x)
{
    x = F(exp_clamp)(x, EXP2_LOW, EXP2_HIGH);
    vec shifted = x + MAGIC;
    vec r = x - (shifted - MAGIC);
    pair product = F(two_product)(r, C(ln2_pair, 0));
    product.lo = F(fma)(r, C(ln2_pair, 1), product.lo);
    return (stage){product.hi, product.lo, F(of_bits)(F(bits_of)(shifted) - F(bits_of)(MAGIC))};
}

INLINE vec F(exp2_end)(stage s)
{
    return F(exp_end)(s);
}

/* 2 (2^(k-1) (1 + r + r^2 P) - 1/2), the large terms summed without error. */
INLINE vec F(expm1)(vec x)
{
    bits k;
    pair r = F(exp_reduce)(F(exp_clamp)(x, EXPM1_LOW, EXP_HIGH), &k);
    vec inner = F(fma)(r.hi, POLY(r.hi, exp_poly), K(0.5));
    pair square = F(two_product)(r.hi, r.hi);
    vec low = F(fma)(r.lo, r.hi, r.lo); /* times e^r, which counts here */
    vec rest = F(fma)(square.hi, inner, F(fma)(square.lo, inner, low));
    vec power = F(power_of_two)(k - KB(1));
    pair whole = F(two_sum)(power, K(-0.5));
    pair sum = F(two_sum)(whole.hi, power * r.hi);
    vec half = sum.hi + (sum.lo + F(fma)(power, rest, whole.lo));
    return F(select)(F(less)(F(abs)(x), K(TINY)), x, half + half);
}

/* e^x / 2 and e^-x / 2 of 0 <= x; the latter 0 where it does not count. */
INLINE pair F(exp_halves)(vec x, pair *inverse)
{
    bits k;
    pair e = F(exp_near_0)(F(exp_reduce)(F(min)(K(EXP_HIGH + 2), x), &k));
    e = F(fast_sum)(e.hi, e.lo);
    e.hi = F(scale)(e.hi, k - KB(1));
    e.lo = F(scale)(e.lo, k - KB(1));
    mask counts = F(less)(x, K(MANTISSA + 1));
    vec hi = K(0.25) / e.hi;
    vec rest = F(fma)(-hi, e.hi, K(0.25)) - hi * e.lo;
    inverse->hi = F(select)(counts, hi, K(0));
    inverse->lo = F(select)(counts, rest * (hi * K(4)), K(0));
    return e;
}

INLINE vec F(cosh)(vec x)
{
    pair inverse;
    vec size = F(abs)(x);
    pair e = F(exp_halves)(size, &inverse);
    vec sum = e.hi + inverse.hi;
    vec rest = ((e.hi - sum) + inverse.hi) + (e.lo + inverse.lo);
    return F(select)(F(less)(size, K(MANTISSA + 1)), sum + rest, e.hi + e.lo);
}

INLINE vec F(sinh)(vec x)
{
    pair inverse;
    vec size = F(abs)(x);
    pair e = F(exp_halves)(size, &inverse);
    vec sum = e.hi - inverse.hi;
    vec rest = ((e.hi - sum) - inverse.hi) + (e.lo - inverse.lo);
    vec large = F(select)(F(less)(size, K(MANTISSA + 1)), sum + rest, e.hi + e.lo);
    vec z = size * size;
    vec small = F(fma)(size * z, POLY(z, sinh_poly), size);
    return F(with_sign)(F(select)(F(less)(size, K(1)), small, large), F(sign_of)(x));
}

/* 1 - 2 / (e^2x + 1) away from 0. */
INLINE vec F(tanh)(vec x)
{
    bits k;
    vec size = F(abs)(x);
    vec twice = F(min)(K(MANTISSA), size + size);
    pair e = F(exp_near_0)(F(exp_reduce)(twice, &k));
    e = F(fast_sum)(e.hi, e.lo);
    vec power = F(power_of_two)(k);
    pair below = F(fast_sum)(e.hi * power, K(1));
    below.lo = F(fma)(e.lo, power, below.lo);
    vec hi = K(2) / below.hi;
    vec lo = (F(fma)(-hi, below.hi, K(2)) - hi * below.lo) * (hi * K(0.5));
    pair rest = F(fast_sum)(K(1), -hi);
    vec large = rest.hi + (rest.lo - lo);
    vec z = size * size;
    vec small = F(fma)(size * z, POLY(z, tanh_poly), size);
    return F(with_sign)(F(select)(F(less)(size, K(0.4)), small, large), F(sign_of)(x));
}

/* ------------------------------------------------------------------------------- logarithms */

/* log x = k ln2 + f + w of a normal positive x. */
typedef struct F(log_parts) {
    vec k, f, w;
} F(log_parts);

/* f and k. */
INLINE stage F(log_split)(vec x)
{
    bits from = F(bits_of)(C(two_thirds, 0));
    bits above = F(bits_of)(x) - from;
    vec m = F(of_bits)((above & KB(FRACTION)) + from);
    vec f = m - K(1);
    return (stage){f, F(of_whole)(F(shift_right)(above, MANTISSA)), f};
}

/* w with the rounding error of the square, for those with more roundings to come. */
INLINE F(log_parts) F(log_parts_fine)(stage s)
{
    pair square = F(two_product)(s.a, s.a);
    vec inner = F(fma)(s.a, POLY(s.a, log_poly), K(-0.5));
    return (F(log_parts)){s.b, s.a, F(fma)(square.hi, inner, square.lo * inner)};
}

INLINE vec F(log_join)(F(log_parts) p)
{
    vec sum = F(fma)(p.k, C(ln2, 0), p.f);
    vec lost = p.f - F(fma)(-p.k, C(ln2, 0), sum);
    return sum + (lost + F(fma)(p.k, C(ln2, 1), p.w));
}

INLINE vec F(log2_join)(F(log_parts) p)
{
    pair m = F(fast_sum)(p.f, p.w);
    pair product = F(two_product)(m.hi, C(log2_e, 0));
    product.lo += F(fma)(m.hi, C(log2_e, 1), m.lo * C(log2_e, 0));
    pair sum = F(fast_sum)(p.k, product.hi);
    return sum.hi + (sum.lo + product.lo);
}

INLINE vec F(log10_join)(F(log_parts) p)
{
    pair m = F(fast_sum)(p.f, p.w);
    pair product = F(two_product)(m.hi, C(log10_e, 0));
    product.lo += F(fma)(m.hi, C(log10_e, 1), m.lo * C(log10_e, 0));
    pair sum = F(fast_sum)(p.k * C(log10_2, 0), product.hi);
    return sum.hi + (sum.lo + F(fma)(p.k, C(log10_2, 1), product.lo));
}

/* Where x was scaled up: k counts for less. */
INLINE stage F(log_split_any)(vec x)
{
    mask small = F(less)(x, K(LEAST));
    stage s = F(log_split)(F(select)(small, x * K(UP), x));
    s.b = s.b - F(select)(small, K(MANTISSA + 2), K(0));
    return s;
}

/* log of 0, of negative numbers, of inf and NaN; `value` elsewhere. */
INLINE vec F(log_edges)(vec x, vec value)
{
    value = F(select)(F(less)(x, K(INFINITE)), value, x);
    value = F(select)(F(less)(x, K(0)), K(NAN_VALUE), value);
    return F(select)(F(equal)(x, K(0)), K(-INFINITE), value);
}

/* Subnormal numbers, 0, negative numbers, inf and NaN: the bits of the others follow each other.
 * Put at the lower end of the integers, they are below the rest. */
INLINE mask F(is_not_normal)(vec x)
{
    bits low = F(bits_of)(K(LEAST));
    bits count = F(bits_of)(K(INFINITE)) - low;
    return F(opposite)(F(less_bits)(F(bits_of)(x) - low + KB(SIGN), count + KB(SIGN)));
}

#define LOGARITHM(NAME, PARTS)                                                 \
    INLINE mask F(NAME##_is_rare)(vec x)                                       \
    {                                                                          \
        return F(is_not_normal)(x);                                            \
    }                                                                          \
    INLINE stage F(NAME##_begin)(vec x)                                        \
    {                                                                          \
        return F(log_split)(x);                                                \
    }                                                                          \
    INLINE vec F(NAME##_end)(stage s)                                          \
    {                                                                          \
        return F(NAME##_join)(F(PARTS)(s));                                    \
    }                                                                          \
    RARE vec F(NAME)(vec x)                                                    \
    {                                                                          \
        return F(log_edges)(x, F(NAME##_join)(F(PARTS)(F(log_split_any)(x)))); \
    }

LOGARITHM(log2, log_parts_fine)
LOGARITHM(log10, log_parts_fine)

/* log(1 + x) = log u + (what u = 1 + x lost) / u. */
INLINE vec F(log1p)(vec x)
{
    pair u = F(two_sum)(K(1), x);
    mask sound = F(less)(K(0), u.hi) & F(less)(x, K(INFINITE));
    F(log_parts) p = F(log_parts_fine)(F(log_split)(F(select)(sound, u.hi, K(1))));
    p.w += u.lo / u.hi;
    vec value = F(select)(F(less)(F(abs)(x), K(TINY)), x, F(log_join)(p));
    return F(select)(sound, value, F(log_edges)(u.hi, K(0)));
}

/* ------------------------------------------------------------ inverse hyperbolic functions */

/* log(u.hi + u.lo) + more ln2 of a normal u.hi, which is a number of any size; only what is lost by
 * the last roundings is wrong, relative to the result, even near 1. */
INLINE vec F(log_of_pair)(pair u, vec more)
{
    F(log_parts) p = F(log_parts_fine)(F(log_split)(u.hi));
    p.k = p.k + more;
    p.w += u.lo / u.hi;
    return F(log_join)(p);
}

/* sqrt(x^2 + c) and x with it, for a c of 1 or -1: neither the square, nor the sum, nor the root
 * loses anything of weight. */
INLINE pair F(sum_with_root)(vec x, vec c)
{
    pair square = F(two_product)(x, x);
    pair v = F(two_sum)(square.hi, c);
    v = F(fast_sum)(v.hi, v.lo + square.lo);
    vec root = F(sqrt)(v.hi);
    vec lost = F(fma)(-root, root, v.hi) + v.lo;
    vec rest = F(select)(F(less)(K(0), root), lost / (root + root), K(0));
    pair u = F(two_sum)(x, root);
    return (pair){u.hi, u.lo + rest};
}

/* log(x + sqrt(x^2 + 1)); x - x^3 / 6 near 0, log 2x far off. */
INLINE vec F(asinh)(vec x)
{
    vec size = F(abs)(x);
    mask far = F(less)(K(HYPERBOLIC_FAR), size);
    mask finite = F(less)(size, K(INFINITE));
    pair u = F(sum_with_root)(F(select)(far, K(1), size), K(1));
    u.hi = F(select)(far & finite, size, u.hi);
    u.lo = F(select)(far, K(0), u.lo);
    vec value = F(log_of_pair)(u, F(select)(far, K(1), K(0)));
    vec small = F(fma)(size * (size * size), K(-1) / K(6), size);
    value = F(select)(F(less)(size, K(HYPERBOLIC_NEAR)), small, value);
    return F(with_sign)(F(select)(finite, value, size), F(sign_of)(x));
}

/* log(x + sqrt(x^2 - 1)), log 2x far off. */
INLINE vec F(acosh)(vec x)
{
    mask far = F(less)(K(HYPERBOLIC_FAR), x);
    mask finite = F(less)(x, K(INFINITE));
    mask sound = F(at_most)(K(1), x);
    pair u = F(sum_with_root)(F(select)(sound & F(opposite)(far), x, K(1)), K(-1));
    u.hi = F(select)(far & finite, x, u.hi);
    u.lo = F(select)(far, K(0), u.lo);
    vec value = F(log_of_pair)(u, F(select)(far, K(1), K(0)));
    value = F(select)(finite, value, x);
    return F(select)(sound, value, F(select)(F(is_nan)(x), x, K(NAN_VALUE)));
}

/* log((1 + x) / (1 - x)) / 2; x + x^3 / 3 near 0. */
INLINE vec F(atanh)(vec x)
{
    vec size = F(abs)(x);
    mask sound = F(less)(size, K(1));
    vec y = F(select)(sound, size, K(0));
    pair above = F(fast_sum)(K(1), y);
    pair below = F(fast_sum)(K(1), -y);
    vec hi = above.hi / below.hi;
    vec rest = F(fma)(-hi, below.hi, above.hi) + F(fma)(-hi, below.lo, above.lo);
    vec value = K(0.5) * F(log_of_pair)((pair){hi, rest / below.hi}, K(0));
    vec small = F(fma)(size * (size * size), C(third, 0), size);
    value = F(select)(F(less)(size, K(HYPERBOLIC_NEAR)), small, value);
    value = F(select)(sound, value, F(select)(F(equal)(size, K(1)), K(INFINITE), K(NAN_VALUE)));
    return F(with_sign)(F(select)(F(is_nan)(x), size, value), F(sign_of)(x));
}
