/*
 * f64 results of any window: a histogram that slides along four rows of outputs at once. Windows
 * above each other share most of their elements, so one that enters or leaves several of them at
 * once is read and counted once; what its counts add to the sums is looked up for each.
 */
#ifndef TWI_ENTROPY_CPU_SLIDE_WIDE_H
#define TWI_ENTROPY_CPU_SLIDE_WIDE_H

#include "entropy/shared/setup.h"

#define TWI_WIDE_LANES 4
#define TWI_WIDE_SETS 10 /* of lanes that lie side by side: 0, 0-1, ... 3 */

/* Elements that change the windows of TWI_WIDE_LANES rows when they move by a column, as offsets
 * from the corner of the first window, those that change the same lanes side by side. */
typedef struct twi_wide_moves {
    int64_t *places; /* of those that leave, then of those that enter; NULL: nothing was made */
    int64_t leave[TWI_WIDE_SETS];
    int64_t enter[TWI_WIDE_SETS];
} twi_wide_moves;

/* Whether f64 results of this setup come from here. */
bool twi_wide_takes(const twi_entropy_setup *setup);

/* Bytes that twi_wide_make holds at most. */
uint64_t twi_wide_bytes(const twi_entropy_setup *setup);

TW_CHECKED tw_status twi_wide_make(tw_context *ctx, twi_wide_moves *out,
                                   const twi_entropy_setup *setup, int64_t pitch);
void twi_wide_clear(twi_wide_moves *moves);

/* As twi_slide_lanes (slide.h), for TWI_WIDE_LANES rows. */
void twi_slide_wide(const twi_entropy_setup *setup, const twi_wide_moves *moves,
                    const uint16_t *levels, int64_t pitch, double *out, int64_t stride,
                    int64_t live, uint64_t *histogram);

#endif
