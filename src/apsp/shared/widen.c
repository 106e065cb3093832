/* Wider distances: see widen.h. Loops that the compiler turns into vectors. */
#include "apsp/shared/widen.h"

#include <math.h>
#include <string.h>

bool twi_widens(tw_type from, tw_type to)
{
    const bool narrow = from == TW_U8 || from == TW_U16;
    return from == to || (narrow && (to == TW_I32 || to == TW_F32 || to == TW_F64));
}

#define WIDEN(IN, IN_NONE, OUT, OUT_NONE)                              \
    for (int64_t j = 0; j < count; j++) {                              \
        const IN value = ((const IN *)in)[j];                          \
        ((OUT *)out)[j] = value < (IN_NONE) ? (OUT)value : (OUT_NONE); \
    }
#define WIDEN_FROM(IN, IN_NONE)                      \
    if (to == TW_I32) {                              \
        WIDEN(IN, IN_NONE, int32_t, TW_APSP_INF_I32) \
    } else if (to == TW_F32) {                       \
        WIDEN(IN, IN_NONE, float, INFINITY)          \
    } else {                                         \
        WIDEN(IN, IN_NONE, double, (double)INFINITY) \
    }

void twi_widen(void *restrict out, tw_type to, const void *restrict in, tw_type from, int64_t count)
{
    if (from == to) {
        memcpy(out, in, (size_t)count * tw_type_size(to));
    } else if (from == TW_U8) {
        WIDEN_FROM(uint8_t, TW_APSP_INF_U8)
    } else {
        WIDEN_FROM(uint16_t, TW_APSP_INF_U16)
    }
}
