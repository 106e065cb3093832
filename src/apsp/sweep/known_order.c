/* Orders that need not be made: see known_order.h. */
#include "apsp/sweep/known_order.h"

#include "apsp/sweep/kept_order.h"
#include "apsp/sweep/metis.h"
#include "base/memory.h"

#include <math.h>

/* Of an order of METIS: seconds per vertex or link, and level of the dissection (Neoverse N1,
 * November 2026); and the part of a run that it may take. */
#define METIS_SECONDS 60e-9
#define METIS_SHARE 0.1
#define METIS_SHARE_WIDE 0.04 /* where our own separators are too wide */

tw_status twi_order_check(tw_context *ctx, const tw_graph *graph, const tw_apsp_options *options)
{
    const tw_apsp_order *order = options->order;
    if (order == NULL) {
        return TW_OK;
    }
    if (order->structure.n != graph->n) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "tw_apsp_options.order was computed for a graph with %lld vertices; this one has "
            "%lld",
            (long long)order->structure.n, (long long)graph->n);
    }
    const twi_structure structure = twi_structure_of(graph);
    if (!twi_structure_equal(&structure, &order->structure)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "tw_apsp_options.order was computed for a graph with different edges; only "
                       "the weights may differ");
    }
    return TW_OK;
}

tw_status twi_known_order_find(tw_context *ctx, twi_known_order *out, const tw_apsp_plan *plan)
{
    *out = (twi_known_order){.origin = "made"};
    if (plan->options.order != NULL) {
        out->order = &plan->options.order->order;
        out->origin = "given";
        return TW_OK;
    }
    if (plan->options.order_cache == 0 || plan->graph->n < TWI_KEPT_LEAST) {
        return TW_OK;
    }
    out->structure = twi_structure_of(plan->graph);
    tw_status status = twi_kept_order_read(ctx, &out->kept, &out->structure);
    if (status == TW_OK && out->kept.vertex != NULL) {
        out->order = &out->kept;
        out->origin = "cached";
    }
    return status;
}

void twi_known_order_clear(twi_known_order *known)
{
    twi_order_clear(&known->kept);
    *known = (twi_known_order){0};
}

/* An order of the skeleton, and its tree unless it was given up; `order` is to be cleared in any
 * case. */
static tw_status make_tree(tw_context *ctx, twi_tree **out, const twi_skeleton *skeleton,
                           twi_order *order, int64_t columns, double steps)
{
    const twi_order_limit limit = {(double)columns, steps};
    tw_status status = twi_order_create(ctx, order, skeleton, limit);
    return status == TW_OK && !order->wide ? twi_tree_create(ctx, out, skeleton, order, columns)
                                           : status;
}

/* Steps of all columns. */
static double all_steps(const twi_tree *tree, int64_t columns)
{
    return (double)columns * (tree->down + tree->up) + tree->factor;
}

/* An order of METIS and its tree in the place of `order` and the plan's tree, where the run is long
 * enough to pay for it and it has fewer steps than those. There may be neither: then it must have
 * fewer than `steps`. */
static tw_status try_metis(tw_context *ctx, tw_apsp_plan *plan, const twi_skeleton *skeleton,
                           twi_order *order, double steps, double rate)
{
    const double n = (double)skeleton->n;
    const double links = (double)skeleton->offsets[skeleton->n];
    const int64_t columns = twi_plan_rows(plan);
    steps = plan->tree != NULL ? all_steps(plan->tree, columns) : steps;
    twi_order other = {0};
    twi_tree *tree = NULL;
    const double share = plan->tree != NULL ? METIS_SHARE : METIS_SHARE_WIDE;
    if ((n + links) * log2(n + 2) * METIS_SECONDS > share * steps / rate) {
        return TW_OK;
    }
    plan->order_note = twi_metis_is_built() ? " (METIS gave no order)" : " (METIS is not in this build)";
    tw_status status = twi_metis_order(ctx, &other, skeleton);
    if (status == TW_OK && other.vertex != NULL) {
        plan->order_note = " (METIS would not need fewer steps)";
        other.entries = isfinite(steps) ? fmax(steps / (double)columns, 1) : 0;
        status = twi_tree_create(ctx, &tree, skeleton, &other, columns);
    }
    if (status == TW_ERR_MEMORY) { /* it can be done without */
        status = TW_OK;
    }
    if (status == TW_OK && tree != NULL && all_steps(tree, columns) < steps) {
        twi_order kept = *order;
        twi_tree *kept_tree = plan->tree;
        *order = other;
        plan->tree = tree;
        other = kept;
        tree = kept_tree;
        plan->order_note = "";
    }
    twi_tree_destroy(tree);
    twi_order_clear(&other);
    return status;
}

tw_status twi_sweep_tree(tw_context *ctx, tw_apsp_plan *plan, const twi_known_order *known,
                         double steps, double rate)
{
    const tw_apsp_order *given = plan->options.order;
    const int64_t columns = twi_plan_rows(plan);
    twi_skeleton skeleton = {0};
    twi_order order = {0};
    plan->order_origin = known->origin;
    plan->order_note = "";
    if (given != NULL && plan->part == NULL && columns == plan->graph->n) {
        plan->tree = twi_tree_share(given->tree);
        plan->order_maker = given->order.maker;
        return TW_OK;
    }
    tw_status status = twi_skeleton_create(ctx, &skeleton, plan->graph);
    if (status == TW_OK && known->order != NULL) {
        plan->order_maker = known->order->maker;
        status = twi_tree_create(ctx, &plan->tree, &skeleton, known->order, columns);
    } else if (status == TW_OK) {
        status = make_tree(ctx, &plan->tree, &skeleton, &order, columns, steps);
        if (status == TW_OK) {
            status = try_metis(ctx, plan, &skeleton, &order, steps, rate);
        }
        plan->order_maker = order.maker;
        if (plan->tree != NULL && plan->options.order_cache != 0 &&
            plan->graph->n >= TWI_KEPT_LEAST) {
            twi_kept_order_write(ctx, &order, &known->structure);
        }
    }
    twi_order_clear(&order);
    twi_skeleton_clear(&skeleton);
    return status;
}

tw_status tw_apsp_order_create(tw_context *ctx, tw_apsp_order **out, const tw_graph *graph)
{
    twi_clear_handle(out);
    twi_skeleton skeleton = {0};
    tw_apsp_order *made = NULL;
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"graph", graph});
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &made, 1, sizeof *made, "the elimination order");
    }
    if (status == TW_OK) {
        made->structure = twi_structure_of(graph);
        status = twi_skeleton_create(ctx, &skeleton, graph);
    }
    if (status == TW_OK) {
        status = make_tree(ctx, &made->tree, &skeleton, &made->order, graph->n, (double)INFINITY);
    }
    twi_skeleton_clear(&skeleton);
    if (status != TW_OK) {
        tw_apsp_order_destroy(made);
        return status;
    }
    *out = made;
    return TW_OK;
}

void tw_apsp_order_destroy(tw_apsp_order *order)
{
    if (order != NULL) {
        twi_tree_destroy(order->tree);
        twi_order_clear(&order->order);
        twi_free(order);
    }
}
