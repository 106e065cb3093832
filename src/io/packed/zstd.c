/* Zstandard files, by libzstd. Several frames one after the other are one text. */
#include "io/packed/unpacked.h"

#include "base/memory.h"

#include <stdio.h>
#include <zstd.h>
#include <zstd_errors.h>

#define LONGEST_WINDOW 27 /* powers of two of bytes: what the command zstd takes unasked */
#define SHORTEST_WINDOW 10
#define DECODER ((uint64_t)600 << 10) /* bytes beside the window: tables, and two blocks */
#define FRAME_HEADER 18               /* bytes, at most */

/* The longest window that fits in memory. */
static int window_of(uint64_t left)
{
    int window = SHORTEST_WINDOW;
    while (window < LONGEST_WINDOW && ((uint64_t)2 << window) + DECODER <= left) {
        window++;
    }
    return window;
}

/* What the first frame says of its window: of the others nobody knows before they are reached. */
static uint64_t first_window(const twi_input *input)
{
    const unsigned char *at = (const unsigned char *)input->bytes;
    uint64_t bytes = 0;
    if (twi_input_held(input) < FRAME_HEADER) {
        return 0;
    }
    const unsigned descriptor = at[4];
    if ((descriptor & 0x20) == 0) { /* 2^(10 + exponent), and eighths of it */
        bytes = (uint64_t)1024 << (at[5] >> 3);
        return bytes + bytes / 8 * (at[5] & 7);
    }
    /* a single segment: as large as what comes out */
    const unsigned dictionary = (descriptor & 3) == 3 ? 4 : descriptor & 3;
    const unsigned size = 1U << (descriptor >> 6);
    for (unsigned i = size; i-- > 0;) {
        bytes = bytes << 8 | at[5 + dictionary + i];
    }
    return bytes + (size == 2 ? 256 : 0);
}

static tw_status too_long(const twi_unpacked *from, int window)
{
    char what[560];
    const uint64_t first = first_window(&from->input), least = (uint64_t)2 << window;
    const uint64_t needed = first > least / 2 ? first : least;
    (void)snprintf(what, sizeof what, "unpacking %.500s%s", from->input.name,
                   from->input.beside > 0 ? " and what it may hold" : "");
    tw_status status = twi_memory_check(from->ctx, needed + DECODER + from->input.beside, what);
    return status != TW_OK ? status : twi_packed_no_memory(from);
}

static tw_status explain(const twi_unpacked *from, size_t result, uint64_t unused, int window)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        if (window == LONGEST_WINDOW) {
            return tw_fail(from->ctx, TW_ERR_UNSUPPORTED,
                           "%.500s: a Zstandard window of more than 128 MiB (--ultra or --long) is "
                           "not supported; unpack it first",
                           from->input.name);
        }
        return too_long(from, window);
    case ZSTD_error_memory_allocation:
        return twi_packed_no_memory(from);
    default:
        return twi_packed_damaged(from, "Zstandard", unused);
    }
}

/* The library takes memory by itself, which is counted as ours. */
typedef struct zstd {
    ZSTD_DCtx *decoder;
    int window;
    twi_counted counted;
    ZSTD_inBuffer in;
    size_t expected; /* 0: a frame has ended */
    bool full;       /* there may be more to come out of what has gone in */
} zstd;

static tw_status count_memory(const twi_unpacked *from, zstd *state)
{
    const size_t taken = ZSTD_sizeof_DCtx(state->decoder);
    char what[560];
    if (taken <= state->counted.bytes) {
        return TW_OK;
    }
    (void)snprintf(what, sizeof what, "unpacking %.500s", from->input.name);
    twi_uncount(&state->counted);
    return twi_count(from->ctx, &state->counted, taken, what);
}

tw_status twi_zstd_open(twi_unpacked *from)
{
    zstd *state = NULL;
    tw_status status = twi_alloc(from->ctx, &state, 1, sizeof *state, "unpacking");
    if (status != TW_OK) {
        return status;
    }
    *state = (zstd){.decoder = ZSTD_createDCtx(), .expected = 1};
    state->window = window_of(twi_memory_room(from->ctx));
    from->state = state;
    if (state->decoder == NULL) {
        return twi_packed_no_memory(from);
    }
    (void)ZSTD_DCtx_setParameter(state->decoder, ZSTD_d_windowLogMax, state->window);
    return TW_OK;
}

void twi_zstd_close(twi_unpacked *from)
{
    zstd *state = from->state;
    if (state != NULL) {
        ZSTD_freeDCtx(state->decoder);
        twi_uncount(&state->counted);
    }
    twi_free(state);
}

tw_status twi_zstd_read(twi_unpacked *from, char *out, uint64_t room, uint64_t *got)
{
    zstd *state = from->state;
    ZSTD_inBuffer *in = &state->in;
    tw_status status = TW_OK;
    *got = 0;
    while (status == TW_OK && *got == 0) {
        if (in->pos == in->size && !state->full) {
            const char *bytes = NULL;
            uint64_t count = 0;
            status = twi_unpacked_piece(from, &bytes, &count);
            if (status == TW_OK && count == 0) {
                return state->expected != 0 ? twi_packed_cut(from, "Zstandard") : TW_OK;
            }
            *in = (ZSTD_inBuffer){bytes, (size_t)count, 0};
        }
        if (status != TW_OK) {
            return status;
        }
        ZSTD_outBuffer to = {out, (size_t)room, 0};
        state->expected = ZSTD_decompressStream(state->decoder, &to, in);
        *got = to.pos;
        state->full = to.pos == to.size;
        if (ZSTD_isError(state->expected)) {
            return explain(from, state->expected, in->size - in->pos, state->window);
        }
        status = count_memory(from, state);
    }
    return status;
}
