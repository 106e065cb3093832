/* Entries of a matrix of distances, of any type. */
#ifndef TWI_APSP_SHARED_DISTANCE_H
#define TWI_APSP_SHARED_DISTANCE_H

#include "base/matrix.h"
#include "graph/no_edge.h"

/* Entry j of a row: +inf where there is no path. */
static inline double twi_distance(const void *row, tw_type type, int64_t j)
{
    double value = twi_element(row, type, j);
    return value >= twi_no_edge(type) ? __builtin_inf() : value;
}

#endif
