/*
 * One rank has no memory: run by mpirun, with any number of ranks. On one rank after the other the
 * first, second, third ... allocation of a whole run fails; the others have all they want. Each
 * time all ranks return the same status with the same sentence, nobody waits for ever, and no file
 * appears; the run after that is as good as any.
 *
 *     mpirun -n 3 test_mpi_memory FOLDER
 */

#include "base/context.h"
#include "base/meter.h"

#include "ranks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERTICES = 150, ARCS = 1200, MOST = 2000 };

static char out_path[4096], checkpoint_path[4096];

static void judge(bool fine, const char *what, const char *more, int64_t at)
{
    passed += fine && rank == 0;
    failures += !fine;
    if (!fine) {
        fprintf(stderr, "FAILED on rank %d of %d: %s, allocation %lld: %s (%s)\n", rank, ranks,
                what, (long long)at, more, tw_last_error(ctx));
    }
}

/* Every so-many-th arc of a graph that all ranks draw alike. */
static tw_graph *make_part(void)
{
    static int32_t from[ARCS], to[ARCS], weight[ARCS];
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *part = NULL;
    state = 11;
    for (int i = 0; i < ARCS; i++) {
        const int32_t u = (int32_t)(next_random() % VERTICES),
                      v = (int32_t)(next_random() % VERTICES);
        const int32_t w = (int32_t)(next_random() % 900) + 1;
        if (i % ranks == rank) {
            from[edges.count] = u;
            to[edges.count] = v;
            weight[edges.count++] = w;
        }
    }
    edges.source = from;
    edges.target = to;
    edges.weight = weight;
    check(tw_graph_from_edges(ctx, &part, VERTICES, &edges, 0), "a part");
    return part;
}

static tw_status run_once(const tw_graph *part, tw_apsp_method method, bool keeps)
{
    tw_mpi_graph *graph = NULL;
    tw_apsp_summary *summary = NULL;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_apsp_output output = TW_MPI_APSP_OUTPUT_INIT;
    opts.method = method;
    opts.block = 64;
    opts.checkpoint = keeps ? checkpoint_path : NULL;
    opts.checkpoint_every = 0;
    output.path = out_path;
    output.verify = 2;
    tw_status status = tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL);
    status = tw_mpi_agree(ctx, MPI_COMM_WORLD, status);
    output.summary = summary;
    if (status == TW_OK) {
        status = tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part);
    }
    if (status == TW_OK) {
        status = tw_mpi_apsp(ctx, graph, &opts, &output, NULL);
    }
    tw_mpi_graph_destroy(graph);
    tw_apsp_summary_destroy(summary);
    return status;
}

/* All ranks have this status and this sentence. */
static void compare(tw_status status, const char *name, int64_t at)
{
    char first[512] = "", mine[512];
    int told[2] = {(int)status, -(int)status};
    snprintf(mine, sizeof mine, "%s", status == TW_OK ? "" : tw_last_error(ctx));
    memcpy(first, mine, sizeof first);
    MPI_Allreduce(MPI_IN_PLACE, told, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Bcast(first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    judge(told[0] == -told[1], "the ranks have different statuses", name, at);
    judge(strcmp(first, mine) == 0, "the ranks have different sentences", name, at);
    judge(status == TW_OK || status == TW_ERR_MEMORY, "another failure", name, at);
    if (rank == 0) {
        judge((access(out_path, F_OK) == 0) == (status == TW_OK), "a file of a failed run", name,
              at);
        remove(out_path);
    }
}

static void every_allocation_fails_once(const tw_graph *part, tw_apsp_method method, bool keeps,
                                        int whose, const char *name)
{
    int fine = 0;
    int64_t at = 1, failed = 0;
    for (; fine < 3 && at < MOST; at++) { /* some do without what they cannot have */
        if (rank == whose) {
            twi_meter_fail_at(ctx->meter, at);
        }
        const tw_status status = run_once(part, method, keeps);
        twi_meter_fail_at(ctx->meter, 0);
        compare(status, name, at);
        fine = status == TW_OK ? fine + 1 : 0;
        failed += status != TW_OK;
    }
    judge(failed > 10 && at < MOST, "a run has allocations, and an end of them", name, failed);
    compare(run_once(part, method, keeps), name, 0);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2 || tw_context_create(&ctx) != TW_OK) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check(tw_set_threads(ctx, 1), "one thread");
    snprintf(out_path, sizeof out_path, "%s/memory-%d.npy", argv[1], ranks);
    snprintf(checkpoint_path, sizeof checkpoint_path, "%s/memory-%d.state", argv[1], ranks);
    if (rank == 0) {
        remove(out_path);
        remove(checkpoint_path);
    }
    tw_graph *part = make_part();
    for (int whose = 0; whose<ranks; whose += ranks> 1 ? ranks - 1 : 1) {
        every_allocation_fails_once(part, TW_APSP_METHOD_CLOSURE, true, whose, "closure");
        if (whose > 0) {
            every_allocation_fails_once(part, TW_APSP_METHOD_DIJKSTRA, false, whose, "dijkstra");
        }
        every_allocation_fails_once(part, TW_APSP_METHOD_SWEEP, false, whose, "sweep");
    }
    tw_graph_destroy(part);
    int sums[2] = {failures, passed};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks: %d passed, %d failed\n", ranks, sums[1], sums[0]);
    }
    tw_context_destroy(ctx);
    MPI_Finalize();
    return sums[0] == 0 ? 0 : 1;
}
