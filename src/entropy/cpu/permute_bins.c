/*
 * The bins of one row of outputs: see bins.h. Eight outputs are made at once: what was looked up
 * for each of them is summed across the vectors together.
 */
#include "entropy/cpu/bins_row.h"

#include <immintrin.h>
#include <string.h>

#define GROUP TWI_BINS_GROUP
#define BATCH 8
#define INLINE static inline __attribute__((always_inline))

/* Outputs that are made together. */
typedef struct batch {
    __m512i bins[BATCH][TWI_BINS_GROUPS]; /* the counts of their windows, modulo 256 */
    __m512i low[BATCH], high[BATCH];      /* parts of what was found: of planes 0 and 1, 2 and 3 */
    uint64_t large[BATCH];                /* what counts of 256 or more add */
    int64_t without[BATCH];               /* elements that do not count */
} batch;

/* Levels of a group whose counts went past a multiple of 256, a bit each in `past`, those downwards
 * in `down`. */
static __attribute__((noinline)) void change_list(twi_bins_list *list, int group, uint64_t past,
                                                  uint64_t down)
{
    for (; past != 0; past &= past - 1) {
        const uint64_t lowest = past & -past;
        const int level = group * GROUP + __builtin_ctzll(past);
        if ((down & lowest) == 0 && list->upper[level]++ == 0) {
            list->place[level] = (uint8_t)list->count;
            list->level[list->count++] = (uint8_t)level;
        } else if ((down & lowest) != 0 && --list->upper[level] == 0) {
            const uint8_t last = list->level[--list->count];
            list->level[list->place[level]] = last;
            list->place[last] = list->place[level];
        }
    }
}

static __attribute__((noinline)) uint64_t add_large(const twi_bins_row *row, const uint8_t *bins)
{
    const twi_bins_list *list = row->list;
    uint64_t sum = 0;
    for (int32_t i = 0; i < list->count; i++) {
        const int level = list->level[i];
        sum += row->large[list->upper[level] * TWI_BINS_COUNTS + bins[level]];
    }
    return sum;
}

/* Column `in` enters and `out` leaves. A count goes past a multiple of 256 where its uppermost bit
 * changes to that of what is added. */
INLINE void move(const twi_bins_row *row, __m512i *bins, const uint8_t *in, const uint8_t *out,
                 int groups)
{
    __m512i changed = _mm512_setzero_si512();
    __m512i now[TWI_BINS_GROUPS];
    for (int g = 0; g < groups; g++) {
        const __m512i by = _mm512_sub_epi8(_mm512_loadu_si512(in + g * GROUP),
                                           _mm512_loadu_si512(out + g * GROUP));
        now[g] = _mm512_add_epi8(bins[g], by);
        changed = _mm512_ternarylogic_epi64(changed, now[g], bins[g], 0xF6); /* a | b ^ c */
    }
    const bool some = _mm512_movepi8_mask(changed) != 0;
    for (int g = 0; g < groups; g++) {
        if (__builtin_expect(some, 0)) {
            const __m512i by = _mm512_sub_epi8(now[g], bins[g]);
            const uint64_t past = _mm512_movepi8_mask(
                _mm512_ternarylogic_epi64(bins[g], now[g], by, 0x18)); /* a != b, b == c */
            if (past != 0) {
                change_list(row->list, g, past, _mm512_movepi8_mask(by));
            }
        }
        bins[g] = now[g];
    }
}

/* One plane of the counts below 64 * tables. */
INLINE __m512i find(const uint8_t *plane, __m512i bins, __mmask64 bit6, __mmask64 bit7, int tables)
{
    __m512i found = _mm512_permutexvar_epi8(bins, _mm512_loadu_si512(plane));
    for (int i = 1; i < tables; i++) {
        const __mmask64 those = i == 1 ? bit6 : i == 2 ? bit7 : bit6 & bit7;
        found =
            _mm512_mask_permutexvar_epi8(found, those, bins, _mm512_loadu_si512(plane + i * GROUP));
    }
    return found;
}

/* A group of bins in all planes. */
INLINE void look_up(const twi_bins_row *row, __m512i *sum, __m512i bins, int tables)
{
    const __m512i ones = _mm512_set1_epi8(1);
    const __mmask64 bit6 =
        tables > 1 ? _mm512_test_epi8_mask(bins, _mm512_set1_epi8(GROUP)) : (__mmask64)0;
    const __mmask64 bit7 = tables > 2 ? _mm512_movepi8_mask(bins) : (__mmask64)0;
    for (int p = 0; p < TWI_PLANES; p++) {
        const __m512i found = find(row->plane[p], bins, bit6, bit7, tables);
        sum[p] = _mm512_dpbusd_epi32(sum[p], found, ones);
    }
}

/* `tables` are those that the counts of each group need in any of the outputs: what changes from
 * one batch to the next only can be foreseen. */
INLINE void look_up_all(const twi_bins_row *row, batch *b, int64_t count, int groups,
                        const int *tables)
{
    for (int64_t i = 0; i < count; i++) {
        __m512i sum[TWI_PLANES];
        for (int p = 0; p < TWI_PLANES; p++) {
            sum[p] = _mm512_setzero_si512();
        }
        for (int g = 0; g < groups; g++) {
            const __m512i bins = b->bins[i][g];
            if (tables[g] == 1) {
                look_up(row, sum, bins, 1);
            } else if (tables[g] == 2) {
                look_up(row, sum, bins, 2);
            } else {
                look_up(row, sum, bins, 4);
            }
        }
        b->low[i] = _mm512_add_epi32(sum[0], _mm512_slli_epi32(sum[1], 8));
        b->high[i] = _mm512_add_epi32(sum[2], _mm512_slli_epi32(sum[3], 8));
    }
}

INLINE __m512i add_pairs(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

INLINE __m512i add_fours(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

/* The quarters of a and b: sums of the first two, and of the last two, of each. */
INLINE __m512i add_quarters(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xDD));
}

/* The sixteen parts of each of eight numbers. */
INLINE __m256i add_across(const __m512i *part)
{
    const __m512i a = add_fours(add_pairs(part[0], part[1]), add_pairs(part[2], part[3]));
    const __m512i b = add_fours(add_pairs(part[4], part[5]), add_pairs(part[6], part[7]));
    const __m512i both = add_quarters(a, b);
    const __m512i whole = add_quarters(both, both);
    return _mm512_castsi512_si256(whole);
}

/* As twi_entropy_value and twi_entropy_value_by. */
INLINE void emit(const twi_bins_row *row, const batch *b, float *out, int64_t count)
{
    const twi_entropy_setup *setup = row->setup;
    const int64_t size = setup->window.size;
    const uint64_t *total = setup->table.sum;
    const double unit = (double)((uint64_t)1 << setup->table.fraction);
    const __m512i low = _mm512_cvtepu32_epi64(add_across(b->low));
    const __m512i high = _mm512_cvtepu32_epi64(add_across(b->high));
    const __m512i found = _mm512_add_epi64(low, _mm512_slli_epi64(high, 16));
    const __m512i rest = _mm512_sub_epi64(_mm512_loadu_si512(b->large), found);
    const __m512i without = _mm512_loadu_si512(b->without);
    if (_mm512_test_epi64_mask(without, without) == 0) {
        const double divisor = (double)size * unit;
        const __m512i whole =
            _mm512_set1_epi64((long long)(total[size] - row->slope * (uint64_t)size));
        const __m512d difference = _mm512_cvtepi64_pd(_mm512_sub_epi64(whole, rest));
        const __m512d inverse = _mm512_set1_pd(1 / divisor);
        const __m512d nearly = _mm512_mul_pd(difference, inverse);
        const __m512d left = _mm512_fnmadd_pd(nearly, _mm512_set1_pd(divisor), difference);
        _mm256_mask_storeu_ps(out, (__mmask8)((1U << count) - 1),
                              _mm512_cvtpd_ps(_mm512_fmadd_pd(left, inverse, nearly)));
        return;
    }
    uint64_t rests[BATCH];
    _mm512_storeu_si512(rests, rest);
    for (int64_t i = 0; i < count; i++) {
        const int64_t n = size - b->without[i];
        out[i] = twi_entropy_value(total[n], row->slope * (uint64_t)n + rests[i], n, unit);
    }
}

/* Outputs x ... x + count - 1: `bins` are those of the window before them. */
INLINE void make_batch(const twi_bins_row *row, batch *b, __m512i *bins, int64_t *without,
                       int64_t x, int64_t count, int groups)
{
    static const uint8_t nothing[TWI_BINS];
    const int64_t width = (int64_t)groups * GROUP;
    const int64_t cols = row->setup->window.cols;
    const uint8_t *in = row->column + (x + cols - 1) * width;
    __m512i any[TWI_BINS_GROUPS];
    int tables[TWI_BINS_GROUPS];
    for (int g = 0; g < groups; g++) {
        any[g] = _mm512_setzero_si512();
    }
    for (int64_t i = 0; i < count; i++, in += width) {
        const bool first = x + i == 0;
        move(row, bins, in, first ? nothing : in - cols * width, groups);
        for (int g = 0; g < groups; g++) {
            any[g] = _mm512_or_si512(any[g], bins[g]);
            b->bins[i][g] = bins[g];
        }
        *without += row->none[x + i + cols - 1] - (first ? 0 : row->none[x + i - 1]);
        b->without[i] = *without;
        b->large[i] = row->list->count > 0 ? add_large(row, (const uint8_t *)b->bins[i]) : 0;
    }
    for (int g = 0; g < groups; g++) {
        const bool bit6 = _mm512_test_epi8_mask(any[g], _mm512_set1_epi8(GROUP)) != 0;
        tables[g] = _mm512_movepi8_mask(any[g]) != 0 ? 4 : bit6 ? 2 : 1;
    }
    look_up_all(row, b, count, groups, tables);
    emit(row, b, row->out + x, count);
}

INLINE void slide(const twi_bins_row *row, int groups)
{
    static const uint8_t nothing[TWI_BINS];
    const int64_t cols = row->setup->window.cols;
    __m512i bins[TWI_BINS_GROUPS];
    int64_t without = 0;
    batch b;
    memset(&b, 0, sizeof b);
    for (int g = 0; g < groups; g++) {
        bins[g] = _mm512_setzero_si512();
    }
    for (int64_t x = 0; x < cols - 1; x++) {
        move(row, bins, row->column + x * groups * GROUP, nothing, groups);
        without += row->none[x];
    }
    for (int64_t x = 0; x < row->outputs; x += BATCH) {
        const int64_t left = row->outputs - x;
        make_batch(row, &b, bins, &without, x, left < BATCH ? left : BATCH, groups);
    }
    twi_bins_list *list = row->list;
    for (int32_t i = 0; i < list->count; i++) {
        list->upper[list->level[i]] = 0;
    }
    list->count = 0;
}

void twi_permute_bins_run(const twi_bins_row *row)
{
    switch (row->groups) {
    case 1:
        slide(row, 1);
        break;
    case 2:
        slide(row, 2);
        break;
    case 3:
        slide(row, 3);
        break;
    default:
        slide(row, 4);
    }
}
