/* xz files, by liblzma. Several streams one after the other are one text. */
#include "io/packed/unpacked.h"

#include "base/memory.h"

#include <lzma.h>

/* What a result other than LZMA_OK and LZMA_STREAM_END means. */
static tw_status explain(tw_context *ctx, const twi_input *input, lzma_stream *stream,
                         lzma_ret result)
{
    tw_status status = TW_OK;
    switch (result) {
    case LZMA_MEMLIMIT_ERROR:
        status = twi_memory_check(ctx, lzma_memusage(stream), "unpacking");
        break;
    case LZMA_MEM_ERROR:
        break;
    case LZMA_BUF_ERROR:
        return twi_packed_cut(ctx, input, "xz");
    default:
        return twi_packed_damaged(ctx, input, "xz", stream->total_in);
    }
    return status != TW_OK
               ? status
               : tw_fail(ctx, TW_ERR_MEMORY, "no memory for unpacking %.500s", input->name);
}

tw_status twi_xz_unpack(tw_context *ctx, twi_unpacked *out, const twi_input *input)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, twi_memory_left(ctx), LZMA_CONCATENATED) != LZMA_OK) {
        return tw_fail(ctx, TW_ERR_MEMORY, "no memory for unpacking %.500s", input->name);
    }
    stream.next_in = (const uint8_t *)input->bytes;
    stream.avail_in = (size_t)input->size;
    lzma_ret result = LZMA_OK;
    tw_status status = TW_OK;
    while (status == TW_OK && result != LZMA_STREAM_END) {
        uint64_t room = 0;
        status = twi_unpacked_room(ctx, out, input, stream.total_in, &room);
        if (status != TW_OK) {
            break;
        }
        stream.next_out = (uint8_t *)out->bytes + out->size;
        stream.avail_out = (size_t)room;
        result = lzma_code(&stream, LZMA_FINISH);
        out->size += room - stream.avail_out;
        if (result != LZMA_OK && result != LZMA_STREAM_END) {
            status = explain(ctx, input, &stream, result);
        }
    }
    lzma_end(&stream);
    return status;
}
