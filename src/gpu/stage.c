/* See stage.h. */
#include "gpu/stage.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "gpu/device.h"
#include "gpu/queue.h"

#include <string.h>

#define SHARE ((uint64_t)1 << 17) /* bytes of a buffer that a thread fills at a time */

tw_status twi_gpu_stage_open(tw_context *ctx, twi_gpu_stage *stage, cudaStream_t stream,
                             uint64_t bytes)
{
    tw_status status = TW_OK;
    *stage = (twi_gpu_stage){.stream = stream, .bytes = bytes};
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status =
            twi_gpu_take(ctx, &stage->block[i], TWI_PINNED, bytes, "copying to and from the GPU");
        stage->pinned[i] = stage->block[i].data;
        if (status == TW_OK) {
            status = twi_gpu_open_event(ctx, &stage->arrived[i]);
        }
    }
    return status;
}

void twi_gpu_stage_close(twi_gpu_stage *stage)
{
    for (int i = 0; i < 2; i++) {
        twi_gpu_close_event(stage->arrived[i]);
        twi_gpu_give(&stage->block[i]);
    }
}

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
        status = twi_check_cancel(ctx);
        if (status == TW_OK) {
            status = twi_gpu_check(ctx, (int)cudaEventSynchronize(stage->arrived[now]), what);
        }
        if (status == TW_OK) {
            copy_by_all(ctx, stage->pinned[now], (const char *)from + at, part);
            status = twi_gpu_check(ctx,
                                   (int)cudaMemcpyAsync((char *)to + at, stage->pinned[now], part,
                                                        cudaMemcpyHostToDevice, stage->stream),
                                   what);
        }
        if (status == TW_OK) {
            status = twi_gpu_record(ctx, stage->arrived[now], stage->stream);
        }
    }
    return status;
}

/* Queue the rows from `first` on. */
static tw_status fetch(tw_context *ctx, twi_gpu_stage *stage, const twi_gpu_rows_back *how,
                       int64_t first, int64_t count, int turn)
{
    tw_status status = how->fetch(how->self, first, count, turn);
    return status == TW_OK ? twi_gpu_record(ctx, stage->arrived[turn], how->stream) : status;
}

static tw_status await(tw_context *ctx, twi_gpu_stage *stage, const twi_gpu_rows_back *how,
                       int turn)
{
    double began = twi_seconds();
    tw_status status =
        twi_gpu_check(ctx, (int)cudaEventSynchronize(stage->arrived[turn]), "copying rows");
    if (how->waited != NULL) {
        *how->waited += twi_seconds() - began;
    }
    return status;
}

tw_status twi_gpu_bring_back(tw_context *ctx, twi_gpu_stage *stage, const twi_gpu_rows_back *how,
                             int64_t first, int64_t end, int64_t most)
{
    int turn = 0;
    int64_t count = end - first < most ? end - first : most;
    tw_status status = count > 0 ? fetch(ctx, stage, how, first, count, turn) : TW_OK;
    while (first < end && status == TW_OK) {
        int64_t next = first + count;
        int64_t then = end - next < most ? end - next : most;
        if (then > 0) {
            status = fetch(ctx, stage, how, next, then, 1 - turn);
        }
        if (status == TW_OK) {
            status = await(ctx, stage, how, turn);
        }
        if (status == TW_OK) {
            status = how->give(how->self, first, count, stage->pinned[turn]);
        }
        first = next;
        count = then;
        turn = 1 - turn;
    }
    return status;
}
