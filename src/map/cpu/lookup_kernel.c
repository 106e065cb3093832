/*
 * 256 entries of a byte each fill sixteen vectors: NEON looks sixteen values up in four of them at
 * a time and merges, eight instructions for sixteen elements. Other instruction sets have no table
 * instruction of that reach, and a load for each element serves as well.
 *
 * With a table for even and another for odd columns, vectors of even and of odd columns are read
 * apart. Both tables together have no room in registers, but in the first cache.
 */
#include "map/cpu/lookup.h"

#ifdef TWI_KERNEL_NEON
#include <arm_neon.h>
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#ifdef TWI_KERNEL_NEON
static inline uint8x16_t find(uint8x16_t at, const uint8_t table[256])
{
    const uint8x16_t step = vdupq_n_u8(64);
    uint8x16_t found = vqtbl4q_u8(vld1q_u8_x4(table), at);
    at = vsubq_u8(at, step);
    found = vqtbx4q_u8(found, vld1q_u8_x4(table + 64), at);
    at = vsubq_u8(at, step);
    found = vqtbx4q_u8(found, vld1q_u8_x4(table + 128), at);
    at = vsubq_u8(at, step);
    return vqtbx4q_u8(found, vld1q_u8_x4(table + 192), at);
}
#endif

void JOIN(twi_lookup_u8_, TWI_KERNEL_ISA)(uint8_t *out, const uint8_t *in, int64_t count,
                                          const uint8_t *even, const uint8_t *odd);

void JOIN(twi_lookup_u8_, TWI_KERNEL_ISA)(uint8_t *out, const uint8_t *in, int64_t count,
                                          const uint8_t *even, const uint8_t *odd)
{
    int64_t i = 0;
#ifdef TWI_KERNEL_NEON
    for (; i + 32 <= count && even != odd; i += 32) {
        uint8x16x2_t pairs = vld2q_u8(in + i);
        pairs.val[0] = find(pairs.val[0], even);
        pairs.val[1] = find(pairs.val[1], odd);
        vst2q_u8(out + i, pairs);
    }
    for (; i + 16 <= count && even == odd; i += 16) {
        vst1q_u8(out + i, find(vld1q_u8(in + i), even));
    }
#endif
    for (; i + 1 < count; i += 2) {
        out[i] = even[in[i]];
        out[i + 1] = odd[in[i + 1]];
    }
    if (i < count) {
        out[i] = even[in[i]];
    }
}
