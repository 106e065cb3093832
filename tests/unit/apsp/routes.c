/* Routes: paths and predecessors, from right matrices and from wrong ones. */
#include "unit/small_graphs.h"

#include "apsp/shared/distance.h"
#include "apsp/shared/routes.h"
#include "base/matrix.h"
#include "base/random.h"

#include <float.h>

#define POISON 77777

/* The lightest arc, +inf if there is none. */
static double arc(const tw_graph *graph, int32_t u, int32_t v)
{
    double least = (double)INFINITY;
    for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
        if (graph->targets[a] == v) {
            least = fmin(least, twi_graph_weight(graph, a));
        }
    }
    return least;
}

static bool near(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-4 * (1 + fabs(a));
}

static tw_apsp_path_info route(const tw_apsp_path *path)
{
    tw_apsp_path_info info = TW_APSP_PATH_INFO_INIT;
    assert_int_equal(tw_apsp_path_describe(path, &info), TW_OK);
    return info;
}

/* A path of arcs that exist, whose sum is the distance. */
static void assert_path(const tw_graph *graph, const tw_apsp_path *handle, int32_t from, int32_t to,
                        double distance)
{
    const tw_apsp_path_info found = route(handle);
    const tw_apsp_path_info *path = &found;
    assert_true(near(path->distance, distance));
    if (isinf(distance)) {
        assert_null(path->vertices);
        assert_int_equal(path->count, 0);
        return;
    }
    double sum = 0;
    assert_int_equal(path->vertices[0], from);
    assert_int_equal(path->vertices[path->count - 1], to);
    for (int64_t i = 1; i < path->count; i++) {
        sum += arc(graph, path->vertices[i - 1], path->vertices[i]);
    }
    assert_true(near(sum, distance));
    assert_true(path->count <= graph->n);
}

static void every_pair_of_every_kind_has_its_path(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const int64_t sizes[] = {1, 2, 3, 17, 40};
    for (int kind = 0; kind < SMALL_KINDS; kind++) {
        for (int s = 0; s < 5; s++) {
            const int64_t n = sizes[s];
            tw_graph *graph = small_graph(ctx, kind, n, 5);
            tw_type type = kind == 4 ? TW_F32 : graph->integral ? TW_I32 : TW_F64;
            tw_matrix d = true_distances(ctx, graph, type);
            for (int32_t from = 0; from<n; from += n> 3 ? 5 : 1) {
                for (int32_t to = 0; to < n; to++) {
                    tw_apsp_path *path = NULL;
                    double expected = twi_distance(twi_matrix_row(&d, from), type, to);
                    assert_ok(ctx, tw_apsp_path_create(ctx, &path, graph, &d, from, to));
                    assert_path(graph, path, from, to, expected);
                    tw_apsp_path_destroy(path);
                    assert_ok(ctx, tw_apsp_path_create(ctx, &path, graph, NULL, from, to));
                    assert_path(graph, path, from, to, expected);
                    tw_apsp_path_destroy(path);
                }
            }
            free(d.data);
            tw_graph_destroy(graph);
        }
    }
    close_context(ctx);
}

static void cycles_of_weight_zero_do_not_trap_the_walk(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double arcs[][3] = {{0, 1, 0}, {1, 2, 0}, {2, 0, 0}, {1, 0, 0}, {2, 3, 4}, {0, 3, 9}};
    tw_graph *graph = graph_of(ctx, 4, 6, arcs, TW_I32);
    tw_matrix d = true_distances(ctx, graph, TW_I32);
    tw_apsp_path *path = NULL;
    assert_ok(ctx, tw_apsp_path_create(ctx, &path, graph, &d, 0, 3));
    assert_int_equal(route(path).count, 4);
    assert_memory_equal(route(path).vertices, ((int32_t[]){0, 1, 2, 3}), 16);
    tw_apsp_path_destroy(path);
    assert_ok(ctx, tw_apsp_path_create(ctx, &path, graph, &d, 2, 2));
    assert_int_equal(route(path).count, 1);
    assert_true(route(path).distance == 0);
    tw_apsp_path_destroy(path);
    free(d.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_matrix_that_contradicts_the_graph_is_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double arcs[][3] = {{0, 1, 3}, {1, 2, 4}, {0, 2, 9}, {2, 3, 1}};
    static const struct {
        int32_t at, value;
        const char *words;
    } wrongs[] = {
        {0, 1, "it gives 1 from 0 to 0"},
        {2, 6, "it gives 8 from 0 to 3, but through 2 it is 7"},
        {3, 6, "no path of the graph has that length"},
        {2, 9, "it gives 9 from 0 to 2, but through 1 it is 7"},
        {2, TW_APSP_INF_I32, "cutoff"},
        {2, -5, "through 2 it is -4"},
        {4, 0, "no path of the graph has that length"},
    };
    tw_graph *graph = graph_of(ctx, 5, 4, arcs, TW_I32);
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        tw_matrix d = true_distances(ctx, graph, TW_I32);
        tw_apsp_path *path = NULL;
        ((int32_t *)d.data)[wrongs[i].at] = wrongs[i].value;
        assert_fails(ctx, TW_ERR_VERIFY, wrongs[i].words,
                     tw_apsp_path_create(ctx, &path, graph, &d, 0, wrongs[i].at));
        assert_null(path);
        free(d.data);
    }
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_float_matrix_may_differ_by_rounding_and_no_more(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double arcs[][3] = {{0, 1, 0.1}, {1, 2, 0.2}, {0, 2, 0.9}};
    tw_graph *graph = graph_of(ctx, 3, 3, arcs, TW_F64);
    tw_matrix d = true_distances(ctx, graph, TW_F64);
    double *entry = &((double *)d.data)[2];
    tw_apsp_path *path = NULL;
    *entry *= 1 + 4e-16;
    assert_ok(ctx, tw_apsp_path_create(ctx, &path, graph, &d, 0, 2));
    assert_int_equal(route(path).count, 3);
    tw_apsp_path_destroy(path);
    *entry *= 1 + 1e-12;
    assert_fails(ctx, TW_ERR_VERIFY, "the shortest path has length 0.3",
                 tw_apsp_path_create(ctx, &path, graph, &d, 0, 2));
    *entry = (double)INFINITY;
    assert_fails(ctx, TW_ERR_VERIFY, "it gives inf from 0 to 2",
                 tw_apsp_path_create(ctx, &path, graph, &d, 0, 2));
    *entry = (double)NAN;
    assert_fails(ctx, TW_ERR_VERIFY, "from 0 to 2",
                 tw_apsp_path_create(ctx, &path, graph, &d, 0, 2));
    free(d.data);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void vertices_and_shapes_are_checked(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double arcs[][3] = {{0, 1, 3}};
    int32_t data[9] = {0};
    tw_graph *graph = graph_of(ctx, 2, 1, arcs, TW_I32);
    tw_matrix d = {data, 3, 3, 3, TW_I32};
    tw_apsp_path *path = NULL;
    assert_fails(ctx, TW_ERR_ARGUMENT, "0 to 1",
                 tw_apsp_path_create(ctx, &path, graph, NULL, 0, 2));
    assert_fails(ctx, TW_ERR_ARGUMENT, "0 to 1",
                 tw_apsp_path_create(ctx, &path, graph, NULL, -1, 0));
    assert_fails(ctx, TW_ERR_VERIFY, "3 x 3 but the graph has 2",
                 tw_apsp_path_create(ctx, &path, graph, &d, 0, 1));
    d.type = TW_AUTO;
    assert_fails(ctx, TW_ERR_ARGUMENT, "type", tw_apsp_path_create(ctx, &path, graph, &d, 0, 1));
    tw_graph_destroy(graph);
    graph = graph_of(ctx, 0, 0, NULL, TW_I32);
    assert_fails(ctx, TW_ERR_ARGUMENT, "the graph has no vertices",
                 tw_apsp_path_create(ctx, &path, graph, NULL, 0, 0));
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void only_a_negative_cycle_on_the_way_is_reported(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double arcs[][3] = {{0, 1, 3}, {2, 3, 1}, {3, 2, -2}};
    tw_graph *graph = graph_of(ctx, 4, 3, arcs, TW_I32);
    tw_apsp_path *path = NULL;
    assert_ok(ctx, tw_apsp_path_create(ctx, &path, graph, NULL, 0, 1));
    assert_true(route(path).distance == 3 && route(path).count == 2);
    tw_apsp_path_destroy(path);
    assert_ok(ctx, tw_apsp_path_create(ctx, &path, graph, NULL, 0, 3));
    assert_int_equal(route(path).count, 0);
    assert_null(route(path).vertices);
    assert_true(isinf(route(path).distance));
    tw_apsp_path_destroy(path);
    assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, "weight -1",
                 tw_apsp_path_create(ctx, &path, graph, NULL, 3, 3));
    tw_graph_destroy(graph);
    /* Reached, but it leads nowhere; and leading there, but not reached. */
    const double aside[][3] = {{0, 1, 3}, {0, 2, 1},  {2, 3, 1}, {3, 2, -2},
                               {4, 5, 1}, {5, 4, -2}, {5, 1, 0}};
    graph = graph_of(ctx, 6, 7, aside, TW_I32);
    assert_ok(ctx, tw_apsp_path_create(ctx, &path, graph, NULL, 0, 1));
    assert_true(route(path).distance == 3);
    tw_apsp_path_destroy(path);
    assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, "weight -1",
                 tw_apsp_path_create(ctx, &path, graph, NULL, 0, 2));
    assert_fails(ctx, TW_ERR_NEGATIVE_CYCLE, "weight -1",
                 tw_apsp_path_create(ctx, &path, graph, NULL, 4, 1));
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Following predecessors from any vertex leads to the source along arcs that add up. */
static void assert_tree(const tw_graph *graph, int32_t source, const void *row, tw_type type,
                        const int32_t *previous)
{
    for (int32_t v = 0; v < graph->n; v++) {
        double distance = twi_distance(row, type, v);
        double sum = 0;
        int64_t steps = 0;
        assert_true(previous[v] != POISON);
        if (v == source || isinf(distance)) {
            assert_int_equal(previous[v], TW_APSP_NO_VERTEX);
            continue;
        }
        for (int32_t at = v; at != source; at = previous[at]) {
            assert_true(previous[at] >= 0 && previous[at] < graph->n);
            sum += arc(graph, previous[at], at);
            assert_true(++steps < graph->n);
        }
        assert_true(near(sum, distance));
    }
}

static void predecessors_are_a_tree_for_every_kind_and_type(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const tw_type types[] = {TW_U16, TW_I32, TW_F32, TW_F64};
    const int64_t sizes[] = {1, 2, 9, 64};
    for (int kind = 0; kind < SMALL_KINDS; kind++) {
        for (int t = kind < 4 ? 0 : kind == 6 ? 1 : kind == 4 ? 2 : 3; t < 4; t++) {
            for (int s = 0; s < 4; s++) {
                const int64_t n = sizes[s];
                tw_graph *graph = small_graph(ctx, kind, n, 9);
                tw_matrix d = true_distances(ctx, graph, types[t]);
                int32_t *previous = malloc((size_t)n * sizeof *previous);
                void *scratch = malloc(twi_predecessors_scratch(graph));
                for (int32_t source = 0; source < n; source++) {
                    for (int64_t v = 0; v < n; v++) {
                        previous[v] = POISON;
                    }
                    const void *row = twi_matrix_row(&d, source);
                    assert_true(
                        twi_predecessors(ctx, graph, source, row, types[t], previous, scratch));
                    assert_tree(graph, source, row, types[t], previous);
                }
                free(scratch);
                free(previous);
                free(d.data);
                tw_graph_destroy(graph);
            }
        }
    }
    close_context(ctx);
}

/* An arc u -> v weighs p[v] - p[u], and now and then more: nearly every cycle has weight zero, and
 * rounding puts that above zero or below. */
static tw_graph *graph_of_zero_cycles(tw_context *ctx, int64_t n, double scale, uint64_t seed)
{
    enum { MOST = 512 };
    int32_t source[MOST];
    int32_t target[MOST];
    double weight[MOST];
    int64_t count = 0;
    tw_graph *graph = NULL;
    for (int64_t i = 0; i < 3 * n; i++) {
        const uint64_t draw = twi_random_at(seed, (uint64_t)i);
        const int32_t u = (int32_t)(draw % (uint64_t)n);
        const int32_t v = (int32_t)(draw / 1000 % (uint64_t)n);
        const double pu = (double)(twi_random_at(seed + 1, (uint64_t)u) % 1000003);
        const double pv = (double)(twi_random_at(seed + 1, (uint64_t)v) % 1000003);
        const double more = draw / 1000000 % 5 == 0 ? (double)(draw / 10000000 % 1000) : 0;
        if (u != v) {
            source[count] = u;
            target[count] = v;
            weight[count++] = (pv - pu + more) * scale;
        }
    }
    tw_edges edges = {sizeof edges, count, source, target, weight, TW_F64, TW_I32};
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, n, &edges, 0));
    return graph;
}

/* Every row is a tree whose sums are the distances, within the bound of twi_textbook_bounds. */
static void assert_rounded_tree(const tw_graph *graph, int32_t source, const double *row,
                                const int32_t *previous)
{
    const double n = (double)graph->n;
    const double size = n * fmax(fabs(graph->min_weight), graph->max_weight);
    for (int32_t v = 0; v < graph->n; v++) {
        double sum = 0;
        int64_t steps = 0;
        if (v == source || isinf(row[v])) {
            assert_int_equal(previous[v], TW_APSP_NO_VERTEX);
            continue;
        }
        for (int32_t at = v; at != source; at = previous[at]) {
            assert_true(previous[at] >= 0 && previous[at] < graph->n);
            sum += arc(graph, previous[at], at);
            assert_true(++steps < graph->n);
        }
        assert_true(fabs(sum - row[v]) <= 4 * (n + 2) * DBL_EPSILON * size);
    }
}

static void rounded_cycles_of_weight_zero_leave_a_tree(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double scales[] = {1, 0.01, 0.7, 1e-9 / 3};
    for (uint64_t seed = 1; seed <= 400; seed += small_sizes_only() ? 7 : 1) {
        const int64_t n = 2 + (int64_t)(seed % 60);
        tw_graph *graph = graph_of_zero_cycles(ctx, n, scales[seed % 4], seed);
        tw_matrix d = true_distances(ctx, graph, TW_F64);
        int32_t *previous = malloc((size_t)n * sizeof *previous);
        void *scratch = malloc(twi_predecessors_scratch(graph));
        for (int32_t source = 0; source < n; source++) {
            const double *row = twi_matrix_row(&d, source);
            tw_apsp_path *path = NULL;
            if (!twi_predecessors(ctx, graph, source, row, TW_F64, previous, scratch)) {
                fail_msg("seed %d: no tree from vertex %d", (int)seed, (int)source);
            }
            assert_rounded_tree(graph, source, row, previous);
            assert_ok(ctx, tw_apsp_path_create(ctx, &path, graph, &d, source, (int32_t)n - 1));
            tw_apsp_path_destroy(path);
        }
        free(scratch);
        free(previous);
        free(d.data);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

static void predecessors_of_an_impossible_row_are_refused(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double arcs[][3] = {{0, 1, 3}, {1, 2, 4.5}};
    for (int real = 0; real < 2; real++) {
        tw_graph *graph = graph_of(ctx, 3, 2, arcs, real ? TW_F64 : TW_I32);
        double scratch[16];
        int32_t previous[3];
        double right[3] = {0, 3, real ? 7.5 : 7};
        double short_of[3] = {0, 3, 6};
        double unreached[3] = {0, (double)INFINITY, 7};
        double self[3] = {1, 3, 7};
        assert_true(twi_predecessors_scratch(graph) <= sizeof scratch);
        assert_true(twi_predecessors(ctx, graph, 0, right, TW_F64, previous, scratch));
        assert_false(twi_predecessors(ctx, graph, 0, short_of, TW_F64, previous, scratch));
        assert_false(twi_predecessors(ctx, graph, 0, unreached, TW_F64, previous, scratch));
        assert_false(twi_predecessors(ctx, graph, 0, self, TW_F64, previous, scratch));
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* The path to 2 leads through 1, which is beyond the cutoff; 3 is beyond it and leads nowhere. */
static void negative_weights_lead_back_below_a_cutoff(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    const double arcs[][3] = {{0, 1, 9}, {1, 2, -8}, {0, 2, 5}, {0, 3, 7}};
    const int32_t row[4] = {0, TW_APSP_INF_I32, 1, TW_APSP_INF_I32};
    const int32_t expected[4] = {TW_APSP_NO_VERTEX, 0, 1, TW_APSP_NO_VERTEX};
    tw_graph *graph = graph_of(ctx, 4, 4, arcs, TW_I32);
    double scratch[16];
    int32_t previous[4] = {POISON, POISON, POISON, POISON};
    assert_true(twi_predecessors_scratch(graph) <= sizeof scratch);
    assert_true(twi_predecessors(ctx, graph, 0, row, TW_I32, previous, scratch));
    assert_memory_equal(previous, expected, sizeof expected);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void no_memory_at_any_point_gives_no_path(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = small_graph(ctx, 6, 12, 3);
    tw_status status = TW_ERR_MEMORY;
    tw_apsp_path *path = NULL;
    for (int64_t k = 1; status != TW_OK; k++) {
        twi_meter_fail_at(ctx->meter, k);
        status = tw_apsp_path_create(ctx, &path, graph, NULL, 0, 0);
        assert_true(status == TW_OK || status == TW_ERR_MEMORY);
    }
    twi_meter_fail_at(ctx->meter, 0);
    tw_apsp_path_destroy(path);
    tw_apsp_path_destroy(NULL);
    tw_graph_destroy(graph);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_every_kind_has_its_path),
        cmocka_unit_test(cycles_of_weight_zero_do_not_trap_the_walk),
        cmocka_unit_test(a_matrix_that_contradicts_the_graph_is_refused),
        cmocka_unit_test(a_float_matrix_may_differ_by_rounding_and_no_more),
        cmocka_unit_test(vertices_and_shapes_are_checked),
        cmocka_unit_test(only_a_negative_cycle_on_the_way_is_reported),
        cmocka_unit_test(predecessors_are_a_tree_for_every_kind_and_type),
        cmocka_unit_test(rounded_cycles_of_weight_zero_leave_a_tree),
        cmocka_unit_test(predecessors_of_an_impossible_row_are_refused),
        cmocka_unit_test(negative_weights_lead_back_below_a_cutoff),
        cmocka_unit_test(no_memory_at_any_point_gives_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
