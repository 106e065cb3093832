/* What 'tilewright map' says about a run: statistics, explanation, the --json report. */
#include "cli/image/batch.h"
#include "cli/image/ending.h"
#include "cli/image/map_run.h"
#include "cli/shared/files.h"
#include "frame/progress.h"
#include "frame/report.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------- explanation */

/* "memory      67.1 MB: blocks of 4096 rows of the result and of the inputs". */
static tw_status say_memory(map_run *run, const tw_map_plan *plan, const tw_source *sources,
                            char *out, size_t size)
{
    int64_t rows = 0;
    uint64_t bytes = 0;
    char shown[CLI_SHOWN];
    tw_status status = tw_map_plan_block(run->job->ctx, plan, sources, &rows, &bytes);
    int32_t streamed = 0;
    for (int32_t i = 0; i < run->input_count; i++) {
        streamed += sources[i].rows != NULL;
    }
    snprintf(out, size, "memory      %s: blocks of %lld row%s of the result%s",
             cli_show_bytes(shown, (double)bytes), (long long)rows, rows == 1 ? "" : "s",
             streamed == 0                  ? ", besides the inputs"
             : streamed == run->input_count ? " and of the inputs"
                                            : " and of some inputs, besides the others");
    return status;
}

/* The rate of a copy, and what the map would take at it; nothing for a GPU, whose memory is not
 * this one. */
static tw_status say_floor(map_run *run, const tw_map_plan *plan, char *out, size_t size)
{
    tw_context *ctx = run->job->ctx;
    tw_map_plan_info info = TW_MAP_PLAN_INFO_INIT;
    double rate = 0;
    char bytes[CLI_SHOWN], seconds[CLI_SHOWN];
    out[0] = '\0';
    tw_status status = tw_map_plan_describe(plan, &info);
    if (status != TW_OK || strcmp(info.method, "gpu") == 0) {
        return status;
    }
    status = tw_copy_rate(ctx, &rate, 0);
    if (status == TW_ERR_MEMORY) {
        snprintf(out, size, "\ncopying     not measured: that takes more than --memory allows");
        return TW_OK;
    }
    const double elements = (double)info.shape.rows * (double)info.shape.cols;
    snprintf(out, size,
             "\ncopying     %s/s here on %d thread%s; at that rate this map would take %s",
             cli_show_bytes(bytes, rate), tw_threads(ctx), tw_threads(ctx) == 1 ? "" : "s",
             cli_show_seconds(seconds, rate > 0 ? info.bytes * elements / rate : 0));
    return status;
}

tw_status map_explain(map_run *run, const tw_map_plan *plan, const tw_source sources[MAP_INPUTS],
                      bool alone)
{
    char memory[192], floor[192];
    tw_status status = say_memory(run, plan, sources, memory, sizeof memory);
    if (status == TW_OK) {
        status = say_floor(run, plan, floor, sizeof floor);
    }
    if (status == TW_OK && alone && run->s->common.json) {
        char *all = NULL;
        if (asprintf(&all, "%s%s%s\n", tw_map_plan_explain(plan), memory, floor) < 0) {
            return tw_fail(run->job->ctx, TW_ERR_MEMORY, "not enough memory for an explanation");
        }
        cli_report json;
        cli_report_begin(&json, cli_report_file(run->job));
        cli_report_text(&json, "command", "map");
        cli_report_text(&json, "version", tw_version());
        cli_report_text(&json, "expression", run->text);
        cli_report_text(&json, "explanation", all);
        cli_report_end(&json);
        free(all);
    } else if (status == TW_OK) {
        FILE *file = alone ? stdout : stderr;
        cli_progress_clear();
        if (run->s->out_dir != NULL) {
            fprintf(file, "%s:\n", run->inputs[0].word);
        }
        fprintf(file, "%s%s%s\n", tw_map_plan_explain(plan), memory, floor);
    }
    return status;
}

/* ------------------------------------------------------------------------------------- the end */

/* The instruction set, or the GPU that was asked for. */
static const char *where_of(const map_run *run)
{
    bool cpu = run->report.isa[0] != '\0' || run->s->common.device == NULL;
    return cpu ? run->report.isa : run->s->common.device;
}

static cli_ending ending_of(const map_run *run)
{
    const tw_shape *shape = &run->plan.shape;
    return (cli_ending){.read = run->seconds_read,
                        .compute = run->seconds_compute,
                        .output = run->seconds_output,
                        .elements = (double)run->planes * (double)shape->rows * (double)shape->cols,
                        .method = run->report.method,
                        .where = where_of(run)};
}

static void print_summary(const map_run *run)
{
    const cli_tally *seen = &run->seen;
    if (run->planes > 1) {
        cli_print("planes    %lld\n", (long long)run->planes);
    }
    cli_print("rows      %lld\n", (long long)run->plan.shape.rows);
    cli_print("columns   %lld\n", (long long)run->plan.shape.cols);
    cli_print("type      %s\n", tw_type_name(run->plan.shape.type));
    if (seen->count > 0) {
        cli_print("minimum   %.9g\n", seen->least);
        cli_print("mean      %.9g\n", cli_tally_mean(seen));
        cli_print("maximum   %.9g\n", seen->most);
    }
    if (seen->empty > 0) {
        cli_print("no data   %lld\n", (long long)seen->empty);
    }
    fflush(stdout);
}

static void print_json(const map_run *run)
{
    const tw_map_report *report = &run->report;
    const cli_ending ending = ending_of(run);
    cli_report json;
    cli_file_report_begin(run->job, &json);
    cli_report_text(&json, "command", "map");
    cli_report_text(&json, "version", tw_version());
    cli_report_text(&json, "expression", run->text);
    cli_report_object(&json, "inputs");
    for (int32_t i = 0; i < run->input_count; i++) {
        cli_report_text(&json, run->inputs[i].name, run->inputs[i].word);
    }
    cli_report_end_object(&json);
    cli_report_integer(&json, "planes", run->planes);
    cli_report_integer(&json, "rows", run->plan.shape.rows);
    cli_report_integer(&json, "cols", run->plan.shape.cols);
    cli_report_text(&json, "type", tw_type_name(run->plan.shape.type));
    cli_report_text(&json, "compute", tw_type_name(run->plan.compute));
    cli_report_integer(&json, "repeat", run->opts.repeat);
    cli_report_bool(&json, "fast", run->opts.fast != 0);
    cli_report_text(&json, "method", report->method);
    cli_report_integer(&json, "row_period", run->plan.row_period);
    cli_report_integer(&json, "col_period", run->plan.col_period);
    cli_report_number(&json, "bytes_per_element", run->plan.bytes);
    cli_report_number(&json, "operations_per_element", run->plan.operations);
    cli_report_text(&json, "device", report->isa[0] != '\0' ? "cpu" : where_of(run));
    cli_report_text(&json, "isa", report->isa);
    cli_report_integer(&json, "threads", report->threads);
    cli_report_object(&json, "seconds");
    cli_report_number(&json, "read", run->seconds_read);
    cli_report_number(&json, "plan", run->seconds_plan);
    cli_report_number(&json, "compute", run->seconds_compute);
    cli_report_number(&json, "verify", run->seconds_verify);
    cli_report_number(&json, "output", run->seconds_output);
    cli_report_number(&json, "total", cli_seconds() - run->job->started);
    cli_report_end_object(&json);
    cli_report_number(&json, "rate", cli_ending_rate(&ending));
    cli_ending_report(&json, &run->seen);
    cli_report_integer(&json, "no_data", run->seen.empty);
    cli_report_integer(&json, "became_no_data", run->became_no_data);
    cli_report_bool(&json, "verified", run->s->verify >= 0);
    cli_report_integer(&json, "checked", run->checked);
    cli_report_integer(&json, "peak_rss", (int64_t)cli_peak_rss());
    cli_report_text(&json, "output", run->output);
    cli_file_report_end(run->job, &json);
}

static void say_no_data(const map_run *run)
{
    const tw_type type = run->plan.shape.type;
    const bool real = type == TW_F32 || type == TW_F64;
    char value[CLI_SHOWN];
    if (run->became_no_data > 0) {
        cli_say(run->job,
                "%lld element%s with data in every input became no data: there the result is %s%s; "
                "choose another value with --no-data, or another --out-type",
                (long long)run->became_no_data, run->became_no_data == 1 ? "" : "s",
                cli_show_value(value, run->no_data), real ? "" : ", or NaN");
    }
}

void map_conclude(const map_run *run)
{
    const cli_ending ending = ending_of(run);
    if (run->s->common.json) {
        print_json(run);
    } else if (run->output == NULL) {
        print_summary(run);
    }
    if (run->s->verify >= 0) {
        cli_say(run->job,
                run->checked == 1 ? "verified: %lld element lies within its bounds"
                                  : "verified: %lld elements lie within their bounds",
                (long long)run->checked);
    }
    say_no_data(run);
    cli_ending_say(run->job, &ending);
}
