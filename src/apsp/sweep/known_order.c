/* Orders that need not be made: see known_order.h. */
#include "apsp/sweep/known_order.h"

#include "apsp/shared/deliver.h"
#include "apsp/sweep/batch.h"
#include "apsp/sweep/kept_order.h"
#include "apsp/sweep/metis.h"
#include "apsp/sweep/spared.h"
#include "apsp/sweep/sweep.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>

/* Of an order of METIS: seconds per vertex or link, and level of the dissection (Neoverse N1,
 * November 2026); and the part of a run that it may take. */
#define METIS_SECONDS 60e-9
#define METIS_SHARE 0.1

/* Of our own dissection: seconds per vertex or link on one thread; the part of a run by minimum
 * degree that it may take; and threads that it makes use of. */
#define DISSECTION_SECONDS 250e-9
#define DISSECTION_SHARE 0.1
#define TEAM 4.0

/* Steps per second that these shares are taken of for weights that are not whole: which order is
 * made decides in which sequence lengths are summed up, so for those it must not depend on threads,
 * instructions or a clock. Half of what 16 cores of a Xeon do, ten times what one Neoverse core
 * does (f32, November 2026). */
#define NOMINAL_RATE 1e11

#define LARGE 32000.0 /* vertices, from which on it goes first, */
#define WIDE 0.125    /*   and of these in a front, where minimum degree does better */

tw_status twi_order_check(tw_context *ctx, const tw_graph *graph, const tw_apsp_options *options)
{
    const tw_apsp_order *order = options->order;
    if (order == NULL) {
        return TW_OK;
    }
    if (order->structure.n != graph->n) {
        return tw_fail(
            ctx, TW_ERR_ARGUMENT,
            "tw_apsp_options.order was computed for a graph with %lld vert%s; this one has "
            "%lld",
            (long long)order->structure.n, order->structure.n == 1 ? "ex" : "ices",
            (long long)graph->n);
    }
    const twi_structure structure = twi_structure_of(ctx, graph);
    const tw_status status = twi_check_cancel(ctx);
    if (status != TW_OK) {
        return status;
    }
    if (!twi_structure_equal(&structure, &order->structure)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "tw_apsp_options.order was computed for a graph with different edges; only "
                       "the weights may differ");
    }
    return TW_OK;
}

tw_status twi_known_order_find(tw_context *ctx, twi_known_order *out, const tw_apsp_plan *plan)
{
    *out = (twi_known_order){.origin = "computed"};
    if (plan->options.order != NULL) {
        out->order = &plan->options.order->order;
        out->origin = "given";
        return TW_OK;
    }
    if (plan->options.order_cache == 0 || plan->graph->n < TWI_KEPT_LEAST) {
        return TW_OK;
    }
    out->structure = twi_structure_of(ctx, plan->graph);
    tw_status status = twi_check_cancel(ctx);
    if (status == TW_OK) {
        status = twi_kept_order_read(ctx, &out->kept, &out->structure);
    }
    if (status == TW_OK && out->kept.vertex != NULL) {
        out->order = &out->kept;
        out->origin = "cached";
    }
    return status;
}

void twi_known_order_clear(twi_known_order *known)
{
    twi_order_clear(&known->kept);
    *known = (twi_known_order){0};
}

/* -------------------------------------------------------------------------------- new orders */

/* An order and its tree; both are NULL if there is none. */
typedef struct made {
    twi_order order;
    twi_tree *tree;
} made;

static void clear_made(made *m)
{
    twi_tree_destroy(m->tree);
    twi_order_clear(&m->order);
    *m = (made){0};
}

/* What all orders of a run are made for. */
typedef struct wanted {
    tw_context *ctx;
    const tw_graph *graph;
    const twi_skeleton *skeleton;
    int64_t columns;
    double steps;       /* that it may take */
    double rate;        /* steps per second, of all threads */
    double team;        /* threads that make it */
    tw_apsp_plan *plan; /* of a sweep with this kernel; NULL: of none, */
    const twi_minplus_kernel *kernel;
    uint64_t room; /*   for which there is so much memory */
} wanted;

static wanted what_is_wanted(tw_context *ctx, const tw_graph *graph, const twi_skeleton *skeleton,
                             int64_t columns, double steps, double rate)
{
    return (wanted){
        .ctx = ctx,
        .graph = graph,
        .skeleton = skeleton,
        .columns = columns,
        .steps = steps,
        .rate = graph->integral ? rate : NOMINAL_RATE,
        .team = graph->integral ? fmin((double)twi_thread_count(ctx), TEAM) : TEAM,
    };
}

/* Steps that a tree takes for all columns; +inf without one. */
static double all_steps(const wanted *w, const made *m)
{
    const twi_tree *tree = m->tree;
    return tree != NULL ? (double)w->columns * (tree->down + tree->up - tree->spared) + tree->factor
                        : (double)INFINITY;
}

/* Seconds per vertex and link. */
static double order_seconds(const wanted *w, double each)
{
    const twi_skeleton *s = w->skeleton;
    return ((double)s->n + (double)s->offsets[s->n]) * each;
}

/* Whether a sweep by that order fits in memory. */
static bool fits(const wanted *w, const made *m)
{
    if (w->plan == NULL || w->kernel == NULL || m->tree == NULL) {
        return w->plan == NULL || w->kernel == NULL;
    }
    const twi_rows_known known = {.folds = twi_sweep_folds(w->plan, w->kernel->type)};
    const uint64_t bytes = twi_tree_memory(m->tree) + twi_delivery_planned(w->plan, &known) +
                           twi_sweep_memory(w->plan, m->tree, w->kernel);
    w->plan->order_most = bytes > w->plan->order_most ? bytes : w->plan->order_most;
    return bytes <= w->room;
}

static bool is_better(const wanted *w, const made *other, const made *best)
{
    const bool other_fits = fits(w, other), best_fits = fits(w, best);
    return other_fits != best_fits ? other_fits : all_steps(w, other) < all_steps(w, best);
}

/* A tree, and what its batches are spared. */
static tw_status make_tree(const wanted *w, twi_tree **out, const twi_order *order)
{
    tw_status status = twi_tree_create(w->ctx, out, w->skeleton, order, w->columns);
    if (status == TW_OK && *out != NULL) {
        const int64_t width = w->plan != NULL && w->kernel != NULL
                                  ? twi_batch_width(*out, w->kernel, w->columns, w->plan->threads)
                                  : TWI_USUAL_BATCH;
        status = twi_tree_count_spared(w->ctx, *out, w->graph, width);
    }
    if (status != TW_OK) {
        twi_tree_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* An order of that maker in the place of *best, if it takes fewer steps than that, and than it may.
 * It can be done without where there is no memory for it and another one is there. */
static tw_status try_order(const wanted *w, made *best, int32_t maker, bool *failed)
{
    made other = {0};
    tw_status status = TW_OK;
    const double most = fmin(w->steps, all_steps(w, best));
    if (maker == TWI_ORDER_METIS) {
        status = twi_metis_order(w->ctx, &other.order, w->skeleton);
        other.order.entries = isfinite(most) ? fmax(most / (double)w->columns, 1) : 0;
    } else {
        const twi_order_limit limit = {.columns = (double)w->columns, .steps = most};
        status = twi_order_create(w->ctx, &other.order, w->skeleton, maker, limit);
    }
    *failed = other.order.vertex == NULL;
    if (status == TW_OK && other.order.vertex != NULL) {
        status = make_tree(w, &other.tree, &other.order);
    }
    if (status == TW_ERR_MEMORY && best->tree != NULL) {
        status = TW_OK;
    }
    if (status == TW_OK && other.tree != NULL && is_better(w, &other, best)) {
        const made kept = *best;
        *best = other;
        other = kept;
    }
    clear_made(&other);
    return status;
}

uint64_t twi_order_memory(const tw_graph *graph, int threads)
{
    const int64_t n = graph->n, links = graph->undirected ? graph->arcs : 2 * graph->arcs;
    const int32_t maker = (double)n >= LARGE ? TWI_ORDER_DISSECTION : TWI_ORDER_DEGREE;
    const uint64_t order = twi_order_create_memory(n, links, maker, threads);
    const uint64_t making = twi_tree_create_memory(n), counting = twi_tree_spared_memory(graph);
    const uint64_t tree =
        2 * (uint64_t)n * sizeof(int32_t) + (making > counting ? making : counting);
    return twi_skeleton_memory(n, graph->arcs) + (order > tree ? order : tree);
}

/* By minimum degree first, which is soon done, then by cuts, unless wide fronts show that there are
 * none; a large graph is cut into parts first, which go at a time, and if it cannot be cut well, by
 * minimum degree. *cut: by cuts, and fronts are not wide. */
static tw_status make_own(const wanted *w, made *best, bool *cut)
{
    const double n = (double)w->skeleton->n;
    const bool large = n >= LARGE;
    bool failed = false;
    tw_status status = try_order(w, best, large ? TWI_ORDER_DISSECTION : TWI_ORDER_DEGREE, &failed);
    const bool narrow = best->tree != NULL && (double)best->tree->front_most <= WIDE * n;
    if (large) {
        *cut = narrow;
        return status == TW_OK && !narrow ? try_order(w, best, TWI_ORDER_DEGREE, &failed) : status;
    }
    *cut = narrow && twi_order_can_be_cut(w->skeleton) &&
           order_seconds(w, DISSECTION_SECONDS) / w->team <
               DISSECTION_SHARE * all_steps(w, best) / w->rate;
    return status == TW_OK && *cut ? try_order(w, best, TWI_ORDER_DISSECTION, &failed) : status;
}

/* The best order for a run; no tree if each would take too many steps. Where there is nothing to be
 * cut METIS, which cuts, is not tried. *note is what is to be said of it. */
static tw_status make_order(const wanted *w, made *best, const char **note)
{
    bool failed = false;
    bool cut = false;
    *note = "";
    tw_status status = make_own(w, best, &cut);
    const double seconds = order_seconds(w, METIS_SECONDS * log2((double)w->skeleton->n + 2));
    if (status != TW_OK || !cut || seconds > METIS_SHARE * all_steps(w, best) / w->rate) {
        return status;
    }
    if (!twi_metis_is_built()) {
        *note = " (METIS is not in this build)";
        return TW_OK;
    }
    status = try_order(w, best, TWI_ORDER_METIS, &failed);
    if (best->order.maker != TWI_ORDER_METIS) {
        *note = failed ? " (METIS gave no order)" : " (METIS would not need fewer steps)";
    }
    return status;
}

tw_status twi_sweep_tree(tw_context *ctx, tw_apsp_plan *plan, const twi_known_order *known,
                         const twi_minplus_kernel *kernel, double steps, double rate)
{
    const tw_apsp_order *given = plan->options.order;
    const int64_t columns = twi_plan_rows(plan);
    twi_skeleton skeleton = {0};
    made best = {0};
    plan->order_origin = known->origin;
    plan->order_note = "";
    plan->order_most = 0;
    const uint64_t room = twi_memory_room(ctx);
    if (given != NULL && plan->part == NULL && columns == plan->graph->n) {
        plan->tree = twi_tree_share(given->tree);
        plan->order_maker = given->order.maker;
        return TW_OK;
    }
    tw_status status = twi_skeleton_create(ctx, &skeleton, plan->graph);
    wanted w = what_is_wanted(ctx, plan->graph, &skeleton, columns, steps, rate);
    w.plan = plan->graph->integral ? plan : NULL; /* memory is the machine's, too */
    w.kernel = kernel;
    w.room = room;
    if (status == TW_OK && known->order != NULL) {
        plan->order_maker = known->order->maker;
        status = make_tree(&w, &plan->tree, known->order);
    } else if (status == TW_OK) {
        status = make_order(&w, &best, &plan->order_note);
        plan->order_maker = best.order.maker;
        if (status == TW_OK && best.tree != NULL && plan->options.order_cache != 0 &&
            plan->graph->n >= TWI_KEPT_LEAST) {
            twi_kept_order_write(ctx, &best.order, &known->structure);
        }
        plan->tree = best.tree;
        best.tree = NULL;
    }
    clear_made(&best);
    twi_skeleton_clear(&skeleton);
    return status;
}

tw_status twi_order_object(tw_context *ctx, tw_apsp_order **out, const tw_graph *graph, double rate)
{
    twi_skeleton skeleton = {0};
    tw_apsp_order *object = NULL;
    made best = {0};
    const char *note = "";
    tw_status status = twi_alloc_zeroed(ctx, &object, 1, sizeof *object, "the elimination order");
    if (status == TW_OK) {
        object->structure = twi_structure_of(ctx, graph);
        status = twi_skeleton_create(ctx, &skeleton, graph);
    }
    if (status == TW_OK) {
        const wanted w = what_is_wanted(ctx, graph, &skeleton, graph->n, (double)INFINITY, rate);
        status = make_order(&w, &best, &note);
    }
    twi_skeleton_clear(&skeleton);
    if (status != TW_OK) {
        clear_made(&best);
        twi_free(object);
        return status;
    }
    twi_log(ctx, "elimination order: %s%s", twi_order_maker(best.order.maker), note);
    object->order = best.order;
    object->tree = best.tree;
    *out = object;
    return TW_OK;
}
