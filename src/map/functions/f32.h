/*
 * What f32 alone has: pow through f64, which needs eleven bits more than f32 on the way; sin, cos
 * and log with fewer operations than those of f64; and the shorter functions of --fast.
 */

/* x^y of 0 < x < inf and finite y, all in f64: nothing is subnormal there, and the rounding to f32
 * is the only one of weight. */
INLINE vec_f64 pow_wide(vec_f64 x, vec_f64 y)
{
    bits_f64 from = bits_of_f64(splat_f64(two_thirds_f64[0]));
    bits_f64 above = bits_of_f64(x) - from;
    vec_f64 f = of_bits_f64((above & splat_bits_f64(0xfffffffffffff)) + from) - splat_f64(1);
    const vec_f64 magic = splat_f64(0x1.8p52);
    vec_f64 k = of_whole_f64(shift_right_f64(above, 52));
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

/* cos r or, in the lanes of `even`, sin r. cos r = 1 + r (r^3 P(r^2) - r / 2): r.lo, as it stands
 * between the brackets, is multiplied by r.hi, which is near enough to sin r. The error that counts
 * is that of the last sum, of the sum in brackets, which is below 3/8, and of P. */
INLINE vec_f32 sin_or_cos_f32(pair_f32 r, mask_f32 even)
{
    vec_f32 z = r.hi * r.hi;
    vec_f32 sine = r.hi + fma_f32(r.hi, z * POLY(z, sin_poly), r.lo);
    vec_f32 slope = fma_f32(r.hi, fma_f32(z, POLY(z, cos_poly), K(-0.5)), -r.lo);
    return select_f32(even, sine, fma_f32(r.hi, slope, K(1)));
}

/* log_split, but k comes times 2^23, as it stands in the bits of x: one operation less. */
#define K_UNIT 0x1p-23F
INLINE stage_f32 log_begin_f32(vec_f32 x)
{
    bits_f32 above = bits_of_f32(x) - bits_of_f32(C(two_thirds, 0));
    bits_f32 k = above & KB(~FRACTION);
    vec_f32 f = of_bits_f32(bits_of_f32(x) - k) - K(1);
    return (stage_f32){f, of_whole_f32(k), f};
}

/* log x = k ln2 + f + w. What k ln2 + f loses is known before w, so the sum of w and all that is
 * small is rounded once. */
INLINE vec_f32 log_end_f32(stage_f32 s)
{
    vec_f32 f = s.a;
    vec_f32 hi = C(ln2, 0) * K(K_UNIT);
    vec_f32 sum = fma_f32(s.b, hi, f);
    vec_f32 lost = f - fma_f32(-s.b, hi, sum);
    vec_f32 rest = fma_f32(s.b, C(ln2, 1) * K(K_UNIT), lost);
    return sum + fma_f32(f * f, fma_f32(f, POLY(f, log_short), K(-0.5)), rest);
}

INLINE mask_f32 log_is_rare_f32(vec_f32 x)
{
    return is_not_normal_f32(x);
}

RARE vec_f32 log_f32(vec_f32 x)
{
    mask_f32 small = less_f32(x, K(LEAST));
    stage_f32 s = log_begin_f32(select_f32(small, x * K(UP), x));
    s.b = s.b - select_f32(small, K((MANTISSA + 2) / K_UNIT), K(0));
    return log_edges_f32(x, log_end_f32(s));
}

/* ------------------------------------------------------------------------------ for --fast */

INLINE stage_f32 brief_exp_begin_f32(vec_f32 x)
{
    x = exp_clamp_f32(x, EXP_LOW, EXP_HIGH);
    vec_f32 shifted = fma_f32(x, C(log2_e, 0), MAGIC);
    vec_f32 n = MAGIC - shifted;
    vec_f32 r = fma_f32(n, C(ln2, 1), fma_f32(n, C(ln2, 0), x));
    return (stage_f32){r, of_bits_f32(bits_of_f32(shifted) - bits_of_f32(MAGIC)), r};
}

INLINE vec_f32 brief_exp_end_f32(stage_f32 s)
{
    vec_f32 r = s.a;
    vec_f32 e = K(1) + fma_f32(r * r, fma_f32(r, POLY(r, exp_brief), K(0.5)), r);
    return scale_f32(e, bits_of_f32(s.b));
}

INLINE stage_f32 brief_log_begin_f32(vec_f32 x)
{
    return log_begin_f32(x);
}

INLINE vec_f32 brief_log_end_f32(stage_f32 s)
{
    vec_f32 f = s.a;
    vec_f32 m = fma_f32(f * f, fma_f32(f, POLY(f, log_brief), K(-0.5)), f);
    return fma_f32(s.b, C(ln2_pair, 0) * K(K_UNIT), m);
}

INLINE vec_f32 minus_size(vec_f32 x)
{
    return of_bits_f32(bits_of_f32(x) | KB(SIGN));
}

/* r = n pi - x with |r| <= pi/2, its sign that of its sine: the lowest bit of k turns it. */
INLINE stage_f32 brief_sin_part(vec_f32 minus_x, vec_f32 n, bits_f32 k)
{
    vec_f32 r = fma_f32(n, C(pi, 1), fma_f32(n, C(pi, 0), minus_x));
    r = with_sign_f32(fma_f32(n, C(pi, 2), r), shift_left_f32(k, WIDTH - 1));
    return (stage_f32){r, r, r};
}

/* The other way round: the sine of 0 has its sign. */
INLINE stage_f32 brief_sin_begin_f32(vec_f32 x)
{
    vec_f32 size = abs_f32(x);
    vec_f32 shifted = fma_f32(size, C(one_over_pi, 0), MAGIC);
    stage_f32 s = brief_sin_part(size, MAGIC - shifted, bits_of_f32(shifted));
    s.a = with_sign_f32(s.a, sign_of_f32(x));
    return s;
}

/* k = floor(x / pi), n = k + 1/2. */
INLINE stage_f32 brief_cos_begin_f32(vec_f32 x)
{
    vec_f32 minus = minus_size(x);
    vec_f32 k = floor_f32(minus * -C(one_over_pi, 0));
    return brief_sin_part(minus, k + K(0.5), bits_of_f32(k + MAGIC));
}

INLINE vec_f32 brief_sin_end_f32(stage_f32 s)
{
    vec_f32 z = s.a * s.a;
    return s.a * fma_f32(z, POLY(z, sin_brief), K(1));
}

INLINE vec_f32 brief_cos_end_f32(stage_f32 s)
{
    return brief_sin_end_f32(s);
}

INLINE mask_f32 brief_log_is_rare_f32(vec_f32 x)
{
    return log_is_rare_f32(x);
}

INLINE mask_f32 brief_sin_is_rare_f32(vec_f32 x)
{
    return sin_is_rare_f32(x);
}

INLINE mask_f32 brief_cos_is_rare_f32(vec_f32 x)
{
    return opposite_f32(at_most_f32(K(-CIRCLE_LIMIT), minus_size(x)));
}

/* Lanes that a shorter function does not serve take the longer one's value. */
#define BRIEF(NAME)                                                             \
    RARE vec_f32 brief_##NAME##_f32(vec_f32 x)                                  \
    {                                                                           \
        return select_f32(NAME##_is_rare_f32(x), NAME##_f32(x),                 \
                          brief_##NAME##_end_f32(brief_##NAME##_begin_f32(x))); \
    }

BRIEF(log)
BRIEF(sin)
BRIEF(cos)
#undef BRIEF
