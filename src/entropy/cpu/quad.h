/* Four rows of outputs of the counters (kernels.h) at once, and their kernel. */
#ifndef TWI_ENTROPY_CPU_QUAD_H
#define TWI_ENTROPY_CPU_QUAD_H

#include "entropy/cpu/kernels.h"

#define TWI_QUAD 4 /* rows of outputs of the counters */

/* TWI_QUAD rows of outputs of one strip, one below the other. */
typedef struct twi_counters_quad {
    const uint8_t *change[TWI_QUAD]; /* as in twi_counters_row, for each row */
    const uint8_t (*delta)[TWI_COUNTERS];
    uint8_t (*column)[TWI_COUNTERS]; /* before the changes; after the last row's on return */
    uint8_t (*columns)[TWI_QUAD][TWI_COUNTERS]; /* room for those of each row; a cache line each */
    int32_t window_cols;
    int64_t outputs; /* a multiple of TWI_QUAD; columns: that and window_cols - 1 */
    const uint8_t *planes;
    uint32_t *sum[TWI_QUAD]; /* of each output */
    float *out[TWI_QUAD];    /* the first `live` outputs, as those of whole windows */
    int64_t live;
    uint32_t total;
    double factor;
} twi_counters_quad;

/* For AVX-512 with VBMI and VNNI only: see permute.h. */
void twi_permute_quad_run(const twi_counters_quad *quad);

/* By byte shuffles, for windows of TWI_SHUFFLE_MOST elements at most. */
#define TWI_SHUFFLE_MOST 30
void twi_shuffle_quad_avx2(const twi_counters_quad *quad);
void twi_shuffle_quad_avx512(const twi_counters_quad *quad);

#endif
