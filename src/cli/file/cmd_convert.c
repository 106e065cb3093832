/*
 * tilewright convert: a graph or a matrix in another format. What is neither said nor told by the
 * extensions is a matrix: .npy and .csv hold either, the other formats of graphs nothing else.
 */
#include "cli/graph/names.h"
#include "cli/graph/reading.h"
#include "cli/graph/tables.h"
#include "cli/graph/vertex_table.h"
#include "cli/shared/commands.h"
#include "cli/shared/files.h"
#include "cli/shared/typed.h"
#include "frame/report.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { KIND_AUTO, KIND_GRAPH, KIND_MATRIX };

typedef struct settings {
    cli_reading reading;
    int32_t kind;
    int32_t labels;
    const char *output;
    const char *out_format;
    tw_type raw_type;
    tw_type type;
} settings;

static const settings defaults = {.reading = CLI_READING_INIT};

static const cli_option kind_options[] = {
    {"graph", 0, CLI_FLAG, NULL, offsetof(settings, kind), KIND_GRAPH,
     "IN is a graph. Default: if the extension of IN or OUT is used only for graphs."},
    {"matrix", 0, CLI_FLAG, NULL, offsetof(settings, kind), KIND_MATRIX,
     "IN is a matrix of distances. Default: in all other cases."},
    {"output", 'o', CLI_TEXT, "OUT", offsetof(settings, output), 0, "The same as OUT."},
    {"out-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, out_format), 0,
     "Graphs: triples, gr, mtx, edges, metis or npy. Matrices: raw, npy or csv. Default: chosen by "
     "the extension of OUT."},
    {"labels", 0, CLI_FLAG, NULL, offsetof(settings, labels), 1,
     "Write the names of a matrix's rows and columns beside OUT, one per line: for d.npy "
     "d.rows.txt and d.cols.txt. A .csv already contains them."},
    {"type", 0, CLI_TYPE, "TYPE", offsetof(settings, type), CLI_MATRIX_TYPES,
     "The element type of a matrix OUT: u8, u16, i32, f32 or f64; by default that of IN. 'No path' "
     "is kept as such; a number that does not fit is an error, but f64 is rounded to f32."},
    {"raw-type", 0, CLI_TYPE, "TYPE", offsetof(settings, raw_type), CLI_ELEMENT_TYPES,
     "The type of a raw IN, which stores none: u8, u16, i16, i32 (the default), f32 or f64."},
    {0}};

static const cli_group groups[] = {{"What is converted", kind_options},
                                   {"A graph", cli_reading_options},
                                   {"Resources", cli_host_options},
                                   {"Messages", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"IN", "A graph in any format that 'tilewright apsp' reads, or a matrix as it writes it: .npy, "
           ".csv or raw; '-' is standard input. Names of rows and columns (in a .csv, or beside it "
           "by 'apsp --labels') are kept."},
    {"OUT", "The output file; '-' is standard output."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright convert roads.gr.gz roads.mtx", "DIMACS to Matrix Market"},
    {"tilewright convert trains.csv trains.bin", "an edge list to triples; the names are lost"},
    {"tilewright convert answer.raw distances.npy", "a raw matrix of int32 for NumPy"},
    {"tilewright convert d.npy small.npy --type u16", "the same distances in half the space"},
    {NULL, NULL}};

static bool is_of_graphs(const char *path, const char *format)
{
    static const char *const graphs[] = {"gr",    "mtx",   "el",      "tsv", "tab", "txt", "graph",
                                         "metis", "edges", "triples", "bin", "npz", NULL};
    char inner[CLI_EXTENSION];
    const char *word = cli_format_word(inner, path, format);
    for (const char *const *known = graphs; *known != NULL; known++) {
        if (strcasecmp(word, *known) == 0) {
            return true;
        }
    }
    return false;
}

/* ".bin" is triples or raw: of a matrix if the other side is one. */
static bool is_graph(const settings *s, const char *in, const char *out)
{
    static const char *const matrices[] = {"npy", "raw", "out", NULL};
    static const char *const either[] = {"bin", NULL};
    if (s->kind != KIND_AUTO) {
        return s->kind == KIND_GRAPH;
    }
    const bool in_bin = s->reading.format == NULL && cli_writes(in, NULL, either);
    const bool out_bin = s->out_format == NULL && cli_writes(out, NULL, either);
    if (out_bin && !in_bin && cli_writes(in, s->reading.format, matrices)) {
        return false;
    }
    return is_of_graphs(in, s->reading.format) || is_of_graphs(out, s->out_format);
}

/* Without a format, '-' is that of its kind: triples or raw. */
static bool is_binary(const settings *s, const char *out)
{
    static const char *const binary[] = {"", "raw", "npy", "triples", "bin", "out", NULL};
    return cli_writes(out, s->out_format, binary);
}

static void conclude(const cli_job *job, const settings *s, bool graph, const char *in,
                     const char *out, int64_t rows, int64_t cols)
{
    char seconds[CLI_SHOWN];
    const double taken = cli_seconds() - job->started;
    if (!s->reading.common.json) {
        cli_show_seconds(seconds, taken);
        if (graph) {
            cli_say(job, "%s: graph of %lld %s and %lld arc%s, in %s", out, (long long)rows,
                    rows == 1 ? "vertex" : "vertices", (long long)cols, cols == 1 ? "" : "s",
                    seconds);
        } else {
            cli_say(job, "%s: matrix of %lld x %lld, in %s", out, (long long)rows, (long long)cols,
                    seconds);
        }
        return;
    }
    cli_report json;
    cli_report_begin(&json, cli_report_file(job));
    cli_report_text(&json, "command", "convert");
    cli_report_text(&json, "kind", graph ? "graph" : "matrix");
    cli_report_text(&json, "input", in);
    cli_report_text(&json, "output", out);
    cli_report_integer(&json, graph ? "vertices" : "rows", rows);
    cli_report_integer(&json, graph ? "arcs" : "cols", cols);
    cli_report_number(&json, "seconds", taken);
    cli_report_end(&json);
}

/* Tabs may separate a matrix as well. */
static tw_status mention_matrix(cli_job *job, const settings *s, const char *in, tw_status status)
{
    static const char *const either[] = {"tsv", "tab", "txt", NULL};
    char why[1024];
    if (status != TW_ERR_FORMAT || s->kind != KIND_AUTO ||
        !cli_writes(in, s->reading.format, either)) {
        return status;
    }
    snprintf(why, sizeof why, "%s", tw_last_error(job->ctx));
    return tw_fail(job->ctx, status, "%s (taken for a graph; if it is a matrix, use --matrix)",
                   why);
}

static tw_status convert_graph(cli_job *job, const settings *s, const char *in, const char *out)
{
    static const char *const named[] = {"el", "txt", "csv", "tsv", "tab", "edges", NULL};
    static const char *const counted[] = {"gr", "mtx", "graph", "metis", NULL}; /* from 1 */
    tw_graph *graph = NULL;
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    tw_status status = cli_refuse(job, "type", "on a graph");
    if (status == TW_OK) {
        status = cli_refuse(job, "raw-type", "on a graph");
    }
    if (status == TW_OK) {
        status = cli_refuse(job, "labels", "on a graph; write it as .csv, which has names");
    }
    if (status == TW_OK) {
        status = cli_check_graph_output(job->ctx, out, s->out_format);
    }
    if (status == TW_OK) {
        status = mention_matrix(job, s, in, cli_read_graph(job, &graph, in, &s->reading));
    }
    if (status == TW_OK) {
        status = tw_graph_describe(graph, &about);
    }
    if (status == TW_OK) {
        status = tw_graph_write(job->ctx, graph, out, s->out_format);
    }
    if (status == TW_OK && about.labelled && !cli_writes(out, s->out_format, named)) {
        cli_say(job,
                "%s has no names for vertices: they are numbered in the order in which their "
                "names first appear in %s",
                out, in);
    }
    if (status == TW_OK && !about.labelled && about.first > 0 &&
        !cli_writes(out, s->out_format, counted)) {
        cli_say(job, "%s numbers vertices from 0, %s from %d", out, in, (int)about.first);
    }
    if (status == TW_OK) {
        conclude(job, s, true, in, out, about.vertices, about.arcs);
    }
    tw_graph_destroy(graph);
    return status;
}

/* By its name: what map reads and writes. */
static tw_status refuse_image(cli_job *job, const char *path, const char *format)
{
    static const char *const images[] = {"pgm",  "ppm", "pnm",  "pfm",     "png", "tif",
                                         "tiff", "jpg", "jpeg", "records", NULL};
    return format != NULL || !cli_writes(path, NULL, images)
               ? TW_OK
               : tw_fail(job->ctx, TW_ERR_UNSUPPORTED,
                         "%.400s is an image, not a graph or a matrix; 'tilewright map x IN OUT' "
                         "converts images",
                         path);
}

static tw_status refuse_graph_options(const cli_job *job)
{
    tw_status status = TW_OK;
    for (const cli_option *o = cli_reading_options; o->name != NULL && status == TW_OK; o++) {
        if (strcmp(o->name, "in-format") != 0) {
            status = cli_refuse(job, o->name, "on a matrix; --graph says that IN is a graph");
        }
    }
    return status;
}

/* Numbers in two or three columns that may be edges as well: whole ends, and no diagonal of zeros.
 * The first LOOKED rows decide. */
static tw_status ask_for_kind(cli_job *job, const char *in, const tw_source *source)
{
    enum { LOOKED = 16 };
    const tw_shape *shape = &source->shape;
    const int64_t rows = shape->rows < LOOKED ? shape->rows : LOOKED;
    double values[LOOKED * 3]; /* of any type */
    bool ends = shape->cols == 2 || shape->cols == 3, zeros = shape->rows == shape->cols;
    if (!ends || rows == 0) {
        return TW_OK;
    }
    tw_status status = source->rows(source->self, job->ctx, 0, rows, values, shape->cols);
    for (int64_t i = 0; i < rows && status == TW_OK; i++) {
        const char *row =
            (const char *)values + (size_t)(i * shape->cols) * tw_type_size(shape->type);
        for (int64_t j = 0; j < 2; j++) {
            const double value = cli_distance_at(row, shape->type, j);
            ends = ends && value >= 0 && value <= INT32_MAX && value == floor(value);
        }
        zeros = zeros && cli_distance_at(row, shape->type, i) == 0;
    }
    return status != TW_OK || !ends || zeros
               ? status
               : tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "%.400s may be a list of edges or a matrix of %lld x %lld: use --graph or "
                         "--matrix",
                         in, (long long)shape->rows, (long long)shape->cols);
}

static tw_status write_labels(const cli_job *job, const char *out, const cli_table_names *names)
{
    const cli_vertices *lists[] = {&names->rows, &names->cols};
    static const char *const which[] = {"rows", "cols"};
    tw_status status = TW_OK;
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        char path[CLI_LABEL_PATH];
        status = cli_label_path(job->ctx, path, out, which[i]);
        if (status == TW_OK) {
            status = tw_vertices_write(job->ctx, path, names->graph, lists[i]->list,
                                       lists[i]->count, NULL, NULL, TW_I32);
        }
    }
    return status;
}

/* The sink of a matrix that has names: a .csv has them, too. */
static tw_status name_sink(cli_job *job, const settings *s, const char *out,
                           const cli_table_names *names, bool vertices, tw_sink *file)
{
    static const char *const text[] = {"csv", NULL};
    if (names->graph == NULL) {
        return s->labels ? tw_fail(job->ctx, TW_ERR_ARGUMENT, "--labels: IN has no names") : TW_OK;
    }
    if (cli_writes(out, s->out_format, text)) {
        tw_sink_destroy(file);
        return tw_sink_to_table(job->ctx, file, out, names->graph, names->rows.list,
                                names->cols.list, vertices);
    }
    if (!s->labels) {
        cli_say(job, "%s has no place for the names of rows and columns%s", out,
                cli_is_stdout(out) ? "" : "; --labels writes them beside it");
    }
    return TW_OK;
}

static tw_status convert_matrix(cli_job *job, const settings *s, const char *in, const char *out)
{
    tw_context *ctx = job->ctx;
    tw_source source = TW_SOURCE_INIT;
    tw_sink file = TW_SINK_INIT, sink = TW_SINK_INIT;
    cli_typed typed = {.inner = TW_SINK_INIT};
    cli_table_names names = {0};
    const cli_file input = {"IN", in};
    static const char *const text[] = {"csv", NULL};
    const bool table = cli_writes(out, s->out_format, text);
    bool vertices = false; /* in the entries of IN */
    tw_status status = refuse_graph_options(job);
    if (status == TW_OK && (table || cli_is_stdout(out))) {
        status =
            cli_refuse(job, "labels", table ? "on a .csv, which has them" : "on standard output");
    }
    if (status == TW_OK && !s->labels) {
        const cli_file output = {"OUT", out};
        status = cli_refuse_foreign_labels(ctx, &output, s->out_format,
                                           "use --labels to rewrite them, or remove them");
    }
    if (status == TW_OK) {
        status = cli_refuse_type(job, "raw-type", s->raw_type, &input, s->reading.format);
    }
    if (status == TW_OK) {
        status = tw_sink_to_file(ctx, &file, out, s->out_format);
    }
    if (status == TW_OK) {
        status = tw_matrix_source(ctx, &source, in, s->reading.format,
                                  s->raw_type != TW_AUTO ? s->raw_type : TW_I32);
    }
    if (status == TW_ERR_FORMAT && cli_is_file(in) && cli_writes(in, s->reading.format, text)) {
        status = cli_vertex_table(job, &source, in, status);
        vertices = status == TW_OK;
    }
    if (status == TW_ERR_FORMAT && s->kind == KIND_AUTO) {
        char why[1024];
        snprintf(why, sizeof why, "%s", tw_last_error(ctx));
        status =
            tw_fail(ctx, status, "%s (taken for a matrix; if it is a graph, use --graph)", why);
    }
    if (status == TW_OK) {
        status = cli_table_names_find(job, in, s->reading.format, &source, &names);
    }
    if (status == TW_OK && s->kind == KIND_AUTO && names.graph == NULL && cli_is_file(in) &&
        cli_writes(in, s->reading.format, text)) {
        status = ask_for_kind(job, in, &source);
    }
    if (status == TW_OK) {
        status = name_sink(job, s, out, &names, vertices, &file);
    }
    if (status == TW_OK) {
        const bool same = s->type == TW_AUTO || s->type == source.shape.type;
        typed.inner = file;
        typed.type = s->type;
        sink = file;
        if (!same) {
            cli_typed_sink(&typed, &sink);
        }
        if (vertices && table) { /* as the names are numbered */
            cli_vertex_table_renumber(&source, names.cols.list);
        }
        status = tw_feed_source(ctx, &source, &sink, 1);
    }
    if (status == TW_OK && s->labels) {
        status = write_labels(job, out, &names);
    }
    if (status == TW_OK) {
        conclude(job, s, false, in, out, source.shape.rows, source.shape.cols);
    }
    cli_table_names_clear(&names);
    tw_source_destroy(&source);
    tw_sink_destroy(&file);
    cli_typed_clear(&typed);
    return status;
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    const char *out = NULL;
    tw_status status = cli_begin(job, &s->reading.common);
    if (status == TW_OK) {
        status = cli_choose_output(job, &out, count > 1 ? words[1] : NULL, s->output);
    }
    if (status == TW_OK && out == NULL) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "convert: missing operand; usage: tilewright convert IN OUT");
    }
    if (status == TW_OK) {
        const cli_file input = {"IN", words[0]}, output = {"OUT", out};
        status = cli_check_files(job->ctx, &input, 1, &output, 1);
    }
    if (status == TW_OK) {
        const cli_file output = {"OUT", out};
        status = cli_check_terminal(job->ctx, &output, !is_binary(s, out),
                                    "choose a text format with --out-format");
    }
    if (status == TW_OK) {
        status = refuse_image(job, words[0], s->reading.format);
    }
    if (status == TW_OK) {
        status = refuse_image(job, out, s->out_format);
    }
    if (status != TW_OK) {
        return status;
    }
    return is_graph(s, words[0], out) ? convert_graph(job, s, words[0], out)
                                      : convert_matrix(job, s, words[0], out);
}

const cli_command cli_convert = {
    .name = "convert",
    .usage = "IN OUT",
    .summary = "write a graph or a matrix in another format",
    .text = "Reads a graph or a matrix of distances and writes it in another format, row by row "
            "where it is a matrix. An absent edge and a missing path stay what they are, whatever "
            "number stands for them in a type: 1073741823 in i32 becomes inf in f64 and in csv.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 1,
    .most = 2,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};
