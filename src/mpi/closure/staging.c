/*
 * See staging.h. An MPI says at run time whether it knows the memory of GPUs: Open MPI by an
 * extension, MPICH and its like by a function of theirs. Which of them there is, for the kind of
 * GPU that this build has, CMake finds out.
 */
#include "mpi/closure/staging.h"

#include <stdlib.h>
#include <string.h>

#ifdef TWI_MPI_QUERY
#include <mpi-ext.h>
#endif

static int mpi_can(void)
{
#if defined TWI_MPI_QUERY
    return TWI_MPI_QUERY() == 1;
#elif defined TWI_MPI_GPU_KIND
    int yes = 0;
    return MPIX_GPU_query_support(TWI_MPI_GPU_KIND, &yes) == MPI_SUCCESS && yes != 0;
#else
    return 0;
#endif
}

tw_status twi_mpi_staging_choose(tw_context *ctx, const twi_world *world, bool *direct)
{
    const char *given = getenv("TW_MPI_STAGING");
    const bool forced = given != NULL && given[0] != '\0';
    const twi_told told = {"TW_MPI_STAGING", forced ? given : NULL};
    tw_status status = TW_OK;
    if (forced && strcmp(given, "always") != 0 && strcmp(given, "never") != 0) {
        status = tw_fail(ctx, TW_ERR_ARGUMENT,
                         "TW_MPI_STAGING=%.100s is unknown; use always or never", given);
    }
    status = twi_world_agree(ctx, world, status);
    if (status == TW_OK) {
        status = twi_world_same(ctx, world, &told, 1);
    }
    int all = forced ? strcmp(given, "never") == 0 : mpi_can();
    if (status == TW_OK) {
        status =
            twi_mpi_check(ctx, MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, world->comm),
                          "compare the ways to GPUs");
    }
    *direct = status == TW_OK && all != 0;
    return status;
}
