/*
 * tilewright compare: are two matrices of distances, or two arrays or images, the same? Both are
 * read in blocks of rows. Numbers are compared as f64, which holds those of every type exactly;
 * what means "no path" in one type equals what means it in another.
 */
#include "commands.h"
#include "files.h"
#include "frame/report.h"
#include "typed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((int64_t)1 << 22) /* bytes of each side held at a time, or one row */

typedef struct settings {
    cli_common common;
    const char *format;
    tw_type type;
    double tolerance;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT};

static const cli_option own_options[] = {
    {"tolerance", 0, CLI_NUMBER, "T", offsetof(settings, tolerance), 0,
     "Numbers that differ by no more than T count as equal; 0 by default."},
    {"type", 0, CLI_TYPE, "TYPE", offsetof(settings, type), 0,
     "The type of raw files, which do not say: u8, u16, i32 (the default), f32 or f64."},
    {"in-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, format), 0,
     "raw, npy or csv, or one of an image, for both; by default the extensions decide, and raw is "
     "taken for an unknown one."},
    {0}};

static const cli_group groups[] = {{"Comparing", own_options},
                                   {"Resources", cli_host_options},
                                   {"What it says", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"A B",
     "Two matrices as 'tilewright apsp' writes them, or two arrays or images that 'tilewright "
     "map' reads; they need not have the same format or type."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright compare yesterday.npy today.csv", "the same distances?"},
    {"tilewright compare a.npy b.npy --tolerance 1e-6", "floats, nearly"},
    {NULL, NULL}};

typedef struct comparison {
    int64_t rows, cols, planes;
    int64_t different;
    double most;             /* the largest finite difference */
    bool infinite;           /* some differ in being there at all: a number, and none */
    int64_t row, col, plane; /* of the first */
    double left, right;      /* there */
} comparison;

typedef struct side {
    const char *path;
    bool image;
    tw_source source;
    tw_image *whole; /* of a file whose rows cannot be had one by one; NULL: none */
    int64_t planes;
    char *rows;
} side;

static bool is_image(const settings *s, const char *path)
{
    static const char *const formats[] = {"pgm", "ppm",  "pnm",     "pfm", "png",
                                          "tif", "tiff", "records", NULL};
    return cli_writes(path, s->format, formats);
}

static tw_status open_side(cli_job *job, const settings *s, side *out, int64_t plane)
{
    tw_image_info info = TW_IMAGE_INFO_INIT;
    tw_source_destroy(&out->source);
    if (!out->image) {
        out->planes = 1;
        return tw_matrix_source(job->ctx, &out->source, out->path, s->format,
                                s->type != TW_AUTO ? s->type : TW_I32);
    }
    if (out->whole == NULL && cli_is_file(out->path) &&
        tw_image_source(job->ctx, &out->source, out->path, s->format, plane, &info) == TW_OK) {
        out->planes = info.planes;
        return TW_OK;
    }
    tw_status status =
        out->whole != NULL ? TW_OK : tw_image_read(job->ctx, &out->whole, out->path, s->format);
    if (status == TW_OK) {
        const tw_matrix *view = tw_image_plane(out->whole, plane);
        out->planes = tw_image_planes(out->whole);
        out->source.shape = (tw_shape){view->rows, view->cols, view->type};
    }
    return status;
}

/* Rows into side->rows, side by side. */
static tw_status read_rows(tw_context *ctx, side *from, int64_t plane, int64_t first, int64_t count)
{
    const tw_shape *shape = &from->source.shape;
    if (from->whole == NULL) {
        return from->source.rows(from->source.self, ctx, first, count, from->rows, shape->cols);
    }
    const tw_matrix *view = tw_image_plane(from->whole, plane);
    const size_t size = tw_type_size(shape->type), row = (size_t)shape->cols * size;
    for (int64_t i = 0; i < count; i++) {
        memcpy(from->rows + (size_t)i * row,
               (const char *)view->data + (size_t)(first + i) * (size_t)view->stride * size, row);
    }
    return TW_OK;
}

static double value_of(const side *a, const char *row, int64_t col)
{
    const tw_type type = a->source.shape.type;
    return a->image ? cli_number_at(row, type, col) : cli_distance_at(row, type, col);
}

static void compare_rows(comparison *c, const settings *s, const side *a, const side *b,
                         int64_t first, int64_t count, int64_t plane)
{
    const size_t size_a = tw_type_size(a->source.shape.type);
    const size_t size_b = tw_type_size(b->source.shape.type);
    for (int64_t i = 0; i < count; i++) {
        const char *row_a = a->rows + (size_t)(i * c->cols) * size_a;
        const char *row_b = b->rows + (size_t)(i * c->cols) * size_b;
        for (int64_t j = 0; j < c->cols; j++) {
            const double x = value_of(a, row_a, j), y = value_of(b, row_b, j);
            const double difference = fabs(x - y);
            if (x == y || (isnan(x) && isnan(y)) || difference <= s->tolerance) {
                continue;
            }
            if (c->different++ == 0) {
                c->row = first + i;
                c->col = j;
                c->plane = plane;
                c->left = x;
                c->right = y;
            }
            if (isfinite(difference)) {
                c->most = difference > c->most ? difference : c->most;
            } else {
                c->infinite = true;
            }
        }
    }
}

static tw_status compare_plane(cli_job *job, const settings *s, side *a, side *b, int64_t plane,
                               comparison *c)
{
    tw_context *ctx = job->ctx;
    const tw_shape *sa = &a->source.shape, *sb = &b->source.shape;
    const size_t size_a = tw_type_size(sa->type), size_b = tw_type_size(sb->type);
    const size_t wide = size_a > size_b ? size_a : size_b;
    const int64_t row = sa->cols * (int64_t)wide;
    const int64_t step = row > 0 && BLOCK / row > 1 ? BLOCK / row : 1;
    tw_status status = TW_OK;
    a->rows = malloc((size_t)(step * sa->cols) * size_a + 1);
    b->rows = malloc((size_t)(step * sb->cols) * size_b + 1);
    if (a->rows == NULL || b->rows == NULL) {
        status =
            tw_fail(ctx, TW_ERR_MEMORY, "no memory for a row of %lld numbers", (long long)sa->cols);
    }
    for (int64_t first = 0; first < sa->rows && sa->cols > 0 && status == TW_OK; first += step) {
        const int64_t count = sa->rows - first < step ? sa->rows - first : step;
        status = read_rows(ctx, a, plane, first, count);
        if (status == TW_OK) {
            status = read_rows(ctx, b, plane, first, count);
        }
        if (status == TW_OK) {
            compare_rows(c, s, a, b, first, count, plane);
        }
    }
    free(a->rows);
    free(b->rows);
    a->rows = b->rows = NULL;
    return status;
}

/* Whether they have the same shape; if not, that is the answer. */
static bool same_shape(const cli_job *job, const settings *s, const side *a, const side *b)
{
    const tw_shape *x = &a->source.shape, *y = &b->source.shape;
    if (x->rows == y->rows && x->cols == y->cols && a->planes == b->planes) {
        return true;
    }
    if (s->common.json) {
        cli_report json;
        cli_report_begin(&json, stdout);
        cli_report_text(&json, "command", "compare");
        cli_report_bool(&json, "equal", false);
        cli_report_bool(&json, "same_shape", false);
        cli_report_number(&json, "seconds", cli_seconds() - job->started);
        cli_report_end(&json);
    } else if (a->planes != b->planes) {
        cli_print("%s has %lld planes, %s has %lld\n", a->path, (long long)a->planes, b->path,
                  (long long)b->planes);
    } else {
        cli_print("%s is %lld x %lld, %s is %lld x %lld\n", a->path, (long long)x->rows,
                  (long long)x->cols, b->path, (long long)y->rows, (long long)y->cols);
    }
    return false;
}

static void report(const cli_job *job, const comparison *c)
{
    cli_report json;
    cli_report_begin(&json, stdout);
    cli_report_text(&json, "command", "compare");
    cli_report_bool(&json, "equal", c->different == 0);
    cli_report_bool(&json, "same_shape", true);
    cli_report_integer(&json, "rows", c->rows);
    cli_report_integer(&json, "cols", c->cols);
    cli_report_integer(&json, "planes", c->planes);
    cli_report_integer(&json, "different", c->different);
    cli_report_number(&json, "largest_difference", c->infinite ? (double)INFINITY : c->most);
    if (c->different > 0) {
        cli_report_object(&json, "first");
        cli_report_integer(&json, "plane", c->plane);
        cli_report_integer(&json, "row", c->row);
        cli_report_integer(&json, "col", c->col);
        cli_report_number(&json, "a", c->left);
        cli_report_number(&json, "b", c->right);
        cli_report_end_object(&json);
    }
    cli_report_number(&json, "seconds", cli_seconds() - job->started);
    cli_report_end(&json);
}

static void print(const comparison *c)
{
    char left[CLI_SHOWN], right[CLI_SHOWN], most[CLI_SHOWN];
    const double entries = (double)c->rows * (double)c->cols * (double)c->planes;
    if (c->different == 0) {
        cli_print("equal: %lld x %lld", (long long)c->rows, (long long)c->cols);
        if (c->planes > 1) {
            cli_print(", %lld planes", (long long)c->planes);
        }
        cli_print("\n");
        return;
    }
    cli_print("%lld of %.0f entries differ, by at most %s%s\n", (long long)c->different, entries,
              cli_show_value(most, c->most),
              c->infinite ? "; some have a number in one and none in the other" : "");
    cli_print("first at row %lld, column %lld", (long long)c->row, (long long)c->col);
    if (c->planes > 1) {
        cli_print(" of plane %lld", (long long)c->plane);
    }
    cli_print(": %s and %s\n", cli_show_value(left, c->left), cli_show_value(right, c->right));
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    side a = {.path = words[0], .source = TW_SOURCE_INIT};
    side b = {.path = words[1], .source = TW_SOURCE_INIT};
    comparison c = {.planes = 1};
    (void)count;
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK && s->tolerance < 0) {
        status =
            tw_fail(job->ctx, TW_ERR_ARGUMENT, "--tolerance %g: expected 0 or more", s->tolerance);
    }
    a.image = is_image(s, a.path) || is_image(s, b.path);
    b.image = a.image;
    for (int64_t plane = 0; plane < c.planes && status == TW_OK; plane++) {
        status = open_side(job, s, &a, plane);
        if (status == TW_OK) {
            status = open_side(job, s, &b, plane);
        }
        if (status == TW_OK && !same_shape(job, s, &a, &b)) {
            job->answer_is_no = true;
            goto done;
        }
        c.planes = a.planes;
        c.rows = a.source.shape.rows;
        c.cols = a.source.shape.cols;
        if (status == TW_OK) {
            status = compare_plane(job, s, &a, &b, plane, &c);
        }
    }
    if (status == TW_OK) {
        job->answer_is_no = c.different > 0;
        if (s->common.json) {
            report(job, &c);
        } else {
            print(&c);
        }
    }
done:
    tw_source_destroy(&a.source);
    tw_source_destroy(&b.source);
    tw_image_destroy(a.whole);
    tw_image_destroy(b.whole);
    return status;
}

const cli_command cli_compare = {
    .name = "compare",
    .usage = "A B",
    .summary = "are two matrices, arrays or images equal, and where not",
    .text =
        "Compares two matrices of distances, or two arrays or images, entry by entry: equal, or "
        "how many differ, by how much at most, and where first. Exit status 1 if they differ. "
        "'No path' equals 'no path', whatever number stands for it in a type, and NaN equals "
        "NaN.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 2,
    .most = 2,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};
