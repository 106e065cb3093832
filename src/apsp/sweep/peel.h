/* The easy part of an order of elimination: vertices of one or two neighbours. */
#ifndef TWI_APSP_SWEEP_PEEL_H
#define TWI_APSP_SWEEP_PEEL_H

#include "apsp/sweep/links.h"
#include "tilewright.h"

/*
 * Eliminate vertices with at most two neighbours until there is none left, or none that is cheap to
 * take out: trees go wholly, chains become one link. The order of those that went is in `vertex`,
 * their number is returned; gone[v] is 1 for them and 0 for the rest, whose lists are left with
 * each other alone, the links that elimination adds included. Scratch: `live`, `waiting` and `next`
 * have room for n, `blocked` too. Unfinished if the call is cancelled meanwhile; see
 * twi_check_cancel.
 */
int64_t twi_peel(tw_context *ctx, twi_links *links, int32_t *vertex, uint8_t *gone, int32_t *live,
                 int32_t *waiting, int32_t *next, int32_t *blocked);

#endif
