/*
 * What lists of edges say of themselves in comments before their first edge.
 *
 * Those from the KONECT collection begin with "% sym weighted". Their vertices count from 1; the
 * columns are the source, the target, the weight and a time, the last two if they are there.
 *
 * Those from SNAP say "# Undirected graph: NAME". A comment that only speaks of undirected edges is
 * worth a word, no more.
 */
#ifndef TWI_IO_GRAPH_REMARKS_H
#define TWI_IO_GRAPH_REMARKS_H

#include "io/graph/text.h"

typedef struct twi_remarks {
    int64_t first;   /* the number of the first vertex */
    bool undirected; /* "sym", "Undirected graph" */
    bool bipartite;  /* "bip": sources and targets are numbered separately */
    bool timed;      /* the first line of data has four columns, of which the third is a weight */
    int64_t spoken;  /* the line of a comment that speaks of undirected edges; 0: none does */
} twi_remarks;

/* What the text at `head`, its begin, says. */
twi_remarks twi_remarks_look(const twi_text *head);

#endif
