/*
 * The search engine: one search a source over the compressed rows, sources in parallel. For sparse
 * graphs, for parts (--sources), and for sampling what a plan needs to know.
 */
#ifndef TWI_APSP_SEARCH_SEARCH_H
#define TWI_APSP_SEARCH_SEARCH_H

#include "apsp/search/searcher.h"
#include "apsp/shared/deliver.h"

/* Run plan->method (TW_APSP_METHOD_DIJKSTRA or TW_APSP_METHOD_BFS) for every source of the plan and
 * deliver the rows in order. *arcs_scanned counts relaxations. */
TWI_SHARED TW_CHECKED tw_status twi_search_run(tw_context *ctx, const tw_apsp_plan *plan,
                                               twi_delivery *delivery, double *arcs_scanned);

/* Working memory of a run besides the graph, in bytes. */
uint64_t twi_search_memory(const tw_apsp_plan *plan, tw_apsp_method method);

/* Of that: a block of rows; or the rows of a sample. */
uint64_t twi_search_block_memory(const tw_apsp_plan *plan, tw_apsp_method method);
uint64_t twi_search_kept_memory(const tw_apsp_plan *plan);

/* How a run is cut: rows of a block, where memory is not short; rows of a batch of a
 * block of `count`; and the rows of a block in the order in which batches take them. */
int64_t twi_search_block_rows(const twi_searcher *e);
int64_t twi_search_batch_rows(const twi_searcher *e, int64_t count);
void twi_search_tickets(const twi_searcher *e, twi_ticket *tickets, int64_t first, int64_t count);

#endif
