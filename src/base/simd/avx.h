/*
 * The vector layer on AVX2 and, twice as wide, on AVX-512 (F, BW, VL, DQ); contract: simd/scalar.h.
 * Broadcasts of 4 and 8 bytes are plain loads; those of 1 and 2 bytes take a shuffle, so these left
 * operands are packed in copies that make up 4 bytes. Sixteen registers hold rows of 2 vectors,
 * thirty-two rows of 4.
 */
#ifndef TWI_BASE_SIMD_AVX_H
#define TWI_BASE_SIMD_AVX_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

/* MM(name) is the intrinsic of that name at our width, MM_SI that of a whole vector of integers. */
#if defined(TWI_KERNEL_AVX512)
#define TWI_NV 4
#define MM(name) _mm512_##name
#define MM_SI(name) _mm512_##name##_si512
typedef __m512i vec_u8, vec_u16, vec_i32;
typedef __m512 vec_f32;
typedef __m512d vec_f64;
#else
#define TWI_NV 2
#define MM(name) _mm256_##name
#define MM_SI(name) _mm256_##name##_si256
typedef __m256i vec_u8, vec_u16, vec_i32;
typedef __m256 vec_f32;
typedef __m256d vec_f64;
#endif

enum {
    LANES_u8 = sizeof(vec_u8),
    LANES_u16 = sizeof(vec_u16) / 2,
    LANES_i32 = sizeof(vec_i32) / 4,
    LANES_f32 = sizeof(vec_f32) / 4,
    LANES_f64 = sizeof(vec_f64) / 8,
    A_LANES_u8 = 4,
    A_LANES_u16 = 2,
    A_LANES_i32 = 1,
    A_LANES_f32 = 1,
    A_LANES_f64 = 1
};

#define TWI_AVX_TYPE(S, T, LOAD, STORE, SPLAT, ADD, MIN) \
    static inline vec_##S load_##S(const T *p)           \
    {                                                    \
        return LOAD((const void *)p);                    \
    }                                                    \
    static inline void store_##S(T *p, vec_##S v)        \
    {                                                    \
        STORE((void *)p, v);                             \
    }                                                    \
    static inline vec_##S splat_##S(T x)                 \
    {                                                    \
        return MM(SPLAT)(x);                             \
    }                                                    \
    static inline vec_##S add_##S(vec_##S a, vec_##S b)  \
    {                                                    \
        return MM(ADD)(a, b);                            \
    }                                                    \
    static inline vec_##S min_##S(vec_##S a, vec_##S b)  \
    {                                                    \
        return MM(MIN)(a, b);                            \
    }

TWI_AVX_TYPE(u8, uint8_t, MM_SI(loadu), MM_SI(storeu), set1_epi8, adds_epu8, min_epu8)
TWI_AVX_TYPE(u16, uint16_t, MM_SI(loadu), MM_SI(storeu), set1_epi16, adds_epu16, min_epu16)
TWI_AVX_TYPE(i32, int32_t, MM_SI(loadu), MM_SI(storeu), set1_epi32, add_epi32, min_epi32)
TWI_AVX_TYPE(f32, float, MM(loadu_ps), MM(storeu_ps), set1_ps, add_ps, min_ps)
TWI_AVX_TYPE(f64, double, MM(loadu_pd), MM(storeu_pd), set1_pd, add_pd, min_pd)

static inline vec_u8 plain_add_u8(vec_u8 a, vec_u8 b)
{
    return MM(add_epi8)(a, b);
}
static inline vec_u16 plain_add_u16(vec_u16 a, vec_u16 b)
{
    return MM(add_epi16)(a, b);
}

static inline int32_t four_bytes(const void *p)
{
    int32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return bytes;
}
#define broadcast_u8(p) MM(set1_epi32)(four_bytes(p))
#define broadcast_u16(p) MM(set1_epi32)(four_bytes(p))
#define broadcast_i32(p) MM(set1_epi32)(*(p))
#define broadcast_f32(p) MM(set1_ps)(*(p))
#define broadcast_f64(p) MM(set1_pd)(*(p))

/* The sums of the even lanes, and those of the odd ones. */
#define TWI_AVX_WIDE(S, MAX, WIDE, ADD, SHIFT, MASK)                     \
    typedef struct wide_##S {                                            \
        vec_##S even, odd;                                               \
    } wide_##S;                                                          \
    static inline vec_##S max_##S(vec_##S a, vec_##S b)                  \
    {                                                                    \
        return MM(MAX)(a, b);                                            \
    }                                                                    \
    static inline void add_wide_##S(wide_##S *sum, vec_##S v)            \
    {                                                                    \
        sum->even = MM(ADD)(sum->even, MM_SI(and)(v, MASK));             \
        sum->odd = MM(ADD)(sum->odd, MM(SHIFT)(v, 4 * sizeof(WIDE)));    \
    }                                                                    \
    static inline void spread_wide_##S(const wide_##S *sum, int64_t *to) \
    {                                                                    \
        WIDE lane[LANES_##S];                                            \
        memcpy(lane, sum, sizeof lane);                                  \
        for (int i = 0; i < LANES_##S; i++) {                            \
            to[i] += (int64_t)lane[i / 2 + (i % 2) * (LANES_##S / 2)];   \
        }                                                                \
    }
TWI_AVX_WIDE(u8, max_epu8, uint16_t, add_epi16, srli_epi16, MM(set1_epi16)(0xFF))
TWI_AVX_WIDE(u16, max_epu16, uint32_t, add_epi32, srli_epi32, MM(set1_epi32)(0xFFFF))
#if defined(TWI_KERNEL_AVX512)
TWI_AVX_WIDE(i32, max_epi32, uint64_t, add_epi64, srli_epi64, MM(set1_epi64)(0xFFFFFFFF))
#else
TWI_AVX_WIDE(i32, max_epi32, uint64_t, add_epi64, srli_epi64, MM(set1_epi64x)(0xFFFFFFFF))
#endif

/* Sums along a row, and the largest of a vector. */
#define TWI_ACROSS
#if defined(TWI_KERNEL_AVX512)
#define TWI_AVX_HALVES(v, OPERATION) \
    _mm256_##OPERATION(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1))
#define SPLAT_LONG _mm512_set1_epi64
#else
#define TWI_AVX_HALVES(v, OPERATION) (v)
#define SPLAT_LONG _mm256_set1_epi64x
#endif
#define TWI_AVX_QUARTERS(v, OPERATION) \
    _mm_##OPERATION(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1))
#define TWI_AVX_FOLD(v, OPERATION) TWI_AVX_QUARTERS(TWI_AVX_HALVES(v, OPERATION), OPERATION)

static inline vec_u8 add_across_u8(vec_u8 sum, vec_u8 v)
{
    return MM(add_epi64)(sum, MM(sad_epu8)(v, MM(set1_epi8)(0)));
}
static inline vec_u16 add_across_u16(vec_u16 sum, vec_u16 v)
{
    const vec_u16 even = MM_SI(and)(v, MM(set1_epi32)(0xFFFF));
    return MM(add_epi32)(sum, MM(add_epi32)(even, MM(srli_epi32)(v, 16)));
}
static inline vec_i32 add_across_i32(vec_i32 sum, vec_i32 v)
{
    const vec_i32 even = MM_SI(and)(v, SPLAT_LONG(0xFFFFFFFF));
    return MM(add_epi64)(sum, MM(add_epi64)(even, MM(srli_epi64)(v, 32)));
}
static inline uint64_t total_i32(vec_i32 sum)
{
    const __m128i both = TWI_AVX_FOLD(sum, add_epi64);
    return (uint64_t)_mm_cvtsi128_si64(both) + (uint64_t)_mm_extract_epi64(both, 1);
}
static inline uint64_t total_u8(vec_u8 sum)
{
    return total_i32(sum);
}
static inline uint64_t total_u16(vec_u16 sum)
{
    const __m128i four = TWI_AVX_FOLD(sum, add_epi32);
    const __m128i two = _mm_add_epi32(four, _mm_srli_si128(four, 8));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(two, _mm_srli_si128(two, 4)));
}
/* There is an instruction for the smallest of eight. */
static inline uint16_t largest_of_eight(__m128i v)
{
    const __m128i all = _mm_set1_epi8(-1);
    return (uint16_t)~_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(v, all)));
}
static inline uint16_t largest_u16(vec_u16 v)
{
    return largest_of_eight(TWI_AVX_FOLD(v, max_epu16));
}
static inline uint8_t largest_u8(vec_u8 v)
{
    const __m128i pairs = TWI_AVX_FOLD(v, max_epu8);
    return (uint8_t)largest_of_eight(
        _mm_max_epu8(_mm_and_si128(pairs, _mm_set1_epi16(0xFF)), _mm_srli_epi16(pairs, 8)));
}
static inline int32_t largest_i32(vec_i32 v)
{
    const __m128i four = TWI_AVX_FOLD(v, max_epi32);
    const __m128i two = _mm_max_epi32(four, _mm_srli_si128(four, 8));
    return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_srli_si128(two, 4)));
}

#define TWI_AVX_COLUMNS(S, T)                                                \
    static inline void columns_4_##S(vec_##S out[4], const T *p, int64_t ld) \
    {                                                                        \
        T lane[4][LANES_##S];                                                \
        for (int i = 0; i < LANES_##S; i++) {                                \
            for (int j = 0; j < 4; j++) {                                    \
                lane[j][i] = p[i * ld + j];                                  \
            }                                                                \
        }                                                                    \
        for (int j = 0; j < 4; j++) {                                        \
            out[j] = load_##S(lane[j]);                                      \
        }                                                                    \
    }
TWI_AVX_COLUMNS(u8, uint8_t)
TWI_AVX_COLUMNS(u16, uint16_t)
TWI_AVX_COLUMNS(i32, int32_t)
TWI_AVX_COLUMNS(f32, float)
TWI_AVX_COLUMNS(f64, double)

#define opaque_u8(v) __asm__ volatile("" : "+v"(v))
#define opaque_u16(v) __asm__ volatile("" : "+v"(v))
#define opaque_i32(v) __asm__ volatile("" : "+v"(v))
#define opaque_f32(v) __asm__ volatile("" : "+v"(v))
#define opaque_f64(v) __asm__ volatile("" : "+v"(v))

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
/* Four u32, made signed, to f64, put back, scaled, to f32. */
static inline __m128 scale_u32(__m128i number, __m256d factor)
{
    __m128i moved = _mm_xor_si128(number, _mm_set1_epi32(INT32_MIN));
    __m256d wide = _mm256_add_pd(_mm256_cvtepi32_pd(moved), _mm256_set1_pd(0x1p31));
    return _mm256_cvtpd_ps(_mm256_mul_pd(wide, factor));
}
static inline void scale_sums8(float *out, const sums8 plane[4], uint32_t total, double factor)
{
    __m128i upper = _mm_add_epi16(plane[2], _mm_slli_epi16(plane[3], 8));
    __m256i sum = _mm256_slli_epi32(_mm256_cvtepu16_epi32(upper), 8);
    sum = _mm256_slli_epi32(_mm256_add_epi32(sum, _mm256_cvtepu16_epi32(plane[1])), 8);
    sum = _mm256_add_epi32(sum, _mm256_cvtepu16_epi32(plane[0]));
    __m256i rest = _mm256_sub_epi32(_mm256_set1_epi32((int32_t)total), sum);
    __m256d by = _mm256_set1_pd(factor);
    _mm_storeu_ps(out, scale_u32(_mm256_castsi256_si128(rest), by));
    _mm_storeu_ps(out + 4, scale_u32(_mm256_extracti128_si256(rest, 1), by));
}

#endif
