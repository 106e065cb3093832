/*
 * Compressed inputs: gzip, Zstandard and xz, each where its library was found. A compressed file is
 * recognised by its content, before anybody looks for its format; of its name the last extension
 * does not count. One file per kind; to add one, write it and add its row in packed.c.
 */
#ifndef TWI_IO_PACKED_PACKED_H
#define TWI_IO_PACKED_PACKED_H

#include "io/input.h"

/* Whether these bytes begin a compressed file of a known kind. */
bool twi_packed_recognised(const twi_input *input);
/* Whether the path ends in an extension of a compressed file: gz, zst or xz. */
TWI_SHARED bool twi_packed_named(const char *path);

/* The name without such an extension, for what looks at extensions: `path` itself, or its end in
 * `out`. */
#define TWI_PACKED_NAME 64
const char *twi_packed_inner(const char *path, char out[TWI_PACKED_NAME]);

/* Makes of an input the flow of what its bytes unpack to, its head in memory. An input that is not
 * compressed is refused. */
TW_CHECKED tw_status twi_unpack(tw_context *ctx, twi_input *input);

#endif
