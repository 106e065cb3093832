/* The bins of a range of values. */
#ifndef TWI_ENTROPY_SHARED_EDGES_H
#define TWI_ENTROPY_SHARED_EDGES_H

#include "base/context.h"

/* The edges of the bins of a range: entry b is the least f64 that belongs to bin b or a later one,
 * and the last is infinite. What lies in the range is in the bin whose edges it is not below and
 * below. */
TW_CHECKED tw_status twi_edges_make(tw_context *ctx, double **out, const tw_entropy_options *opts);

#endif
