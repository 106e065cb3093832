/*
 * Generators. Every choice is number i of a stream of the seed (base/random.h), where i names the
 * thing decided (a pair, an edge, a lattice edge), never the order in which threads come by; so a
 * graph depends on its options alone.
 *
 * Complete, dense and grid graphs are made row by row straight into compressed rows: one pass
 * counts the arcs of each vertex, a second writes them; an undirected pair is decided by the same
 * number from both of its ends. Sparse, preferential and R-MAT graphs are drawn as edges and given
 * to the builder.
 */
#include "base/given.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"
#include "graph/graph.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Streams of one seed: each use has its own. */
enum { STREAM_PRESENCE = 1, STREAM_WEIGHT = 2, STREAM_SOURCE = 3, STREAM_TARGET = 4 };

typedef struct recipe recipe;

/* Writes the neighbours of `vertex` and the numbers that decide their weights, for a graph made by
 * rows; NULL arrays: only counts. Returns the count. */
typedef int64_t (*row_fn)(const recipe *r, int64_t vertex, int32_t *targets, uint64_t *keys);

typedef struct kind {
    const char *name;
    bool undirected;                               /* by nature */
    row_fn row;                                    /* made by rows, or ... */
    tw_status (*edges)(recipe *r, tw_graph **out); /* ... drawn as edges */
    bool uses_degree;
    bool uses_density;
} kind;

struct recipe {
    tw_context *ctx;
    const kind *kind;
    int64_t vertices;
    int64_t cols; /* grid: vertex v is at row v / cols, column v % cols */
    double degree;
    double density;
    bool undirected;
    tw_type type;
    double min;
    double max;
    uint64_t presence; /* seeds of the streams */
    uint64_t weight;
    uint64_t source;
    uint64_t target;
};

/* -------------------------------------------------------------------------------- weights */

static int32_t whole_weight(const recipe *r, uint64_t key)
{
    int64_t low = (int64_t)r->min;
    uint64_t range = (uint64_t)((int64_t)r->max - low) + 1;
    return (int32_t)(low + (int64_t)twi_random_below(twi_random_at(r->weight, key), range));
}

static double real_weight(const recipe *r, uint64_t key)
{
    double unit = twi_random_unit(twi_random_at(r->weight, key));
    double value = r->min * (1 - unit) + r->max * unit;
    value = value < r->min ? r->min : value;
    return value > r->max ? r->max : value;
}

static double put_weight(const recipe *r, void *weights, int64_t at, uint64_t key)
{
    switch (r->type) {
    case TW_I32:
        return ((int32_t *)weights)[at] = whole_weight(r, key);
    case TW_F32:
        return ((float *)weights)[at] = (float)real_weight(r, key);
    default:
        return ((double *)weights)[at] = real_weight(r, key);
    }
}

/* ----------------------------------------------------------------- kinds made row by row */

static uint64_t pair_key(const recipe *r, int64_t u, int64_t v)
{
    if (r->undirected && u > v) {
        return (uint64_t)v * (uint64_t)r->vertices + (uint64_t)u;
    }
    return (uint64_t)u * (uint64_t)r->vertices + (uint64_t)v;
}

static bool present(const recipe *r, uint64_t key)
{
    return twi_random_unit(twi_random_at(r->presence, key)) < r->density;
}

static int64_t complete_row(const recipe *r, int64_t vertex, int32_t *targets, uint64_t *keys)
{
    if (targets == NULL) {
        return r->vertices - 1;
    }
    int64_t count = 0;
    for (int64_t v = 0; v < r->vertices; v++) {
        if (v != vertex) {
            targets[count] = (int32_t)v;
            keys[count++] = pair_key(r, vertex, v);
        }
    }
    return count;
}

static int64_t dense_row(const recipe *r, int64_t vertex, int32_t *targets, uint64_t *keys)
{
    int64_t count = 0;
    for (int64_t v = 0; v < r->vertices; v++) {
        uint64_t key = pair_key(r, vertex, v);
        if (v == vertex || !present(r, key)) {
            continue;
        }
        if (targets != NULL) {
            targets[count] = (int32_t)v;
            keys[count] = key;
        }
        count++;
    }
    return count;
}

/* Lattice edge 2v leads from v to the right, 2v + 1 down. It is there or not for both directions;
 * in a directed grid each direction has a weight of its own. */
static int64_t grid_row(const recipe *r, int64_t vertex, int32_t *targets, uint64_t *keys)
{
    bool left = vertex % r->cols > 0;
    bool right = vertex % r->cols < r->cols - 1 && vertex + 1 < r->vertices;
    const struct {
        bool there;
        int64_t neighbour;
        uint64_t edge;
        bool backward;
    } sides[4] = {
        {vertex >= r->cols, vertex - r->cols, 2 * (uint64_t)(vertex - r->cols) + 1, true},
        {left, vertex - 1, 2 * (uint64_t)(vertex - 1), true},
        {right, vertex + 1, 2 * (uint64_t)vertex, false},
        {vertex + r->cols < r->vertices, vertex + r->cols, 2 * (uint64_t)vertex + 1, false},
    };
    int64_t count = 0;
    for (int k = 0; k < 4; k++) {
        if (!sides[k].there || !present(r, sides[k].edge)) {
            continue;
        }
        if (targets != NULL) {
            targets[count] = (int32_t)sides[k].neighbour;
            keys[count] = 2 * sides[k].edge + (!r->undirected && sides[k].backward ? 1 : 0);
        }
        count++;
    }
    return count;
}

/* Fills row by row; each thread has a buffer for the keys of one row. */
static bool fill_rows(const recipe *r, tw_graph *graph, twi_weight_stats *stats, int64_t longest)
{
    bool failed = false;
#pragma omp parallel num_threads(twi_thread_count(r->ctx)) reduction(|| : failed)
    {
        twi_weight_stats mine = twi_no_weights();
        uint64_t *keys = twi_try_alloc(r->ctx, (uint64_t)longest, sizeof *keys);
        failed = keys == NULL;
#pragma omp for schedule(static)
        for (int64_t u = 0; u < graph->n; u++) {
            if (keys == NULL || twi_is_cancelled(r->ctx)) {
                continue;
            }
            int64_t first = graph->offsets[u];
            int64_t count = r->kind->row(r, u, graph->targets + first, keys);
            for (int64_t i = 0; i < count; i++) {
                twi_see_weight(&mine, put_weight(r, graph->weights, first + i, keys[i]));
            }
            if (twi_thread_id() == 0) { /* whose rows come first, and stand for the others */
                twi_progress(r->ctx, "generate", (double)(u * twi_team_size()), (double)graph->n,
                             "rows");
            }
        }
        twi_free(keys);
#pragma omp critical(twi_generate_stats)
        twi_merge_stats(stats, &mine);
    }
    return !failed;
}

/* Before the pairs of a dense graph are counted one by one: what they are expected to take. */
static tw_status check_expected(const recipe *r)
{
    double n = (double)r->vertices;
    double arcs = r->kind->row == grid_row ? 0 : r->density * n * (n - 1);
    double bytes = 0.9 * arcs * (double)(sizeof(int32_t) + tw_type_size(r->type));
    uint64_t whole = bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
    char what[64];
    snprintf(what, sizeof what, "a graph of about %.3g arcs", arcs);
    return twi_memory_check(r->ctx, whole, what);
}

static tw_status generate_rows(recipe *r, tw_graph **out)
{
    tw_graph *graph = NULL;
    tw_status status = check_expected(r);
    if (status == TW_OK) {
        status = twi_graph_allocate(r->ctx, &graph, r->vertices, r->type);
    }
    if (status != TW_OK) {
        return status;
    }
    graph->undirected = r->undirected;
#pragma omp parallel for num_threads(twi_thread_count(r->ctx)) schedule(static)
    for (int64_t u = 0; u < graph->n; u++) {
        if (!twi_is_cancelled(r->ctx)) {
            graph->offsets[u + 1] = r->kind->row(r, u, NULL, NULL);
        }
    }
    int64_t longest = 0;
    for (int64_t u = 0; u < graph->n; u++) {
        int64_t count = graph->offsets[u + 1];
        longest = count > longest ? count : longest;
        graph->offsets[u + 1] += graph->offsets[u];
    }
    status = twi_check_cancel(r->ctx);
    if (status == TW_OK) {
        status = twi_graph_allocate_arcs(r->ctx, graph, graph->offsets[graph->n]);
    }
    twi_weight_stats stats = twi_no_weights();
    if (status == TW_OK && !fill_rows(r, graph, &stats, longest)) {
        status = tw_fail(r->ctx, TW_ERR_MEMORY, "not enough memory to generate a row of %lld arcs",
                         (long long)longest);
    }
    if (status == TW_OK) {
        status = twi_check_cancel(r->ctx);
    }
    if (status != TW_OK) {
        tw_graph_destroy(graph);
        return status;
    }
    twi_graph_set_stats(graph, &stats);
    *out = graph;
    return TW_OK;
}

/* ------------------------------------------------------------------- kinds drawn as edges */

typedef struct drawing {
    int64_t count;
    int32_t *source;
    int32_t *target;
    void *weight;
} drawing;

static void drawing_clear(drawing *d)
{
    twi_free(d->weight);
    twi_free(d->target);
    twi_free(d->source);
}

static tw_status drawing_create(recipe *r, drawing *d, int64_t count)
{
    *d = (drawing){.count = count};
    uint64_t edges = (uint64_t)count;
    size_t size = tw_type_size(r->type);
    /* The drawing, then the graph beside it. */
    uint64_t bytes;
    if (!twi_mul(edges, (8 + size) + (4 + size) * (r->undirected ? 2 : 1), &bytes)) {
        bytes = UINT64_MAX;
    }
    char what[64];
    snprintf(what, sizeof what, "generating %lld edges", (long long)count);
    tw_status status = twi_memory_check(r->ctx, bytes, what);
    if (status == TW_OK) {
        status = twi_alloc(r->ctx, &d->source, edges, sizeof(int32_t), "generated edges");
    }
    if (status == TW_OK) {
        status = twi_alloc(r->ctx, &d->target, edges, sizeof(int32_t), "generated edges");
    }
    if (status == TW_OK) {
        status = twi_alloc(r->ctx, &d->weight, edges, size, "generated weights");
    }
    return status;
}

/* Draws the weights, builds the graph and frees the drawing. */
static tw_status drawing_finish(recipe *r, tw_graph **out, drawing *d, tw_status status)
{
    if (status == TW_OK) {
#pragma omp parallel for num_threads(twi_thread_count(r->ctx)) schedule(static)
        for (int64_t i = 0; i < d->count; i++) {
            if (!twi_is_cancelled(r->ctx)) {
                put_weight(r, d->weight, i, (uint64_t)i);
            }
        }
        tw_edges edges = {sizeof edges, d->count, d->source, d->target, d->weight, r->type, TW_I32};
        status = twi_check_cancel(r->ctx);
        if (status == TW_OK) {
            status = tw_graph_from_edges(r->ctx, out, r->vertices, &edges,
                                         r->undirected ? TW_GRAPH_UNDIRECTED : 0);
        }
    }
    drawing_clear(d);
    return status;
}

/* `degree` * n arcs, so half as many edges when each makes two. */
static tw_status edge_count(recipe *r, int64_t *count)
{
    double arcs = r->degree * (double)r->vertices;
    if (arcs > 0x1p60) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT, "degree %g on %lld vertices is too many arcs",
                       r->degree, (long long)r->vertices);
    }
    *count = r->vertices < 2 ? 0 : llround(r->undirected ? arcs / 2 : arcs);
    return TW_OK;
}

static tw_status sparse_edges(recipe *r, tw_graph **out)
{
    drawing d = {0};
    int64_t count = 0;
    tw_status status = edge_count(r, &count);
    if (status == TW_OK) {
        status = drawing_create(r, &d, count);
    }
    if (status == TW_OK) {
        uint64_t n = (uint64_t)r->vertices;
#pragma omp parallel for num_threads(twi_thread_count(r->ctx)) schedule(static)
        for (int64_t i = 0; i < count; i++) {
            if (twi_is_cancelled(r->ctx)) {
                continue;
            }
            uint64_t u = twi_random_below(twi_random_at(r->source, (uint64_t)i), n);
            uint64_t v = twi_random_below(twi_random_at(r->target, (uint64_t)i), n - 1);
            d.source[i] = (int32_t)u;
            d.target[i] = (int32_t)(v < u ? v : v + 1); /* skips u itself */
        }
    }
    return drawing_finish(r, out, &d, status);
}

/* One descent through the quadrants of the adjacency matrix, `levels` deep, 16 random bits a
 * level. The probabilities 0.57, 0.19, 0.19, 0.05 are of 65536. */
static void descend(const recipe *r, uint64_t stream, int levels, int64_t *u, int64_t *v)
{
    enum { A = 37356, AB = A + 12452, ABC = AB + 12452 };
    uint64_t bits = 0;
    *u = 0;
    *v = 0;
    for (int level = 0; level < levels; level++) {
        if (level % 4 == 0) {
            bits = twi_random_at(r->source, stream * 8 + (uint64_t)level / 4);
        }
        unsigned draw = (unsigned)(bits & 0xFFFF);
        bits >>= 16;
        *u = 2 * *u + (draw >= AB);
        *v = 2 * *v + ((draw >= A && draw < AB) || draw >= ABC);
    }
}

/* Arcs that leave the n vertices, or loop, are drawn again; after TRIES the pair is folded into
 * range, so that no seed can spin. */
static tw_status rmat_edges(recipe *r, tw_graph **out)
{
    enum { TRIES = 256 };
    drawing d = {0};
    int64_t count = 0;
    int levels = 0;
    while (((int64_t)1 << levels) < r->vertices) {
        levels++;
    }
    tw_status status = edge_count(r, &count);
    if (status == TW_OK) {
        status = drawing_create(r, &d, count);
    }
    if (status == TW_OK) {
#pragma omp parallel for num_threads(twi_thread_count(r->ctx)) schedule(static)
        for (int64_t i = 0; i < count; i++) {
            if (twi_is_cancelled(r->ctx)) {
                continue;
            }
            int64_t u = 0;
            int64_t v = 0;
            for (uint64_t attempt = 0; attempt < TRIES; attempt++) {
                descend(r, (uint64_t)i * TRIES + attempt, levels, &u, &v);
                if (u < r->vertices && v < r->vertices && u != v) {
                    break;
                }
            }
            u %= r->vertices;
            v %= r->vertices;
            d.source[i] = (int32_t)u;
            d.target[i] = (int32_t)(u != v ? v : (v + 1) % r->vertices);
        }
    }
    return drawing_finish(r, out, &d, status);
}

/* How many earlier vertices `vertex` attaches to: the degree, whose fraction is a chance, but
 * never more than there are. */
static int64_t attachments(const recipe *r, int64_t vertex)
{
    double whole = floor(r->degree);
    double chance = twi_random_unit(twi_random_at(r->presence, (uint64_t)vertex));
    double wanted = whole + (chance < r->degree - whole ? 1 : 0);
    return wanted < (double)vertex ? (int64_t)wanted : vertex;
}

/* An end of a random earlier edge is a vertex chosen by its degree. Targets of one vertex are
 * distinct: `last` says who chose a vertex last, and a repeated choice is drawn again. */
static void attach_all(const recipe *r, drawing *d, int64_t *last)
{
    int64_t edges = 0;
    uint64_t draws = 0;
    for (int64_t v = 1; v < r->vertices && !twi_is_cancelled(r->ctx); v++) {
        int64_t wanted = attachments(r, v);
        int64_t before = edges;
        for (int64_t k = 0; k < wanted; k++) {
            int64_t u = k; /* as many as there are: take them all */
            if (wanted < v && before == 0) {
                u = (int64_t)twi_random_below(twi_random_at(r->target, draws++), (uint64_t)v);
            } else if (wanted < v) {
                uint64_t end =
                    twi_random_below(twi_random_at(r->target, draws++), 2 * (uint64_t)before);
                u = end % 2 == 0 ? d->source[end / 2] : d->target[end / 2];
            }
            if (last[u] == v) {
                k--;
                continue;
            }
            last[u] = v;
            d->source[edges] = (int32_t)v;
            d->target[edges++] = (int32_t)u;
        }
    }
}

static tw_status preferential_edges(recipe *r, tw_graph **out)
{
    drawing d = {0};
    int64_t *last = NULL;
    int64_t count = 0;
    double bound = r->degree * (double)r->vertices;
    tw_status status = TW_OK;
    if (bound > 0x1p60) {
        status = tw_fail(r->ctx, TW_ERR_ARGUMENT, "degree %g on %lld vertices is too many arcs",
                         r->degree, (long long)r->vertices);
    }
    if (status == TW_OK) {
        char what[64];
        snprintf(what, sizeof what, "a graph of %lld vertices", (long long)r->vertices);
        status = twi_memory_check(r->ctx, (uint64_t)r->vertices * sizeof *last, what);
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(r->ctx, &last, (uint64_t)r->vertices, sizeof *last,
                                  "marks of chosen vertices");
    }
    if (status == TW_OK) {
        for (int64_t v = 1; v < r->vertices; v++) {
            count += attachments(r, v);
        }
        status = drawing_create(r, &d, count);
    }
    if (status == TW_OK) {
        attach_all(r, &d, last);
    }
    twi_free(last);
    return drawing_finish(r, out, &d, status);
}

/* -------------------------------------------------------------------------------- options */

static const kind kinds[] = {
    {"complete", false, complete_row, NULL, false, false},
    {"dense", false, dense_row, NULL, false, true},
    {"sparse", false, NULL, sparse_edges, true, false},
    {"grid", true, grid_row, NULL, false, true},
    {"preferential", true, NULL, preferential_edges, true, false},
    {"rmat", false, NULL, rmat_edges, true, false},
};

static tw_status find_kind(recipe *r, const char *name)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (name != NULL && strcmp(name, kinds[k].name) == 0) {
            r->kind = &kinds[k];
            return TW_OK;
        }
    }
    return tw_fail(
        r->ctx, TW_ERR_ARGUMENT,
        "unknown generator '%.40s'; use complete, dense, sparse, grid, preferential or rmat",
        name != NULL ? name : "");
}

static tw_status check_weights(recipe *r)
{
    if (r->type != TW_I32 && r->type != TW_F32 && r->type != TW_F64) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT,
                       "weights of type %s are not supported; use i32, f32 or f64",
                       tw_type_name(r->type));
    }
    double limit = r->type == TW_F32 ? FLT_MAX : DBL_MAX;
    if (!(fabs(r->min) <= limit) || !(fabs(r->max) <= limit)) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT,
                       "weights from %g to %g: both ends must be finite numbers of type %s", r->min,
                       r->max, tw_type_name(r->type));
    }
    if (r->min > r->max) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT,
                       "weights from %g to %g: the minimum is above the maximum", r->min, r->max);
    }
    if (r->type == TW_I32 && (r->min != floor(r->min) || r->max != floor(r->max) ||
                              r->min < INT32_MIN || r->max > INT32_MAX)) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT,
                       "weights from %g to %g: for i32 both ends must be whole numbers from %d to "
                       "%d; use f64 for others",
                       r->min, r->max, INT32_MIN, INT32_MAX);
    }
    if (r->undirected && r->min < 0) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT,
                       "weights from %g: an undirected edge of negative weight is a negative "
                       "cycle; make the graph directed or begin at 0",
                       r->min);
    }
    return TW_OK;
}

static tw_status check_size(recipe *r, const tw_graph_generate_options *opts)
{
    r->vertices = opts->vertices;
    r->cols = 1;
    if (r->kind->row == grid_row) {
        if (opts->rows < 0 || opts->cols < 0) {
            return tw_fail(r->ctx, TW_ERR_ARGUMENT, "a grid of %lld x %lld: sizes must be above 0",
                           (long long)opts->rows, (long long)opts->cols);
        }
        if (opts->rows > 0 && opts->cols > 0 &&
            __builtin_mul_overflow(opts->rows, opts->cols, &r->vertices)) {
            r->vertices = INT64_MAX;
        }
    }
    if (r->vertices < 0 || r->vertices > TWI_MOST_VERTICES) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT, "%lld vertices: expected 0 to %d",
                       (long long)r->vertices, TWI_MOST_VERTICES);
    }
    if (r->kind->row == grid_row && r->vertices > 0) {
        int64_t rows = opts->rows > 0 ? opts->rows : (int64_t)sqrt((double)r->vertices);
        r->cols = opts->cols > 0 ? opts->cols : (r->vertices + rows - 1) / rows;
    }
    return TW_OK;
}

static tw_status check_shape(recipe *r, const tw_graph_generate_options *opts)
{
    if (r->kind->uses_density && !(opts->density >= 0 && opts->density <= 1)) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT, "density %g: expected a probability from 0 to 1",
                       opts->density);
    }
    if (r->kind->uses_degree && !(opts->degree >= 0 && opts->degree < INFINITY)) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT, "degree %g: expected 0 or more", opts->degree);
    }
    if (opts->directed < TW_GRAPH_DIRECTED_AS_FILE || opts->directed > TW_GRAPH_DIRECTED_YES) {
        return tw_fail(r->ctx, TW_ERR_ARGUMENT, "directed is %d; use one of TW_GRAPH_DIRECTED_*",
                       opts->directed);
    }
    r->degree = opts->degree;
    r->density = r->kind->uses_density ? opts->density : 1;
    r->undirected = opts->directed == TW_GRAPH_DIRECTED_NO ||
                    (opts->directed == TW_GRAPH_DIRECTED_AS_FILE && r->kind->undirected);
    return TW_OK;
}

tw_status tw_graph_generate(tw_context *ctx, tw_graph **out, const tw_graph_generate_options *opts)
{
    twi_clear_handle(out);
    tw_graph_generate_options ours = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_status status = TWI_REQUIRE(ctx, {"out", out});
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_graph_generate_options, &ours, opts);
    }
    if (status != TW_OK) {
        return status;
    }
    opts = &ours;
    recipe r = {
        .ctx = ctx,
        .type = opts->weight_type,
        .min = opts->min_weight,
        .max = opts->max_weight,
        .presence = twi_random_at(opts->seed, STREAM_PRESENCE),
        .weight = twi_random_at(opts->seed, STREAM_WEIGHT),
        .source = twi_random_at(opts->seed, STREAM_SOURCE),
        .target = twi_random_at(opts->seed, STREAM_TARGET),
    };
    status = find_kind(&r, opts->kind);
    if (status == TW_OK) {
        status = check_shape(&r, opts);
    }
    if (status == TW_OK) {
        status = check_size(&r, opts);
    }
    if (status == TW_OK) {
        status = check_weights(&r);
    }
    if (status == TW_OK) {
        status = r.kind->row != NULL ? generate_rows(&r, out) : r.kind->edges(&r, out);
    }
    return status;
}
