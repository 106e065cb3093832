/* A plan for a caller within the library. */
#ifndef TWI_APSP_PLAN_PLAN_H
#define TWI_APSP_PLAN_PLAN_H

#include "apsp/shared/plan.h"

/* tw_apsp_plan_create; without its explanation where nobody will read it, which of a tiny graph
 * takes as long as the rest. */
TW_CHECKED tw_status twi_plan_create(tw_context *ctx, tw_apsp_plan **out, const tw_graph *graph,
                                     const tw_apsp_options *opts, bool explained);

#endif
