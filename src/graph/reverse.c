/* The arcs of a graph the other way round: counted, then put down row by row. */
#include "base/memory.h"
#include "graph/graph.h"

#include <string.h>

uint64_t twi_graph_reverse_memory(const tw_graph *graph)
{
    return sizeof(tw_graph) + ((uint64_t)graph->n + 1) * sizeof(int64_t) +
           (uint64_t)graph->arcs * sizeof(int32_t);
}

tw_status twi_graph_reverse(tw_context *ctx, tw_graph **out, const tw_graph *graph)
{
    const int64_t n = graph->n;
    tw_graph *reversed = NULL;
    tw_status status = twi_graph_allocate(ctx, &reversed, n, TW_I32);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &reversed->targets, (uint64_t)graph->arcs, sizeof(int32_t),
                           "the reversed arcs");
    }
    if (status != TW_OK) {
        tw_graph_destroy(reversed);
        return status;
    }
    int64_t *offsets = reversed->offsets;
    for (int64_t a = 0; a < graph->arcs; a++) {
        offsets[graph->targets[a] + 1]++;
    }
    for (int64_t v = 0; v < n; v++) {
        offsets[v + 1] += offsets[v];
    }
    for (int64_t u = n - 1; u >= 0; u--) { /* each row is filled from its end */
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            reversed->targets[--offsets[graph->targets[a] + 1]] = (int32_t)u;
        }
    }
    /* Row v now begins where offsets[v + 1] has arrived. */
    memmove(offsets, offsets + 1, (size_t)n * sizeof *offsets);
    offsets[n] = graph->arcs;
    reversed->arcs = graph->arcs;
    *out = reversed;
    return TW_OK;
}
