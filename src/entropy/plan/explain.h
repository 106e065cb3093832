/* The words of a plan. */
#ifndef TWI_ENTROPY_PLAN_EXPLAIN_H
#define TWI_ENTROPY_PLAN_EXPLAIN_H

#include "entropy/shared/plan.h"

/* Why that method. */
const char *twi_entropy_reason(const twi_entropy_setup *setup);

/* The text of tw_entropy_plan_explain, into plan->explanation. */
TW_CHECKED tw_status twi_entropy_explain(tw_context *ctx, tw_entropy_plan *plan);

#endif
