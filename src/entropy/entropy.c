/*
 * The entry of the entropy wing: options are checked and completed, the method is chosen, values
 * are checked before anything is written, and the rows go into the caller's matrix or through
 * sinks. A plan (plan/plan.c) keeps the first two for many arrays.
 */
#include "entropy/entropy.h"

#include "base/clock.h"
#include "base/given.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/threads.h"
#include "entropy/gpu/host.h"
#include "entropy/plan/blocks.h"
#include "entropy/plan/plan.h"
#include "entropy/plan/prepare.h"
#include "entropy/shared/levels.h"
#include "entropy/verify.h"
#include "gpu/device.h"

#include <math.h>
#include <string.h>

/* Complete what was seen of a run, and give it to the caller. */
static void give_report(tw_context *ctx, const twi_entropy_setup *setup, tw_entropy_report *out,
                        tw_entropy_report *seen)
{
    seen->method = twi_entropy_method_of(setup);
    seen->isa = twi_entropy_isa_of(setup);
    seen->threads = twi_thread_count(ctx);
    seen->rows = setup->shape.rows;
    seen->cols = setup->shape.cols;
    seen->window = setup->window.size;
    TWI_GIVE(tw_entropy_report, out, seen);
}

/* All of the result at once, into the caller's matrix. */
static tw_status fill(tw_context *ctx, const twi_entropy_setup *setup, tw_matrix *out,
                      tw_entropy_report *report)
{
    const int64_t rows = setup->shape.rows;
    tw_entropy_report seen = TW_ENTROPY_REPORT_INIT;
    tw_status status = TWI_CHECK_ROOM(ctx, tw_entropy_report, report);
    const double started = twi_seconds();
    if (status == TW_OK) {
        status = twi_entropy_check_result(ctx, setup, out);
    }
    if (status == TW_OK) {
        status = twi_levels_check(ctx, setup);
    }
    if (status == TW_OK) {
        status = twi_entropy_rows(ctx, setup, 0, rows, out->data, out->stride);
    }
    const double computed = twi_seconds();
    if (status == TW_OK) {
        status = twi_entropy_verify(ctx, setup, 0, rows, out->data, out->stride, &seen.verified);
    }
    if (status == TW_OK) {
        seen.seconds_compute = computed - started;
        seen.seconds_verify = twi_seconds() - computed;
        seen.block = rows;
        give_report(ctx, setup, report, &seen);
    }
    return status;
}

tw_status tw_entropy(tw_context *ctx, tw_matrix *out, const tw_matrix *in,
                     const tw_entropy_options *opts)
{
    tw_status missing = TWI_REQUIRE(ctx, {"out", out}, {"in", in});
    if (missing != TW_OK) {
        return missing;
    }
    twi_entropy_setup setup;
    tw_entropy_options typed = TW_ENTROPY_OPTIONS_INIT;
    tw_status status = TWI_TAKE(ctx, tw_entropy_options, &typed, opts);
    if (status == TW_OK) {
        typed.type = out->type;
        status = twi_entropy_prepare(ctx, &setup, in, &typed, TWI_ENTROPY_AUTO);
    }
    if (status != TW_OK) {
        return status;
    }
    status = twi_entropy_gpu_open(ctx, &setup);
    if (status == TW_OK) {
        status = fill(ctx, &setup, out, NULL);
    }
    twi_entropy_clear(&setup);
    return status;
}

tw_status tw_entropy_plan_apply(tw_context *ctx, tw_entropy_plan *plan, tw_matrix *out,
                                const tw_matrix *in, tw_entropy_report *report)
{
    twi_entropy_setup setup;
    tw_status status = TWI_REQUIRE(ctx, {"plan", plan}, {"out", out}, {"in", in});
    if (status == TW_OK) {
        status = twi_entropy_plan_turn_to(ctx, plan, &setup, in);
    }
    return status == TW_OK ? fill(ctx, &setup, out, report) : status;
}

/* Blocks of rows, computed, checked and handed on. */
static tw_status push_blocks(tw_context *ctx, twi_entropy_setup *setup, twi_sinks *out, void *block,
                             int64_t rows, tw_entropy_report *report)
{
    const tw_shape *shape = &setup->shape;
    tw_status status = TW_OK;
    for (int64_t first = 0; first < shape->rows && status == TW_OK; first += rows) {
        int64_t count = shape->rows - first < rows ? shape->rows - first : rows;
        double started = twi_seconds();
        status = twi_entropy_hold(ctx, setup, first, count);
        double held = twi_seconds();
        if (status == TW_OK) {
            status = twi_entropy_rows(ctx, setup, first, count, block, shape->cols);
        }
        double computed = twi_seconds();
        if (status == TW_OK) {
            status =
                twi_entropy_verify(ctx, setup, first, count, block, shape->cols, &report->verified);
        }
        double verified = twi_seconds();
        if (status == TW_OK) {
            status = twi_sinks_rows(ctx, out, first, count, block, shape->cols);
        }
        report->seconds_read += held - started;
        report->seconds_compute += computed - held;
        report->seconds_verify += verified - computed;
        report->seconds_output += twi_seconds() - verified;
    }
    return status;
}

/* Sinks may take memory of their own when they begin: the block takes what is left. */
static tw_status push(tw_context *ctx, twi_entropy_setup *setup, tw_sink *sinks, int32_t sink_count,
                      tw_entropy_report *report)
{
    const tw_shape *shape = &setup->shape;
    int64_t rows = 0;
    char *block = NULL;
    twi_sinks out = {0};
    tw_status status = twi_sinks_begin(ctx, &out, sinks, sink_count, shape);
    if (status == TW_OK) {
        status = twi_entropy_block(ctx, setup, &rows);
    }
    if (status == TW_OK) {
        status =
            twi_alloc(ctx, &block, (uint64_t)rows,
                      (uint64_t)shape->cols * tw_type_size(shape->type), "a block of the result");
    }
    if (status == TW_OK) {
        report->block = rows;
        status = push_blocks(ctx, setup, &out, block, rows, report);
    }
    double started = twi_seconds();
    status = twi_sinks_finish(ctx, &out, status);
    report->seconds_output += twi_seconds() - started;
    twi_free(block);
    return status;
}

tw_status twi_entropy_push(tw_context *ctx, twi_entropy_setup *setup, tw_sink *sinks,
                           int32_t sink_count, tw_entropy_report *report)
{
    tw_entropy_report seen = TW_ENTROPY_REPORT_INIT;
    double started = twi_seconds();
    tw_status status = TWI_CHECK_ROOM(ctx, tw_entropy_report, report);
    if (status == TW_OK) {
        status = twi_sinks_check(ctx, sinks, sink_count);
    }
    if (status == TW_OK && setup->feed == NULL) {
        status = twi_levels_check(ctx, setup);
    }
    seen.seconds_compute = twi_seconds() - started;
    if (status == TW_OK) {
        status = push(ctx, setup, sinks, sink_count, &seen);
    }
    if (status == TW_OK) {
        give_report(ctx, setup, report, &seen);
    }
    return status;
}

tw_status tw_entropy_plan_run(tw_context *ctx, tw_entropy_plan *plan, const tw_matrix *in,
                              tw_sink *sinks, int32_t sink_count, tw_entropy_report *report)
{
    twi_entropy_setup setup;
    tw_status status = TWI_REQUIRE(ctx, {"plan", plan}, {"in", in});
    if (status == TW_OK) {
        status = twi_entropy_plan_turn_to(ctx, plan, &setup, in);
    }
    return status == TW_OK ? twi_entropy_push(ctx, &setup, sinks, sink_count, report) : status;
}
