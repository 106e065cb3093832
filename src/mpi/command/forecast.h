/* What --explain shows: the forecast of this job, or a table of clusters that are only described.
 */
#ifndef MPI_COMMAND_FORECAST_H
#define MPI_COMMAND_FORECAST_H

#include "tilewright-mpi.h"

#include "frame/job.h"
#include "frame/report.h"

/* What has been done when a forecast is made, and a run does, too. */
typedef struct mpi_begun {
    double start; /* seconds: MPI */
    double read;  /* the graph */
} mpi_begun;

/* A forecast in words, by `print` (standard output) or to the job's news. */
void mpi_forecast_say(const cli_job *job, const tw_mpi_forecast *forecast,
                      const tw_graph_info *about, const mpi_begun *begun, bool print);
/* The same as members of a JSON object, which is named. */
void mpi_forecast_report(cli_report *json, const char *name, const tw_mpi_forecast *forecast,
                         const mpi_begun *begun);

/* A cluster for each number of a list such as 64,256,4096. */
TW_CHECKED tw_status mpi_forecast_table(tw_context *ctx, const char *list,
                                        const tw_mpi_cluster *cluster, bool json);

#endif
