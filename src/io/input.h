/*
 * Input files as bytes in memory: a regular file is mapped, so that only what is looked at is
 * read; a pipe or standard input is read to its end. A mapped file must not be cut by somebody
 * else while it is in use: the system ends a program that reads beyond the new end.
 */
#ifndef TWI_IO_INPUT_H
#define TWI_IO_INPUT_H

#include "base/context.h"

typedef struct twi_input {
    const char *name;  /* for error sentences */
    const char *bytes; /* never NULL */
    uint64_t size;
    void *mapped; /* of `size` bytes, or NULL */
    void *memory; /* when read, or NULL */
} twi_input;

/* "-" is standard input. `path` must live as long as the input. */
TW_CHECKED tw_status twi_input_open(tw_context *ctx, twi_input *out, const char *path);
void twi_input_close(twi_input *input);

#endif
