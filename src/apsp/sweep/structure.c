/* The structure of a graph: see structure.h. Every arc's ends, the lesser first, are mixed into two
 * numbers, which are summed up: so the arcs may come in any sequence. O(arcs). */
#include "apsp/sweep/structure.h"

#include "base/context.h"

/* The finalizer of splitmix64: every bit of x has a say in every bit of the result. */
static inline uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

twi_structure twi_structure_of(tw_context *ctx, const tw_graph *graph)
{
    uint64_t sums[2] = {mixed((uint64_t)graph->n), mixed(~(uint64_t)graph->n)};
    int64_t left = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            break;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            const int64_t v = graph->targets[a];
            const uint64_t ends = (uint64_t)(u < v ? u : v) << 32 | (uint64_t)(u < v ? v : u);
            sums[0] += u != v ? mixed(ends + 0x9e3779b97f4a7c15ULL) : 0;
            sums[1] += u != v ? mixed(ends ^ 0xd1b54a32d192ed03ULL) : 0;
        }
    }
    return (twi_structure){graph->n, {sums[0], sums[1]}};
}
