/*
 * The k nearest or farthest vertices of every row, kept as the rows of a distance matrix pass by.
 *
 * Of equal distances the column that comes first counts as nearer, or as farther, so the answer
 * depends neither on threads nor on how the rows were cut into blocks. The best k of a row so far
 * are a heap with the worst on top; columns come in order, so a later one enters only if it is
 * strictly better than that. Once the heap is full most columns do not: pieces of a row in which
 * none does are told by one loop that compilers turn into vectors.
 */
#include "apsp/nearest.h"

#include "base/given.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/threads.h"
#include "base/type.h"
#include "io/extension.h"
#include "io/matrix/format.h"
#include "io/print.h"

#include <math.h>
#include <string.h>

#define PIECE 256 /* columns that are passed by together */

struct tw_apsp_nearest {
    int32_t asked; /* k, of which there are as many as columns: info.count */
    bool farthest;
    const int32_t *sources;
    const int32_t *targets;
    tw_apsp_nearest_info info;
    int64_t next;          /* row expected */
    const int64_t *places; /* of a part: of the rows that come; NULL: they come in order */
    int64_t places_rows;   /*   and the rows of the result */
    int32_t *vertices;     /* rows x k */
    double *distances;
};

/* ---------------------------------------------------------------------------------- one row */

/* The best of a row so far, the worst of them first. */
typedef struct heap {
    int32_t used;
    int32_t room;
    bool farthest;
    int32_t *column;
    double *value;
} heap;

/* Whether entry i of the heap is worse than a value in a column. */
static bool is_worse(const heap *h, int32_t i, double value, int32_t column)
{
    if (h->value[i] != value) {
        return h->farthest ? h->value[i] < value : h->value[i] > value;
    }
    return h->column[i] > column;
}

/* A value at place i, from which it sinks to where it belongs among the first `used`. */
static void sink_down(heap *h, int32_t i, int32_t used, double value, int32_t column)
{
    for (int32_t child = 2 * i + 1; child < used; child = 2 * i + 1) {
        if (child + 1 < used && is_worse(h, child + 1, h->value[child], h->column[child])) {
            child++;
        }
        if (!is_worse(h, child, value, column)) {
            break;
        }
        h->value[i] = h->value[child];
        h->column[i] = h->column[child];
        i = child;
    }
    h->value[i] = value;
    h->column[i] = column;
}

/* A new entry at the end, which rises above those that are better. */
static void push(heap *h, double value, int32_t column)
{
    int32_t i = h->used++;
    while (i > 0) {
        const int32_t parent = (i - 1) / 2;
        if (is_worse(h, parent, value, column)) {
            break;
        }
        h->value[i] = h->value[parent];
        h->column[i] = h->column[parent];
        i = parent;
    }
    h->value[i] = value;
    h->column[i] = column;
}

/* A value in a column that is later than all before. */
static void offer(heap *h, double value, int32_t column)
{
    if (h->used < h->room) {
        push(h, value, column);
    } else if (is_worse(h, 0, value, column)) {
        sink_down(h, 0, h->used, value, column);
    }
}

/* The best first: the worst goes to the end, one after the other. */
static void sort(heap *h)
{
    for (int32_t last = h->used - 1; last > 0; last--) {
        const double value = h->value[last];
        const int32_t column = h->column[last];
        h->value[last] = h->value[0];
        h->column[last] = h->column[0];
        sink_down(h, 0, last, value, column);
    }
}

/* Columns [from, to) of a row, those below CAP: a piece at a time, which counts only if one of them
 * is better than the worst that is kept. */
#define DEFINE_SCAN(NAME, ELEMENT, CAP)                                          \
    static void scan_##NAME(heap *h, const void *data, int64_t from, int64_t to) \
    {                                                                            \
        const ELEMENT *row = data;                                               \
        for (int64_t piece = from; piece < to; piece += PIECE) {                 \
            const int64_t end = to - piece < PIECE ? to : piece + PIECE;         \
            int32_t better = h->used < h->room;                                  \
            if (!better) {                                                       \
                const ELEMENT worst = (ELEMENT)h->value[0];                      \
                for (int64_t j = piece; j < end && !h->farthest; j++) {          \
                    better |= row[j] < worst;                                    \
                }                                                                \
                for (int64_t j = piece; j < end && h->farthest; j++) {           \
                    better |= (row[j] > worst) & (row[j] < (CAP));               \
                }                                                                \
            }                                                                    \
            for (int64_t j = piece; j < end && better; j++) {                    \
                if (row[j] < (CAP)) {                                            \
                    offer(h, (double)row[j], (int32_t)j);                        \
                }                                                                \
            }                                                                    \
        }                                                                        \
    }
DEFINE_SCAN(u8, uint8_t, TW_APSP_INF_U8)
DEFINE_SCAN(u16, uint16_t, TW_APSP_INF_U16)
DEFINE_SCAN(i16, int16_t, INT16_MAX)
DEFINE_SCAN(i32, int32_t, TW_APSP_INF_I32)
DEFINE_SCAN(f32, float, INFINITY)
DEFINE_SCAN(f64, double, (double)INFINITY)

typedef void (*scan_fn)(heap *h, const void *row, int64_t from, int64_t to);
static const scan_fn scans[] = {[TW_U8] = scan_u8,   [TW_U16] = scan_u16, [TW_I16] = scan_i16,
                                [TW_I32] = scan_i32, [TW_F32] = scan_f32, [TW_F64] = scan_f64};

static void take_row(const tw_apsp_nearest *nearest, int64_t row, const void *data)
{
    const int64_t k = nearest->info.count;
    const int64_t cols = nearest->info.cols;
    const int32_t *targets = nearest->targets;
    const int64_t vertex = nearest->sources != NULL ? nearest->sources[row] : row;
    const scan_fn scan = scans[nearest->info.type];
    heap h = {.room = nearest->info.count,
              .farthest = nearest->farthest,
              .column = nearest->vertices + row * k,
              .value = nearest->distances + row * k};
    int64_t from = 0;
    if (targets == NULL && vertex < cols) { /* the columns but the row's own vertex */
        scan(&h, data, 0, vertex);
        from = vertex + 1;
    }
    for (int64_t to = from; targets != NULL && from < cols; from = to + 1) {
        for (to = from; to < cols && targets[to] != vertex; to++) {
        }
        scan(&h, data, from, to);
    }
    if (targets == NULL) {
        scan(&h, data, from, cols);
    }
    sort(&h);
    for (int64_t i = 0; i < k; i++) {
        const bool missing = i >= h.used;
        h.value[i] = missing ? (double)INFINITY : h.value[i];
        h.column[i] = missing           ? TW_APSP_NO_VERTEX
                      : targets != NULL ? targets[h.column[i]]
                                        : h.column[i];
    }
}

/* --------------------------------------------------------------------------------- the sink */

static void forget(tw_apsp_nearest *nearest)
{
    twi_free(nearest->vertices);
    twi_free(nearest->distances);
    nearest->vertices = NULL;
    nearest->distances = NULL;
    nearest->next = 0;
    nearest->info = (tw_apsp_nearest_info){.count = nearest->asked, .farthest = nearest->farthest};
}

static tw_status begin_rows(tw_apsp_nearest *nearest, tw_context *ctx, const tw_shape *shape)
{
    uint64_t entries = 0;
    if (shape->rows < 0 || shape->cols < 0 || shape->cols > INT32_MAX ||
        !twi_type_is_element(shape->type)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "a %lld x %lld matrix of type %s has no nearest vertices",
                       (long long)shape->rows, (long long)shape->cols, tw_type_name(shape->type));
    }
    const uint64_t each = sizeof *nearest->vertices + sizeof *nearest->distances;
    const int64_t most = shape->cols > 1 ? shape->cols : 1;
    const int32_t k = nearest->asked < most ? nearest->asked : (int32_t)most;
    uint64_t bytes = 0;
    forget(nearest);
    if (!twi_mul((uint64_t)shape->rows, (uint64_t)k, &entries) || !twi_mul(entries, each, &bytes)) {
        return tw_fail(ctx, TW_ERR_MEMORY, "%d vertices for each of %lld rows are too many", (int)k,
                       (long long)shape->rows);
    }
    tw_status status = twi_memory_check(ctx, bytes, "the list of nearest vertices");
    if (status != TW_OK) {
        return status;
    }
    status = twi_alloc(ctx, &nearest->vertices, entries, sizeof *nearest->vertices,
                       "the nearest vertices");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &nearest->distances, entries, sizeof *nearest->distances,
                           "the nearest vertices");
    }
    if (status != TW_OK) {
        forget(nearest);
        return status;
    }
    nearest->info.count = k;
    nearest->info.rows = shape->rows;
    nearest->info.cols = shape->cols;
    nearest->info.type = shape->type;
    return TW_OK;
}

static tw_status nearest_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    tw_apsp_nearest *nearest = self;
    nearest->places = NULL;
    return begin_rows(nearest, ctx, shape);
}

static tw_status nearest_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                              const void *data, int64_t stride)
{
    tw_apsp_nearest *nearest = self;
    const size_t step = (size_t)stride * tw_type_size(nearest->info.type);
    tw_status status = twi_check_cancel(ctx);
    if (status == TW_OK &&
        (first != nearest->next || count < 0 || count > nearest->info.rows - first)) {
        status = tw_fail(ctx, TW_ERR_INTERNAL, "got rows %lld to %lld; expected row %lld",
                         (long long)first, (long long)(first + count), (long long)nearest->next);
    }
    if (status != TW_OK) {
        return status;
    }
#pragma omp parallel for num_threads(twi_threads_for(ctx, count * nearest->info.cols)) \
    schedule(dynamic, 1)
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = nearest->places != NULL ? nearest->places[first + i] : first + i;
        take_row(nearest, row, (const char *)data + (size_t)i * step);
    }
    nearest->next += count;
    return TW_OK;
}

static tw_status nearest_end(void *self, tw_context *ctx)
{
    const tw_apsp_nearest *nearest = self;
    if (nearest->next != nearest->info.rows) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "the result ended after row %lld of %lld",
                       (long long)nearest->next, (long long)nearest->info.rows);
    }
    return TW_OK;
}

static void nearest_abort(void *self, tw_context *ctx)
{
    (void)ctx;
    forget(self);
}

/* ---------------------------------------------------------------------------------------- parts */

static tw_status part_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    tw_apsp_nearest *nearest = self;
    const tw_shape all = {nearest->places_rows, shape->cols, shape->type};
    tw_status status = begin_rows(nearest, ctx, &all);
    if (status == TW_OK) {
        const size_t entries = (size_t)all.rows * (size_t)nearest->info.count;
        memset(nearest->vertices, 0, entries * sizeof *nearest->vertices);
        memset(nearest->distances, 0, entries * sizeof *nearest->distances);
    }
    return status;
}

void twi_nearest_part_sink(tw_apsp_nearest *nearest, const int64_t *places, int64_t rows,
                           tw_sink *out)
{
    forget(nearest);
    nearest->places = places;
    nearest->places_rows = rows;
    *out = (tw_sink){sizeof(tw_sink), nearest,          part_begin, nearest_rows,
                     twi_sink_ended,  twi_sink_aborted, NULL};
}

twi_nearest_part twi_nearest_part_of(tw_apsp_nearest *nearest)
{
    return (twi_nearest_part){nearest->vertices, nearest->distances,
                              nearest->info.rows * nearest->info.count};
}

void twi_nearest_part_forget(tw_apsp_nearest *nearest)
{
    forget(nearest);
}

/* ------------------------------------------------------------------------------- the public */

tw_status tw_apsp_nearest_create(tw_context *ctx, tw_apsp_nearest **out,
                                 const tw_apsp_nearest_options *given)
{
    tw_apsp_nearest_options options = TW_APSP_NEAREST_OPTIONS_INIT;
    tw_apsp_nearest *nearest = NULL;
    twi_clear_handle(out);
    tw_status status = TWI_REQUIRE(ctx, {"out", out});
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_apsp_nearest_options, &options, given);
    }
    if (status == TW_OK && options.count < 1) {
        status =
            tw_fail(ctx, TW_ERR_ARGUMENT, "the %d nearest vertices were requested; use 1 or more",
                    (int)options.count);
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &nearest, 1, sizeof *nearest, "the nearest vertices");
    }
    if (status == TW_OK) {
        nearest->asked = options.count;
        nearest->farthest = options.farthest != 0;
        nearest->sources = options.sources;
        nearest->targets = options.targets;
        forget(nearest);
        *out = nearest;
    }
    return status;
}

tw_status tw_apsp_nearest_sink(tw_apsp_nearest *nearest, tw_sink *out)
{
    const tw_status status = twi_sink_clear(NULL, out);
    if (status != TW_OK || out == NULL || nearest == NULL) {
        return TW_ERR_ARGUMENT;
    }
    twi_sink_give(out, (tw_sink){sizeof(tw_sink), nearest, nearest_begin, nearest_rows, nearest_end,
                                 nearest_abort, NULL});
    return TW_OK;
}

tw_status tw_apsp_nearest_describe(const tw_apsp_nearest *nearest, tw_apsp_nearest_info *out)
{
    if (nearest == NULL) {
        return TW_ERR_ARGUMENT;
    }
    return TWI_DESCRIBE(NULL, tw_apsp_nearest_info, out, &nearest->info);
}

const int32_t *tw_apsp_nearest_vertices(const tw_apsp_nearest *nearest)
{
    return nearest != NULL ? nearest->vertices : NULL;
}

const double *tw_apsp_nearest_distances(const tw_apsp_nearest *nearest)
{
    return nearest != NULL ? nearest->distances : NULL;
}

void tw_apsp_nearest_destroy(tw_apsp_nearest *nearest)
{
    if (nearest != NULL) {
        forget(nearest);
        twi_free(nearest);
    }
}

/* ---------------------------------------------------------------------------------- as a file */

static void print_rows(twi_printer *printer, const tw_apsp_nearest *nearest, const tw_graph *graph)
{
    const int64_t k = nearest->info.count;
    const tw_type type = nearest->info.type == TW_F32 ? TW_F32 : TW_F64; /* fewest digits */
    twi_print_text(printer, "source,target,distance\n");
    for (int64_t row = 0; row < nearest->info.rows && printer->status == TW_OK; row++) {
        const int64_t vertex = nearest->sources != NULL ? nearest->sources[row] : row;
        for (int64_t i = row * k; i < (row + 1) * k && nearest->vertices[i] >= 0; i++) {
            twi_print_vertex(printer, graph, vertex);
            twi_print_char(printer, ',');
            twi_print_vertex(printer, graph, nearest->vertices[i]);
            twi_print_char(printer, ',');
            const float single = (float)nearest->distances[i];
            char line[64];
            const void *value = type == TW_F32 ? (const void *)&single : &nearest->distances[i];
            twi_print_bytes(printer, line, twi_csv_format_row(line, value, 1, type));
        }
        printer->done = (double)row + 1;
    }
}

tw_status tw_apsp_nearest_write(tw_context *ctx, const tw_apsp_nearest *nearest,
                                const tw_graph *graph, const char *path)
{
    tw_status status = TWI_REQUIRE(ctx, {"nearest", nearest}, {"path", path});
    if (status == TW_OK && nearest->vertices == NULL) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "no matrix has passed through the sink yet");
    }
    if (status == TW_OK && strcmp(path, "-") != 0 && strcmp(twi_extension(path), "csv") != 0) {
        status =
            tw_fail(ctx, TW_ERR_ARGUMENT,
                    "'%.60s': nearest vertices are written as .csv, source,target,distance", path);
    }
    twi_printer printer = {.ctx = ctx, .unit = "rows"};
    if (status == TW_OK) {
        printer.total = (double)nearest->info.rows;
        status = twi_alloc(ctx, &printer.buffer, TWI_PRINT_BUFFER, 1, "the nearest vertices");
    }
    if (status == TW_OK) {
        status = twi_output_open(ctx, &printer.output, path, 0);
    }
    if (status == TW_OK) {
        print_rows(&printer, nearest, graph);
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
