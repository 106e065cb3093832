/*
 * A few searches for the plan: whole batches, as a run would take them, from random places, until
 * there are enough or the time is up.
 */
#include "apsp/search.h"

#include "apsp/searcher.h"
#include "base/clock.h"
#include "base/matrix.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

/* How often a batch that was cut short would have scanned each arc: a lane search on a random
 * graph, a breadth-first search of a graph of low diameter. */
#define USUAL_SCANS 7

#define BLOCK_MOST (8 << 20) /* elements of a sample's rows */

static void add_row(twi_search_sample *sample, tw_type type, double scale, const void *row,
                    int64_t n)
{
    int64_t unreachable = 0;
    double infinity = tw_type_infinity(type);
    for (int64_t v = 0; v < n; v++) {
        double d = twi_element(row, type, v);
        if (d >= infinity) {
            unreachable++;
        } else {
            sample->farthest = fmax(sample->farthest, d * scale);
        }
    }
    sample->unreachable += (double)unreachable / (double)n; /* divided by the rows at the end */
    sample->sources++;
}

/* One batch from a random place on, as a run would take it. */
static void sample_batch(twi_searcher *e, void *block, int size, uint64_t round)
{
    int64_t n = e->plan->graph->n;
    uint64_t seed = (uint64_t)n * 31 + (uint64_t)e->plan->graph->arcs;
    int64_t begin = (int64_t)twi_random_below(twi_random_at(seed, round), (uint64_t)n);
    twi_search_batch b = {.count = size};
    for (int i = 0; i < size; i++) {
        b.source[i] = (int32_t)((begin + i) % n);
        b.row[i] = (char *)block + (size_t)i * (size_t)n * tw_type_size(e->type);
    }
    atomic_store(&e->verdict, TWI_SEARCH_FINE);
    twi_searcher_run(e, &e->workers[0], &b);
}

/* A batch was cut short after `took` seconds: guess from the arcs it scanned how long it would have
 * taken, and search from a single source to see how far distances reach. */
static tw_status sample_one(twi_searcher *e, void *block, double took, int size,
                            twi_search_sample *out)
{
    const tw_graph *graph = e->plan->graph;
    double scanned = fmax(e->workers[0].scanned, 1);
    double scale = e->method == TW_METHOD_BFS ? graph->max_weight : 1;
    double scans = e->method != TW_METHOD_BFS && atomic_load(&e->lanes) == 0 ? size : USUAL_SCANS;
    tw_status status = TW_OK;
    e->deadline = 0;
    do {
        sample_batch(e, block, 1, 0);
        if ((status = twi_check_cancel(e->ctx)) != TW_OK) {
            return status;
        }
    } while (atomic_load(&e->verdict) == TWI_SEARCH_WIDEN &&
             (status = twi_searcher_widen(e)) == TW_OK);
    if (status == TW_OK) {
        *out = (twi_search_sample){0};
        add_row(out, e->type, scale, block, graph->n);
        if (e->method == TW_METHOD_BFS) {
            scans = fmin(scans, fmax(out->farthest / scale, 1)); /* one a level */
        }
        double whole = (double)graph->arcs * scans;
        out->seconds_per_source = took * fmax(whole / scanned, 1) / size;
    }
    return status;
}

static tw_status sample_run(twi_searcher *e, void *block, int size, int64_t sources, double budget,
                            twi_search_sample *out)
{
    const tw_graph *graph = e->plan->graph;
    double scale = e->method == TW_METHOD_BFS ? graph->max_weight : 1;
    double spent = 0;
    /* Pages that a run touches once in many batches must not count for this one. */
    memset(block, 0, (size_t)size * (size_t)graph->n * tw_type_size(e->type));
    e->deadline = twi_seconds() + 2 * budget;
    for (uint64_t round = 0; out->sources < sources && (round == 0 || spent < budget); round++) {
        double begin = twi_seconds();
        sample_batch(e, block, size, round);
        double took = twi_seconds() - begin;
        tw_status status = twi_check_cancel(e->ctx);
        twi_search_verdict end = (twi_search_verdict)atomic_load(&e->verdict);
        if (status != TW_OK ||
            (end == TWI_SEARCH_WIDEN && (status = twi_searcher_widen(e)) != TW_OK)) {
            return status;
        }
        if (end == TWI_SEARCH_LATE && out->sources == 0) {
            return sample_one(e, block, took, size, out);
        }
        if (end == TWI_SEARCH_LATE) {
            break;
        }
        for (int i = 0; end == TWI_SEARCH_FINE && i < size; i++) {
            add_row(out, e->type, scale,
                    (char *)block + (size_t)i * (size_t)graph->n * tw_type_size(e->type), graph->n);
        }
        spent += end == TWI_SEARCH_FINE ? took : 0;
    }
    if (out->sources > 0) {
        out->seconds_per_source = spent / (double)out->sources;
        out->unreachable /= (double)out->sources;
    }
    return TW_OK;
}

tw_status twi_search_sample_run(tw_context *ctx, const tw_plan *plan, tw_method method,
                                int64_t sources, double budget, twi_search_sample *out)
{
    twi_searcher *e = NULL;
    void *block = NULL;
    memset(out, 0, sizeof *out);
    if (plan->graph->n == 0 || twi_plan_rows(plan) == 0) {
        return TW_OK;
    }
    int64_t size = twi_searcher_batch(method);
    size = twi_plan_rows(plan) < size ? twi_plan_rows(plan) : size;
    while (size > 1 && size * plan->graph->n > BLOCK_MOST) {
        size /= 2;
    }
    tw_status status = twi_searcher_create(ctx, &e, plan, method, 1);
    if (status == TW_OK) {
        /* 8 bytes an element: the batch may have to be redone in f64 */
        status = twi_alloc(ctx, &block, (uint64_t)size * (uint64_t)plan->graph->n, 8, "a sample");
    }
    if (status == TW_OK) {
        status = sample_run(e, block, (int)size, sources, budget, out);
    }
    twi_free(block);
    twi_searcher_destroy(e);
    return status;
}
