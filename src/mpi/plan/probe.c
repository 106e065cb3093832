/* See probe.h. The update is the one of the closure, packing included, on rows of tiles as long as
 * the run has them, and by the clock on the wall: ranks that take turns on a processor, or share
 * its memory with others, are as slow here as they will be in the run. */
#include "mpi/plan/probe.h"

#include "apsp/closure/layout.h"
#include "apsp/closure/tile.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "io/temporary.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define UPDATE_SECONDS 0.25 /* several turns of ranks that share a processor */
#define MOST_COLUMNS 4096   /* of a row of tiles that is updated */
#define CASTS 4
#define CAST_MOST (INT64_C(1) << 24) /* bytes of a broadcast that is tried */
#define WRITTEN (1 << 22)            /* bytes of each rank */
#define WRITE_GUESS 1e9

/* What one thread works on, and the right operand that all of them share. */
typedef struct bench {
    twi_panel a, b;
    char *c, *raw;
} bench;

static void place(twi_layout *at, bench *out, const twi_minplus_kernel *kernel, int64_t block,
                  int64_t columns)
{
    const uint64_t size = tw_type_size(kernel->type);
    twi_place_a(at, &out->a, kernel, twi_close_unit(kernel), block);
    twi_place_b(at, &out->b, kernel, columns, block);
    out->c = twi_place(at, (uint64_t)(TWI_ROWS_AT_ONCE * columns) * size);
    out->raw = twi_place(
        at, (uint64_t)(block * (block > TWI_ROWS_AT_ONCE ? block : TWI_ROWS_AT_ONCE)) * size);
}

/* One task of a round: pack a chunk of the column, update its rows. */
static void update_once(const twi_minplus_kernel *kernel, bench *on, int64_t block, int64_t columns)
{
    (void)twi_pack_a(kernel, &on->a, TWI_ROWS_AT_ONCE, block, on->raw, block, 1);
    for (int64_t at = 0; at < columns; at += block) {
        const int64_t width = columns - at < block ? columns - at : block;
        twi_product(kernel, &on->a, TWI_ROWS_AT_ONCE, &on->b, at, width,
                    on->c + (uint64_t)at * tw_type_size(kernel->type), columns, TWI_NO_DIAGONAL);
    }
}

tw_status twi_probe_rate(tw_context *ctx, const twi_minplus_kernel *kernel, int64_t block,
                         int64_t columns, int threads, double *rate, double *alone)
{
    twi_layout at = {NULL, 0};
    bench measured = {0};
    void *memory = NULL;
    columns = columns < MOST_COLUMNS ? columns : MOST_COLUMNS;
    columns = columns > block ? columns / block * block : block;
    place(&at, &measured, kernel, block, columns);
    const uint64_t each = at.used;
    tw_status status = twi_alloc_zeroed(ctx, &memory, (uint64_t)threads, each, "a measurement");
    if (status != TW_OK) {
        return status;
    }
    const double chunk = (double)TWI_ROWS_AT_ONCE * (double)columns * (double)block;
    double done = 0, busy = 0;
    const double began = twi_seconds();
#pragma omp parallel num_threads(twi_team(threads)) reduction(+ : done, busy)
    {
        twi_layout mine = {(char *)memory + (uint64_t)twi_thread_id() * each, 0};
        bench on = {0};
        place(&mine, &on, kernel, block, columns);
        twi_pack_b(kernel, &on.b, 0, columns, block, on.c, 0);
        const double started = twi_thread_seconds();
        do {
            update_once(kernel, &on, block, columns);
            done += chunk;
        } while (twi_seconds() - began < UPDATE_SECONDS);
        busy += twi_thread_seconds() - started;
    }
    *rate = done / (twi_seconds() - began);
    *alone = busy > 0 ? done / busy * threads : *rate;
    twi_free(memory);
    return TW_OK;
}

/* Seconds to close a tile, on one thread. */
static tw_status probe_tile(tw_context *ctx, const twi_minplus_kernel *kernel, int64_t block,
                            double *seconds)
{
    twi_layout at = {NULL, 0};
    bench on = {0};
    void *memory = NULL;
    place(&at, &on, kernel, block, block);
    tw_status status = twi_alloc_zeroed(ctx, &memory, at.used, 1, "a measurement");
    if (status == TW_OK) {
        at = (twi_layout){memory, 0};
        place(&at, &on, kernel, block, block);
        const double began = twi_thread_seconds();
        twi_close_tile(kernel, &on.a, &on.b, on.raw, block, block, block);
        *seconds = twi_thread_seconds() - began;
    }
    twi_free(memory);
    return status;
}

/* Seconds until the ranks of a row (or column) of the grid have `bytes` of one of them, while all
 * rows (or columns) do so. */
static tw_status probe_cast(tw_context *ctx, const twi_grid *grid, MPI_Comm comm, int64_t bytes,
                            double *seconds)
{
    int ranks = 1;
    char *data = NULL;
    const int64_t some = bytes < CAST_MOST ? bytes : CAST_MOST;
    *seconds = 0;
    (void)MPI_Comm_size(comm, &ranks);
    tw_status status = twi_alloc_zeroed(ctx, &data, (uint64_t)some, 1, "a measurement");
    status = twi_world_agree(ctx, grid->world, status);
    for (int i = 0; i <= CASTS && status == TW_OK && ranks > 1; i++) { /* the first is a warm-up */
        MPI_Request request = MPI_REQUEST_NULL;
        int root = i % ranks;
        (void)MPI_Barrier(comm);
        const double began = twi_seconds();
        status = twi_mpi_check(ctx, MPI_Ibcast(data, (int)some, MPI_BYTE, root, comm, &request),
                               "try a broadcast");
        if (status == TW_OK) {
            status = twi_mpi_check(ctx, MPI_Wait(&request, MPI_STATUS_IGNORE), "try a broadcast");
        }
        (void)MPI_Barrier(comm);
        *seconds += i > 0 ? (twi_seconds() - began) / CASTS : 0;
    }
    twi_free(data);
    *seconds *= (double)bytes / (double)(some > 0 ? some : 1);
    return status;
}

tw_status twi_probe_machines(tw_context *ctx, twi_machines *out, const twi_world *world,
                             int threads)
{
    MPI_Comm node = MPI_COMM_NULL;
    int rank = 0;
    *out = (twi_machines){1, 1, 1};
    tw_status status = twi_mpi_check(
        ctx, MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
        "find the ranks of a machine");
    if (status != TW_OK) {
        return status;
    }
    (void)MPI_Comm_rank(node, &rank);
    (void)MPI_Comm_size(node, &out->here);
    (void)MPI_Comm_free(&node);
    const int own = twi_processor_count();
    const bool bound = own < (int)sysconf(_SC_NPROCESSORS_ONLN);
    out->turns = fmax(threads / (bound ? own : (double)own / out->here), 1);
    out->count = rank == 0;
    return twi_mpi_check(ctx,
                         MPI_Allreduce(MPI_IN_PLACE, &out->count, 1, MPI_INT, MPI_SUM, world->comm),
                         "count machines");
}

tw_status twi_probe_casts(tw_context *ctx, twi_pace *out, const twi_grid *grid,
                          const twi_mesh *mesh)
{
    const int64_t row = mesh->block * ((mesh->n + grid->cols - 1) / grid->cols) * mesh->element;
    const int64_t col = mesh->block * ((mesh->n + grid->rows - 1) / grid->rows) * mesh->element;
    const int64_t tile = mesh->block * mesh->block * mesh->element;
    double seconds[3] = {0};
    tw_status status = probe_cast(ctx, grid, grid->down, row, &seconds[0]);
    if (status == TW_OK) {
        status = probe_cast(ctx, grid, grid->across, col, &seconds[1]);
    }
    if (status == TW_OK) {
        status =
            probe_cast(ctx, grid, grid->cols > 1 ? grid->across : grid->down, tile, &seconds[2]);
    }
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, seconds, 3, MPI_DOUBLE, MPI_SUM, grid->world->comm),
            "compare");
    }
    out->cast = (seconds[0] + seconds[1]) / grid->world->size * (mesh->symmetric ? 1.5 : 1);
    out->tile_cast = seconds[2] / grid->world->size;
    return status;
}

tw_status twi_probe_together(tw_context *ctx, const twi_world *world,
                             const twi_minplus_kernel *kernel, int64_t block, int64_t columns,
                             int threads, double *rate, double *crowd)
{
    double rates[2] = {0}; /* on the wall, alone */
    (void)MPI_Barrier(world->comm);
    tw_status status = twi_probe_rate(ctx, kernel, block, columns, threads, &rates[0], &rates[1]);
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, rates, 2, MPI_DOUBLE, MPI_SUM, world->comm),
            "compare");
    }
    *rate = rates[0] / world->size;
    *crowd = fmax(rates[1] / rates[0], 1);
    return status;
}

tw_status twi_probe_pace(tw_context *ctx, twi_pace *out, const twi_machines *machines,
                         const twi_grid *grid, const twi_minplus_kernel *kernel,
                         const twi_mesh *mesh, int threads)
{
    const twi_world *world = grid->world;
    *out = (twi_pace){.copies = machines->count < world->size, .turns = machines->turns};
    tw_status status = probe_tile(ctx, kernel, mesh->block, &out->tile);
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = twi_probe_together(ctx, world, kernel, mesh->block,
                                    (mesh->n + grid->cols - 1) / grid->cols, threads, &out->rate,
                                    &out->crowd);
    }
    if (status == TW_OK) { /* the slowest */
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, &out->tile, 1, MPI_DOUBLE, MPI_MAX, world->comm),
            "compare");
    }
    if (status == TW_OK) {
        out->tile *= fmax(out->crowd / out->turns, 1);
        status = twi_probe_casts(ctx, out, grid, mesh);
    }
    return status;
}

/* Bytes per second of this rank. */
static double write_some(const char *path)
{
    static const char zeros[1 << 16];
    char name[PATH_MAX + TWI_TEMPORARY_NAME];
    twi_temporary file;
    if (strlen(path) >= PATH_MAX || twi_temporary_open(&file, name, path, false) != 0) {
        return WRITE_GUESS;
    }
    const double began = twi_seconds();
    double written = 0;
    ssize_t some = 1;
    while (written < WRITTEN && some > 0) {
        some = write(file.fd, zeros, sizeof zeros);
        written += some > 0 ? (double)some : 0;
    }
    const double spent = twi_seconds() - began;
    twi_temporary_discard(&file, name);
    return written > 0 && spent > 0 ? written / spent : WRITE_GUESS;
}

tw_status twi_probe_write(tw_context *ctx, const twi_world *world, const char *path, double *rate)
{
    (void)MPI_Barrier(world->comm);
    *rate = write_some(path);
    tw_status status = twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, rate, 1, MPI_DOUBLE, MPI_SUM, world->comm), "compare");
    *rate /= world->size;
    return status;
}
