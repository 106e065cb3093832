/*
 * The wide part of a round: a tile of the matrix takes the product of the pivot's panels. For the
 * kernel that does nothing else, and for the one that does a whole round.
 */
#ifndef TWI_APSP_GPU_KERNELS_UPDATE_CUH
#define TWI_APSP_GPU_KERNELS_UPDATE_CUH

#include "apsp/gpu/kernels/product.cuh"

/* c = min(the tile, the product of the pivot's panels for it). */
static __device__ __forceinline__ void updated_tile(word (&c)[ROWS][WORDS], const twi_gpu_round &r,
                                                    int down, int across)
{
    __shared__ pipeline pipe;
    operands in = {(const word *)r.col + (int64_t)down * SIDE * SIDE,
                   (const word *)r.row + (int64_t)across * SIDE * WIDTH};
    bool whole = inside(r, down * SIDE, across * SIDE);
    product_begin(&pipe, in);
    if (whole) {
        load_inside(c, r, down * SIDE, across * SIDE);
    } else {
        fill(c);
    }
    product_run(c, &pipe, in, r.one);
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

/* Tile number `at` of those that are neither in the rows nor in the columns of both pivots. */
static __device__ __forceinline__ void update_block(const twi_gpu_round &r, int at)
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
    down = other_tile(down, r);
    across = other_tile(across, r);
    if (!concerns(r, down, across)) {
        return;
    }

    word c[ROWS][WORDS];
    updated_tile(c, r, down, across);
    store_tile(c, r, down * SIDE, across * SIDE);
}

#endif
