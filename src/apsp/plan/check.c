/* What may be asked of a plan: see check.h. */
#include "apsp/plan/check.h"

#include "apsp/closure/product.h"
#include "apsp/shared/options.h"
#include "base/type.h"

#include <math.h>

static tw_status check_vertices(tw_context *ctx, const char *what, const int32_t *list,
                                int64_t count, int64_t n)
{
    if (count < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the number of %ss is %lld; it cannot be negative",
                       what, (long long)count);
    }
    for (int64_t i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] >= n) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "%s %d (entry %lld of the list) is not a vertex; the graph has %lld %s, "
                           "numbered from 0",
                           what, list[i], (long long)i, (long long)n,
                           n == 1 ? "vertex" : "vertices");
        }
    }
    return TW_OK;
}

/* The types a closure of this graph may be forced to work in. */
static tw_status check_work_type(tw_context *ctx, const tw_graph *graph, tw_type type,
                                 tw_type result)
{
    bool fits = type == TW_AUTO || type == TW_F64 ||
                (type == TW_F32 && graph->weight_type == TW_F32 && graph->min_weight >= 0) ||
                ((type == TW_U8 || type == TW_U16 || type == TW_I32) && graph->integral);
    if (fits && type == TW_F32 && result != TW_F32) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "working type f32 would round results of type %s; use 'auto'",
                       tw_type_name(result));
    }
    if (fits) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT,
                   "working type %s does not suit weights of type %s%s; use 'auto'",
                   tw_type_name(type), tw_type_name(graph->weight_type),
                   graph->integral ? "" : " that are not 32-bit integers");
}

tw_status twi_plan_check_predecessors(tw_context *ctx, const tw_apsp_plan *plan)
{
    if (plan->options.targets != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "predecessors need whole rows; do not set targets");
    }
    if (plan->options.cutoff >= 0 && plan->potential != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "with negative weights a path below the cutoff may lead through distances "
                       "above it; request predecessors without a cutoff");
    }
    return TW_OK;
}

tw_type twi_plan_result_type(const tw_graph *graph, const tw_apsp_options *o)
{
    return o->type != TW_AUTO ? o->type : graph->weight_type;
}

tw_status twi_plan_check(tw_context *ctx, const tw_graph *graph, const tw_apsp_options *o)
{
    if (!twi_method_exists(o->method)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "unknown method %d; use one of TW_APSP_METHOD_*",
                       o->method);
    }
    tw_status status = twi_check_result_type(ctx, o->type);
    if (status != TW_OK) {
        return status;
    }
    if (o->block < 0 || o->block > TWI_DEPTH_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "block is %d; use 1 to %d, or 0 for automatic",
                       o->block, TWI_DEPTH_MOST);
    }
    if (isnan(o->cutoff)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the cutoff is not a number");
    }
    if (o->symmetric != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "tw_apsp_options.symmetric is for matrices in GPU memory; leave it 0 for "
                       "graphs, where it is detected");
    }
    if (o->checkpoint != NULL && o->method != TW_APSP_METHOD_AUTO &&
        o->method != TW_APSP_METHOD_CLOSURE) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "method %s does not support checkpoints; use closure",
                       tw_apsp_method_name(o->method));
    }
    status = check_work_type(ctx, graph, o->work_type, twi_plan_result_type(graph, o));
    if (status == TW_OK && o->sources != NULL) {
        status = check_vertices(ctx, "source", o->sources, o->source_count, graph->n);
    }
    if (status == TW_OK && o->targets != NULL) {
        status = check_vertices(ctx, "target", o->targets, o->target_count, graph->n);
    }
    return status;
}
