/* Answers about distances: see answers.h. */
#include "cli/graph/answers.h"

#include "cli/graph/names.h"
#include "cli/graph/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLOT_BINS 20    /* of a picture, unless --histogram says how many */
#define MOST_BINS 32768 /* that tw_apsp_summary_create takes */

/* Of the memory of the library, in bytes. */
#define SUMMARY_ROW 40      /* five numbers for each row */
#define LIST_ENTRY 12       /* a vertex and its distance */
#define HISTOGRAM (1 << 20) /* the cells that a thread counts in */

bool cli_answers_any(const cli_answers *asked)
{
    cli_file files[CLI_ANSWER_FILES];
    bool any = asked->histogram > 0;
    cli_answers_files(asked, files);
    for (int i = 0; i < CLI_ANSWER_FILES; i++) {
        any = any || files[i].path != NULL;
    }
    return any;
}

static int64_t bins_of(const cli_answers *asked)
{
    return asked->histogram > 0 ? asked->histogram : asked->plot != NULL ? PLOT_BINS : 0;
}

/* Whether a summary has answers to give. */
static bool wants_summary(const cli_answers *asked)
{
    return bins_of(asked) > 0 || asked->eccentricity != NULL || asked->closeness != NULL ||
           asked->harmonic != NULL || asked->sum != NULL || asked->reached != NULL;
}

/* Bytes of the lists of nearest and farthest vertices of a row, which have no more entries than it
 * has columns. */
static uint64_t list_bytes(const cli_answers *asked, int64_t cols)
{
    const uint64_t count = (uint64_t)(asked->count < cols ? asked->count : cols);
    return ((asked->nearest != NULL) + (asked->farthest != NULL)) * count * LIST_ENTRY;
}

uint64_t cli_answers_memory(tw_context *ctx, const cli_answers *asked, bool summary, int64_t rows,
                            int64_t cols)
{
    const uint64_t each = summary || wants_summary(asked) ? SUMMARY_ROW : 0;
    const uint64_t of_row = each + list_bytes(asked, cols); /* there are fewer than 2^31 columns */
    const uint64_t tables = bins_of(asked) > 0 ? (uint64_t)tw_threads(ctx) * HISTOGRAM : 0;
    const uint64_t most = (uint64_t)1 << 60; /* more than any machine has */
    return rows > 0 && of_row > most / (uint64_t)rows ? most : (uint64_t)rows * of_row + tables;
}

tw_status cli_answers_advise(tw_context *ctx, const cli_answers *asked, int64_t rows, int64_t cols,
                             tw_status status)
{
    static const char last[] = ", or use a machine with more memory";
    char sentence[640];
    const double lists = (double)rows * (double)list_bytes(asked, cols);
    if (status != TW_ERR_MEMORY || lists < (double)tw_memory_limit(ctx) / 2) {
        return status;
    }
    snprintf(sentence, sizeof sentence, "%s", tw_last_error(ctx));
    char *end = strstr(sentence, last);
    if (end != NULL) {
        *end = '\0';
    }
    return tw_fail(ctx, status, "%s, use a smaller --count%s", sentence, end != NULL ? last : "");
}

bool cli_answers_are_folds(const cli_answers *asked)
{
    return asked->histogram == 0 && asked->plot == NULL && asked->harmonic == NULL &&
           asked->nearest == NULL && asked->farthest == NULL;
}

void cli_answers_files(const cli_answers *asked, cli_file out[CLI_ANSWER_FILES])
{
    const cli_file files[CLI_ANSWER_FILES] = {
        {"--eccentricity", asked->eccentricity}, {"--closeness", asked->closeness},
        {"--harmonic", asked->harmonic},         {"--sum", asked->sum},
        {"--reached", asked->reached},           {"--nearest", asked->nearest},
        {"--farthest", asked->farthest},         {"--plot", asked->plot}};
    memcpy(out, files, sizeof files);
}

/* One that is written as a column can be opened, for all that its name says. */
static tw_status check_file(tw_context *ctx, const cli_answers *asked, const cli_file *file)
{
    static const char *const list[] = {"csv", NULL};
    if (file->path == NULL) {
        return TW_OK;
    }
    if (cli_is_stdout(file->path)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%s: this cannot go to standard output; name a file",
                       file->what);
    }
    if (file->path == asked->plot) {
        return cli_plot_check(ctx, file->path);
    }
    if (file->path == asked->nearest || file->path == asked->farthest) {
        return cli_writes(file->path, NULL, list)
                   ? TW_OK
                   : tw_fail(ctx, TW_ERR_ARGUMENT,
                             "%s '%.60s': a list of source,target,distance is written as .csv",
                             file->what, file->path);
    }
    tw_sink sink = TW_SINK_INIT;
    tw_status status = tw_sink_to_file(ctx, &sink, file->path, NULL);
    tw_sink_destroy(&sink);
    return status;
}

/* Options that say how something is written that nobody asked for. */
static tw_status refuse_idle_options(const cli_job *job, const cli_answers *asked)
{
    tw_status status = TW_OK;
    if (asked->nearest == NULL && asked->farthest == NULL) {
        status = cli_refuse(job, "count", "without --nearest or --farthest");
    }
    if (status == TW_OK && asked->closeness == NULL) {
        status = cli_refuse(job, "closeness-as", "without --closeness");
    }
    return status;
}

tw_status cli_answers_check(const cli_job *job, const cli_answers *asked)
{
    tw_context *ctx = job->ctx;
    cli_file files[CLI_ANSWER_FILES];
    tw_status status = refuse_idle_options(job, asked);
    cli_answers_files(asked, files);
    for (int i = 0; i < CLI_ANSWER_FILES && status == TW_OK; i++) {
        status = check_file(ctx, asked, &files[i]);
    }
    if (status != TW_OK) {
        return status;
    }
    if (asked->histogram > MOST_BINS ||
        (asked->histogram == 0 && cli_given(job->parsed, "histogram"))) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--histogram=%lld: expected 1 to %d bins",
                       (long long)asked->histogram, MOST_BINS);
    }
    if (asked->count < 1 || asked->count > INT32_MAX) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--count %lld: expected a number from 1 to %d",
                       (long long)asked->count, INT32_MAX);
    }
    if (strcmp(asked->closeness_as, "igraph") != 0 &&
        strcmp(asked->closeness_as, "networkx") != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown --closeness-as '%s'; use networkx or igraph",
                       asked->closeness_as);
    }
    return TW_OK;
}

static tw_status begin_summary(tw_context *ctx, cli_answering *a, const int32_t *sources,
                               const int32_t *targets)
{
    const bool igraph = strcmp(a->asked->closeness_as, "igraph") == 0;
    tw_status status =
        tw_apsp_summary_create(ctx, &a->summary, (int32_t)bins_of(a->asked), sources, targets);
    if (status == TW_OK) {
        status = tw_apsp_summary_set_closeness(
            ctx, a->summary, igraph ? TW_APSP_CLOSENESS_IGRAPH : TW_APSP_CLOSENESS_NETWORKX);
    }
    if (status == TW_OK) {
        status = tw_apsp_summary_set_harmonic(ctx, a->summary, a->asked->harmonic != NULL);
    }
    return status;
}

static tw_status begin_list(tw_context *ctx, const cli_answering *a, tw_apsp_nearest **out,
                            const int32_t *sources, const int32_t *targets, tw_sink *sink)
{
    tw_apsp_nearest_options options = TW_APSP_NEAREST_OPTIONS_INIT;
    options.count = (int32_t)a->asked->count;
    options.farthest = out == &a->farthest;
    options.sources = sources;
    options.targets = targets;
    tw_status status = tw_apsp_nearest_create(ctx, out, &options);
    return status == TW_OK ? tw_apsp_nearest_sink(*out, sink) : status;
}

tw_status cli_answers_begin(tw_context *ctx, cli_answering *a, const int32_t *sources,
                            const int32_t *targets, bool summary, tw_sink *sinks, int32_t *used)
{
    const cli_answers *asked = a->asked;
    tw_status status = TW_OK;
    a->sources = sources;
    if (summary || wants_summary(asked)) {
        status = begin_summary(ctx, a, sources, targets);
        if (status == TW_OK) {
            status = tw_apsp_summary_sink(a->summary, &sinks[(*used)++]);
        }
    }
    if (status == TW_OK && asked->nearest != NULL) {
        status = begin_list(ctx, a, &a->nearest, sources, targets, &sinks[(*used)++]);
    }
    if (status == TW_OK && asked->farthest != NULL) {
        status = begin_list(ctx, a, &a->farthest, sources, targets, &sinks[(*used)++]);
    }
    return status;
}

/* There are fewer vertices than 2^31. */
static tw_status write_counts(tw_context *ctx, const cli_answering *a, const tw_graph *graph)
{
    const int64_t *counts = tw_apsp_summary_reached(a->summary);
    const int64_t rows = a->about.rows;
    int32_t *narrow = malloc((size_t)rows * sizeof *narrow + 1);
    if (narrow == NULL) {
        return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for %lld counts", (long long)rows);
    }
    for (int64_t i = 0; i < rows; i++) {
        narrow[i] = (int32_t)counts[i];
    }
    tw_status status = cli_write_column(ctx, graph, a->sources, rows, "reached", narrow, TW_I32,
                                        a->asked->reached);
    free(narrow);
    return status;
}

static tw_status write_columns(tw_context *ctx, cli_answering *a, const tw_graph *graph)
{
    const cli_answers *asked = a->asked;
    const struct {
        const char *path;
        const char *name;
        const double *values;
    } columns[] = {{asked->eccentricity, "eccentricity", tw_apsp_summary_eccentricity(a->summary)},
                   {asked->closeness, "closeness", tw_apsp_summary_closeness(a->summary)},
                   {asked->harmonic, "harmonic", tw_apsp_summary_harmonic(a->summary)},
                   {asked->sum, "sum", tw_apsp_summary_sum(a->summary)}};
    tw_status status = tw_apsp_summary_describe(a->summary, &a->about);
    for (size_t i = 0; i < sizeof columns / sizeof *columns && status == TW_OK; i++) {
        if (columns[i].path != NULL) {
            status = cli_write_column(ctx, graph, a->sources, a->about.rows, columns[i].name,
                                      columns[i].values, TW_F64, columns[i].path);
        }
    }
    if (status == TW_OK && asked->plot != NULL) {
        status = cli_plot(ctx, a->summary, asked->plot);
    }
    return status == TW_OK && asked->reached != NULL ? write_counts(ctx, a, graph) : status;
}

tw_status cli_answers_write(tw_context *ctx, cli_answering *a, const tw_graph *graph)
{
    tw_status status = TW_OK;
    if (a->summary != NULL) {
        status = write_columns(ctx, a, graph);
    }
    if (status == TW_OK && a->nearest != NULL) {
        status = tw_apsp_nearest_write(ctx, a->nearest, graph, a->asked->nearest);
    }
    if (status == TW_OK && a->farthest != NULL) {
        status = tw_apsp_nearest_write(ctx, a->farthest, graph, a->asked->farthest);
    }
    return status;
}

void cli_answers_clear(cli_answering *a)
{
    tw_apsp_nearest_destroy(a->farthest);
    tw_apsp_nearest_destroy(a->nearest);
    tw_apsp_summary_destroy(a->summary);
}
