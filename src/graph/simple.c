/* A graph without parallel arcs: see graph.h. */
#include "graph/graph.h"

#include "base/memory.h"

#include <string.h>

/* One arc for each target of a vertex: to[v] is its place among the arcs kept, or -1 or a place of
 * an earlier vertex. As long as `kept` has no room for arcs they are only counted. */
static tw_status keep_least(tw_context *ctx, tw_graph *kept, const tw_graph *graph, int64_t *to)
{
    const size_t size = tw_type_size(graph->weight_type);
    int64_t count = 0;
    int64_t left = 0;
    for (int64_t v = 0; v < graph->n; v++) {
        to[v] = -1;
    }
    for (int64_t u = 0; u < graph->n; u++) {
        const int64_t first = count;
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            break;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            const int32_t v = graph->targets[a];
            const bool is_new = to[v] < first;
            if (is_new) {
                to[v] = count++;
            }
            if (kept->targets != NULL &&
                (is_new || twi_graph_weight(graph, a) < twi_graph_weight(kept, to[v]))) {
                kept->targets[to[v]] = v;
                memcpy((char *)kept->weights + (size_t)to[v] * size,
                       (const char *)graph->weights + (size_t)a * size, size);
            }
        }
        kept->offsets[u + 1] = count;
    }
    return twi_check_cancel(ctx);
}

static tw_status set_stats(tw_context *ctx, tw_graph *kept, const tw_graph *graph)
{
    twi_weight_stats stats = twi_no_weights();
    for (int64_t a = 0; a < kept->arcs; a++) {
        if (a % TWI_STEPS_BETWEEN_LOOKS == 0 && twi_is_cancelled(ctx)) {
            break;
        }
        twi_see_weight(&stats, twi_graph_weight(kept, a));
    }
    twi_graph_set_stats(kept, &stats);
    kept->undirected = graph->undirected;
    kept->floats = graph->floats;
    return twi_check_cancel(ctx);
}

/* Whether some vertex has two arcs to one target. */
static tw_status find_parallel(tw_context *ctx, bool *found, const tw_graph *graph)
{
    int32_t *last = NULL; /* the vertex with an arc to each that was seen last, plus 1 */
    *found = false;
    tw_status status = twi_alloc_zeroed(ctx, &last, (uint64_t)graph->n, sizeof *last,
                                        "the search for parallel arcs");
    int64_t left = 0;
    for (int64_t u = 0; u < graph->n && status == TW_OK && !*found; u++) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            status = twi_check_cancel(ctx);
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            *found |= last[graph->targets[a]] == u + 1;
            last[graph->targets[a]] = (int32_t)u + 1;
        }
    }
    twi_free(last);
    return status;
}

tw_status twi_graph_drop_parallel(tw_context *ctx, tw_graph **out, const tw_graph *graph)
{
    bool some;
    tw_graph *kept = NULL;
    int64_t *to = NULL;
    *out = NULL;
    tw_status status = find_parallel(ctx, &some, graph);
    if (status != TW_OK || !some) {
        return status;
    }
    status = twi_alloc(ctx, &to, (uint64_t)graph->n, sizeof *to, "the arcs that are not parallel");
    if (status == TW_OK) {
        status = twi_graph_allocate(ctx, &kept, graph->n, graph->weight_type);
    }
    if (status == TW_OK) {
        status = keep_least(ctx, kept, graph, to);
    }
    if (status == TW_OK) {
        status = twi_graph_allocate_arcs(ctx, kept, kept->offsets[graph->n]);
    }
    if (status == TW_OK) {
        status = keep_least(ctx, kept, graph, to);
    }
    if (status == TW_OK) {
        status = set_stats(ctx, kept, graph);
    }
    if (status == TW_OK) {
        *out = kept;
        kept = NULL;
    }
    tw_graph_destroy(kept);
    twi_free(to);
    return status;
}
