/* Every file of tests/data/mangled ends in its sentence, and leaves nothing behind. */
#include "harness.h"

#include "graph/graph.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *file;
    tw_status status;
    const char *words;
} cases[] = {
    {"empty.bin", TW_ERR_FORMAT, "empty.bin is empty"},
    {"cut-header.bin", TW_ERR_FORMAT, "this one ends at byte 5"},
    {"cut-edges.bin", TW_ERR_FORMAT, "is cut short at byte 51"},
    {"goes-on.bin", TW_ERR_FORMAT, "goes on to byte 57"},
    {"negative-vertices.bin", TW_ERR_FORMAT, "byte 0: -4 vertices"},
    {"negative-edges.bin", TW_ERR_FORMAT, "byte 4: -1 edges"},
    {"edges-beyond-file.bin", TW_ERR_FORMAT, "must end at byte 25769803772"},
    {"vertex-out-of-range.bin", TW_ERR_FORMAT, "edge 2, at byte 32: vertex 4 is outside 0 ... 3"},
    {"vertex-negative.bin", TW_ERR_FORMAT, "at byte 32: vertex -1 is outside"},
    {"no-problem-line.gr", TW_ERR_FORMAT, "without a problem line"},
    {"other-problem.gr", TW_ERR_UNSUPPORTED, ".gr:1: a DIMACS problem other than 'p sp'"},
    {"negative-vertices.gr", TW_ERR_FORMAT, ".gr:1: -4 is not a number of vertices"},
    {"too-many-vertices.gr", TW_ERR_RANGE, "3000000000 is not a number of vertices"},
    {"cut-short.gr", TW_ERR_FORMAT, "says 4 arcs, but the file has 1: it may be cut short"},
    {"goes-on.gr", TW_ERR_FORMAT, "says 1 arc, but the file has 2: it goes on"},
    {"vertex-zero.gr", TW_ERR_FORMAT, ".gr:2: vertex 0 is outside 1 ... 4"},
    {"vertex-out-of-range.gr", TW_ERR_FORMAT, ".gr:3: vertex 5 is outside 1 ... 4"},
    {"text-weight.gr", TW_ERR_FORMAT, ".gr:2: 'three' is not a weight"},
    {"no-weight.gr", TW_ERR_FORMAT, ".gr:2: the line ends; expected a weight"},
    {"wide-weight.gr", TW_ERR_RANGE, ".gr:2: the weight 2147483648 does not fit in 32 bits"},
    {"nan-weight.gr", TW_ERR_FORMAT, ".gr:2: the weight is NaN"},
    {"sunk-weight.gr", TW_ERR_FORMAT, ".gr:2: the weight is -inf"},
    {"strange-line.gr", TW_ERR_FORMAT, ".gr:2: 'b' is not an arc line"},
    {"extra-field.gr", TW_ERR_FORMAT, ".gr:2: unexpected '4' after the last field"},
    {"no-banner.mtx", TW_ERR_FORMAT, ".mtx:1: a Matrix Market file begins with"},
    {"array.mtx", TW_ERR_FORMAT, ".mtx:1: a Matrix Market 'matrix array' is not supported"},
    {"complex.mtx", TW_ERR_FORMAT, "'complex' entries"},
    {"skew.mtx", TW_ERR_FORMAT, "'skew-symmetric' matrix is not supported"},
    {"not-square.mtx", TW_ERR_FORMAT, ".mtx:2: a matrix of 2 x 3 is not square"},
    {"no-size.mtx", TW_ERR_FORMAT, "the line ends; expected a number of rows"},
    {"cut-short.mtx", TW_ERR_FORMAT, "says 2 entries, but the file has 1"},
    {"decimal-integer.mtx", TW_ERR_FORMAT, ".mtx:3: '0.5' is not a whole number"},
    {"vertex-out-of-range.mtx", TW_ERR_FORMAT, ".mtx:3: vertex 3 is outside 1 ... 2"},
    {"words.el", TW_ERR_FORMAT, "a header and no edges; if its only line is an edge, use --ids"},
    {"word-later.el", TW_ERR_FORMAT, ".el:2: 'x' is not a vertex number"},
    {"text-weight.el", TW_ERR_FORMAT, ".el:2: 'heavy' is not a weight"},
    {"one-end.el", TW_ERR_FORMAT, ".el:2: the line ends; expected a vertex"},
    {"missing-weight.el", TW_ERR_FORMAT, ".el:2: the line ends before column 3, the weight"},
    {"doubtful-comment.csv", TW_ERR_FORMAT, ".csv:2: a comment, or an edge of a name"},
    {"surplus-weight.el", TW_ERR_FORMAT, ".el:2: a third field"},
    {"negative-vertex.el", TW_ERR_FORMAT, ".el:1: vertex -1 is outside"},
    {"decimal-vertex.el", TW_ERR_FORMAT, "'1.5' is not a vertex"},
    {"wide-weight.el", TW_ERR_RANGE, "does not fit in 32 bits"},
    {"nan-weight.el", TW_ERR_FORMAT, ".el:2: the weight is NaN"},
    {"beyond-f64.el", TW_ERR_RANGE, ".el:2: '1e309' is too large for f64"},
    {"beyond-f64.gr", TW_ERR_RANGE, ".gr:3: '-1e309' is too large for f64"},
    {"beyond-f64.mtx", TW_ERR_RANGE, ".mtx:4: '1e+400' is too large for f64"},
    {"beyond-f64.graph", TW_ERR_RANGE, ".graph:2: '1e309' is too large for f64"},
    {"below-f64.csv", TW_ERR_RANGE, ".csv:3: '0.5e-400' is too small for f64"},
    {"empty-field.csv", TW_ERR_FORMAT, ".csv:2: there is nothing before this comma"},
    {"binary.txt", TW_ERR_FORMAT, "is not text: zero byte at 0"},
    {"tags.graphml", TW_ERR_UNSUPPORTED, ".graphml: GraphML is not supported"},
    {"braces.dot", TW_ERR_UNSUPPORTED, ".dot: DOT is not supported"},
    {"brackets.gml", TW_ERR_UNSUPPORTED, ".gml: GML is not supported"},
    {"objects.json", TW_ERR_UNSUPPORTED, ".json: JSON is not supported"},
    {"arrays.json", TW_ERR_UNSUPPORTED, ".json: JSON is not supported"},
    {"stars.net", TW_ERR_UNSUPPORTED, ".net: Pajek is not supported"},
    {"colours.col", TW_ERR_UNSUPPORTED,
     ".col: a DIMACS problem other than 'p sp' is not supported"},
    {"tuples.txt", TW_ERR_UNSUPPORTED, ".txt: a list of Python's tuples is not supported"},
    {"bars.el", TW_ERR_FORMAT, "does '|' separate the fields of 'M 2|M 2', or do blanks?"},
    {"decimal-end.csv", TW_ERR_FORMAT, ".csv:1: '46.9' is a number, but not that of a vertex"},
    {"from-zero.konect", TW_ERR_FORMAT,
     ".konect:2: vertex 0, but the first line is that of a KONECT list"},
    {"id-or-weight.csv", TW_ERR_FORMAT, ".csv: which column is the weight?"},
    {"no-header.graph", TW_ERR_FORMAT, "without its first line"},
    {"strange-format.graph", TW_ERR_FORMAT, ".graph:1: 7 is not a METIS format"},
    {"cut-short.graph", TW_ERR_FORMAT, "ends after the lines of 1 of 3 vertices"},
    {"goes-on.graph", TW_ERR_FORMAT, ".graph:4: the file goes on"},
    {"edge-count.graph", TW_ERR_FORMAT, "should have 4 entries, but they have 2"},
    {"one-sided.graph", TW_ERR_FORMAT, "not listed from its other end"},
    {"two-weights.graph", TW_ERR_FORMAT, "with the same weight"},
    {"vertex-out-of-range.graph", TW_ERR_FORMAT, ".graph:2: vertex 3 is outside 1 ... 2"},
    {"cut-header.npy", TW_ERR_FORMAT, "npy header"},
    {"cut-short.npy", TW_ERR_FORMAT, "but 63 bytes follow it"},
    {"goes-on.npy", TW_ERR_FORMAT, "but 65 bytes follow it"},
    {"big-endian.npy", TW_ERR_FORMAT, "big-endian"},
    {"column-order.npy", TW_ERR_FORMAT, "column order"},
    {"not-square.npy", TW_ERR_FORMAT, "2 x 8 is not square"},
    {"one-dimension.npy", TW_ERR_FORMAT, "1 dimension;"},
    {"complex.npy", TW_ERR_FORMAT, "'c8' are not weights"},
    {"nan.npy", TW_ERR_FORMAT, "row 0, column 1 is NaN"},
    {"wide.npy", TW_ERR_RANGE, "row 0, column 1 is -9007199254740993"},
    {"huge-shape.npy", TW_ERR_FORMAT, "but 64 bytes follow it"},
};
enum { CASES = sizeof cases / sizeof *cases };

static void every_mangled_file_ends_in_its_sentence(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    for (int k = 0; k < CASES; k++) {
        char path[512];
        snprintf(path, sizeof path, TW_TEST_DATA "/mangled/%s", cases[k].file);
        tw_graph *graph = (tw_graph *)&path; /* poisoned: must become NULL */
        tw_status status = tw_graph_read(ctx, &graph, path, NULL);
        if (status != cases[k].status || strstr(tw_last_error(ctx), cases[k].words) == NULL) {
            fail_msg("%s: %s: %s", cases[k].file, tw_status_name(status), tw_last_error(ctx));
        }
        assert_null(graph);
    }
    close_context(ctx);
}

static void every_file_of_the_folder_is_listed_here(void **state)
{
    (void)state;
    DIR *folder = opendir(TW_TEST_DATA "/mangled");
    assert_non_null(folder);
    struct dirent *entry;
    int files = 0;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.') {
            bool listed = false;
            for (int k = 0; k < CASES; k++) {
                listed |= strcmp(cases[k].file, entry->d_name) == 0;
            }
            if (!listed) {
                fail_msg("%s has no expected sentence", entry->d_name);
            }
            files++;
        }
    }
    closedir(folder);
    assert_int_equal(files, CASES);
}

static void what_is_not_a_file_is_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    assert_fails(ctx, TW_ERR_IO, "directory", tw_graph_read(ctx, &graph, TW_TEST_DATA, NULL));
    assert_fails(ctx, TW_ERR_IO, "cannot read '" TW_TEST_DATA "/none.gr'",
                 tw_graph_read(ctx, &graph, TW_TEST_DATA "/none.gr", NULL));
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mangled_file_ends_in_its_sentence),
        cmocka_unit_test(every_file_of_the_folder_is_listed_here),
        cmocka_unit_test(what_is_not_a_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
