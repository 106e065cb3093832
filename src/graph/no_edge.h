/*
 * "No edge" in a matrix of adjacency. It is such a matrix's mark, not the type's: the same numbers
 * are ordinary values of an image. Small integers give up their largest value, i32 all from 2^30 -
 * 1 on, so that two weights can be added, wider ones that number alone; floats have +inf. Distances
 * take their "no path" from here (apsp/shared/distance.h), so that a matrix of distances can be
 * read as a graph.
 */
#ifndef TWI_GRAPH_NO_EDGE_H
#define TWI_GRAPH_NO_EDGE_H

#include "tilewright.h"

#define TWI_NO_EDGE_U8 UINT8_MAX
#define TWI_NO_EDGE_U16 UINT16_MAX
#define TWI_NO_EDGE_I16 INT16_MAX
#define TWI_NO_EDGE_I32 ((1 << 30) - 1)

/* The mark in that type; +inf if it is unknown. */
static inline double twi_no_edge(tw_type type)
{
    switch (type) {
    case TW_U8:
        return TWI_NO_EDGE_U8;
    case TW_U16:
        return TWI_NO_EDGE_U16;
    case TW_I16:
        return TWI_NO_EDGE_I16;
    case TW_I32:
    case TW_I64: /* which has one more: see adjacency.c */
        return TWI_NO_EDGE_I32;
    default:
        return __builtin_inf();
    }
}

#endif
