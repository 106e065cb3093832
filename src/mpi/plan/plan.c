/* See plan.h. What is measured or made by chance of the clock is rank 0's: the method, the working
 * type, the order of elimination. Potentials are sent along, for they take as long to find. */
#include "mpi/plan/plan.h"

#include "apsp/shared/relevant.h"
#include "apsp/sweep/tree.h"
#include "base/memory.h"

#include <string.h>

#define AT_ONCE ((int64_t)1 << 26) /* bytes of a message */

static tw_status plan_alone(tw_context *ctx, tw_apsp_plan **out, const tw_graph *graph,
                            const tw_apsp_options *options, int threads)
{
    char device[sizeof ctx->device];
    const int32_t asked = ctx->threads;
    memcpy(device, ctx->device, sizeof device);
    tw_status status = tw_set_device(ctx, "cpu");
    ctx->threads = threads;
    if (status == TW_OK) {
        status = tw_apsp_plan_create(ctx, out, graph, options);
    }
    ctx->threads = asked;
    memcpy(ctx->device, device, sizeof device);
    return status;
}

static tw_status tell(tw_context *ctx, const twi_world *world, void *data, uint64_t bytes)
{
    tw_status status = TW_OK;
    for (int64_t at = 0; at < (int64_t)bytes && status == TW_OK; at += AT_ONCE) {
        const int64_t some = (int64_t)bytes - at < AT_ONCE ? (int64_t)bytes - at : AT_ONCE;
        status =
            twi_mpi_check(ctx, MPI_Bcast((char *)data + at, (int)some, MPI_BYTE, 0, world->comm),
                          "tell the plan");
    }
    return status;
}

/* An array of rank 0's to all; *array is NULL or another rank's before, and has its memory then. */
static tw_status tell_array(tw_context *ctx, const twi_world *world, void *array, int64_t count,
                            uint64_t size)
{
    void **data = array;
    tw_status status = TW_OK;
    if (world->rank != 0) {
        *data = NULL;
        status = twi_alloc(ctx, data, (uint64_t)count, size, "the plan");
    }
    status = twi_world_agree(ctx, world, status);
    return status == TW_OK ? tell(ctx, world, *data, (uint64_t)count * size) : status;
}

/* Rank 0's tree into the others' plans, which have none yet. */
static tw_status tell_tree(tw_context *ctx, const twi_world *world, tw_apsp_plan *plan)
{
    twi_tree *tree = plan->tree;
    const bool told = tree == NULL;
    tw_status status = TW_OK;
    if (told) {
        status = twi_alloc_zeroed(ctx, &tree, 1, sizeof *tree, "the elimination tree");
        plan->tree = tree;
    }
    status = twi_world_agree(ctx, world, status);
    if (status != TW_OK) {
        return status;
    }
    twi_tree numbers = {0};
    int64_t high = 0;
    if (!told) {
        memcpy(&numbers, tree, sizeof numbers);
        high = tree->high_first[tree->blocks];
    }
    status = tell(ctx, world, &numbers, sizeof numbers);
    if (status == TW_OK) {
        status = tell(ctx, world, &high, sizeof high);
    }
    if (status != TW_OK) {
        return status;
    }
    if (told) {
        memcpy(tree, &numbers, sizeof numbers);
        atomic_init(&tree->users, 1);
        tree->first = tree->vertex = tree->high = tree->parent = tree->block = tree->place = NULL;
        tree->height = tree->above = NULL;
        tree->high_first = NULL;
    }
    const struct {
        void *array;
        int64_t count;
        uint64_t size;
    } arrays[] = {{&tree->first, tree->blocks + 1, sizeof *tree->first},
                  {&tree->vertex, tree->n, sizeof *tree->vertex},
                  {&tree->high_first, tree->blocks + 1, sizeof *tree->high_first},
                  {&tree->high, high, sizeof *tree->high},
                  {&tree->parent, tree->blocks, sizeof *tree->parent},
                  {&tree->block, tree->n, sizeof *tree->block},
                  {&tree->place, tree->n, sizeof *tree->place},
                  {&tree->height, tree->blocks, sizeof *tree->height},
                  {&tree->above, tree->blocks, sizeof *tree->above}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == TW_OK; i++) {
        status = tell_array(ctx, world, arrays[i].array, arrays[i].count, arrays[i].size);
    }
    return status;
}

/* What rank 0 has decided, into a plan of this rank. */
static tw_status take_plan(tw_context *ctx, tw_apsp_plan *plan, const twi_world *world,
                           const tw_graph *graph, const tw_apsp_options *options)
{
    tw_apsp_plan told = *plan;
    tw_status status = tell(ctx, world, &told, sizeof told);
    bool reweighted = false, swept = false;
    if (world->rank != 0) {
        reweighted = told.potential != NULL;
        swept = told.tree != NULL;
        *plan = told;
        plan->graph = graph;
        plan->part = NULL;
        plan->options = *options;
        plan->potential = NULL;
        plan->tree = NULL;
        plan->searcher = NULL;
        plan->order_origin = swept ? "given" : NULL;
        plan->order_note = "";
        plan->explanation = NULL;
        if (status == TW_OK && graph->min_weight < 0) {
            status = twi_relevant_part(ctx, &plan->part, graph, options);
            plan->graph = plan->part != NULL ? plan->part : graph;
        }
    } else {
        reweighted = plan->potential != NULL;
        swept = plan->tree != NULL;
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK && reweighted) {
        status = tell_array(ctx, world, &plan->potential, graph->n, sizeof *plan->potential);
    }
    return status == TW_OK && swept ? tell_tree(ctx, world, plan) : status;
}

tw_status twi_mpi_plan_create(tw_context *ctx, tw_apsp_plan **out, const twi_world *world,
                              const tw_graph *graph, const tw_apsp_options *options, int threads)
{
    tw_apsp_plan *plan = NULL;
    *out = NULL;
    tw_status status = world->rank == 0 ? plan_alone(ctx, &plan, graph, options, threads)
                                        : twi_alloc_zeroed(ctx, &plan, 1, sizeof *plan, "the plan");
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = take_plan(ctx, plan, world, graph, options);
    }
    if (status != TW_OK) {
        tw_apsp_plan_destroy(plan);
        return status;
    }
    plan->threads = threads;
    *out = plan;
    return TW_OK;
}
