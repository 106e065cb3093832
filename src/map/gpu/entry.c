/*
 * Maps of arrays that already lie in GPU memory: the plan's kernel is put on the caller's stream,
 * on the device that holds the result.
 */
#include "map/map.h"

#include <stdio.h>

tw_status tw_map_plan_apply_device(tw_context *ctx, tw_map_plan *plan, tw_matrix *out,
                                   const tw_matrix *inputs, int32_t input_count, void *stream)
{
    tw_status missing = TWI_REQUIRE(ctx, {"plan", plan}, {"out", out}, {"inputs", inputs});
    if (missing != TW_OK) {
        return missing;
    }
    int32_t device = -1;
    if (plan->gpu == NULL) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "the plan is one for the CPU: set a GPU as the context's device before it is "
            "made");
    }
    tw_status status = twi_map_check(ctx, plan, out, inputs, input_count);
    if (status == TW_OK && (plan->shape.rows == 0 || plan->shape.cols == 0)) {
        return twi_check_cancel(ctx);
    }
    if (status == TW_OK) {
        status = twi_map_gpu_find(ctx, out->data, "the result", &device);
    }
    for (int32_t i = 0; i < input_count && status == TW_OK; i++) {
        int32_t other = -1;
        char name[32];
        snprintf(name, sizeof name, "input %d", i + 1);
        status = twi_map_gpu_find(ctx, inputs[i].data, name, &other);
        if (status == TW_OK && other != device) {
            status = tw_fail(ctx, TW_ERR_ARGUMENT, "%s lies on GPU %d, the result on GPU %d", name,
                             other, device);
        }
    }
    if (status == TW_OK) {
        const twi_map_job job =
            twi_map_job_of(plan, 0, plan->shape.rows, inputs, out->data, out->stride);
        status = twi_map_gpu_queue(ctx, plan->gpu, device, &job, stream);
    }
    return status;
}
