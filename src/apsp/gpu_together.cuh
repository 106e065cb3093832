/*
 * A small matrix, closed by all processors together in one launch. Each thread block keeps one tile
 * in its registers from the first pivot to the last, and the blocks tell each other through flags in
 * global memory when a closed tile or a tile of a panel is ready; no round waits for a whole one.
 * What is published stays where it is (every pivot has its own place), so nothing is overwritten
 * that a slower block may still read. All blocks must be on the device at once.
 *
 * A round costs its critical path: close the tile, multiply it into a panel, update the next tile;
 * each step ends with a trip through the cache that all processors share.
 */
#ifndef TWI_APSP_GPU_TOGETHER_CUH
#define TWI_APSP_GPU_TOGETHER_CUH

#include "apsp/gpu_close.cuh"
#include "apsp/gpu_product.cuh"

/* The tile of a thread must be the same to the product and to the closing of a tile. */
#define TOGETHER_i32 1
#define TOGETHER_f32 1
#define TOGETHER_u16 0
#define TOGETHER_f64 0
#define TOGETHER (JOIN(TOGETHER_, TWI_GPU_TYPE) && TWI_GPU_SIDE == 64)

#if TOGETHER

struct together_shared {
    word a[SIDE * SIDE];
    word b[SIDE * WIDTH];
    close_shared close;
};

/* Flags in global memory: tiles x tiles for row panels, the same for column panels, and one a pivot.
 */
static __device__ __forceinline__ int32_t *row_flag(const twi_gpu_round &r, int pivot, int tile)
{
    return r.ready + pivot * r.tiles + tile;
}

static __device__ __forceinline__ int32_t *col_flag(const twi_gpu_round &r, int pivot, int tile)
{
    return r.ready + (r.tiles + pivot) * r.tiles + tile;
}

static __device__ __forceinline__ int32_t *tile_flag(const twi_gpu_round &r, int pivot)
{
    return r.ready + 2 * r.tiles * r.tiles + pivot;
}

/* After all threads of the block have written. */
static __device__ __forceinline__ void announce(int32_t *flag)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(flag, 1);
    }
}

static __device__ __forceinline__ void await(int32_t *first, int32_t *second)
{
    int32_t *mine = threadIdx.x == 0 ? first : second;
    if (threadIdx.x == 0 || (threadIdx.x == WARP && second != NULL)) {
        while (*(volatile int32_t *)mine == 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

/* A tile that another block has published. */
static __device__ __forceinline__ void bring(word *shared, const word *from)
{
    for (int at = threadIdx.x * GROUP; at < SIDE * SIDE; at += THREADS * GROUP) {
        copy16(shared + at, from + at);
    }
}

static __device__ __forceinline__ void multiply(word (&c)[ROWS][WORDS],
                                                const together_shared *shared, int one)
{
    copy16_wait();
    __syncthreads();
#pragma unroll 1
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        multiply_chunk(c, shared->a + chunk * A_WORDS, shared->b + chunk * B_WORDS, one);
    }
}

static __device__ __forceinline__ void load_tidy(word (&c)[ROWS][WORDS], const twi_gpu_round &r,
                                                 int down, int across)
{
    load_tile(c, r, down * SIDE, across * SIDE);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            bool diagonal = down == across && thread_row(i) == thread_word(j);
            c[i][j] = diagonal ? 0 : step::clamp(c[i][j]);
        }
    }
}

/* With `blocks` of them on a processor. */
template <int blocks>
static __global__ void TWI_BOUNDS(THREADS, blocks) together_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    __shared__ __align__(16) together_shared shared;
    const int64_t words = SIDE * SIDE;
    int down = blockIdx.x / r.tiles;
    int across = blockIdx.x % r.tiles;
    word c[ROWS][WORDS];
    load_tidy(c, r, down, across);
    for (int pivot = 0; pivot < r.tiles; pivot++) {
        __syncthreads(); /* nobody reads shared memory of the round before any more */
        word *tile = (word *)r.tile + pivot * words;
        word *tile_t = (word *)r.tile_t + pivot * words;
        word *row = (word *)r.next_row + (int64_t)pivot * r.tiles * words;
        word *col = (word *)r.next_col + (int64_t)pivot * r.tiles * words;
        if (down == pivot && across == pivot) {
            close_registers(c, &shared.close, min((int)SIDE, r.n - pivot * SIDE), r.one);
            store_words(c, tile);
            store_transposed(c, tile_t, SIDE, SIDE, SIDE);
            announce(tile_flag(r, pivot));
        } else if (down == pivot) {
            store_words(c, shared.b); /* while the tile is still being closed */
            await(tile_flag(r, pivot), NULL);
            bring(shared.a, tile_t);
            multiply(c, &shared, r.one);
            store_words(c, row + across * words);
            announce(row_flag(r, pivot, across));
        } else if (across == pivot) {
            store_transposed(c, shared.a, SIDE, SIDE, SIDE);
            await(tile_flag(r, pivot), NULL);
            bring(shared.b, tile);
            multiply(c, &shared, r.one);
            store_transposed(c, col + down * words, SIDE, SIDE, SIDE);
            announce(col_flag(r, pivot, down));
        } else {
            await(row_flag(r, pivot, across), col_flag(r, pivot, down));
            bring(shared.a, col + down * words);
            bring(shared.b, row + across * words);
            multiply(c, &shared, r.one);
        }
    }
    store_tile(c, r, down * SIDE, across * SIDE);
}

#endif

#endif
