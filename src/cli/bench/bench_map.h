/* tilewright bench map: see bench_map.c. */
#ifndef CLI_BENCH_MAP_H
#define CLI_BENCH_MAP_H

#include "frame/job.h"

typedef struct cli_map_bench {
    const int64_t *sides; /* of square arrays */
    int side_count;
    const int64_t *threads; /* 0: all */
    int thread_count;
    int repeat;
    bool json;
    double load; /* of the machine before; -1: unknown */
} cli_map_bench;

TW_CHECKED tw_status cli_bench_map(cli_job *job, const cli_map_bench *wanted);

#endif
