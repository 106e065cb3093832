/*
 * tilewright map: an expression at every element of arrays or images. Inputs are read before or
 * during the run, in bands of rows; OUT may be one of them, since it is replaced at the end. Files
 * take their rows as they are made, except pfm, and of several planes all but tiff.
 */
#include "cli/image/batch.h"
#include "cli/image/map_run.h"
#include "cli/image/rehearsal.h"
#include "cli/shared/checked.h"
#include "cli/shared/commands.h"

#include <stdlib.h>
#include <string.h>

#define VERIFY_ELEMENTS 1000
#define VERIFY_SEED 1

static const map_settings defaults = {
    .common = CLI_COMMON_INIT, .repeat = 1, .plane = -1, .storage = {-1, NULL}, .verify = -1};

static const cli_option value_options[] = {
    {"set", 's', CLI_TEXTS, "NAME=VALUE", offsetof(map_settings, constants), 0,
     "A constant for the expression; may be repeated."},
    {"repeat", 'r', CLI_COUNT, "N", offsetof(map_settings, repeat), 0,
     "Apply the expression N times, x being the previous result: the same bits as N runs, but "
     "reading and writing once."},
    {"no-data", 0, CLI_TEXT, "VALUE", offsetof(map_settings, no_data), 0,
     "Where an input is VALUE (a number or nan) the result is VALUE too. In integer results it "
     "also replaces NaN, which otherwise becomes 0. By default the no-data value that GeoTIFF "
     "inputs declare, which must be the same in all of them; none ignores it. A .tif declares it "
     "as its "
     "no-data value."},
    {"plane", 0, CLI_COUNT, "P", offsetof(map_settings, plane), 0,
     "Take only plane P, counted from 0: a colour, band, page or record. By default all are taken "
     "except an alpha channel, which is copied into a .png or .tif of its type and left out "
     "otherwise."},
    {"grey", 0, CLI_FLAG, NULL, offsetof(map_settings, grey), 1,
     "Take the luminance of colour images, 0.2126 red + 0.7152 green + 0.0722 blue, rounded if "
     "their elements are integers, instead of each colour."},
    {0}};

static const cli_option precision_options[] = {
    {"out-type", 't', CLI_TYPE, "TYPE", offsetof(map_settings, out_type), CLI_ELEMENT_TYPES,
     "u8, u16, i16, i32, f32 or f64; by default the compute type, and for pgm, ppm and png the "
     "type "
     "of the first input. Integers are rounded to the nearest, ties to even, and clamped."},
    {"compute", 0, CLI_TYPE, "TYPE", offsetof(map_settings, compute), CLI_COMPUTE_TYPES,
     "f32 or f64; by default f32 unless an input or the result is i32 or f64."},
    {"fast", 0, CLI_FLAG, NULL, offsetof(map_settings, fast), 1,
     "Functions within 3.5 units in the last place instead of 1."},
    {"verify", 0, CLI_OPTIONAL_COUNT, "K", offsetof(map_settings, verify), VERIFY_ELEMENTS,
     "Recompute K random elements (1000 by default, 0: all) in interval arithmetic before OUT "
     "appears."},
    {"explain", 0, CLI_FLAG, NULL, offsetof(map_settings, explain), 1,
     "Show the program, its specialisation, bytes and operations per element, the memory, and a "
     "lower bound on the time. Nothing is computed unless OUT or --verify is also given."},
    {0}};

static const cli_option format_options[] = {
    {"output", 'o', CLI_TEXT, "OUT", offsetof(map_settings, output), 0,
     "The same as OUT; files without NAME= are then inputs."},
    {"out-dir", 0, CLI_TEXT, "FOLDER", offsetof(map_settings, out_dir), 0,
     "Take all files without NAME= as x, one after the other, and write their results into FOLDER "
     "under the same names, with the extension of --out-format if given; results of JPEG files are "
     ".png. If a file fails, that is reported and the others are still processed; the exit status "
     "is then 2, or 1 if only checks failed. Earlier results are replaced; other images are not. "
     "--json prints one report of all files."},
    CLI_STORAGE_OPTIONS(map_settings),
    {"in-format", 0, CLI_TEXT, "FORMAT", offsetof(map_settings, in_format), 0,
     "npy, pnm, pfm, png, tiff, jpeg or records, for all inputs; default: chosen by extension, or "
     "by "
     "content if the extension is missing or unknown."},
    {"out-format", 0, CLI_TEXT, "FORMAT", offsetof(map_settings, out_format), 0,
     "npy, tiff and records for any number of planes, pnm and pfm for one or three, png for one to "
     "four, raw and csv for one; default: chosen by extension, where .raw, .bin, .out and none "
     "mean raw."},
    {0}};

static const cli_group groups[] = {{"Values", value_options},
                                   {"Precision", precision_options},
                                   {"Formats", format_options},
                                   {"Machine", cli_device_options},
                                   {"Resources", cli_resource_options},
                                   {"Messages", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"EXPR", "The expression, in quotes. It may begin with a minus sign if it does not read as an "
             "option: '-x' and '-row' are expressions, '-q' and '-r3' are not; write '(-q)', or "
             "put it after '--'."},
    {"IN", "An array or image: .npy, .pgm, .ppm, .pfm, .png, .tif, .jpg or .records. Its name in "
           "the expression is x; other inputs are given as NAME=FILE. FILE[P] is plane P of it, by "
           "number from 0 or by the name that a GeoTIFF gives a band. An input of one row or one "
           "column is repeated."},
    {"OUT", "The output file; without it a summary is printed. '-' is standard output. A .tif "
            "keeps the georeferencing and the metadata of the first input, if that is a GeoTIFF. "
            "If OUT is an input, it is replaced when the result is complete; another image of the "
            "same kind as a single IN is replaced only with -o, because it may be meant as an "
            "input; one with fractions where IN has none is an earlier result and is replaced."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright map '255 - x' photo.pgm negative.pgm", "the negative of an image"},
    {"tilewright map '(nir - red) / (nir + red)' nir=b4.npy red=b3.npy ndvi.npy",
     "two inputs by name"},
    {"tilewright map '(b - a) / (b + a)' 'b=s2.tif[nir]' 'a=s2.tif[2]' ndvi.tif",
     "two bands of one file, whose georeferencing the result keeps"},
    {"tilewright map 'x + sqrt((col % 2 ? log(x) : cos(x)) + 1)' a.npy --repeat 10",
     "ten passes in one, and a summary of the result"},
    {"tilewright map 'x > k ? x : 0' dem.npy high.npy --set k=1500 --no-data=-9999",
     "a constant, and a no-data value"},
    {NULL, NULL}};

/* ------------------------------------------------------------------------------------- the run */

typedef struct plane_work {
    tw_matrix inputs[MAP_INPUTS];
    tw_source sources[MAP_INPUTS];
    tw_map_plan *plan; /* the run's */
    tw_map_verifier *verifier;
    cli_timed checking;
    map_gate out;
    map_plain plain;
    tw_sink sinks[3];
    int32_t sink_count;
} plane_work;

static tw_status open_sinks(map_run *run, plane_work *w, int64_t plane)
{
    tw_context *ctx = run->job->ctx;
    tw_status status = TW_OK;
    if (run->output == NULL || run->s->common.json) { /* else nobody asks for statistics */
        run->seen.has_no_data = run->opts.no_data != NULL;
        run->seen.no_data = run->no_data;
        cli_tally_sink(&run->seen, &w->sinks[w->sink_count++]);
    }
    if (run->s->verify >= 0) {
        status = tw_map_verifier_stream(ctx, &w->verifier, run->expr, w->inputs, w->sources,
                                        run->input_count, &run->opts, run->s->verify, VERIFY_SEED);
        if (status == TW_OK) {
            status = tw_map_verifier_sink(w->verifier, &w->checking.inner);
            cli_timed_sink(&w->checking, &w->sinks[w->sink_count++]);
        }
    }
    if (status == TW_OK && run->as_image) {
        status = map_open_output(run);
        if (status == TW_OK) {
            status = map_feed_alpha(run, plane);
        }
        w->out.inner = run->file; /* which closes it */
        w->out.inner.destroy = NULL;
    } else if (status == TW_OK && run->output != NULL) {
        const tw_type type = run->plan.shape.type;
        bool plain = run->as_text && type != TW_F32 && type != TW_F64;
        status = tw_sink_to_file(ctx, plain ? &w->plain.inner : &w->out.inner, run->output,
                                 run->s->out_format);
        if (status == TW_OK && plain) {
            map_plain_sink(&w->plain, &w->out.inner);
        }
    }
    if (status == TW_OK && run->output != NULL) {
        tw_sink *last = &w->sinks[w->sink_count++];
        w->out.verifier = w->verifier;
        if (w->verifier != NULL) {
            map_gate_sink(&w->out, last);
        } else {
            *last = w->out.inner;
        }
    }
    return status;
}

static tw_status run_plane(map_run *run, plane_work *w, int64_t plane)
{
    tw_context *ctx = run->job->ctx;
    tw_status status = open_sinks(run, w, plane);
    if (status == TW_OK) {
        status = tw_map_plan_stream(ctx, w->plan, w->inputs, w->sources, run->input_count, w->sinks,
                                    w->sink_count, &run->report);
    }
    if (status == TW_OK && w->verifier != NULL) {
        int64_t checked = 0;
        status = tw_map_verifier_result(ctx, w->verifier, &checked);
        run->checked += checked;
    }
    run->became_no_data += run->report.became_no_data;
    run->seconds_read += run->report.seconds_read;
    run->seconds_compute += run->report.seconds_compute;
    run->seconds_verify += w->checking.seconds;
    run->seconds_output += run->report.seconds_output - w->checking.seconds;
    tw_sink_destroy(&w->out.inner);
    tw_map_verifier_destroy(w->verifier);
    return status;
}

/* Whether the present plan fits inputs of these shapes, as it does for the planes of one array. */
static bool same_shapes(const map_run *run, const tw_shape *shapes)
{
    bool same = run->planned != NULL;
    for (int32_t i = 0; i < run->input_count && same; i++) {
        same = shapes[i].rows == run->shapes[i].rows && shapes[i].cols == run->shapes[i].cols &&
               shapes[i].type == run->shapes[i].type;
    }
    return same;
}

static tw_status make_plan(map_run *run, const tw_shape *shapes)
{
    const double started = cli_seconds();
    tw_map_plan_destroy(run->planned);
    tw_status status = tw_map_plan_create(run->job->ctx, &run->planned, run->expr, shapes,
                                          run->input_count, &run->opts);
    run->seconds_plan += cli_seconds() - started;
    memcpy(run->shapes, shapes, sizeof run->shapes);
    if (status == TW_OK) {
        run->plan.size = sizeof run->plan;
        status = tw_map_plan_describe(run->planned, &run->plan);
    }
    return status;
}

/* Inputs whose sizes do not go together, by their names. */
static tw_status check_sizes(const map_run *run, const tw_shape *shapes)
{
    for (int side = 0; side < 2; side++) {
        int32_t first = -1;
        for (int32_t i = 0; i < run->input_count; i++) {
            const int64_t size = side == 0 ? shapes[i].rows : shapes[i].cols;
            const int64_t other = first < 0   ? size
                                  : side == 0 ? shapes[first].rows
                                              : shapes[first].cols;
            if (size != 1 && size != other) {
                return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                               "%.300s has %lld %s, %.300s has %lld: they must be equal, or 1",
                               run->inputs[first].word, (long long)other,
                               side == 0 ? "rows" : "columns", run->inputs[i].word,
                               (long long)size);
            }
            first = first < 0 && size != 1 ? i : first;
        }
    }
    return TW_OK;
}

static tw_status plan_plane(map_run *run, plane_work *w, int64_t plane)
{
    tw_shape shapes[MAP_INPUTS] = {{0, 0, TW_AUTO}};
    const double started = cli_seconds();
    tw_status status = map_open_plane(run, plane, w->inputs, w->sources);
    run->seconds_read += cli_seconds() - started;
    if (status != TW_OK) {
        return status;
    }
    for (int32_t i = 0; i < run->input_count; i++) {
        const tw_matrix *in = &w->inputs[i];
        shapes[i] = w->sources[i].rows != NULL ? w->sources[i].shape
                                               : (tw_shape){in->rows, in->cols, in->type};
    }
    status = check_sizes(run, shapes);
    if (status == TW_OK && !same_shapes(run, shapes)) {
        status = make_plan(run, shapes);
    }
    w->plan = run->planned;
    return status;
}

/* Plan a plane, explain if that is asked for, and compute, unless explaining was all that was. */
static tw_status take_plane(map_run *run, int64_t plane, bool explained)
{
    plane_work w = {.checking.inner = TW_SINK_INIT,
                    .out.inner = TW_SINK_INIT,
                    .plain.inner = TW_SINK_INIT,
                    .sinks = {TW_SINK_INIT, TW_SINK_INIT, TW_SINK_INIT}};
    tw_status status = plan_plane(run, &w, plane);
    if (status == TW_OK && plane == 0) {
        status = map_choose_alpha(run);
        map_tell_light(run);
    }
    if (status == TW_OK && run->s->explain && plane == 0 && run->reading == 0) {
        status = map_explain(run, w.plan, w.sources, explained);
    }
    if (status == TW_OK && !explained) {
        status = run_plane(run, &w, plane);
    }
    for (int32_t i = 0; i < run->input_count; i++) {
        tw_source_destroy(&w.sources[i]);
    }
    return status;
}

static tw_status compute(map_run *run, bool *explained)
{
    tw_context *ctx = run->job->ctx;
    *explained = map_only_explains(run);
    if (run->output != NULL && !run->as_image && run->planes != 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%lld planes; choose one with --plane, or write npy or an image format",
                       (long long)run->planes);
    }
    tw_status status = TW_OK;
    for (int64_t plane = 0; plane < run->planes && status == TW_OK; plane++) {
        status = take_plane(run, plane, *explained);
    }
    if (status == TW_OK && !*explained) { /* it may follow the result */
        status = map_feed_alpha(run, run->planes);
    }
    return status;
}

/* How to read the inputs in another try, or 0. */
static char retry(const map_run *run, tw_status status)
{
    const cli_raster *inputs[MAP_INPUTS];
    for (int32_t i = 0; i < run->input_count; i++) {
        inputs[i] = &run->inputs[i].in;
    }
    return cli_raster_retry(inputs, run->input_count, status, run->output);
}

/* A try; *reading is how inputs are read, and becomes how to read them in another try, or 0.
 * *became_no_data: elements of the result. */
static tw_status try_words(cli_job *job, const map_settings *s, int count, char **words,
                           const char *output, char *reading, int64_t *became_no_data)
{
    map_run run = {.job = job,
                   .s = s,
                   .output = output,
                   .reading = *reading,
                   .storage = TW_IMAGE_FILE_OPTIONS_INIT,
                   .file = TW_SINK_INIT,
                   .opts = TW_MAP_OPTIONS_INIT,
                   .report = TW_MAP_REPORT_INIT};
    const bool quiet = job->quiet;
    bool explained = false;
    run.opts.repeat = s->repeat;
    run.opts.compute = s->compute;
    run.opts.fast = s->fast;
    job->quiet = quiet || *reading != 0;
    tw_status status = map_read_words(&run, count, words);
    if (status == TW_OK && run.reading == CLI_REHEARSED) {
        status = cli_rehearsal_output(job, &run.output);
    }
    if (status == TW_OK) {
        status = map_read_expression(&run);
    }
    if (status == TW_OK) {
        double started = cli_seconds();
        status = map_open_files(&run);
        run.seconds_read = cli_seconds() - started;
    }
    if (status == TW_OK) {
        status = map_choose_output(&run);
    }
    if (status == TW_OK) {
        status = cli_watched(job->ctx, run.watches, run.input_count, compute(&run, &explained));
    }
    job->quiet = quiet;
    if (status == TW_OK && !explained) {
        map_conclude(&run);
    }
    *became_no_data = run.became_no_data;
    *reading = retry(&run, status);
    tw_sink_destroy(&run.file);
    tw_map_plan_destroy(run.planned);
    tw_expr_destroy(run.expr);
    map_close_files(&run);
    return status;
}

static tw_status run_words(cli_job *job, const map_settings *s, int count, char **words,
                           const char *output, int64_t *became_no_data)
{
    char reading = 0, sentence[1024];
    tw_status status = try_words(job, s, count, words, output, &reading, became_no_data);
    while (reading != 0) {
        const char other = reading;
        snprintf(sentence, sizeof sentence, "%s", tw_last_error(job->ctx));
        status = try_words(job, s, count, words, output, &reading, became_no_data);
        status = cli_raster_retried(job, other, sentence, status);
    }
    cli_rehearsal rehearsal;
    if (cli_rehearsal_begin(&rehearsal, job, status)) {
        do {
            reading = CLI_REHEARSED;
            status = try_words(job, s, count, words, output, &reading, became_no_data);
        } while (cli_rehearsal_again(&rehearsal, status));
        status = cli_rehearsal_end(&rehearsal, status);
    }
    return status;
}

/* Several files for x: the words of one run, whose second is its file. */
typedef struct map_batch {
    const map_settings *s;
    int count;
    char *words[2 + MAP_INPUTS];
    int64_t became_no_data; /* elements of so many files */
    int64_t files;
} map_batch;

static tw_status run_one(void *self, cli_job *job, const char *input, const char *output)
{
    map_batch *batch = self;
    int64_t elements = 0;
    batch->words[1] = (char *)input;
    tw_status status = run_words(job, batch->s, batch->count, batch->words, output, &elements);
    if (status == TW_OK) {
        batch->became_no_data += elements;
        batch->files += elements > 0;
    }
    return status;
}

/* What is wrong with the options or the expression is said once, before any file. */
static tw_status check_words(cli_job *job, map_batch *batch, char *first)
{
    map_run run = {.job = job,
                   .s = batch->s,
                   .output = "/dev/null", /* some file that is no input */
                   .storage = TW_IMAGE_FILE_OPTIONS_INIT,
                   .opts = TW_MAP_OPTIONS_INIT};
    batch->words[1] = first;
    tw_status status = map_read_words(&run, batch->count, batch->words);
    if (status == TW_OK) {
        status = map_read_expression(&run);
    }
    tw_expr_destroy(run.expr);
    map_close_files(&run);
    return status;
}

/* The files of the named inputs, which all runs read. */
static tw_status list_named(cli_job *job, const map_batch *batch, cli_file *out, int *count)
{
    for (*count = 0; *count < batch->count - 2; (*count)++) {
        const char *word = strchr(batch->words[2 + *count], '=') + 1;
        out[*count] = (cli_file){"the input", strndup(word, cli_band_path_length(word))};
        if (out[*count].path == NULL) {
            return tw_fail(job->ctx, TW_ERR_MEMORY, "not enough memory for the name of a file");
        }
    }
    return TW_OK;
}

static tw_status run_batch(cli_job *job, const map_settings *s, int count, char **words)
{
    cli_file named[MAP_INPUTS];
    map_batch batch = {.s = s, .count = 2, .words = {words[0]}};
    cli_batch where = {.folder = s->out_dir,
                       .format = s->out_format,
                       .others = named,
                       .storage = &s->storage,
                       .json = s->common.json != 0};
    int files = 0;
    tw_status status = cli_batch_check(job, s->output, NULL);
    for (int i = 1; i < count && status == TW_OK; i++) {
        if (!map_is_named(words[i])) {
            words[1 + files++] = words[i]; /* in the place of one that was looked at */
        } else if (batch.count == 2 + MAP_INPUTS - 1) {
            status = tw_fail(job->ctx, TW_ERR_ARGUMENT, "more than %d inputs", MAP_INPUTS);
        } else {
            batch.words[batch.count++] = words[i];
        }
    }
    if (status == TW_OK && files == 0) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "--out-dir needs inputs without a name, which are x one after the other");
    }
    if (status == TW_OK) {
        status = check_words(job, &batch, words[1]);
    }
    if (status == TW_OK) {
        status = list_named(job, &batch, named, &where.other_count);
    }
    if (status == TW_OK) {
        status = cli_batch_run(job, &where, files, words + 1, run_one, &batch);
    }
    if (batch.files > 0) {
        cli_say(job,
                "%lld element%s of %lld file%s became no data though every input has data there; "
                "--json counts them for each file",
                (long long)batch.became_no_data, batch.became_no_data == 1 ? "" : "s",
                (long long)batch.files, batch.files == 1 ? "" : "s");
    }
    while (where.other_count > 0) {
        free((char *)named[--where.other_count].path);
    }
    return status;
}

static tw_status run_map(cli_job *job, const void *given, int count, char **words)
{
    const map_settings *s = given;
    int64_t ignored = 0;
    tw_status status = cli_begin(job, &s->common);
    if (status != TW_OK) {
        return status;
    }
    return s->out_dir != NULL ? run_batch(job, s, count, words)
                              : run_words(job, s, count, words, NULL, &ignored);
}

const cli_command cli_map = {
    .name = "map",
    .usage = "EXPR IN [OUT]",
    .summary = "evaluate an expression at every element of arrays or images",
    .text =
        "Computes an expression at every element. It is written as in C: numbers, x and the other "
        "inputs by name, row col rows cols (from 0), pi e inf nan, + - * / %, ^ or ** for powers, "
        "comparisons, && || !, c ? a : b and where(c, a, b), and the functions abs sqrt cbrt exp "
        "exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh "
        "atanh floor ceil round rint trunc sign isnan isinf isfinite fmod pow atan2 hypot copysign "
        "nextafter min max clamp.\n"
        "Arithmetic is f32 or f64: 1/0 is inf, never an error; comparisons give 1 or 0; % takes "
        "the "
        "sign of its left side. Every function is within 1 unit in the last place (3.5 with "
        "--fast; 2 or 3 in f64 on a GPU), "
        "and the result has the same bits for any number of threads. What depends on row % k or "
        "col "
        "% k costs only the branch taken; inputs of 8 and 16 bits become tables where that is "
        "faster.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 2,
    .most = CLI_BATCH_MOST,
    .expression = true,
    .settings_size = sizeof(map_settings),
    .defaults = &defaults,
    .run = run_map,
};
