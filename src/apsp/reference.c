/*
 * The oracle: the triple loop of Floyd and Warshall over a matrix of doubles. Kept naive on
 * purpose; n^3 steps, no memory but the caller's matrix.
 *
 * A double holds every sum of whole weights exactly below 2^53, and larger ones are found. Negative
 * cycles are looked for before the loop. With float weights a cycle whose true sum is zero may
 * round below it; the walks of one round are the steps of the next, so it would be taken twice as
 * often in each, and the error grow with 2^n. No walk is therefore taken for shorter than the way
 * back allows.
 */
#include "apsp/reference.h"

#include "apsp/shared/textbook.h"

#include <math.h>

static void place_arcs(const tw_graph *graph, double *d)
{
    const int64_t n = graph->n;
    for (int64_t i = 0; i < n * n; i++) {
        d[i] = (double)INFINITY;
    }
    for (int64_t u = 0; u < n; u++) {
        d[u * n + u] = 0;
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            double *entry = &d[u * n + graph->targets[a]];
            const double weight = twi_graph_weight(graph, a) + 0.0; /* -0 is 0 */
            *entry = weight < *entry ? weight : *entry;
        }
    }
}

/* A walk from i to j is shorter. Not by rounding alone: the way there and back is no less than 0.
 * The sum makes -0 a 0: which of the two fmax takes is up to the machine. */
static void shorten(double *d, int64_t n, int64_t i, int64_t j, double through)
{
    const double least = fmax(through, -d[j * n + i]) + 0.0;
    if (least < d[i * n + j]) {
        d[i * n + j] = least;
    }
}

/* Sums of whole weights that reached the limit were rounded; with negative weights on the way to a
 * smaller one, too. Without them delivery sees which they are. */
static tw_status check_range(tw_context *ctx, const tw_graph *graph, const double *d)
{
    const int64_t n = graph->n;
    const bool hidden = twi_graph_is_exact(graph) && graph->min_weight < 0;
    for (int64_t i = 0; hidden && i < n * n; i++) {
        if (fabs(d[i]) >= TWI_EXACT_LIMIT && !isinf(d[i])) {
            return tw_fail(ctx, TW_ERR_RANGE,
                           "the distance %lld -> %lld is 2^53 or more, where f64 no longer holds "
                           "every whole number; scale the weights down",
                           (long long)(i / n), (long long)(i % n));
        }
    }
    return TW_OK;
}

tw_status twi_reference_apsp(tw_context *ctx, const tw_graph *graph, double *out)
{
    const int64_t n = graph->n;
    place_arcs(graph, out);
    tw_status status = twi_textbook_negative_cycle(ctx, graph, NULL);
    for (int64_t k = 0; k < n && status == TW_OK; k++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                double through = out[i * n + k] + out[k * n + j];
                if (through < out[i * n + j]) {
                    shorten(out, n, i, j, through);
                }
            }
        }
        status = twi_check_cancel(ctx);
        twi_progress(ctx, "reference", (double)(k + 1) * (double)n * (double)n,
                     (double)n * (double)n * (double)n, "relaxations");
    }
    return status == TW_OK ? check_range(ctx, graph, out) : status;
}
