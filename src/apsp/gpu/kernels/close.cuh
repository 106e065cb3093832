/*
 * Closing a tile: Floyd-Warshall in the registers of one block of 16 x 16 threads. Steps go in
 * pairs k, k + 1. A pair needs rows and columns k and k + 1 as they stand before it; their owners
 * publish them in shared memory, in one of two buffers by turns, so that a pair has one barrier.
 * Every thread brings its part of row and column k + 1 up to date itself. What the next pair needs
 * is computed and published first, so that it is on its way during the rest.
 *
 * Rows and words of a thread come in groups of 4, the groups 64 apart; the loop is unrolled so that
 * every register index is a constant.
 */
#ifndef TWI_APSP_GPU_KERNELS_CLOSE_CUH
#define TWI_APSP_GPU_KERNELS_CLOSE_CUH

#include "apsp/gpu/kernels/tile.cuh"

enum {
    CLOSE_SIDE = 16,
    CLOSE_THREADS = CLOSE_SIDE * CLOSE_SIDE,
    CLOSE_ROWS = SIDE / CLOSE_SIDE,
    CLOSE_WORDS = WIDTH / CLOSE_SIDE,
    CLOSE_GROUP = 4,
    CLOSE_SPAN = CLOSE_GROUP * CLOSE_SIDE,
    CLOSE_SPANS = SIDE / CLOSE_SPAN,
    CLOSE_UNROLL = 8, /* steps; whole groups of rows, and of words too */
};
static_assert(CLOSE_SPANS <= 2, "the spans are spelled out");
static_assert(CLOSE_UNROLL % CLOSE_GROUP == 0 && CLOSE_UNROLL / LANES % CLOSE_GROUP == 0,
              "a batch of steps begins at the first register of a group");

struct close_shared {
    word row[2][2][WIDTH]; /* by the pair's parity, and which of its two */
    word col[2][2][SIDE];
};

/* Two warps lie side by side, as in the product with tiles of 64. */
static __device__ __forceinline__ int close_y(void)
{
    return threadIdx.x / WARP / 2 * WARP_ROWS + threadIdx.x % WARP / WARP_COLS;
}

static __device__ __forceinline__ int close_x(void)
{
    return threadIdx.x / WARP % 2 * WARP_COLS + threadIdx.x % WARP % WARP_COLS;
}
static_assert(CLOSE_SIDE == 2 * WARP_COLS, "two warps lie side by side");

static __device__ __forceinline__ int close_row(int i)
{
    return i / CLOSE_GROUP * CLOSE_SPAN + close_y() * CLOSE_GROUP + i % CLOSE_GROUP;
}

static __device__ __forceinline__ int close_word(int j)
{
    return j / CLOSE_GROUP * CLOSE_SPAN + close_x() * CLOSE_GROUP + j % CLOSE_GROUP;
}

/* The register of row k, and of the word of column k, when k is `span` * CLOSE_SPAN + x. */
#define ROW_INDEX(span, x) ((span)*CLOSE_GROUP + (x) % CLOSE_GROUP)
#define WORD_INDEX(span, x) ((LANES == 1 ? (span)*CLOSE_GROUP : 0) + (x) / LANES % CLOSE_GROUP)

/* Rows and columns k and k + 1; the owners have row k in register i, column k in word j. */
static __device__ __forceinline__ void publish(const word (&c)[CLOSE_ROWS][CLOSE_WORDS],
                                               close_shared *shared, int k, int i, int j)
{
    int buffer = k / 2 % 2;
    if (k % CLOSE_SPAN / CLOSE_GROUP == close_y()) {
#pragma unroll
        for (int w = 0; w < CLOSE_WORDS; w++) {
            shared->row[buffer][0][close_word(w)] = c[i][w];
            shared->row[buffer][1][close_word(w)] = c[i + 1][w];
        }
    }
    if (k / LANES % CLOSE_SPAN / CLOSE_GROUP == close_x()) {
        const int second = j + 1 / LANES; /* the same word, if it holds two columns */
#pragma unroll
        for (int y = 0; y < CLOSE_ROWS; y++) {
            shared->col[buffer][0][close_row(y)] = step::spread(step::lane(c[y][j], 0));
            shared->col[buffer][1][close_row(y)] = step::spread(step::lane(c[y][second], 1));
        }
    }
}

/* The rows and columns of one pair, as one thread needs them. */
struct close_pair {
    word row0[CLOSE_WORDS];
    word row1[CLOSE_WORDS];
    word col0[CLOSE_ROWS];
    word col1[CLOSE_ROWS];
};

static __device__ __forceinline__ void read_pair(close_pair &p, const close_shared *shared, int k)
{
    int buffer = k / 2 % 2;
    word down = shared->col[buffer][0][k + 1]; /* (k + 1, k) */
    word across = shared->col[buffer][1][k];   /* (k, k + 1) */
#pragma unroll
    for (int j = 0; j < CLOSE_WORDS; j++) {
        p.row0[j] = shared->row[buffer][0][close_word(j)];
        p.row1[j] = step::fused(shared->row[buffer][1][close_word(j)], down, p.row0[j]);
    }
#pragma unroll
    for (int i = 0; i < CLOSE_ROWS; i++) {
        p.col0[i] = shared->col[buffer][0][close_row(i)];
        p.col1[i] = step::fused(shared->col[buffer][1][close_row(i)], p.col0[i], across);
    }
}

static __device__ __forceinline__ void close_step(word &c, const close_pair &p, int i, int j,
                                                  int one)
{
    if (is_fused(i * CLOSE_WORDS + j, i)) {
        c = step::fused(step::fused(c, p.col0[i], p.row0[j]), p.col1[i], p.row1[j]);
    } else {
        c = step::pair(c, p.col0[i], p.row0[j], p.col1[i], p.row1[j], one);
    }
}

/* A pair of steps, k and k + 1, with k = base + x. */
template <int span, int x>
static __device__ __forceinline__ void close_steps(word (&c)[CLOSE_ROWS][CLOSE_WORDS],
                                                   close_shared *shared, int base, int one)
{
    __syncthreads();
    close_pair p;
    read_pair(p, shared, base + x);
    const bool within = x + 2 < CLOSE_UNROLL;
    const int next_i = ROW_INDEX(span, x + 2);
    const int next_j = WORD_INDEX(span, x + 2);
    const int next_j1 = next_j + 1 / LANES;
    if (within) {
#pragma unroll
        for (int i = 0; i < CLOSE_ROWS; i++) {
#pragma unroll
            for (int j = 0; j < CLOSE_WORDS; j++) {
                if (i == next_i || i == next_i + 1 || j == next_j || j == next_j1) {
                    close_step(c[i][j], p, i, j, one);
                }
            }
        }
        publish(c, shared, base + x + 2, next_i, next_j);
    }
#pragma unroll
    for (int i = 0; i < CLOSE_ROWS; i++) {
#pragma unroll
        for (int j = 0; j < CLOSE_WORDS; j++) {
            if (!within || (i != next_i && i != next_i + 1 && j != next_j && j != next_j1)) {
                close_step(c[i][j], p, i, j, one);
            }
        }
    }
}

/* The steps of one span; false if they were the last. */
template <int span>
static __device__ __forceinline__ bool close_span(word (&c)[CLOSE_ROWS][CLOSE_WORDS],
                                                  close_shared *shared, int steps, int one)
{
#pragma unroll 1
    for (int base = span * CLOSE_SPAN; base < (span + 1) * CLOSE_SPAN; base += CLOSE_UNROLL) {
        if (base >= steps) {
            return false;
        }
        close_steps<span, 0>(c, shared, base, one);
        close_steps<span, 2>(c, shared, base, one);
        close_steps<span, 4>(c, shared, base, one);
        close_steps<span, 6>(c, shared, base, one);
        int next = base + CLOSE_UNROLL;
        if (next % CLOSE_SPAN != 0) {
            publish(c, shared, next, ROW_INDEX(span, 0), WORD_INDEX(span, 0));
        } else if (span + 1 < CLOSE_SPANS) {
            publish(c, shared, next, ROW_INDEX(span + 1, 0), WORD_INDEX(span + 1, 0));
        }
    }
    return span + 1 < CLOSE_SPANS;
}

/* The first `steps` steps: later ones would find rows of infinity. */
static __device__ __forceinline__ void close_registers(word (&c)[CLOSE_ROWS][CLOSE_WORDS],
                                                       close_shared *shared, int steps, int one)
{
    publish(c, shared, 0, 0, 0);
    if (close_span<0>(c, shared, steps, one)) {
        (void)close_span<CLOSE_SPANS - 1>(c, shared, steps, one);
    }
}

#endif
