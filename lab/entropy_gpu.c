/*
 * Ladder entropy-gpu: the entropy of the 5 x 5 window around each element of a square array of 16
 * levels, from host memory to host memory by a GPU, as row D1 developed it. Times hold the copies;
 * "compute" is the kernel alone.
 *
 *   v0  logarithms          v1  table as an array of each thread     v2  table in shared memory
 *   v3  in constant memory  v4  in global memory                     v5  as a texture of floats
 *   v6  8-bit counters      v7  floats in the table                  v8  input as a 2-D texture
 *   v9  input through shared memory                                  engine  the library
 *
 * The ladder branches: v6 comes from v1, v8 and v9 both from v7.
 */
#include "answers.h"
#include "entropy_array.h"
#include "entropy_gpu_kernels.h"
#include "gpu_timing.h"
#include "ladders.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

enum { MOST = LAB_ENTROPY_MOST };

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    lab_entropy_array host;
    lab_entropy_card card;
    void *on_card[4]; /* input, output, table, float table */
    struct cudaArray *array;
    lab_clock clock;
} bench;

/* ---------------------------------------------------------------------------------------- bench */

static tw_status make_textures(bench *b)
{
    struct cudaResourceDesc what;
    struct cudaTextureDesc how;
    cudaTextureObject_t made = 0;
    memset(&what, 0, sizeof what);
    memset(&how, 0, sizeof how);
    how.readMode = cudaReadModeElementType;
    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = b->on_card[3];
    what.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    what.res.linear.sizeInBytes = (MOST + 1) * sizeof(float);
    tw_status status = LAB_TRY(b->ctx, cudaCreateTextureObject(&made, &what, &how, NULL),
                               "making a texture of the table");
    b->card.table_texture = status == TW_OK ? (uintptr_t)made : 0;
    struct cudaChannelFormatDesc byte =
        cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaMallocArray(&b->array, &byte, (size_t)b->n, (size_t)b->n, 0),
                         "allocating an array for the texture");
    }
    if (status == TW_OK) {
        memset(&what, 0, sizeof what);
        what.resType = cudaResourceTypeArray;
        what.res.array.array = b->array;
        status = LAB_TRY(b->ctx, cudaCreateTextureObject(&made, &what, &how, NULL),
                         "making a texture of the input");
        b->card.input_texture = status == TW_OK ? (uintptr_t)made : 0;
    }
    return status;
}

static tw_status place_tables(bench *b)
{
    double table[MOST + 1] = {0};
    float floats[MOST + 1] = {0};
    for (int n = 1; n <= MOST; n++) {
        table[n] = n * log(n);
        floats[n] = (float)table[n];
    }
    tw_status status = LAB_TRY(
        b->ctx, cudaMemcpy(b->on_card[2], table, sizeof table, cudaMemcpyHostToDevice), "a table");
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx,
                         cudaMemcpy(b->on_card[3], floats, sizeof floats, cudaMemcpyHostToDevice),
                         "a table");
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, lab_entropy_constants(table), "filling constant memory");
    }
    return status;
}

static tw_status take_memory(bench *b)
{
    uint64_t cells = (uint64_t)b->n * (uint64_t)b->n;
    const uint64_t bytes[] = {cells, cells * 4, (MOST + 1) * 8, (MOST + 1) * 4};
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < 4; i++) {
        status = LAB_TRY(b->ctx, cudaMalloc(&b->on_card[i], bytes[i]), "allocating on the card");
    }
    b->card.input = b->on_card[0];
    b->card.output = b->on_card[1];
    b->card.table = b->on_card[2];
    b->card.float_table = b->on_card[3];
    b->card.n = (int)b->n;
    return status;
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    if (n > 32768) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "n = %lld: 32768 is the most a texture takes",
                       (long long)n);
    }
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    status = take_memory(b);
    if (status == TW_OK) {
        status = lab_clock_make(ctx, &b->clock);
    }
    if (status == TW_OK) {
        status = place_tables(b);
    }
    if (status == TW_OK) {
        status = make_textures(b);
    }
    return status != TW_OK ? status : lab_entropy_array_make(&b->host, ctx, n, n, seed);
}

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        if (b->card.input_texture != 0) {
            (void)cudaDestroyTextureObject((cudaTextureObject_t)b->card.input_texture);
        }
        if (b->card.table_texture != 0) {
            (void)cudaDestroyTextureObject((cudaTextureObject_t)b->card.table_texture);
        }
        (void)cudaFreeArray(b->array);
        for (int i = 0; i < 4; i++) {
            (void)cudaFree(b->on_card[i]);
        }
        lab_clock_destroy(&b->clock);
        lab_entropy_array_free(&b->host);
        twi_free(b);
    }
}

/* The output on the card, too: what a kernel leaves out must not be right from the rung before. */
static void spoil(void *given)
{
    bench *b = given;
    lab_entropy_array_spoil(&b->host);
    (void)cudaMemset(b->on_card[1], 0xFF, (size_t)(b->n * b->n) * sizeof(float)); /* NaN */
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_entropy_array_check(ctx, &b->host, rung);
}

/* ---------------------------------------------------------------------------------------- rungs */

static tw_status upload(bench *b, bool texture)
{
    size_t side = (size_t)b->n;
    if (texture) {
        return LAB_TRY(b->ctx,
                       cudaMemcpy2DToArray(b->array, 0, 0, b->host.input, side, side, side,
                                           cudaMemcpyHostToDevice),
                       "copying the input");
    }
    return LAB_TRY(b->ctx,
                   cudaMemcpy(b->on_card[0], b->host.input, side * side, cudaMemcpyHostToDevice),
                   "copying the input");
}

/* a: 1 if the input is a texture. */
static tw_status run_version(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const lab_entropy_recipe *recipe = rung->code;
    double begun = twi_seconds();
    tw_status status = upload(b, rung->a != 0);
    double uploaded = twi_seconds();
    if (status == TW_OK) {
        status = lab_clock_begin(b->ctx, &b->clock);
    }
    if (status == TW_OK) {
        recipe->solve(&b->card);
        status = lab_clock_end(b->ctx, &b->clock, &time->compute);
    }
    double computed = twi_seconds();
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx,
                         cudaMemcpy(b->host.output, b->on_card[1], (size_t)(b->n * b->n) * 4,
                                    cudaMemcpyDeviceToHost),
                         "copying the result");
    }
    double done = twi_seconds();
    time->upload = uploaded - begun;
    time->download = done - computed;
    time->total = done - begun;
    return status;
}

static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    (void)rung;
    return lab_entropy_by_library(b->ctx, &b->host, &time->total);
}

static tw_status inspect(void *given, const lab_rung *rung, lab_kernel *out)
{
    const bench *b = given;
    const lab_entropy_recipe *recipe = rung->code;
    return lab_inspect(b->ctx, recipe->kernel, recipe->threads, 0, out);
}

#define VERSION(v, from, what, texture)                                            \
    {                                                                              \
        .name = #v, .parent = from, .row = "D1", .idea = what, .run = run_version, \
        .code = &lab_entropy_##v, .a = (texture), .inspect = inspect               \
    }

static const lab_rung rungs[] = {
    VERSION(v0, NULL, "a thread for each element, a logarithm for each level that occurs", 0),
    VERSION(v1, "v0", "n log n from a table that each thread holds: it is indexed, so it is memory",
            0),
    VERSION(v2, "v0", "the table in shared memory", 0),
    VERSION(v3, "v0", "the table in constant memory: reads of different places take turns", 0),
    VERSION(v4, "v0", "the table in global memory: the caches keep it", 0),
    VERSION(v5, "v4", "the table as a texture of floats, sums in double", 0),
    VERSION(v6, "v1", "counters of 8 bits: a quarter of the local memory", 0),
    VERSION(v7, "v6", "floats in the table, sums in double", 0),
    VERSION(v8, "v7", "the input as a 2-D texture", 1),
    VERSION(v9, "v7", "the input through shared memory, 32 x 32 read for 28 x 28", 0),
    {.name = "engine",
     .parent = "v7",
     .idea =
         "packed counters slid along runs of outputs, pinned and overlapped copies: the library",
     .run = run_engine},
};

static const int64_t default_sizes[] = {400, 2560, 10240, 0};

static const lab_published published[] = {
    {"v0", 400, 4.29},  {"v1", 400, 4.71},  {"v2", 400, 3.80},  {"v3", 400, 3.71},
    {"v4", 400, 3.55},  {"v5", 400, 3.28},  {"v6", 400, 2.76},  {"v7", 400, 2.55},
    {"v8", 400, 2.43},  {"v9", 400, 2.56},  {"v0", 2560, 31.4}, {"v1", 2560, 41.3},
    {"v2", 2560, 29.5}, {"v3", 2560, 28.8}, {"v4", 2560, 29.4}, {"v5", 2560, 27.7},
    {"v6", 2560, 17.3}, {"v7", 2560, 15.3}, {"v8", 2560, 15.2}, {"v9", 2560, 16.5},
    {"v0", 10240, 474}, {"v1", 10240, 734}, {"v2", 10240, 549}, {"v3", 10240, 530},
    {"v4", 10240, 532}, {"v5", 10240, 508}, {"v6", 10240, 331}, {"v7", 10240, 298},
    {"v8", 10240, 297}, {"v9", 10240, 324}, {NULL, 0, 0}};

const lab_ladder lab_entropy_gpu = {
    .name = "entropy-gpu",
    .title = "Entropy of 5 x 5 windows, 16 levels, host to host by a GPU",
    .unit = "elements",
    .size = "elements a side",
    .against = LAB_AGAINST_ENTROPY,
    .gpu = true,
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .sizes = default_sizes,
    .published = published,
    .published_on = "one V100 of row D's authors, who upload floats",
    .open = open_bench,
    .spoil = spoil,
    .check = check,
    .close = close_bench,
    .work = lab_elements,
    .traffic = lab_image_bytes,
    .ceiling = lab_link_ceiling,
};
