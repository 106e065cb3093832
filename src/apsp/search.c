/*
 * The search engine: blocks of rows, each cut into batches of sources, batches shared among the
 * threads, every block delivered in order.
 *
 * Within a block the sources are sorted by their place in the net (net.h), so that a batch is a
 * patch of near vertices, whose searches want nearly the same order. A batch goes to the lane
 * search in the narrowest type that has not failed so far, or to one Dijkstra a source when there
 * are too few sources to fill lanes, when lanes scan too much, or when negative floats need two
 * sums. Types widen when a distance does not fit: u16 -> i32 within a batch, i32 -> f64 and f32
 * -> f64 for the block and all later ones; levels of a breadth-first search u8 -> u16 -> i32. None
 * of these choices can change a result.
 *
 * Memory: the net, one workspace a thread (128 bytes a vertex and the queues), one block.
 */
#include "apsp/search.h"

#include "apsp/bfs.h"
#include "apsp/dijkstra.h"
#include "apsp/lanes.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/threads.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((uint64_t)32 << 20)
#define EXACT_LIMIT 0x1p53 /* whole numbers of f64 */

typedef enum verdict { FINE = 0, LATE, WIDEN, CANCELLED } verdict;

typedef struct worker {
    twi_lanes_space lanes;
    twi_dijkstra_space dijkstra;
    twi_bfs_space bfs;
    double scanned;
    char apart[TWI_CACHE_LINE]; /* from the next worker's counters */
} worker;

typedef struct engine {
    tw_context *ctx;
    const tw_plan *plan;
    tw_method method;
    int threads;
    twi_isa isa;
    twi_net *net; /* TW_METHOD_DIJKSTRA */
    const twi_lanes_kernels *kernels;
    worker *workers;
    tw_type type; /* of the rows */
    double cutoff;
    double deadline; /* of a sample; 0: none */
    bool certify_narrow;
    bool certify;
    atomic_int narrow;  /* u16 has sufficed so far */
    atomic_int lanes;   /* the lane search has been worth it so far */
    atomic_int verdict; /* the worst of the block */
} engine;

/* Some rows of a block: where each goes and from where it starts. */
typedef struct batch {
    int count;
    int32_t source[TWI_BFS_MOST]; /* places, or vertices for a breadth-first search */
    void *row[TWI_BFS_MOST];      /* one after another for a breadth-first search */
} batch;

/* ------------------------------------------------------------------------- what a search needs */

static double longest_path(const tw_graph *graph, double max_weight)
{
    return graph->n > 1 ? (double)(graph->n - 1) * max_weight : 0;
}

tw_type twi_search_type(const tw_graph *graph, const double *potential)
{
    if (!graph->integral) {
        return graph->weight_type;
    }
    double longest = longest_path(graph, twi_net_max_weight(graph, potential));
    return longest < TW_INF_I32 ? TW_I32 : TW_F64;
}

static twi_net_kind kind_of(const tw_plan *plan, tw_type type)
{
    if (!plan->graph->integral && plan->potential != NULL) {
        return TWI_NET_DUAL;
    }
    return type == TW_I32 ? TWI_NET_I32 : type == TW_F32 ? TWI_NET_F32 : TWI_NET_F64;
}

/* Whole weights begin in i32 even where that is not certain to suffice. */
static tw_type first_type(const tw_plan *plan, tw_method method)
{
    if (method == TW_METHOD_BFS) {
        return TW_U8;
    }
    return plan->graph->integral ? TW_I32 : plan->graph->weight_type;
}

static int64_t sources_at_once(tw_method method)
{
    return method == TW_METHOD_BFS ? TWI_BFS_MOST : TWI_LANES_MOST;
}

/* Rows of a block of `bytes`: whole batches for every thread if it can, at least one row. */
static int64_t block_rows(const tw_plan *plan, tw_method method, tw_type type, uint64_t bytes,
                          int threads)
{
    uint64_t row = (uint64_t)plan->graph->n * tw_type_size(type);
    int64_t rows = row > 0 ? (int64_t)(bytes / row) : twi_plan_rows(plan);
    int64_t round = sources_at_once(method) * threads;
    if (rows > round) {
        rows -= rows % round;
    }
    rows = rows < twi_plan_rows(plan) ? rows : twi_plan_rows(plan);
    return rows > 0 ? rows : 1;
}

static uint64_t worker_memory(const tw_plan *plan, tw_method method)
{
    const tw_graph *graph = plan->graph;
    if (method == TW_METHOD_BFS) {
        return sizeof(worker) + twi_bfs_space_memory(graph->n);
    }
    return sizeof(worker) + (uint64_t)graph->n * (TWI_LINE_BYTES + sizeof(int32_t) + 1) +
           twi_dijkstra_space_memory(graph->n, graph->arcs, kind_of(plan, first_type(plan, method)),
                                     twi_net_max_weight(graph, plan->potential));
}

uint64_t twi_search_memory(const tw_plan *plan, tw_method method)
{
    int threads = plan->threads > 0 ? plan->threads : 1;
    tw_type type = method == TW_METHOD_BFS ? TW_I32 : twi_search_type(plan->graph, plan->potential);
    uint64_t row = (uint64_t)plan->graph->n * tw_type_size(type) + sizeof(uint64_t);
    uint64_t bytes = (uint64_t)threads * worker_memory(plan, method);
    if (method != TW_METHOD_BFS) {
        bytes += twi_net_memory(plan->graph, kind_of(plan, type));
    }
    return bytes + row * (uint64_t)block_rows(plan, method, type, BLOCK_BYTES, threads);
}

/* ------------------------------------------------------------------------------------ workspaces
 */

static void worker_clear(worker *w)
{
    twi_bfs_space_clear(&w->bfs);
    twi_dijkstra_space_clear(&w->dijkstra);
    twi_free(w->lanes.queued);
    twi_free(w->lanes.next);
    twi_free(w->lanes.line);
}

static tw_status worker_create(engine *e, worker *w)
{
    const char *what = "the lanes of the searches";
    uint64_t n = (uint64_t)e->plan->graph->n;
    tw_status status = TW_OK;
    if (e->method == TW_METHOD_BFS) {
        return twi_bfs_space_create(e->ctx, &w->bfs, e->plan->graph->n);
    }
    if ((status = twi_alloc(e->ctx, &w->lanes.line, n, TWI_LINE_BYTES, what)) != TW_OK ||
        (status = twi_alloc(e->ctx, &w->lanes.next, n, sizeof(int32_t), what)) != TW_OK ||
        (status = twi_alloc(e->ctx, &w->lanes.queued, n, 1, what)) != TW_OK) {
        return status;
    }
    return twi_dijkstra_space_create(e->ctx, &w->dijkstra, e->net);
}

static const twi_lanes_kernels *kernels_of(twi_isa isa)
{
    switch (isa) {
#ifdef TWI_HAVE_NEON
    case TWI_ISA_NEON:
        return &twi_lanes_neon;
#endif
#ifdef TWI_HAVE_AVX2
    case TWI_ISA_AVX2:
        return &twi_lanes_avx2;
#endif
#ifdef TWI_HAVE_AVX512
    case TWI_ISA_AVX512:
        return &twi_lanes_avx512;
#endif
    default:
        return &twi_lanes_scalar;
    }
}

/* The net for rows of e->type, in place of the one there was. */
static tw_status prepare_net(engine *e)
{
    const tw_graph *graph = e->plan->graph;
    twi_net_destroy(e->net);
    tw_status status =
        twi_net_create(e->ctx, &e->net, graph, e->plan->potential, kind_of(e->plan, e->type));
    if (status != TW_OK) {
        return status;
    }
    double longest = longest_path(graph, e->net->max);
    e->certify_narrow = longest >= TW_INF_U16 - e->net->max;
    e->certify = longest >= (e->type == TW_I32   ? TW_INF_I32
                             : e->type == TW_F32 ? FLT_MAX / 2
                                                 : DBL_MAX / 2);
    atomic_store(&e->narrow, e->net->kind == TWI_NET_I32 && e->net->max <= TWI_NARROW_WEIGHT);
    atomic_store(&e->lanes, e->net->kind != TWI_NET_DUAL);
    return TW_OK;
}

static void engine_destroy(engine *e)
{
    if (e == NULL) {
        return;
    }
    if (e->workers != NULL) {
        for (int t = 0; t < e->threads; t++) {
            worker_clear(&e->workers[t]);
        }
    }
    twi_free(e->workers);
    twi_net_destroy(e->net);
    twi_free(e);
}

static tw_status engine_create(tw_context *ctx, engine **out, const tw_plan *plan, tw_method method,
                               int threads)
{
    *out = NULL;
    engine *e = NULL;
    twi_isa isa = plan->isa;
    tw_status status = isa == TWI_ISA_NONE ? twi_isa_resolve(ctx, &isa) : TW_OK;
    if (status != TW_OK) {
        return status;
    }
    status = twi_alloc_zeroed(ctx, &e, 1, sizeof *e, "the search engine");
    if (status != TW_OK) {
        return status;
    }
    e->ctx = ctx;
    e->plan = plan;
    e->method = method;
    e->threads = threads;
    e->isa = isa;
    e->kernels = kernels_of(isa);
    e->type = first_type(plan, method);
    e->cutoff =
        plan->options.cutoff >= 0 && plan->potential == NULL ? plan->options.cutoff : INFINITY;
    if (method == TW_METHOD_DIJKSTRA && (status = prepare_net(e)) != TW_OK) {
        goto done;
    }
    status = twi_alloc_zeroed(ctx, &e->workers, (uint64_t)threads, sizeof *e->workers,
                              "the threads of the searches");
    for (int t = 0; t < threads && status == TW_OK; t++) {
        status = worker_create(e, &e->workers[t]);
    }
    if (status == TW_OK) {
        *out = e;
        e = NULL;
    }
done:
    engine_destroy(e);
    return status;
}

/* --------------------------------------------------------------------------------- one batch */

static const twi_lanes_kernel *wide_kernel(const engine *e)
{
    switch (e->net->kind) {
    case TWI_NET_I32:
        return &e->kernels->i32;
    case TWI_NET_F32:
        return &e->kernels->f32;
    default:
        return &e->kernels->f64;
    }
}

/* How often lanes may scan each arc and still be faster than a Dijkstra for every lane: a scan of
 * an arc takes about 16 ns (Neoverse V1), in a Dijkstra 6 ns with buckets and 14 with a heap. */
static int worth_scanning(const worker *w, const twi_lanes_kernel *kernel)
{
    return kernel->lanes * (w->dijkstra.chain != NULL ? 3 : 7) / 8;
}

static twi_lanes_end search_lanes(engine *e, worker *w, const batch *b, int first, int count,
                                  const twi_lanes_kernel *kernel)
{
    bool narrow = kernel == &e->kernels->u16;
    int64_t scanned = 0;
    twi_lanes_job job = {
        .net = e->net,
        .sources = b->source + first,
        .count = count,
        .certify = narrow ? e->certify_narrow : e->certify,
        .cutoff = e->cutoff,
        .arc_limit = (e->net->arcs + e->net->n) * worth_scanning(w, kernel),
        .deadline = e->deadline,
        .ctx = e->ctx,
    };
    twi_lanes_end end = kernel->search(&job, &w->lanes, &scanned);
    w->scanned += (double)scanned;
    if (end == TWI_LANES_DONE) {
        kernel->give_rows(&job, &w->lanes, b->row + first);
    }
    return end;
}

static verdict search_singly(engine *e, worker *w, const batch *b, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        int64_t scanned = 0;
        twi_dijkstra_job job = {
            .net = e->net,
            .source = b->source[i],
            .cutoff = e->cutoff,
            .certify = e->certify,
            .dual_f32 = e->type == TW_F32,
        };
        if (twi_is_cancelled(e->ctx)) {
            return CANCELLED;
        }
        if (e->deadline > 0 && twi_seconds() > e->deadline) {
            return LATE;
        }
        bool fits = twi_dijkstra(&job, &w->dijkstra, b->row[i], &scanned);
        w->scanned += (double)scanned;
        if (!fits) {
            return WIDEN;
        }
    }
    return FINE;
}

static verdict search_batch(engine *e, worker *w, const batch *b)
{
    int done = 0;
    while (done < b->count) {
        bool narrow = atomic_load(&e->narrow);
        const twi_lanes_kernel *kernel = narrow ? &e->kernels->u16 : wide_kernel(e);
        int left = b->count - done;
        int count = left < kernel->lanes ? left : kernel->lanes;
        if (!atomic_load(&e->lanes) || count < kernel->lanes / 4) {
            return search_singly(e, w, b, done, left);
        }
        switch (search_lanes(e, w, b, done, count, kernel)) {
        case TWI_LANES_DONE:
            done += count;
            break;
        case TWI_LANES_CAPPED:
            if (!narrow) {
                return WIDEN;
            }
            atomic_store(&e->narrow, 0);
            break;
        case TWI_LANES_LIMIT:
            atomic_store(&e->lanes, 0);
            break;
        case TWI_LANES_LATE:
            return LATE;
        case TWI_LANES_CANCELLED:
            return CANCELLED;
        }
    }
    return FINE;
}

static verdict bfs_batch(engine *e, worker *w, const batch *b)
{
    int64_t scanned = 0;
    twi_bfs_job job = {
        .graph = e->plan->graph,
        .sources = b->source,
        .count = b->count,
        .type = e->type,
        .isa = e->isa,
        .level_limit = e->cutoff / e->plan->graph->max_weight + 1,
        .deadline = e->deadline,
        .ctx = e->ctx,
    };
    twi_bfs_end end = twi_bfs(&job, &w->bfs, b->row[0], &scanned);
    w->scanned += (double)scanned;
    static const verdict verdicts[] = {
        [TWI_BFS_DONE] = FINE,
        [TWI_BFS_DEEP] = WIDEN,
        [TWI_BFS_LATE] = LATE,
        [TWI_BFS_CANCELLED] = CANCELLED,
    };
    return verdicts[end];
}

static void run_batch(engine *e, worker *w, const batch *b)
{
    if (atomic_load(&e->verdict) != FINE) {
        return; /* the block will be redone or dropped */
    }
    verdict mine = e->method == TW_METHOD_BFS ? bfs_batch(e, w, b) : search_batch(e, w, b);
    int worst = atomic_load(&e->verdict);
    while ((int)mine > worst && !atomic_compare_exchange_weak(&e->verdict, &worst, (int)mine)) {
    }
}

/* --------------------------------------------------------------------------------- one block */

/* A row of the block and the key its batch is chosen by. */
typedef struct ticket {
    int32_t place;
    int32_t row;
} ticket;

static int by_place(const void *a, const void *b)
{
    const ticket *x = a;
    const ticket *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->row > y->row) - (x->row < y->row);
}

static void fill_tickets(const engine *e, ticket *tickets, int64_t first, int64_t count)
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

/* Search for every row of the block; e->verdict says how it went. */
static void run_block(engine *e, void *block, const ticket *tickets, int64_t first, int64_t count)
{
    int64_t most = sources_at_once(e->method);
    int64_t share = (count + e->threads - 1) / e->threads;
    int64_t size = share < most ? share : most;
    int64_t batches = (count + size - 1) / size;
    size_t row = (size_t)e->plan->graph->n * tw_type_size(e->type);
    double total = (double)twi_plan_rows(e->plan);
    atomic_llong done;
    atomic_init(&done, first);
    atomic_store(&e->verdict, FINE);
#pragma omp parallel num_threads(e->threads)
    {
        worker *w = &e->workers[twi_thread_id()];
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < batches; k++) {
            batch b;
            int64_t begin = k * size;
            b.count = (int)(begin + size < count ? size : count - begin);
            for (int i = 0; i < b.count; i++) {
                b.source[i] = tickets[begin + i].place;
                b.row[i] = (char *)block + (size_t)tickets[begin + i].row * row;
            }
            run_batch(e, w, &b);
            long long now = atomic_fetch_add(&done, b.count) + b.count;
            if (twi_thread_id() == 0) {
                twi_progress(e->ctx, "search", (double)now, total, "rows");
            }
        }
    }
}

/* Whole sums of 2^53 and more in f64 are not exact. */
static tw_status check_exact(engine *e, const double *block, int64_t first, int64_t count)
{
    const tw_graph *graph = e->plan->graph;
    if (e->type != TW_F64 || !graph->integral || longest_path(graph, e->net->max) < EXACT_LIMIT) {
        return TW_OK;
    }
    for (int64_t i = 0; i < count * graph->n; i++) {
        if (block[i] >= EXACT_LIMIT && !isinf(block[i])) {
            return tw_fail(
                e->ctx, TW_ERR_RANGE,
                "the distance from vertex %d to vertex %lld is 2^53 or more, beyond what "
                "is exact; scale the weights down",
                twi_plan_source(e->plan, first + i / graph->n), (long long)(i % graph->n));
        }
    }
    return TW_OK;
}

/* The next type that holds more; TW_ERR_RANGE after the last. */
static tw_status widen(engine *e)
{
    switch (e->type) {
    case TW_U8:
        e->type = TW_U16;
        return TW_OK;
    case TW_U16:
        e->type = TW_I32;
        return TW_OK;
    case TW_I32:
    case TW_F32:
        e->type = TW_F64;
        return prepare_net(e);
    default:
        return tw_fail(e->ctx, TW_ERR_RANGE,
                       "a distance is larger than f64 can hold; scale the weights down");
    }
}

/* ------------------------------------------------------------------------------------- the run */

/* What a block may take: the usual size, or half of what the context has left. */
static uint64_t block_bytes(tw_context *ctx)
{
    uint64_t limit = tw_memory_limit(ctx);
    uint64_t used = tw_memory_used(ctx);
    uint64_t half = limit > used ? (limit - used) / 2 : 0;
    return half < BLOCK_BYTES ? half : BLOCK_BYTES;
}

/* Rows from *first on in the engine's present type; returns early, with *first at the row to go on
 * from, when a wider type is needed. */
static tw_status run_in_type(engine *e, twi_delivery *delivery, int64_t *first, bool *wider)
{
    const tw_plan *plan = e->plan;
    int64_t total = twi_plan_rows(plan);
    int64_t most = block_rows(plan, e->method, e->type, block_bytes(e->ctx), e->threads);
    void *block = NULL;
    ticket *tickets = NULL;
    uint64_t elements = 0;
    tw_status status = TW_OK;
    *wider = false;
    if (!twi_mul((uint64_t)most, (uint64_t)plan->graph->n, &elements)) {
        return tw_fail(e->ctx, TW_ERR_MEMORY, "a block of rows is more than can be addressed");
    }
    if ((status = twi_alloc(e->ctx, &block, elements, tw_type_size(e->type), "a block of rows")) !=
            TW_OK ||
        (status = twi_alloc(e->ctx, &tickets, (uint64_t)most, sizeof *tickets,
                            "the order of a block")) != TW_OK) {
        goto done;
    }
    while (*first < total && !*wider) {
        int64_t count = total - *first < most ? total - *first : most;
        fill_tickets(e, tickets, *first, count);
        run_block(e, block, tickets, *first, count);
        if ((status = twi_check_cancel(e->ctx)) != TW_OK) {
            goto done;
        }
        if (atomic_load(&e->verdict) == WIDEN) {
            *wider = true;
            break;
        }
        twi_rows rows = {
            .first = *first,
            .count = count,
            .work = block,
            .stride = plan->graph->n,
            .type = e->type,
            .scale = e->method == TW_METHOD_BFS ? plan->graph->max_weight : 1,
            .potentials_applied = e->method != TW_METHOD_BFS && plan->potential != NULL &&
                                  e->net->kind != TWI_NET_DUAL,
        };
        if ((status = check_exact(e, block, *first, count)) != TW_OK ||
            (status = twi_delivery_rows(e->ctx, delivery, &rows)) != TW_OK) {
            goto done;
        }
        *first += count;
    }
done:
    twi_free(tickets);
    twi_free(block);
    return status;
}

tw_status twi_search_run(tw_context *ctx, const tw_plan *plan, twi_delivery *delivery,
                         double *arcs_scanned)
{
    engine *e = NULL;
    int64_t first = 0;
    bool wider = false;
    *arcs_scanned = 0;
    tw_status status = engine_create(ctx, &e, plan, plan->method, twi_thread_count(ctx));
    while (status == TW_OK && first < twi_plan_rows(plan)) {
        status = run_in_type(e, delivery, &first, &wider);
        if (status == TW_OK && wider) {
            status = widen(e);
        }
    }
    for (int t = 0; e != NULL && t < e->threads; t++) {
        *arcs_scanned += e->workers[t].scanned;
    }
    engine_destroy(e);
    return status;
}

/* ------------------------------------------------------------------------------------ the sample
 */

/* How often a batch that was cut short would have scanned each arc: a lane search on a random
 * graph, a breadth-first search of a graph of low diameter. */
#define USUAL_SCANS 7

static void add_row(twi_search_sample *sample, tw_type type, double scale, const void *row,
                    int64_t n)
{
    int64_t unreachable = 0;
    double infinity = tw_type_infinity(type);
    for (int64_t v = 0; v < n; v++) {
        double d;
        switch (type) {
        case TW_U8:
            d = ((const uint8_t *)row)[v];
            break;
        case TW_U16:
            d = ((const uint16_t *)row)[v];
            break;
        case TW_I32:
            d = ((const int32_t *)row)[v];
            break;
        case TW_F32:
            d = ((const float *)row)[v];
            break;
        default:
            d = ((const double *)row)[v];
            break;
        }
        if (d >= infinity) {
            unreachable++;
        } else {
            sample->farthest = fmax(sample->farthest, d * scale);
        }
    }
    sample->unreachable += (double)unreachable / (double)n; /* divided by the rows at the end */
    sample->sources++;
}

/* One batch from a random place on, as a run would take it. */
static void sample_batch(engine *e, void *block, int size, uint64_t round)
{
    int64_t n = e->plan->graph->n;
    uint64_t seed = (uint64_t)n * 31 + (uint64_t)e->plan->graph->arcs;
    int64_t begin = (int64_t)twi_random_below(twi_random_at(seed, round), (uint64_t)n);
    batch b = {.count = size};
    for (int i = 0; i < size; i++) {
        b.source[i] = (int32_t)((begin + i) % n);
        b.row[i] = (char *)block + (size_t)i * (size_t)n * tw_type_size(e->type);
    }
    atomic_store(&e->verdict, FINE);
    run_batch(e, &e->workers[0], &b);
}

static tw_status sample_run(engine *e, void *block, int size, int64_t sources, double budget,
                            twi_search_sample *out)
{
    const tw_graph *graph = e->plan->graph;
    double scale = e->method == TW_METHOD_BFS ? graph->max_weight : 1;
    double start = twi_seconds();
    double spent = 0;
    e->deadline = start + 2 * budget;
    for (uint64_t round = 0; out->sources < sources && (round == 0 || spent < budget); round++) {
        double begin = twi_seconds();
        sample_batch(e, block, size, round);
        double took = twi_seconds() - begin;
        tw_status status = twi_check_cancel(e->ctx);
        verdict end = (verdict)atomic_load(&e->verdict);
        if (status != TW_OK || (end == WIDEN && (status = widen(e)) != TW_OK)) {
            return status;
        }
        if (end == LATE) {
            bool singly = e->method != TW_METHOD_BFS && atomic_load(&e->lanes) == 0;
            double whole = (double)graph->arcs * (singly ? size : USUAL_SCANS);
            out->seconds_per_source = took * fmax(whole / fmax(e->workers[0].scanned, 1), 1) / size;
            break;
        }
        for (int i = 0; end == FINE && i < size; i++) {
            add_row(out, e->type, scale,
                    (char *)block + (size_t)i * (size_t)graph->n * tw_type_size(e->type), graph->n);
        }
        spent += end == FINE ? took : 0;
    }
    if (out->sources > 0) {
        out->seconds_per_source = spent / (double)out->sources;
        out->unreachable /= (double)out->sources;
    }
    return TW_OK;
}

tw_status twi_search_sample_run(tw_context *ctx, const tw_plan *plan, tw_method method,
                                int64_t sources, double budget, twi_search_sample *out)
{
    engine *e = NULL;
    void *block = NULL;
    memset(out, 0, sizeof *out);
    if (plan->graph->n == 0 || twi_plan_rows(plan) == 0) {
        return TW_OK;
    }
    int64_t size = sources_at_once(method);
    size = twi_plan_rows(plan) < size ? twi_plan_rows(plan) : size;
    tw_status status = engine_create(ctx, &e, plan, method, 1);
    if (status == TW_OK) {
        /* 8 bytes an element: the batch may have to be redone in f64 */
        status = twi_alloc(ctx, &block, (uint64_t)size * (uint64_t)plan->graph->n, 8, "a sample");
    }
    if (status == TW_OK) {
        status = sample_run(e, block, (int)size, sources, budget, out);
    }
    twi_free(block);
    engine_destroy(e);
    return status;
}
