/*
 * Routes: one shortest path, or the predecessors of a whole row, from distances that are known.
 *
 * An arc u -> v of weight w is tight for a source s when D[s][u] + w = D[s][v]; every shortest path
 * consists of tight arcs. Whole weights make that an exact test, so a breadth-first walk from the
 * source over tight arcs is enough: it visits a vertex once, so cycles of weight zero, whose arcs
 * are all tight, cannot trap it, and it costs O(m). Rounded sums have no exact test; there one
 * textbook search gives the tree, straightened where rounding turned a cycle of weight zero into a
 * negative one, and the given distances are only checked against it.
 *
 * A row in which no arc is shorter than tight (D[s][u] + w >= D[s][v] throughout) and every
 * reachable vertex hangs on tight arcs is the row of true distances. Both are checked before a
 * path is given out, so a wrong matrix is found out rather than followed.
 */
#include "apsp/shared/routes.h"

#include "apsp/shared/distance.h"
#include "apsp/shared/relevant.h"
#include "apsp/shared/textbook.h"
#include "base/given.h"
#include "base/matrix.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GROUP 16 /* arcs whose weights are looked at together */

/* Tight arcs can be told exactly: whole weights, and distances that were never rounded. */
static bool exact(const tw_graph *graph, tw_type type)
{
    return twi_graph_is_exact(graph) && type != TW_F32;
}

static void search_graph(const tw_graph *graph, int32_t source, double limit, twi_textbook *search)
{
    if (graph->min_weight < 0) {
        /* False after rounding alone kept it busy: the caller has excluded negative cycles. */
        (void)twi_textbook_bellman_ford(graph, source, search);
        if (!twi_graph_is_exact(graph)) {
            twi_textbook_straighten(graph, source, search);
        }
    } else {
        twi_textbook_dijkstra_within(graph, source, limit, search);
    }
}

/* A bound on partial sums for twi_textbook_bounds: no path has more than n - 1 arcs. */
static double largest_sum(const tw_graph *graph)
{
    return (double)graph->n * fmax(fabs(graph->min_weight), fabs(graph->max_weight));
}

/* A walk over tight arcs. previous[] of the search becomes the tree, its heap is the queue. */
typedef struct walk {
    const tw_graph *graph;
    twi_textbook *search;
    int32_t source;
    int64_t reached;
} walk;

static inline void follow_if_tight(walk *w, int32_t u, int64_t a)
{
    twi_textbook *s = w->search;
    int32_t v = w->graph->targets[a];
    if (s->distance[u] + twi_graph_weight(w->graph, a) == s->distance[v] && v != w->source &&
        s->previous[v] == TW_APSP_NO_VERTEX) {
        s->previous[v] = u;
        s->heap[w->reached++] = v;
    }
}

static inline bool any_within(const int32_t *weights, int32_t most)
{
    int32_t any = 0;
    for (int i = 0; i < GROUP; i++) {
        any |= weights[i] <= most ? 1 : 0;
    }
    return any != 0;
}

/* The arcs of u that can be tight weigh at most `most`. In a dense graph few do, so they are
 * looked at in groups by weight alone, which vectorises, before anything is fetched for them. */
static void follow_arcs(walk *w, int32_t u, double most)
{
    const tw_graph *graph = w->graph;
    const int64_t end = graph->offsets[u + 1];
    int64_t a = graph->offsets[u];
    if (graph->weight_type == TW_I32) {
        const int32_t *weights = graph->weights;
        const int32_t limit = most < INT32_MAX ? (int32_t)most : INT32_MAX;
        for (; a + GROUP <= end; a += GROUP) {
            if (any_within(weights + a, limit)) {
                for (int i = 0; i < GROUP; i++) {
                    if (weights[a + i] <= limit) {
                        follow_if_tight(w, u, a + i);
                    }
                }
            }
        }
    }
    for (; a < end; a++) {
        follow_if_tight(w, u, a);
    }
}

/* Walk from `source` over tight arcs of the row search->distance, until `wanted` vertices are
 * reached or `stop` is. Returns the vertices reached. */
static int64_t walk_tight(const tw_graph *graph, int32_t source, twi_textbook *search,
                          int64_t wanted, int32_t stop)
{
    walk w = {graph, search, source, 1};
    double farthest = 0;
    for (int64_t v = 0; v < graph->n; v++) {
        search->previous[v] = TW_APSP_NO_VERTEX;
        farthest = isinf(search->distance[v]) ? farthest : fmax(farthest, search->distance[v]);
    }
    search->heap[0] = source;
    for (int64_t next = 0; next < w.reached && w.reached < wanted; next++) {
        int32_t u = search->heap[next];
        if (u == stop) {
            break;
        }
        follow_arcs(&w, u, farthest - search->distance[u]);
    }
    return w.reached;
}

/* --------------------------------------------------------------------------- predecessors */

uint64_t twi_predecessors_scratch(const tw_graph *graph)
{
    return twi_textbook_bytes(graph);
}

static bool predecessors_exact(const tw_graph *graph, int32_t source, const void *row, tw_type type,
                               int32_t *out, twi_textbook *search)
{
    int64_t reachable = 0;
    for (int64_t v = 0; v < graph->n; v++) {
        search->distance[v] = twi_distance(row, type, v);
        reachable += isinf(search->distance[v]) ? 0 : 1;
    }
    if (search->distance[source] != 0 ||
        walk_tight(graph, source, search, reachable, TW_APSP_NO_VERTEX) != reachable) {
        return false;
    }
    memcpy(out, search->previous, (size_t)graph->n * sizeof *out);
    return true;
}

/* By a search, for rounded distances, and for rows with a cutoff when weights are negative: a path
 * to a vertex within the cutoff may then lead through vertices beyond it. */
static bool predecessors_searched(const tw_graph *graph, int32_t source, const void *row,
                                  tw_type type, int32_t *out, twi_textbook *search)
{
    const double magnitude = largest_sum(graph);
    double farthest = 0;
    for (int64_t v = 0; v < graph->n; v++) {
        double given = twi_distance(row, type, v);
        farthest = isinf(given) ? farthest : fmax(farthest, given);
    }
    /* Twice the farthest is more than any rounding; arcs beyond it need not be followed. */
    search_graph(graph, source, 2 * farthest, search);
    for (int32_t v = 0; v < graph->n; v++) {
        double low;
        double high;
        double given = twi_distance(row, type, v);
        twi_textbook_bounds(graph, search, v, type, magnitude, &low, &high);
        /* No path in the row but in the graph: the row stops at a cutoff. */
        if (!isinf(given) && !(given >= low && given <= high)) {
            return false;
        }
        out[v] = TW_APSP_NO_VERTEX;
    }
    for (int32_t v = 0; v < graph->n; v++) {
        int32_t at = isinf(twi_distance(row, type, v)) ? source : v;
        for (; at != source && out[at] == TW_APSP_NO_VERTEX; at = search->previous[at]) {
            out[at] = search->previous[at];
        }
    }
    return true;
}

bool twi_predecessors(tw_context *stop, const tw_graph *graph, int32_t source, const void *distance,
                      tw_type type, int32_t *out, void *scratch)
{
    twi_textbook search;
    twi_textbook_place(&search, graph, scratch, stop);
    bool found =
        exact(graph, type) && predecessors_exact(graph, source, distance, type, out, &search);
    if (!found && (!exact(graph, type) || graph->min_weight < 0)) {
        found = predecessors_searched(graph, source, distance, type, out, &search);
    }
    return found;
}

/* --------------------------------------------------------------------------------- one path */

/* What a path query works with. */
typedef struct query {
    tw_context *ctx;
    const tw_graph *graph;
    const tw_matrix *distances; /* NULL: the graph alone */
    int32_t from;
    int32_t to;
    twi_textbook search;
} query;

static tw_status contradiction(const query *q, int64_t to, double given, const char *why)
{
    char names[2][TWI_VERTEX_NAME];
    return tw_fail(q->ctx, TW_ERR_VERIFY,
                   "the matrix contradicts the graph: it gives %.17g from %.60s to %.60s, but %s",
                   given, twi_vertex_name(names[0], q->graph, q->from),
                   twi_vertex_name(names[1], q->graph, to), why);
}

/* A sum of whole weights that reached the limit was rounded; with negative weights it may lie on
 * the way to a smaller one. */
static tw_status check_exact(const query *q)
{
    const bool signless = q->graph->min_weight >= 0;
    for (int64_t v = 0; twi_graph_is_exact(q->graph) && v < q->graph->n; v++) {
        const double distance = q->search.distance[v];
        if ((v == q->to || !signless) && fabs(distance) >= TWI_EXACT_LIMIT && !isinf(distance)) {
            char names[2][TWI_VERTEX_NAME];
            return tw_fail(q->ctx, TW_ERR_RANGE,
                           "the distance from %.60s to %.60s is 2^53 or more, where f64 no longer "
                           "holds every whole number; scale the weights down",
                           twi_vertex_name(names[0], q->graph, q->from),
                           twi_vertex_name(names[1], q->graph, v));
        }
    }
    return TW_OK;
}

/* No arc may lead on to a vertex more cheaply than the matrix has it. */
static tw_status check_row(const query *q)
{
    const tw_graph *graph = q->graph;
    const double *distance = q->search.distance;
    for (int32_t u = 0; u < graph->n; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int32_t v = graph->targets[a];
            double through = distance[u] + twi_graph_weight(graph, a);
            if (through < distance[v]) {
                char why[200], name[TWI_VERTEX_NAME];
                snprintf(why, sizeof why, "through %.60s it is %.17g%s",
                         twi_vertex_name(name, graph, u), through,
                         isinf(distance[v]) ? " (a matrix made with a cutoff cannot tell)" : "");
                return contradiction(q, v, distance[v], why);
            }
        }
    }
    return TW_OK;
}

/* The row of `from`, which may be all there is. */
static const void *row_from(const query *q)
{
    return twi_matrix_row(q->distances, q->distances->rows == 1 ? 0 : q->from);
}

/* From a matrix of exact distances. */
static tw_status follow_matrix(query *q)
{
    const void *row = row_from(q);
    double *distance = q->search.distance;
    for (int64_t v = 0; v < q->graph->n; v++) {
        distance[v] = twi_distance(row, q->distances->type, v);
        if (isnan(distance[v])) {
            return contradiction(q, v, distance[v], "that is not a number");
        }
    }
    if (distance[q->from] != 0) {
        return contradiction(q, q->from, distance[q->from],
                             "a vertex is at distance 0 from itself");
    }
    tw_status status = check_exact(q);
    if (status == TW_OK) {
        status = check_row(q);
    }
    if (status != TW_OK || isinf(distance[q->to])) {
        return status;
    }
    (void)walk_tight(q->graph, q->from, &q->search, INT64_MAX, q->to);
    if (q->to != q->from && q->search.previous[q->to] == TW_APSP_NO_VERTEX) {
        return contradiction(q, q->to, distance[q->to], "no path of the graph has that length");
    }
    return TW_OK;
}

/* A sum that leaves f64 must not pass for "no path". The search's heap and places are free. */
static tw_status check_overflow(const query *q)
{
    double distance = q->search.distance[q->to];
    if (isfinite(distance)) {
        return TW_OK;
    }
    uint8_t *reached = (uint8_t *)q->search.place;
    twi_mark_reached(q->graph, &q->from, 1, reached, q->search.heap);
    return reached[q->to] ? tw_fail(q->ctx, TW_ERR_RANGE,
                                    "the distance %d -> %d exceeds the range of f64; "
                                    "scale the weights down",
                                    (int)q->from, (int)q->to)
                          : TW_OK;
}

/* By a search of the graph; the matrix, if there is one, must agree within rounding. */
static tw_status search_path(query *q)
{
    search_graph(q->graph, q->from, (double)INFINITY, &q->search);
    tw_status status = twi_check_cancel(q->ctx);
    if (status == TW_OK) {
        status = check_overflow(q);
    }
    if (status == TW_OK) {
        status = check_exact(q);
    }
    if (status != TW_OK || q->distances == NULL) {
        return status;
    }
    double low;
    double high;
    char why[160];
    double given = twi_distance(row_from(q), q->distances->type, q->to);
    twi_textbook_bounds(q->graph, &q->search, q->to, q->distances->type, largest_sum(q->graph),
                        &low, &high);
    if (given >= low && given <= high) {
        return TW_OK;
    }
    snprintf(why, sizeof why, "the shortest path has length %.17g", q->search.distance[q->to]);
    return contradiction(q, q->to, given, why);
}

struct tw_apsp_path {
    double distance;
    int64_t count;
    int32_t vertices[];
};

/* The chain of previous vertices, turned around. */
static tw_status take_path(const query *q, tw_apsp_path **out)
{
    const double distance = q->search.distance[q->to];
    int64_t count = isinf(distance) ? 0 : 1;
    for (int32_t v = q->to; count > 0 && v != q->from; v = q->search.previous[v]) {
        count++;
    }
    tw_apsp_path *path = NULL;
    tw_status status = twi_alloc(q->ctx, &path, 1,
                                 sizeof *path + (uint64_t)count * sizeof *path->vertices, "a path");
    if (status != TW_OK) {
        return status;
    }
    path->distance = distance;
    path->count = count;
    int32_t v = q->to;
    for (int64_t i = count - 1; i >= 0; i--) {
        path->vertices[i] = v;
        v = q->search.previous[v];
    }
    *out = path;
    return TW_OK;
}

static tw_status check_query(const query *q)
{
    const tw_graph *graph = q->graph;
    if (graph->n == 0) {
        return tw_fail(q->ctx, TW_ERR_ARGUMENT, "the graph has no vertices");
    }
    if (q->from < 0 || q->from >= graph->n || q->to < 0 || q->to >= graph->n) {
        return tw_fail(q->ctx, TW_ERR_ARGUMENT,
                       "from is %d and to is %d; the graph's vertices are 0 to %lld", (int)q->from,
                       (int)q->to, (long long)graph->n - 1);
    }
    if (q->distances == NULL) {
        return TW_OK;
    }
    tw_status status = twi_matrix_check(q->ctx, q->distances, "the distance matrix");
    if (status == TW_OK && ((q->distances->rows != graph->n && q->distances->rows != 1) ||
                            q->distances->cols != graph->n)) {
        status = tw_fail(q->ctx, TW_ERR_VERIFY,
                         "the distance matrix is %lld x %lld but the graph has %lld %s",
                         (long long)q->distances->rows, (long long)q->distances->cols,
                         (long long)graph->n, graph->n == 1 ? "vertex" : "vertices");
    }
    return status;
}

/* All that a path from one vertex to the other can use: negative cycles elsewhere are nobody's
 * concern, and would keep the search busy. */
static tw_status take_relevant_part(query *q, tw_graph **part)
{
    tw_apsp_options asked = TW_APSP_OPTIONS_INIT;
    asked.sources = &q->from;
    asked.source_count = 1;
    asked.targets = &q->to;
    asked.target_count = 1;
    tw_status status = twi_relevant_part(q->ctx, part, q->graph, &asked);
    q->graph = *part != NULL ? *part : q->graph;
    return status;
}

tw_status tw_apsp_path_create(tw_context *ctx, tw_apsp_path **out, const tw_graph *graph,
                              const tw_matrix *distances, int32_t from, int32_t to)
{
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"graph", graph});
    if (missing != TW_OK) {
        return missing;
    }
    void *memory = NULL;
    tw_graph *part = NULL;
    query q = {ctx, graph, distances, from, to, {0}};
    tw_status status = check_query(&q);
    if (status == TW_OK) {
        status = take_relevant_part(&q, &part);
    }
    if (status == TW_OK) {
        status = twi_textbook_negative_cycle(ctx, q.graph, NULL);
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &memory, twi_textbook_bytes(graph), 1, "the search for a path");
    }
    if (status == TW_OK) {
        twi_textbook_place(&q.search, graph, memory, ctx);
        status = distances != NULL && exact(q.graph, distances->type) ? follow_matrix(&q)
                                                                      : search_path(&q);
    }
    if (status == TW_OK) {
        status = take_path(&q, out);
    }
    twi_free(memory);
    tw_graph_destroy(part);
    return status;
}

void tw_apsp_path_destroy(tw_apsp_path *path)
{
    twi_free(path);
}

tw_status tw_apsp_path_describe(const tw_apsp_path *path, tw_apsp_path_info *out)
{
    if (path == NULL) {
        return TW_ERR_ARGUMENT;
    }
    const tw_apsp_path_info info = {
        .size = sizeof info,
        .count = path->count,
        .vertices = path->count > 0 ? path->vertices : NULL,
        .distance = path->distance,
    };
    return TWI_DESCRIBE(NULL, tw_apsp_path_info, out, &info);
}
