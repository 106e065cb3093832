/*
 * What a program that embeds the library sees: how long a tiny call takes with a context that is
 * kept, and how soon a call returns that another thread has cancelled. Results of tiny calls are
 * compared with a plain triple loop before they are timed. One line of JSON per case on stdout.
 * Built against an installed library, as any program is:
 *
 *   cc -O2 -o embedding bench/embedding.c $(pkg-config --cflags --libs --static tilewright)
 *
 * `embedding tiny`: n = 4, 16, 61 and 64; dense and sparse graphs, and dense ones with negative
 * weights, in i32, f32 and f64; the median of 2000 warm calls.
 *
 * `embedding cancel [DEVICE]`: every long path, cancelled at several moments of its run.
 */
#include <tilewright.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 200, CALLS = 2000, MOMENTS = 8 };

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

/* A complete graph whose weights are lowered by the potential of their target and raised by that of
 * their source: many are negative, no cycle is. */
static tw_graph *make_negative(int64_t n, tw_type type)
{
    void *typed = must_have((size_t)(n * n) * sizeof(double));
    tw_matrix matrix = {typed, n, n, n, type};
    tw_graph *graph = NULL;
    for (int64_t i = 0; i < n * n; i++) {
        const int64_t row = i / n, col = i % n;
        const uint32_t mixed = (uint32_t)i * 2654435761u;
        const double weight =
            (double)(1 + (mixed >> 16) % 100 + row * 37 % 100) - (double)(col * 37 % 100);
        switch (type) {
        case TW_I32:
            ((int32_t *)typed)[i] = row == col ? 0 : (int32_t)weight;
            break;
        case TW_F32:
            ((float *)typed)[i] = row == col ? 0 : (float)weight + 0.25f; /* not whole numbers */
            break;
        default:
            ((double *)typed)[i] = row == col ? 0 : weight + 0.25;
        }
    }
    must(tw_graph_from_matrix(ctx, &graph, &matrix, NULL, 0));
    free(typed);
    return graph;
}

/* ---------------------------------------------------------------------------------- tiny calls */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Also infinite entries are equal. */
static int differs(double a, double b, double bound)
{
    return !(a == b || fabs(a - b) <= bound * fmax(1, fabs(a)));
}

/* The library's own triple loop, which shares nothing with what is timed. Sums of floats may differ
 * in their last bits. */
static int is_wrong(const tw_graph *graph, const tw_matrix *got)
{
    const int64_t n = got->rows;
    tw_apsp_options o = TW_APSP_OPTIONS_INIT;
    void *want = must_have((size_t)(n * n) * sizeof(double));
    tw_matrix out = {want, n, n, n, got->type};
    int wrong = 0;
    o.method = TW_APSP_METHOD_REFERENCE;
    must(tw_apsp(ctx, &out, graph, &o));
    for (int64_t i = 0; i < n * n; i++) {
        if (got->type == TW_I32) {
            wrong |= ((int32_t *)want)[i] != ((const int32_t *)got->data)[i];
        } else if (got->type == TW_F32) {
            wrong |= differs(((float *)want)[i], ((const float *)got->data)[i], 1e-5);
        } else {
            wrong |= differs(((double *)want)[i], ((const double *)got->data)[i], 1e-13);
        }
    }
    free(want);
    return wrong;
}

static int time_tiny(const char *kind, int64_t n, tw_type type)
{
    static double seconds[CALLS];
    const size_t bytes = (size_t)(n * n) * sizeof(double);
    const int negative = strcmp(kind, "negative") == 0;
    tw_graph *graph = negative ? make_negative(n, type) : make_graph(kind, n, 3, type);
    void *distances = must_have(bytes);
    tw_matrix out = {distances, n, n, n, type};
    memset(distances, 0x5a, bytes);
    for (int i = 0; i < WARM; i++) {
        must(tw_apsp(ctx, &out, graph, NULL));
    }
    int wrong = is_wrong(graph, &out);
    for (int i = 0; i < CALLS; i++) {
        double began = now();
        must(tw_apsp(ctx, &out, graph, NULL));
        seconds[i] = now() - began;
    }
    qsort(seconds, CALLS, sizeof *seconds, by_size);
    printf("{\"case\": \"tiny\", \"graph\": \"%s\", \"weights\": \"%s\", \"n\": %lld, "
           "\"us_median\": %.1f, \"us_least\": %.1f, \"checked\": %s}\n",
           kind, tw_type_name(type), (long long)n, seconds[CALLS / 2] * 1e6, seconds[0] * 1e6,
           wrong ? "false" : "true");
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

static tw_graph *dense, *sparse, *grid, *hops, *digraph, *many;
static int64_t device_n;
static char *file;
static tw_matrix picture, result, exact, expanded;
static tw_expr *expr;

static tw_status summarise(const tw_graph *graph, tw_apsp_method method)
{
    tw_apsp_options o = TW_APSP_OPTIONS_INIT;
    tw_apsp_summary *summary = NULL;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    o.method = method;
    tw_status status = tw_apsp_plan_create(ctx, &plan, graph, &o);
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

static tw_status run_closure(void)
{
    return summarise(dense, TW_APSP_METHOD_CLOSURE);
}

static tw_status run_sweep(void)
{
    return summarise(grid, TW_APSP_METHOD_SWEEP);
}

static tw_status run_dijkstra(void)
{
    return summarise(sparse, TW_APSP_METHOD_DIJKSTRA);
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
        moment m = {whole * (i + 0.5) / MOMENTS, 0, 0};
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
    sparse = make_graph("sparse", on_gpu ? 100 : 12000, 5, TW_I32);
    o.kind = "grid";
    o.rows = o.cols = on_gpu ? 400 : 150;
    must(tw_graph_generate(ctx, &grid, &o));
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
}

static int time_cancels(const char *device)
{
    static const long_call calls[] = {
        {"closure", run_closure},   {"sweep", run_sweep},
        {"dijkstra", run_dijkstra}, {"bfs", run_bfs},
        {"reach", run_reach},       {"entropy", run_entropy},
        {"map", run_map},           {"map f64", run_map_f64},
        {"planning", run_planning}, {"generating", run_generating},
        {"reading", run_reading},
    };
    int on_gpu = strcmp(device, "cpu") != 0;
    int bad = 0;
    must(tw_set_device(ctx, "cpu"));
    prepare(on_gpu);
    must(tw_set_device(ctx, device));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (!on_gpu || calls[i].run != run_dijkstra) { /* which has none there */
            bad += time_cancel(&calls[i]);
        }
    }
    unlink(file);
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
        static const char *const kinds[] = {"dense", "sparse", "negative"};
        static const tw_type types[] = {TW_I32, TW_F32, TW_F64};
        for (int i = 0; i < 4 * 3 * 3; i++) {
            bad += time_tiny(kinds[i / 3 % 3], sizes[i / 9], types[i % 3]);
        }
    } else {
        bad = time_cancels(argc > 2 ? argv[2] : "cpu");
    }
    tw_context_destroy(ctx);
    return bad != 0;
}
