/*
 * Shortest paths from one source, as textbooks give them: Dijkstra with a binary heap, a queue,
 * and Bellman-Ford. Slow, plain and in f64 throughout: the yardstick of verify.c, the search of
 * routes.c, and the finder of negative cycles for both and for reference.c. The engines share
 * nothing with it.
 */
#ifndef TWI_APSP_SHARED_TEXTBOOK_H
#define TWI_APSP_SHARED_TEXTBOOK_H

#include "graph/graph.h"

/* What one search needs, 32 bytes per vertex; one per thread. */
typedef struct twi_textbook {
    double *distance; /* n: +inf where there is no path */
    int32_t
        *previous;    /* n: the vertex before on a shortest path, TW_APSP_NO_VERTEX at the source */
    int32_t *hops;    /* n: arcs of that path */
    int32_t *heap;    /* n */
    int32_t *place;   /* n: of a vertex in the heap */
    double *excess;   /* n: of twi_textbook_straighten */
    tw_context *stop; /* whose cancelling ends a search early, with any distances; NULL: none */
} twi_textbook;

TWI_SHARED uint64_t twi_textbook_bytes(const tw_graph *graph);
/* Lay a search out in `memory`, twi_textbook_bytes of it; it stops when `stop` is cancelled. */
TWI_SHARED void twi_textbook_place(twi_textbook *out, const tw_graph *graph, void *memory,
                                   tw_context *stop);

/* For graphs without negative weights. Worker-safe. */
TWI_SHARED void twi_textbook_dijkstra(const tw_graph *graph, int32_t source, twi_textbook *search);
/* The same, where vertices farther than `limit` count as unreachable. */
void twi_textbook_dijkstra_within(const tw_graph *graph, int32_t source, double limit,
                                  twi_textbook *search);

/* The distances alone, and no paths: faster where all weights are equal. Worker-safe. */
void twi_textbook_distances(const tw_graph *graph, int32_t source, twi_textbook *search);

/* For any graph without a negative cycle within reach of the source. Worker-safe. False if the
 * distances still change after n rounds. */
TWI_SHARED bool twi_textbook_bellman_ford(const tw_graph *graph, int32_t source,
                                          twi_textbook *search);

/* Make `previous` a tree. After Bellman-Ford with rounded sums it may hold a cycle: one of weight
 * zero that rounding makes negative keeps pulling its vertices down until none of them hangs on the
 * way in. By how much an arc u -> v fails to be tight, distance[u] + w - distance[v], is never
 * negative but for rounding; Dijkstra with that as the weight finds, for every vertex, the path
 * that fails by the smallest amount, which is a shortest one, and a parent that was final before.
 * The distances stay. */
void twi_textbook_straighten(const tw_graph *graph, int32_t source, twi_textbook *found);

/* TW_OK if the graph has no negative cycle, else TW_ERR_NEGATIVE_CYCLE with one. A cycle of floats
 * whose sum is negative by no more than rounding can make it counts as zero. *depth (may be NULL):
 * how far below zero the minimum distance of the graph lies; 0 without negative weights. */
TW_CHECKED tw_status twi_textbook_negative_cycle(tw_context *ctx, const tw_graph *graph,
                                                 double *depth);

/*
 * Between which values a right result of `type` lies for vertex v of a finished search. Whole
 * weights in an integer type or f64: the distance itself.
 *
 * Otherwise rounding has a say. Let u be the unit roundoff of the type (of f64 for integers), P a
 * shortest path of h arcs and length L. A path of k arcs is summed, in whatever order, with k
 * relative errors of at most u (one may be the conversion of its weights). The result is at most
 * the sum found for P, L (1 + u)^h; and it is the sum of some path, no shorter than L, of at most
 * H arcs, so at least L (1 - u)^H. H is n - 1, or less if every arc is longer than L / (n - 1).
 * Twice (h + 2) u and (H + 2) u leave room for the squares and for the search's own rounding.
 *
 * Below the normal numbers of f32 the step between two of them is added: sums are exact there, the
 * conversion is not. (Those of f64 need none.)
 *
 * With negative weights partial sums can be larger than the result: their size is bounded by
 * `magnitude`, and both sides allow 2 (n + 2) u times that.
 */
TWI_SHARED void twi_textbook_bounds(const tw_graph *graph, const twi_textbook *search, int32_t v,
                                    tw_type type, double magnitude, double *low, double *high);

#endif
