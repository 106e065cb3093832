/*
 * Breadth-first search from up to 512 sources at once, one bit per source: 64 bytes per vertex say
 * who has reached it, and one pass over an arc carries all of them.
 */
#ifndef TWI_APSP_SEARCH_BFS_H
#define TWI_APSP_SEARCH_BFS_H

#include "apsp/closure/kernels.h"
#include "apsp/shared/fold.h"
#include "graph/graph.h"

enum {
    TWI_BFS_WORDS = 8,
    TWI_BFS_MOST = 64 * TWI_BFS_WORDS,
    TWI_BFS_PLANES = 8, /* bits of a gathered level */
    TWI_BFS_STRIP = 64  /* vertices whose levels are transposed at a time: they fit the cache */
};

/* A set of sources: one cache line, and four vectors of a machine that has 16 bytes in each. */
typedef uint64_t twi_bfs_set __attribute__((vector_size(TWI_BFS_WORDS * 8)));

/* One thread's memory: sets of sources by vertex, and lists of vertices. */
typedef struct twi_bfs_space {
    twi_bfs_set *seen;   /* reached at this level or before; those that follow lie behind it */
    twi_bfs_set *front;  /* reached at this level */
    twi_bfs_set *coming; /* the next front */
    int32_t *active;     /* vertices with a front */
    int32_t *touched;
    uint8_t *is_touched;
    twi_bfs_set *plane; /* by bit of the level, then by vertex; NULL where it would be too much */
    uint8_t *strip;     /* levels of some vertices on their way to the rows */
    int planes;         /* in use */
    int64_t open_arcs;  /* into vertices that somebody has not reached, as far as is known */
} twi_bfs_space;

TW_CHECKED tw_status twi_bfs_space_create(tw_context *ctx, twi_bfs_space *space, int64_t n);
void twi_bfs_space_clear(twi_bfs_space *space);
uint64_t twi_bfs_space_memory(int64_t n);

/* Whether levels of this type are gathered and may be folded, in a graph of n vertices. */
bool twi_bfs_gathers(tw_type type, int64_t n);

typedef struct twi_bfs_job {
    const tw_graph *graph;
    const tw_graph *back;   /* its arcs the other way round; the graph itself if undirected */
    const int32_t *sources; /* vertices, one a bit */
    int count;
    tw_type type; /* of the levels: TW_U8, TW_U16 or TW_I32 */
    twi_isa isa;
    twi_fold *folds;    /* of the levels from each source, in place of rows; NULL: rows */
    double level_limit; /* deeper levels are not wanted; +inf: none */
    double deadline;    /* stop at this time of twi_seconds; 0: none */
    tw_context *ctx;    /* for its cancel flag */
} twi_bfs_job;

typedef enum twi_bfs_end {
    TWI_BFS_DONE,
    TWI_BFS_DEEP, /* a level does not fit the type */
    TWI_BFS_LATE, /* the deadline passed */
    TWI_BFS_CANCELLED
} twi_bfs_end;

/* Row i of `rows` (count x n) receives the levels of sources[i], tw_apsp_infinity(type) where there
 * is no path; or folds[i] what a summary wants to know of them, if twi_bfs_gathers. */
typedef twi_bfs_end twi_bfs_fn(const twi_bfs_job *job, twi_bfs_space *space, void *rows,
                               int64_t *scanned);
twi_bfs_fn twi_bfs;

/* The same for each instruction set; compiled where it is one of the machine's. */
twi_bfs_fn twi_bfs_scalar, twi_bfs_neon, twi_bfs_avx2, twi_bfs_avx512;

#endif
