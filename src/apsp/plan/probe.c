/* See probe.h. */
#include "apsp/plan/probe.h"

#include "apsp/shared/textbook.h"
#include "base/memory.h"

#include <math.h>

/* One search: how far and how deep it goes, if that is more than so far, and the vertices that it
 * reaches. */
static int64_t search_from(tw_apsp_plan *plan, int32_t source, twi_textbook *search,
                           double *farthest)
{
    const bool equal = plan->graph->equal && plan->graph->max_weight > 0;
    int64_t reached = 0;
    double most = 0;
    int32_t hops = 0;
    twi_textbook_distances(plan->graph, source, search);
    for (int64_t v = 0; v < plan->graph->n; v++) {
        if (!isinf(search->distance[v])) {
            most = fmax(most, search->distance[v]);
            hops = search->hops[v] > hops ? search->hops[v] : hops; /* 0 for equal weights */
            reached++;
        }
    }
    *farthest = fmax(*farthest, most);
    plan->depth = fmax(plan->depth, equal ? most / plan->graph->max_weight : hops);
    return reached;
}

static int32_t most_arcs(const tw_graph *graph)
{
    int32_t most = 0;
    for (int32_t v = 1; v < (int32_t)graph->n; v++) {
        if (graph->offsets[v + 1] - graph->offsets[v] >
            graph->offsets[most + 1] - graph->offsets[most]) {
            most = v;
        }
    }
    return most;
}

tw_status twi_probe(tw_context *ctx, tw_apsp_plan *plan, double *farthest)
{
    const tw_graph *graph = plan->graph;
    twi_textbook search;
    void *memory = NULL;
    if (graph->n == 0 || plan->potential != NULL) {
        return TW_OK;
    }
    if (twi_textbook_bytes(graph) > twi_memory_room(ctx)) { /* of which a run may need less */
        return TW_OK;
    }
    tw_status status =
        twi_alloc(ctx, &memory, twi_textbook_bytes(graph), 1, "a search for the plan");
    if (status != TW_OK) {
        return status;
    }
    twi_textbook_place(&search, graph, memory, ctx);
    *farthest = graph->arcs > 0 ? graph->min_weight : 0; /* no path is shorter than any arc */
    plan->depth = 0;
    const int64_t reached = search_from(plan, (int32_t)(graph->n / 2), &search, farthest);
    plan->missed = 1 - (double)reached / (double)graph->n;
    if (reached <= 1 && !twi_is_cancelled(ctx)) {
        (void)search_from(plan, most_arcs(graph), &search, farthest);
    }
    twi_free(memory);
    return twi_check_cancel(ctx);
}
