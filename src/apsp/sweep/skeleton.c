/* The skeleton of a graph: see skeleton.h. Arcs are laid down at both of their ends, then every
 * list drops what it has twice; O(n + arcs), with a list of marks. */
#include "apsp/sweep/skeleton.h"

#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

void twi_skeleton_clear(twi_skeleton *skeleton)
{
    twi_free(skeleton->targets);
    twi_free(skeleton->offsets);
    *skeleton = (twi_skeleton){0};
}

/* offsets[v + 1] counts the ends at v, then becomes where the list of v + 1 begins. */
static tw_status lay_out(tw_context *ctx, twi_skeleton *out, const tw_graph *graph)
{
    int64_t left = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            break;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t v = graph->targets[a];
            if (v != u) {
                out->offsets[u + 1]++;
                out->offsets[v + 1]++;
            }
        }
    }
    for (int64_t v = 0; v < graph->n; v++) {
        out->offsets[v + 1] += out->offsets[v];
    }
    return twi_check_cancel(ctx);
}

/* `end` has where each list ends so far. */
static tw_status fill(tw_context *ctx, twi_skeleton *out, const tw_graph *graph, int64_t *end)
{
    memcpy(end, out->offsets, (size_t)graph->n * sizeof *end);
    int64_t left = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            break;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t v = graph->targets[a];
            if (v != u) {
                out->targets[end[u]++] = v;
                out->targets[end[v]++] = (int32_t)u;
            }
        }
    }
    return twi_check_cancel(ctx);
}

/* Each neighbour once. seen[w] is 1 + the vertex whose list had w last. */
static tw_status drop_doubles(tw_context *ctx, twi_skeleton *out, int64_t *seen)
{
    int64_t kept = 0;
    int64_t begin = 0;
    int64_t left = 0;
    memset(seen, 0, (size_t)out->n * sizeof *seen);
    for (int64_t v = 0; v < out->n; v++) {
        int64_t end = out->offsets[v + 1];
        if (twi_is_stopped(ctx, &left, end - begin)) {
            break;
        }
        for (int64_t a = begin; a < end; a++) {
            int32_t w = out->targets[a];
            if (seen[w] != v + 1) {
                seen[w] = v + 1;
                out->targets[kept++] = w;
            }
        }
        begin = end;
        out->offsets[v + 1] = kept;
    }
    return twi_check_cancel(ctx);
}

uint64_t twi_skeleton_memory(int64_t n, int64_t arcs)
{
    return ((uint64_t)n + 1) * sizeof(int64_t) + 2 * (uint64_t)arcs * sizeof(int32_t);
}

tw_status twi_skeleton_create(tw_context *ctx, twi_skeleton *out, const tw_graph *graph)
{
    const char *what = "the skeleton of the graph";
    int64_t *marks = NULL;
    *out = (twi_skeleton){.n = graph->n};
    tw_status status =
        twi_alloc_zeroed(ctx, &out->offsets, (uint64_t)graph->n + 1, sizeof *out->offsets, what);
    if (status == TW_OK) {
        status = lay_out(ctx, out, graph);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->targets, (uint64_t)out->offsets[graph->n],
                           sizeof *out->targets, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &marks, (uint64_t)graph->n, sizeof *marks, what);
    }
    if (status == TW_OK) {
        const uint64_t bytes = (uint64_t)out->offsets[graph->n] * sizeof *out->targets;
        twi_bring_in(ctx, out->targets, bytes, twi_thread_count(ctx));
        status = fill(ctx, out, graph, marks);
    }
    if (status == TW_OK) {
        status = drop_doubles(ctx, out, marks);
    }
    if (status != TW_OK) {
        twi_skeleton_clear(out);
    }
    twi_free(marks);
    return status;
}
