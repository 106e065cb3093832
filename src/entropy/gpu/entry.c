/* tw_entropy_device: arrays that already lie in GPU memory, as one piece. */
#include "entropy/gpu/gpu.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "gpu/compat.h"
#include "gpu/device.h"

/* TW_OK and the device that holds `data`. */
static tw_status find_device(tw_context *ctx, const void *data, const char *what, int *device)
{
    struct cudaPointerAttributes at;
    tw_status status = twi_gpu_check(ctx, (int)cudaPointerGetAttributes(&at, data), what);
    if (status == TW_OK && !TWI_IS_DEVICE_MEMORY(at)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%s is not in GPU memory; tw_entropy takes arrays in host memory", what);
    }
    if (status == TW_OK) {
        *device = at.device;
    }
    return status;
}

static tw_status check_result(tw_context *ctx, const tw_matrix *out, const tw_shape *shape)
{
    tw_status status = twi_matrix_check(ctx, out, "the result in GPU memory");
    if (status == TW_OK && (out->rows != shape->rows || out->cols != shape->cols)) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "the result in GPU memory has %lld rows of %lld: %lld rows of %lld are "
                         "wanted",
                         (long long)out->rows, (long long)out->cols, (long long)shape->rows,
                         (long long)shape->cols);
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

static tw_status enter(tw_context *ctx, uint64_t *bytes, const tw_matrix *out, const tw_matrix *in,
                       const tw_entropy_options *opts, const tw_device_options *options)
{
    static const tw_device_options defaults = TW_DEVICE_OPTIONS_INIT;
    twi_entropy_setup setup;
    int previous = -1;
    int device = 0;
    int other = 0;
    tw_entropy_options typed;
    tw_status status = twi_entropy_options_for(ctx, &typed, opts, out);
    if (status == TW_OK) {
        status = twi_entropy_prepare(ctx, &setup, in, &typed, TWI_ENTROPY_AUTO);
    }
    if (status != TW_OK) {
        return status;
    }
    status = check_result(ctx, out, &setup.shape);
    if (status != TW_OK || setup.shape.rows == 0 || setup.shape.cols == 0) {
        if (status == TW_OK && bytes != NULL) {
            *bytes = 0;
        }
        goto done;
    }
    status = find_device(ctx, in->data, "the array", &device);
    if (status == TW_OK) {
        status = find_device(ctx, out->data, "the result", &other);
    }
    if (status == TW_OK && setup.opts.mask != NULL && other == device) {
        status = find_device(ctx, setup.opts.mask->data, "the mask", &other);
    }
    if (status == TW_OK && other != device) {
        status =
            tw_fail(ctx, TW_ERR_ARGUMENT,
                    "the array lies on GPU %d, the result or the mask on GPU %d", device, other);
    }
    if (status == TW_OK) {
        status = twi_gpu_check(ctx, (int)cudaGetDevice(&previous), "asking for the device");
    }
    if (status == TW_OK) {
        const twi_gpu_piece piece = {.in = *in,
                                     .mask = setup.opts.mask != NULL ? *setup.opts.mask
                                                                     : (tw_matrix){0},
                                     .out = *out,
                                     .above = setup.above,
                                     .before = setup.before,
                                     .border = setup.opts.border};
        status =
            enter_piece(ctx, bytes, &setup, &piece, device, options != NULL ? options : &defaults);
    }
    if (previous >= 0) {
        (void)cudaSetDevice(previous);
    }
done:
    twi_entropy_clear(&setup);
    return status;
}

tw_status tw_entropy_device_workspace(tw_context *ctx, uint64_t *bytes, const tw_matrix *out,
                                      const tw_matrix *in, const tw_entropy_options *opts)
{
    tw_status missing = TWI_REQUIRE(ctx, {"bytes", bytes}, {"out", out}, {"in", in});
    if (missing != TW_OK) {
        return missing;
    }
    return enter(ctx, bytes, out, in, opts, NULL);
}

tw_status tw_entropy_device(tw_context *ctx, tw_matrix *out, const tw_matrix *in,
                            const tw_entropy_options *opts, const tw_device_options *device)
{
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"in", in});
    if (missing != TW_OK) {
        return missing;
    }
    return enter(ctx, NULL, out, in, opts, device);
}
