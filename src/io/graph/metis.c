/*
 * METIS .graph: a line "VERTICES EDGES [FMT [NCON]]", then one line per vertex with its neighbours
 * from 1. FMT is up to three digits: sizes of vertices (100), weights of vertices (10, NCON of
 * them), weights of edges (1); what belongs to vertices is skipped. Lines that begin with % are
 * comments, an empty line is a vertex without neighbours. The graph is undirected and lists every
 * edge from both ends, which is checked: a sum of one mixed number per edge is taken from each
 * side.
 *
 * The place of a line is its vertex, so the file is read in order, on one thread.
 */
#include "base/memory.h"
#include "base/random.h"
#include "io/graph/format.h"
#include "io/graph/pieces.h"

#include <stdio.h>
#include <string.h>

typedef struct header {
    int64_t vertices;
    int64_t edges;
    int64_t skipped; /* numbers before the neighbours of a vertex */
    bool weighted;
    int64_t next; /* vertex, whose line comes */
} header;

/* Over comments, to a line that is not one; false at the end of the text. */
static bool next_data_line(twi_text *text)
{
    while (text->at < text->end) {
        twi_text_skip_blanks(text);
        if (text->at == text->end || *text->at != '%') {
            return true;
        }
        twi_text_skip_line(text);
        (void)twi_text_next_line(text);
    }
    return false;
}

static bool read_format(twi_text *head, header *out)
{
    int64_t format = 0;
    int64_t weights = 1;
    const char *at = head->at;
    if (!twi_text_line_ends(head)) {
        at = head->at;
        if (!twi_text_whole(head, &format, "a format such as 1 or 011")) {
            return false;
        }
    }
    if (format < 0 || format > 111 || format % 10 > 1 || format / 10 % 10 > 1) {
        return twi_text_fail(head, TW_ERR_FORMAT, at,
                             "%lld is not a METIS format: each of its three digits is 0 or 1",
                             (long long)format);
    }
    if (!twi_text_line_ends(head) &&
        !twi_text_count(head, &weights, "a number of vertex weights", 1000)) {
        return false;
    }
    if (!twi_text_line_ends(head)) {
        return twi_text_not(head, head->at, "the end of the first line");
    }
    out->weighted = format % 10 == 1;
    out->skipped = (format / 100 == 1 ? 1 : 0) + (format / 10 % 10 == 1 ? weights : 0);
    return true;
}

static bool read_header(twi_text *head, header *out)
{
    bool found = false;
    while (!found && next_data_line(head)) {
        found = !twi_text_line_ends(head);
        if (!found) {
            (void)twi_text_next_line(head);
        }
    }
    if (!found) {
        return twi_text_fail(head, TW_ERR_FORMAT, NULL,
                             "the file ends without its first line 'VERTICES EDGES'");
    }
    if (!twi_text_count(head, &out->vertices, "a number of vertices", TWI_MOST_VERTICES) ||
        !twi_text_count(head, &out->edges, "a number of edges", TWI_MOST_EDGES) ||
        !read_format(head, out)) {
        return false;
    }
    (void)twi_text_next_line(head);
    return true;
}

/* The rest of a line of neighbours of `vertex`. */
static bool read_neighbours(twi_text *text, const header *kind, int32_t vertex)
{
    for (int64_t k = 0; k < kind->skipped; k++) {
        int64_t ignored;
        if (!twi_text_whole(text, &ignored, "a weight of the vertex")) {
            return false;
        }
    }
    while (!twi_text_line_ends(text)) {
        int32_t neighbour = 0;
        twi_number weight = {true, 1, 1};
        if (!twi_text_vertex(text, &neighbour)) {
            return false;
        }
        twi_text_skip_blanks(text);
        const char *at = text->at;
        if (kind->weighted && !twi_text_number(text, &weight, "a weight")) {
            return false;
        }
        if (!twi_text_add(text, at, vertex, neighbour, &weight)) {
            return false;
        }
    }
    return true;
}

static bool read_lines(twi_text *text, void *self)
{
    header *kind = self;
    while (next_data_line(text)) {
        if (kind->next < kind->vertices) {
            if (!read_neighbours(text, kind, (int32_t)kind->next)) {
                return false;
            }
            kind->next++;
        } else if (!twi_text_line_ends(text)) {
            return twi_text_fail(text, TW_ERR_FORMAT, NULL,
                                 "the file goes on after the line%s of its %lld %s",
                                 kind->vertices == 1 ? "" : "s", (long long)kind->vertices,
                                 kind->vertices == 1 ? "vertex" : "vertices");
        }
        (void)twi_text_next_line(text);
        if (kind->next % 4096 == 0 && twi_is_cancelled(text->ctx)) {
            return true;
        }
    }
    return true;
}

/* The last vertex may lack even its newline. */
static tw_status check_lines(const twi_text_file *file, const header *kind)
{
    const bool last = kind->next == kind->vertices - 1 && kind->skipped == 0;
    if (kind->next == kind->vertices || last) {
        return TW_OK;
    }
    char sentence[128];
    (void)snprintf(sentence, sizeof sentence,
                   "the file ends after the lines of %lld of %lld vertices", (long long)kind->next,
                   (long long)kind->vertices);
    return twi_text_report_end(file, sentence);
}

/* One number for an edge and its weight, whichever end it is seen from. */
static uint64_t edge_number(const tw_graph *graph, int64_t u, int64_t a)
{
    int64_t v = graph->targets[a];
    double weight = twi_graph_weight(graph, a) + 0.0; /* -0 is 0 */
    uint64_t bits;
    memcpy(&bits, &weight, sizeof bits);
    uint64_t pair = u < v ? (uint64_t)u << 32 | (uint64_t)v : (uint64_t)v << 32 | (uint64_t)u;
    return twi_random_at(bits, pair);
}

/* The first vertex with an arc that has none of the same weight in the other direction; -1 if there
 * is none. */
static tw_status find_one_way(tw_context *ctx, int64_t *vertex, const tw_graph *graph)
{
    uint64_t *balance = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &balance, (uint64_t)graph->n, sizeof *balance,
                                        "the check of both ends of edges");
    *vertex = -1;
    if (status != TW_OK) {
        return status;
    }
    int64_t left = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            break;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            uint64_t number = edge_number(graph, u, a);
            balance[u] += number;
            balance[graph->targets[a]] -= number;
        }
    }
    for (int64_t u = graph->n - 1; u >= 0; u--) {
        *vertex = balance[u] != 0 ? u : *vertex;
    }
    twi_free(balance);
    return twi_check_cancel(ctx);
}

static tw_status check_symmetry(tw_context *ctx, const tw_graph *graph, const char *name)
{
    int64_t vertex;
    tw_status status = find_one_way(ctx, &vertex, graph);
    if (status == TW_OK && vertex >= 0) {
        status = tw_fail(ctx, TW_ERR_FORMAT,
                         "%.500s: an edge of vertex %lld is not listed from its other end with "
                         "the same weight; read as directed, the file is taken as it stands",
                         name, (long long)vertex + 1);
    }
    return status;
}

/* Every edge of an undirected graph is listed twice. Of a directed one the lists stand as they are,
 * and the first line may have counted them all or taken them for halves. */
static tw_status check_count(tw_context *ctx, const twi_text_file *file, const header *kind)
{
    const int64_t ends = twi_text_records(file);
    if (ends == 2 * kind->edges || (!file->rules.undirected && ends == kind->edges)) {
        return TW_OK;
    }
    const long long edges = kind->edges;
    const bool either = !file->rules.undirected && edges > 0;
    char expected[48];
    const int length = either ? snprintf(expected, sizeof expected, "%lld or ", edges) : 0;
    (void)snprintf(expected + length, sizeof expected - (size_t)length, "%lld", 2 * edges);
    return tw_fail(ctx, TW_ERR_FORMAT,
                   "%.500s: the header says %lld edge%s, so the lists should have %s entries, but "
                   "they have %lld%s",
                   file->input->name, edges, edges == 1 ? "" : "s", expected, (long long)ends,
                   ends == edges ? "; with --directed the file is taken as it stands" : "");
}

tw_status twi_metis_read(tw_context *ctx, tw_graph **out, twi_input *input,
                         const tw_graph_read_options *opts)
{
    twi_text_file file = {.rules = {.base = 1,
                                    .unweighted = opts->unweighted,
                                    .undirected = twi_read_undirected(opts, true)}};
    header kind = {0};
    tw_graph *graph = NULL;
    tw_status status = twi_text_open(ctx, input, "%");
    if (status != TW_OK) {
        return status;
    }
    twi_text head = twi_text_head(ctx, input, &file.rules);
    if (!read_header(&head, &kind)) {
        return twi_text_report(ctx, input, &head);
    }
    file.rules.vertices = kind.vertices;
    status = twi_text_cut(&file, ctx, input, head.at, true);
    if (status == TW_OK) {
        status = twi_text_parse_in_order(&file, read_lines, &kind);
    }
    if (status == TW_OK) {
        status = check_lines(&file, &kind);
    }
    if (status == TW_OK) {
        status = check_count(ctx, &file, &kind);
    }
    if (status == TW_OK) {
        status = twi_text_build(&file, &graph, kind.vertices);
    }
    if (status == TW_OK && graph->undirected) {
        status = check_symmetry(ctx, graph, input->name);
    }
    twi_text_clear(&file);
    if (status != TW_OK) {
        tw_graph_destroy(graph);
        return status;
    }
    *out = graph;
    return TW_OK;
}

/* Loops stay in a graph if they are negative. */
static bool has_loops(tw_context *ctx, const tw_graph *graph)
{
    bool found = false;
    int64_t left = 0;
    for (int64_t u = 0; u < graph->n && graph->min_weight < 0; u++) {
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            break;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            found |= graph->targets[a] == u;
        }
    }
    return found;
}

static void print_lists(twi_printer *printer, const tw_graph *graph, bool weighted)
{
    for (int64_t u = 0; u < graph->n && printer->status == TW_OK; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            if (a > graph->offsets[u]) {
                twi_print_char(printer, ' ');
            }
            twi_print_whole(printer, (int64_t)graph->targets[a] + 1);
            if (weighted) {
                twi_print_char(printer, ' ');
                twi_print_weight(printer, graph, a);
            }
        }
        twi_print_char(printer, '\n');
        printer->done = (double)graph->offsets[u + 1];
    }
}

static tw_status check_undirected(tw_context *ctx, const tw_graph *graph)
{
    int64_t vertex = -1;
    tw_status status = graph->undirected ? TW_OK : find_one_way(ctx, &vertex, graph);
    if (status == TW_OK && vertex >= 0) {
        status = tw_fail(ctx, TW_ERR_UNSUPPORTED,
                         "METIS files hold undirected graphs and this one is directed: vertex %lld "
                         "(from 1) has an arc without one of equal weight in the other direction; "
                         "read it with --undirected, or choose another format",
                         (long long)vertex + 1);
    }
    if (status == TW_OK && has_loops(ctx, graph)) {
        status =
            tw_fail(ctx, TW_ERR_UNSUPPORTED,
                    "METIS files have no edges from a vertex to itself; choose another format");
    }
    return status == TW_OK ? twi_check_cancel(ctx) : status;
}

/* Of parallel edges, which the format does not have, the lightest. */
tw_status twi_metis_write(twi_printer *printer, const tw_graph *graph, const char *extension)
{
    (void)extension;
    tw_graph *simple = NULL;
    tw_status status = twi_graph_drop_parallel(printer->ctx, &simple, graph);
    graph = simple != NULL ? simple : graph;
    if (status == TW_OK) {
        status = check_undirected(printer->ctx, graph);
    }
    if (status == TW_OK) {
        const bool plain = graph->weight_type == TW_I32 && graph->equal && graph->min_weight == 1;
        const bool weighted = graph->arcs > 0 && !plain;
        printer->total = (double)graph->arcs;
        twi_print_whole(printer, graph->n);
        twi_print_char(printer, ' ');
        twi_print_whole(printer, graph->arcs / 2);
        twi_print_text(printer, weighted ? " 001\n" : "\n");
        print_lists(printer, graph, weighted);
        status = printer->status;
    }
    tw_graph_destroy(simple);
    return status;
}
