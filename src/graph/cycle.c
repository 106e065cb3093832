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

/* "a -> b -> a": the vertices as their file names them. */
static void show_cycle(char *out, size_t room, const tw_graph *graph, const int32_t *vertices,
                       int64_t count)
{
    const int64_t most = 8; /* vertices worth reading in a sentence */
    char name[TWI_VERTEX_NAME];
    size_t used = 0;
    for (int64_t i = 0; i < count && i < most; i++) {
        used += (size_t)snprintf(out + used, room - used, "%.60s -> ",
                                 twi_vertex_name(name, graph, vertices[i]));
    }
    snprintf(out + used, room - used, "%s%.60s", count > most ? "... -> " : "",
             twi_vertex_name(name, graph, vertices[0]));
}

tw_status twi_graph_fail_cycle(tw_context *ctx, const tw_graph *graph, const int32_t *vertices,
                               int64_t count, double total)
{
    char shown[640]; /* nine names of 60 bytes, and the arrows */
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
    show_cycle(shown, sizeof shown, graph, vertices, count);
    return tw_fail(
        ctx, TW_ERR_NEGATIVE_CYCLE,
        "the graph has a negative cycle of %lld arc%s and weight %.17g, so shortest paths "
        "do not exist: %s%s",
        (long long)count, count == 1 ? "" : "s", total, shown,
        graph->undirected ? " (an undirected edge of negative weight can be walked back and forth)"
                          : "");
}
