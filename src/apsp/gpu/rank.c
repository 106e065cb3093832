/*
 * See rank.h. Both streams meet as in gpu/multi.c: what makes pivot p ready begins once update p -
 * 2 is done, and update p once p is ready. All copies of panels are on the stream ahead, in the
 * order in which they are asked for, so one buffer on the device is enough for what is on its way.
 *
 * Of a symmetric matrix the tiles above the diagonal are in the rectangle, but never read.
 *
 * Memory: the tiles, two row panels and one raw, two column panels and one raw in words, one in
 * elements, a few tiles, and the messages if they are here.
 */
#include "apsp/gpu/rank.h"

#include "apsp/gpu/gpu.h"
#include "apsp/gpu/kernels/area.h"
#include "base/memory.h"
#include "gpu/layout.h"
#include "gpu/pinned.h"
#include "gpu/queue.h"

#include <stdio.h>
#include <string.h>

#define BANDS 16 /* of a lower triangle that no stairs describe */

struct twi_gpu_rank {
    tw_context *ctx;
    twi_gpu_rank_shape shape;
    const twi_gpu_kernel *kernel;
    const twi_gpu_area_kernel *area;
    void *memory;
    uint64_t bytes;
    char *messages; /* of the caller's */
    twi_gpu_area matrix;
    twi_gpu_packed row[2]; /* row panels, right operands, by the parity of their pivot */
    twi_gpu_packed col[2]; /* column panels, left operands */
    twi_gpu_packed raw_row;
    twi_gpu_packed raw_col;
    twi_gpu_packed squares; /* the column panel as squares */
    void *square;           /* the closed tile, a right operand */
    void *raw_tile;
    void *tile;
    void *tile_t; /* the closed tile, a left operand */
    cudaStream_t wide;
    cudaStream_t ahead;
    cudaEvent_t updated[2]; /* by the parity of the pivot */
    cudaEvent_t prepared[2];
    cudaEvent_t out;
    cudaEvent_t part; /* of an update */
};

static tw_status check(twi_gpu_rank *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

static int64_t square_bytes(const twi_gpu_rank *self)
{
    return (int64_t)self->area->side * self->area->side * self->area->element;
}

int32_t twi_gpu_rank_side(tw_type type, int64_t n)
{
    const twi_gpu_kernel *kernel = twi_gpu_kernel_choose(type, n);
    return kernel != NULL ? kernel->side : 0;
}

tw_status twi_gpu_rank_device(tw_context *ctx, int local, int32_t *device)
{
    twi_gpu_list gpus;
    *device = -1;
    tw_status status = twi_gpu_select(ctx, &gpus);
    if (status != TW_OK || gpus.count == 0) {
        return status;
    }
    const bool listed = strchr(ctx->device, ':') != NULL;
    *device = listed ? gpus.index[local % gpus.count] : local % twi_gpu_count();
    return TW_OK;
}

bool twi_gpu_rank_pin(tw_context *ctx, void *data, uint64_t bytes)
{
    return bytes > 0 && twi_gpu_pin(ctx, data, bytes);
}

void twi_gpu_rank_unpin(void *data)
{
    twi_gpu_unpin(data);
}

/* ---------------------------------------------------------------------------------- memory */

static void *place(twi_gpu_rank *self, int64_t count, int64_t size)
{
    return twi_gpu_place(self->memory, &self->bytes, count, size);
}

static twi_gpu_packed place_packed(twi_gpu_rank *self, int64_t tiles, int64_t bytes)
{
    uint8_t *some = place(self, tiles, 1);
    return (twi_gpu_packed){place(self, tiles, bytes), some};
}

/* Without memory this only counts its bytes. */
static void lay_out(twi_gpu_rank *self)
{
    const int64_t side = self->area->side, down = self->shape.down, across = self->shape.across;
    const int64_t square = side * side * self->area->element,
                  words = side * side * self->area->word;
    self->bytes = 0;
    self->matrix = (twi_gpu_area){
        .data = place(self, down * across, square),
        .ld = across * side,
        .down_step = side * across * side,
        .across_step = side,
        .down = (int32_t)down,
        .across = (int32_t)across,
    };
    for (int i = 0; i < 2; i++) {
        self->row[i] = place_packed(self, across, square);
        self->col[i] = place_packed(self, down, words);
    }
    self->raw_row = place_packed(self, across, square);
    self->raw_col = place_packed(self, down, words);
    self->squares = place_packed(self, down, square);
    self->square = place(self, 1, square);
    self->raw_tile = place(self, 1, square);
    self->tile = place(self, 1, words);
    self->tile_t = place(self, 1, words);
    self->messages = place(self, (int64_t)self->shape.messages, 1);
}

uint64_t twi_gpu_rank_bytes(const twi_gpu_rank_shape *shape)
{
    twi_gpu_rank self = {.shape = *shape,
                         .area = twi_gpu_area_kernel_find(shape->type, shape->side)};
    lay_out(&self);
    return self.bytes;
}

static tw_status open_memory(twi_gpu_rank *self)
{
    char bytes[32], sentence[128];
    lay_out(self);
    snprintf(sentence, sizeof sentence, "allocating %s for the share of a rank",
             twi_bytes(bytes, (double)self->bytes));
    tw_status status = check(self, (int)cudaMalloc(&self->memory, self->bytes), sentence);
    if (status == TW_OK) {
        lay_out(self);
    }
    return status;
}

static tw_status open_streams(twi_gpu_rank *self)
{
    cudaEvent_t *events[] = {&self->updated[0],  &self->updated[1], &self->prepared[0],
                             &self->prepared[1], &self->out,        &self->part};
    tw_status status = twi_gpu_open_stream(self->ctx, &self->wide, false);
    if (status == TW_OK) {
        status = twi_gpu_open_stream(self->ctx, &self->ahead, true);
    }
    for (size_t i = 0; i < sizeof events / sizeof *events && status == TW_OK; i++) {
        status = twi_gpu_open_event(self->ctx, events[i]);
    }
    return status;
}

tw_status twi_gpu_rank_open(tw_context *ctx, twi_gpu_rank **out, const twi_gpu_rank_shape *shape)
{
    twi_gpu_rank *self = NULL;
    *out = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &self, 1, sizeof *self, "the share of a rank");
    if (status != TW_OK) {
        return status;
    }
    self->ctx = ctx;
    self->shape = *shape;
    self->kernel = twi_gpu_kernel_find(shape->type, shape->side);
    self->area = twi_gpu_area_kernel_find(shape->type, shape->side);
    status = check(self, (int)cudaSetDevice(shape->device), "selecting the device");
    if (status == TW_OK) {
        status = open_memory(self);
    }
    if (status == TW_OK) {
        status = open_streams(self);
    }
    if (status == TW_OK) {
        status = check(self, self->kernel->set_up(), "setting up the kernels");
    }
    if (status == TW_OK) {
        status = check(self, self->area->set_up(), "setting up the kernels");
    }
    if (status != TW_OK) {
        twi_gpu_rank_close(self);
        return status;
    }
    *out = self;
    return TW_OK;
}

void twi_gpu_rank_close(twi_gpu_rank *self)
{
    if (self == NULL) {
        return;
    }
    twi_gpu_close_stream(self->ahead);
    twi_gpu_close_stream(self->wide);
    for (int i = 0; i < 2; i++) {
        twi_gpu_close_event(self->updated[i]);
        twi_gpu_close_event(self->prepared[i]);
    }
    twi_gpu_close_event(self->out);
    twi_gpu_close_event(self->part);
    (void)cudaFree(self->memory);
    twi_free(self);
}

char *twi_gpu_rank_messages(const twi_gpu_rank *self)
{
    return self->shape.messages > 0 ? self->messages : NULL;
}

/* -------------------------------------------------------------------------- parts of the matrix */

static twi_gpu_area part(const twi_gpu_rank *self, int64_t down, int64_t rows, int64_t across,
                         int64_t cols)
{
    twi_gpu_area area = self->matrix;
    area.data = (char *)area.data +
                (down * area.down_step + across * area.across_step) * self->area->element;
    area.down = (int32_t)rows;
    area.across = (int32_t)cols;
    return area;
}

static twi_gpu_packed right_from(const twi_gpu_rank *self, twi_gpu_packed row, int64_t tile)
{
    return twi_gpu_packed_from(row, tile, square_bytes(self));
}

static twi_gpu_packed left_from(const twi_gpu_rank *self, twi_gpu_packed col, int64_t tile)
{
    const int64_t side = self->area->side;
    return twi_gpu_packed_from(col, tile, side * side * self->area->word);
}

/* Squares one after the other, as an area of one row of tiles. */
static twi_gpu_area squares_area(const twi_gpu_rank *self, twi_gpu_packed squares, int64_t tiles)
{
    const int64_t side = self->area->side;
    return (twi_gpu_area){.data = squares.data,
                          .ld = side,
                          .across_step = side * side,
                          .down = 1,
                          .across = (int32_t)tiles,
                          .some = squares.some};
}

/* A product that leaves out rows a and b, and columns c and d, of those that are there (-1: it is
 * not). Two that are there follow each other. */
typedef struct left_out {
    int64_t a, b;
} left_out;

static void leave_out(left_out these, int64_t end, int32_t *first, int32_t *count)
{
    *first = 0;
    *count = 0;
    const int64_t both[2] = {these.b, these.a};
    for (int i = 0; i < 2; i++) {
        if (both[i] >= 0 && both[i] < end) {
            *first = *count > 0 && *first < both[i] ? *first : (int32_t)both[i];
            (*count)++;
        }
    }
}

static tw_status multiply(twi_gpu_rank *self, twi_gpu_product *product, left_out rows,
                          left_out cols, cudaStream_t stream, const char *call)
{
    product->depth = 1;
    leave_out(rows, product->c.down, &product->skip_down, &product->skip_down_count);
    leave_out(cols, product->c.across, &product->skip_across, &product->skip_across_count);
    if (product->c.down <= product->skip_down_count ||
        product->c.across <= product->skip_across_count) {
        return TW_OK;
    }
    return check(self, self->area->product(product, stream), call);
}

static const left_out none = {-1, -1};

/* Bytes to the messages, or from them, wherever they are. */
static tw_status copy_message(twi_gpu_rank *self, void *to, const void *from, int64_t bytes,
                              bool up, const char *call)
{
    return check(self,
                 (int)cudaMemcpyAsync(to, from, (size_t)bytes,
                                      self->shape.messages > 0 ? cudaMemcpyDeviceToDevice
                                      : up                     ? cudaMemcpyHostToDevice
                                                               : cudaMemcpyDeviceToHost,
                                      self->ahead),
                 call);
}

/* ----------------------------------------------------------------------------------- head */

static tw_status head_row(twi_gpu_rank *self, const twi_gpu_rank_pivot *before,
                          const twi_gpu_rank_pivot *next)
{
    const int at = (int)(before->number & 1);
    twi_gpu_product product = {.c = part(self, next->row, 1, 0, next->left),
                               .left = left_from(self, self->col[at], next->row),
                               .right = self->row[at]};
    /* What the row shares with the pivot before was finished together with its panels. */
    return multiply(self, &product, none, (left_out){before->col, -1}, self->ahead,
                    "starting the update of the next pivot");
}

static tw_status head_col(twi_gpu_rank *self, const twi_gpu_rank_pivot *before,
                          const twi_gpu_rank_pivot *next)
{
    const int at = (int)(before->number & 1);
    twi_gpu_product product = {
        .c = part(self, next->below, self->shape.down - next->below, next->col, 1),
        .left = left_from(self, self->col[at], next->below),
        .right = right_from(self, self->row[at], next->col)};
    const left_out rows = self->shape.kept == NULL ? (left_out){before->row, next->row} : none;
    return multiply(self, &product, rows, none, self->ahead,
                    "starting the update of the next pivot");
}

/* The tile of the pivot, which is a matrix of its own to the kernel that closes it. */
static tw_status close_tile(twi_gpu_rank *self, const twi_gpu_rank_pivot *next, void *tile)
{
    const twi_gpu_area_kernel *kernel = self->area;
    const twi_gpu_area here = part(self, next->row, 1, next->col, 1);
    const twi_gpu_area raw = squares_area(self, (twi_gpu_packed){.data = self->raw_tile}, 1);
    const twi_gpu_area closed = squares_area(self, (twi_gpu_packed){.data = self->square}, 1);
    const twi_gpu_round round = {.c = here.data,
                                 .ld = here.ld,
                                 .n = (int32_t)next->size,
                                 .tiles = 1,
                                 .pivot = -1,
                                 .next = 0,
                                 .one = 1,
                                 .raw_tile = self->raw_tile,
                                 .tile = self->tile,
                                 .tile_t = self->tile_t};
    tw_status status =
        check(self, kernel->copy(&raw, &here, self->ahead), "starting to copy a tile");
    if (status == TW_OK) {
        status = check(self, self->kernel->close(&round, self->ahead), "starting to close a tile");
    }
    if (status == TW_OK) {
        status = check(self, kernel->copy(&closed, &here, self->ahead), "starting to copy a tile");
    }
    if (status == TW_OK) {
        status = copy_message(self, tile, self->square, square_bytes(self), false,
                              "copying a tile to the messages");
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, self->out, self->ahead) : status;
}

tw_status twi_gpu_rank_head(twi_gpu_rank *self, const twi_gpu_rank_pivot *before,
                            const twi_gpu_rank_pivot *next, void *tile)
{
    cudaEvent_t updated = self->updated[next->number & 1];
    tw_status status = TW_OK;
    if (before == NULL) { /* after what is on the wide stream */
        status = twi_gpu_record(self->ctx, updated, self->wide);
    }
    if (status == TW_OK) {
        status = twi_gpu_wait(self->ctx, self->ahead, updated);
    }
    if (status == TW_OK && before != NULL && next->row >= 0) {
        status = head_row(self, before, next);
    }
    if (status == TW_OK && before != NULL && next->col >= 0) {
        status = head_col(self, before, next);
    }
    return status == TW_OK && next->row >= 0 && next->col >= 0 ? close_tile(self, next, tile)
                                                               : status;
}

/* ---------------------------------------------------------------------------------- panels */

/* Squares begin ... end-1 of a panel, those that are not empty, to the messages or from them: runs
 * that are adjacent on both sides in one copy. */
static tw_status copy_squares(twi_gpu_rank *self, twi_gpu_packed there,
                              const twi_gpu_rank_panel *here, int64_t begin, int64_t end, bool up)
{
    const int64_t bytes = square_bytes(self);
    tw_status status = TW_OK;
    for (int64_t i = begin; i < end && status == TW_OK;) {
        if (here->at[i] < 0) {
            i++;
            continue;
        }
        int64_t run = 1;
        while (i + run < end && here->at[i + run] == here->at[i] + run * bytes) {
            run++;
        }
        char *panel = (char *)there.data + i * bytes, *message = here->data + here->at[i];
        status = copy_message(self, up ? panel : message, up ? message : panel, run * bytes, up,
                              "copying a panel");
        i += run;
    }
    return status;
}

/* Row = tile (x) row. */
static tw_status form_row(twi_gpu_rank *self, const twi_gpu_rank_pivot *next,
                          const twi_gpu_rank_panel *to)
{
    const twi_gpu_area_kernel *kernel = self->area;
    const twi_gpu_packed panel = self->row[next->number & 1];
    const twi_gpu_area row = part(self, next->row, 1, 0, next->left);
    const twi_gpu_area raw = squares_area(self, self->raw_row, next->left);
    const twi_gpu_area out = squares_area(self, panel, next->left);
    twi_gpu_product product = {.c = row, .left = {.data = self->tile_t}, .right = self->raw_row};
    tw_status status = check(self, kernel->copy(&raw, &row, self->ahead), "starting to pack a row");
    if (status == TW_OK) {
        status = multiply(self, &product, none, (left_out){next->col, -1}, self->ahead,
                          "starting to form a panel");
    }
    if (status == TW_OK) {
        status = check(self, kernel->copy(&out, &row, self->ahead), "starting to pack a panel");
    }
    return status == TW_OK ? copy_squares(self, panel, to, 0, next->left, false) : status;
}

/* Col = col (x) tile, and transposed. */
static tw_status form_col(twi_gpu_rank *self, const twi_gpu_rank_pivot *next,
                          const twi_gpu_rank_panel *to)
{
    const twi_gpu_area_kernel *kernel = self->area;
    const int64_t from = next->below, rows = self->shape.down - from;
    const twi_gpu_area col = part(self, from, rows, next->col, 1);
    const twi_gpu_area out = squares_area(self, right_from(self, self->squares, from), rows);
    twi_gpu_product product = {.c = col, .left = self->raw_col, .right = {.data = self->square}};
    const left_out skipped = self->shape.kept == NULL ? (left_out){next->row, -1} : none;
    tw_status status = check(self, kernel->pack_left(self->raw_col, &col, self->ahead),
                             "starting to pack a column");
    if (status == TW_OK) {
        status = multiply(self, &product, skipped, none, self->ahead, "starting to form a panel");
    }
    if (status == TW_OK) {
        status =
            check(self, kernel->transpose(&out, &col, self->ahead), "starting to pack a panel");
    }
    return status == TW_OK ? copy_squares(self, self->squares, to, from, self->shape.down, false)
                           : status;
}

tw_status twi_gpu_rank_form(twi_gpu_rank *self, const twi_gpu_rank_pivot *next, const void *tile,
                            const twi_gpu_rank_panel *row, const twi_gpu_rank_panel *col)
{
    const twi_gpu_area closed = squares_area(self, (twi_gpu_packed){.data = self->square}, 1);
    tw_status status = TW_OK;
    if (next->row < 0 || next->col < 0) {
        status = copy_message(self, self->square, tile, square_bytes(self), true,
                              "copying a tile from the messages");
    }
    if (status == TW_OK && next->row >= 0) {
        status = check(
            self,
            self->area->pack_left((twi_gpu_packed){.data = self->tile_t}, &closed, self->ahead),
            "starting to pack a tile");
    }
    if (status == TW_OK && next->row >= 0) {
        status = form_row(self, next, row);
    }
    if (status == TW_OK && next->col >= 0) {
        status = form_col(self, next, col);
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, self->out, self->ahead) : status;
}

/* A whole panel from the messages, with the bytes that tell which squares are there. */
static tw_status take_panel(twi_gpu_rank *self, twi_gpu_packed to, const twi_gpu_rank_panel *from,
                            int64_t tiles)
{
    for (int64_t i = 0; i < tiles; i++) {
        from->some[i] = from->at[i] >= 0;
    }
    tw_status status = tiles > 0 ? check(self,
                                         (int)cudaMemcpyAsync(to.some, from->some, (size_t)tiles,
                                                              cudaMemcpyHostToDevice, self->ahead),
                                         "copying a panel")
                                 : TW_OK;
    return status == TW_OK ? copy_squares(self, to, from, 0, tiles, true) : status;
}

tw_status twi_gpu_rank_take(twi_gpu_rank *self, const twi_gpu_rank_pivot *next,
                            const twi_gpu_rank_panel *row, const twi_gpu_rank_panel *col)
{
    const int at = (int)(next->number & 1);
    const bool symmetric = self->shape.kept != NULL; /* then no panel is all made here */
    tw_status status = TW_OK;
    if (symmetric || next->row < 0) {
        status = take_panel(self, self->row[at], row, self->shape.across);
    }
    if (status == TW_OK && (symmetric || next->col < 0)) {
        status = take_panel(self, self->squares, col, self->shape.down);
    }
    if (status == TW_OK) {
        status = check(
            self,
            self->area->spread(self->col[at], self->squares, self->shape.down, 1, self->ahead),
            "starting to unpack a panel");
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, self->prepared[at], self->ahead) : status;
}

/* ---------------------------------------------------------------------------------- update */

/* Whether rows get longer by the same number of tiles each, and by how many. */
static int32_t find_stairs(const twi_gpu_rank_shape *shape)
{
    const int64_t step = shape->down > 1 ? shape->kept[1] - shape->kept[0] : 1;
    for (int64_t i = 1; i < shape->down; i++) {
        if (shape->kept[i] - shape->kept[i - 1] != step) {
            return 0;
        }
    }
    return step > 0 ? (int32_t)step : 0;
}

/* Rows first ... first+count-1 of the update, in a rectangle as wide as the last of them, unless
 * there are stairs. */
static tw_status update_rows(twi_gpu_rank *self, const twi_gpu_rank_pivot *pivot,
                             const twi_gpu_rank_pivot *next, int64_t first, int64_t count,
                             int32_t stairs)
{
    const int now = (int)(pivot->number & 1);
    const int64_t *kept = self->shape.kept;
    const int64_t width = kept == NULL || stairs > 0 ? self->shape.across : kept[first + count - 1];
    const left_out cols = {pivot->col, next != NULL ? next->col : -1};
    left_out rows = {pivot->row, next != NULL ? next->row : -1};
    rows.a = rows.a >= first ? rows.a - first : -1;
    rows.b = rows.b >= first ? rows.b - first : -1;
    twi_gpu_product product = {.c = part(self, first, count, 0, width),
                               .left = left_from(self, self->col[now], first),
                               .right = self->row[now],
                               .stairs = stairs,
                               .stair = stairs > 0 ? (int32_t)kept[first] : 0};
    return multiply(self, &product, rows, cols, self->wide, "starting an update");
}

tw_status twi_gpu_rank_update(twi_gpu_rank *self, const twi_gpu_rank_pivot *pivot,
                              const twi_gpu_rank_pivot *next, int64_t part, int64_t parts)
{
    const int now = (int)(pivot->number & 1);
    const int64_t down = self->shape.down;
    const int64_t begin = down * part / parts, end = down * (part + 1) / parts;
    const int32_t stairs = self->shape.kept != NULL ? find_stairs(&self->shape) : 0;
    const bool bands = self->shape.kept != NULL && stairs == 0;
    const int64_t each = bands ? (down + BANDS - 1) / BANDS : down;
    tw_status status = part == 0 ? twi_gpu_wait(self->ctx, self->wide, self->prepared[now]) : TW_OK;
    for (int64_t first = begin; first < end && status == TW_OK; first += each) {
        const int64_t count = end - first < each ? end - first : each;
        status = update_rows(self, pivot, next, first, count, stairs);
    }
    if (status == TW_OK && part + 1 == parts) {
        status = twi_gpu_record(self->ctx, self->updated[now], self->wide);
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, self->part, self->wide) : status;
}

/* ------------------------------------------------------------------------- the host and the device
 */

tw_status twi_gpu_rank_bring(twi_gpu_rank *self, int64_t row, int64_t tiles, void *data, int64_t ld,
                             bool up)
{
    const size_t element = (size_t)self->area->element, side = (size_t)self->area->side;
    const twi_gpu_area here = part(self, row, 1, 0, tiles);
    const twi_gpu_rows_copy copy = {.host = data,
                                    .here = (size_t)ld * element,
                                    .device = here.data,
                                    .there = (size_t)here.ld * element,
                                    .width = (size_t)tiles * side * element,
                                    .rows = side};
    return tiles > 0 ? twi_gpu_copy_rows(self->ctx, &copy, up, self->wide) : TW_OK;
}

tw_status twi_gpu_rank_wait(twi_gpu_rank *self)
{
    return check(self, (int)cudaStreamSynchronize(self->wide), "closing the matrix");
}

static tw_status query(twi_gpu_rank *self, cudaEvent_t event, bool *reached)
{
    const cudaError_t error = cudaEventQuery(event);
    *reached = error != cudaErrorNotReady;
    if (!*reached) {
        (void)cudaGetLastError();
    }
    return *reached ? check(self, (int)error, "closing the matrix") : TW_OK;
}

tw_status twi_gpu_rank_pass(twi_gpu_rank *self, void *to, const void *from, int64_t bytes)
{
    tw_status status = copy_message(self, to, from, bytes, false, "passing on a tile");
    return status == TW_OK ? twi_gpu_record(self->ctx, self->out, self->ahead) : status;
}

tw_status twi_gpu_rank_is_out(twi_gpu_rank *self, bool *out)
{
    return query(self, self->out, out);
}

tw_status twi_gpu_rank_is_updated(twi_gpu_rank *self, bool *done)
{
    return query(self, self->part, done);
}

tw_status twi_gpu_rank_reuse(twi_gpu_rank *self, int64_t next)
{
    return check(self, (int)cudaEventSynchronize(self->prepared[next & 1]), "closing the matrix");
}
