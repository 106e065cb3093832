/* Stores past the caches, where the machine has them: a line that is overwritten is then not read
 * first, a fifth of what a*b+c moves. */
#ifndef TWI_MAP_CPU_PAST_H
#define TWI_MAP_CPU_PAST_H

#include "base/memory.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#define TWI_STORES_PAST true
#else
#define TWI_STORES_PAST false
#endif

/* Bytes to `out`, whole lines of it past the caches. Who has written so calls twi_written_past
 * before others look. */
static inline void twi_write_past(char *out, const char *from, int64_t bytes)
{
#ifdef __SSE2__
    int64_t at = (int64_t)(-(uintptr_t)out % TWI_CACHE_LINE);
    at = at < bytes ? at : bytes;
    const int64_t end = at + (bytes - at) / TWI_CACHE_LINE * TWI_CACHE_LINE;
    memcpy(out, from, (size_t)at);
    for (; at < end; at += (int64_t)sizeof(__m128i)) {
        _mm_stream_si128((__m128i *)(void *)(out + at),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + at)));
    }
    memcpy(out + end, from + end, (size_t)(bytes - end));
#else
    memcpy(out, from, (size_t)bytes);
#endif
}

static inline void twi_written_past(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
