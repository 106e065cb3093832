/* tilewright reach: which vertices can be reached from which. */
#include "cli/graph/names.h"
#include "cli/graph/reading.h"
#include "cli/graph/room.h"
#include "cli/graph/statistics.h"
#include "cli/graph/tables.h"
#include "cli/graph/vertices.h"
#include "cli/shared/commands.h"
#include "cli/shared/files.h"

#include "frame/report.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_reading reading;
    const char *sources;
    int32_t bits;
    const char *output;
    const char *format;
    const char *counts;
    const char *components;
    const char *condensation;
} settings;

static const settings defaults = {.reading = CLI_READING_INIT};

static const cli_option result_options[] = {
    {"sources", 0, CLI_TEXT, "LIST", offsetof(settings, sources), 0,
     "Compute only these rows: vertices such as 0,5,7-9, names such as Bern,\"Boston, MA\", or "
     "@FILE "
     "with a list, one name per line. Vertices are numbered as in the file: from 1 in DIMACS, "
     "Matrix Market and METIS files, else from 0."},
    {"bits", 0, CLI_FLAG, NULL, offsetof(settings, bits), 1,
     "Write eight vertices to a byte, vertex v in bit v % 8 of byte v / 8: an eighth of the size. "
     "In Python: numpy.unpackbits(a, axis=1, count=n, bitorder='little')."},
    {"output", 'o', CLI_TEXT, "OUT", offsetof(settings, output), 0, "The same as OUT."},
    {"out-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, format), 0,
     "The format of OUT: raw, npy or csv. Default: chosen by extension; .raw, .bin, .out or none "
     "is raw, others are refused."},
    {"counts", 0, CLI_TEXT, "FILE", offsetof(settings, counts), 0,
     "Write to FILE how many vertices each row's vertex reaches, itself not counted (.csv or '-': "
     "one per line, after the name of the vertex if the graph has names; .npy: one column). "
     "Without OUT this needs no matrix."},
    {"components", 0, CLI_TEXT, "FILE", offsetof(settings, components), 0,
     "Write the strongly connected component of each vertex to FILE, in the same way. Components "
     "are numbered from 0 so that arcs lead from lower to higher numbers."},
    {"condensation", 0, CLI_TEXT, "FILE", offsetof(settings, condensation), 0,
     "Write the graph of components to FILE, in the graph format of its extension: vertex c is "
     "component c, and every arc weighs 1."},
    {0}};

static const cli_group groups[] = {
    {"The graph", cli_reading_options},  {"The result", result_options},
    {"Resources", cli_resource_options}, {"Machine", cli_device_options},
    {"Messages", cli_talk_options},      {NULL, NULL}};

static const cli_operand operands[] = {
    {"GRAPH", "The graph, in any format that 'tilewright apsp' reads; '-' is standard input. "
              "Weights are read but do not matter."},
    {"OUT", "Where the matrix goes, one byte for each pair, 1 or 0: .npy, .csv, or raw (.raw, "
            ".bin, .out or no extension); '-' is standard output. Without OUT a summary is "
            "printed."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright reach packages.el --ids", "components, and how many pairs are connected"},
    {"tilewright reach packages.el --ids --counts counts.csv",
     "what each vertex reaches, as a number"},
    {"tilewright reach calls.gr reach.npy --bits", "the whole matrix, a bit for each pair"},
    {"tilewright reach calls.gr --sources 1,17 two.csv", "only two rows"},
    {"tilewright reach calls.gr --components c.csv --condensation dag.el",
     "the acyclic graph of components"},
    {NULL, NULL}};

typedef struct reach_run {
    cli_job *job;
    const settings *settings;
    const char *input;
    const char *output;
    tw_graph *graph;
    cli_vertices sources;
    tw_reach_plan *plan;
    tw_reach_plan_info info;
    tw_reach_report report;
    int64_t *counts;
    tw_sink sink;
    double seconds_read;
    double seconds_plan;
    uint64_t memory_read;   /* by the graph, and what was taken before it */
    uint64_t memory_output; /* by the file, if the limit leaves so much */
    uint64_t memory_before;
} reach_run;

static tw_status check_settings(reach_run *run, int count, char **words)
{
    const settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    tw_status status =
        cli_choose_output(run->job, &run->output, count == 2 ? words[1] : NULL, s->output);
    if (status == TW_OK && run->output == NULL) {
        status = cli_refuse(run->job, "out-format", "without OUT");
    }
    if (status != TW_OK) {
        return status;
    }
    const char *list = s->sources != NULL && s->sources[0] == '@' ? s->sources + 1 : NULL;
    const cli_file inputs[] = {{"GRAPH", run->input}, {"--sources", list}};
    const cli_file outputs[] = {{"OUT", run->output},
                                {"--counts", s->counts},
                                {"--components", s->components},
                                {"--condensation", s->condensation}};
    const bool text = s->format != NULL && strcmp(s->format, "csv") == 0;
    if (s->bits && run->output == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--bits has no effect without OUT");
    }
    status =
        cli_refuse_foreign_labels(ctx, &outputs[0], s->format, "remove them, or name another OUT");
    int to_stdout = 0;
    for (int i = 0; i < 4 && status == TW_OK; i++) {
        to_stdout += cli_is_stdout(outputs[i].path);
        cli_take_output(run->job, outputs[i].path);
        status = cli_check_terminal(ctx, &outputs[i], i == 0 ? text : i < 3,
                                    i == 0 ? "use --out-format csv" : "name a .csv file");
    }
    if (status != TW_OK) {
        return status;
    }
    if (to_stdout > 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "only one result can go to standard output");
    }
    return cli_check_files(ctx, inputs, 2, outputs, 4);
}

/* What a run will take beside a graph that could not be read for want of memory. */
static uint64_t use_of_graph(void *user, int64_t vertices, int64_t arcs, tw_type weights)
{
    static const int32_t some = 0; /* lists are counted, not read */
    const reach_run *run = user;
    const settings *s = run->settings;
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    uint64_t bytes = 0;
    (void)weights;
    const int64_t rows = s->sources != NULL ? cli_vertices_guess(s->sources, vertices) : vertices;
    if (s->sources != NULL || run->output == NULL) { /* without OUT rows are counted, not made */
        opts.sources = &some;
        opts.source_count = run->output != NULL ? rows : 0;
    }
    opts.layout = s->bits ? TW_REACH_BITS : TW_REACH_BYTES;
    if (s->reading.directed == TW_GRAPH_DIRECTED_NO) { /* no arc leads to another component */
        arcs = 0;
    }
    if (tw_reach_least_memory(run->job->ctx, &bytes, vertices, arcs, &opts) != TW_OK) {
        return 0;
    }
    return bytes +
           (s->counts != NULL && run->output != NULL ? (uint64_t)rows * sizeof(int64_t) : 0);
}

static tw_status check_room(const reach_run *run)
{
    const settings *s = run->settings;
    const cli_file out = {"OUT", run->output};
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    tw_status status = tw_graph_describe(run->graph, &about);
    if (status != TW_OK) {
        return status;
    }
    const tw_shape shape = {run->sources.list != NULL ? run->sources.count : about.vertices,
                            s->bits ? (about.vertices + 7) / 8 : about.vertices, TW_U8};
    return cli_check_room(run->job->ctx, &out, s->format, &shape, false,
                          s->bits
                              ? "--sources for some rows, or --counts without OUT, which needs "
                                "no matrix"
                              : "--bits to write eight entries as one, --sources for some rows, or "
                                "--counts without OUT, which needs no matrix");
}

static tw_status make_plan(reach_run *run)
{
    const settings *s = run->settings;
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    double started = cli_seconds();
    tw_status status = tw_set_graph_use(run->job->ctx, use_of_graph, run);
    if (status == TW_OK) {
        status = cli_read_graph(run->job, &run->graph, run->input, &s->reading);
    }
    run->memory_read = tw_memory_used(run->job->ctx);
    if (status == TW_OK) {
        status =
            cli_vertices_parse(run->job->ctx, &run->sources, run->graph, "--sources", s->sources);
    }
    if (status == TW_OK) {
        status = check_room(run);
    }
    run->seconds_read = cli_seconds() - started;
    started = cli_seconds();
    opts.sources = run->sources.list;
    opts.source_count = run->sources.count;
    opts.layout = s->bits ? TW_REACH_BITS : TW_REACH_BYTES;
    if (status == TW_OK) {
        status = tw_reach_plan_create(run->job->ctx, &run->plan, run->graph, &opts);
    }
    if (status == TW_OK) {
        status = tw_reach_plan_describe(run->plan, &run->info);
    }
    run->seconds_plan = cli_seconds() - started;
    run->memory_before = tw_memory_peak(run->job->ctx);
    return status;
}

/* Where vertices have names, a .csv has them above its columns and before its rows. */
static tw_status name_output(reach_run *run)
{
    static const char *const text[] = {"csv", NULL};
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    const settings *s = run->settings;
    tw_status status = tw_graph_describe(run->graph, &about);
    if (status != TW_OK || run->output == NULL || !about.labelled) {
        return status;
    }
    if (s->bits || !cli_writes(run->output, s->format, text)) {
        cli_say(run->job,
                "%s has no place for names: vertices are numbered from 0 in the order in which "
                "their names first appear in %s%s",
                run->output, run->input, s->bits ? "" : "; a .csv has the names");
        return TW_OK;
    }
    tw_sink_destroy(&run->sink);
    return tw_sink_to_table(run->job->ctx, &run->sink, run->output, run->graph, run->sources.list,
                            NULL, 0);
}

static tw_status write_condensation(const reach_run *run)
{
    tw_context *ctx = run->job->ctx;
    tw_csr csr = TW_CSR_INIT;
    const int64_t *offsets = NULL;
    const int32_t *targets = NULL;
    tw_graph *graph = NULL;
    tw_reach_plan_condensation(run->plan, &offsets, &targets);
    csr.vertices = run->info.components;
    csr.offsets = offsets;
    csr.targets = targets;
    tw_status status = tw_graph_from_csr(ctx, &graph, &csr, 0);
    if (status == TW_OK) {
        status = tw_graph_write(ctx, graph, run->settings->condensation, NULL);
    }
    tw_graph_destroy(graph);
    return status;
}

/* Counts go into files as i32: there is no vertex that reaches more. As everywhere in the command,
 * the vertex itself does not count. */
static tw_status write_counts(reach_run *run)
{
    const int64_t rows = run->info.shape.rows;
    int32_t *narrow = malloc((size_t)(rows + 1) * sizeof *narrow);
    if (narrow == NULL) {
        return tw_fail(run->job->ctx, TW_ERR_MEMORY, "not enough memory for %lld counts",
                       (long long)rows);
    }
    for (int64_t i = 0; i < rows; i++) {
        narrow[i] = (int32_t)run->counts[i] - 1;
    }
    tw_status status = cli_write_column(run->job->ctx, run->graph, run->sources.list, rows,
                                        "reached", narrow, TW_I32, run->settings->counts);
    free(narrow);
    return status;
}

static tw_status execute(reach_run *run)
{
    const settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    tw_status status = TW_OK;
    if (s->counts != NULL) {
        run->counts = malloc((size_t)(run->info.shape.rows + 1) * sizeof *run->counts);
        if (run->counts == NULL) {
            return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for %lld counts",
                           (long long)run->info.shape.rows);
        }
    }
    if (run->output != NULL) {
        tw_sink_expect(ctx, &run->sink, &run->info.shape);
        const uint64_t held = tw_sink_memory(&run->sink, &run->info.shape);
        const uint64_t planned = run->memory_read + run->info.memory;
        const uint64_t limit = tw_memory_limit(ctx), left = limit > planned ? limit - planned : 0;
        run->memory_output = held < left ? held : left;
    }
    status = tw_reach_plan_run(ctx, run->plan, &run->sink, run->output != NULL ? 1 : 0, run->counts,
                               &run->report);
    if (status == TW_OK && s->counts != NULL) {
        status = write_counts(run);
    }
    if (status == TW_OK && s->components != NULL) {
        status = cli_write_column(ctx, run->graph, NULL, run->info.vertices, "component",
                                  tw_reach_plan_components(run->plan), TW_I32, s->components);
    }
    if (status == TW_OK && s->condensation != NULL) {
        status = write_condensation(run);
    }
    return status;
}

static void report_json(const reach_run *run)
{
    const int64_t rows = run->info.shape.rows, n = run->info.vertices;
    const int64_t reachable = run->report.pairs - rows;
    cli_report json;
    cli_report_begin(&json, cli_report_file(run->job));
    cli_report_text(&json, "command", "reach");
    cli_report_text(&json, "version", tw_version());
    cli_report_text(&json, "input", run->input);
    cli_report_text(&json, "output", run->output);
    cli_report_text(&json, "device", run->report.device);
    cli_report_integer(&json, "vertices", n);
    cli_report_integer(&json, "components", run->info.components);
    cli_report_integer(&json, "largest_component", run->info.largest);
    cli_report_integer(&json, "condensation_arcs", run->info.arcs);
    cli_report_integer(&json, "rows", rows);
    cli_report_text(&json, "layout", run->settings->bits ? "bits" : "bytes");
    cli_report_integer(&json, "reachable", reachable);
    cli_report_integer(&json, "unreachable", rows * (n > 0 ? n - 1 : 0) - reachable);
    cli_report_integer(&json, "threads", run->report.threads);
    cli_report_integer(&json, "memory_before", (int64_t)run->memory_before);
    cli_report_integer(&json, "memory_planned",
                       (int64_t)(run->memory_read + run->info.memory + run->memory_output));
    cli_report_integer(&json, "memory_peak", (int64_t)run->report.memory_peak);
    cli_report_object(&json, "seconds");
    cli_report_number(&json, "read", run->seconds_read);
    cli_report_number(&json, "plan", run->seconds_plan);
    cli_report_number(&json, "compute", run->report.seconds_compute);
    cli_report_number(&json, "device", run->report.seconds_device);
    cli_report_number(&json, "write", run->report.seconds_output);
    cli_report_number(&json, "total", cli_seconds() - run->job->started);
    cli_report_end_object(&json);
    cli_report_end(&json);
}

static void print_summary(const reach_run *run)
{
    const int64_t rows = run->info.shape.rows, n = run->info.vertices;
    const int64_t pairs = rows * (n > 0 ? n - 1 : 0), reachable = run->report.pairs - rows;
    cli_print("vertices      %lld\n", (long long)n);
    cli_print("components    %lld, the largest of %lld vert%s\n", (long long)run->info.components,
              (long long)run->info.largest, run->info.largest == 1 ? "ex" : "ices");
    cli_print("condensation  %lld arc%s\n", (long long)run->info.arcs,
              run->info.arcs == 1 ? "" : "s");
    cli_print("reachable     %lld of %lld pairs", (long long)reachable, (long long)pairs);
    if (pairs > 0) {
        cli_print_share((double)reachable, (double)pairs);
    }
    cli_print("\n");
}

static tw_status run_reach(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    reach_run run = {.job = job,
                     .settings = s,
                     .input = words[0],
                     .info = TW_REACH_PLAN_INFO_INIT,
                     .report = TW_REACH_REPORT_INIT,
                     .sink = TW_SINK_INIT};
    tw_status status = cli_begin(job, &s->reading.common);
    if (status == TW_OK) {
        status = check_settings(&run, count, words);
    }
    if (status == TW_OK &&
        run.output != NULL) { /* first of all: a name that cannot be is refused */
        status = tw_sink_to_file(job->ctx, &run.sink, run.output, s->format);
    }
    if (status == TW_OK) {
        status = make_plan(&run);
    }
    if (status == TW_OK) {
        status = name_output(&run);
    }
    if (status == TW_OK) {
        status = execute(&run);
    }
    if (status == TW_OK && s->reading.common.json) {
        report_json(&run);
    } else if (status == TW_OK && run.output == NULL && !job->stdout_taken) {
        print_summary(&run);
    }
    free(run.counts);
    tw_sink_destroy(&run.sink);
    tw_reach_plan_destroy(run.plan);
    cli_vertices_clear(&run.sources);
    tw_graph_destroy(run.graph);
    return status;
}

const cli_command cli_reach = {
    .name = "reach",
    .usage = "GRAPH [OUT]",
    .summary = "find which vertices of a graph can be reached from which",
    .text = "Computes the transitive closure: entry (i, j) of the result is 1 if a walk along the "
            "arcs leads from i to j, else 0. A vertex reaches itself. Vertices that reach each "
            "other form a strongly connected component and reach the same vertices, so components "
            "are found first and only the graph between them is closed.\n"
            "Without OUT no matrix is made: the summary shows the components and how many pairs "
            "of distinct vertices are connected, and --counts writes how many each vertex "
            "reaches.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 1,
    .most = 2,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run_reach,
};
