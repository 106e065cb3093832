/*
 * See gpu.h. The rounds are those of closure.c; what its threads do there the device does here
 * (apsp/gpu/rank.h), and this thread, which alone talks to MPI and to the device, goes from one to
 * the other: what the device has made it sends, and what has come it gives to the device. Panels
 * are in pinned memory or, for an MPI that reads it, in memory of the device, where this thread
 * never touches them: they are sent when an event says that they are there. The update of a round
 * is put on the device before its messages, and nobody waits for it, so the device has work while
 * panels of the next pivot travel.
 *
 * A device that several ranks share is given to each of them in turns, for as long as there is work
 * of it, some milliseconds at most (H200, November 2026): the short kernels that a pivot waits for
 * then wait for another rank's update. So such ranks ask for the update in parts, the next when the
 * one before is done, and the device is passed on between them.
 *
 * A rank whose device fails goes on with the messages, which mean nothing then, until all have
 * heard of it.
 *
 * Memory besides the tiles, which are here, too: raw panels of two pivots, here or on the device.
 */
#include "mpi/closure/gpu.h"

#include "apsp/closure/closure.h"
#include "apsp/gpu/rank.h"
#include "base/clock.h"
#include "base/memory.h"
#include "mpi/closure/messages.h"

#include <sched.h>

#ifndef TWI_TILES_A_PART      /* tests have a smaller one */
#define TWI_TILES_A_PART 8192 /* of an update: a millisecond of an H200, in i32 */
#endif

typedef struct gpu_closure {
    tw_context *ctx;
    const twi_grid *grid;
    const twi_share *share;
    twi_pattern *pattern;
    twi_mpi_seen *seen;
    void *memory; /* everything below lies in it */
    int64_t *kept;
    uint8_t *row_nonempty[2], *col_nonempty[2]; /* of the panels */
    bool pinned, share_pinned;                  /* that, and the share */
    bool direct;                                /* messages are on the device */
    twi_messages messages;
    twi_messages_copier copier; /* of those */
    twi_questions questions;
    twi_gpu_rank *rank;
    tw_status failed; /* of this rank's device, with its sentence in the context */

    /* The state of one round. */
    int64_t pivot, next; /* -1: there is none */
    twi_gpu_rank_pivot at_pivot, at_next;
    bool closing, formed;
    int64_t parts, part; /* of an update, and of them so far */
} gpu_closure;

/* ------------------------------------------------------------------------------ small parts */

/* Whether the device has done well so far, this call included. */
static bool good(gpu_closure *self, tw_status status)
{
    if (self->failed == TW_OK) {
        self->failed = status;
    }
    return self->failed == TW_OK;
}

static twi_gpu_rank_pivot pivot_of(const gpu_closure *self, int64_t p)
{
    const twi_grid *grid = self->grid;
    const twi_share *share = self->share;
    const int64_t col = grid->col, cols = grid->cols, row = grid->row, rows = grid->rows;
    const int64_t left = p < col ? 0 : (p - col) / cols + 1;
    const int64_t above = p < row ? 0 : (p - row) / rows + 1;
    return (twi_gpu_rank_pivot){.number = p,
                                .size = twi_tile_size(grid, p),
                                .row = p % rows == row ? p / rows : -1,
                                .col = p % cols == col ? p / cols : -1,
                                .below = share->symmetric ? above : 0,
                                .left = share->symmetric ? left : share->col_count};
}

static twi_gpu_rank_panel panel_of(const gpu_closure *self, bool is_row)
{
    const int at = (int)(self->next % 2);
    const twi_panels *panels = &self->messages.panels[at];
    const twi_side *side = is_row ? &panels->row : &panels->col;
    return (twi_gpu_rank_panel){side->data, side->at,
                                is_row ? self->row_nonempty[at] : self->col_nonempty[at]};
}

/* ---------------------------------------------------------------------------------- memory */

static void place_all(gpu_closure *self, twi_layout *at)
{
    const twi_share *share = self->share;
    twi_messages_place_lists(&self->messages, at);
    if (!self->direct) {
        twi_messages_place_data(&self->messages, at);
    }
    self->kept = twi_place(at, (uint64_t)share->row_count * sizeof *self->kept);
    for (int i = 0; i < 2; i++) {
        self->row_nonempty[i] = twi_place(at, (uint64_t)share->col_count);
        self->col_nonempty[i] = twi_place(at, (uint64_t)share->row_count);
    }
}

/* What the context lets this rank hold there. */
static tw_status check_limit(tw_context *ctx, const twi_world *world, uint64_t bytes)
{
    const uint64_t limit = twi_gpu_limit(ctx);
    char need[32], have[32];
    return limit == 0 || bytes <= limit
               ? TW_OK
               : tw_fail(ctx, TW_ERR_MEMORY,
                         "the share of rank %d needs %s on its GPU, but the limit is %s; use more "
                         "ranks on more GPUs, or raise --device-memory",
                         world->rank, twi_bytes(need, (double)bytes),
                         twi_bytes(have, (double)limit));
}

uint64_t twi_mpi_closure_gpu_messages(const twi_grid *grid, const twi_minplus_kernel *kernel,
                                      bool symmetric)
{
    const twi_share share = {.grid = grid,
                             .kernel = kernel,
                             .symmetric = symmetric,
                             .whole = true,
                             .size = (int64_t)tw_type_size(kernel->type),
                             .row_count = twi_own_rows(grid),
                             .col_count = twi_own_cols(grid)};
    twi_messages messages = {.share = &share};
    twi_layout at = {NULL, 0};
    twi_messages_place_data(&messages, &at);
    return at.used;
}

static tw_status open_device(gpu_closure *self, int32_t device)
{
    const twi_share *share = self->share;
    const twi_gpu_rank_shape shape = {
        .device = device,
        .type = share->kernel->type,
        .side = (int32_t)self->grid->block,
        .down = share->row_count,
        .across = share->col_count,
        .kept = share->symmetric ? self->kept : NULL,
        .messages = self->direct
                        ? twi_mpi_closure_gpu_messages(self->grid, share->kernel, share->symmetric)
                        : 0};
    tw_status status = check_limit(self->ctx, self->grid->world, twi_gpu_rank_bytes(&shape));
    if (status == TW_OK) {
        status = twi_gpu_rank_open(self->ctx, &self->rank, &shape);
    }
    if (status == TW_OK && self->direct) {
        twi_layout at = {twi_gpu_rank_messages(self->rank), 0};
        twi_messages_place_data(&self->messages, &at);
        self->messages.copier = &self->copier;
    }
    return status;
}

static tw_status open_all(gpu_closure *self, int32_t device)
{
    const twi_share *share = self->share;
    twi_layout at = {NULL, 0};
    self->messages = twi_messages_describe(share);
    place_all(self, &at);
    tw_status status = twi_alloc(self->ctx, &self->memory, at.used, 1, "the panels of the closure");
    if (status != TW_OK) {
        return status;
    }
    at = (twi_layout){self->memory, 0};
    place_all(self, &at);
    for (int64_t row = 0; row < share->row_count; row++) {
        self->kept[row] = share->rows[row].tiles;
    }
    status = open_device(self, device);
    self->pinned = status == TW_OK && twi_gpu_rank_pin(self->ctx, self->memory, at.used);
    self->share_pinned =
        status == TW_OK && twi_gpu_rank_pin(self->ctx, share->memory,
                                            twi_share_bytes(share->grid, share->kernel,
                                                            share->symmetric, share->whole));
    return status;
}

/* All tiles to the device, or back. */
static tw_status bring(gpu_closure *self, bool up)
{
    tw_status status = TW_OK;
    for (int64_t row = 0; row < self->share->row_count && status == TW_OK; row++) {
        const twi_strip_row *strip = &self->share->rows[row];
        status = twi_gpu_rank_bring(self->rank, row, strip->tiles, strip->data, strip->ld, up);
    }
    return status == TW_OK ? twi_gpu_rank_wait(self->rank) : status;
}

/* -------------------------------------------------------------------------------- the round */

/* The next part of the update, if there is one and the one before is done. */
static void update_some(gpu_closure *self)
{
    bool done = true;
    if (self->part == self->parts) {
        return;
    }
    if (self->failed != TW_OK) {
        self->part = self->parts;
    } else if (self->part == 0 ||
               (good(self, twi_gpu_rank_is_updated(self->rank, &done)) && done)) {
        (void)good(self, twi_gpu_rank_update(self->rank, &self->at_pivot,
                                             self->next >= 0 ? &self->at_next : NULL, self->part,
                                             self->parts));
        self->part++;
    }
}

/* Whether what the device makes for the messages is there; of one that failed nothing is awaited.
 */
static bool is_out(gpu_closure *self)
{
    bool out = true;
    return self->failed != TW_OK || !good(self, twi_gpu_rank_is_out(self->rank, &out)) || out;
}

/* A tile of the messages on the device that this rank passes on, and whether all of them have been
 * copied. */
static void pass_on(void *self_, char *to, const char *from, int64_t bytes)
{
    gpu_closure *self = self_;
    if (self->failed == TW_OK) {
        (void)good(self, twi_gpu_rank_pass(self->rank, to, from, bytes));
    }
}

static bool is_passed_on(void *self_)
{
    return is_out(self_);
}

/* A look at the messages and at the device: whatever can go on does. */
static void attend(gpu_closure *self)
{
    twi_messages *messages = &self->messages;
    const bool takes_part = messages->in_row || messages->in_col;
    if (self->closing && is_out(self)) {
        twi_messages_send_tile(messages);
        self->closing = false;
    }
    if (takes_part && !self->formed && !self->closing &&
        (twi_messages_own_tile(messages) || twi_messages_tile_here(messages))) {
        const twi_gpu_rank_panel row = panel_of(self, true), col = panel_of(self, false);
        if (self->failed == TW_OK) {
            (void)good(self, twi_gpu_rank_form(self->rank, &self->at_next,
                                               twi_messages_tile(messages), &row, &col));
        }
        self->formed = true;
    }
    if (self->formed && !messages->panels_sent && is_out(self)) {
        twi_messages_send_panels(messages);
    }
    twi_messages_attend(messages);
}

/* Bring the panels of the next pivot to everybody, and to the device. */
static void exchange(gpu_closure *self)
{
    self->closing = twi_messages_own_tile(&self->messages);
    self->formed = false;
    const bool takes_part = self->messages.in_row || self->messages.in_col;
    while (!self->messages.broken &&
           !(twi_messages_done(&self->messages) && (!takes_part || self->messages.panels_sent))) {
        attend(self);
        update_some(self);
        sched_yield();
    }
    const twi_gpu_rank_panel row = panel_of(self, true), col = panel_of(self, false);
    if (self->failed == TW_OK) {
        (void)good(self, twi_gpu_rank_take(self->rank, &self->at_next, &row, &col));
    }
}

/* Update with `pivot` (-1: none) and bring the panels of `next` (-1: none) to everybody. */
static tw_status run_round(gpu_closure *self, int64_t pivot, int64_t next)
{
    self->pivot = pivot;
    self->next = next;
    self->part = pivot >= 0 ? 0 : self->parts;
    if (pivot >= 0) {
        self->at_pivot = pivot_of(self, pivot);
        twi_pattern_advance(self->pattern, pivot);
    }
    if (next >= 0) {
        self->at_next = pivot_of(self, next);
        if (self->failed == TW_OK) {
            (void)good(self, twi_gpu_rank_reuse(self->rank, next));
        }
    }
    twi_messages_begin(&self->messages, self->pattern, next, &self->seen->bytes);
    if (next >= 0 && self->failed == TW_OK) {
        (void)good(self, twi_gpu_rank_head(self->rank, pivot >= 0 ? &self->at_pivot : NULL,
                                           &self->at_next, twi_messages_tile(&self->messages)));
    }
    update_some(self);
    if (next >= 0) {
        exchange(self);
    }
    while (self->part < self->parts && !self->messages.broken) {
        update_some(self);
        sched_yield();
    }
    return self->messages.broken
               ? tw_fail(self->ctx, TW_ERR_IO, "MPI cannot send the panels of pivot %lld",
                         (long long)next)
               : TW_OK;
}

static tw_status prepare(void *self_, int64_t pivot)
{
    return run_round(self_, -1, pivot);
}

static tw_status advance(void *self_, int64_t pivot)
{
    gpu_closure *self = self_;
    tw_status status = twi_questions_ask(&self->questions, pivot, self->failed != TW_OK);
    const bool prepares = pivot + 1 < self->grid->tiles && !self->questions.pauses;
    return status == TW_OK ? run_round(self, pivot, prepares ? pivot + 1 : -1) : status;
}

static tw_status check(void *self_)
{
    gpu_closure *self = self_;
    return twi_questions_check(&self->questions, self->pivot);
}

static bool pause_after(void *self_, int64_t pivot)
{
    gpu_closure *self = self_;
    (void)pivot;
    return twi_questions_pause(&self->questions);
}

/* All ranks have the matrix here, or none keeps it. */
static tw_status keep(void *self_, int64_t pivots)
{
    gpu_closure *self = self_;
    self->questions.pauses = false;
    if (self->failed == TW_OK) {
        (void)good(self, bring(self, false));
    }
    tw_status status = twi_world_agree(self->ctx, self->grid->world, self->failed);
    return status == TW_OK
               ? twi_mpi_checkpoint_keep(self->questions.checkpoint, pivots * self->grid->block)
               : status;
}

static const twi_closure_ops gpu_ops = {
    .prepare = prepare, .advance = advance, .check = check, .pause = pause_after, .keep = keep};

/* --------------------------------------------------------------------------------------- entry */

static tw_status close_there(gpu_closure *self, int64_t done, twi_mpi_checkpoint *checkpoint)
{
    const twi_grid *grid = self->grid;
    const int64_t first = twi_first_pivot(grid->n, grid->block, done);
    const double n = (double)grid->n, began = twi_seconds();
    self->questions = twi_questions_begin(self->ctx, grid->world, checkpoint, first);
    tw_status status = twi_closure_drive(self->ctx, &gpu_ops, self, first, grid->tiles, n * n * n);
    const tw_status last = twi_questions_end(&self->questions);
    status = status == TW_OK ? last : status;
    if (status == TW_OK && self->failed == TW_OK) {
        (void)good(self, twi_gpu_rank_wait(self->rank));
    }
    self->seen->seconds_device += twi_seconds() - began;
    if (status == TW_OK) { /* since the last question */
        status = twi_check_cancel(self->ctx);
    }
    if (status == TW_OK && self->failed == TW_OK) {
        (void)good(self, bring(self, false));
    }
    /* A rank that only heard of a failure has nothing to say of it. */
    status = self->questions.others_failed ? TW_OK : status;
    return self->failed != TW_OK && status != TW_ERR_IO ? self->failed : status;
}

tw_status twi_mpi_closure_gpu(tw_context *ctx, twi_share *share, twi_pattern *pattern,
                              int32_t device, bool direct, int64_t done,
                              twi_mpi_checkpoint *checkpoint, twi_mpi_seen *seen)
{
    const twi_world *world = share->grid->world;
    gpu_closure self = {
        .ctx = ctx, .grid = share->grid, .share = share, .pattern = pattern, .seen = seen};
    self.direct = direct;
    self.copier = (twi_messages_copier){&self, pass_on, is_passed_on};
    int sharing = 1;
    tw_status status = twi_world_alike(ctx, world, device, &sharing);
    const int64_t tiles = share->row_count * share->col_count / (share->symmetric ? 2 : 1);
    self.parts = sharing > 1 ? 1 + tiles / TWI_TILES_A_PART : 1;
    if (status == TW_OK) {
        status = open_all(&self, device);
    }
    if (status == TW_OK) {
        status = bring(&self, true);
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = close_there(&self, done, checkpoint);
        status = status == TW_ERR_IO ? status : twi_world_agree(ctx, world, status);
    }
    twi_gpu_rank_close(self.rank);
    if (self.pinned) {
        twi_gpu_rank_unpin(self.memory);
    }
    if (self.share_pinned) {
        twi_gpu_rank_unpin(share->memory);
    }
    twi_free(self.memory);
    return status;
}
