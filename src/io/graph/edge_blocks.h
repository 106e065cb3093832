/*
 * Edges as a parser finds them, when their number is not known beforehand: a list of blocks that
 * never move, so that nothing is copied as it grows. Weights are i32 until the first that is not
 * whole; from there on f64, and the builder gets all of them as f64. A list that memory has no room
 * for goes on counting: its edges are dropped, and their number tells what they would have needed.
 *
 * Worker-safe: every thread fills its own list.
 */
#ifndef TWI_IO_GRAPH_EDGE_BLOCKS_H
#define TWI_IO_GRAPH_EDGE_BLOCKS_H

#include "base/context.h"

typedef struct twi_edge_block {
    struct twi_edge_block *next;
    int64_t count;
    int64_t room;
    bool real;    /* weights are double, else int32_t */
    void *weight; /* these three lie behind the struct */
    int32_t *source;
    int32_t *target;
} twi_edge_block;

typedef struct twi_edge_blocks {
    twi_edge_block *first;
    twi_edge_block *last;
    int64_t blocks;
    int64_t closed; /* edges in all blocks but the last */
    bool real;      /* new blocks are of double */
    bool counting;  /* the edges were dropped, but for those of one block that is used again; a list
                       that had none yet counts without it */
} twi_edge_blocks;

/* Room for another edge at the end; false when the list counts and has no block to use again. */
bool twi_edge_blocks_extend(tw_context *ctx, twi_edge_blocks *list);
/* From here on edges are added to blocks of double. */
bool twi_edge_blocks_turn_real(tw_context *ctx, twi_edge_blocks *list);
/* Makes every block of double; false when there is no memory. */
bool twi_edge_blocks_all_real(tw_context *ctx, twi_edge_blocks *list);
/* Gives back what the last block has not used, if there is memory to do so. */
void twi_edge_blocks_trim(tw_context *ctx, twi_edge_blocks *list);
/* Drop the edges and count from now on; false when it is done already. */
bool twi_edge_blocks_drop(twi_edge_blocks *list);
void twi_edge_blocks_clear(twi_edge_blocks *list);

static inline int64_t twi_edge_blocks_count(const twi_edge_blocks *list)
{
    return list->closed + (list->last != NULL ? list->last->count : 0);
}

static inline bool twi_edge_blocks_room(tw_context *ctx, twi_edge_blocks *list)
{
    return (list->last != NULL && list->last->count < list->last->room) ||
           twi_edge_blocks_extend(ctx, list);
}

/* An edge for which there is no room; false unless it can be counted. */
static inline bool twi_edge_blocks_only_count(twi_edge_blocks *list)
{
    const bool counts = list->counting && list->last == NULL;
    list->closed += counts;
    return counts;
}

static inline bool twi_edge_blocks_add(tw_context *ctx, twi_edge_blocks *list, int32_t source,
                                       int32_t target, int32_t weight)
{
    if (!twi_edge_blocks_room(ctx, list)) {
        return twi_edge_blocks_only_count(list);
    }
    twi_edge_block *block = list->last;
    block->source[block->count] = source;
    block->target[block->count] = target;
    if (block->real) {
        ((double *)block->weight)[block->count++] = weight;
    } else {
        ((int32_t *)block->weight)[block->count++] = weight;
    }
    return true;
}

static inline bool twi_edge_blocks_add_real(tw_context *ctx, twi_edge_blocks *list, int32_t source,
                                            int32_t target, double weight)
{
    if (!list->real && !twi_edge_blocks_turn_real(ctx, list)) {
        return twi_edge_blocks_only_count(list);
    }
    if (!twi_edge_blocks_room(ctx, list)) {
        return twi_edge_blocks_only_count(list);
    }
    twi_edge_block *block = list->last;
    block->source[block->count] = source;
    block->target[block->count] = target;
    ((double *)block->weight)[block->count++] = weight;
    return true;
}

#endif
