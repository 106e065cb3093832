/*
 * The sweep: see sweep.h. What becomes of one batch of sources is in batch.c; here sources become
 * batches, and their columns become what the run was asked for.
 *
 * Rows: the sources of a delivered block of rows are sorted by their place in the tree, so that a
 * batch's have most of their way up in common. Each batch keeps the rows of all vertices as they
 * come, and transposes them into rows of the result. Where those go into the caller's matrix and
 * nowhere else there are no blocks of rows: all sources are sorted, and tiles go from the transpose
 * right into the matrix.
 *
 * Folds (shared/fold.h): all sources go in the order of their places, and of the rows of a block
 * only sums and maxima of the columns are kept, formed while the block is in cache. Nothing is of
 * the size of the graph but one fold for each row of the result.
 *
 * In a symmetric graph each pair is computed once, and counted for both (see "half" in batch.h).
 *
 * Columns do not know of each other: batches, threads and blocks of rows change no bit of a result.
 *
 * Memory: the factor, a stack for each thread and, for rows, the block of them and n rows of a
 * batch's columns for each thread.
 */
#include "apsp/sweep/sweep.h"

#include "apsp/closure/scatter.h"
#include "apsp/shared/widen.h"
#include "apsp/sweep/batch.h"
#include "apsp/sweep/factor.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MOST ((uint64_t)96 << 20)  /* bytes that a batch keeps, unless it is one strip */
#define BLOCK_BYTES ((uint64_t)8 << 20)  /* of a delivered block of rows, at least, */
#define THREAD_BYTES ((uint64_t)4 << 20) /*   and for each thread */
#define UNSEEN 0.75                      /* vertices that the plan's search did not reach */
#define TILE 64                          /* vertices transposed at a time */
#define STREAMED ((int64_t)32 << 20)     /* bytes of a matrix that no cache holds */

struct engine;

typedef struct worker {
    struct engine *engine;
    twi_batch batch;
    char *x;             /* for rows: n rows of a batch */
    char *tile;          /* for rows: TILE columns of the rows of a batch */
    twi_columns columns; /* for folds */
    int64_t *sum;        /* of each column, "no path" counted in */
    int64_t summed;      /* rows in columns.sum */
    int64_t dead;        /* rows that no column reaches */
    twi_across across;   /* for half: of each place, what batches after its own have */
    int32_t place;       /* of the first source of a batch, */
    int64_t count;       /*   and how many there are */
} worker;

typedef struct engine {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    const twi_tree *tree;
    const twi_minplus_kernel *kernel;
    twi_course course;
    int64_t size; /* of an element */
    int64_t threads;
    worker *workers;
    char *memory;
    twi_ticket *tickets;
    char *block;             /* the rows that are delivered next */
    int64_t stride;          /* elements from one of them to the next */
    const tw_matrix *matrix; /* where all rows go, in place of blocks; or NULL */
    twi_fold *folds;
    atomic_bool refuted; /* some distance does not fit the type */
    atomic_llong done;   /* rows */
} engine;

/* ----------------------------------------------------------------------------------- sizes */

/* Columns of a batch whose rows are kept. */
static int64_t kept_width(const tw_apsp_plan *plan, const twi_tree *tree,
                          const twi_minplus_kernel *kernel, int threads)
{
    int64_t width = twi_batch_width(tree, kernel, twi_plan_rows(plan), threads);
    uint64_t n = (uint64_t)(plan->graph->n > 0 ? plan->graph->n : 1);
    int64_t strips = (int64_t)(BATCH_MOST / n / tw_type_size(kernel->type)) / kernel->nr;
    int64_t most = (strips > 1 ? strips : 1) * kernel->nr;
    return width < most ? width : most;
}

static int64_t row_stride(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel)
{
    int64_t line = TWI_CACHE_LINE / (int64_t)tw_type_size(kernel->type);
    return (plan->graph->n + line - 1) / line * line;
}

/* Rows of a delivered block: whole batches for every thread. */
static int64_t block_rows(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel, int64_t width,
                          int threads)
{
    int64_t round = width * threads;
    uint64_t bytes = THREAD_BYTES * (uint64_t)threads;
    uint64_t row = (uint64_t)row_stride(plan, kernel) * tw_type_size(kernel->type);
    bytes = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    int64_t rounds = row > 0 ? (int64_t)(bytes / row) / round : 1;
    int64_t rows = (rounds > 1 ? rounds : 1) * round;
    return rows < twi_plan_rows(plan) ? rows : twi_plan_rows(plan);
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + TWI_CACHE_LINE - 1) / TWI_CACHE_LINE * TWI_CACHE_LINE;
}

/* Bytes of `rows` rows of a batch. */
static uint64_t row_bytes(const twi_minplus_kernel *kernel, int64_t width, int64_t rows)
{
    return rounded((uint64_t)(rows * twi_batch_step(kernel, width)) * tw_type_size(kernel->type));
}

/* What a worker needs besides its batch: for rows, or for folds. */
static uint64_t keeper_bytes(const twi_tree *tree, const twi_minplus_kernel *kernel, int64_t width)
{
    return row_bytes(kernel, width, tree->n) +
           rounded((uint64_t)(TILE * width) * tw_type_size(kernel->type));
}
static uint64_t folder_bytes(const twi_minplus_kernel *kernel, int64_t width, int64_t start_rows)
{
    uint64_t element = tw_type_size(kernel->type);
    return row_bytes(kernel, width, start_rows) + rounded((uint64_t)width * 2 * element) +
           rounded((uint64_t)width * element) + rounded((uint64_t)width * sizeof(uint32_t)) +
           rounded((uint64_t)width * sizeof(int64_t));
}

/* Of a worker's sums, maxima and counts of all rows. */
static uint64_t across_bytes(int64_t n)
{
    return rounded((uint64_t)n * (sizeof(int64_t) + sizeof(int32_t) + sizeof(uint32_t)));
}

/* May a walk be as long as the cap of the type? */
static bool may_reach_cap(const tw_apsp_plan *plan, tw_type type, double infinity)
{
    const tw_graph *graph = plan->graph;
    if (type == TW_F32 || type == TW_F64) {
        return false;
    }
    double heaviest = 0;
    for (int32_t u = 0; u < graph->n && plan->potential != NULL; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            heaviest = fmax(heaviest, twi_plan_arc_weight(plan, u, graph->targets[a], a));
        }
    }
    heaviest = plan->potential != NULL ? heaviest : graph->max_weight;
    return (double)graph->n * heaviest >= infinity;
}

bool twi_sweep_folds(const tw_apsp_plan *plan, tw_type type)
{
    const twi_minplus_kernel *kernel = twi_closure_kernel(plan, type);
    return kernel->fold != NULL &&
           (plan->options.work_type != TW_AUTO ||
            !may_reach_cap(plan, TW_I32, tw_apsp_infinity(TW_I32))); /* else f64 may follow */
}

/* A run's memory beside the factor, where it makes rows. */
static uint64_t rows_run_bytes(const tw_apsp_plan *plan, const twi_tree *tree,
                               const twi_minplus_kernel *kernel, int threads)
{
    int64_t width = kept_width(plan, tree, kernel, threads);
    uint64_t rows = (uint64_t)block_rows(plan, kernel, width, threads);
    uint64_t row = (uint64_t)row_stride(plan, kernel) * tw_type_size(kernel->type);
    uint64_t each = twi_batch_memory(tree, kernel, width) + sizeof(worker);
    return (uint64_t)threads * (each + keeper_bytes(tree, kernel, width)) +
           rows * (row + sizeof(twi_ticket)) + twi_course_memory(plan, tree, kernel, width, true) +
           twi_delivery_table(plan, kernel->type);
}

/* The same where it makes folds, of which delivery has a copy. */
static uint64_t folds_run_bytes(const tw_apsp_plan *plan, const twi_tree *tree,
                                const twi_minplus_kernel *kernel, int threads)
{
    int64_t width = twi_batch_width(tree, kernel, twi_plan_rows(plan), threads);
    uint64_t row = sizeof(twi_ticket) + 2 * sizeof(twi_fold) + sizeof(double);
    uint64_t each = twi_batch_memory(tree, kernel, width) + sizeof(worker) +
                    folder_bytes(kernel, width, twi_batch_rows_most(plan, tree, width)) +
                    (plan->options.sources == NULL ? across_bytes(tree->n) : 0);
    return (uint64_t)threads * each + (uint64_t)twi_plan_rows(plan) * row +
           twi_course_memory(plan, tree, kernel, width, true);
}

uint64_t twi_sweep_memory(const tw_apsp_plan *plan, const twi_tree *tree,
                          const twi_minplus_kernel *kernel)
{
    int threads = plan->threads > 0 ? plan->threads : 1;
    bool folds = twi_delivery_will_fold(plan) && twi_sweep_folds(plan, kernel->type);
    uint64_t sweep = folds ? folds_run_bytes(plan, tree, kernel, threads)
                           : rows_run_bytes(plan, tree, kernel, threads);
    uint64_t front = twi_factor_scratch(plan, tree, kernel, threads);
    return twi_factor_memory(tree, kernel) + (sweep > front ? sweep : front);
}

/* ------------------------------------------------------------------------------------ batches */

static int by_place(const void *a, const void *b)
{
    const twi_ticket *x = a;
    const twi_ticket *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->row > y->row) - (x->row < y->row);
}

/* The sources of `count` rows of the result, in the order of their places. */
static void write_tickets(engine *e, int64_t first, int64_t count)
{
    if (e->plan->options.sources == NULL && count == e->tree->n) {
        for (int32_t place = 0; place < count; place++) {
            e->tickets[place] = (twi_ticket){place, e->tree->vertex[place]};
        }
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t source = twi_plan_source(e->plan, first + i);
        e->tickets[i] = (twi_ticket){e->tree->place[source], (int32_t)i};
    }
    qsort(e->tickets, (size_t)count, sizeof *e->tickets, by_place);
}

/* One batch and what comes after it. */
typedef void (*batch_fn)(worker *w, const twi_ticket *tickets, int64_t count);

static void run_batch(worker *w, const twi_ticket *tickets, int64_t count, batch_fn run)
{
    engine *e = w->engine;
    if (twi_is_cancelled(e->ctx) || atomic_load_explicit(&e->refuted, memory_order_relaxed)) {
        return;
    }
    run(w, tickets, count);
    if (w->batch.refuted) {
        atomic_store_explicit(&e->refuted, true, memory_order_relaxed);
    }
}

/* Batches of the tickets, on all threads; `before` rows were done before. */
static void run_batches(engine *e, int64_t count, int64_t before, batch_fn run)
{
    const int64_t width = e->course.width;
    const int64_t batches = (count + width - 1) / width;
    atomic_store(&e->done, before);
#pragma omp parallel num_threads(twi_team((int)e->threads))
    {
        worker *w = &e->workers[twi_thread_id()];
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < batches; k++) {
            /* The last first: where batches do half of the vertices they are the longest. */
            int64_t begins = (batches - 1 - k) * width;
            int64_t size = count - begins < width ? count - begins : width;
            run_batch(w, e->tickets + begins, size, run);
            long long now = atomic_fetch_add(&e->done, size) + size;
            if (twi_thread_id() == 0) {
                twi_progress(e->ctx, "sweep", (double)now, (double)twi_plan_rows(e->plan), "rows");
            }
        }
    }
}

/* --------------------------------------------------------------------------------------- rows */

static char *kept_row(const worker *w, int32_t v)
{
    return w->x + v * w->engine->course.step * w->engine->size;
}

#define ANY_AT_CAP(T)                                                  \
    {                                                                  \
        T most = 0; /* a maximum goes in vectors, an "any" does not */ \
        for (int64_t i = 0; i < count; i++) {                          \
            const T value = ((const T *)values)[i];                    \
            most = value > most ? value : most;                        \
        }                                                              \
        found = (double)most >= e->kernel->infinity;                   \
    }

static bool any_at_cap(const engine *e, const void *values, int64_t count)
{
    bool found = false;
    switch (e->kernel->type) {
    case TW_U8:
        ANY_AT_CAP(uint8_t)
        break;
    case TW_U16:
        ANY_AT_CAP(uint16_t)
        break;
    default:
        ANY_AT_CAP(int32_t)
        break;
    }
    return found;
}

#define KEEP_ROW(T, INFTY)                                                \
    {                                                                     \
        const T *from = (const T *)(const void *)row;                     \
        T *to = (T *)(void *)out;                                         \
        for (int64_t j = 0; j < cols; j++) {                              \
            to[j] = from[j] < (T)e->kernel->infinity ? from[j] : (INFTY); \
        }                                                                 \
    }

/* A row as the result has it: 15 and 7 bits have a "no path" of their own. */
static void keep_row(const engine *e, char *out, const char *row, int64_t cols)
{
    if (!twi_kernel_is_plain(e->kernel)) {
        memcpy(out, row, (size_t)(cols * e->size));
    } else if (e->kernel->type == TW_U8) {
        KEEP_ROW(uint8_t, TW_APSP_INF_U8)
    } else {
        KEEP_ROW(uint16_t, TW_APSP_INF_U16)
    }
}

/* The rows of a block, to those of all others. */
static bool keep_block(void *self, int32_t b, int64_t cols, const char *x)
{
    const worker *w = self;
    const engine *e = w->engine;
    bool holes = false;
    for (int32_t i = e->tree->first[b]; i < e->tree->first[b + 1]; i++) {
        const int64_t at = x != NULL ? (i - e->tree->first[b]) * e->course.step * e->size : 0;
        const char *row = x != NULL ? x + at : e->course.infinite;
        keep_row(e, kept_row(w, e->tree->vertex[i]), row, cols);
        holes = holes || (e->course.certify && any_at_cap(e, row, cols));
    }
    return holes;
}

/* Elements of every row before its first whole line of a cache; 0 if there are none, or if rows
 * differ in that. */
static int64_t lines_begin(const tw_matrix *matrix)
{
    const int64_t size = (int64_t)tw_type_size(matrix->type);
    const int64_t before = (int64_t)((uintptr_t)matrix->data % TWI_CACHE_LINE);
    return before > 0 && matrix->stride * size % TWI_CACHE_LINE == 0
               ? (TWI_CACHE_LINE - before) / size
               : 0;
}

/* Rows of the result from the columns of a batch. */
static void write_rows(worker *w, const twi_ticket *tickets, int64_t count)
{
    const engine *e = w->engine;
    const int64_t size = e->matrix != NULL ? (int64_t)tw_type_size(e->matrix->type) : 0;
    const bool large = e->tree->n * twi_plan_rows(e->plan) * size >= STREAMED;
    void (*widen)(void *, tw_type, const void *, tw_type, int64_t) =
        large ? twi_widen_streaming : twi_widen;
    int64_t wide = large ? lines_begin(e->matrix) : 0;
    wide = wide > 0 ? wide : TILE;
    twi_batch_run(&w->batch, tickets, count, keep_block, w);
    for (int64_t v = 0; v < e->tree->n && !w->batch.refuted; v += wide, wide = TILE) {
        wide = e->tree->n - v < wide ? e->tree->n - v : wide;
        e->kernel->transpose(w->tile, TILE, kept_row(w, (int32_t)v), e->course.step, wide, count);
        for (int64_t j = 0; j < count; j++) {
            const char *piece = w->tile + j * TILE * e->size;
            if (e->matrix != NULL) {
                char *row = twi_matrix_row(e->matrix, tickets[j].row);
                widen(row + v * size, e->matrix->type, piece, e->kernel->type, wide);
            } else {
                memcpy(e->block + (tickets[j].row * e->stride + v) * e->size, piece,
                       (size_t)(wide * e->size));
            }
        }
    }
}

/* The same, seen by all. */
static void fill_rows(worker *w, const twi_ticket *tickets, int64_t count)
{
    write_rows(w, tickets, count);
    twi_streamed();
}

/* All rows into the matrix. */
static tw_status fill_matrix(engine *e, twi_delivery *delivery, int64_t *first)
{
    const int64_t total = twi_plan_rows(e->plan);
    write_tickets(e, 0, total);
    run_batches(e, total, 0, fill_rows);
    tw_status status = twi_check_cancel(e->ctx);
    if (status == TW_OK && !atomic_load(&e->refuted)) {
        *first = total;
        status = twi_delivery_matrix_filled(e->ctx, delivery, 0, total);
    }
    return status;
}

/* Rows from *first on in the engine's type; *first is where to go on when a wider one is needed. */
static tw_status run_rows(engine *e, twi_delivery *delivery, int64_t *first)
{
    int64_t most = block_rows(e->plan, e->kernel, e->course.width, (int)e->threads);
    int64_t count = 0;
    while ((count = twi_plan_next_rows(e->plan, *first, most)) > 0) {
        write_tickets(e, *first, count);
        run_batches(e, count, *first, write_rows);
        tw_status status = twi_check_cancel(e->ctx);
        if (status != TW_OK || atomic_load(&e->refuted)) {
            return status;
        }
        twi_rows rows = {.first = *first,
                         .count = count,
                         .work = e->block,
                         .stride = e->stride,
                         .type = e->kernel->type,
                         .scale = 1,
                         .potentials_applied = e->plan->potential != NULL};
        status = twi_delivery_rows(e->ctx, delivery, &rows);
        if (status != TW_OK) {
            return status;
        }
        *first += count;
    }
    return TW_OK;
}

/* Memory for run_rows, and the workers' parts of it. */
static tw_status prepare_rows(engine *e)
{
    const int64_t width = e->course.width;
    const uint64_t batch = twi_batch_memory(e->tree, e->kernel, width);
    const uint64_t each = batch + keeper_bytes(e->tree, e->kernel, width);
    const bool blocks = e->matrix == NULL;
    uint64_t rows = (uint64_t)(blocks ? block_rows(e->plan, e->kernel, width, (int)e->threads)
                                      : twi_plan_rows(e->plan));
    uint64_t elements = 0;
    tw_status status = TW_OK;
    e->stride = row_stride(e->plan, e->kernel);
    if (blocks && !twi_mul(rows, (uint64_t)e->stride, &elements)) {
        return tw_fail(e->ctx, TW_ERR_MEMORY, "a block of rows is too large to address");
    }
    if ((status = twi_alloc(e->ctx, &e->tickets, rows, sizeof *e->tickets, "the sources")) !=
            TW_OK ||
        (status = twi_alloc(e->ctx, &e->block, elements, (uint64_t)e->size, "a block of rows")) !=
            TW_OK ||
        (status = twi_alloc(e->ctx, &e->memory, (uint64_t)e->threads, each,
                            "the columns of the sweep")) != TW_OK) {
        return status;
    }
    for (int64_t t = 0; t < e->threads; t++) {
        worker *w = &e->workers[t];
        char *memory = e->memory + (uint64_t)t * each;
        *w = (worker){.engine = e, .x = memory + batch};
        w->tile = w->x + row_bytes(e->kernel, width, e->tree->n);
        twi_batch_place(&w->batch, &e->course, memory);
        w->batch.start = w->x;
        w->batch.by_vertex = true;
    }
    return TW_OK;
}

/* -------------------------------------------------------------------------------------- folds */

static void spread_sums(worker *w, int64_t cols)
{
    const twi_minplus_kernel *kernel = w->engine->kernel;
    kernel->spread(w->sum, cols, w->columns.sum);
    memset(w->columns.sum, 0, (size_t)(cols * 2 * w->engine->size));
    w->summed = 0;
}

/* How many of the places from `first` on lie before `end`. */
static int64_t below(int64_t first, int64_t size, int64_t end)
{
    int64_t count = end - first;
    return count < 0 ? 0 : count < size ? count : size;
}

/* The rows of vertices before the batch's own: what its columns are for them. */
static void fold_rows_across(const worker *w, int32_t first, int64_t rows, const char *x)
{
    const twi_course *course = &w->engine->course;
    const twi_across of = {w->across.sum + first, w->across.most + first,
                           w->across.missing + first};
    if (x != NULL && rows > 0) {
        course->kernel->fold_across(&of, rows, w->count, x, course->step);
    }
    for (int64_t i = 0; i < rows && x == NULL; i++) {
        of.missing[i] += (uint32_t)w->count;
    }
}

static bool fold_block(void *self, int32_t b, int64_t cols, const char *x)
{
    worker *w = self;
    const engine *e = w->engine;
    const int32_t first = e->tree->first[b];
    const int64_t size = twi_tree_size(e->tree, b);
    const int64_t rows = e->course.half ? below(first, size, w->place + w->count) : size;
    bool holes = false;
    if (e->course.half) {
        fold_rows_across(w, first, below(first, size, w->place), x);
    }
    if (x == NULL) {
        w->dead += rows;
        return true;
    }
    for (int64_t i = 0; i < rows;) {
        int64_t room = e->kernel->fold_most - w->summed;
        int64_t count = rows - i < room ? rows - i : room;
        holes |= e->kernel->fold(&w->columns, count, cols, x + i * e->course.step * e->size,
                                 e->course.step);
        w->summed += count;
        i += count;
        if (w->summed == e->kernel->fold_most) {
            spread_sums(w, cols);
        }
    }
    return holes;
}

static int64_t most_at(const worker *w, int64_t j)
{
    switch (w->engine->kernel->type) {
    case TW_U8:
        return ((const uint8_t *)w->columns.most)[j];
    case TW_U16:
        return ((const uint16_t *)w->columns.most)[j];
    default:
        return ((const int32_t *)w->columns.most)[j];
    }
}

/* Folds of the result's rows from the columns of a batch. The vertex itself counts among those that
 * its column reaches, with a distance of 0. */
static void write_folds(worker *w, const twi_ticket *tickets, int64_t count)
{
    const engine *e = w->engine;
    const int64_t width = e->course.width;
    const int64_t infinity = (int64_t)e->kernel->infinity;
    memset(w->columns.sum, 0, (size_t)(width * 2 * e->size));
    memset(w->columns.most, 0, (size_t)(width * e->size));
    memset(w->columns.missing, 0, (size_t)width * sizeof *w->columns.missing);
    memset(w->sum, 0, (size_t)width * sizeof *w->sum);
    w->summed = 0;
    w->dead = 0;
    w->place = tickets[0].place;
    w->count = count;
    twi_batch_run(&w->batch, tickets, count, fold_block, w);
    spread_sums(w, width);
    for (int64_t j = 0; j < count; j++) {
        const int64_t missing = w->columns.missing[j];
        e->folds[tickets[j].row] = (twi_fold){.reached = e->tree->n - 1 - missing - w->dead,
                                              .sum = w->sum[j] - missing * infinity,
                                              .most = most_at(w, j),
                                              .farthest = -1};
    }
}

/* What the batches after its own have for each vertex, put to what that has. */
static void add_across(engine *e)
{
    for (int64_t t = 0; t < e->threads; t++) {
        const twi_across *across = &e->workers[t].across;
        for (int64_t place = 0; place < e->tree->n; place++) {
            twi_fold *fold = &e->folds[e->tree->vertex[place]];
            fold->reached -= across->missing[place];
            fold->sum += across->sum[place];
            fold->most = across->most[place] > fold->most ? across->most[place] : fold->most;
        }
    }
}

/* The most rows that a batch touches on its way up. */
static tw_status find_start_rows(const engine *e, int64_t count, int64_t *out)
{
    int32_t *seen = NULL;
    int32_t stamp = 0;
    tw_status status =
        twi_alloc_zeroed(e->ctx, &seen, (uint64_t)e->tree->blocks, sizeof *seen, "the sources");
    *out = 1;
    for (int64_t j = 0; j < count && status == TW_OK; j += e->course.width) {
        int64_t size = count - j < e->course.width ? count - j : e->course.width;
        int64_t rows = twi_batch_rows(e->tree, e->tickets + j, size, seen, ++stamp);
        *out = rows > *out ? rows : *out;
    }
    twi_free(seen);
    return status;
}

/* Memory for run_folds, and the workers' parts of it. */
static tw_status prepare_folds(engine *e)
{
    const int64_t width = e->course.width;
    const uint64_t batch = twi_batch_memory(e->tree, e->kernel, width);
    const uint64_t rows = (uint64_t)twi_plan_rows(e->plan);
    int64_t start_rows = 0;
    tw_status status = twi_alloc(e->ctx, &e->tickets, rows, sizeof *e->tickets, "the sources");
    if (status == TW_OK) {
        status = twi_alloc(e->ctx, &e->folds, rows, sizeof *e->folds, "the folds of the rows");
    }
    if (status == TW_OK) {
        write_tickets(e, 0, (int64_t)rows);
        status = find_start_rows(e, (int64_t)rows, &start_rows);
    }
    const uint64_t across = e->course.half ? across_bytes(e->tree->n) : 0;
    const uint64_t folder = folder_bytes(e->kernel, width, start_rows);
    const uint64_t each = batch + folder + across;
    if (status == TW_OK) {
        status =
            twi_alloc(e->ctx, &e->memory, (uint64_t)e->threads, each, "the columns of the sweep");
    }
    for (int64_t t = 0; t < e->threads && status == TW_OK; t++) {
        worker *w = &e->workers[t];
        char *memory = e->memory + (uint64_t)t * each;
        *w = (worker){.engine = e};
        twi_batch_place(&w->batch, &e->course, memory);
        w->batch.start = (memory += batch);
        w->columns.sum = (memory += row_bytes(e->kernel, width, start_rows));
        w->columns.most = (memory += rounded((uint64_t)(width * 2 * e->size)));
        w->columns.missing = (uint32_t *)(void *)(memory += rounded((uint64_t)(width * e->size)));
        w->sum = (int64_t *)(void *)(memory + rounded((uint64_t)width * sizeof(uint32_t)));
        if (e->course.half) {
            memory = e->memory + (uint64_t)t * each + batch + folder;
            memset(memory, 0, across);
            w->across = (twi_across){(int64_t *)(void *)memory,
                                     (int32_t *)(void *)(memory + e->tree->n * 8),
                                     (uint32_t *)(void *)(memory + e->tree->n * 12)};
        }
    }
    return status;
}

static tw_status run_folds(engine *e, twi_delivery *delivery, int64_t *first)
{
    const int64_t total = twi_plan_rows(e->plan);
    run_batches(e, total, 0, write_folds);
    tw_status status = twi_check_cancel(e->ctx);
    if (status == TW_OK && !atomic_load(&e->refuted)) {
        *first = total;
        if (e->course.half) {
            add_across(e);
        }
        status = twi_delivery_folds(e->ctx, delivery, 0, total, e->folds);
    }
    return status;
}

/* ------------------------------------------------------------------------------------ the run */

/* The rows from *first on with one kernel; *wider if its type was not enough. */
static tw_status run_with(tw_context *ctx, const tw_apsp_plan *plan,
                          const twi_minplus_kernel *kernel, twi_delivery *delivery, int64_t *first,
                          bool *wider, double *steps)
{
    const tw_type type = kernel->type;
    twi_factor *factor = NULL;
    engine e = {.ctx = ctx,
                .plan = plan,
                .tree = plan->tree,
                .kernel = kernel,
                .size = (int64_t)tw_type_size(type),
                .threads = plan->threads};
    const bool folds = e.kernel->fold != NULL && twi_delivery_is_folded(delivery) && *first == 0 &&
                       plan->dealer == NULL;
    const int64_t width =
        folds ? twi_batch_width(e.tree, e.kernel, twi_plan_rows(plan), (int)e.threads)
              : kept_width(plan, e.tree, e.kernel, (int)e.threads);
    e.matrix = !folds && *first == 0 ? twi_delivery_matrix(delivery, type) : NULL;
    atomic_init(&e.refuted, false);
    atomic_init(&e.done, 0);
    tw_status status = twi_factor_create(ctx, &factor, plan, e.tree, e.kernel, (int)e.threads);
    if (status == TW_OK) {
        bool half =
            folds && plan->options.sources == NULL && twi_graph_is_symmetric(ctx, plan->graph);
        status = twi_course_create(ctx, &e.course, plan, factor, width,
                                   may_reach_cap(plan, type, e.kernel->infinity), half);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &e.workers, (uint64_t)e.threads, sizeof *e.workers,
                           "the columns of the sweep");
    }
    if (status == TW_OK) {
        status = folds ? prepare_folds(&e) : prepare_rows(&e);
    }
    if (status == TW_OK) {
        status = folds              ? run_folds(&e, delivery, first)
                 : e.matrix != NULL ? fill_matrix(&e, delivery, first)
                                    : run_rows(&e, delivery, first);
    }
    *wider = atomic_load(&e.refuted);
    for (int64_t t = 0; t < e.threads && status == TW_OK; t++) {
        *steps += e.workers[t].batch.steps;
    }
    twi_free(e.memory);
    twi_free(e.block);
    twi_free(e.folds);
    twi_free(e.tickets);
    twi_free(e.workers);
    twi_course_clear(&e.course);
    twi_factor_destroy(factor);
    return status;
}

/* The next to try; NULL after the last. */
static const twi_minplus_kernel *wider_kernel(const tw_apsp_plan *plan,
                                              const twi_minplus_kernel *kernel)
{
    tw_type type = twi_kernel_is_plain(kernel) ? kernel->type
                   : kernel->type == TW_U8     ? TW_U16
                   : kernel->type == TW_U16    ? TW_I32
                                               : TW_F64;
    return twi_minplus_kernel_find(plan->isa, type);
}

uint64_t twi_sweep_again_memory(const tw_apsp_plan *plan, const twi_tree *tree,
                                const twi_minplus_kernel *kernel)
{
    int turns = plan->missed > UNSEEN ? 2 : 1; /* such a search has not seen the graph */
    while (turns-- > 0 && plan->options.work_type == TW_AUTO &&
           may_reach_cap(plan, kernel->type, kernel->infinity)) {
        kernel = wider_kernel(plan, kernel);
    }
    return twi_sweep_memory(plan, tree, kernel);
}

tw_status twi_sweep_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                        twi_sweep_outcome *out)
{
    const twi_minplus_kernel *kernel = twi_closure_kernel(plan, plan->work_type);
    int64_t first = 0;
    bool wider = true;
    tw_status status = TW_OK;
    *out = (twi_sweep_outcome){.work_type = plan->work_type};
    while (status == TW_OK && wider) {
        out->attempts++;
        status = run_with(ctx, plan, kernel, delivery, &first, &wider, &out->relaxations);
        out->relaxations += plan->tree->factor;
        if (status == TW_OK && wider) {
            const twi_minplus_kernel *next = wider_kernel(plan, kernel);
            if (next->type != kernel->type && plan->options.work_type != TW_AUTO) {
                return tw_fail(ctx, TW_ERR_RANGE,
                               "a distance exceeds the working type %s; use 'auto'",
                               tw_type_name(kernel->type));
            }
            twi_log(ctx, "a distance reaches %.0f, the limit of %s; sweeping again with %s",
                    kernel->infinity, kernel->name, next->name);
            kernel = next;
        }
    }
    out->work_type = kernel->type;
    return status;
}
