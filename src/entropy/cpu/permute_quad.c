/*
 * The counters by permutes: see permute.h. The sixteen counters of four windows, one below the
 * other, are one vector. First the columns are brought to all four rows, then the windows slide
 * along.
 */
#include "entropy/cpu/quad.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

/* The counters of every column for each of the rows. */
INLINE void bring_columns(const twi_counters_quad *q, int64_t columns)
{
    const uint8_t *change[TWI_QUAD] = {q->change[0], q->change[1], q->change[2], q->change[3]};
    const __m128i *delta = (const __m128i *)q->delta;
    __m128i *column = (__m128i *)q->column;
    __m128i *all = (__m128i *)q->columns;
    for (int64_t x = 0; x < columns; x++) {
        __m128i counts = _mm_loadu_si128(column + x);
        for (int i = 0; i < TWI_QUAD; i++) {
            counts = _mm_add_epi8(counts, _mm_loadu_si128(delta + change[i][x]));
            _mm_store_si128(all + x * TWI_QUAD + i, counts);
        }
        _mm_storeu_si128(column + x, counts);
    }
}

/* The sums of four windows, four numbers of each that are still to be added. */
INLINE __m512i look_up(const __m512i *plane, __m512i counts)
{
    const __m512i ones = _mm512_set1_epi8(1);
    __m512i sum = _mm512_setzero_si512();
    for (int p = TWI_PLANES - 1; p >= 0; p--) {
        const __m512i found = _mm512_permutexvar_epi8(counts, plane[p]);
        sum = _mm512_dpbusd_epi32(_mm512_slli_epi32(sum, 8), found, ones);
    }
    return sum;
}

/* The sums of four outputs of each row, from four of each. */
INLINE __m512i add_across(const __m512i *part)
{
    const __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(part[0], part[1]),
                                       _mm512_unpackhi_epi32(part[0], part[1]));
    const __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(part[2], part[3]),
                                       _mm512_unpackhi_epi32(part[2], part[3]));
    return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

INLINE __m256 scale(__m256i difference, __m512d factor)
{
    return _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_cvtepu32_pd(difference), factor));
}

INLINE void slide(const twi_counters_quad *q, int64_t window_cols)
{
    const __m512i total = _mm512_set1_epi32((int)q->total);
    const __m512d factor = _mm512_set1_pd(q->factor);
    const uint8_t(*columns)[TWI_QUAD][TWI_COUNTERS] =
        (const uint8_t(*)[TWI_QUAD][TWI_COUNTERS])q->columns;
    __m512i plane[TWI_PLANES];
    for (int p = 0; p < TWI_PLANES; p++) {
        const __m256i half = _mm256_loadu_si256((const __m256i *)(q->planes + p * TWI_PLANE));
        plane[p] = _mm512_broadcast_i64x4(half);
    }
    __m512i window = _mm512_setzero_si512();
    for (int64_t x = 0; x < window_cols - 1; x++) {
        window = _mm512_add_epi8(window, _mm512_load_si512(columns[x]));
    }
    __m512i leaving = _mm512_setzero_si512();
    for (int64_t x = 0; x < q->outputs; x += TWI_QUAD) {
        __m512i part[TWI_QUAD];
        for (int i = 0; i < TWI_QUAD; i++) {
            const __m512i entering = _mm512_load_si512(columns[x + i + window_cols - 1]);
            window = _mm512_add_epi8(window, _mm512_sub_epi8(entering, leaving));
            leaving = _mm512_load_si512(columns[x + i]);
            part[i] = look_up(plane, window);
        }
        const __m512i sum = add_across(part);
        const __m512i difference = _mm512_sub_epi32(total, sum);
        const __m256 upper = scale(_mm512_castsi512_si256(difference), factor);
        const __m256 lower = scale(_mm512_extracti64x4_epi64(difference, 1), factor);
        _mm_storeu_si128((__m128i *)(q->sum[0] + x), _mm512_castsi512_si128(sum));
        _mm_storeu_si128((__m128i *)(q->sum[1] + x), _mm512_extracti32x4_epi32(sum, 1));
        _mm_storeu_si128((__m128i *)(q->sum[2] + x), _mm512_extracti32x4_epi32(sum, 2));
        _mm_storeu_si128((__m128i *)(q->sum[3] + x), _mm512_extracti32x4_epi32(sum, 3));
        const __mmask8 live =
            q->live - x >= TWI_QUAD ? 15 : (__mmask8)((1U << (q->live > x ? q->live - x : 0)) - 1);
        _mm_mask_storeu_ps(q->out[0] + x, live, _mm256_castps256_ps128(upper));
        _mm_mask_storeu_ps(q->out[1] + x, live, _mm256_extractf128_ps(upper, 1));
        _mm_mask_storeu_ps(q->out[2] + x, live, _mm256_castps256_ps128(lower));
        _mm_mask_storeu_ps(q->out[3] + x, live, _mm256_extractf128_ps(lower, 1));
    }
}

void twi_permute_quad_run(const twi_counters_quad *quad)
{
    bring_columns(quad, quad->outputs + quad->window_cols - 1);
    if (quad->window_cols == 5) {
        slide(quad, 5);
    } else if (quad->window_cols == 3) {
        slide(quad, 3);
    } else {
        slide(quad, quad->window_cols);
    }
}
