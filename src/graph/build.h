/*
 * How graphs are made. Readers and generators bring edges in parts, wherever those lie (arrays of
 * the caller, a mapped file of triples, blocks filled by a parser); the builder checks them and
 * makes the compressed rows in parallel. The arcs of a row keep the order of their edges, so the
 * graph is the same for any thread count.
 */
#ifndef TWI_GRAPH_BUILD_H
#define TWI_GRAPH_BUILD_H

#include "graph/graph.h"

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
    const char *name;    /* of their file, for a refusal; NULL: none */
    twi_place_fn place;  /* NULL: "edge 7" */
    const void *place_self;
    uint64_t held;   /* bytes of the edges, which are gone when the graph is there; 0: they stay */
    tw_status blame; /* of what cannot be; 0: TW_ERR_FORMAT with a place, TW_ERR_ARGUMENT without */
} twi_edge_source;

/* What a graph of so many vertices and arcs holds. */
uint64_t twi_graph_bytes(int64_t vertices, int64_t arcs, tw_type weight_type);
/* What has to be had to build it from so many edges and to do with it what the context was told
 * (tw_set_graph_use), `held` bytes of edges being gone by then; and to build it alone. */
uint64_t twi_graph_needs(tw_context *ctx, const twi_edge_source *source, int64_t edges);
uint64_t twi_graph_building(tw_context *ctx, const twi_edge_source *source, int64_t edges);
/* What is only estimated of a graph that has not been read. */
typedef enum twi_graph_guess {
    TWI_GUESS_NONE,
    TWI_GUESS_VERTICES,
    TWI_GUESS_ALL, /* edges, too */
} twi_graph_guess;
/* The sentence for a graph that does not fit, which needs so many bytes more than are used. */
TW_CHECKED tw_status twi_graph_refuse(tw_context *ctx, const char *name, int64_t vertices,
                                      int64_t edges, uint64_t bytes, twi_graph_guess guess);

/* Vertices out of range, NaN and -inf are refused with their place; an edge of +inf or a loop
 * >= 0 is dropped. */
TWI_SHARED TW_CHECKED tw_status twi_graph_build(tw_context *ctx, tw_graph **out,
                                                const twi_edge_source *source);

#endif
