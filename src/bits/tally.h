/*
 * Sums per bit. Rows of bits come one after the other, each with a weight; wanted is, for every bit
 * position, the sum of the weights of the rows in which it is set.
 *
 * The sums are kept as bit planes: word w of plane p holds bit p of the sums of 64 positions. A row
 * added at plane p waits there until a second one comes; the two and the plane's bits are then
 * added as single bits, and what carries goes to the plane above in the same way. A row costs one
 * such addition on average, five operations for 64 positions, and nothing depends on the data. A
 * weight is added as the sum of its powers of two.
 */
#ifndef TWI_BITS_TALLY_H
#define TWI_BITS_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#define TWI_TALLY_WORDS 16 /* of a row: 1024 positions */
#define TWI_TALLY_PLANES 40

typedef struct twi_tally {
    uint64_t sum[TWI_TALLY_PLANES][TWI_TALLY_WORDS];
    uint64_t waiting[TWI_TALLY_PLANES][TWI_TALLY_WORDS];
    bool waits[TWI_TALLY_PLANES];
} twi_tally;

void twi_tally_clear(twi_tally *tally);

/* All weights together may not reach 2^TWI_TALLY_PLANES. */
void twi_tally_add(twi_tally *tally, const uint64_t row[TWI_TALLY_WORDS], uint64_t weight);

/* The sum of position `at`. */
int64_t twi_tally_sum(const twi_tally *tally, int at);

#endif
