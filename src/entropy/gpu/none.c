/* A build without GPU code: the device entry says so. */
#include "entropy/entropy.h"

tw_status tw_entropy_device_workspace(tw_context *ctx, uint64_t *bytes, const tw_matrix *out,
                                      const tw_matrix *in, const tw_entropy_options *opts)
{
    tw_status missing = TWI_REQUIRE(ctx, {"bytes", bytes}, {"out", out}, {"in", in});
    if (missing != TW_OK) {
        return missing;
    }
    (void)bytes;
    (void)out;
    (void)in;
    (void)opts;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "GPU memory: this build computes on the CPU only");
}

tw_status tw_entropy_device(tw_context *ctx, tw_matrix *out, const tw_matrix *in,
                            const tw_entropy_options *opts, const tw_device_options *device)
{
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"in", in});
    if (missing != TW_OK) {
        return missing;
    }
    (void)device;
    uint64_t bytes;
    return tw_entropy_device_workspace(ctx, &bytes, out, in, opts);
}

tw_status twi_entropy_gpu_open(tw_context *ctx, twi_entropy_setup *setup)
{
    (void)ctx; /* its device is "auto" or "cpu": tw_set_device takes no other here */
    setup->gpu = NULL;
    return TW_OK;
}

void twi_entropy_gpu_together(twi_entropy_setup *setup)
{
    (void)setup;
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
