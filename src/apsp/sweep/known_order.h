/*
 * Orders of elimination that need not be made: the caller's (tw_apsp_order), or one that an earlier
 * run has kept (kept_order.h). And the tree of a plan, from one of them or from a new order.
 */
#ifndef TWI_APSP_SWEEP_KNOWN_ORDER_H
#define TWI_APSP_SWEEP_KNOWN_ORDER_H

#include "apsp/closure/kernels.h"
#include "apsp/shared/plan.h"
#include "apsp/sweep/structure.h"
#include "apsp/sweep/tree.h"

struct tw_apsp_order {
    twi_structure structure;
    twi_order order;
    twi_tree *tree; /* for all sources */
};

/* TW_ERR_ARGUMENT if the options name an order of another graph. */
TW_CHECKED tw_status twi_order_check(tw_context *ctx, const tw_graph *graph,
                                     const tw_apsp_options *options);

/* What a plan has before it makes an order. */
typedef struct twi_known_order {
    const twi_order *order; /* NULL: none */
    const char *origin;     /* "given", "cached"; "computed" if there is none */
    twi_structure structure;
    twi_order kept; /* where it was read */
} twi_known_order;
TW_CHECKED tw_status twi_known_order_find(tw_context *ctx, twi_known_order *out,
                                          const tw_apsp_plan *plan);
void twi_known_order_clear(twi_known_order *known);

/* The tree of elimination for a plan's graph and number of sources, into the plan, from the known
 * order or, if there is none, a new one, which is kept if the plan's options say so. plan->tree
 * stays NULL if a new order shows that a run would clearly take more than `steps` relaxations
 * (+inf: whatever it takes). At `rate` relaxations per second, if the run is long enough for that,
 * our own dissection and METIS are tried, too, and the best is taken; of those whose sweep with the
 * kernel (NULL: any) fits in memory, if there are any. */
TW_CHECKED tw_status twi_sweep_tree(tw_context *ctx, tw_apsp_plan *plan,
                                    const twi_known_order *known, const twi_minplus_kernel *kernel,
                                    double steps, double rate);

/* Bytes that a new order and its tree take while they are made, from the counts of the graph alone:
 * enough, unless very many vertices stay joined to each other. */
uint64_t twi_order_memory(const tw_graph *graph, int threads);

/* A new order of the graph for all sources, by the same rule. */
TW_CHECKED tw_status twi_order_object(tw_context *ctx, tw_apsp_order **out, const tw_graph *graph,
                                      double rate);

#endif
