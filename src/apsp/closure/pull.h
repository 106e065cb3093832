/*
 * The closure of a small matrix of whole numbers that came from few arcs. Row u is the least of
 * itself and, for each arc u -> v, row v with the entry (u, v) added: rows pull from their
 * neighbours until none of them changes, in a few passes where closing the tile would take a step
 * for each vertex. A row pulls only from those that have changed since it last did; passes go
 * through the vertices up and down in turn, so that a chain in either direction takes two.
 *
 * Entries below the kernel's cap are the distances, as those of a closure are, whatever the order:
 * each is the length of a walk, and where nothing changes any more no arc can shorten one.
 */
#ifndef TWI_APSP_CLOSURE_PULL_H
#define TWI_APSP_CLOSURE_PULL_H

#include "apsp/closure/cpu.h"
#include "graph/graph.h"

#define TWI_PULL_VERTICES 64 /* at most */

/* Whether it is the faster way: vertices, arcs and the type of the matrix decide. */
bool twi_pull_pays(const tw_graph *graph, const twi_work *work);

/* Close `work`, into which the arcs of the graph were put, in place. */
void twi_pull(const tw_graph *graph, const twi_work *work);

#endif
