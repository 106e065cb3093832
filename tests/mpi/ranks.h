/* What the programs that mpirun starts have in common: who they are, numbers that all ranks draw
 * alike, and an end for all where a call fails that must not. */
#ifndef TEST_MPI_RANKS_H
#define TEST_MPI_RANKS_H

#include <tilewright-mpi.h>

#include <stdint.h>
#include <stdio.h>

static tw_context *ctx;
static int rank, ranks, failures, passed;

static uint64_t state;

static inline uint64_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static inline void check(tw_status status, const char *what)
{
    if (status != TW_OK) {
        fprintf(stderr, "rank %d: %s: %s\n", rank, what, tw_last_error(ctx));
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

typedef struct arcs {
    int64_t count;
    int32_t *from, *to;
    char *weight;
    size_t size;
} arcs;

#endif
