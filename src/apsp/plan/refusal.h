/* The sentence of a plan for which there is no way: what is missing, and what would help. */
#ifndef TWI_APSP_PLAN_REFUSAL_H
#define TWI_APSP_PLAN_REFUSAL_H

#include "apsp/plan/candidate.h"

/* None of the `count` candidates is possible. */
TW_CHECKED tw_status twi_refuse_plan(tw_context *ctx, const tw_apsp_plan *plan,
                                     const twi_candidate *all, int count);

#endif
