/* The closure and the sweep on a GPU as candidates of a plan. */
#ifndef TWI_APSP_PLAN_GPU_H
#define TWI_APSP_PLAN_GPU_H

#include "apsp/plan/candidate.h"

/* Whether the context names a GPU, so that nothing else will do. */
bool twi_gpu_is_named(const tw_context *ctx);

/* i32 for whole numbers, with 16 bits tried before; else as the weights and the result are. */
tw_type twi_type_for_gpu(const tw_apsp_plan *plan, double farthest);

/* The GPUs of the plan, unless they have been found; what the first is, and what may be used of
 * each. */
TW_CHECKED tw_status twi_find_gpu(tw_context *ctx, tw_apsp_plan *plan, twi_gpu_info *info);

/* What came of a look at a GPU: an error if it was named, else a reason to leave it out. */
TW_CHECKED tw_status twi_leave_gpu_out(tw_context *ctx, twi_candidate *c, tw_status status);

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
