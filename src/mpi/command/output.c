/* The files of a run over ranks: see output.h. */
#include "mpi/command/output.h"

#include "cli/shared/files.h"

#include <string.h>

/* What goes to standard output has to be text of one process, and is not here. */
static tw_status refuse_stdout(tw_context *ctx, const char *what, const char *path)
{
    return path != NULL && cli_is_stdout(path)
               ? tw_fail(ctx, TW_ERR_ARGUMENT,
                         "%s: many ranks cannot write to standard output; name a file", what)
               : TW_OK;
}

/* A name whose extension says neither how to write it nor that it is raw. */
static tw_status check_format(tw_context *ctx, const char *path, const char *format)
{
    tw_sink sink = TW_SINK_INIT;
    tw_status status = path != NULL ? cli_apsp_output_sink(ctx, &sink, path, format) : TW_OK;
    tw_sink_destroy(&sink);
    return status;
}

tw_status mpi_files_check(const cli_job *job, cli_apsp_files *files, const mpi_settings *s,
                          const char *input, const char *output)
{
    tw_context *ctx = job->ctx;
    *files = (cli_apsp_files){.input = input,
                              .output = output,
                              .format = s->format,
                              .predecessors = s->predecessors,
                              .checkpoint = s->checkpoint,
                              .sources = s->sources,
                              .targets = s->targets,
                              .in_lines = s->in_lines != 0,
                              .labels = s->labels != 0};
    tw_status status = output == NULL ? cli_refuse(job, "out-format", "without OUT") : TW_OK;
    if (status == TW_OK) {
        status = refuse_stdout(ctx, "OUT", output);
    }
    if (status == TW_OK) {
        status = refuse_stdout(ctx, "--predecessors", s->predecessors);
    }
    if (status == TW_OK) {
        status = cli_apsp_check_names(ctx, files);
    }
    if (status == TW_OK && !files->in_lines) {
        status = check_format(ctx, output, s->format);
    }
    if (status == TW_OK) {
        status = check_format(ctx, s->predecessors, NULL);
    }
    return status == TW_OK ? cli_apsp_check_files(job, files, &s->answers) : status;
}

static tw_status open_distances(tw_context *ctx, mpi_text *text, const cli_apsp_files *files,
                                const tw_graph *graph, const tw_graph_info *about,
                                const tw_apsp_options *opts)
{
    if (files->in_lines) {
        return tw_sink_to_pairs(ctx, &text->distances, files->output, graph, opts->sources,
                                opts->targets);
    }
    return cli_apsp_has_names(about, files->output, files->format)
               ? tw_sink_to_table(ctx, &text->distances, files->output, graph, opts->sources,
                                  opts->targets, 0)
               : TW_OK;
}

static tw_status open_predecessors(tw_context *ctx, mpi_text *text, const cli_apsp_files *files,
                                   const tw_graph *graph, const tw_graph_info *about,
                                   const tw_apsp_options *opts)
{
    static const char *const csv[] = {"csv", NULL};
    const char *path = files->predecessors;
    if (path == NULL || !cli_writes(path, NULL, csv)) {
        return TW_OK;
    }
    return about->labelled ? tw_sink_to_table(ctx, &text->predecessors, path, graph, opts->sources,
                                              opts->targets, 1)
                           : tw_sink_to_file(ctx, &text->predecessors, path, NULL);
}

tw_status mpi_text_open(const cli_job *job, mpi_text *text, const cli_apsp_files *files,
                        const tw_graph *graph, const tw_apsp_options *opts, tw_mpi_apsp_output *out)
{
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    tw_context *ctx = job->ctx;
    text->distances = text->predecessors = text->before = (tw_sink)TW_SINK_INIT;
    tw_status status = tw_graph_describe(graph, &about);
    if (status == TW_OK) {
        status = open_distances(ctx, text, files, graph, &about, opts);
    }
    if (status == TW_OK) {
        status = open_predecessors(ctx, text, files, graph, &about, opts);
    }
    if (status != TW_OK) {
        return status;
    }
    out->sink = text->distances.begin != NULL ? &text->distances : NULL;
    if (files->predecessors != NULL) {
        text->before = text->predecessors;
        cli_apsp_count_predecessors(job, files, &about, &text->counted, &text->before);
        out->predecessor_sink = text->before.begin != NULL ? &text->before : NULL;
    }
    return TW_OK;
}

void mpi_text_clear(mpi_text *text)
{
    cli_counted_clear(&text->counted);
    tw_sink_destroy(&text->predecessors);
    tw_sink_destroy(&text->distances);
}
