/*
 * Blocks of rows: how high, the rows of the input behind them, which need not all be in memory, and
 * the rows of the result.
 */
#ifndef TWI_ENTROPY_PLAN_BLOCKS_H
#define TWI_ENTROPY_PLAN_BLOCKS_H

#include "entropy/shared/setup.h"

struct twi_entropy_feed {
    const tw_source *source;
    tw_matrix in;   /* as large as the source; its data are the rows that are held */
    int64_t count;  /* rows held */
    double seconds; /* spent in the source */
};

/* Whether the stacks' rows of outputs fit the memory, which are more than others need. */
bool twi_entropy_fits_stacks(tw_context *ctx, const twi_entropy_setup *setup);

/* The rows of a block of the result that memory allows, and the bytes that it takes. */
void twi_entropy_size(tw_context *ctx, const twi_entropy_setup *setup, int64_t *rows,
                      uint64_t *bytes);

/* The rows of a block of the result, as many as memory allows; TW_ERR_MEMORY with the numbers if
 * not even a few fit. Takes the memory of the feed, if there is one. */
TW_CHECKED tw_status twi_entropy_block(tw_context *ctx, twi_entropy_setup *setup, int64_t *rows);

/* Bring the rows into memory that rows first ... first+count-1 of the result need. Without a feed
 * they are there. Blocks come in order. */
TW_CHECKED tw_status twi_entropy_hold(tw_context *ctx, twi_entropy_setup *setup, int64_t first,
                                      int64_t count);

/* Rows first ... first+count-1 of the result into `out`, on the GPUs or on all threads. Values are
 * checked. */
TW_CHECKED tw_status twi_entropy_rows(tw_context *ctx, const twi_entropy_setup *setup,
                                      int64_t first, int64_t count, void *out, int64_t stride);

#endif
