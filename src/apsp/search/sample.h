/* What searches will cost, and what they will find: a few of them tried. */
#ifndef TWI_APSP_SEARCH_SAMPLE_H
#define TWI_APSP_SEARCH_SAMPLE_H

#include "apsp/shared/plan.h"

/* What a few searches show. */
typedef struct twi_search_sample {
    double seconds_per_source; /* of one thread, while all of them search */
    double seconds_least;      /* the same, of what was really searched: a guess may be wrong */
    double farthest;           /* the largest finite distance seen (of the reweighted graph when
                                  there are potentials) */
    double unreachable;        /* share of pairs without a path among those seen */
    int64_t sources;           /* searched */
    int64_t kept;              /* of those, whose rows the searcher has */
    bool guessed;              /* no batch ended in time */
} twi_search_sample;
/* How often a batch of lanes scans an arc of a graph without structure, about. */
double twi_usual_scans(const tw_graph *graph);

/* Search on all threads of the plan, a batch each, cut out of a block of rows as a run would take
 * them (chosen by a seed, so the same for the same graph), up to `rounds` times and `budget`
 * seconds, or 3 % of what the run will take by then. When not even one round ends within four times
 * the budget, the seconds are extrapolated from the arcs scanned so far, and one source tells how
 * far distances reach. *searcher, unless `searcher` is NULL, is what they searched with, for the
 * run: where each source is searched from by itself, it has the rows of the last round. */
TW_CHECKED tw_status twi_search_sample_run(tw_context *ctx, const tw_apsp_plan *plan,
                                           tw_apsp_method method, int rounds, double budget,
                                           twi_search_sample *out, struct twi_searcher **searcher);

#endif
