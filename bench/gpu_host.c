/*
 * Times of closing a matrix in pinned host memory on GPUs: dealt out to several (one GPU named
 * more than once), or streamed through one with a quarter of the matrix's bytes, beside the closure
 * of the same matrix resident in GPU memory. Results are checked before a time is printed: sources
 * drawn at random against a plain dense Dijkstra, and every entry against the resident result.
 * Complete graphs, eight of them beside each other, or only short edges; weights 1 ... 1000. One
 * line of JSON a case on stdout, a table on stderr. Built and run by bench/gpu.sh: gpu_host N
 * [REPEATS].
 */
#include "apsp/gpu/gpu.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "gpu/compat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCES 8
#define HEAVIEST 1000

static tw_context *ctx;
static int64_t n;
static int repeats;
static int32_t *weights;            /* n x n */
static int64_t *distances[SOURCES]; /* expected rows */
static int64_t sources[SOURCES];
static void *matrix;   /* n x n of up to 8 bytes, pinned */
static void *resident; /* the resident result of the same type */

typedef struct bench_case {
    const char *what; /* "resident", "several" or "streamed" */
    tw_type type;
    bool narrow;
    int32_t devices;
    double share; /* streamed: of the matrix's bytes, on the device */
    bool undirected;
    int32_t parts; /* that no edge joins, each as large as the others */
    int64_t reach; /* no edge joins vertices that are farther apart; 0: all may */
} bench_case;

static void must(tw_status status)
{
    if (status != TW_OK) {
        fprintf(stderr, "gpu_host: %s\n", tw_last_error(ctx));
        exit(1);
    }
}

static void must_run(cudaError_t error, const char *what)
{
    must(twi_gpu_check(ctx, (int)error, what));
}

static void *must_have(size_t bytes)
{
    void *block = NULL;
    must(twi_alloc(ctx, &block, bytes, 1, "a matrix"));
    return block;
}

static int32_t weight_of(const bench_case *c, int64_t i, int64_t j)
{
    int64_t a = c->undirected && i < j ? j : i;
    int64_t b = c->undirected && i < j ? i : j;
    if (i * c->parts / n != j * c->parts / n || (c->reach > 0 && llabs(i - j) > c->reach)) {
        return TW_APSP_INF_I32;
    }
    uint64_t random = twi_random_at(1, (uint64_t)(a * n + b));
    return i == j ? 0 : 1 + (int32_t)twi_random_below(random, HEAVIEST);
}

static void make_weights(const bench_case *c)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            weights[i * n + j] = weight_of(c, i, j);
        }
    }
}

/* By a search that shares nothing with the closure. */
static void find_distances(int s)
{
    int64_t *distance = distances[s];
    char *done = must_have((size_t)n);
    memset(done, 0, (size_t)n);
    for (int64_t v = 0; v < n; v++) {
        distance[v] = v == sources[s] ? 0 : TW_APSP_INF_I32;
    }
    for (int64_t round = 0; round < n; round++) {
        int64_t u = -1;
        for (int64_t v = 0; v < n; v++) {
            u = !done[v] && (u < 0 || distance[v] < distance[u]) ? v : u;
        }
        done[u] = 1;
        for (int64_t v = 0; v < n; v++) { /* what cannot be reached stays infinite */
            int64_t through = distance[u] + weights[u * n + v];
            distance[v] = through < distance[v] ? through : distance[v];
        }
    }
    twi_free(done);
}

static void fill_matrix(tw_type type)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        for (int64_t at = i * n; at < (i + 1) * n; at++) {
            if (type == TW_I32) {
                ((int32_t *)matrix)[at] = weights[at];
            } else {
                ((float *)matrix)[at] =
                    weights[at] < TW_APSP_INF_I32 ? (float)weights[at] : (float)INFINITY;
            }
        }
    }
}

static double get(int64_t at, tw_type type)
{
    return type == TW_I32 ? ((const int32_t *)matrix)[at] : (double)((const float *)matrix)[at];
}

static int64_t count_wrong(tw_type type)
{
    int64_t wrong = 0;
    for (int s = 0; s < SOURCES; s++) {
        for (int64_t v = 0; v < n; v++) {
            double expected = distances[s][v] < TW_APSP_INF_I32 ? (double)distances[s][v]
                                                                : tw_apsp_infinity(type);
            wrong += get(sources[s] * n + v, type) != expected;
        }
    }
    return wrong;
}

static int64_t count_other_bits(tw_type type)
{
    size_t row = (size_t)n * tw_type_size(type);
    int64_t other = 0;
#pragma omp parallel for reduction(+ : other)
    for (int64_t i = 0; i < n; i++) {
        other += memcmp((const char *)matrix + (size_t)i * row,
                        (const char *)resident + (size_t)i * row, row) != 0;
    }
    return other;
}

/* The closure alone, between two events. */
static double run_resident(const bench_case *c, uint64_t *bytes)
{
    twi_gpu_work work = {
        .kernel = twi_gpu_kernel_choose(c->type, n), .n = n, .ld = n, .symmetric = c->undirected};
    void *panels = NULL;
    cudaStream_t stream;
    size_t size = (size_t)(n * n) * tw_type_size(c->type);
    *bytes = size + twi_gpu_closure_bytes(work.kernel, n, c->undirected);
    must_run(cudaMalloc(&work.data, size), "allocating the matrix");
    must_run(cudaMalloc(&panels, *bytes - size), "allocating panels");
    must_run(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    must_run(cudaMemcpy(work.data, matrix, size, cudaMemcpyHostToDevice), "upload");
    double began = twi_seconds();
    must(twi_gpu_closure(ctx, &work, panels, stream, false));
    must_run(cudaStreamSynchronize(stream), "closing");
    double seconds = twi_seconds() - began;
    must_run(cudaMemcpy(matrix, work.data, size, cudaMemcpyDeviceToHost), "download");
    memcpy(resident, matrix, size);
    must_run(cudaStreamDestroy(stream), "freeing");
    must_run(cudaFree(panels), "freeing");
    must_run(cudaFree(work.data), "freeing");
    return seconds;
}

static double run_far(const bench_case *c, uint64_t *bytes)
{
    twi_gpu_host host = {
        .data = matrix, .n = n, .ld = n, .type = c->type, .symmetric = c->undirected};
    twi_gpu_list list = {.count = c->devices};
    uint64_t limit = (uint64_t)((double)(n * n) * (double)tw_type_size(c->type) * c->share);
    tw_type used;
    double began = twi_seconds();
    if (strcmp(c->what, "several") == 0) {
        *bytes = twi_gpu_several_bytes(&list, c->type, n, c->narrow);
        must(twi_gpu_close(ctx, &list, TWI_GPU_SEVERAL, UINT64_MAX, &host, c->narrow, &used));
    } else {
        (void)twi_gpu_stream_fits(c->type, n, c->narrow, limit, bytes);
        must(twi_gpu_close(ctx, &list, TWI_GPU_STREAMED, limit, &host, c->narrow, &used));
    }
    return twi_seconds() - began;
}

static int run_case(const bench_case *c)
{
    bool base = strcmp(c->what, "resident") == 0;
    double best = 1e30;
    uint64_t bytes = 0;
    int64_t wrong = 0;
    int64_t other = 0;
    for (int i = 0; i < repeats; i++) {
        fill_matrix(c->type);
        double seconds = base ? run_resident(c, &bytes) : run_far(c, &bytes);
        best = seconds < best ? seconds : best;
        wrong += count_wrong(c->type);
        other += base ? 0 : count_other_bits(c->type);
    }
    double rate = (double)n * (double)n * (double)n / best;
    printf("{\"case\": \"%s\", \"type\": \"%s\", \"narrow\": %d, \"n\": %lld, \"devices\": %d, "
           "\"undirected\": %d, \"parts\": %d, \"reach\": %lld, \"share\": %.3f, "
           "\"device_bytes\": %llu, \"seconds\": %.4f, "
           "\"relaxations_per_s\": %.4e, \"rows_checked\": %d, \"wrong\": %lld, "
           "\"rows_unlike_resident\": %lld}\n",
           c->what, tw_type_name(c->type), c->narrow, (long long)n, c->devices, c->undirected,
           c->parts, (long long)c->reach, c->share, (unsigned long long)bytes, best, rate, SOURCES,
           (long long)wrong, (long long)other);
    fprintf(
        stderr,
        "%-8s %-10s %-4s %-7s parts %d reach %3lld devices %d share %.3f %6.3f GiB each %8.4f s "
        "%7.3f T/s %s\n",
        c->what, c->undirected ? "undirected" : "directed", tw_type_name(c->type),
        c->narrow ? "16 bits" : "", c->parts, (long long)c->reach, c->devices, c->share,
        (double)bytes / (1 << 30), best, rate * 1e-12, wrong + other == 0 ? "checked" : "WRONG");
    fflush(stdout);
    return wrong + other != 0;
}

static bool same_graph(const bench_case *a, const bench_case *b)
{
    return a->undirected == b->undirected && a->parts == b->parts && a->reach == b->reach;
}

/* The graph of a case, with the rows to check. */
static void make_graph(const bench_case *c)
{
    make_weights(c);
#pragma omp parallel for schedule(dynamic, 1)
    for (int s = 0; s < SOURCES; s++) {
        find_distances(s);
    }
}

static void allocate(void)
{
    size_t bytes = (size_t)(n * n) * sizeof(float);
    weights = must_have((size_t)(n * n) * sizeof *weights);
    matrix = must_have(bytes);
    resident = must_have(bytes);
    for (int s = 0; s < SOURCES; s++) {
        sources[s] = (int64_t)twi_random_below(twi_random_at(9, (uint64_t)s), (uint64_t)n);
        distances[s] = must_have((size_t)n * sizeof *distances[s]);
    }
    memset(matrix, 0, bytes); /* its pages exist before they are pinned */
    double began = twi_seconds();
    must_run(cudaHostRegister(matrix, bytes, cudaHostRegisterPortable), "pinning");
    double pinning = twi_seconds() - began;
    printf("{\"case\": \"pinning\", \"bytes\": %zu, \"seconds\": %.4f}\n", bytes, pinning);
    fprintf(stderr, "pinning %.1f GiB: %.3f s\n", (double)bytes / (1 << 30), pinning);
}

int main(int argc, char **argv)
{
    static const bench_case cases[] = {
        {"resident", TW_I32, false, 1, 1, false, 1, 0},
        {"several", TW_I32, false, 2, 1, false, 1, 0},
        {"several", TW_I32, false, 3, 1, false, 1, 0},
        {"streamed", TW_I32, false, 1, 0.25, false, 1, 0},
        {"streamed", TW_I32, false, 1, 0.5, false, 1, 0},
        {"several", TW_I32, true, 2, 1, false, 1, 0},
        {"streamed", TW_I32, true, 1, 0.25, false, 1, 0},
        {"resident", TW_F32, false, 1, 1, false, 1, 0},
        {"several", TW_F32, false, 2, 1, false, 1, 0},
        {"streamed", TW_F32, false, 1, 0.25, false, 1, 0},
        {"resident", TW_I32, false, 1, 1, true, 1, 0},
        {"several", TW_I32, false, 2, 1, true, 1, 0},
        {"streamed", TW_I32, false, 1, 0.25, true, 1, 0},
        {"several", TW_I32, true, 2, 1, true, 1, 0},
        {"streamed", TW_I32, true, 1, 0.25, true, 1, 0},
        {"resident", TW_I32, false, 1, 1, false, 8, 0},
        {"several", TW_I32, false, 2, 1, false, 8, 0},
        {"streamed", TW_I32, false, 1, 0.25, false, 8, 0},
        {"resident", TW_I32, false, 1, 1, true, 8, 0},
        {"several", TW_I32, false, 2, 1, true, 8, 0},
        {"streamed", TW_I32, false, 1, 0.25, true, 8, 0},
        {"resident", TW_I32, false, 1, 1, false, 1, 500},
        {"several", TW_I32, false, 2, 1, false, 1, 500},
        {"streamed", TW_I32, false, 1, 0.25, false, 1, 500},
    };
    const int count = sizeof cases / sizeof *cases;
    n = argc > 1 ? strtoll(argv[1], NULL, 10) : 32768;
    repeats = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    if (tw_context_create(&ctx) != TW_OK) {
        return 1;
    }
    must(tw_set_device(ctx, TWI_GPU_PREFIX));
    allocate();
    int bad = 0;
    for (int i = 0; i < count; i++) {
        if (i == 0 || !same_graph(&cases[i], &cases[i - 1])) {
            make_graph(&cases[i]);
        }
        bad += run_case(&cases[i]);
    }
    must_run(cudaHostUnregister(matrix), "unpinning");
    for (int s = 0; s < SOURCES; s++) {
        twi_free(distances[s]);
    }
    twi_free(resident);
    twi_free(matrix);
    twi_free(weights);
    tw_context_destroy(ctx);
    return bad != 0;
}
