/*
 * What a plan counts on: a run takes the steps that were counted for it, and from given rates the
 * seconds are near what was measured. Nothing here looks at a clock.
 */
#include "harness.h"

#include "apsp/plan/estimate.h"
#include "apsp/plan/filled.h"
#include "apsp/plan/search.h"
#include "apsp/plan/sweep.h"
#include "apsp/search/sample.h"
#include "apsp/search/searcher.h"
#include "apsp/sweep/tree.h"

#include <math.h>
#include <string.h>

static tw_graph *generate(tw_context *ctx, const char *kind, int64_t n, double degree, double high)
{
    tw_graph_generate_options options = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    options.kind = kind;
    options.vertices = n;
    options.min_weight = 1;
    options.max_weight = high;
    options.weight_type = TW_I32;
    options.degree = degree;
    options.density = strcmp(kind, "dense") == 0 ? 0.3 : 1; /* of a grid: all links */
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &options));
    return graph;
}

static tw_apsp_plan *plan_for(tw_context *ctx, const tw_graph *graph, tw_apsp_method method,
                              tw_type work_type, int32_t summary_only)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    options.method = method;
    options.work_type = work_type;
    options.summary_only = summary_only;
    options.order_cache = 0;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &options));
    return plan;
}

static double steps_of_run(tw_context *ctx, tw_apsp_plan *plan)
{
    tw_apsp_report report = TW_APSP_REPORT_INIT;
    assert_ok(ctx, tw_apsp_plan_run(ctx, plan, NULL, 0, NULL, &report));
    return report.relaxations;
}

static void assert_within(double factor, double estimate, double truth, const char *what)
{
    if (!(estimate <= factor * truth && truth <= factor * estimate)) {
        fail_msg("%s: %g was estimated, %g is true", what, estimate, truth);
    }
}

/* Rows of a core that a batch has nothing in are left out, as far as arcs lead to them: from most
 * sources of a network some hundred rows are met, along directed arcs fewer, on a grid nearly all.
 * More than the steps that were counted are done where a strip has fewer sources than columns. */
static void a_sweep_takes_the_steps_that_were_counted(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        double degree;
        int64_t n;
    } graphs[] = {{"preferential", 3, 6000},
                  {"sparse", 5, 2500},
                  {"sparse", 2, 2500},
                  {"complete", 4, 1200},
                  {"grid", 4, 2500}};
    const int64_t most = emulated_sizes_only() ? 600 : small_sizes_only() ? 1200 : INT64_MAX;
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 2));
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        const int64_t n = graphs[i].n < most ? graphs[i].n : most;
        tw_graph *graph = generate(ctx, graphs[i].kind, n, graphs[i].degree, 1000);
        tw_apsp_plan *plan = plan_for(ctx, graph, TW_APSP_METHOD_SWEEP, TW_I32, 0);
        const twi_tree *tree = plan->tree;
        const double columns = (double)n * (tree->down + tree->up - tree->spared);
        assert_true(tree->spared >= 0 && tree->spared <= tree->up);
        assert_within(1.5, columns, steps_of_run(ctx, plan) - tree->factor, graphs[i].kind);
        tw_apsp_plan_destroy(plan);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* Sources that the plan's instruction set searches from at once. */
static double lanes_of(tw_context *ctx, const tw_apsp_plan *plan)
{
    twi_searcher *searcher = NULL;
    assert_ok(ctx, twi_searcher_create(ctx, &searcher, plan, TW_APSP_METHOD_DIJKSTRA));
    const double lanes = (double)twi_searcher_pass(searcher);
    twi_searcher_destroy(searcher);
    return lanes;
}

static void a_batch_of_lanes_scans_arcs_as_often_as_usual(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        int64_t n;
        double degree;
    } graphs[] = {{"sparse", 2048, 5}, {"sparse", 1024, 40}, {"dense", 512, 4}, {"dense", 1024, 4}};
    tw_context *ctx = open_context();
    assert_ok(ctx, tw_set_threads(ctx, 1));
    for (size_t i = 0; i < (small_sizes_only() ? 3 : sizeof graphs / sizeof *graphs); i++) {
        tw_graph *graph = generate(ctx, graphs[i].kind, graphs[i].n, graphs[i].degree, 1000);
        tw_apsp_plan *plan = plan_for(ctx, graph, TW_APSP_METHOD_DIJKSTRA, TW_AUTO, 0);
        const double batches = (double)graph->n / lanes_of(ctx, plan);
        assert_within(1.5, twi_usual_scans(graph),
                      steps_of_run(ctx, plan) / (batches * (double)graph->arcs), graphs[i].kind);
        tw_apsp_plan_destroy(plan);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* On a Xeon of 2023 with AVX-512, November 2026: seconds of summaries by bench/choices.py. */
static void breadth_first_searches_are_judged_as_they_were_measured(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        int64_t n;
        double degree, levels;
        int threads;
        double seconds;
    } runs[] = {
        {"sparse", 10000, 5, 9, 1, 0.0735},       {"sparse", 10000, 5, 9, 2, 0.0324},
        {"sparse", 10000, 5, 9, 16, 0.0087},      {"preferential", 10000, 3, 6, 1, 0.0412},
        {"preferential", 10000, 3, 6, 2, 0.0184}, {"preferential", 10000, 3, 6, 16, 0.0063}};
    tw_context *ctx = open_context();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        tw_graph *graph = generate(ctx, runs[i].kind, runs[i].n, runs[i].degree, 1);
        tw_apsp_plan *plan = plan_for(ctx, graph, TW_APSP_METHOD_BFS, TW_AUTO, 1);
        plan->isa = TWI_ISA_AVX512;
        plan->threads = runs[i].threads;
        assert_within(1.5, twi_bfs_usual(plan, runs[i].levels), runs[i].seconds, runs[i].kind);
        tw_apsp_plan_destroy(plan);
        tw_graph_destroy(graph);
    }
    close_context(ctx);
}

/* On that Xeon, whose kernel did 169 G relaxations per second in u8 on a thread by the plan's
 * account. Each of two million arcs is sorted, put into the front and listed, whatever the rate. */
static void arcs_of_a_dense_graph_count_in_a_sweep(void **state)
{
    (void)state;
    static const double seconds[] = {0.1023, 0.0788};
    tw_context *ctx = open_context();
    tw_graph *graph = generate(ctx, "complete", 1500, 4, 1000);
    tw_apsp_plan *plan = plan_for(ctx, graph, TW_APSP_METHOD_SWEEP, TW_U8, 1);
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(plan->isa, TW_U8);
    for (int threads = 1; threads <= 2; threads++) {
        plan->threads = threads;
        assert_within(1.5, twi_sweep_seconds(plan, kernel, threads * 169e9, 37000000),
                      seconds[threads - 1], "complete");
    }
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* On that Xeon, one and two threads, 85 G relaxations per second in u16 on a thread. Where half of
 * the matrix is closed, entries take time that neither the share nor a fast kernel makes less: of a
 * cube of 14 x 14 x 14 vertices a quarter of all steps is left. */
static void entries_of_a_symmetric_graph_count_in_a_closure(void **state)
{
    (void)state;
    enum { SIDE = 14, N = SIDE * SIDE * SIDE, LINKS = 3 * SIDE * SIDE * (SIDE - 1) };
    static const double seconds[] = {0.1267, 0.0609}, kernel[] = {85e9, 170e9};
    static const int32_t steps[] = {1, SIDE, SIDE * SIDE};
    int32_t from[LINKS], to[LINKS];
    tw_edges edges = {sizeof edges, 0, from, to, NULL, TW_I32, TW_I32};
    for (int32_t v = 0; v < N; v++) {
        for (int axis = 0; axis < 3; axis++) {
            if (v / steps[axis] % SIDE + 1 < SIDE) {
                from[edges.count] = v;
                to[edges.count++] = v + steps[axis];
            }
        }
    }
    tw_context *ctx = open_context();
    tw_graph *graph = NULL;
    assert_ok(ctx, tw_graph_from_edges(ctx, &graph, N, &edges, TW_GRAPH_UNDIRECTED));
    tw_apsp_plan *plan = plan_for(ctx, graph, TW_APSP_METHOD_CLOSURE, TW_I32, 1);
    for (int threads = 1; threads <= 2; threads++) {
        plan->threads = threads;
        const double estimate = twi_closure_seconds(plan, 128, twi_closure_share(plan, 128),
                                                    twi_closure_rate(N, kernel[threads - 1]));
        assert_within(1.3, estimate, seconds[threads - 1], "cube");
    }
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}

/* Of one pivot block: from the first to the last of its pivots that some vertex of the strip leads
 * to, or is led to from. */
static twi_range range_of(const uint8_t *joined, int64_t n, int64_t strip, int64_t width,
                          bool columns, int64_t begin, int64_t end)
{
    twi_range range = {0, 0};
    for (int64_t pivot = begin; pivot < end; pivot++) {
        bool any = false;
        for (int64_t v = strip * width; v < n && v < (strip + 1) * width; v++) {
            any = any || joined[columns ? pivot * n + v : v * n + pivot] != 0;
        }
        range.begin = any && range.end == 0 ? (int32_t)(pivot - begin) : range.begin;
        range.end = any ? (int32_t)(pivot - begin + 1) : range.end;
    }
    return range;
}

/* The share of n^3 that all strips have to do, by the closure of who is joined to whom. */
static double share_by_closure(const tw_graph *graph, const twi_minplus_kernel *kernel,
                               int64_t block)
{
    const int64_t n = graph->n;
    const int64_t rows = (n + kernel->mr - 1) / kernel->mr;
    const int64_t columns = (n + kernel->nr - 1) / kernel->nr;
    uint8_t *joined = calloc((size_t)(n * n), 1);
    twi_range *row = calloc((size_t)rows, sizeof *row);
    double done = 0;
    for (int64_t u = 0; u < n; u++) {
        joined[u * n + u] = 1;
        for (int64_t a = graph->offsets[u]; a < graph->offsets[u + 1]; a++) {
            joined[u * n + graph->targets[a]] = 1;
        }
    }
    for (int64_t begin = 0; begin < n; begin += block) {
        const int64_t end = begin + block < n ? begin + block : n;
        for (int64_t pivot = begin; pivot < end; pivot++) {
            for (int64_t u = 0; u < n; u++) {
                for (int64_t v = 0; v < n && joined[u * n + pivot] != 0; v++) {
                    joined[u * n + v] |= joined[pivot * n + v];
                }
            }
        }
        for (int64_t i = 0; i < rows; i++) {
            row[i] = range_of(joined, n, i, kernel->mr, false, begin, end);
        }
        for (int64_t j = 0; j < columns; j++) {
            const twi_range column = range_of(joined, n, j, kernel->nr, true, begin, end);
            for (int64_t i = 0; i < rows; i++) {
                const int32_t from = row[i].begin > column.begin ? row[i].begin : column.begin;
                const int32_t to = row[i].end < column.end ? row[i].end : column.end;
                done += to > from ? to - from : 0;
            }
        }
    }
    free(row);
    free(joined);
    return done / ((double)rows * (double)columns * (double)n);
}

/* Two arcs per vertex in no order fill little before half of the pivots are done, a grid no more
 * than its band, many arcs everything at once; where nothing leads anywhere the diagonal is left.
 */
static void a_share_is_what_is_filled_when_its_turn_comes(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        double degree;
        bool symmetric;
        double least, most;
    } graphs[] = {{"sparse", 2, false, 0.3, 0.85},
                  {"sparse", 0.5, false, 0, 0.3},
                  {"sparse", 8, false, 0.85, 1},
                  {"grid", 4, true, 0.3, 0.6},
                  {"preferential", 3, true, 0.9, 1}};
    const int64_t n = small_sizes_only() ? 400 : 1000;
    tw_context *ctx = open_context();
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(TWI_ISA_SCALAR, TW_I32);
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        tw_graph *graph = generate(ctx, graphs[i].kind, n, graphs[i].degree, 9);
        const double truth = share_by_closure(graph, kernel, 64);
        double share = -1;
        assert_ok(ctx, twi_filled_share(ctx, graph, graphs[i].symmetric, kernel, 64, &share));
        if (fabs(share - truth) > 0.1 || share < graphs[i].least || share > graphs[i].most) {
            fail_msg("%s, degree %g: %g was found, %g is true", graphs[i].kind, graphs[i].degree,
                     share, truth);
        }
        tw_graph_destroy(graph);
    }
    tw_graph *none = NULL;
    tw_edges edges = {sizeof edges, 0, NULL, NULL, NULL, TW_I32, TW_I32};
    double share = -1;
    assert_ok(ctx, tw_graph_from_edges(ctx, &none, 0, &edges, 0));
    assert_ok(ctx, twi_filled_share(ctx, none, false, kernel, 64, &share));
    assert_true(share == 0);
    tw_graph_destroy(none);
    close_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_takes_the_steps_that_were_counted),
        cmocka_unit_test(a_batch_of_lanes_scans_arcs_as_often_as_usual),
        cmocka_unit_test(breadth_first_searches_are_judged_as_they_were_measured),
        cmocka_unit_test(arcs_of_a_dense_graph_count_in_a_sweep),
        cmocka_unit_test(entries_of_a_symmetric_graph_count_in_a_closure),
        cmocka_unit_test(a_share_is_what_is_filled_when_its_turn_comes),
    };
    return cmocka_run_group_tests_name("estimates", tests, NULL, NULL);
}
