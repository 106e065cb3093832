/*
 * The program tilewright-mpi: shortest paths on the ranks that mpirun starts. Every rank parses
 * the same words; what rank 0 says is said once. A rank whose words are wrong, or others than those
 * of rank 0, tells the others before any of them begins, so that all end with the same exit code.
 */
#include "tilewright-mpi.h"

#include "cli/graph/answers.h"
#include "cli/graph/statistics.h"
#include "cli/graph/vertices.h"
#include "frame/about.h"
#include "frame/help.h"
#include "frame/program.h"
#include "frame/progress.h"
#include "frame/report.h"
#include "frame/signals.h"
#include "mpi/command/forecast.h"
#include "mpi/command/output.h"
#include "mpi/command/settings.h"
#include "mpi/command/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERIFY_SEED 1

static const cli_example examples[] = {
    {"mpirun -n 4 tilewright-mpi apsp big.bin distances.npy --verify",
     "four processes, and a check of 16 rows"},
    {"mpirun -n 64 tilewright-mpi apsp roads.gr --closeness c.csv --histogram",
     "centrality and a histogram, without a matrix"},
    {"mpirun -n 2 tilewright-mpi apsp big.bin distances.npy --device cuda",
     "a GPU for each process"},
    {"mpirun -n 4 tilewright-mpi apsp big.bin --explain", "the time and memory it would take"},
    {"tilewright-mpi --explain --vertices 250000 --ranks 64,256 --memory 8G",
     "the same for a cluster that you only describe"},
    {NULL, NULL}};

/* What each rank has seen. */
typedef struct of_rank {
    double wait;
    double helped; /* exact */
} of_rank;

typedef struct mpi_run {
    cli_job *job;
    const mpi_settings *settings;
    const char *input, *output;
    tw_mpi_graph *graph;
    tw_graph_info about;
    cli_vertices sources, targets;
    tw_mpi_apsp_report report;
    cli_answering answering;
    cli_apsp_files files;
    mpi_text text;
    mpi_begun begun;
    int rank;
    tw_mpi_forecast forecast;
    bool only_explained;
    of_rank *of_ranks; /* on rank 0 */
} mpi_run;

/* A number of a cluster that is described. */
static tw_status check_number(const mpi_run *run, const char *name, double value, double least,
                              double most)
{
    return !cli_given(run->job->parsed, name) || (value >= least && value <= most)
               ? TW_OK
               : tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--%s %g: expected %.10g to %.10g", name,
                         value, least, most);
}

/* Of a cluster that is only described a closure is predicted, and nothing else is done. */
static tw_status check_prediction(const mpi_run *run, int count)
{
    static const char *const taken[] = {"explain",     "ranks",   "vertices",  "rate", "link",
                                        "latency",     "block",   "work-type", "type", "method",
                                        "undirected",  "memory",  "isa",       "json", "quiet",
                                        "no-progress", "directed"};
    const mpi_settings *s = run->settings;
    const cli_parsed *parsed = run->job->parsed;
    tw_status status = TW_OK;
    if (s->method != TW_APSP_METHOD_AUTO && s->method != TW_APSP_METHOD_CLOSURE) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                       "--ranks predicts a closure, not %s; use --method closure",
                       tw_apsp_method_name(s->method));
    }
    if (count > 1) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "OUT has no effect with --ranks");
    }
    for (int i = 0; i < parsed->given_count && status == TW_OK; i++) {
        const cli_option *option = parsed->given[i];
        bool takes = false;
        for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
            takes = takes || strcmp(taken[k], option->name) == 0;
        }
        for (const cli_option *of = cli_reading_options; count > 0 && of->name != NULL; of++) {
            takes = takes || of == option;
        }
        status = takes ? TW_OK : cli_refuse(run->job, option->name, "with --ranks");
    }
    if (status == TW_OK) {
        status = check_number(run, "vertices", (double)s->vertices, 1, INT32_MAX);
    }
    if (status == TW_OK) {
        status = check_number(run, "rate", s->rate, 1e-6, 1e9);
    }
    if (status == TW_OK) {
        status = check_number(run, "link", s->link, 1e-6, 1e9);
    }
    return status == TW_OK ? check_number(run, "latency", s->latency, 0, 1e9) : status;
}

/* Options of a cluster without one, and the reverse. */
static tw_status check_cluster(const mpi_run *run, int count)
{
    static const char *const described[] = {"vertices", "rate", "link", "latency"};
    const mpi_settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    tw_status status = TW_OK;
    if (s->ranks != NULL && !s->explain) {
        return cli_refuse(run->job, "ranks", "without --explain");
    }
    for (size_t i = 0; i < sizeof described / sizeof *described && s->ranks == NULL; i++) {
        status = status == TW_OK ? cli_refuse(run->job, described[i], "without --ranks") : status;
    }
    if (status == TW_OK && s->ranks != NULL) {
        status = check_prediction(run, count);
    }
    if (status != TW_OK) {
        return status;
    }
    if (s->vertices > 0 && count > 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "GRAPH and --vertices are both given; use one");
    }
    if (s->vertices == 0 && count == 0) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "missing operand; give a GRAPH, or describe one with --vertices: see '%s apsp --help'",
            cli_program.name);
    }
    return TW_OK;
}

/* What processes compute on; NULL: their threads. */
static const char *gpu_of(const mpi_run *run)
{
    const char *device = run->settings->reading.common.device;
    const bool other = device != NULL && strcmp(device, "cpu") != 0 && strcmp(device, "auto") != 0;
    return other ? device : NULL;
}

/* Where OUT goes, and contradictions between the options. */
static tw_status check_settings(mpi_run *run, int count, char **words)
{
    const mpi_settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    run->output = count == 2 ? words[1] : s->output;
    if (count == 2 && s->output != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "OUT is given twice: '%.200s' and --output '%.200s'",
                       words[1], s->output);
    }
    if (s->block > INT32_MAX) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--block %lld is too large", (long long)s->block);
    }
    if (s->cutoff < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--cutoff %g: expected a distance of 0 or more",
                       s->cutoff);
    }
    tw_status status = cli_apsp_check_method(run->job, s->method);
    if (status == TW_OK && gpu_of(run) == NULL) {
        status = cli_refuse(run->job, "device-memory", "unless --device names a GPU");
    }
    if (status == TW_OK) {
        status = cli_answers_check(run->job, &s->answers);
    }
    if (status == TW_OK && count > 0) {
        status = cli_reading_check(run->job, run->input, &s->reading);
    }
    if (status == TW_OK) {
        status =
            mpi_files_check(run->job, &run->files, s, count > 0 ? run->input : NULL, run->output);
    }
    return status;
}

/* The files beside the matrix and the answers, which one process writes. */
static tw_status write_files(mpi_run *run, const tw_apsp_options *opts)
{
    const tw_graph *graph = tw_mpi_graph_part(run->graph);
    tw_context *ctx = run->job->ctx;
    tw_status status = cli_answers_write(ctx, &run->answering, graph);
    return status == TW_OK && run->files.labels
               ? cli_apsp_write_labels(ctx, &run->files, graph, opts)
               : status;
}

/* Whether the summary is printed; it may be there for its files alone. */
static bool shows_summary(const mpi_run *run)
{
    const mpi_settings *s = run->settings;
    return s->summary || s->answers.histogram > 0 || run->output == NULL;
}

static tw_status read_graph(mpi_run *run)
{
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    double mark = 0;
    tw_context *ctx = run->job->ctx;
    const double started = cli_seconds();
    tw_status status = cli_read_options(ctx, &opts, &mark, &run->settings->reading);
    status = tw_mpi_agree(ctx, MPI_COMM_WORLD, status);
    if (status == TW_OK) {
        status = tw_mpi_graph_read(ctx, &run->graph, MPI_COMM_WORLD, run->input, &opts);
    }
    if (status == TW_OK) {
        status = tw_mpi_graph_describe(run->graph, &run->about);
    }
    if (status == TW_OK) {
        cli_say_header(run->job, run->input, &run->about);
    }
    run->begun.read = cli_seconds() - started;
    return status;
}

static tw_status parse_lists(mpi_run *run)
{
    const mpi_settings *s = run->settings;
    tw_context *ctx = run->job->ctx;
    const tw_graph *part = tw_mpi_graph_part(run->graph);
    tw_status status = cli_vertices_parse(ctx, &run->sources, part, "--sources", s->sources);
    if (status == TW_OK) {
        status = cli_vertices_parse(ctx, &run->targets, part, "--targets", s->targets);
    }
    return tw_mpi_agree(ctx, MPI_COMM_WORLD, status);
}

/* A file that has no room would be found out by the rank that writes it, after the work. */
static tw_status check_room(const mpi_run *run, int64_t rows, int64_t cols)
{
    const tw_type asked = run->settings->type;
    const tw_shape shape = {rows, cols, asked != TW_AUTO ? asked : run->about.weight_type};
    tw_context *ctx = run->job->ctx;
    const tw_status status =
        run->rank == 0 ? cli_apsp_check_room(ctx, &run->files, &run->about, &shape) : TW_OK;
    return tw_mpi_agree(ctx, MPI_COMM_WORLD, status);
}

static tw_status solve(mpi_run *run)
{
    const mpi_settings *s = run->settings;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_mpi_apsp_output out = TW_MPI_APSP_OUTPUT_INIT;
    opts.method = s->method;
    opts.type = s->type;
    opts.work_type = s->work_type;
    opts.block = (int32_t)s->block;
    opts.sources = run->sources.list;
    opts.source_count = run->sources.count;
    opts.targets = run->targets.list;
    opts.target_count = run->targets.count;
    opts.cutoff = isnan(s->cutoff) ? -1 : s->cutoff;
    opts.order_cache = !s->no_cache;
    opts.checkpoint = s->checkpoint;
    opts.checkpoint_every = s->every;
    const int64_t rows = opts.sources != NULL ? opts.source_count : run->about.vertices;
    const int64_t cols = opts.targets != NULL ? opts.target_count : run->about.vertices;
    opts.beside = cli_answers_memory(run->job->ctx, &s->answers, shows_summary(run), rows,
                                     cols); /* each rank has them all */
    out.path = run->output;
    out.format = s->in_lines ? "csv" : s->format;
    out.predecessors = s->predecessors;
    out.verify = s->verify;
    out.seed = VERIFY_SEED;
    tw_context *ctx = run->job->ctx;
    tw_status status = check_room(run, rows, cols);
    if (status != TW_OK) {
        return status;
    }
    if (s->explain) {
        tw_mpi_apsp_output goal = out;
        tw_status planned = tw_mpi_apsp_explain(ctx, run->graph, &opts, &goal, &run->forecast);
        if (planned == TW_OK && run->rank == 0 &&
            !(run->only_explained && s->reading.common.json)) {
            mpi_forecast_say(run->job, &run->forecast, &run->about, &run->begun,
                             run->only_explained);
        }
        if (planned != TW_OK || run->only_explained) {
            return planned;
        }
    }
    tw_sink unused[3] = {TW_SINK_INIT, TW_SINK_INIT, TW_SINK_INIT};
    int32_t used = 0;
    status = cli_answers_begin(ctx, &run->answering, opts.sources, opts.targets, shows_summary(run),
                               unused, &used);
    out.summary = run->answering.summary;
    out.nearest = run->answering.nearest;
    out.farthest = run->answering.farthest;
    if (status == TW_OK && run->rank == 0) {
        status = mpi_text_open(run->job, &run->text, &run->files, tw_mpi_graph_part(run->graph),
                               &opts, &out);
    }
    status = tw_mpi_agree(ctx, MPI_COMM_WORLD, status);
    if (status == TW_OK) {
        status = tw_mpi_apsp(ctx, run->graph, &opts, &out, &run->report);
    }
    if (status == TW_OK && (used > 0 || s->labels)) {
        status = run->rank == 0 ? write_files(run, &opts) : TW_OK;
        status = tw_mpi_agree(ctx, MPI_COMM_WORLD, status);
    }
    return status;
}

/* A closure on a cluster that is only described; rank 0 alone has to say something. */
static tw_status predict(const mpi_run *run)
{
    const mpi_settings *s = run->settings;
    tw_mpi_cluster cluster = TW_MPI_CLUSTER_INIT;
    tw_context *ctx = run->job->ctx;
    cluster.vertices = s->vertices > 0 ? s->vertices : run->about.vertices;
    cluster.block = (int32_t)s->block;
    cluster.work_type = s->work_type;
    cluster.type = s->type;
    cluster.undirected = run->about.undirected || s->reading.directed == TW_GRAPH_DIRECTED_NO;
    cluster.rate = s->rate * 1e9;
    cluster.bandwidth = s->link * 1e9;
    cluster.latency = s->latency * 1e-6;
    cluster.memory = s->reading.common.memory;
    tw_status status = run->rank == 0
                           ? mpi_forecast_table(ctx, s->ranks, &cluster, s->reading.common.json)
                           : TW_OK;
    return tw_mpi_agree(ctx, MPI_COMM_WORLD, status);
}

static double rate_of(const tw_mpi_apsp_report *report)
{
    return report->seconds_compute > 0 ? report->relaxations / report->seconds_compute : 0;
}

/* Of a search or a sweep, whose arcs and steps serve many pairs at once. */
static double pairs_per_second(const mpi_run *run)
{
    const double n = (double)run->about.vertices;
    const double rows = run->sources.list != NULL ? (double)run->sources.count : n;
    const double cols = run->targets.list != NULL ? (double)run->targets.count : n;
    const double seconds = run->report.seconds_compute;
    return seconds > 0 ? rows * cols / seconds : 0;
}

static void conclude(const mpi_run *run, double total)
{
    const tw_mpi_apsp_report *r = &run->report;
    const bool closed = r->method == TW_APSP_METHOD_CLOSURE;
    char on[CLI_SHOWN];
    char all[CLI_SHOWN], read[CLI_SHOWN], compute[CLI_SHOWN], wait[CLI_SHOWN], output[CLI_SHOWN];
    char rate[CLI_SHOWN], memory[CLI_SHOWN];
    if (run->settings->verify >= 0) {
        cli_say(run->job,
                r->verified_rows == 1 ? "verified: %lld row agrees with an independent search (%s)"
                                      : "verified: %lld rows agree with an independent search (%s)",
                (long long)r->verified_rows, cli_show_seconds(all, r->seconds_verify));
    }
    cli_show_bytes(memory, (double)r->memory_peak);
    if (!closed) {
        cli_say(run->job,
                "%d rank%s on %d machine%s, %d thread%s each, %s in %s, %s of memory in each",
                (int)r->ranks, r->ranks == 1 ? "" : "s", (int)r->machines,
                r->machines == 1 ? "" : "s", (int)r->threads, r->threads == 1 ? "" : "s",
                tw_apsp_method_name(r->method), tw_type_name(r->work_type), memory);
    } else {
        if (gpu_of(run) != NULL) {
            snprintf(on, sizeof on, "on %.20s", gpu_of(run));
        } else {
            snprintf(on, sizeof on, "%d thread%s each", (int)r->threads,
                     r->threads == 1 ? "" : "s");
        }
        cli_say(run->job, "%d rank%s as %d x %d, %s, tiles of %d, %s in %s%s, %s of memory in each",
                (int)r->ranks, r->ranks == 1 ? "" : "s", (int)r->grid_rows, (int)r->grid_cols, on,
                (int)r->block, r->symmetric ? "half of the matrix" : "closure",
                tw_type_name(r->work_type), r->tiles_skipped > 0 ? ", empty tiles skipped" : "",
                memory);
    }
    cli_say(run->job, "done in %s (read %s, compute %s of which %s waiting, output %s): %s %s/s",
            cli_show_seconds(all, total), cli_show_seconds(read, run->begun.read),
            cli_show_seconds(compute, r->seconds_compute), cli_show_seconds(wait, r->seconds_wait),
            cli_show_seconds(output, r->seconds_output),
            cli_show_scaled(rate, closed ? rate_of(r) : pairs_per_second(run)),
            closed ? "relaxations" : "pairs");
}

/* Bring what all ranks have seen to rank 0. */
static tw_status gather(mpi_run *run)
{
    const of_rank mine = {run->report.seconds_wait, (double)run->report.helped};
    tw_status status = TW_OK;
    if (run->rank == 0) {
        run->of_ranks = calloc((size_t)run->report.ranks, sizeof *run->of_ranks);
        status = run->of_ranks != NULL
                     ? TW_OK
                     : tw_fail(run->job->ctx, TW_ERR_MEMORY, "not enough memory for the report");
    }
    status = tw_mpi_agree(run->job->ctx, MPI_COMM_WORLD, status);
    if (status == TW_OK && MPI_Gather(&mine, 2, MPI_DOUBLE, run->of_ranks, 2, MPI_DOUBLE, 0,
                                      MPI_COMM_WORLD) != MPI_SUCCESS) {
        status = tw_fail(run->job->ctx, TW_ERR_IO, "MPI cannot gather what the ranks report");
    }
    return status;
}

/* Seconds that each rank has waited, and tasks of others that it did. */
static void report_ranks(cli_report *json, const mpi_run *run)
{
    cli_report_array(json, "wait_of_ranks");
    for (int i = 0; i < run->report.ranks; i++) {
        cli_report_number(json, NULL, run->of_ranks[i].wait);
    }
    cli_report_end_array(json);
    cli_report_array(json, "helped_of_ranks");
    for (int i = 0; i < run->report.ranks; i++) {
        cli_report_integer(json, NULL, (int64_t)run->of_ranks[i].helped);
    }
    cli_report_end_array(json);
}

static void report(const mpi_run *run, double total)
{
    const tw_mpi_apsp_report *r = &run->report;
    cli_report json;
    cli_report_begin(&json, stdout);
    cli_report_text(&json, "command", "apsp");
    cli_report_text(&json, "version", tw_version());
    cli_report_text(&json, "input", run->input);
    cli_report_integer(&json, "vertices", run->about.vertices);
    cli_report_integer(&json, "arcs", run->about.arcs);
    cli_report_text(&json, "method", tw_apsp_method_name(r->method));
    cli_report_integer(&json, "ranks", r->ranks);
    cli_report_integer(&json, "grid_rows", r->grid_rows);
    cli_report_integer(&json, "grid_cols", r->grid_cols);
    cli_report_integer(&json, "threads", r->threads);
    cli_report_text(&json, "device", gpu_of(run) != NULL ? gpu_of(run) : "cpu");
    cli_report_integer(&json, "block", r->block);
    cli_report_text(&json, "working_type", tw_type_name(r->work_type));
    cli_report_text(&json, "type", tw_type_name(r->type));
    cli_report_integer(&json, "attempts", r->attempts);
    cli_report_bool(&json, "symmetric", r->symmetric != 0);
    cli_report_integer(&json, "tiles_skipped", r->tiles_skipped);
    cli_report_object(&json, "seconds");
    cli_report_number(&json, "start", run->begun.start);
    cli_report_number(&json, "read", run->begun.read);
    cli_report_number(&json, "plan", r->seconds_plan);
    cli_report_number(&json, "compute", r->seconds_compute);
    cli_report_number(&json, "wait", r->seconds_wait);
    cli_report_number(&json, "device", r->seconds_device);
    cli_report_number(&json, "output", r->seconds_output);
    cli_report_number(&json, "verify", r->seconds_verify);
    cli_report_number(&json, "total", total);
    cli_report_end_object(&json);
    cli_report_number(&json, "relaxations", r->relaxations);
    cli_report_number(&json, "rate", rate_of(r));
    cli_report_integer(&json, "memory_peak", (int64_t)r->memory_peak);
    cli_report_integer(&json, "bytes_broadcast", (int64_t)r->bytes_broadcast);
    report_ranks(&json, run);
    cli_report_integer(&json, "verified_rows", r->verified_rows);
    cli_report_text(&json, "output", run->output);
    if (run->settings->explain) {
        mpi_forecast_report(&json, "forecast", &run->forecast, &run->begun);
    }
    if (run->answering.summary != NULL) {
        const cli_naming naming = {tw_mpi_graph_part(run->graph), run->sources.list,
                                   run->targets.list};
        cli_statistics_report(&json, run->answering.summary, &run->answering.about, &naming);
    }
    cli_report_end(&json);
}

static void report_forecast(const mpi_run *run)
{
    cli_report json;
    cli_report_begin(&json, stdout);
    cli_report_text(&json, "command", "apsp");
    cli_report_text(&json, "version", tw_version());
    cli_report_text(&json, "input", run->input);
    cli_report_integer(&json, "vertices", run->about.vertices);
    cli_report_integer(&json, "arcs", run->about.arcs);
    mpi_forecast_report(&json, "forecast", &run->forecast, &run->begun);
    cli_report_end(&json);
}

static tw_status run_apsp(cli_job *job, const void *settings, int count, char **words)
{
    mpi_settings s = *(const mpi_settings *)settings;
    mpi_run run = {.job = job, .settings = &s, .input = count > 0 ? words[0] : ""};
    run.about = (tw_graph_info)TW_GRAPH_INFO_INIT;
    run.report = (tw_mpi_apsp_report)TW_MPI_APSP_REPORT_INIT;
    run.begun.start = cli_seconds() - job->started;
    run.forecast = (tw_mpi_forecast)TW_MPI_FORECAST_INIT;
    run.answering.asked = &s.answers;
    run.answering.about = (tw_apsp_summary_info)TW_APSP_SUMMARY_INFO_INIT;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    s.reading.common.quiet = s.reading.common.quiet || run.rank != 0;
    tw_status status = check_cluster(&run, count);
    if (status == TW_OK) {
        status = check_settings(&run, count, words);
    }
    if (status == TW_OK) {
        status = cli_begin(job, &s.reading.common);
    }
    run.only_explained = s.explain && run.output == NULL && !s.summary && s.verify < 0 &&
                         s.predecessors == NULL && !cli_answers_any(&s.answers);
    status = tw_mpi_agree(job->ctx, MPI_COMM_WORLD, status);
    if (status == TW_OK && count > 0) {
        status = read_graph(&run);
    }
    if (status == TW_OK && s.ranks != NULL) {
        status = predict(&run);
        tw_mpi_graph_destroy(run.graph);
        return status;
    }
    if (status == TW_OK) {
        status = parse_lists(&run);
    }
    if (status == TW_OK) {
        status = solve(&run);
    }
    if (status == TW_OK && s.reading.common.json && !run.only_explained) {
        status = gather(&run);
    }
    const double total = cli_seconds() - job->started;
    if (status == TW_OK && run.only_explained) {
        if (s.reading.common.json && run.rank == 0) {
            report_forecast(&run);
        }
    } else if (status == TW_OK) {
        if (shows_summary(&run) && !s.reading.common.json && run.rank == 0) {
            const cli_naming naming = {tw_mpi_graph_part(run.graph), run.sources.list,
                                       run.targets.list};
            cli_statistics_print(run.answering.summary, &run.answering.about, &naming);
            fflush(stdout); /* before the last line of news, where both go to one place */
        }
        conclude(&run, total);
        if (s.reading.common.json && run.rank == 0) {
            report(&run, total);
        }
    }
    free(run.of_ranks);
    mpi_text_clear(&run.text);
    cli_answers_clear(&run.answering);
    cli_vertices_clear(&run.targets);
    cli_vertices_clear(&run.sources);
    tw_mpi_graph_destroy(run.graph);
    return status;
}

static const cli_command apsp = {
    .name = "apsp",
    .usage = "GRAPH [OUT]",
    .summary = "compute shortest paths between all pairs of vertices, over MPI",
    .text =
        "Computes the distance from every vertex to every other on many processes, which mpirun "
        "starts. In a closure each process holds a share of the matrix; in a search or a sweep "
        "they take rows in turn, and none holds more than a few rows. The result is the same, byte "
        "for byte, as that of tilewright apsp with the same method, whatever the number of "
        "processes. Without OUT a summary is printed, and the matrix is not kept.",
    .examples = examples,
    .operands = mpi_operands,
    .groups = mpi_groups,
    .least = 0,
    .most = 2,
    .settings_size = sizeof(mpi_settings),
    .defaults = &mpi_defaults,
    .run = run_apsp,
};

static const cli_command *const commands[] = {&apsp, NULL};

static const cli_topic topics[] = {
    {"Exit status",
     "0: success. 1: finished, but a verification failed or there is a negative cycle. 2: wrong "
     "usage, bad input, interrupted, "
     "or any other error; one line on standard error, from one process, says what is wrong. All "
     "processes exit with the same status."},
    {NULL, NULL}};

const cli_about cli_program = {
    .name = "tilewright-mpi",
    .one_line = "shortest paths between all pairs of vertices, over MPI",
    .first_steps = examples,
    .topics = topics,
    .commands = commands,
    .refusals = "verification failed or negative cycle",
};

/* What the program does without a command, on rank 0. */
static tw_status about(tw_context *ctx, int count, char **words)
{
    const char *word = count > 0 ? words[0] : "--help";
    if (strcmp(word, "help") == 0) {
        if (count > 1 && strcmp(words[1], apsp.name) == 0) {
            cli_help_command(stdout, &apsp);
            return TW_OK;
        }
        word = count > 1 ? words[1] : "--help";
    }
    bool known = false;
    tw_status status = cli_print_about(ctx, word, &known);
    return known ? status
                 : tw_fail(ctx, TW_ERR_ARGUMENT, "unknown command '%.60s'; run '%s apsp --help'",
                           word, cli_program.name);
}

static tw_status run_command(cli_job *job, int argc, char **argv, int rank)
{
    cli_parsed parsed = {.count = 0};
    mpi_settings settings;
    job->command = &apsp;
    tw_status status = cli_parse(job->ctx, &apsp, argc, argv, &settings, &parsed);
    status = tw_mpi_agree(job->ctx, MPI_COMM_WORLD, status);
    if (status != TW_OK) {
        return status;
    }
    status = mpi_words_compare(job->ctx, &apsp, &parsed, &settings);
    if (status != TW_OK) {
        return status;
    }
    if (parsed.help) {
        if (rank == 0) {
            cli_help_command(stdout, &apsp);
        }
        return TW_OK;
    }
    job->parsed = &parsed;
    status = apsp.run(job, &settings, parsed.count, parsed.operands);
    job->parsed = NULL;
    return status;
}

static tw_status dispatch(cli_job *job, int argc, char **argv, int rank)
{
    /* "--explain ..." is "apsp --explain ..." */
    const char *word = argc > 1 ? argv[1] : "--help";
    const bool named = strcmp(word, apsp.name) == 0;
    const bool runs = named || strcmp(word, "--explain") == 0;
    tw_status status = mpi_words_command(job->ctx, runs ? apsp.name : word);
    if (status == TW_OK && runs) {
        return run_command(job, argc - 1 - named, argv + 1 + named, rank);
    }
    if (status == TW_OK && rank == 0) {
        status = about(job->ctx, argc - 1, argv + 1);
    }
    return tw_mpi_agree(job->ctx, MPI_COMM_WORLD, status);
}

int main(int argc, char **argv)
{
    cli_job job = {.started = cli_seconds()};
    int level = MPI_THREAD_SINGLE, rank = 0;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
        tw_context_create(&job.ctx) != TW_OK) {
        cli_error("cannot start: MPI does not initialise, or there is not enough memory");
        return 2;
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cli_signals_watch(job.ctx);
    tw_status status = dispatch(&job, argc, argv, rank);
    cli_progress_clear();
    if (status != TW_OK && rank == 0) {
        cli_error(status == TW_ERR_CANCELLED && cli_interrupted() ? "interrupted"
                                                                  : tw_last_error(job.ctx));
    }
    cli_signals_forget();
    tw_context_destroy(job.ctx);
    (void)MPI_Finalize();
    return status == TW_OK ? 0 : status == TW_ERR_VERIFY || status == TW_ERR_NEGATIVE_CYCLE ? 1 : 2;
}
