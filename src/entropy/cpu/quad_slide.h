/*
 * Four rows of outputs of the counters at once: see quad.h. The sixteen counters of one window are
 * a quarter of a vector of AVX-512, or half of one of AVX2: the counters of WINDOWS windows, one
 * below the other, are one vector. First the columns are brought to all four rows, then the windows
 * slide along, as many rows at a time as a vector has, four columns at a time.
 *
 * A template. The includer defines what turns counters into sums:
 *   tables                               what is read of T
 *   tables load_tables(planes)
 *   look_up(tables, counts, part)        of TWI_QUAD vectors, into four parts of each window's sum
 * then includes this file, and calls run_quad.
 */
#include "base/simd/simd.h"
#include "entropy/cpu/quad.h"

#define INLINE static inline __attribute__((always_inline))
#define WINDOWS ((int)(sizeof(vec_u8) / TWI_COUNTERS))

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

/* The sums of four outputs of each row, from four parts of each. */
INLINE vec_i32 add_across(const vec_i32 *part)
{
    const vec_i32 a =
        MM(add_epi32)(MM(unpacklo_epi32)(part[0], part[1]), MM(unpackhi_epi32)(part[0], part[1]));
    const vec_i32 b =
        MM(add_epi32)(MM(unpacklo_epi32)(part[2], part[3]), MM(unpackhi_epi32)(part[2], part[3]));
    return MM(add_epi32)(MM(unpacklo_epi64)(a, b), MM(unpackhi_epi64)(a, b));
}

/* (total - sum) * factor of four outputs of each row; the last ones may not be there. */
INLINE void store_outputs(const twi_counters_quad *q, int row, int64_t x, const __m128 *value)
{
    const int64_t live = q->live - x;
    for (int i = 0; i < WINDOWS; i++) {
        float *out = q->out[row + i] + x;
        if (live >= TWI_QUAD) {
            _mm_storeu_ps(out, value[i]);
        } else {
            float lane[TWI_QUAD];
            _mm_storeu_ps(lane, value[i]);
            for (int64_t k = 0; k < live; k++) {
                out[k] = lane[k];
            }
        }
    }
}

#if defined(TWI_KERNEL_AVX512)
INLINE __m256 scale_half(__m256i number, __m512d factor)
{
    return _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_cvtepu32_pd(number), factor));
}

INLINE void finish(const twi_counters_quad *q, int row, int64_t x, __m512i sum)
{
    const __m512d factor = _mm512_set1_pd(q->factor);
    const __m512i rest = _mm512_sub_epi32(_mm512_set1_epi32((int)q->total), sum);
    const __m256 upper = scale_half(_mm512_castsi512_si256(rest), factor);
    const __m256 lower = scale_half(_mm512_extracti64x4_epi64(rest, 1), factor);
    const __m128 value[WINDOWS] = {_mm256_castps256_ps128(upper), _mm256_extractf128_ps(upper, 1),
                                   _mm256_castps256_ps128(lower), _mm256_extractf128_ps(lower, 1)};
    _mm_storeu_si128((__m128i *)(q->sum[row] + x), _mm512_castsi512_si128(sum));
    _mm_storeu_si128((__m128i *)(q->sum[row + 1] + x), _mm512_extracti32x4_epi32(sum, 1));
    _mm_storeu_si128((__m128i *)(q->sum[row + 2] + x), _mm512_extracti32x4_epi32(sum, 2));
    _mm_storeu_si128((__m128i *)(q->sum[row + 3] + x), _mm512_extracti32x4_epi32(sum, 3));
    store_outputs(q, row, x, value);
}
#else
INLINE void finish(const twi_counters_quad *q, int row, int64_t x, __m256i sum)
{
    const __m256d factor = _mm256_set1_pd(q->factor);
    const __m256i rest = _mm256_sub_epi32(_mm256_set1_epi32((int)q->total), sum);
    const __m128 value[WINDOWS] = {scale_u32(_mm256_castsi256_si128(rest), factor),
                                   scale_u32(_mm256_extracti128_si256(rest, 1), factor)};
    _mm_storeu_si128((__m128i *)(q->sum[row] + x), _mm256_castsi256_si128(sum));
    _mm_storeu_si128((__m128i *)(q->sum[row + 1] + x), _mm256_extracti128_si256(sum, 1));
    store_outputs(q, row, x, value);
}
#endif

INLINE vec_u8 counters_of(const twi_counters_quad *q, int64_t column, int row)
{
    return load_u8(q->columns[column][row]);
}

/* WINDOWS rows from `row` on. */
INLINE void slide(const twi_counters_quad *q, int64_t window_cols, int row)
{
    const tables t = load_tables(q->planes);
    vec_u8 window = splat_u8(0), leaving = splat_u8(0);
    for (int64_t x = 0; x < window_cols - 1; x++) {
        window = plain_add_u8(window, counters_of(q, x, row));
    }
    for (int64_t x = 0; x < q->outputs; x += TWI_QUAD) {
        vec_u8 counts[TWI_QUAD];
        vec_i32 part[TWI_QUAD];
        for (int i = 0; i < TWI_QUAD; i++) {
            const vec_u8 entering = counters_of(q, x + i + window_cols - 1, row);
            window = plain_add_u8(window, MM(sub_epi8)(entering, leaving));
            leaving = counters_of(q, x + i, row);
            counts[i] = window;
        }
        look_up(&t, counts, part);
        finish(q, row, x, add_across(part));
    }
}

INLINE void run_quad(const twi_counters_quad *q)
{
    bring_columns(q, q->outputs + q->window_cols - 1);
    for (int row = 0; row < TWI_QUAD; row += WINDOWS) {
        if (q->window_cols == 5) {
            slide(q, 5, row);
        } else if (q->window_cols == 3) {
            slide(q, 3, row);
        } else {
            slide(q, q->window_cols, row);
        }
    }
}
