/*
 * Arrays of the host on their way to a device: through two pinned buffers in turn, which all
 * threads fill, one on its way while the other is filled.
 */
#ifndef TWI_APSP_GPU_STAGE_H
#define TWI_APSP_GPU_STAGE_H

#include "base/context.h"
#include "gpu/compat.h"

typedef struct twi_gpu_stage {
    cudaStream_t stream;
    char *pinned[2];
    cudaEvent_t arrived[2]; /* a buffer is through, in whichever direction */
    uint64_t bytes;         /* of a buffer */
    int turn;               /* the buffer that is next */
} twi_gpu_stage;

/* Queue a copy of an array, which may be given up as soon as this returns; `what` is what is being
 * done. (`to` is device memory: const for kernels, not for this.) */
TW_CHECKED tw_status twi_gpu_upload(tw_context *ctx, twi_gpu_stage *stage, const void *to,
                                    const void *from, uint64_t bytes, const char *what);

#endif
