/*
 * Ranks of one machine help each other. Where cores differ in speed, or some of them have more to
 * do, the slowest rank of a round holds up all others, which wait for its panels. So a rank that
 * has nothing to do takes tasks from another's rest (update.h): it maps that rank's tiles and
 * panels and does to them what their owner would have done, so the bytes are the same whoever does
 * it.
 *
 * Every rank has a board in memory that all of them map. Its first word says how many tasks of the
 * round are left; who changes it, by compare-and-swap, has claimed one, the owner as the others.
 * Whoever has done a task counts it as done, and the owner ends its round only when all are: until
 * then whatever a claimed task reads stays as it is.
 */
#ifndef TWI_MPI_HELP_H
#define TWI_MPI_HELP_H

#include "mpi/closure/update.h"
#include "mpi/shared/machine.h"

#include <stdatomic.h>

typedef struct twi_board {
    _Alignas(TWI_CACHE_LINE) atomic_ullong open; /* round of the owner << 32 | tasks left */
    _Alignas(TWI_CACHE_LINE) atomic_llong done;  /* tasks */
    twi_round round;
} twi_board;

/* Open the tasks of a round. All of the round before are done. */
void twi_board_begin(twi_board *board, const twi_round *round);
/* Take one; false: all are taken. What is in *round then holds until it is done. */
bool twi_board_claim(twi_board *board, twi_round *round, int64_t *task);
void twi_board_finish(twi_board *board);
bool twi_board_is_done(const twi_board *board);

/* What a rank needs so that others can help it, in memory that they can map: a board, where its
 * panels lie, the panels and the packed rows. The others know its place in the grid. */
void twi_help_place(twi_layout *at, twi_messages *messages, twi_board **board, twi_panel *rows);

typedef struct twi_helped twi_helped; /* another rank, as this one sees it */
typedef struct twi_help {
    int count; /* of other ranks; 0: nobody helps */
    twi_helped *ranks;
    void *lists; /* of theirs */
} twi_help;

/* Map what the others of the machine have: `common` is this rank's memory of twi_help_place. Its
 * first board is not open. No rank of the machine helps where one of them cannot. Collective over
 * the machine; TW_OK, or a failure of this rank alone. */
TW_CHECKED tw_status twi_help_open(tw_context *ctx, twi_help *out, twi_share *share,
                                   twi_common *common, int64_t chunk);
void twi_help_close(twi_help *help);

/* Do one task of the rank that has the most left; false: there is none. */
bool twi_help_once(const twi_help *help, twi_panel *a);

#endif
