/* See answers.h. */
#include "answers.h"

#include "base/clock.h"
#include "base/threads.h"

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

tw_status lab_copy_bandwidth(tw_context *ctx, double *out)
{
    enum { BYTES = 1 << 26, PIECES = 64 };
    char *from = NULL, *to = NULL;
    int threads = twi_thread_count(ctx);
    tw_status status = twi_alloc_zeroed(ctx, &from, BYTES, 1, "a copy");
    *out = 0;
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &to, BYTES, 1, "a copy");
    }
    for (int round = 0; status == TW_OK && round < 5; round++) {
        double begun = twi_seconds();
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int piece = 0; piece < PIECES; piece++) {
            memcpy(to + piece * (BYTES / PIECES), from + piece * (BYTES / PIECES), BYTES / PIECES);
        }
        double rate = 2.0 * BYTES / (twi_seconds() - begun);
        *out = rate > *out ? rate : *out;
    }
    (void)threads;
    twi_free(to);
    twi_free(from);
    return status;
}
