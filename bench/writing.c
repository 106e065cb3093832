/*
 * Ways to write a large file, in turns: calls and a mapping through the page cache, calls past it
 * by one thread and by several, and io_uring by its own system calls. Seconds until the last call
 * returns, and until the bytes are on the disk (fdatasync). The file is laid out first.
 *
 *   cc -O2 -fopenmp -o writing bench/writing.c
 *   writing FILE GIGABYTES [TURNS]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 8 << 20, SOURCES = 8 };

typedef enum how { CALLS, MAPPED, RING } how;

typedef struct way {
    const char *name;
    how how;
    bool direct;
    int many; /* threads, or writes at a time */
} way;

static const way ways[] = {
    {"calls, 1 thread", CALLS, false, 1},      {"calls, 4 threads", CALLS, false, 4},
    {"mapped, 4 threads", MAPPED, false, 4},   {"direct, 1 thread", CALLS, true, 1},
    {"direct, 4 threads", CALLS, true, 4},     {"direct, 16 threads", CALLS, true, 16},
    {"io_uring, 4 at a time", RING, false, 4}, {"io_uring direct, 4", RING, true, 4},
    {"io_uring direct, 16", RING, true, 16},
};

static char *source;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(bool fine, const char *what)
{
    if (!fine) {
        fprintf(stderr, "writing: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static const char *source_of(int64_t block)
{
    return source + block % SOURCES * BLOCK;
}

static void write_by_calls(int fd, int64_t blocks, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < blocks; i++) {
        must(pwrite(fd, source_of(i), BLOCK, i * BLOCK) == BLOCK, "pwrite");
    }
}

static void write_mapped(int fd, int64_t blocks, int threads)
{
    char *map = mmap(NULL, (size_t)blocks * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(map != MAP_FAILED, "mmap");
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < blocks; i++) {
        memcpy(map + i * BLOCK, source_of(i), BLOCK);
    }
    munmap(map, (size_t)blocks * BLOCK);
}

static char *map_ring(int ring, size_t bytes, off_t which)
{
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, which);
    must(at != MAP_FAILED, "mmap of a ring");
    return at;
}

static void write_by_ring(int fd, int64_t blocks, int many)
{
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    const int ring = (int)syscall(__NR_io_uring_setup, many, &p);
    must(ring >= 0, "io_uring_setup");
    char *sq = map_ring(ring, p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    char *cq = map_ring(ring, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
                        IORING_OFF_CQ_RING);
    struct io_uring_sqe *entries =
        (void *)map_ring(ring, p.sq_entries * sizeof *entries, IORING_OFF_SQES);
    unsigned *tail = (unsigned *)(sq + p.sq_off.tail), *array = (unsigned *)(sq + p.sq_off.array);
    const unsigned mask = *(unsigned *)(sq + p.sq_off.ring_mask);
    unsigned *head = (unsigned *)(cq + p.cq_off.head), *end = (unsigned *)(cq + p.cq_off.tail);
    const unsigned cq_mask = *(unsigned *)(cq + p.cq_off.ring_mask);
    const struct io_uring_cqe *done = (const void *)(cq + p.cq_off.cqes);
    for (int64_t asked = 0, finished = 0; finished < blocks;) {
        unsigned added = 0;
        for (; asked < blocks && asked - finished < many; asked++, added++) {
            const unsigned at = *tail & mask;
            entries[at] = (struct io_uring_sqe){.opcode = IORING_OP_WRITE,
                                                .fd = fd,
                                                .addr = (uintptr_t)source_of(asked),
                                                .len = BLOCK,
                                                .off = (uint64_t)asked * BLOCK};
            array[at] = at;
            __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        }
        must(syscall(__NR_io_uring_enter, ring, added, 1, IORING_ENTER_GETEVENTS, NULL, 0) >= 0,
             "io_uring_enter");
        for (; *head != __atomic_load_n(end, __ATOMIC_ACQUIRE); finished++) {
            errno = -done[*head & cq_mask].res;
            must(done[*head & cq_mask].res == BLOCK, "a write by io_uring");
            __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
        }
    }
    close(ring);
}

static void take(const way *w, const char *path, int64_t blocks)
{
    unlink(path);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | (w->direct ? O_DIRECT : 0), 0600);
    if (fd < 0) {
        printf("%-22s %s\n", w->name, strerror(errno));
        return;
    }
    const double began = now();
    must(posix_fallocate(fd, 0, blocks * BLOCK) == 0, "posix_fallocate");
    if (w->how == CALLS) {
        write_by_calls(fd, blocks, w->many);
    } else if (w->how == MAPPED) {
        write_mapped(fd, blocks, w->many);
    } else {
        write_by_ring(fd, blocks, w->many);
    }
    const double written = now() - began;
    must(fdatasync(fd) == 0, "fdatasync");
    const double kept = now() - began, gigabytes = (double)blocks * BLOCK * 1e-9;
    close(fd);
    printf("%-22s %.2f s %.2f GB/s, on the disk %.2f s %.2f GB/s\n", w->name, written,
           gigabytes / written, kept, gigabytes / kept);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: writing FILE GIGABYTES [TURNS]\n");
        return 2;
    }
    const int64_t blocks = (int64_t)(atof(argv[2]) * 1e9) / BLOCK;
    const int turns = argc > 3 ? atoi(argv[3]) : 3;
    source = aligned_alloc(4096, (size_t)SOURCES * BLOCK);
    must(source != NULL, "memory");
    memset(source, 37, (size_t)SOURCES * BLOCK);
    for (int turn = 0; turn < turns; turn++) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            take(&ways[i], argv[1], blocks);
        }
    }
    unlink(argv[1]);
    free(source);
    return 0;
}
