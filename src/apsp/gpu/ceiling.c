/* The ceiling of a GPU: the step on registers alone, timed by the device's own clock. */
#include "apsp/gpu/gpu.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#define ROUNDS 20000 /* some milliseconds */

static tw_status time_probe(tw_context *ctx, const twi_gpu_kernel *kernel, int32_t processors,
                            void *out, cudaEvent_t begin, cudaEvent_t end, double *rate)
{
    *rate = 0;
    for (int i = 0; i < 3; i++) { /* the clock of an idle device is low at first */
        double relaxations = 0;
        float ms = 0;
        tw_status status = twi_gpu_check(ctx, (int)cudaEventRecord(begin, NULL), "timing a probe");
        if (status == TW_OK) {
            status = twi_gpu_check(ctx, kernel->probe(out, processors, ROUNDS, &relaxations, NULL),
                                   "the probe");
        }
        if (status == TW_OK) {
            status = twi_gpu_check(ctx, (int)cudaEventRecord(end, NULL), "timing a probe");
        }
        if (status == TW_OK) {
            status = twi_gpu_check(ctx, (int)cudaEventSynchronize(end), "running a probe");
        }
        if (status == TW_OK) {
            status =
                twi_gpu_check(ctx, (int)cudaEventElapsedTime(&ms, begin, end), "timing a probe");
        }
        if (status != TW_OK) {
            return status;
        }
        double seen = ms > 0 ? relaxations / ms * 1e3 : 0;
        *rate = seen > *rate ? seen : *rate;
    }
    return TW_OK;
}

tw_status twi_gpu_ceiling(tw_context *ctx, int32_t device, tw_type type, double *rate)
{
    const twi_gpu_kernel *kernel = twi_gpu_kernel_find(type, 0);
    twi_gpu_info info;
    void *out = NULL;
    cudaEvent_t begin = NULL;
    cudaEvent_t end = NULL;
    if (kernel == NULL) {
        *rate = 0;
        return TW_OK;
    }
    tw_status status = twi_gpu_describe(ctx, device, &info);
    if (status == TW_OK) {
        size_t bytes = (size_t)info.processors * TWI_GPU_PROBE_BYTES;
        status = twi_gpu_check(ctx, (int)cudaMalloc(&out, bytes), "allocating for a probe");
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaEventCreate(&begin), "creating an event");
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaEventCreate(&end), "creating an event");
    }
    if (status == TW_OK) {
        status = time_probe(ctx, kernel, info.processors, out, begin, end, rate);
    }
    if (end != NULL) {
        (void)cudaEventDestroy(end);
    }
    if (begin != NULL) {
        (void)cudaEventDestroy(begin);
    }
    (void)cudaFree(out);
    return status;
}
