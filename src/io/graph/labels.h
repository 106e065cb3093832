/*
 * Names of vertices, numbered in the order in which they first appear: a hash table with open
 * addressing over names that lie one after another. The hash has a random key, so that nobody can
 * write a file of names that all fall on one slot; the numbers do not depend on it.
 *
 * Names that memory has no room for are counted: dropped but for a sample of those whose hashes
 * end in enough zeros, from which how many there are, and how long, is estimated.
 */
#ifndef TWI_IO_GRAPH_LABELS_H
#define TWI_IO_GRAPH_LABELS_H

#include "graph/graph.h"

typedef struct twi_labels {
    char *text; /* names, each ended by 0 */
    uint64_t text_used;
    uint64_t text_room;
    int64_t *offsets; /* of each name in text */
    int64_t count;
    int64_t offsets_room;
    int32_t *slots; /* a vertex + 1, or 0; a power of two of them */
    uint64_t slot_count;
    uint64_t key[2];                 /* of the hash, random */
    struct twi_label_sample *sample; /* of names that are counted; NULL: they are kept */
} twi_labels;

/* The vertex of a name of `length` bytes without 0, given a number if it is new. */
TW_CHECKED tw_status twi_labels_vertex(tw_context *ctx, twi_labels *labels, const char *name,
                                       size_t length, int32_t *out);
/* The vertex of a name, or -1. */
int32_t twi_labels_find(const twi_labels *labels, const char *name, size_t length);
/* Hands the names over to a graph of as many vertices, in order for tw_graph_find. */
TW_CHECKED tw_status twi_labels_give(tw_context *ctx, twi_labels *labels, tw_graph *graph);
void twi_labels_clear(twi_labels *labels);

/* Drop the names and count from now on: every one is vertex 0. False when there is no memory for
 * that either, or when it is done already. */
bool twi_labels_count(tw_context *ctx, twi_labels *labels);
/* How many there are, at most but for chance, if they are counted; and the bytes that they would
 * take beyond those that they take now: in the end, at most while they are read, and in a graph. */
typedef struct twi_labels_guess {
    int64_t count;
    bool guessed; /* else all of them were counted */
    uint64_t end, reading, kept;
} twi_labels_guess;
twi_labels_guess twi_labels_estimate(const twi_labels *labels);

/* The hash of a name under a key: SipHash-1-3. */
uint64_t twi_label_hash(const uint64_t key[2], const char *name, size_t length);

#endif
