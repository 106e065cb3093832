/*
 * The kernels of the entropy wing on a GPU. All of them read levels in device memory, with or
 * without a border laid around them. They write f32, the list f64 too:
 *
 *   levels  values to levels: type, range, mask and border, for whatever the others cannot read as
 *           it is (gpu/kernels/levels.cu)
 *   pairs   up to 16 levels, full windows of less than 32 elements: the matrix units count, two
 *           levels to a number (gpu/kernels/pairs.cu)
 *   slide   up to 256 levels, full windows of up to 1024 elements: a histogram for each thread in
 *           shared memory (gpu/kernels/slide.cu)
 *   list    anything (gpu/kernels/list.cu)
 *
 * Each launch returns the runtime's error number (0: launched) and waits for nothing.
 */
#ifndef TWI_ENTROPY_GPU_KERNELS_KERNELS_H
#define TWI_ENTROPY_GPU_KERNELS_KERNELS_H

#include "tilewright.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TWI_GPU_PAIRS_MOST 31   /* elements of a window */
#define TWI_GPU_NARROW_MOST 135 /* of one whose counts fit bytes, in the shared memory there is */
#define TWI_GPU_SLIDE_MOST 1024

/* Levels in device memory and where the results go. The window of output (y, x) covers the rows
 * from y - above and the columns from x - before; what lies outside does not count. */
typedef struct twi_gpu_field {
    const void *levels;
    int64_t stride;
    int32_t rows, cols;
    int32_t above, before;
    void *out; /* f32, or f64 where the job says so */
    int64_t out_stride;
    int32_t out_rows, out_cols;
    int32_t window_rows, window_cols;
} twi_gpu_field;

/* What the plan asks of a device. */
typedef struct twi_gpu_limits {
    int32_t processors;
    int32_t compute;
    int32_t shared; /* bytes that a block may have */
} twi_gpu_limits;

/* Rows of outputs for each of the warps that go down strips: few enough that all processors have
 * work, in as few rounds of `resident` warps as it takes, `start` rows lost by each. */
static inline int32_t twi_gpu_band(int64_t resident, int64_t strips, int32_t rows, int32_t start)
{
    const int64_t most = 8; /* rounds: more gain little */
    int64_t best = -1;
    int32_t band = rows;
    for (int64_t round = 1; round <= most; round++) {
        int64_t bands = resident * round / strips;
        bands = bands < 1 ? 1 : bands > rows ? rows : bands;
        int64_t height = (rows + bands - 1) / bands;
        bands = (rows + height - 1) / height;
        int64_t cost = (bands * strips + resident - 1) / resident * (height + start);
        if (best < 0 || cost < best) {
            best = cost;
            band = (int32_t)height;
        }
    }
    return band;
}

/* Whether this device has the instructions, and the field the alignment, for a window of this size:
 * u8 levels of rows that begin at addresses divisible by 4. */
int twi_gpu_pairs_can(const twi_gpu_limits *limits, const twi_gpu_field *field);
/* `sums`: T[0 ... N] (host memory, copied), below 2^32; `unit` = 2^F. */
int twi_launch_pairs(const twi_gpu_limits *limits, const twi_gpu_field *field, const uint64_t *sums,
                     double unit, void *stream);

/* u8 levels. `tables` in device memory: T[0 ... N], then the steps, which are below 2^32. */
int twi_gpu_slide_can(const twi_gpu_limits *limits, const twi_gpu_field *field);
int twi_launch_slide(const twi_gpu_limits *limits, const twi_gpu_field *field,
                     const uint64_t *tables, double unit, void *stream);

/* Values in device memory, and how they become levels. */
typedef struct twi_gpu_values {
    const void *data;
    int64_t stride;
    tw_type type;
    int32_t rows, cols;
    const uint8_t *mask; /* NULL: none */
    int64_t mask_stride;
    int32_t levels;
    int32_t ranged, has_no_data, skip_nan;
    double low, high;    /* of the range */
    const double *edges; /* of its bins, in device memory: levels + 1, the last infinite */
    double no_data;
    tw_entropy_border
        border; /* laid around them; TW_ENTROPY_BORDER_CROP: what is there does not count */
    int32_t above, before;
} twi_gpu_values;

/* rows x cols levels of `bytes` each, 1 or 2, into `out`; element (0, 0) is that of the values at
 * (-above, -before). What does not count, or is no level, becomes the level `levels` if `bytes` is
 * 2, and 0 else. */
int twi_launch_levels(const twi_gpu_values *values, void *out, int64_t stride, int32_t bytes,
                      int32_t rows, int32_t cols, void *stream);

/* u16 levels, of which `levels` does not count; every window lies inside. */
typedef struct twi_gpu_list_job {
    twi_gpu_field field;
    const int32_t *runs;  /* column, first row, row after the last, of each run down a column */
    const void *sums;     /* T[0 ... N], of 8 bytes, or of 16 for f64 */
    const void *steps;    /* likewise */
    int32_t is_f64;       /* the result */
    uint32_t *histograms; /* of all threads, zeroed, unless they fit shared memory */
    int64_t size;         /* N */
    int32_t run_count;
    int32_t levels;
    double unit;
    int32_t threads; /* filled in by twi_gpu_list_plan: of a block */
    int32_t blocks;
    int32_t in_shared;
    int32_t strips;
    int32_t band;
    int32_t bands;
} twi_gpu_list_job;

/* Chooses; returns the bytes of histograms that are to lie in device memory. */
uint64_t twi_gpu_list_plan(const twi_gpu_limits *limits, twi_gpu_list_job *job);
int twi_launch_list(const twi_gpu_list_job *job, void *stream);

#ifdef __cplusplus
}
#endif

#endif
