/*
 * The factor of a sweep as a GPU wants it: the closed arcs of every block in slabs
 * (gpu/kernels/sweep.h), and the tasks of its products, those of a level one after the other. On
 * the way down a level is a depth below the roots, on the way up a height above the farthest leaf:
 * blocks of one level know nothing of each other.
 */
#ifndef TWI_APSP_GPU_SLABS_H
#define TWI_APSP_GPU_SLABS_H

#include "apsp/gpu/kernels/sweep.h"
#include "apsp/sweep/factor.h"

enum { TWI_DOWN, TWI_UP, TWI_WAYS };
enum { TWI_TALL, TWI_LOW, TWI_FORMS };

typedef struct twi_slabs {
    const twi_tree *tree;
    int64_t elements;      /* of all slabs */
    int64_t *at[TWI_WAYS]; /* where those of each block begin */
    int64_t indices;       /* of a block: A(S), then S, as places */
    int32_t *index;        /* those of block b begin at high_first[b] + first[b] */
    int64_t tasks;
    twi_sweep_task *task;
    int32_t levels[TWI_WAYS];
    int64_t *task_first[TWI_WAYS][TWI_FORMS]; /* of each level, and one more: into task */
    int32_t *by_height;                       /* blocks */
    int64_t *height_first;                    /* into by_height, and one more */
    int64_t *height_rows;                     /* of the largest block of each */
    int32_t *block;                           /* of each place */
    int32_t *below;                           /* the first place in or below each block */
} twi_slabs;

/* The shapes alone; elements are filled by twi_slabs_keep. */
TW_CHECKED tw_status twi_slabs_create(tw_context *ctx, twi_slabs *out, const twi_tree *tree);
void twi_slabs_clear(twi_slabs *slabs); /* all zero is fine */

/* Elements and tasks of a tree's slabs, and bytes of the host that the shapes take. */
typedef struct twi_slabs_size {
    int64_t elements;
    int64_t tasks;
    uint64_t memory;
} twi_slabs_size;
twi_slabs_size twi_slabs_measure(const twi_tree *tree);

/* What twi_factor_keep calls for each block: the slabs of that block. */
typedef struct twi_slabs_filler {
    tw_context *ctx;
    const twi_slabs *slabs;
    tw_type type;
    char *data;
    int threads; /* for large blocks */
} twi_slabs_filler;
void twi_slabs_keep(void *filler, int32_t b, const void *front, int64_t stride);

#endif
