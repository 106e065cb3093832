/*
 * Lists of edges from the KONECT collection say what they are in their first line, a comment:
 * "% sym weighted". The columns are the source, the target, the weight and a time, the last two if
 * they are there.
 */
#ifndef TWI_IO_GRAPH_KONECT_H
#define TWI_IO_GRAPH_KONECT_H

#include "io/graph/text.h"

typedef struct twi_konect {
    bool undirected; /* "sym" */
    bool bipartite;  /* "bip": sources and targets are numbered each by themselves */
    bool timed;      /* the first line of data has four columns, of which the third is a weight */
} twi_konect;

/* What the text at `head`, its begin, says; nothing if it is no such list. */
twi_konect twi_konect_look(const twi_text *head);

#endif
