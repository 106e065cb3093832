/*
 * Maps of arrays that already lie in GPU memory: the plan's kernel is put on the caller's stream,
 * on the device that holds the result.
 */
#include "map/map.h"

#include "base/given.h"

#include <stdio.h>

tw_status tw_map_plan_apply_device(tw_context *ctx, tw_map_plan *plan, tw_matrix *out,
                                   const tw_matrix *inputs, int32_t input_count,
                                   const tw_device_options *device)
{
    tw_status missing = TWI_REQUIRE(ctx, {"plan", plan}, {"out", out}, {"inputs", inputs});
    if (missing != TW_OK) {
        return missing;
    }
    tw_device_options options = TW_DEVICE_OPTIONS_INIT;
    tw_status status = TWI_TAKE(ctx, tw_device_options, &options, device);
    if (status != TW_OK) {
        return status;
    }
    int32_t gpu = -1;
    if (plan->gpu == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "this plan was created for the CPU; set a GPU as the context's device "
                       "before creating it");
    }
    status = twi_map_check(ctx, plan, out, inputs, input_count);
    if (status == TW_OK && (plan->shape.rows == 0 || plan->shape.cols == 0)) {
        return twi_check_cancel(ctx);
    }
    if (status == TW_OK) {
        status = twi_map_gpu_find(ctx, out->data, "the result", &gpu);
    }
    for (int32_t i = 0; i < input_count && status == TW_OK; i++) {
        int32_t other = -1;
        char name[32];
        snprintf(name, sizeof name, "input %d", i + 1);
        status = twi_map_gpu_find(ctx, inputs[i].data, name, &other);
        if (status == TW_OK && other != gpu) {
            status = tw_fail(ctx, TW_ERR_ARGUMENT, "%s lies on GPU %d, the result on GPU %d", name,
                             other, gpu);
        }
    }
    if (status == TW_OK) {
        const twi_map_job job =
            twi_map_job_of(plan, 0, plan->shape.rows, inputs, out->data, out->stride);
        status = twi_map_gpu_queue(ctx, plan->gpu, gpu, &job, NULL, options.stream);
    }
    return status;
}
