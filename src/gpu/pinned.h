/*
 * Pinning: memory of the host that the system may not move, so that devices copy it at the speed of
 * their link (H200, November 2026: 55 GB/s each way instead of 7 to 9) and while they compute.
 */
#ifndef TWI_GPU_PINNED_H
#define TWI_GPU_PINNED_H

#include "base/context.h"

/* Pin memory that is already there, for all devices; whether twi_gpu_unpin has something to undo.
 * It has not if the memory was pinned before, or if the system refuses, which is logged: copies
 * work in any case. */
bool twi_gpu_pin(tw_context *ctx, void *data, uint64_t bytes);
void twi_gpu_unpin(void *data);

#endif
