/*
 * Reachability in blocks of sources, on the CPU. A block has up to 1024 components as its sources,
 * one bit each. A component is reached by itself, if it is a source, and by whatever reaches one of
 * its predecessors; components come in topological order, so one pass settles all of them: a set of
 * 128 bytes per component, an OR of two sets per arc. Blocks are independent of each other: threads
 * take one each, and memory is O(components * block) whatever the number of sources.
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

typedef struct twi_reach_set {
    uint64_t word[TWI_REACH_WORDS];
} twi_reach_set;

/* Sources of a block: distinct components, bit i for list[i]. */
typedef struct twi_reach_sources {
    const int32_t *list;
    int count;
} twi_reach_sources;

/* The sources that reach each component into `sets`, one for each component. False: cancelled.
 * For worker threads. */
bool twi_reach_block(tw_context *ctx, const twi_condensation *condensation,
                     const twi_reach_sources *sources, twi_reach_set *sets);

/* How many vertices each of the listed components reaches, its own included, into counts, which has
 * a place for every component; the list rises. With all components in it, redundant arcs are
 * dropped on the way. */
TW_CHECKED tw_status twi_reach_count(tw_context *ctx, twi_condensation *condensation,
                                     const int32_t *list, int64_t count, int64_t *counts);

/* Threads for which there is memory, `each` bytes per thread and some beside them; at least 1. */
int twi_reach_team(tw_context *ctx, uint64_t beside, uint64_t each, int64_t most);

#endif
