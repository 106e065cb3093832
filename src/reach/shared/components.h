/*
 * Strongly connected components and the graph between them. Vertices that reach each other reach
 * the same vertices, so reachability is a question about the condensation: one vertex for each
 * component, an arc where any arc leads from one to another. It has no cycles. Components are
 * numbered so that its arcs lead from lower to higher numbers.
 *
 * Takes O(n + m) time on one thread, 24 bytes per vertex while it looks for components, and then 4
 * per vertex and 8 per component while it links them.
 */
#ifndef TWI_REACH_SHARED_COMPONENTS_H
#define TWI_REACH_SHARED_COMPONENTS_H

#include "graph/graph.h"

typedef struct twi_condensation {
    int64_t vertices;
    int64_t components;
    int64_t arcs;               /* distinct ones between components */
    int64_t largest;            /* vertices of the largest component */
    int32_t *of;                /* vertices: the component of each */
    int32_t *size;              /* components: vertices in each */
    int64_t *offsets;           /* components + 1 */
    int32_t *successors;        /* arcs; those of a component ascend */
    int64_t *before;            /* components + 1 */
    int32_t *predecessors;      /* arcs; those of a component descend */
    int32_t *predecessor_count; /* components: of them, those still in use (cpu/blocks.h) */
} twi_condensation;

/* *out is to be cleared in any case. */
TW_CHECKED tw_status twi_condense(tw_context *ctx, twi_condensation *out, const tw_graph *graph);
void twi_condensation_clear(twi_condensation *condensation);

/* Bytes that it holds. */
uint64_t twi_condensation_memory(const twi_condensation *condensation);
/* Bytes that it takes at most to make one of so many vertices, components and arcs. */
uint64_t twi_condense_memory(const twi_condensation *condensation);

#endif
