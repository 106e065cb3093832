/* See estimate.h. Rates of ranks and messages are measured (probe.h); what follows per arc and per
 * entry is what one processor took for it, and grows with the ranks that share one. */
#include "mpi/plan/estimate.h"

#include "apsp/gpu/rank.h"
#include "apsp/plan/estimate.h"
#include "apsp/shared/deliver.h"
#include "apsp/sweep/tree.h"
#include "base/memory.h"
#include "mpi/closure/closure.h"
#include "mpi/closure/gpu.h"
#include "mpi/closure/rows.h"
#include "mpi/plan/probe.h"

#include <math.h>

/* Seconds on one processor (Neoverse N1, November 2026): */
#define ARC_SECONDS 9e-9     /* of an arc: to its owner, and into its tile */
#define FILL_SECONDS 0.3e-9  /* of an entry: filled, and looked at by the certificate */
#define MOVE_SECONDS 0.8e-9  /* of a byte of the working matrix: into a row of the result */
#define WRITE_SECONDS 0.7e-9 /* of a byte of the result: converted, and on its way to the file */
#define MOVERS 4             /* threads that do so in that many times less: more wait for memory */
#define KEEP_SECONDS 1.2e-9  /* of an entry that goes into a summary */
#define PINNING 2            /* times as fast as plain copies of a share, with the time it takes */
#define PROBED 128           /* vertices of tiles that show how many share a processor */
#define DENSE (1.0 / 16)     /* arcs of all pairs, from which on all tiles are taken to be there */

uint64_t twi_closure_need(const twi_grid *grid, int64_t arcs, const twi_minplus_kernel *kernel,
                          tw_type type, uint64_t delivery, bool symmetric, int threads, bool whole)
{
    const twi_share share = {.grid = grid,
                             .kernel = kernel,
                             .symmetric = symmetric,
                             .size = (int64_t)tw_type_size(kernel->type),
                             .row_count = twi_own_rows(grid),
                             .col_count = twi_own_cols(grid)};
    const uint64_t rows = twi_mpi_rows_memory(&share, type) + delivery;
    const uint64_t panels = twi_mpi_closure_memory(&share, threads);
    const uint64_t traffic = twi_share_traffic(arcs, grid->rows * grid->cols);
    uint64_t most = panels > rows ? panels : rows;
    most = traffic > most ? traffic : most;
    return twi_share_bytes(grid, kernel, symmetric, whole) + most;
}

/* The share of all products of tiles that a closure of the graph has: the pattern of tiles is
 * followed through all pivots. */
static tw_status find_filled(tw_context *ctx, const tw_mpi_graph *graph, const twi_grid *grid,
                             double *filled)
{
    const tw_graph *part = &graph->whole;
    const double n = (double)part->n;
    twi_pattern pattern = {0};
    *filled = 1;
    if (part->n == 0 || (double)graph->arcs >= DENSE * n * n) {
        return TW_OK;
    }
    tw_status status = twi_pattern_create(ctx, &pattern, grid->tiles);
    status = twi_world_agree(ctx, grid->world, status);
    for (int64_t u = 0; u < part->n && status == TW_OK; u++) {
        for (int64_t a = part->offsets[u]; a < part->offsets[u + 1]; a++) {
            twi_pattern_add(&pattern, u / grid->block, part->targets[a] / grid->block);
            if (part->undirected) {
                twi_pattern_add(&pattern, part->targets[a] / grid->block, u / grid->block);
            }
        }
    }
    if (status == TW_OK) {
        status = twi_pattern_unite(ctx, &pattern, grid->world);
    }
    double products = 0;
    for (int64_t k = 0; k < grid->tiles && status == TW_OK; k++) {
        double row = 0, col = 0;
        for (int64_t i = 0; i < grid->tiles; i++) {
            row += twi_pattern_has(&pattern, k, i);
            col += twi_pattern_has(&pattern, i, k);
        }
        products += row * col;
        twi_pattern_advance(&pattern, k);
        status = twi_check_cancel(ctx);
    }
    *filled = products / pow((double)grid->tiles, 3);
    twi_pattern_clear(&pattern);
    return twi_world_agree(ctx, grid->world, status);
}

/* Seconds to bring `rows` rows of this rank into the file and the summary. */
static tw_status find_output(tw_context *ctx, const twi_world *world, const tw_apsp_plan *plan,
                             const twi_mpi_goal *goal, double rows, double crowd, double *seconds)
{
    const double movers = goal->threads < MOVERS ? goal->threads : MOVERS;
    const double entries = rows * (double)twi_plan_cols(plan);
    const tw_mpi_apsp_output *to = goal->output;
    double rate = INFINITY;
    tw_status status = TW_OK;
    const char *path = to->path != NULL ? to->path : to->predecessors;
    if (path != NULL) {
        status = twi_probe_write(ctx, world, path, &rate);
    }
    const double bytes = entries * ((to->path != NULL ? (double)tw_type_size(plan->type) : 0) +
                                    (to->predecessors != NULL ? (double)sizeof(int32_t) : 0));
    *seconds = path != NULL ? bytes / rate + bytes * WRITE_SECONDS * crowd / movers : 0;
    const int collectors = (to->summary != NULL) + (to->nearest != NULL) + (to->farthest != NULL);
    *seconds += collectors * entries * KEEP_SECONDS * crowd;
    return status;
}

/* Figures of this rank become those of the rank with the most. */
static tw_status most_of_all(tw_context *ctx, const twi_world *world, uint64_t *memory)
{
    return twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, memory, 1, MPI_UINT64_T, MPI_MAX, world->comm), "compare");
}

/* What this rank may take beside what it has, its like on the machine counted. */
static tw_status check_memory(tw_context *ctx, const twi_world *world, const twi_machines *machines,
                              int64_t n, uint64_t need)
{
    char wanted[32], there[32], advice[TWI_ADVICE];
    const uint64_t limit = tw_memory_limit(ctx), used = tw_memory_used(ctx);
    const uint64_t left = ctx->memory_limit > 0 ? limit : limit / (uint64_t)machines->here;
    tw_status status = TW_OK;
    if (need > left) {
        twi_bytes_apart(wanted, need, there, left);
        twi_memory_advice(advice, ctx, need > used ? need - used : 0);
        status = tw_fail(ctx, TW_ERR_MEMORY,
                         "%lld vertices need %s of memory in each of %d ranks, but rank %d has "
                         "%s%s%s use more machines",
                         (long long)n, wanted, world->size, world->rank, there, advice,
                         advice[0] != '\0' ? ", or" : ";");
    }
    return twi_world_agree(ctx, world, status);
}

/* What the GPU of this rank has for it, of those that share it. */
static tw_status check_device(tw_context *ctx, const twi_world *world, const twi_gpu_pace *gpu,
                              int64_t n, uint64_t need, int sharing)
{
    char wanted[32], there[32];
    const uint64_t left = gpu->memory / (uint64_t)sharing;
    tw_status status = TW_OK;
    if (need > left) {
        status = tw_fail(ctx, TW_ERR_MEMORY,
                         "%lld vertices need %s of GPU memory in each of %d ranks, but rank %d has "
                         "%s, with %d rank%s on its GPU; use more GPUs",
                         (long long)n, twi_bytes(wanted, (double)need), world->size, world->rank,
                         twi_bytes(there, (double)left), sharing, sharing == 1 ? "" : "s");
    }
    return twi_world_agree(ctx, world, status);
}

/* The paces of ranks with GPUs, and what the tiles of this one take there. Where MPI does not read
 * the memory of GPUs, the panels of a round go from the GPU to the host and from there to another.
 */
static tw_status find_gpu_pace(tw_context *ctx, tw_mpi_forecast *out, twi_pace *pace,
                               const twi_grid *grid, const twi_minplus_kernel *kernel,
                               const twi_mesh *mesh, const twi_mpi_goal *goal)
{
    const twi_world *world = grid->world;
    const twi_gpu_rank_shape shape = {
        .device = goal->gpu,
        .type = kernel->type,
        .side = (int32_t)grid->block,
        .down = twi_own_rows(grid),
        .across = twi_own_cols(grid),
        .messages = goal->direct ? twi_mpi_closure_gpu_messages(grid, kernel, mesh->symmetric) : 0};
    const double ways = goal->direct ? 0 : 2;
    twi_gpu_pace gpu = {.rate = 0};
    double alone = 0;
    int sharing = 1;
    tw_status status = twi_world_alike(ctx, world, goal->gpu, &sharing);
    if (status == TW_OK) {
        status = twi_gpu_pace_find(ctx, goal->gpu, kernel->type, &gpu);
        status = twi_world_agree(ctx, world, status);
    }
    if (status != TW_OK) {
        return status;
    }
    out->device_memory = twi_gpu_rank_bytes(&shape);
    status = check_device(ctx, world, &gpu, grid->n, out->device_memory, sharing);
    const double size = (double)mesh->element, b = (double)mesh->block;
    const double panels = b * b * size * (double)(shape.down + shape.across);
    double slowest[2] = {-gpu.rate / sharing, 2 * b * b * size *
                                                  (double)(shape.down * shape.across) /
                                                  (PINNING * gpu.slow_link) * sharing};
    *pace = (twi_pace){.tile = gpu.round, .turns = 1, .crowd = 1};
    if (status == TW_OK) {
        status = twi_probe_casts(ctx, pace, grid, mesh);
    }
    if (status == TW_OK) { /* how crowded the host is, for what it does before and after */
        status = twi_probe_together(ctx, world, kernel, PROBED, PROBED, goal->threads, &alone,
                                    &pace->crowd);
    }
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, slowest, 2, MPI_DOUBLE, MPI_MAX, world->comm),
            "compare");
    }
    if (status == TW_OK) {
        status = most_of_all(ctx, world, &out->device_memory);
    }
    pace->rate = -slowest[0];
    pace->cast += ways * panels / gpu.link;
    pace->tile_cast += ways * b * b * size / gpu.link;
    out->seconds_copy = slowest[1];
    out->sharing = sharing;
    out->direct = goal->direct;
    return status;
}

/* Bytes of the delivery of a rank's rows, of which the number counts. */
static uint64_t delivery_bytes(const tw_apsp_plan *plan, const twi_world *world,
                               const twi_minplus_kernel *kernel, const twi_mpi_goal *goal)
{
    static const int32_t any[1] = {0};
    tw_apsp_plan own = *plan;
    own.threads = goal->threads;
    own.options.source_count = (twi_plan_rows(plan) + world->size - 1) / world->size;
    own.options.sources = any;
    return twi_delivery_memory(&own, NULL, goal->output->predecessors != NULL) +
           twi_delivery_table(&own, kernel->type) + plan->options.beside;
}

tw_status twi_estimate_closure(tw_context *ctx, tw_mpi_forecast *out, const tw_mpi_graph *graph,
                               const tw_apsp_plan *plan, const twi_grid *grid,
                               const twi_minplus_kernel *kernel, const twi_mpi_goal *goal)
{
    const twi_world *world = &graph->world;
    twi_mesh mesh = {.n = grid->n,
                     .block = grid->block,
                     .element = (int64_t)tw_type_size(kernel->type),
                     .rows = grid->rows,
                     .cols = grid->cols,
                     .symmetric = plan->symmetric};
    twi_pace pace;
    twi_machines machines;
    tw_status status = twi_probe_machines(ctx, &machines, world, goal->threads);
    const uint64_t read = tw_memory_peak(ctx); /* which may have been the most */
    out->memory = twi_closure_need(grid, graph->whole.arcs, kernel, plan->type,
                                   delivery_bytes(plan, world, kernel, goal), plan->symmetric,
                                   goal->threads, goal->gpu >= 0) +
                  twi_graph_memory(&graph->whole);
    if (goal->output->predecessors != NULL && status == TW_OK) {
        out->memory += twi_replica_bytes(graph) / (uint64_t)machines.here +
                       (uint64_t)(grid->block / grid->cols + 1) * (uint64_t)grid->n * 4;
    }
    out->memory = read > out->memory ? read : out->memory;
    if (status == TW_OK) {
        status = check_memory(ctx, world, &machines, grid->n, out->memory);
    }
    if (goal->keeps) { /* laid aside, where there is room */
        out->memory += twi_share_bytes(grid, kernel, plan->symmetric, goal->gpu >= 0);
    }
    if (status == TW_OK) {
        status = find_filled(ctx, graph, grid, &mesh.filled);
    }
    if (status == TW_OK) {
        status = goal->gpu >= 0
                     ? find_gpu_pace(ctx, out, &pace, grid, kernel, &mesh, goal)
                     : twi_probe_pace(ctx, &pace, &machines, grid, kernel, &mesh, goal->threads);
    }
    if (status != TW_OK) {
        return status;
    }
    if (goal->gpu < 0) { /* the thread of a rank with a GPU looks all the time */
        twi_model_looks(&pace, &mesh,
                        twi_mpi_closure_chunk(twi_own_rows(grid) * grid->block, goal->threads),
                        goal->threads);
    }
    const twi_rounds rounds = twi_model_rounds(&mesh, &pace);
    const double n = (double)grid->n, ranks = world->size;
    const double entries = n * n / ranks * (plan->symmetric ? 0.5 : 1);
    const double rows = (double)twi_plan_rows(plan) / ranks;
    double output = 0;
    status = find_output(ctx, world, plan, goal, rows, pace.crowd, &output);
    if (status == TW_OK) {
        status = most_of_all(ctx, world, &out->memory);
    }
    out->method = TW_APSP_METHOD_CLOSURE;
    out->grid_rows = grid->rows;
    out->grid_cols = grid->cols;
    out->block = (int32_t)grid->block;
    out->machines = machines.count;
    out->work_type = kernel->type;
    out->symmetric = plan->symmetric;
    out->help = (int32_t)goal->help;
    out->rate = pace.rate;
    out->ideal = rounds.ideal;
    out->filled = mesh.filled;
    out->seconds_prepare =
        ((double)graph->arcs / ranks * ARC_SECONDS + entries * FILL_SECONDS) * pace.crowd;
    out->seconds_compute = rounds.compute;
    out->seconds_exchange = rounds.exposed;
    const double movers = goal->threads < MOVERS ? goal->threads : MOVERS;
    out->seconds_output =
        output + n * n / ranks * (double)mesh.element * MOVE_SECONDS * pace.crowd / movers;
    return status;
}

tw_status twi_estimate_search(tw_context *ctx, tw_mpi_forecast *out, const twi_world *world,
                              const tw_apsp_plan *plan, const twi_replica *replica,
                              const twi_mpi_goal *goal)
{
    double told[2] = {plan->seconds, 0}; /* rank 0's; the share of it that no rank is spared */
    int machines = replica->node_rank == 0;
    uint64_t memory = plan->memory;
    double rate = 0, crowd = 1;
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(plan->isa, TW_I32);
    const double rows = (double)twi_plan_rows(plan);
    double output = 0;
    if (plan->tree != NULL) {
        const double swept = rows * (plan->tree->down + plan->tree->up);
        told[1] = plan->tree->factor / fmax(plan->tree->factor + swept, 1);
    }
    tw_status status =
        twi_mpi_check(ctx, MPI_Bcast(told, 2, MPI_DOUBLE, 0, world->comm), "compare");
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, &machines, 1, MPI_INT, MPI_SUM, world->comm),
            "compare");
    }
    if (status == TW_OK) {
        status = most_of_all(ctx, world, &memory);
    }
    if (status == TW_OK) {
        status =
            twi_probe_together(ctx, world, kernel, PROBED, PROBED, goal->threads, &rate, &crowd);
    }
    if (status == TW_OK) {
        status = find_output(ctx, world, plan, goal, rows / world->size, crowd, &output);
    }
    out->method = plan->method;
    out->machines = machines;
    out->work_type = plan->work_type;
    out->memory = memory;
    out->filled = 1;
    out->seconds_compute = told[0] * (told[1] + (1 - told[1]) / world->size) * crowd;
    out->seconds_output = output;
    out->ideal = told[0] / world->size / fmax(out->seconds_compute, 1e-9);
    return status;
}
