/*
 * The plan of local entropy: all that runs over arrays of one shape share, which is everything but
 * the values. The window as runs, the tables of logarithms, the edges of bins and, on a GPU,
 * streams and memory are made once; a run puts its own array into a copy of the setup.
 */
#include "entropy/plan/plan.h"

#include "base/given.h"
#include "base/memory.h"
#include "base/threads.h"
#include "entropy/gpu/host.h"
#include "entropy/plan/blocks.h"
#include "entropy/plan/explain.h"
#include "entropy/plan/prepare.h"

#include <math.h>

/* What the options point to, into the plan. */
static void keep_options(tw_entropy_plan *plan, tw_entropy_options *opts)
{
    if (opts->range != NULL) {
        plan->range[0] = opts->range[0];
        plan->range[1] = opts->range[1];
        opts->range = plan->range;
    }
    if (opts->no_data != NULL) {
        plan->no_data = *opts->no_data;
        opts->no_data = &plan->no_data;
    }
    if (opts->mask != NULL) {
        plan->mask = *opts->mask;
        opts->mask = &plan->mask;
    }
}

static double find_largest(const twi_entropy_setup *setup)
{
    const tw_entropy_options *opts = &setup->opts;
    const int64_t size = setup->window.size;
    const int64_t kinds = size < opts->levels ? size : opts->levels;
    const double unit = opts->base == TW_ENTROPY_BASE_E        ? 1
                        : opts->base == TW_ENTROPY_BASE_LEVELS ? log(opts->levels)
                                                               : log(opts->base);
    return log((double)kinds) / unit;
}

static void fill_info(tw_context *ctx, tw_entropy_plan *plan)
{
    const twi_entropy_setup *setup = &plan->setup;
    plan->info = (tw_entropy_plan_info){
        .size = sizeof plan->info,
        .shape = setup->shape,
        .method = twi_entropy_method_of(setup),
        .isa = twi_entropy_isa_of(setup),
        .why = twi_entropy_reason(setup),
        .threads = twi_thread_count(ctx),
        .window = setup->window.size,
        .largest = find_largest(setup),
    };
    twi_entropy_size(ctx, setup, &plan->info.block, &plan->info.bytes);
}

tw_status tw_entropy_plan_create(tw_context *ctx, tw_entropy_plan **out, const tw_shape *in,
                                 const tw_entropy_options *opts)
{
    static double nowhere;
    twi_clear_handle(out);
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"in", in});
    if (missing != TW_OK) {
        return missing;
    }
    tw_entropy_options kept = TW_ENTROPY_OPTIONS_INIT;
    tw_entropy_plan *plan = NULL;
    tw_status status = TWI_TAKE(ctx, tw_entropy_options, &kept, opts);
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &plan, 1, sizeof *plan, "a plan");
    }
    if (status == TW_OK) {
        keep_options(plan, &kept);
        plan->planned = (tw_matrix){&nowhere, in->rows, in->cols, in->cols, in->type};
        status = twi_entropy_prepare(ctx, &plan->setup, &plan->planned, &kept, TWI_ENTROPY_AUTO);
    }
    if (status == TW_OK) {
        plan->setup.opts.footprint = NULL; /* the window has it, and it may go */
        status = twi_entropy_gpu_open(ctx, &plan->setup);
    }
    if (status == TW_OK) {
        fill_info(ctx, plan);
        status = twi_entropy_explain(ctx, plan);
    }
    if (status != TW_OK) {
        tw_entropy_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return TW_OK;
}

void tw_entropy_plan_destroy(tw_entropy_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    twi_entropy_clear(&plan->setup);
    twi_free(plan->explanation);
    twi_free(plan);
}

const char *tw_entropy_plan_explain(const tw_entropy_plan *plan)
{
    return plan != NULL ? plan->explanation : "";
}

tw_status tw_entropy_plan_describe(const tw_entropy_plan *plan, tw_entropy_plan_info *out)
{
    return plan != NULL ? TWI_DESCRIBE(NULL, tw_entropy_plan_info, out, &plan->info)
                        : TW_ERR_ARGUMENT;
}

tw_status twi_entropy_plan_turn_to(tw_context *ctx, const tw_entropy_plan *plan,
                                   twi_entropy_setup *out, const tw_matrix *in)
{
    const tw_matrix *planned = &plan->planned;
    tw_status status = twi_matrix_check(ctx, in, "the array");
    if (status == TW_OK &&
        (in->rows != planned->rows || in->cols != planned->cols || in->type != planned->type)) {
        status = tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "the array is %lld x %lld of type %s, but this plan was created for %lld x %lld "
            "of type %s",
            (long long)in->rows, (long long)in->cols, tw_type_name(in->type),
            (long long)planned->rows, (long long)planned->cols, tw_type_name(planned->type));
    }
    *out = plan->setup;
    out->in = in;
    return status;
}

tw_status twi_entropy_plan_take_call(tw_context *ctx, const tw_entropy_plan *plan,
                                     twi_entropy_setup *out, const tw_matrix *result,
                                     const tw_matrix *in, tw_device_options *options,
                                     const tw_device_options *given)
{
    *options = (tw_device_options)TW_DEVICE_OPTIONS_INIT;
    tw_status status = TWI_TAKE(ctx, tw_device_options, options, given);
    if (status == TW_OK) {
        status = twi_entropy_plan_turn_to(ctx, plan, out, in);
    }
    return status == TW_OK ? twi_entropy_check_result(ctx, out, result) : status;
}
