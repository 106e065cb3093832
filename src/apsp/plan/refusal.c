/*
 * Why there is no way at all, and what would help: see refusal.h. Searches need the least memory
 * and hold a few rows at a time, so they are what is advised where another method was requested,
 * and fewer sources only where a search from one of them fits.
 */
#include "apsp/plan/refusal.h"

#include "apsp/plan/gpu.h"
#include "apsp/search/search.h"
#include "apsp/shared/deliver.h"
#include "apsp/sweep/known_order.h"
#include "base/memory.h"

#include <stdio.h>

#define WAYS 200 /* bytes of advice */

/* The candidate of a method and kind of device. */
static const twi_candidate *find(const twi_candidate *all, int count, tw_apsp_method method,
                                 bool gpu)
{
    int at = 0;
    for (int i = 0; i < count; i++) {
        at = all[i].method == method && all[i].gpu == gpu ? i : at;
    }
    return &all[at];
}

/* Of the CPU's, the one that needs the least memory; NULL if no memory is known. */
static const twi_candidate *find_smallest(const tw_apsp_plan *plan, const twi_candidate *all,
                                          int count)
{
    const twi_candidate *smallest = NULL;
    for (int i = 0; i < count; i++) {
        const twi_candidate *c = &all[i];
        if (twi_is_wanted(plan, c) && !c->gpu && c->memory > 0 &&
            (smallest == NULL || c->memory < smallest->memory)) {
            smallest = c;
        }
    }
    return smallest;
}

/* Bytes of searches for what is asked. */
static uint64_t search_bytes(const tw_apsp_plan *plan)
{
    return twi_searches_planned(plan, TW_APSP_METHOD_DIJKSTRA);
}

/* The same from one source. */
static uint64_t one_search_bytes(const tw_apsp_plan *plan)
{
    static const int32_t some = 0;
    tw_apsp_plan one = *plan;
    const int64_t rows = twi_plan_rows(plan);
    one.options.sources = &some;
    one.options.source_count = 1;
    one.options.beside = rows > 0 ? plan->options.beside / (uint64_t)rows : 0;
    return search_bytes(&one);
}

/* What could be done with `room` bytes, in place of a method that does not fit. */
static void find_ways(char ways[WAYS], const tw_apsp_plan *plan, uint64_t room)
{
    const tw_apsp_method method = plan->options.method;
    const bool searches = method == TW_APSP_METHOD_AUTO || method == TW_APSP_METHOD_DIJKSTRA;
    const char *without = plan->options.checkpoint != NULL ? " without a checkpoint" : "";
    char need[32];
    ways[0] = '\0';
    if (!searches && search_bytes(plan) <= room) {
        snprintf(ways, WAYS, " use method auto or dijkstra%s (dijkstra needs %s),", without,
                 twi_bytes(need, (double)search_bytes(plan)));
    } else if (one_search_bytes(plan) <= room) {
        snprintf(ways, WAYS, "%s%s request fewer sources,", searches ? "" : " use method dijkstra",
                 searches             ? ""
                 : without[0] != '\0' ? " without a checkpoint and"
                                      : " and");
    }
}

tw_status twi_refuse_order(tw_context *ctx, const tw_graph *graph, int threads, const char *ways)
{
    const uint64_t room = twi_memory_room(ctx);
    const uint64_t bytes = twi_order_memory(graph, threads);
    char need[32], have[32], advice[TWI_ADVICE];
    if (bytes <= room) {
        return TW_ERR_MEMORY;
    }
    twi_bytes_apart(need, bytes, have, room);
    twi_memory_advice(advice, ctx, bytes);
    return tw_fail(ctx, TW_ERR_MEMORY,
                   "the elimination order of %lld vertices needs up to %s of memory, but %s is "
                   "available%s%s%s%s use a machine with more memory",
                   (long long)graph->n, need, have, advice, advice[0] != '\0' ? "," : ";", ways,
                   advice[0] != '\0' || ways[0] != '\0' ? " or" : "");
}

tw_status twi_refuse_sweep(tw_context *ctx, const tw_apsp_plan *plan)
{
    char ways[WAYS];
    find_ways(ways, plan, twi_memory_room(ctx));
    return twi_refuse_order(ctx, plan->graph, plan->threads, ways);
}

tw_status twi_refuse_plan(tw_context *ctx, const tw_apsp_plan *plan, const twi_candidate *all,
                          int count)
{
    const tw_apsp_method method = plan->options.method;
    const twi_candidate *smallest = find_smallest(plan, all, count);
    const long long n = (long long)plan->graph->n;
    const twi_candidate *sweep = find(all, count, TW_APSP_METHOD_SWEEP, true);
    const twi_candidate *closure = find(all, count, TW_APSP_METHOD_CLOSURE, true);
    if (twi_gpu_is_named(ctx) && method == TW_APSP_METHOD_SWEEP) {
        return tw_fail(ctx, TW_ERR_MEMORY, "%s: cannot sweep %lld vertices: %s", ctx->device, n,
                       sweep->why_not);
    }
    if (twi_gpu_is_named(ctx) && closure->why_not[0] != '\0') {
        return tw_fail(ctx, TW_ERR_MEMORY, "%s: cannot close %lld vertices: %s", ctx->device, n,
                       closure->why_not);
    }
    if (smallest == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "method %s cannot be used: %s",
                       tw_apsp_method_name(method),
                       find(all, count, method, twi_gpu_is_named(ctx))->why_not);
    }
    const uint64_t room = twi_memory_room(ctx);
    char need[32], have[32], advice[TWI_ADVICE], ways[WAYS];
    twi_bytes_apart(need, smallest->memory, have, room);
    twi_memory_advice(advice, ctx,
                      smallest->memory > smallest->memory_wider ? smallest->memory
                                                                : smallest->memory_wider);
    find_ways(ways, plan, room);
    return tw_fail(ctx, TW_ERR_MEMORY,
                   "%lld vertices need %s of memory with %s%s, but %s is available%s%s%s%s use a "
                   "machine with more memory",
                   n, need, tw_apsp_method_name(smallest->method),
                   method == TW_APSP_METHOD_AUTO ? ", the method that needs the least here" : "",
                   have, advice, advice[0] != '\0' ? "," : ";", ways,
                   advice[0] != '\0' || ways[0] != '\0' ? " or" : "");
}
