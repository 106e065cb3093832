/*
 * Output files that appear whole or not at all.
 *
 * A result is written to a temporary file in the folder of its target (temporary.h) and renamed
 * over it at commit, so that a reader sees the old file or the new one, never a part, and a failed
 * run leaves the old one alone. A symbolic link as target is followed, the file it points to is
 * the one replaced, and the replaced file's permissions are kept. What is not a file (a pipe, a
 * terminal, /dev/null) cannot be replaced: it is written as it is, like standard output.
 *
 * When the size is known, the space is reserved at once: a full disk shows before the hours of
 * work, not after. Large pieces are written by all threads, each its own range of the file. The
 * pages of a large file are found while its contents are being computed (mapped.h), and one that is
 * too large to wait in memory for the disk is written past it (direct.h).
 * Nothing is forced to the disk: a power failure right after commit can lose the new file.
 */
#include "io/output.h"

#include "base/given.h"
#include "base/memory.h"
#include "base/threads.h"
#include "io/direct.h"
#include "io/mapped.h"
#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PIECE ((uint64_t)4 << 20) /* bytes a thread writes in one call */
#define LINKS 40                  /* links followed before a chain counts as a loop, as in Linux */

struct twi_output {
    int fd;
    bool standard;      /* standard output, which is not ours to close */
    bool whole;         /* a new file, renamed at commit; else written as it comes */
    int mode;           /* permissions of the file it replaces; -1: of any new file */
    uint64_t written;   /* bytes so far */
    uint64_t reserved;  /* size the file was given at the start */
    twi_mapped *mapped; /* of that size, or NULL */
    twi_direct *direct; /* likewise; with neither it is written by calls */
    char *target;       /* what the user called it, links followed */
    twi_temporary file; /* of which fd is the descriptor, if whole */
    char *temporary;    /* the name it may have until commit */
};

/* The sentence for a write that failed with `error`. */
static tw_status write_failed(tw_context *ctx, const twi_output *output, int error)
{
    if (error == ECANCELED && twi_check_cancel(ctx) != TW_OK) { /* file systems say it, too */
        return TW_ERR_CANCELLED;
    }
    if (error == EPIPE) {
        return tw_fail(ctx, TW_ERR_IO, "cannot write '%.600s': the reader closed the pipe",
                       output->target);
    }
    return tw_fail(ctx, TW_ERR_IO, "cannot write '%.600s': %s%s", output->target, strerror(error),
                   error == ENOSPC ? "; free some space or write elsewhere" : "");
}

static tw_status open_failed(tw_context *ctx, const char *path, int error)
{
    return tw_fail(ctx, TW_ERR_IO, "cannot open '%.600s' for writing: %s", path, strerror(error));
}

/* Write everything at `offset`, or in sequence when offset is negative. Returns 0 or an errno;
 * ECANCELED when a signal broke the wait and asked for an end. Worker-safe. */
static int write_all(tw_context *ctx, int fd, const char *data, uint64_t bytes, int64_t offset)
{
    while (bytes > 0) {
        size_t most = bytes < PIECE ? (size_t)bytes : (size_t)PIECE;
        ssize_t done = offset < 0 ? write(fd, data, most) : pwrite(fd, data, most, (off_t)offset);
        if (done < 0 && errno == EAGAIN) {
            struct pollfd ready = {fd, POLLOUT, 0};
            done = poll(&ready, 1, -1) < 0 ? -1 : 0;
        }
        if (done < 0 && errno != EINTR) {
            return errno;
        }
        if (twi_is_cancelled(ctx)) {
            return ECANCELED;
        }
        if (done > 0) {
            data += done;
            bytes -= (uint64_t)done;
            offset += offset < 0 ? 0 : (int64_t)done;
        }
    }
    return 0;
}

/* Follow links to the name that is to be replaced, existing or not. */
static tw_status follow_links(tw_context *ctx, const char *path, char target[PATH_MAX])
{
    const size_t given = strlen(path);
    if (given >= PATH_MAX) {
        return open_failed(ctx, path, ENAMETOOLONG);
    }
    memcpy(target, path, given + 1);
    for (int links = 0; links <= LINKS; links++) {
        struct stat status;
        char next[PATH_MAX];
        if (lstat(target, &status) != 0 || !S_ISLNK(status.st_mode)) {
            return TW_OK;
        }
        ssize_t length = readlink(target, next, sizeof next - 1);
        if (length < 0) {
            return open_failed(ctx, path, errno);
        }
        next[length] = '\0';
        char *name = strrchr(target, '/');
        size_t folder = next[0] == '/' || name == NULL ? 0 : (size_t)(name - target) + 1;
        if (folder + (size_t)length >= PATH_MAX) {
            return open_failed(ctx, path, ENAMETOOLONG);
        }
        memcpy(target + folder, next, (size_t)length + 1);
    }
    return open_failed(ctx, path, ELOOP);
}

/* The folder part of a path, "/" at the end included; "" for the current one. */
static size_t folder_length(const char *path)
{
    const char *name = strrchr(path, '/');
    return name == NULL ? 0 : (size_t)(name - path) + 1;
}

static tw_status copy_text(tw_context *ctx, char **out, const char *text)
{
    size_t bytes = strlen(text) + 1;
    tw_status status = twi_alloc(ctx, out, bytes, 1, "the name of an output file");
    if (status == TW_OK) {
        memcpy(*out, text, bytes);
    }
    return status;
}

/* A fresh file in the folder of the target. */
static tw_status open_temporary(tw_context *ctx, twi_output *output)
{
    const size_t folder = folder_length(output->target);
    tw_status status =
        twi_alloc(ctx, &output->temporary, strlen(output->target) + TWI_TEMPORARY_NAME, 1,
                  "the name of an output file");
    if (status != TW_OK) {
        return status;
    }
    int error = twi_temporary_open(&output->file, output->temporary, output->target, false);
    if (error == ENOENT) {
        return tw_fail(ctx, TW_ERR_IO, "cannot write '%.400s': there is no folder '%.*s'",
                       output->target, folder < 400 ? (int)folder : 400, output->target);
    }
    if (error != 0) {
        return open_failed(ctx, output->target, error);
    }
    output->fd = output->file.fd;
    output->whole = true;
    return TW_OK;
}

/* Whether the file system says that it has fewer bytes left. */
static bool too_large_for_disk(int fd, uint64_t bytes)
{
    struct statvfs disk;
    if (fstatvfs(fd, &disk) != 0 || disk.f_frsize == 0) {
        return false;
    }
    return bytes / disk.f_frsize > disk.f_bavail;
}

/* ENOSPC now instead of at the last row. File systems that cannot reserve are tolerated. Asking
 * for more than there is would fill the disk for a moment before it failed, so that is not tried.
 * `later`: only the size is set, and space is taken as pages are found (mapped.h); in a file system
 * in memory, reserving would find them all here and now, by one thread. */
static tw_status reserve(tw_context *ctx, twi_output *output, uint64_t bytes, bool later)
{
    char size[32];
    int failed;
    if (bytes > (uint64_t)INT64_MAX) {
        return write_failed(ctx, output, EFBIG);
    }
    if (too_large_for_disk(output->fd, bytes)) {
        return tw_fail(ctx, TW_ERR_IO, "no room for '%.600s': %s for its %s", output->target,
                       strerror(ENOSPC), twi_bytes(size, (double)bytes));
    }
    do {
        failed = bytes == 0 ? 0
                 : later    ? ftruncate(output->fd, (off_t)bytes)
                            : fallocate(output->fd, 0, 0, (off_t)bytes);
    } while (failed != 0 && errno == EINTR && !twi_is_cancelled(ctx));
    if (failed == 0) {
        output->reserved = bytes;
        return TW_OK;
    }
    if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) {
        return tw_fail(ctx, TW_ERR_IO, "no room for '%.600s': %s for its %s", output->target,
                       strerror(errno), twi_bytes(size, (double)bytes));
    }
    return TW_OK;
}

/* A pipe, a device: opened as it is. Opening a pipe waits for its reader; a signal that cancels
 * ends the wait. */
static tw_status open_as_it_is(tw_context *ctx, twi_output *output)
{
    do {
        output->fd = open(output->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } while (output->fd < 0 && errno == EINTR && !twi_is_cancelled(ctx));
    if (output->fd >= 0) {
        return TW_OK;
    }
    return errno == EINTR ? twi_check_cancel(ctx) : open_failed(ctx, output->target, errno);
}

static tw_status open_new(tw_context *ctx, twi_output *output, const struct stat *old,
                          uint64_t bytes)
{
    if (old != NULL && access(output->target, W_OK) != 0) {
        return open_failed(ctx, output->target, errno);
    }
    tw_status status = open_temporary(ctx, output);
    if (status != TW_OK) {
        return status;
    }
    output->mode = old != NULL ? (int)(old->st_mode & 0777) : -1;
    bool reserves = false;
    bool suits = twi_mapped_suits(ctx, output->fd, bytes, &reserves);
    status = reserve(ctx, output, bytes, suits && reserves);
    if (status == TW_OK && suits && output->reserved == bytes) {
        output->mapped = twi_mapped_open(ctx, output->fd, bytes);
    } else if (status == TW_OK && output->reserved == bytes) {
        output->direct = twi_direct_open(ctx, output->fd, bytes);
    }
    return status;
}

static tw_status open_target(tw_context *ctx, twi_output *output, const char *path, uint64_t bytes)
{
    char target[PATH_MAX];
    struct stat found;
    bool exists = stat(path, &found) == 0;
    if (!exists && errno != ENOENT) {
        return open_failed(ctx, path, errno);
    }
    if ((exists && S_ISDIR(found.st_mode)) || path[strlen(path) - 1] == '/') {
        return tw_fail(ctx, TW_ERR_IO, "cannot write '%.600s': it is a folder; name a file in it",
                       path);
    }
    if (exists && !S_ISREG(found.st_mode)) {
        tw_status status = copy_text(ctx, &output->target, path);
        return status == TW_OK ? open_as_it_is(ctx, output) : status;
    }
    tw_status status = follow_links(ctx, path, target);
    if (status == TW_OK) {
        status = copy_text(ctx, &output->target, target);
    }
    return status == TW_OK ? open_new(ctx, output, exists ? &found : NULL, bytes) : status;
}

tw_status twi_output_open(tw_context *ctx, twi_output **out, const char *path, uint64_t bytes)
{
    *out = NULL;
    twi_output *output = NULL;
    if (path == NULL || path[0] == '\0') {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "an output file needs a name; '-' is standard output");
    }
    tw_status status = twi_alloc_zeroed(ctx, &output, 1, sizeof *output, "an output file");
    if (status != TW_OK) {
        return status;
    }
    output->fd = -1;
    if (strcmp(path, "-") == 0) {
        output->fd = STDOUT_FILENO;
        output->standard = true;
        status = copy_text(ctx, &output->target, "standard output");
    } else {
        status = open_target(ctx, output, path, bytes);
    }
    if (status != TW_OK) {
        twi_output_discard(output);
        return status;
    }
    *out = output;
    return TW_OK;
}

uint64_t twi_output_memory(uint64_t bytes)
{
    return twi_direct_memory(bytes);
}

/* All threads, each its own pieces of the file. Returns 0 or the first errno seen. */
static int write_in_parallel(tw_context *ctx, int fd, const char *data, uint64_t bytes,
                             uint64_t offset)
{
    const int64_t pieces = (int64_t)((bytes + PIECE - 1) / PIECE);
    atomic_int error = 0;
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(dynamic, 1) if (pieces > 1)
    for (int64_t i = 0; i < pieces; i++) {
        if (atomic_load_explicit(&error, memory_order_relaxed) == 0) {
            uint64_t at = (uint64_t)i * PIECE;
            uint64_t most = bytes - at < PIECE ? bytes - at : PIECE;
            int failed = write_all(ctx, fd, data + at, most, (int64_t)(offset + at));
            if (failed != 0) {
                atomic_store_explicit(&error, failed, memory_order_relaxed);
            }
        }
    }
    return error;
}

/* Past the page cache while that is possible. Returns 0 or an errno. */
static int write_directly(tw_context *ctx, twi_output *output, const char *data, uint64_t bytes)
{
    int error = twi_direct_write(ctx, output->direct, data, bytes, output->written);
    if (error == ENOTSUP) {
        twi_direct_close(output->direct);
        output->direct = NULL;
        error = write_in_parallel(ctx, output->fd, data, bytes, output->written);
    }
    return error;
}

tw_status twi_output_write(tw_context *ctx, twi_output *output, const void *data, uint64_t bytes)
{
    int error;
    tw_status status = twi_check_cancel(ctx);
    if (status != TW_OK) {
        return status;
    }
    if (!output->whole) {
        error = write_all(ctx, output->fd, data, bytes, -1);
    } else if (bytes > (uint64_t)INT64_MAX - output->written) {
        error = EFBIG;
    } else if (output->mapped != NULL && bytes <= output->reserved - output->written) {
        error = twi_mapped_write(ctx, output->mapped, data, bytes, output->written);
    } else if (output->direct != NULL) {
        error = write_directly(ctx, output, data, bytes);
    } else {
        error = write_in_parallel(ctx, output->fd, data, bytes, output->written);
    }
    if (error != 0) {
        return write_failed(ctx, output, error);
    }
    output->written += bytes;
    return TW_OK;
}

bool twi_output_can_patch(const twi_output *output)
{
    return output->whole && output->direct == NULL;
}

tw_status twi_output_patch(tw_context *ctx, twi_output *output, uint64_t at, const void *data,
                           uint64_t bytes)
{
    const int error = write_all(ctx, output->fd, data, bytes, (int64_t)at);
    return error != 0 ? write_failed(ctx, output, error) : TW_OK;
}

tw_status twi_output_read(tw_context *ctx, const twi_output *output, uint64_t at, void *data,
                          uint64_t bytes)
{
    tw_status status = twi_check_cancel(ctx);
    for (uint64_t got = 0; got < bytes && status == TW_OK;) {
        const ssize_t more = pread(output->fd, (char *)data + got, bytes - got, (off_t)(at + got));
        if (more > 0) {
            got += (uint64_t)more;
        } else if (more == 0 || errno != EINTR) {
            status = tw_fail(ctx, TW_ERR_IO, "cannot read back what was written for '%.600s': %s",
                             output->target, more == 0 ? "it ends early" : strerror(errno));
        }
    }
    return status;
}

/* Close what is written as it comes. */
static int close_stream(twi_output *output)
{
    int error = 0;
    if (output->fd >= 0 && !output->standard && close(output->fd) != 0 && errno != EINTR) {
        error = errno;
    }
    output->fd = -1;
    return error;
}

static int publish(twi_output *output)
{
    if (output->written < output->reserved && ftruncate(output->fd, (off_t)output->written) != 0) {
        return errno;
    }
    output->whole = false;
    output->fd = -1;
    return twi_temporary_publish(&output->file, output->temporary, output->target, output->mode);
}

tw_status twi_output_commit(tw_context *ctx, twi_output *output)
{
    twi_mapped_close(output->mapped);
    output->mapped = NULL;
    int error = output->direct != NULL ? twi_direct_end(ctx, output->direct) : 0;
    twi_direct_close(output->direct);
    output->direct = NULL;
    if (error == 0) {
        error = output->whole ? publish(output) : close_stream(output);
    }
    tw_status status = error == 0 ? TW_OK : write_failed(ctx, output, error);
    twi_output_discard(output);
    return status;
}

void twi_output_discard(twi_output *output)
{
    if (output == NULL) {
        return;
    }
    twi_mapped_close(output->mapped);
    twi_direct_close(output->direct);
    if (output->whole) {
        twi_temporary_discard(&output->file, output->temporary);
    } else {
        (void)close_stream(output);
    }
    twi_free(output->temporary);
    twi_free(output->target);
    twi_free(output);
}

tw_status tw_file_write(tw_context *ctx, const char *path, const void *bytes, size_t count)
{
    twi_output *output = NULL;
    tw_status status = TWI_REQUIRE(ctx, {"path", path}, {"bytes", bytes});
    if (status == TW_OK) {
        status = twi_output_open(ctx, &output, path, count);
    }
    if (status == TW_OK) {
        status = twi_output_write(ctx, output, bytes, count);
        if (status == TW_OK) {
            return twi_output_commit(ctx, output);
        }
        twi_output_discard(output);
    }
    return status;
}
