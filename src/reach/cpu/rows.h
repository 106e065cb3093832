/*
 * Rows of reachability in the order of the result, as sinks want them. Rows are taken together
 * until their components fill a block of sources for each thread; then the sets of each block,
 * which lie by component, are turned into rows of bits by vertex, and those go out as bits or
 * bytes.
 */
#ifndef TWI_REACH_CPU_ROWS_H
#define TWI_REACH_CPU_ROWS_H

#include "base/sink.h"
#include "reach/shared/components.h"
#include "reach/shared/rows.h"

TW_CHECKED tw_status twi_reach_give_rows(tw_context *ctx, const twi_condensation *condensation,
                                         twi_reach_rows *rows, twi_sinks *sinks);

/* Bytes it takes on so many threads. */
uint64_t twi_reach_rows_memory(const twi_condensation *condensation, const twi_reach_rows *rows,
                               int team);
int twi_reach_rows_team(tw_context *ctx, const twi_condensation *condensation,
                        const twi_reach_rows *rows);

#endif
