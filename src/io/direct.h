/*
 * Writing a file past the page cache. What is written by calls or through a mapping is kept in
 * memory until the system has put it on the disk; once a tenth or a fifth of the memory waits for
 * that, writers are held up, and they are held up more than the disk would need. A file that is
 * larger than that goes to the disk directly: bytes are gathered in aligned buffers, and threads of
 * their own write these while the next ones are being computed.
 */
#ifndef TWI_IO_DIRECT_H
#define TWI_IO_DIRECT_H

#include "base/context.h"

typedef struct twi_direct twi_direct;

/* Bytes of buffers for a file of that size; 0: it is not written this way. */
uint64_t twi_direct_memory(uint64_t bytes);

/* For a file whose space is reserved, open for writing. NULL if it is too small or its file system
 * does not do it. No memory is taken before there are rows. */
twi_direct *twi_direct_open(tw_context *ctx, int fd, uint64_t bytes);

/* Append from one thread; `offset` is where the last call ended. Returns 0 or an errno: ENOTSUP if
 * this file has to be written in another way, from here on. An error may be of an earlier call. */
int twi_direct_write(tw_context *ctx, twi_direct *direct, const void *data, uint64_t bytes,
                     uint64_t offset);

/* Wait until all is written. Returns 0 or an errno. */
int twi_direct_end(tw_context *ctx, twi_direct *direct);

/* Write nothing more and free; NULL is fine. The file is written by plain calls afterwards. */
void twi_direct_close(twi_direct *direct);

#endif
