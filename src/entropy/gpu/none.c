/* A build without GPU code: see host.h. */
#include "entropy/gpu/host.h"

tw_status twi_entropy_gpu_open(tw_context *ctx, twi_entropy_setup *setup)
{
    (void)ctx; /* its device is "auto" or "cpu": tw_set_device takes no other here */
    setup->gpu = NULL;
    return TW_OK;
}

void twi_entropy_gpu_close(twi_entropy_gpu *gpu)
{
    (void)gpu;
}

const char *twi_entropy_gpu_method(const twi_entropy_gpu *gpu)
{
    (void)gpu;
    return "";
}

const char *twi_entropy_gpu_choice(const tw_context *ctx, const twi_entropy_gpu *gpu)
{
    (void)ctx;
    (void)gpu;
    return NULL;
}

const char *twi_entropy_gpu_reason(const twi_entropy_gpu *gpu)
{
    (void)gpu;
    return "";
}

tw_status twi_entropy_gpu_rows(tw_context *ctx, const twi_entropy_setup *setup, int64_t first,
                               int64_t count, void *out, int64_t stride)
{
    (void)setup;
    (void)first;
    (void)count;
    (void)out;
    (void)stride;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "this build computes on the CPU only");
}
