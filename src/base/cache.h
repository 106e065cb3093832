/*
 * Files kept from run to run in the user's cache folder, $XDG_CACHE_HOME/tilewright or
 * ~/.cache/tilewright. Nothing depends on them: they may be deleted at any time, and where there is
 * no folder, or none that can be written, there is no cache, and nothing fails. All of a
 * file is checked when it is read.
 */
#ifndef TWI_BASE_CACHE_H
#define TWI_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TWI_CACHE_PATH 4096

/* The folder, made if `make` says so and it is not there; false if the environment names none. */
bool twi_cache_folder(char out[TWI_CACHE_PATH], bool make);

/* FNV-1a, from a basis of the caller's. */
#define TWI_HASH_BASIS 0xcbf29ce484222325ULL
uint64_t twi_cache_hash(uint64_t basis, const void *data, uint64_t bytes);

/* A file open for reading, with its size, if it is a regular one, of this user, and no link; else
 * -1. */
int twi_cache_open(const char *path, uint64_t *bytes);
/* All of the bytes, or false. */
bool twi_cache_read(int file, void *to, uint64_t bytes);

/* A file of these pieces one after the other, for this user alone. It is written beside its place
 * and renamed, so that a reader sees the whole of one writer's file or none; a link in its place is
 * replaced, not followed. False, with errno and nothing left behind, if that cannot be done. */
typedef struct twi_cache_piece {
    const void *data;
    uint64_t bytes;
} twi_cache_piece;
bool twi_cache_write(const char *path, const twi_cache_piece *pieces, int count);

#endif
