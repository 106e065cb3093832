/* JPEG in a build without libjpeg: recognised, and refused with what to install. */
#include "io/image/format.h"

#include <string.h>

static bool jpeg_recognised(const twi_input *input)
{
    return twi_input_held(input) >= 3 && memcmp(input->bytes, "\xff\xd8\xff", 3) == 0;
}

static tw_status jpeg_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    (void)image;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                   "%.500s: this build cannot read JPEG: install libjpeg (libjpeg-dev on Debian) "
                   "and rebuild, or use PNG, TIFF or npy",
                   input->name);
}

static tw_status jpeg_accepts(tw_context *ctx, const tw_image *image)
{
    (void)image;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "JPEG is not written; use PNG or TIFF");
}

static tw_status jpeg_write(tw_context *ctx, const tw_image *image, twi_output *output)
{
    (void)output;
    return jpeg_accepts(ctx, image);
}

const twi_image_format twi_image_jpeg = {"jpeg", "jpg jpeg",   jpeg_recognised, jpeg_read, NULL,
                                         NULL,   jpeg_accepts, jpeg_write,      NULL,      NULL,
                                         NULL};
