/*
 * Where the result of tilewright map goes: its format, and the sinks around the one that writes it.
 */
#include "cli/image/light.h"
#include "cli/image/map_run.h"
#include "cli/shared/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------- formats */

/* Whether OUT is of one of these formats, named or by its extension. */
static bool writes(const map_run *run, const char *const *formats)
{
    return run->output != NULL && cli_writes(run->output, run->s->out_format, formats);
}

/* The type of an input. */
static tw_status type_of(map_run *run, map_input *input, tw_type *out)
{
    const tw_matrix *matrix = NULL;
    tw_source source = TW_SOURCE_INIT;
    tw_status status = cli_raster_plane(run->job, &input->in, 0, &matrix, &source);
    *out = matrix != NULL ? matrix->type : source.shape.type;
    tw_source_destroy(&source);
    return status;
}

/* Whether an element of this type can be `value`. */
static bool can_be(tw_type type, double value)
{
    const double least = type == TW_I16 ? INT16_MIN : type == TW_I32 ? INT32_MIN : 0;
    const double most = type == TW_U8    ? UINT8_MAX
                        : type == TW_U16 ? UINT16_MAX
                        : type == TW_I16 ? INT16_MAX
                                         : INT32_MAX;
    if (type == TW_AUTO || type == TW_F16 || type == TW_F32 || type == TW_F64) {
        return true;
    }
    return value >= least && value <= most && value == rint(value);
}

/* A no-data value that the files name need not be one that the result can hold: -9999 of bytes,
 * which marks nothing, is common. */
static tw_status check_no_data(map_run *run)
{
    const char *path = NULL;
    char value[CLI_SHOWN];
    bool occurs = false;
    if (run->s->no_data != NULL || run->opts.no_data == NULL) {
        return TW_OK;
    }
    cli_show_value(value, run->no_data);
    for (int32_t i = 0; i < run->input_count; i++) {
        tw_type type = TW_AUTO;
        map_input *in = &run->inputs[i];
        if (!in->in.info.has_no_data) {
            continue;
        }
        tw_status status = type_of(run, in, &type);
        if (status != TW_OK) {
            return status;
        }
        path = path == NULL || (!occurs && can_be(type, run->no_data)) ? in->path : path;
        occurs = occurs || can_be(type, run->no_data);
    }
    if (can_be(run->opts.type, run->no_data)) {
        cli_say(run->job, "%s: %s means no data", path, value);
        return TW_OK;
    }
    if (occurs) {
        return tw_fail(run->job->ctx, TW_ERR_RANGE,
                       "%.500s: its no-data value %s does not fit the result type %s; use another "
                       "--out-type, or --no-data none",
                       path, value, tw_type_name(run->opts.type));
    }
    cli_say(run->job, "%s: no element can be its no-data value %s, which is ignored", path, value);
    run->opts.no_data = NULL;
    return TW_OK;
}

tw_status map_choose_output(map_run *run)
{
    static const char *const images[] = {"records", "pnm",  "pgm", "ppm", "pfm",
                                         "png",     "tiff", "tif", NULL};
    static const char *const real[] = {"pfm", NULL};
    static const char *const stacks[] = {"npy", NULL};
    static const char *const integral[] = {"pnm", "pgm", "ppm", "png", NULL};
    static const char *const text[] = {"csv", NULL};
    tw_type first = TW_AUTO;
    tw_status status = type_of(run, &run->inputs[0], &first);
    run->as_image = writes(run, images) || (run->planes > 1 && writes(run, stacks));
    run->as_text = writes(run, text);
    run->opts.type = run->s->out_type;
    if (run->s->out_type == TW_AUTO && writes(run, real)) {
        run->opts.type = TW_F32;
    } else if (run->s->out_type == TW_AUTO && writes(run, integral)) {
        run->opts.type = first == TW_U8 || first == TW_U16 ? first : TW_U8;
    }
    return status == TW_OK ? check_no_data(run) : status;
}

tw_status map_choose_alpha(map_run *run)
{
    cli_raster *in = &run->inputs[0].in;
    tw_shape shape;
    for (int32_t i = 0; i < run->input_count && run->input_count > 1 && run->output != NULL; i++) {
        if (run->inputs[i].in.alpha >= 0) { /* whose it would be, nobody knows */
            cli_say(run->job, "the alpha channel of %s is left out", run->inputs[i].path);
        }
    }
    if (run->input_count != 1 || in->alpha < 0 || run->output == NULL) {
        return TW_OK;
    }
    tw_status status = cli_raster_alpha_shape(run->job, in, &shape);
    if (status != TW_OK) {
        return status;
    }
    run->alpha =
        cli_writes_alpha(in, run->output, run->s->out_format) && shape.type == run->plan.shape.type;
    if (!run->alpha) {
        cli_say(run->job, "the alpha channel of %s is left out", in->path);
    }
    return TW_OK;
}

/* Whether the expression is the name of the only input, brackets aside. */
static bool is_copy(const map_run *run)
{
    const char *const name = run->inputs[0].name;
    const char *begin = run->text + strspn(run->text, " \t\r\n(");
    return run->input_count == 1 && !run->inputs[0].in.mixes &&
           strncmp(begin, name, strlen(name)) == 0 &&
           begin[strlen(name) + strspn(begin + strlen(name), " \t\r\n)")] == '\0';
}

void map_tell_light(const map_run *run)
{
    static const char *const pictures[] = {"tiff", "tif", "png", "pnm", "pgm", "ppm", NULL};
    const bool tiff = cli_writes_tiff(run->output, run->s->out_format);
    const bool copy = is_copy(run) && tiff;
    if (!writes(run, pictures)) {
        return;
    }
    for (int32_t i = 0; i < run->input_count; i++) {
        const cli_raster *in = &run->inputs[i].in;
        const tw_type type = run->plan.shape.type, was = in->shape.type;
        if (!copy || (in->info.colour_table && type != was && type != TW_U16)) {
            cli_raster_tell_light(run->job, in,
                                  !copy           ? NULL
                                  : was == TW_U16 ? "--out-type u16 keeps it"
                                                  : "--out-type u8 keeps it",
                                  true);
        }
    }
}

/* Whether an input has the size of the result. */
static bool fits(const map_run *run, int32_t i)
{
    const tw_shape *result = &run->plan.shape;
    return run->shapes[i].rows == result->rows && run->shapes[i].cols == result->cols;
}

/* The input that the tags are those of: of those of the size of the result that say where they lie
 * the one whose bands become those of the result, or the first; if there is none, the first input,
 * unless that lies where the result does not. */
static const cli_raster *choose_tags(const map_run *run, const cli_raster *stack)
{
    const cli_raster *first = &run->inputs[0].in;
    int32_t found = -1;
    for (int32_t i = 0; i < run->input_count; i++) {
        const cli_raster *in = &run->inputs[i].in;
        if (fits(run, i) && in->info.has_place && (found < 0 || in == stack)) {
            found = i;
        }
    }
    if (found > 0) {
        cli_say(run->job, "the georeferencing and metadata are those of %s",
                run->inputs[found].in.path);
    }
    if (found >= 0) {
        return &run->inputs[found].in;
    }
    if (first->info.has_place && !fits(run, 0)) {
        cli_say(run->job, "the georeferencing and metadata of %s, which is repeated, are left out",
                first->path);
        return NULL;
    }
    return first;
}

/* The input whose planes are those of the result: the first that has as many, and has them as bands
 * if one does. */
static const cli_raster *choose_bands(const map_run *run)
{
    const cli_raster *best = &run->inputs[0].in;
    for (int32_t i = 1; i < run->input_count; i++) {
        const cli_raster *in = &run->inputs[i].in;
        const bool more = cli_raster_bands(best, best->planes, 0) == 1 &&
                          cli_raster_bands(in, in->planes, 0) != 1;
        if (in->planes == run->planes && (best->planes != run->planes || more)) {
            best = in;
        }
    }
    return best;
}

/* The input whose bands, one by one, become those of the result: the only one, or the only stack
 * beside inputs of one plane; NULL: there is none. */
static const cli_raster *choose_stack(const map_run *run)
{
    const cli_raster *only = run->input_count == 1 ? &run->inputs[0].in : NULL;
    for (int32_t i = 0; i < run->input_count && run->input_count > 1 && run->planes > 1; i++) {
        const cli_raster *in = &run->inputs[i].in;
        if (in->planes > 1 && only != NULL) {
            return NULL;
        }
        only = in->planes > 1 ? in : only;
    }
    return only != NULL && !only->mixes ? only : NULL;
}

tw_status map_open_output(map_run *run)
{
    tw_image_file_options *opts = &run->storage;
    const cli_raster *in = &run->inputs[0].in;
    if (run->file.rows != NULL) {
        return TW_OK;
    }
    opts->format = run->s->out_format;
    opts->planes = run->planes + (run->alpha ? cli_raster_alphas(in) : 0);
    if (cli_writes_tiff(run->output, run->s->out_format)) {
        const cli_raster *stack = choose_stack(run);
        const cli_raster *bands = choose_bands(run);
        opts->bands = cli_raster_bands(bands, opts->planes, run->layout);
        const cli_raster *from = choose_tags(run, stack);
        opts->tags = from != NULL ? from->tags : NULL;
        opts->place_plane = from != NULL ? cli_raster_place(from) : 0;
        opts->unchanged = is_copy(run);
        opts->first_plane = stack != NULL && stack == from ? stack->first : -1;
        opts->no_data = run->opts.no_data;
        opts->colours = bands->info.colours && bands->planes == run->planes && run->planes >= 3;
        opts->alpha = run->alpha;
    }
    return tw_sink_to_image_planes(run->job->ctx, &run->file, run->output, opts);
}

tw_status map_feed_alpha(map_run *run, int64_t plane)
{
    const bool last = !cli_writes_tiff(run->output, run->s->out_format);
    return run->alpha ? cli_raster_feed_alpha(run->job, &run->inputs[0].in, plane, last, &run->file)
                      : TW_OK;
}

/* ------------------------------------------------------------------------------ the sinks around
 * it */

static tw_status gate_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    map_gate *g = self;
    return g->inner.begin(g->inner.self, ctx, shape);
}

static tw_status gate_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    map_gate *g = self;
    return g->inner.rows(g->inner.self, ctx, first, count, data, stride);
}

static tw_status gate_end(void *self, tw_context *ctx)
{
    map_gate *g = self;
    tw_status status = tw_map_verifier_result(ctx, g->verifier, NULL);
    return status == TW_OK ? g->inner.end(g->inner.self, ctx) : status;
}

static void gate_abort(void *self, tw_context *ctx)
{
    map_gate *g = self;
    g->inner.abort(g->inner.self, ctx);
}

void map_gate_sink(map_gate *gate, tw_sink *out)
{
    *out = (tw_sink){sizeof(tw_sink), gate, gate_begin, gate_rows, gate_end, gate_abort, NULL};
}

static double value_at(const void *data, tw_type type, int64_t at)
{
    switch (type) {
    case TW_U8:
        return ((const uint8_t *)data)[at];
    case TW_U16:
        return ((const uint16_t *)data)[at];
    case TW_I16:
        return ((const int16_t *)data)[at];
    default:
        return ((const int32_t *)data)[at];
    }
}

static void drop_row(map_plain *p)
{
    free(p->row);
    p->row = NULL;
}

static tw_status plain_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    map_plain *p = self;
    const tw_shape wide = {shape->rows, shape->cols, TW_F64};
    p->type = shape->type;
    p->cols = shape->cols;
    p->row = malloc(sizeof(double) * (size_t)(shape->cols > 0 ? shape->cols : 1));
    if (p->row == NULL) {
        return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for a row of %lld numbers",
                       (long long)shape->cols);
    }
    tw_status status = p->inner.begin(p->inner.self, ctx, &wide);
    if (status != TW_OK) {
        drop_row(p);
    }
    return status;
}

static tw_status plain_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                            const void *data, int64_t stride)
{
    map_plain *p = self;
    tw_status status = TW_OK;
    if (p->cols == 0) {
        return p->inner.rows(p->inner.self, ctx, first, count, data, stride);
    }
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        for (int64_t j = 0; j < p->cols; j++) {
            p->row[j] = value_at(data, p->type, i * stride + j);
        }
        status = p->inner.rows(p->inner.self, ctx, first + i, 1, p->row, p->cols);
    }
    return status;
}

static tw_status plain_end(void *self, tw_context *ctx)
{
    map_plain *p = self;
    drop_row(p);
    return p->inner.end(p->inner.self, ctx);
}

static void plain_abort(void *self, tw_context *ctx)
{
    map_plain *p = self;
    drop_row(p);
    p->inner.abort(p->inner.self, ctx);
}

static void plain_destroy(void *self)
{
    map_plain *p = self;
    drop_row(p);
    tw_sink_destroy(&p->inner);
}

void map_plain_sink(map_plain *plain, tw_sink *out)
{
    *out = (tw_sink){sizeof(tw_sink), plain,       plain_begin,  plain_rows,
                     plain_end,       plain_abort, plain_destroy};
}
