/*
 * The closure over ranks: see closure.h. The driver is that of every closure (closure/closure.h).
 * While all tiles take the update with pivot k, the panels of p = k + 1 are made and sent, so that
 * they are there when round p begins. The tasks of a rank in round k:
 *
 *   head   update k of the tiles of row p and of column p that lie here
 *   close  the tile of p, where it lies, by whoever finished the last head there; it is sent to the
 *          ranks of its grid row and column
 *   panel  Row[J] and Col[I] of p, from the tiles that lie here and the closed one, once that has
 *          come; they are sent as soon as all are made
 *   rest   update k of all other tiles
 *
 * Threads take panels before heads before rest. The calling thread, the only one that talks to MPI,
 * looks at the messages between two tasks. Ranks wait for each other only where a panel has not
 * come when the round before it is over.
 *
 * Ranks of one machine that have nothing to do take tasks from each other's rest (help.h): all
 * threads of a rank during its rounds, the calling one between them. Their own messages come first,
 * at which the calling thread looks after every such task.
 *
 * Memory besides the tiles: raw panels of two pivots, Row[] of one of them packed, and per thread a
 * packed chunk and a packed tile. What others need for helping lies in memory that they can map.
 */
#include "mpi/closure/closure.h"

#include "apsp/closure/closure.h"
#include "apsp/closure/product.h"
#include "apsp/closure/tile.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "mpi/closure/help.h"

#include <sched.h>
#include <string.h>

#define CHUNK_SMALL 32 /* rows of a task where those of TWI_ROWS_AT_ONCE would be too few */
#define CHUNKS_A_THREAD 16

typedef struct thread_space {
    twi_panel a; /* a packed chunk, or the rows of a tile being closed */
    twi_panel b; /* a packed tile */
} thread_space;

typedef struct mpi_closure {
    tw_context *ctx;
    const twi_grid *grid;
    const twi_share *share;
    twi_pattern *pattern;
    const twi_minplus_kernel *kernel;
    twi_mpi_seen *seen;
    int threads;
    void *memory;      /* of lists and threads, */
    void *panels;      /*   and of the board, panels and packed rows, */
    twi_common common; /*   which may be this */
    thread_space *spaces;
    twi_panel tile_b; /* the closed tile of the next pivot, packed */
    twi_messages messages;
    twi_questions questions;
    twi_update update;
    twi_board *board;
    twi_help help;

    /* The state of one round. */
    twi_round round;
    int64_t head_count, panel_count;
    atomic_llong head_next, head_done, panel_next, panel_done;
    atomic_llong helped;     /* tasks of other ranks, in all rounds */
    atomic_bool tile_closed; /* here */
    atomic_bool panel_open;
    atomic_bool over; /* the calling thread has seen the end */
} mpi_closure;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---------------------------------------------------------------------------------- memory */

static void place_own(mpi_closure *self, twi_layout *at)
{
    const int64_t block = self->grid->block;
    thread_space *spaces = twi_place(at, (uint64_t)self->threads * sizeof *spaces);
    for (int i = 0; i < self->threads; i++) {
        thread_space space = {0};
        twi_place_a(at, &space.a, self->kernel, twi_close_unit(self->kernel), block);
        twi_place_b(at, &space.b, self->kernel, block, block);
        if (spaces != NULL) {
            spaces[i] = space;
        }
    }
    self->spaces = spaces;
    self->update.rows = twi_place(at, (uint64_t)self->share->col_count * sizeof *self->update.rows);
    twi_place_b(at, &self->tile_b, self->kernel, block, block);
}

static void place_panels(mpi_closure *self, twi_layout *at)
{
    twi_help_place(at, &self->messages, &self->board, self->update.rows);
}

int64_t twi_mpi_closure_chunk(int64_t rows, int threads)
{
    const bool many = rows >= (int64_t)TWI_ROWS_AT_ONCE * CHUNKS_A_THREAD * threads;
    return many ? TWI_ROWS_AT_ONCE : CHUNK_SMALL;
}

static mpi_closure describe(const twi_share *share, int threads)
{
    const twi_grid *grid = share->grid;
    mpi_closure self = {.grid = grid,
                        .share = share,
                        .kernel = share->kernel,
                        .threads = threads,
                        .update = {.share = share}};
    twi_update_divide(&self.update, twi_mpi_closure_chunk(share->row_count * grid->block, threads));
    self.messages = twi_messages_describe(share);
    return self;
}

uint64_t twi_mpi_closure_memory(const twi_share *share, int threads)
{
    mpi_closure self = describe(share, threads);
    twi_layout own = {NULL, 0}, panels = {NULL, 0};
    place_own(&self, &own);
    place_panels(&self, &panels);
    return own.used + panels.used;
}

/* What this rank alone can fail at. */
static tw_status take_memory(tw_context *ctx, mpi_closure *self)
{
    static const char what[] = "the panels of the closure";
    twi_layout own = {NULL, 0}, panels = {NULL, 0};
    place_own(self, &own);
    place_panels(self, &panels);
    tw_status status = twi_alloc(ctx, &self->memory, own.used, 1, what);
    if (status == TW_OK && self->share->machine != NULL) {
        status = twi_common_take(ctx, &self->common, panels.used, self->threads, what);
        self->panels = self->common.memory;
    }
    if (status == TW_OK && self->panels == NULL) {
        status = twi_alloc(ctx, &self->panels, panels.used, 1, what);
    }
    if (status == TW_OK) {
        own = (twi_layout){self->memory, 0};
        panels = (twi_layout){self->panels, 0};
        place_own(self, &own);
        place_panels(self, &panels);
        *self->board = (twi_board){0};
    }
    return status;
}

static void give_back(mpi_closure *self)
{
    twi_help_close(&self->help);
    if (self->common.memory != NULL) {
        twi_common_free(&self->common);
    } else {
        twi_free(self->panels);
    }
    twi_free(self->memory);
}

/* ------------------------------------------------------------------------------ small parts */

static int64_t depth_of(const mpi_closure *self, int64_t pivot)
{
    return twi_tile_size(self->grid, pivot);
}

static const twi_panels *panels_of(const mpi_closure *self, int64_t pivot)
{
    return &self->messages.panels[pivot % 2];
}

static void copy_block(const mpi_closure *self, char *out, int64_t ld_out, const char *src,
                       int64_t ld_src, int64_t rows, int64_t cols)
{
    const int64_t size = self->share->size;
    for (int64_t i = 0; i < rows; i++) {
        memcpy(out + i * ld_out * size, src + i * ld_src * size, (size_t)(cols * size));
    }
}

static void close_next(mpi_closure *self, thread_space *space)
{
    const int64_t own = self->round.next / self->grid->rows;
    const int64_t ld = self->share->rows[own].ld, depth = depth_of(self, self->round.next);
    char *c = twi_share_tile(self->share, own, self->round.next / self->grid->cols);
    twi_close_tile(self->kernel, &space->a, &space->b, c, ld, depth, depth);
    copy_block(self, twi_messages_tile(&self->messages), depth, c, ld, depth, depth);
}

/* ------------------------------------------------------------------------------ panel tasks */

/* `rows` = min(rows, tile (x) rows) in place, for `cols` columns. */
static void multiply_by_tile(const mpi_closure *self, thread_space *space, char *rows, int64_t ld,
                             int64_t cols)
{
    const int64_t depth = depth_of(self, self->round.next), size = self->share->size;
    const char *tile = twi_messages_tile(&self->messages);
    twi_pack_b(self->kernel, &space->b, 0, cols, depth, rows, ld);
    for (int64_t r = 0; r < depth; r += TWI_ROWS_AT_ONCE) {
        const int64_t height = least(TWI_ROWS_AT_ONCE, depth - r);
        (void)twi_pack_a(self->kernel, &space->a, height, depth, tile + r * depth * size, depth, 1);
        twi_product(self->kernel, &space->a, height, &space->b, 0, cols, rows + r * ld * size, ld,
                    TWI_NO_DIAGONAL);
    }
}

/* Row[J] from tile (p, J), which lies here. */
static void form_row(mpi_closure *self, thread_space *space, int64_t own)
{
    const twi_side *side = &panels_of(self, self->round.next)->row;
    const int64_t row = self->round.next / self->grid->rows, ld = self->share->rows[row].ld;
    const int64_t j = twi_col_tile(self->grid, own);
    const int64_t width = twi_tile_size(self->grid, j);
    if (side->at[own] < 0 || (self->share->symmetric && j > self->round.next)) {
        return;
    }
    char *c = twi_share_tile(self->share, row, own);
    multiply_by_tile(self, space, c, ld, width);
    copy_block(self, side->data + side->at[own], width, c, ld, depth_of(self, self->round.next),
               width);
}

/* Some rows of Col[I] from tile (I, p), which lies here: Col = Col (x) tile. */
static void form_col(mpi_closure *self, thread_space *space, int64_t own, int64_t row)
{
    const twi_side *side = &panels_of(self, self->round.next)->col;
    const int64_t ld = self->share->rows[own].ld, size = self->share->size;
    const int64_t depth = depth_of(self, self->round.next),
                  rows = twi_update_height(&self->update, own, row);
    if (side->at[own] < 0 || rows == 0) {
        return;
    }
    char *c =
        twi_share_tile(self->share, own, self->round.next / self->grid->cols) + row * ld * size;
    if (twi_pack_a(self->kernel, &space->a, rows, depth, c, ld, 1)) {
        twi_product(self->kernel, &space->a, rows, &self->tile_b, 0, depth, c, ld, TWI_NO_DIAGONAL);
    }
    copy_block(self, side->data + side->at[own] + row * depth * size, depth, c, ld, rows, depth);
}

/* The same of a symmetric matrix: Row[I] = tile (x) (I, p) transposed, and back. */
static void form_col_transposed(mpi_closure *self, thread_space *space, int64_t own)
{
    const twi_side *side = &panels_of(self, self->round.next)->col;
    const int64_t i = twi_row_tile(self->grid, own), ld = self->share->rows[own].ld;
    const int64_t height = twi_tile_size(self->grid, i), depth = depth_of(self, self->round.next);
    if (side->at[own] < 0 || i < self->round.next) {
        return;
    }
    char *c = twi_share_tile(self->share, own, self->round.next / self->grid->cols);
    char *raw = side->data + side->at[own];
    self->kernel->transpose(raw, height, c, ld, height, depth);
    multiply_by_tile(self, space, raw, height, height);
    self->kernel->transpose(c, ld, raw, height, depth, height);
}

/* Tiles of the row first, then chunks of the column. */
static void panel_task(mpi_closure *self, thread_space *space, int64_t task)
{
    const int64_t in_row = self->messages.in_row ? self->share->col_count : 0;
    if (task < in_row) {
        form_row(self, space, task);
        return;
    }
    const int64_t own = (task - in_row) / self->update.chunks,
                  chunk = (task - in_row) % self->update.chunks;
    if (!self->share->symmetric) {
        form_col(self, space, own, chunk * self->update.chunk);
    } else if (chunk == 0) {
        form_col_transposed(self, space, own);
    }
}

/* ----------------------------------------------------------------------------- update tasks */

/* Chunks of the next pivot's row of tiles, then those of its column in every other row. */
static void head_task(mpi_closure *self, thread_space *space, int64_t task)
{
    const int64_t in_row = self->messages.in_row ? self->update.chunks : 0;
    if (task < in_row) {
        const int64_t own = self->round.next / self->grid->rows;
        twi_update_chunk(&self->update, self->round.pivot, &space->a, own,
                         task * self->update.chunk, 0, self->share->rows[own].tiles, -1);
        return;
    }
    const int64_t own = (task - in_row) / self->update.chunks;
    const int64_t row = (task - in_row) % self->update.chunks * self->update.chunk;
    const int64_t at = self->round.next / self->grid->cols;
    if (twi_row_tile(self->grid, own) != self->round.next && at < self->share->rows[own].tiles) {
        twi_update_chunk(&self->update, self->round.pivot, &space->a, own, row, at, at + 1, -1);
    }
}

/* -------------------------------------------------------------------------------- messages */

static void open_panels(mpi_closure *self)
{
    const int64_t depth = depth_of(self, self->round.next);
    if (self->messages.in_col && !self->share->symmetric) {
        twi_pack_b(self->kernel, &self->tile_b, 0, depth, depth, twi_messages_tile(&self->messages),
                   depth);
    }
    atomic_store_explicit(&self->panel_open, true, memory_order_release);
}

static bool tile_is_here(mpi_closure *self)
{
    return twi_messages_own_tile(&self->messages)
               ? atomic_load_explicit(&self->tile_closed, memory_order_acquire)
               : twi_messages_tile_here(&self->messages);
}

/* The calling thread's look at the messages: whatever can go on does. */
static void attend(mpi_closure *self)
{
    twi_messages *messages = &self->messages;
    if (self->round.next < 0 || messages->broken) {
        return;
    }
    if (twi_messages_own_tile(messages) && tile_is_here(self)) {
        twi_messages_send_tile(messages);
    }
    const bool takes_part = messages->in_row || messages->in_col;
    if (takes_part && !atomic_load_explicit(&self->panel_open, memory_order_relaxed) &&
        tile_is_here(self) && atomic_load(&self->head_done) >= self->head_count) {
        open_panels(self);
    }
    if (takes_part && !messages->panels_sent &&
        atomic_load_explicit(&self->panel_open, memory_order_relaxed) &&
        atomic_load(&self->panel_done) >= self->panel_count) {
        twi_messages_send_panels(messages);
    }
    twi_messages_attend(messages);
    if (messages->broken) {
        atomic_store_explicit(&self->panel_open, true, memory_order_release);
    }
}

/* -------------------------------------------------------------------------------- the round */

/* One task, if there is one: panels before heads before rest. */
static bool work(mpi_closure *self, thread_space *space)
{
    const bool stop = twi_is_cancelled(self->ctx);
    int64_t task;
    if (atomic_load_explicit(&self->panel_open, memory_order_acquire) &&
        (task = atomic_fetch_add(&self->panel_next, 1)) < self->panel_count) {
        if (!stop) {
            panel_task(self, space, task);
        }
        atomic_fetch_add(&self->panel_done, 1);
        return true;
    }
    if ((task = atomic_fetch_add(&self->head_next, 1)) < self->head_count) {
        if (!stop) {
            head_task(self, space, task);
        }
        if (atomic_fetch_add(&self->head_done, 1) + 1 == self->head_count &&
            twi_messages_own_tile(&self->messages)) {
            if (!stop) {
                close_next(self, space);
            }
            atomic_store_explicit(&self->tile_closed, true, memory_order_release);
        }
        return true;
    }
    twi_round round;
    if (twi_board_claim(self->board, &round, &task)) {
        if (!stop) {
            twi_update_rest(&self->update, &round, &space->a, task);
        }
        twi_board_finish(self->board);
        return true;
    }
    return false;
}

/* One task of another rank, if there is one. */
static bool help(mpi_closure *self, thread_space *space)
{
    if (self->help.count == 0 || twi_is_cancelled(self->ctx) ||
        !twi_help_once(&self->help, &space->a)) {
        return false;
    }
    atomic_fetch_add(&self->helped, 1);
    return true;
}

/* The end of a round, for the thread that talks: nothing is to come or to be made, and what others
 * took of our tasks is done. */
static bool is_over(mpi_closure *self)
{
    return atomic_load(&self->panel_done) >= self->panel_count &&
           twi_messages_done(&self->messages) &&
           (self->messages.broken || twi_board_is_done(self->board));
}

/* Whether another thread may still open tasks for this one, or it can help. */
static bool more_may_come(mpi_closure *self)
{
    return (self->panel_count > 0 && atomic_load(&self->panel_next) < self->panel_count) ||
           (self->help.count > 0 && !atomic_load(&self->over));
}

/* Time with nothing to do, of the calling thread. */
static void count_idle(mpi_closure *self, double *since)
{
    if (*since > 0) {
        self->seen->seconds_wait += twi_seconds() - *since;
        *since = 0;
    }
}

/* One thread's share of a round. */
static void work_on_round(mpi_closure *self, thread_space *space, bool talks)
{
    double idle = 0;
    for (;;) {
        if (talks) {
            attend(self);
        }
        if (work(self, space)) {
            count_idle(self, &idle);
            continue;
        }
        if (talks ? is_over(self) : !more_may_come(self)) {
            break;
        }
        if (help(self, space)) {
            count_idle(self, &idle);
            continue;
        }
        idle = talks && idle == 0 ? twi_seconds() : idle;
        sched_yield(); /* a tile or a panel is on its way */
    }
    count_idle(self, &idle);
    if (talks) {
        atomic_store(&self->over, true);
    }
}

static void pack_row(mpi_closure *self, int64_t own)
{
    const twi_side *side = &panels_of(self, self->round.pivot)->row;
    const int64_t width = twi_tile_size(self->grid, twi_col_tile(self->grid, own));
    if (side->at[own] >= 0) {
        twi_pack_b(self->kernel, &self->update.rows[own], 0, width,
                   depth_of(self, self->round.pivot), side->data + side->at[own], width);
    }
}

static void count_tasks(mpi_closure *self)
{
    const bool updates = self->round.pivot >= 0;
    const int64_t rows = self->share->row_count * self->update.chunks;
    self->round.rest_count = updates ? rows : 0;
    self->head_count = updates ? (self->messages.in_row ? self->update.chunks : 0) +
                                     (self->messages.in_col ? rows : 0)
                               : 0;
    self->panel_count =
        (self->messages.in_row ? self->share->col_count : 0) + (self->messages.in_col ? rows : 0);
}

/* Update with `pivot` (-1: none) and bring the panels of `next` (-1: none) to everybody. */
static tw_status run_round(mpi_closure *self, int64_t pivot, int64_t next)
{
    self->round = (twi_round){.pivot = pivot, .next = next};
    atomic_store(&self->head_next, 0);
    atomic_store(&self->head_done, 0);
    atomic_store(&self->panel_next, 0);
    atomic_store(&self->panel_done, 0);
    atomic_store(&self->panel_open, false);
    atomic_store(&self->tile_closed, false);
    atomic_store(&self->over, false);
    if (pivot >= 0) {
        twi_pattern_advance(self->pattern, pivot);
    }
    twi_messages_begin(&self->messages, self->pattern, next, &self->seen->bytes);
    count_tasks(self);
    if (twi_messages_own_tile(&self->messages) && self->head_count == 0) {
        close_next(self, &self->spaces[0]);
        atomic_store(&self->tile_closed, true);
    }
#pragma omp parallel num_threads(twi_team(self->threads))
    {
#pragma omp for schedule(dynamic, 1)
        for (int64_t own = 0; own < (pivot >= 0 ? self->share->col_count : 0); own++) {
            pack_row(self, own);
        }
#pragma omp single
        twi_board_begin(self->board, &self->round); /* others read what is packed */
        work_on_round(self, &self->spaces[twi_thread_id()], twi_thread_id() == 0);
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
    mpi_closure *self = self_;
    tw_status status = twi_questions_ask(&self->questions, pivot, false);
    const bool prepares = pivot + 1 < self->grid->tiles && !self->questions.pauses;
    return status == TW_OK ? run_round(self, pivot, prepares ? pivot + 1 : -1) : status;
}

/* Until the answer has come that `check` takes, or the others of the machine have come to `end`,
 * which is then not MPI_REQUEST_NULL. */
static void help_until(mpi_closure *self, MPI_Request *end)
{
    double idle = 0;
    int come = 0;
    while (self->help.count > 0) {
        if (*end == MPI_REQUEST_NULL) {
            come = twi_questions_answered(&self->questions, self->round.pivot);
        } else if (MPI_Test(end, &come, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            break;
        }
        if (come) {
            break;
        }
        if (help(self, &self->spaces[0])) {
            count_idle(self, &idle);
        } else {
            idle = idle == 0 ? twi_seconds() : idle;
            sched_yield();
        }
    }
    count_idle(self, &idle);
}

static tw_status check(void *self_)
{
    mpi_closure *self = self_;
    MPI_Request none = MPI_REQUEST_NULL;
    help_until(self, &none);
    return twi_questions_check(&self->questions, self->round.pivot);
}

/* Help with the last round until all of the machine have ended it. */
static void end_together(mpi_closure *self)
{
    MPI_Request all = MPI_REQUEST_NULL;
    if (self->help.count > 0 && MPI_Ibarrier(self->share->machine->comm, &all) == MPI_SUCCESS) {
        help_until(self, &all);
    }
}

static bool pause_after(void *self_, int64_t pivot)
{
    mpi_closure *self = self_;
    (void)pivot;
    return twi_questions_pause(&self->questions);
}

static tw_status keep(void *self_, int64_t pivots)
{
    mpi_closure *self = self_;
    self->questions.pauses = false;
    return twi_mpi_checkpoint_keep(self->questions.checkpoint, pivots * self->grid->block);
}

static const twi_closure_ops mpi_ops = {
    .prepare = prepare, .advance = advance, .check = check, .pause = pause_after, .keep = keep};

tw_status twi_mpi_closure(tw_context *ctx, twi_share *share, twi_pattern *pattern, int threads,
                          int64_t done, twi_mpi_checkpoint *checkpoint, twi_mpi_seen *seen)
{
    const twi_world *world = share->grid->world;
    mpi_closure self = describe(share, threads);
    tw_status status = twi_world_agree(ctx, world, take_memory(ctx, &self));
    if (status == TW_OK) {
        if (share->machine != NULL) {
            status = twi_help_open(ctx, &self.help, share, &self.common, self.update.chunk);
        }
        status = twi_world_agree(ctx, world, status);
    }
    if (status == TW_OK) {
        self.ctx = ctx;
        self.pattern = pattern;
        self.seen = seen;
        self.update.panels = self.messages.panels;
        const int64_t first = twi_first_pivot(share->grid->n, share->grid->block, done);
        self.questions = twi_questions_begin(ctx, world, checkpoint, first);
        const double n = (double)share->grid->n;
        status = twi_closure_drive(ctx, &mpi_ops, &self, first, share->grid->tiles, n * n * n);
        if (status != TW_ERR_IO) {
            end_together(&self);
        }
        const tw_status last = twi_questions_end(&self.questions);
        status = status == TW_OK ? last : status;
        if (status == TW_OK) { /* since the last question */
            status = twi_check_cancel(ctx);
        }
        seen->helped += atomic_load(&self.helped);
    }
    give_back(&self);
    return status == TW_ERR_IO ? status : twi_world_agree(ctx, world, status);
}
