/* Is a closure over ranks, in a truncated integer type, exact? See apsp/closure/certificate.h. */
#ifndef TWI_MPI_CERTIFICATE_H
#define TWI_MPI_CERTIFICATE_H

#include "mpi/closure/share.h"

/* Collective, by so many threads of each rank; the same answer everywhere. */
TW_CHECKED tw_status twi_mpi_certify(tw_context *ctx, const twi_share *share,
                                     const tw_mpi_graph *graph, int threads, bool *exact);

#endif
