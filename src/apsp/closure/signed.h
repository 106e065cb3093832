/*
 * Negative weights of a small graph, closed as they are. Floyd-Warshall needs no potentials: as
 * long as no cycle is negative the diagonal stays 0. A negative cycle of whole numbers makes it
 * negative, and since a minimum never rises it stays so, even where sums of such a cycle wrap; one
 * of floats may be so little below 0 that rounding hides it, and the distances are then within the
 * bound of the error. At 64 vertices this takes a quarter of the time that finding potentials,
 * adding them to the weights and taking them off the distances does (Neoverse V1, November 2026).
 *
 * Whole numbers are closed in i32 with M = 2^30 - 1 where there is no arc. A walk over such an
 * entry takes it as an arc of weight M, and with n * max |w| <= M / 8 stays above M / 2, while one
 * over arcs stays below M / 8: the two cannot be confused. Floats are closed in f64, where infinity
 * stays what it is.
 */
#ifndef TWI_APSP_CLOSURE_SIGNED_H
#define TWI_APSP_CLOSURE_SIGNED_H

#include "base/context.h"
#include "graph/graph.h"

#define TWI_SIGNED_VERTICES 64 /* at most: one tile */

/* Whether a result of `type` can be made so. */
bool twi_signed_suits(const tw_graph *graph, tw_type type);

/* All distances into `out`, n x n. *done is false, and `out` as it was, where the diagonal does not
 * stay 0 or `out` could not hold a distance: potentials then tell a negative cycle from rounding,
 * and delivery which distance. */
TW_CHECKED tw_status twi_signed_close(tw_context *ctx, tw_matrix *out, const tw_graph *graph,
                                      bool *done);

#endif
