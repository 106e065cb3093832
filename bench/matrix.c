/*
 * All pairs into a matrix in memory whose pages have been used before, by processor time: what a
 * program that calls the library pays. bench/sparse.py builds and runs it.
 *
 *     matrix GRAPH THREADS METHOD [RAW]
 *
 * prints one line of JSON: the minimum of seven runs in processor seconds of all threads, planning
 * included (for a sweep, its order), and then with the order given. RAW receives the matrix.
 */
#include "tilewright.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 7

static double processor_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static tw_status measure(tw_context *ctx, tw_matrix *out, const tw_graph *graph,
                         const tw_apsp_options *opts, double *best)
{
    tw_status status = TW_OK;
    *best = 1e300;
    for (int run = 0; run < RUNS && status == TW_OK; run++) {
        double began = processor_seconds();
        status = tw_apsp(ctx, out, graph, opts);
        double taken = processor_seconds() - began;
        *best = taken < *best ? taken : *best;
    }
    return status;
}

static int fail(tw_context *ctx)
{
    fprintf(stderr, "matrix: %s\n", tw_last_error(ctx));
    return 1;
}

int main(int argc, char **argv)
{
    tw_context *ctx = NULL;
    tw_graph *graph = NULL;
    tw_apsp_order *order = NULL;
    tw_graph_info about = TW_GRAPH_INFO_INIT;
    tw_apsp_options opts = TW_APSP_OPTIONS_INIT;
    double cold = 0;
    double given = 0;
    if (argc < 4 || tw_context_create(&ctx) != TW_OK) {
        fprintf(stderr, "usage: matrix GRAPH THREADS METHOD [RAW]\n");
        return 2;
    }
    if (tw_set_threads(ctx, (int32_t)strtol(argv[2], NULL, 10)) != TW_OK ||
        tw_apsp_method_parse(&opts.method, argv[3]) != TW_OK ||
        tw_graph_read(ctx, &graph, argv[1], NULL) != TW_OK ||
        tw_graph_describe(graph, &about) != TW_OK) {
        return fail(ctx);
    }
    const size_t bytes = (size_t)about.vertices * (size_t)about.vertices * sizeof(int32_t);
    tw_matrix out = {aligned_alloc(64, (bytes / 64 + 1) * 64), about.vertices, about.vertices,
                     about.vertices, TW_I32};
    if (out.data == NULL) {
        return 1;
    }
    memset(out.data, 0xA5, bytes);
    if (measure(ctx, &out, graph, &opts, &cold) != TW_OK ||
        tw_apsp_order_create(ctx, &order, graph) != TW_OK) {
        return fail(ctx);
    }
    opts.order = order;
    if (measure(ctx, &out, graph, &opts, &given) != TW_OK) {
        return fail(ctx);
    }
    if (argc > 4) {
        FILE *file = fopen(argv[4], "wb");
        if (file == NULL || fwrite(out.data, 1, bytes, file) != bytes || fclose(file) != 0) {
            return 1;
        }
    }
    printf("{\"cold\": %.6f, \"order_given\": %.6f}\n", cold, given);
    free(out.data);
    tw_apsp_order_destroy(order);
    tw_graph_destroy(graph);
    tw_context_destroy(ctx);
    return 0;
}
