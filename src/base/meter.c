/* The meter: see meter.h. */
#include "base/meter.h"

#include "base/available.h"
#include "base/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((uint64_t)2 << 20)
#define LOOK_AGAIN 0.1 /* seconds */

/* Blocks that were freed are kept for the next calls, the last few: new pages are cleared by the
 * kernel, one by one, which took a tenth of a closure of 500 vertices and more with many threads
 * (November 2026). Smaller blocks malloc keeps by itself. Checkers of memory want to see each block
 * freed. */
#define KEPT 4 /* blocks */
#define KEPT_LEAST ((uint64_t)1 << 17)
#define KEPT_MOST ((uint64_t)4 << 20)
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CHECKS_MEMORY 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(CHECKS_MEMORY)
static const bool may_keep = false;
#else
static const bool may_keep = true;
#endif

struct twi_meter {
    atomic_ullong live;
    atomic_ullong peak;
    atomic_llong blocks;
    atomic_llong owners; /* the context, and every live block */
    atomic_llong fail_at;
    atomic_bool keeps;
    atomic_uint turn;                    /* of which block is replaced next, modulo KEPT */
    _Atomic(struct header *) kept[KEPT]; /* of freed blocks; NULL: none */
    atomic_ullong limit;                 /* live bytes and what could be had beside them, */
    _Atomic double looked;               /* when that was seen last; 0: never */
};

/* One cache line before each block. */
typedef struct header {
    twi_meter *meter;
    uint64_t bytes;
    uint64_t room; /* bytes that there are */
    void *raw;     /* what the system gave, and gets back */
} header;

twi_meter *twi_meter_create(void)
{
    twi_meter *meter = calloc(1, sizeof *meter);
    if (meter != NULL) {
        atomic_init(&meter->owners, 1);
        atomic_init(&meter->keeps, may_keep);
    }
    return meter;
}

static void drop_kept(twi_meter *meter)
{
    for (int i = 0; i < KEPT; i++) {
        const header *kept = atomic_exchange(&meter->kept[i], NULL);
        if (kept != NULL) {
            free(kept->raw);
        }
    }
}

void twi_meter_release(twi_meter *meter)
{
    if (meter != NULL && atomic_fetch_sub(&meter->owners, 1) == 1) {
        drop_kept(meter);
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
 * has an ordinary one: who takes a new block touches none of it, so that a page is made, and
 * cleared, by the thread that uses it first. */
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

/* Free a block, or keep it: in a free place, or in place of another one. */
static void free_or_keep(twi_meter *meter, header *block)
{
    const bool fits = block->room >= KEPT_LEAST && block->room <= KEPT_MOST;
    if (!fits || !atomic_load(&meter->keeps)) {
        free(block->raw);
        return;
    }
    for (int i = 0; i < KEPT; i++) {
        header *none = NULL;
        if (atomic_compare_exchange_strong(&meter->kept[i], &none, block)) {
            return;
        }
    }
    const unsigned turn = atomic_fetch_add(&meter->turn, 1) % KEPT;
    const header *old = atomic_exchange(&meter->kept[turn], block);
    if (old != NULL) {
        free(old->raw);
    }
}

/* One of those that are kept, with room for so many bytes and not for twice as many; or NULL. */
static header *take_kept(twi_meter *meter, uint64_t bytes)
{
    for (int i = 0; i < KEPT && bytes >= KEPT_LEAST / 2 && bytes <= KEPT_MOST; i++) {
        if (atomic_load(&meter->kept[i]) == NULL) {
            continue;
        }
        header *block = atomic_exchange(&meter->kept[i], NULL); /* ours: nobody else has it */
        if (block != NULL && block->room >= bytes && block->room / 2 <= bytes) {
            return block;
        }
        if (block != NULL) {
            free_or_keep(meter, block);
        }
    }
    return NULL;
}

void twi_meter_keep(twi_meter *meter, bool keeps)
{
    atomic_store(&meter->keeps, keeps && may_keep);
    if (!keeps) {
        drop_kept(meter);
    }
}

int twi_meter_kept(const twi_meter *meter)
{
    int count = 0;
    for (int i = 0; i < KEPT; i++) {
        count += atomic_load(&meter->kept[i]) != NULL;
    }
    return count;
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
    header *kept = take_kept(meter, bytes);
    void *raw = NULL;
    char *block = kept != NULL ? (char *)kept + TWI_CACHE_LINE : raw_block(bytes, &raw);
    if (block == NULL) {
        drop_kept(meter);
        block = raw_block(bytes, &raw);
    }
    if (block == NULL) {
        return NULL;
    }
    *header_of(block) = kept != NULL ? (header){meter, bytes, kept->room, kept->raw}
                                     : (header){meter, bytes, bytes, raw};
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
    header *head = header_of(block);
    twi_meter *meter = head->meter;
    const uint64_t bytes = head->bytes;
    free_or_keep(meter, head);
    uncount_block(meter, bytes);
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
