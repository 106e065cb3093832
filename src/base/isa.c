/*
 * Which instruction sets are usable: compiled in (TWI_HAVE_* from the build) and present in the
 * processor. NEON is part of every aarch64; on x86-64 the compiler's CPU test also checks that the
 * system saves the wide registers.
 */
#include "base/isa.h"

#include "base/context.h"

#include <stdio.h>
#include <stdlib.h>
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

static tw_status isa_by_name(tw_context *ctx, twi_isa *out, const char *name, const char *where)
{
    char have[64];
    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT; isa++) {
        if (strcmp(name, isa_names[isa]) == 0 && twi_isa_usable(isa)) {
            *out = isa;
            return TW_OK;
        }
    }
    twi_isa_names(have);
    return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                   "%s'%.40s' is not an instruction set of this machine and build; it has: %s",
                   where, name, have);
}

tw_status tw_set_isa(tw_context *ctx, const char *name)
{
    if (ctx == NULL) {
        return TW_ERR_ARGUMENT;
    }
    twi_isa isa = TWI_ISA_NONE;
    tw_status status = TW_OK;
    if (name != NULL) {
        status = isa_by_name(ctx, &isa, name, "");
    }
    if (status == TW_OK) {
        ctx->isa = isa;
    }
    return status;
}

tw_status twi_isa_resolve(tw_context *ctx, twi_isa *out)
{
    if (ctx->isa != TWI_ISA_NONE) {
        *out = ctx->isa;
        return TW_OK;
    }
    const char *forced = getenv("TW_ISA");
    if (forced != NULL && forced[0] != '\0') {
        return isa_by_name(ctx, out, forced, "TW_ISA=");
    }
    for (size_t i = 0; i < PREFERENCES; i++) {
        if (twi_isa_usable(preference[i])) {
            *out = preference[i];
            return TW_OK;
        }
    }
    return tw_fail(ctx, TW_ERR_INTERNAL, "no instruction set is usable, not even scalar");
}
