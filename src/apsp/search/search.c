/*
 * A run of searches: blocks of rows, each cut into batches of sources, batches shared among the
 * threads, every block delivered in order. Within a block the sources are sorted by their place in
 * the net (net.h), so that a batch is a patch of near vertices. A block whose distances do not fit
 * its type is done again in the next one.
 *
 * Where the result is a matrix in memory that needs nothing but a wider type at most, every batch
 * puts its rows there itself, while they are in the cache; else a block is delivered as a whole.
 * Where only summaries are requested, threads fold the rows of a batch themselves, and a
 * breadth-first search makes no rows. In both cases nothing of a block is kept, so that it can
 * have many batches for each thread: threads wait for each other at its end only, and cores
 * are not all equally fast (16 of a Xeon, November 2026: searches took 0.21 to 0.40 s on them).
 *
 * Memory: the searcher's, and one block, or the rows of a batch for each thread.
 */
#include "apsp/search/search.h"

#include "apsp/shared/statistics.h"
#include "apsp/shared/widen.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>

#define MOST_ROWS 65536 /* of a block that keeps none of them */

/* Bytes of a result that no cache will hold. */
#define STREAMED ((int64_t)32 << 20)

/* Of a row of such a block: its ticket, its fold, and what delivery takes for that. */
#define FOLD_BYTES (sizeof(twi_ticket) + 2 * sizeof(twi_fold) + sizeof(double))

/* Where the rows of a block go. */
typedef struct destination {
    char *block;             /* rows of the working type: of the block, or of a batch per thread */
    const tw_matrix *matrix; /* NULL: a block is delivered when it is whole */
    bool in_place;           /* the matrix has the working type */
    twi_fold *folds;         /* of a block, in place of its rows; NULL: rows */
    bool folded;             /* folds are wanted, not rows */
    bool levels;             /* the search makes them itself */
    int64_t batch;           /* rows of a batch, at most */
} destination;

int64_t twi_search_block_rows(const twi_searcher *e)
{
    return twi_searcher_block_rows(e->plan, e->method, e->type, twi_searcher_block_bytes(e->plan));
}

int64_t twi_search_batch_rows(const twi_searcher *e, int64_t count)
{
    int64_t most = twi_searcher_batch(e->method);
    int64_t share = (count + e->threads - 1) / e->threads;
    return share < most ? share : most;
}

/* Rows that are in memory at a time: a block of them, or where folds will stand for them those of a
 * batch per thread, and none of levels. */
static int64_t kept_rows(const tw_apsp_plan *plan, tw_apsp_method method, tw_type type)
{
    const bool levels = method == TW_APSP_METHOD_BFS;
    const int64_t block =
        twi_searcher_block_rows(plan, method, type, twi_searcher_block_bytes(plan));
    if (!twi_delivery_will_fold(plan) || !plan->graph->integral || !(levels || type == TW_I32)) {
        return block;
    }
    const int64_t batches = twi_searcher_batch(method) * twi_searcher_threads(plan);
    return levels ? 0 : batches < block ? batches : block;
}

uint64_t twi_search_kept_memory(const tw_apsp_plan *plan)
{
    return (uint64_t)twi_searcher_threads(plan) * (uint64_t)plan->graph->n * sizeof(double);
}

/* Where levels need more than 16 bits a block is smaller than the result, in any type. */
static tw_type planned_type(const tw_apsp_plan *plan, tw_apsp_method method)
{
    return method == TW_APSP_METHOD_BFS ? TW_U16 : twi_search_type(plan);
}

uint64_t twi_search_block_memory(const tw_apsp_plan *plan, tw_apsp_method method)
{
    const tw_type type = planned_type(plan, method);
    const uint64_t row = (uint64_t)plan->graph->n * tw_type_size(type) + sizeof(twi_ticket);
    return row * (uint64_t)kept_rows(plan, method, type);
}

uint64_t twi_search_memory(const tw_apsp_plan *plan, tw_apsp_method method)
{
    const int threads = twi_searcher_threads(plan);
    const tw_type type = planned_type(plan, method);
    uint64_t bytes = (uint64_t)threads * twi_search_worker_memory(plan, method);
    bytes += twi_search_shared_memory(plan, method, type);
    const uint64_t block = twi_search_block_memory(plan, method);
    /* The plan's sample has a row of the widest type per thread at least. */
    const uint64_t sample = twi_search_kept_memory(plan);
    const int64_t rows = twi_plan_rows(plan) < MOST_ROWS ? twi_plan_rows(plan) : MOST_ROWS;
    return bytes + (block > sample ? block : sample) + (uint64_t)rows * FOLD_BYTES;
}

static int by_place(const void *a, const void *b)
{
    const twi_ticket *x = a;
    const twi_ticket *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->row > y->row) - (x->row < y->row);
}

void twi_search_tickets(const twi_searcher *e, twi_ticket *tickets, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int32_t vertex = twi_plan_source(e->plan, first + i);
        tickets[i].place = e->net != NULL ? e->net->place[vertex] : vertex;
        tickets[i].row = (int32_t)i;
    }
    if (e->net != NULL) {
        qsort(tickets, (size_t)count, sizeof *tickets, by_place);
    }
}

/* Rows that a batch has left with a thread, to where they belong. */
static void widen_rows(const twi_searcher *e, const destination *to, const twi_search_batch *b,
                       const twi_ticket *tickets, int64_t first)
{
    const tw_matrix *matrix = to->matrix;
    const int64_t bytes = matrix->rows * matrix->cols * (int64_t)tw_type_size(matrix->type);
    void (*widen)(void *, tw_type, const void *, tw_type, int64_t) =
        bytes >= STREAMED ? twi_widen_streaming : twi_widen;
    for (int i = 0; i < b->count; i++) {
        widen(twi_matrix_row(matrix, first + tickets[i].row), matrix->type, b->row[i], e->type,
              matrix->cols);
    }
    twi_streamed();
}

/* The first vertex of a row at distance `most`, its own left out. Stretches without one are passed
 * in loops that become vectors. */
static int32_t first_at(const int32_t *row, int32_t n, int32_t own, int32_t most)
{
    enum { STRETCH = 256 };
    for (int32_t begin = 0; begin < n; begin += STRETCH) {
        const int32_t end = begin + STRETCH < n ? begin + STRETCH : n;
        int32_t found = 0;
        for (int32_t v = begin; v < end; v++) {
            found |= row[v] == most;
        }
        for (int32_t v = begin; v < end && found; v++) {
            if (row[v] == most && v != own) {
                return v;
            }
        }
    }
    return -1;
}

/* Rows that a batch has left with a thread, which nobody wants but for their folds. They are of
 * i32. Of the widest ones delivery may want to know the farthest vertex, which would take it a
 * search. */
static void fold_rows(const twi_searcher *e, const destination *to, const twi_search_batch *b,
                      const twi_ticket *tickets, int64_t first)
{
    int64_t widest = 0;
    for (int i = 0; i < b->count; i++) {
        const int32_t own = twi_plan_source(e->plan, first + tickets[i].row);
        twi_row_statistics s = {.least = (double)INFINITY, .most = -(double)INFINITY};
        twi_row_scan(e->type, b->row[i], 0, own, &s);
        twi_row_scan(e->type, b->row[i], own + 1, e->plan->graph->n, &s);
        to->folds[tickets[i].row] = (twi_fold){.reached = s.reached,
                                               .sum = s.whole,
                                               .most = s.reached > 0 ? (int64_t)s.most : 0,
                                               .farthest = -1};
        widest = to->folds[tickets[i].row].most > widest ? to->folds[tickets[i].row].most : widest;
    }
    for (int i = 0; i < b->count; i++) {
        twi_fold *fold = &to->folds[tickets[i].row];
        if (fold->reached > 0 && fold->most == widest) {
            fold->farthest =
                first_at(b->row[i], (int32_t)e->plan->graph->n,
                         twi_plan_source(e->plan, first + tickets[i].row), (int32_t)widest);
        }
    }
}

/* One batch of the block, by a thread. */
static void run_batch(twi_searcher *e, const destination *to, const twi_ticket *tickets,
                      int64_t first, int64_t size, int64_t count)
{
    const size_t row = (size_t)e->plan->graph->n * tw_type_size(e->type);
    const int thread = twi_thread_id();
    twi_search_batch b = {.count = (int)count};
    if (to->levels) {
        b.folds = to->folds + tickets[0].row;
    }
    for (int i = 0; i < b.count; i++) {
        b.source[i] = tickets[i].place;
        if (to->levels) {
            b.row[i] = NULL;
        } else if (to->in_place) {
            b.row[i] = twi_matrix_row(to->matrix, first + tickets[i].row);
        } else if (to->matrix != NULL || to->folds != NULL) {
            b.row[i] = to->block + (size_t)(thread * size + i) * row;
        } else {
            b.row[i] = to->block + (size_t)tickets[i].row * row;
        }
    }
    twi_searcher_run(e, &e->workers[thread], &b);
    if (atomic_load(&e->verdict) != TWI_SEARCH_FINE) {
        return;
    }
    if (to->matrix != NULL && !to->in_place) {
        widen_rows(e, to, &b, tickets, first);
    } else if (to->folds != NULL && !to->levels) {
        fold_rows(e, to, &b, tickets, first);
    }
}

/* Search for every row of the block; e->verdict says how it went. */
static void run_block(twi_searcher *e, const destination *to, const twi_ticket *tickets,
                      int64_t first, int64_t count)
{
    int64_t size = twi_search_batch_rows(e, count);
    size = size < to->batch ? size : to->batch;
    int64_t batches = (count + size - 1) / size;
    double total = (double)twi_plan_rows(e->plan);
    atomic_llong done;
    atomic_init(&done, first);
    atomic_store(&e->verdict, TWI_SEARCH_FINE);
#pragma omp parallel for num_threads(twi_team(e->threads)) schedule(dynamic, 1)
    for (int64_t k = 0; k < batches; k++) {
        int64_t begin = k * size;
        int64_t here = begin + size < count ? size : count - begin;
        run_batch(e, to, tickets + begin, first, size, here);
        long long now = atomic_fetch_add(&done, here) + here;
        if (twi_thread_id() == 0) {
            twi_progress(e->ctx, "search", (double)now, total, "rows");
        }
    }
}

/* What a block may take: the usual size, or half of what the context has left. */
static uint64_t block_bytes(const twi_searcher *e)
{
    uint64_t half = twi_memory_left(e->ctx) / 2;
    uint64_t usual = twi_searcher_block_bytes(e->plan);
    return half < usual ? half : usual;
}

/* Whether only folds are requested, and rows can become such: of whole numbers. */
static bool may_fold(const twi_searcher *e, const twi_delivery *delivery)
{
    return twi_delivery_is_folded(delivery) && e->plan->graph->integral &&
           (e->method == TW_APSP_METHOD_BFS || e->type == TW_I32);
}

/* Rows of a block that keeps none of them: batches enough for every thread. */
static int64_t many_rows(const twi_searcher *e)
{
    uint64_t most = twi_memory_left(e->ctx) / 2 / FOLD_BYTES;
    int64_t rows = twi_plan_rows(e->plan);
    rows = rows < MOST_ROWS ? rows : MOST_ROWS;
    return most < 1 ? 1 : most < (uint64_t)rows ? (int64_t)most : rows;
}

/* Where rows of the engine's present type may go, and how many make a block; returns how many are
 * kept. A breadth-first search makes rows that follow each other, and levels, which are distances
 * if arcs have length 1. */
static int64_t choose_destination(const twi_searcher *e, const twi_delivery *delivery,
                                  destination *to, int64_t *block_rows)
{
    const bool levels = e->method == TW_APSP_METHOD_BFS;
    const int64_t usual = twi_searcher_block_rows(e->plan, e->method, e->type, block_bytes(e));
    const int64_t batch = twi_search_batch_rows(e, usual), batches = batch * e->threads;
    const bool apart = batches <= usual; /* else a row is as much as all threads may have */
    *block_rows = many_rows(e);
    to->batch = batch;
    to->folded = may_fold(e, delivery) && (levels || apart);
    if (to->folded) {
        to->levels = levels;
        to->batch = levels ? twi_searcher_batch(e->method) : batch; /* no row takes memory */
        return levels ? 0 : batches;
    }
    to->matrix =
        levels && e->plan->graph->max_weight != 1 ? NULL : twi_delivery_matrix(delivery, e->type);
    to->in_place = to->matrix != NULL && to->matrix->type == e->type &&
                   (!levels || to->matrix->stride == to->matrix->cols);
    if (to->in_place) {
        return 0;
    }
    to->matrix = apart ? to->matrix : NULL;
    *block_rows = to->matrix != NULL ? *block_rows : usual;
    return to->matrix != NULL ? batches : usual;
}

/* Deliver a block that has been searched for. */
static tw_status deliver_block(twi_searcher *e, twi_delivery *delivery, const destination *to,
                               int64_t first, int64_t count)
{
    const tw_apsp_plan *plan = e->plan;
    if (to->folds != NULL) {
        const int64_t scale = to->levels ? (int64_t)plan->graph->max_weight : 1;
        for (int64_t i = 0; i < count; i++) {
            to->folds[i].sum *= scale;
            to->folds[i].most *= scale;
        }
        return twi_delivery_folds(e->ctx, delivery, first, count, to->folds);
    }
    if (to->matrix != NULL) {
        return twi_delivery_matrix_filled(e->ctx, delivery, first, count);
    }
    const twi_rows rows = {
        .first = first,
        .count = count,
        .work = to->block,
        .stride = plan->graph->n,
        .type = e->type,
        .scale = e->method == TW_APSP_METHOD_BFS ? plan->graph->max_weight : 1,
        .potentials_applied = e->method != TW_APSP_METHOD_BFS && plan->potential != NULL &&
                              e->net->kind != TWI_NET_DUAL,
    };
    return twi_delivery_rows(e->ctx, delivery, &rows);
}

/* Rows from *first on in the engine's present type; returns early, with *first at the row to go on
 * from, when a wider type is needed. */
static tw_status run_in_type(twi_searcher *e, twi_delivery *delivery, int64_t *first, bool *wider)
{
    const tw_apsp_plan *plan = e->plan;
    int64_t most = 0, count = 0;
    destination to = {0};
    twi_ticket *tickets = NULL;
    uint64_t elements = 0;
    tw_status status = TW_OK;
    *wider = false;
    const int64_t kept = choose_destination(e, delivery, &to, &most);
    if (!twi_mul((uint64_t)kept, (uint64_t)plan->graph->n, &elements)) {
        return tw_fail(e->ctx, TW_ERR_MEMORY, "a block of rows is too large to address");
    }
    if ((status = twi_alloc(e->ctx, &to.block, elements, tw_type_size(e->type),
                            "a block of rows")) != TW_OK ||
        (to.folded && (status = twi_alloc(e->ctx, &to.folds, (uint64_t)most, sizeof *to.folds,
                                          "the folds of a block")) != TW_OK) ||
        (status = twi_alloc(e->ctx, &tickets, (uint64_t)most, sizeof *tickets,
                            "the order of a block")) != TW_OK) {
        goto done;
    }
    while ((count = twi_plan_next_rows(plan, *first, most)) > 0) {
        twi_search_tickets(e, tickets, *first, count);
        run_block(e, &to, tickets, *first, count);
        if ((status = twi_check_cancel(e->ctx)) != TW_OK) {
            goto done;
        }
        if (atomic_load(&e->verdict) == TWI_SEARCH_WIDEN) {
            *wider = true;
            break;
        }
        if ((status = deliver_block(e, delivery, &to, *first, count)) != TW_OK) {
            goto done;
        }
        *first += count;
    }
done:
    twi_free(tickets);
    twi_free(to.folds);
    twi_free(to.block);
    return status;
}

tw_status twi_search_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                         double *arcs_scanned)
{
    twi_searcher *kept = twi_searcher_take(ctx, plan);
    twi_searcher *e = kept;
    int64_t first = 0;
    bool wider = twi_plan_rows(plan) > 0;
    *arcs_scanned = 0;
    tw_status status = kept != NULL ? TW_OK : twi_searcher_create(ctx, &e, plan, plan->method);
    while (status == TW_OK && wider) {
        status = run_in_type(e, delivery, &first, &wider);
        if (status == TW_OK && wider) {
            status = twi_searcher_widen(e);
        }
    }
    for (int t = 0; e != NULL && t < e->threads; t++) {
        *arcs_scanned += e->workers[t].scanned;
    }
    const bool is_whole = e != NULL && (e->method == TW_APSP_METHOD_BFS || e->net != NULL);
    if (kept != NULL && is_whole) { /* else the plan's remains taken: it lacks what it searches */
        twi_searcher_give_back(kept);
    } else if (kept == NULL) {
        twi_searcher_destroy(e);
    }
    return status;
}
