/*
 * The entry of the wing. A plan is the condensation of the graph and the rows that are asked for;
 * a run counts them, or makes them and feeds the sinks. Where the condensation has many more arcs
 * than components, counting comes first in any case: it drops the arcs that say nothing new, which
 * rows in any order could not find out.
 */
#include "base/clock.h"
#include "base/given.h"
#include "base/memory.h"
#include "base/sink.h"
#include "base/threads.h"
#include "gpu/device.h"
#include "gpu/startup.h"
#include "reach/cpu/blocks.h"
#include "reach/cpu/rows.h"
#include "reach/gpu/gpu.h"

#include <stdio.h>
#include <string.h>

#define SET_SECONDS 15e-9 /* of an arc and block of sources on a thread (Neoverse V1, 2026-11) */
#define WORTH_A_LOOK 0.6  /* seconds on the CPU: two starts of a GPU's driver (H200 host) */
#define WORTH_WAITING 0.1 /* the same where it has begun to start, or runs */
#define MANY_ARCS 4       /* per component, from which on looking for redundant ones pays */

struct tw_reach_plan {
    twi_condensation condensation;
    int32_t *sources; /* NULL: all */
    int64_t rows;
    tw_reach_layout layout;
    bool reduced;    /* redundant arcs have been dropped */
    uint64_t memory; /* of a run with sinks */
    int32_t gpu;     /* that it runs on; -1: the CPU */
    bool automatic;  /* nobody named the device: if a GPU fails, the CPU follows */
    char device[64];
};

static tw_shape shape_of(const tw_reach_plan *plan)
{
    const bool packed = plan->layout == TW_REACH_BITS;
    const int64_t cols = twi_reach_row_bytes(plan->condensation.vertices, packed);
    return (tw_shape){plan->rows, cols, TW_U8};
}

static tw_status check_options(tw_context *ctx, const tw_reach_options *opts, int64_t n)
{
    if (opts->layout != TW_REACH_BYTES && opts->layout != TW_REACH_BITS) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "unknown layout %d; use TW_REACH_BYTES or "
                       "TW_REACH_BITS",
                       (int)opts->layout);
    }
    if (opts->reserved != 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "tw_reach_options: reserved is %d; it must be 0",
                       (int)opts->reserved);
    }
    if (opts->source_count < 0 || (opts->sources == NULL && opts->source_count != 0)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "source_count is %lld%s",
                       (long long)opts->source_count,
                       opts->sources == NULL ? ", but there are no sources" : "");
    }
    for (int64_t i = 0; i < opts->source_count; i++) {
        if (opts->sources[i] < 0 || opts->sources[i] >= n) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "source %lld is vertex %d, but the graph has %lld vert%s", (long long)i,
                           (int)opts->sources[i], (long long)n, n == 1 ? "ex" : "ices");
        }
    }
    return TW_OK;
}

static twi_reach_rows rows_of(const tw_reach_plan *plan, int64_t *counts)
{
    return (twi_reach_rows){.sources = plan->sources,
                            .count = plan->rows,
                            .packed = plan->layout == TW_REACH_BITS,
                            .counts = counts};
}

/* A guess at a run on the CPU. */
static double cpu_seconds(tw_context *ctx, const tw_reach_plan *plan)
{
    const twi_condensation *c = &plan->condensation;
    const double blocks =
        (double)(plan->rows < c->components ? plan->rows : c->components) / TWI_REACH_BLOCK;
    return blocks * (double)(c->arcs + c->components) * SET_SECONDS / twi_thread_count(ctx);
}

/* With "auto": the first GPU, where the CPU would take longer than its driver to start. */
static void choose_automatically(tw_context *ctx, tw_reach_plan *plan)
{
    const twi_reach_rows rows = rows_of(plan, NULL);
    const double look = twi_gpu_is_starting(ctx) ? WORTH_WAITING : WORTH_A_LOOK;
    char why[128];
    if (strcmp(ctx->device, "cpu") == 0 || twi_gpu_prefix()[0] == '\0' ||
        cpu_seconds(ctx, plan) < look) {
        return;
    }
    (void)twi_gpu_await(ctx);
    if (twi_gpu_present(why, sizeof why) &&
        twi_reach_gpu_check(ctx, 0, &plan->condensation, &rows) == TW_OK) {
        plan->gpu = 0;
        snprintf(plan->device, sizeof plan->device, "%s", twi_gpu_prefix());
    }
}

static tw_status choose_device(tw_context *ctx, tw_reach_plan *plan)
{
    const twi_reach_rows rows = rows_of(plan, NULL);
    twi_gpu_list gpus = {0};
    plan->gpu = -1;
    plan->automatic = strcmp(ctx->device, "auto") == 0;
    snprintf(plan->device, sizeof plan->device, "cpu");
    tw_status status = twi_gpu_select(ctx, &gpus);
    if (status != TW_OK || gpus.count == 0) {
        if (status == TW_OK) {
            choose_automatically(ctx, plan);
        }
        return status;
    }
    if (gpus.count > 1) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED, "%s: reachability uses one GPU; name just one",
                       ctx->device);
    }
    (void)twi_gpu_await(ctx);
    plan->gpu = gpus.index[0];
    snprintf(plan->device, sizeof plan->device, "%s", ctx->device);
    return twi_reach_gpu_check(ctx, plan->gpu, &plan->condensation, &rows);
}

/* To count rows without making them; `listed`: not those of all components. */
static uint64_t counting_bytes(const twi_condensation *c, bool listed)
{
    const uint64_t each = sizeof(int64_t) + (listed ? sizeof(int32_t) : 0); /* count, and place */
    return (uint64_t)c->components * each + twi_reach_count_memory(c, listed);
}

/* While components are found and linked, and while rows are counted or given. At worst every vertex
 * is a component; arcs between them lead one way. */
static uint64_t least_bytes(int64_t vertices, int64_t arcs, const tw_reach_options *opts)
{
    static const twi_reach_means least = {.words = 1, .chunk_rows = 1, .team = 1};
    const int64_t most_arcs = vertices > 0 ? vertices * (vertices - 1) / 2 : 0;
    arcs = arcs < most_arcs ? arcs : most_arcs;
    const twi_condensation c = {.vertices = vertices, .components = vertices, .arcs = arcs};
    const bool listed = opts->sources != NULL;
    const twi_reach_rows rows = {.count = listed ? opts->source_count : vertices,
                                 .packed = opts->layout == TW_REACH_BITS};
    const uint64_t making = twi_condense_memory(&c);
    const uint64_t counting = counting_bytes(&c, false); /* to drop arcs, whatever the rows */
    const uint64_t giving = rows.count > 0 ? twi_reach_rows_memory(&c, &rows, &least) : 0;
    const uint64_t using = twi_condensation_memory(&c) + (counting > giving ? counting : giving);
    return (making > using ? making : using) +
           (listed ? (uint64_t)rows.count * sizeof(int32_t) : 0);
}

static tw_status fill_plan(tw_context *ctx, tw_reach_plan *plan, const tw_graph *graph,
                           const tw_reach_options *opts)
{
    plan->layout = opts->layout;
    plan->rows = opts->sources != NULL ? opts->source_count : graph->n;
    tw_status status = TW_OK;
    if (opts->sources != NULL) {
        const uint64_t count = (uint64_t)opts->source_count;
        status = twi_alloc(ctx, &plan->sources, count, sizeof(int32_t), "the list of sources");
        if (status == TW_OK) {
            memcpy(plan->sources, opts->sources, count * sizeof(int32_t));
        }
    }
    if (status == TW_OK) {
        status = twi_condense(ctx, &plan->condensation, graph);
        if (status == TW_ERR_MEMORY) { /* told with what follows */
            twi_condensation_clear(&plan->condensation);
            status = twi_memory_check(ctx, least_bytes(graph->n, graph->arcs, opts),
                                      "the graph's reachability");
            status = status == TW_OK ? TW_ERR_MEMORY : status;
        }
    }
    if (status == TW_OK) {
        status = choose_device(ctx, plan);
    }
    if (status == TW_OK) {
        const twi_condensation *c = &plan->condensation;
        const twi_reach_rows rows = rows_of(plan, NULL);
        const twi_reach_means means = twi_reach_rows_means(ctx, c, &rows);
        plan->memory = twi_condensation_memory(c) + twi_reach_rows_memory(c, &rows, &means);
    }
    return status;
}

tw_status tw_reach_least_memory(tw_context *ctx, uint64_t *bytes, int64_t vertices, int64_t arcs,
                                const tw_reach_options *given)
{
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    tw_status status = TWI_REQUIRE(ctx, {"bytes", bytes});
    if (status == TW_OK) {
        status = twi_graph_check_vertices(ctx, vertices);
    }
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_reach_options, &opts, given);
    }
    if (status == TW_OK) {
        *bytes = least_bytes(vertices, arcs, &opts);
    }
    return status;
}

tw_status tw_reach_plan_create(tw_context *ctx, tw_reach_plan **out, const tw_graph *graph,
                               const tw_reach_options *given)
{
    twi_clear_handle(out);
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"graph", graph});
    tw_reach_options opts = TW_REACH_OPTIONS_INIT;
    tw_reach_plan *plan = NULL;
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_reach_options, &opts, given);
    }
    if (status == TW_OK) {
        status = check_options(ctx, &opts, graph->n);
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &plan, 1, sizeof *plan, "the plan");
    }
    if (status == TW_OK) {
        status = fill_plan(ctx, plan, graph, &opts);
    }
    if (status != TW_OK) {
        tw_reach_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return TW_OK;
}

void tw_reach_plan_destroy(tw_reach_plan *plan)
{
    if (plan != NULL) {
        twi_condensation_clear(&plan->condensation);
        twi_free(plan->sources);
        twi_free(plan);
    }
}

tw_status tw_reach_plan_describe(const tw_reach_plan *plan, tw_reach_plan_info *out)
{
    if (plan == NULL) {
        return TW_ERR_ARGUMENT;
    }
    const twi_condensation *c = &plan->condensation;
    tw_reach_plan_info info = TW_REACH_PLAN_INFO_INIT;
    info.vertices = c->vertices;
    info.components = c->components;
    info.largest = c->largest;
    info.arcs = c->arcs;
    info.shape = shape_of(plan);
    info.memory = plan->memory;
    info.device = plan->device;
    return TWI_DESCRIBE(NULL, tw_reach_plan_info, out, &info);
}

const int32_t *tw_reach_plan_components(const tw_reach_plan *plan)
{
    return plan != NULL ? plan->condensation.of : NULL;
}

void tw_reach_plan_condensation(const tw_reach_plan *plan, const int64_t **offsets,
                                const int32_t **targets)
{
    if (offsets != NULL) {
        *offsets = plan != NULL ? plan->condensation.offsets : NULL;
    }
    if (targets != NULL) {
        *targets = plan != NULL ? plan->condensation.successors : NULL;
    }
}

/* The components of the plan's rows, each once and rising. Left NULL: all of them. `counts`, one
 * for each component, are used on the way. */
static tw_status list_components(tw_context *ctx, const tw_reach_plan *plan, int64_t *counts,
                                 int32_t **list, int64_t *count)
{
    const twi_condensation *c = &plan->condensation;
    *count = 0;
    memset(counts, 0, (size_t)c->components * sizeof *counts);
    for (int64_t i = 0; i < plan->rows; i++) {
        int64_t *mark = &counts[c->of[plan->sources[i]]];
        *count += *mark == 0;
        *mark = 1;
    }
    if (*count == c->components) {
        return TW_OK;
    }
    tw_status status =
        twi_alloc(ctx, list, (uint64_t)*count + 1, sizeof **list, "the components of the sources");
    for (int64_t i = 0, at = 0; i < c->components && status == TW_OK; i++) {
        (*list)[at] = (int32_t)i;
        at += counts[i];
    }
    return status;
}

/* Count without rows. `everything`: every component, to drop the redundant arcs of all. */
static tw_status count_rows(tw_context *ctx, tw_reach_plan *plan, bool everything,
                            twi_reach_rows *rows)
{
    const char *what = "the counts of components";
    twi_condensation *c = &plan->condensation;
    const bool listed = !everything && plan->sources != NULL;
    int64_t count = c->components;
    int32_t *list = NULL;
    int64_t *counts = NULL;
    tw_status status = TW_OK;
    if ((status = twi_memory_check(ctx, counting_bytes(c, listed && plan->rows < c->components),
                                   what)) != TW_OK ||
        (status = twi_alloc(ctx, &counts, (uint64_t)count, sizeof *counts, what)) != TW_OK ||
        (listed && (status = list_components(ctx, plan, counts, &list, &count)) != TW_OK)) {
        goto done;
    }
    status = twi_reach_count(ctx, c, list, count, counts);
    plan->reduced = plan->reduced || (status == TW_OK && list == NULL);
    rows->pairs = 0;
    for (int64_t i = 0; i < rows->count && status == TW_OK; i++) {
        const int64_t reached = counts[c->of[plan->sources != NULL ? plan->sources[i] : i]];
        rows->pairs += reached;
        if (rows->counts != NULL) {
            rows->counts[i] = reached;
        }
    }
done:
    twi_free(list);
    twi_free(counts);
    return status;
}

static tw_status give_on_cpu(tw_context *ctx, tw_reach_plan *plan, twi_reach_rows *rows,
                             twi_sinks *sinks)
{
    const twi_condensation *c = &plan->condensation;
    const bool dense = c->arcs > MANY_ARCS * c->components && plan->rows > c->components / 2;
    tw_status status = TW_OK;
    if (dense && !plan->reduced) {
        twi_reach_rows unused = rows_of(plan, NULL);
        status = count_rows(ctx, plan, true, &unused);
    }
    return status == TW_OK ? twi_reach_give_rows(ctx, c, rows, sinks) : status;
}

/* What a run finds out besides its rows. */
typedef struct outcome {
    double seconds_device;
    bool refused; /* a sink failed */
} outcome;

/* On the GPU of the plan, or on the CPU. */
static tw_status run_on(tw_context *ctx, tw_reach_plan *plan, int32_t gpu, tw_sink *sinks,
                        int32_t count, twi_reach_rows *rows, outcome *out)
{
    const twi_condensation *c = &plan->condensation;
    const tw_shape shape = shape_of(plan);
    twi_sinks open = {0};
    *out = (outcome){0};
    if (count == 0) {
        return gpu >= 0 ? twi_reach_gpu_run(ctx, gpu, c, rows, NULL, &out->seconds_device)
                        : count_rows(ctx, plan, false, rows);
    }
    int64_t *counts = rows->counts; /* the caller's, which a run that fails leaves as they were */
    tw_status status = TW_OK;
    if (counts != NULL) {
        status = twi_alloc(ctx, &rows->counts, (uint64_t)rows->count, sizeof *counts, "the counts");
    }
    if (status != TW_OK) {
        rows->counts = counts;
        return status;
    }
    double began = twi_seconds();
    status = twi_sinks_begin(ctx, &open, sinks, count, &shape);
    const double spent = twi_seconds() - began;
    if (status == TW_OK) {
        status = gpu >= 0 ? twi_reach_gpu_run(ctx, gpu, c, rows, &open, &out->seconds_device)
                          : give_on_cpu(ctx, plan, rows, &open);
    }
    began = twi_seconds();
    status = twi_sinks_finish(ctx, &open, status);
    rows->seconds_output += spent + twi_seconds() - began;
    out->refused = open.refused;
    if (counts != NULL) {
        if (status == TW_OK) {
            memcpy(counts, rows->counts, (size_t)rows->count * sizeof *counts);
        }
        twi_free(rows->counts);
        rows->counts = counts;
    }
    return status;
}

tw_status tw_reach_plan_run(tw_context *ctx, tw_reach_plan *plan, tw_sink *sinks,
                            int32_t sink_count, int64_t *counts, tw_reach_report *report)
{
    tw_status status = TWI_REQUIRE(ctx, {"plan", plan});
    if (status == TW_OK) {
        status = twi_sinks_check(ctx, sinks, sink_count);
    }
    if (status == TW_OK) {
        status = TWI_CHECK_ROOM(ctx, tw_reach_report, report);
    }
    if (status != TW_OK) {
        return status;
    }
    const double began = twi_seconds();
    twi_reach_rows rows = rows_of(plan, counts);
    outcome out;
    int32_t gpu = plan->gpu;
    twi_meter_restart_peak(ctx->meter);
    status = run_on(ctx, plan, gpu, sinks, sink_count, &rows, &out);
    if ((status == TW_ERR_DEVICE || status == TW_ERR_MEMORY) && !out.refused && gpu >= 0 &&
        plan->automatic) {
        twi_log(ctx, "%s; computing on the CPU instead", tw_last_error(ctx));
        gpu = -1;
        rows = rows_of(plan, counts);
        status = run_on(ctx, plan, gpu, sinks, sink_count, &rows, &out);
    }
    if (status == TW_OK) {
        tw_reach_report seen = TW_REACH_REPORT_INIT;
        seen.pairs = rows.pairs;
        seen.threads = twi_thread_count(ctx);
        seen.seconds_compute = twi_seconds() - began - rows.seconds_output;
        seen.seconds_output = rows.seconds_output;
        seen.memory_peak = twi_meter_peak(ctx->meter);
        seen.device = gpu >= 0 ? plan->device : "cpu";
        seen.seconds_device = out.seconds_device;
        TWI_GIVE(tw_reach_report, report, &seen);
    }
    return status;
}

tw_status tw_reach(tw_context *ctx, tw_matrix *out, const tw_graph *graph,
                   const tw_reach_options *opts)
{
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"graph", graph});
    tw_sink sink = TW_SINK_INIT;
    tw_reach_plan *plan = NULL;
    if (status == TW_OK) {
        status = tw_sink_to_matrix(ctx, &sink, out);
    }
    if (status == TW_OK) {
        status = tw_reach_plan_create(ctx, &plan, graph, opts);
    }
    if (status == TW_OK) {
        status = tw_reach_plan_run(ctx, plan, &sink, 1, NULL, NULL);
    }
    tw_reach_plan_destroy(plan);
    tw_sink_destroy(&sink);
    return status;
}
