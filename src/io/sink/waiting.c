/* See waiting.h. The file is an output that is discarded in the end. */
#include "io/sink/waiting.h"

#include "base/memory.h"

#include <string.h>

struct twi_waiting {
    int64_t planes;
    int64_t rows; /* of a plane */
    uint64_t row_bytes;
    uint64_t added;     /* bytes */
    char *kept;         /* in memory; NULL: */
    twi_output *output; /* in this file */
    char *line;         /* a row of all of them, and one more */
};

static tw_status find_room(tw_context *ctx, twi_waiting *w, const char *path)
{
    uint64_t bytes = 0;
    const bool counted = twi_mul((uint64_t)w->planes * (uint64_t)w->rows, w->row_bytes, &bytes);
    if (path == NULL) {
        return twi_alloc(ctx, &w->kept, (uint64_t)w->planes * (uint64_t)w->rows, w->row_bytes,
                         "the planes of an image that is written to a pipe (a file needs none)");
    }
    if (counted && bytes <= twi_memory_left(ctx) / 4) {
        w->kept = twi_try_alloc(ctx, bytes, 1);
    }
    return w->kept != NULL ? TW_OK : twi_output_open(ctx, &w->output, path, 0);
}

tw_status twi_waiting_open(tw_context *ctx, twi_waiting **out, const char *path, int64_t planes,
                           const tw_shape *shape)
{
    twi_waiting *w = NULL;
    *out = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &w, 1, sizeof *w, "planes that wait");
    if (status != TW_OK) {
        return status;
    }
    w->planes = planes;
    w->rows = shape->rows;
    w->row_bytes = (uint64_t)shape->cols * tw_type_size(shape->type);
    status = twi_alloc(ctx, &w->line, (uint64_t)planes + 1, w->row_bytes, "a row of all planes");
    if (status == TW_OK) {
        status = find_room(ctx, w, path);
    }
    if (status != TW_OK) {
        twi_waiting_close(w);
        return status;
    }
    *out = w;
    return TW_OK;
}

tw_status twi_waiting_add(tw_context *ctx, twi_waiting *w, const void *row)
{
    const uint64_t at = w->added;
    w->added += w->row_bytes;
    if (w->kept == NULL) {
        return twi_output_write(ctx, w->output, row, w->row_bytes);
    }
    memcpy(w->kept + at, row, w->row_bytes);
    return TW_OK;
}

tw_status twi_waiting_row(tw_context *ctx, twi_waiting *w, int64_t row, const void *last,
                          const void **out)
{
    tw_status status = TW_OK;
    char *line = w->line;
    for (int64_t k = 0; k < w->planes && status == TW_OK; k++, line += w->row_bytes) {
        const uint64_t at = (uint64_t)(k * w->rows + row) * w->row_bytes;
        if (w->kept != NULL) {
            memcpy(line, w->kept + at, w->row_bytes);
        } else {
            status = twi_output_read(ctx, w->output, at, line, w->row_bytes);
        }
    }
    if (last != NULL) {
        memcpy(line, last, w->row_bytes);
    }
    *out = w->line;
    return status;
}

void twi_waiting_close(twi_waiting *w)
{
    if (w != NULL) {
        twi_output_discard(w->output);
        twi_free(w->kept);
        twi_free(w->line);
        twi_free(w);
    }
}
