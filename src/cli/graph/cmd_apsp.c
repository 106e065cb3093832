/*
 * tilewright apsp: read the graph, plan, run, with every row passing once through the sinks that
 * were asked for: the verifier, the summary, the output file. What is said about a run is in
 * apsp_report.c.
 */
#include "cli/graph/apsp_run.h"

#include "cli/graph/statistics.h"
#include "cli/shared/commands.h"
#include "cli/shared/files.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define VERIFY_ROWS 16
#define VERIFY_SEED 1
#define LARGE_INPUT (16 << 20) /* bytes of a graph file */

static const apsp_settings defaults = {.reading = CLI_READING_INIT,
                                       .cutoff = (double)NAN,
                                       .verify = -1,
                                       .answers = CLI_ANSWERS_INIT,
                                       .every = 600};

static const cli_option result_options[] = {
    CLI_PICK_OPTIONS(apsp_settings),
    {"predecessors", 0, CLI_TEXT, "FILE", offsetof(apsp_settings, predecessors), 0,
     "Also write the vertex before each target on its shortest path, as int32 of the same shape; "
     "-9999 where there is none. Vertices are numbered from 0, but in a .csv as in the graph's "
     "file; where they have names, a .csv is a table of names, empty where there is none. Not with "
     "--targets."},
    {"output", 'o', CLI_TEXT, "OUT", offsetof(apsp_settings, output), 0, "The same as OUT."},
    {"out-format", 0, CLI_TEXT, "FORMAT", offsetof(apsp_settings, format), 0,
     "The format of OUT: raw, npy or csv. Default: chosen by extension; .raw, .bin, .out or none "
     "is raw, others are refused."},
    {"long", 0, CLI_FLAG, NULL, offsetof(apsp_settings, in_lines), 1,
     "Write OUT, a .csv or '-', as lines from,to,distance below a header instead of a matrix: with "
     "names, without pairs that have no path and without the distance of a vertex to itself."},
    {"labels", 0, CLI_FLAG, NULL, offsetof(apsp_settings, labels), 1,
     "Also write the vertices of the rows and columns of OUT, one per line, in quotes where a .csv "
     "needs them: for d.npy into "
     "d.rows.txt and d.cols.txt."},
    CLI_SUMMARY_OPTION(apsp_settings),
    CLI_VERIFY_OPTION(apsp_settings, VERIFY_ROWS),
    {0}};

static const cli_option answer_options[] = {CLI_ANSWER_OPTIONS(apsp_settings), {0}};

static const cli_option method_options[] = {
    {"explain", 0, CLI_FLAG, NULL, offsetof(apsp_settings, explain), 1,
     "Explain the plan: the candidates, their estimated time and memory, and the choice. Nothing "
     "is computed unless OUT, --summary, --predecessors, --verify or an answer is also given."},
    {"method", 0, CLI_METHOD, "NAME", offsetof(apsp_settings, method), 0,
     "closure (blocked Floyd-Warshall), dijkstra (a search from each source; on a GPU from many at "
     "once, by label correction), bfs (equal weights), sweep (elimination, then all sources at "
     "once: roads, grids, meshes), reference (slow and simple); auto (the default) picks the "
     "fastest."},
    {"work-type", 0, CLI_TYPE, "TYPE", offsetof(apsp_settings, work_type), CLI_MATRIX_TYPES,
     "The type the closure or the sweep computes in: u8, u16, i32, f32, f64, or auto (the "
     "default): the narrowest that gives an exact result."},
    {"block", 0, CLI_COUNT, "B", offsetof(apsp_settings, block), 0,
     "The pivot width of the closure; 0, the default, leaves it to the plan. It may change the "
     "last bit of float distances."},
    {"no-cache", 0, CLI_FLAG, NULL, offsetof(apsp_settings, no_cache), 1,
     "Neither read nor write the elimination orders kept in $XDG_CACHE_HOME/tilewright or "
     "~/.cache/tilewright. A sweep needs such an order, which depends only on which vertices are "
     "joined. At most 128 files and 256 MiB are kept; they may be deleted at any time."},
    {"checkpoint", 0, CLI_TEXT, "FILE", offsetof(apsp_settings, checkpoint), 0,
     "Compute by the closure, on the CPU or on GPUs, and write its state to FILE every so often; "
     "the previous one is kept as FILE.previous. The same command, started again, continues from "
     "there and gives the same bytes; another device can continue it, with whole weights, and so "
     "can tilewright-mpi, and vice versa. Both files are removed when the run succeeds."},
    CLI_EVERY_OPTION(apsp_settings),
    {0}};

static const cli_group groups[] = {{"The graph", cli_reading_options},
                                   {"The result", result_options},
                                   {"Answers that need no matrix", answer_options},
                                   {"How it is computed", method_options},
                                   {"Resources", cli_resource_options},
                                   {"Machine", cli_device_options},
                                   {"Messages", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"GRAPH", "The graph: edge triples, DIMACS .gr, Matrix Market .mtx, an edge list, METIS "
              ".graph, a square .npy or a sparse .npz of SciPy, also compressed (.gz, .zst, .xz); "
              "'-' is standard input."},
    {"OUT",
     "The output file for the distance matrix: .npy, .csv, or raw (.raw, .bin, .out or no "
     "extension); '-' is standard output. Where vertices have names, a .csv has them above its "
     "columns and before its rows. Without OUT a summary of the result is printed."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright apsp roads.gr", "solve, and print diameter, radius, mean distance ..."},
    {"tilewright apsp roads.gr distances.npy --verify", "keep the matrix, after checking 16 rows"},
    {"tilewright apsp trains.csv --undirected --sources Bern,Basel --long -o two.csv",
     "an edge list with names; the distances from two vertices, a line for each"},
    {"tilewright apsp roads.gr --closeness c.csv --nearest n.csv --count 5",
     "centrality and the five nearest of each vertex, without a matrix"},
    {"tilewright apsp big.bin --explain", "what would be done, and its cost"},
    {NULL, NULL}};

/* The sinks of OUT and --predecessors, made first of all so that a name that cannot be is refused
 * before anything is read. */
static tw_status make_file_sinks(apsp_run *run)
{
    const apsp_settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    tw_status status = TW_OK;
    if (run->output != NULL && !s->in_lines) {
        status = cli_apsp_output_sink(ctx, &run->output_sink.inner, run->output, s->format);
    }
    if (status == TW_OK && s->predecessors != NULL) {
        status = tw_sink_to_file(ctx, &run->predecessor_sink.inner, s->predecessors, NULL);
    }
    return status;
}

/* Where OUT goes, and contradictions between the options. */
static tw_status check_settings(apsp_run *run, int count, char **words)
{
    const apsp_settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    tw_status status =
        cli_choose_output(run->job, &run->output, count == 2 ? words[1] : NULL, s->output);
    if (status == TW_OK && run->output == NULL) {
        status = cli_refuse(run->job, "out-format", "without OUT");
    }
    run->files = (cli_apsp_files){.input = run->input,
                                  .output = run->output,
                                  .format = s->format,
                                  .predecessors = s->predecessors,
                                  .checkpoint = s->checkpoint,
                                  .sources = s->sources,
                                  .targets = s->targets,
                                  .in_lines = s->in_lines != 0,
                                  .labels = s->labels != 0};
    if (status == TW_OK) {
        status = cli_apsp_check_names(ctx, &run->files);
    }
    if (status != TW_OK) {
        return status;
    }
    cli_take_output(run->job, s->predecessors);
    if (cli_is_stdout(run->output) && cli_is_stdout(s->predecessors)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "OUT and --predecessors cannot both go to standard output");
    }
    if (cli_is_stdout(run->output) && (s->summary || s->answers.histogram > 0)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%s prints to standard output, where OUT goes; name a file for OUT",
                       s->summary ? "--summary" : "--histogram");
    }
    const cli_file out = {"OUT", run->output}, before = {"--predecessors", s->predecessors};
    const bool text = s->in_lines || (s->format != NULL && strcmp(s->format, "csv") == 0);
    status = cli_check_terminal(ctx, &out, text, "use --out-format csv");
    if (status == TW_OK) {
        status = cli_check_terminal(ctx, &before, false, "name a .csv file");
    }
    if (status != TW_OK) {
        return status;
    }
    if (s->block > INT32_MAX) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--block %lld is too large", (long long)s->block);
    }
    if (s->cutoff < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--cutoff %g: expected a distance of 0 or more",
                       s->cutoff);
    }
    status = cli_apsp_check_method(run->job, s->method);
    if (status == TW_OK) {
        status = cli_answers_check(run->job, &s->answers);
    }
    return status == TW_OK ? cli_apsp_check_files(run->job, &run->files, &s->answers) : status;
}

/* A GPU that was named, or, with auto, work that is likely to want one: from a file so large that
 * all pairs of its graph take longer than a driver takes to start. */
static bool may_want_gpu(const apsp_run *run)
{
    const apsp_settings *s = run->settings;
    const char *device = s->reading.common.device;
    struct stat file;
    if (device != NULL && strcmp(device, "auto") != 0) {
        return true;
    }
    return s->sources == NULL &&
           (s->method == TW_APSP_METHOD_AUTO || s->method == TW_APSP_METHOD_CLOSURE) &&
           stat(run->input, &file) == 0 && S_ISREG(file.st_mode) && file.st_size >= LARGE_INPUT;
}

static tw_shape shape_of_output(const apsp_run *run, const tw_apsp_options *opts)
{
    return (tw_shape){
        .rows = opts->sources != NULL ? opts->source_count : run->about.vertices,
        .cols = opts->targets != NULL ? opts->target_count : run->about.vertices,
        .type = opts->type != TW_AUTO ? opts->type : run->about.weight_type,
    };
}

/* The plan counts no sinks; what those of files hold besides fits the limit, or is not taken. */
static void plan_for_sinks(apsp_run *run, const tw_apsp_options *opts)
{
    const tw_shape shape = shape_of_output(run, opts);
    const tw_shape vertices = {shape.rows, shape.cols, TW_I32};
    const uint64_t limit = tw_memory_limit(run->job->ctx);
    const uint64_t held = tw_sink_memory(&run->output_sink.inner, &shape) +
                          tw_sink_memory(&run->predecessor_sink.inner, &vertices);
    const uint64_t left = limit > run->planned.memory ? limit - run->planned.memory : 0;
    run->planned.memory += held < left ? held : left;
}

/* A large file finds its space while the computation begins. */
static void expect_output(apsp_run *run, const tw_apsp_options *opts)
{
    const tw_shape shape = shape_of_output(run, opts);
    tw_sink_expect(run->job->ctx, &run->output_sink.inner, &shape);
}

/* Whether the run will want no row itself. */
static bool is_summary_only(const apsp_run *run)
{
    const apsp_settings *s = run->settings;
    return run->output == NULL && s->predecessors == NULL && s->verify < 0 &&
           cli_answers_are_folds(&s->answers);
}

/* Printed where nothing else is kept, where it is asked for, and where it has a histogram. */
static bool shows_summary(const apsp_run *run)
{
    const apsp_settings *s = run->settings;
    return s->summary || s->answers.histogram > 0 || run->output == NULL;
}

/* What the sinks of answers to so many rows will hold. */
static uint64_t answers_memory(const apsp_run *run, int64_t rows, int64_t cols)
{
    return cli_answers_memory(run->job->ctx, &run->settings->answers, shows_summary(run), rows,
                              cols);
}

/* On a GPU that was named nothing is measured, so the file may find its space meanwhile; else that
 * would disturb the measurements. */
static tw_status plan_and_expect(apsp_run *run, const tw_apsp_options *opts)
{
    const char *device = run->settings->reading.common.device;
    bool measured = device == NULL || strcmp(device, "auto") == 0 || strcmp(device, "cpu") == 0;
    if (run->output != NULL && !measured) {
        expect_output(run, opts);
    }
    tw_apsp_options asked = *opts;
    asked.summary_only = is_summary_only(run);
    const tw_shape shape = shape_of_output(run, opts);
    asked.beside = answers_memory(run, shape.rows, shape.cols);
    tw_status status = tw_apsp_plan_create(run->job->ctx, &run->plan, run->graph, &asked);
    status =
        cli_answers_advise(run->job->ctx, &run->settings->answers, shape.rows, shape.cols, status);
    if (status == TW_OK) {
        status = tw_apsp_plan_describe(run->plan, &run->planned);
        plan_for_sinks(run, opts);
    }
    if (status == TW_OK && run->output != NULL && measured) {
        expect_output(run, opts);
    }
    return status;
}

/* Where vertices have names, a .csv has them above its columns and before its rows. */
static tw_status name_file_sinks(apsp_run *run, const tw_apsp_options *opts)
{
    const apsp_settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    tw_sink *out = &run->output_sink.inner, *before = &run->predecessor_sink.inner;
    tw_status status = TW_OK;
    if (!s->in_lines && cli_apsp_has_names(&run->about, run->output, s->format)) {
        tw_sink_destroy(out);
        status =
            tw_sink_to_table(ctx, out, run->output, run->graph, opts->sources, opts->targets, 0);
    }
    if (status == TW_OK && cli_apsp_has_names(&run->about, s->predecessors, NULL)) {
        tw_sink_destroy(before);
        status = tw_sink_to_table(ctx, before, s->predecessors, run->graph, opts->sources,
                                  opts->targets, 1);
    }
    return status;
}

/* What is asked for, but for the vertices, which are those of a graph. */
static void take_options(const apsp_run *run, tw_apsp_options *opts)
{
    const apsp_settings *s = run->settings;
    opts->method = s->method;
    opts->type = s->type;
    opts->work_type = s->work_type;
    opts->block = (int32_t)s->block;
    opts->cutoff = isnan(s->cutoff) ? -1 : s->cutoff;
    opts->order_cache = !s->no_cache;
    opts->predecessors = s->predecessors != NULL;
    opts->checkpoint = s->checkpoint;
    opts->checkpoint_every = s->every;
}

/* What a run will take beside a graph that could not be read for want of memory. */
static uint64_t use_of_graph(void *user, int64_t vertices, int64_t arcs, tw_type weights)
{
    static const int32_t some = 0; /* lists are counted, not read */
    const apsp_run *run = user;
    const apsp_settings *s = run->settings;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    uint64_t bytes = 0;
    take_options(run, &opts);
    opts.summary_only = is_summary_only(run);
    opts.sources = s->sources != NULL ? &some : NULL;
    opts.source_count = s->sources != NULL ? cli_vertices_guess(s->sources, vertices) : 0;
    opts.targets = s->targets != NULL ? &some : NULL;
    opts.target_count = s->targets != NULL ? cli_vertices_guess(s->targets, vertices) : 0;
    opts.beside = answers_memory(run, s->sources != NULL ? opts.source_count : vertices,
                                 s->targets != NULL ? opts.target_count : vertices);
    if (tw_apsp_least_memory(run->job->ctx, &bytes, vertices, arcs, weights, &opts) != TW_OK) {
        return 0;
    }
    return bytes;
}

static tw_status make_plan(apsp_run *run, tw_apsp_options *opts)
{
    const apsp_settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    if (may_want_gpu(run)) {
        tw_device_start(ctx); /* goes on while the graph is read */
    }
    double started = cli_seconds();
    tw_status status = tw_set_graph_use(ctx, use_of_graph, run);
    if (status == TW_OK) {
        status = cli_read_graph(run->job, &run->graph, run->input, &s->reading);
    }
    if (status == TW_OK) {
        status = tw_graph_describe(run->graph, &run->about);
    }
    if (status == TW_OK) {
        status = cli_vertices_parse(ctx, &run->sources, run->graph, "--sources", s->sources);
    }
    if (status == TW_OK) {
        status = cli_vertices_parse(ctx, &run->targets, run->graph, "--targets", s->targets);
    }
    if (status != TW_OK) {
        return status;
    }
    run->seconds_read = cli_seconds() - started;
    take_options(run, opts);
    opts->sources = run->sources.list;
    opts->source_count = run->sources.count;
    opts->targets = run->targets.list;
    opts->target_count = run->targets.count;
    const tw_shape shape = shape_of_output(run, opts);
    status = cli_apsp_check_room(ctx, &run->files, &run->about, &shape);
    if (status == TW_OK) {
        status = name_file_sinks(run, opts);
    }
    if (status != TW_OK) {
        return status;
    }
    started = cli_seconds();
    status = plan_and_expect(run, opts);
    run->seconds_plan = cli_seconds() - started;
    run->memory_before = tw_memory_peak(ctx);
    return status;
}

/* A file sink, behind the gate of the verifier if there is one. */
static tw_sink gate(const apsp_run *run, cli_gated *gated)
{
    tw_sink out = gated->inner;
    if (run->verifier != NULL) {
        gated->verifier = run->verifier;
        cli_gated_sink(gated, &out);
    }
    return out;
}

static tw_status execute(apsp_run *run, const tw_apsp_options *opts)
{
    const apsp_settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    tw_sink predecessors = TW_SINK_INIT;
    tw_sink sinks[] = {TW_SINK_INIT, TW_SINK_INIT, TW_SINK_INIT, TW_SINK_INIT, TW_SINK_INIT};
    int32_t used = 0;
    tw_status status = TW_OK;
    if (s->verify >= 0) {
        status =
            tw_apsp_verifier_create(ctx, &run->verifier, run->graph, opts, s->verify, VERIFY_SEED);
        if (status == TW_OK) {
            status = tw_apsp_verifier_sink(run->verifier, &run->verifier_sink.inner);
            cli_timed_sink(&run->verifier_sink, &sinks[used++]);
        }
    }
    if (status == TW_OK) {
        status = cli_answers_begin(ctx, &run->answering, opts->sources, opts->targets,
                                   shows_summary(run), sinks, &used);
    }
    if (status == TW_OK && s->in_lines) {
        status = tw_sink_to_pairs(ctx, &run->output_sink.inner, run->output, run->graph,
                                  opts->sources, opts->targets);
    }
    if (status == TW_OK && run->output != NULL) {
        sinks[used++] = gate(run, &run->output_sink);
    }
    if (status == TW_OK && s->predecessors != NULL) {
        predecessors = gate(run, &run->predecessor_sink);
        cli_apsp_count_predecessors(run->job, &run->files, &run->about, &run->predecessor_counted,
                                    &predecessors);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_run(ctx, run->plan, sinks, used,
                                  s->predecessors != NULL ? &predecessors : NULL, &run->report);
    }
    if (status == TW_OK && run->verifier != NULL) {
        status = tw_apsp_verifier_result(ctx, run->verifier, &run->verified_rows);
    }
    if (status == TW_OK && s->labels) {
        status = cli_apsp_write_labels(ctx, &run->files, run->graph, opts);
    }
    return status == TW_OK ? cli_answers_write(ctx, &run->answering, run->graph) : status;
}

/* The rate only means something beside what the machine could do. */
static tw_status measure_ceiling(apsp_run *run)
{
    const double worth_comparing = 0.05; /* seconds */
    bool closure = run->report.method == TW_APSP_METHOD_CLOSURE;
    bool asked = run->settings->reading.common.json ||
                 (!run->job->quiet && run->report.seconds_compute >= worth_comparing);
    if (!closure || !asked) {
        return TW_OK;
    }
    tw_status status = tw_set_device(run->job->ctx, run->report.device);
    if (status != TW_OK) {
        return status;
    }
    return tw_minplus_ceiling(run->job->ctx, &run->ceiling, run->report.work_type,
                              run->report.threads);
}

static tw_status solve(apsp_run *run, const tw_apsp_options *opts)
{
    const apsp_settings *s = run->settings;
    apsp_announce(run);
    tw_status status = execute(run, opts);
    run->seconds_total = cli_seconds() - run->job->started;
    if (status != TW_OK && status != TW_ERR_VERIFY) {
        return status;
    }
    if (status == TW_OK) {
        status = measure_ceiling(run);
    }
    if (s->reading.common.json && (status == TW_OK || status == TW_ERR_VERIFY)) {
        apsp_report_run(run, status);
    }
    if (status == TW_OK) {
        if (shows_summary(run) && !s->reading.common.json) {
            cli_naming naming = {run->graph, run->sources.list, run->targets.list};
            cli_statistics_print(run->answering.summary, &run->answering.about, &naming);
            fflush(stdout); /* before the last line of news, where both go to one place */
        }
        apsp_conclude(run);
    }
    return status;
}

static void clear_run(apsp_run *run)
{
    tw_sink_destroy(&run->output_sink.inner);
    tw_sink_destroy(&run->predecessor_sink.inner);
    cli_counted_clear(&run->predecessor_counted);
    tw_sink_destroy(&run->verifier_sink.inner);
    tw_apsp_verifier_destroy(run->verifier);
    cli_answers_clear(&run->answering);
    tw_apsp_plan_destroy(run->plan);
    cli_vertices_clear(&run->targets);
    cli_vertices_clear(&run->sources);
    tw_graph_destroy(run->graph);
}

static tw_status run_apsp(cli_job *job, const void *given, int count, char **words)
{
    const apsp_settings *s = given;
    apsp_run run = {.job = job,
                    .settings = s,
                    .input = words[0],
                    .about = TW_GRAPH_INFO_INIT,
                    .answering = {.asked = &s->answers, .about = TW_APSP_SUMMARY_INFO_INIT},
                    .planned = TW_APSP_PLAN_INFO_INIT,
                    .output_sink.inner = TW_SINK_INIT,
                    .predecessor_sink.inner = TW_SINK_INIT,
                    .verifier_sink.inner = TW_SINK_INIT,
                    .report = TW_APSP_REPORT_INIT};
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_status status = cli_begin(job, &s->reading.common);
    if (status == TW_OK) {
        status = check_settings(&run, count, words);
    }
    if (status == TW_OK) {
        status = make_file_sinks(&run);
    }
    if (status == TW_OK) {
        status = make_plan(&run, &opts);
    }
    if (status == TW_OK) {
        bool asked = run.output != NULL || s->summary || s->predecessors != NULL ||
                     s->verify >= 0 || cli_answers_any(&s->answers);
        if (s->explain && !asked && s->reading.common.json) {
            apsp_report_plan(&run);
        } else if (s->explain && !asked) {
            cli_print("%s", tw_apsp_plan_explain(run.plan));
        } else {
            status = solve(&run, &opts);
        }
    }
    if (status == TW_ERR_NEGATIVE_CYCLE && s->reading.common.json) {
        apsp_report_cycle(&run);
    }
    clear_run(&run);
    return status;
}

const cli_command cli_apsp = {
    .name = "apsp",
    .usage = "GRAPH [OUT]",
    .summary = "compute shortest paths between all pairs of vertices of a graph",
    .text = "Computes the distance from every vertex to every other: entry (i, j) of the result is "
            "the minimum sum of weights over all walks from i to j. Weights may be zero or "
            "negative; a negative cycle on a walk from a source to a target is reported, and the "
            "exit status is then 1. Whole-number results are exact.\nThe fastest method for the "
            "graph is chosen, and the memory it needs is stated before it starts. Without OUT the "
            "matrix is not kept; a summary of it is printed.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 1,
    .most = 2,
    .settings_size = sizeof(apsp_settings),
    .defaults = &defaults,
    .run = run_apsp,
};
