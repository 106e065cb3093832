/* Vertices on their way out: see names.h. */
#include "cli/graph/names.h"

#include "cli/shared/files.h"

#include <string.h>

void cli_report_vertex(cli_report *report, const char *key, const tw_graph *graph, int64_t vertex)
{
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    const char *label = graph != NULL ? tw_graph_label(graph, vertex) : NULL;
    if (label != NULL) {
        cli_report_text(report, key, label);
        return;
    }
    if (graph != NULL && tw_graph_describe(graph, &about) == TW_OK) {
        vertex += about.first;
    }
    cli_report_integer(report, key, vertex);
}

static bool is_labelled(const tw_graph *graph)
{
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    return graph != NULL && tw_graph_describe(graph, &about) == TW_OK && about.labelled;
}

tw_status cli_write_column(tw_context *ctx, const tw_graph *graph, const int32_t *list,
                           int64_t rows, const char *name, const void *values, tw_type type,
                           const char *path)
{
    static const char *const text[] = {"csv", NULL};
    if (is_labelled(graph) && cli_writes(path, NULL, text)) {
        return tw_vertices_write(ctx, path, graph, list, rows, name, values, type);
    }
    tw_sink sink = TW_SINK_INIT;
    tw_matrix column = {(void *)values, rows, 1, 1, type};
    tw_status status = tw_sink_to_file(ctx, &sink, path, NULL);
    if (status == TW_OK) {
        status = tw_feed(ctx, &column, &sink, 1);
    }
    tw_sink_destroy(&sink);
    return status;
}

tw_status cli_label_path(tw_context *ctx, char path[CLI_LABEL_PATH], const char *out,
                         const char *which)
{
    const char *extension = cli_extension(out);
    const size_t stem = strlen(out) - (*extension != '\0' ? strlen(extension) + 1 : 0);
    const int length = snprintf(path, CLI_LABEL_PATH, "%.*s.%s.txt", (int)stem, out, which);
    return length < CLI_LABEL_PATH
               ? TW_OK
               : tw_fail(ctx, TW_ERR_ARGUMENT, "--labels: the name of OUT is too long");
}
