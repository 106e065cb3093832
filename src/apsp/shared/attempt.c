/* See attempt.h. */
#include "apsp/shared/attempt.h"

static tw_type wider(tw_type type)
{
    switch (type) {
    case TW_U8:
        return TW_U16;
    case TW_U16:
        return TW_I32;
    default:
        return TW_F64;
    }
}

static tw_status try_type(const twi_engine *engine, void *self, tw_type type, bool *exact)
{
    tw_status status = engine->open(self, type);
    if (status == TW_OK) {
        status = engine->close(self);
    }
    return status == TW_OK ? engine->certify(self, exact) : status;
}

tw_status twi_attempt(tw_context *ctx, const twi_engine *engine, void *self, tw_type first,
                      tw_type asked, tw_type *used, int32_t *count)
{
    bool exact = false;
    *used = first;
    ++*count;
    tw_status status = try_type(engine, self, first, &exact);
    while (status == TW_OK && !exact) {
        const bool more = engine->more != NULL && engine->more(self);
        if (asked != TW_AUTO && !more) {
            return tw_fail(ctx, TW_ERR_RANGE, "a distance exceeds the working type %s; use 'auto'",
                           tw_type_name(*used));
        }
        const tw_type next = more ? *used : wider(*used);
        twi_log(ctx, "a distance reaches the limit of %s%s; %s again in %s",
                !more            ? ""
                : *used == TW_U8 ? "7 bits of "
                                 : "15 bits of ",
                tw_type_name(*used), engine->doing, tw_type_name(next));
        *used = next;
        ++*count;
        status = try_type(engine, self, *used, &exact);
    }
    return status == TW_OK ? engine->deliver(self) : status;
}
