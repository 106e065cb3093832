/*
 * Up to 256 levels in full windows: each thread has a histogram of its own in shared memory and
 * goes down a band of rows. Its words hold one count for each of LANES neighbouring outputs, four
 * bytes or two halves of a word, so that an element that enters or leaves changes the counts of all
 * windows it belongs to with one addition; what is left for each window is to look up what its new
 * count adds to its sum.
 *
 * Shared memory: groups of 64 threads have 256 rows (levels) of 64 words, 64 KiB; a thread keeps to
 * its bank. The byte permutation that takes a level out of a word of four also puts the thread and
 * the group around it: what comes out is the address. The table of steps lies before them: of byte
 * counts 64 copies, entry n at 256 n + 4 thread, again by one permutation; for larger windows 8
 * copies, where the counts themselves are kept as 32 n, the offset of the entry.
 *
 * Steps have 32 bits, and so has what the elements of a part of a row add to a sum or take from it;
 * the sums themselves have 64.
 *
 * Bound by the latency of shared memory: a count is read, changed and written before the next
 * element may look at it. For 9 x 9 an output costs 6 such steps and 18 look-ups.
 */
#include "entropy/gpu/kernels/walk.cuh"

#define GROUP 64
#define GROUP_BYTES 65536
#define MOST_GROUPS 3
#define COPIES 8         /* of the table for large windows */
#define TABLE_ROOM 34816 /* bytes, before the histograms */

typedef struct slide_job {
    twi_gpu_field field;
    const uint64_t *tables; /* T[0 ... N], then the steps */
    int32_t whole;          /* N */
    walk_plan walk;
    int32_t groups; /* of a block */
    double unit;
} slide_job;

/* The two forms of counts. */
template <bool WIDE> struct form {
    static const int lanes = WIDE ? 2 : 4;
    static const int bits = WIDE ? 16 : 8;
    static const uint32_t ones = WIDE ? 0x00010001 * 4 * COPIES : 0x01010101;
    /* Elements of a row after which the change of the sums is added to them: a power of two. A step
     * is below (1 + ln N) 2^25.12, so that up to 19 of windows of 135, or 14 of 1024, fit. */
    static const int part = WIDE ? 8 : 16;
};

/* One in the fields lo ... hi. */
template <bool WIDE> static __device__ __forceinline__ uint32_t ones(int lo, int hi)
{
    return form<WIDE>::ones << (form<WIDE>::bits * lo) &
           form<WIDE>::ones >> (form<WIDE>::bits * (form<WIDE>::lanes - 1 - hi));
}

/* What a thread knows. */
template <bool WIDE> struct slider {
    char *histograms;
    const char *steps;
    uint32_t place;                     /* of the thread: 4 * its number in the group, the group */
    uint32_t copy;                      /* offset of its copy of the table */
    uint32_t change[form<WIDE>::lanes]; /* of the sums, by the present part of a row */
    uint64_t sum[form<WIDE>::lanes];

    template <bool ENTER> __device__ __forceinline__ void fold()
    {
#pragma unroll
        for (int j = 0; j < form<WIDE>::lanes; j++) {
            sum[j] = ENTER ? sum[j] + change[j] : sum[j] - change[j];
            change[j] = 0;
        }
    }

    __device__ __forceinline__ uint32_t step(uint32_t counts, int lane) const
    {
        uint32_t at;
        if (WIDE) {
            at = (lane == 0 ? counts & 0xFFFF : counts >> 16) | copy;
        } else {
            at = __byte_perm(counts, copy, 0x6604 | lane << 4);
        }
        return *(const uint32_t *)(steps + at);
    }

    /* Byte `byte` of `word` enters the windows lo ... hi, or leaves them, if `counts` is all ones;
     * if it is 0, nothing changes. */
    template <bool ENTER>
    __device__ __forceinline__ void take(uint32_t word, int byte, int lo, int hi, uint32_t counts)
    {
        uint32_t *cell = (uint32_t *)(histograms + __byte_perm(word, place, 0x6504 | byte << 4));
        const uint32_t before = *cell;
        const uint32_t one = ones<WIDE>(lo, hi) & counts;
        const uint32_t after = ENTER ? before + one : before - one;
        *cell = after;
#pragma unroll
        for (int j = 0; j < form<WIDE>::lanes; j++) {
            if (j >= lo && j <= hi) {
                change[j] += step(ENTER ? after : before, j) & counts;
            }
        }
    }
};

/* The aligned word at `column` of a row. Words that lie outside the row are not read, and of those
 * that straddle its ends only the bytes inside, unless the row lies `amid` others. */
template <bool EDGE>
static __device__ __forceinline__ uint32_t aligned_word(const uint8_t *row, int column, int cols,
                                                        bool amid)
{
    uint32_t word = 0;
    if (!EDGE || (column > (amid ? -4 : -1) && column < cols - (amid ? 0 : 3))) {
        word = __ldg((const uint32_t *)(row + column));
    } else if (!amid) {
        for (int i = 0; i < 4; i++) {
            if (column + i >= 0 && column + i < cols) {
                word |= (uint32_t)row[column + i] << (8 * i);
            }
        }
    }
    return word;
}

/* A row as aligned words, from the one that holds `column` on; `odd` bytes of that come before. */
template <bool EDGE> struct row_words {
    const uint8_t *begin;
    int column, cols, odd;
    bool amid;

    __device__ __forceinline__ row_words(const twi_gpu_field &field, int row, int first)
    {
        begin = (const uint8_t *)field.levels + row * field.stride;
        odd = (int)((uintptr_t)begin + (unsigned)first) & 3;
        column = first - odd;
        cols = field.cols;
        amid = row > 0 && row + 1 < field.rows;
    }

    __device__ __forceinline__ uint32_t aligned(int k) const
    {
        return aligned_word<EDGE>(begin, column + 4 * k, cols, amid);
    }

    /* Bytes 4 k ... 4 k + 3 of what begins at the column, from two aligned words. */
    __device__ __forceinline__ uint32_t join(uint32_t low, uint32_t high) const
    {
        return __funnelshift_r(low, high, 8 * odd);
    }
};

/* A row enters or leaves: COLS + LANES - 1 elements from `column` on, the first and the last of
 * which do not belong to all windows. `raw` are its aligned words, if COLS is known: they were
 * loaded a row ago. */
template <bool WIDE, int COLS, bool EDGE, bool ENTER>
static __device__ __forceinline__ void change_row(slider<WIDE> &s, const twi_gpu_field &field,
                                                  int row, int column, const uint32_t *raw)
{
    constexpr int lanes = form<WIDE>::lanes;
    const int cols = COLS > 0 ? COLS : field.window_cols;
    const row_words<EDGE> words(field, row, column);
    uint32_t word = 0;
    auto take = [&](int j, int lo, int hi) {
        if (j % 4 == 0) {
            word = COLS > 0 ? words.join(raw[j / 4], raw[j / 4 + 1])
                            : words.join(words.aligned(j / 4), words.aligned(j / 4 + 1));
        }
        const bool counts = !EDGE || (unsigned)(column + j) < (unsigned)field.cols;
        s.template take<ENTER>(word, j % 4, lo, hi, counts ? ~0u : 0);
        if (j % form<WIDE>::part == form<WIDE>::part - 1) {
            s.template fold<ENTER>();
        }
    };
#pragma unroll
    for (int j = 0; j < lanes - 1; j++) {
        take(j, 0, j);
    }
    if (COLS > 0) {
#pragma unroll
        for (int j = lanes - 1; j < COLS; j++) {
            take(j, 0, lanes - 1);
        }
    } else {
        for (int j = lanes - 1; j < cols; j++) {
            take(j, 0, lanes - 1);
        }
    }
#pragma unroll
    for (int j = 0; j < lanes - 1; j++) {
        take(cols + j, j + 1, lanes - 1);
    }
    s.template fold<ENTER>();
}

/* number / divisor as f64 gives it, rounded to f32. */
static __device__ __forceinline__ float quotient(uint64_t number, double divisor, double inverse)
{
    double exact = __hiloint2double(0x43300000 | (int)(number >> 32), (int)number) -
                   4503599627370496.0; /* 2^52 */
    double guess = exact * inverse;
    return (float)fma(fma(-guess, divisor, exact), inverse, guess);
}

/* Outputs x ... x + LANES - 1 of the rows begin ... end-1. */
template <bool WIDE, int COLS, bool EDGE>
static __device__ __forceinline__ void run_band(const slide_job &job, slider<WIDE> &s, int x,
                                                int begin, int end)
{
    constexpr int lanes = form<WIDE>::lanes;
    constexpr int count = COLS > 0 ? (COLS + lanes - 1 + 3) / 4 + 1 : 1; /* aligned words */
    const twi_gpu_field &field = job.field;
    const int column = x - field.before;
    const double whole_divisor = (double)job.whole * job.unit;
    const double inverse = 1.0 / whole_divisor;
    const uint64_t whole_total = job.tables[job.whole];
    uint32_t coming[count], going[count];
    auto load = [&](uint32_t *words, int row) {
        if (COLS > 0 && row >= 0 && row < field.rows) {
            const row_words<EDGE> from(field, row, column);
#pragma unroll
            for (int k = 0; k < count; k++) {
                words[k] = from.aligned(k);
            }
        }
    };
    int enter = begin - field.above;
    int leave = enter;
    for (int r = 1; r < field.window_rows; r++, enter++) {
        if (enter >= 0 && enter < field.rows) {
            load(coming, enter);
            change_row<WIDE, COLS, EDGE, true>(s, field, enter, column, coming);
        }
    }
    load(coming, enter);
    load(going, leave);
    for (int y = begin; y < end; y++, enter++, leave++) {
        uint32_t words[count];
        for (int k = 0; k < count; k++) {
            words[k] = coming[k];
        }
        load(coming, enter + 1);
        if (enter >= 0 && enter < field.rows) {
            change_row<WIDE, COLS, EDGE, true>(s, field, enter, column, words);
        }
        float result[lanes];
        const int high = inside(y - field.above, field.window_rows, field.rows);
        if (!EDGE && high == field.window_rows) {
#pragma unroll
            for (int j = 0; j < lanes; j++) {
                result[j] = quotient(whole_total - s.sum[j], whole_divisor, inverse);
            }
        } else {
#pragma unroll
            for (int j = 0; j < lanes; j++) {
                int n = high * inside(column + j, field.window_cols, field.cols);
                result[j] = (float)((double)(job.tables[n] - s.sum[j]) / ((double)n * job.unit));
            }
        }
        float *to = (float *)field.out + y * field.out_stride + x;
        if (!EDGE && ((uintptr_t)to & (4 * lanes - 1)) == 0) {
            if (WIDE) {
                *(float2 *)to = make_float2(result[0], result[1]);
            } else {
                *(float4 *)to =
                    make_float4(result[0], result[1], result[lanes - 2], result[lanes - 1]);
            }
        } else {
#pragma unroll
            for (int j = 0; j < lanes; j++) {
                if (!EDGE || x + j < field.out_cols) {
                    to[j] = result[j];
                }
            }
        }
        for (int k = 0; k < count; k++) {
            words[k] = going[k];
        }
        load(going, leave + 1);
        if (leave >= 0 && leave < field.rows) {
            change_row<WIDE, COLS, EDGE, false>(s, field, leave, column, words);
        }
    }
}

template <bool WIDE, int COLS>
static __global__ void TWI_BOUNDS(GROUP *MOST_GROUPS, 1)
    slide_kernel(const __grid_constant__ slide_job job)
{
    extern __shared__ char shared[];
    constexpr int lanes = form<WIDE>::lanes;
    const twi_gpu_field &field = job.field;
    char *steps = shared;
    char *histograms = shared + TABLE_ROOM;
    const uint64_t *source = job.tables + job.whole + 1;
    const int copies = WIDE ? COPIES : GROUP;
    for (int i = threadIdx.x; i < (job.whole + 1) * copies; i += blockDim.x) {
        ((uint32_t *)steps)[i] = (uint32_t)source[i / copies];
    }
    for (int i = threadIdx.x; i < job.groups * (GROUP_BYTES / 16); i += blockDim.x) {
        ((uint4 *)histograms)[i] = make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
    const int thread = threadIdx.x % GROUP;
    slider<WIDE> s;
    s.histograms = histograms;
    s.steps = steps;
    s.place = 4 * thread | (threadIdx.x / GROUP) << 8;
    s.copy = WIDE ? 4 * (thread % COPIES) : 4 * thread;
    for (int j = 0; j < lanes; j++) {
        s.sum[j] = s.change[j] = 0;
    }
    const walk_part part =
        walk_part_of(job.walk, ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (part.begin >= part.end) {
        return;
    }
    const int first = part.strip * 32 * lanes; /* output of the strip */
    const int x = first + threadIdx.x % 32 * lanes;
    /* Words of 4 bytes at any address are made of two that are aligned. */
    const bool inner = first - field.before >= 4 && first + 32 * lanes <= field.out_cols &&
                       first - field.before + 32 * lanes + field.window_cols + 8 <= field.cols;
    if (inner) {
        run_band<WIDE, COLS, false>(job, s, x, part.begin, part.end);
    } else {
        run_band<WIDE, COLS, true>(job, s, x, part.begin, part.end);
    }
}

/* ---------------------------------------------------------------------------------------- launch
 */

static bool is_wide(const twi_gpu_field *field)
{
    return field->window_rows * field->window_cols > TWI_GPU_NARROW_MOST;
}

static int groups_of(const twi_gpu_limits *limits)
{
    int groups = (limits->shared - TABLE_ROOM) / GROUP_BYTES;
    return groups < 0 ? 0 : groups < MOST_GROUPS ? groups : MOST_GROUPS;
}

int twi_gpu_slide_can(const twi_gpu_limits *limits, const twi_gpu_field *field)
{
    const int64_t size = (int64_t)field->window_rows * field->window_cols;
    return size <= TWI_GPU_SLIDE_MOST && groups_of(limits) > 0 &&
           field->window_cols >= (is_wide(field) ? form<true>::lanes : form<false>::lanes);
}

typedef void (*slide_function)(const slide_job);

static slide_function choose(const twi_gpu_field *field)
{
    if (is_wide(field)) {
        return field->window_cols == 31 ? slide_kernel<true, 31> : slide_kernel<true, 0>;
    }
    switch (field->window_cols) {
    case 5:
        return slide_kernel<false, 5>;
    case 7:
        return slide_kernel<false, 7>;
    case 9:
        return slide_kernel<false, 9>;
    case 11:
        return slide_kernel<false, 11>;
    default:
        return slide_kernel<false, 0>;
    }
}

int twi_launch_slide(const twi_gpu_limits *limits, const twi_gpu_field *field,
                     const uint64_t *tables, double unit, void *stream)
{
    slide_job job;
    job.field = *field;
    const int lanes = is_wide(field) ? form<true>::lanes : form<false>::lanes;
    job.tables = tables;
    job.whole = field->window_rows * field->window_cols;
    job.unit = unit;
    job.groups = groups_of(limits);
    job.walk = walk_choose((int64_t)limits->processors * job.groups * (GROUP / 32),
                           (field->out_cols + 32 * lanes - 1) / (32 * lanes), field->out_rows,
                           field->window_rows);
    const int threads = job.groups * GROUP;
    const int blocks = (int)((walk_warps(&job.walk) * 32 + threads - 1) / threads);
    const int bytes = TABLE_ROOM + job.groups * GROUP_BYTES;
    slide_function kernel = choose(field);
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess) {
        kernel<<<blocks, threads, bytes, (cudaStream_t)stream>>>(job);
        error = cudaGetLastError();
    }
    return (int)error;
}
