/* Whether all ranks were asked the same, which every later decision takes for granted. */
#ifndef TWI_MPI_ALIKE_H
#define TWI_MPI_ALIKE_H

#include "tilewright-mpi.h"

#include "base/isa.h"
#include "mpi/shared/world.h"

/* What a run is to compute, by which instruction set and on which kind of device. Collective; the
 * same status everywhere. */
TW_CHECKED tw_status twi_alike_run(tw_context *ctx, const twi_world *world,
                                   const tw_apsp_options *opts, const tw_mpi_apsp_output *output,
                                   twi_isa isa, bool on_gpu);

/* How a graph is read. */
TW_CHECKED tw_status twi_alike_reading(tw_context *ctx, const twi_world *world,
                                       const tw_graph_read_options *opts);

#endif
