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
 * Then the batch is folded on the device, 16 bytes a source, or its columns are read as rows,
 * in the type of the result, and leave through two pinned buffers. The certificate (methods.md)
 * runs there, too; where it refuses, the run goes on in the next wider type from that row on.
 *
 * Several devices take batches in turn. Where folds are wanted the host prepares one batch while
 * another one is computed.
 *
 * Device memory: the slabs, and n rows of a batch. Host memory: the slabs while they are made, and
 * pinned buffers.
 */
#include "apsp/gpu/gpu.h"
#include "apsp/gpu/kernels/rows.h"
#include "apsp/gpu/slabs.h"
#include "apsp/gpu/stage.h"
#include "base/clock.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "gpu/queue.h"

#include <stdio.h>
#include <string.h>

#define ALIGNMENT 256 /* of what lies in device memory */
/* Bytes of a batch's columns at most, and of a pinned buffer for rows, unless one row needs more,
 * or for arcs. Tests have smaller ones. */
#ifndef TWI_SWEEP_BATCH
#define TWI_SWEEP_BATCH ((uint64_t)4 << 30)
#define TWI_SWEEP_BUFFER ((int64_t)8 << 20)
#endif
#define STAGE_BYTES ((int64_t)1 << 20) /* pinning takes 0.5 ms a MB */

enum { TURNS = 2 };

/* What is told of a batch beside its folds. */
typedef struct findings {
    uint64_t misfit; /* lowered to the least place of a value that the result cannot hold */
    uint64_t widest;
    int32_t farthest;
    int32_t capped;
    int32_t refuted;
    int32_t reserved;
} findings;

/* A batch on its way: what goes up for it and comes back, once in pinned and once in device memory.
 */
typedef struct letter {
    twi_sweep_range *range; /* of each block */
    int32_t *source;        /* the place of each column's source */
    int32_t *row;           /* of each column, in the batch */
    int32_t *column;        /* of each row */
    findings *found;        /* up, and back */
    uint64_t *sum;          /* of each column, as the next two */
    int32_t *reached;
    int32_t *most;
} letter;

typedef struct turn {
    letter here;
    letter there;
    int64_t first; /* row of the result */
    int64_t count;
    cudaEvent_t begun; /* on the device's clock */
    cudaEvent_t ended;
} turn;

/* One device of the list. */
typedef struct lane {
    int32_t device;
    cudaStream_t stream;
    char *memory; /* of the device */
    char *pinned;
    twi_gpu_stage stage;
    twi_gpu_batch batch;
    twi_sweep_task *tasks;
    int32_t *by_height;
    twi_gpu_sweep_arcs arcs;
    double *potential;
    int32_t *sources;
    int32_t *targets;
    void *block[2]; /* of rows */
    turn turns[TURNS];
} lane;

typedef struct gpu_sweep {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    twi_gpu_outcome *out;
    const twi_gpu_sweep_kernel *kernel;
    twi_slabs slabs;
    char *arcs;      /* elements of the slabs, until they are on the devices */
    int32_t *before; /* of each place: sources of the batch at hand that stand before it */
    lane lanes[TWI_GPU_MOST];
    int32_t count;   /* of lanes */
    int64_t columns; /* of a batch */
    bool certify;    /* a distance may reach the cap of the type */
    bool folded;
    twi_fold *folds; /* of all rows */
    int64_t *spans;  /* of each height: thread blocks of columns; 0 without a source below */
} gpu_sweep;

/* ------------------------------------------------------------------------------------- memory */

static void *place(char *base, uint64_t *used, int64_t count, uint64_t size)
{
    void *at = base != NULL ? base + *used : NULL;
    *used += ((uint64_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* What goes up stands first; findings go both ways; what comes back stands last. */
static void place_letter(letter *l, char *base, uint64_t *used, int64_t blocks, int64_t columns)
{
    l->range = place(base, used, blocks, sizeof *l->range);
    l->source = place(base, used, columns, sizeof *l->source);
    l->row = place(base, used, columns, sizeof *l->row);
    l->column = place(base, used, columns, sizeof *l->column);
    l->found = place(base, used, 1, sizeof *l->found);
    l->sum = place(base, used, columns, sizeof *l->sum);
    l->reached = place(base, used, columns, sizeof *l->reached);
    l->most = place(base, used, columns, sizeof *l->most);
}

static uint64_t letter_bytes(int64_t blocks, int64_t columns)
{
    letter none;
    uint64_t used = 0;
    place_letter(&none, NULL, &used, blocks, columns);
    return used;
}

static int64_t stage_bytes(const tw_apsp_plan *plan, bool folded)
{
    int64_t row = twi_plan_cols(plan) * (int64_t)tw_type_size(plan->type);
    int64_t all = twi_plan_rows(plan) * row;
    int64_t most = row > TWI_SWEEP_BUFFER ? row : TWI_SWEEP_BUFFER;
    if (folded) {
        return STAGE_BYTES;
    }
    return all < most ? (all > STAGE_BYTES ? all : STAGE_BYTES) : most;
}

/* Lay out a device's memory for batches of so many columns; returns its bytes. */
static uint64_t place_lane(lane *l, char *base, const tw_apsp_plan *plan, twi_slabs_size size,
                           tw_type type, int64_t columns, int64_t buffer)
{
    const twi_tree *tree = plan->tree;
    const uint64_t element = tw_type_size(type);
    uint64_t used = 0;
    l->batch.arcs = place(base, &used, size.elements, element);
    l->batch.index = place(base, &used, tree->high_first[tree->blocks] + tree->n, sizeof(int32_t));
    l->batch.first = place(base, &used, tree->blocks + 1, sizeof(int32_t));
    l->batch.block = place(base, &used, tree->n, sizeof(int32_t));
    l->batch.vertex = place(base, &used, tree->n, sizeof(int32_t));
    l->tasks = place(base, &used, size.tasks, sizeof *l->tasks);
    l->by_height = place(base, &used, tree->blocks, sizeof(int32_t));
    l->arcs.offsets = place(base, &used, tree->n + 1, sizeof(int64_t));
    l->arcs.targets = place(base, &used, plan->graph->arcs, sizeof(int32_t));
    l->arcs.place = place(base, &used, tree->n, sizeof(int32_t));
    if (plan->potential != NULL) {
        l->potential = place(base, &used, tree->n, sizeof *l->potential);
    }
    if (plan->options.sources != NULL) {
        l->sources = place(base, &used, plan->options.source_count, sizeof *l->sources);
    }
    if (plan->options.targets != NULL) {
        l->targets = place(base, &used, plan->options.target_count, sizeof *l->targets);
    }
    l->block[0] = place(base, &used, buffer, 1);
    l->block[1] = place(base, &used, buffer, 1);
    for (int t = 0; t < TURNS; t++) {
        place_letter(&l->turns[t].there, base, &used, tree->blocks, columns);
    }
    l->batch.pool = place(base, &used, tree->size_most * columns, element);
    l->batch.x = place(base, &used, tree->n * columns, element);
    return used;
}

static uint64_t lane_bytes(const tw_apsp_plan *plan, twi_slabs_size size, tw_type type,
                           int64_t columns)
{
    lane none = {0};
    return place_lane(&none, NULL, plan, size, type, columns, stage_bytes(plan, false));
}

/* Columns of a batch: what the devices share out evenly, less where that is more than
 * TWI_SWEEP_BATCH or than they hold; whole tiles, and one at least. */
static int64_t batch_columns(const tw_apsp_plan *plan, twi_slabs_size size,
                             const twi_gpu_sweep_kernel *kernel)
{
    const twi_tree *tree = plan->tree;
    int64_t devices = plan->gpus.count > 0 ? plan->gpus.count : 1;
    int64_t tile = kernel->tile;
    int64_t share = (twi_plan_rows(plan) + devices - 1) / devices;
    uint64_t row = (uint64_t)(tree->n + tree->size_most) * (uint64_t)kernel->element;
    int64_t most = (int64_t)(TWI_SWEEP_BATCH / (row > 0 ? row : 1)) / tile;
    int64_t tiles = (share + tile - 1) / tile;
    tiles = tiles < most ? tiles : most;
    tiles = tiles > 1 ? tiles : 1;
    while (tiles > 1 && lane_bytes(plan, size, kernel->type, tiles * tile) > plan->gpu_allowed) {
        tiles = tiles / 2;
    }
    return tiles * tile;
}

uint64_t twi_gpu_sweep_bytes(const tw_apsp_plan *plan, tw_type type)
{
    const twi_gpu_sweep_kernel *kernel = twi_gpu_sweep_kernel_find(type);
    twi_slabs_size size = twi_slabs_measure(plan->tree);
    return lane_bytes(plan, size, type, batch_columns(plan, size, kernel));
}

static uint64_t pinned_bytes(const tw_apsp_plan *plan, int64_t columns, bool folded)
{
    return 2 * (uint64_t)stage_bytes(plan, folded) +
           TURNS * letter_bytes(plan->tree->blocks, columns);
}

uint64_t twi_gpu_sweep_memory(const tw_apsp_plan *plan, tw_type type)
{
    const twi_tree *tree = plan->tree;
    const twi_gpu_sweep_kernel *kernel = twi_gpu_sweep_kernel_find(type);
    const twi_minplus_kernel *cpu = twi_minplus_kernel_find(plan->isa, type);
    twi_slabs_size size = twi_slabs_measure(tree);
    int64_t columns = batch_columns(plan, size, kernel);
    uint64_t slabs = (uint64_t)size.elements * tw_type_size(type);
    uint64_t pinned = (uint64_t)plan->gpus.count * pinned_bytes(plan, columns, false);
    uint64_t fronts = twi_factor_scratch(plan, tree, cpu, plan->threads);
    return size.memory + slabs + (fronts > pinned ? fronts : pinned) +
           ((uint64_t)tree->n + 1) * sizeof(int32_t) + (uint64_t)tree->heights * sizeof(int64_t) +
           (uint64_t)twi_plan_rows(plan) * sizeof(twi_fold);
}

/* ------------------------------------------------------------------------------ open and close */

static tw_status check(gpu_sweep *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

static tw_status enter(gpu_sweep *self, const lane *l)
{
    return check(self, (int)cudaSetDevice(l->device), "selecting the device");
}

static tw_status open_pinned(gpu_sweep *self, lane *l)
{
    const int64_t buffer = stage_bytes(self->plan, self->folded);
    uint64_t used = 0;
    uint64_t bytes = pinned_bytes(self->plan, self->columns, self->folded);
    tw_status status = twi_memory_check(self->ctx, bytes, "copying to and from the GPU");
    if (status == TW_OK) {
        status = check(self, (int)cudaMallocHost((void **)&l->pinned, bytes),
                       "allocating pinned memory");
    }
    if (status != TW_OK) {
        return status;
    }
    l->stage.stream = l->stream;
    l->stage.bytes = (uint64_t)buffer;
    for (int i = 0; i < 2; i++) {
        l->stage.pinned[i] = place(l->pinned, &used, buffer, 1);
    }
    for (int i = 0; i < TURNS; i++) {
        place_letter(&l->turns[i].here, l->pinned, &used, self->plan->tree->blocks, self->columns);
    }
    return TW_OK;
}

static tw_status open_lane(gpu_sweep *self, lane *l, int32_t device)
{
    char size[32];
    char call[96];
    twi_slabs_size slabs = {self->slabs.elements, self->slabs.tasks, 0};
    const int64_t buffer = stage_bytes(self->plan, self->folded);
    const tw_type type = self->kernel->type;
    uint64_t bytes = place_lane(l, NULL, self->plan, slabs, type, self->columns, buffer);
    l->device = device;
    tw_status status = enter(self, l);
    if (status == TW_OK) {
        status = twi_gpu_open_stream(self->ctx, &l->stream, false);
    }
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = twi_gpu_open_event(self->ctx, &l->stage.arrived[i]);
    }
    for (int i = 0; i < TURNS && status == TW_OK; i++) {
        status = check(self, (int)cudaEventCreate(&l->turns[i].begun), "making an event");
        if (status == TW_OK) {
            status = check(self, (int)cudaEventCreate(&l->turns[i].ended), "making an event");
        }
    }
    if (status == TW_OK) {
        status = open_pinned(self, l);
    }
    if (status == TW_OK) {
        (void)twi_bytes(size, (double)bytes);
        snprintf(call, sizeof call, "allocating %s for %lld vertices", size,
                 (long long)self->plan->graph->n);
        status = check(self, (int)cudaMalloc((void **)&l->memory, bytes), call);
    }
    if (status == TW_OK) {
        (void)place_lane(l, l->memory, self->plan, slabs, type, self->columns, buffer);
        l->batch.ld = self->columns;
        l->batch.n = self->plan->graph->n;
        l->batch.one = 1;
    }
    return status;
}

static void close_lane(lane *l)
{
    if (l->stream == NULL) {
        return;
    }
    (void)cudaSetDevice(l->device);
    twi_gpu_close_stream(l->stream);
    (void)cudaFree(l->memory);
    (void)cudaFreeHost(l->pinned);
    for (int i = 0; i < TURNS; i++) {
        twi_gpu_close_event(l->turns[i].ended);
        twi_gpu_close_event(l->turns[i].begun);
    }
    for (int i = 0; i < 2; i++) {
        twi_gpu_close_event(l->stage.arrived[i]);
    }
    *l = (lane){0};
}

/* What stays through all batches. */
static tw_status upload_lane(gpu_sweep *self, lane *l)
{
    const tw_apsp_plan *plan = self->plan;
    const tw_graph *graph = plan->graph;
    const twi_tree *tree = plan->tree;
    const twi_slabs *slabs = &self->slabs;
    const uint64_t n = (uint64_t)graph->n;
    const uint64_t element = (uint64_t)self->kernel->element;
    const struct {
        const void *to;
        const void *from;
        uint64_t bytes;
    } arrays[] = {
        {l->batch.arcs, self->arcs, (uint64_t)slabs->elements * element},
        {l->batch.index, slabs->index, (uint64_t)slabs->indices * sizeof(int32_t)},
        {l->batch.first, tree->first, ((uint64_t)tree->blocks + 1) * sizeof(int32_t)},
        {l->batch.block, slabs->block, n * sizeof(int32_t)},
        {l->batch.vertex, tree->vertex, n * sizeof(int32_t)},
        {l->tasks, slabs->task, (uint64_t)slabs->tasks * sizeof *slabs->task},
        {l->by_height, slabs->by_height, (uint64_t)tree->blocks * sizeof(int32_t)},
        {l->arcs.place, tree->place, n * sizeof(int32_t)},
        {l->arcs.offsets, graph->offsets, self->certify ? (n + 1) * sizeof(int64_t) : 0},
        {l->arcs.targets, graph->targets,
         self->certify ? (uint64_t)graph->arcs * sizeof(int32_t) : 0},
        {l->potential, plan->potential, plan->potential != NULL ? n * sizeof(double) : 0},
        {l->sources, plan->options.sources,
         l->sources != NULL ? (uint64_t)plan->options.source_count * sizeof(int32_t) : 0},
        {l->targets, plan->options.targets,
         l->targets != NULL ? (uint64_t)plan->options.target_count * sizeof(int32_t) : 0},
    };
    tw_status status = enter(self, l);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == TW_OK; i++) {
        status = twi_gpu_upload(self->ctx, &l->stage, arrays[i].to, arrays[i].from, arrays[i].bytes,
                                "copying the arcs");
    }
    /* Columns of the pool that nobody has written are read, and their sums thrown away: they must
     * not carry into their neighbours. */
    if (status == TW_OK) {
        uint64_t bytes = (uint64_t)(tree->size_most * self->columns) * element;
        status = check(self, (int)cudaMemsetAsync(l->batch.pool, 0, bytes, l->stream),
                       "clearing the pool");
    }
    return status;
}

/* ------------------------------------------------------------------------------- one batch */

/* Sort the sources of the batch by place, and tell every block its columns. */
static void prepare(gpu_sweep *self, turn *t)
{
    const twi_tree *tree = self->plan->tree;
    const letter *l = &t->here;
    int32_t *before = self->before;
    memset(before, 0, ((size_t)tree->n + 1) * sizeof *before);
    for (int64_t i = 0; i < t->count; i++) {
        before[tree->place[twi_plan_source(self->plan, t->first + i)] + 1]++;
    }
    for (int64_t p = 0; p < tree->n; p++) {
        before[p + 1] += before[p];
    }
    for (int32_t b = 0; b < tree->blocks; b++) {
        l->range[b] = (twi_sweep_range){before[self->slabs.below[b]], before[tree->first[b + 1]]};
    }
    for (int64_t i = 0; i < t->count; i++) {
        int32_t p = tree->place[twi_plan_source(self->plan, t->first + i)];
        int32_t column = before[p]++;
        l->source[column] = p;
        l->row[column] = (int32_t)i;
        l->column[i] = column;
    }
    const int64_t width = (int64_t)self->kernel->tile * self->kernel->tiles;
    memset(self->spans, 0, (size_t)tree->heights * sizeof *self->spans);
    for (int32_t b = 0; b < tree->blocks; b++) {
        int64_t begin = l->range[b].begin / self->kernel->tile * self->kernel->tile;
        int64_t *spans = &self->spans[tree->height[b]];
        if (l->range[b].begin < l->range[b].end &&
            *spans < (l->range[b].end - begin + width - 1) / width) {
            *spans = (l->range[b].end - begin + width - 1) / width;
        }
    }
    *l->found = (findings){.misfit = UINT64_MAX, .farthest = INT32_MAX};
}

static tw_status go_up(gpu_sweep *self, lane *l)
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
                       self->kernel->take(&l->batch, l->by_height + s->height_first[h], blocks,
                                          s->height_rows[h], l->stream),
                       "starting a height");
        for (int form = 0; form < TWI_FORMS && status == TW_OK; form++) {
            const int64_t *first = s->task_first[TWI_UP][form] + h;
            if (first[1] > first[0]) {
                status = check(self,
                               self->kernel->up(&l->batch, l->tasks + first[0], first[1] - first[0],
                                                height_of[form], self->spans[h], l->stream),
                               "starting a height");
            }
        }
    }
    return status;
}

static tw_status go_down(gpu_sweep *self, lane *l)
{
    static const int32_t height_of[TWI_FORMS] = {TWI_SWEEP_TALL, TWI_SWEEP_LOW};
    const twi_slabs *s = &self->slabs;
    tw_status status = TW_OK;
    for (int32_t d = 0; d < s->levels[TWI_DOWN]; d++) {
        for (int form = 0; form < TWI_FORMS && status == TW_OK; form++) {
            const int64_t *first = s->task_first[TWI_DOWN][form] + d;
            if (first[1] > first[0]) {
                status = check(self,
                               self->kernel->down(&l->batch, l->tasks + first[0],
                                                  first[1] - first[0], height_of[form], l->stream),
                               "starting a depth");
            }
        }
    }
    return status;
}

static twi_gpu_folds folds_of(const letter *l)
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
static tw_status finish(gpu_sweep *self, lane *l, const turn *t)
{
    const twi_gpu_folds folds = folds_of(&t->there);
    tw_status status = TW_OK;
    if (!self->folded && !self->certify) {
        return TW_OK;
    }
    uint64_t bytes = (uint64_t)((char *)(t->there.most + self->columns) - (char *)t->there.sum);
    status =
        check(self, (int)cudaMemsetAsync(t->there.sum, 0, bytes, l->stream), "clearing the sums");
    if (status == TW_OK) {
        status = check(self, self->kernel->fold(&l->batch, &folds, l->stream),
                       "starting to fold columns");
    }
    if (status == TW_OK && self->folded) {
        status = check(self, self->kernel->widest(&l->batch, &folds, l->stream),
                       "starting to look for the farthest");
    }
    if (status == TW_OK && self->certify) {
        status = check(self, self->kernel->certify(&l->batch, &folds, &l->arcs, l->stream),
                       "starting to certify columns");
    }
    if (status == TW_OK) { /* findings and folds */
        bytes = (uint64_t)((char *)(t->there.most + self->columns) - (char *)t->there.found);
        status = check(self,
                       (int)cudaMemcpyAsync(t->here.found, t->there.found,
                                            self->folded ? bytes : sizeof(findings),
                                            cudaMemcpyDeviceToHost, l->stream),
                       "copying sums");
    }
    return status;
}

/* Put a batch on its device. */
static tw_status enqueue(gpu_sweep *self, lane *l, turn *t)
{
    prepare(self, t);
    const uint64_t bytes = (uint64_t)((char *)(t->here.found + 1) - (char *)t->here.range);
    l->batch.columns =
        (int32_t)((t->count + self->kernel->tile - 1) / self->kernel->tile * self->kernel->tile);
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
        status = check(self, (int)cudaEventRecord(t->begun, l->stream), "timing");
    }
    if (status == TW_OK) {
        status = check(self, self->kernel->begin(&l->batch, l->stream), "starting a batch");
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
    if (status == TW_OK) {
        status = check(self, (int)cudaEventRecord(t->ended, l->stream), "timing");
    }
    return status;
}

/* --------------------------------------------------------------------------------- deliver a batch
 */

/* The sentence for a value that the result's type cannot hold. */
static tw_status fail_misfit(gpu_sweep *self, const lane *l, const turn *t,
                             const twi_delivery *delivery, uint64_t where)
{
    const tw_apsp_plan *plan = self->plan;
    int64_t row = (int64_t)where / twi_plan_cols(plan);
    int64_t col = (int64_t)where % twi_plan_cols(plan);
    int64_t source = twi_plan_source(plan, row);
    int64_t target = twi_plan_target(plan, col);
    size_t size = (size_t)self->kernel->element;
    char element[sizeof(double)] __attribute__((aligned(8))) = {0};
    const char *from =
        (const char *)l->batch.x +
        (size_t)(plan->tree->place[target] * l->batch.ld + t->here.column[row - t->first]) * size;
    tw_status status =
        check(self, (int)cudaMemcpyAsync(element, from, size, cudaMemcpyDeviceToHost, l->stream),
              "reading a distance");
    if (status == TW_OK) {
        status = check(self, (int)cudaStreamSynchronize(l->stream), "reading a distance");
    }
    if (status != TW_OK) {
        return status;
    }
    double distance = twi_element(element, self->kernel->type, 0);
    if (plan->potential != NULL) {
        distance += plan->potential[target] - plan->potential[source];
    }
    return twi_delivery_misfit(self->ctx, delivery, row, col, distance);
}

/* Queue rows from `first` on into buffer `which`. */
static tw_status fetch(gpu_sweep *self, lane *l, const twi_gpu_rows *rows, int64_t first,
                       int64_t count, int which)
{
    uint64_t bytes = (uint64_t)(count * rows->cols) * tw_type_size(rows->type);
    tw_status status =
        check(self, twi_gpu_take_rows(l->block[which], rows, first, count, l->stream),
              "starting to convert rows");
    if (status == TW_OK) {
        status = check(self,
                       (int)cudaMemcpyAsync(l->stage.pinned[which], l->block[which], bytes,
                                            cudaMemcpyDeviceToHost, l->stream),
                       "copying rows");
    }
    return status == TW_OK ? check(self, (int)cudaEventRecord(l->stage.arrived[which], l->stream),
                                   "recording an event")
                           : status;
}

static tw_status deliver_rows(gpu_sweep *self, lane *l, const turn *t, twi_delivery *delivery)
{
    const tw_apsp_plan *plan = self->plan;
    const int64_t end = t->first + t->count;
    twi_gpu_rows rows = {
        .in = {l->batch.x, l->batch.ld},
        .work = self->kernel->type,
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
    };
    int64_t row_bytes = rows.cols * (int64_t)tw_type_size(rows.type);
    if (row_bytes == 0) {
        return twi_delivery_finished_rows(self->ctx, delivery, t->first, t->count,
                                          l->stage.pinned[0]);
    }
    int64_t most = (int64_t)l->stage.bytes / row_bytes;
    findings *found = t->here.found;
    tw_status status = fetch(self, l, &rows, t->first, t->count < most ? t->count : most, 0);
    for (int64_t first = t->first; first < end && status == TW_OK; first += most) {
        int64_t next = first + most;
        int now = (int)((first - t->first) / most & 1);
        if (next < end) {
            status = fetch(self, l, &rows, next, end - next < most ? end - next : most, 1 - now);
        }
        double began = twi_seconds();
        if (status == TW_OK) {
            status = check(self, (int)cudaEventSynchronize(l->stage.arrived[now]), "copying rows");
        }
        self->out->seconds_download += twi_seconds() - began;
        if (status == TW_OK) {
            status = twi_delivery_finished_rows(self->ctx, delivery, first,
                                                end - first < most ? end - first : most,
                                                l->stage.pinned[now]);
        }
    }
    if (status == TW_OK) {
        status = check(self,
                       (int)cudaMemcpyAsync(found, t->there.found, sizeof *found,
                                            cudaMemcpyDeviceToHost, l->stream),
                       "copying rows");
    }
    if (status == TW_OK) {
        status = check(self, (int)cudaStreamSynchronize(l->stream), "copying rows");
    }
    return status == TW_OK && found->misfit != UINT64_MAX
               ? fail_misfit(self, l, t, delivery, found->misfit)
               : status;
}

static void take_folds(gpu_sweep *self, const turn *t)
{
    const letter *l = &t->here;
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

/* Wait for a batch and take what it found; *refuted: it needs a wider type. */
static tw_status collect(gpu_sweep *self, lane *l, turn *t, twi_delivery *delivery, bool *refuted)
{
    float ms = 0;
    tw_status status = enter(self, l);
    if (status == TW_OK) {
        status = check(self, (int)cudaEventSynchronize(t->ended), "sweeping");
    }
    if (status == TW_OK) {
        status = check(self, (int)cudaEventElapsedTime(&ms, t->begun, t->ended), "timing");
        self->out->seconds_device += ms * 1e-3;
    }
    *refuted = status == TW_OK && self->certify && t->here.found->refuted != 0;
    if (status != TW_OK || *refuted) {
        return status;
    }
    if (self->folded) {
        take_folds(self, t);
        return TW_OK;
    }
    return deliver_rows(self, l, t, delivery);
}

/* ------------------------------------------------------------------------------------ the run */

/* Batches from *first on; *first is where to go on when a wider type is needed. Batch k is taken by
 * device k modulo their number; as many are on their way as have a place. */
static tw_status run_batches(gpu_sweep *self, twi_delivery *delivery, int64_t *first, bool *wider)
{
    const int64_t total = twi_plan_rows(self->plan);
    const int64_t batches = (total - *first + self->columns - 1) / self->columns;
    const int64_t ahead = self->count * (self->folded ? TURNS : 1);
    const int64_t begin = *first;
    tw_status status = TW_OK;
    *wider = false;
    for (int64_t k = 0; k < batches + ahead && status == TW_OK && !*wider; k++) {
        int64_t done = k - ahead;
        if (done >= 0 && done < batches) {
            lane *l = &self->lanes[done % self->count];
            turn *t = &l->turns[done / self->count % TURNS];
            status = collect(self, l, t, delivery, wider);
            if (status == TW_OK && !*wider) {
                *first = t->first + t->count;
                twi_progress(self->ctx, "sweep", (double)*first, (double)total, "rows");
            }
        }
        if (status == TW_OK) {
            status = twi_check_cancel(self->ctx);
        }
        if (k < batches && status == TW_OK && !*wider) {
            lane *l = &self->lanes[k % self->count];
            turn *t = &l->turns[k / self->count % TURNS];
            t->first = begin + k * self->columns;
            t->count = total - t->first < self->columns ? total - t->first : self->columns;
            status = enqueue(self, l, t);
        }
    }
    return status;
}

/* May a walk be as long as the cap of the type? */
static bool may_reach_cap(const tw_apsp_plan *plan, tw_type type)
{
    double cap = type == TW_U16 ? TWI_GPU_INF_U16 : TW_APSP_INF_I32;
    return (type == TW_U16 || type == TW_I32) &&
           (plan->potential != NULL || (double)plan->graph->n * plan->graph->max_weight >= cap);
}

/* The factor, in slabs, in host memory. */
static tw_status eliminate(gpu_sweep *self)
{
    const tw_apsp_plan *plan = self->plan;
    const tw_type type = self->kernel->type;
    tw_status status = twi_alloc(self->ctx, &self->arcs, (uint64_t)self->slabs.elements,
                                 tw_type_size(type), "the factor");
    if (status != TW_OK) {
        return status;
    }
    twi_slabs_filler filler = {&self->slabs, type, self->arcs};
    twi_factor_keeper keeper = {twi_slabs_keep, &filler};
    return twi_factor_keep(self->ctx, &keeper, plan, plan->tree,
                           twi_minplus_kernel_find(plan->isa, type), plan->threads);
}

/* The plan has seen to the first type; a wider one must fit as well. */
static tw_status check_room(gpu_sweep *self, tw_type type)
{
    char need[32];
    char have[32];
    uint64_t bytes = twi_gpu_sweep_bytes(self->plan, type);
    return bytes <= self->plan->gpu_allowed
               ? TW_OK
               : tw_fail(self->ctx, TW_ERR_MEMORY,
                         "sweeping in %s takes %s on the device, and %s may be used there; use the "
                         "device 'cpu', or raise the limit",
                         tw_type_name(type), twi_bytes(need, (double)bytes),
                         twi_bytes(have, (double)self->plan->gpu_allowed));
}

/* Those of the first `count` rows; no other row is folded after this. */
static tw_status deliver_folds(gpu_sweep *self, twi_delivery *delivery, int64_t count)
{
    tw_status status =
        count > 0 ? twi_delivery_folds(self->ctx, delivery, 0, count, self->folds) : TW_OK;
    twi_free(self->folds);
    self->folds = NULL;
    return status;
}

/* The rows from *first on in one type. */
static tw_status run_in_type(gpu_sweep *self, tw_type type, twi_delivery *delivery, int64_t *first,
                             bool *wider)
{
    const tw_apsp_plan *plan = self->plan;
    twi_slabs_size size = {self->slabs.elements, self->slabs.tasks, 0};
    self->kernel = twi_gpu_sweep_kernel_find(type);
    self->certify = may_reach_cap(plan, type);
    self->folded = self->folds != NULL && self->kernel->fold != NULL;
    self->columns = batch_columns(plan, size, self->kernel);
    self->out->attempts++;
    self->out->used = type;
    tw_status status = check_room(self, type);
    if (status == TW_OK && self->folds != NULL && !self->folded) {
        status = deliver_folds(self, delivery, *first); /* the others leave as rows */
    }
    if (status == TW_OK) {
        status = eliminate(self);
    }
    double began = twi_seconds();
    for (int32_t i = 0; i < self->count && status == TW_OK; i++) {
        status = open_lane(self, &self->lanes[i], plan->gpus.index[i]);
        if (status == TW_OK) {
            status = upload_lane(self, &self->lanes[i]);
        }
    }
    self->out->seconds_upload += twi_seconds() - began;
    twi_free(self->arcs);
    self->arcs = NULL;
    if (status == TW_OK) {
        status = run_batches(self, delivery, first, wider);
    }
    for (int32_t i = 0; i < self->count; i++) {
        close_lane(&self->lanes[i]);
    }
    return status;
}

static tw_status open_run(gpu_sweep *self, bool folded)
{
    const twi_tree *tree = self->plan->tree;
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
        status = twi_alloc(self->ctx, &self->folds, (uint64_t)twi_plan_rows(self->plan),
                           sizeof *self->folds, "the sums of the rows");
    }
    return status;
}

static tw_status run_in_types(gpu_sweep *self, twi_delivery *delivery)
{
    const tw_apsp_plan *plan = self->plan;
    tw_type type = plan->work_type == TW_I32 && plan->gpu_narrow ? TW_U16 : plan->work_type;
    int64_t first = 0;
    bool wider = false;
    tw_status status = run_in_type(self, type, delivery, &first, &wider);
    while (status == TW_OK && wider) {
        tw_type next = type == TW_U16 ? TW_I32 : TW_F64;
        if (type == plan->options.work_type) {
            return tw_fail(self->ctx, TW_ERR_RANGE,
                           "some distance does not fit the working type %s; leave it to 'auto'",
                           tw_type_name(type));
        }
        twi_log(self->ctx, "some distance reaches the cap of %s; sweeping again in %s",
                type == TW_U16 ? "16 bits" : tw_type_name(type), tw_type_name(next));
        type = next;
        status = run_in_type(self, type, delivery, &first, &wider);
    }
    return status;
}

tw_status twi_gpu_sweep_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                            twi_gpu_outcome *out)
{
    gpu_sweep self = {.ctx = ctx, .plan = plan, .out = out, .count = plan->gpus.count};
    *out = (twi_gpu_outcome){.used = plan->work_type, .symmetric = plan->symmetric};
    if (plan->graph->n == 0 || twi_plan_rows(plan) == 0) {
        out->attempts = 1;
        return TW_OK;
    }
    tw_status status = open_run(&self, twi_delivery_is_folded(delivery));
    if (status == TW_OK) {
        status = run_in_types(&self, delivery);
    }
    if (status == TW_OK && self.folds != NULL) {
        status = deliver_folds(&self, delivery, twi_plan_rows(plan));
    }
    twi_free(self.folds);
    twi_free(self.spans);
    twi_free(self.before);
    twi_slabs_clear(&self.slabs);
    return status;
}
