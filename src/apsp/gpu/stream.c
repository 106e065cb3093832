/*
 * The closure of a matrix larger than the GPU's memory. The matrix stays in host memory, pinned; a
 * pivot is a whole block of tile rows, and each round streams the matrix through the device once,
 * in strips of full rows. With a block of B rows a strip of h rows takes h n B steps and 2 h n
 * elements of traffic: from B = 2048 on, copies in both directions are shorter than the arithmetic
 * and hide behind it.
 *
 * Round K, with the panel of block K (its closed rows, B x n, packed as a right operand) resident:
 *
 *   in      a strip comes from the host
 *   narrow  its columns of K are multiplied by K's closed square, and packed as the left operand
 *   wide    all its other columns take the product with the panel, of depth B; two streams in turn,
 *           so that one strip's blocks fill the device while the last of another finish
 *   out     the strip goes back
 *
 * The strips of block K + 1 come first. They do not go back but into the other panel; on the stream
 * `pivot` their square is closed by the resident engine and multiplied into the panel, while the
 * other strips of round K go on. The rows of K go back in round K, out of the panel.
 *
 * Of a symmetric matrix only the lower triangle of strips is streamed and computed. The panel then
 * begins with the rows of its block, which end there; the part of each strip below, once it is
 * multiplied, is transposed into the panel, in the order of strips, so that it is there for every
 * product that needs it. For strips above the block the panel itself holds the left operand.
 *
 * Operands have a byte for each tile (gpu/kernels/area.h), so that products leave out tiles without
 * a path. And when a strip goes back the host is told which blocks it has paths to: in the rounds
 * of others it stays where it is.
 *
 * Where somebody wants to keep the matrix after round K, the strips of block K + 1 go back as all
 * others do, and become a panel when it has been kept.
 *
 * With 16 bits on the device the strips are narrowed as they come. On their way back, entries at
 * the cap leave the host's as it was.
 *
 * Device memory: two panels, TWI_SLOTS strips, and a few squares of B x B.
 */
#include "apsp/closure/checkpoint.h"
#include "apsp/closure/closure.h"
#include "apsp/gpu/strips.h"
#include "base/memory.h"

static tw_status check(twi_strips *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

/* Whole tile columns of a panel as a right operand. */
static twi_gpu_packed operand_of(const twi_gpu_area *part)
{
    return (twi_gpu_packed){part->data, part->some};
}

/* Of a symmetric matrix, the left operand of a strip above the block is a part of the panel. */
static tw_status take_left(twi_strips *self, twi_slot *s, int32_t strip, int64_t block)
{
    int32_t depth = twi_strips_block_tiles(self, block);
    int32_t rows = twi_strips_area(self, s, strip, 0, 1).down;
    twi_gpu_area part = twi_strips_panel(self, block, 0, depth, strip * self->cut.strip, rows);
    return check(
        self,
        self->area->spread(s->left, operand_of(&part), (int64_t)rows * depth, 1, self->narrow),
        "starting to copy a part of a panel");
}

/* And what is below the block belongs into the panel, for the strips that follow. */
static tw_status extend_panel(twi_strips *self, const twi_gpu_area *col, int32_t strip,
                              int64_t block)
{
    twi_gpu_area part =
        twi_strips_panel(self, block, 0, col->across, strip * self->cut.strip, col->down);
    return check(self, self->area->transpose(&part, col, self->narrow),
                 "starting to transpose a column");
}

/* The strip's columns of the block: multiplied by its closed square, and packed. */
static tw_status make_left(twi_strips *self, twi_slot *s, int32_t strip, int64_t block)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int32_t depth = twi_strips_block_tiles(self, block);
    int32_t at = twi_strips_first_tile(self, block);
    twi_gpu_area col = twi_strips_area(self, s, strip, at, depth);
    twi_gpu_area own = twi_strips_panel(self, block, 0, depth, at, depth);
    twi_gpu_product product = {
        .c = col,
        .left = s->left,
        .right = operand_of(&own),
        .depth = depth,
    };
    tw_status status = twi_gpu_wait(self->ctx, self->narrow, self->formed[block & 1]);
    if (status == TW_OK && at >= twi_strips_width(self, strip)) {
        return take_left(self, s, strip, block);
    }
    if (status == TW_OK) {
        status = check(self, kernel->pack_left(s->left, &col, self->narrow),
                       "starting to pack a column");
    }
    if (status == TW_OK) {
        status = check(self, kernel->product(&product, self->narrow), "starting to form a panel");
    }
    if (status == TW_OK && self->host->symmetric) {
        status = extend_panel(self, &col, strip, block);
    }
    return status == TW_OK ? check(self, kernel->pack_left(s->left, &col, self->narrow),
                                   "starting to pack a panel")
                           : status;
}

static tw_status multiply(twi_strips *self, twi_slot *s, int32_t strip, int64_t block)
{
    cudaStream_t wide = self->wide[self->turn & 1];
    int32_t width = twi_strips_width(self, strip);
    int32_t at = twi_strips_first_tile(self, block);
    twi_gpu_product product = {
        .c = twi_strips_area(self, s, strip, 0, width),
        .left = s->left,
        .right = self->panel[block & 1],
        .depth = twi_strips_block_tiles(self, block),
        .skip_across = at,
        .skip_across_count = at < width ? twi_strips_block_tiles(self, block) : 0,
    };
    tw_status status = twi_gpu_wait(self->ctx, wide, s->ready);
    if (status == TW_OK) {
        status = check(self, self->area->product(&product, wide), "starting an update");
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, s->computed, wide) : status;
}

/* Bring a strip to the device and update it with `block` (-1: none yet); *done: when it is. */
static tw_status update_strip(twi_strips *self, twi_slot *s, int32_t strip, int64_t block,
                              cudaEvent_t *done)
{
    twi_gpu_strip rows = twi_strips_rows(self, s, strip);
    int64_t down = (int64_t)twi_strips_area(self, s, strip, 0, 1).down * self->area->side;
    int64_t across = (int64_t)twi_strips_width(self, strip) * self->area->side;
    tw_status status = twi_strips_load(self, s, strip);
    if (status == TW_OK) {
        status = twi_gpu_wait(self->ctx, self->narrow, s->loaded);
    }
    if (status == TW_OK) {
        status = check(self, self->area->enter(&rows, down, across, self->narrow),
                       "starting to import rows");
    }
    if (status == TW_OK && block >= 0) {
        status = make_left(self, s, strip, block);
    }
    if (status == TW_OK) {
        status = twi_gpu_record(self->ctx, s->ready, self->narrow);
    }
    if (status == TW_OK && block >= 0) {
        status = multiply(self, s, strip, block);
    }
    *done = block >= 0 ? s->computed : s->ready;
    return status;
}

/* A strip of block `next`, updated, becomes rows of its panel and of its square. */
static tw_status keep_strip(twi_strips *self, twi_slot *s, int32_t strip, int64_t next,
                            cudaEvent_t done)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int32_t at = twi_strips_first_tile(self, next);
    int32_t down = strip * self->cut.strip - at;
    int32_t width = twi_strips_width(self, strip);
    int32_t end = at + twi_strips_block_tiles(self, next);
    twi_gpu_area rows = twi_strips_area(self, s, strip, 0, width);
    twi_gpu_area part = twi_strips_area(self, s, strip, at, (width < end ? width : end) - at);
    twi_gpu_area panel = twi_strips_panel(self, next, down, rows.down, 0, width);
    twi_gpu_area square = twi_strips_square(self, down, rows.down, part.across);
    tw_status status = twi_gpu_wait(self->ctx, self->pivot, done);
    if (status == TW_OK) {
        status = check(self, kernel->copy(&panel, &rows, self->pivot), "starting to pack a row");
    }
    if (status == TW_OK) {
        status =
            check(self, kernel->copy(&square, &part, self->pivot), "starting to copy a square");
    }
    if (status == TW_OK && self->host->symmetric) {
        status = twi_strips_look(self, s, strip, self->pivot);
        if (status == TW_OK) {
            status = twi_strips_tell(self, s, strip, self->pivot);
        }
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, s->free, self->pivot) : status;
}

/* The closed square times the panel's tile columns `first` to `end` - 1. */
static tw_status form_columns(twi_strips *self, int64_t block, int32_t first, int32_t end)
{
    int32_t depth = twi_strips_block_tiles(self, block);
    tw_status status = TW_OK;
    for (int32_t at = first; at < end && status == TW_OK; at += self->cut.raw) {
        int32_t cols = end - at < self->cut.raw ? end - at : self->cut.raw;
        twi_gpu_area part = twi_strips_panel(self, block, 0, depth, at, cols);
        twi_gpu_area raw = part;
        raw.data = self->raw.data;
        raw.some = self->raw.some;
        twi_gpu_product product = {
            .c = part, .left = self->square_left, .right = self->raw, .depth = depth};
        status = check(self, self->area->copy(&raw, &part, self->pivot),
                       "starting to copy a part of a panel");
        if (status == TW_OK) {
            status =
                check(self, self->area->product(&product, self->pivot), "starting to form a panel");
        }
    }
    return status;
}

/* Close the square of a block whose rows are all there. Of a symmetric matrix that is its lower
 * triangle. */
static tw_status close_square(twi_strips *self, int64_t n)
{
    twi_gpu_work work = {
        .kernel = self->square_kernel,
        .data = self->square,
        .n = n,
        .ld = twi_strips_square(self, 0, 1, 1).ld,
        .symmetric = self->host->symmetric,
    };
    twi_gpu_round round = {.c = work.data, .ld = work.ld, .n = (int32_t)n};
    tw_status status = TW_OK;
    if (work.symmetric) {
        status = check(self, work.kernel->mirror(&round, self->pivot), "starting to mirror");
    }
    return status == TW_OK
               ? twi_gpu_closure(self->ctx, &work, self->square_panels, self->pivot, false)
               : status;
}

/* Close the square of a block whose rows are all in its panel, and multiply it into them. */
static tw_status form_panel(twi_strips *self, int64_t block)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int32_t depth = twi_strips_block_tiles(self, block);
    int32_t at = twi_strips_first_tile(self, block);
    int64_t left = self->host->n - (int64_t)at * kernel->side;
    int64_t rows = (int64_t)depth * kernel->side;
    twi_gpu_area square = twi_strips_square(self, 0, depth, depth);
    twi_gpu_area own = twi_strips_panel(self, block, 0, depth, at, depth);
    tw_status status = close_square(self, left < rows ? left : rows);
    if (status == TW_OK) {
        status = check(self, kernel->pack_left(self->square_left, &square, self->pivot),
                       "starting to pack a square");
    }
    if (status == TW_OK) {
        status = check(self, kernel->copy(&own, &square, self->pivot), "starting to pack a square");
    }
    if (status == TW_OK) {
        status = form_columns(self, block, 0, at);
    }
    if (status == TW_OK && !self->host->symmetric) { /* else those are made in the round */
        status = form_columns(self, block, at + depth, self->cut.tiles);
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, self->formed[block & 1], self->pivot)
                           : status;
}

/* The rows of block `next` take update `block` (-1: none) and become its panel. The panel in that
 * place was last used in round next - 2: by products, which are waited for, and on the stream
 * `narrow`, which has come to this round's strips when the first of them is done. */
static tw_status prepare_block(twi_strips *self, int64_t next, int64_t block)
{
    int32_t first, end;
    twi_strips_of_block(self, next, &first, &end);
    tw_status status = TW_OK;
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = twi_gpu_wait(self->ctx, self->pivot, self->drained[i]);
    }
    for (int32_t strip = first; strip < end && status == TW_OK; strip++) {
        twi_slot *s;
        cudaEvent_t done = NULL;
        status = twi_strips_take_slot(self, &s);
        if (status == TW_OK) {
            status = update_strip(self, s, strip, block, &done);
        }
        if (status == TW_OK) {
            status = keep_strip(self, s, strip, next, done);
        }
    }
    return status == TW_OK ? form_panel(self, next) : status;
}

/* Its rows have had the update before, if there was one. */
static tw_status prepare(void *self, int64_t block)
{
    return prepare_block(self, block, -1);
}

/* The rows of a block out of its panel. */
static tw_status give_strip(twi_strips *self, twi_slot *s, int32_t strip, int64_t block)
{
    int32_t down = strip * self->cut.strip - twi_strips_first_tile(self, block);
    twi_gpu_area rows = twi_strips_area(self, s, strip, 0, twi_strips_width(self, strip));
    twi_gpu_area panel = twi_strips_panel(self, block, down, rows.down, 0, rows.across);
    bool last = block + 1 == self->blocks;
    tw_status status = TW_OK;
    if (s->strip != s->landing) { /* for the entries at the cap */
        status = twi_strips_load(self, s, strip);
        if (status == TW_OK) {
            status = twi_gpu_wait(self->ctx, self->narrow, s->loaded);
        }
    }
    if (status == TW_OK) {
        status = twi_gpu_wait(self->ctx, self->narrow, self->formed[block & 1]);
    }
    if (status == TW_OK) {
        status =
            check(self, self->area->copy(&rows, &panel, self->narrow), "starting to unpack rows");
    }
    if (status == TW_OK) {
        status = twi_gpu_record(self->ctx, s->ready, self->narrow);
    }
    return status == TW_OK ? twi_strips_store(self, s, strip, s->ready, last) : status;
}

/* A strip that no path joins with the block stays where it is. What a symmetric matrix's panel has
 * of one below the block is then nothing. */
static tw_status leave_strip(twi_strips *self, int32_t strip, int64_t block)
{
    int32_t depth = twi_strips_block_tiles(self, block);
    int32_t at = strip * self->cut.strip;
    int32_t rows = twi_strips_area(self, &self->slots[0], strip, 0, 1).down;
    self->left_out = self->left_out || block + 1 == self->blocks;
    if (!self->host->symmetric || at < twi_strips_first_tile(self, block)) {
        return TW_OK;
    }
    twi_gpu_area part = twi_strips_panel(self, block, 0, depth, at, rows);
    return check(self,
                 (int)cudaMemsetAsync(part.some, 0, (size_t)rows * (size_t)depth, self->narrow),
                 "clearing a part of a panel");
}

/* One strip of round `block` that is not in block + 1. */
static tw_status pass_strip(twi_strips *self, int32_t strip, int64_t block)
{
    int32_t first, end;
    twi_slot *s;
    cudaEvent_t done = NULL;
    twi_strips_of_block(self, block, &first, &end);
    bool own = strip >= first && strip < end;
    bool concerned = own;
    tw_status status = own ? TW_OK : twi_strips_is_concerned(self, strip, block, &concerned);
    if (status == TW_OK && !concerned) {
        return leave_strip(self, strip, block);
    }
    if (status == TW_OK) {
        status = twi_strips_take_slot(self, &s);
    }
    if (status == TW_OK && own) {
        return give_strip(self, s, strip, block);
    }
    if (status == TW_OK) {
        status = update_strip(self, s, strip, block, &done);
    }
    return status == TW_OK ? twi_strips_store(self, s, strip, done, block + 1 == self->blocks)
                           : status;
}

static tw_status advance(void *self_, int64_t block)
{
    twi_strips *self = self_;
    int32_t first = -1, end = -1;
    tw_status status = TW_OK;
    if (!self->pauses) {
        twi_strips_of_block(self, block + 1, &first, &end);
    }
    if (block + 1 < self->blocks && !self->pauses) {
        status = prepare_block(self, block + 1, block);
    }
    for (int32_t strip = 0; strip < self->strips && status == TW_OK; strip++) {
        if (strip < first || strip >= end) {
            status = pass_strip(self, strip, block);
        }
    }
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = twi_gpu_record(self->ctx, self->drained[i], self->wide[i]);
    }
    return status;
}

static bool pause_after(void *self_, int64_t block)
{
    twi_strips *self = self_;
    (void)block;
    self->pauses = twi_checkpoint_is_due(self->host->checkpoint);
    return self->pauses;
}

static int64_t block_rows(const twi_strips *self)
{
    return (int64_t)self->cut.block * self->area->side;
}

static tw_status keep(void *self_, int64_t blocks)
{
    twi_strips *self = self_;
    self->pauses = false;
    tw_status status =
        check(self, (int)cudaStreamSynchronize(self->out), "closing the matrix in strips");
    return status == TW_OK ? twi_checkpoint_keep(self->host->checkpoint, blocks * block_rows(self))
                           : status;
}

static const twi_closure_ops streamed_ops = {
    .prepare = prepare, .advance = advance, .pause = pause_after, .keep = keep};

/* Whether an entry is at the cap of 16 bits, or was never looked at. */
static tw_status find_capped(twi_strips *self, bool *capped)
{
    int32_t found = 0;
    tw_status status = check(self,
                             (int)cudaMemcpyAsync(&found, self->found, sizeof found,
                                                  cudaMemcpyDeviceToHost, self->finish),
                             "reading a flag");
    if (status == TW_OK) {
        status = check(self, (int)cudaStreamSynchronize(self->finish), "reading a flag");
    }
    *capped = found != 0 || self->left_out;
    return status;
}

static bool fits(tw_type work, const twi_gpu_host *host, uint64_t limit, uint64_t *bytes)
{
    twi_strips self = twi_strips_describe(NULL, host, twi_gpu_kernel_find(work, 0));
    bool fit = twi_strips_cut_to_fit(&self, limit);
    *bytes = self.bytes > *bytes ? self.bytes : *bytes;
    return fit;
}

bool twi_gpu_stream_fits(tw_type type, int64_t n, bool narrow, uint64_t limit, uint64_t *bytes)
{
    twi_gpu_host host = {.n = n, .type = type};
    *bytes = 0;
    bool fit = fits(type, &host, limit, bytes);
    return narrow ? fits(TW_U16, &host, limit, bytes) && fit : fit;
}

int32_t twi_gpu_stream_passes(tw_type type, int64_t n, bool narrow, uint64_t limit)
{
    twi_gpu_host host = {.n = n, .type = type};
    twi_strips self =
        twi_strips_describe(NULL, &host, twi_gpu_kernel_find(narrow ? TW_U16 : type, 0));
    (void)twi_strips_cut_to_fit(&self, limit);
    return self.blocks;
}

tw_status twi_gpu_close_streamed(tw_context *ctx, int32_t device, const twi_gpu_host *host,
                                 tw_type type, uint64_t limit, bool *capped)
{
    twi_strips self = twi_strips_describe(ctx, host, twi_gpu_kernel_find(type, 0));
    double n = (double)host->n;
    char need[32];
    char have[32];
    *capped = false;
    if (!twi_strips_cut_to_fit(&self, limit)) {
        return tw_fail(ctx, TW_ERR_MEMORY,
                       "streaming %lld vertices through a GPU needs at least %s of its memory, but "
                       "%s may be used",
                       (long long)host->n, twi_bytes(need, (double)self.bytes),
                       twi_bytes(have, (double)limit));
    }
    self.first = twi_first_pivot(host->n, block_rows(&self), host->done);
    tw_status status = twi_checkpoint_pivots(host->checkpoint, ctx, block_rows(&self));
    if (status == TW_OK) {
        status = check(&self, (int)cudaSetDevice(device), "selecting the device");
    }
    if (status == TW_OK) {
        status = twi_strips_open(&self);
    }
    if (status == TW_OK) {
        status = twi_closure_drive(ctx, &streamed_ops, &self, self.first, self.blocks, n * n * n);
    }
    if (status == TW_OK) {
        status = check(&self, (int)cudaStreamSynchronize(self.out), "closing the matrix in strips");
    }
    if (status == TW_OK && type != host->type) {
        status = find_capped(&self, capped);
    }
    twi_strips_close(&self);
    return status;
}
