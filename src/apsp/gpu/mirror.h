/* Symmetric matrices of which one half was computed. */
#ifndef TWI_APSP_GPU_MIRROR_H
#define TWI_APSP_GPU_MIRROR_H

#include "apsp/gpu/gpu.h"

/* The upper triangle of a pinned host matrix from its lower one, through the current device, which
 * has `limit` bytes for it. */
TW_CHECKED tw_status twi_gpu_mirror_host(tw_context *ctx, const twi_gpu_host *host, uint64_t limit);

#endif
