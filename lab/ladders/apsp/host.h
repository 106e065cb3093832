/*
 * What the ladders of shortest paths on GPUs share: a complete graph of n vertices with weights
 * from 1 to 1000, a check of a closure by searches on the CPU, and, for the ladders of several
 * GPUs, a graph in host memory with its right answer, which the library closes on so many devices.
 */
#ifndef LAB_LADDERS_APSP_HOST_H
#define LAB_LADDERS_APSP_HOST_H

#include "ladders/ladder.h"

/* n x n weights, 0 on the diagonal. */
void lab_complete_graph(tw_context *ctx, int32_t *weights, int64_t n, uint64_t seed);

/* Some rows of a closure of the graph against a search; TW_ERR_VERIFY names the first wrong one. */
TW_CHECKED tw_status lab_check_closure(tw_context *ctx, const int32_t *weights,
                                       const int32_t *closure, int64_t n);

typedef struct lab_apsp_host {
    tw_context *ctx;
    int64_t n;
    int32_t *input, *right, *output; /* n x n */
} lab_apsp_host;

/* On failure, too, lab_apsp_host_close frees what is there. The right answer is the library's on
 * one GPU, checked. */
TW_CHECKED tw_status lab_apsp_host_open(lab_apsp_host *out, tw_context *ctx, int64_t n,
                                        uint64_t seed);
void lab_apsp_host_close(lab_apsp_host *host); /* and make it empty */

/* The output from the input by the library on `count` devices. `share`: each has a share of the
 * matrix in 32 bits, even if it is the only one; else the library's own choice for the list. The
 * seconds do not hold copying the input to the output. */
TW_CHECKED tw_status lab_apsp_host_solve(lab_apsp_host *host, int32_t count, bool share,
                                         double *seconds);

#endif
