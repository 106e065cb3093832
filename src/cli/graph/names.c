/* Vertices on their way out: see names.h. */
#include "cli/graph/names.h"

#include "cli/shared/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOWHERE 64 /* characters of the path to a file that is nowhere */

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
    const char *format = strcmp(path, "-") == 0 ? "csv" : NULL; /* bytes would say nothing there */
    if (is_labelled(graph) && cli_writes(path, format, text)) {
        return tw_vertices_write(ctx, path, graph, list, rows, name, values, type);
    }
    tw_sink sink = TW_SINK_INIT;
    tw_matrix column = {(void *)values, rows, 1, 1, type};
    tw_status status = tw_sink_to_file(ctx, &sink, path, format);
    if (status == TW_OK) {
        status = tw_feed(ctx, &column, &sink, 1);
    }
    tw_sink_destroy(&sink);
    return status;
}

tw_status cli_label_path(tw_context *ctx, char path[CLI_LABEL_PATH], const char *out,
                         const char *which)
{
    static const char *const packed[] = {"gz", "zst", "xz", NULL};
    char plain[CLI_LABEL_PATH]; /* names lie beside what has been compressed since */
    const char *last = cli_writes(out, NULL, packed) ? cli_extension(out) : "";
    const size_t inner = strlen(out) - (*last != '\0' ? strlen(last) + 1 : 0);
    snprintf(plain, sizeof plain, "%.*s", (int)inner, out);
    const char *extension = cli_extension(plain);
    const size_t stem = strlen(plain) - (*extension != '\0' ? strlen(extension) + 1 : 0);
    const int length = snprintf(path, CLI_LABEL_PATH, "%.*s.%s.txt", (int)stem, plain, which);
    return inner < sizeof plain && length < CLI_LABEL_PATH
               ? TW_OK
               : tw_fail(ctx, TW_ERR_ARGUMENT, "--labels: the name of OUT is too long");
}

/* ------------------------------------------------------------------------------- counted rows */

static tw_status counted_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    cli_counted *c = self;
    cli_counted_clear(c);
    c->cols = shape->cols;
    c->row = malloc((size_t)shape->cols * sizeof *c->row + 1);
    return c->row != NULL
               ? c->inner.begin(c->inner.self, ctx, shape)
               : tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for a row of %lld vertices",
                         (long long)shape->cols);
}

static tw_status counted_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                              const void *data, int64_t stride)
{
    cli_counted *c = self;
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        const int32_t *row = (const int32_t *)data + i * stride;
        for (int64_t j = 0; j < c->cols; j++) {
            c->row[j] = row[j] + (row[j] >= 0 ? c->first : 0);
        }
        status = c->inner.rows(c->inner.self, ctx, first + i, 1, c->row, c->cols);
    }
    return status;
}

static tw_status counted_end(void *self, tw_context *ctx)
{
    cli_counted *c = self;
    return c->inner.end(c->inner.self, ctx);
}

static void counted_abort(void *self, tw_context *ctx)
{
    cli_counted *c = self;
    c->inner.abort(c->inner.self, ctx);
}

void cli_counted_sink(cli_counted *counted, tw_sink *out)
{
    *out = (tw_sink){sizeof(tw_sink), counted,       counted_begin, counted_rows,
                     counted_end,     counted_abort, NULL};
}

void cli_counted_clear(cli_counted *counted)
{
    free(counted->row);
    counted->row = NULL;
}

/* ------------------------------------------------------------------------------ files of names */

/* The lines of a file, each as an edge from a name to itself, behind what is in `out`. They are
 * fields of a .csv, in quotes if they hold a comma or a quote. */
static tw_status append_loops(tw_context *ctx, FILE *out, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    FILE *in = fopen(path, "rbe");
    if (in == NULL) {
        return tw_fail(
            ctx, TW_ERR_IO,
            "--labels: cannot open '%.300s', which 'tilewright apsp --labels' writes: %s", path,
            strerror(errno));
    }
    while ((length = getline(&line, &room, in)) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        const char *quote = line[0] == '"' ? "" : "\"";
        if (line[0] != '\0') {
            fprintf(out, "%s%s%s,%s%s%s\n", quote, line, quote, quote, line, quote);
        }
    }
    const bool read = ferror(in) == 0;
    free(line);
    fclose(in);
    return read ? TW_OK : tw_fail(ctx, TW_ERR_IO, "--labels: cannot read '%.300s'", path);
}

static tw_status no_room(tw_context *ctx)
{
    return tw_fail(ctx, TW_ERR_IO, "no room for the names of vertices: %s", strerror(errno));
}

/* A file that is nowhere, and a path that leads to it as long as it is open. */
static tw_status open_nowhere(tw_context *ctx, FILE **file, char path[NOWHERE])
{
    const int fd = memfd_create("names", MFD_CLOEXEC);
    *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (*file != NULL) {
        snprintf(path, NOWHERE, "/proc/self/fd/%d", fd);
        return TW_OK;
    }
    if (fd >= 0) {
        close(fd);
    }
    return no_room(ctx);
}

static tw_status read_names(tw_context *ctx, tw_graph **graph, const char *rows, const char *cols)
{
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    char path[NOWHERE];
    FILE *file = NULL;
    tw_status status = open_nowhere(ctx, &file, path);
    if (status != TW_OK) {
        return status;
    }
    opts.format = "edges";
    opts.ids = 1;
    opts.header = TW_GRAPH_HEADER_NO;
    status = append_loops(ctx, file, rows);
    if (status == TW_OK) {
        status = append_loops(ctx, file, cols);
    }
    if (status == TW_OK && fflush(file) != 0) {
        status = no_room(ctx);
    }
    if (status == TW_OK) {
        status = tw_graph_read(ctx, graph, path, &opts);
    }
    fclose(file);
    return status;
}

/* The names of two lists, "@FILE" both, and the vertices that they are. */
static tw_status read_lists(tw_context *ctx, const char *list, const char *other, tw_graph **graph,
                            cli_vertices *rows, cli_vertices *cols)
{
    tw_status status = read_names(ctx, graph, list + 1, other + 1);
    if (status == TW_OK) {
        status = cli_vertices_parse(ctx, rows, *graph, "--labels", list);
    }
    return status == TW_OK ? cli_vertices_parse(ctx, cols, *graph, "--labels", other) : status;
}

tw_status cli_read_labels(tw_context *ctx, const char *dist, tw_graph **graph, cli_vertices *rows,
                          cli_vertices *cols)
{
    char list[1 + CLI_LABEL_PATH] = "@", other[1 + CLI_LABEL_PATH] = "@";
    tw_status status = cli_label_path(ctx, list + 1, dist, "rows");
    if (status == TW_OK) {
        status = cli_label_path(ctx, other + 1, dist, "cols");
    }
    return status == TW_OK ? read_lists(ctx, list, other, graph, rows, cols) : status;
}

/* -------------------------------------------------------------------------- names in a table */

size_t cli_field_length(const char *line)
{
    bool quoted = false;
    size_t length = 0;
    for (; line[length] != '\0' && (quoted || line[length] != ','); length++) {
        quoted ^= line[length] == '"';
    }
    return length;
}

char *cli_next_line(FILE *in, char **line, size_t *room)
{
    while (getline(line, room, in) > 0) {
        char *at = *line + (strncmp(*line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0);
        at[strcspn(at, "\r\n")] = '\0';
        at += strspn(at, " \t");
        if (*at != '\0') {
            return at;
        }
    }
    return NULL;
}

/* The names of the columns and of the rows, a line each; false: the file is no table. */
static bool copy_names(FILE *in, FILE *rows, FILE *cols)
{
    char *line = NULL;
    size_t room = 0;
    const char *at = cli_next_line(in, &line, &room);
    const bool table = at != NULL && (at[0] == ',' || strncmp(at, "\"\",", 3) == 0);
    if (table) {
        for (at += cli_field_length(at); *at == ','; at += cli_field_length(at)) {
            at++;
            fprintf(cols, "%.*s\n", (int)cli_field_length(at), at);
        }
    }
    while (table && (at = cli_next_line(in, &line, &room)) != NULL) {
        fprintf(rows, "%.*s\n", (int)cli_field_length(at), at);
    }
    free(line);
    return table;
}

tw_status cli_read_table_names(tw_context *ctx, const char *dist, const tw_source *source,
                               tw_graph **graph, cli_vertices *rows, cli_vertices *cols)
{
    char list[1 + NOWHERE] = "@", other[1 + NOWHERE] = "@";
    FILE *row_names = NULL, *col_names = NULL;
    const char *row_text = tw_matrix_source_names(source, 0);
    const char *col_text = tw_matrix_source_names(source, 1);
    const bool given = row_text != NULL && col_text != NULL;
    FILE *in = given ? NULL : fopen(dist, "rbe");
    if (!given && in == NULL) {
        return TW_OK; /* whoever reads the numbers says so */
    }
    tw_status status = open_nowhere(ctx, &row_names, list + 1);
    if (status == TW_OK) {
        status = open_nowhere(ctx, &col_names, other + 1);
    }
    if (status == TW_OK && given) {
        fputs(row_text, row_names);
        fputs(col_text, col_names);
    }
    if (status == TW_OK && (given || copy_names(in, row_names, col_names))) {
        status = fflush(row_names) == 0 && fflush(col_names) == 0
                     ? read_lists(ctx, list, other, graph, rows, cols)
                     : no_room(ctx);
    }
    if (col_names != NULL) {
        fclose(col_names);
    }
    if (row_names != NULL) {
        fclose(row_names);
    }
    if (in != NULL) {
        fclose(in);
    }
    return status;
}
