/*
 * The plan: which method, in which working type, at what cost. Every strategy states whether it
 * applies, what it will take in seconds and bytes, and from what measurement; the cheapest that
 * fits is taken.
 *
 * Rates are measured here and now: the closure's by a burst of its micro-kernel on operands in
 * cache, the searches' by searching from a few random sources, unless the closure's estimate is out
 * of their reach. One plain search before all that shows how far distances reach, which tells the
 * narrowest working type worth trying; the certificate (certificate.h), not this estimate, decides
 * whether it was enough.
 */
#include "apsp/plan.h"

#include "apsp/closure.h"
#include "apsp/cpu.h"
#include "apsp/deliver.h"
#include "apsp/estimate.h"
#include "apsp/gpu.h"
#include "apsp/product.h"
#include "apsp/search.h"
#include "apsp/textbook.h"
#include "base/clock.h"
#include "base/threads.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXPLANATION_BYTES 4096
#define SAMPLE_SOURCES 16
#define SAMPLE_SECONDS 0.015   /* most time spent on searches that only inform the plan */
#define SAMPLE_SHARE 0.03      /* and the share of the expected run it may take */
#define CLOSURE_EFFICIENCY 0.9 /* of the micro-kernel's rate, for large n */
#define SMALL 200.0            /* n at which half of that is reached: 75 % at 1000, 86 % at 4096 */
#define ROUND_SECONDS 60e-6    /* of a pivot, whatever its size: the team's start and end */
#define ENTRY_SECONDS 0.8e-9   /* of an entry: laid out, certified, mirrored; or written */
#define FARTHER 1.25           /* how much farther than the sample distances are taken to reach */
#define NET_SECONDS 50e-9      /* of an arc: put where searches want it */
#define SEARCH_FLOOR 0.5e-9    /* seconds an arc and source: a tenth of what searches need */
#define BFS_FLOOR 0.005e-9     /* the same for the bit-parallel search */
#define BFS_ARC 0.02e-9  /* seconds an arc, level and source of it, to see that it is far ahead */
#define BFS_ENTRY 0.6e-9 /* and an entry of the result */
#define FEW_LEVELS 24    /* up to here it beats the other searches, */
#define MANY_LEVELS 64   /* from here on it loses to them */
#define UNKNOWN (-1.0)   /* how far distances reach */
#define GPU_STEPS 0.1e12 /* relaxations a second of a GPU processor, in 32 bits */
#define GPU_LINK 8e9     /* bytes a second to and from a GPU */
#define REFERENCE_RATE 0.5e9 /* relaxations a second of the triple loop: a guess is enough */

/* One way to do it. */
typedef struct candidate {
    tw_method method;
    bool possible;
    char why_not[160];
    double seconds;
    uint64_t memory;
    char basis[160]; /* what the estimate rests on */
} candidate;

enum { CLOSURE, DIJKSTRA, BFS, REFERENCE, CANDIDATES };
static const tw_method candidate_methods[CANDIDATES] = {TW_METHOD_CLOSURE, TW_METHOD_DIJKSTRA,
                                                        TW_METHOD_BFS, TW_METHOD_REFERENCE};

static const char *const method_names[] = {"auto", "closure", "dijkstra", "bfs", "reference"};
#define METHODS ((tw_method)(sizeof method_names / sizeof *method_names))

const char *tw_method_name(tw_method method)
{
    return method >= 0 && method < METHODS ? method_names[method] : "?";
}

tw_status tw_method_parse(tw_method *out, const char *name)
{
    for (tw_method method = 0; method < METHODS; method++) {
        if (strcmp(name, method_names[method]) == 0) {
            *out = method;
            return TW_OK;
        }
    }
    return TW_ERR_ARGUMENT;
}

/* ------------------------------------------------------------------------------------- checks */

static tw_status check_vertices(tw_context *ctx, const char *what, const int32_t *list,
                                int64_t count, int64_t n)
{
    if (count < 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%lld %ss: the count cannot be negative",
                       (long long)count, what);
    }
    for (int64_t i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] >= n) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "%s %d (entry %lld of the list) is not a vertex: the graph has %lld, "
                           "numbered from 0",
                           what, list[i], (long long)i, (long long)n);
        }
    }
    return TW_OK;
}

/* The types a closure of this graph may be forced to work in. */
static tw_status check_work_type(tw_context *ctx, const tw_graph *graph, tw_type type)
{
    bool fits = type == TW_AUTO || type == TW_F64 ||
                (type == TW_F32 && graph->weight_type == TW_F32 && graph->min_weight >= 0) ||
                ((type == TW_U8 || type == TW_U16 || type == TW_I32) && graph->integral);
    if (fits) {
        return TW_OK;
    }
    return tw_fail(ctx, TW_ERR_ARGUMENT,
                   "working type %s does not fit weights of type %s%s; leave it to 'auto'",
                   tw_type_name(type), tw_type_name(graph->weight_type),
                   graph->integral ? "" : " that are not whole numbers");
}

static tw_status check_options(tw_context *ctx, const tw_graph *graph, const tw_apsp_options *o)
{
    tw_status status = TW_OK;
    if (o->size != sizeof *o) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "tw_apsp_options.size is %zu, not %zu: start from TW_APSP_OPTIONS_INIT",
                       o->size, sizeof *o);
    }
    if (o->method < 0 || o->method >= METHODS) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "method %d does not exist", o->method);
    }
    if (o->type == TW_I16 || o->type == TW_F16 ||
        (o->type != TW_AUTO && tw_type_size(o->type) == 0)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "distances cannot be of type %s: choose u8, u16, i32, f32 or f64",
                       tw_type_name(o->type));
    }
    if (o->block < 0 || o->block > TWI_DEPTH_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "a block of %d: choose 1 to %d, or 0 for automatic",
                       o->block, TWI_DEPTH_MOST);
    }
    if (isnan(o->cutoff)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "the cutoff is not a number");
    }
    status = check_work_type(ctx, graph, o->work_type);
    if (status == TW_OK && o->sources != NULL) {
        status = check_vertices(ctx, "source", o->sources, o->source_count, graph->n);
    }
    if (status == TW_OK && o->targets != NULL) {
        status = check_vertices(ctx, "target", o->targets, o->target_count, graph->n);
    }
    return status;
}

/* --------------------------------------------------------------------------------- candidates */

static void rule_out(candidate *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    c->possible = false;
    vsnprintf(c->why_not, sizeof c->why_not, format, args);
    va_end(args);
}

static bool undecided(const candidate *c)
{
    return !c->possible && c->why_not[0] == '\0';
}

static uint64_t memory_left(tw_context *ctx)
{
    uint64_t limit = tw_memory_limit(ctx);
    uint64_t used = tw_memory_used(ctx);
    return limit > used ? limit - used : 0;
}

static void rule_out_if_too_large(tw_context *ctx, candidate *c)
{
    uint64_t left = memory_left(ctx);
    char need[32];
    char have[32];
    if (c->possible && c->memory > left) {
        rule_out(c, "needs %s of memory, %s is left", twi_bytes(need, (double)c->memory),
                 twi_bytes(have, (double)left));
    }
}

/* The narrowest type that could hold distances up to `farthest`, from what was seen. */
static tw_type narrowest(const tw_plan *plan, double farthest)
{
    const tw_graph *graph = plan->graph;
    if (plan->options.work_type != TW_AUTO) {
        return plan->options.work_type;
    }
    if (!graph->integral) {
        return graph->weight_type == TW_F32 && plan->potential == NULL ? TW_F32 : TW_F64;
    }
    if (farthest == UNKNOWN || (plan->gpus.count > 0 && farthest < TW_INF_I32)) {
        return TW_I32; /* a GPU tries 16 bits by itself */
    }
    if (farthest * FARTHER < TW_INF_U8) {
        return TW_U8;
    }
    if (farthest * FARTHER < TW_INF_U16) {
        return TW_U16;
    }
    return farthest < TW_INF_I32 ? TW_I32 : TW_F64;
}

/* Bytes of the closure in one type: matrix, panels, delivery. */
static bool closure_memory(const tw_plan *plan, const twi_minplus_kernel *kernel, uint64_t *out)
{
    int64_t n = plan->graph->n;
    uint64_t stride = (uint64_t)twi_work_stride(kernel, n) * tw_type_size(kernel->type);
    uint64_t matrix;
    if (!twi_mul(stride, (uint64_t)n, &matrix) || matrix > (uint64_t)INT64_MAX / 4) {
        *out = UINT64_MAX;
        return false;
    }
    *out = matrix +
           twi_cpu_closure_memory(kernel, n, twi_block_choose(kernel, n), plan->threads,
                                  plan->symmetric) +
           twi_delivery_memory(plan, false);
    return true;
}

/* From the number of processors; their clocks differ less than an estimate needs. */
static tw_status consider_gpu(tw_context *ctx, tw_plan *plan, candidate *c, double farthest)
{
    double n = (double)plan->graph->n;
    char need[32];
    char have[32];
    twi_gpu_info info;
    tw_status status = twi_gpu_describe(ctx, plan->gpus.index[0], &info);
    if (status != TW_OK) {
        return status;
    }
    plan->work_type = narrowest(plan, farthest);
    double rate = GPU_STEPS * info.processors / (plan->work_type == TW_F64 ? 3 : 1);
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(plan->isa, plan->work_type);
    double bytes = n * n * (double)tw_type_size(plan->work_type);
    c->possible = true;
    c->seconds = (plan->symmetric ? 0.53 : 1.0) * n * n * n / rate + 2 * bytes / GPU_LINK;
    snprintf(c->basis, sizeof c->basis, "n^3%s in %s on %.40s, and the copies",
             plan->symmetric ? "/2" : "", tw_type_name(plan->work_type), info.name);
    uint64_t device_bytes = twi_gpu_host_bytes(plan->work_type, plan->graph->n, plan->symmetric);
    if (!closure_memory(plan, kernel, &c->memory)) {
        rule_out(c, "%.0f x %.0f entries are more than this machine can address", n, n);
    } else if (device_bytes > info.memory_free) {
        rule_out(c, "needs %s of GPU memory, %s is left", twi_bytes(need, (double)device_bytes),
                 twi_bytes(have, (double)info.memory_free));
    }
    rule_out_if_too_large(ctx, c);
    return TW_OK;
}

static tw_status consider_closure(tw_context *ctx, tw_plan *plan, candidate *c, double farthest)
{
    double n = (double)plan->graph->n;
    if (plan->gpus.count > 0) {
        return consider_gpu(ctx, plan, c, farthest);
    }
    plan->work_type = narrowest(plan, farthest);
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(plan->isa, plan->work_type);
    double rate = 0;
    tw_status status = twi_kernel_rate(ctx, kernel, &rate);
    if (status != TW_OK) {
        return status;
    }
    plan->block = plan->options.block > 0
                      ? twi_block_round(kernel, plan->graph->n, plan->options.block)
                      : twi_block_choose(kernel, plan->graph->n);
    double share = twi_closure_share(plan);
    rate *= CLOSURE_EFFICIENCY * n / (n + SMALL);
    double team = fmax(rate * plan->threads, 1);
    c->seconds = share * n * n * n / team + n / plan->block * ROUND_SECONDS +
                 n * n * ENTRY_SECONDS / plan->threads;
    c->possible = true;
    snprintf(c->basis, sizeof c->basis,
             "%.0f %% of n^3 in %s at %.1f G relax/s a thread, pivot block %d", 100 * share,
             tw_type_name(plan->work_type), rate / 1e9, plan->block);
    if (!closure_memory(plan, kernel, &c->memory)) {
        rule_out(c, "%.0f x %.0f entries are more than this machine can address", n, n);
    }
    rule_out_if_too_large(ctx, c);
    return TW_OK;
}

static tw_status consider_search(tw_context *ctx, tw_plan *plan, candidate *c, tw_method method,
                                 double budget, double *farthest)
{
    twi_search_sample sample = {0, 0, 0, 0};
    tw_status status = twi_search_sample_run(ctx, plan, method, SAMPLE_SOURCES, budget, &sample);
    if (status != TW_OK) {
        return status;
    }
    c->possible = true;
    c->memory = twi_search_memory(plan, method) + twi_delivery_memory(plan, false);
    double rows = (double)twi_plan_rows(plan);
    c->seconds = sample.seconds_per_source * rows / plan->threads +
                 rows * (double)plan->graph->n * ENTRY_SECONDS / plan->threads +
                 (method == TW_METHOD_DIJKSTRA ? (double)plan->graph->arcs * NET_SECONDS : 0);
    snprintf(c->basis, sizeof c->basis, "%.3g us a source, from %lld of them; farthest %.9g",
             sample.seconds_per_source * 1e6, (long long)sample.sources, sample.farthest);
    *farthest = sample.farthest > *farthest ? sample.farthest : *farthest;
    return TW_OK;
}

static void consider_reference(const tw_plan *plan, candidate *c)
{
    double n = (double)plan->graph->n;
    double bytes = n * n * sizeof(double);
    c->seconds = n * n * n / REFERENCE_RATE;
    if (bytes > (double)(INT64_MAX / 4)) {
        c->memory = UINT64_MAX;
        rule_out(c, "%.0f x %.0f entries are more than this machine can address", n, n);
        return;
    }
    c->memory = (uint64_t)bytes + twi_delivery_memory(plan, false);
    c->possible = true;
    snprintf(c->basis, sizeof c->basis, "the plain triple loop on one thread");
}

/* How far distances reach from one source. UNKNOWN stays where weights are negative. */
static tw_status probe_farthest(tw_context *ctx, const tw_plan *plan, double *farthest)
{
    const tw_graph *graph = plan->graph;
    twi_textbook search;
    void *memory = NULL;
    if (graph->n == 0 || plan->potential != NULL) {
        return TW_OK;
    }
    tw_status status =
        twi_alloc(ctx, &memory, twi_textbook_bytes(graph), 1, "a search for the plan");
    if (status != TW_OK) {
        return status;
    }
    twi_textbook_place(&search, graph, memory);
    twi_textbook_dijkstra(graph, (int32_t)(graph->n / 2), &search);
    *farthest = 0;
    for (int64_t v = 0; v < graph->n; v++) {
        if (!isinf(search.distance[v]) && search.distance[v] > *farthest) {
            *farthest = search.distance[v];
        }
    }
    twi_free(memory);
    return TW_OK;
}

/* Whether the smallest closure there is would fit: if not, there is nothing to find out for it. */
static bool closure_fits(tw_context *ctx, const tw_plan *plan)
{
    uint64_t bytes;
    tw_type type = plan->graph->integral ? TW_U8 : plan->graph->weight_type;
    return closure_memory(plan, twi_minplus_kernel_find(plan->isa, type), &bytes) &&
           bytes <= memory_left(ctx);
}

/* Samples a search unless it is forbidden, or so far behind the closure that a sample is a waste.
 */
static tw_status consider_if_hopeful(tw_context *ctx, tw_plan *plan, candidate all[CANDIDATES],
                                     int which, double *farthest)
{
    candidate *c = &all[which];
    const candidate *closure = &all[CLOSURE];
    tw_method forced = plan->options.method;
    if (forced != TW_METHOD_AUTO && forced != c->method) {
        return TW_OK;
    }
    if (plan->gpus.count > 0) {
        rule_out(c, "it runs on the CPU, and the device is a GPU");
        return TW_OK;
    }
    double floor = which == BFS ? BFS_FLOOR : SEARCH_FLOOR;
    double least = (double)twi_plan_rows(plan) * (double)plan->graph->arcs * floor / plan->threads;
    if (forced == TW_METHOD_AUTO && closure->possible && least > closure->seconds) {
        rule_out(c, "more than %.2g s even at its best: too many arcs", least);
        return TW_OK;
    }
    double budget = SAMPLE_SECONDS;
    if (closure->possible) {
        budget = fmin(budget, fmax(closure->seconds * SAMPLE_SHARE, 1e-4));
    }
    return consider_search(ctx, plan, c, c->method, budget, farthest);
}

/* Equal weights, and the probe told how many levels there are: that alone decides between the two
 * searches, and a breadth-first search that is far ahead of the closure needs no sample either. A
 * sample of it is 512 searches, a tenth of the run for a small graph. */
static void decide_by_levels(tw_plan *plan, candidate all[CANDIDATES], double farthest)
{
    const tw_graph *graph = plan->graph;
    candidate *c = &all[BFS];
    double levels = farthest / graph->max_weight;
    if (levels > MANY_LEVELS) {
        rule_out(c, "%.0f levels are too many for it", levels);
    } else if (levels <= FEW_LEVELS) {
        double row = (double)graph->arcs * levels * BFS_ARC + (double)graph->n * BFS_ENTRY;
        double seconds = row * (double)twi_plan_rows(plan) / plan->threads;
        rule_out(&all[DIJKSTRA], "with %.0f levels a breadth-first search is faster", levels);
        if (2 * seconds < all[CLOSURE].seconds) {
            c->possible = true;
            c->seconds = seconds;
            c->memory = twi_search_memory(plan, TW_METHOD_BFS) + twi_delivery_memory(plan, false);
            snprintf(c->basis, sizeof c->basis, "%.0f levels of %lld arcs", levels,
                     (long long)graph->arcs);
        }
    }
}

static tw_status consider_all(tw_context *ctx, tw_plan *plan, candidate all[CANDIDATES])
{
    const tw_graph *graph = plan->graph;
    tw_method forced = plan->options.method;
    double farthest = UNKNOWN;
    tw_status status = TW_OK;
    bool closes = forced == TW_METHOD_AUTO || forced == TW_METHOD_CLOSURE;
    if (closes && graph->integral && plan->options.work_type == TW_AUTO &&
        closure_fits(ctx, plan)) {
        status = probe_farthest(ctx, plan, &farthest);
    }
    if (status == TW_OK && closes) {
        status = consider_closure(ctx, plan, &all[CLOSURE], farthest);
    }
    if (!graph->equal) {
        rule_out(&all[BFS], "the weights are not all equal");
    } else if (forced == TW_METHOD_AUTO && farthest != UNKNOWN && plan->gpus.count == 0) {
        decide_by_levels(plan, all, farthest);
    }
    if (status == TW_OK && undecided(&all[BFS])) {
        status = consider_if_hopeful(ctx, plan, all, BFS, &farthest);
    }
    if (status == TW_OK && undecided(&all[DIJKSTRA])) {
        status = consider_if_hopeful(ctx, plan, all, DIJKSTRA, &farthest);
    }
    if (status == TW_OK && closes && narrowest(plan, farthest) != plan->work_type) {
        status = consider_closure(ctx, plan, &all[CLOSURE], farthest);
    }
    if (forced == TW_METHOD_REFERENCE) {
        consider_reference(plan, &all[REFERENCE]);
    } else {
        rule_out(&all[REFERENCE], "only on request");
    }
    return status;
}

/* -------------------------------------------------------------------------------- the choice */

static void say(tw_plan *plan, const char *format, ...)
{
    size_t used = strlen(plan->explanation);
    va_list args;
    va_start(args, format);
    vsnprintf(plan->explanation + used, EXPLANATION_BYTES - used, format, args);
    va_end(args);
}

static void explain_graph(tw_plan *plan)
{
    const tw_graph *graph = plan->graph;
    say(plan, "graph: %lld vertices, %lld arcs, %s, weights %s from %.9g to %.9g%s%s\n",
        (long long)graph->n, (long long)graph->arcs, graph->undirected ? "undirected" : "directed",
        tw_type_name(graph->weight_type), graph->min_weight, graph->max_weight,
        graph->equal ? ", all equal" : "",
        plan->potential != NULL ? ", made non-negative by potentials" : "");
    say(plan, "result: %lld x %lld of %s; %d threads, %s\n", (long long)twi_plan_rows(plan),
        (long long)twi_plan_cols(plan), tw_type_name(plan->type), plan->threads,
        twi_isa_name(plan->isa));
}

static void explain_candidate(tw_plan *plan, const candidate *c, tw_method method)
{
    char bytes[32];
    if (c->possible) {
        say(plan, "  %-9s  %10.4g s  %8s  %s\n", tw_method_name(method), c->seconds,
            twi_bytes(bytes, (double)c->memory), c->basis);
    } else {
        say(plan, "  %-9s  left out: %s\n", tw_method_name(method),
            c->why_not[0] != '\0' ? c->why_not : "another method was asked for");
    }
}

static tw_status choose(tw_context *ctx, tw_plan *plan, candidate all[CANDIDATES])
{
    const candidate *best = NULL;
    const candidate *smallest = NULL;
    char need[32];
    char have[32];
    for (int i = 0; i < CANDIDATES; i++) {
        candidate *c = &all[i];
        bool wanted = plan->options.method == TW_METHOD_AUTO ? c->method != TW_METHOD_REFERENCE
                                                             : c->method == plan->options.method;
        if (!wanted) {
            continue;
        }
        if (c->memory > 0 && (smallest == NULL || c->memory < smallest->memory)) {
            smallest = c;
        }
        rule_out_if_too_large(ctx, c);
        if (c->possible && (best == NULL || c->seconds < best->seconds)) {
            best = c;
        }
    }
    if (best == NULL && plan->gpus.count > 0 && all[CLOSURE].memory > 0) {
        return tw_fail(ctx, TW_ERR_MEMORY, "%s: closing %lld vertices %s", ctx->device,
                       (long long)plan->graph->n, all[CLOSURE].why_not);
    }
    if (best == NULL && smallest != NULL) {
        return tw_fail(
            ctx, TW_ERR_MEMORY,
            "%lld vertices need %s of memory by %s, the method that needs least here, and "
            "%s is left; raise the limit, ask for fewer sources, or use a larger machine",
            (long long)plan->graph->n, twi_bytes(need, (double)smallest->memory),
            tw_method_name(smallest->method), twi_bytes(have, (double)memory_left(ctx)));
    }
    if (best == NULL) {
        int asked = CLOSURE;
        for (int i = 0; i < CANDIDATES; i++) {
            asked = all[i].method == plan->options.method ? i : asked;
        }
        return tw_fail(ctx, TW_ERR_ARGUMENT, "method %s cannot be used: %s",
                       tw_method_name(plan->options.method), all[asked].why_not);
    }
    plan->method = best->method;
    plan->seconds = best->seconds;
    plan->memory = best->memory;
    return TW_OK;
}

/* What the run needs to know of the chosen method. */
static void settle(tw_plan *plan)
{
    if (plan->method == TW_METHOD_DIJKSTRA || plan->method == TW_METHOD_BFS) {
        plan->work_type = twi_search_type(plan->graph, plan->potential);
        plan->block = 0;
    } else if (plan->method == TW_METHOD_REFERENCE) {
        plan->work_type = TW_F64;
        plan->block = 0;
    }
}

static void explain_choice(tw_plan *plan, const candidate all[CANDIDATES])
{
    char bytes[32];
    say(plan, "candidates (estimated seconds, memory, basis):\n");
    for (int i = 0; i < CANDIDATES; i++) {
        explain_candidate(plan, &all[i], all[i].method);
    }
    say(plan, "choice: %s, working in %s, about %.3g s and %s of memory: %s\n",
        tw_method_name(plan->method), tw_type_name(plan->work_type), plan->seconds,
        twi_bytes(bytes, (double)plan->memory),
        plan->options.method != TW_METHOD_AUTO ? "as asked for"
                                               : "the least estimated time that fits the memory");
}

static tw_status find_potentials(tw_context *ctx, tw_plan *plan)
{
    if (plan->graph->min_weight >= 0) {
        return TW_OK;
    }
    tw_status status = twi_alloc(ctx, &plan->potential, (uint64_t)plan->graph->n,
                                 sizeof *plan->potential, "the potentials");
    return status == TW_OK ? twi_potentials(ctx, plan->graph, plan->potential) : status;
}

/* What the context's device means for this plan. */
static tw_status find_gpus(tw_context *ctx, tw_plan *plan)
{
    tw_status status = twi_gpu_select(ctx, &plan->gpus);
    if (status != TW_OK || plan->gpus.count == 0) {
        return status;
    }
    if (plan->gpus.count > 1) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED, "'%s': one GPU at a time in this version",
                       ctx->device);
    }
    if (plan->options.work_type == TW_U8 || plan->options.work_type == TW_U16) {
        return tw_fail(ctx, TW_ERR_UNSUPPORTED,
                       "on a GPU the working type is i32, f32 or f64; 16 bits are tried in any "
                       "case");
    }
    return TW_OK;
}

static tw_status make_plan(tw_context *ctx, tw_plan *plan)
{
    candidate all[CANDIDATES];
    memset(all, 0, sizeof all);
    for (int i = 0; i < CANDIDATES; i++) {
        all[i].method = candidate_methods[i];
    }
    tw_status status = check_options(ctx, plan->graph, &plan->options);
    if (status == TW_OK) {
        status = twi_isa_resolve(ctx, &plan->isa);
    }
    if (status == TW_OK) {
        status = find_gpus(ctx, plan);
    }
    if (status == TW_OK) {
        status = find_potentials(ctx, plan);
    }
    if (status != TW_OK) {
        return status;
    }
    plan->threads = twi_thread_count(ctx);
    plan->type = plan->options.type != TW_AUTO ? plan->options.type : plan->graph->weight_type;
    plan->symmetric = plan->graph->undirected && plan->potential == NULL;
    status = consider_all(ctx, plan, all);
    if (status == TW_OK) {
        status = choose(ctx, plan, all);
    }
    if (status == TW_OK) {
        settle(plan);
        explain_graph(plan);
        explain_choice(plan, all);
    }
    return status;
}

tw_status tw_plan_create(tw_context *ctx, tw_plan **out, const tw_graph *graph,
                         const tw_apsp_options *opts)
{
    static const tw_apsp_options defaults = TW_APSP_OPTIONS_INIT;
    tw_plan *plan = NULL;
    double began = twi_seconds();
    *out = NULL;
    tw_status status = twi_alloc_zeroed(ctx, &plan, 1, sizeof *plan, "the plan");
    if (status != TW_OK) {
        return status;
    }
    plan->graph = graph;
    plan->options = opts != NULL ? *opts : defaults;
    status = twi_alloc_zeroed(ctx, &plan->explanation, EXPLANATION_BYTES, 1, "the explanation");
    if (status == TW_OK) {
        status = make_plan(ctx, plan);
    }
    if (status != TW_OK) {
        tw_plan_destroy(plan);
        return status;
    }
    plan->spent = twi_seconds() - began;
    *out = plan;
    return TW_OK;
}

void tw_plan_destroy(tw_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    twi_free(plan->explanation);
    twi_free(plan->potential);
    twi_free(plan);
}

const char *tw_plan_explain(const tw_plan *plan)
{
    return plan->explanation;
}

tw_method tw_plan_method(const tw_plan *plan)
{
    return plan->method;
}

tw_type tw_plan_type(const tw_plan *plan)
{
    return plan->type;
}

tw_type tw_plan_work_type(const tw_plan *plan)
{
    return plan->work_type;
}

uint64_t tw_plan_memory(const tw_plan *plan)
{
    return plan->memory;
}

double tw_plan_seconds(const tw_plan *plan)
{
    return plan->seconds;
}
