/*
 * From values to levels on a GPU, by the same arithmetic as levels.c, with the border laid around
 * them. One thread per element; bound by memory.
 */
#include "entropy/gpu/kernels/kernels.h"
#include "gpu/compat.h"

#define THREADS 256
#define ROWS_MOST 65535 /* of a grid: further rows are taken in turn */

/* Where index `at` of `count` lies under a border; -1 for nowhere. */
static __device__ int64_t place(tw_entropy_border border, int64_t at, int64_t count)
{
    if (at >= 0 && at < count) {
        return at;
    }
    int64_t period;
    switch (border) {
    case TW_ENTROPY_BORDER_CLAMP:
        return at < 0 ? 0 : count - 1;
    case TW_ENTROPY_BORDER_WRAP:
        at %= count;
        return at < 0 ? at + count : at;
    case TW_ENTROPY_BORDER_SYMMETRIC:
        period = 2 * count;
        at = (at % period + period) % period;
        return at < count ? at : period - 1 - at;
    case TW_ENTROPY_BORDER_REFLECT:
        period = count > 1 ? 2 * count - 2 : 1;
        at = (at % period + period) % period;
        return at < count ? at : period - at;
    default:
        return -1;
    }
}

static __device__ double value_at(const twi_gpu_values &v, int64_t row, int64_t col)
{
    const int64_t at = row * v.stride + col;
    switch (v.type) {
    case TW_U8:
        return ((const uint8_t *)v.data)[at];
    case TW_U16:
        return ((const uint16_t *)v.data)[at];
    case TW_I16:
        return ((const int16_t *)v.data)[at];
    default:
        return ((const float *)v.data)[at];
    }
}

/* The bin of a value in the range: a guess, put right by comparisons with the exact edges. */
static __device__ int32_t bin_of(const twi_gpu_values &v, double value)
{
    const double low = v.low / 2;
    const double guess = (value / 2 - low) / (v.high / 2 - low) * v.levels;
    int32_t bin = guess < v.levels - 1 ? (int32_t)guess : v.levels - 1;
    while (value < __ldg(v.edges + bin)) {
        bin--;
    }
    while (value >= __ldg(v.edges + bin + 1)) {
        bin++;
    }
    return bin;
}

/* The level of an element, or -1 if it does not count. */
static __device__ int32_t level_at(const twi_gpu_values &v, int64_t row, int64_t col)
{
    if (v.mask != NULL && v.mask[row * v.mask_stride + col] == 0) {
        return -1;
    }
    const double value = value_at(v, row, col);
    if ((v.has_no_data && value == v.no_data) || (v.skip_nan && value != value)) {
        return -1;
    }
    if (!v.ranged) {
        return value >= 0 && value < v.levels && value == floor(value) ? (int32_t)value : -1;
    }
    return value >= v.low && value <= v.high ? bin_of(v, value) : -1;
}

template <typename LEVEL>
static __global__ void levels_kernel(const __grid_constant__ twi_gpu_values values, LEVEL *out,
                                     int64_t stride, int32_t rows, int32_t cols)
{
    const int64_t none = sizeof(LEVEL) == 1 ? 0 : values.levels;
    const int64_t col = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const int64_t from_col = place(values.border, col - values.before, values.cols);
    for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
        const int64_t from_row = place(values.border, row - values.above, values.rows);
        int64_t level = from_row >= 0 && from_col >= 0 ? level_at(values, from_row, from_col) : -1;
        out[row * stride + col] = (LEVEL)(level >= 0 ? level : none);
    }
}

int twi_launch_levels(const twi_gpu_values *values, void *out, int64_t stride, int32_t bytes,
                      int32_t rows, int32_t cols, void *stream)
{
    const dim3 grid((unsigned)((cols + THREADS - 1) / THREADS),
                    (unsigned)(rows < ROWS_MOST ? rows : ROWS_MOST));
    if (bytes == 1) {
        levels_kernel<<<grid, THREADS, 0, (cudaStream_t)stream>>>(*values, (uint8_t *)out, stride,
                                                                  rows, cols);
    } else {
        levels_kernel<<<grid, THREADS, 0, (cudaStream_t)stream>>>(*values, (uint16_t *)out, stride,
                                                                  rows, cols);
    }
    return (int)cudaGetLastError();
}
