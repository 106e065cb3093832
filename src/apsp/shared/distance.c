/* "No path": the mark of a pair in a matrix of distances is that of an edge which is not there. */
#include "apsp/shared/distance.h"

_Static_assert(TW_APSP_INF_U8 == TWI_NO_EDGE_U8 && TW_APSP_INF_U16 == TWI_NO_EDGE_U16 &&
                   TW_APSP_INF_I32 == TWI_NO_EDGE_I32,
               "a matrix of distances is one of adjacency");

double tw_apsp_infinity(tw_type type)
{
    return twi_no_edge(type);
}
