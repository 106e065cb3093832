/*
 * Streams and events with checked errors, for code that puts work on several of them. Both belong
 * to the device that is current when they are made; a stream of it must be current to be recorded
 * on, and any may wait.
 */
#ifndef TWI_GPU_QUEUE_H
#define TWI_GPU_QUEUE_H

#include "base/context.h"
#include "gpu/compat.h"

/* `urgent`: its blocks are placed before those of other streams. */
TW_CHECKED tw_status twi_gpu_open_stream(tw_context *ctx, cudaStream_t *out, bool urgent);
TW_CHECKED tw_status twi_gpu_open_event(tw_context *ctx, cudaEvent_t *out);
/* Waits for what is queued. NULL is fine, as it is for events. */
void twi_gpu_close_stream(cudaStream_t stream);
void twi_gpu_close_event(cudaEvent_t event);

TW_CHECKED tw_status twi_gpu_record(tw_context *ctx, cudaEvent_t event, cudaStream_t stream);
/* Wait for what was last recorded, which ends `what`, or until the run is cancelled: then what is
 * queued goes on, unless it is told to stop. */
TW_CHECKED tw_status twi_gpu_watch(tw_context *ctx, cudaEvent_t event, const char *what);
/* Set a word in the memory of the current device that kernels under way look at: 1, from `pinned`.
 * A copy on a stream of its own gets there while all processors are busy, which filling memory,
 * being a kernel, would wait for. */
void twi_gpu_tell_to_stop(const int32_t *word, int32_t *pinned);
/* What is put on `stream` from now on waits for what was last recorded. */
TW_CHECKED tw_status twi_gpu_wait(tw_context *ctx, cudaStream_t stream, cudaEvent_t event);

/* Queue a copy of an array of the host, the arcs of a graph, which must stay until it is there.
 * (`to` is device memory: const for kernels, not for this.) */
TW_CHECKED tw_status twi_gpu_send(tw_context *ctx, cudaStream_t stream, const void *to,
                                  const void *from, int64_t bytes);

/* Seconds by the device's own clock. */
typedef struct twi_gpu_clock {
    cudaEvent_t begun;
    cudaEvent_t ended;
} twi_gpu_clock;
TW_CHECKED tw_status twi_gpu_clock_open(tw_context *ctx, twi_gpu_clock *clock);
void twi_gpu_clock_close(twi_gpu_clock *clock);
TW_CHECKED tw_status twi_gpu_clock_start(tw_context *ctx, twi_gpu_clock *clock,
                                         cudaStream_t stream);
TW_CHECKED tw_status twi_gpu_clock_stop(tw_context *ctx, twi_gpu_clock *clock, cudaStream_t stream);
/* Waits for what lies between, which is doing `what`; adds its seconds. */
TW_CHECKED tw_status twi_gpu_clock_read(tw_context *ctx, twi_gpu_clock *clock, const char *what,
                                        double *seconds);

/* Rows between the host, `here` bytes apart, and the device, `there` bytes apart. */
typedef struct twi_gpu_rows_copy {
    void *host;
    size_t here;
    void *device;
    size_t there;
    size_t width; /* bytes of a row */
    size_t rows;
} twi_gpu_rows_copy;
TW_CHECKED tw_status twi_gpu_copy_rows(tw_context *ctx, const twi_gpu_rows_copy *copy, bool up,
                                       cudaStream_t stream);

#endif
