/*
 * A whole run on one GPU, from arcs to sinks, on a runtime without a GPU that runs what is queued
 * in any order the events allow (runtime.c): the rows must be right for every order, and every call
 * that fails must give its sentence, deliver nothing and leave nothing behind.
 */
#include "runtime.h"

#include "apsp/gpu/gpu.h"
#include "base/random.h"
#include "graph/graph.h"

#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 40, ROWS = 5, COLS = 3 };

/* A graph, and its distances by the definition. */
typedef struct problem {
    tw_graph *graph;
    int64_t n;
    int32_t expected[MOST * MOST];
} problem;

static const int32_t some_rows[ROWS] = {0, 2, 1, 1, 0};
static const int32_t some_cols[COLS] = {2, 0, 2};

static problem make_problem(tw_context *ctx, int64_t n, uint64_t seed, double density,
                            int32_t heaviest, bool undirected)
{
    problem p = {.n = n};
    int32_t source[2 * MOST * MOST], target[2 * MOST * MOST], weight[2 * MOST * MOST];
    int64_t count = 0;
    for (int64_t i = 0; i < n * n; i++) {
        p.expected[i] = i / n == i % n ? 0 : TW_APSP_INF_I32;
    }
    for (int64_t i = 0; i < 2 * n * n; i++) { /* some arcs twice */
        uint64_t random = twi_random_at(seed, (uint64_t)i);
        if (twi_random_unit(random) < density / 2) {
            int64_t u = i / 2 / n;
            int64_t v = i / 2 % n;
            int32_t w = (int32_t)twi_random_below(twi_random_at(1, random), (uint64_t)heaviest);
            source[count] = (int32_t)u;
            target[count] = (int32_t)v;
            weight[count++] = w;
            p.expected[u * n + v] = w < p.expected[u * n + v] ? w : p.expected[u * n + v];
            if (undirected) {
                p.expected[v * n + u] = w < p.expected[v * n + u] ? w : p.expected[v * n + u];
            }
        }
    }
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                int32_t sum = p.expected[i * n + k] + p.expected[k * n + j];
                int32_t *at = &p.expected[i * n + j];
                *at = sum < *at ? sum : *at;
            }
        }
    }
    tw_edges edges = {sizeof edges, count, source, target, weight, TW_I32, TW_I32};
    assert_ok(ctx,
              tw_graph_from_edges(ctx, &p.graph, n, &edges, undirected ? TW_GRAPH_UNDIRECTED : 0));
    return p;
}

/* A plan for device 1, as plan.c would make it. */
static tw_apsp_plan plan_of(const problem *p, tw_type type, bool narrow)
{
    static const tw_apsp_options defaults = TW_APSP_OPTIONS_INIT;
    return (tw_apsp_plan){
        .graph = p->graph,
        .options = defaults,
        .method = TW_APSP_METHOD_CLOSURE,
        .type = type,
        .work_type = TW_I32,
        .gpus = {.count = 1, .index = {1}},
        .gpu_way = TWI_GPU_RESIDENT,
        .gpu_allowed = UINT64_MAX,
        .gpu_narrow = narrow,
        .threads = 1,
        .symmetric = p->graph->undirected,
    };
}

/* Begin, run and end, as apsp.c does. */
static tw_status run(tw_context *ctx, const tw_apsp_plan *plan, tw_matrix *out,
                     twi_gpu_outcome *outcome)
{
    twi_delivery *delivery = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_status status = tw_sink_to_matrix(ctx, &sink, out);
    if (status == TW_OK) {
        status = twi_delivery_begin(ctx, &delivery, plan, NULL, &sink, 1, NULL);
    }
    if (status == TW_OK) {
        status = twi_gpu_resident_run(ctx, plan, delivery, outcome);
    }
    if (status == TW_OK) {
        status = twi_delivery_end(ctx, delivery);
    }
    twi_delivery_destroy(ctx, delivery);
    tw_sink_destroy(&sink);
    return status;
}

static void assert_rows(const problem *p, const tw_apsp_plan *plan, const int32_t *got)
{
    int64_t cols = twi_plan_cols(plan);
    for (int64_t i = 0; i < twi_plan_rows(plan); i++) {
        for (int64_t j = 0; j < cols; j++) {
            int32_t want = p->expected[twi_plan_source(plan, i) * p->n + twi_plan_target(plan, j)];
            if (plan->options.cutoff >= 0 && want > plan->options.cutoff) {
                want = TW_APSP_INF_I32;
            }
            assert_int_equal(got[i * cols + j], want);
        }
    }
}

static void rows_are_right_in_any_order(void **state)
{
    tw_context *ctx = *state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        int64_t n = 3 + (int64_t)twi_random_below(twi_random_at(5, seed), MOST - 2);
        problem p = make_problem(ctx, n, seed, seed % 3 == 0 ? 0.05 : 0.5,
                                 seed % 2 == 0 ? 60 : 20000, seed % 7 == 0);
        tw_apsp_plan plan = plan_of(&p, TW_I32, seed % 5 < 3);
        int32_t got[MOST * MOST];
        twi_gpu_outcome outcome;
        if (seed % 4 == 1) {
            plan.options.sources = some_rows;
            plan.options.source_count = ROWS;
        }
        if (seed % 4 >= 2) {
            plan.options.targets = some_cols;
            plan.options.target_count = COLS;
            plan.options.cutoff = seed % 8 < 4 ? 40 : -1;
        }
        tw_matrix out = {got, twi_plan_rows(&plan), twi_plan_cols(&plan), twi_plan_cols(&plan),
                         TW_I32};
        memset(got, 0xA5, sizeof got);
        fake_begin(seed, 0);
        assert_ok(ctx, run(ctx, &plan, &out, &outcome));
        assert_rows(&p, &plan, got);
        assert_true(fake_peak(1) <= twi_gpu_resident_bytes(&plan, TW_I32));
        assert_int_equal(fake_live_without(ctx), 0);
        assert_true(outcome.symmetric || !p.graph->undirected);
        tw_graph_destroy(p.graph);
    }
}

static void sixteen_bits_are_kept_where_they_are_exact(void **state)
{
    tw_context *ctx = *state;
    static const struct {
        double density;
        int32_t heaviest;
        tw_type used;
    } cases[] = {{1.0, 100, TW_U16}, {0.02, 100, TW_U16}, {0.1, 30000, TW_I32}};
    for (int i = 0; i < 3; i++) {
        problem p = make_problem(ctx, 30, 3, cases[i].density, cases[i].heaviest, false);
        tw_apsp_plan plan = plan_of(&p, TW_I32, true);
        int32_t got[MOST * MOST];
        tw_matrix out = {got, p.n, p.n, p.n, TW_I32};
        twi_gpu_outcome outcome;
        fake_begin(1, 0);
        assert_ok(ctx, run(ctx, &plan, &out, &outcome));
        assert_rows(&p, &plan, got);
        assert_int_equal(outcome.used, cases[i].used);
        assert_int_equal(outcome.attempts, cases[i].used == TW_U16 ? 1 : 2);
        tw_graph_destroy(p.graph);
    }
}

static void a_forced_type_that_is_too_narrow_is_refused(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, 30, 3, 0.1, 30000, false);
    tw_apsp_plan plan = plan_of(&p, TW_I32, false);
    int32_t got[MOST * MOST];
    tw_matrix out = {got, p.n, p.n, p.n, TW_I32};
    twi_gpu_outcome outcome;
    plan.work_type = TW_U16;
    plan.options.work_type = TW_U16;
    fake_begin(1, 0);
    assert_fails(ctx, TW_ERR_RANGE, "working type u16", run(ctx, &plan, &out, &outcome));
    assert_int_equal(fake_live_without(ctx), 0);
    tw_graph_destroy(p.graph);
}

static void a_wider_type_that_does_not_fit_the_device_is_refused(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, 30, 3, 0.1, 30000, false);
    tw_apsp_plan plan = plan_of(&p, TW_I32, true);
    int32_t got[MOST * MOST];
    tw_matrix out = {got, p.n, p.n, p.n, TW_I32};
    twi_gpu_outcome outcome;
    plan.gpu_allowed = twi_gpu_resident_bytes(&plan, TW_I32) - 1;
    fake_begin(1, 0);
    assert_fails(ctx, TW_ERR_MEMORY, "a distance needs i32", run(ctx, &plan, &out, &outcome));
    assert_int_equal(fake_live_without(ctx), 0);
    plan.gpu_allowed++;
    assert_ok(ctx, run(ctx, &plan, &out, &outcome));
    tw_graph_destroy(p.graph);
}

static void the_first_distance_that_does_not_fit_is_named(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, 30, 4, 0.2, 200, false);
    tw_apsp_plan plan = plan_of(&p, TW_U8, true);
    uint8_t got[MOST * MOST];
    tw_matrix out = {got, p.n, p.n, p.n, TW_U8};
    twi_gpu_outcome outcome;
    char sentence[128] = "";
    for (int64_t i = 0; i < p.n * p.n && sentence[0] == '\0'; i++) {
        if (p.expected[i] >= TW_APSP_INF_U8 && p.expected[i] < TW_APSP_INF_I32) {
            snprintf(sentence, sizeof sentence, "the distance %lld -> %lld is %d, which type u8",
                     (long long)(i / p.n), (long long)(i % p.n), p.expected[i]);
        }
    }
    assert_true(sentence[0] != '\0');
    fake_begin(1, 0);
    assert_fails(ctx, TW_ERR_RANGE, sentence, run(ctx, &plan, &out, &outcome));
    assert_int_equal(fake_live_without(ctx), 0);
    tw_graph_destroy(p.graph);
}

static void failing_calls_are_told_and_leave_nothing(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, 17, 5, 0.3, 30000, false);
    tw_apsp_plan plan = plan_of(&p, TW_I32, true);
    int64_t before = twi_meter_blocks(ctx->meter);
    tw_status status = TW_ERR_DEVICE;
    for (int64_t call = 1; status != TW_OK; call++) {
        int32_t got[MOST * MOST];
        tw_matrix out = {got, p.n, p.n, p.n, TW_I32};
        twi_gpu_outcome outcome;
        fake_begin(7, call);
        status = run(ctx, &plan, &out, &outcome);
        if (status != TW_OK) {
            assert_true(status == TW_ERR_DEVICE || status == TW_ERR_MEMORY);
            assert_non_null(strstr(tw_last_error(ctx), "cuda:1: "));
            assert_non_null(strstr(tw_last_error(ctx), "as planned"));
        } else {
            assert_rows(&p, &plan, got);
            assert_true(call > 40); /* there were that many to fail */
        }
        assert_int_equal(fake_live_without(ctx), 0);
        assert_int_equal(twi_meter_blocks(ctx->meter), before);
    }
    tw_graph_destroy(p.graph);
}

static void a_run_without_vertices_or_columns_touches_little(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, 4, 5, 0.5, 10, false);
    tw_apsp_plan plan = plan_of(&p, TW_I32, false);
    twi_gpu_outcome outcome;
    int32_t none = 0;
    tw_matrix out = {&none, 4, 0, 0, TW_I32};
    plan.options.targets = some_cols;
    plan.options.target_count = 0;
    fake_begin(1, 0);
    assert_ok(ctx, run(ctx, &plan, &out, &outcome));
    assert_int_equal(fake_live_without(ctx), 0);
    tw_graph_destroy(p.graph);
    p = make_problem(ctx, 0, 5, 0.5, 10, false);
    plan = plan_of(&p, TW_I32, false);
    out = (tw_matrix){&none, 0, 0, 0, TW_I32};
    assert_ok(ctx, run(ctx, &plan, &out, &outcome));
    assert_int_equal(fake_live_without(ctx), 0);
    tw_graph_destroy(p.graph);
}

static void a_cancelled_run_ends_and_leaves_nothing(void **state)
{
    tw_context *ctx = *state;
    problem p = make_problem(ctx, 17, 5, 0.3, 100, false);
    tw_apsp_plan plan = plan_of(&p, TW_I32, true);
    int32_t got[MOST * MOST];
    tw_matrix out = {got, p.n, p.n, p.n, TW_I32};
    twi_gpu_outcome outcome;
    fake_begin(7, 0);
    tw_cancel(ctx);
    assert_int_equal(run(ctx, &plan, &out, &outcome), TW_ERR_CANCELLED);
    tw_clear_cancel(ctx);
    assert_int_equal(fake_live_without(ctx), 0);
    tw_graph_destroy(p.graph);
}

static int open_one(void **state)
{
    tw_context *ctx = open_context();
    *state = ctx;
    return tw_set_threads(ctx, 1);
}

static int close_one(void **state)
{
    close_context(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_right_in_any_order),
        cmocka_unit_test(sixteen_bits_are_kept_where_they_are_exact),
        cmocka_unit_test(a_forced_type_that_is_too_narrow_is_refused),
        cmocka_unit_test(a_wider_type_that_does_not_fit_the_device_is_refused),
        cmocka_unit_test(the_first_distance_that_does_not_fit_is_named),
        cmocka_unit_test(failing_calls_are_told_and_leave_nothing),
        cmocka_unit_test(a_run_without_vertices_or_columns_touches_little),
        cmocka_unit_test(a_cancelled_run_ends_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, open_one, close_one);
}
