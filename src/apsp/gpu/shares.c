/* The shares of a matrix on several GPUs: see gpu/shares.h. */
#include "apsp/gpu/shares.h"

#include "base/memory.h"
#include "gpu/layout.h"

#include <stdio.h>

#define COPIES_PER_PACE ((uint64_t)32 << 20) /* bytes: who cancels waits for twice as many */

/* ---------------------------------------------------------------------------------- memory */

static void *place(twi_share *s, int64_t count, int64_t size)
{
    return twi_gpu_place(s->memory, &s->bytes, count, size);
}

/* An operand, after the bytes of its tiles: so a copy from those on takes both. */
static twi_gpu_packed place_packed(twi_share *s, int64_t tiles, int64_t tile_bytes)
{
    uint8_t *some = place(s, tiles, 1);
    return (twi_gpu_packed){place(s, tiles, tile_bytes), some};
}

/* Lay out share number `which`; without memory, this only counts its bytes. */
static void lay_out(twi_shares *self, int32_t which)
{
    twi_share *s = &self->each[which];
    const twi_gpu_area_kernel *area = self->area;
    int64_t side = area->side;
    int64_t all = self->tiles;
    int64_t ld = all * side;
    s->tiles = which < self->tiles ? (self->tiles - which - 1) / self->count + 1 : 0;
    s->bytes = 0;
    s->matrix = (twi_gpu_area){
        .data = place(s, s->tiles * side * ld, area->element),
        .ld = ld,
        .down_step = side * ld,
        .across_step = side,
        .down = s->tiles,
        .across = self->tiles,
    };
    for (int i = 0; i < 2; i++) {
        s->row[i] = place_packed(s, all, side * side * area->element);
        s->col[i] = place_packed(s, s->tiles, side * side * area->word);
    }
    s->raw_row = place_packed(s, all, side * side * area->element);
    s->raw_col = place_packed(s, s->tiles, side * side * area->word);
    s->raw_tile = place(s, side * side, area->element);
    s->tile = place(s, side * side, area->word);
    s->tile_t = place(s, side * side, area->word);
    s->landing = area->outside == area->type
                     ? NULL
                     : place(s, side * ld, (int64_t)tw_type_size(area->outside));
    s->found = place(s, 1, sizeof *s->found);
}

twi_shares twi_shares_describe(tw_context *ctx, const twi_gpu_host *host, const twi_gpu_list *gpus,
                               const twi_gpu_kernel *kernel)
{
    twi_shares self = {
        .ctx = ctx,
        .host = host,
        .kernel = kernel,
        .area = twi_gpu_area_kernel_find(kernel->type, kernel->side),
        .count = gpus->count,
        .tiles = (int32_t)((host->n + kernel->side - 1) / kernel->side),
    };
    for (int32_t i = 0; i < gpus->count; i++) {
        self.each[i].device = gpus->index[i];
    }
    return self;
}

uint64_t twi_shares_bytes(const twi_shares *self)
{
    twi_shares copy = *self;
    lay_out(&copy, 0); /* no other has more */
    return copy.each[0].bytes;
}

/* --------------------------------------------------------------------------------- devices */

static tw_status check(twi_shares *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

tw_status twi_shares_use(twi_shares *self, const twi_share *s)
{
    return check(self, (int)cudaSetDevice(s->device), "selecting the device");
}

/* Devices that can read each other's memory directly do; others' copies go through the host. */
static tw_status open_links(twi_shares *self, const twi_share *s)
{
    for (int32_t i = 0; i < self->count; i++) {
        int32_t other = self->each[i].device;
        int can = 0;
        if (other != s->device) {
            tw_status status = check(self, (int)cudaDeviceCanAccessPeer(&can, s->device, other),
                                     "querying links between devices");
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

static tw_status open_streams(twi_shares *self, twi_share *s)
{
    cudaEvent_t *events[] = {&s->updated[0], &s->updated[1], &s->prepared[0], &s->prepared[1],
                             &s->formed,     &s->extended,   &s->paced[0],    &s->paced[1]};
    tw_status status = twi_gpu_open_stream(self->ctx, &s->wide, false);
    if (status == TW_OK) {
        status = twi_gpu_open_stream(self->ctx, &s->ahead, true);
    }
    for (size_t i = 0; i < sizeof events / sizeof *events && status == TW_OK; i++) {
        status = twi_gpu_open_event(self->ctx, events[i]);
    }
    return status;
}

static tw_status open_memory(twi_shares *self, twi_share *s, int32_t which)
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

tw_status twi_shares_open(twi_shares *self)
{
    tw_status status = TW_OK;
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        twi_share *s = &self->each[i];
        status = twi_shares_use(self, s);
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

/* All streams first: what is queued on one device may read another's memory. */
void twi_shares_close(twi_shares *self)
{
    for (int32_t i = 0; i < self->count; i++) {
        twi_share *s = &self->each[i];
        (void)cudaSetDevice(s->device);
        twi_gpu_close_stream(s->ahead);
        twi_gpu_close_stream(s->wide);
    }
    for (int32_t i = 0; i < self->count; i++) {
        twi_share *s = &self->each[i];
        (void)cudaSetDevice(s->device);
        for (int k = 0; k < 2; k++) {
            twi_gpu_close_event(s->updated[k]);
            twi_gpu_close_event(s->prepared[k]);
            twi_gpu_close_event(s->paced[k]);
        }
        twi_gpu_close_event(s->formed);
        twi_gpu_close_event(s->extended);
        (void)cudaFree(s->memory);
    }
}

/* ---------------------------------------------------------------------- to the devices and back */

/* A row of tiles of the caller's matrix, beside where it lies on its device. */
static twi_gpu_strip strip_of(const twi_shares *self, const twi_share *s, int64_t tile)
{
    const twi_gpu_area_kernel *kernel = self->area;
    int64_t first = tile * kernel->side;
    int64_t left = self->host->n - first;
    int64_t kept = twi_shares_width(self, tile) * kernel->side;
    void *inside = twi_share_part(s, tile / self->count, 1, 0, self->tiles, kernel->element).data;
    return (twi_gpu_strip){
        .outside = s->landing != NULL ? s->landing : inside,
        .outside_ld = s->matrix.ld,
        .inside = inside,
        .inside_ld = s->matrix.ld,
        .rows = left < kernel->side ? left : kernel->side,
        .cols = kept < self->host->n ? kept : self->host->n,
        .first = first,
    };
}

static tw_status copy_strip(twi_shares *self, twi_share *s, const twi_gpu_strip *strip, bool up)
{
    size_t size = tw_type_size(self->host->type);
    size_t here = (size_t)self->host->ld * size;
    twi_gpu_rows_copy copy = {
        .host = (char *)self->host->data + (size_t)strip->first * here,
        .here = here,
        .device = strip->outside,
        .there = (size_t)strip->outside_ld * size,
        .width = (size_t)strip->cols * size,
        .rows = (size_t)strip->rows,
    };
    return twi_gpu_copy_rows(self->ctx, &copy, up, s->wide);
}

/* Let the copies of a share come near to what is queued. */
static tw_status follow(twi_shares *self, twi_share *s, const twi_gpu_strip *strip)
{
    s->queued += (uint64_t)(strip->rows * strip->cols) * tw_type_size(self->host->type);
    if (s->queued < COPIES_PER_PACE) {
        return TW_OK;
    }
    s->queued = 0;
    tw_status status = twi_gpu_record(self->ctx, s->paced[s->turn], s->wide);
    s->turn = 1 - s->turn;
    return status == TW_OK ? twi_gpu_watch(self->ctx, s->paced[s->turn], "copying the matrix")
                           : status;
}

tw_status twi_shares_bring_up(twi_shares *self)
{
    int64_t side = self->area->side;
    tw_status status = TW_OK;
    for (int64_t t = 0; t < self->tiles && status == TW_OK; t++) {
        twi_share *s = twi_shares_owner(self, t);
        twi_gpu_strip strip = strip_of(self, s, t);
        status = twi_shares_use(self, s);
        if (status == TW_OK) {
            status = copy_strip(self, s, &strip, true);
        }
        if (status == TW_OK) {
            status = check(
                self, self->area->enter(&strip, side, twi_shares_width(self, t) * side, s->wide),
                "starting to import rows");
        }
        if (status == TW_OK) {
            status = follow(self, s, &strip);
        }
    }
    return status;
}

tw_status twi_shares_bring_back(twi_shares *self, bool capped)
{
    tw_status status = TW_OK;
    for (int64_t t = 0; t < self->tiles && status == TW_OK; t++) {
        twi_share *s = twi_shares_owner(self, t);
        twi_gpu_strip strip = strip_of(self, s, t);
        status = twi_shares_use(self, s);
        if (status == TW_OK && capped) { /* what entries at the cap leave as it is */
            status = copy_strip(self, s, &strip, true);
        }
        if (status == TW_OK && s->landing != NULL) {
            status = check(self, self->area->leave(&strip, s->wide), "starting to export rows");
        }
        if (status == TW_OK) {
            status = copy_strip(self, s, &strip, false);
        }
        if (status == TW_OK) {
            status = follow(self, s, &strip);
        }
    }
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        status = twi_shares_use(self, &self->each[i]);
        if (status == TW_OK) {
            status = check(self, (int)cudaStreamSynchronize(self->each[i].wide),
                           "copying the result back");
        }
    }
    return status;
}

tw_status twi_shares_find_capped(twi_shares *self, bool *capped)
{
    tw_status status = TW_OK;
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        twi_share *s = &self->each[i];
        status = twi_shares_use(self, s);
        if (status == TW_OK) {
            status = check(self, (int)cudaMemsetAsync(s->found, 0, sizeof *s->found, s->wide),
                           "clearing a flag");
        }
    }
    for (int64_t t = 0; t < self->tiles && status == TW_OK; t++) {
        twi_share *s = twi_shares_owner(self, t);
        twi_gpu_strip strip = strip_of(self, s, t);
        status = twi_shares_use(self, s);
        if (status == TW_OK) {
            status = check(self, self->area->find_capped(s->found, &strip, s->wide),
                           "starting to look for far pairs");
        }
    }
    *capped = false;
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        twi_share *s = &self->each[i];
        int32_t found = 0;
        status = twi_shares_use(self, s);
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
