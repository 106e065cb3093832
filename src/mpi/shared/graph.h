/* A graph whose arcs lie with many ranks, each having a part of them. */
#ifndef TWI_MPI_GRAPH_H
#define TWI_MPI_GRAPH_H

#include "tilewright-mpi.h"

#include "graph/graph.h"
#include "mpi/shared/world.h"

struct tw_mpi_graph {
    twi_world world;
    tw_graph *own;  /* behind `part`, or NULL: it is the caller's */
    tw_graph whole; /* what is true of all arcs; the arrays are those of this rank's part */
    int64_t arcs;   /* of all parts; whole.arcs are this rank's */
};

#endif
