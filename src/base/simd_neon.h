/*
 * The vector layer on NEON (contract: simd_scalar.h). A broadcast from memory (ld1r) takes a slot
 * of the vector pipes, which add and min fill completely, so left operands are packed already
 * broadcast. Rows of 4 vectors: 16 accumulators leave registers to run ahead; with 24 the compiler
 * spills and the rate falls from 98 to 85 % of the ceiling (Neoverse V1, November 2026).
 */
#ifndef TWI_BASE_SIMD_NEON_H
#define TWI_BASE_SIMD_NEON_H

#include <arm_neon.h>

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
    }

TWI_NEON_TYPE(u8, uint8_t, uint8x16_t, 16, u8, vqaddq)
TWI_NEON_TYPE(u16, uint16_t, uint16x8_t, 8, u16, vqaddq)
TWI_NEON_TYPE(i32, int32_t, int32x4_t, 4, s32, vaddq)
TWI_NEON_TYPE(f32, float, float32x4_t, 4, f32, vaddq)
TWI_NEON_TYPE(f64, double, float64x2_t, 2, f64, vaddq)

#define opaque_u8(v) __asm__ volatile("" : "+w"(v))
#define opaque_u16(v) __asm__ volatile("" : "+w"(v))
#define opaque_i32(v) __asm__ volatile("" : "+w"(v))
#define opaque_f32(v) __asm__ volatile("" : "+w"(v))
#define opaque_f64(v) __asm__ volatile("" : "+w"(v))

#endif
