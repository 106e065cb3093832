/*
 * The processes that work together: a communicator of our own, and how they agree. Whatever can
 * fail on one of them is followed by twi_world_agree before the next message, so that no process
 * waits for one that has given up.
 */
#ifndef TWI_MPI_WORLD_H
#define TWI_MPI_WORLD_H

#include "base/context.h"

#include <mpi.h>

typedef struct twi_world {
    MPI_Comm comm; /* MPI_COMM_NULL: not open */
    int rank;
    int size;
} twi_world;

/* Duplicate the caller's communicator. Collective; the same status everywhere. */
TW_CHECKED tw_status twi_world_open(tw_context *ctx, twi_world *out, MPI_Comm comm);
void twi_world_close(twi_world *world);

/* See tw_mpi_agree. */
TW_CHECKED tw_status twi_world_agree(tw_context *ctx, const twi_world *world, tw_status status);
#ifdef __clang_analyzer__ /* tell it that TW_OK here was TW_OK before */
static inline tw_status twi_world_agree_told(tw_context *ctx, const twi_world *world,
                                             tw_status status)
{
    const tw_status agreed = twi_world_agree(ctx, world, status);
    if (agreed == TW_OK && status != TW_OK) {
        __builtin_unreachable();
    }
    return agreed;
}
#define twi_world_agree twi_world_agree_told
#endif

/* TW_OK or, with a sentence that says what was tried, TW_ERR_IO: what an MPI function returned. */
TW_CHECKED tw_status twi_mpi_check(tw_context *ctx, int error, const char *what);

/* Something that all ranks were told and should have been told alike. */
typedef struct twi_told {
    const char *name;
    const char *text; /* of any length; NULL: nothing was said of it; "": its name alone */
} twi_told;
/* TW_ERR_ARGUMENT on all ranks if one of them was told otherwise than rank 0. */
TW_CHECKED tw_status twi_world_same(tw_context *ctx, const twi_world *world, const twi_told *told,
                                    int count);

/* Threads that this process computes on: as the context says, else its share of the machine; one,
 * unless MPI was initialised for more. Collective; *out is this rank's. */
TW_CHECKED tw_status twi_world_threads(tw_context *ctx, const twi_world *world, int *out);

/* Which of the ranks of its machine this is, from 0 on. Collective; *out is this rank's. */
TW_CHECKED tw_status twi_world_local(tw_context *ctx, const twi_world *world, int *out);
/* How many ranks of its machine give the same number, of 0 or more. Collective, too. */
TW_CHECKED tw_status twi_world_alike(tw_context *ctx, const twi_world *world, int number, int *out);

#endif
