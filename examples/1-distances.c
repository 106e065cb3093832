/* The shortest distances between all pairs of four towns, from a list of roads. */
#include <stdio.h>
#include <tilewright.h>

int main(void)
{
    const int32_t from[] = {0, 1, 2, 0}, to[] = {1, 2, 3, 3}, km[] = {4, 3, 5, 20};
    tw_edges roads = TW_EDGES_INIT;
    roads.count = 4;
    roads.source = from;
    roads.target = to;
    roads.weight = km;
    int32_t distance[4][4];
    tw_matrix out = {distance, 4, 4, 4, TW_I32};
    tw_context *ctx = NULL;
    tw_graph *graph = NULL;

    int ok = tw_context_create(&ctx) == TW_OK &&
             tw_graph_from_edges(ctx, &graph, 4, &roads, TW_GRAPH_UNDIRECTED) == TW_OK &&
             tw_apsp(ctx, &out, graph, NULL) == TW_OK;
    if (ok) {
        printf("from town 0 to town 3: %d km\n", distance[0][3]);
    } else {
        fprintf(stderr, "%s\n", ctx != NULL ? tw_last_error(ctx) : "out of memory");
    }
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}
