/* Images that need not be in memory: the rows come from a source (plan/blocks.h). */
#include "base/memory.h"
#include "base/source.h"
#include "entropy/entropy.h"
#include "entropy/plan/blocks.h"
#include "entropy/plan/plan.h"

/* ------------------------------------------------------------------------------------ the entry */

static tw_status check_source(tw_context *ctx, const tw_source *source, const tw_entropy_plan *plan)
{
    if (source->rows == NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the source has no function rows");
    }
    if (source->in_order && plan->setup.opts.border == TW_ENTROPY_BORDER_WRAP) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "wrapped borders need the last rows first, and this image can only be read "
                       "in order; allow more memory, use another border, or convert it to npy");
    }
    return TW_OK;
}

tw_status tw_entropy_plan_stream(tw_context *ctx, tw_entropy_plan *plan, const tw_source *source,
                                 tw_sink *sinks, int32_t sink_count, tw_entropy_report *report)
{
    tw_status status = TWI_REQUIRE(ctx, {"plan", plan}, {"source", source});
    if (status == TW_OK) {
        status = twi_sources_check(ctx, source, 1);
    }
    if (status != TW_OK) {
        return status;
    }
    static double nowhere; /* what the matrix points to before there are rows */
    const tw_source ours = twi_source_at(source, 0);
    const tw_shape *shape = &ours.shape;
    twi_entropy_feed feed = {.source = &ours,
                             .in = {&nowhere, shape->rows, shape->cols, shape->cols, shape->type}};
    twi_entropy_setup setup;
    status = check_source(ctx, &ours, plan);
    if (status == TW_OK) {
        status = twi_entropy_plan_turn_to(ctx, plan, &setup, &feed.in);
    }
    if (status != TW_OK) {
        return status;
    }
    feed.in.data = NULL;
    setup.feed = &feed;
    status = twi_entropy_push(ctx, &setup, sinks, sink_count, report);
    twi_free(feed.in.data);
    return status;
}
