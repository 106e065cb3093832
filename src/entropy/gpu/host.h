/* Arrays in host memory, on GPUs. A build without GPU code has none (none.c). */
#ifndef TWI_ENTROPY_GPU_HOST_H
#define TWI_ENTROPY_GPU_HOST_H

#include "entropy/shared/setup.h"

/* Gives the call to the GPUs that the context's device names, or with "auto" to one, if that is
 * worth it: twi_entropy_rows goes there then. */
TW_CHECKED tw_status twi_entropy_gpu_open(tw_context *ctx, twi_entropy_setup *setup);
void twi_entropy_gpu_close(twi_entropy_gpu *gpu);
const char *twi_entropy_gpu_method(const twi_entropy_gpu *gpu);
/* With "auto": what was chosen, gpu or (NULL) the CPU, and whether a start counted; NULL in a build
 * without GPU code. */
const char *twi_entropy_gpu_choice(const tw_context *ctx, const twi_entropy_gpu *gpu);
const char *twi_entropy_gpu_reason(const twi_entropy_gpu *gpu); /* why that one */
TW_CHECKED tw_status twi_entropy_gpu_rows(tw_context *ctx, const twi_entropy_setup *setup,
                                          int64_t first, int64_t count, void *out, int64_t stride);

#endif
