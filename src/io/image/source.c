/*
 * Image files row by row: the source keeps the input open, and fetches rows out of it (layouts) or
 * decodes them one after the other.
 */
#include "base/memory.h"
#include "io/image/format.h"

#include "base/source.h"

#include <string.h>

typedef struct image_source {
    twi_input input;
    char *path;
    twi_layout layout; /* of a plane that is not decoded */
    twi_rows rows;     /* of one that is */
    int64_t next;      /* row that comes next */
} image_source;

static void close_source(void *self)
{
    image_source *source = self;
    if (source == NULL) {
        return;
    }
    if (source->rows.close != NULL) {
        source->rows.close(source->rows.state);
    }
    twi_input_close(&source->input);
    twi_free(source->path);
    twi_free(source);
}

static tw_status copy_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                           int64_t stride)
{
    const image_source *source = self;
    return twi_layout_rows(ctx, &source->input, &source->layout, first, count, data, stride);
}

static tw_status decode_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                             int64_t stride)
{
    image_source *source = self;
    const size_t step = (size_t)stride * tw_type_size(source->rows.shape.type);
    if (first != source->next) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "%.500s: row %lld was requested; expected row %lld",
                       source->input.name, (long long)first, (long long)source->next);
    }
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        status = source->rows.next(ctx, source->rows.state, (char *)data + (size_t)i * step);
        source->next++;
        if (status == TW_OK && i % 64 == 0) {
            status = twi_check_cancel(ctx);
        }
    }
    return status;
}

static tw_status open_plane(tw_context *ctx, image_source *source, const twi_image_format *format,
                            int64_t plane)
{
    if (format->layout != NULL) {
        return format->layout(ctx, &source->layout, &source->input, plane);
    }
    if (format->rows != NULL) {
        return format->rows(ctx, &source->rows, &source->input, plane);
    }
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "%.500s: %s files are read as a whole",
                   source->input.name, format->name);
}

static tw_status open_source(tw_context *ctx, image_source *source, const char *path,
                             const char *format, int64_t plane)
{
    const twi_image_format *found = NULL;
    tw_status status = twi_alloc(ctx, &source->path, strlen(path) + 1, 1, "the name of a file");
    if (status == TW_OK) {
        memcpy(source->path, path, strlen(path) + 1);
        status = twi_input_open_head(ctx, &source->input, source->path);
    }
    if (status == TW_OK) {
        status = twi_image_format_find(ctx, &found, format, source->path, &source->input);
    }
    return status == TW_OK ? open_plane(ctx, source, found, plane) : status;
}

/* What there is to say about an opened plane. */
static void describe(image_source *source, tw_source *out, tw_image_info *info)
{
    const twi_layout *layout = &source->layout;
    const bool decoded = source->rows.next != NULL;
    const tw_shape as_laid_out = {layout->rows, layout->cols, layout->type};
    const tw_shape shape = decoded ? source->rows.shape : as_laid_out;
    tw_image_info said = TW_IMAGE_INFO_INIT;
    said.planes = decoded ? source->rows.planes : layout->planes;
    said.bytes = source->input.size;
    if (decoded || !twi_layout_in_place(layout)) {
        said.bytes = (uint64_t)shape.rows * (uint64_t)shape.cols * (uint64_t)said.planes *
                     tw_type_size(shape.type);
    }
    TWI_GIVE(tw_image_info, info, &said);
    twi_source_give(out, (tw_source){sizeof(tw_source), source, shape, decoded ? 1 : 0,
                                     decoded ? decode_rows : copy_rows, close_source});
}

tw_status tw_image_source(tw_context *ctx, tw_source *out, const char *path, const char *format,
                          int64_t plane, tw_image_info *info)
{
    tw_status status = twi_source_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out});
    }
    if (status == TW_OK) {
        status = TWI_CHECK_ROOM(ctx, tw_image_info, info);
    }
    if (status != TW_OK) {
        return status;
    }
    image_source *source = NULL;
    if (path == NULL || path[0] == '\0' || strcmp(path, "-") == 0 || plane < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "rows of an image need a file with a name and a plane from 0");
    }
    status = twi_alloc_zeroed(ctx, &source, 1, sizeof *source, "a source");
    if (status == TW_OK) {
        status = open_source(ctx, source, path, format, plane);
    }
    if (status != TW_OK) {
        close_source(source);
        return status;
    }
    describe(source, out, info);
    return TW_OK;
}

void tw_source_destroy(tw_source *source)
{
    if (source == NULL || TWI_CHECK_THROUGH(NULL, tw_source, source, destroy) != TW_OK) {
        return; /* nothing was put into it */
    }
    if (source->destroy != NULL) {
        source->destroy(source->self);
    }
    twi_source_give(source, (tw_source)TW_SOURCE_INIT);
}
