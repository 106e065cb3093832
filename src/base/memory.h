/*
 * Checked memory. Every block of the library comes from here: sizes are multiplied with an
 * overflow check, the context's limit is honoured, and what fails has a sentence. How blocks lie
 * and are counted: meter.h.
 */
#ifndef TWI_BASE_MEMORY_H
#define TWI_BASE_MEMORY_H

#include "base/context.h"

/* count * size bytes into *out (a pointer to a pointer), uninitialised or zeroed. `what` names the
 * thing in the error sentence ("the distance matrix"). Zero bytes give a valid block. Safe to call
 * from worker threads with ctx shared, except for the error sentence: workers use
 * twi_try_alloc. */
TWI_SHARED TW_CHECKED tw_status twi_alloc(tw_context *ctx, void *out, uint64_t count, uint64_t size,
                                          const char *what);
TWI_SHARED TW_CHECKED tw_status twi_alloc_zeroed(tw_context *ctx, void *out, uint64_t count,
                                                 uint64_t size, const char *what);
#ifdef __clang_analyzer__ /* it checks one file at a time: tell it that TW_OK gives a block */
static inline tw_status twi_alloc_told(tw_context *ctx, void *out, uint64_t count, uint64_t size,
                                       const char *what)
{
    const tw_status status = twi_alloc(ctx, out, count, size, what);
    if (status == TW_OK && *(void **)out == NULL) {
        __builtin_unreachable();
    }
    return status;
}
static inline tw_status twi_alloc_zeroed_told(tw_context *ctx, void *out, uint64_t count,
                                              uint64_t size, const char *what)
{
    const tw_status status = twi_alloc_zeroed(ctx, out, count, size, what);
    if (status == TW_OK && *(void **)out == NULL) {
        __builtin_unreachable();
    }
    return status;
}
#define twi_alloc twi_alloc_told
#define twi_alloc_zeroed twi_alloc_zeroed_told
#endif

/* NULL instead of a sentence; for worker threads. */
void *twi_try_alloc(tw_context *ctx, uint64_t count, uint64_t size);

/* The sentence of twi_alloc, for who got nothing from twi_try_alloc. */
TW_CHECKED tw_status twi_out_of_memory(tw_context *ctx, uint64_t bytes, const char *what);

/* Grow *block to count * size bytes, keeping its first `keep` bytes; *block may point to NULL. On
 * failure *block is as it was. */
TWI_SHARED TW_CHECKED tw_status twi_grow(tw_context *ctx, void *block, uint64_t keep,
                                         uint64_t count, uint64_t size, const char *what);

/* Count bytes that a library will take by itself, until twi_uncount; refused like those of
 * twi_memory_check. */
TWI_SHARED TW_CHECKED tw_status twi_count(tw_context *ctx, twi_counted *out, uint64_t bytes,
                                          const char *what);

/* "17.2 GB", "640 MB", "12 kB" (powers of 1000) into buf; returns buf. */
TWI_SHARED const char *twi_bytes(char buf[32], double bytes);

/* Two amounts that differ, in bytes where they would look the same. */
TWI_SHARED void twi_bytes_apart(char first[32], uint64_t bytes, char second[32], uint64_t others);

/* What the context may still take: what plans and buffers go by. */
uint64_t twi_memory_left(const tw_context *ctx);
/* What it could still take before it is refused: more than that where the limit lies below the
 * floor. */
uint64_t twi_memory_room(const tw_context *ctx);

/* "; use --memory 1235k or more" where a limit keeps the context from taking so many bytes more,
 * else "". What is named is somewhat more than those bytes, for the small things that follow them.
 */
#define TWI_ADVICE 64
TWI_SHARED const char *twi_memory_advice(char buf[TWI_ADVICE], const tw_context *ctx,
                                         uint64_t bytes);

/* TW_ERR_MEMORY with the numbers if `bytes` more would pass the context's limit. */
TWI_SHARED TW_CHECKED tw_status twi_memory_check(tw_context *ctx, uint64_t bytes, const char *what);

#endif
