/*
 * Ladder entropy-gpu: the entropy of the 5 x 5 window around each element of a square array of 16
 * levels, from host memory to host memory by a GPU, as row D1 developed it: an element comes as a
 * float, and blocks have 32 x 32 threads. Times hold the copies; "compute" is the kernel alone.
 *
 *   v0  logarithms          v1  table known when compiling           v2  table in shared memory
 *   v3  in constant memory  v4  in global memory                     v5  as a texture of floats
 *   v6  8-bit counters      v7  floats in the table                  v8  input as a 2-D texture
 *   v9  input through shared memory
 *   v7-shared, v7-constant, v7-texture  other places for the table of v7
 *   v7-float  sums in float, too: wrong, as its authors say
 *   bytes     a byte per element                                     engine  the library, bytes
 *
 * The ladder branches: v6 comes from v1, what begins with v7, v8, v9 and bytes from v7.
 *
 * entropy-gpu-threads has some of these kernels compiled for blocks of 128 to 1024 threads: whether
 * a block of 1024, whose threads have 64 registers at most, is what makes a version slow. Held
 * kernels have those 64 in a smaller block.
 */
#include "ladders/answers.h"
#include "ladders/entropy/array.h"
#include "ladders/entropy/gpu_kernels.h"
#include "ladders/ladders.h"
#include "ladders/listed.h"

#include <math.h>
#include <string.h>

/* How the elements come: rung->a. */
enum { AS_FLOATS, AS_TEXTURE, AS_BYTES };

#ifndef LAB_LISTED_ONLY
#include "base/clock.h"
#include "base/memory.h"
#include "ladders/gpu_timing.h"

enum { MOST = LAB_ENTROPY_MOST };
enum { INPUT, BYTES, OUTPUT, TABLE, FLOAT_TABLE, BUFFERS }; /* on the card */

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    lab_entropy_array host;
    float *floats; /* host.input as floats */
    lab_entropy_card card;
    void *on_card[BUFFERS];
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
    what.res.linear.devPtr = b->on_card[FLOAT_TABLE];
    what.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    what.res.linear.sizeInBytes = (MOST + 1) * sizeof(float);
    tw_status status = LAB_TRY(b->ctx, cudaCreateTextureObject(&made, &what, &how, NULL),
                               "making a texture of the table");
    b->card.table_texture = status == TW_OK ? (uintptr_t)made : 0;
    struct cudaChannelFormatDesc element =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    if (status == TW_OK) {
        status =
            LAB_TRY(b->ctx, cudaMallocArray(&b->array, &element, (size_t)b->n, (size_t)b->n, 0),
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
        table[n] = log(n);
        floats[n] = (float)table[n];
    }
    tw_status status =
        LAB_TRY(b->ctx, cudaMemcpy(b->on_card[TABLE], table, sizeof table, cudaMemcpyHostToDevice),
                "a table");
    if (status == TW_OK) {
        status = LAB_TRY(
            b->ctx,
            cudaMemcpy(b->on_card[FLOAT_TABLE], floats, sizeof floats, cudaMemcpyHostToDevice),
            "a table");
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, lab_entropy_constants(table, floats), "filling constant memory");
    }
    return status;
}

static tw_status take_memory(bench *b)
{
    uint64_t cells = (uint64_t)b->n * (uint64_t)b->n;
    const uint64_t bytes[BUFFERS] = {[INPUT] = cells * 4,
                                     [BYTES] = cells,
                                     [OUTPUT] = cells * 4,
                                     [TABLE] = (MOST + 1) * 8,
                                     [FLOAT_TABLE] = (MOST + 1) * 4};
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < BUFFERS; i++) {
        status = LAB_TRY(b->ctx, cudaMalloc(&b->on_card[i], bytes[i]), "allocating on the card");
    }
    b->card.input = b->on_card[INPUT];
    b->card.bytes = b->on_card[BYTES];
    b->card.output = b->on_card[OUTPUT];
    b->card.table = b->on_card[TABLE];
    b->card.float_table = b->on_card[FLOAT_TABLE];
    b->card.n = (int)b->n;
    return status;
}

static tw_status make_floats(bench *b)
{
    const int64_t cells = b->n * b->n;
    tw_status status = twi_alloc(b->ctx, &b->floats, (uint64_t)cells, 4, "the input as floats");
    for (int64_t i = 0; status == TW_OK && i < cells; i++) {
        b->floats[i] = b->host.input[i];
    }
    return status;
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    if (n > 32768) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "n = %lld: the maximum is 32768, the side of a texture", (long long)n);
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
    if (status == TW_OK) {
        status = lab_entropy_array_make(&b->host, ctx, n, n, seed);
    }
    return status != TW_OK ? status : make_floats(b);
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
        for (int i = 0; i < BUFFERS; i++) {
            (void)cudaFree(b->on_card[i]);
        }
        lab_clock_destroy(&b->clock);
        twi_free(b->floats);
        lab_entropy_array_free(&b->host);
        twi_free(b);
    }
}

/* The output on the card, too: what a kernel leaves out must not be right from the rung before. */
static void spoil(void *given)
{
    bench *b = given;
    lab_entropy_array_spoil(&b->host);
    (void)cudaMemset(b->on_card[OUTPUT], 0xFF, (size_t)(b->n * b->n) * sizeof(float)); /* NaN */
}

/* The definition, in double precision. */
static double entropy_at(const bench *b, int64_t y, int64_t x)
{
    int counts[LAB_ENTROPY_LEVELS] = {0}, total = 0;
    for (int64_t i = y - LAB_ENTROPY_HALF; i <= y + LAB_ENTROPY_HALF; i++) {
        for (int64_t j = x - LAB_ENTROPY_HALF; j <= x + LAB_ENTROPY_HALF; j++) {
            if (i >= 0 && i < b->n && j >= 0 && j < b->n) {
                counts[b->host.input[i * b->n + j]]++;
                total++;
            }
        }
    }
    double sum = 0;
    for (int level = 0; level < LAB_ENTROPY_LEVELS; level++) {
        double p = (double)counts[level] / total;
        sum -= counts[level] > 0 ? p * log(p) : 0;
    }
    return sum;
}

/* That a rung has the flaw it is said to have: among the first windows are some whose fourth
 * decimal is another than the definition's. */
static tw_status check_flaw(tw_context *ctx, const bench *b, const lab_rung *rung)
{
    const int64_t rows = b->n < 400 ? b->n : 400;
    int64_t differ = 0;
    for (int64_t i = 0; i < rows * b->n; i++) {
        differ += lround(entropy_at(b, i / b->n, i % b->n) * 1e4) !=
                  lround((double)b->host.output[i] * 1e4);
    }
    return differ > 0 || b->n < 400
               ? TW_OK
               : tw_fail(ctx, TW_ERR_VERIFY, "rung %s has four decimals right of %lld windows",
                         rung->name, (long long)(rows * b->n));
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    tw_status status = lab_entropy_array_check(ctx, &b->host, rung);
    return status == TW_OK && rung->flaw != NULL ? check_flaw(ctx, b, rung) : status;
}

/* ---------------------------------------------------------------------------------------- rungs */

static tw_status upload(bench *b, int32_t as)
{
    const size_t cells = (size_t)b->n * (size_t)b->n, row = (size_t)b->n * sizeof(float);
    const int error =
        as == AS_TEXTURE ? (int)cudaMemcpy2DToArray(b->array, 0, 0, b->floats, row, row,
                                                    (size_t)b->n, cudaMemcpyHostToDevice)
        : as == AS_BYTES
            ? (int)cudaMemcpy(b->on_card[BYTES], b->host.input, cells, cudaMemcpyHostToDevice)
            : (int)cudaMemcpy(b->on_card[INPUT], b->floats, cells * sizeof(float),
                              cudaMemcpyHostToDevice);
    return LAB_TRY(b->ctx, error, "copying the input");
}

static tw_status run_version(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const lab_entropy_recipe *recipe = rung->code;
    double begun = twi_seconds();
    tw_status status = upload(b, rung->a);
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
                         cudaMemcpy(b->host.output, b->on_card[OUTPUT], (size_t)(b->n * b->n) * 4,
                                    cudaMemcpyDeviceToHost),
                         "copying the result");
    }
    double done = twi_seconds();
    time->upload = uploaded - begun;
    time->download = done - computed;
    time->total = done - begun;
    return status;
}

/* The kernel alone: what blocks of other sizes can change. */
static tw_status run_kernel(void *given, const lab_rung *rung, lab_time *time)
{
    tw_status status = run_version(given, rung, time);
    time->total = time->compute;
    time->upload = time->download = 0;
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

static const void *kernel_of(const lab_rung *rung)
{
    const lab_entropy_recipe *recipe = rung->code;
    return recipe != NULL ? recipe->kernel : NULL;
}

#endif /* LAB_LISTED_ONLY */

#define IN_KERNELS "entropy/gpu_kernels.cu count_window finish "
#define VERSION_IN(functions, title, v, from, of, what)                                      \
    .name = title, .parent = from, .row = of, .idea = what, .source = IN_KERNELS functions,  \
    .recipe = #v, .run = LAB_ON_GPU(run_version), .code = LAB_CODE(&lab_entropy_##v##_1024), \
    .inspect = LAB_ON_GPU(inspect)
#define VERSION(title, v, from, of, what) VERSION_IN(#v, title, v, from, of, what)
#define D1(v, from, what)                \
    {                                    \
        VERSION(#v, v, from, "D1", what) \
    }
#define ON_V7(place, what)                                  \
    {                                                       \
        VERSION("v7-" #place, v7_##place, "v7", "D1", what) \
    }

static const lab_rung rungs[] = {
    D1(v0, NULL, "a thread for each element, a logarithm for each level that occurs"),
    D1(v1, "v0", "26 logarithms known when compiling, as an array of each thread"),
    D1(v2, "v0", "the table in shared memory"),
    {VERSION_IN("v3 lab_entropy_constants", "v3", v3, "v0", "D1",
                "the table in constant memory: reads of different places take turns")},
    D1(v4, "v0", "the table in global memory: the caches keep it"),
    D1(v5, "v4", "the table as a texture of floats, sums in double"),
    D1(v6, "v1", "counters of 8 bits: a quarter of their memory"),
    D1(v7, "v6", "floats in the table, sums in double"),
    ON_V7(shared, "its table in shared memory"),
    {VERSION_IN("v7_constant lab_entropy_constants", "v7-constant", v7_constant, "v7", "D1",
                "its table in constant memory")},
    ON_V7(texture, "its table as a texture"),
    {VERSION("v7-float", v7_float, "v7", "D1", "sums in float, too"),
     .flaw = "printed with four decimals, some windows have another last digit",
     .against = "the definition in double precision, every output, within 5e-6; and that fourth "
                "decimals differ"},
    {VERSION("v8", v8, "v7", "D1", "the input as a 2-D texture"), .a = AS_TEXTURE},
    D1(v9, "v7", "the input through shared memory, 32 x 32 read for 28 x 28"),
    {VERSION("bytes", bytes, "v7", NULL, "a byte per element: a quarter of the upload"),
     .a = AS_BYTES},
    {.name = "engine",
     .parent = "bytes",
     .idea =
         "packed counters slid along runs of outputs, pinned and overlapped copies: the library",
     .source = "entropy/array.c lab_entropy_by_library",
     .run = LAB_ON_GPU(run_engine)},
};

#define SHAPE(v, count, what)                                                              \
    {                                                                                      \
        .name = #v "-" #count, .row = "D1", .idea = what ", blocks of " #count " threads", \
        .source = IN_KERNELS #v, .recipe = #v, .run = LAB_ON_GPU(run_kernel),              \
        .code = LAB_CODE(&lab_entropy_##v##_##count), .inspect = LAB_ON_GPU(inspect)       \
    }
#define SHAPES(v, what) \
    SHAPE(v, 128, what), SHAPE(v, 256, what), SHAPE(v, 512, what), SHAPE(v, 1024, what)
/* The registers of a block of 1024 in a smaller one: were they what makes it slow, this would be.
 */
#define HELD(count)                                                                    \
    {                                                                                  \
        .name = "v7-" #count "-held", .parent = "v7-" #count, .row = "D1",             \
        .idea = "the control: held to 64 registers, as in a block of 1024",            \
        .source = IN_KERNELS "v7_held", .recipe = "v7_held, " #count,                  \
        .run = LAB_ON_GPU(run_kernel), .code = LAB_CODE(&lab_entropy_v7_held_##count), \
        .inspect = LAB_ON_GPU(inspect)                                                 \
    }
static const lab_rung shapes[] = {SHAPES(v0, "logarithms"), SHAPES(v1, "a table of doubles"),
                                  SHAPES(v7, "8-bit counters, a table of floats"), HELD(128),
                                  HELD(256)};

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

static const int64_t shape_sizes[] = {10240, 0};

const lab_ladder lab_entropy_gpu_threads = {
    .name = "entropy-gpu-threads",
    .title = "The kernels of row D1 compiled for blocks of 128 to 1024 threads",
    .unit = "elements",
    .size = "elements per side",
    .against = LAB_AGAINST_ENTROPY,
    .gpu = true,
    .rungs = shapes,
    .count = LAB_COUNT(shapes),
    .sizes = shape_sizes,
    .open = LAB_ON_GPU(open_bench),
    .spoil = LAB_ON_GPU(spoil),
    .check = LAB_ON_GPU(check),
    .close = LAB_ON_GPU(close_bench),
    .kernel = LAB_ON_GPU(kernel_of),
    .work = lab_elements,
    .traffic = lab_matrix_bytes,
    .ceiling = lab_card_copy_ceiling,
};

const lab_ladder lab_entropy_gpu = {
    .name = "entropy-gpu",
    .title = "Entropy of 5 x 5 windows, 16 levels, host to host by a GPU",
    .unit = "elements",
    .size = "elements per side",
    .against = LAB_AGAINST_ENTROPY,
    .gpu = true,
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .sizes = default_sizes,
    .published = published,
    .published_on = "one V100 of row D's authors, who upload floats",
    .open = LAB_ON_GPU(open_bench),
    .spoil = LAB_ON_GPU(spoil),
    .check = LAB_ON_GPU(check),
    .close = LAB_ON_GPU(close_bench),
    .kernel = LAB_ON_GPU(kernel_of),
    .work = lab_elements,
    .traffic = lab_image_bytes,
    .ceiling = lab_link_ceiling,
};
