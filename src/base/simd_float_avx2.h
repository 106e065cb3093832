/* Arithmetic of floats on AVX2 with FMA (contract: simd_float.h). */
#ifndef TWI_BASE_SIMD_FLOAT_AVX2_H
#define TWI_BASE_SIMD_FLOAT_AVX2_H

typedef int32_t bits_f32 __attribute__((vector_size(32)));
typedef int64_t bits_f64 __attribute__((vector_size(32)));

#define TWI_AVX2_FLOAT(S, SUFFIX, SPLAT, CMPEQ, CMPGT)                                  \
    typedef bits_##S mask_##S;                                                          \
    static inline bits_##S bits_of_##S(vec_##S v)                                       \
    {                                                                                   \
        return (bits_##S)v;                                                             \
    }                                                                                   \
    static inline vec_##S of_bits_##S(bits_##S b)                                       \
    {                                                                                   \
        return (vec_##S)b;                                                              \
    }                                                                                   \
    static inline bits_##S splat_bits_##S(int64_t x)                                    \
    {                                                                                   \
        return (bits_##S)SPLAT(x);                                                      \
    }                                                                                   \
    static inline bits_##S shift_left_##S(bits_##S b, int n)                            \
    {                                                                                   \
        return b << n;                                                                  \
    }                                                                                   \
    static inline bits_##S shift_right_##S(bits_##S b, int n)                           \
    {                                                                                   \
        return b >> n;                                                                  \
    }                                                                                   \
    static inline vec_##S fma_##S(vec_##S a, vec_##S b, vec_##S c)                      \
    {                                                                                   \
        return _mm256_fmadd_##SUFFIX(a, b, c);                                          \
    }                                                                                   \
    static inline vec_##S sqrt_##S(vec_##S v)                                           \
    {                                                                                   \
        return _mm256_sqrt_##SUFFIX(v);                                                 \
    }                                                                                   \
    static inline vec_##S floor_##S(vec_##S v)                                          \
    {                                                                                   \
        return _mm256_floor_##SUFFIX(v);                                                \
    }                                                                                   \
    static inline vec_##S ceil_##S(vec_##S v)                                           \
    {                                                                                   \
        return _mm256_ceil_##SUFFIX(v);                                                 \
    }                                                                                   \
    static inline vec_##S trunc_##S(vec_##S v)                                          \
    {                                                                                   \
        return _mm256_round_##SUFFIX(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);        \
    }                                                                                   \
    static inline vec_##S rint_##S(vec_##S v)                                           \
    {                                                                                   \
        return _mm256_round_##SUFFIX(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); \
    }                                                                                   \
    static inline vec_##S max_##S(vec_##S a, vec_##S b)                                 \
    {                                                                                   \
        return _mm256_max_##SUFFIX(a, b);                                               \
    }                                                                                   \
    static inline mask_##S less_##S(vec_##S a, vec_##S b)                               \
    {                                                                                   \
        return (mask_##S)_mm256_cmp_##SUFFIX(a, b, _CMP_LT_OQ);                         \
    }                                                                                   \
    static inline mask_##S at_most_##S(vec_##S a, vec_##S b)                            \
    {                                                                                   \
        return (mask_##S)_mm256_cmp_##SUFFIX(a, b, _CMP_LE_OQ);                         \
    }                                                                                   \
    static inline mask_##S equal_##S(vec_##S a, vec_##S b)                              \
    {                                                                                   \
        return (mask_##S)_mm256_cmp_##SUFFIX(a, b, _CMP_EQ_OQ);                         \
    }                                                                                   \
    static inline mask_##S less_bits_##S(bits_##S a, bits_##S b)                        \
    {                                                                                   \
        return (mask_##S)CMPGT((__m256i)b, (__m256i)a);                                 \
    }                                                                                   \
    static inline mask_##S equal_bits_##S(bits_##S a, bits_##S b)                       \
    {                                                                                   \
        return (mask_##S)CMPEQ((__m256i)a, (__m256i)b);                                 \
    }                                                                                   \
    static inline bits_##S bits_of_mask_##S(mask_##S m)                                 \
    {                                                                                   \
        return m;                                                                       \
    }                                                                                   \
    static inline mask_##S mask_of_bits_##S(bits_##S b)                                 \
    {                                                                                   \
        return b;                                                                       \
    }                                                                                   \
    static inline mask_##S opposite_##S(mask_##S m)                                     \
    {                                                                                   \
        return ~m;                                                                      \
    }                                                                                   \
    static inline vec_##S select_##S(mask_##S m, vec_##S a, vec_##S b)                  \
    {                                                                                   \
        return _mm256_blendv_##SUFFIX(b, a, (vec_##S)m);                                \
    }                                                                                   \
    static inline bits_##S select_bits_##S(mask_##S m, bits_##S a, bits_##S b)          \
    {                                                                                   \
        return (bits_##S)select_##S(m, (vec_##S)a, (vec_##S)b);                         \
    }                                                                                   \
    static inline int any_##S(mask_##S m)                                               \
    {                                                                                   \
        return _mm256_movemask_##SUFFIX((vec_##S)m) != 0;                               \
    }

TWI_AVX2_FLOAT(f32, ps, _mm256_set1_epi32, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32)
TWI_AVX2_FLOAT(f64, pd, _mm256_set1_epi64x, _mm256_cmpeq_epi64, _mm256_cmpgt_epi64)

static inline vec_f32 of_whole_f32(bits_f32 b)
{
    return _mm256_cvtepi32_ps((__m256i)b);
}
/* There is no conversion of 64 bits: the low bits of 1.5 * 2^52 + b are b. */
static inline vec_f64 of_whole_f64(bits_f64 b)
{
    const vec_f64 magic = splat_f64(0x1.8p52);
    return of_bits_f64(b + bits_of_f64(magic)) - magic;
}

static inline vec_f64 widen_low_f32(vec_f32 v)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
}
static inline vec_f64 widen_high_f32(vec_f32 v)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
}
static inline vec_f32 narrow_f64(vec_f64 low, vec_f64 high)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

#endif
