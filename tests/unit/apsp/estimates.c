/*
 * What a plan counts on: a run takes the steps that were counted for it, and from given rates the
 * seconds are near what was measured. Nothing here looks at a clock.
 */
#include "harness.h"

#include "apsp/plan/sweep.h"
#include "apsp/sweep/tree.h"

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
    const int64_t most = emulated_sizes_only() ? 600 : small_sizes_only() ? 2500 : INT64_MAX;
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

/* On a Xeon of 2023, whose kernel did 169 G relaxations per second in u8 on a thread by the plan's
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_takes_the_steps_that_were_counted),
        cmocka_unit_test(arcs_of_a_dense_graph_count_in_a_sweep),
    };
    return cmocka_run_group_tests_name("estimates", tests, NULL, NULL);
}
