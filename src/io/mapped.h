/*
 * Writing a large file through a mapping of it. A write call copies under the file's lock, one
 * thread at a time, and first has to find a page of memory for every page of the file: a result of
 * gigabytes takes longer to write that way than a GPU needs to compute it. Here threads of their
 * own find the pages while the result is still being computed, and all threads copy at once.
 *
 * Only where it is safe: space must be reserved or taken beforehand, since a copy to a page that
 * cannot be had would end the program by a signal. Pages are therefore asked for with a call that
 * returns an error instead (MADV_POPULATE_WRITE, Linux 5.14), on file systems known to keep the
 * promise; anything else is left to write.
 */
#ifndef TWI_IO_MAPPED_H
#define TWI_IO_MAPPED_H

#include "base/context.h"

typedef struct twi_mapped twi_mapped;

/* Whether `bytes` of the file behind fd are worth mapping and can be. *reserves: its pages take
 * their space when they are asked for, so that nothing needs to be reserved before. */
bool twi_mapped_suits(tw_context *ctx, int fd, uint64_t bytes, bool *reserves);

/* Map a file of that size, which must be open for reading and writing, and begin to find its
 * pages. NULL if that is not possible here: then it has to be written. */
twi_mapped *twi_mapped_open(tw_context *ctx, int fd, uint64_t bytes);

/* Put data in its place, by all threads. Returns 0 or an errno. */
int twi_mapped_write(tw_context *ctx, twi_mapped *mapped, const void *data, uint64_t bytes,
                     uint64_t offset);

/* The same by the calling thread alone, which may be a worker. */
int twi_mapped_put(const twi_mapped *mapped, const void *data, uint64_t bytes, uint64_t offset);

/* Whether the pages of the whole file have been found. */
bool twi_mapped_ready(const twi_mapped *mapped);

/* Unmap; what was put stays in the file. NULL is fine. */
void twi_mapped_close(twi_mapped *mapped);

#endif
