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

/* A large block begins one header before a huge-page boundary plus one header: the user's first
 * byte is on a cache line, and all but the first page can be huge. */
static void *raw_block(uint64_t bytes)
{
    uint64_t total;
    if (!twi_add(bytes, TWI_CACHE_LINE, &total) || total > (uint64_t)PTRDIFF_MAX - HUGE_PAGE) {
        return NULL;
    }
    uint64_t align = total >= 2 * HUGE_PAGE ? HUGE_PAGE : TWI_CACHE_LINE;
    total = (total + align - 1) / align * align;
    char *raw = aligned_alloc(align, total);
#ifdef MADV_HUGEPAGE
    if (raw != NULL && align == HUGE_PAGE) {
        (void)madvise(raw, total, MADV_HUGEPAGE); /* advice: a refusal costs speed only */
    }
#endif
    return raw;
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
    char *raw = raw_block(bytes);
    if (raw == NULL) {
        return NULL;
    }
    *(header *)raw = (header){meter, bytes};
    count_block(meter, bytes);
    return raw + TWI_CACHE_LINE;
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
    header *raw = (header *)((char *)block - TWI_CACHE_LINE);
    const header was = *raw;
    free(raw);
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
