/*
 * The vector layer on AVX2 (contract: simd_scalar.h). Broadcasts of 4 and 8 bytes are plain loads;
 * those of 1 and 2 bytes take a shuffle, so these left operands are packed already broadcast.
 * Sixteen registers hold rows of 2 vectors.
 */
#ifndef TWI_BASE_SIMD_AVX2_H
#define TWI_BASE_SIMD_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#define TWI_NV 2

typedef __m256i vec_u8, vec_u16, vec_i32;
typedef __m256 vec_f32;
typedef __m256d vec_f64;

enum {
    LANES_u8 = 32,
    LANES_u16 = 16,
    LANES_i32 = 8,
    LANES_f32 = 8,
    LANES_f64 = 4,
    A_LANES_u8 = LANES_u8,
    A_LANES_u16 = LANES_u16,
    A_LANES_i32 = 1,
    A_LANES_f32 = 1,
    A_LANES_f64 = 1
};

#define TWI_AVX2_INTEGER_TYPE(S, T, SPLAT, SCALAR, ADD, MIN) \
    static inline vec_##S load_##S(const T *p)               \
    {                                                        \
        return _mm256_loadu_si256((const void *)p);          \
    }                                                        \
    static inline void store_##S(T *p, vec_##S v)            \
    {                                                        \
        _mm256_storeu_si256((void *)p, v);                   \
    }                                                        \
    static inline vec_##S splat_##S(T x)                     \
    {                                                        \
        return _mm256_set1_##SPLAT((SCALAR)x);               \
    }                                                        \
    static inline vec_##S add_##S(vec_##S a, vec_##S b)      \
    {                                                        \
        return _mm256_##ADD(a, b);                           \
    }                                                        \
    static inline vec_##S min_##S(vec_##S a, vec_##S b)      \
    {                                                        \
        return _mm256_##MIN(a, b);                           \
    }

TWI_AVX2_INTEGER_TYPE(u8, uint8_t, epi8, char, adds_epu8, min_epu8)
TWI_AVX2_INTEGER_TYPE(u16, uint16_t, epi16, short, adds_epu16, min_epu16)
TWI_AVX2_INTEGER_TYPE(i32, int32_t, epi32, int, add_epi32, min_epi32)

#define TWI_AVX2_FLOAT_TYPE(S, T, SUFFIX)               \
    static inline vec_##S load_##S(const T *p)          \
    {                                                   \
        return _mm256_loadu_##SUFFIX(p);                \
    }                                                   \
    static inline void store_##S(T *p, vec_##S v)       \
    {                                                   \
        _mm256_storeu_##SUFFIX(p, v);                   \
    }                                                   \
    static inline vec_##S splat_##S(T x)                \
    {                                                   \
        return _mm256_set1_##SUFFIX(x);                 \
    }                                                   \
    static inline vec_##S add_##S(vec_##S a, vec_##S b) \
    {                                                   \
        return _mm256_add_##SUFFIX(a, b);               \
    }                                                   \
    static inline vec_##S min_##S(vec_##S a, vec_##S b) \
    {                                                   \
        return _mm256_min_##SUFFIX(a, b);               \
    }

TWI_AVX2_FLOAT_TYPE(f32, float, ps)
TWI_AVX2_FLOAT_TYPE(f64, double, pd)

#define opaque_u8(v) __asm__ volatile("" : "+x"(v))
#define opaque_u16(v) __asm__ volatile("" : "+x"(v))
#define opaque_i32(v) __asm__ volatile("" : "+x"(v))
#define opaque_f32(v) __asm__ volatile("" : "+x"(v))
#define opaque_f64(v) __asm__ volatile("" : "+x"(v))

typedef __m128i bytes16;
typedef struct lookup32 {
    __m128i low, high;
} lookup32;

static inline bytes16 zero_bytes16(void)
{
    return _mm_setzero_si128();
}
static inline bytes16 load_bytes16(const uint8_t *p)
{
    return _mm_loadu_si128((const void *)p);
}
static inline void store_bytes16(uint8_t *p, bytes16 v)
{
    _mm_storeu_si128((void *)p, v);
}
static inline bytes16 add_bytes16(bytes16 a, bytes16 b)
{
    return _mm_add_epi8(a, b);
}
static inline bytes16 sub_bytes16(bytes16 a, bytes16 b)
{
    return _mm_sub_epi8(a, b);
}
static inline lookup32 load_lookup32(const uint8_t *p)
{
    return (lookup32){load_bytes16(p), load_bytes16(p + 16)};
}
/* A byte shuffle gives 0 where bit 7 of the index is set: 0x70 sets it from 16 on, -16 below. */
static inline bytes16 find_lookup32(lookup32 table, bytes16 at)
{
    __m128i low = _mm_shuffle_epi8(table.low, _mm_add_epi8(at, _mm_set1_epi8(0x70)));
    __m128i high = _mm_shuffle_epi8(table.high, _mm_sub_epi8(at, _mm_set1_epi8(16)));
    return _mm_or_si128(low, high);
}
/* Two halves of a vector, each summed in 64 bits: those of two and then four vectors close up. */
static inline __m128i halves_of_4_bytes16(const bytes16 v[4])
{
    const __m128i zero = _mm_setzero_si128();
    __m128i a = _mm_packus_epi32(_mm_sad_epu8(v[0], zero), _mm_sad_epu8(v[1], zero));
    __m128i b = _mm_packus_epi32(_mm_sad_epu8(v[2], zero), _mm_sad_epu8(v[3], zero));
    return _mm_packus_epi32(a, b);
}
typedef __m128i sums8;

static inline void store_sums8(uint16_t *p, sums8 v)
{
    _mm_storeu_si128((void *)p, v);
}
static inline sums8 sum_8_bytes16(const bytes16 v[8])
{
    return _mm_hadd_epi16(halves_of_4_bytes16(v), halves_of_4_bytes16(v + 4));
}
static inline sums8 sum_8_small_bytes16(const bytes16 v[8])
{
    return sum_8_bytes16(v);
}
static inline void divide_sums8(float *out, const sums8 plane[3], int32_t total, float divisor)
{
    __m256i sum = _mm256_slli_epi32(_mm256_cvtepu16_epi32(plane[2]), 8);
    sum = _mm256_slli_epi32(_mm256_add_epi32(sum, _mm256_cvtepu16_epi32(plane[1])), 8);
    sum = _mm256_add_epi32(sum, _mm256_cvtepu16_epi32(plane[0]));
    __m256 rest = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_set1_epi32(total), sum));
    _mm256_storeu_ps(out, _mm256_div_ps(rest, _mm256_set1_ps(divisor)));
}

#endif
