/* A build without GPU code: see device.h. */
#include "gpu/device.h"

const char *twi_gpu_text(void)
{
    return "this build has no GPU code";
}

const char *twi_gpu_prefix(void)
{
    return "";
}

int32_t twi_gpu_count(void)
{
    return 0;
}

void twi_gpu_versions(char driver[32], char runtime[32])
{
    driver[0] = '\0';
    runtime[0] = '\0';
}

tw_status twi_gpu_select(tw_context *ctx, twi_gpu_list *out)
{
    (void)ctx; /* its device is "auto" or "cpu": tw_set_device takes no other here */
    *out = (twi_gpu_list){0};
    return TW_OK;
}

tw_status twi_gpu_describe(tw_context *ctx, int32_t device, twi_gpu_info *out)
{
    *out = (twi_gpu_info){0};
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "device %d: this build computes on the CPU only",
                   device);
}

tw_status twi_gpu_link(tw_context *ctx, tw_gpu_link *out, int32_t from, int32_t to)
{
    (void)to;
    *out = (tw_gpu_link){0};
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "device %d: this build computes on the CPU only", from);
}

tw_status twi_gpu_check(tw_context *ctx, int error, const char *call)
{
    (void)error;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "%s: this build computes on the CPU only", call);
}
