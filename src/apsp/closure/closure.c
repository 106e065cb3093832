/* The driver of every closure: see closure.h. */
#include "apsp/closure/closure.h"

tw_status twi_closure_drive(tw_context *ctx, const twi_closure_ops *ops, void *self, int64_t pivots,
                            double relaxations)
{
    tw_status status = TW_OK;
    if (pivots > 0) {
        status = ops->prepare(self, 0);
    }
    for (int64_t pivot = 0; pivot < pivots && status == TW_OK; pivot++) {
        twi_progress(ctx, "closing", relaxations * (double)pivot / (double)pivots, relaxations,
                     "relaxations");
        status = ops->advance(self, pivot);
        if (status == TW_OK) {
            status = ops->check != NULL ? ops->check(self) : twi_check_cancel(ctx);
        }
    }
    if (status == TW_OK) {
        twi_progress(ctx, "closing", relaxations, relaxations, "relaxations");
    }
    return status;
}
