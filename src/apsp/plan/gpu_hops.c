/*
 * The estimate of searches on a GPU: for each batch and level a launch and the rows of all arcs
 * from the caches, but for the first, which reads lists alone; then a slab that is written and
 * turned, or folded; and, unless sums are all that is wanted, the link, over which a distance is a
 * byte. Rates as seen on an H200 in November 2026, in proportion to processors and clock on others.
 *
 * In a dense graph of degree d a row of the second level has d / n of its bits, and a vertex has
 * found all of 4096 searches after the rows of about ln(4096) n / d neighbours.
 */
#include "apsp/plan/gpu_hops.h"

#include "apsp/gpu/hops.h"
#include "apsp/plan/gpu.h"
#include "base/memory.h"
#include "gpu/startup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define START 0.004                /* seconds: memory, pinned buffers, the first kernels */
#define SENT 0.6e-9                /* seconds of an arc, and of a vertex: cut into pieces, sent, */
#define TURNED 3e-9                /*   and turned round first: by each thread, */
#define TURNED_ONCE 12e-9          /*   and by all together */
#define BATCH 4096.0               /* searches */
#define LEVEL 6e-6                 /* seconds of a level, however small */
#define LOOK 30e-6                 /* of a batch: waiting to see that it has ended */
#define ROW_BYTES 512.0            /* of an arc and level */
#define CACHE_RATE 4e12            /* bytes per second */
#define LIST_RATE 2e12             /* of lists */
#define ENOUGH 9.0                 /* rows, times n / degree */
#define SLAB_RATE 0.5e12           /* entries per second: written and turned */
#define LINK 40e9                  /* bytes per second */
#define ENTRY 0.25e-9              /* seconds of an entry on a thread of the host: converted */
#define H200_CYCLES 2.6e11         /* processors times clock */
#define UNKNOWN_LEVELS 24.0        /* where no search has told */
#define WINDOW 15.0                /* levels that are written at a time */
#define MANY_LEVELS 160.0          /* of one source: others may have more than a byte holds */
#define MOST_ARCS (INT32_MAX - 64) /* a group looks some beyond its own */

static double speed_of(const twi_gpu_info *info)
{
    const double clock = info->clock > 0 ? info->clock : 1.5e9;
    return fmax(info->processors * clock / H200_CYCLES, 1e-3);
}

static double levels_of(const tw_apsp_plan *plan, double farthest)
{
    const tw_graph *graph = plan->graph;
    double levels = farthest == TWI_UNKNOWN || graph->arcs == 0
                        ? UNKNOWN_LEVELS
                        : farthest / graph->max_weight * TWI_FARTHER + 1;
    if (plan->options.cutoff >= 0 && graph->arcs > 0) {
        levels = fmin(levels, plan->options.cutoff / graph->max_weight + 1);
    }
    return levels;
}

static double estimate(const tw_apsp_plan *plan, const twi_gpu_info *info, double levels)
{
    const tw_graph *graph = plan->graph;
    const double rows = (double)twi_plan_rows(plan), n = (double)graph->n;
    const double arcs = (double)graph->arcs, batches = ceil(rows / BATCH);
    const double degree = n > 0 ? arcs / n : 0;
    const double rows_read = degree > 0 ? n * fmin(degree, ENOUGH * n / degree) : 0;
    const double lists = arcs * sizeof(int32_t) / (LIST_RATE * speed_of(info));
    const double level = rows_read * ROW_BYTES / (CACHE_RATE * speed_of(info));
    const double search = levels * LEVEL + lists + fmax(levels - 1, 0) * level;
    const double entries = rows * n;
    const bool folded = twi_will_fold(plan) && plan->options.sources == NULL;
    const bool turned = !folded && !graph->undirected;
    const double bytes = levels > MANY_LEVELS ? 2 : 1; /* of a distance */
    const double slab = entries / (SLAB_RATE * speed_of(info));
    return START + (arcs + n) * (SENT + (turned ? TURNED + TURNED_ONCE / plan->threads : 0)) +
           batches * (LOOK + search) + slab +
           (folded ? 0
                   : floor(levels / WINDOW) * slab + entries * bytes / LINK +
                         entries * ENTRY / plan->threads);
}

static void weigh(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c, const twi_gpu_info *info,
                  double farthest)
{
    const tw_graph *graph = plan->graph;
    char need[32];
    char have[32];
    if (plan->gpus.count > 1) {
        twi_rule_out(c, "searches use one GPU; name just one");
        return;
    }
    if (graph->arcs >= MOST_ARCS) {
        twi_rule_out(c, "%lld arcs are too many for searches on a GPU", (long long)graph->arcs);
        return;
    }
    c->device_memory = twi_gpu_hops_bytes(plan);
    if (c->device_memory > plan->gpu_allowed) {
        twi_rule_out(c, "searches need %s of GPU memory; %s may be used",
                     twi_bytes(need, (double)c->device_memory),
                     twi_bytes(have, (double)plan->gpu_allowed));
        return;
    }
    const double levels = levels_of(plan, farthest);
    c->possible = true;
    c->way = TWI_GPU_RESIDENT;
    c->work_type = TW_U8;
    c->memory = twi_gpu_hops_memory(plan) + twi_delivery_planned(plan, NULL);
    c->seconds = estimate(plan, info, levels);
    snprintf(c->basis, sizeof c->basis,
             "%.0f level%s of %lld arc%s on %.40s, using %s of its memory", levels,
             levels == 1 ? "" : "s", (long long)graph->arcs, graph->arcs == 1 ? "" : "s",
             info->name, twi_bytes(need, (double)c->device_memory));
    twi_rule_out_if_too_large(ctx, c);
}

tw_status twi_consider_gpu_hops(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                double farthest)
{
    const bool named = twi_gpu_is_named(ctx);
    twi_gpu_info info;
    if (!plan->graph->equal && plan->graph->arcs > 0) {
        twi_rule_out_unequal(c, plan->graph);
        return TW_OK;
    }
    plan->waited += twi_gpu_await(ctx);
    tw_status status = TW_OK;
    if (named) {
        status = twi_gpu_select(ctx, &plan->gpus);
    } else {
        plan->gpus = (twi_gpu_list){.count = 1};
    }
    if (status == TW_OK) {
        status = twi_gpu_describe(ctx, plan->gpus.index[0], &info);
    }
    if (status == TW_OK) {
        status = twi_gpu_allowance(ctx, &plan->gpus, &plan->gpu_allowed);
    }
    if (status == TW_OK) {
        weigh(ctx, plan, c, &info, farthest);
    } else if (!named) {
        twi_rule_out(c, "%.150s", tw_last_error(ctx));
        status = TW_OK;
    }
    return status;
}

tw_status twi_consider_gpu_hops_if_they_may_pay(tw_context *ctx, tw_apsp_plan *plan,
                                                twi_candidate *c, const twi_candidate *best,
                                                double farthest)
{
    char why[128];
    const char *short_of_it;
    const double look = twi_gpu_worth_a_look(ctx, &short_of_it);
    if (strcmp(ctx->device, "cpu") == 0) {
        twi_rule_out(c, "the device is the CPU");
    } else if (twi_gpu_prefix()[0] == '\0') {
        twi_rule_out(c, "%s", twi_gpu_text());
    } else if (plan->options.method != TW_APSP_METHOD_AUTO &&
               plan->options.method != TW_APSP_METHOD_BFS) {
        return TW_OK;
    } else if (!plan->graph->equal) {
        twi_rule_out_unequal(c, plan->graph);
    } else if (best != NULL && best->seconds < look) {
        twi_rule_out(c, "%s", short_of_it);
    } else {
        plan->gpu_ran = plan->gpu_ran || twi_gpu_is_running(ctx);
        plan->waited += twi_gpu_await(ctx);
        if (twi_gpu_present(why, sizeof why)) {
            return twi_consider_gpu_hops(ctx, plan, c, farthest);
        }
        twi_rule_out(c, "%s", why);
    }
    return TW_OK;
}

void twi_settle_gpu_hops(tw_apsp_plan *plan)
{
    plan->gpu_narrow = false;
    plan->work_type = TW_U8;
}
