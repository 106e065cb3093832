/* Local entropy: the number, the windows, the borders, what counts, and what is refused. */
#include "harness.h"

#include "base/matrix.h"
#include "base/random.h"
#include "entropy/cpu/cpu.h"
#include "entropy/cpu/kernels.h"
#include "entropy/cpu/permute.h"
#include "entropy/plan/blocks.h"
#include "entropy/plan/prepare.h"
#include "entropy/reference.h"
#include "entropy/shared/levels.h"
#include "entropy/shared/table.h"
#include "entropy/shared/window.h"
#include "entropy/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xA5

/* An array of random levels, some of them rare. */
static void fill_levels(void *data, tw_type type, int64_t count, int32_t levels, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t random = twi_random_at(seed, (uint64_t)i);
        uint64_t few = twi_random_below(random, 4) == 0 ? (uint64_t)levels : 2;
        uint64_t value = twi_random_below(random * 0x9E3779B97F4A7C15u, few);
        switch (type) {
        case TW_U8:
            ((uint8_t *)data)[i] = (uint8_t)value;
            break;
        case TW_U16:
            ((uint16_t *)data)[i] = (uint16_t)value;
            break;
        case TW_I16:
            ((int16_t *)data)[i] = (int16_t)value;
            break;
        default:
            ((float *)data)[i] = (float)value;
            break;
        }
    }
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Whether `got` lies within 1 ulp of f32 of the real entropy, which is known to some f64 roundings;
 * of f64 results that leaves those roundings. */
static bool is_near(double got, double real, tw_type type)
{
    int exponent;
    (void)frexp(real, &exponent);
    const double ulp = ldexp(1, exponent - 24);
    return (isnan(got) && isnan(real)) ||
           fabs(got - real) <= (type == TW_F64 ? 0 : ulp) + 64 * 0x1p-53 * real;
}

/* The calls of check_all_ways: small sizes take one type and one band height of each, in turns. */
static int turn;

/* Every method, ISA, thread count and band height that can do it gives the reference's bits, and
 * those lie within 1 ulp of the real value. */
static void check_all_ways_as(tw_context *ctx, const tw_matrix *in, const tw_entropy_options *given,
                              tw_type type)
{
    twi_entropy_setup setup;
    tw_entropy_options opts = *given;
    const size_t size = tw_type_size(type);
    opts.type = type;
    assert_ok(ctx, twi_entropy_prepare(ctx, &setup, in, &opts, TWI_ENTROPY_AUTO));
    assert_ok(ctx, twi_levels_check(ctx, &setup));
    const int64_t count = setup.shape.rows * setup.shape.cols;
    double *real = malloc((size_t)(count + 1) * sizeof *real);
    char *exact = malloc((size_t)(count + 1) * size);
    char *got = malloc((size_t)(count + 1) * size);
    assert_ok(ctx, twi_reference_entropy(ctx, &setup, real, exact));
    for (int64_t i = 0; i < count; i++) {
        if (!is_near(twi_element(exact, type, i), real[i], type)) {
            fail_msg("window %d x %d, %d levels, base %d: %.17g by the table, %.17g in f64",
                     setup.window.cols, setup.window.rows, opts.levels, opts.base,
                     twi_element(exact, type, i), real[i]);
        }
    }
    for (twi_entropy_method method = TWI_ENTROPY_COUNTERS; method <= TWI_ENTROPY_LIST; method++) {
        for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT; isa++) {
            for (int64_t band = 0; band < 4; band++) {
                setup.method = method;
                setup.isa = isa;
                if (!twi_isa_usable(isa) || !twi_entropy_can(&setup, method) ||
                    (small_sizes_only() && band != (turn / 2 + (int)method + (int)isa) % 4)) {
                    continue;
                }
                memset(got, POISON, (size_t)(count + 1) * size);
                assert_ok(ctx, tw_set_threads(ctx, (int32_t)band % 2 + 1));
                assert_ok(ctx, twi_entropy_bands(ctx, &setup, 0, setup.shape.rows, got,
                                                 setup.shape.cols, band == 2 ? 1 : 5 * band));
                for (int64_t i = 0; i < count; i++) {
                    const double value = twi_element(got, type, i);
                    const double want = twi_element(exact, type, i);
                    if (memcmp(got + (size_t)i * size, exact + (size_t)i * size, size) != 0 &&
                        !(isnan(value) && isnan(want))) {
                        fail_msg("%s on %s, %lld x %lld, window %d x %d, %d levels, border %s: "
                                 "element %lld is %.17g, not %.17g",
                                 twi_entropy_method_name(method), twi_isa_name(isa),
                                 (long long)in->cols, (long long)in->rows, setup.window.cols,
                                 setup.window.rows, setup.opts.levels,
                                 tw_entropy_border_name(setup.opts.border), (long long)i, value,
                                 want);
                    }
                }
            }
        }
    }
    free(got);
    free(exact);
    free(real);
    twi_entropy_clear(&setup);
}

static void check_all_ways(tw_context *ctx, const tw_matrix *in, const tw_entropy_options *opts)
{
    turn++;
    if (!small_sizes_only() || turn % 2 == 0) {
        check_all_ways_as(ctx, in, opts, TW_F32);
    }
    if (!small_sizes_only() || turn % 2 == 1) {
        check_all_ways_as(ctx, in, opts, TW_F64);
    }
}

static void every_way_gives_the_same_bits_on_every_border(void **state)
{
    (void)state;
    static const int sizes[][2] = {{0, 0}, {0, 7}, {1, 1},  {1, 40}, {40, 1},
                                   {2, 3}, {4, 4}, {9, 17}, {23, 31}};
    static const int windows[][2] = {{5, 5}, {1, 1}, {3, 3}, {4, 6},
                                     {6, 5}, {7, 2}, {9, 9}, {16, 17}};
    static uint8_t data[1000];
    tw_context *ctx = open_context();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
            for (tw_entropy_border border = TW_ENTROPY_BORDER_CROP;
                 border <= TW_ENTROPY_BORDER_VALID; border++) {
                tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
                tw_matrix in = {data, sizes[s][0], sizes[s][1], sizes[s][1], TW_U8};
                opts.levels = w % 2 == 0 ? 16 : 9;
                opts.window_rows = windows[w][0];
                opts.window_cols = windows[w][1];
                opts.border = border;
                fill_levels(data, TW_U8, in.rows * in.cols, opts.levels, 100 * s + w);
                check_all_ways(ctx, &in, &opts);
            }
        }
    }
    close_context(ctx);
}

static void a_strip_of_columns_joins_the_next(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static const int64_t widths[] = {1023, 1024, 1025, 1027, 2051};
    uint8_t *data = malloc(2051 * 7);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        for (tw_entropy_border border = TW_ENTROPY_BORDER_CROP; border <= TW_ENTROPY_BORDER_VALID;
             border++) {
            if (small_sizes_only() && border != (tw_entropy_border)i) {
                continue;
            }
            tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
            tw_matrix in = {data, 7, widths[i], widths[i], TW_U8};
            opts.levels = 16;
            opts.border = border;
            fill_levels(data, TW_U8, in.rows * in.cols, 16, i);
            check_all_ways(ctx, &in, &opts);
        }
    }
    free(data);
    close_context(ctx);
}

/* Boxes of up to 32 elements, of which ever more have the same level from left to right: counts
 * from 1 to all. The widths are those of strips whose rows go four at a time, and of the next. */
static void one_level_takes_ever_more_of_a_small_window(void **state)
{
    (void)state;
    static uint8_t data[11 * 261];
    tw_context *ctx = open_context();
    for (int32_t size = 1; size <= 32; size++) {
        for (int32_t rows = 1; rows <= size; rows++) {
            if (size % rows != 0 || (small_sizes_only() && (size + rows) % 5 != 0)) {
                continue;
            }
            const uint64_t seed = (uint64_t)(100 * size + rows);
            const int64_t cols = 255 + (int64_t)(seed % 7);
            tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
            tw_matrix in = {data, 11, cols, cols, TW_U8};
            opts.levels = 16;
            opts.window_rows = rows;
            opts.window_cols = size / rows;
            opts.border = rows % 3 == 0 ? TW_ENTROPY_BORDER_WRAP : TW_ENTROPY_BORDER_CROP;
            for (int64_t i = 0; i < in.rows * cols; i++) {
                const uint64_t random = twi_random_at(seed, (uint64_t)i);
                const bool same = (int64_t)twi_random_below(random, 256) < i % cols;
                data[i] = same ? 11 : (uint8_t)(random % 16);
            }
            check_all_ways(ctx, &in, &opts);
        }
    }
    close_context(ctx);
}

#define QUAD_OUTPUTS 20
#define QUAD_LIVE 17
#define QUAD_ROWS 6
#define QUAD_COLS 5
#define QUAD_WIDTH (QUAD_OUTPUTS + QUAD_COLS - 1)

/* The sums of four rows of windows of 6 rows and 5 columns, against counting each of them. */
static void check_quad(void (*run)(const twi_counters_quad *), const char *name, uint64_t seed)
{
    static _Alignas(64) uint8_t columns[QUAD_WIDTH][TWI_QUAD][TWI_COUNTERS];
    static uint8_t delta[256][TWI_COUNTERS], column[QUAD_WIDTH][TWI_COUNTERS];
    static uint8_t planes[TWI_PLANES * TWI_PLANE], change[TWI_QUAD][QUAD_WIDTH];
    static uint8_t levels[QUAD_ROWS + TWI_QUAD][QUAD_WIDTH];
    static uint32_t table[TWI_PLANE], sums[TWI_QUAD][QUAD_OUTPUTS];
    static float out[TWI_QUAD][QUAD_OUTPUTS];
    const uint32_t total = 4000000000u;
    memset(delta, 0, sizeof delta);
    memset(column, 0, sizeof column);
    memset(sums, POISON, sizeof sums);
    memset(out, POISON, sizeof out);
    for (int c = 0; c < 256; c++) {
        delta[c][c >> 4]++;
        delta[c][c & 15]--;
    }
    for (int n = 0; n <= QUAD_ROWS * QUAD_COLS; n++) {
        table[n] = n == 0 ? 0 : (uint32_t)twi_random_at(seed, (uint64_t)n);
        for (int p = 0; p < TWI_PLANES; p++) {
            planes[p * TWI_PLANE + n] = (uint8_t)(table[n] >> (8 * p));
        }
    }
    for (int r = 0; r < QUAD_ROWS + TWI_QUAD; r++) {
        for (int x = 0; x < QUAD_WIDTH; x++) {
            const uint64_t random = twi_random_at(seed + 1, (uint64_t)(r * QUAD_WIDTH + x));
            levels[r][x] = random >> 8 & 7 ? (uint8_t)(seed % 16) : (uint8_t)(random % 16);
            if (r < QUAD_ROWS) {
                column[x][levels[r][x]]++;
            } else {
                change[r - QUAD_ROWS][x] = (uint8_t)(levels[r][x] << 4 | levels[r - QUAD_ROWS][x]);
            }
        }
    }
    twi_counters_quad quad = {.delta = (const uint8_t(*)[TWI_COUNTERS])delta,
                              .column = column,
                              .columns = columns,
                              .window_cols = QUAD_COLS,
                              .outputs = QUAD_OUTPUTS,
                              .planes = planes,
                              .live = QUAD_LIVE,
                              .total = total,
                              .factor = 0x1p-20};
    for (int i = 0; i < TWI_QUAD; i++) {
        quad.change[i] = change[i];
        quad.sum[i] = sums[i];
        quad.out[i] = out[i];
    }
    run(&quad);
    for (int i = 0; i < TWI_QUAD; i++) {
        for (int x = 0; x < QUAD_OUTPUTS; x++) {
            int count[16] = {0};
            uint32_t want = 0;
            for (int k = 0; k < QUAD_ROWS * QUAD_COLS; k++) {
                count[levels[i + 1 + k / QUAD_COLS][x + k % QUAD_COLS]]++;
            }
            for (int level = 0; level < 16; level++) {
                want += table[count[level]];
            }
            const float value = (float)((double)(uint32_t)(total - want) * 0x1p-20);
            if (x < QUAD_LIVE ? sums[i][x] != want || bits_of(out[i][x]) != bits_of(value)
                              : bits_of(out[i][x]) != POISON * 0x01010101u) {
                fail_msg("%s, row %d, output %d: sum %u, not %u, %g, not %g, seed %llu", name, i, x,
                         sums[i][x], want, (double)out[i][x], (double)value,
                         (unsigned long long)seed);
            }
        }
    }
}

static void four_rows_at_once_have_the_sums_of_each(void **state)
{
    (void)state;
    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT; isa++) {
        for (uint64_t seed = 0; seed < 50 && twi_isa_usable(isa); seed++) {
            const twi_counters_kernel *kernel = twi_counters_kernel_find(isa);
            const twi_permute_kernels *permutes = twi_permutes(isa);
            if (kernel->quad != NULL) {
                check_quad(kernel->quad, kernel->name, seed);
            }
            if (permutes != NULL) {
                check_quad(permutes->quad, "permutes", seed);
            }
        }
    }
}

static void both_halves_of_a_row_meet(void **state)
{
    (void)state;
    static const int windows[][2] = {{5, 5}, {4, 6}, {7, 2}, {16, 17}, {9, 9}};
    static uint8_t data[9 * 90];
    static uint8_t mask[9 * 90];
    tw_context *ctx = open_context();
    const int64_t step = small_sizes_only() ? 3 : 1;
    for (int64_t cols = 62; cols < 90; cols += cols < 68 ? step : 7 * step) {
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
            tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
            tw_matrix in = {data, 9, cols, cols, TW_U8};
            tw_matrix mask_view = {mask, 9, cols, cols, TW_U8};
            opts.levels = 40;
            opts.window_rows = windows[w][0];
            opts.window_cols = windows[w][1];
            opts.border =
                (tw_entropy_border)(w % 3 == 0 ? TW_ENTROPY_BORDER_CROP : TW_ENTROPY_BORDER_WRAP);
            fill_levels(data, TW_U8, in.rows * cols, 40, (uint64_t)cols);
            fill_levels(mask, TW_U8, in.rows * cols, 3, (uint64_t)cols + 1);
            check_all_ways(ctx, &in, &opts);
            opts.mask = &mask_view;
            check_all_ways(ctx, &in, &opts);
        }
    }
    close_context(ctx);
}

static void every_base_and_number_of_levels(void **state)
{
    (void)state;
    static const int32_t levels[] = {2, 3, 15, 16, 17, 255, 256, 257, 4096, 65535};
    static const tw_entropy_base bases[] = {TW_ENTROPY_BASE_E, TW_ENTROPY_BASE_2,
                                            TW_ENTROPY_BASE_10, TW_ENTROPY_BASE_LEVELS};
    static uint16_t data[12 * 13];
    tw_context *ctx = open_context();
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
            if (small_sizes_only() && b != l % 4) {
                continue;
            }
            tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
            tw_matrix in = {data, 12, 13, 13, TW_U16};
            opts.levels = levels[l];
            opts.base = bases[b];
            fill_levels(data, TW_U16, 12 * 13, levels[l], l);
            check_all_ways(ctx, &in, &opts);
        }
    }
    close_context(ctx);
}

static void the_most_levels_work_on_every_border_and_with_a_mask(void **state)
{
    (void)state;
    static uint16_t data[9 * 9];
    static uint8_t mask[9 * 9];
    tw_context *ctx = open_context();
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_matrix in = {data, 9, 9, 9, TW_U16};
    tw_matrix mask_view = {mask, 9, 9, 9, TW_U8};
    fill_levels(data, TW_U16, 81, 65536, 1);
    for (int i = 0; i < 81; i++) { /* few values, both ends among them */
        data[i] = data[i] % 3 == 0 ? 65535 : data[i] % 3 == 1 ? 0 : 65534;
        mask[i] = i % 7 != 0;
    }
    opts.levels = 65536;
    const tw_entropy_border last =
        small_sizes_only() ? TW_ENTROPY_BORDER_REFLECT : TW_ENTROPY_BORDER_VALID;
    for (tw_entropy_border border = 0; border <= last; border++) {
        opts.border = border;
        opts.mask = NULL;
        check_all_ways(ctx, &in, &opts);
        opts.mask = &mask_view;
        check_all_ways(ctx, &in, &opts);
    }
    close_context(ctx);
}

static void disks_and_footprints_with_any_anchor(void **state)
{
    (void)state;
    static uint8_t data[20 * 21];
    static uint8_t shape[] = {1, 0, 0, 1, /**/ 0, 0, 0, 0, /**/ 1, 1, 0, 1};
    tw_context *ctx = open_context();
    fill_levels(data, TW_U8, 20 * 21, 16, 3);
    tw_matrix in = {data, 20, 21, 21, TW_U8};
    for (tw_entropy_border border = TW_ENTROPY_BORDER_CROP; border <= TW_ENTROPY_BORDER_VALID;
         border++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        opts.levels = 16;
        opts.border = border;
        for (opts.radius = 0; opts.radius <= 6; opts.radius++) {
            check_all_ways(ctx, &in, &opts);
        }
        tw_matrix footprint = {shape, 3, 4, 4, TW_U8};
        opts.footprint = &footprint;
        for (int32_t anchor = -1; anchor < 3; anchor++) {
            opts.anchor_row = anchor;
            opts.anchor_col = anchor;
            check_all_ways(ctx, &in, &opts);
        }
    }
    close_context(ctx);
}

/* Rows of a window in groups with empty rows between, as planes of a volume laid between each
 * other have them, and holes anywhere: what enters one of several rows of windows may enter others
 * beside it, none, or one further away. */
static void footprints_of_any_rows(void **state)
{
    (void)state;
    enum { ROWS = 33, COLS = 24, SHAPE = 14 * 5 };
    static uint8_t data[ROWS * COLS], mask[ROWS * COLS], shape[SHAPE];
    tw_context *ctx = open_context();
    const uint64_t rounds = small_sizes_only() ? 6 : 40;
    tw_matrix in = {data, ROWS, COLS, COLS, TW_U8};
    tw_matrix mask_view = {mask, ROWS, COLS, COLS, TW_U8};
    for (uint64_t round = 0; round < rounds; round++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        const int64_t rows = 1 + (int64_t)(twi_random_at(round, 0) % 14);
        const int64_t cols = 1 + (int64_t)(twi_random_at(round, 1) % 5);
        const int64_t apart = 1 + (int64_t)(twi_random_at(round, 2) % 6);
        tw_matrix footprint = {shape, rows, cols, cols, TW_U8};
        fill_levels(data, TW_U8, ROWS * COLS, 16, 2 * round);
        fill_levels(mask, TW_U8, ROWS * COLS, 4, 2 * round + 1);
        for (int64_t i = 0; i < rows * cols; i++) {
            const bool hole = round % 2 == 0 && twi_random_at(round, 3 + (uint64_t)i) % 3 == 0;
            shape[i] = i / cols % apart <= apart / 2 && !hole;
        }
        shape[0] = 1;
        opts.levels = 16;
        opts.footprint = &footprint;
        opts.anchor_row = (int32_t)(rows - 1);
        opts.border = (tw_entropy_border)(round % 6);
        opts.mask = round % 3 == 0 ? &mask_view : NULL;
        check_all_ways(ctx, &in, &opts);
    }
    close_context(ctx);
}

static void windows_of_more_elements_than_16_bits_count(void **state)
{
    (void)state;
    enum { ROWS = 262, COLS = 261 };
    tw_context *ctx = open_context();
    uint8_t *data = malloc(ROWS * COLS);
    tw_matrix in = {data, ROWS, COLS, COLS, TW_U8};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.border = TW_ENTROPY_BORDER_VALID;
    fill_levels(data, TW_U8, ROWS * COLS, 2, 5);
    opts.window_cols = 257;
    for (opts.window_rows = 255; opts.window_rows <= 257; opts.window_rows += 2) {
        check_all_ways(ctx, &in, &opts); /* 65535 and 66049 elements */
    }
    free(data);
    close_context(ctx);
}

/* a / (n 2^64) by an inverse and by division; where the quotient is near the middle of two doubles
 * the inverse alone does not tell. */
static void quotients_by_an_inverse_have_the_same_bits(void **state)
{
    (void)state;
    const uint64_t rounds = small_sizes_only() ? 2000 : 200000;
    for (uint64_t i = 0; i < rounds; i++) {
        const uint64_t bits = twi_random_at(1, i);
        const uint32_t n = 1 + (uint32_t)(twi_random_at(2, i) % (i % 2 == 0 ? 200 : 1 << 20));
        unsigned __int128 a = twi_random_at(3, i) >> bits % 64;
        a |= (unsigned __int128)(twi_random_at(4, i) >> (40 + bits / 64 % 24)) << 64;
        if (i % 4 == 0) { /* 54 bits, the last one set: a middle, or beside it */
            const uint64_t middle = twi_random_at(5, i) >> 10 | (uint64_t)1 << 53 | 1;
            const unsigned __int128 product = (unsigned __int128)middle * n;
            a = (product << bits % 11) + (bits >> 8) % 5 - 2;
        }
        a += a < (unsigned __int128)n << 47 ? (unsigned __int128)n << 47 : 0; /* no H is less */
        const double want = twi_wide_quotient((uint64_t)(a >> 64), (uint64_t)a, n);
        const double got = twi_quotient_by(a, n, twi_inverse_of(n));
        if (want != got) {
            fail_msg("%016llx%016llx / %u: %.17g, not %.17g", (unsigned long long)(a >> 64),
                     (unsigned long long)a, n, got, want);
        }
    }
    assert_true(isnan(twi_quotient_by(0, 0, twi_inverse_of(0))));
    assert_true(twi_quotient_by(0, 7, twi_inverse_of(7)) == 0);
}

static void a_disk_has_the_elements_within_its_radius(void **state)
{
    (void)state;
    static const int64_t elements[] = {1, 5, 13, 29, 49, 81, 113};
    tw_context *ctx = open_context();
    for (int32_t radius = 0; radius < 7; radius++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        twi_window window;
        opts.radius = radius;
        assert_ok(ctx, twi_window_make(ctx, &window, &opts));
        assert_int_equal(window.size, elements[radius]);
        twi_window_clear(&window);
    }
    close_context(ctx);
}

/* What scikit-image 0.26 gives for rank.entropy(image, disk(2)), in bits: rows 0 and 3. */
static void a_disk_in_base_2_is_the_entropy_of_scikit_image(void **state)
{
    (void)state;
    static const float want[2][8] = {
        {2.5849625f, 3.0f, 2.9477028f, 2.9477028f, 2.9477028f, 2.9477028f, 2.75f, 2.5849625f},
        {3.169925f, 3.4182958f, 3.3927474f, 3.3927474f, 3.3927474f, 3.3927474f, 3.4182958f,
         3.169925f}};
    tw_context *ctx = open_context();
    uint8_t data[64];
    float got[64];
    tw_matrix in = {data, 8, 8, 8, TW_U8};
    tw_matrix out = {got, 8, 8, 8, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    for (int i = 0; i < 64; i++) {
        data[i] = (uint8_t)(i * 7 % 11);
    }
    opts.radius = 2;
    opts.base = TW_ENTROPY_BASE_2;
    assert_ok(ctx, tw_entropy(ctx, &out, &in, &opts));
    for (int x = 0; x < 8; x++) {
        assert_float_equal(got[x], want[0][x], 4e-6);
        assert_float_equal(got[24 + x], want[1][x], 4e-6);
    }
    close_context(ctx);
}

/*
 * What scikit-image 0.26.0 gives for larger footprints, made by
 *     y, x = numpy.mgrid[0:24, 0:20]
 *     image = ((3*y*y + 5*x*x + 7*x*y) % 97).astype(numpy.uint8)
 *     e = skimage.filters.rank.entropy(image, footprint)
 * with footprint disk(1), disk(3), disk(5) and ones((3, 5)), at five places.
 */
static void footprints_of_scikit_image_give_its_values(void **state)
{
    (void)state;
    static const int places[5][2] = {{0, 0}, {0, 10}, {11, 9}, {23, 19}, {5, 18}};
    static const struct {
        int32_t radius; /* -1: three rows of five */
        float want[5];
    } cases[] = {{1, {1.5849624872f, 2.0f, 2.3219280243f, 1.5849624872f, 2.3219280243f}},
                 {3, {3.4594316483f, 3.9477028847f, 4.7200498581f, 3.4594316483f, 4.2626924515f}},
                 {5, {4.5465936661f, 4.9525909424f, 5.8180642128f, 4.4696702957f, 5.3902730942f}},
                 {-1, {2.5849626064f, 3.1219279766f, 3.7735571861f, 2.5849626064f, 3.4182958603f}}};
    uint8_t data[24 * 20];
    float got[24 * 20];
    tw_context *ctx = open_context();
    tw_matrix in = {data, 24, 20, 20, TW_U8};
    tw_matrix out = {got, 24, 20, 20, TW_F32};
    for (int i = 0; i < 24 * 20; i++) {
        int y = i / 20, x = i % 20;
        data[i] = (uint8_t)((3 * y * y + 5 * x * x + 7 * x * y) % 97);
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        opts.radius = cases[c].radius;
        opts.window_rows = 3;
        opts.window_cols = 5;
        opts.base = TW_ENTROPY_BASE_2;
        assert_ok(ctx, tw_entropy(ctx, &out, &in, &opts));
        for (int i = 0; i < 5; i++) {
            assert_float_equal(got[places[i][0] * 20 + places[i][1]], cases[c].want[i], 5e-6);
        }
    }
    close_context(ctx);
}

static void large_windows_keep_their_counts(void **state)
{
    (void)state;
    static uint8_t data[40 * 44];
    static const int windows[][2] = {{15, 17}, {16, 16}, {31, 31}, {33, 32}, {3, 101}, {100, 100}};
    tw_context *ctx = open_context();
    tw_matrix in = {data, small_sizes_only() ? 9 : 40, small_sizes_only() ? 13 : 44, 44, TW_U8};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        opts.window_rows = windows[w][0];
        opts.window_cols = windows[w][1];
        opts.border = w % 2 == 0 ? TW_ENTROPY_BORDER_CROP : TW_ENTROPY_BORDER_WRAP;
        fill_levels(data, TW_U8, 40 * 44, w % 3 == 0 ? 2 : 256, w);
        check_all_ways(ctx, &in, &opts);
        memset(data, 7, sizeof data);
        check_all_ways(ctx, &in, &opts);
    }
    close_context(ctx);
}

/* Levels of images in which windows above each other have few or many elements of a level. */
typedef enum pattern_kind {
    FLAT,
    HALVES,
    STRIPES,
    RAMP,
    TWO,
    NOISE,
    SPOTS,
    LARGE_PATCHES,
    SMALL_PATCHES,
    PATTERNS
} pattern_kind;

/* `count` rectangles with sides from `least` to `most`, each of its own level; noise of the lower
 * levels around them. */
static int32_t patch_level(int count, int least, int most, int64_t y, int64_t x, int32_t levels)
{
    for (int k = 0; k < count; k++) {
        uint64_t random[4];
        for (int i = 0; i < 4; i++) {
            random[i] = twi_random_at(57, (uint64_t)(4 * k + i));
        }
        const int64_t range = most - least + 1;
        const int64_t top = (int64_t)twi_random_below(random[0], 90);
        const int64_t left = (int64_t)twi_random_below(random[1], 130);
        if (y >= top && y < top + least + (int64_t)twi_random_below(random[2], (uint64_t)range) &&
            x >= left && x < left + least + (int64_t)twi_random_below(random[3], (uint64_t)range)) {
            return levels - 1 - k % levels;
        }
    }
    const uint64_t random = twi_random_at(31, (uint64_t)(y * 1000 + x));
    return (int32_t)twi_random_below(random, (uint64_t)levels * 3 / 4 + 1);
}

static int32_t pattern_level(pattern_kind kind, int64_t y, int64_t x, int32_t levels)
{
    const uint64_t random = twi_random_at(31, (uint64_t)(y * 1000 + x));
    switch (kind) {
    case FLAT:
        return levels - 1;
    case HALVES:
        return y < 37 ? 0 : levels - 1;
    case STRIPES:
        return (int32_t)(y / 9 * 5 % levels);
    case RAMP:
        return (int32_t)((y * 3 + x) / 5 % levels);
    case TWO:
        return (int32_t)twi_random_below(random, 2);
    case SPOTS:
        return twi_random_below(random, 50) == 0 ? (int32_t)(x % levels) : 1;
    case LARGE_PATCHES:
        return patch_level(30, 9, 30, y, x, levels);
    case SMALL_PATCHES:
        return patch_level(12, 8, 10, y, x, levels);
    default:
        return (int32_t)twi_random_below(random, (uint64_t)levels);
    }
}

/* High windows by the list, by the stacks, whose tables are for counts near each other, and by the
 * bins, which keep large counts apart. */
static void counts_far_apart_in_windows_above_each_other(void **state)
{
    (void)state;
    enum { ROWS = 101, COLS = 150 };
    static const int windows[][2] = {{4, 1},  {15, 18}, {16, 16},  {31, 31},
                                     {33, 2}, {64, 65}, {127, 33}, {127, 300}};
    static const int32_t levels[] = {2, 7, 63, 64, 65, 200, 255, 256};
    static uint8_t data[ROWS * COLS], kept[ROWS * COLS];
    static float got[ROWS * COLS], want[ROWS * COLS];
    tw_context *ctx = open_context();
    twi_isa isa;
    int compared[TWI_ENTROPY_LIST] = {0};
    assert_ok(ctx, twi_isa_resolve(ctx, &isa));
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        for (int kind = 0; kind < PATTERNS; kind++) {
            const size_t c = w * PATTERNS + (size_t)kind;
            tw_matrix in = {data, 33 + (int64_t)(c % 3) * 34, COLS - (int64_t)(c % 11), COLS,
                            TW_U8};
            tw_matrix mask = {kept, in.rows, in.cols, COLS, TW_U8};
            tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
            twi_entropy_setup setup;
            opts.levels = levels[(c + c / 8) % 8];
            opts.window_rows = windows[w][0];
            opts.window_cols = windows[w][1];
            opts.border = (tw_entropy_border)(c % 5);
            opts.mask = c % 4 == 3 ? &mask : NULL;
            for (int64_t i = 0; i < (int64_t)ROWS * COLS; i++) {
                data[i] =
                    (uint8_t)pattern_level((pattern_kind)kind, i / COLS, i % COLS, opts.levels);
                kept[i] = twi_random_below(twi_random_at(7, (uint64_t)i), 9) != 0;
            }
            assert_ok(ctx, twi_entropy_prepare(ctx, &setup, &in, &opts, TWI_ENTROPY_LIST));
            assert_ok(ctx, twi_entropy_bands(ctx, &setup, 0, in.rows, want, in.cols, 0));
            for (twi_entropy_method m = TWI_ENTROPY_STACKS; m <= TWI_ENTROPY_BINS; m++) {
                if (!twi_entropy_can(&setup, m)) {
                    continue;
                }
                setup.method = m;
                memset(got, POISON, sizeof got);
                assert_ok(ctx, twi_entropy_bands(ctx, &setup, 0, in.rows, got, in.cols,
                                                 (int64_t)(c % 4) * 7));
                for (int64_t i = 0; i < in.rows * in.cols; i++) {
                    if (bits_of(got[i]) != bits_of(want[i]) && !(isnan(got[i]) && isnan(want[i]))) {
                        fail_msg("%s, pattern %d, window %d x %d, %d levels: element %lld is %.9g, "
                                 "not %.9g",
                                 twi_entropy_method_name(m), kind, opts.window_cols,
                                 opts.window_rows, opts.levels, (long long)i, (double)got[i],
                                 (double)want[i]);
                    }
                }
                compared[m]++;
            }
            twi_entropy_clear(&setup);
        }
    }
    const int cases = (int)(sizeof windows / sizeof *windows) * PATTERNS;
    assert_int_equal(compared[TWI_ENTROPY_STACKS], isa == TWI_ISA_AVX512 ? cases : 0);
    /* Those take windows of up to 256 columns. */
    assert_int_equal(compared[TWI_ENTROPY_BINS], twi_permutes(isa) != NULL ? cases - PATTERNS : 0);
    close_context(ctx);
}

/* Rows longer than what the stacks take at once, and many strips of the bins. */
static void long_rows_by_parts(void **state)
{
    (void)state;
    enum { ROWS = 21, COLS = 2 * 8192 + 5 };
    tw_context *ctx = open_context();
    uint8_t *data = malloc((size_t)ROWS * COLS);
    float *out[2];
    tw_matrix in = {data, ROWS, COLS, COLS, TW_U8};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.levels = 200;
    opts.window_rows = 19;
    opts.window_cols = 70;
    for (int64_t i = 0; i < (int64_t)ROWS * COLS; i++) {
        data[i] = (uint8_t)pattern_level(i % COLS / 300 % 2 == 0 ? SMALL_PATCHES : STRIPES,
                                         i / COLS, i % COLS % 150, opts.levels);
    }
    for (int i = 0; i < 2; i++) {
        out[i] = malloc((size_t)ROWS * COLS * sizeof **out);
    }
    for (twi_entropy_method m = TWI_ENTROPY_STACKS; m <= TWI_ENTROPY_BINS; m++) {
        twi_entropy_setup setup;
        assert_ok(ctx, twi_entropy_prepare(ctx, &setup, &in, &opts, TWI_ENTROPY_LANES));
        if (twi_entropy_can(&setup, m)) {
            for (int i = 0; i < 2; i++) {
                memset(out[i], POISON, (size_t)ROWS * COLS * sizeof **out);
                assert_ok(ctx, twi_entropy_bands(ctx, &setup, 0, ROWS, out[i], COLS, 0));
                setup.method = m;
            }
            assert_memory_equal(out[0], out[1], (size_t)ROWS * COLS * sizeof **out);
        }
        twi_entropy_clear(&setup);
    }
    for (int i = 0; i < 2; i++) {
        free(out[i]);
    }
    free(data);
    close_context(ctx);
}

static void masked_elements_and_no_data_do_not_count(void **state)
{
    (void)state;
    static float data[17 * 19];
    static uint8_t kept[17 * 19];
    tw_context *ctx = open_context();
    tw_matrix in = {data, 17, 19, 19, TW_F32};
    tw_matrix mask = {kept, 17, 19, 19, TW_U8};
    double nothing = (double)NAN;
    double three = 3;
    fill_levels(data, TW_F32, 17 * 19, 16, 5);
    for (int i = 0; i < 17 * 19; i++) {
        kept[i] = i > 150 && twi_random_below(twi_random_at(9, (uint64_t)i), 3) == 0;
        if (!kept[i] || i % 11 == 0) {
            data[i] = NAN;
        }
    }
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.levels = 16;
    opts.mask = &mask;
    for (tw_entropy_border border = TW_ENTROPY_BORDER_CROP; border <= TW_ENTROPY_BORDER_VALID;
         border++) {
        opts.border = border;
        opts.no_data = &nothing;
        check_all_ways(ctx, &in, &opts);
    }
    for (int i = 0; i < 17 * 19; i++) {
        data[i] = isnan(data[i]) ? 3 : data[i];
    }
    opts.no_data = &three;
    check_all_ways(ctx, &in, &opts);
    close_context(ctx);
}

static void a_range_has_equal_bins_and_a_closed_top(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    float values[] = {-1, -0.5f, 0, 0.5f, 1, 0.99f, -0.51f, -1};
    float got[8];
    double range[] = {-1, 1};
    tw_matrix in = {values, 1, 8, 8, TW_F32};
    tw_matrix out = {got, 1, 8, 8, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.levels = 4;
    opts.range = range;
    opts.window_rows = 1;
    opts.window_cols = 2; /* the element and the one before it */
    assert_ok(ctx, tw_entropy(ctx, &out, &in, &opts));
    static const int differs[] = {0, 1, 1, 1, 0, 0, 1, 0};
    for (int i = 0; i < 8; i++) {
        assert_float_equal(got[i], differs[i] ? log(2) : 0, 1e-6);
    }
    check_all_ways(ctx, &in, &opts);
    static int16_t shorts[40 * 10];
    for (int i = 0; i < 400; i++) {
        shorts[i] = (int16_t)(twi_random_below(twi_random_at(1, (uint64_t)i), 2001) - 1000);
    }
    double wide[] = {-1000, 1000};
    tw_matrix signed_in = {shorts, 10, 40, 40, TW_I16};
    opts = (tw_entropy_options)TW_ENTROPY_OPTIONS_INIT;
    opts.range = wide;
    opts.levels = 16;
    check_all_ways(ctx, &signed_in, &opts);
    opts.levels = 300;
    check_all_ways(ctx, &signed_in, &opts);
    close_context(ctx);
}

/* Put whole numbers `values` 2^-shift into bins of whole numbers low ... high 2^-shift, and compare
 * with the quotient of whole numbers. */
static void check_bins(tw_context *ctx, int64_t low, int64_t high, int shift, int32_t levels,
                       tw_type type)
{
    enum { COUNT = 400 };
    static float floats[COUNT];
    static int16_t shorts[COUNT];
    uint16_t got[COUNT];
    double range[2] = {ldexp((double)low, -shift), ldexp((double)high, -shift)};
    int64_t want[COUNT];
    for (int i = 0; i < COUNT; i++) { /* edges, their neighbours, and numbers between */
        const int64_t bin =
            (int64_t)twi_random_below(twi_random_at(3, (uint64_t)i), (uint64_t)levels + 1);
        int64_t value = low + (bin * (high - low) + levels - 1) / levels - i % 3 + 1;
        value = value < low ? low : value > high ? high : value;
        floats[i] = ldexpf((float)value, -shift);
        shorts[i] = (int16_t)value;
        want[i] = (value - low) * levels / (high - low);
        want[i] = want[i] < levels ? want[i] : levels - 1;
    }
    twi_entropy_setup setup;
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_matrix in = {type == TW_F32 ? (void *)floats : shorts, 1, COUNT, COUNT, type};
    opts.levels = levels;
    opts.range = range;
    opts.border = TW_ENTROPY_BORDER_VALID;
    opts.window_rows = opts.window_cols = 1;
    assert_ok(ctx, twi_entropy_prepare(ctx, &setup, &in, &opts, TWI_ENTROPY_AUTO));
    assert_ok(ctx, twi_levels_check(ctx, &setup));
    twi_levels_row_u16(&setup, 0, got);
    for (int i = 0; i < COUNT; i++) {
        if (got[i] != want[i]) {
            fail_msg("%.9g of %.9g to %.9g in %d bins: bin %d, not %lld",
                     twi_element(in.data, type, i), range[0], range[1], levels, got[i],
                     (long long)want[i]);
        }
    }
    twi_entropy_clear(&setup);
    opts.window_cols = 7;
    check_all_ways(ctx, &in, &opts);
}

static void values_on_an_edge_are_in_the_bin_that_begins_there(void **state)
{
    (void)state;
    static const struct {
        int64_t low, high;
        int32_t levels;
    } bins[] = {{0, 49, 49},  {0, 100, 100},    {0, 255, 85},       {-1000, 1000, 300},
                {-7, 11, 18}, {0, 32767, 4681}, {-32768, 32767, 3}, {0, 10, 65535},
                {3, 4, 2},    {0, 98, 49},      {-3, 0, 7},         {0, 30000, 65536}};
    tw_context *ctx = open_context();
    static const struct {
        int shift;
        tw_type type;
    } forms[] = {{0, TW_I16}, {0, TW_F32}, {9, TW_F32}, {100, TW_F32}};
    for (size_t b = 0; b < sizeof bins / sizeof *bins; b++) {
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            if (!small_sizes_only() || f == (b + b / 4) % 4) {
                check_bins(ctx, bins[b].low, bins[b].high, forms[f].shift, bins[b].levels,
                           forms[f].type);
            }
        }
    }
    close_context(ctx);
}

/* Limits that no quotient of f64 could cope with: the reference is exact for all of them. */
static void ranges_of_every_magnitude(void **state)
{
    (void)state;
    static const double ranges[][2] = {
        {0, 0.1},   {0.1, 0.7},      {-0.3, 0.3},    {-1e308, 1e308},     {0, 5e-324},
        {0, 1e-40}, {-1e-310, 3e38}, {1, 1.0000001}, {-1.7e308, 1.6e308}, {-16777216, 1e-30}};
    static float data[30 * 31];
    tw_context *ctx = open_context();
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        for (int i = 0; i < 30 * 31; i++) {
            const double share = twi_random_unit(twi_random_at(r, (uint64_t)i));
            const double value = ranges[r][0] * (1 - share) + ranges[r][1] * share;
            data[i] = (float)(fabs(value) > 3e38 ? value * 1e-270 : value);
            data[i] = (double)data[i] < ranges[r][0] || (double)data[i] > ranges[r][1] ||
                              !isfinite(data[i])
                          ? (float)fmax(fmin(ranges[r][1], 0), ranges[r][0])
                          : data[i];
            data[i] = (double)data[i] < ranges[r][0] ? 1.0f : data[i];
        }
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        const int64_t rows = emulated_sizes_only() ? 9 : 30;
        tw_matrix in = {data, rows, rows + 1, rows + 1, TW_F32};
        opts.range = ranges[r];
        for (opts.levels = 2; opts.levels <= 3000; opts.levels = 3 * opts.levels + 1) {
            if (small_sizes_only() && (opts.levels + (int32_t)r) % 2 != 0) {
                continue;
            }
            turn++;
            check_all_ways_as(ctx, &in, &opts, TW_F32);
        }
    }
    close_context(ctx);
}

static void nan_and_a_value_can_be_left_out_together(void **state)
{
    (void)state;
    static float data[20 * 21];
    tw_context *ctx = open_context();
    double seven = 7;
    double nothing = (double)NAN;
    tw_matrix in = {data, 20, 21, 21, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    fill_levels(data, TW_F32, 20 * 21, 7, 6);
    for (int i = 0; i < 20 * 21; i += 3) {
        data[i] = i % 2 == 0 ? 7 : NAN;
    }
    opts.levels = 7; /* 0 to 6: neither is a level */
    opts.skip_nan = 1;
    opts.no_data = &seven;
    check_all_ways(ctx, &in, &opts);
    float got[20 * 21];
    tw_matrix out = {got, 20, 21, 21, TW_F32};
    opts.skip_nan = 0;
    assert_fails(ctx, TW_ERR_RANGE, "column 3 is NaN", tw_entropy(ctx, &out, &in, &opts));
    opts.no_data = &nothing;
    assert_fails(ctx, TW_ERR_RANGE, "column 0 is 7", tw_entropy(ctx, &out, &in, &opts));
    close_context(ctx);
}

/* Values are checked, then changed, then used, as another process may do with a file that is
 * mapped: results are undefined, memory is not touched (under ASan). */
static void values_that_change_after_the_check_harm_nothing(void **state)
{
    (void)state;
    static const struct {
        tw_type type;
        int32_t levels, side, radius;
        bool ranged;
    } cases[] = {
        {TW_U16, 300, 31, -1, false}, {TW_U16, 300, 9, -1, false}, {TW_U16, 20, 5, -1, false},
        {TW_U16, 300, 3, -1, false},  {TW_U16, 300, 0, 4, false},  {TW_U8, 16, 5, -1, false},
        {TW_U8, 3, 3, -1, false},     {TW_U8, 100, 9, -1, false},  {TW_U8, 200, 31, -1, false},
        {TW_I16, 16, 5, -1, false},   {TW_I16, 300, 9, -1, false}, {TW_F32, 16, 5, -1, false},
        {TW_F32, 300, 31, -1, true},  {TW_F32, 16, 5, -1, true},   {TW_U16, 65535, 9, -1, false}};
    enum { MOST = 48 };
    const int64_t side = emulated_sizes_only() ? 18 : MOST;
    tw_context *ctx = open_context();
    double range[2] = {0, 1};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (tw_entropy_border border = TW_ENTROPY_BORDER_CROP; border <= TW_ENTROPY_BORDER_VALID;
             border++) {
            if (small_sizes_only() && border != (tw_entropy_border)(c % 6)) {
                continue;
            }
            float *data = calloc(MOST * MOST, sizeof *data);
            double *got = malloc(MOST * MOST * sizeof *got);
            tw_matrix in = {data, side, side, side, cases[c].type};
            tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
            twi_entropy_setup setup;
            int64_t verified = 0;
            opts.levels = cases[c].levels;
            opts.window_rows = opts.window_cols = cases[c].side;
            opts.radius = cases[c].radius;
            opts.range = cases[c].ranged ? range : NULL;
            opts.border = border;
            opts.verify = 0;
            for (int type = 0; type < 2; type++) {
                memset(data, 0, MOST * MOST * sizeof *data);
                opts.type = type == 0 ? TW_F32 : TW_F64;
                assert_ok(ctx, twi_entropy_prepare(ctx, &setup, &in, &opts, TWI_ENTROPY_AUTO));
                assert_ok(ctx, twi_levels_check(ctx, &setup));
                for (size_t i = 0; i < MOST * MOST * tw_type_size(cases[c].type); i++) {
                    ((uint8_t *)data)[i] = (uint8_t)twi_random_at(c, i);
                }
                for (twi_entropy_method m = TWI_ENTROPY_COUNTERS; m <= TWI_ENTROPY_LIST; m++) {
                    for (twi_isa isa = TWI_ISA_SCALAR; isa < TWI_ISA_COUNT; isa++) {
                        setup.method = m;
                        setup.isa = isa;
                        if (twi_isa_usable(isa) && twi_entropy_can(&setup, m)) {
                            assert_ok(ctx, twi_entropy_bands(ctx, &setup, 0, setup.shape.rows, got,
                                                             setup.shape.cols, 0));
                        }
                    }
                }
                tw_status status = twi_entropy_verify(ctx, &setup, 0, setup.shape.rows, got,
                                                      setup.shape.cols, &verified);
                assert_true(status == TW_OK || status == TW_ERR_VERIFY);
                twi_entropy_clear(&setup);
            }
            free(got);
            free(data);
        }
    }
    close_context(ctx);
}

static void rows_further_apart_than_their_length(void **state)
{
    (void)state;
    static uint8_t data[13 * 50];
    static float got[13 * 60];
    static float packed[13 * 41];
    static uint8_t dense[13 * 41];
    tw_context *ctx = open_context();
    memset(data, 99, sizeof data);
    memset(got, POISON, sizeof got);
    fill_levels(dense, TW_U8, 13 * 41, 16, 8);
    for (int y = 0; y < 13; y++) {
        memcpy(data + y * 50, dense + y * 41, 41);
    }
    tw_matrix in = {data, 13, 41, 50, TW_U8};
    tw_matrix in_dense = {dense, 13, 41, 41, TW_U8};
    tw_matrix out = {got, 13, 41, 60, TW_F32};
    tw_matrix out_dense = {packed, 13, 41, 41, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.levels = 16;
    assert_ok(ctx, tw_entropy(ctx, &out, &in, &opts));
    assert_ok(ctx, tw_entropy(ctx, &out_dense, &in_dense, &opts));
    float poison;
    memset(&poison, POISON, sizeof poison);
    for (int y = 0; y < 13; y++) {
        assert_memory_equal(got + y * 60, packed + y * 41, 41 * sizeof(float));
        for (int x = 41; x < 60; x++) {
            assert_int_equal(bits_of(got[y * 60 + x]), bits_of(poison));
        }
    }
    close_context(ctx);
}

/* ---------------------------------------------------------------------------- count patterns */

/* Partitions of n into at most `parts` parts of at most `largest`: each as an image whose only
 * window holds it, through every kernel. */
typedef struct pattern {
    tw_context *ctx;
    twi_entropy_setup setup;
    uint8_t cells[25];
    int used;
    int64_t seen;
} pattern;

static void try_pattern(pattern *p)
{
    double real;
    float exact;
    float got;
    assert_ok(p->ctx, twi_reference_entropy(p->ctx, &p->setup, &real, &exact));
    assert_true(is_near((double)exact, real, TW_F32));
    for (twi_entropy_method method = TWI_ENTROPY_COUNTERS; method <= TWI_ENTROPY_LIST; method++) {
        if (!twi_entropy_can(&p->setup, method)) {
            continue;
        }
        memset(&got, POISON, sizeof got);
        p->setup.method = method;
        assert_ok(p->ctx, twi_entropy_rows(p->ctx, &p->setup, 0, 1, &got, 1));
        assert_int_equal(bits_of(got), bits_of(exact));
    }
    p->seen++;
}

static void partitions(pattern *p, int left, int largest, int parts)
{
    if (left == 0) {
        try_pattern(p);
        return;
    }
    if (parts == 0) {
        return;
    }
    for (int part = left < largest ? left : largest; part > 0; part--) {
        memset(p->cells + p->used, 16 - parts, (size_t)part);
        p->used += part;
        partitions(p, left - part, part, parts - 1);
        p->used -= part;
    }
}

static void all_count_patterns_of_a_5x5_window_with_16_levels(void **state)
{
    (void)state;
    static const struct {
        int rows, cols;
        int64_t patterns;
    } sizes[] = {{3, 3, 30}, {3, 4, 77}, {3, 5, 176}, {4, 4, 231}, {4, 5, 620}, {5, 5, 1891}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        pattern p = {.ctx = open_context()};
        assert_ok(p.ctx, tw_set_threads(p.ctx, 1));
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        tw_matrix in = {p.cells, sizes[s].rows, sizes[s].cols, sizes[s].cols, TW_U8};
        opts.levels = 16;
        opts.border = TW_ENTROPY_BORDER_VALID;
        opts.window_rows = sizes[s].rows;
        opts.window_cols = sizes[s].cols;
        assert_ok(p.ctx, twi_entropy_prepare(p.ctx, &p.setup, &in, &opts, TWI_ENTROPY_AUTO));
        /* The table of the 5 x 5 window: a border window is a part of one. */
        twi_entropy_table_clear(&p.setup.table);
        assert_ok(p.ctx,
                  twi_entropy_table_make(p.ctx, &p.setup.table, 25, TW_ENTROPY_BASE_E, 16, TW_F32));
        partitions(&p, sizes[s].rows * sizes[s].cols, 25, 16);
        assert_int_equal(p.seen, sizes[s].patterns);
        twi_entropy_clear(&p.setup);
        close_context(p.ctx);
    }
}

/* Sums of all ways to share `left` elements among `parts` levels: the counters and the matrix units
 * of a GPU multiply where the definition divides. */
static void check_products(const twi_entropy_table *table, int64_t n, int64_t left, int64_t largest,
                           int parts, uint64_t sum)
{
    if (left == 0) {
        const double divisor = (double)n * ldexp(1, table->fraction);
        const uint64_t rest = table->sum[n] - sum;
        assert_true(rest >> 32 == 0);
        assert_true((float)((double)rest * (1 / divisor)) == (float)((double)rest / divisor));
        return;
    }
    for (int64_t part = left < largest ? left : largest; part > 0 && parts > 0; part--) {
        check_products(table, n, left - part, part, parts - 1, sum + table->sum[part]);
    }
}

static void a_product_rounds_as_the_quotient_in_small_windows(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int32_t levels = 2; levels <= 16; levels++) {
        for (int b = 0; b < (levels == 16 ? 4 : 1); b++) {
            static const tw_entropy_base bases[] = {TW_ENTROPY_BASE_LEVELS, TW_ENTROPY_BASE_E,
                                                    TW_ENTROPY_BASE_2, TW_ENTROPY_BASE_10};
            twi_entropy_table table;
            assert_ok(ctx, twi_entropy_table_make(ctx, &table, 31, bases[b], levels, TW_F32));
            for (int64_t n = 1; n <= 31; n++) {
                check_products(&table, n, n, n, levels, 0);
            }
            twi_entropy_table_clear(&table);
        }
    }
    close_context(ctx);
}

static void the_table_is_n_log_n(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static const int64_t sizes[] = {1, 2, 25, 31, 32, 81, 1024, 1025, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        twi_entropy_table table;
        assert_ok(ctx,
                  twi_entropy_table_make(ctx, &table, sizes[i], TW_ENTROPY_BASE_2, 16, TW_F32));
        for (int64_t n = 0; n <= sizes[i]; n++) {
            double want = n > 0 ? (double)n * log2((double)n) * ldexp(1, table.fraction) : 0;
            assert_true(fabs((double)table.sum[n] - want) <= 0.5 + want * 0x1p-50);
        }
        assert_true(table.sum[sizes[i]] >> (sizes[i] < 32 ? 32 : 49) == 0);
        twi_entropy_table_clear(&table);
    }
    close_context(ctx);
}

static void constant_windows_are_exactly_zero_and_empty_ones_nan(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static uint8_t data[10 * 10];
    static uint8_t kept[10 * 10];
    float got[100];
    tw_matrix in = {data, 10, 10, 10, TW_U8};
    tw_matrix out = {got, 10, 10, 10, TW_F32};
    tw_matrix mask = {kept, 10, 10, 10, TW_U8};
    memset(data, 200, sizeof data);
    assert_ok(ctx, tw_entropy(ctx, &out, &in, NULL));
    for (int i = 0; i < 100; i++) {
        assert_int_equal(bits_of(got[i]), 0);
    }
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.mask = &mask;
    assert_ok(ctx, tw_entropy(ctx, &out, &in, &opts));
    for (int i = 0; i < 100; i++) {
        assert_true(isnan(got[i]));
    }
    close_context(ctx);
}

static void ten_millions_in_a_row_or_in_a_column(void **state)
{
    (void)state;
    const int64_t most = emulated_sizes_only() ? 300000 : small_sizes_only() ? 1000000 : 10000000;
    tw_context *ctx = open_context();
    uint8_t *data = malloc((size_t)most);
    float *row = malloc((size_t)most * sizeof *row);
    float *column = malloc((size_t)most * sizeof *column);
    fill_levels(data, TW_U8, most, 16, 4);
    for (int32_t levels = 16; levels <= 256; levels *= 16) {
        const int64_t many = levels == 16 ? most : most / 10;
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        opts.levels = levels;
        tw_matrix wide = {data, 1, many, many, TW_U8};
        tw_matrix tall = {data, many, 1, 1, TW_U8};
        tw_matrix wide_out = {row, 1, many, many, TW_F32};
        tw_matrix tall_out = {column, many, 1, 1, TW_F32};
        assert_ok(ctx, tw_entropy(ctx, &wide_out, &wide, &opts));
        assert_ok(ctx, tw_entropy(ctx, &tall_out, &tall, &opts));
        assert_memory_equal(row, column, (size_t)many * sizeof *row);
    }
    free(column);
    free(row);
    free(data);
    close_context(ctx);
}

static void a_result_that_is_wrong_is_found(void **state)
{
    (void)state;
    static uint8_t data[50 * 40];
    static float got[50 * 40];
    tw_context *ctx = open_context();
    tw_matrix in = {data, 50, 40, 40, TW_U8};
    tw_matrix out = {got, 50, 40, 40, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    twi_entropy_setup setup;
    int64_t verified = 0;
    fill_levels(data, TW_U8, 50 * 40, 256, 9);
    opts.verify = 0;
    assert_ok(ctx, tw_entropy(ctx, &out, &in, &opts));
    got[7 * 40 + 5] = nextafterf(got[7 * 40 + 5], 0);
    assert_ok(ctx, twi_entropy_prepare(ctx, &setup, &in, &opts, TWI_ENTROPY_AUTO));
    assert_ok(ctx, twi_entropy_verify(ctx, &setup, 8, 42, got + 8 * 40, 40, &verified));
    assert_int_equal(verified, 42 * 40);
    assert_fails(ctx, TW_ERR_VERIFY, "at row 7, column 5 is",
                 twi_entropy_verify(ctx, &setup, 0, 50, got, 40, &verified));
    twi_entropy_clear(&setup);
    close_context(ctx);
}

static void a_plan_names_the_method_that_runs(void **state)
{
    (void)state;
    static const struct {
        int32_t levels, side, radius;
        tw_type type;
    } cases[] = {{16, 5, -1, TW_U8},    {256, 9, -1, TW_U8},  {300, 9, -1, TW_U16},
                 {256, 31, -1, TW_I16}, {256, 3, -1, TW_F32}, {256, 5, 4, TW_U8}};
    static uint16_t zeros[40 * 40 * 2];
    static float got[40 * 40];
    tw_context *ctx = open_context();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        tw_entropy_plan *plan = NULL;
        tw_entropy_plan_info info = TW_ENTROPY_PLAN_INFO_INIT;
        tw_entropy_report report = TW_ENTROPY_REPORT_INIT;
        double rate = 0;
        const tw_shape shape = {40, 40, cases[c].type};
        tw_matrix in = {zeros, 40, 40, 40, cases[c].type};
        tw_matrix out = {got, 40, 40, 40, TW_F32};
        tw_sink sink = TW_SINK_INIT;
        opts.levels = cases[c].levels;
        opts.window_rows = opts.window_cols = cases[c].side;
        opts.radius = cases[c].radius;
        assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, &opts));
        assert_ok(ctx, tw_entropy_plan_describe(plan, &info));
        assert_ok(ctx, tw_entropy_plan_rate(ctx, plan, &rate));
        assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &out));
        assert_ok(ctx, tw_entropy_plan_run(ctx, plan, &in, &sink, 1, &report));
        tw_sink_destroy(&sink);
        assert_string_equal(info.method, report.method);
        assert_string_equal(info.isa, report.isa);
        assert_int_equal(info.threads, report.threads);
        assert_true(info.window == report.window && info.block == report.block);
        assert_true(rate > 0 && info.bytes > 0 && info.why[0] != '\0');
        assert_non_null(strstr(tw_entropy_plan_explain(plan), info.why));
        tw_entropy_plan_destroy(plan);
    }
    for (int64_t n = 1;; n++) {
        tw_entropy_plan *plan = NULL;
        double rate;
        const tw_shape shape = {40, 40, TW_U8};
        twi_meter_fail_at(ctx->meter, n);
        tw_status status = tw_entropy_plan_create(ctx, &plan, &shape, NULL);
        status = status == TW_OK ? tw_entropy_plan_rate(ctx, plan, &rate) : status;
        twi_meter_fail_at(ctx->meter, 0);
        tw_entropy_plan_destroy(plan);
        assert_int_equal(twi_meter_blocks(ctx->meter), 0);
        if (status == TW_OK) {
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
    }
    close_context(ctx);
}

/* --------------------------------------------------------------------------------- refusals */

static void bad_values_are_named_by_their_place(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    float data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    float got[12];
    tw_matrix in = {data, 3, 4, 4, TW_F32};
    tw_matrix out = {got, 3, 4, 4, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.levels = 11;
    memset(got, POISON, sizeof got);
    assert_fails(ctx, TW_ERR_RANGE, "row 2, column 3 is 11, which is not one of the levels 0 to 10",
                 tw_entropy(ctx, &out, &in, &opts));
    data[5] = 1.5f;
    assert_fails(ctx, TW_ERR_RANGE, "row 1, column 1 is 1.5", tw_entropy(ctx, &out, &in, &opts));
    data[2] = NAN;
    assert_fails(ctx, TW_ERR_RANGE, "row 0, column 2 is NaN", tw_entropy(ctx, &out, &in, &opts));
    double range[] = {0, 5};
    opts.range = range;
    assert_fails(ctx, TW_ERR_RANGE, "row 0, column 2 is NaN", tw_entropy(ctx, &out, &in, &opts));
    data[2] = -1;
    assert_fails(ctx, TW_ERR_RANGE, "-1, outside the range 0 to 5",
                 tw_entropy(ctx, &out, &in, &opts));
    uint8_t bytes[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 10, 11};
    in = (tw_matrix){bytes, 3, 4, 4, TW_U8};
    opts = (tw_entropy_options)TW_ENTROPY_OPTIONS_INIT;
    opts.levels = 16;
    assert_fails(ctx, TW_ERR_RANGE, "row 2, column 1 is 16", tw_entropy(ctx, &out, &in, &opts));
    float poison;
    memset(&poison, POISON, sizeof poison);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(bits_of(got[i]), bits_of(poison));
    }
    close_context(ctx);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    _Alignas(double) uint8_t data[12 * sizeof(double)] = {0}; /* of any type */
    float got[12];
    tw_matrix in = {data, 3, 4, 4, TW_U8};
    tw_matrix out = {got, 3, 4, 4, TW_F32};
    const tw_entropy_options good = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_options opts = good;
    static const int32_t levels[] = {-5, 0, 1, 65537};
    for (int i = 0; i < 4; i++) {
        opts.levels = levels[i];
        assert_fails(ctx, TW_ERR_ARGUMENT, "; use 2 to 65536", tw_entropy(ctx, &out, &in, &opts));
    }
    opts = good;
    opts.window_cols = 0;
    assert_fails(ctx, TW_ERR_ARGUMENT, "a window of 0 x 5", tw_entropy(ctx, &out, &in, &opts));
    opts = good;
    opts.window_rows = opts.window_cols = 4000;
    assert_fails(ctx, TW_ERR_ARGUMENT, "16000000 elements", tw_entropy(ctx, &out, &in, &opts));
    opts = good;
    opts.radius = 5000;
    assert_fails(ctx, TW_ERR_ARGUMENT, "a disk of radius 5000", tw_entropy(ctx, &out, &in, &opts));
    uint8_t empty[4] = {0};
    tw_matrix footprint = {empty, 2, 2, 2, TW_U8};
    opts = good;
    opts.footprint = &footprint;
    assert_fails(ctx, TW_ERR_ARGUMENT, "no nonzero element", tw_entropy(ctx, &out, &in, &opts));
    empty[0] = 1;
    opts.anchor_row = 2;
    assert_fails(ctx, TW_ERR_ARGUMENT, "outside the footprint", tw_entropy(ctx, &out, &in, &opts));
    tw_matrix mask = {data, 4, 3, 3, TW_U8};
    opts = good;
    opts.mask = &mask;
    assert_fails(ctx, TW_ERR_ARGUMENT, "the mask is 4 x 3 and the array 3 x 4",
                 tw_entropy(ctx, &out, &in, &opts));
    opts = good;
    opts.border = 6;
    assert_fails(ctx, TW_ERR_ARGUMENT, "border", tw_entropy(ctx, &out, &in, &opts));
    opts = good;
    opts.base = 3;
    assert_fails(ctx, TW_ERR_ARGUMENT, "base", tw_entropy(ctx, &out, &in, &opts));
    double range[] = {1, 1};
    opts = good;
    opts.range = range;
    assert_fails(ctx, TW_ERR_ARGUMENT, "the smaller first", tw_entropy(ctx, &out, &in, &opts));
    out.cols = 3;
    assert_fails(ctx, TW_ERR_ARGUMENT, "expected 3 x 4", tw_entropy(ctx, &out, &in, &good));
    in.type = TW_F64;
    assert_fails(ctx, TW_ERR_ARGUMENT, "arrays of type f64 are not supported",
                 tw_entropy(ctx, &out, &in, &good));
    opts = good;
    opts.size = 0;
    assert_fails(ctx, TW_ERR_ARGUMENT, "TW_ENTROPY_OPTIONS_INIT",
                 tw_entropy(ctx, &out, &in, &opts));
    close_context(ctx);
}

static void a_failed_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static uint8_t data[30 * 30];
    static float got[30 * 30];
    tw_matrix in = {data, 30, 30, 30, TW_U8};
    tw_matrix out = {got, 30, 30, 30, TW_F32};
    for (int32_t k = 3; k <= 9; k += 6) {
        tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
        opts.window_rows = opts.window_cols = k;
        int64_t n = 1;
        for (;; n++) {
            twi_meter_fail_at(ctx->meter, n);
            tw_status status = tw_entropy(ctx, &out, &in, &opts);
            twi_meter_fail_at(ctx->meter, 0);
            assert_int_equal(twi_meter_blocks(ctx->meter), 0);
            if (status == TW_OK) {
                break;
            }
            assert_int_equal(status, TW_ERR_MEMORY);
        }
        assert_true(n > 3);
    }
    close_context(ctx);
}

static void a_cancelled_run_says_so(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static uint8_t data[30 * 30];
    static float got[30 * 30];
    tw_matrix in = {data, 30, 30, 30, TW_U8};
    tw_matrix out = {got, 30, 30, 30, TW_F32};
    tw_cancel(ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "stopped", tw_entropy(ctx, &out, &in, NULL));
    tw_clear_cancel(ctx);
    assert_ok(ctx, tw_entropy(ctx, &out, &in, NULL));
    close_context(ctx);
}

static void sinks_get_the_same_rows(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static uint8_t data[30 * 33];
    static float direct[30 * 33];
    static float pushed[30 * 33];
    tw_matrix in = {data, 30, 33, 33, TW_U8};
    tw_matrix out = {direct, 30, 33, 33, TW_F32};
    tw_matrix target = {pushed, 30, 33, 33, TW_F32};
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_report report = TW_ENTROPY_REPORT_INIT;
    tw_sink sink = TW_SINK_INIT;
    opts.levels = 16;
    fill_levels(data, TW_U8, 30 * 33, 16, 2);
    assert_ok(ctx, tw_entropy(ctx, &out, &in, &opts));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &target));
    const tw_shape shape = {30, 33, TW_U8};
    tw_entropy_plan *plan = NULL;
    assert_ok(ctx, tw_entropy_plan_create(ctx, &plan, &shape, &opts));
    assert_ok(ctx, tw_entropy_plan_run(ctx, plan, &in, &sink, 1, &report));
    tw_entropy_plan_destroy(plan);
    tw_sink_destroy(&sink);
    assert_memory_equal(direct, pushed, sizeof direct);
    assert_int_equal(report.window, 25);
    assert_int_equal(report.rows, 30);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_gives_the_same_bits_on_every_border),
        cmocka_unit_test(a_strip_of_columns_joins_the_next),
        cmocka_unit_test(one_level_takes_ever_more_of_a_small_window),
        cmocka_unit_test(four_rows_at_once_have_the_sums_of_each),
        cmocka_unit_test(both_halves_of_a_row_meet),
        cmocka_unit_test(every_base_and_number_of_levels),
        cmocka_unit_test(the_most_levels_work_on_every_border_and_with_a_mask),
        cmocka_unit_test(disks_and_footprints_with_any_anchor),
        cmocka_unit_test(footprints_of_any_rows),
        cmocka_unit_test(windows_of_more_elements_than_16_bits_count),
        cmocka_unit_test(quotients_by_an_inverse_have_the_same_bits),
        cmocka_unit_test(a_disk_has_the_elements_within_its_radius),
        cmocka_unit_test(a_disk_in_base_2_is_the_entropy_of_scikit_image),
        cmocka_unit_test(footprints_of_scikit_image_give_its_values),
        cmocka_unit_test(large_windows_keep_their_counts),
        cmocka_unit_test(counts_far_apart_in_windows_above_each_other),
        cmocka_unit_test(long_rows_by_parts),
        cmocka_unit_test(masked_elements_and_no_data_do_not_count),
        cmocka_unit_test(a_range_has_equal_bins_and_a_closed_top),
        cmocka_unit_test(values_on_an_edge_are_in_the_bin_that_begins_there),
        cmocka_unit_test(ranges_of_every_magnitude),
        cmocka_unit_test(nan_and_a_value_can_be_left_out_together),
        cmocka_unit_test(values_that_change_after_the_check_harm_nothing),
        cmocka_unit_test(rows_further_apart_than_their_length),
        cmocka_unit_test(all_count_patterns_of_a_5x5_window_with_16_levels),
        cmocka_unit_test(a_product_rounds_as_the_quotient_in_small_windows),
        cmocka_unit_test(the_table_is_n_log_n),
        cmocka_unit_test(constant_windows_are_exactly_zero_and_empty_ones_nan),
        cmocka_unit_test(ten_millions_in_a_row_or_in_a_column),
        cmocka_unit_test(a_result_that_is_wrong_is_found),
        cmocka_unit_test(a_plan_names_the_method_that_runs),
        cmocka_unit_test(bad_values_are_named_by_their_place),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(a_cancelled_run_says_so),
        cmocka_unit_test(sinks_get_the_same_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
