/*
 * A round of a middle-sized matrix in one launch. Such a matrix has more tiles than processors hold
 * at once, and too few to hide three launches ahead of its updates: what costs is the way from one
 * launch to the next, and the events between two streams.
 *
 * The first block of the launch brings the next pivot's tile up to date, closes it and publishes
 * it, as in together.cuh; the blocks after it bring the tiles of the next pivot's row and column up
 * to date meanwhile, keep them in registers, and multiply them by the closed tile as soon as they
 * see it; all others update the rest. Blocks start in the order of their numbers, so whoever waits
 * waits for a block that runs. Sums are those of the rounds on two streams.
 *
 * Tried and slower on an H200, November 2026 (n = 2000, 0.78 ms): four tiles of the rest per block,
 * which halves the operands (0.97); blocks that stay and take one tile after the other, operands on
 * their way early, with the processor that closes the tile kept clear (0.92).
 */
#ifndef TWI_APSP_GPU_KERNELS_ROUND_CUH
#define TWI_APSP_GPU_KERNELS_ROUND_CUH

#include "apsp/gpu/kernels/together.cuh"
#include "apsp/gpu/kernels/update.cuh"

/* Not on AMD's, where nobody has seen the order in which blocks start. */
#if defined(TWI_HIP)
#define ROUND 0
#else
#define ROUND TOGETHER
#endif

#if ROUND

enum {
    ROUND_WORDS = 2 * SIDE * SIDE, /* a left and a right operand */
    ROUND_BYTES = ROUND_WORDS * sizeof(word),
};
static_assert((int)SHARED_BYTES <= (int)ROUND_BYTES, "the product's chunks lie where operands do");

/* Block `at` of those that make the next pivot: its tile, the others of its row, of its column. */
static __device__ __forceinline__ void make_next(const twi_gpu_round &r, int at)
{
    __shared__ close_shared closing;
    const bool column = at >= r.tiles;
    int x = column ? at - r.tiles : at - 1;
    x = at == 0 ? r.next : x + (x >= r.next);
    const int down = column ? x : r.next;
    const int across = column ? r.next : x;
    const int64_t words = SIDE * SIDE;
    word *tile = (word *)r.tile + r.next * words;
    word *tile_t = (word *)r.tile_t + r.next * words;
    word *left = (word *)shared_bytes;
    word *right = left + words;

    word c[ROWS][WORDS];
    if (r.pivot >= 0 && x != r.pivot && concerns(r, down, across)) {
        updated_tile(c, r, down, across);
    } else { /* the tile shared with the pivot was finished together with the pivot's panels */
        load_tile(c, r, down * SIDE, across * SIDE);
    }
    if (at == 0) {
        close_registers(c, &closing, min((int)SIDE, r.n - r.next * SIDE), r.one);
        publish_words(c, tile);
        publish_transposed(c, tile_t);
        store_tile(c, r, down * SIDE, across * SIDE);
        return;
    }
    const bool some = has_path(c); /* after which nobody reads the product's operands any more */
    if (threadIdx.x == 0) {
        (column ? r.next_col_nonempty : r.next_row_nonempty)[x] = some;
    }
    if (!some) {
        return;
    }
    if (column) {
        store_transposed(c, left, SIDE, SIDE, SIDE);
        bring(right, tile);
    } else {
        store_words(c, right);
        bring(left, tile_t);
    }
    multiply(c, left, right, r.one);
    if (column) {
        store_transposed(c, (element *)r.next_col + x * words, SIDE, SIDE, SIDE);
    } else {
        store_words(c, (word *)r.next_row + x * words);
    }
    store_tile(c, r, down * SIDE, across * SIDE);
}

/* With `blocks` of them on a processor. */
template <int blocks>
static __global__ void TWI_BOUNDS(THREADS, blocks) round_kernel(const twi_gpu_round r)
{
    await_launch_before();
    if (skipped(r)) {
        return;
    }
    const int ahead = r.next >= 0 ? 2 * r.tiles - 1 : 0;
    if ((int)blockIdx.x < ahead) {
        make_next(r, blockIdx.x);
    } else {
        update_block(r, blockIdx.x - ahead);
    }
}

#endif

#endif
