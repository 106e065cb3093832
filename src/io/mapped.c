/*
 * See mapped.h. The file is cut into pieces. Background threads take them in order and mark those
 * whose pages are there. A writer that comes to a piece without its mark asks for the pages itself;
 * where they cannot be had, it writes that part by a call, whose error then tells why.
 */
#include "io/mapped.h"

#include "base/background.h"
#include "base/threads.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* of Linux; older kernels refuse it */
#endif

#define LEAST ((uint64_t)64 << 20) /* bytes of a file worth the threads */
#define MOST_OF_MEMORY 4           /* at most this part of what is available becomes a file */
#define PIECE ((uint64_t)4 << 20)  /* bytes found at a time: a fraction of a millisecond */
#define SHARE ((uint64_t)1 << 20)  /* bytes that a thread copies at a time; divides PIECE */
#define HELPERS 8                  /* most threads that find pages */

/* From linux/magic.h. */
#define FS_TMPFS 0x01021994
#define FS_EXT 0xEF53
#define FS_XFS 0x58465342
#define FS_OVERLAY 0x794C7630

struct twi_mapped {
    int fd;
    char *base;
    uint64_t bytes;
    int64_t pieces;
    atomic_llong next; /* piece to be found */
    atomic_bool stop;
    atomic_uchar *found; /* by piece */
    twi_background *helpers[HELPERS];
};

bool twi_mapped_suits(tw_context *ctx, int fd, uint64_t bytes, bool *reserves)
{
    struct statfs disk;
    *reserves = false;
    if (bytes < LEAST || bytes > SIZE_MAX || bytes > tw_memory_limit(ctx) / MOST_OF_MEMORY ||
        fstatfs(fd, &disk) != 0) {
        return false;
    }
    *reserves = disk.f_type == FS_TMPFS;
    return disk.f_type == FS_TMPFS || disk.f_type == FS_EXT || disk.f_type == FS_XFS ||
           disk.f_type == FS_OVERLAY;
}

static bool find_pages(const twi_mapped *mapped, uint64_t at, uint64_t bytes)
{
    int failed;
    do {
        failed = madvise(mapped->base + at, (size_t)bytes, MADV_POPULATE_WRITE);
    } while (failed != 0 && (errno == EINTR || errno == EAGAIN) && !atomic_load(&mapped->stop));
    return failed == 0;
}

static uint64_t piece_bytes(const twi_mapped *mapped, int64_t piece)
{
    uint64_t at = (uint64_t)piece * PIECE;
    return mapped->bytes - at < PIECE ? mapped->bytes - at : PIECE;
}

static void help(void *mapped_)
{
    twi_mapped *mapped = mapped_;
    int64_t piece = atomic_fetch_add(&mapped->next, 1);
    while (piece < mapped->pieces && !atomic_load(&mapped->stop)) {
        if (!find_pages(mapped, (uint64_t)piece * PIECE, piece_bytes(mapped, piece))) {
            return; /* whoever writes there will see why */
        }
        atomic_store_explicit(&mapped->found[piece], 1, memory_order_release);
        piece = atomic_fetch_add(&mapped->next, 1);
    }
}

twi_mapped *twi_mapped_open(tw_context *ctx, int fd, uint64_t bytes)
{
    twi_mapped *mapped = twi_try_alloc(ctx, 1, sizeof *mapped);
    if (mapped == NULL) {
        return NULL;
    }
    *mapped =
        (twi_mapped){.fd = fd, .bytes = bytes, .pieces = (int64_t)((bytes + PIECE - 1) / PIECE)};
    mapped->found = twi_try_alloc(ctx, (uint64_t)mapped->pieces, sizeof *mapped->found);
    void *base = mapped->found != NULL
                     ? mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                     : MAP_FAILED;
    if (base == MAP_FAILED) {
        twi_free(mapped->found);
        twi_free(mapped);
        return NULL;
    }
    mapped->base = base;
    for (int64_t i = 0; i < mapped->pieces; i++) {
        atomic_init(&mapped->found[i], 0);
    }
    /* The first page tells whether this system has the call. */
    if (!find_pages(mapped, 0, 1)) {
        twi_mapped_close(mapped);
        return NULL;
    }
    int threads = twi_thread_count(ctx);
    for (int i = 0; i < HELPERS && i < threads; i++) {
        mapped->helpers[i] = twi_background_start(help, mapped);
    }
    return mapped;
}

/* One share, which lies within one piece. */
static int put(const twi_mapped *mapped, const char *data, uint64_t bytes, uint64_t offset)
{
    int64_t piece = (int64_t)(offset / PIECE);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = offset / page * page;
    if (atomic_load_explicit(&mapped->found[piece], memory_order_acquire) ||
        find_pages(mapped, begin, offset + bytes - begin)) {
        memcpy(mapped->base + offset, data, (size_t)bytes);
        return 0;
    }
    while (bytes > 0) {
        ssize_t done = pwrite(mapped->fd, data, (size_t)bytes, (off_t)offset);
        if (done < 0 && errno != EINTR) {
            return errno;
        }
        if (done > 0) {
            data += done;
            offset += (uint64_t)done;
            bytes -= (uint64_t)done;
        }
    }
    return 0;
}

int twi_mapped_write(tw_context *ctx, twi_mapped *mapped, const void *data, uint64_t bytes,
                     uint64_t offset)
{
    if (offset > mapped->bytes || bytes > mapped->bytes - offset) {
        return EFBIG;
    }
    int64_t first = (int64_t)(offset / SHARE);
    int64_t end = (int64_t)((offset + bytes + SHARE - 1) / SHARE);
    atomic_int error = 0;
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(static) if (end - first > 1)
    for (int64_t i = first; i < end; i++) {
        uint64_t from = (uint64_t)i * SHARE;
        uint64_t to = from + SHARE < offset + bytes ? from + SHARE : offset + bytes;
        from = from > offset ? from : offset;
        if (atomic_load_explicit(&error, memory_order_relaxed) == 0) {
            int failed = twi_is_cancelled(ctx)
                             ? ECANCELED
                             : put(mapped, (const char *)data + (from - offset), to - from, from);
            if (failed != 0) {
                atomic_store_explicit(&error, failed, memory_order_relaxed);
            }
        }
    }
    return error;
}

void twi_mapped_close(twi_mapped *mapped)
{
    if (mapped == NULL) {
        return;
    }
    atomic_store(&mapped->stop, true);
    for (int i = 0; i < HELPERS; i++) {
        twi_background_join(mapped->helpers[i]);
    }
    munmap(mapped->base, (size_t)mapped->bytes);
    twi_free(mapped->found);
    twi_free(mapped);
}
