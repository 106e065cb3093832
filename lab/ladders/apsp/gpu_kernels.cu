/*
 * The kernels of ladder apsp-gpu (gpu.c, which lists the rungs), from one launch for each k to a
 * fused, coarse product. All of them relax a matrix of int whose side is a multiple of the block;
 * the padding is "no path", so that none but the first of each kind (naive, grid) asks where it
 * ends.
 */
#include "ladders/apsp/gpu_kernels.h"

#include "gpu/compat.h"
#include "tilewright.h"

#define NO_PATH TW_APSP_INF_I32

/* ----------------------------------------------------------------------------------- one k each */

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

/* ---------------------------------------------------------------- three stages, row C2: 32 x 32 */

#define SIDE 32
#define TILE_BYTES(side) ((side) * (side) * (int)sizeof(int))

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

#ifdef TWI_HIP /* its compiler unrolls no loop with a barrier whose end it does not know, and says \
                  so */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* The same, 32 steps of the loop at a time. */
static __global__ void stage2_unrolled(int *d, int ld, int b, int k)
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
#pragma unroll 32
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

/* 32 steps of the loop at a time. */
static __global__ void stage3_unrolled(int *d, int ld, int b, int k)
{
    int x = threadIdx.x, y = threadIdx.y, ti = blockIdx.y, tj = blockIdx.x;
    int *left = tiles, *right = tiles + b * b, *mine = tiles + 2 * b * b;
    if (ti == k || tj == k) {
        return;
    }
    left[y * b + x] = *element(d, ld, b, ti, k);
    right[y * b + x] = *element(d, ld, b, k, tj);
    mine[y * b + x] = *element(d, ld, b, ti, tj);
#pragma unroll 32
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
#pragma unroll 32
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
#pragma unroll 32
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
#pragma unroll 32
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
#pragma unroll 32
    for (int p = 0; p < b; p++, right += b) {
        least = min(least, left[p] + *right);
    }
    *own = least;
}

/* The side is known when compiling: the loop unrolls whole, addresses become constants. */
static __global__ void __launch_bounds__(SIDE *SIDE) stage3_known(int *d, int ld, int b, int k)
{
    int x = threadIdx.x, y = threadIdx.y, ti = blockIdx.y, tj = blockIdx.x;
    (void)b;
    if (ti == k || tj == k) {
        return;
    }
    int *left = tiles + y * SIDE, *right = tiles + SIDE * SIDE + x;
    int *own = element(d, ld, SIDE, ti, tj);
    left[x] = *element(d, ld, SIDE, ti, k);
    right[y * SIDE] = *element(d, ld, SIDE, k, tj);
    int least = *own;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < SIDE; p++, right += SIDE) {
        least = min(least, left[p] + *right);
    }
    *own = least;
}

/* A block owns T x T tiles, and each value read from shared memory serves T relaxations. */
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
                least[i][j] = min(least[i][j], left[i * SIDE + y][p] + right[p][j * SIDE + x]);
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
    int count = n / SIDE, wide = (count + owned - 1) / owned, bytes = TILE_BYTES(SIDE);
    dim3 threads(SIDE, SIDE);
    for (int k = 0; k < count; k++) {
        stage1<<<1, threads, bytes>>>(d, ld, SIDE, k);
        second<<<dim3(count, 2), threads, 2 * bytes>>>(d, ld, SIDE, k);
        third<<<dim3(wide, wide), threads, held * bytes>>>(d, ld, SIDE, k);
    }
}

#define STAGES(name, second, third, held, owned)                \
    static void solve_##name(int *d, int ld, int n)             \
    {                                                           \
        solve_stages(d, ld, n, (second), (third), held, owned); \
    }
STAGES(first, stage2_branches, stage3_first, 3, 1)
STAGES(merged, stage2, stage3_merged, 3, 1)
STAGES(merged_unrolled, stage2_unrolled, stage3_unrolled, 3, 1)
STAGES(no_barrier, stage2_unrolled, stage3_no_barrier, 3, 1)
STAGES(in_register, stage2_unrolled, stage3_register, 3, 1)
STAGES(two_tiles, stage2_unrolled, stage3_two_tiles, 2, 1)
STAGES(hoisted, stage2_unrolled, stage3_hoisted, 2, 1)
STAGES(known_side, stage2_unrolled, stage3_known, 2, 1)
STAGES(tiles_1, stage2_unrolled, stage3_tiles<1>, 0, 1)
STAGES(tiles_2, stage2_unrolled, stage3_tiles<2>, 0, 2)
STAGES(tiles_4, stage2_unrolled, stage3_tiles<4>, 0, 4)
STAGES(tiles_6, stage2_unrolled, stage3_tiles<6>, 0, 6)

/* ------------------------------------------------------------------ the pivot's tile, any block */

/* Floyd-Warshall on the pivot's tile, X x Y threads on a tile of B x B. */
template <int B, int X, int Y>
static __global__ void __launch_bounds__(X *Y) close_tile(int *d, int ld, int k)
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

/* ----------------------------------------------------------------- three tiles: rows A2, A3, A4 */

/* A tile of B x B, of which a thread has the elements X across and Y down from its own place. Each
 * of three tiles is filled once. The target goes from there into registers, is relaxed with k
 * outside and is written back once: four tiles of stores in all. AT_ONCE: depths that the loop is
 * told to unroll; 0 leaves it to the compiler. */
template <int B, int X, int Y> struct shared_tile {
    enum { ROWS = B / Y, COLS = B / X };
    static_assert(B % X == 0 && B % Y == 0, "every thread has as many elements");

    static __device__ __forceinline__ void fill(int *tile, const int *from, int ld)
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                int y = threadIdx.y + i * Y, x = threadIdx.x + j * X;
                tile[y * B + x] = from[y * (size_t)ld + x];
            }
        }
    }

    static __device__ __forceinline__ void take(int (&least)[ROWS][COLS], const int *tile)
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                least[i][j] = tile[(threadIdx.y + i * Y) * B + threadIdx.x + j * X];
            }
        }
    }

    /* Back into the tile, and from there to its place in memory. */
    static __device__ __forceinline__ void write_back(int *to, int ld, int *tile,
                                                      const int (&least)[ROWS][COLS])
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                int y = threadIdx.y + i * Y, x = threadIdx.x + j * X;
                tile[y * B + x] = least[i][j];
                to[y * (size_t)ld + x] = tile[y * B + x];
            }
        }
    }

    static __device__ __forceinline__ void relax(int (&least)[ROWS][COLS], const int *left,
                                                 const int *right, int p)
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                least[i][j] = min(least[i][j], left[(threadIdx.y + i * Y) * B + p] +
                                                   right[p * B + threadIdx.x + j * X]);
            }
        }
    }
};

/* Where tile (i, j) of a matrix begins. */
template <int B> static __device__ __forceinline__ int *tile_at(int *d, int ld, int i, int j)
{
    return d + i * B * (size_t)ld + j * B;
}

/* Second phase, one tile: the pivot's tile is closed, so that its product with the tile as it was
 * is the answer, and no depth waits for the one before it. */
template <int B, int X, int Y, int AT_ONCE>
static __device__ __forceinline__ void three_tiles_panel(int *d, int ld, int k, int t, bool is_row)
{
    typedef shared_tile<B, X, Y> tile;
    int *pivot = tiles, *mine = tiles + B * B, least[tile::ROWS][tile::COLS];
    int *at = is_row ? tile_at<B>(d, ld, k, t) : tile_at<B>(d, ld, t, k);
    const int *left = is_row ? pivot : mine, *right = is_row ? mine : pivot;
    tile::fill(pivot, tile_at<B>(d, ld, k, k), ld);
    tile::fill(mine, at, ld);
    __syncthreads();
    tile::take(least, mine);
    if constexpr (AT_ONCE > 0) {
#pragma unroll AT_ONCE
        for (int p = 0; p < B; p++) {
            tile::relax(least, left, right, p);
        }
    } else {
        for (int p = 0; p < B; p++) {
            tile::relax(least, left, right, p);
        }
    }
    __syncthreads(); /* others still read the tile as it was */
    tile::write_back(at, ld, mine, least);
}

/* The same for a row tile and a column tile around one pivot tile. */
template <int B, int X, int Y, int AT_ONCE>
static __device__ __forceinline__ void three_tiles_pair(int *d, int ld, int k, int t)
{
    typedef shared_tile<B, X, Y> tile;
    int *pivot = tiles, *row = tiles + B * B, *col = tiles + 2 * B * B;
    int across[tile::ROWS][tile::COLS], down[tile::ROWS][tile::COLS];
    tile::fill(pivot, tile_at<B>(d, ld, k, k), ld);
    tile::fill(row, tile_at<B>(d, ld, k, t), ld);
    tile::fill(col, tile_at<B>(d, ld, t, k), ld);
    __syncthreads();
    tile::take(across, row);
    tile::take(down, col);
    if constexpr (AT_ONCE > 0) {
#pragma unroll AT_ONCE
        for (int p = 0; p < B; p++) {
            tile::relax(across, pivot, row, p);
            tile::relax(down, col, pivot, p);
        }
    } else {
        for (int p = 0; p < B; p++) {
            tile::relax(across, pivot, row, p);
            tile::relax(down, col, pivot, p);
        }
    }
    __syncthreads(); /* others still read both as they were */
    tile::write_back(tile_at<B>(d, ld, k, t), ld, row, across);
    tile::write_back(tile_at<B>(d, ld, t, k), ld, col, down);
}

template <int B, int X, int Y, int AT_ONCE>
static __device__ __forceinline__ void three_tiles_product(int *d, int ld, int k, int ti, int tj)
{
    typedef shared_tile<B, X, Y> tile;
    int *left = tiles, *right = tiles + B * B, *mine = tiles + 2 * B * B;
    int *at = tile_at<B>(d, ld, ti, tj), least[tile::ROWS][tile::COLS];
    tile::fill(left, tile_at<B>(d, ld, ti, k), ld);
    tile::fill(right, tile_at<B>(d, ld, k, tj), ld);
    tile::fill(mine, at, ld);
    __syncthreads();
    tile::take(least, mine);
    if constexpr (AT_ONCE > 0) {
#pragma unroll AT_ONCE
        for (int p = 0; p < B; p++) {
            tile::relax(least, left, right, p);
        }
    } else {
        for (int p = 0; p < B; p++) {
            tile::relax(least, left, right, p);
        }
    }
    tile::write_back(at, ld, mine, least);
}

/* A block of threads for each t but the pivot's. */
template <int B, int X, int Y, int AT_ONCE>
static __global__ void __launch_bounds__(X *Y) three_tiles_pairs(int *d, int ld, int k)
{
    three_tiles_pair<B, X, Y, AT_ONCE>(d, ld, k, blockIdx.x + ((int)blockIdx.x >= k));
}

/* Which the authors rejected: a block for each tile. Rows of the grid are the pivot's row and its
 * column. */
template <int B, int X, int Y, int AT_ONCE>
static __global__ void __launch_bounds__(X *Y) three_tiles_apart(int *d, int ld, int k)
{
    three_tiles_panel<B, X, Y, AT_ONCE>(d, ld, k, blockIdx.x + ((int)blockIdx.x >= k),
                                        blockIdx.y == 0);
}

template <int B, int X, int Y, int AT_ONCE>
static __global__ void __launch_bounds__(X *Y) three_tiles_rest(int *d, int ld, int k)
{
    three_tiles_product<B, X, Y, AT_ONCE>(d, ld, k, blockIdx.y + ((int)blockIdx.y >= k),
                                          blockIdx.x + ((int)blockIdx.x >= k));
}

template <int B, int X, int Y, int AT_ONCE, bool APART>
static void solve_three_tiles(int *d, int ld, int n)
{
    int count = n / B, others = count - 1, tile = B * B * (int)sizeof(int);
    dim3 threads(X, Y);
    for (int k = 0; k < count; k++) {
        close_tile<B, X, Y><<<1, threads, tile>>>(d, ld, k);
        if (others == 0) {
            break;
        }
        if constexpr (APART) {
            three_tiles_apart<B, X, Y, AT_ONCE><<<dim3(others, 2), threads, 2 * tile>>>(d, ld, k);
        } else {
            three_tiles_pairs<B, X, Y, AT_ONCE><<<others, threads, 3 * tile>>>(d, ld, k);
        }
        three_tiles_rest<B, X, Y, AT_ONCE><<<dim3(others, others), threads, 3 * tile>>>(d, ld, k);
    }
}

/* -------------------------------------------------- the target in registers: rows B2, B4 and B5 */

/* How a product goes. WALKS: the grid is a column of blocks, each of which walks along a row of
 * tiles. CHECKED: n is not padded, every access asks. COALESCED: neighbouring threads take
 * neighbouring columns instead of rows. SHARED: operands through shared memory; CONFLICTS: both
 * transposed there. The left one stays a word for all threads of a row; the right one is then read
 * down a column of the tile, B words apart, and so in one bank. UNROLLED: 32 depths at a time,
 * where the compiler decides otherwise. FUSED: the addition and the minimum asked for as one. */
enum {
    WALKS = 1,
    CHECKED = 2,
    COALESCED = 4,
    SHARED = 8,
    CONFLICTS = 16,
    UNROLLED = 32,
    FUSED = 64,
    STRAIGHT = COALESCED | SHARED
};

/* Depths of a product, and of its rows and columns how many lie within n, which only CHECKED asks.
 */
struct extent {
    int rows, cols, depth;
};

template <int B, int X, int Y, int F> struct elements {
    enum {
        DOWN = (F & COALESCED) ? Y : X, /* from one element of a thread to its next */
        ACROSS = (F & COALESCED) ? X : Y,
        ROWS = B / DOWN,
        COLS = B / ACROSS
    };
    static_assert(B % X == 0 && B % Y == 0, "every thread has as many elements");
    static __device__ __forceinline__ int row(int i)
    {
        return ((F & COALESCED) ? threadIdx.y : threadIdx.x) + i * DOWN;
    }
    static __device__ __forceinline__ int col(int j)
    {
        return ((F & COALESCED) ? threadIdx.x : threadIdx.y) + j * ACROSS;
    }
};

template <int F> static __device__ __forceinline__ int relaxed(int least, int a, int b)
{
#if TWI_COMPUTE >= 900
    if (F & FUSED) {
        return __viaddmin_s32(a, b, least);
    }
#endif
    return min(least, a + b);
}

/* Depth p of every element that the thread has: k is outside, the targets are in registers. */
template <int B, int X, int Y, int F, int ROWS, int COLS>
static __device__ __forceinline__ void relax_elements(int (&least)[ROWS][COLS], const int *a,
                                                      const int *b, int ld, extent in, int p)
{
    typedef elements<B, X, Y, F> my;
    const int *left = tiles, *right = tiles + B * B;
    int from[ROWS], to[COLS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int y = my::row(i);
        from[i] = (F & CONFLICTS)                   ? left[p * B + y]
                  : (F & SHARED)                    ? left[y * B + p]
                  : !(F & CHECKED) || (y < in.rows) ? a[y * (size_t)ld + p]
                                                    : NO_PATH;
    }
#pragma unroll
    for (int j = 0; j < COLS; j++) {
        int x = my::col(j);
        to[j] = (F & CONFLICTS)                   ? right[x * B + p]
                : (F & SHARED)                    ? right[p * B + x]
                : !(F & CHECKED) || (x < in.cols) ? b[p * (size_t)ld + x]
                                                  : NO_PATH;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            least[i][j] = relaxed<F>(least[i][j], from[i], to[j]);
        }
    }
}

/* C = min(C, A (x) B) on one tile, which may be an operand as well. */
template <int B, int X, int Y, int F>
static __device__ __forceinline__ void product(int *c, const int *a, const int *b, int ld,
                                               extent in, bool in_place)
{
    typedef elements<B, X, Y, F> my;
    int *left = tiles, *right = tiles + B * B, least[my::ROWS][my::COLS];
#pragma unroll
    for (int i = 0; i < my::ROWS; i++) {
#pragma unroll
        for (int j = 0; j < my::COLS; j++) {
            int y = my::row(i), x = my::col(j), place = (F & CONFLICTS) ? x * B + y : y * B + x;
            if (F & SHARED) {
                left[place] = a[y * (size_t)ld + x];
                right[place] = b[y * (size_t)ld + x];
            }
            bool there = !(F & CHECKED) || (y < in.rows && x < in.cols);
            least[i][j] = there ? c[y * (size_t)ld + x] : NO_PATH;
        }
    }
    if (F & SHARED) {
        __syncthreads();
    }
    int depth = (F & SHARED) ? B : in.depth;
    if constexpr (F & UNROLLED) {
#pragma unroll 32
        for (int p = 0; p < depth; p++) {
            relax_elements<B, X, Y, F>(least, a, b, ld, in, p);
        }
    } else {
        for (int p = 0; p < depth; p++) {
            relax_elements<B, X, Y, F>(least, a, b, ld, in, p);
        }
    }
    if (!(F & SHARED) && in_place) {
        __syncthreads(); /* others still read the tile as it was */
    }
#pragma unroll
    for (int i = 0; i < my::ROWS; i++) {
#pragma unroll
        for (int j = 0; j < my::COLS; j++) {
            int y = my::row(i), x = my::col(j);
            if (!(F & CHECKED) || (y < in.rows && x < in.cols)) {
                c[y * (size_t)ld + x] = least[i][j];
            }
        }
    }
}

/* Without shared memory a tile may be larger than the registers hold: then part after part of it. A
 * part that is done may be an operand of the next: what it holds is shorter, and a path. */
template <int B, int X, int Y, int F>
static __device__ __forceinline__ void tile_product(int *c, const int *a, const int *b, int ld,
                                                    extent in, bool in_place)
{
    constexpr int part = (F & SHARED) || B < 64 ? B : 64;
    in.depth = (F & CHECKED) ? min(B, in.depth) : B;
    for (int y = 0; y < B; y += part) {
        for (int x = 0; x < B; x += part) {
            product<part, X, Y, F>(c + y * (size_t)ld + x, a + y * (size_t)ld, b + x, ld, in,
                                   in_place);
            if (part < B && in_place) {
                __syncthreads();
            }
        }
    }
}

/* The first phase without shared memory, where the tile lies. Step p leaves row p and column p as
 * they are, so nobody reads what another changes in the same step. */
template <int B, int X, int Y, int F>
static __global__ void __launch_bounds__(X *Y) close_in_place(int *d, int ld, int n, int k)
{
    typedef elements<B, X, Y, F> my;
    int *tile = tile_at<B>(d, ld, k, k), there = (F & CHECKED) ? min(B, n - k * B) : B;
    for (int p = 0; p < there; p++) {
        __syncthreads();
        for (int y = my::row(0); y < there; y += my::DOWN) {
            for (int x = my::col(0); x < there; x += my::ACROSS) {
                int sum = tile[y * (size_t)ld + p] + tile[p * (size_t)ld + x];
                tile[y * (size_t)ld + x] = min(tile[y * (size_t)ld + x], sum);
            }
        }
    }
}

/* The pivot's row and column; the closed pivot makes this a plain product, too. */
template <int B, int X, int Y, int F>
static __global__ void __launch_bounds__(X *Y) panels(int *d, int ld, int n, int k)
{
    int count = gridDim.x / ((F & WALKS) ? 2 : 1), t = blockIdx.x % count;
    bool is_row = ((F & WALKS) ? blockIdx.x / count : blockIdx.y) == 0;
    int *pivot = tile_at<B>(d, ld, k, k), depth = n - k * B;
    if (t == k) {
        return;
    }
    if (is_row) {
        int *row = tile_at<B>(d, ld, k, t);
        tile_product<B, X, Y, F>(row, pivot, row, ld, extent{depth, n - t * B, depth}, true);
    } else {
        int *col = tile_at<B>(d, ld, t, k);
        tile_product<B, X, Y, F>(col, col, pivot, ld, extent{n - t * B, depth, depth}, true);
    }
}

template <int B, int X, int Y, int F>
static __device__ __forceinline__ void rest_tile(int *d, int ld, int n, int k, int ti, int tj)
{
    if (ti != k && tj != k) {
        tile_product<B, X, Y, F>(tile_at<B>(d, ld, ti, tj), tile_at<B>(d, ld, ti, k),
                                 tile_at<B>(d, ld, k, tj), ld,
                                 extent{n - ti * B, n - tj * B, n - k * B}, false);
    }
}

/* The rest: a grid of tiles whose idle blocks return at once, or a block for a row of them. */
template <int B, int X, int Y, int F>
static __global__ void __launch_bounds__(X *Y) rest(int *d, int ld, int n, int k)
{
    if constexpr ((F & WALKS) != 0) {
        for (int tj = 0; tj < (int)gridDim.x; tj++) {
            rest_tile<B, X, Y, F>(d, ld, n, k, blockIdx.x, tj);
        }
    } else {
        rest_tile<B, X, Y, F>(d, ld, n, k, blockIdx.y, blockIdx.x);
    }
}

/* Leave to use more than 48 KiB of shared memory, asked for once and before the clock runs. */
template <int B, int X, int Y, int F> static int prepare_product(void)
{
    int bytes = 2 * B * B * (int)sizeof(int);
    cudaError_t error = cudaFuncSetAttribute((panels<B, X, Y, F>),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess) {
        error = cudaFuncSetAttribute((rest<B, X, Y, F>),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    }
    if (error == cudaSuccess) {
        error = cudaFuncSetAttribute((close_tile<B, X, Y>),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes / 2);
    }
    return (int)error;
}

template <int B, int X, int Y, int F> static void solve_product(int *d, int ld, int n)
{
    int count = (n + B - 1) / B, bytes = (F & SHARED) ? 2 * B * B * (int)sizeof(int) : 0;
    dim3 threads(X, Y), wide = (F & WALKS) ? dim3(2 * count) : dim3(count, 2);
    dim3 all = (F & WALKS) ? dim3(count) : dim3(count, count);
    for (int k = 0; k < count; k++) {
        if constexpr ((F & SHARED) != 0) {
            close_tile<B, X, Y><<<1, threads, bytes / 2>>>(d, ld, k);
        } else {
            close_in_place<B, X, Y, F><<<1, threads>>>(d, ld, n, k);
        }
        panels<B, X, Y, F><<<wide, threads, bytes>>>(d, ld, n, k);
        rest<B, X, Y, F><<<all, threads, bytes>>>(d, ld, n, k);
    }
}

/* ----------------------------------------------------------------- 8 x 8 results a thread: ours */

/* Tiles of 128, 16 x 16 threads. A thread's rows come in two groups of four, 64 apart, and so do
 * its columns. Operands go through shared memory DEPTHS at a time, the left one transposed, so that
 * one read of 16 bytes brings four rows of a depth, or four columns. */
#define WIDE LAB_WIDE_SIDE
enum { DEPTHS = 16, RESULTS = 8, GROUP = 4, SPAN = WIDE / 2 };

struct wide_chunk {
    int4 left[DEPTHS][WIDE / GROUP], right[DEPTHS][WIDE / GROUP];
};

/* Depths p to p + DEPTHS of both operands. A thread has 8 depths of one row of the left one, and 8
 * columns of one row of the right one. */
static __device__ __forceinline__ void fill_chunk(wide_chunk *chunk, const int *a, const int *b,
                                                  int ld, int p)
{
    int t = threadIdx.y * 16 + threadIdx.x;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int q = t % 2 * 8 + h * GROUP;
        int4 v = *(const int4 *)(a + (t / 2) * (size_t)ld + p + q);
        int *left = (int *)chunk->left + t / 2;
        left[q * WIDE] = v.x;
        left[(q + 1) * WIDE] = v.y;
        left[(q + 2) * WIDE] = v.z;
        left[(q + 3) * WIDE] = v.w;
        int x = t % 16 * 2 + h;
        chunk->right[t / 16][x] = *(const int4 *)(b + (p + t / 16) * (size_t)ld + x * GROUP);
    }
}

/* Eight words of a row of groups: the thread's four, and the four that are SPAN further. */
static __device__ __forceinline__ void take_eight(int (&out)[RESULTS], const int4 *row, int at)
{
    int4 low = row[at], high = row[at + SPAN / GROUP];
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

static __device__ __forceinline__ int wide_row(int i)
{
    return threadIdx.y * GROUP + i / GROUP * SPAN + i % GROUP;
}

static __device__ __forceinline__ void multiply_wide_chunk(int (&least)[RESULTS][RESULTS],
                                                           const wide_chunk *chunk)
{
#pragma unroll
    for (int q = 0; q < DEPTHS; q++) {
        int from[RESULTS], to[RESULTS];
        take_eight(from, chunk->left[q], threadIdx.y);
        take_eight(to, chunk->right[q], threadIdx.x);
#pragma unroll
        for (int i = 0; i < RESULTS; i++) {
#pragma unroll
            for (int j = 0; j < RESULTS; j++) {
                least[i][j] = relaxed<FUSED>(least[i][j], from[i], to[j]);
            }
        }
    }
}

/* C may be an operand: it is written when the last chunk has been read. */
static __device__ __forceinline__ void wide_product(int *c, const int *a, const int *b, int ld)
{
    __shared__ wide_chunk chunk;
    int least[RESULTS][RESULTS];
#pragma unroll
    for (int i = 0; i < RESULTS; i++) {
        take_eight(least[i], (const int4 *)(c + wide_row(i) * (size_t)ld), threadIdx.x);
    }
#pragma unroll 1
    for (int p = 0; p < WIDE; p += DEPTHS) {
        __syncthreads(); /* nobody reads the chunk before it any more */
        fill_chunk(&chunk, a, b, ld, p);
        __syncthreads();
        multiply_wide_chunk(least, &chunk);
    }
#pragma unroll
    for (int i = 0; i < RESULTS; i++) {
        int4 *row = (int4 *)(c + wide_row(i) * (size_t)ld);
        row[threadIdx.x] = make_int4(least[i][0], least[i][1], least[i][2], least[i][3]);
        row[threadIdx.x + SPAN / GROUP] =
            make_int4(least[i][4], least[i][5], least[i][6], least[i][7]);
    }
}

static __global__ void TWI_BOUNDS(256, 2) wide_panels(int *d, int ld, int k)
{
    int t = blockIdx.x + ((int)blockIdx.x >= k);
    int *pivot = tile_at<WIDE>(d, ld, k, k);
    int *row = tile_at<WIDE>(d, ld, k, t), *col = tile_at<WIDE>(d, ld, t, k);
    bool is_row = blockIdx.y == 0;
    wide_product(is_row ? row : col, is_row ? pivot : col, is_row ? row : pivot, ld);
}

static __global__ void TWI_BOUNDS(256, 2) wide_rest(int *d, int ld, int k)
{
    int ti = blockIdx.y + ((int)blockIdx.y >= k), tj = blockIdx.x + ((int)blockIdx.x >= k);
    wide_product(tile_at<WIDE>(d, ld, ti, tj), tile_at<WIDE>(d, ld, ti, k),
                 tile_at<WIDE>(d, ld, k, tj), ld);
}

extern "C" void lab_wide_products(int *d, int ld, int n, int k)
{
    int others = n / WIDE - 1;
    dim3 threads(16, 16);
    if (others > 0) {
        wide_panels<<<dim3(others, 2), threads>>>(d, ld, k);
        wide_rest<<<dim3(others, others), threads>>>(d, ld, k);
    }
}

static void solve_wide(int *d, int ld, int n)
{
    for (int k = 0; k < n / WIDE; k++) {
        close_tile<WIDE, 32, 32><<<1, dim3(32, 32), TILE_BYTES(WIDE)>>>(d, ld, k);
        lab_wide_products(d, ld, n, k);
    }
}

static int prepare_wide(void)
{
    return (int)cudaFuncSetAttribute((close_tile<WIDE, 32, 32>),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, TILE_BYTES(WIDE));
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

/* Of row A2's kernels what one of two GPUs does: it has the rows of tiles from `first` to `end`. */
#define HALF LAB_MULTI_SIDE
enum { HALF_TILE = HALF * HALF * (int)sizeof(int) };

/* Its part of the pivot's column, and the tiles from row_first to row_end of the pivot's row; a
 * block that has one of each does both. */
static __global__ void __launch_bounds__(1024)
    half_panels(int *d, int ld, int k, int first, int end, int row_first, int row_end)
{
    int t = blockIdx.x;
    bool in_col = t >= first && t < end, in_row = t >= row_first && t < row_end;
    if (t != k && in_col && in_row) {
        three_tiles_pair<HALF, 32, 32, 32>(d, ld, k, t);
    } else if (t != k && (in_col || in_row)) {
        three_tiles_panel<HALF, 32, 32, 32>(d, ld, k, t, in_row);
    }
}

static __global__ void __launch_bounds__(1024) half_rest(int *d, int ld, int k, int first)
{
    int ti = first + blockIdx.y, tj = blockIdx.x;
    if (ti != k && tj != k) {
        three_tiles_product<HALF, 32, 32, 32>(d, ld, k, ti, tj);
    }
}

extern "C" int lab_multi_close(int *d, int ld, int k, void *stream)
{
    close_tile<HALF, 32, 32><<<1, dim3(32, 32), HALF_TILE, (cudaStream_t)stream>>>(d, ld, k);
    return (int)cudaGetLastError();
}

extern "C" int lab_multi_panels(int *d, int ld, int k, const lab_part_of_rows *part, void *stream)
{
    half_panels<<<ld / HALF, dim3(32, 32), 3 * HALF_TILE, (cudaStream_t)stream>>>(
        d, ld, k, part->first, part->end, part->row_first, part->row_end);
    return (int)cudaGetLastError();
}

extern "C" int lab_multi_rest(int *d, int ld, int k, const lab_part_of_rows *part, void *stream)
{
    if (part->end > part->first) {
        half_rest<<<dim3(ld / HALF, part->end - part->first), dim3(32, 32), 3 * HALF_TILE,
                    (cudaStream_t)stream>>>(d, ld, k, part->first);
    }
    return (int)cudaGetLastError();
}

extern "C" const void *lab_multi_kernel(void)
{
    return (const void *)half_rest;
}

/* -------------------------------------------------------------------------------------- recipes */

/* The pass for an AMD device wants no table of functions it has not, but their kernels. */
#ifdef __HIP_DEVICE_COMPILE__
#define PREPARED(name, block, prepare, solve, kernel, threads, shared) \
    static inline void use_##name(void)                                \
    {                                                                  \
        (void)(solve);                                                 \
    }
#else
#define PREPARED(name, block, prepare, solve, kernel, threads, shared) \
    extern "C" const lab_recipe lab_##name = {                         \
        block, prepare, solve, NULL, (const void *)(kernel), threads, shared};
#endif
#define RECIPE(name, block, solve, kernel, threads, shared) \
    PREPARED(name, block, NULL, solve, kernel, threads, shared)

RECIPE(naive, 1, solve_naive, relax_all, 256, 0)
RECIPE(first, SIDE, solve_first, stage3_first, 1024, 3 * TILE_BYTES(SIDE))
RECIPE(merged, SIDE, solve_merged, stage3_merged, 1024, 3 * TILE_BYTES(SIDE))
RECIPE(merged_unrolled, SIDE, solve_merged_unrolled, stage3_unrolled, 1024, 3 * TILE_BYTES(SIDE))
RECIPE(no_barrier, SIDE, solve_no_barrier, stage3_no_barrier, 1024, 3 * TILE_BYTES(SIDE))
RECIPE(in_register, SIDE, solve_in_register, stage3_register, 1024, 3 * TILE_BYTES(SIDE))
RECIPE(two_tiles, SIDE, solve_two_tiles, stage3_two_tiles, 1024, 2 * TILE_BYTES(SIDE))
RECIPE(hoisted, SIDE, solve_hoisted, stage3_hoisted, 1024, 2 * TILE_BYTES(SIDE))
RECIPE(known_side, SIDE, solve_known_side, stage3_known, 1024, 2 * TILE_BYTES(SIDE))
RECIPE(tiles_1, SIDE, solve_tiles_1, stage3_tiles<1>, 1024, 0)
RECIPE(tiles_2, SIDE, solve_tiles_2, stage3_tiles<2>, 1024, 0)
RECIPE(tiles_4, SIDE, solve_tiles_4, stage3_tiles<4>, 1024, 0)
RECIPE(tiles_6, SIDE, solve_tiles_6, stage3_tiles<6>, 1024, 0)

#ifndef __HIP_DEVICE_COMPILE__
/* Row C's last step: of its four variants the one that was fastest on its authors' card. Their
 * write-up tells which one that was at each of its six sizes, and not where between them it
 * changes: here each begins at the size it is told to be best at. */
extern "C" const lab_recipe *lab_tiles_for(int64_t n)
{
    return n < 1000   ? &lab_tiles_1
           : n < 2500 ? &lab_tiles_2
           : n < 5000 ? &lab_tiles_4
                      : &lab_tiles_6;
}
#endif

#define THREE(name, b, x, y, at_once, apart)                      \
    RECIPE(name, b, (solve_three_tiles<b, x, y, at_once, apart>), \
           (three_tiles_rest<b, x, y, at_once>), (x) * (y), 3 * TILE_BYTES(b))
THREE(large_rolled, 64, 32, 32, 0, false)
THREE(large, 64, 32, 32, 32, false)
THREE(large_apart, 64, 32, 32, 32, true)
THREE(three_8, 8, 8, 8, 32, false)
THREE(three_16, 16, 16, 16, 32, false)
THREE(three_32, 32, 32, 32, 32, false)

/* `fit`: what the matrix is padded to, 1 for a kernel that asks. */
#define PRODUCT(name, fit, b, x, y, f)                                     \
    PREPARED(name, fit, ((f)&SHARED ? prepare_product<b, x, y, f> : NULL), \
             (solve_product<b, x, y, f>), (rest<b, x, y, f>), (x) * (y),   \
             ((f)&SHARED) ? 2 * TILE_BYTES(b) : 0)
PRODUCT(walk, 1, 32, 16, 16, WALKS | CHECKED)
PRODUCT(grid, 1, 32, 16, 16, CHECKED)
PRODUCT(padded, 32, 32, 16, 16, 0)
PRODUCT(coalesced, 32, 32, 16, 16, COALESCED)
PRODUCT(conflicts, 32, 32, 16, 16, STRAIGHT | CONFLICTS)
PRODUCT(straight, 32, 32, 16, 16, STRAIGHT)
PRODUCT(block_64, 64, 64, 16, 16, STRAIGHT)
PRODUCT(threads_32, 64, 64, 32, 32, STRAIGHT)
PRODUCT(coarse, 64, 64, 32, 8, STRAIGHT)
PRODUCT(unrolled, 64, 64, 32, 8, STRAIGHT | UNROLLED)
PRODUCT(block_78, 78, 78, 39, 13, STRAIGHT | UNROLLED)
PRODUCT(fused, 64, 64, 16, 16, STRAIGHT | UNROLLED | FUSED)
PRODUCT(global_16, 16, 16, 16, 16, COALESCED)
PRODUCT(global_64, 64, 64, 16, 16, COALESCED)
PRODUCT(global_128, 128, 128, 16, 16, COALESCED)
PRODUCT(global_256, 256, 256, 16, 16, COALESCED)

PREPARED(wide, WIDE, prepare_wide, solve_wide, wide_rest, 256, 0)

#define SHAPE(b, x, y) PRODUCT(shape_##b##_##x##_##y, b, b, x, y, STRAIGHT | UNROLLED)
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
