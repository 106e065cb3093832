/*
 * Maps on a GPU. A twi_map_gpu is the kernel of one map: its text at once, its code for a device
 * when that is first used, from the context that kept it, from the cache on disk, or from the
 * compiler. gpu.c launches it on arrays
 * in device memory; gpu/host.c brings arrays of the host through, band by band, on one or several
 * devices.
 */
#ifndef TWI_MAP_GPU_GPU_H
#define TWI_MAP_GPU_GPU_H

#include "gpu/device.h"
#include "gpu/rtc.h"
#include "gpu/store.h"
#include "map/gpu/source.h"

/* The kernel on one device. */
typedef struct twi_map_code {
    int32_t device;
    twi_rtc_kernel kernel;
    twi_gpu_code kept; /* the same, with the context's handle */
} twi_map_code;

typedef struct twi_map_gpu {
    twi_map_source source;
    tw_type type; /* of the result */
    bool flat;    /* it knows neither rows nor columns: arrays without gaps may be one row */
    int32_t col_period;
    int32_t kernel_count;
    twi_map_code kernels[TWI_GPU_MOST];
    int32_t slot_count;
    struct twi_map_slot *slots; /* of slots.h, kept from run to run */
} twi_map_gpu;

/* Whether this machine has a device and a compiler for it. Starts the driver, though no device. */
bool twi_map_gpu_is_ready(tw_context *ctx);

/* Of the job, its variants, its inputs' types and broadcasts, x_input and repeat == 1 or not are
 * kept; jobs that are run must agree in them. Needs no device. */
TW_CHECKED tw_status twi_map_gpu_create(tw_context *ctx, twi_map_gpu **out, const twi_map_job *job);
void twi_map_gpu_destroy(twi_map_gpu *gpu);

/* The generated kernel, without the functions it calls. */
const char *twi_map_gpu_text(const twi_map_gpu *gpu);

/* Whether the context keeps the code for a device, from a map before this one. */
bool twi_map_gpu_is_kept(const tw_context *ctx, const twi_map_gpu *gpu, int32_t device);

/* Have the code for a device ready: from the context, from the cache, or compiled. `cached` (may be
 * NULL): not compiled. */
TW_CHECKED tw_status twi_map_gpu_prepare(tw_context *ctx, twi_map_gpu *gpu, int32_t device,
                                         bool *cached);

/* The job on arrays in the memory of `device`, put on `stream`; not waited for. Passes end early
 * once the word at `stop` (NULL: none), in that memory, is not 0. */
TW_CHECKED tw_status twi_map_gpu_queue(tw_context *ctx, twi_map_gpu *gpu, int32_t device,
                                       const twi_map_job *job, const void *stop, void *stream);

/* The job on arrays in host memory, on the devices of the list. */
TW_CHECKED tw_status twi_map_gpu_run(tw_context *ctx, twi_map_gpu *gpu, const twi_gpu_list *devices,
                                     const twi_map_job *job);

/* The device that holds an address; TW_ERR_ARGUMENT, naming `what`, if it is not in GPU memory. */
TW_CHECKED tw_status twi_map_gpu_find(tw_context *ctx, const void *data, const char *what,
                                      int32_t *device);

#endif
