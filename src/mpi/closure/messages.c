/* See messages.h. */
#include "mpi/closure/messages.h"

#include <string.h>

enum { GO_ON, CANCELLED, SOMEBODY_FAILED };

/* ---------------------------------------------------------------------------------- memory */

twi_messages twi_messages_describe(const twi_share *share)
{
    const twi_grid *grid = share->grid;
    return (twi_messages){.share = share,
                          .down = {.comm = grid->down, .rank = grid->row, .size = grid->rows},
                          .across = {.comm = grid->across, .rank = grid->col, .size = grid->cols}};
}

static void place_lists(twi_layout *at, twi_side *side, const twi_share *share, bool is_row)
{
    side->count = is_row ? share->col_count : share->row_count;
    side->groups = twi_side_groups(share, is_row);
    side->at = twi_place(at, (uint64_t)side->count * sizeof *side->at);
    side->group_begin = twi_place(at, ((uint64_t)side->groups + 1) * sizeof *side->group_begin);
}

static void place_casts(twi_layout *at, twi_casts *casts, int groups)
{
    casts->list = twi_place(at, ((uint64_t)groups + 1) * sizeof *casts->list);
}

void twi_messages_place_data(twi_messages *self, twi_layout *at)
{
    const twi_share *share = self->share;
    const int64_t block = share->grid->block;
    const uint64_t tile = (uint64_t)twi_panel_tile_bytes(share, block, block);
    for (int i = 0; i < 2; i++) {
        self->panels[i].row.data = twi_place(at, (uint64_t)twi_side_bytes(share, true));
        self->panels[i].col.data = twi_place(at, (uint64_t)twi_side_bytes(share, false));
    }
    self->tile[0] = twi_place(at, tile);
    self->tile[1] = share->whole ? twi_place(at, tile) : self->tile[0];
}

void twi_messages_place_lists(twi_messages *self, twi_layout *at)
{
    const twi_share *share = self->share;
    for (int i = 0; i < 2; i++) {
        place_lists(at, &self->panels[i].row, share, true);
        place_lists(at, &self->panels[i].col, share, false);
    }
    place_casts(at, &self->down, twi_side_groups(share, true));
    place_casts(at, &self->across, twi_side_groups(share, false));
}

/* ------------------------------------------------------------------------- tiles and panels */

void twi_messages_begin(twi_messages *self, const twi_pattern *pattern, int64_t next,
                        uint64_t *bytes)
{
    const twi_grid *grid = self->share->grid;
    self->next = next;
    self->in_row = next >= 0 && next % grid->rows == grid->row;
    self->in_col = next >= 0 && next % grid->cols == grid->col;
    self->tile_sent = self->panels_sent = false;
    self->passing_down = self->passed_down = false;
    self->passing_across = self->passed_across = false;
    if (next >= 0) {
        twi_panels *panels = &self->panels[next % 2];
        twi_panels_lay_out(panels, self->share, pattern, next, twi_messages_tile(self), &self->down,
                           &self->across);
        *bytes +=
            (uint64_t)(panels->row.used * (grid->rows > 1) + panels->col.used * (grid->cols > 1));
    }
}

void twi_messages_send_tile(twi_messages *self)
{
    if (!self->tile_sent) {
        twi_casts_ready(&self->across, TWI_CAST_TILE);
        twi_casts_ready(&self->down, TWI_CAST_TILE);
        self->tile_sent = true;
    }
}

bool twi_messages_tile_here(const twi_messages *self)
{
    return self->in_row ? twi_casts_here(&self->across, TWI_CAST_TILE)
                        : twi_casts_here(&self->down, TWI_CAST_TILE);
}

void twi_messages_send_panels(twi_messages *self)
{
    if (self->in_row) {
        twi_casts_ready(&self->down, 0);
    }
    if (self->in_col) {
        twi_casts_ready(&self->across, 0);
    }
    self->panels_sent = true;
}

static void copy(const twi_messages *self, char *to, const char *from, int64_t bytes)
{
    if (self->copier == NULL) {
        memcpy(to, from, (size_t)bytes);
    } else {
        self->copier->copy(self->copier->user, to, from, bytes);
    }
}

static bool is_copied(const twi_messages *self)
{
    return self->copier == NULL || self->copier->done(self->copier->user);
}

/* Tiles that this rank got on one side and passes on along the other. */
static void pass_on(twi_messages *self, twi_side *to, const twi_side *from, bool to_row)
{
    const twi_share *share = self->share;
    const twi_grid *grid = share->grid;
    const int64_t depth = twi_share_side(share, self->next);
    for (int64_t own = 0; own < to->count; own++) {
        const int64_t t = to_row ? twi_col_tile(grid, own) : twi_row_tile(grid, own);
        const bool ours = t % grid->rows == grid->row && t % grid->cols == grid->col;
        if (!ours || to->at[own] < 0 || (to_row ? t < self->next : t > self->next)) {
            continue;
        }
        const int64_t other = to_row ? t / grid->rows : t / grid->cols;
        copy(self, to->data + to->at[own], from->data + from->at[other],
             depth * twi_share_side(share, t) * share->size);
    }
}

/* The second step of a symmetric matrix, as soon as the first one's tiles are here. */
static void pass_on_if_here(twi_messages *self)
{
    const twi_grid *grid = self->share->grid;
    twi_panels *panels = &self->panels[self->next % 2];
    const bool formed = self->panels_sent;
    if (!self->passing_down && (self->in_col ? formed : twi_casts_here(&self->across, 0))) {
        pass_on(self, &panels->row, &panels->col, true);
        self->passing_down = true;
    }
    if (!self->passing_across && (self->in_row ? formed : twi_casts_here(&self->down, 0))) {
        pass_on(self, &panels->col, &panels->row, false);
        self->passing_across = true;
    }
    if (self->passing_down && !self->passed_down && is_copied(self)) {
        twi_casts_ready(&self->down, 1 + grid->row);
        self->passed_down = true;
    }
    if (self->passing_across && !self->passed_across && is_copied(self)) {
        twi_casts_ready(&self->across, 1 + grid->col);
        self->passed_across = true;
    }
}

void twi_messages_attend(twi_messages *self)
{
    if (self->share->symmetric) {
        pass_on_if_here(self);
    }
    self->broken = !twi_casts_poll(&self->down) || !twi_casts_poll(&self->across);
}

bool twi_messages_done(const twi_messages *self)
{
    return self->next < 0 || self->broken ||
           (twi_casts_done(&self->down) && twi_casts_done(&self->across));
}

/* ------------------------------------------------------------------------ whether to go on */

twi_questions twi_questions_begin(tw_context *ctx, const twi_world *world,
                                  twi_mpi_checkpoint *checkpoint, int64_t first)
{
    return (twi_questions){.ctx = ctx,
                           .world = world,
                           .checkpoint = checkpoint,
                           .first = first,
                           .request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
}

tw_status twi_questions_ask(twi_questions *self, int64_t pivot, bool failed)
{
    const int at = (int)(pivot % 2);
    self->mine[at][0] = failed ? SOMEBODY_FAILED : twi_is_cancelled(self->ctx) ? CANCELLED : GO_ON;
    if (self->checkpoint != NULL) {
        twi_mpi_checkpoint_tell(self->checkpoint, at, self->mine[at] + 1);
    }
    return twi_mpi_check(self->ctx,
                         MPI_Iallreduce(self->mine[at], self->all[at], 1 + TWI_TELLS, MPI_INT,
                                        MPI_MAX, self->world->comm, &self->request[at]),
                         "ask whether to go on");
}

static tw_status answer(twi_questions *self, int at)
{
    const bool asked = self->request[at] != MPI_REQUEST_NULL;
    tw_status status = twi_mpi_check(self->ctx, MPI_Wait(&self->request[at], MPI_STATUS_IGNORE),
                                     "ask whether to go on");
    if (status == TW_OK && asked && self->checkpoint != NULL) {
        twi_mpi_checkpoint_hear(self->checkpoint, at, self->all[at] + 1);
    }
    if (status == TW_OK && self->all[at][0] == SOMEBODY_FAILED) {
        self->others_failed = true; /* who it is has the sentence */
        return TW_ERR_DEVICE;
    }
    if (status == TW_OK && self->all[at][0] == CANCELLED) {
        status = tw_fail(self->ctx, TW_ERR_CANCELLED,
                         "stopped on request before the result was complete");
    }
    return status;
}

/* An answer that MPI cannot get has come: who takes it hears why. */
static bool has_come(const twi_questions *self, int at)
{
    int come = 0;
    return MPI_Request_get_status(self->request[at], &come, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
           come != 0;
}

bool twi_questions_answered(const twi_questions *self, int64_t pivot)
{
    return pivot <= self->first || has_come(self, (int)((pivot - 1) % 2));
}

tw_status twi_questions_check(twi_questions *self, int64_t pivot)
{
    return pivot > self->first ? answer(self, (int)((pivot - 1) % 2)) : TW_OK;
}

tw_status twi_questions_end(twi_questions *self)
{
    tw_status status = TW_OK;
    for (int i = 0; i < 2; i++) { /* the last question, or the one after a yes */
        const tw_status last = answer(self, i);
        status = status == TW_OK ? last : status;
    }
    return status;
}

bool twi_questions_pause(twi_questions *self)
{
    self->pauses = self->checkpoint != NULL && twi_mpi_checkpoint_due(self->checkpoint);
    return self->pauses;
}
