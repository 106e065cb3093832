/* Images whose decoded rows hold all channels of an element side by side, taken apart into planes.
 */
#ifndef TWI_IO_IMAGE_WOVEN_H
#define TWI_IO_IMAGE_WOVEN_H

#include "io/image/format.h"

/* A decoder of such rows. */
typedef struct twi_woven {
    int channels;
    tw_shape shape; /* of u8 or u16 */
    void *state;
    /* The next row, valid until the one after it. */
    tw_status (*next)(tw_context *ctx, void *state, const unsigned char **row);
    tw_status (*finish)(void *state); /* looks at what follows the last row; NULL: nothing */
    void (*close)(void *state);       /* accepts NULL */
} twi_woven;

/* All rows, into the planes of an image that has them. */
TW_CHECKED tw_status twi_woven_read(tw_context *ctx, const twi_woven *from, const tw_image *image);

/* The rows of one plane. The decoder is closed with them, or at once if that fails. */
TW_CHECKED tw_status twi_woven_rows(tw_context *ctx, twi_rows *out, const twi_woven *from,
                                    const char *name, int64_t plane);

#endif
