/*
 * Two pinned buffers between the host and a device, used in turn: one is on its way while the other
 * is filled or taken. Arrays of the host go up through them, filled by all threads; rows come back
 * through them, and whoever takes rows does so while the next ones arrive.
 */
#ifndef TWI_GPU_STAGE_H
#define TWI_GPU_STAGE_H

#include "base/context.h"
#include "gpu/compat.h"
#include "gpu/store.h"

typedef struct twi_gpu_stage {
    cudaStream_t stream; /* that the copies are on */
    char *pinned[2];
    twi_gpu_block block[2]; /* that they lie in */
    cudaEvent_t arrived[2]; /* a buffer is through, in whichever direction */
    uint64_t bytes;         /* of a buffer */
    int turn;               /* the buffer that is next on the way up */
} twi_gpu_stage;

/* Take the buffers, of `bytes` each. To be closed in any case, once its streams are at rest; all
 * zero is fine there. */
TW_CHECKED tw_status twi_gpu_stage_open(tw_context *ctx, twi_gpu_stage *stage, cudaStream_t stream,
                                        uint64_t bytes);
void twi_gpu_stage_close(twi_gpu_stage *stage);

/* Queue a copy of an array, which may be given up as soon as this returns; `what` is what is being
 * done. (`to` is device memory: const for kernels, not for this.) */
TW_CHECKED tw_status twi_gpu_upload(tw_context *ctx, twi_gpu_stage *stage, const void *to,
                                    const void *from, uint64_t bytes, const char *what);

/* How rows come back: some that follow each other are queued into a pinned buffer, and taken once
 * they are there. */
typedef struct twi_gpu_rows_back {
    void *self;
    /* On `stream`, which is the stage's unless another one has the copies. */
    tw_status (*fetch)(void *self, int64_t first, int64_t count, int turn);
    tw_status (*give)(void *self, int64_t first, int64_t count, char *rows);
    cudaStream_t stream;
    double *waited; /* seconds, added to; or NULL */
} twi_gpu_rows_back;
/* Rows `first` to `end` - 1, at most `most` at a time. */
TW_CHECKED tw_status twi_gpu_bring_back(tw_context *ctx, twi_gpu_stage *stage,
                                        const twi_gpu_rows_back *how, int64_t first, int64_t end,
                                        int64_t most);

#endif
