/*
 * Maps on a GPU. A twi_map_gpu is the kernel of one map: its text at once, its code for a device
 * when that is first used, from the cache on disk or from the compiler. gpu.c launches it on arrays
 * in device memory; gpu_host.c brings arrays of the host through, band by band, on one or several
 * devices.
 */
#ifndef TWI_MAP_GPU_H
#define TWI_MAP_GPU_H

#include "gpu/device.h"
#include "map/program.h"

typedef struct twi_map_gpu twi_map_gpu;

/* Of the job, its variants, its inputs' types and broadcasts, x_input and repeat == 1 or not are
 * kept; jobs that are run must agree in them. Needs no device. */
TW_CHECKED tw_status twi_map_gpu_create(tw_context *ctx, twi_map_gpu **out, const twi_map_job *job);
void twi_map_gpu_destroy(twi_map_gpu *gpu);

/* The generated kernel, without the functions it calls. */
const char *twi_map_gpu_text(const twi_map_gpu *gpu);

/* The map knows neither rows nor columns: arrays without gaps may be taken as one row. */
bool twi_map_gpu_is_flat(const twi_map_gpu *gpu);

/* Have the code for a device ready: from the cache, or compiled. `cached` (may be NULL): which. */
TW_CHECKED tw_status twi_map_gpu_prepare(tw_context *ctx, twi_map_gpu *gpu, int32_t device,
                                         bool *cached);

/* The job on arrays in the memory of `device`, put on `stream`; not waited for. */
TW_CHECKED tw_status twi_map_gpu_queue(tw_context *ctx, twi_map_gpu *gpu, int32_t device,
                                       const twi_map_job *job, void *stream);

/* The job on arrays in host memory, on the devices of the list. */
TW_CHECKED tw_status twi_map_gpu_run(tw_context *ctx, twi_map_gpu *gpu, const twi_gpu_list *devices,
                                     const twi_map_job *job);

/* The device that holds an address; TW_ERR_ARGUMENT, naming `what`, if it is not in GPU memory. */
TW_CHECKED tw_status twi_map_gpu_find(tw_context *ctx, const void *data, const char *what,
                                      int32_t *device);

#endif
