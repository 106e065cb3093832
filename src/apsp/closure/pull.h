/*
 * The closure of a small matrix that came from few arcs. Row u is the minimum of itself and, for
 * each arc u -> v, row v with the weight of the arc added: rows pull from their neighbours until
 * none of them changes, in a few passes where closing the tile would take a step for each vertex. A
 * row pulls only from those that have changed since it last did; passes go through the vertices up
 * and down in turn, so that a chain in either direction takes two.
 *
 * Of whole numbers the entry (u, v) is added, which may be less than the arc. Entries below the
 * kernel's cap are the distances, as those of a closure are, whatever the order: each is the length
 * of a walk, and where nothing changes any more no arc can shorten one.
 *
 * Of floats the weight itself is: rows come down to the largest solution of d(u, t) = min over v of
 * the rounded w(u, v) + d(v, t), for weights >= 0, and since rounding is monotone the order of the
 * rows cannot change it. Its last bits may differ from a closure's, and those of (u, t) from those
 * of (t, u).
 */
#ifndef TWI_APSP_CLOSURE_PULL_H
#define TWI_APSP_CLOSURE_PULL_H

#include "apsp/closure/cpu.h"
#include "apsp/shared/plan.h"

#define TWI_PULL_VERTICES 64 /* at most */

/* Whether it is the faster way: vertices, arcs and the type of the matrix decide. */
bool twi_pull_pays(const tw_graph *graph, const twi_work *work);

/* Whether it may be taken for floats, which it adds up in another order than a closure does: who
 * asked for a closure, and what is symmetric, has the closure's. */
bool twi_pull_may(const tw_apsp_plan *plan, const twi_work *work, bool symmetric);

/* Close `work`, into which the arcs of the graph were put, in place. */
void twi_pull(const tw_graph *graph, const twi_work *work);

#endif
