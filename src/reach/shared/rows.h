/* The rows that a run is asked for, and what it finds out of them. */
#ifndef TWI_REACH_SHARED_ROWS_H
#define TWI_REACH_SHARED_ROWS_H

#include "reach/shared/row.h"

typedef struct twi_reach_rows {
    const int32_t *sources; /* NULL: every vertex */
    int64_t count;          /* of rows */
    bool packed;            /* eight vertices to a byte, the first in its lowest bit */
    int64_t *counts;        /* receives the vertices each row reaches; NULL: not wanted */
    int64_t pairs;          /* receives the sum of them */
    double seconds_output;  /* receives the time spent in sinks */
} twi_reach_rows;

/* The vertex of a row. */
static inline int64_t twi_reach_source(const twi_reach_rows *rows, int64_t row)
{
    return rows->sources != NULL ? rows->sources[row] : row;
}

#endif
