/* Matrix views: the one check that every function taking a tw_matrix makes first. */
#ifndef TWI_BASE_MATRIX_H
#define TWI_BASE_MATRIX_H

#include "base/context.h"

/* TW_ERR_ARGUMENT unless `matrix` is a view whose every element can be addressed: a known type, no
 * negative size, stride >= cols, data wherever there are elements, aligned for them. `what` names
 * it in the sentence ("the distance matrix"). */
TW_CHECKED tw_status twi_matrix_check(tw_context *ctx, const tw_matrix *matrix, const char *what);

/* The same, and it may also be of TW_I64: what graphs are made from. */
TW_CHECKED tw_status twi_matrix_check_weights(tw_context *ctx, const tw_matrix *matrix,
                                              const char *what);

/* Whether two views that were checked share an element, or may do so: views between each other's
 * rows share none, if their rows are equally far apart. */
bool twi_matrix_overlap(const tw_matrix *a, const tw_matrix *b);

static inline void *twi_matrix_row(const tw_matrix *matrix, int64_t row)
{
    return (char *)matrix->data + (size_t)row * (size_t)matrix->stride * tw_type_size(matrix->type);
}

/* Element j of a row, exact in every type. */
static inline double twi_element(const void *row, tw_type type, int64_t j)
{
    switch (type) {
    case TW_U8:
        return ((const uint8_t *)row)[j];
    case TW_U16:
        return ((const uint16_t *)row)[j];
    case TW_I16:
        return ((const int16_t *)row)[j];
    case TW_I32:
        return ((const int32_t *)row)[j];
    case TW_F32:
        return (double)((const float *)row)[j];
    default:
        return ((const double *)row)[j];
    }
}

#endif
