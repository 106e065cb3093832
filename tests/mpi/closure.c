/*
 * The closure over ranks against tw_apsp on one: run by mpirun, with any number of ranks. Every
 * rank makes the same graphs, gives every so-many-th arc of them as its part, and closes them with
 * the others into a file; rank 0 compares the bytes of the file with those of one process, and with
 * the plain reference, which shares nothing with either.
 *
 *     mpirun -n 4 test_mpi_closure FOLDER
 */
#include "mpi/closure/help.h"

#include "ranks.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const char *folder;

typedef struct graph_case {
    const char *name;
    int64_t n;
    double arcs; /* per vertex */
    bool undirected;
    int parts;       /* that no arc joins; vertices lie in runs */
    tw_type weights; /* TW_I32, TW_F32, TW_F64 */
    double heaviest;
    tw_type type, work_type;
    int32_t block;
} graph_case;

static arcs make_arcs(const graph_case *c, uint64_t seed)
{
    arcs a = {.count = (int64_t)(c->arcs * (double)c->n), .size = tw_type_size(c->weights)};
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
        const double share = (double)next_random() / 0x1p31;
        if (c->weights == TW_I32) {
            ((int32_t *)a.weight)[i] = (int32_t)(share * c->heaviest);
        } else if (c->weights == TW_F32) {
            ((float *)a.weight)[i] = (float)(share * c->heaviest);
        } else {
            ((double *)a.weight)[i] = share * c->heaviest;
        }
    }
    return a;
}

/* The graph of arcs first, first + step, ... */
static tw_graph *make_graph(const graph_case *c, const arcs *a, int first, int step)
{
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    int64_t count = 0;
    arcs some = {.from = malloc((size_t)a->count * sizeof *a->from + 1),
                 .to = malloc((size_t)a->count * sizeof *a->to + 1),
                 .weight = malloc((size_t)a->count * a->size + 1)};
    for (int64_t i = first; i < a->count; i += step, count++) {
        some.from[count] = a->from[i];
        some.to[count] = a->to[i];
        memcpy(some.weight + count * (int64_t)a->size, a->weight + i * (int64_t)a->size, a->size);
    }
    edges.count = count;
    edges.source = some.from;
    edges.target = some.to;
    edges.weight = some.weight;
    edges.weight_type = c->weights;
    check(tw_graph_from_edges(ctx, &graph, c->n, &edges, c->undirected ? TW_GRAPH_UNDIRECTED : 0),
          "a graph");
    free(some.from);
    free(some.to);
    free(some.weight);
    return graph;
}

static void *read_all(const char *path, size_t bytes)
{
    char *data = malloc(bytes + 1);
    FILE *file = fopen(path, "rb");
    size_t got = file != NULL ? fread(data, 1, bytes + 1, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    if (got != bytes) {
        free(data);
        return NULL;
    }
    return data;
}

/* Rank 0: the file against one process's closure, and integers against the reference. */
static void compare(const graph_case *c, const tw_graph *graph, const tw_apsp_options *opts,
                    const char *path, tw_type type)
{
    const size_t bytes = (size_t)(c->n * c->n) * tw_type_size(type);
    char *given = read_all(path, bytes);
    char *right = malloc(bytes + 1);
    tw_matrix matrix = {right, c->n, c->n, c->n, type};
    memset(right, 0xA5, bytes);
    tw_apsp_options alone = *opts;
    alone.method = TW_APSP_METHOD_CLOSURE;
    check(tw_apsp(ctx, &matrix, graph, &alone), "one process");
    bool same = given != NULL && memcmp(given, right, bytes) == 0;
    if (same && c->weights == TW_I32 && c->n <= 300) {
        alone = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
        alone.method = TW_APSP_METHOD_REFERENCE;
        memset(right, 0xA5, bytes);
        check(tw_apsp(ctx, &matrix, graph, &alone), "the reference");
        same = memcmp(given, right, bytes) == 0;
    }
    passed += same;
    failures += !same;
    if (!same) {
        fprintf(stderr, "FAILED on %d ranks: %s, n = %lld%s\n", ranks, c->name, (long long)c->n,
                given == NULL ? ": the file is not as long as it should be" : "");
    }
    free(right);
    free(given);
}

/* Tasks of others that all ranks did, and the maximum memory of one. */
typedef struct outcome {
    int64_t helped;
    uint64_t memory;
} outcome;

static outcome run_case(const graph_case *c, uint64_t seed)
{
    char path[4096];
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
    tw_mpi_apsp_report report = TW_MPI_APSP_REPORT_INIT;
    tw_mpi_graph *graph = NULL;
    snprintf(path, sizeof path, "%s/closure-%d.raw", folder, ranks);
    arcs a = make_arcs(c, seed);
    tw_graph *part = make_graph(c, &a, rank, ranks);
    opts.type = c->type;
    opts.work_type = c->work_type;
    opts.block = c->block;
    opts.method = TW_APSP_METHOD_CLOSURE;
    out.path = path;
    out.verify = 1;
    out.seed = seed;
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
    check(tw_mpi_apsp(ctx, graph, &opts, &out, &report), c->name);
    if (report.ranks != ranks || report.verified_rows != (c->n > 0) ||
        (report.symmetric != 0) != c->undirected) {
        fprintf(stderr, "FAILED: %s: the report is wrong\n", c->name);
        failures++;
    }
    if (rank == 0) {
        tw_graph *whole = make_graph(c, &a, 0, 1);
        tw_apsp_options alone = opts;
        compare(c, whole, &alone, path, report.type);
        tw_graph_destroy(whole);
    }
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    free(a.from);
    free(a.to);
    free(a.weight);
    outcome seen = {report.helped, report.memory_peak};
    MPI_Allreduce(MPI_IN_PLACE, &seen.helped, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return seen;
}

/* Rows and columns picked, in any order and twice; a cutoff. */
static void pick_rows_and_columns(void)
{
    static const int32_t sources[] = {130, 0, 129, 64, 63, 130}, targets[] = {5, 149, 64};
    const graph_case c = {"rows and columns", 150, 4, false, 1, TW_I32, 50, TW_AUTO, TW_AUTO, 64};
    char path[4096];
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
    tw_mpi_graph *graph = NULL;
    snprintf(path, sizeof path, "%s/rows-%d.raw", folder, ranks);
    arcs a = make_arcs(&c, 5);
    tw_graph *part = make_graph(&c, &a, rank, ranks);
    opts.sources = sources;
    opts.source_count = 6;
    opts.targets = targets;
    opts.target_count = 3;
    opts.cutoff = 60;
    opts.block = 64;
    opts.method = TW_APSP_METHOD_CLOSURE;
    out.path = path;
    out.verify = 0;
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
    check(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), c.name);
    if (rank == 0) {
        int32_t right[18];
        tw_matrix matrix = {right, 6, 3, 3, TW_I32};
        tw_graph *whole = make_graph(&c, &a, 0, 1);
        memset(right, 0xA5, sizeof right);
        check(tw_apsp(ctx, &matrix, whole, &opts), "one process");
        void *given = read_all(path, sizeof right);
        const bool same = given != NULL && memcmp(given, right, sizeof right) == 0;
        passed += same;
        failures += !same;
        if (!same) {
            fprintf(stderr, "FAILED on %d ranks: %s\n", ranks, c.name);
        }
        free(given);
        tw_graph_destroy(whole);
    }
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    free(a.from);
    free(a.to);
    free(a.weight);
}

static void expect(tw_status status, tw_status wanted, const char *sentence, const char *what)
{
    const bool fine = status == wanted && strstr(tw_last_error(ctx), sentence) != NULL;
    passed += fine && rank == 0;
    failures += !fine;
    if (!fine) {
        fprintf(stderr, "FAILED on rank %d of %d: %s: status %d, '%s'\n", rank, ranks, what,
                (int)status, tw_last_error(ctx));
    }
}

/* However far behind their beginning. */
static void differences_show_in_long_texts(const tw_mpi_graph *graph)
{
    const char *end = rank == ranks - 1 ? "mine" : "yours";
    char text[3000];
    tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
    for (size_t length = 80; length < 2800; length += length / 2) {
        memset(text, 'x', length);
        snprintf(text + length, sizeof text - length, "%s.npy", end);
        out.path = text;
        expect(tw_mpi_apsp(ctx, graph, NULL, &out, NULL), TW_ERR_ARGUMENT, "the output",
               "two long outputs");
        expect(TW_ERR_ARGUMENT, TW_ERR_ARGUMENT,
               length < 900 ? "xmine.npy and rank 0 " : "give all ranks the same", "what differs");
        out.path = NULL;
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        opts.checkpoint = text;
        expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_ARGUMENT, "the checkpoint",
               "two long checkpoints");
    }
}

static void ways_of_reading_are_compared(void)
{
    const bool other = rank == ranks - 1;
    const double nothing = 0;
    char name[4096 + 64];
    tw_mpi_graph *graph = NULL;
    snprintf(name, sizeof name, "%s/read-%d.gr", folder, ranks);
    if (rank == 0) {
        FILE *file = fopen(name, "w");
        check(file != NULL && fputs("p sp 2 1\na 1 2 3\n", file) >= 0 && fclose(file) == 0
                  ? TW_OK
                  : TW_ERR_IO,
              "a file");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    opts.directed = other ? TW_GRAPH_DIRECTED_NO : TW_GRAPH_DIRECTED_YES;
    expect(tw_mpi_graph_read(ctx, &graph, MPI_COMM_WORLD, name, &opts), TW_ERR_ARGUMENT,
           "rank 0 was given directed edges and rank ", "directed and undirected");
    opts = (tw_graph_read_options)TW_GRAPH_READ_OPTIONS_INIT;
    opts.no_edge = other ? &nothing : NULL;
    expect(tw_mpi_graph_read(ctx, &graph, MPI_COMM_WORLD, name, &opts), TW_ERR_ARGUMENT,
           "was given the entry for no edge 0 and rank 0 was not", "an entry for no edge");
    if (rank == 0) {
        remove(name);
    }
}

/* What is wrong with one rank is told to all of them, and nobody waits. */
static void failures_are_shared(void)
{
    const graph_case c = {"failures", 100, 9, false, 1, TW_I32, 5000, TW_AUTO, TW_AUTO, 0};
    const graph_case other = {"failures", 101, 3, false, 1, TW_I32, 50, TW_AUTO, TW_AUTO, 0};
    const int last = ranks - 1;
    arcs a = make_arcs(&c, 5);
    tw_graph *part = make_graph(&c, &a, rank, ranks);
    tw_graph *odd = make_graph(&other, &a, rank, ranks);
    tw_mpi_graph *graph = NULL;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
    expect(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, NULL), TW_ERR_ARGUMENT,
           "no rank gives a part", "no part at all");
    if (ranks > 1) {
        expect(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, rank == last ? odd : part),
               TW_ERR_ARGUMENT, "100 vertices, but another rank's has 101", "parts of two sizes");
    }
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, rank == 0 ? part : NULL), "a part");
    if (ranks > 1) {
        opts.block = rank == last ? 64 : 128;
        expect(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), TW_ERR_ARGUMENT,
               "was given the block 64 and rank 0 128", "two blocks");
        opts.block = 0;
        out.path = rank == last ? "here.npy" : NULL;
        expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_ARGUMENT,
               "was given the output here.npy and rank 0 was not;", "two outputs");
        out.path = NULL;
        differences_show_in_long_texts(graph);
        ways_of_reading_are_compared();
    }
    opts.method = TW_APSP_METHOD_REFERENCE;
    expect(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), TW_ERR_UNSUPPORTED, "method reference",
           "a method that is not there");
    opts.method = TW_APSP_METHOD_CLOSURE;
    const int32_t beyond[] = {100};
    if (rank == last) {
        opts.sources = beyond;
        opts.source_count = 1;
    }
    expect(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), TW_ERR_ARGUMENT, "100",
           "a vertex that is not there, on one rank");
    opts.sources = NULL;
    out.path = "/nowhere/at/all.npy";
    expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_IO, "/nowhere/at/all.npy",
           "no such folder");
    out.path = "matrix.png";
    expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_ARGUMENT, ".png", "an image");
    out.path = NULL;
    opts.work_type = TW_U8;
    const tw_status narrow = tw_mpi_apsp(ctx, graph, &opts, NULL, NULL);
    expect(narrow, TW_ERR_RANGE, "u8", "a type that is too narrow");
    opts.work_type = TW_AUTO;
    check(tw_set_memory(ctx, rank == last ? 20000 : 0), "a limit");
    expect(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), TW_ERR_MEMORY, "memory",
           "no memory on one rank");
    check(tw_set_memory(ctx, 0), "no limit");
    if (rank == last) {
        tw_cancel(ctx);
    }
    expect(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), TW_ERR_CANCELLED, "stopped on request",
           "cancelled on one rank");
    tw_clear_cancel(ctx);
    check(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), "again after all that");
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(odd);
    tw_graph_destroy(part);
    free(a.from);
    free(a.to);
    free(a.weight);
}

/* A communicator of some ranks, in another order. */
static void any_communicator_will_do(void)
{
    const graph_case c = {"some ranks", 200, 3, true, 1, TW_I32, 50, TW_AUTO, TW_AUTO, 64};
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, ranks - rank, &some);
    arcs a = make_arcs(&c, 7);
    int size, at;
    MPI_Comm_size(some, &size);
    MPI_Comm_rank(some, &at);
    tw_graph *part = make_graph(&c, &a, at, size);
    tw_mpi_graph *graph = NULL;
    tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
    tw_mpi_apsp_report report = TW_MPI_APSP_REPORT_INIT;
    out.verify = 3;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    opts.method = TW_APSP_METHOD_CLOSURE;
    check(tw_mpi_graph_from_parts(ctx, &graph, some, part), "the parts");
    check(tw_mpi_apsp(ctx, graph, &opts, &out, &report), c.name);
    passed += report.ranks == size && report.verified_rows == 3 && rank == 0;
    failures += report.ranks != size || report.verified_rows != 3;
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    MPI_Comm_free(&some);
    free(a.from);
    free(a.to);
    free(a.weight);
}

static const graph_case fixed[] = {
    {"nothing", 0, 0, false, 1, TW_I32, 1, TW_AUTO, TW_AUTO, 0},
    {"one vertex", 1, 0, false, 1, TW_I32, 1, TW_AUTO, TW_AUTO, 0},
    {"two vertices", 2, 2, true, 1, TW_I32, 9, TW_AUTO, TW_AUTO, 0},
    {"fewer vertices than ranks", 5, 2, false, 1, TW_I32, 9, TW_AUTO, TW_AUTO, 0},
    {"no arcs", 130, 0, false, 1, TW_I32, 9, TW_AUTO, TW_AUTO, 64},
    {"u8", 150, 20, false, 1, TW_I32, 20, TW_AUTO, TW_U8, 64},
    {"u16", 150, 5, false, 1, TW_I32, 900, TW_AUTO, TW_U16, 64},
    {"i32", 150, 3, false, 1, TW_I32, 1e6, TW_AUTO, TW_I32, 64},
    {"i32 worked in f64", 150, 3, true, 1, TW_I32, 1e9, TW_F64, TW_AUTO, 64},
    {"f32", 300, 5, false, 1, TW_F32, 1, TW_AUTO, TW_AUTO, 64},
    {"f32, undirected", 300, 5, true, 1, TW_F32, 1, TW_AUTO, TW_AUTO, 64},
    {"f32 as f64", 200, 5, false, 1, TW_F32, 1, TW_F64, TW_AUTO, 0},
    {"f64", 300, 5, false, 1, TW_F64, 1, TW_AUTO, TW_AUTO, 64},
    {"f64, undirected", 300, 5, true, 1, TW_F64, 1, TW_AUTO, TW_AUTO, 64},
    {"components", 700, 3, false, 5, TW_I32, 100, TW_AUTO, TW_AUTO, 64},
    {"components, undirected", 700, 3, true, 5, TW_I32, 100, TW_AUTO, TW_AUTO, 64},
    {"components of floats", 500, 3, true, 3, TW_F64, 1, TW_AUTO, TW_AUTO, 64},
    {"far apart", 400, 1.5, false, 2, TW_I32, 30000, TW_AUTO, TW_AUTO, 64}, /* widens */
    {"far apart, undirected", 400, 1.2, true, 2, TW_I32, 300, TW_AUTO, TW_AUTO, 64},
    {"the plan's own block", 700, 4, false, 1, TW_F64, 1, TW_AUTO, TW_AUTO, 0},
    {"the plan's own block, undirected", 700, 4, true, 1, TW_F32, 1, TW_AUTO, TW_AUTO, 0},
};

/* Enough arcs for several threads of each rank to sort them, many of the same two vertices. */
static void threads_sort_arcs_as_one_does(void)
{
    static const graph_case many[] = {
        {"many arcs in u8", 300, 300, false, 1, TW_I32, 90, TW_U8, TW_AUTO, 64},
        {"many arcs in u16, undirected", 299, 300, true, 1, TW_I32, 900, TW_U16, TW_AUTO, 64},
        {"many arcs in i32", 301, 300, false, 1, TW_I32, 1e6, TW_I32, TW_AUTO, 64},
        {"many arcs in i32, undirected", 257, 400, true, 3, TW_I32, 1e6, TW_I32, TW_AUTO, 64},
        {"many arcs in f32", 290, 300, false, 1, TW_F32, 1, TW_AUTO, TW_AUTO, 64},
        {"many arcs in f64, undirected", 290, 300, true, 1, TW_F64, 1, TW_AUTO, TW_AUTO, 64},
    };
    check(tw_set_threads(ctx, 3), "threads");
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        (void)run_case(&many[i], 130 + i);
    }
    check(tw_set_threads(ctx, ranks <= 2 ? 2 : 1), "threads");
}

/* ----------------------------------------------------------------- ranks that help each other */

static int slow = -1;             /* this rank ends no task of its rest before another was taken */
static atomic_llong cancel_after; /* looks for a task of this rank; 0: never */
static int machines = 1;          /* that ranks seem to run on, in turn */
static int64_t no_file_at = 0;  /* which of the next anonymous files there are none for; 0: none */
static bool no_mapping = false; /* of other ranks */

bool __wrap_twi_board_claim(twi_board *board, twi_round *round, int64_t *task);
bool __real_twi_board_claim(twi_board *board, twi_round *round, int64_t *task);
int __wrap_MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out);
int __real_MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out);
int __wrap_memfd_create(const char *name, unsigned flags);
int __real_memfd_create(const char *name, unsigned flags);
void *__wrap_twi_common_map(pid_t pid, int fd, uint64_t bytes);
void *__real_twi_common_map(pid_t pid, int fd, uint64_t bytes);

/* The owner's claims; those of who helps are not seen here. */
bool __wrap_twi_board_claim(twi_board *board, twi_round *round, int64_t *task)
{
    const bool claimed = __real_twi_board_claim(board, round, task);
    if (claimed && slow == rank) {
        const unsigned long long left = atomic_load(&board->open);
        while ((uint32_t)left > 0 && atomic_load(&board->open) == left) {
            sched_yield();
        }
    }
    if (atomic_load(&cancel_after) > 0 && atomic_fetch_sub(&cancel_after, 1) == 1) {
        tw_cancel(ctx);
    }
    return claimed;
}

int __wrap_MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
    int at = 0;
    MPI_Comm_rank(comm, &at);
    return machines > 1 ? MPI_Comm_split(comm, at % machines, key, out)
                        : __real_MPI_Comm_split_type(comm, type, key, info, out);
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
    return no_file_at > 0 && --no_file_at == 0 ? -1 : __real_memfd_create(name, flags);
}

void *__wrap_twi_common_map(pid_t pid, int fd, uint64_t bytes)
{
    return no_mapping ? NULL : __real_twi_common_map(pid, fd, bytes);
}

static void judge(bool fine, const char *what, long long number)
{
    passed += fine && rank == 0;
    failures += !fine;
    if (!fine) {
        fprintf(stderr, "FAILED on rank %d of %d: %s (%lld): %s\n", rank, ranks, what, number,
                tw_last_error(ctx));
    }
}

static const graph_case helped_cases[] = {
    {"help: i32", 300, 4, false, 1, TW_I32, 1e6, TW_AUTO, TW_I32, 64},
    {"help: i32, undirected", 320, 4, true, 1, TW_I32, 1e6, TW_AUTO, TW_I32, 64},
    {"help: u16", 257, 5, false, 1, TW_I32, 900, TW_AUTO, TW_U16, 64},
    {"help: u16, undirected", 255, 5, true, 1, TW_I32, 900, TW_AUTO, TW_U16, 64},
    {"help: f32", 321, 5, false, 1, TW_F32, 1, TW_AUTO, TW_AUTO, 64},
    {"help: f32, undirected", 319, 5, true, 1, TW_F32, 1, TW_AUTO, TW_AUTO, 64},
    {"help: components", 500, 3, false, 4, TW_I32, 100, TW_AUTO, TW_AUTO, 64},
    {"help: components, undirected", 500, 3, true, 4, TW_F64, 1, TW_AUTO, TW_AUTO, 64},
    {"help: a last tile of one", 65, 4, false, 1, TW_I32, 70, TW_AUTO, TW_AUTO, 64},
    {"help: far apart, widens", 400, 1.5, false, 2, TW_I32, 30000, TW_AUTO, TW_AUTO, 64},
};

static void idle_ranks_help_a_slow_one(void)
{
    const size_t step = ranks > 4 ? 3 : 1; /* many ranks take long turns on few processors */
    for (size_t i = 0; i < sizeof helped_cases / sizeof *helped_cases; i += step) {
        slow = ranks == 1 ? -1 : i % 2 == 0 ? 0 : (ranks - 1) / 2;
        check(tw_set_threads(ctx, i % 3 == 2 && rank != slow ? 2 : 1), "threads");
        const outcome seen = run_case(&helped_cases[i], 200 + i);
        judge(ranks == 1 ? seen.helped == 0 : seen.helped > 0, helped_cases[i].name, seen.helped);
    }
    /* Tasks of 64 rows with the one, of 32 with the others. */
    const graph_case tall = {"help: tall", 1100, 3, false, 1, TW_I32, 9, TW_AUTO, TW_AUTO, 64};
    if (ranks == 2) {
        check(tw_set_threads(ctx, rank == 0 ? 1 : 2), "threads");
        for (slow = 0; slow < 2;
             slow++) { /* of two threads one may take what the other waits for */
            const outcome seen = run_case(&tall, 220);
            judge(seen.helped > 0 || slow == 1, tall.name, seen.helped);
        }
    }
    slow = -1;
    check(tw_set_threads(ctx, 1), "threads");
}

static void ranks_of_two_machines_help_only_their_own(void)
{
    machines = 2;
    slow = ranks > 2 ? 0 : -1; /* the only one of its machine has nobody */
    for (size_t i = 0; i < 4; i++) {
        const outcome seen = run_case(&helped_cases[i], 240 + i);
        judge(ranks > 2 ? seen.helped > 0 : seen.helped == 0, "two machines", seen.helped);
    }
    machines = 1;
    slow = -1;
}

/* No memory to share on one rank: when it is tried, of the tiles, of the panels; or no way to map
 * it. */
static void no_rank_helps_where_one_cannot(void)
{
    for (int way = 0; way < 4; way++) {
        no_file_at = way < 3 && rank == ranks - 1 ? way + 1 : 0;
        no_mapping = way == 3 && rank == ranks - 1;
        const outcome seen = run_case(&helped_cases[way], 260);
        judge(seen.helped == 0, "one rank cannot share", way);
        no_file_at = 0;
        no_mapping = false;
    }
}

/* A graph of which every rank has a part. */
typedef struct parts {
    arcs a;
    tw_graph *part;
    tw_mpi_graph *graph;
} parts;

static parts open_parts(const graph_case *c)
{
    parts out = {.a = make_arcs(c, 5)};
    out.part = make_graph(c, &out.a, rank, ranks);
    check(tw_mpi_graph_from_parts(ctx, &out.graph, MPI_COMM_WORLD, out.part), "the parts");
    return out;
}

static void close_parts(parts *of)
{
    tw_mpi_graph_destroy(of->graph);
    tw_graph_destroy(of->part);
    free(of->a.from);
    free(of->a.to);
    free(of->a.weight);
}

/* Memory beyond it would raise a signal, as a file would. */
static void a_limit_of_files_ends_no_rank(void)
{
    const graph_case c = {"files", 500, 4, false, 1, TW_I32, 50, TW_AUTO, TW_I32, 64};
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_apsp_report report = TW_MPI_APSP_REPORT_INIT;
    struct rlimit files, small;
    parts of = open_parts(&c);
    tw_mpi_graph *graph = of.graph;
    opts.method = TW_APSP_METHOD_CLOSURE;
    opts.block = 64;
    judge(getrlimit(RLIMIT_FSIZE, &files) == 0, "the limit of files", 0);
    small = files;
    small.rlim_cur = rank == ranks - 1 ? 1 << 15 : files.rlim_cur;
    (void)setrlimit(RLIMIT_FSIZE, &small);
    check(tw_mpi_apsp(ctx, graph, &opts, NULL, &report), "with small files");
    (void)setrlimit(RLIMIT_FSIZE, &files);
    judge(report.helped == 0, "with small files nobody helps", report.helped);
    close_parts(&of);
}

static void helping_takes_no_memory(void)
{
    const graph_case c = {"memory", 700, 4, false, 1, TW_I32, 1e6, TW_AUTO, TW_I32, 64};
    uint64_t most[2];
    for (int i = 0; i < 2; i++) {
        tw_context *before = ctx;
        setenv("TW_MPI_HELP", i == 0 ? "never" : "auto", 1);
        if (tw_context_create(&ctx) != TW_OK) {
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        check(tw_set_threads(ctx, 1), "threads");
        most[i] = run_case(&c, 270).memory;
        tw_context_destroy(ctx);
        ctx = before;
    }
    unsetenv("TW_MPI_HELP");
    judge(most[1] >= most[0] && most[1] - most[0] < 20000, "the memory of ranks that help",
          (long long)most[1] - (long long)most[0]);
}

static void cancelled_ranks_do_not_wait_for_help(void)
{
    const graph_case c = {"cancelled", 1200, 4, false, 1, TW_I32, 50, TW_AUTO, TW_AUTO, 64};
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    parts of = open_parts(&c);
    tw_mpi_graph *graph = of.graph;
    opts.method = TW_APSP_METHOD_CLOSURE;
    opts.block = 64;
    for (int after = 1; after < 5; after++) { /* it looks once a round, of which 5 are the fewest */
        atomic_store(&cancel_after, rank == ranks / 2 ? after : 0);
        expect(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), TW_ERR_CANCELLED, "stopped on request",
               "cancelled amid tasks");
        atomic_store(&cancel_after, 0);
        tw_clear_cancel(ctx);
    }
    check(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), "again after that");
    close_parts(&of);
}

static void help_is_switched_alike(void)
{
    const graph_case c = {"switch", 200, 4, false, 1, TW_I32, 50, TW_AUTO, TW_AUTO, 64};
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    parts of = open_parts(&c);
    tw_mpi_graph *graph = of.graph;
    opts.method = TW_APSP_METHOD_CLOSURE;
    for (int way = 0; way < 3; way++) {
        static const int told[] = {TWI_HELP_ON, TWI_HELP_OFF, TWI_HELP_REFUSED};
        tw_mpi_forecast forecast = TW_MPI_FORECAST_INIT;
        setenv("TW_MPI_HELP", way == 1 ? "never" : "auto", 1);
        no_file_at = way == 2 && rank == 0 ? 1 : 0;
        check(tw_mpi_apsp_explain(ctx, graph, &opts, NULL, &forecast), "explain");
        judge(forecast.help == (ranks > 1 ? told[way] : TWI_HELP_NONE), "the forecast", way);
    }
    no_file_at = 0;
    setenv("TW_MPI_HELP", "never", 1);
    judge(run_case(&helped_cases[0], 280).helped == 0, "TW_MPI_HELP=never", 0);
    setenv("TW_MPI_HELP", rank == ranks - 1 ? "maybe" : "auto", 1);
    expect(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), TW_ERR_ARGUMENT,
           "TW_MPI_HELP=maybe is unknown; use auto or never", "an unknown word");
    setenv("TW_MPI_HELP", rank == ranks - 1 ? "never" : "auto", 1);
    if (ranks > 1) {
        expect(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), TW_ERR_ARGUMENT,
               "was given TW_MPI_HELP never and rank 0 auto", "two words");
    }
    unsetenv("TW_MPI_HELP");
    close_parts(&of);
}

int main(int argc, char **argv)
{
    static const int64_t edges[] = {63, 64, 65, 127, 128, 129, 255, 257};
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    folder = argc > 1 ? argv[1] : ".";
    if (tw_context_create(&ctx) != TW_OK) {
        return 2;
    }
    check(tw_set_threads(ctx, ranks <= 2 ? 2 : 1), "threads");
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        (void)run_case(&fixed[i], 11 + i);
    }
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        graph_case c = {"an edge", edges[i], 4, i % 2 == 0, 1, TW_I32, 70, TW_AUTO, TW_AUTO, 64};
        (void)run_case(&c, 50 + i);
        c.undirected = !c.undirected;
        c.weights = TW_F64;
        (void)run_case(&c, 70 + i);
    }
    threads_sort_arcs_as_one_does();
    pick_rows_and_columns();
    failures_are_shared();
    any_communicator_will_do();
    idle_ranks_help_a_slow_one();
    ranks_of_two_machines_help_only_their_own();
    no_rank_helps_where_one_cannot();
    a_limit_of_files_ends_no_rank();
    helping_takes_no_memory();
    cancelled_ranks_do_not_wait_for_help();
    help_is_switched_alike();
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks: %d checks passed, %d failed\n", ranks, passed, all);
    }
    tw_context_destroy(ctx);
    MPI_Finalize();
    return all == 0 && (rank != 0 || passed > 0) ? 0 : 1;
}
