/*
 * What the ranks of a closure tell each other in a round, whatever they compute on: the closed tile
 * and the panels of the next pivot (panels.h), and whether to go on.
 *
 * Nobody stops alone: in each round all ranks say whether they were cancelled or failed, without
 * waiting for the answer, and stop after the round in which the answer of the one before has come.
 * Whether it is time for a checkpoint, and whether the one before has reached the disk, is asked
 * with it.
 */
#ifndef TWI_MPI_MESSAGES_H
#define TWI_MPI_MESSAGES_H

#include "apsp/closure/layout.h"
#include "mpi/closure/checkpoint.h"
#include "mpi/closure/panels.h"

/* Who copies messages that do not lie on the host: a copy is asked for, and whether all of them are
 * done. */
typedef struct twi_messages_copier {
    void *user;
    void (*copy)(void *user, char *to, const char *from, int64_t bytes);
    bool (*done)(void *user);
} twi_messages_copier;

typedef struct twi_messages {
    const twi_share *share;
    const twi_messages_copier *copier; /* NULL: they lie on the host */
    twi_panels panels[2];              /* of the even and the odd pivots */
    char *tile[2]; /* the closed one of those pivots, raw; of a matrix on the host the same */
    twi_casts down, across;

    /* Of one round. */
    int64_t next;        /* pivot; -1: there is none */
    bool in_row, in_col; /* of it */
    bool tile_sent, panels_sent, passing_down, passing_across, passed_down, passed_across;
    bool broken; /* MPI failed: nothing more will come */
} twi_messages;

twi_messages twi_messages_describe(const twi_share *share);
/* Its memory, which lies in blocks of the caller's: lists on the host, and the messages themselves
 * wherever MPI reads them. */
void twi_messages_place_lists(twi_messages *self, twi_layout *at);
void twi_messages_place_data(twi_messages *self, twi_layout *at);

/* Begin a round: where everything lies and who sends it. *bytes grows by those of the panels. */
void twi_messages_begin(twi_messages *self, const twi_pattern *pattern, int64_t next,
                        uint64_t *bytes);

static inline bool twi_messages_own_tile(const twi_messages *self)
{
    return self->in_row && self->in_col;
}
static inline char *twi_messages_tile(const twi_messages *self)
{
    return self->tile[self->next % 2];
}

/* The closed tile, of the rank that has it, may be sent; and whether it has come to another. */
void twi_messages_send_tile(twi_messages *self);
bool twi_messages_tile_here(const twi_messages *self);
/* What this rank makes of the panels may be sent. */
void twi_messages_send_panels(twi_messages *self);
/* Look at what has come, pass on what others need, and post what can be. */
void twi_messages_attend(twi_messages *self);
bool twi_messages_done(const twi_messages *self);

/* Whether to go on: what is said and heard. */
typedef struct twi_questions {
    tw_context *ctx;
    const twi_world *world;
    twi_mpi_checkpoint *checkpoint; /* NULL: none */
    int64_t first;                  /* pivot of all rounds */
    bool pauses;                    /* after this round, for a checkpoint */
    bool others_failed;             /* the answer is a rank that failed */
    int mine[2][1 + TWI_TELLS];
    int all[2][1 + TWI_TELLS];
    MPI_Request request[2];
} twi_questions;

twi_questions twi_questions_begin(tw_context *ctx, const twi_world *world,
                                  twi_mpi_checkpoint *checkpoint, int64_t first);
/* In round `pivot`. */
TW_CHECKED tw_status twi_questions_ask(twi_questions *self, int64_t pivot, bool failed);
/* After it: whether the answer to what was asked in the one before has come, and the answer. */
bool twi_questions_answered(const twi_questions *self, int64_t pivot);
TW_CHECKED tw_status twi_questions_check(twi_questions *self, int64_t pivot);
/* After all: the answers that are still on their way. */
TW_CHECKED tw_status twi_questions_end(twi_questions *self);
/* Whether the next round is followed by a checkpoint. */
bool twi_questions_pause(twi_questions *self);

#endif
