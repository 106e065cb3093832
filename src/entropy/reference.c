/*
 * The definition, written down: for each output the elements of its window are visited one by one,
 * the border rule is applied to each, and the counts are turned into an entropy. O(size + levels)
 * an output. It shares the list of the window's elements with the engine and the table of
 * n log n, which tests compare with MPFR; bins are found by whole numbers of any size.
 */
#include "entropy/reference.h"

#include "base/matrix.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The index that the border rule gives, by walking; -1 for none. */
static int64_t place(tw_entropy_border border, int64_t at, int64_t count)
{
    while (at < 0 || at >= count) {
        switch (border) {
        case TW_ENTROPY_BORDER_REFLECT:
            at = count == 1 ? 0 : at < 0 ? -at : 2 * (count - 1) - at;
            break;
        case TW_ENTROPY_BORDER_SYMMETRIC:
            at = at < 0 ? -1 - at : 2 * count - 1 - at;
            break;
        case TW_ENTROPY_BORDER_CLAMP:
            at = at < 0 ? 0 : count - 1;
            break;
        case TW_ENTROPY_BORDER_WRAP:
            at += at < 0 ? count : -count;
            break;
        default:
            return -1;
        }
    }
    return at;
}

/* ------------------------------------------------------------------------------------- bins */

#define LIMBS 36 /* of a whole number of 2^-1074, below 2^1024 times 2^18 */

/* number += times * x 2^1074, in two's complement. */
static void accumulate(uint64_t *number, double x, int32_t times)
{
    int exponent;
    const double fraction = frexp(fabs(x), &exponent); /* x = fraction 2^exponent */
    const int64_t place = exponent > -1021 ? exponent + 1021 : 0;
    const uint64_t digits = (uint64_t)ldexp(fraction, exponent > -1021 ? 53 : exponent + 1074);
    const unsigned __int128 term = (unsigned __int128)digits * (uint32_t)abs(times);
    const unsigned shift = (unsigned)(place % 64);
    const unsigned __int128 low = (unsigned __int128)(uint64_t)term << shift;
    const unsigned __int128 high = ((term >> 64) << shift) + (low >> 64);
    const uint64_t parts[3] = {(uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64)};
    const bool taken = (x < 0) != (times < 0);
    uint64_t carry = 0;
    for (int64_t i = place / 64; i < LIMBS; i++) {
        const int64_t k = i - place / 64;
        const unsigned __int128 part = (unsigned __int128)(k < 3 ? parts[k] : 0) + carry;
        const unsigned __int128 sum = taken ? number[i] - part : number[i] + part;
        number[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64) != 0;
    }
}

/* Whether a value lies in bin `bin` or a later one: levels (v - lo) >= bin (hi - lo). */
static bool reaches(const tw_entropy_options *opts, double value, int32_t bin)
{
    uint64_t number[LIMBS] = {0};
    accumulate(number, value, opts->levels);
    accumulate(number, opts->range[0], bin - opts->levels);
    accumulate(number, opts->range[1], -bin);
    return number[LIMBS - 1] >> 63 == 0;
}

/* The bin of a value, counted from the middle by exact comparisons; -1 outside the range. */
static int64_t bin_of(const tw_entropy_options *opts, double value)
{
    int32_t bin = 0;
    int32_t end = opts->levels;
    if (!(value >= opts->range[0] && value <= opts->range[1])) {
        return -1;
    }
    while (end - bin > 1) { /* it reaches `bin`, and `end` not, unless that is the last edge */
        const int32_t middle = (bin + end) / 2;
        *(reaches(opts, value, middle) ? &bin : &end) = middle;
    }
    return bin;
}

/* ---------------------------------------------------------------------------------- windows */

/* The level of element (row, col), or -1 if it does not count. Values were checked; one that has
 * changed since then and is no level any more does not count either. */
static int64_t level_at(const twi_entropy_setup *setup, int64_t row, int64_t col)
{
    const tw_entropy_options *opts = &setup->opts;
    double value = twi_element(twi_entropy_row(setup, row), setup->in->type, col);
    if (opts->mask != NULL && ((const uint8_t *)twi_matrix_row(opts->mask, row))[col] == 0) {
        return -1;
    }
    if (isnan(value) || (opts->no_data != NULL && value == *opts->no_data)) {
        return -1;
    }
    if (opts->range != NULL) {
        return bin_of(opts, value);
    }
    return value >= 0 && value < opts->levels ? (int64_t)value : -1;
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

/* -------------------------------------------------------------------------------- the number */

/* The sum of (n / N) log(N / n), all of whose terms are positive. */
static double real_value(const twi_entropy_setup *setup, const int64_t *counts, int64_t n)
{
    const tw_entropy_base base = setup->opts.base;
    double unit = base == TW_ENTROPY_BASE_E        ? 1
                  : base == TW_ENTROPY_BASE_LEVELS ? log(setup->opts.levels)
                                                   : log(base);
    double sum = 0;
    for (int32_t level = 0; level < setup->opts.levels; level++) {
        const double count = (double)counts[level];
        if (count > 0) {
            sum += count * log1p(((double)n - count) / count);
        }
    }
    return n > 0 ? sum / ((double)n * unit) : (double)NAN;
}

static float narrow_value(const twi_entropy_setup *setup, const int64_t *counts, int64_t n)
{
    const twi_entropy_table *table = &setup->table;
    int64_t sum = 0;
    for (int32_t level = 0; level < setup->opts.levels; level++) {
        sum += (int64_t)table->sum[counts[level]];
    }
    return (float)((double)((int64_t)table->sum[n] - sum) /
                   ((double)n * ldexp(1, table->fraction)));
}

/* The quotient with 24 bits more, its last bit set if something follows, rounded by a conversion.
 */
static double wide_value(const twi_entropy_setup *setup, const int64_t *counts, int64_t n)
{
    const int more = 24;
    unsigned __int128 number = setup->table.wide_sum[n];
    for (int32_t level = 0; level < setup->opts.levels; level++) {
        number -= setup->table.wide_sum[counts[level]];
    }
    number <<= more;
    unsigned __int128 quotient = number / (uint64_t)n;
    quotient |= quotient * (uint64_t)n != number;
    return ldexp((double)quotient, -(TWI_WIDE_POINT + more));
}

static double exact_value(const twi_entropy_setup *setup, const int64_t *counts, int64_t n)
{
    return n == 0                        ? (double)NAN
           : setup->shape.type == TW_F64 ? wide_value(setup, counts, n)
                                         : (double)narrow_value(setup, counts, n);
}

double twi_reference_at(const twi_entropy_setup *setup, int64_t y, int64_t x, int64_t *counts)
{
    int64_t n = count_window(setup, y, x, counts);
    return exact_value(setup, counts, n);
}

tw_status twi_reference_entropy(tw_context *ctx, const twi_entropy_setup *setup, double *out,
                                void *exact)
{
    int64_t *counts = NULL;
    tw_status status =
        twi_alloc(ctx, &counts, (uint64_t)setup->opts.levels, sizeof *counts, "the counts");
    for (int64_t y = 0; y < setup->shape.rows && status == TW_OK; y++) {
        for (int64_t x = 0; x < setup->shape.cols; x++) {
            const int64_t at = y * setup->shape.cols + x;
            const int64_t n = count_window(setup, y, x, counts);
            out[at] = real_value(setup, counts, n);
            if (exact != NULL && setup->shape.type == TW_F64) {
                ((double *)exact)[at] = exact_value(setup, counts, n);
            } else if (exact != NULL) {
                ((float *)exact)[at] = (float)exact_value(setup, counts, n);
            }
        }
        status = twi_check_cancel(ctx);
    }
    twi_free(counts);
    return status;
}
