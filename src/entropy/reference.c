/*
 * The definition, written down: for each output the elements of its window are visited one by one,
 * the border rule is applied to each, and the counts are turned into an entropy. O(size + levels)
 * an output. It shares the list of the window's elements with the engine and nothing else.
 */
#include "entropy/reference.h"

#include "base/matrix.h"

#include <math.h>
#include <string.h>

/* The index that the border rule gives, by walking; -1 for none. */
static int64_t place(tw_border border, int64_t at, int64_t count)
{
    while (at < 0 || at >= count) {
        switch (border) {
        case TW_BORDER_REFLECT:
            at = count == 1 ? 0 : at < 0 ? -at : 2 * (count - 1) - at;
            break;
        case TW_BORDER_SYMMETRIC:
            at = at < 0 ? -1 - at : 2 * count - 1 - at;
            break;
        case TW_BORDER_CLAMP:
            at = at < 0 ? 0 : count - 1;
            break;
        case TW_BORDER_WRAP:
            at += at < 0 ? count : -count;
            break;
        default:
            return -1;
        }
    }
    return at;
}

/* The level of element (row, col), or -1 if it does not count. */
static int64_t level_at(const twi_entropy_setup *setup, int64_t row, int64_t col)
{
    const tw_entropy_options *opts = &setup->opts;
    double value = twi_element(twi_entropy_row(setup, row), setup->in->type, col);
    if (opts->mask != NULL && ((const uint8_t *)twi_matrix_row(opts->mask, row))[col] == 0) {
        return -1;
    }
    if (opts->no_data != NULL &&
        (value == *opts->no_data || (isnan(value) && isnan(*opts->no_data)))) {
        return -1;
    }
    if (opts->range == NULL) {
        return (int64_t)value;
    }
    if (value == opts->range[1]) {
        return opts->levels - 1;
    }
    double bin = (value - opts->range[0]) / (opts->range[1] - opts->range[0]) * opts->levels;
    return bin < opts->levels ? (int64_t)bin : opts->levels - 1;
}

/* Count the window of output (y, x); returns how many elements count. */
static int64_t count_window(const twi_entropy_setup *setup, int64_t y, int64_t x, int64_t *counts)
{
    const twi_window *window = &setup->window;
    int64_t n = 0;
    memset(counts, 0, (size_t)setup->opts.levels * sizeof *counts);
    for (int64_t i = 0; i < window->run_count; i++) {
        int64_t row =
            place(setup->opts.border, y - setup->above + window->runs[i].row, setup->in->rows);
        for (int32_t j = window->runs[i].begin; j < window->runs[i].end && row >= 0; j++) {
            int64_t col = place(setup->opts.border, x - setup->before + j, setup->in->cols);
            int64_t level = col >= 0 ? level_at(setup, row, col) : -1;
            if (level >= 0) {
                counts[level]++;
                n++;
            }
        }
    }
    return n;
}

static double real_value(const twi_entropy_setup *setup, const int64_t *counts, int64_t n)
{
    const tw_base base = setup->opts.base;
    double unit = base == TW_BASE_E        ? 1
                  : base == TW_BASE_LEVELS ? log(setup->opts.levels)
                                           : log(base);
    double sum = 0;
    for (int32_t level = 0; level < setup->opts.levels; level++) {
        if (counts[level] > 0) {
            double p = (double)counts[level] / (double)n;
            sum -= p * log(p);
        }
    }
    return n > 0 ? sum / unit : (double)NAN;
}

static float exact_value(const twi_entropy_setup *setup, const int64_t *counts, int64_t n)
{
    const twi_entropy_table *table = &setup->table;
    int64_t sum = 0;
    for (int32_t level = 0; level < setup->opts.levels; level++) {
        sum += (int64_t)table->sum[counts[level]];
    }
    if (n == 0) {
        return NAN;
    }
    return (float)((double)((int64_t)table->sum[n] - sum) /
                   ((double)n * ldexp(1, table->fraction)));
}

float twi_reference_at(const twi_entropy_setup *setup, int64_t y, int64_t x, int64_t *counts)
{
    int64_t n = count_window(setup, y, x, counts);
    return exact_value(setup, counts, n);
}

tw_status twi_reference_entropy(tw_context *ctx, const twi_entropy_setup *setup, double *out,
                                float *exact)
{
    int64_t *counts = NULL;
    tw_status status =
        twi_alloc(ctx, &counts, (uint64_t)setup->opts.levels, sizeof *counts, "the counts");
    for (int64_t y = 0; y < setup->shape.rows && status == TW_OK; y++) {
        for (int64_t x = 0; x < setup->shape.cols; x++) {
            int64_t n = count_window(setup, y, x, counts);
            out[y * setup->shape.cols + x] = real_value(setup, counts, n);
            if (exact != NULL) {
                exact[y * setup->shape.cols + x] = exact_value(setup, counts, n);
            }
        }
        status = twi_check_cancel(ctx);
    }
    twi_free(counts);
    return status;
}

double twi_entropy_bound(const twi_entropy_setup *setup, int64_t n)
{
    const double rounding = 9.0 / 16; /* of one entry of the table: half, and the logarithm's own */
    int64_t repeated = n / 2;         /* levels that occur twice or more; others add exactly 0 */
    repeated = repeated < setup->opts.levels ? repeated : setup->opts.levels;
    double most = log((double)(n > 2 ? n : 2)) * 1.4427; /* the largest value, base 2 or above */
    return n < 2
               ? 0
               : rounding * (double)(1 + repeated) / ((double)n * ldexp(1, setup->table.fraction)) +
                     most * 0x1p-24;
}
