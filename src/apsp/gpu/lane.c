/* See lane.h. */
#include "apsp/gpu/lane.h"

#include "apsp/gpu/gpu.h"
#include "base/memory.h"
#include "gpu/device.h"
#include "gpu/layout.h"
#include "gpu/queue.h"

#include <stdio.h>

/* Bytes of a batch's columns at most: larger ones would be no faster, smaller ones have too few
 * columns for the top of the tree. Bytes of a pinned buffer for rows, unless one row needs more.
 * Tests have less. */
#ifndef TWI_SWEEP_BATCH
#define TWI_SWEEP_BATCH ((uint64_t)8 << 30)
#define TWI_SWEEP_BUFFER ((int64_t)8 << 20)
#endif
#define STAGE_BYTES ((int64_t)1 << 19) /* of one for arcs: pinning takes 0.5 ms a MB */

/* ------------------------------------------------------------------------------------- memory */

/* What goes up stands first; findings go both ways; what comes back stands last. */
static void place_letter(twi_lane_letter *l, char *base, uint64_t *used, int64_t blocks,
                         int64_t columns)
{
    l->range = twi_gpu_place(base, used, blocks, sizeof *l->range);
    l->source = twi_gpu_place(base, used, columns, sizeof *l->source);
    l->row = twi_gpu_place(base, used, columns, sizeof *l->row);
    l->column = twi_gpu_place(base, used, columns, sizeof *l->column);
    l->found = twi_gpu_place(base, used, 1, sizeof *l->found);
    l->sum = twi_gpu_place(base, used, columns, sizeof *l->sum);
    l->reached = twi_gpu_place(base, used, columns, sizeof *l->reached);
    l->most = twi_gpu_place(base, used, columns, sizeof *l->most);
}

static uint64_t letter_bytes(int64_t blocks, int64_t columns)
{
    twi_lane_letter none;
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
static uint64_t place_lane(twi_lane *l, char *base, const tw_apsp_plan *plan, twi_slabs_size size,
                           tw_type type, int64_t columns, int64_t buffer)
{
    const twi_tree *tree = plan->tree;
    const int64_t element = (int64_t)tw_type_size(type);
    uint64_t used = 0;
    l->batch.arcs = twi_gpu_place(base, &used, size.elements, element);
    l->batch.index =
        twi_gpu_place(base, &used, tree->high_first[tree->blocks] + tree->n, sizeof(int32_t));
    l->batch.first = twi_gpu_place(base, &used, tree->blocks + 1, sizeof(int32_t));
    l->batch.block = twi_gpu_place(base, &used, tree->n, sizeof(int32_t));
    l->batch.vertex = twi_gpu_place(base, &used, tree->n, sizeof(int32_t));
    l->tasks = twi_gpu_place(base, &used, size.tasks, sizeof *l->tasks);
    l->by_height = twi_gpu_place(base, &used, tree->blocks, sizeof(int32_t));
    l->arcs.offsets = twi_gpu_place(base, &used, tree->n + 1, sizeof(int64_t));
    l->arcs.targets = twi_gpu_place(base, &used, plan->graph->arcs, sizeof(int32_t));
    l->arcs.place = twi_gpu_place(base, &used, tree->n, sizeof(int32_t));
    if (plan->potential != NULL) {
        l->potential = twi_gpu_place(base, &used, tree->n, sizeof *l->potential);
    }
    if (plan->options.sources != NULL) {
        l->sources = twi_gpu_place(base, &used, plan->options.source_count, sizeof *l->sources);
    }
    if (plan->options.targets != NULL) {
        l->targets = twi_gpu_place(base, &used, plan->options.target_count, sizeof *l->targets);
    }
    l->block[0] = twi_gpu_place(base, &used, buffer, 1);
    l->block[1] = twi_gpu_place(base, &used, buffer, 1);
    for (int t = 0; t < TWI_LANE_TURNS; t++) {
        place_letter(&l->turns[t].there, base, &used, tree->blocks, columns);
    }
    l->batch.pool = twi_gpu_place(base, &used, tree->size_most * columns, element);
    l->batch.x = twi_gpu_place(base, &used, tree->n * columns, element);
    return used;
}

static uint64_t lane_bytes(const tw_apsp_plan *plan, twi_slabs_size size, tw_type type,
                           int64_t columns)
{
    twi_lane none = {0};
    return place_lane(&none, NULL, plan, size, type, columns, stage_bytes(plan, false));
}

int64_t twi_lane_columns(const tw_apsp_plan *plan, twi_slabs_size size,
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
    return lane_bytes(plan, size, type, twi_lane_columns(plan, size, kernel));
}

static uint64_t pinned_bytes(const tw_apsp_plan *plan, int64_t columns, bool folded)
{
    return 2 * (uint64_t)stage_bytes(plan, folded) +
           TWI_LANE_TURNS * letter_bytes(plan->tree->blocks, columns);
}

uint64_t twi_gpu_sweep_memory(const tw_apsp_plan *plan, tw_type type)
{
    const twi_tree *tree = plan->tree;
    const twi_gpu_sweep_kernel *kernel = twi_gpu_sweep_kernel_find(type);
    const twi_minplus_kernel *cpu = twi_minplus_kernel_find(plan->isa, type);
    twi_slabs_size size = twi_slabs_measure(tree);
    int64_t columns = twi_lane_columns(plan, size, kernel);
    uint64_t slabs = (uint64_t)size.elements * tw_type_size(type);
    uint64_t pinned = (uint64_t)plan->gpus.count * pinned_bytes(plan, columns, false);
    uint64_t fronts = twi_factor_scratch(plan, tree, cpu, plan->threads);
    return size.memory + slabs + (fronts > pinned ? fronts : pinned) +
           ((uint64_t)tree->n + 1) * sizeof(int32_t) + (uint64_t)tree->heights * sizeof(int64_t) +
           (uint64_t)twi_plan_rows(plan) * sizeof(twi_fold);
}

/* ------------------------------------------------------------------------------ open and close */

/* Remember the first call that failed; whether none has. */
static bool good(twi_lane *l, cudaError_t error, const char *call)
{
    if (error != cudaSuccess && l->error == 0) {
        l->error = (int)error;
        l->call = call;
    }
    return l->error == 0;
}

static bool open_stream(twi_lane *l, cudaStream_t *out)
{
    return good(l, cudaStreamCreateWithFlags(out, cudaStreamNonBlocking), "creating a stream");
}

static bool open_events(twi_lane *l)
{
    bool open = good(l, cudaEventCreateWithFlags(&l->converted, cudaEventDisableTiming),
                     "creating an event");
    for (int i = 0; i < 2 && open; i++) {
        open = good(l, cudaEventCreateWithFlags(&l->stage.arrived[i], cudaEventDisableTiming),
                    "creating an event");
    }
    for (int i = 0; i < TWI_LANE_TURNS && open; i++) {
        open = good(l, cudaEventCreate(&l->turns[i].clock.begun), "creating an event") &&
               good(l, cudaEventCreate(&l->turns[i].clock.ended), "creating an event");
    }
    return open;
}

static void place_pinned(twi_lane *l, const twi_lane_shape *shape)
{
    const int64_t buffer = stage_bytes(shape->plan, shape->folded);
    uint64_t used = 0;
    l->stage.stream = l->stream;
    l->stage.bytes = (uint64_t)buffer;
    for (int i = 0; i < 2; i++) {
        l->stage.pinned[i] = twi_gpu_place(l->pinned, &used, buffer, 1);
    }
    for (int i = 0; i < TWI_LANE_TURNS; i++) {
        place_letter(&l->turns[i].here, l->pinned, &used, shape->plan->tree->blocks,
                     shape->columns);
    }
}

uint64_t twi_lane_pinned(const twi_lane_shape *shape)
{
    return pinned_bytes(shape->plan, shape->columns, shape->folded);
}

void twi_lane_prepare(twi_lane *l, const twi_lane_shape *shape, const twi_slabs *slabs,
                      int32_t device)
{
    char size[32];
    twi_slabs_size sizes = {slabs->elements, slabs->tasks, 0};
    const int64_t buffer = stage_bytes(shape->plan, shape->folded);
    const tw_type type = shape->kernel->type;
    uint64_t bytes = place_lane(l, NULL, shape->plan, sizes, type, shape->columns, buffer);
    (void)twi_bytes(size, (double)bytes);
    snprintf(l->text, sizeof l->text, "allocating %s for %lld vertices", size,
             (long long)shape->plan->graph->n);
    l->device = device;
    if (good(l, cudaSetDevice(device), "selecting the device") && open_stream(l, &l->stream) &&
        open_stream(l, &l->copies) && open_events(l) &&
        good(l, cudaMallocHost((void **)&l->pinned, twi_lane_pinned(shape)),
             "allocating pinned memory") &&
        good(l, cudaMalloc((void **)&l->memory, bytes), l->text)) {
        place_pinned(l, shape);
        (void)place_lane(l, l->memory, shape->plan, sizes, type, shape->columns, buffer);
        l->batch.ld = shape->columns;
        l->batch.n = shape->plan->graph->n;
        l->batch.one = 1;
    }
}

tw_status twi_lane_open(tw_context *ctx, const twi_lane *l)
{
    int error = (int)cudaSetDevice(l->device); /* whose name is told */
    return l->error != 0 ? twi_gpu_check(ctx, l->error, l->call)
                         : twi_gpu_check(ctx, error, "selecting the device");
}

void twi_lane_close(twi_lane *l)
{
    if (l->stream == NULL) {
        return;
    }
    (void)cudaSetDevice(l->device);
    twi_gpu_close_stream(l->stream);
    twi_gpu_close_stream(l->copies);
    (void)cudaFree(l->memory);
    (void)cudaFreeHost(l->pinned);
    for (int i = 0; i < TWI_LANE_TURNS; i++) {
        twi_gpu_clock_close(&l->turns[i].clock);
    }
    for (int i = 0; i < 2; i++) {
        twi_gpu_close_event(l->stage.arrived[i]);
    }
    twi_gpu_close_event(l->converted);
    *l = (twi_lane){0};
}

/* What stays through all batches. */
tw_status twi_lane_upload(tw_context *ctx, twi_lane *l, const twi_lane_shape *shape,
                          const twi_slabs *slabs, const void *arcs)
{
    const tw_apsp_plan *plan = shape->plan;
    const tw_graph *graph = plan->graph;
    const twi_tree *tree = plan->tree;
    const uint64_t n = (uint64_t)graph->n;
    const uint64_t element = (uint64_t)shape->kernel->element;
    const struct {
        const void *to;
        const void *from;
        uint64_t bytes;
    } arrays[] = {
        {l->batch.arcs, arcs, (uint64_t)slabs->elements * element},
        {l->batch.index, slabs->index, (uint64_t)slabs->indices * sizeof(int32_t)},
        {l->batch.first, tree->first, ((uint64_t)tree->blocks + 1) * sizeof(int32_t)},
        {l->batch.block, slabs->block, n * sizeof(int32_t)},
        {l->batch.vertex, tree->vertex, n * sizeof(int32_t)},
        {l->tasks, slabs->task, (uint64_t)slabs->tasks * sizeof *slabs->task},
        {l->by_height, slabs->by_height, (uint64_t)tree->blocks * sizeof(int32_t)},
        {l->arcs.place, tree->place, n * sizeof(int32_t)},
        {l->arcs.offsets, graph->offsets, shape->certify ? (n + 1) * sizeof(int64_t) : 0},
        {l->arcs.targets, graph->targets,
         shape->certify ? (uint64_t)graph->arcs * sizeof(int32_t) : 0},
        {l->potential, plan->potential, plan->potential != NULL ? n * sizeof(double) : 0},
        {l->sources, plan->options.sources,
         l->sources != NULL ? (uint64_t)plan->options.source_count * sizeof(int32_t) : 0},
        {l->targets, plan->options.targets,
         l->targets != NULL ? (uint64_t)plan->options.target_count * sizeof(int32_t) : 0},
    };
    tw_status status = twi_gpu_check(ctx, (int)cudaSetDevice(l->device), "selecting the device");
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == TW_OK; i++) {
        status = twi_gpu_upload(ctx, &l->stage, arrays[i].to, arrays[i].from, arrays[i].bytes,
                                "copying the arcs");
    }
    /* Columns of the pool that nobody has written are read, and their sums thrown away: they must
     * not carry into their neighbours. */
    if (status == TW_OK) {
        uint64_t bytes = (uint64_t)(tree->size_most * shape->columns) * element;
        status = twi_gpu_check(ctx, (int)cudaMemsetAsync(l->batch.pool, 0, bytes, l->stream),
                               "clearing the pool");
    }
    return status;
}
