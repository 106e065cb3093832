/*
 * The closure on the CPU. The matrix stays row-major; a pivot's row panel is packed once for all
 * threads, a column panel is packed by the thread that uses it, some rows at a time ("a chunk").
 * The tasks of one round k, with p = k + 1 the next pivot:
 *
 *   head   chunks of p's rows, which take update k first (and, in the symmetric case, p's columns
 *          of every chunk below, since those are p's rows transposed)
 *   close  the tile of p, by whoever finished the last head
 *   panel  p's row panel = closed tile (x) p's rows, by pieces of columns, as soon as p is closed
 *   rest   update k of all other chunks
 *
 * Threads take panels before heads before rest, so the narrow work hides behind the wide one. Nor
 * does a round wait for the one before: a thread that finds nothing left of k goes on with p as
 * soon as p's panel is there, and a chunk takes update p when it has had k. Only p + 1 is closed
 * after all of k is done, since its panel lies where k's was. So the threads meet where a batch of
 * rounds ends, to show progress, and not in between. In the directed case a chunk also forms its
 * own piece of the column panel, Col = Col (x) tile, right before it uses it. In the symmetric case
 * only the lower triangle is kept up to date; the panel is gathered from rows and columns into a
 * buffer of its own, whose transpose is the column panel.
 *
 * Where somebody wants to keep the matrix after round k, nothing of p is done in it: no head, and
 * p is prepared by itself afterwards.
 *
 * Memory besides the matrix: two row panels (2 * block * n), twice more in the symmetric case, the
 * packed tiles of two pivots, and per thread a packed chunk and a packed piece of columns.
 */
#include "apsp/closure/cpu.h"

#include "apsp/closure/closure.h"
#include "apsp/closure/layout.h"
#include "apsp/closure/product.h"
#include "apsp/closure/tile.h"
#include "base/memory.h"
#include "base/threads.h"

#include <string.h>

#define PIECE 512          /* columns of a panel task at most; a multiple of every nr */
#define PIECE_LEAST 64     /* and at least, where there is more than one thread */
#define CHUNK_LEAST 16     /* rows of a task where more would leave threads without one */
#define CHUNKS_A_THREAD 16 /* that there are before a task has TWI_ROWS_AT_ONCE */
#define BATCH 1e9          /* relaxations of a thread between two lines of progress: 0.1 s, about */

/* Pivots are the narrower, the smaller the matrix: a tile is closed by one thread, and its bytes go
 * from core to core while the others have less to do. By n alone, since sums of floats depend on
 * them. On 16 cores of a Xeon 500 vertices took 0.62 ms with 64 and 0.92 with 128, 800 1.4 and 1.8,
 * 1000 2.5 and 2.7, 1100 the same, 1500 7.0 and 6.7; on one to eight cores 1000 take 2 to 3 %
 * longer with 64. 2000 took 21 ms with 128 and 26 with 256 (November 2026). */
#define BLOCK_LARGE 256
#define BLOCK_MIDDLE 128
#define BLOCK_SMALL 64
#define MIDDLE_UP_TO 3000 /* n */
#define SMALL_UP_TO 1000

typedef struct thread_space {
    twi_panel a;   /* a packed chunk, or the rows of a tile being closed */
    twi_panel b;   /* a packed piece of columns */
    int64_t pivot; /* the round it is in */
} thread_space;

/* How far a pivot is: its rows have had the update before it, chunk by chunk; its tile is closed;
 * its panel is formed, piece by piece; all chunks have had its update. */
typedef struct pivot_state {
    _Alignas(TWI_CACHE_LINE) atomic_llong head_next;
    atomic_llong head_done;
    atomic_llong panel_next, panel_done;
    atomic_bool closed;
    _Alignas(TWI_CACHE_LINE) atomic_llong rest_next;
    atomic_llong rest_done;
} pivot_state;

typedef struct cpu_closure {
    tw_context *ctx;
    const twi_minplus_kernel *kernel;
    char *c;
    int64_t n;
    int64_t ld;
    int64_t size; /* bytes of an element */
    int64_t block;
    int64_t chunk; /* rows of a task */
    int64_t piece; /* columns of a panel task */
    int64_t chunks;
    int64_t pieces;
    int64_t padded; /* n rounded up to whole strips */
    int64_t pivots;
    int threads;
    bool symmetric;
    void *memory; /* everything below lies in it */
    thread_space *spaces;
    twi_panel rows[2];        /* the packed row panels of the even and the odd pivots */
    twi_panel tile_rows[2];   /* the closed tile, packed as the left operand */
    twi_panel tile[2];        /* directed: and as the right one */
    char *gathered[2];        /* symmetric: block x padded, row-major: the pivot's rows */
    pivot_state *states;      /* of each pivot */
    atomic_llong *updates;    /* that each chunk has had */
    const twi_keeper *keeper; /* NULL: nobody */
    int64_t reached;          /* rounds that are done */
    int64_t pauses_after;     /* this round, or -1 */
} cpu_closure;

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t twi_work_stride(const twi_minplus_kernel *kernel, int64_t n)
{
    /* An odd number of cache lines: rows that are a power of two apart share their cache sets. */
    int64_t line = TWI_CACHE_LINE / (int64_t)tw_type_size(kernel->type);
    int64_t lines = round_up(round_up(n, kernel->nr), line) / line;
    return (lines + (lines % 2 == 0)) * line;
}

uint64_t twi_work_bytes(const twi_minplus_kernel *kernel, int64_t n)
{
    return (uint64_t)n * (uint64_t)twi_work_stride(kernel, n) * tw_type_size(kernel->type);
}

int32_t twi_block_round(const twi_minplus_kernel *kernel, int64_t n, int64_t block)
{
    int64_t unit = twi_close_unit(kernel);
    int64_t most = least(TWI_DEPTH_MOST, round_up(n > 0 ? n : 1, unit));
    return (int32_t)least(round_up(block, unit), most);
}

int32_t twi_block_choose(const twi_minplus_kernel *kernel, int64_t n)
{
    return twi_block_round(kernel, n,
                           n <= SMALL_UP_TO    ? BLOCK_SMALL
                           : n <= MIDDLE_UP_TO ? BLOCK_MIDDLE
                                               : BLOCK_LARGE);
}

/* ---------------------------------------------------------------------------------- memory */

static void place_all(cpu_closure *self, twi_layout *at)
{
    int64_t most = self->block > PIECE ? self->block : PIECE;
    int64_t unit = twi_close_unit(self->kernel);
    thread_space *spaces = twi_place(at, (uint64_t)self->threads * sizeof *spaces);
    for (int i = 0; i < self->threads; i++) {
        thread_space space;
        twi_place_a(at, &space.a, self->kernel, unit, self->block);
        twi_place_b(at, &space.b, self->kernel, most, self->block);
        if (spaces != NULL) {
            spaces[i] = space;
        }
    }
    self->spaces = spaces;
    self->states = twi_place(at, (uint64_t)self->pivots * sizeof *self->states);
    self->updates = twi_place(at, (uint64_t)self->chunks * sizeof *self->updates);
    for (int i = 0; i < 2; i++) {
        twi_place_b(at, &self->rows[i], self->kernel, self->padded, self->block);
        twi_place_a(at, &self->tile_rows[i], self->kernel, self->block, self->block);
        if (self->symmetric) {
            self->gathered[i] =
                twi_place(at, (uint64_t)(self->block * self->padded) * (uint64_t)self->size);
        } else {
            twi_place_b(at, &self->tile[i], self->kernel, self->block, self->block);
        }
    }
}

/* Rows of a task: the fewer, the more of the packed panel passes by for each. */
static int64_t chunk_rows(int64_t n, int threads)
{
    int64_t rows = TWI_ROWS_AT_ONCE;
    for (int64_t tasks = CHUNKS_A_THREAD; rows > CHUNK_LEAST && n < rows * tasks * threads;
         tasks /= 2) {
        rows /= 2;
    }
    return rows;
}

/* Columns of a task of the panel: two tasks a thread. */
static int64_t piece_columns(const twi_minplus_kernel *kernel, int64_t padded, int threads)
{
    int64_t columns = threads > 1 ? padded / (2 * threads) : PIECE;
    columns = columns > PIECE_LEAST ? columns : PIECE_LEAST;
    return least(PIECE, round_up(columns, kernel->nr));
}

int64_t twi_cpu_closure_tasks(const twi_minplus_kernel *kernel, int64_t n, int threads)
{
    const int64_t chunk = chunk_rows(n, threads), padded = round_up(n, kernel->nr);
    const int64_t piece = piece_columns(kernel, padded, threads);
    const int64_t chunks = (n + chunk - 1) / chunk, pieces = (padded + piece - 1) / piece;
    return n <= twi_close_unit(kernel) ? 1 : chunks > pieces ? chunks : pieces;
}

static cpu_closure describe(const twi_minplus_kernel *kernel, int64_t n, int32_t block, int threads,
                            bool symmetric)
{
    cpu_closure self = {
        .kernel = kernel,
        .n = n,
        .size = (int64_t)tw_type_size(kernel->type),
        .block = block,
        .chunk = chunk_rows(n, threads),
        .padded = round_up(n, kernel->nr),
        .pivots = (n + block - 1) / block,
        .threads = threads,
        .symmetric = symmetric,
        .pauses_after = -1,
    };
    self.chunks = (n + self.chunk - 1) / self.chunk;
    self.piece = piece_columns(kernel, self.padded, threads);
    self.pieces = (self.padded + self.piece - 1) / self.piece;
    return self;
}

uint64_t twi_cpu_closure_memory(const twi_minplus_kernel *kernel, int64_t n, int32_t block,
                                int threads, bool symmetric)
{
    cpu_closure self = describe(kernel, n, block, threads, symmetric);
    twi_layout at = {NULL, 0};
    place_all(&self, &at);
    return at.used;
}

/* ------------------------------------------------------------------------------ small parts */

static char *element(const cpu_closure *self, int64_t row, int64_t col)
{
    return self->c + (row * self->ld + col) * self->size;
}

static int64_t pivot_begin(const cpu_closure *self, int64_t pivot)
{
    return pivot * self->block;
}

static int64_t pivot_width(const cpu_closure *self, int64_t pivot)
{
    return least(self->block, self->n - pivot * self->block);
}

/* Copy a rows x cols block. */
static void copy_block(const cpu_closure *self, char *out, int64_t ld_out, const char *src,
                       int64_t ld_src, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        memcpy(out + i * ld_out * self->size, src + i * ld_src * self->size,
               (size_t)(cols * self->size));
    }
}

/* Fill the upper triangle of a square block of C from its lower one. */
static void mirror_square(const cpu_closure *self, int64_t at, int64_t size)
{
    for (int64_t i = 0; i < size; i += TWI_CLOSE_BLOCK) {
        int64_t rows = least(TWI_CLOSE_BLOCK, size - i);
        char *low = element(self, at + i, at);
        for (int64_t j = 0; j < i; j += TWI_CLOSE_BLOCK) {
            self->kernel->transpose(element(self, at + j, at + i), self->ld, low + j * self->size,
                                    self->ld, rows, TWI_CLOSE_BLOCK);
        }
        for (int64_t r = 0; r < rows; r++) {
            for (int64_t s = 0; s < r; s++) {
                memcpy(element(self, at + i + s, at + i + r), element(self, at + i + r, at + i + s),
                       (size_t)self->size);
            }
        }
    }
}

static void close_pivot(cpu_closure *self, thread_space *space, int64_t pivot)
{
    int64_t at = pivot_begin(self, pivot);
    int64_t width = pivot_width(self, pivot);
    if (self->symmetric) {
        mirror_square(self, at, width);
    }
    twi_close_tile(self->kernel, &space->a, &space->b, element(self, at, at), self->ld, width,
                   round_up(width, self->kernel->nr));
    const char *tile = element(self, at, at);
    (void)twi_pack_a(self->kernel, &self->tile_rows[pivot % 2], width, width, tile, self->ld, 1);
    if (!self->symmetric) {
        twi_pack_b(self->kernel, &self->tile[pivot % 2], 0, width, width, tile, self->ld);
    }
}

/* ------------------------------------------------------------------------------ panel tasks */

/* The pivot's rows, columns begin ... end-1, into the gathered panel: left of the tile (and the
 * tile itself) they are rows of C, right of it columns. */
static void gather(const cpu_closure *self, int64_t pivot, int64_t begin, int64_t end)
{
    int64_t at = pivot_begin(self, pivot);
    int64_t width = pivot_width(self, pivot);
    int64_t turn = at + width;
    char *panel = self->gathered[pivot % 2];
    if (begin < turn) {
        copy_block(self, panel + begin * self->size, self->padded, element(self, at, begin),
                   self->ld, width, least(end, turn) - begin);
    }
    int64_t from = begin > turn ? begin : turn;
    int64_t to = least(end, self->n);
    if (from < to) {
        self->kernel->transpose(panel + from * self->size, self->padded, element(self, from, at),
                                self->ld, to - from, width);
    }
    if (end > self->n) { /* the padding of the last strip: as C's, infinite */
        int64_t pad = self->n > begin ? self->n : begin;
        copy_block(self, panel + pad * self->size, self->padded, element(self, at, pad), self->ld,
                   width, end - pad);
    }
}

/* One piece of a row panel: multiply by the closed tile from the left, pack. */
static void form_panel_piece(cpu_closure *self, thread_space *space, int64_t pivot, int64_t piece)
{
    const twi_minplus_kernel *kernel = self->kernel;
    int64_t at = pivot_begin(self, pivot);
    int64_t width = pivot_width(self, pivot);
    int64_t begin = piece * self->piece;
    int64_t end = least(begin + self->piece, self->padded);
    char *rows = element(self, at, begin);
    int64_t ld = self->ld;
    if (self->symmetric) {
        gather(self, pivot, begin, end);
        rows = self->gathered[pivot % 2] + begin * self->size;
        ld = self->padded;
    }
    twi_pack_b(kernel, &space->b, 0, end - begin, width, rows, ld);
    /* The tile's own columns are closed already, and other pieces read them. */
    const twi_panel *tile = &self->tile_rows[pivot % 2];
    int64_t left = least(end, at) - begin;
    int64_t skip = round_up(at + width, kernel->nr);
    int64_t right = begin > skip ? begin : skip;
    if (left > 0) {
        twi_product(kernel, tile, width, &space->b, 0, left, rows, ld, TWI_NO_DIAGONAL);
    }
    if (right < end) {
        twi_product(kernel, tile, width, &space->b, right - begin, end - right,
                    rows + (right - begin) * self->size, ld, TWI_NO_DIAGONAL);
    }
    twi_pack_b(kernel, &self->rows[pivot % 2], begin, end - begin, width, rows, ld);
    if (self->symmetric && begin < at) {
        copy_block(self, element(self, at, begin), self->ld, rows, ld, width,
                   least(end, at) - begin);
    }
}

/* ----------------------------------------------------------------------------- update tasks */

/* Columns begin ... end-1 (whole strips) of a packed chunk that starts at row `row`. */
static void update_columns(const cpu_closure *self, const thread_space *space, int64_t row,
                           int64_t rows, int64_t begin, int64_t end)
{
    if (begin < end) {
        twi_product(self->kernel, &space->a, rows, &self->rows[space->pivot % 2], begin,
                    end - begin, element(self, row, begin), self->ld,
                    self->symmetric ? row : TWI_NO_DIAGONAL);
    }
}

/* Columns 0 ... end-1 of a packed chunk except the pivot's own and, with `skip_next`, the next
 * pivot's. */
static void update_most(const cpu_closure *self, const thread_space *space, int64_t row,
                        int64_t rows, int64_t end, bool skip_next)
{
    int64_t nr = self->kernel->nr;
    int64_t pivot = pivot_begin(self, space->pivot);
    /* Up, past the padding of the last pivot: its own columns are final, and another product could
     * lower a rounded sum in as many of them as a strip is wide. */
    int64_t after = round_up(pivot + pivot_width(self, space->pivot), nr);
    int64_t next = skip_next ? pivot_begin(self, space->pivot + 1) : after;
    int64_t next_end = skip_next ? round_up(next + pivot_width(self, space->pivot + 1), nr) : after;
    update_columns(self, space, row, rows, 0, least(end, pivot));
    update_columns(self, space, row, rows, after, least(end, next));
    update_columns(self, space, row, rows, next_end, end);
}

static void directed_chunk(cpu_closure *self, thread_space *space, int64_t row)
{
    int64_t at = pivot_begin(self, space->pivot);
    int64_t width = pivot_width(self, space->pivot);
    int64_t rows = least(self->chunk, self->n - row);
    char *col = element(self, row, at);
    if (!twi_pack_a(self->kernel, &space->a, rows, width, col, self->ld, 1)) {
        return;
    }
    twi_product(self->kernel, &space->a, rows, &self->tile[space->pivot % 2], 0, width, col,
                self->ld, TWI_NO_DIAGONAL);
    (void)twi_pack_a(self->kernel, &space->a, rows, width, col, self->ld, 1);
    update_most(self, space, row, rows, self->padded, false);
}

/* The columns of the next pivot alone, for a chunk below it. */
static void symmetric_next_columns(cpu_closure *self, thread_space *space, int64_t row)
{
    int64_t width = pivot_width(self, space->pivot);
    int64_t rows = least(self->chunk, self->n - row);
    const char *col = self->gathered[space->pivot % 2] + row * self->size;
    int64_t next = pivot_begin(self, space->pivot + 1);
    int64_t next_end = round_up(next + pivot_width(self, space->pivot + 1), self->kernel->nr);
    if (twi_pack_a(self->kernel, &space->a, rows, width, col, 1, self->padded)) {
        update_columns(self, space, row, rows, next, next_end);
    }
}

/* Whether the next pivot's rows are updated before the rest. */
static bool has_head(const cpu_closure *self, int64_t pivot)
{
    return pivot + 1 < self->pivots && pivot != self->pauses_after;
}

static void symmetric_chunk(cpu_closure *self, thread_space *space, int64_t row)
{
    int64_t at = pivot_begin(self, space->pivot);
    int64_t width = pivot_width(self, space->pivot);
    int64_t rows = least(self->chunk, self->n - row);
    const char *col = self->gathered[space->pivot % 2] + row * self->size;
    if (row > at) {
        self->kernel->transpose(element(self, row, at), self->ld, col, self->padded, width, rows);
    }
    if (!twi_pack_a(self->kernel, &space->a, rows, width, col, 1, self->padded)) {
        return;
    }
    int64_t next = space->pivot + 1;
    bool below_next = has_head(self, space->pivot) && row >= pivot_begin(self, next) + self->block;
    int64_t end = least(self->padded, round_up(row + rows, self->kernel->nr));
    update_most(self, space, row, rows, end, below_next);
}

static void update_chunk(cpu_closure *self, thread_space *space, int64_t row)
{
    if (self->symmetric) {
        symmetric_chunk(self, space, row);
    } else {
        directed_chunk(self, space, row);
    }
}

/* -------------------------------------------------------------------------------- the round */

/* Wait until `count` has reached `enough`: for others, who are at it. */
static void await(atomic_llong *count, int64_t enough)
{
    for (int turn = 0; atomic_load_explicit(count, memory_order_acquire) < enough; turn++) {
        twi_wait_a_moment(turn);
    }
}

/* Chunks of the next pivot's rows; in the symmetric case then the chunks below it. */
static int64_t head_tasks(const cpu_closure *self, int64_t pivot)
{
    int64_t at = pivot_begin(self, pivot + 1);
    int64_t rows = self->symmetric ? self->n - at : pivot_width(self, pivot + 1);
    return has_head(self, pivot) ? (rows + self->chunk - 1) / self->chunk : 0;
}

static void head_task(cpu_closure *self, thread_space *space, int64_t task, bool stop)
{
    int64_t row = pivot_begin(self, space->pivot + 1) + task * self->chunk;
    atomic_llong *updates = &self->updates[row / self->chunk];
    bool own = task * self->chunk < self->block;
    await(updates, space->pivot);
    if (!stop && own) {
        update_chunk(self, space, row);
    } else if (!stop) {
        symmetric_next_columns(self, space, row);
    }
    if (own) {
        atomic_store_explicit(updates, space->pivot + 1, memory_order_release);
    }
}

/* All chunks, the last (in the symmetric case the longest) first; those of the pivot have what they
 * need, and those of the next pivot are its heads. */
static void rest_task(cpu_closure *self, thread_space *space, int64_t task, bool stop)
{
    int64_t chunk = self->chunks - 1 - task;
    int64_t row = chunk * self->chunk;
    int64_t owner = row / self->block;
    if (owner == space->pivot + 1 && has_head(self, space->pivot)) {
        return;
    }
    await(&self->updates[chunk], space->pivot);
    if (!stop && owner != space->pivot) {
        update_chunk(self, space, row);
    }
    atomic_store_explicit(&self->updates[chunk], space->pivot + 1, memory_order_release);
}

/* The tile of the next pivot. The panel that it leaves the packed tile and the rows in was that of
 * the pivot before this one. */
static void close_next(cpu_closure *self, thread_space *space, bool stop)
{
    if (space->pivot > 0) {
        await(&self->states[space->pivot - 1].rest_done, self->chunks);
    }
    if (!stop) {
        close_pivot(self, space, space->pivot + 1);
    }
    atomic_store_explicit(&self->states[space->pivot + 1].closed, true, memory_order_release);
}

/* One thread's share of a round: panels before heads before rest. */
static void work_on_round(cpu_closure *self, thread_space *space)
{
    const bool goes_on = has_head(self, space->pivot);
    const int64_t heads = head_tasks(self, space->pivot);
    const int64_t pieces = goes_on ? self->pieces : 0;
    pivot_state *now = &self->states[space->pivot];
    pivot_state *next = goes_on ? now + 1 : now;
    await(&now->panel_done, self->pieces);
    for (int turn = 0;;) {
        bool closed = !goes_on || atomic_load_explicit(&next->closed, memory_order_acquire);
        bool stop = twi_is_cancelled(self->ctx);
        int64_t task;
        if (goes_on && closed && (task = atomic_fetch_add(&next->panel_next, 1)) < pieces) {
            if (!stop) {
                form_panel_piece(self, space, space->pivot + 1, task);
            }
            atomic_fetch_add(&next->panel_done, 1);
        } else if (goes_on && (task = atomic_fetch_add(&next->head_next, 1)) < heads) {
            head_task(self, space, task, stop);
            if (atomic_fetch_add(&next->head_done, 1) + 1 == heads) {
                close_next(self, space, stop);
            }
        } else if ((task = atomic_fetch_add(&now->rest_next, 1)) < self->chunks) {
            rest_task(self, space, task, stop);
            atomic_fetch_add(&now->rest_done, 1);
        } else if (closed) {
            return;
        } else {
            twi_wait_a_moment(turn++); /* somebody closes the next tile; its panel may need us */
        }
    }
}

/* With nothing else going on. */
static tw_status prepare(void *self_, int64_t pivot)
{
    cpu_closure *self = self_;
    pivot_state *state = &self->states[pivot];
    close_pivot(self, &self->spaces[0], pivot);
#pragma omp parallel for num_threads(twi_team(self->threads)) schedule(dynamic)
    for (int64_t piece = 0; piece < self->pieces; piece++) {
        form_panel_piece(self, &self->spaces[twi_thread_id()], pivot, piece);
    }
    for (int64_t i = 0; i < self->chunks; i++) {
        atomic_store(&self->updates[i], pivot);
    }
    for (int64_t before = 0; before < pivot; before++) { /* by an earlier run */
        atomic_store(&self->states[before].rest_done, self->chunks);
    }
    atomic_store(&state->closed, true);
    atomic_store(&state->panel_done, self->pieces);
    self->reached = pivot;
    return TW_OK;
}

/* Rounds from `pivot` on, if they have not been part of a batch before. */
static tw_status advance(void *self_, int64_t pivot)
{
    cpu_closure *self = self_;
    if (pivot < self->reached) {
        return TW_OK;
    }
    double round = (double)self->n * (double)self->n * (double)self->block;
    int64_t end = least(self->pivots, pivot + 1 + (int64_t)(BATCH * self->threads / round));
    end = self->pauses_after == pivot ? pivot + 1 : end;
#pragma omp parallel num_threads(twi_team(self->threads))
    {
        thread_space *space = &self->spaces[twi_thread_id()];
        for (space->pivot = pivot; space->pivot < end; space->pivot++) {
            work_on_round(self, space);
        }
    }
    self->reached = end;
    return TW_OK;
}

static bool pause_after(void *self_, int64_t pivot)
{
    cpu_closure *self = self_;
    const bool due =
        pivot >= self->reached && self->keeper != NULL && self->keeper->due(self->keeper->self);
    self->pauses_after = due ? pivot : -1;
    return due;
}

static tw_status keep(void *self_, int64_t pivots)
{
    cpu_closure *self = self_;
    self->pauses_after = -1;
    return self->keeper->keep(self->keeper->self, pivots * self->block);
}

static const twi_closure_ops cpu_ops = {
    .prepare = prepare, .advance = advance, .pause = pause_after, .keep = keep};

/* The upper triangle from the lower one, by square blocks. */
static void mirror_all(cpu_closure *self)
{
    int64_t side = self->block;
    int64_t blocks = self->pivots;
#pragma omp parallel for num_threads(twi_team(self->threads)) schedule(dynamic)
    for (int64_t i = 0; i < blocks; i++) {
        int64_t row = i * side;
        int64_t rows = least(side, self->n - row);
        if (twi_is_cancelled(self->ctx)) {
            continue;
        }
        for (int64_t j = 0; j < i; j++) {
            self->kernel->transpose(element(self, j * side, row), self->ld,
                                    element(self, row, j * side), self->ld, rows, side);
        }
        mirror_square(self, row, rows);
    }
}

/* A matrix that is one tile: no panel, no memory, no team. Half of it is not worth its mirror where
 * it has no two strips to leave columns out. */
static tw_status close_alone(tw_context *ctx, const twi_work *work, bool symmetric)
{
    const twi_minplus_kernel *kernel = work->kernel;
    double n = (double)work->n;
    twi_progress(ctx, "closing", 0, n * n * n, "relaxations");
    if (symmetric && kernel->close_half != NULL && work->n <= TWI_CLOSE_HALF &&
        work->n >= 2 * kernel->nr) {
        kernel->close_half(work->data, work->ld, work->n);
    } else {
        kernel->close(work->data, work->ld, work->n, work->ld, work->n);
    }
    twi_progress(ctx, "closing", n * n * n, n * n * n, "relaxations");
    return twi_check_cancel(ctx);
}

tw_status twi_cpu_closure(tw_context *ctx, const twi_work *work, int32_t block, int threads,
                          bool symmetric)
{
    return twi_cpu_closure_from(ctx, work, block, threads, symmetric, 0, NULL);
}

tw_status twi_cpu_closure_from(tw_context *ctx, const twi_work *work, int32_t block, int threads,
                               bool symmetric, int64_t done, const twi_keeper *keeper)
{
    if (done == 0 && work->n <= twi_close_unit(work->kernel)) {
        return close_alone(ctx, work, symmetric);
    }
    cpu_closure self = describe(work->kernel, work->n, block, threads, symmetric);
    twi_layout at = {NULL, 0};
    place_all(&self, &at);
    tw_status status = twi_alloc(ctx, &self.memory, at.used, 1, "the panels of the closure");
    if (status != TW_OK) {
        return status;
    }
    at = (twi_layout){self.memory, 0};
    place_all(&self, &at);
    memset(self.states, 0, (size_t)self.pivots * sizeof *self.states);
    memset(self.updates, 0, (size_t)self.chunks * sizeof *self.updates);
    self.ctx = ctx;
    self.c = work->data;
    self.ld = work->ld;
    self.keeper = keeper;
    double n = (double)work->n;
    status = twi_closure_drive(ctx, &cpu_ops, &self, twi_first_pivot(work->n, block, done),
                               self.pivots, n * n * n);
    if (status == TW_OK && symmetric) {
        mirror_all(&self);
        status = twi_check_cancel(ctx);
    }
    twi_free(self.memory);
    return status;
}
