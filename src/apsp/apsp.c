/*
 * The entry of the wing: run a plan. A closure is tried in the plan's working type and, where the
 * certificate refuses the result, again in the next wider one; searches and the reference deliver
 * directly. Whatever the method, rows leave through delivery.
 */
#include "apsp/closure/certificate.h"
#include "apsp/closure/checkpoint.h"
#include "apsp/closure/cpu.h"
#include "apsp/closure/pull.h"
#include "apsp/closure/scatter.h"
#include "apsp/closure/signed.h"
#include "apsp/gpu/gpu.h"
#include "apsp/gpu/hops.h"
#include "apsp/plan/candidate.h"
#include "apsp/plan/check.h"
#include "apsp/plan/explain.h"
#include "apsp/plan/gpu.h"
#include "apsp/plan/plan.h"
#include "apsp/reference.h"
#include "apsp/search/search.h"
#include "apsp/shared/attempt.h"
#include "apsp/shared/deliver.h"
#include "apsp/shared/options.h"
#include "apsp/shared/plan.h"
#include "apsp/shared/widen.h"
#include "apsp/sweep/sweep.h"
#include "base/clock.h"
#include "base/given.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/threads.h"
#include "gpu/startup.h"

#include <stdio.h>
#include <string.h>

/* What a run finds out for its report. */
typedef struct outcome {
    tw_type work_type;
    int32_t block;
    int32_t attempts;
    bool symmetric;
    double relaxations;
    double device; /* seconds, of all attempts */
    double upload;
    double download;
    twi_checkpoint *checkpoint; /* NULL: none is kept */
} outcome;

/* A closure of a matrix in host memory: on the CPU, or on the GPUs of the plan. */
typedef struct closure_run {
    tw_context *ctx;
    const tw_apsp_plan *plan;
    twi_delivery *delivery;
    outcome *out;
    twi_work work;
    tw_type closed_in;          /* a GPU may find a narrower type than the matrix's to be enough */
    bool all_bits;              /* 15 of 16, or 7 of 8, have not been enough */
    twi_checkpoint *checkpoint; /* NULL: none */
    int64_t done;               /* vertices, when the attempt was opened */
    const twi_minplus_kernel *found; /* of what it then went on from; NULL: it began */
} closure_run;

static int32_t block_of(const closure_run *self)
{
    const twi_work *work = &self->work;
    const int32_t asked = self->plan->options.block;
    return asked > 0 ? twi_block_round(work->kernel, work->n, asked)
                     : twi_block_choose(work->kernel, work->n);
}

/* The kernel of an attempt in `type`. */
static const twi_minplus_kernel *choose_kernel(const closure_run *self, tw_type type)
{
    const twi_state *found = twi_checkpoint_found(self->checkpoint);
    if (self->all_bits || self->plan->gpus.count > 0) {
        return twi_minplus_kernel_find(self->plan->isa, type);
    }
    return found != NULL ? twi_state_kernel(self->plan, found)
                         : twi_closure_kernel(self->plan, type);
}

/* The type to begin with. The matrix of a GPU's closure is of i32, f32 or f64. */
static tw_type first_type(const tw_apsp_plan *plan, const twi_state *found)
{
    const bool narrow = found != NULL && (found->type == TW_U8 || found->type == TW_U16);
    return found == NULL ? plan->work_type : narrow && plan->gpus.count > 0 ? TW_I32 : found->type;
}

/* From the beginning, or from what was found. */
static tw_status begin_or_resume(closure_run *self)
{
    const twi_state *found = twi_checkpoint_found(self->checkpoint);
    const tw_apsp_plan *plan = self->plan;
    const bool gpu = plan->gpus.count > 0;
    outcome *out = self->out;
    self->done = 0;
    self->found = found != NULL ? twi_state_kernel(plan, found) : NULL;
    if (!gpu) {
        const bool given = found != NULL && (found->type == TW_F32 || found->type == TW_F64);
        out->block = given ? (int32_t)found->block : block_of(self);
    }
    if (self->checkpoint == NULL) {
        return TW_OK;
    }
    out->symmetric = found != NULL ? found->lower : out->symmetric;
    twi_checkpoint_begin(self->checkpoint, &self->work, out->block, out->symmetric);
    if (gpu && plan->gpu_narrow && self->work.kernel->type == TW_I32) {
        twi_checkpoint_offer(self->checkpoint, twi_minplus_kernel_of_15_bits(plan->isa));
    }
    if (found == NULL) {
        return TW_OK;
    }
    self->done = found->done;
    return twi_checkpoint_resume(self->checkpoint, self->ctx, self->found);
}

static tw_status open_attempt(void *run, tw_type type)
{
    closure_run *self = run;
    tw_context *ctx = self->ctx;
    const int64_t n = self->plan->graph->n;
    twi_free(self->work.data);
    self->work = (twi_work){.kernel = choose_kernel(self, type), .n = n};
    self->work.ld = twi_work_stride(self->work.kernel, n);
    self->closed_in = type;
    tw_status status =
        twi_alloc(ctx, &self->work.data, (uint64_t)n, (uint64_t)self->work.ld * tw_type_size(type),
                  "the distance matrix");
    if (status == TW_OK) {
        twi_scatter(ctx, self->plan, &self->work);
        self->out->symmetric = self->plan->symmetric || twi_is_symmetric(ctx, &self->work);
        status = twi_check_cancel(ctx);
    }
    if (status == TW_OK) {
        status = begin_or_resume(self);
    }
    return status;
}

static tw_status close_matrix(void *run)
{
    closure_run *self = run;
    const tw_apsp_plan *plan = self->plan;
    const twi_work *work = &self->work;
    outcome *out = self->out;
    if (plan->gpus.count > 0) {
        const tw_type type = work->kernel->type;
        const twi_gpu_host host = {.data = work->data,
                                   .n = work->n,
                                   .ld = work->ld,
                                   .type = type,
                                   .symmetric = out->symmetric,
                                   .graph = plan->graph,
                                   .checkpoint = self->checkpoint,
                                   .done = self->done,
                                   .found = self->found,
                                   .attempts = &out->attempts};
        double began = twi_seconds();
        tw_status status =
            twi_gpu_close(self->ctx, &plan->gpus, plan->gpu_way, plan->gpu_allowed, &host,
                          plan->gpu_narrow && type == TW_I32, &self->closed_in);
        out->device += twi_seconds() - began;
        return status;
    }
    if (self->done == 0 && twi_pull_pays(plan->graph, work) &&
        twi_pull_may(plan, work, out->symmetric)) {
        out->block = 0;
        twi_pull(plan->graph, work);
        return TW_OK;
    }
    const twi_keeper keeper = twi_checkpoint_keeper(self->checkpoint);
    return twi_cpu_closure_from(self->ctx, work, out->block, plan->threads, out->symmetric,
                                self->done, self->checkpoint != NULL ? &keeper : NULL);
}

static tw_status certify(void *run, bool *exact)
{
    closure_run *self = run;
    *exact = self->closed_in != self->work.kernel->type ||
             !twi_plan_may_reach(self->plan, self->work.kernel->infinity);
    return *exact ? TW_OK : twi_certify(self->ctx, self->plan->graph, &self->work, exact);
}

/* Are there 16 bits to try after 15, or 8 after 7? */
static bool has_more_bits(void *run)
{
    closure_run *self = run;
    self->all_bits = twi_kernel_is_plain(self->work.kernel);
    return self->all_bits;
}

/* All rows into a matrix of the caller's, without a buffer on the way. */
static tw_status fill_matrix(const closure_run *self, const tw_matrix *matrix)
{
    const twi_work *work = &self->work;
    const tw_type type = work->kernel->type;
    const int64_t step = work->ld * (int64_t)tw_type_size(type);
    const char *data = work->data;
    const int threads = twi_threads_for(self->ctx, work->n * work->n);
    if (threads == 1) { /* a region of one thread costs as much as a small matrix */
        for (int64_t i = 0; i < work->n && !twi_is_cancelled(self->ctx); i++) {
            twi_widen(twi_matrix_row(matrix, i), matrix->type, data + i * step, type, work->n);
        }
    } else {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t i = 0; i < work->n; i++) {
            if (!twi_is_cancelled(self->ctx)) {
                twi_widen(twi_matrix_row(matrix, i), matrix->type, data + i * step, type, work->n);
            }
        }
    }
    return twi_delivery_matrix_filled(self->ctx, self->delivery, 0, work->n);
}

/* The rows of the plan's sources: all at once, or those asked for, one by one. */
static tw_status deliver(void *run)
{
    closure_run *self = run;
    const tw_apsp_plan *plan = self->plan;
    const twi_work *work = &self->work;
    twi_rows rows = {0, work->n, work->data, work->ld, work->kernel->type, 1, true};
    twi_name_infinity(self->ctx, work);
    tw_status status = twi_check_cancel(self->ctx);
    if (status != TW_OK) {
        return status;
    }
    if (plan->options.sources == NULL) {
        const tw_matrix *matrix = twi_delivery_matrix(self->delivery, work->kernel->type);
        return matrix != NULL ? fill_matrix(self, matrix)
                              : twi_delivery_rows(self->ctx, self->delivery, &rows);
    }
    int64_t row_bytes = work->ld * (int64_t)tw_type_size(work->kernel->type);
    for (int64_t i = 0; i < plan->options.source_count && status == TW_OK; i++) {
        rows.first = i;
        rows.count = 1;
        rows.work = (const char *)work->data + plan->options.sources[i] * row_bytes;
        status = twi_delivery_rows(self->ctx, self->delivery, &rows);
    }
    return status;
}

static tw_status run_closure(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                             outcome *out)
{
    static const twi_engine engine = {"closing", open_attempt, close_matrix,
                                      certify,   deliver,      has_more_bits};
    closure_run self = {
        .ctx = ctx, .plan = plan, .delivery = delivery, .out = out, .checkpoint = out->checkpoint};
    const twi_state *found = twi_checkpoint_found(out->checkpoint);
    double n = (double)plan->graph->n;
    tw_type last;
    tw_status status = found != NULL ? twi_state_check(ctx, plan, found) : TW_OK;
    if (status == TW_OK) {
        status = twi_attempt(ctx, &engine, &self, first_type(plan, found), plan->options.work_type,
                             &last, &out->attempts);
    }
    out->work_type = self.closed_in;
    out->relaxations = n * n * (n - (double)self.done);
    twi_free(self.work.data);
    return status;
}

static void take_outcome(outcome *out, const twi_gpu_outcome *gpu)
{
    out->work_type = gpu->used;
    out->attempts = gpu->attempts;
    out->symmetric = gpu->symmetric;
    out->device = gpu->seconds_device;
    out->upload = gpu->seconds_upload;
    out->download = gpu->seconds_download;
}

/* All on one GPU, delivery included. */
static tw_status run_resident(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                              outcome *out)
{
    twi_gpu_outcome gpu;
    double n = (double)plan->graph->n;
    tw_status status = twi_gpu_resident_run(ctx, plan, delivery, &gpu);
    take_outcome(out, &gpu);
    out->relaxations = n * n * n;
    return status;
}

static tw_status run_reference(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                               outcome *out)
{
    double *all = NULL;
    int64_t n = plan->graph->n;
    tw_status status =
        twi_alloc(ctx, &all, (uint64_t)n, (uint64_t)n * sizeof *all, "the distance matrix");
    if (status == TW_OK) {
        status = twi_reference_apsp(ctx, plan->graph, all);
    }
    for (int64_t i = 0; i < twi_plan_rows(plan) && status == TW_OK; i++) {
        twi_rows rows = {i, 1, all + twi_plan_source(plan, i) * n, n, TW_F64, 1, false};
        status = twi_delivery_rows(ctx, delivery, &rows);
    }
    out->relaxations = (double)n * (double)n * (double)n;
    twi_free(all);
    return status;
}

/* A wider type is news to a plan: the limit that is named is to be enough for all of its sweep. */
static tw_status refuse_wider_sweep(tw_context *ctx, const tw_apsp_plan *plan, tw_type type)
{
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(plan->isa, type);
    const uint64_t bytes = twi_sweep_memory(plan, plan->tree, kernel);
    const tw_status status = twi_memory_check(ctx, bytes, "a sweep in a wider type");
    return status == TW_OK ? TW_ERR_MEMORY : status; /* with the sentence it had */
}

static tw_status run_sweep(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                           outcome *out)
{
    twi_sweep_outcome seen;
    if (plan->gpus.count > 0) {
        twi_gpu_outcome gpu;
        tw_status done = twi_gpu_sweep_run(ctx, plan, delivery, &gpu);
        take_outcome(out, &gpu);
        out->relaxations =
            plan->tree->factor + (double)twi_plan_rows(plan) * (plan->tree->down + plan->tree->up);
        return done;
    }
    tw_status status = twi_sweep_run(ctx, plan, delivery, &seen);
    if (status == TW_ERR_MEMORY && seen.attempts > 1) {
        status = refuse_wider_sweep(ctx, plan, seen.work_type);
    }
    out->work_type = seen.work_type;
    out->attempts = seen.attempts;
    out->relaxations = seen.relaxations;
    return status;
}

static tw_status run_hops(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                          outcome *out)
{
    twi_gpu_outcome gpu;
    tw_status status = twi_gpu_hops_run(ctx, plan, delivery, &gpu, &out->relaxations);
    out->work_type = gpu.used;
    out->device = gpu.seconds_device;
    out->upload = gpu.seconds_upload;
    out->download = gpu.seconds_download;
    return status;
}

static tw_status run_labels(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                            outcome *out)
{
    twi_gpu_outcome gpu;
    tw_status status = twi_gpu_labels_run(ctx, plan, delivery, &gpu, &out->relaxations);
    take_outcome(out, &gpu);
    return status;
}

static tw_status run_method(tw_context *ctx, const tw_apsp_plan *plan, twi_delivery *delivery,
                            outcome *out)
{
    switch (plan->method) {
    case TW_APSP_METHOD_CLOSURE:
        return plan->gpus.count > 0 && plan->gpu_way == TWI_GPU_RESIDENT
                   ? run_resident(ctx, plan, delivery, out)
                   : run_closure(ctx, plan, delivery, out);
    case TW_APSP_METHOD_REFERENCE:
        return run_reference(ctx, plan, delivery, out);
    case TW_APSP_METHOD_SWEEP:
        return run_sweep(ctx, plan, delivery, out);
    case TW_APSP_METHOD_BFS:
        return plan->gpus.count > 0 ? run_hops(ctx, plan, delivery, out)
                                    : twi_search_run(ctx, plan, delivery, &out->relaxations);
    default:
        return plan->gpus.count > 0 ? run_labels(ctx, plan, delivery, out)
                                    : twi_search_run(ctx, plan, delivery, &out->relaxations);
    }
}

static tw_status check_run(tw_context *ctx, const tw_apsp_plan *plan, const tw_sink *sinks,
                           int32_t sink_count, const tw_sink *predecessors,
                           const tw_apsp_report *report)
{
    tw_status status = TWI_REQUIRE(ctx, {"plan", plan});
    if (status == TW_OK) {
        status = TWI_CHECK_ROOM(ctx, tw_apsp_report, report);
    }
    if (status == TW_OK) {
        status = twi_sinks_check(ctx, sinks, sink_count);
    }
    if (status == TW_OK && predecessors != NULL) {
        status = twi_sink_check(ctx, predecessors, sink_count);
    }
    if (status != TW_OK) {
        return status;
    }
    return predecessors != NULL ? twi_plan_check_predecessors(ctx, plan) : TW_OK;
}

static void fill_report(tw_context *ctx, const tw_apsp_plan *plan, const outcome *out,
                        double seconds, double output, tw_apsp_report *report)
{
    *report = (tw_apsp_report){
        .size = sizeof *report,
        .method = plan->method,
        .work_type = out->work_type,
        .type = plan->type,
        .threads = plan->threads,
        .block = out->block,
        .attempts = out->attempts,
        .symmetric = out->symmetric,
        .isa = twi_isa_name(plan->isa),
        .relaxations = out->relaxations,
        .seconds_plan = plan->spent,
        .seconds_compute = seconds - output - out->upload - out->download,
        .seconds_output = output,
        .memory_peak = tw_memory_peak(ctx),
        .device = plan->gpus.count > 0 ? plan->device : "cpu",
        .seconds_startup = plan->gpus.count > 0 ? twi_gpu_startup_seconds(ctx) : 0,
        .seconds_wait = plan->waited,
        .seconds_device = out->device,
        .seconds_upload = out->upload,
        .seconds_download = out->download,
        .resident = plan->gpus.count > 0 && plan->gpu_way == TWI_GPU_RESIDENT,
        .fallback = "",
    };
}

/* Of rows that come from a GPU nothing is known. */
static twi_rows_known known_rows(const tw_apsp_plan *plan)
{
    return plan->gpus.count > 0 ? (twi_rows_known){0}
                                : twi_known_rows(plan, plan->method, plan->work_type);
}

/* Predecessors may be news to a plan: what they take is in no limit that it named then. */
static tw_status refuse_predecessors(tw_context *ctx, const tw_apsp_plan *plan)
{
    const uint64_t held = twi_plan_held(plan);
    const uint64_t planned = plan->memory > held ? plan->memory - held : 0;
    const twi_rows_known known = known_rows(plan);
    const uint64_t more = twi_delivery_memory(plan, &known, true) -
                          twi_delivery_memory(plan, &known, plan->options.predecessors != 0);
    const tw_status status = twi_memory_check(ctx, planned + more, "a run with predecessors");
    return status == TW_OK ? TW_ERR_MEMORY : status; /* with the sentence it had */
}

/* *refused, unless it is NULL, tells whether a sink failed. */
static tw_status run_plan(tw_context *ctx, const tw_apsp_plan *plan, tw_sink *sinks,
                          int32_t sink_count, tw_sink *predecessors, tw_apsp_report *report,
                          bool *refused)
{
    twi_delivery *delivery = NULL;
    outcome out = {.work_type = plan->work_type,
                   .attempts = plan->method == TW_APSP_METHOD_CLOSURE ? 0 : 1};
    double began = twi_seconds();
    tw_status status = TW_OK;
    twi_meter_restart_peak(ctx->meter);
    if (plan->options.checkpoint != NULL) {
        status = twi_checkpoint_open(ctx, &out.checkpoint, plan->options.checkpoint,
                                     plan->options.checkpoint_every, plan->graph->n, plan->threads);
    }
    if (status == TW_OK) {
        const twi_rows_known known = known_rows(plan);
        status = twi_delivery_begin(ctx, &delivery, plan, &known, sinks, sink_count, predecessors);
    }
    if (status == TW_OK) {
        status = run_method(ctx, plan, delivery, &out);
    }
    if (status == TW_OK) {
        status = twi_delivery_end(ctx, delivery);
    }
    if (status == TW_OK) {
        fill_report(ctx, plan, &out, twi_seconds() - began, twi_delivery_seconds(delivery), report);
    }
    if (refused != NULL) {
        *refused = twi_delivery_refused(delivery);
    }
    const bool ours = status == TW_ERR_MEMORY && !twi_delivery_refused(delivery);
    twi_delivery_destroy(ctx, delivery);
    twi_checkpoint_close(ctx, out.checkpoint, status == TW_OK);
    return ours && predecessors != NULL ? refuse_predecessors(ctx, plan) : status;
}

/* Nobody asked for the GPU that has failed: the same on the CPU, from the beginning. The sinks have
 * been aborted and begin again. */
static tw_status run_on_cpu_instead(tw_context *ctx, tw_apsp_plan *plan, tw_sink *sinks,
                                    int32_t sink_count, tw_sink *predecessors,
                                    tw_apsp_report *report)
{
    tw_apsp_plan *other = NULL;
    char device[sizeof ctx->device];
    char bytes[32], time[TWI_DURATION];
    snprintf(plan->fallback, sizeof plan->fallback, "%s", tw_last_error(ctx));
    twi_log(ctx, "%s; computing on the CPU instead", plan->fallback);
    memcpy(device, ctx->device, sizeof device);
    tw_status status = tw_set_device(ctx, "cpu");
    if (status == TW_OK) {
        status = tw_apsp_plan_create(ctx, &other, plan->graph, &plan->options);
    }
    if (status == TW_OK) {
        twi_log(ctx, "on the CPU: %s, %s of memory, about %s", tw_apsp_method_name(other->method),
                twi_bytes(bytes, (double)other->memory), twi_duration(time, other->seconds));
        status = run_plan(ctx, other, sinks, sink_count, predecessors, report, NULL);
    }
    if (status == TW_OK) {
        report->fallback = plan->fallback;
        report->seconds_startup = twi_gpu_startup_seconds(ctx);
        report->seconds_wait = plan->waited;
    }
    memcpy(ctx->device, device, sizeof device);
    tw_apsp_plan_destroy(other);
    return status;
}

tw_status tw_apsp_plan_run(tw_context *ctx, tw_apsp_plan *plan, tw_sink *sinks, int32_t sink_count,
                           tw_sink *predecessors, tw_apsp_report *report)
{
    tw_status status = check_run(ctx, plan, sinks, sink_count, predecessors, report);
    tw_apsp_report seen = TW_APSP_REPORT_INIT;
    bool refused = false;
    if (status == TW_OK) {
        status = run_plan(ctx, plan, sinks, sink_count, predecessors, &seen, &refused);
    }
    /* What a sink does not take from one device it does not take from another. */
    bool failed = (status == TW_ERR_DEVICE || status == TW_ERR_MEMORY) && !refused;
    if (failed && plan->automatic && plan->gpus.count > 0) {
        status = run_on_cpu_instead(ctx, plan, sinks, sink_count, predecessors, &seen);
    }
    if (status == TW_OK) {
        TWI_GIVE(tw_apsp_report, report, &seen);
    }
    return status;
}

/* Whether negative weights can be closed as they are: nothing of the whole matrix is asked for that
 * a plan would have to look at. */
static bool closes_signed(const tw_context *ctx, const tw_matrix *out, const tw_graph *graph,
                          const tw_apsp_options *o)
{
    return graph->min_weight < 0 && o->method == TW_APSP_METHOD_AUTO && o->work_type == TW_AUTO &&
           o->block == 0 && o->sources == NULL && o->targets == NULL && o->cutoff < 0 &&
           o->symmetric == 0 && o->order == NULL && o->checkpoint == NULL &&
           out->rows == graph->n && out->cols == graph->n && !twi_gpu_is_named(ctx) &&
           twi_signed_suits(graph, out->type);
}

tw_status tw_apsp(tw_context *ctx, tw_matrix *out, const tw_graph *graph,
                  const tw_apsp_options *opts)
{
    tw_apsp_options options = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    tw_status status = TWI_REQUIRE(ctx, {"graph", graph});
    if (status == TW_OK) {
        status = twi_take_options(ctx, &options, opts);
    }
    if (status == TW_OK) {
        status = twi_matrix_check(ctx, out, "the distance matrix");
    }
    if (status != TW_OK) {
        return status;
    }
    if (options.type != TW_AUTO && options.type != out->type) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "the options request a result of type %s, but the distance matrix has type %s",
            tw_type_name(options.type), tw_type_name(out->type));
    }
    options.type = out->type;
    if (closes_signed(ctx, out, graph, &options)) {
        bool done;
        twi_meter_restart_peak(ctx->meter);
        status = twi_signed_close(ctx, out, graph, &done);
        if (status != TW_OK || done) {
            return status;
        }
    }
    status = tw_sink_to_matrix(ctx, &sink, out);
    if (status == TW_OK) {
        status = twi_plan_create(ctx, &plan, graph, &options, false);
    }
    if (status == TW_OK) {
        status = tw_apsp_plan_run(ctx, plan, &sink, 1, NULL, NULL);
    }
    tw_apsp_plan_destroy(plan);
    tw_sink_destroy(&sink);
    return status;
}
