/* The oracle of the wing: slow, obvious, trusted. */
#ifndef TWI_ENTROPY_REFERENCE_H
#define TWI_ENTROPY_REFERENCE_H

#include "entropy/shared/setup.h"

/* The entropy of every window by its definition, counted anew for each and summed in f64 with the
 * library's log, into `out`, dense, of setup's shape. `exact`, if not NULL, gets the number that
 * the fixed-point table defines for the same counts, in the type of the result. Values are checked
 * already. */
TW_CHECKED tw_status twi_reference_entropy(tw_context *ctx, const twi_entropy_setup *setup,
                                           double *out, void *exact);

/* The latter for one output; `counts` has room for one number a level. */
double twi_reference_at(const twi_entropy_setup *setup, int64_t y, int64_t x, int64_t *counts);

#endif
