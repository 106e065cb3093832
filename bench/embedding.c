/*
 * What a program that embeds the library sees: how long a tiny call takes with a context that is
 * kept, and how soon a call returns that another thread has cancelled. Results of tiny calls are
 * compared with a plain triple loop before they are timed. One line of JSON per case on stdout.
 * Built against the installed header alone:
 *
 *   cc -O2 -o embedding bench/embedding.c $(pkg-config --static --cflags --libs tilewright)
 *
 *   embedding tiny
 *       n = 4, 16, 61, 64; dense, sparse, complete with equal weights, without directions and with
 *       negative weights, in i32, f32 and f64: median of 2000 warm calls
 *   embedding cancel [DEVICE]
 *       every long path, cancelled at several moments of its run
 */
#include <tilewright.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 200, CALLS = 2000, MOMENTS = 40 };

static tw_context *ctx;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(tw_status status)
{
    if (status != TW_OK) {
        fprintf(stderr, "embedding: %s\n", tw_last_error(ctx));
        exit(1);
    }
}

static void *must_have(size_t bytes)
{
    void *block = calloc(bytes > 0 ? bytes : 1, 1);
    if (block == NULL) {
        fprintf(stderr, "embedding: no memory\n");
        exit(1);
    }
    return block;
}

static tw_graph *make_graph(const char *kind, int64_t n, double degree, tw_type weights)
{
    tw_graph_generate_options o = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    o.kind = kind;
    o.vertices = n;
    o.degree = degree;
    o.weight_type = weights;
    must(tw_graph_generate(ctx, &graph, &o));
    return graph;
}

/* ---------------------------------------------------------------------------------- tiny calls */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The library's own triple loop, which shares nothing with what is timed. Sums of floats may differ
 * in their last bits. */
static int is_wrong(const tw_graph *graph, const tw_matrix *got)
{
    const int64_t n = got->rows;
    tw_apsp_options o = TW_APSP_OPTIONS_INIT;
    void *want = must_have((size_t)(n * n) * sizeof(double));
    tw_matrix out = {want, n, n, n, got->type};
    o.method = TW_APSP_METHOD_REFERENCE;
    must(tw_apsp(ctx, &out, graph, &o));
    int wrong = got->type == TW_I32 && memcmp(want, got->data, (size_t)(n * n) * 4) != 0;
    for (int64_t i = 0; i < n * n && got->type != TW_I32; i++) {
        const int f32 = got->type == TW_F32;
        const double x = f32 ? ((const float *)got->data)[i] : ((const double *)got->data)[i];
        const double y = f32 ? ((const float *)want)[i] : ((const double *)want)[i];
        wrong |= !(x == y || fabs(x - y) <= (f32 ? 1e-5 : 1e-13) * (100 + fabs(y)));
    }
    free(want);
    return wrong;
}

/* What a tiny call is timed with: half of all pairs or 3 arcs per vertex, weights 1 to 1000; all
 * pairs with weights 1; or all pairs with weights 1 to 100, without directions, or with the
 * differences of potentials added, which make a third of them negative. Floats are not whole. */
enum { DENSE, SPARSE, EQUAL, UNDIRECTED, NEGATIVE, KINDS };
static const char *const kinds[KINDS] = {"dense", "sparse", "equal", "undirected", "negative"};

static tw_graph *make_tiny(int kind, int64_t n, tw_type type)
{
    if (kind == DENSE || kind == SPARSE) {
        return make_graph(kinds[kind], n, 3, type);
    }
    const size_t pairs = (size_t)(n * n);
    int32_t *from = must_have(pairs * sizeof *from), *to = must_have(pairs * sizeof *to);
    void *weight = must_have(pairs * sizeof(double));
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    uint32_t random = 1;
    for (int32_t i = 0; i < n * n; i++) {
        const int32_t u = i / (int32_t)n, v = i % (int32_t)n;
        if (u == v || (kind == UNDIRECTED && v < u)) {
            continue;
        }
        random = random * 1664525u + 1013904223u;
        const int32_t deep = u * 37 % 100 - v * 37 % 100;
        const int32_t whole =
            kind == EQUAL ? 1 : (int32_t)(random >> 8) % 100 + 1 + (kind == NEGATIVE ? deep : 0);
        const double part = kind == EQUAL ? 0 : (double)(random >> 8 & 1023) / 1025;
        from[edges.count] = u;
        to[edges.count] = v;
        if (type == TW_I32) {
            ((int32_t *)weight)[edges.count++] = whole;
        } else if (type == TW_F32) {
            ((float *)weight)[edges.count++] = (float)(whole + part);
        } else {
            ((double *)weight)[edges.count++] = whole + part;
        }
    }
    edges.source = from;
    edges.target = to;
    edges.weight = weight;
    edges.weight_type = type;
    must(tw_graph_from_edges(ctx, &graph, n, &edges, kind == UNDIRECTED ? TW_GRAPH_UNDIRECTED : 0));
    free(from);
    free(to);
    free(weight);
    return graph;
}

/* Processor time of this thread, which other programs do not change. */
static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int time_tiny(int kind, int64_t n, tw_type type)
{
    static double seconds[CALLS];
    tw_graph *graph = make_tiny(kind, n, type);
    void *distances = must_have((size_t)(n * n) * sizeof(double));
    tw_matrix out = {distances, n, n, n, type};
    memset(distances, 0x5a, (size_t)(n * n) * sizeof(double));
    for (int i = 0; i < WARM; i++) {
        must(tw_apsp(ctx, &out, graph, NULL));
    }
    int wrong = is_wrong(graph, &out);
    for (int i = 0; i < CALLS; i++) {
        double began = thread_seconds();
        must(tw_apsp(ctx, &out, graph, NULL));
        seconds[i] = thread_seconds() - began;
    }
    qsort(seconds, CALLS, sizeof *seconds, by_size);
    printf("{\"case\": \"tiny\", \"graph\": \"%s\", \"weights\": \"%s\", \"n\": %lld, "
           "\"us_median\": %.1f, \"us_least\": %.1f, \"checked\": %s}\n",
           kinds[kind], tw_type_name(type), (long long)n, seconds[CALLS / 2] * 1e6,
           seconds[0] * 1e6, wrong ? "false" : "true");
    fflush(stdout);
    free(distances);
    tw_graph_destroy(graph);
    return wrong;
}

/* -------------------------------------------------------------------------------- cancellation */

typedef struct long_call {
    const char *name;
    tw_status (*run)(void);
} long_call;

static tw_graph *dense, *sparse, *grid, *hops, *digraph, *many, *country, *parallel, *solid;
static int64_t device_n;
static int32_t sources[1000];
static int64_t source_count;
static char *file, *written;
static tw_matrix picture, result, exact, expanded;
static tw_expr *expr;

static tw_status summarise_with(const tw_graph *graph, const tw_apsp_options *o)
{
    tw_apsp_summary *summary = NULL;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_status status = tw_apsp_plan_create(ctx, &plan, graph, o);
    if (status == TW_OK) {
        status = tw_apsp_summary_create(ctx, &summary, 0, NULL, 0);
    }
    if (status == TW_OK) {
        status = tw_apsp_summary_sink(summary, &sink);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL);
    }
    tw_sink_destroy(&sink);
    tw_apsp_summary_destroy(summary);
    tw_apsp_plan_destroy(plan);
    return status;
}

static tw_status summarise(const tw_graph *graph, tw_apsp_method method)
{
    tw_apsp_options o = TW_APSP_OPTIONS_INIT;
    o.method = method;
    return summarise_with(graph, &o);
}

static tw_status run_closure(void)
{
    return summarise(dense, TW_APSP_METHOD_CLOSURE);
}

static tw_status run_sweep(void)
{
    return summarise(grid, TW_APSP_METHOD_SWEEP);
}

/* One block of the tree holds nearly all vertices of a dense graph. */
static tw_status run_solid_sweep(void)
{
    return summarise(solid, TW_APSP_METHOD_SWEEP);
}

static tw_status run_dijkstra(void)
{
    return summarise(sparse, TW_APSP_METHOD_DIJKSTRA);
}

/* A large graph, whose copy for searches takes longer than the search. */
static tw_status run_one_source(void)
{
    static const int32_t source[] = {0};
    tw_apsp_options o = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    o.sources = source;
    o.source_count = 1;
    o.method = TW_APSP_METHOD_DIJKSTRA;
    tw_status status = tw_apsp_plan_create(ctx, &plan, parallel, &o);
    tw_apsp_plan_destroy(plan);
    return status;
}

/* A batch of searches of a large graph. */
static tw_status run_sources(void)
{
    tw_apsp_options o = TW_APSP_OPTIONS_INIT;
    o.sources = sources;
    o.source_count = source_count;
    o.method = TW_APSP_METHOD_DIJKSTRA;
    return summarise_with(parallel, &o);
}

static tw_status run_bfs(void)
{
    return summarise(hops, TW_APSP_METHOD_BFS);
}

static tw_status run_reach(void)
{
    tw_reach_options o = TW_REACH_OPTIONS_INIT;
    return tw_reach(ctx, &expanded, digraph, &o);
}

static tw_status run_entropy(void)
{
    tw_entropy_options o = TW_ENTROPY_OPTIONS_INIT;
    return tw_entropy(ctx, &result, &picture, &o);
}

static tw_status run_map(void)
{
    tw_map_options o = TW_MAP_OPTIONS_INIT;
    return tw_map(ctx, &result, expr, &picture, 1, &o);
}

static tw_status run_map_f64(void)
{
    tw_map_options o = TW_MAP_OPTIONS_INIT;
    o.type = TW_F64;
    return tw_map(ctx, &exact, expr, &picture, 1, &o);
}

/* The order of a sweep, of a graph that has no small separators. */
static tw_status run_planning(void)
{
    tw_apsp_options o = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    o.method = TW_APSP_METHOD_SWEEP;
    tw_status status = tw_apsp_plan_create(ctx, &plan, many, &o);
    tw_apsp_plan_destroy(plan);
    return status == TW_ERR_MEMORY ? TW_OK : status;
}

/* That of a large graph that has small separators. */
static tw_status order_of(const tw_graph *graph)
{
    tw_apsp_order *order = NULL;
    tw_status status = tw_apsp_order_create(ctx, &order, graph);
    tw_apsp_order_destroy(order);
    return status;
}

static tw_status run_ordering(void)
{
    return order_of(country);
}

static tw_status run_solid_ordering(void)
{
    return order_of(solid);
}

static tw_status run_copying(void)
{
    double rate;
    return tw_copy_rate(ctx, &rate, 0);
}

static tw_status run_generating(void)
{
    tw_graph_generate_options o = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    o.kind = "rmat";
    o.vertices = 1000000;
    o.degree = 8;
    tw_status status = tw_graph_generate(ctx, &graph, &o);
    tw_graph_destroy(graph);
    return status;
}

static tw_status run_reading(void)
{
    tw_graph *graph = NULL;
    tw_status status = tw_graph_read(ctx, &graph, file, NULL);
    tw_graph_destroy(graph);
    return status;
}

/* Of each pair of vertices the least arc. */
static tw_status run_writing(void)
{
    return tw_graph_write(ctx, parallel, written, NULL);
}

typedef struct moment {
    double wait;
    double cancelled;
    double used; /* processor seconds by then */
} moment;

/* Of all threads: what a machine that others use, too, does not change. */
static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *cancel_later(void *given)
{
    moment *m = given;
    usleep((useconds_t)(m->wait * 1e6));
    m->cancelled = now();
    m->used = processor_seconds();
    tw_cancel(ctx);
    return NULL;
}

/* Cancel a call that takes `whole` seconds at several moments of it: the slowest return. */
static int time_cancel(const long_call *call)
{
    double worst = 0, most_used = 0;
    double took[MOMENTS];
    int late = 0;
    double began = now();
    must(call->run());
    double whole = now() - began;
    for (int i = 0; i < MOMENTS; i++) {
        pthread_t thread;
        const double share = (i + 0.5) / MOMENTS;
        moment m = {whole * share * share, 0, 0}; /* what comes first is short in a long call */
        if (pthread_create(&thread, NULL, cancel_later, &m) != 0) {
            return 1;
        }
        tw_status status = call->run();
        double ended = now();
        double used = processor_seconds();
        pthread_join(thread, NULL);
        tw_clear_cancel(ctx);
        if (status != TW_OK && status != TW_ERR_CANCELLED) {
            must(status);
        }
        late += status == TW_OK; /* it was over first */
        took[i] = status == TW_ERR_CANCELLED ? ended - m.cancelled : 0;
        worst = took[i] > worst ? took[i] : worst;
        used = status == TW_ERR_CANCELLED ? used - m.used : 0;
        most_used = used > most_used ? used : most_used;
    }
    printf("{\"case\": \"cancel\", \"call\": \"%s\", \"whole_s\": %.3f, \"moments\": %d, "
           "\"over_first\": %d, \"ms_worst\": %.2f, \"cpu_ms_worst\": %.2f, \"ms\": [",
           call->name, whole, MOMENTS, late, worst * 1e3, most_used * 1e3);
    for (int i = 0; i < MOMENTS; i++) {
        printf("%s%.2f", i > 0 ? ", " : "", took[i] * 1e3);
    }
    puts("]}");
    fflush(stdout);
    return 0;
}

static void prepare(int on_gpu)
{
    const int64_t side = 6000;
    tw_graph_generate_options o = TW_GRAPH_GENERATE_OPTIONS_INIT;
    device_n = on_gpu ? 12000 : 3000;
    dense = make_graph("complete", device_n, 0, TW_I32);
    solid = make_graph("complete", on_gpu ? 6000 : 5000, 0, TW_I32);
    sparse = make_graph("sparse", on_gpu ? 60000 : 12000, 5, TW_I32);
    o.kind = "grid";
    o.rows = o.cols = on_gpu ? 400 : 150;
    must(tw_graph_generate(ctx, &grid, &o));
    o.rows = o.cols = 1000;
    must(tw_graph_generate(ctx, &country, &o));
    o.kind = "rmat";
    o.vertices = 500000;
    o.degree = 16;
    must(tw_graph_generate(ctx, &parallel, &o));
    source_count = on_gpu ? 1000 : 8;
    for (int32_t i = 0; i < source_count; i++) {
        sources[i] = i * 499;
    }
    o = (tw_graph_generate_options)TW_GRAPH_GENERATE_OPTIONS_INIT;
    o.vertices = on_gpu ? 200000 : 40000;
    o.degree = 8;
    o.max_weight = 1;
    must(tw_graph_generate(ctx, &hops, &o));
    digraph = make_graph("sparse", 30000, 1.2, TW_I32);
    expanded = (tw_matrix){must_have((size_t)30000 * 30000), 30000, 30000, 30000, TW_U8};
    picture = (tw_matrix){must_have((size_t)(side * side)), side, side, side, TW_U8};
    result =
        (tw_matrix){must_have((size_t)(side * side) * sizeof(float)), side, side, side, TW_F32};
    exact =
        (tw_matrix){must_have((size_t)(side * side) * sizeof(double)), side, side, side, TW_F64};
    many = make_graph("sparse", 200000, 5, TW_I32);
    for (int64_t i = 0; i < side * side; i++) {
        ((uint8_t *)picture.data)[i] = (uint8_t)(i * 2654435761u >> 13 & 15);
    }
    must(tw_expr_create(ctx, &expr, "sqrt(log(x + 2) + cos(x * row)) ^ 1.5 + sin(col)", NULL));
    tw_graph *large = make_graph("sparse", 100000, 30, TW_I32);
    file = must_have(64);
    snprintf(file, 64, "embedding-%d.gr", (int)getpid());
    must(tw_graph_write(ctx, large, file, NULL));
    tw_graph_destroy(large);
    written = must_have(64);
    snprintf(written, 64, "embedding-%d.mtx", (int)getpid());
}

static int time_cancels(const char *device)
{
    static const long_call calls[] = {
        {"closure", run_closure},
        {"sweep", run_sweep},
        {"sweep of a dense graph", run_solid_sweep},
        {"dijkstra", run_dijkstra},
        {"some sources", run_sources},
        {"bfs", run_bfs},
        {"reach", run_reach},
        {"entropy", run_entropy},
        {"map", run_map},
        {"map f64", run_map_f64},
        {"planning", run_planning},
        {"ordering", run_ordering},
        {"ordering of a dense graph", run_solid_ordering},
        {"one source", run_one_source},
        {"copying", run_copying},
        {"generating", run_generating},
        {"reading", run_reading},
        {"writing", run_writing},
    };
    int on_gpu = strcmp(device, "cpu") != 0;
    int bad = 0;
    must(tw_set_device(ctx, "cpu"));
    prepare(on_gpu);
    must(tw_set_device(ctx, device));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        bad += time_cancel(&calls[i]);
    }
    unlink(file);
    unlink(written);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    if (argc < 2 || tw_context_create(&ctx) != TW_OK) {
        fprintf(stderr, "usage: embedding tiny | cancel [DEVICE]\n");
        return 2;
    }
    if (strcmp(argv[1], "tiny") == 0) {
        static const int64_t sizes[] = {4, 16, 61, 64};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int kind = 0; kind < KINDS; kind++) {
                bad += time_tiny(kind, sizes[i], TW_I32);
                bad += time_tiny(kind, sizes[i], TW_F32);
                bad += time_tiny(kind, sizes[i], TW_F64);
            }
        }
    } else {
        bad = time_cancels(argc > 2 ? argv[2] : "cpu");
    }
    tw_context_destroy(ctx);
    return bad != 0;
}
