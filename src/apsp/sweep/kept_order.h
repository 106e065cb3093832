/*
 * Orders of elimination kept from run to run in the user's cache folder (base/cache.h), one file a
 * structure. A file is believed only if it is whole, carries the very structure, and holds a
 * permutation of its vertices in groups; and an order that is one gives right distances, whoever
 * made it. There are at most TWI_KEPT_ORDERS files of TWI_KEPT_BYTES in all: those that were not
 * used for longest go first.
 */
#ifndef TWI_APSP_SWEEP_KEPT_ORDER_H
#define TWI_APSP_SWEEP_KEPT_ORDER_H

#include "apsp/sweep/order.h"
#include "apsp/sweep/structure.h"

#define TWI_KEPT_ORDERS 128
#define TWI_KEPT_BYTES ((uint64_t)256 << 20)
#define TWI_KEPT_LEAST 1024 /* vertices: an order of fewer is made as soon as it is found */

/* The order of a structure; out->vertex is NULL if there is none to be believed. */
TW_CHECKED tw_status twi_kept_order_read(tw_context *ctx, twi_order *out,
                                         const twi_structure *structure);
/* Keeps it if that can be done; if not, the log says why. */
void twi_kept_order_write(tw_context *ctx, const twi_order *order, const twi_structure *structure);

/* What a file of so many bytes holds, as above. */
TW_CHECKED tw_status twi_kept_order_parse(tw_context *ctx, twi_order *out,
                                          const twi_structure *structure, const void *file,
                                          uint64_t bytes);

#endif
