/*
 * Closing a tile: Floyd-Warshall in the registers of one block, each thread with the rows and words
 * that it has of a product. Steps go in pairs k, k + 1. A pair needs rows and columns k and k + 1
 * as they stand before it; their owners publish them in shared memory, in one of two buffers by
 * turns, so that a pair has one barrier. Every thread brings its part of row and column k + 1 up to
 * date itself. What the next pair needs is computed and published first, so that it is on its way
 * during the rest.
 *
 * The loop is unrolled so that every register index is a constant: within a piece of the steps a
 * thread's row k lies in one group of its rows, and the word of column k in one of its words.
 */
#ifndef TWI_APSP_GPU_KERNELS_CLOSE_CUH
#define TWI_APSP_GPU_KERNELS_CLOSE_CUH

#include "apsp/gpu/kernels/tile.cuh"

#define CLOSE_WORD_SPAN ((int)WORD_SPAN * (int)LANES) /* steps */
enum {
    CLOSE_PIECE = (int)ROW_SPAN < CLOSE_WORD_SPAN ? (int)ROW_SPAN : CLOSE_WORD_SPAN, /* steps */
    CLOSE_PIECES = SIDE / CLOSE_PIECE,
    CLOSE_UNROLL = 8, /* steps; whole groups of rows, and of words too */
};
static_assert(CLOSE_PIECES <= 2, "the pieces are spelled out");
static_assert(CLOSE_UNROLL % GROUP == 0 && CLOSE_UNROLL / LANES % GROUP == 0,
              "a batch of steps begins at the first register of a group");

struct close_shared {
    word row[2][2][WIDTH]; /* by the pair's parity, and which of its two */
    word col[2][2][SIDE];
};

/* The register of row k, and of the word of column k, for step x of a batch in that piece. */
#define ROW_INDEX(piece, x) ((piece)*CLOSE_PIECE / ROW_SPAN * GROUP + (x) % GROUP)
#define WORD_INDEX(piece, x) ((piece)*CLOSE_PIECE / CLOSE_WORD_SPAN * GROUP + (x) / LANES % GROUP)

/* Rows and columns k and k + 1; the owners have row k in register i, column k in word j. */
static __device__ __forceinline__ void publish(const word (&c)[ROWS][WORDS], close_shared *shared,
                                               int k, int i, int j)
{
    int buffer = k / 2 % 2;
    if (k % ROW_SPAN / GROUP == thread_y()) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            shared->row[buffer][0][thread_word(w)] = c[i][w];
            shared->row[buffer][1][thread_word(w)] = c[i + 1][w];
        }
    }
    if (k / LANES % WORD_SPAN / GROUP == thread_x()) {
        const int second = j + 1 / LANES; /* the same word, if it holds two columns */
#pragma unroll
        for (int y = 0; y < ROWS; y++) {
            shared->col[buffer][0][thread_row(y)] = step::spread(step::lane(c[y][j], 0));
            shared->col[buffer][1][thread_row(y)] = step::spread(step::lane(c[y][second], 1));
        }
    }
}

/* The rows and columns of one pair, as one thread needs them. */
struct close_pair {
    word row0[WORDS];
    word row1[WORDS];
    word col0[ROWS];
    word col1[ROWS];
};

static __device__ __forceinline__ void read_pair(close_pair &p, const close_shared *shared, int k)
{
    int buffer = k / 2 % 2;
    word down = shared->col[buffer][0][k + 1]; /* (k + 1, k) */
    word across = shared->col[buffer][1][k];   /* (k, k + 1) */
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        p.row0[j] = shared->row[buffer][0][thread_word(j)];
        p.row1[j] = step::fused(shared->row[buffer][1][thread_word(j)], down, p.row0[j]);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        p.col0[i] = shared->col[buffer][0][thread_row(i)];
        p.col1[i] = step::fused(shared->col[buffer][1][thread_row(i)], p.col0[i], across);
    }
}

static __device__ __forceinline__ void close_step(word &c, const close_pair &p, int i, int j,
                                                  int one)
{
    if (is_fused(i * WORDS + j, i)) {
        c = step::fused(step::fused(c, p.col0[i], p.row0[j]), p.col1[i], p.row1[j]);
    } else {
        c = step::pair(c, p.col0[i], p.row0[j], p.col1[i], p.row1[j], one);
    }
}

/* A pair of steps, k and k + 1, with k = base + x. */
template <int piece, int x>
static __device__ __forceinline__ void close_steps(word (&c)[ROWS][WORDS], close_shared *shared,
                                                   int base, int one)
{
    __syncthreads();
    close_pair p;
    read_pair(p, shared, base + x);
    const bool within = x + 2 < CLOSE_UNROLL;
    const int next_i = ROW_INDEX(piece, x + 2);
    const int next_j = WORD_INDEX(piece, x + 2);
    const int next_j1 = next_j + 1 / LANES;
    if (within) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < WORDS; j++) {
                if (i == next_i || i == next_i + 1 || j == next_j || j == next_j1) {
                    close_step(c[i][j], p, i, j, one);
                }
            }
        }
        publish(c, shared, base + x + 2, next_i, next_j);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            if (!within || (i != next_i && i != next_i + 1 && j != next_j && j != next_j1)) {
                close_step(c[i][j], p, i, j, one);
            }
        }
    }
}

/* The steps of one piece; false if they were the last. */
template <int piece>
static __device__ __forceinline__ bool close_piece(word (&c)[ROWS][WORDS], close_shared *shared,
                                                   int steps, int one)
{
#pragma unroll 1
    for (int base = piece * CLOSE_PIECE; base < (piece + 1) * CLOSE_PIECE; base += CLOSE_UNROLL) {
        if (base >= steps) {
            return false;
        }
        close_steps<piece, 0>(c, shared, base, one);
        close_steps<piece, 2>(c, shared, base, one);
        close_steps<piece, 4>(c, shared, base, one);
        close_steps<piece, 6>(c, shared, base, one);
        int next = base + CLOSE_UNROLL;
        if (next % CLOSE_PIECE != 0) {
            publish(c, shared, next, ROW_INDEX(piece, 0), WORD_INDEX(piece, 0));
        } else if (piece + 1 < CLOSE_PIECES) {
            publish(c, shared, next, ROW_INDEX(piece + 1, 0), WORD_INDEX(piece + 1, 0));
        }
    }
    return piece + 1 < CLOSE_PIECES;
}

/* The first `steps` steps: later ones would find rows of infinity. */
static __device__ __forceinline__ void close_registers(word (&c)[ROWS][WORDS], close_shared *shared,
                                                       int steps, int one)
{
    publish(c, shared, 0, 0, 0);
    if (close_piece<0>(c, shared, steps, one)) {
        (void)close_piece<CLOSE_PIECES - 1>(c, shared, steps, one);
    }
}

#endif
