/* The way itself, not only its length: five towns, the roads between them in hours. */
#include <stdio.h>
#include <tilewright.h>

int main(void)
{
    const int32_t from[] = {0, 1, 2, 0, 4, 1}, to[] = {1, 2, 3, 4, 3, 4};
    const double hours[] = {0.5, 0.75, 1.0, 1.5, 1.25, 0.25};
    const tw_edges roads = {sizeof roads, 6, from, to, hours, TW_F64, TW_I32};
    tw_context *ctx = NULL;
    tw_graph *graph = NULL;
    tw_apsp_path *path = NULL;
    tw_apsp_path_info found = TW_APSP_PATH_INFO_INIT;

    int ok = tw_context_create(&ctx) == TW_OK &&
             tw_graph_from_edges(ctx, &graph, 5, &roads, TW_GRAPH_UNDIRECTED) == TW_OK &&
             tw_apsp_path_create(ctx, &path, graph, NULL, 0, 3) == TW_OK &&
             tw_apsp_path_describe(path, &found) == TW_OK;
    if (ok) {
        printf("%g hours by way of", found.distance);
        for (int64_t i = 0; i < found.count; i++) {
            printf(" %d", found.vertices[i]);
        }
        printf("\n");
    } else {
        fprintf(stderr, "%s\n", ctx != NULL ? tw_last_error(ctx) : "out of memory");
    }
    tw_apsp_path_destroy(path);
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
    return ok ? 0 : 1;
}
