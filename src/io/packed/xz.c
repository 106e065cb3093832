/* xz files, by liblzma. Several streams one after the other are one text. */
#include "io/packed/unpacked.h"

#include "base/memory.h"

#include <lzma.h>
#include <stdio.h>

/* What a result other than LZMA_OK and LZMA_STREAM_END means. */
static tw_status explain(const twi_unpacked *from, lzma_stream *stream, lzma_ret result)
{
    tw_status status = TW_OK;
    char what[560];
    switch (result) {
    case LZMA_MEMLIMIT_ERROR:
        (void)snprintf(what, sizeof what, "unpacking %.500s%s", from->input.name,
                       from->input.beside > 0 ? " and what it may hold" : "");
        status = twi_memory_check(from->ctx, lzma_memusage(stream) + from->input.beside, what);
        break;
    case LZMA_MEM_ERROR:
        break;
    case LZMA_BUF_ERROR:
        return twi_packed_cut(from, "xz");
    default:
        return twi_packed_damaged(from, "xz", stream->avail_in);
    }
    return status != TW_OK ? status : twi_packed_no_memory(from);
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

typedef struct xz {
    lzma_stream stream;
    lzma_allocator allocator;
    lzma_action action;
    bool ended;
} xz;

tw_status twi_xz_open(twi_unpacked *from)
{
    xz *state = NULL;
    tw_status status = twi_alloc(from->ctx, &state, 1, sizeof *state, "unpacking");
    if (status != TW_OK) {
        return status;
    }
    *state = (xz){.stream = LZMA_STREAM_INIT, .allocator = {take, give_back, from->ctx}};
    state->action = LZMA_RUN;
    state->stream.allocator = &state->allocator;
    from->state = state;
    if (lzma_stream_decoder(&state->stream, twi_memory_room(from->ctx), LZMA_CONCATENATED) !=
        LZMA_OK) {
        return twi_packed_no_memory(from);
    }
    return TW_OK;
}

void twi_xz_close(twi_unpacked *from)
{
    xz *state = from->state;
    if (state != NULL) {
        lzma_end(&state->stream);
    }
    twi_free(state);
}

tw_status twi_xz_read(twi_unpacked *from, char *out, uint64_t room, uint64_t *got)
{
    xz *state = from->state;
    lzma_stream *stream = &state->stream;
    tw_status status = TW_OK;
    *got = 0;
    while (status == TW_OK && *got == 0 && !state->ended) {
        if (stream->avail_in == 0 && state->action == LZMA_RUN) {
            const char *bytes = NULL;
            uint64_t count = 0;
            status = twi_unpacked_piece(from, &bytes, &count);
            stream->next_in = (const uint8_t *)bytes;
            stream->avail_in = (size_t)count;
            state->action = count == 0 ? LZMA_FINISH : LZMA_RUN;
        }
        if (status != TW_OK) {
            return status;
        }
        stream->next_out = (uint8_t *)out;
        stream->avail_out = (size_t)room;
        const lzma_ret result = lzma_code(stream, state->action);
        *got = room - stream->avail_out;
        state->ended = result == LZMA_STREAM_END;
        if (result != LZMA_OK && result != LZMA_STREAM_END) {
            status = explain(from, stream, result);
        }
    }
    return status;
}
