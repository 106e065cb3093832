/*
 * The wide part of a round: a tile of the matrix takes the product of the pivot's panels. For the
 * kernel that does nothing else, and for the one that does a whole round.
 */
#ifndef TWI_APSP_GPU_KERNELS_UPDATE_CUH
#define TWI_APSP_GPU_KERNELS_UPDATE_CUH

#include "apsp/gpu/kernels/product.cuh"

/* How many chunks of a pivot's panels lie inside of the matrix. */
static __device__ __forceinline__ int chunks_of(const twi_gpu_round &r, int pivot)
{
    return (min((int)SIDE, r.n - pivot * SIDE) + DEPTH - 1) / DEPTH;
}

/* Whether anything of a warp's part of a tile lies inside of the matrix: its rows, its words. */
static __device__ __forceinline__ bool rows_inside(const twi_gpu_round &r, int down)
{
    const int warp = (int)threadIdx.x / WARP;
    return down * SIDE + warp / WARPS_ACROSS * (WARP_ROWS * GROUP) < r.n;
}

static __device__ __forceinline__ bool words_inside(const twi_gpu_round &r, int across)
{
    const int warp = (int)threadIdx.x / WARP;
    return across * SIDE + warp % WARPS_ACROSS * (WARP_COLS * GROUP * LANES) < r.n;
}

/* c = min(the tile, the product of the pivot's panels for it). */
static __device__ __forceinline__ void updated_tile(word (&c)[ROWS][WORDS], const twi_gpu_round &r,
                                                    int down, int across)
{
    __shared__ pipeline pipe;
    operands in = {(const word *)r.col + (int64_t)down * SIDE * SIDE,
                   (const word *)r.row + (int64_t)across * SIDE * WIDTH};
    const bool whole = inside(r, down * SIDE, across * SIDE);
    const bool busy = rows_inside(r, down) && words_inside(r, across);
    const int chunks = chunks_of(r, r.pivot);
    product_begin(&pipe, in, chunks);
    if (whole) {
        load_inside(c, r, down * SIDE, across * SIDE);
    } else {
        fill(c);
    }
    product_run(c, &pipe, in, r.one, chunks, busy);
    if (!whole) { /* at the end, where its many addresses are not in the way of the product */
        merge_edge(c, r, down * SIDE, across * SIDE);
    }
}

/* Whether the pivot's panels have anything for that tile. */
static __device__ __forceinline__ bool concerns(const twi_gpu_round &r, int down, int across)
{
    return __ldg(r.col_nonempty + down) != 0 && __ldg(r.row_nonempty + across) != 0;
}

/* Number `at` of the tiles 0, 1, 2, ... without the pivot and the next one. */
static __device__ __forceinline__ int other_tile(int at, const twi_gpu_round &r)
{
    int first = r.next < 0 || r.pivot < r.next ? r.pivot : r.next;
    int second = r.next < 0 || r.pivot > r.next ? r.pivot : r.next;
    at += at >= first;
    at += r.next >= 0 && at >= second;
    return at;
}

/* A tile of the matrix. */
struct tile_place {
    int down;
    int across;
};

/* Number `at` of the tiles that are neither in the rows nor in the columns of both pivots. */
static __device__ __forceinline__ tile_place wide_tile(const twi_gpu_round &r, int at)
{
    int others = r.tiles - 1 - (r.next >= 0);
    int down, across;
    if (r.symmetric) {
        down = (int)((sqrtf(8.0f * at + 1.0f) - 1.0f) * 0.5f);
        while ((down + 1) * (down + 2) / 2 <= at) {
            down++;
        }
        while (down * (down + 1) / 2 > at) {
            down--;
        }
        across = at - down * (down + 1) / 2;
    } else {
        int band = at / (BAND * others) * BAND;
        int height = min((int)BAND, others - band);
        int within = at - band * others;
        down = band + within % height;
        across = within / height;
    }
    return {other_tile(down, r), other_tile(across, r)};
}

/* How many those are. */
static __host__ __device__ __forceinline__ unsigned wide_tiles(const twi_gpu_round &r)
{
    unsigned others = (unsigned)(r.tiles - 1 - (r.next >= 0));
    return r.symmetric ? others * (others + 1) / 2 : others * others;
}

#endif
