/*
 * The search engine: one search a source over the compressed rows, sources in parallel. For sparse
 * graphs, for parts (--sources), and for sampling what a plan needs to know.
 */
#ifndef TWI_APSP_SEARCH_SEARCH_H
#define TWI_APSP_SEARCH_SEARCH_H

#include "apsp/deliver.h"
#include "apsp/plan/plan.h"

/* Run plan->method (TW_APSP_METHOD_DIJKSTRA or TW_APSP_METHOD_BFS) for every source of the plan and
 * deliver the rows in order. *arcs_scanned counts relaxations. */
TW_CHECKED tw_status twi_search_run(tw_context *ctx, const tw_apsp_plan *plan,
                                    twi_delivery *delivery, double *arcs_scanned);

/* The widest type of rows a search of this graph is known to need: TW_I32 where no sum of n-1
 * weights can reach 2^30-1, else TW_F64 for whole weights; twi_plan_float_type for others. A run
 * begins with i32 for all whole weights and delivers i32 as long as that proves exact; levels of a
 * breadth-first search come as u8, u16 or i32 with a scale. */
tw_type twi_search_type(const tw_apsp_plan *plan);

/* Working memory of a run besides the graph, in bytes. */
uint64_t twi_search_memory(const tw_apsp_plan *plan, tw_apsp_method method);

/* What a few searches show. */
typedef struct twi_search_sample {
    double seconds_per_source; /* of one thread, while all of them search */
    double seconds_least;      /* the same, of what was really searched: a guess may be wrong */
    double farthest;           /* the largest finite distance seen (of the reweighted graph when
                                  there are potentials) */
    double unreachable;        /* share of pairs without a path among those seen */
    int64_t sources;           /* searched */
    bool guessed;              /* no batch ended in time */
} twi_search_sample;
/* Search on all threads of the plan, a batch each, cut out of a block of rows as a run would take
 * them (chosen by a seed, so the same for the same graph), up to `rounds` times and `budget`
 * seconds. When not even one round ends within four times the budget, the seconds are extrapolated
 * from the arcs scanned so far, and one source tells how far distances reach. */
TW_CHECKED tw_status twi_search_sample_run(tw_context *ctx, const tw_apsp_plan *plan,
                                           tw_apsp_method method, int rounds, double budget,
                                           twi_search_sample *out);

/* Bellman-Ford from a virtual source: potentials in h[0..n), all <= 0. Fails with
 * twi_fail_negative_cycle if there is one. Whole weights stay whole; a potential of 2^53 or more
 * in size is TW_ERR_RANGE. */
TW_CHECKED tw_status twi_potentials(tw_context *ctx, const tw_graph *graph, double *h);

#endif
