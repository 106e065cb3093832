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
 * theirs of 5 x 5. sliding-K, ours, takes 2 K reads per element. What there is to see: from which K
 * on the images pay, beside counting and beside a histogram that slides. The array has 1000 x 1000
 * elements. At 1024 x 1024, the second size, the images get into each other's way in the first
 * cache (versions.c): there they take half as long again, and hardly beat the histogram.
 */
#include "ladders/answers.h"
#include "ladders/entropy/piece.h"
#include "ladders/entropy/versions.h"
#include "ladders/ladders.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "gpu/device.h"

#include <math.h>
#include <string.h>

#define SAMPLES 200

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    uint64_t seed;
    uint8_t *input;
    float *output;
    int32_t levels;     /* of the input as it is now */
    int32_t *integrals; /* of a lab_entropy_task */
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

/* a: the window; code: a lab_entropy_version. */
static tw_status run_version(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    lab_entropy_task task = {.ctx = b->ctx,
                             .n = b->n,
                             .window = rung->a,
                             .input = b->input,
                             .output = b->output,
                             .integrals = b->integrals};
    fill(b, LAB_ENTROPY_LEVELS);
    tw_status status = lab_entropy_run(&task, rung->code, time);
    b->integrals = task.integrals;
    return status;
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

#define VERSION(how, k, of, functions, what)                                                       \
    {                                                                                              \
        .name = #how "-" #k, .row = of, .idea = what ", windows of " #k " x " #k,                  \
        .source = "entropy/versions.c " functions, .run = run_version, .code = &lab_entropy_##how, \
        .a = (k), .b = LAB_ENTROPY_LEVELS                                                          \
    }
#define VERSIONS(how, of, functions, what)                                            \
    VERSION(how, 5, of, functions, what), VERSION(how, 9, of, functions, what),       \
        VERSION(how, 15, of, functions, what), VERSION(how, 21, of, functions, what), \
        VERSION(how, 31, of, functions, what)

static const lab_rung versions[] = {
    VERSIONS(counted, "D2", "count_window finish count_row",
             "v12: every element of a window counted"),
    VERSIONS(integral, "D2", "integrate finish subtract_row",
             "v13: 16 integral images, four reads a level"),
    VERSIONS(sliding, NULL, "add_column finish slide_row", "one histogram slid along the row")};

static const int64_t cpu_sizes[] = {1024, 0};
static const int64_t version_sizes[] = {1000, 1024, 0};
static const int64_t gpu_sizes[] = {4096, 0};

#define AGAINST "the definition in double precision, 4 corners and 196 outputs, within 2e-6"
#define SWEEP                                                                                   \
    .unit = "elements", .size = "elements per side", .rungs = rungs, .count = LAB_COUNT(rungs), \
    .open = open_bench, .spoil = spoil, .check = check, .close = close_bench,                   \
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
    .size = "elements per side",
    .rungs = versions,
    .count = LAB_COUNT(versions),
    .sizes = version_sizes,
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
