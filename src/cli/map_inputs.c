/*
 * The operands of tilewright map. The first is the expression. Of the others, NAME=FILE names an
 * input; of those without a name the first is x and the second OUT. One alone behind named inputs
 * is OUT, since the named ones are all there is to read, unless --output names that.
 *
 * Files that hold their elements as they are (npy, binary pgm, ppm and pfm, records) are not read
 * before the run but band by band as it goes on. What has to be decoded, pipes, and files of many
 * small planes are read as a whole.
 */
#include "files.h"
#include "map_run.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_WIDTH 72 /* of an expression around an error */
#define LEAST_PLANE                                                              \
    ((uint64_t)1 << 20) /* bytes: to open a file for each smaller one costs more \
                         */

/* The length of the name in NAME=FILE; 0 if there is none. */
static size_t name_length(const char *word)
{
    size_t length = 0;
    while (isalnum((unsigned char)word[length]) || word[length] == '_') {
        length++;
    }
    return word[length] == '=' && !isdigit((unsigned char)word[0]) ? length : 0;
}

static tw_status add_input(map_run *run, const char *name, size_t length, const char *path)
{
    if (run->input_count == MAP_INPUTS) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "more than %d inputs", MAP_INPUTS);
    }
    map_input *in = &run->inputs[run->input_count++];
    snprintf(in->name, sizeof in->name, "%.*s", (int)(length < 70 ? length : 70), name);
    in->path = path;
    return TW_OK;
}

static tw_status sort_words(map_run *run, int count, char **words)
{
    int unnamed[2] = {0, 0};
    int unnamed_count = 0;
    bool named = false;
    run->text = words[0];
    for (int i = 1; i < count; i++) {
        if (name_length(words[i]) > 0) {
            named = true;
        } else if (unnamed_count < 2) {
            unnamed[unnamed_count++] = i;
        } else {
            return tw_fail(
                run->job->ctx, TW_ERR_ARGUMENT,
                "'%.200s' is one file too many: inputs other than x are written NAME=FILE",
                words[i]);
        }
    }
    if (named && unnamed_count == 1 && unnamed[0] == count - 1 && run->s->output == NULL) {
        unnamed[1] = unnamed[0];
        unnamed[0] = 0;
    }
    tw_status status = TW_OK;
    if (unnamed[0] > 0) {
        status = add_input(run, "x", 1, words[unnamed[0]]);
    }
    if (status == TW_OK) {
        status = cli_choose_output(run->job, &run->output,
                                   unnamed[1] > 0 ? words[unnamed[1]] : NULL, run->s->output);
    }
    for (int i = 1; i < count && status == TW_OK; i++) {
        size_t length = name_length(words[i]);
        if (length > 0) {
            status = add_input(run, words[i], length, words[i] + length + 1);
        }
    }
    if (status == TW_OK && run->input_count == 0) {
        status = tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "there is no input to read");
    }
    return status;
}

static tw_status read_constants(map_run *run)
{
    const cli_texts *given = &run->s->constants;
    for (int32_t i = 0; i < given->count; i++) {
        const char *word = given->text[i];
        size_t length = name_length(word);
        tw_constant *constant = &run->constants[i];
        if (length == 0) {
            return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                           "--set %.60s: expected NAME=VALUE such as k=2.5", word);
        }
        if (!cli_read_real(word + length + 1, &constant->value)) {
            return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--set %.60s: %s", word,
                           cli_why_not_real(word + length + 1));
        }
        snprintf(run->constant_names[i], sizeof run->constant_names[0], "%.*s",
                 (int)(length < 70 ? length : 70), word);
        constant->name = run->constant_names[i];
    }
    return TW_OK;
}

/* A file that is both is computed in place and appears when it is whole. Standard output goes on as
 * it comes, over what is still to be read. */
static tw_status check_standard_output(const map_run *run)
{
    const cli_file output = {"standard output", run->output};
    if (run->output == NULL || strcmp(run->output, "-") != 0) {
        return TW_OK;
    }
    for (int32_t i = 0; i < run->input_count; i++) {
        const cli_file input = {"the input", run->inputs[i].path};
        tw_status status = cli_check_files(run->job->ctx, &input, 1, &output, 1);
        if (status != TW_OK) {
            return status;
        }
    }
    return TW_OK;
}

tw_status map_read_words(map_run *run, int count, char **words)
{
    const char *no_data = run->s->no_data;
    tw_status status = sort_words(run, count, words);
    if (status == TW_OK) {
        status = read_constants(run);
    }
    if (status == TW_OK && no_data != NULL) {
        if (!cli_read_real(no_data, &run->no_data)) {
            status = tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--no-data '%.60s': %s", no_data,
                             cli_why_not_real(no_data));
        }
        run->opts.no_data = &run->no_data;
    }
    if (status == TW_OK && run->output == NULL && run->s->out_format != NULL) {
        status = tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--out-format has no effect without OUT");
    }
    if (status == TW_OK) {
        status = cli_check_array_output(run->job->ctx, run->output, run->s->out_format);
    }
    return status == TW_OK ? check_standard_output(run) : status;
}

/* ------------------------------------------------------------------------------ the expression */

/* The part of the text around a column, and a caret below that column. Control characters are
 * shown as blanks, so that the caret stands where it should. */
static void show_place(const char *text, int64_t column)
{
    int64_t first = column > SHOWN_WIDTH / 2 ? column - SHOWN_WIDTH / 2 : 1;
    int64_t at = 0;
    fputs("  ", stderr);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        at += (*c & 0xC0) != 0x80;
        if (at >= first && at < first + SHOWN_WIDTH) {
            fputc(*c < ' ' || *c == 127 ? ' ' : *c, stderr);
        }
    }
    fprintf(stderr, "\n  %*s^\n", (int)(column - first), "");
}

tw_status map_read_expression(map_run *run)
{
    const char *names[MAP_INPUTS];
    int64_t column = 0;
    tw_expr_options opts = TW_EXPR_OPTIONS_INIT;
    for (int32_t i = 0; i < run->input_count; i++) {
        names[i] = run->inputs[i].name;
    }
    opts.inputs = names;
    opts.input_count = run->input_count;
    opts.constants = run->constants;
    opts.constant_count = run->s->constants.count;
    opts.column = &column;
    tw_status status = tw_expr_create(run->job->ctx, &run->expr, run->text, &opts);
    if (status != TW_OK && column > 0) {
        show_place(run->text, column);
    }
    return status;
}

/* -------------------------------------------------------------------------------------- the files
 */

/* Open a file of which rows can be had by themselves; false if this one has to be read. */
static bool open_rows(map_run *run, map_input *in)
{
    tw_context *ctx = run->job->ctx;
    tw_image_info info = TW_IMAGE_INFO_INIT;
    in->source = (tw_source)TW_SOURCE_INIT;
    if (!cli_is_file(in->path) ||
        tw_image_source(ctx, &in->source, in->path, run->s->in_format, 0, &info) != TW_OK) {
        return false;
    }
    const int64_t wanted = run->s->plane >= 0 ? 1 : info.planes;
    if (in->source.in_order || (wanted > 1 && info.bytes / (uint64_t)wanted < LEAST_PLANE)) {
        tw_source_destroy(&in->source);
        return false;
    }
    in->planes = info.planes;
    return true;
}

static tw_status open_file(map_run *run, map_input *in)
{
    tw_context *ctx = run->job->ctx;
    if (open_rows(run, in)) {
        return TW_OK;
    }
    tw_status status = tw_image_read(ctx, &in->image, in->path, run->s->in_format);
    if (status == TW_OK) {
        in->planes = tw_image_planes(in->image);
    }
    return status;
}

tw_status map_open_files(map_run *run)
{
    tw_context *ctx = run->job->ctx;
    const map_input *most = &run->inputs[0];
    for (int32_t i = 0; i < run->input_count; i++) {
        map_input *in = &run->inputs[i];
        cli_watch_file(&run->watches[i], in->path);
        tw_status status = open_file(run, in);
        if (status == TW_OK && in->planes == 0) {
            status = tw_fail(ctx, TW_ERR_FORMAT, "%.500s has no planes: there is nothing to map",
                             in->path);
        }
        if (status != TW_OK) {
            return status;
        }
        most = in->planes > most->planes ? in : most;
    }
    run->planes = most->planes;
    for (int32_t i = 0; i < run->input_count; i++) {
        const map_input *in = &run->inputs[i];
        if (in->planes != run->planes && in->planes != 1) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "%.400s has %lld planes, %.400s has %lld: they must be equal, or 1",
                           most->path, (long long)run->planes, in->path, (long long)in->planes);
        }
    }
    if (run->s->plane >= run->planes) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--plane %lld: %.500s has %lld",
                       (long long)run->s->plane, most->path, (long long)run->planes);
    }
    return TW_OK;
}

void map_close_files(map_run *run)
{
    for (int32_t i = 0; i < run->input_count; i++) {
        tw_source_destroy(&run->inputs[i].source);
        tw_image_destroy(run->inputs[i].image);
    }
}

tw_status map_open_plane(map_run *run, int64_t plane, tw_matrix inputs[MAP_INPUTS],
                         tw_source sources[MAP_INPUTS])
{
    tw_status status = TW_OK;
    for (int32_t i = 0; i < run->input_count && status == TW_OK; i++) {
        map_input *in = &run->inputs[i];
        const int64_t wanted = in->planes == 1 ? 0 : plane;
        if (in->image != NULL) {
            sources[i] = (tw_source)TW_SOURCE_INIT;
            inputs[i] = *tw_image_plane(in->image, wanted);
            continue;
        }
        if (in->plane != wanted) {
            tw_source_destroy(&in->source);
            status = tw_image_source(run->job->ctx, &in->source, in->path, run->s->in_format,
                                     wanted, NULL);
            in->plane = wanted;
        }
        sources[i] = in->source;
    }
    return status;
}
