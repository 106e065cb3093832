/*
 * What the programs that time ways and sweeps on a GPU share: ending with a sentence, a sink that
 * counts rows and drops them, and the check of some rows against plain searches.
 */
#ifndef BENCH_GPU_ROWS_H
#define BENCH_GPU_ROWS_H

#include "base/random.h"
#include "tilewright.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECKED 48 /* sources whose rows are searched for */

static tw_context *context;

static void must(tw_status status)
{
    if (status != TW_OK) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, tw_last_error(context));
        exit(1);
    }
}

static void claim(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
        exit(1);
    }
}

static tw_status begin(void *self, tw_context *c, const tw_shape *shape)
{
    (void)self;
    (void)c;
    (void)shape;
    return TW_OK;
}

static tw_status end(void *self, tw_context *c)
{
    (void)self;
    (void)c;
    return TW_OK;
}

static void give_up(void *self, tw_context *c)
{
    (void)self;
    (void)c;
}

static tw_status drop(void *self, tw_context *c, int64_t first, int64_t count, const void *rows,
                      int64_t stride)
{
    (void)c;
    (void)first;
    (void)stride;
    (void)rows;
    *(int64_t *)self += count;
    return TW_OK;
}

/* Some rows against plain searches, on the context's device. */
static void check_rows(const tw_graph *graph, int64_t n, const tw_apsp_options *asked)
{
    int32_t sources[CHECKED];
    tw_apsp_options opts = *asked;
    tw_apsp_verifier *verifier = NULL;
    tw_apsp_plan *plan = NULL;
    tw_sink sink = TW_SINK_INIT;
    int64_t rows = 0;
    for (int i = 0; i < CHECKED; i++) {
        sources[i] = (int32_t)twi_random_below(twi_random_at(3, (uint64_t)i), (uint64_t)n);
    }
    opts.sources = sources;
    opts.source_count = CHECKED;
    opts.summary_only = 0;
    must(tw_apsp_plan_create(context, &plan, graph, &opts));
    must(tw_apsp_verifier_create(context, &verifier, graph, &opts, 0, 1));
    must(tw_apsp_verifier_sink(verifier, &sink));
    must(tw_apsp_plan_run(context, plan, &sink, 1, NULL, NULL));
    must(tw_apsp_verifier_result(context, verifier, &rows));
    claim(rows == CHECKED, "not all rows were compared");
    tw_sink_destroy(&sink);
    tw_apsp_verifier_destroy(verifier);
    tw_apsp_plan_destroy(plan);
}

#endif
