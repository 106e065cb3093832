/* The files of a run over ranks, and those that are text, which rank 0 writes. */
#ifndef MPI_COMMAND_OUTPUT_H
#define MPI_COMMAND_OUTPUT_H

#include "tilewright-mpi.h"

#include "cli/graph/apsp_files.h"
#include "mpi/command/settings.h"

/* Into *files what the settings say of files, and refuse what cannot be, before anything is read.
 * Input and output may be NULL. */
TW_CHECKED tw_status mpi_files_check(const cli_job *job, cli_apsp_files *files,
                                     const mpi_settings *settings, const char *input,
                                     const char *output);

/* The sinks of rank 0. All zero: none. */
typedef struct mpi_text {
    tw_sink distances, predecessors;
    cli_counted counted; /* before the predecessors, where the file counts from 1 */
    tw_sink before;      /* what predecessors go into: that, or the sink itself */
} mpi_text;

/* Sinks for what the library does not write by itself: lines of --long, tables with names, and
 * predecessors as the graph's file counts. */
TW_CHECKED tw_status mpi_text_open(const cli_job *job, mpi_text *text, const cli_apsp_files *files,
                                   const tw_graph *graph, const tw_apsp_options *opts,
                                   tw_mpi_apsp_output *out);
void mpi_text_clear(mpi_text *text);

#endif
