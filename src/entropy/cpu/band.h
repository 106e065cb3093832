/* A band of rows of outputs and the levels behind it, for the bins and the stacks. */
#ifndef TWI_ENTROPY_CPU_BAND_H
#define TWI_ENTROPY_CPU_BAND_H

#include <stdint.h>

typedef struct twi_level_band {
    const uint16_t *levels; /* the upper edge of the first row's windows */
    int64_t pitch;
    int64_t count; /* rows of outputs */
    float *out;
    int64_t stride;
    void *scratch; /* as many bytes as the method asks for, aligned to a cache line */
} twi_level_band;

#endif
