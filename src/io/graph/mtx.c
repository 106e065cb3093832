/*
 * Matrix Market coordinate files: a banner "%%MatrixMarket matrix coordinate FIELD SYMMETRY",
 * comments with %, a line "ROWS COLUMNS ENTRIES", then entries "ROW COLUMN [WEIGHT]" from 1. Entry
 * (i, j) is the arc i -> j. FIELD real is read as f64, integer as i32, pattern as weight 1; a
 * symmetric file is an undirected graph whose edges are listed once.
 */
#include "io/graph/format.h"
#include "io/graph/pieces.h"

#include <string.h>
#include <strings.h>

#define BANNER "%%MatrixMarket"

bool twi_mtx_recognised(const twi_input *input)
{
    size_t length = strlen(BANNER);
    uint64_t mark = twi_input_mark(input->bytes, input->size);
    return input->size - mark >= length && strncasecmp(input->bytes + mark, BANNER, length) == 0;
}

typedef struct banner {
    bool pattern;
    bool real;
    bool symmetric;
} banner;

/* The next word of the line, in lower case; "" at its end. */
static void next_word(twi_text *text, char out[24])
{
    size_t used = 0;
    twi_text_skip_blanks(text);
    while (text->at < text->end && !twi_text_is_break(*text->at)) {
        char c = *text->at++;
        if (used < 23) {
            out[used++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        }
    }
    out[used] = '\0';
}

static bool read_banner(twi_text *head, banner *out)
{
    char object[24];
    char layout[24];
    char field[24];
    char symmetry[24];
    next_word(head, object); /* the banner itself, recognised before */
    next_word(head, object);
    next_word(head, layout);
    next_word(head, field);
    next_word(head, symmetry);
    if (strcmp(object, "matrix") != 0 || strcmp(layout, "coordinate") != 0) {
        return twi_text_fail(head, TW_ERR_FORMAT, NULL,
                             "a Matrix Market '%s %s' is not supported: it must be 'matrix "
                             "coordinate' (a dense matrix can come as .npy)",
                             object, layout);
    }
    out->pattern = strcmp(field, "pattern") == 0;
    out->real = strcmp(field, "real") == 0 || strcmp(field, "double") == 0;
    if (!out->pattern && !out->real && strcmp(field, "integer") != 0) {
        return twi_text_fail(head, TW_ERR_FORMAT, NULL,
                             "a matrix of '%s' entries has no weights: it must be real, integer or "
                             "pattern",
                             field);
    }
    out->symmetric = strcmp(symmetry, "symmetric") == 0;
    if (!out->symmetric && strcmp(symmetry, "general") != 0) {
        return twi_text_fail(head, TW_ERR_FORMAT, NULL,
                             "a '%s' matrix is not supported: it must be general or symmetric",
                             symmetry);
    }
    return true;
}

static bool read_size(twi_text *head, int64_t *vertices, int64_t *entries)
{
    int64_t cols;
    twi_text_skip_line(head);
    while (twi_text_next_line(head)) {
        if (!twi_text_line_ends(head) && *head->at != '%') {
            break;
        }
        twi_text_skip_line(head);
    }
    twi_text_skip_blanks(head);
    const char *at = head->at;
    if (!twi_text_count(head, vertices, "a number of rows", TWI_MOST_VERTICES) ||
        !twi_text_count(head, &cols, "a number of columns", TWI_MOST_VERTICES) ||
        !twi_text_count(head, entries, "a number of entries", TWI_MOST_EDGES)) {
        return false;
    }
    if (*vertices != cols) {
        return twi_text_fail(head, TW_ERR_FORMAT, at,
                             "a matrix of %lld x %lld is not square, so it is not a graph",
                             (long long)*vertices, (long long)cols);
    }
    if (!twi_text_line_ends(head)) {
        return twi_text_not(head, head->at, "the end of the size line");
    }
    return true;
}

static bool read_entry(twi_text *text, const void *self)
{
    const banner *kind = self;
    int32_t source = 0;
    int32_t target = 0;
    twi_number weight = {true, 1, 1};
    if (twi_text_quick_edge(text, text->at, ' ', true)) {
        return text->status == TW_OK;
    }
    if (*text->at == '%') {
        twi_text_skip_line(text);
        return true;
    }
    if (!twi_text_vertex(text, &source) || !twi_text_vertex(text, &target)) {
        return false;
    }
    twi_text_skip_blanks(text);
    const char *at = text->at;
    if (!kind->pattern && !twi_text_number(text, &weight, "a weight")) {
        return false;
    }
    return twi_text_add(text, at, source, target, &weight);
}

tw_status twi_mtx_read(tw_context *ctx, tw_graph **out, twi_input *input,
                       const tw_graph_read_options *opts)
{
    twi_text_file file = {.rules = {.base = 1}};
    banner kind = {0};
    int64_t entries = 0;
    if (!twi_mtx_recognised(input)) {
        return tw_fail(ctx, TW_ERR_FORMAT, "%.500s:1: a Matrix Market file begins with '%s'",
                       input->name, BANNER);
    }
    tw_status status = twi_text_open(ctx, input, "%");
    if (status != TW_OK) {
        return status;
    }
    twi_text head = twi_text_head(ctx, input, &file.rules);
    if (!read_banner(&head, &kind) || !read_size(&head, &file.rules.vertices, &entries)) {
        return twi_text_report(ctx, input, &head);
    }
    file.rules.unweighted = opts->unweighted || kind.pattern;
    file.rules.real = kind.real;
    file.rules.whole = !kind.real;
    file.rules.both = twi_read_both(opts, kind.symmetric);
    file.rules.undirected = twi_read_undirected(opts, kind.symmetric);
    status = twi_text_cut(&file, ctx, input, head.at, false);
    if (status == TW_OK) {
        status = twi_text_parse(&file, read_entry, &kind);
    }
    if (status == TW_OK && twi_text_records(&file) != entries) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "%.500s: the size line says %lld entries, but the file has %lld: it %s",
                         input->name, (long long)entries, (long long)twi_text_records(&file),
                         twi_text_records(&file) < entries ? "may be cut short" : "goes on");
    }
    if (status == TW_OK) {
        status = twi_text_build(&file, out, file.rules.vertices);
    }
    twi_text_clear(&file);
    return status;
}

/* An undirected edge is listed once, from its larger end. */
static bool listed(const tw_graph *graph, int64_t source, int64_t arc)
{
    return !graph->undirected || source >= graph->targets[arc];
}

static int64_t count_listed(tw_context *ctx, const tw_graph *graph)
{
    int64_t count = 0;
    int64_t left = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            break;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            count += listed(graph, u, a) ? 1 : 0;
        }
    }
    return count;
}

static void print_arcs(twi_printer *printer, const tw_graph *graph)
{
    for (int64_t u = 0; u < graph->n && printer->status == TW_OK; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            if (listed(graph, u, a)) {
                twi_print_whole(printer, u + 1);
                twi_print_char(printer, ' ');
                twi_print_whole(printer, (int64_t)graph->targets[a] + 1);
                twi_print_char(printer, ' ');
                twi_print_weight(printer, graph, a);
                twi_print_char(printer, '\n');
            }
        }
        printer->done = (double)graph->offsets[u + 1];
    }
}

/* Of parallel arcs the lightest: other programs add entries that a matrix has twice. */
tw_status twi_mtx_write(twi_printer *printer, const tw_graph *graph, const char *extension)
{
    (void)extension;
    tw_graph *simple = NULL;
    tw_status status = twi_graph_drop_parallel(printer->ctx, &simple, graph);
    if (status != TW_OK) {
        return status;
    }
    graph = simple != NULL ? simple : graph;
    const int64_t entries = count_listed(printer->ctx, graph);
    status = twi_check_cancel(printer->ctx);
    if (status != TW_OK) {
        tw_graph_destroy(simple);
        return status;
    }
    printer->total = (double)graph->arcs;
    twi_print_text(printer, BANNER " matrix coordinate ");
    twi_print_text(printer, graph->weight_type == TW_I32 ? "integer " : "real ");
    twi_print_text(printer, graph->undirected ? "symmetric\n" : "general\n");
    twi_print_whole(printer, graph->n);
    twi_print_char(printer, ' ');
    twi_print_whole(printer, graph->n);
    twi_print_char(printer, ' ');
    twi_print_whole(printer, entries); /* loops, if negative, are arcs of their own */
    twi_print_char(printer, '\n');
    print_arcs(printer, graph);
    tw_graph_destroy(simple);
    return printer->status;
}
