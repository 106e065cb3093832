/*
 * The sink of lines "from,to,distance": tw_sink_to_pairs. One thread prints, into a buffer of a
 * quarter of a mebibyte; what is left out costs a comparison.
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

typedef struct pairs_sink {
    char *path;
    const tw_graph *graph;
    const int32_t *sources;
    const int32_t *targets;
    tw_shape shape;
    twi_printer printer;
} pairs_sink;

static void forget_run(pairs_sink *sink)
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

static tw_status pairs_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    pairs_sink *sink = self;
    forget_run(sink);
    sink->shape = *shape;
    sink->printer = (twi_printer){.ctx = ctx, .total = (double)shape->rows, .unit = "rows"};
    tw_status status = TW_OK;
    if (!twi_type_is_element(shape->type) || isnan(tw_apsp_infinity(shape->type))) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "distances of type %s have no lines",
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
    twi_print_text(&sink->printer, "from,to,distance\n");
    return TW_OK;
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

static void print_row(pairs_sink *sink, int64_t number, const char *row)
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

static tw_status pairs_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                            const void *data, int64_t stride)
{
    (void)ctx;
    pairs_sink *sink = self;
    const size_t step = (size_t)stride * tw_type_size(sink->shape.type);
    for (int64_t i = 0; i < count && sink->printer.status == TW_OK && sink->shape.cols > 0; i++) {
        print_row(sink, first + i, (const char *)data + (size_t)i * step);
        sink->printer.done = (double)(first + i + 1);
    }
    return sink->printer.status;
}

static tw_status pairs_end(void *self, tw_context *ctx)
{
    pairs_sink *sink = self;
    tw_status status = twi_print_flush(&sink->printer);
    if (status == TW_OK) {
        twi_output *output = sink->printer.output;
        sink->printer.output = NULL;
        status = twi_output_commit(ctx, output);
    }
    forget_run(sink);
    return status;
}

static void pairs_abort(void *self, tw_context *ctx)
{
    (void)ctx;
    forget_run(self);
}

static void pairs_destroy(void *self)
{
    pairs_sink *sink = self;
    forget_run(sink);
    twi_free(sink->path);
    twi_free(sink);
}

tw_status tw_sink_to_pairs(tw_context *ctx, tw_sink *out, const char *path, const tw_graph *graph,
                           const int32_t *sources, const int32_t *targets)
{
    pairs_sink *self = NULL;
    char *kept = NULL;
    tw_status status = twi_sink_clear(ctx, out);
    if (status == TW_OK) {
        status = TWI_REQUIRE(ctx, {"out", out}, {"path", path});
    }
    if (status == TW_OK && strcmp(path, "-") != 0 && strcmp(twi_extension(path), "csv") != 0) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "'%.300s': lines of from,to,distance are written as .csv", path);
    }
    if (status == TW_OK) {
        status = twi_sink_named(ctx, &self, sizeof *self, &kept, path);
    }
    if (status != TW_OK) {
        return status;
    }
    self->path = kept;
    self->graph = graph;
    self->sources = sources;
    self->targets = targets;
    twi_sink_give(out, (tw_sink){sizeof(tw_sink), self, pairs_begin, pairs_rows, pairs_end,
                                 pairs_abort, pairs_destroy});
    return TW_OK;
}
