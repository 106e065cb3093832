/* Images: see image.h. */
#include "image/image.h"

#include "base/memory.h"

tw_status tw_image_create(tw_context *ctx, tw_image **out)
{
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out});
    if (missing != TW_OK) {
        return missing;
    }
    return twi_alloc_zeroed(ctx, out, 1, sizeof **out, "an image");
}

/* Bytes of a plane, if it can be. */
static tw_status count_bytes(tw_context *ctx, int64_t rows, int64_t cols, tw_type type,
                             uint64_t *out)
{
    const uint64_t size = tw_type_size(type);
    if (rows < 0 || cols < 0 || size == 0 || type == TW_I64) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "a plane of %lld x %lld elements of %s is not possible", (long long)cols,
                       (long long)rows, tw_type_name(type));
    }
    if (!twi_mul((uint64_t)rows, (uint64_t)cols, out) || *out > (uint64_t)INT64_MAX / size) {
        return tw_fail(ctx, TW_ERR_MEMORY, "a plane of %lld x %lld elements cannot be addressed",
                       (long long)cols, (long long)rows);
    }
    *out *= size;
    return TW_OK;
}

static tw_status add_plane(tw_context *ctx, tw_image *image, const tw_matrix *plane, bool view)
{
    const uint64_t count = (uint64_t)image->count;
    tw_status status = TW_OK;
    if ((count & (count - 1)) == 0) { /* full: twice the room */
        const uint64_t room = count > 0 ? 2 * count : 1;
        status = twi_grow(ctx, &image->planes, count * sizeof *image->planes, room,
                          sizeof *image->planes, "the planes");
        if (status == TW_OK) {
            status = twi_grow(ctx, &image->views, count * sizeof *image->views, room,
                              sizeof *image->views, "the planes");
        }
    }
    if (status == TW_OK) {
        image->views[image->count] = view;
        image->planes[image->count++] = *plane;
    }
    return status;
}

tw_status tw_image_add(tw_context *ctx, tw_image *image, int64_t rows, int64_t cols, tw_type type)
{
    tw_status missing = TWI_REQUIRE(ctx, {"image", image});
    if (missing != TW_OK) {
        return missing;
    }
    uint64_t bytes = 0;
    void *data = NULL;
    tw_status status = count_bytes(ctx, rows, cols, type, &bytes);
    if (status == TW_OK) {
        status = twi_memory_check(ctx, bytes, "a plane");
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &data, bytes, 1, "a plane");
    }
    if (status == TW_OK) {
        const tw_matrix plane = {data, rows, cols, cols, type};
        status = add_plane(ctx, image, &plane, false);
    }
    if (status != TW_OK) {
        twi_free(data);
    }
    return status;
}

tw_status twi_image_add_view(tw_context *ctx, tw_image *image, int64_t rows, int64_t cols,
                             tw_type type, const void *data)
{
    uint64_t bytes = 0;
    const tw_matrix plane = {(void *)data, rows, cols, cols, type};
    tw_status status = count_bytes(ctx, rows, cols, type, &bytes);
    return status == TW_OK ? add_plane(ctx, image, &plane, true) : status;
}

void twi_image_keep(tw_image *image, void *kept, void (*release)(void *kept))
{
    image->kept = kept;
    image->release = release;
}

void tw_image_destroy(tw_image *image)
{
    if (image == NULL) {
        return;
    }
    for (int64_t i = image->count; i-- > 0;) {
        if (!image->views[i]) {
            twi_free(image->planes[i].data);
        }
    }
    if (image->release != NULL) {
        image->release(image->kept);
    }
    tw_image_tags_destroy(image->tags);
    twi_free(image->views);
    twi_free(image->planes);
    twi_free(image);
}

int64_t tw_image_planes(const tw_image *image)
{
    return image != NULL ? image->count : 0;
}

const tw_matrix *tw_image_plane(const tw_image *image, int64_t plane)
{
    return image != NULL && plane >= 0 && plane < image->count ? &image->planes[plane] : NULL;
}

const tw_image_tags *tw_image_tags_of(const tw_image *image)
{
    return image != NULL ? image->tags : NULL;
}
