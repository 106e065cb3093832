/*
 * 256 entries of a byte each fill sixteen vectors: NEON looks sixteen values up in four of them at
 * a time and merges, eight instructions for sixteen elements. Other instruction sets have no table
 * instruction of that reach, and a load for each element serves as well.
 */
#include "map/lookup.h"

#ifdef TWI_KERNEL_NEON
#include <arm_neon.h>
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

void JOIN(twi_lookup_u8_, TWI_KERNEL_ISA)(uint8_t *out, const uint8_t *in, int64_t count,
                                          const uint8_t table[256]);

void JOIN(twi_lookup_u8_, TWI_KERNEL_ISA)(uint8_t *out, const uint8_t *in, int64_t count,
                                          const uint8_t table[256])
{
    int64_t i = 0;
#ifdef TWI_KERNEL_NEON
    const uint8x16x4_t t0 = vld1q_u8_x4(table), t1 = vld1q_u8_x4(table + 64);
    const uint8x16x4_t t2 = vld1q_u8_x4(table + 128), t3 = vld1q_u8_x4(table + 192);
    const uint8x16_t step = vdupq_n_u8(64);
    for (; i + 16 <= count; i += 16) {
        uint8x16_t at = vld1q_u8(in + i);
        uint8x16_t found = vqtbl4q_u8(t0, at);
        at = vsubq_u8(at, step);
        found = vqtbx4q_u8(found, t1, at);
        at = vsubq_u8(at, step);
        found = vqtbx4q_u8(found, t2, at);
        at = vsubq_u8(at, step);
        vst1q_u8(out + i, vqtbx4q_u8(found, t3, at));
    }
#endif
    for (; i < count; i++) {
        out[i] = table[in[i]];
    }
}
