/*
 * Elimination orders that outlive a run: the caller's, which serve every set of weights of a
 * graph and no other graph, and those in the user's cache folder, which are believed only if they
 * are whole, of the same structure, and orders. Whatever lies there, distances are the reference's.
 */
#include "unit/scratch_folder.h"
#include "unit/shapes.h"

#include "apsp/sweep/kept_order.h"
#include "apsp/sweep/known_order.h"
#include "apsp/sweep/metis.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <utime.h>

enum { SIDE = 36, N = SIDE * SIDE }; /* above TWI_KEPT_LEAST */

/* A grid with weights of 1 ... 9 drawn from `seed`; with `chord` one edge more, across it. */
static tw_graph *square(tw_context *ctx, uint64_t seed, bool chord)
{
    edges e = {.n = N, .most = 8, .least = 1, .drawn = seed * 1000003};
    tw_graph *graph = NULL;
    for (int64_t v = 0; v < N; v++) {
        if (v % SIDE + 1 < SIDE) {
            join(&e, v, v + 1);
        }
        if (v + SIDE < N) {
            join(&e, v, v + SIDE);
        }
    }
    if (chord) {
        join(&e, 0, N - 1);
    }
    int32_t *weights = malloc((size_t)e.count * sizeof *weights);
    for (int64_t i = 0; i < e.count; i++) {
        weights[i] = (int32_t)e.weight[i];
    }
    tw_edges list = TW_EDGES_INIT;
    list.count = e.count;
    list.source = e.from;
    list.target = e.to;
    list.weight = weights;
    list.weight_type = TW_I32;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &list, 0));
    free(weights);
    free(e.from);
    free(e.to);
    free(e.weight);
    return graph;
}

/* Distances by a sweep with these options are those of searches; returns where its order came from.
 */
static const char *sweep_is_right(tw_context *ctx, const tw_graph *graph, tw_apsp_options options)
{
    static const char *const origins[] = {"computed", "cached", "given"};
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_apsp_options searches = TW_APSP_OPTIONS_INIT;
    int32_t *ours = malloc((size_t)N * N * sizeof *ours);
    int32_t *theirs = malloc((size_t)N * N * sizeof *theirs);
    const int64_t rows = options.sources != NULL ? options.source_count : N;
    tw_matrix mine = {ours, rows, N, N, TW_I32};
    tw_matrix other = {theirs, rows, N, N, TW_I32};
    const char *origin = "";
    memset(ours, 0x5a, (size_t)N * N * sizeof *ours);
    searches.method = TW_APSP_METHOD_DIJKSTRA;
    searches.sources = options.sources;
    searches.source_count = options.source_count;
    options.method = TW_APSP_METHOD_SWEEP;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    tw_apsp_plan_info info = describe_plan(plan);
    for (int i = 0; i < 3; i++) {
        origin = strcmp(info.order, origins[i]) == 0 ? origins[i] : origin;
    }
    char said[64]; /* some files of this test say that they hold a dissection */
    char other_said[64];
    snprintf(said, sizeof said, "minimum degree, %s;", origin);
    snprintf(other_said, sizeof other_said, "built-in nested dissection, %s;", origin);
    if (strstr(tw_apsp_plan_explain(plan), said) == NULL &&
        (strcmp(origin, "cached") != 0 || strstr(tw_apsp_plan_explain(plan), other_said) == NULL)) {
        fail_msg("not said: %s\n%s", said, tw_apsp_plan_explain(plan));
    }
    assert_ok(ctx, tw_sink_to_matrix(ctx, &sink, &mine));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL));
    tw_sink_destroy(&sink);
    tw_apsp_plan_destroy(plan);
    int32_t some[N / 16];
    if (small_sizes_only() && options.sources == NULL) {
        for (int32_t i = 0; i < N / 16; i++) {
            some[i] = 16 * i + i % 16;
            memmove(ours + (size_t)i * N, ours + (size_t)some[i] * N, N * sizeof *ours);
        }
        searches.sources = some;
        searches.source_count = other.rows = N / 16;
    }
    assert_ok(ctx, tw_apsp(ctx, &other, graph, &searches));
    assert_memory_equal(ours, theirs, (size_t)(other.rows * N) * sizeof *ours);
    free(ours);
    free(theirs);
    return origin;
}

/* -------------------------------------------------------------------------- the caller's own */

static void an_order_serves_every_set_of_weights(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_apsp_order *order = NULL;
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_graph *first = square(ctx, 1, false);
    assert_ok(ctx, tw_apsp_order_create(ctx, &order, first));
    tw_graph_destroy(first); /* needed no more */
    options.order = order;
    for (uint64_t seed = 2; seed < 5; seed++) {
        tw_graph *graph = square(ctx, seed, false);
        assert_string_equal(sweep_is_right(ctx, graph, options), "given");
        tw_graph_destroy(graph);
    }
    /* Fewer sources have a tree of their own. */
    const int32_t sources[] = {5, 700, N - 1};
    tw_graph *graph = square(ctx, 6, false);
    options.sources = sources;
    options.source_count = 3;
    assert_string_equal(sweep_is_right(ctx, graph, options), "given");
    tw_graph_destroy(graph);
    tw_apsp_order_destroy(order);
    close_context(ctx);
}

static void a_plan_outlives_its_order(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_apsp_order *order = NULL;
    tw_apsp_plan *plan = NULL;
    tw_apsp_summary *summary = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_graph *graph = square(ctx, 1, false);
    assert_ok(ctx, tw_apsp_order_create(ctx, &order, graph));
    options.order = order;
    options.method = TW_APSP_METHOD_SWEEP;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    tw_apsp_order_destroy(order);
    assert_ok(ctx, tw_apsp_summary_create(ctx, &summary, 0, NULL, NULL));
    assert_ok(ctx, tw_apsp_summary_sink(summary, &sink));
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL));
    tw_sink_destroy(&sink);
    tw_apsp_summary_destroy(summary);
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void an_order_of_another_graph_is_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_apsp_order *order = NULL;
    tw_apsp_plan *plan = NULL;
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_graph *graph = square(ctx, 1, false);
    tw_graph *other = square(ctx, 1, true);
    tw_graph *small = shape_graph(ctx, 0, 50, 9, TW_I32, false);
    assert_ok(ctx, tw_apsp_order_create(ctx, &order, other));
    options.order = order;
    assert_fails(ctx, TW_ERR_ARGUMENT, "different edges",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_fails(ctx, TW_ERR_ARGUMENT, "1296 vertices; this one has 50",
                 tw_apsp_plan_create(ctx, &plan, small, &options));
    options.order = NULL;
    options.order_cache = 2;
    assert_fails(ctx, TW_ERR_ARGUMENT, "order_cache is 2",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    options.order_cache = 0;
    options.predecessors = 2;
    assert_fails(ctx, TW_ERR_ARGUMENT, "predecessors is 2",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    options.predecessors = 0;
    options.beside = UINT64_MAX;
    assert_fails(ctx, TW_ERR_ARGUMENT, "beside is 18446744073709551615",
                 tw_apsp_plan_create(ctx, &plan, graph, &options));
    tw_apsp_order_destroy(order);
    tw_graph_destroy(small);
    tw_graph_destroy(other);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void orders_of_every_shape_serve_their_graph(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        for (int64_t n = 0; n <= 150; n += n < 2 ? 1 : 74) {
            tw_context *ctx = open_context();
            tw_apsp_order *order = NULL;
            tw_graph *graph = shape_graph(ctx, shape, n, 9, TW_I32, false);
            tw_apsp_options options = TW_APSP_OPTIONS_INIT;
            int32_t *all = calloc((size_t)(n * n) + 1, 2 * sizeof *all);
            tw_matrix ours = {all, n, n, n, TW_I32};
            tw_matrix reference = {all + n * n, n, n, n, TW_I32};
            assert_ok(ctx, tw_apsp_order_create(ctx, &order, graph));
            options.method = TW_APSP_METHOD_REFERENCE;
            assert_ok(ctx, tw_apsp(ctx, &reference, graph, &options));
            options.method = TW_APSP_METHOD_SWEEP;
            options.order = order;
            memset(all, 0x5a, (size_t)(n * n) * sizeof *all);
            assert_ok(ctx, tw_apsp(ctx, &ours, graph, &options));
            assert_memory_equal(all, all + n * n, (size_t)(n * n) * sizeof *all);
            free(all);
            tw_apsp_order_destroy(order);
            tw_graph_destroy(graph);
            close_context(ctx);
        }
    }
}

/* Directions, the sequence of edges and doubles change no order; a vertex or an edge does. */
static void a_structure_is_what_is_joined(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static const int32_t from[] = {0, 1, 2, 3};
    static const int32_t to[] = {1, 2, 3, 0};
    static const int32_t turned_from[] = {3, 2, 0, 1};
    static const int32_t turned_to[] = {0, 3, 1, 2};
    static const int32_t other_to[] = {1, 2, 3, 1};
    const struct {
        const int32_t *from, *to;
        int64_t n;
        bool same;
    } cases[] = {{from, to, 4, true},
                 {to, from, 4, true},
                 {turned_from, turned_to, 4, true},
                 {from, to, 5, false},
                 {from, other_to, 4, false}};
    twi_structure first = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_graph *graph = NULL;
        tw_edges list = TW_EDGES_INIT;
        list.count = 4;
        list.source = cases[i].from;
        list.target = cases[i].to;
        assert_ok(ctx, tw_graph_from_edges(ctx, &graph, cases[i].n, &list, 0));
        twi_structure found = twi_structure_of(ctx, graph);
        first = i == 0 ? found : first;
        assert_int_equal(twi_structure_equal(&first, &found), cases[i].same);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* ------------------------------------------------------------------------------------- METIS */

static volatile sig_atomic_t terminated;

static void note_termination(int signal_number)
{
    (void)signal_number;
    terminated = 1;
}

/* METIS prints, catches signals and sets the seed of rand(): nothing of it is seen here. */
static void orders_of_metis_are_orders_and_change_nothing_else(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    if (!twi_metis_is_built()) {
        twi_order none = {.n = 1};
        assert_ok(ctx, twi_metis_order(ctx, &none, &(twi_skeleton){0}));
        assert_null(none.vertex);
        close_context(ctx);
        skip();
    }
    struct sigaction mine = {.sa_handler = note_termination};
    struct sigaction found;
    assert_int_equal(sigaction(SIGTERM, &mine, NULL), 0);
    for (int shape = 0; shape < SHAPES; shape++) {
        const int64_t sizes[] = {0, 1, 2, 40, 700};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            tw_graph *graph = shape_graph(ctx, shape, sizes[i], 9, TW_I32, false);
            twi_skeleton skeleton;
            twi_order order = {0};
            twi_tree *tree = NULL;
            assert_ok(ctx, twi_skeleton_create(ctx, &skeleton, graph));
            srand((unsigned)getpid());
            int first = rand();
            srand((unsigned)getpid());
            assert_ok(ctx, twi_metis_order(ctx, &order, &skeleton));
            assert_int_equal(rand(), first);
            if (order.vertex != NULL) { /* it may fail; without links it does */
                uint8_t seen[700] = {0};
                for (int64_t k = 0; k < sizes[i]; k++) {
                    assert_true(order.vertex[k] >= 0 && order.vertex[k] < sizes[i]);
                    assert_int_equal(seen[order.vertex[k]]++, 0);
                }
                assert_ok(ctx, twi_tree_create(ctx, &tree, &skeleton, &order, sizes[i]));
                twi_tree_destroy(tree);
            } else {
                assert_true(sizes[i] < 40 || skeleton.offsets[sizes[i]] == 0);
            }
            twi_order_clear(&order);
            twi_skeleton_clear(&skeleton);
            tw_graph_destroy(graph);
        }
    }
    assert_int_equal(sigaction(SIGTERM, NULL, &found), 0);
    assert_ptr_equal(found.sa_handler, note_termination);
    assert_int_equal(signal(SIGTERM, SIG_DFL) == SIG_ERR, 0);
    assert_int_equal(terminated, 0);
    close_context(ctx);
}

static tw_graph *cube(tw_context *ctx)
{
    enum { EDGE = 22, CUBE = EDGE * EDGE * EDGE };
    edges e = {.n = CUBE, .most = 8, .least = 1};
    for (int64_t v = 0; v < CUBE; v++) {
        for (int64_t step = 1; step < CUBE; step *= EDGE) {
            if (v / step % EDGE + 1 < EDGE) {
                join(&e, v, v + step);
            }
        }
    }
    tw_graph *graph = build(ctx, &e, TW_I32, false);
    clear(&e);
    return graph;
}

/* On a cube METIS has far fewer steps; scalar code makes the run long enough to be worth it. */
static void a_long_run_takes_the_better_order_and_says_so(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_apsp_plan *plan = NULL;
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_graph *graph = cube(ctx);
    assert_ok(ctx, tw_set_isa(ctx, "scalar"));
    assert_ok(ctx, tw_set_threads(ctx, 1));
    options.method = TW_APSP_METHOD_SWEEP;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    const char *said =
        twi_metis_is_built() ? "METIS, computed;" : "computed (METIS is not in this build);";
    if (strstr(tw_apsp_plan_explain(plan), said) == NULL) {
        fail_msg("%s", tw_apsp_plan_explain(plan));
    }
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* A list of what is above that grows beyond the order's bound makes no tree. */
static void a_tree_is_given_up_at_the_bound_of_its_order(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    twi_skeleton skeleton;
    twi_order order = {0};
    twi_tree *tree = NULL;
    assert_ok(ctx, twi_skeleton_create(ctx, &skeleton, graph));
    assert_ok(ctx, twi_order_create(ctx, &order, &skeleton, TWI_ORDER_DISSECTION,
                                    (twi_order_limit){(double)N, (double)INFINITY, 0}));
    order.entries = 10;
    assert_ok(ctx, twi_tree_create(ctx, &tree, &skeleton, &order, N));
    assert_null(tree);
    order.entries = 1e9;
    assert_ok(ctx, twi_tree_create(ctx, &tree, &skeleton, &order, N));
    assert_non_null(tree);
    twi_tree_destroy(tree);
    twi_order_clear(&order);
    twi_skeleton_clear(&skeleton);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* The caller's own order is made by the same rule. */
static void an_order_made_for_many_runs_is_the_better_one_too(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_apsp_order *order = NULL;
    tw_graph *graph = cube(ctx);
    assert_ok(ctx, tw_set_isa(ctx, "scalar"));
    assert_ok(ctx, tw_set_threads(ctx, 1));
    assert_ok(ctx, tw_apsp_order_create(ctx, &order, graph));
    assert_int_equal(order->order.maker == TWI_ORDER_METIS, twi_metis_is_built());
    tw_apsp_order_destroy(order);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* The order decides in which sequence lengths are added up, so for weights that are not whole it is
 * the same on any machine and for any number of threads; for whole ones it is what pays there. */
static void an_order_for_fractions_does_not_depend_on_the_machine(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph_generate_options kind = TW_GRAPH_GENERATE_OPTIONS_INIT;
    kind.kind = "grid";
    kind.vertices = 15876;
    kind.rows = kind.cols = 126;
    kind.density = 1;
    for (int whole = 0; whole < 2; whole++) {
        tw_graph *graph = NULL;
        tw_apsp_order *orders[4] = {NULL};
        kind.weight_type = whole ? TW_I32 : TW_F64;
        assert_ok(ctx, tw_graph_generate(ctx, &graph, &kind));
        assert_int_equal(graph->integral, whole);
        for (int i = 0; i < 4; i++) {
            assert_ok(ctx, tw_set_threads(ctx, 1 + i));
            assert_ok(ctx, twi_order_object(ctx, &orders[i], graph, i % 2 == 0 ? 1e6 : 1e15));
            const bool same = memcmp(orders[i]->order.vertex, orders[0]->order.vertex,
                                     (size_t)graph->n * sizeof *orders[i]->order.vertex) == 0;
            assert_true(same || (whole && i % 2 == 1));
            assert_true(!same || !whole || i % 2 == 0 || !twi_metis_is_built());
        }
        for (int i = 0; i < 4; i++) {
            tw_apsp_order_destroy(orders[i]);
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* The limit that the last refusal names. */
static uint64_t named_limit(tw_context *ctx)
{
    const char *named = strstr(tw_last_error(ctx), "; use --memory ");
    char *end = NULL;
    assert_non_null(named);
    const uint64_t number = strtoull(named + strlen("; use --memory "), &end, 10);
    assert_int_equal(strncmp(end + (*end != ' '), " or more", 8), 0);
    return number * (*end == 'k' ? 1000 : *end == 'M' ? 1000000 : 1);
}

/* Whatever of it is refused first: lists of arcs, the order or its tree. */
static void the_limit_that_a_refused_order_names_is_enough(void **state)
{
    (void)state;
    static void (*const made[])(edges *) = {
        grid, path, star, tree, components, random_sparse, one_way_grid, hub_of_cliques};
    const bool small = small_sizes_only();
    const int64_t sizes[] = {small ? 2500 : 8100, 36100}; /* the latter is dissected */
    for (size_t i = 0; i < 2 * sizeof made / sizeof *made; i++) {
        edges e = {.n = sizes[i % 2], .most = 8, .least = 1, .drawn = SEED};
        if (i % 2 == 1 && (small || made[i / 2] == random_sparse)) {
            continue; /* that has no small separators */
        }
        made[i / 2](&e);
        for (uint64_t spare = 0; spare < (small ? 300000 : 2000000); spare = 3 * spare + 200000) {
            tw_context *ctx = open_context();
            tw_graph *graph = build(ctx, &e, TW_I32, false);
            tw_apsp_order *order = NULL;
            assert_ok(ctx, tw_set_threads(ctx, 2));
            assert_ok(ctx, tw_set_memory(ctx, tw_memory_used(ctx) + spare + 1));
            if (tw_apsp_order_create(ctx, &order, graph) != TW_OK) {
                const uint64_t limit = named_limit(ctx);
                assert_ok(ctx, tw_set_memory(ctx, limit));
                assert_ok(ctx, tw_apsp_order_create(ctx, &order, graph));
                assert_true((double)limit <= 1.5 * (double)tw_memory_peak(ctx) + 1e6);
            } else {
                assert_true(spare > 0);
            }
            tw_apsp_order_destroy(order);
            tw_graph_destroy(graph);
            close_context(ctx);
        }
        clear(&e);
    }
}

/* Steps that a run may take end every way to make an order; where one keeps within, it is taken. */
static void an_order_beyond_the_steps_of_a_run_is_none(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    tw_graph_generate_options kind = TW_GRAPH_GENERATE_OPTIONS_INIT;
    const twi_known_order none = {.origin = "computed"};
    twi_skeleton skeleton;
    twi_order order = {0};
    twi_tree *tree = NULL;
    kind.kind = "preferential";
    kind.vertices = 3000;
    kind.degree = 3;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &kind));
    assert_ok(ctx, twi_skeleton_create(ctx, &skeleton, graph));
    twi_order_limit limit = {(double)graph->n, (double)INFINITY, 0};
    assert_ok(ctx, twi_order_create(ctx, &order, &skeleton, TWI_ORDER_DEGREE, limit));
    assert_ok(ctx, twi_tree_create(ctx, &tree, &skeleton, &order, graph->n));
    const double steps = (double)graph->n * (tree->down + tree->up) + tree->factor;
    twi_tree_destroy(tree);
    twi_order_clear(&order);
    tw_apsp_plan plan = {.graph = graph, .options = TW_APSP_OPTIONS_INIT};
    assert_ok(ctx, twi_sweep_tree(ctx, &plan, &none, NULL, steps / 20, 1));
    assert_null(plan.tree);
    limit.steps = steps;
    assert_ok(ctx, twi_order_create(ctx, &order, &skeleton, TWI_ORDER_DISSECTION, limit));
    assert_true(order.wide);
    assert_ok(ctx, twi_sweep_tree(ctx, &plan, &none, NULL, steps, 1));
    assert_non_null(plan.tree);
    assert_int_equal(plan.order_maker, TWI_ORDER_DEGREE);
    twi_tree_destroy(plan.tree);
    twi_order_clear(&order);
    twi_skeleton_clear(&skeleton);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static volatile sig_atomic_t children_seen;

static void note_child(int number)
{
    (void)number;
    children_seen++;
}

/* A program that handles SIGCHLD hears nothing of ours. */
static void metis_leaves_a_callers_children_alone(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    twi_skeleton skeleton;
    twi_order order = {0};
    struct sigaction handler = {.sa_handler = note_child};
    struct sigaction before;
    assert_ok(ctx, twi_skeleton_create(ctx, &skeleton, graph));
    assert_int_equal(sigaction(SIGCHLD, &handler, &before), 0);
    assert_ok(ctx, twi_metis_order(ctx, &order, &skeleton));
    assert_null(order.vertex);
    assert_int_equal(children_seen, 0);
    handler.sa_handler = SIG_IGN; /* children vanish by themselves: nobody is told */
    assert_int_equal(sigaction(SIGCHLD, &handler, NULL), 0);
    assert_ok(ctx, twi_metis_order(ctx, &order, &skeleton));
    assert_int_equal(order.vertex != NULL, twi_metis_is_built());
    twi_order_clear(&order);
    assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left behind */
    twi_skeleton_clear(&skeleton);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void skeletons_and_metis_stop_when_the_call_is_cancelled(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    twi_skeleton skeleton;
    twi_order order = {0};
    assert_ok(ctx, twi_skeleton_create(ctx, &skeleton, graph));
    tw_cancel(ctx);
    tw_status status = twi_metis_order(ctx, &order, &skeleton);
    assert_int_equal(status, twi_metis_is_built() ? TW_ERR_CANCELLED : TW_OK);
    assert_null(order.vertex);
    twi_skeleton_clear(&skeleton);
    assert_int_equal(twi_skeleton_create(ctx, &skeleton, graph), TW_ERR_CANCELLED);
    assert_null(skeleton.offsets);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* -------------------------------------------------------------------------- the cache folder */

static char kept_path[256]; /* of the only order in the cache */

static int count_orders(void)
{
    int count = 0;
    DIR *folder = opendir(in_scratch("tilewright"));
    for (struct dirent *entry = folder != NULL ? readdir(folder) : NULL; entry != NULL;
         entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            count++;
            snprintf(kept_path, sizeof kept_path, "%s/tilewright/%.80s", scratch, entry->d_name);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

static void clear_cache(void)
{
    while (count_orders() > 0) {
        assert_int_equal(remove(kept_path), 0);
    }
    (void)rmdir(in_scratch("tilewright"));
}

static int make_cache(void **state)
{
    return make_scratch(state) != 0 || setenv("XDG_CACHE_HOME", scratch, 1) != 0;
}

static int remove_cache(void **state)
{
    clear_cache();
    return unsetenv("XDG_CACHE_HOME") != 0 || remove_scratch(state) != 0;
}

static const tw_apsp_options *cached(void)
{
    static tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    options.order_cache = 1;
    return &options;
}

static void an_order_is_found_by_the_next_run_with_any_weights(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    tw_graph *reweighted = square(ctx, 2, false);
    tw_graph *other = square(ctx, 1, true);
    tw_apsp_options plain = TW_APSP_OPTIONS_INIT;
    struct stat at;
    assert_string_equal(sweep_is_right(ctx, graph, plain), "computed");
    assert_int_equal(count_orders(), 0); /* nobody asked for a file */
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_int_equal(count_orders(), 1);
    assert_int_equal(stat(kept_path, &at), 0);
    assert_int_equal(at.st_mode & 0777, 0600);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached");
    assert_string_equal(sweep_is_right(ctx, reweighted, *cached()), "cached");
    assert_string_equal(sweep_is_right(ctx, other, *cached()), "computed");
    assert_string_equal(sweep_is_right(ctx, graph, plain), "computed");
    assert_int_equal(count_orders(), 2);
    /* The plan left to itself finds it, too, where searches take longer than to read it. */
    tw_apsp_plan *plan = NULL;
    assert_ok(ctx, tw_set_threads(ctx, 1));
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, cached()));
    if (strstr(tw_apsp_plan_explain(plan), "minimum degree, cached;") == NULL) {
        fail_msg("%s", tw_apsp_plan_explain(plan));
    }
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(other);
    tw_graph_destroy(reweighted);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void small_graphs_leave_no_file(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = shape_graph(ctx, 5, TWI_KEPT_LEAST - 1, 9, TW_I32, false);
    tw_apsp_options options = *cached();
    tw_apsp_plan *plan = NULL;
    options.method = TW_APSP_METHOD_SWEEP;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    assert_string_equal(describe_plan(plan).order, "computed");
    assert_int_equal(count_orders(), 0);
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static char *read_kept(size_t *size)
{
    char *whole = malloc(1 << 20);
    FILE *file = fopen(kept_path, "rb");
    assert_non_null(file);
    *size = fread(whole, 1, 1 << 20, file);
    fclose(file);
    return whole;
}

static void write_kept(const char *bytes, size_t size)
{
    FILE *file = fopen(kept_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void no_byte_of_a_file_may_change_or_be_missing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    const twi_structure structure = twi_structure_of(ctx, graph);
    twi_order read = {0};
    size_t size = 0;
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_int_equal(count_orders(), 1);
    char *whole = read_kept(&size);
    assert_true(size > N * 4);
    for (size_t k = 0; k < size; k += k < 64 ? 1 : 61) {
        whole[k] ^= 0x10;
        assert_ok(ctx, twi_kept_order_parse(ctx, &read, &structure, whole, size));
        assert_null(read.vertex);
        whole[k] ^= 0x10;
        assert_ok(ctx, twi_kept_order_parse(ctx, &read, &structure, whole, k));
        assert_null(read.vertex);
    }
    assert_ok(ctx, twi_kept_order_parse(ctx, &read, &structure, whole, size));
    assert_non_null(read.vertex);
    twi_order_clear(&read);
    /* A damaged file is made over: the run after that finds it again. */
    const size_t wrong[] = {0, 7, 64, size / 2, size - 1, size};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        whole[100] ^= wrong[i] == size ? 1 : 0;
        write_kept(whole, wrong[i]);
        assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
        assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached");
        assert_int_equal(count_orders(), 1);
    }
    free(whole);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* With a right checksum, too. */
static void what_is_no_order_of_the_structure_is_not_believed(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    tw_graph *other = square(ctx, 1, true);
    const twi_structure structure = twi_structure_of(ctx, graph);
    const twi_structure others = twi_structure_of(ctx, other);
    int32_t *vertex = malloc(N * sizeof *vertex);
    int32_t first[4] = {0, 10, 20, N};
    twi_order order = {.n = N, .vertex = vertex, .groups = 3, .first = first};
    twi_order read = {0};
    for (int32_t v = 0; v < N; v++) {
        vertex[v] = N - 1 - v;
    }
    twi_kept_order_write(ctx, &order, &structure);
    assert_ok(ctx, twi_kept_order_read(ctx, &read, &structure));
    assert_memory_equal(read.vertex, vertex, N * sizeof *vertex); /* poor, but one */
    twi_order_clear(&read);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached");
    /* In the place of another graph's. */
    char theirs[256];
    assert_int_equal(count_orders(), 1);
    snprintf(theirs, sizeof theirs, "%s/tilewright/%016llx%016llx.order", scratch,
             (unsigned long long)others.hash[0], (unsigned long long)others.hash[1]);
    assert_int_equal(rename(kept_path, theirs), 0);
    assert_ok(ctx, twi_kept_order_read(ctx, &read, &others));
    assert_null(read.vertex);
    assert_int_equal(unlink(theirs), 0);
    const struct {
        int32_t *at;
        int32_t wrong;
    } cases[] = {{&vertex[3], N - 3},     {&vertex[3], -1},   {&vertex[N - 1], N},
                 {&vertex[0], INT32_MIN}, {&first[0], 1},     {&first[1], 20},
                 {&first[1], 21},         {&first[3], N - 1}, {&first[1], -5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t right = *cases[i].at;
        *cases[i].at = cases[i].wrong;
        twi_kept_order_write(ctx, &order, &structure);
        *cases[i].at = right;
        assert_ok(ctx, twi_kept_order_read(ctx, &read, &structure));
        assert_null(read.vertex);
    }
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    free(vertex);
    tw_graph_destroy(other);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void links_folders_and_pipes_in_its_place_are_left_alone(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    size_t size = 0;
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_int_equal(count_orders(), 1);
    char *whole = read_kept(&size);
    /* A link is not followed, and is replaced: what it points to stays. */
    put_file("elsewhere", whole, size);
    assert_int_equal(unlink(kept_path), 0);
    assert_int_equal(symlink(in_scratch("elsewhere"), kept_path), 0);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached");
    assert_file("elsewhere", whole, size);
    /* A pipe is not waited for. */
    assert_int_equal(unlink(kept_path), 0);
    assert_int_equal(mkfifo(kept_path, 0600), 0);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached");
    /* A folder stays. */
    assert_int_equal(unlink(kept_path), 0);
    assert_int_equal(mkdir(kept_path, 0700), 0);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_int_equal(count_orders(), 1);
    free(whole);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void without_a_folder_orders_are_made(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    const char *before = getenv("HOME");
    char *home = before != NULL ? strdup(before) : NULL;
    const char *const places[] = {"/proc/no/such", "relative", ""};
    assert_int_equal(unsetenv("HOME"), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(setenv("XDG_CACHE_HOME", places[i], 1), 0);
        assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
        assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    }
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    /* A file where the folder belongs. */
    put_file("tilewright", "x", 1);
    assert_int_equal(setenv("XDG_CACHE_HOME", scratch, 1), 0);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_file("tilewright", "x", 1);
    /* ~/.cache of a home. */
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    assert_int_equal(setenv("HOME", scratch, 1), 0);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached");
    assert_int_equal(setenv("XDG_CACHE_HOME", in_scratch(".cache"), 1), 0);
    char inner[80];
    snprintf(inner, sizeof inner, "%s", scratch);
    strcat(scratch, "/.cache");
    clear_cache();
    assert_int_equal(rmdir(scratch), 0);
    strcpy(scratch, inner);
    if (home != NULL) {
        assert_int_equal(setenv("HOME", home, 1), 0);
    }
    free(home);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_folder_that_cannot_be_written_is_no_failure(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_int_equal(chmod(in_scratch("tilewright"), 0500), 0);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached"); /* it can be read */
    assert_int_equal(chmod(in_scratch("tilewright"), 0700), 0);
    clear_cache();
    assert_int_equal(mkdir(in_scratch("tilewright"), 0500), 0);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_int_equal(chmod(in_scratch("tilewright"), 0700), 0);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Files of any size in the folder: the oldest go, and nothing that is not ours. */
static void there_is_a_bound_and_the_oldest_go_first(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    char name[128];
    assert_int_equal(mkdir(in_scratch("tilewright"), 0700), 0);
    for (int i = 0; i < TWI_KEPT_ORDERS + 9; i++) {
        snprintf(name, sizeof name, "tilewright/%032x.order", i);
        put_file(name, "old", 3);
        const struct utimbuf when = {1000000 + i, 1000000 + i};
        assert_int_equal(utime(in_scratch(name), &when), 0);
    }
    put_file("tilewright/0123.code", "kept", 4);
    snprintf(name, sizeof name, "tilewright/%032x.order.half", 7); /* by a writer that died */
    put_file(name, "half", 4);
    const struct utimbuf long_ago = {1000, 1000};
    assert_int_equal(utime(in_scratch(name), &long_ago), 0);
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "computed");
    assert_int_equal(count_orders(), TWI_KEPT_ORDERS + 1); /* with the other's file */
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached");
    for (int i = 0; i < TWI_KEPT_ORDERS + 9; i++) {
        snprintf(name, sizeof name, "tilewright/%032x.order", i);
        assert_int_equal(access(in_scratch(name), F_OK) == 0, i >= 10);
    }
    /* By their sizes: the holes of a file count. */
    snprintf(name, sizeof name, "tilewright/%032x.order", 40);
    assert_int_equal(truncate(in_scratch(name), (off_t)TWI_KEPT_BYTES), 0);
    const struct utimbuf old = {1000040, 1000040};
    assert_int_equal(utime(in_scratch(name), &old), 0);
    twi_order order = {0};
    const twi_structure structure = twi_structure_of(ctx, graph);
    assert_ok(ctx, twi_kept_order_read(ctx, &order, &structure));
    twi_kept_order_write(ctx, &order, &structure);
    twi_order_clear(&order);
    for (int i = 10; i < TWI_KEPT_ORDERS + 9; i++) {
        snprintf(name, sizeof name, "tilewright/%032x.order", i);
        assert_int_equal(access(in_scratch(name), F_OK) == 0, i > 40);
    }
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached");
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Processes that write and read the same file at the same time see orders or nothing. */
static void writers_at_the_same_time_do_no_harm(void **state)
{
    (void)state;
    enum { WRITERS = 4, TIMES = 50 };
    tw_context *ctx = open_context();
    tw_graph *graph = square(ctx, 1, false);
    const twi_structure structure = twi_structure_of(ctx, graph);
    int32_t *vertex = malloc(N * sizeof *vertex);
    int32_t first[2] = {0, N};
    twi_order order = {.n = N, .vertex = vertex, .groups = 1, .first = first};
    pid_t children[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        children[w] = fork();
        assert_true(children[w] >= 0);
        if (children[w] == 0) {
            int wrong = 0;
            for (int k = 0; k < TIMES; k++) {
                twi_order read = {0};
                for (int32_t v = 0; v < N; v++) {
                    vertex[v] = (v + 100 * w + k) % N;
                }
                twi_kept_order_write(ctx, &order, &structure);
                wrong |= twi_kept_order_read(ctx, &read, &structure) != TW_OK;
                wrong |= read.vertex == NULL || read.vertex[1] != (read.vertex[0] + 1) % N ||
                         read.vertex[N - 1] != (read.vertex[0] + N - 1) % N;
                twi_order_clear(&read);
            }
            _exit(wrong);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status = -1;
        assert_int_equal(waitpid(children[w], &status, 0), children[w]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_orders(), 1); /* and nothing half written */
    assert_string_equal(sweep_is_right(ctx, graph, *cached()), "cached");
    free(vertex);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_failed_allocation_leaves_nothing(void **state)
{
    (void)state;
    for (int with = 0; with < 3; with++) { /* an order; a plan that keeps one; one that finds it */
        tw_context *ctx = open_context();
        tw_graph *graph = square(ctx, 1, false);
        int64_t before = twi_meter_blocks(ctx->meter);
        tw_apsp_options options = *cached();
        tw_status status = TW_ERR_MEMORY;
        options.method = TW_APSP_METHOD_SWEEP;
        for (int64_t n = 1; status != TW_OK; n++) {
            tw_apsp_order *order = NULL;
            tw_apsp_plan *plan = NULL;
            twi_meter_fail_at(ctx->meter, n);
            status = with == 0 ? tw_apsp_order_create(ctx, &order, graph)
                               : tw_apsp_plan_create(ctx, &plan, graph, &options);
            twi_meter_fail_at(ctx->meter, 0);
            if (status != TW_OK) {
                assert_int_equal(status, TW_ERR_MEMORY);
                assert_null(order);
                assert_null(plan);
                assert_int_equal(twi_meter_blocks(ctx->meter), before);
            } else if (with > 0) {
                assert_string_equal(describe_plan(plan).order, with == 1 ? "computed" : "cached");
            }
            if (with == 1 && status != TW_OK) {
                clear_cache();
            }
            tw_apsp_order_destroy(order);
            tw_apsp_plan_destroy(plan);
        }
        tw_graph_destroy(graph);
        close_context(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_serves_every_set_of_weights),
        cmocka_unit_test(a_plan_outlives_its_order),
        cmocka_unit_test(an_order_of_another_graph_is_refused),
        cmocka_unit_test(orders_of_every_shape_serve_their_graph),
        cmocka_unit_test(a_structure_is_what_is_joined),
        cmocka_unit_test(orders_of_metis_are_orders_and_change_nothing_else),
        cmocka_unit_test(a_long_run_takes_the_better_order_and_says_so),
        cmocka_unit_test(a_tree_is_given_up_at_the_bound_of_its_order),
        cmocka_unit_test(metis_leaves_a_callers_children_alone),
        cmocka_unit_test(an_order_made_for_many_runs_is_the_better_one_too),
        cmocka_unit_test(an_order_for_fractions_does_not_depend_on_the_machine),
        cmocka_unit_test(the_limit_that_a_refused_order_names_is_enough),
        cmocka_unit_test(an_order_beyond_the_steps_of_a_run_is_none),
        cmocka_unit_test(skeletons_and_metis_stop_when_the_call_is_cancelled),
#define IN_CACHE(test) cmocka_unit_test_setup_teardown(test, make_cache, remove_cache)
        IN_CACHE(an_order_is_found_by_the_next_run_with_any_weights),
        IN_CACHE(small_graphs_leave_no_file),
        IN_CACHE(no_byte_of_a_file_may_change_or_be_missing),
        IN_CACHE(what_is_no_order_of_the_structure_is_not_believed),
        IN_CACHE(links_folders_and_pipes_in_its_place_are_left_alone),
        IN_CACHE(without_a_folder_orders_are_made),
        IN_CACHE(a_folder_that_cannot_be_written_is_no_failure),
        IN_CACHE(there_is_a_bound_and_the_oldest_go_first),
        IN_CACHE(writers_at_the_same_time_do_no_harm),
        IN_CACHE(a_failed_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
