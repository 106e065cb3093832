/*
 * The bins of one row of outputs: see bins.h. Eight outputs are made at once: what was looked up
 * for each of them is summed across the vectors together. What their windows differ by is brought
 * to the next row in between: that takes no vectors, which are what everything else waits for.
 */
#include "entropy/cpu/bins_row.h"

#include <immintrin.h>
#include <string.h>

#define GROUP TWI_BINS_GROUP
#define BATCH 8
#define TABLES (TWI_BINS_COUNTS / GROUP) /* of a plane */
#define INLINE static inline __attribute__((always_inline))

/* Outputs that are made together. */
typedef struct batch {
    __m512i bins[BATCH + 1][TWI_BINS_GROUPS]; /* the counts of their windows, modulo 256 */
    __m512i low[BATCH], high[BATCH]; /* parts of what was found: of planes 0 and 1, 2 and 3 */
    uint64_t large[BATCH];           /* what counts of 256 or more add */
    int64_t without[BATCH + 1];      /* elements that do not count */
} batch;

/* --------------------------------------------------------------------------------- large counts */

static void add_to_list(twi_bins_list *list, int bin, int upper)
{
    list->place[bin] = (uint8_t)list->count;
    list->bin[list->count++] = (uint8_t)bin;
    list->upper[bin] = (uint8_t)upper;
}

/* Bins of a group whose counts went past a multiple of 256, a bit each in `past`, those downwards
 * in `down`. */
static __attribute__((noinline)) void change_list(twi_bins_list *list, int group, uint64_t past,
                                                  uint64_t down)
{
    for (; past != 0; past &= past - 1) {
        const uint64_t lowest = past & -past;
        const int bin = group * GROUP + __builtin_ctzll(past);
        if ((down & lowest) == 0) {
            if (list->upper[bin] == 0) {
                add_to_list(list, bin, 1);
            } else {
                list->upper[bin]++;
            }
        } else if (--list->upper[bin] == 0) {
            const uint8_t last = list->bin[--list->count];
            list->bin[list->place[bin]] = last;
            list->place[last] = list->place[bin];
        }
    }
}

static __attribute__((noinline)) uint64_t add_large(const twi_bins_row *row, const uint8_t *bins)
{
    const twi_bins_list *list = row->list;
    uint64_t sum = 0;
    for (int32_t i = 0; i < list->count; i++) {
        const int bin = list->bin[i];
        sum += row->large[list->upper[bin] * TWI_BINS_COUNTS + bins[bin]];
    }
    return sum;
}

/* Where a count of a group goes past a multiple of 256 from window i to the next one. */
INLINE __m512i passes(const batch *b, int64_t i, int g)
{
    const __m512i by = _mm512_sub_epi8(b->bins[i + 1][g], b->bins[i][g]);
    return _mm512_ternarylogic_epi64(b->bins[i][g], b->bins[i + 1][g], by,
                                     0x18); /* a != b, b == c */
}

/* Follow the list from window to window. */
static __attribute__((noinline)) void follow_list(const twi_bins_row *row, batch *b, int64_t count,
                                                  int groups)
{
    for (int64_t i = 0; i < count; i++) {
        b->large[i] = row->list->count > 0 ? add_large(row, (const uint8_t *)b->bins[i]) : 0;
        for (int g = 0; g < groups; g++) {
            const uint64_t past = _mm512_movepi8_mask(passes(b, i, g));
            if (past != 0) {
                const __m512i by = _mm512_sub_epi8(b->bins[i + 1][g], b->bins[i][g]);
                change_list(row->list, g, past, _mm512_movepi8_mask(by));
            }
        }
    }
}

/* Whether some count goes past a multiple of 256: only one with its uppermost bit can. */
INLINE bool any_passes(const batch *b, int64_t count, int groups, const int *tables)
{
    __m512i any = _mm512_setzero_si512();
    for (int g = 0; g < groups; g++) {
        for (int64_t i = 0; i < count && tables[g] == TABLES; i++) {
            any = _mm512_or_si512(any, passes(b, i, g));
        }
    }
    return _mm512_movepi8_mask(any) != 0;
}

/* -------------------------------------------------------------------------------------- windows */

/* The first window, and the list of its large counts. */
INLINE void begin_row(const twi_bins_row *row, batch *b, int groups)
{
    twi_bins_list *list = row->list;
    for (int g = 0; g < groups; g++) {
        const __m512i low = _mm512_loadu_si512(row->window + g * GROUP);
        const __m512i high = _mm512_loadu_si512(row->window + g * GROUP + GROUP / 2);
        const __m512i most = _mm512_set1_epi16(TWI_BINS_COUNTS - 1);
        const uint64_t large = _mm512_cmpgt_epu16_mask(low, most) |
                               (uint64_t)_mm512_cmpgt_epu16_mask(high, most) << (GROUP / 2);
        b->bins[0][g] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(low)),
                                           _mm512_cvtepi16_epi8(high), 1);
        for (uint64_t left = large; left != 0; left &= left - 1) {
            const int bin = g * GROUP + __builtin_ctzll(left);
            add_to_list(list, bin, row->window[bin] / TWI_BINS_COUNTS);
        }
    }
    b->without[0] = row->window[groups * GROUP];
}

/* A column of the first window, in the next row. */
INLINE void lower_window(const twi_bins_row *row, const uint16_t *bin, int64_t column)
{
    row->window[bin[row->entering[column]]]++;
    row->window[bin[row->leaving[column]]]--;
}

INLINE void end_row(const twi_bins_row *row)
{
    twi_bins_list *list = row->list;
    for (int32_t i = 0; i < list->count; i++) {
        list->upper[list->bin[i]] = 0;
    }
    list->count = 0;
    for (int64_t c = row->outputs; c < row->setup->window.cols; c++) {
        lower_window(row, row->bin, c);
    }
}

/* The counts of windows x + 1 ... x + count, by those of x; of window x + i + 1 in place i + 1.
 * tables[g]: of how many the counts of a group need to be looked up in. */
INLINE void move(const twi_bins_row *row, batch *b, int64_t x, int64_t count, int groups,
                 int *tables)
{
    const uint8_t *change = row->change + x * row->step;
    const int64_t step = row->step;
    __m512i bins[TWI_BINS_GROUPS];
    for (int g = 0; g < groups; g++) {
        bins[g] = b->bins[0][g];
    }
    for (int64_t i = 0; i < count; i++) {
        for (int g = 0; g < groups; g++) {
            bins[g] = _mm512_add_epi8(bins[g], _mm512_loadu_si512(change + i * step + g * GROUP));
            b->bins[i + 1][g] = bins[g];
        }
    }
    for (int64_t i = 0; i < count && row->skips; i++) {
        b->without[i + 1] = b->without[i] + (int8_t)change[i * step + groups * GROUP];
    }
    for (int g = 0; g < groups; g++) { /* where fewer were made, of those before, too */
        __m512i any = b->bins[0][g];
        for (int i = 1; i < BATCH; i += 2) {
            any = _mm512_ternarylogic_epi64(any, b->bins[i][g], b->bins[i + 1][g], 0xFE); /* or */
        }
        const bool bit6 = _mm512_test_epi8_mask(any, _mm512_set1_epi8(GROUP)) != 0;
        tables[g] = _mm512_movepi8_mask(any) != 0          ? TABLES
                    : bit6                                 ? 2
                    : _mm512_test_epi8_mask(any, any) != 0 ? 1
                                                           : 0;
    }
}

/* What the next row has other than this one. */
typedef struct rows_below {
    const uint16_t *bin;
    const uint16_t *entering, *leaving;
    int64_t cols;
} rows_below;

/* What window i and the next one differ by, in the next row. */
INLINE void lower_change(const rows_below *below, uint8_t *change, int64_t i)
{
    const uint16_t *bin = below->bin, *entering = below->entering + i,
                   *leaving = below->leaving + i;
    change[bin[entering[below->cols]]]++;
    change[bin[entering[0]]]--;
    change[bin[leaving[below->cols]]]--;
    change[bin[leaving[0]]]++;
}

/* ------------------------------------------------------------------------------------- look-ups */

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
INLINE void look_up(const uint8_t (*plane)[TWI_BINS_COUNTS], __m512i *sum, __m512i bins, int tables)
{
    const __m512i ones = _mm512_set1_epi8(1);
    const __mmask64 bit6 =
        tables > 1 ? _mm512_test_epi8_mask(bins, _mm512_set1_epi8(GROUP)) : (__mmask64)0;
    const __mmask64 bit7 = tables > 2 ? _mm512_movepi8_mask(bins) : (__mmask64)0;
    for (int p = 0; p < TWI_PLANES; p++) {
        sum[p] = _mm512_dpbusd_epi32(sum[p], find(plane[p], bins, bit6, bit7, tables), ones);
    }
}

/* Outputs x ... x + count - 1, whose groups need as many tables as `tables` says; with `first` and
 * `second` known, those of the first two, and one of the others. */
INLINE void look_up_by(const twi_bins_row *row, batch *b, int64_t x, int64_t count, int groups,
                       const int *tables, int first, int second)
{
    const uint8_t(*plane)[TWI_BINS_COUNTS] = row->plane;
    const rows_below below = {row->bin, row->entering + x, row->leaving + x,
                              row->setup->window.cols};
    uint8_t *change = row->change + x * row->step;
    const int64_t step = row->step;
    const int64_t lowered = row->outputs - 1 - x;
    for (int64_t i = 0; i < count; i++) {
        __m512i sum[TWI_PLANES];
        for (int p = 0; p < TWI_PLANES; p++) {
            sum[p] = _mm512_setzero_si512();
        }
        for (int g = 0; g < groups; g++) {
            const __m512i bins = b->bins[i][g];
            const int most = tables != NULL ? tables[g] : g == 0 ? first : g == 1 ? second : 1;
            if (most == 1) {
                look_up(plane, sum, bins, 1);
            } else if (most == 2) {
                look_up(plane, sum, bins, 2);
            } else if (most > 2) {
                look_up(plane, sum, bins, TABLES);
            }
        }
        if (i < lowered) {
            lower_change(&below, change + i * step, i);
        }
        if (x + i < below.cols) {
            lower_window(row, below.bin, x + i);
        }
        b->low[i] = _mm512_add_epi32(sum[0], _mm512_slli_epi32(sum[1], 8));
        b->high[i] = _mm512_add_epi32(sum[2], _mm512_slli_epi32(sum[3], 8));
    }
}

typedef void look_up_fn(const twi_bins_row *row, batch *b, int64_t x, int64_t count);

#define DEFINE_LOOK_UP(GROUPS, FIRST, SECOND)                                    \
    static __attribute__((noinline)) void look_up_##GROUPS##_##FIRST##_##SECOND( \
        const twi_bins_row *row, batch *b, int64_t x, int64_t count)             \
    {                                                                            \
        look_up_by(row, b, x, count, GROUPS, NULL, FIRST, SECOND);               \
    }
#define DEFINE_LOOK_UPS(GROUPS)  \
    DEFINE_LOOK_UP(GROUPS, 1, 1) \
    DEFINE_LOOK_UP(GROUPS, 2, 1) \
    DEFINE_LOOK_UP(GROUPS, 2, 2) \
    DEFINE_LOOK_UP(GROUPS, 4, 1) \
    DEFINE_LOOK_UP(GROUPS, 4, 2) \
    DEFINE_LOOK_UP(GROUPS, 4, 4)
#define LOOK_UPS(GROUPS)                                                              \
    {                                                                                 \
        {look_up_##GROUPS##_1_1, look_up_##GROUPS##_2_1, look_up_##GROUPS##_4_1},     \
            {look_up_##GROUPS##_2_2, look_up_##GROUPS##_2_2, look_up_##GROUPS##_4_2}, \
            {look_up_##GROUPS##_4_4, look_up_##GROUPS##_4_4, look_up_##GROUPS##_4_4}, \
    }
DEFINE_LOOK_UPS(1)
DEFINE_LOOK_UPS(2)
DEFINE_LOOK_UPS(3)
DEFINE_LOOK_UPS(4)

static __attribute__((noinline)) void look_up_any(const twi_bins_row *row, batch *b, int64_t x,
                                                  int64_t count, int groups, const int *tables)
{
    look_up_by(row, b, x, count, groups, tables, 0, 0);
}

/* Most windows have many levels of the strip not at all, and large counts of few. */
INLINE void look_up_all(const twi_bins_row *row, batch *b, int64_t x, int64_t count, int groups,
                        const int *tables)
{
    static look_up_fn *const known[TWI_BINS_GROUPS][3][3] = {LOOK_UPS(1), LOOK_UPS(2), LOOK_UPS(3),
                                                             LOOK_UPS(4)};
    int last = 0, rest = 0;
    for (int g = 1; g < groups; g++) {
        last = tables[g] > 0 ? g : last;
        rest |= g > 1 ? tables[g] : 0;
    }
    if (rest > 1) {
        look_up_any(row, b, x, count, groups, tables);
    } else {
        const int first = tables[0] / 2, second = groups > 1 ? tables[1] / 2 : 0;
        known[last][second][first](row, b, x, count);
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

/* What all outputs of a row have in common. */
typedef struct whole {
    double unit;
    double divisor; /* of a window of which all elements count, */
    double inverse;
    int64_t base; /* and what is added to the sum of its look-ups */
} whole;

INLINE whole describe_whole(const twi_bins_row *row)
{
    const twi_entropy_setup *setup = row->setup;
    const uint64_t size = (uint64_t)setup->window.size;
    const double unit = (double)((uint64_t)1 << setup->table.fraction);
    const double divisor = (double)size * unit;
    return (whole){unit, divisor, 1 / divisor,
                   (int64_t)(setup->table.sum[size] - row->slope * size)};
}

/* As twi_entropy_value. */
static __attribute__((noinline)) void emit_each(const twi_bins_row *row, const batch *b,
                                                double unit, __m512i rest, float *out,
                                                int64_t count)
{
    uint64_t rests[BATCH];
    _mm512_storeu_si512(rests, rest);
    for (int64_t i = 0; i < count; i++) {
        const int64_t n = row->setup->window.size - b->without[i];
        out[i] = twi_entropy_value(row->setup->table.sum[n], row->slope * (uint64_t)n + rests[i], n,
                                   unit);
    }
}

/* As twi_entropy_value_by. */
INLINE void emit(const twi_bins_row *row, const batch *b, const whole *w, float *out, int64_t count)
{
    const __m512i low = _mm512_cvtepu32_epi64(add_across(b->low));
    const __m512i high = _mm512_cvtepu32_epi64(add_across(b->high));
    const __m512i found = _mm512_add_epi64(low, _mm512_slli_epi64(high, 16));
    const __m512i rest = _mm512_sub_epi64(_mm512_loadu_si512(b->large), found);
    const __m512i without = _mm512_loadu_si512(b->without);
    if (row->skips && _mm512_test_epi64_mask(without, without) != 0) {
        emit_each(row, b, w->unit, rest, out, count);
        return;
    }
    const __m512d difference =
        _mm512_cvtepi64_pd(_mm512_sub_epi64(_mm512_set1_epi64(w->base), rest));
    const __m512d inverse = _mm512_set1_pd(w->inverse);
    const __m512d nearly = _mm512_mul_pd(difference, inverse);
    const __m512d left = _mm512_fnmadd_pd(nearly, _mm512_set1_pd(w->divisor), difference);
    _mm256_mask_storeu_ps(out, (__mmask8)((1U << count) - 1),
                          _mm512_cvtpd_ps(_mm512_fmadd_pd(left, inverse, nearly)));
}

/* Outputs x ... x + count - 1; the counts of window x are in the batch, and those of the one behind
 * them on return. */
INLINE void make_batch(const twi_bins_row *row, batch *b, const whole *w, int64_t x, int64_t count,
                       int groups)
{
    int tables[TWI_BINS_GROUPS];
    move(row, b, x, count, groups, tables);
    const bool follows = row->list->count > 0 || any_passes(b, count, groups, tables);
    if (follows) {
        follow_list(row, b, count, groups);
    }
    look_up_all(row, b, x, count, groups, tables);
    emit(row, b, w, row->out + x, count);
    for (int g = 0; g < groups; g++) {
        b->bins[0][g] = b->bins[count][g];
    }
    b->without[0] = b->without[count];
    if (follows) {
        memset(b->large, 0, sizeof b->large);
    }
}

INLINE void slide(const twi_bins_row *row, int groups)
{
    const whole w = describe_whole(row);
    batch b;
    memset(&b, 0, sizeof b);
    begin_row(row, &b, groups);
    for (int64_t x = 0; x < row->outputs; x += BATCH) {
        const int64_t left = row->outputs - x;
        make_batch(row, &b, &w, x, left < BATCH ? left : BATCH, groups);
    }
    end_row(row);
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
