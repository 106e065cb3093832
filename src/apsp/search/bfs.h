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
    TWI_BFS_STRIP = 64, /* vertices whose levels are transposed at a time: they fit the cache */
    TWI_BFS_HELD = 16   /* sets that are counted at a time */
};

/* A set of sources: one cache line, and four vectors of a machine that has 16 bytes in each. */
typedef uint64_t twi_bfs_set __attribute__((vector_size(TWI_BFS_WORDS * 8)));

/* How many vertices each source has reached, by the place of its bit: 64 * word + bit. Counts of a
 * level are kept as the bits of their binary numbers until it ends. */
typedef struct twi_bfs_tally {
    twi_bfs_set held[TWI_BFS_HELD]; /* counted together when there are so many */
    twi_bfs_set digit[32];
    int waiting;               /* of those held */
    int64_t sets;              /* of this level */
    int64_t sum[TWI_BFS_MOST]; /* of levels */
    int32_t reached[TWI_BFS_MOST];
    int32_t most[TWI_BFS_MOST]; /* the last level that reached anything */
} twi_bfs_tally;

/* One thread's memory: sets of sources by vertex, and lists of vertices. */
typedef struct twi_bfs_space {
    twi_bfs_set *sets;   /* all of those that follow */
    twi_bfs_set *seen;   /* reached at this level or before */
    twi_bfs_set *front;  /* reached at this level, where levels are pushed */
    twi_bfs_set *coming; /* the next front, or what will have been seen */
    int32_t *active;     /* vertices with a front */
    int32_t *touched;
    uint8_t *is_touched; /* or, where levels are pulled, has been full for two of them */
    twi_bfs_set *plane;  /* by bit of the level, then by vertex; NULL where it would be too much */
    uint8_t *strip;      /* levels of some vertices on their way to the rows */
    twi_bfs_tally *tally;
    int planes;        /* in use */
    int64_t open_arcs; /* into vertices that somebody has not reached, as far as is known */
} twi_bfs_space;

TW_CHECKED tw_status twi_bfs_space_create(tw_context *ctx, twi_bfs_space *space, int64_t n);
void twi_bfs_space_clear(twi_bfs_space *space);
uint64_t twi_bfs_space_memory(int64_t n);

typedef struct twi_bfs_job {
    const tw_graph *graph;
    const tw_graph *back;   /* its arcs the other way round; the graph itself if undirected */
    const int32_t *sources; /* vertices, one a bit */
    int count;
    tw_type type; /* of the levels: TW_U8, TW_U16 or TW_I32 */
    twi_isa isa;
    twi_fold *folds;    /* of the levels from each source, in place of rows; NULL: rows */
    double level_limit; /* deeper levels are not wanted; +inf: none */
    double deadline;    /* stop at this time of twi_thread_seconds; 0: none */
    tw_context *ctx;    /* for its cancel flag */
} twi_bfs_job;

typedef enum twi_bfs_end {
    TWI_BFS_DONE,
    TWI_BFS_DEEP, /* a level does not fit the type */
    TWI_BFS_LATE, /* the deadline passed */
    TWI_BFS_CANCELLED
} twi_bfs_end;

/* Row i of `rows` (count x n) receives the levels of sources[i], tw_apsp_infinity(type) where there
 * is no path; or folds[i] what a summary wants to know of them, however deep they are. */
typedef twi_bfs_end twi_bfs_fn(const twi_bfs_job *job, twi_bfs_space *space, void *rows,
                               int64_t *scanned);
twi_bfs_fn twi_bfs;

/* The same for each instruction set; compiled where it is one of the machine's. */
twi_bfs_fn twi_bfs_scalar, twi_bfs_neon, twi_bfs_avx2, twi_bfs_avx512;

#endif
