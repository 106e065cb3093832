/*
 * The inside of the entropy wing: what a call is made of once its options are checked.
 *
 *   window   which elements belong to a window, as runs of columns in each of its rows
 *   table    n log n as whole numbers, and what a count of n adds to or takes from the sum
 *   levels   rows of the input as levels, with the border laid around them
 *   setup    all of that for one array, and the method chosen
 *
 * Coordinates: the input with its border around it is the padded array. Element (y, x) of the
 * result has its window's upper left corner at (y, x) of the padded array, whatever the border.
 */
#ifndef TWI_ENTROPY_ENTROPY_H
#define TWI_ENTROPY_ENTROPY_H

#include "base/context.h"
#include "base/matrix.h"
#include "entropy/value.h"

#define TWI_WINDOW_SIDE 4095
#define TWI_WINDOW_SIZE ((int64_t)1 << 20)
#define TWI_LEVELS_MOST 65536

/* Columns begin ... end-1 of one row of the window, counted from its upper left corner. */
typedef struct twi_run {
    int32_t row;
    int32_t begin;
    int32_t end;
} twi_run;

typedef struct twi_window {
    int32_t rows, cols; /* of the bounding box */
    int32_t top, left;  /* of the centre within it */
    int64_t size;       /* elements */
    bool full;          /* the box is filled */
    twi_run *runs;
    int64_t run_count;
} twi_window;

#define TWI_WIDE_POINT 64 /* bits after the point of what f64 results are made of */

/* The whole numbers of table.c. f32 results: F bits after the point; a step is below 2^29, a sum
 * below 2^49. f64 results: TWI_WIDE_POINT bits, sums below 2^89. */
typedef struct twi_entropy_table {
    int64_t size;
    int32_t fraction; /* F */
    uint64_t *sum;    /* T[0 ... size] = round(n log n 2^F); NULL for f64 */
    uint64_t *step;   /* step[n] = T[n] - T[n-1]; step[0] = 0. Follows `sum` in memory */
    uint64_t *pair;   /* step[a] + step[b] 2^32 at a + 256 b, for windows of up to 255; else NULL */
    unsigned __int128 *wide_sum; /* the same for f64, else NULL */
    unsigned __int128 *wide_step;
} twi_entropy_table;

typedef enum twi_entropy_method {
    TWI_ENTROPY_AUTO,
    TWI_ENTROPY_COUNTERS, /* 16 counters in one vector: few levels, small full windows */
    TWI_ENTROPY_LANES,    /* several rows of outputs in one histogram: full windows */
    TWI_ENTROPY_LIST      /* one row of outputs, elements that enter and leave by a list: any */
} twi_entropy_method;

typedef struct twi_entropy_feed twi_entropy_feed;
typedef struct twi_entropy_gpu twi_entropy_gpu; /* devices, and what they hold for one setup */

typedef struct twi_entropy_setup {
    tw_entropy_options opts;
    const tw_matrix *in;
    twi_entropy_feed
        *feed;    /* where rows come from that are not in memory; NULL: all are (stream.h) */
    int64_t held; /* the row that the data of `in` begins with; others follow it, after the
                     last row the first; 0 without a feed */
    twi_window window;
    twi_entropy_table table;
    double *edges; /* of the bins of a range: levels + 1; NULL without one */
    tw_shape shape;
    twi_entropy_method method;
    twi_isa isa;
    int64_t above;        /* rows of border above the input: top, or 0 when valid */
    int64_t before;       /* columns of border left of it */
    twi_entropy_gpu *gpu; /* NULL: the CPU computes */
} twi_entropy_setup;

/* Check everything but the values, and choose. `method` forces one (AUTO: the best); a method that
 * cannot do it is an argument error. What the options point to is not copied. Clear with
 * twi_entropy_clear. */
TW_CHECKED tw_status twi_entropy_prepare(tw_context *ctx, twi_entropy_setup *out,
                                         const tw_matrix *in, const tw_entropy_options *opts,
                                         twi_entropy_method method);
void twi_entropy_clear(twi_entropy_setup *setup);
/* The same window over another array: its shape, and that of the result. */
void twi_entropy_turn_to(twi_entropy_setup *setup, const tw_matrix *in);
/* TW_ERR_ARGUMENT unless the matrix can take the result. */
TW_CHECKED tw_status twi_entropy_check_result(tw_context *ctx, const twi_entropy_setup *setup,
                                              const tw_matrix *out);
bool twi_entropy_can(const twi_entropy_setup *setup, twi_entropy_method method);
const char *twi_entropy_method_name(twi_entropy_method method);
/* What reports call the method and the instruction set, on the GPU, too. */
const char *twi_entropy_method_of(const twi_entropy_setup *setup);
const char *twi_entropy_isa_of(const twi_entropy_setup *setup);

TW_CHECKED tw_status twi_window_make(tw_context *ctx, twi_window *out,
                                     const tw_entropy_options *opts);
void twi_window_clear(twi_window *window);

/* Tables of a window of `size` elements for results of f32 or f64; base as in the options. */
TW_CHECKED tw_status twi_entropy_table_make(tw_context *ctx, twi_entropy_table *out, int64_t size,
                                            tw_entropy_base base, int32_t levels, tw_type type);
void twi_entropy_table_clear(twi_entropy_table *table);

/* The edges of the bins of a range: entry b is the least f64 that belongs to bin b or a later one,
 * and the last is infinite. What lies in the range is in the bin whose edges it is not below and
 * below. */
TW_CHECKED tw_status twi_edges_make(tw_context *ctx, double **out, const tw_entropy_options *opts);

/* The number itself: what every kernel must return for this sum and this many elements. */
static inline float twi_entropy_value(uint64_t total, uint64_t sum, int64_t n, double unit)
{
    return n > 0 ? (float)((double)(int64_t)(total - sum) / ((double)n * unit))
                 : __builtin_nanf("");
}

/*
 * The same for a divisor that stays: n 2^F, with its inverse at hand. Where the machine multiplies
 * and adds in one rounding that is faster than a division, and gives the same bits
 * (docs/methods.md).
 */
static inline float twi_entropy_value_by(uint64_t total, uint64_t sum, double divisor,
                                         double inverse)
{
    const double difference = (double)(int64_t)(total - sum);
#ifdef __FP_FAST_FMA
    const double nearly = difference * inverse;
    return (float)__builtin_fma(__builtin_fma(-nearly, divisor, difference), inverse, nearly);
#else
    (void)inverse;
    return (float)(difference / divisor);
#endif
}

/* The same for f64, from sums with TWI_WIDE_POINT bits after the point (value.h). */
static inline double twi_entropy_wide_value(unsigned __int128 total, unsigned __int128 sum,
                                            int64_t n)
{
    const unsigned __int128 difference = total - sum;
    return twi_wide_quotient((uint64_t)(difference >> 64), (uint64_t)difference, (uint32_t)n);
}

/* Whether some elements may not count. NaN as no_data has become skip_nan, and that stays where
 * there can be one. */
static inline bool twi_entropy_skips(const tw_entropy_options *opts)
{
    return opts->mask != NULL || opts->no_data != NULL || opts->skip_nan != 0;
}

/* Whether u16 has no room for the level of what does not count: only lists of u32 do it then. */
static inline bool twi_entropy_is_wide(const twi_entropy_setup *setup)
{
    const tw_entropy_options *opts = &setup->opts;
    return opts->levels == TWI_LEVELS_MOST &&
           (opts->border == TW_ENTROPY_BORDER_CROP || twi_entropy_skips(opts));
}

/* A row of the input, which must be in memory. */
static inline const void *twi_entropy_row(const twi_entropy_setup *setup, int64_t row)
{
    int64_t slot = row - setup->held;
    return twi_matrix_row(setup->in, slot < 0 ? slot + setup->in->rows : slot);
}

/* TW_ERR_RANGE with the first place, in reading order, whose value is no level, among rows first
 * ... first+count-1, which must be in memory. On all threads. */
TW_CHECKED tw_status twi_levels_check_rows(tw_context *ctx, const twi_entropy_setup *setup,
                                           int64_t first, int64_t count);
/* The same for all rows, when they are in memory. */
static inline TW_CHECKED tw_status twi_levels_check(tw_context *ctx, const twi_entropy_setup *setup)
{
    return twi_levels_check_rows(ctx, setup, 0, setup->in->rows);
}

/* The levels of a row of the padded array. What does not count gets the level `levels` in u16 and
 * u32, for the general methods, and 0 in u8, for the counters, which never look at it. */
void twi_levels_row_u32(const twi_entropy_setup *setup, int64_t row, uint32_t *out);
void twi_levels_row_u16(const twi_entropy_setup *setup, int64_t row, uint16_t *out);
void twi_levels_row_u8(const twi_entropy_setup *setup, int64_t row, uint8_t *out);
int64_t twi_padded_cols(const twi_entropy_setup *setup);

/* Where index `at` of `count` lies under a border; -1 for nowhere. */
int64_t twi_border_place(tw_entropy_border border, int64_t at, int64_t count);

/* Gives the call to the GPUs that the context's device names, or with "auto" to one and the CPU
 * together, if that is worth it: twi_entropy_rows goes there then. */
TW_CHECKED tw_status twi_entropy_gpu_open(tw_context *ctx, twi_entropy_setup *setup);
void twi_entropy_gpu_together(twi_entropy_setup *setup); /* for tests: the CPU takes a part */
void twi_entropy_gpu_close(twi_entropy_gpu *gpu);
const char *twi_entropy_gpu_method(const twi_entropy_gpu *gpu);
const char *twi_entropy_gpu_reason(const twi_entropy_gpu *gpu); /* why that one */
TW_CHECKED tw_status twi_entropy_gpu_rows(tw_context *ctx, const twi_entropy_setup *setup,
                                          int64_t first, int64_t count, void *out, int64_t stride);

/* Rows first ... first+count-1 of the result into `out`, on the GPUs or on all threads. Values are
 * checked. */
TW_CHECKED tw_status twi_entropy_rows(tw_context *ctx, const twi_entropy_setup *setup,
                                      int64_t first, int64_t count, void *out, int64_t stride);

/* Bytes that twi_entropy_rows takes for so many rows, besides the result. */
uint64_t twi_entropy_scratch(tw_context *ctx, const twi_entropy_setup *setup, int64_t rows);

/* The same for a test that wants its own height of bands; 0: chosen. */
TW_CHECKED tw_status twi_entropy_bands(tw_context *ctx, const twi_entropy_setup *setup,
                                       int64_t first, int64_t count, void *out, int64_t stride,
                                       int64_t band);

/* TW_ERR_VERIFY if an element of these rows that the options ask to verify is not what the
 * reference gives for it. */
TW_CHECKED tw_status twi_entropy_verify(tw_context *ctx, const twi_entropy_setup *setup,
                                        int64_t first, int64_t count, const void *rows,
                                        int64_t stride, int64_t *verified);

/* All of a result through sinks. The values are checked, unless there is a feed, which does it. A
 * GPU has been opened before, if there is to be one. */
TW_CHECKED tw_status twi_entropy_push(tw_context *ctx, twi_entropy_setup *setup, tw_sink *sinks,
                                      int32_t sink_count, tw_entropy_report *report);

#endif
