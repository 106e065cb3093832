/*
 * Random numbers that are the same on every machine: a counter goes through a strong 64-bit
 * mixer, so number i of a stream can be had without the ones before it. That is what makes a
 * generator give the same graph for any thread count.
 */
#ifndef TWI_BASE_RANDOM_H
#define TWI_BASE_RANDOM_H

#include <stdint.h>

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014), applied to a Weyl sequence. */
static inline uint64_t twi_random_at(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * 0xD1342543DE82EF95u + (index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform in [0, bound), bound > 0: the high half of a product; its bias is below bound / 2^64. */
static inline uint64_t twi_random_below(uint64_t random, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)random * bound) >> 64);
}

/* Uniform in [0, 1). */
static inline double twi_random_unit(uint64_t random)
{
    return (double)(random >> 11) * 0x1p-53;
}

#endif
