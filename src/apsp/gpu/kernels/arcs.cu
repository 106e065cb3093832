/*
 * See gpu/kernels/arcs.h. A group of 32 neighbouring threads takes the arcs of one vertex, so that
 * targets and weights are read in straight lines and writes stay within one row of the matrix.
 * Parallel arcs may meet in one entry at the same time: the least wins by an atomic minimum.
 * Entries are never negative, so the bits of a float order like an integer; 16-bit entries are
 * compared and swapped in the 32-bit word around them.
 */
#include "apsp/gpu/kernels/arcs.h"

#include "apsp/gpu/kernels/kernels.h"
#include "gpu/compat.h"

enum { THREADS = 256, GROUP = 32, MOST_BLOCKS = 8192, SQUARE = 32 };

/* ------------------------------------------------------------------------------------- entries */

template <class T> struct entry;

template <> struct entry<uint16_t> {
    static __device__ __forceinline__ uint16_t infinity()
    {
        return TWI_GPU_INF_U16;
    }
    static __device__ __forceinline__ void put_least(uint16_t *at, uint16_t value)
    {
        uintptr_t address = (uintptr_t)at;
        unsigned *word = (unsigned *)(address & ~(uintptr_t)3);
        int shift = (address & 2) != 0 ? 16 : 0;
        unsigned seen = *(volatile unsigned *)word;
        while (value < (uint16_t)(seen >> shift)) {
            unsigned wanted = (seen & ~(0xFFFFu << shift)) | ((unsigned)value << shift);
            unsigned found = atomicCAS(word, seen, wanted);
            if (found == seen) {
                return;
            }
            seen = found;
        }
    }
};

template <> struct entry<int32_t> {
    static __device__ __forceinline__ int32_t infinity()
    {
        return TW_APSP_INF_I32;
    }
    static __device__ __forceinline__ void put_least(int32_t *at, int32_t value)
    {
        atomicMin(at, value);
    }
};

template <> struct entry<float> {
    static __device__ __forceinline__ float infinity()
    {
        return __int_as_float(0x7F800000);
    }
    static __device__ __forceinline__ void put_least(float *at, float value)
    {
        atomicMin((int *)at, __float_as_int(value + 0.0f)); /* -0 becomes 0 */
    }
};

template <> struct entry<double> {
    static __device__ __forceinline__ double infinity()
    {
        return __longlong_as_double(0x7FF0000000000000);
    }
    static __device__ __forceinline__ void put_least(double *at, double value)
    {
        atomicMin((unsigned long long *)at, (unsigned long long)__double_as_longlong(value + 0.0));
    }
};

static __device__ __forceinline__ double weight_of(const twi_gpu_arcs &arcs, int64_t u, int64_t arc)
{
    double weight = arcs.weight_type == TW_I32   ? (double)((const int32_t *)arcs.weights)[arc]
                    : arcs.weight_type == TW_F32 ? (double)((const float *)arcs.weights)[arc]
                                                 : ((const double *)arcs.weights)[arc];
    if (arcs.potential != NULL) { /* rounding can leave a hair below zero */
        weight += arcs.potential[u] - arcs.potential[arcs.targets[arc]];
        weight = weight > 0 ? weight : 0;
    }
    return weight + 0.0; /* never -0: scatter.c */
}

/* -------------------------------------------------------------------------------------- scatter */

template <class T> static __global__ void empty_kernel(T *out, int64_t ld, int64_t n)
{
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        for (int64_t j = threadIdx.x; j < n; j += THREADS) {
            out[i * ld + j] = i == j ? (T)0 : entry<T>::infinity();
        }
    }
}

template <class T> static __global__ void scatter_kernel(T *out, int64_t ld, twi_gpu_arcs arcs)
{
    int64_t group = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / GROUP;
    int64_t groups = (int64_t)gridDim.x * THREADS / GROUP;
    for (int64_t u = group; u < arcs.n; u += groups) {
        for (int64_t arc = arcs.offsets[u] + threadIdx.x % GROUP; arc < arcs.offsets[u + 1];
             arc += GROUP) {
            double weight = weight_of(arcs, u, arc);
            if (weight < (double)entry<T>::infinity()) {
                entry<T>::put_least(&out[u * ld + arcs.targets[arc]], (T)weight);
            }
        }
    }
}

static unsigned blocks_for(int64_t rows)
{
    return (unsigned)(rows < MOST_BLOCKS ? rows : MOST_BLOCKS);
}

template <class T>
static int scatter(twi_gpu_square out, const twi_gpu_arcs *arcs, cudaStream_t stream)
{
    T *data = (T *)out.data;
    empty_kernel<<<blocks_for(arcs->n), THREADS, 0, stream>>>(data, out.ld, arcs->n);
    int64_t blocks = (arcs->n + THREADS / GROUP - 1) / (THREADS / GROUP);
    scatter_kernel<<<blocks_for(blocks), THREADS, 0, stream>>>(data, out.ld, *arcs);
    return (int)cudaGetLastError();
}

int twi_gpu_scatter(tw_type type, twi_gpu_square out, const twi_gpu_arcs *arcs, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    switch (type) {
    case TW_U16:
        return scatter<uint16_t>(out, arcs, s);
    case TW_I32:
        return scatter<int32_t>(out, arcs, s);
    case TW_F32:
        return scatter<float>(out, arcs, s);
    default:
        return scatter<double>(out, arcs, s);
    }
}

/* ------------------------------------------------------------------------------------- symmetry */

/* One block compares a square below the diagonal with its mirror image, turned in shared memory. T
 * is an unsigned integer of the entry's size: no entry is NaN or -0. */
template <class T>
static __global__ void asymmetry_kernel(int32_t *differs, const T *in, int64_t ld, int64_t n)
{
    __shared__ T turned[SQUARE][SQUARE + 1];
    if (blockIdx.x > blockIdx.y || *(volatile int32_t *)differs != 0) {
        return;
    }
    int64_t i0 = (int64_t)blockIdx.y * SQUARE;
    int64_t j0 = (int64_t)blockIdx.x * SQUARE;
    int column = threadIdx.x % SQUARE;
    bool found = false;
    for (int row = threadIdx.x / SQUARE; row < SQUARE; row += THREADS / SQUARE) {
        bool inside = j0 + row < n && i0 + column < n;
        turned[column][row] = inside ? in[(j0 + row) * ld + i0 + column] : (T)0;
    }
    __syncthreads();
    for (int row = threadIdx.x / SQUARE; row < SQUARE; row += THREADS / SQUARE) {
        bool inside = i0 + row < n && j0 + column < n;
        found |= inside && in[(i0 + row) * ld + j0 + column] != turned[row][column];
    }
    if (found) {
        *differs = 1;
    }
}

int twi_gpu_find_asymmetry(int32_t *differs, tw_type type, twi_gpu_square in, int64_t n,
                           void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    unsigned side = (unsigned)((n + SQUARE - 1) / SQUARE);
    dim3 grid(side, side);
    if (type == TW_U16) {
        asymmetry_kernel<<<grid, THREADS, 0, s>>>(differs, (const uint16_t *)in.data, in.ld, n);
    } else if (type == TW_F64) {
        asymmetry_kernel<<<grid, THREADS, 0, s>>>(differs, (const uint64_t *)in.data, in.ld, n);
    } else {
        asymmetry_kernel<<<grid, THREADS, 0, s>>>(differs, (const uint32_t *)in.data, in.ld, n);
    }
    return (int)cudaGetLastError();
}

/* ---------------------------------------------------------------------------------- certificate */

template <class T>
static __global__ void infinite_kernel(int32_t *capped, const T *in, int64_t ld, int64_t n)
{
    bool found = false;
    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        for (int64_t j = threadIdx.x; j < n; j += THREADS) {
            found |= in[i * ld + j] >= entry<T>::infinity();
        }
    }
    if (found) {
        *capped = 1;
    }
}

int twi_gpu_find_infinite(int32_t *capped, tw_type type, twi_gpu_square in, int64_t n, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    if (type == TW_U16) {
        infinite_kernel<<<blocks_for(n), THREADS, 0, s>>>(capped, (const uint16_t *)in.data, in.ld,
                                                          n);
    } else {
        infinite_kernel<<<blocks_for(n), THREADS, 0, s>>>(capped, (const int32_t *)in.data, in.ld,
                                                          n);
    }
    return (int)cudaGetLastError();
}

static __host__ __device__ int64_t words_of(int64_t n)
{
    return (n + 31) / 32;
}

/* Bit s % 32 of word s / 32 of vertex v: source s reaches v below the cap. Neighbouring threads
 * take neighbouring vertices, and each of them 32 sources. */
template <class T>
static __global__ void reached_kernel(uint32_t *reached, const T *in, int64_t ld, int64_t n)
{
    int64_t words = words_of(n);
    for (int64_t word = blockIdx.x; word < words; word += gridDim.x) {
        for (int64_t v = threadIdx.x; v < n; v += THREADS) {
            uint32_t bits = 0;
            for (int k = 0; k < 32 && word * 32 + k < n; k++) {
                bits |= (uint32_t)(in[(word * 32 + k) * ld + v] < entry<T>::infinity()) << k;
            }
            reached[v * words + word] = bits;
        }
    }
}

static __global__ void refuted_kernel(int32_t *refuted, const uint32_t *reached, twi_gpu_arcs arcs)
{
    int64_t words = words_of(arcs.n);
    for (int64_t u = blockIdx.x; u < arcs.n && *(volatile int32_t *)refuted == 0; u += gridDim.x) {
        uint32_t left_out = 0;
        for (int64_t word = threadIdx.x; word < words; word += THREADS) {
            uint32_t from = reached[u * words + word];
            for (int64_t arc = arcs.offsets[u]; arc < arcs.offsets[u + 1]; arc++) {
                left_out |= from & ~reached[arcs.targets[arc] * words + word];
            }
        }
        if (left_out != 0) {
            *refuted = 1;
        }
    }
}

uint64_t twi_gpu_reached_bytes(int64_t n)
{
    return (uint64_t)n * (uint64_t)words_of(n) * sizeof(uint32_t);
}

int twi_gpu_certify(int32_t *refuted, uint32_t *reached, tw_type type, twi_gpu_square in,
                    const twi_gpu_arcs *arcs, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    unsigned blocks = blocks_for(words_of(arcs->n));
    if (type == TW_U16) {
        reached_kernel<<<blocks, THREADS, 0, s>>>(reached, (const uint16_t *)in.data, in.ld,
                                                  arcs->n);
    } else {
        reached_kernel<<<blocks, THREADS, 0, s>>>(reached, (const int32_t *)in.data, in.ld,
                                                  arcs->n);
    }
    refuted_kernel<<<blocks_for(arcs->n), THREADS, 0, s>>>(refuted, reached, *arcs);
    return (int)cudaGetLastError();
}
