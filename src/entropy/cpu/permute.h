/*
 * Kernels for processors whose permutes look up 64 bytes at once in a table of 64 (AVX-512 with
 * VBMI and VNNI). A table of n log n is four planes of bytes; 64 counts are looked up by four
 * permutes, and dot products with ones sum what they find.
 */
#ifndef TWI_ENTROPY_CPU_PERMUTE_H
#define TWI_ENTROPY_CPU_PERMUTE_H

#include "entropy/cpu/bins_row.h"
#include "entropy/cpu/quad.h"

typedef struct twi_permute_kernels {
    void (*quad)(const twi_counters_quad *quad);
    void (*bins)(const twi_bins_row *row);
} twi_permute_kernels;

/* NULL where this ISA, this processor or this build has none. */
const twi_permute_kernels *twi_permutes(twi_isa isa);

#endif
