/*
 * Ladder apsp-gpu: all-pairs shortest paths of a complete graph, the matrix already on the card.
 * Three lines of descent meet at the end:
 *
 *   naive             one launch for each k (row C1)
 *   stages … tiles-6  a pivot of 32: close its tile, its row and column, then the rest (row C2);
 *                     each rung takes one cost out of the third stage
 *   block-64          row A2: tiles of 64, 4 elements a thread, three tiles in shared memory
 *   grid … unrolled   the steps of row B5, from global memory to a coarse, unrolled kernel
 *   block-78          row B2: the target in registers, so that two tiles of 78 fill 48 KiB
 *   fused             block-64's shape with the add-and-minimum instruction
 *   engine, engine-16 the library's kernel
 *
 * apsp-gpu-shapes sweeps blocks and thread shapes (rows A4, B4, B5) over one kernel,
 * apsp-gpu-global blocks without shared memory, which may then be larger (row B5); apsp-hip takes
 * the shapes of row B4, chosen for AMD's waves of 64 threads and its shared memory, LDS, of 32
 * banks.
 */
#include "answers.h"
#include "apsp_gpu_kernels.h"
#include "apsp_host.h"
#include "gpu_timing.h"
#include "ladders.h"

#include <string.h>

#define ROOM 256 /* rows and columns of padding, at most */

/* ---------------------------------------------------------------------------------------- bench */

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    int32_t *input, *right, *output; /* n x n, on the host */
    int *matrix;                     /* (n + ROOM)^2, on the card */
    void *workspace;
    uint64_t workspace_bytes;
    lab_clock clock;
} bench;

/* The input on the card, padded to a multiple of `block`; *ld: the side of the padded matrix. */
static tw_status place_input(bench *b, int block, int *ld)
{
    int n = (int)b->n, side = (n + block - 1) / block * block;
    *ld = side;
    tw_status status = LAB_TRY(b->ctx, lab_pad(b->matrix, side, n), "padding the matrix");
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx,
                         cudaMemcpy2D(b->matrix, (size_t)side * 4, b->input, (size_t)n * 4,
                                      (size_t)n * 4, (size_t)n, cudaMemcpyHostToDevice),
                         "copying the input");
    }
    return status;
}

static tw_status fetch_output(bench *b, int ld, int32_t *to)
{
    size_t row = (size_t)b->n * 4;
    return LAB_TRY(
        b->ctx,
        cudaMemcpy2D(to, row, b->matrix, (size_t)ld * 4, row, (size_t)b->n, cudaMemcpyDeviceToHost),
        "copying the result");
}

static tw_status run_recipe(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const lab_recipe *r = rung->code;
    int ld = 0;
    tw_status status = place_input(b, r->block, &ld);
    if (status == TW_OK) {
        status = lab_clock_begin(b->ctx, &b->clock);
    }
    if (status == TW_OK) {
        r->solve(b->matrix, ld, r->block == 1 ? (int)b->n : ld);
        status = lab_clock_end(b->ctx, &b->clock, &time->total);
        time->compute = time->total;
    }
    return status != TW_OK ? status : fetch_output(b, ld, b->output);
}

/* a: the type the library works in. */
static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tw_matrix matrix = {b->matrix, b->n, b->n, b->n, TW_I32};
    tw_device_options options = TW_DEVICE_OPTIONS_INIT;
    int ld = 0;
    options.work_type = rung->a;
    options.workspace = b->workspace;
    options.workspace_bytes = b->workspace_bytes;
    tw_status status = place_input(b, 1, &ld);
    if (status == TW_OK) {
        status = lab_clock_begin(b->ctx, &b->clock);
    }
    if (status == TW_OK) {
        status = tw_apsp_device(b->ctx, &matrix, &options);
    }
    if (status == TW_OK) {
        status = lab_clock_end(b->ctx, &b->clock, &time->total);
        time->compute = time->total;
    }
    return status != TW_OK ? status : fetch_output(b, ld, b->output);
}

static tw_status inspect(void *given, const lab_rung *rung, lab_kernel *out)
{
    const lab_recipe *r = rung->code;
    bench *b = given;
    return lab_inspect(b->ctx, r->kernel, r->threads, r->shared, out);
}

/* Whether the card has the shared memory that the rung asks for. */
static bool fits(tw_context *ctx, const lab_rung *rung)
{
    const lab_recipe *r = rung->code;
    int most = 0, device = 0;
    (void)ctx;
    return r == NULL || (cudaGetDevice(&device) == cudaSuccess &&
                         cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                                device) == cudaSuccess &&
                         r->shared <= most);
}

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        lab_clock_destroy(&b->clock);
        (void)cudaFree(b->workspace);
        (void)cudaFree(b->matrix);
        twi_free(b->output);
        twi_free(b->right);
        twi_free(b->input);
        twi_free(b);
    }
}

/* The right answer is the library's, some rows of it checked by a search on the CPU. */
static tw_status find_answer(bench *b)
{
    const lab_rung whole = {.name = "answer", .a = TW_I32};
    lab_time time;
    tw_status status = run_engine(b, &whole, &time);
    if (status == TW_OK) {
        memcpy(b->right, b->output, (size_t)(b->n * b->n) * 4);
        status = lab_check_closure(b->ctx, b->input, b->right, b->n);
    }
    return status;
}

static tw_status take_memory(bench *b)
{
    uint64_t cells = (uint64_t)b->n * (uint64_t)b->n, side = (uint64_t)b->n + ROOM;
    tw_matrix matrix = {b->matrix, b->n, b->n, b->n, TW_I32};
    tw_device_options options = TW_DEVICE_OPTIONS_INIT;
    tw_status status = twi_alloc(b->ctx, &b->input, cells, 4, "the input");
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &b->right, cells, 4, "the right answer");
    }
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &b->output, cells, 4, "the output");
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaMalloc((void **)&b->matrix, side * side * 4),
                         "allocating the matrix");
    }
    if (status == TW_OK) {
        matrix.data = b->matrix;
        status = tw_apsp_device_workspace(b->ctx, &b->workspace_bytes, &matrix, &options);
    }
    if (status == TW_OK) { /* 16 bits need a second matrix, whatever n */
        uint64_t narrow = 0;
        options.work_type = TW_U16;
        status = tw_apsp_device_workspace(b->ctx, &narrow, &matrix, &options);
        b->workspace_bytes = narrow > b->workspace_bytes ? narrow : b->workspace_bytes;
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, cudaMalloc(&b->workspace, b->workspace_bytes),
                         "allocating the workspace");
    }
    return status;
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    if (n > 46000) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "n = %lld: 46000 is the most here", (long long)n);
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
        lab_complete_graph(ctx, b->input, n, seed);
        status = find_answer(b);
    }
    return status;
}

static void spoil(void *given)
{
    bench *b = given;
    lab_poison(b->output, b->n, 4);
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_same_distances(ctx, rung, b->output, b->right, b->n);
}

/* -------------------------------------------------------------------------------------- ladders */

#define RUNG(title, from, of, what, how, at_most)                                  \
    {                                                                              \
        .name = title, .parent = from, .row = of, .idea = what, .run = run_recipe, \
        .most = (at_most), .code = &lab_##how, .inspect = inspect                  \
    }

static const lab_rung rungs[] = {
    RUNG("naive", NULL, "C1", "one launch for each k: the matrix streams through memory n times",
         naive, 5000),
    RUNG("stages", "naive", "C2", "three stages over tiles of 32: memory is read n / 32 times",
         first, 10000),
    RUNG("merged-branches", "stages", "C2", "a minimum instead of branches", merged, 10000),
    RUNG("no-barrier", "merged-branches", "C2", "stage 3 writes nothing others read: one barrier",
         no_barrier, 10000),
    RUNG("registers", "no-barrier", "C2", "the running minimum in a register", in_register, 10000),
    RUNG("two-tiles", "registers", "C2", "the target tile stays out of shared memory", two_tiles,
         10000),
    RUNG("hoisted", "two-tiles", "C2", "addresses worked out before the loop", hoisted, 10000),
    RUNG("tiles-1", "hoisted", "C2", "the side known when compiling: the loop unrolls", tiles_1,
         10000),
    RUNG("tiles-2", "tiles-1", "C2", "a block owns 2 x 2 tiles: a value read serves two sums",
         tiles_2, 0),
    RUNG("tiles-4", "tiles-2", "C3", "a block owns 4 x 4 tiles", tiles_4, 0),
    RUNG("tiles-6", "tiles-4", "C3", "a block owns 6 x 6 tiles", tiles_6, 0),
    RUNG("block-64", "no-barrier", "A2", "tiles of 64, 4 elements a thread, three tiles in 48 KiB",
         large, 0),
    RUNG("grid", "naive", "B5", "three phases of 32 in global memory, a 2-D grid, bounds asked",
         grid, 2500),
    RUNG("padded", "grid", "B5", "the matrix padded to whole tiles: no bounds", padded, 2500),
    RUNG("coalesced", "padded", "B5", "neighbouring threads take neighbouring columns", coalesced,
         10000),
    RUNG("conflicts", "coalesced", "B5", "operands in shared memory, laid out so that banks clash",
         conflicts, 10000),
    RUNG("no-conflicts", "conflicts", "B5", "the same without the clash", straight, 10000),
    RUNG("larger-block", "no-conflicts", "B5", "tiles of 64 instead of 32", block_64, 10000),
    RUNG("more-threads", "larger-block", "B5", "32 x 32 threads instead of 16 x 16", threads_32, 0),
    RUNG("coarse", "more-threads", "B5", "32 x 8 threads, 16 elements each, in registers", coarse,
         0),
    RUNG("unrolled", "coarse", "B5", "the loop unrolled 32 times", unrolled, 0),
    RUNG("block-78", "unrolled", "B2", "two tiles of 78 fill 48 KiB; 39 x 13 threads, 12 each",
         block_78, 0),
    RUNG("fused", "unrolled", NULL, "16 x 16 threads, 16 elements each, add and minimum in one",
         fused, 0),
    {.name = "engine",
     .parent = "fused",
     .idea = "tiles of 128 by the copy engine, two pipes, look-ahead: the library",
     .run = run_engine,
     .a = TW_I32},
    {.name = "engine-16",
     .parent = "engine",
     .idea = "16 bits inside, exact for these weights: two sums in one word",
     .run = run_engine,
     .a = TW_U16},
};

static const int64_t default_sizes[] = {100, 1000, 5000, 0};

static const lab_published published[] = {
    {"naive", 100, 0.275},      {"tiles-1", 100, 0.050},          {"naive", 1000, 15.4},
    {"tiles-2", 1000, 1.40},    {"naive", 2500, 377.8},           {"tiles-4", 2500, 14.8},
    {"naive", 5000, 2987},      {"tiles-6", 5000, 107},           {"naive", 10000, 22838},
    {"stages", 10000, 3713},    {"merged-branches", 10000, 3607}, {"no-barrier", 10000, 1884},
    {"registers", 10000, 1616}, {"two-tiles", 10000, 1483},       {"hoisted", 10000, 1398},
    {"tiles-1", 10000, 1155},   {"tiles-6", 10000, 814},          {NULL, 0, 0}};

#define BENCH                                                                                   \
    .unit = "relaxations", .size = "vertices", .gpu = true, .open = open_bench, .spoil = spoil, \
    .check = check, .close = close_bench, .offers = fits, .work = lab_relaxations,              \
    .traffic = lab_matrix_bytes, .ceiling = lab_gpu_relaxation_ceiling,                         \
    .against = LAB_AGAINST_CLOSURE

const lab_ladder lab_apsp_gpu = {
    .name = "apsp-gpu",
    .title = "All-pairs shortest paths on a GPU",
    .rungs = rungs,
    .count = LAB_COUNT(rungs),
    .sizes = default_sizes,
    .published = published,
    .published_on = "the card of row C's authors",
    BENCH,
};

#define SHAPE_RUNG(b, x, y, of)                                                  \
    RUNG(#b "-" #x "x" #y, NULL, of, "tiles of " #b ", " #x " x " #y " threads", \
         shape_##b##_##x##_##y, 0)

static const lab_rung shape_rungs[] = {
    SHAPE_RUNG(8, 8, 8, "A4"),     SHAPE_RUNG(16, 16, 16, "B4"), SHAPE_RUNG(32, 32, 32, "B4"),
    SHAPE_RUNG(32, 8, 32, "B4"),   SHAPE_RUNG(32, 16, 16, "B5"), SHAPE_RUNG(48, 16, 16, "B4"),
    SHAPE_RUNG(64, 32, 32, "A4"),  SHAPE_RUNG(64, 64, 16, "B4"), SHAPE_RUNG(64, 16, 16, "B5"),
    SHAPE_RUNG(78, 39, 13, "B2"),  SHAPE_RUNG(80, 16, 40, "B4"), SHAPE_RUNG(90, 45, 15, "B4"),
    SHAPE_RUNG(128, 32, 32, NULL), SHAPE_RUNG(128, 16, 16, NULL)};

static const int64_t shape_sizes[] = {5000, 0};

const lab_ladder lab_apsp_gpu_shapes = {
    .name = "apsp-gpu-shapes",
    .title = "Blocks and thread shapes of a blocked closure on a GPU",
    .rungs = shape_rungs,
    .count = LAB_COUNT(shape_rungs),
    .sizes = shape_sizes,
    BENCH,
};

/* ------------------------------------------------------------------------------- global memory */

#define GLOBAL_RUNG(b) \
    RUNG("global-" #b, NULL, "B5", "tiles of " #b ", every operand from the caches", global_##b, 0)

static const lab_rung global_rungs[] = {GLOBAL_RUNG(16), GLOBAL_RUNG(32), GLOBAL_RUNG(64),
                                        GLOBAL_RUNG(128), GLOBAL_RUNG(256)};

const lab_ladder lab_apsp_gpu_global = {
    .name = "apsp-gpu-global",
    .title = "Blocks of a closure on a GPU without shared memory, 16 x 16 threads",
    .rungs = global_rungs,
    .count = LAB_COUNT(global_rungs),
    .sizes = shape_sizes,
    BENCH,
};

/* ------------------------------------------------------------------------------------------ AMD */

/* Threads of a wave read right operands side by side, and left ones a word for each row they are
 * in: rows a multiple of 32 words apart lie in the same bank, and then take turns. */
#define WAVE_RUNG(b, x, y, from, what) \
    RUNG(#b "-" #x "x" #y, from, "B4", what, shape_##b##_##x##_##y, 0)

static const lab_rung hip_rungs[] = {
    WAVE_RUNG(16, 16, 16, NULL, "tiles of 16, an element a thread: a wave is 4 rows of 16"),
    WAVE_RUNG(32, 32, 32, "16-16x16", "tiles of 32: a value in LDS serves twice as many sums"),
    WAVE_RUNG(32, 8, 32, "32-32x32",
              "the control: a wave is 8 rows of 8, whose left operands lie in one bank"),
    WAVE_RUNG(48, 16, 16, "16-16x16", "tiles of 48 by the same threads, 9 elements each"),
    WAVE_RUNG(64, 64, 16, "32-32x32",
              "a wave is a row of 64: one left operand for all of it; the authors' best"),
    WAVE_RUNG(80, 16, 40, "48-16x16", "tiles of 80, 10 elements a thread"),
    WAVE_RUNG(90, 45, 15, "80-16x40",
              "two tiles of 90 fill the 64 KiB; 45 is no multiple of 16: waves cross rows"),
    RUNG("64-32x8", "64-64x16", "B4",
         "coarsening: 16 elements a thread instead of 4; the authors gained less than on NVIDIA",
         unrolled, 0),
};

const lab_ladder lab_apsp_hip = {
    .name = "apsp-hip",
    .title = "Blocks and threads for waves of 64 and banks of LDS (AMD; elsewhere to compare)",
    .rungs = hip_rungs,
    .count = LAB_COUNT(hip_rungs),
    .sizes = shape_sizes,
    BENCH,
};
