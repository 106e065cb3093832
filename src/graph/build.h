/*
 * How graphs are made. Readers and generators bring edges in parts, wherever those lie (arrays of
 * the caller, a mapped file of triples, blocks filled by a parser); the builder checks them and
 * makes the compressed rows in parallel. The arcs of a row keep the order of their edges, so the
 * graph is the same for any thread count.
 */
#ifndef TWI_GRAPH_BUILD_H
#define TWI_GRAPH_BUILD_H

#include "graph/graph.h"

#define TWI_MOST_VERTICES INT32_MAX

/* Edges of equal layout: member i of each is `*_step` bytes after member i - 1, at any alignment.
 * weight NULL: each weighs 1. */
typedef struct twi_edge_part {
    int64_t count;
    const char *source; /* int32_t */
    const char *target; /* int32_t */
    const char *weight; /* of the weight type of the whole graph */
    int32_t source_step;
    int32_t target_step;
    int32_t weight_step;
} twi_edge_part;

/* Writes where edge `index` came from, for an error sentence: "roads.bin: byte 20". */
typedef void (*twi_place_fn)(char *text, size_t size, const void *self, int64_t index);

typedef struct twi_edge_source {
    int64_t vertices;
    const twi_edge_part *parts;
    int64_t part_count;
    tw_type weight_type; /* TW_I32, TW_F32, TW_F64; TW_I32 if any part has no weights */
    bool both;           /* each edge makes an arc in both directions */
    bool undirected;     /* what the graph says of itself; if not both, the arcs are symmetric */
    twi_place_fn place;  /* NULL: "edge 7" */
    const void *place_self;
} twi_edge_source;

/* Vertices out of range, NaN and -inf are refused with their place; an edge of +inf or a loop
 * >= 0 is dropped. */
TW_CHECKED tw_status twi_graph_build(tw_context *ctx, tw_graph **out,
                                     const twi_edge_source *source);

/* A graph with its offsets, targets and weights allocated; the offsets are zero, the rest is not
 * set. Checks the memory first. */
TW_CHECKED tw_status twi_graph_allocate(tw_context *ctx, tw_graph **out, int64_t vertices,
                                        tw_type weight_type);
TW_CHECKED tw_status twi_graph_allocate_arcs(tw_context *ctx, tw_graph *graph, int64_t arcs);

/* Weights seen so far, kept by each thread and merged. */
typedef struct twi_weight_stats {
    double min;
    double max;
    bool integral;
} twi_weight_stats;

static inline twi_weight_stats twi_no_weights(void)
{
    return (twi_weight_stats){__builtin_inf(), -__builtin_inf(), true};
}

static inline void twi_see_weight(twi_weight_stats *stats, double weight)
{
    stats->min = weight < stats->min ? weight : stats->min;
    stats->max = weight > stats->max ? weight : stats->max;
    stats->integral &= weight >= INT32_MIN && weight <= INT32_MAX && weight == (int64_t)weight;
}

void twi_merge_stats(twi_weight_stats *into, const twi_weight_stats *from);
/* Writes the statistics into the graph; its arcs must be set. */
void twi_graph_set_stats(tw_graph *graph, const twi_weight_stats *stats);

/*
 * A square matrix of adjacency at any steps between its elements, so that a transposed one, or one
 * inside a file, is a view as good as any.
 */
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

#endif
