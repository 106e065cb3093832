/* The words of a plan. */
#ifndef TWI_MAP_PLAN_EXPLAIN_H
#define TWI_MAP_PLAN_EXPLAIN_H

#include "map/plan/plan.h"

/* The text of tw_map_plan_explain, into plan->explanation. */
TW_CHECKED tw_status twi_map_explain(tw_context *ctx, tw_map_plan *plan, const tw_expr *expr);

#endif
