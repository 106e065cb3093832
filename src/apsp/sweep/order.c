/*
 * The order of elimination: first what peels off (peel.h), then the rest by minimum degree
 * (degree.h) or by nested dissection. A part is cut by a separator (separator.h) whose vertices go
 * last, as one group, after both sides, which are cut in turn; a part of few vertices goes by
 * minimum degree. Parts are ranges of the list of vertices, each arranged as left side, right side,
 * separator, so the list becomes the order itself. The two sides know nothing of each other: large
 * ones are tasks of a team. A task works in its own range of every array, by vertex or by place in
 * the list, so no result depends on threads.
 *
 * Memory: a copy of the skeleton's lists and some 50 bytes per vertex; by degree, twice that. Time:
 * O(links log n) for a dissection, about O(links) by degree.
 */
#include "apsp/sweep/order.h"

#include "apsp/sweep/degree.h"
#include "apsp/sweep/peel.h"
#include "apsp/sweep/separator.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

#define LEAF 2000   /* vertices of a part that is not cut any more */
#define TASK 2048   /* of one that is worth a task */
#define SHRUNK 0.85 /*   if it is less than this of what it is a part of */
#define WAITING 256 /* parts that wait within one */

typedef struct range {
    int32_t begin;
    int32_t end;
    bool connected;
} range;

typedef struct dissection {
    tw_context *ctx;
    twi_links links;
    twi_separator s;  /* of the whole; a task's has the beginning of its own queue and counts */
    int32_t *list;    /* the order as it becomes one */
    uint8_t *begins;  /* begins[i]: list[i] is the first of a group */
    int32_t *scratch; /* n */
    atomic_int parts; /* so far: their numbers */
    atomic_bool stop; /* cancelled, given up, or without memory: */
    atomic_int status;
    int64_t leaf; /* vertices of a part that is not cut any more */
    twi_order_limit limit;
    double steps; /* that the groups so far will take */
} dissection;

/* What one task has yet to do. */
typedef struct agenda {
    range waiting[WAITING];
    int64_t count;
} agenda;

const char *twi_order_maker(int32_t maker)
{
    static const char *const names[TWI_ORDER_MAKERS] = {"built-in nested dissection", "METIS",
                                                        "minimum degree"};
    return names[maker];
}

void twi_order_clear(twi_order *order)
{
    twi_free(order->first);
    twi_free(order->vertex);
    *order = (twi_order){0};
}

static void dissect_range(dissection *d, range r);

/* A part of `whole` to be done. Only one that is clearly smaller becomes a task, and where nothing
 * more can wait the smaller of two goes first: calls are nested O(log n) deep. */
static void push(dissection *d, agenda *todo, range whole, range r)
{
    const int32_t size = r.end - r.begin;
    if (size <= 0) {
        return;
    }
    if (size >= TASK && size < SHRUNK * (whole.end - whole.begin)) {
#pragma omp task firstprivate(d, r)
        dissect_range(d, r);
        return;
    }
    if (todo->count == WAITING) {
        const range last = todo->waiting[--todo->count];
        const bool smaller = size < last.end - last.begin;
        dissect_range(d, smaller ? r : last);
        r = smaller ? last : r;
    }
    todo->waiting[todo->count++] = r;
}

static void add_steps(dissection *d, double more)
{
    double steps = 0;
#pragma omp atomic capture
    steps = d->steps += more;
    if (steps > d->limit.steps || !isfinite(more)) {
        atomic_store_explicit(&d->stop, true, memory_order_relaxed);
    }
}

/* A group of so many begins at list[at]. Every source below it is carried up through all of it, and
 * it is closed once. Half of that, since not all sources are below. */
static void add_group(dissection *d, int64_t at, int64_t count)
{
    double size = (double)count;
    d->begins[at] = 1;
    add_steps(d, size * size * (d->limit.columns + size) / 2);
}

/* Arrange the range by components, and put each of them on the list of what is to do. */
static void split_components(dissection *d, const twi_separator *s, agenda *todo, range r)
{
    int64_t count = r.end - r.begin;
    int64_t reached = 0;
    for (int64_t i = r.begin; i < r.end; i++) {
        s->distance[0][d->list[i]] = -1;
    }
    for (int64_t i = r.begin; i < r.end; i++) {
        if (s->distance[0][d->list[i]] < 0) {
            reached = twi_separator_reach(s, d->list[i], s->distance[0], reached);
        }
    }
    memcpy(d->list + r.begin, s->queue, (size_t)count * sizeof *d->list);
    for (int64_t from = r.begin, i = from + 1; i <= r.end; i++) {
        if (i == r.end || s->distance[0][d->list[i]] == 0) { /* where a search began */
            push(d, todo, r, (range){(int32_t)from, (int32_t)i, true});
            from = i;
        }
    }
}

/* Sides first, what is between them last. */
static void arrange(dissection *d, const twi_separator *s, agenda *todo, range r)
{
    int64_t count = r.end - r.begin;
    int64_t at[3] = {0, s->sizes[TWI_LEFT], s->sizes[TWI_LEFT] + s->sizes[TWI_RIGHT]};
    int64_t between = r.begin + at[TWI_BETWEEN];
    int32_t *scratch = d->scratch + r.begin;
    for (int64_t i = r.begin; i < r.end; i++) {
        scratch[at[s->side[d->list[i]]]++] = d->list[i];
    }
    memcpy(d->list + r.begin, scratch, (size_t)count * sizeof *d->list);
    if (between < r.end) {
        add_group(d, between, r.end - between);
    }
    const int32_t middle = r.begin + (int32_t)s->sizes[TWI_LEFT];
    push(d, todo, r, (range){r.begin, middle, false});
    push(d, todo, r, (range){middle, (int32_t)between, false});
}

/* The range, whose vertices have the tag, by minimum degree. */
static void order_by_degree(dissection *d, const twi_separator *s, range r)
{
    const twi_part part = {.links = &d->links,
                           .list = d->list + r.begin,
                           .count = r.end - r.begin,
                           .tag = s->tag,
                           .part = s->part,
                           .number = s->distance[0],
                           .begins = d->begins + r.begin};
    double steps = d->limit.steps;
    const tw_status status = twi_minimum_degree(d->ctx, &part, d->limit.columns, &steps);
    if (status != TW_OK) {
        atomic_store(&d->status, (int)status);
        steps = (double)INFINITY;
    }
    add_steps(d, steps);
}

static void cut_range(dissection *d, agenda *todo, range r)
{
    twi_separator s = d->s;
    s.part = atomic_fetch_add_explicit(&d->parts, 1, memory_order_relaxed) + 1;
    s.queue += r.begin;
    s.counts += (int64_t)TWI_SEPARATOR_COUNTS * r.begin;
    for (int64_t i = r.begin; i < r.end; i++) {
        s.tag[d->list[i]] = s.part;
    }
    if (r.end - r.begin <= d->leaf) {
        order_by_degree(d, &s, r);
        return;
    }
    if (!r.connected) {
        split_components(d, &s, todo, r);
        return;
    }
    /* A component's list is in the order of a search from its first vertex. */
    memcpy(s.queue, d->list + r.begin, (size_t)(r.end - r.begin) * sizeof *s.queue);
    if (twi_separate(&s, d->list + r.begin, r.end - r.begin)) {
        arrange(d, &s, todo, r);
    } else {
        add_group(d, r.begin, r.end - r.begin);
    }
}

static void dissect_range(dissection *d, range r)
{
    agenda todo = {.count = 1};
    todo.waiting[0] = r;
    while (todo.count > 0 && !atomic_load_explicit(&d->stop, memory_order_relaxed)) {
        cut_range(d, &todo, todo.waiting[--todo.count]);
        if (twi_is_cancelled(d->ctx)) {
            atomic_store_explicit(&d->stop, true, memory_order_relaxed);
        }
    }
}

static tw_status dissect(dissection *d, int64_t peeled)
{
    const range all = {(int32_t)peeled, (int32_t)d->links.n, false};
    if (peeled < d->links.n) {
#pragma omp parallel num_threads(twi_thread_count(d->ctx)) if (d->links.n - peeled >= 2 * TASK)
#pragma omp single
        dissect_range(d, all);
    }
    const tw_status status = (tw_status)atomic_load(&d->status);
    return status == TW_OK ? twi_check_cancel(d->ctx) : status;
}

enum { LISTS = 9 }; /* of n numbers, besides the lists of links and the counts */

/* Bytes of all arrays of the dissection. */
static uint64_t dissection_bytes(uint64_t n, uint64_t links)
{
    return (LISTS * n + TWI_SEPARATOR_COUNTS * n + links) * sizeof(int32_t) + 3 * n;
}

uint64_t twi_order_create_memory(int64_t n, int64_t links, int32_t maker, int threads)
{
    const int64_t leaf = n < LEAF ? n : LEAF, within = links / (n > 0 ? n : 1) * leaf;
    const uint64_t parts = maker == TWI_ORDER_DEGREE
                               ? twi_minimum_degree_memory(n, links, 0)
                               : (uint64_t)threads * twi_minimum_degree_memory(leaf, within, leaf);
    return (uint64_t)n * sizeof(int32_t) + dissection_bytes((uint64_t)n, (uint64_t)links) + parts;
}

/* One block for all arrays of the dissection; every part a multiple of 8 bytes. */
static tw_status allocate(dissection *d, const twi_skeleton *skeleton, void **block)
{
    uint64_t n = (uint64_t)skeleton->n;
    uint64_t links = (uint64_t)skeleton->offsets[n];
    tw_status status =
        twi_alloc(d->ctx, block, dissection_bytes(n, links), 1, "the elimination order");
    if (status != TW_OK) {
        return status;
    }
    int32_t *next = *block;
    int32_t **lists[LISTS] = {&d->links.count,   &d->s.tag,         &d->s.distance[0],
                              &d->s.distance[1], &d->s.distance[2], &d->s.queue,
                              &d->scratch,       &d->links.to,      &d->s.counts};
    for (int i = 0; i < LISTS; i++) {
        *lists[i] = next;
        next += i < LISTS - 2 ? n : i == LISTS - 2 ? links : TWI_SEPARATOR_COUNTS * n;
    }
    d->s.side = (uint8_t *)next;
    d->begins = d->s.side + n;
    d->links.n = skeleton->n;
    d->links.begin = skeleton->offsets;
    int64_t left = 0;
    for (int64_t v = 0; v < skeleton->n; v++) {
        const int64_t begin = skeleton->offsets[v], count = skeleton->offsets[v + 1] - begin;
        if (twi_is_stopped(d->ctx, &left, count)) {
            break;
        }
        d->links.count[v] = (int32_t)count;
        memcpy(d->links.to + begin, skeleton->targets + begin, (size_t)count * sizeof(int32_t));
    }
    memset(d->s.tag, 0, n * sizeof *d->s.tag);
    memset(d->begins, 0, n);
    d->s.ctx = d->ctx;
    d->s.links = &d->links;
    return twi_check_cancel(d->ctx);
}

/* Vertices that did not go, after those that did. */
static void append_rest(int32_t *list, int64_t peeled, const uint8_t *gone, int64_t n)
{
    for (int32_t v = 0; v < n; v++) {
        if (!gone[v]) {
            list[peeled++] = v;
        }
    }
}

static tw_status mark_groups(dissection *d, twi_order *out)
{
    int64_t groups = 0;
    for (int64_t i = 0; i < out->n; i++) {
        groups += d->begins[i];
    }
    tw_status status = twi_alloc(d->ctx, &out->first, (uint64_t)groups + 1, sizeof *out->first,
                                 "the elimination order");
    if (status != TW_OK) {
        return status;
    }
    for (int64_t i = 0; i < out->n; i++) {
        if (d->begins[i]) {
            out->first[out->groups++] = (int32_t)i;
        }
    }
    out->first[groups] = (int32_t)out->n;
    return TW_OK;
}

bool twi_order_can_be_cut(const twi_skeleton *skeleton)
{
    return skeleton->n > LEAF;
}

tw_status twi_order_create(tw_context *ctx, twi_order *out, const twi_skeleton *skeleton,
                           int32_t maker, twi_order_limit limit)
{
    dissection d = {.ctx = ctx, .limit = limit};
    d.leaf = maker == TWI_ORDER_DEGREE ? skeleton->n : limit.leaf > 0 ? limit.leaf : LEAF;
    atomic_init(&d.parts, 0);
    atomic_init(&d.stop, false);
    atomic_init(&d.status, (int)TW_OK);
    void *block = NULL;
    *out = (twi_order){.n = skeleton->n, .maker = maker};
    tw_status status = twi_alloc(ctx, &out->vertex, (uint64_t)skeleton->n, sizeof *out->vertex,
                                 "the elimination order");
    if (status == TW_OK) {
        status = allocate(&d, skeleton, &block);
    }
    if (status == TW_OK) {
        d.list = out->vertex;
        int64_t peeled = twi_peel(ctx, &d.links, d.list, d.s.side, d.s.distance[0], d.s.distance[1],
                                  d.s.distance[2], d.scratch);
        status = twi_check_cancel(ctx);
        if (status == TW_OK) {
            append_rest(d.list, peeled, d.s.side, out->n);
            memset(d.begins, 1, (size_t)peeled);
            status = dissect(&d, peeled);
        }
    }
    bool wide = d.steps > limit.steps || !isfinite(d.steps);
    if (status == TW_OK && !wide) {
        status = mark_groups(&d, out);
    }
    if (status != TW_OK || wide) {
        twi_order_clear(out);
        out->wide = wide;
    }
    twi_free(block);
    return status;
}
