/* See typed.h. */
#include "cli/shared/typed.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

double cli_number_at(const void *row, tw_type type, int64_t at)
{
    switch (type) {
    case TW_U8:
        return ((const uint8_t *)row)[at];
    case TW_U16:
        return ((const uint16_t *)row)[at];
    case TW_I16:
        return ((const int16_t *)row)[at];
    case TW_I32:
        return ((const int32_t *)row)[at];
    case TW_F32:
        return (double)((const float *)row)[at];
    default:
        return ((const double *)row)[at];
    }
}

double cli_distance_at(const void *row, tw_type type, int64_t at)
{
    const double value = cli_number_at(row, type, at);
    return value == tw_apsp_infinity(type) ? (double)INFINITY : value;
}

/* False if the type cannot hold it. f64 is rounded to f32, whole numbers are not. */
static bool put(void *row, tw_type type, int64_t at, double value, bool rounds)
{
    const double none = tw_apsp_infinity(type);
    const bool missing = isinf(value) && value > 0;
    const double low = type == TW_I32 ? (double)INT32_MIN : 0;
    switch (type) {
    case TW_F64:
        ((double *)row)[at] = value;
        return true;
    case TW_F32:
        ((float *)row)[at] = (float)value;
        return isnan(value) || missing || (double)(float)value == value ||
               (rounds && !isinf((float)value));
    default:
        break;
    }
    if (!missing && !(value >= low && value < none && value == floor(value))) {
        return false;
    }
    const double whole = missing ? none : value;
    if (type == TW_U8) {
        ((uint8_t *)row)[at] = (uint8_t)whole;
    } else if (type == TW_U16) {
        ((uint16_t *)row)[at] = (uint16_t)whole;
    } else {
        ((int32_t *)row)[at] = (int32_t)whole;
    }
    return true;
}

void cli_typed_clear(cli_typed *typed)
{
    free(typed->row);
    typed->row = NULL;
}

static tw_status typed_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    cli_typed *t = self;
    const tw_shape other = {shape->rows, shape->cols, t->type};
    if (t->type != TW_U8 && t->type != TW_U16 && t->type != TW_I32 && t->type != TW_F32 &&
        t->type != TW_F64) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--type %s: use u8, u16, i32, f32 or f64",
                       tw_type_name(t->type));
    }
    cli_typed_clear(t);
    t->shape = *shape;
    t->row = malloc((size_t)shape->cols * tw_type_size(t->type) + 1);
    if (t->row == NULL) {
        return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for a row of %lld distances",
                       (long long)shape->cols);
    }
    return t->inner.begin(t->inner.self, ctx, &other);
}

static tw_status typed_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                            const void *data, int64_t stride)
{
    cli_typed *t = self;
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        const char *row =
            (const char *)data + (size_t)i * (size_t)stride * tw_type_size(t->shape.type);
        for (int64_t j = 0; j < t->shape.cols; j++) {
            const double value = cli_distance_at(row, t->shape.type, j);
            if (!put(t->row, t->type, j, value, t->shape.type == TW_F64)) {
                return tw_fail(ctx, TW_ERR_RANGE,
                               "row %lld, column %lld is %.17g, which type %s cannot hold",
                               (long long)(first + i), (long long)j, value, tw_type_name(t->type));
            }
        }
        status = t->inner.rows(t->inner.self, ctx, first + i, 1, t->row, t->shape.cols);
    }
    return status;
}

static tw_status typed_end(void *self, tw_context *ctx)
{
    cli_typed *t = self;
    return t->inner.end(t->inner.self, ctx);
}

static void typed_abort(void *self, tw_context *ctx)
{
    cli_typed *t = self;
    t->inner.abort(t->inner.self, ctx);
}

void cli_typed_sink(cli_typed *typed, tw_sink *out)
{
    *out = (tw_sink){sizeof(tw_sink), typed, typed_begin, typed_rows, typed_end, typed_abort, NULL};
}
