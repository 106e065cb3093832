/* Negative cycles: see cycle.h. */
#include "graph/cycle.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

int64_t tw_apsp_negative_cycle(const tw_context *ctx, const int32_t **vertices)
{
    if (vertices != NULL) {
        *vertices = ctx != NULL ? ctx->cycle : NULL;
    }
    return ctx != NULL ? ctx->cycle_count : 0;
}

tw_status twi_fail_negative_cycle(tw_context *ctx, const int32_t *vertices, int64_t count,
                                  double total)
{
    twi_free(ctx->cycle);
    ctx->cycle = NULL;
    ctx->cycle_count = 0;
    tw_status status =
        twi_alloc(ctx, &ctx->cycle, (uint64_t)count, sizeof *vertices, "the negative cycle");
    if (status != TW_OK) {
        return status;
    }
    memcpy(ctx->cycle, vertices, (size_t)count * sizeof *vertices);
    ctx->cycle_count = count;
    char shown[256];
    size_t used = 0;
    const int64_t most = 8; /* vertices worth reading in a sentence */
    for (int64_t i = 0; i < count && i < most; i++) {
        used += (size_t)snprintf(shown + used, sizeof shown - used, "%d -> ", vertices[i]);
    }
    if (count > most) {
        used += (size_t)snprintf(shown + used, sizeof shown - used, "... -> ");
    }
    snprintf(shown + used, sizeof shown - used, "%d", vertices[0]);
    return tw_fail(
        ctx, TW_ERR_NEGATIVE_CYCLE,
        "the graph has a negative cycle of %lld arc%s and weight %.17g, so shortest paths "
        "do not exist: %s",
        (long long)count, count == 1 ? "" : "s", total, shown);
}

tw_status twi_graph_fail_cycle(tw_context *ctx, const tw_graph *graph, const int32_t *vertices,
                               int64_t count, double total)
{
    tw_status status = twi_fail_negative_cycle(ctx, vertices, count, total);
    return status == TW_ERR_NEGATIVE_CYCLE && graph->undirected
               ? tw_fail(ctx, status,
                         "%s (an undirected edge of negative weight can be walked back and forth)",
                         tw_last_error(ctx))
               : status;
}
