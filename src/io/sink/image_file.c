/*
 * The sink into an image file: pgm, png, tiff and records take their rows as they are made, so the
 * result need not be in memory as a whole. A TIFF may have several planes, a run for each.
 */
#include "base/memory.h"
#include "io/image/format.h"

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
    void *state; /* of the format */
} image_file_sink;

static void forget_run(image_file_sink *sink)
{
    sink->format->writer->close(sink->state);
    twi_output_discard(sink->output);
    sink->state = NULL;
    sink->output = NULL;
    sink->plane = 0;
}

static tw_status file_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    image_file_sink *sink = self;
    static char nowhere;
    bool view = true;
    tw_matrix plane = {&nowhere, shape->rows, shape->cols, shape->cols, shape->type};
    const tw_image image = {.planes = &plane, .views = &view, .count = 1};
    if (sink->plane == 0) {
        forget_run(sink);
    }
    sink->shape = *shape;
    sink->next = 0;
    tw_status status = sink->format->accepts(ctx, &image);
    if (status == TW_OK && sink->plane > 0) {
        status = sink->format->writer->next(ctx, sink->state, sink->output, shape);
    } else if (status == TW_OK) {
        status = twi_output_open(ctx, &sink->output, sink->path, 0);
        if (status == TW_OK) {
            status =
                sink->format->writer->begin(ctx, &sink->state, sink->output, &sink->opts, shape);
        }
    }
    if (status != TW_OK) {
        forget_run(sink);
    }
    return status;
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
        status = sink->format->writer->row(ctx, sink->state, sink->output,
                                           (const char *)data + (size_t)i * step);
    }
    sink->next += count;
    return status;
}

static tw_status file_end(void *self, tw_context *ctx)
{
    image_file_sink *sink = self;
    if (++sink->plane < sink->opts.planes) {
        return TW_OK;
    }
    tw_status status = sink->format->writer->end(ctx, sink->state, sink->output);
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
    if (format->writer == NULL || (opts->planes > 1 && format->writer->next == NULL)) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED, "%s files%s are written from a whole image",
                       format->name, format->writer != NULL ? " of several planes" : "");
    }
    return TW_OK;
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
    const twi_image_format *found = NULL;
    if (path == NULL || path[0] == '\0') {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "an output file needs a name; '-' is standard output");
    }
    status = twi_image_writer_find(ctx, &found, opts.format, path);
    if (status == TW_OK) {
        status = check_options(ctx, &opts, found);
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &self, 1, sizeof *self, "a sink");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &self->path, strlen(path) + 1, 1, "a sink");
    }
    if (status != TW_OK) {
        twi_free(self);
        return status;
    }
    memcpy(self->path, path, strlen(path) + 1);
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
