/*
 * Ladders apsp-sweep and apsp-hops: all distances of sparse graphs on a CPU, where a closure of
 * n^3 relaxations does what few edges do not ask for. Times hold everything from the edges to the
 * matrix.
 *
 * apsp-sweep: a grid of streets, weights 1 ... 1000 both ways.
 *
 *   heap        a search from each source with a binary heap
 *   eliminated  vertices eliminated by fewest neighbours, the paths through each kept as edges
 *               between its neighbours; then two passes over the vertices for each source
 *   lanes       16 sources in one pass: an edge is read once for 16 sums side by side
 *   threads     sixteens of sources over threads
 *   engine      the library: an order by nested dissection, blocks of vertices that share edges
 *
 * apsp-hops: 8 arcs from each vertex to others drawn at random, each of length 1.
 *
 *   queue       a search from each source with a queue
 *   words       64 sources at once, a bit each in a word of every vertex, level by level
 *   reached     only vertices that the last level has reached pass bits on
 *   threads     sixty-fours of sources over threads
 *   engine      the library: as many bits as a vector has, and levels from either end of an arc
 */
#include "ladders/answers.h"
#include "ladders/ladders.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

#define NO_PATH TW_APSP_INF_I32
enum { DEGREE = 8, HEAVIEST = 1000, LANES = 16, BITS = 64 };

typedef struct bench {
    tw_context *ctx;
    int64_t n;
    tw_graph *graph;
    const int64_t *offsets; /* the graph's rows */
    const int32_t *targets, *weights;
    int32_t *right, *output; /* n x n */
} bench;

static inline int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* ---------------------------------------------------------------------------------------- bench */

/* The reference: three loops over the matrix of the arcs. */
static void solve_plainly(bench *b)
{
    const int64_t n = b->n;
    int32_t *d = b->right;
    const int threads = twi_thread_count(b->ctx);
    (void)threads;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            d[i * n + j] = i == j ? 0 : NO_PATH;
        }
        for (int64_t e = b->offsets[i]; e < b->offsets[i + 1]; e++) {
            int32_t *at = &d[i * n + b->targets[e]];
            *at = least(*at, b->weights[e]);
        }
    }
    for (int64_t k = 0; k < n && !twi_is_cancelled(b->ctx); k++) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t i = 0; i < n; i++) {
            const int32_t through = d[i * n + k];
            for (int64_t j = 0; j < n; j++) {
                d[i * n + j] = least(d[i * n + j], through + d[k * n + j]);
            }
        }
    }
}

static void close_bench(void *given)
{
    bench *b = given;
    if (b != NULL) {
        twi_free(b->output);
        twi_free(b->right);
        tw_graph_destroy(b->graph);
        twi_free(b);
    }
}

/* Arcs as three arrays, of which `count` are there. */
typedef struct arcs {
    int32_t *source, *target, *weight;
    int64_t count;
} arcs;

static void add_both_ways(arcs *to, int64_t a, int64_t b, int32_t weight)
{
    for (int way = 0; way < 2; way++) {
        to->source[to->count] = (int32_t)(way == 0 ? a : b);
        to->target[to->count] = (int32_t)(way == 0 ? b : a);
        to->weight[to->count++] = weight;
    }
}

/* Rows as long as columns, the last one as long as n lets it be. */
static void draw_grid(arcs *to, int64_t n, uint64_t seed)
{
    const int64_t side = (int64_t)ceil(sqrt((double)n));
    for (int64_t i = 0; i < n; i++) {
        const uint64_t across = twi_random_at(seed, 2 * (uint64_t)i);
        const uint64_t down = twi_random_at(seed, 2 * (uint64_t)i + 1);
        if (i % side + 1 < side && i + 1 < n) {
            add_both_ways(to, i, i + 1, 1 + (int32_t)twi_random_below(across, HEAVIEST));
        }
        if (i + side < n) {
            add_both_ways(to, i, i + side, 1 + (int32_t)twi_random_below(down, HEAVIEST));
        }
    }
}

static void draw_random(arcs *to, int64_t n, uint64_t seed)
{
    for (int64_t e = 0; e < DEGREE * n; e++) {
        to->source[e] = (int32_t)(e / DEGREE);
        to->target[e] = (int32_t)twi_random_below(twi_random_at(seed, (uint64_t)e), (uint64_t)n);
        to->weight[e] = 1;
    }
    to->count = DEGREE * n;
}

static tw_status make_graph(bench *b, bool grid, uint64_t seed)
{
    const uint64_t most = (uint64_t)b->n * DEGREE;
    arcs drawn = {0};
    const void *weights = NULL;
    tw_status status = twi_alloc(b->ctx, &drawn.source, most, 4, "the arcs");
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &drawn.target, most, 4, "the arcs");
    }
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &drawn.weight, most, 4, "the arcs");
    }
    if (status == TW_OK) {
        (grid ? draw_grid : draw_random)(&drawn, b->n, seed);
        const tw_edges edges = {sizeof edges, drawn.count, drawn.source, drawn.target,
                                drawn.weight, TW_I32,      TW_I32};
        status = tw_graph_from_edges(b->ctx, &b->graph, b->n, &edges, 0);
    }
    if (status == TW_OK) {
        tw_graph_rows(b->graph, &b->offsets, &b->targets, &weights);
        b->weights = weights;
    }
    twi_free(drawn.weight);
    twi_free(drawn.target);
    twi_free(drawn.source);
    return status;
}

static tw_status open_bench(tw_context *ctx, int64_t n, bool grid, uint64_t seed, void **out)
{
    bench *b = NULL;
    const uint64_t cells = (uint64_t)n * (uint64_t)n;
    tw_status status = twi_alloc_zeroed(ctx, &b, 1, sizeof *b, "the bench");
    if (status != TW_OK) {
        return status;
    }
    *out = b;
    b->ctx = ctx;
    b->n = n;
    status = twi_alloc(ctx, &b->right, cells, 4, "the right answer");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &b->output, cells, 4, "the output");
    }
    if (status == TW_OK) {
        status = make_graph(b, grid, seed);
    }
    if (status == TW_OK) {
        solve_plainly(b);
        status = twi_check_cancel(ctx);
    }
    return status;
}

static tw_status open_grid(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    return open_bench(ctx, n, true, seed, out);
}

static tw_status open_random(tw_context *ctx, int64_t n, uint64_t seed, void **out)
{
    return open_bench(ctx, n, false, seed, out);
}

static void spoil(void *given)
{
    bench *b = given;
    lab_poison(b->output, b->n, 4);
}

static tw_status check(tw_context *ctx, void *given, const lab_rung *rung)
{
    const bench *b = given;
    return lab_same_distances(ctx, rung, b->output, b->right, b->n);
}

/* a: the library's method. */
static tw_status run_engine(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    tw_matrix out = {b->output, b->n, b->n, b->n, TW_I32};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = rung->a;
    tw_status status = tw_set_device(b->ctx, "cpu");
    const double begun = twi_seconds();
    if (status == TW_OK) {
        status = tw_apsp(b->ctx, &out, b->graph, &options);
    }
    time->total = twi_seconds() - begun;
    return status;
}

/* -------------------------------------------------------------------------------------- heap */

typedef struct entry {
    int32_t distance, vertex;
} entry;

static void push(entry *heap, int64_t *count, entry new)
{
    int64_t at = (*count)++;
    for (; at > 0 && new.distance < heap[(at - 1) / 2].distance; at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = new;
}

static entry pop(entry *heap, int64_t *count)
{
    const entry top = heap[0], last = heap[--*count];
    int64_t at = 0, child = 1;
    for (; child < *count; at = child, child = 2 * at + 1) {
        child += child + 1 < *count && heap[child + 1].distance < heap[child].distance;
        if (last.distance <= heap[child].distance) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = last;
    return top;
}

/* A vertex may wait more than once: what is not its distance any more is passed over. */
static void search_with_heap(const bench *b, int64_t source, entry *heap)
{
    int32_t *row = b->output + source * b->n;
    int64_t count = 0;
    for (int64_t i = 0; i < b->n; i++) {
        row[i] = NO_PATH;
    }
    row[source] = 0;
    push(heap, &count, (entry){0, (int32_t)source});
    while (count > 0) {
        const entry next = pop(heap, &count);
        const int64_t u = next.vertex;
        for (int64_t e = b->offsets[u]; next.distance == row[u] && e < b->offsets[u + 1]; e++) {
            const int32_t sum = next.distance + b->weights[e];
            if (sum < row[b->targets[e]]) {
                row[b->targets[e]] = sum;
                push(heap, &count, (entry){sum, b->targets[e]});
            }
        }
    }
}

static tw_status run_heap(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    entry *heap = NULL;
    (void)rung;
    tw_status status =
        twi_alloc(b->ctx, &heap, (uint64_t)b->offsets[b->n] + 1, sizeof *heap, "the heap");
    const double begun = twi_seconds();
    for (int64_t s = 0; status == TW_OK && s < b->n && !twi_is_cancelled(b->ctx); s++) {
        search_with_heap(b, s, heap);
    }
    time->total = twi_seconds() - begun;
    twi_free(heap);
    return status;
}

/* ------------------------------------------------------------------------------- elimination */

/* Neighbours of a vertex and the lengths of the edges to them. */
typedef struct links {
    int32_t *to, *length;
    int32_t count, room;
} links;

/* Of every vertex what was linked to it when it was eliminated: vertices that come later. */
typedef struct eliminated {
    links *up;      /* by vertex */
    int32_t *order; /* the vertices as they were eliminated */
} eliminated;

static void free_eliminated(const bench *b, eliminated *all)
{
    for (int64_t v = 0; all->up != NULL && v < b->n; v++) {
        twi_free(all->up[v].to);
        twi_free(all->up[v].length);
    }
    twi_free(all->up);
    twi_free(all->order);
}

static tw_status grow(tw_context *ctx, links *of)
{
    int32_t *to = NULL, *length = NULL;
    const int32_t room = 2 * of->room + 8;
    tw_status status = twi_alloc(ctx, &to, (uint64_t)room, 4, "links");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &length, (uint64_t)room, 4, "links");
    }
    if (status != TW_OK) {
        twi_free(to);
        return status;
    }
    for (int32_t i = 0; i < of->count; i++) {
        to[i] = of->to[i];
        length[i] = of->length[i];
    }
    twi_free(of->to);
    twi_free(of->length);
    of->to = to;
    of->length = length;
    of->room = room;
    return TW_OK;
}

/* One way; the shorter of two is kept. */
static tw_status link_to(tw_context *ctx, links *of, int32_t to, int32_t length)
{
    for (int32_t i = 0; i < of->count; i++) {
        if (of->to[i] == to) {
            of->length[i] = least(of->length[i], length);
            return TW_OK;
        }
    }
    tw_status status = of->count == of->room ? grow(ctx, of) : TW_OK;
    if (status == TW_OK) {
        of->to[of->count] = to;
        of->length[of->count++] = length;
    }
    return status;
}

static void unlink_from(links *of, int32_t to)
{
    for (int32_t i = 0; i < of->count; i++) {
        if (of->to[i] == to) {
            of->to[i] = of->to[--of->count];
            of->length[i] = of->length[of->count];
            return;
        }
    }
}

/* The vertex leaves; every path through it becomes an edge between two of its neighbours. */
static tw_status eliminate_one(tw_context *ctx, links *up, int32_t v)
{
    const links *gone = &up[v];
    tw_status status = TW_OK;
    for (int32_t i = 0; i < gone->count; i++) {
        unlink_from(&up[gone->to[i]], v);
        for (int32_t k = 0; status == TW_OK && k < gone->count; k++) {
            if (k != i) {
                status =
                    link_to(ctx, &up[gone->to[i]], gone->to[k], gone->length[i] + gone->length[k]);
            }
        }
    }
    return status;
}

/* By fewest neighbours, which are few in a grid to the end: 2 sqrt n and not n. */
static tw_status eliminate_all(const bench *b, eliminated *out)
{
    char *done = NULL;
    tw_status status = twi_alloc_zeroed(b->ctx, &out->up, (uint64_t)b->n, sizeof *out->up, "links");
    if (status == TW_OK) {
        status = twi_alloc(b->ctx, &out->order, (uint64_t)b->n, 4, "an order");
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(b->ctx, &done, (uint64_t)b->n, 1, "marks");
    }
    for (int64_t u = 0; status == TW_OK && u < b->n; u++) {
        for (int64_t e = b->offsets[u]; status == TW_OK && e < b->offsets[u + 1]; e++) {
            status = link_to(b->ctx, &out->up[u], b->targets[e], b->weights[e]);
        }
    }
    for (int64_t i = 0; status == TW_OK && i < b->n && !twi_is_cancelled(b->ctx); i++) {
        int32_t next = -1;
        for (int32_t v = 0; v < b->n; v++) {
            if (!done[v] && (next < 0 || out->up[v].count < out->up[next].count)) {
                next = v;
            }
        }
        done[next] = 1;
        out->order[i] = next;
        status = eliminate_one(b->ctx, out->up, next);
    }
    twi_free(done);
    return status;
}

/* A shortest path goes up in the order and then down: two passes over the vertices. */
static void sweep_one(const bench *b, const eliminated *all, int32_t *row)
{
    for (int64_t i = 0; i < b->n; i++) {
        const int32_t v = all->order[i];
        const links *up = &all->up[v];
        for (int32_t e = 0; row[v] < NO_PATH && e < up->count; e++) {
            row[up->to[e]] = least(row[up->to[e]], row[v] + up->length[e]);
        }
    }
    for (int64_t i = b->n - 1; i >= 0; i--) {
        const int32_t v = all->order[i];
        const links *up = &all->up[v];
        for (int32_t e = 0; e < up->count; e++) {
            row[v] = least(row[v], row[up->to[e]] + up->length[e]);
        }
    }
}

static void sweep_each(const bench *b, const eliminated *all)
{
    for (int64_t s = 0; s < b->n && !twi_is_cancelled(b->ctx); s++) {
        int32_t *row = b->output + s * b->n;
        for (int64_t v = 0; v < b->n; v++) {
            row[v] = v == s ? 0 : NO_PATH;
        }
        sweep_one(b, all, row);
    }
}

/* The same for LANES sources: what was a distance is a row of them. */
static void sweep_lanes(const bench *b, const eliminated *all, int64_t first, int32_t (*d)[LANES])
{
    for (int64_t v = 0; v < b->n; v++) {
        for (int l = 0; l < LANES; l++) {
            d[v][l] = v == first + l ? 0 : NO_PATH;
        }
    }
    for (int64_t i = 0; i < b->n; i++) {
        const int32_t v = all->order[i];
        const links *up = &all->up[v];
        for (int32_t e = 0; e < up->count; e++) {
            for (int l = 0; l < LANES; l++) {
                d[up->to[e]][l] = least(d[up->to[e]][l], d[v][l] + up->length[e]);
            }
        }
    }
    for (int64_t i = b->n - 1; i >= 0; i--) {
        const int32_t v = all->order[i];
        const links *up = &all->up[v];
        for (int32_t e = 0; e < up->count; e++) {
            for (int l = 0; l < LANES; l++) {
                d[v][l] = least(d[v][l], d[up->to[e]][l] + up->length[e]);
            }
        }
    }
    for (int l = 0; l < LANES && first + l < b->n; l++) {
        for (int64_t v = 0; v < b->n; v++) {
            b->output[(first + l) * b->n + v] = d[v][l];
        }
    }
}

/* Each thread has n rows of `space`. */
static void sweep_by_lanes(const bench *b, const eliminated *all, int threads, void *space)
{
    const int64_t batches = (b->n + LANES - 1) / LANES;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t batch = 0; batch < batches; batch++) {
        if (!twi_is_cancelled(b->ctx)) {
            int32_t(*d)[LANES] = space;
            sweep_lanes(b, all, batch * LANES, d + twi_thread_id() * b->n);
        }
    }
}

/* a: sources in a pass, b: 1 for all threads. */
static tw_status run_sweep(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const int threads = rung->b != 0 ? twi_thread_count(b->ctx) : 1;
    eliminated all = {0};
    void *space = NULL;
    tw_status status = twi_alloc(b->ctx, &space, (uint64_t)b->n * (uint64_t)threads,
                                 LANES * sizeof(int32_t), "rows of distances");
    const double begun = twi_seconds();
    if (status == TW_OK) {
        status = eliminate_all(b, &all);
    }
    if (status == TW_OK && rung->a == 1) {
        sweep_each(b, &all);
    } else if (status == TW_OK) {
        sweep_by_lanes(b, &all, threads, space);
    }
    time->total = twi_seconds() - begun;
    free_eliminated(b, &all);
    twi_free(space);
    return status;
}

/* -------------------------------------------------------------------------------------- hops */

static tw_status run_queue(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    int32_t *queue = NULL;
    (void)rung;
    tw_status status = twi_alloc(b->ctx, &queue, (uint64_t)b->n, 4, "the queue");
    const double begun = twi_seconds();
    for (int64_t s = 0; status == TW_OK && s < b->n && !twi_is_cancelled(b->ctx); s++) {
        int32_t *row = b->output + s * b->n;
        int64_t first = 0, end = 1;
        for (int64_t v = 0; v < b->n; v++) {
            row[v] = NO_PATH;
        }
        row[s] = 0;
        queue[0] = (int32_t)s;
        for (; first < end; first++) {
            const int64_t u = queue[first];
            for (int64_t e = b->offsets[u]; e < b->offsets[u + 1]; e++) {
                if (row[b->targets[e]] == NO_PATH) {
                    row[b->targets[e]] = row[u] + 1;
                    queue[end++] = b->targets[e];
                }
            }
        }
    }
    time->total = twi_seconds() - begun;
    twi_free(queue);
    return status;
}

/* Of every vertex: the sources that reached it before, in the last level, and in this one. */
typedef struct word {
    uint64_t seen, last, next;
} word;

/* A level: what the last one reached passes its bits on. `reached`: vertices without any are
 * passed over. Returns whether a bit is new. */
static bool pass_on(const bench *b, word *words, bool reached)
{
    bool any = false;
    for (int64_t u = 0; u < b->n; u++) {
        const uint64_t bits = words[u].last;
        for (int64_t e = b->offsets[u]; (bits != 0 || !reached) && e < b->offsets[u + 1]; e++) {
            words[b->targets[e]].next |= bits;
        }
    }
    for (int64_t v = 0; v < b->n; v++) {
        words[v].last = words[v].next & ~words[v].seen;
        words[v].seen |= words[v].last;
        words[v].next = 0;
        any = any || words[v].last != 0;
    }
    return any;
}

static void search_words(const bench *b, int64_t first, bool reached, word *words)
{
    const int64_t count = b->n - first < BITS ? b->n - first : BITS;
    memset(words, 0, (size_t)b->n * sizeof *words);
    for (int64_t s = 0; s < count; s++) {
        int32_t *row = b->output + (first + s) * b->n;
        for (int64_t v = 0; v < b->n; v++) {
            row[v] = NO_PATH;
        }
        words[first + s].last = words[first + s].seen = (uint64_t)1 << s;
    }
    int32_t level = 0;
    do {
        for (int64_t v = 0; v < b->n; v++) {
            for (uint64_t bits = words[v].last; bits != 0; bits &= bits - 1) {
                b->output[(first + __builtin_ctzll(bits)) * b->n + v] = level;
            }
        }
        level++;
    } while (pass_on(b, words, reached));
}

/* a: 1 where vertices that nothing has reached are passed over; b: 1 for all threads. */
static tw_status run_words(void *given, const lab_rung *rung, lab_time *time)
{
    bench *b = given;
    const int threads = rung->b != 0 ? twi_thread_count(b->ctx) : 1;
    const int64_t batches = (b->n + BITS - 1) / BITS;
    word *words = NULL;
    tw_status status = twi_alloc(b->ctx, &words, (uint64_t)b->n * (uint64_t)threads, sizeof *words,
                                 "words of vertices");
    const double begun = twi_seconds();
    if (status == TW_OK) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t batch = 0; batch < batches; batch++) {
            if (!twi_is_cancelled(b->ctx)) {
                search_words(b, batch * BITS, rung->a != 0, words + twi_thread_id() * b->n);
            }
        }
    }
    time->total = twi_seconds() - begun;
    twi_free(words);
    return status;
}

/* -------------------------------------------------------------------------------------- ladders */

#define IN_ELIMINATION "apsp/sparse.c link_to unlink_from eliminate_one eliminate_all "

static const lab_rung sweep_rungs[] = {
    {.name = "heap",
     .idea = "a search from each source with a binary heap",
     .source = "apsp/sparse.c push pop search_with_heap run_heap",
     .run = run_heap},
    {.name = "eliminated",
     .parent = "heap",
     .idea = "vertices eliminated by fewest neighbours; then two passes for each source",
     .source = IN_ELIMINATION "sweep_one sweep_each run_sweep",
     .run = run_sweep,
     .a = 1},
    {.name = "lanes",
     .parent = "eliminated",
     .idea = "16 sources in a pass: an edge is read once for 16 sums side by side",
     .source = IN_ELIMINATION "sweep_lanes sweep_by_lanes run_sweep",
     .run = run_sweep,
     .a = LANES},
    {.name = "threads",
     .parent = "lanes",
     .idea = "sixteens of sources over threads; the elimination stays one thread's",
     .source = IN_ELIMINATION "sweep_lanes sweep_by_lanes run_sweep",
     .run = run_sweep,
     .a = LANES,
     .b = 1},
    {.name = "engine",
     .parent = "threads",
     .idea = "nested dissection, blocks of vertices that share their edges: the library",
     .source = "apsp/sparse.c run_engine",
     .run = run_engine,
     .a = TW_APSP_METHOD_SWEEP},
};

static const lab_rung hop_rungs[] = {
    {.name = "queue",
     .idea = "a search from each source with a queue",
     .source = "apsp/sparse.c run_queue",
     .run = run_queue},
    {.name = "words",
     .parent = "queue",
     .idea = "64 sources at once: a bit for each in a word of every vertex, level by level",
     .source = "apsp/sparse.c pass_on search_words run_words",
     .run = run_words},
    {.name = "reached",
     .parent = "words",
     .idea = "only vertices that the last level has reached pass bits on",
     .source = "apsp/sparse.c pass_on search_words run_words",
     .run = run_words,
     .a = 1},
    {.name = "threads",
     .parent = "reached",
     .idea = "sixty-fours of sources over threads",
     .source = "apsp/sparse.c pass_on search_words run_words",
     .run = run_words,
     .a = 1,
     .b = 1},
    {.name = "engine",
     .parent = "threads",
     .idea = "more bits at a time, levels from the end with fewer arcs: the library",
     .source = "apsp/sparse.c run_engine",
     .run = run_engine,
     .a = TW_APSP_METHOD_BFS},
};

static const int64_t default_sizes[] = {500, 1000, 2000, 0};

#define BENCH                                                                                \
    .unit = "distances", .size = "vertices", .sizes = default_sizes, .spoil = spoil,         \
    .check = check, .close = close_bench, .work = lab_elements, .traffic = lab_matrix_bytes, \
    .ceiling = lab_matrix_copy_ceiling, .against = "three plain loops, every distance"

const lab_ladder lab_apsp_sweep = {
    .name = "apsp-sweep",
    .title = "All distances of a grid of streets on a CPU: searches, or elimination and sweeps",
    .rungs = sweep_rungs,
    .count = LAB_COUNT(sweep_rungs),
    .open = open_grid,
    BENCH,
};

const lab_ladder lab_apsp_hops = {
    .name = "apsp-hops",
    .title = "All hop distances of a random graph on a CPU, 8 arcs per vertex",
    .rungs = hop_rungs,
    .count = LAB_COUNT(hop_rungs),
    .open = open_random,
    BENCH,
};
