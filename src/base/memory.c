/* Checked memory: see memory.h. */
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

#define SPARE_PART 16                /* of what is needed, named beside it */
#define SPARE ((uint64_t)700 * 1000) /* and bytes besides */

/* What is refused, or 0. */
static uint64_t hard_limit(const tw_context *ctx)
{
    return ctx->memory_limit == 0 || ctx->memory_limit > ctx->memory_floor ? ctx->memory_limit
                                                                           : ctx->memory_floor;
}

/* What is kept for later calls is given back before anything is refused. */
void *twi_try_alloc(tw_context *ctx, uint64_t count, uint64_t size)
{
    void *block = twi_meter_take(ctx->meter, count, size, hard_limit(ctx));
    if (block == NULL && twi_store_idle(ctx) > 0) {
        twi_store_release(ctx, TWI_STORE_HOST);
        block = twi_meter_take(ctx->meter, count, size, hard_limit(ctx));
    }
    return block;
}

tw_status twi_out_of_memory(tw_context *ctx, uint64_t bytes, const char *what)
{
    char need[32];
    char limit[32];
    char advice[TWI_ADVICE];
    return tw_fail(ctx, TW_ERR_MEMORY, "not enough memory for %s: %s needed, the limit is %s%s",
                   what, twi_bytes(need, (double)bytes),
                   twi_bytes(limit, (double)tw_memory_limit(ctx)),
                   twi_memory_advice(advice, ctx, bytes));
}

#undef twi_alloc
tw_status twi_alloc(tw_context *ctx, void *out, uint64_t count, uint64_t size, const char *what)
{
    void *block = twi_try_alloc(ctx, count, size);
    memcpy(out, &block, sizeof block);
    if (block != NULL) {
        return TW_OK;
    }
    uint64_t bytes;
    return twi_mul(count, size, &bytes)
               ? twi_out_of_memory(ctx, bytes, what)
               : tw_fail(ctx, TW_ERR_MEMORY,
                         "%s needs more memory than this machine can address (%llu x %llu bytes)",
                         what, (unsigned long long)count, (unsigned long long)size);
}

#undef twi_alloc_zeroed
tw_status twi_alloc_zeroed(tw_context *ctx, void *out, uint64_t count, uint64_t size,
                           const char *what)
{
    tw_status status = twi_alloc(ctx, out, count, size, what);
    if (status == TW_OK) {
        void *block;
        memcpy(&block, out, sizeof block);
        memset(block, 0, (size_t)(count * size));
    }
    return status;
}

tw_status twi_grow(tw_context *ctx, void *block, uint64_t keep, uint64_t count, uint64_t size,
                   const char *what)
{
    void *grown;
    tw_status status = twi_alloc(ctx, &grown, count, size, what);
    if (status != TW_OK) {
        return status;
    }
    void *old;
    memcpy(&old, block, sizeof old);
    if (old != NULL) {
        memcpy(grown, old, (size_t)keep);
        twi_free(old);
    }
    memcpy(block, &grown, sizeof grown);
    return TW_OK;
}

const char *twi_bytes(char buf[32], double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"};
    size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1000;
        unit++;
    }
    snprintf(buf, 32, bytes < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return buf;
}

void twi_bytes_apart(char first[32], uint64_t bytes, char second[32], uint64_t others)
{
    twi_bytes(first, (double)bytes);
    twi_bytes(second, (double)others);
    if (bytes != others && strcmp(first, second) == 0) {
        snprintf(first, 32, "%llu bytes", (unsigned long long)bytes);
        snprintf(second, 32, "%llu bytes", (unsigned long long)others);
    }
}

/* Without what is kept for later calls, which can be given back. */
static uint64_t in_use(const tw_context *ctx)
{
    const uint64_t used = tw_memory_used(ctx);
    const uint64_t idle = twi_store_idle(ctx);
    return used > idle ? used - idle : 0;
}

uint64_t twi_memory_left(const tw_context *ctx)
{
    uint64_t limit = tw_memory_limit(ctx);
    uint64_t used = in_use(ctx);
    return limit > used ? limit - used : 0;
}

uint64_t twi_memory_room(const tw_context *ctx)
{
    const uint64_t limit = hard_limit(ctx);
    const uint64_t used = in_use(ctx);
    return limit == 0 ? twi_memory_left(ctx) : limit > used ? limit - used : 0;
}

const char *twi_memory_advice(char buf[TWI_ADVICE], const tw_context *ctx, uint64_t bytes)
{
    static const char units[] = "\0kMGTP";
    uint64_t needed;
    size_t unit = 0;
    buf[0] = '\0';
    if (ctx->memory_limit == 0 || !twi_add(in_use(ctx), bytes, &needed) ||
        needed <= hard_limit(ctx) || !twi_add(needed, needed / SPARE_PART + SPARE, &needed)) {
        return buf; /* the machine has no more */
    }
    while (needed >= 10000 && unit + 2 < sizeof units) {
        needed = needed / 1000 + (needed % 1000 != 0); /* never less than what is needed */
        unit++;
    }
    snprintf(buf, TWI_ADVICE, "; use --memory %llu%.1s or more", (unsigned long long)needed,
             units + unit);
    return buf;
}

/* Where nothing is refused, the peak tells what a run would need: what it asks for is in it, though
 * it may be taken only later. */
static void note_asked(const tw_context *ctx, uint64_t bytes)
{
    twi_counted asked;
    if (ctx->memory_floor == UINT64_MAX && twi_meter_count(ctx->meter, &asked, bytes, 0)) {
        twi_uncount(&asked);
    }
}

tw_status twi_memory_check(tw_context *ctx, uint64_t bytes, const char *what)
{
    const uint64_t left = twi_memory_room(ctx);
    if (bytes <= left) {
        const uint64_t idle = twi_store_idle(ctx);
        if (idle > 0 && (idle > left || bytes > left - idle)) {
            twi_store_release(ctx, TWI_STORE_HOST);
        }
        note_asked(ctx, bytes);
        return TW_OK;
    }
    char need[32];
    char have[32];
    char advice[TWI_ADVICE];
    twi_bytes_apart(need, bytes, have, left);
    return tw_fail(ctx, TW_ERR_MEMORY, "%s needs %s of memory, but only %s is left%s", what, need,
                   have, twi_memory_advice(advice, ctx, bytes));
}

tw_status tw_memory_check(tw_context *ctx, uint64_t bytes, const char *what)
{
    const tw_status status = TWI_REQUIRE(ctx, {"what", what});
    return status == TW_OK ? twi_memory_check(ctx, bytes, what) : status;
}

tw_status twi_count(tw_context *ctx, twi_counted *out, uint64_t bytes, const char *what)
{
    const uint64_t limit = hard_limit(ctx);
    if (twi_meter_count(ctx->meter, out, bytes, limit)) {
        return TW_OK;
    }
    if (twi_store_idle(ctx) > 0) {
        twi_store_release(ctx, TWI_STORE_HOST);
        if (twi_meter_count(ctx->meter, out, bytes, limit)) {
            return TW_OK;
        }
    }
    tw_status status = twi_memory_check(ctx, bytes, what);
    return status != TW_OK ? status : twi_out_of_memory(ctx, bytes, what);
}
