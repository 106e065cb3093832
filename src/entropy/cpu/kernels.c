/* The table of counter kernels: see kernels.h. Each ISA's object brings its own. */
#include "entropy/cpu/kernels.h"

extern const twi_counters_kernel twi_counters_scalar;
#ifdef TWI_HAVE_NEON
extern const twi_counters_kernel twi_counters_neon;
#endif
#ifdef TWI_HAVE_AVX2
extern const twi_counters_kernel twi_counters_avx2;
#endif
#ifdef TWI_HAVE_AVX512
extern const twi_counters_kernel twi_counters_avx512;
#endif

static const twi_counters_kernel *const kernels[TWI_ISA_COUNT] = {
    [TWI_ISA_SCALAR] = &twi_counters_scalar,
#ifdef TWI_HAVE_NEON
    [TWI_ISA_NEON] = &twi_counters_neon,
#endif
#ifdef TWI_HAVE_AVX2
    [TWI_ISA_AVX2] = &twi_counters_avx2,
#endif
#ifdef TWI_HAVE_AVX512
    [TWI_ISA_AVX512] = &twi_counters_avx512,
#endif
};

const twi_counters_kernel *twi_counters_kernel_find(twi_isa isa)
{
    return kernels[isa];
}
