/*
 * Delivery: the one place where an engine's rows become the user's. An engine hands over blocks of
 * whole rows (a distance from the row's source to every vertex of the graph) in its working type,
 * in the order of the result's rows. Delivery undoes the potentials, picks the targets, applies the
 * cutoff, converts to the result's type (refusing what that cannot hold, naming the pair) on all
 * threads, derives predecessors when asked, and feeds the sinks.
 */
#ifndef TWI_APSP_SHARED_DELIVER_H
#define TWI_APSP_SHARED_DELIVER_H

#include "apsp/shared/fold.h"
#include "apsp/shared/rows.h"

typedef struct twi_delivery twi_delivery;

/* begin of every sink. *out is to be destroyed in any case. `known` as twi_delivery_memory counts
 * it, NULL: nothing; other rows are delivered, too, and may then take more memory. */
TWI_SHARED TW_CHECKED tw_status twi_delivery_begin(tw_context *ctx, twi_delivery **out,
                                                   const tw_apsp_plan *plan,
                                                   const twi_rows_known *known, tw_sink *sinks,
                                                   int32_t sink_count, tw_sink *predecessors);

TWI_SHARED TW_CHECKED tw_status twi_delivery_rows(tw_context *ctx, twi_delivery *delivery,
                                                  const twi_rows *rows);

/* The caller's matrix, where the result has no other sink and rows of the working type need only be
 * widened (widen.h) for it: an engine may then put them there itself, and say of blocks of them,
 * in their order, when they are there. NULL where that will not do. */
const tw_matrix *twi_delivery_matrix(const twi_delivery *delivery, tw_type work);
TW_CHECKED tw_status twi_delivery_matrix_filled(tw_context *ctx, twi_delivery *delivery,
                                                int64_t first, int64_t count);

/* `count` rows from result row `first` on that are already as the user wants them: of the result's
 * type, columns picked, cutoff applied, adjacent in memory. */
TW_CHECKED tw_status twi_delivery_finished_rows(tw_context *ctx, twi_delivery *delivery,
                                                int64_t first, int64_t count, const void *rows);

/* Whether folds may stand for rows: nobody wants more of them than their sums and maxima (fold.h).
 * An engine may still deliver rows, or first the one and then the other. */
bool twi_delivery_is_folded(const twi_delivery *delivery);

/* The same before the run, if that is what the plan's options announce. */
bool twi_delivery_will_fold(const tw_apsp_plan *plan);

/* `count` folds from result row `first` on, where twi_delivery_is_folded. All rows at once is best:
 * for each call that raises the largest distance so far, delivery runs a search from the row that
 * does, unless the fold knows its farthest vertex. */
TW_CHECKED tw_status twi_delivery_folds(tw_context *ctx, twi_delivery *delivery, int64_t first,
                                        int64_t count, const twi_fold *folds);

/* TW_ERR_RANGE, naming the pair of a row and column of the result whose `distance` its type cannot
 * hold. */
tw_status twi_delivery_misfit(tw_context *ctx, const twi_delivery *delivery, int64_t row,
                              int64_t col, double distance);

/* end of every sink, or abort of those that are open when one fails. */
TWI_SHARED TW_CHECKED tw_status twi_delivery_end(tw_context *ctx, twi_delivery *delivery);

/* Whether it was a sink that failed, rather than whoever made the rows. NULL: no. */
bool twi_delivery_refused(const twi_delivery *delivery);

/* Bytes a delivery holds: of rows in the result's type, which the sinks take as they are, none for
 * the rows themselves; of folds those of a search; of others a buffer. `known` NULL: nothing. */
TWI_SHARED uint64_t twi_delivery_memory(const tw_apsp_plan *plan, const twi_rows_known *known,
                                        bool predecessors);
/* The same as the plan's options announce it, with what the caller's sinks take besides, and what
 * the sinks of two files hold of themselves. */
#define TWI_SINKS_BYTES 1024
static inline uint64_t twi_delivery_planned(const tw_apsp_plan *plan, const twi_rows_known *known)
{
    return twi_delivery_memory(plan, known, plan->options.predecessors != 0) +
           plan->options.beside + TWI_SINKS_BYTES;
}
/* Bytes of the table by which rows of a narrow working type are converted; 0: none is made. */
TWI_SHARED uint64_t twi_delivery_table(const tw_apsp_plan *plan, tw_type work);

/* Time spent in it so far: converting, predecessors and the sinks. */
TWI_SHARED double twi_delivery_seconds(const twi_delivery *delivery);

/* Frees; aborts the sinks unless twi_delivery_end was called. NULL is fine. */
TWI_SHARED void twi_delivery_destroy(tw_context *ctx, twi_delivery *delivery);

#endif
