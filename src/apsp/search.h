/*
 * The search engine: one search a source over the compressed rows, sources in parallel. For sparse
 * graphs, for parts (--sources), and for sampling what a plan needs to know.
 */
#ifndef TWI_APSP_SEARCH_H
#define TWI_APSP_SEARCH_H

#include "apsp/deliver.h"
#include "apsp/plan.h"

/* Run plan->method (TW_METHOD_DIJKSTRA or TW_METHOD_BFS) for every source of the plan and deliver
 * the rows in order. *arcs_scanned counts relaxations. */
TW_CHECKED tw_status twi_search_run(tw_context *ctx, const tw_plan *plan, twi_delivery *delivery,
                                    double *arcs_scanned);

/* The widest type of rows a search of this graph is known to need: TW_I32 where no sum of n-1
 * weights can reach 2^30-1, else TW_F64 for whole weights; twi_plan_float_type for others. A run
 * begins with i32 for all whole weights and delivers i32 as long as that proves exact; levels of a
 * breadth-first search come as u8, u16 or i32 with a scale. */
tw_type twi_search_type(const tw_plan *plan);

/* Working memory of a run besides the graph, in bytes. */
uint64_t twi_search_memory(const tw_plan *plan, tw_method method);

/* What a few searches from random sources show. */
typedef struct twi_search_sample {
    double seconds_per_source; /* on one thread; for BFS, of a full batch divided by its size */
    double farthest;           /* the largest finite distance seen (of the reweighted graph when
                                  there are potentials) */
    double unreachable;        /* share of pairs without a path among those seen */
    int64_t sources;           /* searched */
} twi_search_sample;
/* Search from up to `sources` random sources (seeded, so the same for the same graph), in whole
 * batches as a run would, stopping after `budget` seconds. When not even one batch ends within
 * twice the budget, `sources` and `farthest` stay 0 and the seconds are extrapolated from the arcs
 * scanned so far. */
TW_CHECKED tw_status twi_search_sample_run(tw_context *ctx, const tw_plan *plan, tw_method method,
                                           int64_t sources, double budget, twi_search_sample *out);

/* Bellman-Ford from a virtual source: potentials in h[0..n), all <= 0. Fails with
 * twi_fail_negative_cycle if there is one. Whole weights stay whole; a potential of 2^53 or more
 * in size is TW_ERR_RANGE. */
TW_CHECKED tw_status twi_potentials(tw_context *ctx, const tw_graph *graph, double *h);

#endif
