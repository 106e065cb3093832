/* TIFF in a build without libtiff: written, but not read. */
#include "io/image/tiff_read.h"

static tw_status refuse(tw_context *ctx, const twi_input *input)
{
    return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                   "%.500s: this build cannot read TIFF: install libtiff 4.5 or newer (libtiff-dev "
                   "on Debian) and rebuild, or convert the image",
                   input->name);
}

tw_status twi_tiff_read(tw_context *ctx, tw_image *image, twi_input *input)
{
    (void)image;
    return refuse(ctx, input);
}

tw_status twi_tiff_rows(tw_context *ctx, twi_rows *out, const twi_input *input, int64_t plane)
{
    (void)out;
    (void)plane;
    return refuse(ctx, input);
}

tw_status twi_tiff_some(tw_context *ctx, tw_image *image, const twi_input *input, int64_t plane,
                        uint64_t bytes)
{
    (void)image;
    (void)plane;
    (void)bytes;
    return refuse(ctx, input);
}
