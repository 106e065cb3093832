/*
 * The vector layer on plain C: one lane, so that every kernel exists on every machine. This file
 * also states the contract of its siblings <isa>.h. For each suffix S of u8, u16, i32, f32,
 * f64 there are
 *   vec_S, LANES_S        a vector and its element count
 *   load_S, store_S       unaligned
 *   splat_S               one element to all lanes
 *   add_S                 sum; u8 and u16 stop at the type's maximum
 *   min_S                 the lesser of each lane; of floats the second operand, where that is NaN
 *   plain_add_S           of u8 and u16: a sum mod 2^8 or 2^16
 *   max_S                 the greater of each lane, of u8, u16 and i32
 *   A_LANES_S             copies of an element that a packed left operand holds: LANES_S where a
 *                         broadcast costs an arithmetic slot; as many as make up what a load can
 *                         broadcast where there is one
 *   broadcast_S           a vector from those copies
 *   wide_S                of u8, u16 and i32: sums of vectors in lanes twice as wide, in an order
 *                         of its own; add_wide_S adds a vector of values >= 0, spread_wide_S adds
 *                         the LANES_S sums to as many of 64 bits
 *   add_across_S          of u8, u16 and i32, where TWI_ACROSS is defined: adds a vector of
 *                         values >= 0 to sums that begin as a vector of 0; total_S gives the
 *                         sum of all, up to 2^16 values
 *   largest_S             of the same: the largest lane of a vector
 *   columns_4_S           four columns of LANES_S rows that are `ld` elements apart
 *   opaque_S(v)           hides the value of v from the optimiser
 * and TWI_NV, the vectors a micro-kernel's row is wide, chosen for the register file.
 *
 * Sixteen bytes at a time, whatever the width of the other vectors:
 *   bytes16               zero_, load_, store_, add_ and sub_bytes16; sums are mod 256
 *   lookup32              32 bytes as a table; find_lookup32 looks up sixteen indices below 32
 *   sum_8_bytes16         the sums over the bytes of eight vectors, as a sums8: eight u16
 *   sum_8_small_bytes16   the same, if none of them is above 255
 *   store_sums8
 *   scale_sums8           (total - (sums of bytes 0 ... 3 of a number)) mod 2^32 * factor in f64,
 *                         as eight f32
 */
#ifndef TWI_BASE_SIMD_SCALAR_H
#define TWI_BASE_SIMD_SCALAR_H

#include <stdint.h>
#include <string.h>

#define TWI_NV 4

#define TWI_SCALAR_TYPE(S, T, SUM)                                           \
    typedef T vec_##S;                                                       \
    enum { LANES_##S = 1, A_LANES_##S = 1 };                                 \
    static inline vec_##S load_##S(const T *p)                               \
    {                                                                        \
        return *p;                                                           \
    }                                                                        \
    static inline void store_##S(T *p, vec_##S v)                            \
    {                                                                        \
        *p = v;                                                              \
    }                                                                        \
    static inline vec_##S splat_##S(T x)                                     \
    {                                                                        \
        return x;                                                            \
    }                                                                        \
    static inline vec_##S add_##S(vec_##S a, vec_##S b)                      \
    {                                                                        \
        return SUM;                                                          \
    }                                                                        \
    static inline vec_##S min_##S(vec_##S a, vec_##S b)                      \
    {                                                                        \
        return a < b ? a : b;                                                \
    }                                                                        \
    static inline vec_##S broadcast_##S(const T *p)                          \
    {                                                                        \
        return *p;                                                           \
    }                                                                        \
    static inline void columns_4_##S(vec_##S out[4], const T *p, int64_t ld) \
    {                                                                        \
        (void)ld;                                                            \
        memcpy(out, p, 4 * sizeof *out);                                     \
    }

TWI_SCALAR_TYPE(u8, uint8_t, (uint8_t)(a + b > UINT8_MAX ? UINT8_MAX : a + b))
TWI_SCALAR_TYPE(u16, uint16_t, (uint16_t)(a + b > UINT16_MAX ? UINT16_MAX : a + b))
TWI_SCALAR_TYPE(i32, int32_t, a + b)
TWI_SCALAR_TYPE(f32, float, a + b)
TWI_SCALAR_TYPE(f64, double, a + b)

static inline vec_u8 plain_add_u8(vec_u8 a, vec_u8 b)
{
    return (uint8_t)(a + b);
}
static inline vec_u16 plain_add_u16(vec_u16 a, vec_u16 b)
{
    return (uint16_t)(a + b);
}

#define TWI_SCALAR_WIDE(S, T, WIDE)                                      \
    typedef WIDE wide_##S;                                               \
    static inline vec_##S max_##S(vec_##S a, vec_##S b)                  \
    {                                                                    \
        return a > b ? a : b;                                            \
    }                                                                    \
    static inline void add_wide_##S(wide_##S *sum, vec_##S v)            \
    {                                                                    \
        *sum = (WIDE)(*sum + (WIDE)v);                                   \
    }                                                                    \
    static inline void spread_wide_##S(const wide_##S *sum, int64_t *to) \
    {                                                                    \
        *to += (int64_t)*sum;                                            \
    }
TWI_SCALAR_WIDE(u8, uint8_t, uint16_t)
TWI_SCALAR_WIDE(u16, uint16_t, uint32_t)
TWI_SCALAR_WIDE(i32, int32_t, uint64_t)

#if defined(__aarch64__)
#define TWI_FLOAT_REGISTER "+w"
#else
#define TWI_FLOAT_REGISTER "+x"
#endif
#define opaque_u8(v) __asm__ volatile("" : "+r"(v))
#define opaque_u16(v) __asm__ volatile("" : "+r"(v))
#define opaque_i32(v) __asm__ volatile("" : "+r"(v))
#define opaque_f32(v) __asm__ volatile("" : TWI_FLOAT_REGISTER(v))
#define opaque_f64(v) __asm__ volatile("" : TWI_FLOAT_REGISTER(v))

typedef struct bytes16 {
    uint8_t byte[16];
} bytes16;
typedef struct lookup32 {
    const uint8_t *entry;
} lookup32;

static inline bytes16 zero_bytes16(void)
{
    return (bytes16){{0}};
}
static inline bytes16 load_bytes16(const uint8_t *p)
{
    bytes16 v;
    for (int i = 0; i < 16; i++) {
        v.byte[i] = p[i];
    }
    return v;
}
static inline void store_bytes16(uint8_t *p, bytes16 v)
{
    for (int i = 0; i < 16; i++) {
        p[i] = v.byte[i];
    }
}
static inline bytes16 add_bytes16(bytes16 a, bytes16 b)
{
    for (int i = 0; i < 16; i++) {
        a.byte[i] = (uint8_t)(a.byte[i] + b.byte[i]);
    }
    return a;
}
static inline bytes16 sub_bytes16(bytes16 a, bytes16 b)
{
    for (int i = 0; i < 16; i++) {
        a.byte[i] = (uint8_t)(a.byte[i] - b.byte[i]);
    }
    return a;
}
static inline lookup32 load_lookup32(const uint8_t *p)
{
    return (lookup32){p};
}
static inline bytes16 find_lookup32(lookup32 table, bytes16 at)
{
    for (int i = 0; i < 16; i++) {
        at.byte[i] = table.entry[at.byte[i]];
    }
    return at;
}
typedef struct sums8 {
    uint16_t sum[8];
} sums8;

static inline void store_sums8(uint16_t *p, sums8 v)
{
    for (int i = 0; i < 8; i++) {
        p[i] = v.sum[i];
    }
}
static inline sums8 sum_8_bytes16(const bytes16 v[8])
{
    sums8 out = {{0}};
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 16; k++) {
            out.sum[i] = (uint16_t)(out.sum[i] + v[i].byte[k]);
        }
    }
    return out;
}
static inline sums8 sum_8_small_bytes16(const bytes16 v[8])
{
    return sum_8_bytes16(v);
}
static inline void scale_sums8(float *out, const sums8 plane[4], uint32_t total, double factor)
{
    for (int i = 0; i < 8; i++) {
        const uint32_t sum = plane[0].sum[i] + ((uint32_t)plane[1].sum[i] << 8) +
                             ((uint32_t)plane[2].sum[i] << 16) + ((uint32_t)plane[3].sum[i] << 24);
        out[i] = (float)((double)(total - sum) * factor);
    }
}

#endif
