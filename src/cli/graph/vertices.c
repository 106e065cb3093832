/*
 * Lists of vertices. Numbers: separated by commas or blanks, "a-b" is a range, both ends included.
 * Labels: separated by commas on the command line and by lines in a file, so that a label may hold
 * a hyphen anywhere and a comma in a file.
 */
#include "cli/graph/vertices.h"

#include "frame/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"    /* before UTF-8, by spreadsheets and editors */
#define LARGEST_FILE (256L * 1024 * 1024) /* of a list; a list of all vertices needs no file */

/* A number as the file counts. */
static tw_status check_number(tw_context *ctx, const tw_graph_info *about, const char *what,
                              int64_t number)
{
    if (number < about->first || number - about->first >= about->vertices) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%s: there is no vertex %lld; the graph has %lld, numbered from %d", what,
                       (long long)number, (long long)about->vertices, (int)about->first);
    }
    return TW_OK;
}

tw_status cli_vertex(tw_context *ctx, int32_t *out, const tw_graph *graph, const char *what,
                     const char *text)
{
    int64_t number = -1;
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    tw_status status = tw_graph_describe(graph, &info);
    if (status != TW_OK) {
        return status;
    }
    if (info.labelled) {
        number = tw_graph_find(graph, text);
        if (number < 0) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "%s: there is no vertex named '%.60s'", what,
                           text);
        }
    } else if (!cli_read_count(text, &number)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%s: '%.60s' is not a vertex number (vertex names need --ids)", what, text);
    }
    if (!info.labelled) {
        status = check_number(ctx, &info, what, number);
        number -= info.first;
    }
    if (status == TW_OK) {
        *out = (int32_t)number;
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- lists */

typedef struct builder {
    tw_context *ctx;
    const tw_graph *graph;
    tw_graph_info about; /* it */
    const char *what;
    cli_vertices *out;
    int64_t room;
} builder;

static tw_status append(builder *b, int64_t first, int64_t last)
{
    cli_vertices *out = b->out;
    int64_t more = last - first + 1;
    if (more > b->room - out->count) {
        int64_t room = 2 * (out->count + more);
        int32_t *list = realloc(out->list, (size_t)room * sizeof *list);
        if (list == NULL) {
            return tw_fail(b->ctx, TW_ERR_MEMORY, "%s: no memory for %lld vertices", b->what,
                           (long long)room);
        }
        out->list = list;
        b->room = room;
    }
    for (int64_t v = first; v <= last; v++) {
        out->list[out->count++] = (int32_t)v;
    }
    return TW_OK;
}

/* "7" or "7-9". */
static tw_status append_range(builder *b, char *word)
{
    int64_t first = 0, last = 0;
    char *hyphen = strchr(word, '-');
    bool right = true;
    if (hyphen != NULL) {
        *hyphen = '\0';
        right = cli_read_count(word, &first) && cli_read_count(hyphen + 1, &last) && first <= last;
        *hyphen = '-';
    } else {
        right = cli_read_count(word, &first);
        last = first;
    }
    if (!right) {
        return tw_fail(
            b->ctx, TW_ERR_ARGUMENT,
            "%s: '%.60s' is not a vertex number or a range such as 7-9 (vertex names need --ids)",
            b->what, word);
    }
    const int64_t zero = b->about.first;
    tw_status status = check_number(b->ctx, &b->about, b->what, first);
    if (status == TW_OK) {
        status = check_number(b->ctx, &b->about, b->what, last);
    }
    return status == TW_OK ? append(b, first - zero, last - zero) : status;
}

static tw_status append_label(builder *b, const char *word)
{
    int32_t vertex = 0;
    tw_status status = cli_vertex(b->ctx, &vertex, b->graph, b->what, word);
    return status == TW_OK ? append(b, vertex, vertex) : status;
}

/* Cut blanks off both ends, in place. */
static char *trim(char *word)
{
    while (isspace((unsigned char)*word)) {
        word++;
    }
    size_t length = strlen(word);
    while (length > 0 && isspace((unsigned char)word[length - 1])) {
        word[--length] = '\0';
    }
    return word;
}

static tw_status append_all(builder *b, char *text, bool from_file)
{
    bool labels = b->about.labelled != 0;
    const char *separators = !labels ? ", \t\r\n" : from_file ? "\n" : ",";
    char *rest = NULL;
    tw_status status = TW_OK;
    for (char *word = strtok_r(text, separators, &rest); word != NULL && status == TW_OK;
         word = strtok_r(NULL, separators, &rest)) {
        word = labels ? trim(word) : word;
        if (*word != '\0') {
            status = labels ? append_label(b, word) : append_range(b, word);
        }
    }
    return status;
}

/* The whole file, ended by 0. */
static tw_status read_text(tw_context *ctx, char **out, const char *what, const char *path)
{
    char *text = NULL;
    size_t used = 0, room = 0;
    tw_status status = TW_OK;
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return tw_fail(ctx, TW_ERR_IO, "%s: cannot open '%.200s': %s", what, path, strerror(errno));
    }
    for (;;) {
        if (room - used < 2) {
            room = room == 0 ? 4096 : 2 * room;
            char *larger = room <= LARGEST_FILE ? realloc(text, room) : NULL;
            if (larger == NULL) {
                status = tw_fail(ctx, TW_ERR_MEMORY, "%s: '%.200s' is too long a list", what, path);
                goto done;
            }
            text = larger;
        }
        size_t got = fread(text + used, 1, room - used - 1, file);
        used += got;
        if (got == 0) {
            break;
        }
    }
    if (ferror(file)) {
        status =
            tw_fail(ctx, TW_ERR_IO, "%s: cannot read '%.200s': %s", what, path, strerror(errno));
        goto done;
    }
    text[used] = '\0';
    if (strlen(text) != used) {
        status = tw_fail(ctx, TW_ERR_FORMAT, "%s: '%.200s' is not text (byte %zu is 0)", what, path,
                         strlen(text));
        goto done;
    }
    if (strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
        memmove(text, text + strlen(BYTE_ORDER_MARK), used + 1 - strlen(BYTE_ORDER_MARK));
    }
    *out = text;
    text = NULL;
done:
    free(text);
    fclose(file);
    return status;
}

tw_status cli_vertices_parse(tw_context *ctx, cli_vertices *out, const tw_graph *graph,
                             const char *what, const char *text)
{
    *out = (cli_vertices){NULL, 0};
    if (text == NULL) {
        return TW_OK;
    }
    char *copy = NULL;
    builder b = {ctx, graph, TW_GRAPH_INFO_INIT, what, out, 0};
    bool from_file = text[0] == '@';
    tw_status status = tw_graph_describe(graph, &b.about);
    if (status != TW_OK) {
        return status;
    }
    if (from_file) {
        status = read_text(ctx, &copy, what, text + 1);
    } else if ((copy = strdup(text)) == NULL) {
        status = tw_fail(ctx, TW_ERR_MEMORY, "%s: no memory for the list", what);
    }
    if (status == TW_OK) {
        status = append_all(&b, copy, from_file);
    }
    if (status == TW_OK && out->count == 0) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "%s: the list is empty", what);
    }
    if (status != TW_OK) {
        cli_vertices_clear(out);
    }
    free(copy);
    return status;
}

void cli_vertices_clear(cli_vertices *vertices)
{
    free(vertices->list);
    *vertices = (cli_vertices){NULL, 0};
}
