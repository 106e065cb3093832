/*
 * The whole graph on every machine, for searches: the ranks of one share it in a window of memory,
 * where its first rank has put it together. Arcs of a vertex lie in the order of the ranks whose
 * parts they are of, as they would in a graph that one process has read.
 */
#ifndef TWI_MPI_REPLICA_H
#define TWI_MPI_REPLICA_H

#include "mpi/shared/graph.h"

#include <stdatomic.h>

/* At the beginning of the memory that the ranks of a machine share. */
typedef struct twi_shared_head {
    atomic_llong dealt; /* chunks of rows: see deal.h */
    char apart[TWI_CACHE_LINE - sizeof(atomic_llong)];
} twi_shared_head;

typedef struct twi_replica {
    tw_graph graph;
    twi_shared_head *head;
    MPI_Comm node; /* the ranks of this machine */
    int node_rank, node_size;
    MPI_Win window;
    twi_counted counted; /* of the memory: what falls to this rank */
} twi_replica;

/* Bytes of it, on each machine. */
uint64_t twi_replica_bytes(const tw_mpi_graph *graph);

/* Collective; the same status everywhere. To be closed in any case. */
TW_CHECKED tw_status twi_replica_open(tw_context *ctx, twi_replica *out, const tw_mpi_graph *graph);
void twi_replica_close(twi_replica *replica);

#endif
