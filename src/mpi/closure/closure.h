/* The closure of a matrix whose tiles lie with many ranks. */
#ifndef TWI_MPI_CLOSURE_H
#define TWI_MPI_CLOSURE_H

#include "mpi/closure/checkpoint.h"
#include "mpi/closure/share.h"

typedef struct twi_mpi_seen {
    double seconds_wait;   /* that the calling thread had nothing to do */
    int64_t helped;        /* tasks of other ranks that this one did */
    uint64_t bytes;        /* of panels sent or received */
    double seconds_device; /* of the rounds, where GPUs make them */
} twi_mpi_seen;

/*
 * Close the matrix in place. The same operations on the same tiles as twi_cpu_closure does with
 * that block, so the same bits, floats included. `done` vertices have been pivots already;
 * `checkpoint` may be NULL. Collective; the same status everywhere.
 */
TW_CHECKED tw_status twi_mpi_closure(tw_context *ctx, twi_share *share, twi_pattern *pattern,
                                     int threads, int64_t done, twi_mpi_checkpoint *checkpoint,
                                     twi_mpi_seen *seen);

/* Rows of a task, for a rank with so many rows of the matrix: between two tasks it looks for
 * messages. */
int64_t twi_mpi_closure_chunk(int64_t rows, int threads);

/* Bytes of panels and thread buffers of this rank. */
uint64_t twi_mpi_closure_memory(const twi_share *share, int threads);

#endif
