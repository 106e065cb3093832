/*
 * The kernels of ladder entropy-gpu (entropy_gpu.c lists the rungs): the entropy of the 5 x 5 window
 * around each element of an n x n array of 16 levels, one thread an element, as row D1 developed it.
 * What changes from rung to rung is where the table of n log n lies, what the counters are, and how
 * the input is reached.
 */
#include "entropy_gpu_kernels.h"

#include "gpu_names.h"

#define HALF 2
#define LEVELS 16
#define MOST 25
#define SIDE 32             /* threads a side */
#define INNER (SIDE - 4)    /* of the tile of v9: the rest is its border */

static __constant__ double constant_table[MOST + 1];

/* Counts of the window of (y, x) by reading it; returns how many elements it has. */
template <typename Counter>
static __device__ __forceinline__ int count_window(const uint8_t *in, int n, int y, int x,
                                                   Counter counts[LEVELS])
{
    int total = 0;
    for (int level = 0; level < LEVELS; level++) {
        counts[level] = 0;
    }
    for (int i = max(y - HALF, 0); i <= min(y + HALF, n - 1); i++) {
        for (int j = max(x - HALF, 0); j <= min(x + HALF, n - 1); j++) {
            counts[in[i * (size_t)n + j]]++;
            total++;
        }
    }
    return total;
}

template <typename Counter, typename Table>
static __device__ __forceinline__ float finish(const Counter counts[LEVELS], int total, Table table)
{
    double sum = 0;
    for (int level = 0; level < LEVELS; level++) {
        sum += (double)table[counts[level]];
    }
    return (float)(((double)table[total] - sum) / total);
}

#define PLACE                                         \
    int x = blockIdx.x * blockDim.x + threadIdx.x;    \
    int y = blockIdx.y * blockDim.y + threadIdx.y

/* A logarithm for each level that occurs. */
static __global__ void v0(const uint8_t *in, float *out, int n)
{
    int counts[LEVELS];
    PLACE;
    if (x < n && y < n) {
        int total = count_window(in, n, y, x, counts);
        double sum = 0;
        for (int level = 0; level < LEVELS; level++) {
            if (counts[level] > 0) {
                double p = (double)counts[level] / total;
                sum -= p * log(p);
            }
        }
        out[y * (size_t)n + x] = (float)sum;
    }
}

/* The table as an array of each thread: it is indexed, so it lies in local memory. */
static __global__ void v1(const uint8_t *in, float *out, int n, const double *table)
{
    int counts[LEVELS];
    double own[MOST + 1];
    PLACE;
    for (int i = 0; i <= MOST; i++) {
        own[i] = table[i];
    }
    if (x < n && y < n) {
        int total = count_window(in, n, y, x, counts);
        out[y * (size_t)n + x] = finish(counts, total, own);
    }
}

/* The table in shared memory. */
static __global__ void v2(const uint8_t *in, float *out, int n, const double *table)
{
    __shared__ double shared[MOST + 1];
    int counts[LEVELS], thread = threadIdx.y * blockDim.x + threadIdx.x;
    PLACE;
    if (thread <= MOST) {
        shared[thread] = table[thread];
    }
    __syncthreads();
    if (x < n && y < n) {
        int total = count_window(in, n, y, x, counts);
        out[y * (size_t)n + x] = finish(counts, total, shared);
    }
}

/* The table in constant memory. */
static __global__ void v3(const uint8_t *in, float *out, int n)
{
    int counts[LEVELS];
    PLACE;
    if (x < n && y < n) {
        int total = count_window(in, n, y, x, counts);
        out[y * (size_t)n + x] = finish(counts, total, constant_table);
    }
}

/* The table in global memory: the caches keep it. */
static __global__ void v4(const uint8_t *in, float *out, int n, const double *table)
{
    int counts[LEVELS];
    PLACE;
    if (x < n && y < n) {
        int total = count_window(in, n, y, x, counts);
        out[y * (size_t)n + x] = finish(counts, total, table);
    }
}

/* The table as a texture of floats; sums stay in double. */
struct texture_table {
    cudaTextureObject_t texture;
    __device__ float operator[](int i) const
    {
        return tex1Dfetch<float>(texture, i);
    }
};

static __global__ void v5(const uint8_t *in, float *out, int n, uintptr_t texture)
{
    int counts[LEVELS];
    texture_table table = {(cudaTextureObject_t)texture};
    PLACE;
    if (x < n && y < n) {
        int total = count_window(in, n, y, x, counts);
        out[y * (size_t)n + x] = finish(counts, total, table);
    }
}

/* v1 with counters of 8 bits: a quarter of the local memory. */
static __global__ void v6(const uint8_t *in, float *out, int n, const double *table)
{
    uint8_t counts[LEVELS];
    double own[MOST + 1];
    PLACE;
    for (int i = 0; i <= MOST; i++) {
        own[i] = table[i];
    }
    if (x < n && y < n) {
        int total = count_window(in, n, y, x, counts);
        out[y * (size_t)n + x] = finish(counts, total, own);
    }
}

/* v6 with a table of floats, sums in double. */
static __global__ void v7(const uint8_t *in, float *out, int n, const float *table)
{
    uint8_t counts[LEVELS];
    float own[MOST + 1];
    PLACE;
    for (int i = 0; i <= MOST; i++) {
        own[i] = table[i];
    }
    if (x < n && y < n) {
        int total = count_window(in, n, y, x, counts);
        out[y * (size_t)n + x] = finish(counts, total, own);
    }
}

/* v7 with the input as a 2-D texture. */
static __global__ void v8(float *out, int n, const float *table, uintptr_t texture)
{
    uint8_t counts[LEVELS];
    float own[MOST + 1];
    int total = 0;
    PLACE;
    for (int i = 0; i <= MOST; i++) {
        own[i] = table[i];
    }
    for (int level = 0; level < LEVELS; level++) {
        counts[level] = 0;
    }
    if (x >= n || y >= n) {
        return;
    }
    for (int i = max(y - HALF, 0); i <= min(y + HALF, n - 1); i++) {
        for (int j = max(x - HALF, 0); j <= min(x + HALF, n - 1); j++) {
            counts[tex2D<unsigned char>((cudaTextureObject_t)texture, j, i)]++;
            total++;
        }
    }
    out[y * (size_t)n + x] = finish(counts, total, own);
}

/* v7 with the input through shared memory: 32 x 32 threads load, the inner 28 x 28 compute. */
static __global__ void v9(const uint8_t *in, float *out, int n, const float *table)
{
    __shared__ uint8_t tile[SIDE][SIDE];
    uint8_t counts[LEVELS];
    float own[MOST + 1];
    int x = blockIdx.x * INNER + threadIdx.x - HALF, y = blockIdx.y * INNER + threadIdx.y - HALF;
    int total = 0;
    bool inside = x >= 0 && y >= 0 && x < n && y < n;
    for (int i = 0; i <= MOST; i++) {
        own[i] = table[i];
    }
    tile[threadIdx.y][threadIdx.x] = inside ? in[y * (size_t)n + x] : LEVELS;
    __syncthreads();
    bool inner = threadIdx.x >= HALF && threadIdx.x < SIDE - HALF && threadIdx.y >= HALF &&
                 threadIdx.y < SIDE - HALF;
    if (!inside || !inner) {
        return;
    }
    for (int level = 0; level < LEVELS; level++) {
        counts[level] = 0;
    }
    for (int i = -HALF; i <= HALF; i++) {
        for (int j = -HALF; j <= HALF; j++) {
            int level = tile[threadIdx.y + i][threadIdx.x + j];
            if (level < LEVELS) {
                counts[level]++;
                total++;
            }
        }
    }
    out[y * (size_t)n + x] = finish(counts, total, own);
}

/* -------------------------------------------------------------------------------------- recipes */

static dim3 grid_of(int n)
{
    return dim3((n + SIDE - 1) / SIDE, (n + 7) / 8);
}

#define THREADS dim3(SIDE, 8)

/* The pass for an AMD device wants no table of functions it has not. */
#ifdef __HIP_DEVICE_COMPILE__
#define RECIPE(version, threads)
#else
#define RECIPE(version, threads)                                                                 \
    extern "C" const lab_entropy_recipe lab_entropy_##version = {solve_##version,                \
                                                                 (const void *)version, threads};
#endif

#define SOLVE(version, ...)                                                          \
    static void solve_##version(const lab_entropy_card *c)                           \
    {                                                                                \
        version<<<grid_of(c->n), THREADS>>>(__VA_ARGS__);                            \
    }                                                                                \
    RECIPE(version, SIDE * 8)
SOLVE(v0, c->input, c->output, c->n)
SOLVE(v1, c->input, c->output, c->n, c->table)
SOLVE(v2, c->input, c->output, c->n, c->table)
SOLVE(v3, c->input, c->output, c->n)
SOLVE(v4, c->input, c->output, c->n, c->table)
SOLVE(v5, c->input, c->output, c->n, c->table_texture)
SOLVE(v6, c->input, c->output, c->n, c->table)
SOLVE(v7, c->input, c->output, c->n, c->float_table)
SOLVE(v8, c->output, c->n, c->float_table, c->input_texture)

static void solve_v9(const lab_entropy_card *c)
{
    dim3 blocks((c->n + INNER - 1) / INNER, (c->n + INNER - 1) / INNER);
    v9<<<blocks, dim3(SIDE, SIDE)>>>(c->input, c->output, c->n, c->float_table);
}
RECIPE(v9, SIDE *SIDE)

extern "C" int lab_entropy_constants(const double *table)
{
    return (int)cudaMemcpyToSymbol(constant_table, table, sizeof constant_table);
}
