/* Sources: see source.h. */
#include "base/source.h"

tw_status twi_source_clear(tw_context *ctx, tw_source *out)
{
    static const tw_source empty = TW_SOURCE_INIT;
    const tw_status status = TWI_CHECK_THROUGH(ctx, tw_source, out, destroy);
    if (status == TW_OK) {
        TWI_GIVE(tw_source, out, &empty);
    }
    return status;
}

void twi_source_give(tw_source *out, tw_source ours)
{
    TWI_GIVE(tw_source, out, &ours);
}

tw_status twi_sources_check(tw_context *ctx, const tw_source *sources, int32_t count)
{
    if (sources == NULL || count == 0) {
        return TW_OK;
    }
    tw_status status = TWI_CHECK_THROUGH(ctx, tw_source, sources, destroy);
    for (int32_t i = 0; i < count && status == TW_OK; i++) {
        tw_source source = TW_SOURCE_INIT;
        status = twi_check_alike(ctx, "tw_source", sources, i);
        if (status == TW_OK) {
            status = TWI_TAKE(ctx, tw_source, &source, twi_given_at(sources, i));
        }
    }
    return status;
}

tw_source twi_source_at(const tw_source *sources, int32_t i)
{
    tw_source source = TW_SOURCE_INIT;
    if (sources != NULL) {
        twi_give(&source, twi_given_at(sources, i), sources->size);
    }
    return source;
}
