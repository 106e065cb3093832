/*
 * Ladder apsp-scatter: from edges in host memory to a matrix of distances on the card, padded to
 * tiles of 78, and from there to n x n distances in host memory (row B2, whose authors compared at
 * n = 30000). The closure between the two is left out. As many edges as one in a hundred pairs, in
 * any order; every eighth joins the same vertices as the one before it.
 *
 *   host     filled and the edges put on the host, one copy of it all; back by a copy for each row
 *   card     the edges copied; the card fills and writes them, keeping the minimum atomically
 *   pack     back by one copy of it all, padding too, which the host then drops
 *   copy-2d  back by one copy that leaves the padding behind, cudaMemcpy2D
 *   engine   the library's compressed rows and kernels: arcs of a vertex by neighbouring threads,
 *            and a pass that lays rows side by side, 8 MB at a time
 *
 * The parts: "compute" is making the matrix, wherever that is done; "upload" the copy to the card,
 * "download" all that leads to the result, the host's share with it. The library sorts edges into
 * compressed rows while it reads a graph: that is the engine's "read". What the library has besides
 * goes with a whole run and cannot be called by itself: arcs through pinned memory, and rows that
 * are copied while others are taken; apsp-files shows it. All copies here are from and to ordinary
 * memory.
 *
 * Checked against a matrix made by plain code, the padding too.
 */
#include "base/memory.h"
#include "ladders/answers.h"
#include "ladders/ladders.h"
#include "ladders/listed.h"

/* Who makes the matrix, and how it comes back: a and b of a rung. */
enum { BY_HOST, BY_CARD, BY_LIBRARY };
enum { EACH_ROW, PACKED, COPY_2D };

static int64_t edge_count(int64_t n)
{
    return n * n / 100 + 1;
}

static double traffic(int64_t n)
{
    return 4 * (double)n * (double)n + 12 * (double)edge_count(n);
}

#ifndef LAB_LISTED_ONLY
#include "ladders/apsp/scatter_kernels.h"
#include "ladders/gpu_timing.h"

#include "apsp/gpu/kernels/arcs.h"
#include "apsp/gpu/kernels/rows.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/threads.h"

#include <string.h>

#define TILE 78
#define LARGEST 46000            /* vertices */
#define BLOCK ((int64_t)8 << 20) /* bytes of rows that the engine takes at a time */

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    int64_t side; /* n padded to tiles */
    lab_edges edges;
    int32_t *right, *output; /* n x n */
    int32_t *padded;         /* side x side, on the host */
    int32_t *matrix;         /* side x side, on the card */
    char *lists;             /* on the card, as lay_out has it */
    int32_t *rows;           /* BLOCK bytes on the card */
} bench;

/* ---------------------------------------------------------------------------------------- edges */

static void draw_edges(const bench *b, uint64_t seed)
{
    const uint64_t n = (uint64_t)b->n;
    const int threads = twi_thread_count(b->ctx);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t e = 0; e < b->edges.count; e++) {
        uint64_t pair = (uint64_t)(e % 8 == 7 ? e - 1 : e);
        b->edges.source[e] = (int32_t)twi_random_below(twi_random_at(seed, 2 * pair), n);
        b->edges.target[e] = (int32_t)twi_random_below(twi_random_at(seed, 2 * pair + 1), n);
        b->edges.weight[e] = (int32_t)twi_random_below(twi_random_at(seed + 1, (uint64_t)e), 1001);
    }
}

/* A matrix of `side` on the host: rows by all threads, edges by one, since two may meet. */
static void make_matrix(const bench *b, int32_t *matrix, int64_t side)
{
    const lab_edges *edges = &b->edges;
    const int threads = twi_thread_count(b->ctx);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < side; i++) {
        for (int64_t j = 0; j < side; j++) {
            matrix[i * side + j] = i == j && i < b->n ? 0 : TW_APSP_INF_I32;
        }
    }
    for (int64_t e = 0; e < edges->count; e++) {
        int32_t *at = &matrix[edges->source[e] * side + edges->target[e]];
        *at = edges->weight[e] < *at ? edges->weight[e] : *at;
    }
}

/* ---------------------------------------------------------------------------------------- bench */

/* What lies in b->lists: a flag, the beginnings of compressed rows, three arrays of edges. */
typedef struct lists {
    uint64_t *misfit;
    int64_t *offsets; /* n + 1 */
    lab_edges edges;
} lists;

static uint64_t list_bytes(const bench *b)
{
    return 8 * ((uint64_t)b->n + 2) + 12 * (uint64_t)b->edges.count;
}

static lists lay_out(const bench *b)
{
    lists at = {.misfit = (void *)b->lists, .offsets = (void *)(b->lists + 8)};
    int64_t count = b->edges.count;
    int32_t *first = (void *)(b->lists + 8 * (b->n + 2));
    at.edges = (lab_edges){count, first, first + count, first + 2 * count};
    return at;
}

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        (void)cudaFree(b->rows);
        (void)cudaFree(b->lists);
        (void)cudaFree(b->matrix);
        twi_free(b->padded);
        twi_free(b->output);
        twi_free(b->right);
        twi_free(b->edges.weight);
        twi_free(b->edges.target);
        twi_free(b->edges.source);
        twi_free(b);
    }
}

static tw_status take_host_memory(bench *b)
{
    uint64_t cells = (uint64_t)b->n * (uint64_t)b->n, side = (uint64_t)b->side;
    int32_t **edges[] = {&b->edges.source, &b->edges.target, &b->edges.weight};
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < 3; i++) {
        status = twi_alloc(b->ctx, edges[i], (uint64_t)b->edges.count, 4, "the edges");
    }
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &b->right, cells, 4, "the right answer");
    }
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &b->output, cells, 4, "the output");
    }
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &b->padded, side * side, 4, "the padded matrix");
    }
    return status;
}

static tw_status take_card_memory(bench *b)
{
    uint64_t side = (uint64_t)b->side;
    tw_status status =
        LAB_TRY(b->ctx, cudaMalloc((void **)&b->matrix, side * side * 4), "allocating the matrix");
    if (status == TW_OK) {
        status =
            LAB_TRY(b->ctx, cudaMalloc((void **)&b->lists, list_bytes(b)), "allocating the edges");
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaMalloc((void **)&b->rows, BLOCK), "allocating rows");
    }
    return status;
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    if (n > LARGEST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "n = %lld: the maximum is %d", (long long)n, LARGEST);
    }
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    b->side = (n + TILE - 1) / TILE * TILE;
    b->edges.count = edge_count(n);
    status = take_host_memory(b);
    if (status == TW_OK) {
        status = take_card_memory(b);
    }
    if (status == TW_OK) {
        draw_edges(b, seed);
        make_matrix(b, b->right, n);
        status = twi_check_cancel(ctx);
    }
    return status;
}

/* The matrix on the card, too: it must not be the one of the rung before. */
static void spoil(void *given)
{
    bench *b = given;
    lab_poison(b->output, b->n, 4);
    (void)cudaMemset(b->matrix, 0xFF, (size_t)(b->side * b->side) * 4);
}

static tw_status check_padding(bench *b, const lab_rung *rung)
{
    tw_status status = LAB_TRY(
        b->ctx,
        cudaMemcpy(b->padded, b->matrix, (size_t)(b->side * b->side) * 4, cudaMemcpyDeviceToHost),
        "copying the padded matrix");
    for (int64_t i = 0; status == TW_OK && i < b->side; i++) {
        for (int64_t j = i < b->n ? b->n : 0; status == TW_OK && j < b->side; j++) {
            if (b->padded[i * b->side + j] != TW_APSP_INF_I32) {
                status =
                    tw_fail(b->ctx, TW_ERR_VERIFY,
                            "rung %s is wrong: the padding at row %lld, column %lld is %d",
                            rung->name, (long long)i, (long long)j, b->padded[i * b->side + j]);
            }
        }
    }
    return status;
}

/* The library's closure needs no padding, so its scatter leaves that alone. */
static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    bench *b = given;
    tw_status status = lab_same_distances(ctx, rung, b->output, b->right, b->n);
    return status != TW_OK || rung->a == BY_LIBRARY ? status : check_padding(b, rung);
}

static tw_status inspect(void *given, const lab_rung *rung, lab_kernel *out)
{
    const bench *b = given;
    (void)rung;
    return lab_inspect(b->ctx, lab_scatter_kernel(), LAB_SCATTER_THREADS, 0, out);
}

/* ---------------------------------------------------------------------------------------- parts */

/* The seconds since *begun, when the card is done with what it has; the next part begins. */
static tw_status end_part(bench *b, double *begun, double *part)
{
    tw_status status = LAB_TRY(b->ctx, cudaDeviceSynchronize(), "waiting for the card");
    double now = twi_seconds();
    *part = now - *begun;
    *begun = now;
    return status;
}

static tw_status send(bench *b, void *to, const void *from, uint64_t bytes, const char *what)
{
    return LAB_TRY(b->ctx, cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), what);
}

static tw_status fetch(bench *b, void *to, const void *from, uint64_t bytes)
{
    return LAB_TRY(b->ctx, cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost),
                   "copying the result");
}

static tw_status make_on_host(bench *b, double *begun, lab_time *time)
{
    make_matrix(b, b->padded, b->side);
    tw_status status = end_part(b, begun, &time->compute);
    if (status == TW_OK) {
        status = send(b, b->matrix, b->padded, (uint64_t)b->side * (uint64_t)b->side * 4,
                      "copying the matrix");
    }
    return status == TW_OK ? end_part(b, begun, &time->upload) : status;
}

static tw_status make_on_card(bench *b, double *begun, lab_time *time)
{
    const lab_edges *here = &b->edges, there = lay_out(b).edges;
    uint64_t bytes = (uint64_t)here->count * 4;
    tw_status status = send(b, there.source, here->source, bytes, "copying the edges");
    if (status == TW_OK) {
        status = send(b, there.target, here->target, bytes, "copying the edges");
    }
    if (status == TW_OK) {
        status = send(b, there.weight, here->weight, bytes, "copying the edges");
    }
    if (status == TW_OK) {
        status = end_part(b, begun, &time->upload);
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, lab_scatter(b->matrix, (int)b->side, (int)b->n, &there),
                         "scattering the edges");
    }
    return status == TW_OK ? end_part(b, begun, &time->compute) : status;
}

static tw_status fetch_each_row(bench *b)
{
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < b->n; i++) {
        status = fetch(b, b->output + i * b->n, b->matrix + i * b->side, (uint64_t)b->n * 4);
    }
    return status;
}

static tw_status fetch_and_pack(bench *b)
{
    const int threads = twi_thread_count(b->ctx);
    (void)threads;
    tw_status status = fetch(b, b->padded, b->matrix, (uint64_t)b->side * (uint64_t)b->side * 4);
    if (status == TW_OK) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t i = 0; i < b->n; i++) {
            memcpy(b->output + i * b->n, b->padded + i * b->side, (size_t)b->n * 4);
        }
    }
    return status;
}

static tw_status fetch_2d(bench *b)
{
    size_t row = (size_t)b->n * 4;
    return LAB_TRY(b->ctx,
                   cudaMemcpy2D(b->output, row, b->matrix, (size_t)b->side * 4, row, (size_t)b->n,
                                cudaMemcpyDeviceToHost),
                   "copying the result");
}

/* ---------------------------------------------------------------------------------------- rungs */

/* a: who makes the matrix; b: how it comes back. */
static tw_status run_there_and_back(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    double first = twi_seconds(), begun = first;
    tw_status status =
        rung->a == BY_HOST ? make_on_host(b, &begun, time) : make_on_card(b, &begun, time);
    if (status == TW_OK) {
        status = rung->b == EACH_ROW ? fetch_each_row(b)
                 : rung->b == PACKED ? fetch_and_pack(b)
                                     : fetch_2d(b);
    }
    if (status == TW_OK) {
        status = end_part(b, &begun, &time->download);
    }
    time->total = begun - first;
    return status;
}

/* The arcs of a graph as the library has them, to the card. */
static tw_status send_arcs(bench *b, const tw_graph *graph, twi_gpu_arcs *arcs)
{
    const lists there = lay_out(b);
    const int64_t *offsets = NULL;
    const int32_t *targets = NULL;
    const void *weights = NULL;
    tw_graph_rows(graph, &offsets, &targets, &weights);
    uint64_t bytes = (uint64_t)offsets[b->n] * 4;
    *arcs = (twi_gpu_arcs){.n = b->n,
                           .offsets = there.offsets,
                           .targets = there.edges.target,
                           .weights = there.edges.weight,
                           .weight_type = TW_I32};
    tw_status status =
        send(b, there.offsets, offsets, ((uint64_t)b->n + 1) * sizeof *offsets, "copying the arcs");
    if (status == TW_OK) {
        status = send(b, there.edges.target, targets, bytes, "copying the arcs");
    }
    return status == TW_OK ? send(b, there.edges.weight, weights, bytes, "copying the arcs")
                           : status;
}

static tw_status fetch_blocks(bench *b)
{
    const twi_gpu_rows rows = {.in = {b->matrix, b->side},
                               .work = TW_I32,
                               .type = TW_I32,
                               .misfit = lay_out(b).misfit, /* every weight fits: never written */
                               .cutoff = -1,
                               .cols = b->n};
    const int64_t most = BLOCK / (4 * b->n);
    tw_status status = TW_OK;
    for (int64_t first = 0; status == TW_OK && first < b->n; first += most) {
        int64_t count = b->n - first < most ? b->n - first : most;
        status = LAB_TRY(b->ctx, twi_gpu_take_rows(b->rows, &rows, first, count, NULL),
                         "starting to take rows");
        if (status == TW_OK) {
            status = fetch(b, b->output + first * b->n, b->rows, (uint64_t)(count * b->n) * 4);
        }
    }
    return status;
}

static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const tw_edges edges = {sizeof edges,    b->edges.count, b->edges.source, b->edges.target,
                            b->edges.weight, TW_I32,         TW_I32};
    const twi_gpu_square square = {b->matrix, b->side};
    twi_gpu_arcs arcs;
    tw_graph *graph = NULL;
    double first = twi_seconds(), begun = first;
    (void)rung;
    tw_status status = tw_graph_from_edges(b->ctx, &graph, b->n, &edges, 0);
    if (status == TW_OK) {
        status = end_part(b, &begun, &time->read);
    }
    if (status == TW_OK) {
        status = send_arcs(b, graph, &arcs);
    }
    if (status == TW_OK) {
        status = end_part(b, &begun, &time->upload);
    }
    if (status == TW_OK) {
        status =
            LAB_TRY(b->ctx, twi_gpu_scatter(TW_I32, square, &arcs, NULL), "scattering the arcs");
    }
    if (status == TW_OK) {
        status = end_part(b, &begun, &time->compute);
    }
    if (status == TW_OK) {
        status = fetch_blocks(b);
    }
    if (status == TW_OK) {
        status = end_part(b, &begun, &time->download);
    }
    time->total = begun - first;
    tw_graph_destroy(graph);
    return status;
}

static const void *kernel_of(const lab_rung *rung)
{
    return rung->inspect != NULL ? lab_scatter_kernel() : NULL;
}

#endif /* LAB_LISTED_ONLY */

#define IN_KERNELS "apsp/scatter_kernels.cu lab_scatter"

static const lab_rung rungs[] = {
    {.name = "host",
     .row = "B2",
     .idea = "the host fills the matrix and puts the edges; a copy of it, and of each row back",
     .source = "apsp/scatter.c make_matrix make_on_host fetch_each_row",
     .run = LAB_ON_GPU(run_there_and_back),
     .a = BY_HOST,
     .b = EACH_ROW},
    {.name = "card",
     .parent = "host",
     .row = "B2",
     .idea = "only the edges are copied; the card fills and writes edges, keeping the minimum "
             "atomically",
     .source = "apsp/scatter.c make_on_card fetch_each_row " IN_KERNELS,
     .run = LAB_ON_GPU(run_there_and_back),
     .a = BY_CARD,
     .b = EACH_ROW,
     .inspect = LAB_ON_GPU(inspect)},
    {.name = "pack",
     .parent = "card",
     .row = "B2",
     .idea = "one copy back instead of n, with the padding, which the host drops",
     .source = "apsp/scatter.c make_on_card fetch_and_pack " IN_KERNELS,
     .run = LAB_ON_GPU(run_there_and_back),
     .a = BY_CARD,
     .b = PACKED,
     .inspect = LAB_ON_GPU(inspect)},
    {.name = "copy-2d",
     .parent = "pack",
     .row = "B2",
     .idea = "one copy back that leaves the padding on the card: cudaMemcpy2D",
     .source = "apsp/scatter.c make_on_card fetch_2d " IN_KERNELS,
     .run = LAB_ON_GPU(run_there_and_back),
     .a = BY_CARD,
     .b = COPY_2D,
     .inspect = LAB_ON_GPU(inspect)},
    {.name = "engine",
     .parent = "copy-2d",
     .idea =
         "compressed rows, 32 threads for a vertex; rows laid side by side: the library's parts",
     .against = "the matrix as the CPU makes it of the same edges",
     .source = "apsp/scatter.c run_engine",
     .run = LAB_ON_GPU(run_engine),
     .a = BY_LIBRARY},
};

static const int64_t default_sizes[] = {5000, 10000, 0};

/* Row B2 tells the size of its comparison and no times. */
static const lab_published published[] = {{"host", 30000, 0},   {"card", 30000, 0},
                                          {"pack", 30000, 0},   {"copy-2d", 30000, 0},
                                          {"engine", 30000, 0}, {NULL, 0, 0}};

const lab_ladder lab_apsp_scatter = {
    .name = "apsp-scatter",
    .title = "From edges to a padded matrix on a GPU, and back without the padding",
    .unit = "elements",
    .size = "vertices",
    .against = "the matrix as the CPU makes it of the same edges; no edge in the padding",
    .gpu = true,
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .sizes = default_sizes,
    .published = published,
    .published_on = "a GTX 1080 (row B2), which gives no times",
    .open = LAB_ON_GPU(open_bench),
    .spoil = LAB_ON_GPU(spoil),
    .check = LAB_ON_GPU(check),
    .close = LAB_ON_GPU(close_bench),
    .kernel = LAB_ON_GPU(kernel_of),
    .work = lab_elements,
    .traffic = traffic,
    .ceiling = lab_download_ceiling,
};
