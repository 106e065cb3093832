/*
 * The part of tw_selftest for reachability: bytes, bits, counts and components, on the selected
 * device, against Warshall's loops over a matrix of bytes, on graphs whose sizes lie around the
 * words and tiles of bits, into poisoned matrices. Few arcs leave many components, more of them one
 * large one and a rim, arcs that only lead upwards nothing to condense.
 */
#include "reach/selftest.h"

#include "base/memory.h"
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

#define POISON 0xA5

static const int64_t sizes[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 257, 515};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))
#define LARGEST 515

typedef struct graph_shape {
    const char *name;
    double degree;
    bool upwards; /* every arc leads to a higher number */
} graph_shape;

static const graph_shape shapes[] = {
    {"few arcs", 0.8, false}, {"more arcs", 2.5, false}, {"acyclic", 3, true}};
#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

/* A graph with what the loops say of it. */
typedef struct sample {
    tw_graph *graph;
    const uint8_t *want; /* n x n of 0 and 1 */
    char name[96];
} sample;

static tw_status make_graph(tw_context *ctx, sample *s, const graph_shape *shape, int64_t n,
                            uint64_t seed)
{
    tw_graph_generate_options options = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *any = NULL;
    int32_t *ends = NULL;
    options.vertices = n;
    options.degree = shape->degree;
    options.directed = TW_GRAPH_DIRECTED_YES;
    options.seed = seed;
    snprintf(s->name, sizeof s->name, "%s n=%lld seed=%llu", shape->name, (long long)n,
             (unsigned long long)seed);
    if (n < 2) {
        return tw_graph_from_edges(ctx, &s->graph, n, &edges, 0);
    }
    tw_status status = tw_graph_generate(ctx, &any, &options);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &ends, 2 * (uint64_t)any->arcs + 1, sizeof *ends, "arcs");
    }
    if (status == TW_OK) {
        edges.count = any->arcs;
        for (int64_t u = 0; u < n; u++) {
            for (int64_t arc = any->offsets[u]; arc < any->offsets[u + 1]; arc++) {
                const int32_t from = (int32_t)u, to = any->targets[arc];
                const bool turn = shape->upwards && to < from;
                ends[arc] = turn ? to : from;
                ends[any->arcs + arc] = turn ? from : to;
            }
        }
        edges.source = ends;
        edges.target = ends + any->arcs;
        status = tw_graph_from_edges(ctx, &s->graph, n, &edges, 0);
    }
    twi_free(ends);
    tw_graph_destroy(any);
    return status;
}

/* Each vertex reaches itself. */
static void close_plainly(const tw_graph *graph, uint8_t *want)
{
    const int64_t n = graph->n;
    memset(want, 0, (size_t)(n * n));
    for (int64_t u = 0; u < n; u++) {
        want[u * n + u] = 1;
        for (int64_t arc = graph->offsets[u]; arc < graph->offsets[u + 1]; arc++) {
            want[u * n + graph->targets[arc]] = 1;
        }
    }
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; want[i * n + k] && j < n; j++) {
                want[i * n + j] |= want[k * n + j];
            }
        }
    }
}

static bool reaches(const tw_matrix *out, bool bits, int64_t row, int64_t col)
{
    const uint8_t *bytes = (const uint8_t *)out->data + row * out->stride;
    return bits ? (bytes[col / 8] >> (col % 8) & 1) != 0 : bytes[col] == 1;
}

/* Every entry, and nothing but zeros after the last bit of a row. */
static bool check_matrix(char detail[160], const sample *s, const tw_matrix *out, bool bits)
{
    const int64_t n = s->graph->n, cols = bits ? out->cols * 8 : n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < cols; j++) {
            const bool want = j < n && s->want[i * n + j] != 0;
            const uint8_t byte = ((const uint8_t *)out->data)[i * out->stride + (bits ? j / 8 : j)];
            if (reaches(out, bits, i, j) != want || (!bits && byte > 1)) {
                snprintf(detail, 160, "entry %lld,%lld is %d, the reference has %d", (long long)i,
                         (long long)j, bits ? reaches(out, bits, i, j) : byte, want);
                return false;
            }
        }
    }
    return true;
}

static bool check_counts(char detail[160], const sample *s, const int64_t *counts)
{
    const int64_t n = s->graph->n;
    for (int64_t i = 0; i < n; i++) {
        int64_t want = 0;
        for (int64_t j = 0; j < n; j++) {
            want += s->want[i * n + j];
        }
        if (counts[i] != want) {
            snprintf(detail, 160, "vertex %lld reaches %lld, by the reference %lld", (long long)i,
                     (long long)counts[i], (long long)want);
            return false;
        }
    }
    return true;
}

/* Two vertices are of one component if each reaches the other; arcs lead to no lower one. */
static bool check_components(char detail[160], const sample *s, const int32_t *component)
{
    const int64_t n = s->graph->n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            const bool both = s->want[i * n + j] && s->want[j * n + i];
            if ((component[i] == component[j]) != both ||
                (s->want[i * n + j] && component[i] > component[j])) {
                snprintf(detail, 160, "the components of %lld and %lld are %d and %d", (long long)i,
                         (long long)j, component[i], component[j]);
                return false;
            }
        }
    }
    return true;
}

static tw_status run_sample(const twi_tester *t, const sample *s, uint8_t *got, int64_t *counts)
{
    static const char *const layouts[] = {"bytes", "bits"};
    const int64_t n = s->graph->n;
    tw_status status = TW_OK;
    for (int bits = 0; bits < 2 && status != TW_ERR_CANCELLED; bits++) {
        tw_reach_options options = TW_REACH_OPTIONS_INIT;
        tw_reach_plan_info info = TW_REACH_PLAN_INFO_INIT;
        tw_reach_plan *plan = NULL;
        tw_sink sink = TW_SINK_INIT;
        tw_matrix out = {0};
        char detail[1100] = "", name[224];
        options.layout = bits ? TW_REACH_BITS : TW_REACH_BYTES;
        memset(got, POISON, (size_t)(n * n));
        memset(counts, POISON, (size_t)n * sizeof *counts);
        status = tw_reach_plan_create(t->ctx, &plan, s->graph, &options);
        if (status == TW_OK) {
            status = tw_reach_plan_describe(plan, &info);
        }
        if (status == TW_OK) {
            out = (tw_matrix){got, info.shape.rows, info.shape.cols, info.shape.cols, TW_U8};
            status = tw_sink_to_matrix(t->ctx, &sink, &out);
        }
        if (status == TW_OK) {
            status = tw_reach_plan_run(t->ctx, plan, &sink, 1, counts, NULL);
        }
        snprintf(name, sizeof name, "reach %s %s %s", layouts[bits], t->ctx->device, s->name);
        if (status != TW_OK) {
            snprintf(detail, sizeof detail, "%s: %s", tw_status_name(status),
                     tw_last_error(t->ctx));
        }
        const bool right = status == TW_OK && check_matrix(detail, s, &out, bits != 0) &&
                           check_counts(detail, s, counts) &&
                           check_components(detail, s, tw_reach_plan_components(plan));
        twi_tell(t, name, right, detail);
        tw_sink_destroy(&sink);
        tw_reach_plan_destroy(plan);
    }
    return twi_check_cancel(t->ctx);
}

tw_status twi_reach_selftest(const twi_tester *t, uint64_t seed)
{
    uint8_t *want = NULL;
    uint8_t *got = NULL;
    int64_t *counts = NULL;
    const uint64_t entries = (uint64_t)LARGEST * LARGEST;
    tw_status status = twi_alloc(t->ctx, &want, entries, 1, "the references");
    if (status == TW_OK) {
        status = twi_alloc(t->ctx, &got, entries, 1, "the results");
    }
    if (status == TW_OK) {
        status = twi_alloc(t->ctx, &counts, LARGEST, sizeof *counts, "the counts");
    }
    for (int k = 0; k < SHAPES * SIZES && status == TW_OK; k++) {
        sample s = {NULL, want, ""};
        status = make_graph(t->ctx, &s, &shapes[k / SIZES], sizes[k % SIZES], seed + (uint64_t)k);
        if (status == TW_OK) {
            close_plainly(s.graph, want);
            status = run_sample(t, &s, got, counts);
        }
        tw_graph_destroy(s.graph);
        twi_progress(t->ctx, "testing", k + 1, SHAPES * SIZES, "graphs");
    }
    twi_free(counts);
    twi_free(got);
    twi_free(want);
    return status;
}
