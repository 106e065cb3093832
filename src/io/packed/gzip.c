/* gzip files, by zlib. Several members one after the other, as parallel compressors write them, are
 * one text; zeros behind the last are padding. */
#include "io/packed/unpacked.h"

#include <limits.h>
#include <zlib.h>

#define GZIP_HEADER (16 + MAX_WBITS) /* nothing but gzip */

/* Another piece of the input, once the last is used up; false at the end, or after a failure. */
static bool have_input(twi_unpacked *out, z_stream *stream, tw_status *status)
{
    const char *bytes = NULL;
    uint64_t count = 0;
    if (stream->avail_in > 0) {
        return true;
    }
    *status = twi_unpacked_piece(out, &bytes, &count);
    stream->next_in = (z_const Bytef *)bytes;
    stream->avail_in = (uInt)count;
    return *status == TW_OK && count > 0;
}

/* To the next member; false if zeros at most are left. */
static bool find_member(twi_unpacked *out, z_stream *stream, tw_status *status)
{
    while (have_input(out, stream, status)) {
        if (*stream->next_in != 0) {
            return true;
        }
        stream->next_in++;
        stream->avail_in--;
    }
    return false;
}

static tw_status unpack_member(twi_unpacked *out, z_stream *stream)
{
    int result = Z_OK;
    tw_status status = TW_OK;
    while (result != Z_STREAM_END) {
        uint64_t room = 0;
        const bool more = have_input(out, stream, &status);
        if (status == TW_OK) {
            status = twi_unpacked_room(out, stream->avail_in, &room);
        }
        if (status != TW_OK) {
            return status;
        }
        stream->next_out = (Bytef *)out->bytes + out->size;
        stream->avail_out = (uInt)room;
        result = inflate(stream, Z_NO_FLUSH);
        out->size += room - stream->avail_out;
        if (result == Z_MEM_ERROR) {
            return twi_packed_no_memory(out);
        }
        if (!more && (result == Z_BUF_ERROR || (result == Z_OK && stream->avail_out > 0))) {
            return twi_packed_cut(out, "gzip");
        }
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            return twi_packed_damaged(out, "gzip", stream->avail_in);
        }
    }
    return TW_OK;
}

tw_status twi_gzip_unpack(twi_unpacked *out)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, GZIP_HEADER) != Z_OK) {
        return twi_packed_no_memory(out);
    }
    tw_status status = TW_OK;
    while (status == TW_OK && find_member(out, &stream, &status)) {
        status = unpack_member(out, &stream);
        (void)inflateReset(&stream);
    }
    inflateEnd(&stream);
    return status;
}
