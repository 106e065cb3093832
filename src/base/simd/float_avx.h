/*
 * Arithmetic of floats on AVX2 with FMA and on AVX-512 (contract: simd/float.h). What a comparison
 * gives is a vector of ones and zeros in the former, and in the latter a register of its own kind.
 */
#ifndef TWI_BASE_SIMD_FLOAT_AVX_H
#define TWI_BASE_SIMD_FLOAT_AVX_H

typedef int32_t bits_f32 __attribute__((vector_size(sizeof(vec_f32))));
typedef int64_t bits_f64 __attribute__((vector_size(sizeof(vec_f64))));

#if defined(TWI_KERNEL_AVX512)
typedef __mmask16 mask_f32;
typedef __mmask8 mask_f64;
#define ROUND(SUFFIX, v, how) _mm512_roundscale_##SUFFIX(v, (how) | _MM_FROUND_NO_EXC)
#define COMPARE(SUFFIX, a, how, b) _mm512_cmp_##SUFFIX##_mask(a, b, how)
#define SPLAT_64 _mm512_set1_epi64
/* Any function of three bits; 0x78 is a ^ (b & c). */
#define TERNARY(BITS, a, b, c, table) \
    _mm512_ternarylogic_epi##BITS((__m512i)(a), (__m512i)(b), (__m512i)(c), table)
#else
typedef bits_f32 mask_f32;
typedef bits_f64 mask_f64;
#define ROUND(SUFFIX, v, how) _mm256_round_##SUFFIX(v, (how) | _MM_FROUND_NO_EXC)
#define COMPARE(SUFFIX, a, how, b) _mm256_cmp_##SUFFIX(a, b, how)
#define SPLAT_64 _mm256_set1_epi64x
#endif

#define TWI_AVX_FLOAT(S, SUFFIX, SPLAT)                            \
    static inline bits_##S bits_of_##S(vec_##S v)                  \
    {                                                              \
        return (bits_##S)v;                                        \
    }                                                              \
    static inline vec_##S of_bits_##S(bits_##S b)                  \
    {                                                              \
        return (vec_##S)b;                                         \
    }                                                              \
    static inline bits_##S splat_bits_##S(int64_t x)               \
    {                                                              \
        return (bits_##S)SPLAT(x);                                 \
    }                                                              \
    static inline bits_##S shift_left_##S(bits_##S b, int n)       \
    {                                                              \
        return b << n;                                             \
    }                                                              \
    static inline bits_##S shift_right_##S(bits_##S b, int n)      \
    {                                                              \
        return b >> n;                                             \
    }                                                              \
    static inline vec_##S fma_##S(vec_##S a, vec_##S b, vec_##S c) \
    {                                                              \
        return MM(fmadd_##SUFFIX)(a, b, c);                        \
    }                                                              \
    static inline vec_##S sqrt_##S(vec_##S v)                      \
    {                                                              \
        return MM(sqrt_##SUFFIX)(v);                               \
    }                                                              \
    static inline vec_##S floor_##S(vec_##S v)                     \
    {                                                              \
        return ROUND(SUFFIX, v, _MM_FROUND_TO_NEG_INF);            \
    }                                                              \
    static inline vec_##S ceil_##S(vec_##S v)                      \
    {                                                              \
        return ROUND(SUFFIX, v, _MM_FROUND_TO_POS_INF);            \
    }                                                              \
    static inline vec_##S trunc_##S(vec_##S v)                     \
    {                                                              \
        return ROUND(SUFFIX, v, _MM_FROUND_TO_ZERO);               \
    }                                                              \
    static inline vec_##S rint_##S(vec_##S v)                      \
    {                                                              \
        return ROUND(SUFFIX, v, _MM_FROUND_TO_NEAREST_INT);        \
    }                                                              \
    static inline vec_##S max_##S(vec_##S a, vec_##S b)            \
    {                                                              \
        return MM(max_##SUFFIX)(a, b);                             \
    }                                                              \
    static inline mask_##S less_##S(vec_##S a, vec_##S b)          \
    {                                                              \
        return (mask_##S)COMPARE(SUFFIX, a, _CMP_LT_OQ, b);        \
    }                                                              \
    static inline mask_##S at_most_##S(vec_##S a, vec_##S b)       \
    {                                                              \
        return (mask_##S)COMPARE(SUFFIX, a, _CMP_LE_OQ, b);        \
    }                                                              \
    static inline mask_##S equal_##S(vec_##S a, vec_##S b)         \
    {                                                              \
        return (mask_##S)COMPARE(SUFFIX, a, _CMP_EQ_OQ, b);        \
    }                                                              \
    static inline mask_##S opposite_##S(mask_##S m)                \
    {                                                              \
        return (mask_##S) ~m;                                      \
    }

TWI_AVX_FLOAT(f32, ps, MM(set1_epi32))
TWI_AVX_FLOAT(f64, pd, SPLAT_64)

#if defined(TWI_KERNEL_AVX512)
#define TWI_AVX512_MASK(S, SUFFIX, BITS)                               \
    static inline mask_##S less_bits_##S(bits_##S a, bits_##S b)       \
    {                                                                  \
        return _mm512_cmplt_epi##BITS##_mask((__m512i)a, (__m512i)b);  \
    }                                                                  \
    static inline mask_##S equal_bits_##S(bits_##S a, bits_##S b)      \
    {                                                                  \
        return _mm512_cmpeq_epi##BITS##_mask((__m512i)a, (__m512i)b);  \
    }                                                                  \
    static inline mask_##S lacks_bits_##S(bits_##S a, bits_##S b)      \
    {                                                                  \
        return _mm512_testn_epi##BITS##_mask((__m512i)a, (__m512i)b);  \
    }                                                                  \
    static inline vec_##S flip_##S(vec_##S v, bits_##S sign)           \
    {                                                                  \
        const vec_##S top = splat_##S(-0.0F);                          \
        return (vec_##S)TERNARY(BITS, v, sign, top, 0x78);             \
    }                                                                  \
    static inline bits_##S bits_of_mask_##S(mask_##S m)                \
    {                                                                  \
        return (bits_##S)_mm512_movm_epi##BITS(m);                     \
    }                                                                  \
    static inline mask_##S mask_of_bits_##S(bits_##S b)                \
    {                                                                  \
        return _mm512_movepi##BITS##_mask((__m512i)b);                 \
    }                                                                  \
    static inline vec_##S select_##S(mask_##S m, vec_##S a, vec_##S b) \
    {                                                                  \
        return _mm512_mask_blend_##SUFFIX(m, b, a);                    \
    }                                                                  \
    static inline int any_##S(mask_##S m)                              \
    {                                                                  \
        return m != 0;                                                 \
    }

TWI_AVX512_MASK(f32, ps, 32)
TWI_AVX512_MASK(f64, pd, 64)

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
#else
#define TWI_AVX2_MASK(S, SUFFIX, BITS)                                   \
    static inline mask_##S less_bits_##S(bits_##S a, bits_##S b)         \
    {                                                                    \
        return (mask_##S)_mm256_cmpgt_epi##BITS((__m256i)b, (__m256i)a); \
    }                                                                    \
    static inline mask_##S equal_bits_##S(bits_##S a, bits_##S b)        \
    {                                                                    \
        return (mask_##S)_mm256_cmpeq_epi##BITS((__m256i)a, (__m256i)b); \
    }                                                                    \
    static inline mask_##S lacks_bits_##S(bits_##S a, bits_##S b)        \
    {                                                                    \
        return (a & b) == 0;                                             \
    }                                                                    \
    static inline vec_##S flip_##S(vec_##S v, bits_##S sign)             \
    {                                                                    \
        const bits_##S top = (bits_##S)splat_##S(-0.0F);                 \
        return (vec_##S)((bits_##S)v ^ (sign & top));                    \
    }                                                                    \
    static inline bits_##S bits_of_mask_##S(mask_##S m)                  \
    {                                                                    \
        return m;                                                        \
    }                                                                    \
    static inline mask_##S mask_of_bits_##S(bits_##S b)                  \
    {                                                                    \
        return b;                                                        \
    }                                                                    \
    static inline vec_##S select_##S(mask_##S m, vec_##S a, vec_##S b)   \
    {                                                                    \
        return _mm256_blendv_##SUFFIX(b, a, (vec_##S)m);                 \
    }                                                                    \
    static inline int any_##S(mask_##S m)                                \
    {                                                                    \
        return _mm256_movemask_##SUFFIX((vec_##S)m) != 0;                \
    }

TWI_AVX2_MASK(f32, ps, 32)
TWI_AVX2_MASK(f64, pd, 64)

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

static inline bits_f32 select_bits_f32(mask_f32 m, bits_f32 a, bits_f32 b)
{
    return bits_of_f32(select_f32(m, of_bits_f32(a), of_bits_f32(b)));
}
static inline bits_f64 select_bits_f64(mask_f64 m, bits_f64 a, bits_f64 b)
{
    return bits_of_f64(select_f64(m, of_bits_f64(a), of_bits_f64(b)));
}
static inline vec_f32 of_whole_f32(bits_f32 b)
{
    return MM(cvtepi32_ps)((vec_i32)b);
}

#endif
