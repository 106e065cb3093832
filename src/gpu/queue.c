/* Streams and events: see queue.h. */
#include "gpu/queue.h"

#include "gpu/device.h"

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

tw_status twi_gpu_wait(tw_context *ctx, cudaStream_t stream, cudaEvent_t event)
{
    return twi_gpu_check(ctx, (int)cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}

tw_status twi_gpu_send(tw_context *ctx, cudaStream_t stream, const void *to, const void *from,
                       int64_t bytes)
{
    return bytes == 0
               ? TW_OK
               : twi_gpu_check(ctx,
                               (int)cudaMemcpyAsync((void *)(uintptr_t)to, from, (size_t)bytes,
                                                    cudaMemcpyHostToDevice, stream),
                               "copying the arcs");
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
