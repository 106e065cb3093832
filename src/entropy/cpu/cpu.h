/* Rows of a result on the threads of the CPU. */
#ifndef TWI_ENTROPY_CPU_CPU_H
#define TWI_ENTROPY_CPU_CPU_H

#include "entropy/shared/setup.h"

/* Bytes that twi_entropy_bands takes for so many rows, besides the result. */
uint64_t twi_entropy_scratch(tw_context *ctx, const twi_entropy_setup *setup, int64_t rows);

/* The rows of a result, for a test that wants its own height of bands; 0: chosen. */
TW_CHECKED tw_status twi_entropy_bands(tw_context *ctx, const twi_entropy_setup *setup,
                                       int64_t first, int64_t count, void *out, int64_t stride,
                                       int64_t band);

#endif
