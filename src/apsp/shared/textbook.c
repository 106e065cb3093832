/*
 * Textbook searches: see textbook.h. All sums are in f64: exact for whole weights as long as they
 * are below 2^53, which whoever asks has to see to, rounded once per arc for others. Dijkstra
 * costs O((n + m) log n) with a binary heap that knows where each vertex is; Bellman-Ford at most
 * n rounds over all arcs, mostly a few.
 */
#include "apsp/shared/textbook.h"

#include "base/memory.h"
#include "graph/cycle.h"

#include <float.h>
#include <math.h>

#define NOT_IN_HEAP (-1)

uint64_t twi_textbook_bytes(const tw_graph *graph)
{
    return (uint64_t)graph->n * (2 * sizeof(double) + 4 * sizeof(int32_t));
}

void twi_textbook_place(twi_textbook *out, const tw_graph *graph, void *memory, tw_context *stop)
{
    const int64_t n = graph->n;
    out->distance = memory;
    out->excess = out->distance + n;
    out->previous = (int32_t *)(out->excess + n);
    out->hops = out->previous + n;
    out->heap = out->hops + n;
    out->place = out->heap + n;
    out->stop = stop;
}

static bool is_stopped(const twi_textbook *s)
{
    return s->stop != NULL && twi_is_cancelled(s->stop);
}

static void start(const tw_graph *graph, int32_t source, twi_textbook *s)
{
    for (int64_t v = 0; v < graph->n; v++) {
        s->distance[v] = (double)INFINITY;
        s->previous[v] = TW_APSP_NO_VERTEX;
        s->hops[v] = 0;
        s->place[v] = NOT_IN_HEAP;
    }
    s->distance[source] = 0;
}

/* ---------------------------------------------------------------------------------- Dijkstra */

static void put(twi_textbook *s, int64_t at, int32_t vertex)
{
    s->heap[at] = vertex;
    s->place[vertex] = (int32_t)at;
}

static void sift_up(twi_textbook *s, int64_t at)
{
    int32_t vertex = s->heap[at];
    while (at > 0 && s->distance[vertex] < s->distance[s->heap[(at - 1) / 2]]) {
        put(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(s, at, vertex);
}

static void sift_down(twi_textbook *s, int64_t count)
{
    int32_t vertex = s->heap[0];
    int64_t at = 0;
    for (int64_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && s->distance[s->heap[child + 1]] < s->distance[s->heap[child]]) {
            child++;
        }
        if (s->distance[s->heap[child]] >= s->distance[vertex]) {
            break;
        }
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, vertex);
}

/* The nearest vertex in the heap, taken out of it. */
static int32_t take_nearest(twi_textbook *s, int64_t *count)
{
    int32_t nearest = s->heap[0];
    s->heap[0] = s->heap[--*count];
    if (*count > 0) {
        sift_down(s, *count);
    }
    return nearest;
}

/* A shorter way to v, by u. */
static void shorten(twi_textbook *s, int64_t *count, int32_t u, int32_t v, double through)
{
    if (s->place[v] == NOT_IN_HEAP) {
        put(s, *count, v);
        ++*count;
    }
    s->distance[v] = through;
    s->previous[v] = u;
    s->hops[v] = s->hops[u] + 1;
    sift_up(s, s->place[v]);
}

void twi_textbook_dijkstra_within(const tw_graph *graph, int32_t source, double limit,
                                  twi_textbook *s)
{
    int64_t count = 1;
    start(graph, source, s);
    put(s, 0, source);
    while (count > 0 && !is_stopped(s)) {
        int32_t u = take_nearest(s, &count);
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t v = graph->targets[a];
            double through = s->distance[u] + twi_graph_weight(graph, a);
            if (through <= limit && through < s->distance[v]) {
                shorten(s, &count, u, v, through);
            }
        }
    }
}

void twi_textbook_dijkstra(const tw_graph *graph, int32_t source, twi_textbook *s)
{
    twi_textbook_dijkstra_within(graph, source, (double)INFINITY, s);
}

/* For weights that are all equal. It ends when there is no vertex left to find, which in a dense
 * graph is after the arcs of a few. */
static void search_breadth_first(const tw_graph *graph, int32_t source, twi_textbook *s)
{
    int64_t first = 0, end = 1;
    start(graph, source, s);
    s->heap[0] = source; /* a queue here */
    for (; first < end && end < graph->n && !is_stopped(s); first++) {
        const int32_t u = s->heap[first];
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            const int32_t v = graph->targets[a];
            if (isinf(s->distance[v])) {
                s->distance[v] = s->distance[u] + graph->max_weight;
                s->heap[end++] = v;
            }
        }
    }
}

void twi_textbook_distances(const tw_graph *graph, int32_t source, twi_textbook *s)
{
    if (graph->equal) {
        search_breadth_first(graph, source, s);
    } else {
        twi_textbook_dijkstra(graph, source, s);
    }
}

/* ------------------------------------------------------------------------------ Bellman-Ford */

/* Relax every arc once; true if anything changed and it may go on. */
static bool relax_all(const tw_graph *graph, twi_textbook *s)
{
    bool changed = false;
    for (int32_t u = 0; u < graph->n; u++) {
        if (is_stopped(s)) {
            return false;
        }
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t v = graph->targets[a];
            double through = s->distance[u] + twi_graph_weight(graph, a);
            if (through < s->distance[v]) {
                s->distance[v] = through;
                s->previous[v] = u;
                s->hops[v] = s->hops[u] + 1;
                changed = true;
            }
        }
    }
    return changed;
}

bool twi_textbook_bellman_ford(const tw_graph *graph, int32_t source, twi_textbook *s)
{
    start(graph, source, s);
    for (int64_t round = 0; round < graph->n; round++) {
        if (!relax_all(graph, s)) {
            return true;
        }
    }
    return !relax_all(graph, s);
}

void twi_textbook_straighten(const tw_graph *graph, int32_t source, twi_textbook *found)
{
    const double *distance = found->distance;
    int64_t count = 1;
    twi_textbook s = *found;
    s.distance = found->excess;
    start(graph, source, &s);
    put(&s, 0, source);
    while (count > 0 && !is_stopped(&s)) {
        int32_t u = take_nearest(&s, &count);
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t v = graph->targets[a];
            double slack = distance[u] + twi_graph_weight(graph, a) - distance[v];
            double through = s.distance[u] + fmax(slack, 0);
            if (!isinf(distance[v]) && through < s.distance[v]) {
                shorten(&s, &count, u, v, through);
            }
        }
    }
}

/* The chain of previous vertices runs into a cycle exactly when there is a negative one, and it
 * shows long before the n-th round. Returns a vertex of it, or TW_APSP_NO_VERTEX. */
static int32_t vertex_on_cycle(const tw_graph *graph, twi_textbook *s)
{
    for (int64_t v = 0; v < graph->n; v++) {
        s->place[v] = TW_APSP_NO_VERTEX; /* the start of the walk that came by */
    }
    for (int32_t v = 0; v < graph->n; v++) {
        int32_t at = v;
        while (at != TW_APSP_NO_VERTEX && s->place[at] == TW_APSP_NO_VERTEX) {
            s->place[at] = v;
            at = s->previous[at];
        }
        if (at != TW_APSP_NO_VERTEX && s->place[at] == v) {
            return at;
        }
    }
    return TW_APSP_NO_VERTEX;
}

/* The lightest arc u -> v. */
static double arc_weight(const tw_graph *graph, int32_t u, int32_t v)
{
    double least = (double)INFINITY;
    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
        if (graph->targets[a] == v) {
            least = fmin(least, twi_graph_weight(graph, a));
        }
    }
    return least;
}

/* Report the cycle through `vertex`, unless rounding alone can explain that it is negative. */
static tw_status report_cycle(tw_context *ctx, const tw_graph *graph, twi_textbook *s,
                              int32_t vertex)
{
    int64_t count = 0;
    __int128 whole = 0; /* beyond 2^53, too, whole weights have one sum */
    double total = 0;
    double size = 0;
    const bool exact = twi_graph_is_exact(graph);
    int32_t at = vertex;
    do { /* backwards along the chain, so from the end of the heap array down */
        double weight = arc_weight(graph, s->previous[at], at);
        s->heap[graph->n - 1 - count] = at;
        whole += exact ? (int64_t)weight : 0;
        total += weight;
        size += fabs(weight);
        count++;
        at = s->previous[at];
    } while (at != vertex);
    total = exact ? (double)whole : total;
    if (total >= (exact ? 0 : -(double)count * DBL_EPSILON * size)) {
        return TW_OK;
    }
    return twi_graph_fail_cycle(ctx, graph, s->heap + graph->n - count, count, total);
}

tw_status twi_textbook_negative_cycle(tw_context *ctx, const tw_graph *graph, double *depth)
{
    void *memory = NULL;
    twi_textbook s;
    double least = 0;
    if (depth != NULL) {
        *depth = 0;
    }
    if (!(graph->min_weight < 0)) {
        return TW_OK;
    }
    tw_status status = twi_alloc(ctx, &memory, twi_textbook_bytes(graph), 1, "a search");
    if (status != TW_OK) {
        return status;
    }
    twi_textbook_place(&s, graph, memory, ctx);
    start(graph, 0, &s);
    for (int64_t v = 0; v < graph->n; v++) {
        s.distance[v] = 0; /* as if from one more vertex with an arc of weight 0 to each */
    }
    for (int64_t round = 0; round <= graph->n; round++) {
        status = twi_check_cancel(ctx);
        if (status != TW_OK || !relax_all(graph, &s)) {
            break;
        }
        int32_t vertex = vertex_on_cycle(graph, &s);
        if (vertex != TW_APSP_NO_VERTEX) {
            status = report_cycle(ctx, graph, &s, vertex);
            break;
        }
    }
    for (int64_t v = 0; v < graph->n; v++) {
        least = fmin(least, s.distance[v]);
    }
    status = status == TW_OK ? twi_check_cancel(ctx) : status;
    if (status == TW_OK && twi_graph_is_exact(graph) && least <= -TWI_EXACT_LIMIT) {
        status = tw_fail(ctx, TW_ERR_RANGE,
                         "the negative weights of a path add up to -2^53 or less, beyond what is "
                         "exact; scale the weights down");
    }
    if (depth != NULL) {
        *depth = -least;
    }
    twi_free(memory);
    return status;
}

/* ------------------------------------------------------------------------------ error bounds */

void twi_textbook_bounds(const tw_graph *graph, const twi_textbook *s, int32_t v, tw_type type,
                         double magnitude, double *low, double *high)
{
    const double distance = s->distance[v];
    const double unit = (type == TW_F32 ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
    const double tiny = type == TW_F32 ? (double)FLT_TRUE_MIN : 0;
    const double n = (double)graph->n;
    *low = distance;
    *high = distance;
    if (isinf(distance) || (twi_graph_is_exact(graph) && type != TW_F32)) {
        return;
    }
    if (graph->min_weight < 0) {
        *low -= 2 * (n + 2) * unit * magnitude + tiny;
        *high += 2 * (n + 2) * unit * magnitude + tiny;
        return;
    }
    double arcs = n - 1;
    if (graph->min_weight > 0) {
        arcs = fmin(arcs, 1.01 * distance / graph->min_weight + 1);
    }
    *low -= 2 * (arcs + 2) * unit * distance + tiny;
    *high += 2 * ((double)s->hops[v] + 2) * unit * distance + tiny;
}
