/*
 * Rows of a result that stand as columns of a batch in device memory, on their way to delivery:
 * made rows there, in the result's type, in two blocks that take turns, copied to pinned buffers on
 * a stream of their own while the next ones are made. Sweeps and searches deliver so.
 */
#ifndef TWI_APSP_GPU_COLUMNS_H
#define TWI_APSP_GPU_COLUMNS_H

#include "apsp/gpu/kernels/rows.h"
#include "apsp/shared/deliver.h"
#include "gpu/compat.h"
#include "gpu/stage.h"

typedef struct twi_gpu_columns {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    twi_delivery *delivery;
    twi_gpu_rows rows;     /* `begin` is the first row of the batch */
    const int32_t *column; /* of the host, as those of `rows` are of the device; NULL: in order */
    const int32_t *place;
    cudaStream_t stream; /* where they are made, */
    cudaStream_t copies; /*   and copied */
    cudaEvent_t converted;
    twi_gpu_stage *stage;
    void *const *block; /* two, of the device, as large as the stage's buffers */
    uint64_t *misfit;   /* of the host, pinned */
    double *seconds;    /* of copies: added to */
} twi_gpu_columns;

/* `count` rows from rows.begin on, all of the batch. A value that the type of the result cannot
 * hold is refused, with its pair. */
TW_CHECKED tw_status twi_gpu_deliver_columns(twi_gpu_columns *self, int64_t count);

#endif
