/*
 * Delivery: see deliver.h. Three ways from a working value to the user's, the first that applies:
 * as it is (same type, nothing to change: the sinks see the engine's own rows), by a table (u8 and
 * u16 hold few values), or one by one through a double, which holds every value of every type
 * exactly. Rows are converted by all threads into one buffer of up to 16 MB, then the sinks take
 * it. Rows that are taken as they are, and folds, need no such buffer: where a plan knows that all
 * will be such, it is neither counted nor allocated (twi_rows_known).
 *
 * What the result cannot be is refused here, whatever engine made it: a distance that its type does
 * not hold, and, where weights are so large that sums may leave the working type
 * (twi_plan_may_overflow), a pair that has a path and yet came as "no path", or whole numbers of
 * 2^53 and more. A float result of float weights is rounded; that is what was asked for.
 * Where all sinks are summaries an engine may hand over folds instead (fold.h). What those lack,
 * delivery adds: the lightest arc of each row's vertex and the farthest vertex of the widest row.
 */
#include "apsp/shared/deliver.h"

#include "apsp/shared/relevant.h"
#include "apsp/shared/routes.h"
#include "apsp/shared/textbook.h"
#include "apsp/shared/widen.h"
#include "base/clock.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/threads.h"
#include "base/type.h"
#include "io/sink/matrix.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define BUFFER_BYTES (16 << 20)

struct twi_delivery {
    const tw_apsp_plan *plan;
    twi_sinks distances;
    twi_sinks predecessors;
    bool with_predecessors;
    tw_shape shape;
    int64_t rows_at_once;
    char *buffer;      /* rows_at_once x cols of the result's type; of folds, a search and a row */
    uint64_t room;     /* bytes of it: 0 as long as rows need no conversion */
    int32_t *previous; /* the same for predecessors */
    bool may_overflow; /* see twi_plan_may_overflow */
    char *scratch;     /* of twi_predecessors and the search for overflows, one for each thread */
    int scratches;
    uint64_t scratch_each; /* bytes */
    void *table;           /* of the result's type, for table_type, table_scale */
    tw_type table_type;
    double table_scale;
    bool folded;    /* folds may stand for rows */
    int64_t widest; /* the largest distance in folds so far; -1: none yet */
    double seconds;
};

/* A value that the result cannot hold, with the place; the least place of all threads is told.
 * One that left the working type on the way is +inf, or 2^53 for whole weights. */
typedef struct misfit {
    int64_t row;
    int64_t col;
    double value;
} misfit;

/* The types that hold a distance which was too much for another. */
static const char *wider_type(double distance)
{
    if (distance != floor(distance) || distance < INT32_MIN || distance >= TW_APSP_INF_I32) {
        return "f64";
    }
    return distance >= 0 && distance < TW_APSP_INF_U16 ? "u16, i32 or f64" : "i32 or f64";
}

tw_status twi_delivery_misfit(tw_context *ctx, const twi_delivery *delivery, int64_t row,
                              int64_t col, double distance)
{
    const tw_apsp_plan *plan = delivery->plan;
    const tw_type type = delivery->shape.type;
    char names[2][TWI_VERTEX_NAME];
    const char *source = twi_vertex_name(names[0], plan->graph, twi_plan_source(plan, row));
    const char *target = twi_vertex_name(names[1], plan->graph, twi_plan_target(plan, col));
    const bool narrow = plan->options.work_type == TW_F32;
    const char *why = "";
    if (!isfinite(distance)) {
        return tw_fail(ctx, TW_ERR_RANGE,
                       "the distance %.60s -> %.60s, or a sum on the way to it, exceeds the range "
                       "of %s; %s",
                       source, target, narrow ? "the working type f32" : "f64",
                       narrow ? "leave the working type to 'auto'" : "scale the weights down");
    }
    if (twi_graph_is_exact(plan->graph) && fabs(distance) >= TWI_EXACT_LIMIT) {
        return tw_fail(ctx, TW_ERR_RANGE,
                       "the distance %.60s -> %.60s, or a sum on the way to it, is 2^53 or more, "
                       "where f64 no longer holds every whole number; scale the weights down",
                       source, target);
    }
    if (type == TW_F32) {
        why = (float)distance == 0     ? " (it would become 0)"
              : isinf((float)distance) ? ""
                                       : " (a whole number that would be rounded)";
    } else if (distance != floor(distance)) {
        why = " (it is not a whole number)";
    }
    return tw_fail(
        ctx, TW_ERR_RANGE,
        "the distance %.60s -> %.60s is %.17g, which type %s cannot hold%s; use --type %s", source,
        target, distance, tw_type_name(type), why, wider_type(distance));
}

/* ------------------------------------------------------------------------ the table for u8, u16 */

/* Where it has more entries than the result, it is not worth making. */
static bool wants_table(const twi_delivery *delivery, const twi_rows *rows)
{
    double entries = (double)delivery->shape.rows * (double)delivery->shape.cols;
    bool shifted = rows->potentials_applied && delivery->plan->potential != NULL;
    return (rows->type == TW_U8 || rows->type == TW_U16) && !shifted &&
           entries > tw_apsp_infinity(rows->type);
}

/* One result for every working value, or no table at all if one of them would not fit. */
static tw_status make_table(tw_context *ctx, twi_delivery *delivery, const twi_rows *rows)
{
    if (delivery->table != NULL && delivery->table_type == rows->type &&
        delivery->table_scale == rows->scale) {
        return TW_OK;
    }
    twi_free(delivery->table);
    delivery->table = NULL;
    int64_t count = (int64_t)tw_apsp_infinity(rows->type) + 1;
    tw_status status = twi_alloc(ctx, &delivery->table, (uint64_t)count,
                                 tw_type_size(delivery->shape.type), "the table of distances");
    if (status != TW_OK) {
        return status;
    }
    for (int64_t value = 0; value < count; value++) {
        double distance;
        bool sound = twi_distance_of(delivery->plan, rows, (double)value, 0, 0, &distance);
        if (!twi_store_distance(delivery->table, delivery->shape.type,
                                twi_plan_keeps_whole(delivery->plan), value, distance) ||
            !sound) {
            /* Some entry may have it, some may not: the slow way finds out and tells where. */
            twi_free(delivery->table);
            delivery->table = NULL;
            return TW_OK;
        }
    }
    delivery->table_type = rows->type;
    delivery->table_scale = rows->scale;
    return TW_OK;
}

#define LOOK_UP(IN, OUT)                                                                     \
    for (int64_t j = 0; j < cols; j++) {                                                     \
        ((OUT *)out)[j] = ((const OUT *)delivery->table)[((const IN *)in)[at(delivery, j)]]; \
    }
#define LOOK_UP_FROM(IN)                          \
    switch (tw_type_size(delivery->shape.type)) { \
    case 1:                                       \
        LOOK_UP(IN, uint8_t)                      \
        break;                                    \
    case 2:                                       \
        LOOK_UP(IN, uint16_t)                     \
        break;                                    \
    case 4:                                       \
        LOOK_UP(IN, uint32_t)                     \
        break;                                    \
    default:                                      \
        LOOK_UP(IN, uint64_t)                     \
        break;                                    \
    }

static inline int64_t at(const twi_delivery *delivery, int64_t col)
{
    return twi_plan_target(delivery->plan, col);
}

static void look_up_row(const twi_delivery *delivery, const void *in, tw_type type, void *out)
{
    int64_t cols = delivery->shape.cols;
    if (type == TW_U8) {
        LOOK_UP_FROM(uint8_t)
    } else {
        LOOK_UP_FROM(uint16_t)
    }
}

/* ------------------------------------------------------------------------------------- rows */

/* Whether every value of these rows is that of the result, in a wider type. */
static bool only_widens(const twi_delivery *delivery, const twi_rows *rows)
{
    const tw_apsp_plan *plan = delivery->plan;
    const bool shifted = rows->potentials_applied && plan->potential != NULL;
    return rows->type != delivery->shape.type && twi_widens(rows->type, delivery->shape.type) &&
           !shifted && rows->scale == 1 && plan->options.targets == NULL &&
           plan->options.cutoff < 0;
}

static void convert_row(const twi_delivery *delivery, const twi_rows *rows, int64_t row,
                        const void *in, void *out, misfit *first)
{
    const tw_apsp_plan *plan = delivery->plan;
    int32_t source = twi_plan_source(plan, row);
    bool keep_whole = twi_plan_keeps_whole(plan);
    for (int64_t j = 0; j < delivery->shape.cols; j++) {
        int32_t target = twi_plan_target(plan, j);
        double value;
        bool sound = twi_distance_of(plan, rows, twi_element(in, rows->type, target), source,
                                     target, &value);
        if ((!twi_store_distance(out, delivery->shape.type, keep_whole, j, value) || !sound) &&
            first->row < 0) {
            double spoilt = twi_graph_is_exact(plan->graph) ? TWI_EXACT_LIMIT : INFINITY;
            *first = (misfit){row, j, sound ? value : spoilt};
        }
    }
}

/* May this engine's rows hold +inf where there is a path? Not below a cutoff: a sum that left the
 * type is beyond it, too, unless potentials were taken on. */
static bool may_hide_paths(const twi_delivery *delivery, const twi_rows *rows)
{
    const tw_apsp_plan *plan = delivery->plan;
    bool real = rows->type == TW_F32 || rows->type == TW_F64;
    bool cut = plan->options.cutoff >= 0 && plan->potential == NULL &&
               plan->options.cutoff < (rows->type == TW_F32 ? (double)FLT_MAX : DBL_MAX);
    return delivery->may_overflow && real && !twi_graph_is_exact(plan->graph) && !cut;
}

/* The first column of the row that came as "no path" and yet can be reached. */
static void find_hidden_path(const twi_delivery *delivery, const twi_rows *rows, int64_t row,
                             const void *in, misfit *first)
{
    const tw_apsp_plan *plan = delivery->plan;
    const int32_t source = twi_plan_source(plan, row);
    char *scratch = delivery->scratch + (uint64_t)twi_thread_id() * delivery->scratch_each;
    int32_t *queue = (int32_t *)scratch;
    uint8_t *reached = (uint8_t *)(queue + plan->graph->n);
    twi_mark_reached(plan->graph, &source, 1, reached, queue);
    for (int64_t j = 0; j < delivery->shape.cols && first->row < 0; j++) {
        int32_t target = twi_plan_target(plan, j);
        if (reached[target] && twi_element(in, rows->type, target) == INFINITY) {
            *first = (misfit){row, j, INFINITY};
        }
    }
}

/* A buffer of so many bytes at least, none of which is kept. */
static tw_status make_room(tw_context *ctx, twi_delivery *delivery, uint64_t bytes)
{
    if (bytes <= delivery->room) {
        return TW_OK;
    }
    twi_free(delivery->buffer);
    delivery->buffer = NULL;
    delivery->room = 0;
    tw_status status = twi_alloc(ctx, &delivery->buffer, bytes, 1, "the rows on their way out");
    delivery->room = status == TW_OK ? bytes : 0;
    return status;
}

/* Convert `count` rows from `rows` into the buffer. */
static tw_status convert(tw_context *ctx, twi_delivery *delivery, const twi_rows *rows,
                         int64_t offset, int64_t count)
{
    int64_t in_step = rows->stride * (int64_t)tw_type_size(rows->type);
    int64_t out_step = delivery->shape.cols * (int64_t)tw_type_size(delivery->shape.type);
    bool widens = only_widens(delivery, rows);
    bool by_table = !widens && wants_table(delivery, rows) && delivery->table != NULL;
    bool hiding = may_hide_paths(delivery, rows);
    misfit worst = {-1, 0, 0};
    tw_status status = make_room(ctx, delivery, (uint64_t)(delivery->rows_at_once * out_step));
    if (status != TW_OK) {
        return status;
    }
#pragma omp parallel num_threads(twi_team(delivery->scratches))
    {
        misfit first = {-1, 0, 0};
#pragma omp for schedule(static)
        for (int64_t i = 0; i < count; i++) {
            const char *in = (const char *)rows->work + (offset + i) * in_step;
            char *out = delivery->buffer + i * out_step;
            if (twi_is_cancelled(ctx)) {
                continue;
            }
            if (widens) {
                twi_widen(out, delivery->shape.type, in, rows->type, delivery->shape.cols);
            } else if (by_table) {
                look_up_row(delivery, in, rows->type, out);
            } else {
                convert_row(delivery, rows, rows->first + offset + i, in, out, &first);
            }
            if (hiding) {
                find_hidden_path(delivery, rows, rows->first + offset + i, in, &first);
            }
        }
#pragma omp critical(twi_delivery_misfit)
        if (first.row >= 0 && (worst.row < 0 || first.row < worst.row)) {
            worst = first;
        }
    }
    status = twi_check_cancel(ctx);
    return status == TW_OK && worst.row >= 0
               ? twi_delivery_misfit(ctx, delivery, worst.row, worst.col, worst.value)
               : status;
}

static tw_status derive_predecessors(tw_context *ctx, twi_delivery *delivery, int64_t first,
                                     int64_t count, const char *rows, int64_t step)
{
    const tw_graph *graph = delivery->plan->graph;
    int64_t cols = delivery->shape.cols;
    int64_t wrong = INT64_MAX;
#pragma omp parallel num_threads(twi_team(delivery->scratches)) reduction(min : wrong)
    {
        void *scratch = delivery->scratch + (uint64_t)twi_thread_id() * delivery->scratch_each;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < count; i++) {
            if (!twi_is_cancelled(ctx) &&
                !twi_predecessors(ctx, graph, twi_plan_source(delivery->plan, first + i),
                                  rows + i * step, delivery->shape.type,
                                  delivery->previous + i * cols, scratch)) {
                wrong = first + i < wrong ? first + i : wrong;
            }
        }
    }
    if (wrong != INT64_MAX && !twi_is_cancelled(ctx)) {
        return tw_fail(ctx, TW_ERR_INTERNAL,
                       "the distances from vertex %d have no tree of shortest paths; please report "
                       "this graph",
                       twi_plan_source(delivery->plan, wrong));
    }
    return twi_sinks_rows(ctx, &delivery->predecessors, first, count, delivery->previous, cols);
}

/* The sinks take `count` rows that are in the result's type. */
static tw_status feed(tw_context *ctx, twi_delivery *delivery, int64_t first, int64_t count,
                      const void *rows, int64_t stride)
{
    tw_status status = twi_sinks_rows(ctx, &delivery->distances, first, count, rows, stride);
    if (status == TW_OK && delivery->with_predecessors) {
        status = derive_predecessors(ctx, delivery, first, count, rows,
                                     stride * (int64_t)tw_type_size(delivery->shape.type));
    }
    return status;
}

static bool as_it_is(const twi_delivery *delivery, const twi_rows *rows)
{
    const tw_apsp_plan *plan = delivery->plan;
    return rows->type == delivery->shape.type && rows->scale == 1 && !delivery->may_overflow &&
           plan->options.targets == NULL && plan->options.cutoff < 0 &&
           !(rows->potentials_applied && plan->potential != NULL);
}

tw_status twi_delivery_rows(tw_context *ctx, twi_delivery *delivery, const twi_rows *rows)
{
    double began = twi_seconds();
    tw_status status = TW_OK;
    bool direct = as_it_is(delivery, rows);
    int64_t in_step = rows->stride * (int64_t)tw_type_size(rows->type);
    if (!direct && !only_widens(delivery, rows) && wants_table(delivery, rows)) {
        status = make_table(ctx, delivery, rows);
    }
    for (int64_t i = 0; i < rows->count && status == TW_OK; i += delivery->rows_at_once) {
        int64_t count = rows->count - i;
        count = count < delivery->rows_at_once ? count : delivery->rows_at_once;
        if (direct) {
            status = feed(ctx, delivery, rows->first + i, count,
                          (const char *)rows->work + i * in_step, rows->stride);
        } else {
            status = convert(ctx, delivery, rows, i, count);
            if (status == TW_OK) {
                status = feed(ctx, delivery, rows->first + i, count, delivery->buffer,
                              delivery->shape.cols);
            }
        }
    }
    delivery->seconds += twi_seconds() - began;
    return status;
}

const tw_matrix *twi_delivery_matrix(const twi_delivery *delivery, tw_type work)
{
    const twi_rows rows = {.type = work, .scale = 1, .potentials_applied = true};
    if (delivery->with_predecessors || delivery->distances.count != 1 ||
        !(as_it_is(delivery, &rows) || only_widens(delivery, &rows))) {
        return NULL;
    }
    const tw_sink sink = twi_sink_at(delivery->distances.sinks, 0);
    return twi_sink_matrix(&sink);
}

tw_status twi_delivery_matrix_filled(tw_context *ctx, twi_delivery *delivery, int64_t first,
                                     int64_t count)
{
    const tw_sink sink = twi_sink_at(delivery->distances.sinks, 0);
    const tw_matrix *matrix = twi_sink_matrix(&sink);
    return feed(ctx, delivery, first, count, twi_matrix_row(matrix, first), matrix->stride);
}

tw_status twi_delivery_finished_rows(tw_context *ctx, twi_delivery *delivery, int64_t first,
                                     int64_t count, const void *rows)
{
    double began = twi_seconds();
    int64_t cols = delivery->shape.cols;
    int64_t row_bytes = cols * (int64_t)tw_type_size(delivery->shape.type);
    /* Only predecessors are bound to the buffer's size. */
    int64_t most = delivery->with_predecessors ? delivery->rows_at_once : count;
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i += most) {
        int64_t part = count - i < most ? count - i : most;
        status = feed(ctx, delivery, first + i, part, (const char *)rows + i * row_bytes, cols);
    }
    delivery->seconds += twi_seconds() - began;
    return status;
}

/* ------------------------------------------------------------------------------------- folds */

int64_t twi_fold_widest(const twi_fold *folds, int64_t count)
{
    int64_t widest = -1;
    for (int64_t i = 0; i < count; i++) {
        if (folds[i].reached > 0 && (widest < 0 || folds[i].most > folds[widest].most)) {
            widest = i;
        }
    }
    return widest;
}

/* In f64, or in the f32 that somebody insists on. */
static bool may_overflow(const tw_apsp_plan *plan)
{
    return twi_plan_may_overflow(plan, plan->options.work_type == TW_F32 ? TW_F32 : TW_F64);
}

/* Are all sums that a summary forms exact in whatever order? Those of integers are kept in 64 bits;
 * floats hold whole numbers up to a limit. */
static bool sums_exactly(const tw_apsp_plan *plan)
{
    double n = (double)plan->graph->n;
    double longest = n * plan->graph->max_weight;
    bool fits = plan->type == TW_F32 ? longest < 0x1p24 : plan->type == TW_F64;
    return twi_type_is_whole(plan->type) ||
           (twi_graph_is_exact(plan->graph) && fits && n * longest < TWI_EXACT_LIMIT);
}

/* Of all that folds need, what the plan decides. */
static bool lets_fold(const tw_apsp_plan *plan)
{
    return plan->options.targets == NULL && plan->options.cutoff < 0 && plan->potential == NULL &&
           !may_overflow(plan) && sums_exactly(plan);
}

bool twi_delivery_will_fold(const tw_apsp_plan *plan)
{
    return plan->options.summary_only == 1 && plan->options.predecessors == 0 && lets_fold(plan);
}

static bool may_fold(const tw_apsp_plan *plan, const tw_sink *sinks, int32_t sink_count,
                     const tw_sink *predecessors)
{
    bool folds = sink_count > 0 && predecessors == NULL && lets_fold(plan);
    for (int32_t i = 0; i < sink_count && folds; i++) {
        const tw_sink sink = twi_sink_at(sinks, i);
        folds = twi_summary_takes_folds(&sink, plan);
    }
    return folds;
}

bool twi_delivery_is_folded(const twi_delivery *delivery)
{
    return delivery->folded;
}

/* The row of a fold by a search: *farthest is its first vertex at distance `most`. A distance that
 * the result's type cannot hold is refused, with its pair. */
static tw_status search_row(tw_context *ctx, twi_delivery *delivery, int64_t row, int64_t most,
                            int32_t *farthest)
{
    const tw_graph *graph = delivery->plan->graph;
    twi_textbook search;
    misfit first = {-1, 0, 0};
    double found = 0;
    twi_textbook_place(&search, graph, delivery->buffer, ctx);
    twi_textbook_distances(graph, twi_plan_source(delivery->plan, row), &search);
    const twi_rows rows = {row, 1, search.distance, graph->n, TW_F64, 1, false};
    *farthest = -1;
    for (int32_t v = 0; v < graph->n; v++) {
        const double distance = search.distance[v];
        if (!isinf(distance) && v != twi_plan_source(delivery->plan, row)) {
            *farthest = *farthest < 0 && distance == (double)most ? v : *farthest;
            found = fmax(found, distance);
        }
    }
    convert_row(delivery, &rows, row, search.distance, delivery->buffer + twi_textbook_bytes(graph),
                &first);
    if (twi_is_cancelled(ctx)) {
        return twi_check_cancel(ctx); /* the search was cut short */
    }
    if (first.row >= 0) {
        return twi_delivery_misfit(ctx, delivery, first.row, first.col, first.value);
    }
    if (found != (double)most || *farthest < 0) {
        return tw_fail(ctx, TW_ERR_INTERNAL,
                       "the farthest vertex from %d is at %.17g by a search, at %lld by the method "
                       "chosen; please report this graph",
                       twi_plan_source(delivery->plan, row), found, (long long)most);
    }
    return TW_OK;
}

/* The lightest arc out of each row's vertex. */
static tw_status find_least(tw_context *ctx, const twi_delivery *delivery, int64_t first,
                            int64_t count, double *least)
{
    const tw_graph *graph = delivery->plan->graph;
    int64_t left = 0;
#pragma omp parallel for num_threads(twi_team(delivery->plan->threads)) firstprivate(left) \
    schedule(static)
    for (int64_t i = 0; i < count; i++) {
        int32_t u = twi_plan_source(delivery->plan, first + i);
        least[i] = (double)INFINITY;
        if (twi_is_stopped(ctx, &left, graph->offsets[u + 1] - graph->offsets[u])) {
            left = 0; /* from now on at each of them */
            continue;
        }
        if (graph->equal && graph->offsets[u] < graph->offsets[u + 1]) {
            least[i] = graph->max_weight;
            continue;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            least[i] = fmin(least[i], twi_graph_weight(graph, a));
        }
    }
    return twi_check_cancel(ctx);
}

/* The first row whose distances the result's type cannot hold; -1: it holds all. */
static int64_t first_misfit(const twi_delivery *delivery, int64_t count, const twi_fold *folds)
{
    for (int64_t i = 0; i < count; i++) {
        if (folds[i].reached > 0 &&
            (double)folds[i].most >= tw_apsp_infinity(delivery->shape.type)) {
            return i;
        }
    }
    return -1;
}

static tw_status complete_and_feed(tw_context *ctx, twi_delivery *delivery, int64_t first,
                                   int64_t count, twi_fold *folds, double *least)
{
    int64_t widest = twi_fold_widest(folds, count);
    int64_t misfit_row = first_misfit(delivery, count, folds);
    int64_t row = misfit_row >= 0 ? misfit_row : widest;
    bool raises = widest >= 0 && folds[widest].most > delivery->widest;
    tw_status status = TW_OK;
    if (misfit_row >= 0 || (raises && folds[row].farthest < 0)) {
        status = search_row(ctx, delivery, first + row, folds[row].most, &folds[row].farthest);
    }
    if (status == TW_OK) {
        status = find_least(ctx, delivery, first, count, least);
    }
    if (status == TW_OK) {
        const twi_folded folded = {folds, least};
        delivery->widest = raises ? folds[widest].most : delivery->widest;
        status =
            twi_sinks_take(ctx, &delivery->distances, first, count, &folded, 0, twi_summary_folds);
    }
    return status;
}

tw_status twi_delivery_folds(tw_context *ctx, twi_delivery *delivery, int64_t first, int64_t count,
                             const twi_fold *folds)
{
    double began = twi_seconds();
    twi_fold *own = NULL;
    double *least = NULL;
    tw_status status = twi_alloc(ctx, &own, (uint64_t)count, sizeof *own, "the folds of the rows");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &least, (uint64_t)count, sizeof *least, "the folds of the rows");
    }
    if (status == TW_OK) {
        memcpy(own, folds, (size_t)count * sizeof *own);
        status = complete_and_feed(ctx, delivery, first, count, own, least);
    }
    twi_free(least);
    twi_free(own);
    delivery->seconds += twi_seconds() - began;
    return status;
}

/* -------------------------------------------------------------------------- begin and end */

static int64_t rows_per_buffer(const tw_apsp_plan *plan, const twi_rows_known *known)
{
    int64_t rows = twi_plan_rows(plan);
    rows = known != NULL && known->at_once > 0 && known->at_once < rows ? known->at_once : rows;
    int64_t row_bytes = twi_plan_cols(plan) * (int64_t)sizeof(double);
    int64_t fit = row_bytes > 0 ? BUFFER_BYTES / row_bytes : rows;
    return fit < 1 || rows < 1 ? 1 : fit < rows ? fit : rows;
}

/* Bytes of one thread's scratch, 0 where none is needed. */
static uint64_t scratch_bytes(const tw_apsp_plan *plan, bool predecessors)
{
    uint64_t walk = (uint64_t)plan->graph->n * (sizeof(int32_t) + 1);
    uint64_t tree = predecessors ? twi_predecessors_scratch(plan->graph) : 0;
    uint64_t each = may_overflow(plan) && walk > tree ? walk : tree;
    return (each + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

/* What a delivery of the plan would be, for the questions that rows are judged by. */
static twi_delivery delivery_of(const tw_apsp_plan *plan)
{
    return (twi_delivery){.plan = plan,
                          .shape = {twi_plan_rows(plan), twi_plan_cols(plan), plan->type},
                          .may_overflow = may_overflow(plan)};
}

uint64_t twi_delivery_table(const tw_apsp_plan *plan, tw_type work)
{
    const twi_delivery like = delivery_of(plan);
    const twi_rows rows = {.type = work, .scale = 1, .potentials_applied = true};
    return work != plan->type && wants_table(&like, &rows) && !only_widens(&like, &rows)
               ? (uint64_t)(tw_apsp_infinity(work) + 1) * tw_type_size(plan->type)
               : 0;
}

/* Whether rows are known to need no conversion. */
static bool all_as_they_are(const tw_apsp_plan *plan, const twi_rows_known *known)
{
    if (known == NULL || known->type == TW_AUTO) {
        return false;
    }
    const twi_delivery like = delivery_of(plan);
    const twi_rows rows = {.type = known->type, .scale = 1, .potentials_applied = true};
    return as_it_is(&like, &rows);
}

static uint64_t buffer_bytes(const tw_apsp_plan *plan, const twi_rows_known *known, bool folded)
{
    const bool none = (folded && known != NULL && known->folds) || all_as_they_are(plan, known);
    const uint64_t row = (uint64_t)twi_plan_cols(plan) * tw_type_size(plan->type);
    const uint64_t rows = none ? 0 : (uint64_t)rows_per_buffer(plan, known) * row;
    const uint64_t search = folded ? twi_textbook_bytes(plan->graph) + row : 0;
    return rows > search ? rows : search;
}

uint64_t twi_delivery_memory(const tw_apsp_plan *plan, const twi_rows_known *known,
                             bool predecessors)
{
    const uint64_t cells = (uint64_t)rows_per_buffer(plan, known) * (uint64_t)twi_plan_cols(plan);
    const bool folded = !predecessors && twi_delivery_will_fold(plan);
    return sizeof(twi_delivery) + buffer_bytes(plan, known, folded) +
           (predecessors ? cells * sizeof(int32_t) : 0) +
           (uint64_t)plan->threads * scratch_bytes(plan, predecessors);
}

static tw_status allocate(tw_context *ctx, twi_delivery *delivery, const twi_rows_known *known)
{
    uint64_t cells = (uint64_t)delivery->rows_at_once * (uint64_t)delivery->shape.cols;
    tw_status status =
        make_room(ctx, delivery, buffer_bytes(delivery->plan, known, delivery->folded));
    if (status == TW_OK && delivery->with_predecessors) {
        status =
            twi_alloc(ctx, &delivery->previous, cells, sizeof(int32_t), "the rows of predecessors");
    }
    delivery->scratch_each = scratch_bytes(delivery->plan, delivery->with_predecessors);
    delivery->scratches =
        delivery->plan->threads > 0 ? delivery->plan->threads : twi_thread_count(ctx);
    if (status == TW_OK && delivery->scratch_each > 0) {
        status = twi_alloc(ctx, &delivery->scratch, (uint64_t)delivery->scratches,
                           delivery->scratch_each, "the search for predecessors");
    }
    return status;
}

static tw_status begin_sinks(tw_context *ctx, twi_delivery *delivery, tw_sink *sinks,
                             int32_t sink_count, tw_sink *predecessors)
{
    tw_status status =
        twi_sinks_begin(ctx, &delivery->distances, sinks, sink_count, &delivery->shape);
    if (status == TW_OK && predecessors != NULL) {
        const tw_shape shape = {delivery->shape.rows, delivery->shape.cols, TW_I32};
        delivery->predecessors.number = sink_count;
        status = twi_sinks_begin(ctx, &delivery->predecessors, predecessors, 1, &shape);
    }
    return status;
}

tw_status twi_delivery_begin(tw_context *ctx, twi_delivery **out, const tw_apsp_plan *plan,
                             const twi_rows_known *known, tw_sink *sinks, int32_t sink_count,
                             tw_sink *predecessors)
{
    *out = NULL;
    twi_delivery *delivery = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &delivery, 1, sizeof *delivery, "the delivery");
    if (status != TW_OK) {
        return status;
    }
    *out = delivery;
    *delivery = delivery_of(plan);
    delivery->with_predecessors = predecessors != NULL;
    delivery->rows_at_once = rows_per_buffer(plan, known);
    delivery->folded = may_fold(plan, sinks, sink_count, predecessors);
    delivery->widest = -1;
    status = allocate(ctx, delivery, known);
    if (status == TW_OK) {
        status = begin_sinks(ctx, delivery, sinks, sink_count, predecessors);
    }
    return status;
}

tw_status twi_delivery_end(tw_context *ctx, twi_delivery *delivery)
{
    double began = twi_seconds();
    tw_status status = twi_sinks_finish(ctx, &delivery->distances, TW_OK);
    delivery->predecessors.second = true;
    status = twi_sinks_finish(ctx, &delivery->predecessors, status);
    delivery->seconds += twi_seconds() - began;
    return status;
}

bool twi_delivery_refused(const twi_delivery *delivery)
{
    return delivery != NULL && (delivery->distances.refused || delivery->predecessors.refused);
}

double twi_delivery_seconds(const twi_delivery *delivery)
{
    return delivery->seconds;
}

void twi_delivery_destroy(tw_context *ctx, twi_delivery *delivery)
{
    if (delivery == NULL) {
        return;
    }
    twi_sinks_abort(ctx, &delivery->distances);
    twi_sinks_abort(ctx, &delivery->predecessors);
    twi_free(delivery->table);
    twi_free(delivery->scratch);
    twi_free(delivery->previous);
    twi_free(delivery->buffer);
    twi_free(delivery);
}
