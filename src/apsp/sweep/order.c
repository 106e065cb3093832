/*
 * The order of elimination: first what peels off (peel.h), then nested dissection of the rest. A
 * part is cut by a separator (separator.h) whose vertices go last, as one group, after both sides,
 * which are cut in turn; a part of few vertices is a group. Parts are ranges of the list of
 * vertices, each arranged as left side, right side, separator, so the list becomes the order
 * itself.
 *
 * Memory: a copy of the skeleton's lists and some 50 bytes per vertex. Time: O(links log n).
 */
#include "apsp/sweep/order.h"

#include "apsp/sweep/peel.h"
#include "apsp/sweep/separator.h"
#include "base/memory.h"

#include <string.h>

#define LEAF 8 /* vertices of a part that is not cut any more */

typedef struct range {
    int32_t begin;
    int32_t end;
    bool connected;
} range;

typedef struct dissection {
    tw_context *ctx;
    twi_links links;
    twi_separator s;
    int32_t *list;    /* the order as it becomes one */
    uint8_t *begins;  /* begins[i]: list[i] is the first of a group */
    int32_t *scratch; /* n */
    range *todo;
    int64_t todo_count;
    twi_order_limit limit;
    double steps; /* that the groups so far will take */
} dissection;

void twi_order_clear(twi_order *order)
{
    twi_free(order->first);
    twi_free(order->vertex);
    *order = (twi_order){0};
}

static void push(dissection *d, int64_t begin, int64_t end, bool connected)
{
    if (begin < end) {
        d->todo[d->todo_count++] = (range){(int32_t)begin, (int32_t)end, connected};
    }
}

/* A group of so many begins at list[at]. Every source below it is carried up through all of it, and
 * it is closed once. Half of that, since not all sources are below. */
static void add_group(dissection *d, int64_t at, int64_t count)
{
    double size = (double)count;
    d->begins[at] = 1;
    d->steps += size * size * (d->limit.columns + size) / 2;
}

/* Arrange the range by components, and put each of them on the list of what is to do. */
static void split_components(dissection *d, range r)
{
    twi_separator *s = &d->s;
    int64_t count = r.end - r.begin;
    int64_t reached = 0;
    for (int64_t i = r.begin; i < r.end; i++) {
        s->distance[0][d->list[i]] = -1;
    }
    for (int64_t i = r.begin; i < r.end; i++) {
        if (s->distance[0][d->list[i]] < 0) {
            int64_t from = reached;
            reached = twi_separator_reach(s, d->list[i], s->distance[0], from);
            push(d, r.begin + from, r.begin + reached, true);
        }
    }
    memcpy(d->list + r.begin, s->queue, (size_t)count * sizeof *d->list);
}

/* Sides first, what is between them last. */
static void arrange(dissection *d, range r)
{
    const twi_separator *s = &d->s;
    int64_t count = r.end - r.begin;
    int64_t at[3] = {0, s->sizes[TWI_LEFT], s->sizes[TWI_LEFT] + s->sizes[TWI_RIGHT]};
    int64_t between = r.begin + at[TWI_BETWEEN];
    for (int64_t i = r.begin; i < r.end; i++) {
        d->scratch[at[s->side[d->list[i]]]++] = d->list[i];
    }
    memcpy(d->list + r.begin, d->scratch, (size_t)count * sizeof *d->list);
    if (between < r.end) {
        add_group(d, between, r.end - between);
    }
    push(d, r.begin, r.begin + s->sizes[TWI_LEFT], false);
    push(d, r.begin + s->sizes[TWI_LEFT], between, false);
}

static void cut_range(dissection *d, range r)
{
    twi_separator *s = &d->s;
    if (r.end - r.begin <= LEAF) {
        add_group(d, r.begin, r.end - r.begin);
        return;
    }
    s->part++;
    for (int64_t i = r.begin; i < r.end; i++) {
        s->tag[d->list[i]] = s->part;
    }
    if (!r.connected) {
        split_components(d, r);
        return;
    }
    /* A component's list is in the order of a search from its first vertex. */
    memcpy(s->queue, d->list + r.begin, (size_t)(r.end - r.begin) * sizeof *s->queue);
    if (twi_separate(s, d->list + r.begin, r.end - r.begin)) {
        arrange(d, r);
    } else {
        add_group(d, r.begin, r.end - r.begin);
    }
}

static tw_status dissect(dissection *d, int64_t peeled)
{
    tw_status status = TW_OK;
    push(d, peeled, d->links.n, false);
    for (int64_t step = 1; d->todo_count > 0 && status == TW_OK && d->steps <= d->limit.steps;
         step++) {
        cut_range(d, d->todo[--d->todo_count]);
        status = step % 64 == 0 ? twi_check_cancel(d->ctx) : TW_OK;
    }
    return status;
}

/* One block for all arrays of the dissection; every part a multiple of 8 bytes. */
static tw_status allocate(dissection *d, const twi_skeleton *skeleton, void **block)
{
    uint64_t n = (uint64_t)skeleton->n;
    uint64_t links = (uint64_t)skeleton->offsets[n];
    enum { LISTS = 9 }; /* of n numbers, besides the lists of links and the counts */
    uint64_t numbers = LISTS * n + 4 * n + 8 + links;
    tw_status status =
        twi_alloc(d->ctx, block, numbers * sizeof(int32_t) + 3 * n, 1, "the order of elimination");
    if (status == TW_OK) {
        status = twi_alloc(d->ctx, &d->todo, n + 1, sizeof *d->todo, "the order of elimination");
    }
    if (status != TW_OK) {
        return status;
    }
    int32_t *next = *block;
    int32_t **lists[LISTS] = {&d->links.count,   &d->s.tag,         &d->s.distance[0],
                              &d->s.distance[1], &d->s.distance[2], &d->s.queue,
                              &d->scratch,       &d->links.to,      &d->s.counts};
    for (int i = 0; i < LISTS; i++) {
        *lists[i] = next;
        next += i < LISTS - 2 ? n : i == LISTS - 2 ? links : 4 * n + 8;
    }
    d->s.side = (uint8_t *)next;
    d->begins = d->s.side + n;
    d->links.n = skeleton->n;
    d->links.begin = skeleton->offsets;
    for (int64_t v = 0; v < skeleton->n; v++) {
        d->links.count[v] = (int32_t)(skeleton->offsets[v + 1] - skeleton->offsets[v]);
    }
    memcpy(d->links.to, skeleton->targets, links * sizeof *d->links.to);
    memset(d->s.tag, 0, n * sizeof *d->s.tag);
    memset(d->begins, 0, n);
    d->s.links = &d->links;
    return TW_OK;
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
                                 "the order of elimination");
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

tw_status twi_order_create(tw_context *ctx, twi_order *out, const twi_skeleton *skeleton,
                           twi_order_limit limit)
{
    dissection d = {.ctx = ctx, .limit = limit};
    void *block = NULL;
    *out = (twi_order){.n = skeleton->n};
    tw_status status = twi_alloc(ctx, &out->vertex, (uint64_t)skeleton->n, sizeof *out->vertex,
                                 "the order of elimination");
    if (status == TW_OK) {
        status = allocate(&d, skeleton, &block);
    }
    if (status == TW_OK) {
        d.list = out->vertex;
        int64_t peeled = twi_peel(&d.links, d.list, d.s.side, d.s.distance[0], d.s.distance[1],
                                  d.s.distance[2], d.scratch);
        append_rest(d.list, peeled, d.s.side, out->n);
        memset(d.begins, 1, (size_t)peeled);
        status = dissect(&d, peeled);
    }
    bool wide = d.steps > limit.steps;
    if (status == TW_OK && !wide) {
        status = mark_groups(&d, out);
    }
    if (status != TW_OK || wide) {
        twi_order_clear(out);
        out->wide = wide;
    }
    twi_free(d.todo);
    twi_free(block);
    return status;
}
