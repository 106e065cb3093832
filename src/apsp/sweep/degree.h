/*
 * Orders of elimination by minimum degree: whichever vertex has the fewest neighbours left goes
 * next, and those become neighbours of each other. Best where there is nothing to dissect: leaves
 * of a dissection, and graphs of many small vertices around a core.
 */
#ifndef TWI_APSP_SWEEP_DEGREE_H
#define TWI_APSP_SWEEP_DEGREE_H

#include "apsp/sweep/links.h"
#include "graph/graph.h"

/* Some vertices of a graph whose lists are whole. `number` is scratch for all of its vertices, of
 * which only those of the part are used: parts without a common vertex can be ordered at a time. */
typedef struct twi_part {
    const twi_links *links;
    int32_t *list; /* the vertices */
    int64_t count;
    const int32_t *tag; /* of all vertices: those of the part have `part` */
    int32_t part;
    int32_t *number;
    uint8_t *begins; /* of each place in the list: 1 where a group begins that goes together */
} twi_part;

/* Arrange the list in that order, and mark its groups. Neighbours of the part that are not in it
 * stand until all of it has gone. Where `columns` sources would take more than *steps for the part
 * (+inf: any number), the list stays as it was and *steps becomes +inf, else what they take. */
TW_CHECKED tw_status twi_minimum_degree(tw_context *ctx, const twi_part *part, double columns,
                                        double *steps);
/* Bytes that takes for a part with so many links, of which so many leave it. */
uint64_t twi_minimum_degree_memory(int64_t count, int64_t links, int64_t outward);

#endif
