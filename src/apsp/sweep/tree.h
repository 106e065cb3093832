/*
 * The tree of elimination, in blocks. A block S is a set of vertices that go together; A(S), its
 * `high` vertices, are those that stand when it goes and that its elimination joins. All of A(S)
 * lies in blocks on the way from S to the root of its tree: the parent is the block of A(S) that
 * goes first. There is one root for each component.
 *
 * Blocks are numbered so that children come before their parents, and a block's descendants right
 * before it.
 */
#ifndef TWI_APSP_SWEEP_TREE_H
#define TWI_APSP_SWEEP_TREE_H

#include "apsp/sweep/order.h"

typedef struct twi_tree {
    atomic_int users;
    int64_t n;
    int32_t blocks;
    int32_t *first;      /* blocks + 1: block b is vertex[first[b]] ... vertex[first[b + 1] - 1] */
    int32_t *vertex;     /* n */
    int64_t *high_first; /* blocks + 1, into high */
    int32_t *high;       /* vertices */
    int32_t *parent;     /* -1: a root */
    int32_t *block;      /* of each vertex */
    int32_t *place;      /* of each vertex in `vertex` */
    int32_t *height;     /* of a block above its farthest leaf */
    int32_t heights;     /* 1 + the largest */
    int32_t *above;      /* vertices of the blocks above a block, on the way to its root */
    int64_t depth;       /* the largest |S| + above */
    int64_t front_most;  /* the largest |S| + |A(S)| */
    int64_t size_most;   /* the largest |S| */
    double rests;        /* entries of A(S) by A(S), in all, */
    double rest_most;    /*   and those that wait for parents at a time, at most */
    /* Steps d = min(d, a + b): of a column swept down, of a column carried up alone, of all fronts
     * closed. */
    double down;
    double up;
    double spared; /* of `up`: rows that no column of its batch has anything in (spared.h) */
    double factor;
} twi_tree;

static inline int64_t twi_tree_size(const twi_tree *tree, int32_t b)
{
    return tree->first[b + 1] - tree->first[b];
}
static inline int64_t twi_tree_high(const twi_tree *tree, int32_t b)
{
    return tree->high_first[b + 1] - tree->high_first[b];
}

/* `columns` is how many sources the run will have: blocks become larger where there are more. *out
 * is NULL if the order has a bound (order->entries) that the lists of A pass. */
TW_CHECKED tw_status twi_tree_create(tw_context *ctx, twi_tree **out, const twi_skeleton *skeleton,
                                     const twi_order *order, int64_t columns);
/* One more user of it. A tree does not change, and goes with its last user. */
twi_tree *twi_tree_share(twi_tree *tree);
void twi_tree_destroy(twi_tree *tree); /* NULL is fine */
uint64_t twi_tree_memory(const twi_tree *tree);
/* Bytes that making one for n vertices takes beside its order, about: usually less. */
uint64_t twi_tree_create_memory(int64_t n);

#endif
