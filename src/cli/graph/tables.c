/* The names of rows and columns: see tables.h. */
#include "cli/graph/tables.h"

#include "cli/graph/names.h"
#include "cli/shared/files.h"

#include <stdlib.h>
#include <string.h>

void cli_table_names_clear(cli_table_names *names)
{
    cli_vertices_clear(&names->rows);
    cli_vertices_clear(&names->cols);
    tw_graph_destroy(names->graph);
    names->graph = NULL;
}

tw_status cli_table_names_check(tw_context *ctx, const cli_table_names *names,
                                const tw_shape *shape)
{
    if (names->rows.count == shape->rows && names->cols.count == shape->cols) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_FORMAT,
                   "there are names for %lld row%s and %lld column%s, but DIST is %lld x %lld",
                   (long long)names->rows.count, names->rows.count == 1 ? "" : "s",
                   (long long)names->cols.count, names->cols.count == 1 ? "" : "s",
                   (long long)shape->rows, (long long)shape->cols);
}

/* Both files of names are there. */
static bool has_labels(tw_context *ctx, const char *path)
{
    char rows[CLI_LABEL_PATH], cols[CLI_LABEL_PATH];
    return cli_label_path(ctx, rows, path, "rows") == TW_OK && cli_is_file(rows) &&
           cli_label_path(ctx, cols, path, "cols") == TW_OK && cli_is_file(cols);
}

tw_status cli_table_names_find(cli_job *job, const char *path, const char *format,
                               const tw_shape *shape, cli_table_names *out)
{
    static const char *const text[] = {"csv", NULL};
    tw_context *ctx = job->ctx;
    if (!cli_is_file(path)) {
        return TW_OK;
    }
    if (cli_writes(path, format, text)) {
        tw_status status = cli_read_table_names(ctx, path, &out->graph, &out->rows, &out->cols);
        return status == TW_OK && out->graph != NULL ? cli_table_names_check(ctx, out, shape)
                                                     : status;
    }
    if (!has_labels(ctx, path)) {
        return TW_OK;
    }
    tw_status status = cli_read_labels(ctx, path, &out->graph, &out->rows, &out->cols);
    if (status == TW_OK && cli_table_names_check(ctx, out, shape) != TW_OK) {
        cli_say(job, "%s is %lld x %lld, and the names beside it are not as many: left alone", path,
                (long long)shape->rows, (long long)shape->cols);
        cli_table_names_clear(out);
    }
    return status;
}

tw_status cli_table_names_match(tw_context *ctx, const cli_table_names *names,
                                const cli_vertices *order, const tw_graph *graph,
                                const int32_t *list, int64_t count, int32_t **out,
                                const char **missing)
{
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    int32_t *places = NULL;
    *missing = NULL;
    tw_status status = tw_graph_describe(names->graph, &about);
    if (status == TW_OK) {
        places = malloc(((size_t)about.vertices + 1) * sizeof *places);
        *out = malloc(((size_t)count + 1) * sizeof **out);
        status = places != NULL && *out != NULL
                     ? TW_OK
                     : tw_fail(ctx, TW_ERR_MEMORY, "no memory for %lld names", (long long)count);
    }
    if (status == TW_OK) {
        memset(places, 0xFF, ((size_t)about.vertices + 1) * sizeof *places); /* -1 */
        for (int64_t i = 0; i < order->count; i++) {
            places[order->list[i]] = (int32_t)i;
        }
        for (int64_t i = 0; i < count; i++) {
            const char *name = tw_graph_label(graph, list != NULL ? list[i] : i);
            const int64_t vertex = name != NULL ? tw_graph_find(names->graph, name) : -1;
            (*out)[i] = vertex >= 0 ? places[vertex] : -1;
            *missing = (*out)[i] < 0 && *missing == NULL ? (name != NULL ? name : "") : *missing;
        }
    }
    free(places);
    return status;
}
