/* The closure and the sweep on a GPU as candidates of a plan. */
#ifndef TWI_APSP_PLAN_GPU_H
#define TWI_APSP_PLAN_GPU_H

#include "apsp/plan/candidate.h"

/* Whether the context names a GPU, so that nothing else will do. */
bool twi_gpu_is_named(const tw_context *ctx);

/* Weigh the closure on the context's GPU, or, with "auto", on the first of the machine: starts the
 * driver. A named GPU that cannot be used is an error; another one is ruled out. */
TW_CHECKED tw_status twi_consider_gpu(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                      double farthest);

/* The same for a sweep with the plan's tree. */
TW_CHECKED tw_status twi_consider_gpu_sweep(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                            double farthest);

/* With "auto": whether a GPU is there and worth a look, the CPU's best candidate being `best`
 * (NULL: there is none). Otherwise rules out `c`, with the reason, unless another method was asked
 * for. */
bool twi_gpu_may_pay(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                     const twi_candidate *best);

#endif
