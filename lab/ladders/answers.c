/* See answers.h. */
#include "ladders/answers.h"

#include "base/threads.h"
#include "gpu/device.h"

#include <math.h>
#include <string.h>

tw_status lab_same_distances(tw_context *ctx, const lab_rung *rung, const int32_t *got,
                             const int32_t *right, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++) {
        if (got[i] != right[i]) {
            return tw_fail(ctx, TW_ERR_VERIFY,
                           "rung %s is wrong: distance %lld -> %lld is %d, and should be %d",
                           rung->name, (long long)(i / n), (long long)(i % n), got[i], right[i]);
        }
    }
    return TW_OK;
}

tw_status lab_near_rectangle(tw_context *ctx, const lab_rung *rung, const float *got,
                             const float *right, int64_t rows, int64_t cols, float tolerance)
{
    for (int64_t i = 0; i < rows * cols; i++) {
        if (!(fabsf(got[i] - right[i]) <= tolerance)) {
            return tw_fail(ctx, TW_ERR_VERIFY,
                           "rung %s is wrong: row %lld, column %lld is %.9g, and should be %.9g",
                           rung->name, (long long)(i / cols), (long long)(i % cols), (double)got[i],
                           (double)right[i]);
        }
    }
    return TW_OK;
}

tw_status lab_near_floats(tw_context *ctx, const lab_rung *rung, const float *got,
                          const float *right, int64_t n, float tolerance)
{
    return lab_near_rectangle(ctx, rung, got, right, n, n, tolerance);
}

void lab_poison(void *output, int64_t n, int32_t element)
{
    memset(output, 0xFF, (size_t)(n * n) * (size_t)element); /* -1; NaN */
}

double lab_relaxations(int64_t n)
{
    return (double)n * (double)n * (double)n;
}

double lab_elements(int64_t n)
{
    return (double)n * (double)n;
}

double lab_matrix_bytes(int64_t n)
{
    return 8 * (double)n * (double)n;
}

double lab_image_bytes(int64_t n)
{
    return 5 * (double)n * (double)n;
}

/* `threads` as tw_copy_rate takes them: 1, or 0 for all. */
static tw_status copy_ceiling(tw_context *ctx, double bytes, int32_t threads, lab_ceiling *out)
{
    *out = (lab_ceiling){.of = threads == 1 ? "a copy of large arrays by one thread"
                                            : "a copy of large arrays by all threads"};
    tw_status status = tw_set_device(ctx, "cpu");
    if (status == TW_OK) {
        status = tw_copy_rate(ctx, &out->bytes, threads);
    }
    out->rate = out->bytes / bytes;
    return status;
}

tw_status lab_matrix_copy_ceiling(tw_context *ctx, lab_ceiling *out)
{
    return copy_ceiling(ctx, lab_matrix_bytes(1), 0, out);
}

tw_status lab_matrix_copy_ceiling_of_one(tw_context *ctx, lab_ceiling *out)
{
    return copy_ceiling(ctx, lab_matrix_bytes(1), 1, out);
}

tw_status lab_image_copy_ceiling(tw_context *ctx, lab_ceiling *out)
{
    return copy_ceiling(ctx, lab_image_bytes(1), 0, out);
}

tw_status lab_image_copy_ceiling_of_one(tw_context *ctx, lab_ceiling *out)
{
    return copy_ceiling(ctx, lab_image_bytes(1), 1, out);
}

bool lab_has_threads(tw_context *ctx, const lab_rung *rung)
{
    return rung->b <= twi_thread_count(ctx);
}

tw_status lab_gpu_relaxation_ceiling(tw_context *ctx, lab_ceiling *out)
{
    *out = (lab_ceiling){.of = "32-bit additions and minima in registers, on one GPU"};
    tw_status status = tw_set_device(ctx, twi_gpu_prefix());
    return status != TW_OK ? status : tw_minplus_ceiling(ctx, &out->rate, TW_I32, 0);
}
