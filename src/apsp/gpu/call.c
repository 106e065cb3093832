/*
 * What a call for a matrix in GPU memory may ask for. Checked here, so that a build without GPU
 * code refuses what is wrong in itself by the same sentence.
 */
#include "apsp/gpu/gpu.h"
#include "apsp/shared/options.h"
#include "base/given.h"
#include "base/matrix.h"

#define VERTICES_MOST (1 << 20) /* one matrix of 16-bit distances is 2 TB */

/* The member that means nothing here and is not left at its default; NULL: there is none. */
static const char *find_senseless(const tw_apsp_options *opts, const tw_matrix *matrix)
{
    return opts->method != TW_APSP_METHOD_AUTO && opts->method != TW_APSP_METHOD_CLOSURE ? "method"
           : opts->type != TW_AUTO && opts->type != matrix->type                         ? "type"
           : opts->block != 0                                                            ? "block"
           : opts->sources != NULL                                                       ? "sources"
           : opts->targets != NULL                                                       ? "targets"
           : !(opts->cutoff < 0)                                                         ? "cutoff"
           : opts->order != NULL                                                         ? "order"
           : opts->checkpoint != NULL ? "checkpoint"
                                      : NULL;
}

static tw_status check_matrix(tw_context *ctx, const tw_matrix *matrix)
{
    tw_status status = twi_matrix_check(ctx, matrix, "the matrix in GPU memory");
    if (status != TW_OK) {
        return status;
    }
    if (matrix->rows != matrix->cols || matrix->rows > VERTICES_MOST) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "the matrix in GPU memory is %lld x %lld; it must be square, with at most %d rows",
            (long long)matrix->rows, (long long)matrix->cols, VERTICES_MOST);
    }
    if (matrix->type != TW_I32 && matrix->type != TW_F32 && matrix->type != TW_F64) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "matrices of %s in GPU memory are not supported; use i32, f32 or f64",
                       tw_type_name(matrix->type));
    }
    return TW_OK;
}

static tw_status check_options(tw_context *ctx, const tw_apsp_options *opts,
                               const tw_matrix *matrix)
{
    const char *senseless = find_senseless(opts, matrix);
    if (senseless != NULL) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "tw_apsp_options.%s does not apply to a matrix in GPU memory; leave it at its default",
            senseless);
    }
    tw_type work = opts->work_type;
    if (work != TW_AUTO && work != matrix->type && !(work == TW_U16 && matrix->type == TW_I32)) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED, "working type %s cannot be used for a matrix of %s",
                       tw_type_name(work), tw_type_name(matrix->type));
    }
    return TW_OK;
}

tw_status twi_gpu_take_call(tw_context *ctx, twi_gpu_call *out, const tw_matrix *matrix,
                            const tw_apsp_options *opts, const tw_device_options *device)
{
    *out = (twi_gpu_call){.opts = TW_APSP_OPTIONS_INIT, .device = TW_DEVICE_OPTIONS_INIT};
    tw_status status = twi_take_options(ctx, &out->opts, opts);
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_device_options, &out->device, device);
    }
    if (status == TW_OK) {
        status = check_matrix(ctx, matrix);
    }
    return status == TW_OK ? check_options(ctx, &out->opts, matrix) : status;
}
