/* A build without GPU code: see gpu.h. No context of it can name a device, so nobody gets past
 * twi_map_gpu_create. */
#include "map/gpu/gpu.h"

bool twi_map_gpu_is_ready(tw_context *ctx)
{
    (void)ctx;
    return false;
}

tw_status twi_map_gpu_create(tw_context *ctx, twi_map_gpu **out, const twi_map_job *job)
{
    (void)job;
    *out = NULL;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "maps on a GPU: this build computes on the CPU only");
}

void twi_map_gpu_destroy(twi_map_gpu *gpu)
{
    (void)gpu;
}

const char *twi_map_gpu_text(const twi_map_gpu *gpu)
{
    (void)gpu;
    return "";
}

bool twi_map_gpu_is_kept(const tw_context *ctx, const twi_map_gpu *gpu, int32_t device)
{
    (void)ctx;
    (void)gpu;
    (void)device;
    return false;
}

tw_status twi_map_gpu_prepare(tw_context *ctx, twi_map_gpu *gpu, int32_t device, bool *cached)
{
    (void)gpu;
    (void)cached;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "device %d: this build computes on the CPU only",
                   device);
}

tw_status twi_map_gpu_queue(tw_context *ctx, twi_map_gpu *gpu, int32_t device,
                            const twi_map_job *job, const void *stop, void *stream)
{
    (void)stop;
    (void)job;
    (void)stream;
    return twi_map_gpu_prepare(ctx, gpu, device, NULL);
}

tw_status twi_map_gpu_run(tw_context *ctx, twi_map_gpu *gpu, const twi_gpu_list *devices,
                          const twi_map_job *job)
{
    (void)job;
    return twi_map_gpu_prepare(ctx, gpu, devices->index[0], NULL);
}

tw_status twi_map_gpu_find(tw_context *ctx, const void *data, const char *what, int32_t *device)
{
    (void)data;
    *device = -1;
    return tw_fail(ctx, TW_ERR_UNSUPPORTED, "%s: this build computes on the CPU only", what);
}
