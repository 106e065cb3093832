/*
 * Ladders entropy-windows and entropy-gpu-windows: the library's entropy over windows of 3 to 31 a
 * side and 4 to 256 levels, on a CPU and, from host memory to host memory, by a GPU. A sweep: the
 * rungs KxK-L differ by their window and their levels. What there is to see: few levels and a small
 * window, whose counters are one vector, are another kind of code than the rest; and the rest costs
 * in proportion to the side of the window, not to its area, whatever the levels.
 *
 * 200 elements, the corners among them, are checked by the definition. By a GPU the copies are all
 * there is to see: the kernels take less than a millisecond of each.
 *
 * Ladder entropy-cpu-windows: two versions of row D2 over windows of 5 to 31 a side, 16 levels.
 * counted-K counts the window of each element (v12), K x K reads; integral-K has 16 integral images
 * (v13), so that a window of any size costs 64 reads: its authors meant it for larger windows than
 * theirs of 5 x 5. sliding-K, ours, takes 2 K reads an element. What there is to see: from which K
 * on the images pay, and that they never beat a histogram that slides.
 */
#include "ladders/answers.h"
#include "ladders/ladders.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/threads.h"
#include "gpu/device.h"

#include <math.h>
#include <string.h>

#define SAMPLES 200

enum { LEVELS = 16, LARGEST = 31 }; /* of entropy-cpu-windows */

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    uint64_t seed;
    uint8_t *input;
    float *output;
    int32_t levels;     /* of the input as it is now */
    int32_t *integrals; /* LEVELS images of (n + 1)^2; NULL until they are needed */
} bench;

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        twi_free(b->integrals);
        twi_free(b->output);
        twi_free(b->input);
        twi_free(b);
    }
}

static tw_status open_bench(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    bench *b = NULL;
    uint64_t cells = (uint64_t)n * (uint64_t)n;
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    b->seed = seed;
    status = twi_alloc(ctx, &b->input, cells, 1, "the input");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &b->output, cells, 4, "the output");
    }
    return status;
}

static void spoil(void *given)
{
    bench *b = given;
    lab_poison(b->output, b->n, 4);
}

static void fill(bench *b, int32_t levels)
{
    if (b->levels != levels) {
        for (int64_t i = 0; i < b->n * b->n; i++) {
            b->input[i] = (uint8_t)(twi_random_at(b->seed, (uint64_t)i) % (uint64_t)levels);
        }
        b->levels = levels;
    }
}

/* a: the window; b: the levels. */
static tw_status run_window(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tw_matrix in = {b->input, b->n, b->n, b->n, TW_U8};
    tw_matrix out = {b->output, b->n, b->n, b->n, TW_F32};
    tw_entropy_options options = TW_ENTROPY_OPTIONS_INIT;
    options.levels = rung->b;
    options.window_rows = options.window_cols = rung->a;
    fill(b, rung->b);
    double begun = twi_seconds();
    tw_status status = tw_entropy(b->ctx, &out, &in, &options);
    time->total = time->compute = twi_seconds() - begun;
    return status;
}

/* -------------------------------------------------------- two versions of row D2, any window */

/* n log n in floats, and 1 / n, as versions 12 and 13 have them. */
typedef struct tables {
    float n_log_n[LARGEST * LARGEST + 1];
    float inverse[LARGEST * LARGEST + 1];
} tables;

static tables make_tables(void)
{
    tables t = {{0}, {0}};
    for (int n = 1; n <= LARGEST * LARGEST; n++) {
        t.n_log_n[n] = (float)(n * log(n));
        t.inverse[n] = (float)(1.0 / n);
    }
    return t;
}

static float finish(const tables *t, const int32_t counts[LEVELS], int64_t total)
{
    double sum = 0;
    for (int level = 0; level < LEVELS; level++) {
        sum += (double)t->n_log_n[counts[level]];
    }
    return (float)(((double)t->n_log_n[total] - sum) * (double)t->inverse[total]);
}

/* Where the window of an element begins and ends in one direction. */
static int64_t low(const lab_rung *rung, int64_t at)
{
    return at < rung->a / 2 ? 0 : at - rung->a / 2;
}

static int64_t high(const bench *b, const lab_rung *rung, int64_t at)
{
    int64_t end = at - rung->a / 2 + rung->a;
    return end < b->n ? end : b->n;
}

static void count_row(const bench *b, const lab_rung *rung, const tables *t, int64_t y)
{
    int64_t top = low(rung, y), bottom = high(b, rung, y);
    for (int64_t x = 0; x < b->n; x++) {
        int32_t counts[LEVELS] = {0};
        int64_t left = low(rung, x), right = high(b, rung, x);
        for (int64_t i = top; i < bottom; i++) {
            for (int64_t j = left; j < right; j++) {
                counts[b->input[i * b->n + j]]++;
            }
        }
        b->output[y * b->n + x] = finish(t, counts, (bottom - top) * (right - left));
    }
}

static void add_column(const bench *b, int64_t top, int64_t bottom, int64_t x, int32_t sign,
                       int32_t counts[LEVELS])
{
    for (int64_t i = top; i < bottom; i++) {
        counts[b->input[i * b->n + x]] += sign;
    }
}

static void slide_row(const bench *b, const lab_rung *rung, const tables *t, int64_t y)
{
    int64_t top = low(rung, y), bottom = high(b, rung, y), left = 0, right = 0;
    int32_t counts[LEVELS] = {0};
    for (int64_t x = 0; x < b->n; x++) {
        while (right < high(b, rung, x)) {
            add_column(b, top, bottom, right++, 1, counts);
        }
        while (left < low(rung, x)) {
            add_column(b, top, bottom, left++, -1, counts);
        }
        b->output[y * b->n + x] = finish(t, counts, (bottom - top) * (right - left));
    }
}

static void subtract_row(const bench *b, const lab_rung *rung, const tables *t, int64_t y)
{
    const int64_t side = b->n + 1, area = side * side;
    int64_t top = low(rung, y), bottom = high(b, rung, y);
    for (int64_t x = 0; x < b->n; x++) {
        int32_t counts[LEVELS];
        int64_t left = low(rung, x), right = high(b, rung, x);
        for (int level = 0; level < LEVELS; level++) {
            const int32_t *image = b->integrals + level * area;
            counts[level] = image[bottom * side + right] - image[top * side + right] -
                            image[bottom * side + left] + image[top * side + left];
        }
        b->output[y * b->n + x] = finish(t, counts, (bottom - top) * (right - left));
    }
}

/* Image `level` holds, at (i, j), how often the level occurs above row i and left of column j. */
static void integrate(const bench *b, int level)
{
    const int64_t side = b->n + 1;
    int32_t *image = b->integrals + (int64_t)level * side * side;
    memset(image, 0, (size_t)side * sizeof *image);
    for (int64_t y = 0; y < b->n && !twi_is_cancelled(b->ctx); y++) {
        int32_t row = 0;
        image[(y + 1) * side] = 0;
        for (int64_t x = 0; x < b->n; x++) {
            row += b->input[y * b->n + x] == level;
            image[(y + 1) * side + x + 1] = image[y * side + x + 1] + row;
        }
    }
}

/* How a version makes one row of outputs: lab_rung.code. */
typedef struct version {
    void (*row)(const bench *b, const lab_rung *rung, const tables *t, int64_t y);
    bool integrals;
} version;

static const version counted = {count_row, false}, sliding = {slide_row, false},
                     integral = {subtract_row, true};

static tw_status run_version(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const version *v = rung->code;
    const uint64_t side = (uint64_t)b->n + 1;
    const int threads = twi_thread_count(b->ctx);
    tw_status status = TW_OK;
    fill(b, LEVELS);
    if (v->integrals && b->integrals == NULL) {
        status = twi_alloc(b->ctx, &b->integrals, side * side, LEVELS * 4, "the integral images");
    }
    if (status != TW_OK) {
        return status;
    }
    double begun = twi_seconds();
    tables t = make_tables();
#pragma omp parallel num_threads(threads)
    {
        if (v->integrals) {
#pragma omp for schedule(static)
            for (int level = 0; level < LEVELS; level++) {
                integrate(b, level);
            }
        }
#pragma omp for schedule(static)
        for (int64_t y = 0; y < b->n; y++) {
            if (!twi_is_cancelled(b->ctx)) {
                v->row(b, rung, &t, y);
            }
        }
    }
    (void)threads;
    time->total = time->compute = twi_seconds() - begun;
    return TW_OK;
}

/* The entropy of the window of row y and column x, by the definition. */
static double entropy_at(const bench *b, const lab_rung *rung, int64_t y, int64_t x)
{
    int32_t counts[256] = {0};
    int64_t before = rung->a / 2, after = rung->a - 1 - before, total = 0;
    for (int64_t i = y - before; i <= y + after; i++) {
        for (int64_t j = x - before; j <= x + after; j++) {
            if (i >= 0 && i < b->n && j >= 0 && j < b->n) {
                counts[b->input[i * b->n + j]]++;
                total++;
            }
        }
    }
    double sum = 0;
    for (int level = 0; level < rung->b; level++) {
        double p = (double)counts[level] / (double)total;
        sum -= counts[level] > 0 ? p * log(p) : 0;
    }
    return sum;
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    for (uint64_t sample = 0; sample < SAMPLES; sample++) {
        int64_t y = (int64_t)twi_random_below(twi_random_at(3, sample), (uint64_t)b->n);
        int64_t x = (int64_t)twi_random_below(twi_random_at(4, sample), (uint64_t)b->n);
        y = sample < 4 ? (int64_t)(sample % 2) * (b->n - 1) : y;
        x = sample < 4 ? (int64_t)(sample / 2) * (b->n - 1) : x;
        double right = entropy_at(b, rung, y, x), got = (double)b->output[y * b->n + x];
        if (!(fabs(got - right) <= 2e-6)) {
            return tw_fail(ctx, TW_ERR_VERIFY,
                           "rung %s is wrong: entropy at row %lld, column %lld is %.9g, and should "
                           "be %.9g",
                           rung->name, (long long)y, (long long)x, got, right);
        }
    }
    return TW_OK;
}

#define CASE(k, l)                                                                     \
    {                                                                                  \
        .name = #k "x" #k "-" #l, .idea = "windows of " #k " x " #k ", " #l " levels", \
        .run = run_window, .a = (k), .b = (l)                                          \
    }
#define WINDOWS(l) CASE(3, l), CASE(5, l), CASE(9, l), CASE(15, l), CASE(31, l)

static const lab_rung rungs[] = {WINDOWS(4), WINDOWS(16), WINDOWS(64), WINDOWS(256)};

#define VERSION(how, k, of, functions, what)                                                    \
    {                                                                                           \
        .name = #how "-" #k, .row = of, .idea = what ", windows of " #k " x " #k,               \
        .source = "entropy/windows.c " functions " finish", .run = run_version, .code = &(how), \
        .a = (k), .b = LEVELS                                                                   \
    }
#define VERSIONS(how, of, functions, what)                                            \
    VERSION(how, 5, of, functions, what), VERSION(how, 9, of, functions, what),       \
        VERSION(how, 15, of, functions, what), VERSION(how, 21, of, functions, what), \
        VERSION(how, 31, of, functions, what)

static const lab_rung versions[] = {
    VERSIONS(counted, "D2", "count_row", "v12: every element of a window counted"),
    VERSIONS(integral, "D2", "integrate subtract_row",
             "v13: 16 integral images, four reads a level"),
    VERSIONS(sliding, NULL, "add_column slide_row", "one histogram slid along the row")};

static const int64_t cpu_sizes[] = {1024, 0};
static const int64_t gpu_sizes[] = {4096, 0};

#define AGAINST "the definition in double precision, 4 corners and 196 outputs, within 2e-6"
#define SWEEP                                                                                 \
    .unit = "elements", .size = "elements a side", .rungs = rungs, .count = LAB_COUNT(rungs), \
    .open = open_bench, .spoil = spoil, .check = check, .close = close_bench,                 \
    .work = lab_elements, .traffic = lab_image_bytes, .against = AGAINST

const lab_ladder lab_entropy_windows = {
    .source = "entropy/windows.c run_window",
    .name = "entropy-windows",
    .title = "The library's entropy over windows and levels, on a CPU",
    .sizes = cpu_sizes,
    .ceiling = lab_image_copy_ceiling,
    SWEEP,
};

const lab_ladder lab_entropy_cpu_windows = {
    .name = "entropy-cpu-windows",
    .title = "Versions of row D2 over larger windows, 16 levels, on a CPU",
    .unit = "elements",
    .size = "elements a side",
    .rungs = versions,
    .count = LAB_COUNT(versions),
    .sizes = cpu_sizes,
    .open = open_bench,
    .spoil = spoil,
    .check = check,
    .close = close_bench,
    .work = lab_elements,
    .traffic = lab_image_bytes,
    .ceiling = lab_image_copy_ceiling,
    .against = AGAINST,
};

const lab_ladder lab_entropy_gpu_windows = {
    .source = "entropy/windows.c run_window",
    .name = "entropy-gpu-windows",
    .title = "The library's entropy over windows and levels, host to host by a GPU",
    .gpu = true,
    .sizes = gpu_sizes,
    .ceiling = lab_link_ceiling,
    SWEEP,
};
