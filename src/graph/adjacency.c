/*
 * A matrix of adjacency to compressed rows: one pass counts the edges of each row, a second writes
 * them. Threads take blocks of rows. Rows are first converted to doubles, in which every weight
 * type is exact, with +inf for "no edge"; so the type of entries is looked at once per row. When
 * each edge counts both ways, entry (i, j) becomes the minimum of (i, j) and (j, i): a block reads
 * its columns as short pieces of rows, one cache line each.
 *
 * Integers that may not fit i32 (wide ones: u32, i64, u64) become i32 if all of them do, which the
 * first pass finds out, else f64. What f64 does not hold is NaN on the way, and refused.
 *
 * Memory beside the graph: ROWS rows of doubles per thread.
 */
#include "graph/adjacency.h"

#include "base/matrix.h"
#include "base/memory.h"
#include "base/threads.h"
#include "base/type.h"
#include "graph/no_edge.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 8 }; /* rows a thread converts at a time */

typedef struct scan {
    tw_context *ctx;
    const twi_adjacency *matrix;
    bool both;
    bool wide;
    tw_graph *graph;
    bool fill; /* the second pass */
    twi_weight_stats stats;
    int64_t bad;  /* first impossible entry, row-major; INT64_MAX if none */
    bool starved; /* a thread got no memory */
} scan;

static const struct {
    double infinity; /* at or above it there is no edge */
    tw_type weight_type;
} entries[TWI_ENTRY_COUNT] = {
    [TWI_ENTRY_BOOL] = {2, TW_I32},
    [TWI_ENTRY_I8] = {INT8_MAX, TW_I32},
    [TWI_ENTRY_U8] = {TWI_NO_EDGE_U8, TW_I32},
    [TWI_ENTRY_I16] = {TWI_NO_EDGE_I16, TW_I32},
    [TWI_ENTRY_U16] = {TWI_NO_EDGE_U16, TW_I32},
    [TWI_ENTRY_I32] = {TWI_NO_EDGE_I32, TW_I32},
    [TWI_ENTRY_U32] = {INFINITY, TW_F64}, /* wide ones have marks of their own */
    [TWI_ENTRY_I64] = {INFINITY, TW_F64},
    [TWI_ENTRY_U64] = {INFINITY, TW_F64},
    [TWI_ENTRY_F32] = {INFINITY, TW_F32},
    [TWI_ENTRY_F64] = {INFINITY, TW_F64},
};

#define CONVERT(type)                                 \
    for (int64_t k = 0; k < count; k++, at += step) { \
        type value;                                   \
        memcpy(&value, at, sizeof value);             \
        out[k] = (double)value;                       \
    }                                                 \
    break

/* ----------------------------------------------------------------------------- wide integers */

static bool is_wide(twi_entry entry)
{
    return entry == TWI_ENTRY_U32 || entry == TWI_ENTRY_I64 || entry == TWI_ENTRY_U64;
}

/* Whether a mark is an integer of a type that begins at `least` and ends below `end`. From there on
 * the largest one is meant: no double can say it. */
static bool is_mark(const double *mark, double least, double end)
{
    return mark != NULL && *mark >= least && (*mark >= end || *mark == floor(*mark));
}

/* The caller's mark is the only one. Without it, 2^30 - 1 is, as in i32, and the largest number. */
#define CONVERT_WIDE(type, least, most, end)                                                   \
    {                                                                                          \
        const bool marked = is_mark(m->no_edge, (least), (end));                               \
        const type mark = !marked ? (most) : *m->no_edge < (end) ? (type)*m->no_edge : (most); \
        const type other = marked ? mark : TWI_NO_EDGE_I32;                                    \
        for (int64_t k = 0; k < count; k++, at += m->col_step) {                               \
            type value;                                                                        \
            memcpy(&value, at, sizeof value);                                                  \
            const double near = (double)value;                                                 \
            const bool fits = fabs(near) <= TWI_EXACT_LIMIT && (type)near == value;            \
            out[k] = value == mark || value == other ? INFINITY : fits ? near : NAN;           \
        }                                                                                      \
    }

static void load_wide(const twi_adjacency *m, const char *at, int64_t count, double *out)
{
    if (m->entry == TWI_ENTRY_U32) {
        CONVERT_WIDE(uint32_t, 0, UINT32_MAX, 0x1p32)
    } else if (m->entry == TWI_ENTRY_U64) {
        CONVERT_WIDE(uint64_t, 0, UINT64_MAX, 0x1p64)
    } else {
        CONVERT_WIDE(int64_t, -0x1p63, INT64_MAX, 0x1p63)
    }
}

/* ---------------------------------------------------------------------------------- the rows */

/* Entries (row, col) ... (row, col + count - 1) as doubles. */
static void load(const twi_adjacency *m, int64_t row, int64_t col, int64_t count, double *out)
{
    const char *at = m->data + row * m->row_step + col * m->col_step;
    int64_t step = m->col_step;
    if (is_wide(m->entry)) {
        load_wide(m, at, count, out);
        return;
    }
    switch (m->entry) {
    case TWI_ENTRY_I8:
        CONVERT(int8_t);
    case TWI_ENTRY_I16:
        CONVERT(int16_t);
    case TWI_ENTRY_U16:
        CONVERT(uint16_t);
    case TWI_ENTRY_I32:
        CONVERT(int32_t);
    case TWI_ENTRY_F32:
        CONVERT(float);
    case TWI_ENTRY_F64:
        CONVERT(double);
    default:
        CONVERT(uint8_t);
    }
    double infinity = entries[m->entry].infinity;
    for (int64_t k = 0; k < count; k++) {
        out[k] = out[k] >= infinity ? INFINITY : out[k];
    }
    if (m->entry == TWI_ENTRY_BOOL) {
        for (int64_t k = 0; k < count; k++) {
            out[k] = out[k] != 0 ? 1 : INFINITY;
        }
    }
    if (m->no_edge != NULL) {
        double mark = *m->no_edge;
        for (int64_t k = 0; k < count; k++) {
            out[k] = out[k] == mark || (isnan(mark) && isnan(out[k])) ? INFINITY : out[k];
        }
    }
}

/* Rows first ... first+rows-1 into the buffer, n doubles each. */
static void load_block(const scan *s, int64_t first, int64_t rows, double *buffer)
{
    int64_t n = s->matrix->vertices;
    for (int64_t i = 0; i < rows; i++) {
        load(s->matrix, first + i, 0, n, buffer + i * n);
    }
    if (!s->both) {
        return;
    }
    double mirror[ROWS];
    for (int64_t j = 0; j < n; j++) {
        load(s->matrix, j, first, rows, mirror);
        for (int64_t i = 0; i < rows; i++) {
            /* A NaN on either side stays: it must be seen. */
            if (mirror[i] < buffer[i * n + j] || isnan(mirror[i])) {
                buffer[i * n + j] = mirror[i];
            }
        }
    }
}

/* Integers below i32 come from wide ones alone, which have become f64. */
static bool impossible(double weight)
{
    return !(weight >= -DBL_MAX);
}

static void put(tw_graph *graph, int64_t at, int64_t target, double weight)
{
    graph->targets[at] = (int32_t)target;
    switch (graph->weight_type) {
    case TW_I32:
        ((int32_t *)graph->weights)[at] = (int32_t)weight;
        break;
    case TW_F32:
        ((float *)graph->weights)[at] = (float)weight;
        break;
    default:
        ((double *)graph->weights)[at] = weight;
        break;
    }
}

/* Counts or writes the edges of one converted row; returns the first impossible entry. */
static int64_t take_row(const scan *s, int64_t row, const double *values, twi_weight_stats *stats)
{
    tw_graph *graph = s->graph;
    int64_t n = graph->n;
    int64_t at = s->fill ? graph->offsets[row] : 0;
    for (int64_t j = 0; j < n; j++) {
        double weight = values[j];
        if (weight == INFINITY) {
            continue;
        }
        if (s->matrix->unit) {
            weight = 1;
        }
        if (j == row && weight >= 0) {
            continue;
        }
        if (impossible(weight)) {
            return row * n + j;
        }
        if (s->fill) {
            put(graph, at, j, weight);
        }
        if (s->fill || s->wide) {
            twi_see_weight(stats, weight);
        }
        at++;
    }
    if (!s->fill) {
        graph->offsets[row + 1] = at;
    }
    return INT64_MAX;
}

uint64_t twi_adjacency_scratch(tw_context *ctx, int64_t vertices)
{
    return (uint64_t)twi_thread_count(ctx) * (uint64_t)vertices * ROWS * sizeof(double);
}

tw_type twi_adjacency_type(const twi_adjacency *matrix)
{
    return matrix->unit ? TW_I32 : entries[matrix->entry].weight_type;
}

int64_t twi_adjacency_count(const twi_adjacency *matrix, int64_t first, int64_t rows,
                            double *buffer)
{
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++) {
        load(matrix, i, 0, matrix->vertices, buffer);
        for (int64_t j = 0; j < matrix->vertices; j++) {
            count += buffer[j] != INFINITY && !(j == first + i && buffer[j] >= 0);
        }
    }
    return count;
}

static void run_pass(scan *s)
{
    int64_t n = s->graph->n;
    int64_t blocks = (n + ROWS - 1) / ROWS;
#pragma omp parallel num_threads(twi_thread_count(s->ctx))
    {
        twi_weight_stats stats = twi_no_weights();
        int64_t bad = INT64_MAX;
        double *buffer = twi_try_alloc(s->ctx, (uint64_t)n, ROWS * sizeof *buffer);
#pragma omp for schedule(dynamic, 1)
        for (int64_t block = 0; block < blocks; block++) {
            if (buffer == NULL || twi_is_cancelled(s->ctx)) {
                continue;
            }
            int64_t first = block * ROWS;
            int64_t rows = n - first < ROWS ? n - first : ROWS;
            load_block(s, first, rows, buffer);
            for (int64_t i = 0; i < rows; i++) {
                int64_t found = take_row(s, first + i, buffer + i * n, &stats);
                bad = found < bad ? found : bad;
            }
        }
#pragma omp critical(twi_adjacency_merge)
        {
            twi_merge_stats(&s->stats, &stats);
            s->bad = bad < s->bad ? bad : s->bad;
            s->starved |= buffer == NULL;
        }
        twi_free(buffer);
    }
}

/* A wide integer that f64 does not hold. */
static tw_status explain_wide(const scan *s, const char *name, int64_t row, int64_t col)
{
    const twi_adjacency *m = s->matrix;
    const char *at = m->data + row * m->row_step + col * m->col_step;
    int64_t value;
    memcpy(&value, at, sizeof value); /* all that u32 has fits */
    const bool above = m->entry == TWI_ENTRY_U64 || value > 0;
    return tw_fail(s->ctx, TW_ERR_RANGE,
                   "%s: row %lld, column %lld is %s%llu: 64-bit integer weights go up to 2^53; "
                   "scale them down, or set no_edge to the value that means 'no edge'",
                   name, (long long)row, (long long)col, above ? "" : "-",
                   above ? (unsigned long long)value : 0ULL - (unsigned long long)value);
}

static tw_status explain_bad(const scan *s)
{
    const twi_adjacency *m = s->matrix;
    int64_t row = s->bad / m->vertices;
    int64_t col = s->bad % m->vertices;
    tw_status blame = m->name != NULL ? TW_ERR_FORMAT : TW_ERR_ARGUMENT;
    const char *name = m->name != NULL ? m->name : "the matrix";
    double weight;
    double mirror;
    load(m, row, col, 1, &weight);
    load(m, col, row, 1, &mirror);
    if (s->wide) {
        return isnan(weight) ? explain_wide(s, name, row, col) : explain_wide(s, name, col, row);
    }
    if (s->both && (mirror < weight || isnan(mirror))) {
        weight = mirror;
    }
    return tw_fail(s->ctx, blame,
                   "%s: row %lld, column %lld is %s: an entry is a weight, or +inf for no edge%s",
                   name, (long long)row, (long long)col, isnan(weight) ? "NaN" : "-inf",
                   isnan(weight) && m->name != NULL ? "; if NaN means that, use --no-edge=nan"
                                                    : "");
}

static tw_status after_pass(const scan *s)
{
    if (s->starved) {
        char what[80];
        (void)snprintf(what, sizeof what, "%d rows of a matrix of %lld columns", ROWS,
                       (long long)s->graph->n);
        return twi_out_of_memory(s->ctx, twi_adjacency_scratch(s->ctx, s->graph->n), what);
    }
    tw_status status = twi_check_cancel(s->ctx);
    if (status == TW_OK && s->bad != INT64_MAX) {
        status = explain_bad(s);
    }
    return status;
}

tw_status twi_graph_from_adjacency(tw_context *ctx, tw_graph **out, const twi_adjacency *matrix,
                                   bool both, bool undirected)
{
    *out = NULL;
    scan s = {
        .ctx = ctx, .matrix = matrix, .both = both, .stats = twi_no_weights(), .bad = INT64_MAX};
    tw_type type = twi_adjacency_type(matrix);
    tw_status status = twi_graph_allocate(ctx, &s.graph, matrix->vertices, type);
    if (status != TW_OK) {
        return status;
    }
    s.graph->undirected = undirected;
    s.wide = is_wide(matrix->entry) && !matrix->unit;
    s.graph->floats = !s.wide && !twi_type_is_whole(type);
    run_pass(&s);
    status = after_pass(&s);
    if (s.wide && s.stats.integral) {
        s.graph->weight_type = TW_I32;
    }
    s.stats = twi_no_weights();
    for (int64_t v = 0; v < s.graph->n; v++) {
        s.graph->offsets[v + 1] += s.graph->offsets[v];
    }
    if (status == TW_OK) {
        status = twi_graph_allocate_arcs(ctx, s.graph, s.graph->offsets[s.graph->n]);
    }
    if (status == TW_OK) {
        s.fill = true;
        run_pass(&s);
        status = after_pass(&s);
    }
    if (status != TW_OK) {
        tw_graph_destroy(s.graph);
        return status;
    }
    twi_graph_set_stats(s.graph, &s.stats);
    *out = s.graph;
    return TW_OK;
}

tw_status tw_graph_from_matrix(tw_context *ctx, tw_graph **out, const tw_matrix *matrix,
                               const double *no_edge, uint32_t flags)
{
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"matrix", matrix});
    if (missing != TW_OK) {
        return missing;
    }
    static const twi_entry entry_of[] = {
        [TW_U8] = TWI_ENTRY_U8,   [TW_U16] = TWI_ENTRY_U16, [TW_I16] = TWI_ENTRY_I16,
        [TW_I32] = TWI_ENTRY_I32, [TW_F32] = TWI_ENTRY_F32, [TW_F64] = TWI_ENTRY_F64,
        [TW_I64] = TWI_ENTRY_I64,
    };
    tw_status status = twi_matrix_check_weights(ctx, matrix, "the adjacency matrix");
    if (status != TW_OK) {
        return status;
    }
    if (matrix->rows != matrix->cols) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "the adjacency matrix is %lld x %lld; it must be square",
                       (long long)matrix->rows, (long long)matrix->cols);
    }
    if ((flags & ~(uint32_t)TW_GRAPH_UNDIRECTED) != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "unknown graph flags 0x%x; only TW_GRAPH_UNDIRECTED is defined",
                       (unsigned)flags);
    }
    int64_t size = (int64_t)tw_type_size(matrix->type);
    twi_adjacency adjacency = {
        .data = matrix->data,
        .vertices = matrix->rows,
        .row_step = matrix->stride * size,
        .col_step = size,
        .entry = entry_of[matrix->type],
        .no_edge = no_edge,
    };
    bool undirected = (flags & TW_GRAPH_UNDIRECTED) != 0;
    return twi_graph_from_adjacency(ctx, out, &adjacency, undirected, undirected);
}
