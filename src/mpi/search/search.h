/*
 * Searches and sweeps over ranks: every machine has the whole graph, rows are dealt out among the
 * ranks, and each makes its rows as one process makes all of them, so they have the same bits.
 */
#ifndef TWI_MPI_SEARCH_H
#define TWI_MPI_SEARCH_H

#include "mpi/search/deal.h"
#include "mpi/shared/file.h"
#include "mpi/shared/parts.h"
#include "mpi/shared/verify.h"

/* Where the rows go; any of it may be NULL. */
typedef struct twi_mpi_rows_out {
    twi_mpi_file *file;
    twi_mpi_file *predecessors;
    twi_mpi_verifier *verifier;
    twi_mpi_collectors collectors;
} twi_mpi_rows_out;

typedef struct twi_mpi_searched {
    tw_type work_type;
    int32_t attempts;
    double relaxations;     /* of all ranks */
    double seconds_compute; /* of this rank, without what follows */
    double seconds_wait;    /* for the last rank, after its own last row */
    double seconds_output;
    double seconds_verify;
    int64_t verified; /* rows, of all ranks */
} twi_mpi_searched;

/* Make the rows of the plan, by its method, and bring them where they belong. Collective; the same
 * status everywhere. */
TW_CHECKED tw_status twi_mpi_search(tw_context *ctx, const twi_world *world,
                                    const twi_replica *replica, const tw_apsp_plan *plan,
                                    const twi_mpi_rows_out *to, twi_mpi_searched *seen);

#endif
