/* The user's cache folder: see cache.h. */
#include "base/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_folder(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool twi_cache_folder(char out[TWI_CACHE_PATH], bool make)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = 0;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(out, TWI_CACHE_PATH, "%s", cache);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(out, TWI_CACHE_PATH, "%s/.cache", home);
    }
    if (length <= 0 || (size_t)length + sizeof "/tilewright" > TWI_CACHE_PATH) {
        return false;
    }
    if (make && !make_folder(out)) {
        return false;
    }
    snprintf(out + length, TWI_CACHE_PATH - (size_t)length, "/tilewright");
    return !make || make_folder(out);
}

uint64_t twi_cache_hash(uint64_t basis, const void *data, uint64_t bytes)
{
    const unsigned char *at = data;
    for (uint64_t i = 0; i < bytes; i++) {
        basis = (basis ^ at[i]) * 0x100000001b3ULL;
    }
    return basis;
}

/* O_NONBLOCK: a pipe in its place must not be waited for. */
int twi_cache_open(const char *path, uint64_t *bytes)
{
    struct stat at;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file >= 0 && fstat(file, &at) == 0 && S_ISREG(at.st_mode) && at.st_uid == geteuid()) {
        *bytes = (uint64_t)at.st_size;
        return file;
    }
    if (file >= 0) {
        (void)close(file);
    }
    return -1;
}

bool twi_cache_read(int file, void *to, uint64_t bytes)
{
    char *at = to;
    while (bytes > 0) {
        ssize_t got = read(file, at, bytes);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        at += got > 0 ? got : 0;
        bytes -= (uint64_t)(got > 0 ? got : 0);
    }
    return true;
}

static bool write_piece(int file, const twi_cache_piece *piece)
{
    const char *at = piece->data;
    uint64_t bytes = piece->bytes;
    while (bytes > 0) {
        ssize_t put = write(file, at, bytes);
        if (put == 0 || (put < 0 && errno != EINTR)) {
            return false;
        }
        at += put > 0 ? put : 0;
        bytes -= (uint64_t)(put > 0 ? put : 0);
    }
    return true;
}

bool twi_cache_write(const char *path, const twi_cache_piece *pieces, int count)
{
    char beside[TWI_CACHE_PATH + 128];
    if (strlen(path) + sizeof ".XXXXXX" > sizeof beside) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    int file = mkostemp(beside, O_CLOEXEC); /* for this user alone */
    if (file < 0) {
        return false;
    }
    bool written = true;
    for (int i = 0; i < count && written; i++) {
        written = write_piece(file, &pieces[i]);
    }
    written = close(file) == 0 && written;
    if (!written || rename(beside, path) != 0) {
        int why = errno;
        (void)unlink(beside);
        errno = why;
        return false;
    }
    return true;
}
