/* The names of rows and columns: see tables.h. */
#include "cli/graph/tables.h"

#include "cli/graph/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* The two files of names beside a matrix. */
typedef struct label_files {
    char rows[CLI_LABEL_PATH], cols[CLI_LABEL_PATH];
} label_files;

/* Both are there. */
static bool has_labels(tw_context *ctx, const char *path, label_files *out)
{
    return cli_label_path(ctx, out->rows, path, "rows") == TW_OK && cli_is_file(out->rows) &&
           cli_label_path(ctx, out->cols, path, "cols") == TW_OK && cli_is_file(out->cols);
}

static bool is_older(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 &&
           (a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec < b.st_mtim.tv_sec
                                                 : a.st_mtim.tv_nsec < b.st_mtim.tv_nsec);
}

/* --labels writes after the matrix: what is older was written for another one. */
static const char *find_stale(const label_files *files, const char *path)
{
    return is_older(files->rows, path)   ? files->rows
           : is_older(files->cols, path) ? files->cols
                                         : NULL;
}

tw_status cli_check_labels(tw_context *ctx, const char *dist)
{
    label_files files;
    const char *stale = has_labels(ctx, dist, &files) ? find_stale(&files, dist) : NULL;
    return stale == NULL ? TW_OK
                         : tw_fail(ctx, TW_ERR_ARGUMENT,
                                   "--labels: '%.300s' is older than '%.300s' and may name another "
                                   "matrix; touch it if the names are right",
                                   stale, dist);
}

tw_status cli_refuse_foreign_labels(tw_context *ctx, const cli_file *output, const char *format,
                                    const char *instead)
{
    static const char *const text[] = {"csv", NULL};
    label_files files;
    if (output->path == NULL || cli_is_stdout(output->path) ||
        cli_writes(output->path, format, text) || !has_labels(ctx, output->path, &files)) {
        return TW_OK;
    }
    return tw_fail(
        ctx, TW_ERR_ARGUMENT,
        "%s '%.300s': '%.300s' and '%.300s' are left from an earlier run and would be read as the "
        "names of this matrix; %s",
        output->what, output->path, files.rows, files.cols, instead);
}

tw_status cli_table_names_find(cli_job *job, const char *path, const char *format,
                               const tw_source *source, cli_table_names *out)
{
    static const char *const text[] = {"csv", NULL};
    tw_context *ctx = job->ctx;
    const tw_shape *shape = &source->shape;
    const bool named = tw_matrix_source_names(source, 0) != NULL;
    if (!named && !cli_is_file(path)) {
        return TW_OK;
    }
    if (named || cli_writes(path, format, text)) {
        tw_status status =
            cli_read_table_names(ctx, path, source, &out->graph, &out->rows, &out->cols);
        return status == TW_OK && out->graph != NULL ? cli_table_names_check(ctx, out, shape)
                                                     : status;
    }
    label_files files;
    if (!has_labels(ctx, path, &files)) {
        return TW_OK;
    }
    const char *stale = find_stale(&files, path);
    if (stale != NULL) {
        cli_say(job, "%s is older than %s, and its names are ignored: touch it if they are right",
                stale, path);
        return TW_OK;
    }
    tw_status status = cli_read_labels(ctx, path, &out->graph, &out->rows, &out->cols);
    if (status == TW_OK && cli_table_names_check(ctx, out, shape) != TW_OK) {
        cli_say(
            job,
            "%s is %lld x %lld; its label files have a different number of entries and are ignored",
            path, (long long)shape->rows, (long long)shape->cols);
        cli_table_names_clear(out);
    }
    return status;
}

tw_status cli_mention_edges(tw_context *ctx, const char *path, const char *format, tw_status status)
{
    static const char *const text[] = {"csv", "tsv", "tab", NULL};
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    tw_graph *graph = NULL;
    char why[512];
    if (status != TW_ERR_FORMAT || !cli_is_file(path) || !cli_writes(path, format, text)) {
        return status;
    }
    snprintf(why, sizeof why, "%s", tw_last_error(ctx));
    opts.format = "edges";
    tw_set_log(ctx, NULL, NULL); /* the command ends, and this reading is nobody's */
    const bool edges = tw_graph_read(ctx, &graph, path, &opts) == TW_OK;
    tw_graph_destroy(graph);
    return tw_fail(ctx, status, "%s%s", why,
                   edges ? " (a matrix is expected here; 'tilewright apsp' computes one from a "
                           "list of edges)"
                         : "");
}

tw_status cli_table_names_twice(tw_context *ctx, const cli_table_names *names, const char **twice)
{
    const cli_vertices *lists[] = {&names->rows, &names->cols};
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    tw_status status = tw_graph_describe(names->graph, &about);
    *twice = NULL;
    for (int k = 0; k < 2 && status == TW_OK && *twice == NULL; k++) {
        bool *seen = calloc((size_t)about.vertices + 1, sizeof *seen);
        if (seen == NULL) {
            return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for %lld names",
                           (long long)about.vertices);
        }
        for (int64_t i = 0; i < lists[k]->count && *twice == NULL; i++) {
            const int32_t vertex = lists[k]->list[i];
            *twice = seen[vertex] ? tw_graph_label(names->graph, vertex) : NULL;
            seen[vertex] = true;
        }
        free(seen);
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
        status =
            places != NULL && *out != NULL
                ? TW_OK
                : tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for %lld names", (long long)count);
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
