/*
 * See gpu/kernels/rows.h. Every value goes through a double, which holds all of them exactly; the
 * pass is bound by memory, and the link to the host is slower still.
 */
#include "apsp/gpu/kernels/rows.h"

#include "apsp/gpu/kernels/kernels.h"
#include "gpu/compat.h"

enum { THREADS = 256, MOST_BLOCKS = 8192, MOST_ACROSS = 64 };

static __device__ __forceinline__ double infinity()
{
    return __longlong_as_double(0x7FF0000000000000);
}

static __device__ __forceinline__ bool is_far(uint16_t value)
{
    return value >= TWI_GPU_INF_U16;
}
static __device__ __forceinline__ bool is_far(int32_t value)
{
    return value >= TW_APSP_INF_I32;
}
static __device__ __forceinline__ bool is_far(float value)
{
    return (double)value == infinity();
}
static __device__ __forceinline__ bool is_far(double value)
{
    return value == infinity();
}

/* Store a distance (+inf: no path); false if the type cannot hold it. */
static __device__ __forceinline__ bool put(double *at, double value, bool)
{
    *at = value;
    return true;
}
static __device__ __forceinline__ bool put(float *at, double value, bool keep_whole)
{
    float stored = (float)value;
    *at = stored;
    bool fits = fabs((double)stored) != infinity() && (stored != 0 || value == 0) &&
                (!keep_whole || ((double)stored == value && fabs(value) < 0x1p53));
    return value == infinity() || fits;
}
template <class T>
static __device__ __forceinline__ bool put_whole(T *at, double value, double lowest, T no_path)
{
    bool none = value == infinity();
    bool fits = none || (value >= lowest && value < (double)no_path && value == floor(value));
    *at = none ? no_path : fits ? (T)value : (T)0;
    return fits;
}
static __device__ __forceinline__ bool put(int32_t *at, double value, bool)
{
    return put_whole<int32_t>(at, value, -2147483648.0, TW_APSP_INF_I32);
}
static __device__ __forceinline__ bool put(uint16_t *at, double value, bool)
{
    return put_whole<uint16_t>(at, value, 0, TW_APSP_INF_U16);
}
static __device__ __forceinline__ bool put(uint8_t *at, double value, bool)
{
    return put_whole<uint8_t>(at, value, 0, TW_APSP_INF_U8);
}

template <class IN, class OUT>
static __global__ void rows_kernel(OUT *out, twi_gpu_rows rows, int64_t first, int64_t count)
{
    for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
        int64_t source = rows.sources != NULL ? rows.sources[first + i] : first + i;
        const IN *in = (const IN *)rows.in.data;
        in += rows.column != NULL ? rows.column[first + i - rows.begin] : source * rows.in.ld;
        for (int64_t j = (int64_t)blockIdx.y * THREADS + threadIdx.x; j < rows.cols;
             j += (int64_t)gridDim.y * THREADS) {
            int64_t target = rows.targets != NULL ? rows.targets[j] : j;
            IN value = in[rows.column != NULL ? rows.place[target] * rows.in.ld : target];
            double distance = is_far(value) ? infinity() : (double)value;
            if (rows.potential != NULL) {
                distance += rows.potential[target] - rows.potential[source];
            }
            if (rows.cutoff >= 0 && distance > rows.cutoff) {
                distance = infinity();
            }
            if (!put(&out[i * rows.cols + j], distance, rows.keep_whole)) {
                atomicMin((unsigned long long *)rows.misfit,
                          (unsigned long long)((first + i) * rows.cols + j));
            }
        }
    }
}

template <class IN>
static void take(void *out, const twi_gpu_rows *rows, int64_t first, int64_t count,
                 cudaStream_t stream)
{
    int64_t across = (rows->cols + 4 * THREADS - 1) / (4 * THREADS); /* rows may be few */
    dim3 blocks((unsigned)(count < MOST_BLOCKS ? count : MOST_BLOCKS),
                (unsigned)(across < MOST_ACROSS ? across : MOST_ACROSS));
    switch (rows->type) {
    case TW_U8:
        rows_kernel<IN><<<blocks, THREADS, 0, stream>>>((uint8_t *)out, *rows, first, count);
        break;
    case TW_U16:
        rows_kernel<IN><<<blocks, THREADS, 0, stream>>>((uint16_t *)out, *rows, first, count);
        break;
    case TW_I32:
        rows_kernel<IN><<<blocks, THREADS, 0, stream>>>((int32_t *)out, *rows, first, count);
        break;
    case TW_F32:
        rows_kernel<IN><<<blocks, THREADS, 0, stream>>>((float *)out, *rows, first, count);
        break;
    default:
        rows_kernel<IN><<<blocks, THREADS, 0, stream>>>((double *)out, *rows, first, count);
        break;
    }
}

int twi_gpu_take_rows(void *out, const twi_gpu_rows *rows, int64_t first, int64_t count,
                      void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    switch (rows->work) {
    case TW_U16:
        take<uint16_t>(out, rows, first, count, s);
        break;
    case TW_I32:
        take<int32_t>(out, rows, first, count, s);
        break;
    case TW_F32:
        take<float>(out, rows, first, count, s);
        break;
    default:
        take<double>(out, rows, first, count, s);
        break;
    }
    return (int)cudaGetLastError();
}
