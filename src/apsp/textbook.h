/*
 * Shortest paths from one source, as textbooks give them: Dijkstra with a binary heap, and
 * Bellman-Ford. Slow, plain and in f64 throughout: the yardstick of verify.c, the search of
 * routes.c, and the finder of negative cycles for both and for reference.c. The engines share
 * nothing with it.
 */
#ifndef TWI_APSP_TEXTBOOK_H
#define TWI_APSP_TEXTBOOK_H

#include "graph/graph.h"

/* What one search needs, about 28 bytes a vertex; one per thread. */
typedef struct twi_textbook {
    double *distance;  /* n: +inf where there is no path */
    int32_t *previous; /* n: the vertex before on a shortest path, TW_NO_VERTEX at the source */
    int32_t *hops;     /* n: arcs of that path */
    int32_t *heap;     /* n */
    int32_t *place;    /* n: of a vertex in the heap */
} twi_textbook;

uint64_t twi_textbook_bytes(const tw_graph *graph);
/* Lay a search out in `memory`, twi_textbook_bytes of it. */
void twi_textbook_place(twi_textbook *out, const tw_graph *graph, void *memory);

/* For graphs without negative weights. Worker-safe. */
void twi_textbook_dijkstra(const tw_graph *graph, int32_t source, twi_textbook *search);

/* For any graph without a negative cycle within reach of the source. Worker-safe. False if the
 * distances still change after n rounds. */
bool twi_textbook_bellman_ford(const tw_graph *graph, int32_t source, twi_textbook *search);

/* TW_OK if the graph has no negative cycle, else TW_ERR_NEGATIVE_CYCLE with one. A cycle of floats
 * whose sum is negative by no more than rounding can make it counts as zero. */
TW_CHECKED tw_status twi_textbook_negative_cycle(tw_context *ctx, const tw_graph *graph);

#endif
