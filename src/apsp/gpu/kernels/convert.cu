/*
 * See gpu/kernels/convert.h. A block takes every gridDim-th row; neighbouring threads take
 * neighbouring elements, so any alignment and leading dimension streams at nearly the speed of
 * memory.
 */
#include "apsp/gpu/kernels/convert.h"

#include "apsp/gpu/kernels/kernels.h"
#include "gpu/compat.h"

#include <math.h>

enum { THREADS = 256, MOST_BLOCKS = 4096 };

static __device__ __forceinline__ int32_t clamped(int32_t value)
{
    return min(value, TW_APSP_INF_I32);
}

/* Adding 0 turns -0, whose bits are not those of 0, into 0. NaN becomes infinity: no word of a
 * matrix may have its bits (together.cuh). */
static __device__ __forceinline__ float clamped(float value)
{
    return fminf(value + 0.0f, INFINITY);
}

static __device__ __forceinline__ double clamped(double value)
{
    return value + 0.0;
}

static __device__ __forceinline__ bool skipped(const int32_t *needed)
{
    return needed != NULL && *needed == 0;
}

template <class T>
static __global__ void tidy_kernel(T *out, int64_t ld_out, const T *in, int64_t ld_in, int64_t n,
                                   const int32_t *needed)
{
    if (skipped(needed)) {
        return;
    }
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        for (int64_t j = threadIdx.x; j < n; j += THREADS) {
            T old = in[i * ld_in + j];
            T value = i == j ? (T)0 : clamped(old);
            if (out != in || value != old || value == 0) { /* -0 equals 0 */
                out[i * ld_out + j] = value;
            }
        }
    }
}

template <class T>
static __global__ void copy_kernel(T *out, int64_t ld_out, const T *in, int64_t ld_in, int64_t n,
                                   const int32_t *needed)
{
    if (skipped(needed)) {
        return;
    }
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        for (int64_t j = threadIdx.x; j < n; j += THREADS) {
            out[i * ld_out + j] = in[i * ld_in + j];
        }
    }
}

static __global__ void narrow_kernel(uint16_t *out, int64_t ld_out, const int32_t *in,
                                     int64_t ld_in, int64_t n)
{
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        for (int64_t j = threadIdx.x; j < n; j += THREADS) {
            int32_t value = min(in[i * ld_in + j], TWI_GPU_INF_U16);
            out[i * ld_out + j] = (uint16_t)(i == j ? 0 : value);
        }
    }
}

/* Whether one of four bytes is `value`. */
static __device__ __forceinline__ bool any_byte_is(uint32_t four, uint32_t value)
{
    const uint32_t zeros = four ^ value * 0x01010101u;
    return ((zeros - 0x01010101u) & ~zeros & 0x80808080u) != 0;
}

/* One level of both searches. A vertex met at level k has k + 1; 0: not met. The search from vertex
 * 0 goes through the rows of the vertices that it met last, the one to it asks every vertex that it
 * has not met for an arc to one of those. Vertices are looked at in fours. */
static __global__ void search_kernel(twi_gpu_decision *decision, uint8_t *from, uint8_t *to,
                                     const uint16_t *in, int64_t ld, int64_t n, uint8_t level)
{
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        const uint16_t *row = in + i * ld;
        bool found = false;
        for (int64_t j = 4 * threadIdx.x; from[i] == level + 1 && j < n; j += 4 * THREADS) {
            if (!any_byte_is(*(const uint32_t *)(from + j), 0)) {
                continue;
            }
            for (int64_t k = j; k < min(j + 4, n); k++) {
                if (from[k] == 0 && row[k] != TWI_GPU_INF_U16) {
                    from[k] = (uint8_t)(level + 2);
                    found = true;
                }
            }
        }
        if (found) {
            decision->found[0][level] = 1;
        }
        if (to[i] != 0) { /* the same for all threads: only this block writes it */
            continue;
        }
        found = false;
        for (int64_t j = 4 * threadIdx.x; j < n; j += 4 * THREADS) {
            if (!any_byte_is(*(const uint32_t *)(to + j), level + 1)) {
                continue;
            }
            for (int64_t k = j; k < min(j + 4, n); k++) {
                found |= to[k] == level + 1 && row[k] != TWI_GPU_INF_U16;
            }
        }
        if (__syncthreads_or(found) != 0 && threadIdx.x == 0) {
            to[i] = (uint8_t)(level + 2);
            decision->found[1][level] = 1;
        }
    }
}

static __global__ void decide_kernel(twi_gpu_decision *decision, const uint8_t *from,
                                     const uint8_t *to, int64_t n)
{
    const bool ended[2] = {decision->found[0][TWI_GPU_LEVELS - 1] == 0,
                           decision->found[1][TWI_GPU_LEVELS - 1] == 0};
    bool missed = false;
    for (int64_t i = threadIdx.x; i < n; i += THREADS) {
        missed |= (ended[0] && from[i] == 0) || (ended[1] && to[i] == 0);
    }
    const bool hopeless = __syncthreads_or(missed) != 0;
    if (threadIdx.x == 0) {
        decision->possible = !hopeless;
        decision->undecided = hopeless;
    }
}

static __global__ void find_capped_kernel(twi_gpu_decision *decision, const uint16_t *in,
                                          int64_t ld_in, int64_t n)
{
    if (decision->undecided != 0) {
        return;
    }
    bool found = false;
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        for (int64_t j = threadIdx.x; j < n; j += THREADS) {
            found |= in[i * ld_in + j] == TWI_GPU_INF_U16;
        }
    }
    if (found) {
        decision->undecided = 1;
    }
}

static __global__ void widen_kernel(int32_t *out, int64_t ld_out, const uint16_t *in, int64_t ld_in,
                                    int64_t n, const twi_gpu_decision *decision)
{
    if (decision->undecided != 0) {
        return;
    }
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        for (int64_t j = threadIdx.x; j < n; j += THREADS) {
            out[i * ld_out + j] = in[i * ld_in + j];
        }
    }
}

static unsigned blocks(int64_t n)
{
    return (unsigned)(n < MOST_BLOCKS ? n : MOST_BLOCKS);
}

int twi_gpu_tidy(tw_type type, twi_gpu_square out, twi_gpu_square in, int64_t n,
                 const int32_t *needed, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    if (type == TW_I32) {
        tidy_kernel<<<blocks(n), THREADS, 0, s>>>((int32_t *)out.data, out.ld,
                                                  (const int32_t *)in.data, in.ld, n, needed);
    } else if (type == TW_F32) {
        tidy_kernel<<<blocks(n), THREADS, 0, s>>>((float *)out.data, out.ld, (const float *)in.data,
                                                  in.ld, n, needed);
    } else {
        tidy_kernel<<<blocks(n), THREADS, 0, s>>>((double *)out.data, out.ld,
                                                  (const double *)in.data, in.ld, n, needed);
    }
    return (int)cudaGetLastError();
}

int twi_gpu_copy(tw_type type, twi_gpu_square out, twi_gpu_square in, int64_t n,
                 const int32_t *needed, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    if (type == TW_F64) {
        copy_kernel<<<blocks(n), THREADS, 0, s>>>((double *)out.data, out.ld,
                                                  (const double *)in.data, in.ld, n, needed);
    } else {
        copy_kernel<<<blocks(n), THREADS, 0, s>>>((int32_t *)out.data, out.ld,
                                                  (const int32_t *)in.data, in.ld, n, needed);
    }
    return (int)cudaGetLastError();
}

int twi_gpu_narrow(twi_gpu_square out, twi_gpu_square in, int64_t n, void *stream)
{
    narrow_kernel<<<blocks(n), THREADS, 0, (cudaStream_t)stream>>>(
        (uint16_t *)out.data, out.ld, (const int32_t *)in.data, in.ld, n);
    return (int)cudaGetLastError();
}

int twi_gpu_decide(twi_gpu_decision *decision, uint8_t *reached, twi_gpu_square in, int64_t n,
                   void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    uint8_t *from = reached;
    uint8_t *to = reached + (n + 3) / 4 * 4;
    cudaError_t error = cudaMemsetAsync(decision, 0, sizeof *decision, s);
    if (error == cudaSuccess) {
        error = cudaMemsetAsync(reached, 0, TWI_GPU_REACHED_BYTES(n), s);
    }
    if (error == cudaSuccess) {
        error = cudaMemsetAsync(from, 1, 1, s);
    }
    if (error == cudaSuccess) {
        error = cudaMemsetAsync(to, 1, 1, s);
    }
    if (error != cudaSuccess) {
        return (int)error;
    }
    for (int level = 0; level < TWI_GPU_LEVELS; level++) {
        search_kernel<<<blocks(n), THREADS, 0, s>>>(decision, from, to, (const uint16_t *)in.data,
                                                    in.ld, n, (uint8_t)level);
    }
    decide_kernel<<<1, THREADS, 0, s>>>(decision, from, to, n);
    return (int)cudaGetLastError();
}

int twi_gpu_find_capped(twi_gpu_decision *decision, twi_gpu_square in, int64_t n, void *stream)
{
    find_capped_kernel<<<blocks(n), THREADS, 0, (cudaStream_t)stream>>>(
        decision, (const uint16_t *)in.data, in.ld, n);
    return (int)cudaGetLastError();
}

int twi_gpu_widen(twi_gpu_square out, twi_gpu_square in, int64_t n,
                  const twi_gpu_decision *decision, void *stream)
{
    widen_kernel<<<blocks(n), THREADS, 0, (cudaStream_t)stream>>>(
        (int32_t *)out.data, out.ld, (const uint16_t *)in.data, in.ld, n, decision);
    return (int)cudaGetLastError();
}
