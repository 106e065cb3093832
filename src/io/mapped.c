/*
 * See mapped.h. The file is cut into pieces. Background threads take them in order and mark those
 * whose pages are there. A writer that comes to a piece without its mark asks for the pages itself;
 * where they cannot be had, it writes that part by a call, whose error then tells why.
 *
 * What the threads do depends on the file system (1.6 GB, 16 cores, Linux 6.18, 2026-11). tmpfs
 * finds pages under a lock: 0.5 s for any number of threads. Reserving space (fallocate) finds them
 * without clearing or mapping them, in 0.25 s; the writers do the rest, in 0.04 s. To map them
 * beforehand would keep a driver that starts at the same time from its own mappings. ext4 takes
 * 0.3 s with one thread, 0.18 s with two, 0.75 s with four. Unmapping takes 0.1 s, unless all
 * threads let go of their part first.
 */
#include "io/mapped.h"

#include "base/background.h"
#include "base/memory.h"
#include "base/threads.h"
#include "io/place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* of Linux; older kernels refuse it */
#endif

#define LEAST ((uint64_t)64 << 20)   /* bytes of a file worth the threads */
#define MOST_OF_MEMORY 8             /* at most this part of what is available becomes a file */
#define PIECE ((uint64_t)1 << 20)    /* bytes found or copied at a time: some 0.1 ms */
#define STRETCH ((uint64_t)64 << 20) /* bytes reserved or let go at a time */
#define HELPERS 2                    /* threads that find pages */

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
    int threads;
    bool in_memory;    /* tmpfs: pages are there when space is reserved */
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

/* Take the space of a file in memory, as far as there is some. */
static void reserve(void *mapped_)
{
    twi_mapped *mapped = mapped_;
    for (uint64_t at = 0; at < mapped->bytes && !atomic_load(&mapped->stop); at += STRETCH) {
        uint64_t end = mapped->bytes - at < STRETCH ? mapped->bytes : at + STRETCH;
        if (fallocate(mapped->fd, 0, (off_t)at, (off_t)(end - at)) != 0) {
            return;
        }
        for (uint64_t piece = at / PIECE; piece * PIECE < end; piece++) {
            atomic_store_explicit(&mapped->found[piece], 1, memory_order_release);
        }
    }
}

twi_mapped *twi_mapped_open(tw_context *ctx, int fd, uint64_t bytes)
{
    struct statfs disk;
    twi_mapped *mapped = twi_try_alloc(ctx, 1, sizeof *mapped);
    if (mapped == NULL) {
        return NULL;
    }
    *mapped = (twi_mapped){
        .fd = fd,
        .bytes = bytes,
        .pieces = (int64_t)((bytes + PIECE - 1) / PIECE),
        .threads = twi_thread_count(ctx),
        .in_memory = fstatfs(fd, &disk) == 0 && disk.f_type == FS_TMPFS,
    };
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
    if (mapped->in_memory) {
        mapped->helpers[0] = twi_background_start(reserve, mapped);
    }
    for (int i = 0; i < HELPERS && !mapped->in_memory; i++) {
        mapped->helpers[i] = twi_background_start(help, mapped);
    }
    return mapped;
}

/* Part of one piece. */
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
    return twi_write_at(mapped->fd, data, bytes, offset);
}

int twi_mapped_write(tw_context *ctx, twi_mapped *mapped, const void *data, uint64_t bytes,
                     uint64_t offset)
{
    if (offset > mapped->bytes || bytes > mapped->bytes - offset) {
        return EFBIG;
    }
    int64_t first = (int64_t)(offset / PIECE);
    int64_t end = (int64_t)((offset + bytes + PIECE - 1) / PIECE);
    atomic_int error = 0;
#pragma omp parallel for num_threads(twi_thread_count(ctx)) schedule(static) if (end - first > 1)
    for (int64_t i = first; i < end; i++) {
        uint64_t from = (uint64_t)i * PIECE;
        uint64_t to = from + PIECE < offset + bytes ? from + PIECE : offset + bytes;
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

int twi_mapped_put(const twi_mapped *mapped, const void *data, uint64_t bytes, uint64_t offset)
{
    const char *from = data;
    if (offset > mapped->bytes || bytes > mapped->bytes - offset) {
        return EFBIG;
    }
    int error = 0;
    while (bytes > 0 && error == 0) {
        const uint64_t left = PIECE - offset % PIECE;
        const uint64_t some = bytes < left ? bytes : left;
        error = put(mapped, from, some, offset);
        from += some;
        offset += some;
        bytes -= some;
    }
    return error;
}

bool twi_mapped_ready(const twi_mapped *mapped)
{
    int64_t piece = 0;
    while (piece < mapped->pieces &&
           atomic_load_explicit(&mapped->found[piece], memory_order_acquire)) {
        piece++;
    }
    return piece == mapped->pieces;
}

/* Every thread forgets its part of the mapping; the pages stay in the file. */
static void let_go(twi_mapped *mapped)
{
    int64_t stretches = (int64_t)((mapped->bytes + STRETCH - 1) / STRETCH);
#pragma omp parallel for num_threads(twi_team(mapped->threads)) schedule(dynamic, 1)
    for (int64_t i = 0; i < stretches; i++) {
        uint64_t at = (uint64_t)i * STRETCH;
        uint64_t most = mapped->bytes - at < STRETCH ? mapped->bytes - at : STRETCH;
        (void)madvise(mapped->base + at, (size_t)most, MADV_DONTNEED); /* else munmap does it */
    }
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
    let_go(mapped);
    munmap(mapped->base, (size_t)mapped->bytes);
    twi_free(mapped->found);
    twi_free(mapped);
}
