/*
 * The sink that turns rows of f32 into u8, u16 or f16 on their way into another sink, a piece of
 * rows at a time, each row by one thread.
 */
#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

#define PIECE ((uint64_t)1 << 20) /* elements converted at once, unless one row has more */

typedef struct scaled_sink {
    tw_sink inner;
    tw_type type;
    double maximum;
    tw_shape shape;
    void *piece;
    int64_t piece_rows;
} scaled_sink;

/* The nearest half-precision number, ties to the even one: the exponent moves from a bias of 127 to
 * one of 15, and 13 bits of the fraction fall off. */
static uint16_t half_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t size = bits & 0x7FFFFFFF;
    if (size > 0x7F800000) {
        return sign | 0x7E00; /* NaN */
    }
    if (size >= 0x477FF000) {
        return sign | 0x7C00; /* 65520 and more are infinite */
    }
    if (size < 0x38800000) { /* below 2^-14: adding 0.5 leaves multiples of 2^-24 at the end */
        float shifted;
        memcpy(&shifted, &size, sizeof shifted);
        shifted += 0.5f;
        memcpy(&size, &shifted, sizeof size);
        return (uint16_t)(sign | (size - 0x3F000000));
    }
    size += 0x0FFF + (size >> 13 & 1);
    return (uint16_t)(sign | (size - 0x38000000) >> 13);
}

static void convert_row(const scaled_sink *sink, const float *row, void *out)
{
    const double top = sink->type == TW_U8 ? 255 : 65535;
    const double scale = top / sink->maximum;
    for (int64_t j = 0; j < sink->shape.cols; j++) {
        if (sink->type == TW_F16) {
            ((uint16_t *)out)[j] = half_of(row[j]);
            continue;
        }
        double value = (double)row[j] * scale;
        value = value > 0 ? value < top ? rint(value) : top : 0; /* NaN: 0 */
        if (sink->type == TW_U8) {
            ((uint8_t *)out)[j] = (uint8_t)value;
        } else {
            ((uint16_t *)out)[j] = (uint16_t)value;
        }
    }
}

static void drop_piece(scaled_sink *sink)
{
    twi_free(sink->piece);
    sink->piece = NULL;
}

static tw_status scaled_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    scaled_sink *sink = self;
    if (shape->type != TW_F32) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "rows of %s cannot be scaled; expected f32",
                       tw_type_name(shape->type));
    }
    uint64_t cols = shape->cols > 0 ? (uint64_t)shape->cols : 1;
    const uint64_t most = twi_memory_left(ctx) / 8 / tw_type_size(sink->type);
    const uint64_t piece = most < PIECE ? most : PIECE;
    uint64_t rows = piece / cols > 0 ? piece / cols : 1;
    rows = rows < (uint64_t)shape->rows ? rows : (uint64_t)shape->rows;
    sink->shape = *shape;
    sink->shape.type = sink->type;
    sink->piece_rows = (int64_t)rows;
    drop_piece(sink);
    tw_status status = twi_alloc(ctx, &sink->piece, rows * cols, tw_type_size(sink->type),
                                 "the rows to be written");
    if (status == TW_OK) {
        status = sink->inner.begin(sink->inner.self, ctx, &sink->shape);
    }
    if (status != TW_OK) {
        drop_piece(sink);
    }
    return status;
}

static tw_status scaled_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                             const void *data, int64_t stride)
{
    const scaled_sink *sink = self;
    const size_t step = (size_t)sink->shape.cols * tw_type_size(sink->type);
    tw_status status = TW_OK;
    for (int64_t done = 0; done < count && status == TW_OK; done += sink->piece_rows) {
        int64_t rows = count - done < sink->piece_rows ? count - done : sink->piece_rows;
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(static) if (rows > 1)
        for (int64_t i = 0; i < rows; i++) {
            convert_row(sink, (const float *)data + (done + i) * stride,
                        (char *)sink->piece + (size_t)i * step);
        }
        status = sink->inner.rows(sink->inner.self, ctx, first + done, rows, sink->piece,
                                  sink->shape.cols);
    }
    return status;
}

static tw_status scaled_end(void *self, tw_context *ctx)
{
    scaled_sink *sink = self;
    drop_piece(sink);
    return sink->inner.end(sink->inner.self, ctx);
}

static void scaled_abort(void *self, tw_context *ctx)
{
    scaled_sink *sink = self;
    drop_piece(sink);
    sink->inner.abort(sink->inner.self, ctx);
}

static void scaled_destroy(void *self)
{
    drop_piece(self);
    twi_free(self);
}

tw_status tw_sink_scaled(tw_context *ctx, tw_sink *out, tw_sink *inner, tw_type type,
                         double maximum)
{
    tw_status status = twi_sink_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out}, {"inner", inner});
    }
    if (status != TW_OK) {
        return status;
    }
    scaled_sink *self = NULL;
    if (type != TW_U8 && type != TW_U16 && type != TW_F16) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "rows can be scaled to u8, u16 or f16, not to %s",
                       tw_type_name(type));
    }
    if (type != TW_F16 && (!(maximum > 0) || !isfinite(maximum))) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%.9g as the largest value; expected a number above 0",
                       maximum);
    }
    status = twi_sinks_check(ctx, inner, 1);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &self, 1, sizeof *self, "a sink");
    }
    if (status == TW_OK) {
        self->inner = twi_sink_at(inner, 0);
        self->type = type;
        self->maximum = maximum;
        twi_sink_give(out, (tw_sink){sizeof(tw_sink), self, scaled_begin, scaled_rows, scaled_end,
                                     scaled_abort, scaled_destroy});
    }
    return status;
}
