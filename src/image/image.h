/* Images: planes that the image owns. */
#ifndef TWI_IMAGE_IMAGE_H
#define TWI_IMAGE_IMAGE_H

#include "base/context.h"

struct tw_image {
    tw_matrix *planes;
    bool *views; /* of each: its data lie in what is kept, instead of being a block of their own */
    int64_t count;
    void *kept;
    void (*release)(void *kept);
    tw_image_tags *tags; /* of the file it was read from; NULL: it was not */
};

/* One more plane, whose elements lie side by side at `data` already. Whoever owns them must hand
 * that over with twi_image_keep, or destroy the image first. */
TW_CHECKED tw_status twi_image_add_view(tw_context *ctx, tw_image *image, int64_t rows,
                                        int64_t cols, tw_type type, const void *data);
/* The image calls release(kept) when it is destroyed. */
void twi_image_keep(tw_image *image, void *kept, void (*release)(void *kept));

/* The plane added last. */
static inline tw_matrix *twi_image_last(tw_image *image)
{
    return &image->planes[image->count - 1];
}

#endif
