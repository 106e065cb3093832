/* Searches as candidates: see search.h. */
#include "apsp/plan/search.h"

#include "apsp/search/sample.h"
#include "apsp/search/search.h"
#include "apsp/search/searcher.h"
#include "apsp/shared/deliver.h"
#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>

#define FEW_SOURCES 64       /* of a thread, of which a sample is more than a few hundredths */
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
/* Where sources are too few for lanes and near vertices have numbers far apart (sparse and
 * preferential graphs of 10,000 to 1,000,000 vertices on a Neoverse V1, November 2026): */
#define SCATTERED 20e-9       /* seconds of a source and arc or vertex, for 10,000 vertices */
#define SCATTERED_SCAN 110e-9 /* of an arc, scanned for some of them at once, */
#define LANES_LEAST 8         /*   which are so many at least, */
#define LANES_FULL 64         /*   and so many at most */
/* A breadth-first search likewise. An arc is scanned in less than half of the levels (grids and
 * networks of 10,000 to 30,000 vertices). */
typedef struct bfs_rates {
    double arc;    /* of an arc, level and source, */
    double folded; /*   and of an entry that is counted, */
    double entry;  /*   or put into its row; */
    double grows;  /* of the first: for ten times the vertices; */
    double shared; /* and how much more of all for every other thread */
} bfs_rates;
#define BFS_MIDDLE 1e5     /* vertices that an arc's are of, */
#define BFS_GROWS_MOST 0.4 /*   and how much it may grow or shrink at most */
#define BFS_ALONE 0.4      /* of a whole batch, what one takes whose sources are few; */
#define BFS_VERTEX 0.17e-6 /* and seconds of a vertex: its sets, when they are used first */

static bfs_rates bfs_rates_of(twi_isa isa)
{
    switch (isa) {
    case TWI_ISA_NEON: /* Neoverse N1; how it grows: V1 */
        return (bfs_rates){0.024e-9, 0.03e-9, 1.4e-9, 0.4, 0.09};
    case TWI_ISA_AVX512: /* a Xeon of 2023, 1 to 16 threads, 4,000 and 10,000 vertices */
        return (bfs_rates){0.0125e-9, 0.02e-9, 1.1e-9, 0, 0.02};
    default:
        return (bfs_rates){0.012e-9, 0.02e-9, 1.2e-9, 0, 0.09};
    }
}

/* Whether a breadth-first search will fold its levels, as far as that can be seen before the run.
 */
static bool folds_levels(const tw_apsp_plan *plan, tw_apsp_method method)
{
    return method == TW_APSP_METHOD_BFS && twi_will_fold(plan);
}

/* The seconds of a run of searches that take `each` a source on one thread, its row included. Where
 * the plan has a searcher the run finds its arcs laid out, and `done` rows made. */
static double search_seconds(const tw_apsp_plan *plan, tw_apsp_method method, double each,
                             int64_t done)
{
    const double rows = (double)(twi_plan_rows(plan) - done);
    const bool lays_out = method == TW_APSP_METHOD_DIJKSTRA && plan->searcher == NULL;
    const double n = (double)plan->graph->n;
    const double source = folds_levels(plan, method) ? fmax(each - n * FOLDED_SAVES, each / 2)
                                                     : each + n * ENTRY_SECONDS;
    return source * ceil(rows / plan->threads) +
           ceil((double)done / plan->threads) * n * ENTRY_SECONDS +
           (lays_out ? (double)plan->graph->arcs * NET_SECONDS : 0);
}

double twi_search_usual(const tw_apsp_plan *plan)
{
    const double each =
        (double)plan->graph->arcs * USUAL_ARC + (double)plan->graph->n * USUAL_VERTEX;
    return search_seconds(plan, TW_APSP_METHOD_DIJKSTRA,
                          each * (plan->graph->equal ? USUAL_EQUAL : 1) *
                              (1 + USUAL_SHARED * (plan->threads - 1)),
                          0);
}

double twi_search_scattered(const tw_apsp_plan *plan)
{
    const tw_apsp_method method = TW_APSP_METHOD_DIJKSTRA;
    const double n = (double)plan->graph->n, arcs = (double)plan->graph->arcs;
    const int64_t block =
        twi_searcher_block_rows(plan, method, TW_I32, twi_searcher_block_bytes(plan));
    const double together = fmin((double)block / plan->threads, LANES_FULL);
    const double grown = fmax(log10(n / 1e3), 1);
    double each = (n + arcs) * SCATTERED * grown;
    if (together >= LANES_LEAST) {
        each = fmin(each, arcs * SCATTERED_SCAN * grown / together);
    }
    return fmax(search_seconds(plan, method, each, 0), twi_search_usual(plan));
}

/* Sources of a batch: a thread's share, as many as there are bits, and those whose rows have room
 * in a block. */
static double bfs_batch(const tw_apsp_plan *plan)
{
    const tw_apsp_method method = TW_APSP_METHOD_BFS;
    const int64_t block =
        folds_levels(plan, method)
            ? twi_plan_rows(plan)
            : twi_searcher_block_rows(plan, method, TW_U8, twi_searcher_block_bytes(plan));
    return fmin(ceil((double)block / plan->threads), (double)twi_searcher_batch(method));
}

/* A batch takes almost as long with a few sources as with all that there are bits for; threads wait
 * for each other's memory. */
double twi_bfs_usual(const tw_apsp_plan *plan, double levels)
{
    const bfs_rates rates = bfs_rates_of(plan->isa);
    const double most = (double)twi_searcher_batch(TW_APSP_METHOD_BFS);
    const double n = (double)plan->graph->n, rows = (double)twi_plan_rows(plan);
    const double size = fmax(bfs_batch(plan), 1);
    const double batches = ceil(ceil(rows / size) / plan->threads);
    const double entry = folds_levels(plan, TW_APSP_METHOD_BFS) ? rates.folded : rates.entry;
    const double part = BFS_ALONE + (1 - BFS_ALONE) * log2(1 + size) / log2(1 + most);
    const double grown = rates.grows * log10(fmax(n, 1) / BFS_MIDDLE);
    const double arc =
        rates.arc * (1 + fmin(fmax(grown, -BFS_GROWS_MOST), BFS_GROWS_MOST)) * most * part;
    return (batches * (double)plan->graph->arcs * levels * arc +
            fmin(batches * size, rows) * n * entry) *
               (1 + rates.shared * (plan->threads - 1)) +
           n * BFS_VERTEX;
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

/* What rows of a sample take beside those of the run: the plan counts whichever is more, where only
 * one of them is there at a time. */
static uint64_t beside_block(const tw_apsp_plan *plan)
{
    const uint64_t kept = twi_search_kept_memory(plan);
    const uint64_t block = twi_search_block_memory(plan, TW_APSP_METHOD_DIJKSTRA);
    return kept < block ? kept : block;
}

/* Where a run has few sources, laying out the arcs and trying one are a good part of it: the run
 * goes on with those, if there is memory. What the plan holds of it is not there when candidates
 * are weighed, so there must be room for both. */
static bool sample_is_worth_keeping(tw_context *ctx, const tw_apsp_plan *plan,
                                    const twi_candidate *c)
{
    return c->method == TW_APSP_METHOD_DIJKSTRA &&
           twi_plan_rows(plan) <= (int64_t)FEW_SOURCES * plan->threads &&
           2 * (c->memory + beside_block(plan)) <= twi_memory_room(ctx);
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
    const bool keeps = sample_is_worth_keeping(ctx, plan, c);
    tw_status status = twi_search_sample_run(ctx, plan, c->method, SAMPLE_ROUNDS, budget, &sample,
                                             keeps ? &plan->searcher : NULL);
    if (status != TW_OK) {
        return status;
    }
    c->memory += sample.kept > 0 ? beside_block(plan) : 0;
    *farthest = sample.farthest > *farthest ? sample.farthest : *farthest;
    double least = search_seconds(plan, c->method, sample.seconds_least, sample.kept);
    if (rival != NULL && least > rival->seconds) {
        twi_rule_out_slower(c, least, "judging by %lld source%s on each thread",
                            (long long)twi_searcher_batch(c->method),
                            twi_searcher_batch(c->method) == 1 ? "" : "s");
        return TW_OK;
    }
    c->seconds = search_seconds(plan, c->method, sample.seconds_per_source, sample.kept);
    char each[TWI_DURATION];
    snprintf(c->basis, sizeof c->basis,
             "%s per source and thread, %s %lld source%s%s; farthest %.9g",
             twi_duration(each, sample.seconds_per_source),
             sample.guessed ? "extrapolated from" : "from", (long long)sample.sources,
             sample.sources == 1 ? "" : "s", sample.kept > 0 ? " (kept for the run)" : "",
             sample.farthest);
    return TW_OK;
}
