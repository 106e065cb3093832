/*
 * See versions.h. Border windows hold what is inside. A version is a function that makes one row of
 * outputs; rows are dealt out to the threads, and each begins with a look whether the run is
 * cancelled.
 *
 * An element of a K x K window costs K * K reads where the window is counted, 2 K where a histogram
 * slides, and 4 * 16 from integral images, whatever K. The images of the 16 levels lie (n + 1)^2
 * counts apart. Where that distance is near a multiple of the bytes of one way of the first cache
 * (16 KiB on a Neoverse V1, whose 64 KiB have four ways), the 16 counts of one place want the same
 * few sets of it and drive each other out. There, on one thread in November 2026, windows of 5 x 5
 * took 26 to 29 ns of processor time per element at n = 1000 and 1280, 40 at n = 1024, where eight
 * images share a set, and 63 to 65 at n = 1023 and 1279, where all 16 do.
 */
#include "ladders/entropy/versions.h"

#include "ladders/entropy/piece.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { LEVELS = LAB_ENTROPY_LEVELS, MOST = LAB_ENTROPY_LARGEST * LAB_ENTROPY_LARGEST };

/* n log n, and in floats, as versions 12 and 13 have it, with 1 / n. Each is reached by a pointer
 * of its own: inside of one struct a look-up takes an addition more. */
typedef struct tables {
    const double *exact;
    const float *n_log_n, *inverse;
} tables;

/* Where the window of an element begins and ends in one direction. */
static int64_t low(const lab_entropy_task *task, int64_t at)
{
    int64_t begin = at - task->window / 2;
    return begin > 0 ? begin : 0;
}

static int64_t high(const lab_entropy_task *task, int64_t at)
{
    int64_t end = at - task->window / 2 + task->window;
    return end < task->n ? end : task->n;
}

/* How many elements the window has. */
static int64_t count_window(const lab_entropy_task *task, int64_t y, int64_t x,
                            int32_t counts[LEVELS])
{
    int64_t top = low(task, y), bottom = high(task, y), left = low(task, x), right = high(task, x);
    memset(counts, 0, LEVELS * sizeof *counts);
    for (int64_t i = top; i < bottom; i++) {
        for (int64_t j = left; j < right; j++) {
            counts[task->input[i * task->n + j]]++;
        }
    }
    return (bottom - top) * (right - left);
}

/* The definition: minus the sum of p log p. */
static double entropy_of(const int32_t counts[LEVELS], int64_t total)
{
    double sum = 0;
    for (int level = 0; level < LEVELS; level++) {
        if (counts[level] > 0) {
            double p = (double)counts[level] / (double)total;
            sum -= p * log(p);
        }
    }
    return sum;
}

static void logarithm_row(const lab_entropy_task *task, const tables *t, int64_t y)
{
    int32_t counts[LEVELS];
    (void)t;
    for (int64_t x = 0; x < task->n; x++) {
        int64_t total = count_window(task, y, x, counts);
        task->output[y * task->n + x] = (float)entropy_of(counts, total);
    }
}

static void table_row(const lab_entropy_task *task, const tables *t, int64_t y)
{
    int32_t counts[LEVELS];
    for (int64_t x = 0; x < task->n; x++) {
        int64_t total = count_window(task, y, x, counts);
        double sum = 0;
        for (int level = 0; level < LEVELS; level++) {
            sum += t->exact[counts[level]];
        }
        task->output[y * task->n + x] = (float)((t->exact[total] - sum) / (double)total);
    }
}

static float finish(const tables *t, const int32_t counts[LEVELS], int64_t total)
{
    double sum = 0;
    for (int level = 0; level < LEVELS; level++) {
        sum += (double)t->n_log_n[counts[level]];
    }
    return (float)(((double)t->n_log_n[total] - sum) * (double)t->inverse[total]);
}

static void count_row(const lab_entropy_task *task, const tables *t, int64_t y)
{
    int32_t counts[LEVELS];
    for (int64_t x = 0; x < task->n; x++) {
        int64_t total = count_window(task, y, x, counts);
        task->output[y * task->n + x] = finish(t, counts, total);
    }
}

/* Image `level` holds, at (i, j), how often the level occurs above row i and left of column j. */
static void integrate(const lab_entropy_task *task, int level)
{
    const int64_t side = task->n + 1;
    int32_t *image = task->integrals + (int64_t)level * side * side;
    memset(image, 0, (size_t)side * sizeof *image);
    for (int64_t y = 0; y < task->n && !twi_is_cancelled(task->ctx); y++) {
        int32_t row = 0;
        image[(y + 1) * side] = 0;
        for (int64_t x = 0; x < task->n; x++) {
            row += task->input[y * task->n + x] == level;
            image[(y + 1) * side + x + 1] = image[y * side + x + 1] + row;
        }
    }
}

static void subtract_row(const lab_entropy_task *task, const tables *t, int64_t y)
{
    const int64_t side = task->n + 1, area = side * side;
    const int64_t rows = high(task, y) - low(task, y);
    const int64_t top = low(task, y) * side, bottom = high(task, y) * side;
    for (int64_t x = 0; x < task->n; x++) {
        int32_t counts[LEVELS];
        const int64_t left = low(task, x), right = high(task, x);
        for (int level = 0; level < LEVELS; level++) {
            const int32_t *image = task->integrals + level * area;
            counts[level] = image[bottom + right] - image[top + right] - image[bottom + left] +
                            image[top + left];
        }
        task->output[y * task->n + x] = finish(t, counts, rows * (right - left));
    }
}

/* Add (sign 1) or take away (sign -1) a column of the windows of a row. */
static void add_column(const lab_entropy_task *task, int64_t top, int64_t bottom, int64_t x,
                       int32_t sign, int32_t counts[LEVELS])
{
    for (int64_t i = top; i < bottom; i++) {
        counts[task->input[i * task->n + x]] += sign;
    }
}

static void slide_row(const lab_entropy_task *task, const tables *t, int64_t y)
{
    int64_t top = low(task, y), bottom = high(task, y), left = 0, right = 0;
    int32_t counts[LEVELS] = {0};
    for (int64_t x = 0; x < task->n; x++) {
        while (right < high(task, x)) {
            add_column(task, top, bottom, right++, 1, counts);
        }
        while (left < low(task, x)) {
            add_column(task, top, bottom, left++, -1, counts);
        }
        task->output[y * task->n + x] = finish(t, counts, (bottom - top) * (right - left));
    }
}

struct lab_entropy_version {
    void (*row)(const lab_entropy_task *task, const tables *t, int64_t y);
    bool integrals;
};

const lab_entropy_version lab_entropy_logarithms = {logarithm_row, false};
const lab_entropy_version lab_entropy_table = {table_row, false};
const lab_entropy_version lab_entropy_counted = {count_row, false};
const lab_entropy_version lab_entropy_integral = {subtract_row, true};
const lab_entropy_version lab_entropy_sliding = {slide_row, false};

tw_status lab_entropy_run(lab_entropy_task *task, const lab_entropy_version *version,
                          lab_time *time)
{
    const uint64_t side = (uint64_t)task->n + 1;
    const int threads = twi_thread_count(task->ctx);
    if (version->integrals && task->integrals == NULL) {
        tw_status status =
            twi_alloc(task->ctx, &task->integrals, side * side, LEVELS * 4, "the integral images");
        if (status != TW_OK) {
            return status;
        }
    }
    double begun = twi_seconds();
    double exact[MOST + 1] = {0};
    float n_log_n[MOST + 1] = {0}, inverse[MOST + 1] = {0};
    const tables t = {exact, n_log_n, inverse};
    for (int n = 1; n <= task->window * task->window; n++) {
        exact[n] = n * log(n);
        n_log_n[n] = (float)exact[n];
        inverse[n] = (float)(1.0 / n);
    }
#pragma omp parallel num_threads(threads)
    {
        if (version->integrals) {
#pragma omp for schedule(static)
            for (int level = 0; level < LEVELS; level++) {
                integrate(task, level);
            }
        }
#pragma omp for schedule(static)
        for (int64_t y = 0; y < task->n; y++) {
            if (!twi_is_cancelled(task->ctx)) {
                version->row(task, &t, y);
            }
        }
    }
    (void)threads;
    time->total = time->compute = twi_seconds() - begun;
    return TW_OK;
}
