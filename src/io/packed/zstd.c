/* Zstandard files, by libzstd. Several frames one after the other are one text. */
#include "io/packed/unpacked.h"

#include "base/memory.h"

#include <stdio.h>
#include <zstd.h>
#include <zstd_errors.h>

#define LONGEST_WINDOW 27 /* powers of two of bytes: what the command zstd takes unasked */
#define SHORTEST_WINDOW 10

/* The longest window that fits in memory. */
static int window_of(uint64_t left)
{
    int window = SHORTEST_WINDOW;
    while (window < LONGEST_WINDOW && (uint64_t)2 << window <= left) {
        window++;
    }
    return window;
}

static tw_status explain(const twi_unpacked *out, size_t result, uint64_t unused, int window)
{
    char shown[32];
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        if (window == LONGEST_WINDOW) {
            return tw_fail(out->ctx, TW_ERR_UNSUPPORTED,
                           "%.500s: a Zstandard window of more than 128 MiB (--ultra or --long) is "
                           "not read; unpack it first",
                           out->input->name);
        }
        return tw_fail(out->ctx, TW_ERR_MEMORY,
                       "unpacking %.500s needs more than the %s of memory that is left",
                       out->input->name, twi_bytes(shown, (double)twi_memory_left(out->ctx)));
    case ZSTD_error_memory_allocation:
        return twi_packed_no_memory(out);
    default:
        return twi_packed_damaged(out, "Zstandard", unused);
    }
}

/* The library takes memory by itself: *counted is a block of the same size, never touched, that
 * stands for it. */
static tw_status count_memory(const twi_unpacked *out, const ZSTD_DCtx *decoder, void **counted,
                              size_t *size)
{
    const size_t taken = ZSTD_sizeof_DCtx(decoder);
    char what[560];
    if (taken <= *size) {
        return TW_OK;
    }
    (void)snprintf(what, sizeof what, "unpacking %.500s", out->input->name);
    twi_free(*counted);
    *counted = NULL;
    *size = taken;
    tw_status status = twi_memory_check(out->ctx, taken, what);
    return status == TW_OK ? twi_alloc(out->ctx, counted, taken, 1, what) : status;
}

static tw_status unpack_all(twi_unpacked *out, ZSTD_DCtx *decoder, int window, void **counted)
{
    ZSTD_inBuffer in = {NULL, 0, 0};
    size_t size = 0;
    size_t expected = 1;
    bool full = false; /* there may be more to come out of what has gone in */
    for (;;) {
        uint64_t room = 0;
        tw_status status = TW_OK;
        if (in.pos == in.size && !full) {
            const char *bytes = NULL;
            uint64_t count = 0;
            status = twi_unpacked_piece(out, &bytes, &count);
            if (status == TW_OK && count == 0) {
                return expected != 0 ? twi_packed_cut(out, "Zstandard") : TW_OK;
            }
            in = (ZSTD_inBuffer){bytes, (size_t)count, 0};
        }
        if (status == TW_OK) {
            status = twi_unpacked_room(out, in.size - in.pos, &room);
        }
        if (status != TW_OK) {
            return status;
        }
        ZSTD_outBuffer to = {out->bytes + out->size, (size_t)room, 0};
        expected = ZSTD_decompressStream(decoder, &to, &in);
        out->size += to.pos;
        full = to.pos == to.size;
        if (ZSTD_isError(expected)) {
            return explain(out, expected, in.size - in.pos, window);
        }
        status = count_memory(out, decoder, counted, &size);
        if (status != TW_OK) {
            return status;
        }
    }
}

tw_status twi_zstd_unpack(twi_unpacked *out)
{
    const int window = window_of(twi_memory_left(out->ctx));
    void *counted = NULL;
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    if (decoder == NULL) {
        return twi_packed_no_memory(out);
    }
    (void)ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, window);
    const tw_status status = unpack_all(out, decoder, window, &counted);
    ZSTD_freeDCtx(decoder);
    twi_free(counted);
    return status;
}
