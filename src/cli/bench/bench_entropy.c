/*
 * tilewright bench entropy: how fast is local entropy here, beside what memory allows? Each window
 * goes over a natural-like image. The first result is checked, a thousand elements of it by the
 * definition, and every timed one must have its bits. Numbers of threads take turns, so that a busy
 * moment of the machine hits all of them, and the processor time is told beside the wall time.
 *
 * The ceiling is a copy in memory, measured in the same turns on as many threads: an element of u8
 * is read and one of f32 written, five bytes, so no method can be faster than the rate of a copy in
 * bytes read and written, divided by five.
 */
#include "cli/bench/bench_entropy.h"
#include "frame/progress.h"
#include "frame/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 16 /* numbers of threads */
#define CHECKED 1000    /* elements by the definition */
#define BYTES_MOVED 5   /* an element: one byte in, four out */

static const struct window {
    const char *name;
    int32_t side;   /* 0: a disk */
    int32_t radius; /* -1: no disk */
    int32_t levels;
} windows[] = {{"5x5", 5, -1, 16},     {"5x5", 5, -1, 256},    {"9x9", 9, -1, 256},
               {"31x31", 31, -1, 256}, {"63x63", 63, -1, 256}, {"disk 5", 0, 5, 256}};
#define WINDOWS ((int)(sizeof windows / sizeof *windows))

/* One window on one number of threads. */
typedef struct timing {
    int32_t threads;
    double least, sum; /* seconds */
    double processor;  /* minimum of processor seconds */
    double copy;       /* maximum bytes per second of a copy */
} timing;

typedef struct bench {
    cli_job *job;
    const cli_entropy_bench *wanted;
    cli_report json;
    int printed;
    tw_image *image;
    tw_image *results; /* the checked result, and the timed one; as large as the image */
    timing timings[MOST_THREADS];
    int count;
    tw_entropy_report report;
} bench;

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static tw_status make_images(bench *b, int64_t side, int32_t levels)
{
    tw_context *ctx = b->job->ctx;
    tw_image_options opts = TW_IMAGE_OPTIONS_INIT;
    opts.rows = opts.cols = side;
    opts.levels = levels;
    tw_image_destroy(b->image);
    tw_image_destroy(b->results);
    b->image = b->results = NULL;
    tw_status status = tw_image_generate(ctx, &b->image, &opts);
    if (status == TW_OK) {
        status = tw_image_create(ctx, &b->results);
    }
    for (int k = 0; k < 2 && status == TW_OK; k++) {
        status = tw_image_add(ctx, b->results, side, side, TW_F32);
    }
    return status;
}

/* The checked result, and what the library says about it. */
static tw_status compute_checked(bench *b, const tw_entropy_options *opts)
{
    tw_context *ctx = b->job->ctx;
    tw_matrix target = *tw_image_plane(b->results, 0);
    tw_entropy_options checked = *opts;
    const tw_matrix *image = tw_image_plane(b->image, 0);
    const tw_shape shape = {image->rows, image->cols, image->type};
    tw_entropy_plan *plan = NULL;
    checked.verify = CHECKED;
    tw_status status = tw_entropy_plan_create(ctx, &plan, &shape, &checked);
    if (status == TW_OK) {
        status = tw_entropy_plan_apply(ctx, plan, &target, image, &b->report);
    }
    tw_entropy_plan_destroy(plan);
    return status;
}

/* Bytes per second, read and written, of copying a result onto the other. */
static tw_status time_copy(bench *b, double *rate)
{
    tw_context *ctx = b->job->ctx;
    const tw_matrix *from = tw_image_plane(b->results, 0);
    tw_matrix to = *tw_image_plane(b->results, 1);
    tw_sink sink = TW_SINK_INIT;
    tw_status status = tw_sink_to_matrix(ctx, &sink, &to);
    double started = cli_seconds();
    if (status == TW_OK) {
        status = tw_feed(ctx, from, &sink, 1);
    }
    double seconds = cli_seconds() - started;
    *rate = seconds > 0 ? 8.0 * (double)from->rows * (double)from->cols / seconds : 0;
    tw_sink_destroy(&sink);
    return status;
}

static tw_status time_once(bench *b, const tw_entropy_options *opts, timing *t)
{
    tw_context *ctx = b->job->ctx;
    const tw_matrix *want = tw_image_plane(b->results, 0);
    tw_matrix got = *tw_image_plane(b->results, 1);
    const size_t bytes = (size_t)(want->rows * want->cols) * sizeof(float);
    double copy = 0;
    tw_status status = tw_set_threads(ctx, t->threads);
    if (status == TW_OK) {
        status = time_copy(b, &copy);
    }
    memset(got.data, 0xA5, bytes);
    double processor = processor_seconds();
    double started = cli_seconds();
    if (status == TW_OK) {
        status = tw_entropy(ctx, &got, tw_image_plane(b->image, 0), opts);
    }
    double seconds = cli_seconds() - started;
    processor = processor_seconds() - processor;
    if (status == TW_OK && memcmp(got.data, want->data, bytes) != 0) {
        status = tw_fail(ctx, TW_ERR_VERIFY,
                         "%d threads give a different result from the first run", (int)t->threads);
    }
    t->sum += seconds;
    t->least = seconds < t->least ? seconds : t->least;
    t->processor = processor < t->processor ? processor : t->processor;
    t->copy = copy > t->copy ? copy : t->copy;
    return status;
}

/* -------------------------------------------------------------------------------------- results */

static void print_row(bench *b, const struct window *w, int64_t side, const timing *t)
{
    const double elements = (double)side * (double)side;
    const double ceiling = t->copy / BYTES_MOVED;
    cli_progress_clear();
    if (b->printed++ == 0) {
        cli_print("%7s %7s %7s %8s %9s %10s %10s %12s %9s %7s %9s\n", "side", "window", "levels",
                  "threads", "method", "seconds", "M elem/s", "processor ns", "ceiling", "ratio",
                  "speed-up");
    }
    cli_print("%7lld %7s %7d %8d %9s %10.4g %10.1f %12.2f %9.0f %5.1f %% %9.2f\n", (long long)side,
              w->name, w->levels, t->threads, b->report.method, t->least,
              elements / t->least * 1e-6, t->processor / elements * 1e9, ceiling * 1e-6,
              100 * elements / t->least / ceiling, b->timings[0].least / t->least);
    fflush(stdout);
}

static void report_row(bench *b, const struct window *w, int64_t side, const timing *t)
{
    const double elements = (double)side * (double)side;
    cli_report *json = &b->json;
    cli_report_object(json, NULL);
    cli_report_integer(json, "rows", side);
    cli_report_integer(json, "cols", side);
    cli_report_text(json, "window", w->name);
    cli_report_integer(json, "levels", w->levels);
    cli_report_integer(json, "threads", t->threads);
    cli_report_text(json, "method", b->report.method);
    cli_report_text(json, "isa", b->report.isa);
    cli_report_number(json, "seconds", t->least);
    cli_report_number(json, "mean_seconds", t->sum / b->wanted->repeat);
    cli_report_number(json, "processor_seconds", t->processor);
    cli_report_number(json, "rate", elements / t->least);
    cli_report_number(json, "rate_of_processor", elements / t->processor);
    cli_report_number(json, "ceiling", t->copy / BYTES_MOVED);
    cli_report_number(json, "ratio", elements / t->least / (t->copy / BYTES_MOVED));
    cli_report_number(json, "speed_up", b->timings[0].least / t->least);
    cli_report_integer(json, "checked_elements", b->report.verified);
    cli_report_end_object(json);
}

static tw_status run_window(bench *b, const struct window *w, int64_t side)
{
    tw_entropy_options opts = TW_ENTROPY_OPTIONS_INIT;
    opts.levels = w->levels;
    opts.window_rows = opts.window_cols = w->side;
    opts.radius = w->radius;
    tw_status status = make_images(b, side, w->levels);
    if (status == TW_OK) {
        status = compute_checked(b, &opts);
    }
    for (int i = 0; i < b->count; i++) {
        int32_t threads = b->timings[i].threads;
        b->timings[i] =
            (timing){.threads = threads, .least = (double)INFINITY, .processor = (double)INFINITY};
    }
    for (int r = 0; r < b->wanted->repeat && status == TW_OK; r++) {
        for (int i = 0; i < b->count && status == TW_OK; i++) {
            status = time_once(b, &opts, &b->timings[i]);
        }
    }
    for (int i = 0; i < b->count && status == TW_OK; i++) {
        if (b->wanted->json) {
            report_row(b, w, side, &b->timings[i]);
        } else {
            print_row(b, w, side, &b->timings[i]);
        }
    }
    return status;
}

static void begin_json(bench *b)
{
    tw_machine machine = TW_MACHINE_INIT;
    cli_report_begin(&b->json, stdout);
    cli_report_text(&b->json, "command", "bench entropy");
    cli_report_text(&b->json, "version", tw_version());
    if (tw_machine_describe(b->job->ctx, &machine) == TW_OK) {
        cli_report_text(&b->json, "processor", machine.processor);
        cli_report_integer(&b->json, "processors", machine.threads);
    }
    cli_report_number(&b->json, "load", b->wanted->load);
    cli_report_integer(&b->json, "repeat", b->wanted->repeat);
    cli_report_array(&b->json, "cases");
}

static void choose_threads(bench *b)
{
    const int32_t all = tw_threads(b->job->ctx);
    for (int i = 0; i < b->wanted->thread_count && b->count < MOST_THREADS; i++) {
        int32_t threads = b->wanted->threads[i] == 0 ? all : (int32_t)b->wanted->threads[i];
        bool known = false;
        for (int k = 0; k < b->count; k++) {
            known |= b->timings[k].threads == threads;
        }
        if (!known) { /* "1 and all" is one on a machine with one processor */
            b->timings[b->count++].threads = threads;
        }
    }
}

tw_status cli_bench_entropy(cli_job *job, const cli_entropy_bench *wanted)
{
    bench b = {.job = job, .wanted = wanted, .report = TW_ENTROPY_REPORT_INIT};
    tw_status status = TW_OK;
    choose_threads(&b);
    if (wanted->json) {
        begin_json(&b);
    }
    for (int i = 0; i < wanted->side_count && status == TW_OK; i++) {
        for (int w = 0; w < WINDOWS && status == TW_OK; w++) {
            status = run_window(&b, &windows[w], wanted->sides[i]);
        }
    }
    if (wanted->json) { /* what is done is told, also when Ctrl-C ended the series */
        cli_report_end_array(&b.json);
        cli_report_bool(&b.json, "complete", status == TW_OK);
        cli_report_end(&b.json);
    }
    tw_image_destroy(b.results);
    tw_image_destroy(b.image);
    return status;
}
