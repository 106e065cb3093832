/* Searches on a GPU as a candidate of a plan: for weights that are all equal. */
#ifndef TWI_APSP_PLAN_GPU_HOPS_H
#define TWI_APSP_PLAN_GPU_HOPS_H

#include "apsp/plan/candidate.h"

/* Weigh them on the context's GPU, or, with "auto", on the first of the machine: starts the driver.
 * `farthest`: TWI_UNKNOWN, or a distance that was seen. A named GPU that cannot be used is an
 * error.
 */
TW_CHECKED tw_status twi_consider_gpu_hops(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                           double farthest);

/* With "auto": against the best candidate of the CPU (NULL: there is none). */
TW_CHECKED tw_status twi_consider_gpu_hops_if_they_may_pay(tw_context *ctx, tw_apsp_plan *plan,
                                                           twi_candidate *c,
                                                           const twi_candidate *best,
                                                           double farthest);

/* The plan has chosen them. */
void twi_settle_gpu_hops(tw_apsp_plan *plan);

#endif
