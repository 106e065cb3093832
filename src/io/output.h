/*
 * Output files that appear whole or not at all: written beside their name under a temporary one,
 * renamed when complete, removed on failure. "-" is standard output, which cannot be taken back.
 */
#ifndef TWI_IO_OUTPUT_H
#define TWI_IO_OUTPUT_H

#include "base/context.h"

typedef struct twi_output twi_output;

/* Opens, and fails early for a directory or an unwritable place. `bytes` is the final size if
 * known (space is reserved: a full disk shows now), 0 if not. */
TW_CHECKED tw_status twi_output_open(tw_context *ctx, twi_output **out, const char *path,
                                     uint64_t bytes);
/* Bytes of memory that writing a file of that size takes, if there are so many. */
uint64_t twi_output_memory(uint64_t bytes);
/* Append, from one thread. Large pieces of a regular file are copied by all threads of ctx. */
TW_CHECKED tw_status twi_output_write(tw_context *ctx, twi_output *output, const void *data,
                                      uint64_t bytes);
/* Write over bytes that were appended before; only if twi_output_can_patch, which says no of
 * standard output, pipes and devices, and may say no of a file whose size was known. */
TW_CHECKED tw_status twi_output_patch(tw_context *ctx, twi_output *output, uint64_t at,
                                      const void *data, uint64_t bytes);
bool twi_output_can_patch(const twi_output *output);
/* Bytes that were appended before; under the same condition. */
TW_CHECKED tw_status twi_output_read(tw_context *ctx, const twi_output *output, uint64_t at,
                                     void *data, uint64_t bytes);
/* Flush and rename. Frees `output` whether or not it succeeds. */
TW_CHECKED tw_status twi_output_commit(tw_context *ctx, twi_output *output);
/* Remove what was written and free; NULL is fine. */
void twi_output_discard(twi_output *output);

#endif
