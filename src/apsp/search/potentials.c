/*
 * Potentials for Johnson's method: Bellman-Ford from a virtual source with an arc of weight 0 to
 * every vertex. Vertices whose potential fell wait in a first-in first-out queue, so the work is at
 * most n passes over the arcs, and usually a few. Every n scans the graph of parents is searched
 * for a cycle: there is one soon after a negative cycle of the graph begins to be followed round,
 * long before n passes.
 *
 * Whole weights: sums are exact in f64 below 2^53, and the run stops at that. Floats: a fall below
 * the rounding of the sum is no fall, so that a cycle of weight zero cannot run for ever on
 * rounding errors; what remains below zero after reweighting is of that size and counts as zero. A
 * cycle is reported only after its own weights, summed to twice the digits of f64, are negative.
 */
#include "apsp/search/potentials.h"
#include "base/memory.h"
#include "graph/cycle.h"

#include <math.h>
#include <string.h>

#define SLACK 0x1p-50 /* of the numbers in a float sum: eight roundings */
#define LOOK_EVERY 1024

typedef struct walk {
    const tw_graph *graph;
    double *h;
    int32_t *queue; /* a ring of n */
    uint8_t *queued;
    int32_t *parent; /* vertex before, -1: the virtual source */
    int64_t *by;     /* the arc from there */
    int32_t *seen;   /* in the search for a cycle: the walk that saw it */
    int64_t head;
    int64_t waiting;
} walk;

static void push(walk *w, int32_t v)
{
    int64_t tail = w->head + w->waiting;
    w->queue[tail < w->graph->n ? tail : tail - w->graph->n] = v;
    w->queued[v] = 1;
    w->waiting++;
}

static int32_t pop(walk *w)
{
    int32_t v = w->queue[w->head];
    w->head = w->head + 1 < w->graph->n ? w->head + 1 : 0;
    w->queued[v] = 0;
    w->waiting--;
    return v;
}

/* A vertex on a cycle of parents, or -1. */
static int32_t cycle_of_parents(walk *w)
{
    int64_t n = w->graph->n;
    memset(w->seen, 0, (size_t)n * sizeof *w->seen);
    for (int64_t start = 0; start < n; start++) {
        int32_t v = (int32_t)start;
        while (v >= 0 && w->seen[v] == 0) {
            w->seen[v] = (int32_t)(start + 1);
            v = w->parent[v];
        }
        if (v >= 0 && w->seen[v] == start + 1) {
            return v;
        }
    }
    return -1;
}

/* Report the cycle through v if its weight is negative; TW_OK if it is not (rounding). */
static tw_status report_cycle(tw_context *ctx, walk *w, int32_t v)
{
    int64_t count = 0;
    double total = 0, rest = 0; /* what rounding took from the total */
    int32_t u = v;
    do {
        double weight = twi_graph_weight(w->graph, w->by[u]);
        double sum = total + weight, part = sum - total;
        rest += (total - (sum - part)) + (weight - part);
        total = sum;
        count++;
        u = w->parent[u];
    } while (u != v);
    total += rest;
    if (total >= 0) {
        return TW_OK;
    }
    int32_t *cycle = NULL;
    tw_status status = twi_alloc(ctx, &cycle, (uint64_t)count, sizeof *cycle, "a negative cycle");
    if (status != TW_OK) {
        return status;
    }
    for (int64_t i = count - 1; i >= 0; i--) { /* parents lead backwards */
        cycle[i] = u;
        u = w->parent[u];
    }
    status = twi_graph_fail_cycle(ctx, w->graph, cycle, count, total);
    twi_free(cycle);
    return status;
}

static void scan(walk *w, int32_t u)
{
    const tw_graph *graph = w->graph;
    const bool whole = twi_graph_is_exact(graph);
    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
        int32_t v = graph->targets[a];
        double weight = twi_graph_weight(graph, a);
        double sum = w->h[u] + weight;
        double slack = /* term by term: the sum could overflow */
            whole ? 0 : SLACK * fabs(w->h[u]) + SLACK * fabs(weight) + SLACK * fabs(w->h[v]);
        if (sum < w->h[v] - slack) {
            w->h[v] = sum;
            w->parent[v] = u;
            w->by[v] = a;
            if (!w->queued[v]) {
                push(w, v);
            }
        }
    }
}

/* TW_ERR_RANGE if u lies so deep that sums are no longer what they should be, unless it is a
 * negative cycle that drew it there. */
static tw_status check_depth(tw_context *ctx, walk *w, int32_t u)
{
    const bool exact = twi_graph_is_exact(w->graph);
    if (w->h[u] > (exact ? -TWI_EXACT_LIMIT : -(double)INFINITY)) {
        return TW_OK;
    }
    const int32_t v = cycle_of_parents(w);
    const tw_status status = v >= 0 ? report_cycle(ctx, w, v) : TW_OK;
    if (status != TW_OK) {
        return status;
    }
    char name[TWI_VERTEX_NAME];
    return tw_fail(
        ctx, TW_ERR_RANGE,
        "the negative weights add up to %s or less at vertex %.60s, beyond %s; scale the "
        "weights down",
        exact ? "-2^53" : "-1.8e308", twi_vertex_name(name, w->graph, u),
        exact ? "what is exact" : "the numbers of f64");
}

static tw_status run(tw_context *ctx, walk *w)
{
    int64_t n = w->graph->n;
    int64_t until_check = n;
    int64_t pass = n; /* scans left in this pass */
    int64_t passes = 0;
    tw_status status = TW_OK;
    for (int64_t scans = 1; w->waiting > 0; scans++) {
        int32_t u = pop(w);
        if ((status = check_depth(ctx, w, u)) != TW_OK) {
            return status;
        }
        scan(w, u);
        bool over = false; /* n passes: a negative cycle, or floats kept busy by their rounding */
        if (--pass == 0) {
            pass = w->waiting;
            over = ++passes > n;
        }
        if (--until_check == 0 || over) {
            int32_t v = cycle_of_parents(w);
            if (v >= 0 && (status = report_cycle(ctx, w, v)) != TW_OK) {
                return status;
            }
            until_check = n;
        }
        if (over) {
            break;
        }
        if (scans % LOOK_EVERY == 0 && (status = twi_check_cancel(ctx)) != TW_OK) {
            return status;
        }
    }
    return TW_OK;
}

tw_status twi_potentials(tw_context *ctx, const tw_graph *graph, double *h)
{
    walk w = {.graph = graph, .h = h};
    uint64_t n = (uint64_t)graph->n;
    const char *what = "the potentials";
    tw_status status = TW_OK;
    if ((status = twi_alloc(ctx, &w.queue, n, sizeof *w.queue, what)) != TW_OK ||
        (status = twi_alloc(ctx, &w.queued, n, sizeof *w.queued, what)) != TW_OK ||
        (status = twi_alloc(ctx, &w.parent, n, sizeof *w.parent, what)) != TW_OK ||
        (status = twi_alloc(ctx, &w.by, n, sizeof *w.by, what)) != TW_OK ||
        (status = twi_alloc(ctx, &w.seen, n, sizeof *w.seen, what)) != TW_OK) {
        goto done;
    }
    for (int64_t v = 0; v < graph->n; v++) {
        h[v] = 0;
        w.parent[v] = -1;
        w.by[v] = -1;
        push(&w, (int32_t)v);
    }
    status = run(ctx, &w);
done:
    twi_free(w.seen);
    twi_free(w.by);
    twi_free(w.parent);
    twi_free(w.queued);
    twi_free(w.queue);
    return status;
}
