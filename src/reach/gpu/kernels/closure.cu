/* See closure.h. A thread takes 16 bytes of a row, a thread block 4 kB of one. */
#include "reach/gpu/kernels/closure.h"

#include "gpu/compat.h"

enum { THREADS = 256, DEEP = 8, MOST_BLOCKS = 65535 };

static __device__ __forceinline__ uint4 joined(uint4 a, uint4 b)
{
    return make_uint4(a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w);
}

static __global__ void put_own(twi_reach_device d)
{
    for (int64_t v = blockIdx.x * (int64_t)THREADS + threadIdx.x; v < d.vertices;
         v += gridDim.x * (int64_t)THREADS) {
        atomicOr(d.sets + d.of[v] * d.words + v / 32, 1u << (v % 32));
    }
}

static __global__ void TWI_BOUNDS(THREADS, 4)
    take_over(twi_reach_device d, int64_t first, unsigned blocks_each)
{
    const int64_t component = d.order[first + blockIdx.x / blocks_each];
    const int64_t piece = (int64_t)(blockIdx.x % blocks_each) * THREADS + threadIdx.x;
    const int64_t pieces = d.words / 4, end = d.offsets[component + 1];
    if (piece >= pieces) {
        return;
    }
    const uint4 *rows = (const uint4 *)d.sets + piece;
    uint4 *own = (uint4 *)d.sets + component * pieces + piece;
    uint4 set = *own;
    for (int64_t a = d.offsets[component]; a < end; a += DEEP) {
        int64_t from[DEEP];
        uint4 row[DEEP];
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            from[i] = a + i < end ? d.successors[a + i] : -1;
        }
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            row[i] = make_uint4(0, 0, 0, 0);
            if (from[i] >= 0) {
                row[i] = rows[from[i] * pieces];
            }
        }
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            set = joined(set, row[i]);
        }
    }
    *own = set;
}

/* A group of 32 threads takes a row. */
static __global__ void count_rows(twi_reach_device d, int64_t *counts)
{
    const int64_t pieces = d.words / 4;
    const int lane = threadIdx.x % 32;
    for (int64_t c = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / 32; c < d.components;
         c += gridDim.x * (int64_t)THREADS / 32) {
        const uint4 *row = (const uint4 *)d.sets + c * pieces;
        uint32_t count = 0;
        for (int64_t i = lane; i < pieces; i += 32) {
            const uint4 set = row[i];
            count += (uint32_t)(__popc(set.x) + __popc(set.y) + __popc(set.z) + __popc(set.w));
        }
        count = group_sum(count, 32);
        if (lane == 0) {
            counts[c] = count;
        }
    }
}

static __global__ void take_rows(twi_reach_device d, uint32_t *out, const int32_t *list,
                                 int64_t first, int64_t count)
{
    const int64_t pieces = d.words / 4;
    for (int64_t row = blockIdx.x; row < count; row += gridDim.x) {
        const int64_t vertex = list != nullptr ? list[first + row] : first + row;
        const uint4 *from = (const uint4 *)d.sets + d.of[vertex] * pieces;
        for (int64_t i = threadIdx.x; i < pieces; i += THREADS) {
            ((uint4 *)out)[row * pieces + i] = from[i];
        }
    }
}

static unsigned at_most(int64_t blocks)
{
    return (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS);
}

int twi_gpu_reach_begin(const twi_reach_device *device, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    const size_t bytes = (size_t)device->components * (size_t)device->words * sizeof(uint32_t);
    const int error = (int)cudaMemsetAsync(device->sets, 0, bytes, queue);
    if (error != 0) {
        return error;
    }
    put_own<<<at_most((device->vertices + THREADS - 1) / THREADS), THREADS, 0, queue>>>(*device);
    return (int)cudaGetLastError();
}

int twi_gpu_reach_level(const twi_reach_device *device, int64_t first, int64_t count, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    const unsigned each = (unsigned)((device->words / 4 + THREADS - 1) / THREADS);
    const int64_t most = INT32_MAX / each; /* of a launch */
    for (int64_t at = 0; at < count; at += most) {
        const int64_t part = count - at < most ? count - at : most;
        take_over<<<(unsigned)part * each, THREADS, 0, queue>>>(*device, first + at, each);
    }
    return (int)cudaGetLastError();
}

int twi_gpu_reach_count(const twi_reach_device *device, int64_t *counts, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    count_rows<<<at_most((device->components * 32 + THREADS - 1) / THREADS), THREADS, 0, queue>>>(
        *device, counts);
    return (int)cudaGetLastError();
}

int twi_gpu_reach_take(const twi_reach_device *device, uint32_t *out, const int32_t *list,
                       int64_t first, int64_t count, void *stream)
{
    cudaStream_t queue = (cudaStream_t)stream;
    take_rows<<<at_most(count), THREADS, 0, queue>>>(*device, out, list, first, count);
    return (int)cudaGetLastError();
}
