/*
 * What the kinds of compressed input have in common: the memory that they unpack into, and their
 * sentences; and the kinds, one file each.
 */
#ifndef TWI_IO_PACKED_UNPACKED_H
#define TWI_IO_PACKED_UNPACKED_H

#include "io/input.h"

typedef struct twi_unpacked {
    char *bytes;
    uint64_t size;
    uint64_t room;
} twi_unpacked;

/* Bytes that may be put behind the others now: at least one, and no more than are unpacked between
 * two looks at the cancel flag. `taken` of the input have been used. */
TW_CHECKED tw_status twi_unpacked_room(tw_context *ctx, twi_unpacked *out, const twi_input *input,
                                       uint64_t taken, uint64_t *room);

/* The sentences for bytes that are not what they should be, and for those that end too early. */
tw_status twi_packed_damaged(tw_context *ctx, const twi_input *input, const char *kind,
                             uint64_t at);
tw_status twi_packed_cut(tw_context *ctx, const twi_input *input, const char *kind);

tw_status twi_gzip_unpack(tw_context *ctx, twi_unpacked *out, const twi_input *input);
tw_status twi_zstd_unpack(tw_context *ctx, twi_unpacked *out, const twi_input *input);
tw_status twi_xz_unpack(tw_context *ctx, twi_unpacked *out, const twi_input *input);

#endif
