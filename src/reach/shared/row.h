/* Rows of bits, a bit for each vertex, as rows of the result: bytes of 0 and 1, or bits. */
#ifndef TWI_REACH_SHARED_ROW_H
#define TWI_REACH_SHARED_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that a row of the result takes. */
static inline int64_t twi_reach_row_bytes(int64_t vertices, bool packed)
{
    return packed ? (vertices + 7) / 8 : vertices;
}

/* Bits beyond the last vertex are 0. */
void twi_reach_put_row(uint8_t *out, const uint64_t *bits, int64_t vertices, bool packed);
int64_t twi_reach_count_row(const uint64_t *bits, int64_t vertices);

#endif
