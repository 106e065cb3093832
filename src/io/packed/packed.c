/* Compressed inputs: see packed.h. */
#include "io/packed/packed.h"

#include "io/extension.h"
#include "io/packed/unpacked.h"

#include <string.h>
#include <strings.h>

#ifdef TWI_HAVE_ZLIB
#define GZIP twi_gzip_open, twi_gzip_read, twi_gzip_close
#else
#define GZIP NULL, NULL, NULL
#endif
#ifdef TWI_HAVE_ZSTD
#define ZSTD twi_zstd_open, twi_zstd_read, twi_zstd_close
#else
#define ZSTD NULL, NULL, NULL
#endif
#ifdef TWI_HAVE_LZMA
#define XZ twi_xz_open, twi_xz_read, twi_xz_close
#else
#define XZ NULL, NULL, NULL
#endif

static const twi_packing packings[] = {
    {"gzip", "gz", "\x1f\x8b\x08", 3, "zlib (zlib1g-dev on Debian)", GZIP},
    {"Zstandard", "zst", "\x28\xb5\x2f\xfd", 4, "libzstd (libzstd-dev on Debian)", ZSTD},
    {"xz", "xz", "\xfd\x37\x7a\x58\x5a\x00", 6, "liblzma (liblzma-dev on Debian)", XZ},
};

#define PACKINGS (sizeof packings / sizeof *packings)

static const twi_packing *find_by_content(const twi_input *input)
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

tw_status twi_unpack(tw_context *ctx, twi_input *input)
{
    const twi_packing *kind = find_by_content(input);
    if (kind == NULL) {
        return tw_fail(ctx, TW_ERR_FORMAT,
                       "%.500s is called .%.8s but is not compressed; rename it or compress it",
                       input->name, twi_extension(input->name));
    }
    if (kind->open == NULL) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "%.500s: this build cannot read %s files: install %s and rebuild, or "
                       "unpack it first",
                       input->name, kind->name, kind->library);
    }
    return twi_unpacked_begin(ctx, input, kind);
}
