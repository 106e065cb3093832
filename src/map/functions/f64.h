/*
 * What f64 alone has: polynomials of sin, cos and log in which only the last rounding matters, and
 * x^y = e^(y log x), with the logarithm as a sum of two numbers good to 2^-65, since its error
 * is multiplied by up to 710 on the way. x = 2^k m, s = (m - 1) / (m + 1), log m = 2 (s + s^3 / 3 +
 * s^5 P(s^2)): the first two terms in sums of two, the rest plain.
 */
INLINE vec_f64 sin_or_cos_f64(pair_f64 r, mask_f64 even)
{
    vec_f64 z = r.hi * r.hi;
    vec_f64 half = z * K(0.5);
    vec_f64 sine = fma_f64(r.hi * z, POLY(z, sin_poly), fma_f64(-half, r.lo, r.lo));
    pair_f64 one = fast_sum_f64(K(1), -half);
    vec_f64 lost = fma_f64(K(0.5), fma_f64(r.hi, r.hi, -z), r.hi * r.lo);
    vec_f64 cosine = one.lo + fma_f64(z * z, POLY(z, cos_poly), -lost);
    return select_f64(even, r.hi, one.hi) + select_f64(even, sine, cosine);
}

INLINE log_parts_f64 log_parts_of_f64(stage_f64 s)
{
    vec_f64 w = s.a * s.a * fma_f64(s.a, POLY(s.a, log_poly), K(-0.5));
    return (log_parts_f64){s.b, s.a, w};
}

LOGARITHM(log, log_parts_of)

INLINE pair_f64 log_long(vec_f64 x)
{
    mask_f64 small = less_f64(x, K(LEAST));
    x = select_f64(small, x * K(UP), x);
    bits_f64 from = bits_of_f64(C(half_root, 0));
    bits_f64 above = bits_of_f64(x) - from;
    vec_f64 m = of_bits_f64((above & KB(FRACTION)) + from);
    vec_f64 k = of_whole_f64(shift_right_f64(above, MANTISSA));
    k = k - select_f64(small, K(MANTISSA + 2), K(0));

    vec_f64 below = m + K(1);
    vec_f64 below_rest = m - (below - K(1));
    vec_f64 s = (m - K(1)) / below;
    vec_f64 s_rest = (fma_f64(-s, below, m - K(1)) - s * below_rest) / below;
    pair_f64 z = two_product_f64(s, s);
    z.lo = fma_f64(s + s, s_rest, z.lo);
    pair_f64 t = fast_sum_f64(C(third, 0), z.hi * POLY(z.hi, atanh_poly));
    t.lo = t.lo + C(third, 1);
    pair_f64 v = two_product_f64(z.hi, t.hi);
    v.lo = v.lo + fma_f64(z.hi, t.lo, z.lo * t.hi);
    pair_f64 cube = two_product_f64(s, v.hi);
    cube.lo = cube.lo + fma_f64(s, v.lo, s_rest * v.hi);
    pair_f64 half = fast_sum_f64(s, cube.hi);
    half.lo = half.lo + (s_rest + cube.lo);
    pair_f64 sum = fast_sum_f64(k * C(ln2, 0), half.hi + half.hi);
    sum.lo = sum.lo + fma_f64(k, C(ln2, 1), half.lo + half.lo);
    return fast_sum_f64(sum.hi, sum.lo);
}

INLINE vec_f64 pow_positive_f64(vec_f64 x, vec_f64 y)
{
    pair_f64 log = log_long(x);
    pair_f64 power = two_product_f64(y, log.hi);
    power.lo = fma_f64(y, log.lo, power.lo);
    mask_f64 inside = less_f64(abs_f64(power.hi), K(1000)); /* else the sum has no low part */
    power.hi = exp_clamp_f64(power.hi, -1000, 1000);
    power.lo = select_f64(inside, power.lo, K(0));
    bits_f64 k;
    pair_f64 r = exp_reduce_f64(power.hi, &k);
    pair_f64 e = exp_near_0_f64(fast_sum_f64(r.hi, r.lo + power.lo));
    return scale_f64(e.hi + e.lo, k);
}
