/*
 * What a run would take for a graph that nobody has read yet: for the sentence that refuses to read
 * it. The formulas are those of the plan; what they ask of arcs and weights is taken at its worst
 * among the usual.
 */
#include "apsp/plan/candidate.h"
#include "apsp/plan/check.h"
#include "apsp/plan/explain.h"
#include "apsp/search/search.h"
#include "apsp/shared/deliver.h"
#include "apsp/shared/options.h"
#include "apsp/sweep/known_order.h"
#include "base/threads.h"

/* By searches, whose queues depend on how large weights are and on whether all are whole numbers,
 * which those of a float type may be, too. */
static uint64_t search_bytes(const tw_apsp_plan *plan, tw_apsp_method method)
{
    static const double weights[] = {1, 1000};
    uint64_t bytes = 0;
    for (int i = 0; i < 4; i++) {
        tw_graph graph = *plan->graph;
        tw_apsp_plan like = *plan;
        like.graph = &graph;
        graph.max_weight = weights[i % 2];
        graph.integral = graph.whole = i / 2 == 0 || graph.weight_type == TW_I32;
        const uint64_t each = twi_searches_planned(&like, method);
        bytes = each > bytes ? each : bytes;
    }
    return bytes;
}

/* By a sweep: until its order is made nobody knows what its fronts take. Room for the order, and
 * what does not depend on it. */
static uint64_t sweep_bytes(const tw_apsp_plan *plan)
{
    const uint64_t order = twi_order_memory(plan->graph, plan->threads);
    const uint64_t out = twi_rows_planned(plan, TW_APSP_METHOD_SWEEP, TW_I32);
    return order > out ? order : out;
}

/* By the closure, or UINT64_MAX if no machine could. */
static uint64_t closure_bytes(const tw_apsp_plan *plan)
{
    const tw_type type = plan->graph->integral ? TW_I32 : twi_plan_float_type(plan);
    uint64_t bytes = UINT64_MAX;
    return twi_closure_memory(plan, type, false, &bytes) ? bytes : UINT64_MAX;
}

static uint64_t least_of(const tw_apsp_plan *plan)
{
    const uint64_t closure = closure_bytes(plan);
    uint64_t searches = 0;
    switch (plan->options.method) {
    case TW_APSP_METHOD_AUTO:
        searches = search_bytes(plan, TW_APSP_METHOD_DIJKSTRA);
        return closure < searches ? closure : searches;
    case TW_APSP_METHOD_DIJKSTRA:
    case TW_APSP_METHOD_BFS:
        return search_bytes(plan, plan->options.method);
    case TW_APSP_METHOD_SWEEP:
        return sweep_bytes(plan);
    default:
        return closure;
    }
}

tw_status tw_apsp_least_memory(tw_context *ctx, uint64_t *bytes, int64_t vertices, int64_t arcs,
                               tw_type weights, const tw_apsp_options *opts)
{
    tw_graph graph = {.n = vertices,
                      .arcs = arcs,
                      .weight_type = weights,
                      .integral = weights == TW_I32,
                      .whole = weights == TW_I32};
    tw_apsp_plan plan = {.graph = &graph};
    tw_apsp_options ours = TW_APSP_OPTIONS_INIT;
    tw_status status = TWI_REQUIRE(ctx, {"bytes", bytes});
    if (status == TW_OK) {
        status = twi_graph_check_vertices(ctx, vertices);
    }
    if (status == TW_OK) {
        status = twi_take_options(ctx, &ours, opts);
    }
    if (status == TW_OK) {
        status = twi_isa_resolve(ctx, &plan.isa);
    }
    if (status != TW_OK) {
        return status;
    }
    plan.options = ours;
    plan.threads = twi_thread_count(ctx);
    plan.type = twi_plan_result_type(&graph, &plan.options);
    const uint64_t least = least_of(&plan);
    *bytes = least == UINT64_MAX ? least : least + twi_plan_held(&plan);
    return TW_OK;
}
