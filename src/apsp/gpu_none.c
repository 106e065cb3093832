/* A build without GPU code: the device entry says so. */
#include "base/context.h"

tw_status tw_apsp_device_workspace(tw_context *ctx, uint64_t *bytes, const tw_matrix *matrix,
                                   const tw_device_options *opts)
{
    (void)bytes;
    (void)matrix;
    (void)opts;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "GPU memory: this build computes on the CPU only");
}

tw_status tw_apsp_device(tw_context *ctx, tw_matrix *matrix, const tw_device_options *opts)
{
    return tw_apsp_device_workspace(ctx, NULL, matrix, opts);
}
