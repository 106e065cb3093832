/* Elements of a matrix of any type, put there as doubles. */
#ifndef TW_TESTS_ELEMENTS_H
#define TW_TESTS_ELEMENTS_H

#include "harness.h"

#include "base/matrix.h"

static inline void put(const tw_matrix *m, int64_t i, int64_t j, double value)
{
    void *row = twi_matrix_row(m, i);
    switch (m->type) {
    case TW_U8:
        ((uint8_t *)row)[j] = (uint8_t)value;
        break;
    case TW_U16:
        ((uint16_t *)row)[j] = (uint16_t)value;
        break;
    case TW_I16:
        ((int16_t *)row)[j] = (int16_t)value;
        break;
    case TW_I32:
        ((int32_t *)row)[j] = (int32_t)value;
        break;
    case TW_F32:
        ((float *)row)[j] = (float)value;
        break;
    default:
        ((double *)row)[j] = value;
    }
}

#endif
