/* Graphs into files: what is written reads back as the same graph, in every format. */
#include "harness.h"

#include "graph/graph.h"
#include "io/graph/format.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tw-io-write-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static tw_graph *make(tw_context *ctx, const char *kind, int64_t n, tw_type type, int32_t directed)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    opts.kind = kind;
    opts.vertices = n;
    opts.weight_type = type;
    opts.min_weight = 0;
    opts.max_weight = 50;
    opts.directed = directed;
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &opts));
    return graph;
}

/* The same vertices and arcs; f32 weights come back as the f64 of the same value from text. */
static void assert_same(const tw_graph *left, const tw_graph *right)
{
    assert_int_equal(left->n, right->n);
    assert_int_equal(left->arcs, right->arcs);
    assert_int_equal(left->integral, right->integral);
    assert_memory_equal(left->offsets, right->offsets, (size_t)(left->n + 1) * sizeof(int64_t));
    for (int64_t u = 0; u < left->n; u++) {
        for (int64_t a = left->offsets[u]; a < left->offsets[u + 1]; a++) {
            /* A symmetric file lists edges by their larger end, so rows may change order. */
            bool found = false;
            for (int64_t b = left->offsets[u]; b < left->offsets[u + 1] && !found; b++) {
                found = left->targets[a] == right->targets[b] &&
                        twi_graph_weight(left, a) == twi_graph_weight(right, b);
            }
            assert_true(found);
        }
    }
}

static void round_trip(tw_context *ctx, const tw_graph *graph, const char *name)
{
    const char *path = path_of(name);
    tw_graph *back = NULL;
    assert_ok(ctx, tw_graph_write(ctx, graph, path, NULL));
    assert_ok(ctx, tw_graph_read(ctx, &back, path, NULL));
    assert_same(graph, back);
    if (graph->weight_type != TW_F32 && graph->arcs > 0) { /* text without weights has no type */
        assert_int_equal(back->weight_type, graph->weight_type);
    }
    tw_graph_destroy(back);
    remove(path);
}

static void every_format_reads_back_what_it_wrote(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const names[] = {"a.bin", "a.gr",  "a.mtx", "a.el",   "a.txt",
                                 "a.csv", "a.tsv", "a.npy", "a.graph"};
    const int64_t sizes[] = {0, 1, 2, 17, 120};
    /* The program's locale does not matter. */
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        for (int type_of = 0; type_of < WEIGHT_TYPES; type_of++) {
            const tw_type type = weight_types[type_of];
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                bool metis = strcmp(names[f], "a.graph") == 0;
                tw_graph *graph =
                    make(ctx, metis ? "grid" : "dense", sizes[s], type, TW_GRAPH_DIRECTED_AS_FILE);
                if (graph->integral || strcmp(names[f], "a.bin") != 0) {
                    round_trip(ctx, graph, names[f]);
                }
                tw_graph_destroy(graph);
            }
        }
    }
    close_context(ctx);
}

static void undirected_survives_where_the_format_has_a_word_for_it(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const names[] = {"a.mtx", "a.graph"};
    for (int f = 0; f < 2; f++) {
        tw_graph *graph = make(ctx, "sparse", 60, TW_F64, TW_GRAPH_DIRECTED_NO);
        tw_graph *back = NULL;
        tw_graph *simple = NULL; /* neither has parallel edges */
        const char *path = path_of(names[f]);
        assert_ok(ctx, tw_graph_write(ctx, graph, path, NULL));
        assert_ok(ctx, tw_graph_read(ctx, &back, path, NULL));
        assert_ok(ctx, twi_graph_drop_parallel(ctx, &simple, graph));
        assert_non_null(simple);
        assert_true(back->undirected);
        assert_same(simple, back);
        tw_graph_destroy(simple);
        tw_graph_destroy(back);
        tw_graph_destroy(graph);
        remove(path);
    }
    close_context(ctx);
}

static void negative_loops_and_parallel_arcs_survive(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[] = {0, 0, 1, 2, 0};
    const int32_t target[] = {1, 1, 1, 0, 0};
    const int32_t weight[] = {INT32_MIN, 7, -3, INT32_MAX, 5};
    const tw_edges edges = {sizeof edges, 5, source, target, weight, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 4, &edges, 0));
    assert_int_equal(graph->arcs, 4);
    const char *const names[] = {"a.bin", "a.gr", "a.el", "a.csv"};
    for (int f = 0; f < 4; f++) {
        round_trip(ctx, graph, names[f]);
    }
    assert_fails(ctx, TW_ERR_RANGE, "would mean 'no edge'",
                 tw_graph_write(ctx, graph, path_of("a.npy"), NULL));
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void undirected_edges_of_negative_weight_survive(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[] = {0, 1, 2};
    const int32_t target[] = {1, 1, 0};
    const int32_t weight[] = {-3, -2, 5};
    tw_edges edges = {sizeof edges, 3, source, target, weight, TW_I32, TW_I32};
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 3, &edges, TW_GRAPH_UNDIRECTED));
    assert_int_equal(graph->arcs, 5); /* the loop once */
    round_trip(ctx, graph, "negative.mtx");
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "from a vertex to itself",
                 tw_graph_write(ctx, graph, path_of("negative.graph"), NULL));
    tw_graph_destroy(graph);
    edges.count = 1;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 3, &edges, TW_GRAPH_UNDIRECTED));
    round_trip(ctx, graph, "negative.graph");
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void npy_keeps_the_least_of_parallel_arcs(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int32_t source[] = {0, 0, 0, 1};
    const int32_t target[] = {1, 1, 1, 1};
    const float weight[] = {3, -2, 5, -1};
    const tw_edges edges = {sizeof edges, 4, source, target, weight, TW_F32, TW_I32};
    tw_graph *graph = NULL;
    tw_graph *back = NULL;
    const char *path = path_of("a.npy");
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 2, &edges, 0));
    assert_ok(ctx, tw_graph_write(ctx, graph, path, NULL));
    assert_ok(ctx, tw_graph_read(ctx, &back, path, NULL));
    assert_int_equal(back->weight_type, TW_F32);
    assert_int_equal(back->arcs, 2);
    assert_memory_equal(back->weights, ((float[]){-2, -1}), 8);
    tw_graph_destroy(back);
    tw_graph_destroy(graph);
    remove(path);
    close_context(ctx);
}

static void names_survive_in_edge_lists(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    opts.ids = 1;
    tw_graph *graph = NULL;
    tw_graph *back = NULL;
    const char *path = path_of("a.csv");
    assert_ok(ctx, tw_graph_read(ctx, &graph, TW_TEST_DATA "/good/names.tsv", &opts));
    assert_ok(ctx, tw_graph_write(ctx, graph, path, NULL));
    assert_ok(ctx, tw_graph_read(ctx, &back, path, &opts));
    assert_same(graph, back);
    for (int v = 0; v < 3; v++) {
        assert_string_equal(tw_graph_label(graph, v), tw_graph_label(back, v));
    }
    tw_graph_destroy(back);
    tw_graph_destroy(graph);
    remove(path);
    close_context(ctx);
}

static void what_a_format_cannot_hold_is_refused_and_leaves_no_file(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *real = make(ctx, "sparse", 20, TW_F64, TW_GRAPH_DIRECTED_YES);
    assert_fails(ctx, TW_ERR_RANGE, "triples hold whole weights",
                 tw_graph_write(ctx, real, path_of("a.bin"), NULL));
    assert_fails(ctx, TW_ERR_UNSUPPORTED, "undirected graphs and this one is directed",
                 tw_graph_write(ctx, real, path_of("a.graph"), NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "choose the graph format with --out-format",
                 tw_graph_write(ctx, real, path_of("a.xyz"), NULL));
    assert_fails(ctx, TW_ERR_ARGUMENT, "unknown graph format 'xyz'",
                 tw_graph_write(ctx, real, path_of("a.gr"), "xyz"));
    assert_fails(ctx, TW_ERR_IO, folder, tw_graph_write(ctx, real, folder, "gr"));
    tw_graph_destroy(real);
    close_context(ctx); /* remove_folder finds the folder empty */
}

/* Other programs add what a matrix has twice, and METIS has no parallel edges. */
static void of_parallel_arcs_the_least_is_written(void **state)
{
    (void)state;
    static const int32_t from[] = {0, 1, 0, 1, 2, 0, 0, 2};
    static const int32_t to[] = {1, 0, 1, 0, 0, 2, 2, 0};
    static const int32_t weights[] = {5, 3, 3, 8, 7, 9, 7, 7};
    static const char *const names[] = {"p.mtx", "p.graph"};
    tw_context *ctx = open_context();
    tw_edges edges = TW_EDGES_INIT;
    tw_graph *graph = NULL;
    edges.count = 8;
    edges.source = from;
    edges.target = to;
    edges.weight = weights;
    edges.weight_type = TW_I32;
    edges.index_type = TW_I32;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, 3, &edges, 0));
    for (int f = 0; f < 2; f++) { /* which is symmetric, if made as directed */
        tw_graph *back = NULL;
        tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
        assert_ok(ctx, tw_graph_write(ctx, graph, path_of(names[f]), NULL));
        assert_ok(ctx, tw_graph_read(ctx, &back, path_of(names[f]), &opts));
        assert_int_equal(back->arcs, 4);
        assert_int_equal(back->undirected, f == 1);
        for (int64_t a = 0; a < 4; a++) {
            const bool short_one = a == 2 || (a < 2 && back->targets[a] == 1);
            assert_int_equal((int)twi_graph_weight(back, a), short_one ? 3 : 7);
        }
        tw_graph_destroy(back);
        remove(path_of(names[f]));
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = make(ctx, "sparse", 20, TW_F64, TW_GRAPH_DIRECTED_NO);
    const char *const names[] = {"a.gr", "a.mtx", "a.el", "a.graph", "a.npy"};
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        const char *path = path_of(names[f]);
        for (int64_t k = 1;; k++) {
            FILE *old = fopen(path, "w");
            assert_non_null(old);
            fputs("old", old);
            fclose(old);
            int64_t blocks = twi_meter_blocks(ctx->meter);
            twi_meter_fail_at(ctx->meter, k);
            tw_status status = tw_graph_write(ctx, graph, path, NULL);
            twi_meter_fail_at(ctx->meter, 0);
            assert_int_equal(twi_meter_blocks(ctx->meter), blocks);
            struct stat found;
            assert_int_equal(stat(path, &found), 0);
            if (status == TW_OK) {
                assert_true(found.st_size > 3);
                break;
            }
            assert_int_equal(status, TW_ERR_MEMORY);
            assert_int_equal(found.st_size, 3);
        }
        tw_cancel(ctx);
        assert_fails(ctx, TW_ERR_CANCELLED, "stopped", tw_graph_write(ctx, graph, path, NULL));
        tw_clear_cancel(ctx);
        remove(path);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_reads_back_what_it_wrote),
        cmocka_unit_test(undirected_survives_where_the_format_has_a_word_for_it),
        cmocka_unit_test(negative_loops_and_parallel_arcs_survive),
        cmocka_unit_test(undirected_edges_of_negative_weight_survive),
        cmocka_unit_test(npy_keeps_the_least_of_parallel_arcs),
        cmocka_unit_test(names_survive_in_edge_lists),
        cmocka_unit_test(what_a_format_cannot_hold_is_refused_and_leaves_no_file),
        cmocka_unit_test(of_parallel_arcs_the_least_is_written),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
