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

/* How it goes about it. */
typedef struct twi_reach_means {
    int words;          /* of a component's set: 64 sources each */
    int64_t chunk_rows; /* given to the sinks at a time */
    int team;           /* threads */
} twi_reach_means;

/* As much of each as the rows and the memory allow. */
twi_reach_means twi_reach_rows_means(tw_context *ctx, const twi_condensation *condensation,
                                     const twi_reach_rows *rows);
/* Bytes it takes so. */
uint64_t twi_reach_rows_memory(const twi_condensation *condensation, const twi_reach_rows *rows,
                               const twi_reach_means *means);

#endif
