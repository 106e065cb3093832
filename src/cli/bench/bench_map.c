/*
 * tilewright bench map: nanoseconds per element, and bytes per second beside those of a plain copy
 * measured in the same run and counted in the same way, read and written. A thousand elements of
 * every case are recomputed in interval arithmetic before its time counts. The best of the runs
 * counts.
 */
#include "cli/bench/bench_map.h"

#include "frame/progress.h"
#include "frame/report.h"

#include <string.h>

#define PARITY "x + sqrt((col % 2 ? log(x) : cos(x)) + 1)"
#define CHECKED 1000
#define MOST_RESULTS 128

typedef struct map_case {
    const char *name;
    const char *text;
    tw_type type; /* of inputs and result */
    int64_t repeat;
    int32_t fast;
    int32_t inputs;
} map_case;

static const map_case cases[] = {
    {"a*b+c", "a * b + c", TW_F32, 1, 0, 3},  {"parity", PARITY, TW_F32, 1, 0, 1},
    {"parity fast", PARITY, TW_F32, 1, 1, 1}, {"parity x10", PARITY, TW_F32, 10, 0, 1},
    {"parity u8", PARITY, TW_U8, 1, 0, 1},    {"exp", "exp(-x / 100)", TW_F32, 1, 0, 1},
    {"parity f64", PARITY, TW_F64, 1, 0, 1},
};
#define CASES ((int)(sizeof cases / sizeof *cases))

typedef struct map_result {
    const map_case *c;
    int64_t side;
    int32_t threads;
    double fastest, slowest; /* seconds */
    double copy;             /* bytes per second */
    double bytes;            /* per element */
    const char *method;
    const char *isa;
} map_result;

typedef struct map_bench {
    cli_job *job;
    const cli_map_bench *wanted;
    map_result results[MOST_RESULTS];
    int done;
} map_bench;

/* Values from 10 to 265, the same on every machine. */
static void fill(const tw_matrix *m, uint32_t seed)
{
    for (int64_t i = 0; i < m->rows * m->cols; i++) {
        seed = seed * 1664525U + 1013904223U;
        uint32_t value = 10 + (seed >> 24);
        if (m->type == TW_F32) {
            ((float *)m->data)[i] = (float)value;
        } else if (m->type == TW_F64) {
            ((double *)m->data)[i] = (double)value;
        } else {
            ((uint8_t *)m->data)[i] = (uint8_t)(value < 255 ? value : 255);
        }
    }
}

static tw_status check(map_bench *b, const map_case *c, const tw_expr *expr,
                       const tw_map_options *opts, const tw_matrix *inputs, const tw_matrix *out)
{
    tw_context *ctx = b->job->ctx;
    tw_map_verifier *verifier = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_status status =
        tw_map_verifier_create(ctx, &verifier, expr, inputs, c->inputs, opts, CHECKED, 1);
    if (status == TW_OK) {
        status = tw_map_verifier_sink(verifier, &sink);
    }
    if (status == TW_OK) {
        status = tw_feed(ctx, out, &sink, 1);
    }
    if (status == TW_OK) {
        status = tw_map_verifier_result(ctx, verifier, NULL);
    }
    tw_map_verifier_destroy(verifier);
    return status;
}

static tw_status measure(map_bench *b, map_result *r, tw_map_plan *plan, const tw_matrix *inputs,
                         tw_matrix *out)
{
    tw_context *ctx = b->job->ctx;
    tw_map_report report = TW_MAP_REPORT_INIT;
    double before = 0, after = 0;
    tw_status status = tw_map_plan_apply(ctx, plan, out, inputs, r->c->inputs, &report);
    if (status == TW_OK) { /* the run before brought the pages of the result */
        status = tw_copy_rate(ctx, &before, r->threads);
    }
    for (int i = 0; i < b->wanted->repeat && status == TW_OK; i++) {
        status = tw_map_plan_apply(ctx, plan, out, inputs, r->c->inputs, &report);
        double seconds = report.seconds_compute;
        r->fastest = i == 0 || seconds < r->fastest ? seconds : r->fastest;
        r->slowest = seconds > r->slowest ? seconds : r->slowest;
    }
    if (status == TW_OK) {
        status = tw_copy_rate(ctx, &after, r->threads);
    }
    r->copy = before > after ? before : after;
    r->method = report.method;
    r->isa = report.isa;
    return status;
}

static tw_status run_case(map_bench *b, map_result *r, tw_image *arrays)
{
    static const char *const one[] = {"x"};
    static const char *const three[] = {"a", "b", "c"};
    tw_context *ctx = b->job->ctx;
    const map_case *c = r->c;
    tw_expr_options expr_options = TW_EXPR_OPTIONS_INIT;
    tw_map_options opts = TW_MAP_OPTIONS_INIT;
    tw_map_plan_info info = TW_MAP_PLAN_INFO_INIT;
    tw_expr *expr = NULL;
    tw_map_plan *plan = NULL;
    tw_matrix views[4];
    tw_shape shapes[4];
    for (int32_t i = 0; i <= c->inputs; i++) {
        views[i] = *tw_image_plane(arrays, i);
        shapes[i] = (tw_shape){views[i].rows, views[i].cols, views[i].type};
    }
    tw_matrix *out = &views[c->inputs];
    expr_options.inputs = c->inputs == 1 ? one : three;
    expr_options.input_count = c->inputs;
    opts.repeat = c->repeat;
    opts.fast = c->fast;
    opts.type = c->type;
    opts.compute = c->type == TW_F64 ? TW_F64 : TW_F32;
    tw_status status = tw_set_threads(ctx, r->threads);
    if (status == TW_OK) {
        status = tw_expr_create(ctx, &expr, c->text, &expr_options);
    }
    if (status == TW_OK) {
        status = tw_map_plan_create(ctx, &plan, expr, shapes, c->inputs, &opts);
    }
    if (status == TW_OK) {
        status = tw_map_plan_describe(plan, &info);
        r->bytes = info.bytes;
    }
    if (status == TW_OK) {
        status = measure(b, r, plan, views, out);
    }
    if (status == TW_OK) {
        status = check(b, c, expr, &opts, views, out);
    }
    tw_map_plan_destroy(plan);
    tw_expr_destroy(expr);
    return status;
}

/* -------------------------------------------------------------------------------------- results */

static double elements_of(const map_result *r)
{
    return (double)r->side * (double)r->side;
}

static double rate_of(const map_result *r)
{
    return r->fastest > 0 ? r->bytes * elements_of(r) / r->fastest : 0;
}

static void print_row(const map_bench *b, const map_result *r)
{
    cli_progress_clear();
    if (b->done == 0) {
        cli_print("%-12s %7s %8s %10s %8s %11s %8s %10s %7s\n", "case", "side", "threads",
                  "seconds", "spread", "ns/element", "GB/s", "copy GB/s", "ratio");
    }
    cli_print("%-12s %7lld %8d %10.4g %6.1f %% %11.3f %8.2f %10.2f %5.1f %%\n", r->c->name,
              (long long)r->side, r->threads, r->fastest,
              100 * (r->slowest - r->fastest) / (r->fastest > 0 ? r->fastest : 1),
              1e9 * r->fastest / elements_of(r), rate_of(r) * 1e-9, r->copy * 1e-9,
              100 * rate_of(r) / r->copy);
    fflush(stdout);
}

static void print_json(const map_bench *b, tw_status status)
{
    tw_machine machine = TW_MACHINE_INIT;
    cli_report json;
    cli_report_begin(&json, stdout);
    cli_report_text(&json, "command", "bench map");
    cli_report_text(&json, "version", tw_version());
    if (tw_machine_describe(b->job->ctx, &machine) == TW_OK) {
        cli_report_text(&json, "processor", machine.processor);
        cli_report_integer(&json, "processors", machine.threads);
    }
    cli_report_number(&json, "load", b->wanted->load);
    cli_report_bool(&json, "complete", status == TW_OK);
    cli_report_integer(&json, "repeat", b->wanted->repeat);
    cli_report_array(&json, "cases");
    for (int i = 0; i < b->done; i++) {
        const map_result *r = &b->results[i];
        cli_report_object(&json, NULL);
        cli_report_text(&json, "case", r->c->name);
        cli_report_text(&json, "expression", r->c->text);
        cli_report_text(&json, "type", tw_type_name(r->c->type));
        cli_report_integer(&json, "passes", r->c->repeat);
        cli_report_bool(&json, "fast", r->c->fast != 0);
        cli_report_integer(&json, "side", r->side);
        cli_report_integer(&json, "threads", r->threads);
        cli_report_text(&json, "method", r->method);
        cli_report_text(&json, "isa", r->isa);
        cli_report_number(&json, "fastest", r->fastest);
        cli_report_number(&json, "slowest", r->slowest);
        cli_report_number(&json, "ns_per_element", 1e9 * r->fastest / elements_of(r));
        cli_report_number(&json, "bytes_per_element", r->bytes);
        cli_report_number(&json, "bytes_per_second", rate_of(r));
        cli_report_number(&json, "copy_bytes_per_second", r->copy);
        cli_report_number(&json, "ratio", rate_of(r) / r->copy);
        cli_report_integer(&json, "checked_elements", CHECKED);
        cli_report_end_object(&json);
    }
    cli_report_end_array(&json);
    cli_report_end(&json);
}

/* --------------------------------------------------------------------------------------- the run
 */

/* All numbers of threads on the same arrays. */
static tw_status run_threads(map_bench *b, const map_case *c, int64_t side)
{
    tw_context *ctx = b->job->ctx;
    tw_image *arrays = NULL;
    tw_status status = tw_image_create(ctx, &arrays);
    for (int32_t i = 0; i <= c->inputs && status == TW_OK; i++) {
        status = tw_image_add(ctx, arrays, side, side, c->type);
        if (status == TW_OK && i < c->inputs) {
            fill(tw_image_plane(arrays, i), (uint32_t)i + 1);
        }
    }
    for (int t = 0; t < b->wanted->thread_count && status == TW_OK; t++) {
        if (b->done == MOST_RESULTS) {
            break;
        }
        status = tw_set_threads(ctx, (int32_t)b->wanted->threads[t]);
        map_result *r = &b->results[b->done];
        *r = (map_result){.c = c, .side = side, .threads = tw_threads(ctx)};
        if (status == TW_OK && t > 0 && b->results[b->done - 1].threads == r->threads) {
            continue; /* "1 and all" is one case on a machine with one processor */
        }
        if (status == TW_OK) {
            status = run_case(b, r, arrays);
        }
        if (status == TW_OK && !b->wanted->json) {
            print_row(b, r);
        }
        b->done += status == TW_OK;
    }
    tw_image_destroy(arrays);
    return status;
}

tw_status cli_bench_map(cli_job *job, const cli_map_bench *wanted)
{
    map_bench b = {.job = job, .wanted = wanted};
    tw_status status = TW_OK;
    for (int s = 0; s < wanted->side_count && status == TW_OK; s++) {
        for (int c = 0; c < CASES && status == TW_OK; c++) {
            status = run_threads(&b, &cases[c], wanted->sides[s]);
        }
    }
    if (wanted->json) { /* what is done is told, whatever ended the series */
        print_json(&b, status);
    }
    return status;
}
