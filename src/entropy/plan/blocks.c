/*
 * Images that need not be in memory: a source gives rows, a feed holds those that the next block of
 * the result needs, and the engine works on them as on a whole image (setup.h: `held`). Rows that
 * two blocks share are kept, so each row is read once, in order; only with wrapped borders do the
 * first blocks need the last rows, and the last blocks the first ones.
 *
 * In memory are a block of the result, the rows of the input behind it, and the levels of the bands
 * of each thread. The block is as high as the limit of the context allows.
 */
#include "entropy/plan/blocks.h"

#include "base/clock.h"
#include "base/memory.h"
#include "entropy/cpu/cpu.h"
#include "entropy/cpu/stacks.h"
#include "entropy/gpu/host.h"
#include "entropy/shared/levels.h"

#include <string.h>

#define BLOCK_MOST ((uint64_t)32 << 20) /* bytes of a block of the result: more does not help */
#define BLOCK_ROWS 8                    /* at least: the lanes of the widest histogram */
#define SHARE 4                         /* of what is left, one part in four is not taken */

/* Rows of the input behind so many rows of the result. */
static int64_t held_rows(const twi_entropy_setup *setup, int64_t rows)
{
    int64_t held = rows + setup->window.rows - 1;
    return held < setup->in->rows ? held : setup->in->rows;
}

static uint64_t bytes_of_block(tw_context *ctx, const twi_entropy_setup *setup, int64_t rows)
{
    uint64_t result =
        (uint64_t)rows * (uint64_t)setup->shape.cols * tw_type_size(setup->shape.type);
    uint64_t held = (uint64_t)held_rows(setup, rows) * (uint64_t)setup->in->cols *
                    tw_type_size(setup->in->type);
    return result + (setup->feed != NULL ? held : 0) + twi_entropy_scratch(ctx, setup, rows);
}

static uint64_t room_of(tw_context *ctx)
{
    return twi_memory_left(ctx) / SHARE * (SHARE - 1);
}

bool twi_entropy_fits_stacks(tw_context *ctx, const twi_entropy_setup *setup)
{
    return bytes_of_block(ctx, setup, TWI_STACK) <= room_of(ctx);
}

void twi_entropy_size(tw_context *ctx, const twi_entropy_setup *setup, int64_t *rows,
                      uint64_t *bytes)
{
    const uint64_t row = (uint64_t)setup->shape.cols * tw_type_size(setup->shape.type);
    const uint64_t room = room_of(ctx);
    const int64_t all = setup->shape.rows;
    const int64_t least = all < BLOCK_ROWS ? all : BLOCK_ROWS;
    int64_t most = (int64_t)(BLOCK_MOST / (row > 0 ? row : 1));
    most = most < all ? most : all;
    most = most > least ? most : least;
    while (most > least && bytes_of_block(ctx, setup, most) > room) {
        most = most / 2 > least ? most / 2 : least;
    }
    if (setup->method == TWI_ENTROPY_STACKS && most < all && most > TWI_STACK) {
        most -= most % TWI_STACK; /* or the last stack would be mostly empty */
    }
    *rows = most;
    *bytes = bytes_of_block(ctx, setup, most);
}

tw_status twi_entropy_block(tw_context *ctx, twi_entropy_setup *setup, int64_t *rows)
{
    uint64_t bytes;
    twi_entropy_size(ctx, setup, rows, &bytes);
    tw_status status = twi_memory_check(ctx, bytes, "local entropy");
    if (status == TW_OK && setup->feed != NULL) {
        status = twi_alloc(ctx, &setup->feed->in.data, (uint64_t)held_rows(setup, *rows),
                           (uint64_t)setup->in->cols * tw_type_size(setup->in->type),
                           "rows of the image");
    }
    return status;
}

/* ------------------------------------------------------------------------------------- the feed */

/* The rows of the input that the result rows first ... first+count-1 and all later ones need, as
 * far as the former do: from *base, *held of them, around the end of the image if wrapped. */
static void find_rows(const twi_entropy_setup *setup, int64_t first, int64_t count, int64_t *base,
                      int64_t *held)
{
    const tw_entropy_border border = setup->opts.border;
    const int64_t rows = setup->in->rows;
    const int64_t low = first - setup->above;
    const int64_t high = low + count + setup->window.rows - 1;
    if (border == TW_ENTROPY_BORDER_WRAP) {
        *held = high - low < rows ? high - low : rows;
        *base = *held < rows ? twi_border_place(border, low, rows) : 0;
        return;
    }
    int64_t least = low > 0 ? low : 0;
    int64_t end = high < rows ? high : rows;
    for (int64_t p = low; p < 0; p++) { /* mirrored above the first row */
        int64_t place = twi_border_place(border, p, rows);
        end = place >= end ? place + 1 : end;
    }
    for (int64_t p = rows; p < rows + setup->window.rows; p++) { /* and below the last */
        int64_t place = twi_border_place(border, p, rows);
        least = place >= 0 && place < least ? place : least;
    }
    *base = least;
    *held = end - least;
}

/* Rows from `row`, around the end of the image, into slots of the feed. */
static tw_status read_rows(tw_context *ctx, twi_entropy_feed *feed, twi_entropy_setup *setup,
                           int64_t row, int64_t count, int64_t slot)
{
    const tw_source *source = feed->source;
    const int64_t cols = setup->in->cols;
    const size_t step = (size_t)cols * tw_type_size(setup->in->type);
    tw_status status = TW_OK;
    while (count > 0 && status == TW_OK) {
        int64_t from = row % setup->in->rows;
        int64_t part = setup->in->rows - from < count ? setup->in->rows - from : count;
        double started = twi_seconds();
        status = source->rows(source->self, ctx, from, part,
                              (char *)feed->in.data + (size_t)slot * step, cols);
        feed->seconds += twi_seconds() - started;
        if (status == TW_OK) {
            status = twi_levels_check_rows(ctx, setup, from, part);
        }
        row += part;
        slot += part;
        count -= part;
    }
    return status;
}

tw_status twi_entropy_hold(tw_context *ctx, twi_entropy_setup *setup, int64_t first, int64_t count)
{
    twi_entropy_feed *feed = setup->feed;
    const int64_t rows = setup->in->rows;
    const size_t step = (size_t)setup->in->cols * tw_type_size(setup->in->type);
    int64_t base, held;
    if (feed == NULL || rows == 0 || step == 0) {
        return TW_OK;
    }
    find_rows(setup, first, count, &base, &held);
    int64_t gone = base - setup->held;
    gone += gone < 0 ? rows : 0;
    int64_t kept = gone < feed->count ? feed->count - gone : 0;
    kept = kept < held ? kept : held;
    if (kept > 0 && gone > 0) {
        memmove(feed->in.data, (char *)feed->in.data + (size_t)gone * step, (size_t)kept * step);
    }
    setup->held = base;
    feed->count = held;
    return read_rows(ctx, feed, setup, base + kept, held - kept, kept);
}

tw_status twi_entropy_rows(tw_context *ctx, const twi_entropy_setup *setup, int64_t first,
                           int64_t count, void *out, int64_t stride)
{
    return setup->gpu != NULL ? twi_entropy_gpu_rows(ctx, setup, first, count, out, stride)
                              : twi_entropy_bands(ctx, setup, first, count, out, stride, 0);
}
