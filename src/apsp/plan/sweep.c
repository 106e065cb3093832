/* Sweeps as candidates of a plan: see sweep.h. */
#include "apsp/plan/sweep.h"

#include "apsp/closure/scatter.h"
#include "apsp/plan/estimate.h"
#include "apsp/plan/gpu.h"
#include "apsp/plan/refusal.h"
#include "apsp/plan/screen.h"
#include "apsp/sweep/batch.h"
#include "apsp/sweep/known_order.h"
#include "apsp/sweep/sweep.h"
#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>

#define SWEEP_LEAST 256      /* vertices, */
#define SWEEP_DEGREE 64.0    /*   and arcs per vertex at most, for a sweep to be considered */
#define ORDER_SECONDS 150e-9 /* of an order: per vertex or arc, */
#define ORDER_DOUBLED 55e-9  /*   more of them for each doubling of the vertices from */
#define ORDER_CUT 32000.0   /*   here on, where all threads dissect (Neoverse V1, November 2026); */
#define ORDER_SHARE 0.4     /*   and the part of the rival's that it may take; */
#define KEPT_SECONDS 80e-9  /* of a kept one: read, and its steps counted; */
#define KEPT_SHARE 0.3      /*   and its part (Neoverse V1, November 2026) */
#define WIDE 0.08           /* if one level has more of the vertices than this, */
#define WIDE_SECONDS 320e-9 /*   the same, of up to */
#define WIDE_SIZE 1e4       /*   so many vertices, */
#define WIDE_GROWS 0.4      /*   and beyond by this power of their number (Neoverse V1), */
#define WIDE_SHARE 0.3      /*   where a periphery of few arcs makes good what the core costs, */
#define PERIPHERY 0.3       /*   which has that many of the vertices, */
#define NO_PERIPHERY 0.05   /*   and the same share where there is none */
#define MERGE_SECONDS 1.5e-9 /* of an entry that a front leaves to its parent (Neoverse V1) */
#define SORT_SECONDS 6e-9    /* of an arc: put to those of its block, */
#define FILL_SECONDS 5e-9    /*   and into its front, which one thread fills; */
#define LIST_SECONDS 5e-9    /*   and listed for the certificate, by one thread (both machines) */
#define HALF_DOWN 0.56       /* of the way down, where each pair is computed once */
#define FOLD_STEPS 2.5       /* steps that an entry counts as: summed up along its row, */
#define FOLD_BOTH 3.0        /*   or along both ways */
#define TEAM_SECONDS 20e-6   /* of a thread: started, and waited for at the heights of the tree */
#define SWEEP_UP 1.3        /* steps that one on the way up counts as: strips are not full there; */
#define READ_SECONDS 0.3e-9 /*   and of a byte of the factor that a batch reads there */
#define FACTOR_EFFICIENCY 0.9  /* of the micro-kernel's rate, for fronts, which have no gaps */
#define PAGE_SECONDS 0.3e-9    /* of a byte that is used for the first time */
#define SWEEP_BYTE 0.3e-9      /* seconds of a byte of an entry: transposed and written */
#define SWEEP_CONVERT 0.5e-9   /* of an entry: converted to the type of the result */
#define FRONT_SECONDS 0.4e-6   /* of a vertex: its part of a front, filled and packed */
#define SERIAL_SECONDS 0.4e-6  /* of a vertex: what threads wait for; */
#define TOP_SECONDS 14e-6      /*   and of one of the largest front, which all of them close */
#define SINGLE_SECONDS 0.12e-6 /* of a block of one vertex, in a batch */
#define CHECK_SECONDS 0.25e-9  /* of an arc and a source: that what has no path has none */
#define GPU_SWEEP_RATE 20e12   /* steps per second of a fast GPU, to see what an order may cost */

/* Before anything is spent on it: false, with the reason, where it cannot pay. */
static bool may_pay(const tw_apsp_plan *plan, twi_candidate *c)
{
    double n = (double)plan->graph->n;
    double arcs = (double)plan->graph->arcs;
    if (n < SWEEP_LEAST) {
        twi_rule_out(c, "below %d vertices the closure is as fast", SWEEP_LEAST);
    } else if (arcs > SWEEP_DEGREE * n) {
        twi_rule_out(c, "%.0f arcs per vertex leave no small separators", arcs / n);
    } else {
        return true;
    }
    return false;
}

/* The same for an order that an earlier run may have kept, which takes time, too. */
static bool kept_may_pay(const tw_apsp_plan *plan, twi_candidate *c, double rival)
{
    const double order = ((double)plan->graph->n + (double)plan->graph->arcs) * KEPT_SECONDS;
    char time[TWI_DURATION];
    if (plan->options.order != NULL || plan->options.order_cache == 0 ||
        order <= KEPT_SHARE * rival) {
        return true;
    }
    c->pays_beyond = order / KEPT_SHARE;
    twi_rule_out(c, "reading or computing its order alone would take %s or more",
                 twi_duration(time, order));
    return false;
}

/* Seconds of an order that is made. */
static double order_seconds(const tw_apsp_plan *plan)
{
    const double n = (double)plan->graph->n;
    const double doublings = fmax(log2(n / ORDER_CUT), 0);
    return (n + (double)plan->graph->arcs) *
           (ORDER_SECONDS + ORDER_DOUBLED * doublings / plan->threads);
}

/* The same where its order would have to be made, which takes longer, and pays less, where the
 * graph falls apart at no small set of vertices. */
static tw_status order_may_pay(tw_context *ctx, const tw_apsp_plan *plan, twi_candidate *c,
                               double rival, bool *pays)
{
    const double size = (double)plan->graph->n + (double)plan->graph->arcs;
    twi_screen screen;
    char time[TWI_DURATION];
    double order = order_seconds(plan);
    *pays = order <= ORDER_SHARE * rival;
    if (!*pays) {
        c->pays_beyond = order / ORDER_SHARE;
        twi_rule_out(c, "computing its order alone would take about %s", twi_duration(time, order));
        return TW_OK;
    }
    tw_status status =
        twi_screen_graph(ctx, plan->graph, twi_seems_symmetric(plan->graph), &screen);
    if (status != TW_OK || screen.widest <= WIDE) {
        return status;
    }
    const bool periphery = screen.low >= PERIPHERY;
    const double share = periphery ? WIDE_SHARE : NO_PERIPHERY;
    order = size * WIDE_SECONDS * pow(fmax((double)plan->graph->n / WIDE_SIZE, 1), WIDE_GROWS);
    *pays = order <= share * rival;
    if (!*pays) {
        c->pays_beyond = order / share;
        twi_rule_out(c, "%.0f %% of the vertices lie at one distance%s: an order would take %s",
                     100 * screen.widest, periphery ? "" : ", few of them with few arcs",
                     twi_duration(time, order));
    }
    return status;
}

bool twi_sweep_order_may_pay(const tw_apsp_plan *plan, double rival)
{
    twi_candidate unused = {0};
    return plan->options.order != NULL ||
           (may_pay(plan, &unused) &&
            (plan->options.order_cache != 0 ? kept_may_pay(plan, &unused, rival)
                                            : order_seconds(plan) <= ORDER_SHARE * rival));
}

/* Seconds of a run that are not in the tree's steps: visits of blocks so small that there is hardly
 * a step, the certificate of short types, where some vertices are out of reach, and the factor of
 * the blocks on the way up, which is more than a cache holds where they are large: a line of it is
 * read for a few steps. */
static double besides(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel, bool half)
{
    const twi_tree *tree = plan->tree;
    const int64_t rows = twi_plan_rows(plan);
    const double batches =
        (double)rows / (double)twi_batch_width(tree, kernel, rows, plan->threads);
    const bool certifies = kernel->type == TW_U8 || kernel->type == TW_U16;
    double single = 0;
    for (int32_t b = 0; b < tree->blocks; b++) {
        single += twi_tree_size(tree, b) == 1 ? 1 : 0;
    }
    const double checks = certifies ? plan->missed * (double)rows * (double)plan->graph->arcs : 0;
    const double read = batches * tree->up * (double)tw_type_size(kernel->type);
    return (single * batches * (half ? 0.5 : 1) * SINGLE_SECONDS + checks * CHECK_SECONDS +
            read * READ_SECONDS) /
           plan->threads;
}

/* Of the arcs, before a batch begins. As many as the largest front has room for may be in that. */
static double arcs_seconds(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel, bool half)
{
    const double arcs = (double)plan->graph->arcs;
    const double front = (double)plan->tree->front_most;
    const double together = fmin(arcs, front * front);
    const bool certifies = kernel->type == TW_U8 || kernel->type == TW_U16;
    return arcs * SORT_SECONDS / plan->threads +
           (together + (arcs - together) / plan->threads) * FILL_SECONDS +
           (certifies && !half ? arcs * LIST_SECONDS : 0);
}

double twi_sweep_seconds(const tw_apsp_plan *plan, const twi_minplus_kernel *kernel, double rate,
                         uint64_t memory)
{
    const tw_type work = kernel->type;
    const twi_tree *tree = plan->tree;
    const double rows = (double)twi_plan_rows(plan);
    const double entries = rows * (double)plan->graph->n;
    const double up = tree->up - tree->spared;
    const double alone = (double)plan->graph->n * SERIAL_SECONDS * (1 - 1.0 / plan->threads);
    const double made = alone + (double)plan->graph->n * FRONT_SECONDS / plan->threads +
                        plan->threads * TEAM_SECONDS +
                        (double)tree->front_most * TOP_SECONDS * (1 - 1.0 / plan->threads) +
                        (double)memory * PAGE_SECONDS / plan->threads +
                        tree->rests * MERGE_SECONDS / plan->threads;
    const bool folds = twi_will_fold(plan);
    const bool half = folds && plan->options.sources == NULL && twi_seems_symmetric(plan->graph);
    const double each = half ? FOLD_BOTH : folds ? FOLD_STEPS : 0;
    const double steps =
        rows * ((half ? HALF_DOWN : 1) * tree->down + SWEEP_UP * up) + each * entries;
    const double entry =
        folds ? 0
              : SWEEP_BYTE * (double)tw_type_size(work) + (work != plan->type ? SWEEP_CONVERT : 0);
    return steps / (TWI_SWEEP_EFFICIENCY * rate) + tree->factor / (FACTOR_EFFICIENCY * rate) +
           entries * entry / plan->threads + made + arcs_seconds(plan, kernel, half) +
           besides(plan, kernel, half);
}

/* The tree of elimination into the plan, from a known order or a new one, unless separators are so
 * wide that the rival is faster. The kernel's rate is measured where there is a kernel. */
static tw_status make_tree(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                           const twi_minplus_kernel *kernel, double rival, double *rate)
{
    const bool forced = plan->options.method == TW_APSP_METHOD_SWEEP;
    twi_known_order known = {0};
    tw_status status = twi_known_order_find(ctx, &known, plan);
    bool pays = forced || known.order != NULL;
    if (status == TW_OK && !pays) {
        status = order_may_pay(ctx, plan, c, rival, &pays);
    }
    if (status == TW_OK && pays) {
        if (kernel != NULL) {
            status = twi_kernel_rate(ctx, kernel, plan->threads, rate);
        }
        if (status == TW_OK) {
            status = twi_sweep_tree(ctx, plan, &known, kernel, forced ? INFINITY : rival * *rate,
                                    TWI_SWEEP_EFFICIENCY * *rate);
        }
        if (status == TW_OK && plan->tree == NULL) {
            twi_rule_out(c, "the graph's separators are too large");
        }
    }
    twi_known_order_clear(&known);
    return status;
}

/* The same, if it may pay. Where there is no memory for an order that nobody asked for, the
 * candidate is ruled out. */
static tw_status find_tree(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                           const twi_minplus_kernel *kernel, double rival, double *rate)
{
    const bool forced = plan->options.method == TW_APSP_METHOD_SWEEP;
    if (!forced && !(may_pay(plan, c) && kept_may_pay(plan, c, rival))) {
        return TW_OK;
    }
    tw_status status = make_tree(ctx, plan, c, kernel, rival, rate);
    if (status == TW_ERR_MEMORY && !forced) {
        twi_rule_out(c, "not enough memory for its order");
        return TW_OK;
    }
    return status == TW_ERR_MEMORY ? twi_refuse_sweep(ctx, plan) : status;
}

/* Of its own accord no plan takes a sweep that would be refused in the middle. */
static void rule_out_if_wider_is_too_large(tw_context *ctx, const tw_apsp_plan *plan,
                                           twi_candidate *c)
{
    const uint64_t left = twi_memory_room(ctx);
    char need[32], have[32];
    if (c->possible && plan->options.method == TW_APSP_METHOD_AUTO && c->memory_wider > left) {
        twi_rule_out(c, "if distances are too long for %s, needs %s of memory; %s is available",
                     tw_type_name(c->work_type), twi_bytes(need, (double)c->memory_wider),
                     twi_bytes(have, (double)left));
    }
}

tw_status twi_consider_sweep(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c, tw_type type,
                             double rival)
{
    double rate = 0;
    c->work_type = type;
    c->pays_beyond = 0;
    c->why_not[0] = '\0';
    const twi_minplus_kernel *kernel = twi_closure_kernel(plan, c->work_type);
    tw_status status = find_tree(ctx, plan, c, kernel, rival, &rate);
    if (status != TW_OK || plan->tree == NULL) {
        return status;
    }
    c->possible = true;
    const uint64_t beside =
        twi_tree_memory(plan->tree) + twi_rows_planned(plan, TW_APSP_METHOD_SWEEP, type);
    c->memory = beside + twi_sweep_memory(plan, plan->tree, kernel);
    const uint64_t again = beside + twi_sweep_again_memory(plan, plan->tree, kernel);
    c->memory_wider = again > plan->order_most ? again : plan->order_most;
    c->seconds = twi_sweep_seconds(plan, kernel, rate, c->memory);
    snprintf(
        c->basis, sizeof c->basis,
        "%s, %s%s; %d block%s, largest front %lld; %.3g steps per source in %s at %.1f G relax/s",
        twi_order_maker(plan->order_maker), plan->order_origin, plan->order_note,
        plan->tree->blocks, plan->tree->blocks == 1 ? "" : "s", (long long)plan->tree->front_most,
        plan->tree->down + plan->tree->up, tw_type_name(c->work_type),
        TWI_SWEEP_EFFICIENCY * rate / 1e9);
    twi_rule_out_if_too_large(ctx, c);
    rule_out_if_wider_is_too_large(ctx, plan, c);
    return TW_OK;
}

tw_status twi_reconsider_sweep(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c, tw_type type,
                               const twi_candidate *best)
{
    const bool pays = best != NULL && c->pays_beyond > 0 && best->seconds > c->pays_beyond;
    return pays ? twi_consider_sweep(ctx, plan, c, type, best->seconds) : TW_OK;
}

tw_status twi_consider_named_sweep(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                   double farthest, double rival)
{
    double rate = GPU_SWEEP_RATE;
    tw_status status = find_tree(ctx, plan, c, NULL, rival, &rate);
    return status == TW_OK && plan->tree != NULL ? twi_consider_gpu_sweep(ctx, plan, c, farthest)
                                                 : status;
}
