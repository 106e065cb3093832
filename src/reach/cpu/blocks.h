/*
 * Reachability in blocks of sources, on the CPU. A block has up to 1024 components as its sources,
 * one bit each. A component is reached by itself, if it is a source, and by whatever reaches one of
 * its predecessors; components come in topological order, so one pass settles all of them: a set of
 * up to 128 bytes per component, an OR of two sets per arc. Blocks are independent of each other:
 * threads take one each, and memory is O(components * block) whatever the number of sources. Where
 * memory is short, or sources are few, blocks are narrower, down to 64 sources: a word per set.
 *
 * An arc p -> c is redundant if p reaches c by another way. If p is among the sources that shows
 * for free: predecessors come in falling order, and p's bit is in the set of c already when it is
 * p's turn. Going through all components in falling order, redundant arcs are dropped as they are
 * found, before the blocks in which they would cost most; what remains at the end is the transitive
 * reduction. A random acyclic graph of any density keeps about n log n arcs of it.
 */
#ifndef TWI_REACH_CPU_BLOCKS_H
#define TWI_REACH_CPU_BLOCKS_H

#include "bits/tally.h"
#include "reach/shared/components.h"

#define TWI_REACH_WORDS TWI_TALLY_WORDS
#define TWI_REACH_BLOCK (64 * TWI_REACH_WORDS)

/* Sources of a block: distinct components, bit i for list[i], or for first + i without a list. */
typedef struct twi_reach_sources {
    const int32_t *list;
    int32_t first;
    int count;
} twi_reach_sources;

/* The sources that reach each component into `sets`, so many words for each component: 1, 2, 4, 8
 * or 16. False: cancelled. For worker threads. */
bool twi_reach_block(tw_context *ctx, const twi_condensation *condensation,
                     const twi_reach_sources *sources, uint64_t *sets, int words);

/* How many vertices each of the listed components reaches, its own included, into counts, which has
 * a place for every component; the list rises. Without a list: every component, and redundant arcs
 * are dropped on the way. */
TW_CHECKED tw_status twi_reach_count(tw_context *ctx, twi_condensation *condensation,
                                     const int32_t *list, int64_t count, int64_t *counts);
/* Bytes it takes at least. */
uint64_t twi_reach_count_memory(const twi_condensation *condensation, bool listed);

/* Words of a set, no more than so many sources need. */
int twi_reach_words(int64_t sources);
/* Threads for which there is memory, `each` bytes per thread and some beside them; at least 1. */
int twi_reach_team(tw_context *ctx, uint64_t beside, uint64_t each, int64_t most);

#endif
