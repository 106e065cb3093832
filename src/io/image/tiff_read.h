/* TIFF: what reading it needs of libtiff (tiff_read.c), or of its absence (tiff_none.c). */
#ifndef TWI_IO_IMAGE_TIFF_READ_H
#define TWI_IO_IMAGE_TIFF_READ_H

#include "io/image/format.h"

TW_CHECKED tw_status twi_tiff_read(tw_context *ctx, tw_image *image, twi_input *input);
TW_CHECKED tw_status twi_tiff_rows(tw_context *ctx, twi_rows *out, const twi_input *input,
                                   int64_t plane);
TW_CHECKED tw_status twi_tiff_some(tw_context *ctx, tw_image *image, const twi_input *input,
                                   int64_t plane, uint64_t bytes);

#endif
