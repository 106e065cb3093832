/*
 * Eliminate, then sweep: orders are permutations, trees are trees of elimination and thin on grids,
 * and the distances are the reference's on graphs of every shape, for every type, number of threads
 * and part of the result.
 */
#include "unit/shapes.h"

#include "apsp/shared/widen.h"
#include "apsp/sweep/order.h"
#include "apsp/sweep/tree.h"
#include "base/matrix.h"

/* --------------------------------------------------------------------------- orders and trees */

typedef struct elimination {
    twi_skeleton skeleton;
    twi_order order;
    twi_tree *tree;
} elimination;

/* Ways to make an order: small parts are cut as large ones are, parts of a size that leaves them
 * neighbours that go later, the usual size, and none. */
static const struct {
    int32_t maker;
    int64_t leaf;
} makers[] = {{TWI_ORDER_DISSECTION, 1},
              {TWI_ORDER_DISSECTION, 30},
              {TWI_ORDER_DISSECTION, 0},
              {TWI_ORDER_DEGREE, 0}};
enum { MAKERS = sizeof makers / sizeof *makers };

static elimination eliminate_by(tw_context *ctx, const tw_graph *graph, int maker)
{
    elimination out;
    const twi_order_limit limit = {(double)graph->n, (double)INFINITY, makers[maker].leaf};
    assert_ok(ctx, twi_skeleton_create(ctx, &out.skeleton, graph));
    assert_ok(ctx, twi_order_create(ctx, &out.order, &out.skeleton, makers[maker].maker, limit));
    assert_int_equal(out.order.maker, makers[maker].maker);
    assert_ok(ctx, twi_tree_create(ctx, &out.tree, &out.skeleton, &out.order, graph->n));
    return out;
}

static void clear_elimination(elimination *e)
{
    twi_tree_destroy(e->tree);
    twi_order_clear(&e->order);
    twi_skeleton_clear(&e->skeleton);
}

static void assert_permutation(const int32_t *list, int64_t n, const char *name)
{
    uint8_t *seen = calloc((size_t)n + 1, 1);
    for (int64_t i = 0; i < n; i++) {
        if (list[i] < 0 || list[i] >= n || seen[list[i]]) {
            fail_msg("%s, %lld vertices: entry %lld is %d", name, (long long)n, (long long)i,
                     list[i]);
        }
        seen[list[i]] = 1;
    }
    free(seen);
}

/* A(S) by the book: the vertices above S that are reached from S through S and what went before. */
static void assert_high_is_what_elimination_joins(const elimination *e, int32_t b, const char *name)
{
    const twi_tree *t = e->tree;
    int32_t *queue = malloc((size_t)t->n * sizeof *queue);
    uint8_t *seen = calloc((size_t)t->n, 1);
    int64_t tail = 0;
    int64_t found = 0;
    for (int32_t i = t->first[b]; i < t->first[b + 1]; i++) {
        seen[t->vertex[i]] = 1;
        queue[tail++] = t->vertex[i];
    }
    for (int64_t head = 0; head < tail; head++) {
        int32_t u = queue[head];
        for (int64_t a = e->skeleton.offsets[u]; a < e->skeleton.offsets[u + 1]; a++) {
            int32_t v = e->skeleton.targets[a];
            if (!seen[v]) {
                seen[v] = t->block[v] > b ? 2 : 1;
                found += t->block[v] > b;
                if (t->block[v] <= b) {
                    queue[tail++] = v;
                }
            }
        }
    }
    bool good = found == twi_tree_high(t, b);
    for (int64_t h = t->high_first[b]; h < t->high_first[b + 1]; h++) {
        good = good && seen[t->high[h]] == 2;
    }
    if (!good) {
        fail_msg("%s, %lld vertices, block %d: %lld vertices above, %lld are joined", name,
                 (long long)t->n, b, (long long)twi_tree_high(t, b), (long long)found);
    }
    free(seen);
    free(queue);
}

static void assert_tree(const elimination *e, const char *name)
{
    const twi_tree *t = e->tree;
    assert_permutation(e->order.vertex, t->n, name);
    assert_permutation(t->vertex, t->n, name);
    assert_int_equal(t->first[t->blocks], t->n);
    assert_int_equal(e->order.first[e->order.groups], t->n);
    for (int64_t g = 0; g < e->order.groups; g++) {
        assert_true(e->order.first[g] < e->order.first[g + 1]);
    }
    for (int32_t b = 0; b < t->blocks; b++) {
        assert_true(t->first[b] < t->first[b + 1]);
        assert_true(t->parent[b] < 0 || t->parent[b] > b);
        assert_true((t->parent[b] < 0) == (twi_tree_high(t, b) == 0));
        for (int32_t i = t->first[b]; i < t->first[b + 1]; i++) {
            assert_int_equal(t->block[t->vertex[i]], b);
            assert_int_equal(t->place[t->vertex[i]], i);
        }
        assert_high_is_what_elimination_joins(e, b, name);
        for (int64_t h = t->high_first[b]; h < t->high_first[b + 1]; h++) { /* on the root path */
            int32_t above = t->parent[b];
            while (above >= 0 && above != t->block[t->high[h]]) {
                above = t->parent[above];
            }
            assert_true(above >= 0);
        }
    }
}

static void every_order_is_one_and_its_tree_is_a_tree_of_elimination(void **state)
{
    (void)state;
    const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 40, 150};
    for (int shape = 0; shape < SHAPES; shape++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            tw_context *ctx = open_context();
            tw_graph *graph = shape_graph(ctx, shape, sizes[i], 9, TW_I32, false);
            for (int maker = 0; maker < MAKERS; maker++) {
                elimination e = eliminate_by(ctx, graph, maker);
                assert_tree(&e, shapes[shape].name);
                clear_elimination(&e);
            }
            tw_graph_destroy(graph);
            close_context(ctx);
        }
    }
}

/* The theory has 31/4 n log2 n for the fill of a square under the best cuts; a sweep goes down
 * fewer steps than that, since what is within a block is not counted. */
static void a_grid_is_swept_in_n_log_n_steps(void **state)
{
    (void)state;
    for (int64_t side = 16; side <= 128; side *= 2) {
        tw_context *ctx = open_context();
        tw_graph *graph = shape_graph(ctx, 5, side * side, 9, TW_I32, false);
        for (int maker = 0; maker < MAKERS; maker++) {
            elimination e = eliminate_by(ctx, graph, maker);
            double n = (double)(side * side);
            double bound = 3 * n * log2(n);
            if (e.tree->down > bound || e.tree->front_most > 6 * side) {
                fail_msg("side %lld, way %d: %.0f steps, at most %.0f; the largest front has %lld "
                         "rows",
                         (long long)side, maker, e.tree->down, bound,
                         (long long)e.tree->front_most);
            }
            clear_elimination(&e);
        }
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* Large enough for tasks, and a shape that falls apart into many components. */
static void orders_do_not_depend_on_threads(void **state)
{
    (void)state;
    const int shapes_tried[] = {5, 6, 11};
    for (size_t k = 0; k < MAKERS * sizeof shapes_tried / sizeof *shapes_tried; k++) {
        const size_t i = k / MAKERS;
        if (emulated_sizes_only() && i != k % MAKERS % 3) {
            continue;
        }
        elimination one = {0};
        tw_context *one_context = NULL;
        for (int threads = 1; threads <= 4; threads += small_sizes_only() ? 3 : 1) {
            tw_context *ctx = open_context();
            assert_ok(ctx, tw_set_threads(ctx, threads));
            tw_graph *graph = shape_graph(ctx, shapes_tried[i], 12100, 9, TW_I32, false);
            elimination e = eliminate_by(ctx, graph, (int)(k % MAKERS));
            assert_permutation(e.order.vertex, e.order.n, shapes[shapes_tried[i]].name);
            if (threads == 1) {
                one = e;
            } else {
                assert_int_equal(e.order.groups, one.order.groups);
                assert_memory_equal(e.order.vertex, one.order.vertex,
                                    (size_t)e.order.n * sizeof *e.order.vertex);
                assert_memory_equal(e.order.first, one.order.first,
                                    (size_t)e.order.groups * sizeof *e.order.first);
                clear_elimination(&e);
            }
            tw_graph_destroy(graph);
            if (threads > 1) {
                close_context(ctx);
            } else {
                one_context = ctx;
            }
        }
        clear_elimination(&one);
        close_context(one_context);
    }
}

static void chains_and_trees_are_swept_in_a_few_steps_a_vertex(void **state)
{
    (void)state;
    const int kinds[] = {0, 1, 2, 3};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tw_context *ctx = open_context();
        tw_graph *graph = shape_graph(ctx, kinds[i], 3000, 9, TW_I32, false);
        elimination e = eliminate_by(ctx, graph, 0);
        if (e.tree->down > 3 * 3000 || e.tree->front_most > 200 || e.tree->heights > 200) {
            fail_msg("%s: %.0f steps, fronts of %lld, %d heights", shapes[kinds[i]].name,
                     e.tree->down, (long long)e.tree->front_most, e.tree->heights);
        }
        clear_elimination(&e);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

static void leaves_of_a_hub_go_together(void **state)
{
    (void)state;
    enum { N = 3000 };
    const int kinds[] = {2, 14, 15}; /* star, K(3, n), double star */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int maker = 0; maker < MAKERS; maker++) {
            tw_context *ctx = open_context();
            tw_graph *graph = shape_graph(ctx, kinds[i], N, 9, TW_I32, false);
            elimination e = eliminate_by(ctx, graph, maker);
            assert_tree(&e, shapes[kinds[i]].name);
            if (e.tree->blocks > N / 8) {
                fail_msg("%s: %d blocks", shapes[kinds[i]].name, e.tree->blocks);
            }
            clear_elimination(&e);
            tw_graph_destroy(graph);
            close_context(ctx);
        }
    }
}

/* Many small vertices around a core have nothing to be cut at; by degree they go first. */
static void a_core_with_a_fringe_is_taken_from_its_fringe(void **state)
{
    (void)state;
    const char *const kinds[] = {"preferential", "rmat"};
    for (int i = 0; i < 2; i++) {
        tw_context *ctx = open_context();
        tw_graph *graph = NULL;
        tw_graph_generate_options kind = TW_GRAPH_GENERATE_OPTIONS_INIT;
        kind.kind = kinds[i];
        kind.vertices = 3000;
        kind.degree = i == 0 ? 3 : 8;
        assert_ok(ctx, tw_graph_generate(ctx, &graph, &kind));
        elimination cut = eliminate_by(ctx, graph, 0);
        elimination taken = eliminate_by(ctx, graph, MAKERS - 1);
        assert_tree(&taken, kinds[i]);
        if (4 * taken.tree->down > cut.tree->down ||
            2 * taken.tree->front_most > cut.tree->front_most) {
            fail_msg("%s: %.0f steps and fronts of %lld, cut %.0f and %lld", kinds[i],
                     taken.tree->down, (long long)taken.tree->front_most, cut.tree->down,
                     (long long)cut.tree->front_most);
        }
        clear_elimination(&cut);
        clear_elimination(&taken);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* Its front, with what hundreds of children leave to it, is large enough to be closed by all. */
static void a_large_front_is_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { MANY = 2500 };
    int32_t *ours = malloc((size_t)MANY * MANY * sizeof *ours);
    int32_t *theirs = malloc((size_t)MANY * MANY * sizeof *theirs);
    tw_matrix out = {ours, MANY, MANY, MANY, TW_I32};
    tw_matrix expected = {theirs, MANY, MANY, MANY, TW_I32};
    for (int threads = 1; threads <= 5; threads += small_sizes_only() ? 4 : 2) {
        tw_context *ctx = open_context();
        tw_graph *graph = NULL;
        tw_graph_generate_options kind = TW_GRAPH_GENERATE_OPTIONS_INIT;
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        kind.kind = "preferential";
        kind.vertices = MANY;
        kind.degree = 4;
        assert_ok(ctx, tw_graph_generate(ctx, &graph, &kind));
        elimination e = eliminate_by(ctx, graph, MAKERS - 1);
        assert_true(e.tree->front_most > 512 && e.tree->blocks > 100);
        clear_elimination(&e);
        assert_ok(ctx, tw_set_threads(ctx, threads));
        if (threads == 1) {
            options.method = TW_APSP_METHOD_DIJKSTRA;
            assert_ok(ctx, tw_apsp(ctx, &expected, graph, &options));
        }
        options.method = TW_APSP_METHOD_SWEEP;
        memset(ours, 0x5a, (size_t)MANY * MANY * sizeof *ours);
        assert_ok(ctx, tw_apsp(ctx, &out, graph, &options));
        assert_memory_equal(ours, theirs, (size_t)MANY * MANY * sizeof *ours);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
    free(ours);
    free(theirs);
}

/* Wide separators end an order early, narrow ones never do. */
static void an_order_is_given_up_where_separators_are_too_wide(void **state)
{
    (void)state;
    const int kinds[] = {5, 11}; /* a grid, a random graph */
    for (int i = 0; i < 2; i++) {
        tw_context *ctx = open_context();
        tw_graph *graph = shape_graph(ctx, kinds[i], 1600, 9, TW_I32, false);
        twi_skeleton skeleton;
        twi_order order;
        assert_ok(ctx, twi_skeleton_create(ctx, &skeleton, graph));
        for (int maker = 0; maker < MAKERS; maker++) {
            const twi_order_limit limit = {1600, 1600.0 * 80000, makers[maker].leaf};
            assert_ok(ctx, twi_order_create(ctx, &order, &skeleton, makers[maker].maker, limit));
            assert_true(order.wide == (i == 1));
            assert_true((order.vertex == NULL) == order.wide);
            twi_order_clear(&order);
        }
        twi_skeleton_clear(&skeleton);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* What does not depend on how fast the machine is. */
static void a_plan_says_why_it_does_not_sweep(void **state)
{
    (void)state;
    const struct {
        int shape;
        int64_t n;
        const char *why;
    } cases[] = {{4, 300, "leave no small separators"}, {5, 100, "below 256 vertices"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_context *ctx = open_context();
        tw_apsp_plan *plan = NULL;
        tw_graph *graph = shape_graph(ctx, cases[i].shape, cases[i].n, 9, TW_I32, false);
        assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, NULL));
        assert_non_null(strstr(tw_apsp_plan_explain(plan), cases[i].why));
        assert_int_not_equal(describe_plan(plan).method, TW_APSP_METHOD_SWEEP);
        tw_apsp_plan_destroy(plan);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* --------------------------------------------------------------------------------- distances */

static tw_status sweep(tw_context *ctx, const tw_graph *graph, tw_type type, tw_matrix *out)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = TW_APSP_METHOD_SWEEP;
    size_t bytes = (size_t)(graph->n * graph->n + 1) * 8;
    *out = (tw_matrix){malloc(bytes), graph->n, graph->n, graph->n, type};
    memset(out->data, 0xA5, bytes);
    return tw_apsp(ctx, out, graph, &options);
}

/* The same into two matrices: to one alone a sweep goes by a shorter way. */
static tw_status sweep_to_two(tw_context *ctx, const tw_graph *graph, tw_matrix *one,
                              tw_matrix *two)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    tw_sink sinks[2] = {TW_SINK_INIT, TW_SINK_INIT};
    const size_t bytes = (size_t)(graph->n * graph->n) * tw_type_size(one->type);
    options.method = TW_APSP_METHOD_SWEEP;
    options.type = one->type;
    memset(one->data, 0xA5, bytes);
    memset(two->data, 0x5A, bytes);
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[0], one));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[1], two));
    tw_status status = tw_apsp_plan_create(ctx, &plan, graph, &options);
    if (status == TW_OK) {
        status = tw_apsp_plan_run(ctx, plan, sinks, 2, NULL, NULL);
    }
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sinks[1]);
    tw_sink_destroy(&sinks[0]);
    return status;
}

/* Whole numbers must agree bit for bit, others within a few roundings. */
static void assert_distances(const tw_matrix *got, const tw_matrix *want, const char *name,
                             double bound)
{
    for (int64_t i = 0; i < got->rows * got->cols; i++) {
        double x = 0;
        double y = 0;
        if (got->type == TW_I32) {
            x = ((int32_t *)got->data)[i];
            y = ((int32_t *)want->data)[i];
        } else if (got->type == TW_F32) {
            x = ((float *)got->data)[i];
            y = ((float *)want->data)[i];
        } else {
            x = ((double *)got->data)[i];
            y = ((double *)want->data)[i];
        }
        if (x != y && !(fabs(x - y) <= bound * fabs(y))) {
            fail_msg("%s, %lld vertices: %lld -> %lld is %.17g, not %.17g; seed %llu", name,
                     (long long)got->rows, (long long)(i / got->cols), (long long)(i % got->cols),
                     x, y, (unsigned long long)SEED);
        }
    }
}

static void check_graph(tw_context *ctx, const tw_graph *graph, tw_type type, const char *name,
                        double bound)
{
    tw_matrix got;
    tw_matrix want = true_distances(ctx, graph, type);
    assert_ok(ctx, sweep(ctx, graph, type, &got));
    assert_distances(&got, &want, name, bound);
    const size_t bytes = (size_t)(graph->n * graph->n) * tw_type_size(type);
    tw_matrix one = got;
    tw_matrix two = got;
    one.data = malloc(bytes + 1);
    two.data = malloc(bytes + 1);
    assert_ok(ctx, sweep_to_two(ctx, graph, &one, &two));
    assert_memory_equal(got.data, one.data, bytes);
    assert_memory_equal(got.data, two.data, bytes);
    free(one.data);
    free(two.data);
    free(got.data);
    free(want.data);
}

/* Arcs from a hub to its leaves of negative weight, with nothing shorter on the way back. */
static void negative_arcs_to_leaves_are_swept(void **state)
{
    (void)state;
    for (int kind = 14; kind < SHAPES; kind++) {
        tw_context *ctx = open_context();
        edges e = {.n = 200, .most = 40, .least = 60};
        shapes[kind].make(&e);
        for (int64_t i = 0; i < e.count; i++) {
            e.weight[i] = e.from[i] < e.to[i] ? -e.weight[i] / 2 : 2 * e.weight[i];
            e.weight[i] = floor(e.weight[i]);
        }
        tw_graph *graph = build(ctx, &e, TW_I32, false);
        check_graph(ctx, graph, TW_I32, shapes[kind].name, 0);
        tw_graph_destroy(graph);
        clear(&e);
        close_context(ctx);
    }
}

static void every_shape_has_the_distances_of_the_reference(void **state)
{
    (void)state;
    const int64_t sizes[] = {0, 1, 2, 3, 5, 16, 17, 63, 64, 65, 130, 257};
    const uint64_t most[] = {100, 1, 0, 5000}; /* ties, zeros, more than 16 bits */
    for (int shape = 0; shape < SHAPES; shape++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const bool large = sizes[i] > 65;
            if (large && (small_sizes_only() || (shape == 4 && sizes[i] > 130))) {
                continue;
            }
            for (size_t w = 0; w < 4; w += small_sizes_only() ? 2 : 1) {
                tw_context *ctx = open_context();
                assert_ok(ctx, tw_set_threads(ctx, 1 + (int)((i + w) % 3)));
                bool undirected = (i + w) % 2 == 1;
                tw_graph *graph = shape_graph(ctx, shape, sizes[i], most[w], TW_I32, undirected);
                check_graph(ctx, graph, TW_I32, shapes[shape].name, 0);
                tw_graph_destroy(graph);
                close_context(ctx);
            }
        }
    }
}

static void floats_agree_with_the_reference(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        for (int64_t n = 9; n < 140; n = n * 3 + 1) {
            tw_context *ctx = open_context();
            edges e = {.n = n, .most = 1000};
            shapes[shape].make(&e);
            for (int64_t i = 0; i < e.count; i++) {
                e.weight[i] = e.weight[i] / 7;
            }
            tw_graph *graph = build(ctx, &e, TW_F64, false);
            check_graph(ctx, graph, TW_F64, shapes[shape].name, 1e-13);
            tw_graph_destroy(graph);
            graph = build(ctx, &e, TW_F32, true);
            check_graph(ctx, graph, TW_F32, shapes[shape].name, 1e-4);
            tw_graph_destroy(graph);
            clear(&e);
            close_context(ctx);
        }
    }
}

static void small_random_graphs_of_every_kind_agree(void **state)
{
    (void)state;
    for (int kind = 0; kind < SMALL_KINDS; kind++) { /* negative weights among them */
        for (int64_t n = 1; n < 150; n = n * 2 + 1) {
            tw_context *ctx = open_context();
            tw_graph *graph = small_graph(ctx, kind, n, SEED + (uint64_t)n);
            tw_type type = kind == 4 ? TW_F32 : kind == 5 || kind == 7 ? TW_F64 : TW_I32;
            if (kind == 7) { /* potentials leave an error in proportion to themselves */
                tw_matrix got;
                tw_matrix want = true_distances(ctx, graph, type);
                assert_ok(ctx, sweep(ctx, graph, type, &got));
                for (int64_t i = 0; i < n * n; i++) {
                    double x = ((double *)got.data)[i];
                    double y = ((double *)want.data)[i];
                    assert_true(x == y || fabs(x - y) < 1e-10);
                }
                free(got.data);
                free(want.data);
            } else {
                check_graph(ctx, graph, type, "a small random graph", 1e-5);
            }
            tw_graph_destroy(graph);
            close_context(ctx);
        }
    }
}

/* A narrow type that ends in truth, one that does not, and whole numbers beyond i32. */
static void distances_that_do_not_fit_widen_the_type(void **state)
{
    (void)state;
    const struct {
        uint64_t least;
        tw_type result, work;
    } cases[] = {{1, TW_I32, TW_U8},
                 {1000, TW_I32, TW_U16},
                 {40000, TW_I32, TW_I32},
                 {900000000, TW_F64, TW_F64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_context *ctx = open_context();
        edges e = {.n = 49, .most = 3, .least = cases[i].least};
        grid_with_holes(&e);
        tw_graph *graph = build(ctx, &e, TW_I32, false);
        tw_matrix want = true_distances(ctx, graph, cases[i].result);
        tw_matrix got = {calloc(49 * 49, 8), 49, 49, 49, cases[i].result};
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        tw_apsp_report report = TW_APSP_REPORT_INIT;
        tw_apsp_plan *plan = NULL;
        tw_sink sink = TW_SINK_INIT;
        options.method = TW_APSP_METHOD_SWEEP;
        options.type = cases[i].result;
        assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &got));
        assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
        assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
        assert_distances(&got, &want, "weights of many sizes", 0);
        assert_int_equal(report.work_type, cases[i].work);
        assert_int_equal(report.method, TW_APSP_METHOD_SWEEP);
        tw_apsp_plan_destroy(plan);
        if (cases[i].work == TW_I32) { /* insisting on less is refused */
            options.work_type = TW_U16;
            assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
            assert_fails(ctx, TW_ERR_RANGE, "exceeds the working type u16",
                         tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, &report));
            tw_apsp_plan_destroy(plan);
        }
        tw_sink_destroy(&sink);
        free(got.data);
        free(want.data);
        tw_graph_destroy(graph);
        clear(&e);
        close_context(ctx);
    }
}

/* -------------------------------------------------------------------------------------- parts */

static void parts_cutoff_and_order_of_the_result_are_kept(void **state)
{
    (void)state;
    enum { N = 90 };
    tw_context *ctx = open_context();
    tw_graph *graph = shape_graph(ctx, 7, N, 50, TW_I32, false);
    tw_matrix all = true_distances(ctx, graph, TW_I32);
    const int32_t *want = all.data;
    for (int64_t count = 0; count <= 70; count = count * 2 + 1) {
        int32_t sources[70];
        int32_t targets[3] = {80, 1, 80};
        int32_t got[70 * 3];
        tw_matrix out = {got, count, 3, 3, TW_I32};
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        for (int64_t i = 0; i < count; i++) {
            sources[i] = (int32_t)(twi_random_at(SEED, (uint64_t)i) % N);
        }
        options.method = TW_APSP_METHOD_SWEEP;
        options.sources = sources;
        options.source_count = count;
        options.targets = targets;
        options.target_count = 3;
        options.cutoff = 120;
        memset(got, 0xA5, sizeof got);
        assert_ok(ctx, tw_apsp(ctx, &out, graph, &options));
        for (int64_t i = 0; i < 3 * count; i++) {
            int32_t d = want[sources[i / 3] * N + targets[i % 3]];
            assert_int_equal(got[i], d > 120 ? TW_APSP_INF_I32 : d);
        }
    }
    free(all.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Rows of the caller's matrix that lie apart: what is between them stays, for every type and any
 * sources. */
static void a_matrix_gets_its_rows_and_nothing_else(void **state)
{
    (void)state;
    enum { N = 330, APART = N + 7, ROWS = 300, SIDE = 8 };
    const struct {
        tw_type weights, result;
        uint64_t most;
    } cases[] = {{TW_I32, TW_I32, 3}, {TW_I32, TW_I32, 900}, {TW_I32, TW_U16, 9},
                 {TW_I32, TW_F32, 9}, {TW_I32, TW_F64, 9},   {TW_I32, TW_I32, 90000},
                 {TW_F32, TW_F32, 9}, {TW_F64, TW_F64, 9},   {TW_I32, TW_U8, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c += emulated_sizes_only() ? 3 : 1) {
        tw_context *ctx = open_context();
        tw_graph *graph = shape_graph(ctx, 5, N, cases[c].most, cases[c].weights, false);
        tw_matrix all = true_distances(ctx, graph, TW_F64);
        const double *want = all.data;
        for (int some = 0; some < 2; some++) {
            if (small_sizes_only() && some != (int)(c % 2)) {
                continue;
            }
            const size_t size = tw_type_size(cases[c].result);
            uint8_t *got = malloc((size_t)(N + 1) * APART * SIDE);
            int32_t sources[ROWS];
            tw_matrix out = {got, some ? ROWS : N, N, APART, cases[c].result};
            tw_apsp_options options = TW_APSP_OPTIONS_INIT;
            options.method = TW_APSP_METHOD_SWEEP;
            for (int32_t i = 0; i < ROWS; i++) {
                sources[i] = (int32_t)(twi_random_at(SEED, (uint64_t)i) % N);
            }
            options.sources = some ? sources : NULL;
            options.source_count = some ? ROWS : 0;
            memset(got, 0xA5, (size_t)(N + 1) * APART * SIDE);
            assert_ok(ctx, tw_apsp(ctx, &out, graph, &options));
            for (int64_t i = 0; i < out.rows; i++) {
                const uint8_t *row = got + (size_t)i * APART * size;
                const double infinity = tw_apsp_infinity(cases[c].result);
                for (int64_t v = 0; v < N; v++) {
                    const double found = twi_element(row, cases[c].result, v);
                    const double right = want[(some ? sources[i] : i) * N + v];
                    assert_true(right == INFINITY ? found == infinity : found == right);
                }
                for (size_t k = N * size; k < APART * size; k++) {
                    assert_int_equal(row[k], 0xA5);
                }
            }
            free(got);
        }
        free(all.data);
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

/* Past the caches or not, at any place and for any count. */
static void streamed_distances_are_the_same(void **state)
{
    (void)state;
    enum { MOST = 200 };
    const tw_type types[] = {TW_U8, TW_U16, TW_I32, TW_F32, TW_F64};
    _Alignas(64) uint8_t in[MOST * 8];
    _Alignas(64) uint8_t plain[MOST * 8 + 64];
    _Alignas(64) uint8_t streamed[MOST * 8 + 64];
    for (size_t k = 0; k < sizeof in; k++) {
        in[k] = twi_random_at(SEED, k) % 3 == 0 ? 0xff : (uint8_t)twi_random_at(SEED, k);
    }
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b < 5; b++) {
            for (int64_t count = 0; twi_widens(types[a], types[b]) && count <= MOST; count += 3) {
                for (size_t offset = 0; offset < 64; offset += 8) {
                    memset(plain, 0xA5, sizeof plain);
                    memset(streamed, 0xA5, sizeof streamed);
                    twi_widen(plain + offset, types[b], in, types[a], count);
                    twi_widen_streaming(streamed + offset, types[b], in, types[a], count);
                    twi_streamed();
                    assert_memory_equal(plain, streamed, sizeof plain);
                }
            }
        }
    }
    for (int64_t i = 0; i < MOST; i++) { /* by the book */
        int32_t wide[MOST];
        twi_widen_streaming(wide, TW_I32, in, TW_U16, MOST);
        const uint16_t narrow = ((const uint16_t *)(const void *)in)[i];
        assert_int_equal(wide[i], narrow == TW_APSP_INF_U16 ? TW_APSP_INF_I32 : narrow);
    }
}

/* So large that no cache holds it, and not at the beginning of a line. */
static void a_large_matrix_is_filled_wherever_it_lies(void **state)
{
    (void)state;
    enum { SIDE = 54, N = SIDE * SIDE, APART = (N / 16 + 1) * 16 };
    if (small_sizes_only()) {
        skip();
    }
    tw_context *ctx = open_context();
    tw_graph *graph = shape_graph(ctx, 5, N, 9, TW_I32, false);
    int32_t *rows = aligned_alloc(64, (size_t)(N + 1) * APART * sizeof *rows);
    int32_t *searched = malloc((size_t)N * N * sizeof *searched);
    tw_matrix want = {searched, N, N, N, TW_I32};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = TW_APSP_METHOD_DIJKSTRA;
    assert_ok(ctx, tw_apsp(ctx, &want, graph, &options));
    options.method = TW_APSP_METHOD_SWEEP;
    for (int at = 0; at < 16; at += 5) {
        tw_matrix got = {rows + at, N, N, APART, TW_I32};
        memset(rows, 0x5A, (size_t)(N + 1) * APART * sizeof *rows);
        assert_ok(ctx, tw_apsp(ctx, &got, graph, &options));
        for (int64_t i = 0; i < N; i++) {
            assert_memory_equal(rows + at + i * APART, searched + i * N, N * sizeof *rows);
            assert_int_equal(rows[at + i * APART + N], 0x5A5A5A5A);
        }
    }
    free(searched);
    free(rows);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Several blocks of rows, several batches in each, and the same bits for any number of threads. */
static void threads_change_no_bit(void **state)
{
    (void)state;
    const int64_t n = small_sizes_only() ? 400 : 2500;
    tw_matrix one = {NULL, 0, 0, 0, TW_F64};
    for (int threads = 1; threads <= 3; threads++) {
        tw_context *ctx = open_context();
        edges e = {.n = n, .most = 100000};
        grid(&e);
        for (int64_t i = 0; i < e.count; i++) {
            e.weight[i] = e.weight[i] / 3;
        }
        tw_graph *graph = build(ctx, &e, TW_F64, false);
        tw_matrix got;
        assert_ok(ctx, tw_set_threads(ctx, threads));
        assert_ok(ctx, sweep(ctx, graph, TW_F64, &got));
        if (threads == 1) {
            one = got;
        } else {
            assert_memory_equal(one.data, got.data, (size_t)(n * n) * sizeof(double));
            free(got.data);
        }
        tw_graph_destroy(graph);
        clear(&e);
        close_context(ctx);
    }
    free(one.data);
}

static void predecessors_are_trees(void **state)
{
    (void)state;
    enum { N = 80 };
    tw_context *ctx = open_context();
    tw_graph *graph = shape_graph(ctx, 8, N, 1, TW_I32, false); /* zeros, ties, components */
    int32_t d[N * N];
    int32_t before[N * N];
    tw_matrix distances = {d, N, N, N, TW_I32};
    tw_matrix predecessors = {before, N, N, N, TW_I32};
    tw_sink sinks[2] = {TW_SINK_INIT, TW_SINK_INIT};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    options.method = TW_APSP_METHOD_SWEEP;
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[0], &distances));
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sinks[1], &predecessors));
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sinks[0], 1, &sinks[1], NULL));
    for (int i = 0; i < N * N; i++) {
        int32_t v = i % N;
        int steps = 0;
        assert_true((before[i] == TW_APSP_NO_VERTEX) == (d[i] == TW_APSP_INF_I32 || v == i / N));
        while (before[i / N * N + v] != TW_APSP_NO_VERTEX && steps++ < N) {
            v = before[i / N * N + v];
        }
        assert_true(steps < N && (d[i] == TW_APSP_INF_I32 || v == i / N));
    }
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sinks[1]);
    tw_sink_destroy(&sinks[0]);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* ---------------------------------------------------------------------------- when it goes wrong
 */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    int64_t n = 600; /* fronts large enough for a team would need more: see the next test */
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    tw_graph *graph = shape_graph(ctx, 6, n, 9, TW_I32, false);
    tw_matrix out = {malloc((size_t)(n * n) * sizeof(int32_t)), n, n, n, TW_I32};
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.method = TW_APSP_METHOD_SWEEP;
    int64_t blocks = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    int64_t at = 1;
    for (; status != TW_OK; at += at < 100 || small_sizes_only() == 0 ? 1 : 7) {
        twi_meter_fail_at(ctx->meter, at);
        status = tw_apsp(ctx, &out, graph, &options);
        twi_meter_fail_at(ctx->meter, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_int_equal(twi_meter_blocks(ctx->meter), blocks);
    }
    assert_true(at > 40);
    free(out.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* One front of 600 rows and more, by pivot blocks and by all threads. */
static void a_large_front_is_closed_by_all_threads(void **state)
{
    (void)state;
    const int64_t n = 700;
    for (int threads = 1; threads <= 3; threads += 2) {
        tw_context *ctx = open_context();
        edges e = {.n = n, .most = 1000};
        for (int64_t i = 0; i < 30 * n; i++) {
            add(&e, draw(&e, n), draw(&e, n));
        }
        tw_graph *graph = build(ctx, &e, TW_I32, false);
        assert_ok(ctx, tw_set_threads(ctx, threads));
        tw_matrix got;
        tw_matrix want = {malloc((size_t)(n * n) * sizeof(int32_t)), n, n, n, TW_I32};
        tw_apsp_options options = TW_APSP_OPTIONS_INIT;
        options.method = TW_APSP_METHOD_DIJKSTRA;
        assert_ok(ctx, tw_apsp(ctx, &want, graph, &options));
        assert_ok(ctx, sweep(ctx, graph, TW_I32, &got));
        assert_distances(&got, &want, "a random graph of degree 30", 0);
        free(want.data);
        free(got.data);
        tw_graph_destroy(graph);
        clear(&e);
        close_context(ctx);
    }
}

static void cancel_at(void *user, const char *stage, double done, double total, const char *unit)
{
    (void)stage;
    (void)done;
    (void)total;
    (void)unit;
    tw_cancel(user);
}

static void cancelling_stops_the_run(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = shape_graph(ctx, 5, 1600, 9, TW_I32, false);
    tw_matrix got;
    tw_set_progress(ctx, cancel_at, ctx);
    assert_fails(ctx, TW_ERR_CANCELLED, "", sweep(ctx, graph, TW_I32, &got));
    free(got.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_is_one_and_its_tree_is_a_tree_of_elimination),
        cmocka_unit_test(a_grid_is_swept_in_n_log_n_steps),
        cmocka_unit_test(orders_do_not_depend_on_threads),
        cmocka_unit_test(chains_and_trees_are_swept_in_a_few_steps_a_vertex),
        cmocka_unit_test(leaves_of_a_hub_go_together),
        cmocka_unit_test(negative_arcs_to_leaves_are_swept),
        cmocka_unit_test(a_core_with_a_fringe_is_taken_from_its_fringe),
        cmocka_unit_test(a_large_front_is_the_same_for_any_number_of_threads),
        cmocka_unit_test(an_order_is_given_up_where_separators_are_too_wide),
        cmocka_unit_test(a_plan_says_why_it_does_not_sweep),
        cmocka_unit_test(every_shape_has_the_distances_of_the_reference),
        cmocka_unit_test(floats_agree_with_the_reference),
        cmocka_unit_test(small_random_graphs_of_every_kind_agree),
        cmocka_unit_test(distances_that_do_not_fit_widen_the_type),
        cmocka_unit_test(parts_cutoff_and_order_of_the_result_are_kept),
        cmocka_unit_test(a_matrix_gets_its_rows_and_nothing_else),
        cmocka_unit_test(streamed_distances_are_the_same),
        cmocka_unit_test(a_large_matrix_is_filled_wherever_it_lies),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(predecessors_are_trees),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_large_front_is_closed_by_all_threads),
        cmocka_unit_test(cancelling_stops_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
