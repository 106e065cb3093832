/*
 * tilewright entropy: the local entropy of an array or image. Planes go one by one; npy, raw and
 * csv files take their rows as they are made, the image formats the whole result.
 */
#include "commands.h"
#include "job.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *in_format;
    const char *out_format;
    const char *window;
    int64_t radius; /* -1: none */
    const char *footprint;
    const char *anchor;
    int64_t levels;
    cli_interval range; /* NaN: none */
    const char *border;
    const char *base;
    const char *mask;
    double no_data;
    int32_t nan_is_no_data;
    int64_t plane; /* -1: all */
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT,
                                  .window = "5",
                                  .radius = -1,
                                  .levels = 256,
                                  .range = {(double)NAN, (double)NAN},
                                  .border = "crop",
                                  .base = "e",
                                  .no_data = (double)NAN,
                                  .plane = -1};

static const cli_option window_options[] = {
    {"window", 'w', CLI_TEXT, "K", offsetof(settings, window), 0,
     "The window: K x K elements, or COLSxROWS such as 7x3; 5 by default. Even sides reach one "
     "further up and left."},
    {"radius", 0, CLI_COUNT, "R", offsetof(settings, radius), 0,
     "Instead a disk: all elements within R of the centre."},
    {"footprint", 0, CLI_TEXT, "FILE", offsetof(settings, footprint), 0,
     "Instead any shape: the elements of FILE, an image of u8, that are not 0."},
    {"anchor", 0, CLI_TEXT, "ROW,COL", offsetof(settings, anchor), 0,
     "The element of the footprint that lies on the centre, from 0; its middle by default."},
    {"border", 0, CLI_TEXT, "BORDER", offsetof(settings, border), 0,
     "crop (only elements inside count; the default), reflect, symmetric, clamp, wrap, or valid "
     "(only windows that lie inside; the result is smaller)."},
    {0}};

static const cli_option value_options[] = {
    {"levels", 'l', CLI_COUNT, "N", offsetof(settings, levels), 0,
     "Values are levels 0 to N-1, N from 2 to 65536; 256 by default."},
    {"range", 0, CLI_INTERVAL, "LO:HI", offsetof(settings, range), 0,
     "Put values from LO to HI into N equal bins, HI itself into the last."},
    {"mask", 0, CLI_TEXT, "FILE", offsetof(settings, mask), 0,
     "Elements where FILE, an image of u8 of the same size, is 0 do not count."},
    {"no-data", 0, CLI_NUMBER, "VALUE", offsetof(settings, no_data), 0,
     "Elements equal to VALUE do not count."},
    {"skip-nan", 0, CLI_FLAG, NULL, offsetof(settings, nan_is_no_data), 1,
     "Elements that are NaN do not count; without it they are an error."},
    {"base", 0, CLI_TEXT, "BASE", offsetof(settings, base), 0,
     "Of the logarithm: e (the default), 2, 10, or levels, which gives values from 0 to 1."},
    {"plane", 0, CLI_COUNT, "P", offsetof(settings, plane), 0,
     "Only plane P, from 0, of a colour image or a file of records; all by default."},
    {0}};

static const cli_option format_options[] = {
    {"in-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, in_format), 0,
     "npy, pnm, pfm or records; by default the extension decides, and for none or an unknown one "
     "the content."},
    {"out-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, out_format), 0,
     "npy, raw or csv for one plane, pfm for one or three, records (text, five decimals) for any "
     "number; by default the extension decides, and raw is taken for an unknown one."},
    {0}};

static const cli_group groups[] = {{"Window", window_options},
                                   {"Values", value_options},
                                   {"Formats", format_options},
                                   {"Machine", cli_device_options},
                                   {"Resources", cli_resource_options},
                                   {"What it says", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"IN", "An array or image: .npy (u8, u16, i16, f32), .pgm, .ppm, .pfm or .records."},
    {"OUT", "Where the f32 result goes; without it a summary is printed. '-' is standard output."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright entropy photo.pgm texture.npy --window 9", "texture of a grey image"},
    {"tilewright entropy map.npy out.pfm --levels 16 --radius 5 --base 2",
     "16 levels in a disk, in bits"},
    {"tilewright entropy field.npy out.npy --range=-1:1 --levels 64 --skip-nan",
     "floats in 64 bins, NaN left out"},
    {NULL, NULL}};

/* What has been seen of the result: a sink. */
typedef struct tally {
    int64_t cols;
    int64_t count;
    int64_t empty; /* NaN */
    double least, most, sum;
} tally;

typedef struct entropy_run {
    cli_job *job;
    const settings *s;
    const char *input;
    const char *output;
    tw_image *image, *mask, *footprint, *result;
    tw_entropy_options opts;
    double range[2];
    double no_data;
    bool keep; /* the result goes out as an image, when it is whole */
    tally seen;
    tw_entropy_report report;
    double seconds_read, seconds_compute, seconds_output;
    int64_t planes;
} entropy_run;

/* ------------------------------------------------------------------------------------ the sink */

static tw_status seen_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)ctx;
    ((tally *)self)->cols = shape->cols;
    return TW_OK;
}

static tw_status seen_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    (void)ctx;
    (void)first;
    tally *seen = self;
    for (int64_t i = 0; i < count; i++) {
        const float *row = (const float *)data + i * stride;
        for (int64_t j = 0; j < seen->cols; j++) {
            double value = (double)row[j];
            if (isnan(value)) {
                seen->empty++;
                continue;
            }
            seen->least = seen->count == 0 || value < seen->least ? value : seen->least;
            seen->most = seen->count == 0 || value > seen->most ? value : seen->most;
            seen->sum += value;
            seen->count++;
        }
    }
    return TW_OK;
}

static tw_status seen_end(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
    return TW_OK;
}

static void seen_abort(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
}

/* ---------------------------------------------------------------------------------- the options */

/* "5" or "7x3": columns, then rows. */
static tw_status read_window(entropy_run *run)
{
    const char *text = run->s->window;
    const char *cross = strchr(text, 'x');
    char first[32];
    int64_t cols, rows;
    size_t length = cross != NULL ? (size_t)(cross - text) : strlen(text);
    snprintf(first, sizeof first, "%.*s", (int)(length < 31 ? length : 31), text);
    if (!cli_read_count(first, &cols) ||
        !cli_read_count(cross != NULL ? cross + 1 : first, &rows) || cols > INT32_MAX ||
        rows > INT32_MAX) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                       "--window %.60s: give a number such as 5, or COLSxROWS such as 7x3", text);
    }
    run->opts.window_cols = (int32_t)cols;
    run->opts.window_rows = (int32_t)rows;
    return TW_OK;
}

static tw_status read_anchor(entropy_run *run)
{
    const char *text = run->s->anchor;
    char first[32];
    int64_t row, col;
    if (text == NULL) {
        return TW_OK;
    }
    if (run->footprint == NULL) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--anchor belongs to a --footprint");
    }
    const char *comma = strchr(text, ',');
    size_t length = comma != NULL ? (size_t)(comma - text) : 0;
    snprintf(first, sizeof first, "%.*s", (int)(length < 31 ? length : 31), text);
    if (comma == NULL || !cli_read_count(first, &row) || !cli_read_count(comma + 1, &col) ||
        row > INT32_MAX || col > INT32_MAX) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--anchor %.60s: give ROW,COL such as 0,2",
                       text);
    }
    run->opts.anchor_row = (int32_t)row;
    run->opts.anchor_col = (int32_t)col;
    return TW_OK;
}

static tw_status read_base(entropy_run *run)
{
    static const struct {
        const char *name;
        tw_base base;
    } bases[] = {
        {"e", TW_BASE_E}, {"2", TW_BASE_2}, {"10", TW_BASE_10}, {"levels", TW_BASE_LEVELS}};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (strcmp(run->s->base, bases[i].name) == 0) {
            run->opts.base = bases[i].base;
            return TW_OK;
        }
    }
    return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--base %.60s: take e, 2, 10 or levels",
                   run->s->base);
}

static tw_status read_image(entropy_run *run, tw_image **out, const char *path,
                            const tw_matrix **view)
{
    if (path == NULL) {
        return TW_OK;
    }
    tw_status status = tw_image_read(run->job->ctx, out, path, NULL);
    if (status == TW_OK && tw_image_planes(*out) != 1) {
        status = tw_fail(run->job->ctx, TW_ERR_FORMAT, "%.500s has %lld planes: one is wanted",
                         path, (long long)tw_image_planes(*out));
    }
    if (status == TW_OK) {
        *view = tw_image_plane(*out, 0);
    }
    return status;
}

static tw_status read_numbers(entropy_run *run)
{
    const settings *s = run->s;
    if (s->levels > INT32_MAX || s->radius > INT32_MAX) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--levels %lld --radius %lld are too many",
                       (long long)s->levels, (long long)s->radius);
    }
    run->opts.levels = (int32_t)s->levels;
    run->opts.radius = (int32_t)s->radius;
    if (!isnan(s->range.low)) {
        run->range[0] = s->range.low;
        run->range[1] = s->range.high;
        run->opts.range = run->range;
    }
    if (s->nan_is_no_data && !isnan(s->no_data)) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "give --no-data or --skip-nan, not both");
    }
    if (s->nan_is_no_data || !isnan(s->no_data)) {
        run->no_data = s->no_data;
        run->opts.no_data = &run->no_data;
    }
    return TW_OK;
}

static tw_status read_options(entropy_run *run)
{
    const settings *s = run->s;
    tw_status status = read_numbers(run);
    if (status == TW_OK && tw_border_parse(&run->opts.border, s->border) != TW_OK) {
        status = tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                         "--border %.60s: take crop, reflect, symmetric, clamp, wrap or valid",
                         s->border);
    }
    if (status == TW_OK) {
        status = read_window(run);
    }
    if (status == TW_OK) {
        status = read_base(run);
    }
    if (status == TW_OK) {
        status = read_image(run, &run->footprint, s->footprint, &run->opts.footprint);
    }
    if (status == TW_OK) {
        status = read_anchor(run);
    }
    if (status == TW_OK) {
        status = read_image(run, &run->mask, s->mask, &run->opts.mask);
    }
    return status;
}

/* ------------------------------------------------------------------------------------- the run */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Whether OUT is written from the whole result. */
static bool is_image_output(const entropy_run *run)
{
    const char *format = run->s->out_format;
    if (run->output == NULL) {
        return false;
    }
    if (format != NULL) {
        return strcmp(format, "pfm") == 0 || strcmp(format, "records") == 0;
    }
    return ends_with(run->output, ".pfm") || ends_with(run->output, ".records");
}

static tw_status compute_plane(entropy_run *run, const tw_matrix *in)
{
    tw_context *ctx = run->job->ctx;
    tw_sink sinks[2] = {{&run->seen, seen_begin, seen_rows, seen_end, seen_abort, NULL}, {0}};
    tw_shape shape;
    tw_matrix target;
    tw_status status = tw_entropy_shape(ctx, &shape, in, &run->opts);
    if (status == TW_OK && run->keep) {
        status = tw_image_add(ctx, run->result, shape.rows, shape.cols, shape.type);
        if (status == TW_OK) {
            target = *tw_image_plane(run->result, tw_image_planes(run->result) - 1);
            status = tw_sink_to_matrix(ctx, &sinks[1], &target);
        }
    } else if (status == TW_OK && run->output != NULL) {
        status = tw_sink_to_file(ctx, &sinks[1], run->output, run->s->out_format);
    }
    if (status == TW_OK) {
        status =
            tw_entropy_run(ctx, in, &run->opts, sinks, run->output != NULL ? 2 : 1, &run->report);
    }
    tw_sink_destroy(&sinks[1]);
    run->seconds_compute += run->report.seconds_compute;
    run->seconds_output += run->report.seconds_output;
    return status;
}

static tw_status compute(entropy_run *run)
{
    tw_context *ctx = run->job->ctx;
    const int64_t planes = tw_image_planes(run->image);
    const int64_t first = run->s->plane >= 0 ? run->s->plane : 0;
    const int64_t end = run->s->plane >= 0 ? run->s->plane + 1 : planes;
    if (run->s->plane >= planes) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--plane %lld: %.500s has %lld",
                       (long long)run->s->plane, run->input, (long long)planes);
    }
    run->planes = end - first;
    run->keep = is_image_output(run);
    if (run->output != NULL && !run->keep && run->planes != 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%.500s has %lld planes: choose one with --plane, or write pfm or records",
                       run->input, (long long)run->planes);
    }
    tw_status status = run->keep ? tw_image_create(ctx, &run->result) : TW_OK;
    for (int64_t k = first; k < end && status == TW_OK; k++) {
        status = compute_plane(run, tw_image_plane(run->image, k));
    }
    if (status == TW_OK && run->keep) {
        double started = cli_seconds();
        status = tw_image_write(ctx, run->result, run->output, run->s->out_format);
        run->seconds_output += cli_seconds() - started;
    }
    return status;
}

static double rate_of(const entropy_run *run)
{
    double elements = (double)(run->seen.count + run->seen.empty);
    return run->seconds_compute > 0 ? elements / run->seconds_compute : 0;
}

static double mean_of(const tally *seen)
{
    return seen->count > 0 ? seen->sum / (double)seen->count : (double)NAN;
}

static void print_summary(const entropy_run *run)
{
    const tally *seen = &run->seen;
    printf("planes    %lld\n", (long long)run->planes);
    printf("rows      %lld\n", (long long)run->report.rows);
    printf("columns   %lld\n", (long long)run->report.cols);
    if (seen->count > 0) {
        printf("least     %.6f\n", seen->least);
        printf("mean      %.6f\n", mean_of(seen));
        printf("largest   %.6f\n", seen->most);
    }
    if (seen->empty > 0) {
        printf("empty     %lld\n", (long long)seen->empty);
    }
    fflush(stdout);
}

static void print_json(const entropy_run *run)
{
    const tw_entropy_report *report = &run->report;
    bool taken = run->output != NULL && strcmp(run->output, "-") == 0;
    cli_report json;
    cli_report_begin(&json, taken ? stderr : stdout);
    cli_report_text(&json, "command", "entropy");
    cli_report_text(&json, "version", tw_version());
    cli_report_text(&json, "input", run->input);
    cli_report_integer(&json, "planes", run->planes);
    cli_report_integer(&json, "rows", report->rows);
    cli_report_integer(&json, "cols", report->cols);
    cli_report_integer(&json, "window", report->window);
    cli_report_integer(&json, "levels", run->opts.levels);
    cli_report_text(&json, "border", tw_border_name(run->opts.border));
    cli_report_text(&json, "base", run->s->base);
    cli_report_text(&json, "method", report->method);
    cli_report_text(&json, "device", "cpu");
    cli_report_text(&json, "isa", report->isa);
    cli_report_integer(&json, "threads", report->threads);
    cli_report_object(&json, "seconds");
    cli_report_number(&json, "read", run->seconds_read);
    cli_report_number(&json, "compute", run->seconds_compute);
    cli_report_number(&json, "output", run->seconds_output);
    cli_report_number(&json, "total", cli_seconds() - run->job->started);
    cli_report_end_object(&json);
    cli_report_number(&json, "rate", rate_of(run));
    cli_report_number(&json, "least", run->seen.count > 0 ? run->seen.least : (double)NAN);
    cli_report_number(&json, "mean", mean_of(&run->seen));
    cli_report_number(&json, "largest", run->seen.count > 0 ? run->seen.most : (double)NAN);
    cli_report_integer(&json, "empty", run->seen.empty);
    cli_report_integer(&json, "peak_rss", (int64_t)cli_peak_rss());
    cli_report_text(&json, "output", run->output);
    cli_report_end(&json);
}

static void conclude(const entropy_run *run)
{
    char total[CLI_SHOWN], read[CLI_SHOWN], work[CLI_SHOWN], output[CLI_SHOWN], rate[CLI_SHOWN];
    if (run->s->common.json) {
        print_json(run);
    } else if (run->output == NULL) {
        print_summary(run);
    }
    cli_say(run->job, "done in %s (read %s, compute %s, output %s): %s elements/s by %s on %s",
            cli_show_seconds(total, cli_seconds() - run->job->started),
            cli_show_seconds(read, run->seconds_read), cli_show_seconds(work, run->seconds_compute),
            cli_show_seconds(output, run->seconds_output), cli_show_scaled(rate, rate_of(run)),
            run->report.method, run->report.isa);
}

static tw_status run_entropy(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    entropy_run run = {.job = job,
                       .s = s,
                       .input = words[0],
                       .output = count > 1 ? words[1] : NULL,
                       .opts = TW_ENTROPY_OPTIONS_INIT,
                       .report = TW_ENTROPY_REPORT_INIT};
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK && run.output == NULL && s->out_format != NULL) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT, "--out-format without OUT: there is no output");
    }
    if (status == TW_OK) {
        status = read_options(&run);
    }
    if (status == TW_OK) {
        double started = cli_seconds();
        status = tw_image_read(job->ctx, &run.image, words[0], s->in_format);
        run.seconds_read = cli_seconds() - started;
    }
    if (status == TW_OK) {
        status = compute(&run);
    }
    if (status == TW_OK) {
        conclude(&run);
    }
    tw_image_destroy(run.result);
    tw_image_destroy(run.image);
    tw_image_destroy(run.mask);
    tw_image_destroy(run.footprint);
    return status;
}

const cli_command cli_entropy = {
    .name = "entropy",
    .usage = "IN [OUT]",
    .summary = "local entropy of an array or image: how varied each neighbourhood is",
    .text = "Computes for each element the Shannon entropy of the values in the window around it: "
            "0 where all are equal, the logarithm of the number of levels where all levels are "
            "equally frequent.\n"
            "The result has the same bits on every machine, for every instruction set and any "
            "number of threads.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 1,
    .most = 2,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run_entropy,
};
