/* Compressed inputs: see packed.h. */
#include "io/packed/packed.h"

#include "io/extension.h"
#include "io/packed/unpacked.h"

#include <string.h>
#include <strings.h>

typedef struct packing {
    const char *name;
    const char *extension;
    const char *begin; /* of every such file */
    size_t begin_length;
    const char *library; /* what has to be installed for it */
    tw_status (*unpack)(twi_unpacked *out);
} packing;

#ifndef TWI_HAVE_ZLIB
#define twi_gzip_unpack NULL
#endif
#ifndef TWI_HAVE_ZSTD
#define twi_zstd_unpack NULL
#endif
#ifndef TWI_HAVE_LZMA
#define twi_xz_unpack NULL
#endif

static const packing packings[] = {
    {"gzip", "gz", "\x1f\x8b\x08", 3, "zlib (zlib1g-dev on Debian)", twi_gzip_unpack},
    {"Zstandard", "zst", "\x28\xb5\x2f\xfd", 4, "libzstd (libzstd-dev on Debian)", twi_zstd_unpack},
    {"xz", "xz", "\xfd\x37\x7a\x58\x5a\x00", 6, "liblzma (liblzma-dev on Debian)", twi_xz_unpack},
};

#define PACKINGS (sizeof packings / sizeof *packings)

static const packing *find_by_content(const twi_input *input)
{
    for (size_t p = 0; p < PACKINGS; p++) {
        if (twi_input_held(input) >= packings[p].begin_length &&
            memcmp(input->bytes, packings[p].begin, packings[p].begin_length) == 0) {
            return &packings[p];
        }
    }
    return NULL;
}

bool twi_packed_recognised(const twi_input *input)
{
    return find_by_content(input) != NULL;
}

bool twi_packed_named(const char *path)
{
    const char *extension = twi_extension(path);
    for (size_t p = 0; p < PACKINGS; p++) {
        if (strcasecmp(extension, packings[p].extension) == 0) {
            return true;
        }
    }
    return false;
}

const char *twi_packed_inner(const char *path, char out[TWI_PACKED_NAME])
{
    if (!twi_packed_named(path)) {
        return path;
    }
    size_t length = strlen(path) - strlen(twi_extension(path)) - 1;
    size_t kept = length < TWI_PACKED_NAME ? length : TWI_PACKED_NAME - 1;
    memcpy(out, path + length - kept, kept);
    out[kept] = '\0';
    return out;
}

tw_status twi_unpack(tw_context *ctx, twi_input *input, bool whole)
{
    const packing *kind = find_by_content(input);
    if (kind == NULL) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s is called .%.8s but is not compressed; rename it or compress it",
                       input->name, twi_extension(input->name));
    }
    if (kind->unpack == NULL) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "%.500s: this build cannot read %s files: install %s and rebuild, or "
                       "unpack it first",
                       input->name, kind->name, kind->library);
    }
    twi_unpacked out = {.ctx = ctx, .input = input, .whole = whole, .fd = -1};
    tw_status status = kind->unpack(&out);
    if (status == TW_OK) {
        status = twi_unpacked_give(&out, input);
    }
    twi_unpacked_clear(&out);
    return status == TW_OK && whole ? twi_input_load(ctx, input) : status;
}
