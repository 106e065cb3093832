/*
 * Edge lists, one edge per line: "SOURCE TARGET [WEIGHT] [...]", separated by blanks, tabs, commas,
 * semicolons or bars (columns.h). A line that begins with # or % is a comment, unless it may be an
 * edge of names, which is refused. Vertices are indices from 0, as many as the highest of them asks
 * for, or of a comment "# vertices: N" before the first edge; or names, numbered as they appear.
 *
 * The first lines of data settle the columns for all. Lists of indices are parsed by all threads,
 * names in order by one. One end that can be no index makes all of them names: where the first
 * lines do not show it, the text is read again: a compressed file by who opened it, and what comes
 * through a pipe, if it is a table, from a copy, while that is a small part of the memory (kept.h).
 */
#include "io/graph/columns.h"
#include "io/graph/decimals.h"
#include "io/graph/dense.h"
#include "io/graph/doubts.h"
#include "io/graph/format.h"
#include "io/graph/labels.h"
#include "io/graph/look.h"
#include "io/graph/pieces.h"
#include "io/graph/remarks.h"
#include "io/graph/strangers.h"
#include "io/kept.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_NAME = 4095 }; /* bytes of a name with quotes in it */

/* A list of more vertices than this, of which edges mention fewer than one in SPARSE_SHARE, has
 * identifiers in place of indices. */
#define SPARSE_FROM 100000
#define SPARSE_SHARE 10

/* What a line reader works with: `names` is changed by lists of words, which are read in order. */
typedef struct list {
    twi_columns columns;
    twi_labels *names; /* NULL: vertices are indices */
    atomic_bool *odd;  /* one of them can be none, but a name */
    atomic_bool *both; /* an edge says of itself that it counts both ways */
    atomic_bool *one;  /* one does not */
    twi_decimals *decimals;
    bool asked;   /* for names, by the caller */
    bool as_file; /* whether edges count both ways is for the file to say */
} list;

/* After a field that is no index: whether it is a name is for the caller, who knows whether the
 * text can be had again. */
static bool fail_index(const list *kind, const twi_field *field)
{
    if (twi_field_is_name(field, kind->columns.table)) {
        atomic_store(kind->odd, true);
    }
    return false;
}

/* "007" is 7, and a 7 may be another vertex. */
static bool keeps_zeros(twi_text *text, const list *kind, const char *end)
{
    const twi_field field = {.begin = text->at, .end = end};
    char shown[29];
    if (end - text->at < 2 || *text->at != '0' || !isdigit((unsigned char)text->at[1])) {
        return true;
    }
    (void)twi_text_show(shown, sizeof shown, field.begin, field.end);
    (void)twi_text_fail(text, TW_ERR_FORMAT, NULL,
                        "'%s' is not a vertex number: its zeros would be lost; vertex names need "
                        "--ids",
                        shown);
    return fail_index(kind, &field);
}

/* To the end of a line of which no field is wanted any more. A comment that a carriage return
 * alone should have ended would hide what follows it. */
static bool skip_rest(twi_text *text)
{
    const char *begin = text->at;
    const bool comment = begin < text->end && (*begin == '#' || *begin == '%');
    twi_text_skip_line(text);
    const char *end = text->at;
    while (end > begin && end[-1] == '\r') {
        end--;
    }
    return !comment || memchr(begin, '\r', (size_t)(end - begin)) == NULL ||
           twi_text_fail(text, TW_ERR_FORMAT, begin,
                         "a lone carriage return in a comment hides what follows it; end lines "
                         "with LF or CR LF");
}

/* ------------------------------------------------------------------ lines of three numbers */

/* Of the field at text->at. */
static const char *end_of(const twi_text *text)
{
    const char *at = text->at;
    while (at < text->end && !twi_text_is_break(*at)) {
        at++;
    }
    return at;
}

/* A line of nothing but separators. */
static bool is_hollow(const twi_text *text, char separator)
{
    const char expected = separator == ' ' ? ',' : separator;
    return *text->at == expected && twi_text_is_hollow(text, expected);
}

static bool read_index(twi_text *text, const list *kind, int32_t *out, bool first)
{
    const char *at;
    if (twi_field_is_missing(text, kind->columns.separator, first)) {
        return twi_text_fail(text, TW_ERR_FORMAT, NULL, "a vertex is missing");
    }
    switch (twi_field_find(text, ' ', first)) {
    case TWI_FIELD:
        at = text->at;
        if (*at == '0' && at + 1 < text->end && !twi_text_is_break(at[1]) &&
            !keeps_zeros(text, kind, end_of(text))) {
            return false;
        }
        return twi_text_vertex(text, out) ||
               fail_index(kind, &(twi_field){.begin = at, .end = end_of(text)});
    case TWI_LINE_END:
        return twi_text_fail(text, TW_ERR_FORMAT, NULL, "the line ends; expected a vertex");
    default:
        return false;
    }
}

/* Of the field behind this one. */
static const char *begin_of(const twi_text *text)
{
    twi_text next = *text;
    twi_text_skip_blanks(&next);
    next.at += next.at < next.end && *next.at == ',';
    twi_text_skip_blanks(&next);
    return next.at;
}

/* The weight behind two indices, or nothing. */
static bool read_weight(twi_text *text, char separator, bool weighted, twi_number *weight)
{
    if (weighted && twi_field_is_missing(text, separator, false)) {
        return twi_text_fail(text, TW_ERR_FORMAT, NULL, "the weight is missing");
    }
    twi_found next = twi_field_find(text, ' ', false);
    if (next == TWI_FIELD && !weighted) {
        return twi_text_fail(text, TW_ERR_FORMAT, NULL,
                             "a third field, but the first line has two");
    }
    if (next == TWI_LINE_END && weighted) {
        return twi_text_fail(text, TW_ERR_FORMAT, NULL,
                             "the line ends before column 3, the weight");
    }
    return next == TWI_LINE_END || (next == TWI_FIELD && twi_text_number(text, weight, "a weight"));
}

/* Behind the number at `at`: where commas or tabs separate, nothing else does. "3 5" is no number
 * there, and "1,5" none where tabs do, rather than two; "12 Main St" may be a `vertex` by name. */
static bool check_break(twi_text *text, const list *kind, const char *at, bool vertex)
{
    const char separator = kind->columns.separator;
    const char *end = text->at;
    while (end < text->end && *end != separator && twi_text_is_blank(*end)) {
        end++;
    }
    if (separator == ' ' || end == text->end || *end == separator || *end == '\n' || *end == '#' ||
        *end == '%') {
        return true;
    }
    if (*end == ',') {
        return twi_text_fail(text, TW_ERR_FORMAT, at,
                             "a comma inside a field; write decimals with a point");
    }
    while (end < text->end && *end != separator && *end != '\n' && *end != '\r') {
        end++;
    }
    char shown[29];
    (void)twi_text_show(shown, sizeof shown, at, end);
    const twi_field field = {.begin = at, .end = end};
    if (vertex && twi_field_is_name(&field, kind->columns.table)) {
        (void)twi_text_fail(text, TW_ERR_FORMAT, at,
                            "'%s' is not a vertex number; vertex names need --ids", shown);
        return fail_index(kind, &field);
    }
    return twi_text_fail(text, TW_ERR_FORMAT, at, "'%s' is not a number: %s separate the fields",
                         shown, separator == ',' ? "commas" : "tabs");
}

/* Nothing but empty fields or a remark follows the weight: "12,5" would be cut short. */
static bool check_end(twi_text *text, char separator)
{
    while (!twi_text_line_ends(text) && *text->at == separator) {
        text->at++;
    }
    if (twi_text_line_ends(text) || *text->at == '#' || *text->at == '%') {
        return true;
    }
    return twi_text_fail(text, TW_ERR_FORMAT, NULL,
                         "a fourth field, but the first line has three; write decimals with a "
                         "point, and fields that hold a separator in quotes");
}

static bool read_row(twi_text *text, const void *self);

/* Most lists: indices in the first two columns, the weight in the third. */
static bool read_plain(twi_text *text, const void *self)
{
    const list *kind = self;
    int32_t source = 0;
    int32_t target = 0;
    twi_number weight = {true, 1, 1};
    const char *const begin = text->at;
    const char *at = begin;
    const bool ignored = kind->columns.loose && kind->columns.weight == 0;
    if (!ignored &&
        twi_text_quick_edge(text, at, kind->columns.separator, kind->columns.weight > 0)) {
        return text->status == TW_OK;
    }
    if (*at == '#' || *at == '%' || is_hollow(text, kind->columns.separator)) {
        return skip_rest(text);
    }
    if (!read_index(text, kind, &source, true) || !check_break(text, kind, at, true)) {
        return false;
    }
    at = begin_of(text);
    if (!read_index(text, kind, &target, false) || !check_break(text, kind, at, true)) {
        return false;
    }
    at = begin_of(text);
    if (!ignored &&
        !read_weight(text, kind->columns.separator, kind->columns.weight > 0, &weight)) {
        return false;
    }
    if (!ignored && kind->columns.separator == '\t') {
        if (text->at < text->end && *text->at == ',') { /* "7,5", or what else that may be */
            text->at = begin;
            return read_row(text, self);
        }
        twi_decimals_note_point(kind->decimals, &weight, at, text->at);
    }
    if (!ignored && !check_break(text, kind, at, false)) {
        return false;
    }
    if (!kind->columns.loose && kind->columns.fields == 3 &&
        !check_end(text, kind->columns.separator)) {
        return false;
    }
    return skip_rest(text) && twi_text_add(text, at, source, target, &weight);
}

/* -------------------------------------------------------------------------- any other line */

/* A quote inside quotes is written twice. */
static bool undouble(twi_text *text, const twi_field *field, char out[LONGEST_NAME + 1],
                     size_t *length)
{
    *length = 0;
    for (const char *at = field->begin; at < field->end; at++) {
        if (*length == LONGEST_NAME) {
            return twi_text_fail(text, TW_ERR_FORMAT, field->begin, "a name of more than %d bytes",
                                 LONGEST_NAME);
        }
        out[(*length)++] = *at;
        at += *at == '"';
    }
    return true;
}

static bool read_name(twi_text *text, const twi_field *field, twi_labels *names, int32_t *out)
{
    char plain[LONGEST_NAME + 1];
    const char *name = field->begin;
    size_t length = (size_t)(field->end - field->begin);
    if (field->doubled) {
        if (!undouble(text, field, plain, &length)) {
            return false;
        }
        name = plain;
    }
    if (memchr(name, '\0', length) != NULL) {
        return twi_text_fail(text, TW_ERR_FORMAT, field->begin, "a name holds a zero byte");
    }
    tw_status status = twi_labels_vertex(text->ctx, names, name, length, out);
    if (status == TW_ERR_MEMORY && twi_edge_blocks_drop(&text->edges)) { /* to count them all */
        status = twi_labels_vertex(text->ctx, names, name, length, out);
    }
    if (status == TW_ERR_MEMORY && text->edges.counting && twi_labels_count(text->ctx, names)) {
        status = twi_labels_vertex(text->ctx, names, name, length, out);
    }
    if (status != TW_OK) {
        return twi_text_fail(text, status, field->begin, "%.200s", tw_last_error(text->ctx));
    }
    text->highest = *out > text->highest ? *out : text->highest;
    return true;
}

/* "46.9" and "-5" are numbers of something else more often than names, which they are if somebody
 * says so. */
static bool check_decimal(twi_text *text, const list *kind, const twi_field *field)
{
    const char begin = *field->begin;
    const char *digit = field->begin;
    if (kind->asked || field->quoted ||
        !(isdigit((unsigned char)begin) || begin == '-' || begin == '+' || begin == '.')) {
        return true;
    }
    while (digit < field->end && isdigit((unsigned char)*digit)) {
        digit++;
    }
    if (digit == field->end || !twi_field_is_number(text->rules, field)) {
        return true;
    }
    char shown[29];
    (void)twi_text_show(shown, sizeof shown, field->begin, field->end);
    return twi_text_fail(
        text, TW_ERR_FORMAT, field->begin,
        "'%s' is a number, but not that of a vertex; use --ids if it is a name, or "
        "give the columns with --from and --to",
        shown);
}

static bool read_end(twi_text *text, const list *kind, const twi_field *field, int32_t *out)
{
    if (field->begin == field->end) {
        return twi_text_fail(text, TW_ERR_FORMAT, field->begin, "a vertex is missing");
    }
    if (kind->names != NULL) {
        return check_decimal(text, kind, field) && read_name(text, field, kind->names, out);
    }
    twi_cell cell = twi_field_enter(text, field);
    const bool good = keeps_zeros(text, kind, field->end) && twi_text_vertex(text, out);
    return twi_field_leave(text, field, cell, good, "a vertex number; vertex names need --ids") ||
           fail_index(kind, field);
}

/* The first column from `column` on that a line must have. */
static int64_t next_wanted(const twi_columns *columns, int64_t column)
{
    const int64_t wanted[] = {columns->from, columns->to, columns->weight};
    int64_t next = columns->last;
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
        next = wanted[w] >= column && wanted[w] < next ? wanted[w] : next;
    }
    return next;
}

static const char *column_name(const twi_columns *columns, int64_t column)
{
    return column == columns->weight ? "the weight"
           : column == columns->from ? "the source"
                                     : "the target";
}

/* A line that somebody may miss, whichever it is taken for. */
static bool refuse_doubt(twi_text *text)
{
    return twi_text_fail(text, TW_ERR_FORMAT, NULL,
                         "a comment, or an edge of a name that begins with '%c'? Put the name in "
                         "quotes if it is an edge, and a blank behind the '%c' if it is a comment",
                         *text->at, *text->at);
}

/* What the column says of the edge. */
static bool says_both(const twi_columns *columns, int64_t column, const twi_field *field)
{
    bool both = false;
    for (int w = 0; w < TWI_WAYS; w++) {
        both |= columns->ways[w] == column &&
                twi_title_both_ways(w, field->begin, (size_t)(field->end - field->begin));
    }
    return both;
}

/* The edge, and the one back if it counts both ways. */
static bool add_edge(twi_text *text, const list *kind, const char *at, const int32_t ends[2],
                     const twi_number *weight, bool both)
{
    if (!twi_text_add(text, at, ends[0], ends[1], weight)) {
        return false;
    }
    atomic_bool *seen = both ? kind->both : kind->one;
    if (!atomic_load_explicit(seen, memory_order_relaxed)) {
        atomic_store(seen, true);
    }
    return !both || !kind->as_file || text->rules->both || ends[0] == ends[1] ||
           twi_text_add(text, at, ends[1], ends[0], weight);
}

static bool read_row(twi_text *text, const void *self)
{
    const list *kind = self;
    const twi_columns *columns = &kind->columns;
    int32_t ends[2] = {0, 0};
    twi_number weight = {true, 1, 1};
    const char *at = text->at;
    twi_field field;
    twi_found next = TWI_FIELD;
    bool both = false;
    if (*at == '#' || *at == '%') {
        if (twi_columns_hide_edge(*text, columns)) {
            return refuse_doubt(text);
        }
        return skip_rest(text);
    }
    if (is_hollow(text, columns->separator)) {
        return skip_rest(text);
    }
    for (int64_t column = 1; column <= columns->span; column++) {
        next = twi_field_next(text, columns->separator, column == 1, &field);
        if (next == TWI_LINE_END && column > columns->last) {
            break;
        }
        if (next == TWI_LINE_END) {
            return twi_text_fail(text, TW_ERR_FORMAT, NULL, "the line ends before column %lld, %s",
                                 (long long)next_wanted(columns, column),
                                 column_name(columns, next_wanted(columns, column)));
        }
        bool good = next == TWI_FIELD;
        if (good && (column == columns->from || column == columns->to)) {
            good = read_end(text, kind, &field, &ends[column == columns->to]);
        } else if (good && column == columns->weight) {
            at = field.begin;
            good = twi_decimal_read(text, &field, kind->decimals, &weight);
        } else if (good) {
            both |= says_both(columns, column, &field);
        }
        if (!good) {
            return false;
        }
    }
    if (!columns->loose && columns->weight == 0 &&
        twi_field_next(text, columns->separator, false, &field) == TWI_FIELD) {
        return twi_text_fail(text, TW_ERR_FORMAT, field.begin,
                             "a third field, but the first line has two");
    }
    if (!columns->loose && columns->weight > 0 && columns->fields == columns->last &&
        !check_end(text, columns->separator)) {
        return false;
    }
    return skip_rest(text) && text->status == TW_OK &&
           add_edge(text, kind, at, ends, &weight, both);
}

/* ------------------------------------------------------------------------------- the reader */

/* Identifiers such as 9999999 are names, not indices: as indices they would make vertices that no
 * edge mentions, and time and memory go with those. */
static tw_status check_density(const twi_text_file *file, int64_t vertices)
{
    const int64_t ends = 2 * twi_text_records(file);
    if (vertices <= SPARSE_FROM || vertices / SPARSE_SHARE <= ends) {
        return TW_OK;
    }
    return tw_fail(
        file->ctx, TW_ERR_FORMAT,
        "%.400s: vertex %lld implies %lld vertices, but %lld edge%s can name only %lld; "
        "use --ids to number them by name, or add the comment '# vertices: %lld' before the "
        "first edge",
        file->input->name, (long long)(vertices - 1 + file->rules.base), (long long)vertices,
        (long long)ends / 2, ends == 2 ? "" : "s", (long long)ends, (long long)vertices);
}

/* Words of the first line that are names further down: it may well be an edge, unless they are
 * common titles beside a weight that is none. */
static tw_status check_titles(const twi_text_file *file, const list *kind)
{
    const bool certain = !kind->columns.unusual && kind->columns.weight > 0;
    const bool looks = kind->names != NULL && kind->columns.guessed && !certain;
    for (int e = 0; e < 2 && looks; e++) {
        const twi_field *field = &kind->columns.ends[e];
        if (twi_labels_find(kind->names, field->begin, (size_t)(field->end - field->begin)) >= 0) {
            char shown[61];
            (void)twi_text_show(shown, sizeof shown, field->begin, field->end);
            return tw_fail(file->ctx, TW_ERR_FORMAT,
                           "%.400s: the first line looks like a header, but '%s' is a vertex, "
                           "too; use --header or --no-header",
                           file->input->name, shown);
        }
    }
    return TW_OK;
}

static tw_status read_list(twi_text_file *file, list *kind, int64_t declared, tw_graph **out)
{
    tw_context *ctx = file->ctx;
    tw_graph *graph = NULL;
    tw_status status =
        twi_text_parse(file, twi_columns_are_plain(&kind->columns) ? read_plain : read_row, kind);
    if (kind->as_file && !file->rules.both) {
        file->rules.undirected |= atomic_load(kind->both) && !atomic_load(kind->one);
    }
    if (status == TW_OK && kind->columns.titles && twi_text_records(file) == 0) {
        status = tw_fail(ctx, TW_ERR_FORMAT, "%.500s: a header and no edges%s", file->input->name,
                         kind->names != NULL     ? "; if its only line is an edge, use --no-header"
                         : kind->columns.unusual ? "; if its only line is an edge, use --ids"
                                                 : "");
    }
    if (status == TW_OK) {
        status = check_titles(file, kind);
    }
    if (status == TW_OK) {
        status = twi_decimals_check(ctx, file->input, kind->decimals);
    }
    int64_t vertices = twi_text_highest(file) + 1;
    if (kind->names != NULL && kind->names->sample != NULL) {
        const twi_labels_guess guess = twi_labels_estimate(kind->names);
        vertices = guess.count;
        file->guessed = guess.guessed;
        file->names = guess.end;
        file->reading_names = guess.reading;
        file->kept_names = guess.kept;
    }
    if (status == TW_OK && kind->names == NULL && declared < vertices) {
        status = check_density(file, vertices);
    }
    if (kind->names == NULL && declared > vertices) {
        vertices = declared;
    }
    if (status == TW_OK) {
        status = twi_text_build(file, &graph, vertices);
    }
    if (status == TW_OK && kind->names != NULL) {
        status = twi_labels_give(ctx, kind->names, graph);
    }
    if (status == TW_OK) {
        status = twi_check_first_edge(ctx, file->input, &kind->columns, graph);
    }
    if (status != TW_OK) {
        tw_graph_destroy(graph);
        return status;
    }
    if (kind->names == NULL && declared < 0) {
        twi_mention_gaps(ctx, file->input, graph, twi_text_records(file));
    }
    twi_mention_weight(ctx, file->input, &kind->columns);
    graph->header_guessed = kind->columns.guessed && kind->columns.unusual;
    *out = graph;
    return TW_OK;
}

/* The same before the first edge, where only a weight tells an edge from a header behind a '#'; and
 * such a header must not name other columns than are taken. */
static bool check_comments(twi_text *head, const char *end, const twi_columns *columns,
                           const tw_graph_read_options *opts)
{
    while (head->at < end) {
        if (!twi_text_line_ends(head)) {
            if (columns->weight > 0 && twi_columns_hide_edge(*head, columns)) {
                return refuse_doubt(head);
            }
            if (!twi_columns_check_comment(head, opts, columns)) {
                return false;
            }
        }
        twi_text_skip_line(head);
        (void)twi_text_next_line(head);
    }
    return true;
}

/* Behind a header, the same of comments that are all there is. */
static bool check_only_comments(twi_text *head, const twi_columns *columns)
{
    twi_columns named = *columns;
    twi_text text = *head;
    int64_t ignored = 0;
    twi_text_skip_line(&text);
    if (!columns->titles || !twi_text_next_line(&text)) {
        return true;
    }
    *head = text;
    if (twi_look_for_line(&text, &ignored)) {
        return true;
    }
    named.names = true;
    do {
        if (!twi_text_line_ends(head) && twi_columns_hide_edge(*head, &named)) {
            return refuse_doubt(head);
        }
        twi_text_skip_line(head);
    } while (twi_text_next_line(head));
    return true;
}

/* What the first lines leave in doubt, `before` being at the begin of the text and `head` at the
 * first line of data. */
static tw_status check_head(tw_context *ctx, const twi_input *input, twi_text before,
                            const twi_text *head, const tw_graph_read_options *opts,
                            const twi_columns *columns)
{
    twi_text behind = *head;
    if (!check_comments(&before, head->at, columns, opts)) {
        return twi_text_report(ctx, input, &before);
    }
    tw_status status = twi_refuse_dense(ctx, input, head, columns, opts);
    if (status == TW_OK) {
        status = twi_columns_check_titles(ctx, input, head, opts, columns);
    }
    if (status == TW_OK && columns->doubtful && columns->no_edge) {
        status = twi_ask_for_header(ctx, input, columns);
    }
    if (status == TW_OK && !check_only_comments(&behind, columns)) {
        status = twi_text_report(ctx, input, &behind);
    }
    return status;
}

/* What a list says of itself, unless the options say otherwise. */
static tw_status take_remarks(tw_context *ctx, const twi_input *input, const twi_remarks *remarks,
                              tw_graph_read_options *opts)
{
    const bool given = opts->from != NULL || opts->to != NULL;
    if (remarks->bipartite && !given) {
        return tw_fail(
            ctx, TW_ERR_FORMAT,
            "%.400s: a bipartite list ('%% bip'), whose sources and targets are numbered "
            "separately; renumber the targets, or use --from 1 --to 2 if a number "
            "means the same in both columns",
            input->name);
    }
    if (remarks->timed && !given && opts->weight == NULL && !opts->unweighted) {
        opts->weight = "3";
    }
    return TW_OK;
}

/* What became of a try. */
typedef struct attempt {
    bool odd;   /* it failed, since a vertex can be no index */
    bool again; /* the text is still to be had */
} attempt;

static tw_status read_edges(tw_context *ctx, tw_graph **out, twi_input *input,
                            const tw_graph_read_options *given, attempt *done)
{
    tw_graph_read_options asked = *given;
    const tw_graph_read_options *const opts = &asked;
    twi_labels names = {0};
    twi_kept *kept = NULL;
    atomic_bool seen = false, both = false, one = false;
    twi_decimals decimals = {0};
    list kind = {.odd = &seen,
                 .both = &both,
                 .one = &one,
                 .decimals = &decimals,
                 .asked = opts->ids == 1,
                 .as_file = opts->directed == TW_GRAPH_DIRECTED_AS_FILE,
                 .columns = {.separator = ' ', .from = 1, .to = 2, .last = 2, .names = opts->ids}};
    int64_t declared = -1;
    twi_remarks remarks = {0};
    *done = (attempt){0};
    twi_text_file file = {.rules = {.vertices = -1, .unweighted = opts->unweighted}};
    tw_status status = twi_refuse_strangers(ctx, input);
    if (status == TW_OK) {
        status = twi_text_open(ctx, input, "#%");
    }
    twi_text head = twi_text_head(ctx, input, &file.rules);
    if (status == TW_OK) {
        remarks = twi_remarks_look(&head);
        file.rules.both = opts->directed != TW_GRAPH_DIRECTED_YES &&
                          twi_read_both(opts, remarks.undirected); /* else a line is an arc */
        file.rules.undirected = twi_read_undirected(opts, remarks.undirected);
        status = take_remarks(ctx, input, &remarks, &asked);
    }
    kind.columns.given = status == TW_OK ? twi_columns_given(&head) : 0;
    twi_text before = head;
    if (status == TW_OK) {
        status = twi_columns_check_returns(ctx, input, head);
    }
    if (status == TW_OK && twi_look_for_line(&head, &declared)) {
        status = twi_columns_settle(ctx, input, &head, opts, &kind.columns);
        if (status == TW_OK) {
            status = check_head(ctx, input, before, &head, opts, &kind.columns);
        }
        if (status == TW_OK) {
            twi_mention_rows(ctx, input, &kind.columns);
            twi_mention_name(ctx, input, &kind.columns.telling);
        }
    } else if (status == TW_OK && declared < 0) {
        status =
            tw_fail(ctx, TW_ERR_FORMAT,
                    "%.400s: no edges, only comments or blank lines; a graph without edges has "
                    "a comment '# vertices: N'",
                    input->name);
    }
    kind.names = kind.columns.names ? &names : NULL;
    file.rules.tabs = kind.columns.separator == '\t';
    file.rules.base = kind.columns.names ? 0 : remarks.first;
    if (status == TW_OK && kind.columns.titles) {
        twi_text_skip_line(&head);
    }
    if (status == TW_OK) {
        status = twi_text_cut(&file, ctx, input, head.at, kind.columns.names);
    }
    if (status == TW_OK && input->once && input->flow != NULL && kind.columns.table &&
        !kind.columns.names) {
        twi_input_keep(ctx, input, &kept);
    }
    if (status == TW_OK) {
        done->again = input->flow == NULL;
        status = read_list(&file, &kind, declared, out);
        done->odd = status != TW_OK && seen;
    }
    if (status == TW_OK) {
        twi_mention_undirected(ctx, input, &remarks, opts, *out);
    }
    twi_text_clear(&file);
    twi_labels_clear(&names);
    done->again |= done->odd && kept != NULL && twi_kept_restore(kept, input);
    twi_kept_destroy(kept, input);
    return status;
}

void twi_edges_why_names(const tw_context *ctx, char why[TWI_WHY_NAMES])
{
    static const char conclusion[] = "; all vertices are taken as names";
    (void)snprintf(why, TWI_WHY_NAMES - sizeof conclusion, "%s", tw_last_error(ctx));
    const char *advice = strstr(why, "; vertex names");
    memcpy(why + (advice != NULL ? (size_t)(advice - why) : strlen(why)), conclusion,
           sizeof conclusion);
}

tw_status twi_edges_read(tw_context *ctx, tw_graph **out, twi_input *input,
                         const tw_graph_read_options *opts)
{
    attempt done;
    tw_status status = read_edges(ctx, out, input, opts, &done);
    input->has_names = done.odd && !done.again;
    if (!done.odd || !done.again) {
        return status;
    }
    tw_graph_read_options with_ids = *opts;
    char why[TWI_WHY_NAMES];
    twi_edges_why_names(ctx, why);
    with_ids.ids = TWI_IDS_FOUND;
    status = read_edges(ctx, out, input, &with_ids, &done);
    if (status == TW_OK) {
        twi_log(ctx, "%s", why);
    }
    return status;
}
