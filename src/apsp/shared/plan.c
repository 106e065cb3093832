/* The names of methods, and what the sums of a run may be kept in, from the weights and the result
 * alone: see plan.h. */
#include "apsp/shared/plan.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *const method_names[] = {"auto", "closure",   "dijkstra",
                                           "bfs",  "reference", "sweep"};
#define METHODS ((tw_apsp_method)(sizeof method_names / sizeof *method_names))

bool twi_method_exists(tw_apsp_method method)
{
    return method >= 0 && method < METHODS;
}

const char *tw_apsp_method_name(tw_apsp_method method)
{
    return twi_method_exists(method) ? method_names[method] : "?";
}

tw_status tw_apsp_method_parse(tw_apsp_method *out, const char *name)
{
    for (tw_apsp_method method = 0; out != NULL && name != NULL && method < METHODS; method++) {
        if (strcmp(name, method_names[method]) == 0) {
            *out = method;
            return TW_OK;
        }
    }
    return TW_ERR_ARGUMENT;
}

bool twi_plan_may_overflow(const tw_apsp_plan *plan, tw_type work)
{
    const tw_graph *graph = plan->graph;
    double heaviest = fmax(fabs(graph->min_weight), fabs(graph->max_weight));
    double longest = (double)graph->n * heaviest; /* potentials triple it at most */
    double limit = twi_graph_is_exact(graph) ? TWI_EXACT_LIMIT
                   : work == TW_F32          ? (double)FLT_MAX
                                             : DBL_MAX;
    return longest >= limit / 4;
}

bool twi_plan_may_reach(const tw_apsp_plan *plan, double cap)
{
    return plan->potential != NULL || (double)plan->graph->n * plan->graph->max_weight >= cap;
}

tw_type twi_plan_float_type(const tw_apsp_plan *plan)
{
    bool narrow = plan->graph->weight_type == TW_F32 && plan->type == TW_F32 &&
                  plan->potential == NULL && !twi_plan_may_overflow(plan, TW_F32);
    return narrow ? TW_F32 : TW_F64;
}

bool twi_plan_keeps_whole(const tw_apsp_plan *plan)
{
    return plan->graph->whole && plan->graph->weight_type != TW_F32;
}
