/* Generated graphs: what each kind promises, and the same graph on any number of threads. */
#include "harness.h"

#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"complete", "dense", "sparse", "grid", "preferential", "rmat"};
enum { KINDS = 6 };

static tw_graph *generate(tw_context *ctx, const tw_graph_generate_options *opts)
{
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, opts));
    return graph;
}

static bool has_arc(const tw_graph *graph, int64_t u, int64_t v, double *weight)
{
    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
        if (graph->targets[a] == v) {
            *weight = twi_graph_weight(graph, a);
            return true;
        }
    }
    return false;
}

static void assert_well_formed(const tw_graph *graph, const tw_graph_generate_options *opts)
{
    assert_int_equal(graph->offsets[0], 0);
    assert_int_equal(graph->offsets[graph->n], graph->arcs);
    double min = INFINITY;
    double max = -INFINITY;
    for (int64_t u = 0; u < graph->n; u++) {
        assert_true(graph->offsets[u] <= graph->offsets[u + 1]);
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            double weight = twi_graph_weight(graph, a);
            assert_in_range(graph->targets[a], 0, graph->n - 1);
            assert_int_not_equal(graph->targets[a], u);
            assert_true(weight >= opts->min_weight && weight <= opts->max_weight);
            min = fmin(min, weight);
            max = fmax(max, weight);
        }
    }
    if (graph->arcs > 0) {
        assert_true(graph->min_weight == min && graph->max_weight == max);
    }
}

static void every_kind_keeps_to_its_vertices_and_weights(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t sizes[] = {0, 1, 2, 3, 7, 64, 100};
    for (int k = 0; k < KINDS; k++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (int type_of = 0; type_of < WEIGHT_TYPES; type_of++) {
                const tw_type type = weight_types[type_of];
                for (int directed = TW_GRAPH_DIRECTED_AS_FILE; directed <= TW_GRAPH_DIRECTED_YES;
                     directed++) {
                    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
                    opts.kind = kinds[k];
                    opts.vertices = sizes[s];
                    opts.weight_type = type;
                    opts.directed = directed;
                    opts.max_weight = 9;
                    tw_graph *graph = generate(ctx, &opts);
                    assert_int_equal(graph->n, sizes[s]);
                    assert_int_equal(graph->weight_type, type);
                    if (directed != TW_GRAPH_DIRECTED_AS_FILE) {
                        assert_int_equal(graph->undirected, !directed);
                    }
                    assert_well_formed(graph, &opts);
                    tw_graph_destroy(graph);
                }
            }
        }
    }
    close_context(ctx);
}

static void any_thread_count_generates_the_same_graph(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int k = 0; k < KINDS; k++) {
        tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
        opts.kind = kinds[k];
        opts.vertices = 777;
        opts.weight_type = TW_F64;
        opts.seed = 42;
        assert_ok(ctx, tw_set_threads(ctx, 1));
        tw_graph *one = generate(ctx, &opts);
        for (int threads = 2; threads <= 5; threads += 3) {
            assert_ok(ctx, tw_set_threads(ctx, threads));
            tw_graph *many = generate(ctx, &opts);
            assert_int_equal(one->arcs, many->arcs);
            assert_memory_equal(one->offsets, many->offsets, 778 * sizeof(int64_t));
            assert_memory_equal(one->targets, many->targets, (size_t)one->arcs * 4);
            assert_memory_equal(one->weights, many->weights, (size_t)one->arcs * 8);
            tw_graph_destroy(many);
        }
        opts.seed = 43;
        tw_graph *other = generate(ctx, &opts);
        size_t compared = (size_t)(one->arcs < other->arcs ? one->arcs : other->arcs);
        assert_true(memcmp(one->weights, other->weights, compared * 8) != 0);
        tw_graph_destroy(other);
        tw_graph_destroy(one);
    }
    close_context(ctx);
}

/* Sums of targets times weights, taken on one machine: another one must agree. */
static void graphs_are_the_same_on_every_machine(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    static const uint64_t expected[KINDS] = {0xd9d44366cbc9519f, 0xe3e01b1621abdb25,
                                             0x087f4b75452bf1cf, 0xd00a4cd1eca5207a,
                                             0xeafffdb230675b03, 0x23fc85dfbaad2955};
    for (int k = 0; k < KINDS; k++) {
        tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
        opts.kind = kinds[k];
        opts.vertices = 200;
        opts.weight_type = TW_F64;
        tw_graph *graph = generate(ctx, &opts);
        uint64_t mixed = (uint64_t)graph->arcs;
        for (int64_t a = 0; a < graph->arcs; a++) {
            uint64_t bits;
            memcpy(&bits, (const double *)graph->weights + a, sizeof bits);
            mixed = (mixed ^ bits) * 0x9E3779B97F4A7C15u + (uint64_t)graph->targets[a];
        }
        if (mixed != expected[k]) {
            fail_msg("%s: 0x%llx", kinds[k], (unsigned long long)mixed);
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void complete_has_every_pair_once(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.kind = "complete";
    opts.vertices = 33;
    tw_graph *graph = generate(ctx, &opts);
    assert_int_equal(graph->arcs, 33 * 32);
    for (int64_t u = 0; u < 33; u++) {
        double weight;
        for (int64_t v = 0; v < 33; v++) {
            assert_int_equal(has_arc(graph, u, v, &weight), u != v);
        }
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void undirected_kinds_weigh_the_same_both_ways(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const symmetric[] = {"complete", "dense", "grid", "preferential"};
    for (int k = 0; k < 4; k++) {
        tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
        opts.kind = symmetric[k];
        opts.vertices = 90;
        opts.directed = TW_GRAPH_DIRECTED_NO;
        tw_graph *graph = generate(ctx, &opts);
        assert_true(graph->arcs > 0);
        for (int64_t u = 0; u < graph->n; u++) {
            for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
                double back = -1;
                assert_true(has_arc(graph, graph->targets[a], u, &back));
                assert_true(back == twi_graph_weight(graph, a));
            }
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void density_and_degree_set_the_number_of_arcs(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.kind = "dense";
    opts.vertices = 400;
    opts.density = 0.25;
    tw_graph *graph = generate(ctx, &opts);
    assert_true(fabs((double)graph->arcs / (400 * 399) - 0.25) < 0.01);
    tw_graph_destroy(graph);
    opts.density = 0;
    graph = generate(ctx, &opts);
    assert_int_equal(graph->arcs, 0);
    tw_graph_destroy(graph);
    const char *const counted[] = {"sparse", "rmat"};
    for (int k = 0; k < 2; k++) {
        opts.kind = counted[k];
        opts.degree = 2.5;
        for (int directed = 0; directed < 2; directed++) {
            opts.directed = directed;
            graph = generate(ctx, &opts);
            assert_int_equal(graph->arcs, 1000);
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

static void a_preferential_vertex_attaches_to_distinct_earlier_ones(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.kind = "preferential";
    opts.vertices = 500;
    opts.degree = 3;
    opts.directed = TW_GRAPH_DIRECTED_YES;
    tw_graph *graph = generate(ctx, &opts);
    int64_t arrivals[500] = {0};
    for (int64_t u = 0; u < 500; u++) {
        assert_int_equal(graph->offsets[u + 1] - graph->offsets[u], u < 3 ? u : 3);
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            assert_true(graph->targets[a] < u);
            arrivals[graph->targets[a]]++;
            for (int64_t b = graph->offsets[u]; b < a; b++) {
                assert_int_not_equal(graph->targets[a], graph->targets[b]);
            }
        }
    }
    /* The rich get richer: the first ten have far more than ten times three. */
    int64_t first = 0;
    for (int v = 0; v < 10; v++) {
        first += arrivals[v];
    }
    assert_true(first > 150);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_grid_has_lattice_edges_only(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.kind = "grid";
    opts.rows = 5;
    opts.cols = 8;
    opts.density = 1;
    tw_graph *graph = generate(ctx, &opts);
    assert_int_equal(graph->n, 40);
    assert_int_equal(graph->arcs, 2 * (5 * 7 + 4 * 8));
    assert_true(graph->undirected);
    for (int64_t u = 0; u < graph->n; u++) {
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            int64_t v = graph->targets[a];
            assert_int_equal(llabs(u / 8 - v / 8) + llabs(u % 8 - v % 8), 1);
        }
    }
    tw_graph_destroy(graph);
    opts.directed = TW_GRAPH_DIRECTED_YES;
    opts.max_weight = 1000000;
    graph = generate(ctx, &opts);
    double there = 0;
    double back = 0;
    assert_true(has_arc(graph, 0, 1, &there) && has_arc(graph, 1, 0, &back));
    assert_true(there != back);
    tw_graph_destroy(graph);
    opts.rows = 0;
    opts.cols = 0;
    opts.vertices = 11; /* 3 x 4 less one */
    graph = generate(ctx, &opts);
    assert_int_equal(graph->n, 11);
    assert_int_equal(graph->arcs, 2 * (3 + 3 + 2 + 4 + 3));
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void impossible_options_are_refused_in_words(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const tw_graph_generate_options fresh = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph_generate_options opts = fresh;
    tw_graph *graph = NULL;
#define REFUSED(words)                                                                    \
    do {                                                                                  \
        assert_fails(ctx, TW_ERR_ARGUMENT, words, tw_graph_generate(ctx, &graph, &opts)); \
        assert_null(graph);                                                               \
        opts = fresh;                                                                     \
    } while (0)
    opts.kind = "torus";
    REFUSED("unknown generator 'torus'; use complete, dense, sparse, grid, preferential or rmat");
    opts.kind = NULL;
    REFUSED("unknown generator ''");
    opts.kind = "dense";
    opts.density = 1.5;
    REFUSED("density 1.5");
    opts.kind = "grid";
    opts.density = NAN;
    REFUSED("density nan");
    opts.degree = -1;
    REFUSED("degree -1");
    opts.degree = 1e300;
    REFUSED("too many arcs");
    opts.kind = "preferential";
    opts.degree = 1e300;
    REFUSED("too many arcs");
    opts.min_weight = 5;
    opts.max_weight = 4;
    REFUSED("the minimum is above the maximum");
    opts.min_weight = 0.5;
    REFUSED("whole numbers");
    opts.max_weight = 3e9;
    REFUSED("whole numbers");
    opts.max_weight = INFINITY;
    REFUSED("finite");
    opts.weight_type = TW_F32;
    opts.max_weight = 1e39;
    REFUSED("finite numbers of type f32");
    opts.weight_type = TW_U8;
    REFUSED("type u8");
    opts.vertices = (int64_t)1 << 31;
    REFUSED("2147483648 vertices");
    opts.vertices = -1;
    REFUSED("-1 vertices");
    opts.kind = "grid";
    opts.rows = INT64_MAX;
    opts.cols = 3;
    REFUSED("vertices: expected 0 to 2147483647");
    opts.kind = "grid";
    opts.rows = -1;
    REFUSED("-1 x 0");
    opts.kind = "grid";
    opts.min_weight = -1;
    REFUSED("negative cycle");
    opts.directed = 2;
    REFUSED("TW_GRAPH_DIRECTED");
    opts.size = 1;
    REFUSED("TW_GRAPH_GENERATE_OPTIONS_INIT");
#undef REFUSED
    close_context(ctx);
}

static void what_cannot_fit_is_refused_at_once(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_memory(ctx, 100000000));
    for (int k = 0; k < KINDS; k++) {
        tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
        tw_graph *graph = NULL;
        opts.kind = kinds[k];
        opts.vertices = 1000000000;
        assert_fails(ctx, TW_ERR_MEMORY, "only 100 MB is left",
                     tw_graph_generate(ctx, &graph, &opts));
        assert_null(graph);
    }
    close_context(ctx);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    for (int k = 0; k < KINDS; k++) {
        tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
        opts.kind = kinds[k];
        opts.vertices = 20;
        for (int64_t at = 1;; at++) {
            tw_graph *graph = NULL;
            twi_meter_fail_at(ctx->meter, at);
            tw_status status = tw_graph_generate(ctx, &graph, &opts);
            twi_meter_fail_at(ctx->meter, 0);
            if (status == TW_OK) {
                tw_graph_destroy(graph);
                break;
            }
            assert_int_equal(status, TW_ERR_MEMORY);
            assert_null(graph);
            assert_int_equal(twi_meter_blocks(ctx->meter), 0);
        }
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_keeps_to_its_vertices_and_weights),
        cmocka_unit_test(any_thread_count_generates_the_same_graph),
        cmocka_unit_test(graphs_are_the_same_on_every_machine),
        cmocka_unit_test(complete_has_every_pair_once),
        cmocka_unit_test(undirected_kinds_weigh_the_same_both_ways),
        cmocka_unit_test(density_and_degree_set_the_number_of_arcs),
        cmocka_unit_test(a_preferential_vertex_attaches_to_distinct_earlier_ones),
        cmocka_unit_test(a_grid_has_lattice_edges_only),
        cmocka_unit_test(impossible_options_are_refused_in_words),
        cmocka_unit_test(what_cannot_fit_is_refused_at_once),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
