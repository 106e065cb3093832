/*
 * A batch: the columns of some hundred sources on their way through the tree. A row is what the
 * batch has for one vertex, x[v][j] being the distance from source j to v.
 *
 * Up: the block of a source begins with 0 there; each block on the way to the root, the lower ones
 * first, passes what it has to A(S) and closes itself, so that x[v] is the least walk whose inner
 * vertices lie in v's block or below. Only blocks above a source have anything ("touched"), and
 * only the strips of columns that have a source below.
 *
 * Down: from the roots, x[S] = min(x[S], arcs from A(S) (x) x[A(S)]). A walk that leaves the blocks
 * below S comes back to S for the last time through A(S), whose rows are final by then. Blocks go
 * in descending order, which is depth first: all that a block needs are rows of the blocks above
 * it, so those on the way to the root are kept in a stack that the second cache holds, and a block
 * without children is overwritten by the next one as soon as it has been seen.
 *
 * Half: where the graph is symmetric and every vertex is a source, in the order of places, a batch
 * can leave the vertices after its own to the batches of those, for which it will be the one
 * before. Of the blocks after its last source it only needs those above its sources.
 */
#ifndef TWI_APSP_SWEEP_BATCH_H
#define TWI_APSP_SWEEP_BATCH_H

#include "apsp/sweep/factor.h"

/* What the batches of a run have in common. */
typedef struct twi_course {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    const twi_tree *tree;
    const twi_factor *factor;
    const twi_minplus_kernel *kernel;
    int64_t size;       /* of an element */
    int64_t width;      /* columns of a batch, at most */
    int64_t step;       /* elements from one row to the next */
    bool certify;       /* a distance may reach the cap of the type */
    int64_t *high_at;   /* where the rows of tree->high begin in a stack, in elements */
    int64_t *line;      /* 0, step, 2 step, ... */
    char *infinite;     /* a row of "no path" */
    bool half;          /* see below */
    int32_t *root;      /* half: of each block */
    int64_t *arc_first; /* blocks + 1; NULL unless certify, or if half */
    int32_t *arcs;      /* each belongs to the lower of its blocks: rows of a stack, from and to */
} twi_course;

/* Elements from one row of a batch to the next. */
int64_t twi_batch_step(const twi_minplus_kernel *kernel, int64_t width);

/* Columns of a batch for so many sources on so many threads. */
int64_t twi_batch_width(const twi_tree *tree, const twi_minplus_kernel *kernel, int64_t sources,
                        int threads);

/* Of the plan's tree. To be cleared in any case. */
TW_CHECKED tw_status twi_course_create(tw_context *ctx, twi_course *out, const tw_apsp_plan *plan,
                                       const twi_factor *factor, int64_t width, bool certify,
                                       bool half);
void twi_course_clear(twi_course *course);
uint64_t twi_course_memory(const tw_apsp_plan *plan, const twi_tree *tree,
                           const twi_minplus_kernel *kernel, int64_t width, bool certify);

/* A source by its place in the tree (tree->place), and the row of the result that wants it. */
typedef struct twi_ticket {
    int32_t place;
    int32_t row;
} twi_ticket;

/* One thread's. */
typedef struct twi_batch {
    const twi_course *course;
    char *stack;
    char *start;      /* rows of touched blocks on the way up */
    bool by_vertex;   /* `start` has a row for each vertex, else for those of touched blocks only */
    int64_t *at;      /* of each touched block: its first row there */
    uint64_t *mask;   /* of each block: strips that have something there on the way up */
    int32_t *touched; /* blocks that have any, ascending */
    int32_t touches;
    uint8_t *state; /* of each block on the way down: see batch.c */
    char *strips;   /* rows of a block that have anything, as far as they do */
    int32_t *pick;  /* which those are */
    int64_t *to;    /* where rows begin in `start`, in elements */
    int32_t *root;  /* of each column, for half: the block above its source */
    int32_t end;    /* half: the places from here on are left to others */
    bool refuted;   /* some distance does not fit the type */
    double steps;   /* relaxations done so far */
} twi_batch;

/* Bytes of a batch besides `start`, and its parts in `memory`. */
uint64_t twi_batch_memory(const twi_tree *tree, const twi_minplus_kernel *kernel, int64_t width);
void twi_batch_place(twi_batch *out, const twi_course *course, char *memory);

/* Rows that `start` needs for a batch of these sources, if it is not by vertex. `seen` is one
 * number for each block, none of them `stamp`. */
int64_t twi_batch_rows(const twi_tree *tree, const twi_ticket *tickets, int64_t count,
                       int32_t *seen, int32_t stamp);

/* The same at most, for batches of the plan's sources in the order of their places. */
int64_t twi_batch_rows_most(const tw_apsp_plan *plan, const twi_tree *tree, int64_t width);

/* For whoever wants the rows of a finished block: one course->step after the other at x, or "no
 * path" everywhere if x is NULL. Returns whether some entry is "no path", if course->certify asks
 * for that. */
typedef bool (*twi_block_seen)(void *self, int32_t b, int64_t cols, const char *x);

/* All of it for up to course->width sources in the order of their places. Columns beyond `count`,
 * up to a whole strip, are like the last one. Returns without a result if cancelled. */
void twi_batch_run(twi_batch *batch, const twi_ticket *tickets, int64_t count, twi_block_seen seen,
                   void *self);

#endif
