/* tw_selftest: the cases of every wing, one wing after the other. */
#include "apsp/selftest.h"
#include "base/given.h"
#include "entropy/selftest.h"
#include "map/selftest.h"
#include "reach/selftest.h"

#include <string.h>

static const struct {
    const char *problem;
    tw_status (*run)(const twi_tester *t, uint64_t seed);
} wings[] = {{"apsp", twi_apsp_selftest},
             {"reach", twi_reach_selftest},
             {"entropy", twi_entropy_selftest},
             {"map", twi_map_selftest}};
#define WINGS ((int)(sizeof wings / sizeof *wings))

tw_status tw_selftest(tw_context *ctx, tw_selftest_counts *counts, const char *problem,
                      uint64_t seed, tw_selftest_fn line, void *user)
{
    tw_status status = TWI_REQUIRE(ctx, {"counts", counts});
    if (status == TW_OK) {
        status = TWI_CHECK_ROOM(ctx, tw_selftest_counts, counts);
    }
    if (status != TW_OK) {
        return status;
    }
    tw_selftest_counts seen = TW_SELFTEST_COUNTS_INIT;
    const twi_tester t = {ctx, &seen, line, user};
    const twi_isa forced = ctx->isa;
    int asked = 0;
    for (int w = 0; w < WINGS && status == TW_OK; w++) {
        if (problem == NULL || strcmp(problem, wings[w].problem) == 0) {
            status = wings[w].run(&t, seed);
            asked++;
        }
    }
    ctx->isa = forced;
    TWI_GIVE(tw_selftest_counts, counts, &seen);
    if (asked == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "no self-test for '%s'; use apsp, reach, entropy or map", problem);
    }
    if (status == TW_OK && seen.failed > 0) {
        return tw_fail(ctx, TW_ERR_VERIFY, "%lld of %lld cases differ from the reference",
                       (long long)seen.failed, (long long)(seen.failed + seen.passed));
    }
    return status;
}
