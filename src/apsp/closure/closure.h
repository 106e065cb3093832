/*
 * The closure: Floyd-Warshall by pivot blocks. One driver loops over the pivots; what a pivot's
 * work means on a CPU, a GPU or several is a table of operations.
 *
 * For a pivot block k: its diagonal tile is closed; the tile times the pivot rows gives the row
 * panel; then every other row of tiles takes min(C, Col (x) Row). The first two are narrow, the
 * third is wide, so an implementation updates what pivot k+1 needs first and prepares k+1 while the
 * rest of update k is going on.
 */
#ifndef TWI_APSP_CLOSURE_CLOSURE_H
#define TWI_APSP_CLOSURE_CLOSURE_H

#include "base/context.h"

/* The pivot to go on with where vertices 0 ... done-1 have been pivots, of whatever width: those of
 * a pivot that was not done as a whole are done again, which changes no integer. */
static inline int64_t twi_first_pivot(int64_t n, int64_t block, int64_t done)
{
    return done < n ? done / block : (n + block - 1) / block;
}

typedef struct twi_closure_ops {
    /* Close the tile of the pivot and form its panels, with nothing else going on. */
    tw_status (*prepare)(void *self, int64_t pivot);
    /* Update everything with the prepared pivot, and prepare pivot + 1 (if there is one) on the
     * way. May stop early once the context is cancelled. */
    tw_status (*advance)(void *self, int64_t pivot);
    /* TW_OK to go on after `advance`. NULL: unless the context is cancelled; an implementation that
     * has to stop at the same pivot as others decides that with them. */
    tw_status (*check)(void *self);
    /* Whether the next `advance`, to be with this pivot, is to prepare nothing, so that the matrix
     * is that after the pivot and `keep` can keep it. NULL: never. */
    bool (*pause)(void *self, int64_t pivot);
    /* After such a pause, with so many pivots done. */
    tw_status (*keep)(void *self, int64_t pivots);
} twi_closure_ops;

/* Drive the closure over pivots first ... pivots-1; `relaxations` is the whole work, for the
 * progress line. */
TWI_SHARED TW_CHECKED tw_status twi_closure_drive(tw_context *ctx, const twi_closure_ops *ops,
                                                  void *self, int64_t first, int64_t pivots,
                                                  double relaxations);

#endif
