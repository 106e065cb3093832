/*
 * Searches as candidates of a plan: judged by some batches as the run would take them
 * (search/sample.h), or, where those would be a good part of the run, by what searches usually
 * take.
 */
#ifndef TWI_APSP_PLAN_SEARCH_H
#define TWI_APSP_PLAN_SEARCH_H

#include "apsp/plan/candidate.h"

/* By a sample of so many seconds. `rival` is what it must beat: NULL if there is none. */
TW_CHECKED tw_status twi_consider_search(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                         const twi_candidate *rival, double budget,
                                         double *farthest);

/* Without one: what it takes is known, about, and from what. */
void twi_guess_search(tw_context *ctx, const tw_apsp_plan *plan, twi_candidate *c, double seconds,
                      const char *basis);

/* What a search from every source of the plan usually takes; the same in a graph of few levels,
 * where a few sources take longer; and a breadth-first search of so many levels. */
double twi_search_usual(const tw_apsp_plan *plan);
double twi_search_scattered(const tw_apsp_plan *plan);
double twi_bfs_usual(const tw_apsp_plan *plan, double levels);

#endif
