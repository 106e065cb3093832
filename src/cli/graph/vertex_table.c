/* Tables of vertices: see vertex_table.h. They are read as a whole, 4 bytes for each entry. */
#include "cli/graph/vertex_table.h"

#include "cli/graph/names.h"
#include "cli/graph/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENTENCE 1024

static tw_status give_rows(void *self, tw_context *ctx, int64_t first, int64_t count, void *data,
                           int64_t stride)
{
    const tw_matrix *table = self;
    (void)ctx;
    for (int64_t i = 0; i < count; i++) {
        memcpy((int32_t *)data + i * stride,
               (const int32_t *)table->data + (first + i) * table->cols,
               (size_t)table->cols * sizeof(int32_t));
    }
    return TW_OK;
}

static void free_table(void *self)
{
    tw_matrix *table = self;
    if (table != NULL) {
        free(table->data);
        free(table);
    }
}

/* The name in a field of `length`, without its quotes, in place. */
static char *bare(char *field, size_t length)
{
    field[length] = '\0';
    if (field[0] != '"' || length < 2) {
        return field;
    }
    char *out = field + 1, *to = out;
    for (const char *at = out; at < field + length - 1; at++) {
        *to++ = *at;
        at += *at == '"';
    }
    *to = '\0';
    return out;
}

/* The entries of a line behind its name; false if one of them is no column, or they are not as many
 * as those. */
static bool read_entries(char *line, const cli_table_names *names, const int32_t *places,
                         int32_t *out)
{
    char *at = line + cli_field_length(line);
    for (int64_t j = 0; j < names->cols.count; j++) {
        if (*at != ',') {
            return false;
        }
        const size_t length = cli_field_length(++at);
        const char end = at[length];
        int32_t vertex = CLI_NO_VERTEX;
        if (length > 0) {
            const int64_t found = tw_graph_find(names->graph, bare(at, length));
            vertex = found >= 0 ? places[found] : -1;
        }
        if (vertex == -1) {
            return false;
        }
        out[j] = vertex;
        at += length;
        *at = end;
    }
    return *at == '\0';
}

/* *good: it is a table of vertices. */
static tw_status read_table(tw_context *ctx, const char *path, const cli_table_names *names,
                            tw_matrix *out, bool *good)
{
    char *line = NULL;
    size_t room = 0;
    int32_t *places = NULL;
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    FILE *in = fopen(path, "rbe");
    const char *first = in != NULL ? cli_next_line(in, &line, &room) : NULL;
    tw_status status = tw_graph_describe(names->graph, &about);
    *good = first != NULL;
    if (status == TW_OK) {
        places = malloc(((size_t)about.vertices + 1) * sizeof *places);
        status = places != NULL ? TW_OK
                                : tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for %lld names",
                                          (long long)about.vertices);
    }
    if (status == TW_OK) {
        memset(places, 0xFF, ((size_t)about.vertices + 1) * sizeof *places); /* -1 */
        for (int64_t j = 0; j < names->cols.count; j++) {
            places[names->cols.list[j]] = (int32_t)j;
        }
    }
    for (int64_t i = 0; i < out->rows && status == TW_OK && *good; i++) {
        char *at = cli_next_line(in, &line, &room);
        *good = at != NULL && read_entries(at, names, places, (int32_t *)out->data + i * out->cols);
    }
    free(places);
    free(line);
    if (in != NULL) {
        fclose(in);
    }
    return status;
}

static tw_status make_table(tw_context *ctx, const char *path, const cli_table_names *names,
                            tw_matrix **out)
{
    const int64_t rows = names->rows.count, cols = names->cols.count;
    const uint64_t row = (uint64_t)cols * sizeof(int32_t);
    const uint64_t most = tw_memory_limit(ctx) / 2;
    bool good = false;
    tw_matrix *table = calloc(1, sizeof *table);
    tw_status status = TW_OK;
    if (table != NULL && (uint64_t)rows <= most / (row + 1)) {
        *table = (tw_matrix){malloc((size_t)rows * row + 1), rows, cols, cols, TW_I32};
    }
    if (table == NULL || table->data == NULL) {
        status =
            tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for a table of %lld x %lld vertices",
                    (long long)rows, (long long)cols);
    }
    if (status == TW_OK) {
        status = read_table(ctx, path, names, table, &good);
    }
    if (status == TW_OK && good) {
        *out = table;
    } else {
        free_table(table);
    }
    return status;
}

tw_status cli_vertex_table(cli_job *job, tw_source *out, const char *path, tw_status refused)
{
    char sentence[SENTENCE];
    cli_table_names names = {0};
    tw_matrix *table = NULL;
    snprintf(sentence, sizeof sentence, "%s", tw_last_error(job->ctx));
    tw_status status =
        cli_read_table_names(job->ctx, path, NULL, &names.graph, &names.rows, &names.cols);
    if (status == TW_OK && names.graph != NULL) {
        status = make_table(job->ctx, path, &names, &table);
    }
    cli_table_names_clear(&names);
    if (status == TW_OK && table == NULL) {
        return tw_fail(job->ctx, refused, "%s", sentence);
    }
    if (status == TW_OK) {
        *out = (tw_source){sizeof(tw_source), table,     {table->rows, table->cols, TW_I32}, 0,
                           give_rows,         free_table};
    }
    return status;
}

void cli_vertex_table_renumber(tw_source *table, const int32_t *list)
{
    const tw_matrix *matrix = table->self;
    int32_t *entries = matrix->data;
    for (int64_t i = 0; i < matrix->rows * matrix->cols; i++) {
        entries[i] = entries[i] >= 0 ? list[entries[i]] : entries[i];
    }
}
