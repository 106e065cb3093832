/*
 * What the kinds of compressed input have in common: pieces of the input, room for what comes out
 * of them, and their sentences; and the kinds, one file each.
 *
 * What comes out stays in memory while it is a part of what is left there; from there on it goes
 * into a temporary file without a name, in $TMPDIR or /var/tmp, and its size is known at the end.
 */
#ifndef TWI_IO_PACKED_UNPACKED_H
#define TWI_IO_PACKED_UNPACKED_H

#include "io/input.h"

typedef struct twi_unpacked {
    tw_context *ctx;
    const twi_input *input;
    char *piece;      /* of an input that is not in memory; NULL: it is */
    uint64_t given;   /* bytes of the input that pieces have had */
    bool whole;       /* what comes out will have to be in memory as a whole */
    char *bytes;      /* what came out last */
    uint64_t size;    /* of that */
    uint64_t room;    /* for it */
    int fd;           /* where what came before is; -1: nothing did */
    uint64_t written; /* bytes of that */
} twi_unpacked;

/* The next piece of the input; *count is 0 at its end. It stays until the next call. */
TW_CHECKED tw_status twi_unpacked_piece(twi_unpacked *out, const char **bytes, uint64_t *count);

/* Bytes that may be put behind the others now: at least one, and no more than are unpacked between
 * two looks at the cancel flag. `unused` of the piece has not been used yet. */
TW_CHECKED tw_status twi_unpacked_room(twi_unpacked *out, uint64_t unused, uint64_t *room);

/* The sentences for bytes that are not what they should be, for those that end too early, and for
 * a library that gets no memory. */
tw_status twi_packed_damaged(const twi_unpacked *out, const char *kind, uint64_t unused);
tw_status twi_packed_cut(const twi_unpacked *out, const char *kind);
tw_status twi_packed_no_memory(const twi_unpacked *out);

tw_status twi_gzip_unpack(twi_unpacked *out);
tw_status twi_zstd_unpack(twi_unpacked *out);
tw_status twi_xz_unpack(twi_unpacked *out);

/* The input becomes what came out of it. */
TW_CHECKED tw_status twi_unpacked_give(twi_unpacked *out, twi_input *input);
/* Give everything back instead. */
void twi_unpacked_clear(twi_unpacked *out);

#endif
