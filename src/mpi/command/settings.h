/* What the command line of tilewright-mpi may say. */
#ifndef MPI_COMMAND_SETTINGS_H
#define MPI_COMMAND_SETTINGS_H

#include "cli/graph/answers.h"
#include "cli/graph/reading.h"

typedef struct mpi_settings {
    cli_reading reading;
    const char *output;
    const char *format;
    tw_type type;
    tw_type work_type;
    tw_apsp_method method;
    int64_t block;
    int32_t no_cache;
    const char *sources;
    const char *targets;
    double cutoff; /* NaN: none */
    const char *predecessors;
    int32_t in_lines; /* --long */
    int32_t labels;
    int64_t verify;
    const char *checkpoint;
    double every; /* seconds */
    int32_t summary;
    int32_t explain;
    cli_answers answers;
    const char *ranks; /* of a cluster that is only described */
    int64_t vertices;
    double rate;    /* G relaxations/s */
    double link;    /* GB/s */
    double latency; /* us */
} mpi_settings;

extern const mpi_settings mpi_defaults;
extern const cli_group mpi_groups[];
extern const cli_operand mpi_operands[];

#endif
