/*
 * Whether the file that each rank has opened is the same. One that is shared, as by a network file
 * system, has one number and one time of change wherever it is seen, and is not read for this.
 * Copies are, as on disks of their own: those who see the same copy share its bytes among them.
 */
#ifndef TWI_MPI_CONTENT_H
#define TWI_MPI_CONTENT_H

#include "io/input.h"
#include "mpi/shared/world.h"

/* TW_ERR_ARGUMENT on all ranks if one has another file than rank 0. Collective; the sizes and what
 * is held of them in memory are known to be the same. */
TW_CHECKED tw_status twi_content_same(tw_context *ctx, const twi_world *world,
                                      const twi_input *input);

#endif
