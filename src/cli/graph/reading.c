/* Reading a graph with the options of the command line: see reading.h. */
#include "cli/graph/reading.h"

#include "cli/shared/files.h"

#include <strings.h>

const cli_option cli_reading_options[] = {
    {"in-format", 0, CLI_TEXT, "FORMAT", offsetof(cli_reading, format), 0,
     "The format of the graph: triples, gr, mtx, edges, metis, npy or npz. Default: chosen by "
     "extension, or by content if the extension is missing or unknown."},
    {"directed", 0, CLI_FLAG, NULL, offsetof(cli_reading, directed), TW_GRAPH_DIRECTED_YES,
     "Treat edges as directed, whatever the file says."},
    {"undirected", 0, CLI_FLAG, NULL, offsetof(cli_reading, directed), TW_GRAPH_DIRECTED_NO,
     "Treat edges as undirected, whatever the file says."},
    {"unweighted", 0, CLI_FLAG, NULL, offsetof(cli_reading, unweighted), 1,
     "Ignore weights: each edge counts 1."},
    {"from", 0, CLI_TEXT, "COLUMN", offsetof(cli_reading, from), 0,
     "The column of an edge list that holds the source of an edge, by number from 1 or by its name "
     "in the header. Default: the column whose title identifies it unambiguously, or the first."},
    {"to", 0, CLI_TEXT, "COLUMN", offsetof(cli_reading, to), 0,
     "The column that holds the target. Default: as for --from, or the second."},
    {"weight", 0, CLI_TEXT, "COLUMN", offsetof(cli_reading, weight), 0,
     "The column that holds the weight. Default: as for --from, or the third, if there is one and "
     "neither --from nor "
     "--to is given."},
    {"ids", 0, CLI_FLAG, NULL, offsetof(cli_reading, ids), 1,
     "Vertices of an edge list have names, which are used in input and output. Rows and columns "
     "follow the order in which names first appear. Default: on if the vertices of a .csv or .tsv "
     "are not all numbers, or if a number has leading zeros or exceeds 2^31 - 2."},
    {"header", 0, CLI_FLAG, NULL, offsetof(cli_reading, header), TW_GRAPH_HEADER_YES,
     "The first line of an edge list names its columns. Default: detected."},
    {"no-header", 0, CLI_FLAG, NULL, offsetof(cli_reading, header), TW_GRAPH_HEADER_NO,
     "The first line of an edge list is an edge, even if it looks like a header."},
    {"no-edge", 0, CLI_TEXT, "VALUE", offsetof(cli_reading, no_edge), 0,
     "The entry of an .npy matrix that means 'no edge', besides infinity: a number, or nan."},
    {0}};

static tw_status read_no_edge(tw_context *ctx, const char *text, double *out)
{
    if (!cli_read_real(text, out)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--no-edge '%.60s': %s", text, cli_why_not_real(text));
    }
    return TW_OK;
}

tw_status cli_read_options(tw_context *ctx, tw_graph_read_options *out, double *mark,
                           const cli_reading *reading)
{
    out->format = reading->format;
    out->directed = reading->directed;
    out->unweighted = reading->unweighted;
    out->ids = reading->ids;
    out->from = reading->from;
    out->to = reading->to;
    out->weight = reading->weight;
    out->header = reading->header;
    if (reading->no_edge == NULL) {
        return TW_OK;
    }
    out->no_edge = mark;
    return read_no_edge(ctx, reading->no_edge, mark);
}

tw_status cli_reading_check(const cli_job *job, const char *path, const cli_reading *reading)
{
    static const char *const of_lists[] = {"from", "to", "weight", "ids", "header", "no-header"};
    static const char *const others[] = {"gr", "mtx", "graph", "metis", "bin", "triples", "npz"};
    static const char *const lists[] = {"el", "txt", "csv", "tsv", "tab", "edges"};
    char inner[CLI_EXTENSION];
    const char *word = cli_format_word(inner, path, reading->format);
    bool other = false, list = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        other |= strcasecmp(word, others[i]) == 0;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        list |= strcasecmp(word, lists[i]) == 0;
    }
    tw_status status = TW_OK;
    if (other || list) {
        status = cli_refuse(job, "no-edge", ": GRAPH is not an .npy file");
    }
    const bool matrix = strcasecmp(word, "npy") == 0;
    for (size_t i = 0; i < sizeof of_lists / sizeof *of_lists && status == TW_OK; i++) {
        if (other || matrix) {
            status = cli_refuse(job, of_lists[i], ": GRAPH is not an edge list");
        }
    }
    if (status == TW_OK && reading->unweighted) {
        status = cli_refuse(job, "weight", "with --unweighted");
    }
    return status;
}

void cli_say_header(const cli_job *job, const char *path, const tw_graph_info *about)
{
    if (about->header != 0) {
        cli_say(job, "%s: the first line is taken for a header; --no-header reads it as an edge",
                path);
    }
}

tw_status cli_read_graph(cli_job *job, tw_graph **out, const char *path, const cli_reading *reading)
{
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    double mark = 0;
    tw_status status = cli_reading_check(job, path, reading);
    if (status == TW_OK) {
        status = cli_read_options(job->ctx, &opts, &mark, reading);
    }
    if (status == TW_OK) {
        status = tw_graph_read(job->ctx, out, path, &opts);
    }
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    if (status == TW_OK && tw_graph_describe(*out, &about) == TW_OK) {
        cli_say_header(job, path, &about);
    }
    return status;
}
