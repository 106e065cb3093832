/*
 * The sweep: see sweep.h. The sources of a batch are columns: x[v][j] is the distance from source j
 * to vertex v, a row of some hundred columns for each vertex.
 *
 * Up: the block of a source begins with 0 there; each block on the way to the root, the lower ones
 * first, passes what it has to A(S) and closes itself, so that x[v] is the least walk whose inner
 * vertices lie in v's block or below. Only blocks above a source have anything, and only the strips
 * of columns that have a source below.
 *
 * Down: from the roots, x[S] = min(x[S], arcs from A(S) (x) x[A(S)]). A walk that leaves the blocks
 * below S comes back to S for the last time through A(S), whose rows are final by then.
 *
 * The sources of a delivered block of rows are sorted by their place in the tree, so that a batch's
 * have most of their way up in common. Columns do not know of each other: batches, threads and
 * blocks of rows change no bit of a result. A finished batch is transposed into its rows.
 *
 * Memory: the factor, the block of rows, and n rows of a batch's columns for each thread.
 */
#include "apsp/sweep/sweep.h"

#include "apsp/sweep/factor.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES 1024                 /* of a row of a batch, at most */
#define BATCH_MOST ((uint64_t)96 << 20)  /* bytes of a batch, unless it is one strip */
#define BLOCK_BYTES ((uint64_t)8 << 20)  /* of a delivered block of rows, at least, */
#define THREAD_BYTES ((uint64_t)4 << 20) /*   and for each thread */
#define TILE 64                          /* vertices transposed at a time */
#define CHECK_EVERY 256                  /* blocks between looks at the cancel flag */

typedef struct ticket {
    int32_t place; /* of the source in the tree */
    int32_t row;   /* of the block of rows */
} ticket;

typedef struct worker {
    char *x;        /* n x width */
    char *tile;     /* TILE columns of the rows of a batch */
    uint64_t *mask; /* of each block: strips that have something there on the way up */
    char *strips;   /* rows of a block that do, as far as they do */
    int32_t *pick;  /* which those are */
    int64_t *from;  /* where they begin there: 0, width, 2 width, ... */
    uint8_t *dead;  /* blocks of components without a source */
} worker;

typedef struct engine {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    const twi_tree *tree;
    const twi_factor *factor;
    const twi_minplus_kernel *kernel;
    int64_t size;  /* of an element */
    int64_t width; /* columns of a batch */
    int64_t step;  /* elements from the row of one vertex to the next one's */
    int64_t threads;
    bool certify;       /* a distance may reach the cap of the type */
    int64_t *vertex_at; /* where the rows of tree->vertex begin in a batch, in elements */
    int64_t *high_at;   /* and those of tree->high */
    char *infinite;     /* a row of "no path" */
    worker *workers;
    char *block;    /* the rows that are delivered next */
    int64_t stride; /* elements from one of them to the next */
    ticket *tickets;
    atomic_bool refuted; /* some distance does not fit the type */
    atomic_llong done;   /* rows */
} engine;

/* ----------------------------------------------------------------------------------- sizes */

/* Columns of a batch: rows of BATCH_BYTES, narrower where there are many vertices or few sources
 * for the threads; 64 strips at most, which a mask has bits for. */
static int64_t batch_width(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel, int threads)
{
    uint64_t n = (uint64_t)(plan->graph->n > 0 ? plan->graph->n : 1);
    uint64_t bytes = BATCH_MOST / n < BATCH_BYTES ? BATCH_MOST / n : BATCH_BYTES;
    int64_t strips = (int64_t)(bytes / tw_type_size(kernel->type)) / kernel->nr;
    int64_t share = (twi_plan_rows(plan) + threads - 1) / threads;
    int64_t needed = (share + kernel->nr - 1) / kernel->nr;
    strips = strips < needed ? strips : needed;
    strips = strips < 64 ? strips : 64;
    return (strips > 1 ? strips : 1) * kernel->nr;
}

/* An odd number of cache lines, so that the rows which a strip reads spread over all sets of the
 * cache: with 1024 bytes they would share 64 lines of the first level. */
static int64_t batch_step(const twi_minplus_kernel *kernel, int64_t width)
{
    int64_t line = TWI_CACHE_LINE / (int64_t)tw_type_size(kernel->type);
    int64_t lines = (width + line - 1) / line;
    return (lines + 1 - lines % 2) * line;
}

static int64_t row_stride(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel)
{
    int64_t line = TWI_CACHE_LINE / (int64_t)tw_type_size(kernel->type);
    return (plan->graph->n + line - 1) / line * line;
}

/* Rows of a delivered block: whole batches for every thread. */
static int64_t block_rows(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel, int threads)
{
    int64_t round = batch_width(plan, kernel, threads) * threads;
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

/* Bytes of a worker; the parts of its memory in turn. */
typedef struct parts {
    uint64_t x, tile, strip, mask, pick, from, dead;
} parts;

static parts worker_parts(const tw_apsp_plan *plan, const twi_tree *tree,
                          const twi_minplus_kernel *kernel, int threads)
{
    int64_t width = batch_width(plan, kernel, threads);
    uint64_t row = (uint64_t)width * tw_type_size(kernel->type);
    return (parts){
        rounded((uint64_t)(tree->n * batch_step(kernel, width)) * tw_type_size(kernel->type)),
        rounded(TILE * row),
        rounded((uint64_t)tree->size_most * row),
        rounded((uint64_t)tree->blocks * sizeof(uint64_t)),
        rounded((uint64_t)tree->size_most * sizeof(int32_t)),
        rounded((uint64_t)tree->size_most * sizeof(int64_t)),
        rounded((uint64_t)tree->blocks)};
}

static uint64_t parts_bytes(const parts *p)
{
    return p->x + p->tile + p->strip + p->mask + p->pick + p->from + p->dead;
}

uint64_t twi_sweep_memory(const tw_apsp_plan *plan, const twi_tree *tree,
                          const twi_minplus_kernel *kernel)
{
    int threads = plan->threads > 0 ? plan->threads : 1;
    parts p = worker_parts(plan, tree, kernel, threads);
    uint64_t rows = (uint64_t)block_rows(plan, kernel, threads);
    uint64_t row = (uint64_t)row_stride(plan, kernel) * tw_type_size(kernel->type);
    uint64_t sweep =
        (uint64_t)threads * (parts_bytes(&p) + sizeof(worker)) + rows * (row + sizeof(ticket));
    sweep += (uint64_t)(tree->n + tree->high_first[tree->blocks]) * sizeof(int64_t);
    if ((kernel->type == TW_U8 || kernel->type == TW_U16) && kernel->type != plan->type &&
        plan->potential == NULL) { /* delivery's table of distances */
        sweep += (uint64_t)(tw_apsp_infinity(kernel->type) + 1) * tw_type_size(plan->type);
    }
    uint64_t front = twi_factor_scratch(plan, tree, kernel, threads);
    return twi_factor_memory(tree, kernel) + (sweep > front ? sweep : front);
}

/* ------------------------------------------------------------------------------------ one batch */

static char *row_of(const engine *e, const worker *w, int32_t v)
{
    return w->x + v * e->step * e->size;
}

/* "No path" in `strips` strips of every vertex of a block. */
static void clear_block(const engine *e, const worker *w, int32_t b, int64_t strips)
{
    const twi_tree *tree = e->tree;
    const size_t strip = (size_t)(e->kernel->nr * e->size);
    for (int32_t i = tree->first[b]; i < tree->first[b + 1]; i++) {
        char *row = row_of(e, w, tree->vertex[i]);
        memcpy(row, e->infinite, (size_t)strips * strip);
    }
}

/* Mark the blocks above each source, clear them, and put the zeros down. */
static void begin(const engine *e, worker *w, const ticket *tickets, int64_t count)
{
    const twi_tree *tree = e->tree;
    int64_t strips = (count + e->kernel->nr - 1) / e->kernel->nr;
    memset(w->mask, 0, (size_t)tree->blocks * sizeof *w->mask);
    for (int64_t j = 0; j < count; j++) {
        uint64_t bit = (uint64_t)1 << (j / e->kernel->nr);
        int32_t b = tree->block[tree->vertex[tickets[j].place]];
        for (; b >= 0 && (w->mask[b] & bit) == 0; b = tree->parent[b]) {
            w->mask[b] |= bit;
        }
    }
    for (int32_t b = 0; b < tree->blocks; b++) {
        if (w->mask[b] != 0) {
            clear_block(e, w, b, strips);
        }
    }
    for (int64_t j = 0; j < count; j++) {
        memset(row_of(e, w, tree->vertex[tickets[j].place]) + j * e->size, 0, (size_t)e->size);
    }
}

/* Some strips, one beside the other, of one block: what they have goes to A(S), then to S itself.
 * They go together, because the operands of a large block are more than a cache holds. */
static void carry_up(const engine *e, const worker *w, int32_t b, int64_t strip, int64_t strips)
{
    const twi_tree *tree = e->tree;
    const int32_t *vertex = tree->vertex + tree->first[b];
    const int64_t strip_bytes = e->kernel->nr * e->size;
    const size_t bytes = (size_t)(strips * strip_bytes);
    int64_t size = twi_tree_size(tree, b);
    int64_t high = twi_tree_high(tree, b);
    twi_rows_product p = {
        .strips = strips, .b = w->strips, .from = w->from, .c = w->x + strip * strip_bytes};
    for (int32_t i = 0; i < size; i++) {
        const char *row = row_of(e, w, vertex[i]) + strip * strip_bytes;
        if (memcmp(row, e->infinite, bytes) != 0) {
            memcpy(w->strips + w->from[p.depth] * e->size, row, bytes);
            w->pick[p.depth++] = i;
        }
    }
    p.pick = p.depth < size ? w->pick : NULL;
    if (high > 0) {
        twi_operand up = twi_factor_up(e->factor, tree, b);
        p.rows = high;
        p.a = up.data;
        p.a_step = up.step;
        p.to = e->high_at + tree->high_first[b];
        e->kernel->update_rows(&p);
    }
    if (size > 1) {
        twi_operand own = twi_factor_own(e->factor, tree, b);
        p.rows = size;
        p.a = own.data;
        p.a_step = own.step;
        p.to = e->vertex_at + tree->first[b];
        e->kernel->update_rows(&p);
    }
}

static void go_up(const engine *e, const worker *w)
{
    for (int32_t b = 0; b < e->tree->blocks; b++) {
        for (uint64_t mask = w->mask[b]; mask != 0;) {
            int strip = __builtin_ctzll(mask);
            uint64_t from_there = ~(mask >> strip);
            int strips = from_there != 0 ? __builtin_ctzll(from_there) : 64;
            carry_up(e, w, b, strip, strips);
            mask = strip + strips < 64 ? mask >> (strip + strips) << (strip + strips) : 0;
        }
        if (b % CHECK_EVERY == 0 && twi_is_cancelled(e->ctx)) {
            return;
        }
    }
}

static void go_down(const engine *e, worker *w, int64_t strips)
{
    const twi_tree *tree = e->tree;
    for (int32_t b = tree->blocks - 1; b >= 0; b--) {
        int64_t high = twi_tree_high(tree, b);
        bool untouched = w->mask[b] == 0;
        w->dead[b] = untouched && (high == 0 || w->dead[tree->parent[b]]);
        if (w->dead[b]) {
            clear_block(e, w, b, strips);
        } else if (high > 0) {
            twi_operand down = twi_factor_down(e->factor, tree, b);
            e->kernel->update_rows(&(twi_rows_product){
                .rows = twi_tree_size(tree, b),
                .depth = high,
                .strips = strips,
                .a = down.data,
                .a_step = down.step,
                .b = w->x,
                .from = e->high_at + tree->high_first[b],
                .c = w->x,
                .to = e->vertex_at + tree->first[b],
                .fresh = untouched,
            });
        }
        if (b % CHECK_EVERY == 0 && twi_is_cancelled(e->ctx)) {
            return;
        }
    }
}

#define ANY_AT_CAP(T, INFTY)                                           \
    {                                                                  \
        T most = 0; /* a maximum goes in vectors, an "any" does not */ \
        for (int64_t i = 0; i < count; i++) {                          \
            const T value = ((const T *)values)[i];                    \
            most = value > most ? value : most;                        \
        }                                                              \
        found = most >= (INFTY);                                       \
    }

static bool any_at_cap(const engine *e, const void *values, int64_t count)
{
    bool found = false;
    switch (e->kernel->type) {
    case TW_U8:
        ANY_AT_CAP(uint8_t, TW_APSP_INF_U8)
        break;
    case TW_U16:
        ANY_AT_CAP(uint16_t, TW_APSP_INF_U16)
        break;
    default:
        ANY_AT_CAP(int32_t, TW_APSP_INF_I32)
        break;
    }
    return found;
}

/* Rows of the result from the columns of a batch. Returns whether some pair has no path below the
 * cap, where that matters. */
static bool write_rows(const engine *e, const worker *w, const ticket *tickets, int64_t count)
{
    bool missing = false;
    for (int64_t v = 0; v < e->tree->n; v += TILE) {
        int64_t wide = e->tree->n - v < TILE ? e->tree->n - v : TILE;
        e->kernel->transpose(w->tile, TILE, row_of(e, w, (int32_t)v), e->step, wide, count);
        for (int64_t j = 0; j < count; j++) {
            const char *from = w->tile + j * TILE * e->size;
            missing = missing || (e->certify && any_at_cap(e, from, wide));
            memcpy(e->block + (tickets[j].row * e->stride + v) * e->size, from,
                   (size_t)(wide * e->size));
        }
    }
    return missing;
}

#define LEFT_OUT(T, INFTY)                                           \
    {                                                                \
        const T *from = (const T *)w->x + u * e->step;               \
        const T *to = (const T *)w->x + graph->targets[a] * e->step; \
        for (int64_t j = 0; j < count; j++) {                        \
            left_out |= from[j] < (INFTY) && to[j] >= (INFTY);       \
        }                                                            \
    }

/* The certificate (closure/certificate.h) for the columns of a batch: no arc leads from below the
 * cap to the cap. */
static bool is_exact(const engine *e, const worker *w, int64_t count)
{
    const tw_graph *graph = e->plan->graph;
    bool left_out = false;
    for (int64_t u = 0; u < graph->n && !left_out; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            switch (e->kernel->type) {
            case TW_U8:
                LEFT_OUT(uint8_t, TW_APSP_INF_U8)
                break;
            case TW_U16:
                LEFT_OUT(uint16_t, TW_APSP_INF_U16)
                break;
            default:
                LEFT_OUT(int32_t, TW_APSP_INF_I32)
                break;
            }
        }
    }
    return !left_out;
}

static void run_batch(engine *e, worker *w, const ticket *tickets, int64_t count)
{
    if (twi_is_cancelled(e->ctx) || atomic_load_explicit(&e->refuted, memory_order_relaxed)) {
        return;
    }
    begin(e, w, tickets, count);
    go_up(e, w);
    go_down(e, w, (count + e->kernel->nr - 1) / e->kernel->nr);
    if (!twi_is_cancelled(e->ctx) && write_rows(e, w, tickets, count) && !is_exact(e, w, count)) {
        atomic_store_explicit(&e->refuted, true, memory_order_relaxed);
    }
}

/* ------------------------------------------------------------------------------- blocks of rows */

static int by_place(const void *a, const void *b)
{
    const ticket *x = a;
    const ticket *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->row > y->row) - (x->row < y->row);
}

static void run_block(engine *e, int64_t first, int64_t count)
{
    int64_t batches = (count + e->width - 1) / e->width;
    for (int64_t i = 0; i < count; i++) {
        int32_t source = twi_plan_source(e->plan, first + i);
        e->tickets[i] = (ticket){e->tree->place[source], (int32_t)i};
    }
    qsort(e->tickets, (size_t)count, sizeof *e->tickets, by_place);
    atomic_store(&e->done, first);
#pragma omp parallel num_threads(twi_team((int)e->threads))
    {
        worker *w = &e->workers[twi_thread_id()];
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < batches; k++) {
            int64_t begins = k * e->width;
            int64_t size = count - begins < e->width ? count - begins : e->width;
            run_batch(e, w, e->tickets + begins, size);
            long long now = atomic_fetch_add(&e->done, size) + size;
            if (twi_thread_id() == 0) {
                twi_progress(e->ctx, "sweep", (double)now, (double)twi_plan_rows(e->plan), "rows");
            }
        }
    }
}

/* Rows from *first on in the engine's type; *first is where to go on when a wider one is needed. */
static tw_status run_rows(engine *e, twi_delivery *delivery, int64_t *first, bool *wider)
{
    int64_t total = twi_plan_rows(e->plan);
    int64_t most = block_rows(e->plan, e->kernel, (int)e->threads);
    while (*first < total) {
        int64_t count = total - *first < most ? total - *first : most;
        run_block(e, *first, count);
        tw_status status = twi_check_cancel(e->ctx);
        if (status != TW_OK) {
            return status;
        }
        if (atomic_load(&e->refuted)) {
            *wider = true;
            return TW_OK;
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

/* ------------------------------------------------------------------------------------ the run */

static void fill_infinite(char *out, tw_type type, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        switch (type) {
        case TW_U8:
            ((uint8_t *)out)[i] = TW_APSP_INF_U8;
            break;
        case TW_U16:
            ((uint16_t *)out)[i] = TW_APSP_INF_U16;
            break;
        case TW_I32:
            ((int32_t *)out)[i] = TW_APSP_INF_I32;
            break;
        case TW_F32:
            ((float *)out)[i] = INFINITY;
            break;
        default:
            ((double *)out)[i] = (double)INFINITY;
            break;
        }
    }
}

static tw_status allocate(engine *e, char **memory)
{
    const char *what = "the columns of the sweep";
    parts p = worker_parts(e->plan, e->tree, e->kernel, (int)e->threads);
    uint64_t rows = (uint64_t)block_rows(e->plan, e->kernel, (int)e->threads);
    uint64_t row = rounded((uint64_t)(e->width * e->size));
    uint64_t elements = 0;
    int64_t high = e->tree->high_first[e->tree->blocks];
    tw_status status = TW_OK;
    if (!twi_mul(rows, (uint64_t)e->stride, &elements)) {
        return tw_fail(e->ctx, TW_ERR_MEMORY, "a block of rows is more than can be addressed");
    }
    if ((status = twi_alloc(e->ctx, &e->workers, (uint64_t)e->threads, sizeof *e->workers, what)) !=
            TW_OK ||
        (status = twi_alloc(e->ctx, &e->vertex_at, (uint64_t)e->tree->n, sizeof *e->vertex_at,
                            what)) != TW_OK ||
        (status = twi_alloc(e->ctx, &e->high_at, (uint64_t)high, sizeof *e->high_at, what)) !=
            TW_OK ||
        (status = twi_alloc(e->ctx, &e->tickets, rows, sizeof *e->tickets, what)) != TW_OK ||
        (status = twi_alloc(e->ctx, &e->block, elements, (uint64_t)e->size, "a block of rows")) !=
            TW_OK ||
        (status = twi_alloc(e->ctx, memory, (uint64_t)e->threads * parts_bytes(&p) + row, 1,
                            what)) != TW_OK) {
        return status;
    }
    for (int64_t i = 0; i < e->tree->n; i++) {
        e->vertex_at[i] = e->tree->vertex[i] * e->step;
    }
    for (int64_t i = 0; i < high; i++) {
        e->high_at[i] = e->tree->high[i] * e->step;
    }
    char *next = *memory;
    for (int64_t t = 0; t < e->threads; t++) {
        worker *w = &e->workers[t];
        w->x = next;
        w->tile = (next += p.x);
        w->strips = (next += p.tile);
        w->mask = (uint64_t *)(void *)(next += p.strip);
        w->pick = (int32_t *)(void *)(next += p.mask);
        w->from = (int64_t *)(void *)(next += p.pick);
        w->dead = (uint8_t *)(next += p.from);
        next += p.dead;
        for (int32_t i = 0; i < e->tree->size_most; i++) {
            w->from[i] = i * e->width;
        }
    }
    e->infinite = next;
    fill_infinite(e->infinite, e->kernel->type, e->width);
    return TW_OK;
}

/* May a walk be as long as the cap of the type? */
static bool may_reach_cap(const tw_apsp_plan *plan, tw_type type)
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
    return (double)graph->n * heaviest >= tw_apsp_infinity(type);
}

/* The rows from *first on in one type. */
static tw_status run_in_type(tw_context *ctx, const tw_apsp_plan *plan, tw_type type,
                             twi_delivery *delivery, int64_t *first, bool *wider)
{
    twi_factor *factor = NULL;
    char *memory = NULL;
    engine e = {.ctx = ctx,
                .plan = plan,
                .tree = plan->tree,
                .kernel = twi_minplus_kernel_find(plan->isa, type),
                .size = (int64_t)tw_type_size(type),
                .threads = plan->threads,
                .certify = may_reach_cap(plan, type)};
    atomic_init(&e.refuted, false);
    atomic_init(&e.done, 0);
    e.width = batch_width(plan, e.kernel, (int)e.threads);
    e.step = batch_step(e.kernel, e.width);
    e.stride = row_stride(plan, e.kernel);
    *wider = false;
    tw_status status = twi_factor_create(ctx, &factor, plan, e.tree, e.kernel, (int)e.threads);
    if (status == TW_OK) {
        e.factor = factor;
        status = allocate(&e, &memory);
    }
    if (status == TW_OK) {
        status = run_rows(&e, delivery, first, wider);
    }
    twi_free(memory);
    twi_free(e.block);
    twi_free(e.tickets);
    twi_free(e.high_at);
    twi_free(e.vertex_at);
    twi_free(e.workers);
    twi_factor_destroy(factor);
    return status;
}

static tw_type wider_type(tw_type type)
{
    return type == TW_U8 ? TW_U16 : type == TW_U16 ? TW_I32 : TW_F64;
}

tw_status twi_sweep_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                        twi_sweep_outcome *out)
{
    int64_t first = 0;
    bool wider = true;
    tw_status status = TW_OK;
    *out = (twi_sweep_outcome){.work_type = plan->work_type};
    while (status == TW_OK && wider) {
        out->attempts++;
        status = run_in_type(ctx, plan, out->work_type, delivery, &first, &wider);
        if (status == TW_OK && wider && plan->options.work_type != TW_AUTO) {
            return tw_fail(ctx, TW_ERR_RANGE,
                           "some distance does not fit the working type %s; leave it to 'auto'",
                           tw_type_name(out->work_type));
        }
        if (status == TW_OK && wider) {
            twi_log(ctx, "some distance reaches the cap of %s; sweeping again in %s",
                    tw_type_name(out->work_type), tw_type_name(wider_type(out->work_type)));
            out->work_type = wider_type(out->work_type);
        }
    }
    out->relaxations =
        plan->tree->factor + (double)twi_plan_rows(plan) * (plan->tree->down + plan->tree->up);
    return status;
}

tw_status twi_sweep_tree(tw_context *ctx, twi_tree **out, const tw_apsp_plan *plan, double steps)
{
    twi_order_limit limit = {(double)twi_plan_rows(plan), steps};
    twi_skeleton skeleton = {0};
    twi_order order = {0};
    *out = NULL;
    tw_status status = twi_skeleton_create(ctx, &skeleton, plan->graph);
    if (status == TW_OK) {
        status = twi_order_create(ctx, &order, &skeleton, limit);
    }
    if (status == TW_OK && !order.wide) {
        status = twi_tree_create(ctx, out, &skeleton, &order, twi_plan_rows(plan));
    }
    twi_order_clear(&order);
    twi_skeleton_clear(&skeleton);
    return status;
}
