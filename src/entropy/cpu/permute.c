/* Where the kernels of permute.h are usable. */
#include "entropy/cpu/permute.h"

#ifdef TWI_HAVE_AVX512
static const twi_permute_kernels permute_avx512 = {twi_permute_quad_run, twi_permute_bins_run};
#endif

const twi_permute_kernels *twi_permutes(twi_isa isa)
{
#ifdef TWI_HAVE_AVX512
    if (isa == TWI_ISA_AVX512 && __builtin_cpu_supports("avx512vbmi") != 0 &&
        __builtin_cpu_supports("avx512vnni") != 0) {
        return &permute_avx512;
    }
#endif
    (void)isa;
    return NULL;
}
