/*
 * The GPU as a candidate of the plan. Its estimate (estimate.h) comes from what its processors do
 * in a clock, which was measured once for each architecture: a probe here and now would see the low
 * clock of an idle device.
 *
 * A GPU that was named is the only candidate. With "auto" it is looked at where the CPU would take
 * longer than a driver takes to start: the look itself is that start. One that runs already has
 * paid for it, and is looked at for much less. Then what is left of its time decides.
 */
#include "apsp/plan/gpu.h"

#include "apsp/closure/certificate.h"
#include "apsp/closure/checkpoint.h"
#include "apsp/gpu/gpu.h"
#include "apsp/plan/estimate.h"
#include "apsp/shared/deliver.h"
#include "apsp/sweep/tree.h"
#include "base/memory.h"
#include "gpu/startup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FACTOR_EFFICIENCY 0.5 /* of the micro-kernel's rate */

bool twi_gpu_is_named(const tw_context *ctx)
{
    return strcmp(ctx->device, "auto") != 0 && strcmp(ctx->device, "cpu") != 0;
}

tw_type twi_type_for_gpu(const tw_apsp_plan *plan, double farthest)
{
    const tw_graph *graph = plan->graph;
    if (plan->options.work_type != TW_AUTO) {
        return plan->options.work_type;
    }
    if (!graph->integral) {
        return twi_plan_float_type(plan);
    }
    return farthest < TW_APSP_INF_I32 ? TW_I32 : TW_F64;
}

static bool tries_narrow(const tw_apsp_plan *plan, tw_type type, const twi_gpu_info *info,
                         double farthest)
{
    return type == TW_I32 && plan->options.work_type == TW_AUTO &&
           twi_gpu_narrow_pays(plan->graph->n, info->compute) &&
           farthest * TWI_FARTHER < TWI_GPU_INF_U16;
}

/* GPUs of the list, each counted once: those named again share its processors. */
static int32_t different(const twi_gpu_list *gpus)
{
    int32_t count = 0;
    for (int32_t i = 0; i < gpus->count; i++) {
        count += twi_gpu_is_first(gpus, i);
    }
    return count;
}

/* Host memory of a closure whose matrix lies there: itself, the delivery, and in the end the
 * certificate. False if no machine could address it. */
static bool host_memory(const tw_apsp_plan *plan, tw_type type, uint64_t *out)
{
    if (!twi_matrix_memory(plan, type, out)) {
        return false;
    }
    *out += twi_delivery_planned(plan, NULL);
    if (plan->options.checkpoint != NULL) {
        *out += twi_checkpoint_memory(plan->graph->n, plan->threads);
    }
    if (type == TW_I32) {
        *out += twi_certificate_memory(plan->graph->n, plan->threads);
    }
    return true;
}

/* Seconds on the link and on the processors: one after the other, or, when the matrix is streamed,
 * at the same time. */
static double estimate_seconds(const tw_apsp_plan *plan, const twi_candidate *c,
                               const twi_gpu_info *info, int32_t passes)
{
    const tw_graph *graph = plan->graph;
    double n = (double)graph->n;
    double matrix = n * n * (double)tw_type_size(c->work_type) * (plan->symmetric ? 0.5 : 1.0);
    double result = (double)twi_plan_rows(plan) * (double)twi_plan_cols(plan) *
                    (double)tw_type_size(plan->type);
    twi_gpu_job work = {
        .n = graph->n,
        .type = plan->gpu_narrow ? TW_U16 : c->work_type,
        .share = c->way == TWI_GPU_RESIDENT
                     ? twi_closure_share(plan, TWI_GPU_PIVOT)
                     : (plan->symmetric ? 0.53 : 1.0) / different(&plan->gpus),
        .pin_bytes = c->way == TWI_GPU_RESIDENT ? 0 : n * n * (double)tw_type_size(c->work_type),
    };
    if (c->way == TWI_GPU_STREAMED) { /* both directions at once */
        twi_gpu_job link = {
            .type = c->work_type,
            .pinned_bytes = passes * matrix,
            .pin_bytes = work.pin_bytes,
        };
        return fmax(twi_gpu_estimate(info, &link), twi_gpu_estimate(info, &work));
    }
    work.pinned_bytes = c->way == TWI_GPU_RESIDENT ? (double)graph->arcs * 8 + result : 2 * matrix;
    return twi_gpu_estimate(info, &work);
}

static void estimate(tw_apsp_plan *plan, twi_candidate *c, const twi_gpu_info *info, int32_t passes)
{
    tw_type closed_in = plan->gpu_narrow ? TW_U16 : c->work_type;
    char bytes[32];
    c->seconds = estimate_seconds(plan, c, info, passes);
    snprintf(c->basis, sizeof c->basis, "n^3%s in %s on %.40s at %.3g T relax/s, using %s%s",
             plan->symmetric ? "/2" : "", plan->gpu_narrow ? "16 bits" : tw_type_name(closed_in),
             info->name, twi_gpu_rate(info, closed_in) * 1e-12,
             twi_bytes(bytes, (double)c->device_memory),
             plan->gpus.count > 1         ? " of memory on each"
             : c->way == TWI_GPU_STREAMED ? " of its memory, the matrix streamed through it"
                                          : " of its memory");
}

/* The way of a matrix in host memory. One that is kept in checkpoints lies there even if one device
 * holds it all, which then has it for its share. */
static tw_status find_way(tw_context *ctx, const tw_apsp_plan *plan, tw_type type, twi_gpu_fit *out)
{
    const int64_t n = plan->graph->n;
    const uint64_t all = twi_gpu_several_bytes(&plan->gpus, type, n, plan->gpu_narrow);
    if (plan->options.checkpoint != NULL && all <= plan->gpu_allowed) {
        *out = (twi_gpu_fit){TWI_GPU_SEVERAL, all, 1};
        return TW_OK;
    }
    return twi_gpu_find_way(ctx, &plan->gpus, plan->gpu_allowed, type, n, plan->gpu_narrow, out);
}

/* The way is decided here, and the run takes it: on the one device that holds it all, or from a
 * matrix in host memory. */
static tw_status weigh(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                       const twi_gpu_info *info, double farthest)
{
    char need[32];
    char have[32];
    twi_gpu_fit fit = {.way = TWI_GPU_RESIDENT};
    c->work_type = twi_type_for_gpu(plan, farthest);
    c->possible = true;
    plan->gpu_narrow = tries_narrow(plan, c->work_type, info, farthest);
    tw_status status = twi_gpu_allowance(ctx, &plan->gpus, &plan->gpu_allowed);
    if (status != TW_OK) {
        return status;
    }
    uint64_t resident = twi_gpu_resident_bytes(plan, c->work_type);
    const bool keeps = plan->options.checkpoint != NULL;
    /* Sums that may overflow are looked for by delivery, in rows of the host. */
    if (plan->gpus.count == 1 && resident <= plan->gpu_allowed && !keeps &&
        !twi_plan_may_overflow(plan, c->work_type)) {
        c->memory = twi_gpu_resident_memory(plan) + twi_delivery_planned(plan, NULL);
        c->device_memory = resident;
    } else if (c->work_type == TW_U16 && keeps) {
        twi_rule_out(c, "working type u16 has no checkpoints on a GPU; use 'auto', which tries 16 "
                        "bits first");
    } else if (c->work_type == TW_U16 && plan->gpus.count > 1) {
        twi_rule_out(
            c, "working type u16 is limited to one GPU; use 'auto', which tries 16 bits first");
    } else if (c->work_type == TW_U16) {
        twi_rule_out(c, "working type u16 needs %s on one GPU; %s may be used",
                     twi_bytes(need, (double)resident), twi_bytes(have, (double)plan->gpu_allowed));
    } else if (!host_memory(plan, c->work_type, &c->memory)) {
        twi_rule_out(c, "%lld x %lld entries are more than this machine can address",
                     (long long)plan->graph->n, (long long)plan->graph->n);
    } else {
        status = find_way(ctx, plan, c->work_type, &fit);
        c->device_memory = fit.bytes;
    }
    c->way = fit.way;
    c->narrow = plan->gpu_narrow;
    if (status == TW_OK && c->possible) {
        estimate(plan, c, info, fit.passes);
    }
    twi_rule_out_if_too_large(ctx, c);
    return status;
}

static tw_status check_named(tw_context *ctx, const tw_apsp_plan *plan)
{
    if (plan->options.work_type == TW_U8) {
        return tw_fail(
            ctx, TW_ERR_UNSUPPORTED,
            "working type u8 is not supported on a GPU; use u16 (15 bits of it), i32, f32 or f64");
    }
    return TW_OK;
}

tw_status twi_leave_gpu_out(tw_context *ctx, twi_candidate *c, tw_status status)
{
    if (status != TW_OK && !twi_gpu_is_named(ctx)) {
        twi_rule_out(c, "%.150s", tw_last_error(ctx));
        return TW_OK;
    }
    return status;
}

static tw_status find_gpus(tw_context *ctx, tw_apsp_plan *plan)
{
    plan->waited += twi_gpu_await(ctx);
    tw_status status = twi_gpu_select(ctx, &plan->gpus);
    if (status == TW_OK && twi_gpu_is_named(ctx)) {
        status = check_named(ctx, plan);
    } else if (status == TW_OK) {
        plan->gpus = (twi_gpu_list){.count = 1};
    }
    return status;
}

tw_status twi_find_gpu(tw_context *ctx, tw_apsp_plan *plan, twi_gpu_info *info)
{
    tw_status status = plan->gpus.count > 0 ? TW_OK : find_gpus(ctx, plan);
    if (status == TW_OK) {
        status = twi_gpu_describe(ctx, plan->gpus.index[0], info);
    }
    return status == TW_OK ? twi_gpu_allowance(ctx, &plan->gpus, &plan->gpu_allowed) : status;
}

tw_status twi_consider_gpu(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c, double farthest)
{
    twi_gpu_info info;
    tw_status status = find_gpus(ctx, plan);
    if (status == TW_OK) {
        status = twi_gpu_describe(ctx, plan->gpus.index[0], &info);
    }
    if (status == TW_OK) {
        status = weigh(ctx, plan, c, &info, farthest);
    }
    return twi_leave_gpu_out(ctx, c, status);
}

static bool sweep_tries_narrow(const tw_apsp_plan *plan, tw_type type, const twi_gpu_info *info,
                               double farthest)
{
    return type == TW_I32 && plan->options.work_type == TW_AUTO && farthest != TWI_UNKNOWN &&
           twi_gpu_narrow_pays(INT32_MAX, info->compute) &&
           farthest * TWI_FARTHER < TWI_GPU_INF_U16;
}

static void weigh_sweep(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                        const twi_gpu_info *info, double rate)
{
    const twi_tree *tree = plan->tree;
    const tw_type type = c->narrow ? TW_U16 : c->work_type;
    char bytes[32];
    char have[32];
    if (twi_plan_may_overflow(plan, c->work_type)) {
        twi_rule_out(c, "the weights are so large that the CPU must check sums for overflow");
        return;
    }
    c->way = TWI_GPU_COLUMNS;
    c->device_memory = twi_gpu_sweep_bytes(plan, type);
    c->memory =
        twi_tree_memory(tree) + twi_gpu_sweep_memory(plan, type) + twi_delivery_planned(plan, NULL);
    c->possible = true;
    if (c->device_memory > plan->gpu_allowed) {
        twi_rule_out(c, "needs %s of GPU memory; %s may be used",
                     twi_bytes(bytes, (double)c->device_memory),
                     twi_bytes(have, (double)plan->gpu_allowed));
        return;
    }
    double result = (double)twi_plan_rows(plan) * (double)twi_plan_cols(plan) *
                    (double)tw_type_size(plan->type);
    const twi_gpu_sweep_job job = {
        .type = type,
        .n = (double)plan->graph->n,
        .rows = (double)twi_plan_rows(plan) / different(&plan->gpus),
        .down = tree->down,
        .up = tree->up,
        .factor = tree->factor,
        .factor_rate = rate,
        .front = (double)tree->front_most,
        .threads = plan->threads,
        .result_bytes = twi_will_fold(plan) ? 0 : result,
    };
    c->seconds = twi_gpu_sweep_estimate(info, &job);
    snprintf(
        c->basis, sizeof c->basis,
        "%d block%s, largest front %lld; %.3g steps per source in %s on %.40s, using %s of its "
        "memory",
        tree->blocks, tree->blocks == 1 ? "" : "s", (long long)tree->front_most,
        tree->down + tree->up, c->narrow ? "16 bits" : tw_type_name(type), info->name,
        twi_bytes(bytes, (double)c->device_memory));
    twi_rule_out_if_too_large(ctx, c);
}

tw_status twi_consider_gpu_sweep(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                 double farthest)
{
    twi_gpu_info info;
    double rate = 0; /* at which the CPU makes the factor */
    tw_status status = twi_find_gpu(ctx, plan, &info);
    if (status == TW_OK) {
        c->work_type = twi_type_for_gpu(plan, farthest);
        c->narrow = sweep_tries_narrow(plan, c->work_type, &info, farthest);
        status = twi_kernel_rate(ctx, twi_minplus_kernel_find(plan->isa, c->work_type),
                                 plan->threads, &rate);
    }
    if (status == TW_OK) {
        weigh_sweep(ctx, plan, c, &info, FACTOR_EFFICIENCY * rate);
    }
    return twi_leave_gpu_out(ctx, c, status);
}

bool twi_gpu_may_pay(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                     const twi_candidate *best)
{
    char why[128];
    const char *short_of_it;
    const double look = twi_gpu_worth_a_look(ctx, &short_of_it);
    const tw_apsp_options *o = &plan->options;
    if (strcmp(ctx->device, "cpu") == 0) {
        twi_rule_out(c, "the device is the CPU");
    } else if (twi_gpu_prefix()[0] == '\0') {
        twi_rule_out(c, "%s", twi_gpu_text());
    } else if (o->method == TW_APSP_METHOD_BFS || o->method == TW_APSP_METHOD_REFERENCE) {
        return false;
    } else if (o->block > 0 || o->work_type == TW_U8 || o->work_type == TW_U16) {
        /* u16 means 16 bits, and a GPU has 15 of them. */
        twi_rule_out(c, "a pivot block or an 8- or 16-bit working type is for the CPU only");
    } else if (best != NULL && best->seconds < look) {
        twi_rule_out(c, "%s", short_of_it);
    } else {
        plan->gpu_ran = plan->gpu_ran || twi_gpu_is_running(ctx);
        plan->waited += twi_gpu_await(ctx);
        if (twi_gpu_present(why, sizeof why)) {
            return true;
        }
        twi_rule_out(c, "%s", why);
    }
    return false;
}
