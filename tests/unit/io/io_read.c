/* Graphs from files: every format, its options, and pieces parsed by several threads. */
#include "harness.h"

#include "graph/graph.h"
#include "io/graph/format.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tw_graph *read_text(tw_context *ctx, const char *text, const char *name,
                           const tw_graph_read_options *opts)
{
    tw_graph *graph = NULL;
    assert_ok(ctx, twi_graph_read_memory(ctx, &graph, text, strlen(text), name, opts));
    return graph;
}

static tw_graph *read_good(tw_context *ctx, const char *file, const tw_graph_read_options *opts)
{
    tw_graph *graph = NULL;
    char path[512];
    snprintf(path, sizeof path, TW_TEST_DATA "/good/%s", file);
    assert_ok(ctx, tw_graph_read(ctx, &graph, path, opts));
    return graph;
}

/* 0->1:3 0->2:8 1->2:2 2->0:7, and vertex 3 alone */
static void assert_small(const tw_graph *graph)
{
    assert_int_equal(graph->n, 4);
    assert_int_equal(graph->arcs, 4);
    assert_int_equal(graph->weight_type, TW_I32);
    assert_false(graph->undirected);
    assert_memory_equal(graph->offsets, ((int64_t[]){0, 2, 3, 4, 4}), 5 * sizeof(int64_t));
    assert_memory_equal(graph->targets, ((int32_t[]){1, 2, 2, 0}), 4 * sizeof(int32_t));
    assert_memory_equal(graph->weights, ((int32_t[]){3, 8, 2, 7}), 4 * sizeof(int32_t));
}

static void compressed_files_give_the_same_graph(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const files[] = {"small.gr.gz", "small.gr.zst", "small.gr.xz", "deflated.npz"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[512];
        tw_graph *graph = NULL;
        snprintf(path, sizeof path, TW_TEST_DATA "/good/%s", files[k]);
        tw_status status = tw_graph_read(ctx, &graph, path, NULL);
        if (status == TW_ERR_UNSUPPORTED) {
            print_message("%s\n", tw_last_error(ctx));
            continue;
        }
        assert_int_equal(status, TW_OK);
        assert_small(graph);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void every_format_gives_the_same_graph(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const files[] = {"small.bin",  "small-no-extension", "small.gr",  "small.mtx",
                                 "small.el",   "small.npy",          "small.npz", "columns.npz",
                                 "blocks.npz", "diagonals.npz"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        tw_graph *graph = read_good(ctx, files[k], NULL);
        assert_small(graph);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void content_tells_the_format_where_the_name_does_not(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const files[] = {"small.bin", "small.gr", "small.mtx", "small.el", "small.npy"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[512];
        char bytes[4096];
        snprintf(path, sizeof path, TW_TEST_DATA "/good/%s", files[k]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        tw_graph *graph = NULL;
        assert_ok(ctx, twi_graph_read_memory(ctx, &graph, bytes, size, "c21.1", NULL));
        assert_small(graph);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void the_format_option_overrules_the_name(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    opts.format = "gr";
    tw_graph *graph = read_text(ctx, "p sp 2 1\na 2 1 5\n", "list.txt", &opts);
    assert_int_equal(graph->offsets[1], 0);
    tw_graph_destroy(graph);
    opts.format = "dot";
    assert_fails(ctx, TW_ERR_ARGUMENT, "unknown graph format 'dot'; use triples, gr, mtx, edges",
                 twi_graph_read_memory(ctx, &graph, "x", 1, "a", &opts));
    close_context(ctx);
}

static void options_that_cannot_be_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    opts.directed = 5;
    assert_fails(ctx, TW_ERR_ARGUMENT, "TW_GRAPH_DIRECTED", tw_graph_read(ctx, &graph, "a", &opts));
    opts.size = 3;
    assert_fails(ctx, TW_ERR_ARGUMENT, "TW_GRAPH_READ_OPTIONS_INIT",
                 tw_graph_read(ctx, &graph, "a", &opts));
    close_context(ctx);
}

static void undirected_comes_from_the_file_or_the_caller(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const symmetric[] = {"symmetric.mtx", "symmetric.graph"};
    for (int k = 0; k < 2; k++) {
        for (int directed = TW_GRAPH_DIRECTED_AS_FILE; directed <= TW_GRAPH_DIRECTED_YES;
             directed++) {
            tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
            opts.directed = directed;
            tw_graph *graph = read_good(ctx, symmetric[k], &opts);
            assert_int_equal(graph->n, 3);
            assert_int_equal(graph->arcs, 4);
            assert_int_equal(graph->undirected, directed != TW_GRAPH_DIRECTED_YES);
            assert_int_equal(graph->weight_type, TW_F64);
            assert_memory_equal(graph->targets, ((int32_t[]){1, 2, 0, 0}), 16);
            assert_memory_equal(graph->weights, ((double[]){1.5, 2, 1.5, 2}), 32);
            tw_graph_destroy(graph);
        }
    }
    const char *const directed[] = {"small.bin", "small.gr", "small.el", "small.mtx"};
    for (int k = 0; k < 4; k++) {
        tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
        opts.directed = TW_GRAPH_DIRECTED_NO;
        tw_graph *graph = read_good(ctx, directed[k], &opts);
        assert_int_equal(graph->arcs, 8);
        assert_true(graph->undirected);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void unweighted_counts_every_edge_as_one(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const files[] = {"small.bin", "small.gr",  "small.mtx",     "small.el",
                                 "small.csv", "small.npy", "symmetric.mtx", "symmetric.graph"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
        opts.unweighted = 1;
        tw_graph *graph = read_good(ctx, files[k], &opts);
        assert_int_equal(graph->arcs, 4);
        assert_int_equal(graph->weight_type, TW_I32);
        assert_true(graph->equal && graph->min_weight == 1);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void the_weight_column_goes_by_number_or_name(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    tw_graph *graph = read_good(ctx, "small.csv", &opts); /* the third column */
    assert_true(graph->equal && graph->min_weight == 9);
    tw_graph_destroy(graph);
    const char *const names[] = {"4", "toll"};
    for (int k = 0; k < 2; k++) {
        opts.weight = names[k];
        graph = read_good(ctx, "small.csv", &opts);
        assert_small(graph);
        tw_graph_destroy(graph);
    }
    const struct {
        const char *weight;
        tw_status status;
        const char *words;
    } wrong[] = {{"2", TW_ERR_ARGUMENT, "column 2 cannot be the weight"},
                 {"0", TW_ERR_ARGUMENT, "column 0 cannot be the weight"},
                 {"target", TW_ERR_ARGUMENT, "column 'target' cannot be the weight"},
                 {"price", TW_ERR_ARGUMENT, "is called 'price'"},
                 {"", TW_ERR_ARGUMENT, "is called ''"},
                 {"5", TW_ERR_FORMAT, ":3: the line ends before column 5"},
                 {"99999999999999999999", TW_ERR_FORMAT, "before column 2147483647"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        opts.weight = wrong[k].weight;
        assert_fails(ctx, wrong[k].status, wrong[k].words,
                     tw_graph_read(ctx, &graph, TW_TEST_DATA "/good/small.csv", &opts));
    }
    close_context(ctx);
}

static void names_become_vertices_in_order_of_appearance(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    opts.ids = 1;
    tw_graph *graph = read_good(ctx, "names.tsv", &opts);
    tw_graph_info info = TW_GRAPH_INFO_INIT;
    assert_int_equal(tw_graph_describe(graph, &info), TW_OK);
    assert_true(info.labelled);
    assert_int_equal(info.vertices, 3);
    const char *const names[] = {"Bern", "Basel", "Chur"};
    for (int v = 0; v < 3; v++) {
        assert_string_equal(tw_graph_label(graph, v), names[v]);
        assert_int_equal(tw_graph_find(graph, names[v]), v);
    }
    assert_null(tw_graph_label(graph, 3));
    assert_null(tw_graph_label(graph, -1));
    assert_int_equal(tw_graph_find(graph, "Zug"), -1);
    assert_int_equal(tw_graph_find(graph, ""), -1);
    assert_true(twi_graph_weight(graph, 0) == 98.5);
    tw_graph_destroy(graph);
    /* Numbers are words too; a title line is known by its weight, or because it is asked for. */
    graph = read_text(ctx, "from to km\n70 -3 5\n-3 x 6\n", "a.txt", &opts);
    assert_int_equal(graph->n, 3);
    assert_int_equal(tw_graph_find(graph, "70"), 0);
    tw_graph_destroy(graph);
    opts.weight = "km";
    graph = read_text(ctx, "from to km\n70 -3 5\n", "a.txt", &opts);
    assert_int_equal(graph->n, 2);
    tw_graph_destroy(graph);
    opts.weight = NULL;
    graph = read_text(ctx, "a b\n\"c\" d\n", "a.txt", &opts);
    assert_int_equal(tw_graph_find(graph, "c"), 2);
    tw_graph_destroy(graph);
    assert_fails(ctx, TW_ERR_FORMAT, "zero byte",
                 twi_graph_read_memory(ctx, &graph, "a b\nc\0d e\n", 10, "a.txt", &opts));
    graph = read_text(ctx, "# nobody\n# vertices: 0\n", "a.txt", &opts);
    assert_int_equal(graph->n, 0);
    assert_int_equal(tw_graph_describe(graph, &info), TW_OK);
    assert_true(info.labelled);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void many_names_are_all_found(void **state)
{
    (void)state;
    enum { N = 5000 };
    tw_context *ctx = open_context();
    char *text = malloc(N * 40);
    size_t used = 0;
    for (int i = 0; i < N; i++) {
        used += (size_t)sprintf(text + used, "station-%d,station-%d\n", i, (i * 7 + 1) % N);
    }
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    opts.ids = 1;
    tw_graph *graph = NULL;
    assert_ok(ctx, twi_graph_read_memory(ctx, &graph, text, used, "s.csv", &opts));
    assert_int_equal(graph->n, N);
    for (int i = 0; i < N; i++) {
        char name[32];
        snprintf(name, sizeof name, "station-%d", i);
        int64_t vertex = tw_graph_find(graph, name);
        assert_in_range(vertex, 0, N - 1);
        assert_string_equal(tw_graph_label(graph, vertex), name);
    }
    tw_graph_destroy(graph);
    free(text);
    close_context(ctx);
}

static void one_decimal_weight_makes_all_of_them_doubles(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = read_text(ctx, "0 1 3\n1 0 2.5\n0 1 -7\n", "a.el", NULL);
    assert_int_equal(graph->weight_type, TW_F64);
    assert_memory_equal(graph->weights, ((double[]){3, -7, 2.5}), 24);
    assert_false(graph->integral);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void numbers_are_read_to_the_last_bit(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    /* The program's locale does not matter. */
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    const char *const numbers[] = {"0.1",
                                   "+2.5",
                                   "1e22",
                                   "1e-22",
                                   "123456789012345678.5",
                                   "9007199254740993.0",
                                   "4.9e-324",
                                   "1.7976931348623157e308",
                                   "-0.0",
                                   ".5",
                                   "5.",
                                   "1E3",
                                   "0.30000000000000004",
                                   "0.000000000000000000000000000001",
                                   "3.14159265358979323846"};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        char text[128];
        snprintf(text, sizeof text, "0 1 %s\n", numbers[k]);
        tw_graph *graph = read_text(ctx, text, "a.el", NULL);
        double expected = strtod(numbers[k], NULL);
        assert_int_equal(graph->weight_type, TW_F64);
        assert_memory_equal(graph->weights, &expected, sizeof expected);
        tw_graph_destroy(graph);
    }
    const char *const not_numbers[] = {"0x10", "1e", "--1",      "1.2.3",
                                       "e5",   ".",  "infinite", "1_000"};
    for (size_t k = 0; k < sizeof not_numbers / sizeof *not_numbers; k++) {
        char text[128];
        tw_graph *graph = NULL;
        snprintf(text, sizeof text, "0 1 1\n0 1 %s\n", not_numbers[k]);
        assert_fails(ctx, TW_ERR_FORMAT, "is not a weight",
                     twi_graph_read_memory(ctx, &graph, text, strlen(text), "a.el", NULL));
    }
    close_context(ctx);
}

static void infinite_edges_are_none_but_their_vertices_stay(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = read_text(ctx, "0 1 3\n4 5 inf\n", "a.el", NULL);
    assert_int_equal(graph->n, 6);
    assert_int_equal(graph->arcs, 1);
    assert_int_equal(graph->weight_type, TW_I32);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void graphs_of_no_and_one_vertex_are_read(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const struct {
        const char *name;
        const char *text;
        size_t size;
        int64_t n;
    } files[] = {
        {"a.bin", "\0\0\0\0\0\0\0", 8, 0},
        {"a.bin", "\1\0\0\0\0\0\0", 8, 1},
        {"a.gr", "p sp 0 0\n", 9, 0},
        {"a.gr", "p sp 1 1\na 1 1 5", 16, 1},
        {"a.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n", 55, 0},
        {"a.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n", 55, 1},
        {"a.el", "# vertices: 0\n", 14, 0},
        {"a.el", "# vertices: 1\n", 14, 1},
        {"a.el", "0 0 4\n", 6, 1},
        {"a.graph", "0 0\n", 4, 0},
        {"a.graph", "1 0\n\n", 5, 1},
        {"a.graph", "1 0", 3, 1},
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        tw_graph *graph = NULL;
        assert_ok(ctx, twi_graph_read_memory(ctx, &graph, files[k].text, files[k].size,
                                             files[k].name, NULL));
        assert_int_equal(graph->n, files[k].n);
        assert_int_equal(graph->arcs, 0);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void metis_skips_what_belongs_to_vertices(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const texts[] = {
        "3 2\n2 3\n1\n1\n",
        "3 2 0\n2 3\n1\n1\n",
        "3 2 10\n50 2 3\n50 1\n50 1\n",
        "3 2 011 2\n50 60 2 1 3 1\n50 60 1 1\n% between\n50 60 1 1\n",
        "3 2 111 1\n9 50 2 1 3 1\n9 50 1 1\n9 50 1 1\n\n",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        tw_graph *graph = read_text(ctx, texts[k], "a.graph", NULL);
        assert_int_equal(graph->arcs, 4);
        assert_memory_equal(graph->targets, ((int32_t[]){1, 2, 0, 0}), 16);
        assert_true(graph->equal && graph->min_weight == 1);
        tw_graph_destroy(graph);
    }
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    opts.directed = TW_GRAPH_DIRECTED_YES; /* then lists may be one-sided */
    tw_graph *graph = read_text(ctx, "2 1\n2 2\n\n", "a.graph", &opts);
    assert_int_equal(graph->arcs, 2);
    assert_false(graph->undirected);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* More than a few pieces of text, cut at line ends wherever those fall. */
static char *long_list(int64_t lines, size_t *size)
{
    char *text = malloc((size_t)lines * 24);
    size_t used = 0;
    for (int64_t i = 0; i < lines; i++) {
        used += (size_t)sprintf(text + used, "%lld %lld %lld\n", (long long)(i * 7919 % 5003),
                                (long long)(i * 104729 % 5003), (long long)i);
    }
    *size = used;
    return text;
}

static void any_thread_count_reads_the_same_graph(void **state)
{
    (void)state;
    enum { LINES = 500000 };
    tw_context *ctx = open_context();
    size_t size;
    char *text = long_list(LINES, &size);
    assert_true(size > (size_t)6 << 20);
    assert_ok(ctx, tw_set_threads(ctx, 1));
    tw_graph *one = NULL;
    assert_ok(ctx, twi_graph_read_memory(ctx, &one, text, size, "long.el", NULL));
    assert_int_equal(one->n, 5003);
    int64_t sum = 0;
    for (int64_t a = 0; a < one->arcs; a++) {
        sum += ((const int32_t *)one->weights)[a];
    }
    int64_t expected = 0;
    for (int64_t i = 0; i < LINES; i++) {
        expected += i * 7919 % 5003 != i * 104729 % 5003 ? i : 0;
    }
    assert_int_equal(sum, expected);
    for (int threads = 2; threads <= 4; threads++) {
        assert_ok(ctx, tw_set_threads(ctx, threads));
        tw_graph *many = NULL;
        assert_ok(ctx, twi_graph_read_memory(ctx, &many, text, size, "long.el", NULL));
        assert_int_equal(many->arcs, one->arcs);
        assert_memory_equal(many->offsets, one->offsets, 5004 * sizeof(int64_t));
        assert_memory_equal(many->targets, one->targets, (size_t)one->arcs * 4);
        assert_memory_equal(many->weights, one->weights, (size_t)one->arcs * 4);
        tw_graph_destroy(many);
    }
    tw_graph_destroy(one);
    /* The first of two errors is the one told, with its line. */
    size_t third = size / 3;
    while (text[third] != '\n') {
        third++;
    }
    int64_t line = 1;
    for (size_t i = 0; i <= third; i++) {
        line += text[i] == '\n';
    }
    text[third + 1] = 'x';
    text[size - 2] = 'y';
    char words[64];
    snprintf(words, sizeof words, "long.el:%lld: 'x", (long long)line);
    assert_fails(ctx, TW_ERR_FORMAT, words,
                 twi_graph_read_memory(ctx, &one, text, size, "long.el", NULL));
    free(text);
    close_context(ctx);
}

/* Lines are read by a quick way or by the careful one, depending on what they hold and on how much
 * follows: what they mean is the same. */
static void numbers_of_any_length_are_what_they_say(void **state)
{
    (void)state;
    enum { LENGTHS = 10, LINES = LENGTHS * LENGTHS };
    static const char *const ends[] = {"\n", "\r\n", " \n", "\t\r\n"};
    static const struct {
        const char *name;
        const char *line;
        int64_t first; /* vertex */
    } kinds[] = {
        {"a.el", "%lld %lld %lld%s", 0},    {"b.el", "%lld  %lld\t%lld%s", 0},
        {"a.csv", "%lld,%lld,%lld%s", 0},   {"b.csv", "%lld, %lld,%lld%s", 0},
        {"a.tsv", "%lld\t%lld\t%lld%s", 0}, {"a.gr", "a %lld %lld %lld%s", 1},
        {"b.gr", "a %lld %lld  %lld%s", 1}, {"a.mtx", "%lld %lld %lld%s", 1},
    };
    tw_context *ctx = open_context();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char text[LINES * 48 + 200] = "";
        size_t used = 0;
        const int64_t vertices = 2000000;
        if (strstr(kinds[k].name, ".gr") != NULL) {
            used += (size_t)sprintf(text, "p sp %lld %d\n", (long long)vertices, LINES);
        } else if (strstr(kinds[k].name, ".mtx") != NULL) {
            used += (size_t)sprintf(text,
                                    "%%%%MatrixMarket matrix coordinate integer general\n"
                                    "%lld %lld %d\n",
                                    (long long)vertices, (long long)vertices, LINES);
        } else {
            used += (size_t)sprintf(text, "# vertices: %lld\n", (long long)vertices);
        }
        int64_t power[LENGTHS + 1] = {1};
        for (int i = 0; i < LENGTHS; i++) {
            power[i + 1] = 10 * power[i];
        }
        for (int i = 0; i < LINES; i++) { /* vertex i to another, of which the last digit differs */
            const int64_t weight = (power[i % LENGTHS] * 2 - 1) % 2147483647 + i / LENGTHS;
            const int64_t target = (power[i / LENGTHS % 7] + 1000 + i) % vertices;
            used += (size_t)sprintf(text + used, kinds[k].line, (long long)(i + kinds[k].first),
                                    (long long)(target + kinds[k].first), (long long)weight,
                                    ends[i % 4]);
        }
        tw_graph *graph = NULL;
        assert_ok(ctx, twi_graph_read_memory(ctx, &graph, text, used, kinds[k].name, NULL));
        assert_int_equal(graph->n, vertices);
        assert_int_equal(graph->arcs, LINES);
        for (int i = 0; i < LINES; i++) {
            assert_int_equal(graph->offsets[i], i);
            assert_int_equal(graph->targets[i], (power[i / LENGTHS % 7] + 1000 + i) % vertices);
            assert_int_equal(((const int32_t *)graph->weights)[i],
                             (power[i % LENGTHS] * 2 - 1) % 2147483647 + i / LENGTHS);
        }
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void zeros_before_an_id_are_kept_wherever_it_stands(void **state)
{
    (void)state;
    enum { LINES = 200 };
    tw_context *ctx = open_context();
    for (int k = 0; k < 2; k++) {
        char text[LINES * 16] = "";
        size_t used = 0;
        for (int i = 0; i < LINES; i++) {
            const bool odd = i == LINES / 2;
            used += (size_t)sprintf(text + used, "%s%d,%s%d,%d\n", odd && k == 0 ? "00" : "", i % 9,
                                    odd && k == 1 ? "0" : "", i % 7, i);
        }
        tw_graph *graph = NULL;
        assert_ok(ctx, twi_graph_read_memory(ctx, &graph, text, used, "a.csv", NULL));
        assert_int_equal(graph->n, 10);
        assert_in_range(tw_graph_find(graph, k == 0 ? "001" : "02"), 0, 9);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void decimals_are_the_nearest_doubles(void **state)
{
    (void)state;
    enum { LINES = 3000 };
    tw_context *ctx = open_context();
    static char text[LINES * 64];
    static char numbers[LINES][32];
    size_t used = 0;
    uint64_t random = 20261117;
    for (int i = 0; i < LINES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const long long whole = (long long)(random >> 33) % 1000000;
        const int digits =
            i % 20; /* 19 and some of the whole ones are too many for the quick way */
        snprintf(numbers[i], sizeof numbers[i], "%s%lld.%0*llu", i % 3 == 0 ? "-" : "",
                 whole >> i % 21, digits, (unsigned long long)(random >> (63 - 3 * digits)));
        used += (size_t)sprintf(text + used, "%d %d %s\n", i, i + 1, numbers[i]);
    }
    tw_graph *graph = NULL;
    assert_ok(ctx, twi_graph_read_memory(ctx, &graph, text, used, "a.el", NULL));
    assert_int_equal(graph->arcs, LINES);
    for (int i = 0; i < LINES; i++) {
        const double expected = strtod(numbers[i], NULL);
        assert_memory_equal((const double *)graph->weights + i, &expected, sizeof expected);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_decimal_in_one_piece_turns_every_piece(void **state)
{
    (void)state;
    enum { LINES = 200000 };
    tw_context *ctx = open_context();
    size_t size;
    char *text = long_list(LINES, &size);
    memcpy(text + size - 7, "99.50\n\n", 7);
    tw_graph *graph = NULL;
    assert_ok(ctx, twi_graph_read_memory(ctx, &graph, text, size, "long.el", NULL));
    assert_int_equal(graph->weight_type, TW_F64);
    assert_true(graph->max_weight == LINES - 2);
    assert_false(graph->integral);
    tw_graph_destroy(graph);
    free(text);
    close_context(ctx);
}

static void npy_elements_of_every_width_are_read(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const struct {
        const char *descr;
        int width;
        const void *elements;
        tw_type type;
        double weight;
    } files[] = {
        {"|b1", 1, (const uint8_t[]){0, 1, 0, 0}, TW_I32, 1},
        {"|i1", 1, (const int8_t[]){0, -5, 127, 0}, TW_I32, -5},
        {"|u1", 1, (const uint8_t[]){0, 254, 255, 0}, TW_I32, 254},
        {"<i2", 2, (const int16_t[]){0, -5, 32767, 0}, TW_I32, -5},
        {"<u2", 2, (const uint16_t[]){0, 65534, 65535, 0}, TW_I32, 65534},
        {"<i4", 4, (const int32_t[]){0, 1073741822, 1073741823, 0}, TW_I32, 1073741822},
        {"<u4", 4, (const uint32_t[]){0, 7, UINT32_MAX, 0}, TW_I32, 7},
        {"<i8", 8, (const int64_t[]){0, INT32_MIN, INT64_MAX, 0}, TW_I32, INT32_MIN},
        {"<u8", 8, (const uint64_t[]){0, 7, UINT64_MAX, 0}, TW_I32, 7},
        {"<u4", 4, (const uint32_t[]){0, UINT32_MAX - 1, 1073741823, 0}, TW_F64, UINT32_MAX - 1.0},
        {"<i8", 8, (const int64_t[]){0, 1073741824, 1073741823, 0}, TW_I32, 1073741824},
        {"<u8", 8, (const uint64_t[]){0, 1ULL << 53, 1073741823, 0}, TW_F64, 0x1p53},
        {"<f4", 4, (const float[]){0, 0.25F, INFINITY, 0}, TW_F32, 0.25},
        {"<f8", 8, (const double[]){0, 0.1, INFINITY, 0}, TW_F64, 0.1},
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char bytes[256];
        int header = snprintf(bytes, sizeof bytes, "\x93NUMPY\x01%c\x46%c%-69s\n", 0, 0, "");
        int text = snprintf(bytes + 10, 70,
                            "{'descr': '%s', 'fortran_order': False, "
                            "'shape': (2, 2), }",
                            files[k].descr);
        bytes[10 + text] = ' ';
        memcpy(bytes + header, files[k].elements, (size_t)files[k].width * 4);
        tw_graph *graph = NULL;
        assert_ok(ctx,
                  twi_graph_read_memory(ctx, &graph, bytes, (uint64_t)(header + 4 * files[k].width),
                                        "a.npy", NULL));
        assert_int_equal(graph->arcs, 1);
        assert_int_equal(graph->weight_type, files[k].type);
        assert_true(twi_graph_weight(graph, 0) == files[k].weight);
        tw_graph_destroy(graph);
    }
    double mark = 8;
    tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
    opts.no_edge = &mark;
    tw_graph *graph = read_good(ctx, "small.npy", &opts);
    assert_int_equal(graph->arcs, 3);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_stream_is_read_to_its_end(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    size_t size;
    char *text = long_list(150000, &size);
    char path[] = "/tmp/tw-stream-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "wb");
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
    assert_non_null(freopen(path, "rb", stdin));
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_read(ctx, &graph, "-", NULL));
    assert_int_equal(graph->n, 5003);
    tw_graph_destroy(graph);
    remove(path);
    free(text);
    close_context(ctx);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    const struct {
        const char *file;
        int32_t ids;
    } files[] = {
        {"small.bin", 0},    {"small.gr", 0},    {"small.mtx", 0},       {"symmetric.mtx", 0},
        {"small.el", 0},     {"small.csv", 0},   {"symmetric.graph", 0}, {"small.npy", 0},
        {"names.tsv", 1},    {"columns.npz", 0}, {"blocks.npz", 0},      {"diagonals.npz", 0},
        {"deflated.npz", 0}, {"small.gr.gz", 0}, {"small.gr.zst", 0},    {"small.gr.xz", 0}};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[512];
        snprintf(path, sizeof path, TW_TEST_DATA "/good/%s", files[f].file);
        tw_graph_read_options opts = TW_GRAPH_READ_OPTIONS_INIT;
        opts.ids = files[f].ids;
        for (int64_t k = 1;; k++) {
            tw_graph *graph = NULL;
            twi_meter_fail_at(ctx->meter, k);
            tw_status status = tw_graph_read(ctx, &graph, path, &opts);
            twi_meter_fail_at(ctx->meter, 0);
            if (status == TW_OK) {
                assert_true(k > 4);
                tw_graph_destroy(graph);
                break;
            }
            if (status == TW_ERR_UNSUPPORTED) { /* a build without that library */
                assert_non_null(strstr(tw_last_error(ctx), "this build cannot read"));
                break;
            }
            assert_int_equal(status, TW_ERR_MEMORY);
            assert_null(graph);
            assert_int_equal(twi_meter_blocks(ctx->meter), 0);
        }
    }
    close_context(ctx);
}

static void a_cancelled_read_stops(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const char *const files[] = {"small.bin", "small.gr",        "small.mtx",
                                 "small.el",  "symmetric.graph", "small.npy"};
    tw_cancel(ctx);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[512];
        tw_graph *graph = NULL;
        snprintf(path, sizeof path, TW_TEST_DATA "/good/%s", files[f]);
        assert_fails(ctx, TW_ERR_CANCELLED, "stopped", tw_graph_read(ctx, &graph, path, NULL));
        assert_null(graph);
    }
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_gives_the_same_graph),
        cmocka_unit_test(compressed_files_give_the_same_graph),
        cmocka_unit_test(content_tells_the_format_where_the_name_does_not),
        cmocka_unit_test(the_format_option_overrules_the_name),
        cmocka_unit_test(options_that_cannot_be_are_refused),
        cmocka_unit_test(undirected_comes_from_the_file_or_the_caller),
        cmocka_unit_test(unweighted_counts_every_edge_as_one),
        cmocka_unit_test(the_weight_column_goes_by_number_or_name),
        cmocka_unit_test(names_become_vertices_in_order_of_appearance),
        cmocka_unit_test(many_names_are_all_found),
        cmocka_unit_test(one_decimal_weight_makes_all_of_them_doubles),
        cmocka_unit_test(numbers_are_read_to_the_last_bit),
        cmocka_unit_test(infinite_edges_are_none_but_their_vertices_stay),
        cmocka_unit_test(graphs_of_no_and_one_vertex_are_read),
        cmocka_unit_test(metis_skips_what_belongs_to_vertices),
        cmocka_unit_test(any_thread_count_reads_the_same_graph),
        cmocka_unit_test(numbers_of_any_length_are_what_they_say),
        cmocka_unit_test(zeros_before_an_id_are_kept_wherever_it_stands),
        cmocka_unit_test(decimals_are_the_nearest_doubles),
        cmocka_unit_test(a_decimal_in_one_piece_turns_every_piece),
        cmocka_unit_test(npy_elements_of_every_width_are_read),
        cmocka_unit_test(a_stream_is_read_to_its_end),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
        cmocka_unit_test(a_cancelled_read_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
