/*
 * Lists of vertices. Numbers: separated by commas or blanks, "a-b" is a range, both ends included.
 * Labels: separated by commas on the command line and by lines in a file. A label that holds a
 * comma stands in double quotes, a quote in it being written twice, as in a .csv and in the files
 * of --labels; or alone: what is a label as a whole is not taken apart.
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
            return tw_fail(b->ctx, TW_ERR_MEMORY, "%s: not enough memory for %lld vertices",
                           b->what, (long long)room);
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

/* Whether a word is what a comma cuts off a label. */
static bool is_cut(const builder *b, const char *word)
{
    const size_t length = strlen(word);
    for (int64_t v = 0; v < b->about.vertices; v++) {
        const char *label = tw_graph_label(b->graph, v);
        if (label != NULL && strncmp(label, word, length) == 0 && label[length] == ',') {
            return true;
        }
    }
    return false;
}

static tw_status append_label(builder *b, const char *word)
{
    const int64_t vertex = tw_graph_find(b->graph, word);
    if (vertex >= 0) {
        return append(b, vertex, vertex);
    }
    return tw_fail(b->ctx, TW_ERR_ARGUMENT, "%s: there is no vertex named '%.60s'%s", b->what, word,
                   is_cut(b, word) ? "; put a name that holds a comma in double quotes" : "");
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

/* Whether the quotes of a word are those of a .csv field, which are taken away in place. */
static bool unquote(char *word)
{
    const size_t length = strlen(word);
    if (length < 2 || word[0] != '"' || word[length - 1] != '"') {
        return false;
    }
    for (size_t i = 1; i < length - 1; i++) { /* those inside stand two by two */
        if (word[i] == '"' && (++i == length - 1 || word[i] != '"')) {
            return false;
        }
    }
    char *to = word;
    for (size_t i = 1; i < length - 1; i++) {
        *to++ = word[i];
        i += word[i] == '"';
    }
    *to = '\0';
    return true;
}

/* The end of a word: the next separator that does not stand in quotes the word begins with. */
static char *word_end(char *word, char separator)
{
    while (isblank((unsigned char)*word)) {
        word++;
    }
    bool quoted = *word == '"';
    for (word += quoted; *word != '\0' && (quoted || *word != separator); word++) {
        if (quoted && *word == '"') {
            quoted = word[1] == '"';
            word += quoted;
        }
    }
    return word;
}

/* Labels as they stand, else without their quotes. */
static tw_status append_labels(builder *b, char *text, char separator)
{
    tw_status status = TW_OK;
    while (*text != '\0' && status == TW_OK) {
        char *end = strchr(text, separator);
        end = separator == ',' ? word_end(text, separator) : end != NULL ? end : strchr(text, '\0');
        const bool last = *end == '\0';
        *end = '\0';
        char *word = trim(text);
        if (*word != '\0' && tw_graph_find(b->graph, word) < 0) {
            (void)unquote(word);
        }
        if (*word != '\0') {
            status = append_label(b, word);
        }
        text = last ? end : end + 1;
    }
    return status;
}

static tw_status append_numbers(builder *b, char *text)
{
    static const char separators[] = ", \t\r\n";
    char *rest = NULL;
    tw_status status = TW_OK;
    for (char *word = strtok_r(text, separators, &rest); word != NULL && status == TW_OK;
         word = strtok_r(NULL, separators, &rest)) {
        status = append_range(b, word);
    }
    return status;
}

static tw_status append_all(builder *b, char *text, bool from_file)
{
    if (!b->about.labelled) {
        return append_numbers(b, text);
    }
    if (!from_file && tw_graph_find(b->graph, text) >= 0) {
        return append_label(b, text);
    }
    return append_labels(b, text, from_file ? '\n' : ',');
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
        status = tw_fail(ctx, TW_ERR_MEMORY, "%s: not enough memory for the list", what);
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

int64_t cli_vertices_guess(const char *text, int64_t vertices)
{
    int64_t count = text != NULL && text[0] != '@' ? 0 : vertices;
    for (const char *at = text; at != NULL && *at != '\0' && count < vertices;) {
        char *end = NULL;
        const long long first = strtoll(at, &end, 10);
        const long long last = end != at && *end == '-' ? strtoll(end + 1, NULL, 10) : first;
        count += last > first ? last - first + 1 : 1;
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return count < vertices ? count : vertices;
}
