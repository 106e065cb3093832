/*
 * The vector layer on NEON (contract: simd/scalar.h). A broadcast from memory (ld1r) takes a slot
 * of the vector pipes, which add and min fill completely, so left operands are packed already
 * broadcast. Rows of 4 vectors: 16 accumulators leave registers to run ahead; with 24 the compiler
 * spills and the rate falls from 98 to 85 % of the ceiling (Neoverse V1, November 2026).
 */
#ifndef TWI_BASE_SIMD_NEON_H
#define TWI_BASE_SIMD_NEON_H

#include <arm_neon.h>
#include <string.h>

#define TWI_NV 4

#define TWI_NEON_TYPE(S, T, V, N, SUFFIX, ADD)          \
    typedef V vec_##S;                                  \
    enum { LANES_##S = N, A_LANES_##S = N };            \
    static inline vec_##S load_##S(const T *p)          \
    {                                                   \
        return vld1q_##SUFFIX(p);                       \
    }                                                   \
    static inline void store_##S(T *p, vec_##S v)       \
    {                                                   \
        vst1q_##SUFFIX(p, v);                           \
    }                                                   \
    static inline vec_##S splat_##S(T x)                \
    {                                                   \
        return vdupq_n_##SUFFIX(x);                     \
    }                                                   \
    static inline vec_##S add_##S(vec_##S a, vec_##S b) \
    {                                                   \
        return ADD##_##SUFFIX(a, b);                    \
    }                                                   \
    static inline vec_##S min_##S(vec_##S a, vec_##S b) \
    {                                                   \
        return vminq_##SUFFIX(a, b);                    \
    }                                                   \
    static inline vec_##S broadcast_##S(const T *p)     \
    {                                                   \
        return vld1q_##SUFFIX(p);                       \
    }

TWI_NEON_TYPE(u8, uint8_t, uint8x16_t, 16, u8, vqaddq)
TWI_NEON_TYPE(u16, uint16_t, uint16x8_t, 8, u16, vqaddq)
TWI_NEON_TYPE(i32, int32_t, int32x4_t, 4, s32, vaddq)
TWI_NEON_TYPE(f32, float, float32x4_t, 4, f32, vaddq)
TWI_NEON_TYPE(f64, double, float64x2_t, 2, f64, vaddq)

static inline vec_u8 plain_add_u8(vec_u8 a, vec_u8 b)
{
    return vaddq_u8(a, b);
}
static inline vec_u16 plain_add_u16(vec_u16 a, vec_u16 b)
{
    return vaddq_u16(a, b);
}

#define TWI_NEON_WIDE(S, SUFFIX, WIDE)                                   \
    typedef struct wide_##S {                                            \
        WIDE low, high;                                                  \
    } wide_##S;                                                          \
    static inline vec_##S max_##S(vec_##S a, vec_##S b)                  \
    {                                                                    \
        return vmaxq_##SUFFIX(a, b);                                     \
    }                                                                    \
    static inline void add_wide_##S(wide_##S *sum, vec_##S v)            \
    {                                                                    \
        sum->low = vaddw_##SUFFIX(sum->low, vget_low_##SUFFIX(v));       \
        sum->high = vaddw_high_##SUFFIX(sum->high, v);                   \
    }                                                                    \
    static inline void spread_wide_##S(const wide_##S *sum, int64_t *to) \
    {                                                                    \
        for (int i = 0; i < LANES_##S; i++) {                            \
            WIDE half = i < LANES_##S / 2 ? sum->low : sum->high;        \
            to[i] += (int64_t)half[i % (LANES_##S / 2)];                 \
        }                                                                \
    }
TWI_NEON_WIDE(u8, u8, uint16x8_t)
TWI_NEON_WIDE(u16, u16, uint32x4_t)
TWI_NEON_WIDE(i32, s32, int64x2_t)

/* Four columns of as many rows as a vector has lanes: rows side by side, then twice the even lanes
 * and the odd ones. */
#define TWI_NEON_COLUMNS(S, T, ROWS)                                              \
    static inline void columns_4_##S(vec_##S out[4], const T *p, int64_t ld)      \
    {                                                                             \
        vec_##S v[4];                                                             \
        for (int i = 0; i < 4; i++, p += LANES_##S / 4 * ld) {                    \
            v[i] = ROWS(p, ld);                                                   \
        }                                                                         \
        const vec_##S even[2] = {vuzp1q_##S(v[0], v[1]), vuzp1q_##S(v[2], v[3])}; \
        const vec_##S odd[2] = {vuzp2q_##S(v[0], v[1]), vuzp2q_##S(v[2], v[3])};  \
        out[0] = vuzp1q_##S(even[0], even[1]);                                    \
        out[1] = vuzp1q_##S(odd[0], odd[1]);                                      \
        out[2] = vuzp2q_##S(even[0], even[1]);                                    \
        out[3] = vuzp2q_##S(odd[0], odd[1]);                                      \
    }

static inline vec_u8 four_rows(const uint8_t *p, int64_t ld)
{
    uint32_t rows[4];
    for (int i = 0; i < 4; i++) {
        memcpy(&rows[i], p + i * ld, sizeof rows[i]);
    }
    return vreinterpretq_u8_u32(vld1q_u32(rows));
}
static inline vec_u16 two_rows(const uint16_t *p, int64_t ld)
{
    return vcombine_u16(vld1_u16(p), vld1_u16(p + ld));
}
#define ONE_ROW_i32(p, ld) vld1q_s32(p)
#define ONE_ROW_f32(p, ld) vld1q_f32(p)
#define vuzp1q_i32 vuzp1q_s32
#define vuzp2q_i32 vuzp2q_s32
TWI_NEON_COLUMNS(u8, uint8_t, four_rows)
TWI_NEON_COLUMNS(u16, uint16_t, two_rows)
TWI_NEON_COLUMNS(i32, int32_t, ONE_ROW_i32)
TWI_NEON_COLUMNS(f32, float, ONE_ROW_f32)
static inline void columns_4_f64(vec_f64 out[4], const double *p, int64_t ld)
{
    for (int i = 0; i < 4; i += 2, p += 2) {
        out[i] = vzip1q_f64(vld1q_f64(p), vld1q_f64(p + ld));
        out[i + 1] = vzip2q_f64(vld1q_f64(p), vld1q_f64(p + ld));
    }
}

#define opaque_u8(v) __asm__ volatile("" : "+w"(v))
#define opaque_u16(v) __asm__ volatile("" : "+w"(v))
#define opaque_i32(v) __asm__ volatile("" : "+w"(v))
#define opaque_f32(v) __asm__ volatile("" : "+w"(v))
#define opaque_f64(v) __asm__ volatile("" : "+w"(v))

typedef uint8x16_t bytes16;
typedef uint8x16x2_t lookup32;

static inline bytes16 zero_bytes16(void)
{
    return vdupq_n_u8(0);
}
static inline bytes16 load_bytes16(const uint8_t *p)
{
    return vld1q_u8(p);
}
static inline void store_bytes16(uint8_t *p, bytes16 v)
{
    vst1q_u8(p, v);
}
static inline bytes16 add_bytes16(bytes16 a, bytes16 b)
{
    return vaddq_u8(a, b);
}
static inline bytes16 sub_bytes16(bytes16 a, bytes16 b)
{
    return vsubq_u8(a, b);
}
static inline lookup32 load_lookup32(const uint8_t *p)
{
    return (lookup32){{vld1q_u8(p), vld1q_u8(p + 16)}};
}
static inline bytes16 find_lookup32(lookup32 table, bytes16 at)
{
    return vqtbl2q_u8(table, at);
}
typedef uint16x8_t sums8;

static inline void store_sums8(uint16_t *p, sums8 v)
{
    vst1q_u16(p, v);
}
static inline sums8 sum_8_bytes16(const bytes16 v[8])
{
    uint16x8_t a = vpaddq_u16(vpaddlq_u8(v[0]), vpaddlq_u8(v[1]));
    uint16x8_t b = vpaddq_u16(vpaddlq_u8(v[2]), vpaddlq_u8(v[3]));
    uint16x8_t c = vpaddq_u16(vpaddlq_u8(v[4]), vpaddlq_u8(v[5]));
    uint16x8_t d = vpaddq_u16(vpaddlq_u8(v[6]), vpaddlq_u8(v[7]));
    return vpaddq_u16(vpaddq_u16(a, b), vpaddq_u16(c, d));
}
static inline sums8 sum_8_small_bytes16(const bytes16 v[8])
{
    uint8x16_t a = vpaddq_u8(vpaddq_u8(v[0], v[1]), vpaddq_u8(v[2], v[3]));
    uint8x16_t b = vpaddq_u8(vpaddq_u8(v[4], v[5]), vpaddq_u8(v[6], v[7]));
    return vpaddlq_u8(vpaddq_u8(a, b));
}
/* number * factor: the exponent of 2^52 before a number makes it an f64, 2^52 above its value, and
 * 2^52 * factor is `offset`, exactly. */
static inline float32x4_t scale_u32(uint32x4_t number, float64x2_t factor, float64x2_t offset)
{
    const uint32x4_t exponent = vdupq_n_u32(0x43300000);
    float64x2_t low = vreinterpretq_f64_u32(vzip1q_u32(number, exponent));
    float64x2_t high = vreinterpretq_f64_u32(vzip2q_u32(number, exponent));
    return vcvt_high_f32_f64(vcvt_f32_f64(vfmaq_f64(offset, low, factor)),
                             vfmaq_f64(offset, high, factor));
}
static inline void scale_sums8(float *out, const sums8 plane[4], uint32_t total, double factor)
{
    uint16x8_t upper = vaddq_u16(plane[2], vshlq_n_u16(plane[3], 8));
    uint32x4_t low = vaddw_u16(vshll_n_u16(vget_low_u16(plane[1]), 8), vget_low_u16(plane[0]));
    uint32x4_t high = vaddw_high_u16(vshll_high_n_u16(plane[1], 8), plane[0]);
    low = vaddq_u32(low, vshll_n_u16(vget_low_u16(upper), 16));
    high = vaddq_u32(high, vshll_high_n_u16(upper, 16));
    uint32x4_t all = vdupq_n_u32(total);
    float64x2_t by = vdupq_n_f64(factor);
    float64x2_t offset = vdupq_n_f64(factor * -0x1p52);
    vst1q_f32(out, scale_u32(vsubq_u32(all, low), by, offset));
    vst1q_f32(out + 4, scale_u32(vsubq_u32(all, high), by, offset));
}

#endif
