/* Matrix views: see matrix.h. */
#include "base/matrix.h"

tw_status twi_matrix_check(tw_context *ctx, const tw_matrix *matrix, const char *what)
{
    if (matrix != NULL && matrix->type == TW_I64) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "%s is of i64, which is supported only for building graphs; convert it to i32 or f64",
            what);
    }
    return twi_matrix_check_weights(ctx, matrix, what);
}

tw_status twi_matrix_check_weights(tw_context *ctx, const tw_matrix *matrix, const char *what)
{
    uint64_t elements;
    uint64_t bytes;
    if (ctx == NULL || matrix == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%s is NULL", what);
    }
    if (tw_type_size(matrix->type) == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%s has no element type (its type is %d)", what,
                       (int)matrix->type);
    }
    if (matrix->type == TW_F16) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%s is of f16, which is supported only in files",
                       what);
    }
    if (matrix->rows < 0 || matrix->cols < 0 || matrix->stride < matrix->cols) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%s is %lld x %lld with a stride of %lld elements; sizes must not be "
                       "negative, nor the stride smaller than the number of columns",
                       what, (long long)matrix->rows, (long long)matrix->cols,
                       (long long)matrix->stride);
    }
    if (!twi_mul((uint64_t)matrix->rows, (uint64_t)matrix->stride, &elements) ||
        !twi_mul(elements, tw_type_size(matrix->type), &bytes) || bytes > (uint64_t)PTRDIFF_MAX) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%s is %lld x %lld, more than this machine can address", what,
                       (long long)matrix->rows, (long long)matrix->cols);
    }
    if (matrix->data == NULL && matrix->rows > 0 && matrix->cols > 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%s is %lld x %lld but its data is NULL", what,
                       (long long)matrix->rows, (long long)matrix->cols);
    }
    if ((uintptr_t)matrix->data % tw_type_size(matrix->type) != 0 && elements > 0) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "%s has type %s and begins at an address that is not a multiple of %zu: copy it to "
            "memory aligned for its elements",
            what, tw_type_name(matrix->type), tw_type_size(matrix->type));
    }
    return TW_OK;
}

typedef struct span {
    uintptr_t begin;
    uintptr_t end;  /* of the last row */
    uintptr_t row;  /* bytes of a row */
    uintptr_t step; /* from row to row */
} span;

static span span_of(const tw_matrix *m)
{
    const uintptr_t size = tw_type_size(m->type);
    span s = {(uintptr_t)m->data, (uintptr_t)m->data, (uintptr_t)m->cols * size,
              (uintptr_t)m->stride * size};
    if (m->rows > 0 && m->cols > 0) {
        s.end += (uintptr_t)(m->rows - 1) * s.step + s.row;
    }
    return s;
}

/* Rows that are equally far apart meet if they do so in one period of it. */
bool twi_matrix_overlap(const tw_matrix *a, const tw_matrix *b)
{
    span first = span_of(a);
    span second = span_of(b);
    if (first.begin > second.begin) {
        span other = first;
        first = second;
        second = other;
    }
    if (first.begin == first.end || second.begin == second.end || first.end <= second.begin) {
        return false;
    }
    const uintptr_t ahead = (second.begin - first.begin) % (first.step > 0 ? first.step : 1);
    return first.step != second.step || ahead < first.row || ahead + second.row > first.step;
}
