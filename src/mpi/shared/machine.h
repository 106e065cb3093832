/*
 * The ranks of one machine, and memory of a rank that all of them can map: an anonymous file
 * (memfd_create), which the others open under /proc/PID/fd. It lies on no disk, nor in /dev/shm
 * with its limits, and goes when nobody maps it any more.
 *
 * Such memory has pages of 4 KB, where the kernel is not set to give huge ones to shared memory
 * (/sys/kernel/mm/transparent_hugepage/shmem_enabled).
 */
#ifndef TWI_MPI_MACHINE_H
#define TWI_MPI_MACHINE_H

#include "base/memory.h"
#include "mpi/shared/world.h"

#include <sys/types.h>

/* Whether the ranks of a machine help each other; the values are those of tw_mpi_forecast. */
typedef enum twi_help_choice {
    TWI_HELP_NONE,    /* there is but one rank on the machine, or it is not a closure on CPUs */
    TWI_HELP_ON,      /* they do */
    TWI_HELP_OFF,     /* TW_MPI_HELP=never */
    TWI_HELP_REFUSED, /* the system does not let them map each other's memory */
} twi_help_choice;

typedef struct twi_machine {
    MPI_Comm comm; /* its ranks; MPI_COMM_NULL: not open */
    int rank, size;
    twi_help_choice help;
} twi_machine;

/*
 * Find the ranks of this machine, and whether they can map each other's memory, which is tried.
 * TW_MPI_HELP of the environment, "auto" or "never", is the same on all ranks. Collective; the same
 * status everywhere, and the same answer on all ranks of a machine.
 */
TW_CHECKED tw_status twi_machine_open(tw_context *ctx, twi_machine *out, const twi_world *world);
void twi_machine_close(twi_machine *machine);

/* Whether a machine has the memory that all of its ranks together are about to take, each some of
 * the bytes, where its contexts have no limits. Collective over them; another status on each. */
TW_CHECKED tw_status twi_machine_check(tw_context *ctx, const twi_machine *machine, double bytes,
                                       const char *what);

/* True if it is on all ranks of the machine. Collective over them. */
bool twi_machine_agree(const twi_machine *machine, bool mine);

/* A rank's memory that others can map. */
typedef struct twi_common {
    void *memory; /* NULL: none */
    uint64_t bytes;
    int fd; /* -1: nobody can map it any more */
    twi_counted counted;
} twi_common;

/* Bytes that all ranks of the machine can map, uninitialised, counted as a block of twi_alloc is
 * and refused alike. The memory is there: it cannot run out when it is touched. Where the system
 * has none of this kind, TW_OK and no memory. */
TW_CHECKED tw_status twi_common_take(tw_context *ctx, twi_common *out, uint64_t bytes, int threads,
                                     const char *what);
void twi_common_free(twi_common *common);

/* Another rank's, which `pid` has as `fd`; NULL: it cannot be mapped. It takes addresses only. */
void *twi_common_map(pid_t pid, int fd, uint64_t bytes);
void twi_common_unmap(void *memory, uint64_t bytes);
/* All who want to have mapped it. */
void twi_common_seal(twi_common *common);

#endif
