/*
 * Which tiles can hold anything finite, one bit per tile of the whole matrix, the same on every
 * rank. It begins with the tiles that arcs fall into; a pivot k adds (I, J) where (I, k) and (k, J)
 * are there. Everybody can follow that without a message, so everybody knows which tiles of a panel
 * are sent, and the others are neither sent nor multiplied.
 */
#ifndef TWI_MPI_PATTERN_H
#define TWI_MPI_PATTERN_H

#include "mpi/closure/grid.h"

typedef struct twi_pattern {
    int64_t tiles;
    int64_t words; /* of a row */
    uint64_t *bits;
} twi_pattern;

/* The diagonal is there, nothing else. */
TW_CHECKED tw_status twi_pattern_create(tw_context *ctx, twi_pattern *out, int64_t tiles);
void twi_pattern_clear(twi_pattern *pattern);

static inline bool twi_pattern_has(const twi_pattern *pattern, int64_t i, int64_t j)
{
    return (pattern->bits[i * pattern->words + j / 64] >> (j % 64) & 1) != 0;
}
static inline void twi_pattern_add(twi_pattern *pattern, int64_t i, int64_t j)
{
    pattern->bits[i * pattern->words + j / 64] |= (uint64_t)1 << (j % 64);
}
/* The same beside other threads that do so. */
static inline void twi_pattern_add_shared(twi_pattern *pattern, int64_t i, int64_t j)
{
    uint64_t *word = &pattern->bits[i * pattern->words + j / 64], bit = (uint64_t)1 << (j % 64);
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0) {
        (void)__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    }
}

/* What any rank has. Collective. */
TW_CHECKED tw_status twi_pattern_unite(tw_context *ctx, twi_pattern *pattern,
                                       const twi_world *world);

/* What the update with pivot k fills. */
void twi_pattern_advance(twi_pattern *pattern, int64_t k);

int64_t twi_pattern_count(const twi_pattern *pattern);

#endif
