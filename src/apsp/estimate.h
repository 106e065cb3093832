/* What a closure will cost, for the plan. */
#ifndef TWI_APSP_ESTIMATE_H
#define TWI_APSP_ESTIMATE_H

#include "apsp/kernels.h"
#include "apsp/plan.h"

/* Relaxations a second of one thread of the micro-kernel, operands in cache: measured for a
 * fraction of a millisecond. */
TW_CHECKED tw_status twi_kernel_rate(tw_context *ctx, const twi_minplus_kernel *kernel,
                                     double *rate);

/* The share of n^3 that a closure with the plan's block has to do. */
double twi_closure_share(const tw_plan *plan);

#endif
