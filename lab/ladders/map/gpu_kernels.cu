/*
 * The kernels of ladder map-gpu (gpu.c lists the rungs): one pass of row E's expression over an
 * n x n array of floats in place, v += sqrt((odd column ? log v : cos v) + 1).
 */
#include "ladders/map/gpu_kernels.h"

#include "gpu/compat.h"

static __device__ __forceinline__ float one_branch(float v, bool odd)
{
    return v + sqrtf((odd ? logf(v) : cosf(v)) + 1);
}

/* Neighbouring threads lie in neighbouring rows: each touches a cache line of its own. */
static __global__ void original(float *v, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) {
        float *at = v + row * (size_t)n + col;
        *at = one_branch(*at, col % 2 != 0);
    }
}

/* Each parity has a kernel: no warp computes both branches, and each reads every second float. */
template <int ODD> static __global__ void divided(float *v, int n)
{
    int col = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ODD, row = blockIdx.y;
    if (col < n) {
        float *at = v + row * (size_t)n + col;
        *at = one_branch(*at, ODD != 0);
    }
}

/* Results looked up by the nearest whole number: right on the first pass, wrong on the later ones,
 * where inputs are whole no longer. */
static __global__ void looked_up(float *v, int n, const float *table)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (col < n) {
        float *at = v + row * (size_t)n + col;
        int input = min(max(__float2int_rn(*at), 0), LAB_MAP_INPUTS - 1);
        *at = table[(col % 2 != 0) * LAB_MAP_INPUTS + input];
    }
}

/* Two columns a load and two loads a thread: the parity of each is known when compiling. */
static __global__ void vectors(float *v, int n)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x, row = 2 * blockIdx.y;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (2 * pair < n && row + i < n) {
            float2 *at = (float2 *)(v + (row + i) * (size_t)n) + pair;
            float2 both = *at;
            both.x = one_branch(both.x, false);
            both.y = one_branch(both.y, true);
            *at = both;
        }
    }
}

static __global__ void fill_table(float *table)
{
    int input = blockIdx.x * blockDim.x + threadIdx.x;
    table[input] = one_branch((float)input, false);
    table[LAB_MAP_INPUTS + input] = one_branch((float)input, true);
}

static void pass_original(float *v, int n, const float *table)
{
    (void)table;
    original<<<dim3(n, (n + 511) / 512), dim3(1, 512)>>>(v, n);
}

static void pass_coalesced(float *v, int n, const float *table)
{
    (void)table;
    original<<<dim3((n + 511) / 512, n), dim3(512, 1)>>>(v, n);
}

static void pass_divided(float *v, int n, const float *table)
{
    (void)table;
    divided<0><<<dim3((n / 2 + 511) / 512, n), 512>>>(v, n);
    divided<1><<<dim3((n / 2 + 511) / 512, n), 512>>>(v, n);
}

static void pass_table(float *v, int n, const float *table)
{
    looked_up<<<dim3((n + 511) / 512, n), 512>>>(v, n, table);
}

static void pass_vectors(float *v, int n, const float *table)
{
    (void)table;
    vectors<<<dim3((n / 2 + 255) / 256, (n + 1) / 2), 256>>>(v, n);
}

extern "C" {
#ifndef __HIP_DEVICE_COMPILE__ /* which would want a table of its own, of functions it has not */
const lab_map_recipe lab_map_original = {pass_original, (const void *)original, 512};
const lab_map_recipe lab_map_coalesced = {pass_coalesced, (const void *)original, 512};
const lab_map_recipe lab_map_divided = {pass_divided, (const void *)divided<0>, 512};
const lab_map_recipe lab_map_table = {pass_table, (const void *)looked_up, 512};
const lab_map_recipe lab_map_vectors = {pass_vectors, (const void *)vectors, 256};
#endif

int lab_map_fill_table(float *table)
{
    fill_table<<<LAB_MAP_INPUTS / 128, 128>>>(table);
    return (int)cudaGetLastError();
}
}
