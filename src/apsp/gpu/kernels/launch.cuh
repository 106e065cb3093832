/*
 * What a launch for all tiles of a small matrix has to know of the device, asked for once: asking
 * takes as long as a part of the closure.
 */
#ifndef TWI_APSP_GPU_KERNELS_LAUNCH_CUH
#define TWI_APSP_GPU_KERNELS_LAUNCH_CUH

#include "gpu/compat.h"

enum { DEVICES_KEPT = 16 }; /* those after them are asked every time */

/* Blocks of a kernel that the current device runs at once. `known` belongs to the kernel and is 0
 * at first; threads may write it at the same time, and write the same. */
static inline int blocks_at_once(const void *kernel, int threads, int (&known)[DEVICES_KEPT],
                                 int *blocks)
{
    int device = 0;
    int processors = 0;
    int each = 0;
    cudaError_t error = cudaGetDevice(&device);
    int *const kept = device < DEVICES_KEPT ? &known[device] : NULL;
    const int before = kept != NULL ? __atomic_load_n(kept, __ATOMIC_RELAXED) : 0;
    if (error != cudaSuccess || before != 0) {
        *blocks = before;
        return (int)error;
    }
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) {
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0);
    }
    *blocks = each * processors;
    if (error == cudaSuccess && kept != NULL) {
        __atomic_store_n(kept, *blocks, __ATOMIC_RELAXED);
    }
    return (int)error;
}

#endif
