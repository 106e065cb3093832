/*
 * The cache of compiled code: see code_cache.h. A file is a header (magic, lengths of key and code,
 * a checksum of both), the key, the code. It is written beside its place and renamed, so that a
 * reader sees the whole of one writer's file or none.
 */
#include "gpu/code_cache.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x31434554574c4954ULL /* "TILWTEC1" */
#define CODE_MOST (64U << 20)       /* bytes: a kernel takes some ten thousand */
#define HASH_A 0xcbf29ce484222325ULL
#define HASH_B 0x9ae16a3b2f90404fULL

typedef struct file_header {
    uint64_t magic;
    uint64_t key_bytes;
    uint64_t code_bytes;
    uint64_t sum;
} file_header;

/* FNV-1a, from a basis of the caller's. */
static uint64_t hash(uint64_t basis, const void *data, uint64_t bytes)
{
    const unsigned char *at = data;
    for (uint64_t i = 0; i < bytes; i++) {
        basis = (basis ^ at[i]) * 0x100000001b3ULL;
    }
    return basis;
}

static uint64_t checksum(const char *key, uint64_t key_bytes, const twi_rtc_code *code)
{
    return hash(hash(HASH_A, key, key_bytes), code->data, code->bytes);
}

/* The folder, made if need be; false if there is none. */
static bool find_folder(char *out, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = 0;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(out, size, "%s", cache);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(out, size, "%s/.cache", home);
    }
    if (length <= 0 || (size_t)length + sizeof "/tilewright" > size) {
        return false;
    }
    if (mkdir(out, 0700) != 0 && errno != EEXIST) {
        return false;
    }
    snprintf(out + length, size - (size_t)length, "/tilewright");
    return mkdir(out, 0700) == 0 || errno == EEXIST;
}

tw_status twi_code_key_make(tw_context *ctx, twi_code_key *out, const char *source,
                            const char *architecture)
{
    char version[32];
    char options[256];
    char folder[4096];
    *out = (twi_code_key){0};
    tw_status status = twi_rtc_version(ctx, version);
    if (status != TW_OK) {
        return status;
    }
    twi_rtc_options(options);
    size_t room = strlen(source) + strlen(architecture) + strlen(options) + strlen(version) + 64;
    status = twi_alloc(ctx, &out->key, room, 1, "the key of compiled code");
    if (status != TW_OK) {
        return status;
    }
    int bytes = snprintf(out->key, room, "tilewright %s\n%s\n%s\n%s\n%s", TW_VERSION_STRING,
                         version, options, architecture, source);
    if (find_folder(folder, sizeof folder)) {
        size_t path_room = strlen(folder) + 48;
        status = twi_alloc(ctx, &out->path, path_room, 1, "the path of compiled code");
        if (status != TW_OK) {
            twi_code_key_clear(out);
            return status;
        }
        snprintf(out->path, path_room, "%s/%016llx%016llx.code", folder,
                 (unsigned long long)hash(HASH_A, out->key, (uint64_t)bytes),
                 (unsigned long long)hash(HASH_B, out->key, (uint64_t)bytes));
    }
    return TW_OK;
}

void twi_code_key_clear(twi_code_key *key)
{
    twi_free(key->path);
    twi_free(key->key);
    *key = (twi_code_key){0};
}

static bool read_all(int file, void *to, uint64_t bytes)
{
    char *at = to;
    while (bytes > 0) {
        ssize_t got = read(file, at, bytes);
        if (got <= 0) {
            return false;
        }
        at += got;
        bytes -= (uint64_t)got;
    }
    return true;
}

static bool write_all(int file, const void *from, uint64_t bytes)
{
    const char *at = from;
    while (bytes > 0) {
        ssize_t put = write(file, at, bytes);
        if (put <= 0) {
            return false;
        }
        at += put;
        bytes -= (uint64_t)put;
    }
    return true;
}

/* Whether an open file could be one of ours for a key of that length, by its header and size. */
static bool fits(int file, uint64_t key_bytes, file_header *header)
{
    struct stat at;
    return fstat(file, &at) == 0 && S_ISREG(at.st_mode) && at.st_uid == geteuid() &&
           read_all(file, header, sizeof *header) && header->magic == MAGIC &&
           header->key_bytes == key_bytes && header->code_bytes > 0 &&
           header->code_bytes <= CODE_MOST &&
           (uint64_t)at.st_size == sizeof *header + key_bytes + header->code_bytes;
}

tw_status twi_code_cache_read(tw_context *ctx, twi_rtc_code *out, const twi_code_key *key)
{
    uint64_t key_bytes = strlen(key->key);
    file_header header;
    char *found = NULL;
    tw_status status = TW_OK;
    *out = (twi_rtc_code){0};
    if (key->path == NULL) {
        return TW_OK;
    }
    int file = open(key->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return TW_OK;
    }
    if (!fits(file, key_bytes, &header)) {
        goto done;
    }
    status = twi_alloc(ctx, &found, key_bytes, 1, "the key of compiled code");
    if (status != TW_OK) {
        goto done;
    }
    status = twi_alloc(ctx, &out->data, header.code_bytes, 1, "compiled device code");
    if (status != TW_OK) {
        goto done;
    }
    out->bytes = header.code_bytes;
    if (!read_all(file, found, key_bytes) || memcmp(found, key->key, key_bytes) != 0 ||
        !read_all(file, out->data, out->bytes) || checksum(found, key_bytes, out) != header.sum) {
        twi_rtc_code_clear(out);
    }
done:
    twi_free(found);
    (void)close(file);
    return status;
}

void twi_code_cache_write(const twi_code_key *key, const twi_rtc_code *code)
{
    char beside[4200];
    if (key->path == NULL || code->bytes > CODE_MOST) {
        return;
    }
    uint64_t key_bytes = strlen(key->key);
    snprintf(beside, sizeof beside, "%s.XXXXXX", key->path);
    int file = mkostemp(beside, O_CLOEXEC);
    if (file < 0) {
        return;
    }
    file_header header = {MAGIC, key_bytes, code->bytes, checksum(key->key, key_bytes, code)};
    bool written = write_all(file, &header, sizeof header) &&
                   write_all(file, key->key, key_bytes) && write_all(file, code->data, code->bytes);
    written = close(file) == 0 && written;
    if (!written || rename(beside, key->path) != 0) {
        (void)unlink(beside);
    }
}
