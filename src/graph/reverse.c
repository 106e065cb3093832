/*
 * The arcs of a graph the other way round: counted, then put down row by row. Of many arcs every
 * thread reads all, and writes those that lead into its part of the vertices.
 */
#include "base/memory.h"
#include "base/threads.h"
#include "graph/graph.h"

#include <string.h>

uint64_t twi_graph_reverse_memory(const tw_graph *graph)
{
    return sizeof(tw_graph) + ((uint64_t)graph->n + 1) * sizeof(int64_t) +
           (uint64_t)graph->arcs * sizeof(int32_t);
}

static void count_part(tw_context *ctx, const tw_graph *graph, int64_t *offsets, int64_t first,
                       int64_t end)
{
    for (int64_t a = 0; a < graph->arcs; a++) {
        if (a % TWI_STEPS_BETWEEN_LOOKS == 0 && twi_is_cancelled(ctx)) {
            return;
        }
        const int64_t v = graph->targets[a];
        if (v >= first && v < end) {
            offsets[v + 1]++;
        }
    }
}

/* Each row is filled from its end, where offsets[v + 1] is; that is its beginning afterwards. */
static void put_part(tw_context *ctx, const tw_graph *graph, int64_t *offsets, int32_t *sources,
                     int64_t first, int64_t end)
{
    int64_t left = 0;
    for (int64_t u = graph->n - 1; u >= 0; u--) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            return;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            const int64_t v = graph->targets[a];
            if (v >= first && v < end) {
                sources[--offsets[v + 1]] = (int32_t)u;
            }
        }
    }
}

tw_status twi_graph_reverse(tw_context *ctx, tw_graph **out, const tw_graph *graph, int threads)
{
    const int64_t n = graph->n;
    const int most = twi_threads_for(ctx, graph->arcs), parts = threads < most ? threads : most;
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
#pragma omp parallel for num_threads(parts) schedule(static, 1) if (parts > 1)
    for (int i = 0; i < parts; i++) {
        count_part(ctx, graph, offsets, n * i / parts, n * (i + 1) / parts);
    }
    status = twi_check_cancel(ctx);
    for (int64_t v = 0; v < n && status == TW_OK; v++) {
        offsets[v + 1] += offsets[v];
    }
    twi_bring_in(ctx, reversed->targets, (uint64_t)graph->arcs * sizeof(int32_t), parts);
    const int placing = status == TW_OK ? parts : 0;
#pragma omp parallel for num_threads(parts) schedule(static, 1) if (parts > 1)
    for (int i = 0; i < placing; i++) {
        put_part(ctx, graph, offsets, reversed->targets, n * i / parts, n * (i + 1) / parts);
    }
    status = status == TW_OK ? twi_check_cancel(ctx) : status;
    if (status != TW_OK) {
        tw_graph_destroy(reversed);
        return status;
    }
    memmove(offsets, offsets + 1, (size_t)n * sizeof *offsets);
    offsets[n] = graph->arcs;
    reversed->arcs = graph->arcs;
    *out = reversed;
    return TW_OK;
}
