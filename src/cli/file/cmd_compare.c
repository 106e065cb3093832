/*
 * tilewright compare: are two matrices of distances, or two arrays or images, the same? Rows of A
 * are passed into a sink, which reads the same rows of B. Numbers are compared as f64, which holds
 * those of every type exactly; what means "no path" in one type equals what means it in another.
 * Where both matrices have names for their rows and columns, entries of the same names are
 * compared, wherever they stand.
 */
#include "cli/graph/names.h"
#include "cli/graph/tables.h"
#include "cli/graph/vertex_table.h"
#include "cli/shared/commands.h"
#include "cli/shared/files.h"
#include "cli/shared/typed.h"
#include "frame/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((int64_t)1 << 20) /* bytes of B held at a time, or one row */

typedef struct settings {
    cli_common common;
    const char *format;
    tw_type type;
    double tolerance;
    int32_t numbers;
} settings;

static const settings defaults = {.common = CLI_COMMON_INIT};

static const cli_option own_options[] = {
    {"tolerance", 0, CLI_NUMBER, "T", offsetof(settings, tolerance), 0,
     "Numbers that differ by no more than T count as equal; 0 by default."},
    {"numbers", 0, CLI_FLAG, NULL, offsetof(settings, numbers), 1,
     "The numbers are not distances: 255 in u8, 65535 in u16 and 1073741823 in i32 are what they "
     "are, and do not mean 'no path'. Always so for images."},
    {"type", 0, CLI_TYPE, "TYPE", offsetof(settings, type), CLI_ELEMENT_TYPES,
     "The type of raw files, which store none: u8, u16, i16, i32 (the default), f32 or f64; of "
     ".csv "
     "files "
     "f32 or f64."},
    {"in-format", 0, CLI_TEXT, "FORMAT", offsetof(settings, format), 0,
     "raw, npy or csv, or one of an image, for both; by default the extensions decide, and an "
     "unknown one is raw."},
    {0}};

static const cli_group groups[] = {{"Comparing", own_options},
                                   {"Resources", cli_host_options},
                                   {"Messages", cli_talk_options},
                                   {NULL, NULL}};

static const cli_operand operands[] = {
    {"A B", "Two matrices as 'tilewright apsp' writes them, or two arrays or images that "
            "'tilewright map' reads; they need not have the same format or type. If both matrices "
            "have names (in a .csv, or beside it by 'apsp --labels'), they are compared by name."},
    {NULL, NULL}};

static const cli_example examples[] = {
    {"tilewright compare yesterday.npy today.csv", "the same distances?"},
    {"tilewright compare a.npy b.npy --tolerance 1e-6", "floats, nearly"},
    {NULL, NULL}};

typedef struct comparison {
    int64_t rows, cols, planes; /* rows and cols of the last plane */
    bool uneven;                /* not all planes have that shape */
    double entries;
    int64_t different;
    double most;             /* the largest finite difference; -1: none */
    bool infinite;           /* some differ in being there at all: a number, and none */
    bool unlike;             /* some are no number in both, and differ: inf and nan */
    int64_t row, col, plane; /* of the first */
    double left, right;      /* there */
} comparison;

typedef struct side {
    const char *path;
    bool image;
    tw_source source;
    tw_image *whole; /* of a file whose rows cannot be had one by one; NULL: none */
    int64_t planes;
    bool vertices; /* are its entries, by name */
    cli_table_names names;
} side;

/* Where B has the rows and columns of A; NULL: in the same places. */
typedef struct places {
    int32_t *rows, *cols;
} places;

/* A sink: rows of A come, and are compared with those of B. */
typedef struct comparer {
    const settings *settings;
    const side *a, *b;
    const places *places;
    int64_t plane;
    comparison *out;
    char *rows; /* of B */
    int64_t step;
} comparer;

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
        static const char *const text[] = {"csv", NULL};
        out->planes = 1;
        tw_status status = tw_matrix_source(job->ctx, &out->source, out->path, s->format,
                                            s->type != TW_AUTO ? s->type : TW_I32);
        if (status == TW_ERR_FORMAT && cli_is_file(out->path) &&
            cli_writes(out->path, s->format, text)) {
            status = cli_vertex_table(job, &out->source, out->path, status);
            out->vertices = status == TW_OK;
        }
        return cli_mention_edges(job->ctx, out->path, s->format, status);
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

static void compare_row(const comparer *c, int64_t number, const char *row_a, const char *row_b)
{
    comparison *out = c->out;
    const bool plain = c->settings->numbers || c->a->image;
    const tw_type type_a = c->a->source.shape.type, type_b = c->b->source.shape.type;
    const int32_t *cols = c->places->cols;
    const bool vertices = c->a->vertices || c->b->vertices;
    for (int64_t j = 0; j < out->cols; j++) {
        const int64_t k = cols != NULL ? cols[j] : j;
        const double x =
            plain ? cli_number_at(row_a, type_a, j) : cli_distance_at(row_a, type_a, j);
        const double y =
            plain ? cli_number_at(row_b, type_b, k) : cli_distance_at(row_b, type_b, k);
        const bool moved = vertices && cols != NULL && x >= 0 && x < (double)out->cols;
        const double difference = fabs((moved ? cols[(int64_t)x] : x) - y);
        const bool finite = isfinite(difference);
        if (difference == 0 || (!moved && x == y) || (isnan(x) && isnan(y)) ||
            (finite && difference <= c->settings->tolerance)) {
            continue;
        }
        if (out->different++ == 0) {
            out->row = number;
            out->col = j;
            out->plane = c->plane;
            out->left = x;
            out->right = y;
        }
        out->infinite |= isfinite(x) != isfinite(y);
        out->unlike |= !isfinite(x) && !isfinite(y);
        out->most = finite && !vertices && difference > out->most ? difference : out->most;
    }
}

static tw_status compare_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    (void)self;
    (void)ctx;
    (void)shape;
    return TW_OK;
}

static tw_status compare_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                              const void *data, int64_t stride)
{
    const comparer *c = self;
    const tw_source *b = &c->b->source;
    const tw_matrix *view = c->b->whole != NULL ? tw_image_plane(c->b->whole, c->plane) : NULL;
    const size_t step_a = (size_t)stride * tw_type_size(c->a->source.shape.type);
    const size_t step_b =
        (size_t)(view != NULL ? view->stride : c->out->cols) * tw_type_size(b->shape.type);
    const int32_t *elsewhere = c->places->rows;
    const int64_t step = elsewhere != NULL ? 1 : c->step;
    for (int64_t done = 0; done < count; done += step) {
        const int64_t rows = count - done < step ? count - done : step;
        const int64_t from = elsewhere != NULL ? elsewhere[first + done] : first + done;
        const char *rows_b = c->rows;
        tw_status status = TW_OK;
        if (view != NULL) {
            rows_b = (const char *)view->data + (size_t)(first + done) * step_b;
        } else {
            status = b->rows(b->self, ctx, from, rows, c->rows, c->out->cols);
        }
        if (status != TW_OK) {
            return status;
        }
        for (int64_t i = 0; i < rows; i++) {
            compare_row(c, first + done + i, (const char *)data + (size_t)(done + i) * step_a,
                        rows_b + (size_t)i * step_b);
        }
    }
    return TW_OK;
}

static tw_status compare_end(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
    return TW_OK;
}

static void compare_abort(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
}

/* Room for rows of B, unless they are all there. */
static tw_status make_room(tw_context *ctx, comparer *c)
{
    const tw_shape *shape = &c->b->source.shape;
    const int64_t row = shape->cols * (int64_t)tw_type_size(shape->type);
    c->step = BLOCK / row > 1 ? BLOCK / row : 1;
    if (c->b->whole != NULL) {
        return TW_OK;
    }
    c->rows = (uint64_t)row <= tw_memory_limit(ctx) / 2 ? malloc((size_t)(c->step * row)) : NULL;
    return c->rows != NULL
               ? TW_OK
               : tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for a row of %lld numbers",
                         (long long)shape->cols);
}

static tw_status compare_plane(cli_job *job, const settings *s, side *a, side *b,
                               const places *where, int64_t plane, comparison *out)
{
    tw_context *ctx = job->ctx;
    const tw_shape *shape = &a->source.shape;
    comparer c = {.settings = s, .a = a, .b = b, .places = where, .plane = plane, .out = out};
    tw_sink sink = {sizeof(tw_sink), &c,  compare_begin, compare_rows, compare_end,
                    compare_abort,   NULL};
    if (shape->rows == 0 || shape->cols == 0) {
        return TW_OK;
    }
    tw_status status = make_room(ctx, &c);
    if (status == TW_OK) {
        status = a->whole != NULL ? tw_feed(ctx, tw_image_plane(a->whole, plane), &sink, 1)
                                  : tw_feed_source(ctx, &a->source, &sink, 1);
    }
    free(c.rows);
    return status;
}

/* The answer where nothing can be compared. */
static void report_no(const cli_job *job, const char *why)
{
    cli_report json;
    cli_report_begin(&json, stdout);
    cli_report_text(&json, "command", "compare");
    cli_report_bool(&json, "equal", false);
    cli_report_bool(&json, why, false);
    cli_report_number(&json, "seconds", cli_seconds() - job->started);
    cli_report_end(&json);
}

static bool is_in_order(const int32_t *list, int64_t count)
{
    int64_t i = 0;
    while (i < count && list[i] == i) {
        i++;
    }
    return i == count;
}

/* Where the entries of A are in B, by the names that both have; *same: they have the same ones, or
 * not both have names. If not, that is the answer. */
static tw_status match_names(cli_job *job, const settings *s, side *a, side *b, places *out,
                             bool *same)
{
    tw_context *ctx = job->ctx;
    const tw_shape *shape = &a->source.shape;
    const char *missing = NULL;
    *same = true;
    tw_status status = cli_table_names_find(job, a->path, s->format, &a->source, &a->names);
    if (status == TW_OK) {
        status = cli_table_names_find(job, b->path, s->format, &b->source, &b->names);
    }
    if (status == TW_OK && (a->names.graph == NULL) != (b->names.graph == NULL)) {
        cli_say(job, "only %s names its rows and columns; comparing by position",
                a->names.graph != NULL ? a->path : b->path);
    }
    if (status != TW_OK || a->names.graph == NULL || b->names.graph == NULL) {
        return status;
    }
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        const side *either = i == 0 ? a : b;
        const char *twice = NULL;
        status = cli_table_names_twice(ctx, &either->names, &twice);
        if (twice != NULL) {
            cli_say(job, "%s has two rows or columns '%s'; comparing by position", either->path,
                    twice);
            return TW_OK;
        }
    }
    if (status != TW_OK) {
        return status;
    }
    status = cli_table_names_match(ctx, &b->names, &b->names.rows, a->names.graph,
                                   a->names.rows.list, shape->rows, &out->rows, &missing);
    if (status == TW_OK && missing == NULL) {
        status = cli_table_names_match(ctx, &b->names, &b->names.cols, a->names.graph,
                                       a->names.cols.list, shape->cols, &out->cols, &missing);
    }
    if (status == TW_OK && missing != NULL) {
        *same = false;
        if (s->common.json) {
            report_no(job, "same_names");
        } else {
            cli_print("the names differ: %s has a %s '%s', %s has none\n", a->path,
                      out->cols == NULL ? "row" : "column", missing, b->path);
        }
        return status;
    }
    if (status == TW_OK && is_in_order(out->rows, shape->rows) &&
        is_in_order(out->cols, shape->cols)) {
        free(out->rows);
        free(out->cols);
        *out = (places){NULL, NULL};
    } else if (status == TW_OK) {
        cli_say(job, "the names of %s are in a different order; comparing by name", b->path);
    }
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
        report_no(job, "same_shape");
    } else if (a->planes != b->planes) {
        cli_print("%s has %lld plane%s, %s has %lld\n", a->path, (long long)a->planes,
                  a->planes == 1 ? "" : "s", b->path, (long long)b->planes);
    } else {
        cli_print("%s is %lld x %lld, %s is %lld x %lld\n", a->path, (long long)x->rows,
                  (long long)x->cols, b->path, (long long)y->rows, (long long)y->cols);
    }
    return false;
}

static void report(const cli_job *job, const comparison *c, const cli_table_names *names)
{
    cli_report json;
    cli_report_begin(&json, stdout);
    cli_report_text(&json, "command", "compare");
    cli_report_bool(&json, "equal", c->different == 0);
    cli_report_bool(&json, "same_shape", true);
    if (c->uneven) {
        cli_report_null(&json, "rows");
        cli_report_null(&json, "cols");
    } else {
        cli_report_integer(&json, "rows", c->rows);
        cli_report_integer(&json, "cols", c->cols);
    }
    cli_report_integer(&json, "planes", c->planes);
    cli_report_integer(&json, "different", c->different);
    cli_report_number(&json, "largest_difference",
                      c->different == 0 ? 0
                      : c->most >= 0    ? c->most
                                        : (double)INFINITY);
    if (c->different > 0) {
        cli_report_object(&json, "first");
        cli_report_integer(&json, "plane", c->plane);
        cli_report_integer(&json, "row", c->row);
        cli_report_integer(&json, "col", c->col);
        if (names->graph != NULL) {
            cli_report_vertex(&json, "row_name", names->graph, names->rows.list[c->row]);
            cli_report_vertex(&json, "col_name", names->graph, names->cols.list[c->col]);
        }
        cli_report_number(&json, "a", c->left);
        cli_report_number(&json, "b", c->right);
        cli_report_end_object(&json);
    }
    cli_report_number(&json, "seconds", cli_seconds() - job->started);
    cli_report_end(&json);
}

/* The name of an entry that is a vertex. */
static const char *name_of(char shown[CLI_SHOWN], const side *s, double entry)
{
    return entry >= 0 && entry < (double)s->names.cols.count
               ? cli_show_vertex(shown, s->names.graph, s->names.cols.list[(int64_t)entry])
               : "none";
}

/* Two entries that differ: numbers with digits enough to see it, or names. */
static void print_both(const side *a, const side *b, double left, double right)
{
    char shown[2][CLI_SHOWN];
    if (a->vertices && b->vertices) {
        cli_print(": %s and %s\n", name_of(shown[0], a, left), name_of(shown[1], b, right));
        return;
    }
    cli_show_value(shown[0], left);
    cli_show_value(shown[1], right);
    if (strcmp(shown[0], shown[1]) == 0) {
        cli_print(": %.17g and %.17g\n", left, right);
    } else {
        cli_print(": %s and %s\n", shown[0], shown[1]);
    }
}

static void print(const comparison *c, const side *a, const side *b)
{
    const cli_table_names *names = &a->names;
    char most[CLI_SHOWN], row[CLI_SHOWN], col[CLI_SHOWN];
    if (c->different == 0) {
        cli_print("equal: ");
        if (!c->uneven) {
            cli_print("%lld x %lld%s", (long long)c->rows, (long long)c->cols,
                      c->planes > 1 ? ", " : "");
        }
        if (c->planes > 1) {
            cli_print("%lld planes", (long long)c->planes);
        }
        cli_print("\n");
        return;
    }
    cli_print("%lld of %.0f entries differ", (long long)c->different, c->entries);
    if (c->most >= 0) {
        cli_print(", by at most %s", cli_show_value(most, c->most));
    }
    cli_print("%s%s\n", c->infinite ? "; in some, only one side is a number" : "",
              c->unlike ? "; in some, neither side is, such as inf and nan" : "");
    if (names->graph != NULL) {
        cli_print("first at row %s, column %s",
                  cli_show_vertex(row, names->graph, names->rows.list[c->row]),
                  cli_show_vertex(col, names->graph, names->cols.list[c->col]));
    } else {
        cli_print("first at row %lld, column %lld", (long long)c->row, (long long)c->col);
    }
    if (c->planes > 1) {
        cli_print(" of plane %lld", (long long)c->plane);
    }
    print_both(a, b, c->left, c->right);
}

/* --type is for a raw file among the two. */
static tw_status check_type(const cli_job *job, const settings *s, const side *a, const side *b)
{
    const cli_file first = {"A", a->path}, second = {"B", b->path};
    if (a->image) {
        return cli_refuse(job, "type", "on images");
    }
    tw_status status = cli_refuse_type(job, "type", s->type, &first, s->format);
    return status == TW_OK ? TW_OK : cli_refuse_type(job, "type", s->type, &second, s->format);
}

static tw_status run(cli_job *job, const void *given, int count, char **words)
{
    const settings *s = given;
    side a = {.path = words[0], .source = TW_SOURCE_INIT};
    side b = {.path = words[1], .source = TW_SOURCE_INIT};
    comparison c = {.planes = 1, .most = -1};
    places where = {NULL, NULL};
    bool same = true;
    (void)count;
    tw_status status = cli_begin(job, &s->common);
    if (status == TW_OK && !(s->tolerance >= 0)) {
        status =
            tw_fail(job->ctx, TW_ERR_ARGUMENT, "--tolerance %g: expected 0 or more", s->tolerance);
    }
    if (status == TW_OK && strcmp(a.path, "-") == 0 && strcmp(b.path, "-") == 0) {
        status = tw_fail(job->ctx, TW_ERR_ARGUMENT,
                         "A and B are both standard input, which can be read only once");
    }
    a.image = is_image(s, a.path) || is_image(s, b.path);
    b.image = a.image;
    if (status == TW_OK) {
        status = check_type(job, s, &a, &b);
    }
    for (int64_t plane = 0; plane < c.planes && status == TW_OK; plane++) {
        status = open_side(job, s, &a, plane);
        if (status == TW_OK) {
            status = open_side(job, s, &b, plane);
        }
        if (status == TW_OK && !same_shape(job, s, &a, &b)) {
            job->answer_is_no = true;
            goto done;
        }
        if (status == TW_OK && !a.image) {
            status = match_names(job, s, &a, &b, &where, &same);
        }
        if (!same) {
            job->answer_is_no = status == TW_OK;
            goto done;
        }
        if (status == TW_OK) {
            const tw_shape *shape = &a.source.shape;
            c.uneven |= plane > 0 && (shape->rows != c.rows || shape->cols != c.cols);
            c.planes = a.planes;
            c.rows = shape->rows;
            c.cols = shape->cols;
            c.entries += (double)shape->rows * (double)shape->cols;
            status = compare_plane(job, s, &a, &b, &where, plane, &c);
        }
    }
    if (status == TW_OK) {
        job->answer_is_no = c.different > 0;
        if (s->common.json) {
            report(job, &c, &a.names);
        } else {
            print(&c, &a, &b);
        }
    }
done:
    free(where.rows);
    free(where.cols);
    cli_table_names_clear(&a.names);
    cli_table_names_clear(&b.names);
    tw_source_destroy(&a.source);
    tw_source_destroy(&b.source);
    tw_image_destroy(a.whole);
    tw_image_destroy(b.whole);
    return status;
}

const cli_command cli_compare = {
    .name = "compare",
    .usage = "A B",
    .summary = "find where two matrices, arrays or images differ",
    .text =
        "Compares two matrices of distances, or two arrays or images, entry by entry: equal, or "
        "how many differ, by how much at most, and where first. Rows, columns and planes are "
        "numbered from 0. Exit status 1 if they differ. 'No path' equals 'no path', whatever "
        "number stands for it in a type, and NaN equals NaN.",
    .examples = examples,
    .operands = operands,
    .groups = groups,
    .least = 2,
    .most = 2,
    .settings_size = sizeof(settings),
    .defaults = &defaults,
    .run = run,
};
