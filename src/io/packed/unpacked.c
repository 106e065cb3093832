/* What is being unpacked: see unpacked.h. */
#include "io/packed/unpacked.h"

#include "base/memory.h"

#define FIRST_ROOM ((uint64_t)1 << 20)
#define STEP ((uint64_t)8 << 20) /* bytes unpacked between two looks at the cancel flag */

tw_status twi_unpacked_room(tw_context *ctx, twi_unpacked *out, const twi_input *input,
                            uint64_t taken, uint64_t *room)
{
    twi_progress(ctx, "unpack", (double)taken, (double)input->size, "bytes");
    tw_status status = twi_check_cancel(ctx);
    if (status == TW_OK && out->size == out->room) {
        const char *what = "the unpacked file";
        uint64_t wider = out->room > 0 ? 2 * out->room : FIRST_ROOM;
        status = twi_memory_check(ctx, wider, what);
        if (status == TW_OK) {
            status = twi_grow(ctx, &out->bytes, out->size, wider, 1, what);
        }
        if (status == TW_OK) {
            out->room = wider;
        }
    }
    *room = out->room - out->size < STEP ? out->room - out->size : STEP;
    return status;
}

tw_status twi_packed_damaged(tw_context *ctx, const twi_input *input, const char *kind, uint64_t at)
{
    return tw_fail(ctx, TW_ERR_FORMAT, "%.500s: damaged %s data near byte %llu", input->name, kind,
                   (unsigned long long)at);
}

tw_status twi_packed_cut(tw_context *ctx, const twi_input *input, const char *kind)
{
    return tw_fail(ctx, TW_ERR_FORMAT, "%.500s: the %s data end too early: the file is incomplete",
                   input->name, kind);
}
