/* The shortest distances between four towns on any number of processes, each of which knows some of
 * the roads: mpirun -n 2 11-mpi distances.raw */
#include <stdio.h>
#include <tilewright-mpi.h>

int main(int argc, char **argv)
{
    const int32_t from[] = {0, 1, 2, 0}, to[] = {1, 2, 3, 3}, km[] = {4, 3, 5, 20};
    int32_t distance[4] = {0};
    tw_mpi_apsp_output output = TW_MPI_APSP_OUTPUT_INIT;
    tw_context *ctx = NULL;
    tw_graph *part = NULL;
    tw_mpi_graph *graph = NULL;
    int level, rank, ranks;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int first = 4 * rank / ranks, last = 4 * (rank + 1) / ranks;
    const tw_edges roads = {sizeof roads, last - first, from + first, to + first,
                            km + first,   TW_I32,       TW_I32};
    output.path = argc > 1 ? argv[1] : "distances.raw";

    int ok = tw_context_create(&ctx) == TW_OK &&
             tw_graph_from_edges(ctx, &part, 4, &roads, TW_GRAPH_UNDIRECTED) == TW_OK &&
             tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part) == TW_OK &&
             tw_mpi_apsp(ctx, graph, NULL, &output, NULL) == TW_OK;
    if (ok && rank == 0) {
        FILE *file = fopen(output.path, "rb");
        ok = file != NULL && fread(distance, sizeof *distance, 4, file) == 4;
        printf("from town 0 to town 3: %d km\n", distance[3]);
        if (file != NULL) {
            fclose(file);
        }
    } else if (!ok && rank == 0) { /* the sentence is the same on every rank */
        fprintf(stderr, "%s\n", ctx != NULL ? tw_last_error(ctx) : "out of memory");
    }
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    tw_context_destroy(ctx);
    MPI_Finalize();
    return ok ? 0 : 1;
}
