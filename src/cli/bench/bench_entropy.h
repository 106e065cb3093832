/* tilewright bench entropy: see bench_entropy.c. */
#ifndef CLI_BENCH_ENTROPY_H
#define CLI_BENCH_ENTROPY_H

#include "frame/job.h"

typedef struct cli_entropy_bench {
    const int64_t *sides; /* of square images */
    int side_count;
    const int64_t *threads; /* 0: all */
    int thread_count;
    int repeat;
    bool json;
    double load; /* of the machine before; -1: unknown */
} cli_entropy_bench;

TW_CHECKED tw_status cli_bench_entropy(cli_job *job, const cli_entropy_bench *wanted);

#endif
