/*
 * The sinks of text that names its vertices: lines "from,to,distance" (tw_sink_to_pairs) and tables
 * with a name above each column and before each row (tw_sink_to_table). One thread prints, into a
 * buffer of a quarter of a mebibyte; what lines leave out costs a comparison.
 */
#include "base/given.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/type.h"
#include "io/extension.h"
#include "io/matrix/format.h"
#include "io/print.h"
#include "io/sink/named.h"

#include <math.h>
#include <string.h>

#define STRETCH 256 /* distances of a table printed together */
#define WIDEST 28   /* bytes of one, see twi_csv_width */

typedef enum layout {
    LINES,   /* from,to,distance */
    TABLE,   /* of distances */
    VERTICES /* a table of vertices */
} layout;

typedef struct text_sink {
    layout layout;
    char *path;
    const tw_graph *graph;
    const int32_t *sources;
    const int32_t *targets;
    tw_shape shape;
    twi_printer printer;
} text_sink;

static void forget_run(text_sink *sink)
{
    twi_output_discard(sink->printer.output);
    twi_free(sink->printer.buffer);
    sink->printer = (twi_printer){.ctx = NULL};
}

/* Whether every vertex of the rows or columns has a name. */
static tw_status check_vertices(tw_context *ctx, const tw_graph *graph, const int32_t *list,
                                int64_t count)
{
    for (int64_t i = 0; i < count && graph != NULL; i++) {
        const int64_t vertex = list != NULL ? list[i] : i;
        if (vertex < 0 || vertex >= graph->n) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "vertex %lld of the distances is outside 0 ... %lld of the graph",
                           (long long)vertex, (long long)graph->n - 1);
        }
    }
    return TW_OK;
}

/* The first line of a table: nothing above the names of the rows, then those of the columns. */
static void print_titles(text_sink *sink)
{
    twi_printer *printer = &sink->printer;
    for (int64_t j = 0; j < sink->shape.cols && printer->status == TW_OK; j++) {
        twi_print_char(printer, ',');
        twi_print_vertex(printer, sink->graph, sink->targets != NULL ? sink->targets[j] : j);
    }
    twi_print_char(printer, '\n');
}

static tw_status text_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    text_sink *sink = self;
    forget_run(sink);
    sink->shape = *shape;
    sink->printer = (twi_printer){.ctx = ctx, .total = (double)shape->rows, .unit = "rows"};
    tw_status status = TW_OK;
    if (!twi_type_is_element(shape->type) || isnan(tw_apsp_infinity(shape->type))) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "distances of type %s have no %s",
                         tw_type_name(shape->type), sink->layout == LINES ? "lines" : "table");
    }
    if (status == TW_OK && sink->layout == VERTICES && shape->type != TW_I32) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "a table of vertices is of i32, not %s",
                         tw_type_name(shape->type));
    }
    if (status == TW_OK) {
        status = check_vertices(ctx, sink->graph, sink->sources, shape->rows);
    }
    if (status == TW_OK) {
        status = check_vertices(ctx, sink->graph, sink->targets, shape->cols);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &sink->printer.buffer, TWI_PRINT_BUFFER, 1, "lines to be written");
    }
    if (status == TW_OK) {
        status = twi_output_open(ctx, &sink->printer.output, sink->path, 0);
    }
    if (status != TW_OK) {
        forget_run(sink);
        return status;
    }
    if (sink->layout == LINES) {
        twi_print_text(&sink->printer, "from,to,distance\n");
    } else {
        print_titles(sink);
    }
    return sink->printer.status;
}

static double value_at(const char *row, tw_type type, int64_t col)
{
    switch (type) {
    case TW_U8:
        return ((const uint8_t *)row)[col];
    case TW_U16:
        return ((const uint16_t *)(const void *)row)[col];
    case TW_I32:
        return ((const int32_t *)(const void *)row)[col];
    case TW_F32:
        return (double)((const float *)(const void *)row)[col];
    default:
        return ((const double *)(const void *)row)[col];
    }
}

/* Distances as in a matrix without names. */
static void print_distances(text_sink *sink, const char *row)
{
    const tw_type type = sink->shape.type;
    const int64_t cols = sink->shape.cols;
    char text[STRETCH * WIDEST];
    for (int64_t j = 0; j < cols && sink->printer.status == TW_OK; j += STRETCH) {
        const int64_t count = cols - j < STRETCH ? cols - j : STRETCH;
        const char *from = row + (size_t)j * tw_type_size(type);
        const size_t length = twi_csv_format_row(text, from, count, type);
        twi_print_char(&sink->printer, ',');
        twi_print_bytes(&sink->printer, text, length - 1); /* without the end of a line */
    }
}

/* What is no vertex, as where there is no predecessor, is an empty field. */
static void print_vertices(text_sink *sink, const char *row)
{
    const int64_t n = sink->graph != NULL ? sink->graph->n : (int64_t)INT32_MAX + 1;
    for (int64_t j = 0; j < sink->shape.cols && sink->printer.status == TW_OK; j++) {
        const int32_t vertex = ((const int32_t *)(const void *)row)[j];
        twi_print_char(&sink->printer, ',');
        if (vertex >= 0 && vertex < n) {
            twi_print_vertex(&sink->printer, sink->graph, vertex);
        }
    }
}

static void print_table_row(text_sink *sink, int64_t number, const char *row)
{
    const int64_t from = sink->sources != NULL ? sink->sources[number] : number;
    twi_print_vertex(&sink->printer, sink->graph, from);
    if (sink->layout == VERTICES) {
        print_vertices(sink, row);
    } else {
        print_distances(sink, row);
    }
    twi_print_char(&sink->printer, '\n');
}

static void print_lines(text_sink *sink, int64_t number, const char *row)
{
    twi_printer *printer = &sink->printer;
    const tw_type type = sink->shape.type;
    const size_t size = tw_type_size(type);
    const double none = tw_apsp_infinity(type);
    const int64_t from = sink->sources != NULL ? sink->sources[number] : number;
    for (int64_t j = 0; j < sink->shape.cols && printer->status == TW_OK; j++) {
        const int64_t to = sink->targets != NULL ? sink->targets[j] : j;
        char line[64];
        if (to == from || value_at(row, type, j) == none) {
            continue;
        }
        twi_print_vertex(printer, sink->graph, from);
        twi_print_char(printer, ',');
        twi_print_vertex(printer, sink->graph, to);
        twi_print_char(printer, ',');
        twi_print_bytes(printer, line, twi_csv_format_row(line, row + (size_t)j * size, 1, type));
    }
}

static tw_status text_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                           const void *data, int64_t stride)
{
    (void)ctx;
    text_sink *sink = self;
    const size_t step = (size_t)stride * tw_type_size(sink->shape.type);
    for (int64_t i = 0; i < count && sink->printer.status == TW_OK && sink->shape.cols > 0; i++) {
        const char *row = (const char *)data + (size_t)i * step;
        if (sink->layout == LINES) {
            print_lines(sink, first + i, row);
        } else {
            print_table_row(sink, first + i, row);
        }
        sink->printer.done = (double)(first + i + 1);
    }
    return sink->printer.status;
}

static tw_status text_end(void *self, tw_context *ctx)
{
    text_sink *sink = self;
    tw_status status = twi_print_flush(&sink->printer);
    if (status == TW_OK) {
        twi_output *output = sink->printer.output;
        sink->printer.output = NULL;
        status = twi_output_commit(ctx, output);
    }
    forget_run(sink);
    return status;
}

static void text_abort(void *self, tw_context *ctx)
{
    (void)ctx;
    forget_run(self);
}

static void text_destroy(void *self)
{
    text_sink *sink = self;
    forget_run(sink);
    twi_free(sink->path);
    twi_free(sink);
}

static tw_status make_sink(tw_context *ctx, tw_sink *out, const char *path, const text_sink *how)
{
    text_sink *self = NULL;
    char *kept = NULL;
    tw_status status = twi_sink_named(ctx, &self, sizeof *self, &kept, path);
    if (status != TW_OK) {
        return status;
    }
    *self = *how;
    self->path = kept;
    twi_sink_give(out, (tw_sink){sizeof(tw_sink), self, text_begin, text_rows, text_end, text_abort,
                                 text_destroy});
    return TW_OK;
}

tw_status tw_sink_to_pairs(tw_context *ctx, tw_sink *out, const char *path, const tw_graph *graph,
                           const int32_t *sources, const int32_t *targets)
{
    const text_sink how = {.layout = LINES, .graph = graph, .sources = sources, .targets = targets};
    tw_status status = twi_sink_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out}, {"path", path});
    }
    if (status == TW_OK && strcmp(path, "-") != 0 && strcmp(twi_extension(path), "csv") != 0) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "'%.300s': lines of from,to,distance are written as .csv", path);
    }
    return status == TW_OK ? make_sink(ctx, out, path, &how) : status;
}

tw_status tw_sink_to_table(tw_context *ctx, tw_sink *out, const char *path, const tw_graph *graph,
                           const int32_t *sources, const int32_t *targets, int32_t vertices)
{
    const text_sink how = {.layout = vertices != 0 ? VERTICES : TABLE,
                           .graph = graph,
                           .sources = sources,
                           .targets = targets};
    tw_status status = twi_sink_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out}, {"path", path});
    }
    return status == TW_OK ? make_sink(ctx, out, path, &how) : status;
}
