/*
 * Reachability on a GPU that holds a row of bits for every component: components / 8 * vertices
 * bytes, 0.5 GB for 65536 of both (kernels/closure.h).
 */
#ifndef TWI_REACH_GPU_GPU_H
#define TWI_REACH_GPU_GPU_H

#include "base/sink.h"
#include "reach/shared/components.h"
#include "reach/shared/rows.h"

/* Count the rows or, where there are sinks, make them; *seconds: of the closure, by the device's
 * clock. */
TW_CHECKED tw_status twi_reach_gpu_run(tw_context *ctx, int32_t device,
                                       const twi_condensation *condensation, twi_reach_rows *rows,
                                       twi_sinks *sinks, double *seconds);

/* Device memory that it takes. */
uint64_t twi_reach_gpu_bytes(const twi_condensation *condensation, const twi_reach_rows *rows);

/* TW_ERR_MEMORY with the numbers if the device has not that much, or the context does not allow it.
 */
TW_CHECKED tw_status twi_reach_gpu_check(tw_context *ctx, int32_t device,
                                         const twi_condensation *condensation,
                                         const twi_reach_rows *rows);

#endif
