/*
 * The cache of compiled code: see code_cache.h. A file is a header (magic, lengths of key and code,
 * a checksum of both), the key, the code.
 */
#include "gpu/code_cache.h"

#include "base/cache.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 0x31434554574c4954ULL /* "TILWTEC1" */
#define CODE_MOST (64U << 20)       /* bytes: a kernel takes some ten thousand */
#define HASH_B 0x9ae16a3b2f90404fULL

typedef struct file_header {
    uint64_t magic;
    uint64_t key_bytes;
    uint64_t code_bytes;
    uint64_t sum;
} file_header;

static uint64_t checksum(const char *key, uint64_t key_bytes, const twi_rtc_code *code)
{
    return twi_cache_hash(twi_cache_hash(TWI_HASH_BASIS, key, key_bytes), code->data, code->bytes);
}

tw_status twi_code_key_make(tw_context *ctx, twi_code_key *out, const char *source,
                            const char *architecture)
{
    char version[32];
    char options[256];
    char folder[TWI_CACHE_PATH];
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
    if (twi_cache_folder(folder, true)) {
        size_t path_room = strlen(folder) + 48;
        status = twi_alloc(ctx, &out->path, path_room, 1, "the path of compiled code");
        if (status != TW_OK) {
            twi_code_key_clear(out);
            return status;
        }
        snprintf(out->path, path_room, "%s/%016llx%016llx.code", folder,
                 (unsigned long long)twi_cache_hash(TWI_HASH_BASIS, out->key, (uint64_t)bytes),
                 (unsigned long long)twi_cache_hash(HASH_B, out->key, (uint64_t)bytes));
    }
    return TW_OK;
}

void twi_code_key_clear(twi_code_key *key)
{
    twi_free(key->path);
    twi_free(key->key);
    *key = (twi_code_key){0};
}

/* Whether an open file of so many bytes could be one of ours for a key of that length. */
static bool fits(int file, uint64_t bytes, uint64_t key_bytes, file_header *header)
{
    return twi_cache_read(file, header, sizeof *header) && header->magic == MAGIC &&
           header->key_bytes == key_bytes && header->code_bytes > 0 &&
           header->code_bytes <= CODE_MOST &&
           bytes == sizeof *header + key_bytes + header->code_bytes;
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
    uint64_t bytes = 0;
    int file = twi_cache_open(key->path, &bytes);
    if (file < 0) {
        return TW_OK;
    }
    if (!fits(file, bytes, key_bytes, &header)) {
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
    if (!twi_cache_read(file, found, key_bytes) || memcmp(found, key->key, key_bytes) != 0 ||
        !twi_cache_read(file, out->data, out->bytes) ||
        checksum(found, key_bytes, out) != header.sum) {
        twi_rtc_code_clear(out);
    }
done:
    twi_free(found);
    (void)close(file);
    return status;
}

void twi_code_cache_write(const twi_code_key *key, const twi_rtc_code *code)
{
    if (key->path == NULL || code->bytes > CODE_MOST) {
        return;
    }
    uint64_t key_bytes = strlen(key->key);
    file_header header = {MAGIC, key_bytes, code->bytes, checksum(key->key, key_bytes, code)};
    const twi_cache_piece pieces[] = {
        {&header, sizeof header}, {key->key, key_bytes}, {code->data, code->bytes}};
    (void)twi_cache_write(key->path, pieces, 3);
}
