/* The table of (min,+) kernels: see kernels.h. Each ISA's object brings its own, those of 15 and 7
 * bits, which no type asks for, last. */
#include "apsp/closure/kernels.h"

#include <stddef.h>

#define TYPES 5
#define KERNELS 7

extern const twi_minplus_kernel *const twi_minplus_scalar[KERNELS];
#ifdef TWI_HAVE_NEON
extern const twi_minplus_kernel *const twi_minplus_neon[KERNELS];
#endif
#ifdef TWI_HAVE_AVX2
extern const twi_minplus_kernel *const twi_minplus_avx2[KERNELS];
#endif
#ifdef TWI_HAVE_AVX512
extern const twi_minplus_kernel *const twi_minplus_avx512[KERNELS];
#endif

static const twi_minplus_kernel *const *const tables[TWI_ISA_COUNT] = {
    [TWI_ISA_SCALAR] = twi_minplus_scalar,
#ifdef TWI_HAVE_NEON
    [TWI_ISA_NEON] = twi_minplus_neon,
#endif
#ifdef TWI_HAVE_AVX2
    [TWI_ISA_AVX2] = twi_minplus_avx2,
#endif
#ifdef TWI_HAVE_AVX512
    [TWI_ISA_AVX512] = twi_minplus_avx512,
#endif
};

const twi_minplus_kernel *twi_minplus_kernel_find(twi_isa isa, tw_type type)
{
    if (isa <= TWI_ISA_NONE || isa >= TWI_ISA_COUNT || tables[isa] == NULL) {
        return NULL;
    }
    for (int i = 0; i < TYPES; i++) {
        if (tables[isa][i]->type == type) {
            return tables[isa][i];
        }
    }
    return NULL;
}

static const twi_minplus_kernel *after_types(twi_isa isa, int which)
{
    return isa > TWI_ISA_NONE && isa < TWI_ISA_COUNT && tables[isa] != NULL
               ? tables[isa][TYPES + which]
               : NULL;
}

const twi_minplus_kernel *twi_minplus_kernel_of_15_bits(twi_isa isa)
{
    return after_types(isa, 0);
}

const twi_minplus_kernel *twi_minplus_kernel_plain(twi_isa isa, tw_type type)
{
    return type == TW_U16 ? after_types(isa, 0) : type == TW_U8 ? after_types(isa, 1) : NULL;
}

bool twi_kernel_is_plain(const twi_minplus_kernel *kernel)
{
    return kernel->infinity < tw_apsp_infinity(kernel->type);
}

const char *twi_kernel_bits(const twi_minplus_kernel *kernel)
{
    return !twi_kernel_is_plain(kernel) ? "" : kernel->type == TW_U8 ? "7 bits of " : "15 bits of ";
}
