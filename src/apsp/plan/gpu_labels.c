/*
 * The estimate of searches that correct labels: how often all arcs are scanned, each scan of an arc
 * being a row of labels read from the second cache, and the link. A search for the plan tells how
 * many arcs the paths from one source have at most; so many passes are needed, but labels that a
 * pass has just lowered are used in the same pass, and in the last ones few rows change. Rates as
 * seen on an H200 in November 2026, in proportion to processors and clock on others.
 */
#include "apsp/plan/gpu_labels.h"

#include "apsp/gpu/gpu.h"
#include "apsp/plan/gpu.h"
#include "apsp/plan/probe.h"
#include "apsp/shared/deliver.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>

#define START 0.004        /* seconds: memory, pinned buffers, the first kernels */
#define ARC 15e-9          /* seconds of an arc, and of a vertex: put where it leads */
#define SCANS_LEAST 2.0    /* of all arcs, whatever the graph, */
#define SCANS_AN_ARC 0.5   /*   and for each arc of the longest path seen */
#define MIDDLE 32.0        /* arcs: paths that are longer begin in the middle of something, and */
#define CORNER 64.0        /*   twice as long are others, of graphs with so many more */
#define UNKNOWN_DEPTH 24.0 /* arcs of that, where no search has told */
#define CACHE_RATE 5e12    /* bytes per second */
#define COLUMNS 8192.0     /* of a batch, about */
#define PASS 8e-6          /* seconds of a pass of a batch, however small */
#define FILL_RATE 1e12     /* bytes per second: labels cleared, folded or converted */
#define LINK 40e9          /* bytes per second */
#define SUMMARY 2e-9       /* seconds of an entry on a thread of the host, where it is not folded */
#define H200_CYCLES 2.6e11 /* processors times clock */
#define MOST_ARCS INT32_MAX

static double speed_of(const twi_gpu_info *info)
{
    const double clock = info->clock > 0 ? info->clock : 1.5e9;
    return fmax(info->processors * clock / H200_CYCLES, 1e-3);
}

static double scan_seconds(const tw_apsp_plan *plan, tw_type type, const twi_gpu_info *info)
{
    return (double)twi_plan_rows(plan) * (double)plan->graph->arcs * (double)tw_type_size(type) /
           (CACHE_RATE * speed_of(info));
}

/* Rows leave while other sources are searched. */
double twi_gpu_labels_seconds(const tw_apsp_plan *plan, tw_type type, const twi_gpu_info *info,
                              double depth)
{
    const double rows = (double)twi_plan_rows(plan), n = (double)plan->graph->n;
    const double size = (double)tw_type_size(type);
    const double result =
        twi_will_fold(plan) ? 0
                            : rows * (double)twi_plan_cols(plan) * (double)tw_type_size(plan->type);
    const double searched = (SCANS_LEAST + SCANS_AN_ARC * depth) * scan_seconds(plan, type, info) +
                            ceil(rows / COLUMNS) * depth * PASS +
                            2 * rows * n * size / (FILL_RATE * speed_of(info));
    const double summed = plan->options.summary_only == 1 && !twi_will_fold(plan)
                              ? rows * n * SUMMARY / plan->threads
                              : 0;
    return START + ((double)plan->graph->arcs + n) * ARC +
           fmax(searched, fmax(result / LINK, summed));
}

/* Arcs of the longest path from any source, from what one has told. */
static double depth_of(const tw_apsp_plan *plan)
{
    const double seen = plan->depth;
    return seen > 0 ? seen * (1 + fmin(fmax((seen - MIDDLE) / CORNER, 0), 1)) : UNKNOWN_DEPTH;
}

static void weigh(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c, const twi_gpu_info *info)
{
    const tw_type type = c->narrow ? TW_U16 : c->work_type;
    const double depth = depth_of(plan);
    char need[32];
    char have[32];
    c->device_memory = twi_gpu_labels_bytes(plan, type);
    if (c->device_memory > plan->gpu_allowed) {
        twi_rule_out(c, "searches need %s of GPU memory; %s may be used",
                     twi_bytes(need, (double)c->device_memory),
                     twi_bytes(have, (double)plan->gpu_allowed));
        return;
    }
    c->possible = true;
    c->memory = twi_gpu_labels_memory(plan, type) + twi_delivery_planned(plan, NULL);
    c->seconds = twi_gpu_labels_seconds(plan, type, info, depth);
    snprintf(c->basis, sizeof c->basis,
             "labels corrected along %lld arc%s in %s, paths of %.0f arc%s, on %.40s, using %s of "
             "its memory",
             (long long)plan->graph->arcs, plan->graph->arcs == 1 ? "" : "s",
             c->narrow ? "16 bits" : tw_type_name(type), depth, depth == 1 ? "" : "s", info->name,
             twi_bytes(need, (double)c->device_memory));
    twi_rule_out_if_too_large(ctx, c);
}

/* Before a search is spent on it: false, with the reason, where it cannot be used or cannot pay. */
static bool may_be_used(const tw_apsp_plan *plan, twi_candidate *c, const twi_gpu_info *info,
                        double rival)
{
    const double least = SCANS_LEAST * scan_seconds(plan, TW_U16, info);
    if (plan->gpus.count > 1) {
        twi_rule_out(c, "searches use one GPU; name just one");
    } else if (plan->graph->arcs >= MOST_ARCS) {
        twi_rule_out(c, "%lld arcs are too many for searches on a GPU",
                     (long long)plan->graph->arcs);
    } else if (twi_plan_may_overflow(plan, c->work_type)) {
        twi_rule_out(c, "the weights are so large that the CPU must check sums for overflow");
    } else if (plan->options.method == TW_APSP_METHOD_AUTO && least > rival) {
        twi_rule_out_slower(c, least, "another method is faster");
    } else {
        return true;
    }
    return false;
}

tw_status twi_consider_gpu_labels(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                  double farthest, double rival)
{
    twi_gpu_info info;
    double seen = farthest;
    tw_status status = twi_find_gpu(ctx, plan, &info);
    if (status == TW_OK) {
        c->work_type = twi_type_for_gpu(plan, farthest);
        if (may_be_used(plan, c, &info, rival)) {
            if (plan->depth == 0 && farthest == TWI_UNKNOWN) {
                status = twi_probe(ctx, plan, &seen);
            }
            c->narrow = c->work_type == TW_I32 && plan->options.work_type == TW_AUTO &&
                        seen != TWI_UNKNOWN && seen * TWI_FARTHER < TWI_GPU_INF_U16;
            if (status == TW_OK) {
                weigh(ctx, plan, c, &info);
            }
        }
    }
    return twi_leave_gpu_out(ctx, c, status);
}
