/*
 * Lists of neighbours that may change while an order is made: a copy of the skeleton's. Those of v
 * are to[begin[v]] ... to[begin[v] + count[v] - 1].
 */
#ifndef TWI_APSP_SWEEP_LINKS_H
#define TWI_APSP_SWEEP_LINKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct twi_links {
    int64_t n;
    const int64_t *begin;
    int32_t *count;
    int32_t *to;
} twi_links;

#endif
