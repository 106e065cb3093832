/* A build without GPU code: the device entry says so. */
#include "entropy/plan/plan.h"

static tw_status refuse_call(tw_context *ctx, const tw_entropy_plan *plan, const tw_matrix *out,
                             const tw_matrix *in, const tw_device_options *device)
{
    tw_device_options options;
    twi_entropy_setup setup;
    tw_status status = twi_entropy_plan_take_call(ctx, plan, &setup, out, in, &options, device);
    return status == TW_OK
               ? tw_fail(ctx, TW_ERR_UNSUPPORTED, "GPU memory: this build computes on the CPU only")
               : status;
}

tw_status tw_entropy_plan_device_workspace(tw_context *ctx, const tw_entropy_plan *plan,
                                           uint64_t *bytes, const tw_matrix *out,
                                           const tw_matrix *in)
{
    tw_status missing =
        TWI_REQUIRE(ctx, {"plan", plan}, {"bytes", bytes}, {"out", out}, {"in", in});
    return missing == TW_OK ? refuse_call(ctx, plan, out, in, NULL) : missing;
}

tw_status tw_entropy_plan_apply_device(tw_context *ctx, tw_entropy_plan *plan, tw_matrix *out,
                                       const tw_matrix *in, const tw_device_options *device)
{
    tw_status missing = TWI_REQUIRE(ctx, {"plan", plan}, {"out", out}, {"in", in});
    return missing == TW_OK ? refuse_call(ctx, plan, out, in, device) : missing;
}
