/* Writing TIFF: see tiff_write.c. */
#ifndef TWI_IO_IMAGE_TIFF_WRITE_H
#define TWI_IO_IMAGE_TIFF_WRITE_H

#include "io/image/format.h"

/* As the members of twi_image_format. */
TW_CHECKED tw_status twi_tiff_accepts(tw_context *ctx, const tw_image *image);
TW_CHECKED tw_status twi_tiff_write(tw_context *ctx, const tw_image *image, twi_output *output);
extern const twi_row_writer twi_tiff_writer;

#endif
