/*
 * 64-bit integers of a caller (NumPy's default) as what a graph holds: vertices in 32 bits, weights
 * in i32, or in f64 where one does not fit and all are whole numbers that f64 holds exactly.
 */
#ifndef TWI_GRAPH_NARROW_H
#define TWI_GRAPH_NARROW_H

#include "base/context.h"

#include <string.h>

#define TWI_WHOLE_MOST ((int64_t)1 << 53) /* of whole numbers of which f64 has every one */

/* Element i of an array of int64_t at any alignment. */
static inline int64_t twi_load_i64(const void *array, int64_t i)
{
    int64_t value;
    memcpy(&value, (const char *)array + (size_t)i * sizeof value, sizeof value);
    return value;
}

/* Copies of `count` integers, which the caller frees. If one is no vertex of 0 ... vertices-1, or
 * beyond TWI_WHOLE_MOST as a weight, *out is NULL and *bad the place of the first; else *bad is
 * INT64_MAX. `type` becomes TW_I32 or TW_F64. */
TW_CHECKED tw_status twi_narrow_vertices(tw_context *ctx, int32_t **out, int64_t *bad,
                                         const void *in, int64_t count, int64_t vertices);
TW_CHECKED tw_status twi_narrow_weights(tw_context *ctx, void **out, tw_type *type, int64_t *bad,
                                        const void *in, int64_t count);

#endif
