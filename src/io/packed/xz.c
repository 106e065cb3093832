/* xz files, by liblzma. Several streams one after the other are one text. */
#include "io/packed/unpacked.h"

#include "base/memory.h"

#include <lzma.h>
#include <stdio.h>

/* What a result other than LZMA_OK and LZMA_STREAM_END means. */
static tw_status explain(const twi_unpacked *out, lzma_stream *stream, lzma_ret result)
{
    tw_status status = TW_OK;
    char what[560];
    switch (result) {
    case LZMA_MEMLIMIT_ERROR:
        (void)snprintf(what, sizeof what, "unpacking %.500s", out->input->name);
        status = twi_memory_check(out->ctx, lzma_memusage(stream), what);
        break;
    case LZMA_MEM_ERROR:
        break;
    case LZMA_BUF_ERROR:
        return twi_packed_cut(out, "xz");
    default:
        return twi_packed_damaged(out, "xz", stream->avail_in);
    }
    return status != TW_OK ? status : twi_packed_no_memory(out);
}

/* The dictionary, up to gigabytes, is counted as all memory is. */
static void *take(void *ctx, size_t count, size_t size)
{
    return twi_try_alloc(ctx, count, size);
}

static void give_back(void *ctx, void *block)
{
    (void)ctx;
    twi_free(block);
}

static tw_status unpack_all(twi_unpacked *out, lzma_stream *stream)
{
    lzma_ret result = LZMA_OK;
    lzma_action action = LZMA_RUN;
    while (result != LZMA_STREAM_END) {
        uint64_t room = 0;
        tw_status status = TW_OK;
        if (stream->avail_in == 0 && action == LZMA_RUN) {
            const char *bytes = NULL;
            uint64_t count = 0;
            status = twi_unpacked_piece(out, &bytes, &count);
            stream->next_in = (const uint8_t *)bytes;
            stream->avail_in = (size_t)count;
            action = count == 0 ? LZMA_FINISH : LZMA_RUN;
        }
        if (status == TW_OK) {
            status = twi_unpacked_room(out, stream->avail_in, &room);
        }
        if (status != TW_OK) {
            return status;
        }
        stream->next_out = (uint8_t *)out->bytes + out->size;
        stream->avail_out = (size_t)room;
        result = lzma_code(stream, action);
        out->size += room - stream->avail_out;
        if (result != LZMA_OK && result != LZMA_STREAM_END) {
            return explain(out, stream, result);
        }
    }
    return TW_OK;
}

tw_status twi_xz_unpack(twi_unpacked *out)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    const lzma_allocator allocator = {take, give_back, out->ctx};
    stream.allocator = &allocator;
    if (lzma_stream_decoder(&stream, twi_memory_left(out->ctx), LZMA_CONCATENATED) != LZMA_OK) {
        return twi_packed_no_memory(out);
    }
    const tw_status status = unpack_all(out, &stream);
    lzma_end(&stream);
    return status;
}
