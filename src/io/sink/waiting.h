/*
 * Planes that wait for others. A PNG or PPM has the colours of an element side by side, and a PFM
 * begins with its last row, but planes are computed one after the other, from the first row on.
 */
#ifndef TWI_IO_SINK_WAITING_H
#define TWI_IO_SINK_WAITING_H

#include "io/output.h"

typedef struct twi_waiting twi_waiting;

/* Room for `planes` planes of this shape: in memory if they take no more than a quarter of what is
 * left of it, else in a file without a name in the folder of `path`. `path` is NULL where there is
 * no such folder, as of standard output; then they are kept in memory whatever they take. */
TW_CHECKED tw_status twi_waiting_open(tw_context *ctx, twi_waiting **out, const char *path,
                                      int64_t planes, const tw_shape *shape);
/* The next row of the plane, or the first one of the next plane. */
TW_CHECKED tw_status twi_waiting_add(tw_context *ctx, twi_waiting *waiting, const void *row);
/* *out: row `row` of each plane, one behind the other, and `last`, unless it is NULL, behind them;
 * until the next call. */
TW_CHECKED tw_status twi_waiting_row(tw_context *ctx, twi_waiting *waiting, int64_t row,
                                     const void *last, const void **out);
void twi_waiting_close(twi_waiting *waiting); /* NULL is fine */

#endif
