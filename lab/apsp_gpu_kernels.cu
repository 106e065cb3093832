/*
 * The kernels of ladder apsp-gpu (apsp_gpu.c, which lists the rungs), from one launch for each k to a
 * fused, coarse product. All of them relax a matrix of int whose side is a multiple of the block; the
 * padding is "no path", so that none but the first of each kind (naive, grid) asks where it ends.
 */
#include "apsp_gpu_kernels.h"

#include "gpu/compat.h"
#include "tilewright.h"

#define NO_PATH TW_INF_I32

/* ------------------------------------------------------------------------------------ one k each */

static __global__ void relax_all(int *d, int ld, int n, int k)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n) {
        int sum = d[i * (size_t)ld + k] + d[k * (size_t)ld + j];
        if (sum < d[i * (size_t)ld + j]) {
            d[i * (size_t)ld + j] = sum;
        }
    }
}

static void solve_naive(int *d, int ld, int n)
{
    dim3 threads(16, 16), blocks((n + 15) / 16, (n + 15) / 16);
    for (int k = 0; k < n; k++) {
        relax_all<<<blocks, threads>>>(d, ld, n, k);
    }
}

/* ------------------------------------------------------------------- three stages, row C2: 32 x 32 */

#define SIDE 32

/* Tiles of one block of threads in shared memory, one after another. */
extern __shared__ int tiles[];

static __device__ __forceinline__ int *element(int *d, int ld, int b, int ti, int tj)
{
    return d + (ti * b + threadIdx.y) * (size_t)ld + tj * b + threadIdx.x;
}

/* Stage 1: Floyd-Warshall on the pivot's tile; a barrier for each step. */
static __global__ void stage1(int *d, int ld, int b, int k)
{
    int *own = element(d, ld, b, k, k), x = threadIdx.x, y = threadIdx.y;
    tiles[y * b + x] = *own;
    for (int p = 0; p < b; p++) {
        __syncthreads();
        tiles[y * b + x] = min(tiles[y * b + x], tiles[y * b + p] + tiles[p * b + x]);
    }
    *own = tiles[y * b + x];
}

/* Stage 2 as first written: a branch for rows, a branch for columns. */
static __global__ void stage2_branches(int *d, int ld, int b, int k)
{
    int t = blockIdx.x, x = threadIdx.x, y = threadIdx.y;
    int *pivot = tiles, *mine = tiles + b * b;
    if (t == k) {
        return;
    }
    pivot[y * b + x] = *element(d, ld, b, k, k);
    if (blockIdx.y == 0) {
        mine[y * b + x] = *element(d, ld, b, k, t);
        for (int p = 0; p < b; p++) {
            __syncthreads();
            if (pivot[y * b + p] + mine[p * b + x] < mine[y * b + x]) {
                mine[y * b + x] = pivot[y * b + p] + mine[p * b + x];
            }
        }
        *element(d, ld, b, k, t) = mine[y * b + x];
    } else {
        mine[y * b + x] = *element(d, ld, b, t, k);
        for (int p = 0; p < b; p++) {
            __syncthreads();
            if (mine[y * b + p] + pivot[p * b + x] < mine[y * b + x]) {
                mine[y * b + x] = mine[y * b + p] + pivot[p * b + x];
            }
        }
        *element(d, ld, b, t, k) = mine[y * b + x];
    }
}

/* Stage 2 merged: rows and columns differ in which tile stands left of which. */
static __global__ void stage2(int *d, int ld, int b, int k)
{
    int t = blockIdx.x, x = threadIdx.x, y = threadIdx.y;
    bool row = blockIdx.y == 0;
    int *pivot = tiles, *mine = tiles + b * b;
    int *left = row ? pivot : mine, *right = row ? mine : pivot;
    int *own = element(d, ld, b, row ? k : t, row ? t : k);
    if (t == k) {
        return;
    }
    pivot[y * b + x] = *element(d, ld, b, k, k);
    mine[y * b + x] = *own;
    for (int p = 0; p < b; p++) {
        __syncthreads();
        mine[y * b + x] = min(mine[y * b + x], left[y * b + p] + right[p * b + x]);
    }
    *own = mine[y * b + x];
}

/* Stage 3 as first written: three tiles, a branch, and a barrier that nothing needs. */
static __global__ void stage3_first(int *d, int ld, int b, int k)
{
    int x = threadIdx.x, y = threadIdx.y, ti = blockIdx.y, tj = blockIdx.x;
    int *left = tiles, *right = tiles + b * b, *mine = tiles + 2 * b * b;
    if (ti == k || tj == k) {
        return;
    }
    left[y * b + x] = *element(d, ld, b, ti, k);
    right[y * b + x] = *element(d, ld, b, k, tj);
    mine[y * b + x] = *element(d, ld, b, ti, tj);
    for (int p = 0; p < b; p++) {
        __syncthreads();
        if (left[y * b + p] + right[p * b + x] < mine[y * b + x]) {
            mine[y * b + x] = left[y * b + p] + right[p * b + x];
        }
    }
    *element(d, ld, b, ti, tj) = mine[y * b + x];
}

/* The branch becomes a minimum. */
static __global__ void stage3_merged(int *d, int ld, int b, int k)
{
    int x = threadIdx.x, y = threadIdx.y, ti = blockIdx.y, tj = blockIdx.x;
    int *left = tiles, *right = tiles + b * b, *mine = tiles + 2 * b * b;
    if (ti == k || tj == k) {
        return;
    }
    left[y * b + x] = *element(d, ld, b, ti, k);
    right[y * b + x] = *element(d, ld, b, k, tj);
    mine[y * b + x] = *element(d, ld, b, ti, tj);
    for (int p = 0; p < b; p++) {
        __syncthreads();
        mine[y * b + x] = min(mine[y * b + x], left[y * b + p] + right[p * b + x]);
    }
    *element(d, ld, b, ti, tj) = mine[y * b + x];
}

/* One barrier after loading: within the stage nobody writes what another reads. */
static __global__ void stage3_no_barrier(int *d, int ld, int b, int k)
{
    int x = threadIdx.x, y = threadIdx.y, ti = blockIdx.y, tj = blockIdx.x;
    int *left = tiles, *right = tiles + b * b, *mine = tiles + 2 * b * b;
    if (ti == k || tj == k) {
        return;
    }
    left[y * b + x] = *element(d, ld, b, ti, k);
    right[y * b + x] = *element(d, ld, b, k, tj);
    mine[y * b + x] = *element(d, ld, b, ti, tj);
    __syncthreads();
    for (int p = 0; p < b; p++) {
        mine[y * b + x] = min(mine[y * b + x], left[y * b + p] + right[p * b + x]);
    }
    *element(d, ld, b, ti, tj) = mine[y * b + x];
}

/* The running minimum lives in a register: one shared access less, and no store, for each step. */
static __global__ void stage3_register(int *d, int ld, int b, int k)
{
    int x = threadIdx.x, y = threadIdx.y, ti = blockIdx.y, tj = blockIdx.x;
    int *left = tiles, *right = tiles + b * b, *mine = tiles + 2 * b * b;
    if (ti == k || tj == k) {
        return;
    }
    left[y * b + x] = *element(d, ld, b, ti, k);
    right[y * b + x] = *element(d, ld, b, k, tj);
    mine[y * b + x] = *element(d, ld, b, ti, tj);
    __syncthreads();
    int least = mine[y * b + x];
    for (int p = 0; p < b; p++) {
        least = min(least, left[y * b + p] + right[p * b + x]);
    }
    *element(d, ld, b, ti, tj) = least;
}

/* The target never enters shared memory: a third less of it, so more blocks at a time. */
static __global__ void stage3_two_tiles(int *d, int ld, int b, int k)
{
    int x = threadIdx.x, y = threadIdx.y, ti = blockIdx.y, tj = blockIdx.x;
    int *left = tiles, *right = tiles + b * b;
    if (ti == k || tj == k) {
        return;
    }
    left[y * b + x] = *element(d, ld, b, ti, k);
    right[y * b + x] = *element(d, ld, b, k, tj);
    int least = *element(d, ld, b, ti, tj);
    __syncthreads();
    for (int p = 0; p < b; p++) {
        least = min(least, left[y * b + p] + right[p * b + x]);
    }
    *element(d, ld, b, ti, tj) = least;
}

/* Addresses are worked out once, before the loop. */
static __global__ void stage3_hoisted(int *d, int ld, int b, int k)
{
    int x = threadIdx.x, y = threadIdx.y, ti = blockIdx.y, tj = blockIdx.x;
    if (ti == k || tj == k) {
        return;
    }
    int *left = tiles + y * b, *right = tiles + b * b + x, *own = element(d, ld, b, ti, tj);
    left[x] = *element(d, ld, b, ti, k);
    right[y * b] = *element(d, ld, b, k, tj);
    int least = *own;
    __syncthreads();
    for (int p = 0; p < b; p++, right += b) {
        least = min(least, left[p] + *right);
    }
    *own = least;
}

/* The compiler knows the side: the loop unrolls, addresses become constants. With T > 1 a block
 * owns T x T tiles, and each value read from shared memory serves T relaxations. */
template <int T>
static __global__ void __launch_bounds__(SIDE *SIDE) stage3_tiles(int *d, int ld, int b, int k)
{
    __shared__ int left[T * SIDE][SIDE], right[SIDE][T * SIDE];
    int x = threadIdx.x, y = threadIdx.y, least[T][T];
    int limit = ld / SIDE; /* tiles of a row that exist */
    (void)b;
#pragma unroll
    for (int t = 0; t < T; t++) {
        int ti = min((int)blockIdx.y * T + t, limit - 1);
        int tj = min((int)blockIdx.x * T + t, limit - 1);
        left[t * SIDE + y][x] = *element(d, ld, SIDE, ti, k);
        right[y][t * SIDE + x] = *element(d, ld, SIDE, k, tj);
    }
#pragma unroll
    for (int i = 0; i < T; i++) {
#pragma unroll
        for (int j = 0; j < T; j++) {
            int ti = min((int)blockIdx.y * T + i, limit - 1);
            int tj = min((int)blockIdx.x * T + j, limit - 1);
            least[i][j] = *element(d, ld, SIDE, ti, tj);
        }
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < SIDE; p++) {
#pragma unroll
        for (int i = 0; i < T; i++) {
#pragma unroll
            for (int j = 0; j < T; j++) {
                least[i][j] =
                    min(least[i][j], left[i * SIDE + y][p] + right[p][j * SIDE + x]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < T; i++) {
#pragma unroll
        for (int j = 0; j < T; j++) {
            int ti = blockIdx.y * T + i, tj = blockIdx.x * T + j;
            if (ti < limit && tj < limit && ti != k && tj != k) {
                *element(d, ld, SIDE, ti, tj) = least[i][j];
            }
        }
    }
}

typedef void stage(int *d, int ld, int b, int k);

static void solve_stages(int *d, int ld, int n, stage *second, stage *third, int held, int owned)
{
    int count = n / SIDE, wide = (count + owned - 1) / owned, bytes = SIDE * SIDE * (int)sizeof(int);
    dim3 threads(SIDE, SIDE);
    for (int k = 0; k < count; k++) {
        stage1<<<1, threads, bytes>>>(d, ld, SIDE, k);
        second<<<dim3(count, 2), threads, 2 * bytes>>>(d, ld, SIDE, k);
        third<<<dim3(wide, wide), threads, held * bytes>>>(d, ld, SIDE, k);
    }
}

#define STAGES(name, second, third, held, owned)               \
    static void solve_##name(int *d, int ld, int n)            \
    {                                                          \
        solve_stages(d, ld, n, (second), (third), held, owned); \
    }
STAGES(first, stage2_branches, stage3_first, 3, 1)
STAGES(merged, stage2, stage3_merged, 3, 1)
STAGES(no_barrier, stage2, stage3_no_barrier, 3, 1)
STAGES(register, stage2, stage3_register, 3, 1)
STAGES(two_tiles, stage2, stage3_two_tiles, 2, 1)
STAGES(hoisted, stage2, stage3_hoisted, 2, 1)
STAGES(tiles_1, stage2, stage3_tiles<1>, 0, 1)
STAGES(tiles_2, stage2, stage3_tiles<2>, 0, 2)
STAGES(tiles_4, stage2, stage3_tiles<4>, 0, 4)
STAGES(tiles_6, stage2, stage3_tiles<6>, 0, 6)

/* ------------------------------------------------------- any block, any shape of threads: A2, B2 */

/* Floyd-Warshall on the pivot's tile, X x Y threads on a tile of B x B. */
template <int B, int X, int Y> static __global__ void close_tile(int *d, int ld, int k)
{
    int *tile = d + k * B * (size_t)ld + k * B;
    for (int i = threadIdx.y; i < B; i += Y) {
        for (int j = threadIdx.x; j < B; j += X) {
            tiles[i * B + j] = tile[i * (size_t)ld + j];
        }
    }
    for (int p = 0; p < B; p++) {
        __syncthreads();
        for (int i = threadIdx.y; i < B; i += Y) {
            for (int j = threadIdx.x; j < B; j += X) {
                tiles[i * B + j] = min(tiles[i * B + j], tiles[i * B + p] + tiles[p * B + j]);
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < B; i += Y) {
        for (int j = threadIdx.x; j < B; j += X) {
            tile[i * (size_t)ld + j] = tiles[i * B + j];
        }
    }
}

enum { FUSED = 1, ROLLED = 2 };

static __device__ __forceinline__ int relax(int least, int a, int b, int flags)
{
#if TWI_COMPUTE >= 900
    if (flags & FUSED) {
        return __viaddmin_s32(a, b, least);
    }
#endif
    (void)flags;
    return min(least, a + b);
}

/* C = min(C, A (x) B) on a tile whose operands come through shared memory; C in registers. The
 * closed pivot makes the second phase a plain product, too: no barrier within it. */
template <int B, int X, int Y, int F>
static __device__ __forceinline__ void multiply(int *c, const int *a, const int *b, int ld)
{
    constexpr int rows = (B + Y - 1) / Y, cols = (B + X - 1) / X;
    constexpr int at_once = (F & ROLLED) ? 1 : 32;
    int *left = tiles, *right = tiles + B * B, least[rows][cols];
    for (int i = threadIdx.y; i < B; i += Y) {
        for (int j = threadIdx.x; j < B; j += X) {
            left[i * B + j] = a[i * (size_t)ld + j];
            right[i * B + j] = b[i * (size_t)ld + j];
        }
    }
#pragma unroll
    for (int i = 0; i < rows; i++) {
#pragma unroll
        for (int j = 0; j < cols; j++) {
            least[i][j] = c[(threadIdx.y + i * Y) * (size_t)ld + threadIdx.x + j * X];
        }
    }
    __syncthreads();
#pragma unroll at_once
    for (int p = 0; p < B; p++) {
#pragma unroll
        for (int i = 0; i < rows; i++) {
#pragma unroll
            for (int j = 0; j < cols; j++) {
                least[i][j] = relax(least[i][j], left[(threadIdx.y + i * Y) * B + p],
                                    right[p * B + threadIdx.x + j * X], F);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < rows; i++) {
#pragma unroll
        for (int j = 0; j < cols; j++) {
            c[(threadIdx.y + i * Y) * (size_t)ld + threadIdx.x + j * X] = least[i][j];
        }
    }
}

template <int B, int X, int Y, int F> static __global__ void shaped_panels(int *d, int ld, int k)
{
    int t = blockIdx.x;
    int *pivot = d + k * B * (size_t)ld + k * B;
    int *row = d + k * B * (size_t)ld + t * B, *col = d + t * B * (size_t)ld + k * B;
    if (t == k) {
        return;
    }
    if (blockIdx.y == 0) {
        multiply<B, X, Y, F>(row, pivot, row, ld);
    } else {
        multiply<B, X, Y, F>(col, col, pivot, ld);
    }
}

/* A grid of tiles whose idle blocks return at once. */
template <int B, int X, int Y, int F> static __global__ void shaped_rest(int *d, int ld, int k)
{
    int ti = blockIdx.y, tj = blockIdx.x;
    if (ti == k || tj == k) {
        return;
    }
    multiply<B, X, Y, F>(d + ti * B * (size_t)ld + tj * B, d + ti * B * (size_t)ld + k * B,
                         d + k * B * (size_t)ld + tj * B, ld);
}

/* Leave to use more than 48 KiB of shared memory, asked for once and before the clock runs. */
template <int B, int X, int Y, int F> static int prepare_shaped(void)
{
    int bytes = 2 * B * B * (int)sizeof(int);
    cudaError_t error = cudaFuncSetAttribute(
        (shaped_panels<B, X, Y, F>), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess) {
        error = cudaFuncSetAttribute((shaped_rest<B, X, Y, F>),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    }
    if (error == cudaSuccess) {
        error = cudaFuncSetAttribute((close_tile<B, X, Y>),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes / 2);
    }
    return (int)error;
}

template <int B, int X, int Y, int F> static void solve_shaped(int *d, int ld, int n)
{
    int count = n / B, bytes = 2 * B * B * (int)sizeof(int);
    dim3 threads(X, Y);
    for (int k = 0; k < count; k++) {
        close_tile<B, X, Y><<<1, threads, bytes / 2>>>(d, ld, k);
        shaped_panels<B, X, Y, F><<<dim3(count, 2), threads, bytes>>>(d, ld, k);
        shaped_rest<B, X, Y, F><<<dim3(count, count), threads, bytes>>>(d, ld, k);
    }
}

/* Row A2: three tiles of 64 in 48 KiB; in the second phase one block of threads does the row tile
 * and the column tile around one pivot tile, or, which the authors rejected, each tile has a block
 * and every one of them reads the pivot's tile. */
#define LARGE 64

static __device__ __forceinline__ void load_large(int *to, const int *from, int ld)
{
    for (int i = threadIdx.y; i < LARGE; i += 32) {
        for (int j = threadIdx.x; j < LARGE; j += 32) {
            to[i * LARGE + j] = from[i * (size_t)ld + j];
        }
    }
}

static __device__ __forceinline__ void store_large(int *to, const int *from, int ld)
{
    for (int i = threadIdx.y; i < LARGE; i += 32) {
        for (int j = threadIdx.x; j < LARGE; j += 32) {
            to[i * (size_t)ld + j] = from[i * LARGE + j];
        }
    }
}

template <int AT_ONCE>
static __device__ __forceinline__ void relax_large(int *mine, const int *left, const int *right)
{
#pragma unroll AT_ONCE
    for (int p = 0; p < LARGE; p++) {
        for (int i = threadIdx.y; i < LARGE; i += 32) {
            for (int j = threadIdx.x; j < LARGE; j += 32) {
                mine[i * LARGE + j] =
                    min(mine[i * LARGE + j], left[i * LARGE + p] + right[p * LARGE + j]);
            }
        }
    }
}

static __global__ void large_panels(int *d, int ld, int k)
{
    int t = blockIdx.x + ((int)blockIdx.x >= k); /* every tile but the pivot */
    int *pivot = tiles, *row = tiles + LARGE * LARGE, *col = tiles + 2 * LARGE * LARGE;
    int *row_at = d + k * LARGE * (size_t)ld + t * LARGE;
    int *col_at = d + t * LARGE * (size_t)ld + k * LARGE;
    load_large(pivot, d + k * LARGE * (size_t)ld + k * LARGE, ld);
    load_large(row, row_at, ld);
    load_large(col, col_at, ld);
    for (int p = 0; p < LARGE; p++) {
        __syncthreads();
        for (int i = threadIdx.y; i < LARGE; i += 32) {
            for (int j = threadIdx.x; j < LARGE; j += 32) {
                row[i * LARGE + j] =
                    min(row[i * LARGE + j], pivot[i * LARGE + p] + row[p * LARGE + j]);
                col[i * LARGE + j] =
                    min(col[i * LARGE + j], col[i * LARGE + p] + pivot[p * LARGE + j]);
            }
        }
    }
    store_large(row_at, row, ld); /* a thread stores what it computed itself */
    store_large(col_at, col, ld);
}

/* A tile a block: rows of the grid are the pivot's row and the pivot's column. */
static __global__ void large_panels_apart(int *d, int ld, int k)
{
    int t = blockIdx.x + ((int)blockIdx.x >= k);
    bool is_row = blockIdx.y == 0;
    int *pivot = tiles, *mine = tiles + LARGE * LARGE;
    int *at = d + (is_row ? k : t) * LARGE * (size_t)ld + (is_row ? t : k) * LARGE;
    const int *left = is_row ? pivot : mine, *right = is_row ? mine : pivot;
    load_large(pivot, d + k * LARGE * (size_t)ld + k * LARGE, ld);
    load_large(mine, at, ld);
    for (int p = 0; p < LARGE; p++) {
        __syncthreads();
        for (int i = threadIdx.y; i < LARGE; i += 32) {
            for (int j = threadIdx.x; j < LARGE; j += 32) {
                mine[i * LARGE + j] =
                    min(mine[i * LARGE + j], left[i * LARGE + p] + right[p * LARGE + j]);
            }
        }
    }
    store_large(at, mine, ld);
}

template <int AT_ONCE> static __global__ void large_rest(int *d, int ld, int k)
{
    int ti = blockIdx.y + ((int)blockIdx.y >= k), tj = blockIdx.x + ((int)blockIdx.x >= k);
    int *left = tiles, *right = tiles + LARGE * LARGE, *mine = tiles + 2 * LARGE * LARGE;
    int *at = d + ti * LARGE * (size_t)ld + tj * LARGE;
    load_large(left, d + ti * LARGE * (size_t)ld + k * LARGE, ld);
    load_large(right, d + k * LARGE * (size_t)ld + tj * LARGE, ld);
    load_large(mine, at, ld);
    __syncthreads();
    relax_large<AT_ONCE>(mine, left, right);
    store_large(at, mine, ld);
}

template <int AT_ONCE, bool APART> static void solve_large(int *d, int ld, int n)
{
    int count = n / LARGE, tile = LARGE * LARGE * (int)sizeof(int);
    dim3 threads(32, 32);
    for (int k = 0; k < count; k++) {
        close_tile<LARGE, 32, 32><<<1, threads, tile>>>(d, ld, k);
        if (count > 1 && APART) {
            large_panels_apart<<<dim3(count - 1, 2), threads, 2 * tile>>>(d, ld, k);
        } else if (count > 1) {
            large_panels<<<count - 1, threads, 3 * tile>>>(d, ld, k);
        }
        if (count > 1) {
            large_rest<AT_ONCE><<<dim3(count - 1, count - 1), threads, 3 * tile>>>(d, ld, k);
        }
    }
}

/* -------------------------------------------------------------------- from global memory: row B5 */

enum { CHECKED = 1, COALESCED = 2, SHARED = 4, CONFLICTS = 8 };

/* Third phase, B x B tiles, X x Y threads. CHECKED: n is not padded, every access asks. COALESCED:
 * neighbouring threads take neighbouring columns instead of rows. SHARED: operands through shared
 * memory; CONFLICTS: both transposed there. The left one stays a word for all threads of a row; the
 * right one is then read down a column of the tile, B words apart, and so in one bank. */
template <int B, int X, int Y, int F>
static __global__ void plain_rest(int *d, int ld, int n, int k)
{
    int ti = blockIdx.y, tj = blockIdx.x;
    int *left = tiles, *right = tiles + B * B;
    int across = (F & COALESCED) ? threadIdx.x : threadIdx.y;
    int down = (F & COALESCED) ? threadIdx.y : threadIdx.x;
    int step_across = (F & COALESCED) ? X : Y, step_down = (F & COALESCED) ? Y : X;
    if (ti == k || tj == k) {
        return;
    }
    for (int i = down; (F & SHARED) && i < B; i += step_down) {
        for (int j = across; j < B; j += step_across) {
            int place = (F & CONFLICTS) ? j * B + i : i * B + j;
            left[place] = d[(ti * B + i) * (size_t)ld + k * B + j];
            right[place] = d[(k * B + i) * (size_t)ld + tj * B + j];
        }
    }
    __syncthreads();
    for (int i = down; i < B; i += step_down) {
        for (int j = across; j < B; j += step_across) {
            int row = ti * B + i, col = tj * B + j;
            if ((F & CHECKED) && (row >= n || col >= n)) {
                continue;
            }
            int least = d[row * (size_t)ld + col];
            for (int p = 0; p < B; p++) {
                int a, b;
                if ((F & CHECKED) && k * B + p >= n) {
                    break;
                }
                if (F & SHARED) {
                    a = left[(F & CONFLICTS) ? p * B + i : i * B + p];
                    b = right[(F & CONFLICTS) ? j * B + p : p * B + j];
                } else {
                    a = d[row * (size_t)ld + k * B + p];
                    b = d[(k * B + p) * (size_t)ld + col];
                }
                least = min(least, a + b);
            }
            d[row * (size_t)ld + col] = least;
        }
    }
}

/* Operands through shared memory in every phase; the clash is the third one's alone. */
template <int B, int X, int Y, int F> static void solve_plain(int *d, int ld, int n)
{
    int count = n / B, bytes = 2 * B * B * (int)sizeof(int);
    for (int k = 0; k < count; k++) {
        close_tile<B, X, Y><<<1, dim3(X, Y), bytes / 2>>>(d, ld, k);
        shaped_panels<B, X, Y, 0><<<dim3(count, 2), dim3(X, Y), bytes>>>(d, ld, k);
        plain_rest<B, X, Y, F><<<dim3(count, count), dim3(X, Y), bytes>>>(d, ld, n, k);
    }
}

/* ---------------------------------------------------- nothing in shared memory: row B5, any block */

/* One tile relaxed where it lies, through rows of `right` and columns of `left`, of which one may be
 * the tile itself; rows, cols and pivots: how much of the tile and of the pivot's lies within n. Step
 * p leaves row p and column p as they are, so nobody reads what another changes in the same step. */
template <int B, int X, int Y, int F>
static __device__ __forceinline__ void relax_in_place(int *mine, const int *left, const int *right,
                                                      int ld, int rows, int cols, int pivots)
{
    int across = (F & COALESCED) ? threadIdx.x : threadIdx.y;
    int down = (F & COALESCED) ? threadIdx.y : threadIdx.x;
    int step_across = (F & COALESCED) ? X : Y, step_down = (F & COALESCED) ? Y : X;
    for (int p = 0; p < B; p++) {
        __syncthreads();
        if ((F & CHECKED) && p >= pivots) {
            break; /* all threads do */
        }
        for (int i = down; i < B; i += step_down) {
            for (int j = across; j < B; j += step_across) {
                if ((F & CHECKED) && (i >= rows || j >= cols)) {
                    continue;
                }
                int sum = left[i * (size_t)ld + p] + right[p * (size_t)ld + j];
                mine[i * (size_t)ld + j] = min(mine[i * (size_t)ld + j], sum);
            }
        }
    }
}

template <int B, int X, int Y, int F> static __global__ void global_close(int *d, int ld, int n, int k)
{
    int *tile = d + k * B * (size_t)ld + k * B, there = n - k * B;
    relax_in_place<B, X, Y, F>(tile, tile, tile, ld, there, there, there);
}

/* The tiles of the pivot's row and column, likewise. */
template <int B, int X, int Y, int F>
static __global__ void global_panels(int *d, int ld, int n, int k)
{
    int t = blockIdx.x;
    bool row = blockIdx.y == 0;
    int *pivot = d + k * B * (size_t)ld + k * B;
    int *mine = d + (row ? k : t) * B * (size_t)ld + (row ? t : k) * B;
    if (t == k) {
        return;
    }
    relax_in_place<B, X, Y, F>(mine, row ? pivot : mine, row ? mine : pivot, ld,
                               n - (row ? k : t) * B, n - (row ? t : k) * B, n - k * B);
}

template <int B, int X, int Y, int F> static void solve_global(int *d, int ld, int n)
{
    int count = (n + B - 1) / B;
    dim3 threads(X, Y);
    for (int k = 0; k < count; k++) {
        global_close<B, X, Y, F><<<1, threads>>>(d, ld, n, k);
        global_panels<B, X, Y, F><<<dim3(count, 2), threads>>>(d, ld, n, k);
        plain_rest<B, X, Y, F><<<dim3(count, count), threads>>>(d, ld, n, k);
    }
}

/* -------------------------------------------------------------------------------------- padding */

static __global__ void fill_padding(int *d, int ld, int side, int n)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < side && j < side && (i >= n || j >= n)) {
        d[i * (size_t)ld + j] = NO_PATH;
    }
}

extern "C" int lab_pad(int *d, int ld, int side, int n)
{
    dim3 blocks((side + 15) / 16, (side + 15) / 16);
    fill_padding<<<blocks, dim3(16, 16)>>>(d, ld, side, n);
    return (int)cudaGetLastError();
}

/* ------------------------------------------------------------------------------------- two GPUs */

/* Third phase on some of the rows of tiles. */
template <int B, int X, int Y> static __global__ void rows_rest(int *d, int ld, int k, int first)
{
    int ti = first + blockIdx.y, tj = blockIdx.x;
    if (ti == k || tj == k) {
        return;
    }
    multiply<B, X, Y, 0>(d + ti * B * (size_t)ld + tj * B, d + ti * B * (size_t)ld + k * B,
                         d + k * B * (size_t)ld + tj * B, ld);
}

/* The first two phases on every GPU, the third on its rows. */
extern "C" int lab_multi_round(int *d, int ld, int k, int first, int end, void *stream)
{
    constexpr int b = LAB_MULTI_SIDE, bytes = 2 * b * b * (int)sizeof(int);
    cudaStream_t on = (cudaStream_t)stream;
    int count = ld / b;
    dim3 threads(16, 16);
    close_tile<b, 16, 16><<<1, threads, bytes / 2, on>>>(d, ld, k);
    shaped_panels<b, 16, 16, 0><<<dim3(count, 2), threads, bytes, on>>>(d, ld, k);
    rows_rest<b, 16, 16><<<dim3(count, end - first), threads, bytes, on>>>(d, ld, k, first);
    return (int)cudaGetLastError();
}

static __global__ void fetch(int *to, const int *from, int64_t count)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[i];
    }
}

extern "C" int lab_multi_fetch(int *to, const int *from, int64_t count, void *stream)
{
    fetch<<<(unsigned)((count + 255) / 256), 256, 0, (cudaStream_t)stream>>>(to, from, count);
    return (int)cudaGetLastError();
}

/* -------------------------------------------------------------------------------------- recipes */

#define TILE_BYTES(side) ((side) * (side) * (int)sizeof(int))
/* The pass for an AMD device wants no table of functions it has not, but their kernels. */
#ifdef __HIP_DEVICE_COMPILE__
#define PREPARED(name, block, prepare, solve, kernel, threads, shared) \
    static inline void use_##name(void)                                \
    {                                                                  \
        (void)(solve);                                                 \
    }
#else
#define PREPARED(name, block, prepare, solve, kernel, threads, shared)                     \
    extern "C" const lab_recipe lab_##name = {block,   prepare, solve, (const void *)(kernel), \
                                              threads, shared};
#endif
#define RECIPE(name, block, solve, kernel, threads, shared) \
    PREPARED(name, block, NULL, solve, kernel, threads, shared)

RECIPE(naive, 1, solve_naive, relax_all, 256, 0)
RECIPE(first, SIDE, solve_first, stage3_first, 1024, 3 * TILE_BYTES(SIDE))
RECIPE(merged, SIDE, solve_merged, stage3_merged, 1024, 3 * TILE_BYTES(SIDE))
RECIPE(no_barrier, SIDE, solve_no_barrier, stage3_no_barrier, 1024, 3 * TILE_BYTES(SIDE))
RECIPE(in_register, SIDE, solve_register, stage3_register, 1024, 3 * TILE_BYTES(SIDE))
RECIPE(two_tiles, SIDE, solve_two_tiles, stage3_two_tiles, 1024, 2 * TILE_BYTES(SIDE))
RECIPE(hoisted, SIDE, solve_hoisted, stage3_hoisted, 1024, 2 * TILE_BYTES(SIDE))
RECIPE(tiles_1, SIDE, solve_tiles_1, stage3_tiles<1>, 1024, 0)
RECIPE(tiles_2, SIDE, solve_tiles_2, stage3_tiles<2>, 1024, 0)
RECIPE(tiles_4, SIDE, solve_tiles_4, stage3_tiles<4>, 1024, 0)
RECIPE(tiles_6, SIDE, solve_tiles_6, stage3_tiles<6>, 1024, 0)
RECIPE(large_rolled, LARGE, (solve_large<1, false>), large_rest<1>, 1024, 3 * TILE_BYTES(LARGE))
RECIPE(large, LARGE, (solve_large<32, false>), large_rest<32>, 1024, 3 * TILE_BYTES(LARGE))
RECIPE(large_apart, LARGE, (solve_large<32, true>), large_rest<32>, 1024, 3 * TILE_BYTES(LARGE))

/* `fit`: what the matrix is padded to, 1 for a kernel that asks. */
#define GLOBAL(name, fit, b, f)                                                                 \
    RECIPE(name, fit, (solve_global<b, 16, 16, f>), (plain_rest<b, 16, 16, f>), 256, 0)
GLOBAL(grid, 1, 32, CHECKED)
GLOBAL(padded, 32, 32, 0)
GLOBAL(coalesced, 32, 32, COALESCED)
GLOBAL(global_16, 16, 16, COALESCED)
GLOBAL(global_32, 32, 32, COALESCED)
GLOBAL(global_64, 64, 64, COALESCED)
GLOBAL(global_128, 128, 128, COALESCED)
GLOBAL(global_256, 256, 256, COALESCED)

#define PLAIN(name, b, x, y, f)                                                               \
    RECIPE(name, b, (solve_plain<b, x, y, f>), (plain_rest<b, x, y, f>), (x) * (y),           \
           2 * TILE_BYTES(b))
PLAIN(conflicts, 32, 16, 16, COALESCED | SHARED | CONFLICTS)
PLAIN(straight, 32, 16, 16, COALESCED | SHARED)
PLAIN(block_64, 64, 16, 16, COALESCED | SHARED)
PLAIN(threads_32, 64, 32, 32, COALESCED | SHARED)

#define SHAPED(name, b, x, y, f)                                                                \
    PREPARED(name, b, (prepare_shaped<b, x, y, f>), (solve_shaped<b, x, y, f>),                 \
             (shaped_rest<b, x, y, f>), (x) * (y), 2 * TILE_BYTES(b))
SHAPED(coarse, 64, 32, 8, ROLLED)
SHAPED(unrolled, 64, 32, 8, 0)
SHAPED(block_78, 78, 39, 13, 0)
SHAPED(fused, 64, 16, 16, FUSED)

#define SHAPE(b, x, y)                                        \
    SHAPED(shape_##b##_##x##_##y, b, x, y, 0)
SHAPE(8, 8, 8)
SHAPE(16, 16, 16)
SHAPE(32, 32, 32)
SHAPE(32, 8, 32)
SHAPE(32, 16, 16)
SHAPE(48, 16, 16)
SHAPE(64, 32, 32)
SHAPE(64, 64, 16)
SHAPE(64, 16, 16)
SHAPE(78, 39, 13)
SHAPE(80, 16, 40)
SHAPE(90, 45, 15)
SHAPE(128, 32, 32)
SHAPE(128, 16, 16)
