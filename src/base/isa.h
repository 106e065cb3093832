/*
 * Instruction sets: which this processor has. A wing keeps one table of kernels per ISA
 * (adding-a-kernel.md) and asks twi_isa_resolve (context.h) which to use.
 */
#ifndef TWI_BASE_ISA_H
#define TWI_BASE_ISA_H

#include "tilewright.h"

#include "base/export.h"

#include <stdbool.h>

typedef enum twi_isa {
    TWI_ISA_NONE = 0,
    TWI_ISA_SCALAR,
    TWI_ISA_NEON,
    TWI_ISA_AVX2,
    TWI_ISA_AVX512,
    TWI_ISA_COUNT
} twi_isa;

TWI_SHARED const char *twi_isa_name(twi_isa isa);
/* Those that are usable, best first, by spaces. */
void twi_isa_names(char out[64]);
/* Compiled into this build and supported by this processor. */
bool twi_isa_usable(twi_isa isa);
/* The best of them. */
twi_isa twi_isa_best(void);

#endif
