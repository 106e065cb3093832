/* Rows of several channels, taken apart: see woven.h. */
#include "io/image/woven.h"

#include "base/matrix.h"
#include "base/memory.h"

#include <string.h>

#define ROWS_A_LOOK 64 /* between two looks at whether the run is cancelled */

static void take_channel(const twi_woven *from, const unsigned char *row, int64_t k, void *out)
{
    const int64_t cols = from->shape.cols, step = from->channels;
    if (from->shape.type == TW_U8) {
        for (int64_t i = 0; i < cols; i++) {
            ((uint8_t *)out)[i] = row[i * step + k];
        }
        return;
    }
    for (int64_t i = 0; i < cols; i++) {
        memcpy((uint16_t *)out + i, row + 2 * (i * step + k), sizeof(uint16_t));
    }
}

static tw_status end_of(const twi_woven *from)
{
    return from->finish != NULL ? from->finish(from->state) : TW_OK;
}

tw_status twi_woven_read(tw_context *ctx, const twi_woven *from, const tw_image *image)
{
    const int64_t rows = from->shape.rows;
    tw_status status = TW_OK;
    for (int64_t row = 0; row < rows && status == TW_OK; row++) {
        const unsigned char *line = NULL;
        status = from->next(ctx, from->state, &line);
        for (int k = 0; k < from->channels && status == TW_OK; k++) {
            take_channel(from, line, k, twi_matrix_row(&image->planes[k], row));
        }
        if (status == TW_OK && row % ROWS_A_LOOK == 0) {
            twi_progress(ctx, "read", (double)row, (double)rows, "rows");
            status = twi_check_cancel(ctx);
        }
    }
    return status == TW_OK ? end_of(from) : status;
}

/* One plane, row after row. */
typedef struct woven_plane {
    twi_woven from;
    int64_t channel;
    int64_t taken; /* rows */
} woven_plane;

static tw_status plane_next(tw_context *ctx, void *state, void *row)
{
    woven_plane *plane = state;
    const unsigned char *line = NULL;
    tw_status status = plane->from.next(ctx, plane->from.state, &line);
    if (status == TW_OK) {
        take_channel(&plane->from, line, plane->channel, row);
        plane->taken++;
    }
    return status == TW_OK && plane->taken == plane->from.shape.rows ? end_of(&plane->from)
                                                                     : status;
}

static void plane_close(void *state)
{
    woven_plane *plane = state;
    if (plane != NULL) {
        plane->from.close(plane->from.state);
        twi_free(plane);
    }
}

tw_status twi_woven_rows(tw_context *ctx, twi_rows *out, const twi_woven *from, const char *name,
                         int64_t plane)
{
    woven_plane *state = NULL;
    tw_status status =
        plane < from->channels ? TW_OK : twi_no_plane(ctx, name, plane, from->channels);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &state, 1, sizeof *state, "a plane of an image");
    }
    if (status != TW_OK) {
        from->close(from->state);
        return status;
    }
    *state = (woven_plane){.from = *from, .channel = plane};
    *out = (twi_rows){.planes = from->channels,
                      .shape = from->shape,
                      .state = state,
                      .next = plane_next,
                      .close = plane_close};
    return TW_OK;
}
