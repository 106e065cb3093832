/* Compression of the blocks of a TIFF, each by itself: LZW here, Deflate by zlib, Zstandard by
 * libzstd. */
#include "io/image/tiff_codec.h"

#include "base/memory.h"
#include "io/image/tiff_lzw.h"

#ifdef TWI_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef TWI_HAVE_ZSTD
#include <zstd.h>
#endif

#define DEFLATE_LEVEL 4                     /* by default */
#define DEFLATE_BYTES ((uint64_t)270 << 10) /* that zlib takes */
#define ZSTD_LEVEL 3

struct twi_tiff_packer {
    tw_tiff_codec codec;
    int level;
#ifdef TWI_HAVE_ZLIB
    z_stream stream;
    bool open;
#endif
#ifdef TWI_HAVE_ZSTD
    ZSTD_CCtx *zstd;
#endif
    twi_lzw_slot *table;
};

tw_status twi_tiff_codec_check(tw_context *ctx, tw_tiff_codec codec)
{
    const char *name = NULL, *library = NULL;
    if (codec < TW_TIFF_NONE || codec > TW_TIFF_ZSTD) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "unknown TIFF codec %d; use TW_TIFF_NONE, TW_TIFF_LZW, TW_TIFF_DEFLATE or "
                       "TW_TIFF_ZSTD",
                       codec);
    }
#ifndef TWI_HAVE_ZLIB
    if (codec == TW_TIFF_DEFLATE) {
        name = "Deflate";
        library = "zlib (zlib1g-dev on Debian)";
    }
#endif
#ifndef TWI_HAVE_ZSTD
    if (codec == TW_TIFF_ZSTD) {
        name = "Zstandard";
        library = "libzstd (libzstd-dev on Debian)";
    }
#endif
    if (name != NULL) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "this build cannot write TIFF with %s: install %s and rebuild, or use lzw",
                       name, library);
    }
    return TW_OK;
}

uint16_t twi_tiff_codec_number(tw_tiff_codec codec)
{
    static const uint16_t numbers[] = {1, 5, 8, 50000};
    return numbers[codec];
}

uint64_t twi_tiff_codec_bound(tw_tiff_codec codec, uint64_t bytes)
{
    return codec == TW_TIFF_NONE  ? bytes
           : codec == TW_TIFF_LZW ? twi_lzw_bound(bytes)
                                  : bytes + bytes / 128 + 4096; /* what both libraries promise */
}

#ifdef TWI_HAVE_ZLIB
static voidpf give_memory(voidpf ctx, uInt items, uInt size)
{
    return twi_try_alloc(ctx, items, size);
}

static void take_memory(voidpf ctx, voidpf block)
{
    (void)ctx;
    twi_free(block);
}

static bool open_deflate(tw_context *ctx, twi_tiff_packer *packer, int32_t level)
{
    packer->stream.zalloc = give_memory;
    packer->stream.zfree = take_memory;
    packer->stream.opaque = ctx;
    packer->open = deflateInit(&packer->stream, level >= 0 ? level : DEFLATE_LEVEL) == Z_OK;
    return packer->open;
}

static uint64_t pack_deflate(twi_tiff_packer *packer, const unsigned char *block, uint64_t bytes,
                             unsigned char *out, uint64_t room)
{
    z_stream *stream = &packer->stream;
    (void)deflateReset(stream);
    stream->next_in = (z_const Bytef *)block;
    stream->avail_in = (uInt)bytes;
    stream->next_out = out;
    stream->avail_out = (uInt)room;
    return deflate(stream, Z_FINISH) == Z_STREAM_END ? room - stream->avail_out : 0;
}
#endif

#ifdef TWI_HAVE_ZSTD
static uint64_t pack_zstd(twi_tiff_packer *packer, const unsigned char *block, uint64_t bytes,
                          unsigned char *out, uint64_t room)
{
    const size_t size =
        ZSTD_compressCCtx(packer->zstd, out, (size_t)room, block, (size_t)bytes, packer->level);
    return ZSTD_isError(size) ? 0 : size;
}
#endif

tw_status twi_tiff_packer_open(tw_context *ctx, twi_tiff_packer **out, tw_tiff_codec codec,
                               int32_t level)
{
    twi_tiff_packer *packer = NULL;
    bool good = true;
    uint64_t needed = 0;
    *out = NULL;
    if (codec == TW_TIFF_NONE) {
        return TW_OK;
    }
    tw_status status = twi_alloc_zeroed(ctx, &packer, 1, sizeof *packer, "a TIFF writer");
    if (status != TW_OK) {
        return status;
    }
    packer->codec = codec;
    packer->level = level < 0 ? ZSTD_LEVEL : level > 1 ? level : 1;
    if (codec == TW_TIFF_LZW) {
        packer->table = twi_try_alloc(ctx, TWI_LZW_SLOTS, sizeof *packer->table);
        needed = TWI_LZW_SLOTS * sizeof *packer->table;
        good = packer->table != NULL;
    }
#ifdef TWI_HAVE_ZLIB
    if (codec == TW_TIFF_DEFLATE) {
        needed = DEFLATE_BYTES;
        good = open_deflate(ctx, packer, level);
    }
#endif
#ifdef TWI_HAVE_ZSTD
    if (codec == TW_TIFF_ZSTD) {
        packer->zstd = ZSTD_createCCtx();
        good = packer->zstd != NULL;
    }
#endif
    if (!good) {
        twi_tiff_packer_close(packer);
        return needed > 0 ? twi_out_of_memory(ctx, needed, "compressing a TIFF")
                          : tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for compressing a TIFF");
    }
    *out = packer;
    return TW_OK;
}

uint64_t twi_tiff_pack(twi_tiff_packer *packer, const unsigned char *block, uint64_t bytes,
                       unsigned char *out, uint64_t room)
{
    if (bytes > UINT32_MAX || room > UINT32_MAX) {
        return 0;
    }
#ifdef TWI_HAVE_ZLIB
    if (packer->codec == TW_TIFF_DEFLATE) {
        return pack_deflate(packer, block, bytes, out, room);
    }
#endif
#ifdef TWI_HAVE_ZSTD
    if (packer->codec == TW_TIFF_ZSTD) {
        return pack_zstd(packer, block, bytes, out, room);
    }
#endif
    return twi_lzw_pack(packer->table, block, bytes, out);
}

void twi_tiff_packer_close(twi_tiff_packer *packer)
{
    if (packer == NULL) {
        return;
    }
#ifdef TWI_HAVE_ZLIB
    if (packer->open) {
        (void)deflateEnd(&packer->stream);
    }
#endif
#ifdef TWI_HAVE_ZSTD
    (void)ZSTD_freeCCtx(packer->zstd);
#endif
    twi_free(packer->table);
    twi_free(packer);
}
