/* Sinks around sinks: see checked.h. */
#include "cli/shared/checked.h"

#include "frame/job.h"

static tw_status timed_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    cli_timed *timed = self;
    double started = cli_seconds();
    tw_status status = timed->inner.begin(timed->inner.self, ctx, shape);
    timed->seconds += cli_seconds() - started;
    return status;
}

static tw_status timed_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                            const void *data, int64_t stride)
{
    cli_timed *timed = self;
    double started = cli_seconds();
    tw_status status = timed->inner.rows(timed->inner.self, ctx, first, count, data, stride);
    timed->seconds += cli_seconds() - started;
    return status;
}

static tw_status timed_end(void *self, tw_context *ctx)
{
    cli_timed *timed = self;
    double started = cli_seconds();
    tw_status status = timed->inner.end(timed->inner.self, ctx);
    timed->seconds += cli_seconds() - started;
    return status;
}

static void timed_abort(void *self, tw_context *ctx)
{
    cli_timed *timed = self;
    timed->inner.abort(timed->inner.self, ctx);
}

void cli_timed_sink(cli_timed *timed, tw_sink *out)
{
    *out = (tw_sink){sizeof(tw_sink), timed, timed_begin, timed_rows, timed_end, timed_abort, NULL};
}

static tw_status gated_begin(void *self, tw_context *ctx, const tw_shape *shape)
{
    cli_gated *gated = self;
    return gated->inner.begin(gated->inner.self, ctx, shape);
}

static tw_status gated_rows(void *self, tw_context *ctx, int64_t first, int64_t count,
                            const void *data, int64_t stride)
{
    cli_gated *gated = self;
    return gated->inner.rows(gated->inner.self, ctx, first, count, data, stride);
}

static tw_status gated_end(void *self, tw_context *ctx)
{
    cli_gated *gated = self;
    tw_status status = tw_apsp_verifier_result(ctx, gated->verifier, NULL);
    return status == TW_OK ? gated->inner.end(gated->inner.self, ctx) : status;
}

static void gated_abort(void *self, tw_context *ctx)
{
    cli_gated *gated = self;
    gated->inner.abort(gated->inner.self, ctx);
}

void cli_gated_sink(cli_gated *gated, tw_sink *out)
{
    *out = (tw_sink){sizeof(tw_sink), gated, gated_begin, gated_rows, gated_end, gated_abort, NULL};
}
