/*
 * The factor: for every block S of the tree the closed arcs between S and A(S), packed as left
 * operands for the kernel's update_rows. "Closed" means over all walks whose inner vertices lie in
 * S or below.
 */
#ifndef TWI_APSP_SWEEP_FACTOR_H
#define TWI_APSP_SWEEP_FACTOR_H

#include "apsp/closure/kernels.h"
#include "apsp/shared/plan.h"
#include "apsp/sweep/tree.h"

typedef struct twi_factor {
    const twi_minplus_kernel *kernel;
    int64_t *offset; /* blocks + 1, in elements of data */
    char *data;
} twi_factor;

/* A packed operand of a block. */
typedef struct twi_operand {
    void *data;
    int64_t step; /* elements from one strip to the next */
} twi_operand;

/* Fronts of all blocks closed and merged, on `threads` threads. The weights are the plan's, the
 * arithmetic and "no path" those of the kernel's type. */
TW_CHECKED tw_status twi_factor_create(tw_context *ctx, twi_factor **out, const tw_apsp_plan *plan,
                                       const twi_tree *tree, const twi_minplus_kernel *kernel,
                                       int threads);
void twi_factor_destroy(twi_factor *factor); /* NULL is fine */

/* The same for who keeps the closed arcs in a form of his own: `keep` is called once for every
 * block, by any thread, with the block's front after it was closed. Rows and columns of that are
 * those of S, then those of A(S); element (u, v), at front[u * stride + v], is the arc u -> v. */
typedef struct twi_factor_keeper {
    void (*keep)(void *self, int32_t b, const void *front, int64_t stride);
    void *self;
} twi_factor_keeper;
TW_CHECKED tw_status twi_factor_keep(tw_context *ctx, const twi_factor_keeper *keeper,
                                     const tw_apsp_plan *plan, const twi_tree *tree,
                                     const twi_minplus_kernel *kernel, int threads);

/* Bytes that it keeps, and that it holds besides while it is made. */
/* Tasks that so many threads have to share at a time: a large front is work for all of them. */
int64_t twi_factor_tasks(const twi_tree *tree, int threads);
uint64_t twi_factor_memory(const twi_tree *tree, const twi_minplus_kernel *kernel);
uint64_t twi_factor_scratch(const tw_apsp_plan *plan, const twi_tree *tree,
                            const twi_minplus_kernel *kernel, int threads);

/* Rows S, depths A(S): arcs from A(S) to S, for the way down. */
twi_operand twi_factor_down(const twi_factor *factor, const twi_tree *tree, int32_t b);
/* Rows A(S), and rows S; depths S: arcs from S, for the way up. */
twi_operand twi_factor_up(const twi_factor *factor, const twi_tree *tree, int32_t b);
twi_operand twi_factor_own(const twi_factor *factor, const twi_tree *tree, int32_t b);

#endif
