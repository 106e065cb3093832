/* See stage.h. */
#include "apsp/gpu/stage.h"

#include "base/threads.h"
#include "gpu/device.h"

#include <string.h>

#define SHARE ((uint64_t)1 << 17) /* bytes of a buffer that a thread fills at a time */

static void copy_by_all(tw_context *ctx, char *to, const char *from, uint64_t bytes)
{
    int64_t shares = (int64_t)((bytes + SHARE - 1) / SHARE);
    (void)ctx; /* unused without OpenMP */
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(static) if (shares > 1)
    for (int64_t i = 0; i < shares; i++) {
        uint64_t at = (uint64_t)i * SHARE;
        memcpy(to + at, from + at, bytes - at < SHARE ? bytes - at : SHARE);
    }
}

tw_status twi_gpu_upload(tw_context *ctx, twi_gpu_stage *stage, const void *to, const void *from,
                         uint64_t bytes, const char *what)
{
    tw_status status = TW_OK;
    for (uint64_t at = 0; at < bytes && status == TW_OK; at += stage->bytes) {
        uint64_t part = bytes - at < stage->bytes ? bytes - at : stage->bytes;
        int now = stage->turn;
        stage->turn = 1 - now;
        status = twi_gpu_check(ctx, (int)cudaEventSynchronize(stage->arrived[now]), what);
        if (status == TW_OK) {
            copy_by_all(ctx, stage->pinned[now], (const char *)from + at, part);
            status = twi_gpu_check(ctx,
                                   (int)cudaMemcpyAsync((char *)to + at, stage->pinned[now], part,
                                                        cudaMemcpyHostToDevice, stage->stream),
                                   what);
        }
        if (status == TW_OK) {
            status = twi_gpu_check(ctx, (int)cudaEventRecord(stage->arrived[now], stage->stream),
                                   "recording an event");
        }
    }
    return status;
}
