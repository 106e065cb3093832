/*
 * The meter of a context: the blocks of memory below it, without a sentence for what fails. Blocks
 * are aligned to a cache line (large ones to a huge page, and the kernel is asked for huge pages),
 * and the live bytes and blocks are counted, so that tests can fail the n-th allocation and see
 * that nothing leaks. Of freed blocks of up to 4 MiB the last four are kept for the next calls, not
 * counted, unless the context has a limit.
 *
 * A block remembers its meter in a header of one cache line before it: twi_free needs no context,
 * and a graph may outlive the context it was made with.
 */
#ifndef TWI_BASE_METER_H
#define TWI_BASE_METER_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

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
/* Whether freed blocks are kept, true at first; false gives those back that are. */
void twi_meter_keep(twi_meter *meter, bool keeps);
int twi_meter_kept(const twi_meter *meter); /* blocks; for tests */
/* Make the n-th allocation from now fail (1: the next); 0 turns it off. For tests. */
void twi_meter_fail_at(twi_meter *meter, int64_t n);

/* count * size bytes, uninitialised; NULL if they are more than can be had, or if the live bytes
 * would pass `limit` (0: none). */
void *twi_meter_take(twi_meter *meter, uint64_t count, uint64_t size, uint64_t limit);
TWI_SHARED void twi_free(void *block); /* NULL is fine */

/* Bytes that a library takes by itself: counted as a block of ours, without memory of their own.
 * {0} counts nothing. */
typedef struct twi_counted {
    twi_meter *meter;
    uint64_t bytes;
} twi_counted;
/* False if the live bytes would pass `limit` (0: none); *out is then {0}. */
bool twi_meter_count(twi_meter *meter, twi_counted *out, uint64_t bytes, uint64_t limit);
TWI_SHARED void twi_uncount(twi_counted *counted);

/* a * b and a + b in uint64_t; false on overflow. */
static inline bool twi_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool twi_add(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

#endif
