/*
 * The plan: which method, in which working type, at what cost. Every strategy states whether it
 * applies, what it takes in seconds and bytes, and by what measurement; the cheapest
 * that fits is taken.
 *
 * Rates are measured here and now and on all threads, which share caches and memory: the closure's
 * by a burst of its micro-kernel on operands in cache, the searches' by some batches as the run
 * would take them (search/sample.c), unless the closure's estimate is out of their reach; for a
 * sweep its order is made, unless that cannot pay, and the steps of its tree are counted. One plain
 * search before all that shows how far distances reach, which tells the narrowest working type
 * worth trying; the certificate (certificate.h), not this estimate, decides whether it was enough.
 */
#include "apsp/plan/plan.h"

#include "apsp/closure/certificate.h"
#include "apsp/closure/checkpoint.h"
#include "apsp/closure/closure.h"
#include "apsp/closure/cpu.h"
#include "apsp/closure/product.h"
#include "apsp/closure/scatter.h"
#include "apsp/gpu/gpu.h"
#include "apsp/plan/candidate.h"
#include "apsp/plan/check.h"
#include "apsp/plan/estimate.h"
#include "apsp/plan/explain.h"
#include "apsp/plan/gpu.h"
#include "apsp/plan/gpu_hops.h"
#include "apsp/plan/gpu_labels.h"
#include "apsp/plan/probe.h"
#include "apsp/plan/refusal.h"
#include "apsp/plan/search.h"
#include "apsp/plan/sweep.h"
#include "apsp/plan/team.h"
#include "apsp/search/potentials.h"
#include "apsp/search/sample.h"
#include "apsp/search/search.h"
#include "apsp/search/searcher.h"
#include "apsp/shared/deliver.h"
#include "apsp/shared/options.h"
#include "apsp/shared/relevant.h"
#include "apsp/sweep/known_order.h"
#include "apsp/sweep/sweep.h"
#include "base/clock.h"
#include "base/given.h"
#include "base/memory.h"
#include "base/threads.h"
#include "base/type.h"
#include "gpu/startup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SAMPLE_SHARE 0.03   /* of the expected run, that they may take; but in seconds */
#define SAMPLE_LEAST 1e-4   /*   at least this */
#define UNTRIED 0.02        /* seconds of a run of searches that is worth no sample */
#define SAMPLE_MOST 0.25    /*   and at most this */
#define FILLED_LEAST 0.3    /* of its estimate, that a closure may take by what is filled */
#define CLOSURE_LEAST 0.1   /* of n^3 that a closure has to do, and */
#define CLOSURE_MOST 200e9  /*   steps per second of a thread that no processor exceeds */
#define SEARCH_DOUBT 30.0   /* times what searches usually take, that few of them may take */
#define SEARCH_FLOOR 0.8e-9 /* seconds per arc and source: what no search needs less than */
#define BFS_FLOOR 0.005e-9  /* the same for the bit-parallel search */
#define BFS_DOUBT 1.3       /* times what it usually takes, at most */
#define FEW "few levels, not measured"
#define BFS_UNTRIED 0.03  /* seconds of a run that is worth no sample of 512 searches per thread */
#define FEW_LEVELS 24     /* up to here it beats the other searches, */
#define MANY_LEVELS 64    /* from here on it loses to them */
#define TINY 64           /* vertices, up to which nothing is measured. Then, in seconds: */
#define TINY_SECONDS 7e-6 /*   of a run of searches, */
#define TINY_ARC 0.9e-9   /*   of a source and arc, */
#define TINY_VERTEX 10e-9 /*   and of a source and vertex; */
#define TINY_CLOSURE 3e-6 /*   of a closure, */
#define F32_WHOLE 0x1p24  /* up to here f32 holds every whole number */
#define TINY_STEP 0.11e-9 /*   and of a step of it (Neoverse N1, November 2026) */

enum { CLOSURE, GPU, GPU_BFS, GPU_LABELS, DIJKSTRA, BFS, SWEEP, GPU_SWEEP, REFERENCE, CANDIDATES };
static const twi_candidate candidates[CANDIDATES] = {
    {.method = TW_APSP_METHOD_CLOSURE, .name = "closure"},
    {.method = TW_APSP_METHOD_CLOSURE, .name = "gpu closure", .gpu = true},
    {.method = TW_APSP_METHOD_BFS, .name = "gpu bfs", .gpu = true},
    {.method = TW_APSP_METHOD_DIJKSTRA, .name = "gpu dijkstra", .gpu = true},
    {.method = TW_APSP_METHOD_DIJKSTRA, .name = "dijkstra"},
    {.method = TW_APSP_METHOD_BFS, .name = "bfs"},
    {.method = TW_APSP_METHOD_SWEEP, .name = "sweep"},
    {.method = TW_APSP_METHOD_SWEEP, .name = "gpu sweep", .gpu = true},
    {.method = TW_APSP_METHOD_REFERENCE, .name = "reference"},
};

/* --------------------------------------------------------------------------------- candidates */

static bool undecided(const twi_candidate *c)
{
    return !c->possible && c->why_not[0] == '\0';
}

/* The narrowest type that could hold distances up to `farthest`, from what was seen. */
static tw_type narrowest(const tw_apsp_plan *plan, double farthest)
{
    const tw_graph *graph = plan->graph;
    if (plan->options.work_type != TW_AUTO) {
        return plan->options.work_type;
    }
    if (!graph->integral) {
        return twi_plan_float_type(plan);
    }
    if (farthest == TWI_UNKNOWN) {
        return TW_I32;
    }
    if (farthest * TWI_FARTHER < TW_APSP_INF_U16) {
        return farthest * TWI_FARTHER < TW_APSP_INF_U8 ? TW_U8 : TW_U16;
    }
    return farthest < TW_APSP_INF_I32 ? TW_I32 : TW_F64;
}

/* Whether half of the tiles are enough, as far as that can be seen. */
static bool closure_memory(const tw_apsp_plan *plan, tw_type type, uint64_t *out)
{
    return twi_closure_memory(plan, type, plan->symmetric || twi_seems_symmetric(plan->graph), out);
}

/* How far distances will reach, from what was seen. */
static void expect(tw_apsp_plan *plan, double farthest)
{
    plan->reach = farthest == TWI_UNKNOWN ? (double)INFINITY : farthest * TWI_FARTHER;
}

static tw_status consider_closure(tw_context *ctx, tw_apsp_plan *plan, twi_candidate *c,
                                  double farthest)
{
    double n = (double)plan->graph->n;
    c->work_type = narrowest(plan, farthest);
    expect(plan, farthest);
    const twi_minplus_kernel *kernel = twi_closure_kernel(plan, c->work_type);
    double rate = 0;
    tw_status status = twi_kernel_rate(ctx, kernel, plan->threads, &rate);
    if (status != TW_OK) {
        return status;
    }
    plan->block = twi_closure_block(plan, kernel);
    double share = twi_closure_share(plan, plan->block);
    rate = twi_closure_rate(plan->graph->n, rate);
    c->seconds = twi_closure_seconds(plan, plan->block, share, rate);
    if (plan->options.method == TW_APSP_METHOD_CLOSURE ||
        FILLED_LEAST * c->seconds < twi_search_usual(plan)) {
        status = twi_closure_filled(ctx, plan, kernel, plan->block, &share);
        c->seconds = twi_closure_seconds(plan, plan->block, share, rate);
    }
    if (status != TW_OK) {
        return status;
    }
    c->possible = true;
    snprintf(c->basis, sizeof c->basis, "%.0f %% of n^3 in %s%s at %.1f G relax/s, pivot block %d",
             100 * share, twi_kernel_bits(kernel), tw_type_name(c->work_type), rate / 1e9,
             plan->block);
    c->block = plan->block;
    if (!closure_memory(plan, c->work_type, &c->memory)) {
        twi_rule_out(c, "%.0f x %.0f entries are more than this machine can address", n, n);
    }
    twi_rule_out_if_too_large(ctx, c);
    return TW_OK;
}

/* The fastest way on a GPU so far. */
static double gpu_seconds(const twi_candidate all[CANDIDATES])
{
    double least = (double)INFINITY;
    for (int i = 0; i < CANDIDATES; i++) {
        least = all[i].gpu && all[i].possible ? fmin(least, all[i].seconds) : least;
    }
    return least;
}

/* A guess at the fastest other way, to see whether an order of elimination is worth its time: the
 * closure's estimate, and what searches usually take. */
static double rival_seconds(const tw_apsp_plan *plan, const twi_candidate all[CANDIDATES])
{
    double search = twi_search_usual(plan);
    double closure = all[CLOSURE].possible ? all[CLOSURE].seconds : INFINITY;
    double bfs = (all[BFS].possible ? 1 : BFS_DOUBT) * all[BFS].seconds;
    return fmin(all[DIJKSTRA].why_not[0] == '\0' ? search : INFINITY,
                fmin(fmin(closure, gpu_seconds(all)), bfs > 0 ? bfs : INFINITY));
}

/* The fastest so far of what is no search of the CPU: NULL if there is none. */
static const twi_candidate *rival_of_searches(const twi_candidate all[CANDIDATES])
{
    static const int others[] = {CLOSURE, SWEEP, GPU, GPU_LABELS};
    const twi_candidate *best = NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const twi_candidate *c = &all[others[i]];
        best = c->possible && (best == NULL || c->seconds < best->seconds) ? c : best;
    }
    return best;
}

/* Whether the smallest closure there is would fit: if not, there is nothing to find out for it. */
static bool closure_fits(tw_context *ctx, const tw_apsp_plan *plan)
{
    uint64_t bytes;
    tw_type type = plan->graph->integral ? TW_U8 : twi_plan_float_type(plan);
    return closure_memory(plan, type, &bytes) && bytes <= twi_memory_room(ctx);
}

/* Whether anything but a search of the CPU may be chosen, or how the CPU searches depends on the
 * levels of equal weights: if not, one search to see how far distances reach would tell nothing
 * that a search of the run does not. */
static bool rivals_may_pay(tw_context *ctx, const tw_apsp_plan *plan)
{
    const double n = (double)plan->graph->n;
    const double usual = SEARCH_DOUBT * twi_search_usual(plan);
    const double closure =
        fmax(twi_pivots_seconds(plan), CLOSURE_LEAST * n * n * n / (CLOSURE_MOST * plan->threads));
    const bool cpu = strcmp(ctx->device, "cpu") == 0 || twi_gpu_prefix()[0] == '\0';
    return !cpu || plan->graph->equal || (closure_fits(ctx, plan) && closure < usual) ||
           twi_sweep_order_may_pay(plan, twi_search_usual(plan));
}

/* Samples a search unless it is forbidden, or so far behind or ahead that a sample is a waste. */
static tw_status consider_if_hopeful(tw_context *ctx, tw_apsp_plan *plan,
                                     twi_candidate all[CANDIDATES], int which, double *farthest)
{
    twi_candidate *c = &all[which];
    tw_apsp_method forced = plan->options.method;
    const twi_candidate *rival = forced == TW_APSP_METHOD_AUTO ? rival_of_searches(all) : NULL;
    if (forced != TW_APSP_METHOD_AUTO && forced != c->method) {
        return TW_OK;
    }
    double floor = which == BFS ? BFS_FLOOR : SEARCH_FLOOR;
    double arcs = (double)twi_plan_rows(plan) * (double)plan->graph->arcs / plan->threads;
    double least = c->seconds > 0 ? c->seconds : arcs * floor;
    if (rival != NULL && least > rival->seconds) {
        twi_rule_out_slower(c, least, "%s is faster", rival->name);
        return TW_OK;
    }
    if (c->seconds > 0 && (rival == NULL || BFS_DOUBT * c->seconds < rival->seconds)) {
        twi_guess_search(ctx, plan, c, c->seconds, FEW);
        return TW_OK;
    }
    double guess = c->seconds > 0 ? BFS_DOUBT * c->seconds : twi_search_usual(plan);
    if (which == DIJKSTRA && guess < UNTRIED && plan->graph->integral) {
        twi_guess_search(ctx, plan, c, guess, "a short run, not measured");
        return TW_OK;
    }
    double budget = SAMPLE_SHARE * (rival != NULL ? fmin(rival->seconds, guess) : guess);
    budget = fmax(budget, SAMPLE_LEAST);
    if (which == BFS && *farthest != TWI_UNKNOWN) { /* a batch should come to its end */
        const double batches = (double)twi_plan_rows(plan) / (double)twi_searcher_batch(c->method);
        const double run = twi_bfs_usual(plan, *farthest / plan->graph->max_weight);
        budget = fmax(budget, BFS_DOUBT * run * fmin(plan->threads / batches, 1));
    }
    return twi_consider_search(ctx, plan, c, rival, fmin(budget, SAMPLE_MOST), farthest);
}

/* Equal weights: the levels that the probe has told decide between the two searches, and a
 * breadth-first search far ahead of the closure needs no sample, which is 512 searches. */
static void decide_by_levels(tw_context *ctx, tw_apsp_plan *plan, twi_candidate all[CANDIDATES],
                             double farthest)
{
    const tw_graph *graph = plan->graph;
    twi_candidate *c = &all[BFS];
    double levels = farthest / graph->max_weight;
    const bool forced = plan->options.method == TW_APSP_METHOD_BFS;
    if (forced && levels > FEW_LEVELS) {
        return;
    }
    if (levels > MANY_LEVELS) {
        twi_rule_out(c, "%.0f levels are too many", levels);
    } else if (levels <= FEW_LEVELS) {
        const double seconds = twi_bfs_usual(plan, levels);
        if (!forced && seconds > twi_search_scattered(plan)) {
            twi_rule_out(c, "too few sources for batches on %d thread%s", plan->threads,
                         plan->threads == 1 ? "" : "s");
            return;
        }
        twi_rule_out(&all[DIJKSTRA], "with %.0f level%s a breadth-first search is faster", levels,
                     levels == 1 ? "" : "s");
        c->seconds = seconds; /* to be compared with until there is a sample */
        if (2 * seconds < all[CLOSURE].seconds && seconds < BFS_UNTRIED) {
            twi_rule_out(&all[SWEEP], "with %.0f level%s a breadth-first search is faster", levels,
                         levels == 1 ? "" : "s");
            twi_guess_search(ctx, plan, c, seconds, FEW);
        }
    }
}

/* The candidate with the shortest estimated time that fits in memory; NULL without any. */
static const twi_candidate *fastest(tw_context *ctx, const tw_apsp_plan *plan,
                                    twi_candidate all[CANDIDATES])
{
    const twi_candidate *best = NULL;
    for (int i = 0; i < CANDIDATES; i++) {
        twi_rule_out_if_too_large(ctx, &all[i]);
        if (twi_is_wanted(plan, &all[i]) && all[i].possible &&
            (best == NULL || all[i].seconds < best->seconds)) {
            best = &all[i];
        }
    }
    return best;
}

/* A GPU that was named is the only device; the probe goes on while its driver starts. */
static tw_status consider_named_gpu(tw_context *ctx, tw_apsp_plan *plan,
                                    twi_candidate all[CANDIDATES])
{
    tw_apsp_method forced = plan->options.method;
    double farthest = TWI_UNKNOWN;
    tw_status status = TW_OK;
    for (int i = 0; i < CANDIDATES; i++) {
        if (!all[i].gpu) {
            twi_rule_out(&all[i], "it runs on the CPU, but the device is a GPU");
        }
    }
    bool closes = forced == TW_APSP_METHOD_AUTO || forced == TW_APSP_METHOD_CLOSURE;
    bool sweeps = forced == TW_APSP_METHOD_AUTO || forced == TW_APSP_METHOD_SWEEP;
    bool searches = forced == TW_APSP_METHOD_AUTO || forced == TW_APSP_METHOD_BFS;
    bool corrects = forced == TW_APSP_METHOD_AUTO || forced == TW_APSP_METHOD_DIJKSTRA;
    if (forced == TW_APSP_METHOD_REFERENCE) {
        return TW_OK;
    }
    if (plan->graph->integral && plan->options.work_type == TW_AUTO) {
        status = twi_probe(ctx, plan, &farthest);
    }
    if (status == TW_OK && searches) {
        status = twi_consider_gpu_hops(ctx, plan, &all[GPU_BFS], farthest);
    }
    if (status == TW_OK && closes) {
        status = twi_consider_gpu(ctx, plan, &all[GPU], farthest);
        if (status == TW_ERR_MEMORY && forced == TW_APSP_METHOD_AUTO) {
            twi_rule_out(&all[GPU], "%.150s", tw_last_error(ctx));
            status = TW_OK;
        }
    }
    if (status == TW_OK && corrects) {
        status = twi_consider_gpu_labels(ctx, plan, &all[GPU_LABELS], farthest, gpu_seconds(all));
    }
    return status == TW_OK && sweeps ? twi_consider_named_sweep(ctx, plan, &all[GPU_SWEEP],
                                                                farthest, rival_seconds(plan, all))
                                     : status;
}

/* With "auto": the closure and searches, where the best of the CPU's takes longer than a look. */
static tw_status consider_any_gpu(tw_context *ctx, tw_apsp_plan *plan,
                                  twi_candidate all[CANDIDATES], const twi_candidate *best,
                                  double farthest)
{
    tw_apsp_method forced = plan->options.method;
    tw_status status = TW_OK;
    if (plan->options.checkpoint != NULL && !plan->graph->integral) {
        twi_rule_out(&all[GPU], "a checkpoint of floats stays with the kind of device that wrote "
                                "it, so a GPU must be named");
        return TW_OK;
    }
    if (!twi_gpu_may_pay(ctx, plan, &all[GPU], best)) {
        return TW_OK;
    }
    if (forced == TW_APSP_METHOD_AUTO || forced == TW_APSP_METHOD_CLOSURE) {
        status = twi_consider_gpu(ctx, plan, &all[GPU], farthest);
    }
    if (status == TW_OK && (forced == TW_APSP_METHOD_AUTO || forced == TW_APSP_METHOD_DIJKSTRA)) {
        const double rival =
            fmin(best != NULL ? best->seconds : (double)INFINITY, gpu_seconds(all));
        status = twi_consider_gpu_labels(ctx, plan, &all[GPU_LABELS], farthest, rival);
    }
    return status;
}

/* Where a GPU has been started before, a look costs nothing, and may save an order and samples. */
static tw_status look_early(tw_context *ctx, tw_apsp_plan *plan, twi_candidate all[CANDIDATES],
                            double farthest)
{
    const twi_candidate guess = {.seconds = rival_seconds(plan, all)};
    if (plan->options.method != TW_APSP_METHOD_AUTO ||
        (!twi_gpu_is_running(ctx) && twi_gpu_startup_seconds(ctx) <= 0)) {
        return TW_OK;
    }
    tw_status status = consider_any_gpu(ctx, plan, all, &guess, farthest);
    all[GPU].why_not[0] = '\0'; /* the end will tell */
    return status;
}

/* And the sweep, where the CPU's has made its tree. */
static tw_status look_at_last(tw_context *ctx, tw_apsp_plan *plan, twi_candidate all[CANDIDATES],
                              double farthest)
{
    tw_status status = TW_OK;
    if (gpu_seconds(all) == (double)INFINITY) {
        status = consider_any_gpu(ctx, plan, all, fastest(ctx, plan, all), farthest);
    }
    if (all[GPU].why_not[0] != '\0' && undecided(&all[GPU_LABELS])) {
        memcpy(all[GPU_LABELS].why_not, all[GPU].why_not, sizeof all[GPU].why_not);
    }
    if (plan->gpus.count == 0) {
        memcpy(all[GPU_SWEEP].why_not, all[GPU].why_not, sizeof all[GPU].why_not);
        return status;
    }
    if (plan->tree == NULL) {
        twi_rule_out(&all[GPU_SWEEP], "there is no elimination order");
        return status;
    }
    return status == TW_OK ? twi_consider_gpu_sweep(ctx, plan, &all[GPU_SWEEP], farthest) : status;
}

static tw_status consider_all(tw_context *ctx, tw_apsp_plan *plan, twi_candidate all[CANDIDATES])
{
    const tw_graph *graph = plan->graph;
    tw_apsp_method forced = plan->options.method;
    double farthest = TWI_UNKNOWN;
    tw_status status = TW_OK;
    bool closes = forced == TW_APSP_METHOD_AUTO || forced == TW_APSP_METHOD_CLOSURE;
    bool sweeps = forced == TW_APSP_METHOD_AUTO || forced == TW_APSP_METHOD_SWEEP;
    bool counts = forced == TW_APSP_METHOD_BFS && graph->equal;
    const bool decides = forced != TW_APSP_METHOD_AUTO || rivals_may_pay(ctx, plan);
    if (decides && (sweeps || counts || (closes && closure_fits(ctx, plan))) && graph->integral &&
        (plan->options.work_type == TW_AUTO ||
         twi_may_be_plain(plan->isa, plan->options.work_type))) {
        status = twi_probe(ctx, plan, &farthest);
    }
    if (!decides && closure_fits(ctx, plan)) {
        twi_rule_out(&all[CLOSURE], "too few sources for so many vertices");
    } else if (forced == TW_APSP_METHOD_AUTO && twi_search_usual(plan) < twi_pivots_seconds(plan)) {
        all[CLOSURE].seconds = twi_pivots_seconds(plan);
        twi_rule_out_slower(&all[CLOSURE], twi_pivots_seconds(plan), "too few arcs for %d thread%s",
                            plan->threads, plan->threads == 1 ? "" : "s");
    } else if (status == TW_OK && closes) {
        status = consider_closure(ctx, plan, &all[CLOSURE], farthest);
    }
    if (!graph->equal && graph->arcs > 0) {
        twi_rule_out_unequal(&all[BFS], graph);
    } else if (graph->equal && (forced == TW_APSP_METHOD_AUTO || counts) &&
               farthest != TWI_UNKNOWN) {
        decide_by_levels(ctx, plan, all, farthest);
    }
    expect(plan, farthest);
    if (status == TW_OK) {
        status = look_early(ctx, plan, all, farthest);
    }
    if (status == TW_OK && sweeps && undecided(&all[SWEEP])) {
        status = twi_consider_sweep(ctx, plan, &all[SWEEP], narrowest(plan, farthest),
                                    rival_seconds(plan, all));
    }
    if (status == TW_OK && undecided(&all[BFS])) {
        status = consider_if_hopeful(ctx, plan, all, BFS, &farthest);
    }
    if (status == TW_OK && undecided(&all[DIJKSTRA])) {
        status = consider_if_hopeful(ctx, plan, all, DIJKSTRA, &farthest);
    }
    const twi_minplus_kernel *before = twi_closure_kernel(plan, all[CLOSURE].work_type);
    expect(plan, farthest); /* as far as the samples have seen */
    if (status == TW_OK) {
        status = twi_reconsider_sweep(ctx, plan, &all[SWEEP], narrowest(plan, farthest),
                                      fastest(ctx, plan, all));
    }
    if (status == TW_OK && all[CLOSURE].possible &&
        twi_closure_kernel(plan, narrowest(plan, farthest)) != before) {
        status = consider_closure(ctx, plan, &all[CLOSURE], farthest);
    }
    if (forced == TW_APSP_METHOD_REFERENCE) {
        twi_consider_reference(plan, &all[REFERENCE]);
    } else {
        twi_rule_out(&all[REFERENCE], "only on request");
    }
    if (status == TW_OK) {
        status = look_at_last(ctx, plan, all, farthest);
    }
    return status == TW_OK ? twi_consider_gpu_hops_if_they_may_pay(
                                 ctx, plan, &all[GPU_BFS], fastest(ctx, plan, all), farthest)
                           : status;
}

/* -------------------------------------------------------------------------------- the choice */

/* What the run needs to know of the chosen candidate. */
static void settle(tw_context *ctx, tw_apsp_plan *plan, const twi_candidate *best)
{
    plan->method = best->method;
    plan->seconds = best->seconds;
    plan->memory = best->memory + twi_plan_held(plan);
    plan->device_memory = best->gpu ? best->device_memory : 0;
    plan->work_type = best->work_type;
    plan->block = best->block;
    plan->gpu_narrow = best->gpu && best->narrow;
    plan->gpu_way = best->way;
    plan->automatic = !twi_gpu_is_named(ctx);
    if (best->gpu && plan->automatic) {
        snprintf(plan->device, sizeof plan->device, "%s", twi_gpu_prefix());
    } else {
        snprintf(plan->device, sizeof plan->device, "%s", best->gpu ? ctx->device : "cpu");
    }
    if (!best->gpu) {
        plan->gpus.count = 0;
    }
    if (plan->method != TW_APSP_METHOD_DIJKSTRA || best->gpu) {
        twi_searcher_destroy(plan->searcher);
        plan->searcher = NULL;
    }
    if (plan->method != TW_APSP_METHOD_SWEEP) {
        twi_tree_destroy(plan->tree);
        plan->tree = NULL;
        plan->order_origin = NULL;
    }
    if (best->gpu && plan->method == TW_APSP_METHOD_BFS) {
        twi_settle_gpu_hops(plan);
    } else if (!best->gpu &&
               (plan->method == TW_APSP_METHOD_DIJKSTRA || plan->method == TW_APSP_METHOD_BFS)) {
        plan->work_type = twi_search_type(plan);
    } else if (plan->method == TW_APSP_METHOD_REFERENCE) {
        plan->work_type = TW_F64;
    }
    plan->threads = twi_plan_team(plan);
}

/* For negative weights, of what can matter: a negative cycle beside it is nobody's concern. */
static tw_status find_potentials(tw_context *ctx, tw_apsp_plan *plan)
{
    tw_status status = twi_relevant_part(ctx, &plan->part, plan->graph, &plan->options);
    plan->graph = plan->part != NULL ? plan->part : plan->graph;
    if (status != TW_OK || plan->graph->min_weight >= 0) {
        return status;
    }
    status = twi_alloc(ctx, &plan->potential, (uint64_t)plan->graph->n, sizeof *plan->potential,
                       "the potentials");
    return status == TW_OK ? twi_potentials(ctx, plan->graph, plan->potential) : status;
}

/* A graph so small that a run is over before anything could be measured: one thread, and what the
 * counts of vertices and arcs say. */
static bool is_tiny(tw_context *ctx, const tw_apsp_plan *plan)
{
    return plan->graph->n <= TINY && plan->options.method == TW_APSP_METHOD_AUTO &&
           !twi_gpu_is_named(ctx);
}

/* What else there is, once the two below have their estimates: a GPU has its own reason. */
static void rule_out_rest(tw_context *ctx, tw_apsp_plan *plan, twi_candidate all[CANDIDATES])
{
    twi_candidate *gpu = &all[GPU];
    if (twi_gpu_may_pay(ctx, plan, gpu, fastest(ctx, plan, all))) {
        twi_rule_out(gpu, "not considered for %d vertices or fewer", TINY);
    }
    for (int i = 0; i < CANDIDATES; i++) {
        if (all[i].gpu && i != GPU) {
            memcpy(all[i].why_not, gpu->why_not, sizeof gpu->why_not);
        } else if (undecided(&all[i])) {
            twi_rule_out(&all[i], "not considered for %d vertices or fewer", TINY);
        }
    }
}

/* How far distances can reach, where that tells a narrow type: a search would take longer than one
 * saves. If half of all pairs are arcs, two of them lead anywhere; if not, the certificate tells.
 */
static double tiny_reach(const tw_apsp_plan *plan)
{
    const tw_graph *graph = plan->graph;
    const int64_t arcs = 2 * graph->arcs >= graph->n * (graph->n - 1) ? 2 : graph->n - 1;
    double most = (double)arcs * graph->max_weight;
    return plan->potential == NULL && most < TW_APSP_INF_U16 ? most / TWI_FARTHER : TWI_UNKNOWN;
}

/* Whether f32 holds all distances and the weights are such: sums from F32_WHOLE on may be rounded,
 * but not to below it. */
static bool is_whole_f32(const tw_apsp_plan *plan)
{
    const tw_graph *graph = plan->graph;
    return plan->type == TW_F32 && graph->weight_type == TW_F32 && plan->potential == NULL &&
           (double)graph->n * graph->max_weight < F32_WHOLE;
}

/* The narrowest type, or a wider one of which a row is one strip as well: that takes as long, needs
 * no certificate if it is i32, and what is closed in f32 is the result. */
static tw_type tiny_type(const tw_apsp_plan *plan)
{
    const tw_type least = narrowest(plan, tiny_reach(plan));
    const tw_type wide = is_whole_f32(plan)     ? TW_F32
                         : plan->type == TW_F32 ? TW_U16 /* i32 is checked entry by entry */
                                                : TW_I32;
    const bool narrow = least == TW_U8 || least == TW_U16;
    return narrow && plan->options.work_type == TW_AUTO &&
                   plan->graph->n <= twi_minplus_kernel_find(plan->isa, wide)->nr
               ? wide
               : least;
}

static void consider_tiny(tw_context *ctx, tw_apsp_plan *plan, twi_candidate all[CANDIDATES])
{
    const double n = (double)plan->graph->n, arcs = (double)plan->graph->arcs;
    const double rows = (double)twi_plan_rows(plan);
    twi_candidate *search = &all[DIJKSTRA], *closure = &all[CLOSURE];
    search->seconds = TINY_SECONDS + rows * (arcs * TINY_ARC + n * TINY_VERTEX);
    closure->seconds = TINY_CLOSURE + n * n * n * TINY_STEP;
    if (search->seconds < closure->seconds) {
        search->memory = twi_searches_planned(plan, search->method);
        search->possible = true;
    } else {
        closure->work_type = tiny_type(plan);
        expect(plan, tiny_reach(plan));
        closure->block =
            twi_closure_block(plan, twi_minplus_kernel_find(plan->isa, closure->work_type));
        closure->possible = closure_memory(plan, closure->work_type, &closure->memory);
    }
    if (plan->explanation == NULL) {
        return;
    }
    snprintf(search->basis, sizeof search->basis, "%.0f search%s over %.0f arc%s", rows,
             rows == 1 ? "" : "es", arcs, arcs == 1 ? "" : "s");
    snprintf(closure->basis, sizeof closure->basis, "n^3 in %s", tw_type_name(closure->work_type));
    char slower[TWI_DURATION];
    twi_rule_out(search->possible ? closure : search, "%s; %s is faster",
                 twi_duration(slower, (search->possible ? closure : search)->seconds),
                 search->possible ? search->name : closure->name);
    rule_out_rest(ctx, plan, all);
}

static tw_status make_plan(tw_context *ctx, tw_apsp_plan *plan)
{
    twi_candidate all[CANDIDATES];
    memcpy(all, candidates, sizeof all);
    tw_status status = twi_plan_check(ctx, plan->graph, &plan->options);
    if (status == TW_OK) {
        status = twi_order_check(ctx, plan->graph, &plan->options);
    }
    if (status == TW_OK) {
        status = twi_isa_resolve(ctx, &plan->isa);
    }
    if (status == TW_OK && plan->options.checkpoint != NULL) {
        plan->options.method = TW_APSP_METHOD_CLOSURE;
    }
    if (status == TW_OK) {
        status = find_potentials(ctx, plan);
    }
    if (status != TW_OK) {
        return status;
    }
    const bool tiny = is_tiny(ctx, plan);
    plan->threads = tiny ? 1 : twi_thread_count(ctx);
    plan->reach = (double)INFINITY;
    plan->type = twi_plan_result_type(plan->graph, &plan->options);
    plan->symmetric = plan->graph->undirected && plan->potential == NULL;
    if (tiny) {
        consider_tiny(ctx, plan, all);
    } else {
        status = twi_gpu_is_named(ctx) ? consider_named_gpu(ctx, plan, all)
                                       : consider_all(ctx, plan, all);
    }
    if (status == TW_OK) {
        const twi_candidate *best = fastest(ctx, plan, all);
        if (best == NULL) {
            return twi_refuse_plan(ctx, plan, all, CANDIDATES);
        }
        settle(ctx, plan, best);
        if (plan->explanation != NULL) {
            twi_plan_explain(plan, all, CANDIDATES);
        }
    }
    return status;
}

tw_status twi_plan_create(tw_context *ctx, tw_apsp_plan **out, const tw_graph *graph,
                          const tw_apsp_options *opts, bool explained)
{
    twi_clear_handle(out);
    tw_apsp_options ours = TW_APSP_OPTIONS_INIT;
    tw_apsp_plan *plan = NULL;
    double began = twi_seconds();
    tw_status status = TWI_REQUIRE(ctx, {"out", out}, {"graph", graph});
    if (status == TW_OK) {
        status = twi_take_options(ctx, &ours, opts);
    }
    if (status == TW_OK) {
        status = twi_check_cancel(ctx);
    }
    if (status == TW_OK) {
        status = twi_alloc_zeroed(ctx, &plan, 1, sizeof *plan, "the plan");
    }
    if (status != TW_OK) {
        return status;
    }
    plan->graph = graph;
    plan->given = twi_graph_memory(graph);
    plan->options = ours;
    if (explained) {
        status =
            twi_alloc_zeroed(ctx, &plan->explanation, TWI_EXPLANATION_BYTES, 1, "the explanation");
    }
    if (status == TW_OK) {
        status = make_plan(ctx, plan);
    }
    if (status != TW_OK) {
        tw_apsp_plan_destroy(plan);
        return status;
    }
    plan->spent = twi_seconds() - began - plan->waited;
    *out = plan;
    return TW_OK;
}

tw_status tw_apsp_plan_create(tw_context *ctx, tw_apsp_plan **out, const tw_graph *graph,
                              const tw_apsp_options *opts)
{
    return twi_plan_create(ctx, out, graph, opts, true);
}

void tw_apsp_plan_destroy(tw_apsp_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    twi_tree_destroy(plan->tree);
    twi_searcher_destroy(plan->searcher);
    twi_free(plan->explanation);
    twi_free(plan->potential);
    tw_graph_destroy(plan->part);
    twi_free(plan);
}

const char *tw_apsp_plan_explain(const tw_apsp_plan *plan)
{
    return plan != NULL && plan->explanation != NULL ? plan->explanation : "";
}

tw_status tw_apsp_plan_describe(const tw_apsp_plan *plan, tw_apsp_plan_info *out)
{
    if (plan == NULL) {
        return TW_ERR_ARGUMENT;
    }
    const tw_apsp_plan_info info = {
        .size = sizeof info,
        .method = plan->method,
        .type = plan->type,
        .work_type = plan->work_type,
        .memory = plan->memory,
        .device_memory = plan->device_memory,
        .seconds = plan->seconds,
        .device = plan->device,
        .order = plan->tree != NULL ? plan->order_origin : "",
        .threads = plan->threads,
    };
    return TWI_DESCRIBE(NULL, tw_apsp_plan_info, out, &info);
}
