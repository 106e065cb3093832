/*
 * The kernels of the GPU closure, for one element type (TWI_GPU_TYPE: i32, f32, u16, f64) and one
 * tile side (TWI_GPU_SIDE); the build compiles this file once for each pair.
 *
 * The product keeps a tile of C in registers, ROWS x WORDS words a thread, and streams both panels
 * through shared memory, DEPTH rows of them ("a chunk") at a time, STAGES chunks deep. A warp is
 * WARP_ROWS x WARP_COLS threads; a thread's rows and words come in groups of 16 bytes, so that
 * neighbouring threads read neighbouring 16-byte pieces of shared and of global memory.
 *
 * Where there is a copy engine one thread feeds it, and the warps drift apart by up to a chunk: a
 * chunk is waited for when it is used, and its place is filled again when every warp has left it.
 * Elsewhere all threads copy, and every chunk has a barrier.
 *
 * One product serves three kernels that differ in where C comes from and where it goes:
 *   update   C itself, in place
 *   head     the next pivot's rows and columns, from C to the raw panels (columns transposed)
 *   panels   the closed tile times the raw panels, to the packed panels and to C
 */
#include "apsp/gpu_step.cuh"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define JOIN3(a, b, c) JOIN(JOIN(a, b), c)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

typedef JOIN(step_, TWI_GPU_TYPE) step;
typedef step::element element;
typedef step::word word;

/* What a thread holds of a product: chosen by type and tile side so that the register file holds
 * BLOCKS thread blocks of THREADS. */
template <int word_bytes, int side> struct shape;
template <> struct shape<4, 128> {
    enum { ROWS = 8, WORDS = 8, DEPTH = 16, STAGES = 4 };
};
template <> struct shape<4, 64> {
    enum { ROWS = 4, WORDS = 4, DEPTH = 16, STAGES = 4 };
};
template <> struct shape<8, 64> {
    enum { ROWS = 4, WORDS = 4, DEPTH = 16, STAGES = 4 };
};

enum {
    SIDE = TWI_GPU_SIDE,
    LANES = step::LANES,
    WIDTH = SIDE / LANES, /* words across a tile */
    ROWS = shape<sizeof(word), SIDE>::ROWS,
    WORDS = shape<sizeof(word), SIDE>::WORDS,
    DEPTH = shape<sizeof(word), SIDE>::DEPTH,
    STAGES = shape<sizeof(word), SIDE>::STAGES,
    WARP_ROWS = 4,
    WARP_COLS = 8,
    WARP = WARP_ROWS * WARP_COLS,
    WARPS_DOWN = SIDE / (WARP_ROWS * ROWS),
    WARPS_ACROSS = WIDTH / (WARP_COLS * WORDS),
    WARPS = WARPS_DOWN * WARPS_ACROSS,
    THREADS = WARPS * WARP,
    BLOCKS = 512 / THREADS, /* at a time on a processor: 128 registers a thread */
    GROUP = 16 / sizeof(word),
    A_WORDS = DEPTH * SIDE, /* of a chunk */
    B_WORDS = DEPTH * WIDTH,
    STAGE_WORDS = A_WORDS + B_WORDS,
    CHUNKS = SIDE / DEPTH,
    SHARED_BYTES = STAGES * STAGE_WORDS * sizeof(word),
    BAND = 16, /* tile rows that are worked on together, to share panels in the cache */
};

struct __align__(16) group {
    word at[GROUP];
};

static __device__ __forceinline__ bool skipped(const twi_gpu_round &r)
{
    return r.needed != NULL && *r.needed == 0;
}

/* --------------------------------------------------------------- where a thread stands in a tile */

static __device__ __forceinline__ int thread_row(int i)
{
    int warp = threadIdx.x / WARP;
    int lane = threadIdx.x % WARP;
    return (warp / WARPS_ACROSS) * (WARP_ROWS * ROWS) + (i / GROUP) * (WARP_ROWS * GROUP) +
           (lane / WARP_COLS) * GROUP + i % GROUP;
}

static __device__ __forceinline__ int thread_word(int j)
{
    int warp = threadIdx.x / WARP;
    int lane = threadIdx.x % WARP;
    return (warp % WARPS_ACROSS) * (WARP_COLS * WORDS) + (j / GROUP) * (WARP_COLS * GROUP) +
           (lane % WARP_COLS) * GROUP + j % GROUP;
}

/* ------------------------------------------------------------------------------------ the product */

template <int count>
static __device__ __forceinline__ void take(word (&out)[count], const word *from, int step_words)
{
#pragma unroll
    for (int g = 0; g < count / GROUP; g++) {
        group v = *(const group *)(from + g * step_words);
#pragma unroll
        for (int e = 0; e < GROUP; e++) {
            out[g * GROUP + e] = v.at[e];
        }
    }
}

static __device__ __forceinline__ void multiply_stage(word (&c)[ROWS][WORDS], const word *stage,
                                                      int one)
{
    const word *a = stage + thread_row(0);
    const word *b = stage + A_WORDS + thread_word(0);
#pragma unroll
    for (int k = 0; k < DEPTH; k += 2) {
        word a0[ROWS], a1[ROWS], b0[WORDS], b1[WORDS];
        take(a0, a + k * SIDE, WARP_ROWS * GROUP);
        take(b0, b + k * WIDTH, WARP_COLS * GROUP);
        take(a1, a + (k + 1) * SIDE, WARP_ROWS * GROUP);
        take(b1, b + (k + 1) * WIDTH, WARP_COLS * GROUP);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < WORDS; j++) {
                if ((j + step::SKEW * i) % 8 < step::FUSED) {
                    c[i][j] = step::fused(step::fused(c[i][j], a0[i], b0[j]), a1[i], b1[j]);
                } else {
                    c[i][j] = step::pair(c[i][j], a0[i], b0[j], a1[i], b1[j], one);
                }
            }
        }
    }
}

extern __shared__ __align__(128) unsigned char shared_bytes[];

static __device__ __forceinline__ word *stage_of(int chunk)
{
    return (word *)shared_bytes + chunk % STAGES * STAGE_WORDS;
}

static __device__ __forceinline__ void fill(word (&c)[ROWS][WORDS])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            c[i][j] = step::spread(step::infinity());
        }
    }
}

/* The tiles of the two panels that a product multiplies. */
struct operands {
    const word *a;
    const word *b;
};

#if TWI_COPY_ENGINE

struct pipeline {
    uint64_t full[STAGES];
    uint64_t empty[STAGES];
};

static __device__ __forceinline__ void feed(pipeline *pipe, const operands &in, int chunk)
{
    word *stage = stage_of(chunk);
    uint64_t *full = &pipe->full[chunk % STAGES];
    barrier_arrive_and_expect(full, STAGE_WORDS * sizeof(word));
    copy_block(stage, in.a + chunk * A_WORDS, A_WORDS * sizeof(word), full);
    copy_block(stage + A_WORDS, in.b + chunk * B_WORDS, B_WORDS * sizeof(word), full);
}

/* Start the copies, which then run while C is being read. */
static __device__ __forceinline__ void product_begin(pipeline *pipe, const operands &in)
{
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(&pipe->full[s], 1);
            barrier_init(&pipe->empty[s], WARPS);
        }
        barrier_init_done();
        for (int chunk = 0; chunk < STAGES; chunk++) {
            feed(pipe, in, chunk);
        }
    }
}

/* c = min(c, a (x) b). */
static __device__ __forceinline__ void product_run(word (&c)[ROWS][WORDS], pipeline *pipe,
                                                   const operands &in, int one)
{
    __syncthreads();
#pragma unroll 1
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        /* The place that every warp should have left by now: two chunks back. */
        int left = chunk - 2;
        if (threadIdx.x == 0 && left >= 0 && left + STAGES < CHUNKS) {
            barrier_wait(&pipe->empty[left % STAGES], left / STAGES & 1);
            feed(pipe, in, left + STAGES);
        }
        barrier_wait(&pipe->full[chunk % STAGES], chunk / STAGES & 1);
        multiply_stage(c, stage_of(chunk), one);
        __syncwarp();
        if (threadIdx.x % WARP == 0) {
            barrier_arrive(&pipe->empty[chunk % STAGES]);
        }
    }
}

#else

struct pipeline {
};

static __device__ __forceinline__ void feed(const operands &in, int chunk)
{
    word *stage = stage_of(chunk);
    for (int at = threadIdx.x * GROUP; at < A_WORDS; at += THREADS * GROUP) {
        copy16(stage + at, in.a + chunk * A_WORDS + at);
    }
    for (int at = threadIdx.x * GROUP; at < B_WORDS; at += THREADS * GROUP) {
        copy16(stage + A_WORDS + at, in.b + chunk * B_WORDS + at);
    }
}

static __device__ __forceinline__ void product_begin(pipeline *, const operands &in)
{
    feed(in, 0);
}

static __device__ __forceinline__ void product_run(word (&c)[ROWS][WORDS], pipeline *,
                                                   const operands &in, int one)
{
#pragma unroll 1
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        copy16_wait();
        __syncthreads();
        if (chunk + 1 < CHUNKS) {
            feed(in, chunk + 1);
        }
        multiply_stage(c, stage_of(chunk), one);
    }
}

#endif

/* ------------------------------------------------------------------------ tiles in global memory */

static __device__ __forceinline__ word join_lanes(const element *from)
{
    word w;
    element *part = (element *)&w;
#pragma unroll
    for (int e = 0; e < LANES; e++) {
        part[e] = from[e];
    }
    return w;
}

static __device__ __forceinline__ bool inside(const twi_gpu_round &r, int row, int col)
{
    return row + SIDE <= r.n && col + SIDE <= r.n;
}

/* c = the tile at (row, col) of the matrix; infinite outside of it. */
static __device__ __forceinline__ void load_tile(word (&c)[ROWS][WORDS], const twi_gpu_round &r,
                                                 int row, int col)
{
    const element *matrix = (const element *)r.c;
    if (inside(r, row, col)) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const element *line = matrix + (row + thread_row(i)) * r.ld + col;
#pragma unroll
            for (int g = 0; g < WORDS / GROUP; g++) {
                int4 raw = __ldcs((const int4 *)(line + thread_word(g * GROUP) * LANES));
                group v = *(group *)&raw;
#pragma unroll
                for (int e = 0; e < GROUP; e++) {
                    c[i][g * GROUP + e] = v.at[e];
                }
            }
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int y = row + thread_row(i);
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            element part[LANES];
#pragma unroll
            for (int e = 0; e < LANES; e++) {
                int x = col + thread_word(j) * LANES + e;
                part[e] = y < r.n && x < r.n ? matrix[y * r.ld + x] : step::infinity();
            }
            c[i][j] = join_lanes(part);
        }
    }
}

/* c = min(the tile, the product of the pivot's panels for it). */
static __device__ __forceinline__ void updated_tile(word (&c)[ROWS][WORDS], const twi_gpu_round &r,
                                                    int down, int across)
{
    __shared__ pipeline pipe;
    operands in = {(const word *)r.col + (int64_t)down * SIDE * SIDE,
                   (const word *)r.row + (int64_t)across * SIDE * WIDTH};
    product_begin(&pipe, in);
    load_tile(c, r, down * SIDE, across * SIDE);
    product_run(c, &pipe, in, r.one);
}

static __device__ __forceinline__ void store_tile(const word (&c)[ROWS][WORDS],
                                                  const twi_gpu_round &r, int row, int col)
{
    element *matrix = (element *)r.c;
    if (inside(r, row, col)) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            element *line = matrix + (row + thread_row(i)) * r.ld + col;
#pragma unroll
            for (int g = 0; g < WORDS / GROUP; g++) {
                group v;
#pragma unroll
                for (int e = 0; e < GROUP; e++) {
                    v.at[e] = c[i][g * GROUP + e];
                }
                __stcs((int4 *)(line + thread_word(g * GROUP) * LANES), *(int4 *)&v);
            }
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int y = row + thread_row(i);
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
#pragma unroll
            for (int e = 0; e < LANES; e++) {
                int x = col + thread_word(j) * LANES + e;
                if (y < r.n && x < r.n) {
                    matrix[y * r.ld + x] = step::lane(c[i][j], e);
                }
            }
        }
    }
}

/* out[x][y] = the tile's (y, x), rows of `pitch` elements; only y < most_y and x < most_x. */
static __device__ __forceinline__ void store_transposed(const word (&c)[ROWS][WORDS], element *out,
                                                        int64_t pitch, int most_y, int most_x)
{
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
#pragma unroll
        for (int e = 0; e < LANES; e++) {
            int x = thread_word(j) * LANES + e;
#pragma unroll
            for (int g = 0; g < ROWS / GROUP; g++) {
                int y = thread_row(g * GROUP);
                struct __align__(GROUP * sizeof(element)) column {
                    element at[GROUP];
                } v;
#pragma unroll
                for (int i = 0; i < GROUP; i++) {
                    v.at[i] = step::lane(c[g * GROUP + i][j], e);
                }
                if (x < most_x && y + GROUP <= most_y) {
                    *(column *)(out + x * pitch + y) = v;
                } else if (x < most_x) {
#pragma unroll
                    for (int i = 0; i < GROUP; i++) {
                        if (y + i < most_y) {
                            out[x * pitch + y + i] = v.at[i];
                        }
                    }
                }
            }
        }
    }
}

/* A tile of a panel, as a right operand. */
static __device__ __forceinline__ void store_words(const word (&c)[ROWS][WORDS], word *out)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int g = 0; g < WORDS / GROUP; g++) {
            group v;
#pragma unroll
            for (int e = 0; e < GROUP; e++) {
                v.at[e] = c[i][g * GROUP + e];
            }
            *(group *)(out + thread_row(i) * WIDTH + thread_word(g * GROUP)) = v;
        }
    }
}

/* The same as a left operand: each element a word of its own. */
static __device__ __forceinline__ void store_spread(const word (&c)[ROWS][WORDS], word *out)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
#pragma unroll
            for (int e = 0; e < LANES; e++) {
                out[thread_row(i) * SIDE + thread_word(j) * LANES + e] =
                    step::spread(step::lane(c[i][j], e));
            }
        }
    }
}

/* ------------------------------------------------------------------------------------ the kernels */

/* Number `at` of the tiles 0, 1, 2, ... without the pivot and the next one. */
static __device__ __forceinline__ int other_tile(int at, const twi_gpu_round &r)
{
    int first = r.next < 0 || r.pivot < r.next ? r.pivot : r.next;
    int second = r.next < 0 || r.pivot > r.next ? r.pivot : r.next;
    at += at >= first;
    at += r.next >= 0 && at >= second;
    return at;
}

static __global__ void __launch_bounds__(THREADS, BLOCKS) update_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    int others = r.tiles - 1 - (r.next >= 0);
    int down, across;
    if (r.symmetric) {
        down = (int)((sqrtf(8.0f * blockIdx.x + 1.0f) - 1.0f) * 0.5f);
        while ((down + 1) * (down + 2) / 2 <= (int)blockIdx.x) {
            down++;
        }
        while (down * (down + 1) / 2 > (int)blockIdx.x) {
            down--;
        }
        across = blockIdx.x - down * (down + 1) / 2;
    } else {
        int band = blockIdx.x / (BAND * others) * BAND;
        int height = min((int)BAND, others - band);
        int within = blockIdx.x - band * others;
        down = band + within % height;
        across = within / height;
    }
    down = other_tile(down, r);
    across = other_tile(across, r);

    word c[ROWS][WORDS];
    updated_tile(c, r, down, across);
    store_tile(c, r, down * SIDE, across * SIDE);
}

/* Blocks 0 ... tiles-1: the next pivot's row, tile by tile. Then, unless symmetric, its column
 * without the tile on the diagonal. In the symmetric case a tile of the row that lies right of the
 * diagonal is the transpose of one of the column. */
static __global__ void __launch_bounds__(THREADS, BLOCKS) head_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    int x = blockIdx.x;
    bool column = x >= r.tiles;
    if (column) {
        x -= r.tiles;
        x += x >= r.next;
    }
    bool transposed = column || (r.symmetric && x > r.next);
    int down = transposed ? x : r.next;
    int across = transposed ? r.next : x;

    word c[ROWS][WORDS];
    if (r.pivot >= 0 && x != r.pivot) {
        updated_tile(c, r, down, across);
    } else { /* the tile shared with the pivot was finished together with the pivot's panels */
        load_tile(c, r, down * SIDE, across * SIDE);
    }
    if (transposed) {
        element *raw = (element *)(column ? r.raw_col : r.raw_row);
        store_transposed(c, raw + (int64_t)x * SIDE * SIDE, SIDE, SIDE, SIDE);
    } else if (x == r.next) {
        store_words(c, (word *)r.raw_tile);
    } else {
        store_words(c, (word *)r.raw_row + (int64_t)x * SIDE * WIDTH);
    }
}

/* Blocks 0 ... tiles-2: the row panel without the pivot's own tile; then, unless symmetric, the
 * column panel, which is computed transposed. */
static __global__ void __launch_bounds__(THREADS, BLOCKS) panels_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    int x = blockIdx.x;
    bool column = x >= r.tiles - 1;
    if (column) {
        x -= r.tiles - 1;
    }
    x += x >= r.next;

    word c[ROWS][WORDS];
    __shared__ pipeline pipe;
    operands in = {(const word *)(column ? r.tile : r.tile_t),
                   (const word *)(column ? r.raw_col : r.raw_row) + (int64_t)x * SIDE * WIDTH};
    product_begin(&pipe, in);
    fill(c);
    product_run(c, &pipe, in, r.one);

    if (!column) {
        store_words(c, (word *)r.next_row + (int64_t)x * SIDE * WIDTH);
    }
    if (column || (r.symmetric && LANES > 1)) {
        store_spread(c, (word *)r.next_col + (int64_t)x * SIDE * SIDE);
    }
    int at = r.next * SIDE;
    if (column || (r.symmetric && x > r.next)) {
        element *matrix = (element *)r.c + (int64_t)x * SIDE * r.ld + at;
        store_transposed(c, matrix, r.ld, r.n - at, r.n - x * SIDE);
    } else {
        store_tile(c, r, at, x * SIDE);
    }
}

/* --------------------------------------------------------------------------------- closing a tile */

/*
 * One block of 16 x 16 threads holds the tile in registers. Step k needs row k and column k as they
 * stand after step k-1; their owners publish them in shared memory, in one of two buffers by turns,
 * so that a step has one barrier. Rows and words of a thread come in groups of 4, the groups 64
 * apart; the loop over k is unrolled by 8 so that every register index is a constant.
 */
enum {
    CLOSE_SIDE = 16,
    CLOSE_THREADS = CLOSE_SIDE * CLOSE_SIDE,
    CLOSE_ROWS = SIDE / CLOSE_SIDE,
    CLOSE_WORDS = WIDTH / CLOSE_SIDE,
    CLOSE_GROUP = 4,
    CLOSE_SPAN = CLOSE_GROUP * CLOSE_SIDE,
    CLOSE_UNROLL = 8,
};

struct close_shared {
    word row[2][WIDTH];
    word col[2][SIDE];
};

static __device__ __forceinline__ int close_row(int i)
{
    return i / CLOSE_GROUP * CLOSE_SPAN + threadIdx.x / CLOSE_SIDE * CLOSE_GROUP + i % CLOSE_GROUP;
}

static __device__ __forceinline__ int close_word(int j)
{
    return j / CLOSE_GROUP * CLOSE_SPAN + threadIdx.x % CLOSE_SIDE * CLOSE_GROUP + j % CLOSE_GROUP;
}

/* Row and column k = base + step, which lie in the registers of index i and j of their owners. */
static __device__ __forceinline__ void publish(const word (&c)[CLOSE_ROWS][CLOSE_WORDS],
                                               close_shared *shared, int k, int i, int j)
{
    int buffer = k % 2;
    if (k % CLOSE_SPAN / CLOSE_GROUP == threadIdx.x / CLOSE_SIDE) {
#pragma unroll
        for (int w = 0; w < CLOSE_WORDS; w++) {
            shared->row[buffer][close_word(w)] = c[i][w];
        }
    }
    if (k / LANES % CLOSE_SPAN / CLOSE_GROUP == threadIdx.x % CLOSE_SIDE) {
#pragma unroll
        for (int y = 0; y < CLOSE_ROWS; y++) {
            shared->col[buffer][close_row(y)] = step::spread(step::lane(c[y][j], k % LANES));
        }
    }
}

/* The register index of row k, and of the word of column k, when k is `span` * CLOSE_SPAN + x. */
#define ROW_INDEX(span, x) ((span)*CLOSE_GROUP + (x) % CLOSE_GROUP)
#define WORD_INDEX(span, x) ((LANES == 1 ? (span)*CLOSE_GROUP : 0) + (x) / LANES % CLOSE_GROUP)

static __device__ __forceinline__ void close_registers(word (&c)[CLOSE_ROWS][CLOSE_WORDS],
                                                       close_shared *shared, int steps)
{
    publish(c, shared, 0, 0, 0);
#pragma unroll
    for (int span = 0; span < SIDE / CLOSE_SPAN; span++) {
#pragma unroll 1
        for (int base = span * CLOSE_SPAN; base < (span + 1) * CLOSE_SPAN; base += CLOSE_UNROLL) {
            if (base >= steps) {
                return;
            }
#pragma unroll
            for (int x = 0; x < CLOSE_UNROLL; x++) {
                int k = base + x;
                __syncthreads();
                word row[CLOSE_WORDS], col[CLOSE_ROWS];
#pragma unroll
                for (int j = 0; j < CLOSE_WORDS; j++) {
                    row[j] = shared->row[k % 2][close_word(j)];
                }
#pragma unroll
                for (int i = 0; i < CLOSE_ROWS; i++) {
                    col[i] = shared->col[k % 2][close_row(i)];
                }
                /* What step k+1 needs comes first, so that it is on its way during the rest. */
                const int next_i = ROW_INDEX(span, x + 1);
                const int next_j = WORD_INDEX(span, x + 1);
                bool within = x + 1 < CLOSE_UNROLL;
                if (within) {
#pragma unroll
                    for (int j = 0; j < CLOSE_WORDS; j++) {
                        c[next_i][j] = step::fused(c[next_i][j], col[next_i], row[j]);
                    }
#pragma unroll
                    for (int i = 0; i < CLOSE_ROWS; i++) {
                        if (i != next_i) {
                            c[i][next_j] = step::fused(c[i][next_j], col[i], row[next_j]);
                        }
                    }
                    publish(c, shared, k + 1, next_i, next_j);
                }
#pragma unroll
                for (int i = 0; i < CLOSE_ROWS; i++) {
#pragma unroll
                    for (int j = 0; j < CLOSE_WORDS; j++) {
                        if (!within || (i != next_i && j != next_j)) {
                            c[i][j] = step::fused(c[i][j], col[i], row[j]);
                        }
                    }
                }
                if (!within) {
                    if ((k + 1) % CLOSE_SPAN != 0) {
                        publish(c, shared, k + 1, ROW_INDEX(span, 0), WORD_INDEX(span, k + 1));
                    } else if (span + 1 < SIDE / CLOSE_SPAN) {
                        publish(c, shared, k + 1, ROW_INDEX(span + 1, 0), WORD_INDEX(span + 1, 0));
                    }
                }
            }
        }
    }
}

/* WORD_INDEX(span, k + 1) above is a constant only because CLOSE_UNROLL words are whole groups. */
static_assert(CLOSE_UNROLL / LANES % CLOSE_GROUP == 0, "a batch of steps ends on a group");

static __global__ void __launch_bounds__(CLOSE_THREADS) close_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    __shared__ close_shared shared;
    word c[CLOSE_ROWS][CLOSE_WORDS];
    const word *raw = (const word *)r.raw_tile;
#pragma unroll
    for (int i = 0; i < CLOSE_ROWS; i++) {
#pragma unroll
        for (int j = 0; j < CLOSE_WORDS; j++) {
            c[i][j] = raw[close_row(i) * WIDTH + close_word(j)];
        }
    }
    int at = r.next * SIDE;
    close_registers(c, &shared, min((int)SIDE, r.n - at));
    element *matrix = (element *)r.c + at * r.ld + at;
#pragma unroll
    for (int i = 0; i < CLOSE_ROWS; i++) {
#pragma unroll
        for (int j = 0; j < CLOSE_WORDS; j++) {
#pragma unroll
            for (int e = 0; e < LANES; e++) {
                int y = close_row(i);
                int x = close_word(j) * LANES + e;
                element value = step::lane(c[i][j], e);
                ((word *)r.tile)[y * SIDE + x] = step::spread(value);
                ((word *)r.tile_t)[x * SIDE + y] = step::spread(value);
                if (at + y < r.n && at + x < r.n) {
                    matrix[y * r.ld + x] = value;
                }
            }
        }
    }
}

/* The matrix is one tile or less. */
static __global__ void __launch_bounds__(CLOSE_THREADS) alone_kernel(const twi_gpu_round r)
{
    if (skipped(r)) {
        return;
    }
    __shared__ close_shared shared;
    word c[CLOSE_ROWS][CLOSE_WORDS];
    element *matrix = (element *)r.c;
#pragma unroll
    for (int i = 0; i < CLOSE_ROWS; i++) {
#pragma unroll
        for (int j = 0; j < CLOSE_WORDS; j++) {
            element part[LANES];
#pragma unroll
            for (int e = 0; e < LANES; e++) {
                int y = close_row(i);
                int x = close_word(j) * LANES + e;
                part[e] = y < r.n && x < r.n ? step::clamp(matrix[y * r.ld + x]) : step::infinity();
                part[e] = x == y ? (element)0 : part[e];
            }
            c[i][j] = join_lanes(part);
        }
    }
    close_registers(c, &shared, r.n);
#pragma unroll
    for (int i = 0; i < CLOSE_ROWS; i++) {
#pragma unroll
        for (int j = 0; j < CLOSE_WORDS; j++) {
#pragma unroll
            for (int e = 0; e < LANES; e++) {
                int y = close_row(i);
                int x = close_word(j) * LANES + e;
                if (y < r.n && x < r.n) {
                    matrix[y * r.ld + x] = step::lane(c[i][j], e);
                }
            }
        }
    }
}

/* ---------------------------------------------------------------------------------- the mirror */

enum { MIRROR = 32, MIRROR_ROWS = 8 };

static __global__ void mirror_kernel(const twi_gpu_round r)
{
    if (skipped(r) || blockIdx.x > blockIdx.y) {
        return;
    }
    __shared__ element square[MIRROR][MIRROR + 1];
    element *matrix = (element *)r.c;
    int64_t row = (int64_t)blockIdx.y * MIRROR;
    int64_t col = (int64_t)blockIdx.x * MIRROR;
    for (int y = threadIdx.y; y < MIRROR; y += MIRROR_ROWS) {
        if (row + y < r.n && col + threadIdx.x < r.n) {
            square[y][threadIdx.x] = matrix[(row + y) * r.ld + col + threadIdx.x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < MIRROR; y += MIRROR_ROWS) {
        /* The element (col + y, row + x) is the (row + x, col + y) of the lower triangle. */
        if (col + y < r.n && row + threadIdx.x < r.n && row + threadIdx.x > col + y) {
            matrix[(col + y) * r.ld + row + threadIdx.x] = square[threadIdx.x][y];
        }
    }
}

/* ------------------------------------------------------------------------------------- launches */

#if defined(TWI_HIP)
#define DYNAMIC_LIMIT(kernel) ((int)hipSuccess)
#else
#define DYNAMIC_LIMIT(kernel) \
    ((int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES))
#endif

static int set_up(void)
{
    int error = DYNAMIC_LIMIT(update_kernel);
    error = error != 0 ? error : DYNAMIC_LIMIT(head_kernel);
    return error != 0 ? error : DYNAMIC_LIMIT(panels_kernel);
}

static int update(const twi_gpu_round *r, void *stream)
{
    unsigned others = (unsigned)(r->tiles - 1 - (r->next >= 0));
    unsigned blocks = r->symmetric ? others * (others + 1) / 2 : others * others;
    if (blocks > 0) {
        update_kernel<<<blocks, THREADS, SHARED_BYTES, (cudaStream_t)stream>>>(*r);
    }
    return (int)cudaGetLastError();
}

static int head(const twi_gpu_round *r, void *stream)
{
    unsigned blocks = (unsigned)(r->symmetric ? r->tiles : 2 * r->tiles - 1);
    head_kernel<<<blocks, THREADS, SHARED_BYTES, (cudaStream_t)stream>>>(*r);
    return (int)cudaGetLastError();
}

static int close_tile(const twi_gpu_round *r, void *stream)
{
    close_kernel<<<1, CLOSE_THREADS, 0, (cudaStream_t)stream>>>(*r);
    return (int)cudaGetLastError();
}

static int panels(const twi_gpu_round *r, void *stream)
{
    unsigned blocks = (unsigned)(r->tiles - 1) * (r->symmetric ? 1u : 2u);
    if (blocks > 0) {
        panels_kernel<<<blocks, THREADS, SHARED_BYTES, (cudaStream_t)stream>>>(*r);
    }
    return (int)cudaGetLastError();
}

static int alone(const twi_gpu_round *r, void *stream)
{
    alone_kernel<<<1, CLOSE_THREADS, 0, (cudaStream_t)stream>>>(*r);
    return (int)cudaGetLastError();
}

static int mirror(const twi_gpu_round *r, void *stream)
{
    unsigned squares = (unsigned)((r->n + MIRROR - 1) / MIRROR);
    mirror_kernel<<<dim3(squares, squares), dim3(MIRROR, MIRROR_ROWS), 0,
                    (cudaStream_t)stream>>>(*r);
    return (int)cudaGetLastError();
}

#define TYPE_i32 TW_I32
#define TYPE_f32 TW_F32
#define TYPE_u16 TW_U16
#define TYPE_f64 TW_F64

extern "C" const twi_gpu_kernel JOIN3(twi_gpu_kernel_, TWI_GPU_TYPE, JOIN(_, TWI_GPU_SIDE)) = {
    JOIN(TYPE_, TWI_GPU_TYPE),
    SIDE,
    (int32_t)sizeof(element),
    (int32_t)sizeof(word),
    "minplus_" TEXT(TWI_GPU_TYPE) "_gpu_" TEXT(TWI_GPU_SIDE),
    set_up,
    update,
    head,
    close_tile,
    panels,
    alone,
    mirror,
};
