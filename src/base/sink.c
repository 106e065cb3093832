/* Sinks: see sink.h. */
#include "base/sink.h"

tw_status twi_sinks_check(tw_context *ctx, const tw_sink *sinks, int32_t count)
{
    if (ctx == NULL || count < 0 || (count > 0 && sinks == NULL)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "sink_count is %d, and sinks %s", (int)count,
                       sinks == NULL ? "is NULL" : "is not");
    }
    for (int32_t i = 0; i < count; i++) {
        const tw_sink *sink = &sinks[i];
        const char *lacks = sink->begin == NULL   ? "begin"
                            : sink->rows == NULL  ? "rows"
                            : sink->end == NULL   ? "end"
                            : sink->abort == NULL ? "abort"
                                                  : NULL;
        if (lacks != NULL) {
            return tw_fail(ctx, TW_ERR_ARGUMENT, "sink %d has no function %s", (int)i, lacks);
        }
    }
    return TW_OK;
}
