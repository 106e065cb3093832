/* Matrix views: the one check that every function taking a tw_matrix makes first. */
#ifndef TWI_BASE_MATRIX_H
#define TWI_BASE_MATRIX_H

#include "base/context.h"

/* TW_ERR_ARGUMENT unless `matrix` is a view whose every element can be addressed: a known type, no
 * negative size, stride >= cols, data wherever there are elements. `what` names it in the
 * sentence ("the distance matrix"). */
TW_CHECKED tw_status twi_matrix_check(tw_context *ctx, const tw_matrix *matrix, const char *what);

static inline void *twi_matrix_row(const tw_matrix *matrix, int64_t row)
{
    return (char *)matrix->data + (size_t)row * (size_t)matrix->stride * tw_type_size(matrix->type);
}

#endif
