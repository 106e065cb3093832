/* The files of apsp: see apsp_files.h. */
#include "cli/graph/apsp_files.h"

#include "cli/graph/room.h"
#include "cli/graph/tables.h"
#include "cli/shared/files.h"

#include <string.h>

/* What --sources and --targets read: "@FILE", or nothing. */
static const char *list_file(const char *text)
{
    return text != NULL && text[0] == '@' ? text + 1 : NULL;
}

tw_status cli_apsp_check_names(tw_context *ctx, cli_apsp_files *files)
{
    static const char *const text[] = {"csv", NULL};
    const char *out = files->output, *format = files->format;
    if (out == NULL && (files->in_lines || files->labels)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--%s has no effect without OUT",
                       files->in_lines ? "long" : "labels");
    }
    if (files->in_lines && files->labels) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--labels has no effect with --long, which has names");
    }
    if (files->in_lines && ((strcmp(out, "-") != 0 && !cli_writes(out, NULL, text)) ||
                            (format != NULL && strcmp(format, "csv") != 0))) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "--long writes from,to,distance as csv: give OUT the extension .csv, or use '-'");
    }
    if (files->predecessors != NULL && files->targets != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "--predecessors needs whole rows; leave out --targets, or use 'tilewright "
                       "path' for single paths");
    }
    const cli_file output = {"OUT", out}, before = {"--predecessors", files->predecessors};
    tw_status status =
        cli_refuse_foreign_labels(ctx, &before, NULL, "remove them, or name another file");
    if (status == TW_OK && !files->labels) {
        status = cli_refuse_foreign_labels(ctx, &output, files->in_lines ? "csv" : format,
                                           "use --labels to rewrite them, or remove them");
    }
    if (status != TW_OK || !files->labels) {
        return status;
    }
    if (cli_is_stdout(out)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--labels writes beside OUT, which must be a file");
    }
    status = cli_label_path(ctx, files->row_labels, out, "rows");
    return status == TW_OK ? cli_label_path(ctx, files->col_labels, out, "cols") : status;
}

tw_status cli_apsp_check_files(const cli_job *job, cli_apsp_files *files,
                               const cli_answers *answers)
{
    tw_context *ctx = job->ctx;
    const char *kept = files->checkpoint;
    if (kept == NULL && cli_given(job->parsed, "every")) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--every has no effect without --checkpoint");
    }
    if (kept != NULL && strcmp(kept, "-") == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--checkpoint needs a file; '-' is a stream");
    }
    snprintf(files->older, sizeof files->older, "%s.previous", kept != NULL ? kept : "");
    const cli_file inputs[] = {{"GRAPH", files->input},
                               {"--sources", list_file(files->sources)},
                               {"--targets", list_file(files->targets)}};
    cli_file outputs[6 + CLI_ANSWER_FILES] = {
        {"OUT", files->output},
        {"--checkpoint", kept},
        {"--checkpoint", kept != NULL ? files->older : NULL},
        {"--predecessors", files->predecessors},
        {"--labels", files->labels ? files->row_labels : NULL},
        {"--labels", files->labels ? files->col_labels : NULL}};
    cli_answers_files(answers, outputs + 6);
    return cli_check_files(ctx, inputs, 3, outputs, 6 + CLI_ANSWER_FILES);
}

tw_status cli_apsp_check_method(const cli_job *job, tw_apsp_method method)
{
    char why[64];
    tw_status status = TW_OK;
    snprintf(why, sizeof why, "with --method %s", tw_apsp_method_name(method));
    if (method != TW_APSP_METHOD_AUTO && method != TW_APSP_METHOD_CLOSURE) {
        status = cli_refuse(job, "block", why);
    }
    if (status == TW_OK && method != TW_APSP_METHOD_AUTO && method != TW_APSP_METHOD_SWEEP &&
        method != TW_APSP_METHOD_CLOSURE) {
        status = cli_refuse(job, "work-type", why);
    }
    return status;
}

tw_status cli_apsp_output_sink(tw_context *ctx, tw_sink *sink, const char *path, const char *format)
{
    static const char *const known[] = {"", "npy", "csv", "raw", "bin", "out", NULL};
    char sentence[640];
    tw_status status = tw_sink_to_file(ctx, sink, path, format);
    if (status != TW_ERR_ARGUMENT || format != NULL || cli_writes(path, NULL, known)) {
        return status;
    }
    snprintf(sentence, sizeof sentence, "%s", tw_last_error(ctx));
    return tw_fail(ctx, status, "%s, or choose with --out-format", sentence);
}

bool cli_apsp_has_names(const tw_graph_info *about, const char *path, const char *format)
{
    static const char *const text[] = {"csv", NULL};
    return about->labelled && path != NULL && cli_writes(path, format, text);
}

tw_status cli_apsp_write_labels(tw_context *ctx, const cli_apsp_files *files, const tw_graph *graph,
                                const tw_apsp_options *opts)
{
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    tw_status status = tw_graph_describe(graph, &about);
    if (status == TW_OK) {
        status = tw_vertices_write(ctx, files->row_labels, graph, opts->sources,
                                   opts->sources != NULL ? opts->source_count : about.vertices,
                                   NULL, NULL, TW_AUTO);
    }
    return status == TW_OK
               ? tw_vertices_write(ctx, files->col_labels, graph, opts->targets,
                                   opts->targets != NULL ? opts->target_count : about.vertices,
                                   NULL, NULL, TW_AUTO)
               : status;
}

void cli_apsp_count_predecessors(const cli_job *job, const cli_apsp_files *files,
                                 const tw_graph_info *about, cli_counted *counted, tw_sink *sink)
{
    static const char *const text[] = {"csv", NULL};
    const char *path = files->predecessors;
    if (cli_apsp_has_names(about, path, NULL)) {
        return;
    }
    if (about->labelled) {
        cli_say(job,
                "%s: vertices are numbered from 0 in the order in which their names first appear "
                "in %s; a .csv has the names",
                path, files->input);
    } else if (about->first != 0 && cli_writes(path, NULL, text)) {
        counted->inner = *sink;
        counted->first = about->first;
        cli_counted_sink(counted, sink);
    } else if (about->first != 0) {
        cli_say(job,
                "%s: vertices are numbered from 0, but in %s from %d; a .csv uses the numbers of "
                "the file",
                path, files->input, (int)about->first);
    }
}

tw_status cli_apsp_check_room(tw_context *ctx, const cli_apsp_files *files,
                              const tw_graph_info *about, const tw_shape *shape)
{
    const tw_shape vertices = {shape->rows, shape->cols, TW_I32};
    const cli_file out = {"OUT", files->in_lines ? NULL : files->output};
    const cli_file before = {"--predecessors", files->predecessors};
    const char *ways = "--sources for some rows, or --summary, --closeness and other answers, "
                       "which need no matrix";
    const bool gaps = cli_apsp_has_names(about, files->predecessors, NULL);
    tw_status status = cli_check_room(ctx, &out, files->format, shape, false, ways);
    return status == TW_OK ? cli_check_room(ctx, &before, NULL, &vertices, gaps, ways) : status;
}
