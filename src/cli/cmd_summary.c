/* tilewright summary: what a matrix of distances says about its graph. */
#include "commands.h"
#include "files.h"
#include "frame/job.h"
#include "statistics.h"

#include <string.h>

typedef struct settings {
    cli_common common;
    tw_type type;
    const char *format;
    int64_t histogram;
    const char *eccentricity;
    const char *closeness;
    const char *closeness_as;
} settings;

static const settings defaults = {
    .common = CLI_COMMON_INIT, .type = TW_AUTO, .histogram = 0, .closeness_as = "networkx"};

static const cli_option own_options[] = {
    {"type", 0, CLI_TYPE, "TYPE", offsetof(settings, type), 0,
     "The type of a raw file, which does not say: u8, u16, i32 (the default), f32 or f64."},
    {"in-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, format), 0,
     "raw, npy or csv; by default the extension decides, and raw is taken for an unknown one."},
    {0}};

static const cli_option result_options[] = {
    {"histogram", 0, CLI_OPTIONAL_COUNT, "BINS", offsetof(settings, histogram), 20,
     "Also count the distances in BINS equal bins, 20 if no number is given."},
    {"eccentricity", 0, CLI_TEXT, "FILE", offsetof(settings, eccentricity), 0,
     "Write the largest distance of each row to FILE (.csv: one a line; .npy: one column)."},
    {"closeness", 0, CLI_TEXT, "FILE", offsetof(settings, closeness), 0,
     "Write the closeness centrality of each row to FILE, likewise."},
    {"closeness-as", 0, CLI_TEXT, "NAME", offsetof(settings, closeness_as), 0,
     "How closeness is scaled, from r vertices reached and the sum s of their distances: networkx, "
     "the default, is r/s * r/(n-1), 0 if nothing is reached; igraph is r/s, nan likewise."},
    {0}};

static const cli_group groups[] = {{"Input", own_options},
                                   {"Results", result_options},
                                   {"Resources", cli_resource_options},
                                   {"What it says", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"DIST", "A matrix of distances as 'tilewright apsp' writes it."}, {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright summary distances.npy", "diameter, radius, mean and the rest"},
    {"tilewright summary answer --type i32 --histogram=10",
     "a raw file of int32, with a histogram of ten bins"},
    {"tilewright summary distances.npy --closeness closeness.csv", "one number for each vertex"},
    {NULL, NULL}};

/* One number a row, as a matrix of one column. */
static tw_status write_column(tw_context *ctx, const double *values, int64_t rows, const char *path)
{
    tw_sink sink = TW_SINK_INIT;
    tw_matrix column = {(void *)values, rows, 1, 1, TW_F64};
    tw_status status = tw_sink_to_file(ctx, &sink, path, NULL);
    if (status == TW_OK) {
        status = tw_feed(ctx, &column, &sink, 1);
    }
    tw_sink_destroy(&sink);
    return status;
}

static tw_status scale_closeness(tw_context *ctx, tw_apsp_summary *summary, const char *name)
{
    bool igraph = strcmp(name, "igraph") == 0;
    if (!igraph && strcmp(name, "networkx") != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown --closeness-as '%s'; use networkx or igraph",
                       name);
    }
    return tw_apsp_summary_set_closeness(
        ctx, summary, igraph ? TW_APSP_CLOSENESS_IGRAPH : TW_APSP_CLOSENESS_NETWORKX);
}

static tw_status summarise(cli_job *job, const settings *s, const tw_source *source,
                           tw_apsp_summary *summary, const char *path)
{
    const int64_t rows = source->shape.rows;
    tw_apsp_summary_info info = TW_APSP_SUMMARY_INFO_INIT;
    tw_sink sink = TW_SINK_INIT;
    tw_status status = tw_apsp_summary_sink(summary, &sink);
    if (status == TW_OK) {
        status = tw_feed_source(job->ctx, source, &sink, 1);
    }
    tw_sink_destroy(&sink);
    if (status == TW_OK) {
        status = tw_apsp_summary_describe(summary, &info);
    }
    if (status == TW_OK && s->eccentricity != NULL) {
        status =
            write_column(job->ctx, tw_apsp_summary_eccentricity(summary), rows, s->eccentricity);
    }
    if (status == TW_OK && s->closeness != NULL) {
        status = write_column(job->ctx, tw_apsp_summary_closeness(summary), rows, s->closeness);
    }
    if (status == TW_OK && s->common.json) {
        cli_report json;
        cli_report_begin(&json, stdout);
        cli_report_text(&json, "command", "summary");
        cli_report_text(&json, "input", path);
        cli_statistics_report(&json, summary, &info, NULL);
        cli_report_number(&json, "seconds", cli_seconds() - job->started);
        cli_report_end(&json);
    } else if (status == TW_OK) {
        cli_statistics_print(summary, &info, NULL);
    }
    return status;
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    tw_source source = TW_SOURCE_INIT;
    tw_apsp_summary *summary = NULL;
    (void)count;
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK) {
        const cli_file input = {"DIST", words[0]};
        const cli_file outputs[] = {{"--eccentricity", s->eccentricity},
                                    {"--closeness", s->closeness}};
        status = cli_check_files(job->ctx, &input, 1, outputs, 2);
    }
    if (status == TW_OK && s->histogram > INT32_MAX) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT, "--histogram=%lld is too many bins",
                         (long long)s->histogram);
    }
    if (status == TW_OK) {
        status = tw_matrix_source(job->ctx, &source, words[0], s->format,
                                  s->type != TW_AUTO ? s->type : TW_I32);
    }
    if (status == TW_OK) {
        status = tw_apsp_summary_create(job->ctx, &summary, (int32_t)s->histogram, NULL, NULL);
    }
    if (status == TW_OK) {
        status = scale_closeness(job->ctx, summary, s->closeness_as);
    }
    if (status == TW_OK) {
        status = summarise(job, s, &source, summary, words[0]);
    }
    tw_apsp_summary_destroy(summary);
    tw_source_destroy(&source);
    return status;
}

const cli_command cli_summary = {
    .name = "summary",
    .usage = "DIST",
    .summary = "diameter, radius, mean, closeness ... of a matrix of distances",
    .text = "Reads a matrix of distances and prints what it says about the graph: how many pairs "
            "are connected, the diameter (the largest distance) and the pair that has it, the "
            "radius (the least eccentricity) and the centre that has it, and the mean. Pairs of a "
            "vertex with itself are not counted.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 1,
    .most = 1,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};
