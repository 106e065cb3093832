/* The driver of every closure: see closure.h. */
#include "apsp/closure/closure.h"

tw_status twi_closure_drive(tw_context *ctx, const twi_closure_ops *ops, void *self, int64_t first,
                            int64_t pivots, double relaxations)
{
    tw_status status = TW_OK;
    if (first < pivots) {
        status = ops->prepare(self, first);
    }
    for (int64_t pivot = first; pivot < pivots && status == TW_OK; pivot++) {
        twi_progress(ctx, "closing", relaxations * (double)pivot / (double)pivots, relaxations,
                     "relaxations");
        const bool pauses = ops->pause != NULL && pivot + 1 < pivots && ops->pause(self, pivot);
        status = ops->advance(self, pivot);
        if (status == TW_OK) {
            status = ops->check != NULL ? ops->check(self) : twi_check_cancel(ctx);
        }
        if (status == TW_OK && pauses) {
            status = ops->keep(self, pivot + 1);
        }
        if (status == TW_OK && pauses) {
            status = ops->prepare(self, pivot + 1);
        }
    }
    if (status == TW_OK) {
        twi_progress(ctx, "closing", relaxations, relaxations, "relaxations");
    }
    return status;
}
