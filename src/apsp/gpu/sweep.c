/*
 * A sweep on GPUs. The host eliminates (sweep/factor.c), the closed arcs go up in slabs
 * (gpu/slabs.h), and the devices sweep: some thousand sources at a time are the columns of a batch,
 * a matrix of n rows in device memory.
 *
 * Up the tree go the heights, down the depths, one launch after the other: blocks of one level know
 * nothing of each other. The columns of a batch are sorted by the place of their source in the
 * tree, so that those with a source in or below a block stand side by side, and the way up works on
 * them alone. Two blocks of one height have none in common: no two thread blocks write the same.
 * The rows of a block on the way up are copied to a pool first, since it writes them as well as
 * reads them.
 *
 * Then the batch is folded on the device, 16 bytes per source, or its columns are read as rows,
 * in the type of the result, and leave through two pinned buffers. The certificate (methods.md)
 * runs there, too; where it refuses, the run goes on in the next wider type from that row on.
 *
 * Several devices take batches in turn. Where folds are wanted the host prepares one batch while
 * another one is computed.
 *
 * Device memory: the slabs, and n rows of a batch. Host memory: the slabs while they are made, and
 * pinned buffers.
 */
#include "apsp/gpu/columns.h"
#include "apsp/gpu/gpu.h"
#include "apsp/gpu/lane.h"
#include "apsp/shared/attempt.h"
#include "base/background.h"
#include "base/clock.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "gpu/queue.h"
#include "gpu/stage.h"

#include <string.h>

typedef struct gpu_sweep {
    tw_context *ctx;
    twi_lane_shape shape;
    twi_gpu_outcome *out;
    twi_slabs slabs;
    char *arcs;      /* elements of the slabs, until they are on the devices */
    int32_t *before; /* of each place: sources of the current batch that stand before it */
    twi_lane lanes[TWI_GPU_MOST];
    int32_t count;   /* of lanes */
    twi_fold *folds; /* of all rows */
    int64_t *spans;  /* of each height: thread blocks of columns; 0 without a source below */
    twi_delivery *delivery;
    int64_t first; /* row that is to be delivered next */
    bool refuted;  /* there it needs a wider type */
} gpu_sweep;

static tw_status check(gpu_sweep *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

static tw_status enter(gpu_sweep *self, const twi_lane *l)
{
    return check(self, (int)cudaSetDevice(l->device), "selecting the device");
}

/* ------------------------------------------------------------------------------- one batch */

/* Sort the sources of the batch by place, and tell every block its columns. */
static void prepare(gpu_sweep *self, twi_lane_turn *t)
{
    const twi_tree *tree = self->shape.plan->tree;
    const twi_lane_letter *l = &t->here;
    int32_t *before = self->before;
    memset(before, 0, ((size_t)tree->n + 1) * sizeof *before);
    for (int64_t i = 0; i < t->count; i++) {
        before[tree->place[twi_plan_source(self->shape.plan, t->first + i)] + 1]++;
    }
    for (int64_t p = 0; p < tree->n; p++) {
        before[p + 1] += before[p];
    }
    for (int32_t b = 0; b < tree->blocks; b++) {
        l->range[b] = (twi_sweep_range){before[self->slabs.below[b]], before[tree->first[b + 1]]};
    }
    for (int64_t i = 0; i < t->count; i++) {
        int32_t p = tree->place[twi_plan_source(self->shape.plan, t->first + i)];
        int32_t column = before[p]++;
        l->source[column] = p;
        l->row[column] = (int32_t)i;
        l->column[i] = column;
    }
    const int64_t width = (int64_t)self->shape.kernel->tile * self->shape.kernel->tiles;
    memset(self->spans, 0, (size_t)tree->heights * sizeof *self->spans);
    for (int32_t b = 0; b < tree->blocks; b++) {
        int64_t begin = l->range[b].begin / self->shape.kernel->tile * self->shape.kernel->tile;
        int64_t *spans = &self->spans[tree->height[b]];
        if (l->range[b].begin < l->range[b].end &&
            *spans < (l->range[b].end - begin + width - 1) / width) {
            *spans = (l->range[b].end - begin + width - 1) / width;
        }
    }
    *l->found = (twi_lane_findings){.misfit = UINT64_MAX, .farthest = INT32_MAX};
}

static tw_status go_up(gpu_sweep *self, twi_lane *l)
{
    static const int32_t height_of[TWI_FORMS] = {TWI_SWEEP_TALL, TWI_SWEEP_LOW};
    const twi_slabs *s = &self->slabs;
    tw_status status = TW_OK;
    for (int32_t h = 0; h < s->levels[TWI_UP] && status == TW_OK; h++) {
        if (self->spans[h] == 0) {
            continue;
        }
        int64_t blocks = s->height_first[h + 1] - s->height_first[h];
        status = check(self,
                       self->shape.kernel->take(&l->batch, l->by_height + s->height_first[h],
                                                blocks, s->height_rows[h], l->stream),
                       "starting a level of the tree");
        for (int form = 0; form < TWI_FORMS && status == TW_OK; form++) {
            const int64_t *first = s->task_first[TWI_UP][form] + h;
            if (first[1] > first[0]) {
                status = check(self,
                               self->shape.kernel->up(&l->batch, l->tasks + first[0],
                                                      first[1] - first[0], height_of[form],
                                                      self->spans[h], l->stream),
                               "starting a level of the tree");
            }
        }
    }
    return status;
}

static tw_status go_down(gpu_sweep *self, twi_lane *l)
{
    static const int32_t height_of[TWI_FORMS] = {TWI_SWEEP_TALL, TWI_SWEEP_LOW};
    const twi_slabs *s = &self->slabs;
    tw_status status = TW_OK;
    for (int32_t d = 0; d < s->levels[TWI_DOWN]; d++) {
        for (int form = 0; form < TWI_FORMS && status == TW_OK; form++) {
            const int64_t *first = s->task_first[TWI_DOWN][form] + d;
            if (first[1] > first[0]) {
                status =
                    check(self,
                          self->shape.kernel->down(&l->batch, l->tasks + first[0],
                                                   first[1] - first[0], height_of[form], l->stream),
                          "starting a level of the tree");
            }
        }
    }
    return status;
}

static twi_gpu_folds folds_of(const twi_lane_letter *l)
{
    return (twi_gpu_folds){l->sum,
                           l->reached,
                           l->most,
                           &l->found->widest,
                           &l->found->farthest,
                           &l->found->capped,
                           &l->found->refuted,
                           l->column};
}

/* Sums and maxima, and the certificate. */
static tw_status finish(gpu_sweep *self, twi_lane *l, const twi_lane_turn *t)
{
    const twi_gpu_folds folds = folds_of(&t->there);
    tw_status status = TW_OK;
    if (!self->shape.folded && !self->shape.certify) {
        return TW_OK;
    }
    char *from = (char *)(t->there.found + 1); /* with the gaps, which are copied, too */
    uint64_t bytes = (uint64_t)((char *)(t->there.most + self->shape.columns) - from);
    status = check(self, (int)cudaMemsetAsync(from, 0, bytes, l->stream), "clearing the sums");
    if (status == TW_OK) {
        status = check(self, self->shape.kernel->fold(&l->batch, &folds, l->stream),
                       "starting to fold columns");
    }
    if (status == TW_OK && self->shape.folded) {
        status = check(self, self->shape.kernel->widest(&l->batch, &folds, l->stream),
                       "starting to look for the farthest");
    }
    if (status == TW_OK && self->shape.certify) {
        status = check(self, self->shape.kernel->certify(&l->batch, &folds, &l->arcs, l->stream),
                       "starting to certify columns");
    }
    if (status == TW_OK) { /* findings and folds */
        bytes = (uint64_t)((char *)(t->there.most + self->shape.columns) - (char *)t->there.found);
        status = check(self,
                       (int)cudaMemcpyAsync(t->here.found, t->there.found,
                                            self->shape.folded ? bytes : sizeof(twi_lane_findings),
                                            cudaMemcpyDeviceToHost, l->stream),
                       "copying sums");
    }
    return status;
}

/* Put a batch on its device. */
static tw_status enqueue(gpu_sweep *self, twi_lane *l, twi_lane_turn *t)
{
    prepare(self, t);
    const uint64_t bytes = (uint64_t)((char *)(t->here.found + 1) - (char *)t->here.range);
    l->batch.columns = (int32_t)((t->count + self->shape.kernel->tile - 1) /
                                 self->shape.kernel->tile * self->shape.kernel->tile);
    l->batch.count = (int32_t)t->count;
    l->batch.range = t->there.range;
    l->batch.source = t->there.source;
    l->batch.row = t->there.row;
    tw_status status = enter(self, l);
    if (status == TW_OK) {
        status = check(self,
                       (int)cudaMemcpyAsync(t->there.range, t->here.range, bytes,
                                            cudaMemcpyHostToDevice, l->stream),
                       "copying a batch");
    }
    if (status == TW_OK) {
        status = twi_gpu_clock_start(self->ctx, &t->clock, l->stream);
    }
    if (status == TW_OK) {
        status = check(self, self->shape.kernel->begin(&l->batch, l->stream), "starting a batch");
    }
    if (status == TW_OK) {
        status = go_up(self, l);
    }
    if (status == TW_OK) {
        status = go_down(self, l);
    }
    if (status == TW_OK) {
        status = finish(self, l, t);
    }
    return status == TW_OK ? twi_gpu_clock_stop(self->ctx, &t->clock, l->stream) : status;
}

/* --------------------------------------------------------------------------------- deliver a batch
 */

static tw_status deliver_rows(gpu_sweep *self, twi_lane *l, const twi_lane_turn *t)
{
    const tw_apsp_plan *plan = self->shape.plan;
    twi_gpu_columns columns = {
        .ctx = self->ctx,
        .plan = plan,
        .delivery = self->delivery,
        .rows =
            {
                .in = {l->batch.x, l->batch.ld},
                .work = self->shape.kernel->type,
                .type = plan->type,
                .sources = l->sources,
                .targets = l->targets,
                .potential = l->potential,
                .misfit = &t->there.found->misfit,
                .keep_whole = twi_plan_keeps_whole(plan),
                .cutoff = plan->options.cutoff,
                .cols = twi_plan_cols(plan),
                .column = t->there.column,
                .place = l->arcs.place,
                .begin = t->first,
            },
        .column = t->here.column,
        .place = plan->tree->place,
        .stream = l->stream,
        .copies = l->copies,
        .converted = l->converted,
        .stage = &l->stage,
        .block = l->block,
        .misfit = &t->here.found->misfit,
        .seconds = &self->out->seconds_download,
    };
    return twi_gpu_deliver_columns(&columns, t->count);
}

static void take_folds(gpu_sweep *self, const twi_lane_turn *t)
{
    const twi_lane_letter *l = &t->here;
    int64_t widest = l->found->widest != 0 ? (int64_t)(uint32_t) ~(uint32_t)l->found->widest : -1;
    for (int64_t i = 0; i < t->count; i++) {
        int32_t column = l->column[i];
        self->folds[t->first + i] = (twi_fold){
            .reached = l->reached[column] - 1,
            .sum = (int64_t)l->sum[column],
            .most = l->most[column],
            .farthest = i == widest ? l->found->farthest : -1,
        };
    }
}

/* Wait for a batch and take what it found. */
static tw_status collect(gpu_sweep *self, twi_lane *l, twi_lane_turn *t)
{
    tw_status status = enter(self, l);
    if (status == TW_OK) {
        status = twi_gpu_clock_read(self->ctx, &t->clock, "sweeping", &self->out->seconds_device);
    }
    self->refuted = status == TW_OK && self->shape.certify && t->here.found->refuted != 0;
    if (status != TW_OK || self->refuted) {
        return status;
    }
    if (self->shape.folded) {
        take_folds(self, t);
        return TW_OK;
    }
    return deliver_rows(self, l, t);
}

/* ------------------------------------------------------------------------------------ the run */

/* Batches from `first` on, which is where to go on when a wider type is needed. Batch k is taken by
 * device k modulo their number; as many are on their way as have a place. */
static tw_status run_batches(gpu_sweep *self)
{
    const int64_t total = twi_plan_rows(self->shape.plan);
    const int64_t batches = (total - self->first + self->shape.columns - 1) / self->shape.columns;
    const int64_t ahead = self->count * (self->shape.folded ? TWI_LANE_TURNS : 1);
    const int64_t begin = self->first;
    tw_status status = TW_OK;
    self->refuted = false;
    for (int64_t k = 0; k < batches + ahead && status == TW_OK && !self->refuted; k++) {
        int64_t done = k - ahead;
        if (done >= 0 && done < batches) {
            twi_lane *l = &self->lanes[done % self->count];
            twi_lane_turn *t = &l->turns[done / self->count % TWI_LANE_TURNS];
            status = collect(self, l, t);
            if (status == TW_OK && !self->refuted) {
                self->first = t->first + t->count;
                twi_progress(self->ctx, "sweep", (double)self->first, (double)total, "rows");
            }
        }
        if (status == TW_OK) {
            status = twi_check_cancel(self->ctx);
        }
        if (k < batches && status == TW_OK && !self->refuted) {
            twi_lane *l = &self->lanes[k % self->count];
            twi_lane_turn *t = &l->turns[k / self->count % TWI_LANE_TURNS];
            t->first = begin + k * self->shape.columns;
            t->count =
                total - t->first < self->shape.columns ? total - t->first : self->shape.columns;
            status = enqueue(self, l, t);
        }
    }
    return status;
}

/* The factor, in slabs, in host memory. */
static tw_status eliminate(gpu_sweep *self)
{
    const tw_apsp_plan *plan = self->shape.plan;
    const tw_type type = self->shape.kernel->type;
    tw_status status = twi_alloc(self->ctx, &self->arcs, (uint64_t)self->slabs.elements,
                                 tw_type_size(type), "the factor");
    if (status != TW_OK) {
        return status;
    }
    twi_slabs_filler filler = {self->ctx, &self->slabs, type, self->arcs, plan->threads};
    twi_factor_keeper keeper = {twi_slabs_keep, &filler};
    return twi_factor_keep(self->ctx, &keeper, plan, plan->tree,
                           twi_minplus_kernel_find(plan->isa, type), plan->threads);
}

static void open_lanes(void *sweep)
{
    gpu_sweep *self = sweep;
    for (int32_t i = 0; i < self->count; i++) {
        twi_lane_prepare(&self->lanes[i], &self->shape, &self->slabs,
                         self->shape.plan->gpus.index[i]);
    }
}

static void close_lanes(gpu_sweep *self)
{
    for (int32_t i = 0; i < self->count; i++) {
        twi_lane_close(&self->lanes[i]);
    }
}

/* Memory of a device and pinned memory take milliseconds that the factor does not need to wait for.
 */
static tw_status eliminate_beside_opening(gpu_sweep *self)
{
    tw_status status =
        twi_memory_check(self->ctx, (uint64_t)self->count * twi_lane_pinned(&self->shape),
                         "copying to and from the GPU");
    if (status != TW_OK) {
        return status;
    }
    twi_background *opening = twi_background_start(open_lanes, self);
    status = eliminate(self);
    if (opening == NULL) {
        open_lanes(self);
    }
    twi_background_join(opening);
    return status;
}

/* The plan has seen to the first type; a wider one must fit as well. */
static tw_status check_room(gpu_sweep *self, tw_type type)
{
    char need[32];
    char have[32];
    uint64_t bytes = twi_gpu_sweep_bytes(self->shape.plan, type);
    return bytes <= self->shape.plan->gpu_allowed
               ? TW_OK
               : tw_fail(self->ctx, TW_ERR_MEMORY,
                         "sweeping in %s needs %s of GPU memory, but %s may be used; raise the "
                         "limit or use the device 'cpu'",
                         tw_type_name(type), twi_bytes(need, (double)bytes),
                         twi_bytes(have, (double)self->shape.plan->gpu_allowed));
}

/* Those of the first `count` rows; no other row is folded after this. */
static tw_status deliver_folds(gpu_sweep *self, int64_t count)
{
    tw_status status =
        count > 0 ? twi_delivery_folds(self->ctx, self->delivery, 0, count, self->folds) : TW_OK;
    twi_free(self->folds);
    self->folds = NULL;
    return status;
}

/* Make ready for the rows that are left, in one type. */
static tw_status open_attempt(void *self_, tw_type type)
{
    gpu_sweep *self = self_;
    const tw_apsp_plan *plan = self->shape.plan;
    twi_slabs_size size = {self->slabs.elements, self->slabs.tasks, 0};
    self->shape.kernel = twi_gpu_sweep_kernel_find(type);
    self->shape.certify = (type == TW_U16 && twi_plan_may_reach(plan, TWI_GPU_INF_U16)) ||
                          (type == TW_I32 && twi_plan_may_reach(plan, TW_APSP_INF_I32));
    self->shape.folded = self->folds != NULL && self->shape.kernel->fold != NULL;
    self->shape.columns = twi_lane_columns(plan, size, self->shape.kernel);
    tw_status status = check_room(self, type);
    if (status == TW_OK && self->folds != NULL && !self->shape.folded) {
        status = deliver_folds(self, self->first); /* the others leave as rows */
    }
    return status == TW_OK ? eliminate_beside_opening(self) : status;
}

static tw_status sweep(void *self_)
{
    gpu_sweep *self = self_;
    tw_status status = TW_OK;
    double began = twi_seconds();
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        status = twi_lane_open(self->ctx, &self->lanes[i]);
        if (status == TW_OK) {
            status =
                twi_lane_upload(self->ctx, &self->lanes[i], &self->shape, &self->slabs, self->arcs);
        }
    }
    self->out->seconds_upload += twi_seconds() - began;
    twi_free(self->arcs);
    self->arcs = NULL;
    if (status == TW_OK) {
        status = run_batches(self);
    }
    close_lanes(self);
    return status;
}

/* Batches were certified one by one, and rows have left with them. */
static tw_status certify(void *self, bool *exact)
{
    *exact = !((gpu_sweep *)self)->refuted;
    return TW_OK;
}

static tw_status deliver(void *self_)
{
    gpu_sweep *self = self_;
    return self->folds != NULL ? deliver_folds(self, self->first) : TW_OK;
}

static const twi_engine engine = {"sweeping", open_attempt, sweep, certify, deliver, NULL};

static tw_status open_run(gpu_sweep *self, bool folded)
{
    const twi_tree *tree = self->shape.plan->tree;
    tw_status status = twi_slabs_create(self->ctx, &self->slabs, tree);
    if (status == TW_OK) {
        status = twi_alloc(self->ctx, &self->before, (uint64_t)tree->n + 1, sizeof *self->before,
                           "the columns of the sweep");
    }
    if (status == TW_OK) {
        status = twi_alloc(self->ctx, &self->spans, (uint64_t)tree->heights, sizeof *self->spans,
                           "the columns of the sweep");
    }
    if (status == TW_OK && folded) {
        status = twi_alloc(self->ctx, &self->folds, (uint64_t)twi_plan_rows(self->shape.plan),
                           sizeof *self->folds, "the sums of the rows");
    }
    return status;
}

tw_status twi_gpu_sweep_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                            twi_gpu_outcome *out)
{
    gpu_sweep self = {.ctx = ctx,
                      .shape = {.plan = plan},
                      .out = out,
                      .count = plan->gpus.count,
                      .delivery = delivery};
    *out = (twi_gpu_outcome){.used = plan->work_type};
    if (plan->graph->n == 0 || twi_plan_rows(plan) == 0) {
        out->attempts = 1;
        return TW_OK;
    }
    tw_status status = open_run(&self, twi_delivery_is_folded(delivery));
    if (status == TW_OK) {
        status = twi_attempt(ctx, &engine, &self, plan->gpu_narrow ? TW_U16 : plan->work_type,
                             plan->options.work_type, &out->used, &out->attempts);
    }
    close_lanes(&self);
    twi_free(self.arcs);
    twi_free(self.folds);
    twi_free(self.spans);
    twi_free(self.before);
    twi_slabs_clear(&self.slabs);
    return status;
}
