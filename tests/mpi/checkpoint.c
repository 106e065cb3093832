/*
 * Checkpoints over ranks: run by mpirun, six ranks at best. Some of them begin a closure, or one
 * process does, and are stopped after a round; others, or one process, go on from the file. The
 * result has the bytes of one process that was never stopped. What else may lie under the name of a
 * checkpoint is refused by all.
 *
 *     mpirun -n 6 test_mpi_checkpoint FOLDER
 */
#include <tilewright-mpi.h>

#include "apsp/closure/cpu.h"
#include "io/checkpoint.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ALONE = 0 };
static int64_t block; /* that kernels of all types work with */

static tw_context *ctx;
static int rank, ranks, failures, passed;
static char file[4096], previous[4096], out_path[4096];
static char said[4096];

static void listen(void *user, const char *sentence)
{
    (void)user;
    const size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s\n", sentence);
}

static void check(tw_status status, const char *what)
{
    if (status != TW_OK) {
        fprintf(stderr, "rank %d: %s: %s\n", rank, what, tw_last_error(ctx));
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void judge(bool fine, const char *what, const char *name, int writer, int reader)
{
    passed += fine;
    failures += !fine;
    if (!fine) {
        fprintf(stderr, "FAILED: %s (%s, %d ranks, then %d): %s\n", what, name, writer, reader,
                said);
    }
}

typedef struct graph_case {
    const char *name;
    int64_t tiles, rest; /* so many more vertices */
    double arcs;         /* per vertex */
    bool undirected;
    tw_type weights;
    double heaviest;
    tw_type work_type;
} graph_case;

static const graph_case cases[] = {
    {"u8", 5, 3, 30, false, TW_I32, 9, TW_AUTO},
    {"15 bits", 4, 0, 30, true, TW_I32, 900, TW_AUTO},
    {"i32", 5, -1, 20, false, TW_I32, 1e6, TW_I32},
    {"i32 undirected", 5, 1, 4, true, TW_I32, 1e6, TW_I32},
    {"components", 4, 9, 0.7, false, TW_I32, 50, TW_AUTO},
    {"f32", 4, 1, 20, false, TW_F32, 10, TW_F32},
    {"f64 undirected", 4, 33, 9, true, TW_F64, 10, TW_AUTO},
};
enum { CASES = sizeof cases / sizeof *cases };

static int64_t vertices(const graph_case *c)
{
    return c->tiles * block + c->rest;
}

/* Arcs first, first + step, ... of the graph. */
static tw_graph *make_graph(const graph_case *c, uint64_t seed, int first, int step)
{
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    const int64_t all = (int64_t)(c->arcs * (double)vertices(c));
    int32_t *from = malloc((size_t)all * sizeof *from + 1);
    int32_t *to = malloc((size_t)all * sizeof *to + 1);
    double *weight = malloc((size_t)all * sizeof *weight + 8);
    int64_t count = 0;
    uint64_t state = seed;
    for (int64_t i = 0; i < all; i++) {
        uint64_t drawn[3];
        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            drawn[k] = state >> 33;
        }
        if (i % step != first) {
            continue;
        }
        from[count] = (int32_t)(drawn[0] % (uint64_t)vertices(c));
        to[count] = (int32_t)(drawn[1] % (uint64_t)vertices(c));
        const double w = (double)drawn[2] / 0x1p31 * c->heaviest;
        if (c->weights == TW_I32) {
            ((int32_t *)weight)[count++] = (int32_t)w;
        } else if (c->weights == TW_F32) {
            ((float *)weight)[count++] = (float)w;
        } else {
            weight[count++] = w;
        }
    }
    edges.count = count;
    edges.source = from;
    edges.target = to;
    edges.weight = weight;
    edges.weight_type = c->weights;
    check(tw_graph_from_edges(ctx, &graph, vertices(c), &edges,
                              c->undirected ? TW_GRAPH_UNDIRECTED : 0),
          "a graph");
    free(from);
    free(to);
    free(weight);
    return graph;
}

/* Asks for the end when that many rounds are done. */
static int64_t rounds_left;

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

static tw_apsp_options options_of(const graph_case *c)
{
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    opts.method = TW_APSP_METHOD_CLOSURE;
    opts.work_type = c->work_type;
    opts.block = (int32_t)block;
    opts.checkpoint = file;
    opts.checkpoint_every = 0;
    return opts;
}

static size_t bytes_of(const graph_case *c)
{
    return (size_t)(vertices(c) * vertices(c)) * tw_type_size(c->weights);
}

/* On the first `count` ranks, or on rank 0 without the others (ALONE): the result into `out_path`.
 * Whoever takes part has the status. */
static tw_status run(const graph_case *c, uint64_t seed, int count, const tw_apsp_options *opts)
{
    tw_status status = TW_OK;
    if (count == ALONE) {
        if (rank == 0) {
            tw_graph *graph = make_graph(c, seed, 0, 1);
            tw_apsp_plan *plan = NULL;
            tw_sink sink = TW_SINK_INIT;
            check(tw_sink_to_file(ctx, &sink, out_path, "raw"), "a sink");
            status = tw_apsp_plan_create(ctx, &plan, graph, opts);
            if (status == TW_OK) {
                status = tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL);
            }
            tw_apsp_plan_destroy(plan);
            tw_sink_destroy(&sink);
            tw_graph_destroy(graph);
        }
    } else {
        MPI_Comm some;
        MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &some);
        if (rank < count) {
            tw_graph *part = make_graph(c, seed, rank, count);
            tw_mpi_graph *graph = NULL;
            tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
            out.path = out_path;
            check(tw_mpi_graph_from_parts(ctx, &graph, some, part), "the parts");
            status = tw_mpi_apsp(ctx, graph, opts, &out, NULL);
            tw_mpi_graph_destroy(graph);
            tw_graph_destroy(part);
            MPI_Comm_free(&some);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return status;
}

/* A run that is stopped after so many rounds; they are on the disk. */
static tw_status stop_after(const graph_case *c, uint64_t seed, int count, int64_t rounds)
{
    tw_apsp_options opts = options_of(c);
    rounds_left = rounds;
    if (rank == 0) {
        tw_set_progress(ctx, count_rounds, NULL);
    }
    const tw_status status = run(c, seed, count, &opts);
    tw_set_progress(ctx, NULL, NULL);
    tw_clear_cancel(ctx);
    return status;
}

static char *read_result(const graph_case *c)
{
    char *data = malloc(bytes_of(c) + 1);
    FILE *in = fopen(out_path, "rb");
    const size_t got = in != NULL ? fread(data, 1, bytes_of(c) + 1, in) : 0;
    if (in != NULL) {
        fclose(in);
    }
    unlink(out_path);
    if (got != bytes_of(c)) {
        free(data);
        data = NULL;
    }
    return data;
}

static char *never_stopped(const graph_case *c, uint64_t seed)
{
    tw_apsp_options opts = options_of(c);
    opts.checkpoint = NULL;
    check(run(c, seed, ALONE, &opts), "one process");
    return rank == 0 ? read_result(c) : NULL;
}

static twi_state state_of(const char *path)
{
    twi_state state = {0};
    char header[TWI_CHECKPOINT_HEADER] = "", why[TWI_STATE_WHY];
    FILE *in = fopen(path, "rb");
    if (in != NULL && fread(header, 1, sizeof header, in) == sizeof header) {
        fseek(in, 0, SEEK_END);
        (void)twi_state_parse(&state, header, sizeof header, (uint64_t)ftell(in), why);
    }
    if (in != NULL) {
        fclose(in);
    }
    return state;
}

/* Stopped on some ranks after `rounds`, finished on others. */
static void goes_on(const graph_case *c, uint64_t seed, int writer, int reader, int64_t rounds,
                    const char *right)
{
    char words[80];
    const tw_status stopped = stop_after(c, seed, writer, rounds);
    if (rank < writer || (writer == ALONE && rank == 0)) {
        judge(stopped == TW_ERR_CANCELLED, "it is stopped", c->name, writer, reader);
    }
    said[0] = '\0';
    tw_apsp_options opts = options_of(c);
    if (rank == 0) {
        const twi_state kept = state_of(file);
        judge(kept.done == rounds * kept.block, "it has come so far", c->name, writer, reader);
        snprintf(words, sizeof words, ": %lld of %lld vertices are done", (long long)kept.done,
                 (long long)vertices(c));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(run(c, seed, reader, &opts), c->name);
    if (rank == 0) {
        judge(strstr(said, words) != NULL, words, c->name, writer, reader);
        char *got = read_result(c);
        judge(got != NULL && memcmp(got, right, bytes_of(c)) == 0, "the same bytes", c->name,
              writer, reader);
        free(got);
        judge(access(file, F_OK) != 0 && access(previous, F_OK) != 0, "nothing is left", c->name,
              writer, reader);
    }
}

static int at_most(int count)
{
    return count < ranks ? count : ranks;
}

/* From any number of ranks to any other. */
static void runs_go_on_on_any_number_of_ranks(void)
{
    static const int pairs[][2] = {{1, 3}, {4, 1}, {2, 6}, {6, 4}, {ALONE, 4}, {3, ALONE}, {6, 2}};
    for (int k = 0; k < CASES; k++) {
        const uint64_t seed = 100 + (uint64_t)k;
        char *right = never_stopped(&cases[k], seed);
        for (int p = k % 2; p < 7; p += 2) {
            goes_on(&cases[k], seed, at_most(pairs[p][0]), at_most(pairs[p][1]), 1 + (k + p) % 3,
                    right);
        }
        free(right);
    }
}

/* From every round on. */
static void runs_go_on_from_every_round(void)
{
    for (int k = 2; k < CASES; k += 2) {
        const uint64_t seed = 300 + (uint64_t)k;
        char *right = never_stopped(&cases[k], seed);
        for (int64_t rounds = 1; rounds < cases[k].tiles; rounds++) {
            goes_on(&cases[k], seed, ranks, at_most(2), rounds, right);
        }
        free(right);
    }
}

static void overwrite(const char *path, long at, int flip, const char *text)
{
    if (rank == 0) {
        FILE *f = fopen(path, text != NULL ? "wb" : "r+b");
        if (text != NULL) {
            fputs(text, f);
        } else {
            fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
            const int c = fgetc(f);
            fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
            fputc(c ^ flip, f);
        }
        fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void is_refused(const graph_case *c, uint64_t seed, tw_status wanted, const char *words)
{
    tw_apsp_options opts = options_of(c);
    const tw_status status = run(c, seed, ranks, &opts);
    judge(status == wanted && strstr(tw_last_error(ctx), words) != NULL, words, tw_last_error(ctx),
          ranks, ranks);
}

static void remove_both(void)
{
    if (rank == 0) {
        unlink(file);
        unlink(previous);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void what_is_damaged_or_foreign_is_found(void)
{
    const graph_case *c = &cases[3], *other = &cases[2];
    tw_apsp_options opts = options_of(c);
    char *right = never_stopped(c, 7);
    (void)stop_after(c, 7, ranks, 2);
    overwrite(file, -3, 4, NULL); /* the last row */
    said[0] = '\0';
    check(run(c, 7, ranks, &opts), "the one before");
    if (rank == 0) {
        char *got = read_result(c);
        judge(strstr(said, "going back to the one before") != NULL, "it is told", c->name, ranks,
              ranks);
        judge(got != NULL && memcmp(got, right, bytes_of(c)) == 0, "the one before will do",
              c->name, ranks, ranks);
        free(got);
    }
    (void)stop_after(c, 7, ranks, 1);
    overwrite(file, -3, 4, NULL);
    is_refused(c, 7, TW_ERR_FORMAT, "is damaged, and there is no earlier one; remove it to start");
    overwrite(previous, 0, 0, "a letter to somebody\n");
    is_refused(c, 7, TW_ERR_FORMAT, "is damaged, and FILE.previous is no better; remove both to");
    if (rank == 0) {
        unlink(previous);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    overwrite(file, -3, 4, NULL);
    is_refused(c, 8, TW_ERR_ARGUMENT, "is of another graph");
    is_refused(other, 7, TW_ERR_ARGUMENT, "vertices, but this one has");
    overwrite(file, 8, 3, NULL);
    is_refused(c, 7, TW_ERR_FORMAT, "it is of format 2");
    remove_both();
    overwrite(file, 0, 0, "a letter to somebody\n");
    is_refused(c, 7, TW_ERR_FORMAT, "is not a checkpoint");
    remove_both();
    opts.checkpoint = "/nowhere/at/all";
    const tw_status status = run(c, 7, ranks, &opts);
    judge(status == TW_ERR_IO, "no folder", c->name, ranks, ranks);
    free(right);
}

/* A disk without room costs the new one alone. */
static void a_full_disk_is_told(void)
{
    const graph_case *c = &cases[2];
    struct rlimit before, small;
    char *right = never_stopped(c, 9);
    (void)stop_after(c, 9, ranks, 1);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = (rlim_t)bytes_of(c) + 100; /* room for the result */
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    said[0] = '\0';
    const tw_status stopped = stop_after(c, 9, ranks, 2); /* goes on, and cannot write */
    setrlimit(RLIMIT_FSIZE, &before);
    judge(stopped == TW_ERR_CANCELLED, "it goes on", c->name, ranks, ranks);
    if (rank == 0) {
        judge(strstr(said, "cannot write checkpoint") != NULL, "it is told", c->name, ranks, ranks);
    }
    said[0] = '\0';
    tw_apsp_options opts = options_of(c);
    check(run(c, 9, at_most(3), &opts), "after a full disk");
    if (rank == 0) {
        char *got = read_result(c);
        judge(strstr(said, "resuming from checkpoint") != NULL, "the old one is there", c->name,
              ranks, 3);
        judge(got != NULL && memcmp(got, right, bytes_of(c)) == 0, "the same bytes", c->name, ranks,
              3);
        free(got);
    }
    free(right);
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
    tw_set_log(ctx, listen, NULL);
    check(tw_set_threads(ctx, 1), "one thread");
    twi_isa isa;
    check(twi_isa_resolve(ctx, &isa), "an instruction set");
    block = twi_block_round(twi_minplus_kernel_find(isa, TW_U8), 10000, 64);
    snprintf(file, sizeof file, "%s/checkpoint-%d", argv[1], ranks);
    snprintf(previous, sizeof previous, "%s/checkpoint-%d.previous", argv[1], ranks);
    snprintf(out_path, sizeof out_path, "%s/checkpoint-%d.raw", argv[1], ranks);
    remove_both();
    runs_go_on_on_any_number_of_ranks();
    runs_go_on_from_every_round();
    what_is_damaged_or_foreign_is_found();
    a_full_disk_is_told();
    int sums[2] = {failures, passed};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks: %d passed, %d failed\n", ranks, sums[1], sums[0]);
    }
    tw_context_destroy(ctx);
    MPI_Finalize();
    return sums[0] == 0 ? 0 : 1;
}
