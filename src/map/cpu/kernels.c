/* The table of register machines: see kernels.h. Each ISA's object brings its own. */
#include "map/cpu/kernels.h"

extern const twi_map_kernel twi_map_scalar;
#ifdef TWI_HAVE_NEON
extern const twi_map_kernel twi_map_neon;
#endif
#ifdef TWI_HAVE_AVX2
extern const twi_map_kernel twi_map_avx2;
#endif
#ifdef TWI_HAVE_AVX512
extern const twi_map_kernel twi_map_avx512;
#endif

static const twi_map_kernel *const kernels[TWI_ISA_COUNT] = {
    [TWI_ISA_SCALAR] = &twi_map_scalar,
#ifdef TWI_HAVE_NEON
    [TWI_ISA_NEON] = &twi_map_neon,
#endif
#ifdef TWI_HAVE_AVX2
    [TWI_ISA_AVX2] = &twi_map_avx2,
#endif
#ifdef TWI_HAVE_AVX512
    [TWI_ISA_AVX512] = &twi_map_avx512,
#endif
};

const twi_map_kernel *twi_map_kernel_find(twi_isa isa)
{
    return kernels[isa];
}
