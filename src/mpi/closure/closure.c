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
 * Memory besides the tiles: raw panels of two pivots, Row[] of one of them packed, and per thread a
 * packed chunk and a packed tile.
 */
#include "mpi/closure/closure.h"

#include "apsp/closure/closure.h"
#include "apsp/closure/product.h"
#include "apsp/closure/tile.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "mpi/closure/messages.h"

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
    int64_t chunk;  /* rows of a task */
    int64_t chunks; /* of a tile */
    void *memory;   /* everything below lies in it */
    thread_space *spaces;
    twi_panel *rows;  /* Row[] of the pivot of this round, packed */
    twi_panel tile_b; /* the closed tile of the next pivot, packed */
    twi_messages messages;
    twi_questions questions;

    /* The state of one round. */
    int64_t pivot, next; /* next -1: there is none */
    int64_t head_count, panel_count, rest_count;
    atomic_llong head_next, head_done, panel_next, panel_done, rest_next;
    atomic_bool tile_closed; /* here */
    atomic_bool panel_open;
} mpi_closure;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---------------------------------------------------------------------------------- memory */

static void place_all(mpi_closure *self, twi_layout *at)
{
    const twi_share *share = self->share;
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
    twi_messages_place_lists(&self->messages, at);
    twi_messages_place_data(&self->messages, at);
    twi_panel *rows = twi_place(at, (uint64_t)share->col_count * sizeof *rows);
    for (int64_t j = 0; j < share->col_count; j++) {
        twi_panel packed = {0};
        twi_place_b(at, &packed, self->kernel,
                    twi_tile_size(self->grid, twi_col_tile(self->grid, j)), block);
        if (rows != NULL) {
            rows[j] = packed;
        }
    }
    self->rows = rows;
    twi_place_b(at, &self->tile_b, self->kernel, block, block);
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
                        .chunk = twi_mpi_closure_chunk(share->row_count * grid->block, threads)};
    self.chunks = (grid->block + self.chunk - 1) / self.chunk;
    self.messages = twi_messages_describe(share);
    return self;
}

uint64_t twi_mpi_closure_memory(const twi_share *share, int threads)
{
    mpi_closure self = describe(share, threads);
    twi_layout at = {NULL, 0};
    place_all(&self, &at);
    return at.used;
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

/* Rows of tile `own` of this rank's rows that a task beginning at `row` has; 0: none. */
static int64_t task_rows(const mpi_closure *self, int64_t own, int64_t row)
{
    const int64_t height = twi_tile_size(self->grid, twi_row_tile(self->grid, own));
    return row < height ? least(self->chunk, height - row) : 0;
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
    const int64_t own = self->next / self->grid->rows;
    const int64_t ld = self->share->rows[own].ld, depth = depth_of(self, self->next);
    char *c = twi_share_tile(self->share, own, self->next / self->grid->cols);
    twi_close_tile(self->kernel, &space->a, &space->b, c, ld, depth, depth);
    copy_block(self, twi_messages_tile(&self->messages), depth, c, ld, depth, depth);
}

/* ------------------------------------------------------------------------------ panel tasks */

/* `rows` = min(rows, tile (x) rows) in place, for `cols` columns. */
static void multiply_by_tile(const mpi_closure *self, thread_space *space, char *rows, int64_t ld,
                             int64_t cols)
{
    const int64_t depth = depth_of(self, self->next), size = self->share->size;
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
    const twi_side *side = &panels_of(self, self->next)->row;
    const int64_t row = self->next / self->grid->rows, ld = self->share->rows[row].ld;
    const int64_t j = twi_col_tile(self->grid, own);
    const int64_t width = twi_tile_size(self->grid, j);
    if (side->at[own] < 0 || (self->share->symmetric && j > self->next)) {
        return;
    }
    char *c = twi_share_tile(self->share, row, own);
    multiply_by_tile(self, space, c, ld, width);
    copy_block(self, side->data + side->at[own], width, c, ld, depth_of(self, self->next), width);
}

/* Some rows of Col[I] from tile (I, p), which lies here: Col = Col (x) tile. */
static void form_col(mpi_closure *self, thread_space *space, int64_t own, int64_t row)
{
    const twi_side *side = &panels_of(self, self->next)->col;
    const int64_t ld = self->share->rows[own].ld, size = self->share->size;
    const int64_t depth = depth_of(self, self->next), rows = task_rows(self, own, row);
    if (side->at[own] < 0 || rows == 0) {
        return;
    }
    char *c = twi_share_tile(self->share, own, self->next / self->grid->cols) + row * ld * size;
    if (twi_pack_a(self->kernel, &space->a, rows, depth, c, ld, 1)) {
        twi_product(self->kernel, &space->a, rows, &self->tile_b, 0, depth, c, ld, TWI_NO_DIAGONAL);
    }
    copy_block(self, side->data + side->at[own] + row * depth * size, depth, c, ld, rows, depth);
}

/* The same of a symmetric matrix: Row[I] = tile (x) (I, p) transposed, and back. */
static void form_col_transposed(mpi_closure *self, thread_space *space, int64_t own)
{
    const twi_side *side = &panels_of(self, self->next)->col;
    const int64_t i = twi_row_tile(self->grid, own), ld = self->share->rows[own].ld;
    const int64_t height = twi_tile_size(self->grid, i), depth = depth_of(self, self->next);
    if (side->at[own] < 0 || i < self->next) {
        return;
    }
    char *c = twi_share_tile(self->share, own, self->next / self->grid->cols);
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
    const int64_t own = (task - in_row) / self->chunks, chunk = (task - in_row) % self->chunks;
    if (!self->share->symmetric) {
        form_col(self, space, own, chunk * self->chunk);
    } else if (chunk == 0) {
        form_col_transposed(self, space, own);
    }
}

/* ----------------------------------------------------------------------------- update tasks */

/* Update a chunk of this rank's row `own` in tiles begin ... end-1 of it, but not in the pivot's
 * nor in tile `skip` (of the matrix; -1: none). */
static void update(mpi_closure *self, thread_space *space, int64_t own, int64_t row, int64_t begin,
                   int64_t end, int64_t skip)
{
    const twi_panels *panels = panels_of(self, self->pivot);
    const twi_strip_row *strip = &self->share->rows[own];
    const int64_t depth = depth_of(self, self->pivot), size = self->share->size;
    const int64_t height = twi_tile_size(self->grid, twi_row_tile(self->grid, own));
    const int64_t rows = task_rows(self, own, row);
    if (rows == 0 || panels->col.at[own] < 0) {
        return;
    }
    const char *col = panels->col.data + panels->col.at[own];
    const bool finite =
        self->share->symmetric
            ? twi_pack_a(self->kernel, &space->a, rows, depth, col + row * size, 1, height)
            : twi_pack_a(self->kernel, &space->a, rows, depth, col + row * depth * size, depth, 1);
    for (int64_t at = begin; at < end && finite; at++) {
        const int64_t j = twi_col_tile(self->grid, at);
        if (panels->row.at[at] < 0 || j == skip) {
            continue;
        }
        twi_product(self->kernel, &space->a, rows, &self->rows[at], 0, twi_tile_size(self->grid, j),
                    twi_share_tile(self->share, own, at) + row * strip->ld * size, strip->ld,
                    TWI_NO_DIAGONAL);
    }
}

/* Chunks of the next pivot's row of tiles, then those of its column in every other row. */
static void head_task(mpi_closure *self, thread_space *space, int64_t task)
{
    const int64_t in_row = self->messages.in_row ? self->chunks : 0;
    if (task < in_row) {
        const int64_t own = self->next / self->grid->rows;
        update(self, space, own, task * self->chunk, 0, self->share->rows[own].tiles, -1);
        return;
    }
    const int64_t own = (task - in_row) / self->chunks;
    const int64_t row = (task - in_row) % self->chunks * self->chunk;
    const int64_t at = self->next / self->grid->cols;
    if (twi_row_tile(self->grid, own) != self->next && at < self->share->rows[own].tiles) {
        update(self, space, own, row, at, at + 1, -1);
    }
}

static void rest_task(mpi_closure *self, thread_space *space, int64_t task)
{
    const int64_t last = self->rest_count - 1 - task; /* the longest rows first */
    const int64_t own = last / self->chunks, row = last % self->chunks * self->chunk;
    if (twi_row_tile(self->grid, own) != self->next) {
        update(self, space, own, row, 0, self->share->rows[own].tiles, self->next);
    }
}

/* -------------------------------------------------------------------------------- messages */

static void open_panels(mpi_closure *self)
{
    const int64_t depth = depth_of(self, self->next);
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
    if (self->next < 0 || messages->broken) {
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
    if ((task = atomic_fetch_add(&self->rest_next, 1)) < self->rest_count) {
        if (!stop) {
            rest_task(self, space, task);
        }
        return true;
    }
    return false;
}

/* Whether another thread may still open tasks for this one. */
static bool more_may_come(mpi_closure *self)
{
    return self->panel_count > 0 && atomic_load(&self->panel_next) < self->panel_count;
}

/* One thread's share of a round. */
static void work_on_round(mpi_closure *self, thread_space *space, bool talks)
{
    double idle = 0;
    for (;;) {
        if (talks) {
            attend(self);
        }
        const bool worked = work(self, space);
        if (worked) {
            if (idle > 0) {
                self->seen->seconds_wait += twi_seconds() - idle;
                idle = 0;
            }
            continue;
        }
        const bool over = atomic_load(&self->panel_done) >= self->panel_count;
        if (talks ? over && twi_messages_done(&self->messages) : !more_may_come(self)) {
            break;
        }
        idle = talks && idle == 0 ? twi_seconds() : idle;
        sched_yield(); /* a tile or a panel is on its way */
    }
    if (idle > 0) {
        self->seen->seconds_wait += twi_seconds() - idle;
    }
}

static void pack_row(mpi_closure *self, int64_t own)
{
    const twi_side *side = &panels_of(self, self->pivot)->row;
    const int64_t width = twi_tile_size(self->grid, twi_col_tile(self->grid, own));
    if (side->at[own] >= 0) {
        twi_pack_b(self->kernel, &self->rows[own], 0, width, depth_of(self, self->pivot),
                   side->data + side->at[own], width);
    }
}

static void count_tasks(mpi_closure *self)
{
    const bool updates = self->pivot >= 0;
    const int64_t rows = self->share->row_count * self->chunks;
    self->rest_count = updates ? rows : 0;
    self->head_count =
        updates ? (self->messages.in_row ? self->chunks : 0) + (self->messages.in_col ? rows : 0)
                : 0;
    self->panel_count =
        (self->messages.in_row ? self->share->col_count : 0) + (self->messages.in_col ? rows : 0);
}

/* Update with `pivot` (-1: none) and bring the panels of `next` (-1: none) to everybody. */
static tw_status run_round(mpi_closure *self, int64_t pivot, int64_t next)
{
    self->pivot = pivot;
    self->next = next;
    atomic_store(&self->head_next, 0);
    atomic_store(&self->head_done, 0);
    atomic_store(&self->panel_next, 0);
    atomic_store(&self->panel_done, 0);
    atomic_store(&self->rest_next, 0);
    atomic_store(&self->panel_open, false);
    atomic_store(&self->tile_closed, false);
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

static tw_status check(void *self_)
{
    mpi_closure *self = self_;
    return twi_questions_check(&self->questions, self->pivot);
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
    twi_layout at = {NULL, 0};
    place_all(&self, &at);
    tw_status status = twi_alloc(ctx, &self.memory, at.used, 1, "the panels of the closure");
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        at = (twi_layout){self.memory, 0};
        place_all(&self, &at);
        self.ctx = ctx;
        self.pattern = pattern;
        self.seen = seen;
        const int64_t first = twi_first_pivot(share->grid->n, share->grid->block, done);
        self.questions = twi_questions_begin(ctx, world, checkpoint, first);
        const double n = (double)share->grid->n;
        status = twi_closure_drive(ctx, &mpi_ops, &self, first, share->grid->tiles, n * n * n);
        const tw_status last = twi_questions_end(&self.questions);
        status = status == TW_OK ? last : status;
        if (status == TW_OK) { /* since the last question */
            status = twi_check_cancel(ctx);
        }
    }
    twi_free(self.memory);
    return status == TW_ERR_IO ? status : twi_world_agree(ctx, world, status);
}
