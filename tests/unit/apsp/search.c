/*
 * The search engine, against a Bellman-Ford of this file. Delivery is replaced by a stand-in that
 * collects the rows as f64, so that the searches are tested alone; it may offer a matrix into which
 * they write themselves, or be content with folds.
 */
#include "harness.h"

#include "apsp/search/dijkstra.h"
#include "apsp/search/potentials.h"
#include "apsp/search/sample.h"
#include "apsp/search/search.h"
#include "apsp/shared/widen.h"
#include "base/matrix.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct twi_delivery {
    const tw_apsp_plan *plan;
    double *out; /* rows x n */
    int64_t given;
    tw_type type;     /* of the last block; of the result, if that was in the matrix */
    tw_matrix matrix; /* offered to the engine; without data: none */
};

/* What is offered: nothing, or a matrix of a type with some elements between its rows; or only
 * folds are requested. */
typedef struct offer {
    bool matrix;
    tw_type type;
    int64_t apart;
    bool folds;
} offer;
static offer offered;
static int64_t rows_in_matrix; /* that the engine has put there, in this process */
static int64_t rows_folded;    /* likewise */

static double element(const void *data, tw_type type, int64_t i)
{
    switch (type) {
    case TW_U8:
        return ((const uint8_t *)data)[i];
    case TW_U16:
        return ((const uint16_t *)data)[i];
    case TW_I32:
        return ((const int32_t *)data)[i];
    case TW_F32:
        return ((const float *)data)[i];
    default:
        return ((const double *)data)[i];
    }
}

const tw_matrix *twi_delivery_matrix(const twi_delivery *delivery, tw_type work)
{
    return delivery->matrix.data != NULL && twi_widens(work, delivery->matrix.type)
               ? &delivery->matrix
               : NULL;
}

tw_status twi_delivery_matrix_filled(tw_context *ctx, twi_delivery *delivery, int64_t first,
                                     int64_t count)
{
    (void)ctx;
    const tw_matrix *matrix = &delivery->matrix;
    assert_int_equal(first, delivery->given);
    for (int64_t i = first; i < first + count; i++) {
        for (int64_t v = 0; v < matrix->cols; v++) {
            double d = element(matrix->data, matrix->type, i * matrix->stride + v);
            delivery->out[i * matrix->cols + v] =
                d == tw_apsp_infinity(matrix->type) ? (double)INFINITY : d;
        }
    }
    delivery->given += count;
    delivery->type = matrix->type;
    rows_in_matrix += count;
    return TW_OK;
}

tw_status twi_delivery_rows(tw_context *ctx, twi_delivery *delivery, const twi_rows *rows)
{
    (void)ctx;
    const tw_apsp_plan *plan = delivery->plan;
    int64_t n = plan->graph->n;
    assert_int_equal(rows->first, delivery->given);
    for (int64_t i = 0; i < rows->count; i++) {
        int32_t s = twi_plan_source(plan, rows->first + i);
        for (int64_t v = 0; v < n; v++) {
            double d = element(rows->work, rows->type, i * rows->stride + v);
            if (d == tw_apsp_infinity(rows->type)) {
                d = INFINITY;
            } else {
                d *= rows->scale;
                if (rows->potentials_applied) {
                    d -= plan->potential[s] - plan->potential[v];
                }
            }
            if (plan->options.cutoff >= 0 && d > plan->options.cutoff) {
                d = INFINITY;
            }
            delivery->out[(rows->first + i) * n + v] = d;
        }
    }
    delivery->given += rows->count;
    delivery->type = rows->type;
    return TW_OK;
}

/* ------------------------------------------------------------------------------- building graphs
 */

typedef struct edges {
    int64_t n;
    int64_t count;
    tw_type type;
    int32_t source[60000];
    int32_t target[60000];
    double weight[60000];
} edges;

static edges *new_edges(int64_t n, tw_type type)
{
    edges *e = calloc(1, sizeof *e);
    assert_non_null(e);
    e->n = n;
    e->type = type;
    return e;
}

static void add(edges *e, int64_t u, int64_t v, double w)
{
    assert_true(e->count < 60000);
    e->source[e->count] = (int32_t)u;
    e->target[e->count] = (int32_t)v;
    e->weight[e->count++] = w;
}

static void add_both(edges *e, int64_t u, int64_t v, double w)
{
    add(e, u, v, w);
    add(e, v, u, w);
}

static int32_t build_flags; /* of the graphs that are built */

static tw_graph *build(tw_context *ctx, const edges *e)
{
    void *weights = malloc((size_t)(e->count + 1) * 8);
    assert_non_null(weights);
    for (int64_t i = 0; i < e->count; i++) {
        if (e->type == TW_I32) {
            ((int32_t *)weights)[i] = (int32_t)e->weight[i];
        } else if (e->type == TW_F32) {
            ((float *)weights)[i] = (float)e->weight[i];
        } else {
            ((double *)weights)[i] = e->weight[i];
        }
    }
    tw_edges list = {sizeof list, e->count, e->source, e->target, weights, e->type, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, e->n, &list, build_flags));
    free(weights);
    return graph;
}

/* `m` random arcs with whole weights in [low, high]. */
static edges *random_edges(int64_t n, int64_t m, double low, double high, uint64_t seed)
{
    edges *e = new_edges(n, TW_I32);
    for (int64_t i = 0; i < m; i++) {
        uint64_t at = (uint64_t)i * 3;
        int64_t u = (int64_t)twi_random_below(twi_random_at(seed, at), (uint64_t)n);
        int64_t v = (int64_t)twi_random_below(twi_random_at(seed, at + 1), (uint64_t)n);
        double w =
            low + (double)twi_random_below(twi_random_at(seed, at + 2), (uint64_t)(high - low) + 1);
        add(e, u, v, u == v && w < 0 ? 0 : w);
    }
    return e;
}

/* The oracle: passes over all arcs until nothing changes. */
static void bellman_ford(const tw_graph *graph, int64_t s, double *d)
{
    for (int64_t v = 0; v < graph->n; v++) {
        d[v] = INFINITY;
    }
    d[s] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t u = 0; u < graph->n; u++) {
            for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
                double sum = d[u] + twi_graph_weight(graph, a);
                if (graph->weight_type == TW_F32 && !graph->integral) {
                    sum = (double)(float)sum;
                }
                if (sum < d[graph->targets[a]]) {
                    d[graph->targets[a]] = sum;
                    changed = true;
                }
            }
        }
    }
}

/* ------------------------------------------------------------------------------------ running */

typedef struct result {
    double *d;
    tw_type type; /* of the last block */
    double scanned;
    tw_status status;
} result;

static twi_searcher *sampled; /* what the plan's sample searched with, if there was one */

static result search_with(tw_context *ctx, const tw_graph *graph, tw_apsp_method method,
                          const tw_apsp_options *options, double *potential)
{
    tw_apsp_plan plan = {
        .graph = graph,
        .options = *options,
        .method = method,
        .type = graph->weight_type,
        .threads = tw_threads(ctx),
        .potential = potential,
        .searcher = sampled,
    };
    int64_t count = twi_plan_rows(&plan) * graph->n;
    twi_delivery delivery = {.plan = &plan, .out = malloc((size_t)(count + 1) * sizeof(double))};
    assert_non_null(delivery.out);
    memset(delivery.out, 0x5a, (size_t)(count + 1) * sizeof(double));
    if (offered.matrix) {
        const int64_t stride = graph->n + offered.apart;
        const size_t bytes = (size_t)(twi_plan_rows(&plan) * stride) * tw_type_size(offered.type);
        delivery.matrix =
            (tw_matrix){malloc(bytes + 1), twi_plan_rows(&plan), graph->n, stride, offered.type};
        assert_non_null(delivery.matrix.data);
        memset(delivery.matrix.data, 0x5a, bytes);
    }
    result r = {.d = delivery.out};
    r.status = twi_search_run(ctx, &plan, &delivery, &r.scanned);
    r.type = delivery.type;
    for (int64_t i = 0; i < delivery.matrix.rows; i++) { /* nothing is written between rows */
        for (int64_t k = 0; k < offered.apart * (int64_t)tw_type_size(offered.type); k++) {
            const uint8_t *end = twi_matrix_row(&delivery.matrix, i);
            assert_int_equal(end[graph->n * (int64_t)tw_type_size(offered.type) + k], 0x5a);
        }
    }
    free(delivery.matrix.data);
    if (r.status == TW_OK) {
        assert_int_equal(delivery.given, twi_plan_rows(&plan));
    }
    return r;
}

bool twi_delivery_will_fold(const tw_apsp_plan *plan)
{
    return plan->options.summary_only == 1;
}

bool twi_delivery_is_folded(const twi_delivery *delivery)
{
    const tw_apsp_options *o = &delivery->plan->options;
    return offered.folds && o->cutoff < 0 && o->targets == NULL;
}

static const double *known; /* rows of this graph that have been compared with the oracle, if any */

/* Each fold against a row of the oracle, which stands for the row that was not made. */
tw_status twi_delivery_folds(tw_context *ctx, twi_delivery *delivery, int64_t first, int64_t count,
                             const twi_fold *folds)
{
    (void)ctx;
    const tw_graph *graph = delivery->plan->graph;
    int64_t widest = -1;
    assert_int_equal(first, delivery->given);
    for (int64_t i = 0; i < count; i++) {
        double *row = delivery->out + (first + i) * graph->n;
        const int32_t s = twi_plan_source(delivery->plan, first + i);
        int64_t reached = 0;
        int64_t sum = 0;
        int64_t most = 0;
        int32_t farthest = -1;
        if (known != NULL) {
            memcpy(row, known + s * graph->n, (size_t)graph->n * sizeof *row);
        } else {
            bellman_ford(graph, s, row);
        }
        for (int64_t v = 0; v < graph->n; v++) {
            if (v != s && !isinf(row[v])) {
                reached++;
                sum += (int64_t)row[v];
                farthest = farthest < 0 || (int64_t)row[v] > most ? (int32_t)v : farthest;
                most = (int64_t)row[v] > most ? (int64_t)row[v] : most;
            }
        }
        assert_int_equal(folds[i].reached, reached);
        assert_int_equal(folds[i].sum, sum);
        assert_int_equal(folds[i].most, most);
        if (folds[i].farthest >= 0) {
            assert_int_equal(folds[i].farthest, farthest);
        }
        widest = reached > 0 && (widest < 0 || most > folds[widest].most) ? i : widest;
    }
    if (widest >= 0 && delivery->plan->method == TW_APSP_METHOD_DIJKSTRA) { /* who would search? */
        assert_true(folds[widest].farthest >= 0);
    }
    delivery->given += count;
    rows_folded += count;
    return TW_OK;
}

static const tw_apsp_options defaults = TW_APSP_OPTIONS_INIT;

static result search_all(tw_context *ctx, const tw_graph *graph, tw_apsp_method method)
{
    return search_with(ctx, graph, method, &defaults, NULL);
}

static void expect_rows(const tw_graph *graph, const double *got, double tolerance)
{
    double *row = malloc((size_t)(graph->n + 1) * sizeof *row);
    assert_non_null(row);
    for (int64_t s = 0; s < graph->n; s++) {
        bellman_ford(graph, s, row);
        for (int64_t v = 0; v < graph->n; v++) {
            double d = got[s * graph->n + v];
            bool same = d == row[v] || fabs(d - row[v]) <= tolerance * (1 + fabs(row[v]));
            if (!same) {
                fail_msg("%lld -> %lld: got %.17g, wanted %.17g", (long long)s, (long long)v, d,
                         row[v]);
            }
        }
    }
    free(row);
}

static const offer offers[] = {
    {false, TW_F64, 0, false}, {true, TW_F64, 3, false}, {true, TW_I32, 0, false},
    {true, TW_F32, 1, false},  {true, TW_U8, 0, false},  {true, TW_U8, 5, false},
    {false, TW_F64, 0, true},
};
enum { OFFERS = sizeof offers / sizeof *offers };

/* Every row right for 1, 2 and 3 threads (1 and 3 under an emulator), wherever they are put, and
 * the same bits. */
static void check_edges(edges *e, tw_apsp_method method)
{
    tw_context *ctx = open_context();
    tw_graph *graph = build(ctx, e);
    double *first = NULL;
    size_t bytes = (size_t)(graph->n * graph->n) * sizeof(double);
    for (int run = 0; run < 3 * OFFERS; run++) {
        if (emulated_sizes_only() && run / OFFERS == 1) {
            continue;
        }
        offered = offers[run % OFFERS];
        assert_ok(ctx, tw_set_threads(ctx, 1 + run / OFFERS));
        result r = search_all(ctx, graph, method);
        offered = (offer){0};
        assert_ok(ctx, r.status);
        if (first == NULL) {
            expect_rows(graph, r.d, 0);
            first = r.d;
            known = first;
        } else {
            assert_memory_equal(first, r.d, bytes);
            free(r.d);
        }
    }
    known = NULL;
    free(first);
    tw_graph_destroy(graph);
    close_context(ctx);
    free(e);
}

static void random_graphs_of_every_size_agree_with_bellman_ford(void **state)
{
    (void)state;
    const int64_t sizes[] = {1, 2, 3, 15, 16, 17, 63, 64, 65, 200, 513};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t n = sizes[i];
        check_edges(random_edges(n, n * 4, 0, 1000, 10 + i), TW_APSP_METHOD_DIJKSTRA);
        if (n < 200 || !emulated_sizes_only()) {
            check_edges(random_edges(n, n * 4, 1, 1, 50 + i), TW_APSP_METHOD_BFS);
            check_edges(random_edges(n, n * 2, 7, 7, 90 + i), TW_APSP_METHOD_BFS);
        }
    }
}

static void dense_graphs_agree_with_bellman_ford(void **state)
{
    (void)state;
    check_edges(random_edges(100, 9000, 1, 1000, 1), TW_APSP_METHOD_DIJKSTRA);
    check_edges(random_edges(100, 9000, 3, 3, 2), TW_APSP_METHOD_BFS);
}

/* A clique with tails: its levels are narrow, wide and narrow again, so that they are pushed,
 * pulled and pushed, from either end; another part that nobody reaches keeps vertices waiting for
 * ever. */
static edges *clique_with_tails(int64_t clique, int64_t tail, double weight)
{
    edges *e = new_edges(clique + 2 * tail + 20, TW_I32);
    for (int64_t u = 0; u < clique; u++) {
        for (int64_t v = 0; v < clique; v++) {
            if (u != v && (u * 31 + v * 17) % 3 != 0) {
                add(e, u, v, weight);
            }
        }
    }
    for (int64_t i = 0; i < tail; i++) {
        add_both(e, i == 0 ? 0 : clique + i - 1, clique + i, weight);
        add_both(e, i == 0 ? clique / 2 : clique + tail + i - 1, clique + tail + i, weight);
    }
    for (int64_t i = 0; i < 19; i++) {
        add(e, clique + 2 * tail + i, clique + 2 * tail + i + 1, weight);
    }
    return e;
}

static void levels_that_widen_and_narrow_are_right_in_both_directions(void **state)
{
    (void)state;
    const int64_t before = rows_folded;
    for (int undirected = 0; undirected < 2; undirected++) {
        build_flags = undirected ? TW_GRAPH_UNDIRECTED : 0;
        check_edges(clique_with_tails(60, 5, 1), TW_APSP_METHOD_BFS);
        check_edges(random_edges(200, 100, 2, 2, 78), TW_APSP_METHOD_BFS);
        if ((undirected && !emulated_sizes_only()) || !small_sizes_only()) {
            check_edges(clique_with_tails(90, 60, 3), TW_APSP_METHOD_BFS);
        }
        if (!undirected || !small_sizes_only()) {
            check_edges(clique_with_tails(3, 140, 1), TW_APSP_METHOD_BFS); /* beyond a byte */
            check_edges(random_edges(530, 1600, 1, 1, 77), TW_APSP_METHOD_BFS);
        }
    }
    build_flags = 0;
    assert_true(rows_folded > before);
}

static void an_empty_graph_has_no_rows(void **state)
{
    (void)state;
    check_edges(new_edges(0, TW_I32), TW_APSP_METHOD_DIJKSTRA);
    check_edges(new_edges(0, TW_I32), TW_APSP_METHOD_BFS);
}

static void unreachable_pairs_stay_infinite(void **state)
{
    (void)state;
    edges *e = new_edges(130, TW_I32);
    for (int i = 0; i + 1 < 60; i++) {
        add_both(e, i, i + 1, 5);
        add_both(e, i + 65, i + 66, 9);
    }
    check_edges(e, TW_APSP_METHOD_DIJKSTRA);
    check_edges(random_edges(300, 200, 1, 10, 3), TW_APSP_METHOD_DIJKSTRA);
    check_edges(random_edges(300, 200, 2, 2, 4), TW_APSP_METHOD_BFS);
    check_edges(new_edges(70, TW_I32), TW_APSP_METHOD_DIJKSTRA);
}

static void zero_weights_parallel_arcs_and_loops_are_arcs_like_others(void **state)
{
    (void)state;
    check_edges(random_edges(100, 400, 0, 0, 5), TW_APSP_METHOD_DIJKSTRA);
    check_edges(random_edges(100, 400, 0, 1, 6), TW_APSP_METHOD_DIJKSTRA);
    check_edges(random_edges(10, 1000, 0, 50, 7), TW_APSP_METHOD_DIJKSTRA);
}

static void distances_just_around_the_narrow_cap_are_exact(void **state)
{
    (void)state;
    for (int extra = -2; extra <= 2; extra++) {
        edges *e = new_edges(100, TW_I32);
        for (int i = 0; i < 99; i++) { /* the whole of it is around 65535 - 655 */
            add(e, i, i + 1, 655 + extra);
        }
        check_edges(e, TW_APSP_METHOD_DIJKSTRA);
        e = new_edges(100, TW_I32);
        for (int i = 0; i < 98; i += 2) {
            add(e, i, i + 1, 32767 + extra);
            add(e, i + 1, i + 2, 1);
        }
        check_edges(e, TW_APSP_METHOD_DIJKSTRA);
    }
    check_edges(random_edges(200, 700, 1, 32767, 8), TW_APSP_METHOD_DIJKSTRA);
    check_edges(random_edges(200, 700, 1, 65534, 8), TW_APSP_METHOD_DIJKSTRA);
    check_edges(random_edges(200, 700, 1, 2000000, 9), TW_APSP_METHOD_DIJKSTRA);
}

static void long_chains_of_large_weights_go_to_f64(void **state)
{
    (void)state;
    edges *e = new_edges(1050, TW_I32);
    for (int i = 0; i + 1 < 1050; i++) {
        add(e, i, i + 1, 1 << 20);
    }
    tw_context *ctx = open_context();
    tw_graph *graph = build(ctx, e);
    assert_int_equal(twi_search_type(&(tw_apsp_plan){.graph = graph}), TW_F64);
    result r = search_all(ctx, graph, TW_APSP_METHOD_DIJKSTRA);
    assert_ok(ctx, r.status);
    assert_int_equal(r.type, TW_F64);
    assert_true(r.d[1049] == 1049.0 * (1 << 20));
    assert_true(isinf(r.d[1050]));
    expect_rows(graph, r.d, 0);
    free(r.d);
    /* A graph whose bound is as large but whose distances are not stays in i32. */
    tw_graph_destroy(graph);
    e->count = 900;
    graph = build(ctx, e);
    assert_int_equal(twi_search_type(&(tw_apsp_plan){.graph = graph}), TW_F64);
    r = search_all(ctx, graph, TW_APSP_METHOD_DIJKSTRA);
    assert_ok(ctx, r.status);
    assert_int_equal(r.type, TW_I32);
    expect_rows(graph, r.d, 0);
    free(r.d);
    tw_graph_destroy(graph);
    close_context(ctx);
    free(e);
}

/* Vertices i and i+1 joined by a detour of weight 0 and a direct arc that doubles from pair to
 * pair: label-correcting order matters most here, and distances must not. */
static void graphs_that_mislead_label_correcting_are_still_right(void **state)
{
    (void)state;
    edges *e = new_edges(90, TW_I32);
    for (int i = 0; i < 28; i++) {
        int base = i * 2;
        add(e, base, base + 2, (double)(1 << (28 - i)));
        add(e, base, base + 1, 0);
        add(e, base + 1, base + 2, (double)(1 << (27 - i)));
    }
    for (int i = 60; i < 90; i++) {
        add(e, i, 0, i);
    }
    check_edges(e, TW_APSP_METHOD_DIJKSTRA);
}

static edges *float_edges(tw_type type, double scale, uint64_t seed)
{
    edges *e = random_edges(150, 600, 0, 1000000, seed);
    e->type = type;
    for (int64_t i = 0; i < e->count; i++) {
        e->weight[i] = (e->weight[i] + 0.3) * scale;
    }
    return e;
}

static void floats_of_every_size_give_the_bits_of_bellman_ford(void **state)
{
    (void)state;
    const double scales[] = {1e-6, 1, 1e25, 1e-44};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        check_edges(float_edges(TW_F32, scales[i], 20 + i), TW_APSP_METHOD_DIJKSTRA);
        check_edges(float_edges(TW_F64, scales[i], 30 + i), TW_APSP_METHOD_DIJKSTRA);
    }
    check_edges(float_edges(TW_F64, 1e295, 40), TW_APSP_METHOD_DIJKSTRA);
    check_edges(float_edges(TW_F64, 0x1p-1074, 41), TW_APSP_METHOD_DIJKSTRA);
}

static void sums_beyond_f32_go_to_f64(void **state)
{
    (void)state;
    edges *e = new_edges(40, TW_F32);
    for (int i = 0; i + 1 < 40; i++) {
        add(e, i, i + 1, 3e38);
    }
    tw_context *ctx = open_context();
    tw_graph *graph = build(ctx, e);
    result r = search_all(ctx, graph, TW_APSP_METHOD_DIJKSTRA);
    assert_ok(ctx, r.status);
    assert_int_equal(r.type, TW_F64);
    assert_true(r.d[39] > 1e40 && !isinf(r.d[39]));
    free(r.d);
    tw_graph_destroy(graph);
    close_context(ctx);
    free(e);
}

/* Random weights w + p[u] - p[v] with w >= 0: some are negative, no cycle is. */
static edges *negative_edges(int64_t n, int64_t m, double span, uint64_t seed)
{
    edges *e = random_edges(n, m, 0, 100, seed);
    for (int64_t i = 0; i < e->count; i++) {
        double pu = floor(span * twi_random_unit(twi_random_at(seed + 1, (uint64_t)e->source[i])));
        double pv = floor(span * twi_random_unit(twi_random_at(seed + 1, (uint64_t)e->target[i])));
        e->weight[i] += pu - pv;
    }
    return e;
}

static void check_negative(edges *e, double tolerance)
{
    tw_context *ctx = open_context();
    tw_graph *graph = build(ctx, e);
    double *h = malloc((size_t)graph->n * sizeof *h);
    assert_non_null(h);
    assert_true(graph->min_weight < 0);
    assert_ok(ctx, twi_potentials(ctx, graph, h));
    for (int64_t u = 0; u < graph->n; u++) {
        assert_true(h[u] <= 0);
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            double reduced = twi_graph_weight(graph, a) + h[u] - h[graph->targets[a]];
            assert_true(reduced >= -tolerance * (1 + fabs(h[u])));
        }
    }
    result r = search_with(ctx, graph, TW_APSP_METHOD_DIJKSTRA, &defaults, h);
    assert_ok(ctx, r.status);
    expect_rows(graph, r.d, tolerance);
    free(r.d);
    free(h);
    tw_graph_destroy(graph);
    close_context(ctx);
    free(e);
}

static void negative_whole_weights_are_exact(void **state)
{
    (void)state;
    check_negative(negative_edges(120, 500, 1000, 60), 0);
    check_negative(negative_edges(300, 700, 100000, 62), 0);
    check_negative(negative_edges(300, 900, 1e9, 64), 0);
    check_negative(negative_edges(3, 9, 50, 66), 0);
}

static void negative_floats_sum_the_weights_themselves(void **state)
{
    (void)state;
    edges *e = negative_edges(120, 500, 1000, 70);
    e->type = TW_F64;
    for (int64_t i = 0; i < e->count; i++) {
        e->weight[i] *= 0.1;
    }
    check_negative(e, 1e-12);
    e = negative_edges(120, 500, 1000, 72);
    e->type = TW_F32;
    for (int64_t i = 0; i < e->count; i++) {
        e->weight[i] *= 0.1;
    }
    check_negative(e, 1e-4);
}

static void check_cycle(tw_context *ctx, const tw_graph *graph)
{
    const int32_t *cycle = NULL;
    int64_t count = tw_apsp_negative_cycle(ctx, &cycle);
    double total = 0;
    assert_true(count > 0);
    for (int64_t i = 0; i < count; i++) {
        int32_t u = cycle[i];
        int32_t v = cycle[(i + 1) % count];
        double least = INFINITY;
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            if (graph->targets[a] == v) {
                least = fmin(least, twi_graph_weight(graph, a));
            }
        }
        assert_true(!isinf(least));
        total += least;
    }
    assert_true(total < 0);
}

static void a_negative_cycle_is_found_with_its_vertices(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int length = 1; length <= 40; length += 3) {
        edges *e = random_edges(200, 600, 0, 100, (uint64_t)length);
        for (int i = 0; i < length; i++) {
            add(e, 100 + i, 100 + (i + 1) % length, i == 0 ? -length * 101 : 100);
        }
        tw_graph *graph = build(ctx, e);
        double *h = malloc((size_t)graph->n * sizeof *h);
        assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, "negative cycle", twi_potentials(ctx, graph, h));
        check_cycle(ctx, graph);
        free(h);
        tw_graph_destroy(graph);
        free(e);
    }
    close_context(ctx);
}

static void a_float_cycle_of_weight_zero_is_no_negative_cycle(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    edges *e = new_edges(3, TW_F64);
    add(e, 0, 1, 0.1);
    add(e, 1, 2, 0.2);
    add(e, 2, 0, -0.3); /* 0.1 + 0.2 - 0.3 is 2^-54 when summed, not 0 */
    tw_graph *graph = build(ctx, e);
    double h[3];
    assert_ok(ctx, twi_potentials(ctx, graph, h));
    tw_graph_destroy(graph);
    e->weight[2] = -0.30001;
    graph = build(ctx, e);
    assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, "0 -> ", twi_potentials(ctx, graph, h));
    check_cycle(ctx, graph);
    tw_graph_destroy(graph);
    free(e);
    close_context(ctx);
}

static void path_graphs_have_levels_beyond_u8_and_u16(void **state)
{
    (void)state;
    const int64_t lengths[] = {254, 255, 256, 257, 300, 65534, 65535, 65536, 65537};
    const tw_type types[] = {TW_U8, TW_U8, TW_U16, TW_U16, TW_U16, TW_U16, TW_U16, TW_I32, TW_I32};
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int64_t n = lengths[i];
        if (emulated_sizes_only() && (n == 300 || n == 65534 || n == 65537)) {
            continue;
        }
        int32_t *ends = malloc((size_t)n * 2 * sizeof *ends);
        assert_non_null(ends);
        for (int64_t v = 0; v < n; v++) {
            ends[v] = (int32_t)v;
            ends[n + v] = (int32_t)(v + 1);
        }
        tw_edges list = {sizeof list, n - 1, ends, ends + n, NULL, TW_I32, TW_I32};
        tw_graph *graph = NULL;
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &list, 0));
        const int32_t sources[2] = {0, 100};
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.sources = sources;
        options.source_count = 2;
        result r = search_with(ctx, graph, TW_APSP_METHOD_BFS, &options, NULL);
        assert_ok(ctx, r.status);
        assert_int_equal(r.type, types[i]);
        for (int64_t v = 0; v < n; v++) {
            assert_true(r.d[v] == (double)v);
            assert_true(v < 100 ? isinf(r.d[n + v]) : r.d[n + v] == (double)(v - 100));
        }
        free(r.d);
        offered.folds = true;
        r = search_with(ctx, graph, TW_APSP_METHOD_BFS, &options, NULL);
        offered = (offer){0};
        assert_ok(ctx, r.status);
        assert_true(r.scanned <= 2.0 * (double)n); /* at once: no level is too deep for its type */
        free(r.d);
        tw_graph_destroy(graph);
        free(ends);
    }
    close_context(ctx);
}

/* More vertices at a level than 16 bits count, of which none is kept. */
static void a_large_star_is_summed_up(void **state)
{
    (void)state;
    enum { LEAVES = 70000, SOURCES = 40 };
    tw_context *ctx = open_context();
    int32_t *ends = calloc(2 * LEAVES, sizeof *ends);
    int32_t sources[SOURCES];
    const int64_t before = rows_folded;
    assert_non_null(ends);
    for (int32_t v = 1; v <= LEAVES; v++) {
        ends[LEAVES + v - 1] = v;
    }
    for (int i = 0; i < SOURCES; i++) {
        sources[i] = i * 1700;
    }
    tw_edges list = {sizeof list, LEAVES, ends, ends + LEAVES, NULL, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, LEAVES + 1, &list, TW_GRAPH_UNDIRECTED));
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.sources = sources;
    options.source_count = SOURCES;
    offered.folds = true;
    result r = search_with(ctx, graph, TW_APSP_METHOD_BFS, &options, NULL);
    offered = (offer){0};
    assert_ok(ctx, r.status);
    assert_int_equal(rows_folded - before, SOURCES);
    free(r.d);
    tw_graph_destroy(graph);
    free(ends);
    close_context(ctx);
}

/* Rows that no cache holds go another way, from and to places that lie anyhow. That way is the same
 * for both methods: one is enough for an emulator. */
static void a_large_matrix_gets_the_same_rows_and_folds(void **state)
{
    (void)state;
    enum { N = 2101 };
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    const int last = emulated_sizes_only() ? TW_APSP_METHOD_DIJKSTRA : TW_APSP_METHOD_BFS;
    for (int method = TW_APSP_METHOD_DIJKSTRA; method <= last; method++) {
        edges *e = random_edges(N, 4000, 1, method == TW_APSP_METHOD_BFS ? 1 : 500, 83);
        tw_graph *graph = build(ctx, e);
        result blocks = search_all(ctx, graph, method);
        rows_in_matrix = 0;
        offered = (offer){true, TW_F64, 2, false};
        result rows = search_all(ctx, graph, method);
        offered = (offer){0};
        assert_ok(ctx, blocks.status);
        assert_ok(ctx, rows.status);
        assert_int_equal(rows_in_matrix, N);
        assert_memory_equal(blocks.d, rows.d, (size_t)N * N * sizeof(double));
        const int64_t before = rows_folded; /* and folds are those of these rows */
        known = blocks.d;
        offered = (offer){.folds = true};
        result folded = search_all(ctx, graph, method);
        offered = (offer){0};
        known = NULL;
        assert_ok(ctx, folded.status);
        assert_int_equal(rows_folded - before, N);
        free(folded.d);
        free(rows.d);
        free(blocks.d);
        tw_graph_destroy(graph);
        free(e);
    }
    close_context(ctx);
}

static void parts_of_the_sources_in_any_order_with_repeats_give_their_rows(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int method = TW_APSP_METHOD_DIJKSTRA; method <= TW_APSP_METHOD_BFS; method++) {
        edges *e = random_edges(400, 1600, 5, method == TW_APSP_METHOD_BFS ? 5 : 500, 77);
        tw_graph *graph = build(ctx, e);
        result whole = search_all(ctx, graph, method);
        assert_ok(ctx, whole.status);
        for (int64_t count = 0; count <= 300; count = count * 2 + 1) {
            int32_t sources[300];
            for (int64_t i = 0; i < count; i++) {
                sources[i] = (int32_t)twi_random_below(twi_random_at(3, (uint64_t)i), 400);
            }
            tw_apsp_options options = TW_APSP_OPTIONS_INIT;
            options.sources = sources;
            options.source_count = count;
            result r = search_with(ctx, graph, method, &options, NULL);
            assert_ok(ctx, r.status);
            for (int64_t i = 0; i < count; i++) {
                assert_memory_equal(r.d + i * 400, whole.d + sources[i] * 400, 400 * 8);
            }
            free(r.d);
        }
        free(whole.d);
        tw_graph_destroy(graph);
        free(e);
    }
    close_context(ctx);
}

static void a_cutoff_prunes_and_changes_nothing_below_it(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const tw_type types[] = {TW_I32, TW_F32, TW_F64};
    for (int k = 0; k < 4; k++) {
        edges *e = random_edges(300, 1200, 3, k == 3 ? 3 : 500, 78);
        e->type = types[k % 3];
        for (int64_t i = 0; i < e->count && e->type != TW_I32; i++) {
            e->weight[i] += 0.25;
        }
        tw_apsp_method method = k == 3 ? TW_APSP_METHOD_BFS : TW_APSP_METHOD_DIJKSTRA;
        tw_graph *graph = build(ctx, e);
        result whole = search_all(ctx, graph, method);
        assert_ok(ctx, whole.status);
        const double cutoffs[] = {0, 1, 3, 9, 250.25, 600, 1e300};
        for (size_t c = 0; c < sizeof cutoffs / sizeof *cutoffs; c++) {
            tw_apsp_options options = TW_APSP_OPTIONS_INIT;
            options.cutoff = cutoffs[c];
            result r = search_with(ctx, graph, method, &options, NULL);
            assert_ok(ctx, r.status);
            assert_true(r.scanned <= whole.scanned);
            for (int64_t i = 0; i < 300 * 300; i++) {
                double wanted = whole.d[i] <= cutoffs[c] ? whole.d[i] : INFINITY;
                assert_true(r.d[i] == wanted);
            }
            free(r.d);
        }
        free(whole.d);
        tw_graph_destroy(graph);
        free(e);
    }
    close_context(ctx);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    edges *e = random_edges(100, 400, 1, 2000000, 79);
    for (int i = 0; i < 30; i++) {
        add(e, i, i + 1, 1e9); /* so that it also widens to f64 */
    }
    e->n = 131;
    for (int i = 100; i < 130; i++) {
        add(e, i, i + 1, 1e9);
    }
    tw_graph *graph = build(ctx, e);
    double h[131];
    for (int64_t k = 1;; k++) {
        twi_meter_fail_at(ctx->meter, k);
        result r = search_all(ctx, graph, TW_APSP_METHOD_DIJKSTRA);
        free(r.d);
        if (r.status == TW_OK) {
            assert_true(k > 20);
            break;
        }
        assert_int_equal(r.status, TW_ERR_MEMORY);
    }
    for (int64_t k = 1;; k++) {
        twi_meter_fail_at(ctx->meter, k);
        tw_status status = twi_potentials(ctx, graph, h);
        if (status == TW_OK) {
            break;
        }
        assert_int_equal(status, TW_ERR_MEMORY);
    }
    twi_meter_fail_at(ctx->meter, 0);
    tw_graph_destroy(graph);
    e->count = 0;
    add(e, 0, 1, 1);
    graph = build(ctx, e);
    offered = (offer){true, TW_F64, 0, false};
    for (int64_t k = 1;; k++) {
        twi_meter_fail_at(ctx->meter, k);
        result r = search_all(ctx, graph, TW_APSP_METHOD_BFS);
        free(r.d);
        if (r.status == TW_OK) {
            break;
        }
        assert_int_equal(r.status, TW_ERR_MEMORY);
    }
    offered = (offer){0};
    twi_meter_fail_at(ctx->meter, 0);
    tw_graph_destroy(graph);
    free(e);
    close_context(ctx);
}

static void a_tight_memory_limit_means_smaller_blocks(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    edges *e = random_edges(1000, 4000, 1, 100, 80);
    tw_graph *graph = build(ctx, e);
    result free_run = search_all(ctx, graph, TW_APSP_METHOD_DIJKSTRA);
    assert_ok(ctx, free_run.status);
    assert_ok(ctx, tw_set_memory(ctx, tw_memory_used(ctx) + 1000000));
    result tight = search_all(ctx, graph, TW_APSP_METHOD_DIJKSTRA);
    assert_ok(ctx, tight.status);
    assert_memory_equal(free_run.d, tight.d, 1000000 * sizeof(double));
    free(tight.d);
    free(free_run.d);
    tw_graph_destroy(graph);
    close_context(ctx);
    free(e);
}

static void the_stated_memory_is_not_exceeded(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    for (int method = TW_APSP_METHOD_DIJKSTRA; method <= TW_APSP_METHOD_BFS; method++) {
        edges *e = random_edges(emulated_sizes_only() ? 300 : 1000, 4000, 9,
                                method == TW_APSP_METHOD_BFS ? 9 : 100, 81);
        tw_graph *graph = build(ctx, e);
        tw_apsp_plan plan = {.graph = graph, .options = defaults, .threads = 2};
        for (int k = 0; k < OFFERS; k++) {
            uint64_t before = tw_memory_used(ctx);
            twi_meter_restart_peak(ctx->meter);
            offered = offers[k];
            result r = search_all(ctx, graph, method);
            offered = (offer){0};
            assert_ok(ctx, r.status);
            assert_true(tw_memory_peak(ctx) - before <= twi_search_memory(&plan, method));
            free(r.d);
        }
        tw_graph_destroy(graph);
        free(e);
    }
    close_context(ctx);
}

static void cancelling_stops_the_run(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    edges *e = random_edges(500, 2000, 1, 100, 82);
    tw_graph *graph = build(ctx, e);
    double h[500];
    for (int64_t i = 0; i < 2000; i++) {
        e->weight[i] = 1;
    }
    tw_graph *equal = build(ctx, e);
    tw_cancel(ctx);
    result r = search_all(ctx, graph, TW_APSP_METHOD_DIJKSTRA);
    assert_int_equal(r.status, TW_ERR_CANCELLED);
    free(r.d);
    r = search_all(ctx, equal, TW_APSP_METHOD_BFS);
    assert_int_equal(r.status, TW_ERR_CANCELLED);
    free(r.d);
    tw_clear_cancel(ctx);
    assert_ok(ctx, twi_potentials(ctx, graph, h));
    tw_graph_destroy(equal);
    tw_graph_destroy(graph);
    close_context(ctx);
    free(e);
}

/* Buckets must be empty for the next search, and a row that was begun is none. */
static void a_search_that_is_cancelled_leaves_its_memory_ready(void **state)
{
    enum { N = 100000 };
    (void)state;
    static const tw_type types[] = {TW_I32, TW_F64};
    tw_context *ctx = open_context();
    for (int t = 0; t < 2; t++) {
        tw_graph_generate_options o = TW_GRAPH_GENERATE_OPTIONS_INIT;
        tw_graph *graph = NULL;
        twi_net *net = NULL;
        twi_dijkstra_space used, fresh;
        int64_t scanned = 0;
        o.vertices = N;
        o.degree = 6;
        o.weight_type = types[t];
        assert_ok(ctx, tw_graph_generate(ctx, &graph, &o));
        const twi_net_kind kind = t == 0 ? TWI_NET_I32 : TWI_NET_F64;
        assert_ok(ctx, twi_net_create(ctx, &net, graph, NULL, kind));
        assert_ok(ctx, twi_dijkstra_space_create(ctx, &used, net));
        assert_ok(ctx, twi_dijkstra_space_create(ctx, &fresh, net));
        const size_t bytes = N * tw_type_size(types[t]);
        void *first = malloc(bytes), *second = malloc(bytes);
        twi_dijkstra_job job = {.net = net, .source = 7, .cutoff = INFINITY, .ctx = ctx};
        tw_cancel(ctx);
        assert_true(twi_dijkstra(&job, &used, first, &scanned));
        assert_true(scanned < net->arcs / 2);
        tw_clear_cancel(ctx);
        job.source = N / 2;
        assert_true(twi_dijkstra(&job, &used, first, &scanned));
        assert_true(twi_dijkstra(&job, &fresh, second, &scanned));
        assert_true(scanned > net->arcs / 2);
        assert_memory_equal(first, second, bytes);
        tw_cancel(ctx);
        twi_net *none = NULL;
        assert_int_equal(twi_net_create(ctx, &none, graph, NULL, kind), TW_ERR_CANCELLED);
        assert_null(none);
        tw_clear_cancel(ctx);
        free(second);
        free(first);
        twi_dijkstra_space_clear(&fresh);
        twi_dijkstra_space_clear(&used);
        twi_net_destroy(net);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void a_sample_tells_what_the_run_would_meet(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int method = TW_APSP_METHOD_DIJKSTRA; method <= TW_APSP_METHOD_BFS; method++) {
        edges *e = new_edges(400, TW_I32);
        for (int i = 0; i + 1 < 200; i++) { /* two halves, each a path */
            add_both(e, i, i + 1, 10);
            add_both(e, i + 200, i + 201, 10);
        }
        tw_graph *graph = build(ctx, e);
        tw_apsp_plan plan = {.graph = graph, .options = defaults, .method = method, .threads = 1};
        twi_search_sample sample;
        memset(&sample, 0x5a, sizeof sample);
        assert_ok(ctx, twi_search_sample_run(ctx, &plan, method, 3, 10, &sample, NULL));
        assert_true(sample.sources >= 64);
        assert_true(sample.seconds_per_source > 0);
        assert_true(sample.unreachable == 0.5);
        assert_true(sample.farthest >= 1000 && sample.farthest <= 1990);
        /* No time at all: a guess, and one search to see how far it goes. */
        assert_ok(ctx, twi_search_sample_run(ctx, &plan, method, 3, 1e-9, &sample, NULL));
        assert_true(sample.sources >= 1);
        assert_true(sample.seconds_per_source > 0);
        assert_true(sample.farthest >= 1000 && sample.farthest <= 1990);
        tw_graph_destroy(graph);
        free(e);
    }
    edges *e = new_edges(0, TW_I32);
    tw_graph *graph = build(ctx, e);
    tw_apsp_plan plan = {.graph = graph, .options = defaults};
    twi_search_sample sample;
    assert_ok(ctx,
              twi_search_sample_run(ctx, &plan, TW_APSP_METHOD_DIJKSTRA, 3, 10, &sample, NULL));
    assert_int_equal(sample.sources, 0);
    tw_graph_destroy(graph);
    free(e);
    close_context(ctx);
}

/* With a few sources, some of them twice, on `threads`: the rows that a run makes which goes on
 * with what its sample found are those of one without, and so are those of the next run. */
static void check_kept(tw_context *ctx, const tw_graph *graph, int64_t count, double *potential)
{
    static const int32_t sources[] = {7, 250, 7, 399, 0, 31};
    const tw_apsp_method method = TW_APSP_METHOD_DIJKSTRA;
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.sources = sources;
    options.source_count = count;
    const tw_apsp_plan plan = {.graph = graph,
                               .options = options,
                               .method = method,
                               .type = graph->weight_type,
                               .threads = tw_threads(ctx),
                               .potential = potential};
    const size_t bytes = (size_t)(count * graph->n) * sizeof(double);
    result want = search_with(ctx, graph, method, &options, potential);
    twi_search_sample sample;
    assert_ok(ctx, twi_search_sample_run(ctx, &plan, method, 3, 10, &sample, &sampled));
    assert_non_null(sampled);
    assert_in_range(sample.kept, count < 4 ? 1 : 0, count); /* four may share lanes */
    for (int run = 0; run < 2; run++) {
        result got = search_with(ctx, graph, method, &options, potential);
        assert_ok(ctx, got.status);
        assert_memory_equal(got.d, want.d, bytes);
        assert_true(got.scanned <= want.scanned);
        free(got.d);
    }
    /* A row that was kept is the one that is given. */
    if (count == 1) {
        memset(sampled->kept_rows, 0, (size_t)graph->n * sizeof(double));
        result got = search_with(ctx, graph, method, &options, potential);
        for (int64_t v = 0; v < graph->n && potential == NULL; v++) {
            assert_true(got.d[v] == 0);
        }
        free(got.d);
    }
    twi_searcher_destroy(sampled);
    sampled = NULL;
    free(want.d);
}

/* A searcher that could not be widened lacks its arcs: the next run must not take it. The source at
 * `wide` needs more than i32. */
static void check_after_failures(tw_context *ctx, const tw_graph *graph, int wide)
{
    int32_t sources[] = {0, 1, 2, 3, 4, 5};
    sources[wide] = 250;
    const tw_apsp_method method = TW_APSP_METHOD_DIJKSTRA;
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.sources = sources;
    options.source_count = 6;
    const tw_apsp_plan plan = {.graph = graph,
                               .options = options,
                               .method = method,
                               .type = graph->weight_type,
                               .threads = tw_threads(ctx)};
    result want = search_with(ctx, graph, method, &options, NULL);
    assert_ok(ctx, want.status);
    for (int64_t k = 1, failed = 1; failed != 0; k++) {
        twi_search_sample sample;
        assert_ok(ctx, twi_search_sample_run(ctx, &plan, method, 1, 10, &sample, &sampled));
        assert_non_null(sampled);
        twi_meter_fail_at(ctx->meter, k);
        result first = search_with(ctx, graph, method, &options, NULL);
        twi_meter_fail_at(ctx->meter, 0);
        failed = first.status != TW_OK;
        assert_true(!failed || first.status == TW_ERR_MEMORY);
        result again = search_with(ctx, graph, method, &options, NULL);
        assert_ok(ctx, again.status);
        assert_memory_equal(again.d, want.d, (size_t)(6 * graph->n) * sizeof(double));
        assert_true(failed || k > 1);
        free(again.d);
        free(first.d);
        twi_searcher_destroy(sampled);
        sampled = NULL;
    }
    free(want.d);
}

static void after_a_failed_run_the_next_one_is_right(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    edges *e = random_edges(400, 0, 1, 1, 79);
    for (int64_t i = 0; i + 1 < 400; i++) {
        if (i != 200) {
            add(e, i, i + 1, i < 200 ? 1 : 0x1p29);
        }
    }
    tw_graph *graph = build(ctx, e);
    assert_ok(ctx, tw_set_threads(ctx, 1));
    for (int wide = 0; wide < 6; wide++) {
        check_after_failures(ctx, graph, wide);
    }
    tw_graph_destroy(graph);
    free(e);
    close_context(ctx);
}

static void what_a_sample_searched_for_is_not_searched_for_again(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    double *h = calloc(400, sizeof *h);
    assert_non_null(h);
    for (int kind = 0; kind < 4; kind++) { /* small, wide, floats, negative floats */
        edges *e = random_edges(400, 1600, 1, kind == 1 ? 0x1p29 : 500, 78);
        e->type = kind >= 2 ? TW_F64 : TW_I32;
        for (int64_t i = 0; i < e->count && kind >= 2; i++) { /* acyclic, where negative */
            const bool down = kind == 3 && e->source[i] < e->target[i];
            e->weight[i] = (e->weight[i] + 0.25) * (down ? -1.0 / 4096 : kind == 3 ? 100 : 1);
        }
        for (int64_t i = 0; i + 1 < 400; i++) {
            add(e, i, i + 1, kind == 1 ? 0x1p29 : 500.5);
        }
        tw_graph *graph = build(ctx, e);
        if (kind == 3) {
            assert_ok(ctx, twi_potentials(ctx, graph, h));
        }
        for (int threads = 1; threads <= 3; threads++) {
            assert_ok(ctx, tw_set_threads(ctx, threads));
            for (int64_t count = 1; count <= 6; count++) {
                check_kept(ctx, graph, count, kind == 3 ? h : NULL);
            }
        }
        tw_graph_destroy(graph);
        free(e);
    }
    free(h);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_sample_searched_for_is_not_searched_for_again),
        cmocka_unit_test(after_a_failed_run_the_next_one_is_right),
        cmocka_unit_test(random_graphs_of_every_size_agree_with_bellman_ford),
        cmocka_unit_test(dense_graphs_agree_with_bellman_ford),
        cmocka_unit_test(levels_that_widen_and_narrow_are_right_in_both_directions),
        cmocka_unit_test(an_empty_graph_has_no_rows),
        cmocka_unit_test(unreachable_pairs_stay_infinite),
        cmocka_unit_test(zero_weights_parallel_arcs_and_loops_are_arcs_like_others),
        cmocka_unit_test(distances_just_around_the_narrow_cap_are_exact),
        cmocka_unit_test(long_chains_of_large_weights_go_to_f64),
        cmocka_unit_test(graphs_that_mislead_label_correcting_are_still_right),
        cmocka_unit_test(floats_of_every_size_give_the_bits_of_bellman_ford),
        cmocka_unit_test(sums_beyond_f32_go_to_f64),
        cmocka_unit_test(negative_whole_weights_are_exact),
        cmocka_unit_test(negative_floats_sum_the_weights_themselves),
        cmocka_unit_test(a_negative_cycle_is_found_with_its_vertices),
        cmocka_unit_test(a_float_cycle_of_weight_zero_is_no_negative_cycle),
        cmocka_unit_test(path_graphs_have_levels_beyond_u8_and_u16),
        cmocka_unit_test(a_large_star_is_summed_up),
        cmocka_unit_test(a_large_matrix_gets_the_same_rows_and_folds),
        cmocka_unit_test(parts_of_the_sources_in_any_order_with_repeats_give_their_rows),
        cmocka_unit_test(a_cutoff_prunes_and_changes_nothing_below_it),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(a_tight_memory_limit_means_smaller_blocks),
        cmocka_unit_test(the_stated_memory_is_not_exceeded),
        cmocka_unit_test(cancelling_stops_the_run),
        cmocka_unit_test(a_search_that_is_cancelled_leaves_its_memory_ready),
        cmocka_unit_test(a_sample_tells_what_the_run_would_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
