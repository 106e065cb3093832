/*
 * Compiled device code kept on disk from run to run, in $XDG_CACHE_HOME/tilewright or
 * ~/.cache/tilewright, one file per kernel. A file is found by a hash of its key and believed only
 * if it is whole and carries the very key: the text of the source, the options, the architecture
 * and the versions of the compiler and of this library. Anything else in its place is compiled
 * over and replaced. No folder, or none that can be written, means no cache, and nothing fails.
 * The files may be deleted at any time.
 */
#ifndef TWI_GPU_CODE_CACHE_H
#define TWI_GPU_CODE_CACHE_H

#include "gpu/rtc.h"

/* What one code is made from. `key` is the whole text that decides it. */
typedef struct twi_code_key {
    char *key;
    char *path; /* NULL: there is no cache */
} twi_code_key;

TW_CHECKED tw_status twi_code_key_make(tw_context *ctx, twi_code_key *out, const char *source,
                                       const char *architecture);
void twi_code_key_clear(twi_code_key *key);

/* The code of the cache; out->data is NULL if there is none to be believed. */
TW_CHECKED tw_status twi_code_cache_read(tw_context *ctx, twi_rtc_code *out,
                                         const twi_code_key *key);
/* Keeps it, if that can be done. */
void twi_code_cache_write(const twi_code_key *key, const twi_rtc_code *code);

#endif
