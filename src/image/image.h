/* Images: planes that the image owns. */
#ifndef TWI_IMAGE_IMAGE_H
#define TWI_IMAGE_IMAGE_H

#include "base/context.h"

struct tw_image {
    tw_matrix *planes; /* the data of each is a block of its own */
    int64_t count;
};

/* The plane added last. */
static inline tw_matrix *twi_image_last(tw_image *image)
{
    return &image->planes[image->count - 1];
}

#endif
