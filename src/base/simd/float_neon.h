/* Arithmetic of floats on NEON (contract: simd/float.h). */
#ifndef TWI_BASE_SIMD_FLOAT_NEON_H
#define TWI_BASE_SIMD_FLOAT_NEON_H

#define TWI_NEON_FLOAT(S, I, U, BITS, MASK)                                    \
    typedef BITS bits_##S;                                                     \
    typedef MASK mask_##S;                                                     \
    static inline bits_##S bits_of_##S(vec_##S v)                              \
    {                                                                          \
        return vreinterpretq_##I##_##S(v);                                     \
    }                                                                          \
    static inline vec_##S of_bits_##S(bits_##S b)                              \
    {                                                                          \
        return vreinterpretq_##S##_##I(b);                                     \
    }                                                                          \
    static inline bits_##S splat_bits_##S(int64_t x)                           \
    {                                                                          \
        return vdupq_n_##I(x);                                                 \
    }                                                                          \
    static inline vec_##S fma_##S(vec_##S a, vec_##S b, vec_##S c)             \
    {                                                                          \
        return vfmaq_##S(c, a, b);                                             \
    }                                                                          \
    static inline vec_##S sqrt_##S(vec_##S v)                                  \
    {                                                                          \
        return vsqrtq_##S(v);                                                  \
    }                                                                          \
    static inline vec_##S floor_##S(vec_##S v)                                 \
    {                                                                          \
        return vrndmq_##S(v);                                                  \
    }                                                                          \
    static inline vec_##S ceil_##S(vec_##S v)                                  \
    {                                                                          \
        return vrndpq_##S(v);                                                  \
    }                                                                          \
    static inline vec_##S trunc_##S(vec_##S v)                                 \
    {                                                                          \
        return vrndq_##S(v);                                                   \
    }                                                                          \
    static inline vec_##S rint_##S(vec_##S v)                                  \
    {                                                                          \
        return vrndnq_##S(v);                                                  \
    }                                                                          \
    static inline vec_##S max_##S(vec_##S a, vec_##S b)                        \
    {                                                                          \
        return vmaxq_##S(a, b);                                                \
    }                                                                          \
    static inline mask_##S less_##S(vec_##S a, vec_##S b)                      \
    {                                                                          \
        return vcltq_##S(a, b);                                                \
    }                                                                          \
    static inline mask_##S at_most_##S(vec_##S a, vec_##S b)                   \
    {                                                                          \
        return vcleq_##S(a, b);                                                \
    }                                                                          \
    static inline mask_##S equal_##S(vec_##S a, vec_##S b)                     \
    {                                                                          \
        return vceqq_##S(a, b);                                                \
    }                                                                          \
    static inline mask_##S less_bits_##S(bits_##S a, bits_##S b)               \
    {                                                                          \
        return vcltq_##I(a, b);                                                \
    }                                                                          \
    static inline mask_##S equal_bits_##S(bits_##S a, bits_##S b)              \
    {                                                                          \
        return vceqq_##I(a, b);                                                \
    }                                                                          \
    static inline mask_##S lacks_bits_##S(bits_##S a, bits_##S b)              \
    {                                                                          \
        return vceqzq_##I(a & b);                                              \
    }                                                                          \
    static inline vec_##S flip_##S(vec_##S v, bits_##S sign)                   \
    {                                                                          \
        const bits_##S top = bits_of_##S(vdupq_n_##S(-0.0F));                  \
        return of_bits_##S(bits_of_##S(v) ^ (sign & top));                     \
    }                                                                          \
    static inline bits_##S bits_of_mask_##S(mask_##S m)                        \
    {                                                                          \
        return vreinterpretq_##I##_##U(m);                                     \
    }                                                                          \
    static inline mask_##S mask_of_bits_##S(bits_##S b)                        \
    {                                                                          \
        return vreinterpretq_##U##_##I(b);                                     \
    }                                                                          \
    static inline mask_##S opposite_##S(mask_##S m)                            \
    {                                                                          \
        return ~m;                                                             \
    }                                                                          \
    static inline vec_##S select_##S(mask_##S m, vec_##S a, vec_##S b)         \
    {                                                                          \
        return vbslq_##S(m, a, b);                                             \
    }                                                                          \
    static inline bits_##S select_bits_##S(mask_##S m, bits_##S a, bits_##S b) \
    {                                                                          \
        return vbslq_##I(m, a, b);                                             \
    }                                                                          \
    static inline int any_##S(mask_##S m)                                      \
    {                                                                          \
        return vmaxvq_u32(vreinterpretq_u32_u8(vreinterpretq_u8_##U(m))) != 0; \
    }

TWI_NEON_FLOAT(f32, s32, u32, int32x4_t, uint32x4_t)
TWI_NEON_FLOAT(f64, s64, u64, int64x2_t, uint64x2_t)

static inline vec_f32 of_whole_f32(bits_f32 b)
{
    return vcvtq_f32_s32(b);
}
static inline vec_f64 of_whole_f64(bits_f64 b)
{
    return vcvtq_f64_s64(b);
}

#define shift_left_f32(b, n) vshlq_n_s32(b, n)
#define shift_right_f32(b, n) vshrq_n_s32(b, n)
#define shift_left_f64(b, n) vshlq_n_s64(b, n)
#define shift_right_f64(b, n) vshrq_n_s64(b, n)

static inline vec_f64 widen_low_f32(vec_f32 v)
{
    return vcvt_f64_f32(vget_low_f32(v));
}
static inline vec_f64 widen_high_f32(vec_f32 v)
{
    return vcvt_high_f64_f32(v);
}
static inline vec_f32 narrow_f64(vec_f64 low, vec_f64 high)
{
    return vcvt_high_f32_f64(vcvt_f32_f64(low), high);
}

#endif
