/* gzip files, by zlib. Several members one after the other, as parallel compressors write them, are
 * one text; zeros behind the last are padding. */
#include "io/packed/unpacked.h"

#include <limits.h>
#include <zlib.h>

#define GZIP_HEADER (16 + MAX_WBITS) /* nothing but gzip */
#define MOST_IN ((uint64_t)1 << 30)  /* zlib counts in 32 bits */

static bool only_zeros(const twi_input *input, uint64_t from)
{
    while (from < input->size && input->bytes[from] == '\0') {
        from++;
    }
    return from == input->size;
}

/* The next member, from byte *taken on. */
static tw_status unpack_member(tw_context *ctx, twi_unpacked *out, const twi_input *input,
                               z_stream *stream, uint64_t *taken)
{
    int result = Z_OK;
    tw_status status = TW_OK;
    while (status == TW_OK && result != Z_STREAM_END) {
        uint64_t room = 0;
        status = twi_unpacked_room(ctx, out, input, *taken, &room);
        if (status != TW_OK) {
            return status;
        }
        uint64_t left = input->size - *taken;
        uint64_t most = left < MOST_IN ? left : MOST_IN;
        stream->next_in = (z_const Bytef *)(input->bytes + *taken);
        stream->avail_in = (uInt)most;
        stream->next_out = (Bytef *)out->bytes + out->size;
        stream->avail_out = (uInt)room;
        result = inflate(stream, Z_NO_FLUSH);
        *taken += most - stream->avail_in;
        out->size += room - stream->avail_out;
        if (result == Z_MEM_ERROR) {
            return tw_fail(ctx, TW_ERR_MEMORY, "no memory for unpacking %.500s", input->name);
        }
        if (result == Z_BUF_ERROR ||
            (result == Z_OK && *taken == input->size && stream->avail_out > 0)) {
            return twi_packed_cut(ctx, input, "gzip");
        }
        if (result != Z_OK && result != Z_STREAM_END) {
            return twi_packed_damaged(ctx, input, "gzip", *taken);
        }
    }
    return status;
}

tw_status twi_gzip_unpack(tw_context *ctx, twi_unpacked *out, const twi_input *input)
{
    z_stream stream = {0};
    uint64_t taken = 0;
    if (inflateInit2(&stream, GZIP_HEADER) != Z_OK) {
        return tw_fail(ctx, TW_ERR_MEMORY, "no memory for unpacking %.500s", input->name);
    }
    tw_status status = TW_OK;
    do {
        status = unpack_member(ctx, out, input, &stream, &taken);
        (void)inflateReset(&stream);
    } while (status == TW_OK && !only_zeros(input, taken));
    inflateEnd(&stream);
    return status;
}
