/*
 * Checked memory. Every block of the library comes from here: sizes are multiplied with an
 * overflow check, the context's limit is honoured, blocks are aligned to a cache line (large ones
 * to a huge page, and the kernel is asked for huge pages), and the live bytes and blocks are
 * counted, so that tests can fail the n-th allocation and see that nothing leaks.
 *
 * A block remembers its meter in a header of one cache line before it: twi_free needs no context,
 * and a graph may outlive the context it was made with.
 */
#ifndef TWI_BASE_MEMORY_H
#define TWI_BASE_MEMORY_H

#include "tilewright.h"

#include <stdbool.h>

#define TWI_CACHE_LINE 64

typedef struct twi_meter twi_meter;

twi_meter *twi_meter_create(void);
void twi_meter_release(twi_meter *meter); /* freed when its last block is gone */
uint64_t twi_meter_live(const twi_meter *meter);
/* Those bytes and what the machine and its limits leave beside them. The kernel is asked again
 * after a tenth of a second: it takes some fifty system calls, and is asked for every page of an
 * image. */
uint64_t twi_meter_limit(twi_meter *meter);
int64_t twi_meter_blocks(const twi_meter *meter);
uint64_t twi_meter_peak(const twi_meter *meter);
void twi_meter_restart_peak(twi_meter *meter);
/* Make the n-th allocation from now fail (1: the next); 0 turns it off. For tests. */
void twi_meter_fail_at(twi_meter *meter, int64_t n);

/* count * size bytes into *out (a pointer to a pointer), uninitialised or zeroed. `what` names the
 * thing in the error sentence ("the distance matrix"). Zero bytes give a valid block. Safe to call
 * from worker threads with ctx shared, except for the error sentence: workers use
 * twi_try_alloc. */
TW_CHECKED tw_status twi_alloc(tw_context *ctx, void *out, uint64_t count, uint64_t size,
                               const char *what);
TW_CHECKED tw_status twi_alloc_zeroed(tw_context *ctx, void *out, uint64_t count, uint64_t size,
                                      const char *what);
/* NULL instead of a sentence; for worker threads. */
void *twi_try_alloc(tw_context *ctx, uint64_t count, uint64_t size);

/* Grow *block to count * size bytes, keeping its first `keep` bytes; *block may point to NULL. On
 * failure *block is as it was. */
TW_CHECKED tw_status twi_grow(tw_context *ctx, void *block, uint64_t keep, uint64_t count,
                              uint64_t size, const char *what);
void twi_free(void *block); /* NULL is fine */

/* a * b and a + b in uint64_t; false on overflow. */
static inline bool twi_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool twi_add(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* "17.2 GB", "640 MB", "12 kB" (powers of 1000) into buf; returns buf. */
const char *twi_bytes(char buf[32], double bytes);

/* TW_ERR_MEMORY with the numbers if `bytes` more would pass the context's limit. */
TW_CHECKED tw_status twi_memory_check(tw_context *ctx, uint64_t bytes, const char *what);

#endif
