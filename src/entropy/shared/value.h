/*
 * The f64 quotient of the entropy wing, in whole numbers, for C and for GPU code: shifts and
 * divisions of 64 bits alone, so that it has the same bits everywhere. What is divided is
 * N H 2^64, below 2^89; the quotient is rounded once, to the nearest, ties to even.
 */
#ifndef TWI_ENTROPY_VALUE_H
#define TWI_ENTROPY_VALUE_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#define TWI_VALUE static __device__ __forceinline__
#define TWI_LEADING_ZEROS(x) __clzll((long long)(x))
#else
#define TWI_VALUE static inline
#define TWI_LEADING_ZEROS(x) __builtin_clzll(x)
#endif

#define TWI_QUOTIENT_SHIFT                                                \
    24 /* so that the least H of a million elements has more than 64 bits \
        */

TWI_VALUE double twi_number_of_bits(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* (high 2^64 + low) / (n 2^64) for n up to 2^20; NaN for n = 0. */
TWI_VALUE double twi_wide_quotient(uint64_t high, uint64_t low, uint32_t n)
{
    const uint64_t upper = high << TWI_QUOTIENT_SHIFT | low >> (64 - TWI_QUOTIENT_SHIFT);
    const uint64_t lower = low << TWI_QUOTIENT_SHIFT;
    if (n == 0 || (high | low) == 0) {
        return n == 0 ? twi_number_of_bits((uint64_t)0x7FF8 << 48) : 0;
    }
    /* Digits of 32 bits, the highest first; a remainder is below n. */
    uint64_t rest = upper % n;
    uint64_t quotient_high = upper / n;
    rest = rest << 32 | lower >> 32;
    uint64_t quotient_low = rest / n << 32;
    rest = rest % n << 32 | (uint32_t)lower;
    quotient_low |= rest / n;
    rest %= n;
    /* The first 64 bits of the quotient, of which the last also stands for all that follow. */
    int zeros = quotient_high != 0 ? TWI_LEADING_ZEROS(quotient_high) : 64;
    if (zeros == 64) {
        quotient_high = quotient_low;
        quotient_low = 0;
        zeros += TWI_LEADING_ZEROS(quotient_high);
    }
    const int shift = zeros % 64;
    uint64_t first = quotient_high << shift;
    if (shift > 0) {
        first |= quotient_low >> (64 - shift);
    }
    first |= (quotient_low << shift | rest) != 0;
    const uint64_t exponent = (uint64_t)(1023 - zeros - TWI_QUOTIENT_SHIFT);
    return (double)first * twi_number_of_bits(exponent << 52);
}

#endif
