/* What becomes of pairs that 16 bits could not decide. */
#ifndef TWI_APSP_GPU_SETTLE_H
#define TWI_APSP_GPU_SETTLE_H

#include "apsp/gpu/gpu.h"

/* A closure in 16 bits has left entries at its cap, of which the host matrix has kept what it had.
 * *capped becomes false if they are proven to have no path, so that the matrix is right as it is;
 * it is then mirrored, too. The device in use may take `limit` bytes. */
TW_CHECKED tw_status twi_gpu_settle(tw_context *ctx, const twi_gpu_host *host, uint64_t limit,
                                    bool *capped);

#endif
