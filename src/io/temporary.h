/*
 * A file on its way to its name: in the folder of its target, readable by nobody else until it is
 * published, and gone with the process that made it, however that ends.
 *
 * Where the file system can, the file has no name until it is published. Elsewhere it is called
 * .tilewright- and 16 hexadecimal digits, and its maker holds a lock (flock) on it. Such a name
 * that nobody holds is what a killed process left; whoever writes into the folder next removes it.
 */
#ifndef TWI_IO_TEMPORARY_H
#define TWI_IO_TEMPORARY_H

#include "base/export.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct twi_temporary {
    int fd; /* for reading and writing; -1: there is none */
    bool named;
} twi_temporary;

#define TWI_TEMPORARY_NAME 32 /* bytes of a name, its end counted */

/* Open one beside `target`; `named`: under a name, whatever the file system can. `name` holds at
 * least as many bytes as `target` and TWI_TEMPORARY_NAME together, and stays until the end. Returns
 * 0 or an errno. */
TWI_SHARED int twi_temporary_open(twi_temporary *out, char *name, const char *target, bool named);

/* Close it and let it take the place of `target`, with the permissions of `mode`; with mode -1,
 * those of any new file. Returns 0 or an errno, and the file is gone then. */
TWI_SHARED int twi_temporary_publish(twi_temporary *file, char *name, const char *target, int mode);

TWI_SHARED void twi_temporary_discard(twi_temporary *file, const char *name);

#endif
