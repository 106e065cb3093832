/* Starting a GPU: see startup.h. */
#include "gpu/startup.h"

#include "base/background.h"
#include "base/clock.h"
#include "gpu/compat.h"
#include "gpu/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TWO_STARTS 0.6 /* seconds of a driver (H200 and its host, November 2026) */
#define REST_OF_ONE 0.1
#define LOOK 0.005 /* to ask a device that runs what it is, and to be wrong by a little */

#define BITS 32
static atomic_uint running; /* a bit for each device that somebody started */

/* Freeing nothing is the runtime's idiom for making the context of the current device. */
static void start_device(void *ctx_)
{
    tw_context *ctx = ctx_;
    double began = twi_seconds();
    const int32_t device = ctx->startup_device;
    if (cudaSetDevice(device) == cudaSuccess && cudaFree(NULL) == cudaSuccess && device < BITS) {
        atomic_fetch_or(&running, 1U << device);
    }
    (void)cudaGetLastError();
    ctx->startup_seconds = twi_seconds() - began;
}

/* The first device that a name means: 0 for "auto", -1 for the CPU. Whether it exists is seen when
 * it is used. */
static int32_t first_device(const char *name)
{
    const size_t prefix = strlen(TWI_GPU_PREFIX);
    if (strcmp(name, "cpu") == 0) {
        return -1;
    }
    bool numbered = strncmp(name, TWI_GPU_PREFIX ":", prefix + 1) == 0;
    return numbered ? (int32_t)strtol(name + prefix + 1, NULL, 10) : 0;
}

bool twi_gpu_is_starting(const tw_context *ctx)
{
    return ctx->startup != NULL || ctx->startup_seconds > 0;
}

bool twi_gpu_is_running(const tw_context *ctx)
{
    const int32_t device = first_device(ctx->device);
    return device >= 0 && device < BITS && (atomic_load(&running) >> device & 1) != 0;
}

double twi_gpu_worth_a_look(const tw_context *ctx, const char **why)
{
    *why = "its driver alone would take a few tenths of a second to start";
    if (twi_gpu_is_running(ctx)) {
        *why = "its driver is running, but the CPU finishes before the GPU could even be queried";
        return LOOK;
    }
    return twi_gpu_is_starting(ctx) ? REST_OF_ONE : TWO_STARTS;
}

void tw_device_start(tw_context *ctx)
{
    int32_t device = ctx != NULL ? first_device(ctx->device) : -1;
    if (device < 0 || twi_gpu_is_starting(ctx)) {
        return;
    }
    ctx->startup_device = device;
    ctx->startup = twi_background_start(start_device, ctx);
}

double twi_gpu_await(tw_context *ctx)
{
    double began = twi_seconds();
    int32_t device = first_device(ctx->device);
    twi_background_join(ctx->startup);
    ctx->startup = NULL;
    if (ctx->startup_seconds <= 0 || ctx->startup_device != device) {
        ctx->startup_device = device;
        start_device(ctx);
    }
    return twi_seconds() - began;
}

double twi_gpu_startup_seconds(const tw_context *ctx)
{
    return ctx->startup_seconds;
}

bool twi_gpu_present(char *why, size_t size)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) {
        return true;
    }
    (void)cudaGetLastError();
    bool plain =
        error == cudaSuccess || error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
    snprintf(why, size, "%s", plain ? twi_gpu_text() : cudaGetErrorString(error));
    return false;
}
