/* The sink into an image: each run adds one plane, of the shape and type of the result. */
#include "image/image.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"

#include <string.h>

typedef struct image_sink {
    tw_image *image;
    int64_t next; /* row expected */
} image_sink;

static tw_status image_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    image_sink *sink = self;
    sink->next = 0;
    return tw_image_add(ctx, sink->image, shape->rows, shape->cols, shape->type);
}

static tw_status image_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                            const void *data, int64_t stride)
{
    image_sink *sink = self;
    const tw_matrix *plane = twi_image_last(sink->image);
    const size_t size = tw_type_size(plane->type);
    if (first != sink->next || count < 0 || count > plane->rows - first) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "got row %lld; expected row %lld of %lld",
                       (long long)first, (long long)sink->next, (long long)plane->rows);
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy(twi_matrix_row(plane, first + i), (const char *)data + (size_t)(i * stride) * size,
               (size_t)plane->cols * size);
    }
    sink->next += count;
    return TW_OK;
}

tw_status tw_sink_to_image(tw_context *ctx, tw_sink *out, tw_image *image)
{
    tw_status status = twi_sink_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out}, {"image", image});
    }
    if (status != TW_OK) {
        return status;
    }
    image_sink *self = NULL;
    status = twi_alloc_zeroed(ctx, &self, 1, sizeof *self, "a sink");
    if (status == TW_OK) {
        self->image = image;
        twi_sink_give(out, (tw_sink){sizeof(tw_sink), self, image_begin, image_rows, twi_sink_ended,
                                     twi_sink_aborted, twi_free});
    }
    return status;
}
