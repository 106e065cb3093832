/* How the panels of ranks with GPUs reach MPI. */
#ifndef TWI_MPI_STAGING_H
#define TWI_MPI_STAGING_H

#include "mpi/shared/world.h"

/*
 * Whether messages lie in the memory of the GPUs, where MPI reads and writes them itself, or in
 * pinned memory of the host. They do if the MPI of every rank says that it can; TW_MPI_STAGING of
 * the environment, "always" or "never", decides instead of it, and is the same on all ranks.
 * Collective; the same status and the same answer everywhere.
 */
TW_CHECKED tw_status twi_mpi_staging_choose(tw_context *ctx, const twi_world *world, bool *direct);

#endif
