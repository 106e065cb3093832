/* The words of a plan. */
#ifndef TWI_APSP_PLAN_EXPLAIN_H
#define TWI_APSP_PLAN_EXPLAIN_H

#include "apsp/plan/candidate.h"

/* What a run holds from beginning to end, whatever its method: candidates leave it out, since it is
 * there already when they ask what is left. */
uint64_t twi_plan_held(const tw_apsp_plan *plan);

/* Write the plan's explanation, of TWI_EXPLANATION_BYTES at most, once it is settled. */
#define TWI_EXPLANATION_BYTES 4096
void twi_plan_explain(tw_apsp_plan *plan, const twi_candidate *all, int count);

#endif
