/* What the GPU ladders share: a clock on the device, and what a kernel takes. */
#ifndef LAB_LADDERS_GPU_TIMING_H
#define LAB_LADDERS_GPU_TIMING_H

#include "ladders/gpu_names.h"
#include "ladders/ladder.h"

#include "gpu/device.h"

/* Status of a runtime call, with what was being done. */
#define LAB_TRY(ctx, call, what) twi_gpu_check((ctx), (int)(call), (what))

/* Seconds on the device between begin and end, which waits. */
typedef struct lab_clock {
    cudaEvent_t from, to;
} lab_clock;

static inline tw_status lab_clock_make(tw_context *ctx, lab_clock *clock)
{
    tw_status status = LAB_TRY(ctx, cudaEventCreate(&clock->from), "making an event");
    return status != TW_OK ? status : LAB_TRY(ctx, cudaEventCreate(&clock->to), "making an event");
}

static inline tw_status lab_clock_begin(tw_context *ctx, lab_clock *clock)
{
    return LAB_TRY(ctx, cudaEventRecord(clock->from, 0), "recording an event");
}

static inline tw_status lab_clock_end(tw_context *ctx, lab_clock *clock, double *seconds)
{
    float milliseconds = 0;
    tw_status status = LAB_TRY(ctx, cudaGetLastError(), "launching a rung's kernel");
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaEventRecord(clock->to, 0), "recording an event");
    }
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaEventSynchronize(clock->to), "waiting for a rung");
    }
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaEventElapsedTime(&milliseconds, clock->from, clock->to),
                         "reading the clock");
        *seconds = milliseconds * 1e-3;
    }
    return status;
}

static inline void lab_clock_destroy(lab_clock *clock)
{
    if (clock->from != NULL) {
        (void)cudaEventDestroy(clock->from);
    }
    if (clock->to != NULL) {
        (void)cudaEventDestroy(clock->to);
    }
}

/* Registers, shared memory and occupancy of a kernel at `threads` a block and `dynamic` bytes. */
static inline tw_status lab_inspect(tw_context *ctx, const void *kernel, int threads, int dynamic,
                                    lab_kernel *out)
{
    struct cudaFuncAttributes about;
    struct cudaDeviceProp card;
    int blocks = 0, device = 0;
    tw_status status = LAB_TRY(ctx, cudaFuncGetAttributes(&about, kernel), "asking for a kernel");
    if (status == TW_OK) {
        status = LAB_TRY(ctx,
                         cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                                       (size_t)dynamic),
                         "asking for the occupancy");
    }
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaGetDevice(&device), "asking for the device");
    }
    if (status == TW_OK) {
        status = LAB_TRY(ctx, cudaGetDeviceProperties(&card, device), "asking for the device");
    }
    if (status == TW_OK) {
        out->registers = about.numRegs;
        out->shared = (int32_t)about.sharedSizeBytes + dynamic;
        out->local = (int32_t)about.localSizeBytes;
        out->occupancy = (double)blocks * threads / card.maxThreadsPerMultiProcessor;
    }
    return status;
}

#endif
