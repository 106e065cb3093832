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
 * With 16 bits on the device the strips are narrowed as they come. On their way back, entries at
 * the cap leave the host's as it was: the lengths there are always those of some paths, and no
 * pair's shortest path is lost, so that a second closure in the wider type can follow on the spot.
 *
 * Device memory: two panels, SLOTS strips, and a few squares of B x B.
 */
#include "apsp/closure.h"
#include "apsp/gpu.h"
#include "apsp/gpu_area.h"
#include "gpu/compat.h"
#include "gpu/pinned.h"

#include <stdio.h>

#define ALIGNMENT 256    /* of the blocks in the device's memory */
#define SLOTS 4          /* strips on the device: coming, being prepared, multiplied, going */
#define STRIP_ROWS 512   /* of a large matrix */
#define BLOCK_ROWS 4096  /* a deeper block would save nothing more */
#define FORMED_TILES 528 /* of a panel at a time: twice what a large GPU works on at once */

/* How the matrix is cut, all in tiles. */
typedef struct cut {
    int32_t tiles; /* a side of the whole matrix */
    int32_t block; /* a multiple of strip */
    int32_t strip;
    int32_t raw; /* tile columns of a panel that are multiplied at a time */
} cut;

typedef struct slot {
    void *landing; /* in the caller's type */
    void *strip;   /* in the working type: the same memory if that is the same */
    void *left;
    cudaEvent_t loaded;
    cudaEvent_t ready; /* for the wide product */
    cudaEvent_t computed;
    cudaEvent_t finished; /* in the caller's type again */
    cudaEvent_t free;
} slot;

typedef struct streamed {
    tw_context *ctx;
    const twi_gpu_host *host;
    const twi_gpu_area_kernel *area;
    const twi_gpu_kernel *square_kernel; /* closes a square */
    cut cut;
    int64_t ld; /* of strips */
    int32_t strips;
    int32_t blocks;
    void *memory;
    uint64_t bytes;
    void *panel[2]; /* by the parity of the block */
    void *raw;
    void *square;
    void *square_left;
    void *square_panels; /* for the resident engine */
    int32_t *found;
    slot slots[SLOTS];
    int64_t turn; /* slots taken so far */
    cudaStream_t in, out, narrow, pivot, finish, wide[2];
    cudaEvent_t formed[2];  /* the panel, by the parity of the block */
    cudaEvent_t drained[2]; /* the wide streams, at the end of a round */
    cudaEvent_t *stored;    /* each strip, in host memory */
} streamed;

/* ---------------------------------------------------------------------------------- memory */

static void *place(streamed *self, int64_t count, int64_t size)
{
    void *at = self->memory != NULL ? (char *)self->memory + self->bytes : NULL;
    self->bytes += ((uint64_t)count * (uint64_t)size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static void place_slot(streamed *self, slot *s)
{
    const twi_gpu_area_kernel *area = self->area;
    int64_t side = area->side;
    int64_t rows = self->cut.strip * side;
    s->landing = place(self, rows * self->ld, (int64_t)tw_type_size(area->outside));
    s->strip =
        area->outside == area->type ? s->landing : place(self, rows * self->ld, area->element);
    s->left = place(self, rows * self->cut.block * side, area->word);
}

/* Lay the memory out; without memory, this only counts its bytes. */
static void lay_out(streamed *self)
{
    const twi_gpu_area_kernel *area = self->area;
    int64_t side = area->side;
    int64_t block = self->cut.block * side;
    self->ld = self->cut.tiles * side;
    self->bytes = 0;
    for (int i = 0; i < 2; i++) {
        self->panel[i] = place(self, block * self->ld, area->element);
    }
    self->raw = place(self, block * self->cut.raw * side, area->element);
    self->square = place(self, block * block, area->element);
    self->square_left = place(self, block * block, area->word);
    self->square_kernel = twi_gpu_kernel_choose(area->type, block);
    self->square_panels =
        place(self, (int64_t)twi_gpu_closure_bytes(self->square_kernel, block, false), 1);
    self->found = place(self, 1, sizeof *self->found);
    for (int i = 0; i < SLOTS; i++) {
        place_slot(self, &self->slots[i]);
    }
}

static void cut_into(streamed *self, int32_t strip, int32_t block)
{
    int32_t tiles = self->cut.tiles;
    int32_t raw = (FORMED_TILES + block - 1) / block;
    self->cut = (cut){tiles, block, strip, raw < tiles ? raw : tiles};
    self->strips = (tiles + strip - 1) / strip;
    self->blocks = (tiles + block - 1) / block;
    lay_out(self);
}

/* The deepest block that fits `limit`, with strips as high as they should be if that is possible;
 * false if nothing fits, and then the bytes are the least. */
static bool cut_to_fit(streamed *self, uint64_t limit)
{
    int32_t side = self->area->side;
    int32_t tiles = self->cut.tiles;
    int32_t strip = STRIP_ROWS / side;
    while (strip > 1 && strip * 8 > tiles) {
        strip /= 2;
    }
    for (; strip >= 1; strip /= 2) {
        int32_t most = BLOCK_ROWS / side < tiles ? BLOCK_ROWS / side : tiles;
        for (int32_t block = (most + strip - 1) / strip * strip; block >= strip; block -= strip) {
            cut_into(self, strip, block);
            /* Lower strips are better than a block of only a few of them. */
            if (self->bytes <= limit && (block >= 4 * strip || block >= most || strip == 1)) {
                return true;
            }
        }
    }
    return false;
}

static streamed describe(tw_context *ctx, const twi_gpu_host *host, const twi_gpu_kernel *kernel)
{
    return (streamed){
        .ctx = ctx,
        .host = host,
        .area = twi_gpu_area_kernel_find(kernel->type, kernel->side),
        .cut = {.tiles = (int32_t)((host->n + kernel->side - 1) / kernel->side)},
    };
}

static bool fits(tw_type work, const twi_gpu_host *host, uint64_t limit, uint64_t *bytes)
{
    streamed self = describe(NULL, host, twi_gpu_kernel_find(work, 0));
    bool fit = cut_to_fit(&self, limit);
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

/* --------------------------------------------------------------------------------- streams */

static tw_status check(streamed *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

static tw_status open_stream(streamed *self, cudaStream_t *stream, bool first)
{
    int lowest;
    int highest;
    tw_status status = check(self, (int)cudaDeviceGetStreamPriorityRange(&lowest, &highest),
                             "reading the priorities of streams");
    return status == TW_OK ? check(self,
                                   (int)cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking,
                                                                     first ? highest : lowest),
                                   "making a stream")
                           : status;
}

static tw_status open_event(streamed *self, cudaEvent_t *event)
{
    return check(self, (int)cudaEventCreateWithFlags(event, cudaEventDisableTiming),
                 "making an event");
}

static tw_status open_streams(streamed *self)
{
    cudaStream_t *before[] = {&self->in, &self->out, &self->narrow, &self->pivot, &self->finish};
    tw_status status = TW_OK;
    for (int i = 0; i < 5 && status == TW_OK; i++) {
        status = open_stream(self, before[i], true);
    }
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = open_stream(self, &self->wide[i], false);
    }
    return status;
}

static tw_status open_slot_events(streamed *self, slot *s)
{
    cudaEvent_t *events[] = {&s->loaded, &s->ready, &s->computed, &s->finished, &s->free};
    tw_status status = TW_OK;
    for (int i = 0; i < 5 && status == TW_OK; i++) {
        status = open_event(self, events[i]);
    }
    return status;
}

static tw_status open_events(streamed *self)
{
    tw_status status = TW_OK;
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = open_event(self, &self->formed[i]);
        if (status == TW_OK) {
            status = open_event(self, &self->drained[i]);
        }
    }
    for (int i = 0; i < SLOTS && status == TW_OK; i++) {
        status = open_slot_events(self, &self->slots[i]);
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(self->ctx, &self->stored, (uint64_t)self->strips,
                                  sizeof *self->stored, "the events of strips");
    }
    for (int32_t i = 0; i < self->strips && status == TW_OK; i++) {
        status = open_event(self, &self->stored[i]);
    }
    return status;
}

static tw_status open_memory(streamed *self)
{
    char bytes[32];
    char sentence[128];
    snprintf(sentence, sizeof sentence, "allocating %s to stream %lld vertices through",
             twi_bytes(bytes, (double)self->bytes), (long long)self->host->n);
    tw_status status = check(self, (int)cudaMalloc(&self->memory, self->bytes), sentence);
    if (status == TW_OK) {
        lay_out(self);
        status =
            check(self, (int)cudaMemsetAsync(self->found, 0, sizeof *self->found, self->finish),
                  "clearing a flag");
    }
    if (status == TW_OK) {
        status = check(self, self->area->set_up(), "setting up the kernels");
    }
    return status;
}

static void close_stream(cudaStream_t stream)
{
    if (stream != NULL) {
        (void)cudaStreamSynchronize(stream);
        (void)cudaStreamDestroy(stream);
    }
}

static void close_event(cudaEvent_t event)
{
    if (event != NULL) {
        (void)cudaEventDestroy(event);
    }
}

static void close_all(streamed *self)
{
    cudaStream_t streams[] = {self->in,    self->narrow, self->wide[0], self->wide[1],
                              self->pivot, self->finish, self->out};
    for (int i = 0; i < 7; i++) {
        close_stream(streams[i]);
    }
    for (int32_t i = 0; i < self->strips && self->stored != NULL; i++) {
        close_event(self->stored[i]);
    }
    twi_free(self->stored);
    for (int i = 0; i < SLOTS; i++) {
        slot *s = &self->slots[i];
        close_event(s->loaded);
        close_event(s->ready);
        close_event(s->computed);
        close_event(s->finished);
        close_event(s->free);
    }
    for (int i = 0; i < 2; i++) {
        close_event(self->formed[i]);
        close_event(self->drained[i]);
    }
    (void)cudaFree(self->memory);
}

static tw_status record(streamed *self, cudaEvent_t event, cudaStream_t stream)
{
    return check(self, (int)cudaEventRecord(event, stream), "recording an event");
}

static tw_status wait_for(streamed *self, cudaStream_t stream, cudaEvent_t event)
{
    return check(self, (int)cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}

/* ---------------------------------------------------------------------------------- strips */

static int32_t first_tile(const streamed *self, int64_t block)
{
    return (int32_t)block * self->cut.block;
}

/* Tiles of a block or a strip that begins at `first` and should have `most`. */
static int32_t tiles_from(const streamed *self, int32_t first, int32_t most)
{
    return self->cut.tiles - first < most ? self->cut.tiles - first : most;
}

static int32_t block_tiles(const streamed *self, int64_t block)
{
    return tiles_from(self, first_tile(self, block), self->cut.block);
}

/* The strips of a block are `first` to `end` - 1. */
static void strips_of(const streamed *self, int64_t block, int32_t *first, int32_t *end)
{
    int32_t each = self->cut.block / self->cut.strip;
    int64_t last = (block + 1) * each;
    *first = (int32_t)(block * each);
    *end = (int32_t)(last < self->strips ? last : self->strips);
}

/* Tile columns of a strip on the device. */
static twi_gpu_area strip_area(const streamed *self, const slot *s, int32_t strip, int32_t across,
                               int32_t cols)
{
    int64_t side = self->area->side;
    int32_t rows = tiles_from(self, strip * self->cut.strip, self->cut.strip);
    char *data = (char *)s->strip + across * side * self->area->element;
    return (twi_gpu_area){data, self->ld, side * self->ld, side, rows, cols};
}

/* Tile rows and columns of the panel of a block. */
static twi_gpu_area panel_area(const streamed *self, int64_t block, int32_t down, int32_t rows,
                               int32_t across, int32_t cols)
{
    int64_t tile = (int64_t)self->area->side * self->area->side;
    int64_t column = block_tiles(self, block) * tile;
    int64_t at = down * tile + across * column;
    char *data = (char *)self->panel[block & 1] + at * self->area->element;
    return (twi_gpu_area){data, self->area->side, tile, column, rows, cols};
}

static twi_gpu_area square_area(const streamed *self, int32_t down, int32_t rows, int32_t cols)
{
    int64_t side = self->area->side;
    int64_t ld = self->cut.block * side;
    char *data = (char *)self->square + down * side * ld * self->area->element;
    return (twi_gpu_area){data, ld, side * ld, side, rows, cols};
}

static twi_gpu_strip rows_of(const streamed *self, const slot *s, int32_t strip)
{
    int64_t first = (int64_t)strip * self->cut.strip * self->area->side;
    int64_t rows = (int64_t)self->cut.strip * self->area->side;
    int64_t left = self->host->n - first;
    return (twi_gpu_strip){s->landing,    self->ld, s->strip, self->ld, left < rows ? left : rows,
                           self->host->n, first};
}

/* The next slot, once it is free: so the call follows the device, and can be cancelled. */
static tw_status take_slot(streamed *self, slot **out)
{
    *out = &self->slots[self->turn++ % SLOTS];
    tw_status status =
        check(self, (int)cudaEventSynchronize((*out)->free), "closing the matrix in strips");
    return status == TW_OK ? twi_check_cancel(self->ctx) : status;
}

static tw_status copy_rows(streamed *self, const twi_gpu_strip *rows, bool up)
{
    size_t size = tw_type_size(self->host->type);
    size_t here = (size_t)self->host->ld * size;
    size_t there = (size_t)rows->outside_ld * size;
    size_t width = (size_t)rows->cols * size;
    char *host = (char *)self->host->data + (size_t)rows->first * here;
    cudaError_t error =
        up ? cudaMemcpy2DAsync(rows->outside, there, host, here, width, (size_t)rows->rows,
                               cudaMemcpyHostToDevice, self->in)
           : cudaMemcpy2DAsync(host, here, rows->outside, there, width, (size_t)rows->rows,
                               cudaMemcpyDeviceToHost, self->out);
    return check(self, (int)error, up ? "fetching rows" : "bringing rows back");
}

/* From the host to the slot, once what was stored there before has arrived. */
static tw_status load(streamed *self, slot *s, int32_t strip)
{
    twi_gpu_strip rows = rows_of(self, s, strip);
    tw_status status = wait_for(self, self->in, self->stored[strip]);
    if (status == TW_OK) {
        status = copy_rows(self, &rows, true);
    }
    return status == TW_OK ? record(self, s->loaded, self->in) : status;
}

/* From the slot to the host, after `done`. */
static tw_status store(streamed *self, slot *s, int32_t strip, cudaEvent_t done, bool last)
{
    twi_gpu_strip rows = rows_of(self, s, strip);
    tw_status status = TW_OK;
    if (s->strip != s->landing) {
        status = wait_for(self, self->finish, done);
        if (status == TW_OK && last) {
            status = check(self, self->area->find_capped(self->found, &rows, self->finish),
                           "starting to look for far pairs");
        }
        if (status == TW_OK) {
            status =
                check(self, self->area->leave(&rows, self->finish), "starting to give out rows");
        }
        if (status == TW_OK) {
            status = record(self, s->finished, self->finish);
        }
        done = s->finished;
    }
    if (status == TW_OK) {
        status = wait_for(self, self->out, done);
    }
    if (status == TW_OK) {
        status = copy_rows(self, &rows, false);
    }
    if (status == TW_OK) {
        status = record(self, self->stored[strip], self->out);
    }
    return status == TW_OK ? record(self, s->free, self->out) : status;
}

/* ---------------------------------------------------------------------------------- rounds */

/* The strip's columns of the block: multiplied by its closed square, and packed. */
static tw_status make_left(streamed *self, slot *s, int32_t strip, int64_t block)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int32_t depth = block_tiles(self, block);
    int32_t at = first_tile(self, block);
    twi_gpu_area col = strip_area(self, s, strip, at, depth);
    twi_gpu_product product = {
        .c = col,
        .left = s->left,
        .right = panel_area(self, block, 0, depth, at, depth).data,
        .depth = depth,
    };
    tw_status status = wait_for(self, self->narrow, self->formed[block & 1]);
    if (status == TW_OK) {
        status = check(self, kernel->pack_left(s->left, &col, self->narrow),
                       "starting to pack a column");
    }
    if (status == TW_OK) {
        status = check(self, kernel->product(&product, self->narrow), "starting to form a panel");
    }
    return status == TW_OK ? check(self, kernel->pack_left(s->left, &col, self->narrow),
                                   "starting to pack a panel")
                           : status;
}

static tw_status multiply(streamed *self, slot *s, int32_t strip, int64_t block)
{
    cudaStream_t wide = self->wide[self->turn & 1];
    twi_gpu_product product = {
        .c = strip_area(self, s, strip, 0, self->cut.tiles),
        .left = s->left,
        .right = self->panel[block & 1],
        .depth = block_tiles(self, block),
        .skip_across = first_tile(self, block),
        .skip_across_count = block_tiles(self, block),
    };
    tw_status status = wait_for(self, wide, s->ready);
    if (status == TW_OK) {
        status = check(self, self->area->product(&product, wide), "starting an update");
    }
    return status == TW_OK ? record(self, s->computed, wide) : status;
}

/* Bring a strip to the device and update it with `block` (-1: none yet); *done: when it is. */
static tw_status update_strip(streamed *self, slot *s, int32_t strip, int64_t block,
                              cudaEvent_t *done)
{
    twi_gpu_strip rows = rows_of(self, s, strip);
    int64_t down = strip_area(self, s, strip, 0, 1).down * self->area->side;
    tw_status status = load(self, s, strip);
    if (status == TW_OK) {
        status = wait_for(self, self->narrow, s->loaded);
    }
    if (status == TW_OK) {
        status = check(self, self->area->enter(&rows, down, self->ld, self->narrow),
                       "starting to take in rows");
    }
    if (status == TW_OK && block >= 0) {
        status = make_left(self, s, strip, block);
    }
    if (status == TW_OK) {
        status = record(self, s->ready, self->narrow);
    }
    if (status == TW_OK && block >= 0) {
        status = multiply(self, s, strip, block);
    }
    *done = block >= 0 ? s->computed : s->ready;
    return status;
}

/* A strip of block `next`, updated, becomes rows of its panel and of its square. */
static tw_status keep_strip(streamed *self, slot *s, int32_t strip, int64_t next, cudaEvent_t done)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int32_t at = first_tile(self, next);
    int32_t down = strip * self->cut.strip - at;
    twi_gpu_area rows = strip_area(self, s, strip, 0, self->cut.tiles);
    twi_gpu_area part = strip_area(self, s, strip, at, block_tiles(self, next));
    twi_gpu_area panel = panel_area(self, next, down, rows.down, 0, self->cut.tiles);
    twi_gpu_area square = square_area(self, down, rows.down, part.across);
    tw_status status = wait_for(self, self->pivot, done);
    if (status == TW_OK) {
        status = check(self, kernel->copy(&panel, &rows, self->pivot), "starting to pack a row");
    }
    if (status == TW_OK) {
        status =
            check(self, kernel->copy(&square, &part, self->pivot), "starting to copy a square");
    }
    return status == TW_OK ? record(self, s->free, self->pivot) : status;
}

/* The closed square times the panel's tile columns `first` to `end` - 1. */
static tw_status form_columns(streamed *self, int64_t block, int32_t first, int32_t end)
{
    int32_t depth = block_tiles(self, block);
    tw_status status = TW_OK;
    for (int32_t at = first; at < end && status == TW_OK; at += self->cut.raw) {
        int32_t cols = end - at < self->cut.raw ? end - at : self->cut.raw;
        twi_gpu_area part = panel_area(self, block, 0, depth, at, cols);
        size_t bytes = (size_t)cols * (size_t)part.across_step * (size_t)self->area->element;
        twi_gpu_product product = {
            .c = part, .left = self->square_left, .right = self->raw, .depth = depth};
        status = check(self,
                       (int)cudaMemcpyAsync(self->raw, part.data, bytes, cudaMemcpyDeviceToDevice,
                                            self->pivot),
                       "copying a part of a panel");
        if (status == TW_OK) {
            status =
                check(self, self->area->product(&product, self->pivot), "starting to form a panel");
        }
    }
    return status;
}

/* Close the square of a block whose rows are all in its panel, and multiply it into them. */
static tw_status form_panel(streamed *self, int64_t block)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int32_t depth = block_tiles(self, block);
    int32_t at = first_tile(self, block);
    int64_t left = self->host->n - (int64_t)at * kernel->side;
    int64_t rows = (int64_t)depth * kernel->side;
    twi_gpu_area square = square_area(self, 0, depth, depth);
    twi_gpu_area own = panel_area(self, block, 0, depth, at, depth);
    twi_gpu_work work = {
        .kernel = self->square_kernel,
        .data = self->square,
        .n = left < rows ? left : rows,
        .ld = square.ld,
    };
    tw_status status = twi_gpu_closure(self->ctx, &work, self->square_panels, self->pivot, false);
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
    if (status == TW_OK) {
        status = form_columns(self, block, at + depth, self->cut.tiles);
    }
    return status == TW_OK ? record(self, self->formed[block & 1], self->pivot) : status;
}

/* The rows of block `next` take update `block` (-1: none) and become its panel. The panel in that
 * place was last used in round next - 2: by products, which are waited for, and on the stream
 * `narrow`, which has come to this round's strips when the first of them is done. */
static tw_status prepare_block(streamed *self, int64_t next, int64_t block)
{
    int32_t first, end;
    strips_of(self, next, &first, &end);
    tw_status status = TW_OK;
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = wait_for(self, self->pivot, self->drained[i]);
    }
    for (int32_t strip = first; strip < end && status == TW_OK; strip++) {
        slot *s;
        cudaEvent_t done = NULL;
        status = take_slot(self, &s);
        if (status == TW_OK) {
            status = update_strip(self, s, strip, block, &done);
        }
        if (status == TW_OK) {
            status = keep_strip(self, s, strip, next, done);
        }
    }
    return status == TW_OK ? form_panel(self, next) : status;
}

static tw_status prepare(void *self, int64_t block)
{
    return prepare_block(self, block, block - 1);
}

/* The rows of a block out of its panel. */
static tw_status give_strip(streamed *self, slot *s, int32_t strip, int64_t block)
{
    int32_t down = strip * self->cut.strip - first_tile(self, block);
    twi_gpu_area rows = strip_area(self, s, strip, 0, self->cut.tiles);
    twi_gpu_area panel = panel_area(self, block, down, rows.down, 0, self->cut.tiles);
    bool last = block + 1 == self->blocks;
    tw_status status = TW_OK;
    if (s->strip != s->landing) { /* for the entries at the cap */
        status = load(self, s, strip);
        if (status == TW_OK) {
            status = wait_for(self, self->narrow, s->loaded);
        }
    }
    if (status == TW_OK) {
        status = wait_for(self, self->narrow, self->formed[block & 1]);
    }
    if (status == TW_OK) {
        status =
            check(self, self->area->copy(&rows, &panel, self->narrow), "starting to unpack rows");
    }
    if (status == TW_OK) {
        status = record(self, s->ready, self->narrow);
    }
    return status == TW_OK ? store(self, s, strip, s->ready, last) : status;
}

/* One strip of round `block` that is not in block + 1. */
static tw_status pass_strip(streamed *self, int32_t strip, int64_t block)
{
    int32_t first, end;
    slot *s;
    cudaEvent_t done = NULL;
    strips_of(self, block, &first, &end);
    tw_status status = take_slot(self, &s);
    if (status == TW_OK && strip >= first && strip < end) {
        return give_strip(self, s, strip, block);
    }
    if (status == TW_OK) {
        status = update_strip(self, s, strip, block, &done);
    }
    return status == TW_OK ? store(self, s, strip, done, block + 1 == self->blocks) : status;
}

static tw_status advance(void *self_, int64_t block)
{
    streamed *self = self_;
    int32_t first, end;
    tw_status status = TW_OK;
    strips_of(self, block + 1, &first, &end);
    if (block + 1 < self->blocks) {
        status = prepare_block(self, block + 1, block);
    }
    for (int32_t strip = 0; strip < self->strips && status == TW_OK; strip++) {
        if (strip < first || strip >= end) {
            status = pass_strip(self, strip, block);
        }
    }
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = record(self, self->drained[i], self->wide[i]);
    }
    return status;
}

static const twi_closure_ops streamed_ops = {prepare, advance};

/* The whole closure with one kernel; *capped: 16 bits were not enough. */
static tw_status run(streamed *self, uint64_t limit, bool *capped)
{
    double n = (double)self->host->n;
    char need[32];
    char have[32];
    int32_t found = 0;
    if (!cut_to_fit(self, limit)) {
        return tw_fail(self->ctx, TW_ERR_MEMORY,
                       "streaming %lld vertices through a GPU takes at least %s there, and %s may "
                       "be used",
                       (long long)self->host->n, twi_bytes(need, (double)self->bytes),
                       twi_bytes(have, (double)limit));
    }
    tw_status status = open_streams(self);
    if (status == TW_OK) {
        status = open_events(self);
    }
    if (status == TW_OK) {
        status = open_memory(self);
    }
    if (status == TW_OK) {
        status = twi_closure_drive(self->ctx, &streamed_ops, self, self->blocks, n * n * n);
    }
    if (status == TW_OK) {
        status = check(self, (int)cudaStreamSynchronize(self->out), "closing the matrix in strips");
    }
    if (status == TW_OK && self->area->type != self->host->type) {
        status = check(self,
                       (int)cudaMemcpyAsync(&found, self->found, sizeof found,
                                            cudaMemcpyDeviceToHost, self->finish),
                       "reading a flag");
        if (status == TW_OK) {
            status = check(self, (int)cudaStreamSynchronize(self->finish), "reading a flag");
        }
    }
    *capped = found != 0;
    close_all(self);
    return status;
}

tw_status twi_gpu_close_streamed(tw_context *ctx, int32_t device, const twi_gpu_host *host,
                                 bool narrow, uint64_t limit, tw_type *used)
{
    bool capped = true;
    *used = host->type;
    if (host->n == 0) {
        return TW_OK;
    }
    uint64_t bytes = (uint64_t)host->n * (uint64_t)host->ld * tw_type_size(host->type);
    tw_status status = twi_gpu_check(ctx, (int)cudaSetDevice(device), "selecting the device");
    bool pinned = status == TW_OK && twi_gpu_pin(ctx, host->data, bytes);
    if (status == TW_OK && narrow) {
        streamed self = describe(ctx, host, twi_gpu_kernel_find(TW_U16, 0));
        status = run(&self, limit, &capped);
        *used = TW_U16;
    }
    if (status == TW_OK && capped) {
        streamed self = describe(ctx, host, twi_gpu_kernel_find(host->type, 0));
        status = run(&self, limit, &capped);
        *used = host->type;
    }
    if (pinned) {
        twi_gpu_unpin(host->data);
    }
    return status;
}
