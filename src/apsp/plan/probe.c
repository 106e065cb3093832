/* See probe.h. */
#include "apsp/plan/probe.h"

#include "apsp/shared/textbook.h"
#include "base/memory.h"

#include <math.h>

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
    twi_textbook_dijkstra(graph, (int32_t)(graph->n / 2), &search);
    *farthest = 0;
    plan->depth = 0;
    for (int64_t v = 0; v < graph->n; v++) {
        if (!isinf(search.distance[v])) {
            *farthest = fmax(*farthest, search.distance[v]);
            plan->depth = search.hops[v] > plan->depth ? search.hops[v] : plan->depth;
        }
    }
    twi_free(memory);
    return twi_check_cancel(ctx);
}
