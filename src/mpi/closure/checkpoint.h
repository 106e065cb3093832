/*
 * Checkpoints of the closure over ranks, in the files that a closure on one machine writes
 * (io/checkpoint.h): whoever finds one goes on from it, whatever wrote it. The folder is one that
 * all ranks see.
 *
 * Rows of the matrix are put together as for the result (rows.h), a row of tiles by the ranks of
 * its row of the grid, each a part of its rows, and laid aside: as much memory as the share, where
 * a rank may have it. Threads of their own then sum up, write and wait for the disk beside the next
 * rounds. When the next questions of the closure tell that all of them have, rank 0 renames the
 * file. A rank without that memory writes before the next round.
 */
#ifndef TWI_MPI_CHECKPOINT_H
#define TWI_MPI_CHECKPOINT_H

#include "io/checkpoint.h"
#include "mpi/closure/share.h"

typedef struct twi_mpi_checkpoint twi_mpi_checkpoint;

/* All of these are collective, and what returns a status returns the same everywhere, but for
 * those that say otherwise. */

/* Look for the newest generation that is whole, as twi_checkpoint_open. */
TW_CHECKED tw_status twi_mpi_checkpoint_open(tw_context *ctx, twi_mpi_checkpoint **out,
                                             const twi_world *world, const tw_apsp_plan *plan);
/* What was found; NULL: nothing. Not collective. */
const twi_state *twi_mpi_checkpoint_found(const twi_mpi_checkpoint *self);

/* Begin with a matrix that is not closed at all, and go on from what was found, if anything was:
 * *done vertices of it are. TW_ERR_ARGUMENT if it is of another matrix. */
TW_CHECKED tw_status twi_mpi_checkpoint_begin(twi_mpi_checkpoint *self, const twi_share *share,
                                              twi_pattern *pattern, int64_t *done);

/* What this rank adds to question `slot` (0 or 1), and the maxima of what all have added. Not
 * collective; two questions are open at most. */
#define TWI_TELLS 2
void twi_mpi_checkpoint_tell(twi_mpi_checkpoint *self, int slot, int told[TWI_TELLS]);
void twi_mpi_checkpoint_hear(twi_mpi_checkpoint *self, int slot, const int told[TWI_TELLS]);
/* Whether the matrix is to be kept after the next pivot. Not collective, but the same everywhere.
 */
bool twi_mpi_checkpoint_due(const twi_mpi_checkpoint *self);

/* Keep the matrix after the pivots of vertices 0 ... done-1. What cannot be written is told in the
 * log; only MPI can fail. */
TW_CHECKED tw_status twi_mpi_checkpoint_keep(twi_mpi_checkpoint *self, int64_t done);

/* Wait for what is on its way, and give its memory back: before the share that it is of goes, or
 * the result needs it. Nothing is kept then until the next begin. NULL is fine. */
TW_CHECKED tw_status twi_mpi_checkpoint_settle(twi_mpi_checkpoint *self);

/* `finished`: the run is over, nothing of it is needed any more. `broken`: others may not answer,
 * so what is on its way is given up, and this is not collective. NULL is fine. */
void twi_mpi_checkpoint_close(twi_mpi_checkpoint *self, bool finished, bool broken);

#endif
