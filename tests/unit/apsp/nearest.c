/* The nearest and farthest vertices of each row: against sorting whole rows, for every type, many
 * ties, every way of cutting rows into blocks, selections, and failures. */
#include "unit/elements.h"
#include "unit/scratch_folder.h"

#include "apsp/shared/distance.h"
#include "base/context.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 77 };

static const tw_type types[] = {TW_U8, TW_U16, TW_I16, TW_I32, TW_F32, TW_F64};
enum { TYPES = sizeof types / sizeof *types };

/* Values of `values` kinds, so that ties abound; one in `holes` has no path (0: none). */
static tw_matrix random_matrix(int64_t rows, int64_t cols, tw_type type, int values, int holes)
{
    const bool floats = type == TW_F32 || type == TW_F64;
    const bool negative = floats || type == TW_I16 || type == TW_I32;
    tw_matrix m = {malloc((size_t)(rows * (cols + 3) + 1) * 8), rows, cols, cols + 3, type};
    memset(m.data, 0x5a, (size_t)(rows * (cols + 3) + 1) * 8);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            uint64_t random = twi_random_at(SEED + (uint64_t)values, (uint64_t)(i * cols + j));
            double value = (double)(random / 64 % (uint64_t)values) - (negative ? values / 3 : 0);
            bool hole = holes > 0 && random % (uint64_t)holes == 0;
            put(&m, i, j, hole ? tw_apsp_infinity(type) : floats ? value / 8 : value);
        }
    }
    return m;
}

static void feed(tw_context *ctx, tw_apsp_nearest *nearest, const tw_matrix *m, int64_t block)
{
    tw_sink s = TW_SINK_INIT;
    tw_shape shape = {m->rows, m->cols, m->type};
    assert_int_equal(tw_apsp_nearest_sink(nearest, &s), TW_OK);
    assert_ok(ctx, s.begin(s.self, ctx, &shape));
    for (int64_t i = 0; i < m->rows; i += block) {
        int64_t count = m->rows - i < block ? m->rows - i : block;
        assert_ok(ctx, s.rows(s.self, ctx, i, count, twi_matrix_row(m, i), m->stride));
    }
    assert_ok(ctx, s.end(s.self, ctx));
}

typedef struct entry {
    double value;
    int64_t column;
} entry;

static int by_distance(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->column > y->column) - (x->column < y->column);
}

static int by_distance_down(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value) - (x->value > y->value)
                                : (x->column > y->column) - (x->column < y->column);
}

/* A row has no more vertices to keep than columns. */
static int64_t kept(const tw_matrix *m, const tw_apsp_nearest_options *o)
{
    const int64_t most = m->cols > 1 ? m->cols : 1;
    return o->count < most ? o->count : most;
}

/* A row again: all entries sorted. */
static void assert_row(const tw_apsp_nearest *nearest, const tw_matrix *m, int64_t row,
                       const tw_apsp_nearest_options *o)
{
    entry *all = malloc((size_t)(m->cols + 1) * sizeof *all);
    int64_t count = 0;
    const int64_t vertex = o->sources != NULL ? o->sources[row] : row;
    for (int64_t j = 0; j < m->cols; j++) {
        double value = twi_distance(twi_matrix_row(m, row), m->type, j);
        if ((o->targets != NULL ? o->targets[j] : j) != vertex && !isinf(value)) {
            all[count++] = (entry){value, j};
        }
    }
    qsort(all, (size_t)count, sizeof *all, o->farthest ? by_distance_down : by_distance);
    for (int64_t i = 0; i < kept(m, o); i++) {
        const int64_t at = row * kept(m, o) + i;
        const int32_t found = tw_apsp_nearest_vertices(nearest)[at];
        const double distance = tw_apsp_nearest_distances(nearest)[at];
        if (i >= count) {
            assert_true(found == TW_APSP_NO_VERTEX && isinf(distance) && distance > 0);
        } else {
            const int64_t column = all[i].column;
            assert_true(found == (o->targets != NULL ? o->targets[column] : column));
            assert_true(distance == all[i].value);
        }
    }
    free(all);
}

static void check(tw_context *ctx, const tw_matrix *m, const tw_apsp_nearest_options *o,
                  int64_t block)
{
    tw_apsp_nearest *nearest = NULL;
    tw_apsp_nearest_info info = TW_APSP_NEAREST_INFO_INIT;
    assert_ok(ctx, tw_apsp_nearest_create(ctx, &nearest, o));
    assert_null(tw_apsp_nearest_vertices(nearest));
    feed(ctx, nearest, m, block);
    assert_ok(ctx, tw_apsp_nearest_describe(nearest, &info));
    assert_true(info.rows == m->rows && info.cols == m->cols && info.type == m->type);
    assert_true(info.count == kept(m, o) && info.farthest == (o->farthest != 0));
    for (int64_t i = 0; i < m->rows; i++) {
        assert_row(nearest, m, i, o);
    }
    tw_apsp_nearest_destroy(nearest);
}

static void every_row_has_its_best_in_order(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 3, 255, 256, 257, 258, 700};
    static const int32_t counts[] = {1, 2, 3, 10, 300};
    for (int t = 0; t < TYPES * 9; t++) {
        const int64_t n = sizes[t / TYPES];
        tw_context *ctx = open_context();
        assert_ok(ctx, tw_set_threads(ctx, 1 + t % 3));
        for (int way = 0; way < 6; way++) {
            if (small_sizes_only() && (t + way) % 3 != 0) {
                continue;
            }
            tw_matrix m = random_matrix(n > 40 ? 40 : n, n, types[t % TYPES], way < 3 ? 5 : 120,
                                        way % 3 == 0   ? 0
                                        : way % 3 == 1 ? 4
                                                       : 1);
            for (int c = 0; c < 5; c++) {
                tw_apsp_nearest_options o = TW_APSP_NEAREST_OPTIONS_INIT;
                o.count = counts[c];
                o.farthest = way % 2;
                check(ctx, &m, &o, 1 + way * 5);
            }
            free(m.data);
        }
        close_context(ctx);
    }
}

static void selections_are_named_and_left_out_by_vertex(void **state)
{
    (void)state;
    static const int32_t sources[] = {4, 4, 0, 9};
    static const int32_t targets[] = {9, 4, 7, 4, 0, 1, 9};
    tw_context *ctx = open_context();
    for (int t = 0; t < TYPES; t++) {
        tw_matrix m = random_matrix(4, 7, types[t], 3, 5);
        for (int way = 0; way < 8; way++) {
            tw_apsp_nearest_options o = TW_APSP_NEAREST_OPTIONS_INIT;
            o.count = 1 + way;
            o.farthest = way & 1;
            o.sources = way & 2 ? sources : NULL;
            o.targets = way & 4 ? targets : NULL;
            check(ctx, &m, &o, 3);
        }
        free(m.data);
    }
    close_context(ctx);
}

static void a_plan_run_feeds_it_whatever_the_method(void **state)
{
    (void)state;
    static const tw_apsp_method methods[] = {TW_APSP_METHOD_CLOSURE, TW_APSP_METHOD_DIJKSTRA,
                                             TW_APSP_METHOD_SWEEP, TW_APSP_METHOD_REFERENCE};
    tw_context *ctx = open_context();
    tw_graph_generate_options how = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    tw_apsp_nearest *first = NULL;
    how.kind = "grid";
    how.rows = 13;
    how.cols = 11;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &how));
    for (int i = 0; i < 4; i++) {
        tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
        tw_apsp_nearest_options o = TW_APSP_NEAREST_OPTIONS_INIT;
        tw_apsp_plan *plan = NULL;
        tw_apsp_nearest *nearest = NULL;
        tw_sink sink = TW_SINK_INIT;
        opts.method = methods[i];
        assert_ok(ctx, tw_apsp_nearest_create(ctx, &nearest, &o));
        assert_ok(ctx, tw_apsp_nearest_sink(nearest, &sink));
        assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &opts));
        assert_ok(ctx, tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL));
        tw_apsp_plan_destroy(plan);
        tw_sink_destroy(&sink);
        if (first == NULL) {
            first = nearest;
            continue;
        }
        assert_memory_equal(tw_apsp_nearest_vertices(nearest), tw_apsp_nearest_vertices(first),
                            13 * 11 * 10 * sizeof(int32_t));
        assert_memory_equal(tw_apsp_nearest_distances(nearest), tw_apsp_nearest_distances(first),
                            13 * 11 * 10 * sizeof(double));
        tw_apsp_nearest_destroy(nearest);
    }
    tw_apsp_nearest_destroy(first);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_file_has_a_line_for_each(void **state)
{
    (void)state;
    static const float values[] = {0, 0.1F, INFINITY, 2.5F, 0, 16777216};
    static const char text[] = "source,target,distance\n0,1,0.1\n1,0,2.5\n1,2,16777216\n";
    tw_context *ctx = open_context();
    tw_matrix m = {(void *)values, 2, 3, 3, TW_F32};
    tw_apsp_nearest_options o = TW_APSP_NEAREST_OPTIONS_INIT;
    tw_apsp_nearest *nearest = NULL;
    const char *path = in_scratch("near.csv");
    o.count = 2;
    assert_ok(ctx, tw_apsp_nearest_create(ctx, &nearest, &o));
    assert_int_equal(tw_apsp_nearest_write(ctx, nearest, NULL, path), TW_ERR_ARGUMENT);
    feed(ctx, nearest, &m, 2);
    assert_int_equal(tw_apsp_nearest_write(ctx, nearest, NULL, "near.npy"), TW_ERR_ARGUMENT);
    assert_ok(ctx, tw_apsp_nearest_write(ctx, nearest, NULL, path));
    assert_file("near.csv", text, sizeof text - 1);
    tw_apsp_nearest_destroy(nearest);
    close_context(ctx);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_apsp_nearest_options o = TW_APSP_NEAREST_OPTIONS_INIT;
    tw_apsp_nearest *nearest = NULL;
    tw_apsp_nearest_info info = TW_APSP_NEAREST_INFO_INIT;
    tw_sink sink = TW_SINK_INIT;
    tw_shape huge = {INT64_MAX / 2, 3, TW_I32}, wide = {1, (int64_t)1 << 40, TW_I32};
    o.count = 0;
    assert_int_equal(tw_apsp_nearest_create(ctx, &nearest, &o), TW_ERR_ARGUMENT);
    assert_null(nearest);
    o.count = INT32_MAX;
    assert_int_equal(tw_apsp_nearest_create(ctx, NULL, &o), TW_ERR_ARGUMENT);
    assert_ok(ctx, tw_apsp_nearest_create(ctx, &nearest, &o));
    assert_int_equal(tw_apsp_nearest_sink(NULL, &sink), TW_ERR_ARGUMENT);
    assert_int_equal(tw_apsp_nearest_sink(nearest, NULL), TW_ERR_ARGUMENT);
    assert_int_equal(tw_apsp_nearest_describe(NULL, &info), TW_ERR_ARGUMENT);
    assert_int_equal(tw_apsp_nearest_write(ctx, NULL, NULL, "a.csv"), TW_ERR_ARGUMENT);
    assert_int_equal(tw_apsp_nearest_write(ctx, nearest, NULL, NULL), TW_ERR_ARGUMENT);
    assert_null(tw_apsp_nearest_vertices(NULL));
    assert_null(tw_apsp_nearest_distances(NULL));
    tw_apsp_nearest_destroy(NULL);
    assert_ok(ctx, tw_apsp_nearest_sink(nearest, &sink));
    assert_int_equal(sink.begin(sink.self, ctx, &huge), TW_ERR_MEMORY);
    assert_int_equal(sink.begin(sink.self, ctx, &wide), TW_ERR_ARGUMENT);
    tw_apsp_nearest_destroy(nearest);
    close_context(ctx);
}

/* Where nobody sets a limit the system gives more than it has, and takes the process later. */
static void a_list_that_does_not_fit_is_refused_as_a_whole(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_apsp_nearest_options o = TW_APSP_NEAREST_OPTIONS_INIT;
    tw_apsp_nearest *nearest = NULL;
    tw_sink sink = TW_SINK_INIT;
    const tw_shape shape = {1000, 1000, TW_I32};
    o.count = 1000;
    assert_ok(ctx, tw_apsp_nearest_create(ctx, &nearest, &o));
    assert_ok(ctx, tw_apsp_nearest_sink(nearest, &sink));
    assert_ok(ctx, tw_set_memory(ctx, 10000000));
    assert_fails(ctx, TW_ERR_MEMORY, "the list of nearest vertices needs 12 MB of memory",
                 sink.begin(sink.self, ctx, &shape));
    assert_ok(ctx, tw_set_memory(ctx, 13000000));
    assert_ok(ctx, sink.begin(sink.self, ctx, &shape));
    sink.abort(sink.self, ctx);
    tw_apsp_nearest_destroy(nearest);
    close_context(ctx);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_matrix m = random_matrix(20, 20, TW_I32, 9, 3);
    const int64_t blocks = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_MEMORY;
    int64_t at = 1;
    for (; status != TW_OK; at++) {
        tw_apsp_nearest *nearest = NULL;
        tw_sink sink = TW_SINK_INIT;
        twi_meter_fail_at(ctx->meter, at);
        status = tw_apsp_nearest_create(ctx, &nearest, NULL);
        if (status == TW_OK) {
            status = tw_apsp_nearest_sink(nearest, &sink);
        }
        if (status == TW_OK) {
            status = tw_feed(ctx, &m, &sink, 1);
        }
        if (status == TW_OK) {
            status = tw_apsp_nearest_write(ctx, nearest, NULL, in_scratch("near.csv"));
        }
        twi_meter_fail_at(ctx->meter, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
        assert_int_equal(scratch_count(), status == TW_OK ? 1 : 0);
        tw_sink_destroy(&sink);
        tw_apsp_nearest_destroy(nearest);
        assert_int_equal(twi_meter_blocks(ctx->meter), blocks);
    }
    assert_true(at > 4);
    assert_int_equal(unlink(in_scratch("near.csv")), 0);
    free(m.data);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_its_best_in_order),
        cmocka_unit_test(selections_are_named_and_left_out_by_vertex),
        cmocka_unit_test(a_plan_run_feeds_it_whatever_the_method),
        cmocka_unit_test_setup_teardown(a_file_has_a_line_for_each, make_scratch, remove_scratch),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(a_list_that_does_not_fit_is_refused_as_a_whole),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, make_scratch, remove_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
