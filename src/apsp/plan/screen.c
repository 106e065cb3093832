/* See screen.h. */
#include "apsp/plan/screen.h"

#include "base/memory.h"

#include <string.h>

#define LOW 4        /* arcs */
#define REACHED 0.25 /* of the vertices, for a search to say anything of the graph */

/* The largest level of a breadth-first search, and how many vertices it has reached. `queue` has
 * room for all; `seen` is zero. */
static int64_t widest_level(const tw_graph *graph, int32_t *queue, char *seen, int64_t *reached)
{
    int64_t begin = 0, end = 1, most = 1;
    queue[0] = (int32_t)(graph->n / 2);
    seen[queue[0]] = 1;
    while (begin < end) {
        int64_t next = end;
        for (int64_t i = begin; i < end; i++) {
            for (int64_t a = graph->offsets[queue[i]]; a < graph->offsets[queue[i] + 1]; a++) {
                const int32_t to = graph->targets[a];
                if (seen[to] == 0) {
                    seen[to] = 1;
                    queue[next++] = to;
                }
            }
        }
        most = next - end > most ? next - end : most;
        begin = end;
        end = next;
    }
    *reached = end;
    return most;
}

/* Vertices of few arcs. `degree` is zero. */
static int64_t count_low(const tw_graph *graph, bool symmetric, int32_t *degree)
{
    int64_t low = 0;
    for (int64_t a = 0; a < graph->arcs && !symmetric; a++) {
        const int32_t to = graph->targets[a];
        degree[to] += degree[to] <= LOW;
    }
    for (int64_t v = 0; v < graph->n; v++) {
        low += graph->offsets[v + 1] - graph->offsets[v] + degree[v] <= LOW;
    }
    return low;
}

tw_status twi_screen_graph(tw_context *ctx, const tw_graph *graph, bool symmetric, twi_screen *out)
{
    const uint64_t n = (uint64_t)graph->n;
    int32_t *memory = NULL;
    *out = (twi_screen){0};
    if (n == 0) {
        return TW_OK;
    }
    tw_status status =
        twi_alloc_zeroed(ctx, &memory, n, 2 * sizeof *memory, "a look at the graph for the plan");
    if (status != TW_OK) {
        return status;
    }
    int64_t reached = 0;
    const int64_t widest = widest_level(graph, memory, (char *)(memory + n), &reached);
    if ((double)reached >= REACHED * (double)n) {
        out->widest = (double)widest / (double)reached;
    }
    memset(memory, 0, n * sizeof *memory);
    out->low = (double)count_low(graph, symmetric, memory) / (double)n;
    twi_free(memory);
    return twi_check_cancel(ctx);
}
