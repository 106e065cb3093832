/*
 * Graphs from matrices: a square matrix of adjacency at any steps between its elements, so that a
 * transposed one, or one inside a file, is a view as good as any.
 */
#ifndef TWI_GRAPH_ADJACENCY_H
#define TWI_GRAPH_ADJACENCY_H

#include "graph/graph.h"

typedef enum twi_entry {
    TWI_ENTRY_BOOL, /* 0 is no edge, anything else weighs 1 */
    TWI_ENTRY_I8,
    TWI_ENTRY_U8,
    TWI_ENTRY_I16,
    TWI_ENTRY_U16,
    TWI_ENTRY_I32,
    TWI_ENTRY_U32,
    TWI_ENTRY_I64,
    TWI_ENTRY_U64,
    TWI_ENTRY_F32,
    TWI_ENTRY_F64,
    TWI_ENTRY_COUNT
} twi_entry;

typedef struct twi_adjacency {
    const char *data;
    int64_t vertices;
    int64_t row_step; /* bytes */
    int64_t col_step;
    twi_entry entry;
    bool unit;             /* every edge weighs 1 */
    const double *no_edge; /* an entry that is no edge; NULL: none but infinity */
    const char *name;      /* of the file, for error sentences; NULL: the caller's own matrix */
} twi_adjacency;

TW_CHECKED tw_status twi_graph_from_adjacency(tw_context *ctx, tw_graph **out,
                                              const twi_adjacency *matrix, bool both,
                                              bool undirected);

/* What is taken beside the matrix and the graph while that is made. */
uint64_t twi_adjacency_scratch(tw_context *ctx, int64_t vertices);
/* The edges of rows first ... first+rows-1, `data` being at the first of them; `buffer` has room
 * for a row of doubles. */
int64_t twi_adjacency_count(const twi_adjacency *matrix, int64_t first, int64_t rows,
                            double *buffer);
/* The type of the weights, before those of wide integers are known. */
tw_type twi_adjacency_type(const twi_adjacency *matrix);

#endif
