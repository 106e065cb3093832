/*
 * Breadth-first searches on a GPU (kernels/hops.h): hop distances of graphs whose weights are all
 * equal, as rows for the sinks, as folds of rows, or into a matrix in device memory.
 */
#ifndef TWI_APSP_GPU_HOPS_H
#define TWI_APSP_GPU_HOPS_H

#include "apsp/gpu/gpu.h"

/* All sources of a plan, on the first GPU of its list. *arcs: arcs times rows, what searches one by
 * one would scan. */
TW_CHECKED tw_status twi_gpu_hops_run(tw_context *ctx, const tw_apsp_plan *plan,
                                      twi_delivery *delivery, twi_gpu_outcome *out, double *arcs);

/* Device memory that it takes, at least, and host memory. */
uint64_t twi_gpu_hops_bytes(const tw_apsp_plan *plan);
uint64_t twi_gpu_hops_memory(const tw_apsp_plan *plan);

/* All pairs of a graph into a matrix in the memory of `device`, of TW_U8 or TW_U16 and n x n; a
 * distance that it cannot hold is TW_ERR_RANGE. *seconds: of the searches, by the device's clock.
 */
TW_CHECKED tw_status twi_gpu_hops_matrix(tw_context *ctx, int32_t device, const tw_graph *graph,
                                         const tw_matrix *matrix, double *seconds);

#endif
