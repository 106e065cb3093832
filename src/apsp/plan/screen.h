/*
 * What a graph looks like to somebody who would cut it, at the price of one plain search: whether
 * the vertices at one distance are many, as in random and social networks, which leave no small
 * separators but a periphery of few arcs, or few, as in roads and meshes.
 */
#ifndef TWI_APSP_PLAN_SCREEN_H
#define TWI_APSP_PLAN_SCREEN_H

#include "graph/graph.h"

typedef struct twi_screen {
    double widest; /* the largest level of the search, of the vertices that it has reached */
    double low;    /* vertices with at most four arcs, in a directed graph those that enter
                    * included; of all */
} twi_screen;

/* Widest is 0 if the search has not reached a quarter of the graph. */
TW_CHECKED tw_status twi_screen_graph(tw_context *ctx, const tw_graph *graph, bool symmetric,
                                      twi_screen *out);

#endif
