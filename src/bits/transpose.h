/*
 * A square of 64 x 64 bits mirrored about its diagonal, in place: bit j of word i goes to bit i of
 * word j. Six rounds, each of which trades the off-diagonal quarters of squares half as wide as the
 * round before: 192 exchanges for 4096 bits.
 */
#ifndef TWI_BITS_TRANSPOSE_H
#define TWI_BITS_TRANSPOSE_H

#include <stdint.h>

#define TWI_BITS_SIDE 64

static inline void twi_bits_transpose(uint64_t square[TWI_BITS_SIDE])
{
    uint64_t mask = 0x00000000ffffffffu;
    for (int half = TWI_BITS_SIDE / 2; half > 0; half /= 2, mask ^= mask << half) {
        for (int i = 0; i < TWI_BITS_SIDE; i += 2 * half) {
            for (int k = i; k < i + half; k++) {
                uint64_t trade = ((square[k] >> half) ^ square[k + half]) & mask;
                square[k] ^= trade << half;
                square[k + half] ^= trade;
            }
        }
    }
}

#endif
