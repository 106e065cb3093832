/*
 * A square .npy as a graph: entry (i, j) is the weight of i -> j. Absent edges are +inf in
 * floating point, 2^30 - 1 or more in i32, that and the greatest value in wider integers, the
 * greatest value of narrower ones, False in a matrix of truth values, or what the caller says. The
 * header is
 * matrix/npy.c's; the entries are read where they lie in memory.
 */
#include "base/memory.h"
#include "graph/adjacency.h"
#include "graph/build.h"
#include "graph/no_edge.h"
#include "io/graph/format.h"
#include "io/matrix/format.h"

#include <math.h>
#include <string.h>

static bool find_entry(const twi_npy *npy, twi_entry *out)
{
    static const struct {
        char kind;
        int32_t width;
        twi_entry entry;
    } known[] = {
        {'b', 1, TWI_ENTRY_BOOL}, {'i', 1, TWI_ENTRY_I8},  {'u', 1, TWI_ENTRY_U8},
        {'i', 2, TWI_ENTRY_I16},  {'u', 2, TWI_ENTRY_U16}, {'i', 4, TWI_ENTRY_I32},
        {'u', 4, TWI_ENTRY_U32},  {'i', 8, TWI_ENTRY_I64}, {'u', 8, TWI_ENTRY_U64},
        {'f', 4, TWI_ENTRY_F32},  {'f', 8, TWI_ENTRY_F64},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (known[k].kind == npy->kind && known[k].width == npy->width) {
            *out = known[k].entry;
            return true;
        }
    }
    return false;
}

static twi_adjacency view_of(const twi_npy *npy, const twi_input *input,
                             const tw_graph_read_options *opts)
{
    return (twi_adjacency){.data = input->bytes + npy->start,
                           .vertices = npy->rows,
                           .row_step = npy->cols * npy->width,
                           .col_step = npy->width,
                           .unit = opts->unweighted,
                           .no_edge = opts->no_edge,
                           .name = input->name};
}

/* The edges of a matrix, counted by its rows. */
static tw_status count_edges(tw_context *ctx, const twi_input *input, const twi_npy *npy,
                             twi_adjacency *matrix, int64_t *edges)
{
    const uint64_t row = (uint64_t)npy->cols * (uint64_t)npy->width;
    const int64_t n = npy->rows;
    char *bytes = NULL;
    double *buffer = NULL;
    *edges = 0;
    tw_status status = twi_alloc(ctx, &bytes, row, 1, "a row of a matrix");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &buffer, (uint64_t)n, sizeof *buffer, "a row of a matrix");
    }
    matrix->data = bytes;
    for (int64_t i = 0; i < n && status == TW_OK; i++) {
        status = twi_input_fetch(ctx, input, npy->start + (uint64_t)i * row, bytes, row);
        *edges += status == TW_OK ? twi_adjacency_count(matrix, i, 1, buffer) : 0;
        status = status == TW_OK ? twi_check_cancel(ctx) : status;
    }
    twi_free(buffer);
    twi_free(bytes);
    return status;
}

/* A header that cannot be is left to the reader. */
tw_status twi_npy_check(tw_context *ctx, const twi_input *input, const tw_graph_read_options *opts)
{
    twi_npy npy;
    int64_t edges = 0;
    if (twi_npy_parse(ctx, &npy, input) != TW_OK || npy.rows != npy.cols) {
        return TW_OK;
    }
    twi_adjacency matrix = view_of(&npy, input, opts);
    if (!find_entry(&npy, &matrix.entry) || npy.rows > TWI_MOST_VERTICES) {
        return TW_OK;
    }
    const uint64_t load = twi_input_is_held(input) ? 0 : input->size;
    const uint64_t scratch = twi_adjacency_scratch(ctx, npy.rows);
    const twi_edge_source source = {.vertices = npy.rows,
                                    .weight_type = twi_adjacency_type(&matrix),
                                    .held = input->size + scratch};
    if (load + scratch + twi_graph_bytes(npy.rows, npy.rows * npy.rows, source.weight_type) <=
        twi_memory_room(ctx)) {
        return TW_OK;
    }
    tw_status status = count_edges(ctx, input, &npy, &matrix, &edges);
    if (twi_read_both(opts, false)) {
        edges = 2 * edges < npy.rows * npy.rows ? 2 * edges : npy.rows * npy.rows;
    }
    if (status != TW_OK || load + scratch + twi_graph_bytes(npy.rows, edges, source.weight_type) <=
                               twi_memory_room(ctx)) {
        return status;
    }
    return twi_graph_refuse(ctx, input->name, npy.rows, edges,
                            load + scratch + twi_graph_needs(ctx, &source, edges), TWI_GUESS_NONE);
}

/* Programs that hold adjacency in a matrix write 0 for no edge: where a tenth of the weights are 0,
 * or all others are one number, that is the likelier meaning. */
static void mention_zeros(tw_context *ctx, const twi_input *input, const tw_graph *graph)
{
    int64_t zeros = 0;
    bool alike = graph->min_weight >= 0;
    for (int64_t a = 0; a < graph->arcs && graph->min_weight <= 0; a++) {
        const double weight = twi_graph_weight(graph, a);
        zeros += weight == 0;
        alike &= weight == 0 || weight == graph->max_weight;
    }
    if (zeros > 0 && (alike || zeros * 10 >= graph->arcs)) {
        twi_log(
            ctx,
            "%.400s: zeros are edges of weight 0, and %lld of %lld edges are; use --no-edge 0 if "
            "they mean no edge",
            input->name, (long long)zeros, (long long)graph->arcs);
    }
}

tw_status twi_npy_read(tw_context *ctx, tw_graph **out, twi_input *input,
                       const tw_graph_read_options *opts)
{
    twi_npy npy;
    tw_status status = twi_npy_parse(ctx, &npy, input);
    if (status != TW_OK) {
        return status;
    }
    twi_adjacency matrix = view_of(&npy, input, opts);
    if (!find_entry(&npy, &matrix.entry)) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s: elements '%c%d' are not weights; b1, i1 to i8, u1 to u8, f4 and f8 "
                       "can be read (convert with .astype)",
                       input->name, npy.kind, (int)npy.width);
    }
    if (npy.rows != npy.cols) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s: a matrix of %lld x %lld is not square, so it is not a graph",
                       input->name, (long long)npy.rows, (long long)npy.cols);
    }
    status = twi_graph_from_adjacency(ctx, out, &matrix, twi_read_both(opts, false),
                                      twi_read_undirected(opts, false));
    if (status == TW_OK && opts->no_edge == NULL && !opts->unweighted) {
        mention_zeros(ctx, input, *out);
    }
    return status;
}

static void set_entry(void *row, int64_t at, tw_type type, double value)
{
    switch (type) {
    case TW_I32:
        ((int32_t *)row)[at] = (int32_t)value;
        break;
    case TW_F32:
        ((float *)row)[at] = (float)value;
        break;
    default:
        ((double *)row)[at] = value;
        break;
    }
}

/* Row u: "no edge" everywhere, 0 on the diagonal, then the minimum of parallel arcs. `least` is
 * n times +inf on entry and on return. */
static void lay_row(const tw_graph *graph, int64_t u, void *row, double *least)
{
    double absent = twi_no_edge(graph->weight_type);
    for (int64_t v = 0; v < graph->n; v++) {
        set_entry(row, v, graph->weight_type, absent);
    }
    set_entry(row, u, graph->weight_type, 0);
    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
        int32_t v = graph->targets[a];
        double weight = twi_graph_weight(graph, a);
        if (weight < least[v]) {
            least[v] = weight;
            set_entry(row, v, graph->weight_type, weight);
        }
    }
    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
        least[graph->targets[a]] = INFINITY;
    }
}

tw_status twi_npy_write(twi_printer *printer, const tw_graph *graph, const char *extension)
{
    (void)extension;
    size_t size = tw_type_size(graph->weight_type);
    if (graph->arcs > 0 && graph->max_weight >= twi_no_edge(graph->weight_type)) {
        return tw_fail(printer->ctx, TW_ERR_RANGE,
                       "a weight of %.17g would mean 'no edge' in an npy matrix of i32; choose "
                       "another format",
                       graph->max_weight);
    }
    void *row = NULL;
    double *least = NULL;
    tw_status status =
        twi_alloc(printer->ctx, &row, (uint64_t)graph->n, size, "a row of the matrix");
    if (status == TW_OK) {
        status = twi_alloc(printer->ctx, &least, (uint64_t)graph->n, sizeof *least,
                           "a row of the matrix");
    }
    if (status == TW_OK) {
        char header[TWI_NPY_HEADER_MOST];
        tw_shape shape = {graph->n, graph->n, graph->weight_type};
        twi_print_bytes(printer, header, twi_npy_header(header, &shape));
        for (int64_t v = 0; v < graph->n; v++) {
            least[v] = INFINITY;
        }
        for (int64_t u = 0; u < graph->n && printer->status == TW_OK; u++) {
            lay_row(graph, u, row, least);
            twi_print_bytes(printer, row, (size_t)graph->n * size);
            printer->done = (double)graph->offsets[u + 1];
        }
        status = printer->status;
    }
    twi_free(least);
    twi_free(row);
    return status;
}
