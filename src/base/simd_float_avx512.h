/* Arithmetic of floats on AVX-512 (contract: simd_float.h): masks are registers of their own. */
#ifndef TWI_BASE_SIMD_FLOAT_AVX512_H
#define TWI_BASE_SIMD_FLOAT_AVX512_H

typedef int32_t bits_f32 __attribute__((vector_size(64)));
typedef int64_t bits_f64 __attribute__((vector_size(64)));
typedef __mmask16 mask_f32;
typedef __mmask8 mask_f64;

#define TWI_AVX512_FLOAT(S, SUFFIX, INTEGERS, WIDTH)                                         \
    static inline bits_##S bits_of_##S(vec_##S v)                                            \
    {                                                                                        \
        return (bits_##S)v;                                                                  \
    }                                                                                        \
    static inline vec_##S of_bits_##S(bits_##S b)                                            \
    {                                                                                        \
        return (vec_##S)b;                                                                   \
    }                                                                                        \
    static inline bits_##S splat_bits_##S(int64_t x)                                         \
    {                                                                                        \
        return (bits_##S)_mm512_set1_##INTEGERS(x);                                          \
    }                                                                                        \
    static inline bits_##S shift_left_##S(bits_##S b, int n)                                 \
    {                                                                                        \
        return b << n;                                                                       \
    }                                                                                        \
    static inline bits_##S shift_right_##S(bits_##S b, int n)                                \
    {                                                                                        \
        return b >> n;                                                                       \
    }                                                                                        \
    static inline vec_##S fma_##S(vec_##S a, vec_##S b, vec_##S c)                           \
    {                                                                                        \
        return _mm512_fmadd_##SUFFIX(a, b, c);                                               \
    }                                                                                        \
    static inline vec_##S sqrt_##S(vec_##S v)                                                \
    {                                                                                        \
        return _mm512_sqrt_##SUFFIX(v);                                                      \
    }                                                                                        \
    static inline vec_##S floor_##S(vec_##S v)                                               \
    {                                                                                        \
        return _mm512_roundscale_##SUFFIX(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);     \
    }                                                                                        \
    static inline vec_##S ceil_##S(vec_##S v)                                                \
    {                                                                                        \
        return _mm512_roundscale_##SUFFIX(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);     \
    }                                                                                        \
    static inline vec_##S trunc_##S(vec_##S v)                                               \
    {                                                                                        \
        return _mm512_roundscale_##SUFFIX(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);        \
    }                                                                                        \
    static inline vec_##S rint_##S(vec_##S v)                                                \
    {                                                                                        \
        return _mm512_roundscale_##SUFFIX(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); \
    }                                                                                        \
    static inline vec_##S max_##S(vec_##S a, vec_##S b)                                      \
    {                                                                                        \
        return _mm512_max_##SUFFIX(a, b);                                                    \
    }                                                                                        \
    static inline mask_##S less_##S(vec_##S a, vec_##S b)                                    \
    {                                                                                        \
        return _mm512_cmp_##SUFFIX##_mask(a, b, _CMP_LT_OQ);                                 \
    }                                                                                        \
    static inline mask_##S at_most_##S(vec_##S a, vec_##S b)                                 \
    {                                                                                        \
        return _mm512_cmp_##SUFFIX##_mask(a, b, _CMP_LE_OQ);                                 \
    }                                                                                        \
    static inline mask_##S equal_##S(vec_##S a, vec_##S b)                                   \
    {                                                                                        \
        return _mm512_cmp_##SUFFIX##_mask(a, b, _CMP_EQ_OQ);                                 \
    }                                                                                        \
    static inline mask_##S less_bits_##S(bits_##S a, bits_##S b)                             \
    {                                                                                        \
        return _mm512_cmplt_##INTEGERS##_mask((__m512i)a, (__m512i)b);                       \
    }                                                                                        \
    static inline mask_##S equal_bits_##S(bits_##S a, bits_##S b)                            \
    {                                                                                        \
        return _mm512_cmpeq_##INTEGERS##_mask((__m512i)a, (__m512i)b);                       \
    }                                                                                        \
    static inline bits_##S bits_of_mask_##S(mask_##S m)                                      \
    {                                                                                        \
        return (bits_##S)_mm512_movm_##INTEGERS(m);                                          \
    }                                                                                        \
    static inline mask_##S mask_of_bits_##S(bits_##S b)                                      \
    {                                                                                        \
        return _mm512_movepi##WIDTH##_mask((__m512i)b);                                      \
    }                                                                                        \
    static inline mask_##S opposite_##S(mask_##S m)                                          \
    {                                                                                        \
        return (mask_##S) ~m;                                                                \
    }                                                                                        \
    static inline vec_##S select_##S(mask_##S m, vec_##S a, vec_##S b)                       \
    {                                                                                        \
        return _mm512_mask_blend_##SUFFIX(m, b, a);                                          \
    }                                                                                        \
    static inline bits_##S select_bits_##S(mask_##S m, bits_##S a, bits_##S b)               \
    {                                                                                        \
        return (bits_##S)select_##S(m, (vec_##S)a, (vec_##S)b);                              \
    }                                                                                        \
    static inline int any_##S(mask_##S m)                                                    \
    {                                                                                        \
        return m != 0;                                                                       \
    }

TWI_AVX512_FLOAT(f32, ps, epi32, 32)
TWI_AVX512_FLOAT(f64, pd, epi64, 64)

static inline vec_f32 of_whole_f32(bits_f32 b)
{
    return _mm512_cvtepi32_ps((__m512i)b);
}
static inline vec_f64 of_whole_f64(bits_f64 b)
{
    return _mm512_cvtepi64_pd((__m512i)b);
}

static inline vec_f64 widen_low_f32(vec_f32 v)
{
    return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
}
static inline vec_f64 widen_high_f32(vec_f32 v)
{
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
}
static inline vec_f32 narrow_f64(vec_f64 low, vec_f64 high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high),
                              1);
}

#endif
