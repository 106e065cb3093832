/* Streams and events: see queue.h. */
#include "gpu/queue.h"

#include "gpu/device.h"

#include <stdint.h>
#include <time.h>

#define LOOKS 1000                /* at an event without a pause between them */
#define PIECE ((int64_t)16 << 20) /* bytes of an array that are sent between looks at the flag */

tw_status twi_gpu_open_stream(tw_context *ctx, cudaStream_t *out, bool urgent)
{
    int lowest = 0;
    int highest = 0;
    tw_status status = twi_gpu_check(ctx, (int)cudaDeviceGetStreamPriorityRange(&lowest, &highest),
                                     "reading the priorities of streams");
    if (status != TW_OK) {
        return status;
    }
    cudaError_t error =
        cudaStreamCreateWithPriority(out, cudaStreamNonBlocking, urgent ? highest : lowest);
    return twi_gpu_check(ctx, (int)error, "creating a stream");
}

tw_status twi_gpu_open_event(tw_context *ctx, cudaEvent_t *out)
{
    return twi_gpu_check(ctx, (int)cudaEventCreateWithFlags(out, cudaEventDisableTiming),
                         "creating an event");
}

void twi_gpu_close_stream(cudaStream_t stream)
{
    if (stream != NULL) {
        (void)cudaStreamSynchronize(stream);
        (void)cudaStreamDestroy(stream);
    }
}

void twi_gpu_close_event(cudaEvent_t event)
{
    if (event != NULL) {
        (void)cudaEventDestroy(event);
    }
}

tw_status twi_gpu_record(tw_context *ctx, cudaEvent_t event, cudaStream_t stream)
{
    return twi_gpu_check(ctx, (int)cudaEventRecord(event, stream), "recording an event");
}

tw_status twi_gpu_watch(tw_context *ctx, cudaEvent_t event, const char *what)
{
    const struct timespec nap = {.tv_nsec = 20000};
    cudaError_t error = cudaSuccess;
    for (int64_t looks = 0; (error = cudaEventQuery(event)) == cudaErrorNotReady; looks++) {
        (void)cudaGetLastError();
        if (twi_is_cancelled(ctx)) {
            return twi_check_cancel(ctx);
        }
        if (looks > LOOKS) {
            (void)nanosleep(&nap, NULL);
        }
    }
    return twi_gpu_check(ctx, (int)error, what);
}

void twi_gpu_tell_to_stop(const int32_t *word, int32_t *pinned)
{
    cudaStream_t beside = NULL;
    int lowest = 0;
    int highest = 0;
    *pinned = 1;
    (void)cudaDeviceGetStreamPriorityRange(&lowest, &highest);
    if (cudaStreamCreateWithPriority(&beside, cudaStreamNonBlocking, highest) == cudaSuccess) {
        (void)cudaMemcpyAsync((void *)(uintptr_t)word, pinned, sizeof *word, cudaMemcpyHostToDevice,
                              beside);
        (void)cudaStreamSynchronize(beside);
        (void)cudaStreamDestroy(beside);
    }
    (void)cudaGetLastError(); /* not the next call's */
}

tw_status twi_gpu_wait(tw_context *ctx, cudaStream_t stream, cudaEvent_t event)
{
    return twi_gpu_check(ctx, (int)cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}

tw_status twi_gpu_send(tw_context *ctx, cudaStream_t stream, const void *to, const void *from,
                       int64_t bytes)
{
    tw_status status = TW_OK;
    for (int64_t at = 0; at < bytes && status == TW_OK; at += PIECE) {
        const int64_t part = bytes - at < PIECE ? bytes - at : PIECE;
        status = twi_check_cancel(ctx);
        if (status == TW_OK) {
            status = twi_gpu_check(ctx,
                                   (int)cudaMemcpyAsync((char *)(uintptr_t)to + at,
                                                        (const char *)from + at, (size_t)part,
                                                        cudaMemcpyHostToDevice, stream),
                                   "copying the arcs");
        }
    }
    return status;
}

tw_status twi_gpu_clock_open(tw_context *ctx, twi_gpu_clock *clock)
{
    tw_status status = twi_gpu_check(ctx, (int)cudaEventCreate(&clock->begun), "creating an event");
    return status == TW_OK
               ? twi_gpu_check(ctx, (int)cudaEventCreate(&clock->ended), "creating an event")
               : status;
}

void twi_gpu_clock_close(twi_gpu_clock *clock)
{
    twi_gpu_close_event(clock->ended);
    twi_gpu_close_event(clock->begun);
}

tw_status twi_gpu_clock_start(tw_context *ctx, twi_gpu_clock *clock, cudaStream_t stream)
{
    return twi_gpu_check(ctx, (int)cudaEventRecord(clock->begun, stream), "timing");
}

tw_status twi_gpu_clock_stop(tw_context *ctx, twi_gpu_clock *clock, cudaStream_t stream)
{
    return twi_gpu_check(ctx, (int)cudaEventRecord(clock->ended, stream), "timing");
}

tw_status twi_gpu_clock_read(tw_context *ctx, twi_gpu_clock *clock, const char *what,
                             double *seconds)
{
    float ms = 0;
    tw_status status = twi_gpu_check(ctx, (int)cudaEventSynchronize(clock->ended), what);
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaEventElapsedTime(&ms, clock->begun, clock->ended),
                               "timing");
    }
    *seconds += ms * 1e-3;
    return status;
}

tw_status twi_gpu_copy_rows(tw_context *ctx, const twi_gpu_rows_copy *c, bool up,
                            cudaStream_t stream)
{
    cudaError_t error = up ? cudaMemcpy2DAsync(c->device, c->there, c->host, c->here, c->width,
                                               c->rows, cudaMemcpyHostToDevice, stream)
                           : cudaMemcpy2DAsync(c->host, c->here, c->device, c->there, c->width,
                                               c->rows, cudaMemcpyDeviceToHost, stream);
    return twi_gpu_check(ctx, (int)error, up ? "copying rows to the GPU" : "copying rows back");
}
