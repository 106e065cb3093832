/*
 * The operands of tilewright map. The first is the expression. Of the others, NAME=FILE names an
 * input; of those without a name the first is x and the second OUT. One alone behind named inputs
 * is OUT, since the named ones are all there is to read.
 */
#include "files.h"
#include "map_run.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_WIDTH 72 /* of an expression around an error */

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
    snprintf(run->names[run->input_count], sizeof run->names[0], "%.*s",
             (int)(length < 70 ? length : 70), name);
    run->paths[run->input_count++] = path;
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
            return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                           "'%.200s' is one file too many: an input besides x is written NAME=FILE",
                           words[i]);
        }
    }
    if (named && unnamed_count == 1 && unnamed[0] == count - 1) {
        unnamed[1] = unnamed[0];
        unnamed[0] = 0;
    }
    tw_status status = TW_OK;
    if (unnamed[0] > 0) {
        status = add_input(run, "x", 1, words[unnamed[0]]);
    }
    run->output = unnamed[1] > 0 ? words[unnamed[1]] : NULL;
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

static bool read_real(const char *text, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    return *text != '\0' && !isspace((unsigned char)*text) && *end == '\0';
}

static tw_status read_constants(map_run *run)
{
    const cli_texts *given = &run->s->constants;
    for (int32_t i = 0; i < given->count; i++) {
        const char *word = given->text[i];
        size_t length = name_length(word);
        tw_constant *constant = &run->constants[i];
        if (length == 0 || !read_real(word + length + 1, &constant->value)) {
            return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                           "--set %.60s: give NAME=VALUE such as k=2.5", word);
        }
        snprintf(run->constant_names[i], sizeof run->constant_names[0], "%.*s",
                 (int)(length < 70 ? length : 70), word);
        constant->name = run->constant_names[i];
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
        if (!read_real(no_data, &run->no_data)) {
            status = tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                             "--no-data '%.60s': a number or nan is expected", no_data);
        }
        run->opts.no_data = &run->no_data;
    }
    if (status == TW_OK && run->output == NULL && run->s->out_format != NULL) {
        status =
            tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--out-format without OUT: there is no output");
    }
    if (status == TW_OK) {
        status = cli_check_array_output(run->job->ctx, run->output, run->s->out_format);
    }
    return status;
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
        names[i] = run->names[i];
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

tw_status map_read_files(map_run *run)
{
    tw_context *ctx = run->job->ctx;
    int32_t most = 0;
    for (int32_t i = 0; i < run->input_count; i++) {
        tw_status status = tw_image_read(ctx, &run->images[i], run->paths[i], run->s->in_format);
        if (status == TW_OK && tw_image_planes(run->images[i]) == 0) {
            status = tw_fail(ctx, TW_ERR_FORMAT, "%.500s has no planes: there is nothing to map",
                             run->paths[i]);
        }
        if (status != TW_OK) {
            return status;
        }
        most = tw_image_planes(run->images[i]) > tw_image_planes(run->images[most]) ? i : most;
    }
    run->planes = tw_image_planes(run->images[most]);
    for (int32_t i = 0; i < run->input_count; i++) {
        int64_t planes = tw_image_planes(run->images[i]);
        if (planes != run->planes && planes != 1) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "%.400s has %lld planes, %.400s has %lld: they must be equal, or 1",
                           run->paths[most], (long long)run->planes, run->paths[i],
                           (long long)planes);
        }
    }
    if (run->s->plane >= run->planes) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "--plane %lld: %.500s has %lld",
                       (long long)run->s->plane, run->paths[most], (long long)run->planes);
    }
    return TW_OK;
}

void map_inputs_of(const map_run *run, int64_t plane, tw_matrix inputs[MAP_INPUTS])
{
    for (int32_t i = 0; i < run->input_count; i++) {
        bool one = tw_image_planes(run->images[i]) == 1;
        inputs[i] = *tw_image_plane(run->images[i], one ? 0 : plane);
    }
}
