/* Any bytes given as a kept order are refused, or hold one: a permutation in groups, from which a
 * tree can be made. Tried as they are, and with a header and checksum that fit. */
#include "apsp/sweep/kept_order.h"
#include "apsp/sweep/tree.h"
#include "base/cache.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N = 24, HEADER = 7 }; /* vertices; numbers of the header, the sum last */

static void insist(bool truth)
{
    if (!truth) {
        abort();
    }
}

static void look(tw_context *ctx, const tw_graph *graph, const void *bytes, size_t size)
{
    const twi_structure structure = twi_structure_of(ctx, graph);
    twi_order order;
    twi_skeleton skeleton;
    twi_tree *tree = NULL;
    bool seen[N] = {false};
    insist(twi_kept_order_parse(ctx, &order, &structure, bytes, size) == TW_OK);
    if (order.vertex == NULL) {
        return;
    }
    for (int i = 0; i < N; i++) {
        insist(order.vertex[i] >= 0 && order.vertex[i] < N && !seen[order.vertex[i]]);
        seen[order.vertex[i]] = true;
    }
    insist(order.n == N && order.first[0] == 0 && order.first[order.groups] == N);
    insist(twi_skeleton_create(ctx, &skeleton, graph) == TW_OK);
    insist(twi_tree_create(ctx, &tree, &skeleton, &order, N) == TW_OK && tree->n == N);
    twi_tree_destroy(tree);
    twi_skeleton_clear(&skeleton);
    twi_order_clear(&order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int32_t from[2 * N];
    int32_t to[2 * N];
    tw_context *ctx = NULL;
    tw_graph *graph = NULL;
    tw_edges edges = TW_EDGES_INIT;
    for (int32_t v = 0; v < N; v++) { /* a cylinder of 4 by 6 */
        from[2 * v] = from[2 * v + 1] = v;
        to[2 * v] = (v + 4) % N;
        to[2 * v + 1] = v % 4 < 3 ? v + 1 : v;
    }
    edges.count = 2L * N;
    edges.source = from;
    edges.target = to;
    insist(tw_context_create(&ctx) == TW_OK);
    insist(tw_graph_from_edges(ctx, &graph, N, &edges, TW_GRAPH_UNDIRECTED) == TW_OK);
    look(ctx, graph, data, size);

    const twi_structure structure = twi_structure_of(ctx, graph);
    const uint64_t words = size / sizeof(int32_t);
    uint64_t header[HEADER] = {0x31524544524f5754ULL, N, structure.hash[0], structure.hash[1], 0};
    header[4] = words > N ? words - N - 1 : 0; /* groups, as the length has them */
    header[6] = twi_cache_hash(TWI_HASH_BASIS, header, sizeof header - sizeof *header);
    header[6] = twi_cache_hash(header[6], data, words * sizeof(int32_t));
    char *whole = malloc(sizeof header + size);
    insist(whole != NULL);
    memcpy(whole, header, sizeof header);
    memcpy(whole + sizeof header, data, words * sizeof(int32_t));
    look(ctx, graph, whole, sizeof header + words * sizeof(int32_t));
    free(whole);
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
    return 0;
}
