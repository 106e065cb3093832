/* Predecessors of a finished row, for delivery. The public side is tw_apsp_path_create. */
#ifndef TWI_APSP_SHARED_ROUTES_H
#define TWI_APSP_SHARED_ROUTES_H

#include "graph/graph.h"

/*
 * The predecessor of every vertex on a shortest path from `source`, given that row of final
 * distances (distance[v], of `type`, tw_apsp_infinity(type) where there is no path): a tree rooted
 * at the source, TW_APSP_NO_VERTEX at the root and where there is no path. For whole weights it is
 * a breadth-first walk over tight arcs, which zero-weight cycles cannot trap; for floats a search
 * of its own. Vertices beyond a cutoff have no path in the row; with negative weights they have a
 * predecessor nevertheless where a path to a vertex within the cutoff leads through them.
 * `scratch` is twi_predecessors_scratch(graph) bytes, one per thread. Worker-safe: no
 * allocation, and of the context only whether it was cancelled, which ends a search early. False if
 * the row contradicts the graph (a reachable vertex without a tight arc), or after cancelling.
 */
uint64_t twi_predecessors_scratch(const tw_graph *graph);
bool twi_predecessors(tw_context *stop, const tw_graph *graph, int32_t source, const void *distance,
                      tw_type type, int32_t *out, void *scratch);

#endif
