/*
 * Reachability on one GPU. The host sorts the components by level, the device closes them level by
 * level; then counts leave, or rows, in the order of the result: gathered into a block on the
 * device, brought into one of two pinned buffers, and made into bytes for the sinks by all threads,
 * while the other buffer fills.
 */
#include "reach/gpu/gpu.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "gpu/layout.h"
#include "gpu/queue.h"
#include "gpu/stage.h"
#include "reach/gpu/kernels/closure.h"

#include <string.h>

/* Bytes of bits in a pinned buffer, unless one row needs more. Tests have fewer. */
#ifndef TWI_REACH_BUFFER
#define TWI_REACH_BUFFER ((int64_t)4 << 20)
#endif

typedef struct reach_run {
    tw_context *ctx;
    const twi_condensation *condensation;
    twi_reach_rows *rows;
    twi_sinks *sinks; /* NULL: only counts are requested */
    cudaStream_t stream;
    twi_gpu_clock clock;
    twi_gpu_stage stage;
    char *memory; /* of the device */
    twi_reach_device device;
    int64_t *counts;    /* device */
    int32_t *list;      /* device; NULL: every vertex is a row */
    uint32_t *block[2]; /* device: rows that leave */
    int64_t block_rows;
    int32_t *level;  /* components, of the host: levels until nothing more is reached */
    int32_t *order;  /* components by level */
    int64_t *starts; /* levels + 1: where each begins in the order */
    int64_t levels;
    uint8_t *chunk; /* rows of the result */
} reach_run;

static tw_status check(const reach_run *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

/* --------------------------------------------------------------------------------------- levels */

/* A component's level is one more than the highest of its successors', which have higher numbers.
 */
static tw_status sort_by_level(reach_run *self)
{
    const twi_condensation *c = self->condensation;
    const uint64_t count = (uint64_t)c->components;
    const char *what = "the levels of components";
    tw_status status = twi_alloc(self->ctx, &self->level, count, sizeof(int32_t), what);
    if (status == TW_OK) {
        status = twi_alloc(self->ctx, &self->order, count, sizeof(int32_t), what);
    }
    for (int64_t i = c->components - 1; i >= 0 && status == TW_OK; i--) {
        int32_t level = 0;
        for (int64_t a = c->offsets[i]; a < c->offsets[i + 1]; a++) {
            const int32_t next = self->level[c->successors[a]] + 1;
            level = next > level ? next : level;
        }
        self->level[i] = level;
        self->levels = level >= self->levels ? level + 1 : self->levels;
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(self->ctx, &self->starts, (uint64_t)self->levels + 2,
                                  sizeof(int64_t), what);
    }
    if (status != TW_OK) {
        return status;
    }
    int64_t *next = self->starts + 1; /* while filling: where the next of a level goes */
    for (int64_t i = 0; i < c->components; i++) {
        next[self->level[i] + 1]++;
    }
    for (int64_t l = 0; l < self->levels; l++) {
        next[l + 1] += next[l];
    }
    for (int64_t i = 0; i < c->components; i++) {
        self->order[next[self->level[i]]++] = (int32_t)i;
    }
    return TW_OK;
}

/* --------------------------------------------------------------------------------------- memory */

static int64_t row_words(int64_t vertices)
{
    return (vertices + 127) / 128 * 4;
}

static int64_t rows_of_block(int64_t vertices, int64_t rows)
{
    const int64_t bytes = row_words(vertices) * (int64_t)sizeof(uint32_t);
    const int64_t fit = bytes > 0 ? TWI_REACH_BUFFER / bytes : 1; /* none: no vertices */
    return fit < 1 ? 1 : fit < rows ? fit : rows;
}

static uint64_t lay_out(reach_run *self, char *base)
{
    const twi_condensation *c = self->condensation;
    twi_reach_device *d = &self->device;
    uint64_t used = 0;
    d->offsets = twi_gpu_place(base, &used, c->components + 1, sizeof *d->offsets);
    d->successors = twi_gpu_place(base, &used, c->arcs, sizeof *d->successors);
    d->order = twi_gpu_place(base, &used, c->components, sizeof *d->order);
    d->of = twi_gpu_place(base, &used, c->vertices, sizeof *d->of);
    self->counts = twi_gpu_place(base, &used, c->components, sizeof *self->counts);
    self->list = self->rows->sources != NULL
                     ? twi_gpu_place(base, &used, self->rows->count, sizeof *self->list)
                     : NULL;
    for (int i = 0; i < 2; i++) {
        self->block[i] = twi_gpu_place(base, &used, self->block_rows * d->words, sizeof(uint32_t));
    }
    d->sets = twi_gpu_place(base, &used, c->components * d->words, sizeof *d->sets);
    return used;
}

static reach_run describe(tw_context *ctx, const twi_condensation *c, twi_reach_rows *rows)
{
    reach_run self = {.ctx = ctx, .condensation = c, .rows = rows};
    self.device.vertices = c->vertices;
    self.device.components = c->components;
    self.device.words = row_words(c->vertices);
    self.block_rows = rows_of_block(c->vertices, rows->count);
    return self;
}

uint64_t twi_reach_gpu_bytes(const twi_condensation *c, const twi_reach_rows *rows)
{
    twi_reach_rows copy = *rows;
    reach_run self = describe(NULL, c, &copy);
    return lay_out(&self, NULL);
}

tw_status twi_reach_gpu_check(tw_context *ctx, int32_t device, const twi_condensation *c,
                              const twi_reach_rows *rows)
{
    const uint64_t need = twi_reach_gpu_bytes(c, rows);
    const uint64_t limit = twi_gpu_limit(ctx);
    twi_gpu_info info;
    char needs[32];
    char has[32];
    tw_status status = twi_gpu_describe(ctx, device, &info);
    if (status != TW_OK) {
        return status;
    }
    const uint64_t free = info.memory_free - info.memory_free / 32;
    const uint64_t may = limit > 0 && limit < free ? limit : free;
    return need <= may ? TW_OK
                       : tw_fail(ctx, TW_ERR_MEMORY,
                                 "%lld components of %lld vertices need %s on the GPU, but %s may "
                                 "be used there; use the CPU, which works in blocks",
                                 (long long)c->components, (long long)c->vertices,
                                 twi_bytes(needs, (double)need), twi_bytes(has, (double)may));
}

static tw_status open_queue(reach_run *self, int32_t device)
{
    tw_status status = check(self, (int)cudaSetDevice(device), "selecting the device");
    if (status == TW_OK) {
        status = check(self, (int)cudaStreamCreateWithFlags(&self->stream, cudaStreamNonBlocking),
                       "creating a stream");
    }
    return status == TW_OK ? twi_gpu_clock_open(self->ctx, &self->clock) : status;
}

static tw_status upload_all(reach_run *self)
{
    const twi_condensation *c = self->condensation;
    const twi_reach_device *d = &self->device;
    tw_status status = check(self, (int)cudaMalloc((void **)&self->memory, lay_out(self, NULL)),
                             "allocating memory for reachability");
    if (status != TW_OK) {
        return status;
    }
    (void)lay_out(self, self->memory);
    if ((status = twi_gpu_send(self->ctx, self->stream, d->offsets, c->offsets,
                               (c->components + 1) * (int64_t)sizeof *d->offsets)) != TW_OK ||
        (status = twi_gpu_send(self->ctx, self->stream, d->successors, c->successors,
                               c->arcs * (int64_t)sizeof *d->successors)) != TW_OK ||
        (status = twi_gpu_send(self->ctx, self->stream, d->order, self->order,
                               c->components * (int64_t)sizeof *d->order)) != TW_OK ||
        (status = twi_gpu_send(self->ctx, self->stream, d->of, c->of,
                               c->vertices * (int64_t)sizeof *d->of)) != TW_OK) {
        return status;
    }
    return self->list != NULL
               ? twi_gpu_send(self->ctx, self->stream, self->list, self->rows->sources,
                              self->rows->count * (int64_t)sizeof *self->list)
               : TW_OK;
}

static void close_run(reach_run *self)
{
    twi_gpu_close_stream(self->stream);
    (void)cudaFree(self->memory);
    twi_gpu_stage_close(&self->stage);
    twi_gpu_clock_close(&self->clock);
    twi_free(self->chunk);
    twi_free(self->starts);
    twi_free(self->order);
    twi_free(self->level);
}

/* -------------------------------------------------------------------------------------- closing */

static tw_status close_all(reach_run *self, double *seconds)
{
    tw_status status = twi_gpu_clock_start(self->ctx, &self->clock, self->stream);
    if (status == TW_OK) {
        status =
            check(self, twi_gpu_reach_begin(&self->device, self->stream), "starting reachability");
    }
    for (int64_t l = 1; l < self->levels && status == TW_OK; l++) { /* level 0 has no arcs */
        status = check(self,
                       twi_gpu_reach_level(&self->device, self->starts[l],
                                           self->starts[l + 1] - self->starts[l], self->stream),
                       "starting a level");
        if (status == TW_OK) {
            status = twi_check_cancel(self->ctx);
        }
    }
    if (status == TW_OK) {
        status = twi_gpu_clock_stop(self->ctx, &self->clock, self->stream);
    }
    if (status == TW_OK) {
        status = twi_gpu_clock_read(self->ctx, &self->clock, "closing the components", seconds);
    }
    return status == TW_OK ? twi_check_cancel(self->ctx) : status;
}

/* --------------------------------------------------------------------------------------- counts */

static tw_status count_all(reach_run *self)
{
    const twi_condensation *c = self->condensation;
    int64_t *counts = NULL;
    const uint64_t bytes = (uint64_t)c->components * sizeof *counts;
    tw_status status = twi_alloc(self->ctx, &counts, (uint64_t)c->components, sizeof *counts,
                                 "the counts of components");
    if (status == TW_OK) {
        status = check(self, twi_gpu_reach_count(&self->device, self->counts, self->stream),
                       "starting to count");
    }
    if (status == TW_OK) {
        status = check(
            self,
            (int)cudaMemcpyAsync(counts, self->counts, bytes, cudaMemcpyDeviceToHost, self->stream),
            "copying counts");
    }
    if (status == TW_OK) {
        status = check(self, (int)cudaStreamSynchronize(self->stream), "counting");
    }
    for (int64_t i = 0; i < self->rows->count && status == TW_OK; i++) {
        const int64_t reached = counts[c->of[twi_reach_source(self->rows, i)]];
        self->rows->pairs += reached;
        if (self->rows->counts != NULL) {
            self->rows->counts[i] = reached;
        }
    }
    twi_free(counts);
    return status;
}

/* ----------------------------------------------------------------------------------------- rows */

static tw_status fetch(void *self_, int64_t first, int64_t count, int turn)
{
    const reach_run *self = self_;
    const size_t bytes = (size_t)(count * self->device.words) * sizeof(uint32_t);
    tw_status status = check(self,
                             twi_gpu_reach_take(&self->device, self->block[turn], self->list, first,
                                                count, self->stream),
                             "starting to gather rows");
    return status == TW_OK
               ? check(self,
                       (int)cudaMemcpyAsync(self->stage.pinned[turn], self->block[turn], bytes,
                                            cudaMemcpyDeviceToHost, self->stream),
                       "copying rows")
               : status;
}

/* Bits that have arrived, as rows of the result. */
static tw_status give(void *self_, int64_t first, int64_t count, char *arrived)
{
    reach_run *self = self_;
    const int64_t n = self->condensation->vertices;
    const int64_t bytes = twi_reach_row_bytes(n, self->rows->packed);
    int64_t pairs = 0;
#pragma omp parallel for schedule(static) num_threads(twi_thread_count(self->ctx)) \
    reduction(+ : pairs)
    for (int64_t i = 0; i < count; i++) {
        const uint64_t *bits = (const uint64_t *)(arrived + i * self->device.words * 4);
        const int64_t reached = twi_reach_count_row(bits, n);
        twi_reach_put_row(self->chunk + i * bytes, bits, n, self->rows->packed);
        pairs += reached;
        if (self->rows->counts != NULL) {
            self->rows->counts[first + i] = reached;
        }
    }
    self->rows->pairs += pairs;
    const double began = twi_seconds();
    const tw_status status =
        twi_sinks_rows(self->ctx, self->sinks, first, count, self->chunk, bytes);
    self->rows->seconds_output += twi_seconds() - began;
    twi_progress(self->ctx, "reachability", (double)(first + count), (double)self->rows->count,
                 "rows");
    return status;
}

static tw_status give_all(reach_run *self)
{
    const twi_gpu_rows_back how = {self, fetch, give, self->stream, NULL};
    tw_status status =
        twi_gpu_stage_open(self->ctx, &self->stage, self->stream,
                           (uint64_t)(self->block_rows * self->device.words) * sizeof(uint32_t));
    if (status == TW_OK) {
        status = twi_alloc(
            self->ctx, &self->chunk, (uint64_t)self->block_rows,
            (uint64_t)twi_reach_row_bytes(self->condensation->vertices, self->rows->packed),
            "rows of reachability");
    }
    return status == TW_OK ? twi_gpu_bring_back(self->ctx, &self->stage, &how, 0, self->rows->count,
                                                self->block_rows)
                           : status;
}

tw_status twi_reach_gpu_run(tw_context *ctx, int32_t device, const twi_condensation *c,
                            twi_reach_rows *rows, twi_sinks *sinks, double *seconds)
{
    reach_run self = describe(ctx, c, rows);
    self.sinks = sinks;
    rows->pairs = 0;
    rows->seconds_output = 0;
    *seconds = 0;
    if (rows->count == 0) {
        return TW_OK;
    }
    tw_status status = open_queue(&self, device);
    if (status == TW_OK) {
        status = sort_by_level(&self);
    }
    if (status == TW_OK) {
        status = upload_all(&self);
    }
    if (status == TW_OK) {
        status = close_all(&self, seconds);
    }
    if (status == TW_OK) {
        status = sinks != NULL ? give_all(&self) : count_all(&self);
    }
    close_run(&self);
    return status;
}
