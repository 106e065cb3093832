/*
 * tilewright bench: how fast is the closure here, beside what the machine could do? Each case
 * makes a complete graph, runs the closure in one working type on a number of threads, checks
 * rows of every result by an independent search, and only then counts its time. The ceiling is
 * measured before and after the case, in the same run, and the better one counts.
 *
 * Narrow types need distances that fit them: on a complete graph a distance is at most the largest
 * weight, so weights up to 20 (u8) and 1000 (the rest) do. A closure takes the same time for any
 * graph, so large ones have 64 random arcs per vertex.
 *
 * On a GPU the time is that of the closure alone, the matrix lying in its memory, by the device's
 * own clock; the first run of a case warms up and is not counted. Where the matrix lies in host
 * memory (several GPUs, or --device-memory) the time is the host's and contains the copies, which
 * is said with it.
 */
#include "cli/bench/bench_entropy.h"
#include "cli/bench/bench_map.h"
#include "cli/shared/commands.h"
#include "frame/job.h"
#include "frame/progress.h"
#include "frame/report.h"
#include "frame/signals.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CASES 256
#define MOST_ITEMS 16 /* of a list */
#define MOST_REPEATS 100
#define CHECKED_ROWS 3
#define COMPLETE_UP_TO 8192 /* vertices */
#define DEGREE 64           /* of larger graphs */

typedef struct settings {
    cli_common common;
    const char *sizes;
    const char *types;
    const char *threads;
    int64_t repeat;
    int32_t undirected;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT, .repeat = 3};

static const cli_option own_options[] = {
    {"n", 'n', CLI_TEXT, "LIST", offsetof(settings, sizes), 0,
     "Numbers of vertices, such as 1000,4096; for entropy and map, sides of the array."},
    {"types", 0, CLI_TEXT, "LIST", offsetof(settings, types), 0,
     "Working types: u8,u16,i32,f32,f64."},
    {"threads", 0, CLI_TEXT, "LIST", offsetof(settings, threads), 0,
     "Numbers of threads, such as 1,2,4; 0 is all."},
    {"undirected", 0, CLI_FLAG, NULL, offsetof(settings, undirected), 1,
     "Use undirected graphs, which need half the work."},
    {"repeat", 0, CLI_COUNT, "R", offsetof(settings, repeat), 0,
     "Run each case R times (default: 3); report the median, for entropy and map the best."},
    {"memory", 0, CLI_SIZE, "SIZE", offsetof(cli_common, memory), 0,
     "Use at most SIZE, such as 8G or 8Gi, of the host's memory, and no more on a GPU."},
    {"device-memory", 0, CLI_SIZE, "SIZE", offsetof(cli_common, device_memory), 0,
     "Use at most SIZE on each GPU, whatever --memory says."},
    {0}};

static const cli_group groups[] = {{"Cases", own_options},
                                   {"Machine", cli_device_options},
                                   {"Messages", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"PROBLEM", "What to measure: apsp (the default), entropy or map."}, {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright bench", "the standard cases; a few minutes"},
    {"tilewright bench apsp --n 1000,2000 --types i32,u16 --threads 1", "four cases of your own"},
    {"tilewright bench entropy", "local entropy with six windows on 2560 x 2560"},
    {"tilewright bench map --n 4096", "expressions on 4096 x 4096, beside a copy"},
    {"tilewright bench --json > bench.json", "the same for a program to read"},
    {NULL, NULL}};

typedef struct bench_case {
    int64_t n;
    tw_type type;
    int32_t threads;
    bool undirected;
    double seconds[MOST_REPEATS]; /* of computing alone, sorted */
    double ceiling;
    double relaxations;
    bool symmetric;
    bool copies; /* of the matrix to GPUs and back are part of the seconds */
    int32_t block;
    const char *isa;
} bench_case;

typedef struct bench {
    cli_job *job;
    const settings *settings;
    int count;
    int done;
    bool noted_copies;
    bench_case *cases;
    double load;     /* of the machine before the first case; -1: unknown */
    tw_graph *graph; /* of the last case, reused when the next wants the same */
    int64_t graph_n;
    tw_type graph_type;
    double graph_most;
    bool graph_undirected;
} bench;

/* ---------------------------------------------------------------------------------------- cases */

/* An option that takes a list: how it is called, read and explained. */
typedef struct list_kind {
    const char *option;
    bool (*read)(const char *word, int64_t *out);
    const char *expected;
} list_kind;

/* Words of `text` separated by commas, into items[]. */
static tw_status parse_list(tw_context *ctx, const list_kind *kind, const char *text,
                            int64_t items[MOST_ITEMS], int *count)
{
    *count = 0;
    while (true) {
        char word[24];
        int64_t item = 0;
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word),
                 text);
        if (!kind->read(word, &item)) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "%s '%s': expected %s", kind->option, word,
                           kind->expected);
        }
        if (*count == MOST_ITEMS) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "%s: more than %d items", kind->option,
                           MOST_ITEMS);
        }
        items[(*count)++] = item;
        if (text[length] == '\0') {
            return TW_OK;
        }
        text += length + 1;
    }
}

static bool read_size(const char *word, int64_t *out)
{
    return cli_read_count(word, out) && *out >= 1 && *out <= 1000000;
}

static bool read_side(const char *word, int64_t *out)
{
    return cli_read_count(word, out) && *out >= 1 && *out <= 100000;
}

static bool read_threads(const char *word, int64_t *out)
{
    return cli_read_count(word, out) && *out <= 4096;
}

static bool read_type(const char *word, int64_t *out)
{
    tw_type type = TW_AUTO;
    bool known = tw_type_parse(&type, word) == TW_OK && type != TW_AUTO && type != TW_I16 &&
                 type != TW_F16 && type != TW_I64;
    *out = type;
    return known;
}

static const list_kind size_list = {"--n", read_size, "a number of vertices from 1 to 1000000"};
static const list_kind side_list = {"--n", read_side, "a side from 1 to 100000"};
static const list_kind type_list = {"--types", read_type, "u8, u16, i32, f32 or f64"};
static const list_kind thread_list = {"--threads", read_threads, "a number from 0 (all) to 4096"};

static void add_case(bench *b, int64_t n, tw_type type, int64_t threads, bool undirected)
{
    int32_t most = tw_threads(b->job->ctx);
    int32_t used = threads == 0 ? most : (int32_t)threads;
    for (int i = 0; i < b->count; i++) {
        const bench_case *other = &b->cases[i];
        if (other->n == n && other->type == type && other->threads == used &&
            other->undirected == undirected) {
            return; /* "1 and all" is one case on a machine with one processor */
        }
    }
    if (b->count < MOST_CASES) {
        b->cases[b->count++] =
            (bench_case){.n = n, .type = type, .threads = used, .undirected = undirected};
    }
}

static bool is_on_gpu(const bench *b)
{
    const char *device = b->settings->common.device;
    return device != NULL && strcmp(device, "auto") != 0 && strcmp(device, "cpu") != 0;
}

/* 16 bits alone are for a matrix that one GPU holds: a series over several, or with little memory,
 * is not to end at such a case. */
static bool has_narrow_cases(const bench *b)
{
    return strchr(b->settings->common.device, ',') == NULL &&
           b->settings->common.device_memory == 0;
}

static void add_standard_gpu_cases(bench *b)
{
    static const struct {
        int64_t n;
        tw_type type;
        bool undirected;
    } cases[] = {
        {100, TW_I32, false},   {1000, TW_I32, false},  {5000, TW_I32, false},
        {10000, TW_I32, false}, {10000, TW_U16, false}, {10000, TW_F64, false},
        {32768, TW_I32, false}, {32768, TW_U16, false}, {32768, TW_F32, false},
        {32768, TW_I32, true},  {32768, TW_U16, true},  {32768, TW_F32, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].type != TW_U16 || has_narrow_cases(b)) {
            add_case(b, cases[i].n, cases[i].type, 0, cases[i].undirected);
        }
    }
}

static void add_standard_cases(bench *b)
{
    if (is_on_gpu(b)) {
        add_standard_gpu_cases(b);
        return;
    }
    static const tw_type types[] = {TW_I32, TW_U16, TW_U8, TW_F32, TW_F64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        add_case(b, 4096, types[t], 1, false);
        add_case(b, 4096, types[t], 0, false);
    }
    add_case(b, 1000, TW_I32, 1, false);
    add_case(b, 1000, TW_I32, 0, false);
    add_case(b, 4096, TW_I32, 1, true);
    add_case(b, 4096, TW_I32, 0, true);
}

static tw_status choose_cases(bench *b)
{
    const settings *s = b->settings;
    tw_context *ctx = b->job->ctx;
    int64_t sizes[MOST_ITEMS], types[MOST_ITEMS], threads[MOST_ITEMS];
    int size_count = 0, type_count = 0, thread_count = 0;
    if (s->sizes == NULL && s->types == NULL && s->threads == NULL && !s->undirected) {
        add_standard_cases(b);
        return TW_OK;
    }
    const char *all_sizes = is_on_gpu(b) ? "10000" : "4096";
    const char *all_types = !is_on_gpu(b)         ? "i32,u16,u8,f32,f64"
                            : has_narrow_cases(b) ? "i32,u16,f32,f64"
                                                  : "i32,f32,f64";
    const char *all_threads = is_on_gpu(b) ? "0" : "1,0";
    tw_status status =
        parse_list(ctx, &size_list, s->sizes != NULL ? s->sizes : all_sizes, sizes, &size_count);
    if (status == TW_OK) {
        status = parse_list(ctx, &type_list, s->types != NULL ? s->types : all_types, types,
                            &type_count);
    }
    if (status == TW_OK) {
        status = parse_list(ctx, &thread_list, s->threads != NULL ? s->threads : all_threads,
                            threads, &thread_count);
    }
    for (int i = 0; i < size_count && status == TW_OK; i++) {
        for (int t = 0; t < type_count; t++) {
            for (int k = 0; k < thread_count; k++) {
                add_case(b, sizes[i], (tw_type)types[t], threads[k], s->undirected != 0);
            }
        }
    }
    return status;
}

/* ---------------------------------------------------------------------------------- one of them */

static tw_status prepare_graph(bench *b, const bench_case *c)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.kind = c->n <= COMPLETE_UP_TO ? "complete" : "sparse";
    opts.degree = DEGREE;
    opts.vertices = c->n;
    opts.weight_type = c->type == TW_F32 || c->type == TW_F64 ? c->type : TW_I32;
    opts.max_weight = c->type == TW_U8 ? 20 : 1000;
    opts.directed = c->undirected ? TW_GRAPH_DIRECTED_NO : TW_GRAPH_DIRECTED_YES;
    if (b->graph != NULL && b->graph_n == c->n && b->graph_type == opts.weight_type &&
        b->graph_most == opts.max_weight && b->graph_undirected == c->undirected) {
        return TW_OK;
    }
    tw_graph_destroy(b->graph);
    tw_status status = tw_graph_generate(b->job->ctx, &b->graph, &opts);
    b->graph_n = c->n;
    b->graph_type = opts.weight_type;
    b->graph_most = opts.max_weight;
    b->graph_undirected = c->undirected;
    return status;
}

static tw_status run_once(bench *b, bench_case *c, double *seconds)
{
    tw_context *ctx = b->job->ctx;
    tw_apsp_verifier *verifier = NULL;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    opts.method = TW_APSP_METHOD_CLOSURE;
    opts.work_type = c->type;
    opts.type = c->type;
    tw_status status = tw_apsp_verifier_create(ctx, &verifier, b->graph, &opts, CHECKED_ROWS, 1);
    if (status == TW_OK) {
        status = tw_apsp_verifier_sink(verifier, &sink);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_create(ctx, &plan, b->graph, &opts);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report);
    }
    if (status == TW_OK) {
        status = tw_apsp_verifier_result(ctx, verifier, NULL);
    }
    if (status == TW_OK && report.work_type != c->type) {
        status = tw_fail(ctx, TW_ERR_INTERNAL, "requested %s, but it was computed in %s",
                         tw_type_name(c->type), tw_type_name(report.work_type));
    }
    *seconds = is_on_gpu(b) ? report.seconds_device : report.seconds_compute;
    c->relaxations = report.relaxations;
    c->symmetric = report.symmetric != 0;
    c->copies = is_on_gpu(b) && !report.resident;
    c->block = report.block;
    c->isa = report.isa;
    tw_sink_destroy(&sink);
    tw_apsp_plan_destroy(plan);
    tw_apsp_verifier_destroy(verifier);
    return status;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tw_status run_case(bench *b, bench_case *c)
{
    tw_context *ctx = b->job->ctx;
    int repeats = (int)b->settings->repeat;
    double before = 0, after = 0;
    tw_status status = tw_set_threads(ctx, c->threads);
    if (status == TW_OK) {
        status = prepare_graph(b, c);
    }
    if (status == TW_OK) {
        status = tw_minplus_ceiling(ctx, &before, c->type, c->threads);
    }
    for (int r = is_on_gpu(b) ? -1 : 0; r < repeats && status == TW_OK; r++) {
        status = run_once(b, c, &c->seconds[r < 0 ? 0 : r]);
    }
    if (status == TW_OK) {
        status = tw_minplus_ceiling(ctx, &after, c->type, c->threads);
    }
    c->ceiling = before > after ? before : after;
    qsort(c->seconds, (size_t)repeats, sizeof *c->seconds, by_value);
    return status;
}

/* -------------------------------------------------------------------------------------- results */

typedef struct figures {
    double median;
    double spread; /* of the slowest to the fastest, as a part of the median */
    double rate;
    double ratio;
} figures;

static figures figures_of(const bench *b, const bench_case *c)
{
    int repeats = (int)b->settings->repeat;
    figures f;
    f.median = (c->seconds[(repeats - 1) / 2] + c->seconds[repeats / 2]) / 2;
    f.spread = f.median > 0 ? (c->seconds[repeats - 1] - c->seconds[0]) / f.median : 0;
    f.rate = f.median > 0 ? c->relaxations / f.median : 0;
    f.ratio = c->ceiling > 0 ? f.rate / c->ceiling : 0;
    return f;
}

static void print_row(bench *b, const bench_case *c)
{
    figures f = figures_of(b, c);
    char threads[16];
    cli_progress_clear();
    if (c->copies && !b->noted_copies) {
        cli_say(b->job, "note: the matrix lies in host memory: the seconds are the host's and "
                        "contain its copies to the GPU and back");
        b->noted_copies = true;
    }
    snprintf(threads, sizeof threads, "%d", c->threads);
    if (b->done == 0) {
        cli_print("%7s %5s %8s %10s %10s %8s %12s %12s %7s\n", "n", "type",
                  is_on_gpu(b) ? "device" : "threads", "graph", "seconds", "spread", "G relax/s",
                  "ceiling", "ratio");
    }
    cli_print("%7lld %5s %8.12s %10s %10.4g %6.1f %% %12.2f %12.2f %5.1f %%\n", (long long)c->n,
              tw_type_name(c->type), is_on_gpu(b) ? b->settings->common.device : threads,
              c->symmetric ? "undirected" : "directed", f.median, 100 * f.spread, f.rate * 1e-9,
              c->ceiling * 1e-9, 100 * f.ratio);
    fflush(stdout);
}

static void print_json(const bench *b, tw_status status)
{
    tw_machine machine = TW_MACHINE_INIT;
    cli_report json;
    cli_report_begin(&json, stdout);
    cli_report_text(&json, "command", "bench apsp");
    cli_report_text(&json, "version", tw_version());
    if (tw_machine_describe(b->job->ctx, &machine) == TW_OK) {
        cli_report_text(&json, "processor", machine.processor);
        cli_report_integer(&json, "processors", machine.threads);
    }
    cli_report_text(&json, "device", is_on_gpu(b) ? b->settings->common.device : "cpu");
    cli_report_number(&json, "load", b->load);
    cli_report_bool(&json, "complete", status == TW_OK);
    cli_report_text(&json, "error", status == TW_OK ? NULL : tw_last_error(b->job->ctx));
    cli_report_integer(&json, "repeat", b->settings->repeat);
    cli_report_array(&json, "cases");
    for (int i = 0; i < b->done; i++) {
        const bench_case *c = &b->cases[i];
        figures f = figures_of(b, c);
        cli_report_object(&json, NULL);
        cli_report_integer(&json, "n", c->n);
        cli_report_text(&json, "type", tw_type_name(c->type));
        cli_report_integer(&json, "threads", c->threads);
        cli_report_bool(&json, "symmetric", c->symmetric);
        cli_report_bool(&json, "copies", c->copies);
        cli_report_text(&json, "isa", c->isa);
        cli_report_integer(&json, "block", c->block);
        cli_report_number(&json, "seconds", f.median);
        cli_report_number(&json, "fastest", c->seconds[0]);
        cli_report_number(&json, "slowest", c->seconds[b->settings->repeat - 1]);
        cli_report_number(&json, "rate", f.rate);
        cli_report_number(&json, "ceiling", c->ceiling);
        cli_report_number(&json, "ratio", f.ratio);
        cli_report_integer(&json, "checked_rows", c->n < CHECKED_ROWS ? c->n : CHECKED_ROWS);
        cli_report_end_object(&json);
    }
    cli_report_end_array(&json);
    cli_report_end(&json);
}

/* Figures measured beside other work are too low; whoever reads them should know. */
static void notice_load(bench *b)
{
    tw_machine machine = TW_MACHINE_INIT;
    if (getloadavg(&b->load, 1) != 1) {
        b->load = -1;
    }
    if (tw_machine_describe(b->job->ctx, &machine) == TW_OK && b->load > machine.threads) {
        cli_say(
            b->job,
            "note: this machine is busy (load %.1f on %d processor%s): the rates will be too low",
            b->load, machine.threads, machine.threads == 1 ? "" : "s");
    }
}

/* Ctrl-C or an error ends the series; what was measured until then is still told. */
static tw_status run_cases(bench *b)
{
    tw_status status = TW_OK;
    for (int i = 0; i < b->count && status == TW_OK; i++) {
        status = run_case(b, &b->cases[i]);
        if (status == TW_OK && !b->settings->common.json) {
            print_row(b, &b->cases[i]);
        }
        b->done += status == TW_OK;
    }
    if (b->settings->common.json) {
        print_json(b, status);
    }
    return status;
}

/* The problems on square arrays: sides and threads. */
static tw_status run_arrays(bench *b, bool map)
{
    const settings *s = b->settings;
    tw_context *ctx = b->job->ctx;
    int64_t sides[MOST_ITEMS], threads[MOST_ITEMS];
    int side_count = 0, thread_count = 0;
    if (s->types != NULL || s->undirected) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "--types and --undirected are options of bench apsp only");
    }
    const char *usual = map ? "8192" : "2560";
    tw_status status =
        parse_list(ctx, &side_list, s->sizes != NULL ? s->sizes : usual, sides, &side_count);
    if (status == TW_OK) {
        status = parse_list(ctx, &thread_list, s->threads != NULL ? s->threads : "1,0", threads,
                            &thread_count);
    }
    if (status != TW_OK) {
        return status;
    }
    notice_load(b);
    if (map) {
        const cli_map_bench wanted = {sides,          side_count,          threads, thread_count,
                                      (int)s->repeat, s->common.json != 0, b->load};
        return cli_bench_map(b->job, &wanted);
    }
    const cli_entropy_bench wanted = {sides,          side_count,          threads, thread_count,
                                      (int)s->repeat, s->common.json != 0, b->load};
    return cli_bench_entropy(b->job, &wanted);
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    bool entropy = count == 1 && strcmp(words[0], "entropy") == 0;
    bool map = count == 1 && strcmp(words[0], "map") == 0;
    const settings *s = given;
    bench b = {.job = job, .settings = s};
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK && count == 1 && !entropy && !map && strcmp(words[0], "apsp") != 0) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "bench '%.60s': unknown problem; use apsp, entropy or map", words[0]);
    }
    if (status == TW_OK && (s->repeat < 1 || s->repeat > MOST_REPEATS)) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT, "--repeat %lld: expected 1 to %d",
                         (long long)s->repeat, MOST_REPEATS);
    }
    if (status == TW_OK && !is_on_gpu(&b)) {
        status = tw_set_device(job->ctx, "cpu"); /* the same cases on every machine */
    }
    if (status != TW_OK || entropy || map) {
        return status == TW_OK ? run_arrays(&b, map) : status;
    }
    b.cases = calloc(MOST_CASES, sizeof *b.cases);
    if (b.cases == NULL) {
        return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for the list of cases");
    }
    status = choose_cases(&b);
    if (status == TW_OK) {
        notice_load(&b);
    }
    if (status == TW_OK) {
        status = run_cases(&b);
    }
    tw_graph_destroy(b.graph);
    free(b.cases);
    return status;
}

const cli_command cli_bench = {
    .name = "bench",
    .usage = "[apsp|entropy|map]",
    .summary = "measure the speed, and compare it with this machine's peak",
    .text =
        "Measures the all-pairs closure on complete graphs, checks rows of every result, and "
        "compares the rate with the ceiling of the same type and threads, measured in the same "
        "run. Without --n, --types, --threads or --undirected it runs the standard cases: i32, "
        "u16, u8, f32 and f64 at n = 4096 on one thread and on all, i32 at n = 1000, and i32 on an "
        "undirected graph; on a GPU (--device cuda) n from 100 to 32768, the closure alone in its "
        "memory. On several GPUs, or with less --device-memory than it takes, the time includes "
        "the copies from host memory and back; a note and \"copies\" in --json say so.\nThe rate "
        "counts n^3 relaxations for the whole problem. An undirected graph needs half of them, so "
        "its ratio may exceed 100 %. After Ctrl-C or an error, finished cases are kept.\nbench "
        "entropy measures local entropy on natural-looking images with windows of 5 x 5 (16 and "
        "256 levels), 9 x 9, 31 x 31, 63 x 63 and a disk, checks a thousand elements by the "
        "definition and every timed result against that one, and compares with the rate at which "
        "memory could be read and written. The best of R runs counts.\nbench map measures "
        "expressions on arrays of 8192 x 8192, checks a thousand elements of each in interval "
        "arithmetic, and compares bytes read and written per second with a copy's.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 0,
    .most = 1,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};
