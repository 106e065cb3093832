/*
 * Hop distances on one GPU. Batches of 1024 or 4096 searches run level by level; the host queues as
 * many levels as the batch before had, and then looks whether there are more.
 *
 * For sinks the places of a batch are the sources of consecutive rows, and searches pull along arcs
 * turned round: what a batch makes is a slab of the transposed matrix, n x 4096, which is turned on
 * the device and leaves through two pinned buffers, in one byte for each distance (two from 255
 * hops on), whatever the type of the result; delivery converts. There is never a matrix on the
 * device. Where a summary is all that is wanted, sums of rows are kept on the device and nothing
 * else leaves. For those, and for a matrix in device memory, the places are columns, and searches
 * pull along the arcs as they are.
 *
 * Device memory: the arcs, 17 rows of bits per vertex (8.5 kB), and for sinks two slabs.
 */
#include "apsp/gpu/hops.h"

#include "apsp/gpu/kernels/hops.h"
#include "apsp/gpu/pieces.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "gpu/layout.h"
#include "gpu/queue.h"
#include "gpu/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to so many searches rows of bits are short. Tests have fewer. */
#ifndef TWI_HOPS_FEW_SEARCHES
#define TWI_HOPS_FEW_SEARCHES 2048
#endif
#define GROUP 16                 /* batches that are queued before a look, */
#define GROUP_VERTICES (1 << 20) /*   of so many vertices in all: cancelling waits for them */
#define FIRST_GUESS 4            /* levels that are queued before the first look */
/* Bytes of a pinned buffer, unless one row needs more. Tests have smaller ones. */
#ifndef TWI_HOPS_BUFFER
#define TWI_HOPS_BUFFER ((int64_t)8 << 20)
#endif

typedef struct hops_run {
    tw_context *ctx;
    const tw_graph *graph;
    cudaStream_t stream;
    twi_gpu_clock clock;
    twi_gpu_stage stage;
    char *memory; /* of the device */
    twi_hops hops;
    int32_t *list;        /* device: sources; NULL: all vertices */
    char *slab;           /* device: n x searches of the current type */
    char *rows;           /* device: the same, turned */
    bool folded;          /* sums are wanted instead */
    twi_hops_fold *folds; /* device: of every vertex */
    int32_t *grown;       /* of the host, pinned */
    twi_pieces pieces;    /* of the host */
    int threads;          /* that turn them round */
    tw_type type;
    double level_limit;
    int32_t guess;
    double seconds;
} hops_run;

static tw_status check(const hops_run *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

/* --------------------------------------------------------------------------------------- memory */

/* `listed` sources, 0 for all vertices; slabs of `type`, none for TW_AUTO. */
static uint64_t lay_out(hops_run *self, char *base, int64_t listed, tw_type type)
{
    twi_hops *h = &self->hops;
    const int64_t n = h->n, row = twi_hops_row_bytes(h->lanes);
    const int64_t searches = twi_hops_searches(h->lanes);
    uint64_t used = 0;
    h->grown = twi_gpu_place(base, &used, TWI_HOPS_SLOTS, sizeof(int32_t));
    h->mixed = twi_gpu_place(base, &used, 1, sizeof(int32_t));
    h->levels = twi_gpu_place(base, &used, TWI_HOPS_SLOTS * n, row);
    h->seen = twi_gpu_place(base, &used, n, row);
    h->hub_sets = twi_gpu_place(base, &used, h->hub_count, row);
    h->active = twi_gpu_place(base, &used, TWI_HOPS_SLOTS * n, 1);
    h->done = twi_gpu_place(base, &used, n, 1);
    h->items = twi_gpu_place(base, &used, h->item_count, sizeof *h->items);
    h->hubs = twi_gpu_place(base, &used, h->hub_count, sizeof *h->hubs);
    h->targets = twi_gpu_place(base, &used, self->graph->arcs, sizeof *h->targets);
    self->list = listed > 0 ? twi_gpu_place(base, &used, listed, sizeof *self->list) : NULL;
    if (self->folded) {
        self->folds = twi_gpu_place(base, &used, n, sizeof *self->folds);
    } else if (type != TW_AUTO) {
        const int64_t size = (int64_t)tw_type_size(type);
        self->slab = twi_gpu_place(base, &used, n * searches, size);
        self->rows = twi_gpu_place(base, &used, searches * twi_gpu_row_length(n, size), size);
    }
    return used;
}

static int32_t lanes_for(int64_t searches)
{
    return searches > TWI_HOPS_FEW_SEARCHES ? TWI_HOPS_LANES : TWI_HOPS_FEW_LANES;
}

/* Sums are of whole numbers, and of all rows. */
static bool may_fold(const tw_apsp_plan *plan)
{
    return plan->graph->integral && plan->options.sources == NULL;
}

/* At most so many pieces and hubs there are. */
static uint64_t bytes_with(const tw_apsp_plan *plan, int32_t lanes)
{
    const tw_graph *graph = plan->graph;
    hops_run self = {.graph = graph, .hops = {.n = graph->n, .lanes = lanes}};
    self.folded = may_fold(plan) && twi_delivery_will_fold(plan);
    self.hops.item_count = (int32_t)(graph->n + graph->arcs / TWI_HOPS_PIECE);
    self.hops.hub_count = (int32_t)(graph->arcs / TWI_HOPS_PIECE);
    return lay_out(&self, NULL, plan->options.sources != NULL ? plan->options.source_count : 0,
                   TW_U16);
}

/* Rows of bits as long as the device has room for. */
static int32_t lanes_of(const tw_apsp_plan *plan)
{
    const int32_t lanes = lanes_for(twi_plan_rows(plan));
    return bytes_with(plan, lanes) <= plan->gpu_allowed ? lanes : TWI_HOPS_FEW_LANES;
}

uint64_t twi_gpu_hops_bytes(const tw_apsp_plan *plan)
{
    return bytes_with(plan, lanes_of(plan));
}

static int64_t buffer_bytes(const tw_apsp_plan *plan)
{
    const int64_t row = plan->graph->n * (int64_t)sizeof(uint16_t);
    return row > TWI_HOPS_BUFFER ? row : TWI_HOPS_BUFFER;
}

uint64_t twi_gpu_hops_memory(const tw_apsp_plan *plan)
{
    const tw_graph *graph = plan->graph;
    const uint64_t pieces = (uint64_t)(graph->n + graph->arcs / TWI_HOPS_PIECE);
    const uint64_t turned = graph->undirected ? 0 : twi_graph_reverse_memory(graph);
    const uint64_t cut = pieces * (sizeof(twi_hops_item) + 2 * sizeof(int32_t));
    const uint64_t rows = turned + 2 * (uint64_t)buffer_bytes(plan);
    /* Sums as they come, as folds, and as the delivery completes them. */
    const uint64_t sums =
        (uint64_t)graph->n * (sizeof(twi_hops_fold) + 2 * sizeof(twi_fold) + sizeof(double));
    if (!may_fold(plan)) {
        return cut + rows;
    }
    return cut + (twi_delivery_will_fold(plan) || sums > rows ? sums : rows);
}

static tw_status open_queue(hops_run *self, int32_t device)
{
    tw_status status = check(self, (int)cudaSetDevice(device), "selecting the device");
    if (status == TW_OK) {
        status = check(self, (int)cudaStreamCreateWithFlags(&self->stream, cudaStreamNonBlocking),
                       "creating a stream");
    }
    if (status == TW_OK) {
        status = twi_gpu_clock_open(self->ctx, &self->clock);
    }
    if (status == TW_OK) {
        status = check(self,
                       (int)cudaMallocHost((void **)&self->grown,
                                           (TWI_HOPS_SLOTS + GROUP) * sizeof *self->grown),
                       "allocating pinned memory");
    }
    return status;
}

/* The graph, its arcs turned round or not, and memory for searches to the device. */
static tw_status open_searches(hops_run *self, bool against, const int32_t *list, int64_t listed,
                               tw_type type)
{
    const tw_graph *graph = self->graph;
    const bool turned = against && !graph->undirected;
    twi_hops *h = &self->hops;
    const twi_pieces *p = &self->pieces;
    tw_status status = twi_pieces_cut(self->ctx, &self->pieces, graph, turned, self->threads);
    h->item_count = p->item_count;
    h->hub_count = p->hub_count;
    if (status == TW_OK) {
        const uint64_t bytes = lay_out(self, NULL, listed, type);
        status = check(self, (int)cudaMalloc((void **)&self->memory, bytes),
                       "allocating memory for searches");
    }
    if (status != TW_OK) {
        return status;
    }
    (void)lay_out(self, self->memory, listed, type);
    if ((status = twi_gpu_send(self->ctx, self->stream, h->items, p->items,
                               h->item_count * (int64_t)sizeof *h->items)) != TW_OK ||
        (status = twi_gpu_send(self->ctx, self->stream, h->hubs, p->hubs,
                               h->hub_count * (int64_t)sizeof *h->hubs)) != TW_OK ||
        (status = twi_gpu_send(self->ctx, self->stream, h->targets, p->targets,
                               graph->arcs * (int64_t)sizeof *h->targets)) != TW_OK ||
        (status = twi_gpu_send(self->ctx, self->stream, self->list, list,
                               listed * (int64_t)sizeof *list)) != TW_OK) {
        return status;
    }
    status = check(self, twi_gpu_hops_open(h, self->stream), "looking at the arcs");
    return status == TW_OK
               ? check(self, (int)cudaStreamSynchronize(self->stream), "copying the arcs")
               : status;
}

static void close_run(hops_run *self)
{
    twi_gpu_close_stream(self->stream);
    (void)cudaFree(self->memory);
    (void)cudaFreeHost(self->grown);
    twi_gpu_stage_close(&self->stage);
    twi_gpu_clock_close(&self->clock);
    twi_pieces_clear(&self->pieces);
}

/* ------------------------------------------------------------------------------------- searches */

/* Where distances of a batch go: rows of bits become elements, or sums where there are folds. */
typedef struct destination {
    twi_hops_out out;
    twi_hops_fold *folds;
    int32_t deepest; /* hops that its elements hold */
} destination;

static tw_status emit(const hops_run *self, const destination *to, int32_t origin, int32_t depth,
                      int32_t base, bool last)
{
    return check(
        self,
        to->folds != NULL
            ? twi_gpu_hops_fold(&self->hops, to->folds, origin, depth, base, last, self->stream)
            : twi_gpu_hops_write(&self->hops, &to->out, origin, depth, base, last, self->stream),
        "starting to write distances");
}

/* Levels that have a bit, of those before `level`; *ended: the next has none. */
static tw_status look(const hops_run *self, int32_t level, int32_t *depth, bool *ended)
{
    const size_t bytes = TWI_HOPS_SLOTS * sizeof *self->grown;
    tw_status status = check(self,
                             (int)cudaMemcpyAsync(self->grown, self->hops.grown, bytes,
                                                  cudaMemcpyDeviceToHost, self->stream),
                             "looking for more levels");
    if (status == TW_OK) {
        status = check(self, (int)cudaStreamSynchronize(self->stream), "searching");
    }
    if (status == TW_OK) {
        status = twi_check_cancel(self->ctx);
    }
    *depth = 0;
    while (status == TW_OK && *depth + 1 < level && self->grown[*depth + 1] != 0) {
        ++*depth;
    }
    *ended = *depth + 1 < level;
    return status;
}

/* Searches from `count` places from `first` on. *deep: some distance is more than the destination
 * holds, and nothing of the batch counts. */
static tw_status search_batch(hops_run *self, int64_t first, int32_t count, const destination *to,
                              bool *deep)
{
    int32_t origin = 0, base = 0, level = 1, depth = 0;
    const twi_hops_batch batch = {self->list, first, count};
    bool ended = false;
    *deep = false;
    tw_status status =
        check(self, twi_gpu_hops_begin(&self->hops, &batch, self->stream), "starting searches");
    while (status == TW_OK && !ended) {
        const int32_t room = TWI_HOPS_WINDOW - level + 1;
        const int32_t some = self->guess < room ? self->guess : room;
        status = check(self,
                       twi_gpu_hops_levels(&self->hops, base == 0 ? &batch : NULL, origin, level,
                                           some, self->stream),
                       "starting a level");
        level += some;
        if (status == TW_OK) {
            status = look(self, level, &depth, &ended);
        }
        if (status != TW_OK) {
            return status;
        }
        ended = ended || base + depth >= self->level_limit; /* delivery drops what is beyond */
        if (base + depth > to->deepest) {
            *deep = true;
            return TW_OK;
        }
        if (ended || level > TWI_HOPS_WINDOW) {
            status = emit(self, to, origin, depth, base, false);
        }
        if (status == TW_OK && !ended && level > TWI_HOPS_WINDOW) {
            origin = (origin + TWI_HOPS_WINDOW) % TWI_HOPS_SLOTS;
            base += TWI_HOPS_WINDOW;
            level = 1;
            status = check(self, twi_gpu_hops_next(&self->hops, origin, self->stream),
                           "starting a level");
        }
    }
    self->guess = base > 0 ? TWI_HOPS_WINDOW : depth + 1;
    return status;
}

/* Waits for what the clock was started for, and adds its time on the device. */
static tw_status end_timing(hops_run *self)
{
    tw_status status = twi_gpu_clock_stop(self->ctx, &self->clock, self->stream);
    return status == TW_OK
               ? twi_gpu_clock_read(self->ctx, &self->clock, "searching", &self->seconds)
               : status;
}

static tw_status timed_batch(hops_run *self, int64_t first, int32_t count, const destination *to,
                             bool *deep)
{
    tw_status status = twi_gpu_clock_start(self->ctx, &self->clock, self->stream);
    if (status == TW_OK) {
        status = search_batch(self, first, count, to, deep);
    }
    return status == TW_OK ? end_timing(self) : status;
}

/* Of two bytes it is the device's limit: the CPU can do it. */
static tw_status fail_deep(tw_context *ctx, tw_type type)
{
    return tw_fail(ctx, type == TW_U8 ? TW_ERR_RANGE : TW_ERR_DEVICE,
                   "a distance exceeds %d hops, the maximum of type %s; use %s",
                   (int)tw_apsp_infinity(type) - 1, tw_type_name(type),
                   type == TW_U8 ? "u16" : "the CPU");
}

/* -------------------------------------------------------------------------------------- columns */

/* The part of a destination of all columns that a batch fills. */
static destination columns_of(const destination *all, int64_t first, int32_t count)
{
    destination part = *all;
    if (part.folds == NULL) {
        part.out.data = (char *)part.out.data + first * (int64_t)tw_type_size(part.out.type);
        part.out.count = count;
    }
    return part;
}

/* A batch with as many levels as the one before had; whether there were more is seen later, in
 * place `number` of what the host looks at. */
static tw_status queue_batch(const hops_run *self, int64_t first, int32_t count,
                             const destination *all, int number)
{
    const destination to = columns_of(all, first, count);
    const twi_hops_batch batch = {NULL, first, count};
    tw_status status =
        check(self, twi_gpu_hops_begin(&self->hops, &batch, self->stream), "starting searches");
    if (status == TW_OK) {
        status =
            check(self, twi_gpu_hops_levels(&self->hops, &batch, 0, 1, self->guess, self->stream),
                  "starting a level");
    }
    if (status == TW_OK) {
        status = emit(self, &to, 0, self->guess, 0, true);
    }
    return status == TW_OK
               ? check(self,
                       (int)cudaMemcpyAsync(self->grown + TWI_HOPS_SLOTS + number,
                                            self->hops.grown + self->guess, sizeof *self->grown,
                                            cudaMemcpyDeviceToHost, self->stream),
                       "looking for more levels")
               : status;
}

/* One batch by itself, however deep. */
static tw_status search_alone(hops_run *self, int64_t first, const destination *all)
{
    const int64_t left = self->graph->n - first;
    const int32_t searches = twi_hops_searches(self->hops.lanes);
    const int32_t count = left < searches ? (int32_t)left : searches;
    const destination to = columns_of(all, first, count);
    bool deep = false;
    tw_status status = timed_batch(self, first, count, &to, &deep);
    return status == TW_OK && deep ? fail_deep(self->ctx, all->out.type) : status;
}

/* Batches from `first` on, together; then those again that had more levels, of which nothing was
 * written. */
static tw_status search_group(hops_run *self, int64_t first, int64_t batches,
                              const destination *all)
{
    const int64_t n = self->graph->n, searches = twi_hops_searches(self->hops.lanes);
    tw_status status = twi_gpu_clock_start(self->ctx, &self->clock, self->stream);
    for (int64_t i = 0; i < batches && status == TW_OK; i++) {
        const int64_t at = first + i * searches;
        status =
            queue_batch(self, at, (int32_t)(n - at < searches ? n - at : searches), all, (int)i);
    }
    if (status == TW_OK) {
        status = end_timing(self);
    }
    if (status == TW_OK) {
        status = twi_check_cancel(self->ctx);
    }
    for (int64_t i = 0; i < batches && status == TW_OK; i++) {
        if (self->grown[TWI_HOPS_SLOTS + i] != 0) {
            status = search_alone(self, first + i * searches, all);
        }
    }
    return status;
}

/* Every vertex as a place, along the arcs as they are. */
static tw_status search_columns(hops_run *self, const destination *all)
{
    const int64_t n = self->graph->n, searches = twi_hops_searches(self->hops.lanes);
    const int64_t most = GROUP_VERTICES / n < GROUP ? GROUP_VERTICES / n : GROUP;
    tw_status status = search_alone(self, 0, all);
    for (int64_t first = searches; first < n && status == TW_OK;) {
        const int64_t left = (n - first + searches - 1) / searches;
        const int64_t batches = left < most ? left : most;
        if (batches > 1 && self->guess < TWI_HOPS_WINDOW) {
            status = search_group(self, first, batches, all);
            first += batches * searches;
        } else {
            status = search_alone(self, first, all);
            first += searches;
        }
        if (status == TW_OK) {
            twi_progress(self->ctx, "search", (double)(first < n ? first : n), (double)n, "rows");
        }
    }
    return status;
}

/* ----------------------------------------------------------------------------------------- rows */

/* Rows of a batch on their way to delivery. */
typedef struct batch_rows {
    hops_run *run;
    twi_delivery *delivery;
    int64_t first; /* row of the result that the batch begins with */
    int64_t stride;
} batch_rows;

static tw_status fetch(void *batch, int64_t first, int64_t count, int turn)
{
    const batch_rows *b = batch;
    const hops_run *self = b->run;
    const int64_t row = b->stride * (int64_t)tw_type_size(self->type);
    return check(self,
                 (int)cudaMemcpyAsync(self->stage.pinned[turn], self->rows + first * row,
                                      (size_t)(count * row), cudaMemcpyDeviceToHost, self->stream),
                 "copying rows");
}

static tw_status give(void *batch, int64_t first, int64_t count, char *work)
{
    const batch_rows *b = batch;
    const twi_rows rows = {
        .first = b->first + first,
        .count = count,
        .work = work,
        .stride = b->stride,
        .type = b->run->type,
        .scale = b->run->graph->max_weight,
    };
    return twi_delivery_rows(b->run->ctx, b->delivery, &rows);
}

/* `count` rows of a batch, which begin with row `first` of the result, through the buffers. */
static tw_status deliver_batch(hops_run *self, twi_delivery *delivery, int64_t first, int64_t count,
                               twi_gpu_outcome *out)
{
    const int64_t n = self->graph->n,
                  stride = twi_gpu_row_length(n, (int64_t)tw_type_size(self->type));
    const int64_t fit = (int64_t)self->stage.bytes / (stride * (int64_t)tw_type_size(self->type));
    batch_rows batch = {self, delivery, first, stride};
    const twi_gpu_rows_back how = {&batch, fetch, give, self->stream, &out->seconds_download};
    tw_status status =
        check(self,
              twi_gpu_hops_turn(self->rows, stride, self->slab, twi_hops_searches(self->hops.lanes),
                                n, (int32_t)count, self->type, self->stream),
              "starting to transpose a slab");
    return status == TW_OK
               ? twi_gpu_bring_back(self->ctx, &self->stage, &how, 0, count, fit > 0 ? fit : 1)
               : status;
}

static tw_status run_rows(hops_run *self, const tw_apsp_plan *plan, twi_delivery *delivery,
                          twi_gpu_outcome *out)
{
    const int64_t all = twi_plan_rows(plan);
    const int32_t searches = twi_hops_searches(self->hops.lanes);
    tw_status status = TW_OK;
    for (int64_t first = 0; first < all && status == TW_OK;) {
        const int32_t count = all - first < searches ? (int32_t)(all - first) : searches;
        const destination to = {.out = {self->slab, searches, self->type, count},
                                .deepest = (int32_t)tw_apsp_infinity(self->type) - 1};
        bool deep = false;
        status = timed_batch(self, first, count, &to, &deep);
        if (status == TW_OK && deep && self->type == TW_U8) {
            self->type = TW_U16;
            continue;
        }
        if (status == TW_OK && deep) {
            status = fail_deep(self->ctx, self->type);
        }
        if (status == TW_OK) {
            status = deliver_batch(self, delivery, first, count, out);
        }
        first += count;
        if (status == TW_OK) {
            twi_progress(self->ctx, "search", (double)first, (double)all, "rows");
        }
    }
    return status;
}

/* Sums of whole rows: along the arcs as they are, a batch adds its columns to every row. */
static tw_status run_folds(hops_run *self, twi_delivery *delivery)
{
    const int64_t n = self->graph->n, weight = (int64_t)self->graph->max_weight;
    const destination to = {.folds = self->folds, .deepest = INT32_MAX - TWI_HOPS_WINDOW};
    twi_hops_fold *seen = NULL;
    twi_fold *folds = NULL;
    tw_status status = check(
        self, (int)cudaMemsetAsync(self->folds, 0, (size_t)n * sizeof *self->folds, self->stream),
        "clearing sums");
    if (status == TW_OK) {
        status = search_columns(self, &to);
    }
    if (status != TW_OK ||
        (status = twi_alloc(self->ctx, &seen, (uint64_t)n, sizeof *seen, "sums")) != TW_OK ||
        (status = twi_alloc(self->ctx, &folds, (uint64_t)n, sizeof *folds, "sums")) != TW_OK ||
        (status = check(self,
                        (int)cudaMemcpyAsync(seen, self->folds, (size_t)n * sizeof *seen,
                                             cudaMemcpyDeviceToHost, self->stream),
                        "copying sums")) != TW_OK ||
        (status = check(self, (int)cudaStreamSynchronize(self->stream), "copying sums")) != TW_OK) {
        goto done;
    }
    for (int64_t v = 0; v < n; v++) {
        folds[v] = (twi_fold){.reached = seen[v].reached,
                              .sum = seen[v].sum * weight,
                              .most = seen[v].most * weight,
                              .farthest = -1};
    }
    status = twi_delivery_folds(self->ctx, delivery, 0, n, folds);
done:
    twi_free(folds);
    twi_free(seen);
    return status;
}

static double level_limit(const tw_apsp_plan *plan)
{
    return plan->options.cutoff >= 0 && plan->graph->arcs > 0
               ? plan->options.cutoff / plan->graph->max_weight + 1
               : INFINITY;
}

tw_status twi_gpu_hops_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                           twi_gpu_outcome *out, double *arcs)
{
    hops_run self = {.ctx = ctx, .graph = plan->graph, .type = TW_U8, .guess = FIRST_GUESS};
    *out = (twi_gpu_outcome){.used = TW_U8, .attempts = 1, .symmetric = plan->symmetric};
    *arcs = (double)plan->graph->arcs * (double)twi_plan_rows(plan);
    if (twi_plan_rows(plan) == 0) {
        return TW_OK;
    }
    const double began = twi_seconds();
    self.hops = (twi_hops){.n = plan->graph->n, .lanes = lanes_of(plan)};
    self.threads = plan->threads;
    self.level_limit = level_limit(plan);
    self.folded = twi_delivery_is_folded(delivery) && may_fold(plan);
    tw_status status = open_queue(&self, plan->gpus.index[0]);
    if (status == TW_OK) {
        status =
            open_searches(&self, !self.folded, plan->options.sources,
                          plan->options.sources != NULL ? plan->options.source_count : 0, TW_U16);
    }
    if (status == TW_OK && !self.folded) {
        status = twi_gpu_stage_open(ctx, &self.stage, self.stream, (uint64_t)buffer_bytes(plan));
    }
    out->seconds_upload = twi_seconds() - began;
    if (status == TW_OK) {
        status = self.folded ? run_folds(&self, delivery) : run_rows(&self, plan, delivery, out);
    }
    out->used = self.type;
    out->seconds_device = self.seconds;
    close_run(&self);
    return status;
}

/* --------------------------------------------------------------------------------------- matrix */

tw_status twi_gpu_hops_matrix(tw_context *ctx, int32_t device, const tw_graph *graph,
                              const tw_matrix *matrix, double *seconds)
{
    hops_run self = {.ctx = ctx,
                     .graph = graph,
                     .type = matrix->type,
                     .level_limit = INFINITY,
                     .guess = FIRST_GUESS};
    const int64_t n = graph->n;
    *seconds = 0;
    if (n == 0) {
        return TW_OK;
    }
    self.hops = (twi_hops){.n = n, .lanes = lanes_for(n)};
    self.threads = TWI_THREADS_MOST;
    const destination to = {.out = {matrix->data, matrix->stride, matrix->type, 0},
                            .deepest = (int32_t)tw_apsp_infinity(matrix->type) - 1};
    tw_status status = open_queue(&self, device);
    if (status == TW_OK) {
        status = open_searches(&self, false, NULL, 0, TW_AUTO);
    }
    if (status == TW_OK) {
        status = search_columns(&self, &to);
    }
    *seconds = self.seconds;
    close_run(&self);
    return status;
}
