/*
 * Ladder apsp-gpu: all-pairs shortest paths of a complete graph, the matrix already on the card.
 * A rung and, where it is not the line above, its parent:
 *
 *   naive            one launch for each k (row C1)
 *   stages           three stages over tiles of 32 (row C2, as the rungs down to tiles-2)
 *   merged-branches  a minimum instead of branches
 *   merged-unrolled  the loop unrolled 32 times; with the line above one step of row C2
 *   no-barrier       one barrier in the third stage instead of one per step
 *   registers        the running minimum in a register
 *   two-tiles        the target tile not in shared memory
 *   hoisted          addresses worked out before the loop
 *   known-side       the side known when compiling, the launch bounds with it
 *   tiles-1          the same kernel for blocks that own T x T tiles, with T = 1
 *   tiles-2          a block owns 2 x 2 tiles
 *   tiles-4          4 x 4 (row C3)
 *   tiles-6          6 x 6 (row C3)
 *   chosen           1 x 1 to 6 x 6 by n, as the authors found best (row C3)
 *   rolled-64        from no-barrier: tiles of 64, 4 elements per thread, three tiles in 48 KiB,
 *                    each filled once, the target relaxed in registers and written back once (row
 *                    A2, as the rungs down to pitched)
 *   block-64         the loop unrolled 32 times
 *   apart            from block-64: phase 2 with a block for each tile, which was rejected
 *   pitched          from block-64: rows as cudaMallocPitch lays them
 *   grid-1d          from naive: three phases of 32 in global memory, k outside, the targets in
 *                    registers, a column of blocks each of which walks along a row of tiles, the
 *                    matrix not padded and every access asking (row B5, down to unrolled)
 *   grid             a block for each tile: a 2-D grid
 *   padded           padded to whole tiles: nobody asks
 *   coalesced        neighbouring threads take neighbouring columns
 *   conflicts        operands in shared memory, laid out so that banks clash
 *   no-conflicts     the same without the clash
 *   larger-block     tiles of 64
 *   more-threads     32 x 32 threads instead of 16 x 16
 *   coarse           32 x 8 threads, 16 elements each
 *   unrolled         the loop unrolled 32 times
 *   block-78         two tiles of 78 fill 48 KiB: the target is in registers (row B2)
 *   square-threads   from unrolled: 16 x 16 threads, 16 elements each
 *   fused            add and minimum asked for in one instruction
 *   eight-by-eight   from fused: tiles of 128, 8 x 8 results per thread, operands by 16 bytes
 *   pivot-registers  the pivot's tile closed in registers
 *   packed           phase 2 packs the panels as phase 3 reads them: the engine's rounds
 *   double-buffered  the next chunk of operands comes while this one is multiplied
 *   async-copies     and not through registers
 *   bulk-copies      by the copy engine, four chunks deep
 *   mixed-step       5 of 8 accumulators by two additions on the multiply pipe, a minimum of three
 *   engine           look-ahead: the next pivot's panels are made during the product; the library
 *   engine-16        the same in 16 bits
 *
 * apsp-gpu-blocks is the sweep of row A4, with the kernel of block-64 and its three tiles;
 * apsp-gpu-shapes sweeps blocks and thread shapes (rows B4, B5) over one kernel, that of unrolled;
 * apsp-gpu-global blocks without shared memory, which may then be larger (row B5); apsp-hip takes
 * the shapes of row B4, chosen for AMD's waves of 64 threads and its shared memory, LDS, of 32
 * banks. apsp-gpu-copies is from host memory to host memory by one card, with the kernel of
 * block-64:
 *
 *   pageable         ordinary memory, which the driver copies through pinned memory of its own (A2)
 *   pinned           pinned memory, which the card reads and writes itself (A2); pinning it is
 *                    not counted: a program that keeps its matrix does it once
 *   engine           the library on ordinary memory, which it pins itself; that is counted
 */
#include "ladders/answers.h"
#include "ladders/apsp/gpu_kernels.h"
#include "ladders/ladders.h"
#include "ladders/listed.h"

#ifndef LAB_LISTED_ONLY
#include "ladders/apsp/bridge.h"
#include "ladders/apsp/host.h"
#include "ladders/gpu_timing.h"

#include "base/clock.h"
#include "base/memory.h"
#include "gpu/pinned.h"

#include <string.h>

#define ROOM 256 /* rows and columns of padding, at most */

/* ---------------------------------------------------------------------------------------- bench */

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    int32_t *input, *right, *output; /* n x n, on the host */
    int *matrix;                     /* (n + ROOM)^2, on the card */
    int *pitched;                    /* rows of `pitch` bytes; NULL until a rung wants it */
    size_t pitch;
    void *workspace;
    uint64_t workspace_bytes;
    void *bridge; /* panels; NULL until a rung wants them */
    lab_clock clock;
} bench;

/* A matrix on the card: n x n of input, padded to `side`, in rows of `ld`. */
typedef struct layout {
    int *d;
    int ld, side;
} layout;

static int padded_to(int64_t n, int block)
{
    return ((int)n + block - 1) / block * block;
}

static tw_status place_input(bench *b, const layout *at)
{
    int n = (int)b->n;
    tw_status status =
        at->side > n ? LAB_TRY(b->ctx, lab_pad(at->d, at->ld, at->side, n), "padding the matrix")
                     : TW_OK;
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx,
                         cudaMemcpy2D(at->d, (size_t)at->ld * 4, b->input, (size_t)n * 4,
                                      (size_t)n * 4, (size_t)n, cudaMemcpyHostToDevice),
                         "copying the input");
    }
    return status;
}

static tw_status fetch_output(bench *b, const layout *at)
{
    size_t row = (size_t)b->n * 4;
    return LAB_TRY(b->ctx,
                   cudaMemcpy2D(b->output, row, at->d, (size_t)at->ld * 4, row, (size_t)b->n,
                                cudaMemcpyDeviceToHost),
                   "copying the result");
}

/* Between the copies: the recipe's kernels and nothing else. */
static tw_status solve(bench *b, const lab_recipe *r, const layout *at, double *seconds)
{
    tw_status status = lab_clock_begin(b->ctx, &b->clock);
    if (status == TW_OK) {
        r->solve(at->d, at->ld, at->side);
        status = lab_clock_end(b->ctx, &b->clock, seconds);
    }
    return status;
}

static tw_status prepare(bench *b, const lab_recipe *r)
{
    return r->prepare == NULL ? TW_OK : LAB_TRY(b->ctx, r->prepare(), "asking for shared memory");
}

static tw_status run_laid_out(bench *b, const lab_recipe *r, const layout *at, lab_time *time)
{
    tw_status status = prepare(b, r);
    if (status == TW_OK) {
        status = place_input(b, at);
    }
    if (status == TW_OK) {
        status = solve(b, r, at, &time->total);
        time->compute = time->total;
    }
    return status != TW_OK ? status : fetch_output(b, at);
}

static tw_status run_recipe(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const lab_recipe *r = rung->code;
    int side = padded_to(b->n, r->block);
    const layout at = {b->matrix, side, side};
    return run_laid_out(b, r, &at, time);
}

/* The rung whose recipe row C chooses for this size. */
static lab_rung chosen_for(const bench *b, const lab_rung *rung)
{
    lab_rung chosen = *rung;
    chosen.code = lab_tiles_for(b->n);
    return chosen;
}

static tw_status run_chosen(void *given, const lab_rung *rung, lab_time *time)
{
    const lab_rung chosen = chosen_for(given, rung);
    return run_recipe(given, &chosen, time);
}

/* Rows begin where the driver wants them to. */
static tw_status run_pitched(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const lab_recipe *r = rung->code;
    int side = padded_to(b->n, r->block);
    if (b->pitched == NULL) {
        tw_status status = LAB_TRY(
            b->ctx,
            cudaMallocPitch((void **)&b->pitched, &b->pitch, (size_t)side * 4, (size_t)side),
            "allocating the pitched matrix");
        if (status != TW_OK) {
            return status;
        }
    }
    const layout at = {b->pitched, (int)(b->pitch / 4), side};
    return run_laid_out(b, r, &at, time);
}

/* From host memory to host memory; a: 1 pins it before the clock runs. */
static tw_status run_copies(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const lab_recipe *r = rung->code;
    int side = padded_to(b->n, r->block);
    const layout at = {b->matrix, side, side};
    uint64_t bytes = (uint64_t)b->n * (uint64_t)b->n * 4;
    bool in = rung->a != 0 && twi_gpu_pin(b->ctx, b->input, bytes);
    bool out = rung->a != 0 && twi_gpu_pin(b->ctx, b->output, bytes);
    tw_status status = prepare(b, r);
    if (status == TW_OK && rung->a != 0 && !(in && out)) {
        status = tw_fail(b->ctx, TW_ERR_MEMORY,
                         "cannot pin %lld MB of memory; raise 'ulimit -l', or leave out "
                         "rung %s",
                         (long long)(2 * bytes >> 20), rung->name);
    }
    double begun = twi_seconds();
    if (status == TW_OK) {
        status = place_input(b, &at);
    }
    time->upload = twi_seconds() - begun;
    if (status == TW_OK) {
        status = solve(b, r, &at, &time->compute);
    }
    double computed = twi_seconds();
    if (status == TW_OK) {
        status = fetch_output(b, &at);
    }
    double done = twi_seconds();
    time->download = done - computed;
    time->total = done - begun;
    if (out) {
        twi_gpu_unpin(b->output);
    }
    if (in) {
        twi_gpu_unpin(b->input);
    }
    return status;
}

static tw_status run_library(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    lab_apsp_host host = {b->ctx, b->n, b->input, b->right, b->output};
    (void)rung;
    return lab_apsp_host_solve(&host, 1, false, &time->total);
}

/* The library's rounds on one stream, with the recipe's kernels or, without one, with its own. */
static tw_status run_bridge(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const lab_recipe *r = rung->code;
    const twi_gpu_kernel *kernel =
        r != NULL ? r->engine : twi_gpu_kernel_find(TW_I32, LAB_WIDE_SIDE);
    int side = padded_to(b->n, LAB_WIDE_SIDE);
    const layout at = {b->matrix, side, side};
    tw_status status = place_input(b, &at);
    if (status == TW_OK && b->bridge == NULL) {
        status = LAB_TRY(b->ctx, cudaMalloc(&b->bridge, lab_bridge_bytes(side)),
                         "allocating the panels");
    }
    if (status == TW_OK) {
        status = LAB_TRY(b->ctx, kernel->set_up(), "asking for shared memory");
    }
    if (status == TW_OK) {
        status = lab_clock_begin(b->ctx, &b->clock);
    }
    if (status == TW_OK) {
        const twi_gpu_square square = {b->matrix, side};
        status = LAB_TRY(b->ctx, lab_bridge_solve(kernel, square, (int32_t)b->n, b->bridge),
                         "launching a round");
    }
    if (status == TW_OK) {
        status = lab_clock_end(b->ctx, &b->clock, &time->total);
        time->compute = time->total;
    }
    return status != TW_OK ? status : fetch_output(b, &at);
}

/* a: the type the library works in. */
static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tw_matrix matrix = {b->matrix, b->n, b->n, b->n, TW_I32};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_device_options device = TW_DEVICE_OPTIONS_INIT;
    const layout at = {b->matrix, (int)b->n, (int)b->n};
    options.work_type = rung->a;
    device.workspace = b->workspace;
    device.workspace_bytes = b->workspace_bytes;
    tw_status status = place_input(b, &at);
    if (status == TW_OK) {
        status = lab_clock_begin(b->ctx, &b->clock);
    }
    if (status == TW_OK) {
        status = tw_apsp_device(b->ctx, &matrix, &options, &device);
    }
    if (status == TW_OK) {
        status = lab_clock_end(b->ctx, &b->clock, &time->total);
        time->compute = time->total;
    }
    return status != TW_OK ? status : fetch_output(b, &at);
}

static tw_status inspect(void *given, const lab_rung *rung, lab_kernel *out)
{
    const lab_recipe *r = rung->code;
    bench *b = given;
    return lab_inspect(b->ctx, r->kernel, r->threads, r->shared, out);
}

static const void *kernel_of(const lab_rung *rung)
{
    const lab_recipe *r = rung->code;
    return r != NULL ? r->kernel : NULL;
}

static tw_status inspect_chosen(void *given, const lab_rung *rung, lab_kernel *out)
{
    const lab_rung chosen = chosen_for(given, rung);
    return inspect(given, &chosen, out);
}

/* Its products are those of eight-by-eight. */
static tw_status inspect_wide(void *given, const lab_rung *rung, lab_kernel *out)
{
    bench *b = given;
    (void)rung;
    return lab_inspect(b->ctx, lab_wide.kernel, lab_wide.threads, lab_wide.shared, out);
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
        (void)cudaFree(b->bridge);
        (void)cudaFree(b->workspace);
        (void)cudaFree(b->pitched);
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
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_status status = twi_alloc(b->ctx, &b->input, lab_own_pages(cells, 4), 4, "the input");
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &b->right, cells, 4, "the right answer");
    }
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &b->output, lab_own_pages(cells, 4), 4, "the output");
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
        return tw_fail(ctx, TW_ERR_ARGUMENT, "n = %lld: the maximum is 46000", (long long)n);
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

/* What lies on the card needs no poison: every run begins with the input in its place, and there is
 * no answer of the rung before under it. */
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

#endif /* LAB_LISTED_ONLY */

/* -------------------------------------------------------------------------------------- ladders */

#define IN_KERNELS "apsp/gpu_kernels.cu "
#define IN_THREE_TILES "three_tiles_product three_tiles_pair"
/* The library's kernels, of which the bridges are made, and what replaces parts of them. */
#define IN_PRODUCT "src/apsp/gpu/kernels/product.cuh "
#define IN_ROUND                                                                                  \
    " src/apsp/gpu/kernels/kernel.cu head_kernel close_kernel panels_kernel update_kernel update" \
    " src/apsp/gpu/kernels/ahead.cuh form_panel store_closed"
#define IN_STEPS "apsp/bridge_kernels.cu TWI_COPY_ENGINE TWI_BACKGROUND_COPY step_packed "
#define MADE_FOR(type) "-DTWI_GPU_TYPE=" type " -DTWI_GPU_SIDE=128"
#define RUNG_BY(title, from, of, what, how, at_most, runs, in)                                \
    {                                                                                         \
        .name = title, .parent = from, .row = of, .idea = what, .source = in, .recipe = #how, \
        .run = LAB_ON_GPU(runs), .most = (at_most), .code = LAB_CODE(&lab_##how),             \
        .inspect = LAB_ON_GPU(inspect)                                                        \
    }
#define RUNG(title, from, of, what, how, at_most) \
    RUNG_BY(title, from, of, what, how, at_most, run_recipe, NULL)
#define RUNG_IN(functions, title, from, of, what, how, at_most) \
    RUNG_BY(title, from, of, what, how, at_most, run_recipe, IN_KERNELS functions)

/* The library's kernels with pieces left out. */
#define BRIDGE(title, from, what, how, in)                                                        \
    {                                                                                             \
        .name = title, .parent = from, .idea = what, .source = in IN_ROUND, .recipe = #how,       \
        .made_with = MADE_FOR(#how), .run = LAB_ON_GPU(run_bridge), .code = LAB_CODE(&lab_##how), \
        .inspect = LAB_ON_GPU(inspect)                                                            \
    }
#ifdef TWI_HIP /* whose copies to shared memory all go through registers */
#define BEFORE_MIXED "double-buffered"
#define IN_MIXED "fetch#2 put#2 product_begin#2 product_run#2"
#else
#define BEFORE_MIXED "bulk-copies"
#define IN_MIXED "feed product_begin product_run"
#endif

static const lab_rung rungs[] = {
    RUNG_IN("relax_all", "naive", NULL, "C1",
            "one launch for each k: the matrix streams through memory n times", naive, 5000),
    RUNG_IN("stage3_first", "stages", "naive", "C2",
            "three stages over tiles of 32: memory is read n / 32 times", first, 10000),
    RUNG_IN("stage3_merged", "merged-branches", "stages", "C2", "a minimum instead of branches",
            merged, 10000),
    RUNG_IN("stage3_unrolled", "merged-unrolled", "merged-branches", "C2",
            "the loop unrolled 32 times; the authors' step is this and the one before",
            merged_unrolled, 10000),
    RUNG_IN("stage3_no_barrier", "no-barrier", "merged-unrolled", "C2",
            "stage 3 writes nothing others read: one barrier", no_barrier, 10000),
    RUNG_IN("stage3_register", "registers", "no-barrier", "C2", "the running minimum in a register",
            in_register, 10000),
    RUNG_IN("stage3_two_tiles", "two-tiles", "registers", "C2",
            "the target tile stays out of shared memory", two_tiles, 10000),
    RUNG_IN("stage3_hoisted", "hoisted", "two-tiles", "C2", "addresses worked out before the loop",
            hoisted, 10000),
    RUNG_IN("stage3_known", "known-side", "hoisted", "C2",
            "the side known when compiling, and with it the launch bounds: the loop unrolls whole",
            known_side, 10000),
    RUNG_IN("stage3_tiles", "tiles-1", "known-side", "C2",
            "written for blocks that own T x T tiles, with T = 1", tiles_1, 10000),
    RUNG_IN("stage3_tiles", "tiles-2", "tiles-1", "C2",
            "a block owns 2 x 2 tiles: a value read serves two sums", tiles_2, 0),
    RUNG_IN("stage3_tiles", "tiles-4", "tiles-2", "C3", "a block owns 4 x 4 tiles", tiles_4, 0),
    RUNG_IN("stage3_tiles", "tiles-6", "tiles-4", "C3", "a block owns 6 x 6 tiles", tiles_6, 0),
    {.name = "chosen",
     .parent = "tiles-6",
     .row = "C3",
     .idea = "the tiles of a block chosen by n: 1 x 1, 2 x 2 from 1000 on, 4 x 4 from 2500, 6 x 6 "
             "from 5000",
     .source = IN_KERNELS "stage3_tiles lab_tiles_for",
     .run = LAB_ON_GPU(run_chosen),
     .inspect = LAB_ON_GPU(inspect_chosen)},
    RUNG_IN(IN_THREE_TILES, "rolled-64", "no-barrier", "A2",
            "tiles of 64, three in 48 KiB, filled once; 4 targets per thread, written back once",
            large_rolled, 10000),
    RUNG_IN(IN_THREE_TILES, "block-64", "rolled-64", "A2", "the loop unrolled 32 times", large, 0),
    RUNG_IN("three_tiles_product three_tiles_panel", "apart", "block-64", "A2",
            "rejected: phase 2 with a block for each tile, 2 n / 64, and the pivot read by each",
            large_apart, 10000),
    RUNG_BY("pitched", "block-64", "A2", "rows as cudaMallocPitch lays them", large, 10000,
            run_pitched, "apsp/gpu.c run_pitched " IN_KERNELS IN_THREE_TILES),
    RUNG("grid-1d", "naive", "B5",
         "three phases of 32 in global memory, k outside; a block walks along a row of tiles", walk,
         5000),
    RUNG("grid", "grid-1d", "B5", "a block for each tile: a 2-D grid", grid, 5000),
    RUNG("padded", "grid", "B5", "the matrix padded to whole tiles: no bounds", padded, 5000),
    RUNG("coalesced", "padded", "B5", "neighbouring threads take neighbouring columns", coalesced,
         10000),
    RUNG("conflicts", "coalesced", "B5", "operands in shared memory, laid out so that banks clash",
         conflicts, 10000),
    RUNG("no-conflicts", "conflicts", "B5", "the same without the clash", straight, 10000),
    RUNG("larger-block", "no-conflicts", "B5", "tiles of 64 instead of 32", block_64, 10000),
    RUNG("more-threads", "larger-block", "B5", "32 x 32 threads instead of 16 x 16", threads_32, 0),
    RUNG("coarse", "more-threads", "B5", "32 x 8 threads, 16 elements each", coarse, 0),
    RUNG("unrolled", "coarse", "B5", "the loop unrolled 32 times", unrolled, 0),
    RUNG("block-78", "unrolled", "B2", "two tiles of 78 fill 48 KiB; 39 x 13 threads, 12 each",
         block_78, 0),
    RUNG("square-threads", "unrolled", NULL, "16 x 16 threads instead of 32 x 8, 16 elements each",
         shape_64_16_16, 0),
    RUNG("fused", "square-threads", NULL, "add and minimum asked for in one instruction", fused, 0),
    RUNG_IN("fill_chunk multiply_wide_chunk wide_product", "eight-by-eight", "fused", NULL,
            "tiles of 128, 8 x 8 results per thread, operands 16 bytes at a time", wide, 0),
    {.name = "pivot-registers",
     .parent = "eight-by-eight",
     .idea = "the pivot's tile closed in registers: one barrier for two steps",
     .source = "apsp/bridge_kernels.cu step_packed close_in_registers solve_wide_pivot " IN_KERNELS
               "lab_wide_products",
     .made_with = MADE_FOR("packed"),
     .run = LAB_ON_GPU(run_recipe),
     .code = LAB_CODE(&lab_wide_pivot),
     .inspect = LAB_ON_GPU(inspect_wide)},
    BRIDGE("packed", "pivot-registers",
           "phase 2 packs the panels as phase 3 reads them: straight copies to shared memory",
           packed, IN_STEPS "product_begin#3 product_run#3 " IN_PRODUCT "fetch#2 put#2"),
    BRIDGE("double-buffered", "packed",
           "two chunks of operands: one is fetched while the other is multiplied", buffered,
           IN_STEPS "step_buffered " IN_PRODUCT "fetch#2 put#2 product_begin#2 product_run#2"),
#ifndef TWI_HIP
    BRIDGE("async-copies", "double-buffered",
           "copies to shared memory in the background, not through registers", async,
           IN_STEPS "step_async " IN_PRODUCT "fetch put product_begin#2 product_run#2"),
    BRIDGE("bulk-copies", "async-copies",
           "the copy engine brings chunks, four deep; warps drift apart", bulk,
           IN_STEPS "step_bulk " IN_PRODUCT "feed product_begin product_run"),
#endif
    {.name = "mixed-step",
     .parent = BEFORE_MIXED,
     .idea = "5 of 8 accumulators by two multiply-adds and a minimum of three: a second pipe",
     .source = "src/apsp/gpu/kernels/step.cuh step_i32 " IN_PRODUCT IN_MIXED IN_ROUND,
     .made_with = MADE_FOR("i32"),
     .run = LAB_ON_GPU(run_bridge)},
    {.name = "engine",
     .parent = "mixed-step",
     .idea = "look-ahead: the next pivot's panels are made during the product; the library",
     .source = "apsp/gpu.c run_engine",
     .run = LAB_ON_GPU(run_engine),
     .a = TW_I32},
    {.name = "engine-16",
     .parent = "engine",
     .idea = "16 bits inside, exact for these weights: two sums in one word",
     .source = "apsp/gpu.c run_engine",
     .run = LAB_ON_GPU(run_engine),
     .a = TW_U16},
};

static const int64_t default_sizes[] = {100, 1000, 5000, 0};

/* A rung at all six sizes of row C, in milliseconds. */
/* clang-format off */
#define AT_ALL_SIZES(rung, n100, n1000, n2500, n5000, n7500, n10000)                  \
    {rung, 100, n100}, {rung, 1000, n1000}, {rung, 2500, n2500}, {rung, 5000, n5000}, \
    {rung, 7500, n7500}, {rung, 10000, n10000}
/* clang-format on */

/* Row C's authors merged the branches and unrolled the loop in one step: merged-unrolled has its
 * figures. */
static const lab_published published[] = {
    AT_ALL_SIZES("naive", 0.275, 15.436, 377.849, 2987.084, 10051.674, 22837.635),
    AT_ALL_SIZES("stages", 0.103, 4.564, 64.727, 468.741, 1571.627, 3712.62),
    AT_ALL_SIZES("merged-branches", 0, 0, 0, 0, 0, 0),
    AT_ALL_SIZES("merged-unrolled", 0.133, 5.254, 60.114, 457.706, 1528.729, 3606.88),
    AT_ALL_SIZES("no-barrier", 0.111, 3.197, 36.036, 241.38, 800.905, 1883.782),
    AT_ALL_SIZES("registers", 0.064, 2.385, 30.124, 205.887, 685.204, 1615.857),
    AT_ALL_SIZES("two-tiles", 0.064, 2.225, 27.292, 189.095, 629.174, 1483.424),
    AT_ALL_SIZES("hoisted", 0.061, 2.116, 25.755, 179.221, 593.207, 1397.727),
    AT_ALL_SIZES("known-side", 0.051, 1.778, 19.347, 150.525, 490.784, 1155.117),
    AT_ALL_SIZES("tiles-1", 0.051, 1.581, 19.307, 149.748, 490.719, 1154.779),
    AT_ALL_SIZES("tiles-2", 0.071, 1.566, 22.354, 161.878, 542.113, 1180.886),
    AT_ALL_SIZES("tiles-4", 0.097, 1.603, 14.833, 112.775, 373.727, 873.888),
    AT_ALL_SIZES("tiles-6", 0.123, 2.013, 17.853, 108.956, 348.857, 816.5),
    AT_ALL_SIZES("chosen", 0.05, 1.397, 14.818, 107.435, 346.922, 814.095),
    /* Row B5 tells its size and no times. */
    {"grid-1d", 12000, 0},
    {"grid", 12000, 0},
    {"padded", 12000, 0},
    {"coalesced", 12000, 0},
    {"conflicts", 12000, 0},
    {"no-conflicts", 12000, 0},
    {"larger-block", 12000, 0},
    {"more-threads", 12000, 0},
    {"coarse", 12000, 0},
    {"unrolled", 12000, 0},
    {NULL, 0, 0}};

#define BENCH                                                                                      \
    .unit = "relaxations", .size = "vertices", .gpu = true, .open = LAB_ON_GPU(open_bench),        \
    .spoil = LAB_ON_GPU(spoil), .check = LAB_ON_GPU(check), .close = LAB_ON_GPU(close_bench),      \
    .offers = LAB_ON_GPU(fits), .kernel = LAB_ON_GPU(kernel_of), .work = lab_relaxations,          \
    .source = IN_KERNELS "relax_elements product rest solve_product", .traffic = lab_matrix_bytes, \
    .ceiling = lab_gpu_relaxation_ceiling, .against = LAB_AGAINST_CLOSURE

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
    SHAPE_RUNG(16, 16, 16, "B4"), SHAPE_RUNG(32, 32, 32, "B4"), SHAPE_RUNG(32, 8, 32, "B4"),
    SHAPE_RUNG(32, 16, 16, "B5"), SHAPE_RUNG(48, 16, 16, "B4"), SHAPE_RUNG(64, 32, 32, "B5"),
    SHAPE_RUNG(64, 64, 16, "B4"), SHAPE_RUNG(64, 16, 16, "B5"), SHAPE_RUNG(78, 39, 13, "B2"),
    SHAPE_RUNG(80, 16, 40, "B4"), SHAPE_RUNG(90, 45, 15, "B4"), SHAPE_RUNG(128, 32, 32, NULL),
    SHAPE_RUNG(128, 16, 16, NULL)};

static const int64_t shape_sizes[] = {5000, 0};

const lab_ladder lab_apsp_gpu_shapes = {
    .name = "apsp-gpu-shapes",
    .title = "Blocks and thread shapes of a blocked closure on a GPU",
    .rungs = shape_rungs,
    .count = LAB_COUNT(shape_rungs),
    .sizes = shape_sizes,
    BENCH,
};

static const lab_rung block_rungs[] = {
    RUNG_IN(IN_THREE_TILES, "block-8", NULL, "A4", "three tiles of 8, 8 x 8 threads", three_8, 0),
    RUNG_IN(IN_THREE_TILES, "block-16", "block-8", "A4", "three tiles of 16, 16 x 16 threads",
            three_16, 0),
    RUNG_IN(IN_THREE_TILES, "block-32", "block-16", "A4", "three tiles of 32, 32 x 32 threads",
            three_32, 0),
    RUNG_IN(IN_THREE_TILES, "block-64", "block-32", "A4",
            "three tiles of 64, 32 x 32 threads: 4 elements each", large, 0),
};

/* Of a graph called c21.1, whose vertices row A4 does not tell; at the rates of its other runs they
 * are about 5000. */
static const lab_published block_published[] = {{"block-8", 5000, 1310},
                                                {"block-16", 5000, 656},
                                                {"block-32", 5000, 142},
                                                {"block-64", 5000, 134.7},
                                                {NULL, 0, 0}};

const lab_ladder lab_apsp_gpu_blocks = {
    .name = "apsp-gpu-blocks",
    .title = "The blocking factor of a closure on a GPU, three tiles in shared memory",
    .rungs = block_rungs,
    .count = LAB_COUNT(block_rungs),
    .sizes = shape_sizes,
    .published = block_published,
    .published_on =
        "a card of the GTX 1080 class (row A4), its graph c21.1, whose size is not given: about "
        "5000 vertices by its other rates",
    BENCH,
};

/* -------------------------------------------------------------------------------------- copies */

static const lab_rung copy_rungs[] = {
    RUNG_BY("pageable", NULL, "A2", "block-64 between copies from and to ordinary memory", large, 0,
            run_copies, "apsp/gpu.c run_copies " IN_KERNELS IN_THREE_TILES),
    {.name = "pinned",
     .parent = "pageable",
     .row = "A2",
     .idea = "the host's memory pinned: the card copies without the driver's detour",
     .source = "apsp/gpu.c run_copies " IN_KERNELS IN_THREE_TILES,
     .recipe = "large",
     .run = LAB_ON_GPU(run_copies),
     .code = LAB_CODE(&lab_large),
     .a = 1,
     .inspect = LAB_ON_GPU(inspect)},
    {.name = "engine",
     .parent = "pinned",
     .idea = "ordinary memory, pinned within the time counted: the library, in 32 bits",
     .source = "apsp/gpu.c run_library",
     .run = LAB_ON_GPU(run_library)},
};

static const int64_t copy_sizes[] = {1000, 5000, 0};

const lab_ladder lab_apsp_gpu_copies = {
    .name = "apsp-gpu-copies",
    .title = "All-pairs shortest paths by a GPU, host to host: ordinary memory or pinned",
    .rungs = copy_rungs,
    .count = LAB_COUNT(copy_rungs),
    .sizes = copy_sizes,
    BENCH,
};

/* ------------------------------------------------------------------------------- global memory */

#define GLOBAL_RUNG(b) \
    RUNG("global-" #b, NULL, "B5", "tiles of " #b ", every operand from the caches", global_##b, 0)

/* global-32 is apsp-gpu's coalesced. */
static const lab_rung global_rungs[] = {
    GLOBAL_RUNG(16),
    RUNG("global-32", NULL, "B5", "tiles of 32, every operand from the caches", coalesced, 0),
    GLOBAL_RUNG(64), GLOBAL_RUNG(128), GLOBAL_RUNG(256)};

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
    WAVE_RUNG(16, 16, 16, NULL, "tiles of 16, an element per thread: a wave is 4 rows of 16"),
    WAVE_RUNG(32, 32, 32, "16-16x16", "tiles of 32: a value in LDS serves twice as many sums"),
    WAVE_RUNG(32, 8, 32, "32-32x32",
              "the control: a wave is 8 rows of 8, whose left operands lie in one bank"),
    WAVE_RUNG(48, 16, 16, "16-16x16", "tiles of 48 by the same threads, 9 elements each"),
    WAVE_RUNG(64, 64, 16, "32-32x32",
              "a wave is a row of 64: one left operand for all of it; the authors' best"),
    WAVE_RUNG(80, 16, 40, "48-16x16", "tiles of 80, 10 elements per thread"),
    WAVE_RUNG(90, 45, 15, "80-16x40",
              "two tiles of 90 fill the 64 KiB; 45 is no multiple of 16: waves cross rows"),
    RUNG("64-32x8", "64-64x16", "B4",
         "coarsening: 16 elements per thread instead of 4; the authors gained less than on NVIDIA",
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
