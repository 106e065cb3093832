/*
 * The kernel of few levels: sixteen counters of a byte each are one vector. Every column of a strip
 * of the padded array keeps the counts of its window's rows; the counts of a window are the sum of
 * its columns', updated by the column that enters and the one that leaves; a byte-table instruction
 * turns sixteen counts at once into a plane of T[n], eight bits of it, and the planes are summed.
 */
#ifndef TWI_ENTROPY_CPU_KERNELS_H
#define TWI_ENTROPY_CPU_KERNELS_H

#include "entropy/shared/setup.h"

#define TWI_COUNTERS 16 /* of a vector: one for each level */
#define TWI_PLANES 4    /* bytes of T[n] */
#define TWI_PLANE 32    /* entries of a plane: counts 0 ... 31 */
#define TWI_GROUP 8     /* outputs that a kernel makes at once */

/* One row of outputs of one strip. */
typedef struct twi_counters_row {
    const uint8_t *change; /* of each column: the level that enters * 16 + the one that leaves */
    const uint8_t (*delta)[TWI_COUNTERS]; /* what that change adds to the counters, mod 256 */
    uint8_t (*column)[TWI_COUNTERS];      /* counters of each column; updated */
    int32_t window_cols;
    int64_t outputs;           /* a multiple of TWI_GROUP; columns: that and window_cols - 1 */
    const uint8_t *planes;     /* TWI_PLANES of TWI_PLANE bytes */
    uint16_t *sum[TWI_PLANES]; /* of each output and plane */
    float *out;                /* the first `live` outputs, as those of whole windows */
    int64_t live;
    uint32_t total; /* T[N] and 1 / (N 2^F) of a whole window */
    double factor;
} twi_counters_row;

struct twi_counters_quad;

typedef struct twi_counters_kernel {
    twi_isa isa;
    const char *name; /* "counters_neon" */
    void (*row)(const twi_counters_row *row);
    /* Four rows at once (quad.h), of windows of at most TWI_SHUFFLE_MOST elements; NULL where rows
     * go one by one. */
    void (*quad)(const struct twi_counters_quad *quad);
    /* Outputs begin ... end-1 again from their sums, for another total and factor. */
    void (*finish)(const twi_counters_row *row, int64_t begin, int64_t end, uint32_t total,
                   double factor);
    /* change[x] = entering[x] * 16 + leaving[x] */
    void (*pair)(uint8_t *change, const uint8_t *entering, const uint8_t *leaving, int64_t count);
} twi_counters_kernel;

const twi_counters_kernel *twi_counters_kernel_find(twi_isa isa); /* of a usable ISA */

/* A band of rows of outputs and the levels behind it. */
typedef struct twi_counters_band {
    const uint8_t *levels; /* row `first` of the padded array */
    int64_t pitch;
    int64_t first, count; /* rows of the result */
    float *out;
    int64_t stride;
    void *scratch; /* twi_counters_scratch bytes, aligned to a cache line */
} twi_counters_band;

uint64_t twi_counters_scratch(const twi_entropy_setup *setup);
void twi_counters_run(const twi_entropy_setup *setup, const twi_counters_kernel *kernel,
                      const twi_counters_band *band);

#endif
