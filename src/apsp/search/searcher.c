/*
 * What a batch of sources goes through. A batch is a patch of near vertices, whose searches want
 * nearly the same order. It goes to the lane search in the narrowest type that has not failed so
 * far, or to one Dijkstra a source when there are too few sources to fill lanes, when lanes scan
 * too much, or when negative floats need two sums. Types widen when a distance does not fit: u16 ->
 * i32 within a batch, i32 -> f64 for the block and all later ones; levels of a breadth-first search
 * u8 -> u16 -> i32. None of these choices can change a result. Floats have one type throughout, and
 * delivery looks for sums that left it.
 *
 * Memory: the net, or the reversed arcs of a directed graph for a breadth-first search, and for
 * each thread that has a source the queues and, where sources fill lanes, 141 or 269 bytes per
 * vertex (or the sets of a breadth-first search).
 */
#include "apsp/search/searcher.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Bytes of a block for each thread, and of all at least: large enough that a thread's batches are
 * full, and that the sources of a block have near ones among them. */
#define THREAD_BYTES ((uint64_t)16 << 20)
#define BLOCK_BYTES ((uint64_t)32 << 20)
#define LANES_PART 4 /* of all lanes must have a source, or each is searched from by itself */

double twi_longest_path(const tw_graph *graph, double max_weight)
{
    return graph->n > 1 ? (double)(graph->n - 1) * max_weight : 0;
}

tw_type twi_search_type(const tw_apsp_plan *plan)
{
    const tw_graph *graph = plan->graph;
    if (!graph->integral) {
        return twi_plan_float_type(plan);
    }
    double longest = twi_longest_path(graph, twi_net_max_weight(graph, plan->potential));
    return longest < TW_APSP_INF_I32 ? TW_I32 : TW_F64;
}

twi_net_kind twi_search_kind(const tw_apsp_plan *plan, tw_type type)
{
    if (!twi_graph_is_exact(plan->graph) && plan->potential != NULL) {
        return TWI_NET_DUAL;
    }
    return type == TW_I32 ? TWI_NET_I32 : type == TW_F32 ? TWI_NET_F32 : TWI_NET_F64;
}

/* Whole weights begin in i32 even where that is not certain to suffice. */
static tw_type first_type(const tw_apsp_plan *plan, tw_apsp_method method)
{
    if (method == TW_APSP_METHOD_BFS) {
        return TW_U8;
    }
    return plan->graph->integral ? TW_I32 : twi_plan_float_type(plan);
}

int64_t twi_searcher_batch(tw_apsp_method method)
{
    return method == TW_APSP_METHOD_BFS ? TWI_BFS_MOST : TWI_LANES_MOST;
}

uint64_t twi_search_shared_memory(const tw_apsp_plan *plan, tw_apsp_method method, tw_type type)
{
    const tw_graph *graph = plan->graph;
    if (method == TW_APSP_METHOD_BFS) {
        return graph->undirected ? 0 : twi_graph_reverse_memory(graph);
    }
    return twi_net_memory(graph, twi_search_kind(plan, type));
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

int twi_searcher_threads(const tw_apsp_plan *plan)
{
    const int64_t rows = twi_plan_rows(plan);
    const int threads = plan->threads < rows ? plan->threads : (int)rows;
    return threads > 1 ? threads : 1;
}

uint64_t twi_searcher_block_bytes(const tw_apsp_plan *plan)
{
    const uint64_t bytes = THREAD_BYTES * (uint64_t)twi_searcher_threads(plan);
    return bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
}

int64_t twi_searcher_block_rows(const tw_apsp_plan *plan, tw_apsp_method method, tw_type type,
                                uint64_t bytes)
{
    uint64_t row = (uint64_t)plan->graph->n * tw_type_size(type);
    int64_t rows = row > 0 ? (int64_t)(bytes / row) : twi_plan_rows(plan);
    int64_t round = twi_searcher_batch(method) * twi_searcher_threads(plan);
    if (rows > round) {
        rows -= rows % round;
    }
    rows = rows < twi_plan_rows(plan) ? rows : twi_plan_rows(plan);
    return rows > 0 ? rows : 1;
}

/* Whether batches of rows of this type can have enough sources for its lanes. */
static bool fills_lanes(const tw_apsp_plan *plan, tw_type type, const twi_lanes_kernel *kernel)
{
    const int64_t threads = twi_searcher_threads(plan);
    const int64_t rows = twi_searcher_block_rows(plan, TW_APSP_METHOD_DIJKSTRA, type,
                                                 twi_searcher_block_bytes(plan));
    return (rows + threads - 1) / threads >= kernel->lanes / LANES_PART;
}

/* In the type that a run begins with, or in the one that it may end with. Lanes of u16 come before
 * those of i32 where weights let them, and batches that are too small for them are too small. */
static bool may_use_lanes(const tw_apsp_plan *plan, const twi_lanes_kernels *kernels)
{
    if (!plan->graph->integral) {
        return twi_plan_float_type(plan) == TW_F32 ? fills_lanes(plan, TW_F32, &kernels->f32)
                                                   : fills_lanes(plan, TW_F64, &kernels->f64);
    }
    return fills_lanes(plan, TW_I32, &kernels->u16) ||
           (fills_lanes(plan, TW_I32, &kernels->i32) &&
            twi_net_max_weight(plan->graph, plan->potential) > TWI_NARROW_WEIGHT) ||
           (twi_search_type(plan) == TW_F64 && fills_lanes(plan, TW_F64, &kernels->f64));
}

uint64_t twi_search_worker_memory(const tw_apsp_plan *plan, tw_apsp_method method)
{
    const tw_graph *graph = plan->graph;
    if (method == TW_APSP_METHOD_BFS) {
        return sizeof(twi_search_worker) + twi_bfs_space_memory(graph->n);
    }
    const twi_lanes_kernels *kernels = kernels_of(plan->isa);
    const bool known = plan->isa != TWI_ISA_NONE; /* else it is found when the run begins */
    const uint64_t line = (known ? (uint64_t)kernels->line_bytes : TWI_LINE_BYTES) +
                          sizeof(int32_t) + 1 + sizeof(double);
    return sizeof(twi_search_worker) +
           (!known || may_use_lanes(plan, kernels) ? (uint64_t)graph->n * line : 0) +
           twi_dijkstra_space_memory(graph->n, graph->arcs,
                                     twi_search_kind(plan, first_type(plan, method)),
                                     twi_net_max_weight(graph, plan->potential));
}

static void worker_clear(twi_search_worker *w)
{
    twi_bfs_space_clear(&w->bfs);
    twi_dijkstra_space_clear(&w->dijkstra);
    twi_free(w->lanes.queued);
    twi_free(w->lanes.key);
    twi_free(w->lanes.next);
    twi_free(w->lanes.line);
}

static tw_status worker_create(twi_searcher *e, twi_search_worker *w)
{
    const char *what = "the lanes of the searches";
    uint64_t n = (uint64_t)e->plan->graph->n;
    tw_status status = TW_OK;
    if (e->method == TW_APSP_METHOD_BFS) {
        return twi_bfs_space_create(e->ctx, &w->bfs, e->plan->graph->n);
    }
    if (may_use_lanes(e->plan, e->kernels) &&
        ((status = twi_alloc(e->ctx, &w->lanes.line, n, (uint64_t)e->kernels->line_bytes, what)) !=
             TW_OK ||
         (status = twi_alloc(e->ctx, &w->lanes.next, n, sizeof(int32_t), what)) != TW_OK ||
         (status = twi_alloc(e->ctx, &w->lanes.queued, n, 1, what)) != TW_OK ||
         (status = twi_alloc(e->ctx, &w->lanes.key, n, sizeof(double), what)) != TW_OK)) {
        return status;
    }
    return twi_dijkstra_space_create(e->ctx, &w->dijkstra, e->net);
}

/* The net for rows of e->type, in place of the one there was. */
static tw_status prepare_net(twi_searcher *e)
{
    const tw_graph *graph = e->plan->graph;
    twi_net_destroy(e->net);
    tw_status status = twi_net_create(e->ctx, &e->net, graph, e->plan->potential,
                                      twi_search_kind(e->plan, e->type));
    if (status != TW_OK) {
        return status;
    }
    double longest = twi_longest_path(graph, e->net->max);
    e->certify_narrow = longest >= TW_APSP_INF_U16 - e->net->max;
    e->certify = e->type == TW_I32 && longest >= TW_APSP_INF_I32;
    atomic_store(&e->narrow, e->net->kind == TWI_NET_I32 && e->net->max <= TWI_NARROW_WEIGHT);
    atomic_store(&e->lanes, e->net->kind != TWI_NET_DUAL && may_use_lanes(e->plan, e->kernels));
    return TW_OK;
}

void twi_searcher_destroy(twi_searcher *e)
{
    if (e == NULL) {
        return;
    }
    if (e->workers != NULL) {
        for (int t = 0; t < e->threads; t++) {
            worker_clear(&e->workers[t]);
        }
    }
    twi_free(e->kept);
    twi_free(e->kept_rows);
    twi_free(e->workers);
    tw_graph_destroy(e->reversed);
    twi_net_destroy(e->net);
    twi_free(e);
}

tw_status twi_searcher_create(tw_context *ctx, twi_searcher **out, const tw_apsp_plan *plan,
                              tw_apsp_method method)
{
    const int threads = twi_searcher_threads(plan);
    *out = NULL;
    twi_searcher *e = NULL;
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
    if (method == TW_APSP_METHOD_DIJKSTRA) {
        status = prepare_net(e);
    } else if (!plan->graph->undirected) {
        status = twi_graph_reverse(ctx, &e->reversed, plan->graph, threads);
    }
    if (status != TW_OK) {
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
    twi_searcher_destroy(e);
    return status;
}

twi_searcher *twi_searcher_take(tw_context *ctx, const tw_apsp_plan *plan)
{
    twi_searcher *e = plan->searcher;
    if (e == NULL || e->method != plan->method || e->threads != twi_searcher_threads(plan) ||
        atomic_exchange(&e->taken, 1) != 0) {
        return NULL;
    }
    e->ctx = ctx;
    e->plan = plan;
    e->patience = 0;
    for (int t = 0; t < e->threads; t++) {
        e->workers[t].scanned = 0;
    }
    return e;
}

void twi_searcher_give_back(twi_searcher *e)
{
    atomic_store(&e->taken, 0);
}

static const twi_lanes_kernel *wide_kernel(const twi_searcher *e)
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

int64_t twi_searcher_pass(const twi_searcher *e)
{
    if (e->method == TW_APSP_METHOD_BFS) {
        return TWI_BFS_MOST;
    }
    return atomic_load(&e->narrow) ? e->kernels->u16.lanes : wide_kernel(e)->lanes;
}

/* How often lanes may scan each arc and still be faster than a Dijkstra for every lane: a scan of
 * an arc takes about 16 ns (Neoverse V1), in a Dijkstra 6 ns with buckets and 14 with a heap. */
static int worth_scanning(const twi_search_worker *w, const twi_lanes_kernel *kernel)
{
    return kernel->lanes * (w->dijkstra.chain != NULL ? 3 : 7) / 8;
}

static twi_lanes_end search_lanes(twi_searcher *e, twi_search_worker *w, const twi_search_batch *b,
                                  int first, int count, const twi_lanes_kernel *kernel)
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
        .deadline = w->deadline,
        .ctx = e->ctx,
    };
    twi_lanes_end end = kernel->search(&job, &w->lanes, &scanned);
    w->scanned += (double)scanned;
    if (end == TWI_LANES_DONE) {
        kernel->give_rows(&job, &w->lanes, b->row + first);
    }
    return end;
}

bool twi_searcher_is_single(const twi_searcher *e)
{
    return e->method == TW_APSP_METHOD_DIJKSTRA && atomic_load(&e->lanes) == 0;
}

/* The row from `source`, if a sample has left it. */
static bool recall(const twi_searcher *e, twi_search_worker *w, int32_t source, void *row)
{
    for (int t = 0; e->kept != NULL && e->kept_type == e->type && t < e->threads; t++) {
        if (e->kept[t].source == source) {
            memcpy(row, e->kept[t].row, (size_t)e->plan->graph->n * tw_type_size(e->type));
            w->scanned += e->kept[t].scanned;
            return true;
        }
    }
    return false;
}

static twi_search_verdict search_singly(twi_searcher *e, twi_search_worker *w,
                                        const twi_search_batch *b, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        int64_t scanned = 0;
        twi_dijkstra_job job = {
            .net = e->net,
            .source = b->source[i],
            .cutoff = e->cutoff,
            .certify = e->certify,
            .ctx = e->ctx,
        };
        if (twi_is_cancelled(e->ctx)) {
            return TWI_SEARCH_CANCELLED;
        }
        if (w->deadline > 0 && twi_thread_seconds() > w->deadline) {
            return TWI_SEARCH_LATE;
        }
        if (recall(e, w, b->source[i], b->row[i])) {
            continue;
        }
        bool fits = twi_dijkstra(&job, &w->dijkstra, b->row[i], &scanned);
        w->scanned += (double)scanned;
        if (!fits) {
            return TWI_SEARCH_WIDEN;
        }
    }
    return TWI_SEARCH_FINE;
}

static twi_search_verdict search_batch(twi_searcher *e, twi_search_worker *w,
                                       const twi_search_batch *b)
{
    int done = 0;
    while (done < b->count) {
        bool narrow = atomic_load(&e->narrow);
        const twi_lanes_kernel *kernel = narrow ? &e->kernels->u16 : wide_kernel(e);
        int left = b->count - done;
        int count = left < kernel->lanes ? left : kernel->lanes;
        if (!atomic_load(&e->lanes) || count < kernel->lanes / LANES_PART) {
            return search_singly(e, w, b, done, left);
        }
        switch (search_lanes(e, w, b, done, count, kernel)) {
        case TWI_LANES_DONE:
            done += count;
            break;
        case TWI_LANES_CAPPED:
            if (!narrow) {
                return TWI_SEARCH_WIDEN;
            }
            atomic_store(&e->narrow, 0);
            break;
        case TWI_LANES_LIMIT:
            atomic_store(&e->lanes, 0);
            break;
        case TWI_LANES_LATE:
            return TWI_SEARCH_LATE;
        case TWI_LANES_CANCELLED:
            return TWI_SEARCH_CANCELLED;
        }
    }
    return TWI_SEARCH_FINE;
}

static twi_search_verdict bfs_batch(twi_searcher *e, twi_search_worker *w,
                                    const twi_search_batch *b)
{
    int64_t scanned = 0;
    twi_bfs_job job = {
        .graph = e->plan->graph,
        .back = e->reversed != NULL ? e->reversed : e->plan->graph,
        .sources = b->source,
        .count = b->count,
        .type = e->type,
        .isa = e->isa,
        .folds = b->folds,
        .level_limit = e->cutoff / e->plan->graph->max_weight + 1,
        .deadline = w->deadline,
        .ctx = e->ctx,
    };
    twi_bfs_end end = twi_bfs(&job, &w->bfs, b->row[0], &scanned);
    w->scanned += (double)scanned;
    static const twi_search_verdict verdicts[] = {
        [TWI_BFS_DONE] = TWI_SEARCH_FINE,
        [TWI_BFS_DEEP] = TWI_SEARCH_WIDEN,
        [TWI_BFS_LATE] = TWI_SEARCH_LATE,
        [TWI_BFS_CANCELLED] = TWI_SEARCH_CANCELLED,
    };
    return verdicts[end];
}

void twi_searcher_run(twi_searcher *e, twi_search_worker *w, const twi_search_batch *b)
{
    if (atomic_load(&e->verdict) != TWI_SEARCH_FINE) {
        return; /* the block will be redone or dropped */
    }
    w->deadline = e->patience > 0 ? twi_thread_seconds() + e->patience : 0;
    twi_search_verdict mine =
        e->method == TW_APSP_METHOD_BFS ? bfs_batch(e, w, b) : search_batch(e, w, b);
    mine = twi_is_cancelled(e->ctx) ? TWI_SEARCH_CANCELLED : mine;
    int worst = atomic_load(&e->verdict);
    while ((int)mine > worst && !atomic_compare_exchange_weak(&e->verdict, &worst, (int)mine)) {
    }
}

tw_status twi_searcher_widen(twi_searcher *e)
{
    switch (e->type) {
    case TW_U8:
        e->type = TW_U16;
        return TW_OK;
    case TW_U16:
        e->type = TW_I32;
        return TW_OK;
    default:
        e->type = TW_F64;
        return prepare_net(e);
    }
}
