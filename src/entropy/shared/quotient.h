/*
 * The f64 quotient of the entropy wing for a divisor whose inverse is known: the bits of
 * twi_wide_quotient (value.h), by one product in place of three divisions.
 *
 * The dividend a is shifted until its first bit stands at the top of 64, the inverse of n is
 * 2^127 / n shifted likewise; what each of them, and their product, loses behind its last bit is
 * below one unit of it, so the quotient lies between p and p + 3, or p and p + 6 once p is shifted
 * by one more bit to stand at the top itself. Rounding to 53 bits is then certain unless the middle
 * between two doubles lies there, which happens for one quotient in 300: that one is divided.
 */
#ifndef TWI_ENTROPY_QUOTIENT_H
#define TWI_ENTROPY_QUOTIENT_H

#include "entropy/shared/value.h"

#define TWI_QUOTIENT_ERROR 6 /* units of the last of 64 bits */

/* 2^127 / n, n shifted until its first bit stands at the top; of 0 it is 0. */
static inline uint64_t twi_inverse_of(uint32_t n)
{
    if (n == 0) {
        return 0;
    }
    const uint64_t shifted = (uint64_t)n << __builtin_clzll(n);
    return (uint64_t)((((unsigned __int128)1 << 127) - 1) / shifted);
}

/* a / (n 2^64), rounded once; NaN for n = 0. `inverse` is twi_inverse_of(n); a is 0 or at least
 * 2^47 n, as what twi_wide_quotient divides. */
static inline double twi_quotient_by(unsigned __int128 a, uint32_t n, uint64_t inverse)
{
    const uint64_t high = (uint64_t)(a >> 64), low = (uint64_t)a;
    if (n == 0 || a == 0) {
        return twi_wide_quotient(high, low, n);
    }
    const int zeros = high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
    const uint64_t first = (uint64_t)(a << zeros >> 64);
    uint64_t p = (uint64_t)((unsigned __int128)first * inverse >> 64);
    const int more = p >> 63 == 0;
    p <<= more;
    const uint64_t half = 0x400; /* of the 11 bits that a double does not keep */
    const uint64_t rest = p & (2 * half - 1);
    if (__builtin_expect(rest - (half - TWI_QUOTIENT_ERROR) <= TWI_QUOTIENT_ERROR, 0)) {
        return twi_wide_quotient(high, low, n);
    }
    const int64_t kept = (int64_t)(p >> 11) + (rest > half);
    const int exponent = 11 + __builtin_clzll(n) - zeros - 63 - more;
    return (double)kept * twi_number_of_bits((uint64_t)(1023 + exponent) << 52);
}

#endif
