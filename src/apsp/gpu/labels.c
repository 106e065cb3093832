/*
 * Searches that correct labels, on one GPU. Some thousand sources at a time are the columns of a
 * batch, a matrix of n rows in device memory. The host queues as many passes as the batch before
 * had, and then looks whether the last one changed anything.
 *
 * Then the batch is folded on the device, as that of a sweep is and by the same kernels, or its
 * columns are read as rows, in the type of the result, and leave through two pinned buffers while
 * the next batch is searched. The certificate (methods.md) runs on the device, too; where it
 * refuses, the run goes on in the next wider type from that row on.
 *
 * Device memory: the arcs, and two batches, or one where sums are all that is wanted.
 */
#include "apsp/gpu/columns.h"
#include "apsp/gpu/kernels/sweep.h"
#include "apsp/gpu/labels_space.h"
#include "apsp/shared/attempt.h"
#include "base/clock.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "gpu/device.h"
#include "gpu/queue.h"

#define FIRST_GUESS 12 /* passes that are queued before the first look */
/* Passes after a look that was too early: one in MORE_SHARE of those before, and at least some.
 * Where they are too many, the last ones end at once, while a look costs a pass over the batch. */
#define MORE_PASSES 3
#define MORE_SHARE 8
/* Blocks and passes of a portion, at most, of which two are queued: what a cancelled run waits for,
 * 2 ns a block, and what a device takes before it lets the host wait. */
#define BLOCKS_AHEAD ((int64_t)2 << 20)
#define LAUNCHES_AHEAD 240

typedef struct labels_run {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    twi_gpu_outcome *out;
    twi_entering entering;
    twi_labels_space space;
    const twi_gpu_sweep_kernel *reducer; /* sums and the certificate are a sweep's */
    int32_t guess;                       /* passes of the next batch */
    twi_fold *folds;                     /* of all rows; NULL: folds alone are not enough */
    bool folded;
    twi_delivery *delivery;
    int64_t first; /* rows before it are done */
    bool refuted;  /* a row from `first` on does not fit the type */
} labels_run;

static tw_status check(const labels_run *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

/* ------------------------------------------------------------------------------------ one batch */

static twi_gpu_batch batch_of(const labels_run *self, const twi_labels_turn *t)
{
    return (twi_gpu_batch){
        .x = t->labels.x,
        .ld = t->labels.ld,
        .n = t->labels.n,
        .columns = (int32_t)self->space.columns,
        .count = t->count,
        .vertex = self->space.place,
        .source =
            self->space.list != NULL ? self->space.list + t->first : self->space.place + t->first,
        .row = self->space.column,
        .one = 1,
    };
}

static twi_gpu_folds folds_of(const labels_run *self, const twi_labels_letter *l)
{
    return (twi_gpu_folds){l->sum,
                           l->reached,
                           l->most,
                           &l->found->widest,
                           &l->found->farthest,
                           &l->found->capped,
                           &l->found->refuted,
                           self->space.column};
}

/* Sums and maxima, and the certificate: in vain if more passes follow. */
static tw_status reduce(labels_run *self, twi_labels_turn *t)
{
    const twi_gpu_folds folds = folds_of(self, &t->there);
    const twi_gpu_batch batch = batch_of(self, t);
    const twi_gpu_sweep_arcs arcs = {self->space.offsets, self->space.heads, self->space.place};
    char *from = (char *)t->there.sum;
    *t->here.found = (twi_labels_findings){.misfit = UINT64_MAX, .farthest = INT32_MAX};
    tw_status status =
        check(self,
              (int)cudaMemcpyAsync(t->there.found, t->here.found, sizeof(twi_labels_findings),
                                   cudaMemcpyHostToDevice, self->space.stream),
              "clearing the sums");
    if (status == TW_OK) {
        status = check(self,
                       (int)cudaMemsetAsync(from, 0, (size_t)((char *)t->there.changed - from),
                                            self->space.stream),
                       "clearing the sums");
    }
    if (status == TW_OK && (self->folded || self->space.certify)) {
        status = check(self, self->reducer->fold(&batch, &folds, self->space.stream),
                       "starting to fold columns");
    }
    if (status == TW_OK && self->folded) {
        status = check(self, self->reducer->widest(&batch, &folds, self->space.stream),
                       "starting to look for the farthest");
    }
    if (status == TW_OK && self->space.certify) {
        status = check(self, self->reducer->certify(&batch, &folds, &arcs, self->space.stream),
                       "starting to certify columns");
    }
    return status;
}

/* Passes that are queued before the host waits for as many before them. Where rows leave while the
 * next batch is searched, the host had better not wait. */
static int32_t portion(const labels_run *self, const twi_labels *l)
{
    const int64_t groups = TWI_LABELS_THREADS / l->lanes;
    const int64_t blocks = (l->item_count / (groups * TWI_LABELS_ITEMS) + 1) * l->chunks;
    const int64_t most = self->folded ? BLOCKS_AHEAD / blocks : LAUNCHES_AHEAD;
    return (int32_t)(most < 1 ? 1 : most < LAUNCHES_AHEAD ? most : LAUNCHES_AHEAD);
}

/* Queue some passes; the host follows. */
static tw_status queue(labels_run *self, twi_labels_turn *t, int32_t passes)
{
    twi_labels_space *space = &self->space;
    const int32_t most = portion(self, &t->labels);
    tw_status status = TW_OK;
    for (int32_t done = 0, which = 0; done < passes && status == TW_OK; which = 1 - which) {
        const int32_t some = passes - done < most ? passes - done : most;
        status = check(self, space->kernel->pass(&t->labels, t->passes + 1, some, space->stream),
                       "starting a pass");
        t->passes += some;
        done += some;
        if (status == TW_OK) {
            status = twi_gpu_record(self->ctx, space->passed[which], space->stream);
        }
        if (status == TW_OK && done > most && done < passes) {
            status = twi_gpu_watch(self->ctx, space->passed[1 - which], "searching");
        }
    }
    return status;
}

/* Some more passes, and what is to be seen of them. */
static tw_status go_on(labels_run *self, twi_labels_turn *t, int32_t passes)
{
    tw_status status = queue(self, t, passes);
    if (status == TW_OK) {
        status = reduce(self, t);
    }
    if (status == TW_OK) {
        status = check(self,
                       (int)cudaMemcpyAsync(t->here.found, t->there.found, t->there.bytes,
                                            cudaMemcpyDeviceToHost, self->space.stream),
                       "copying sums");
    }
    return status == TW_OK ? twi_gpu_clock_stop(self->ctx, &t->clock, self->space.stream) : status;
}

static tw_status start(labels_run *self, twi_labels_turn *t, int64_t first)
{
    const twi_labels *l = &t->labels;
    const int64_t left = twi_plan_rows(self->plan) - first;
    const size_t stamps = (size_t)(l->chunks * l->n) * sizeof *l->stamp;
    const size_t parts =
        (size_t)self->entering.part_count * (size_t)l->chunks * sizeof *l->part_stamp;
    t->first = first;
    t->count = (int32_t)(left < self->space.columns ? left : self->space.columns);
    t->passes = 0;
    tw_status status = twi_gpu_clock_start(self->ctx, &t->clock, self->space.stream);
    if (status == TW_OK) {
        status = check(self, (int)cudaMemsetAsync(l->stamp, 0xff, stamps, self->space.stream),
                       "clearing the stamps");
    }
    if (status == TW_OK) {
        status = check(self,
                       (int)cudaMemsetAsync(l->changed, 0, (size_t)l->chunks * sizeof *l->changed,
                                            self->space.stream),
                       "clearing the stamps");
    }
    if (status == TW_OK && parts > 0) {
        status = check(self, (int)cudaMemsetAsync(l->part_stamp, 0, parts, self->space.stream),
                       "clearing the stamps");
    }
    if (status == TW_OK) {
        status = check(
            self,
            self->space.kernel->begin(l, self->space.list, first, t->count, self->space.stream),
            "starting searches");
    }
    return status == TW_OK ? go_on(self, t, self->guess) : status;
}

/* The last pass that changed something. */
static int32_t last_change(const twi_labels_turn *t)
{
    int32_t last = 0;
    for (int32_t i = 0; i < t->labels.chunks; i++) {
        last = t->here.changed[i] > last ? t->here.changed[i] : last;
    }
    return last;
}

static tw_status await(labels_run *self, twi_labels_turn *t)
{
    tw_status status = twi_gpu_watch(self->ctx, t->clock.ended, "searching");
    return status == TW_OK
               ? twi_gpu_clock_read(self->ctx, &t->clock, "searching", &self->out->seconds_device)
               : status;
}

/* Wait until nothing changes any more; *refuted: the batch needs a wider type. */
static tw_status finish(labels_run *self, twi_labels_turn *t, bool *refuted)
{
    tw_status status = await(self, t);
    while (status == TW_OK && last_change(t) >= t->passes) {
        status = twi_check_cancel(self->ctx);
        if (status == TW_OK) {
            status = twi_gpu_clock_start(self->ctx, &t->clock, self->space.stream);
        }
        if (status == TW_OK) {
            const int32_t share = t->passes / MORE_SHARE;
            status = go_on(self, t, share > MORE_PASSES ? share : MORE_PASSES);
        }
        if (status == TW_OK) {
            status = await(self, t);
        }
    }
    if (status != TW_OK) {
        return status;
    }
    self->guess = last_change(t) + 1;
    *refuted = self->space.certify && t->here.found->refuted != 0;
    return status;
}

/* ------------------------------------------------------------------------------ deliver a batch */

static twi_gpu_rows rows_of(const labels_run *self, const twi_labels_turn *t)
{
    return (twi_gpu_rows){
        .in = {t->labels.x, t->labels.ld},
        .work = self->space.kernel->type,
        .type = self->plan->type,
        .sources = self->space.list,
        .targets = self->space.targets,
        .potential = self->space.potential,
        .misfit = &t->there.found->misfit,
        .keep_whole = twi_plan_keeps_whole(self->plan),
        .cutoff = self->plan->options.cutoff,
        .cols = twi_plan_cols(self->plan),
        .column = self->space.column,
        .place = self->space.place,
        .begin = t->first,
    };
}

/* The batch has ended, which the host has seen. */
static tw_status deliver_rows(labels_run *self, const twi_labels_turn *t)
{
    twi_labels_space *space = &self->space;
    twi_gpu_columns columns = {
        .ctx = self->ctx,
        .plan = self->plan,
        .delivery = self->delivery,
        .rows = rows_of(self, t),
        .stream = space->rows,
        .copies = space->copies,
        .converted = space->converted,
        .stage = &space->stage,
        .block = space->block,
        .misfit = &t->here.found->misfit,
        .seconds = &self->out->seconds_download,
    };
    return twi_gpu_deliver_columns(&columns, t->count);
}

static void take_folds(labels_run *self, const twi_labels_turn *t)
{
    const twi_labels_letter *l = &t->here;
    const int64_t widest =
        l->found->widest != 0 ? (int64_t)(uint32_t) ~(uint32_t)l->found->widest : -1;
    for (int64_t i = 0; i < t->count; i++) {
        self->folds[t->first + i] = (twi_fold){
            .reached = l->reached[i] - 1,
            .sum = (int64_t)l->sum[i],
            .most = l->most[i],
            .farthest = i == widest ? l->found->farthest : -1,
        };
    }
}

/* ------------------------------------------------------------------------------------- the run */

/* Batches of the rows that are left. The next one is started before the rows of this one leave. */
static tw_status run_batches(void *self_)
{
    labels_run *self = self_;
    const int64_t total = twi_plan_rows(self->plan);
    int64_t number = 0;
    self->refuted = false;
    tw_status status = start(self, &self->space.turns[0], self->first);
    while (self->first < total && status == TW_OK) {
        twi_labels_turn *t = &self->space.turns[number++ % self->space.turn_count];
        const int64_t next = t->first + t->count;
        status = finish(self, t, &self->refuted);
        if (status != TW_OK || self->refuted) {
            return status;
        }
        if (self->folded) {
            take_folds(self, t);
        }
        if (next < total) {
            status = start(self, &self->space.turns[number % self->space.turn_count], next);
        }
        if (status == TW_OK && !self->folded) {
            status = deliver_rows(self, t);
        }
        self->first = next;
        if (status == TW_OK) {
            status = twi_check_cancel(self->ctx);
        }
        twi_progress(self->ctx, "search", (double)next, (double)total, "rows");
    }
    return status;
}

/* May a walk be as long as the cap of the type? */
static bool may_reach_cap(const tw_apsp_plan *plan, tw_type type)
{
    const double cap = type == TW_U16 ? TWI_GPU_INF_U16 : TW_APSP_INF_I32;
    return (type == TW_U16 || type == TW_I32) &&
           (plan->potential != NULL || (double)plan->graph->n * plan->graph->max_weight >= cap);
}

/* The plan has seen to the first type; a wider one must fit as well. */
static tw_status check_room(labels_run *self, tw_type type)
{
    char need[32];
    char have[32];
    const uint64_t bytes = twi_gpu_labels_bytes(self->plan, type);
    return bytes <= self->plan->gpu_allowed
               ? TW_OK
               : tw_fail(self->ctx, TW_ERR_MEMORY,
                         "searching in %s needs %s of GPU memory, but %s may be used; raise the "
                         "limit or use the device 'cpu'",
                         tw_type_name(type), twi_bytes(need, (double)bytes),
                         twi_bytes(have, (double)self->plan->gpu_allowed));
}

/* Those of the first `count` rows; no other row is folded after this. */
static tw_status deliver_folds(labels_run *self, int64_t count)
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
    labels_run *self = self_;
    twi_labels_space *space = &self->space;
    const double began = twi_seconds();
    twi_labels_empty(space);
    space->kernel = twi_gpu_labels_kernel_find(type);
    self->reducer = twi_gpu_sweep_kernel_find(type);
    space->certify = may_reach_cap(self->plan, type);
    self->folded = self->folds != NULL && self->reducer->fold != NULL;
    space->rows_wanted = !self->folded;
    space->columns = twi_labels_columns(self->plan, type);
    space->turn_count = self->folded || twi_plan_rows(self->plan) - self->first <= space->columns
                            ? 1
                            : TWI_LABELS_TURNS;
    tw_status status = check_room(self, type);
    if (status == TW_OK && self->folds != NULL && !self->folded) {
        status = deliver_folds(self, self->first); /* the others leave as rows */
    }
    if (status == TW_OK) {
        status = twi_labels_fill(self->ctx, space, self->plan, &self->entering);
    }
    self->out->seconds_upload += twi_seconds() - began;
    return status;
}

/* Batches were certified one by one, and rows have left with them. */
static tw_status certify(void *self, bool *exact)
{
    *exact = !((labels_run *)self)->refuted;
    return TW_OK;
}

static tw_status deliver(void *self_)
{
    labels_run *self = self_;
    return self->folds != NULL ? deliver_folds(self, self->first) : TW_OK;
}

static const twi_engine engine = {"searching", open_attempt, run_batches, certify, deliver, NULL};

tw_status twi_gpu_labels_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                             twi_gpu_outcome *out, double *arcs)
{
    labels_run self = {
        .ctx = ctx, .plan = plan, .out = out, .guess = FIRST_GUESS, .delivery = delivery};
    *out = (twi_gpu_outcome){.used = plan->work_type, .symmetric = plan->symmetric};
    *arcs = (double)plan->graph->arcs * (double)twi_plan_rows(plan);
    if (plan->graph->n == 0 || twi_plan_rows(plan) == 0) {
        out->attempts = 1;
        return TW_OK;
    }
    tw_status status = twi_entering_create(ctx, &self.entering, plan);
    if (status == TW_OK && twi_delivery_is_folded(delivery)) {
        status = twi_alloc(ctx, &self.folds, (uint64_t)twi_plan_rows(plan), sizeof *self.folds,
                           "the sums of the rows");
    }
    if (status == TW_OK) {
        status = twi_labels_open(ctx, &self.space, plan);
    }
    if (status == TW_OK) {
        status =
            twi_attempt(ctx, &engine, &self,
                        plan->work_type == TW_I32 && plan->gpu_narrow ? TW_U16 : plan->work_type,
                        plan->options.work_type, &out->used, &out->attempts);
        if (status != TW_OK) {
            twi_labels_drain(&self.space);
        }
        twi_labels_empty(&self.space);
    }
    twi_labels_close(&self.space);
    twi_entering_clear(&self.entering);
    twi_free(self.folds);
    return status;
}
