/*
 * How much memory this process could get: what the machine has left, what its control groups leave
 * it (containers, systemd, Slurm), and what its own limits (ulimit -v, -d) leave it.
 */
#ifndef TWI_BASE_AVAILABLE_H
#define TWI_BASE_AVAILABLE_H

#include "base/export.h"

#include <stdint.h>

/* Bytes; and all that the machine has. */
uint64_t twi_memory_available(void);
uint64_t twi_memory_total(void);

/* What the files of the kernel say when their names begin with `root` ("" for those of this
 * machine): the limits of the process itself left out. UINT64_MAX if they say nothing. */
TWI_SHARED uint64_t twi_memory_available_by(const char *root);

#endif
