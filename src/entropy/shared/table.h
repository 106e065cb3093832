/* n log n as whole numbers, and the entropy that a sum of them is. */
#ifndef TWI_ENTROPY_SHARED_TABLE_H
#define TWI_ENTROPY_SHARED_TABLE_H

#include "base/context.h"
#include "entropy/shared/quotient.h"

#define TWI_WIDE_POINT 64 /* bits after the point of what f64 results are made of */

/* The whole numbers of table.c. f32 results: F bits after the point; a step is below 2^29, a sum
 * below 2^49. f64 results: TWI_WIDE_POINT bits, sums below 2^89. */
typedef struct twi_entropy_table {
    int64_t size;
    int32_t fraction; /* F */
    uint64_t *sum;    /* T[0 ... size] = round(n log n 2^F); NULL for f64 */
    uint64_t *step;   /* step[n] = T[n] - T[n-1]; step[0] = 0. Follows `sum` in memory */
    uint64_t *pair;   /* step[a] + step[b] 2^32 at a + 256 b, for windows of up to 255; else NULL */
    unsigned __int128 *wide_sum; /* the same for f64, else NULL */
    unsigned __int128 *wide_step;
    uint64_t *wide_inverse; /* of 1 ... size, for twi_quotient_by (quotient.h); NULL for f32 */
} twi_entropy_table;

/* Tables of a window of `size` elements for results of f32 or f64; base as in the options. */
TW_CHECKED tw_status twi_entropy_table_make(tw_context *ctx, twi_entropy_table *out, int64_t size,
                                            tw_entropy_base base, int32_t levels, tw_type type);
void twi_entropy_table_clear(twi_entropy_table *table);

/* The number itself: what every kernel must return for this sum and this many elements. */
static inline float twi_entropy_value(uint64_t total, uint64_t sum, int64_t n, double unit)
{
    return n > 0 ? (float)((double)(int64_t)(total - sum) / ((double)n * unit))
                 : __builtin_nanf("");
}

/*
 * The same for a divisor that stays: n 2^F, with its inverse ready. Where the machine multiplies
 * and adds in one rounding that is faster than a division, and gives the same bits
 * (docs/methods.md).
 */
static inline float twi_entropy_value_by(uint64_t total, uint64_t sum, double divisor,
                                         double inverse)
{
    const double difference = (double)(int64_t)(total - sum);
#ifdef __FP_FAST_FMA
    const double nearly = difference * inverse;
    return (float)__builtin_fma(__builtin_fma(-nearly, divisor, difference), inverse, nearly);
#else
    (void)inverse;
    return (float)(difference / divisor);
#endif
}

/* The same for f64, from sums with TWI_WIDE_POINT bits after the point (value.h). */
static inline double twi_entropy_wide_value(const twi_entropy_table *table, unsigned __int128 total,
                                            unsigned __int128 sum, int64_t n)
{
    return twi_quotient_by(total - sum, (uint32_t)n, table->wide_inverse[n]);
}

#endif
