/*
 * DIMACS .gr: comment lines "c ...", one problem line "p sp VERTICES ARCS", then arc lines
 * "a SOURCE TARGET WEIGHT", vertices from 1. Weights with a decimal point are read as well.
 */
#include "io/graph/format.h"
#include "io/graph/pieces.h"

#include <string.h>

/* The line begins with the word, followed by a break. */
static bool begins_with(const twi_text *text, const char *word)
{
    size_t length = strlen(word);
    size_t left = (size_t)(text->end - text->at);
    return left >= length && memcmp(text->at, word, length) == 0 &&
           (left == length || twi_text_is_break(text->at[length]));
}

/* Over comments and blank lines; false at the end of the text. */
static bool skip_comments(twi_text *text)
{
    for (;;) {
        if (!twi_text_line_ends(text)) {
            if (!begins_with(text, "c")) {
                return true;
            }
            twi_text_skip_line(text);
        }
        if (!twi_text_next_line(text)) {
            return false;
        }
    }
}

bool twi_dimacs_recognised(const twi_input *input)
{
    twi_text_rules rules = {0};
    twi_text head = twi_text_head(NULL, input, &rules);
    if (!skip_comments(&head) || !begins_with(&head, "p")) {
        return false;
    }
    head.at++;
    twi_text_skip_blanks(&head);
    return begins_with(&head, "sp");
}

static bool read_problem(twi_text *head, int64_t *vertices, int64_t *arcs)
{
    if (!skip_comments(head)) {
        return twi_text_fail(head, TW_ERR_FORMAT, NULL,
                             "the file ends without a problem line 'p sp VERTICES ARCS'");
    }
    bool problem = begins_with(head, "p");
    if (problem) {
        head->at++;
        twi_text_skip_blanks(head);
    }
    if (problem && !twi_text_line_ends(head) && !begins_with(head, "sp")) {
        return twi_text_fail(
            head, TW_ERR_UNSUPPORTED, NULL,
            "a DIMACS problem other than 'p sp' is not supported; export an edge list as .csv");
    }
    if (!problem || !begins_with(head, "sp")) {
        return twi_text_not(head, head->at,
                            "the problem line 'p sp VERTICES ARCS' that comes first");
    }
    head->at += 2;
    if (!twi_text_count(head, vertices, "a number of vertices", TWI_MOST_VERTICES) ||
        !twi_text_count(head, arcs, "a number of arcs", TWI_MOST_EDGES)) {
        return false;
    }
    if (!twi_text_line_ends(head)) {
        return twi_text_not(head, head->at, "the end of the problem line");
    }
    return true;
}

static bool read_arc(twi_text *text, const void *self)
{
    (void)self;
    if (text->end - text->at >= 2 && memcmp(text->at, "a ", 2) == 0 &&
        twi_text_quick_edge(text, text->at + 2, ' ', true)) {
        return text->status == TW_OK;
    }
    if (!begins_with(text, "a")) {
        if (begins_with(text, "c")) {
            twi_text_skip_line(text);
            return true;
        }
        return twi_text_not(text, text->at, "an arc line 'a SOURCE TARGET WEIGHT' or a comment");
    }
    text->at++;
    int32_t source = 0;
    int32_t target = 0;
    twi_number weight;
    if (!twi_text_vertex(text, &source) || !twi_text_vertex(text, &target)) {
        return false;
    }
    twi_text_skip_blanks(text);
    const char *at = text->at;
    return twi_text_number(text, &weight, "a weight") &&
           twi_text_add(text, at, source, target, &weight);
}

tw_status twi_dimacs_read(tw_context *ctx, tw_graph **out, twi_input *input,
                          const tw_graph_read_options *opts)
{
    twi_text_file file = {
        .rules = {.base = 1,
                  .unweighted = opts->unweighted,
                  .both = twi_read_both(opts, false),
                  .undirected = twi_read_undirected(opts, false)},
    };
    int64_t arcs = 0;
    tw_status status = twi_text_open(ctx, input, "c");
    if (status != TW_OK) {
        return status;
    }
    twi_text head = twi_text_head(ctx, input, &file.rules);
    if (!read_problem(&head, &file.rules.vertices, &arcs)) {
        return twi_text_report(ctx, input, &head);
    }
    status = twi_text_cut(&file, ctx, input, head.at, false);
    if (status == TW_OK) {
        status = twi_text_parse(&file, read_arc, NULL);
    }
    if (status == TW_OK && twi_text_records(&file) != arcs) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "%.500s: the problem line says %lld arc%s, but the file has %lld: it %s",
                         input->name, (long long)arcs, arcs == 1 ? "" : "s",
                         (long long)twi_text_records(&file),
                         twi_text_records(&file) < arcs ? "may be cut short" : "goes on");
    }
    if (status == TW_OK) {
        status = twi_text_build(&file, out, file.rules.vertices);
    }
    twi_text_clear(&file);
    return status;
}

tw_status twi_dimacs_write(twi_printer *printer, const tw_graph *graph, const char *extension)
{
    (void)extension;
    twi_print_text(printer, "p sp ");
    twi_print_whole(printer, graph->n);
    twi_print_char(printer, ' ');
    twi_print_whole(printer, graph->arcs);
    twi_print_char(printer, '\n');
    for (int64_t u = 0; u < graph->n && printer->status == TW_OK; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            twi_print_text(printer, "a ");
            twi_print_whole(printer, u + 1);
            twi_print_char(printer, ' ');
            twi_print_whole(printer, (int64_t)graph->targets[a] + 1);
            twi_print_char(printer, ' ');
            twi_print_weight(printer, graph, a);
            twi_print_char(printer, '\n');
        }
        printer->done = (double)graph->offsets[u + 1];
    }
    return printer->status;
}
