/*
 * The closure over MPI on ranks that SimGrid's SMPI simulates, for bench/mpi_simulated.py: the
 * library's own code, with its messages, rounds and looks for what has arrived, while the kernels
 * only let the simulated clock go on. They are timed once, on the first rank, or their rate is
 * given; the linker puts the functions below in their place (--wrap).
 *
 *     mpi_simulated VERTICES BLOCK RATE BANDWIDTH LATENCY UNDIRECTED
 *
 * RATE in relaxations per second of a rank, 0: one thread of this machine. Prints the seconds of
 * the closure, and those that tw_mpi_predict gives it.
 */
#include "tilewright-mpi.h"

#include "apsp/closure/product.h"
#include "mpi/closure/closure.h"
#include "mpi/plan/probe.h"

#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_SPEED 1e9 /* of the described hosts, in operations that nobody counts */

static double rate, tile_seconds; /* the same for all ranks, which share this memory */
static double *pending;           /* seconds of each rank that the clock has not been told yet */
static double closure_seconds;
static double idle_seconds; /* between two looks of a rank with nothing to do: a part of a task */

static double latency; /* of a message */
static int64_t *asked; /* questions whether to go on, of each rank */
static int rank_count;

/* The rank that is running: only messages and the clock let another one run. */
static int current;

static int self(void)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* Before any message: what was computed since the last one. */
static void tell_clock(void)
{
    const int me = current;
    const double seconds = pending != NULL ? pending[me] : 0;
    if (pending == NULL) {
        return;
    }
    pending[me] = 0;
    if (seconds > 0) {
        smpi_execute_flops(seconds * HOST_SPEED);
    }
    current = me;
}

/* ------------------------------------------------------------------------ in place of kernels */

void __wrap_twi_product(const twi_minplus_kernel *kernel, const twi_panel *a, int64_t rows,
                        const twi_panel *b, int64_t first, int64_t cols, void *c, int64_t ldc,
                        int64_t below);
void __real_twi_product(const twi_minplus_kernel *kernel, const twi_panel *a, int64_t rows,
                        const twi_panel *b, int64_t first, int64_t cols, void *c, int64_t ldc,
                        int64_t below);
bool __wrap_twi_pack_a(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t rows,
                       int64_t depth, const void *src, int64_t row_step, int64_t depth_step);
bool __real_twi_pack_a(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t rows,
                       int64_t depth, const void *src, int64_t row_step, int64_t depth_step);
void __wrap_twi_pack_b(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t first,
                       int64_t cols, int64_t depth, const void *src, int64_t ld);
void __real_twi_pack_b(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t first,
                       int64_t cols, int64_t depth, const void *src, int64_t ld);
void __wrap_twi_close_tile(const twi_minplus_kernel *kernel, twi_panel *a, twi_panel *b, void *c,
                           int64_t ld, int64_t size);
void __real_twi_close_tile(const twi_minplus_kernel *kernel, twi_panel *a, twi_panel *b, void *c,
                           int64_t ld, int64_t size);

void __wrap_twi_product(const twi_minplus_kernel *kernel, const twi_panel *a, int64_t rows,
                        const twi_panel *b, int64_t first, int64_t cols, void *c, int64_t ldc,
                        int64_t below)
{
    if (rate == 0) { /* being timed */
        __real_twi_product(kernel, a, rows, b, first, cols, c, ldc, below);
        return;
    }
    pending[current] += (double)rows * (double)cols * (double)a->depth / rate;
}

bool __wrap_twi_pack_a(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t rows,
                       int64_t depth, const void *src, int64_t row_step, int64_t depth_step)
{
    panel->depth = depth;
    return rate == 0 ? __real_twi_pack_a(kernel, panel, rows, depth, src, row_step, depth_step)
                     : true; /* packing is in the rate */
}

void __wrap_twi_pack_b(const twi_minplus_kernel *kernel, twi_panel *panel, int64_t first,
                       int64_t cols, int64_t depth, const void *src, int64_t ld)
{
    if (rate == 0) {
        __real_twi_pack_b(kernel, panel, first, cols, depth, src, ld);
    }
}

void __wrap_twi_close_tile(const twi_minplus_kernel *kernel, twi_panel *a, twi_panel *b, void *c,
                           int64_t ld, int64_t size)
{
    if (rate == 0) {
        __real_twi_close_tile(kernel, a, b, c, ld, size);
        return;
    }
    pending[current] += tile_seconds;
}

/* ------------------------------------------------------------------------ in front of messages */

int __wrap_MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                      MPI_Request *request);
int __real_MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                      MPI_Request *request);
int __wrap_MPI_Iallreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, MPI_Request *request);
int __wrap_MPI_Test(MPI_Request *request, int *arrived, MPI_Status *status);
int __real_MPI_Test(MPI_Request *request, int *arrived, MPI_Status *status);
int __wrap_MPI_Wait(MPI_Request *request, MPI_Status *status);
int __real_MPI_Wait(MPI_Request *request, MPI_Status *status);
int __wrap_MPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm);
int __real_MPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm);
int __wrap_MPI_Is_thread_main(int *is);
int __wrap_sched_yield(void);
tw_status __wrap_twi_mpi_closure(tw_context *ctx, twi_share *share, twi_pattern *pattern,
                                 int threads, int64_t done, twi_mpi_checkpoint *checkpoint,
                                 twi_mpi_seen *seen);
tw_status __real_twi_mpi_closure(tw_context *ctx, twi_share *share, twi_pattern *pattern,
                                 int threads, int64_t done, twi_mpi_checkpoint *checkpoint,
                                 twi_mpi_seen *seen);

int __wrap_MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                      MPI_Request *request)
{
    const int me = current;
    tell_clock();
    const int error = __real_MPI_Ibcast(data, count, type, root, comm, request);
    current = me;
    return error;
}

/* The question of each round whether to go on, which nobody says no to here. SMPI's goes from each
 * rank to each other one, 65,000 messages a round on 256 ranks; a tree has a hundredth of that, and
 * the answer is awaited a round later. So the ranks count questions in the memory that they share;
 * who is a round ahead of another waits for it (answer), and then for the way up a tree and down.
 */
int __wrap_MPI_Iallreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, MPI_Request *request)
{
    int size = 0;
    (void)op;
    (void)comm;
    tell_clock();
    MPI_Type_size(type, &size);
    memcpy(all, mine, (size_t)count * (size_t)size);
    asked[current]++;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static bool everybody_asked(int64_t questions)
{
    for (int r = 0; r < rank_count; r++) {
        if (asked[r] < questions) {
            return false;
        }
    }
    return true;
}

static int answer(void)
{
    const int me = current;
    const int64_t questions = asked[me] - 1;
    bool waited = false;
    tell_clock();
    while (!everybody_asked(questions)) {
        smpi_execute_flops(idle_seconds * HOST_SPEED);
        waited = true;
    }
    for (int ranks = 1; waited && ranks < rank_count; ranks *= 2) {
        smpi_execute_flops(2 * latency * HOST_SPEED);
    }
    current = me;
    return MPI_SUCCESS;
}

int __wrap_MPI_Test(MPI_Request *request, int *arrived, MPI_Status *status)
{
    const int me = current;
    tell_clock();
    const int error = __real_MPI_Test(request, arrived, status);
    current = me;
    return error;
}

int __wrap_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (*request == MPI_REQUEST_NULL) {
        return answer();
    }
    const int me = current;
    tell_clock();
    const int error = __real_MPI_Wait(request, status);
    current = me;
    return error;
}

int __wrap_MPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm)
{
    const int me = self(); /* also called outside of a closure */
    current = me;
    tell_clock();
    const int error = __real_MPI_Allreduce(mine, all, count, type, op, comm);
    current = me;
    return error;
}

/* ------------------------------------------------------------------- before and after the rounds
 */

/* What a rank gives to an exchange of all with all. Those of arcs and rows lie outside the rounds,
 * which alone are timed, and 256 ranks would have 65,000 messages on their way at a time, which
 * SimGrid follows for hours: ranks are threads of one process, and copy from each other. */
typedef struct gift {
    const char *data;
    const int *counts, *places; /* NULL: `each` for everybody */
    int each;
} gift;
static gift *gifts;

int __wrap_MPI_Alltoall(const void *mine, int count, MPI_Datatype type, void *all, int room,
                        MPI_Datatype same, MPI_Comm comm);
int __wrap_MPI_Alltoallv(const void *mine, const int *counts, const int *places, MPI_Datatype type,
                         void *all, const int *rooms, const int *begins, MPI_Datatype same,
                         MPI_Comm comm);

static int take_gifts(const gift *given, char *all, const int *begins, MPI_Datatype type,
                      MPI_Comm comm)
{
    int me = 0, ranks = 0, size = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    MPI_Type_size(type, &size);
    gifts[me] = *given;
    MPI_Barrier(comm);
    for (int r = 0; r < ranks; r++) {
        const gift *from = &gifts[r];
        const size_t count = (size_t)(from->counts != NULL ? from->counts[me] : from->each);
        const size_t place = (size_t)(from->places != NULL ? from->places[me] : me * from->each);
        const size_t begin = (size_t)(begins != NULL ? begins[r] : r * from->each);
        if (count > 0) {
            memcpy(all + begin * (size_t)size, from->data + place * (size_t)size,
                   count * (size_t)size);
        }
    }
    MPI_Barrier(comm);
    current = self();
    return MPI_SUCCESS;
}

int __wrap_MPI_Alltoall(const void *mine, int count, MPI_Datatype type, void *all, int room,
                        MPI_Datatype same, MPI_Comm comm)
{
    const gift given = {mine, NULL, NULL, count};
    (void)room;
    (void)same;
    return take_gifts(&given, all, NULL, type, comm);
}

int __wrap_MPI_Alltoallv(const void *mine, const int *counts, const int *places, MPI_Datatype type,
                         void *all, const int *rooms, const int *begins, MPI_Datatype same,
                         MPI_Comm comm)
{
    const gift given = {mine, counts, places, 0};
    (void)rooms;
    (void)same;
    return take_gifts(&given, all, begins, type, comm);
}

/* All ranks are threads of one process; none of them is its first. */
int __wrap_MPI_Is_thread_main(int *is)
{
    *is = 1;
    return MPI_SUCCESS;
}

/* A rank that has nothing to do lets the others go on. */
int __wrap_sched_yield(void)
{
    const int me = current;
    tell_clock();
    smpi_execute_flops(idle_seconds * HOST_SPEED);
    current = me;
    return 0;
}

tw_status __wrap_twi_mpi_closure(tw_context *ctx, twi_share *share, twi_pattern *pattern,
                                 int threads, int64_t done, twi_mpi_checkpoint *checkpoint,
                                 twi_mpi_seen *seen)
{
    const twi_world *world = share->grid->world;
    current = self();
    MPI_Barrier(world->comm);
    const double began = MPI_Wtime();
    current = self();
    tw_status status = __real_twi_mpi_closure(ctx, share, pattern, threads, done, checkpoint, seen);
    tell_clock();
    MPI_Barrier(world->comm);
    if (world->rank == 0) {
        closure_seconds = MPI_Wtime() - began;
    }
    return status;
}

/* -------------------------------------------------------------------------------------- program */

static void check(tw_context *ctx, tw_status status, const char *what)
{
    if (status != TW_OK) {
        fprintf(stderr, "mpi_simulated: %s: %s\n", what, tw_last_error(ctx));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

/* An arc for each tile, so that none is empty; rank r has every ranks-th of them. */
static tw_graph *make_part(tw_context *ctx, int64_t n, int64_t block, bool undirected, int rank,
                           int ranks)
{
    const int64_t tiles = (n + block - 1) / block;
    tw_graph *graph = NULL;
    tw_edges edges = TW_EDGES_INIT;
    int32_t *from = malloc((size_t)(tiles * tiles) * sizeof *from);
    int32_t *to = malloc((size_t)(tiles * tiles) * sizeof *to);
    int32_t *weight = malloc((size_t)(tiles * tiles) * sizeof *weight);
    int64_t count = 0;
    for (int64_t t = rank; t < tiles * tiles; t += ranks) {
        from[count] = (int32_t)(t / tiles * block);
        to[count] = (int32_t)(t % tiles * block);
        weight[count++] = 1;
    }
    edges.count = count;
    edges.source = from;
    edges.target = to;
    edges.weight = weight;
    check(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, undirected ? TW_GRAPH_UNDIRECTED : 0),
          "a graph");
    free(weight);
    free(to);
    free(from);
    return graph;
}

int main(int argc, char **argv)
{
    int rank, ranks, level;
    tw_context *ctx = NULL;
    tw_mpi_graph *graph = NULL;
    setenv("TW_MPI_HELP", "never", 1); /* ranks that only look like processes of one machine */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 7 || tw_context_create(&ctx) != TW_OK) {
        fprintf(stderr, "mpi_simulated VERTICES BLOCK RATE BANDWIDTH LATENCY UNDIRECTED\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    tw_mpi_cluster cluster = TW_MPI_CLUSTER_INIT;
    tw_mpi_forecast told = TW_MPI_FORECAST_INIT;
    cluster.vertices = strtoll(argv[1], NULL, 10);
    cluster.block = (int32_t)strtol(argv[2], NULL, 10);
    cluster.rate = strtod(argv[3], NULL);
    cluster.bandwidth = strtod(argv[4], NULL);
    cluster.latency = strtod(argv[5], NULL);
    cluster.undirected = (int32_t)strtol(argv[6], NULL, 10);
    cluster.flat = 1; /* as SMPI's are */
    cluster.ranks = ranks;
    cluster.memory = UINT64_MAX;
    check(ctx, tw_set_threads(ctx, 1), "one thread");
    if (rank == 0) {
        check(ctx, tw_mpi_predict(ctx, &cluster, &told), "predict");
        pending = calloc((size_t)ranks, sizeof *pending);
        gifts = calloc((size_t)ranks, sizeof *gifts);
        asked = calloc((size_t)ranks, sizeof *asked);
        rank_count = ranks;
        latency = cluster.latency;
        tile_seconds = 3.0 * cluster.block * cluster.block * cluster.block / told.rate;
        idle_seconds = 4.0 * cluster.block * (double)cluster.vertices / told.grid_cols / told.rate;
        rate = told.rate;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    tw_graph *part =
        make_part(ctx, cluster.vertices, cluster.block, cluster.undirected != 0, rank, ranks);
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    opts.method = TW_APSP_METHOD_CLOSURE;
    opts.work_type = TW_I32;
    opts.block = cluster.block;
    check(ctx, tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the graph");
    check(ctx, tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), "the closure");
    if (rank == 0) {
        printf("{\"ranks\": %d, \"vertices\": %lld, \"block\": %d, \"rate\": %.6g, \"simulated\": "
               "%.6g, "
               "\"predicted\": %.6g, \"ideal\": %.4f}\n",
               ranks, (long long)cluster.vertices, (int)cluster.block, rate, closure_seconds,
               told.seconds_compute + told.seconds_exchange, told.ideal);
        fflush(stdout);
    }
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    tw_context_destroy(ctx);
    MPI_Finalize();
    return 0;
}
