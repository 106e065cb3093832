/* One plan for all ranks: rank 0 makes it and tells the others what it has decided. */
#ifndef TWI_MPI_PLAN_H
#define TWI_MPI_PLAN_H

#include "apsp/shared/plan.h"
#include "mpi/shared/world.h"

/* A plan for the CPU and `threads` threads of this rank, by the rules of a run on one machine. The
 * graph is the same everywhere, and so are the options. Collective; the same status everywhere.
 * Destroyed by tw_apsp_plan_destroy. */
TW_CHECKED tw_status twi_mpi_plan_create(tw_context *ctx, tw_apsp_plan **out,
                                         const twi_world *world, const tw_graph *graph,
                                         const tw_apsp_options *options, int threads);

#endif
