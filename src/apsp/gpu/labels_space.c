/* Memory of searches that correct labels: see labels_space.h. */
#include "apsp/gpu/labels_space.h"

#include "base/memory.h"
#include "gpu/device.h"
#include "gpu/layout.h"

/* Bytes of a batch's labels, and of a pinned buffer for rows, unless one row needs more. Columns
 * that a batch has at least, where there are as many: fewer would leave a device idle. Bytes of a
 * chunk's labels that lie in the second cache beside the rest. Tests have less. */
#ifndef TWI_LABELS_BATCH
#define TWI_LABELS_BATCH ((uint64_t)1 << 30)
#define TWI_LABELS_BUFFER ((int64_t)8 << 20)
#define TWI_LABELS_COLUMNS 1024
#define TWI_LABELS_CACHED ((int64_t)17 << 20)
#endif
#define SPLIT 4 /* batches that rows are cut into at least: copied while others are searched */

/* --------------------------------------------------------------------------------------- memory */

/* Threads of a row of a chunk: as many as leave its n rows in the second cache. */
static int32_t lanes_for(int64_t n)
{
    int32_t lanes = TWI_LABELS_LANES;
    while (lanes > TWI_LABELS_LANES_LEAST &&
           n * lanes * TWI_LABELS_PIECE_BYTES > TWI_LABELS_CACHED) {
        lanes /= 2;
    }
    return lanes;
}

/* Columns of a chunk. */
static int64_t chunk_width(int64_t n, tw_type type)
{
    return lanes_for(n) * TWI_LABELS_PIECE_BYTES / (int64_t)tw_type_size(type);
}

static void place_letter(twi_labels_letter *l, char *base, uint64_t *used, int64_t columns,
                         int64_t chunks)
{
    const uint64_t from = *used;
    l->found = twi_gpu_place(base, used, 1, sizeof *l->found);
    l->sum = twi_gpu_place(base, used, columns, sizeof *l->sum);
    l->reached = twi_gpu_place(base, used, columns, sizeof *l->reached);
    l->most = twi_gpu_place(base, used, columns, sizeof *l->most);
    l->changed = twi_gpu_place(base, used, chunks, sizeof *l->changed);
    l->bytes = *used - from;
}

/* What a run has in the memory of the device. */
typedef struct sizes {
    tw_type type;
    int64_t items, hubs, parts;
    int64_t columns;
    int32_t turns;
    int64_t buffer;
} sizes;

static uint64_t lay_out(twi_labels_space *self, char *base, const tw_apsp_plan *plan,
                        const sizes *z)
{
    const tw_graph *graph = plan->graph;
    const uint64_t element = tw_type_size(z->type);
    const int64_t chunks = z->columns / chunk_width(graph->n, z->type);
    uint64_t used = 0;
    twi_labels shared = {.n = graph->n,
                         .ld = z->columns,
                         .chunks = (int32_t)chunks,
                         .lanes = lanes_for(graph->n),
                         .item_count = (int32_t)z->items,
                         .hub_count = (int32_t)z->hubs};
    shared.items = twi_gpu_place(base, &used, z->items, sizeof(twi_labels_item));
    shared.hubs = twi_gpu_place(base, &used, z->hubs, sizeof(twi_labels_hub));
    shared.origin = twi_gpu_place(base, &used, graph->arcs, sizeof(int32_t));
    shared.weight = twi_gpu_place(base, &used, graph->arcs, element);
    shared.parts = twi_gpu_place(base, &used, z->parts * z->columns, element);
    shared.part_stamp = twi_gpu_place(base, &used, z->parts * chunks, sizeof(int32_t));
    self->place = twi_gpu_place(base, &used, graph->n, sizeof *self->place);
    self->column = twi_gpu_place(base, &used, z->columns, sizeof *self->column);
    self->offsets = twi_gpu_place(base, &used, graph->n + 1, sizeof *self->offsets);
    self->heads = twi_gpu_place(base, &used, graph->arcs, sizeof *self->heads);
    self->potential =
        plan->potential != NULL ? twi_gpu_place(base, &used, graph->n, sizeof(double)) : NULL;
    self->list = plan->options.sources != NULL
                     ? twi_gpu_place(base, &used, plan->options.source_count, sizeof(int32_t))
                     : NULL;
    self->targets = plan->options.targets != NULL
                        ? twi_gpu_place(base, &used, plan->options.target_count, sizeof(int32_t))
                        : NULL;
    for (int i = 0; i < 2; i++) {
        self->block[i] = twi_gpu_place(base, &used, z->buffer, 1);
    }
    for (int32_t i = 0; i < z->turns; i++) {
        twi_labels_turn *t = &self->turns[i];
        t->labels = shared;
        place_letter(&t->there, base, &used, z->columns, chunks);
        t->labels.changed = t->there.changed;
        t->labels.stop = base != NULL ? &t->there.found->stop : NULL;
        t->labels.stamp = twi_gpu_place(base, &used, chunks * graph->n, sizeof(int32_t));
        t->labels.x = twi_gpu_place(base, &used, graph->n * z->columns, element);
    }
    return used;
}

/* For what the plan knows, at most; in `columns` of a batch. */
static uint64_t bytes_with(const tw_apsp_plan *plan, tw_type type, int64_t columns, int64_t buffer)
{
    twi_labels_space none = {0};
    const int64_t parts = twi_entering_most_parts(plan);
    const sizes most = {
        type, twi_entering_most_items(plan), parts / 2, parts, columns, TWI_LABELS_TURNS, buffer};
    return lay_out(&none, NULL, plan, &most);
}

static int64_t buffer_bytes(const tw_apsp_plan *plan)
{
    const int64_t row = twi_plan_cols(plan) * (int64_t)tw_type_size(plan->type);
    return row > TWI_LABELS_BUFFER ? row : TWI_LABELS_BUFFER;
}

int64_t twi_labels_columns(const tw_apsp_plan *plan, tw_type type)
{
    const int64_t width = chunk_width(plan->graph->n, type);
    const int64_t rows = twi_plan_rows(plan);
    const uint64_t row = (uint64_t)plan->graph->n * tw_type_size(type);
    int64_t columns = (rows + SPLIT - 1) / SPLIT;
    columns = columns > TWI_LABELS_COLUMNS ? columns : TWI_LABELS_COLUMNS;
    columns = columns < rows ? columns : rows;
    int64_t chunks = (columns + width - 1) / width;
    const int64_t most = (int64_t)(TWI_LABELS_BATCH / (row > 0 ? row : 1)) / width;
    chunks = chunks < most ? chunks : most;
    chunks = chunks > 1 ? chunks : 1;
    while (chunks > 1 &&
           bytes_with(plan, type, chunks * width, buffer_bytes(plan)) > plan->gpu_allowed) {
        chunks /= 2;
    }
    return chunks * width;
}

uint64_t twi_gpu_labels_bytes(const tw_apsp_plan *plan, tw_type type)
{
    return bytes_with(plan, type, twi_labels_columns(plan, type), buffer_bytes(plan));
}

/* Bytes of the letters of all turns, which are pinned. */
static uint64_t letter_bytes(const tw_apsp_plan *plan, tw_type type, int64_t columns)
{
    twi_labels_letter none;
    uint64_t used = 0;
    place_letter(&none, NULL, &used, columns, columns / chunk_width(plan->graph->n, type));
    return TWI_LABELS_TURNS * used;
}

uint64_t twi_gpu_labels_memory(const tw_apsp_plan *plan, tw_type type)
{
    const tw_graph *graph = plan->graph;
    const int64_t columns = twi_labels_columns(plan, type);
    const int64_t most = columns > graph->n ? columns : graph->n;
    return twi_entering_memory(plan) + (uint64_t)graph->arcs * tw_type_size(type) +
           (uint64_t)most * sizeof(int32_t) + letter_bytes(plan, type, columns) +
           2 * (uint64_t)buffer_bytes(plan) + (uint64_t)twi_plan_rows(plan) * sizeof(twi_fold);
}

/* ------------------------------------------------------------------------------ open and close */

tw_status twi_labels_open(tw_context *ctx, twi_labels_space *self, const tw_apsp_plan *plan)
{
    tw_status status =
        twi_gpu_check(ctx, (int)cudaSetDevice(plan->gpus.index[0]), "selecting the device");
    if (status == TW_OK) {
        status = twi_gpu_open_stream(ctx, &self->stream, false);
    }
    if (status == TW_OK) {
        status = twi_gpu_open_stream(ctx, &self->rows, true);
    }
    if (status == TW_OK) {
        status = twi_gpu_open_stream(ctx, &self->copies, true);
    }
    if (status == TW_OK) {
        status = twi_gpu_open_event(ctx, &self->converted);
    }
    for (int i = 0; i < 2 && status == TW_OK; i++) {
        status = twi_gpu_open_event(ctx, &self->passed[i]);
    }
    for (int i = 0; i < TWI_LABELS_TURNS && status == TW_OK; i++) {
        status = twi_gpu_clock_open(ctx, &self->turns[i].clock);
    }
    return status;
}

void twi_labels_close(twi_labels_space *self)
{
    twi_gpu_close_stream(self->copies);
    twi_gpu_close_stream(self->rows);
    twi_gpu_close_stream(self->stream);
    for (int i = 0; i < TWI_LABELS_TURNS; i++) {
        twi_gpu_clock_close(&self->turns[i].clock);
    }
    twi_gpu_close_event(self->converted);
    twi_gpu_close_event(self->passed[0]);
    twi_gpu_close_event(self->passed[1]);
}

/* ---------------------------------------------------------------------------- fill and empty */

static tw_status allocate(tw_context *ctx, twi_labels_space *self, const tw_apsp_plan *plan,
                          const twi_entering *e)
{
    const tw_type type = self->kernel->type;
    const sizes z = {type,
                     e->item_count,
                     e->hub_count,
                     e->part_count,
                     self->columns,
                     self->turn_count,
                     self->rows_wanted ? buffer_bytes(plan) : 0};
    const int64_t chunks = self->columns / chunk_width(plan->graph->n, type);
    uint64_t used = 0;
    tw_status status =
        twi_gpu_check(ctx, (int)cudaMalloc((void **)&self->memory, lay_out(self, NULL, plan, &z)),
                      "allocating memory for searches");
    if (status == TW_OK) {
        const uint64_t bytes = letter_bytes(plan, type, self->columns);
        status = twi_gpu_check(ctx, (int)cudaMallocHost((void **)&self->letters, bytes),
                               "allocating pinned memory");
    }
    if (status == TW_OK && self->rows_wanted) {
        status = twi_gpu_stage_open(ctx, &self->stage, self->copies, (uint64_t)z.buffer);
    }
    if (status != TW_OK) {
        return status;
    }
    (void)lay_out(self, self->memory, plan, &z);
    for (int i = 0; i < TWI_LABELS_TURNS; i++) {
        place_letter(&self->turns[i].here, self->letters, &used, self->columns, chunks);
    }
    return TW_OK;
}

/* The arcs, and what tells rows and columns: `itself` is 0, 1, 2 ... */
static tw_status upload(tw_context *ctx, twi_labels_space *self, const tw_apsp_plan *plan,
                        const twi_entering *e, const void *weight, const int32_t *itself)
{
    const tw_graph *graph = plan->graph;
    const twi_labels *l = &self->turns[0].labels;
    const tw_apsp_options *o = &plan->options;
    const struct {
        const void *to;
        const void *from;
        int64_t count;
        size_t size;
    } arrays[] = {
        {l->items, e->items, e->item_count, sizeof *e->items},
        {l->hubs, e->hubs, e->hub_count, sizeof *e->hubs},
        {l->origin, e->origin, graph->arcs, sizeof *e->origin},
        {l->weight, weight, graph->arcs, (size_t)self->kernel->element},
        {self->place, itself, graph->n, sizeof *itself},
        {self->column, itself, self->columns, sizeof *itself},
        {self->potential, plan->potential, plan->potential != NULL ? graph->n : 0, sizeof(double)},
        {self->list, o->sources, self->list != NULL ? o->source_count : 0, sizeof *o->sources},
        {self->targets, o->targets, self->targets != NULL ? o->target_count : 0,
         sizeof *o->targets},
        {self->offsets, graph->offsets, self->certify ? graph->n + 1 : 0, sizeof *graph->offsets},
        {self->heads, graph->targets, self->certify ? graph->arcs : 0, sizeof *graph->targets},
    };
    tw_status status = TW_OK;
    for (int i = 0; i < self->turn_count && status == TW_OK; i++) { /* with the gaps */
        const twi_labels_letter *there = &self->turns[i].there;
        status = twi_gpu_check(
            ctx, (int)cudaMemsetAsync(there->found, 0, there->bytes, self->stream), "clearing");
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == TW_OK; i++) {
        status = twi_gpu_send(ctx, self->stream, arrays[i].to, arrays[i].from,
                              arrays[i].count * (int64_t)arrays[i].size);
    }
    /* What is queued reads from memory that the caller gives up. */
    tw_status ended =
        twi_gpu_check(ctx, (int)cudaStreamSynchronize(self->stream), "copying the arcs");
    return status == TW_OK ? ended : status;
}

tw_status twi_labels_fill(tw_context *ctx, twi_labels_space *self, const tw_apsp_plan *plan,
                          const twi_entering *entering)
{
    const tw_graph *graph = plan->graph;
    const int64_t most = self->columns > graph->n ? self->columns : graph->n;
    char *weight = NULL;
    int32_t *itself = NULL;
    tw_status status = twi_alloc(ctx, &weight, (uint64_t)graph->arcs,
                                 (uint64_t)self->kernel->element, "the weights");
    if (status == TW_OK) {
        status = twi_alloc(ctx, &itself, (uint64_t)most, sizeof *itself, "the columns");
    }
    if (status == TW_OK) {
        status = allocate(ctx, self, plan, entering);
    }
    if (status == TW_OK) {
        status = twi_entering_weights(ctx, entering, plan, self->kernel->type, weight);
    }
    if (status == TW_OK) {
        for (int64_t i = 0; i < most; i++) {
            itself[i] = (int32_t)i;
        }
        status = upload(ctx, self, plan, entering, weight, itself);
    }
    twi_free(itself);
    twi_free(weight);
    return status;
}

void twi_labels_drain(twi_labels_space *self)
{
    const cudaStream_t streams[] = {self->stream, self->rows, self->copies};
    for (int i = 0; i < TWI_LABELS_TURNS; i++) {
        twi_labels_turn *t = &self->turns[i];
        if (t->labels.stop != NULL) {
            twi_gpu_tell_to_stop(t->labels.stop, &t->here.found->stop);
        }
    }
    for (int i = 0; i < 3; i++) {
        if (streams[i] != NULL) {
            (void)cudaStreamSynchronize(streams[i]);
        }
    }
}

void twi_labels_empty(twi_labels_space *self)
{
    twi_gpu_stage_close(&self->stage);
    (void)cudaFreeHost(self->letters);
    (void)cudaFree(self->memory);
    self->stage = (twi_gpu_stage){0};
    self->letters = NULL;
    self->memory = NULL;
    for (int i = 0; i < TWI_LABELS_TURNS; i++) {
        self->turns[i].labels.stop = NULL;
    }
}
