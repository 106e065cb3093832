/* Which look-up an instruction set has: see lookup.h. */
#include "map/cpu/lookup.h"

void twi_lookup_u8_scalar(uint8_t *out, const uint8_t *in, int64_t count, const uint8_t *even,
                          const uint8_t *odd);
#ifdef TWI_HAVE_NEON
void twi_lookup_u8_neon(uint8_t *out, const uint8_t *in, int64_t count, const uint8_t *even,
                        const uint8_t *odd);
#endif

twi_lookup_u8_fn twi_lookup_u8_find(twi_isa isa)
{
#ifdef TWI_HAVE_NEON
    if (isa == TWI_ISA_NEON) {
        return twi_lookup_u8_neon;
    }
#endif
    (void)isa;
    return twi_lookup_u8_scalar;
}
