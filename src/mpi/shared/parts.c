/* See parts.h. A row's numbers are zero bits on all ranks but the one that has it: a bitwise or
 * moves them without touching them, and they are added up in the order of the rows afterwards. */
#include "mpi/shared/parts.h"

#include <limits.h>

#define ROWS_AT_ONCE (1 << 20)

tw_status twi_mpi_unite_parts(tw_context *ctx, const twi_world *world, tw_apsp_summary *summary)
{
    twi_summary_part part = twi_summary_part_of(summary, INT_MIN);
    int32_t exponent = part.exponent;
    const char *what = "put the summary together";
    tw_status status = twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, &exponent, 1, MPI_INT32_T, MPI_MAX, world->comm), what);
    part = twi_summary_part_of(summary, exponent);
    int64_t cells[2] = {part.cell_count, -part.cell_count};
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, cells, 2, MPI_INT64_T, MPI_MIN, world->comm), what);
    }
    if (status == TW_OK && cells[0] != -cells[1]) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "some ranks have a summary with a histogram and some without; create them "
                       "alike");
    }
    for (int64_t row = 0; row < part.row_count && status == TW_OK; row += ROWS_AT_ONCE) {
        const int64_t left = part.row_count - row, rows = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        status = twi_mpi_check(ctx,
                               MPI_Allreduce(MPI_IN_PLACE, (char *)part.rows + row * part.row_bytes,
                                             (int)(rows * part.row_bytes), MPI_BYTE, MPI_BOR,
                                             world->comm),
                               what);
    }
    if (status == TW_OK && part.cell_count > 0) {
        status = twi_mpi_check(ctx,
                               MPI_Allreduce(MPI_IN_PLACE, part.cells, (int)part.cell_count,
                                             MPI_INT64_T, MPI_SUM, world->comm),
                               what);
    }
    int64_t farthest = status == TW_OK ? twi_summary_part_farthest(summary) : -1;
    if (status == TW_OK) {
        status = twi_mpi_check(
            ctx, MPI_Allreduce(MPI_IN_PLACE, &farthest, 1, MPI_INT64_T, MPI_MAX, world->comm),
            what);
    }
    return status == TW_OK ? twi_summary_part_finish(ctx, summary, farthest) : status;
}
