/*
 * From values to levels. A value is its own level, or falls into one of `levels` equal bins of the
 * range, whose edges are exact (edges.c). Masked elements, those equal to no_data and, if they are
 * to be skipped, NaN do not count, and may hold anything. Rows come out with the border laid around
 * them, so that no kernel knows about borders.
 *
 * Values are checked before they are used, and read again when they are: somebody may have changed
 * them in between, in a mapped file for instance. So what comes out of here is a level or the mark
 * of what does not count, whatever is read, and nothing behind it reads the values themselves.
 */
#include "entropy/shared/levels.h"

#include "base/matrix.h"
#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_LEVEL (-1)

int64_t twi_border_place(tw_entropy_border border, int64_t at, int64_t count)
{
    if (at >= 0 && at < count) {
        return at;
    }
    if (count == 0) {
        return -1;
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

static bool is_plain(const twi_entropy_setup *setup)
{
    const tw_entropy_options *opts = &setup->opts;
    return opts->range == NULL && !twi_entropy_skips(opts);
}

/* The bin of a value in the range: a guess, put right by comparisons. Halves cannot overflow. */
static int32_t bin_of(const twi_entropy_setup *setup, double value)
{
    const double *edges = setup->edges;
    const double low = setup->opts.range[0] / 2;
    const double width = setup->opts.range[1] / 2 - low;
    const double guess = (value / 2 - low) / width * setup->opts.levels;
    int32_t bin = guess < setup->opts.levels - 1 ? (int32_t)guess : setup->opts.levels - 1;
    while (value < edges[bin]) {
        bin--;
    }
    while (value >= edges[bin + 1]) {
        bin++;
    }
    return bin;
}

/* The level of a value that counts, or NO_LEVEL. */
static int32_t level_of(const twi_entropy_setup *setup, double value)
{
    const tw_entropy_options *opts = &setup->opts;
    if (opts->range == NULL) {
        return value >= 0 && value < opts->levels && value == floor(value) ? (int32_t)value
                                                                           : NO_LEVEL;
    }
    return value >= opts->range[0] && value <= opts->range[1] ? bin_of(setup, value) : NO_LEVEL;
}

static bool counts(const tw_entropy_options *opts, const uint8_t *mask, int64_t col, double value)
{
    if (mask != NULL && mask[col] == 0) {
        return false;
    }
    return !(opts->skip_nan && isnan(value)) && !(opts->no_data != NULL && value == *opts->no_data);
}

static const uint8_t *mask_row(const twi_entropy_setup *setup, int64_t row)
{
    return setup->opts.mask != NULL ? twi_matrix_row(setup->opts.mask, row) : NULL;
}

/* ---------------------------------------------------------------------------------------- check */

/* Whether a glance tells that all of a row are levels. */
static bool glance(const twi_entropy_setup *setup, const void *row)
{
    const int64_t cols = setup->in->cols;
    if (setup->opts.range != NULL) {
        return false;
    }
    unsigned largest = 0;
    if (setup->in->type == TW_U8) {
        uint8_t top = 0;
        for (int64_t j = 0; j < cols; j++) {
            uint8_t value = ((const uint8_t *)row)[j];
            top = value > top ? value : top;
        }
        largest = top;
    } else if (setup->in->type == TW_U16) {
        uint16_t top = 0;
        for (int64_t j = 0; j < cols; j++) {
            uint16_t value = ((const uint16_t *)row)[j];
            top = value > top ? value : top;
        }
        largest = top;
    } else {
        return false;
    }
    return largest < (unsigned)setup->opts.levels;
}

/* The first column of a row that counts and has no level; -1 if there is none. */
static int64_t first_bad(const twi_entropy_setup *setup, int64_t row)
{
    const void *values = twi_entropy_row(setup, row);
    const uint8_t *mask = mask_row(setup, row);
    if (glance(setup, values)) {
        return -1;
    }
    for (int64_t j = 0; j < setup->in->cols; j++) {
        double value = twi_element(values, setup->in->type, j);
        if (level_of(setup, value) == NO_LEVEL && counts(&setup->opts, mask, j, value)) {
            return j;
        }
    }
    return -1;
}

/* Whether an element of f32 is the nearest there is to an end of the range, on its outer side. */
static bool in_range_but_for_rounding(const twi_entropy_setup *setup, double value)
{
    const double *range = setup->opts.range;
    return setup->in->type == TW_F32 &&
           (value == (double)(float)range[0] || value == (double)(float)range[1]);
}

/* A decimal number near `value` and not above it (sign 1) or below it (sign -1), of few digits. */
static const char *write_beyond(char out[32], double value, int sign)
{
    for (int digits = 9; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, value);
        if (sign * strtod(out, NULL) <= sign * value) {
            break;
        }
    }
    return out;
}

static tw_status fail_rounded(tw_context *ctx, const tw_entropy_options *opts, double value,
                              int64_t row, int64_t col)
{
    const double low = value < opts->range[0] ? value : opts->range[0];
    const double high = value > opts->range[1] ? value : opts->range[1];
    char first[32], last[32];
    return tw_fail(ctx, TW_ERR_RANGE,
                   "the value at row %lld, column %lld is %.9g, as f32 stores it, outside the "
                   "range %.9g to %.9g; --range=%s:%s would take it",
                   (long long)row, (long long)col, value, opts->range[0], opts->range[1],
                   write_beyond(first, low, 1), write_beyond(last, high, -1));
}

static tw_status fail_value(tw_context *ctx, const twi_entropy_setup *setup, int64_t row)
{
    const tw_entropy_options *opts = &setup->opts;
    int64_t col = first_bad(setup, row);
    if (col < 0) {
        return tw_fail(ctx, TW_ERR_RANGE,
                       "row %lld of the array changed while it was being read; do not write to it "
                       "during a run",
                       (long long)row);
    }
    double value = twi_element(twi_entropy_row(setup, row), setup->in->type, col);
    if (isnan(value)) {
        return tw_fail(ctx, TW_ERR_RANGE,
                       "the value at row %lld, column %lld is NaN; use --skip-nan or --mask to "
                       "ignore such values",
                       (long long)row, (long long)col);
    }
    if (opts->range != NULL && in_range_but_for_rounding(setup, value)) {
        return fail_rounded(ctx, opts, value, row, col);
    }
    if (opts->range != NULL) {
        return tw_fail(ctx, TW_ERR_RANGE,
                       "the value at row %lld, column %lld is %.9g, outside the range %.9g to "
                       "%.9g; widen --range, or use --mask or --no-data",
                       (long long)row, (long long)col, value, opts->range[0], opts->range[1]);
    }
    const bool level = value >= 0 && value < 65536 && value == floor(value);
    return tw_fail(ctx, TW_ERR_RANGE,
                   "the value at row %lld, column %lld is %.9g, which is not one of the levels 0 "
                   "to %d; use %s--range auto, --mask or --no-data",
                   (long long)row, (long long)col, value, opts->levels - 1,
                   !level                     ? ""
                   : setup->in->type == TW_U8 ? "--levels 256, "
                                              : "--levels 65536, ");
}

tw_status twi_levels_check_rows(tw_context *ctx, const twi_entropy_setup *setup, int64_t first,
                                int64_t count)
{
    const tw_matrix *in = setup->in;
    const int64_t most = in->type == TW_U8 ? 256 : in->type == TW_U16 ? 65536 : INT64_MAX;
    int64_t bad = INT64_MAX;
    if (is_plain(setup) && setup->opts.levels >= most) {
        return TW_OK;
    }
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(static) \
    reduction(min                                                            \
              : bad) if (count > 1 && count * in->cols > 4096)
    for (int64_t row = first; row < first + count; row++) {
        if (row < bad && !twi_is_cancelled(ctx) && first_bad(setup, row) >= 0) {
            bad = row;
        }
    }
    tw_status status = twi_check_cancel(ctx);
    return status == TW_OK && bad < INT64_MAX ? fail_value(ctx, setup, bad) : status;
}

/* ----------------------------------------------------------------------------------------- rows */

int64_t twi_padded_cols(const twi_entropy_setup *setup)
{
    return setup->opts.border == TW_ENTROPY_BORDER_VALID ? setup->in->cols
                                                         : setup->in->cols + setup->window.cols - 1;
}

#define LEVEL uint16_t
#define NAME u16
#include "entropy/shared/levels_row.h"

#define LEVEL uint32_t
#define NAME u32
#include "entropy/shared/levels_row.h"

static void lay_bytes(const twi_entropy_setup *setup, int64_t row, uint8_t *out)
{
    const tw_matrix *in = setup->in;
    const int64_t cols = in->cols; /* in a loop that stores bytes it might be thought to change */
    const void *values = twi_entropy_row(setup, row);
    const uint8_t last = (uint8_t)(setup->opts.levels - 1); /* there are at most 16 */
    if (is_plain(setup) && in->type == TW_U8) {
        for (int64_t j = 0; j < cols; j++) {
            const uint8_t value = ((const uint8_t *)values)[j];
            out[j] = value < last ? value : last;
        }
        return;
    }
    for (int64_t j = 0; j < cols; j++) {
        const int32_t level = level_of(setup, twi_element(values, in->type, j));
        out[j] = (uint8_t)(level == NO_LEVEL ? 0 : level);
    }
}

void twi_levels_row_u8(const twi_entropy_setup *setup, int64_t row, uint8_t *out)
{
    const int64_t cols = setup->in->cols;
    const int64_t padded = twi_padded_cols(setup);
    const tw_entropy_border border = setup->opts.border;
    int64_t place = twi_border_place(border, row - setup->above, setup->in->rows);
    if (place < 0 || cols == 0) {
        memset(out, 0, (size_t)padded);
        return;
    }
    uint8_t *middle = out + setup->before;
    lay_bytes(setup, place, middle);
    for (int64_t j = 0; j < padded; j++) {
        if (j == setup->before) {
            j += cols;
            if (j >= padded) {
                break;
            }
        }
        int64_t from = twi_border_place(border, j - setup->before, cols);
        out[j] = from < 0 ? 0 : middle[from];
    }
}
