/*
 * One output file of many ranks, written by MPI-IO, that appears whole or not at all: rank 0 makes
 * it beside its name under a temporary one (io/temporary.h), all write rows of it, and rank 0
 * renames it when everybody is done. What a killed job leaves is removed by the next that writes
 * into the folder. Each rank has whole rows and writes them by a call of its own: the collective
 * one of Open MPI 4.1 says that all went well when the rank that wrote for the others could not.
 *
 * Rows of text have no places that ranks could write to. Those of a sink, then, lie in such a file
 * as elements until all are there, and rank 0 gives them to the sink in their order, a block of
 * them in memory at a time; the file is never renamed.
 */
#ifndef TWI_MPI_FILE_H
#define TWI_MPI_FILE_H

#include "io/temporary.h"
#include "mpi/shared/world.h"

#include <limits.h>

typedef struct twi_mpi_file {
    const twi_world *world;
    MPI_File handle;
    MPI_Datatype row;
    bool open;
    tw_shape shape;
    int64_t start;           /* byte of the first row */
    twi_temporary temporary; /* rank 0's */
    bool made;
    int mode;
    tw_sink *sink; /* rank 0's: it takes the rows in the end; NULL: the file is renamed */
    tw_sink text;  /* that sink, where it is the file's own */
    char target[PATH_MAX];
    char name[PATH_MAX + TWI_TEMPORARY_NAME];
} twi_mpi_file;

/* Whether the name and the format will do. Not collective. */
TW_CHECKED tw_status twi_mpi_file_check(tw_context *ctx, const char *path, const char *format);

/* What a file is to be. */
typedef struct twi_mpi_wish {
    const char *path; /* NULL: there is none */
    const char *format;
    tw_sink *sink; /* rank 0's, or NULL */
    tw_shape shape;
} twi_mpi_wish;

/* All of these are collective and have the same status everywhere. *out is NULL if there is no
 * wish, else to be discarded in any case. */
TW_CHECKED tw_status twi_mpi_file_open(tw_context *ctx, twi_mpi_file **out, const twi_world *world,
                                       const twi_mpi_wish *wish);
/* `count` adjacent rows from row `first` of the file on; each rank its own, 0 for none. */
TW_CHECKED tw_status twi_mpi_file_write(tw_context *ctx, twi_mpi_file *file, int64_t first,
                                        int64_t count, const void *rows);
/* The same by one rank alone, whenever it likes. */
TW_CHECKED tw_status twi_mpi_file_write_alone(tw_context *ctx, twi_mpi_file *file, int64_t first,
                                              int64_t count, const void *rows);
/* NULL: nothing is done. */
TW_CHECKED tw_status twi_mpi_file_commit(tw_context *ctx, twi_mpi_file *file);
/* Nothing is left of it, unless it was committed. NULL is fine. */
void twi_mpi_file_discard(twi_mpi_file *file);

#endif
