/*
 * The arcs of a graph as searches on a GPU take them: the list of each vertex in pieces of bounded
 * length, the longest first, so that groups of threads that go together have as much to do; along
 * the arcs or against them.
 */
#ifndef TWI_APSP_GPU_PIECES_H
#define TWI_APSP_GPU_PIECES_H

#include "apsp/gpu/kernels/hops.h"
#include "graph/graph.h"

typedef struct twi_pieces {
    twi_hops_item *items;
    int32_t item_count;
    int32_t hub_count;
    int32_t *hubs;          /* the vertex of each */
    const int32_t *targets; /* of the graph, or of `reversed` */
    tw_graph *reversed;     /* where the arcs come from, by where they lead */
} twi_pieces;

/* Of fewer than 2^31 arcs, by up to so many threads. *out is to be cleared in any case. */
TW_CHECKED tw_status twi_pieces_cut(tw_context *ctx, twi_pieces *out, const tw_graph *graph,
                                    bool against, int threads);
void twi_pieces_clear(twi_pieces *pieces);

#endif
