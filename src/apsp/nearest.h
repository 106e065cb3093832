/*
 * Nearest or farthest vertices of rows that lie with several processes. Each has a part: lists of
 * which those of its own rows are filled, and all others are zero bits. Whoever carries messages
 * puts the lists of all parts together by a bitwise or, in place; then every process has all of
 * them.
 */
#ifndef TWI_APSP_NEAREST_H
#define TWI_APSP_NEAREST_H

#include "base/context.h"

/* The sink of a part: row i that comes has places[i] of `rows` in the result, which is read when it
 * comes. Ended or aborted, the sink leaves the part as it is. */
TWI_SHARED void twi_nearest_part_sink(tw_apsp_nearest *nearest, const int64_t *places, int64_t rows,
                                      tw_sink *out);

typedef struct twi_nearest_part {
    void *vertices;  /* entry_count of 4 bytes */
    void *distances; /* and of 8 */
    int64_t entry_count;
} twi_nearest_part;
TWI_SHARED twi_nearest_part twi_nearest_part_of(tw_apsp_nearest *nearest);

/* What there is of it, where it will not be put together. */
TWI_SHARED void twi_nearest_part_forget(tw_apsp_nearest *nearest);

#endif
