/*
 * Few levels and small windows on the matrix units. With one number for each pair of levels,
 * e = a + (N + 1) b for counts a and b, sixteen levels are eight numbers, and the sum of a window's
 * elements (1 for the first level of the pair, N + 1 for the second, 0 for others) is e. So:
 *
 *   - a byte permutation turns 4 levels into 4 weights of one pair;
 *   - these are summed down the rows of the window, 4 bytes to a word, by adding what enters and
 *     taking away what leaves: each warp goes down a strip of columns;
 *   - the sum across the columns of the window is a product with a band matrix of constants, which
 *     are 128, and whose accumulators begin with 4 * lane: what comes out is the address, in shared
 *     memory, of T[a] + T[b] in the lane's own copy of the table, so that lanes never collide;
 *   - eight look-ups are added modulo 2^32, which T[N] less their sum never reaches.
 *
 * The fragments of m16n8k32: lane = 4 g + t holds of the operand B (32 positions x 8 columns)
 * column g, positions 4 t ... 4 t + 3 and 16 more on; of the result (16 x 8) rows g and g + 8,
 * columns 2 t and 2 t + 1. A column of B is one of 4 segments of 32 outputs and one of 2 pairs;
 * four products make all eight pairs, so that a lane has two outputs whole. Three half fragments of
 * 16 positions make two such groups: 32 outputs of each segment, 128 of a warp.
 *
 * Bound by shared memory: 8 words of it for an output.
 */
#include "entropy/gpu/kernels/walk.cuh"

#define WARPS 8      /* of a block */
#define SEGMENT 32   /* outputs */
#define STRIP 128    /* outputs of a warp: four segments */
#define HALVES 3     /* half fragments of 16 positions */
#define GROUPS 4     /* products that make the eight pairs */
#define SCALE 128    /* bytes of an entry: one copy for each lane */
#define AHEAD 2      /* rows that are loaded before they are needed */
#define POSITIONS 32 /* of a product */
#define BLOCKS_A_PROCESSOR 2

/* Bytes between the starts of four accumulators. If they were equal, the compiler would keep one
 * and make the other three from it again before every product. */
#define APART 4

typedef struct pairs_job {
    twi_gpu_field field;
    walk_plan walk;
    int32_t offset;      /* positions before the first window of a segment */
    int32_t whole;       /* N */
    int32_t wide_stores; /* two results at once */
    double unit;
    uint32_t sums[TWI_GPU_PAIRS_MOST + 1];
} pairs_job;

#define TOTALS 32 /* entries of T and of 1 / (n 2^F), before the table */
#define TABLE_AT (TOTALS * (4 + 8))

#if TWI_BYTE_PRODUCT

/* number * inverse as f64 gives it, rounded to f32. For all counts that there can be these are the
 * bits of a division (tests/unit/entropy/entropy.c). */
static __device__ __forceinline__ float scaled(uint32_t number, double inverse)
{
    const double exact = __hiloint2double(0x43300000, (int)number) - 4503599627370496.0; /* 2^52 */
    return (float)(exact * inverse);
}

/* What a lane of a warp that goes down a strip keeps in registers. EDGE: some columns of the strip
 * lie outside. */
template <int ROWS, bool EDGE> struct strip_lane {
    const pairs_job &job;
    const char *table;
    const uint32_t *totals; /* of windows of n elements: T[n] */
    const double *inverses; /* and 1 / (n 2^F) */
    int column;             /* of the lane's first word in the input */
    int output;             /* and of its first result */
    int top;                /* row of the input that was the first to enter */
    uint32_t weights;       /* of four levels of eight, for the lane's pairs */
    uint32_t band[4];       /* the band matrix */
    int32_t start[4];       /* of the accumulators */
    uint32_t total;         /* of a whole window */
    double inverse;
    uint32_t sums[HALVES][GROUPS];     /* down the window */
    uint32_t ring[ROWS][HALVES];       /* levels of the window's rows, four nibbles to a word */
    uint32_t words[ROWS][HALVES];      /* those that come, as they lie in memory */
    uint32_t masks[EDGE ? HALVES : 1]; /* positions that lie inside */

    __device__ __forceinline__ strip_lane(const pairs_job &j, const char *shared)
        : job(j), table(shared + TABLE_AT), totals((const uint32_t *)(shared + TOTALS * 8)),
          inverses((const double *)shared)
    {
    }

    /* Words that lie outside the row are not read, and of one that straddles its end only the bytes
     * inside, if it is the last and there is nothing beyond. */
    __device__ __forceinline__ uint32_t word_of(const uint8_t *row, int at, bool last) const
    {
        uint32_t word = 0;
        if (!EDGE || (at >= 0 && at + (last ? 4 : 1) <= job.field.cols)) {
            word = __ldg((const uint32_t *)(row + at));
        } else if (last) {
            for (int i = 0; i < 4; i++) {
                if (at >= 0 && at + i < job.field.cols) {
                    word |= (uint32_t)row[at + i] << (8 * i);
                }
            }
        }
        return word;
    }

    __device__ __forceinline__ void set_masks()
    {
        for (int h = 0; h < HALVES && EDGE; h++) {
            masks[EDGE ? h : 0] = 0;
            for (int i = 0; i < 4; i++) {
                int at = column + 16 * h + (i ^ 1);
                masks[EDGE ? h : 0] |= at >= 0 && at < job.field.cols ? 0xFFu << (8 * i) : 0;
            }
        }
    }

    __device__ __forceinline__ bool has_row(int row) const
    {
        return row >= 0 && row < job.field.rows;
    }

    __device__ __forceinline__ const uint8_t *row_at(int row) const
    {
        return (const uint8_t *)job.field.levels + row * job.field.stride;
    }

    __device__ __forceinline__ void load(int slot, const uint8_t *from, bool last)
    {
#pragma unroll
        for (int h = 0; h < HALVES; h++) {
            words[slot][h] = word_of(from, column + 16 * h, last);
        }
    }

    /* The row that `slot` has words of enters, with these weights, in the place of the one that is
     * ROWS before it and had those. */
    __device__ __forceinline__ void enter(int slot, uint32_t fresh, uint32_t old)
    {
#pragma unroll
        for (int h = 0; h < HALVES; h++) {
            /* Outside a row may lie bytes that are no level and would spill into their neighbours.
             */
            const uint32_t word = EDGE ? words[slot][h] & 0x0F0F0F0F : words[slot][h];
            const uint32_t coming = pick_bytes(word * 0x1001, 0, 0x4431);
            const uint32_t going = ring[slot][h];
            ring[slot][h] = coming;
#pragma unroll
            for (int i = 0; i < GROUPS; i++) {
                const uint32_t half = i < 2 ? 0 : 0x8888;
                uint32_t in =
                    pick_bytes(i % 2 == 0 ? fresh : 0, i % 2 == 0 ? 0 : fresh, coming ^ half);
                uint32_t out = pick_bytes(i % 2 == 0 ? old : 0, i % 2 == 0 ? 0 : old, going ^ half);
                if (EDGE) {
                    in &= masks[EDGE ? h : 0];
                    out &= masks[EDGE ? h : 0];
                }
                sums[h][i] += in - out;
            }
        }
    }

    __device__ __forceinline__ void look_up(uint32_t found[4]) const
    {
#pragma unroll
        for (int tile = 0; tile < 2; tile++) {
#pragma unroll
            for (int i = 0; i < GROUPS; i++) {
                int32_t at[4];
                byte_product(at, band, sums[tile][i], sums[tile + 1][i], start);
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const uint32_t both =
                        *(const uint32_t *)(table + at[2 * j] - 2 * j * APART) +
                        *(const uint32_t *)(table + at[2 * j + 1] - (2 * j + 1) * APART);
                    found[2 * tile + j] = i == 0 ? both : found[2 * tile + j] + both;
                }
            }
        }
    }

    /* WHOLE: the windows have all their rows, and two results can be stored at once. */
    template <bool WHOLE> __device__ __forceinline__ void emit(int y, float *to)
    {
        const twi_gpu_field &field = job.field;
        uint32_t found[4];
        float result[4];
        look_up(found);
        const int high = inside(y - field.above, field.window_rows, field.rows);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (WHOLE && !EDGE) {
                result[j] = scaled(total - found[j], inverse);
            } else {
                int x = output + (j & 1) + (j >> 1) * 16;
                int n = high * inside(x - field.before, field.window_cols, field.cols);
                result[j] = scaled(totals[n] - found[j], inverses[n]);
            }
        }
#pragma unroll
        for (int tile = 0; tile < 2; tile++) {
            const int x = output + 16 * tile;
            if ((WHOLE || job.wide_stores) && (!EDGE || x + 1 < field.out_cols)) {
                *(float2 *)(to + 16 * tile) = make_float2(result[2 * tile], result[2 * tile + 1]);
            } else {
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    if (!EDGE || x + j < field.out_cols) {
                        to[16 * tile + j] = result[2 * tile + j];
                    }
                }
            }
        }
    }

    /* ROWS rows of outputs from y on, of which those before `end` are wanted. Their first window
     * begins in row `first` of the input. */
    template <bool WHOLE> __device__ __forceinline__ void group(int y, int end, int first)
    {
        const uint8_t *from = row_at(first + ROWS - 1 + AHEAD);
        float *to = (float *)job.field.out + y * job.field.out_stride + output;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int slot = (r + ROWS - 1) % ROWS;
            const int row = first + ROWS - 1 + r;
            if (WHOLE) {
                load((slot + AHEAD) % ROWS, from, false);
                enter(slot, weights, weights);
                emit<true>(y + r, to);
            } else if (y + r < end) {
                if (has_row(row + AHEAD)) {
                    load((slot + AHEAD) % ROWS, from, row + AHEAD + 1 == job.field.rows);
                }
                const bool entered = row - ROWS >= top && has_row(row - ROWS);
                enter(slot, has_row(row) ? weights : 0, entered ? weights : 0);
                emit<false>(y + r, to);
            }
            from += job.field.stride;
            to += job.field.out_stride;
        }
    }

    /* Rows begin ... end-1 of the result. */
    __device__ __forceinline__ void run(int begin, int end)
    {
        int first = begin - job.field.above;
        top = first;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            for (int h = 0; h < HALVES; h++) {
                ring[r][h] = words[r][h] = 0;
            }
        }
        for (int h = 0; h < HALVES; h++) {
            for (int i = 0; i < GROUPS; i++) {
                sums[h][i] = 0;
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS - 1 + AHEAD; r++) {
            if (r >= AHEAD) {
                enter(r - AHEAD, has_row(first + r - AHEAD) ? weights : 0, 0);
            }
            if (has_row(first + r)) {
                load(r % ROWS, row_at(first + r), first + r + 1 == job.field.rows);
            }
        }
        for (int y = begin; y < end; y += ROWS, first += ROWS) {
            /* With the first output a row enters and none leaves. */
            const bool whole = y > begin && y + ROWS <= end && first >= 1 && job.wide_stores &&
                               first + 2 * ROWS + AHEAD <= job.field.rows;
            if (whole) {
                group<true>(y, end, first);
            } else {
                group<false>(y, end, first);
            }
        }
    }
};

template <int ROWS, bool EDGE>
static __device__ __forceinline__ void go_down(const pairs_job &job, const char *shared, int strip,
                                               int first, int begin, int end)
{
    const int lane_id = threadIdx.x & 31;
    const int g = lane_id >> 2;
    strip_lane<ROWS, EDGE> lane(job, shared);
    lane.column = first + SEGMENT * (g >> 1) + 4 * (lane_id & 3);
    lane.output = strip * STRIP + SEGMENT * (lane_id & 3) + 2 * g;
    lane.weights = (uint32_t)(1 | (job.whole + 1) << 8) << (g & 1 ? 16 : 0);
    lane.total = job.sums[job.whole];
    lane.inverse = lane.inverses[job.whole];
    lane.set_masks();
    for (int r = 0; r < 4; r++) {
        lane.start[r] = 4 * lane_id + r * APART;
        lane.band[r] = 0;
        for (int i = 0; i < 4; i++) {
            int position = 16 * (r >> 1) + 4 * (lane_id & 3) + (i ^ 1) - job.offset;
            int output = 2 * g + (r & 1);
            bool within = position >= output && position < output + job.field.window_cols;
            lane.band[r] |= within ? (uint32_t)SCALE << (8 * i) : 0;
        }
    }
    lane.run(begin, end);
}

#endif

template <int ROWS>
static __global__ void TWI_BOUNDS(32 * WARPS, BLOCKS_A_PROCESSOR)
    pairs_kernel(const __grid_constant__ pairs_job job)
{
#if TWI_BYTE_PRODUCT
    extern __shared__ char shared[];
    double *inverses = (double *)shared;
    uint32_t *totals = (uint32_t *)(shared + TOTALS * 8);
    uint32_t *table = (uint32_t *)(shared + TABLE_AT);
    const twi_gpu_field &field = job.field;
    const int base = job.whole + 1;
    const int lane_id = threadIdx.x & 31;
    if (threadIdx.x < TOTALS) {
        totals[threadIdx.x] = job.sums[threadIdx.x];
        inverses[threadIdx.x] = 1.0 / ((double)threadIdx.x * job.unit);
    }
    __syncthreads();
    for (int e = threadIdx.x >> 5; e <= job.whole * base; e += WARPS) {
        table[e * (SCALE / 4) + lane_id] = totals[e % base] + totals[e / base];
    }
    __syncthreads();
    const walk_part part = walk_part_of(job.walk, (int64_t)blockIdx.x * WARPS + (threadIdx.x >> 5));
    if (part.begin >= part.end) {
        return;
    }
    const int strip = part.strip;
    const int first = strip * STRIP - field.before - job.offset; /* column of the first word */
    const bool inner = first >= 0 && first + 3 * SEGMENT + 16 * HALVES <= field.cols &&
                       (strip + 1) * STRIP <= field.out_cols;
    if (inner) {
        go_down<ROWS, false>(job, shared, strip, first, part.begin, part.end);
    } else {
        go_down<ROWS, true>(job, shared, strip, first, part.begin, part.end);
    }
#else
    (void)job; /* never launched: twi_gpu_pairs_can */
#endif
}

/* ---------------------------------------------------------------------------------------- launch
 */

static int offset_of(const twi_gpu_field *field)
{
    return (4 - field->before % 4) % 4;
}

static int shared_bytes(int whole)
{
    return TABLE_AT + (whole * (whole + 1) + 1) * SCALE;
}

int twi_gpu_pairs_can(const twi_gpu_limits *limits, const twi_gpu_field *field)
{
    const int size = field->window_rows * field->window_cols;
    return limits->compute >= TWI_BYTE_PRODUCT_FROM && size <= TWI_GPU_PAIRS_MOST &&
           (field->window_rows == 3 || field->window_rows == 5) &&
           offset_of(field) + 15 + field->window_cols <= POSITIONS &&
           shared_bytes(size) <= limits->shared && ((uintptr_t)field->levels & 3) == 0 &&
           (field->stride & 3) == 0;
}

int twi_launch_pairs(const twi_gpu_limits *limits, const twi_gpu_field *field, const uint64_t *sums,
                     double unit, void *stream)
{
    pairs_job job;
    job.field = *field;
    job.whole = field->window_rows * field->window_cols;
    job.offset = offset_of(field);
    job.unit = unit;
    job.wide_stores = (((uintptr_t)field->out | (uintptr_t)(field->out_stride * 4)) & 7) == 0;
    for (int n = 0; n <= TWI_GPU_PAIRS_MOST; n++) {
        job.sums[n] = n <= job.whole ? (uint32_t)sums[n] : 0;
    }
    job.walk =
        walk_choose((int64_t)limits->processors * BLOCKS_A_PROCESSOR * WARPS,
                    (field->out_cols + STRIP - 1) / STRIP, field->out_rows, field->window_rows);
    const int blocks = (int)((walk_warps(&job.walk) + WARPS - 1) / WARPS);
    const int bytes = shared_bytes(job.whole);
    auto kernel = field->window_rows == 3 ? pairs_kernel<3> : pairs_kernel<5>;
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess) {
        kernel<<<blocks, 32 * WARPS, bytes, (cudaStream_t)stream>>>(job);
        error = cudaGetLastError();
    }
    return (int)error;
}
