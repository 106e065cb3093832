/* Is a closure in a truncated integer type exact? The proof is in docs/methods.md. */
#ifndef TWI_APSP_CLOSURE_CERTIFICATE_H
#define TWI_APSP_CLOSURE_CERTIFICATE_H

#include "apsp/closure/cpu.h"
#include "graph/graph.h"

/*
 * *exact: every entry of the closed matrix is the true distance, where the type's cap means "no
 * path". True if no off-diagonal entry is at the cap; otherwise if and only if no source s and arc
 * u -> v have D[s][u] < cap <= D[s][v]. Takes one pass over the matrix and, where there are entries
 * at the cap, arcs * n / 256 steps on bits.
 */
TW_CHECKED tw_status twi_certify(tw_context *ctx, const tw_graph *graph, const twi_work *work,
                                 bool *exact);

/* The same of an i32 matrix that was closed in a type whose cap was lower: entries from `cap` on
 * are not known, and *exact tells that none of them has a path. */
TW_CHECKED tw_status twi_certify_below(tw_context *ctx, const tw_graph *graph, const twi_work *work,
                                       int32_t cap, bool *exact);

/* Bytes that it takes meanwhile. */
uint64_t twi_certificate_memory(int64_t n, int32_t threads);

#endif
