/* A negative cycle: kept in the context, and put into the sentence of the failure. */
#ifndef TWI_GRAPH_CYCLE_H
#define TWI_GRAPH_CYCLE_H

#include "graph/graph.h"

/* Keep the vertices of a negative cycle in the context (copied) and return
 * TW_ERR_NEGATIVE_CYCLE with a sentence that shows it as the graph's file names its vertices, total
 * weight included, and the reason where the cycle is an undirected edge. */
tw_status twi_graph_fail_cycle(tw_context *ctx, const tw_graph *graph, const int32_t *vertices,
                               int64_t count, double total);

#endif
