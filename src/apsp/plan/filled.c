/*
 * See filled.h. A product works on strips of rows against strips of columns, and of a pivot block
 * on those pivots from the first to the last that are finite in both (closure/product.c). A strip
 * is finite at pivot j once some walk from it to j has all its inner vertices among the pivots that
 * are done. So the vertices are gone through in the order of pivots, and each that the strip has
 * reached by then is left by its arcs: one pass over the graph tells when a strip reaches each
 * vertex. Some strips of either kind stand for all.
 */
#include "apsp/plan/filled.h"

#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

#define STRIPS 8 /* of rows, and of columns */
#define NEVER INT32_MAX

/* Of each vertex: the pivot that joins it to the strip, -1 if an arc does. */
static void join_strip(const tw_graph *graph, int64_t first, int64_t end, int32_t *joined,
                       int32_t *stack)
{
    for (int64_t v = 0; v < graph->n; v++) {
        joined[v] = NEVER;
    }
    for (int64_t u = first; u < end; u++) {
        joined[u] = -1;
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            joined[graph->targets[a]] = -1;
        }
    }
    for (int32_t pivot = 0; pivot < graph->n; pivot++) {
        int64_t waiting = 0;
        if (joined[pivot] != NEVER) {
            stack[waiting++] = pivot;
        }
        while (waiting > 0) {
            const int32_t u = stack[--waiting];
            for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
                const int32_t v = graph->targets[a];
                if (joined[v] == NEVER) {
                    joined[v] = pivot;
                    if (v < pivot) {
                        stack[waiting++] = v;
                    }
                }
            }
        }
    }
}

/* Of each pivot block, the pivots from the first to the last that strip i of STRIPS is finite at.
 */
static void find_ranges(const tw_graph *graph, int64_t width, int32_t block, int i, int32_t *joined,
                        int32_t *stack, twi_range *ranges)
{
    const int64_t strips = (graph->n + width - 1) / width;
    const int64_t first = (2 * i + 1) * strips / (2 * STRIPS) * width;
    const int64_t last = first + width < graph->n ? first + width : graph->n;
    join_strip(graph, first, last, joined, stack);
    for (int64_t begin = 0; begin < graph->n; begin += block) {
        const int64_t end = begin + block < graph->n ? begin + block : graph->n;
        twi_range range = {0, 0};
        for (int64_t v = begin; v < end; v++) {
            if (joined[v] < end) {
                range.begin = range.end > 0 ? range.begin : (int32_t)(v - begin);
                range.end = (int32_t)(v - begin + 1);
            }
        }
        *ranges++ = range;
    }
}

tw_status twi_filled_share(tw_context *ctx, const tw_graph *graph, bool symmetric,
                           const twi_minplus_kernel *kernel, int32_t block, double *share)
{
    const char *what = "an estimate of the closure";
    const int64_t blocks = (graph->n + block - 1) / block;
    const tw_graph *back = graph;
    tw_graph *reversed = NULL;
    int32_t *joined = NULL, *stack = NULL;
    twi_range *ranges = NULL;
    double done = 0;
    tw_status status =
        symmetric ? TW_OK : twi_graph_reverse(ctx, &reversed, graph, TWI_THREADS_MOST);
    if (status != TW_OK ||
        (status = twi_alloc(ctx, &joined, (uint64_t)graph->n, sizeof *joined, what)) != TW_OK ||
        (status = twi_alloc(ctx, &stack, (uint64_t)graph->n, sizeof *stack, what)) != TW_OK ||
        (status = twi_alloc(ctx, &ranges, (uint64_t)blocks * 2 * STRIPS, sizeof *ranges, what)) !=
            TW_OK) {
        goto done;
    }
    back = symmetric ? graph : reversed;
    for (int i = 0; i < STRIPS; i++) {
        find_ranges(graph, kernel->mr, block, i, joined, stack, ranges + i * blocks);
        find_ranges(back, kernel->nr, block, i, joined, stack, ranges + (STRIPS + i) * blocks);
    }
    for (int64_t pair = 0; pair < (int64_t)STRIPS * STRIPS; pair++) {
        const twi_range *row = ranges + pair / STRIPS * blocks;
        const twi_range *column = ranges + (STRIPS + pair % STRIPS) * blocks;
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t begin = row[b].begin > column[b].begin ? row[b].begin : column[b].begin;
            const int64_t end = row[b].end < column[b].end ? row[b].end : column[b].end;
            done += end > begin ? (double)(end - begin) : 0;
        }
    }
    *share = graph->n > 0 ? done / (double)(STRIPS * STRIPS) / (double)graph->n : 0;
done:
    twi_free(ranges);
    twi_free(stack);
    twi_free(joined);
    tw_graph_destroy(reversed);
    return status;
}
