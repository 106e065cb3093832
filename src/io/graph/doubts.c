/* What a list leaves in doubt: see doubts.h. */
#include "io/graph/doubts.h"

#include <ctype.h>
#include <stdio.h>

tw_status twi_ask_for_header(tw_context *ctx, const twi_input *input, const twi_columns *columns)
{
    char from[61], to[61];
    (void)twi_text_show(from, sizeof from, columns->ends[0].begin, columns->ends[0].end);
    (void)twi_text_show(to, sizeof to, columns->ends[1].begin, columns->ends[1].end);
    return tw_fail(
        ctx, TW_ERR_FORMAT,
        "%.400s: is the first line a header? '%s' and '%s' look like %s; use --header or "
        "--no-header",
        input->name, from, to,
        columns->wordy ? "titles, but a number follows" : "a title and something else");
}

/* Whether the first two vertices have no edges but to each other, and others have some. */
static bool stands_alone(const tw_graph *graph)
{
    if (graph->n <= 2) {
        return false;
    }
    for (int64_t u = 0; u < graph->n; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            if ((u < 2) != (graph->targets[a] < 2)) {
                return false;
            }
        }
    }
    return true;
}

tw_status twi_check_first_edge(tw_context *ctx, const twi_input *input, const twi_columns *columns,
                               const tw_graph *graph)
{
    if ((!columns->lone && !columns->doubtful) || !columns->names || !stands_alone(graph)) {
        return TW_OK;
    }
    if (columns->doubtful) {
        return twi_ask_for_header(ctx, input, columns);
    }
    twi_log(ctx,
            "%.400s: the first line is read as an edge, but no other has its vertices; use "
            "--header if it names the columns",
            input->name);
    return TW_OK;
}

/* The first vertex that an edge has. */
static int64_t first_used(const tw_graph *graph)
{
    int64_t first = 0;
    while (graph->offsets[first + 1] == 0) {
        first++;
    }
    for (int64_t a = 0; a < graph->arcs && first > 0; a++) {
        first = graph->targets[a] < first ? graph->targets[a] : first;
    }
    return first;
}

void twi_mention_gaps(tw_context *ctx, const twi_input *input, const tw_graph *graph,
                      int64_t records)
{
    if (graph->arcs == 0) {
        return;
    }
    const int64_t first = first_used(graph);
    const int64_t gap = graph->n - 2 * records; /* at least: an edge has two */
    char to[32] = "";
    if (first > 1) {
        (void)snprintf(to, sizeof to, " to %lld", (long long)(first - 1 + graph->first));
    }
    if (first > 0) {
        twi_log(ctx,
                "%.400s: no edge has vert%s %d%s; if the numbers are identifiers or count from 1, "
                "--ids omits vertices without edges",
                input->name, first > 1 ? "ices" : "ex", (int)graph->first, to);
    } else if (gap > 0) {
        twi_log(ctx,
                "%.400s: %lld or more of %lld vertices have no edges; if the numbers are "
                "identifiers, --ids omits those",
                input->name, (long long)gap, (long long)graph->n);
    }
}

void twi_mention_weight(tw_context *ctx, const twi_input *input, const twi_columns *columns)
{
    const twi_field *title = &columns->weighing;
    char shown[61];
    if (title->begin < title->end) {
        (void)twi_text_show(shown, sizeof shown, title->begin, title->end);
        twi_log(ctx, "%.400s: '%s' is taken as the weight; use --unweighted if it is not one",
                input->name, shown);
    }
}

void twi_mention_rows(tw_context *ctx, const twi_input *input, const twi_columns *columns)
{
    if (columns->shift > 0 && columns->from > 1 && columns->to > 1 && columns->weight != 1) {
        twi_log(ctx,
                "%.400s: each line has one field more than the header; the first is taken as a row "
                "name and ignored",
                input->name);
    }
}

void twi_mention_name(tw_context *ctx, const twi_input *input, const twi_field *name)
{
    const bool zeros = name->end - name->begin > 1 && name->begin[0] == '0' &&
                       isdigit((unsigned char)name->begin[1]);
    char shown[61];
    if (name->begin == name->end) {
        return;
    }
    (void)twi_text_show(shown, sizeof shown, name->begin, name->end);
    twi_log(ctx, "%.400s:%lld: '%s' is not a vertex number%s; all vertices are taken as names",
            input->name, (long long)twi_text_count_lines(input->bytes, name->begin) + 1, shown,
            zeros ? ": its zeros would be lost" : "");
}

void twi_mention_undirected(tw_context *ctx, const twi_input *input, const twi_remarks *remarks,
                            const tw_graph_read_options *opts, const tw_graph *graph)
{
    if (remarks->spoken > 0 && !graph->undirected && opts->directed == TW_GRAPH_DIRECTED_AS_FILE) {
        twi_log(ctx,
                "%.400s:%lld: a comment speaks of undirected edges, but edges are read one way; "
                "use --undirected if they count both ways",
                input->name, (long long)remarks->spoken);
    }
}
