/* See checkpoint.h. */
#include "io/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define AT_ONCE ((int64_t)4 << 20) /* bytes of a call */
#define PREVIOUS ".previous"
#define LOCK ".lock"

/* The numbers of a header. */
enum { MAGIC, VERSION, VERTICES, TYPE, LOWER, CAP, DONE, BLOCK, MARK, SUM = 15, NUMBERS };
_Static_assert(NUMBERS * sizeof(uint64_t) == TWI_CHECKPOINT_HEADER, "the header is its numbers");

static const char magic[8] = {'T', 'W', 'c', 'l', 'o', 's', 'e', '\n'};

/* ------------------------------------------------------------------------------------ checksum */

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93u;
    z = (z ^ (z >> 29)) * 0x9FB21C651E98DF25u;
    return z ^ (z >> 32);
}

/* Four sums beside each other, so that multiplications overlap. Each step can be undone, so two
 * rows that differ in one word have different sums. */
uint64_t twi_state_sum(int64_t i, const void *row, int64_t bytes)
{
    const char *at = row;
    uint64_t sum[4] = {(uint64_t)i + 1, 0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu, (uint64_t)bytes};
    int64_t left = bytes;
    for (; left >= 32; left -= 32, at += 32) {
        uint64_t word[4];
        memcpy(word, at, sizeof word);
        for (int lane = 0; lane < 4; lane++) {
            sum[lane] = (sum[lane] ^ word[lane]) * 0x9E3779B97F4A7C15u;
            sum[lane] ^= sum[lane] >> 29;
        }
    }
    for (int lane = 0; left > 0; lane++) {
        uint64_t word = 0;
        const int64_t some = left < 8 ? left : 8;
        memcpy(&word, at, (size_t)some);
        sum[lane] = (sum[lane] ^ word) * 0x9E3779B97F4A7C15u;
        at += some;
        left -= some;
    }
    uint64_t all = 0;
    for (int lane = 0; lane < 4; lane++) {
        all = mix(all ^ sum[lane]);
    }
    return all;
}

/* -------------------------------------------------------------------------------------- header */

void twi_state_write(char header[TWI_CHECKPOINT_HEADER], const twi_state *state)
{
    uint64_t numbers[NUMBERS] = {0};
    memcpy(&numbers[MAGIC], magic, sizeof magic);
    numbers[VERSION] = TWI_CHECKPOINT_VERSION;
    numbers[VERTICES] = (uint64_t)state->n;
    numbers[TYPE] = (uint64_t)state->type;
    numbers[LOWER] = state->lower;
    memcpy(&numbers[CAP], &state->cap, sizeof state->cap);
    numbers[DONE] = (uint64_t)state->done;
    numbers[BLOCK] = (uint64_t)state->block;
    numbers[MARK] = state->mark;
    numbers[SUM] = twi_state_sum(0, numbers, SUM * (int64_t)sizeof *numbers);
    memcpy(header, numbers, sizeof numbers);
}

static bool type_is_computed_in(uint64_t type)
{
    return type == TW_U8 || type == TW_U16 || type == TW_I32 || type == TW_F32 || type == TW_F64;
}

static bool numbers_make_sense(const uint64_t numbers[NUMBERS])
{
    const uint64_t n = numbers[VERTICES], done = numbers[DONE], block = numbers[BLOCK];
    bool rest = true;
    for (int i = MARK + 1; i < SUM; i++) {
        rest = rest && numbers[i] == 0;
    }
    return rest && n > 0 && n <= INT32_MAX && type_is_computed_in(numbers[TYPE]) &&
           numbers[LOWER] <= 1 && block > 0 && block <= INT32_MAX && done <= n &&
           (done % block == 0 || done == n);
}

twi_state_verdict twi_state_parse(twi_state *out, const void *header, uint64_t bytes,
                                  uint64_t file_bytes, char why[TWI_STATE_WHY])
{
    uint64_t numbers[NUMBERS] = {0};
    *out = (twi_state){0};
    why[0] = '\0';
    if (bytes < sizeof magic || memcmp(header, magic, sizeof magic) != 0) {
        (void)snprintf(why, TWI_STATE_WHY, "it is not a checkpoint");
        return TWI_STATE_FOREIGN;
    }
    if (bytes < sizeof numbers) {
        (void)snprintf(why, TWI_STATE_WHY, "it ends after %llu bytes", (unsigned long long)bytes);
        return TWI_STATE_DAMAGED;
    }
    memcpy(numbers, header, sizeof numbers);
    /* The sum first: a number that is damaged says nothing. Another version may have another sum,
     * so its number alone decides where that is small, as versions are. */
    const bool whole = numbers[SUM] == twi_state_sum(0, numbers, SUM * (int64_t)sizeof *numbers);
    if (numbers[VERSION] != TWI_CHECKPOINT_VERSION && (whole || numbers[VERSION] <= UINT8_MAX)) {
        (void)snprintf(why, TWI_STATE_WHY, "it is of format %llu; this version reads format %d",
                       (unsigned long long)numbers[VERSION], TWI_CHECKPOINT_VERSION);
        return TWI_STATE_VERSION;
    }
    uint64_t square, all;
    if (!whole || !numbers_make_sense(numbers) ||
        __builtin_mul_overflow(numbers[VERTICES], numbers[VERTICES], &square) ||
        __builtin_mul_overflow(square, sizeof(double), &all) || all > INT64_MAX / 2) {
        (void)snprintf(why, TWI_STATE_WHY, "its header is damaged");
        return TWI_STATE_DAMAGED;
    }
    *out = (twi_state){.n = (int64_t)numbers[VERTICES],
                       .type = (tw_type)numbers[TYPE],
                       .lower = numbers[LOWER] != 0,
                       .done = (int64_t)numbers[DONE],
                       .block = (int64_t)numbers[BLOCK],
                       .mark = numbers[MARK]};
    memcpy(&out->cap, &numbers[CAP], sizeof out->cap);
    if (file_bytes != (uint64_t)twi_state_row_at(out, out->n)) {
        (void)snprintf(why, TWI_STATE_WHY, "it has %llu of %lld bytes",
                       (unsigned long long)file_bytes, (long long)twi_state_row_at(out, out->n));
        return TWI_STATE_DAMAGED;
    }
    return TWI_STATE_GOOD;
}

/* --------------------------------------------------------------------------------------- bytes */

int twi_read_at(int fd, void *to, int64_t bytes, int64_t offset)
{
    char *at = to;
    while (bytes > 0) {
        const ssize_t done =
            pread(fd, at, (size_t)(bytes < AT_ONCE ? bytes : AT_ONCE), (off_t)offset);
        if (done < 0 && errno != EINTR) {
            return errno;
        }
        if (done == 0) {
            return EIO;
        }
        if (done > 0) {
            at += done;
            offset += done;
            bytes -= done;
        }
    }
    return 0;
}

int twi_write_at(int fd, const void *from, int64_t bytes, int64_t offset)
{
    const char *at = from;
    while (bytes > 0) {
        const ssize_t done =
            pwrite(fd, at, (size_t)(bytes < AT_ONCE ? bytes : AT_ONCE), (off_t)offset);
        if (done < 0 && errno != EINTR) {
            return errno;
        }
        if (done > 0) {
            at += done;
            offset += done;
            bytes -= done;
        }
    }
    return 0;
}

/* -------------------------------------------------------------------------------- generations */

tw_status twi_generations_name(tw_context *ctx, twi_generations *out, const char *path)
{
    *out = (twi_generations){.keep_older = false, .lock = -1};
    const size_t length = strlen(path);
    if (length == 0 || length + sizeof PREVIOUS > PATH_MAX) { /* no other name is longer */
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "the name of the checkpoint must have 1 to %zu bytes, not %zu",
                       PATH_MAX - sizeof PREVIOUS, length);
    }
    memcpy(out->file[0], path, length + 1);
    (void)snprintf(out->file[1], PATH_MAX, "%s" PREVIOUS, path);
    return TW_OK;
}

static void name_lock(char name[PATH_MAX], const twi_generations *files)
{
    (void)snprintf(name, PATH_MAX, "%.*s" LOCK, PATH_MAX - (int)sizeof LOCK, files->file[0]);
}

/* Whether the descriptor's file still has that name: its holder removes it. */
static bool has_name(int fd, const char *name)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(name, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

/* 0, or an errno; EWOULDBLOCK: another run holds it. A file system without locks has none to give.
 */
static int take_lock(twi_generations *files)
{
    char name[PATH_MAX];
    name_lock(name, files);
    for (;;) {
        const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0) {
            return errno;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(fd);
            return EWOULDBLOCK;
        }
        if (has_name(fd, name)) {
            files->lock = fd;
            return 0;
        }
        close(fd);
    }
}

void twi_generations_release(twi_generations *files)
{
    char name[PATH_MAX];
    if (files->lock < 0) {
        return;
    }
    name_lock(name, files);
    (void)unlink(name); /* while nobody else can have it */
    close(files->lock);
    files->lock = -1;
}

tw_status twi_generations_hold(tw_context *ctx, twi_generations *files)
{
    twi_temporary probe;
    char name[PATH_MAX + TWI_TEMPORARY_NAME];
    int error = twi_temporary_open(&probe, name, files->file[0], false);
    if (error == 0) {
        twi_temporary_discard(&probe, name);
        error = take_lock(files);
    }
    if (error == EWOULDBLOCK) {
        return tw_fail(
            ctx, TW_ERR_IO,
            "another run is using checkpoint '%.600s'; wait for it to end, or name another file",
            files->file[0]);
    }
    return error == 0 ? TW_OK
                      : tw_fail(ctx, TW_ERR_IO, "cannot write a checkpoint beside '%.600s': %s",
                                files->file[0], strerror(error));
}

twi_state_verdict twi_generation_open(const twi_generations *files, int which, twi_state *out,
                                      int *fd, char why[TWI_STATE_WHY])
{
    char header[TWI_CHECKPOINT_HEADER];
    struct stat found;
    twi_state_verdict verdict = TWI_STATE_FOREIGN;
    *out = (twi_state){0};
    *fd = open(files->file[which], O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0 && errno == ENOENT) {
        (void)snprintf(why, TWI_STATE_WHY, "it does not exist");
        return TWI_STATE_ABSENT;
    }
    if (*fd < 0 || fstat(*fd, &found) != 0) {
        (void)snprintf(why, TWI_STATE_WHY, "%.100s", strerror(errno));
    } else if (!S_ISREG(found.st_mode)) {
        (void)snprintf(why, TWI_STATE_WHY, "it is not a file");
    } else {
        const int64_t size = (int64_t)found.st_size;
        const int64_t some = size < TWI_CHECKPOINT_HEADER ? size : TWI_CHECKPOINT_HEADER;
        const int error = twi_read_at(*fd, header, some, 0);
        if (error == 0) {
            verdict = twi_state_parse(out, header, (uint64_t)some, (uint64_t)size, why);
        } else {
            (void)snprintf(why, TWI_STATE_WHY, "%.100s", strerror(error));
            verdict = TWI_STATE_DAMAGED;
        }
    }
    if (*fd >= 0 && verdict != TWI_STATE_GOOD) {
        close(*fd);
        *fd = -1;
    }
    return verdict;
}

tw_status twi_generation_refuse(tw_context *ctx, const twi_generations *files, int which,
                                twi_state_verdict verdict, const char *why)
{
    if (verdict == TWI_STATE_FOREIGN || verdict == TWI_STATE_VERSION) {
        return tw_fail(ctx, TW_ERR_FORMAT, "cannot resume from '%.600s': %s; name another file",
                       files->file[which], why);
    }
    const bool both = access(files->file[1 - which], F_OK) == 0;
    return tw_fail(ctx, TW_ERR_FORMAT, "cannot resume from '%.600s': %s, and %s to start over",
                   files->file[which], why,
                   both ? "FILE.previous is no better; remove both"
                        : "there is no earlier one; remove it");
}

int twi_generation_make(const twi_generations *files, const twi_state *state, twi_temporary *out,
                        char *name, bool named)
{
    const int64_t bytes = twi_state_row_at(state, state->n);
    struct statvfs disk;
    int error = twi_temporary_open(out, name, files->file[0], named);
    if (error != 0) {
        return error;
    }
    /* A disk that is too small is not filled first. */
    if (fstatvfs(out->fd, &disk) == 0 && disk.f_frsize > 0 &&
        (uint64_t)bytes / disk.f_frsize > disk.f_bavail) {
        error = ENOSPC;
    } else if (fallocate(out->fd, 0, 0, (off_t)bytes) != 0) {
        const bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT;
        error = full ? errno : ftruncate(out->fd, (off_t)bytes) != 0 ? errno : 0;
    }
    if (error != 0) {
        twi_temporary_discard(out, name);
    }
    return error;
}

/* Names reach the disk with their folder. Where that cannot be done there is no promise of it. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *end = strrchr(path, '/');
    if (end != NULL) {
        const size_t length = end == path ? 1 : (size_t)(end - path);
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

int twi_generation_publish(twi_generations *files, twi_temporary *file, char *name)
{
    if (fsync(file->fd) != 0) {
        const int error = errno;
        twi_temporary_discard(file, name);
        return error;
    }
    if (!files->keep_older && rename(files->file[0], files->file[1]) != 0 && errno != ENOENT) {
        const int error = errno;
        twi_temporary_discard(file, name);
        return error;
    }
    const int error = twi_temporary_publish(file, name, files->file[0], -1);
    if (error == 0) {
        files->keep_older = false;
        sync_folder(files->file[0]);
    } else if (!files->keep_older) {
        (void)rename(files->file[1], files->file[0]);
    }
    return error;
}

void twi_generations_remove(const twi_generations *files)
{
    (void)unlink(files->file[1]); /* the newer one last: it is whole until then */
    (void)unlink(files->file[0]);
}
