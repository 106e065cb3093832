/*
 * The skeleton of a graph: who is joined to whom, whatever the direction and weight of the arcs.
 * Orders and trees of elimination depend on nothing else.
 */
#ifndef TWI_APSP_SWEEP_SKELETON_H
#define TWI_APSP_SWEEP_SKELETON_H

#include "graph/graph.h"

typedef struct twi_skeleton {
    int64_t n;
    int64_t *offsets; /* n + 1 */
    int32_t *targets; /* neighbours of each vertex: each once, never itself, in no order */
} twi_skeleton;

TW_CHECKED tw_status twi_skeleton_create(tw_context *ctx, twi_skeleton *out, const tw_graph *graph);
/* Bytes of one, without the marks that making it takes. */
uint64_t twi_skeleton_memory(int64_t n, int64_t arcs);
void twi_skeleton_clear(twi_skeleton *skeleton); /* all zero is fine */

#endif
