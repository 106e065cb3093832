/*
 * A plan's closure on one GPU that can hold it, from the arcs of the graph to rows for the sinks:
 * there is no n x n matrix in host memory at any time.
 *
 * The arcs go up through two pinned buffers that all threads fill, and are scattered on the device
 * into a matrix of the type that is tried. 16 bits come first where the plan thinks that they may
 * do; the certificate runs on the device, and where it refuses, the next wider type follows. Then
 * rows leave in blocks: a pass turns them into the result's type, the copy engine brings them into
 * one of the pinned buffers, and the sinks take the other one meanwhile.
 *
 * Device memory: the arcs, the matrix of one attempt with its panels, two blocks of rows. Host
 * memory: the two pinned buffers.
 */
#include "apsp/closure/certificate.h"
#include "apsp/gpu/gpu.h"
#include "apsp/gpu/kernels/arcs.h"
#include "apsp/gpu/kernels/rows.h"
#include "apsp/shared/attempt.h"
#include "base/clock.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "gpu/compat.h"
#include "gpu/device.h"
#include "gpu/layout.h"
#include "gpu/queue.h"
#include "gpu/stage.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a pinned buffer, unless one row needs more: they take 0.5 ms a MB to make, and 8 MB
 * already go at full speed. Tests have smaller ones. */
#ifndef TWI_RESIDENT_BUFFER
#define TWI_RESIDENT_BUFFER ((int64_t)8 << 20)
#endif
#define LEAST ((int64_t)1 << 20) /* bytes of one for a small result */

/* What the device tells the host, at the beginning of its memory. */
typedef struct findings {
    uint64_t place; /* lowered to the least place of a value that cannot be */
    int32_t differs;
    int32_t capped;
    int32_t refuted;
} findings;

typedef struct resident {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    twi_delivery *delivery;
    twi_gpu_outcome *out;
    cudaStream_t stream;
    twi_gpu_clock clock; /* of the closure */
    twi_gpu_stage stage;
    char *fixed; /* device: findings, arcs, lists, blocks of rows */
    findings *found;
    twi_gpu_arcs arcs;
    int32_t *sources;
    int32_t *targets;
    void *block[2];
    char *moving; /* device: the matrix of this attempt, its panels */
    char *panels;
    twi_gpu_work work;
} resident;

/* ------------------------------------------------------------------------------------- memory */

static uint64_t buffer_bytes(const tw_apsp_plan *plan)
{
    int64_t row = twi_plan_cols(plan) * (int64_t)tw_type_size(plan->type);
    int64_t all = twi_plan_rows(plan) * row;
    int64_t most = row > TWI_RESIDENT_BUFFER ? row : TWI_RESIDENT_BUFFER;
    return (uint64_t)(all < most ? (all > LEAST ? all : LEAST) : most);
}

/* Lay out what stays through all attempts; returns its bytes. */
static uint64_t place_fixed(resident *self, char *base)
{
    const tw_apsp_plan *plan = self->plan;
    const tw_graph *graph = plan->graph;
    uint64_t used = 0;
    self->found = twi_gpu_place(base, &used, 1, sizeof *self->found);
    self->arcs = (twi_gpu_arcs){.n = graph->n, .weight_type = graph->weight_type};
    self->arcs.offsets = twi_gpu_place(base, &used, graph->n + 1, sizeof *self->arcs.offsets);
    self->arcs.targets = twi_gpu_place(base, &used, graph->arcs, sizeof *self->arcs.targets);
    self->arcs.weights =
        twi_gpu_place(base, &used, graph->arcs, (int64_t)tw_type_size(graph->weight_type));
    if (plan->potential != NULL) {
        self->arcs.potential = twi_gpu_place(base, &used, graph->n, sizeof *plan->potential);
    }
    if (plan->options.sources != NULL) {
        self->sources =
            twi_gpu_place(base, &used, plan->options.source_count, sizeof *self->sources);
    }
    if (plan->options.targets != NULL) {
        self->targets =
            twi_gpu_place(base, &used, plan->options.target_count, sizeof *self->targets);
    }
    self->block[0] = twi_gpu_place(base, &used, (int64_t)self->stage.bytes, 1);
    self->block[1] = twi_gpu_place(base, &used, (int64_t)self->stage.bytes, 1);
    return used;
}

/* The matrix, and behind it panels, or the bits of the certificate when the panels are done with.
 */
static uint64_t moving_bytes(const twi_gpu_kernel *kernel, int64_t n, bool symmetric,
                             uint64_t *matrix)
{
    uint64_t panels = twi_gpu_closure_bytes(kernel, n, symmetric);
    uint64_t bits = kernel->type == TW_U16 || kernel->type == TW_I32 ? twi_gpu_reached_bytes(n) : 0;
    *matrix = 0;
    (void)twi_gpu_place(NULL, matrix, n * twi_gpu_row_length(n, kernel->element), kernel->element);
    return *matrix + (panels > bits ? panels : bits);
}

uint64_t twi_gpu_resident_bytes(const tw_apsp_plan *plan, tw_type type)
{
    resident self = {.plan = plan, .stage = {.bytes = buffer_bytes(plan)}};
    uint64_t matrix;
    return place_fixed(&self, NULL) + moving_bytes(twi_gpu_kernel_choose(type, plan->graph->n),
                                                   plan->graph->n, false, &matrix);
}

uint64_t twi_gpu_resident_memory(const tw_apsp_plan *plan)
{
    return 2 * buffer_bytes(plan);
}

/* ------------------------------------------------------------------------------ open and close */

static tw_status check(resident *self, int error, const char *call)
{
    return twi_gpu_check(self->ctx, error, call);
}

static tw_status allocate(resident *self, char **out, uint64_t bytes)
{
    char size[32];
    char call[96];
    (void)twi_bytes(size, (double)bytes);
    snprintf(call, sizeof call, "allocating %s for %lld vertices", size,
             (long long)self->plan->graph->n);
    return check(self, (int)cudaMalloc((void **)out, bytes), call);
}

static tw_status open_run(resident *self, int32_t device)
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
        status = twi_gpu_stage_open(self->ctx, &self->stage, self->stream, self->stage.bytes);
    }
    if (status == TW_OK) {
        status = allocate(self, &self->fixed, place_fixed(self, NULL));
    }
    if (status == TW_OK) {
        (void)place_fixed(self, self->fixed);
    }
    return status;
}

static void close_run(resident *self)
{
    twi_gpu_close_stream(self->stream);
    (void)cudaFree(self->moving);
    (void)cudaFree(self->fixed);
    twi_gpu_stage_close(&self->stage);
    twi_gpu_clock_close(&self->clock);
}

/* --------------------------------------------------------------------------------------- upload */

static tw_status upload_all(resident *self)
{
    const tw_apsp_plan *plan = self->plan;
    const tw_graph *graph = plan->graph;
    const struct {
        const void *to;
        const void *from;
        uint64_t bytes;
    } arrays[] = {
        {self->arcs.offsets, graph->offsets, (uint64_t)(graph->n + 1) * sizeof *graph->offsets},
        {self->arcs.targets, graph->targets, (uint64_t)graph->arcs * sizeof *graph->targets},
        {self->arcs.weights, graph->weights,
         (uint64_t)graph->arcs * tw_type_size(graph->weight_type)},
        {self->arcs.potential, plan->potential,
         plan->potential != NULL ? (uint64_t)graph->n * sizeof *plan->potential : 0},
        {self->sources, plan->options.sources,
         self->sources != NULL ? (uint64_t)plan->options.source_count * sizeof(int32_t) : 0},
        {self->targets, plan->options.targets,
         self->targets != NULL ? (uint64_t)plan->options.target_count * sizeof(int32_t) : 0},
    };
    tw_status status = TW_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == TW_OK; i++) {
        status = twi_gpu_upload(self->ctx, &self->stage, arrays[i].to, arrays[i].from,
                                arrays[i].bytes, "copying the arcs");
    }
    return status;
}

/* -------------------------------------------------------------------------------------- closing */

static tw_status clear_findings(resident *self)
{
    static const findings none = {UINT64_MAX, 0, 0, 0};
    return check(
        self,
        (int)cudaMemcpyAsync(self->found, &none, sizeof none, cudaMemcpyHostToDevice, self->stream),
        "clearing the flags");
}

static tw_status read_findings(resident *self, findings *out, const char *call)
{
    tw_status status = check(
        self,
        (int)cudaMemcpyAsync(out, self->found, sizeof *out, cudaMemcpyDeviceToHost, self->stream),
        call);
    return status == TW_OK ? check(self, (int)cudaStreamSynchronize(self->stream), call) : status;
}

/* A matrix of `type`, filled from the arcs; whether it is symmetric. */
static tw_status scatter(resident *self, tw_type type)
{
    const int64_t n = self->plan->graph->n;
    const twi_gpu_kernel *kernel = twi_gpu_kernel_choose(type, n);
    uint64_t matrix;
    uint64_t bytes = moving_bytes(kernel, n, false, &matrix);
    findings found = {0};
    tw_status status = check(self, (int)cudaFree(self->moving), "freeing the matrix");
    self->moving = NULL;
    if (status == TW_OK) {
        status = allocate(self, &self->moving, bytes);
    }
    if (status != TW_OK) {
        return status;
    }
    self->work = (twi_gpu_work){
        .kernel = kernel,
        .data = self->moving,
        .n = n,
        .ld = twi_gpu_row_length(n, kernel->element),
        .symmetric = self->plan->symmetric,
    };
    self->panels = self->moving + matrix;
    twi_gpu_square square = {self->work.data, self->work.ld};
    status = clear_findings(self);
    if (status == TW_OK) {
        status = check(self, twi_gpu_scatter(type, square, &self->arcs, self->stream),
                       "starting to scatter the arcs");
    }
    if (status == TW_OK && !self->plan->symmetric) {
        status = check(self,
                       twi_gpu_find_asymmetry(&self->found->differs, type, square, n, self->stream),
                       "starting to compare the matrix with its transpose");
        if (status == TW_OK) {
            status = read_findings(self, &found, "scattering the arcs");
        }
        self->work.symmetric = found.differs == 0;
    }
    return status;
}

/* The certificate of certificate.h. No sum leaves f32 or f64 here: the plan has seen to that. */
static tw_status certify(void *self_, bool *exact)
{
    resident *self = self_;
    const tw_graph *graph = self->plan->graph;
    tw_type type = self->work.kernel->type;
    twi_gpu_square square = {self->work.data, self->work.ld};
    findings found = {UINT64_MAX, 0, 0, 0};
    tw_status status = TW_OK;
    if (type == TW_U16 || type == TW_I32) {
        status = check(
            self, twi_gpu_find_infinite(&self->found->capped, type, square, graph->n, self->stream),
            "starting to look for far pairs");
    }
    if (status == TW_OK) {
        status = read_findings(self, &found, "closing the matrix");
    }
    if (status == TW_OK && found.capped != 0) {
        status = check(self,
                       twi_gpu_certify(&self->found->refuted, (uint32_t *)self->panels, type,
                                       square, &self->arcs, self->stream),
                       "starting the certificate");
        if (status == TW_OK) {
            status = read_findings(self, &found, "certifying the matrix");
        }
    }
    *exact = found.refuted == 0;
    return status == TW_OK ? twi_gpu_clock_read(self->ctx, &self->clock, "closing the matrix",
                                                &self->out->seconds_device)
                           : status;
}

/* The plan has seen to the first type; a wider one must fit as well. */
static tw_status check_room(resident *self, tw_type type)
{
    char need[32];
    char have[32];
    uint64_t bytes = twi_gpu_resident_bytes(self->plan, type);
    return bytes <= self->plan->gpu_allowed
               ? TW_OK
               : tw_fail(self->ctx, TW_ERR_MEMORY,
                         "a distance needs %s, which takes %s of GPU memory, but %s may be used; "
                         "set the working type to %s to stream the matrix through the GPU",
                         tw_type_name(type), twi_bytes(need, (double)bytes),
                         twi_bytes(have, (double)self->plan->gpu_allowed), tw_type_name(type));
}

static tw_status open_attempt(void *self_, tw_type type)
{
    resident *self = self_;
    tw_status status = check_room(self, type);
    if (status == TW_OK) {
        status = scatter(self, type);
    }
    self->out->symmetric = self->work.symmetric;
    return status;
}

static tw_status close_matrix(void *self_)
{
    resident *self = self_;
    tw_status status = twi_gpu_clock_start(self->ctx, &self->clock, self->stream);
    if (status == TW_OK) {
        status = twi_gpu_closure(self->ctx, &self->work, self->panels, self->stream, true);
    }
    return status == TW_OK ? twi_gpu_clock_stop(self->ctx, &self->clock, self->stream) : status;
}

/* ------------------------------------------------------------------------------------- download */

/* The sentence for a value that the result's type cannot hold. */
static tw_status fail_misfit(resident *self, uint64_t where)
{
    const tw_apsp_plan *plan = self->plan;
    int64_t row = (int64_t)where / twi_plan_cols(plan);
    int64_t col = (int64_t)where % twi_plan_cols(plan);
    int64_t source = twi_plan_source(plan, row);
    int64_t target = twi_plan_target(plan, col);
    tw_type type = self->work.kernel->type;
    size_t size = tw_type_size(type);
    char element[sizeof(double)] __attribute__((aligned(8))) = {0};
    const char *from =
        (const char *)self->work.data + (size_t)(source * self->work.ld + target) * size;
    tw_status status =
        check(self, (int)cudaMemcpyAsync(element, from, size, cudaMemcpyDeviceToHost, self->stream),
              "reading a distance");
    if (status == TW_OK) {
        status = check(self, (int)cudaStreamSynchronize(self->stream), "reading a distance");
    }
    if (status != TW_OK) {
        return status;
    }
    double distance = twi_element(element, type, 0);
    if (plan->potential != NULL) {
        distance += plan->potential[target] - plan->potential[source];
    }
    return twi_delivery_misfit(self->ctx, self->delivery, row, col, distance);
}

/* Rows of the closed matrix on their way to delivery. */
typedef struct finished_rows {
    resident *run;
    twi_gpu_rows rows;
} finished_rows;

static tw_status fetch(void *finished, int64_t first, int64_t count, int turn)
{
    const finished_rows *f = finished;
    resident *self = f->run;
    uint64_t bytes = (uint64_t)(count * f->rows.cols) * tw_type_size(f->rows.type);
    tw_status status =
        check(self, twi_gpu_take_rows(self->block[turn], &f->rows, first, count, self->stream),
              "starting to convert rows");
    return status == TW_OK
               ? check(self,
                       (int)cudaMemcpyAsync(self->stage.pinned[turn], self->block[turn], bytes,
                                            cudaMemcpyDeviceToHost, self->stream),
                       "copying rows")
               : status;
}

static tw_status give(void *finished, int64_t first, int64_t count, char *rows)
{
    const finished_rows *f = finished;
    return twi_delivery_finished_rows(f->run->ctx, f->run->delivery, first, count, rows);
}

/* A value that does not fit is noticed at the end: the sinks have made nothing final before. */
static tw_status deliver(void *self_)
{
    resident *self = self_;
    const tw_apsp_plan *plan = self->plan;
    const int64_t all = twi_plan_rows(plan);
    finished_rows finished = {
        .run = self,
        .rows =
            {
                .in = {self->work.data, self->work.ld},
                .work = self->work.kernel->type,
                .type = plan->type,
                .sources = self->sources,
                .targets = self->targets,
                .potential = self->arcs.potential,
                .misfit = &self->found->place,
                .keep_whole = twi_plan_keeps_whole(plan),
                .cutoff = plan->options.cutoff,
                .cols = twi_plan_cols(plan),
            },
    };
    const twi_gpu_rows_back how = {&finished, fetch, give, self->stream,
                                   &self->out->seconds_download};
    int64_t row_bytes = finished.rows.cols * (int64_t)tw_type_size(plan->type);
    if (row_bytes == 0) {
        return twi_delivery_finished_rows(self->ctx, self->delivery, 0, all, self->stage.pinned[0]);
    }
    findings found = {0};
    tw_status status = twi_gpu_bring_back(self->ctx, &self->stage, &how, 0, all,
                                          (int64_t)self->stage.bytes / row_bytes);
    if (status == TW_OK) {
        status = read_findings(self, &found, "copying rows");
    }
    return status == TW_OK && found.place != UINT64_MAX ? fail_misfit(self, found.place) : status;
}

static const twi_engine engine = {"closing", open_attempt, close_matrix, certify, deliver, NULL};

tw_status twi_gpu_resident_run(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                               twi_gpu_outcome *out)
{
    resident self = {.ctx = ctx,
                     .plan = plan,
                     .delivery = delivery,
                     .out = out,
                     .stage = {.bytes = buffer_bytes(plan)}};
    *out = (twi_gpu_outcome){.used = plan->work_type, .symmetric = plan->symmetric};
    if (plan->graph->n == 0) {
        out->attempts = 1;
        return TW_OK;
    }
    double began = twi_seconds();
    tw_status status = open_run(&self, plan->gpus.index[0]);
    if (status == TW_OK) {
        status = upload_all(&self);
    }
    out->seconds_upload = twi_seconds() - began;
    if (status == TW_OK) {
        status = twi_attempt(ctx, &engine, &self, plan->gpu_narrow ? TW_U16 : plan->work_type,
                             plan->options.work_type, &out->used, &out->attempts);
    }
    close_run(&self);
    return status;
}
