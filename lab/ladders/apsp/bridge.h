/* The rounds of the library's closure without its look-ahead, for kernels of any step towards it.
 */
#ifndef LAB_LADDERS_APSP_BRIDGE_H
#define LAB_LADDERS_APSP_BRIDGE_H

#include "apsp/gpu/kernels/convert.h"
#include "apsp/gpu/kernels/kernels.h"

/* Bytes of panels for a matrix of n. */
uint64_t lab_bridge_bytes(int64_t n);
/* Close n x n distances in place, everything on the default stream, which is not waited for: the
 * runtime's error number. The kernels have been set up. */
int lab_bridge_solve(const twi_gpu_kernel *kernel, twi_gpu_square square, int32_t n, void *panels);

#endif
