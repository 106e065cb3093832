/*
 * From tiles to rows of the result. In steps, the ranks of each row of the grid put together one
 * row of tiles: each gets some whole rows of it, converts them as a run on one machine does
 * (apsp/shared/deliver.h), has those verified that were drawn, and writes them.
 */
#ifndef TWI_MPI_ROWS_H
#define TWI_MPI_ROWS_H

#include "mpi/closure/share.h"
#include "mpi/shared/file.h"
#include "mpi/shared/parts.h"
#include "mpi/shared/verify.h"

typedef struct twi_mpi_out {
    twi_mpi_file *file;         /* NULL: none */
    twi_mpi_file *predecessors; /* NULL: none */
    const tw_graph *graph;      /* all of it, for predecessors */
    twi_mpi_verifier *verifier; /* NULL: none */
    twi_mpi_collectors collectors;
    double seconds_verify;
} twi_mpi_out;

/* Whether there is memory for it beside the share: to be found before the rounds rather than after
 * them. Of `out` it counts what there is. Not collective. */
TW_CHECKED tw_status twi_mpi_deliver_check(tw_context *ctx, const twi_share *share,
                                           const tw_apsp_plan *asked, twi_mpi_out *out);

/* Bytes of rows of a result of that type, once they are delivered, without what converts them. Of
 * the share only its shape counts. */
uint64_t twi_mpi_rows_memory(const twi_share *share, tw_type type);

/* Collective; the same status everywhere. `asked` is the plan with the caller's sources and
 * targets. */
TW_CHECKED tw_status twi_mpi_deliver(tw_context *ctx, const twi_share *share,
                                     const tw_apsp_plan *asked, twi_mpi_out *out);

#endif
