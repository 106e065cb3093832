/* gzip files, by zlib. Several members one after the other, as parallel compressors write them, are
 * one text; zeros behind the last are padding. */
#include "io/packed/unpacked.h"

#include "base/memory.h"

#include <limits.h>
#include <zlib.h>

#define GZIP_HEADER (16 + MAX_WBITS) /* nothing but gzip */

typedef struct gzip {
    z_stream stream;
    bool inside; /* of a member */
} gzip;

tw_status twi_gzip_open(twi_unpacked *from)
{
    gzip *state = NULL;
    tw_status status = twi_alloc_zeroed(from->ctx, &state, 1, sizeof *state, "unpacking");
    if (status != TW_OK) {
        return status;
    }
    if (inflateInit2(&state->stream, GZIP_HEADER) != Z_OK) {
        twi_free(state);
        return twi_packed_no_memory(from);
    }
    from->state = state;
    return TW_OK;
}

void twi_gzip_close(twi_unpacked *from)
{
    gzip *state = from->state;
    if (state != NULL) {
        inflateEnd(&state->stream);
    }
    twi_free(state);
}

/* Another piece of the input, once the last is used up; false at the end, or after a failure. */
static bool have_input(twi_unpacked *from, z_stream *stream, tw_status *status)
{
    const char *bytes = NULL;
    uint64_t count = 0;
    if (stream->avail_in > 0) {
        return true;
    }
    *status = twi_unpacked_piece(from, &bytes, &count);
    stream->next_in = (z_const Bytef *)bytes;
    stream->avail_in = (uInt)count;
    return *status == TW_OK && count > 0;
}

/* To the next member; false if zeros at most are left. */
static bool find_member(twi_unpacked *from, z_stream *stream, tw_status *status)
{
    while (have_input(from, stream, status)) {
        if (*stream->next_in != 0) {
            return true;
        }
        stream->next_in++;
        stream->avail_in--;
    }
    return false;
}

/* What fits of the member; *inside is false at its end. */
static tw_status unpack_member(twi_unpacked *from, z_stream *stream, char *out, uint64_t room,
                               uint64_t *got, bool *inside)
{
    tw_status status = TW_OK;
    const bool more = have_input(from, stream, &status);
    if (status != TW_OK) {
        return status;
    }
    stream->next_out = (Bytef *)out;
    stream->avail_out = (uInt)room;
    const int result = inflate(stream, Z_NO_FLUSH);
    *got = room - stream->avail_out;
    if (result == Z_MEM_ERROR) {
        return twi_packed_no_memory(from);
    }
    if (!more && (result == Z_BUF_ERROR || (result == Z_OK && stream->avail_out > 0))) {
        return twi_packed_cut(from, "gzip");
    }
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        return twi_packed_damaged(from, "gzip", stream->avail_in);
    }
    *inside = result != Z_STREAM_END;
    return TW_OK;
}

tw_status twi_gzip_read(twi_unpacked *from, char *out, uint64_t room, uint64_t *got)
{
    gzip *state = from->state;
    tw_status status = TW_OK;
    *got = 0;
    while (status == TW_OK && *got == 0) {
        if (!state->inside) {
            if (!find_member(from, &state->stream, &status)) {
                return status;
            }
            (void)inflateReset(&state->stream);
            state->inside = true;
        }
        status = unpack_member(from, &state->stream, out, room, got, &state->inside);
    }
    return status;
}
