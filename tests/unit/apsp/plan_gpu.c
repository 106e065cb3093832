/* The GPU in the plan: its estimate, from what a device says of itself, and when it is looked at.
 */
#include "harness.h"

#include "apsp/gpu/kernels/kernels.h"
#include "apsp/plan/estimate.h"
#include "apsp/plan/gpu_labels.h"
#include "gpu/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const twi_gpu_info h200 = {
    .name = "NVIDIA H200", .processors = 132, .clock = 1.98e9, .compute = 90};

static double estimate(int64_t n, tw_type type, double share)
{
    twi_gpu_job job = {.n = n, .type = type, .share = share};
    return twi_gpu_closure_seconds(&h200, &job);
}

/* Measured on that device in November 2026, seconds of the closure alone: docs/gpu.md. */
static void an_estimate_is_near_what_was_measured(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        tw_type type;
        double share, seconds;
    } seen[] = {
        {5000, TW_I32, 1, 0.00908},  {10000, TW_I32, 1, 0.0634}, {10000, TW_U16, 1, 0.0351},
        {10000, TW_F32, 1, 0.0679},  {10000, TW_F64, 1, 0.210},  {32768, TW_I32, 1, 2.076},
        {32768, TW_U16, 1, 1.044},   {32768, TW_F32, 1, 2.29},   {32768, TW_I32, 0.53, 1.04},
        {32768, TW_U16, 0.53, 0.53},
    };
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        double off = estimate(seen[i].n, seen[i].type, seen[i].share) - seen[i].seconds;
        assert_true(fabs(off) < 0.15 * seen[i].seconds);
    }
}

static void a_small_closure_is_bound_by_its_pivots(void **state)
{
    (void)state;
    twi_gpu_job nothing = {.type = TW_I32, .share = 1};
    assert_true(twi_gpu_estimate(&h200, &nothing) > 0);
    assert_true(estimate(1000, TW_I32, 1) < 0.01);
    assert_true(estimate(1000, TW_I32, 1) > estimate(100, TW_I32, 1));
}

static void copies_cost_by_the_byte_and_pinning_more(void **state)
{
    (void)state;
    twi_gpu_job none = {.n = 1000, .type = TW_I32, .share = 1};
    twi_gpu_job pinned = none;
    twi_gpu_job to_be_pinned = none;
    pinned.pinned_bytes = 4e9;
    to_be_pinned.pin_bytes = 4e9;
    double base = twi_gpu_estimate(&h200, &none);
    assert_true(twi_gpu_estimate(&h200, &pinned) > base + 0.05);
    assert_true(twi_gpu_estimate(&h200, &to_be_pinned) > twi_gpu_estimate(&h200, &pinned) + 0.1);
}

/* Grids, summarised on that device and the 16 threads of its host: docs/gpu.md. The steps of their
 * trees, and half of the rate of the micro-kernel. */
static void a_sweeps_estimate_is_near_what_was_measured(void **state)
{
    (void)state;
    static const struct {
        tw_type type;
        double n, down, up, factor, seconds;
    } seen[] = {
        {TW_U16, 40000, 29.7, 3.2, 1.85e8, 0.0260},
        {TW_I32, 40000, 29.7, 3.2, 1.85e8, 0.0344},
        {TW_U16, 262144, 38.5, 3.3, 3.28e9, 0.336},
        {TW_I32, 262144, 38.5, 3.3, 3.28e9, 0.570},
    };
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        twi_gpu_sweep_job job = {
            .type = seen[i].type,
            .n = seen[i].n,
            .rows = seen[i].n,
            .down = seen[i].down * seen[i].n,
            .up = seen[i].up * seen[i].n,
            .factor = seen[i].factor,
            .factor_rate = 2e11,
            .threads = 16,
        };
        double seconds = twi_gpu_sweep_estimate(&h200, &job);
        assert_true(seconds < 1.5 * seen[i].seconds && seconds > seen[i].seconds / 1.5);
        job.result_bytes = 4e9;
        assert_true(twi_gpu_sweep_estimate(&h200, &job) > seconds + 0.07);
    }
}

/* Summaries in 16 bits: random graphs, one with hubs, and three by R-MAT, whose hubs cost nothing.
 */
static void an_estimate_of_searches_is_near_what_was_measured(void **state)
{
    (void)state;
    static const struct {
        int64_t n, arcs;
        double depth, seconds;
    } seen[] = {
        {10000, 80000, 19, 0.0102}, {32768, 262144, 23, 0.0644}, {32768, 524288, 21, 0.0870},
        {65536, 524288, 23, 0.266}, {65536, 1048504, 23, 0.352}, {10000, 80000, 12, 0.0110},
        {32768, 262144, 8, 0.0543}, {65536, 1048576, 8, 0.259},
    };
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        const tw_graph graph = {.n = seen[i].n, .arcs = seen[i].arcs, .integral = true};
        tw_apsp_plan plan = {.graph = &graph, .options = TW_APSP_OPTIONS_INIT, .threads = 16};
        plan.type = TW_I32;
        plan.options.summary_only = 1;
        double seconds = twi_gpu_labels_seconds(&plan, TW_U16, &h200, seen[i].depth);
        assert_true(seconds < 1.7 * seen[i].seconds && seconds > seen[i].seconds / 1.7);
    }
}

static void every_architecture_has_a_rate(void **state)
{
    (void)state;
    static const int32_t computes[] = {10, 75, 80, 86, 89, 90, 94, 100, 103, 110, 120, 1030};
    static const tw_type types[] = {TW_U16, TW_I32, TW_F32, TW_F64};
    for (size_t i = 0; i < 2 * sizeof computes / sizeof *computes; i++) {
        twi_gpu_info info = {.processors = 40, .compute = computes[i / 2], .amd = i % 2 != 0};
        for (int t = 0; t < 4; t++) {
            assert_true(twi_gpu_rate(&info, types[t]) > 0);
            twi_gpu_info twice = info;
            twice.processors = 80;
            assert_true(twi_gpu_rate(&twice, types[t]) == 2 * twi_gpu_rate(&info, types[t]));
        }
    }
    assert_true(twi_gpu_rate(&h200, TW_U16) > 1.9 * twi_gpu_rate(&h200, TW_I32));
}

/* gfx90a has the number of compute capability 9.0. */
static void what_was_measured_is_claimed_of_no_other_architecture(void **state)
{
    (void)state;
    static const twi_gpu_info others[] = {
        {.name = "gfx90a", .processors = 132, .clock = 1.98e9, .compute = 90, .amd = true},
        {.name = "gfx1030", .processors = 132, .clock = 1.98e9, .compute = 103, .amd = true},
        {.name = "10.0", .processors = 132, .clock = 1.98e9, .compute = 100},
        {.name = "12.0", .processors = 132, .clock = 1.98e9, .compute = 120},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_true(twi_gpu_rate(&others[i], TW_I32) < twi_gpu_rate(&h200, TW_I32));
        assert_true(twi_gpu_rate(&others[i], TW_U16) < twi_gpu_rate(&h200, TW_U16));
        assert_true(twi_gpu_rate(&others[i], TW_F64) < twi_gpu_rate(&h200, TW_F64));
    }
    assert_true(twi_gpu_rate(&others[3], TW_F64) < 0.1 * twi_gpu_rate(&h200, TW_F64));
}

static void a_card_that_is_named_again_counts_once(void **state)
{
    (void)state;
    static const twi_gpu_list gpus = {.count = 5, .index = {3, 0, 3, 0, 1}};
    static const bool first[] = {true, true, false, false, true};
    for (int32_t i = 0; i < gpus.count; i++) {
        assert_int_equal(twi_gpu_is_first(&gpus, i), first[i]);
    }
}

static tw_graph *make_graph(tw_context *ctx, int64_t n)
{
    tw_graph_generate_options opts = TW_GRAPH_GENERATE_OPTIONS_INIT;
    tw_graph *graph = NULL;
    opts.vertices = n;
    opts.degree = 2;
    assert_ok(ctx, tw_graph_generate(ctx, &graph, &opts));
    return graph;
}

/* The line of the plan's explanation that begins with `name`. */
static void find_line(char *out, size_t size, const tw_apsp_plan *plan, const char *name)
{
    const char *at = strstr(tw_apsp_plan_explain(plan), name);
    assert_non_null(at);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
}

static void auto_does_not_look_for_a_gpu_where_the_cpu_is_quick(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = make_graph(ctx, 50);
    tw_apsp_plan *plan = NULL;
    char line[512];
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, NULL));
    find_line(line, sizeof line, plan, "  gpu ");
#ifdef TW_TEST_WITHOUT_GPU
    assert_non_null(strstr(line, "this build has no GPU code"));
#else
    assert_non_null(strstr(line, "to start"));
#endif
    assert_int_equal(describe_plan(plan).device_memory, 0);
    assert_string_equal(describe_plan(plan).device, "cpu");
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}

static void a_plan_for_the_cpu_says_so(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = make_graph(ctx, 50);
    tw_apsp_plan *plan = NULL;
    char line[512];
    assert_ok(ctx, tw_set_device(ctx, "cpu"));
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, NULL));
    find_line(line, sizeof line, plan, "  gpu ");
    assert_non_null(strstr(line, "the device is the CPU"));
    find_line(line, sizeof line, plan, "choice: ");
    assert_non_null(strstr(line, " on cpu,"));
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}

#ifdef TW_TEST_WITHOUT_GPU
static void a_build_without_gpu_code_says_so_where_a_gpu_might_pay(void **state)
{
    (void)state;
    tw_context *ctx = open_context();
    tw_graph *graph = make_graph(ctx, 30000);
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    char line[512];
    opts.method = TW_APSP_METHOD_CLOSURE;
    assert_ok(ctx, tw_apsp_plan_create(ctx, &plan, graph, &opts));
    find_line(line, sizeof line, plan, "  gpu ");
    assert_non_null(strstr(line, "this build has no GPU code"));
    assert_string_equal(describe_plan(plan).device, "cpu");
    tw_device_start(ctx); /* nothing to start, nothing to wait for */
    tw_apsp_plan_destroy(plan);
    tw_graph_destroy(graph);
    close_context(ctx);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_estimate_is_near_what_was_measured),
        cmocka_unit_test(a_small_closure_is_bound_by_its_pivots),
        cmocka_unit_test(copies_cost_by_the_byte_and_pinning_more),
        cmocka_unit_test(a_sweeps_estimate_is_near_what_was_measured),
        cmocka_unit_test(an_estimate_of_searches_is_near_what_was_measured),
        cmocka_unit_test(every_architecture_has_a_rate),
        cmocka_unit_test(what_was_measured_is_claimed_of_no_other_architecture),
        cmocka_unit_test(a_card_that_is_named_again_counts_once),
        cmocka_unit_test(auto_does_not_look_for_a_gpu_where_the_cpu_is_quick),
        cmocka_unit_test(a_plan_for_the_cpu_says_so),
#ifdef TW_TEST_WITHOUT_GPU
        cmocka_unit_test(a_build_without_gpu_code_says_so_where_a_gpu_might_pay),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
