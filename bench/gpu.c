/*
 * Times of the GPU closure on matrices that already lie in GPU memory: the closure alone by type,
 * and the device entry as a caller sees it, beside the ceiling of each type. Each result is checked
 * before its time is printed: sources drawn at random against a plain dense Dijkstra. Complete
 * graphs, or several beside each other, or only with short edges; weights 1 ... 1000, or
 * 10,000 more. One line of
 * JSON a case on stdout, a table on stderr. Built and run by bench/gpu.sh.
 *
 *   gpu [MOST [LEAST]]     the cases of that many vertices
 *   gpu counters TYPE      one case of 8192 vertices, for bench/gpu_counters.sh
 */
#include "apsp/gpu/gpu.h"
#include "base/random.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS_SMALL 30
#define REPEATS_LARGE 3
#define SOURCES 8
#define HEAVIEST 1000
/* Eight hops and more from end to end, of 10,000 and more each. */
#define FAR(work, n, undirected)                                \
    {                                                           \
        "entry", TW_I32, work, n, undirected, 1, (n) / 8, 10000 \
    }

static tw_context *ctx;

typedef struct bench_case {
    const char *what; /* "closure" or "entry" */
    tw_type type;
    tw_type work; /* entry: TW_AUTO or the type */
    int64_t n;
    bool undirected;
    int32_t parts; /* that no edge joins, each as large as the others */
    int64_t reach; /* edges join vertices at most this far from each other; 0: any */
    int32_t least; /* weights are this much more */
} bench_case;

static void must(tw_status status)
{
    if (status != TW_OK) {
        fprintf(stderr, "gpu: %s\n", tw_last_error(ctx));
        exit(1);
    }
}

static void must_run(cudaError_t error, const char *what)
{
    must(twi_gpu_check(ctx, (int)error, what));
}

/* -1: no edge. */
static int32_t weight_of(const bench_case *c, int64_t i, int64_t j)
{
    if (i * c->parts / c->n != j * c->parts / c->n || (c->reach > 0 && llabs(i - j) > c->reach)) {
        return -1;
    }
    int64_t a = c->undirected && i < j ? j : i;
    int64_t b = c->undirected && i < j ? i : j;
    uint64_t random = twi_random_at(1, (uint64_t)(a * c->n + b));
    return i == j ? 0 : c->least + 1 + (int32_t)twi_random_below(random, HEAVIEST);
}

static double get(const void *row, int64_t at, tw_type type)
{
    return type == TW_I32   ? ((const int32_t *)row)[at]
           : type == TW_U16 ? ((const uint16_t *)row)[at]
           : type == TW_F32 ? (double)((const float *)row)[at]
                            : ((const double *)row)[at];
}

static double infinity_of(tw_type type)
{
    return type == TW_U16 ? TWI_GPU_INF_U16 : tw_apsp_infinity(type);
}

static void put(void *row, int64_t at, tw_type type, double value)
{
    if (type == TW_I32) {
        ((int32_t *)row)[at] = (int32_t)value;
    } else if (type == TW_U16) {
        ((uint16_t *)row)[at] = (uint16_t)value;
    } else if (type == TW_F32) {
        ((float *)row)[at] = (float)value;
    } else {
        ((double *)row)[at] = value;
    }
}

static void fill_matrix(const bench_case *c, char *matrix, int64_t ld)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < c->n; i++) {
        char *row = matrix + (size_t)(i * ld) * tw_type_size(c->type);
        for (int64_t j = 0; j < ld; j++) {
            int32_t weight = j < c->n ? weight_of(c, i, j) : 0;
            put(row, j, c->type, weight >= 0 ? weight : infinity_of(c->type));
        }
    }
}

/* Wrong entries of one row, by a search that shares nothing with the closure. */
static int64_t wrong_in_row(const bench_case *c, const void *row, int64_t source)
{
    int64_t *distance = malloc((size_t)c->n * sizeof *distance);
    char *done = calloc((size_t)c->n, 1);
    if (distance == NULL || done == NULL) {
        exit(1);
    }
    for (int64_t v = 0; v < c->n; v++) {
        distance[v] = v == source ? 0 : INT64_MAX;
    }
    for (int64_t round = 0; round < c->n; round++) {
        int64_t u = -1;
        for (int64_t v = 0; v < c->n; v++) {
            u = !done[v] && (u < 0 || distance[v] < distance[u]) ? v : u;
        }
        done[u] = 1;
        for (int64_t v = 0; v < c->n && distance[u] < INT64_MAX; v++) {
            int32_t weight = weight_of(c, u, v);
            int64_t through = weight >= 0 ? distance[u] + weight : INT64_MAX;
            distance[v] = through < distance[v] ? through : distance[v];
        }
    }
    int64_t wrong = 0;
    for (int64_t v = 0; v < c->n; v++) {
        double want = distance[v] < INT64_MAX ? (double)distance[v] : infinity_of(c->type);
        wrong += get(row, v, c->type) != want;
    }
    free(done);
    free(distance);
    return wrong;
}

typedef struct prepared {
    void *matrix;
    void *workspace;
    twi_gpu_work work;
    tw_matrix view;
    tw_apsp_options opts;
    tw_device_options device;
} prepared;

static void prepare(const bench_case *c, prepared *p, int64_t ld)
{
    p->view = (tw_matrix){p->matrix, c->n, c->n, ld, c->type};
    p->opts = (tw_apsp_options)TW_APSP_OPTIONS_INIT;
    p->device = (tw_device_options)TW_DEVICE_OPTIONS_INIT;
    p->opts.work_type = c->work;
    p->opts.symmetric = c->undirected;
    if (strcmp(c->what, "closure") == 0) {
        const twi_gpu_kernel *kernel = twi_gpu_kernel_choose(c->type, c->n);
        p->work = (twi_gpu_work){kernel, p->matrix, c->n, ld, c->undirected, NULL, false, false};
        p->device.workspace_bytes = twi_gpu_closure_bytes(kernel, c->n, c->undirected);
    } else {
        must(tw_apsp_device_workspace(ctx, &p->device.workspace_bytes, &p->view, &p->opts));
    }
    must_run(cudaMalloc(&p->workspace, p->device.workspace_bytes + 1), "allocating the workspace");
    p->device.workspace = p->workspace;
}

static void queue(const bench_case *c, prepared *p, cudaStream_t stream)
{
    if (strcmp(c->what, "closure") == 0) {
        must(twi_gpu_closure(ctx, &p->work, p->workspace, stream, false));
    } else {
        p->device.stream = stream;
        must(tw_apsp_device(ctx, &p->view, &p->opts, &p->device));
    }
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a;
    float y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median milliseconds between two events on the caller's stream. */
static double time_case(const bench_case *c, prepared *p, const void *original, size_t bytes)
{
    cudaStream_t stream;
    cudaEvent_t begin;
    cudaEvent_t end;
    float times[REPEATS_SMALL];
    int repeats = c->n > 40000 ? 1 : c->n > 4000 ? REPEATS_LARGE : REPEATS_SMALL;
    must_run(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    must_run(cudaEventCreate(&begin), "creating an event");
    must_run(cudaEventCreate(&end), "creating an event");
    for (int i = -1; i < repeats; i++) { /* the first one warms up */
        float ms = 0;
        must_run(cudaMemcpyAsync(p->matrix, original, bytes, cudaMemcpyDeviceToDevice, stream),
                 "restoring the matrix");
        must_run(cudaStreamSynchronize(stream), "restoring the matrix");
        must_run(cudaEventRecord(begin, stream), "timing");
        queue(c, p, stream);
        must_run(cudaEventRecord(end, stream), "timing");
        must_run(cudaStreamSynchronize(stream), "running the case");
        must_run(cudaEventElapsedTime(&ms, begin, end), "timing");
        times[i < 0 ? 0 : i] = ms;
    }
    must_run(cudaEventDestroy(end), "timing");
    must_run(cudaEventDestroy(begin), "timing");
    must_run(cudaStreamDestroy(stream), "timing");
    qsort(times, (size_t)repeats, sizeof *times, by_value);
    return times[repeats / 2];
}

static int64_t check_result(const bench_case *c, const prepared *p, int64_t ld)
{
    size_t row_bytes = (size_t)ld * tw_type_size(c->type);
    char *rows = malloc(SOURCES * row_bytes);
    int64_t sources[SOURCES];
    int64_t wrong = 0;
    for (int s = 0; s < SOURCES; s++) {
        sources[s] = (int64_t)twi_random_below(twi_random_at(9, (uint64_t)s), (uint64_t)c->n);
        must_run(cudaMemcpy(rows + (size_t)s * row_bytes,
                            (const char *)p->matrix + (size_t)sources[s] * row_bytes, row_bytes,
                            cudaMemcpyDeviceToHost),
                 "reading a row");
    }
#pragma omp parallel for reduction(+ : wrong)
    for (int s = 0; s < SOURCES; s++) {
        wrong += wrong_in_row(c, rows + (size_t)s * row_bytes, sources[s]);
    }
    free(rows);
    return wrong;
}

static int run_case(const bench_case *c)
{
    prepared p = {0};
    void *original = NULL;
    int64_t unit = 16 / (int64_t)tw_type_size(c->type);
    int64_t ld = (c->n + unit - 1) / unit * unit;
    size_t bytes = (size_t)(c->n * ld) * tw_type_size(c->type);
    char *host = malloc(bytes);
    if (host == NULL) {
        return 1;
    }
    fill_matrix(c, host, ld);
    must_run(cudaMalloc(&p.matrix, bytes), "allocating the matrix");
    must_run(cudaMalloc(&original, bytes), "allocating the original");
    must_run(cudaMemcpy(original, host, bytes, cudaMemcpyHostToDevice), "upload");
    free(host);
    prepare(c, &p, ld);
    double ms = time_case(c, &p, original, bytes);
    int64_t wrong = check_result(c, &p, ld);
    must_run(cudaFree(p.workspace), "freeing");
    must_run(cudaFree(original), "freeing");
    must_run(cudaFree(p.matrix), "freeing");
    double n = (double)c->n;
    const char *work = c->work == TW_AUTO ? "auto" : tw_type_name(c->work);
    printf(
        "{\"case\": \"%s\", \"type\": \"%s\", \"work\": \"%s\", \"n\": %lld, \"undirected\": %d, "
        "\"parts\": %d, \"reach\": %lld, \"least\": %d, \"ms\": %.4f, \"relaxations_per_s\": %.4e, "
        "\"workspace\": "
        "%llu, \"rows_checked\": %d, "
        "\"wrong\": %lld}\n",
        c->what, tw_type_name(c->type), work, (long long)c->n, c->undirected, c->parts,
        (long long)c->reach, c->least + 1, ms, n * n * n / ms * 1e3,
        (unsigned long long)p.device.workspace_bytes, SOURCES, (long long)wrong);
    fprintf(stderr, "%-8s %-4s %-5s %6lld %-10s %d %4lld %10.4f ms %8.3f T/s %s\n", c->what,
            tw_type_name(c->type), work, (long long)c->n, c->undirected ? "undirected" : "directed",
            c->parts, (long long)c->reach, ms, n * n * n / ms * 1e-9,
            wrong == 0 ? "checked" : "WRONG");
    fflush(stdout);
    return wrong != 0;
}

/* The step on registers alone. */
static void show_ceilings(void)
{
    static const tw_type types[] = {TW_I32, TW_U16, TW_F32, TW_F64};
    for (int t = 0; t < 4; t++) {
        double rate = 0;
        must(twi_gpu_ceiling(ctx, 0, types[t], &rate));
        printf("{\"case\": \"ceiling\", \"type\": \"%s\", \"relaxations_per_s\": %.4e}\n",
               tw_type_name(types[t]), rate);
        fprintf(stderr, "ceiling  %-4s %48.3f T/s\n", tw_type_name(types[t]), rate * 1e-12);
    }
}

int main(int argc, char **argv)
{
    static const bench_case cases[] = {
        {"entry", TW_I32, TW_AUTO, 100, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 500, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 1000, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 1400, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 1500, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 2000, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 2000, true, 1, 0, 0},
        {"entry", TW_F32, TW_F32, 2000, false, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 2500, false, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 3000, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 3000, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 3000, false, 2, 0, 0},
        {"entry", TW_I32, TW_AUTO, 3000, true, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 3000, true, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 3500, false, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 3500, true, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 3900, true, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 4000, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 4000, false, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 4000, false, 2, 0, 0},
        {"entry", TW_I32, TW_AUTO, 4000, false, 2, 0, 0},
        {"entry", TW_I32, TW_I32, 5000, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 5000, false, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 5000, false, 2, 0, 0},
        {"entry", TW_I32, TW_AUTO, 5000, false, 2, 0, 0},
        {"entry", TW_I32, TW_I32, 5000, true, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 5000, true, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 8000, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 8000, false, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 10000, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 10000, false, 1, 0, 0},
        {"entry", TW_I32, TW_AUTO, 10001, false, 1, 0, 0},
        {"entry", TW_I32, TW_I32, 10000, true, 1, 0, 0},
        /* pairs at distances beyond 16 bits, which nothing shows before the end */
        FAR(TW_I32, 4100, false),
        FAR(TW_AUTO, 4100, false),
        FAR(TW_I32, 4500, false),
        FAR(TW_AUTO, 4500, false),
        FAR(TW_I32, 5000, false),
        FAR(TW_AUTO, 5000, false),
        FAR(TW_I32, 5000, true),
        FAR(TW_AUTO, 5000, true),
        FAR(TW_U16, 5000, true),
        FAR(TW_I32, 8000, false),
        FAR(TW_AUTO, 8000, false),
        FAR(TW_I32, 8000, true),
        FAR(TW_AUTO, 8000, true),
        {"entry", TW_I32, TW_AUTO, 10000, true, 1, 0, 0},
        {"entry", TW_F32, TW_F32, 1000, false, 1, 0, 0},
        {"entry", TW_F32, TW_F32, 3000, false, 1, 0, 0},
        {"entry", TW_F32, TW_F32, 5000, false, 1, 0, 0},
        {"entry", TW_F32, TW_F32, 10000, false, 1, 0, 0},
        {"entry", TW_F64, TW_F64, 10000, false, 1, 0, 0},
        {"closure", TW_I32, TW_I32, 32768, false, 8, 0, 0},
        {"closure", TW_I32, TW_I32, 32768, false, 1, 500, 0},
        {"closure", TW_I32, TW_I32, 32768, false, 1, 0, 0},
        {"closure", TW_I32, TW_I32, 32768, true, 1, 0, 0},
        {"closure", TW_U16, TW_U16, 32768, false, 1, 0, 0},
        {"closure", TW_U16, TW_U16, 32768, true, 1, 0, 0},
        {"closure", TW_F32, TW_F32, 32768, false, 1, 0, 0},
        {"closure", TW_F32, TW_F32, 32768, true, 1, 0, 0},
        {"closure", TW_I32, TW_I32, 50001, false, 1, 0, 0}, /* n^2 is more than 32 bits can count */
    };
    int64_t most = argc > 1 ? atoll(argv[1]) : INT64_MAX; /* the largest n to run */
    int64_t least = argc > 2 ? atoll(argv[2]) : 0;        /* and the smallest */
    int bad = 0;
    if (tw_context_create(&ctx) != TW_OK) {
        return 1;
    }
    must(tw_set_device(ctx, TWI_GPU_PREFIX));
    twi_gpu_info info;
    must(twi_gpu_describe(ctx, 0, &info));
    fprintf(stderr, "%s, %d processors\n", info.name, info.processors);
    if (argc > 2 && strcmp(argv[1], "counters") == 0) {
        tw_type type = TW_AUTO;
        must(tw_type_parse(&type, argv[2]));
        bench_case one = {"closure", type, type, 8192, false, 1, 0, 0};
        bad = run_case(&one);
        tw_context_destroy(ctx);
        return bad;
    }
    show_ceilings();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].n <= most && cases[i].n >= least) {
            bad += run_case(&cases[i]);
        }
    }
    tw_context_destroy(ctx);
    return bad != 0;
}
