/* A closure on ranks that are only described: tw_mpi_predict. */
#include "tilewright-mpi.h"

#include "apsp/closure/cpu.h"
#include "apsp/closure/product.h"
#include "base/given.h"
#include "base/memory.h"
#include "mpi/closure/closure.h"
#include "mpi/plan/estimate.h"
#include "mpi/plan/model.h"
#include "mpi/plan/probe.h"

#include <math.h>

#define RANKS_MOST (1 << 24)
#define TILE_SLOWER 3.0 /* times as long as an update of as many steps, on one thread */

static tw_status check(tw_context *ctx, const tw_mpi_cluster *c)
{
    if (c->vertices < 1 || c->vertices > INT32_MAX) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%lld vertices: expected 1 to 2147483647",
                       (long long)c->vertices);
    }
    if (c->ranks < 1 || c->ranks > RANKS_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "%d ranks: expected 1 to %d", (int)c->ranks,
                       RANKS_MOST);
    }
    if (!(c->rate >= 0) || !isfinite(c->rate)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "rate is %g; use a number above 0, or 0 to measure it here", c->rate);
    }
    if (!(c->bandwidth > 0)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "bandwidth is %g; use a number above 0", c->bandwidth);
    }
    if (!(c->latency >= 0) || !isfinite(c->latency)) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "latency is %g; use 0 or more", c->latency);
    }
    if (c->block < 0 || c->block > TWI_DEPTH_MOST) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "block is %d; use 1 to %d, or 0 for automatic",
                       (int)c->block, TWI_DEPTH_MOST);
    }
    if (c->flat < 0 || c->flat > 1) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "flat is %d; use 0 or 1", (int)c->flat);
    }
    return TW_OK;
}

/* Bytes of the rank with the most. */
static uint64_t need(const tw_mpi_cluster *c, const twi_minplus_kernel *kernel, tw_type type,
                     int64_t block, int ranks)
{
    const int rows = twi_grid_rows(ranks);
    const bool longer = c->undirected != 0 && c->vertices > block; /* later rows are */
    const twi_grid grid = {.rows = rows,
                           .cols = ranks / rows,
                           .row = longer ? rows - 1 : 0,
                           .n = c->vertices,
                           .block = block,
                           .tiles = (c->vertices + block - 1) / block};
    return twi_closure_need(&grid, 0, kernel, type, 0, c->undirected != 0, 1, false);
}

/* The next power of two of ranks that have enough memory; 0: none has. */
static int enough(const tw_mpi_cluster *c, const twi_minplus_kernel *kernel, tw_type type,
                  int64_t block, uint64_t memory)
{
    for (int ranks = 1; ranks <= RANKS_MOST; ranks *= 2) {
        if (ranks > c->ranks && need(c, kernel, type, block, ranks) <= memory) {
            return ranks;
        }
    }
    return 0;
}

static tw_status check_memory(tw_context *ctx, const tw_mpi_cluster *c,
                              const twi_minplus_kernel *kernel, tw_type type, int64_t block,
                              uint64_t wanted)
{
    const uint64_t memory = c->memory > 0 ? c->memory : tw_memory_limit(ctx);
    char each[32], there[32];
    if (wanted <= memory) {
        return TW_OK;
    }
    const int ranks = enough(c, kernel, type, block, memory);
    twi_bytes(each, (double)wanted);
    twi_bytes(there, (double)memory);
    return ranks > 0 ? tw_fail(ctx, TW_ERR_MEMORY,
                               "%lld vertices in %s need %s of memory in each of %d ranks, which "
                               "have %s; %d ranks would do",
                               (long long)c->vertices, tw_type_name(kernel->type), each,
                               (int)c->ranks, there, ranks)
                     : tw_fail(ctx, TW_ERR_MEMORY,
                               "%lld vertices in %s need %s of memory in each of %d ranks, which "
                               "have %s; more ranks do not help",
                               (long long)c->vertices, tw_type_name(kernel->type), each,
                               (int)c->ranks, there);
}

tw_status tw_mpi_predict(tw_context *ctx, const tw_mpi_cluster *cluster, tw_mpi_forecast *out)
{
    tw_mpi_cluster c = TW_MPI_CLUSTER_INIT;
    tw_mpi_forecast seen = TW_MPI_FORECAST_INIT;
    twi_isa isa;
    tw_status status = TWI_REQUIRE(ctx, {"cluster", cluster}, {"out", out});
    if (status == TW_OK) {
        status = TWI_TAKE(ctx, tw_mpi_cluster, &c, cluster);
    }
    if (status == TW_OK) {
        status = TWI_CHECK_ROOM(ctx, tw_mpi_forecast, out);
    }
    if (status == TW_OK) {
        status = check(ctx, &c);
    }
    if (status == TW_OK) {
        status = twi_isa_resolve(ctx, &isa);
    }
    if (status != TW_OK) {
        return status;
    }
    const tw_type work = c.work_type == TW_AUTO ? TW_I32 : c.work_type;
    const tw_type type = c.type == TW_AUTO ? work : c.type;
    const twi_minplus_kernel *kernel = twi_minplus_kernel_find(isa, work);
    if (kernel == NULL || tw_type_size(type) == 0) {
        return tw_fail(ctx, TW_ERR_ARGUMENT, "no closure works in %s; use u8, u16, i32, f32 or f64",
                       tw_type_name(work));
    }
    const int64_t block = c.block > 0 ? twi_block_round(kernel, c.vertices, c.block)
                                      : twi_block_choose(kernel, c.vertices);
    const int rows = twi_grid_rows(c.ranks);
    double alone = 0;
    seen.memory = need(&c, kernel, type, block, c.ranks);
    status = check_memory(ctx, &c, kernel, type, block, seen.memory);
    if (status == TW_OK && c.rate == 0) {
        status = twi_probe_rate(ctx, kernel, block, c.vertices, 1, &alone, &c.rate);
    }
    if (status != TW_OK) {
        return status;
    }
    const twi_mesh mesh = {.n = c.vertices,
                           .block = block,
                           .element = (int64_t)tw_type_size(work),
                           .rows = rows,
                           .cols = c.ranks / rows,
                           .symmetric = c.undirected != 0,
                           .filled = 1};
    twi_pace pace = {.rate = c.rate, .turns = 1, .crowd = 1};
    const double b = (double)block;
    const twi_link link = {.bandwidth = c.bandwidth, .latency = c.latency, .flat = c.flat != 0};
    pace.tile = TILE_SLOWER * b * b * b / c.rate;
    twi_model_casts(&pace, &mesh, &link);
    twi_model_looks(&pace, &mesh, twi_mpi_closure_chunk(c.vertices / rows, 1), 1);
    pace.looks /= link.flat && c.ranks > 1 ? fmax(ceil(log2(fmax(mesh.rows, mesh.cols))), 1) : 1;
    const twi_rounds rounds = twi_model_rounds(&mesh, &pace);
    seen.ranks = c.ranks;
    seen.grid_rows = mesh.rows;
    seen.grid_cols = mesh.cols;
    seen.block = (int32_t)block;
    seen.threads = 1;
    seen.method = TW_APSP_METHOD_CLOSURE;
    seen.work_type = work;
    seen.type = type;
    seen.symmetric = mesh.symmetric;
    seen.rate = c.rate;
    seen.filled = 1;
    seen.ideal = rounds.ideal;
    seen.seconds_compute = rounds.compute;
    seen.seconds_exchange = rounds.exposed;
    TWI_GIVE(tw_mpi_forecast, out, &seen);
    return TW_OK;
}
