/*
 * The operands of tilewright map. The first is the expression. Of the others, NAME=FILE names an
 * input; of those without a name the first is x and the second OUT. One alone behind named inputs
 * is OUT, since the named ones are all there is to read, unless --output names that.
 *
 * FILE[BAND] is one plane of a file, by its number from 0 or its name, unless there is a file of
 * that name.
 *
 * Files that hold their elements as they are (npy, binary pgm, ppm and pfm, records) are not read
 * before the run but band by band as it goes on, and so is what has to be decoded and would take
 * more than half of the memory. The rest, pipes, and files of many small planes are read as a
 * whole.
 */
#include "cli/image/map_run.h"
#include "cli/shared/files.h"

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

bool map_is_named(const char *word)
{
    return name_length(word) > 0;
}

static tw_status add_input(map_run *run, const char *name, size_t length, const char *path)
{
    if (run->input_count == MAP_INPUTS) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "more than %d inputs", MAP_INPUTS);
    }
    map_input *in = &run->inputs[run->input_count++];
    snprintf(in->name, sizeof in->name, "%.*s", (int)(length < 70 ? length : 70), name);
    in->word = path;
    in->path = strdup(path);
    if (in->path == NULL) {
        return tw_fail(run->job->ctx, TW_ERR_MEMORY, "not enough memory for the name of a file");
    }
    const size_t length_of_path = cli_band_path_length(path);
    if (path[length_of_path] != '\0') {
        in->path[strlen(path) - 1] = '\0';
        in->path[length_of_path] = '\0';
        in->band = in->path + length_of_path + 1;
    }
    return TW_OK;
}

/* *doubtful: OUT is one of two words without a name, and may be meant as an input. */
static tw_status sort_words(map_run *run, int count, char **words, bool *doubtful)
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
                "unexpected file '%.200s': give further inputs as NAME=FILE, or several files for "
                "x with --out-dir",
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
    if (status == TW_OK && run->output == NULL) {
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
    *doubtful = !named && unnamed[1] > 0 && run->output == words[unnamed[1]];
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

/* A file that is given as both is computed in place and appears when it is whole. By another name
 * it is not meant to be replaced. Standard output goes on as it comes, over what is still to be
 * read. */
static tw_status check_place(const map_run *run)
{
    const bool standard = run->output != NULL && strcmp(run->output, "-") == 0;
    for (int32_t i = 0; i < run->input_count && run->output != NULL; i++) {
        const char *input = run->inputs[i].path;
        const bool meant = !standard && strcmp(run->inputs[i].word, run->output) == 0;
        if (meant || !cli_replaces(run->output, input)) {
            continue;
        }
        if (run->inputs[i].band != NULL && strcmp(input, run->output) == 0) {
            return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                           "OUT '%.300s' is also read: all its bands would be lost; write to "
                           "another file",
                           run->output);
        }
        return standard
                   ? tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                             "standard output is the same file as the input '%.300s', which would "
                             "be lost: write to another file",
                             input)
                   : tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                             "OUT '%.300s' is the same file as the input '%.300s': write to "
                             "another file, or give both the same name to replace it",
                             run->output, input);
    }
    return TW_OK;
}

tw_status map_read_words(map_run *run, int count, char **words)
{
    const char *no_data = run->s->no_data;
    bool doubtful = false;
    tw_status status = sort_words(run, count, words, &doubtful);
    if (status == TW_OK) {
        status = read_constants(run);
    }
    if (status == TW_OK && no_data != NULL && strcmp(no_data, "none") != 0) {
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
    if (status == TW_OK) {
        status = cli_read_storage(run->job, &run->s->storage, run->output, run->s->out_format,
                                  run->s->out_dir != NULL, &run->storage, &run->layout);
    }
    if (status == TW_OK) {
        status = check_place(run);
    }
    if (status != TW_OK || !doubtful || cli_replaces(run->output, run->inputs[0].path)) {
        return status;
    }
    return cli_check_operand(run->job->ctx, run->output, run->inputs[0].path);
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

/* Whether a name occurs in the expression. */
static bool occurs(const char *text, const char *name)
{
    for (const char *at = text; *at != '\0';) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_') {
            length++;
        }
        if (length == strlen(name) && strncmp(at, name, length) == 0) {
            return true;
        }
        at += length > 0 ? length : 1;
    }
    return false;
}

/* What the expression does not use: a pass that repeats nothing is refused, and a name is said. */
static tw_status check_use(const map_run *run)
{
    if (run->s->repeat > 1 && !occurs(run->text, "x")) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                       "--repeat has no effect: the expression does not use x, the result of the "
                       "pass before");
    }
    for (int32_t i = 0; i < run->s->constants.count; i++) {
        if (!occurs(run->text, run->constant_names[i])) {
            cli_say(run->job, "the expression does not use %s, which --set gives a value",
                    run->constant_names[i]);
        }
    }
    for (int32_t i = 0; i < run->input_count; i++) {
        const map_input *in = &run->inputs[i];
        if (strcmp(in->name, "x") != 0 && !occurs(run->text, in->name)) {
            cli_say(run->job, "the expression does not use the input %s=%s", in->name, in->word);
        }
    }
    return TW_OK;
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
    return status == TW_OK ? check_use(run) : status;
}

/* -------------------------------------------------------------------------------------- the files
 */

/* The no-data value of the inputs, if they name one: it must be the same for all that do. */
static tw_status take_no_data(map_run *run)
{
    const map_input *from = NULL;
    for (int32_t i = 0; i < run->input_count && run->s->no_data == NULL; i++) {
        const map_input *in = &run->inputs[i];
        const tw_image_tags_info *info = &in->in.info;
        if (!info->has_no_data) {
            continue;
        }
        const bool same = from != NULL && (info->no_data == run->no_data ||
                                           (isnan(info->no_data) && isnan(run->no_data)));
        if (from != NULL && !same) {
            return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                           "no data is %.9g in %.300s and %.9g in %.300s; choose one for all with "
                           "--no-data VALUE, or --no-data none",
                           run->no_data, from->path, info->no_data, in->path);
        }
        from = in;
        run->no_data = info->no_data;
        run->opts.no_data = &run->no_data;
    }
    return TW_OK;
}

static tw_status open_file(map_run *run, map_input *in)
{
    in->in = (cli_raster){.path = in->path,
                          .format = run->s->in_format,
                          .plane = in->band != NULL ? -1 : run->s->plane,
                          .band = in->band,
                          .grey = run->s->grey != 0 && in->band == NULL,
                          .eager = true,
                          .again = run->s->verify >= 0,
                          .described = map_only_explains(run),
                          .reading = run->reading,
                          .lenient = true};
    tw_status status = cli_raster_open(run->job, &in->in);
    if (status == TW_OK && in->in.planes == 0) {
        status = tw_fail(run->job->ctx, TW_ERR_FORMAT,
                         "%.500s has no planes: there is nothing to map", in->path);
    }
    return status;
}

/* --plane and --grey are for inputs whose plane is not given as FILE[P]. */
static tw_status check_choice(const map_run *run)
{
    static const char *const names[] = {"plane", "grey"};
    bool given = true;
    for (int32_t i = 0; i < run->input_count; i++) {
        given = given && run->inputs[i].band != NULL;
    }
    tw_status status = TW_OK;
    for (int k = 0; k < 2 && given && status == TW_OK; k++) {
        status = cli_refuse(run->job, names[k], "on inputs whose plane is given in brackets");
    }
    return status;
}

tw_status map_open_files(map_run *run)
{
    tw_context *ctx = run->job->ctx;
    const map_input *most = &run->inputs[0];
    int64_t file_planes = 0; /* of the inputs that --plane is about */
    tw_status chosen = check_choice(run);
    if (chosen != TW_OK) {
        return chosen;
    }
    for (int32_t i = 0; i < run->input_count; i++) {
        map_input *in = &run->inputs[i];
        cli_watch_file(&run->watches[i], in->path);
        tw_status status = open_file(run, in);
        if (status != TW_OK) {
            return status;
        }
        most = in->in.planes > most->in.planes ? in : most;
        if (in->band == NULL && in->in.file_planes > file_planes) {
            file_planes = in->in.file_planes;
        }
    }
    run->planes = most->in.planes;
    for (int32_t i = 0; i < run->input_count; i++) {
        const map_input *in = &run->inputs[i];
        if (in->in.planes != run->planes && in->in.planes != 1) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "%.400s has %lld planes, %.400s has %lld: they must be equal, or 1",
                           most->path, (long long)run->planes, in->path, (long long)in->in.planes);
        }
    }
    if (run->s->plane >= file_planes) {
        return cli_no_plane(run->job, most->path, run->s->plane, file_planes);
    }
    tw_status status = take_no_data(run);
    for (int32_t i = 0; i < run->input_count; i++) {
        run->inputs[i].in.no_data = run->opts.no_data;
    }
    return status;
}

void map_close_files(map_run *run)
{
    for (int32_t i = 0; i < run->input_count; i++) {
        cli_raster_close(&run->inputs[i].in);
        free(run->inputs[i].path);
    }
}

bool map_only_explains(const map_run *run)
{
    return run->s->explain && run->output == NULL && run->s->verify < 0;
}

tw_status map_open_plane(map_run *run, int64_t plane, tw_matrix inputs[MAP_INPUTS],
                         tw_source sources[MAP_INPUTS])
{
    tw_status status = TW_OK;
    for (int32_t i = 0; i < MAP_INPUTS; i++) {
        sources[i] = (tw_source)TW_SOURCE_INIT;
    }
    for (int32_t i = 0; i < run->input_count && status == TW_OK; i++) {
        cli_raster *in = &run->inputs[i].in;
        const tw_matrix *matrix = NULL;
        status = cli_raster_plane(run->job, in, in->planes == 1 ? 0 : plane, &matrix, &sources[i]);
        if (matrix != NULL) {
            inputs[i] = *matrix;
        }
    }
    return status;
}
