/* A number for each vertex, beside its name: tw_vertices_write. */
#include "base/given.h"
#include "base/memory.h"
#include "io/extension.h"
#include "io/matrix/format.h"
#include "io/print.h"

#include <string.h>

typedef struct column {
    const char *name; /* NULL: none */
    const void *values;
    tw_type type;
} column;

static void print_value(twi_printer *printer, const column *c, int64_t at)
{
    char line[64];
    if (c->type == TW_F64) { /* with its end of line */
        twi_print_bytes(printer, line,
                        twi_csv_format_row(line, (const double *)c->values + at, 1, TW_F64));
        return;
    }
    twi_print_whole(printer, c->type == TW_I64 ? ((const int64_t *)c->values)[at]
                                               : ((const int32_t *)c->values)[at]);
    twi_print_char(printer, '\n');
}

static void print_lines(twi_printer *printer, const tw_graph *graph, const int32_t *vertices,
                        int64_t count, const column *c)
{
    if (c->values != NULL) {
        twi_print_text(printer, "vertex,");
        twi_print_text(printer, c->name);
        twi_print_char(printer, '\n');
    }
    for (int64_t i = 0; i < count && printer->status == TW_OK; i++) {
        twi_print_vertex(printer, graph, vertices != NULL ? vertices[i] : i);
        if (c->values != NULL) {
            twi_print_char(printer, ',');
            print_value(printer, c, i);
        } else {
            twi_print_char(printer, '\n');
        }
        printer->done = (double)i + 1;
    }
}

static tw_status check(tw_context *ctx, const char *path, const tw_graph *graph,
                       const int32_t *vertices, int64_t count, const column *c)
{
    if (count < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "count is %lld", (long long)count);
    }
    if (c->values != NULL && c->name == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "values need a name for their column");
    }
    if (c->values != NULL && c->type != TW_I32 && c->type != TW_I64 && c->type != TW_F64) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "values of type %s; use i32, i64 or f64",
                       tw_type_name(c->type));
    }
    if (c->values != NULL && strcmp(path, "-") != 0 && strcmp(twi_extension(path), "csv") != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "'%.300s': vertices and values are written as .csv",
                       path);
    }
    for (int64_t i = 0; i < count && graph != NULL; i++) {
        const int64_t vertex = vertices != NULL ? vertices[i] : i;
        if (vertex < 0 || vertex >= graph->n) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "vertex %lld is outside 0 ... %lld",
                           (long long)vertex, (long long)graph->n - 1);
        }
    }
    return TW_OK;
}

tw_status tw_vertices_write(tw_context *ctx, const char *path, const tw_graph *graph,
                            const int32_t *vertices, int64_t count, const char *name,
                            const void *values, tw_type type)
{
    const column c = {name, values, type};
    tw_status status = TWI_REQUIRE(ctx, {"path", path});
    if (status == TW_OK) {
        status = check(ctx, path, graph, vertices, count, &c);
    }
    twi_printer printer = {.ctx = ctx, .total = (double)count, .unit = "vertices"};
    if (status == TW_OK) {
        status = twi_alloc(ctx, &printer.buffer, TWI_PRINT_BUFFER, 1, "the output buffer");
    }
    if (status == TW_OK) {
        status = twi_output_open(ctx, &printer.output, path, 0);
    }
    if (status == TW_OK) {
        print_lines(&printer, graph, vertices, count, &c);
        status = twi_print_flush(&printer);
        if (status == TW_OK) {
            status = twi_output_commit(ctx, printer.output);
        } else {
            twi_output_discard(printer.output);
        }
    }
    twi_free(printer.buffer);
    return status;
}
