/* Wider distances: see widen.h. Loops that the compiler turns into vectors. */
#include "apsp/shared/widen.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

bool twi_widens(tw_type from, tw_type to)
{
    const bool narrow = from == TW_U8 || from == TW_U16;
    return from == to || (narrow && (to == TW_I32 || to == TW_F32 || to == TW_F64)) ||
           (from == TW_I32 && to == TW_F64);
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
    } else if (from == TW_U16) {
        WIDEN_FROM(uint16_t, TW_APSP_INF_U16)
    } else {
        WIDEN(int32_t, TW_APSP_INF_I32, double, (double)INFINITY)
    }
}

#ifdef __SSE2__

/* u16 to i32, eight at a time, from and to whole lines. A store that does not read the line before
 * is a third of the time of a sweep into a matrix (Xeon, November 2026). */
static void stream_u16_to_i32(int32_t *out, const uint16_t *in, int64_t count)
{
    const __m128i zero = _mm_setzero_si128();
    const __m128i none = _mm_set1_epi32(TW_APSP_INF_U16);
    const __m128i infinite = _mm_set1_epi32(TW_APSP_INF_I32);
    for (int64_t j = 0; j < count; j += 8) {
        const __m128i both = _mm_loadu_si128((const __m128i *)(const void *)(in + j));
        const __m128i parts[2] = {_mm_unpacklo_epi16(both, zero), _mm_unpackhi_epi16(both, zero)};
        for (int k = 0; k < 2; k++) {
            const __m128i missing = _mm_cmpeq_epi32(parts[k], none);
            const __m128i kept = _mm_andnot_si128(missing, parts[k]);
            _mm_stream_si128((__m128i *)(void *)(out + j + (int64_t)4 * k),
                             _mm_or_si128(kept, _mm_and_si128(missing, infinite)));
        }
    }
}

/* Four numbers as f64; at `none` and above there is no path. */
static inline void stream_four(double *out, __m128i four, int32_t none)
{
    const __m128i missing = _mm_cmpgt_epi32(four, _mm_set1_epi32(none - 1));
    const __m128d infinite = _mm_set1_pd((double)INFINITY);
    const __m128i halves[2] = {four, _mm_unpackhi_epi64(four, four)};
    const __m128d masks[2] = {_mm_castsi128_pd(_mm_unpacklo_epi32(missing, missing)),
                              _mm_castsi128_pd(_mm_unpackhi_epi32(missing, missing))};
    for (int k = 0; k < 2; k++) {
        const __m128d kept = _mm_andnot_pd(masks[k], _mm_cvtepi32_pd(halves[k]));
        _mm_stream_pd(out + 2 * k, _mm_or_pd(kept, _mm_and_pd(masks[k], infinite)));
    }
}

/* Whole lines of f64. */
static void stream_to_f64(double *out, const void *in, tw_type from, int64_t count)
{
    const __m128i zero = _mm_setzero_si128();
    for (int64_t j = 0; j < count; j += 8) {
        __m128i parts[2];
        if (from == TW_I32) {
            const __m128i *at = (const __m128i *)(const void *)((const int32_t *)in + j);
            parts[0] = _mm_loadu_si128(at);
            parts[1] = _mm_loadu_si128(at + 1);
        } else {
            __m128i both = zero;
            if (from == TW_U8) {
                memcpy(&both, (const uint8_t *)in + j, 8);
                both = _mm_unpacklo_epi8(both, zero);
            } else {
                memcpy(&both, (const uint16_t *)in + j, sizeof both);
            }
            parts[0] = _mm_unpacklo_epi16(both, zero);
            parts[1] = _mm_unpackhi_epi16(both, zero);
        }
        const int32_t none = from == TW_U8    ? TW_APSP_INF_U8
                             : from == TW_U16 ? TW_APSP_INF_U16
                                              : TW_APSP_INF_I32;
        stream_four(out + j, parts[0], none);
        stream_four(out + j + 4, parts[1], none);
    }
}

/* The elements before the first line that begins at `out` or behind it; all if none ever does. */
static int64_t before_line(const void *out, int64_t size, int64_t count)
{
    const int64_t beyond = (int64_t)((uintptr_t)out % TWI_CACHE_LINE);
    const int64_t lead = (TWI_CACHE_LINE - beyond) % TWI_CACHE_LINE / size;
    return beyond % size != 0 || lead > count ? count : lead;
}

static void widen_to_f64(double *out, const void *in, tw_type from, int64_t count)
{
    const int64_t size = (int64_t)tw_type_size(from);
    const int64_t lead = before_line(out, sizeof *out, count);
    const int64_t whole = (count - lead) / 8 * 8;
    const char *at = in;
    twi_widen(out, TW_F64, at, from, lead);
    stream_to_f64(out + lead, at + lead * size, from, whole);
    twi_widen(out + lead + whole, TW_F64, at + (lead + whole) * size, from, count - lead - whole);
}

void twi_widen_streaming(void *out, tw_type to, const void *in, tw_type from, int64_t count)
{
    const uint64_t bytes = (uint64_t)count * tw_type_size(to);
    if (from == TW_U16 && to == TW_I32 && (uintptr_t)out % TWI_CACHE_LINE == 0 &&
        bytes % TWI_CACHE_LINE == 0) {
        stream_u16_to_i32(out, in, count);
    } else if (to == TW_F64 && (from == TW_U8 || from == TW_U16 || from == TW_I32)) {
        widen_to_f64(out, in, from, count);
    } else {
        twi_widen(out, to, in, from, count);
    }
}

void twi_streamed(void)
{
    _mm_sfence();
}

#else

void twi_widen_streaming(void *out, tw_type to, const void *in, tw_type from, int64_t count)
{
    twi_widen(out, to, in, from, count);
}

void twi_streamed(void)
{
}

#endif
