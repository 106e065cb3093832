/*
 * Rows dealt out among ranks. They are cut into chunks; those of the ranks of a machine, every
 * so-many-th chunk, go to whichever of them asks first, by a counter in the memory that they share:
 * no rank has to answer another, so none waits for one that computes. Between machines chunks are
 * dealt in turn.
 *
 * A rank that fails tells the others, who look for such news before each chunk and stop.
 */
#ifndef TWI_MPI_DEAL_H
#define TWI_MPI_DEAL_H

#include "apsp/shared/plan.h"
#include "mpi/search/replica.h"

typedef struct twi_deal {
    twi_dealer dealer; /* for the plan of this rank */
    int32_t *sources;  /* of the rows dealt so far, */
    int64_t *places;   /*   and their places in the result */
    int64_t dealt;     /* rows */
    const tw_apsp_plan *asked;
    const twi_world *world;
    twi_shared_head *head;
    int *peers; /* the ranks of this machine */
    int peer_count;
    int64_t rows, chunk;
    MPI_Request *news; /* that this rank failed, on their way */
    int failures;      /* of others, seen so far */
} twi_deal;

/* Chunks of at least `least` rows, unless there would be too few for all ranks. Collective; the
 * same status everywhere. To be closed in any case. */
TW_CHECKED tw_status twi_deal_open(tw_context *ctx, twi_deal *out, const twi_replica *replica,
                                   const twi_world *world, const tw_apsp_plan *asked,
                                   int64_t least);
/* This rank has stopped, for the reason that `status` tells. Collective; returns what all agree on.
 */
TW_CHECKED tw_status twi_deal_finish(tw_context *ctx, twi_deal *deal, tw_status status);
void twi_deal_close(twi_deal *deal);

#endif
