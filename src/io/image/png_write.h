/* Writing PNG: see png_write.c. */
#ifndef TWI_IO_IMAGE_PNG_WRITE_H
#define TWI_IO_IMAGE_PNG_WRITE_H

#include "io/image/format.h"

#define TWI_PNG_SIDE_MOST 0x7FFFFFFF

/* As the members of twi_image_format; the writer is of one plane. */
TW_CHECKED tw_status twi_png_accepts(tw_context *ctx, const tw_image *image);
TW_CHECKED tw_status twi_png_write(tw_context *ctx, const tw_image *image, twi_output *output);
extern const twi_row_writer twi_png_writer;

#endif
