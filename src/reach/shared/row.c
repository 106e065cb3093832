/* Rows of bits as rows of the result: see row.h. */
#include "reach/shared/row.h"

#include <string.h>

/* Eight bits as eight bytes of 0 or 1. */
static inline void put_bytes(uint8_t *out, uint64_t bits)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t one_each = (bits * 0x0101010101010101u) & 0x8040201008040201u;
    const uint64_t bytes = ((one_each + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
    memcpy(out, &bytes, sizeof bytes);
#else
    for (int i = 0; i < 8; i++) {
        out[i] = (bits >> i) & 1;
    }
#endif
}

void twi_reach_put_row(uint8_t *out, const uint64_t *bits, int64_t vertices, bool packed)
{
    const int64_t eights = vertices / 8, rest = vertices % 8;
    for (int64_t i = 0; i < eights; i++) {
        const uint64_t eight = (bits[i / 8] >> (8 * (i % 8))) & 255;
        if (packed) {
            out[i] = (uint8_t)eight;
        } else {
            put_bytes(out + 8 * i, eight);
        }
    }
    if (rest != 0 && packed) {
        out[eights] = (uint8_t)(bits[eights / 8] >> (8 * (eights % 8)));
    }
    for (int64_t i = 0; i < rest && !packed; i++) {
        out[8 * eights + i] = (bits[eights / 8] >> (8 * (eights % 8) + i)) & 1;
    }
}

int64_t twi_reach_count_row(const uint64_t *bits, int64_t vertices)
{
    int64_t count = 0;
    for (int64_t i = 0; i < (vertices + 63) / 64; i++) {
        count += __builtin_popcountll(bits[i]);
    }
    return count;
}
