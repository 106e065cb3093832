/*
 * Distances from one source over the arcs of all ranks, by Bellman and Ford: every rank lowers
 * what its arcs can, the minimum of all ranks is taken, until nothing changes. 16 bytes per vertex
 * on each rank. It shares nothing with the closure, which it checks, and shows beforehand how far
 * distances reach.
 */
#ifndef TWI_MPI_RELAX_H
#define TWI_MPI_RELAX_H

#include "mpi/shared/graph.h"

/* A distance (+inf: no path) and the arcs of a path of that length. */
typedef struct twi_reached {
    double distance;
    int hops;
} twi_reached;

/* `out` and `before` have room for n each. Collective; no weight is negative. The result is the
 * same on all ranks. */
TW_CHECKED tw_status twi_relax(tw_context *ctx, const tw_mpi_graph *graph, int32_t source,
                               twi_reached *out, twi_reached *before);

#endif
