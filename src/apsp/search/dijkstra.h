/*
 * Dijkstra's search from one source: for a few sources, for negative floats (whose sums need an
 * order of their own), and for graphs on which the lane search scans vertices too often.
 */
#ifndef TWI_APSP_SEARCH_DIJKSTRA_H
#define TWI_APSP_SEARCH_DIJKSTRA_H

#include "apsp/search/net.h"

/* Weights up to this have a bucket for each distance modulo; longer ones go through the heap. */
enum { TWI_BUCKETS_MOST = 1 << 16 };

/* Arcs scanned, or entries of a row, between looks at the cancel flag. */
enum { TWI_DIJKSTRA_LOOK = 1 << 14 };

/* One thread's memory; `chain` and `bucket` only where buckets are used. */
typedef struct twi_dijkstra_space {
    void *distance; /* n of 8 bytes, by place */
    void *value;    /* n f64, by place: sums of the weights of a dual net */
    void *heap;     /* n + 1 of 16 bytes */
    int32_t *slot;  /* n: where a place stands in the heap */
    void *chain;    /* arcs + 2 of 8 bytes */
    int32_t *bucket;
    uint64_t *filled;
} twi_dijkstra_space;

TW_CHECKED tw_status twi_dijkstra_space_create(tw_context *ctx, twi_dijkstra_space *space,
                                               const twi_net *net);
void twi_dijkstra_space_clear(twi_dijkstra_space *space);
uint64_t twi_dijkstra_space_memory(int64_t n, int64_t arcs, twi_net_kind kind, double max_weight);

/*
 * The row of `source` (a place) into `row`, in the order of vertices: i32 for a net of i32 arcs,
 * f32 or f64 for those, f64 for a dual net. Values above the cutoff need not be exact. False if
 * `certify` and some distance does not fit the type of the row. The row is not one if the call is
 * cancelled meanwhile; see twi_is_cancelled.
 */
typedef struct twi_dijkstra_job {
    const twi_net *net;
    int32_t source;
    double cutoff;
    bool certify;    /* of i32 rows */
    tw_context *ctx; /* for its cancel flag */
} twi_dijkstra_job;
bool twi_dijkstra(const twi_dijkstra_job *job, twi_dijkstra_space *space, void *row,
                  int64_t *scanned);

#endif
