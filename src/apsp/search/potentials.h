/* Potentials of Johnson's method. */
#ifndef TWI_APSP_SEARCH_POTENTIALS_H
#define TWI_APSP_SEARCH_POTENTIALS_H

#include "graph/graph.h"

/* Bellman-Ford from a virtual source: potentials in h[0..n), all <= 0. Fails with
 * twi_graph_fail_cycle if there is one. Whole weights stay whole; a potential of 2^53 or more
 * in size is TW_ERR_RANGE. */
TW_CHECKED tw_status twi_potentials(tw_context *ctx, const tw_graph *graph, double *h);

#endif
