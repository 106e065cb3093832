/* What the ladders that need a GPU are listed with in a build without one (listed.h). */
#include "ladders/answers.h"
#include "ladders/ladders.h"

#include "gpu/device.h"

/* The ladders are run only where there is a GPU. */
static tw_status no_ceiling(tw_context *ctx, lab_ceiling *out)
{
    *out = (lab_ceiling){0};
    return tw_fail(ctx, TW_ERR_DEVICE, "no GPU to measure: %s", twi_gpu_text());
}

tw_status lab_link_ceiling(tw_context *ctx, lab_ceiling *out)
{
    return no_ceiling(ctx, out);
}

tw_status lab_download_ceiling(tw_context *ctx, lab_ceiling *out)
{
    return no_ceiling(ctx, out);
}

tw_status lab_card_copy_ceiling(tw_context *ctx, lab_ceiling *out)
{
    return no_ceiling(ctx, out);
}
