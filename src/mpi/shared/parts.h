/* Summaries of rows that lie with many ranks. */
#ifndef TWI_MPI_PARTS_H
#define TWI_MPI_PARTS_H

#include "apsp/shared/part.h"
#include "mpi/shared/world.h"

/* The parts of all ranks (apsp/shared/part.h) into one summary, which each of them has then.
 * Collective; the same status everywhere. */
TW_CHECKED tw_status twi_mpi_unite_parts(tw_context *ctx, const twi_world *world,
                                         tw_apsp_summary *summary);

#endif
