/* Matrix views: see matrix.h. */
#include "base/matrix.h"

tw_status twi_matrix_check(tw_context *ctx, const tw_matrix *matrix, const char *what)
{
    uint64_t elements;
    uint64_t bytes;
    if (matrix == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%s is NULL", what);
    }
    if (tw_type_size(matrix->type) == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%s has no element type (its type is %d)", what,
                       (int)matrix->type);
    }
    if (matrix->type == TW_F16) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%s is of f16, which only files hold", what);
    }
    if (matrix->rows < 0 || matrix->cols < 0 || matrix->stride < matrix->cols) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%s is %lld x %lld with a stride of %lld elements; sizes cannot be negative "
                       "nor the stride below the columns",
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
    return TW_OK;
}
