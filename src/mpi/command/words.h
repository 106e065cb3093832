/* Whether all ranks were given the same words. What a rank does next depends on them, and one that
 * does something else than the others would wait for them for ever. */
#ifndef MPI_COMMAND_WORDS_H
#define MPI_COMMAND_WORDS_H

#include "tilewright-mpi.h"

#include "frame/options.h"

/* The name of the command. Collective, as the next; the same status everywhere. */
TW_CHECKED tw_status mpi_words_command(tw_context *ctx, const char *word);

/* Its operands and options, but for those that say what a rank has and how much it tells: its
 * threads, memory, device and instruction set (which the library compares), -q and --no-progress.
 */
TW_CHECKED tw_status mpi_words_compare(tw_context *ctx, const cli_command *command,
                                       const cli_parsed *parsed, const void *settings);

#endif
