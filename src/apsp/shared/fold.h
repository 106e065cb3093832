/*
 * Folds: what a summary wants to know of a row, for runs in which nobody wants the row itself. An
 * engine that can reduce distances where it makes them asks twi_delivery_is_folded (deliver.h) and
 * hands over one fold a row instead of n distances.
 *
 * Folds are of whole rows: every vertex is a target, there is no cutoff, no weight is negative, and
 * sums are exact, so that their order does not matter. The smallest distance of a row is not part
 * of its fold: without negative weights it is the lightest arc out of the row's vertex, which
 * delivery looks up.
 */
#ifndef TWI_APSP_SHARED_FOLD_H
#define TWI_APSP_SHARED_FOLD_H

#include "apsp/shared/plan.h"

/* Of the distances from the row's vertex to all others. */
typedef struct twi_fold {
    int64_t reached;  /* vertices with a path, the row's own left out */
    int64_t sum;      /* of the distances to them */
    int64_t most;     /* the largest of those; 0 without any */
    int32_t farthest; /* the first vertex at that distance; -1: not known, delivery looks it up */
} twi_fold;

/* Folds as a summary gets them. */
typedef struct twi_folded {
    const twi_fold *fold;
    const double *least; /* the smallest distance of each row; undefined where none is reached */
} twi_folded;

/* The first row with the largest `most` of those that reach anything; -1 without any. */
int64_t twi_fold_widest(const twi_fold *folds, int64_t count);

/* Whether a sink of the plan's run is a summary that needs folds only: one without a histogram
 * that knows the plan's sources by the same numbers. Of summary.c, as the next. */
bool twi_summary_takes_folds(const tw_sink *sink, const tw_apsp_plan *plan);

/* In place of `rows` of such a sink: `folded` is a twi_folded of `count` rows. The fold of the
 * widest row of a call that exceeds all rows before has its `farthest`. */
TW_CHECKED tw_status twi_summary_folds(void *self, tw_context *ctx, int64_t first, int64_t count,
                                       const void *folded, int64_t stride);

#endif
