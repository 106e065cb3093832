/* The threads that a plan's run will use: its method may have work for fewer than there are. */
#ifndef TWI_APSP_PLAN_TEAM_H
#define TWI_APSP_PLAN_TEAM_H

#include "apsp/shared/plan.h"

/* Of the plan's threads, where its method and all that goes with it are settled. On a GPU the
 * host's, which prepare and deliver. */
int32_t twi_plan_team(const tw_apsp_plan *plan);

#endif
