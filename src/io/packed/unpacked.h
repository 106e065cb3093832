/*
 * What the kinds of compressed input have in common: pieces of the input and their sentences; and
 * the kinds, one file each. A kind unpacks as much as is asked for and goes on from there: what is
 * between two calls is its own, in `state`.
 */
#ifndef TWI_IO_PACKED_UNPACKED_H
#define TWI_IO_PACKED_UNPACKED_H

#include "io/input.h"

typedef struct twi_unpacked {
    twi_flow flow; /* of what comes out */
    tw_context *ctx;
    twi_input input;
    const struct twi_packing *kind;
    void *state;
    char *piece;    /* of an input that is not in memory; NULL: it is */
    uint64_t given; /* bytes of the input that pieces have had */
} twi_unpacked;

/* A row of the table in packed.c. `read` is a flow's. */
typedef struct twi_packing {
    const char *name;
    const char *extension;
    const char *begin; /* of every such file */
    size_t begin_length;
    const char *library; /* what has to be installed for it */
    tw_status (*open)(twi_unpacked *from);
    tw_status (*read)(twi_unpacked *from, char *out, uint64_t room, uint64_t *got);
    void (*close)(twi_unpacked *from); /* also after `open` has failed */
} twi_packing;

/* The next piece of the input; *count is 0 at its end. It stays until the next call. */
TW_CHECKED tw_status twi_unpacked_piece(twi_unpacked *from, const char **bytes, uint64_t *count);

/* The sentences for bytes that are not what they should be, for those that end too early, and for
 * a library that gets no memory. */
tw_status twi_packed_damaged(const twi_unpacked *from, const char *kind, uint64_t unused);
tw_status twi_packed_cut(const twi_unpacked *from, const char *kind);
tw_status twi_packed_no_memory(const twi_unpacked *from);

#define TWI_DECLARE_PACKING(kind)                                                             \
    tw_status twi_##kind##_open(twi_unpacked *from);                                          \
    tw_status twi_##kind##_read(twi_unpacked *from, char *out, uint64_t room, uint64_t *got); \
    void twi_##kind##_close(twi_unpacked *from)
TWI_DECLARE_PACKING(gzip);
TWI_DECLARE_PACKING(zstd);
TWI_DECLARE_PACKING(xz);
#undef TWI_DECLARE_PACKING

/* Makes the input the flow of what `kind` unpacks of it. */
TW_CHECKED tw_status twi_unpacked_begin(tw_context *ctx, twi_input *input, const twi_packing *kind);

#endif
