/*
 * What the programs that time calls on a GPU share: the context, ending with a sentence, and the
 * order of times.
 */
#ifndef BENCH_GPU_TIMED_H
#define BENCH_GPU_TIMED_H

#include "gpu/compat.h"
#include "gpu/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static tw_context *ctx;

static void must(tw_status status)
{
    if (status != TW_OK) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, tw_last_error(ctx));
        exit(1);
    }
}

static void must_run(cudaError_t error, const char *what)
{
    must(twi_gpu_check(ctx, (int)error, what));
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
