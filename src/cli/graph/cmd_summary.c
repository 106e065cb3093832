/* tilewright summary: what a matrix of distances says about its graph. */
#include "cli/graph/answers.h"
#include "cli/graph/names.h"
#include "cli/graph/statistics.h"
#include "cli/graph/tables.h"
#include "cli/shared/commands.h"
#include "cli/shared/typed.h"
#include "frame/job.h"

#include <math.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    tw_type type;
    const char *format;
    int32_t labels;
    cli_answers answers;
} settings;

static const settings defaults = {
    .common = CLI_COMMON_INIT, .type = TW_AUTO, .answers = CLI_ANSWERS_INIT};

static const cli_option own_options[] = {
    {"type", 0, CLI_TYPE, "TYPE", offsetof(settings, type), CLI_ELEMENT_TYPES,
     "The type of a raw file, which stores none: u8, u16, i16, i32 (the default), f32 or f64; of a "
     ".csv "
     "f32 or f64."},
    {"in-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, format), 0,
     "raw, npy or csv; by default the extension decides, and raw is taken for an unknown one."},
    {"labels", 0, CLI_FLAG, NULL, offsetof(settings, labels), 1,
     "Name vertices as in the files that 'tilewright apsp --labels' wrote beside DIST: for d.npy "
     "d.rows.txt and d.cols.txt. Default: by number, from 0."},
    {0}};

static const cli_option result_options[] = {CLI_ANSWER_OPTIONS(settings), {0}};

static const cli_group groups[] = {{"Input", own_options},
                                   {"Results", result_options},
                                   {"Resources", cli_host_options},
                                   {"Messages", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"DIST", "A matrix of distances as 'tilewright apsp' writes it."}, {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright summary distances.npy", "diameter, radius, mean and the rest"},
    {"tilewright summary answer --type i32 --histogram=10",
     "a raw file of int32, with a histogram of ten bins"},
    {"tilewright summary distances.npy --closeness closeness.csv", "one number for each vertex"},
    {"tilewright summary distances.npy --labels", "with the names that 'apsp --labels' wrote"},
    {NULL, NULL}};

/* Who has names beside a matrix may not know how to see them. */
static void mention_labels(const cli_job *job, const char *dist)
{
    char path[CLI_LABEL_PATH];
    if (strcmp(dist, "-") != 0 && cli_label_path(job->ctx, path, dist, "rows") == TW_OK &&
        cli_is_file(path)) {
        cli_say(job, "vertices are numbered from 0; --labels takes their names from %s", path);
    }
}

/* The names in a .csv, or those beside it if they are asked for. */
static tw_status name_vertices(cli_job *job, const settings *s, const char *dist,
                               const tw_source *source, cli_table_names *names)
{
    tw_status status = TW_OK;
    if (s->labels) {
        status = cli_check_labels(job->ctx, dist);
        if (status == TW_OK) {
            status = cli_read_labels(job->ctx, dist, &names->graph, &names->rows, &names->cols);
        }
    } else if (tw_matrix_source_names(source, 0) != NULL) {
        status =
            cli_read_table_names(job->ctx, dist, source, &names->graph, &names->rows, &names->cols);
    }
    if (status == TW_OK && names->graph == NULL) {
        mention_labels(job, dist);
        return TW_OK;
    }
    return status == TW_OK ? cli_table_names_check(job->ctx, names, &source->shape) : status;
}

/* ----------------------------------------------------------------------- rows that have no names
 */

#define NAMED_BY                                                                               \
    "'tilewright apsp --labels' writes their names and 'summary --labels' reads them, or use " \
    "'apsp --summary'"

/* The rows are the columns' vertices in the same order: nobody is at a distance from itself. */
typedef struct diagonal {
    const char *path;
    tw_type type;
} diagonal;

static tw_status diagonal_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    diagonal *d = self;
    d->type = shape->type;
    return shape->rows == shape->cols
               ? TW_OK
               : tw_fail(ctx, TW_ERR_ARGUMENT,
                         "%.300s is %lld x %lld, and does not name the vertices of its rows and "
                         "columns: " NAMED_BY,
                         d->path, (long long)shape->rows, (long long)shape->cols);
}

static tw_status diagonal_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                               const void *data, int64_t stride)
{
    const diagonal *d = self;
    const char *rows = data;
    char shown[CLI_SHOWN];
    for (int64_t i = 0; i < count; i++) {
        const char *row = rows + (size_t)(i * stride) * tw_type_size(d->type);
        const double distance = cli_distance_at(row, d->type, first + i);
        if (isfinite(distance) && distance != 0) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "entry (%lld, %lld) of %.300s is %s, so its rows and columns stand "
                           "for different vertices, which it does not name: " NAMED_BY,
                           (long long)(first + i), (long long)(first + i), d->path,
                           cli_show_value(shown, distance));
        }
    }
    return TW_OK;
}

static tw_status diagonal_end(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
    return TW_OK;
}

static void diagonal_abort(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
}

static tw_status summarise(cli_job *job, const settings *s, const tw_source *source,
                           cli_answering *answering, const cli_table_names *names, const char *path)
{
    const cli_naming naming = {names->graph, names->rows.list, names->cols.list};
    tw_sink sinks[4] = {TW_SINK_INIT, TW_SINK_INIT, TW_SINK_INIT, TW_SINK_INIT};
    diagonal own = {path, TW_AUTO};
    int32_t used = 0;
    if (names->graph == NULL) {
        sinks[used++] =
            (tw_sink){sizeof(tw_sink), &own, diagonal_begin, diagonal_rows, diagonal_end,
                      diagonal_abort,  NULL};
    }
    tw_status status =
        cli_answers_begin(job->ctx, answering, naming.sources, naming.targets, true, sinks, &used);
    if (status == TW_OK) { /* together, and with a row on its way */
        const tw_shape *shape = &source->shape;
        status = tw_memory_check(
            job->ctx,
            cli_answers_memory(job->ctx, &s->answers, true, shape->rows, shape->cols) +
                (uint64_t)shape->cols * tw_type_size(shape->type),
            "keeping the answers");
        status = cli_answers_advise(job->ctx, &s->answers, shape->rows, shape->cols, status);
    }
    if (status == TW_OK) {
        status = tw_feed_source(job->ctx, source, sinks, used);
    }
    for (int32_t i = 0; i < used; i++) {
        tw_sink_destroy(&sinks[i]);
    }
    if (status == TW_OK) {
        status = cli_answers_write(job->ctx, answering, naming.graph);
    }
    if (status == TW_OK && s->common.json) {
        cli_report json;
        cli_report_begin(&json, stdout);
        cli_report_text(&json, "command", "summary");
        cli_report_text(&json, "input", path);
        cli_statistics_report(&json, answering->summary, &answering->about, &naming);
        cli_report_number(&json, "seconds", cli_seconds() - job->started);
        cli_report_end(&json);
    } else if (status == TW_OK) {
        cli_statistics_print(answering->summary, &answering->about, &naming);
    }
    return status;
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    tw_source source = TW_SOURCE_INIT;
    cli_table_names names = {0};
    cli_answering answering = {.asked = &s->answers, .about = TW_APSP_SUMMARY_INFO_INIT};
    (void)count;
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK) {
        const cli_file input = {"DIST", words[0]};
        cli_file outputs[CLI_ANSWER_FILES];
        cli_answers_files(&s->answers, outputs);
        status = cli_check_files(job->ctx, &input, 1, outputs, CLI_ANSWER_FILES);
    }
    if (status == TW_OK) {
        status = cli_answers_check(job, &s->answers);
    }
    if (status == TW_OK) {
        const cli_file input = {"DIST", words[0]};
        status = cli_refuse_type(job, "type", s->type, &input, s->format);
    }
    if (status == TW_OK) {
        status = tw_matrix_source(job->ctx, &source, words[0], s->format,
                                  s->type != TW_AUTO ? s->type : TW_I32);
        status = cli_mention_edges(job->ctx, words[0], s->format, status);
    }
    if (status == TW_OK) {
        status = name_vertices(job, s, words[0], &source, &names);
    }
    if (status == TW_OK) {
        status = summarise(job, s, &source, &answering, &names, words[0]);
    }
    cli_answers_clear(&answering);
    cli_table_names_clear(&names);
    tw_source_destroy(&source);
    return status;
}

const cli_command cli_summary = {
    .name = "summary",
    .usage = "DIST",
    .summary = "summarise a matrix of distances: diameter, radius, closeness, ...",
    .text = "Reads a matrix of distances and prints what it shows about the graph: how many pairs "
            "are connected, the diameter (the largest distance) and the pair that has it, the "
            "radius (the minimum eccentricity) and the centre that has it, and the mean. Pairs of "
            "a vertex with itself are not counted, so a matrix whose rows and columns are not the "
            "same vertices ('apsp --sources') is accepted only with their names: in a .csv, or "
            "with --labels.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 1,
    .most = 1,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};
