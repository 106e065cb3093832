/* The closure of a matrix whose tiles lie with many ranks, each of which has a GPU for its own. */
#ifndef TWI_MPI_CLOSURE_GPU_H
#define TWI_MPI_CLOSURE_GPU_H

#include "mpi/closure/closure.h"

/*
 * As twi_mpi_closure, with the share in the memory of `device` of this machine, which other ranks
 * may use as well: it is brought there and back. The share is one of whole tiles, with the block of
 * twi_gpu_rank_side; then the operations on each tile are those of a closure on one GPU, and so are
 * the bits. `direct`: MPI reads and writes messages in the memory of the device. Collective; the
 * same status everywhere.
 */
TW_CHECKED tw_status twi_mpi_closure_gpu(tw_context *ctx, twi_share *share, twi_pattern *pattern,
                                         int32_t device, bool direct, int64_t done,
                                         twi_mpi_checkpoint *checkpoint, twi_mpi_seen *seen);

/* Bytes of the messages of this rank, of a share of whole tiles. */
uint64_t twi_mpi_closure_gpu_messages(const twi_grid *grid, const twi_minplus_kernel *kernel,
                                      bool symmetric);

#endif
