/*
 * The closure over several GPUs. Rows of tiles are dealt out in turn: tile row t lies on device
 * t % count, padded with infinity to whole tiles, so that every device has its share of the work at
 * every pivot. The list may name one GPU more than once; it is then several devices all the same.
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
 * gpu_closure.c; between devices, a fetch waits until the owner has formed the panel, and the
 * owner's next panel in the same place (two pivots later) until all others have fetched this one.
 *
 * A device holds n^2 / count elements, three row panels and three panels of its own rows' columns.
 * Undirected graphs are closed like directed ones.
 */
#include "apsp/closure.h"
#include "apsp/gpu.h"
#include "apsp/gpu_area.h"
#include "gpu/compat.h"
#include "gpu/pinned.h"

#include <stdio.h>

#define ALIGNMENT 256 /* of the blocks in a device's memory */

/* What one device holds and does. */
typedef struct share {
    int32_t device;
    int32_t tiles; /* rows of tiles that lie here */
    void *memory;
    uint64_t bytes;
    twi_gpu_area matrix;
    void *row[2]; /* row panels, right operands, by the parity of their pivot */
    void *col[2]; /* column panels of the rows here, left operands */
    void *raw_row;
    void *raw_col;
    void *raw_tile;
    void *tile;
    void *tile_t;
    void *landing; /* a row of tiles in the caller's type, where that is another */
    int32_t *found;
    cudaStream_t wide;
    cudaStream_t ahead;
    cudaEvent_t updated[2]; /* by the parity of the pivot */
    cudaEvent_t prepared[2];
    cudaEvent_t formed; /* the row panel, if this is the pivot's owner */
} share;

typedef struct multi {
    tw_context *ctx;
    const twi_gpu_host *host;
    const twi_gpu_kernel *kernel;
    const twi_gpu_area_kernel *area;
    int32_t count;
    int32_t tiles; /* a side of the whole matrix */
    share shares[TWI_GPU_MOST];
} multi;

/* ---------------------------------------------------------------------------------- memory */

static void *place(share *s, int64_t count, int64_t size)
{
    void *at = s->memory != NULL ? (char *)s->memory + s->bytes : NULL;
    s->bytes += ((uint64_t)count * (uint64_t)size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* Lay out share number `which`; without memory, this only counts its bytes. */
static void lay_out(multi *self, int32_t which)
{
    share *s = &self->shares[which];
    const twi_gpu_area_kernel *area = self->area;
    int64_t side = area->side;
    int64_t all = self->tiles;
    int64_t ld = all * side;
    s->tiles = which < self->tiles ? (self->tiles - which - 1) / self->count + 1 : 0;
    s->bytes = 0;
    s->matrix = (twi_gpu_area){
        place(s, s->tiles * side * ld, area->element), ld, side * ld, side, s->tiles, self->tiles};
    for (int i = 0; i < 2; i++) {
        s->row[i] = place(s, all * side * side, area->element);
        s->col[i] = place(s, s->tiles * side * side, area->word);
    }
    s->raw_row = place(s, all * side * side, area->element);
    s->raw_col = place(s, s->tiles * side * side, area->word);
    s->raw_tile = place(s, side * side, area->element);
    s->tile = place(s, side * side, area->word);
    s->tile_t = place(s, side * side, area->word);
    s->landing = area->outside == area->type
                     ? NULL
                     : place(s, side * ld, (int64_t)tw_type_size(area->outside));
    s->found = place(s, 1, sizeof *s->found);
}

static multi describe(tw_context *ctx, const twi_gpu_host *host, const twi_gpu_list *gpus,
                      const twi_gpu_kernel *kernel)
{
    multi self = {
        .ctx = ctx,
        .host = host,
        .kernel = kernel,
        .area = twi_gpu_area_kernel_find(kernel->type, kernel->side),
        .count = gpus->count,
        .tiles = (int32_t)((host->n + kernel->side - 1) / kernel->side),
    };
    for (int32_t i = 0; i < gpus->count; i++) {
        self.shares[i].device = gpus->index[i];
    }
    return self;
}

uint64_t twi_gpu_several_bytes(const twi_gpu_list *gpus, tw_type type, int64_t n, bool narrow)
{
    twi_gpu_host host = {.n = n, .type = type};
    multi self = describe(NULL, &host, gpus, twi_gpu_kernel_choose(type, n));
    lay_out(&self, 0); /* no other has more */
    uint64_t bytes = self.shares[0].bytes;
    if (narrow) {
        self = describe(NULL, &host, gpus, twi_gpu_kernel_find(TW_U16, 0));
        lay_out(&self, 0);
        bytes = self.shares[0].bytes > bytes ? self.shares[0].bytes : bytes;
    }
    return bytes;
}

/* --------------------------------------------------------------------------------- devices */

static tw_status check(multi *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

static tw_status use(multi *self, const share *s)
{
    return check(self, (int)cudaSetDevice(s->device), "selecting the device");
}

/* Devices that can read each other's memory directly do; others' copies go through the host. */
static tw_status open_links(multi *self, const share *s)
{
    for (int32_t i = 0; i < self->count; i++) {
        int32_t other = self->shares[i].device;
        int can = 0;
        if (other != s->device) {
            tw_status status = check(self, (int)cudaDeviceCanAccessPeer(&can, s->device, other),
                                     "asking for links between devices");
            if (status != TW_OK) {
                return status;
            }
        }
        if (can) {
            cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
            if (error == cudaErrorPeerAccessAlreadyEnabled) {
                (void)cudaGetLastError();
                error = cudaSuccess;
            }
            tw_status status = check(self, (int)error, "opening a link to another device");
            if (status != TW_OK) {
                return status;
            }
        }
    }
    return TW_OK;
}

static tw_status open_event(multi *self, cudaEvent_t *event)
{
    return check(self, (int)cudaEventCreateWithFlags(event, cudaEventDisableTiming),
                 "making an event");
}

static tw_status open_streams(multi *self, share *s)
{
    int lowest;
    int highest;
    tw_status status = check(self, (int)cudaDeviceGetStreamPriorityRange(&lowest, &highest),
                             "reading the priorities of streams");
    if (status == TW_OK) {
        status =
            check(self, (int)cudaStreamCreateWithPriority(&s->wide, cudaStreamNonBlocking, lowest),
                  "making a stream");
    }
    if (status == TW_OK) {
        status = check(self,
                       (int)cudaStreamCreateWithPriority(&s->ahead, cudaStreamNonBlocking, highest),
                       "making a stream");
    }
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = open_event(self, &s->updated[i]);
        if (status == TW_OK) {
            status = open_event(self, &s->prepared[i]);
        }
    }
    return status == TW_OK ? open_event(self, &s->formed) : status;
}

static tw_status open_memory(multi *self, share *s, int32_t which)
{
    char bytes[32];
    char sentence[128];
    lay_out(self, which);
    snprintf(sentence, sizeof sentence, "allocating %s for a share of %lld vertices",
             twi_bytes(bytes, (double)s->bytes), (long long)self->host->n);
    tw_status status = check(self, (int)cudaMalloc(&s->memory, s->bytes), sentence);
    if (status == TW_OK) {
        lay_out(self, which);
    }
    return status;
}

static tw_status open_shares(multi *self)
{
    tw_status status = TW_OK;
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        share *s = &self->shares[i];
        status = use(self, s);
        if (status == TW_OK) {
            status = open_links(self, s);
        }
        if (status == TW_OK) {
            status = open_memory(self, s, i);
        }
        if (status == TW_OK) {
            status = open_streams(self, s);
        }
        if (status == TW_OK) {
            status = check(self, self->kernel->set_up(), "setting up the kernels");
        }
        if (status == TW_OK) {
            status = check(self, self->area->set_up(), "setting up the kernels");
        }
    }
    return status;
}

static void close_event(cudaEvent_t event)
{
    if (event != NULL) {
        (void)cudaEventDestroy(event);
    }
}

static void close_stream(cudaStream_t stream)
{
    if (stream != NULL) {
        (void)cudaStreamSynchronize(stream);
        (void)cudaStreamDestroy(stream);
    }
}

/* All streams first: what is queued on one device may read another's memory. */
static void close_shares(multi *self)
{
    for (int32_t i = 0; i < self->count; i++) {
        share *s = &self->shares[i];
        (void)cudaSetDevice(s->device);
        close_stream(s->ahead);
        close_stream(s->wide);
    }
    for (int32_t i = 0; i < self->count; i++) {
        share *s = &self->shares[i];
        (void)cudaSetDevice(s->device);
        for (int k = 0; k < 2; k++) {
            close_event(s->updated[k]);
            close_event(s->prepared[k]);
        }
        close_event(s->formed);
        (void)cudaFree(s->memory);
    }
}

static tw_status record(multi *self, cudaEvent_t event, cudaStream_t stream)
{
    return check(self, (int)cudaEventRecord(event, stream), "recording an event");
}

static tw_status wait_for(multi *self, cudaStream_t stream, cudaEvent_t event)
{
    return check(self, (int)cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}

/* ---------------------------------------------------------------------------------- rounds */

static share *owner_of(multi *self, int64_t tile)
{
    return &self->shares[tile % self->count];
}

/* The rows of tiles from `first` to `last` that lie on share number `which`: the first of them
 * there, and how many. At most two follow each other in the matrix, so they do here. */
static void rows_here(const multi *self, int32_t which, int64_t first, int64_t last, int32_t *at,
                      int32_t *count)
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

/* A part of the matrix here. */
static twi_gpu_area part(const share *s, int64_t down, int32_t rows, int64_t across, int32_t cols,
                         int64_t element)
{
    twi_gpu_area area = s->matrix;
    area.data = (char *)area.data + (down * area.down_step + across * area.across_step) * element;
    area.down = rows;
    area.across = cols;
    return area;
}

static void *tile_at(void *panel, int64_t tile, const twi_gpu_area_kernel *kernel, int64_t bytes)
{
    return (char *)panel + tile * kernel->side * kernel->side * bytes;
}

/* A row panel as an area of one row of tiles. */
static twi_gpu_area panel_area(const multi *self, void *panel)
{
    int64_t side = self->area->side;
    return (twi_gpu_area){panel, side, side * side, side * side, 1, self->tiles};
}

/* Row `next` takes update next - 1. */
static tw_status head_row(multi *self, share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t pivot = next - 1;
    int64_t here = next / self->count;
    if (pivot < 0) {
        return TW_OK;
    }
    twi_gpu_product product = {
        .c = part(s, here, 1, 0, self->tiles, kernel->element),
        .left = tile_at(s->col[pivot & 1], here, kernel, kernel->word),
        .right = s->row[pivot & 1],
        .depth = 1,
        .skip_across = (int32_t)pivot, /* finished together with the pivot's panels */
        .skip_across_count = 1,
    };
    return check(self, kernel->product(&product, s->ahead),
                 "starting the update of the next pivot");
}

/* The tile of the pivot, which is a matrix of its own to the kernel that closes it. */
static tw_status close_tile(multi *self, share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t side = kernel->side;
    int64_t left = self->host->n - next * side;
    twi_gpu_area tile = part(s, next / self->count, 1, next, 1, kernel->element);
    twi_gpu_area raw = {s->raw_tile, side, 0, 0, 1, 1};
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
static tw_status form_row(multi *self, share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    twi_gpu_area row = part(s, next / self->count, 1, 0, self->tiles, kernel->element);
    twi_gpu_area raw = panel_area(self, s->raw_row);
    twi_gpu_area out = panel_area(self, s->row[next & 1]);
    twi_gpu_product product = {
        .c = row,
        .left = s->tile_t,
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
    return status == TW_OK ? record(self, s->formed, s->ahead) : status;
}

/* Column `next` here takes update next - 1, and is packed. */
static tw_status head_col(multi *self, share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t pivot = next - 1;
    twi_gpu_area col = part(s, 0, s->tiles, next, 1, kernel->element);
    tw_status status = TW_OK;
    if (pivot >= 0) {
        twi_gpu_product product = {
            .c = col,
            .left = s->col[pivot & 1],
            .right = tile_at(s->row[pivot & 1], next, kernel, kernel->element),
            .depth = 1,
        };
        rows_here(self, (int32_t)(s - self->shares), pivot, next, &product.skip_down,
                  &product.skip_down_count);
        status = check(self, kernel->product(&product, s->ahead),
                       "starting the update of the next pivot");
    }
    return status == TW_OK ? check(self, kernel->pack_left(s->raw_col, &col, s->ahead),
                                   "starting to pack a column")
                           : status;
}

/* The column panel of `next` here, from the row panel's closed tile. */
static tw_status form_col(multi *self, share *s, int64_t next)
{
    const twi_gpu_area_kernel *kernel = self->area;
    twi_gpu_area col = part(s, 0, s->tiles, next, 1, kernel->element);
    twi_gpu_product product = {
        .c = col,
        .left = s->raw_col,
        .right = tile_at(s->row[next & 1], next, kernel, kernel->element),
        .depth = 1,
    };
    rows_here(self, (int32_t)(s - self->shares), next, next, &product.skip_down,
              &product.skip_down_count);
    tw_status status = check(self, kernel->product(&product, s->ahead), "starting to form a panel");
    if (status == TW_OK) {
        status = check(self, kernel->pack_left(s->col[next & 1], &col, s->ahead),
                       "starting to pack a panel");
    }
    return status == TW_OK ? record(self, s->prepared[next & 1], s->ahead) : status;
}

static tw_status fetch_row(multi *self, share *s, const share *owner, int64_t next)
{
    size_t bytes = (size_t)self->tiles * (size_t)self->area->side * (size_t)self->area->side *
                   (size_t)self->area->element;
    tw_status status = wait_for(self, s->ahead, owner->formed);
    return status == TW_OK
               ? check(self,
                       (int)cudaMemcpyPeerAsync(s->row[next & 1], s->device, owner->row[next & 1],
                                                owner->device, bytes, s->ahead),
                       "fetching a panel from another device")
               : status;
}

/* Whoever sent the panel of next - 2 may write over it once all others have it. */
static tw_status free_row(multi *self, int64_t next)
{
    tw_status status = TW_OK;
    if (next < 2) {
        return TW_OK;
    }
    share *sender = owner_of(self, next - 2);
    status = use(self, sender);
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        if (&self->shares[i] != sender) {
            status = wait_for(self, sender->ahead, self->shares[i].prepared[next & 1]);
        }
    }
    return status;
}

/* The stream ahead of every device makes `next` ready; it begins once update next - 2 is done. */
static tw_status make_ahead(multi *self, int64_t next)
{
    share *owner = owner_of(self, next);
    tw_status status = free_row(self, next);
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        share *s = &self->shares[i];
        status = use(self, s);
        if (status == TW_OK) {
            status = wait_for(self, s->ahead, s->updated[next & 1]);
        }
    }
    if (status == TW_OK) {
        status = use(self, owner);
    }
    if (status == TW_OK) {
        status = form_row(self, owner, next);
    }
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        share *s = &self->shares[i];
        status = use(self, s);
        if (status == TW_OK) {
            status = head_col(self, s, next);
        }
        if (status == TW_OK && s != owner) {
            status = fetch_row(self, s, owner, next);
        }
        if (status == TW_OK) {
            status = form_col(self, s, next);
        }
    }
    return status;
}

static tw_status prepare(void *self_, int64_t pivot)
{
    multi *self = self_;
    tw_status status = TW_OK;
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        share *s = &self->shares[i];
        status = use(self, s);
        if (status == TW_OK) { /* the stream ahead begins after what is on the wide one */
            status = record(self, s->updated[pivot & 1], s->wide);
        }
    }
    return status == TW_OK ? make_ahead(self, pivot) : status;
}

static tw_status update(multi *self, share *s, int64_t pivot)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int now = (int)(pivot & 1);
    int64_t next = pivot + 1 < self->tiles ? pivot + 1 : pivot;
    twi_gpu_product product = {
        .c = s->matrix,
        .left = s->col[now],
        .right = s->row[now],
        .depth = 1,
        .skip_across = (int32_t)pivot,
        .skip_across_count = (int32_t)(next - pivot + 1),
    };
    rows_here(self, (int32_t)(s - self->shares), pivot, next, &product.skip_down,
              &product.skip_down_count);
    tw_status status = use(self, s);
    if (status == TW_OK) {
        status = wait_for(self, s->wide, s->prepared[now]);
    }
    if (status == TW_OK) {
        status = check(self, kernel->product(&product, s->wide), "starting an update");
    }
    return status == TW_OK ? record(self, s->updated[now], s->wide) : status;
}

/* The host follows one device: no other can be far from it. */
static tw_status advance(void *self_, int64_t pivot)
{
    multi *self = self_;
    tw_status status = TW_OK;
    if (pivot > 0) {
        status = use(self, &self->shares[0]);
        if (status == TW_OK) {
            status = check(self, (int)cudaEventSynchronize(self->shares[0].prepared[pivot & 1]),
                           "closing the matrix");
        }
    }
    if (status == TW_OK && pivot + 1 < self->tiles) {
        status = make_ahead(self, pivot + 1);
    }
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        status = update(self, &self->shares[i], pivot);
    }
    return status;
}

static const twi_closure_ops multi_ops = {prepare, advance};

/* ---------------------------------------------------------------------- to the devices and back */

/* A row of tiles of the caller's matrix, beside where it lies on its device. */
static twi_gpu_strip strip_of(const multi *self, const share *s, int64_t tile)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t first = tile * kernel->side;
    int64_t left = self->host->n - first;
    void *inside = part(s, tile / self->count, 1, 0, self->tiles, kernel->element).data;
    return (twi_gpu_strip){
        .outside = s->landing != NULL ? s->landing : inside,
        .outside_ld = s->matrix.ld,
        .inside = inside,
        .inside_ld = s->matrix.ld,
        .rows = left < kernel->side ? left : kernel->side,
        .cols = self->host->n,
        .first = first,
    };
}

static tw_status copy_strip(multi *self, share *s, const twi_gpu_strip *strip, bool up)
{
    size_t size = tw_type_size(self->host->type);
    size_t here = (size_t)self->host->ld * size;
    size_t there = (size_t)strip->outside_ld * size;
    size_t width = (size_t)strip->cols * size;
    char *rows = (char *)self->host->data + (size_t)strip->first * here;
    cudaError_t error =
        up ? cudaMemcpy2DAsync(strip->outside, there, rows, here, width, (size_t)strip->rows,
                               cudaMemcpyHostToDevice, s->wide)
           : cudaMemcpy2DAsync(rows, here, strip->outside, there, width, (size_t)strip->rows,
                               cudaMemcpyDeviceToHost, s->wide);
    return check(self, (int)error, "copying the matrix");
}

static tw_status bring_up(multi *self)
{
    tw_status status = TW_OK;
    for (int64_t t = 0; t < self->tiles && status == TW_OK; t++) {
        share *s = owner_of(self, t);
        twi_gpu_strip strip = strip_of(self, s, t);
        status = use(self, s);
        if (status == TW_OK) {
            status = copy_strip(self, s, &strip, true);
        }
        if (status == TW_OK) {
            status = check(self, self->area->enter(&strip, self->area->side, s->matrix.ld, s->wide),
                           "starting to take in rows");
        }
    }
    return status;
}

static tw_status bring_back(multi *self)
{
    tw_status status = TW_OK;
    for (int64_t t = 0; t < self->tiles && status == TW_OK; t++) {
        share *s = owner_of(self, t);
        twi_gpu_strip strip = strip_of(self, s, t);
        status = use(self, s);
        if (status == TW_OK && s->landing != NULL) {
            status = check(self, self->area->leave(&strip, s->wide), "starting to give out rows");
        }
        if (status == TW_OK) {
            status = copy_strip(self, s, &strip, false);
        }
    }
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        status = use(self, &self->shares[i]);
        if (status == TW_OK) {
            status = check(self, (int)cudaStreamSynchronize(self->shares[i].wide),
                           "bringing the result back");
        }
    }
    return status;
}

/* Whether an entry of the closed 16-bit matrix is at the cap. */
static tw_status look_for_capped(multi *self, bool *capped)
{
    tw_status status = TW_OK;
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        share *s = &self->shares[i];
        status = use(self, s);
        if (status == TW_OK) {
            status = check(self, (int)cudaMemsetAsync(s->found, 0, sizeof *s->found, s->wide),
                           "clearing a flag");
        }
    }
    for (int64_t t = 0; t < self->tiles && status == TW_OK; t++) {
        share *s = owner_of(self, t);
        twi_gpu_strip strip = strip_of(self, s, t);
        status = use(self, s);
        if (status == TW_OK) {
            status = check(self, self->area->find_capped(s->found, &strip, s->wide),
                           "starting to look for far pairs");
        }
    }
    *capped = false;
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        share *s = &self->shares[i];
        int32_t found = 0;
        status = use(self, s);
        if (status == TW_OK) {
            status = check(self,
                           (int)cudaMemcpyAsync(&found, s->found, sizeof found,
                                                cudaMemcpyDeviceToHost, s->wide),
                           "reading a flag");
        }
        if (status == TW_OK) {
            status = check(self, (int)cudaStreamSynchronize(s->wide), "closing the matrix");
        }
        *capped = *capped || found != 0;
    }
    return status;
}

/* The whole closure with one kernel; *capped: 16 bits were not enough, and nothing was changed. */
static tw_status run(multi *self, bool *capped)
{
    double n = (double)self->host->n;
    *capped = false;
    tw_status status = open_shares(self);
    if (status == TW_OK) {
        status = bring_up(self);
    }
    if (status == TW_OK) {
        status = twi_closure_drive(self->ctx, &multi_ops, self, self->tiles, n * n * n);
    }
    if (status == TW_OK && self->area->type != self->host->type) {
        status = look_for_capped(self, capped);
    }
    if (status == TW_OK && !*capped) {
        status = bring_back(self);
    }
    close_shares(self);
    return status;
}

tw_status twi_gpu_close_several(tw_context *ctx, const twi_gpu_list *gpus, const twi_gpu_host *host,
                                bool narrow, tw_type *used)
{
    bool capped = true;
    tw_status status = TW_OK;
    *used = host->type;
    if (host->n == 0) {
        return TW_OK;
    }
    uint64_t bytes = (uint64_t)host->n * (uint64_t)host->ld * tw_type_size(host->type);
    bool pinned = twi_gpu_pin(ctx, host->data, bytes);
    if (narrow) {
        multi self = describe(ctx, host, gpus, twi_gpu_kernel_find(TW_U16, 0));
        status = run(&self, &capped);
        *used = TW_U16;
    }
    if (status == TW_OK && capped) {
        multi self = describe(ctx, host, gpus, twi_gpu_kernel_choose(host->type, host->n));
        status = run(&self, &capped);
        *used = host->type;
    }
    if (pinned) {
        twi_gpu_unpin(host->data);
    }
    return status;
}
