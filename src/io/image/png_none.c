/* PNG in a build without libpng: recognised, and refused with what to install. */
#include "io/image/format.h"

#include <string.h>

static bool png_recognised(const twi_input *input)
{
    return input->size >= 8 && memcmp(input->bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static tw_status refuse(tw_context *ctx)
{
    return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                   "this build has no PNG support: install libpng (libpng-dev on Debian) and "
                   "rebuild, or use another format");
}

static tw_status png_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    (void)image;
    (void)input;
    return refuse(ctx);
}

static tw_status png_accepts(tw_context *ctx, const tw_image *image)
{
    (void)image;
    return refuse(ctx);
}

static tw_status png_write(tw_context *ctx, const tw_image *image, twi_output *output)
{
    (void)image;
    (void)output;
    return refuse(ctx);
}

const twi_image_format twi_image_png = {
    "png", "png", png_recognised, png_read, NULL, NULL, png_accepts, png_write, NULL, NULL, NULL};
