/*
 * The kernels of a sweep on the GPU, for one element type (TWI_GPU_TYPE: i32, f32, u16, f64); the
 * build compiles this file once for each. See gpu/kernels/sweep.h.
 *
 * A product on rows that lie anywhere: a thread block takes a tile of 16 or 8 rows of one block of
 * the tree and GROUPS tiles of columns, one for each 32 threads. A thread holds a piece of 16 bytes
 * of every row of the tile. The arcs of the slab go through shared memory, from where all threads
 * read the same words at a time; the rows they are added to come straight from the cache, pairs of
 * depths ahead. Threads do not wait for each other but when arcs are brought, and nothing depends
 * on how many of them go in step.
 */
#include "apsp/gpu/kernels/sweep.h"

#include "apsp/gpu/kernels/one_type.cuh"

enum {
    GROUP = 32, /* threads of a tile of columns */
    GROUPS = 4, /* of those in a thread block */
    THREADS = GROUP * GROUPS,
    WORDS = 16 / sizeof(word), /* of a piece */
    LANES = step::LANES,
    PIECE = WORDS * LANES, /* columns of one */
    TILE = GROUP * PIECE,  /* columns of a tile */
    CHUNK = 64,            /* depths that shared memory holds */
    TALL = TWI_SWEEP_TALL,
    LOW = TWI_SWEEP_LOW,
    ENOUGH = 8192,       /* thread blocks, for any device */
    ROW_THREADS = 256,   /* of passes over rows */
#ifndef TWI_SWEEP_SLICES /* tests have less */
#define TWI_SWEEP_SLICES 256
#endif
    SLICES = TWI_SWEEP_SLICES, /* that rows are cut into where columns are folded */
};

struct __align__(16) piece
{
    word at[WORDS];
};

struct __align__(4 * sizeof(element)) four
{
    element at[4];
};

static __host__ __device__ constexpr bool is_fused(int at, int i)
{
    return (at + step::SKEW * i) % 8 < step::FUSED;
}

static __device__ __forceinline__ piece infinite_piece(void)
{
    piece p;
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        p.at[w] = step::spread(step::infinity());
    }
    return p;
}

static __device__ __forceinline__ piece *piece_at(void *rows, int64_t ld, int64_t row, int column)
{
    return (piece *)((element *)rows + row * ld + column);
}

/* Whole piece, or the columns of it that lie in the range. */
static __device__ __forceinline__ bool is_inside(int column, twi_sweep_range range)
{
    return column >= range.begin && column + PIECE <= range.end;
}
static __device__ __forceinline__ bool is_outside(int column, twi_sweep_range range)
{
    return column >= range.end || column + PIECE <= range.begin;
}

static __device__ __forceinline__ void store_inside(piece *to, const piece &p, int column,
                                                    twi_sweep_range range)
{
    if (is_inside(column, range)) {
        *to = p;
        return;
    }
#pragma unroll
    for (int e = 0; e < PIECE; e++) {
        if (column + e >= range.begin && column + e < range.end) {
            ((element *)to)[e] = step::lane(p.at[e / LANES], e % LANES);
        }
    }
}

/* The columns of the range; infinity elsewhere, where nothing may have been written yet. */
static __device__ __forceinline__ piece load_inside(const piece *from, int column,
                                                    twi_sweep_range range)
{
    if (is_inside(column, range)) {
        return *from;
    }
    piece p = infinite_piece();
    if (is_outside(column, range)) {
        return p;
    }
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        word built = 0;
#pragma unroll
        for (int lane = 0; lane < LANES; lane++) {
            int e = w * LANES + lane;
            element value = column + e >= range.begin && column + e < range.end
                                ? ((const element *)from)[e]
                                : step::infinity();
            if (LANES == 1) {
                built = step::spread(value);
            } else {
                built = lane == 0 ? (word)value : (word)((uint32_t)built | (uint32_t)value << 16);
            }
        }
        p.at[w] = built;
    }
    return p;
}

/* ------------------------------------------------------------------------------------ the product
 */

/* Two depths; the arcs stand in shared memory. */
template <int HEIGHT>
static __device__ __forceinline__ void multiply_pair(word (&c)[HEIGHT][WORDS], const word *arcs,
                                                     const piece &x0, const piece &x1, int one)
{
#pragma unroll
    for (int g = 0; g < HEIGHT / WORDS; g++) {
        piece a0 = *(const piece *)(arcs + g * WORDS);
        piece a1 = *(const piece *)(arcs + HEIGHT + g * WORDS);
#pragma unroll
        for (int r = 0; r < WORDS; r++) {
            const int i = g * WORDS + r;
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                if (is_fused(i * WORDS + w, i)) {
                    c[i][w] =
                        step::fused(step::fused(c[i][w], a0.at[r], x0.at[w]), a1.at[r], x1.at[w]);
                } else {
                    c[i][w] = step::pair(c[i][w], a0.at[r], x0.at[w], a1.at[r], x1.at[w], one);
                }
            }
        }
    }
}

/* Where a thread's piece of the rows of x lies that a product reads. */
struct source {
    const element *from; /* the piece of row 0 */
    int64_t ld;
};

static __device__ __forceinline__ const piece *piece_of(const source &s, int32_t row)
{
    return (const piece *)(s.from + row * s.ld);
}

/* Rows that are on their way to a thread: pairs of depths, in groups of their own, through places
 * in shared memory that nobody else sees; a place is asked for again when what it had has been
 * used. Without background copies the next pair waits in registers. */
#if TWI_BACKGROUND_COPY

enum { AHEAD = 3, PLACES = AHEAD + 1 };
struct queue {
    piece at[PLACES][2][THREADS];
};

static __device__ __forceinline__ void ask(queue &q, int pair, const source &s, int32_t row0,
                                           int32_t row1)
{
    copy16(&q.at[pair % PLACES][0][threadIdx.x], piece_of(s, row0));
    copy16(&q.at[pair % PLACES][1][threadIdx.x], piece_of(s, row1));
}

/* The first pair, which nothing has to be known of but its rows. */
static __device__ __forceinline__ void ask_first(queue &q, const source &s, int32_t row0,
                                                 int32_t row1)
{
    ask(q, 0, s, row0, row1);
    copy16_group();
}

/* c = min(c, arcs (x) rows) for the `depth` (even) depths in shared memory; the first pair has been
 * asked for. */
template <int HEIGHT>
static __device__ __forceinline__ void multiply_chunk(word (&c)[HEIGHT][WORDS], const word *arcs,
                                                      const int32_t *rows, int depth,
                                                      const source &s, queue &q, int one)
{
    const int pairs = depth / 2;
#pragma unroll
    for (int pair = 1; pair < AHEAD; pair++) {
        if (pair < pairs) {
            ask(q, pair, s, rows[2 * pair], rows[2 * pair + 1]);
        }
        copy16_group();
    }
#pragma unroll 1
    for (int pair = 0; pair < pairs; pair++) {
        copy16_wait_but<AHEAD - 1>();
        piece x0 = q.at[pair % PLACES][0][threadIdx.x];
        piece x1 = q.at[pair % PLACES][1][threadIdx.x];
        if (pair + AHEAD < pairs) {
            ask(q, pair + AHEAD, s, rows[2 * (pair + AHEAD)], rows[2 * (pair + AHEAD) + 1]);
        }
        copy16_group();
        multiply_pair<HEIGHT>(c, arcs + 2 * pair * HEIGHT, x0, x1, one);
    }
}

#else

struct queue {
    piece x0, x1;
};

static __device__ __forceinline__ void ask_first(queue &q, const source &s, int32_t row0,
                                                 int32_t row1)
{
    q.x0 = *piece_of(s, row0);
    q.x1 = *piece_of(s, row1);
}

template <int HEIGHT>
static __device__ __forceinline__ void multiply_chunk(word (&c)[HEIGHT][WORDS], const word *arcs,
                                                      const int32_t *rows, int depth,
                                                      const source &s, queue &q, int one)
{
#pragma unroll 1
    for (int k = 0; k < depth; k += 2) {
        int next = k + 2 < depth ? k + 2 : k;
        piece y0 = *piece_of(s, rows[next]);
        piece y1 = *piece_of(s, rows[next + 1]);
        multiply_pair<HEIGHT>(c, arcs + k * HEIGHT, q.x0, q.x1, one);
        q.x0 = y0;
        q.x1 = y1;
    }
}

#endif

/* The arcs and rows of `part` depths from `base` on, into shared memory. */
template <int HEIGHT, bool UP>
static __device__ __forceinline__ void bring(word *arcs, int32_t *rows, const twi_gpu_batch &batch,
                                             const twi_sweep_task &t, int base, int part)
{
    const element *slab = (const element *)batch.arcs + t.arcs + (int64_t)base * HEIGHT;
    __syncthreads();
    for (int at = (int)threadIdx.x * 4; at < part * HEIGHT; at += THREADS * 4) {
        four f = *(const four *)(slab + at);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            arcs[at + e] = step::spread(f.at[e]);
        }
    }
    for (int k = (int)threadIdx.x; k < part; k += THREADS) {
        int at = base + k < t.depth ? base + k : t.depth - 1;
        rows[k] = UP ? at : batch.index[t.from + at];
    }
    __syncthreads();
}

/* A thread block takes every gridDim.y-th GROUPS tiles of columns, and keeps the arcs if shared
 * memory holds all of them. */
template <int HEIGHT, bool UP>
static __global__ void TWI_BOUNDS(THREADS, HEIGHT == TALL ? 4 : 5)
    product_kernel(const twi_gpu_batch batch, const twi_sweep_task *tasks)
{
    __shared__ __align__(16) word arcs[CHUNK * HEIGHT];
    __shared__ int32_t rows[CHUNK];
#if TWI_BACKGROUND_COPY
    __shared__ queue q;
#else
    queue q;
#endif
    const twi_sweep_task t = tasks[blockIdx.x];
    const twi_sweep_range range = batch.range[t.block];
    const int end = UP ? range.end : batch.columns;
    const int32_t *out = batch.index + t.out;
    const int depth = (t.depth + 1) / 2 * 2;
    int tile = (UP ? range.begin / TILE : 0) + (int)blockIdx.y * GROUPS;
    if (tile * TILE >= end || (UP && range.begin >= end)) {
        return;
    }
    const int last = t.depth > 1 ? 1 : 0;
    const int32_t row0 = UP || depth == 0 ? 0 : batch.index[t.from];
    const int32_t row1 = UP || depth == 0 ? last : batch.index[t.from + last];
    bool there = false;
#pragma unroll 1
    for (; tile * TILE < end; tile += (int)gridDim.y * GROUPS) {
        const int column =
            (tile + (int)threadIdx.x / GROUP) * TILE + (int)threadIdx.x % GROUP * PIECE;
        const bool active = column < end;
        const source from = {(const element *)(UP ? batch.pool : batch.x) + column, batch.ld};
        if (active && depth > 0) { /* on their way while the arcs are brought */
            ask_first(q, from, row0, row1);
        }
        word c[HEIGHT][WORDS];
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
            piece p = infinite_piece();
            if (active && i < t.rows) {
                p = load_inside(piece_at(batch.x, batch.ld, out[i], column), column, range);
            }
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                c[i][w] = p.at[w];
            }
        }
#pragma unroll 1
        for (int base = 0; base < depth; base += CHUNK) {
            const int part = depth - base < CHUNK ? depth - base : CHUNK;
            if (!there) {
                bring<HEIGHT, UP>(arcs, rows, batch, t, base, part);
                there = depth <= CHUNK;
            }
            if (active) {
                if (base > 0) {
                    ask_first(q, from, rows[0], rows[1]);
                }
                multiply_chunk<HEIGHT>(c, arcs, rows, part, from, q, batch.one);
            }
        }
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
            if (active && i < t.rows) {
                piece p;
#pragma unroll
                for (int w = 0; w < WORDS; w++) {
                    p.at[w] = c[i][w];
                }
                piece *to = piece_at(batch.x, batch.ld, out[i], column);
                if (UP) {
                    store_inside(to, p, column, range);
                } else {
                    *to = p;
                }
            }
        }
    }
}

/* Thread blocks that share out the columns of a task: fewer where there are many tasks. */
static unsigned shares(int64_t tasks, int64_t spans)
{
    int64_t most = ENOUGH / tasks + 1;
    return (unsigned)(spans < most ? spans : most);
}

static int up(const twi_gpu_batch *batch, const twi_sweep_task *tasks, int64_t count,
              int32_t height, int64_t spans, void *stream)
{
    dim3 grid((unsigned)count, shares(count, spans));
    if (height == TALL) {
        product_kernel<TALL, true><<<grid, THREADS, 0, (cudaStream_t)stream>>>(*batch, tasks);
    } else {
        product_kernel<LOW, true><<<grid, THREADS, 0, (cudaStream_t)stream>>>(*batch, tasks);
    }
    return (int)cudaGetLastError();
}

static int down(const twi_gpu_batch *batch, const twi_sweep_task *tasks, int64_t count,
                int32_t height, void *stream)
{
    int64_t spans = (batch->columns + TILE * GROUPS - 1) / (TILE * GROUPS);
    dim3 grid((unsigned)count, shares(count, spans));
    if (height == TALL) {
        product_kernel<TALL, false><<<grid, THREADS, 0, (cudaStream_t)stream>>>(*batch, tasks);
    } else {
        product_kernel<LOW, false><<<grid, THREADS, 0, (cudaStream_t)stream>>>(*batch, tasks);
    }
    return (int)cudaGetLastError();
}

/* ---------------------------------------------------------------------------- beginning of a batch
 */

/* A group of threads takes a row: that of a place. */
static __global__ void clear_kernel(const twi_gpu_batch batch)
{
    int64_t place = ((int64_t)blockIdx.x * ROW_THREADS + threadIdx.x) / GROUP;
    if (place >= batch.n) {
        return;
    }
    twi_sweep_range range = batch.range[batch.block[place]];
    int column = range.begin / PIECE * PIECE + (int)threadIdx.x % GROUP * PIECE;
    for (; column < range.end; column += GROUP * PIECE) {
        store_inside(piece_at(batch.x, batch.ld, place, column), infinite_piece(), column, range);
    }
}

static __global__ void source_kernel(const twi_gpu_batch batch)
{
    int column = (int)(blockIdx.x * ROW_THREADS + threadIdx.x);
    if (column < batch.count) {
        ((element *)batch.x)[batch.source[column] * batch.ld + column] = 0;
    }
}

static unsigned blocks_for(int64_t threads)
{
    return (unsigned)((threads + ROW_THREADS - 1) / ROW_THREADS);
}

static int begin(const twi_gpu_batch *batch, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    clear_kernel<<<blocks_for(batch->n * GROUP), ROW_THREADS, 0, s>>>(*batch);
    source_kernel<<<blocks_for(batch->count), ROW_THREADS, 0, s>>>(*batch);
    return (int)cudaGetLastError();
}

/* A group of threads takes a row of a block. */
static __global__ void take_kernel(const twi_gpu_batch batch, const int32_t *blocks)
{
    int32_t block = blocks[blockIdx.x];
    int row = (int)(blockIdx.y * ROW_THREADS + threadIdx.x) / GROUP;
    twi_sweep_range range = batch.range[block];
    int64_t place = batch.first[block] + row;
    if (place >= batch.first[block + 1]) {
        return;
    }
    int column = range.begin / PIECE * PIECE + (int)threadIdx.x % GROUP * PIECE;
    for (; column < range.end; column += GROUP * PIECE) {
        piece p = load_inside(piece_at(batch.x, batch.ld, place, column), column, range);
        store_inside(piece_at(batch.pool, batch.ld, row, column), p, column, range);
    }
}

static int take(const twi_gpu_batch *batch, const int32_t *blocks, int64_t count, int64_t rows,
                void *stream)
{
    dim3 grid((unsigned)count, blocks_for(rows * GROUP));
    take_kernel<<<grid, ROW_THREADS, 0, (cudaStream_t)stream>>>(*batch, blocks);
    return (int)cudaGetLastError();
}

/* ------------------------------------------------------------------------------- what comes of it
 */

#define IS_u16 1
#define IS_i32 1
#define IS_f32 0
#define IS_f64 0
#if JOIN(IS_, TWI_GPU_TYPE)

/* A thread takes a piece of columns, in a slice of the rows. Sums of a slice fit in 64 bits. */
static __global__ void fold_kernel(const twi_gpu_batch batch, const twi_gpu_folds folds)
{
    int column = (int)(blockIdx.x * THREADS + threadIdx.x) * PIECE;
    int64_t first = batch.n * blockIdx.y / SLICES;
    int64_t last = batch.n * (blockIdx.y + 1) / SLICES;
    if (column >= batch.count || first == last) {
        return;
    }
    uint64_t sum[PIECE];
    int32_t reached[PIECE];
    int32_t most[PIECE];
#pragma unroll
    for (int e = 0; e < PIECE; e++) {
        sum[e] = 0;
        reached[e] = 0;
        most[e] = 0;
    }
#pragma unroll 4
    for (int64_t place = first; place < last; place++) {
        piece p = *piece_at(batch.x, batch.ld, place, column);
#pragma unroll
        for (int e = 0; e < PIECE; e++) {
            int32_t value = (int32_t)step::lane(p.at[e / LANES], e % LANES);
            bool near = value < (int32_t)step::infinity();
            value = near ? value : 0;
            reached[e] += near;
            sum[e] += (uint32_t)value;
            most[e] = max(most[e], value);
        }
    }
#pragma unroll
    for (int e = 0; e < PIECE; e++) {
        if (column + e < batch.count) {
            atomicAdd((unsigned long long *)folds.sum + column + e, (unsigned long long)sum[e]);
            atomicAdd(folds.reached + column + e, reached[e]);
            atomicMax(folds.most + column + e, most[e]);
            if (reached[e] < last - first) {
                *folds.capped = 1;
            }
        }
    }
}

static int fold(const twi_gpu_batch *batch, const twi_gpu_folds *folds, void *stream)
{
    dim3 grid((unsigned)((batch->count + THREADS * PIECE - 1) / (THREADS * PIECE)), SLICES);
    fold_kernel<<<grid, THREADS, 0, (cudaStream_t)stream>>>(*batch, *folds);
    return (int)cudaGetLastError();
}

static __global__ void widest_kernel(const twi_gpu_batch batch, const twi_gpu_folds folds)
{
    int column = (int)(blockIdx.x * ROW_THREADS + threadIdx.x);
    if (column < batch.count && folds.reached[column] > 1) {
        unsigned long long key = (unsigned long long)(folds.most[column] + 1) << 32 |
                                 (uint32_t) ~(uint32_t)batch.row[column];
        if (key > *(volatile unsigned long long *)folds.widest) {
            atomicMax((unsigned long long *)folds.widest, key);
        }
    }
}

static __global__ void farthest_kernel(const twi_gpu_batch batch, const twi_gpu_folds folds)
{
    int64_t place = (int64_t)blockIdx.x * ROW_THREADS + threadIdx.x;
    uint64_t key = *folds.widest;
    if (place < batch.n && key != 0) {
        int32_t column = folds.column[(int32_t) ~(uint32_t)key];
        int32_t most = (int32_t)(key >> 32) - 1;
        if ((int32_t)((const element *)batch.x)[place * batch.ld + column] == most &&
            place != batch.source[column]) {
            atomicMin(folds.farthest, batch.vertex[place]);
        }
    }
}

static int widest(const twi_gpu_batch *batch, const twi_gpu_folds *folds, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    widest_kernel<<<blocks_for(batch->count), ROW_THREADS, 0, s>>>(*batch, *folds);
    farthest_kernel<<<blocks_for(batch->n), ROW_THREADS, 0, s>>>(*batch, *folds);
    return (int)cudaGetLastError();
}

static __device__ __forceinline__ bool leads_out(const piece &from, const piece &to)
{
    bool found = false;
#pragma unroll
    for (int e = 0; e < PIECE; e++) {
        found |= step::lane(from.at[e / LANES], e % LANES) < step::infinity() &&
                 step::lane(to.at[e / LANES], e % LANES) >= step::infinity();
    }
    return found;
}

/* The vertex that arc `a` leaves: the last one whose arcs begin there or before. */
static __device__ __forceinline__ int64_t leaves_from(const int64_t *offsets, int64_t n, int64_t a)
{
    int64_t first = 0, end = n;
    while (end - first > 1) {
        const int64_t middle = (first + end) / 2;
        if (offsets[middle] <= a) {
            first = middle;
        } else {
            end = middle;
        }
    }
    return first;
}

/* Columns without a source are infinite: no arc leads out of anything there. Blocks share the arcs,
 * not the vertices: those of a hub would keep one of them busy when all others have ended. */
static __global__ void certify_kernel(const twi_gpu_batch batch, const twi_gpu_folds folds,
                                      const twi_gpu_sweep_arcs arcs)
{
    int column = (int)(blockIdx.x * THREADS + threadIdx.x) * PIECE;
    if (*folds.capped == 0 || column >= batch.columns) {
        return;
    }
    const int64_t all = arcs.offsets[batch.n];
    const int64_t last = all * (blockIdx.y + 1) / gridDim.y;
    int64_t a = all * blockIdx.y / gridDim.y;
    for (int64_t u = leaves_from(arcs.offsets, batch.n, a);
         a < last && *(volatile int32_t *)folds.refuted == 0; u++) {
        const int64_t stop = arcs.offsets[u + 1], end = stop < last ? stop : last;
        piece from = *piece_at(batch.x, batch.ld, arcs.place[u], column);
        bool found = false;
        for (; a < end; a++) {
            found |=
                leads_out(from, *piece_at(batch.x, batch.ld, arcs.place[arcs.targets[a]], column));
        }
        if (found) {
            *folds.refuted = 1;
        }
    }
}

static int certify(const twi_gpu_batch *batch, const twi_gpu_folds *folds,
                   const twi_gpu_sweep_arcs *arcs, void *stream)
{
    dim3 grid((unsigned)((batch->columns + THREADS * PIECE - 1) / (THREADS * PIECE)), 4 * SLICES);
    certify_kernel<<<grid, THREADS, 0, (cudaStream_t)stream>>>(*batch, *folds, *arcs);
    return (int)cudaGetLastError();
}

#else
#define fold NULL
#define widest NULL
#define certify NULL
#endif

#ifdef HAS_TABLE
extern "C" const twi_gpu_sweep_kernel JOIN(twi_gpu_sweep_, TWI_GPU_TYPE) = {
    THIS_TYPE, (int32_t)sizeof(element), TILE, GROUPS, begin, take, up, down, fold, widest, certify,
};
#endif
