/* See machine.h. */
#include "mpi/shared/machine.h"

#include "base/available.h"
#include "base/clock.h"
#include "base/threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* of Linux 5.14; older kernels refuse it */
#endif

#define PIECE ((uint64_t)4 << 20) /* bytes that a thread asks for at a time */
#define TRIED 64                  /* bytes by which ranks try to read each other's memory */

/* ------------------------------------------------------------------------------------ memory */

/* Bytes that the system deals in, at least one page. */
static uint64_t whole_pages(uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes <= page ? page : (bytes + page - 1) / page * page;
}

/* Memory is found now, by all threads: what is touched later and is not there would end the
 * process. */
static bool populate(char *memory, uint64_t bytes, int fd, int threads)
{
    (void)threads; /* unused without OpenMP */
    const uint64_t pieces = (bytes + PIECE - 1) / PIECE;
    int failed = 0;
#pragma omp parallel for schedule(static) num_threads(twi_team(threads)) reduction(+ : failed)
    for (uint64_t piece = 0; piece < pieces; piece++) {
        const uint64_t begin = piece * PIECE, left = bytes - begin;
        failed += madvise(memory + begin, left < PIECE ? left : PIECE, MADV_POPULATE_WRITE) != 0;
    }
    return failed == 0 || fallocate(fd, 0, 0, (off_t)bytes) == 0;
}

/* Beyond the limit of the size of files, which holds for this memory too, a signal ends the
 * process; beyond what there is the system does. */
static bool is_allowed(uint64_t bytes)
{
    struct rlimit files;
    return bytes <= twi_memory_available_by("") &&
           (getrlimit(RLIMIT_FSIZE, &files) != 0 || files.rlim_cur == RLIM_INFINITY ||
            bytes <= files.rlim_cur);
}

/* -1: the system has no such memory. */
static int make(void **memory, uint64_t bytes, int threads)
{
    const int fd = is_allowed(bytes) ? memfd_create("tilewright", MFD_CLOEXEC) : -1;
    void *at = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0) {
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (at != MAP_FAILED) {
#ifdef MADV_HUGEPAGE
        (void)madvise(at, bytes, MADV_HUGEPAGE); /* advice: a refusal costs speed only */
#endif
        if (populate(at, bytes, fd, threads)) {
            *memory = at;
            return fd;
        }
        (void)munmap(at, bytes);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return -1;
}

tw_status twi_common_take(tw_context *ctx, twi_common *out, uint64_t bytes, int threads,
                          const char *what)
{
    *out = (twi_common){.bytes = whole_pages(bytes), .fd = -1};
    tw_status status = twi_count(ctx, &out->counted, bytes, what);
    if (status == TW_OK) {
        out->fd = make(&out->memory, out->bytes, threads);
    }
    if (out->fd < 0) {
        twi_uncount(&out->counted);
    }
    return status;
}

void twi_common_free(twi_common *common)
{
    twi_common_seal(common);
    if (common->memory != NULL) {
        twi_common_unmap(common->memory, common->bytes);
    }
    twi_uncount(&common->counted);
    common->memory = NULL;
}

void twi_common_seal(twi_common *common)
{
    if (common->memory != NULL && common->fd >= 0) {
        (void)close(common->fd);
    }
    common->fd = -1;
}

void *twi_common_map(pid_t pid, int fd, uint64_t bytes)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)pid, fd);
    const int own = open(path, O_RDWR | O_CLOEXEC);
    if (own < 0) {
        return NULL;
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
    (void)close(own);
#ifdef MADV_HUGEPAGE
    if (at != MAP_FAILED) {
        (void)madvise(at, bytes, MADV_HUGEPAGE);
    }
#endif
    return at != MAP_FAILED ? at : NULL;
}

void twi_common_unmap(void *memory, uint64_t bytes)
{
    if (memory != NULL) {
        (void)munmap(memory, bytes);
    }
}

/* ------------------------------------------------------------------------------- the machine */

bool twi_machine_agree(const twi_machine *machine, bool mine)
{
    int all = mine;
    return MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, machine->comm) == MPI_SUCCESS &&
           all != 0;
}

/* Every rank reads what the next one has written into memory of its own: a number that only this
 * machine and this moment can have, so that a process of the same number elsewhere, in another
 * container, is not taken for it. */
static bool can_map(const twi_machine *machine)
{
    int64_t mine[3] = {(int64_t)getpid(), -1, 0}, next[3] = {0};
    const int to = (machine->rank + machine->size - 1) % machine->size;
    const int from = (machine->rank + 1) % machine->size;
    void *memory = NULL;
    const uint64_t bytes = whole_pages(TRIED);
    const int fd = make(&memory, bytes, 1);
    const double now = twi_seconds();
    mine[1] = fd;
    memcpy(&mine[2], &now, sizeof now);
    if (fd >= 0) {
        memcpy(memory, mine, sizeof mine);
    }
    bool fine = MPI_Sendrecv(mine, 3, MPI_INT64_T, to, 0, next, 3, MPI_INT64_T, from, 0,
                             machine->comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    void *seen = fine && next[1] >= 0 ? twi_common_map((pid_t)next[0], (int)next[1], bytes) : NULL;
    fine = seen != NULL && memcmp(seen, next, sizeof next) == 0;
    twi_common_unmap(seen, bytes);
    const bool all = twi_machine_agree(machine, fine && fd >= 0);
    if (fd >= 0) {
        (void)close(fd);
        twi_common_unmap(memory, bytes);
    }
    return all;
}

tw_status twi_machine_open(tw_context *ctx, twi_machine *out, const twi_world *world)
{
    const char *given = getenv("TW_MPI_HELP");
    const bool told = given != NULL && given[0] != '\0';
    const bool never = told && strcmp(given, "never") == 0;
    const twi_told same = {"TW_MPI_HELP", never ? "never" : "auto"};
    tw_status status = TW_OK;
    *out = (twi_machine){.comm = MPI_COMM_NULL, .size = 1};
    if (told && !never && strcmp(given, "auto") != 0) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT, "TW_MPI_HELP=%.100s is unknown; use auto or never",
                         given);
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = twi_world_same(ctx, world, &same, 1);
    }
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx,
            MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &out->comm),
            "find the ranks of a machine");
    }
    if (status != TW_OK) {
        return status;
    }
    (void)MPI_Comm_set_errhandler(out->comm, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(out->comm, &out->rank);
    (void)MPI_Comm_size(out->comm, &out->size);
    if (out->size > 1) {
        out->help = never ? TWI_HELP_OFF : can_map(out) ? TWI_HELP_ON : TWI_HELP_REFUSED;
    }
    return TW_OK;
}

tw_status twi_machine_check(tw_context *ctx, const twi_machine *machine, double bytes,
                            const char *what)
{
    char need[32], there[32];
    double all = bytes;
    if (machine->comm == MPI_COMM_NULL) {
        return TW_OK;
    }
    const tw_status status = twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, machine->comm), "add up");
    const double left = (double)twi_memory_available_by("");
    return status != TW_OK || ctx->memory_limit > 0 || all <= left
               ? status
               : tw_fail(ctx, TW_ERR_MEMORY,
                         "not enough memory for %s: the ranks of this machine (%d) need %s, and %s "
                         "is available; use more machines, or give --memory if each rank has a "
                         "limit of its own",
                         what, machine->size, twi_bytes(need, all), twi_bytes(there, left));
}

void twi_machine_close(twi_machine *machine)
{
    if (machine->comm != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&machine->comm);
    }
    *machine = (twi_machine){.comm = MPI_COMM_NULL, .size = 1};
}
