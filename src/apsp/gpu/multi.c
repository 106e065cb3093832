/*
 * The closure over several GPUs. Rows of tiles are dealt out in turn (gpu/shares.h), so that every
 * device has its part of the work at every pivot. The list may name one GPU more than once; it is
 * then several devices all the same.
 *
 * Round k, with p = k + 1 the next pivot, on every device:
 *
 *   ahead   its part of column p takes update k; then the row panel of p is fetched from p's owner
 *           (the owner makes it: row p takes update k, its tile is closed and multiplied into the
 *           row); the closed tile, which is a part of that panel, is multiplied into the column
 *   wide    update: its rows but p and k, and all columns but p and k, take update k
 *
 * so only row panels travel, n x side elements a pivot, while the update of the pivot before is
 * running. One host thread drives all devices. Within a device the two streams meet as in
 * gpu/closure.c; between devices, a fetch waits until the owner has formed the panel, and the
 * owner's next panel in the same place (two pivots later) until all others have fetched this one.
 *
 * Of a symmetric matrix the lower triangle is closed. The row of
 * a pivot then ends at the diagonal; what is right of it is the transpose of the column below, of
 * which every device has some tiles: each puts its own into the panel and fetches the others', so
 * that as much travels as before. The column of rows above the pivot comes out of the panel.
 *
 * Panels have a byte for each tile (gpu/kernels/area.h), so that products leave out tiles without a
 * path; those of a row panel travel with it.
 *
 * Where somebody wants to keep the matrix after round k, nothing of p is done in it: the update
 * takes p's rows and columns, too, the shares are brought back, and p is prepared by itself
 * afterwards.
 *
 * A device holds n^2 / count elements, three row panels and three panels of its own rows' columns.
 */
#include "apsp/closure/checkpoint.h"
#include "apsp/closure/closure.h"
#include "apsp/gpu/shares.h"

static tw_status check(twi_shares *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

/* The rows of tiles from `first` to `last` that lie on share number `which`: the first of them
 * there, and how many. At most two follow each other in the matrix, so they do here. */
static void rows_here(const twi_shares *self, int32_t which, int64_t first, int64_t last,
                      int32_t *at, int32_t *count)
{
    *at = 0;
    *count = 0;
    for (int64_t t = last; t >= first; t--) {
        if (t >= 0 && t < self->tiles && t % self->count == which) {
            *at = (int32_t)(t / self->count);
            (*count)++;
        }
    }
}

/* A row panel, and a column panel, from a tile on. */
static twi_gpu_packed row_from(const twi_shares *self, twi_gpu_packed row, int64_t tile)
{
    int64_t side = self->area->side;
    return twi_gpu_packed_from(row, tile, side * side * self->area->element);
}

static twi_gpu_packed col_from(const twi_shares *self, twi_gpu_packed col, int64_t tile)
{
    int64_t side = self->area->side;
    return twi_gpu_packed_from(col, tile, side * side * self->area->word);
}

/* `tiles` of a row panel, each `step` after the one before, as an area of one row of tiles. */
static twi_gpu_area panel_area(const twi_shares *self, twi_gpu_packed row, int64_t tiles,
                               int64_t step)
{
    int64_t side = self->area->side;
    return (twi_gpu_area){
        .data = row.data,
        .ld = side,
        .across_step = step * side * side,
        .down = 1,
        .across = (int32_t)tiles,
        .some = row.some,
    };
}

/* Rows of tiles here up to row `tile` of the matrix. */
static int32_t rows_up_to(const twi_shares *self, const twi_share *s, int64_t tile)
{
    int64_t which = s - self->each;
    return tile < which ? 0 : (int32_t)((tile - which) / self->count + 1);
}

/* The column `tile` here: of a symmetric matrix only below the diagonal. *from: its first row. */
static twi_gpu_area column_here(const twi_shares *self, const twi_share *s, int64_t tile,
                                int32_t *from)
{
    *from = self->host->symmetric ? rows_up_to(self, s, tile) : 0;
    return twi_share_part(s, *from, s->tiles - *from, tile, 1, self->area->element);
}

/* Row `next` takes update next - 1. */
static tw_status head_row(twi_shares *self, twi_share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t pivot = next - 1;
    int64_t here = next / self->count;
    if (pivot < 0 || self->alone) {
        return TW_OK;
    }
    twi_gpu_product product = {
        .c = twi_share_part(s, here, 1, 0, (int32_t)twi_shares_width(self, next), kernel->element),
        .left = col_from(self, s->col[pivot & 1], here),
        .right = s->row[pivot & 1],
        .depth = 1,
        .skip_across = (int32_t)pivot, /* finished together with the pivot's panels */
        .skip_across_count = 1,
    };
    return check(self, kernel->product(&product, s->ahead),
                 "starting the update of the next pivot");
}

/* The tile of the pivot, which is a matrix of its own to the kernel that closes it. */
static tw_status close_tile(twi_shares *self, twi_share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t side = kernel->side;
    int64_t left = self->host->n - next * side;
    twi_gpu_area tile = twi_share_part(s, next / self->count, 1, next, 1, kernel->element);
    twi_gpu_area raw = {.data = s->raw_tile, .ld = side, .down = 1, .across = 1};
    twi_gpu_round round = {
        .c = tile.data,
        .ld = tile.ld,
        .n = (int32_t)(left < side ? left : side),
        .tiles = 1,
        .pivot = -1,
        .next = 0,
        .one = 1,
        .raw_tile = s->raw_tile,
        .tile = s->tile,
        .tile_t = s->tile_t,
    };
    tw_status status = check(self, kernel->copy(&raw, &tile, s->ahead), "starting to copy a tile");
    return status == TW_OK
               ? check(self, self->kernel->close(&round, s->ahead), "starting to close a tile")
               : status;
}

/* The owner: the row panel of `next`, closed tile included. */
static tw_status form_row(twi_shares *self, twi_share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t width = twi_shares_width(self, next);
    twi_gpu_area row = twi_share_part(s, next / self->count, 1, 0, (int32_t)width, kernel->element);
    twi_gpu_area raw = panel_area(self, s->raw_row, width, 1);
    twi_gpu_area out = panel_area(self, s->row[next & 1], width, 1);
    twi_gpu_product product = {
        .c = row,
        .left = {.data = s->tile_t}, /* which has paths of length 0, and so no byte */
        .right = s->raw_row,
        .depth = 1,
        .skip_across = (int32_t)next,
        .skip_across_count = 1,
    };
    tw_status status = head_row(self, s, next);
    if (status == TW_OK) {
        status = close_tile(self, s, next);
    }
    if (status == TW_OK) {
        status = check(self, kernel->copy(&raw, &row, s->ahead), "starting to pack a row");
    }
    if (status == TW_OK) {
        status = check(self, kernel->product(&product, s->ahead), "starting to form a panel");
    }
    if (status == TW_OK) {
        status = check(self, kernel->copy(&out, &row, s->ahead), "starting to pack a panel");
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, s->formed, s->ahead) : status;
}

/* Column `next` here takes update next - 1, and is packed. */
static tw_status head_col(twi_shares *self, twi_share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t pivot = next - 1;
    int32_t from;
    twi_gpu_area col = column_here(self, s, next, &from);
    tw_status status = TW_OK;
    if (pivot >= 0 && !self->alone) {
        twi_gpu_product product = {
            .c = col,
            .left = col_from(self, s->col[pivot & 1], from),
            .right = row_from(self, s->row[pivot & 1], next),
            .depth = 1,
        };
        if (!self->host->symmetric) {
            rows_here(self, (int32_t)(s - self->each), pivot, next, &product.skip_down,
                      &product.skip_down_count);
        }
        status = check(self, kernel->product(&product, s->ahead),
                       "starting the update of the next pivot");
    }
    return status == TW_OK ? check(self, kernel->pack_left(s->raw_col, &col, s->ahead),
                                   "starting to pack a column")
                           : status;
}

/* Of a symmetric matrix: what is here of column `next` belongs into the panel too, at the places of
 * its rows; and the panel is the column of the rows above. */
static tw_status extend_panel(twi_shares *self, twi_share *s, const twi_gpu_area *col, int32_t from,
                              int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t which = s - self->each;
    twi_gpu_packed panel = s->row[next & 1];
    twi_gpu_area places =
        panel_area(self, row_from(self, panel, from * self->count + which), col->down, self->count);
    tw_status status =
        check(self, kernel->transpose(&places, col, s->ahead), "starting to transpose a column");
    if (status == TW_OK) {
        status = check(self,
                       kernel->spread(s->col[next & 1], row_from(self, panel, which),
                                      rows_up_to(self, s, next - 1), self->count, s->ahead),
                       "starting to copy a part of a panel");
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, s->extended, s->ahead) : status;
}

/* The column panel of `next` here, from the row panel's closed tile. */
static tw_status form_col(twi_shares *self, twi_share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int32_t from;
    twi_gpu_area col = column_here(self, s, next, &from);
    twi_gpu_product product = {
        .c = col,
        .left = s->raw_col,
        .right = row_from(self, s->row[next & 1], next),
        .depth = 1,
    };
    if (!self->host->symmetric) {
        rows_here(self, (int32_t)(s - self->each), next, next, &product.skip_down,
                  &product.skip_down_count);
    }
    tw_status status = check(self, kernel->product(&product, s->ahead), "starting to form a panel");
    if (status == TW_OK) {
        twi_gpu_packed out = col_from(self, s->col[next & 1], from);
        status = check(self, kernel->pack_left(out, &col, s->ahead), "starting to pack a panel");
    }
    return status == TW_OK && self->host->symmetric ? extend_panel(self, s, &col, from, next)
                                                    : status;
}

/* The bytes of its tiles with it, which lie before it. */
static tw_status fetch_row(twi_shares *self, twi_share *s, const twi_share *owner, int64_t next)
{
    twi_gpu_packed row = owner->row[next & 1];
    char *end = row_from(self, row, twi_shares_width(self, next)).data;
    size_t bytes = (size_t)(end - (char *)row.some);
    tw_status status = twi_gpu_wait(self->ctx, s->ahead, owner->formed);
    return status == TW_OK
               ? check(self,
                       (int)cudaMemcpyPeerAsync(s->row[next & 1].some, s->device, row.some,
                                                owner->device, bytes, s->ahead),
                       "fetching a panel from another device")
               : status;
}

/* Of a symmetric matrix: the parts of the panel that other devices have made. */
static tw_status fetch_extensions(twi_shares *self, twi_share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    size_t bytes = (size_t)kernel->side * (size_t)kernel->side * (size_t)kernel->element;
    size_t count = (size_t)self->count;
    size_t pitch = count * bytes;
    tw_status status = TW_OK;
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        twi_share *other = &self->each[i];
        int32_t from = rows_up_to(self, other, next);
        int64_t at = (int64_t)from * self->count + i;
        if (other == s || from == other->tiles) {
            continue;
        }
        twi_gpu_packed to = row_from(self, s->row[next & 1], at);
        twi_gpu_packed source = row_from(self, other->row[next & 1], at);
        size_t tiles = (size_t)(other->tiles - from);
        status = twi_gpu_wait(self->ctx, s->ahead, other->extended);
        if (status == TW_OK) {
            status = check(self,
                           (int)cudaMemcpy2DAsync(to.data, pitch, source.data, pitch, bytes, tiles,
                                                  cudaMemcpyDefault, s->ahead),
                           "fetching parts of a panel from another device");
        }
        if (status == TW_OK) {
            status = check(self,
                           (int)cudaMemcpy2DAsync(to.some, count, source.some, count, 1, tiles,
                                                  cudaMemcpyDefault, s->ahead),
                           "fetching parts of a panel from another device");
        }
    }
    return status;
}

/* Whoever sent parts of the panel of next - 2 may write over them once all others have them. */
static tw_status free_row(twi_shares *self, int64_t next)
{
    tw_status status = TW_OK;
    for (int32_t k = 0; k < self->count && next >= 2 && status == TW_OK; k++) {
        twi_share *sender = &self->each[k];
        if (!self->host->symmetric && sender != twi_shares_owner(self, next - 2)) {
            continue;
        }
        status = twi_shares_use(self, sender);
        for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
            if (i != k) {
                status = twi_gpu_wait(self->ctx, sender->ahead, self->each[i].prepared[next & 1]);
            }
        }
    }
    return status;
}

/* All that a device does for `next` until it needs the others' columns. */
static tw_status begin_next(twi_shares *self, twi_share *s, int64_t next)
{
    twi_share *owner = twi_shares_owner(self, next);
    tw_status status = twi_shares_use(self, s);
    if (status == TW_OK) {
        status = head_col(self, s, next);
    }
    if (status == TW_OK && s != owner) {
        status = fetch_row(self, s, owner, next);
    }
    return status == TW_OK ? form_col(self, s, next) : status;
}

static tw_status end_next(twi_shares *self, twi_share *s, int64_t next)
{
    tw_status status = twi_shares_use(self, s);
    if (status == TW_OK && self->host->symmetric) {
        status = fetch_extensions(self, s, next);
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, s->prepared[next & 1], s->ahead) : status;
}

/* The stream ahead of every device makes `next` ready; it begins once update next - 2 is done. */
static tw_status make_ahead(twi_shares *self, int64_t next)
{
    twi_share *owner = twi_shares_owner(self, next);
    tw_status status = free_row(self, next);
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        twi_share *s = &self->each[i];
        status = twi_shares_use(self, s);
        if (status == TW_OK) {
            status = twi_gpu_wait(self->ctx, s->ahead, s->updated[next & 1]);
        }
    }
    if (status == TW_OK) {
        status = twi_shares_use(self, owner);
    }
    if (status == TW_OK) {
        status = form_row(self, owner, next);
    }
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        status = begin_next(self, &self->each[i], next);
    }
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        status = end_next(self, &self->each[i], next);
    }
    return status;
}

static tw_status prepare(void *self_, int64_t pivot)
{
    twi_shares *self = self_;
    tw_status status = TW_OK;
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        twi_share *s = &self->each[i];
        status = twi_shares_use(self, s);
        if (status == TW_OK) { /* the stream ahead begins after what is on the wide one */
            status = twi_gpu_record(self->ctx, s->updated[pivot & 1], s->wide);
        }
    }
    self->alone = true;
    if (status == TW_OK) {
        status = make_ahead(self, pivot);
    }
    self->alone = false;
    return status;
}

static tw_status update(twi_shares *self, twi_share *s, int64_t pivot)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int now = (int)(pivot & 1);
    int64_t next = pivot + 1 < self->tiles && !self->pauses ? pivot + 1 : pivot;
    twi_gpu_product product = {
        .c = s->matrix,
        .left = s->col[now],
        .right = s->row[now],
        .depth = 1,
        .skip_across = (int32_t)pivot,
        .skip_across_count = (int32_t)(next - pivot + 1),
        .stairs = self->host->symmetric ? self->count : 0,
        .stair = (int32_t)(s - self->each) + 1,
    };
    rows_here(self, (int32_t)(s - self->each), pivot, next, &product.skip_down,
              &product.skip_down_count);
    tw_status status = twi_shares_use(self, s);
    if (status == TW_OK) {
        status = twi_gpu_wait(self->ctx, s->wide, s->prepared[now]);
    }
    if (status == TW_OK) {
        status = check(self, kernel->product(&product, s->wide), "starting an update");
    }
    return status == TW_OK ? twi_gpu_record(self->ctx, s->updated[now], s->wide) : status;
}

/* The host follows one device: no other can be far from it. */
static tw_status advance(void *self_, int64_t pivot)
{
    twi_shares *self = self_;
    tw_status status = TW_OK;
    if (pivot > 0) {
        status = twi_shares_use(self, &self->each[0]);
        if (status == TW_OK) {
            status = check(self, (int)cudaEventSynchronize(self->each[0].prepared[pivot & 1]),
                           "closing the matrix");
        }
    }
    if (status == TW_OK && pivot + 1 < self->tiles && !self->pauses) {
        status = make_ahead(self, pivot + 1);
    }
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        status = update(self, &self->each[i], pivot);
    }
    return status;
}

static bool pause_after(void *self_, int64_t pivot)
{
    twi_shares *self = self_;
    (void)pivot;
    self->pauses = twi_checkpoint_is_due(self->host->checkpoint);
    return self->pauses;
}

static tw_status keep(void *self_, int64_t pivots)
{
    twi_shares *self = self_;
    self->pauses = false;
    tw_status status = twi_shares_bring_back(self, self->area->type != self->host->type);
    return status == TW_OK ? twi_checkpoint_keep(self->host->checkpoint, pivots * self->area->side)
                           : status;
}

static const twi_closure_ops multi_ops = {
    .prepare = prepare, .advance = advance, .pause = pause_after, .keep = keep};

/* In the matrix's own type small tiles may be better. */
static const twi_gpu_kernel *kernel_for(const twi_gpu_host *host, tw_type type)
{
    return type == host->type ? twi_gpu_kernel_choose(type, host->n) : twi_gpu_kernel_find(type, 0);
}

static uint64_t bytes_in(const twi_gpu_list *gpus, const twi_gpu_host *host, tw_type type)
{
    twi_shares self = twi_shares_describe(NULL, host, gpus, kernel_for(host, type));
    return twi_shares_bytes(&self);
}

uint64_t twi_gpu_several_bytes(const twi_gpu_list *gpus, tw_type type, int64_t n, bool narrow)
{
    twi_gpu_host host = {.n = n, .type = type};
    uint64_t own = bytes_in(gpus, &host, type);
    uint64_t half = narrow ? bytes_in(gpus, &host, TW_U16) : 0;
    return own > half ? own : half;
}

tw_status twi_gpu_close_several(tw_context *ctx, const twi_gpu_list *gpus, const twi_gpu_host *host,
                                tw_type type, bool *capped)
{
    twi_shares self = twi_shares_describe(ctx, host, gpus, kernel_for(host, type));
    const int64_t first = twi_first_pivot(host->n, self.area->side, host->done);
    double n = (double)host->n;
    *capped = false;
    tw_status status = twi_checkpoint_pivots(host->checkpoint, ctx, self.area->side);
    if (status == TW_OK) {
        status = twi_shares_open(&self);
    }
    if (status == TW_OK) {
        status = twi_shares_bring_up(&self);
    }
    if (status == TW_OK) {
        status = twi_closure_drive(ctx, &multi_ops, &self, first, self.tiles, n * n * n);
    }
    if (status == TW_OK && type != host->type) {
        status = twi_shares_find_capped(&self, capped);
    }
    if (status == TW_OK) {
        status = twi_shares_bring_back(&self, *capped);
    }
    twi_shares_close(&self);
    return status;
}
