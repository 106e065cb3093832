/* Devices and their errors: see device.h. */
#include "gpu/device.h"

#include "gpu/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *twi_gpu_text(void)
{
    static const char *const counts[] = {
        "no device",
        "1 " TWI_GPU_API " device",
        "2 " TWI_GPU_API " devices",
        "3 " TWI_GPU_API " devices",
        "4 " TWI_GPU_API " devices",
        "5 " TWI_GPU_API " devices",
        "6 " TWI_GPU_API " devices",
        "7 " TWI_GPU_API " devices",
        "8 " TWI_GPU_API " devices",
    };
    const int most = sizeof counts / sizeof *counts - 1;
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver) {
        return "no driver";
    }
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        count = 0;
    }
    return count <= most ? counts[count] : "more than 8 " TWI_GPU_API " devices";
}

int32_t twi_gpu_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError();
        count = 0;
    }
    return count;
}

static void show_version(char out[32], int version)
{
    out[0] = '\0';
    if (version > 0) {
        snprintf(out, 32, TWI_GPU_API " %d.%d", TWI_VERSION_MAJOR(version),
                 TWI_VERSION_MINOR(version));
    }
}

void twi_gpu_versions(char driver[32], char runtime[32])
{
    int version = 0;
    /* Without a driver HIP would give its own version instead. */
    bool asked = twi_gpu_count() > 0 && cudaDriverGetVersion(&version) == cudaSuccess;
    show_version(driver, asked ? version : 0);
    show_version(runtime, cudaRuntimeGetVersion(&version) == cudaSuccess ? version : 0);
    (void)cudaGetLastError();
}

const char *twi_gpu_prefix(void)
{
    return TWI_GPU_PREFIX;
}

/* TW_OK and a count of at least 1, or the reason. */
static tw_status count_devices(tw_context *ctx, int *count)
{
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaErrorInsufficientDriver) {
        return tw_fail(
            ctx, TW_ERR_DEVICE,
            "%s: no " TWI_GPU_API
            " driver that this build can use; install or update it, or use the device 'cpu'",
            ctx->device);
    }
    if (error == cudaErrorNoDevice || (error == cudaSuccess && *count == 0)) {
        (void)cudaGetLastError();
        return tw_fail(ctx, TW_ERR_DEVICE,
                       "%s: this machine has no " TWI_GPU_API " device; use the device 'cpu'",
                       ctx->device);
    }
    return twi_gpu_check(ctx, (int)error, "counting the devices");
}

tw_status twi_gpu_select(tw_context *ctx, twi_gpu_list *out)
{
    *out = (twi_gpu_list){0};
    const char *name = ctx->device;
    const size_t prefix = strlen(TWI_GPU_PREFIX);
    if (strncmp(name, TWI_GPU_PREFIX, prefix) != 0) {
        return TW_OK;
    }
    int have = 0;
    tw_status status = count_devices(ctx, &have);
    if (status != TW_OK) {
        return status;
    }
    if (name[prefix] == '\0') {
        out->count = 1;
        return TW_OK;
    }
    const char *at = name + prefix; /* at the colon, then at a comma */
    while (*at != '\0') {
        char *end;
        long index = strtol(at + 1, &end, 10);
        if (index < 0 || index >= have) {
            return tw_fail(ctx, TW_ERR_DEVICE,
                           TWI_GPU_PREFIX
                           ":%ld does not exist; this machine has %s, numbered from 0",
                           index, twi_gpu_text());
        }
        if (out->count == TWI_GPU_MOST) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "'%s' names more than %d devices", name,
                           TWI_GPU_MOST);
        }
        out->index[out->count++] = (int32_t)index;
        at = end;
    }
    return TW_OK;
}

tw_status twi_gpu_describe(tw_context *ctx, int32_t device, twi_gpu_info *out)
{
    struct cudaDeviceProp props;
    size_t available = 0;
    size_t total = 0;
    int clock = 0;                             /* kHz */
    twi_store_release(ctx, TWI_STORE_DEVICES); /* it is free for who asks */
    tw_status status = twi_gpu_check(ctx, (int)cudaSetDevice(device), "selecting the device");
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaGetDeviceProperties(&props, device),
                               "reading its properties");
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaMemGetInfo(&available, &total), "reading its memory");
    }
    if (status == TW_OK) {
        status =
            twi_gpu_check(ctx, (int)cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device),
                          "reading its clock");
    }
    if (status == TW_OK) {
        *out = (twi_gpu_info){
            .memory = total,
            .memory_free = available,
            .processors = props.multiProcessorCount,
            .clock = clock * 1e3,
            .compute = props.major * 10 + props.minor,
            .amd = strcmp(TWI_GPU_PREFIX, "hip") == 0,
        };
        snprintf(out->name, sizeof out->name, "%.63s", props.name);
        TWI_ARCHITECTURE(out->architecture, props);
    }
    return status;
}

tw_status twi_gpu_link(tw_context *ctx, tw_gpu_link *out, int32_t from, int32_t to)
{
    int direct = 0;
    int atomics = 0;
    int rank = 0;
    tw_status status = twi_gpu_check(ctx, (int)cudaDeviceCanAccessPeer(&direct, from, to),
                                     "querying the link to another device");
    if (status == TW_OK && direct) {
        status = twi_gpu_check(
            ctx,
            (int)cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to),
            "querying atomics on another device");
    }
    if (status == TW_OK && direct) {
        status = twi_gpu_check(
            ctx, (int)cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, from, to),
            "querying the speed of a link");
    }
    *out = (tw_gpu_link){.size = sizeof *out, .direct = direct, .atomics = atomics, .rank = rank};
    return status;
}

tw_status twi_gpu_holder(tw_context *ctx, const void *data, const char *what, int32_t *device)
{
    struct cudaPointerAttributes at;
    tw_status status =
        twi_gpu_check(ctx, (int)cudaPointerGetAttributes(&at, data), "querying a pointer");
    if (status == TW_OK && !TWI_IS_DEVICE_MEMORY(at)) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "%s is not in GPU memory, as tw_apsp_device requires; tw_apsp takes "
                         "graphs in host memory",
                         what);
    }
    *device = status == TW_OK ? at.device : -1;
    return status;
}

static atomic_int fail_at;

void twi_gpu_fail_at(int32_t n)
{
    atomic_store(&fail_at, n);
}

static bool planned_failure(void)
{
    return atomic_load(&fail_at) > 0 && atomic_fetch_sub(&fail_at, 1) == 1;
}

tw_status twi_gpu_check(tw_context *ctx, int error, const char *call)
{
    if (planned_failure()) {
        error = (int)cudaErrorUnknown;
    }
    if (error == (int)cudaSuccess) {
        return TW_OK;
    }
    char name[32] = TWI_GPU_PREFIX;
    int device = -1;
    if (cudaGetDevice(&device) == cudaSuccess) {
        snprintf(name, sizeof name, TWI_GPU_PREFIX ":%d", device);
    }
    (void)cudaGetLastError(); /* an error that does not stick must not be seen again */
    return tw_fail(ctx, error == (int)cudaErrorMemoryAllocation ? TW_ERR_MEMORY : TW_ERR_DEVICE,
                   "%s: %s: %s", name, call, cudaGetErrorString((cudaError_t)error));
}
