/*
 * Which instruction sets are usable: compiled in (TWI_HAVE_* from the build) and present in the
 * processor. NEON is part of every aarch64; on x86-64 the compiler's CPU test also checks that the
 * system saves the wide registers.
 */
#include "base/isa.h"

#include <stdio.h>
#include <string.h>

static const char *const isa_names[TWI_ISA_COUNT] = {"none", "scalar", "neon", "avx2", "avx512"};

/* Best first. */
static const twi_isa preference[] = {TWI_ISA_AVX512, TWI_ISA_AVX2, TWI_ISA_NEON, TWI_ISA_SCALAR};
#define PREFERENCES (sizeof preference / sizeof *preference)

const char *twi_isa_name(twi_isa isa)
{
    return isa_names[isa];
}

bool twi_isa_usable(twi_isa isa)
{
    switch (isa) {
    case TWI_ISA_SCALAR:
        return true;
#ifdef TWI_HAVE_NEON
    case TWI_ISA_NEON:
        return true;
#endif
#ifdef TWI_HAVE_AVX2
    case TWI_ISA_AVX2:
        return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#endif
#ifdef TWI_HAVE_AVX512
    case TWI_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
               __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
#endif
    default:
        return false;
    }
}

void twi_isa_names(char out[64])
{
    out[0] = '\0';
    for (size_t i = 0; i < PREFERENCES; i++) {
        if (twi_isa_usable(preference[i])) {
            size_t used = strlen(out);
            snprintf(out + used, 64 - used, "%s%s", used > 0 ? " " : "", isa_names[preference[i]]);
        }
    }
}

twi_isa twi_isa_best(void)
{
    for (size_t i = 0; i < PREFERENCES; i++) {
        if (twi_isa_usable(preference[i])) {
            return preference[i];
        }
    }
    return TWI_ISA_NONE;
}
