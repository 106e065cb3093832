/*
 * The sink into an image file. Rows go into it as they are made, so the result need not be in
 * memory as a whole. Of several planes, a run for each, those of TIFF, npy and records follow each
 * other in the file; other formats weave them into one row, so all but the last one wait for it
 * (waiting.h), and so do all of a PFM, whose last row comes first.
 */
#include "base/memory.h"
#include "io/image/format.h"
#include "io/sink/named.h"
#include "io/sink/waiting.h"

#include "base/given.h"
#include "base/sink.h"

#include <string.h>

typedef struct image_file_sink {
    char *path;
    const twi_image_format *format;
    tw_image_file_options opts;
    double no_data;
    int64_t plane; /* that is written now */
    tw_shape shape;
    int64_t next; /* row expected */
    twi_output *output;
    void *state;          /* of the format */
    twi_waiting *waiting; /* NULL: nothing waits */
    tw_shape first;       /* of the first plane */
} image_file_sink;

static void forget_run(image_file_sink *sink)
{
    sink->format->writer->close(sink->state);
    twi_output_discard(sink->output);
    twi_waiting_close(sink->waiting);
    sink->state = NULL;
    sink->output = NULL;
    sink->waiting = NULL;
    sink->plane = 0;
}

/* Whether the format can hold them all, if the others are as this one. */
static tw_status check_planes(tw_context *ctx, const image_file_sink *sink, const tw_shape *shape)
{
    static char nowhere;
    tw_matrix *planes = NULL;
    tw_status status = twi_alloc(ctx, &planes, (uint64_t)sink->opts.planes, sizeof *planes,
                                 "the planes of an image");
    if (status != TW_OK) {
        return status;
    }
    for (int64_t k = 0; k < sink->opts.planes; k++) {
        planes[k] = (tw_matrix){&nowhere, shape->rows, shape->cols, shape->cols, shape->type};
    }
    const tw_image image = {.planes = planes, .count = sink->opts.planes};
    status = sink->format->accepts(ctx, &image);
    twi_free(planes);
    return status;
}

/* The first plane: the file is opened, and what comes before the elements is written. */
static tw_status begin_file(image_file_sink *sink, tw_context *ctx, const tw_shape *shape)
{
    const twi_row_writer *writer = sink->format->writer;
    const int64_t held = writer->upwards        ? sink->opts.planes
                         : writer->next == NULL ? sink->opts.planes - 1
                                                : 0;
    tw_status status = check_planes(ctx, sink, shape);
    sink->first = *shape;
    if (status == TW_OK) {
        status = twi_output_open(ctx, &sink->output, sink->path, 0);
    }
    if (status == TW_OK && held > 0) {
        const char *path = twi_output_can_patch(sink->output) ? sink->path : NULL;
        status = twi_waiting_open(ctx, &sink->waiting, path, held, shape);
    }
    return status == TW_OK ? writer->begin(ctx, &sink->state, sink->output, &sink->opts, shape)
                           : status;
}

static tw_status begin_next(image_file_sink *sink, tw_context *ctx, const tw_shape *shape)
{
    const tw_shape *first = &sink->first;
    if (sink->waiting == NULL) {
        return sink->format->writer->next(ctx, sink->state, sink->output, shape);
    }
    return shape->rows == first->rows && shape->cols == first->cols && shape->type == first->type
               ? TW_OK
               : tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the planes of a %s file must have the same size and type",
                         sink->format->name);
}

static tw_status file_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    image_file_sink *sink = self;
    if (sink->plane == 0) {
        forget_run(sink);
    }
    sink->shape = *shape;
    sink->next = 0;
    tw_status status =
        sink->plane == 0 ? begin_file(sink, ctx, shape) : begin_next(sink, ctx, shape);
    if (status != TW_OK) {
        forget_run(sink);
    }
    return status;
}

static tw_status take_row(image_file_sink *sink, tw_context *ctx, int64_t number, const void *row)
{
    const twi_row_writer *writer = sink->format->writer;
    const bool last = sink->plane == sink->opts.planes - 1;
    if (sink->waiting == NULL) {
        return writer->row(ctx, sink->state, sink->output, row);
    }
    if (!last || writer->upwards) {
        return twi_waiting_add(ctx, sink->waiting, row);
    }
    const void *woven = NULL;
    tw_status status = twi_waiting_row(ctx, sink->waiting, number, row, &woven);
    return status == TW_OK ? writer->row(ctx, sink->state, sink->output, woven) : status;
}

static tw_status file_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    image_file_sink *sink = self;
    const size_t step = (size_t)stride * tw_type_size(sink->shape.type);
    if (sink->output == NULL || first != sink->next || count > sink->shape.rows - first) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "got row %lld; expected row %lld of %lld",
                       (long long)first, (long long)sink->next, (long long)sink->shape.rows);
    }
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status = take_row(sink, ctx, first + i, (const char *)data + (size_t)i * step);
    }
    sink->next += count;
    return status;
}

static tw_status write_upwards(image_file_sink *sink, tw_context *ctx)
{
    const void *row = NULL;
    tw_status status = TW_OK;
    for (int64_t i = sink->shape.rows; i-- > 0 && status == TW_OK;) {
        status = twi_waiting_row(ctx, sink->waiting, i, NULL, &row);
        if (status == TW_OK) {
            status = sink->format->writer->row(ctx, sink->state, sink->output, row);
        }
    }
    return status;
}

static tw_status file_end(void *self, tw_context *ctx)
{
    image_file_sink *sink = self;
    if (++sink->plane < sink->opts.planes) {
        return TW_OK;
    }
    tw_status status = sink->format->writer->upwards ? write_upwards(sink, ctx) : TW_OK;
    if (status == TW_OK) {
        status = sink->format->writer->end(ctx, sink->state, sink->output);
    }
    if (status == TW_OK) {
        twi_output *output = sink->output;
        sink->output = NULL;
        status = twi_output_commit(ctx, output);
    }
    forget_run(sink);
    return status;
}

static void file_abort(void *self, tw_context *ctx)
{
    (void)ctx;
    forget_run(self);
}

static void file_destroy(void *self)
{
    image_file_sink *sink = self;
    forget_run(sink);
    twi_free(sink->path);
    twi_free(sink);
}

static tw_status check_options(tw_context *ctx, const tw_image_file_options *opts,
                               const twi_image_format *format)
{
    if (opts->planes < 1 || opts->bands < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%lld planes in pages of %lld; expected 1 or more",
                       (long long)opts->planes, (long long)opts->bands);
    }
    if (opts->reserved != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "tw_image_file_options: reserved is %d; it must be 0",
                       (int)opts->reserved);
    }
    return format->writer != NULL ? TW_OK : format->accepts(ctx, &(tw_image){.count = 0});
}

tw_status tw_sink_to_image_planes(tw_context *ctx, tw_sink *out, const char *path,
                                  const tw_image_file_options *given)
{
    tw_image_file_options opts = TW_IMAGE_FILE_OPTIONS_INIT;
    tw_status status = twi_sink_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out});
    }
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_image_file_options, &opts, given);
    }
    if (status != TW_OK) {
        return status;
    }
    image_file_sink *self = NULL;
    char *kept = NULL;
    const twi_image_format *found = NULL;
    if (path == NULL || path[0] == '\0') {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "an output file needs a name; '-' is standard output");
    }
    status = twi_image_writer_find(ctx, &found, opts.format, path);
    if (status == TW_OK) {
        status = check_options(ctx, &opts, found);
    }
    if (status == TW_OK) {
        status = twi_sink_named(ctx, &self, sizeof *self, &kept, path);
    }
    if (status != TW_OK) {
        return status;
    }
    self->path = kept;
    self->format = found;
    self->opts = opts;
    self->opts.format = NULL; /* may be gone */
    if (opts.no_data != NULL) {
        self->no_data = *opts.no_data;
        self->opts.no_data = &self->no_data;
    }
    twi_sink_give(out, (tw_sink){sizeof(tw_sink), self, file_begin, file_rows, file_end, file_abort,
                                 file_destroy});
    return TW_OK;
}

tw_status tw_sink_to_image_file(tw_context *ctx, tw_sink *out, const char *path, const char *format)
{
    tw_image_file_options opts = TW_IMAGE_FILE_OPTIONS_INIT;
    opts.format = format;
    return tw_sink_to_image_planes(ctx, out, path, &opts);
}
