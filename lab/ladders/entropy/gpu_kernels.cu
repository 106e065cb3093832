/*
 * The kernels of ladders entropy-gpu and entropy-gpu-threads (gpu.c lists the rungs): the
 * entropy of the 5 x 5 window around each element of an n x n array of 16 levels, one thread an
 * element, as row D1 developed it: elements are floats, blocks have 32 x 32 threads, and the table
 * holds logarithms, so that a level costs a product. What changes from rung to rung is where the
 * table lies, what the counters and the sums are, and how the input is reached.
 *
 * A kernel is compiled for the threads of its block: with 1024 of them each may have 64 registers,
 * with 256 as many as it likes (entropy-gpu-threads). One that is held has no more than 64 in a
 * smaller block, either: so many blocks are to fit a processor of 65536 registers.
 */
#include "ladders/entropy/gpu_kernels.h"

#include "ladders/entropy/logarithms.h"
#include "ladders/gpu_names.h"

#define HALF 2
#define LEVELS 16
#define MOST 25
#define SIDE 32          /* threads a side */
#define INNER (SIDE - 4) /* of the tile of v9: the rest is its border */

static __constant__ double constant_table[MOST + 1];
static __constant__ float constant_floats[MOST + 1];

#define KERNEL template <int THREADS> static __global__ __launch_bounds__(THREADS, 1)

#define HELD_KERNEL \
    template <int THREADS> static __global__ __launch_bounds__(THREADS, 1024 / THREADS)

#define PLACE                                      \
    int x = blockIdx.x * blockDim.x + threadIdx.x; \
    int y = blockIdx.y * blockDim.y + threadIdx.y; \
    if (x >= n || y >= n) {                        \
        return;                                    \
    }

/* Counts of the window of (y, x) by reading it; returns how many elements it has. */
template <typename Counter, typename Element>
static __device__ __forceinline__ int count_window(const Element *in, int n, int y, int x,
                                                   Counter counts[LEVELS])
{
    int total = 0;
    for (int level = 0; level < LEVELS; level++) {
        counts[level] = 0;
    }
    for (int i = max(y - HALF, 0); i <= min(y + HALF, n - 1); i++) {
        for (int j = max(x - HALF, 0); j <= min(x + HALF, n - 1); j++) {
            counts[(int)in[i * (size_t)n + j]]++;
            total++;
        }
    }
    return total;
}

/* log N less the mean of log n over the elements. */
template <typename Sum, typename Counter, typename Table>
static __device__ __forceinline__ float finish(const Counter counts[LEVELS], int total, Table table)
{
    Sum sum = table[total], inverse = (Sum)1 / (Sum)total;
    for (int level = 0; level < LEVELS; level++) {
        sum -= (Sum)table[counts[level]] * (Sum)counts[level] * inverse;
    }
    return (float)sum;
}

/* A logarithm for each level that occurs. */
KERNEL void v0(const float *in, float *out, int n)
{
    int counts[LEVELS];
    PLACE
    int total = count_window(in, n, y, x, counts);
    double sum = log((double)total), inverse = 1.0 / total;
    for (int level = 0; level < LEVELS; level++) {
        if (counts[level] > 0) {
            sum -= log((double)counts[level]) * counts[level] * inverse;
        }
    }
    out[y * (size_t)n + x] = (float)sum;
}

/* The table as an array of each thread, known when compiling. */
KERNEL void v1(const float *in, float *out, int n)
{
    int counts[LEVELS];
    PLACE
    const double own[MOST + 1] = LAB_LOGARITHMS(double);
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, own);
}

/* The table in shared memory, filled by the block's first threads. */
KERNEL void v2(const float *in, float *out, int n)
{
    __shared__ double shared[MOST + 1];
    int counts[LEVELS], thread = threadIdx.y * blockDim.x + threadIdx.x;
    if (thread <= MOST) {
        shared[thread] = thread == 0 ? 0 : log((double)thread);
    }
    __syncthreads();
    PLACE
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, shared);
}

/* The table in constant memory. */
KERNEL void v3(const float *in, float *out, int n)
{
    int counts[LEVELS];
    PLACE
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, constant_table);
}

/* The table in global memory: the caches keep it. */
KERNEL void v4(const float *in, float *out, int n, const double *table)
{
    int counts[LEVELS];
    PLACE
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, table);
}

/* The table as a texture of floats; sums stay in double. */
struct texture_table {
    cudaTextureObject_t texture;
    __device__ float operator[](int i) const
    {
        return tex1Dfetch<float>(texture, i);
    }
};

KERNEL void v5(const float *in, float *out, int n, uintptr_t texture)
{
    int counts[LEVELS];
    texture_table table = {(cudaTextureObject_t)texture};
    PLACE
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, table);
}

/* v1 with counters of 8 bits: a quarter of their memory. */
KERNEL void v6(const float *in, float *out, int n)
{
    int8_t counts[LEVELS];
    PLACE
    const double own[MOST + 1] = LAB_LOGARITHMS(double);
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, own);
}

/* v6 with a table of floats, sums in double. */
KERNEL void v7(const float *in, float *out, int n)
{
    int8_t counts[LEVELS];
    PLACE
    const float own[MOST + 1] = LAB_LOGARITHMS(float);
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, own);
}

/* v7 with 64 registers at most, whatever its block. */
HELD_KERNEL void v7_held(const float *in, float *out, int n)
{
    int8_t counts[LEVELS];
    PLACE
    const float own[MOST + 1] = LAB_LOGARITHMS(float);
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, own);
}

/* v7 with its table in shared memory. */
KERNEL void v7_shared(const float *in, float *out, int n, const float *table)
{
    __shared__ float shared[MOST + 1];
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    int8_t counts[LEVELS];
    if (thread <= MOST) {
        shared[thread] = table[thread];
    }
    __syncthreads();
    PLACE
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, shared);
}

/* v7 with its table in constant memory. */
KERNEL void v7_constant(const float *in, float *out, int n)
{
    int8_t counts[LEVELS];
    PLACE
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, constant_floats);
}

/* v7 with its table as a texture. */
KERNEL void v7_texture(const float *in, float *out, int n, uintptr_t texture)
{
    int8_t counts[LEVELS];
    texture_table table = {(cudaTextureObject_t)texture};
    PLACE
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, table);
}

/* v7 with sums in float as well. */
KERNEL void v7_float(const float *in, float *out, int n)
{
    int8_t counts[LEVELS];
    PLACE
    const float own[MOST + 1] = LAB_LOGARITHMS(float);
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<float>(counts, total, own);
}

/* v7 with the input as a 2-D texture. */
KERNEL void v8(float *out, int n, uintptr_t texture)
{
    int8_t counts[LEVELS];
    int total = 0;
    PLACE
    const float own[MOST + 1] = LAB_LOGARITHMS(float);
    for (int level = 0; level < LEVELS; level++) {
        counts[level] = 0;
    }
    for (int i = max(y - HALF, 0); i <= min(y + HALF, n - 1); i++) {
        for (int j = max(x - HALF, 0); j <= min(x + HALF, n - 1); j++) {
            counts[(int)tex2D<float>((cudaTextureObject_t)texture, j, i)]++;
            total++;
        }
    }
    out[y * (size_t)n + x] = finish<double>(counts, total, own);
}

/* v7 with the input through shared memory: 32 x 32 threads load, the inner 28 x 28 compute. What
 * lies outside of the array has a counter of its own. */
KERNEL void v9(const float *in, float *out, int n)
{
    __shared__ uint8_t tile[SIDE][SIDE];
    int8_t counts[LEVELS + 1];
    int x = blockIdx.x * INNER + threadIdx.x - HALF, y = blockIdx.y * INNER + threadIdx.y - HALF;
    bool inside = x >= 0 && y >= 0 && x < n && y < n;
    tile[threadIdx.y][threadIdx.x] = inside ? (uint8_t)in[y * (size_t)n + x] : LEVELS;
    __syncthreads();
    bool inner = threadIdx.x >= HALF && threadIdx.x < SIDE - HALF && threadIdx.y >= HALF &&
                 threadIdx.y < SIDE - HALF;
    if (!inside || !inner) {
        return;
    }
    const float own[MOST + 1] = LAB_LOGARITHMS(float);
    for (int level = 0; level <= LEVELS; level++) {
        counts[level] = 0;
    }
    for (int i = -HALF; i <= HALF; i++) {
        for (int j = -HALF; j <= HALF; j++) {
            counts[tile[threadIdx.y + i][threadIdx.x + j]]++;
        }
    }
    out[y * (size_t)n + x] = finish<double>(counts, MOST - counts[LEVELS], own);
}

/* v7 with a byte per element: a quarter of the upload and of the reads. */
KERNEL void bytes(const uint8_t *in, float *out, int n)
{
    int8_t counts[LEVELS];
    PLACE
    const float own[MOST + 1] = LAB_LOGARITHMS(float);
    int total = count_window(in, n, y, x, counts);
    out[y * (size_t)n + x] = finish<double>(counts, total, own);
}

/* -------------------------------------------------------------------------------------- recipes */

static dim3 grid_of(int n, int high)
{
    return dim3((n + SIDE - 1) / SIDE, (n + high - 1) / high);
}

static dim3 inner_grid_of(int n)
{
    return dim3((n + INNER - 1) / INNER, (n + INNER - 1) / INNER);
}

/* The pass for an AMD device wants no table of functions it has not. */
#ifdef __HIP_DEVICE_COMPILE__
#define RECIPE(version, threads)
#else
#define RECIPE(version, threads)                                              \
    extern "C" const lab_entropy_recipe lab_entropy_##version##_##threads = { \
        solve_##version##_##threads, (const void *)version<threads>, threads};
#endif

/* 32 threads side by side, the others below each other. */
#define LAUNCH(version, threads, blocks, ...)                                  \
    static void solve_##version##_##threads(const lab_entropy_card *c)         \
    {                                                                          \
        version<threads><<<blocks, dim3(SIDE, threads / SIDE)>>>(__VA_ARGS__); \
    }                                                                          \
    RECIPE(version, threads)
#define SOLVE(version, threads, ...) \
    LAUNCH(version, threads, grid_of(c->n, threads / SIDE), __VA_ARGS__)
#define SWEEP(version, ...)          \
    SOLVE(version, 128, __VA_ARGS__) \
    SOLVE(version, 256, __VA_ARGS__) \
    SOLVE(version, 512, __VA_ARGS__) \
    SOLVE(version, 1024, __VA_ARGS__)
SWEEP(v0, c->input, c->output, c->n)
SWEEP(v1, c->input, c->output, c->n)
SOLVE(v2, 1024, c->input, c->output, c->n)
SOLVE(v3, 1024, c->input, c->output, c->n)
SOLVE(v4, 1024, c->input, c->output, c->n, c->table)
SOLVE(v5, 1024, c->input, c->output, c->n, c->table_texture)
SOLVE(v6, 1024, c->input, c->output, c->n)
SWEEP(v7, c->input, c->output, c->n)
SOLVE(v7_held, 128, c->input, c->output, c->n)
SOLVE(v7_held, 256, c->input, c->output, c->n)
SOLVE(v7_shared, 1024, c->input, c->output, c->n, c->float_table)
SOLVE(v7_constant, 1024, c->input, c->output, c->n)
SOLVE(v7_texture, 1024, c->input, c->output, c->n, c->table_texture)
SOLVE(v7_float, 1024, c->input, c->output, c->n)
SOLVE(v8, 1024, c->output, c->n, c->input_texture)
SOLVE(bytes, 1024, c->bytes, c->output, c->n)

LAUNCH(v9, 1024, inner_grid_of(c->n), c->input, c->output, c->n)

extern "C" int lab_entropy_constants(const double *table, const float *floats)
{
    cudaError_t error = cudaMemcpyToSymbol(constant_table, table, sizeof constant_table);
    return (int)(error != cudaSuccess
                     ? error
                     : cudaMemcpyToSymbol(constant_floats, floats, sizeof constant_floats));
}
