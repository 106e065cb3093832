/*
 * The sink into the caller's matrix, and tw_feed, which pushes a matrix through sinks as a
 * computation would. Rows are copied by all threads when a block is large enough to share.
 */
#include "io/sink/matrix.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/source.h"
#include "base/threads.h"

#include <string.h>

#define PARALLEL_BYTES ((uint64_t)1 << 20) /* below this, one thread copies faster than a team */
#define FEED_BYTES ((uint64_t)8 << 20)     /* of rows in one block of tw_feed, */
#define FEED_SHARE 4                       /* or this part of the memory that is left */

typedef struct matrix_sink {
    tw_matrix *target;
    int64_t next; /* row expected */
} matrix_sink;

static tw_status matrix_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    matrix_sink *sink = self;
    const tw_matrix *target = sink->target;
    tw_status status = twi_matrix_check(ctx, target, "the matrix for the result");
    if (status != TW_OK) {
        return status;
    }
    if (shape->rows != target->rows || shape->cols != target->cols || shape->type != target->type) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "the result is %lld x %lld of %s and the matrix for it %lld x %lld of %s",
                       (long long)shape->rows, (long long)shape->cols, tw_type_name(shape->type),
                       (long long)target->rows, (long long)target->cols,
                       tw_type_name(target->type));
    }
    sink->next = 0;
    return TW_OK;
}

static tw_status matrix_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                             const void *data, int64_t stride)
{
    matrix_sink *sink = self;
    const tw_matrix *target = sink->target;
    const size_t size = tw_type_size(target->type);
    const size_t bytes = (size_t)target->cols * size;
    if (first != sink->next || count < 0 || count > target->rows - first) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "got rows %lld to %lld; expected row %lld of %lld",
                       (long long)first, (long long)(first + count), (long long)sink->next,
                       (long long)target->rows);
    }
    if (bytes > 0 && data != twi_matrix_row(target, first)) {
        const size_t step = (size_t)stride * size;
        if ((uint64_t)count * bytes < PARALLEL_BYTES) { /* a region of one thread costs as much */
            for (int64_t i = 0; i < count; i++) {
                memcpy(twi_matrix_row(target, first + i), (const char *)data + (size_t)i * step,
                       bytes);
            }
        } else {
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(static)
            for (int64_t i = 0; i < count; i++) {
                memcpy(twi_matrix_row(target, first + i), (const char *)data + (size_t)i * step,
                       bytes);
            }
        }
    }
    sink->next += count;
    return TW_OK;
}

static tw_status matrix_end(void *self, tw_context *ctx)
{
    matrix_sink *sink = self;
    if (sink->next != sink->target->rows) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "the result ended after row %lld of %lld",
                       (long long)sink->next, (long long)sink->target->rows);
    }
    return TW_OK;
}

/* The rows already copied cannot be taken back; the caller knows from the status. */
static void matrix_abort(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
}

const tw_matrix *twi_sink_matrix(const tw_sink *sink)
{
    return sink->rows == matrix_rows ? ((const matrix_sink *)sink->self)->target : NULL;
}

tw_status tw_sink_to_matrix(tw_context *ctx, tw_sink *out, tw_matrix *target)
{
    tw_status status = twi_sink_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out}, {"target", target});
    }
    if (status != TW_OK) {
        return status;
    }
    matrix_sink *self = NULL;
    status = twi_matrix_check(ctx, target, "the matrix for the result");
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &self, 1, sizeof *self, "a sink");
    }
    if (status == TW_OK) {
        self->target = target;
        twi_sink_give(out, (tw_sink){sizeof(tw_sink), self, matrix_begin, matrix_rows, matrix_end,
                                     matrix_abort, twi_free});
    }
    return status;
}

void tw_sink_destroy(tw_sink *sink)
{
    if (sink == NULL || TWI_CHECK_THROUGH(NULL, tw_sink, sink, destroy) != TW_OK) {
        return; /* nothing was put into it */
    }
    if (sink->destroy != NULL) {
        sink->destroy(sink->self);
    }
    twi_sink_give(sink, (tw_sink)TW_SINK_INIT);
}

/* ---------------------------------------------------------------------------------- tw_feed */

/* Rows passed on together: those of so many bytes. */
static int64_t feed_block(const tw_shape *shape, uint64_t bytes)
{
    const uint64_t row_bytes = (uint64_t)shape->cols * tw_type_size(shape->type);
    /* Rows without columns take no room: all of them at once. */
    const int64_t block = row_bytes > 0 ? (int64_t)(bytes / row_bytes) : shape->rows;
    return block < 1 ? 1 : block < shape->rows ? block : shape->rows;
}

static tw_status take_rows(tw_context *ctx, void **out, const tw_shape *shape, int64_t rows)
{
    return twi_alloc(ctx, out, (uint64_t)rows, (uint64_t)shape->cols * tw_type_size(shape->type),
                     "rows on their way from a file");
}

/* Rows of a matrix, or with NULL of a source, through `buffer`. */
static tw_status feed_rows(tw_context *ctx, twi_sinks *out, const tw_matrix *matrix,
                           const tw_source *source, void *buffer, int64_t block)
{
    const tw_shape *shape = &out->shape;
    for (int64_t first = 0; first < shape->rows; first += block) {
        int64_t rows = shape->rows - first < block ? shape->rows - first : block;
        const void *data = matrix != NULL ? twi_matrix_row(matrix, first) : buffer;
        tw_status status = twi_check_cancel(ctx);
        if (status == TW_OK && source != NULL) {
            status = source->rows(source->self, ctx, first, rows, buffer, shape->cols);
        }
        if (status == TW_OK) {
            status = twi_sinks_rows(ctx, out, first, rows, data,
                                    matrix != NULL ? matrix->stride : shape->cols);
        }
        if (status != TW_OK) {
            return status;
        }
        twi_progress(ctx, "passing rows", (double)(first + rows), (double)shape->rows, "rows");
    }
    return TW_OK;
}

tw_status tw_feed(tw_context *ctx, const tw_matrix *matrix, tw_sink *sinks, int32_t sink_count)
{
    tw_status missing = TWI_REQUIRE(ctx, {"matrix", matrix});
    if (missing != TW_OK) {
        return missing;
    }
    twi_sinks out = {0};
    tw_status status = twi_matrix_check(ctx, matrix, "the matrix to feed");
    if (status == TW_OK) {
        status = twi_sinks_check(ctx, sinks, sink_count);
    }
    if (status != TW_OK) {
        return status;
    }
    const tw_shape shape = {matrix->rows, matrix->cols, matrix->type};
    status = twi_sinks_begin(ctx, &out, sinks, sink_count, &shape);
    if (status == TW_OK) {
        status = feed_rows(ctx, &out, matrix, NULL, NULL, feed_block(&shape, FEED_BYTES));
    }
    return twi_sinks_finish(ctx, &out, status);
}

tw_status tw_feed_source(tw_context *ctx, const tw_source *source, tw_sink *sinks,
                         int32_t sink_count)
{
    static double nowhere;
    tw_status status = TWI_REQUIRE(ctx, {"source", source});
    if (status == TW_OK) {
        status = twi_sources_check(ctx, source, 1);
    }
    const tw_source ours = status == TW_OK ? twi_source_at(source, 0) : (tw_source)TW_SOURCE_INIT;
    const tw_shape *shape = &ours.shape;
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"source->rows", ours.rows == NULL ? NULL : source});
    }
    if (status == TW_OK) {
        const tw_matrix rows = {&nowhere, shape->rows, shape->cols, shape->cols, shape->type};
        status = twi_matrix_check(ctx, &rows, "the source");
    }
    if (status == TW_OK) {
        status = twi_sinks_check(ctx, sinks, sink_count);
    }
    if (status != TW_OK) {
        return status;
    }
    twi_sinks out = {0};
    void *buffer = NULL;
    int64_t block = 1;
    status = take_rows(ctx, &buffer, shape, block); /* in whatever a sink names */
    if (status == TW_OK) {
        status = twi_sinks_begin(ctx, &out, sinks, sink_count, shape);
    }
    if (status == TW_OK) {
        twi_free(buffer);
        const uint64_t part = twi_memory_left(ctx) / FEED_SHARE;
        block = feed_block(shape, part < FEED_BYTES ? part : FEED_BYTES);
        status = take_rows(ctx, &buffer, shape, block);
    }
    if (status == TW_OK) {
        status = feed_rows(ctx, &out, NULL, &ours, buffer, block);
    }
    status = twi_sinks_finish(ctx, &out, status);
    twi_free(buffer);
    return status;
}
