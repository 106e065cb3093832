/*
 * Windows as runs: each row of a window is cut into runs of adjacent columns, so that when the
 * window moves one column to the right exactly the ends of the runs enter and leave.
 */
#include "entropy/shared/window.h"

#include "base/matrix.h"
#include "base/memory.h"

#include <stdlib.h>

static tw_status add_run(tw_context *ctx, twi_window *window, int32_t row, int32_t begin,
                         int32_t end)
{
    const uint64_t count = (uint64_t)window->run_count;
    if ((count & (count - 1)) == 0) { /* full: twice the room */
        tw_status status = twi_grow(ctx, &window->runs, count * sizeof *window->runs,
                                    count > 0 ? 2 * count : 1, sizeof *window->runs, "the window");
        if (status != TW_OK) {
            return status;
        }
    }
    window->runs[window->run_count++] = (twi_run){row, begin, end};
    window->size += end - begin;
    return TW_OK;
}

static tw_status make_box(tw_context *ctx, twi_window *window, int32_t rows, int32_t cols)
{
    if (rows < 1 || cols < 1 || rows > TWI_WINDOW_SIDE || cols > TWI_WINDOW_SIDE) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a window of %d x %d: both sides must be from 1 to %d",
                       cols, rows, TWI_WINDOW_SIDE);
    }
    window->rows = rows;
    window->cols = cols;
    window->top = rows / 2;
    window->left = cols / 2;
    tw_status status = TW_OK;
    for (int32_t row = 0; row < rows && status == TW_OK; row++) {
        status = add_run(ctx, window, row, 0, cols);
    }
    return status;
}

/* All (x, y) with x^2 + y^2 <= radius^2. */
static tw_status make_disk(tw_context *ctx, twi_window *window, int32_t radius)
{
    if (radius > TWI_WINDOW_SIDE / 2) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a disk of radius %d; the maximum is %d", radius,
                       TWI_WINDOW_SIDE / 2);
    }
    window->rows = window->cols = 2 * radius + 1;
    window->top = window->left = radius;
    tw_status status = TW_OK;
    for (int32_t y = -radius; y <= radius && status == TW_OK; y++) {
        int32_t reach = 0;
        while ((reach + 1) * (reach + 1) + y * y <= radius * radius) {
            reach++;
        }
        status = add_run(ctx, window, y + radius, radius - reach, radius + reach + 1);
    }
    return status;
}

static tw_status add_runs_of_row(tw_context *ctx, twi_window *window, const uint8_t *row,
                                 int32_t number)
{
    tw_status status = TW_OK;
    int32_t col = 0;
    while (col < window->cols && status == TW_OK) {
        while (col < window->cols && row[col] == 0) {
            col++;
        }
        int32_t begin = col;
        while (col < window->cols && row[col] != 0) {
            col++;
        }
        if (col > begin) {
            status = add_run(ctx, window, number, begin, col);
        }
    }
    return status;
}

static tw_status make_footprint(tw_context *ctx, twi_window *window, const tw_entropy_options *opts)
{
    const tw_matrix *shape = opts->footprint;
    tw_status status = twi_matrix_check(ctx, shape, "the footprint");
    if (status == TW_OK && shape->type != TW_U8) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "the footprint has type %s; expected u8",
                         tw_type_name(shape->type));
    }
    if (status == TW_OK && (shape->rows > TWI_WINDOW_SIDE || shape->cols > TWI_WINDOW_SIDE)) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "a footprint of %lld x %lld: both sides must be at most %d",
                         (long long)shape->cols, (long long)shape->rows, TWI_WINDOW_SIDE);
    }
    if (status != TW_OK) {
        return status;
    }
    window->rows = (int32_t)shape->rows;
    window->cols = (int32_t)shape->cols;
    window->top = opts->anchor_row < 0 ? window->rows / 2 : opts->anchor_row;
    window->left = opts->anchor_col < 0 ? window->cols / 2 : opts->anchor_col;
    for (int32_t row = 0; row < window->rows && status == TW_OK; row++) {
        status = add_runs_of_row(ctx, window, twi_matrix_row(shape, row), row);
    }
    if (status == TW_OK && window->size == 0) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "the footprint of %d x %d has no nonzero element",
                         window->cols, window->rows);
    }
    if (status == TW_OK && (window->top >= window->rows || window->left >= window->cols)) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the anchor, row %d and column %d, lies outside the footprint of %d x %d",
                         window->top, window->left, window->cols, window->rows);
    }
    return status;
}

tw_status twi_window_make(tw_context *ctx, twi_window *out, const tw_entropy_options *opts)
{
    *out = (twi_window){0};
    tw_status status = opts->footprint != NULL ? make_footprint(ctx, out, opts)
                       : opts->radius >= 0
                           ? make_disk(ctx, out, opts->radius)
                           : make_box(ctx, out, opts->window_rows, opts->window_cols);
    if (status == TW_OK && out->size > TWI_WINDOW_SIZE) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "a window of %lld elements; the maximum is %lld",
                         (long long)out->size, (long long)TWI_WINDOW_SIZE);
    }
    out->full = out->size == (int64_t)out->rows * out->cols;
    if (status != TW_OK) {
        twi_window_clear(out);
    }
    return status;
}

void twi_window_clear(twi_window *window)
{
    twi_free(window->runs);
    *window = (twi_window){0};
}
