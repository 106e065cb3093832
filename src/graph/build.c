/*
 * Edges to compressed rows.
 *
 * Two passes over the edges, each split evenly among the threads. The first checks every edge and
 * counts, per thread, the arcs of each vertex; a prefix sum over vertices, and within a vertex over
 * threads, turns the counts into the place where each thread puts its next arc of that vertex; the
 * second pass scatters. Thread t holds edges before those of thread t + 1 and places its arcs
 * before theirs, so every row is in the order of the edges for any number of threads.
 *
 * Memory: the graph, and 8 bytes per vertex and thread. The team is kept so small that the counts
 * never outweigh the graph itself. Cost: two reads of the edges, one scattered write of the arcs.
 */
#include "graph/build.h"

#include "base/given.h"
#include "base/memory.h"
#include "base/threads.h"
#include "base/type.h"
#include "graph/narrow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STRETCH 65536 /* edges between two looks at the cancel flag */

typedef struct tally {
    twi_weight_stats stats;
    int64_t bad; /* index of the first edge that cannot be; INT64_MAX if none */
} tally;

/* What all threads share. */
typedef struct build {
    tw_context *ctx;
    const twi_edge_source *source;
    int64_t edges;
    int team;
    int64_t *cursor; /* team x vertices: counts, then places */
    tally *tallies;  /* team */
    tw_graph *graph;
} build;

typedef struct edge {
    int32_t source;
    int32_t target;
    double weight;
} edge;

typedef enum verdict { EDGE_KEPT, EDGE_DROPPED, EDGE_BAD } verdict;

static inline int32_t load_i32(const char *at)
{
    int32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

__attribute__((always_inline)) static inline double load_weight(const twi_edge_part *part,
                                                                int64_t i, tw_type type)
{
    if (part->weight == NULL) {
        return 1;
    }
    const char *at = part->weight + i * part->weight_step;
    if (type == TW_I32) {
        return load_i32(at);
    }
    if (type == TW_F32) {
        float value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    double value;
    memcpy(&value, at, sizeof value);
    return value;
}

__attribute__((always_inline)) static inline edge load_edge(const twi_edge_part *part, int64_t i,
                                                            tw_type type)
{
    return (edge){load_i32(part->source + i * part->source_step),
                  load_i32(part->target + i * part->target_step), load_weight(part, i, type)};
}

__attribute__((always_inline)) static inline verdict judge(const edge *e, int64_t vertices,
                                                           tw_type type)
{
    if ((uint32_t)e->source >= (uint64_t)vertices || (uint32_t)e->target >= (uint64_t)vertices) {
        return EDGE_BAD;
    }
    if (type != TW_I32) {
        if (!(e->weight > -INFINITY)) {
            return EDGE_BAD;
        }
        if (e->weight == INFINITY) {
            return EDGE_DROPPED;
        }
    }
    return e->source == e->target && e->weight >= 0 ? EDGE_DROPPED : EDGE_KEPT;
}

/* Edges first ... first+count-1 of one part; `index` is the number of the first among all. */
__attribute__((always_inline)) static inline void
count_stretch(const build *b, const twi_edge_part *part, int64_t first, int64_t count,
              int64_t index, int64_t *counts, tally *mine, tw_type type, bool both)
{
    int64_t vertices = b->source->vertices;
    twi_weight_stats stats = mine->stats;
    for (int64_t i = first; i < first + count; i++) {
        edge e = load_edge(part, i, type);
        verdict v = judge(&e, vertices, type);
        if (__builtin_expect(v != EDGE_KEPT, 0)) {
            if (v == EDGE_BAD) {
                mine->bad = index + (i - first);
                break;
            }
            continue;
        }
        counts[e.source]++;
        if (both && e.source != e.target) {
            counts[e.target]++;
        }
        if (type == TW_I32) {
            stats.min = e.weight < stats.min ? e.weight : stats.min;
            stats.max = e.weight > stats.max ? e.weight : stats.max;
        } else {
            twi_see_weight(&stats, e.weight);
        }
    }
    mine->stats = stats;
}

static void count_any(const build *b, const twi_edge_part *part, int64_t first, int64_t count,
                      int64_t index, int64_t *counts, tally *mine)
{
    bool both = b->source->both;
    switch (b->source->weight_type) {
    case TW_I32:
        if (both) {
            count_stretch(b, part, first, count, index, counts, mine, TW_I32, true);
        } else {
            count_stretch(b, part, first, count, index, counts, mine, TW_I32, false);
        }
        break;
    case TW_F32:
        count_stretch(b, part, first, count, index, counts, mine, TW_F32, both);
        break;
    default:
        count_stretch(b, part, first, count, index, counts, mine, TW_F64, both);
        break;
    }
}

static inline void put_arc(tw_graph *graph, int64_t at, int32_t target, const void *weight,
                           size_t size)
{
    graph->targets[at] = target;
    memcpy((char *)graph->weights + (uint64_t)at * size, weight, size);
}

__attribute__((always_inline)) static inline void
scatter_stretch(const build *b, const twi_edge_part *part, int64_t first, int64_t count,
                int64_t *places, tw_type type, bool both)
{
    static const int32_t one = 1;
    int64_t vertices = b->source->vertices;
    size_t size = type == TW_F64 ? 8 : 4;
    for (int64_t i = first; i < first + count; i++) {
        edge e = load_edge(part, i, type);
        if (judge(&e, vertices, type) != EDGE_KEPT) {
            continue;
        }
        const void *weight = part->weight != NULL
                                 ? (const void *)(part->weight + i * part->weight_step)
                                 : (const void *)&one;
        put_arc(b->graph, places[e.source]++, e.target, weight, size);
        if (both && e.source != e.target) {
            put_arc(b->graph, places[e.target]++, e.source, weight, size);
        }
    }
}

static void scatter_any(const build *b, const twi_edge_part *part, int64_t first, int64_t count,
                        int64_t *places)
{
    bool both = b->source->both;
    switch (b->source->weight_type) {
    case TW_I32:
        if (both) {
            scatter_stretch(b, part, first, count, places, TW_I32, true);
        } else {
            scatter_stretch(b, part, first, count, places, TW_I32, false);
        }
        break;
    case TW_F32:
        scatter_stretch(b, part, first, count, places, TW_F32, both);
        break;
    default:
        scatter_stretch(b, part, first, count, places, TW_F64, both);
        break;
    }
}

/* Thread 0 is the caller's own: what it has done of its share stands for the others. */
static void report(const build *b, int64_t at, int64_t begin, int64_t end, bool scatter)
{
    double share = (double)(at - begin) / (double)(end - begin);
    double edges = (double)b->edges;
    twi_progress(b->ctx, "graph", edges * (scatter ? 0.5 + share / 2 : share / 2), edges, "edges");
}

/* Calls one of the passes over the share of thread `member`, part by part. */
static void walk_share(const build *b, int member, bool scatter)
{
    int64_t begin = (int64_t)((__int128)b->edges * member / b->team);
    int64_t end = (int64_t)((__int128)b->edges * (member + 1) / b->team);
    int64_t *row = b->cursor + (int64_t)member * b->source->vertices;
    tally *mine = &b->tallies[member];
    int64_t base = 0; /* edges in the parts before */
    for (int64_t p = 0; p < b->source->part_count && base < end; p++) {
        const twi_edge_part *part = &b->source->parts[p];
        int64_t first = begin > base ? begin - base : 0;
        int64_t stop = end - base < part->count ? end - base : part->count;
        while (first < stop) {
            int64_t count = stop - first < STRETCH ? stop - first : STRETCH;
            if (twi_is_cancelled(b->ctx) || mine->bad != INT64_MAX) {
                return;
            }
            if (scatter) {
                scatter_any(b, part, first, count, row);
            } else {
                count_any(b, part, first, count, base + first, row, mine);
            }
            first += count;
            if (twi_thread_id() == 0) {
                report(b, base + first, begin, end, scatter);
            }
        }
        base += part->count;
    }
}

static void run_pass(const build *b, bool scatter)
{
#pragma omp parallel num_threads(twi_team(b->team))
    {
        int given = twi_team_size();
        for (int member = twi_thread_id(); member < b->team; member += given) {
            walk_share(b, member, scatter);
        }
    }
}

/* Counts to places. Each thread sums a range of vertices, one walks over the sums, and each
 * thread lays out its range. */
static int64_t place_rows(const build *b, int64_t *sums)
{
    int64_t n = b->source->vertices;
    int64_t *offsets = b->graph->offsets;
#pragma omp parallel for num_threads(twi_team(b->team)) schedule(static, 1)
    for (int part = 0; part < b->team; part++) {
        int64_t sum = 0;
        for (int t = 0; t < b->team; t++) {
            const int64_t *counts = b->cursor + (int64_t)t * n;
            for (int64_t v = n * part / b->team; v < n * (part + 1) / b->team; v++) {
                sum += counts[v];
            }
        }
        sums[part] = sum;
    }
    int64_t total = 0;
    for (int part = 0; part < b->team; part++) {
        int64_t sum = sums[part];
        sums[part] = total;
        total += sum;
    }
#pragma omp parallel for num_threads(twi_team(b->team)) schedule(static, 1)
    for (int part = 0; part < b->team; part++) {
        int64_t at = sums[part];
        for (int64_t v = n * part / b->team; v < n * (part + 1) / b->team; v++) {
            offsets[v] = at;
            for (int t = 0; t < b->team; t++) {
                int64_t *place = &b->cursor[(int64_t)t * n + v];
                int64_t count = *place;
                *place = at;
                at += count;
            }
        }
    }
    offsets[n] = total;
    return total;
}

static void name_edge(char *text, size_t size, const twi_edge_source *source, int64_t index)
{
    if (source->place != NULL) {
        source->place(text, size, source->place_self, index);
    } else {
        snprintf(text, size, "edge %lld", (long long)index);
    }
}

static tw_status explain_bad(tw_context *ctx, const twi_edge_source *source, int64_t index)
{
    const twi_edge_part *part = source->parts;
    int64_t i = index;
    while (i >= part->count) {
        i -= part->count;
        part++;
    }
    edge e = load_edge(part, i, source->weight_type);
    /* A caller's array is the caller's argument; anything with a place of its own is a file. */
    tw_status blame = source->blame != TW_OK  ? source->blame
                      : source->place != NULL ? TW_ERR_FORMAT
                                              : TW_ERR_ARGUMENT;
    char place[512];
    name_edge(place, sizeof place, source, index);
    int32_t ends[2] = {e.source, e.target};
    for (int k = 0; k < 2; k++) {
        if ((uint32_t)ends[k] >= (uint64_t)source->vertices) {
            return tw_fail(ctx, blame, "%s: vertex %d is outside 0 ... %lld; the graph has %lld %s",
                           place, ends[k], (long long)source->vertices - 1,
                           (long long)source->vertices,
                           source->vertices == 1 ? "vertex" : "vertices");
        }
    }
    return tw_fail(ctx, blame,
                   "%s: the weight of %d -> %d is %s: a weight is a number, or +inf for no edge",
                   place, e.source, e.target, isnan(e.weight) ? "NaN" : "-inf");
}

static tw_status first_problem(const build *b)
{
    tw_status status = twi_check_cancel(b->ctx);
    int64_t bad = INT64_MAX;
    for (int t = 0; t < b->team; t++) {
        bad = b->tallies[t].bad < bad ? b->tallies[t].bad : bad;
    }
    if (status == TW_OK && bad != INT64_MAX) {
        status = explain_bad(b->ctx, b->source, bad);
    }
    return status;
}

/* As many threads as have something to do, and whose counts together stay below the graph. */
static int choose_team(tw_context *ctx, int64_t edges, int64_t vertices)
{
    int64_t team = twi_thread_count(ctx);
    int64_t useful = edges / STRETCH + 1;
    int64_t light = vertices > 0 ? edges / vertices + 1 : 1;
    team = useful < team ? useful : team;
    return (int)(light < team ? light : team);
}

static tw_status build_rows(build *b)
{
    tw_context *ctx = b->ctx;
    int64_t *sums = NULL;
    twi_weight_stats stats = twi_no_weights();
    tw_status status =
        twi_alloc_zeroed(ctx, &b->cursor, (uint64_t)b->team * (uint64_t)b->source->vertices,
                         sizeof(int64_t), "the counts of arcs per vertex");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &b->tallies, (uint64_t)b->team, sizeof(tally), "thread records");
    }
    if (status == TW_OK) {
        status = twi_alloc(ctx, &sums, (uint64_t)b->team, sizeof *sums, "thread sums");
    }
    if (status != TW_OK) {
        goto done;
    }
    for (int t = 0; t < b->team; t++) {
        b->tallies[t] = (tally){twi_no_weights(), INT64_MAX};
    }
    run_pass(b, false);
    status = first_problem(b);
    if (status != TW_OK) {
        goto done;
    }
    status = twi_graph_allocate_arcs(ctx, b->graph, place_rows(b, sums));
    if (status != TW_OK) {
        goto done;
    }
    const uint64_t kept = (uint64_t)b->graph->arcs, each = tw_type_size(b->graph->weight_type);
    twi_bring_in(ctx, b->graph->targets, kept * sizeof *b->graph->targets, b->team);
    twi_bring_in(ctx, b->graph->weights, kept * each, b->team);
    run_pass(b, true);
    status = twi_check_cancel(ctx);
    for (int t = 0; t < b->team; t++) {
        twi_merge_stats(&stats, &b->tallies[t].stats);
    }
    twi_graph_set_stats(b->graph, &stats);
done:
    twi_free(sums);
    twi_free(b->tallies);
    twi_free(b->cursor);
    return status;
}

uint64_t twi_graph_bytes(int64_t vertices, int64_t arcs, tw_type weight_type)
{
    return sizeof(tw_graph) + ((uint64_t)vertices + 1) * sizeof(int64_t) +
           (uint64_t)arcs * (sizeof(int32_t) + tw_type_size(weight_type));
}

static uint64_t graph_bytes(const twi_edge_source *source, int64_t edges)
{
    return twi_graph_bytes(source->vertices, source->both ? 2 * edges : edges, source->weight_type);
}

uint64_t twi_graph_building(tw_context *ctx, const twi_edge_source *source, int64_t edges)
{
    const int team = choose_team(ctx, edges, source->vertices);
    return graph_bytes(source, edges) +
           (uint64_t)team * ((uint64_t)source->vertices * sizeof(int64_t) + sizeof(tally));
}

uint64_t twi_graph_needs(tw_context *ctx, const twi_edge_source *source, int64_t edges)
{
    const uint64_t building = twi_graph_building(ctx, source, edges);
    const int64_t arcs = source->both ? 2 * edges : edges;
    uint64_t using = graph_bytes(source, edges);
    if (ctx->graph_use != NULL) {
        using += ctx->graph_use(ctx->graph_use_user, source->vertices, arcs, source->weight_type);
    }
    using = using > source->held ? using - source->held : 0;
    return building > using ? building : using;
}

/* "3 edges", or, of a number that is only estimated, "about 63000 edges": two digits of it. */
static const char *show_count(char text[64], int64_t count, bool guessed, const char *one,
                              const char *many)
{
    int64_t unit = 1;
    while (guessed && count / unit >= 100) {
        unit *= 10;
    }
    snprintf(text, 64, "%s%lld %s", guessed ? "about " : "",
             (long long)((count + unit / 2) / unit * unit), count == 1 ? one : many);
    return text;
}

tw_status twi_graph_refuse(tw_context *ctx, const char *name, int64_t vertices, int64_t edges,
                           uint64_t bytes, twi_graph_guess guess)
{
    char needed[32], left[32], advice[TWI_ADVICE], from[64], between[64];
    twi_bytes_apart(needed, tw_memory_used(ctx) + bytes, left, tw_memory_limit(ctx));
    return tw_fail(ctx, TW_ERR_MEMORY,
                   "%.500s%s%s between %s need %s of memory, but %s may be used%s",
                   name != NULL ? name : "", name != NULL ? ": " : "",
                   show_count(from, edges, guess == TWI_GUESS_ALL, "edge", "edges"),
                   show_count(between, vertices, guess != TWI_GUESS_NONE, "vertex", "vertices"),
                   needed, left, twi_memory_advice(advice, ctx, bytes));
}

tw_status twi_graph_build(tw_context *ctx, tw_graph **out, const twi_edge_source *source)
{
    *out = NULL;
    build b = {.ctx = ctx, .source = source};
    for (int64_t p = 0; p < source->part_count; p++) {
        b.edges += source->parts[p].count;
    }
    tw_status status = twi_graph_check_vertices(ctx, source->vertices);
    if (status == TW_OK && ctx->memory_limit > 0 &&
        twi_graph_building(ctx, source, b.edges) > twi_memory_room(ctx)) {
        return twi_graph_refuse(ctx, source->name, source->vertices, b.edges,
                                twi_graph_needs(ctx, source, b.edges), TWI_GUESS_NONE);
    }
    if (status == TW_OK) {
        status = twi_graph_allocate(ctx, &b.graph, source->vertices, source->weight_type);
    }
    if (status == TW_OK) {
        b.graph->undirected = source->undirected;
        b.team = choose_team(ctx, b.edges, source->vertices);
        status = build_rows(&b);
    }
    if (status != TW_OK) {
        tw_graph_destroy(b.graph);
        return status;
    }
    *out = b.graph;
    return TW_OK;
}

/* ------------------------------------------------------------------------ from a caller's arrays
 */

/* Integers of 64 bits as those of 32 that take their place; ours to free. */
typedef struct narrowed {
    int32_t *source;
    int32_t *target;
    void *weight;
} narrowed;

static tw_status narrow_vertices(tw_context *ctx, int32_t **out, const void *in, int64_t count,
                                 int64_t vertices)
{
    int64_t bad = INT64_MAX;
    tw_status status = twi_narrow_vertices(ctx, out, &bad, in, count, vertices);
    return status != TW_OK || bad == INT64_MAX
               ? status
               : tw_fail(ctx, TW_ERR_ARGUMENT,
                         "edge %lld: vertex %lld is outside 0 ... %lld; the graph has %lld %s",
                         (long long)bad, (long long)twi_load_i64(in, bad), (long long)vertices - 1,
                         (long long)vertices, vertices == 1 ? "vertex" : "vertices");
}

/* Puts what is of 64 bits into `own`, and the part to it. */
static tw_status narrow(tw_context *ctx, twi_edge_part *part, tw_type *type, const tw_edges *edges,
                        int64_t vertices, narrowed *own)
{
    tw_status status = TW_OK;
    if (edges->index_type == TW_I64) {
        status = narrow_vertices(ctx, &own->source, edges->source, edges->count, vertices);
        if (status == TW_OK) {
            status = narrow_vertices(ctx, &own->target, edges->target, edges->count, vertices);
        }
        part->source = (const char *)own->source;
        part->target = (const char *)own->target;
    }
    if (status == TW_OK && *type == TW_I64) {
        int64_t bad = INT64_MAX;
        status = twi_narrow_weights(ctx, &own->weight, type, &bad, edges->weight, edges->count);
        part->weight = own->weight;
        part->weight_step = (int32_t)tw_type_size(*type);
        if (status == TW_OK && bad != INT64_MAX) {
            status = tw_fail(ctx, TW_ERR_RANGE,
                             "edge %lld: the weight %lld is beyond 2^53: weights are kept in i32 "
                             "or f64",
                             (long long)bad, (long long)twi_load_i64(edges->weight, bad));
        }
    }
    return status;
}

static tw_status check_edges(tw_context *ctx, const tw_edges *edges, uint32_t flags)
{
    const tw_type type = edges->weight != NULL ? edges->weight_type : TW_I32;
    if (edges->count < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%lld edges: the count cannot be negative",
                       (long long)edges->count);
    }
    if (edges->count > 0 && (edges->source == NULL || edges->target == NULL)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "edges need both sources and targets, or a count of 0");
    }
    if ((flags & ~(uint32_t)TW_GRAPH_UNDIRECTED) != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "unknown graph flags 0x%x; only TW_GRAPH_UNDIRECTED is defined",
                       (unsigned)flags);
    }
    if (type != TW_I32 && type != TW_F32 && type != TW_F64 && type != TW_I64) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "weights of type %s are not supported; use i32, i64, f32 or f64",
                       tw_type_name(type));
    }
    if (edges->index_type != TW_I32 && edges->index_type != TW_I64) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "vertices of type %s are not supported; use i32 or i64",
                       tw_type_name(edges->index_type));
    }
    return TW_OK;
}

tw_status tw_graph_from_edges(tw_context *ctx, tw_graph **out, int64_t vertices,
                              const tw_edges *edges, uint32_t flags)
{
    twi_clear_handle(out);
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"edges", edges});
    if (status != TW_OK) {
        return status;
    }
    tw_edges given = TW_EDGES_INIT;
    status = TWI_TAKE(ctx, tw_edges, &given, edges);
    if (status == TW_OK) {
        status = check_edges(ctx, &given, flags);
    }
    if (status == TW_OK) {
        status = twi_graph_check_vertices(ctx, vertices);
    }
    if (status != TW_OK) {
        return status;
    }
    narrowed own = {0};
    tw_type type = given.weight != NULL ? given.weight_type : TW_I32;
    twi_edge_part part = {
        .count = given.count,
        .source = given.source,
        .target = given.target,
        .weight = given.weight,
        .source_step = sizeof(int32_t),
        .target_step = sizeof(int32_t),
        .weight_step = (int32_t)tw_type_size(type),
    };
    status = narrow(ctx, &part, &type, &given, vertices, &own);
    if (status == TW_OK) {
        bool undirected = (flags & TW_GRAPH_UNDIRECTED) != 0;
        twi_edge_source source = {
            .vertices = vertices,
            .parts = &part,
            .part_count = 1,
            .weight_type = type,
            .both = undirected,
            .undirected = undirected,
        };
        status = twi_graph_build(ctx, out, &source);
    }
    if (status == TW_OK) {
        (*out)->floats = given.weight != NULL && !twi_type_is_whole(given.weight_type);
    }
    twi_free(own.weight);
    twi_free(own.target);
    twi_free(own.source);
    return status;
}
