/*
 * Which way a matrix in host memory is closed on GPUs: on the one device that was named if it fits
 * there, streamed through it if it does not, or dealt out to several. What a device may use is what
 * is free there, less a little that the driver takes for itself, and no more than the context
 * allows. A GPU that is named more than once has one memory for all its shares.
 */
#include "apsp/gpu/gpu.h"
#include "base/memory.h"

#define RESERVE                                                                       \
    ((uint64_t)256 << 20) /* bytes: streams, events, and what other programs may take \
                           */

tw_status twi_gpu_allowance(tw_context *ctx, const twi_gpu_list *gpus, uint64_t *bytes)
{
    uint64_t most = ctx->device_memory_limit > 0 ? ctx->device_memory_limit : ctx->memory_limit;
    *bytes = UINT64_MAX;
    for (int32_t i = 0; i < gpus->count; i++) {
        twi_gpu_info info;
        uint64_t named = 0;
        tw_status status = twi_gpu_describe(ctx, gpus->index[i], &info);
        if (status != TW_OK) {
            return status;
        }
        for (int32_t k = 0; k < gpus->count; k++) {
            named += gpus->index[k] == gpus->index[i];
        }
        uint64_t left = info.memory_free > RESERVE ? info.memory_free - RESERVE : 0;
        left = most > 0 && most < left ? most : left;
        *bytes = left / named < *bytes ? left / named : *bytes;
    }
    return TW_OK;
}

tw_status twi_gpu_find_way(tw_context *ctx, const twi_gpu_list *gpus, tw_type type, int64_t n,
                           bool narrow, twi_gpu_fit *out)
{
    char need[32];
    char have[32];
    bool several = gpus->count > 1;
    *out = (twi_gpu_fit){.way = several ? TWI_GPU_SEVERAL : TWI_GPU_COPIED, .passes = 1};
    tw_status status = twi_gpu_allowance(ctx, gpus, &out->limit);
    if (status != TW_OK) {
        return status;
    }
    out->bytes = several ? twi_gpu_several_bytes(gpus, type, n, narrow)
                         : twi_gpu_host_bytes(type, n, narrow);
    if (out->bytes <= out->limit) {
        return TW_OK;
    }
    if (several) {
        return tw_fail(ctx, TW_ERR_MEMORY,
                       "%s: %lld vertices need %s for each device of the list, and %s may be used "
                       "there; name more GPUs, or only one to stream the matrix through it",
                       ctx->device, (long long)n, twi_bytes(need, (double)out->bytes),
                       twi_bytes(have, (double)out->limit));
    }
    out->way = TWI_GPU_STREAMED;
    if (!twi_gpu_stream_fits(type, n, narrow, out->limit, &out->bytes)) {
        return tw_fail(ctx, TW_ERR_MEMORY,
                       "%s: even streamed through it, %lld vertices need %s on the device, and %s "
                       "may be used there",
                       ctx->device, (long long)n, twi_bytes(need, (double)out->bytes),
                       twi_bytes(have, (double)out->limit));
    }
    out->passes = twi_gpu_stream_passes(type, n, narrow, out->limit);
    return TW_OK;
}

tw_status twi_gpu_close(tw_context *ctx, const twi_gpu_list *gpus, const twi_gpu_host *host,
                        bool narrow, tw_type *used)
{
    twi_gpu_fit fit;
    tw_status status = twi_gpu_find_way(ctx, gpus, host->type, host->n, narrow, &fit);
    if (status != TW_OK) {
        return status;
    }
    switch (fit.way) {
    case TWI_GPU_SEVERAL:
        return twi_gpu_close_several(ctx, gpus, host, narrow, used);
    case TWI_GPU_STREAMED:
        return twi_gpu_close_streamed(ctx, gpus->index[0], host, narrow, fit.limit, used);
    default:
        return twi_gpu_close_host(ctx, gpus->index[0], host, narrow, used);
    }
}
