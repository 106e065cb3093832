/*
 * The arcs of a graph by where they lead, as searches that correct labels take them
 * (kernels/labels.h): the list of each vertex, those of hubs cut into parts, and the weights in a
 * working type. An undirected graph has them in this order already.
 */
#ifndef TWI_APSP_GPU_ENTERING_H
#define TWI_APSP_GPU_ENTERING_H

#include "apsp/gpu/kernels/labels.h"
#include "apsp/shared/plan.h"

/* Arcs that one group takes; hubs have more, and several groups. Tests have fewer. */
#ifndef TWI_LABELS_PART
#define TWI_LABELS_PART 256
#endif

typedef struct twi_entering {
    twi_labels_item *items; /* the longest first */
    twi_labels_hub *hubs;
    int32_t item_count;
    int32_t hub_count;
    int32_t part_count;
    const int64_t *offsets; /* of the graph, or `begin` */
    const int32_t *origin;  /* of the graph, or `from` */
    int64_t *begin;
    int32_t *from;
    int32_t *arc; /* the graph's number of each; NULL: they are in its order */
} twi_entering;

/* Of fewer than 2^31 arcs. *out is to be cleared in any case. */
TW_CHECKED tw_status twi_entering_create(tw_context *ctx, twi_entering *out,
                                         const tw_apsp_plan *plan);
void twi_entering_clear(twi_entering *entering);

/* What it holds, at most: bytes, items, and parts. */
uint64_t twi_entering_memory(const tw_apsp_plan *plan);
int64_t twi_entering_most_items(const tw_apsp_plan *plan);
int64_t twi_entering_most_parts(const tw_apsp_plan *plan);

/* The weights with the plan's potentials, in its order, of TW_U16 (capped as on a GPU), TW_I32,
 * TW_F32 or TW_F64. */
TW_CHECKED tw_status twi_entering_weights(tw_context *ctx, const twi_entering *entering,
                                          const tw_apsp_plan *plan, tw_type type, void *out);

#endif
