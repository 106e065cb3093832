/* A plain search or two, to see how far distances reach. */
#ifndef TWI_APSP_PLAN_PROBE_H
#define TWI_APSP_PLAN_PROBE_H

#include "apsp/shared/plan.h"

/* *farthest: the largest distance from one source or, if that reaches no other vertex, from the one
 * with the most arcs; TWI_UNKNOWN stays where weights are negative or there is no memory for a
 * search.
 * Tells the plan how many arcs the paths have, and how much was not reached. */
TW_CHECKED tw_status twi_probe(tw_context *ctx, tw_apsp_plan *plan, double *farthest);

#endif
