/*
 * tilewright entropy: the local entropy of an array or image. Planes go one by one, and files take
 * their rows as they are made.
 */
#include "cli/image/batch.h"
#include "cli/image/entropy_run.h"
#include "cli/image/light.h"
#include "cli/image/rehearsal.h"
#include "cli/shared/commands.h"
#include "cli/shared/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERIFY_ELEMENTS 1000

static const entropy_settings defaults = {.common = CLI_COMMON_INIT,
                                          .window = "5",
                                          .radius = -1,
                                          .levels = 256,
                                          .border = "crop",
                                          .base = "e",
                                          .type = TW_F32,
                                          .plane = -1,
                                          .storage = {-1, NULL},
                                          .verify = -1};

static const cli_option window_options[] = {
    {"window", 'w', CLI_TEXT, "K", offsetof(entropy_settings, window), 0,
     "The window: K x K elements, or COLSxROWS such as 7x3; 5 by default. An even side "
     "extends one element further up or left."},
    {"radius", 0, CLI_COUNT, "R", offsetof(entropy_settings, radius), 0,
     "Use a disk instead: all elements within a distance of R from the centre."},
    {"footprint", 0, CLI_TEXT, "FILE", offsetof(entropy_settings, footprint), 0,
     "Use any shape instead: the nonzero elements of FILE, a u8 image."},
    {"anchor", 0, CLI_TEXT, "ROW,COL", offsetof(entropy_settings, anchor), 0,
     "The element of the footprint that lies on the centre, counted from 0; its middle by "
     "default."},
    {"border", 0, CLI_TEXT, "BORDER", offsetof(entropy_settings, border), 0,
     "crop (only elements inside count; the default), reflect, symmetric, clamp, wrap, or valid "
     "(only windows that lie inside; the result is smaller)."},
    {0}};

static const cli_option value_options[] = {
    {"levels", 'l', CLI_COUNT, "N", offsetof(entropy_settings, levels), 0,
     "Values are levels 0 to N-1, N from 2 to 65536; 256 by default. A 16-bit image needs "
     "65536, or --range."},
    {"range", 0, CLI_TEXT, "LO:HI", offsetof(entropy_settings, range), 0,
     "Put values from LO to HI into N equal bins, HI itself into the last. auto takes the minimum "
     "and maximum of the values that count; the input is then read twice."},
    {"mask", 0, CLI_TEXT, "FILE", offsetof(entropy_settings, mask), 0,
     "Ignore elements where FILE, a u8 image of the same size, is 0."},
    {"no-data", 0, CLI_TEXT, "VALUE", offsetof(entropy_settings, no_data), 0,
     "Ignore elements equal to VALUE; nan is the same as --skip-nan. By default the no-data value "
     "that a GeoTIFF declares; none ignores that. Where no element of a window counts the result "
     "is "
     "NaN, which a .tif declares as its no-data value."},
    {"skip-nan", 0, CLI_FLAG, NULL, offsetof(entropy_settings, skip_nan), 1,
     "Ignore NaN, in addition to --no-data; without this option NaN is an error."},
    {"base", 0, CLI_TEXT, "BASE", offsetof(entropy_settings, base), 0,
     "Base of the logarithm: e (the default), 2, 10, or levels, which gives values from 0 to 1. "
     "scikit-image's rank.entropy and MATLAB's entropyfilt use base 2, the latter with a 9 x 9 "
     "window and a symmetric border."},
    {"type", 0, CLI_TYPE, "TYPE", offsetof(entropy_settings, type), CLI_FLOAT_TYPES,
     "The type of the result: f32 (the default), within 1 ulp of the exact entropy, or f64, within "
     "2, which takes several times as long and goes into npy, raw and csv."},
    {"plane", 0, CLI_COUNT, "P", offsetof(entropy_settings, plane), 0,
     "Take only plane P, counted from 0: a colour, band, page or record. By default all are taken "
     "except an alpha channel, which is copied into a .png or .tif of its type and left out "
     "otherwise."},
    {"grey", 0, CLI_FLAG, NULL, offsetof(entropy_settings, grey), 1,
     "Take the luminance of a colour image, 0.2126 red + 0.7152 green + 0.0722 blue, rounded if "
     "its elements are integers, instead of each colour."},
    {0}};

static const cli_option format_options[] = {
    {"output", 'o', CLI_TEXT, "OUT", offsetof(entropy_settings, output), 0,
     "The same as OUT, but replaces whatever is there."},
    {"out-dir", 0, CLI_TEXT, "FOLDER", offsetof(entropy_settings, out_dir), 0,
     "Take all operands as inputs, and write their results into FOLDER under the same names, with "
     "the extension of --out-format if given; results of JPEG files are .png. If a file fails, "
     "that is reported and the others are still processed; the exit status is then 2, or 1 if only "
     "checks failed. Earlier results are replaced; other images are not. --json prints one report "
     "of all files."},
    CLI_STORAGE_OPTIONS(entropy_settings),
    {"out-type", 0, CLI_TYPE, "TYPE", offsetof(entropy_settings, out_type), CLI_ENTROPY_TYPES,
     "The type of OUT's elements: f32 (the default), f16, or u8 or u16, scaled so that the largest "
     "possible entropy is 255 or 65535. The default for pgm, ppm and png is u8."},
    {"verify", 0, CLI_OPTIONAL_COUNT, "K", offsetof(entropy_settings, verify), VERIFY_ELEMENTS,
     "Recompute K elements of each plane (1000 if no number is given, 0: all) from the definition; "
     "if one differs, write nothing and exit with status 1."},
    {"explain", 0, CLI_FLAG, NULL, offsetof(entropy_settings, explain), 1,
     "Explain the method, the memory needed and the expected rate. Nothing is computed unless OUT, "
     "--preview or --verify is also given."},
    {"preview", 0, CLI_TEXT, "FILE", offsetof(entropy_settings, preview), 0,
     "Also draw the result as an image, a .png, .ppm or .tif, dark where it is 0 and bright at the "
     "maximum; large results are downsampled."},
    {"in-format", 0, CLI_TEXT, "FORMAT", offsetof(entropy_settings, in_format), 0,
     "npy, pnm, pfm, png, tiff, jpeg or records; default: chosen by extension, or by content if "
     "the extension is missing or unknown."},
    {"out-format", 0, CLI_TEXT, "FORMAT", offsetof(entropy_settings, out_format), 0,
     "npy, raw or csv for one plane, pnm and pfm for one or three, png for one to four, tiff "
     "(bands or pages) and records (text, five decimals) for any number; default: chosen by "
     "extension, where .raw, .bin, .out and none mean raw."},
    {0}};

static const cli_group groups[] = {{"Window", window_options},
                                   {"Values", value_options},
                                   {"Formats", format_options},
                                   {"Machine", cli_device_options},
                                   {"Resources", cli_resource_options},
                                   {"Messages", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"IN",
     "An array or image: .npy, .pgm, .ppm, .pfm, .png, .tif, .jpg or .records. Elements of f64 and "
     "integers of more than 16 bits are rounded to f32. FILE[P] is plane P of it, by number from 0 "
     "or by the name that a GeoTIFF gives a band. With --out-dir there may be several."},
    {"OUT", "The output file; without it a summary is printed. '-' is standard output. A .tif "
            "keeps the georeferencing and the metadata of IN, if that is a GeoTIFF. An image of "
            "the same kind as IN is replaced only with -o, because it may be meant as another "
            "input; one with fractions where IN has none is an earlier result and is replaced."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright entropy photo.pgm texture.npy --window 9", "texture of a grey image"},
    {"tilewright entropy map.npy out.pfm --levels 16 --radius 5 --base 2",
     "16 levels in a disk, in bits"},
    {"tilewright entropy scan.png --preview texture.png", "statistics, and a picture to look at"},
    {"tilewright entropy sar.tif texture.tif --range auto --base 2",
     "16-bit values in 256 bins, in bits as other programs report it"},
    {"tilewright entropy tiles/*.tif --out-dir texture --tiff deflate,predictor",
     "many files, compressed"},
    {"tilewright entropy field.npy out.npy --range=-1:1 --levels 64 --skip-nan",
     "floats in 64 bins, NaN left out"},
    {NULL, NULL}};

/* ------------------------------------------------------------------------------------- the run */

/* Whether OUT is of one of these formats, named or by its extension. */
static bool writes(const entropy_run *run, const char *const *formats)
{
    return cli_writes(run->output, run->s->out_format, formats);
}

static tw_status check_preview(const entropy_run *run)
{
    static const char *const drawn[] = {"png", "ppm", "pnm", "tiff", "tif", NULL};
    const char *preview = run->s->preview;
    if (preview == NULL) {
        return TW_OK;
    }
    if (run->s->type == TW_F64) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--preview needs --type f32");
    }
    return cli_writes(preview, NULL, drawn)
               ? TW_OK
               : tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                         "--preview '%.300s': use .png, .ppm or .tif", preview);
}

/* How OUT is written: as it comes or as a whole, and its type. */
static tw_status choose_output(entropy_run *run)
{
    static const char *const pictures[] = {"pfm", "records", "pnm", "pgm", "ppm",
                                           "png", "tiff",    "tif", NULL};
    static const char *const text[] = {"csv", NULL};
    static const char *const eight[] = {"pnm", "pgm", "ppm", "png", NULL};
    const tw_type asked = run->s->out_type;
    if (run->output == NULL) {
        return asked == TW_AUTO ? TW_OK
                                : tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                                          "--out-type has no effect without OUT");
    }
    tw_status status = cli_check_array_output(run->job->ctx, run->output, run->s->out_format);
    if (status != TW_OK) {
        return status;
    }
    run->picture = writes(run, pictures);
    run->as_image = run->picture;
    run->tiff = cli_writes_tiff(run->output, run->s->out_format);
    if (run->s->type == TW_F64) {
        run->type = TW_F64;
        return !run->picture && (asked == TW_AUTO || asked == TW_F64)
                   ? TW_OK
                   : tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                             "--type f64 goes into npy, raw and csv files as it is; use --type f32 "
                             "for other files and for --out-type");
    }
    run->type = asked != TW_AUTO ? asked : writes(run, eight) ? TW_U8 : TW_F32;
    if (run->type == TW_F64) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--out-type f64: use --type f64");
    }
    if (run->type != TW_F32 && run->type != TW_F16 && run->type != TW_U8 && run->type != TW_U16) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                       "--out-type %s is not supported; use f32, f16, u8 or u16",
                       tw_type_name(run->type));
    }
    if (run->type != TW_F32 && writes(run, text)) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "csv holds f32, not %s",
                       tw_type_name(run->type));
    }
    if (run->type == TW_F16 && run->picture) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "f16 goes into npy and raw files only");
    }
    return TW_OK;
}

/* The sinks of one plane: the statistics, the preview, and OUT, scaled if need be. */
typedef struct plane_sinks {
    tw_sink list[3];
    int32_t count;
    tw_sink target; /* what a scaling sink writes into */
} plane_sinks;

/* The element of IN that the first of the result is about. */
static void find_first(const entropy_run *run, int64_t *row, int64_t *col)
{
    const tw_entropy_options *o = &run->opts;
    if (o->border != TW_ENTROPY_BORDER_VALID) {
        return;
    }
    *row = o->window_rows / 2;
    *col = o->window_cols / 2;
    if (o->footprint != NULL) {
        *row = o->anchor_row < 0 ? o->footprint->rows / 2 : o->anchor_row;
        *col = o->anchor_col < 0 ? o->footprint->cols / 2 : o->anchor_col;
    } else if (o->radius >= 0) {
        *row = *col = o->radius;
    }
}

/* OUT of one file for all planes: opened for the first. */
static tw_status open_file(entropy_run *run)
{
    tw_image_file_options *opts = &run->storage;
    if (run->file.rows != NULL) {
        return TW_OK;
    }
    opts->format = run->s->out_format;
    opts->planes = run->planes + (run->alpha ? cli_raster_alphas(&run->in) : 0);
    if (run->tiff) {
        const bool real = run->type == TW_F32 || run->type == TW_F64;
        const bool holes =
            run->opts.no_data != NULL || run->opts.mask != NULL || run->opts.skip_nan != 0;
        opts->bands = cli_raster_bands(&run->in, opts->planes, run->layout);
        opts->tags = run->in.tags;
        opts->first_plane = run->in.mixes ? -1 : run->in.first;
        opts->place_plane = cli_raster_place(&run->in);
        opts->no_data = real && holes ? &run->empty : NULL;
        opts->colours = run->in.info.colours && run->planes >= 3 && run->in.planes == run->planes;
        opts->alpha = run->alpha;
        find_first(run, &opts->first_row, &opts->first_col);
    }
    return tw_sink_to_image_planes(run->job->ctx, &run->file, run->output, opts);
}

/* The opacity that stands before this plane in OUT, if it does. */
static tw_status feed_alpha(entropy_run *run, int64_t number)
{
    return run->alpha ? cli_raster_feed_alpha(run->job, &run->in, number, !run->tiff, &run->file)
                      : TW_OK;
}

static tw_status open_output(entropy_run *run, plane_sinks *sinks, int64_t number)
{
    tw_context *ctx = run->job->ctx;
    tw_sink *out = &sinks->list[sinks->count];
    const tw_sink *target = &sinks->target;
    tw_status status = TW_OK;
    if (run->as_image) {
        status = open_file(run);
        if (status == TW_OK) {
            status = feed_alpha(run, number);
        }
        target = &run->file;
    } else {
        status = tw_sink_to_file(ctx, &sinks->target, run->output, run->s->out_format);
    }
    if (status == TW_OK && run->type != run->s->type) {
        tw_sink inner = *target; /* which stays its owner's */
        status = tw_sink_scaled(ctx, out, &inner, run->type, run->most);
    } else if (status == TW_OK) {
        *out = *target;
        out->destroy = NULL;
    }
    sinks->count += status == TW_OK;
    return status;
}

/* One plane: as it lies in memory, or a source of its rows. */
typedef struct plane {
    const tw_matrix *matrix; /* NULL: the source */
    tw_source source;
} plane;

/* The plane, and a plan for it: that of the plane before, if it was of the same shape. */
static tw_status open_plane(entropy_run *run, int64_t number, plane *out)
{
    tw_context *ctx = run->job->ctx;
    tw_entropy_plan_info info = TW_ENTROPY_PLAN_INFO_INIT;
    const double started = cli_seconds();
    tw_status status = cli_raster_plane(run->job, &run->in, number, &out->matrix, &out->source);
    run->seconds_read += cli_seconds() - started;
    if (status != TW_OK) {
        return status;
    }
    const tw_shape *of = &out->source.shape;
    const tw_shape shape =
        out->matrix == NULL ? *of
                            : (tw_shape){out->matrix->rows, out->matrix->cols, out->matrix->type};
    if (run->s->skip_nan && number == 0 && shape.type != TW_F32) {
        cli_say(run->job, "--skip-nan has no effect on %s: integers are never NaN", run->input);
    }
    if (run->plan != NULL && shape.rows == run->planned.rows && shape.cols == run->planned.cols &&
        shape.type == run->planned.type) {
        return TW_OK;
    }
    tw_entropy_plan_destroy(run->plan);
    run->plan = NULL;
    run->planned = shape;
    status = tw_entropy_plan_create(ctx, &run->plan, &shape, &run->opts);
    if (status == TW_OK) {
        status = tw_entropy_plan_describe(run->plan, &info);
    }
    run->shape = info.shape;
    run->most = info.largest > 0 ? info.largest : 1; /* of a window of one element: all is 0 */
    return status;
}

static tw_status compute_plane(entropy_run *run, const plane *p, int64_t number)
{
    tw_context *ctx = run->job->ctx;
    plane_sinks sinks = {
        .list = {TW_SINK_INIT, TW_SINK_INIT, TW_SINK_INIT}, .count = 1, .target = TW_SINK_INIT};
    tw_status status = TW_OK;
    cli_tally_sink(&run->seen, &sinks.list[0]);
    if (run->s->preview != NULL) {
        status = tw_sink_to_preview(ctx, &sinks.list[1], run->s->preview, run->most);
        sinks.count += status == TW_OK;
    }
    if (status == TW_OK && run->output != NULL) {
        status = open_output(run, &sinks, number);
    }
    if (status == TW_OK) {
        status = p->matrix != NULL ? tw_entropy_plan_run(ctx, run->plan, p->matrix, sinks.list,
                                                         sinks.count, &run->report)
                                   : tw_entropy_plan_stream(ctx, run->plan, &p->source, sinks.list,
                                                            sinks.count, &run->report);
    }
    while (sinks.count > 1) {
        tw_sink_destroy(&sinks.list[--sinks.count]);
    }
    tw_sink_destroy(&sinks.target);
    run->seconds_read += run->report.seconds_read;
    run->seconds_compute += run->report.seconds_compute;
    run->seconds_verify += run->report.seconds_verify;
    run->seconds_output += run->report.seconds_output;
    run->verified += run->report.verified;
    return status;
}

/* What several planes cannot go into. */
static tw_status check_planes(entropy_run *run)
{
    static const char *const one[] = {"raw", "csv", NULL};
    static const char *const stack[] = {"npy", NULL};
    tw_context *ctx = run->job->ctx;
    if (run->planes == 1) {
        return TW_OK;
    }
    if (run->s->preview != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%.500s has %lld planes; choose the one for the preview with --plane",
                       run->input, (long long)run->planes);
    }
    if (run->output != NULL && !run->picture && (!writes(run, stack) || writes(run, one))) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "%.500s has %lld planes; choose one with --plane, or write npy, tiff, png, "
                       "pfm or records",
                       run->input, (long long)run->planes);
    }
    run->as_image = run->output != NULL;
    return TW_OK;
}

/* Whether the opacity of IN can stand beside the result: in the type and size of it. */
static tw_status choose_alpha(entropy_run *run)
{
    tw_shape shape;
    run->alpha = false;
    if (run->in.alpha < 0 || run->output == NULL) {
        return TW_OK;
    }
    tw_status status = cli_raster_alpha_shape(run->job, &run->in, &shape);
    if (status == TW_OK) {
        run->alpha = cli_writes_alpha(&run->in, run->output, run->s->out_format) &&
                     shape.type == run->type && run->opts.border != TW_ENTROPY_BORDER_VALID;
        if (!run->alpha) {
            cli_say(run->job, "the alpha channel of %s is left out", run->input);
        }
    }
    return status;
}

static bool only_explains(const entropy_run *run)
{
    const entropy_settings *s = run->s;
    return s->explain && run->output == NULL && s->preview == NULL && s->verify < 0;
}

/* Plan, explain if that is asked for, and compute, unless explaining was all that was. */
static tw_status take_plane(entropy_run *run, int64_t number, bool explain)
{
    plane p = {.source = TW_SOURCE_INIT};
    tw_status status = open_plane(run, number, &p);
    if (status == TW_OK && explain) {
        run->only_explained = only_explains(run);
        status = entropy_explain(run, run->only_explained ? stdout : stderr);
    }
    if (status == TW_OK && !run->only_explained) {
        status = compute_plane(run, &p, number);
    }
    tw_source_destroy(&p.source);
    return status;
}

/* --range auto: the extremes of what counts in the planes that are computed. */
static tw_status find_range(entropy_run *run)
{
    tw_context *ctx = run->job->ctx;
    cli_tally seen = {
        .has_no_data = run->opts.no_data != NULL, .no_data = run->no_data, .mask = run->opts.mask};
    tw_status status = TW_OK;
    for (int64_t k = 0; k < run->planes && status == TW_OK && run->reading != CLI_REHEARSED; k++) {
        plane p = {.source = TW_SOURCE_INIT};
        tw_sink sink = TW_SINK_INIT;
        cli_tally_sink(&seen, &sink);
        status = cli_raster_plane(run->job, &run->in, k, &p.matrix, &p.source);
        if (status == TW_OK) {
            status = p.matrix != NULL ? tw_feed(ctx, p.matrix, &sink, 1)
                                      : tw_feed_source(ctx, &p.source, &sink, 1);
        }
        tw_source_destroy(&p.source);
    }
    run->range[0] = seen.count > 0 ? seen.least : 0;
    run->range[1] = seen.count > 0 ? seen.most : 1;
    if (status == TW_OK && (isinf(run->range[0]) || isinf(run->range[1]))) {
        status = tw_fail(ctx, TW_ERR_RANGE,
                         "--range auto: %.500s has infinite values; use --range LO:HI, --mask or "
                         "--no-data",
                         run->input);
    }
    if (status == TW_OK) {
        char low[CLI_SHOWN], high[CLI_SHOWN];
        cli_say(run->job, "values from %s to %s are put into %d bins",
                cli_show_value(low, run->range[0]), cli_show_value(high, run->range[1]),
                run->opts.levels);
    }
    if (!(run->range[1] > run->range[0])) { /* one value: any bin will do */
        run->range[1] = run->range[0] + fmax(1, fabs(run->range[0]));
    }
    run->opts.range = run->range;
    return status;
}

static tw_status compute(entropy_run *run)
{
    run->planes = run->in.planes;
    tw_status status = check_planes(run);
    if (status == TW_OK) {
        status = choose_alpha(run);
    }
    if (status == TW_OK && run->output != NULL) {
        cli_raster_tell_light(run->job, &run->in, NULL, false);
    }
    if (status == TW_OK && run->s->range != NULL && strcmp(run->s->range, "auto") == 0) {
        status = find_range(run);
    }
    for (int64_t k = 0; k < run->planes && status == TW_OK && !run->only_explained; k++) {
        status = take_plane(run, k, run->s->explain && k == 0 && run->reading == 0);
    }
    if (status == TW_OK && !run->only_explained) { /* it may follow the result */
        status = feed_alpha(run, run->planes);
    }
    return status;
}

/* Read the image, unless that would take more than half of the memory: then its rows are read as
 * they are needed. */
static tw_status read_input(entropy_run *run)
{
    const uint64_t limit = tw_memory_limit(run->job->ctx);
    const entropy_settings *s = run->s;
    char wants[CLI_SHOWN], has[CLI_SHOWN], value[CLI_SHOWN];
    double started = cli_seconds();
    run->in = (cli_raster){.path = run->path,
                           .format = s->in_format,
                           .plane = s->plane,
                           .band = run->band,
                           .grey = s->grey != 0,
                           .narrow = true,
                           .described = only_explains(run),
                           .reading = run->reading};
    tw_status status = cli_raster_open(run->job, &run->in);
    if (status == TW_OK && run->in.planes == 0) {
        status = tw_fail(run->job->ctx, TW_ERR_FORMAT,
                         "%.500s has no planes: there is nothing to compute", run->input);
    }
    if (status != TW_OK) {
        return status;
    }
    if (run->in.image == NULL) {
        cli_say(run->job, "%s would take %s of the %s of memory: reading it in bands of rows",
                run->input, cli_show_bytes(wants, (double)run->in.bytes),
                cli_show_bytes(has, (double)limit));
    } else {
        run->seconds_read = cli_seconds() - started;
    }
    if (s->no_data == NULL && run->in.info.has_no_data) {
        run->no_data = run->in.info.no_data;
        run->opts.no_data = &run->no_data;
        cli_say(run->job, "%s: %s means no data", run->input, cli_show_value(value, run->no_data));
    }
    run->stored_no_data = run->no_data;
    run->in.no_data = run->opts.no_data != NULL ? &run->stored_no_data : NULL;
    run->no_data = (double)(float)run->no_data; /* as elements are: 0.1 is not 0.1f */
    return TW_OK;
}

/* FILE and BAND of the input. */
static tw_status split_input(entropy_run *run)
{
    const size_t length = cli_band_path_length(run->input);
    run->path = strdup(run->input);
    if (run->path == NULL) {
        return tw_fail(run->job->ctx, TW_ERR_MEMORY, "not enough memory for the name of a file");
    }
    if (run->path[length] == '\0') {
        return TW_OK;
    }
    run->path[strlen(run->path) - 1] = '\0';
    run->path[length] = '\0';
    run->band = run->path + length + 1;
    tw_status status = cli_refuse(run->job, "plane", "on inputs whose plane is given in brackets");
    return status == TW_OK
               ? cli_refuse(run->job, "grey", "on inputs whose plane is given in brackets")
               : status;
}

/* Nothing is computed in place: who wants the image replaced can rename the result. */
static tw_status check_files(const entropy_run *run)
{
    const cli_file inputs[] = {
        {"IN", run->path}, {"--mask", run->s->mask}, {"--footprint", run->s->footprint}};
    const cli_file outputs[] = {{"OUT", run->output}, {"--preview", run->s->preview}};
    tw_status status = cli_check_files(run->job->ctx, inputs, 3, outputs, 2);
    const bool named = run->s->output != NULL || run->s->out_dir != NULL;
    return status == TW_OK && run->output != NULL && !named
               ? cli_check_operand(run->job->ctx, run->output, run->path)
               : status;
}

/* One input, all checked that can be before it is read. */
static tw_status run_file(entropy_run *run)
{
    const entropy_settings *s = run->s;
    const bool quiet = run->job->quiet;
    run->job->quiet = quiet || run->reading != 0;
    tw_status status = split_input(run);
    if (status == TW_OK && run->reading == CLI_REHEARSED) {
        status = cli_rehearsal_output(run->job, &run->output);
    }
    if (status == TW_OK) {
        status = check_files(run);
    }
    if (status == TW_OK) {
        status = check_preview(run);
    }
    if (status == TW_OK) {
        status = choose_output(run);
    }
    if (status == TW_OK) {
        status = cli_read_storage(run->job, &s->storage, run->output, s->out_format,
                                  s->out_dir != NULL, &run->storage, &run->layout);
    }
    if (status == TW_OK) {
        cli_watch_file(&run->watches[0], run->path);
        cli_watch_file(&run->watches[1], s->mask);
        status = entropy_read_options(run);
    }
    if (status == TW_OK) {
        status = read_input(run);
    }
    if (status == TW_OK) {
        status = cli_watched(run->job->ctx, run->watches, 2, compute(run));
    }
    run->job->quiet = quiet;
    if (status == TW_OK && !run->only_explained) {
        entropy_conclude(run);
    }
    const cli_raster *inputs[] = {&run->in};
    run->reading = cli_raster_retry(inputs, 1, status, run->output);
    tw_sink_destroy(&run->file);
    tw_entropy_plan_destroy(run->plan);
    cli_raster_close(&run->in);
    tw_image_destroy(run->mask);
    tw_image_destroy(run->footprint);
    free(run->path);
    return status;
}

/* A try; *reading is how IN is read, and becomes how to read it in another try, or 0. */
static tw_status try_one(const entropy_settings *s, cli_job *job, const char *input,
                         const char *output, char *reading)
{
    entropy_run run = {.job = job,
                       .s = s,
                       .input = input,
                       .output = output,
                       .reading = *reading,
                       .empty = (double)NAN,
                       .storage = TW_IMAGE_FILE_OPTIONS_INIT,
                       .file = TW_SINK_INIT,
                       .opts = TW_ENTROPY_OPTIONS_INIT,
                       .report = TW_ENTROPY_REPORT_INIT};
    tw_status status = run_file(&run);
    *reading = run.reading;
    return status;
}

static tw_status run_one(void *self, cli_job *job, const char *input, const char *output)
{
    char reading = 0, sentence[1024];
    tw_status status = try_one(self, job, input, output, &reading);
    while (reading != 0) {
        const char other = reading;
        snprintf(sentence, sizeof sentence, "%s", tw_last_error(job->ctx));
        status = try_one(self, job, input, output, &reading);
        status = cli_raster_retried(job, other, sentence, status);
    }
    cli_rehearsal rehearsal;
    if (cli_rehearsal_begin(&rehearsal, job, status)) {
        do {
            reading = CLI_REHEARSED;
            status = try_one(self, job, input, output, &reading);
        } while (cli_rehearsal_again(&rehearsal, status));
        status = cli_rehearsal_end(&rehearsal, status);
    }
    return status;
}

/* Several inputs. What is wrong with the options is said once, before any of them. */
static tw_status run_batch(cli_job *job, const entropy_settings *s, int count, char **words)
{
    const cli_file others[] = {{"--mask", s->mask}, {"--footprint", s->footprint}};
    const cli_batch batch = {.folder = s->out_dir,
                             .format = s->out_format,
                             .others = others,
                             .other_count = 2,
                             .storage = &s->storage,
                             .json = s->common.json != 0};
    entropy_run run = {.job = job, .s = s, .opts = TW_ENTROPY_OPTIONS_INIT};
    tw_status status = cli_batch_check(job, s->output, s->preview);
    if (status == TW_OK) {
        status = entropy_check_options(&run);
    }
    return status == TW_OK ? cli_batch_run(job, &batch, count, words, run_one, (void *)s) : status;
}

static tw_status run_entropy(cli_job *job, const void *given, int count, char **words)
{
    const entropy_settings *s = given;
    const char *output = NULL;
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK && s->out_dir != NULL) {
        return run_batch(job, s, count, words);
    }
    if (status == TW_OK && count > 2) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "unexpected file '%.200s': entropy takes IN and OUT, or several inputs "
                         "with --out-dir",
                         words[2]);
    }
    if (status == TW_OK) {
        status = cli_choose_output(job, &output, count > 1 ? words[1] : NULL, s->output);
    }
    if (status == TW_OK && output == NULL && s->out_format != NULL) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT, "--out-format has no effect without OUT");
    }
    return status == TW_OK ? run_one((void *)s, job, words[0], output) : status;
}

const cli_command cli_entropy = {
    .name = "entropy",
    .usage = "IN [OUT]",
    .summary = "compute local entropy: how varied each part of an array or image is",
    .text = "Computes for each element the Shannon entropy of the values in the window around it: "
            "0 where all are equal, the logarithm of the number of levels where all levels are "
            "equally frequent.\n"
            "The result has the same bits on every machine, for every instruction set and any "
            "number of threads, and is within 1 ulp of the exact entropy (--type f64: within 2).",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 1,
    .most = CLI_BATCH_MOST,
    .settings_size = sizeof(entropy_settings),
    .defaults = &defaults,
    .run = run_entropy,
};
