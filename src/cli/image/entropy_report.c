/* What is said about a run of tilewright entropy: a summary, a report as JSON, a line of news. */
#include "cli/image/batch.h"
#include "cli/image/ending.h"
#include "cli/image/entropy_run.h"
#include "cli/shared/files.h"
#include "frame/progress.h"
#include "frame/report.h"

#include <stdlib.h>

static cli_ending ending_of(const entropy_run *run)
{
    return (cli_ending){.read = run->seconds_read,
                        .compute = run->seconds_compute,
                        .output = run->seconds_output,
                        .elements = (double)(run->seen.count + run->seen.empty),
                        .method = run->report.method,
                        .where = run->report.isa};
}

static void print_summary(const entropy_run *run)
{
    const cli_tally *seen = &run->seen;
    cli_print("planes    %lld\n", (long long)run->planes);
    cli_print("rows      %lld\n", (long long)run->report.rows);
    cli_print("columns   %lld\n", (long long)run->report.cols);
    if (seen->count > 0) {
        cli_print("minimum   %.6f\n", seen->least);
        cli_print("mean      %.6f\n", cli_tally_mean(seen));
        cli_print("maximum   %.6f\n", seen->most);
    }
    if (seen->empty > 0) {
        cli_print("empty     %lld\n", (long long)seen->empty);
    }
    fflush(stdout);
}

tw_status entropy_explain(const entropy_run *run, FILE *file)
{
    tw_entropy_plan_info info = TW_ENTROPY_PLAN_INFO_INIT;
    char shown[CLI_SHOWN], seconds[CLI_SHOWN];
    double rate = 0;
    tw_status status = tw_entropy_plan_rate(run->job->ctx, run->plan, &rate);
    if (status == TW_OK) {
        status = tw_entropy_plan_describe(run->plan, &info);
    }
    if (status != TW_OK) {
        return status;
    }
    const double elements = (double)info.shape.rows * (double)info.shape.cols;
    char *all = NULL;
    if (asprintf(&all,
                 "%ssource    %s\n"
                 "expected  %s elements/s, %s for all of them; measured on a small sample\n",
                 tw_entropy_plan_explain(run->plan),
                 run->in.image == NULL ? "read in bands of rows" : "read in place",
                 cli_show_scaled(shown, rate), cli_show_seconds(seconds, elements / rate)) < 0) {
        return tw_fail(run->job->ctx, TW_ERR_MEMORY, "not enough memory for an explanation");
    }
    cli_progress_clear();
    if (run->only_explained && run->s->common.json) {
        cli_report json;
        cli_report_begin(&json, file);
        cli_report_text(&json, "command", "entropy");
        cli_report_text(&json, "version", tw_version());
        cli_report_text(&json, "input", run->input);
        cli_report_text(&json, "explanation", all);
        cli_report_end(&json);
    } else {
        fprintf(file, "%s%s%s", run->s->out_dir != NULL ? run->input : "",
                run->s->out_dir != NULL ? ":\n" : "", all);
    }
    fflush(file);
    free(all);
    return TW_OK;
}

static void print_json(const entropy_run *run)
{
    const tw_entropy_report *report = &run->report;
    const cli_ending ending = ending_of(run);
    cli_report json;
    cli_file_report_begin(run->job, &json);
    cli_report_text(&json, "command", "entropy");
    cli_report_text(&json, "version", tw_version());
    cli_report_text(&json, "input", run->input);
    cli_report_integer(&json, "planes", run->planes);
    cli_report_integer(&json, "rows", report->rows);
    cli_report_integer(&json, "cols", report->cols);
    cli_report_integer(&json, "window", report->window);
    cli_report_integer(&json, "levels", run->opts.levels);
    cli_report_text(&json, "border", tw_entropy_border_name(run->opts.border));
    cli_report_text(&json, "base", run->s->base);
    cli_report_text(&json, "type", tw_type_name(run->s->type));
    cli_report_text(&json, "method", report->method);
    cli_report_text(&json, "device", "cpu");
    cli_report_text(&json, "isa", report->isa);
    cli_report_integer(&json, "threads", report->threads);
    cli_report_object(&json, "seconds");
    cli_report_number(&json, "read", run->seconds_read);
    cli_report_number(&json, "compute", run->seconds_compute);
    cli_report_number(&json, "verify", run->seconds_verify);
    cli_report_number(&json, "output", run->seconds_output);
    cli_report_number(&json, "total", cli_seconds() - run->job->started);
    cli_report_end_object(&json);
    cli_report_number(&json, "rate", cli_ending_rate(&ending));
    cli_ending_report(&json, &run->seen);
    cli_report_integer(&json, "empty", run->seen.empty);
    if (run->s->verify >= 0) {
        cli_report_integer(&json, "verified", run->verified);
    }
    cli_report_integer(&json, "block", report->block);
    cli_report_bool(&json, "streamed", run->in.image == NULL);
    cli_report_integer(&json, "peak_rss", (int64_t)cli_peak_rss());
    cli_report_text(&json, "output", run->output);
    cli_file_report_end(run->job, &json);
}

void entropy_conclude(const entropy_run *run)
{
    const cli_ending ending = ending_of(run);
    if (run->s->common.json) {
        print_json(run);
    } else if (run->output == NULL) {
        print_summary(run);
    }
    if (run->s->verify >= 0) {
        cli_say(run->job,
                run->verified == 1 ? "verified: %lld element matches the definition"
                                   : "verified: %lld elements match the definition",
                (long long)run->verified);
    }
    cli_ending_say(run->job, &ending);
}
