/*
 * What f32 alone has: pow through f64, which needs eleven bits more than f32 on the way, and the
 * shorter functions of --fast.
 */

/* x^y of 0 < x < inf and finite y, all in f64: nothing is subnormal there, and the rounding to f32
 * is the only one of weight. */
INLINE vec_f64 pow_wide(vec_f64 x, vec_f64 y)
{
    bits_f64 from = bits_of_f64(splat_f64(two_thirds_f64[0]));
    bits_f64 above = bits_of_f64(x) - from;
    vec_f64 f = of_bits_f64((above & splat_bits_f64(0xfffffffffffff)) + from) - splat_f64(1);
    const vec_f64 magic = splat_f64(0x1.8p52);
    vec_f64 k = of_bits_f64(shift_right_f64(above, 52) + bits_of_f64(magic)) - magic;
    vec_f64 poly = poly_f64(f, log_wide_f64, (int)(sizeof log_wide_f64 / sizeof(double)));
    vec_f64 log = fma_f64(f * f, fma_f64(f, poly, splat_f64(-0.5)), f);
    log = fma_f64(k, splat_f64(ln2_pair_f64[0]), log);
    vec_f64 power = max_f64(splat_f64(-200), min_f64(splat_f64(200), y * log));
    vec_f64 shifted = fma_f64(power, splat_f64(log2_e_f64[0]), magic);
    vec_f64 r = fma_f64(magic - shifted, splat_f64(ln2_pair_f64[0]), power);
    poly = poly_f64(r, exp_wide_f64, (int)(sizeof exp_wide_f64 / sizeof(double)));
    vec_f64 e = splat_f64(1) + fma_f64(r * r, fma_f64(r, poly, splat_f64(0.5)), r);
    bits_f64 scale = shift_left_f64(bits_of_f64(shifted) - bits_of_f64(magic), 52);
    return of_bits_f64(bits_of_f64(e) + scale);
}

INLINE vec_f32 pow_positive_f32(vec_f32 x, vec_f32 y)
{
    vec_f64 low = pow_wide(widen_low_f32(x), widen_low_f32(y));
    if (LANES_f32 == 1) {
        return narrow_f64(low, low);
    }
    return narrow_f64(low, pow_wide(widen_high_f32(x), widen_high_f32(y)));
}

/* ------------------------------------------------------------------------------ for --fast */

INLINE vec_f32 brief_exp_f32(vec_f32 x)
{
    x = exp_clamp_f32(x, EXP_LOW, EXP_HIGH);
    vec_f32 shifted = fma_f32(x, C(log2_e, 0), MAGIC);
    vec_f32 n = MAGIC - shifted;
    vec_f32 r = fma_f32(n, C(ln2, 1), fma_f32(n, C(ln2, 0), x));
    vec_f32 e = K(1) + fma_f32(r * r, fma_f32(r, POLY(r, exp_brief), K(0.5)), r);
    return scale_f32(e, bits_of_f32(shifted) - bits_of_f32(MAGIC));
}

INLINE vec_f32 brief_log_usual_f32(vec_f32 x)
{
    bits_f32 from = bits_of_f32(C(two_thirds, 0));
    bits_f32 above = bits_of_f32(x) - from;
    vec_f32 f = of_bits_f32((above & KB(FRACTION)) + from) - K(1);
    vec_f32 k = of_whole_f32(shift_right_f32(above, MANTISSA));
    vec_f32 m = fma_f32(f * f, fma_f32(f, POLY(f, log_brief), K(-0.5)), f);
    return fma_f32(k, C(ln2_pair, 0), m);
}

/* sin r for r = x + n pi/2, |r| <= pi/2. */
INLINE vec_f32 brief_sin_part(vec_f32 x, vec_f32 n, bits_f32 sign)
{
    vec_f32 r = fma_f32(n, C(half_pi, 1), fma_f32(n, C(half_pi, 0), x));
    r = fma_f32(n, C(half_pi, 2), r);
    vec_f32 z = r * r;
    return with_sign_f32(fma_f32(r * z, POLY(z, sin_brief), r), sign);
}

INLINE vec_f32 brief_sin_usual_f32(vec_f32 x)
{
    vec_f32 size = abs_f32(x);
    vec_f32 shifted = fma_f32(size, C(one_over_pi, 0), MAGIC);
    vec_f32 n = (MAGIC - shifted) * K(2);
    bits_f32 turn = shift_left_f32(bits_of_f32(shifted), WIDTH - 1);
    return brief_sin_part(size, n, turn ^ sign_of_f32(x));
}

INLINE vec_f32 brief_cos_usual_f32(vec_f32 x)
{
    vec_f32 size = abs_f32(x);
    vec_f32 shifted = fma_f32(size, C(one_over_pi, 0), K(-0.5)) + MAGIC;
    vec_f32 n = fma_f32(shifted - MAGIC, K(-2), K(-1));
    bits_f32 turn = shift_left_f32(bits_of_f32(shifted), WIDTH - 1);
    return brief_sin_part(size, n, turn ^ KB(SIGN));
}

/* Lanes that a shorter function does not serve take the longer one's value. */
#define BRIEF(NAME)                                                                           \
    INLINE mask_f32 brief_##NAME##_is_rare_f32(vec_f32 x)                                     \
    {                                                                                         \
        return NAME##_is_rare_f32(x);                                                         \
    }                                                                                         \
    RARE vec_f32 brief_##NAME##_f32(vec_f32 x)                                                \
    {                                                                                         \
        return select_f32(NAME##_is_rare_f32(x), NAME##_f32(x), brief_##NAME##_usual_f32(x)); \
    }

BRIEF(log)
BRIEF(sin)
BRIEF(cos)
#undef BRIEF
