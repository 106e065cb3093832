/* What 'tilewright apsp' says about a run: news on standard error, and the --json report. */
#include "cli/graph/apsp_run.h"
#include "cli/graph/names.h"
#include "cli/graph/statistics.h"
#include "cli/shared/files.h"
#include "frame/report.h"

#include <string.h>

#define LONG_RUN 3600.0 /* seconds: worth a word on how to do less */

static double rate_of(const tw_apsp_report *report)
{
    return report->seconds_compute > 0 ? report->relaxations / report->seconds_compute : 0;
}

void apsp_announce(const apsp_run *run)
{
    const tw_graph_info *about = &run->about;
    char memory[CLI_SHOWN], seconds[CLI_SHOWN], low[CLI_SHOWN], high[CLI_SHOWN];
    /* A file may hold an undirected graph as arcs both ways: "directed" would be wrong of it. */
    cli_say(run->job, "graph: %lld %s, %lld arc%s%s, weights %s to %s (%s)",
            (long long)about->vertices, about->vertices == 1 ? "vertex" : "vertices",
            (long long)about->arcs, about->arcs == 1 ? "" : "s",
            about->undirected ? ", undirected" : "", cli_show_value(low, about->min_weight),
            cli_show_value(high, about->max_weight), tw_type_name(about->weight_type));
    if (run->settings->explain) {
        const char *text = tw_apsp_plan_explain(run->plan);
        size_t length = strlen(text);
        bool ended = length > 0 && text[length - 1] == '\n';
        cli_say(run->job, "%.*s", (int)(ended ? length - 1 : length), text);
    }
    tw_apsp_method method = run->planned.method;
    const char *work = tw_type_name(run->planned.work_type);
    bool closure = method == TW_APSP_METHOD_CLOSURE;
    char there[CLI_SHOWN + 16] = "";
    if (run->planned.device_memory > 0) {
        bool several = strchr(run->planned.device, ',') != NULL;
        snprintf(there, sizeof there, ", %s on %s GPU",
                 cli_show_bytes(memory, (double)run->planned.device_memory),
                 several ? "each" : "the");
    }
    /* Reading and planning may have taken more than the run will. */
    const uint64_t before = run->memory_before;
    const uint64_t most = before > run->planned.memory ? before : run->planned.memory;
    cli_say(run->job,
            "plan: %s%s%s on %s, distances in %s, %d thread%s, %s of memory%s, about %s%s",
            tw_apsp_method_name(method), closure ? " in " : "", closure ? work : "",
            run->planned.device, tw_type_name(run->planned.type), run->planned.threads,
            run->planned.threads == 1 ? "" : "s", cli_show_bytes(memory, (double)most), there,
            cli_show_seconds(seconds, run->planned.seconds),
            run->settings->predecessors != NULL ? " without the predecessors" : "");
    const bool swept = method == TW_APSP_METHOD_SWEEP;
    if ((cli_given(run->job->parsed, "block") && !closure) ||
        (cli_given(run->job->parsed, "work-type") && !closure && !swept)) {
        cli_say(run->job, "--%s has no effect with %s; --method closure uses it",
                cli_given(run->job->parsed, "block") ? "block" : "work-type",
                tw_apsp_method_name(method));
    }
    if (run->planned.seconds > LONG_RUN) {
        cli_say(run->job,
                "this will take a while: --sources LIST computes only the rows you need, --cutoff "
                "D stops searches at D%s; --explain shows how the time was estimated",
                cli_has_gpu_code() ? ", --device cuda uses a GPU" : "");
    }
}

/* Seconds of the sinks without the verifier, which is one of them. */
static double output_seconds(const apsp_run *run)
{
    double rest = run->report.seconds_output - run->verifier_sink.seconds;
    return rest > 0 ? rest : 0;
}

/* The rate counts n^3 steps, whatever was left out as symmetric or empty: beyond the ceiling it
 * says how much that was, at the very least. */
static void say_rate(const apsp_run *run, char *out, size_t size)
{
    char rate[CLI_SHOWN];
    const double ratio = run->ceiling > 0 ? rate_of(&run->report) / run->ceiling : 0;
    char share[96] = "";
    if (ratio > 1) {
        snprintf(share, sizeof share, " counting n^3, of which at least %.0f %% was skipped",
                 100 * (1 - 1 / ratio));
    } else if (ratio > 0) {
        snprintf(share, sizeof share, ", %.0f %% of what this machine can do", 100 * ratio);
    }
    snprintf(out, size, "%s relaxations/s%s", cli_show_scaled(rate, rate_of(&run->report)), share);
}

/* A sweep is chosen for the steps that it saves, not for its rate. */
static void say_saved(const apsp_run *run, char *out, size_t size)
{
    const double n = (double)run->about.vertices;
    const double share = run->report.relaxations / (n * n * n);
    const bool all = run->sources.list == NULL && run->targets.list == NULL;
    char steps[CLI_SHOWN], cube[CLI_SHOWN], saved[96] = "";
    if (all && share < 0.995) {
        snprintf(saved, sizeof saved, ", %s%.2g %% of the %s (n^3) of Floyd-Warshall",
                 share < 1e-4 ? "less than " : "", share < 1e-4 ? 0.01 : 100 * share,
                 cli_show_scaled(cube, n * n * n));
    }
    snprintf(out, size, "%s relaxations%s", cli_show_scaled(steps, run->report.relaxations), saved);
}

/* Arcs are scanned for many sources at once, so that their number would say little. */
static void say_pairs(const apsp_run *run, char *out, size_t size)
{
    const double n = (double)run->about.vertices;
    const double rows = run->sources.list != NULL ? (double)run->sources.count : n;
    const double cols = run->targets.list != NULL ? (double)run->targets.count : n;
    const double seconds = run->report.seconds_compute;
    char rate[CLI_SHOWN];
    snprintf(out, size, "%s pairs/s",
             cli_show_scaled(rate, seconds > 0 ? rows * cols / seconds : 0));
}

static void say_work(const apsp_run *run, char *out, size_t size)
{
    const tw_apsp_method method = run->report.method;
    if (method == TW_APSP_METHOD_SWEEP) {
        say_saved(run, out, size);
    } else if (method == TW_APSP_METHOD_DIJKSTRA || method == TW_APSP_METHOD_BFS) {
        say_pairs(run, out, size);
    } else {
        say_rate(run, out, size);
    }
}

void apsp_conclude(const apsp_run *run)
{
    const tw_apsp_report *report = &run->report;
    char total[CLI_SHOWN], read[CLI_SHOWN], compute[CLI_SHOWN], output[CLI_SHOWN];
    char work[160];
    if (run->verifier != NULL) {
        cli_say(run->job,
                run->verified_rows == 1
                    ? "verified: %lld row agrees with an independent search (%s)"
                    : "verified: %lld rows agree with an independent search (%s)",
                (long long)run->verified_rows, cli_show_seconds(total, run->verifier_sink.seconds));
    }
    say_work(run, work, sizeof work);
    cli_say(run->job, "done in %s (read %s, compute %s, output %s): %s",
            cli_show_seconds(total, run->seconds_total), cli_show_seconds(read, run->seconds_read),
            cli_show_seconds(compute, report->seconds_compute),
            cli_show_seconds(output, output_seconds(run)), work);
}

/* ----------------------------------------------------------------------------------------- JSON */

static void report_graph(cli_report *json, const apsp_run *run)
{
    const tw_graph_info *about = &run->about;
    cli_report_object(json, "graph");
    cli_report_text(json, "input", run->input);
    if (run->graph != NULL) {
        cli_report_integer(json, "vertices", about->vertices);
        cli_report_integer(json, "arcs", about->arcs);
        cli_report_bool(json, "undirected", about->undirected != 0);
        cli_report_text(json, "weight_type", tw_type_name(about->weight_type));
        cli_report_number(json, "min_weight", about->min_weight);
        cli_report_number(json, "max_weight", about->max_weight);
    }
    cli_report_end_object(json);
}

static void begin_report(cli_report *json, const apsp_run *run)
{
    cli_report_begin(json, cli_report_file(run->job));
    cli_report_text(json, "command", "apsp");
    cli_report_text(json, "version", tw_version());
    report_graph(json, run);
}

/* Copies that go on beside the closure, or are part of it, have no seconds of their own. */
static void report_copies(cli_report *json, const char *key, const apsp_run *run, double seconds)
{
    bool on_gpu = run->report.device[0] != '\0' && strcmp(run->report.device, "cpu") != 0;
    if (on_gpu && !run->report.resident && run->report.method != TW_APSP_METHOD_SWEEP) {
        cli_report_null(json, key);
    } else {
        cli_report_number(json, key, seconds);
    }
}

static void report_seconds(cli_report *json, const apsp_run *run)
{
    cli_report_object(json, "seconds");
    cli_report_number(json, "read", run->seconds_read);
    cli_report_number(json, "startup", run->report.seconds_startup);
    cli_report_number(json, "wait", run->report.seconds_wait);
    cli_report_number(json, "plan", run->seconds_plan - run->report.seconds_wait);
    report_copies(json, "upload", run, run->report.seconds_upload);
    cli_report_number(json, "compute", run->report.seconds_compute);
    cli_report_number(json, "device", run->report.seconds_device);
    report_copies(json, "download", run, run->report.seconds_download);
    cli_report_number(json, "output", output_seconds(run));
    cli_report_number(json, "verify", run->verifier_sink.seconds);
    cli_report_number(json, "total", run->seconds_total);
    cli_report_end_object(json);
}

static void report_planned(cli_report *json, const apsp_run *run)
{
    cli_report_text(json, "order", run->planned.order[0] != '\0' ? run->planned.order : NULL);
    cli_report_integer(json, "memory_before", (int64_t)run->memory_before);
    cli_report_integer(json, "memory_planned", (int64_t)run->planned.memory);
    cli_report_integer(json, "device_memory_planned", (int64_t)run->planned.device_memory);
    cli_report_number(json, "seconds_estimated", run->planned.seconds);
}

/* A failed verification may end the run before tw_apsp_report is filled in, so what the plan knows
 * is taken from the plan. */
void apsp_report_run(const apsp_run *run, tw_status status)
{
    const tw_apsp_report *report = &run->report;
    bool ran = report->method != TW_APSP_METHOD_AUTO;
    cli_report json;
    begin_report(&json, run);
    cli_report_text(&json, "method",
                    tw_apsp_method_name(ran ? report->method : run->planned.method));
    cli_report_text(&json, "working_type",
                    tw_type_name(ran ? report->work_type : run->planned.work_type));
    cli_report_text(&json, "type", tw_type_name(run->planned.type));
    cli_report_text(&json, "device", ran ? report->device : run->planned.device);
    cli_report_text(&json, "fallback", report->fallback[0] != '\0' ? report->fallback : NULL);
    cli_report_bool(&json, "resident", report->resident != 0);
    cli_report_text(&json, "isa", report->isa);
    cli_report_integer(&json, "threads", ran ? report->threads : run->planned.threads);
    cli_report_integer(&json, "block", report->block);
    cli_report_bool(&json, "symmetric", report->symmetric != 0);
    cli_report_integer(&json, "attempts", report->attempts);
    report_seconds(&json, run);
    cli_report_number(&json, "relaxations", report->relaxations);
    cli_report_number(&json, "rate", rate_of(report));
    if (run->ceiling > 0) {
        cli_report_number(&json, "ceiling", run->ceiling);
        cli_report_number(&json, "ratio", rate_of(report) / run->ceiling);
    } else {
        cli_report_null(&json, "ceiling");
        cli_report_null(&json, "ratio");
    }
    report_planned(&json, run);
    cli_report_integer(&json, "memory_peak",
                       (int64_t)(ran ? report->memory_peak : tw_memory_peak(run->job->ctx)));
    cli_report_integer(&json, "peak_rss", (int64_t)cli_peak_rss());
    if (run->verifier != NULL) {
        cli_report_bool(&json, "verified", status == TW_OK);
    } else {
        cli_report_null(&json, "verified");
    }
    cli_report_integer(&json, "verified_rows", run->verified_rows);
    if (status != TW_OK) {
        cli_report_text(&json, "error", tw_last_error(run->job->ctx));
    }
    cli_report_text(&json, "output", run->output);
    cli_report_text(&json, "predecessors", run->settings->predecessors);
    if (run->answering.summary != NULL && status == TW_OK) {
        cli_naming naming = {run->graph, run->sources.list, run->targets.list};
        cli_statistics_report(&json, run->answering.summary, &run->answering.about, &naming);
    }
    cli_report_end(&json);
}

void apsp_report_plan(const apsp_run *run)
{
    cli_report json;
    begin_report(&json, run);
    cli_report_text(&json, "method", tw_apsp_method_name(run->planned.method));
    cli_report_text(&json, "working_type", tw_type_name(run->planned.work_type));
    cli_report_text(&json, "type", tw_type_name(run->planned.type));
    cli_report_text(&json, "device", run->planned.device);
    cli_report_integer(&json, "threads", run->planned.threads);
    report_planned(&json, run);
    cli_report_text(&json, "explanation", tw_apsp_plan_explain(run->plan));
    cli_report_end(&json);
}

void apsp_report_cycle(const apsp_run *run)
{
    const int32_t *vertices = NULL;
    int64_t count = tw_apsp_negative_cycle(run->job->ctx, &vertices);
    cli_report json;
    begin_report(&json, run);
    cli_report_array(&json, "negative_cycle");
    for (int64_t i = 0; i < count; i++) {
        cli_report_vertex(&json, NULL, run->graph, vertices[i]);
    }
    cli_report_end_array(&json);
    cli_report_end(&json);
}
