/* What a run over ranks will hold and take, before it begins. */
#ifndef TWI_MPI_ESTIMATE_H
#define TWI_MPI_ESTIMATE_H

#include "mpi/closure/share.h"
#include "mpi/search/replica.h"

/* Where the distances go. */
typedef struct twi_mpi_goal {
    const tw_mpi_apsp_output *output;
    int threads;
    bool keeps;  /* checkpoints */
    int32_t gpu; /* of this rank; -1: it computes on the CPU */
    bool direct; /* MPI reads the memory of GPUs */
    twi_help_choice help;
} twi_mpi_goal;

/* A closure by `kernel` on the grid; the rest of `out` stays as it is. Collective; the same status
 * and the same figures everywhere. */
TW_CHECKED tw_status twi_estimate_closure(tw_context *ctx, tw_mpi_forecast *out,
                                          const tw_mpi_graph *graph, const tw_apsp_plan *plan,
                                          const twi_grid *grid, const twi_minplus_kernel *kernel,
                                          const twi_mpi_goal *goal);

/* The rows of a search or a sweep, by the plan of rank 0. Collective, too. */
TW_CHECKED tw_status twi_estimate_search(tw_context *ctx, tw_mpi_forecast *out,
                                         const twi_world *world, const tw_apsp_plan *plan,
                                         const twi_replica *replica, const twi_mpi_goal *goal);

/* Bytes of the grid's rank in a closure: its tiles, and in turn its `arcs` on their way, the panels
 * of the closure, and rows of the result, with what converts them in `delivery` bytes. `whole`: of
 * whole tiles, for a GPU. */
uint64_t twi_closure_need(const twi_grid *grid, int64_t arcs, const twi_minplus_kernel *kernel,
                          tw_type type, uint64_t delivery, bool symmetric, int threads, bool whole);

#endif
