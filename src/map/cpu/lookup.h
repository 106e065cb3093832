/* Rows looked up in tables; one form for each instruction set. */
#ifndef TWI_MAP_CPU_LOOKUP_H
#define TWI_MAP_CPU_LOOKUP_H

#include "base/isa.h"

/* out[i] = table[in[i]] for u8 values and results, with a table of 256 entries for even i and one
 * for odd i, which may be the same; `out` may be `in`. */
typedef void (*twi_lookup_u8_fn)(uint8_t *out, const uint8_t *in, int64_t count,
                                 const uint8_t *even, const uint8_t *odd);

twi_lookup_u8_fn twi_lookup_u8_find(twi_isa isa);

#endif
