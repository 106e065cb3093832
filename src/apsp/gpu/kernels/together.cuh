/*
 * A small matrix, closed by all processors together in one launch. Each thread block keeps one tile
 * in its registers from the first pivot to the last, and reads closed tiles and tiles of panels
 * from other blocks as they come; no round waits for a whole one. What is published stays where it
 * is (every pivot has its own place), so nothing is overwritten that a slower block may still read.
 * All blocks must be on the device at once.
 *
 * A round costs its critical path: close the tile, tell the blocks of its row and column, which
 * multiply it and tell the block of the next one: two trips through the cache that all processors
 * share. Paths add up in the order of the rounds of gpu/closure.c and gpu/multi.c, so rounded sums
 * are the same.
 */
#ifndef TWI_APSP_GPU_KERNELS_TOGETHER_CUH
#define TWI_APSP_GPU_KERNELS_TOGETHER_CUH

#include "apsp/gpu/kernels/close.cuh"
#include "apsp/gpu/kernels/product.cuh"

#define TOGETHER_i32 1
#define TOGETHER_f32 1
#define TOGETHER_u16 0
#define TOGETHER_f64 0
/* Whole numbers, whose sums are the same in any order, have a faster kernel (fine.cu), which nobody
 * has run on AMD's cards. */
#define FINE_i32 1
#define FINE_f32 0
#define FINE_u16 0
#define FINE_f64 0
#if defined(TWI_HIP)
#define FINE 0
#else
#define FINE (JOIN(FINE_, TWI_GPU_TYPE) && TWI_GPU_SIDE == 64)
#endif
#define TOGETHER (JOIN(TOGETHER_, TWI_GPU_TYPE) && TWI_GPU_SIDE == 64)

#if TOGETHER

struct together_shared {
    word a[SIDE * SIDE];
    word b[SIDE * WIDTH];
    close_shared close;
};

/* What blocks tell each other lies in global memory, which is 0 before: no word is 0 when it has
 * been published, since it goes there with these bits complemented, and no distance has exactly
 * them. So a reader sees of each word by itself whether it is there, and nothing needs a flag or an
 * order. */
enum { COMPLEMENT = 0x7FFFFFFF };

static __device__ __forceinline__ void publish_group(word *to, const word *from)
{
    publish16(to, make_int4(from[0] ^ COMPLEMENT, from[1] ^ COMPLEMENT, from[2] ^ COMPLEMENT,
                            from[3] ^ COMPLEMENT));
}

/* As a right operand: [k][j] = (k, j). */
static __device__ __forceinline__ void publish_words(const word (&c)[ROWS][WORDS], word *out)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int g = 0; g < WORDS; g += GROUP) {
            publish_group(out + thread_row(i) * SIDE + thread_word(g), c[i] + g);
        }
    }
}

/* As a left operand: [k][i] = (i, k). */
static __device__ __forceinline__ void publish_transposed(const word (&c)[ROWS][WORDS], word *out)
{
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        word column[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            column[i] = c[i][j];
        }
#pragma unroll
        for (int g = 0; g < ROWS; g += GROUP) {
            publish_group(out + thread_word(j) * SIDE + thread_row(g), column + g);
        }
    }
}

static __device__ __forceinline__ bool is_there(int4 v)
{
    return v.x != 0 && v.y != 0 && v.z != 0 && v.w != 0;
}

/* A tile that another block publishes. */
static __device__ __forceinline__ void bring(word *shared, const word *from)
{
    enum { GROUPS = SIDE * SIDE / (THREADS * GROUP) };
    int4 v[GROUPS];
    from += threadIdx.x * GROUP;
    shared += threadIdx.x * GROUP;
    /* One thread of a warp looks first: if all did, the cache would be too busy with them. */
    if (threadIdx.x % WARP == 0) {
        while (*(const volatile int32_t *)from == 0) {
        }
    }
    sync_wave();
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        v[g] = read16(from + g * THREADS * GROUP);
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        while (!is_there(v[g])) {
            v[g] = read16(from + g * THREADS * GROUP);
        }
        *(int4 *)(shared + g * THREADS * GROUP) = make_int4(
            v[g].x ^ COMPLEMENT, v[g].y ^ COMPLEMENT, v[g].z ^ COMPLEMENT, v[g].w ^ COMPLEMENT);
    }
}

static __device__ __forceinline__ void multiply(word (&c)[ROWS][WORDS], const word *a,
                                                const word *b, int one)
{
    __syncthreads();
#pragma unroll 1
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        multiply_chunk(c, a + chunk * A_WORDS, b + chunk * B_WORDS, one);
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
            publish_words(c, tile);
            publish_transposed(c, tile_t);
        } else if (down == pivot) {
            store_words(c, shared.b); /* while the tile is still being closed */
            bring(shared.a, tile_t);
            multiply(c, shared.a, shared.b, r.one);
            publish_words(c, row + across * words);
        } else if (across == pivot) {
            store_transposed(c, shared.a, SIDE, SIDE, SIDE);
            bring(shared.b, tile);
            multiply(c, shared.a, shared.b, r.one);
            publish_transposed(c, col + down * words);
        } else {
            bring(shared.a, col + down * words);
            bring(shared.b, row + across * words);
            multiply(c, shared.a, shared.b, r.one);
        }
    }
    store_tile(c, r, down * SIDE, across * SIDE);
}

#endif

#endif
