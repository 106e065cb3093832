/*
 * Edge lists: a line an edge, "SOURCE TARGET [WEIGHT] [...]", separated by blanks, tabs or commas.
 * What follows # or % at the start of a field is a comment. Vertices are indices from 0, as many
 * as the highest of them asks for, or of a comment "# vertices: N" before the first edge; with the
 * ids option any words, numbered as they appear.
 *
 * The first lines of data settle the columns for all: whether there is a line of titles, and which
 * column holds the weight. Lists of indices are parsed by all threads, names in order by one.
 */
#include "io/graph/format.h"
#include "io/graph/labels.h"
#include "io/graph/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ENDS = 2 }; /* the columns before any weight */

/* A list of more vertices than this, of which edges mention fewer than one in SPARSE_SHARE, has
 * identifiers in place of indices. */
#define SPARSE_FROM 100000
#define SPARSE_SHARE 10

typedef struct columns {
    int64_t weight; /* from 1; 0: none */
    bool titles;    /* the first line of data names the columns */
    bool loose;     /* what follows the ends is ignored */
} columns;

/* What a line reader works with: `names` is changed by lists of words, which are read in order. */
typedef struct list {
    columns columns;
    twi_labels *names; /* NULL: vertices are indices */
} list;

typedef enum found { FIELD, LINE_END, BROKEN } found;

/* To the begin of the next field. */
static found next_field(twi_text *text, bool first)
{
    if (twi_text_line_ends(text)) {
        return LINE_END;
    }
    if (*text->at == ',' && !first) {
        text->at++;
        if (twi_text_line_ends(text)) {
            return LINE_END;
        }
    }
    if (*text->at == ',') {
        twi_text_fail(text, TW_ERR_FORMAT, NULL, "there is nothing before this comma");
        return BROKEN;
    }
    if (*text->at == '#' || *text->at == '%') {
        twi_text_skip_line(text);
        return LINE_END;
    }
    return FIELD;
}

static size_t skip_field(twi_text *text)
{
    const char *begin = text->at;
    while (text->at < text->end && !twi_text_is_break(*text->at)) {
        text->at++;
    }
    return (size_t)(text->at - begin);
}

static bool read_name(twi_text *text, twi_labels *names, int32_t *out)
{
    const char *begin = text->at;
    size_t length = skip_field(text);
    if (*begin == '"') {
        return twi_text_fail(text, TW_ERR_FORMAT, begin,
                             "quoted fields are not read: write names without quotes or blanks");
    }
    if (memchr(begin, '\0', length) != NULL) {
        return twi_text_fail(text, TW_ERR_FORMAT, begin, "a name holds a zero byte");
    }
    tw_status status = twi_labels_vertex(text->ctx, names, begin, length, out);
    if (status != TW_OK) {
        return twi_text_fail(text, status, begin, "%.200s", tw_last_error(text->ctx));
    }
    text->highest = *out > text->highest ? *out : text->highest;
    return true;
}

static bool read_end(twi_text *text, const list *kind, int32_t *out, bool first)
{
    switch (next_field(text, first)) {
    case FIELD:
        return kind->names != NULL ? read_name(text, kind->names, out) : twi_text_vertex(text, out);
    case LINE_END:
        return twi_text_fail(text, TW_ERR_FORMAT, NULL, "the line ends; expected a vertex");
    default:
        return false;
    }
}

/* What follows the two ends: the weight of the line, if the list has weights. */
static bool read_rest(twi_text *text, const columns *layout, twi_number *weight, const char **at)
{
    for (int64_t column = ENDS + 1;; column++) {
        found next = layout->weight == 0 && layout->loose ? LINE_END : next_field(text, false);
        if (next == FIELD && layout->weight == 0) {
            return twi_text_fail(text, TW_ERR_FORMAT, NULL,
                                 "a third field, but the first line has two");
        }
        if (next == LINE_END && layout->weight > 0) {
            return twi_text_fail(text, TW_ERR_FORMAT, NULL,
                                 "the line ends before column %lld, the weight",
                                 (long long)layout->weight);
        }
        if (next == BROKEN) {
            return false;
        }
        *at = text->at;
        if (next == LINE_END || column == layout->weight) {
            bool good = next == LINE_END || twi_text_number(text, weight, "a weight");
            if (good) {
                twi_text_skip_line(text);
            }
            return good;
        }
        skip_field(text);
    }
}

static bool read_edge(twi_text *text, const void *self)
{
    const list *kind = self;
    int32_t source = 0;
    int32_t target = 0;
    twi_number weight = {true, 1, 1};
    const char *at = text->at;
    if (*at == '#' || *at == '%') {
        twi_text_skip_line(text);
        return true;
    }
    return read_end(text, kind, &source, true) && read_end(text, kind, &target, false) &&
           read_rest(text, &kind->columns, &weight, &at) &&
           twi_text_add(text, at, source, target, &weight);
}

/* --------------------------------------------------------------------- the first line of data */

/* "# vertices: N" */
static void read_remark(twi_text head, int64_t *vertices)
{
    static const char words[] = "vertices:";
    head.at++;
    twi_text_skip_blanks(&head);
    size_t left = (size_t)(head.end - head.at);
    int64_t value;
    if (left < sizeof words - 1 || memcmp(head.at, words, sizeof words - 1) != 0) {
        return;
    }
    head.at += sizeof words - 1;
    if (twi_text_count(&head, &value, "a number of vertices", TWI_MOST_VERTICES)) {
        *vertices = value;
    }
}

/* To the first line that is neither blank nor a comment; false if there is none. */
static bool find_data(twi_text *head, int64_t *vertices)
{
    do {
        if (!twi_text_line_ends(head)) {
            if (*head->at != '#' && *head->at != '%') {
                return true;
            }
            read_remark(*head, vertices);
            twi_text_skip_line(head);
        }
    } while (twi_text_next_line(head));
    return false;
}

static bool is_number(twi_text text)
{
    twi_number ignored;
    return twi_text_number(&text, &ignored, "a number");
}

/* Titles of the ends, as strangers' files have them. */
static bool is_title(const char *begin, size_t length)
{
    static const char *const words[] = {
        "source",  "target",     "src",      "dst",       "dest",        "from",
        "to",      "u",          "v",        "i",         "j",           "node1",
        "node2",   "node_1",     "node_2",   "vertex1",   "vertex2",     "head",
        "tail",    "origin",     "start",    "end",       "destination", "from_node",
        "to_node", "fromnodeid", "tonodeid", "source_id", "target_id",
    };
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (strlen(words[w]) == length && strncasecmp(words[w], begin, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Meant for a number, one or not: "1.0.0", "1e999", "-x", "nan2", but not "info". No column is
 * called that, so a field with a slip of the pen in it is reported and not passed over as a title.
 */
static bool begins_like_a_number(const char *begin, size_t length)
{
    if (isdigit((unsigned char)*begin) || strchr("+-.", *begin) != NULL) {
        return true;
    }
    return length >= 3 &&
           (strncasecmp(begin, "inf", 3) == 0 || strncasecmp(begin, "nan", 3) == 0) &&
           (length == 3 || !isalpha((unsigned char)begin[3]));
}

/* What the fields of the first line look like. */
typedef struct first_line {
    int64_t fields;
    bool any_number;
    int64_t titles;   /* of the ends: fields that are known titles */
    int64_t numbers;  /* of the ends: fields that are numbers */
    bool number_like; /* one of the ends begins like a number */
    int64_t named;    /* column whose field is the name wanted; 0 if none */
    bool weight_like; /* the field of column `weight` begins like a number */
} first_line;

static bool look_at_line(twi_text text, const char *name, int64_t weight, first_line *out,
                         twi_text *failed)
{
    *out = (first_line){0};
    found next;
    while ((next = next_field(&text, out->fields == 0)) == FIELD) {
        out->fields++;
        bool number = is_number(text);
        const char *begin = text.at;
        size_t length = skip_field(&text);
        out->any_number |= number;
        out->titles += out->fields <= ENDS && is_title(begin, length);
        out->numbers += out->fields <= ENDS && number;
        bool like = number || begins_like_a_number(begin, length);
        out->number_like |= out->fields <= ENDS && like;
        out->weight_like |= out->fields == weight && like;
        if (name != NULL && strlen(name) == length && memcmp(name, begin, length) == 0) {
            out->named = out->fields;
        }
    }
    if (next == BROKEN) {
        *failed = text;
    }
    return next != BROKEN;
}

/* The option: a column by number, or a name. */
static tw_status parse_weight_option(tw_context *ctx, const char *weight, int64_t *column,
                                     const char **name)
{
    *column = 0;
    *name = NULL;
    if (weight == NULL) {
        return TW_OK;
    }
    if (weight[0] == '\0' || weight[strspn(weight, "0123456789")] != '\0') {
        *name = weight;
        return TW_OK;
    }
    *column = strlen(weight) < 10 ? strtoll(weight, NULL, 10) : INT32_MAX;
    if (*column <= ENDS) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "column %s cannot be the weight: columns 1 and 2 are the ends of an edge",
                       weight);
    }
    return TW_OK;
}

/* The line of data after this one; false if there is none. */
static bool look_at_next(twi_text text, first_line *out)
{
    int64_t ignored = 0;
    twi_text_skip_line(&text);
    return twi_text_next_line(&text) && find_data(&text, &ignored) &&
           look_at_line(text, NULL, 0, out, &text);
}

/* Whether the first line of data, whose weight may lie in column `weight`, names the columns. Never
 * if its weight begins like a number. Of indices: if nothing in it is one. Of names: if it has a
 * weight, if both ends are known titles, or if both ends are words above a line of numbers. */
static bool are_titles(const twi_text *head, const tw_graph_read_options *opts,
                       const first_line *line, int64_t weight)
{
    first_line next;
    const bool weighted = weight > 0 && line->fields >= weight;
    if (opts->header != TW_GRAPH_HEADER_AUTO) {
        return opts->header == TW_GRAPH_HEADER_YES;
    }
    if (line->fields < ENDS || (weighted && line->weight_like)) {
        return false;
    }
    if (!opts->ids) {
        return !line->any_number && !line->number_like;
    }
    return weighted || line->titles == ENDS ||
           (line->numbers == 0 && look_at_next(*head, &next) && next.numbers == ENDS);
}

static tw_status settle_columns(tw_context *ctx, const twi_input *input, twi_text *head,
                                const tw_graph_read_options *opts, columns *out)
{
    int64_t wanted;
    const char *name;
    first_line line;
    tw_status status = parse_weight_option(ctx, opts->weight, &wanted, &name);
    if (status != TW_OK) {
        return status;
    }
    if (!look_at_line(*head, name, wanted > 0 ? wanted : ENDS + 1, &line, head)) {
        return twi_text_report(ctx, input, head);
    }
    *out = (columns){.weight = wanted};
    if (name != NULL) {
        if (line.named == 0) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "%.500s: no column of the first line is called '%.60s'", input->name,
                           name);
        }
        out->weight = line.named;
    } else if (wanted == 0) {
        out->weight = line.fields > ENDS ? ENDS + 1 : 0;
    }
    if (name != NULL && out->weight <= ENDS) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "column '%.60s' cannot be the weight: columns 1 and 2 are the ends of an "
                       "edge",
                       name);
    }
    if (name != NULL && opts->header == TW_GRAPH_HEADER_NO) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "a weight by name, '%.60s', needs a header; give the column by number",
                       name);
    }
    out->titles = name != NULL || are_titles(head, opts, &line, out->weight);
    if (opts->unweighted) {
        out->weight = 0;
        out->loose = true;
    }
    return TW_OK;
}

/* ------------------------------------------------------------------------------- the reader */

/* Identifiers such as 9999999 are names, not indices: as indices they would make vertices that no
 * edge mentions, and time and memory go with those. */
static tw_status check_density(const twi_text_file *file, int64_t vertices)
{
    const int64_t ends = ENDS * twi_text_records(file);
    if (vertices <= SPARSE_FROM || vertices / SPARSE_SHARE <= ends) {
        return TW_OK;
    }
    return tw_fail(file->ctx, TW_ERR_FORMAT,
                   "%.400s: vertex %lld asks for %lld vertices, but the %lld edges mention at most "
                   "%lld; use --ids to number them by name, or say '# vertices: %lld' before the "
                   "first edge",
                   file->input->name, (long long)vertices - 1, (long long)vertices,
                   (long long)ends / ENDS, (long long)ends, (long long)vertices);
}

static tw_status read_list(twi_text_file *file, const tw_graph_read_options *opts, list *kind,
                           int64_t declared, tw_graph **out)
{
    tw_context *ctx = file->ctx;
    tw_graph *graph = NULL;
    tw_status status = twi_text_parse(file, read_edge, kind);
    if (status == TW_OK && kind->columns.titles && twi_text_records(file) == 0) {
        status = tw_fail(ctx, TW_ERR_FORMAT, "%.500s: a header and no edges%s", file->input->name,
                         opts->ids ? "; if its only line is an edge, use --no-header"
                                   : ": vertex names need --ids");
    }
    int64_t vertices = twi_text_highest(file) + 1;
    if (status == TW_OK && !opts->ids && declared < vertices) {
        status = check_density(file, vertices);
    }
    if (!opts->ids && declared > vertices) {
        vertices = declared;
    }
    if (status == TW_OK) {
        status = twi_text_build(file, &graph, vertices);
    }
    if (status == TW_OK && opts->ids) {
        status = twi_labels_give(ctx, kind->names, graph);
    }
    if (status != TW_OK) {
        tw_graph_destroy(graph);
        return status;
    }
    *out = graph;
    return TW_OK;
}

tw_status twi_edges_read(tw_context *ctx, tw_graph **out, const twi_input *input,
                         const tw_graph_read_options *opts)
{
    twi_labels names = {0};
    list kind = {.names = opts->ids ? &names : NULL};
    int64_t declared = 0;
    twi_text_file file = {.rules = {.vertices = -1,
                                    .unweighted = opts->unweighted,
                                    .both = twi_read_both(opts, false),
                                    .undirected = twi_read_undirected(opts, false)}};
    twi_text head = twi_text_head(ctx, input, &file.rules);
    tw_status status = TW_OK;
    if (find_data(&head, &declared)) {
        status = settle_columns(ctx, input, &head, opts, &kind.columns);
    }
    if (status == TW_OK && kind.columns.titles) {
        twi_text_skip_line(&head);
    }
    if (status == TW_OK) {
        status = twi_text_cut(&file, ctx, input, head.at, opts->ids);
    }
    if (status == TW_OK) {
        status = read_list(&file, opts, &kind, declared, out);
    }
    twi_text_clear(&file);
    twi_labels_clear(&names);
    return status;
}

/* ------------------------------------------------------------------------------- the writer */

static void print_vertex(twi_printer *printer, const tw_graph *graph, int64_t vertex)
{
    const char *label = tw_graph_label(graph, vertex);
    if (label != NULL) {
        twi_print_text(printer, label);
    } else {
        twi_print_whole(printer, vertex);
    }
}

/* The last vertex has an arc of its own, so the list says by itself how many there are. */
static bool tells_its_size(const tw_graph *graph)
{
    int64_t last = graph->n - 1;
    if (last < 0 || graph->offsets[last + 1] > graph->offsets[last]) {
        return true;
    }
    for (int64_t a = 0; a < graph->arcs; a++) {
        if (graph->targets[a] == last) {
            return true;
        }
    }
    return false;
}

tw_status twi_edges_write(twi_printer *printer, const tw_graph *graph, const char *extension)
{
    char separator = strcasecmp(extension, "csv") == 0   ? ','
                     : strcasecmp(extension, "tsv") == 0 ? '\t'
                                                         : ' ';
    if (!tells_its_size(graph) || graph->arcs == 0) {
        twi_print_text(printer, "# vertices: ");
        twi_print_whole(printer, graph->n);
        twi_print_char(printer, '\n');
    }
    if (separator == ',' && graph->arcs > 0) {
        twi_print_text(printer, "source,target,weight\n");
    }
    for (int64_t u = 0; u < graph->n && printer->status == TW_OK; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            print_vertex(printer, graph, u);
            twi_print_char(printer, separator);
            print_vertex(printer, graph, graph->targets[a]);
            twi_print_char(printer, separator);
            twi_print_weight(printer, graph, a);
            twi_print_char(printer, '\n');
        }
        printer->done = (double)graph->offsets[u + 1];
    }
    return printer->status;
}
