/* Graphs of every shape that a method by elimination can meet, for tests. */
#ifndef TW_TESTS_SHAPES_H
#define TW_TESTS_SHAPES_H

#include "unit/small_graphs.h"

#include "base/random.h"

static const uint64_t SEED = 20261116;

typedef struct edges {
    int64_t n;
    int64_t count;
    int64_t room;
    int32_t *from;
    int32_t *to;
    double *weight;
    uint64_t drawn;
    uint64_t most; /* weights are 0 ... most, or `least` more */
    uint64_t least;
} edges;

static inline int64_t draw(edges *e, int64_t bound)
{
    return (int64_t)twi_random_below(twi_random_at(SEED, e->drawn++), (uint64_t)bound);
}

static inline void add(edges *e, int64_t from, int64_t to)
{
    if (e->count == e->room) {
        e->room = 2 * e->room + 64;
        e->from = realloc(e->from, (size_t)e->room * sizeof *e->from);
        e->to = realloc(e->to, (size_t)e->room * sizeof *e->to);
        e->weight = realloc(e->weight, (size_t)e->room * sizeof *e->weight);
    }
    e->from[e->count] = (int32_t)from;
    e->to[e->count] = (int32_t)to;
    e->weight[e->count++] = (double)(e->least + (uint64_t)draw(e, (int64_t)e->most + 1));
}

/* Both directions, each with a weight of its own. */
static inline void join(edges *e, int64_t a, int64_t b)
{
    add(e, a, b);
    add(e, b, a);
}

static inline void path(edges *e)
{
    for (int64_t v = 1; v < e->n; v++) {
        join(e, v - 1, v);
    }
}

static inline void cycle(edges *e)
{
    for (int64_t v = 0; v < e->n; v++) {
        add(e, v, (v + 1) % e->n);
    }
}

static inline void star(edges *e)
{
    for (int64_t v = 1; v < e->n; v++) {
        join(e, 0, v);
    }
}

static inline void tree(edges *e)
{
    for (int64_t v = 1; v < e->n; v++) {
        join(e, draw(e, v), v);
    }
}

static inline void clique(edges *e)
{
    for (int64_t v = 0; v < e->n; v++) {
        for (int64_t w = 0; w < v; w++) {
            join(e, v, w);
        }
    }
}

static inline void grid_without(edges *e, int64_t holes)
{
    int64_t side = 1;
    while ((side + 1) * (side + 1) <= e->n) {
        side++;
    }
    for (int64_t v = 0; v < e->n; v++) {
        bool kept = holes == 0 || v % holes != 0;
        if (kept && v % side + 1 < side && v + 1 < e->n && (holes == 0 || (v + 1) % holes != 0)) {
            join(e, v, v + 1);
        }
        if (kept && v + side < e->n && (holes == 0 || (v + side) % holes != 0)) {
            join(e, v, v + side);
        }
    }
}

static inline void grid(edges *e)
{
    grid_without(e, 0);
}

static inline void grid_with_holes(edges *e)
{
    grid_without(e, 7);
}

static inline void one_way_grid(edges *e)
{
    grid(e);
    for (int64_t i = 1; i < e->count; i += 3) {
        e->to[i] = e->from[i]; /* a loop: dropped */
    }
}

static inline void components(edges *e)
{
    for (int64_t v = 0; v < e->n; v++) {
        if (v % 11 != 0) {
            join(e, v - 1, v);
        }
        if (v % 11 > 3) {
            add(e, v - 3, v);
        }
    }
}

static inline void parallel_arcs(edges *e)
{
    grid(e);
    int64_t count = e->count;
    for (int64_t i = 0; i < count; i++) {
        add(e, e->from[i], e->to[i]);
        add(e, e->from[i], e->from[i]);
    }
}

static inline void no_arcs(edges *e)
{
    (void)e;
}

static inline void random_sparse(edges *e)
{
    for (int64_t i = 0; i < 3 * e->n; i++) {
        add(e, draw(e, e->n), draw(e, e->n));
    }
}

/* Small cliques that share one vertex. */
static inline void hub_of_cliques(edges *e)
{
    for (int64_t v = 1; v < e->n; v++) {
        join(e, 0, v);
        for (int64_t w = v - (v - 1) % 5; w < v; w++) {
            join(e, w, v);
        }
    }
}

/* A core that everything hangs on, by trees and chains. */
static inline void core(edges *e)
{
    int64_t inner = e->n / 4 + 1;
    for (int64_t v = 1; v < inner; v++) {
        for (int64_t i = 0; i < 6; i++) {
            join(e, v, draw(e, v));
        }
    }
    for (int64_t v = inner; v < e->n; v++) {
        join(e, v, draw(e, v));
    }
}

static inline void two_thick_ends(edges *e) /* K(3, n - 3): no balanced cut, but hubs */
{
    for (int64_t v = 3; v < e->n; v++) {
        for (int64_t w = 0; w < 3; w++) {
            join(e, w, v);
        }
    }
}

/* Leaves around the two ends of an arc, some of them joined twice. */
static inline void double_star(edges *e)
{
    join(e, 0, 1);
    for (int64_t v = 2; v < e->n; v++) {
        join(e, v % 2, v);
        if (v % 7 == 0) {
            join(e, v, v % 2);
        }
    }
}

/* A path with leaves, of which some can only be left, some only be reached. */
static inline void caterpillar(edges *e)
{
    const int64_t spine = e->n / 20 + 1;
    for (int64_t v = 1; v < spine; v++) {
        join(e, v - 1, v);
    }
    for (int64_t v = spine; v < e->n; v++) {
        const int64_t at = draw(e, spine);
        if (v % 3 != 1) {
            add(e, v, at);
        }
        if (v % 3 != 2) {
            add(e, at, v);
        }
    }
}

static const struct shape {
    const char *name;
    void (*make)(edges *);
} shapes[] = {{"path", path},
              {"cycle", cycle},
              {"star", star},
              {"tree", tree},
              {"clique", clique},
              {"grid", grid},
              {"grid with holes", grid_with_holes},
              {"one-way grid", one_way_grid},
              {"components", components},
              {"parallel arcs", parallel_arcs},
              {"no arcs", no_arcs},
              {"random", random_sparse},
              {"hub of cliques", hub_of_cliques},
              {"core", core},
              {"K(3, n)", two_thick_ends},
              {"double star", double_star},
              {"caterpillar", caterpillar}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static inline tw_graph *build(tw_context *ctx, edges *e, tw_type type, bool undirected)
{
    tw_graph *graph = NULL;
    int32_t *whole = malloc((size_t)(e->count + 1) * sizeof *whole);
    float *real = malloc((size_t)(e->count + 1) * sizeof *real);
    for (int64_t i = 0; i < e->count; i++) {
        whole[i] = type == TW_I32 ? (int32_t)e->weight[i] : 0;
        real[i] = (float)e->weight[i];
    }
    const void *weight = type == TW_I32   ? (const void *)whole
                         : type == TW_F32 ? (const void *)real
                                          : (const void *)e->weight;
    tw_edges given = {sizeof given, e->count, e->from, e->to, weight, type, TW_I32};
    assert_ok(ctx,
              tw_graph_from_edges(ctx, &graph, e->n, &given, undirected ? TW_GRAPH_UNDIRECTED : 0));
    free(real);
    free(whole);
    return graph;
}

static inline void clear(edges *e)
{
    free(e->weight);
    free(e->to);
    free(e->from);
    *e = (edges){0};
}

static inline tw_graph *shape_graph(tw_context *ctx, int shape, int64_t n, uint64_t most,
                                    tw_type type, bool undirected)
{
    edges e = {.n = n, .most = most};
    if (n > 1) {
        shapes[shape].make(&e);
    }
    tw_graph *graph = build(ctx, &e, type, undirected);
    clear(&e);
    return graph;
}

#endif
