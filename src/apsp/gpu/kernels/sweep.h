/*
 * The seam between a sweep on a GPU (gpu/sweep.c) and its kernels (gpu/kernels/sweep.cu, compiled
 * once per element type). x[p][j] is the distance from the source of column j to the vertex at
 * place p of the tree of elimination; the columns of a batch are sorted by the place of their
 * source, so that those with a source in or below a block, its `range`, stand side by side.
 *
 * The arcs of the factor lie in slabs: for a tile of 16 or 8 rows and all depths of a product the
 * elements [depth][row], the depths padded to an even number, missing ones infinite. Every launch
 * returns the runtime's error number (0: launched).
 */
#ifndef TWI_APSP_GPU_KERNELS_SWEEP_H
#define TWI_APSP_GPU_KERNELS_SWEEP_H

#include "tilewright.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TWI_SWEEP_TALL 16 /* rows of a tile of a product, */
#define TWI_SWEEP_LOW 8   /*   and of one for the few that are left */

/* A tile of rows of one block's product. */
typedef struct twi_sweep_task {
    int64_t arcs;  /* where its slab begins, in elements */
    int32_t out;   /* the rows of x that it writes: index[out], index[out + 1], ... */
    int32_t rows;  /* how many */
    int32_t from;  /* down: the rows of x that it reads, likewise; up: those of the pool, from 0 */
    int32_t depth; /* how many */
    int32_t block;
    int32_t reserved;
} twi_sweep_task;

/* Columns [begin, end) of a batch. */
typedef struct twi_sweep_range {
    int32_t begin;
    int32_t end;
} twi_sweep_range;

/* A batch in device memory. */
typedef struct twi_gpu_batch {
    void *x;         /* n rows */
    void *pool;      /* as many as the largest block has; never anything but distances */
    int64_t ld;      /* elements from one row of both to the next: whole tiles of columns */
    int64_t n;       /* vertices */
    int32_t columns; /* whole tiles of the kernel's */
    int32_t count;   /* columns that have a source: the first ones */
    const void *arcs;
    const int32_t *index;
    const int32_t *first;         /* place of each block's first vertex; blocks + 1 */
    const int32_t *block;         /* of the vertex at each place */
    const int32_t *vertex;        /* at each place */
    const twi_sweep_range *range; /* of each block */
    const int32_t *source;        /* the place of each column's source */
    const int32_t *row;           /* of the result, for each column */
    int32_t one;                  /* 1; the compiler must not know it */
} twi_gpu_batch;

/* What is found of a batch: all in device memory. */
typedef struct twi_gpu_folds {
    uint64_t *sum;         /* of each column: of the distances below infinity */
    int32_t *reached;      /* how many those are, the source's own counted */
    int32_t *most;         /* the largest of them */
    uint64_t *widest;      /* of the columns that reach more than their source, the one with the
                            * largest `most`, the first row of those: most + 1 in the upper half, the
                            * complement of the row in the lower; 0 without any */
    int32_t *farthest;     /* the first vertex at that distance in that row, not its source */
    int32_t *capped;       /* set if a column with a source has an infinite entry */
    int32_t *refuted;      /* set by certify */
    const int32_t *column; /* of each row */
} twi_gpu_folds;

/* The arcs of the graph, for the certificate. */
typedef struct twi_gpu_sweep_arcs {
    const int64_t *offsets;
    const int32_t *targets;
    const int32_t *place; /* of each vertex */
} twi_gpu_sweep_arcs;

typedef struct twi_gpu_sweep_kernel {
    tw_type type;
    int32_t element; /* bytes */
    int32_t tile;    /* columns */
    int32_t tiles;   /* of columns that one thread block of a product takes */

    /* Infinity in the ranges of all blocks' rows, then 0 at the sources. */
    int (*begin)(const twi_gpu_batch *batch, void *stream);
    /* The ranges of the rows of these blocks into the pool; none has more than `rows`. */
    int (*take)(const twi_gpu_batch *batch, const int32_t *blocks, int64_t count, int64_t rows,
                void *stream);
    /* x[out] = min(x[out], arcs (x) pool) in the range of the task's block, which needs no more
     * than `spans` thread blocks; `height` is that of the tasks' tiles. */
    int (*up)(const twi_gpu_batch *batch, const twi_sweep_task *tasks, int64_t count,
              int32_t height, int64_t spans, void *stream);
    /* x[out] = min(x[out] in the range of the block, infinity elsewhere; arcs (x) x[from]). */
    int (*down)(const twi_gpu_batch *batch, const twi_sweep_task *tasks, int64_t count,
                int32_t height, void *stream);
    /* Of all columns, into folds that were cleared; NULL for floats, as the rest. */
    int (*fold)(const twi_gpu_batch *batch, const twi_gpu_folds *folds, void *stream);
    /* `widest` and `farthest`; these two were cleared, to 0 and to INT32_MAX. */
    int (*widest)(const twi_gpu_batch *batch, const twi_gpu_folds *folds, void *stream);
    /* Where something is capped: the certificate of certificate.h, column by column. */
    int (*certify)(const twi_gpu_batch *batch, const twi_gpu_folds *folds,
                   const twi_gpu_sweep_arcs *arcs, void *stream);
} twi_gpu_sweep_kernel;

/* NULL for a type without kernels. */
const twi_gpu_sweep_kernel *twi_gpu_sweep_kernel_find(tw_type type);

#ifdef __cplusplus
}
#endif

#endif
