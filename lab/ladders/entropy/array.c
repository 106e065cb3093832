/* See array.h. */
#include "ladders/entropy/array.h"

#include "ladders/answers.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

#define HALF LAB_ENTROPY_HALF
#define TOLERANCE 5e-6F

lab_entropy_piece lab_entropy_piece_of(const lab_entropy_array *array, lab_band rows, lab_band cols)
{
    return (lab_entropy_piece){.in = array->input + rows.from * array->cols + cols.from,
                               .in_stride = array->cols,
                               .in_rows = (int32_t)(rows.to - rows.from),
                               .in_cols = (int32_t)(cols.to - cols.from),
                               .out = array->output + rows.first * array->cols + cols.first,
                               .out_stride = array->cols,
                               .rows = (int32_t)(rows.end - rows.first),
                               .cols = (int32_t)(cols.end - cols.first),
                               .above = (int32_t)(rows.first - rows.from),
                               .before = (int32_t)(cols.first - cols.from)};
}

static int64_t at_least(int64_t value, int64_t least)
{
    return value > least ? value : least;
}

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

static float entropy_at(const lab_entropy_piece *p, int64_t y, int64_t x, const double *table)
{
    int counts[LAB_ENTROPY_LEVELS] = {0};
    int64_t row = y + p->above, col = x + p->before;
    int64_t left = at_least(col - HALF, 0), right = at_most(col + HALF + 1, p->in_cols);
    int64_t top = at_least(row - HALF, 0), bottom = at_most(row + HALF + 1, p->in_rows);
    for (int64_t i = top; i < bottom; i++) {
        for (int64_t j = left; j < right; j++) {
            const int64_t at = i * p->in_stride + j;
            counts[p->floats != NULL ? (int)p->floats[at] : p->in[at]]++;
        }
    }
    double sum = 0;
    for (int level = 0; level < LAB_ENTROPY_LEVELS; level++) {
        sum += table[counts[level]];
    }
    int64_t total = (bottom - top) * (right - left);
    return (float)((table[total] - sum) / (double)total);
}

void lab_entropy_solve(tw_context *ctx, const lab_entropy_piece *piece, int threads)
{
    double table[LAB_ENTROPY_MOST + 1] = {0};
    (void)threads;
    for (int n = 1; n <= LAB_ENTROPY_MOST; n++) {
        table[n] = n * log(n);
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t y = 0; y < piece->rows; y++) {
        if (twi_is_cancelled(ctx)) {
            continue;
        }
        for (int64_t x = 0; x < piece->cols; x++) {
            piece->out[y * piece->out_stride + x] = entropy_at(piece, y, x, table);
        }
    }
}

static void find_answer(tw_context *ctx, lab_entropy_array *array)
{
    const lab_band rows = lab_band_of(array->rows, HALF, 1, 0);
    const lab_band cols = lab_band_of(array->cols, HALF, 1, 0);
    lab_entropy_piece whole = lab_entropy_piece_of(array, rows, cols);
    whole.out = array->right;
    lab_entropy_solve(ctx, &whole, twi_thread_count(ctx));
}

tw_status lab_entropy_array_make(lab_entropy_array *out, tw_context *ctx, int64_t rows,
                                 int64_t cols, uint64_t seed)
{
    uint64_t cells = (uint64_t)rows * (uint64_t)cols;
    *out = (lab_entropy_array){.rows = rows, .cols = cols};
    tw_status status = twi_alloc(ctx, &out->input, lab_own_pages(cells, 1), 1, "the input");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->right, cells, 4, "the right answer");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &out->output, lab_own_pages(cells, 4), 4, "the output");
    }
    if (status == TW_OK) {
        for (uint64_t i = 0; i < cells; i++) {
            out->input[i] = (uint8_t)(twi_random_at(seed, i) % LAB_ENTROPY_LEVELS);
        }
        find_answer(ctx, out);
        status = twi_check_cancel(ctx);
    }
    return status;
}

void lab_entropy_array_free(lab_entropy_array *array)
{
    twi_free(array->output);
    twi_free(array->right);
    twi_free(array->input);
    *array = (lab_entropy_array){0};
}

tw_status lab_entropy_array_hold(lab_entropy_array *array, tw_context *ctx, int64_t rows,
                                 int64_t cols, uint64_t seed)
{
    if (array->rows == rows && array->cols == cols) {
        return TW_OK;
    }
    twi_progress(ctx, "making the inputs and the right answer", 0, 0, "");
    lab_entropy_array_free(array);
    tw_status status = lab_entropy_array_make(array, ctx, rows, cols, seed);
    if (status == TW_OK) {
        lab_entropy_array_spoil(array);
    } else {
        lab_entropy_array_free(array);
    }
    return status;
}

void lab_entropy_array_spoil(lab_entropy_array *array)
{
    if (array->output != NULL) {
        memset(array->output, 0xFF, (size_t)(array->rows * array->cols) * 4); /* NaN */
    }
}

tw_status lab_entropy_array_check(tw_context *ctx, const lab_entropy_array *array,
                                  const lab_rung *rung)
{
    return lab_near_rectangle(ctx, rung, array->output, array->right, array->rows, array->cols,
                              TOLERANCE);
}

tw_status lab_entropy_by_library(tw_context *ctx, lab_entropy_array *array, double *seconds)
{
    tw_matrix in = {array->input, array->rows, array->cols, array->cols, TW_U8};
    tw_matrix out = {array->output, array->rows, array->cols, array->cols, TW_F32};
    tw_entropy_options options = TW_ENTROPY_OPTIONS_INIT;
    options.levels = LAB_ENTROPY_LEVELS;
    double begun = twi_seconds();
    tw_status status = tw_entropy(ctx, &out, &in, &options);
    *seconds = twi_seconds() - begun;
    return status;
}
