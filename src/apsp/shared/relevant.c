/*
 * The relevant part of a graph: see relevant.h. A vertex counts if a source reaches it and it
 * reaches a target: one walk along the arcs, one against them. Vertices keep their numbers, so
 * whoever works on the part needs no table.
 *
 * Memory: the arcs against their direction for the second walk, then a copy of what is kept.
 */
#include "apsp/shared/relevant.h"

#include "base/memory.h"
#include "base/threads.h"
#include "graph/graph.h"

#include <string.h>

void twi_mark_reached(const tw_graph *graph, const int32_t *from, int64_t count, uint8_t *mark,
                      int32_t *queue)
{
    int64_t waiting = 0;
    memset(mark, 0, (size_t)graph->n);
    for (int64_t i = 0; i < count; i++) {
        if (mark[from[i]] == 0) {
            mark[from[i]] = 1;
            queue[waiting++] = from[i];
        }
    }
    for (int64_t next = 0; next < waiting; next++) {
        int32_t u = queue[next];
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t v = graph->targets[a];
            if (mark[v] == 0) {
                mark[v] = 1;
                queue[waiting++] = v;
            }
        }
    }
}

static tw_status unmark_what_reaches_nothing(tw_context *ctx, const tw_graph *graph,
                                             const tw_apsp_options *asked, uint8_t *mark,
                                             int32_t *queue)
{
    tw_graph *reversed = NULL;
    uint8_t *back = NULL;
    tw_status status = twi_graph_reverse(ctx, &reversed, graph, TWI_THREADS_MOST);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &back, (uint64_t)graph->n, 1, "the relevant vertices");
    }
    if (status == TW_OK) {
        twi_mark_reached(reversed, asked->targets, asked->target_count, back, queue);
        for (int64_t v = 0; v < graph->n; v++) {
            mark[v] &= back[v];
        }
    }
    twi_free(back);
    tw_graph_destroy(reversed);
    return status;
}

static int64_t count_kept(const tw_graph *graph, const uint8_t *mark)
{
    int64_t kept = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        for (int64_t a = graph->offsets[u]; mark[u] && a < graph->offsets[u + 1]; a++) {
            kept += mark[graph->targets[a]];
        }
    }
    return kept;
}

static tw_status copy_kept(tw_context *ctx, tw_graph **out, const tw_graph *graph,
                           const uint8_t *mark, int64_t kept)
{
    const size_t size = tw_type_size(graph->weight_type);
    twi_weight_stats stats = twi_no_weights();
    tw_graph *part = NULL;
    int64_t at = 0;
    tw_status status = twi_graph_allocate(ctx, &part, graph->n, graph->weight_type);
    if (status == TW_OK) {
        status = twi_graph_allocate_arcs(ctx, part, kept);
    }
    if (status != TW_OK) {
        tw_graph_destroy(part);
        return status;
    }
    for (int64_t u = 0; u < graph->n; u++) {
        part->offsets[u] = at;
        for (int64_t a = graph->offsets[u]; mark[u] && a < graph->offsets[u + 1]; a++) {
            if (mark[graph->targets[a]]) {
                part->targets[at] = graph->targets[a];
                memcpy((char *)part->weights + (size_t)at * size,
                       (const char *)graph->weights + (size_t)a * size, size);
                twi_see_weight(&stats, twi_graph_weight(graph, a));
                at++;
            }
        }
    }
    part->offsets[graph->n] = at;
    part->undirected = graph->undirected;
    part->floats = graph->floats;
    part->named = graph;
    twi_graph_set_stats(part, &stats);
    *out = part;
    return TW_OK;
}

tw_status twi_relevant_part(tw_context *ctx, tw_graph **out, const tw_graph *graph,
                            const tw_apsp_options *asked)
{
    uint8_t *mark = NULL;
    int32_t *queue = NULL;
    tw_status status = TW_OK;
    *out = NULL;
    if (graph->min_weight >= 0 || (asked->sources == NULL && asked->targets == NULL)) {
        return TW_OK;
    }
    const uint64_t n = (uint64_t)graph->n;
    if ((status = twi_alloc(ctx, &mark, n, 1, "the relevant vertices")) != TW_OK ||
        (status = twi_alloc(ctx, &queue, n, sizeof *queue, "the relevant vertices")) != TW_OK) {
        goto done;
    }
    memset(mark, 1, n);
    if (asked->sources != NULL) {
        twi_mark_reached(graph, asked->sources, asked->source_count, mark, queue);
    }
    if (asked->targets != NULL) {
        status = unmark_what_reaches_nothing(ctx, graph, asked, mark, queue);
    }
    int64_t kept = status == TW_OK ? count_kept(graph, mark) : graph->arcs;
    if (kept < graph->arcs) {
        status = copy_kept(ctx, out, graph, mark, kept);
    }
done:
    twi_free(queue);
    twi_free(mark);
    return status;
}
