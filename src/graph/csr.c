/*
 * Compressed rows of a caller, as SciPy has them, to a graph. They already have our form, so one
 * pass checks every arc and counts those that stay, and what can be used as it lies is: borrowed,
 * if the caller allows it, else copied in one piece. Only where an arc has to go (+inf, a self
 * loop >= 0) are the rows written anew, one by one; so no engine ever meets such an arc. Integers
 * of 64 bits are narrowed before (narrow.h). An undirected graph needs arcs in rows of which the
 * caller's know nothing: there the rows become edges, and build.c does it.
 *
 * Threads take blocks of rows. Memory beside the graph: what was narrowed; a source for each arc if
 * undirected.
 */
#include "base/given.h"
#include "base/memory.h"
#include "base/threads.h"
#include "base/type.h"
#include "graph/build.h"
#include "graph/narrow.h"

#include <math.h>
#include <stdio.h>

#define ROWS 4096                    /* that a thread takes at a time */
#define PIECE ((uint64_t)1 << 20)    /* bytes of a piece of an array that is copied */
#define MOST_ARCS ((int64_t)1 << 59) /* whose arrays can be addressed */

/* What all threads share. */
typedef struct work {
    tw_context *ctx;
    const tw_csr *csr;
    int64_t arcs;
    const void *targets; /* of int32_t, at any alignment, as are the weights */
    const void *weights; /* of `type`; NULL: all 1 */
    tw_type type;
    int32_t *own_targets; /* narrowed: ours to free or to keep */
    void *own_weights;
    tw_graph *graph;
} work;

static inline int64_t offset_at(const tw_csr *csr, int64_t u)
{
    if (csr->offset_type == TW_I64) {
        return twi_load_i64(csr->offsets, u);
    }
    int32_t value;
    memcpy(&value, (const char *)csr->offsets + (size_t)u * sizeof value, sizeof value);
    return value;
}

static inline int32_t target_at(const work *w, int64_t a)
{
    int32_t value;
    memcpy(&value, (const char *)w->targets + (size_t)a * sizeof value, sizeof value);
    return value;
}

__attribute__((always_inline)) static inline double weight_at(const work *w, int64_t a,
                                                              tw_type type)
{
    int32_t whole;
    float single;
    double wide;
    if (w->weights == NULL) {
        return 1;
    }
    switch (type) {
    case TW_I32:
        memcpy(&whole, (const char *)w->weights + (size_t)a * sizeof whole, sizeof whole);
        return whole;
    case TW_F32:
        memcpy(&single, (const char *)w->weights + (size_t)a * sizeof single, sizeof single);
        return single;
    default:
        memcpy(&wide, (const char *)w->weights + (size_t)a * sizeof wide, sizeof wide);
        return wide;
    }
}

/* ------------------------------------------------------------------------------------- the check
 */

/* "row 7, element 3": the place of arc `a`. */
static const char *place_of(char text[64], const tw_csr *csr, int64_t a)
{
    int64_t low = 0; /* the last row that begins at or before a */
    int64_t high = csr->vertices;
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        if (offset_at(csr, middle) <= a) {
            low = middle;
        } else {
            high = middle;
        }
    }
    snprintf(text, 64, "row %lld, element %lld", (long long)low,
             (long long)(a - offset_at(csr, low)));
    return text;
}

static tw_status fail_vertex(const work *w, int64_t a, int64_t vertex)
{
    char place[64];
    return tw_fail(w->ctx, TW_ERR_ARGUMENT,
                   "%s: vertex %lld is outside 0 ... %lld; the graph has %lld %s",
                   place_of(place, w->csr, a), (long long)vertex, (long long)w->csr->vertices - 1,
                   (long long)w->csr->vertices, w->csr->vertices == 1 ? "vertex" : "vertices");
}

static tw_status check_types(tw_context *ctx, const tw_csr *csr)
{
    const tw_type index[] = {csr->offset_type, csr->target_type};
    static const char *const names[] = {"offsets", "targets"};
    for (int i = 0; i < 2; i++) {
        if (index[i] != TW_I32 && index[i] != TW_I64) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "%s of type %s are not supported; use i32 or i64",
                           names[i], tw_type_name(index[i]));
        }
    }
    const tw_type type = csr->value_type;
    if (csr->values != NULL && type != TW_I32 && type != TW_I64 && type != TW_F32 &&
        type != TW_F64) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "values of type %s are not supported; use i32, i64, f32 or f64",
                       tw_type_name(type));
    }
    return TW_OK;
}

/* The offsets rise from 0 to a number of arcs. */
static tw_status check_offsets(tw_context *ctx, const tw_csr *csr, int64_t *arcs)
{
    *arcs = 0;
    if (csr->offsets == NULL) {
        return csr->vertices == 0
                   ? TW_OK
                   : tw_fail(ctx, TW_ERR_ARGUMENT, "compressed rows without offsets");
    }
    if (offset_at(csr, 0) != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the first offset is %lld; it must be 0",
                       (long long)offset_at(csr, 0));
    }
    for (int64_t u = 0; u < csr->vertices; u++) {
        const int64_t next = offset_at(csr, u + 1);
        if (next < *arcs) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "offset %lld is %lld after %lld: offsets must not decrease",
                           (long long)u + 1, (long long)next, (long long)*arcs);
        }
        if (next > MOST_ARCS) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "offset %lld is %lld: no machine can address so many arcs",
                           (long long)u + 1, (long long)next);
        }
        *arcs = next;
    }
    return *arcs == 0 || csr->targets != NULL
               ? TW_OK
               : tw_fail(ctx, TW_ERR_ARGUMENT, "compressed rows of %lld arc%s without targets",
                         (long long)*arcs, *arcs == 1 ? "" : "s");
}

static tw_status check(tw_context *ctx, const tw_csr *csr, uint32_t flags, int64_t *arcs)
{
    if ((flags & ~(uint32_t)TW_GRAPH_UNDIRECTED) != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "unknown graph flags 0x%x; only TW_GRAPH_UNDIRECTED is defined",
                       (unsigned)flags);
    }
    if (csr->borrow != 0 && csr->borrow != 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "tw_csr.borrow is %d; use 0 or 1", csr->borrow);
    }
    tw_status status = twi_graph_check_vertices(ctx, csr->vertices);
    if (status == TW_OK) {
        status = check_types(ctx, csr);
    }
    return status == TW_OK ? check_offsets(ctx, csr, arcs) : status;
}

/* 64 bits become 32, or f64. */
static tw_status narrow(work *w)
{
    const tw_csr *csr = w->csr;
    char place[64];
    int64_t bad = INT64_MAX;
    tw_status status = TW_OK;
    w->targets = csr->targets;
    w->weights = csr->values;
    w->type = csr->values != NULL ? csr->value_type : TW_I32;
    if (csr->target_type == TW_I64) {
        status = twi_narrow_vertices(w->ctx, &w->own_targets, &bad, csr->targets, w->arcs,
                                     csr->vertices);
        w->targets = w->own_targets;
        if (status == TW_OK && bad != INT64_MAX) {
            status = fail_vertex(w, bad, twi_load_i64(csr->targets, bad));
        }
    }
    if (status == TW_OK && csr->values != NULL && csr->value_type == TW_I64) {
        status = twi_narrow_weights(w->ctx, &w->own_weights, &w->type, &bad, csr->values, w->arcs);
        w->weights = w->own_weights;
        if (status == TW_OK && bad != INT64_MAX) {
            status = tw_fail(w->ctx, TW_ERR_RANGE,
                             "%s: the weight %lld is beyond 2^53: weights are kept in i32 or f64",
                             place_of(place, csr, bad), (long long)twi_load_i64(csr->values, bad));
        }
    }
    return status;
}

/* ---------------------------------------------------------------------------------- rows to rows
 */

static inline bool is_kept(int64_t u, int32_t target, double weight)
{
    return weight < INFINITY && !(target == u && weight >= 0);
}

/* Counts the arcs of a row that stay; returns the first that cannot be. */
__attribute__((always_inline)) static inline int64_t
count_row(const work *w, int64_t u, twi_weight_stats *stats, tw_type type)
{
    const int64_t end = offset_at(w->csr, u + 1);
    const int64_t n = w->csr->vertices;
    twi_weight_stats seen = *stats;
    int64_t kept = 0;
    for (int64_t a = offset_at(w->csr, u); a < end; a++) {
        const int32_t target = target_at(w, a);
        const double weight = weight_at(w, a, type);
        if ((uint32_t)target >= (uint64_t)n || !(weight > -INFINITY)) {
            return a;
        }
        if (is_kept(u, target, weight)) {
            kept++;
            twi_see_weight(&seen, weight);
        }
    }
    *stats = seen;
    w->graph->offsets[u + 1] = kept;
    return INT64_MAX;
}

/* Writes the arcs of a row that stay. */
static void fill_row(const work *w, int64_t u)
{
    tw_graph *graph = w->graph;
    const int64_t end = offset_at(w->csr, u + 1);
    int64_t at = graph->offsets[u];
    for (int64_t a = offset_at(w->csr, u); a < end; a++) {
        const int32_t target = target_at(w, a);
        const double weight = weight_at(w, a, w->type);
        if (!is_kept(u, target, weight)) {
            continue;
        }
        graph->targets[at] = target;
        switch (w->type) {
        case TW_I32:
            ((int32_t *)graph->weights)[at++] = (int32_t)weight;
            break;
        case TW_F32:
            ((float *)graph->weights)[at++] = (float)weight;
            break;
        default:
            ((double *)graph->weights)[at++] = weight;
            break;
        }
    }
}

static int64_t count_rows(const work *w, int64_t first, int64_t end, twi_weight_stats *stats)
{
    int64_t bad = INT64_MAX;
    for (int64_t u = first; u < end && bad == INT64_MAX; u++) {
        switch (w->type) {
        case TW_I32:
            bad = count_row(w, u, stats, TW_I32);
            break;
        case TW_F32:
            bad = count_row(w, u, stats, TW_F32);
            break;
        default:
            bad = count_row(w, u, stats, TW_F64);
            break;
        }
    }
    return bad;
}

/* Either pass over all rows; returns the first arc that cannot be. */
static int64_t run_pass(const work *w, bool fill, twi_weight_stats *stats)
{
    const int64_t n = w->csr->vertices;
    int64_t bad = INT64_MAX;
#pragma omp parallel num_threads(twi_thread_count(w->ctx)) reduction(min : bad)
    {
        twi_weight_stats mine = twi_no_weights();
#pragma omp for schedule(dynamic, 1)
        for (int64_t first = 0; first < n; first += ROWS) {
            const int64_t end = n - first < ROWS ? n : first + ROWS;
            if (twi_is_cancelled(w->ctx)) {
                continue;
            }
            if (!fill) {
                const int64_t found = count_rows(w, first, end, &mine);
                bad = found < bad ? found : bad;
            }
            for (int64_t u = first; u < end && fill; u++) {
                fill_row(w, u);
            }
            if (twi_thread_id() == 0) {
                twi_progress(w->ctx, "graph", (double)end, (double)n, "rows");
            }
        }
#pragma omp critical(twi_csr_merge)
        twi_merge_stats(stats, &mine);
    }
    return bad;
}

/* A copy of an array, made by all threads. */
static tw_status copy_array(tw_context *ctx, void *out, const void *in, uint64_t count,
                            uint64_t size, const char *what)
{
    void *copy = NULL;
    tw_status status = twi_alloc(ctx, &copy, count, size, what);
    if (status != TW_OK) {
        return status;
    }
    const int64_t pieces = (int64_t)((count * size + PIECE - 1) / PIECE);
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(static)
    for (int64_t p = 0; p < pieces; p++) {
        const uint64_t from = (uint64_t)p * PIECE;
        const uint64_t left = count * size - from;
        if (!twi_is_cancelled(ctx)) {
            memcpy((char *)copy + from, (const char *)in + from, left < PIECE ? left : PIECE);
        }
    }
    status = twi_check_cancel(ctx);
    if (status != TW_OK) {
        twi_free(copy);
        return status;
    }
    memcpy(out, &copy, sizeof copy);
    return TW_OK;
}

static bool is_aligned(const void *array, size_t size)
{
    return (uintptr_t)array % size == 0;
}

/* Nothing is dropped: the arrays serve as they are, ours, borrowed or copied. */
static tw_status use_arrays(work *w)
{
    tw_graph *graph = w->graph;
    const bool borrow = w->csr->borrow == 1 && w->arcs > 0;
    const size_t size = tw_type_size(w->type);
    const uint64_t arcs = (uint64_t)w->arcs;
    tw_status status = TW_OK;
    graph->borrowed_targets = borrow && w->own_targets == NULL && is_aligned(w->targets, 4);
    graph->borrowed_weights =
        borrow && w->own_weights == NULL && w->weights != NULL && is_aligned(w->weights, size);
    if (w->own_targets != NULL || graph->borrowed_targets) {
        graph->targets = (int32_t *)w->targets;
        w->own_targets = NULL;
    } else {
        status = copy_array(w->ctx, &graph->targets, w->targets, arcs, sizeof(int32_t),
                            "the arcs of the graph");
    }
    if (w->own_weights != NULL || graph->borrowed_weights) {
        graph->weights = (void *)w->weights;
        w->own_weights = NULL;
    } else if (status == TW_OK && w->weights != NULL) {
        status =
            copy_array(w->ctx, &graph->weights, w->weights, arcs, size, "the weights of the graph");
    } else if (status == TW_OK) {
        status = twi_alloc(w->ctx, &graph->weights, arcs, size, "the weights of the graph");
        for (int64_t a = 0; a < w->arcs && status == TW_OK; a++) {
            ((int32_t *)graph->weights)[a] = 1;
        }
    }
    graph->arcs = w->arcs;
    return status;
}

static tw_status explain_bad(const work *w, int64_t a)
{
    char place[64];
    const int32_t target = target_at(w, a);
    if ((uint32_t)target >= (uint64_t)w->csr->vertices) {
        return fail_vertex(w, a, target);
    }
    return tw_fail(w->ctx, TW_ERR_ARGUMENT,
                   "%s: the weight of the arc to %d is %s: a weight is a number, or +inf for no "
                   "edge",
                   place_of(place, w->csr, a), target,
                   isnan(weight_at(w, a, w->type)) ? "NaN" : "-inf");
}

/* Check and count, then keep or write the rows. */
static tw_status make_rows(work *w)
{
    twi_weight_stats stats = twi_no_weights();
    tw_status status = twi_graph_allocate(w->ctx, &w->graph, w->csr->vertices, w->type);
    if (status != TW_OK) {
        return status;
    }
    const int64_t bad = run_pass(w, false, &stats);
    status = twi_check_cancel(w->ctx);
    if (status == TW_OK && bad != INT64_MAX) {
        status = explain_bad(w, bad);
    }
    if (status != TW_OK) {
        return status;
    }
    for (int64_t u = 0; u < w->csr->vertices; u++) {
        w->graph->offsets[u + 1] += w->graph->offsets[u];
    }
    const int64_t kept = w->graph->offsets[w->csr->vertices];
    if (kept == w->arcs) {
        status = use_arrays(w);
    } else {
        status = twi_graph_allocate_arcs(w->ctx, w->graph, kept);
        if (status == TW_OK) {
            (void)run_pass(w, true, &stats);
            status = twi_check_cancel(w->ctx);
        }
    }
    twi_graph_set_stats(w->graph, &stats);
    return status;
}

/* -------------------------------------------------------------------------------- rows to edges */

static void place_arc(char *text, size_t size, const void *self, int64_t index)
{
    char place[64];
    snprintf(text, size, "%s", place_of(place, self, index));
}

/* Each arc counts in both directions. */
static tw_status make_undirected(work *w)
{
    int32_t *sources = NULL;
    tw_status status =
        twi_alloc(w->ctx, &sources, (uint64_t)w->arcs, sizeof *sources, "the vertices of the arcs");
    if (status != TW_OK) {
        return status;
    }
#pragma omp parallel for num_threads(twi_thread_count(w->ctx)) schedule(dynamic, ROWS)
    for (int64_t u = 0; u < w->csr->vertices; u++) {
        const int64_t end = twi_is_cancelled(w->ctx) ? 0 : offset_at(w->csr, u + 1);
        for (int64_t a = offset_at(w->csr, u); a < end; a++) {
            sources[a] = (int32_t)u;
        }
    }
    const twi_edge_part part = {
        .count = w->arcs,
        .source = (const char *)sources,
        .target = w->targets,
        .weight = w->weights,
        .source_step = sizeof(int32_t),
        .target_step = sizeof(int32_t),
        .weight_step = (int32_t)tw_type_size(w->type),
    };
    const twi_edge_source source = {
        .vertices = w->csr->vertices,
        .parts = &part,
        .part_count = 1,
        .weight_type = w->type,
        .both = true,
        .undirected = true,
        .place = place_arc,
        .place_self = w->csr,
        .blame = TW_ERR_ARGUMENT,
    };
    status = twi_check_cancel(w->ctx);
    if (status == TW_OK) {
        status = twi_graph_build(w->ctx, &w->graph, &source);
    }
    twi_free(sources);
    return status;
}

tw_status tw_graph_from_csr(tw_context *ctx, tw_graph **out, const tw_csr *csr, uint32_t flags)
{
    twi_clear_handle(out);
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"csr", csr});
    if (status != TW_OK) {
        return status;
    }
    tw_csr given = TW_CSR_INIT;
    work w = {.ctx = ctx, .csr = &given};
    status = TWI_TAKE(ctx, tw_csr, &given, csr);
    if (status == TW_OK) {
        status = check(ctx, &given, flags, &w.arcs);
    }
    if (status == TW_OK) {
        status = narrow(&w);
    }
    if (status == TW_OK) {
        status = (flags & TW_GRAPH_UNDIRECTED) != 0 ? make_undirected(&w) : make_rows(&w);
    }
    twi_free(w.own_weights);
    twi_free(w.own_targets);
    if (status != TW_OK) {
        tw_graph_destroy(w.graph);
        return status;
    }
    w.graph->floats = given.values != NULL && !twi_type_is_whole(given.value_type);
    *out = w.graph;
    return TW_OK;
}
