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

typedef struct twi_reach_rows {
    const int32_t *sources; /* NULL: every vertex */
    int64_t count;          /* of rows */
    bool packed;            /* eight vertices to a byte, the first in its lowest bit */
    int64_t *counts;        /* receives the vertices each row reaches; NULL: not wanted */
    int64_t pairs;          /* receives the sum of them */
    double seconds_output;  /* receives the time spent in sinks */
} twi_reach_rows;

/* Bytes that a row takes in the result. */
static inline int64_t twi_reach_row_bytes(int64_t vertices, bool packed)
{
    return packed ? (vertices + 7) / 8 : vertices;
}

TW_CHECKED tw_status twi_reach_give_rows(tw_context *ctx, const twi_condensation *condensation,
                                         twi_reach_rows *rows, twi_sinks *sinks);

/* Bytes it takes on so many threads. */
uint64_t twi_reach_rows_memory(const twi_condensation *condensation, const twi_reach_rows *rows,
                               int team);
int twi_reach_rows_team(tw_context *ctx, const twi_condensation *condensation,
                        const twi_reach_rows *rows);

#endif
