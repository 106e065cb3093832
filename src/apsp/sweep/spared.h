/*
 * What batches are spared on their way up the tree of elimination: see batch.h. A block passes on
 * the rows that its batch has anything in, and no others; where the blocks above are large, those
 * are a small part of all.
 */
#ifndef TWI_APSP_SWEEP_SPARED_H
#define TWI_APSP_SWEEP_SPARED_H

#include "apsp/sweep/tree.h"

#define TWI_USUAL_BATCH 256 /* columns of a batch where nothing is known of its kernel */

/* Finds tree->spared, for a graph that the tree was made for and batches of `width` columns. */
TW_CHECKED tw_status twi_tree_count_spared(tw_context *ctx, twi_tree *tree, const tw_graph *graph,
                                           int64_t width);

/* Bytes that it takes beside the tree, about. */
uint64_t twi_tree_spared_memory(const tw_graph *graph);

#endif
