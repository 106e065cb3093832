/*
 * Windows of any shape, masks, any number of levels: each thread goes down a band of one column of
 * outputs with a histogram of its own. When the window moves down, the ends of its vertical runs
 * enter and leave. Histograms lie in shared memory, one bank a thread, as long as those of a warp
 * fit there, else in device memory; after a band the elements of its last window are taken out
 * again, so that they need to be cleared only once.
 */
#include "gpu/compat.h" /* first: what follows is device code */

#include "entropy/gpu/kernels/kernels.h"
#include "entropy/shared/value.h"

#define MOST_THREADS 256
#define LEAST_THREADS 32
#define BLOCKS_A_PROCESSOR 4                       /* with histograms in device memory */
#define MOST_HISTOGRAM_BYTES ((uint64_t)512 << 20) /* there */
#define LEAST_BAND 16

/* What f32 results are made of. */
struct narrow_sum {
    typedef float result;
    uint64_t whole;

    __device__ static narrow_sum at(const void *table, int64_t n)
    {
        return {__ldg((const unsigned long long *)table + n)};
    }

    __device__ void add(narrow_sum other)
    {
        whole += other.whole;
    }

    __device__ void take(narrow_sum other)
    {
        whole -= other.whole;
    }

    __device__ float over(int64_t n, double unit) const
    {
        return n > 0 ? (float)((double)(int64_t)whole / ((double)n * unit))
                     : __int_as_float(0x7FC00000);
    }
};

/* And f64 results: 128 bits. */
struct wide_sum {
    typedef double result;
    uint64_t low, high;

    __device__ static wide_sum at(const void *table, int64_t n)
    {
        const unsigned long long *entry = (const unsigned long long *)table + 2 * n;
        return {__ldg(entry), __ldg(entry + 1)};
    }

    __device__ void add(wide_sum other)
    {
        low += other.low;
        high += other.high + (low < other.low);
    }

    __device__ void take(wide_sum other)
    {
        high -= other.high + (low < other.low);
        low -= other.low;
    }

    __device__ double over(int64_t n, double unit) const
    {
        (void)unit;
        return twi_wide_quotient(high, low, (uint32_t)n);
    }
};

template <typename SUM> struct list_thread {
    const twi_gpu_list_job &job;
    uint32_t *histogram; /* of this thread: level l at l * pitch */
    int64_t pitch;
    SUM sum;

    __device__ uint32_t &cell(int64_t row, int64_t col)
    {
        const uint16_t *levels = (const uint16_t *)job.field.levels;
        return histogram[levels[row * job.field.stride + col] * pitch];
    }

    __device__ void enter(int64_t row, int64_t col)
    {
        sum.add(SUM::at(job.steps, ++cell(row, col)));
    }

    __device__ void leave(int64_t row, int64_t col)
    {
        sum.take(SUM::at(job.steps, cell(row, col)--));
    }

    __device__ typename SUM::result value() const
    {
        const int64_t uncounted = histogram[job.levels * pitch];
        const int64_t n = job.size - uncounted;
        SUM rest = SUM::at(job.sums, n);
        rest.add(SUM::at(job.sums, uncounted));
        rest.take(sum);
        return rest.over(n, job.unit);
    }

    __device__ void run_band(int64_t x, int64_t begin, int64_t end)
    {
        sum = SUM();
        for (int i = 0; i < job.run_count; i++) {
            const int32_t *run = job.runs + 3 * i;
            for (int r = run[1]; r < run[2]; r++) {
                enter(begin + r, x + run[0]);
            }
        }
        for (int64_t y = begin; y < end; y++) {
            ((typename SUM::result *)job.field.out)[y * job.field.out_stride + x] = value();
            for (int i = 0; i < job.run_count && y + 1 < end; i++) {
                const int32_t *run = job.runs + 3 * i;
                leave(y + run[1], x + run[0]);
                enter(y + run[2], x + run[0]);
            }
        }
        for (int i = 0; i < job.run_count; i++) {
            const int32_t *run = job.runs + 3 * i;
            for (int r = run[1]; r < run[2]; r++) {
                cell(end - 1 + r, x + run[0]) = 0;
            }
        }
    }
};

template <typename SUM>
static __global__ void __launch_bounds__(MOST_THREADS)
    list_kernel(const __grid_constant__ twi_gpu_list_job job)
{
    extern __shared__ uint32_t shared[];
    const int threads = blockDim.x;
    const int64_t all = (int64_t)gridDim.x * threads;
    const int64_t id = (int64_t)blockIdx.x * threads + threadIdx.x;
    const int warp_size = LEAST_THREADS;
    if (job.in_shared) {
        for (int level = 0; level <= job.levels; level++) {
            shared[level * threads + threadIdx.x] = 0;
        }
    }
    list_thread<SUM> self = {job, job.in_shared ? shared + threadIdx.x : job.histograms + id,
                             job.in_shared ? threads : all, SUM()};
    const int64_t items = (int64_t)job.strips * job.bands;
    for (int64_t item = id / warp_size; item < items; item += all / warp_size) {
        const int64_t x = item % job.strips * warp_size + id % warp_size;
        const int64_t begin = item / job.strips * job.band;
        int64_t end = begin + job.band;
        end = end < job.field.out_rows ? end : job.field.out_rows;
        if (x < job.field.out_cols) {
            self.run_band(x, begin, end);
        }
    }
}

uint64_t twi_gpu_list_plan(const twi_gpu_limits *limits, twi_gpu_list_job *job)
{
    const uint64_t one = ((uint64_t)job->levels + 1) * sizeof(uint32_t);
    job->threads = MOST_THREADS;
    while (job->threads > LEAST_THREADS && job->threads * one > (uint64_t)limits->shared) {
        job->threads /= 2;
    }
    job->in_shared = job->threads * one <= (uint64_t)limits->shared;
    int64_t blocks = limits->processors;
    if (!job->in_shared) {
        job->threads = MOST_THREADS / 2;
        const int64_t fit = (int64_t)(MOST_HISTOGRAM_BYTES / (one * (uint64_t)job->threads));
        blocks *= BLOCKS_A_PROCESSOR;
        blocks = blocks < fit ? blocks : fit;
    } else { /* as many as fit together */
        const uint64_t together = (uint64_t)limits->shared / (job->threads * one);
        blocks *= together < BLOCKS_A_PROCESSOR ? (int64_t)together : BLOCKS_A_PROCESSOR;
    }
    job->strips = (job->field.out_cols + LEAST_THREADS - 1) / LEAST_THREADS;
    job->band = twi_gpu_band(blocks * (job->threads / LEAST_THREADS), job->strips,
                             job->field.out_rows, job->field.window_rows);
    job->band = job->band > LEAST_BAND ? job->band : LEAST_BAND;
    job->bands = (job->field.out_rows + job->band - 1) / job->band;
    const int64_t items = (int64_t)job->strips * job->bands * LEAST_THREADS;
    const int64_t needed = (items + job->threads - 1) / job->threads;
    job->blocks = (int32_t)(blocks < needed ? blocks : needed);
    return job->in_shared ? 0 : one * (uint64_t)job->threads * (uint64_t)job->blocks;
}

int twi_launch_list(const twi_gpu_list_job *job, void *stream)
{
    const size_t bytes =
        job->in_shared ? ((size_t)job->levels + 1) * sizeof(uint32_t) * job->threads : 0;
    auto kernel = job->is_f64 ? list_kernel<wide_sum> : list_kernel<narrow_sum>;
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess) {
        kernel<<<job->blocks, job->threads, bytes, (cudaStream_t)stream>>>(*job);
        error = cudaGetLastError();
    }
    return (int)error;
}
