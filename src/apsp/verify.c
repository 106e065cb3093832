/*
 * A check of a distance matrix as its rows pass by, that trusts nothing of the engines.
 *
 * Some rows, drawn by a seed, or all, are compared entry by entry with a textbook search of the
 * graph (textbook.h): whole weights exactly, others within the rounding that the way of computing
 * them can explain. Every row must obey what needs no search: the vertex itself is at 0, no entry
 * is NaN, none is negative without negative weights, and no arc of the source is shorter than the
 * distance to its end. A row costs O(n) plus the source's arcs, a drawn one a search.
 *
 * Rows of a block are checked in parallel; the first wrong entry, by row and then by column, is
 * the one reported. A wrong entry does not stop the run: the caller asks tw_apsp_verifier_result.
 */
#include "apsp/shared/distance.h"
#include "apsp/shared/options.h"
#include "apsp/shared/relevant.h"
#include "apsp/shared/textbook.h"
#include "base/given.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/sink.h"
#include "base/threads.h"
#include "base/type.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef enum fault {
    FAULT_NONE,
    FAULT_NAN,
    FAULT_SELF,
    FAULT_NEGATIVE,
    FAULT_ARC,
    FAULT_VANISHED,
    FAULT_OVERFLOW,
    FAULT_INEXACT,
    FAULT_SEARCH
} fault;

/* What was found in a row: the first column that is wrong, and what it should have been. */
typedef struct finding {
    fault kind;
    int64_t column;
    double given;
    double right; /* what it should be, or the bound it breaks */
} finding;

struct tw_apsp_verifier {
    const tw_graph *graph; /* the caller's, or `part` */
    tw_graph *part;        /* what of it can matter; NULL: all of it */
    tw_apsp_options options;
    int64_t samples;
    uint64_t seed;
    double depth; /* of the minimum distance below zero */

    tw_shape shape;
    int64_t next;         /* row expected */
    bool ended;           /* a whole matrix has passed */
    int64_t compared;     /* rows, with a search */
    unsigned char *drawn; /* a row: to be compared */
    int32_t *column_of;   /* a vertex: its column, or -1; NULL when that is the vertex */
    int32_t threads;      /* with a search each */
    char *searches;       /* their memory */
    finding *block;       /* of the rows being checked */
    int64_t block_room;
    int64_t wrong_row; /* the first, -1 if none; `wrong` says why */
    finding wrong;
};

static int32_t source_of(const tw_apsp_verifier *verifier, int64_t row)
{
    return verifier->options.sources != NULL ? verifier->options.sources[row] : (int32_t)row;
}

static int32_t target_of(const tw_apsp_verifier *verifier, int64_t column)
{
    return verifier->options.targets != NULL ? verifier->options.targets[column] : (int32_t)column;
}

/* ---------------------------------------------------------------------------------- one row */

/* Keep the finding of the lowest column. */
static void note(finding *found, finding candidate)
{
    if (found->kind == FAULT_NONE || candidate.column < found->column) {
        *found = candidate;
    }
}

/* What each entry must be by itself. */
static void check_entries(const tw_apsp_verifier *verifier, int32_t source, const void *data,
                          finding *found)
{
    const tw_type type = verifier->shape.type;
    const bool signless = verifier->graph->min_weight >= 0;
    for (int64_t j = 0; j < verifier->shape.cols; j++) {
        double given = twi_distance(data, type, j);
        fault kind = FAULT_NONE;
        if (isnan(given)) {
            kind = FAULT_NAN;
        } else if (target_of(verifier, j) == source && given != 0) {
            kind = FAULT_SELF;
        } else if (given < 0 && signless) {
            kind = FAULT_NEGATIVE;
        }
        if (kind != FAULT_NONE) {
            note(found, (finding){kind, j, given, 0});
            return;
        }
    }
}

/* No arc of the source may be shorter than the distance to its end. */
static void check_arcs(const tw_apsp_verifier *verifier, int32_t source, const void *data,
                       finding *found)
{
    const tw_graph *graph = verifier->graph;
    const double cutoff = verifier->options.cutoff;
    const double unit = verifier->shape.type == TW_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    /* A weight may have been rounded to float, and with potentials taken on and off again. */
    const bool shifted = graph->min_weight < 0 && !twi_graph_is_exact(graph);
    const double relative = verifier->shape.type == TW_F32 || shifted ? 4 * unit : 0;
    const double tiny = verifier->shape.type == TW_F32 ? (double)FLT_TRUE_MIN : 0;
    const double absolute = tiny + (shifted ? 4 * unit * verifier->depth : 0);
    for (int64_t a = graph->offsets[source]; a < graph->offsets[source + 1]; a++) {
        int32_t v = graph->targets[a];
        int64_t column = verifier->column_of != NULL ? verifier->column_of[v] : v;
        double weight = twi_graph_weight(graph, a);
        double most = weight + fabs(weight) * relative + absolute;
        if (column < 0 || v == source || (cutoff >= 0 && most > cutoff)) {
            continue;
        }
        double given = twi_distance(data, verifier->shape.type, column);
        if (given > most) {
            note(found, (finding){FAULT_ARC, column, given, weight});
        }
    }
}

/* The search itself says "no path" of sums that overflow: what it says so of must be out of reach.
 * Its heap and places are free by now. */
static void check_overflow(const tw_apsp_verifier *verifier, int32_t source, const void *data,
                           const twi_textbook *search, finding *found)
{
    uint8_t *reached = (uint8_t *)search->place;
    twi_mark_reached(verifier->graph, &source, 1, reached, search->heap);
    for (int64_t j = 0; j < verifier->shape.cols; j++) {
        if (reached[target_of(verifier, j)] && isinf(twi_distance(data, verifier->shape.type, j))) {
            note(found, (finding){FAULT_OVERFLOW, j, (double)INFINITY, (double)INFINITY});
            return;
        }
    }
}

/* Did the search itself round the sum of whole weights that leads to `target`? One that reached the
 * limit; with negative weights any may have, on its way. A cutoff below the limit is passed all the
 * same. */
static bool is_inexact(const tw_apsp_verifier *verifier, const twi_textbook *search, int32_t target,
                       double farthest, bool cut)
{
    const tw_graph *graph = verifier->graph;
    const double distance = search->distance[target];
    if (!twi_graph_is_exact(graph) || isinf(distance)) {
        return false;
    }
    if (graph->min_weight < 0) {
        return farthest >= TWI_EXACT_LIMIT;
    }
    return distance >= TWI_EXACT_LIMIT && !(cut && verifier->options.cutoff < TWI_EXACT_LIMIT);
}

/* Every entry against a search of the graph. */
static void check_search(const tw_apsp_verifier *verifier, int32_t source, const void *data,
                         twi_textbook *search, finding *found)
{
    const tw_graph *graph = verifier->graph;
    const tw_type type = verifier->shape.type;
    const double cutoff = verifier->options.cutoff;
    double farthest = 0;
    if (graph->min_weight < 0) {
        /* Not settled in n rounds means rounding, since there is no negative cycle. */
        (void)twi_textbook_bellman_ford(graph, source, search);
    } else {
        twi_textbook_dijkstra(graph, source, search);
    }
    if (twi_is_cancelled(search->stop)) {
        return; /* a search that was cut short proves nothing */
    }
    for (int64_t v = 0; v < graph->n; v++) {
        farthest =
            isinf(search->distance[v]) ? farthest : fmax(farthest, fabs(search->distance[v]));
    }
    /* Partial sums are distances between vertices of a path, so differences of two of the row;
     * potentials may be taken on and off again, and go as deep as `depth`. */
    const double magnitude =
        2 * (farthest + verifier->depth) + fmax(fabs(graph->min_weight), fabs(graph->max_weight));
    for (int64_t j = 0; j < verifier->shape.cols; j++) {
        double low;
        double high;
        double given = twi_distance(data, type, j);
        twi_textbook_bounds(graph, search, target_of(verifier, j), type, magnitude, &low, &high);
        const int32_t target = target_of(verifier, j);
        if (is_inexact(verifier, search, target, farthest, cutoff >= 0 && isinf(given))) {
            note(found, (finding){FAULT_INEXACT, j, given, search->distance[target]});
            return;
        }
        if (given == 0 && search->distance[target] > 0 && graph->min_weight >= 0) {
            note(found, (finding){FAULT_VANISHED, j, given, search->distance[target]});
            return;
        }
        bool may_be_cut = cutoff >= 0 && high > cutoff;
        bool must_be_cut = cutoff >= 0 && low > cutoff;
        bool right = isinf(given) ? given > 0 && (may_be_cut || isinf(high))
                                  : given >= low && given <= high && !must_be_cut;
        if (!right) {
            double reference = search->distance[target];
            note(found,
                 (finding){FAULT_SEARCH, j, given, must_be_cut ? (double)INFINITY : reference});
            return;
        }
    }
    if (!(cutoff >= 0 && cutoff < DBL_MAX) && magnitude >= DBL_MAX / 4) {
        check_overflow(verifier, source, data, search, found);
    }
}

static void check_row(tw_context *ctx, const tw_apsp_verifier *verifier, int64_t row,
                      const void *data, finding *found)
{
    const int32_t source = source_of(verifier, row);
    *found = (finding){.kind = FAULT_NONE};
    check_entries(verifier, source, data, found);
    check_arcs(verifier, source, data, found);
    if (verifier->drawn[row]) {
        twi_textbook search;
        uint64_t bytes = twi_textbook_bytes(verifier->graph);
        twi_textbook_place(&search, verifier->graph,
                           verifier->searches + (uint64_t)twi_thread_id() * bytes, ctx);
        check_search(verifier, source, data, &search, found);
    }
}

/* --------------------------------------------------------------------------------- the sink */

static void forget(tw_apsp_verifier *verifier)
{
    twi_free(verifier->drawn);
    twi_free(verifier->column_of);
    twi_free(verifier->searches);
    twi_free(verifier->block);
    verifier->drawn = NULL;
    verifier->column_of = NULL;
    verifier->searches = NULL;
    verifier->block = NULL;
    verifier->block_room = 0;
    verifier->next = 0;
    verifier->compared = 0;
    verifier->ended = false;
    verifier->wrong_row = -1;
}

/* Draw `samples` different rows (Floyd): each subset is equally likely. */
static tw_status draw_rows(tw_context *ctx, tw_apsp_verifier *verifier)
{
    const int64_t rows = verifier->shape.rows;
    const bool all = verifier->samples == 0 || verifier->samples >= rows;
    tw_status status =
        twi_alloc(ctx, &verifier->drawn, (uint64_t)rows, 1, "the choice of rows to verify");
    if (status != TW_OK) {
        return status;
    }
    memset(verifier->drawn, all ? 1 : 0, (size_t)rows);
    for (int64_t last = rows - verifier->samples; last < rows && !all; last++) {
        uint64_t random = twi_random_at(verifier->seed, (uint64_t)last);
        int64_t row = (int64_t)twi_random_below(random, (uint64_t)last + 1);
        verifier->drawn[verifier->drawn[row] ? last : row] = 1;
    }
    return TW_OK;
}

static tw_status index_columns(tw_context *ctx, tw_apsp_verifier *verifier)
{
    const int64_t n = verifier->graph->n;
    if (verifier->options.targets == NULL) {
        return TW_OK;
    }
    tw_status status =
        twi_alloc(ctx, &verifier->column_of, (uint64_t)n, sizeof(int32_t), "the columns to verify");
    for (int64_t v = 0; v < n && status == TW_OK; v++) {
        verifier->column_of[v] = -1;
    }
    for (int64_t j = verifier->shape.cols - 1; j >= 0 && status == TW_OK; j--) {
        verifier->column_of[verifier->options.targets[j]] = (int32_t)j;
    }
    return status;
}

static tw_status check_shape(tw_context *ctx, const tw_apsp_verifier *verifier,
                             const tw_shape *shape)
{
    const tw_apsp_options *options = &verifier->options;
    const int64_t n = verifier->graph->n;
    const int64_t rows = options->sources != NULL ? options->source_count : n;
    const int64_t cols = options->targets != NULL ? options->target_count : n;
    if (shape->rows != rows || shape->cols != cols) {
        return tw_fail(
            ctx, TW_ERR_VERIFY, "the matrix is %lld x %lld; for this graph it must be %lld x %lld",
            (long long)shape->rows, (long long)shape->cols, (long long)rows, (long long)cols);
    }
    if (!twi_type_is_element(shape->type) ||
        (options->type != TW_AUTO && options->type != shape->type)) {
        return tw_fail(ctx, TW_ERR_VERIFY, "the matrix has type %s; expected %s",
                       tw_type_name(shape->type), tw_type_name(options->type));
    }
    return TW_OK;
}

static tw_status verifier_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    tw_apsp_verifier *verifier = self;
    tw_status status = check_shape(ctx, verifier, shape);
    if (status != TW_OK) {
        return status;
    }
    forget(verifier);
    verifier->shape = *shape;
    verifier->threads = twi_thread_count(ctx);
    status = draw_rows(ctx, verifier);
    if (status == TW_OK) {
        status = index_columns(ctx, verifier);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &verifier->searches, (uint64_t)verifier->threads,
                           twi_textbook_bytes(verifier->graph), "the searches that verify");
    }
    if (status != TW_OK) {
        forget(verifier);
    }
    return status;
}

static tw_status verifier_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                               const void *data, int64_t stride)
{
    tw_apsp_verifier *verifier = self;
    const size_t step = (size_t)stride * tw_type_size(verifier->shape.type);
    if (verifier->drawn == NULL || first != verifier->next || count < 0 ||
        count > verifier->shape.rows - first) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "got rows %lld to %lld; expected row %lld",
                       (long long)first, (long long)(first + count), (long long)verifier->next);
    }
    tw_status status = TW_OK;
    if (count > verifier->block_room) {
        status = twi_grow(ctx, &verifier->block, 0, (uint64_t)count, sizeof *verifier->block,
                          "the findings of a block");
        verifier->block_room = status == TW_OK ? count : verifier->block_room;
    }
    if (status != TW_OK) {
        return status;
    }
#pragma omp parallel for num_threads(twi_team(verifier->threads)) schedule(dynamic, 1)
    for (int64_t i = 0; i < count; i++) {
        if (!twi_is_cancelled(ctx)) {
            check_row(ctx, verifier, first + i, (const char *)data + (size_t)i * step,
                      &verifier->block[i]);
        }
    }
    status = twi_check_cancel(ctx);
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        verifier->compared += verifier->drawn[first + i];
        if (verifier->block[i].kind != FAULT_NONE && verifier->wrong_row < 0) {
            verifier->wrong_row = first + i;
            verifier->wrong = verifier->block[i];
        }
    }
    verifier->next += count;
    return status;
}

static tw_status verifier_end(void *self, tw_context *ctx)
{
    tw_apsp_verifier *verifier = self;
    if (verifier->drawn == NULL || verifier->next != verifier->shape.rows) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "the result ended after row %lld of %lld",
                       (long long)verifier->next, (long long)verifier->shape.rows);
    }
    verifier->ended = true;
    return TW_OK;
}

static void verifier_abort(void *self, tw_context *ctx)
{
    (void)ctx;
    forget(self);
}

/* ------------------------------------------------------------------------------- the public */

static tw_status check_vertices(tw_context *ctx, const tw_graph *graph, const int32_t *list,
                                int64_t count, const char *what)
{
    for (int64_t i = 0; list != NULL && i < count; i++) {
        if (list[i] < 0 || list[i] >= graph->n) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "%s %lld is %d; the vertices are 0 to %lld", what,
                           (long long)i, (int)list[i], (long long)graph->n - 1);
        }
    }
    return TW_OK;
}

tw_status tw_apsp_verifier_create(tw_context *ctx, tw_apsp_verifier **out, const tw_graph *graph,
                                  const tw_apsp_options *opts, int64_t samples, uint64_t seed)
{
    twi_clear_handle(out);
    tw_apsp_options ours = TW_APSP_OPTIONS_INIT;
    tw_apsp_verifier *verifier = NULL;
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"graph", graph});
    if (status == TW_OK) {
        status = twi_take_options(ctx, &ours, opts);
    }
    if (status == TW_OK) {
        status = twi_check_result_type(ctx, ours.type);
    }
    if (status != TW_OK) {
        return status;
    }
    opts = &ours;
    if (samples < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "samples is %lld; use a number of rows, or 0 for all",
                       (long long)samples);
    }
    status = check_vertices(ctx, graph, opts->sources, opts->source_count, "source number");
    if (status == TW_OK) {
        status = check_vertices(ctx, graph, opts->targets, opts->target_count, "target number");
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &verifier, 1, sizeof *verifier, "a verifier");
    }
    if (status == TW_OK) {
        status = twi_relevant_part(ctx, &verifier->part, graph, opts);
    }
    if (status == TW_OK) {
        verifier->graph = verifier->part != NULL ? verifier->part : graph;
        status = twi_textbook_negative_cycle(ctx, verifier->graph, &verifier->depth);
    }
    if (status != TW_OK) {
        tw_apsp_verifier_destroy(verifier);
        return status;
    }
    verifier->options = *opts;
    verifier->samples = samples;
    verifier->seed = seed;
    verifier->wrong_row = -1;
    *out = verifier;
    return TW_OK;
}

tw_status tw_apsp_verifier_sink(tw_apsp_verifier *verifier, tw_sink *out)
{
    const tw_status status = twi_sink_clear(NULL, out);
    if (status != TW_OK || out == NULL || verifier == NULL) {
        return TW_ERR_ARGUMENT;
    }
    twi_sink_give(out, (tw_sink){sizeof(tw_sink), verifier, verifier_begin, verifier_rows,
                                 verifier_end, verifier_abort, NULL});
    return TW_OK;
}

tw_status tw_apsp_verifier_result(tw_context *ctx, const tw_apsp_verifier *verifier, int64_t *rows)
{
    tw_status missing = TWI_REQUIRE(ctx, {"verifier", verifier});
    if (missing != TW_OK) {
        return missing;
    }
    const finding *wrong = &verifier->wrong;
    if (rows != NULL) {
        *rows = verifier->compared;
    }
    if (verifier->wrong_row < 0) {
        return verifier->ended
                   ? TW_OK
                   : tw_fail(ctx, TW_ERR_ARGUMENT, "the verifier has not seen a whole matrix");
    }
    static const char *const reasons[] = {
        [FAULT_NAN] = "is not a number",
        [FAULT_SELF] = "should be 0, as from every vertex to itself",
        [FAULT_NEGATIVE] = "cannot be negative, since no weight is",
        [FAULT_ARC] = "is more than the weight of an arc there",
        [FAULT_VANISHED] = "is 0 because the type does not hold what it should be",
        [FAULT_OVERFLOW] = "hides a path whose length overflows",
        [FAULT_INEXACT] =
            "cannot be verified: a sum of whole weights reaches 2^53, which f64 rounds",
        [FAULT_SEARCH] = "is not what a search of the graph finds",
    };
    const int64_t row = verifier->wrong_row;
    char names[2][TWI_VERTEX_NAME];
    return tw_fail(ctx, TW_ERR_VERIFY,
                   "the distance from %.60s to %.60s (row %lld, column %lld), %.17g, %s (%.17g)",
                   twi_vertex_name(names[0], verifier->graph, source_of(verifier, row)),
                   twi_vertex_name(names[1], verifier->graph, target_of(verifier, wrong->column)),
                   (long long)row, (long long)wrong->column, wrong->given, reasons[wrong->kind],
                   wrong->right);
}

void tw_apsp_verifier_destroy(tw_apsp_verifier *verifier)
{
    if (verifier != NULL) {
        forget(verifier);
        tw_graph_destroy(verifier->part);
        twi_free(verifier);
    }
}
