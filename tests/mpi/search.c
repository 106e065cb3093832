/*
 * Searches and sweeps over ranks against tw_apsp on one: run by mpirun, with any number of ranks.
 * Every rank makes the same graphs, gives every so-many-th arc of them as its part, and searches
 * with the others into a file and a summary; both have the bytes that one process gives them, and
 * whole numbers those of the plain reference, which shares nothing with either.
 *
 * All ranks of a test are on one machine. MPI's function that tells machines apart is therefore
 * replaced by one that tells of as many as the test likes.
 *
 *     mpirun -n 4 test_mpi_search FOLDER
 */
#include "ranks.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;
static int machine_ranks; /* of a machine; 0: all */

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
    int at;
    MPI_Comm_rank(comm, &at);
    return machine_ranks > 0 ? PMPI_Comm_split(comm, at / machine_ranks, key, out)
                             : PMPI_Comm_split_type(comm, type, key, info, out);
}

typedef struct graph_case {
    const char *name;
    int64_t n;
    double arcs; /* per vertex */
    bool undirected;
    int parts;       /* that no arc joins; vertices lie in runs */
    tw_type weights; /* TW_I32, TW_F32, TW_F64 */
    double lightest, heaviest;
    tw_apsp_method method;
    tw_type type;
    double cutoff; /* -1: none */
    int near;      /* arcs join vertices at most so far apart, as in a long strip; 0: any */
} graph_case;

static void judge(bool fine, const char *what, const char *more)
{
    passed += fine && rank == 0;
    failures += !fine;
    if (!fine) {
        fprintf(stderr, "FAILED on rank %d of %d: %s: %s\n", rank, ranks, what, more);
    }
}

static int64_t pick_target(const graph_case *c, int64_t u)
{
    const int64_t part = u * c->parts / c->n;
    int64_t begin = (part * c->n + c->parts - 1) / c->parts;
    int64_t end = ((part + 1) * c->n + c->parts - 1) / c->parts;
    if (c->near > 0) {
        begin = u - c->near > begin ? u - c->near : begin;
        end = u + c->near + 1 < end ? u + c->near + 1 : end;
    }
    return begin + (int64_t)(next_random() % (uint64_t)(end - begin));
}

static arcs make_arcs(const graph_case *c, uint64_t seed)
{
    arcs a = {.count = (int64_t)(c->arcs * (double)c->n), .size = tw_type_size(c->weights)};
    a.from = malloc((size_t)a.count * sizeof *a.from + 1);
    a.to = malloc((size_t)a.count * sizeof *a.to + 1);
    a.weight = malloc((size_t)a.count * a.size + 1);
    state = seed;
    for (int64_t i = 0; i < a.count; i++) {
        const int64_t u = (int64_t)(next_random() % (uint64_t)c->n);
        int64_t v = pick_target(c, u);
        const double share = (double)next_random() / 0x1p31;
        double weight = c->lightest + share * (c->heaviest - c->lightest);
        if (weight < 0 && v < u) { /* downhill only: no negative cycle */
            weight = -weight;
        }
        a.from[i] = (int32_t)u;
        a.to[i] = (int32_t)v;
        if (weight < 0 && u == v) {
            weight = 0;
        }
        if (c->weights == TW_I32) {
            ((int32_t *)a.weight)[i] = (int32_t)weight;
        } else if (c->weights == TW_F32) {
            ((float *)a.weight)[i] = (float)weight;
        } else {
            ((double *)a.weight)[i] = weight;
        }
    }
    return a;
}

static void free_arcs(arcs *a)
{
    free(a->from);
    free(a->to);
    free(a->weight);
}

/* The graph of the arcs from `first` on, up to `end`: what a rank would have read of a file. */
static tw_graph *make_graph(const graph_case *c, const arcs *a, int64_t first, int64_t end)
{
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    edges.count = end - first;
    edges.source = a->from + first;
    edges.target = a->to + first;
    edges.weight = a->weight + (size_t)first * a->size;
    edges.weight_type = c->weights;
    check(tw_graph_from_edges(ctx, &graph, c->n, &edges, c->undirected ? TW_GRAPH_UNDIRECTED : 0),
          "a graph");
    return graph;
}

static tw_graph *make_part(const graph_case *c, const arcs *a, int at, int of)
{
    return make_graph(c, a, a->count * at / of, a->count * (at + 1) / of);
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

static bool same_numbers(const void *a, const void *b, size_t bytes)
{
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, bytes) == 0);
}

static bool same_summaries(const tw_apsp_summary *a, const tw_apsp_summary *b)
{
    tw_apsp_summary_info x = TW_APSP_SUMMARY_INFO_INIT, y = TW_APSP_SUMMARY_INFO_INIT;
    const double *edges[2];
    const int64_t *counts[2];
    check(tw_apsp_summary_describe(a, &x), "a summary");
    check(tw_apsp_summary_describe(b, &y), "a summary");
    const size_t bytes = (size_t)x.rows * 8;
    const int32_t bins = tw_apsp_summary_histogram(a, &edges[0], &counts[0]);
    return x.rows == y.rows && x.cols == y.cols && x.type == y.type && x.reachable == y.reachable &&
           x.unreachable == y.unreachable && x.diameter == y.diameter &&
           x.diameter_from == y.diameter_from && x.diameter_to == y.diameter_to &&
           x.radius == y.radius && x.center == y.center && x.mean == y.mean &&
           x.minimum == y.minimum &&
           same_numbers(tw_apsp_summary_eccentricity(a), tw_apsp_summary_eccentricity(b), bytes) &&
           same_numbers(tw_apsp_summary_closeness(a), tw_apsp_summary_closeness(b), bytes) &&
           same_numbers(tw_apsp_summary_sum(a), tw_apsp_summary_sum(b), bytes) &&
           same_numbers(tw_apsp_summary_reached(a), tw_apsp_summary_reached(b), bytes) &&
           same_numbers(tw_apsp_summary_harmonic(a), tw_apsp_summary_harmonic(b), bytes) &&
           bins == tw_apsp_summary_histogram(b, &edges[1], &counts[1]) &&
           (bins == 0 || (memcmp(edges[0], edges[1], ((size_t)bins + 1) * 8) == 0 &&
                          memcmp(counts[0], counts[1], (size_t)bins * 8) == 0));
}

static tw_apsp_summary *make_summary(const tw_apsp_options *opts, bool full)
{
    tw_apsp_summary *summary = NULL;
    check(tw_apsp_summary_create(ctx, &summary, full ? 7 : 0, opts->sources, opts->targets),
          "a summary");
    check(tw_apsp_summary_set_harmonic(ctx, summary, full), "a summary");
    return summary;
}

/* What one process makes of it: the matrix, and the summary of its rows. */
static void *run_alone(const tw_graph *graph, const tw_apsp_options *opts, tw_type type,
                       tw_apsp_summary *summary, size_t *bytes)
{
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    tw_apsp_plan *plan = NULL;
    tw_sink sinks[2] = {TW_SINK_INIT, TW_SINK_INIT};
    check(tw_graph_describe(graph, &about), "a graph");
    const int64_t rows = opts->sources != NULL ? opts->source_count : about.vertices;
    const int64_t cols = opts->targets != NULL ? opts->target_count : about.vertices;
    *bytes = (size_t)(rows * cols) * tw_type_size(type);
    void *data = malloc(*bytes + 1);
    memset(data, 0xA5, *bytes);
    tw_matrix matrix = {data, rows, cols, cols, type};
    check(tw_sink_to_matrix(ctx, &sinks[0], &matrix), "a matrix");
    check(tw_apsp_summary_sink(summary, &sinks[1]), "a summary");
    check(tw_apsp_plan_create(ctx, &plan, graph, opts), "a plan");
    check(tw_apsp_plan_run(ctx, plan, sinks, 2, NULL, NULL), "one process");
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sinks[0]);
    tw_sink_destroy(&sinks[1]);
    return data;
}

/* Two ranks are enough: what one process does takes time, too. */
static bool compares(void)
{
    return rank == 0 || rank == ranks - 1;
}

/* Rows and a summary with everything; then, without a file, one of sums alone. */
static void compare(const graph_case *c, const tw_mpi_graph *graph, const tw_graph *whole,
                    const tw_apsp_options *opts, uint64_t seed)
{
    char path[4096];
    tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
    tw_mpi_apsp_report report = TW_MPI_APSP_REPORT_INIT;
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/search-%d.raw", folder, ranks);
    out.path = path;
    out.verify = 3;
    out.seed = seed;
    out.summary = make_summary(opts, true);
    tw_apsp_summary *right = make_summary(opts, true);
    check(tw_mpi_apsp(ctx, graph, opts, &out, &report), c->name);
    void *matrix = compares() ? run_alone(whole, opts, report.type, right, &bytes) : NULL;
    if (compares()) {
        judge(same_summaries(out.summary, right), c->name, "the summary differs");
    }
    judge(report.method == c->method && report.ranks == ranks &&
              report.verified_rows == (c->n < 3 ? c->n : 3),
          c->name, "the report is wrong");
    if (rank == 0) {
        void *given = read_all(path, bytes);
        judge(given != NULL && memcmp(given, matrix, bytes) == 0, c->name, "other bytes");
        free(given);
    }
    if (rank == 0 && c->weights == TW_I32 && opts->cutoff < 0 && c->n <= 310) {
        tw_apsp_options plain = *opts;
        size_t again = 0;
        plain.method = TW_APSP_METHOD_REFERENCE;
        tw_apsp_summary *unused = make_summary(opts, false);
        void *reference = run_alone(whole, &plain, report.type, unused, &again);
        judge(memcmp(reference, matrix, bytes) == 0, c->name, "not the reference's");
        tw_apsp_summary_destroy(unused);
        free(reference);
    }
    tw_apsp_summary_destroy(out.summary);
    tw_apsp_summary_destroy(right);
    free(matrix);

    tw_mpi_apsp_output less = TW_MPI_APSP_OUTPUT_INIT;
    less.summary = make_summary(opts, false);
    right = make_summary(opts, false);
    check(tw_mpi_apsp(ctx, graph, opts, &less, NULL), c->name);
    if (compares()) {
        free(run_alone(whole, opts, report.type, right, &bytes));
        judge(same_summaries(less.summary, right), c->name, "the summary of sums differs");
    }
    tw_apsp_summary_destroy(less.summary);
    tw_apsp_summary_destroy(right);
}

static void run_case(const graph_case *c, uint64_t seed)
{
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_graph *graph = NULL;
    arcs a = make_arcs(c, seed);
    tw_graph *part = make_part(c, &a, rank, ranks);
    tw_graph *whole = make_graph(c, &a, 0, a.count);
    opts.method = c->method;
    opts.type = c->type;
    opts.cutoff = c->cutoff;
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
    compare(c, graph, whole, &opts, seed);
    if (c->n >= 20) {
        const int32_t sources[] = {(int32_t)c->n - 1, 0, 3, 3, 7, (int32_t)(c->n / 2), 1};
        const int32_t targets[] = {5, (int32_t)c->n - 1, 0, 5};
        opts.sources = sources;
        opts.source_count = 7;
        compare(c, graph, whole, &opts, seed);
        opts.targets = targets;
        opts.target_count = 4;
        compare(c, graph, whole, &opts, seed);
    }
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(whole);
    tw_graph_destroy(part);
    free_arcs(&a);
}

/* The plan chooses as one process's does, and a dense graph is closed. */
static void methods_are_chosen(void)
{
    const graph_case sparse = {"sparse", 3000, 2.5, false, 1, TW_I32, 1, 900, 0, TW_AUTO, -1, 0};
    const graph_case dense = {"dense", 1100, 200, false, 1, TW_I32, 1, 900, 0, TW_AUTO, -1, 0};
    const graph_case *cases[] = {&sparse, &dense};
    for (int i = 0; i < 2; i++) {
        arcs a = make_arcs(cases[i], 3);
        tw_graph *part = make_part(cases[i], &a, rank, ranks);
        tw_mpi_graph *graph = NULL;
        tw_mpi_apsp_report report = TW_MPI_APSP_REPORT_INIT;
        check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
        check(tw_mpi_apsp(ctx, graph, NULL, NULL, &report), cases[i]->name);
        judge((report.method == TW_APSP_METHOD_CLOSURE) == (i == 1), cases[i]->name,
              tw_apsp_method_name(report.method));
        tw_mpi_graph_destroy(graph);
        tw_graph_destroy(part);
        free_arcs(&a);
    }
}

static void expect(tw_status status, tw_status wanted, const char *sentence, const char *what)
{
    judge(status == wanted && strstr(tw_last_error(ctx), sentence) != NULL, what,
          tw_last_error(ctx));
}

/* Rows pass by until one rank is cancelled. */
static void cancel_soon(void *user, const char *stage, double done, double total, const char *unit)
{
    (void)stage;
    (void)done;
    (void)total;
    (void)unit;
    tw_cancel(user);
}

/* What is wrong with one rank is told to all of them, and nobody waits. */
static void failures_are_shared(void)
{
    const graph_case c = {"failures", 9000, 3, false, 1, TW_I32, 1, 5000, TW_APSP_METHOD_DIJKSTRA,
                          TW_AUTO,    -1,   0};
    const graph_case circle = {"a circle", 60, 9, false, 1, TW_I32, -5, -1, 0, TW_AUTO, -1, 0};
    const int last = ranks - 1;
    char path[4096];
    arcs a = make_arcs(&c, 5);
    tw_graph *part = make_part(&c, &a, rank, ranks);
    tw_mpi_graph *graph = NULL;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
    snprintf(path, sizeof path, "%s/none-%d.raw", folder, ranks);
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
    opts.method = TW_APSP_METHOD_DIJKSTRA;
    out.path = path;
    check(tw_set_memory(ctx, rank == last ? 200000 : 0), "a limit");
    expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_MEMORY, "memory",
           "no memory on one rank");
    check(tw_set_memory(ctx, 0), "no limit");
    if (rank == last) {
        tw_set_progress(ctx, cancel_soon, ctx);
    }
    expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_CANCELLED, "stopped on request",
           "cancelled on one rank, in the middle");
    tw_set_progress(ctx, NULL, NULL);
    tw_clear_cancel(ctx);
    opts.type = TW_U8;
    expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_RANGE, "u8",
           "distances that the type does not hold");
    opts.type = TW_AUTO;
    opts.method = TW_APSP_METHOD_BFS;
    expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_ARGUMENT, "bfs",
           "levels of different weights");
    opts.method = TW_APSP_METHOD_DIJKSTRA;
    if (ranks > 1) {
        tw_apsp_summary *summary = make_summary(&opts, rank == last);
        out.summary = rank == last ? NULL : summary;
        expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_ARGUMENT, "was given a summary",
               "a summary on some ranks");
        out.summary = summary;
        out.path = NULL;
        expect(tw_mpi_apsp(ctx, graph, &opts, &out, NULL), TW_ERR_ARGUMENT, "histogram",
               "a histogram on one rank");
        judge(tw_apsp_summary_sum(summary) == NULL, "a summary that failed", "is not empty");
        tw_apsp_summary_destroy(summary);
        out.summary = NULL;
        out.path = path;
    }
    if (rank == 0) {
        FILE *file = fopen(path, "rb");
        judge(file == NULL, "a run that failed", "left its file");
        if (file != NULL) {
            fclose(file);
        }
    }
    check(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), "again after all that");
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    free_arcs(&a);

    a = make_arcs(&circle, 5);
    for (int64_t i = 0; i < a.count; i++) {
        ((int32_t *)a.weight)[i] = -1;
    }
    part = make_part(&circle, &a, rank, ranks);
    check(tw_mpi_graph_from_parts(ctx, &graph, MPI_COMM_WORLD, part), "the parts");
    expect(tw_mpi_apsp(ctx, graph, NULL, NULL, NULL), TW_ERR_NEGATIVE_CYCLE, "negative cycle",
           "a negative cycle");
    opts.method = TW_APSP_METHOD_CLOSURE;
    expect(tw_mpi_apsp(ctx, graph, &opts, NULL, NULL), TW_ERR_UNSUPPORTED, "negative weights",
           "a closure of negative weights");
    tw_mpi_graph_destroy(graph);
    tw_graph_destroy(part);
    free_arcs(&a);
}

#define DIJKSTRA TW_APSP_METHOD_DIJKSTRA
#define BFS TW_APSP_METHOD_BFS
#define SWEEP TW_APSP_METHOD_SWEEP

static const graph_case fixed[] = {
    {"nothing", 0, 0, false, 1, TW_I32, 1, 1, DIJKSTRA, TW_AUTO, -1, 0},
    {"one vertex", 1, 0, false, 1, TW_I32, 1, 1, DIJKSTRA, TW_AUTO, -1, 0},
    {"fewer vertices than ranks", 5, 2, false, 1, TW_I32, 1, 9, DIJKSTRA, TW_AUTO, -1, 0},
    {"fewer, swept", 5, 2, true, 1, TW_I32, 1, 9, SWEEP, TW_AUTO, -1, 0},
    {"fewer, levels", 5, 2, false, 1, TW_I32, 1, 1, BFS, TW_AUTO, -1, 0},
    {"no arcs", 40, 0, false, 1, TW_I32, 1, 9, DIJKSTRA, TW_AUTO, -1, 0},
    {"i32", 300, 3, false, 1, TW_I32, 1, 900, DIJKSTRA, TW_AUTO, -1, 0},
    {"i32, components", 301, 3, true, 5, TW_I32, 0, 900, DIJKSTRA, TW_AUTO, -1, 0},
    {"beyond i32", 200, 2, false, 1, TW_I32, 1e8, 1e9, DIJKSTRA, TW_F64, -1, 0},
    {"u16, cut off", 300, 3, false, 2, TW_I32, 1, 90, DIJKSTRA, TW_U16, 150, 0},
    {"f32", 300, 4, true, 1, TW_F32, 0, 1, DIJKSTRA, TW_AUTO, -1, 0},
    {"f64, components", 300, 3, false, 3, TW_F64, 0, 1, DIJKSTRA, TW_AUTO, -1, 0},
    {"negative", 300, 3, false, 1, TW_I32, -50, 900, DIJKSTRA, TW_AUTO, -1, 0},
    {"negative floats", 200, 3, false, 1, TW_F64, -1, 9, DIJKSTRA, TW_AUTO, -1, 0},
    {"levels", 900, 3, false, 1, TW_I32, 1, 1, BFS, TW_AUTO, -1, 0},
    {"levels in u8, components", 700, 3, true, 4, TW_I32, 1, 1, BFS, TW_U8, -1, 0},
    {"long levels of 3", 700, 3, true, 1, TW_I32, 3, 3, BFS, TW_AUTO, -1, 4},
    {"levels of floats", 300, 3, true, 1, TW_F64, 0.1, 0.1, BFS, TW_AUTO, -1, 0},
    {"swept", 700, 4, true, 1, TW_I32, 1, 30, SWEEP, TW_AUTO, -1, 6},
    {"swept, components", 700, 4, false, 3, TW_I32, 0, 3000, SWEEP, TW_AUTO, -1, 6},
    {"swept, beyond u16", 700, 4, true, 1, TW_I32, 1, 1e6, SWEEP, TW_AUTO, -1, 6},
    {"swept, f32", 700, 4, true, 1, TW_F32, 0, 1, SWEEP, TW_AUTO, -1, 6},
    {"swept, f64, cut off", 500, 4, false, 1, TW_F64, 0, 1, SWEEP, TW_AUTO, 4, 6},
    {"swept, negative", 300, 4, false, 1, TW_I32, -5, 300, SWEEP, TW_AUTO, -1, 6},
};

int main(int argc, char **argv)
{
    int level;
    folder = argc > 1 ? argv[1] : ".";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (tw_context_create(&ctx) != TW_OK || tw_set_threads(ctx, 1 + rank % 2) != TW_OK) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        machine_ranks = (int)(i % 3); /* all on one machine, each on its own, two and two */
        run_case(&fixed[i], 1000 + i);
    }
    machine_ranks = 0;
    methods_are_chosen();
    for (machine_ranks = 0; machine_ranks < 2; machine_ranks++) {
        failures_are_shared();
    }
    int all = failures;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d checks passed, %d failed\n", passed, all);
    }
    tw_context_destroy(ctx);
    MPI_Finalize();
    return all == 0 && (rank != 0 || passed > 0) ? 0 : 1;
}
