/*
 * One device of a sweep on GPUs (gpu/sweep.c): what lies in its memory and in the pinned memory
 * beside it, for batches of a number of columns.
 */
#ifndef TWI_APSP_GPU_LANE_H
#define TWI_APSP_GPU_LANE_H

#include "apsp/gpu/slabs.h"
#include "gpu/queue.h"
#include "gpu/stage.h"

enum { TWI_LANE_TURNS = 2 }; /* batches that are on their way at a time */

/* What is told of a batch beside its folds. */
typedef struct twi_lane_findings {
    uint64_t misfit; /* lowered to the least place of a value that the result cannot hold */
    uint64_t widest;
    int32_t farthest;
    int32_t capped;
    int32_t refuted;
    int32_t reserved;
} twi_lane_findings;

/* A batch on its way: what goes up for it and comes back, once in pinned and once in device memory.
 */
typedef struct twi_lane_letter {
    twi_sweep_range *range;   /* of each block */
    int32_t *source;          /* the place of each column's source */
    int32_t *row;             /* of each column, in the batch */
    int32_t *column;          /* of each row */
    twi_lane_findings *found; /* up, and back */
    uint64_t *sum;            /* of each column, as the next two */
    int32_t *reached;
    int32_t *most;
} twi_lane_letter;

typedef struct twi_lane_turn {
    twi_lane_letter here;
    twi_lane_letter there;
    int64_t first; /* row of the result */
    int64_t count;
    twi_gpu_clock clock;
} twi_lane_turn;

/* One device of the list. */
typedef struct twi_lane {
    int32_t device;
    cudaStream_t stream;
    cudaStream_t copies;   /* of rows to the host, while the next ones are converted */
    cudaEvent_t converted; /* rows that may be copied */
    char *memory;          /* of the device */
    char *pinned;
    twi_gpu_stage stage;
    twi_gpu_batch batch;
    twi_sweep_task *tasks;
    int32_t *by_height;
    twi_gpu_sweep_arcs arcs;
    double *potential;
    int32_t *sources;
    int32_t *targets;
    void *block[2]; /* of rows */
    twi_lane_turn turns[TWI_LANE_TURNS];
    int error; /* of the first call that failed, */
    const char *call;
    char text[96]; /*   and what it was to do, if that has numbers */
} twi_lane;

/* What a lane is made for. */
typedef struct twi_lane_shape {
    const tw_apsp_plan *plan;
    const twi_gpu_sweep_kernel *kernel;
    int64_t columns; /* of a batch */
    bool folded;     /* nobody wants rows */
    bool certify;    /* a distance may reach the cap of the type */
} twi_lane_shape;

/* Columns of a batch: what the plan's devices share out evenly, less where that is more than
 * TWI_SWEEP_BATCH or than they hold; whole tiles, and one at least. */
int64_t twi_lane_columns(const tw_apsp_plan *plan, twi_slabs_size size,
                         const twi_gpu_sweep_kernel *kernel);

/* Bytes of pinned memory that it takes. */
uint64_t twi_lane_pinned(const twi_lane_shape *shape);

/* Memory, streams and events: any thread may do that, beside one that computes. To be closed in any
 * case. */
void twi_lane_prepare(twi_lane *lane, const twi_lane_shape *shape, const twi_slabs *slabs,
                      int32_t device);
/* What came of it; makes the device the current one. */
TW_CHECKED tw_status twi_lane_open(tw_context *ctx, const twi_lane *lane);
/* Queue what stays through all batches; `arcs` are the elements of the slabs. */
TW_CHECKED tw_status twi_lane_upload(tw_context *ctx, twi_lane *lane, const twi_lane_shape *shape,
                                     const twi_slabs *slabs, const void *arcs);
void twi_lane_close(twi_lane *lane); /* all zero is fine */

#endif
