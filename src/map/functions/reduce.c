/*
 * Reduction of huge angles: x - n pi/2 for any finite x, by Payne and Hanek's method. x is M 2^e
 * with a whole M of 53 bits. Of 2/pi only the 192 bits count whose products with x are below 4 and
 * above 2^-137: those before give whole turns, those after vanish next to the nearest that a double
 * can come to a multiple of pi/2, about 2^-61. So M times three words, modulo 2^192, is the turn in
 * quarters: two bits of n and 190 of a fraction.
 *
 * In whole numbers and with fma alone, so every instruction set has the same bits.
 */
#include "map/functions/reduce.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2/pi after the point, behind a word of zeros (tools/coefficients.py --words). */
static const uint64_t two_over_pi[] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
};

typedef unsigned __int128 wide;

/* 64 bits of the table from bit `at` on; bit 64 is the first after the point. */
static uint64_t bits_from(int at)
{
    int word = at / 64;
    int shift = at % 64;
    if (shift == 0) {
        return two_over_pi[word];
    }
    return two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift);
}

/* The three words of a fraction below 1/2, w[0] the highest, 190 bits after the point, times pi/2.
 */
static void times_half_pi(const uint64_t w[3], double rest[2])
{
    static const double half_pi[2] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
    double hi = 0;
    double lo = 0;
    for (int i = 0; i < 3; i++) { /* in halves, which are exact; from the highest on */
        for (int half = 0; half < 2; half++) {
            double part = ldexp((double)(uint32_t)(w[i] >> (half == 0 ? 32 : 0)),
                                2 - 32 * (2 * i + half + 1));
            double sum = hi + part;
            lo += (hi - sum) + part;
            hi = sum;
        }
    }
    double sum = hi + lo;
    lo = (hi - sum) + lo;
    hi = sum;
    double product = hi * half_pi[0];
    double low = fma(hi, half_pi[0], -product) + fma(hi, half_pi[1], lo * half_pi[0]);
    rest[0] = product + low;
    rest[1] = (product - rest[0]) + low;
}

int twi_map_reduce(double x, double rest[2])
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    int exponent = (int)(b >> 52 & 0x7ff);
    if (exponent == 0x7ff) {
        rest[0] = rest[1] = x - x;
        return 0;
    }
    uint64_t m = (b & 0xfffffffffffff) | 0x10000000000000;
    int from = (exponent - 1075) - 1 + 63; /* bit j after the point is bit 63 + j of the table */
    uint64_t p[3];
    wide low = (wide)m * bits_from(from + 128);
    wide middle = (wide)m * bits_from(from + 64) + (uint64_t)(low >> 64);
    p[2] = (uint64_t)low;
    p[1] = (uint64_t)middle;
    p[0] = m * bits_from(from) + (uint64_t)(middle >> 64);
    int n = (int)(p[0] >> 62);
    p[0] &= 0x3fffffffffffffff;
    int negative = (p[0] >> 61) != 0;
    if (negative) { /* nearer to the next quarter: 2^190 - p */
        n = (n + 1) % 4;
        p[2] = ~p[2] + 1;
        p[1] = ~p[1] + (p[2] == 0);
        p[0] = (~p[0] + (p[2] == 0 && p[1] == 0)) & 0x3fffffffffffffff;
    }
    times_half_pi(p, rest);
    if (negative) {
        rest[0] = -rest[0];
        rest[1] = -rest[1];
    }
    return n;
}
