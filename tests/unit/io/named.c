/* Files in which vertices have names: lines of pairs, and a number for each vertex. */
#include "base/context.h"
#include "base/meter.h"
#include "unit/scratch_folder.h"

#include <math.h>

static tw_graph *read_graph(tw_context *ctx, const char *name, const char *text)
{
    tw_graph *graph = NULL;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", in_scratch(name));
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_ok(ctx, tw_graph_read(ctx, &graph, path, NULL));
    return graph;
}

static void assert_file_is(const char *name, const char *wanted)
{
    char text[4096] = "";
    FILE *file = fopen(in_scratch(name), "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, wanted);
}

static void feed(tw_context *ctx, const tw_matrix *matrix, const char *name, const tw_graph *graph,
                 const int32_t *sources, const int32_t *targets)
{
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_sink_to_pairs(ctx, &sink, in_scratch(name), graph, sources, targets));
    assert_ok(ctx, tw_feed(ctx, matrix, &sink, 1));
    tw_sink_destroy(&sink);
}

static void pairs_have_names_and_leave_out_what_has_no_path(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = read_graph(ctx, "g.csv", "a,b,1\n\"c, \"\"d\"\"\",a,2\n");
    int32_t whole[] = {0, 1, TW_APSP_INF_I32, 7, 0, 3, TW_APSP_INF_I32, 4, 0};
    tw_matrix matrix = {whole, 3, 3, 3, TW_I32};
    feed(ctx, &matrix, "p.csv", graph, NULL, NULL);
    assert_file_is("p.csv", "from,to,distance\na,b,1\nb,a,7\nb,\"c, \"\"d\"\"\",3\n"
                            "\"c, \"\"d\"\"\",b,4\n");
    const int32_t sources[] = {2}, targets[] = {2, 0};
    float part[] = {0, 0.5F};
    tw_matrix row = {part, 1, 2, 2, TW_F32};
    feed(ctx, &row, "p.csv", graph, sources, targets);
    assert_file_is("p.csv", "from,to,distance\n\"c, \"\"d\"\"\",a,0.5\n");
    part[1] = INFINITY;
    feed(ctx, &row, "p.csv", NULL, sources, targets);
    assert_file_is("p.csv", "from,to,distance\n");
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void feed_table(tw_context *ctx, const tw_matrix *matrix, const tw_graph *graph,
                       const int32_t *sources, const int32_t *targets, int32_t vertices)
{
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx,
              tw_sink_to_table(ctx, &sink, in_scratch("p.csv"), graph, sources, targets, vertices));
    assert_ok(ctx, tw_feed(ctx, matrix, &sink, 1));
    tw_sink_destroy(&sink);
}

static void tables_have_names_and_are_read_without_them(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = read_graph(ctx, "g.csv", "a,b,1\n\"c, \"\"d\"\"\",a,2\n");
    int32_t whole[] = {0, 1, TW_APSP_INF_I32, 7, 0, 3, TW_APSP_INF_I32, 4, 0};
    tw_matrix matrix = {whole, 3, 3, 3, TW_I32};
    feed_table(ctx, &matrix, graph, NULL, NULL, 0);
    assert_file_is("p.csv", ",a,b,\"c, \"\"d\"\"\"\na,0,1,inf\nb,7,0,3\n"
                            "\"c, \"\"d\"\"\",inf,4,0\n");
    tw_matrix_file *file = NULL;
    assert_ok(ctx, tw_matrix_file_create(ctx, &file, in_scratch("p.csv"), NULL, TW_AUTO));
    const tw_matrix *read = tw_matrix_file_view(file);
    assert_int_equal(read->rows, 3);
    assert_int_equal(read->cols, 3);
    assert_memory_equal(read->data, whole, sizeof whole);
    tw_matrix_file_destroy(file);
    const int32_t sources[] = {2}, targets[] = {2, 0};
    int32_t before[] = {-9999, 1};
    tw_matrix row = {before, 1, 2, 2, TW_I32};
    feed_table(ctx, &row, graph, sources, targets, 1);
    assert_file_is("p.csv", ",\"c, \"\"d\"\"\",a\n\"c, \"\"d\"\"\",,b\n");
    feed_table(ctx, &row, NULL, sources, targets, 1);
    assert_file_is("p.csv", ",2,0\n2,,1\n");
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* More columns than are printed together, in the widest type, and text of more than a buffer. */
static void wide_tables_read_back(void **state)
{
    (void)state;
    const int64_t n = emulated_sizes_only() ? 280 : 700;
    const size_t bytes = sizeof(double) * (size_t)(n * n);
    tw_context *ctx = open_context();
    double *values = malloc(bytes);
    assert_non_null(values);
    for (int64_t i = 0; i < n * n; i++) {
        values[i] = i % 7 == 0 ? INFINITY : -1.2345678901234567e-200 * (double)(i + 1);
    }
    tw_matrix matrix = {values, n, n, n, TW_F64};
    feed_table(ctx, &matrix, NULL, NULL, NULL, 0);
    tw_matrix_file *file = NULL;
    assert_ok(ctx, tw_matrix_file_create(ctx, &file, in_scratch("p.csv"), NULL, TW_AUTO));
    assert_memory_equal(tw_matrix_file_view(file)->data, values, bytes);
    tw_matrix_file_destroy(file);
    free(values);
    close_context(ctx);
}

/* The number of a vertex in a file of its own: from 1 in these. */
static void numbers_are_those_of_the_file(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int32_t first;
    } files[] = {{"g.gr", "p sp 2 1\na 1 2 5\n", 1},
                 {"g.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 5\n", 1},
                 {"g.graph", "2 1\n2\n1\n", 1},
                 {"g.el", "0 1 5\n", 0}};
    tw_context *ctx = open_context();
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        tw_graph *graph = read_graph(ctx, files[f].name, files[f].text);
        tw_graph_info about = TW_GRAPH_INFO_INIT;
        assert_ok(ctx, tw_graph_describe(graph, &about));
        assert_int_equal(about.first, files[f].first);
        uint8_t hops[] = {0, 1, 255, 0};
        tw_matrix matrix = {hops, 2, 2, 2, TW_U8};
        feed(ctx, &matrix, "p.csv", graph, NULL, NULL);
        assert_file_is("p.csv", files[f].first == 1 ? "from,to,distance\n1,2,1\n"
                                                    : "from,to,distance\n0,1,1\n");
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void values_stand_beside_their_vertices(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = read_graph(ctx, "g.csv", "a,b,1\nb,c,2\n");
    const double half[] = {0.5, INFINITY, 2};
    const int64_t wide[] = {1, -2};
    const int32_t some[] = {2, 0};
    assert_ok(ctx, tw_vertices_write(ctx, in_scratch("v.csv"), graph, NULL, 3, "x", half, TW_F64));
    assert_file_is("v.csv", "vertex,x\na,0.5\nb,inf\nc,2\n");
    assert_ok(ctx, tw_vertices_write(ctx, in_scratch("v.csv"), graph, some, 2, "y", wide, TW_I64));
    assert_file_is("v.csv", "vertex,y\nc,1\na,-2\n");
    assert_ok(ctx, tw_vertices_write(ctx, in_scratch("v"), graph, some, 2, NULL, NULL, TW_AUTO));
    assert_file_is("v", "c\na\n");
    assert_ok(ctx, tw_vertices_write(ctx, in_scratch("v"), NULL, NULL, 2, NULL, NULL, TW_AUTO));
    assert_file_is("v", "0\n1\n");
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_file_of_bytes_appears_whole(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_file_write(ctx, in_scratch("b"), "some bytes", 10));
    assert_file_is("b", "some bytes");
    assert_ok(ctx, tw_file_write(ctx, in_scratch("b"), "", 0));
    assert_file_is("b", "");
    assert_int_equal(tw_file_write(ctx, in_scratch("absent/b"), "?", 1), TW_ERR_IO);
    close_context(ctx);
}

static void nothing_stays_of_a_failed_sink(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = read_graph(ctx, "g.csv", "a,b,1\n");
    int32_t whole[] = {0, 1, 2, 1, 0, 2, 1, 2, 0};
    tw_matrix matrix = {whole, 3, 3, 3, TW_I32}; /* one vertex more than the graph has */
    tw_sink sink = TW_SINK_INIT;
    assert_ok(ctx, tw_sink_to_pairs(ctx, &sink, in_scratch("bad.csv"), graph, NULL, NULL));
    assert_int_equal(tw_feed(ctx, &matrix, &sink, 1), TW_ERR_ARGUMENT);
    tw_sink_destroy(&sink);
    assert_ok(ctx, tw_sink_to_table(ctx, &sink, in_scratch("bad.csv"), graph, NULL, NULL, 0));
    assert_int_equal(tw_feed(ctx, &matrix, &sink, 1), TW_ERR_ARGUMENT);
    tw_sink_destroy(&sink);
    tw_matrix bytes = {whole, 2, 2, 2, TW_U8};
    assert_ok(ctx, tw_sink_to_table(ctx, &sink, in_scratch("bad.csv"), graph, NULL, NULL, 1));
    assert_fails(ctx, TW_ERR_ARGUMENT, "a table of vertices is of i32, not u8",
                 tw_feed(ctx, &bytes, &sink, 1));
    tw_sink_destroy(&sink);
    assert_null(fopen(in_scratch("bad.csv"), "re"));
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* A run of every function that writes a file here; nothing is left of one that fails. */
static tw_status write_everything(tw_context *ctx, const tw_graph *graph, const tw_matrix *matrix)
{
    tw_sink sink = TW_SINK_INIT;
    const double values[] = {1, 2};
    tw_status status = tw_sink_to_pairs(ctx, &sink, in_scratch("p.csv"), graph, NULL, NULL);
    if (status == TW_OK) {
        status = tw_feed(ctx, matrix, &sink, 1);
    }
    tw_sink_destroy(&sink);
    if (status == TW_OK) {
        status = tw_sink_to_table(ctx, &sink, in_scratch("p.csv"), graph, NULL, NULL, 1);
    }
    if (status == TW_OK) {
        status = tw_feed(ctx, matrix, &sink, 1);
    }
    tw_sink_destroy(&sink);
    if (status == TW_OK) {
        status = tw_vertices_write(ctx, in_scratch("v.csv"), graph, NULL, 2, "x", values, TW_F64);
    }
    return status == TW_OK ? tw_file_write(ctx, in_scratch("b"), "?", 1) : status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = read_graph(ctx, "g.csv", "a,b,1\n");
    int32_t whole[] = {0, 1, 2, 0};
    const tw_matrix matrix = {whole, 2, 2, 2, TW_I32};
    const int64_t blocks = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    int64_t at = 1;
    for (; status != TW_OK; at++) {
        twi_meter_fail_at(ctx->meter, at);
        status = write_everything(ctx, graph, &matrix);
        twi_meter_fail_at(ctx->meter, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_int_equal(twi_meter_blocks(ctx->meter), blocks);
    }
    assert_true(at > 6);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static int remove_all(void **state)
{
    static const char *const names[] = {"g.csv", "g.gr",  "g.mtx", "g.graph", "g.el",
                                        "p.csv", "v.csv", "v",     "b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(unlink(in_scratch(names[i])), 0);
    }
    return remove_scratch(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_have_names_and_leave_out_what_has_no_path),
        cmocka_unit_test(tables_have_names_and_are_read_without_them),
        cmocka_unit_test(wide_tables_read_back),
        cmocka_unit_test(numbers_are_those_of_the_file),
        cmocka_unit_test(values_stand_beside_their_vertices),
        cmocka_unit_test(a_file_of_bytes_appears_whole),
        cmocka_unit_test(nothing_stays_of_a_failed_sink),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_all);
}
