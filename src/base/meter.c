/* The meter: see meter.h. */
#include "base/meter.h"

#include "base/available.h"
#include "base/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((uint64_t)2 << 20)
#define LOOK_AGAIN 0.1 /* seconds */

struct twi_meter {
    atomic_ullong live;
    atomic_ullong peak;
    atomic_llong blocks;
    atomic_llong owners; /* the context, and every live block */
    atomic_llong fail_at;
    atomic_ullong limit;   /* live bytes and what could be had beside them, */
    _Atomic double looked; /* when that was seen last; 0: never */
};

/* One cache line before each block. */
typedef struct header {
    twi_meter *meter;
    uint64_t bytes;
    void *raw; /* what the system gave, and gets back */
} header;

twi_meter *twi_meter_create(void)
{
    twi_meter *meter = calloc(1, sizeof *meter);
    if (meter != NULL) {
        atomic_init(&meter->owners, 1);
    }
    return meter;
}

void twi_meter_release(twi_meter *meter)
{
    if (meter != NULL && atomic_fetch_sub(&meter->owners, 1) == 1) {
        free(meter);
    }
}

uint64_t twi_meter_limit(twi_meter *meter)
{
    const double now = twi_seconds();
    const double looked = atomic_load(&meter->looked);
    if (!(looked > 0) || now - looked > LOOK_AGAIN) {
        atomic_store(&meter->limit, twi_meter_live(meter) + twi_memory_available());
        atomic_store(&meter->looked, now);
    }
    return atomic_load(&meter->limit);
}

uint64_t twi_meter_live(const twi_meter *meter)
{
    return atomic_load(&meter->live);
}

int64_t twi_meter_blocks(const twi_meter *meter)
{
    return atomic_load(&meter->blocks);
}

uint64_t twi_meter_peak(const twi_meter *meter)
{
    return atomic_load(&meter->peak);
}

void twi_meter_restart_peak(twi_meter *meter)
{
    atomic_store(&meter->peak, atomic_load(&meter->live));
}

void twi_meter_fail_at(twi_meter *meter, int64_t n)
{
    atomic_store(&meter->fail_at, n);
}

static void count_block(twi_meter *meter, uint64_t bytes)
{
    unsigned long long live = atomic_fetch_add(&meter->live, bytes) + bytes;
    unsigned long long peak = atomic_load(&meter->peak);
    while (live > peak && !atomic_compare_exchange_weak(&meter->peak, &peak, live)) {
    }
    atomic_fetch_add(&meter->blocks, 1);
    atomic_fetch_add(&meter->owners, 1);
}

static bool planned_failure(twi_meter *meter)
{
    return atomic_load(&meter->fail_at) > 0 && atomic_fetch_sub(&meter->fail_at, 1) == 1;
}

static uint64_t rounded_up(uint64_t bytes, uint64_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

/* The first byte is on a cache line. A large block begins with a huge page, before which its header
 * has an ordinary one: who takes a block touches none of it, so that a page is made, and cleared,
 * by the thread that uses it first. */
static char *raw_block(uint64_t bytes, void **raw)
{
    const uint64_t line = TWI_CACHE_LINE;
    if (bytes > (uint64_t)PTRDIFF_MAX - 3 * HUGE_PAGE) {
        return NULL;
    }
    if (bytes < 2 * HUGE_PAGE) {
        *raw = aligned_alloc(line, rounded_up(bytes + line, line));
        return *raw != NULL ? (char *)*raw + line : NULL;
    }
    const uint64_t total = rounded_up(bytes, HUGE_PAGE);
    *raw = malloc(total + HUGE_PAGE + line);
    if (*raw == NULL) {
        return NULL;
    }
    const uint64_t begins = (uint64_t)(uintptr_t)*raw;
    char *block = (char *)*raw + (rounded_up(begins + line, HUGE_PAGE) - begins);
#ifdef MADV_HUGEPAGE
    (void)madvise(block, total, MADV_HUGEPAGE); /* advice: a refusal costs speed only */
#endif
    return block;
}

static header *header_of(void *block)
{
    return (header *)((char *)block - TWI_CACHE_LINE);
}

static bool passes(const twi_meter *meter, uint64_t bytes, uint64_t limit)
{
    return limit != 0 && (bytes > limit || twi_meter_live(meter) > limit - bytes);
}

void *twi_meter_take(twi_meter *meter, uint64_t count, uint64_t size, uint64_t limit)
{
    uint64_t bytes;
    if (!twi_mul(count, size, &bytes) || planned_failure(meter) || passes(meter, bytes, limit)) {
        return NULL;
    }
    void *raw = NULL;
    char *block = raw_block(bytes, &raw);
    if (block == NULL) {
        return NULL;
    }
    *header_of(block) = (header){meter, bytes, raw};
    count_block(meter, bytes);
    return block;
}

static void uncount_block(twi_meter *meter, uint64_t bytes)
{
    atomic_fetch_sub(&meter->live, bytes);
    atomic_fetch_sub(&meter->blocks, 1);
    twi_meter_release(meter);
}

void twi_free(void *block)
{
    if (block == NULL) {
        return;
    }
    const header was = *header_of(block);
    free(was.raw);
    uncount_block(was.meter, was.bytes);
}

bool twi_meter_count(twi_meter *meter, twi_counted *out, uint64_t bytes, uint64_t limit)
{
    *out = (twi_counted){0};
    if (planned_failure(meter) || passes(meter, bytes, limit)) {
        return false;
    }
    *out = (twi_counted){meter, bytes};
    count_block(meter, bytes);
    return true;
}

void twi_uncount(twi_counted *counted)
{
    if (counted->meter != NULL) {
        uncount_block(counted->meter, counted->bytes);
    }
    *counted = (twi_counted){0};
}
