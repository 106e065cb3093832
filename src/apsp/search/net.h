/*
 * The graph as a search wants it: arcs with target and weight side by side, weights in one compact
 * type and never negative, vertices renumbered so that neighbours are near each other in memory and
 * 64 consecutive ones make a small patch of the graph (the sources of one batch).
 *
 * A "place" is a vertex in the new numbering: place = net->place[vertex], vertex =
 * net->vertex[place].
 */
#ifndef TWI_APSP_SEARCH_NET_H
#define TWI_APSP_SEARCH_NET_H

#include "graph/graph.h"

typedef struct twi_arc_i32 {
    int32_t target;
    int32_t weight; /* at most TW_APSP_INF_I32: a longer arc can only lead to "too far" */
} twi_arc_i32;
typedef struct twi_arc_f32 {
    int32_t target;
    float weight;
} twi_arc_f32;
typedef struct twi_arc_f64 {
    int64_t target;
    double weight;
} twi_arc_f64;
/* Negative floats: `order` = w + h[u] - h[v] decides which vertex comes next, `weight` = w is what
 * is summed, so that the rounding of potentials never enters a distance. */
typedef struct twi_arc_dual {
    int64_t target;
    double order;
    double weight;
} twi_arc_dual;

typedef enum twi_net_kind { TWI_NET_I32, TWI_NET_F32, TWI_NET_F64, TWI_NET_DUAL } twi_net_kind;

typedef struct twi_net {
    int64_t n;
    int64_t arcs;
    twi_net_kind kind;
    int64_t *offsets; /* n + 1, by place */
    void *arc;        /* of the kind's struct */
    int32_t *place;   /* of each vertex */
    int32_t *vertex;  /* at each place */
    double mean;      /* weight of an arc as searched */
    double max;
} twi_net;

/* `potential` may be NULL. Weights that are still negative after it (rounding) count as 0. */
TW_CHECKED tw_status twi_net_create(tw_context *ctx, twi_net **out, const tw_graph *graph,
                                    const double *potential, twi_net_kind kind);
void twi_net_destroy(twi_net *net);
uint64_t twi_net_memory(const tw_graph *graph, twi_net_kind kind);

/* The largest weight as searched. */
double twi_net_max_weight(const tw_graph *graph, const double *potential);

#endif
