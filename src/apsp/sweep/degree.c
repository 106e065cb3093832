/*
 * Minimum degree: see degree.h. What an eliminated vertex joins is not written out as links between
 * all of it but kept as one list, an element; an element that another one's neighbours include is
 * absorbed by that. A vertex has a list of elements and one of plain links that no element implies.
 * So no list ever needs more room than the graph had. Vertices that have the same lists are one
 * from then on, and go together. Degrees are bounds from above: the sizes of the elements around,
 * each less what it has in common with the latest (Amestoy, Davis and Duff, 1996). Some of those
 * that have the same few links from the beginning are one, too: else every leaf of a hub that goes
 * would take a look at all others.
 *
 * Memory: some 70 bytes per vertex and 5 per link of the list. Time: in practice O(links) for
 * graphs that fill in little.
 */
#include "apsp/sweep/degree.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE (-1)
#define TWIN_LINKS 16 /* at most, of vertices that are one from the beginning, */
#define TWINS 16      /*   which are so many at most: they make one front */

/* Numbers of this file: those of the list first, then their other neighbours, which stay. */
typedef struct quotient {
    tw_context *ctx;
    int32_t n;
    int32_t leaving; /* the first so many go */
    int32_t *space;  /* all lists; */
    int64_t used;
    int64_t room;
    int64_t *begin;  /* a vertex: elements, then links. An element: vertices */
    int32_t *length; /* of the list */
    int32_t *joined; /* a vertex: elements in it; NONE: it is an element, or absorbed */
    int32_t *weight; /* vertices that it stands for; 0: gone; negative: in the latest element */
    int32_t *degree; /* bound of a vertex; weight of an element's list */
    int64_t *seen;   /* an element: mark + weight of it outside the latest; 0: absorbed */
    int64_t mark;
    int32_t *first;  /* of each degree: list of vertices */
    int32_t *next;   /*   and what comes after and */
    int32_t *last;   /*   before one in it */
    int32_t *bucket; /* by hash: vertices of the latest element, */
    int32_t *beside; /*   each with the next of the same, */
    int32_t *hash;   /*   and the hash of each */
    int32_t *member; /* what goes with a vertex: the next in its list, */
    int32_t *end;    /*   and the last of it */
    int32_t lowest;  /* degree that may have a vertex */
    int64_t left;    /* steps until the next look at the cancel flag */
} quotient;

static bool leaves(const quotient *q, int32_t v)
{
    return v < q->leaving;
}

static void enlist(quotient *q, int32_t v)
{
    const int32_t d = q->degree[v];
    q->last[v] = NONE;
    q->next[v] = q->first[d];
    if (q->first[d] != NONE) {
        q->last[q->first[d]] = v;
    }
    q->first[d] = v;
    q->lowest = d < q->lowest ? d : q->lowest;
}

static void delist(quotient *q, int32_t v)
{
    if (q->last[v] != NONE) {
        q->next[q->last[v]] = q->next[v];
    } else {
        q->first[q->degree[v]] = q->next[v];
    }
    if (q->next[v] != NONE) {
        q->last[q->next[v]] = q->last[v];
    }
}

/* v goes with `with` from now on. */
static void join(quotient *q, int32_t v, int32_t with)
{
    q->member[q->end[with]] = v;
    q->end[with] = q->end[v];
    q->weight[v] = 0;
    q->joined[v] = NONE;
    q->length[v] = 0;
}

/* Move all lists to the beginning of the space. The first entry of each marks whose it is. */
static void compact(quotient *q)
{
    int64_t to = 0;
    for (int32_t v = 0; v < q->n; v++) {
        if (q->length[v] > 0) {
            const int32_t entry = q->space[q->begin[v]];
            q->space[q->begin[v]] = -v - 1;
            q->begin[v] = entry;
        }
    }
    for (int64_t at = 0; at < q->used;) {
        const int32_t v = -q->space[at] - 1;
        if (v < 0) {
            at++;
            continue;
        }
        q->space[to] = (int32_t)q->begin[v];
        q->begin[v] = to++;
        for (int32_t i = 1; i < q->length[v]; i++) {
            q->space[to++] = q->space[at + i];
        }
        at += q->length[v];
    }
    q->used = to;
}

/* What `from` lists and is not yet in the element `p` goes there. */
static void gather(quotient *q, int32_t p, int64_t from, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t v = q->space[from + i];
        if (q->weight[v] > 0) {
            if (leaves(q, v)) {
                delist(q, v);
            }
            q->degree[p] += q->weight[v];
            q->weight[v] = -q->weight[v];
            q->space[q->used++] = v;
        }
    }
}

/* The pivot p becomes an element at the end of the space, and absorbs those around it. */
static void make_element(quotient *q, int32_t p)
{
    const int32_t elements = q->joined[p];
    int64_t most = q->length[p] - elements;
    for (int32_t i = 0; i < elements; i++) {
        most += q->length[q->space[q->begin[p] + i]];
    }
    most = most < q->n ? most : q->n;
    if (q->used + most > q->room) {
        compact(q);
    }
    const int64_t old = q->begin[p];
    const int64_t begin = q->used;
    const int32_t size = q->weight[p];
    q->weight[p] = -size;
    q->degree[p] = 0;
    for (int32_t i = 0; i < elements; i++) {
        const int32_t e = q->space[old + i];
        gather(q, p, q->begin[e], q->length[e]);
        q->length[e] = 0;
        q->seen[e] = 0;
    }
    gather(q, p, old + elements, q->length[p] - elements);
    q->begin[p] = begin;
    q->length[p] = (int32_t)(q->used - begin);
    q->joined[p] = NONE;
    q->weight[p] = size;
}

/* Of every other element around the latest: what it has outside that. */
static void subtract_common(quotient *q, int32_t p)
{
    for (int32_t i = 0; i < q->length[p]; i++) {
        const int32_t v = q->space[q->begin[p] + i];
        const int32_t size = -q->weight[v];
        for (int32_t j = 0; j < q->joined[v]; j++) {
            const int32_t e = q->space[q->begin[v] + j];
            if (q->seen[e] >= q->mark) {
                q->seen[e] -= size;
            } else if (q->seen[e] != 0) {
                q->seen[e] = q->mark + q->degree[e] - size;
            }
        }
    }
}

/* The lists of v without what the latest element p covers, and p before them. Its degree but for
 * what is in p; 0 if there is nothing else. */
static int32_t renew_lists(quotient *q, int32_t v, int32_t p)
{
    int32_t *list = q->space + q->begin[v];
    int32_t kept = 0;
    int64_t outside = 0;
    uint32_t hash = (uint32_t)p;
    for (int32_t j = 0; j < q->joined[v]; j++) {
        const int32_t e = list[j];
        if (q->seen[e] != 0) {
            const int64_t more = q->seen[e] - q->mark;
            if (more > 0) {
                outside += more;
                list[kept++] = e;
                hash += (uint32_t)e;
            } else { /* all of it is in p */
                q->seen[e] = 0;
                q->length[e] = 0;
            }
        }
    }
    const int32_t elements = kept;
    for (int32_t j = q->joined[v]; j < q->length[v]; j++) {
        const int32_t u = list[j];
        if (q->weight[u] > 0 && u != p) {
            outside += q->weight[u];
            list[kept++] = u;
            hash += (uint32_t)u;
        }
    }
    /* There is room for p: it, or an element that it absorbed, was in the list. */
    list[kept] = list[elements];
    list[elements] = list[0];
    list[0] = p;
    q->joined[v] = elements + 1;
    q->length[v] = kept + 1;
    q->hash[v] = (int32_t)(hash % (uint32_t)q->n);
    return (int32_t)(outside < q->n ? outside : q->n);
}

/* Have v and u the same lists? Entries of v's are marked. */
static bool same_lists(const quotient *q, int32_t v, int32_t u, const int64_t *marked, int64_t mark)
{
    if (q->length[v] != q->length[u] || q->joined[v] != q->joined[u] ||
        leaves(q, v) != leaves(q, u)) {
        return false;
    }
    for (int32_t j = 1; j < q->length[u]; j++) {
        if (marked[q->space[q->begin[u] + j]] != mark) {
            return false;
        }
    }
    return true;
}

/* Vertices of the element p that have the same lists become one. */
static void merge_alike(quotient *q, int32_t p)
{
    for (int32_t i = 0; i < q->length[p]; i++) {
        const int32_t any = q->space[q->begin[p] + i];
        if (q->weight[any] == 0) {
            continue;
        }
        int32_t v = q->bucket[q->hash[any]];
        q->bucket[q->hash[any]] = NONE;
        for (; v != NONE; v = q->beside[v]) {
            if (q->beside[v] == NONE) {
                break;
            }
            const int64_t mark = ++q->mark;
            for (int32_t j = 1; j < q->length[v]; j++) {
                q->seen[q->space[q->begin[v] + j]] = mark;
            }
            for (int32_t before = v, u = q->beside[v]; u != NONE; u = q->beside[u]) {
                if (twi_is_stopped(q->ctx, &q->left, q->length[u])) {
                    return;
                }
                if (same_lists(q, v, u, q->seen, mark)) {
                    q->weight[v] += q->weight[u];
                    join(q, u, v);
                    q->beside[before] = q->beside[u];
                } else {
                    before = u;
                }
            }
        }
    }
    q->mark++;
}

/* One pivot; returns how many vertices went with it, itself counted; 0 if cancelled, when the lists
 * are no longer whole. `left` is how many there were before. */
static int32_t eliminate(quotient *q, int32_t p, int64_t left)
{
    delist(q, p);
    make_element(q, p);
    subtract_common(q, p);
    for (int32_t i = 0; i < q->length[p]; i++) {
        const int32_t v = q->space[q->begin[p] + i];
        const int32_t size = -q->weight[v];
        if (twi_is_stopped(q->ctx, &q->left, q->length[v])) {
            return 0;
        }
        const int32_t outside = renew_lists(q, v, p);
        if (outside == 0 && leaves(q, v)) { /* it has no neighbours but those of p */
            q->degree[p] -= size;
            q->weight[p] += size;
            join(q, v, p);
            continue;
        }
        q->degree[v] = outside < q->degree[v] ? outside : q->degree[v];
        q->beside[v] = q->bucket[q->hash[v]];
        q->bucket[q->hash[v]] = v;
    }
    q->mark += q->n + 1;
    merge_alike(q, p);
    if (twi_is_cancelled(q->ctx)) {
        return 0;
    }
    left -= q->weight[p];
    int32_t kept = 0;
    for (int32_t i = 0; i < q->length[p]; i++) {
        const int32_t v = q->space[q->begin[p] + i];
        const int32_t size = -q->weight[v];
        if (size > 0) {
            int64_t degree = (int64_t)q->degree[v] + q->degree[p] - size;
            degree = degree < left - size ? degree : left - size;
            q->degree[v] = (int32_t)(degree > 0 ? degree : 0);
            q->weight[v] = size;
            q->space[q->begin[p] + kept++] = v;
            if (leaves(q, v)) {
                enlist(q, v);
            }
        }
    }
    q->length[p] = kept;
    q->used = q->begin[p] + kept; /* it is the last list */
    q->seen[p] = kept > 0 ? 1 : 0;
    return q->weight[p];
}

static int32_t least(quotient *q)
{
    while (q->first[q->lowest] == NONE) {
        q->lowest++;
    }
    return q->first[q->lowest];
}

/* Pivots into `pivot`, until all have gone or the steps are too many; how many there are. Where all
 * have d neighbours some front will have d + 1 rows, each eliminated by itself. */
static int32_t eliminate_all(quotient *q, int32_t *pivot, double columns, double *steps)
{
    const double most = *steps;
    int32_t pivots = 0;
    int64_t gone = 0;
    *steps = 0;
    for (; gone < q->leaving; pivots++) {
        const int32_t p = least(q);
        const double few = q->degree[p];
        if (*steps + few * few * (columns / 2 + few / 3) > most) {
            break;
        }
        const double size = eliminate(q, p, q->n - gone);
        if (size == 0) {
            break;
        }
        const double high = q->degree[p];
        pivot[pivots] = p;
        gone += (int64_t)size;
        *steps += columns * size * high + size * (size + high) * (size + high);
        if (*steps > most) {
            break;
        }
    }
    *steps = gone < q->leaving ? (double)INFINITY : *steps;
    return gone < q->leaving ? 0 : pivots;
}

/* ---------------------------------------------------------------------------------- the lists */

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a;
    const int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Links of the part, and how many of them lead out of it; fewer if cancelled. */
static int64_t count_links(tw_context *ctx, const twi_part *part, int64_t *outward)
{
    int64_t all = 0, left = 0;
    *outward = 0;
    for (int64_t i = 0; i < part->count; i++) {
        const int32_t v = part->list[i];
        const int32_t *to = part->links->to + part->links->begin[v];
        if (twi_is_stopped(ctx, &left, part->links->count[v])) {
            break;
        }
        all += part->links->count[v];
        for (int32_t j = 0; j < part->links->count[v]; j++) {
            *outward += part->tag[to[j]] != part->part;
        }
    }
    return all;
}

/* What the part is joined to besides: each once, ascending. */
static int32_t find_others(const twi_part *part, int32_t *others)
{
    int64_t found = 0;
    for (int64_t i = 0; i < part->count; i++) {
        const int32_t v = part->list[i];
        const int32_t *to = part->links->to + part->links->begin[v];
        for (int32_t j = 0; j < part->links->count[v]; j++) {
            if (part->tag[to[j]] != part->part) {
                others[found++] = to[j];
            }
        }
    }
    qsort(others, (size_t)found, sizeof *others, ascending);
    int32_t kept = 0;
    for (int64_t i = 0; i < found; i++) {
        if (kept == 0 || others[i] != others[kept - 1]) {
            others[kept++] = others[i];
        }
    }
    return kept;
}

static int32_t number_of(const twi_part *part, const int32_t *others, int32_t count, int32_t v)
{
    if (part->tag[v] == part->part) {
        return part->number[v];
    }
    const int32_t *at = bsearch(&v, others, (size_t)count, sizeof *others, ascending);
    return (int32_t)(part->count + (at - others));
}

/* Lists of links for all, in the numbers of this file. */
static tw_status write_lists(quotient *q, const twi_part *part, const int32_t *others)
{
    const int32_t count = q->n - q->leaving;
    for (int32_t i = 0; i < q->leaving; i++) {
        const int32_t v = part->list[i];
        const int32_t *to = part->links->to + part->links->begin[v];
        if (twi_is_stopped(q->ctx, &q->left, part->links->count[v])) {
            return twi_check_cancel(q->ctx);
        }
        q->begin[i] = q->used;
        q->length[i] = part->links->count[v];
        for (int32_t j = 0; j < q->length[i]; j++) {
            const int32_t other = number_of(part, others, count, to[j]);
            q->space[q->used++] = other;
            q->length[other] += !leaves(q, other);
        }
    }
    for (int32_t i = q->leaving; i < q->n; i++) {
        q->begin[i] = q->used;
        q->used += q->length[i];
        q->length[i] = 0;
    }
    for (int32_t i = 0; i < q->leaving; i++) {
        if (twi_is_stopped(q->ctx, &q->left, q->length[i])) {
            break;
        }
        for (int32_t j = 0; j < q->length[i]; j++) {
            const int32_t other = q->space[q->begin[i] + j];
            if (!leaves(q, other)) {
                q->space[q->begin[other] + q->length[other]++] = i;
            }
        }
    }
    return twi_check_cancel(q->ctx);
}

/* Have v and u the same few links, in any sequence? */
static bool same_links(const quotient *q, int32_t v, int32_t u)
{
    const int32_t *one = q->space + q->begin[v], *other = q->space + q->begin[u];
    if (q->length[v] != q->length[u]) {
        return false;
    }
    for (int32_t i = 0; i < q->length[v]; i++) {
        int32_t at = 0;
        while (at < q->length[u] && other[at] != one[i]) {
            at++;
        }
        if (at == q->length[u]) {
            return false;
        }
    }
    return true;
}

/* Vertices with the same few links become one, some at a time. A bucket remembers the last of its
 * hash. */
static void merge_twins(quotient *q)
{
    for (int32_t v = 0; v < q->leaving; v++) {
        uint32_t hash = 0;
        if (q->length[v] == 0 || q->length[v] > TWIN_LINKS) {
            continue;
        }
        for (int32_t i = 0; i < q->length[v]; i++) {
            hash += (uint32_t)q->space[q->begin[v] + i] * 0x9e3779b1U;
        }
        int32_t *last = &q->bucket[hash % (uint32_t)q->n];
        if (*last != NONE && q->weight[*last] < TWINS && same_links(q, v, *last)) {
            q->weight[*last]++;
            join(q, v, *last);
        } else {
            *last = v;
        }
    }
    for (int32_t v = 0; v < q->n; v++) {
        q->bucket[v] = NONE;
    }
}

static void start(quotient *q)
{
    q->mark = 1;
    q->lowest = q->n;
    for (int32_t v = 0; v < q->n; v++) {
        q->first[v] = NONE;
        q->bucket[v] = NONE;
        q->joined[v] = 0;
        q->weight[v] = 1;
        q->seen[v] = 1;
        q->member[v] = NONE;
        q->end[v] = v;
        q->degree[v] = q->length[v];
    }
    merge_twins(q);
    for (int32_t v = 0; v < q->leaving; v++) {
        if (q->weight[v] > 0) {
            enlist(q, v);
        }
    }
}

/* The order that the pivots and what went with them make. */
static void arrange(const quotient *q, const twi_part *part, const int32_t *pivot, int32_t pivots,
                    int32_t *scratch)
{
    int64_t at = 0;
    memcpy(scratch, part->list, (size_t)part->count * sizeof *scratch);
    for (int32_t i = 0; i < pivots; i++) {
        part->begins[at] = 1;
        for (int32_t v = pivot[i]; v != NONE; v = q->member[v]) {
            part->begins[at] = v == pivot[i];
            part->list[at++] = scratch[v];
        }
    }
}

enum { LISTS = 14 }; /* of a number for each vertex */

/* Vertices, at most, and room for their lists. */
static int64_t vertices_most(int64_t count, int64_t outward)
{
    return count + outward;
}
static int64_t room_for(int64_t count, int64_t links, int64_t outward)
{
    return links + outward + vertices_most(count, outward) + links / 4 + 1;
}

uint64_t twi_minimum_degree_memory(int64_t count, int64_t links, int64_t outward)
{
    const uint64_t most = (uint64_t)vertices_most(count, outward);
    return most * (2 * sizeof(int64_t) + LISTS * sizeof(int32_t)) +
           (uint64_t)room_for(count, links, outward) * sizeof(int32_t);
}

tw_status twi_minimum_degree(tw_context *ctx, const twi_part *part, double columns, double *steps)
{
    const char *what = "an elimination order by minimum degree";
    int64_t outward = 0;
    const int64_t links = count_links(ctx, part, &outward);
    const int64_t most = vertices_most(part->count, outward);
    quotient q = {.ctx = ctx, .leaving = (int32_t)part->count};
    int32_t *block = NULL;
    q.room = room_for(part->count, links, outward);
    tw_status status = twi_check_cancel(ctx);
    if (status == TW_OK) {
        status = twi_alloc(ctx, &q.begin, (uint64_t)most, 2 * sizeof *q.begin, what);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &block, (uint64_t)(LISTS * most + q.room), sizeof *block, what);
    }
    int32_t *pivot = NULL;
    int32_t *others = NULL;
    if (status == TW_OK) {
        int32_t **lists[LISTS] = {&q.length, &q.joined, &q.weight, &q.degree, &q.first,
                                  &q.next,   &q.last,   &q.bucket, &q.beside, &q.member,
                                  &q.end,    &q.hash,   &pivot,    &others};
        for (int i = 0; i < LISTS; i++) {
            *lists[i] = block + i * most;
        }
        q.space = block + LISTS * most;
        memset(q.length, 0, (size_t)most * sizeof *q.length);
        q.seen = q.begin + most;
        for (int64_t i = 0; i < part->count; i++) {
            part->number[part->list[i]] = (int32_t)i;
        }
        q.n = q.leaving + find_others(part, others);
        status = write_lists(&q, part, others);
    }
    if (status == TW_OK) {
        start(&q);
        const int32_t pivots = eliminate_all(&q, pivot, columns, steps);
        if (pivots > 0) {
            arrange(&q, part, pivot, pivots, q.first);
        }
        status = twi_check_cancel(ctx);
    }
    twi_free(block);
    twi_free(q.begin);
    return status;
}
