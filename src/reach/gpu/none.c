/* A build without GPU code. */
#include "reach/gpu/gpu.h"

static tw_status refuse(tw_context *ctx, int32_t device)
{
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "device %d: this build computes on the CPU only",
                   (int)device);
}

tw_status twi_reach_gpu_run(tw_context *ctx, int32_t device, const twi_condensation *condensation,
                            twi_reach_rows *rows, twi_sinks *sinks, double *seconds)
{
    (void)condensation;
    (void)rows;
    (void)sinks;
    *seconds = 0;
    return refuse(ctx, device);
}

uint64_t twi_reach_gpu_bytes(const twi_condensation *condensation, const twi_reach_rows *rows)
{
    (void)condensation;
    (void)rows;
    return 0;
}

tw_status twi_reach_gpu_check(tw_context *ctx, int32_t device, const twi_condensation *condensation,
                              const twi_reach_rows *rows)
{
    (void)condensation;
    (void)rows;
    return refuse(ctx, device);
}
