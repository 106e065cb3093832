/* Sinks: see sink.h. */
#include "base/sink.h"

#include <string.h>

tw_status twi_sink_clear(tw_context *ctx, tw_sink *out)
{
    static const tw_sink empty = TW_SINK_INIT;
    const tw_status status = TWI_CHECK_THROUGH(ctx, tw_sink, out, destroy);
    if (status == TW_OK) {
        TWI_GIVE(tw_sink, out, &empty);
    }
    return status;
}

void twi_sink_give(tw_sink *out, tw_sink ours)
{
    TWI_GIVE(tw_sink, out, &ours);
}

tw_sink twi_sink_at(const tw_sink *sinks, int32_t i)
{
    tw_sink sink = TW_SINK_INIT;
    twi_give(&sink, twi_given_at(sinks, i), sinks->size);
    return sink;
}

/* The functions that no sink can do without. */
static tw_status check_functions(tw_context *ctx, const tw_sink *sink, int32_t i)
{
    const char *lacks = sink->begin == NULL   ? "begin"
                        : sink->rows == NULL  ? "rows"
                        : sink->end == NULL   ? "end"
                        : sink->abort == NULL ? "abort"
                                              : NULL;
    if (lacks != NULL) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "sink %d has no function %s", (int)i, lacks);
    }
    return TW_OK;
}

static tw_status check_from(tw_context *ctx, const tw_sink *sinks, int32_t count, int32_t number)
{
    if (ctx == NULL || count < 0 || (count > 0 && sinks == NULL)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "sink_count is %d, and sinks %s", (int)count,
                       sinks == NULL ? "is NULL" : "is not");
    }
    tw_status status = count > 0 ? TWI_CHECK_THROUGH(ctx, tw_sink, sinks, destroy) : TW_OK;
    for (int32_t i = 0; i < count && status == TW_OK; i++) {
        tw_sink sink = TW_SINK_INIT;
        status = twi_check_alike(ctx, "tw_sink", sinks, i);
        if (status == TW_OK) {
            status = TWI_TAKE(ctx, tw_sink, &sink, twi_given_at(sinks, i));
        }
        if (status == TW_OK) {
            status = check_functions(ctx, &sink, number + i);
        }
    }
    return status;
}

tw_status twi_sinks_check(tw_context *ctx, const tw_sink *sinks, int32_t count)
{
    return check_from(ctx, sinks, count, 0);
}

tw_status twi_sink_check(tw_context *ctx, const tw_sink *sink, int32_t number)
{
    return check_from(ctx, sink, 1, number);
}

/* The sentence of an older failure must not pass for the reason of this one. */
static void forget_sentence(tw_context *ctx)
{
    ctx->error[0] = '\0';
}

/* A sink that failed may have said why; if not, say which it was. */
static tw_status failed(tw_context *ctx, twi_sinks *out, tw_status status, int32_t sink,
                        const char *function)
{
    out->refused = true;
    return ctx->error[0] != '\0'
               ? status
               : tw_fail(ctx, status, "%s of sink %d returned %s without giving a reason", function,
                         (int)(out->number + sink), tw_status_name(status));
}

tw_status twi_sink_ended(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
    return TW_OK;
}

void twi_sink_aborted(void *self, tw_context *ctx)
{
    (void)self;
    (void)ctx;
}

tw_status twi_sinks_begin(tw_context *ctx, twi_sinks *out, tw_sink *sinks, int32_t count,
                          const tw_shape *shape)
{
    const int32_t number = out->number;
    *out = (twi_sinks){.sinks = sinks, .count = count, .shape = *shape, .number = number};
    for (int32_t i = 0; i < count; i++) {
        forget_sentence(ctx);
        const tw_sink sink = twi_sink_at(sinks, i);
        tw_status status = sink.begin(sink.self, ctx, shape);
        if (status != TW_OK) {
            return failed(ctx, out, status, i, "begin");
        }
        out->begun++;
    }
    return TW_OK;
}

tw_status twi_sinks_rows(tw_context *ctx, twi_sinks *out, int64_t first, int64_t count,
                         const void *data, int64_t stride)
{
    return twi_sinks_take(ctx, out, first, count, data, stride, NULL);
}

tw_status twi_sinks_take(tw_context *ctx, twi_sinks *out, int64_t first, int64_t count,
                         const void *data, int64_t stride, twi_sink_take take)
{
    tw_status status = twi_check_cancel(ctx);
    if (status != TW_OK) {
        return status;
    }
    if (first != out->next || count < 0 || count > out->shape.rows - first) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "got rows %lld to %lld; expected row %lld of %lld",
                       (long long)first, (long long)(first + count), (long long)out->next,
                       (long long)out->shape.rows);
    }
    for (int32_t i = 0; i < out->count; i++) {
        const tw_sink sink = twi_sink_at(out->sinks, i);
        forget_sentence(ctx);
        status = (take != NULL ? take : sink.rows)(sink.self, ctx, first, count, data, stride);
        if (status != TW_OK) {
            return failed(ctx, out, status, i, "rows");
        }
    }
    out->next += count;
    return twi_check_cancel(ctx);
}

static tw_status end_all(tw_context *ctx, twi_sinks *out)
{
    if (out->begun > 0 && out->next != out->shape.rows) {
        return tw_fail(ctx, TW_ERR_INTERNAL, "the result ended after row %lld of %lld",
                       (long long)out->next, (long long)out->shape.rows);
    }
    /* Where there were rows the last of them has looked, but there need not be any. */
    tw_status status = out->second ? TW_OK : twi_check_cancel(ctx);
    while (out->ended < out->begun && status == TW_OK) {
        const tw_sink sink = twi_sink_at(out->sinks, out->ended);
        forget_sentence(ctx);
        status = sink.end(sink.self, ctx);
        if (status != TW_OK) {
            return failed(ctx, out, status, out->ended, "end");
        }
        out->ended++;
    }
    return status;
}

tw_status twi_sinks_finish(tw_context *ctx, twi_sinks *out, tw_status status)
{
    if (status == TW_OK) {
        status = end_all(ctx, out);
    }
    if (status != TW_OK) {
        twi_sinks_abort(ctx, out);
    }
    return status;
}

void twi_sinks_abort(tw_context *ctx, twi_sinks *out)
{
    char sentence[sizeof ctx->error];
    memcpy(sentence, ctx->error, sizeof sentence);
    for (int32_t i = out->ended; i < out->begun; i++) {
        const tw_sink sink = twi_sink_at(out->sinks, i);
        sink.abort(sink.self, ctx);
    }
    out->begun = out->ended;
    memcpy(ctx->error, sentence, sizeof sentence);
}
