/* Summaries, and lists of nearest vertices, of rows that lie with many ranks. */
#ifndef TWI_MPI_PARTS_H
#define TWI_MPI_PARTS_H

#include "apsp/nearest.h"
#include "apsp/shared/part.h"
#include "mpi/shared/world.h"

/* What collects rows on every rank; any of it may be NULL. */
typedef struct twi_mpi_collectors {
    tw_apsp_summary *summary;
    tw_apsp_nearest *nearest[2]; /* and farthest */
} twi_mpi_collectors;
#define TWI_COLLECTORS 3

/* Append their sinks to those used; `places` and `asked` are those of apsp/shared/part.h. */
void twi_mpi_collect(const twi_mpi_collectors *to, const int64_t *places, const tw_apsp_plan *asked,
                     tw_sink *sinks, int32_t *used);
/* The parts of all ranks into one, which each of them has then, or none if `status`, the same
 * everywhere, is a failure. Collective; the same status everywhere. */
TW_CHECKED tw_status twi_mpi_collected(tw_context *ctx, const twi_world *world,
                                       const twi_mpi_collectors *to, tw_status status);

#endif
