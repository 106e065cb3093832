/*
 * An order of elimination: which vertex goes when, in groups that go together. From the skeleton
 * alone, so it serves every set of weights.
 */
#ifndef TWI_APSP_SWEEP_ORDER_H
#define TWI_APSP_SWEEP_ORDER_H

#include "apsp/sweep/skeleton.h"

/* Who made an order. */
enum { TWI_ORDER_DISSECTION = 0, TWI_ORDER_METIS = 1, TWI_ORDER_DEGREE = 2, TWI_ORDER_MAKERS };
const char *twi_order_maker(int32_t maker);

typedef struct twi_order {
    int64_t n;
    int32_t maker;
    int32_t *vertex; /* n, the first to go first */
    int64_t groups;
    int32_t *first; /* groups + 1: group g is vertex[first[g]] ... vertex[first[g + 1] - 1] */
    bool wide;      /* given up: the separators were too wide, and there is nothing here */
    double
        entries; /* vertices that lists of A may have in all for it to be of use; 0: any number */
} twi_order;

/* What an order may cost. It is given up as soon as it shows that `columns` sources will take more
 * than `steps`, about. */
typedef struct twi_order_limit {
    double columns;
    double steps; /* +inf: no limit */
    int64_t leaf; /* vertices of a part that a dissection cuts no more; 0: as many as is best */
} twi_order_limit;

/* By our own dissection or by minimum degree. */
TW_CHECKED tw_status twi_order_create(tw_context *ctx, twi_order *out, const twi_skeleton *skeleton,
                                      int32_t maker, twi_order_limit limit);
/* Bytes that takes beside the skeleton: at most, where parts have few links to others. */
uint64_t twi_order_create_memory(int64_t n, int64_t links, int32_t maker, int threads);
bool twi_order_can_be_cut(const twi_skeleton *skeleton); /* is there anything to dissect? */
void twi_order_clear(twi_order *order);                  /* all zero is fine */

#endif
