/* tw_selftest: the cases of every wing, one wing after the other. */
#include "apsp/selftest.h"
#include "entropy/selftest.h"
#include "map/selftest.h"

tw_status tw_selftest(tw_context *ctx, tw_selftest_counts *counts, uint64_t seed,
                      tw_selftest_fn line, void *user)
{
    const twi_tester t = {ctx, counts, line, user};
    const twi_isa forced = ctx->isa;
    *counts = (tw_selftest_counts){0, 0, 0};
    tw_status status = twi_apsp_selftest(&t, seed);
    if (status == TW_OK) {
        status = twi_entropy_selftest(&t, seed);
    }
    if (status == TW_OK) {
        status = twi_map_selftest(&t, seed);
    }
    ctx->isa = forced;
    if (status == TW_OK && counts->failed > 0) {
        return tw_fail(ctx, TW_ERR_VERIFY, "%lld of %lld cases differ from the reference",
                       (long long)counts->failed, (long long)(counts->failed + counts->passed));
    }
    return status;
}
