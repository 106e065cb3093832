/* See grid.h. */
#include "mpi/closure/grid.h"

/* The divisor of `size` nearest below its root: few rows and many columns rather than the other way
 * round, because rows of a tile are adjacent in memory. */
int twi_grid_rows(int size)
{
    int rows = 1;
    for (int d = 1; d <= size / d; d++) {
        rows = size % d == 0 ? d : rows;
    }
    return rows;
}

tw_status twi_grid_open(tw_context *ctx, twi_grid *out, const twi_world *world, int64_t n,
                        int64_t block)
{
    *out = (twi_grid){.world = world,
                      .rows = twi_grid_rows(world->size),
                      .across = MPI_COMM_NULL,
                      .down = MPI_COMM_NULL,
                      .n = n,
                      .block = block,
                      .tiles = (n + block - 1) / block};
    out->cols = world->size / out->rows;
    out->row = world->rank / out->cols;
    out->col = world->rank % out->cols;
    tw_status status =
        twi_mpi_check(ctx, MPI_Comm_split(world->comm, out->row, out->col, &out->across),
                      "divide the ranks into a grid");
    if (status == TW_OK) {
        status = twi_mpi_check(ctx, MPI_Comm_split(world->comm, out->col, out->row, &out->down),
                               "divide the ranks into a grid");
    }
    return twi_world_agree(ctx, world, status);
}

void twi_grid_close(twi_grid *grid)
{
    if (grid->world == NULL) {
        return;
    }
    if (grid->across != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&grid->across);
    }
    if (grid->down != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&grid->down);
    }
}
