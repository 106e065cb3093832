/* See parts.h. A row's numbers are zero bits on all ranks but the one that has it: a bitwise or
 * moves them without touching them, and they are added up in the order of the rows afterwards. */
#include "mpi/shared/parts.h"

#include <limits.h>

#define ROWS_AT_ONCE (1 << 20)
#define ENTRIES_AT_ONCE (1 << 26)

static tw_status unite_summary(tw_context *ctx, const twi_world *world, tw_apsp_summary *summary)
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

static tw_status unite_nearest(tw_context *ctx, const twi_world *world, tw_apsp_nearest *nearest)
{
    const twi_nearest_part part = twi_nearest_part_of(nearest);
    int64_t entries[2] = {part.entry_count, -part.entry_count};
    const char *what = "put the nearest vertices together";
    tw_status status = twi_mpi_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, entries, 2, MPI_INT64_T, MPI_MIN, world->comm), what);
    if (status == TW_OK && entries[0] != -entries[1]) {
        return tw_fail(ctx, TW_ERR_ARGUMENT,
                       "ranks count different numbers of nearest vertices; create them alike");
    }
    for (int64_t at = 0; at < part.entry_count && status == TW_OK; at += ENTRIES_AT_ONCE) {
        const int64_t left = part.entry_count - at;
        const int some = (int)(left < ENTRIES_AT_ONCE ? left : ENTRIES_AT_ONCE);
        status = twi_mpi_check(ctx,
                               MPI_Allreduce(MPI_IN_PLACE, (uint32_t *)part.vertices + at, some,
                                             MPI_UINT32_T, MPI_BOR, world->comm),
                               what);
        if (status == TW_OK) {
            status = twi_mpi_check(ctx,
                                   MPI_Allreduce(MPI_IN_PLACE, (uint64_t *)part.distances + at,
                                                 some, MPI_UINT64_T, MPI_BOR, world->comm),
                                   what);
        }
    }
    return status;
}

void twi_mpi_collect(const twi_mpi_collectors *to, const int64_t *places, const tw_apsp_plan *asked,
                     tw_sink *sinks, int32_t *used)
{
    if (to->summary != NULL) {
        twi_summary_part_sink(to->summary, places, asked, &sinks[(*used)++]);
    }
    for (int i = 0; i < 2; i++) {
        if (to->nearest[i] != NULL) {
            twi_nearest_part_sink(to->nearest[i], places, twi_plan_rows(asked), &sinks[(*used)++]);
        }
    }
}

tw_status twi_mpi_collected(tw_context *ctx, const twi_world *world, const twi_mpi_collectors *to,
                            tw_status status)
{
    if (status == TW_OK && to->summary != NULL) {
        status = twi_world_agree(ctx, world, unite_summary(ctx, world, to->summary));
    }
    for (int i = 0; i < 2; i++) {
        if (status == TW_OK && to->nearest[i] != NULL) {
            status = twi_world_agree(ctx, world, unite_nearest(ctx, world, to->nearest[i]));
        }
    }
    if (status != TW_OK && to->summary != NULL) {
        twi_summary_part_forget(to->summary);
    }
    for (int i = 0; i < 2; i++) {
        if (status != TW_OK && to->nearest[i] != NULL) {
            twi_nearest_part_forget(to->nearest[i]);
        }
    }
    return status;
}
