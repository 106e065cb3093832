/* Zstandard files, by libzstd. Several frames one after the other are one text. */
#include "io/packed/unpacked.h"

#include <zstd.h>

#define LONGEST_WINDOW 27 /* powers of two of bytes: what the command zstd takes unasked */

tw_status twi_zstd_unpack(tw_context *ctx, twi_unpacked *out, const twi_input *input)
{
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    if (decoder == NULL) {
        return tw_fail(ctx, TW_ERR_MEMORY, "no memory for unpacking %.500s", input->name);
    }
    (void)ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, LONGEST_WINDOW);
    ZSTD_inBuffer in = {input->bytes, (size_t)input->size, 0};
    tw_status status = TW_OK;
    bool full = true; /* there may be more to come out of what has gone in */
    size_t expected = 1;
    while (status == TW_OK && (in.pos < in.size || full)) {
        uint64_t room = 0;
        status = twi_unpacked_room(ctx, out, input, in.pos, &room);
        if (status != TW_OK) {
            break;
        }
        ZSTD_outBuffer to = {out->bytes + out->size, (size_t)room, 0};
        expected = ZSTD_decompressStream(decoder, &to, &in);
        out->size += to.pos;
        full = to.pos == to.size;
        if (ZSTD_isError(expected)) {
            status = twi_packed_damaged(ctx, input, "Zstandard", in.pos);
        }
    }
    if (status == TW_OK && expected != 0) {
        status = twi_packed_cut(ctx, input, "Zstandard");
    }
    ZSTD_freeDCtx(decoder);
    return status;
}
