/*
 * What an order of elimination depends on: how many vertices a graph has and which of them are
 * joined, as a number that two graphs share by chance no more often than 128 bits let them.
 * Weights, the directions of arcs, their sequence, and loops are not in it.
 */
#ifndef TWI_APSP_SWEEP_STRUCTURE_H
#define TWI_APSP_SWEEP_STRUCTURE_H

#include "graph/graph.h"

typedef struct twi_structure {
    int64_t n;
    uint64_t hash[2];
} twi_structure;

/* Of a part of the graph if the call is cancelled meanwhile; see twi_check_cancel. */
twi_structure twi_structure_of(tw_context *ctx, const tw_graph *graph);

static inline bool twi_structure_equal(const twi_structure *a, const twi_structure *b)
{
    return a->n == b->n && a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1];
}

#endif
