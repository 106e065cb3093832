/*
 * The searcher: a graph made ready for searching, one workspace a thread, and what a batch of
 * sources does with them. search.c cuts a run into batches, search/sample.c tries one for the plan.
 */
#ifndef TWI_APSP_SEARCH_SEARCHER_H
#define TWI_APSP_SEARCH_SEARCHER_H

#include "apsp/search/bfs.h"
#include "apsp/search/dijkstra.h"
#include "apsp/search/lanes.h"
#include "apsp/shared/plan.h"

#include <stdatomic.h>

/* How a batch, or the worst of several, ended. */
typedef enum twi_search_verdict {
    TWI_SEARCH_FINE,
    TWI_SEARCH_LATE,  /* the deadline passed */
    TWI_SEARCH_WIDEN, /* a distance needs a wider type */
    TWI_SEARCH_CANCELLED
} twi_search_verdict;

/* One thread's memory. */
typedef struct twi_search_worker {
    twi_lanes_space lanes;
    twi_dijkstra_space dijkstra;
    twi_bfs_space bfs;
    double scanned;
    double deadline;            /* of its batch, by twi_thread_seconds; 0: none */
    char apart[TWI_CACHE_LINE]; /* from the next worker's counters */
} twi_search_worker;

/* A row that a sample has searched for, one for each thread. */
typedef struct twi_search_kept {
    int32_t source; /* its place; -1: none */
    void *row;
    double scanned; /* arcs */
} twi_search_kept;

typedef struct twi_searcher {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    tw_apsp_method method;
    int threads;
    twi_isa isa;
    twi_net *net;       /* TW_APSP_METHOD_DIJKSTRA */
    tw_graph *reversed; /* TW_APSP_METHOD_BFS in a directed graph */
    const twi_lanes_kernels *kernels;
    twi_search_worker *workers;
    tw_type type; /* of the rows */
    double cutoff;
    double patience; /* seconds that a thread may take for a batch of a sample; 0: any */
    bool certify_narrow;
    bool certify;
    atomic_int narrow;     /* u16 has sufficed so far */
    atomic_int lanes;      /* the lane search has been worth it so far */
    atomic_int verdict;    /* a twi_search_verdict: the worst since it was set to FINE */
    atomic_int taken;      /* by a run, where it is the plan's */
    twi_search_kept *kept; /* of each thread; NULL: none */
    tw_type kept_type;     /* of their rows, */
    char *kept_rows;       /*   which lie here */
} twi_searcher;

/* Some rows of a block: where each goes and from where it starts. */
typedef struct twi_search_batch {
    int count;
    int32_t source[TWI_BFS_MOST]; /* places, or vertices for a breadth-first search */
    void *row[TWI_BFS_MOST];      /* one after another for a breadth-first search */
    twi_fold *folds;              /* of its levels in place of rows; NULL: rows */
} twi_search_batch;

/* A row of a block and the key its batch is chosen by. */
typedef struct twi_ticket {
    int32_t place;
    int32_t row;
} twi_ticket;

TW_CHECKED tw_status twi_searcher_create(tw_context *ctx, twi_searcher **out,
                                         const tw_apsp_plan *plan, tw_apsp_method method);
void twi_searcher_destroy(twi_searcher *e); /* NULL is fine */

/* The plan's own, for a run, with what its sample has found; NULL if there is none or another run
 * has it. It goes back at the end of the run. */
twi_searcher *twi_searcher_take(tw_context *ctx, const tw_apsp_plan *plan);
void twi_searcher_give_back(twi_searcher *e);

/* Search for a batch, at most twi_searcher_batch(method) sources, unless the verdict is bad
 * already. For any thread, with its own worker. */
void twi_searcher_run(twi_searcher *e, twi_search_worker *w, const twi_search_batch *b);
TWI_SHARED int64_t twi_searcher_batch(tw_apsp_method method);

/* Sources that are searched for together: a batch is one such pass, or several. */
int64_t twi_searcher_pass(const twi_searcher *e);

/* Go on in the next wider type, after TWI_SEARCH_WIDEN. */
TW_CHECKED tw_status twi_searcher_widen(twi_searcher *e);

/* The widest type of rows a search of this graph is known to need: TW_I32 where no sum of n-1
 * weights can reach 2^30-1, else TW_F64 for whole weights; twi_plan_float_type for others. A run
 * begins with i32 for all whole weights and delivers i32 as long as that proves exact; levels of a
 * breadth-first search come as u8, u16 or i32 with a scale. */
tw_type twi_search_type(const tw_apsp_plan *plan);

/* For the memory of a run: the net it searches when its rows are of `type`, the bytes of that or of
 * the arcs that a breadth-first search takes backwards, and one worker. */
twi_net_kind twi_search_kind(const tw_apsp_plan *plan, tw_type type);
uint64_t twi_search_shared_memory(const tw_apsp_plan *plan, tw_apsp_method method, tw_type type);
uint64_t twi_search_worker_memory(const tw_apsp_plan *plan, tw_apsp_method method);

/* Threads of a run, each of which has a source. */
int twi_searcher_threads(const tw_apsp_plan *plan);
/* Bytes of a block of rows where there is plenty of memory; rows of one of so many bytes: whole
 * batches for every thread if it can, at least one row. */
uint64_t twi_searcher_block_bytes(const tw_apsp_plan *plan);
int64_t twi_searcher_block_rows(const tw_apsp_plan *plan, tw_apsp_method method, tw_type type,
                                uint64_t bytes);

/* Whether each source of the plan is searched from by itself, so that a sample may keep its rows.
 */
bool twi_searcher_is_single(const twi_searcher *e);

/* No sum of weights along a shortest path can be larger. */
double twi_longest_path(const tw_graph *graph, double max_weight);

#endif
