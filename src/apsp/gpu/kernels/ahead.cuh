/*
 * The narrow part of a round, which makes the next pivot ready: its rows and columns take the
 * update with the pivot before ("head"), its tile is closed, and the closed tile is multiplied into
 * them ("panels"). For the kernels that do one of these each, and for the one that does a whole
 * round.
 */
#ifndef TWI_APSP_GPU_KERNELS_AHEAD_CUH
#define TWI_APSP_GPU_KERNELS_AHEAD_CUH

#include "apsp/gpu/kernels/close.cuh"
#include "apsp/gpu/kernels/update.cuh"

/* A tile of the next pivot's row or column. */
struct ahead_tile {
    int x;       /* its number in the panel */
    bool column; /* of the column panel */
    /* In the matrix it lies in the pivot's column: in the symmetric case a tile of the row that
     * lies right of the diagonal is the transpose of one of the column. */
    bool transposed;
    int down;
    int across;
};

/* Number 0: the tile on the diagonal; then the others of the row, and of the column unless
 * symmetric, each from the pivot on, since the next rounds need those first. */
static __device__ __forceinline__ ahead_tile ahead_tile_of(const twi_gpu_round &r, int at)
{
    ahead_tile t;
    t.column = at >= r.tiles;
    t.x = (r.next + at + t.column) % r.tiles;
    t.transposed = t.column || (r.symmetric && t.x > r.next);
    t.down = t.transposed ? t.x : r.next;
    t.across = t.transposed ? r.next : t.x;
    return t;
}

/* How many those are. */
static __host__ __device__ __forceinline__ unsigned ahead_tiles(const twi_gpu_round &r)
{
    return (unsigned)(r.symmetric ? r.tiles : 2 * r.tiles - 1);
}

/* The tile before the closed one is multiplied in, as an operand of that product. */
static __device__ __forceinline__ void store_raw(const word (&c)[ROWS][WORDS],
                                                 const twi_gpu_round &r, const ahead_tile &t)
{
    if (t.transposed) {
        element *raw = (element *)(t.column ? r.raw_col : r.raw_row);
        store_transposed(c, raw + (int64_t)t.x * SIDE * SIDE, SIDE, SIDE, SIDE);
    } else if (t.x == r.next) {
        store_words(c, (word *)r.raw_tile);
    } else {
        store_words(c, (word *)r.raw_row + (int64_t)t.x * SIDE * WIDTH);
    }
}

/* The closed tile of the next pivot, into tile and tile_t. */
static __device__ __forceinline__ void store_closed(word (&c)[ROWS][WORDS], const twi_gpu_round &r)
{
    store_spread(c, (word *)r.tile);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) { /* or what was spread would be kept for below */
            asm volatile("" : OPAQUE(c[i][j]));
        }
    }
    store_spread_transposed(c, (word *)r.tile_t);
}

/* How many steps close it. */
static __device__ __forceinline__ int steps_of_next(const twi_gpu_round &r)
{
    return min((int)SIDE, r.n - r.next * SIDE);
}

/* The raw tile times the closed one: into the panel and C. */
static __device__ __forceinline__ void form_panel(const twi_gpu_round &r, const ahead_tile &t)
{
    word c[ROWS][WORDS];
    __shared__ pipeline pipe;
    operands in = {(const word *)(t.column ? r.tile : r.tile_t),
                   (const word *)(t.column ? r.raw_col : r.raw_row) + (int64_t)t.x * SIDE * WIDTH};
    const int chunks = chunks_of(r, r.next);
    product_begin(&pipe, in, chunks);
    fill(c);
    product_run(c, &pipe, in, r.one, chunks, words_inside(r, t.x));

    if (!t.column) {
        store_words(c, (word *)r.next_row + (int64_t)t.x * SIDE * WIDTH);
    }
    if (t.column || (r.symmetric && LANES > 1)) {
        store_spread(c, (word *)r.next_col + (int64_t)t.x * SIDE * SIDE);
    }
    int at = r.next * SIDE;
    if (t.transposed) {
        element *matrix = (element *)r.c + (int64_t)t.x * SIDE * r.ld + at;
        store_transposed(c, matrix, r.ld, r.n - at, r.n - t.x * SIDE);
    } else {
        store_tile(c, r, at, t.x * SIDE);
    }
}

#endif
