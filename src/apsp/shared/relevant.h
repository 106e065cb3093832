/*
 * Which part of a graph has a say in the distances that were asked for: the vertices on walks from
 * a source to a target. A negative cycle elsewhere is nobody's concern.
 */
#ifndef TWI_APSP_SHARED_RELEVANT_H
#define TWI_APSP_SHARED_RELEVANT_H

#include "graph/graph.h"

/* mark[v] = 1 for what the vertices of `from` reach, themselves included, else 0. `queue` has room
 * for n. Worker-safe. */
void twi_mark_reached(const tw_graph *graph, const int32_t *from, int64_t count, uint8_t *mark,
                      int32_t *queue);

/* The same vertices with only those arcs that lie on a walk from a source to a target of `asked`;
 * distances between those are the graph's. *out is NULL, the graph itself being meant, where no arc
 * would go or no weight is negative. The caller destroys it. */
TWI_SHARED TW_CHECKED tw_status twi_relevant_part(tw_context *ctx, tw_graph **out,
                                                  const tw_graph *graph,
                                                  const tw_apsp_options *asked);

#endif
