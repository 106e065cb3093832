/* Strips of a matrix on their way through a GPU: see gpu/strips.h. */
#include "apsp/gpu/strips.h"

#include "base/memory.h"
#include "gpu/layout.h"

#include <stdio.h>

#define STRIP_ROWS 512   /* of a large matrix */
#define BLOCK_ROWS 4096  /* a deeper block would save nothing more */
#define FORMED_TILES 528 /* of a panel at a time: twice what a large GPU works on at once */

/* ---------------------------------------------------------------------------------- memory */

static void *place(twi_strips *self, int64_t count, int64_t size)
{
    return twi_gpu_place(self->memory, &self->bytes, count, size);
}

/* An operand of down x across tiles, and a byte for each of them. */
static twi_gpu_packed place_packed(twi_strips *self, int64_t down, int64_t across, int64_t size)
{
    int64_t side = self->area->side;
    uint8_t *some = place(self, down * across, 1);
    return (twi_gpu_packed){place(self, down * side * across * side, size), some};
}

static void place_slot(twi_strips *self, twi_slot *s)
{
    const twi_gpu_area_kernel *area = self->area;
    int64_t side = area->side;
    int64_t rows = self->cut.strip * side;
    s->landing = place(self, rows * self->ld, (int64_t)tw_type_size(area->outside));
    s->strip =
        area->outside == area->type ? s->landing : place(self, rows * self->ld, area->element);
    s->left = place_packed(self, self->cut.strip, self->cut.block, area->word);
    s->alive = place(self, self->blocks, 1);
}

/* What closing the square of any block takes, symmetric or not, which the plan may not know. The
 * last block may have fewer rows, and be closed in another way, which takes more. */
static uint64_t square_bytes(const twi_strips *self)
{
    const int64_t rows = (int64_t)self->cut.block * self->area->side;
    const int64_t rest = self->host->n % rows;
    uint64_t most = 0;
    for (int form = 0; form < 4; form++) {
        const int64_t n = form < 2 ? rows : rest;
        const uint64_t bytes = twi_gpu_closure_bytes(self->square_kernel, n, form % 2 != 0);
        most = bytes > most && n > 0 ? bytes : most;
    }
    return most;
}

/* Lay the memory out; without memory, this only counts its bytes. */
static void lay_out(twi_strips *self)
{
    const twi_gpu_area_kernel *area = self->area;
    int64_t side = area->side;
    int64_t block = self->cut.block * side;
    self->ld = self->cut.tiles * side;
    self->bytes = 0;
    for (int i = 0; i < 2; i++) {
        self->panel[i] = place_packed(self, self->cut.block, self->cut.tiles, area->element);
    }
    self->raw = place_packed(self, self->cut.block, self->cut.raw, area->element);
    self->square = place(self, block * block, area->element);
    self->square_left = place_packed(self, self->cut.block, self->cut.block, area->word);
    self->square_kernel = twi_gpu_kernel_choose(area->type, block);
    self->square_panels = place(self, (int64_t)square_bytes(self), 1);
    self->found = place(self, 1, sizeof *self->found);
    for (int i = 0; i < TWI_SLOTS; i++) {
        place_slot(self, &self->slots[i]);
    }
}

static void cut_into(twi_strips *self, int32_t strip, int32_t block)
{
    int32_t tiles = self->cut.tiles;
    int32_t raw = (FORMED_TILES + block - 1) / block;
    self->cut = (twi_cut){tiles, block, strip, raw < tiles ? raw : tiles};
    self->strips = (tiles + strip - 1) / strip;
    self->blocks = (tiles + block - 1) / block;
    lay_out(self);
}

bool twi_strips_cut_to_fit(twi_strips *self, uint64_t limit)
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

twi_strips twi_strips_describe(tw_context *ctx, const twi_gpu_host *host,
                               const twi_gpu_kernel *kernel)
{
    return (twi_strips){
        .ctx = ctx,
        .host = host,
        .area = twi_gpu_area_kernel_find(kernel->type, kernel->side),
        .cut = {.tiles = (int32_t)((host->n + kernel->side - 1) / kernel->side)},
    };
}

/* --------------------------------------------------------------------------------- streams */

static tw_status check(twi_strips *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

static tw_status open_streams(twi_strips *self)
{
    cudaStream_t *before[] = {&self->in, &self->out, &self->narrow, &self->pivot, &self->finish};
    tw_status status = TW_OK;
    for (int i = 0; i < 5 && status == TW_OK; i++) {
        status = twi_gpu_open_stream(self->ctx, before[i], true);
    }
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = twi_gpu_open_stream(self->ctx, &self->wide[i], false);
    }
    return status;
}

static tw_status open_slot_events(twi_strips *self, twi_slot *s)
{
    cudaEvent_t *events[] = {&s->loaded, &s->ready, &s->computed, &s->finished, &s->free};
    tw_status status = TW_OK;
    for (int i = 0; i < 5 && status == TW_OK; i++) {
        status = twi_gpu_open_event(self->ctx, events[i]);
    }
    return status;
}

static tw_status open_events(twi_strips *self)
{
    tw_status status = TW_OK;
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = twi_gpu_open_event(self->ctx, &self->formed[i]);
        if (status == TW_OK) {
            status = twi_gpu_open_event(self->ctx, &self->drained[i]);
        }
    }
    for (int i = 0; i < TWI_SLOTS && status == TW_OK; i++) {
        status = open_slot_events(self, &self->slots[i]);
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(self->ctx, &self->stored, (uint64_t)self->strips,
                                  sizeof(cudaEvent_t), "the events of strips");
    }
    for (int32_t i = 0; i < self->strips && status == TW_OK; i++) {
        status = twi_gpu_open_event(self->ctx, &self->stored[i]);
    }
    return status;
}

static tw_status open_memory(twi_strips *self)
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
    if (status == TW_OK) {
        status = check(
            self,
            (int)cudaMallocHost((void **)&self->alive, (size_t)self->strips * (size_t)self->blocks),
            "allocating pinned memory");
    }
    return status;
}

tw_status twi_strips_open(twi_strips *self)
{
    tw_status status = open_streams(self);
    if (status == TW_OK) {
        status = open_events(self);
    }
    return status == TW_OK ? open_memory(self) : status;
}

void twi_strips_close(twi_strips *self)
{
    cudaStream_t streams[] = {self->in,    self->narrow, self->wide[0], self->wide[1],
                              self->pivot, self->finish, self->out};
    for (int i = 0; i < 7; i++) {
        twi_gpu_close_stream(streams[i]);
    }
    for (int32_t i = 0; i < self->strips && self->stored != NULL; i++) {
        twi_gpu_close_event(self->stored[i]);
    }
    twi_free(self->stored);
    for (int i = 0; i < TWI_SLOTS; i++) {
        twi_slot *s = &self->slots[i];
        twi_gpu_close_event(s->loaded);
        twi_gpu_close_event(s->ready);
        twi_gpu_close_event(s->computed);
        twi_gpu_close_event(s->finished);
        twi_gpu_close_event(s->free);
    }
    for (int i = 0; i < 2; i++) {
        twi_gpu_close_event(self->formed[i]);
        twi_gpu_close_event(self->drained[i]);
    }
    (void)cudaFreeHost(self->alive);
    (void)cudaFree(self->memory);
}

/* ---------------------------------------------------------------------------------- strips */

int32_t twi_strips_first_tile(const twi_strips *self, int64_t block)
{
    return (int32_t)block * self->cut.block;
}

/* Tiles of a block or a strip that begins at `first` and should have `most`. */
static int32_t tiles_from(const twi_strips *self, int32_t first, int32_t most)
{
    return self->cut.tiles - first < most ? self->cut.tiles - first : most;
}

int32_t twi_strips_block_tiles(const twi_strips *self, int64_t block)
{
    return tiles_from(self, twi_strips_first_tile(self, block), self->cut.block);
}

void twi_strips_of_block(const twi_strips *self, int64_t block, int32_t *first, int32_t *end)
{
    int32_t each = self->cut.block / self->cut.strip;
    int64_t last = (block + 1) * each;
    *first = (int32_t)(block * each);
    *end = (int32_t)(last < self->strips ? last : self->strips);
}

int32_t twi_strips_width(const twi_strips *self, int32_t strip)
{
    int32_t first = strip * self->cut.strip;
    return self->host->symmetric ? first + tiles_from(self, first, self->cut.strip)
                                 : self->cut.tiles;
}

twi_gpu_area twi_strips_area(const twi_strips *self, const twi_slot *s, int32_t strip,
                             int32_t across, int32_t cols)
{
    int64_t side = self->area->side;
    int32_t rows = tiles_from(self, strip * self->cut.strip, self->cut.strip);
    char *data = (char *)s->strip + across * side * self->area->element;
    return (twi_gpu_area){data, self->ld, side * self->ld, side, rows, cols, NULL};
}

twi_gpu_area twi_strips_panel(const twi_strips *self, int64_t block, int32_t down, int32_t rows,
                              int32_t across, int32_t cols)
{
    int64_t tile = (int64_t)self->area->side * self->area->side;
    int64_t depth = twi_strips_block_tiles(self, block);
    twi_gpu_packed from = twi_gpu_packed_from(self->panel[block & 1], down + across * depth,
                                              tile * self->area->element);
    return (twi_gpu_area){from.data, self->area->side, tile, depth * tile, rows, cols, from.some};
}

twi_gpu_area twi_strips_square(const twi_strips *self, int32_t down, int32_t rows, int32_t cols)
{
    int64_t side = self->area->side;
    int64_t ld = self->cut.block * side;
    char *data = (char *)self->square + down * side * ld * self->area->element;
    return (twi_gpu_area){data, ld, side * ld, side, rows, cols, NULL};
}

twi_gpu_strip twi_strips_rows(const twi_strips *self, const twi_slot *s, int32_t strip)
{
    int64_t first = (int64_t)strip * self->cut.strip * self->area->side;
    int64_t rows = (int64_t)self->cut.strip * self->area->side;
    int64_t left = self->host->n - first;
    int64_t width = (int64_t)twi_strips_width(self, strip) * self->area->side;
    return (twi_gpu_strip){
        .outside = s->landing,
        .outside_ld = self->ld,
        .inside = s->strip,
        .inside_ld = self->ld,
        .rows = left < rows ? left : rows,
        .cols = width < self->host->n ? width : self->host->n,
        .first = first,
    };
}

tw_status twi_strips_take_slot(twi_strips *self, twi_slot **out)
{
    *out = &self->slots[self->turn++ % TWI_SLOTS];
    tw_status status = twi_gpu_watch(self->ctx, (*out)->free, "closing the matrix in strips");
    return status == TW_OK ? twi_check_cancel(self->ctx) : status;
}

static tw_status copy_rows(twi_strips *self, const twi_gpu_strip *rows, bool up)
{
    size_t size = tw_type_size(self->host->type);
    size_t here = (size_t)self->host->ld * size;
    twi_gpu_rows_copy copy = {
        .host = (char *)self->host->data + (size_t)rows->first * here,
        .here = here,
        .device = rows->outside,
        .there = (size_t)rows->outside_ld * size,
        .width = (size_t)rows->cols * size,
        .rows = (size_t)rows->rows,
    };
    return twi_gpu_copy_rows(self->ctx, &copy, up, up ? self->in : self->out);
}

tw_status twi_strips_load(twi_strips *self, twi_slot *s, int32_t strip)
{
    twi_gpu_strip rows = twi_strips_rows(self, s, strip);
    tw_status status = twi_gpu_wait(self->ctx, self->in, self->stored[strip]);
    if (status == TW_OK) {
        status = copy_rows(self, &rows, true);
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, s->loaded, self->in) : status;
}

tw_status twi_strips_look(twi_strips *self, twi_slot *s, int32_t strip, cudaStream_t stream)
{
    twi_gpu_area rows = twi_strips_area(self, s, strip, 0, twi_strips_width(self, strip));
    tw_status status = check(self, (int)cudaMemsetAsync(s->alive, 0, (size_t)self->blocks, stream),
                             "clearing a flag");
    return status == TW_OK ? check(self, self->area->look(s->alive, &rows, self->cut.block, stream),
                                   "starting to look for paths")
                           : status;
}

tw_status twi_strips_tell(twi_strips *self, twi_slot *s, int32_t strip, cudaStream_t stream)
{
    size_t blocks = (size_t)self->blocks;
    tw_status status = check(self,
                             (int)cudaMemcpyAsync(self->alive + (size_t)strip * blocks, s->alive,
                                                  blocks, cudaMemcpyDeviceToHost, stream),
                             "reading a flag");
    return status == TW_OK ? twi_gpu_record(self->ctx, self->stored[strip], stream) : status;
}

tw_status twi_strips_is_concerned(twi_strips *self, int32_t strip, int64_t block, bool *concerned)
{
    int32_t first, end;
    int64_t column = block;
    twi_strips_of_block(self, block, &first, &end);
    if (self->host->symmetric && strip < first) { /* what is there of it lies in the block's rows */
        column = strip / (self->cut.block / self->cut.strip);
    } else {
        first = strip;
        end = strip + 1;
    }
    tw_status status = TW_OK;
    *concerned = block == self->first; /* nothing was told yet */
    for (int32_t at = first; at < end && status == TW_OK && !*concerned; at++) {
        status = twi_gpu_watch(self->ctx, self->stored[at], "closing the matrix in strips");
        *concerned = status == TW_OK && self->alive[(int64_t)at * self->blocks + column] != 0;
    }
    return status;
}

/* What is done to a strip before it goes back. */
static tw_status finish_strip(twi_strips *self, twi_slot *s, int32_t strip, bool last)
{
    twi_gpu_strip rows = twi_strips_rows(self, s, strip);
    tw_status status = twi_strips_look(self, s, strip, self->finish);
    bool narrowed = s->strip != s->landing;
    if (status == TW_OK && narrowed && last) {
        status = check(self, self->area->find_capped(self->found, &rows, self->finish),
                       "starting to look for far pairs");
    }
    if (status == TW_OK && narrowed) {
        status = check(self, self->area->leave(&rows, self->finish), "starting to export rows");
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, s->finished, self->finish) : status;
}

tw_status twi_strips_store(twi_strips *self, twi_slot *s, int32_t strip, cudaEvent_t done,
                           bool last)
{
    twi_gpu_strip rows = twi_strips_rows(self, s, strip);
    tw_status status = twi_gpu_wait(self->ctx, self->finish, done);
    if (status == TW_OK) {
        status = finish_strip(self, s, strip, last);
    }
    if (status == TW_OK) {
        status = twi_gpu_wait(self->ctx, self->out, s->finished);
    }
    if (status == TW_OK) {
        status = copy_rows(self, &rows, false);
    }
    if (status == TW_OK) {
        status = twi_strips_tell(self, s, strip, self->out);
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, s->free, self->out) : status;
}
