/*
 * Statistics of a distance matrix as its rows pass by: nothing of it is kept but a few numbers a
 * row.
 *
 * Rows of a block are read in parallel; each row is summed in the order of its columns (exactly,
 * in 64-bit integers, for integer types), and rows are put together in their order, so the result
 * does not depend on threads or on how the rows were cut into blocks.
 *
 * The histogram must be counted before its range is known. Cell c of a table counts the values in
 * [c 2^e, (c + 1) 2^e); a value beyond the table merges its cells in pairs, e + 1 instead of e,
 * until it fits. A cell always holds exactly the values of its interval, whatever e it began with.
 * At the end e is raised to the one that the largest value alone decides, and the bins are cut at
 * cell borders: every count is exact for the edges reported. Integers begin at e = 0: below 2^16
 * each value has its own cell and bins may be cut anywhere. Each thread has a table of its own
 * (1 MB).
 *
 * Without a histogram or inverse distances all that is wanted of a row fits a fold (shared/fold.h),
 * which some engines make themselves; those are put together as the rows are.
 *
 * A part (shared/part.h) keeps the numbers of its rows at their places until those of all others
 * are there, too, and only then puts them together, in the same order.
 */
#include "apsp/shared/part.h"
#include "apsp/shared/statistics.h"
#include "base/given.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/threads.h"
#include "base/type.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define CELLS 65536
#define CELL_BITS 16
#define LEAST_EXPONENT (-1000) /* so that 2^-e is a number */

/* One thread's counts: cell c, from -CELLS to CELLS - 1, is count[CELLS + c]. */
typedef struct cells {
    int64_t count[2 * CELLS];
} cells;

struct tw_apsp_summary {
    int32_t bins_asked;
    tw_apsp_closeness scale; /* of the closeness */
    const int32_t *sources;
    const int32_t *targets;
    tw_apsp_summary_info info;
    __int128 whole_sum; /* of all distances, for integer types */
    double real_sum;    /* for floats */
    int64_t next;       /* row expected */
    bool harmonic_asked;
    double *eccentricity;
    double *closeness;
    double *sum;
    int64_t *reached;
    double *harmonic;
    twi_row_statistics *block; /* of the rows being read */
    int64_t block_room;
    int32_t tables; /* one per thread; 0 without a histogram */
    cells *table;
    int exponent;  /* of the cells' width; INT_MIN while only zeros have come */
    double *edges; /* bins + 1 */
    int64_t *counts;
    int32_t bins;
    /* Of a part: */
    const int64_t *places;   /* in the result, of the rows that come; NULL: this is no part */
    int64_t places_rows;     /* of the result */
    bool takes_folds;        /* see twi_summary_takes_folds */
    twi_row_statistics *all; /* by place; all bits 0 where a row is not here */
    int64_t widest;          /* the place of the first row with the largest distance; -1: none */
    int64_t farthest;        /*   and the column of that */
};

/* The place of a row that comes in the result. */
static inline int64_t place_of(const tw_apsp_summary *summary, int64_t row)
{
    return summary->places != NULL ? summary->places[row] : row;
}

/* ---------------------------------------------------------------------------------- one row */

/* The next run of columns that are not the row's own vertex, from *from on: [*from, *to). False
 * when there are no more. */
static bool next_run(const tw_apsp_summary *summary, int64_t row, int64_t *from, int64_t *to)
{
    const int64_t cols = summary->info.cols;
    const int64_t vertex = summary->sources != NULL ? summary->sources[row] : row;
    int64_t start = *from;
    if (summary->targets == NULL) {
        start += start == vertex ? 1 : 0;
        *to = start <= vertex && vertex < cols ? vertex : cols;
    } else {
        while (start < cols && summary->targets[start] == vertex) {
            start++;
        }
        *to = start;
        while (*to < cols && summary->targets[*to] != vertex) {
            ++*to;
        }
    }
    *from = start;
    return start < cols;
}

static void scan_row(const tw_apsp_summary *summary, int64_t row, const void *data,
                     twi_row_statistics *s)
{
    int64_t to;
    double sum[TWI_INVERSE_LANES] = {0};
    *s = (twi_row_statistics){.least = (double)INFINITY, .most = -(double)INFINITY};
    for (int64_t from = 0; next_run(summary, row, &from, &to); from = to) {
        twi_row_scan(summary->info.type, data, from, to, s);
        if (summary->harmonic_asked) {
            twi_row_inverses(summary->info.type, data, from, to, sum);
        }
    }
    for (int i = 0; i < TWI_INVERSE_LANES; i++) {
        s->inverse += sum[i];
    }
}

/* ---------------------------------------------------------------------------- the histogram */

static void count_row(const tw_apsp_summary *summary, int64_t row, const void *data, cells *table)
{
    const int exponent = summary->exponent == INT_MIN ? 0 : summary->exponent;
    int64_t to;
    for (int64_t from = 0; next_run(summary, row, &from, &to); from = to) {
        twi_row_count(summary->info.type, data, from, to, exponent, table->count + CELLS);
    }
}

/* Cells twice as wide: c becomes floor(c / 2). */
static void merge_pairs(cells *table)
{
    int64_t *zero = table->count + CELLS;
    for (int64_t c = 0; c < CELLS / 2; c++) {
        zero[c] = zero[2 * c] + zero[2 * c + 1];
    }
    for (int64_t c = -1; c >= -CELLS / 2; c--) {
        zero[c] = zero[2 * c] + zero[2 * c + 1];
    }
    memset(zero + CELLS / 2, 0, CELLS / 2 * sizeof *zero);
    memset(zero - CELLS, 0, CELLS / 2 * sizeof *zero);
}

/* The exponent with which a table just holds values up to `size` away from zero. It grows with
 * size, so whatever the order of the rows, the largest value alone decides the last one. */
static int exponent_for(const tw_apsp_summary *summary, double size)
{
    int exponent = ilogb(size) + 1 - CELL_BITS;
    int least = twi_type_is_whole(summary->info.type) ? 0 : LEAST_EXPONENT;
    return exponent > least ? exponent : least;
}

/* Widen the cells until values up to `size` away from zero fit. */
static void make_room(tw_apsp_summary *summary, double size)
{
    if (!(size > 0)) {
        return;
    }
    int exponent = exponent_for(summary, size);
    while (summary->exponent != INT_MIN && summary->exponent < exponent) {
        for (int32_t t = 0; t < summary->tables; t++) {
            merge_pairs(&summary->table[t]);
        }
        summary->exponent++;
    }
    if (summary->exponent == INT_MIN) {
        summary->exponent = exponent;
    }
}

/* A cell's count over the threads' tables. */
static int64_t count_of(const tw_apsp_summary *summary, int64_t cell)
{
    int64_t count = 0;
    for (int32_t t = 0; t < summary->tables; t++) {
        count += summary->table[t].count[CELLS + cell];
    }
    return count;
}

/* Integers with a cell per value: `bins` equal bins over [low, high], or one per value. */
static void cut_values(tw_apsp_summary *summary, int64_t low, int64_t high)
{
    const int64_t values = high - low + 1;
    const bool each = values <= summary->bins_asked;
    const int32_t bins = each ? (int32_t)values : summary->bins_asked;
    const double width = each ? 1 : (double)(high - low) / bins;
    for (int32_t b = 0; b <= bins; b++) {
        summary->edges[b] = (double)low + b * width;
    }
    if (!each) {
        summary->edges[bins] = (double)high;
    }
    int32_t b = 0;
    for (int64_t value = low; value <= high; value++) {
        while (b + 1 < bins && summary->edges[b + 1] <= (double)value) {
            b++;
        }
        summary->counts[b] += count_of(summary, value);
    }
    summary->bins = bins;
}

/* Wider cells: bins of equally many whole cells, as many as were asked for or a few less. */
static void cut_cells(tw_apsp_summary *summary, int64_t first, int64_t last)
{
    const int64_t asked = summary->bins_asked;
    const int64_t wide = (last - first + asked) / asked; /* cells a bin */
    summary->bins = (int32_t)((last - first + wide) / wide);
    for (int32_t b = 0; b <= summary->bins; b++) {
        summary->edges[b] = ldexp((double)(first + b * wide), summary->exponent);
    }
    for (int64_t cell = first; cell <= last; cell++) {
        summary->counts[(cell - first) / wide] += count_of(summary, cell);
    }
}

static void cut_bins(tw_apsp_summary *summary)
{
    const tw_apsp_summary_info *info = &summary->info;
    const double low = fmin(info->minimum, 0);
    const double high = fmax(info->diameter, 0);
    const int exponent = summary->exponent == INT_MIN ? 0 : summary->exponent;
    if (info->reachable == 0) {
        return;
    }
    summary->exponent = exponent;
    int64_t first = (int64_t)floor(ldexp(low, -exponent));
    int64_t last = (int64_t)floor(ldexp(high, -exponent));
    if (twi_type_is_whole(info->type) && exponent == 0) {
        cut_values(summary, first, last);
    } else {
        cut_cells(summary, first, last);
    }
}

/* --------------------------------------------------------------------------------- the sink */

static void forget(tw_apsp_summary *summary)
{
    twi_free(summary->eccentricity);
    twi_free(summary->closeness);
    twi_free(summary->sum);
    twi_free(summary->reached);
    twi_free(summary->harmonic);
    twi_free(summary->block);
    twi_free(summary->table);
    twi_free(summary->edges);
    twi_free(summary->counts);
    twi_free(summary->all);
    *summary = (tw_apsp_summary){.bins_asked = summary->bins_asked,
                                 .scale = summary->scale,
                                 .harmonic_asked = summary->harmonic_asked,
                                 .sources = summary->sources,
                                 .targets = summary->targets,
                                 .info = {.diameter_from = -1, .diameter_to = -1, .center = -1},
                                 .exponent = INT_MIN,
                                 .widest = -1,
                                 .farthest = -1};
}

static tw_status begin_histogram(tw_context *ctx, tw_apsp_summary *summary)
{
    const uint64_t bins = (uint64_t)summary->bins_asked;
    summary->tables = twi_thread_count(ctx);
    tw_status status = twi_alloc_zeroed(ctx, &summary->table, (uint64_t)summary->tables,
                                        sizeof *summary->table, "the histogram");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &summary->edges, bins + 1, sizeof *summary->edges, "the histogram");
    }
    if (status == TW_OK) {
        status =
            twi_alloc_zeroed(ctx, &summary->counts, bins, sizeof *summary->counts, "the histogram");
    }
    return status;
}

static tw_status begin_rows(tw_context *ctx, tw_apsp_summary *summary, uint64_t rows)
{
    const char *what = "the numbers of each row";
    tw_status status = TW_OK;
    if ((status = twi_alloc_zeroed(ctx, &summary->eccentricity, rows, sizeof(double), what)) !=
            TW_OK ||
        (status = twi_alloc_zeroed(ctx, &summary->closeness, rows, sizeof(double), what)) !=
            TW_OK ||
        (status = twi_alloc_zeroed(ctx, &summary->sum, rows, sizeof(double), what)) != TW_OK ||
        (status = twi_alloc_zeroed(ctx, &summary->reached, rows, sizeof(int64_t), what)) != TW_OK) {
        return status;
    }
    return summary->harmonic_asked
               ? twi_alloc_zeroed(ctx, &summary->harmonic, rows, sizeof(double), what)
               : TW_OK;
}

static tw_status summary_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    tw_apsp_summary *summary = self;
    if (shape->rows < 0 || shape->cols < 0 || !twi_type_is_element(shape->type)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a %lld x %lld matrix of %s cannot be summarised",
                       (long long)shape->rows, (long long)shape->cols, tw_type_name(shape->type));
    }
    forget(summary);
    summary->info.rows = shape->rows;
    summary->info.cols = shape->cols;
    summary->info.type = shape->type;
    tw_status status = begin_rows(ctx, summary, (uint64_t)shape->rows);
    if (status == TW_OK && summary->bins_asked > 0) {
        status = begin_histogram(ctx, summary);
    }
    if (status != TW_OK) {
        forget(summary);
    }
    return status;
}

/* A column of the row with the value, not the row's own vertex. */
static int64_t column_of(const tw_apsp_summary *summary, int64_t row, const void *data,
                         double value)
{
    int64_t to;
    for (int64_t from = 0; next_run(summary, row, &from, &to); from = to) {
        for (int64_t j = from; j < to; j++) {
            if (twi_element(data, summary->info.type, j) == value) {
                return j;
            }
        }
    }
    return -1;
}

/* Put one row's numbers to the others'. Rows come in order. */
static void add_row(tw_apsp_summary *summary, int64_t row, const twi_row_statistics *s)
{
    tw_apsp_summary_info *info = &summary->info;
    const double sum = twi_type_is_whole(info->type) ? (double)s->whole : s->real;
    const bool first = info->reachable == 0;
    info->unreachable += s->others - s->reached;
    if (s->reached == 0) {
        summary->closeness[row] = summary->scale == TW_APSP_CLOSENESS_IGRAPH ? (double)NAN : 0;
        return;
    }
    info->reachable += s->reached;
    summary->whole_sum += s->whole;
    summary->real_sum += s->real;
    info->minimum = first ? s->least : fmin(info->minimum, s->least);
    if (first || s->most > info->diameter) {
        info->diameter = s->most;
        info->diameter_from = row;
    }
    if (first || s->most < info->radius) {
        info->radius = s->most;
        info->center = row;
    }
    summary->eccentricity[row] = s->most;
    summary->sum[row] = sum;
    summary->reached[row] = s->reached;
    if (summary->harmonic != NULL) {
        summary->harmonic[row] = s->inverse;
    }
    double reached = (double)s->reached;
    if (summary->scale == TW_APSP_CLOSENESS_IGRAPH) {
        summary->closeness[row] = reached / sum;
    } else if (sum > 0) {
        summary->closeness[row] = reached / sum * (reached / (double)s->others);
    }
}

/* Keep one row's numbers for later; whether it is now the widest here. */
static bool keep_row(tw_apsp_summary *summary, int64_t row, const twi_row_statistics *s)
{
    const double most = summary->widest >= 0 ? summary->all[summary->widest].most : 0;
    const bool wider = s->reached > 0 && (summary->widest < 0 || s->most > most ||
                                          (s->most == most && row < summary->widest));
    summary->all[row] = *s;
    summary->widest = wider ? row : summary->widest;
    return wider;
}

/* Either of them; whether the column of its largest distance is wanted. */
static bool take_row(tw_apsp_summary *summary, int64_t row, const twi_row_statistics *s)
{
    const int64_t before = summary->info.diameter_from;
    if (summary->all != NULL) {
        return keep_row(summary, row, s);
    }
    add_row(summary, row, s);
    return summary->info.diameter_from != before;
}

/* Where that belongs. */
static int64_t *farthest_of(tw_apsp_summary *summary)
{
    return summary->all != NULL ? &summary->farthest : &summary->info.diameter_to;
}

/* Count a block whose rows have been scanned. */
static void count_block(tw_apsp_summary *summary, int64_t first, int64_t count, const char *data,
                        size_t step)
{
    double size = 0;
    for (int64_t i = 0; i < count; i++) {
        if (summary->block[i].reached > 0) {
            size = fmax(size, fmax(fabs(summary->block[i].least), fabs(summary->block[i].most)));
        }
    }
    make_room(summary, size);
#pragma omp parallel for num_threads(twi_team(summary->tables)) schedule(dynamic, 1)
    for (int64_t i = 0; i < count; i++) {
        count_row(summary, place_of(summary, first + i), data + (size_t)i * step,
                  &summary->table[twi_thread_id()]);
    }
}

static tw_status check_turn(tw_context *ctx, const tw_apsp_summary *summary, int64_t first,
                            int64_t count)
{
    tw_status status = twi_check_cancel(ctx);
    if (status == TW_OK &&
        (first != summary->next || count < 0 || count > summary->info.rows - first)) {
        status = tw_fail(ctx, TW_ERR_INTERNAL, "got rows %lld to %lld; expected row %lld",
                         (long long)first, (long long)(first + count), (long long)summary->next);
    }
    return status;
}

static tw_status summary_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                              const void *data, int64_t stride)
{
    tw_apsp_summary *summary = self;
    const size_t step = (size_t)stride * tw_type_size(summary->info.type);
    tw_status status = check_turn(ctx, summary, first, count);
    if (status == TW_OK && count > summary->block_room) {
        status = twi_grow(ctx, &summary->block, 0, (uint64_t)count, sizeof *summary->block,
                          "the summary of a block");
        summary->block_room = status == TW_OK ? count : summary->block_room;
    }
    if (status != TW_OK) {
        return status;
    }
#pragma omp parallel for num_threads(twi_threads_for(ctx, count * summary->info.cols)) \
    schedule(dynamic, 1)
    for (int64_t i = 0; i < count; i++) {
        scan_row(summary, place_of(summary, first + i), (const char *)data + (size_t)i * step,
                 &summary->block[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = place_of(summary, first + i);
        const double most = summary->block[i].most;
        if (take_row(summary, row, &summary->block[i])) {
            *farthest_of(summary) =
                column_of(summary, row, (const char *)data + (size_t)i * step, most);
        }
    }
    if (summary->tables > 0) {
        count_block(summary, first, count, data, step);
    }
    summary->next += count;
    return TW_OK;
}

static bool is_content_with_folds(const tw_apsp_summary *summary, const tw_apsp_plan *plan)
{
    const int32_t *asked = plan->options.sources;
    bool alike = summary->targets == NULL && (summary->sources != NULL) == (asked != NULL);
    for (int64_t i = 0; asked != NULL && alike && i < plan->options.source_count; i++) {
        alike = summary->sources[i] == asked[i];
    }
    return alike && summary->bins_asked == 0 && !summary->harmonic_asked;
}

bool twi_summary_takes_folds(const tw_sink *sink, const tw_apsp_plan *plan)
{
    if (sink->rows != summary_rows) {
        return false;
    }
    const tw_apsp_summary *summary = sink->self;
    return summary->places != NULL ? summary->takes_folds : is_content_with_folds(summary, plan);
}

tw_status twi_summary_folds(void *self, tw_context *ctx, int64_t first, int64_t count,
                            const void *folded, int64_t stride)
{
    tw_apsp_summary *summary = self;
    const twi_folded *rows = folded;
    const bool whole = twi_type_is_whole(summary->info.type);
    tw_status status = check_turn(ctx, summary, first, count);
    (void)stride;
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        const twi_fold *fold = &rows->fold[i];
        const twi_row_statistics s = {.reached = fold->reached,
                                      .others = summary->info.cols - 1,
                                      .whole = whole ? fold->sum : 0,
                                      .real = whole ? 0 : (double)fold->sum,
                                      .least = rows->least[i],
                                      .most = (double)fold->most};
        if (take_row(summary, place_of(summary, first + i), &s)) {
            *farthest_of(summary) = fold->farthest;
        }
    }
    summary->next += status == TW_OK ? count : 0;
    return status;
}

static tw_status summary_end(void *self, tw_context *ctx)
{
    tw_apsp_summary *summary = self;
    tw_apsp_summary_info *info = &summary->info;
    if (summary->next != info->rows) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "the result ended after row %lld of %lld",
                       (long long)summary->next, (long long)info->rows);
    }
    if (info->reachable > 0) {
        double sum = twi_type_is_whole(info->type) ? (double)summary->whole_sum : summary->real_sum;
        info->mean = sum / (double)info->reachable;
    }
    if (summary->tables > 0) {
        cut_bins(summary);
    }
    return TW_OK;
}

static void summary_abort(void *self, tw_context *ctx)
{
    (void)ctx;
    forget(self);
}

/* ---------------------------------------------------------------------------------- a part */

static tw_status part_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    tw_apsp_summary *summary = self;
    const int64_t *places = summary->places;
    const bool folds = summary->takes_folds;
    const tw_shape whole = {summary->places_rows, shape->cols, shape->type};
    tw_status status = summary_begin(summary, ctx, &whole);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &summary->all, (uint64_t)whole.rows, sizeof *summary->all,
                                  "the numbers of each row");
    }
    summary->places = places;
    summary->places_rows = whole.rows;
    summary->takes_folds = folds;
    return status;
}

void twi_summary_part_sink(tw_apsp_summary *summary, const int64_t *places,
                           const tw_apsp_plan *asked, tw_sink *out)
{
    forget(summary);
    summary->places = places;
    summary->places_rows = twi_plan_rows(asked);
    summary->takes_folds = is_content_with_folds(summary, asked);
    *out = (tw_sink){sizeof(tw_sink), summary,          part_begin, summary_rows,
                     twi_sink_ended,  twi_sink_aborted, NULL};
}

twi_summary_part twi_summary_part_of(tw_apsp_summary *summary, int32_t exponent)
{
    while (summary->tables > 0 && summary->exponent != INT_MIN && summary->exponent < exponent) {
        for (int32_t t = 0; t < summary->tables; t++) {
            merge_pairs(&summary->table[t]);
        }
        summary->exponent++;
    }
    for (int32_t t = 1; t < summary->tables; t++) {
        for (int64_t c = 0; c < 2 * CELLS; c++) {
            summary->table[0].count[c] += summary->table[t].count[c];
            summary->table[t].count[c] = 0;
        }
    }
    summary->exponent = summary->exponent < exponent ? exponent : summary->exponent;
    return (twi_summary_part){.rows = summary->all,
                              .row_count = summary->info.rows,
                              .row_bytes = (int64_t)sizeof *summary->all,
                              .cells = summary->tables > 0 ? summary->table[0].count : NULL,
                              .cell_count = summary->tables > 0 ? 2 * CELLS : 0,
                              .exponent = summary->exponent};
}

int64_t twi_summary_part_farthest(const tw_apsp_summary *summary)
{
    int64_t widest = -1;
    for (int64_t row = 0; row < summary->info.rows; row++) {
        const twi_row_statistics *s = &summary->all[row];
        if (s->reached > 0 && (widest < 0 || s->most > summary->all[widest].most)) {
            widest = row;
        }
    }
    return widest >= 0 && widest == summary->widest ? summary->farthest : -1;
}

tw_status twi_summary_part_finish(tw_context *ctx, tw_apsp_summary *summary, int64_t farthest)
{
    for (int64_t row = 0; row < summary->info.rows; row++) {
        add_row(summary, row, &summary->all[row]);
    }
    summary->next = summary->info.rows;
    summary->info.diameter_to = farthest;
    twi_free(summary->all);
    summary->all = NULL;
    summary->places = NULL;
    return summary_end(summary, ctx);
}

void twi_summary_part_forget(tw_apsp_summary *summary)
{
    forget(summary);
}

/* ------------------------------------------------------------------------------- the public */

tw_status tw_apsp_summary_create(tw_context *ctx, tw_apsp_summary **out, int32_t bins,
                                 const int32_t *sources, const int32_t *targets)
{
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out});
    if (missing != TW_OK) {
        return missing;
    }
    tw_apsp_summary *summary = NULL;
    if (bins < 0 || bins > CELLS / 2) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a histogram of %d bins: expected 0 (none) to %d",
                       (int)bins, CELLS / 2);
    }
    tw_status status = twi_alloc_zeroed(ctx, &summary, 1, sizeof *summary, "a summary");
    if (status == TW_OK) {
        summary->bins_asked = bins;
        summary->sources = sources;
        summary->targets = targets;
        forget(summary);
        *out = summary;
    }
    return status;
}

tw_status tw_apsp_summary_set_closeness(tw_context *ctx, tw_apsp_summary *summary,
                                        tw_apsp_closeness scale)
{
    tw_status missing = TWI_REQUIRE(ctx, {"summary", summary});
    if (missing != TW_OK) {
        return missing;
    }
    if (scale != TW_APSP_CLOSENESS_NETWORKX && scale != TW_APSP_CLOSENESS_IGRAPH) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "unknown closeness %d; use TW_APSP_CLOSENESS_NETWORKX or TW_APSP_CLOSENESS_IGRAPH",
            (int)scale);
    }
    summary->scale = scale;
    return TW_OK;
}

tw_status tw_apsp_summary_set_harmonic(tw_context *ctx, tw_apsp_summary *summary, int32_t on)
{
    tw_status missing = TWI_REQUIRE(ctx, {"summary", summary});
    if (missing == TW_OK) {
        summary->harmonic_asked = on != 0;
    }
    return missing;
}

tw_status tw_apsp_summary_sink(tw_apsp_summary *summary, tw_sink *out)
{
    const tw_status status = twi_sink_clear(NULL, out);
    if (status != TW_OK || out == NULL || summary == NULL) {
        return TW_ERR_ARGUMENT;
    }
    twi_sink_give(out, (tw_sink){sizeof(tw_sink), summary, summary_begin, summary_rows, summary_end,
                                 summary_abort, NULL});
    return TW_OK;
}

tw_status tw_apsp_summary_describe(const tw_apsp_summary *summary, tw_apsp_summary_info *out)
{
    if (summary == NULL) {
        return TW_ERR_ARGUMENT;
    }
    return TWI_DESCRIBE(NULL, tw_apsp_summary_info, out, &summary->info);
}

const double *tw_apsp_summary_eccentricity(const tw_apsp_summary *summary)
{
    return summary != NULL ? summary->eccentricity : NULL;
}

const double *tw_apsp_summary_closeness(const tw_apsp_summary *summary)
{
    return summary != NULL ? summary->closeness : NULL;
}

const double *tw_apsp_summary_sum(const tw_apsp_summary *summary)
{
    return summary != NULL ? summary->sum : NULL;
}

const int64_t *tw_apsp_summary_reached(const tw_apsp_summary *summary)
{
    return summary != NULL ? summary->reached : NULL;
}

const double *tw_apsp_summary_harmonic(const tw_apsp_summary *summary)
{
    return summary != NULL ? summary->harmonic : NULL;
}

int32_t tw_apsp_summary_histogram(const tw_apsp_summary *summary, const double **edges,
                                  const int64_t **counts)
{
    if (edges != NULL) {
        *edges = summary != NULL ? summary->edges : NULL;
    }
    if (counts != NULL) {
        *counts = summary != NULL ? summary->counts : NULL;
    }
    return summary != NULL ? summary->bins : 0;
}

void tw_apsp_summary_destroy(tw_apsp_summary *summary)
{
    if (summary != NULL) {
        forget(summary);
        twi_free(summary);
    }
}
