/*
 * Text that is read in pieces, from a file and from a flow, is what it is in one: the same graph or
 * the same sentence, wherever the pieces are cut.
 */
#include "split_input.h"
#include "unit/scratch_folder.h"

#include "graph/graph.h"
#include "io/graph/format.h"

#include <fcntl.h>
#include <pthread.h>

typedef enum way { IN_MEMORY, IN_A_FILE, IN_A_FLOW, WAYS } way;

static tw_status read_by(tw_context *ctx, tw_graph **out, way by, const char *text, uint64_t piece,
                         const char *name)
{
    const uint64_t size = strlen(text);
    split_flow flow;
    twi_input input = {.name = name, .bytes = text, .size = size, .piece = piece};
    if (by == IN_A_FILE) {
        input = input_of_file(text, size, piece, name);
    } else if (by == IN_A_FLOW) {
        input = input_of_flow(&flow, text, size, piece, name);
    }
    const tw_status status = twi_graph_read_input(ctx, out, &input, NULL);
    twi_input_close(&input);
    return status;
}

static void assert_same_graph(const tw_graph *a, const tw_graph *b)
{
    const size_t arcs = (size_t)a->arcs;
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->arcs, b->arcs);
    assert_int_equal(a->weight_type, b->weight_type);
    assert_int_equal(a->undirected, b->undirected);
    assert_int_equal(a->first, b->first);
    assert_memory_equal(a->offsets, b->offsets, (size_t)(a->n + 1) * sizeof(int64_t));
    assert_memory_equal(a->targets, b->targets, arcs * sizeof(int32_t));
    assert_memory_equal(a->weights, b->weights, arcs * tw_type_size(a->weight_type));
    for (int64_t v = 0; v < a->n && tw_graph_label(a, 0) != NULL; v++) {
        assert_string_equal(tw_graph_label(a, v), tw_graph_label(b, v));
    }
}

/* Every way and piece gives what memory alone does. */
static void assert_pieces_agree(tw_context *ctx, const char *text, const char *name)
{
    char sentence[512] = "";
    tw_graph *whole = NULL;
    const tw_status expected = read_by(ctx, &whole, IN_MEMORY, text, 0, name);
    if (expected != TW_OK) {
        snprintf(sentence, sizeof sentence, "%s", tw_last_error(ctx));
    }
    const uint64_t most = emulated_sizes_only() ? 20 : 150;
    for (way by = 0; by < WAYS; by++) {
        for (uint64_t piece = 1; piece <= most; piece++) {
            tw_graph *graph = NULL;
            const tw_status status = read_by(ctx, &graph, by, text, piece, name);
            if (status != expected) {
                fail_msg("%s, way %d, pieces of %d: %s", name, (int)by, (int)piece,
                         tw_last_error(ctx));
            }
            if (status == TW_OK) {
                assert_same_graph(graph, whole);
            } else {
                assert_string_equal(tw_last_error(ctx), sentence);
            }
            tw_graph_destroy(graph);
        }
    }
    tw_graph_destroy(whole);
}

#define LONG_LINE "a-very-long-name-that-goes-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on"

static const struct {
    const char *name;
    const char *text;
} texts[] = {
    {"crlf.el", "0 1 5\r\n1 2 7\r\n\r\n2 0 9\r\n0 2 11\r\n1 0 3\r\n2 1 4\r\n0 1 6\r\n2 0 8\r\n"},
    {"open.el", "0 1 5\n1 2 7\n2 0 9\n0 2 11\n1 0 3\n2 1 4\n0 1 6\n2 0 8\n1 2 10\n0 2 12\n1 1 -3"},
    {"mark.csv", "\xef\xbb\xbfsource,target,weight\n0,1,5\n1,2,7\n2,0,9\n0,2,11\n1,0,3\n2,1,4\n"},
    {"real.el",
     "0 1 5\n1 2 7\n2 0 9\n0 2 11\n1 0 3\n2 1 4\n0 1 6\n2 0 8\n1 2 10\n0 2 1.5\n1 0 3\n"},
    {"remarks.el", "# vertices: 9\n# " LONG_LINE LONG_LINE LONG_LINE "\n\n\n0 1 5\n"
                   "# " LONG_LINE LONG_LINE "\n1 2 7\n% end\n2 0 1\n"},
    {"long.csv", "from,to,km,remark\na,b,5," LONG_LINE LONG_LINE "\nb,c,7,\n"
                 "c," LONG_LINE LONG_LINE ",9,x\n\"a, b\",\"c\"\"d\",11,y\nb,\"a, b\",3,z\n"},
    {"names.tsv", "New York\tBoston\t306\nBoston\tAlbany\t270\nAlbany\tNew York\t230\n"
                  "Boston\tNew York\t310\nTroy\tAlbany\t13\nAlbany\tTroy\t14\n"},
    {"a.gr", "c a remark\nc another\np sp 4 7\na 1 2 3\nc between\na 1 3 8\na 2 3 2\na 3 1 7\r\n"
             "a 4 1 1\n\n\na 4 2 12345\na 2 4 6\n"},
    {"a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n% a remark\n4 4 5\n2 1 3\n"
              "3 1 8\n% another\n3 2 2\n4 1 7\n4 3 1"},
    {"a.graph", "% a remark\n5 3 1\n2 3 3 8\n1 3 3 2\n% between\n1 8 2 2\n\n \n"},
    {"b.graph", "% a remark\n6 5 1\n2 3 3 8\n1 3 3 2\n% between\n1 8 2 2 5 4\n\n3 4 6 9\n5 9"},
    {"c.graph", "3 2\n2\n1 3\n2\n\n\n% end\n"},
};

static void any_piece_gives_the_same_graph(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        tw_graph *graph = NULL;
        assert_ok(ctx, read_by(ctx, &graph, IN_MEMORY, texts[t].text, 0, texts[t].name));
        tw_graph_destroy(graph);
        for (int threads = 1; threads <= 3; threads += 2) {
            assert_ok(ctx, tw_set_threads(ctx, threads));
            assert_pieces_agree(ctx, texts[t].text, texts[t].name);
        }
    }
    close_context(ctx);
}

/* Text is read again when a late line shows that its vertices are names, all but a flow. */
static void a_late_name_makes_names_of_all(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    enum { LINES = 900 };
    char text[16384] = "";
    for (int line = 0; line < LINES; line++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d,5\n", LINES - line,
                 line % 3);
    }
    strcat(text, "2,Bern,1\n7,007,1\n");
    for (way by = 0; by < WAYS; by++) {
        for (uint64_t piece = 1; piece < 3000; piece += 97) {
            tw_graph *graph = NULL;
            const tw_status status = read_by(ctx, &graph, by, text, piece, "g.csv");
            if (by == IN_A_FLOW) {
                assert_fails(ctx, TW_ERR_FORMAT,
                             "g.csv:901: 'Bern' is not a vertex number; vertex names need --ids",
                             status);
                continue;
            }
            assert_ok(ctx, status);
            assert_int_equal(graph->n, LINES + 3);
            assert_string_equal(tw_graph_label(graph, 0), "900");
            assert_int_equal(tw_graph_find(graph, "0"), 1);
            assert_int_equal(tw_graph_find(graph, "Bern"), LINES + 1);
            assert_int_equal(tw_graph_find(graph, "007"), LINES + 2);
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

/* Two faults in each text, on late lines: the first is told. */
static void any_piece_gives_the_same_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text;
        const char *sentence;
    } bad[] = {
        {"a.el",
         "0 1 5\n1 2 7\r\n\n# x\n2 0 9\n0 2 11\n1 0 3\n2 1 4\n0 1 6\n2 0 x\n1 2 10\n0 2 y\n",
         "a.el:10: 'x' is not a weight"},
        {"more.gr", "p sp 3 7\na 1 2 5\na 2 3 7\na 3 1 9\na 1 3 11\na 2 1 3\na 3 2 4\na 1 2 6 z\n",
         "more.gr:8: unexpected 'z' after the last field"},
        {"quote.csv", "a,b,5\nb,c,7\nc,a,9\na,c,11\nb,a,3\n\"c,b,4\na,b,6\n",
         "quote.csv:6: a quote is not closed on its line"},
        {"names.csv", "from,to,km\na,b,5\nb,c,7\nc,a,9\na,c,11\nb,a,3\nc,,4\na,b,6\n",
         "names.csv:7: a vertex is missing"},
        {"a.gr", "p sp 4 6\na 1 2 3\na 1 3 8\na 2 3 2\nc x\na 3 1 7\na 4 1 1\na 5 2 9\n",
         "a.gr:8: vertex 5 is outside 1 ... 4"},
        {"short.gr", "p sp 4 6\na 1 2 3\na 1 3 8\na 2 3 2\na 3 1 7\n",
         "the problem line says 6 arcs, but the file has 4"},
        {"a.mtx",
         "%%MatrixMarket matrix coordinate integer general\n4 4 4\n2 1 3\n3 1 8\n3 2 2\n"
         "4 1 0.5\n",
         "a.mtx:6: '0.5' is not a whole number"},
        {"a.graph", "6 5 1\n2 3 3 8\n1 3 3 2\n1 8 2 2 5 4\n\n3 4 6 9\n5\n",
         "a.graph:7: the line ends; expected a weight"},
        {"short.graph", "6 5 1\n2 3 3 8\n1 3 3 2\n1 8 2 2 5 4\n\n",
         "short.graph:6: the file ends after the lines of 4 of 6 vertices"},
        {"long.graph", "% x\n3 2\n2\n1 3\n2\n\n\n1\n",
         "long.graph:8: the file goes on after the lines of its 3 vertices"},
    };
    tw_context *ctx = open_context();
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        tw_graph *graph = NULL;
        assert_fails(ctx, TW_ERR_FORMAT, bad[b].sentence,
                     read_by(ctx, &graph, IN_MEMORY, bad[b].text, 0, bad[b].name));
        for (int threads = 1; threads <= 3; threads += 2) {
            assert_ok(ctx, tw_set_threads(ctx, threads));
            assert_pieces_agree(ctx, bad[b].text, bad[b].name);
        }
    }
    close_context(ctx);
}

enum { ALLOCATIONS = 60 }; /* more than any of them needs */

static void failed_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (way by = IN_A_FILE; by < WAYS; by++) {
            int64_t failed = 0;
            for (int64_t k = 1; k <= ALLOCATIONS; k++) {
                tw_graph *graph = NULL;
                twi_meter_fail_at(ctx->meter, k);
                const tw_status status = read_by(ctx, &graph, by, texts[t].text, 16, texts[t].name);
                twi_meter_fail_at(ctx->meter, 0);
                if (status != TW_OK) { /* what would only save memory may fail */
                    assert_int_equal(status, TW_ERR_MEMORY);
                    assert_null(graph);
                    failed++;
                }
                tw_graph_destroy(graph);
                assert_int_equal(twi_meter_blocks(ctx->meter), 0);
            }
            assert_in_range(failed, 7, ALLOCATIONS - 5);
        }
    }
    close_context(ctx);
}

/* Whichever allocation fails, also that of a lane's first edges: a refusal that names edges names
 * all of them. */
static void a_refusal_counts_every_edge(void **state)
{
    (void)state;
    enum { EDGES = 300 };
    tw_context *ctx = open_context();
    for (int real = 0; real < 2; real++) {
        char text[EDGES * 16] = "";
        size_t used = 0;
        for (int i = 0; i < EDGES; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%d %d %s\n", i % 51,
                                     i * 7 % 51, real ? "2.5" : "7");
        }
        for (way by = 0; by < WAYS; by++) {
            int64_t named = 0;
            for (int64_t k = 1; k <= ALLOCATIONS; k++) {
                tw_graph *graph = NULL;
                twi_meter_fail_at(ctx->meter, k);
                const tw_status status = read_by(ctx, &graph, by, text, 512, "e.el");
                twi_meter_fail_at(ctx->meter, 0);
                if (status != TW_OK && strstr(tw_last_error(ctx), " between ") != NULL) {
                    assert_non_null(
                        strstr(tw_last_error(ctx), "e.el: 300 edges between 51 vertices need "));
                    named++;
                }
                tw_graph_destroy(graph);
            }
            assert_in_range(named, 1, ALLOCATIONS);
        }
    }
    close_context(ctx);
}

/* ------------------------------------------------------------------------- files of this size */

enum { LINES = 60000 };

/* 5 MB, most of it remarks: more than the 3 MB that may be used. */
static uint64_t write_list(const char *name, const char *last)
{
    FILE *file = fopen(in_scratch(name), "w");
    assert_non_null(file);
    for (int i = 0; i < LINES; i++) {
        fprintf(file, "%d %d %d\n", i % 701, i % 503, i);
        fprintf(file, "# line %d and a remark of a length that a list of edges rarely has\n", i);
    }
    fputs(last, file);
    const long size = ftell(file);
    assert_int_equal(fclose(file), 0);
    return (uint64_t)size;
}

static void a_list_larger_than_the_memory_is_read(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *whole = NULL;
    tw_graph *graph = NULL;
    assert_true(write_list("a.el", "") > 4500000);
    assert_ok(ctx, tw_graph_read(ctx, &whole, in_scratch("a.el"), NULL));
    const uint64_t held = tw_memory_used(ctx);
    assert_ok(ctx, tw_set_memory(ctx, held + 3000000));
    assert_ok(ctx, tw_graph_read(ctx, &graph, in_scratch("a.el"), NULL));
    assert_same_graph(graph, whole);
    tw_graph_destroy(graph);
    write_list("a.el", "1 x 1\n");
    assert_fails(ctx, TW_ERR_FORMAT, "a.el:120001: 'x' is not a vertex",
                 tw_graph_read(ctx, &graph, in_scratch("a.el"), NULL));
    assert_ok(ctx, tw_set_memory(ctx, held + 500000)); /* edges are counted on, and faults found */
    assert_fails(ctx, TW_ERR_FORMAT, "a.el:120001: 'x' is not a vertex",
                 tw_graph_read(ctx, &graph, in_scratch("a.el"), NULL));
    write_list("a.el", "");
    assert_fails(ctx, TW_ERR_MEMORY, "a.el: 60000 edges between 701 vertices need ",
                 tw_graph_read(ctx, &graph, in_scratch("a.el"), NULL));
    const char *advice = strstr(tw_last_error(ctx), "; use --memory ");
    assert_non_null(advice);
    assert_ok(ctx, tw_set_memory(ctx, strtoull(advice + 15, NULL, 10) * 1000));
    assert_ok(ctx, tw_graph_read(ctx, &graph, in_scratch("a.el"), NULL));
    assert_same_graph(graph, whole);
    tw_graph_destroy(graph);
    tw_graph_destroy(whole);
    assert_int_equal(unlink(in_scratch("a.el")), 0);
    close_context(ctx);
}

/* A read that finds the file shorter than it was. */
static void a_file_cut_while_it_is_read_is_a_sentence(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    twi_input input;
    write_list("a.el", "");
    assert_ok(ctx, twi_input_open_flow(ctx, &input, in_scratch("a.el")));
    assert_int_equal(truncate(in_scratch("a.el"), 100000), 0);
    assert_fails(ctx, TW_ERR_IO, "a.el': it was cut short while it was being read",
                 twi_graph_read_input(ctx, &graph, &input, NULL));
    twi_input_close(&input);
    assert_int_equal(unlink(in_scratch("a.el")), 0);
    close_context(ctx);
}

/* A pipe with a name, which is not read to its end before it is parsed. */
static void *write_pipe(void *path)
{
    FILE *file = fopen(path, "w");
    for (int i = 0; file != NULL && i < LINES; i++) {
        fprintf(file, "%d %d %d\n", i % 701, i % 503, i);
    }
    return file != NULL && fclose(file) == 0 ? path : NULL;
}

static void a_pipe_is_read(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    pthread_t writer;
    void *written = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", in_scratch("pipe.el"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_pipe, path), 0);
    assert_ok(ctx, tw_graph_read(ctx, &graph, path, NULL));
    assert_int_equal(pthread_join(writer, &written), 0);
    assert_non_null(written);
    assert_int_equal(graph->n, 701);
    assert_true(graph->max_weight == LINES - 1);
    tw_graph_destroy(graph);
    assert_int_equal(unlink(path), 0);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_piece_gives_the_same_graph),
        cmocka_unit_test(a_late_name_makes_names_of_all),
        cmocka_unit_test(any_piece_gives_the_same_sentence),
        cmocka_unit_test(failed_allocations_leave_nothing_behind),
        cmocka_unit_test(a_refusal_counts_every_edge),
        cmocka_unit_test(a_list_larger_than_the_memory_is_read),
        cmocka_unit_test(a_file_cut_while_it_is_read_is_a_sentence),
        cmocka_unit_test(a_pipe_is_read),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
