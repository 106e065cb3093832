/* tw_entropy_plan_apply_device: arrays that already lie in GPU memory, as one piece. */
#include "entropy/gpu/gpu.h"

#include "base/memory.h"
#include "entropy/plan/plan.h"
#include "gpu/compat.h"
#include "gpu/device.h"

/* TW_OK and the device that holds `data`. */
static tw_status find_device(tw_context *ctx, const void *data, const char *what, int *device)
{
    struct cudaPointerAttributes at;
    tw_status status = twi_gpu_check(ctx, (int)cudaPointerGetAttributes(&at, data), what);
    if (status == TW_OK && !TWI_IS_DEVICE_MEMORY(at)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%s is not in GPU memory; tw_entropy_plan_apply takes arrays in host memory",
                       what);
    }
    if (status == TW_OK) {
        *device = at.device;
    }
    return status;
}

static tw_status queue(tw_context *ctx, const twi_gpu_layout *layout,
                       const twi_entropy_setup *setup, const twi_gpu_limits *limits,
                       const twi_gpu_piece *piece, const tw_device_options *device)
{
    if (layout->bytes > 0 && (device->workspace_bytes < layout->bytes ||
                              (uintptr_t)device->workspace % TWI_GPU_ALIGN != 0)) {
        char need[32];
        char have[32];
        return tw_fail(ctx, TW_ERR_MEMORY,
                       "a workspace of %s, aligned to %d bytes, is needed in GPU memory; got %s",
                       twi_bytes(need, (double)layout->bytes), TWI_GPU_ALIGN,
                       twi_bytes(have, (double)device->workspace_bytes));
    }
    tw_status status = twi_gpu_upload_tables(ctx, layout, setup, device->workspace, device->stream);
    return status == TW_OK ? twi_gpu_run_piece(ctx, layout, setup, limits, piece, device->workspace,
                                               device->stream)
                           : status;
}

/* On the current device: its workspace into `bytes`, or the work on the stream. */
static tw_status enter_piece(tw_context *ctx, uint64_t *bytes, const twi_entropy_setup *setup,
                             const twi_gpu_piece *piece, int device,
                             const tw_device_options *options)
{
    twi_gpu_limits limits;
    twi_gpu_layout layout;
    tw_status status = twi_gpu_limits_get(ctx, &limits, device);
    if (status == TW_OK) {
        status = twi_gpu_layout_make(ctx, &layout, setup, &limits, piece);
    }
    if (status == TW_OK && bytes != NULL) {
        *bytes = layout.bytes;
    } else if (status == TW_OK) {
        status = queue(ctx, &layout, setup, &limits, piece, options);
    }
    return status;
}

/* The one GPU that holds the array, the result, the mask and, if there is one, the workspace: a
 * kernel that is given memory of another would end the caller's process. */
static tw_status find_common_device(tw_context *ctx, const twi_entropy_setup *setup,
                                    const tw_matrix *out, const void *workspace, int *device)
{
    const tw_matrix *mask = setup->opts.mask;
    const struct {
        const char *what;
        const void *data;
    } others[] = {{"the result", out->data},
                  {"the mask", mask != NULL ? mask->data : NULL},
                  {"the workspace", workspace}};
    tw_status status = find_device(ctx, setup->in->data, "the array", device);
    for (int i = 0; i < (int)(sizeof others / sizeof *others) && status == TW_OK; i++) {
        int other = *device;
        if (others[i].data != NULL) {
            status = find_device(ctx, others[i].data, others[i].what, &other);
        }
        if (status == TW_OK && other != *device) {
            status = tw_fail(ctx, TW_ERR_ARGUMENT, "the array lies on GPU %d, %s on GPU %d",
                             *device, others[i].what, other);
        }
    }
    return status;
}

/* Both entries: with `bytes`, only the size of the workspace. */
static tw_status enter(tw_context *ctx, const tw_entropy_plan *plan, uint64_t *bytes,
                       const tw_matrix *out, const tw_matrix *in, const tw_device_options *given)
{
    tw_device_options options;
    twi_entropy_setup setup;
    int previous = -1;
    int device = 0;
    tw_status status = twi_entropy_plan_take_call(ctx, plan, &setup, out, in, &options, given);
    if (status != TW_OK) {
        return status;
    }
    if (setup.shape.rows == 0 || setup.shape.cols == 0) {
        if (bytes != NULL) {
            *bytes = 0;
        }
        return TW_OK;
    }
    status = find_common_device(ctx, &setup, out, options.workspace, &device);
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaGetDevice(&previous), "querying the current device");
    }
    if (status == TW_OK) {
        const twi_gpu_piece piece = {.in = *in,
                                     .mask = setup.opts.mask != NULL ? *setup.opts.mask
                                                                     : (tw_matrix){0},
                                     .out = *out,
                                     .above = setup.above,
                                     .before = setup.before,
                                     .border = setup.opts.border};
        status = enter_piece(ctx, bytes, &setup, &piece, device, &options);
    }
    if (previous >= 0) {
        (void)cudaSetDevice(previous);
    }
    return status;
}

tw_status tw_entropy_plan_device_workspace(tw_context *ctx, const tw_entropy_plan *plan,
                                           uint64_t *bytes, const tw_matrix *out,
                                           const tw_matrix *in)
{
    tw_status missing =
        TWI_REQUIRE(ctx, {"plan", plan}, {"bytes", bytes}, {"out", out}, {"in", in});
    return missing == TW_OK ? enter(ctx, plan, bytes, out, in, NULL) : missing;
}

tw_status tw_entropy_plan_apply_device(tw_context *ctx, tw_entropy_plan *plan, tw_matrix *out,
                                       const tw_matrix *in, const tw_device_options *device)
{
    tw_status missing = TWI_REQUIRE(ctx, {"plan", plan}, {"out", out}, {"in", in});
    return missing == TW_OK ? enter(ctx, plan, NULL, out, in, device) : missing;
}
