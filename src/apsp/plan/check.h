/* The options of a plan, held against its graph before anything is done. */
#ifndef TWI_APSP_PLAN_CHECK_H
#define TWI_APSP_PLAN_CHECK_H

#include "apsp/shared/plan.h"

/* TW_ERR_ARGUMENT, with what is wrong, unless a plan can be made with them. */
TWI_SHARED TW_CHECKED tw_status twi_plan_check(tw_context *ctx, const tw_graph *graph,
                                               const tw_apsp_options *opts);

/* The same of a plan whose run is asked for predecessors. */
TWI_SHARED TW_CHECKED tw_status twi_plan_check_predecessors(tw_context *ctx,
                                                            const tw_apsp_plan *plan);

/* Of the distances: as asked, or that of the weights. */
TWI_SHARED tw_type twi_plan_result_type(const tw_graph *graph, const tw_apsp_options *opts);

#endif
