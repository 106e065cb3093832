/* Rows of the input as levels, with the border laid around them. */
#ifndef TWI_ENTROPY_SHARED_LEVELS_H
#define TWI_ENTROPY_SHARED_LEVELS_H

#include "entropy/shared/setup.h"

/* TW_ERR_RANGE with the first place, in reading order, whose value is no level, among rows first
 * ... first+count-1, which must be in memory. On all threads. */
TW_CHECKED tw_status twi_levels_check_rows(tw_context *ctx, const twi_entropy_setup *setup,
                                           int64_t first, int64_t count);
/* The same for all rows, when they are in memory. */
static inline TW_CHECKED tw_status twi_levels_check(tw_context *ctx, const twi_entropy_setup *setup)
{
    return twi_levels_check_rows(ctx, setup, 0, setup->in->rows);
}

/* The levels of a row of the padded array. What does not count gets the level `levels` in u16 and
 * u32, for the general methods, and 0 in u8, for the counters, which never look at it. */
void twi_levels_row_u32(const twi_entropy_setup *setup, int64_t row, uint32_t *out);
void twi_levels_row_u16(const twi_entropy_setup *setup, int64_t row, uint16_t *out);
void twi_levels_row_u8(const twi_entropy_setup *setup, int64_t row, uint8_t *out);
int64_t twi_padded_cols(const twi_entropy_setup *setup);

/* Where index `at` of `count` lies under a border; -1 for nowhere. */
int64_t twi_border_place(tw_entropy_border border, int64_t at, int64_t count);

#endif
