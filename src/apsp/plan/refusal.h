/* The sentence of a plan for which there is no way: what is missing, and what would help. */
#ifndef TWI_APSP_PLAN_REFUSAL_H
#define TWI_APSP_PLAN_REFUSAL_H

#include "apsp/plan/candidate.h"

/* None of the `count` candidates is possible. */
TW_CHECKED tw_status twi_refuse_plan(tw_context *ctx, const tw_apsp_plan *plan,
                                     const twi_candidate *all, int count);

/* There is no memory for an elimination order: what all of it takes, where that is more than there
 * is, and else what is said already. `ways` is other advice. */
TW_CHECKED tw_status twi_refuse_order(tw_context *ctx, const tw_graph *graph, int threads,
                                      const char *ways);
/* The same for the order of a sweep that was requested. */
TW_CHECKED tw_status twi_refuse_sweep(tw_context *ctx, const tw_apsp_plan *plan);

#endif
