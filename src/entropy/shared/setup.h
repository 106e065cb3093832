/*
 * The inside of the entropy wing: what a call is made of once its options are checked.
 *
 *   window   which elements belong to a window, as runs of columns in each of its rows
 *   table    n log n as whole numbers, and what a count of n adds to or takes from the sum
 *   levels   rows of the input as levels, with the border laid around them
 *   setup    all of that for one array, and the method chosen
 *
 * Coordinates: the input with its border around it is the padded array. Element (y, x) of the
 * result has its window's upper left corner at (y, x) of the padded array, whatever the border.
 */
#ifndef TWI_ENTROPY_SHARED_SETUP_H
#define TWI_ENTROPY_SHARED_SETUP_H

#include "base/matrix.h"
#include "entropy/shared/table.h"
#include "entropy/shared/window.h"

#define TWI_LEVELS_MOST 65536

typedef enum twi_entropy_method {
    TWI_ENTROPY_AUTO,
    TWI_ENTROPY_COUNTERS, /* 16 counters in one vector: few levels, small full windows */
    TWI_ENTROPY_STACKS, /* a level's counts in 32 windows in one vector: 256 levels, high windows */
    TWI_ENTROPY_BINS,   /* all counts of a window in vectors: likewise */
    TWI_ENTROPY_LANES,  /* several rows of outputs in one histogram: full windows */
    TWI_ENTROPY_LIST    /* one row of outputs, elements that enter and leave by a list: any */
} twi_entropy_method;

typedef struct twi_entropy_feed twi_entropy_feed;
typedef struct twi_entropy_gpu twi_entropy_gpu; /* devices, and what they hold for one setup */

typedef struct twi_entropy_setup {
    tw_entropy_options opts;
    const tw_matrix *in;
    twi_entropy_feed
        *feed;    /* where rows come from that are not in memory; NULL: all are (plan/blocks.h) */
    int64_t held; /* the row that the data of `in` begins with; others follow it, after the
                     last row the first; 0 without a feed */
    twi_window window;
    twi_entropy_table table;
    double *edges; /* of the bins of a range: levels + 1; NULL without one */
    tw_shape shape;
    twi_entropy_method method;
    twi_isa isa;
    int64_t above;        /* rows of border above the input: top, or 0 when valid */
    int64_t before;       /* columns of border left of it */
    twi_entropy_gpu *gpu; /* NULL: the CPU computes */
} twi_entropy_setup;

/* Whether some elements may not count. NaN as no_data has become skip_nan, and that stays where
 * there can be one. */
static inline bool twi_entropy_skips(const tw_entropy_options *opts)
{
    return opts->mask != NULL || opts->no_data != NULL || opts->skip_nan != 0;
}

/* Whether u16 has no room for the level of what does not count: only lists of u32 do it then. */
static inline bool twi_entropy_is_wide(const twi_entropy_setup *setup)
{
    const tw_entropy_options *opts = &setup->opts;
    return opts->levels == TWI_LEVELS_MOST &&
           (opts->border == TW_ENTROPY_BORDER_CROP || twi_entropy_skips(opts));
}

/* A row of the input, which must be in memory. */
static inline const void *twi_entropy_row(const twi_entropy_setup *setup, int64_t row)
{
    int64_t slot = row - setup->held;
    return twi_matrix_row(setup->in, slot < 0 ? slot + setup->in->rows : slot);
}

#endif
