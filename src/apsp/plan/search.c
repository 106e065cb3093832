/* Searches as candidates: see search.h. */
#include "apsp/plan/search.h"

#include "apsp/search/sample.h"
#include "apsp/search/search.h"
#include "apsp/search/searcher.h"
#include "apsp/shared/deliver.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>

#define SAMPLE_ROUNDS 3      /* of searches that only inform the plan, on all threads */
#define ENTRY_SECONDS 0.8e-9 /* of an entry of the result: written */
#define FOLDED_SAVES 0.5e-9  /* of an entry: of a level that is counted, not put into its row */
#define NET_SECONDS 50e-9    /* of an arc: put where searches want it */
/* What searches usually take (16 threads of a Xeon, November 2026), in seconds: */
#define USUAL_ARC 0.8e-9    /* of a source and arc, */
#define USUAL_VERTEX 2.2e-9 /*   and of a source and vertex; */
#define USUAL_EQUAL 0.5     /*   of that where all weights are equal; */
#define USUAL_SHARED \
    0.04 /*   and how much more for every other thread, with which caches are shared */
/* A breadth-first search likewise. An arc is scanned in less than half of the levels (grids and
 * networks of 10,000 to 30,000 vertices). */
typedef struct bfs_rates {
    double arc;    /* of an arc, level and source, */
    double folded; /*   and of an entry that is counted, */
    double entry;  /*   or put into its row */
} bfs_rates;
#define BFS_SHARED 0.09 /* how much more for every other thread */

static bfs_rates bfs_rates_of(twi_isa isa)
{
    switch (isa) {
    case TWI_ISA_NEON: /* Neoverse N1 */
        return (bfs_rates){0.024e-9, 0.03e-9, 1.4e-9};
    case TWI_ISA_AVX512: /* a Xeon of 2023 */
        return (bfs_rates){0.007e-9, 0.02e-9, 1.1e-9};
    default:
        return (bfs_rates){0.012e-9, 0.02e-9, 1.2e-9};
    }
}

/* Whether a breadth-first search will fold its levels, as far as that can be seen before the run.
 */
static bool folds_levels(const tw_apsp_plan *plan, tw_apsp_method method)
{
    return method == TW_APSP_METHOD_BFS && twi_will_fold(plan);
}

/* The seconds of a run of searches that take `each` a source on one thread, its row included. */
static double search_seconds(const tw_apsp_plan *plan, tw_apsp_method method, double each)
{
    const double rows = (double)twi_plan_rows(plan);
    const double n = (double)plan->graph->n;
    const double source = folds_levels(plan, method) ? fmax(each - n * FOLDED_SAVES, each / 2)
                                                     : each + n * ENTRY_SECONDS;
    return source * rows / plan->threads +
           (method == TW_APSP_METHOD_DIJKSTRA ? (double)plan->graph->arcs * NET_SECONDS : 0);
}

double twi_search_usual(const tw_apsp_plan *plan)
{
    const double each =
        (double)plan->graph->arcs * USUAL_ARC + (double)plan->graph->n * USUAL_VERTEX;
    return search_seconds(plan, TW_APSP_METHOD_DIJKSTRA,
                          each * (plan->graph->equal ? USUAL_EQUAL : 1) *
                              (1 + USUAL_SHARED * (plan->threads - 1)));
}

/* A batch takes as long with one source as with all that it has room for; threads wait for each
 * other's memory. */
double twi_bfs_usual(const tw_apsp_plan *plan, double levels)
{
    const bfs_rates rates = bfs_rates_of(plan->isa);
    const double batch = (double)twi_searcher_batch(TW_APSP_METHOD_BFS);
    const double batches = ceil(ceil((double)twi_plan_rows(plan) / batch) / plan->threads);
    const double entry = folds_levels(plan, TW_APSP_METHOD_BFS) ? rates.folded : rates.entry;
    const double row =
        (double)plan->graph->arcs * levels * rates.arc + (double)plan->graph->n * entry;
    const double rows = fmin(batches * batch, (double)twi_plan_rows(plan));
    return rows * row * (1 + BFS_SHARED * (plan->threads - 1));
}

void twi_guess_search(tw_context *ctx, const tw_apsp_plan *plan, twi_candidate *c, double seconds,
                      const char *basis)
{
    c->possible = true;
    c->memory = twi_searches_planned(plan, c->method);
    c->seconds = seconds;
    snprintf(c->basis, sizeof c->basis, "%s", basis);
    twi_rule_out_if_too_large(ctx, c);
}

tw_status twi_consider_search(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                              const twi_candidate *rival, double budget, double *farthest)
{
    twi_search_sample sample = {0};
    c->possible = true;
    c->memory = twi_searches_planned(plan, c->method);
    twi_rule_out_if_too_large(ctx, c);
    if (!c->possible) {
        return TW_OK;
    }
    tw_status status = twi_search_sample_run(ctx, plan, c->method, SAMPLE_ROUNDS, budget, &sample);
    if (status != TW_OK) {
        return status;
    }
    *farthest = sample.farthest > *farthest ? sample.farthest : *farthest;
    double least = search_seconds(plan, c->method, sample.seconds_least);
    if (rival != NULL && least > rival->seconds) {
        twi_rule_out_slower(c, least, "judging by %lld source%s on each thread",
                            (long long)twi_searcher_batch(c->method),
                            twi_searcher_batch(c->method) == 1 ? "" : "s");
        return TW_OK;
    }
    c->seconds = search_seconds(plan, c->method, sample.seconds_per_source);
    char each[TWI_DURATION];
    snprintf(c->basis, sizeof c->basis, "%s per source and thread, %s %lld source%s; farthest %.9g",
             twi_duration(each, sample.seconds_per_source),
             sample.guessed ? "extrapolated from" : "from", (long long)sample.sources,
             sample.sources == 1 ? "" : "s", sample.farthest);
    return TW_OK;
}
