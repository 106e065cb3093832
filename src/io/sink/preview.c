/*
 * A picture of a result: the sink averages squares of elements as the rows pass, so that no side of
 * the picture is longer than PREVIEW_SIDE, and paints the means in the colour map of
 * image/colour.c. It holds one row of sums and the picture, whatever the size of the result.
 */
#include "image/colour.h"
#include "io/image/format.h"
#include "io/sink/named.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"

#include <math.h>
#include <string.h>

#define PREVIEW_SIDE 1024
#define WRITING ((uint64_t)1 << 20) /* bytes, of compressing a picture of that size */
#define NOTHING 128                 /* red, green and blue where nothing counts */

typedef struct preview_sink {
    char *path;
    double maximum; /* the value of the last colour */
    tw_shape shape;
    int64_t step; /* elements per side of the squares */
    int64_t next; /* row expected */
    double *sum;  /* of each square of the current row of squares */
    int64_t *count;
    tw_image *picture;
    twi_counted writing; /* what the file will take at the end */
    uint8_t colours[TWI_COLOURS][3];
} preview_sink;

static void forget_run(preview_sink *sink)
{
    twi_uncount(&sink->writing);
    tw_image_destroy(sink->picture);
    twi_free(sink->count);
    twi_free(sink->sum);
    sink->picture = NULL;
    sink->count = NULL;
    sink->sum = NULL;
}

static tw_status preview_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    preview_sink *sink = self;
    const int64_t longest = shape->rows > shape->cols ? shape->rows : shape->cols;
    forget_run(sink);
    if (shape->type != TW_F32 || longest > INT64_MAX - PREVIEW_SIDE || longest == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "a preview is made of f32, not of %lld x %lld of type %s",
                       (long long)shape->cols, (long long)shape->rows, tw_type_name(shape->type));
    }
    sink->shape = *shape;
    sink->next = 0;
    sink->step = (longest + PREVIEW_SIDE - 1) / PREVIEW_SIDE;
    const int64_t rows = (shape->rows + sink->step - 1) / sink->step;
    const int64_t cols = (shape->cols + sink->step - 1) / sink->step;
    tw_status status =
        twi_alloc_zeroed(ctx, &sink->sum, (uint64_t)cols, sizeof *sink->sum, "the preview");
    if (status == TW_OK) {
        status =
            twi_alloc_zeroed(ctx, &sink->count, (uint64_t)cols, sizeof *sink->count, "the preview");
    }
    if (status == TW_OK) {
        status = tw_image_create(ctx, &sink->picture);
    }
    for (int k = 0; k < 3 && status == TW_OK; k++) {
        status = tw_image_add(ctx, sink->picture, rows, cols, TW_U8);
    }
    if (status == TW_OK) { /* better told now than after the work */
        status = twi_image_accepts(ctx, sink->picture, sink->path, NULL);
    }
    if (status == TW_OK) {
        status = twi_count(ctx, &sink->writing, WRITING, "writing the preview");
    }
    if (status != TW_OK) {
        forget_run(sink);
    }
    return status;
}

/* Paint the row of squares that ends with row `row`, and begin the next one. */
static void paint(preview_sink *sink, int64_t row)
{
    const tw_matrix *planes = sink->picture->planes;
    for (int64_t i = 0; i < planes->cols; i++) {
        int colour = -1;
        if (sink->count[i] > 0) {
            double share = sink->sum[i] / (double)sink->count[i] / sink->maximum;
            colour = share > 0
                         ? share < 1 ? (int)(share * (TWI_COLOURS - 1) + 0.5) : TWI_COLOURS - 1
                         : 0;
        }
        for (int k = 0; k < 3; k++) {
            uint8_t *out = twi_matrix_row(&planes[k], row / sink->step);
            out[i] = colour < 0 ? NOTHING : sink->colours[colour][k];
        }
        sink->sum[i] = 0;
        sink->count[i] = 0;
    }
}

static tw_status preview_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                              const void *data, int64_t stride)
{
    preview_sink *sink = self;
    if (sink->picture == NULL || first != sink->next || count > sink->shape.rows - first) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "got row %lld; expected row %lld of %lld",
                       (long long)first, (long long)sink->next, (long long)sink->shape.rows);
    }
    for (int64_t r = 0; r < count; r++) {
        const float *row = (const float *)data + r * stride;
        for (int64_t j = 0, square = 0; j < sink->shape.cols; square++) {
            int64_t end = sink->shape.cols - j < sink->step ? sink->shape.cols : j + sink->step;
            for (; j < end; j++) {
                if (!isnan(row[j])) {
                    sink->sum[square] += (double)row[j];
                    sink->count[square]++;
                }
            }
        }
        if ((first + r + 1) % sink->step == 0 || first + r + 1 == sink->shape.rows) {
            paint(sink, first + r);
        }
    }
    sink->next += count;
    return TW_OK;
}

static tw_status preview_end(void *self, tw_context *ctx)
{
    preview_sink *sink = self;
    twi_uncount(&sink->writing);
    tw_status status = tw_image_write(ctx, sink->picture, sink->path, NULL);
    if (status == TW_OK && sink->step > 1) {
        twi_log(ctx, "%s: each point is the mean of %lld x %lld elements", sink->path,
                (long long)sink->step, (long long)sink->step);
    }
    forget_run(sink);
    return status;
}

static void preview_abort(void *self, tw_context *ctx)
{
    (void)ctx;
    forget_run(self);
}

static void preview_destroy(void *self)
{
    preview_sink *sink = self;
    forget_run(sink);
    twi_free(sink->path);
    twi_free(sink);
}

tw_status tw_sink_to_preview(tw_context *ctx, tw_sink *out, const char *path, double maximum)
{
    tw_status status = twi_sink_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out});
    }
    if (status != TW_OK) {
        return status;
    }
    preview_sink *self = NULL;
    char *kept = NULL;
    if (path == NULL || path[0] == '\0' || !(maximum > 0) || !isfinite(maximum)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a preview needs a name and a maximum above 0");
    }
    status = twi_sink_named(ctx, &self, sizeof *self, &kept, path);
    if (status != TW_OK) {
        return status;
    }
    self->path = kept;
    self->maximum = maximum;
    twi_colour_map(self->colours);
    twi_sink_give(out, (tw_sink){sizeof(tw_sink), self, preview_begin, preview_rows, preview_end,
                                 preview_abort, preview_destroy});
    return TW_OK;
}
