/*
 * Eliminate, then sweep: all distances of a graph with small separators by dense (min,+) products.
 * docs/methods.md has the proof and the cost.
 */
#ifndef TWI_APSP_SWEEP_SWEEP_H
#define TWI_APSP_SWEEP_SWEEP_H

#include "apsp/closure/kernels.h"
#include "apsp/shared/deliver.h"
#include "apsp/sweep/tree.h"

/* What a run finds out. */
typedef struct twi_sweep_outcome {
    tw_type work_type; /* in which it ended */
    int32_t attempts;
    double relaxations;
} twi_sweep_outcome;

/* Factor, sweep down for every source of the plan, and deliver the rows in order. Whole numbers
 * begin in plan->work_type, and go on in a wider one where a distance does not fit. */
TWI_SHARED TW_CHECKED tw_status twi_sweep_run(tw_context *ctx, const tw_apsp_plan *plan,
                                              twi_delivery *delivery, twi_sweep_outcome *out);

/* Bytes that a run holds in a type besides the tree, at most. */
uint64_t twi_sweep_memory(const tw_apsp_plan *plan, const twi_tree *tree,
                          const twi_minplus_kernel *kernel);
/* The same if distances may turn out to need a wider type, else no more than that. */
uint64_t twi_sweep_again_memory(const tw_apsp_plan *plan, const twi_tree *tree,
                                const twi_minplus_kernel *kernel);
/* Whether a run that begins in a type makes folds of all rows, where folds may stand for them. */
bool twi_sweep_folds(const tw_apsp_plan *plan, tw_type type);

#endif
