/*
 * The sink into a file: raw, npy or csv, through io/output.h, so the file appears whole at end or
 * not at all.
 *
 * raw and npy go out as they come, in one write a block when the rows are adjacent in memory, else
 * packed in a buffer first. Lines of csv differ in length, so a block is cut into pieces of whole
 * rows; threads format each piece into its own part of a buffer sized for the worst case, and the
 * pieces are written in order.
 *
 * What the rows cannot do without, room for one line of csv, is taken when the file is opened, so
 * that a lack of memory shows before the work. The rest of the buffer only makes it faster: it is
 * taken when the first rows come, if there is memory left.
 */
#include "io/matrix/format.h"
#include "io/output.h"
#include "io/sink/named.h"

#include "base/memory.h"
#include "base/sink.h"
#include "base/threads.h"
#include "base/type.h"

#include <string.h>

#define BUFFER ((uint64_t)16 << 20) /* bytes to pack or format into, unless one row needs more */
#define PIECES 64                   /* parts of a csv buffer: enough for every thread to be busy */

typedef struct file_sink {
    char *path;
    twi_matrix_format format;
    tw_shape shape;
    int64_t next;  /* row expected */
    bool expected; /* the file is open and `shape` what was announced; begin has not come yet */
    twi_output *output;
    char *buffer;
    int64_t buffer_rows; /* that fit into it in the worst case */
    bool buffer_is_full; /* no larger one is to be had, or of any use */
} file_sink;

static uint64_t row_bytes(const file_sink *sink)
{
    return (uint64_t)sink->shape.cols * tw_type_size(sink->shape.type);
}

/* Bytes of a line of csv in the worst case. */
static uint64_t line_bytes(const tw_shape *shape)
{
    uint64_t most = (uint64_t)shape->cols * twi_csv_width(shape->type);
    return most > 0 ? most : 1;
}

/* As many rows of `bytes` each as are worth a buffer. */
static uint64_t rows_worth_it(const tw_shape *shape, uint64_t bytes)
{
    const uint64_t rows = BUFFER / bytes > 0 ? BUFFER / bytes : 1;
    return rows < (uint64_t)shape->rows ? rows : (uint64_t)shape->rows;
}

/* A buffer for them, if there is memory. */
static void enlarge_buffer(tw_context *ctx, file_sink *sink, uint64_t bytes)
{
    bytes = bytes > 0 ? bytes : 1;
    const uint64_t rows = rows_worth_it(&sink->shape, bytes);
    if (sink->buffer_is_full) {
        return;
    }
    sink->buffer_is_full = true;
    char *larger = (int64_t)rows > sink->buffer_rows ? twi_try_alloc(ctx, rows, bytes) : NULL;
    if (larger != NULL) {
        twi_free(sink->buffer);
        sink->buffer = larger;
        sink->buffer_rows = (int64_t)rows;
    }
}

static tw_status write_elements(tw_context *ctx, file_sink *sink, int64_t count, const char *data,
                                int64_t stride)
{
    const uint64_t bytes = row_bytes(sink);
    const uint64_t step = (uint64_t)stride * tw_type_size(sink->shape.type);
    if (stride == sink->shape.cols || count == 1) {
        return twi_output_write(ctx, sink->output, data, (uint64_t)count * bytes);
    }
    tw_status status = TW_OK;
    enlarge_buffer(ctx, sink, bytes);
    if (sink->buffer == NULL) {
        for (int64_t i = 0; i < count && status == TW_OK; i++) {
            status = twi_output_write(ctx, sink->output, data + (uint64_t)i * step, bytes);
        }
        return status;
    }
    for (int64_t done = 0; done < count && status == TW_OK; done += sink->buffer_rows) {
        int64_t rows = count - done < sink->buffer_rows ? count - done : sink->buffer_rows;
        for (int64_t i = 0; i < rows; i++) {
            memcpy(sink->buffer + (uint64_t)i * bytes, data + (uint64_t)(done + i) * step, bytes);
        }
        status = twi_output_write(ctx, sink->output, sink->buffer, (uint64_t)rows * bytes);
    }
    return status;
}

/* Format `rows` rows on all threads and write them in order. */
static tw_status write_lines(tw_context *ctx, file_sink *sink, int64_t rows, const char *data,
                             uint64_t step, uint64_t width)
{
    const tw_shape shape = sink->shape;
    uint64_t lengths[PIECES];
    int64_t pieces = rows < PIECES ? rows : PIECES;
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(dynamic, 1) if (pieces > 1)
    for (int64_t piece = 0; piece < pieces; piece++) {
        int64_t first = piece * rows / pieces;
        int64_t end = (piece + 1) * rows / pieces;
        char *at = sink->buffer + (uint64_t)first * width;
        for (int64_t i = first; i < end && !twi_is_cancelled(ctx); i++) {
            at += twi_csv_format_row(at, data + (uint64_t)i * step, shape.cols, shape.type);
        }
        lengths[piece] = (uint64_t)(at - (sink->buffer + (uint64_t)first * width));
    }
    tw_status status = twi_check_cancel(ctx);
    for (int64_t piece = 0; piece < pieces && status == TW_OK; piece++) {
        const char *from = sink->buffer + (uint64_t)(piece * rows / pieces) * width;
        status = twi_output_write(ctx, sink->output, from, lengths[piece]);
    }
    return status;
}

static tw_status write_csv(tw_context *ctx, file_sink *sink, int64_t count, const char *data,
                           int64_t stride)
{
    const uint64_t step = (uint64_t)stride * tw_type_size(sink->shape.type);
    const uint64_t width = line_bytes(&sink->shape);
    tw_status status = TW_OK;
    enlarge_buffer(ctx, sink, width);
    for (int64_t done = 0; done < count && status == TW_OK; done += sink->buffer_rows) {
        int64_t rows = count - done < sink->buffer_rows ? count - done : sink->buffer_rows;
        status = write_lines(ctx, sink, rows, data + (uint64_t)done * step, step, width);
    }
    return status;
}

static void forget_run(file_sink *sink)
{
    sink->expected = false;
    twi_output_discard(sink->output);
    sink->output = NULL;
    twi_free(sink->buffer);
    sink->buffer = NULL;
    sink->buffer_rows = 0;
    sink->buffer_is_full = false;
}

/* Open the file for a result of that shape. */
static tw_status open_output(file_sink *sink, tw_context *ctx, const tw_shape *shape)
{
    uint64_t bytes;
    char header[TWI_NPY_HEADER_MOST];
    size_t header_bytes = 0;
    const bool known = twi_type_is_element(shape->type) || shape->type == TW_F16;
    if (shape->rows < 0 || shape->cols < 0 || !known ||
        !twi_mul((uint64_t)shape->rows, (uint64_t)shape->cols, &bytes) ||
        !twi_mul(bytes, 2 * twi_csv_width(shape->type), &bytes) || bytes > (uint64_t)INT64_MAX) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a result of %lld x %lld of %s cannot be written",
                       (long long)shape->rows, (long long)shape->cols, tw_type_name(shape->type));
    }
    if (sink->format == TWI_MATRIX_CSV && shape->type == TW_F16) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "csv has no f16: write f32, which loses nothing");
    }
    forget_run(sink);
    sink->shape = *shape;
    sink->next = 0;
    if (sink->format == TWI_MATRIX_NPY) {
        header_bytes = twi_npy_header(header, shape);
    }
    bytes = header_bytes + (uint64_t)shape->rows * row_bytes(sink);
    tw_status status = TW_OK;
    if (sink->format == TWI_MATRIX_CSV) {
        bytes = 0; /* unknown */
        status = twi_alloc(ctx, &sink->buffer, 1, line_bytes(&sink->shape), "a line to be written");
        sink->buffer_rows = 1;
    }
    if (status == TW_OK) {
        status = twi_output_open(ctx, &sink->output, sink->path, bytes);
    }
    if (status == TW_OK && header_bytes > 0) {
        status = twi_output_write(ctx, sink->output, header, header_bytes);
    }
    if (status != TW_OK) {
        forget_run(sink);
    }
    return status;
}

static tw_status file_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    file_sink *sink = self;
    bool open = sink->expected && sink->shape.rows == shape->rows &&
                sink->shape.cols == shape->cols && sink->shape.type == shape->type;
    sink->expected = false;
    return open ? TW_OK : open_output(sink, ctx, shape);
}

static tw_status file_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    file_sink *sink = self;
    if (sink->output == NULL || first != sink->next || count < 0 ||
        count > sink->shape.rows - first) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "got rows %lld to %lld; expected row %lld of %lld",
                       (long long)first, (long long)(first + count), (long long)sink->next,
                       (long long)sink->shape.rows);
    }
    sink->next += count;
    if (sink->shape.cols == 0) { /* in text, too: there may be more rows than any file has lines */
        return TW_OK;
    }
    return sink->format == TWI_MATRIX_CSV ? write_csv(ctx, sink, count, data, stride)
                                          : write_elements(ctx, sink, count, data, stride);
}

static tw_status file_end(void *self, tw_context *ctx)
{
    file_sink *sink = self;
    if (sink->output == NULL || sink->next != sink->shape.rows) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "the result ended after row %lld of %lld",
                       (long long)sink->next, (long long)sink->shape.rows);
    }
    twi_output *output = sink->output;
    sink->output = NULL;
    tw_status status = twi_output_commit(ctx, output);
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
    file_sink *sink = self;
    forget_run(sink);
    twi_free(sink->path);
    twi_free(sink);
}

void tw_sink_expect(tw_context *ctx, tw_sink *sink, const tw_shape *shape)
{
    if (ctx == NULL || sink == NULL || shape == NULL ||
        TWI_CHECK_THROUGH(NULL, tw_sink, sink, destroy) != TW_OK || sink->begin != file_begin) {
        return;
    }
    file_sink *self = sink->self;
    self->expected = open_output(self, ctx, shape) == TW_OK; /* else begin tries again */
}

uint64_t tw_sink_memory(const tw_sink *sink, const tw_shape *shape)
{
    if (sink == NULL || shape == NULL || shape->rows <= 0 || shape->cols <= 0 ||
        TWI_CHECK_THROUGH(NULL, tw_sink, sink, destroy) != TW_OK || sink->begin != file_begin) {
        return 0;
    }
    if (((const file_sink *)sink->self)->format != TWI_MATRIX_CSV) {
        uint64_t bytes;
        return twi_mul((uint64_t)shape->rows, (uint64_t)shape->cols, &bytes) &&
                       twi_mul(bytes, tw_type_size(shape->type), &bytes)
                   ? twi_output_memory(bytes)
                   : 0; /* no disk has room for it */
    }
    const uint64_t line = line_bytes(shape);
    return (rows_worth_it(shape, line) + 1) * line; /* the one line stays until the rest is there */
}

tw_status tw_sink_to_file(tw_context *ctx, tw_sink *out, const char *path, const char *format)
{
    tw_status status = twi_sink_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out});
    }
    if (status != TW_OK) {
        return status;
    }
    file_sink *self = NULL;
    char *kept = NULL;
    twi_matrix_format found = TWI_MATRIX_RAW;
    if (path == NULL || path[0] == '\0') {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "an output file needs a name; '-' is standard output");
    }
    status = twi_matrix_writer_find(ctx, &found, format, path);
    if (status == TW_OK) {
        status = twi_sink_named(ctx, &self, sizeof *self, &kept, path);
    }
    if (status != TW_OK) {
        return status;
    }
    self->path = kept;
    self->format = found;
    twi_sink_give(out, (tw_sink){sizeof(tw_sink), self, file_begin, file_rows, file_end, file_abort,
                                 file_destroy});
    return TW_OK;
}
