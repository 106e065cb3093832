/* Image formats: one file per format behind it. */
#ifndef TWI_IO_IMAGE_FORMAT_H
#define TWI_IO_IMAGE_FORMAT_H

#include "image/image.h"
#include "io/input.h"
#include "io/output.h"

typedef struct twi_image_format {
    const char *name;
    const char *extensions;                     /* by blanks */
    bool (*recognised)(const twi_input *input); /* NULL: never by content */
    tw_status (*read)(tw_context *ctx, tw_image *image, const twi_input *input);
    /* TW_ERR_ARGUMENT if it cannot hold these planes; called before a file is opened. */
    tw_status (*accepts)(tw_context *ctx, const tw_image *image);
    tw_status (*write)(tw_context *ctx, const tw_image *image, twi_output *output);
} twi_image_format;

extern const twi_image_format twi_image_npy;
extern const twi_image_format twi_image_pnm;
extern const twi_image_format twi_image_pfm;
extern const twi_image_format twi_image_png;
extern const twi_image_format twi_image_records;

/* TW_ERR_ARGUMENT if the format, or with NULL the one of the path's extension, cannot hold it. */
TW_CHECKED tw_status twi_image_accepts(tw_context *ctx, const tw_image *image, const char *path,
                                       const char *format);

/* The letters after the last point of the file's name. */
const char *twi_extension(const char *path);

#endif
