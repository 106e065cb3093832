/* The options of tilewright entropy as the library takes them. */
#include "cli/image/entropy_run.h"

#include <math.h>
#include <string.h>

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
        !cli_read_count(cross != NULL ? cross + 1 : first, &rows) || cols < 1 || rows < 1 ||
        cols > INT32_MAX || rows > INT32_MAX) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                       "--window %.60s: expected a number such as 5, or COLSxROWS such as 7x3",
                       text);
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
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--anchor needs --footprint");
    }
    const char *comma = strchr(text, ',');
    size_t length = comma != NULL ? (size_t)(comma - text) : 0;
    snprintf(first, sizeof first, "%.*s", (int)(length < 31 ? length : 31), text);
    if (comma == NULL || !cli_read_count(first, &row) || !cli_read_count(comma + 1, &col) ||
        row > INT32_MAX || col > INT32_MAX) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                       "--anchor %.60s: expected ROW,COL such as 0,2", text);
    }
    run->opts.anchor_row = (int32_t)row;
    run->opts.anchor_col = (int32_t)col;
    return TW_OK;
}

static tw_status read_base(entropy_run *run)
{
    static const struct {
        const char *name;
        tw_entropy_base base;
    } bases[] = {{"e", TW_ENTROPY_BASE_E},
                 {"2", TW_ENTROPY_BASE_2},
                 {"10", TW_ENTROPY_BASE_10},
                 {"levels", TW_ENTROPY_BASE_LEVELS}};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (strcmp(run->s->base, bases[i].name) == 0) {
            run->opts.base = bases[i].base;
            return TW_OK;
        }
    }
    return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "unknown base '%.60s'; use 2, e, 10 or levels",
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
        status = tw_fail(run->job->ctx, TW_ERR_FORMAT, "%.500s has %lld planes; expected one", path,
                         (long long)tw_image_planes(*out));
    }
    if (status == TW_OK) {
        *view = tw_image_plane(*out, 0);
    }
    return status;
}

static tw_status read_numbers(entropy_run *run)
{
    const entropy_settings *s = run->s;
    if (s->levels > INT32_MAX || s->radius > INT32_MAX) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                       "--levels %lld or --radius %lld is too large", (long long)s->levels,
                       (long long)s->radius);
    }
    run->opts.levels = (int32_t)s->levels;
    run->opts.radius = (int32_t)s->radius;
    run->opts.verify = s->verify;
    if (s->range != NULL && strcmp(s->range, "auto") != 0) {
        cli_interval range = {0, 0};
        if (!cli_read_interval(s->range, &range)) {
            return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--range '%.60s': %s%s", s->range,
                           cli_why_not_interval(s->range),
                           strchr(s->range, ':') == NULL ? ", or auto" : "");
        }
        run->range[0] = range.low;
        run->range[1] = range.high;
        run->opts.range = run->range;
    }
    run->opts.skip_nan = s->skip_nan;
    if (s->no_data != NULL && strcmp(s->no_data, "none") != 0) {
        if (!cli_read_real(s->no_data, &run->no_data)) {
            return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--no-data '%.60s': %s", s->no_data,
                           cli_why_not_real(s->no_data));
        }
        run->opts.no_data = &run->no_data;
    }
    run->opts.type = s->type;
    if (s->type != TW_F32 && s->type != TW_F64) {
        return tw_fail(run->job->ctx, TW_ERR_ARGUMENT, "--type %s is not supported; use f32 or f64",
                       tw_type_name(s->type));
    }
    return TW_OK;
}

/* There is one window: of the options that say what it is, the last in this order would count. */
static tw_status check_window(const entropy_run *run)
{
    const entropy_settings *s = run->s;
    const char *counts = s->footprint != NULL ? "beside --footprint" : "beside --radius";
    tw_status status = TW_OK;
    if (s->footprint != NULL || s->radius >= 0) {
        status = cli_refuse(run->job, "window", counts);
    }
    if (status == TW_OK && s->footprint != NULL) {
        status = cli_refuse(run->job, "radius", counts);
    }
    return status;
}

tw_status entropy_check_options(entropy_run *run)
{
    const entropy_settings *s = run->s;
    tw_status status = check_window(run);
    if (status == TW_OK) {
        status = read_numbers(run);
    }
    if (status == TW_OK && tw_entropy_border_parse(&run->opts.border, s->border) != TW_OK) {
        status =
            tw_fail(run->job->ctx, TW_ERR_ARGUMENT,
                    "unknown border '%.60s'; use crop, reflect, symmetric, clamp, wrap or valid",
                    s->border);
    }
    if (status == TW_OK) {
        status = read_window(run);
    }
    return status == TW_OK ? read_base(run) : status;
}

tw_status entropy_read_options(entropy_run *run)
{
    const entropy_settings *s = run->s;
    tw_status status = entropy_check_options(run);
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
