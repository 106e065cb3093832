/* The closure on a GPU as a candidate of a plan. */
#ifndef TWI_APSP_PLAN_GPU_H
#define TWI_APSP_PLAN_GPU_H

#include "apsp/plan/candidate.h"

/* Whether the context names a GPU, so that nothing else will do. */
bool twi_gpu_is_named(const tw_context *ctx);

/* Weigh the closure on the context's GPU, or, with "auto", on the first of the machine: starts the
 * driver. A named GPU that cannot be used is an error; another one is ruled out. */
TW_CHECKED tw_status twi_consider_gpu(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                      double farthest);

/* With "auto": the GPU against the best candidate of the CPU (NULL: there is none). */
TW_CHECKED tw_status twi_consider_gpu_if_it_may_pay(tw_context *ctx, tw_apsp_plan *plan,
                                                    twi_candidate *c, const twi_candidate *best,
                                                    double farthest);

#endif
