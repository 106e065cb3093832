/* The oracle of this wing: the textbook triple loop, slow and trusted. */
#ifndef TWI_APSP_REFERENCE_H
#define TWI_APSP_REFERENCE_H

#include "graph/graph.h"

/* All distances in f64 (+inf: no path), n x n, row-major, into `out`. Whole weights: exact (sums
 * below 2^53, else TW_ERR_RANGE). Floats: f64 sums. A negative cycle is TW_ERR_NEGATIVE_CYCLE. */
TW_CHECKED tw_status twi_reference_apsp(tw_context *ctx, const tw_graph *graph, double *out);

#endif
