/*
 * Lists that look like a matrix: see dense.h. Two kinds are told.
 *
 * With titles on both sides, as tables are saved: line k begins with the title of column k. No list
 * of edges does that.
 *
 * Of numbers alone, below a line of titles or none: as many lines as columns, and on the diagonal
 * nothing but zeros, or nothing but numbers that are not finite; or one number throughout if the
 * matrix is symmetric. A list of three edges would have 0 for the first source, the second target
 * and the third weight.
 *
 * The first LOOKED lines decide, those of any list that is not far too short for its columns.
 */
#include "io/graph/dense.h"

#include "io/extension.h"
#include "io/graph/look.h"
#include "io/packed/packed.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { LOOKED = 16 };

typedef struct square {
    int64_t fields; /* of each line */
    int64_t lines;  /* that were looked at */
    double entry[LOOKED][LOOKED];
} square;

static bool read_number(const twi_text *text, const twi_field *field, double *out)
{
    twi_text alone = {.rules = text->rules, .at = field->begin, .end = field->end};
    twi_number number = {0};
    *out = (double)NAN; /* a field without anything is no edge */
    if (field->begin == field->end) {
        return true;
    }
    if (!twi_text_number(&alone, &number, "a number") || alone.at != alone.end) {
        return false;
    }
    *out = number.whole ? (double)number.integer : number.real;
    return true;
}

static bool same_field(const twi_field *a, const twi_field *b)
{
    const size_t length = (size_t)(a->end - a->begin);
    return length > 0 && length == (size_t)(b->end - b->begin) &&
           memcmp(a->begin, b->begin, length) == 0;
}

/* The fields of a line, the first LOOKED of them kept; -1 if they cannot be told apart. */
static int64_t split(twi_text text, char separator, twi_field out[LOOKED + 1])
{
    twi_field field;
    twi_found next;
    int64_t count = 0;
    while ((next = twi_field_next(&text, separator, count == 0, &field)) == TWI_FIELD) {
        if (count <= LOOKED) {
            out[count] = field;
        }
        count++;
    }
    return next == TWI_LINE_END ? count : -1;
}

static bool next_line(twi_text *text)
{
    int64_t ignored = 0;
    twi_text_skip_line(text);
    return twi_text_next_line(text) && twi_look_for_line(text, &ignored);
}

/* Lines behind `titles` that begin with one of them, in order, and go on in numbers. `shift`: the
 * first title stands above the names. */
static bool has_named_lines(twi_text text, char separator, const twi_field *titles, int64_t count,
                            int shift)
{
    twi_field fields[LOOKED + 1];
    double ignored;
    int64_t lines = 0;
    const int64_t most = count - shift < LOOKED ? count - shift : LOOKED;
    while (lines < most && next_line(&text)) {
        if (split(text, separator, fields) != count + 1 - shift ||
            !same_field(&fields[0], &titles[lines + shift])) {
            return false;
        }
        for (int64_t f = 1; f <= most; f++) {
            if (!read_number(&text, &fields[f], &ignored)) {
                return false;
            }
        }
        lines++;
    }
    return lines == most && lines > 1;
}

static bool is_named(const twi_text *head, char separator)
{
    twi_field titles[LOOKED + 1];
    double ignored;
    const int64_t count = split(*head, separator, titles);
    if (count < 2) {
        return false;
    }
    const bool corner = titles[0].begin == titles[0].end;
    const int64_t held = count < LOOKED ? count : LOOKED;
    for (int64_t f = 1; f < held && !corner; f++) {
        if (read_number(head, &titles[f], &ignored)) { /* "0 1 2" is an edge before "1 2 3" */
            return false;
        }
    }
    return has_named_lines(*head, separator, titles, count, 1) ||
           (!corner && has_named_lines(*head, separator, titles, count, 0));
}

/* The first lines of numbers, `text` being at the first of them. */
static bool read_square(twi_text text, char separator, square *out)
{
    twi_field fields[LOOKED + 1];
    bool more = true;
    out->fields = split(text, separator, fields);
    const int64_t most = out->fields < LOOKED ? out->fields : LOOKED;
    for (out->lines = 0; more && out->lines < most; out->lines++) {
        if (split(text, separator, fields) != out->fields) {
            return false;
        }
        for (int64_t f = 0; f < most; f++) {
            if (!read_number(&text, &fields[f], &out->entry[out->lines][f])) {
                return false;
            }
        }
        more = next_line(&text);
    }
    const bool all = out->fields <= LOOKED;
    return out->fields > 1 && out->lines == most && more == !all;
}

static bool is_square(const square *s)
{
    const double first = s->entry[0][0];
    bool equal = true, finite = false, symmetric = s->lines > 2;
    for (int64_t i = 0; i < s->lines; i++) {
        equal &= s->entry[i][i] == first || (!isfinite(s->entry[i][i]) && !isfinite(first));
        finite |= isfinite(s->entry[i][i]);
        for (int64_t j = 0; j < i; j++) {
            symmetric &= s->entry[i][j] == s->entry[j][i] ||
                         (!isfinite(s->entry[i][j]) && !isfinite(s->entry[j][i]));
        }
    }
    /* Two arcs of weight 1, there and back, are the same graph either way. */
    const bool pair = s->fields == 2 && s->entry[0][1] == 1 && s->entry[1][0] == 1;
    return equal && !pair && (first == 0 || !finite || symmetric);
}

static bool is_called_a_list(const twi_input *input)
{
    char inner[TWI_PACKED_NAME];
    const char *extension = twi_extension(twi_packed_inner(input->name, inner));
    return strcasecmp(extension, "el") == 0 || strcasecmp(extension, "edges") == 0;
}

tw_status twi_refuse_dense(tw_context *ctx, const twi_input *input, const twi_text *head,
                           const twi_columns *columns, const tw_graph_read_options *opts)
{
    twi_text text = *head;
    square s = {0};
    if (opts->format != NULL || opts->from != NULL || opts->to != NULL || opts->weight != NULL) {
        return TW_OK;
    }
    if (is_named(head, columns->separator)) {
        return tw_fail(
            ctx, TW_ERR_FORMAT,
            "%.400s looks like a matrix, not like edges: its lines begin with the titles "
            "of its columns; save the numbers as .npy, or use --in-format edges if "
            "they are edges",
            input->name);
    }
    if (opts->ids || opts->header != TW_GRAPH_HEADER_AUTO || is_called_a_list(input) ||
        (columns->titles && !next_line(&text)) || !read_square(text, columns->separator, &s) ||
        !is_square(&s)) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_FORMAT,
                   "%.400s looks like a matrix of %lld x %lld, not like edges; %s, or use "
                   "--in-format edges if they are edges",
                   input->name, (long long)s.fields, (long long)s.fields,
                   columns->titles || (columns->separator != ',' && columns->separator != ';')
                       ? "save the numbers as .npy"
                       : "convert it to .npy first ('tilewright convert')");
}
