/* Images: see image.h. */
#include "image/image.h"

tw_status tw_image_create(tw_context *ctx, tw_image **out)
{
    *out = NULL;
    return twi_alloc_zeroed(ctx, out, 1, sizeof **out, "an image");
}

tw_status tw_image_add(tw_context *ctx, tw_image *image, int64_t rows, int64_t cols, tw_type type)
{
    const uint64_t count = (uint64_t)image->count;
    const uint64_t size = tw_type_size(type);
    uint64_t elements;
    if (rows < 0 || cols < 0 || size == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a plane of %lld x %lld elements of %s cannot be",
                       (long long)cols, (long long)rows, tw_type_name(type));
    }
    if (!twi_mul((uint64_t)rows, (uint64_t)cols, &elements) ||
        elements > (uint64_t)INT64_MAX / size) {
        return tw_fail(ctx, TW_ERR_MEMORY, "a plane of %lld x %lld elements cannot be addressed",
                       (long long)cols, (long long)rows);
    }
    tw_status status = TW_OK;
    if ((count & (count - 1)) == 0) { /* full: twice the room */
        status = twi_grow(ctx, &image->planes, count * sizeof *image->planes,
                          count > 0 ? 2 * count : 1, sizeof *image->planes, "the planes");
    }
    void *data = NULL;
    if (status == TW_OK) {
        status = twi_memory_check(ctx, elements * size, "a plane");
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &data, elements, size, "a plane");
    }
    if (status == TW_OK) {
        image->planes[image->count++] = (tw_matrix){data, rows, cols, cols, type};
    }
    return status;
}

void tw_image_destroy(tw_image *image)
{
    if (image == NULL) {
        return;
    }
    for (int64_t i = image->count; i-- > 0;) {
        twi_free(image->planes[i].data);
    }
    twi_free(image->planes);
    twi_free(image);
}

int64_t tw_image_planes(const tw_image *image)
{
    return image->count;
}

const tw_matrix *tw_image_plane(const tw_image *image, int64_t plane)
{
    return plane >= 0 && plane < image->count ? &image->planes[plane] : NULL;
}
