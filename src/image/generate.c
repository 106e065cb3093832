/*
 * Generated images. Whole numbers throughout, and random numbers by position, so that an image is
 * the same on every machine.
 *
 * The natural-like one is a sum of layers: layer k has a random value at the corners of squares of
 * 2^k elements and goes linearly between them, and counts twice as much as layer k-1. That gives
 * the spectrum of photographs, roughly one over the frequency.
 */
#include "image/image.h"

#include "base/given.h"
#include "base/matrix.h"
#include "base/random.h"
#include "base/threads.h"

#include <string.h>

#define CHECKER_SIDE 8
#define BLOCK ((int64_t)1 << 20) /* elements between two words of progress */
#define LAYERS 8                 /* squares of 1 ... 128 elements */

typedef uint32_t (*value_fn)(const tw_image_options *opts, int64_t row, int64_t col);

static uint32_t noise(const tw_image_options *opts, int64_t row, int64_t col)
{
    uint64_t random =
        twi_random_at(opts->seed, (uint64_t)row * (uint64_t)opts->cols + (uint64_t)col);
    return (uint32_t)twi_random_below(random, (uint64_t)opts->levels);
}

static uint32_t gradient(const tw_image_options *opts, int64_t row, int64_t col)
{
    unsigned __int128 steps = (unsigned __int128)opts->rows + (uint64_t)opts->cols - 1;
    return (uint32_t)(((unsigned __int128)row + (uint64_t)col) * (uint64_t)opts->levels / steps);
}

static uint32_t checker(const tw_image_options *opts, int64_t row, int64_t col)
{
    return (row / CHECKER_SIDE + col / CHECKER_SIDE) % 2 != 0 ? (uint32_t)opts->levels - 1 : 0;
}

/* 16 random bits at a corner of a layer. */
static uint64_t corner(uint64_t seed, int layer, int64_t row, int64_t col)
{
    uint64_t line = twi_random_at(seed + (uint64_t)layer, (uint64_t)row);
    return twi_random_at(line, (uint64_t)col) >> 48;
}

static uint32_t natural(const tw_image_options *opts, int64_t row, int64_t col)
{
    uint64_t sum = 0;
    for (int layer = 0; layer < LAYERS; layer++) {
        const int64_t side = (int64_t)1 << layer;
        const int64_t r = row >> layer;
        const int64_t c = col >> layer;
        const uint64_t down = (uint64_t)(row & (side - 1));
        const uint64_t along = (uint64_t)(col & (side - 1));
        const uint64_t width = (uint64_t)side;
        uint64_t upper = corner(opts->seed, layer, r, c) * (width - along) +
                         corner(opts->seed, layer, r, c + 1) * along;
        uint64_t lower = corner(opts->seed, layer, r + 1, c) * (width - along) +
                         corner(opts->seed, layer, r + 1, c + 1) * along;
        sum += ((upper * (width - down) + lower * down) >> (2 * layer)) << layer;
    }
    /* Below 2^16 * (2^LAYERS - 1). */
    return (uint32_t)(sum * (uint64_t)opts->levels >> (16 + LAYERS));
}

static const struct {
    const char *name;
    value_fn value;
} kinds[] = {{"noise", noise}, {"gradient", gradient}, {"checker", checker}, {"natural", natural}};

static value_fn find_kind(const char *name)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (name != NULL && strcmp(name, kinds[k].name) == 0) {
            return kinds[k].value;
        }
    }
    return NULL;
}

static void fill_row(const tw_image_options *opts, value_fn value, const tw_matrix *plane,
                     int64_t row)
{
    void *out = twi_matrix_row(plane, row);
    for (int64_t col = 0; col < plane->cols; col++) {
        if (plane->type == TW_U8) {
            ((uint8_t *)out)[col] = (uint8_t)value(opts, row, col);
        } else {
            ((uint16_t *)out)[col] = (uint16_t)value(opts, row, col);
        }
    }
}

tw_status tw_image_generate(tw_context *ctx, tw_image **out, const tw_image_options *given)
{
    twi_clear_handle(out);
    tw_image_options opts = TW_IMAGE_OPTIONS_INIT;
    tw_status status = TWI_REQUIRE(ctx, {"out", out});
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_image_options, &opts, given);
    }
    if (status != TW_OK) {
        return status;
    }
    value_fn value = find_kind(opts.kind);
    if (value == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "unknown kind of image '%.40s'; use noise, gradient, checker or natural",
                       opts.kind != NULL ? opts.kind : "");
    }
    if (opts.levels < 2 || opts.levels > 65536) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the number of levels is %d; use 2 to 65536",
                       opts.levels);
    }
    tw_image *image = NULL;
    status = tw_image_create(ctx, &image);
    if (status == TW_OK) {
        status =
            tw_image_add(ctx, image, opts.rows, opts.cols, opts.levels <= 256 ? TW_U8 : TW_U16);
    }
    if (status == TW_OK) {
        const tw_matrix *plane = twi_image_last(image);
        const int64_t step = BLOCK / (plane->cols + 1) + 1;
        for (int64_t first = 0; first < plane->rows && status == TW_OK; first += step) {
            const int64_t end = plane->rows - first < step ? plane->rows : first + step;
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(static)
            for (int64_t row = first; row < end; row++) {
                if (!twi_is_cancelled(ctx)) {
                    fill_row(&opts, value, plane, row);
                }
            }
            twi_progress(ctx, "generating", (double)end, (double)plane->rows, "rows");
            status = twi_check_cancel(ctx);
        }
    }
    if (status != TW_OK) {
        tw_image_destroy(image);
        return status;
    }
    *out = image;
    return TW_OK;
}
