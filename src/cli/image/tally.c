/* See tally.h. */
#include "cli/image/tally.h"

#include <math.h>

static tw_status seen_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)ctx;
    cli_tally *seen = self;
    seen->cols = shape->cols;
    seen->type = shape->type;
    if (seen->mask != NULL && (seen->mask->rows != shape->rows || seen->mask->cols != shape->cols ||
                               seen->mask->type != TW_U8)) {
        seen->mask = NULL; /* whoever computes with it will refuse it */
    }
    return TW_OK;
}

static void see(cli_tally *seen, double value)
{
    if (isnan(value) || (seen->has_no_data && value == seen->no_data)) {
        seen->empty++;
        return;
    }
    seen->least = seen->count == 0 || value < seen->least ? value : seen->least;
    seen->most = seen->count == 0 || value > seen->most ? value : seen->most;
    seen->sum += value;
    seen->count++;
}

#define SEE_ROW(TYPE)                                  \
    for (int64_t j = 0; j < seen->cols; j++) {         \
        if (mask == NULL || mask[j] != 0) {            \
            see(seen, (double)((const TYPE *)row)[j]); \
        } else {                                       \
            seen->empty++;                             \
        }                                              \
    }                                                  \
    break

static tw_status seen_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    (void)ctx;
    cli_tally *seen = self;
    for (int64_t i = 0; i < count && seen->cols > 0; i++) {
        const char *row =
            (const char *)data + (size_t)i * (size_t)stride * tw_type_size(seen->type);
        const uint8_t *mask = seen->mask != NULL ? (const uint8_t *)seen->mask->data +
                                                       (first + i) * seen->mask->stride
                                                 : NULL;
        switch (seen->type) {
        case TW_U8:
            SEE_ROW(uint8_t);
        case TW_U16:
            SEE_ROW(uint16_t);
        case TW_I16:
            SEE_ROW(int16_t);
        case TW_I32:
            SEE_ROW(int32_t);
        case TW_F32:
            SEE_ROW(float);
        default:
            SEE_ROW(double);
        }
    }
    return TW_OK;
}

static tw_status seen_end(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
    return TW_OK;
}

static void seen_abort(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
}

void cli_tally_sink(cli_tally *tally, tw_sink *out)
{
    *out = (tw_sink){sizeof(tw_sink), tally, seen_begin, seen_rows, seen_end, seen_abort, NULL};
}

double cli_tally_mean(const cli_tally *tally)
{
    return tally->count > 0 ? tally->sum / (double)tally->count : (double)NAN;
}
