/*
 * Entropies beside MPFR, which shares nothing with the library: the table of n log n, and results
 * of f32 within 1 ulp and of f64 within 2 for every way to share up to 25 elements among 16 levels,
 * for windows of up to a million elements most of which are equal, in every base, cropped and
 * masked.
 */
#include "harness.h"

#include "base/random.h"
#include "entropy/shared/setup.h"
#include "entropy/shared/table.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#define BITS 200

static const tw_entropy_base bases[] = {TW_ENTROPY_BASE_E, TW_ENTROPY_BASE_2, TW_ENTROPY_BASE_10,
                                        TW_ENTROPY_BASE_LEVELS};
#define BASES ((int)(sizeof bases / sizeof *bases))

static void log_of_base(mpfr_t out, tw_entropy_base base, int32_t levels)
{
    mpfr_set_si(out, base == TW_ENTROPY_BASE_LEVELS ? levels : base, MPFR_RNDN);
    if (base == TW_ENTROPY_BASE_E) {
        mpfr_set_si(out, 1, MPFR_RNDN);
    } else {
        mpfr_log(out, out, MPFR_RNDN);
    }
}

static void the_tables_are_n_log_n_rounded(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 31, 1025, 1 << 20};
    tw_context *ctx = open_context();
    mpfr_t unit, want, got;
    mpfr_inits2(BITS, unit, want, got, (mpfr_ptr)NULL);
    for (int i = 0; i < 5 * BASES; i++) {
        const int64_t size = sizes[i / BASES];
        twi_entropy_table narrow, wide;
        if (emulated_sizes_only() && size > 2000 && i % BASES != 1) {
            continue;
        }
        log_of_base(unit, bases[i % BASES], 300);
        assert_ok(ctx, twi_entropy_table_make(ctx, &narrow, size, bases[i % BASES], 300, TW_F32));
        assert_ok(ctx, twi_entropy_table_make(ctx, &wide, size, bases[i % BASES], 300, TW_F64));
        for (int64_t n = 1; n <= size; n += n < 2000 ? 1 : 997) {
            mpfr_set_si(want, n, MPFR_RNDN);
            mpfr_log(want, want, MPFR_RNDN);
            mpfr_mul_si(want, want, n, MPFR_RNDN);
            mpfr_div(want, want, unit, MPFR_RNDN);
            mpfr_mul_2si(want, want, narrow.fraction, MPFR_RNDN);
            mpfr_set_uj(got, narrow.sum[n], MPFR_RNDN);
            mpfr_sub(got, got, want, MPFR_RNDN);
            assert_true(fabs(mpfr_get_d(got, MPFR_RNDN)) <= 0.5 + 0x1p-30);
            mpfr_mul_2si(want, want, TWI_WIDE_POINT - narrow.fraction, MPFR_RNDN);
            mpfr_set_uj(got, (uint64_t)(wide.wide_sum[n] >> 64), MPFR_RNDN);
            mpfr_mul_2si(got, got, 64, MPFR_RNDN);
            mpfr_sub(got, got, want, MPFR_RNDN);
            mpfr_set_uj(want, (uint64_t)wide.wide_sum[n], MPFR_RNDN);
            mpfr_add(got, got, want, MPFR_RNDN);
            assert_true(fabs(mpfr_get_d(got, MPFR_RNDN)) <= 0.5 + 0x1p-8);
        }
        twi_entropy_table_clear(&wide);
        twi_entropy_table_clear(&narrow);
    }
    mpfr_clears(unit, want, got, (mpfr_ptr)NULL);
    close_context(ctx);
}

/* ------------------------------------------------------------------------------------ windows */

typedef struct judge {
    tw_context *ctx;
    mpfr_t exact, term, unit;
    double worst_f32, worst_f64; /* ulp */
    int64_t seen;
} judge;

static void open_judge(judge *j)
{
    *j = (judge){.ctx = open_context()};
    mpfr_inits2(BITS, j->exact, j->term, j->unit, (mpfr_ptr)NULL);
    assert_ok(j->ctx, tw_set_threads(j->ctx, 1));
}

static void close_judge(judge *j)
{
    print_message("%lld entropies: f32 off by %.4f ulp at most, f64 by %.4f\n", (long long)j->seen,
                  j->worst_f32, j->worst_f64);
    mpfr_clears(j->exact, j->term, j->unit, (mpfr_ptr)NULL);
    close_context(j->ctx);
}

/* The entropy of counts by its definition: minus the sum of p log p. */
static void define(judge *j, const int64_t *counts, int parts, tw_entropy_base base, int32_t levels)
{
    int64_t n = 0;
    for (int i = 0; i < parts; i++) {
        n += counts[i];
    }
    mpfr_set_zero(j->exact, 1);
    for (int i = 0; i < parts; i++) {
        if (counts[i] > 0) {
            mpfr_set_si(j->term, counts[i], MPFR_RNDN);
            mpfr_div_si(j->term, j->term, n, MPFR_RNDN);
            mpfr_set(j->unit, j->term, MPFR_RNDN);
            mpfr_log(j->term, j->term, MPFR_RNDN);
            mpfr_mul(j->term, j->term, j->unit, MPFR_RNDN);
            mpfr_sub(j->exact, j->exact, j->term, MPFR_RNDN);
        }
    }
    log_of_base(j->unit, base, levels);
    mpfr_div(j->exact, j->exact, j->unit, MPFR_RNDN);
}

/* How far `got` is from the exact entropy, in units of the last of `digits` bits. */
static double distance(judge *j, double got, int digits)
{
    if (mpfr_zero_p(j->exact)) {
        return got == 0 && !signbit(got) ? 0 : (double)INFINITY;
    }
    const mpfr_exp_t exponent = mpfr_get_exp(j->exact);
    mpfr_sub_d(j->term, j->exact, got, MPFR_RNDN);
    mpfr_mul_2si(j->term, j->term, digits - exponent, MPFR_RNDN);
    return fabs(mpfr_get_d(j->term, MPFR_RNDN));
}

static void compare(judge *j, float narrow, double wide, const int64_t *counts, int parts,
                    tw_entropy_base base, int32_t levels)
{
    define(j, counts, parts, base, levels);
    const double off_f32 = distance(j, (double)narrow, 24);
    const double off_f64 = distance(j, wide, 53);
    if (!(off_f32 <= 1) || !(off_f64 <= 2)) {
        fail_msg("counts %lld, %lld, ... (%d of them), base %d: %.9g is off by %.3f ulp, %.17g by "
                 "%.3f",
                 (long long)counts[0], (long long)counts[parts > 1], parts, base, (double)narrow,
                 off_f32, wide, off_f64);
    }
    j->worst_f32 = fmax(j->worst_f32, off_f32);
    j->worst_f64 = fmax(j->worst_f64, off_f64);
    j->seen++;
}

/* One array that is one window, f32 and f64. */
static void compute(judge *j, const tw_matrix *in, const tw_entropy_options *opts, float *narrow,
                    double *wide)
{
    tw_matrix small = {narrow, 1, 1, 1, TW_F32};
    tw_matrix large = {wide, 1, 1, 1, TW_F64};
    assert_ok(j->ctx, tw_entropy(j->ctx, &small, in, opts));
    assert_ok(j->ctx, tw_entropy(j->ctx, &large, in, opts));
}

/* ------------------------------------------------------------------------------ count patterns */

/* Windows of rows x cols side by side, one for each way. */
typedef struct patterns {
    int64_t (*counts)[16];
    uint8_t *cells;
    int64_t rows, cols, most, seen;
    int64_t now[16];
} patterns;

static void partitions(patterns *p, int64_t left, int64_t largest, int part)
{
    if (left == 0) {
        assert_true(p->seen < p->most);
        memset(p->now + part, 0, (size_t)(16 - part) * sizeof *p->now);
        memcpy(p->counts[p->seen], p->now, sizeof p->now);
        int64_t element = 0;
        for (int i = 0; i < part; i++) {
            for (int64_t k = 0; k < p->now[i]; k++, element++) {
                p->cells[(element / p->cols * p->most + p->seen) * p->cols + element % p->cols] =
                    (uint8_t)i;
            }
        }
        p->seen++;
        return;
    }
    for (int64_t count = left < largest ? left : largest; count > 0 && part < 16; count--) {
        p->now[part] = count;
        partitions(p, left - count, count, part + 1);
    }
}

static void check_patterns(judge *j, int64_t rows, int64_t cols, int64_t most)
{
    patterns p = {.rows = rows, .cols = cols, .most = most};
    p.counts = calloc((size_t)most, sizeof *p.counts);
    p.cells = calloc((size_t)(rows * cols * most), 1);
    partitions(&p, rows * cols, rows * cols, 0);
    assert_int_equal(p.seen, most);
    const int64_t width = cols * most;
    float *narrow = malloc((size_t)width * sizeof *narrow);
    double *wide = malloc((size_t)width * sizeof *wide);
    for (int b = 0; b < BASES; b++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        tw_matrix in = {p.cells, rows, width, width, TW_U8};
        tw_matrix small = {narrow, 1, width - cols + 1, width, TW_F32};
        tw_matrix large = {wide, 1, width - cols + 1, width, TW_F64};
        opts.levels = 16;
        opts.base = bases[b];
        opts.border = TW_ENTROPY_BORDER_VALID;
        opts.window_rows = (int32_t)rows;
        opts.window_cols = (int32_t)cols;
        assert_ok(j->ctx, tw_entropy(j->ctx, &small, &in, &opts));
        assert_ok(j->ctx, tw_entropy(j->ctx, &large, &in, &opts));
        for (int64_t i = 0; i < most; i++) {
            compare(j, narrow[i * cols], wide[i * cols], p.counts[i], 16, bases[b], 16);
        }
    }
    free(wide);
    free(narrow);
    free(p.cells);
    free(p.counts);
}

static void all_count_patterns_of_small_windows(void **state)
{
    (void)state;
    static const struct {
        int64_t rows, cols, patterns;
    } sizes[] = {{1, 1, 1},   {1, 2, 2},   {3, 1, 3},     {2, 2, 5},   {1, 6, 11},
                 {3, 3, 30},  {5, 2, 42},  {3, 4, 77},    {2, 7, 135}, {3, 5, 176},
                 {4, 4, 231}, {4, 5, 620}, {23, 1, 1225}, {5, 5, 1891}};
    judge j;
    open_judge(&j);
    /* The last two in one build of each architecture: entropy.c has the bits of all of 5 x 5. */
    const size_t count = sizeof sizes / sizeof *sizes - (emulated_sizes_only() ? 2 : 0);
    for (size_t s = 0; s < count; s++) {
        check_patterns(&j, sizes[s].rows, sizes[s].cols, sizes[s].patterns);
    }
    close_judge(&j);
}

/* ------------------------------------------------------------------------------- large windows */

/* A window in which `parts` levels share all elements but those that the mask leaves out. */
static void check_window(judge *j, int64_t rows, int64_t cols, const int64_t *counts, int parts,
                         bool masked)
{
    const int64_t size = rows * cols;
    uint8_t *cells = calloc((size_t)size, 1);
    uint8_t *kept = calloc((size_t)size, 1);
    int64_t at = 0;
    for (int i = 0; i < parts; i++) {
        memset(cells + at, i, (size_t)counts[i]);
        memset(kept + at, 1, (size_t)counts[i]);
        at += counts[i];
    }
    assert_true(masked ? at <= size : at == size);
    tw_matrix in = {cells, rows, cols, cols, TW_U8};
    tw_matrix mask = {kept, rows, cols, cols, TW_U8};
    for (int b = 0; b < BASES; b++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        float narrow;
        double wide;
        opts.base = bases[b];
        opts.border = TW_ENTROPY_BORDER_VALID;
        opts.mask = masked ? &mask : NULL;
        opts.window_rows = (int32_t)rows;
        opts.window_cols = (int32_t)cols;
        compute(j, &in, &opts, &narrow, &wide);
        compare(j, narrow, wide, counts, parts, bases[b], opts.levels);
    }
    free(kept);
    free(cells);
}

static void windows_that_are_almost_constant_keep_their_last_digit(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{9, 9},   {8, 31},  {18, 14},   {19, 13},    {16, 16},
                                       {31, 31}, {32, 32}, {100, 100}, {1023, 1024}};
    const size_t count = sizeof sizes / sizeof *sizes - (small_sizes_only() ? 1 : 0);
    judge j;
    open_judge(&j);
    for (size_t s = 0; s < count; s++) {
        const int64_t n = sizes[s][0] * sizes[s][1];
        const int64_t cases[][4] = {{n, 0, 0, 0},
                                    {n - 1, 1, 0, 0},
                                    {n - 2, 2, 0, 0},
                                    {n - 2, 1, 1, 0},
                                    {n - 4, 2, 2, 0},
                                    {n / 2, n - n / 2, 0, 0},
                                    {n / 3, n / 3, n - 2 * (n / 3), 0},
                                    {n - 60, 30, 29, 1}};
        for (int c = 0; c < 8; c++) {
            check_window(&j, sizes[s][0], sizes[s][1], cases[c], 4, false);
        }
    }
    close_judge(&j);
}

static void few_elements_of_a_large_window(void **state)
{
    (void)state;
    judge j;
    open_judge(&j);
    for (int64_t n = 2; n <= (small_sizes_only() ? 11 : 40); n++) {
        for (int64_t part = 1; part <= n / 2; part++) {
            const int64_t two[2] = {n - part, part};
            const int64_t three[3] = {n - part, part - part / 2, part / 2};
            check_window(&j, 9, 9, two, 2, true);
            check_window(&j, 31, 31, three, 3, true);
        }
    }
    close_judge(&j);
}

static void random_counts(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{5, 5}, {9, 9}, {15, 15}, {31, 31}, {64, 70}};
    judge j;
    open_judge(&j);
    for (uint64_t seed = 0; seed < (emulated_sizes_only() ? 15
                                    : small_sizes_only()  ? 50
                                                          : 300);
         seed++) {
        const int64_t rows = sizes[seed % 5][0], cols = sizes[seed % 5][1];
        int64_t counts[256] = {0};
        const uint64_t levels = 1 + twi_random_below(twi_random_at(seed, 1), 256);
        for (int64_t i = 0; i < rows * cols; i++) { /* low levels are more frequent */
            const uint64_t random = twi_random_at(seed, 2 + (uint64_t)i);
            counts[twi_random_below(random * 5, 1 + twi_random_below(random, levels))]++;
        }
        check_window(&j, rows, cols, counts, 256, false);
    }
    close_judge(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_are_n_log_n_rounded),
        cmocka_unit_test(all_count_patterns_of_small_windows),
        cmocka_unit_test(windows_that_are_almost_constant_keep_their_last_digit),
        cmocka_unit_test(few_elements_of_a_large_window),
        cmocka_unit_test(random_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
