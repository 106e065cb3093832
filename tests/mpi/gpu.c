/*
 * The closure over ranks that have a GPU each, on the runtime without a GPU of tests/fake-gpu:
 * tiles of 4 x 4, in i32 and 16 bits, and streams that go on in any order that events allow. Every
 * rank makes the same graphs and gives every so-many-th arc as its part; rank 0 compares the bytes
 * of the result with those of one process on its CPU. Device memory is memory of the host here, so
 * any MPI reads it, if it says so: what it says, and which memory it is given, is this file's.
 *
 *     mpirun -n 4 test_mpi_gpu FOLDER
 */
#include "base/context.h"
#include "ranks.h"
#include "runtime.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[4096];

/* What the MPI of this rank answers, Open MPI's or MPICH's: whether it reads memory of GPUs. */
static int is_aware;

int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
    return is_aware;
}

int MPIX_GPU_query_support(int kind, int *is_supported);
int MPIX_GPU_query_support(int kind, int *is_supported)
{
    (void)kind;
    *is_supported = is_aware;
    return MPI_SUCCESS;
}

/* Broadcasts of a closure, by where their bytes lie. */
static int64_t cast_from_device, cast_from_host;

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request)
{
    cast_from_device += fake_holds(buffer) != 0;
    cast_from_host += fake_holds(buffer) == 0;
    return PMPI_Ibcast(buffer, count, type, root, comm, request);
}

/* Who says so: nobody, all ranks, all but the last; and whether TW_MPI_STAGING decides. */
typedef enum way {
    STAGED,
    DIRECT,
    MIXED,
    FORCED_STAGED,
    FORCED_DIRECT,
    WAYS,
} way;

/* Whether messages will be in the memory of the GPUs. */
static bool take_way(way w)
{
    is_aware = w == DIRECT || w == FORCED_STAGED || (w == MIXED && rank + 1 < ranks);
    if (w == FORCED_STAGED || w == FORCED_DIRECT) {
        setenv("TW_MPI_STAGING", w == FORCED_DIRECT ? "never" : "always", 1);
    } else {
        unsetenv("TW_MPI_STAGING");
    }
    cast_from_device = cast_from_host = 0;
    return w == DIRECT || w == FORCED_DIRECT;
}

typedef struct graph_case {
    const char *name;
    int64_t n;
    double arcs; /* per vertex */
    bool undirected;
    int parts; /* that no arc joins; vertices lie in runs */
    int32_t heaviest;
    tw_type work_type;
} graph_case;

static arcs make_arcs(const graph_case *c, uint64_t seed)
{
    arcs a = {.count = (int64_t)(c->arcs * (double)c->n), .size = sizeof(int32_t)};
    a.from = malloc((size_t)a.count * sizeof *a.from + 1);
    a.to = malloc((size_t)a.count * sizeof *a.to + 1);
    a.weight = malloc((size_t)a.count * a.size + 1);
    state = seed;
    for (int64_t i = 0; i < a.count; i++) {
        const int64_t u = (int64_t)(next_random() % (uint64_t)c->n);
        const int64_t part = u * c->parts / c->n;
        const int64_t begin = (part * c->n + c->parts - 1) / c->parts;
        const int64_t end = ((part + 1) * c->n + c->parts - 1) / c->parts;
        a.from[i] = (int32_t)u;
        a.to[i] = (int32_t)(begin + (int64_t)(next_random() % (uint64_t)(end - begin)));
        ((int32_t *)a.weight)[i] = (int32_t)(next_random() % (uint64_t)c->heaviest);
    }
    return a;
}

/* The graph of arcs first, first + step, ... */
static tw_graph *make_graph(const graph_case *c, const arcs *a, int first, int step)
{
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    arcs some = {.from = malloc((size_t)a->count * sizeof *a->from + 1),
                 .to = malloc((size_t)a->count * sizeof *a->to + 1),
                 .weight = malloc((size_t)a->count * a->size + 1)};
    for (int64_t i = first; i < a->count; i += step, some.count++) {
        some.from[some.count] = a->from[i];
        some.to[some.count] = a->to[i];
        ((int32_t *)some.weight)[some.count] = ((int32_t *)a->weight)[i];
    }
    edges.count = some.count;
    edges.source = some.from;
    edges.target = some.to;
    edges.weight = some.weight;
    edges.weight_type = TW_I32;
    check(tw_graph_from_edges(ctx, &graph, c->n, &edges, c->undirected ? TW_GRAPH_UNDIRECTED : 0),
          "a graph");
    free(some.from);
    free(some.to);
    free(some.weight);
    return graph;
}

static void free_arcs(arcs *a)
{
    free(a->from);
    free(a->to);
    free(a->weight);
}

static void judge(bool right, const char *what, const graph_case *c, uint64_t seed)
{
    passed += right && rank == 0;
    failures += !right;
    if (!right) {
        fprintf(stderr, "FAILED on rank %d of %d: %s: %s, n = %lld, seed %llu: %s\n", rank, ranks,
                what, c->name, (long long)c->n, (unsigned long long)seed, tw_last_error(ctx));
    }
}

/* Rank 0: the file against one process on its CPU. */
static void compare(const graph_case *c, const arcs *a, uint64_t seed)
{
    const size_t bytes = (size_t)(c->n * c->n) * sizeof(int32_t);
    char *given = malloc(bytes + 1), *right = malloc(bytes + 1);
    FILE *file = fopen(path, "rb");
    const size_t got = file != NULL ? fread(given, 1, bytes + 1, file) : 0;
    tw_graph *whole = make_graph(c, a, 0, 1);
    tw_matrix matrix = {right, c->n, c->n, c->n, TW_I32};
    if (file != NULL) {
        fclose(file);
    }
    memset(right, 0xA5, bytes);
    check(tw_apsp(ctx, &matrix, whole, NULL), "one process");
    judge(got == bytes && memcmp(given, right, bytes) == 0, "the bytes of one process", c, seed);
    tw_graph_destroy(whole);
    free(right);
    free(given);
}

static void name_device(const char *name)
{
    check(tw_set_device(ctx, name), name);
}

/* Close a graph on GPUs; `fail_at`: the call of this rank's runtime that fails. */
static tw_status close_graph(tw_mpi_graph *graph, const graph_case *c, const char *checkpoint,
                             uint64_t seed, int64_t fail_at, tw_mpi_apsp_report *report)
{
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
    opts.method = TW_APSP_METHOD_CLOSURE;
    opts.work_type = c->work_type;
    opts.checkpoint = checkpoint;
    opts.checkpoint_every = 0;
    out.path = path;
    fake_begin(seed + (uint64_t)rank, fail_at);
    return tw_mpi_apsp(ctx, graph, &opts, &out, report);
}

static void run_case(const graph_case *c, uint64_t seed, way w)
{
    tw_mpi_apsp_report report = TW_MPI_APSP_REPORT_INIT;
    tw_mpi_graph *graph = NULL;
    arcs a = make_arcs(c, seed);
    tw_graph *part = make_graph(c, &a, rank, ranks);
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
    name_device(seed % 2 == 0 ? "cuda:0" : "cuda");
    const bool direct = take_way(w);
    check(close_graph(graph, c, NULL, seed, 0, &report), c->name);
    judge((direct ? cast_from_host : cast_from_device) == 0, "the memory that MPI reads", c, seed);
    judge(ranks == 1 || c->n < 4 * ranks || cast_from_device + cast_from_host > 0, "messages", c,
          seed);
    judge(report.block == 4 && (report.symmetric != 0) == c->undirected, "the report", c, seed);
    judge(fake_live() == 0, "everything is given back", c, seed);
    judge(c->n == 0 || seed % 2 == 0 || fake_peak(rank % FAKE_DEVICES) > 0,
          "the GPU whose turn it is", c, seed);
    name_device("cpu");
    if (rank == 0) {
        compare(c, &a, seed);
    }
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    free_arcs(&a);
}

static const graph_case fixed[] = {
    {"nothing", 0, 0, false, 1, 1, TW_AUTO},
    {"one vertex", 1, 0, false, 1, 1, TW_AUTO},
    {"fewer tiles than ranks", 6, 2, false, 1, 9, TW_AUTO},
    {"fewer tiles than ranks, undirected", 6, 2, true, 1, 9, TW_I32},
    {"no arcs", 30, 0, false, 1, 9, TW_AUTO},
    {"u16", 41, 5, false, 1, 900, TW_U16},
    {"i32", 41, 3, false, 1, 1000000, TW_I32},
    {"too far for 15 bits", 40, 1.5, false, 1, 20000, TW_AUTO},
    {"components", 61, 5, false, 5, 100, TW_AUTO},
    {"undirected u16", 41, 4, true, 1, 900, TW_U16},
    {"undirected i32", 50, 3, true, 1, 1000000, TW_I32},
    {"undirected components", 75, 5, true, 4, 100, TW_AUTO},
};

static void results_are_those_of_one_process(void)
{
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        for (uint64_t seed = 1; seed <= 6; seed++) {
            run_case(&fixed[i], seed, seed <= 3 ? STAGED : DIRECT);
        }
    }
    for (uint64_t seed = 10; seed < 40; seed++) {
        const graph_case c = {.name = "any",
                              .n = 1 + (int64_t)(seed * 37 % 70),
                              .arcs = 1 + (double)(seed % 5),
                              .undirected = seed % 3 == 0,
                              .parts = 1 + (int)(seed % 4 == 0),
                              .heaviest = seed % 7 == 0 ? 15000 : 200,
                              .work_type = seed % 5 == 0 ? TW_I32 : TW_AUTO};
        run_case(&c, seed, (way)(seed % WAYS));
    }
}

/* A device that fails on one rank ends the run on all, with its sentence, and nothing is left. */
static void failures_are_shared(bool direct)
{
    const graph_case c = {"failures", 26, 4, true, 1, 900, TW_I32};
    const int unlucky = ranks - 1;
    tw_mpi_graph *graph = NULL;
    arcs a = make_arcs(&c, 5);
    tw_graph *part = make_graph(&c, &a, rank, ranks);
    tw_status status = TW_ERR_DEVICE;
    take_way(direct ? DIRECT : STAGED);
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
    name_device("cuda:1");
    for (int64_t at = 1; status != TW_OK; at = at < 40 && !direct ? at + 1 : at + 1 + at / 8) {
        (void)unlink(path);
        MPI_Barrier(MPI_COMM_WORLD);
        status = close_graph(graph, &c, NULL, 3, rank == unlucky ? at : 0, NULL);
        const bool told =
            status == TW_OK || ((status == TW_ERR_DEVICE || status == TW_ERR_MEMORY) &&
                                strstr(tw_last_error(ctx), "as planned") != NULL);
        judge(told && fake_live() == 0, "a call that fails on one rank", &c, (uint64_t)at);
        judge((access(path, F_OK) == 0) == (status == TW_OK), "a file only of what went well", &c,
              (uint64_t)at);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    name_device(rank == unlucky ? "cuda:7" : "cuda:0");
    status = close_graph(graph, &c, NULL, 3, 0, NULL);
    judge(status == TW_ERR_DEVICE && strcmp(tw_last_error(ctx), "cuda:7 does not exist") == 0,
          "a rank without its GPU", &c, 0);
    name_device(rank == unlucky ? "cpu" : "cuda:0");
    status = close_graph(graph, &c, NULL, 3, 0, NULL);
    judge(ranks == 1 ? status == TW_OK
                     : status == TW_ERR_ARGUMENT &&
                           strstr(tw_last_error(ctx), "a device of the kind CPU") != NULL,
          "a rank on its CPU", &c, 0);
    name_device("cuda:0");
    if (rank == unlucky) {
        tw_cancel(ctx);
    }
    status = close_graph(graph, &c, NULL, 3, 0, NULL);
    judge(status == TW_ERR_CANCELLED && fake_live() == 0, "cancelled on one rank", &c, 0);
    tw_clear_cancel(ctx);
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    free_arcs(&a);
}

/* What GPUs over ranks do not have is said. */
static void what_there_is_not_is_said(void)
{
    const graph_case c = {"refused", 20, 4, false, 1, 90, TW_AUTO};
    tw_mpi_graph *graph = NULL;
    arcs a = make_arcs(&c, 5);
    tw_graph *part = make_graph(&c, &a, rank, ranks);
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_forecast forecast = TW_MPI_FORECAST_INIT;
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
    name_device("cuda:0");
    opts.method = TW_APSP_METHOD_DIJKSTRA;
    judge(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL) == TW_ERR_UNSUPPORTED &&
              strstr(tw_last_error(ctx), "computes on the CPU") != NULL,
          "a search", &c, 0);
    opts.method = TW_APSP_METHOD_AUTO;
    opts.work_type = TW_U8;
    judge(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL) == TW_ERR_UNSUPPORTED &&
              strstr(tw_last_error(ctx), "u8 is not supported on a GPU") != NULL,
          "u8", &c, 0);
    opts.work_type = TW_AUTO;
    opts.block = 64;
    judge(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL) == TW_ERR_UNSUPPORTED &&
              strstr(tw_last_error(ctx), "block 64") != NULL,
          "a block", &c, 0);
    opts.block = 0;
    opts.work_type = TW_I32;
    for (int device = 0; device < FAKE_DEVICES; device++) {
        fake_free_bytes[device] = 1000;
    }
    judge(tw_mpi_apsp_explain(ctx, graph, &opts, NULL, &forecast) == TW_ERR_MEMORY &&
              strstr(tw_last_error(ctx), "vertices need ") != NULL &&
              strstr(tw_last_error(ctx), " of GPU memory in each of ") != NULL,
          "a GPU without room", &c, 0);
    check(tw_set_device_memory(ctx, 1000), "a limit");
    judge(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL) == TW_ERR_MEMORY &&
              strstr(tw_last_error(ctx), "on its GPU, but the limit is 1") != NULL,
          "a limit of the GPU's memory", &c, 0);
    check(tw_set_device_memory(ctx, 0), "no limit");
    setenv("TW_MPI_STAGING", rank == ranks - 1 ? "sometimes" : "always", 1);
    judge(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL) == TW_ERR_ARGUMENT &&
              strcmp(tw_last_error(ctx),
                     "TW_MPI_STAGING=sometimes is unknown; use always or never") == 0,
          "an unknown way", &c, 0);
    take_way(rank == ranks - 1 ? FORCED_STAGED : STAGED);
    judge(ranks == 1 || (tw_mpi_apsp(ctx, graph, &opts, NULL, NULL) == TW_ERR_ARGUMENT &&
                         strstr(tw_last_error(ctx), "TW_MPI_STAGING always") != NULL),
          "ranks that were told different ways", &c, 0);
    take_way(STAGED);
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    free_arcs(&a);
}

/* What a run will take: what it then holds on the GPU, and that a GPU is divided among its ranks.
 */
static void a_forecast_tells_of_the_gpus(way w)
{
    const graph_case c = {"forecast", 90, 8, w % 2 == 1, 1, 90, TW_I32};
    const bool direct = take_way(w);
    tw_mpi_graph *graph = NULL;
    arcs a = make_arcs(&c, 5);
    tw_graph *part = make_graph(&c, &a, rank, ranks);
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_forecast forecast = TW_MPI_FORECAST_INIT;
    tw_mpi_apsp_report report = TW_MPI_APSP_REPORT_INIT;
    double rates[2] = {0};
    opts.work_type = c.work_type;
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
    for (int i = 0; i < 2; i++) {
        name_device(i == 0 ? "cuda:0" : "cuda");
        check(tw_mpi_apsp_explain(ctx, graph, &opts, NULL, &forecast), "the forecast");
        rates[i] = forecast.rate;
        const int each = i == 0 ? ranks : (ranks - rank % FAKE_DEVICES + 3) / FAKE_DEVICES;
        judge(forecast.sharing == each, "the ranks on a GPU", &c, (uint64_t)i);
        judge(forecast.block == 4 && forecast.seconds_compute > 0 && forecast.seconds_copy > 0 &&
                  forecast.ranks == ranks && forecast.machines == 1,
              "the parts of a forecast", &c, (uint64_t)i);
        judge((forecast.direct != 0) == direct, "how panels reach MPI", &c, (uint64_t)w);
    }
    judge(rates[0] > 0 && rates[0] <= rates[1], "ranks share the rate of a GPU", &c, 0);
    check(close_graph(graph, &c, NULL, 3, 0, &report), c.name);
    judge(forecast.grid_rows == report.grid_rows && forecast.grid_cols == report.grid_cols &&
              forecast.block == report.block,
          "the grid of the run", &c, 0);
    const size_t held = fake_peak(rank % FAKE_DEVICES);
    judge(held > 0 && held <= forecast.device_memory, "the memory of the GPU", &c, held);
    judge(report.memory_peak <= forecast.memory + (1 << 20), "the memory of the host", &c,
          report.memory_peak);
    name_device("cpu");
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    free_arcs(&a);
}

static bool went_on;

static void listen(void *user, const char *text)
{
    (void)user;
    went_on = went_on || strstr(text, "resuming from checkpoint") != NULL;
}

static int rounds_left;

static void count_rounds(void *user, const char *stage, double done, double total, const char *unit)
{
    (void)user;
    (void)done;
    (void)total;
    (void)unit;
    ctx->progress_last = 0; /* every one of them, however fast they are */
    if (strcmp(stage, "closing") == 0 && rounds_left-- == 0) {
        tw_cancel(ctx);
    }
}

/* A run that is stopped goes on from where its checkpoint is. */
static void stopped_runs_go_on(void)
{
    char kept[4096 + 16], previous[sizeof kept + 16];
    snprintf(kept, sizeof kept, "%.4000s.kept", path);
    snprintf(previous, sizeof previous, "%s.previous", kept);
    (void)unlink(kept); /* of a run that was killed */
    (void)unlink(previous);
    tw_set_log(ctx, listen, NULL);
    for (int i = 0; i < 6; i++) {
        /* On GPUs all the time; begun on CPUs, whose tiles are others; gone on with there. */
        const bool first = i / 2 != 1, then = i / 2 != 2;
        /* Tiles of a CPU are up to 128 wide: rounds enough to be stopped between. */
        const graph_case c = {"checkpoints", i < 2 ? 46 : 400,         4, i % 2 == 1, 1,
                              900,           i == 1 ? TW_AUTO : TW_I32};
        tw_mpi_graph *graph = NULL;
        arcs a = make_arcs(&c, 5);
        tw_graph *part = make_graph(&c, &a, rank, ranks);
        check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
        name_device(first ? "cuda:2" : "cpu");
        take_way(i % 2 == 0 ? DIRECT : STAGED);
        rounds_left = first ? 5 : 2;
        went_on = false;
        if (rank == 0) {
            tw_set_progress(ctx, count_rounds, NULL);
        }
        tw_status status = close_graph(graph, &c, kept, 4, 0, NULL);
        tw_set_progress(ctx, NULL, NULL);
        tw_clear_cancel(ctx);
        judge(status == TW_ERR_CANCELLED && !went_on, "it is stopped", &c, 4);
        name_device(then ? "cuda:2" : "cpu");
        take_way(i % 2 == 0 ? STAGED : DIRECT);
        check(close_graph(graph, &c, kept, 7, 0, NULL), "it goes on");
        judge(rank != 0 || went_on, "it goes on from the checkpoint", &c, 7);
        name_device("cpu");
        if (rank == 0) {
            compare(&c, &a, 7);
        }
        tw_mpi_graph_destroy(graph);
        tw_graph_destroy(part);
        free_arcs(&a);
    }
    tw_set_log(ctx, NULL, NULL);
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
    snprintf(path, sizeof path, "%s/gpu-%d.raw", argv[1], ranks);
    results_are_those_of_one_process();
    failures_are_shared(false);
    failures_are_shared(true);
    for (way w = STAGED; w <= MIXED; w++) {
        a_forecast_tells_of_the_gpus(w);
    }
    what_there_is_not_is_said();
    stopped_runs_go_on();
    tw_context_destroy(ctx);
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks: %d checks passed, %d failed\n", ranks, passed, all);
    }
    MPI_Finalize();
    return all == 0 && (rank != 0 || passed > 0) ? 0 : 1;
}
