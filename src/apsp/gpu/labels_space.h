/*
 * Memory, streams and events of searches that correct labels (gpu/labels.c), on one device and in
 * one working type.
 */
#ifndef TWI_APSP_GPU_LABELS_SPACE_H
#define TWI_APSP_GPU_LABELS_SPACE_H

#include "apsp/gpu/entering.h"
#include "apsp/gpu/gpu.h"
#include "apsp/gpu/kernels/labels.h"
#include "gpu/queue.h"
#include "gpu/stage.h"

enum { TWI_LABELS_TURNS = 2 }; /* batches that are on their way at a time */

/* What is told of a batch beside its folds. */
typedef struct twi_labels_findings {
    uint64_t misfit; /* lowered to the least place of a value that the result cannot hold */
    uint64_t widest;
    int32_t farthest;
    int32_t capped;
    int32_t refuted;
    int32_t stop; /* set by the host, for passes under way */
} twi_labels_findings;

/* What comes back of a batch, once in pinned and once in device memory: all in one piece. */
typedef struct twi_labels_letter {
    twi_labels_findings *found;
    uint64_t *sum; /* of each column, as the next two */
    int32_t *reached;
    int32_t *most;
    int32_t *changed; /* of each chunk */
    uint64_t bytes;
} twi_labels_letter;

/* A batch on its way. */
typedef struct twi_labels_turn {
    twi_labels labels;
    twi_labels_letter here;
    twi_labels_letter there;
    int64_t first; /* row of the result */
    int32_t count;
    int32_t passes; /* that have been queued */
    twi_gpu_clock clock;
} twi_labels_turn;

typedef struct twi_labels_space {
    const twi_gpu_labels_kernel *kernel;
    int64_t columns;    /* of a batch */
    int32_t turn_count; /* batches at a time */
    bool rows_wanted;   /* there are buffers for rows */
    bool certify;       /* and the arcs as they leave vertices */
    cudaStream_t stream;
    cudaStream_t rows;   /* converted there, before what the next batch has queued, */
    cudaStream_t copies; /*   and copied there, while others are converted */
    cudaEvent_t converted;
    cudaEvent_t passed[2]; /* some passes, in turns */
    char *memory;          /* of the device */
    char *letters;         /* pinned */
    twi_gpu_stage stage;
    void *block[2]; /* of rows, on the device */
    int32_t *list;  /* device: sources; NULL: all vertices */
    int32_t *targets;
    int32_t *place;   /* device: of each vertex, itself; */
    int32_t *column;  /*   of each column, too */
    int64_t *offsets; /* device: of the arcs out of vertices, for the certificate, */
    int32_t *heads;   /*   and where they lead */
    double *potential;
    twi_labels_turn turns[TWI_LABELS_TURNS];
} twi_labels_space;

/* Columns of a batch in `type`: whole chunks, and one at least; several batches, unless those were
 * narrow, and no more than the device holds. */
int64_t twi_labels_columns(const tw_apsp_plan *plan, tw_type type);

/* Streams and events, on the plan's device, which becomes the current one. To be closed in any
 * case. */
TW_CHECKED tw_status twi_labels_open(tw_context *ctx, twi_labels_space *self,
                                     const tw_apsp_plan *plan);
void twi_labels_close(twi_labels_space *self);

/* Memory for what `self` says up to `certify`, and the arcs there. To be emptied in any case, when
 * nothing is queued any more: after a failure, once it has been drained, which also ends passes
 * that are under way. */
TW_CHECKED tw_status twi_labels_fill(tw_context *ctx, twi_labels_space *self,
                                     const tw_apsp_plan *plan, const twi_entering *entering);
void twi_labels_drain(twi_labels_space *self);
void twi_labels_empty(twi_labels_space *self);

#endif
