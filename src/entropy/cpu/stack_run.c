/*
 * A stack of 32 windows that slides along all columns: see stack_run.h. For AVX-512.
 */
#include "entropy/cpu/stack_run.h"

#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define GROUP 64 /* levels of a word of bits */
#define MARGIN 4 /* by which counts may be below those that are looked at */

/* Sums of T of windows 0 to 7, 8 to 15, 16 to 23 and 24 to 31. */
typedef struct sums {
    __m512i part[4];
} sums;

/* Parts of T of all windows, or of what a column changes: lower bits of either half, upper parts.
 */
typedef struct parts {
    __m512i lower[2];
    __m512i upper;
} parts;

/* The parts of T of 64 counts that follow each other. */
typedef struct table {
    __m512i lower[4];
    __m512i upper[2];
} table;

/* Levels that have had a count of 64 or more, or 128 or more, and were not seen without one. */
typedef struct large_levels {
    uint64_t beyond[2][TWI_STACK_GROUPS]; /* a bit each */
} large_levels;

/* ------------------------------------------------------------------------------------- columns */

/* Turn eight rows of eight elements into eight columns. */
INLINE void transpose(__m128i *v)
{
    for (int step = 0; step < 3; step++) {
        __m128i w[8];
        for (int i = 0; i < 4; i++) {
            w[2 * i] = _mm_unpacklo_epi16(v[i], v[i + 4]);
            w[2 * i + 1] = _mm_unpackhi_epi16(v[i], v[i + 4]);
        }
        memcpy(v, w, sizeof w);
    }
}

/* From the levels of a column: which there are, and the places of their counts. */
INLINE void finish_column(twi_stack_column *column, int64_t rows, int32_t levels)
{
    __m512i has[TWI_STACK_GROUPS];
    for (int g = 0; g < TWI_STACK_GROUPS; g++) {
        has[g] = _mm512_setzero_si512();
    }
    for (int64_t r = 0; r < rows; r += 8) {
        __m128i *const at = (__m128i *)(column->place + r);
        const __m512i level = _mm512_cvtepu16_epi64(*at);
        const __mmask8 counts = _mm512_cmplt_epu64_mask(level, _mm512_set1_epi64(levels));
        for (int g = 0; g < TWI_STACK_GROUPS; g++) { /* nothing is left of 1 outside of 64 bits */
            const __m512i bit = _mm512_sub_epi64(level, _mm512_set1_epi64(GROUP * g));
            has[g] =
                _mm512_or_si512(has[g], _mm512_maskz_sllv_epi64(counts, _mm512_set1_epi64(1), bit));
        }
        *at = _mm_slli_epi16(*at, 6); /* a vector each */
    }
    for (int g = 0; g < TWI_STACK_GROUPS; g++) {
        column->has[g] = (uint64_t)_mm512_reduce_or_epi64(has[g]);
    }
}

/* Columns x ... x + 7 of the padded array, as many as there are. */
static void bring_columns(const twi_stack *s, twi_stack_column *to, int64_t x)
{
    const twi_entropy_setup *setup = s->setup;
    const int64_t rows = setup->window.rows + TWI_STACK - 1;
    const int64_t left = s->outputs + setup->window.cols - 1 - x;
    const int64_t count = left < TWI_STACK_COLUMNS ? left : TWI_STACK_COLUMNS;
    const __mmask8 there = (__mmask8)((1U << count) - 1);
    for (int64_t r = 0; r < rows; r += 8) {
        __m128i v[8];
        for (int i = 0; i < 8; i++) { /* behind the last row nothing that counts */
            v[i] = r + i < rows ? _mm_maskz_loadu_epi16(there, s->levels + (r + i) * s->pitch + x)
                                : _mm_set1_epi16(-1);
        }
        transpose(v);
        for (int i = 0; i < 8; i++) {
            memcpy(to[i].place + r, &v[i], sizeof v[i]);
        }
    }
    for (int64_t i = 0; i < count; i++) {
        finish_column(&to[i], rows, setup->opts.levels);
    }
}

/* The column `in` enters its windows. */
INLINE void enter(const twi_stack *s, const twi_stack_column *in)
{
    const int64_t rows = s->setup->window.rows + TWI_STACK - 1;
    char *const counts = (char *)s->count;
    for (int64_t r = 0; r < rows; r++) {
        __m512i *const at = (__m512i *)(counts + in->place[r]);
        *at = _mm512_add_epi16(*at, _mm512_load_si512(s->ones[r]));
    }
}

/* And `out` leaves them. One element of each in turn: equal neighbours wait for each other. */
INLINE void enter_and_leave(const twi_stack *s, const twi_stack_column *in,
                            const twi_stack_column *out)
{
    const int64_t rows = s->setup->window.rows + TWI_STACK - 1;
    char *const counts = (char *)s->count;
    const uint16_t *entering = in->place;
    const uint16_t *leaving = out->place;
    const uint16_t *ones = s->ones[0];
    for (const uint16_t *end = ones + rows * TWI_STACK; ones < end; ones += TWI_STACK) {
        __m512i by = _mm512_load_si512(ones);
        __asm__("" : "+v"(by)); /* loaded once */
        __m512i *at = (__m512i *)(counts + *entering++);
        *at = _mm512_add_epi16(*at, by);
        at = (__m512i *)(counts + *leaving++);
        *at = _mm512_sub_epi16(*at, by);
    }
}

/* ------------------------------------------------------------------------------------- look-ups */

INLINE table load_table(const twi_stack *s, int64_t first)
{
    table t;
    for (int i = 0; i < 4; i++) {
        t.lower[i] = _mm512_loadu_si512(s->lower + first + 16 * i);
    }
    for (int i = 0; i < 2; i++) {
        t.upper[i] = _mm512_loadu_si512(s->upper + first + 32 * i);
    }
    return t;
}

INLINE bool are_below(__m512i counts, int bound) /* which is a power of two */
{
    return _mm512_test_epi16_mask(counts, _mm512_set1_epi16((short)-bound)) == 0;
}

/* The lower bits of 16 counts below 64, of which only the lowest 6 bits are looked at. */
INLINE __m512i look_up_lower(const table *t, __m512i counts)
{
    const __m512i below = _mm512_permutex2var_epi32(t->lower[0], counts, t->lower[1]);
    const __m512i above = _mm512_permutex2var_epi32(t->lower[2], counts, t->lower[3]);
    return _mm512_mask_mov_epi32(below, _mm512_test_epi32_mask(counts, _mm512_set1_epi32(32)),
                                 above);
}

INLINE __m512i look_up_upper(const table *t, __m512i counts)
{
    return _mm512_permutex2var_epi16(t->upper[0], counts, t->upper[1]);
}

/* Counts below 64. */
INLINE parts look_up(const table *t, __m512i counts)
{
    return (parts){{look_up_lower(t, counts), look_up_lower(t, _mm512_srli_epi32(counts, 16))},
                   look_up_upper(t, counts)};
}

/* The same with a table for each half of the windows. */
INLINE parts look_up_halves(const table *a, const table *b, __m512i counts)
{
    const __mmask32 odd = 0xAAAAAAAA;
    return (parts){{look_up_lower(a, counts), look_up_lower(b, _mm512_srli_epi32(counts, 16))},
                   _mm512_mask_mov_epi16(look_up_upper(a, counts), odd, look_up_upper(b, counts))};
}

/* A count of either half, in all places. */
INLINE __m512i pair_of(const uint16_t *counts, int window)
{
    int32_t pair;
    memcpy(&pair, counts + 2 * window, sizeof pair);
    return _mm512_set1_epi32(pair);
}

/* Counts too far apart. */
static __attribute__((noinline)) void look_up_each(const twi_stack *s, const uint16_t *counts,
                                                   twi_stack_level *found)
{
    for (int i = 0; i < TWI_STACK; i++) {
        found->lower[i % 2][i / 2] = s->lower[counts[i]];
        found->upper[i] = s->upper[counts[i]];
    }
}

/* Of counts below 128, what was found for them in the lower and in the upper half of a table. */
INLINE parts choose(parts low, parts high, __m512i counts)
{
    for (int half = 0; half < 2; half++) {
        const __m512i bit = _mm512_set1_epi32(half == 0 ? TWI_STACK_TABLE : TWI_STACK_TABLE << 16);
        low.lower[half] = _mm512_mask_mov_epi32(
            low.lower[half], _mm512_test_epi32_mask(counts, bit), high.lower[half]);
    }
    const __mmask32 those = _mm512_test_epi16_mask(counts, _mm512_set1_epi16(TWI_STACK_TABLE));
    low.upper = _mm512_mask_mov_epi16(low.upper, those, high.upper);
    return low;
}

/* Counts of any size: most lie in the 64 above the least of windows 0, 8 and 15 of each half. */
INLINE parts look_up_large(const twi_stack *s, const uint16_t *of, __m512i counts)
{
    const __m512i ends = _mm512_min_epu16(pair_of(of, 0), pair_of(of, 15));
    const __m512i least = _mm512_min_epu16(pair_of(of, 8), ends);
    const __m512i bases = _mm512_and_si512(_mm512_subs_epu16(least, _mm512_set1_epi16(MARGIN)),
                                           _mm512_set1_epi16(-16)); /* for aligned tables */
    const uint32_t both = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(bases));
    const int64_t first[2] = {both & UINT16_MAX, both >> 16};
    const __m512i rest = _mm512_sub_epi16(counts, bases);
    const table low[2] = {load_table(s, first[0]), load_table(s, first[1])};
    const parts found = look_up_halves(&low[0], &low[1], rest);
    if (__builtin_expect(are_below(rest, TWI_STACK_TABLE), 1)) {
        return found;
    }
    if (are_below(rest, 2 * TWI_STACK_TABLE)) {
        const table high[2] = {load_table(s, first[0] + TWI_STACK_TABLE),
                               load_table(s, first[1] + TWI_STACK_TABLE)};
        return choose(found, look_up_halves(&high[0], &high[1], rest), rest);
    }
    twi_stack_level each;
    look_up_each(s, of, &each);
    return (parts){{_mm512_loadu_si512(each.lower[0]), _mm512_loadu_si512(each.lower[1])},
                   _mm512_loadu_si512(each.upper)};
}

/* ------------------------------------------------------------------------------------- sums */

/* A level has other parts now. */
INLINE void replace(twi_stack_level *level, parts now, parts *sum)
{
    for (int half = 0; half < 2; half++) {
        const __m512i before = _mm512_load_si512(level->lower[half]);
        sum->lower[half] =
            _mm512_add_epi32(_mm512_sub_epi32(sum->lower[half], before), now.lower[half]);
        _mm512_store_si512(level->lower[half], now.lower[half]);
    }
    const __m512i before = _mm512_load_si512(level->upper);
    sum->upper = _mm512_add_epi16(_mm512_sub_epi16(sum->upper, before), now.upper);
    _mm512_store_si512(level->upper, now.upper);
}

/* The levels `touched` of group g, whose counts may have changed. They go by what their counts were
 * the last time, so that what comes can be foreseen. `tables` are of counts from 0 and from 64 on.
 */
INLINE void take_group(const twi_stack *s, const table *tables, int g, uint64_t touched,
                       large_levels *large, parts *sum)
{
    uint64_t *const beyond_64 = &large->beyond[0][g];
    uint64_t *const beyond_128 = &large->beyond[1][g];
    for (uint64_t left = touched & ~*beyond_64; left != 0; left &= left - 1) {
        const int64_t level = g * GROUP + __builtin_ctzll(left);
        const __m512i counts = _mm512_load_si512(s->count[level]);
        if (__builtin_expect(are_below(counts, TWI_STACK_TABLE), 1)) {
            replace(&s->level[level], look_up(&tables[0], counts), sum);
        } else {
            *beyond_64 |= left & -left;
        }
    }
    for (uint64_t left = touched & *beyond_64 & ~*beyond_128; left != 0; left &= left - 1) {
        const int64_t level = g * GROUP + __builtin_ctzll(left);
        const __m512i counts = _mm512_load_si512(s->count[level]);
        if (__builtin_expect(are_below(counts, TWI_STACK_TABLE), 0)) {
            *beyond_64 &= ~(left & -left);
        }
        if (__builtin_expect(are_below(counts, 2 * TWI_STACK_TABLE), 1)) {
            const parts low = look_up(&tables[0], counts);
            replace(&s->level[level], choose(low, look_up(&tables[1], counts), counts), sum);
        } else {
            *beyond_128 |= left & -left;
        }
    }
    for (uint64_t left = touched & *beyond_64 & *beyond_128; left != 0; left &= left - 1) {
        const int64_t level = g * GROUP + __builtin_ctzll(left);
        const __m512i counts = _mm512_load_si512(s->count[level]);
        if (__builtin_expect(are_below(counts, 2 * TWI_STACK_TABLE), 0)) {
            *beyond_128 &= ~(left & -left);
        }
        replace(&s->level[level], look_up_large(s, s->count[level], counts), sum);
    }
}

/* Add to two parts of the sums what the lower bits and the upper parts of a half say. */
INLINE void add_half(__m512i *part, __m512i lower, __m512i upper)
{
    const __m512i error = _mm512_sub_epi32(lower, _mm512_slli_epi32(upper, TWI_STACK_SHIFT));
    const __m256i uppers[2] = {_mm512_castsi512_si256(upper), _mm512_extracti64x4_epi64(upper, 1)};
    const __m256i errors[2] = {_mm512_castsi512_si256(error), _mm512_extracti64x4_epi64(error, 1)};
    for (int i = 0; i < 2; i++) {
        const __m512i most = _mm512_slli_epi64(_mm512_cvtepi32_epi64(uppers[i]), TWI_STACK_SHIFT);
        const __m512i change = _mm512_add_epi64(most, _mm512_cvtepi32_epi64(errors[i]));
        part[i] = _mm512_add_epi64(part[i], change);
    }
}

/* Bring the sums to the counts of all levels that the columns have; NULL: none left. */
INLINE void take_levels(const twi_stack *s, const table *tables, large_levels *large,
                        const twi_stack_column *in, const twi_stack_column *out, sums *sum)
{
    const __m512i zero = _mm512_setzero_si512();
    parts found = {{zero, zero}, zero};
    for (int g = 0; g < TWI_STACK_GROUPS; g++) {
        const uint64_t touched = in->has[g] | (out != NULL ? out->has[g] : 0);
        take_group(s, tables, g, touched, large, &found);
    }
    add_half(&sum->part[0], found.lower[0],
             _mm512_srai_epi32(_mm512_slli_epi32(found.upper, 16), 16));
    add_half(&sum->part[2], found.lower[1], _mm512_srai_epi32(found.upper, 16));
}

/* ------------------------------------------------------------------------------------- results */

/* As twi_entropy_value: windows of which some elements do not count. */
static __attribute__((noinline)) void emit_each(const twi_stack *s, const sums *sum, float *out)
{
    const twi_entropy_setup *setup = s->setup;
    const uint16_t *without = s->count[setup->opts.levels];
    const double unit = (double)((uint64_t)1 << setup->table.fraction);
    uint64_t whole[TWI_STACK];
    for (int i = 0; i < 4; i++) {
        _mm512_storeu_si512(whole + 8 * i, sum->part[i]);
    }
    for (int w = 0; w < TWI_STACK; w++) {
        const int64_t n = setup->window.size - without[2 * (w % 16) + w / 16];
        out[w] = twi_entropy_value(setup->table.sum[n], whole[w], n, unit);
    }
}

/* A column of results. */
INLINE void emit(const twi_stack *s, const sums *sum, float *out)
{
    const twi_entropy_setup *setup = s->setup;
    const __m512i without = _mm512_load_si512(s->count[setup->opts.levels]);
    if (_mm512_test_epi16_mask(without, without) != 0) {
        emit_each(s, sum, out);
        return;
    }
    const double divisor =
        (double)setup->window.size * (double)((uint64_t)1 << setup->table.fraction);
    const __m512i total = _mm512_set1_epi64((long long)setup->table.sum[setup->window.size]);
    const __m512d inverse = _mm512_set1_pd(1 / divisor);
    for (int i = 0; i < 4; i++) { /* as twi_entropy_value_by */
        const __m512d difference = _mm512_cvtepi64_pd(_mm512_sub_epi64(total, sum->part[i]));
        const __m512d nearly = _mm512_mul_pd(difference, inverse);
        const __m512d left = _mm512_fnmadd_pd(nearly, _mm512_set1_pd(divisor), difference);
        _mm256_storeu_ps(out + 8 * i, _mm512_cvtpd_ps(_mm512_fmadd_pd(left, inverse, nearly)));
    }
}

/* The first `count` columns of the tile to columns x ... of the result. */
static void write_tile(const twi_stack *s, int64_t x, int64_t count)
{
    for (int64_t y = 0; y < s->live; y++) {
        float *out = s->out + y * s->stride + x;
        for (int64_t i = 0; i < count; i++) {
            out[i] = s->tile[i][y];
        }
    }
}

void twi_stack_run_avx512(const twi_stack *stack)
{
    const twi_stack s = *stack;
    const int64_t cols = s.setup->window.cols;
    const int64_t outputs = s.outputs;
    const table tables[2] = {load_table(&s, 0), load_table(&s, TWI_STACK_TABLE)};
    large_levels large = {{{0}}};
    sums sum;
    for (int i = 0; i < 4; i++) {
        sum.part[i] = _mm512_setzero_si512();
    }
    int64_t enters = 0, leaves = s.room - cols; /* places in the ring */
    for (int64_t x = 0; x < outputs + cols - 1; x++) {
        if (x % TWI_STACK_COLUMNS == 0) {
            bring_columns(&s, s.column + enters, x);
        }
        const twi_stack_column *in = s.column + enters;
        const twi_stack_column *out = x >= cols ? s.column + leaves : NULL;
        if (out == NULL) {
            enter(&s, in);
        } else {
            enter_and_leave(&s, in, out);
        }
        take_levels(&s, tables, &large, in, out, &sum);
        enters = enters + 1 < s.room ? enters + 1 : 0;
        leaves = leaves + 1 < s.room ? leaves + 1 : 0;
        const int64_t result = x - (cols - 1);
        if (result < 0) {
            continue;
        }
        const int64_t at = result % TWI_STACK_TILE;
        emit(&s, &sum, s.tile[at]);
        if (at == TWI_STACK_TILE - 1 || result == outputs - 1) {
            write_tile(&s, result - at, at + 1);
        }
    }
}
