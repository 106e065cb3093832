/*
 * How much of a matrix is filled while it is closed: the share of n^3 that tiles without a path
 * leave to do. Arcs that lead no farther than a band fill it from one corner; a graph of few arcs
 * per vertex in no order stays all but empty until pivots join it, about when each of those that
 * are done leads to another one.
 */
#ifndef TWI_APSP_PLAN_FILLED_H
#define TWI_APSP_PLAN_FILLED_H

#include "apsp/closure/kernels.h"
#include "graph/graph.h"

/* For pivots of `block` and the strips of that kernel. */
TW_CHECKED tw_status twi_filled_share(tw_context *ctx, const tw_graph *graph, bool symmetric,
                                      const twi_minplus_kernel *kernel, int32_t block,
                                      double *share);

#endif
